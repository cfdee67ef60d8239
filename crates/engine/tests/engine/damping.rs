//! Damping per mass that is given in place of a restitution, on a CPU and on a GPU.

use crate::clumps::floor;
use seixo_engine::world::{DeviceChoice, Grains, Interaction, Material, Precision, Settings, World};
use seixo_engine::{Simulation, WorldError};
use seixo_laws::contact::{NormalLaw, TangentialLaw};
use std::f64::consts::PI;

const STIFFNESS: f64 = 1e4;
const DENSITY: f64 = 2500.0;
const GPU: DeviceChoice = DeviceChoice::Gpu(None);

fn mass(radius: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3) * DENSITY
}

fn world(interaction: Interaction) -> World {
    World {
        materials: vec![Material {
            name: "glass".into(),
            density: DENSITY,
            youngs_modulus: 1e7,
            poisson_ratio: 0.3,
        }],
        interactions: vec![Some(interaction)],
        groups: vec!["grains".into()],
        ..World::default()
    }
}

fn linear(damping: f64) -> Interaction {
    Interaction {
        normal: NormalLaw::Linear,
        stiffness: Some(STIFFNESS),
        damping: Some(damping),
        ..Interaction::default()
    }
}

fn started(world: World, device: DeviceChoice, time_step: Option<f64>) -> Simulation {
    let settings = Settings {
        threads: 1,
        device,
        precision: (device == GPU).then_some(Precision::F64),
        time_step,
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

/// Two equal grains that meet head on.
fn meeting(radius: f64, damping: f64) -> World {
    let mut world = world(linear(damping));
    let mut grains = Grains::default();
    for (id, side) in [(0, -1.0), (1, 1.0)] {
        grains.push(id, [side * radius * 1.0001, 0.0, 0.0], [-side, 0.0, 0.0], [0.0; 3], radius, 0, 0);
    }
    world.grains = grains;
    world
}

/// Restitution of a linear spring and dashpot that never attract, for γ and k over the effective mass \[Schwager 2007\].
fn restitution(damping: f64, stiffness_over_mass: f64) -> f64 {
    let beta = 0.5 * damping;
    let square = stiffness_over_mass - beta * beta;
    let omega = square.abs().sqrt();
    if square < 0.0 {
        return (-beta / omega * ((beta + omega) / (beta - omega)).ln()).exp();
    }
    let angle = (2.0 * beta * omega / (omega * omega - beta * beta)).atan();
    assert!(angle > 0.0, "neither weak nor strong damping");
    (-beta / omega * (PI - angle)).exp()
}

#[test]
fn heavier_grains_rebound_less() {
    let damping = 2500.0;
    let mut found_before = 1.0;
    for radius in [1.5e-3, 3e-3] {
        let effective_mass = 0.5 * mass(radius);
        let expected = restitution(damping, STIFFNESS / effective_mass);
        let time_step = 1e-3 * PI * (effective_mass / STIFFNESS).sqrt();
        for device in [DeviceChoice::Cpu, GPU] {
            let mut simulation = started(meeting(radius, damping), device, Some(time_step));
            simulation.advance(2000).unwrap();
            simulation.observe().unwrap();
            assert_eq!(simulation.contacts(), 0);
            let found = simulation.snapshot().velocity[1][0].abs();
            // A thousand steps a collision, of which its end is known to one.
            assert!((found - expected).abs() < 2e-3, "{device:?} {radius}: {found} {expected}");
        }
        assert!(expected < found_before - 0.1, "{expected}");
        found_before = expected;
    }
}

#[test]
fn slip_of_a_grain_on_a_floor_decays_by_the_tangential_damping() {
    // F = −γ m s on the slip s = v − ω R slows the grain and turns it: ds/dt = −(1 + m R²/I) γ s, and I = 2/5 m R².
    let (radius, damping, gravity) = (2e-3, 100.0, 1000.0);
    let mut world = world(Interaction {
        tangential: TangentialLaw::Linear,
        tangential_stiffness: Some(1e-6),
        tangential_damping: Some(damping),
        friction: 1e3,
        ..linear(500.0)
    });
    world.gravity = [0.0, 0.0, -gravity];
    let sunk = mass(radius) * gravity / STIFFNESS;
    let mut grains = Grains::default();
    grains.push(0, [0.0, 0.0, radius - sunk], [0.1, 0.0, 0.0], [0.0; 3], radius, 0, 0);
    (world.grains, world.walls) = (grains, vec![floor()]);
    for device in [DeviceChoice::Cpu, GPU] {
        let mut simulation = started(world.clone(), device, Some(1e-6));
        simulation.advance(3000).unwrap();
        simulation.observe().unwrap();
        let seen = simulation.snapshot();
        let slip = seen.velocity[0][0] - seen.angular_velocity[0][1] * (radius - 0.5 * sunk);
        let expected = 0.1 * (-3.5 * damping * simulation.time()).exp();
        // The arm is shorter than the radius by half of the overlap, a part in a thousand.
        assert!((slip / expected - 1.0).abs() < 0.01, "{device:?}: {slip} {expected}");
    }
}

#[test]
fn half_of_the_normal_damping_acts_along_the_surface_unless_another_is_given() {
    let rates = |tangential, tangential_damping| {
        Interaction {
            tangential,
            tangential_damping,
            ..linear(500.0)
        }
        .damping_rates()
    };
    assert_eq!(rates(TangentialLaw::Linear, None), [500.0, 250.0]);
    assert_eq!(rates(TangentialLaw::Linear, Some(0.0)), [500.0, 0.0]);
    assert_eq!(rates(TangentialLaw::None, None), [500.0, 0.0]);
}

#[test]
fn strong_damping_shortens_the_time_step_and_stays_stable() {
    let radius = 1.5e-3;
    let light = started(meeting(radius, 1.0), DeviceChoice::Cpu, None).time_step().limit;
    let mut damped = started(meeting(radius, 1e5), DeviceChoice::Cpu, None);
    assert!(damped.time_step().limit < 0.5 * light, "{} {light}", damped.time_step().limit);
    damped.advance(20_000).unwrap();
    let found = damped.snapshot().velocity[1][0].abs();
    let expected = restitution(1e5, STIFFNESS / (0.5 * mass(radius)));
    assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected}");
}

#[test]
fn a_damping_excludes_a_restitution() {
    let refused = |interaction: Interaction| {
        let mut world = world(interaction);
        world.grains.push(0, [0.0; 3], [0.0; 3], [0.0; 3], 1e-3, 0, 0);
        let refusal = Simulation::new(world, Settings::default()).err().unwrap();
        assert!(matches!(refusal, WorldError::Interaction { .. }), "{refusal}");
    };
    refused(Interaction {
        restitution: 0.5,
        ..linear(500.0)
    });
    refused(Interaction {
        normal: NormalLaw::Hertz,
        stiffness: None,
        ..linear(500.0)
    });
    refused(Interaction {
        tangential: TangentialLaw::Mindlin,
        friction: 0.3,
        ..linear(500.0)
    });
    refused(linear(-1.0));
}
