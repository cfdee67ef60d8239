//! Incompressible water: at rest, and in a dam break compared with weakly compressible water.

use super::case_run::{CaseRun, Done, Line, Outcome, advance, mean, run_until};
use seixo_engine::Simulation;
use seixo_engine::world::Vec3;

/// Heights of the pressure samples over the depth.
const HEIGHTS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];
/// Share of the run after which pressures, speeds and forces are averaged.
const FROM: f64 = 0.5;
/// Upper corner of the tank in the dam break \[m\].
const FAR: &str = "[\"1.6 m\", \"5 cm\", \"60 cm\"]";
/// Times at which fronts are compared \[s\]; they reach the far wall later.
const TIMES: [f64; 5] = [0.05, 0.1, 0.15, 0.2, 0.25];

/// Position of the foremost particle at each of the times \[m\], and the time step \[s\].
fn front(case_run: &CaseRun, solver: &str) -> Outcome<(Vec<(f64, f64)>, f64)> {
    let changes = [
        ("wall.tank.box.max".to_owned(), FAR.to_owned()),
        ("fluid.water.solver".to_owned(), format!("\"{solver}\"")),
    ];
    let scene = case_run.scene_with(&changes)?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut way = Vec::new();
    for time in TIMES {
        run_until(&mut simulation, time)?;
        let now = simulation.fluid().ok_or("the scene has no fluid")?;
        way.push((time, now.position.iter().map(|place| place[0]).fold(0.0, f64::max)));
    }
    Ok((way, simulation.time_step().value))
}

/// Pressures and forces at rest, and the front of a dam break.
pub fn incompressible(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let (until, gravity) = (scene.run.until, -scene.world.gravity[2]);
    let fluids = scene.world.fluids.as_ref().ok_or("the scene has no fluid")?;
    let top = |axis: usize| fluids.particles.position.iter().map(|place| place[axis]).fold(0.0, f64::max) + 0.5 * fluids.spacing;
    let (width, depth, density) = (top(0), top(2), fluids.kinds[0].density);
    let weight = fluids.particles.len() as f64 * density * fluids.volume() * gravity;
    let points: Vec<Vec3> = HEIGHTS.iter().map(|share| [0.5 * width, 0.0, share * depth]).collect();
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    run_until(&mut simulation, FROM * until)?;
    let at_first = simulation.ledger();
    let (mut pressures, mut squares, mut forces): (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) = Default::default();
    while simulation.time() < until {
        advance(&mut simulation, 1)?;
        pressures.push(simulation.sample_fluid(&points).iter().map(|sample| sample.pressure).collect());
        let now = simulation.fluid().ok_or("the scene has no fluid")?;
        squares.push(mean(&now.velocity, |v| v.iter().map(|x| x * x).sum()));
        forces.push(simulation.walls().iter().map(|wall| -wall.force[2]).sum());
    }
    let measured: Vec<f64> = (0..points.len()).map(|k| mean(&pressures, |look| look[k])).collect();
    let expected: Vec<f64> = points.iter().map(|point| density * gravity * (depth - point[2])).collect();
    let off = measured.iter().zip(&expected).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
    let (solves, ledger) = (simulation.solves_of_fluids(), simulation.ledger());
    let (fast, long) = front(case_run, "dfsph")?;
    let (slow, short) = front(case_run, "wcsph")?;
    let apart = fast.iter().zip(&slow).map(|(a, b)| (a.1 / b.1 - 1.0).abs()).fold(0.0, f64::max);
    case_run.compare(&[
        off / (density * gravity * depth),
        (mean(&squares, |square| *square) / (gravity * depth)).sqrt(),
        mean(&forces, |force| *force) / weight,
        solves.unfinished.iter().sum::<u64>() as f64,
        (ledger.residual - at_first.residual) / at_first.gravity,
        apart,
        f64::from(long > 5.0 * short),
    ])?;
    let heights = || points.iter().map(|point| point[2]);
    let lines: Vec<Line> = vec![
        ("measured".to_owned(), heights().zip(measured).collect()),
        ("ρ g depth".to_owned(), heights().zip(expected).collect()),
    ];
    case_run.curve("pressure", ["height [m]", "pressure [Pa]"], lines);
    let lines: Vec<Line> = vec![("incompressible".to_owned(), fast), ("weakly compressible".to_owned(), slow)];
    case_run.curve("front", ["time [s]", "front [m]"], lines);
    Ok(())
}
