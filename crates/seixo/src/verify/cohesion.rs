//! A sphere and a sticky ceiling at z = 0: hanging, bouncing, leaving.

use super::stand::{Done, Stand, advance, run_until};
use seixo_engine::Simulation;
use seixo_engine::state::Ledger;

/// 1 if the sphere and the ceiling touch or hold each other, else 0.
fn holds(simulation: &Simulation) -> f64 {
    f64::from(simulation.snapshot().coordination[0].min(1))
}

/// Adds a row for what the ledger misses, of the energy that was there and that damping took. Rounding is held against the energy in
/// gravity, which may be larger.
fn close_books(stand: &mut Stand, name: &str, start: &Ledger, end: &Ledger) {
    let all = start.kinetic + start.elastic_normal.abs() + end.kinetic + end.normal_damping;
    let size = 1.0 + end.gravity.abs() / all;
    stand.row_of(size, format!("{name}: residual of the ledger [-]"), end.residual / all, 0.0, 1e-3);
}

/// Loads below and above the largest pull.
pub fn hanging(stand: &mut Stand) -> Done {
    for (name, [gravity, is_held, overlap, tolerance]) in stand.reference()? {
        let mut scene = stand.scene()?;
        scene.world.gravity = [0.0, 0.0, -gravity];
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let start = simulation.ledger();
        run_until(&mut simulation, scene.run.until)?;
        stand.row(format!("load {name}: holds"), holds(&simulation), is_held, 0.0);
        let (ball, end) = (simulation.snapshot(), simulation.ledger());
        if is_held == 1.0 {
            let measured = ball.radius[0] + ball.position[0][2];
            stand.row_of(ball.radius[0], format!("load {name}: overlap [m]"), measured, overlap, tolerance);
            let force = ball.force[0][2] / (ball.mass[0] * gravity);
            stand.row(format!("load {name}: force of the ceiling over the weight [-]"), force, 1.0, 1e-4);
        }
        close_books(stand, &format!("load {name}"), &start, &end);
    }
    Ok(())
}

/// Impacts below and above the speed at which an elastic neck lets go again.
pub fn impact(stand: &mut Stand) -> Done {
    for (name, [speed, is_held, rebound]) in stand.reference()? {
        let mut scene = stand.scene()?;
        scene.world.grains.velocity[0] = [0.0, 0.0, speed];
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let start = simulation.ledger();
        run_until(&mut simulation, scene.run.until)?;
        let (ball, end) = (simulation.snapshot(), simulation.ledger());
        stand.row(format!("{name}: holds"), holds(&simulation), is_held, 0.0);
        if is_held == 0.0 {
            let measured = -ball.velocity[0][2] / speed;
            stand.row(format!("{name}: rebound over approach [-]"), measured, rebound, 3e-3);
        }
        close_books(stand, name, &start, &end);
    }
    Ok(())
}

/// Departures below and above the speed that the work of separation takes.
pub fn parting(stand: &mut Stand) -> Done {
    for (name, [speed, is_held, speed_after, longest]) in stand.reference()? {
        let mut scene = stand.scene()?;
        scene.world.grains.velocity[0] = [0.0, 0.0, -speed];
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let start = simulation.ledger();
        let mut gap = 0.0f64;
        while simulation.time() < scene.run.until {
            advance(&mut simulation, 1)?;
            let ball = simulation.snapshot();
            if ball.coordination[0] > 0 {
                gap = gap.max(-ball.position[0][2] - ball.radius[0]);
            }
        }
        let (ball, end) = (simulation.snapshot(), simulation.ledger());
        stand.row(format!("{name}: holds"), holds(&simulation), is_held, 0.0);
        if is_held == 0.0 {
            let step = speed * simulation.time_step().value;
            stand.row_within(2e-3, format!("{name}: speed after [m/s]"), -ball.velocity[0][2], speed_after);
            stand.row_of(ball.radius[0], format!("{name}: longest gap [m]"), gap, longest, 1.1 * step);
        }
        close_books(stand, name, &start, &end);
    }
    Ok(())
}
