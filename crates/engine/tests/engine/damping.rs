//! Damping per mass that is given in place of a restitution, on a CPU and on a GPU.

use crate::floors::floor;
use seixo_engine::world::{DeviceChoice, Grains, Interaction, Material, Precision, Settings, World};
use seixo_engine::{Simulation, WorldError};
use seixo_laws::contact::{Cohesion, NormalLaw, TangentialLaw};
use std::f64::consts::PI;

const STIFFNESS: f64 = 1e4;
const DENSITY: f64 = 2500.0;
const YOUNGS_MODULUS: f64 = 1e7;
const POISSON_RATIO: f64 = 0.3;
const GPU: DeviceChoice = DeviceChoice::Gpu(None);

fn mass(radius: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3) * DENSITY
}

fn world(interaction: Interaction) -> World {
    World {
        materials: vec![Material {
            name: "glass".into(),
            density: DENSITY,
            youngs_modulus: YOUNGS_MODULUS,
            poisson_ratio: POISSON_RATIO,
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

/// Hertz's law, with the springs of the material.
fn hertz(damping: f64) -> Interaction {
    Interaction {
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

/// Two equal grains that meet head on at 2 m/s.
fn meeting(radius: f64, interaction: Interaction) -> World {
    let mut world = world(interaction);
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
            let mut simulation = started(meeting(radius, linear(damping)), device, Some(time_step));
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

/// E* of two bodies of the material \[Pa\].
fn effective_modulus() -> f64 {
    YOUNGS_MODULUS / (2.0 * (1.0 - POISSON_RATIO * POISSON_RATIO))
}

/// Restitution of two equal spheres that meet at 2 m/s. The force √(δ/d) (k δ + γ m* dδ/dt) \[ME964 2011\] never attracts. The equation of motion is
/// integrated by the method of Runge and Kutta.
fn restitution_with_hertz(radius: f64, damping: f64) -> f64 {
    let (diameter, speed) = (2.0 * radius, 2.0);
    // Hertz's spring 4/3 E* √R* δ^{3/2} is √(δ/d) k δ with k = 4/3 E* √(R* d), here over m*.
    let stiffness = 4.0 / 3.0 * effective_modulus() * (0.5 * radius * diameter).sqrt() / (0.5 * mass(radius));
    let slope = |[overlap, rate]: [f64; 2]| [rate, -(overlap / diameter).max(0.0).sqrt() * (stiffness * overlap + damping * rate)];
    let along = |y: [f64; 2], k: [f64; 2], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
    let (mut y, h) = ([0.0, speed], 1e-8);
    loop {
        let k1 = slope(y);
        let k2 = slope(along(y, k1, 0.5 * h));
        let k3 = slope(along(y, k2, 0.5 * h));
        let k4 = slope(along(y, k3, h));
        y = std::array::from_fn(|k| y[k] + h / 6.0 * (k1[k] + 2.0 * k2[k] + 2.0 * k3[k] + k4[k]));
        if stiffness * y[0] + damping * y[1] <= 0.0 {
            return -y[1] / speed;
        }
    }
}

#[test]
fn heavier_grains_rebound_less_with_hertz_too() {
    let damping = 2.5e4;
    let mut found_before = 1.0;
    for radius in [1.5e-3, 3e-3] {
        let expected = restitution_with_hertz(radius, damping);
        for device in [DeviceChoice::Cpu, GPU] {
            let mut simulation = started(meeting(radius, hertz(damping)), device, Some(5e-7));
            simulation.advance(4000).unwrap();
            simulation.observe().unwrap();
            assert_eq!(simulation.contacts(), 0);
            let found = simulation.snapshot().velocity[1][0].abs();
            // Five hundred steps a collision at least, of which its end is known to one.
            assert!((found - expected).abs() < 2e-3, "{device:?} {radius}: {found} {expected}");
        }
        assert!(expected < found_before - 0.1, "{expected}");
        found_before = expected;
    }
}

/// Velocity of a damped oscillator over its velocity at time zero, where it is at equilibrium: x″ + 2β x′ + ω₀² x = 0.
fn swing(beta: f64, square: f64, time: f64) -> f64 {
    let omega = (square - beta * beta).sqrt();
    (-beta * time).exp() * ((omega * time).cos() - beta / omega * (omega * time).sin())
}

/// A grain on a floor, at the overlap at which Hertz's spring carries its weight; and that overlap \[m\].
fn resting(radius: f64, gravity: f64, interaction: Interaction, velocity: [f64; 3]) -> (World, f64) {
    let mut world = world(interaction);
    world.gravity = [0.0, 0.0, -gravity];
    let sunk = (mass(radius) * gravity / (4.0 / 3.0 * effective_modulus() * radius.sqrt())).powf(2.0 / 3.0);
    let mut grains = Grains::default();
    grains.push(0, [0.0, 0.0, radius - sunk], velocity, [0.0; 3], radius, 0, 0);
    (world.grains, world.walls) = (grains, vec![floor()]);
    (world, sunk)
}

#[test]
fn a_grain_under_its_weight_comes_to_rest_by_the_damping_at_its_overlap() {
    let (radius, damping, gravity, kick) = (2e-3, 1.7e4, 1000.0, 2e-4);
    let (world, sunk) = resting(radius, gravity, hertz(damping), [0.0, 0.0, kick]);
    // The slope of Hertz's force is 3/2 of force over overlap. A floor is a sphere of infinite radius, so R* = R and d = 4R.
    let (square, beta) = (1.5 * gravity / sunk, 0.5 * damping * (sunk / (4.0 * radius)).sqrt());
    for device in [DeviceChoice::Cpu, GPU] {
        let mut simulation = started(world.clone(), device, Some(1e-6));
        for _ in 0..10 {
            simulation.advance(150).unwrap();
            simulation.observe().unwrap();
            let found = simulation.snapshot().velocity[0][2] / kick;
            let expected = swing(beta, square, simulation.time());
            // The amplitude is a thousandth of the overlap, and a period has a thousand steps.
            assert!(
                (found - expected).abs() < 0.01,
                "{device:?} {}: {found} {expected}",
                simulation.time()
            );
        }
    }
}

#[test]
fn slip_with_mindlin_decays_by_half_of_the_damping_at_the_overlap() {
    // The spring k and the dashpot γ f m of the surface slow the grain and turn it, with the arm R − δ: the slip x obeys
    // x″ + (1 + m (R − δ)²/I) (γ f x′ + k/m x) = 0, and I = 2/5 m R².
    let (radius, damping, gravity, speed) = (2e-3, 2e4, 1000.0, 0.1);
    let interaction = Interaction {
        tangential: TangentialLaw::Mindlin,
        friction: 1e3,
        ..hertz(damping)
    };
    let (world, sunk) = resting(radius, gravity, interaction, [speed, 0.0, 0.0]);
    let shear_modulus = YOUNGS_MODULUS / (2.0 * (1.0 + POISSON_RATIO));
    let effective_shear_modulus = shear_modulus / (2.0 * (2.0 - POISSON_RATIO));
    let spring = 8.0 * effective_shear_modulus * (radius * sunk).sqrt();
    let turning = 1.0 + 2.5 * (1.0 - sunk / radius).powi(2);
    let square = turning * spring / mass(radius);
    let beta = 0.5 * turning * 0.5 * damping * (sunk / (4.0 * radius)).sqrt();
    for device in [DeviceChoice::Cpu, GPU] {
        let mut simulation = started(world.clone(), device, Some(1e-6));
        for _ in 0..10 {
            simulation.advance(90).unwrap();
            simulation.observe().unwrap();
            let seen = simulation.snapshot();
            let slip = (seen.velocity[0][0] - seen.angular_velocity[0][1] * (radius - sunk)) / speed;
            let expected = swing(beta, square, simulation.time());
            // Six hundred steps a period.
            assert!(
                (slip - expected).abs() < 0.01,
                "{device:?} {}: {slip} {expected}",
                simulation.time()
            );
        }
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
    assert_eq!(rates(TangentialLaw::Mindlin, None), [500.0, 250.0]);
    assert_eq!(rates(TangentialLaw::Linear, Some(0.0)), [500.0, 0.0]);
    assert_eq!(rates(TangentialLaw::None, None), [500.0, 0.0]);
}

#[test]
fn strong_damping_shortens_the_time_step_and_stays_stable() {
    let radius = 1.5e-3;
    let light = started(meeting(radius, linear(1.0)), DeviceChoice::Cpu, None).time_step().limit;
    let mut damped = started(meeting(radius, linear(1e5)), DeviceChoice::Cpu, None);
    assert!(damped.time_step().limit < 0.5 * light, "{} {light}", damped.time_step().limit);
    damped.advance(20_000).unwrap();
    let found = damped.snapshot().velocity[1][0].abs();
    let expected = restitution(1e5, STIFFNESS / (0.5 * mass(radius)));
    assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected}");
}

#[test]
fn strong_damping_with_hertz_shortens_the_time_step_and_stays_stable() {
    let (radius, damping) = (1.5e-3, 2e5);
    let light = started(meeting(radius, hertz(1.0)), DeviceChoice::Cpu, None).time_step().limit;
    let mut damped = started(meeting(radius, hertz(damping)), DeviceChoice::Cpu, None);
    let plan = damped.time_step();
    assert!(plan.limit < 0.5 * light, "{} {light}", plan.limit);
    assert!(plan.cause.contains("damping 2.000e5 1/s"), "{}", plan.cause);
    damped.advance(2000).unwrap();
    let found = damped.snapshot().velocity[1][0].abs();
    let expected = restitution_with_hertz(radius, damping);
    // The collision takes some forty steps.
    assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
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
        normal: NormalLaw::Hysteretic,
        ..linear(500.0)
    });
    refused(Interaction {
        cohesion: Some(Cohesion::Jkr { surface_energy: 0.05 }),
        ..hertz(500.0)
    });
    refused(Interaction {
        tangential_damping: Some(500.0),
        ..hertz(500.0)
    });
    refused(linear(-1.0));
    refused(hertz(-1.0));
}
