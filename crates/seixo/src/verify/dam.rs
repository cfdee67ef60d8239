//! Dams that break: how fast their front is, and how they hit a wall.

use super::stand::{Done, Line, Stand, mean, run_until};
use seixo_engine::Simulation;
use seixo_engine::world::{Fluids, Vec3, World};

/// Share by which the speed of a front may be off, see the case's README.
const SPEED_TOLERANCE: f64 = 0.1;

/// A column of water before it breaks.
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

/// How far the front of a dam comes along a dry floor, and how fast.
pub fn front(stand: &mut Stand) -> Done {
    let scene = stand.scene()?;
    let Column {
        length, spacing, gravity, ..
    } = column(&scene.world)?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut measured = Vec::new();
    // By experiment, the second of which is known by its speed only: when its gate opened is not.
    let mut observed: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
    for (name, [time, expected, tolerance]) in stand.reference()? {
        run_until(&mut simulation, time / (2.0 * gravity / length).sqrt())?;
        let now = simulation.fluid().ok_or("the scene has no fluid")?;
        let foremost = now.position.iter().map(|place| place[0]).fold(0.0, f64::max) + 0.5 * spacing;
        let way = foremost / length;
        measured.push((time, way));
        let is_place = tolerance > 0.0;
        observed[usize::from(!is_place)].push((time, expected));
        if is_place {
            stand.row_within(tolerance, format!("{name} at T = {time}: front over L [-]"), way, expected);
        }
    }
    let speed = |curve: &[(f64, f64)], ends: [f64; 2]| (at(curve, ends[1]) - at(curve, ends[0])) / (ends[1] - ends[0]);
    let ends = [0, 1].map(|k| observed[1].get(k).map_or(f64::NAN, |point| point.0));
    let name = format!("speed from T = {} to {} over √(2gL) [-]", ends[0], ends[1]);
    stand.row_within(SPEED_TOLERANCE, name, speed(&measured, ends), speed(&observed[1], ends));
    let ledger = simulation.ledger();
    let missing = ledger.residual / ledger.initial;
    stand.row("residual of the ledger over all energy at the start [-]", missing, 0.0, 1e-4);
    let [places, others] = observed;
    let lines: Vec<Line> = vec![
        ("measured".to_owned(), measured),
        ("Koshizuka & Oka 1996".to_owned(), places),
        ("Martin & Moyce 1952".to_owned(), others),
    ];
    stand.curve("front", ["t √(2g/L) [-]", "front over L [-]"], lines);
    Ok(())
}

/// Time between two looks at the pressure on the wall \[s\].
const LOOK: f64 = 0.5e-3;
/// Over how long pressures are averaged, in units of √(H/g): twenty times as long as sound takes through the layer that hits the wall.
const WINDOW: f64 = 0.1;
/// Share of ρ g H from which on water counts as having come.
const ARRIVED: f64 = 0.05;

/// Means of a curve over a window about each of its points.
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

/// Largest of a curve: when and how much.
fn peak(curve: &[(f64, f64)]) -> (f64, f64) {
    curve
        .iter()
        .copied()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((f64::NAN, f64::NAN))
}

/// The value of a curve at the point nearest to a time.
fn at(curve: &[(f64, f64)], time: f64) -> f64 {
    let nearest = curve.iter().min_by(|a, b| (a.0 - time).abs().total_cmp(&(b.0 - time).abs()));
    nearest.map_or(f64::NAN, |point| point.1)
}

/// Pressure of a dam on the far wall of its tank.
pub fn impact(stand: &mut Stand) -> Done {
    let scene = stand.scene()?;
    let Column {
        height, density, gravity, ..
    } = column(&scene.world)?;
    let until = scene.run.until;
    // x of the far wall and heights of the sensors [m].
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
        stand.tell("dam", &simulation, until);
    }
    let arrival = |curve: &[(f64, f64)]| curve.iter().find(|point| point.1 > ARRIVED).map_or(f64::NAN, |point| point.0);
    let [low, high] = [0, 1].map(|k| smoothed(&curves[k], WINDOW));
    let ledger = simulation.ledger();
    stand.compare(&[
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
    stand.curve("pressure", ["t √(g/H) [-]", "p/(ρ g H) [-]"], lines);
    Ok(())
}
