//! Local damping, with weight and without: on grains, bodies and bodies on joints, on a CPU and on a GPU.

use crate::clumps::{Fill as _, Shape, rod, world};
use seixo_engine::Simulation;
use seixo_engine::world::{DeviceChoice, Joint, LocallyDamped, Precision, Settings, World};
use seixo_laws::contact::TangentialLaw;

const G: f64 = 9.81;
const DAMPING: f64 = 0.4;
/// Upward speed at the start \[m/s\].
const THROWN: f64 = 1.0;

const GPU: DeviceChoice = DeviceChoice::Gpu(None);

fn started(world: World, device: DeviceChoice, dt: f64) -> Simulation {
    let settings = Settings {
        threads: 1,
        device,
        precision: (device == GPU).then_some(Precision::F64),
        time_step: Some(dt),
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

fn damped(of: LocallyDamped) -> World {
    let mut world = world(TangentialLaw::None);
    world.gravity = [0.0, 0.0, -G];
    (world.local_damping, world.locally_damped) = (DAMPING, of);
    world
}

/// A grain and a rod, both thrown upward.
fn thrown(of: LocallyDamped) -> World {
    let mut world = damped(of);
    world.grains.clear_and(|grains| {
        grains.push(0, [1.0, 0.0, 0.0], [0.0, 0.0, THROWN], [0.0; 3], 1e-3, 0, 0);
        rod(3, 1e-3).put(grains, [0.0; 3], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, THROWN], [0.0; 3]);
    });
    world
}

#[test]
fn free_fall_is_damped_only_with_weight() {
    let (dt, steps) = (1e-5, 2000u32);
    let time = dt * f64::from(steps);
    // On the way up, gravity and damping act together; the flight ends before the highest point.
    for (of, deceleration) in [(LocallyDamped::AllForces, G * (1.0 + DAMPING)), (LocallyDamped::AllButWeight, G)] {
        let exact = [THROWN - deceleration * time, time * (THROWN - 0.5 * deceleration * time)];
        assert!(exact[0] > 0.0);
        for device in [DeviceChoice::Cpu, GPU] {
            let mut simulation = started(thrown(of), device, dt);
            simulation.advance(u64::from(steps)).unwrap();
            simulation.observe().unwrap();
            let (grains, bodies) = (simulation.snapshot(), simulation.bodies());
            let grain = grains.id.iter().position(|&id| id == 0).unwrap();
            let found = [
                [grains.velocity[grain][2], grains.position[grain][2]],
                [bodies[0].velocity[2], bodies[0].center[2]],
            ];
            for [velocity, height] in found {
                assert!(
                    (velocity - exact[0]).abs() < 1e-9 * THROWN,
                    "{of:?} {device:?}: {velocity} {exact:?}"
                );
                assert!((height - exact[1]).abs() < 1e-7 * exact[1], "{of:?} {device:?}: {height} {exact:?}");
            }
            // What damping took is in the ledger.
            let ledger = simulation.ledger();
            let taken = ledger.local_damping / (ledger.kinetic + ledger.gravity);
            assert_eq!(taken > 1e-3, of == LocallyDamped::AllForces, "{of:?} {device:?}: {taken}");
            let start = ledger.kinetic + ledger.gravity + ledger.local_damping;
            assert!(ledger.residual.abs() < 1e-4 * start, "{of:?} {device:?}: {ledger:?}");
        }
    }
}

#[test]
fn a_pendulum_without_contacts_swings_on_if_weight_is_not_damped() {
    let ball = Shape::of(vec![([0.0; 3], 0.1)]);
    let (arm, angle, dt) = (1.0f64, 0.5f64, 1e-3);
    let swing = |of: LocallyDamped, device: DeviceChoice| {
        let mut world = damped(of);
        let center = [arm * angle.sin(), 0.0, -arm * angle.cos()];
        world
            .grains
            .clear_and(|grains| ball.put(grains, center, [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]));
        world.grains.bodies[0].joint = Some(Joint::Hinge {
            through: [0.0; 3],
            axis: [0.0, 1.0, 0.0],
        });
        let mut simulation = started(world, device, dt);
        // Highest place in the second half of two seconds, a period.
        let mut highest = f64::NEG_INFINITY;
        for part in 0..40 {
            simulation.advance(50).unwrap();
            simulation.observe().unwrap();
            if part >= 20 {
                highest = highest.max(simulation.bodies()[0].center[2]);
            }
        }
        (highest + arm) / (arm * (1.0 - angle.cos()))
    };
    for device in [DeviceChoice::Cpu, GPU] {
        // Readings are a fortieth of a period apart, so the highest point is missed by at most a percent.
        let (kept, braked) = (swing(LocallyDamped::AllButWeight, device), swing(LocallyDamped::AllForces, device));
        assert!((kept - 1.0).abs() < 0.015, "{device:?}: {kept}");
        assert!(braked < 0.6, "{device:?}: {braked}");
    }
}
