//! Forces that a GPU computes in several launches, as in the literature, equal those of a single launch (software Vulkan suffices; without any
//! adapter these tests fail).

use crate::beds;
use crate::devices::after;
use crate::overflowing::losing_its_top;
use seixo_device::gpu::Gpu;
use seixo_engine::state::State;
use seixo_engine::world::{DeviceChoice, ForceAssembly, Interaction, Precision, Settings, World};
use seixo_engine::{Simulation, StepErrorCause};
use seixo_laws::contact::TangentialLaw;

const OTHERS: [ForceAssembly; 2] = [ForceAssembly::ContactList, ForceAssembly::SortedContacts];

fn on_gpu(assembly: ForceAssembly) -> Settings {
    Settings {
        device: DeviceChoice::Gpu(None),
        precision: Some(Precision::F64),
        assembly,
        ..Settings::default()
    }
}

fn going_on(world: &World, settings: Settings, state: &State, steps: u64) -> Simulation {
    let mut simulation = Simulation::restore(world.clone(), settings, state).unwrap();
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
    simulation
}

fn length(v: &[f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn largest(column: &[[f64; 3]]) -> f64 {
    column.iter().map(length).fold(0.0, f64::max)
}

/// Asserts that two simulations have the same state, with a tolerance of `bar` times the largest value of every kind.
fn assert_same(fused: &Simulation, other: &Simulation, bar: f64, what: &str) {
    let (a, b) = (fused.snapshot(), other.snapshot());
    assert!(a.id == b.id && a.coordination == b.coordination, "{what}");
    assert_eq!((fused.contacts(), fused.rebuilds()), (other.contacts(), other.rebuilds()), "{what}");
    for (name, a, b) in [
        ("positions", &a.position, &b.position),
        ("velocities", &a.velocity, &b.velocity),
        ("angular velocities", &a.angular_velocity, &b.angular_velocity),
        ("forces", &a.force, &b.force),
        ("torques", &a.torque, &b.torque),
    ] {
        let apart: Vec<[f64; 3]> = a.iter().zip(b).map(|(a, b)| [a[0] - b[0], a[1] - b[1], a[2] - b[2]]).collect();
        let found = largest(&apart) / largest(a).max(f64::MIN_POSITIVE);
        println!("{what}: {name} {found:.1e}");
        assert!(found < bar, "{what}: {name} are off by {found:e}");
    }
    let scale = fused.ledger().kinetic + fused.ledger().gravity.abs();
    for (k, (a, b)) in fused.ledger().values().into_iter().zip(other.ledger().values()).enumerate() {
        assert!((a - b).abs() < bar * scale, "{what}: ledger column {k}: {a} {b}");
    }
    let force = largest(&a.force);
    for (a, b) in fused.walls().iter().zip(other.walls()) {
        for axis in 0..3 {
            assert!(
                (a.force[axis] - b.force[axis]).abs() < bar * force,
                "{what}: {:?} {:?}",
                a.force,
                b.force
            );
        }
    }
}

/// As [`beds::falling`], with two alternating materials.
fn two_materials(count: usize) -> World {
    let mut world = beds::falling(count, TangentialLaw::Mindlin);
    let alike = world.interactions[0].clone();
    let unlike = alike.clone().map(|interaction| Interaction {
        restitution: 0.8,
        friction: 0.2,
        ..interaction
    });
    world.materials.push(world.materials[0].clone());
    world.materials[1].name = "rubber".into();
    world.materials[1].youngs_modulus = 5e6;
    world.interactions = vec![alike.clone(), unlike.clone(), unlike, alike];
    for (k, material) in world.grains.material.iter_mut().enumerate() {
        *material = (k % 2) as u32;
    }
    world
}

#[test]
fn a_few_steps_from_the_same_state_give_the_same_forces() {
    let mut linear = beds::falling(1000, TangentialLaw::Linear);
    linear.interactions[0].as_mut().unwrap().tangential_stiffness = Some(1e3);
    let worlds = [
        ("Mindlin", beds::falling(1000, TangentialLaw::Mindlin)),
        ("linear", linear),
        ("smooth", beds::falling(1000, TangentialLaw::None)),
        ("two materials", two_materials(1000)),
    ];
    for (name, world) in worlds {
        // Grains move, so that contacts have a history.
        let mut simulation = after(&world, Settings::default(), 1500);
        assert!(simulation.contacts() > 300, "{name}: {}", simulation.contacts());
        let state = simulation.save().unwrap();
        // Forces are compared after the first step; by the third they have also moved grains.
        for (precision, steps, bar) in [(Precision::F64, 1, 1e-13), (Precision::F64, 3, 1e-12), (Precision::Mixed, 3, 1e-4)] {
            let with = |assembly: ForceAssembly| Settings {
                precision: Some(precision),
                ..on_gpu(assembly)
            };
            let fused = going_on(&world, with(ForceAssembly::Fused), &state, steps);
            for assembly in OTHERS {
                let other = going_on(&world, with(assembly), &state, steps);
                assert_same(&fused, &other, bar, &format!("{name}, {assembly:?} {precision:?} {steps}"));
            }
        }
    }
}

#[test]
fn hundreds_of_steps_with_rebuilt_lists_and_moving_walls_stay_together() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = beds::falling(2000, tangential);
        let fused = after(&world, on_gpu(ForceAssembly::Fused), 600);
        assert!(fused.rebuilds() > 3 && fused.contacts() > 50, "{}", fused.contacts());
        for assembly in OTHERS {
            let other = after(&world, on_gpu(assembly), 600);
            assert_same(&fused, &other, 1e-9, &format!("{tangential:?} {assembly:?}"));
        }
    }
}

#[test]
fn without_a_skin_lists_serve_smooth_grains_too() {
    let world = beds::falling(300, TangentialLaw::None);
    let with = |assembly: ForceAssembly| Settings {
        skin: Some(0.0),
        ..on_gpu(assembly)
    };
    let fused = after(&world, with(ForceAssembly::Fused), 200).snapshot();
    for assembly in OTHERS {
        let other = after(&world, with(assembly), 200).snapshot();
        assert_eq!(fused.coordination, other.coordination, "{assembly:?}");
        for (a, b) in fused.position.iter().zip(&other.position) {
            assert!(
                length(&[a[0] - b[0], a[1] - b[1], a[2] - b[2]]) < 1e-9 * largest(&fused.position),
                "{assembly:?}"
            );
        }
    }
}

#[test]
fn two_runs_are_the_same_bits_though_grains_leave() {
    let world = losing_its_top(1000, TangentialLaw::Mindlin);
    for assembly in OTHERS {
        let run = || {
            let mut simulation = after(&world, on_gpu(assembly), 300);
            assert!(simulation.len() < 1000, "grains leave");
            simulation.save().unwrap()
        };
        assert!(run() == run(), "{assembly:?}");
    }
}

#[test]
fn a_contact_computed_once_pushes_both_grains_alike() {
    let on_cpu = Settings {
        assembly: ForceAssembly::SortedContacts,
        ..Settings::default()
    };
    let cases = [on_cpu, on_gpu(ForceAssembly::SortedContacts)]
        .map(|settings| [TangentialLaw::Mindlin, TangentialLaw::None].map(|law| (settings.clone(), law)));
    for (settings, tangential) in cases.into_iter().flatten() {
        let mut world = beds::falling(1000, tangential);
        world.gravity = [0.0; 3];
        world.walls.clear();
        let simulation = after(&world, settings, 600);
        assert!(simulation.contacts() > 10, "{}", simulation.contacts());
        let grains = simulation.snapshot();
        let start = Simulation::new(world, Settings::default()).unwrap();
        let before = start.snapshot();
        let momentum: f64 = before.velocity.iter().zip(&before.mass).map(|(v, mass)| mass * length(v)).sum();
        let forces: f64 = grains.force.iter().map(length).sum();
        for axis in 0..3 {
            let force: f64 = grains.force.iter().map(|force| force[axis]).sum();
            assert!(
                force.abs() < 1e-13 * forces,
                "{tangential:?}: {force:e} of {forces:e} N are left over"
            );
            let change = simulation.momentum().linear[axis] - start.momentum().linear[axis];
            assert!(change.abs() < 1e-12 * momentum, "{tangential:?}: {change:e} of {momentum:e} N s");
        }
    }
}

#[test]
fn too_deep_an_overlap_is_seen_at_the_same_step() {
    let world = beds::falling(1000, TangentialLaw::Mindlin);
    let fails = |assembly: ForceAssembly| {
        let settings = Settings {
            overlap_limit: 2e-3,
            ..on_gpu(assembly)
        };
        let stop = Simulation::new(world.clone(), settings).unwrap().advance(2000).unwrap_err();
        assert!(matches!(stop.cause, StepErrorCause::TooDeep { .. }), "{stop}");
        (stop.step, stop.grain, stop.affected)
    };
    let fused = fails(ForceAssembly::Fused);
    for assembly in OTHERS {
        assert_eq!(fails(assembly), fused, "{assembly:?}");
    }
}

#[test]
fn memory_that_runs_out_within_a_step_is_an_error_too() {
    let world = beds::falling(300, TangentialLaw::Mindlin);
    let gpu = Gpu::open(None).unwrap();
    for assembly in OTHERS {
        let mut failures = 0;
        for k in (1..).step_by(3) {
            gpu.fail_allocation(k);
            let message = match Simulation::new_on(gpu.clone(), world.clone(), on_gpu(assembly)) {
                Err(refusal) => refusal.to_string(),
                Ok(mut simulation) => match simulation.advance(20).and_then(|()| simulation.observe()) {
                    Err(stop) => {
                        assert!(matches!(stop.cause, StepErrorCause::Device { .. }), "{stop}");
                        stop.to_string()
                    }
                    Ok(()) => break,
                },
            };
            assert!(message.contains(" has no memory left for"), "{message}");
            failures += 1;
        }
        gpu.fail_allocation(0);
        assert!(failures > 20, "{failures} allocations");
        assert_eq!(gpu.bytes_in_use(), 0, "what failed gave its memory back");
    }
}
