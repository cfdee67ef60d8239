//! Grains smaller than fluid particles: drag curves, Archimedes, Richardson & Zaki, and conservation.

use crate::balls::{
    Ball, CELLS, DENSITY, RADIUS, SPACING, STOKES, THICK, alone, ball, hasimoto, momentum, periodic, pool, pull, put_cube, scattered,
    sinking, stirred, stokes_force,
};
use crate::pools::G;
use seixo_engine::world::{BodyBoundary, Settings, Solver, World};
use seixo_engine::{Melting, Simulation};
use std::f64::consts::PI;

fn started(world: World) -> Simulation {
    let settings = Settings {
        threads: 2,
        // Overlaps of such soft balls are not tested.
        overlap_limit: 2.0,
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

/// The mean value over `steps` steps, after as many steps to settle.
fn settled(mut simulation: Simulation, steps: u64) -> f64 {
    simulation.advance(steps).unwrap();
    let mut sum = 0.0;
    for _ in 0..steps {
        simulation.step().unwrap();
        sum += sinking(&simulation);
    }
    sum / steps as f64
}

#[test]
fn one_sphere_in_slow_flow_sinks_as_stokes_and_hasimoto_say() {
    let (found, expected) = (settled(started(alone()), 150) / STOKES, hasimoto());
    // The stirred velocity is a quarter of its own velocity, and the viscosity of particles is accurate to some per cent; inertia makes 2 %.
    assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected}");
}

#[test]
fn one_sphere_sinks_by_the_standard_drag_curve() {
    // [Lapple 1940].
    for (number, coefficient) in [(10.0, 4.26), (100.0, 1.09)] {
        let (speed, radius) = (2.0, 0.25 * SPACING);
        let mut world = periodic(DENSITY * speed * 2.0 * radius / number, 24.0);
        if let Some(fluids) = &mut world.fluids {
            fluids.kinds[0].artificial_viscosity = 0.05;
        }
        ball([0.055, 0.1, 0.15], radius, 2.5).put(&mut world);
        let force = coefficient * 0.5 * DENSITY * speed * speed * PI * radius * radius;
        pull(&mut world, force);
        let found = settled(started(world), 200) / speed;
        // The drag curve is accurate to 3 % of the force, and the box is short: the ball sinks into its own wake.
        assert!((found - 1.0).abs() < 0.06, "{number}: {found}");
    }
}

#[test]
fn a_crowd_sinks_as_richardson_and_zaki_say() {
    let mut world = periodic(THICK, 20.0);
    let count = 645;
    for at in scattered(count, RADIUS) {
        // As dense as water, so that the box does not accelerate beyond the acceleration of its water.
        ball(at, RADIUS, 1.0).put(&mut world);
    }
    pull(&mut world, stokes_force());
    let found = settled(started(world), 60) / STOKES;
    let share = count as f64 * 4.0 / 3.0 * PI * (RADIUS / (CELLS as f64 * SPACING)).powi(3);
    let expected = (1.0 - share).powf(4.7);
    // Single spheres would have nine tenths. The number density fluctuates randomly in space, and the velocities likewise.
    assert!(expected < 0.62 && (found / expected - 1.0).abs() < 0.15, "{found} {expected}");
}

fn steps_of(simulation: &Simulation, time: f64) -> u64 {
    (time / simulation.time_step().value) as u64
}

#[test]
fn held_grains_are_lifted_by_the_weight_of_their_volume_under_water_and_by_nothing_above() {
    let (radius, surface) = (0.25 * SPACING, 10.0 * SPACING);
    let mut world = pool();
    // On the floor, in a corner, in the middle, at the surface, and above the uppermost particles by more than a support.
    let places = [
        [0.05, 0.05, radius],
        [radius, radius, radius],
        [0.11, 0.11, 0.5 * surface],
        [0.05, 0.11, surface],
        [0.11, 0.05, surface + 3.5 * SPACING],
    ];
    for at in places {
        let held = Ball {
            is_held: true,
            ..ball(at, radius, 2.5)
        };
        held.put(&mut world);
    }
    let mut simulation = started(world);
    let steps = steps_of(&simulation, 0.15);
    simulation.advance(steps).unwrap();
    let mut lifts = [0.0; 5];
    for _ in 0..2 * steps {
        simulation.step().unwrap();
        for (lift, force) in lifts.iter_mut().zip(simulation.snapshot().force) {
            *lift += force[2] / (2 * steps) as f64;
        }
    }
    let weight = DENSITY * G * ball([0.0; 3], radius, 1.0).volume();
    let [floor, corner, middle, at_surface, above] = lifts.map(|lift| lift / weight);
    // Water is not completely at rest, and receives the reaction where it is thin.
    for (place, lift) in [("floor", floor), ("corner", corner), ("middle", middle)] {
        assert!((lift - 1.0).abs() < 0.04, "{place}: {lift}");
    }
    assert!((at_surface - 0.5).abs() < 0.2, "{at_surface}");
    assert_eq!(above, 0.0);
}

#[test]
fn what_is_as_dense_as_water_stays_and_what_is_denser_sinks() {
    let radius = 0.25 * SPACING;
    let mut world = pool();
    let start = 0.12;
    ball([0.05, 0.08, start], radius, 1.0).put(&mut world);
    ball([0.11, 0.08, start], radius, 1.1).put(&mut world);
    let mut simulation = started(world);
    let steps = steps_of(&simulation, 0.4);
    simulation.advance(steps).unwrap();
    let time = simulation.time();
    // Displacement by a fiftieth of its weight.
    let off = 0.5 * 0.02 * G * time * time;
    let [neutral, heavy] = [0, 1].map(|b: usize| simulation.bodies()[b].center[2] - start);
    assert!(neutral.abs() < off, "{neutral} m of {off} m");
    // Newton's law gives a terminal velocity of 0.17 m/s; after a fifth of a second it has three quarters of that.
    let terminal = (8.0 / 3.0 * 0.1 * G * radius / 0.44).sqrt();
    assert!(-heavy > 0.5 * terminal * time && -heavy < terminal * time, "{heavy} m");
}

#[test]
fn momentum_is_kept_to_rounding_and_what_is_lost_of_energy_drag_took() {
    let mut simulation = started(stirred());
    let ((before, size), start) = (momentum(&simulation), simulation.ledger());
    simulation.advance(200).unwrap();
    let ((after, _), now) = (momentum(&simulation), simulation.ledger());
    for k in 0..3 {
        assert!((after[k] - before[k]).abs() < 1e-11 * size, "{before:?} {after:?}");
    }
    assert!(
        now.kinetic < 0.5 * start.kinetic && now.viscosity > 0.5 * start.kinetic,
        "{start:?} {now:?}"
    );
    // Effects of the water motion on grains besides drag are small: grains have a thousandth of its mass.
    assert!(now.wall_work.abs() < 0.05 * start.kinetic, "{now:?}");
    // Second order in the step; the shortest relaxation time is twenty steps.
    assert!((now.residual - start.residual).abs() < 5e-3 * start.kinetic, "{now:?}");
}

#[test]
fn water_that_was_a_body_carries_small_grains_from_then_on() {
    let mut world = periodic(2.0, 24.0);
    let sites = put_cube(&mut world, [4; 3], 4, 1.0);
    for (k, at) in [[0.05, 0.12, 0.12], [0.12, 0.19, 0.1], [0.1, 0.1, 0.2]].into_iter().enumerate() {
        let flying = Ball {
            velocity: [1.0, -0.5, 0.3 * k as f64],
            ..ball(at, 0.3 * SPACING, 2.0)
        };
        flying.put(&mut world);
    }
    let mut simulation = started(world);
    let (before, size) = momentum(&simulation);
    simulation.advance(20).unwrap();
    let melting = Melting { body: 0, fluid: 0, sites };
    simulation.melt(&[melting]).unwrap();
    assert_eq!(simulation.bodies().len(), 3);
    simulation.advance(20).unwrap();
    let (after, _) = momentum(&simulation);
    // The momentum exchanged between a grain and the water around it in a step is some hundredths of this value.
    for k in 0..3 {
        assert!((after[k] - before[k]).abs() < 1e-10 * size, "{before:?} {after:?} {size}");
    }
}

#[test]
fn going_on_from_a_checkpoint_and_more_threads_change_no_bit() {
    let whole = |threads: usize| {
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(stirred(), settings).unwrap();
        simulation.advance(60).unwrap();
        simulation
    };
    let (mut one, two) = (whole(1), whole(2));
    assert_eq!(one.bodies(), two.bodies());
    assert_eq!(one.fluid(), two.fluid());
    let state = one.save().unwrap();
    one.advance(60).unwrap();
    let mut again = Simulation::restore(stirred(), Settings::default(), &state).unwrap();
    again.advance(60).unwrap();
    assert_eq!(one.bodies(), again.bodies());
    assert_eq!(one.fluid(), again.fluid());
    assert_eq!(one.loads_of_fluids_on_bodies(), again.loads_of_fluids_on_bodies());
    assert_eq!(one.ledger(), again.ledger());
}

fn body_boundary(world: &mut World) -> &mut BodyBoundary {
    &mut world.fluids.as_mut().unwrap().body_boundaries[0]
}

#[test]
fn what_fluids_cannot_carry_is_refused() {
    let refused = |change: &dyn Fn(&mut World)| {
        let mut world = periodic(1.0, 24.0);
        ball([0.1; 3], 0.3 * SPACING, 2.0).put(&mut world);
        change(&mut world);
        Simulation::new(world, Settings::default()).err().unwrap().to_string()
    };
    let large = refused(&|world| body_boundary(world).suspended = Some(0.8 * SPACING));
    assert!(large.contains("at most 1.5000e-2 m"), "{large}");
    let two = refused(&|world| body_boundary(world).offset.push([0.0; 3]));
    assert!(two.contains("one particle, at its center"), "{two}");
    let incompressible = refused(&|world| world.fluids.as_mut().unwrap().solver = Solver::Incompressible);
    assert!(incompressible.contains("solver = \"wcsph\" alone"), "{incompressible}");
    let plane = refused(&|world| world.fluids.as_mut().unwrap().across = Some(1));
    assert!(plane.contains("flow in a plane"), "{plane}");
}
