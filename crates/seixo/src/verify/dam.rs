//! Dam breaks: speed of the front, and impact on a wall.

use super::case_run::{CaseRun, Done, Line, mean, run_until};
use seixo_engine::Simulation;
use seixo_engine::world::{Fluids, Vec3, World};

/// Tolerance of the speed of a front \[-\]; the README of the case gives its reason.
const SPEED_TOLERANCE: f64 = 0.1;

/// Column of water before the dam break.
struct Column {
    /// Length along x \[m\].
    length: f64,
    /// Height \[m\].
    height: f64,
    spacing: f64,
    density: f64,
    gravity: f64,
}

fn column(world: &World) -> Result<Column, &'static str> {
    let fluids: &Fluids = world.fluids.as_ref().ok_or("the scene has no fluid")?;
    let top = |axis: usize| {
        let places = fluids.particles.position.iter().map(|place| place[axis]);
        places.fold(0.0, f64::max) + 0.5 * fluids.spacing
    };
    Ok(Column {
        length: top(0),
        height: top(2),
        spacing: fluids.spacing,
        density: fluids.kinds[0].density,
        gravity: -world.gravity[2],
    })
}

/// Position and speed of the front of a dam break on a dry floor.
pub fn front(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let Column {
        length, spacing, gravity, ..
    } = column(&scene.world)?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut measured = Vec::new();
    // One line per experiment. The second experiment gives only a speed, since the opening time of its gate is unknown.
    let mut observed: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
    for (name, [time, expected, tolerance]) in case_run.reference()? {
        run_until(&mut simulation, time / (2.0 * gravity / length).sqrt())?;
        let now = simulation.fluid().ok_or("the scene has no fluid")?;
        let foremost = now.position.iter().map(|place| place[0]).fold(0.0, f64::max) + 0.5 * spacing;
        let way = foremost / length;
        measured.push((time, way));
        let is_place = tolerance > 0.0;
        observed[usize::from(!is_place)].push((time, expected));
        if is_place {
            case_run.row_within(tolerance, format!("{name} at T = {time}: front over L [-]"), way, expected);
        }
    }
    let speed = |curve: &[(f64, f64)], ends: [f64; 2]| (at(curve, ends[1]) - at(curve, ends[0])) / (ends[1] - ends[0]);
    let ends = [0, 1].map(|k| observed[1].get(k).map_or(f64::NAN, |point| point.0));
    let name = format!("speed from T = {} to {} over √(2gL) [-]", ends[0], ends[1]);
    case_run.row_within(SPEED_TOLERANCE, name, speed(&measured, ends), speed(&observed[1], ends));
    let ledger = simulation.ledger();
    let missing = ledger.residual / ledger.initial;
    case_run.row("residual of the ledger over all energy at the start [-]", missing, 0.0, 1e-4);
    let [places, others] = observed;
    let lines: Vec<Line> = vec![
        ("measured".to_owned(), measured),
        ("Koshizuka & Oka 1996".to_owned(), places),
        ("Martin & Moyce 1952".to_owned(), others),
    ];
    case_run.curve("front", ["t √(2g/L) [-]", "front over L [-]"], lines);
    Ok(())
}

/// Time between two samples of the pressure on the wall \[s\].
const LOOK: f64 = 0.5e-3;
/// Averaging time of pressures \[√(H/g)\]: twenty times the time of sound through the layer that hits the wall.
const WINDOW: f64 = 0.1;
/// Share of ρ g H above which the water has arrived.
const ARRIVED: f64 = 0.05;

/// Moving average of a curve.
fn smoothed(curve: &[(f64, f64)], window: f64) -> Vec<(f64, f64)> {
    let around = |time: f64| -> Vec<f64> {
        let near = curve.iter().filter(|point| (point.0 - time).abs() <= 0.5 * window);
        near.map(|point| point.1).collect()
    };
    curve
        .iter()
        .map(|point| (point.0, mean(&around(point.0), |pressure| *pressure)))
        .collect()
}

/// Time and value of the maximum of a curve.
fn peak(curve: &[(f64, f64)]) -> (f64, f64) {
    curve
        .iter()
        .copied()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((f64::NAN, f64::NAN))
}

/// Value of a curve at the point nearest to a time.
fn at(curve: &[(f64, f64)], time: f64) -> f64 {
    let nearest = curve.iter().min_by(|a, b| (a.0 - time).abs().total_cmp(&(b.0 - time).abs()));
    nearest.map_or(f64::NAN, |point| point.1)
}

/// Pressure of a dam break on the far wall of its tank.
pub fn impact(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let Column {
        height, density, gravity, ..
    } = column(&scene.world)?;
    let until = scene.run.until;
    // Coordinate x of the far wall and heights of the sensors [m].
    let points: Vec<Vec3> = [3e-3, 30e-3].map(|z| [1.61, 0.0, z]).to_vec();
    let [unit_of_time, unit_of_pressure] = [(height / gravity).sqrt(), density * gravity * height];
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut curves: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
    while simulation.time() < until {
        let next = simulation.time() + LOOK;
        run_until(&mut simulation, next)?;
        for (curve, sample) in curves.iter_mut().zip(simulation.sample_fluid(&points)) {
            curve.push((simulation.time() / unit_of_time, sample.pressure / unit_of_pressure));
        }
        case_run.print_progress("dam", &simulation, until);
    }
    let arrival = |curve: &[(f64, f64)]| curve.iter().find(|point| point.1 > ARRIVED).map_or(f64::NAN, |point| point.0);
    let [low, high] = [0, 1].map(|k| smoothed(&curves[k], WINDOW));
    let ledger = simulation.ledger();
    case_run.compare(&[
        arrival(&curves[0]),
        peak(&low).1,
        at(&low, 2.76),
        at(&low, 3.17),
        arrival(&curves[1]),
        peak(&high).0,
        peak(&high).1,
        ledger.residual / ledger.initial,
    ])?;
    let [raw_low, raw_high] = curves;
    let lines: Vec<Line> = vec![
        ("z 3 mm".to_owned(), raw_low),
        ("z 3 mm, mean".to_owned(), low),
        ("z 30 mm".to_owned(), raw_high),
        ("z 30 mm, mean".to_owned(), high),
    ];
    case_run.curve("pressure", ["t √(g/H) [-]", "p/(ρ g H) [-]"], lines);
    Ok(())
}
