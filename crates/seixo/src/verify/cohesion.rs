//! A sphere and an adhesive ceiling at z = 0: hanging, bouncing, separating.

use super::case_run::{CaseRun, Done, advance, run_until};
use seixo_engine::Simulation;
use seixo_engine::state::Ledger;

/// 1 if the sphere and the ceiling are in contact or attract each other, else 0.
fn holds(simulation: &Simulation) -> f64 {
    f64::from(simulation.snapshot().coordination[0].min(1))
}

/// Adds a row for the residual of the ledger, over the initial energy and the dissipated energy. The scale for rounding is the gravitational energy,
/// which may be larger.
fn check_ledger(case_run: &mut CaseRun, name: &str, start: &Ledger, end: &Ledger) {
    let all = start.kinetic + start.elastic_normal.abs() + end.kinetic + end.normal_damping;
    let size = 1.0 + end.gravity.abs() / all;
    case_run.row_of(size, format!("{name}: residual of the ledger [-]"), end.residual / all, 0.0, 1e-3);
}

/// Loads below and above the pull-off force.
pub fn hanging(case_run: &mut CaseRun) -> Done {
    for (name, [gravity, is_held, overlap, tolerance]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
        scene.world.gravity = [0.0, 0.0, -gravity];
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let start = simulation.ledger();
        run_until(&mut simulation, scene.run.until)?;
        case_run.row(format!("load {name}: holds"), holds(&simulation), is_held, 0.0);
        let (ball, end) = (simulation.snapshot(), simulation.ledger());
        if is_held == 1.0 {
            let measured = ball.radius[0] + ball.position[0][2];
            case_run.row_of(ball.radius[0], format!("load {name}: overlap [m]"), measured, overlap, tolerance);
            let force = ball.force[0][2] / (ball.mass[0] * gravity);
            case_run.row(format!("load {name}: force of the ceiling over the weight [-]"), force, 1.0, 1e-4);
        }
        check_ledger(case_run, &format!("load {name}"), &start, &end);
    }
    Ok(())
}

/// Impacts below and above the speed at which an elastic neck separates again.
pub fn impact(case_run: &mut CaseRun) -> Done {
    for (name, [speed, is_held, rebound]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
        scene.world.grains.velocity[0] = [0.0, 0.0, speed];
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let start = simulation.ledger();
        run_until(&mut simulation, scene.run.until)?;
        let (ball, end) = (simulation.snapshot(), simulation.ledger());
        case_run.row(format!("{name}: holds"), holds(&simulation), is_held, 0.0);
        if is_held == 0.0 {
            let measured = -ball.velocity[0][2] / speed;
            case_run.row(format!("{name}: rebound over approach [-]"), measured, rebound, 3e-3);
        }
        check_ledger(case_run, name, &start, &end);
    }
    Ok(())
}

/// Separations below and above the speed that corresponds to the work of separation.
pub fn parting(case_run: &mut CaseRun) -> Done {
    for (name, [speed, is_held, speed_after, longest]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
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
        case_run.row(format!("{name}: holds"), holds(&simulation), is_held, 0.0);
        if is_held == 0.0 {
            let step = speed * simulation.time_step().value;
            case_run.row_within(2e-3, format!("{name}: speed after [m/s]"), -ball.velocity[0][2], speed_after);
            case_run.row_of(ball.radius[0], format!("{name}: longest gap [m]"), gap, longest, 1.1 * step);
        }
        check_ledger(case_run, name, &start, &end);
    }
    Ok(())
}
