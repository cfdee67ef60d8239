//! One sphere and a plane: bouncing, resting, rolling and sliding.

use super::stand::{Done, Outcome, Stand, advance, length, run_until};
use seixo_engine::Simulation;
use seixo_scene::Scene;

/// Heights between bounces.
pub fn bouncing(stand: &mut Stand) -> Done {
    let scene = stand.scene()?;
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
    stand.compare(&heights)
}

/// Overlap and force of a sphere at rest under its weight.
pub fn resting(stand: &mut Stand) -> Done {
    let scene = stand.scene()?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    run_until(&mut simulation, scene.run.until)?;
    let ball = simulation.snapshot();
    stand.compare(&[ball.radius[0] - ball.position[0][2], ball.force[0][2]])
}

/// How far piles move while they stand.
pub fn stacked(stand: &mut Stand) -> Done {
    let scene = stand.scene()?;
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
    stand.compare(&ways)
}

/// The case's scene with gravity that leans towards +x by this angle \[deg\].
pub(super) fn leaning(stand: &Stand, angle: f64) -> Outcome<Scene> {
    let mut scene = stand.scene()?;
    let (sine, cosine) = angle.to_radians().sin_cos();
    let gravity = length(scene.world.gravity);
    scene.world.gravity = [gravity * sine, 0.0, -gravity * cosine];
    Ok(scene)
}

/// Acceleration down an incline, by turning gravity.
pub fn incline(stand: &mut Stand) -> Done {
    for (name, [angle, acceleration, angular_acceleration]) in stand.reference()? {
        let scene = leaning(stand, angle)?;
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        // The sphere sinks in and comes to rest on the plane first.
        let mut marks = Vec::new();
        for time in [0.2 * scene.run.until, scene.run.until] {
            run_until(&mut simulation, time)?;
            let ball = simulation.snapshot();
            marks.push([simulation.time(), ball.velocity[0][0], ball.angular_velocity[0][1]]);
        }
        let rate = |what: usize| (marks[1][what] - marks[0][what]) / (marks[1][0] - marks[0][0]);
        stand.row_within(0.001, format!("{name}: acceleration [m/s2]"), rate(1), acceleration);
        stand.row_within(
            0.001,
            format!("{name}: angular acceleration [rad/s2]"),
            rate(2),
            angular_acceleration,
        );
    }
    Ok(())
}

/// Orders of the schemes: how the error of an oscillator falls when the time step is halved.
pub fn integrators(stand: &mut Stand) -> Done {
    for (name, [damping_ratio, restitution, expected]) in stand.reference()? {
        let word = name.split(' ').next().unwrap_or_default();
        let mut errors = Vec::new();
        for time_step in [50e-6, 25e-6] {
            let mut scene = stand.scene_with(&[
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
        stand.row(
            format!("{name}: order [-]"),
            (errors[0] / errors[1]).log2(),
            expected,
            0.075 * expected,
        );
    }
    Ok(())
}
