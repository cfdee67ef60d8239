//! Rolling and twisting resistance, and blocks that cannot roll.

use super::case_run::{CaseRun, Done, Outcome, along, length, material, run_until};
use super::motion::leaning;
use super::polyhedra::turned;
use seixo_engine::Simulation;
use seixo_engine::state::GrainSnapshot;
use seixo_scene::Scene;

/// Mean rate of change of a quantity between two times \[1/s\].
fn growth(simulation: &mut Simulation, times: [f64; 2], quantity: fn(&GrainSnapshot) -> f64) -> Outcome<f64> {
    let mut marks = [[0.0; 2]; 2];
    for (mark, time) in marks.iter_mut().zip(times) {
        run_until(simulation, time)?;
        *mark = [simulation.time(), quantity(&simulation.snapshot())];
    }
    Ok((marks[1][1] - marks[0][1]) / (marks[1][0] - marks[0][0]))
}

/// Returns the scene of the case with all grains of one of its materials.
fn scene_of(case_run: &CaseRun, name: &str) -> Outcome<Scene> {
    let mut scene = case_run.scene()?;
    let index = material(&scene.world, name)?;
    scene.world.grains.material.fill(index);
    Ok(scene)
}

/// A constant torque against spinning and rolling stops the motion.
pub fn rolling_decay(case_run: &mut CaseRun) -> Done {
    for (name, [speed, deceleration]) in case_run.reference()? {
        let mut scene = scene_of(case_run, name)?;
        let grains = &mut scene.world.grains;
        let radius = grains.radius[0];
        let quantity: fn(&GrainSnapshot) -> f64 = if speed > 0.0 {
            grains.velocity[0] = [speed, 0.0, 0.0];
            grains.angular_velocity[0] = [0.0, speed / radius, 0.0];
            |ball| ball.velocity[0][0]
        } else {
            |ball| ball.angular_velocity[0][1]
        };
        let of_surface = length(grains.angular_velocity[0]) * radius;
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let rate = growth(&mut simulation, [0.1, 0.3], quantity)?;
        case_run.row_within(1e-3, format!("{name}: deceleration [rad/s2, m/s2]"), -rate, deceleration);
        run_until(&mut simulation, scene.run.until)?;
        let ball = simulation.snapshot();
        let left = (length(ball.velocity[0]) + radius * length(ball.angular_velocity[0])) / of_surface;
        case_run.row(format!("{name}: what is left of the motion [-]"), left, 0.0, 1e-6);
    }
    Ok(())
}

/// A spring with a slider keeps a sphere at rest on a gentle slope.
pub fn rolling_incline(case_run: &mut CaseRun) -> Done {
    for (name, [angle, acceleration, tolerance]) in case_run.reference()? {
        let scene = leaning(case_run, angle)?;
        let times = [0.2 * scene.run.until, scene.run.until];
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let rate = growth(&mut simulation, times, |ball| ball.velocity[0][0])?;
        case_run.row(format!("slope {name}: acceleration [m/s2]"), rate, acceleration, tolerance);
    }
    Ok(())
}

/// Deceleration of a spin about the vertical axis.
pub fn twisting_decay(case_run: &mut CaseRun) -> Done {
    for (name, [deceleration]) in case_run.reference()? {
        let scene = scene_of(case_run, name)?;
        let times = [0.2 * scene.run.until, scene.run.until];
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let rate = growth(&mut simulation, times, |ball| ball.angular_velocity[0][2])?;
        case_run.row_within(1e-3, format!("{name}: deceleration [rad/s2]"), -rate, deceleration);
    }
    Ok(())
}

/// Deceleration of simultaneous rolling and twisting, in steps that change velocities by a relative 10⁻⁷.
pub fn twist_mixed(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let until = scene.run.until;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut look = |time: f64| -> Outcome<[f64; 3]> {
        run_until(&mut simulation, time)?;
        let ball = simulation.snapshot();
        Ok([simulation.time(), ball.velocity[0][0], ball.angular_velocity[0][2]])
    };
    let (first, last) = (look(0.5 * until)?, look(until)?);
    let rates = [1, 2].map(|k| (first[k] - last[k]) / (last[0] - first[0]));
    case_run.compare(&rates)
}

/// A block of bonded spheres, which cannot roll, on a slope.
pub fn block(case_run: &mut CaseRun) -> Done {
    for (name, [angle, acceleration, tolerance]) in case_run.reference()? {
        let scene = leaning(case_run, angle)?;
        let until = scene.run.until;
        let downhill = scene.world.gravity[0];
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let mean = |grains: &GrainSnapshot| grains.velocity.iter().map(|v| v[0]).sum::<f64>() / grains.velocity.len() as f64;
        let rate = growth(&mut simulation, [0.5 * until, until], mean)?;
        case_run.row(format!("slope {name}: acceleration [m/s2]"), rate, acceleration, tolerance);
        let block = simulation.snapshot();
        let spins = block
            .angular_velocity
            .iter()
            .map(|spin| length(along([0.0; 3], block.radius[0], *spin)));
        let speed = if acceleration > 0.0 { mean(&block) } else { downhill * until };
        let turning = spins.fold(0.0, f64::max) / speed;
        case_run.row(format!("slope {name}: rolling over sliding [-]"), turning, 0.0, 1e-4);
    }
    Ok(())
}

/// A polyhedral grain on a slope, which stands on its corners.
pub fn cube(case_run: &mut CaseRun) -> Done {
    for (name, [angle, acceleration, tolerance]) in case_run.reference()? {
        let scene = leaning(case_run, angle)?;
        let until = scene.run.until;
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let before = simulation.snapshot().orientation[0];
        let rate = growth(&mut simulation, [0.5 * until, until], |cube| cube.velocity[0][0])?;
        case_run.row(format!("slope {name}: acceleration [m/s2]"), rate, acceleration, tolerance);
        let now = simulation.snapshot().orientation[0];
        let angle = turned(before, now).to_degrees();
        case_run.row(format!("slope {name}: rotation [deg]"), angle, 0.0, 0.02);
    }
    Ok(())
}
