//! Rotating fluids: a free drop, the gap between two cylinders, a full drum.

use super::case_run::{CaseRun, Done, Outcome, along, cross, dot, length, mean, run_until, straight};
use super::fluid::{fluid_now, fluids_of, fluids_of_mut};
use seixo_engine::Simulation;
use seixo_engine::state::FluidSnapshot;
use seixo_engine::world::{Fluids, Particles, Vec3};
use seixo_scene::Scene;
use std::f64::consts::{PI, TAU};

/// Rotation axis, normal to the plane of x and z.
const AXIS: Vec3 = [0.0, 1.0, 0.0];

/// Angular velocity of a drop \[rad/s\].
const SPIN: f64 = 0.5;

/// Radii of two cylinders \[m\].
const CYLINDERS: [f64; 2] = [0.05, 0.1];
/// Share of the run after which torques on the cylinders are averaged, and number of samples.
const STEADY_FROM: f64 = 0.5;
const LOOKS: u32 = 50;
/// Order of convergence of velocities with the spacing, and its tolerance; the README of the case gives the reason.
const ORDER: f64 = 2.0;
const ORDER_TOLERANCE: f64 = 0.8;

/// Radius of a drum \[m\].
const DRUM: f64 = 0.05;
/// Share of the run after which drum and fluid rotate as a rigid body.
const SPUN_UP: f64 = 0.8;

/// Angular momentum of a fluid about the origin over the mass of a particle; all particles have the same mass \[m²/s\].
fn angular_momentum(fluid: &FluidSnapshot) -> Vec3 {
    let each = fluid.position.iter().zip(&fluid.velocity);
    each.fold([0.0; 3], |sum, (place, velocity)| along(sum, 1.0, cross(*place, *velocity)))
}

/// Starts a drop in rigid rotation. Returns its angular momentum and its kinetic energy at the end over those at the start, and the viscous
/// dissipation over the initial kinetic energy.
fn free_drop(mut scene: Scene) -> Outcome<[f64; 3]> {
    let until = scene.run.until;
    let particles = &mut fluids_of_mut(&mut scene.world)?.particles;
    for (place, velocity) in particles.position.iter().zip(&mut particles.velocity) {
        *velocity = cross(AXIS.map(|a| SPIN * a), *place);
    }
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let (at_first, given) = (angular_momentum(&fluid_now(&simulation)?), simulation.ledger().kinetic);
    run_until(&mut simulation, until)?;
    let (left, ledger) = (angular_momentum(&fluid_now(&simulation)?), simulation.ledger());
    Ok([
        dot(left, at_first) / dot(at_first, at_first),
        ledger.kinetic / given,
        ledger.viscosity / given,
    ])
}

/// A free drop continues its rotation, in space and in a plane.
pub fn spinning_drop(case_run: &mut CaseRun) -> Done {
    let in_a_plane = ("fluid.syrup.plane".to_owned(), "\"xz\"".to_owned());
    let in_space = free_drop(case_run.scene()?)?;
    let in_plane = free_drop(case_run.scene_with(&[in_a_plane])?)?;
    case_run.compare(&[in_space, in_plane].concat())
}

/// Velocity at a position for rotation about the axis, with the speed as a function of the radius \[m/s\].
fn around_axis(place: Vec3, speed: impl Fn(f64) -> f64) -> Vec3 {
    let radius = length(place);
    cross(AXIS.map(|a| speed(radius) / radius * a), place)
}

/// Puts particles on rings that fill the gap between two cylinders. The number of particles of a ring fits the spacing best. The speed around the
/// axis is a function of the radius.
fn fill_with_rings(fluids: &mut Fluids, [inner, outer]: [f64; 2], speed: impl Fn(f64) -> f64) {
    let (spacing, pressure) = (fluids.spacing, fluids.kinds[0].background_pressure);
    let particles = &mut fluids.particles;
    *particles = Particles::default();
    let rings = ((outer - inner) / spacing).round() as u32;
    for ring in 0..rings {
        let radius = inner + (f64::from(ring) + 0.5) / f64::from(rings) * (outer - inner);
        let around = (TAU * radius / spacing).round() as u32;
        for k in 0..around {
            let (sin, cos) = (TAU * f64::from(k) / f64::from(around)).sin_cos();
            let place = [radius * cos, 0.0, radius * sin];
            particles.id.push(particles.id.len() as u32);
            particles.position.push(place);
            particles.velocity.push(around_axis(place, &speed));
            particles.pressure.push(pressure);
            particles.kind.push(0);
        }
    }
}

/// Starts a flow between two cylinders with this speed profile around the axis, and runs until it is steady. Returns mean torques on the two
/// cylinders \[N m/m\], and the fluid at the end.
fn torques_between_cylinders(case_run: &mut CaseRun, mut scene: Scene, speed: impl Fn(f64) -> f64) -> Outcome<([f64; 2], FluidSnapshot)> {
    let until = scene.run.until;
    fill_with_rings(fluids_of_mut(&mut scene.world)?, CYLINDERS, speed);
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut torques = [0.0; 2];
    for k in 1..=LOOKS {
        run_until(
            &mut simulation,
            until * (STEADY_FROM + (1.0 - STEADY_FROM) * f64::from(k) / f64::from(LOOKS)),
        )?;
        for (sum, wall) in torques.iter_mut().zip(simulation.walls()) {
            *sum += wall.torque[1] / f64::from(LOOKS);
        }
        case_run.print_progress("between cylinders", &simulation, until);
    }
    let fluid = fluid_now(&simulation)?;
    Ok((torques, fluid))
}

/// Root mean square error of the velocities \[m/s\] in a flow around the axis with this speed profile.
fn error_of_velocities(fluid: &FluidSnapshot, speed: impl Fn(f64) -> f64) -> f64 {
    let each = fluid.position.iter().zip(&fluid.velocity);
    let squares: Vec<f64> = each
        .map(|(place, velocity)| {
            let off = along(*velocity, -1.0, around_axis(*place, &speed));
            dot(off, off)
        })
        .collect();
    mean(&squares, |square| *square).sqrt()
}

/// Flow between two cylinders; the inner one rotates.
pub fn taylor_couette(case_run: &mut CaseRun) -> Done {
    let [inner, outer] = CYLINDERS;
    let squares = [inner * inner, outer * outer];
    let mut errors = Vec::new();
    for (name, [spacing, torque_tolerance, velocity_tolerance]) in case_run.reference()? {
        let scene = case_run.scene_with(&[("fluid.syrup.spacing".to_owned(), format!("\"{spacing} mm\""))])?;
        let rate = scene.world.walls[0].motion.angular_velocity[1];
        // u = A r + B/r.
        let a = -rate * squares[0] / (squares[1] - squares[0]);
        let b = rate * squares[0] * squares[1] / (squares[1] - squares[0]);
        let expected = |radius: f64| a * radius + b / radius;
        let torque = 4.0 * PI * fluids_of(&scene.world)?.kinds[0].viscosity * b;
        let (torques, fluid) = torques_between_cylinders(case_run, scene, expected)?;
        for (wall, measured, sign) in [("inner", torques[0], -1.0), ("outer", torques[1], 1.0)] {
            let row = format!("{name}: torque on the {wall} cylinder [N m/m]");
            case_run.row_within(torque_tolerance, row, measured, sign * torque);
        }
        let error = error_of_velocities(&fluid, expected) / (rate * inner);
        case_run.row(format!("{name}: error of velocities over Ω R₁ [-]"), error, 0.0, velocity_tolerance);
        errors.push((spacing.log2(), error.log2()));
    }
    let (order, _) = straight(&errors);
    case_run.row("order of that error [-]", order, ORDER, ORDER_TOLERANCE);
    Ok(())
}

/// A full drum that starts to rotate, and its fluid that follows.
pub fn spun_up_drum(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let until = scene.run.until;
    let rate = scene.world.walls[0].motion.angular_velocity[1];
    let viscosity = fluids_of(&scene.world)?.kinds[0].viscosity;
    let area = PI * DRUM * DRUM;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    run_until(&mut simulation, SPUN_UP * until)?;
    let (start, taken) = (simulation.time(), simulation.ledger().viscosity);
    let mut torque = 0.0;
    for k in 1..=LOOKS {
        run_until(
            &mut simulation,
            until * (SPUN_UP + (1.0 - SPUN_UP) * f64::from(k) / f64::from(LOOKS)),
        )?;
        torque += simulation.walls()[0].torque[1] / f64::from(LOOKS);
    }
    let power = (simulation.ledger().viscosity - taken) / (simulation.time() - start);
    let now = fluid_now(&simulation)?;
    let inertia: f64 = now.position.iter().map(|place| dot(*place, *place)).sum();
    case_run.compare(&[
        torque / (2.0 * viscosity * rate * area),
        power / (2.0 * viscosity * rate * rate * area),
        dot(angular_momentum(&now), AXIS) / (inertia * rate),
    ])
}
