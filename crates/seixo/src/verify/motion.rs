//! One sphere and a plane: bouncing, resting, rolling and sliding.

use super::case_run::{CaseRun, Done, Outcome, advance, length, run_until};
use seixo_engine::Simulation;
use seixo_scene::Scene;

/// Heights of successive bounces.
pub fn bouncing(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut heights = Vec::new();
    let mut rising = false;
    while simulation.time() < scene.run.until {
        advance(&mut simulation, 20)?;
        let ball = simulation.snapshot();
        let falls = ball.velocity[0][2] <= 0.0;
        if rising && falls {
            heights.push(ball.position[0][2] - ball.radius[0]);
        }
        rising = !falls;
    }
    heights.truncate(3);
    case_run.compare(&heights)
}

/// Overlap and force of a sphere at rest under its weight.
pub fn resting(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    run_until(&mut simulation, scene.run.until)?;
    let ball = simulation.snapshot();
    case_run.compare(&[ball.radius[0] - ball.position[0][2], ball.force[0][2]])
}

/// Motion of piles that should stand still.
pub fn stacked(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let groups = scene.world.groups.len();
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    run_until(&mut simulation, scene.run.until - 10.0)?;
    let before = simulation.snapshot();
    run_until(&mut simulation, scene.run.until)?;
    let after = simulation.snapshot();
    let mut ways = vec![0.0f64; groups];
    for (k, &group) in after.group.iter().enumerate() {
        let moved = [0, 1, 2].map(|axis| after.position[k][axis] - before.position[k][axis]);
        let way = &mut ways[group as usize];
        *way = way.max(length(moved) / after.radius[k]);
    }
    case_run.compare(&ways)
}

/// Returns the scene of the case with gravity tilted towards +x by this angle \[deg\].
pub(super) fn leaning(case_run: &CaseRun, angle: f64) -> Outcome<Scene> {
    let mut scene = case_run.scene()?;
    let (sine, cosine) = angle.to_radians().sin_cos();
    let gravity = length(scene.world.gravity);
    scene.world.gravity = [gravity * sine, 0.0, -gravity * cosine];
    Ok(scene)
}

/// Acceleration down an incline; gravity is tilted instead of the plane.
pub fn incline(case_run: &mut CaseRun) -> Done {
    for (name, [angle, acceleration, angular_acceleration]) in case_run.reference()? {
        let scene = leaning(case_run, angle)?;
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        // The sphere first sinks in and reaches its equilibrium overlap.
        let mut marks = Vec::new();
        for time in [0.2 * scene.run.until, scene.run.until] {
            run_until(&mut simulation, time)?;
            let ball = simulation.snapshot();
            marks.push([simulation.time(), ball.velocity[0][0], ball.angular_velocity[0][1]]);
        }
        let rate = |what: usize| (marks[1][what] - marks[0][what]) / (marks[1][0] - marks[0][0]);
        case_run.row_within(0.001, format!("{name}: acceleration [m/s2]"), rate(1), acceleration);
        case_run.row_within(
            0.001,
            format!("{name}: angular acceleration [rad/s2]"),
            rate(2),
            angular_acceleration,
        );
    }
    Ok(())
}

/// Orders of the integrators: reduction of the error of an oscillator with half the time step.
pub fn integrators(case_run: &mut CaseRun) -> Done {
    for (name, [damping_ratio, restitution, expected]) in case_run.reference()? {
        let word = name.split(' ').next().unwrap_or_default();
        let mut errors = Vec::new();
        for time_step in [50e-6, 25e-6] {
            let mut scene = case_run.scene_with(&[
                ("run.integrator".to_owned(), format!("\"{word}\"")),
                ("run.time_step".to_owned(), time_step.to_string()),
                ("interaction.glass-glass.restitution".to_owned(), restitution.to_string()),
            ])?;
            let radius = scene.world.grains.radius[0];
            let mass = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3) * scene.world.materials[0].density;
            let stiffness = scene.world.interactions[0]
                .as_ref()
                .and_then(|pair| pair.stiffness)
                .ok_or("no stiffness")?;
            let resting = mass * length(scene.world.gravity) / stiffness;
            scene.world.grains.position[0][2] = radius - 0.5 * resting;
            let pulse = (stiffness / mass).sqrt();
            let (decay, turn) = (damping_ratio * pulse, pulse * (1.0 - damping_ratio * damping_ratio).sqrt());
            let mut simulation = Simulation::new(scene.world, scene.settings)?;
            let mut error = 0.0f64;
            while simulation.time() < scene.run.until {
                advance(&mut simulation, 1)?;
                let time = simulation.time();
                let shape = (-decay * time).exp() * ((turn * time).cos() + decay / turn * (turn * time).sin());
                let overlap = resting * (1.0 - 0.5 * shape);
                error = error.max((radius - simulation.snapshot().position[0][2] - overlap).abs());
            }
            errors.push(error);
        }
        case_run.row(
            format!("{name}: order [-]"),
            (errors[0] / errors[1]).log2(),
            expected,
            0.075 * expected,
        );
    }
    Ok(())
}
