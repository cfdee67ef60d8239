//! Wear of walls by sliding grains.

use super::case_run::{CaseRun, Done, Outcome, length, run_until};
use seixo_engine::Simulation;
use seixo_engine::state::WallWear;
use seixo_engine::world::{Triangle, WallShape};

/// Returns the wear of the only wall.
fn worn(simulation: &Simulation) -> Outcome<WallWear> {
    let wall = simulation.walls().into_iter().next();
    Ok(wall.and_then(|wall| wall.wear).ok_or("the wall does not wear")?)
}

/// Six squares of the plane z = 0, each of two triangles of 4.5 cm².
fn squares() -> Vec<Triangle> {
    let side = 0.03;
    let square = |k: i32| {
        let (left, right) = (side * f64::from(k), side * f64::from(k + 1));
        let [a, b, c, d] = [
            [left, -0.0152, 0.0],
            [right, -0.0152, 0.0],
            [right, 0.0148, 0.0],
            [left, 0.0148, 0.0],
        ];
        [[a, b, c], [a, c, d]]
    };
    (-1..5).flat_map(square).collect()
}

/// A block slides down a slope, on a plane and on triangles.
pub fn block(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let until = scene.run.until;
    let (rate, down) = (scene.world.walls[0].specific_wear_rate, -scene.world.gravity[2]);
    let mut on_plane = Simulation::new(scene.world, scene.settings)?;
    let place = |simulation: &Simulation| {
        let grains = simulation.snapshot();
        grains.position.iter().map(|x| x[0]).sum::<f64>() / grains.id.len() as f64
    };
    let weight = on_plane.snapshot().mass.iter().sum::<f64>() * down;
    let start = place(&on_plane);
    run_until(&mut on_plane, 0.5 * until)?;
    let first_half = worn(&on_plane)?.volume;
    run_until(&mut on_plane, until)?;
    let whole = worn(&on_plane)?.volume;

    let mut scene = case_run.scene()?;
    scene.world.walls[0].shape = WallShape::Mesh(squares());
    let mut on_triangles = Simulation::new(scene.world, scene.settings)?;
    run_until(&mut on_triangles, until)?;
    let worn = worn(&on_triangles)?;
    let sum = worn.volumes.iter().sum::<f64>();
    let area = 0.5 * 0.03 * 0.03;
    case_run.compare(&[
        whole / (rate * weight * (place(&on_plane) - start)),
        first_half / whole,
        sum / whole,
        worn.depths.iter().sum::<f64>() * area / sum,
    ])
}

/// A ball slides, and then rolls.
pub fn ball(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let (until, rate) = (scene.run.until, scene.world.walls[0].specific_wear_rate);
    let friction = scene.world.interaction(0, 0).map_or(f64::NAN, |interaction| interaction.friction);
    let start = length(scene.world.grains.velocity[0]);
    let rolls = 2.0 * start / (7.0 * friction * length(scene.world.gravity));
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    run_until(&mut simulation, 1.03 * rolls)?;
    let slid = worn(&simulation)?.volume;
    run_until(&mut simulation, until)?;
    let all = worn(&simulation)?.volume;
    let work_of_friction = simulation.ledger().friction / friction;
    case_run.compare(&[all, (all - slid) / all, work_of_friction / (all / rate)])
}
