//! Decomposed worlds of all kinds: walls with wear or a load, heat, other schemes, prescribed motion, and sliding periodic sides.

use crate::alike::assert_same;
use crate::beds::falling;
use crate::domains::{after, among, started};
use crate::gases::gas;
use crate::ledgers::assert_same_ledger;
use crate::steered::{under_a_flap, under_a_plate};
use crate::switched::{END, bed, changes, play};
use crate::warm::conducting;
use seixo_engine::Simulation;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Body, Domain, LeavingPolicy, Scheme, Servo, ServoTarget, Settings, Shear, Sphere, WallMotion, WallShape, World};
use seixo_laws::contact::TangentialLaw;

/// Grains that fall into a box and to a side; the floor and that side wear.
fn wearing(tangential: TangentialLaw) -> World {
    let mut world = falling(2000, tangential);
    world.gravity = [-50.0, 0.0, -200.0];
    for (wall, rate) in [(0, 1e-12), (4, 2e-12)] {
        world.walls[wall].specific_wear_rate = rate;
    }
    world
}

/// Worn volume of each wall with wear \[m³\].
pub fn worn(simulation: &Simulation) -> Vec<f64> {
    let walls = simulation.walls();
    walls.iter().filter_map(|wall| wall.wear.as_ref()).map(|wear| wear.volume).collect()
}

#[test]
fn walls_wear_by_the_grains_of_all_domains() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = wearing(tangential);
        let mut whole = after(&world, 1, 1300);
        for domains in [2, 4] {
            let what = format!("{tangential:?}, {domains} domains");
            let mut decomposed = after(&world, domains, 700);
            let early = worn(&decomposed);
            // Repeated observations add nothing.
            decomposed.observe().unwrap();
            assert_eq!(worn(&decomposed), early);
            decomposed.advance(300).unwrap();
            // Neither does a restart with another decomposition, from the displacements since the last rebuild.
            let state = decomposed.save().unwrap();
            let mut decomposed = Simulation::restore(world.clone(), among(domains + 1), &state).unwrap();
            assert_eq!(worn(&decomposed), {
                let mut alone = Simulation::restore(world.clone(), among(1), &state).unwrap();
                alone.observe().unwrap();
                worn(&alone)
            });
            decomposed.advance(300).unwrap();
            assert_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
            let (expected, found) = (worn(&whole), worn(&decomposed));
            assert_eq!((expected.len(), found.len()), (2, 2));
            for (a, b) in expected.iter().zip(&found) {
                assert!(*a > 0.0 && (b / a - 1.0).abs() < 1e-12, "{what}: {a} {b}");
            }
            assert!(found.iter().zip(&early).all(|(now, then)| now > then));
        }
    }
}

#[test]
fn an_event_keeps_what_is_worn() {
    let mut decomposed = after(&wearing(TangentialLaw::Mindlin), 4, 900);
    let before = worn(&decomposed);
    decomposed.remove(&[0, 700, 1500]).unwrap();
    decomposed.observe().unwrap();
    for (a, b) in before.iter().zip(worn(&decomposed)) {
        assert!(*a > 0.0 && (b / a - 1.0).abs() < 1e-12, "{a} {b}");
    }
}

/// Force of the plate of [`pressed()`] \[N\].
const FORCE: f64 = 0.5;

/// A bed in a box, and a plate above that a servo presses down.
fn pressed() -> World {
    let mut world = falling(512, TangentialLaw::Mindlin);
    world.walls[0].motion = WallMotion::default();
    let mut plate = world.walls[1].clone();
    plate.name = "plate".into();
    plate.shape = WallShape::Plane {
        point: [0.0, 0.0, 9.2e-3],
        normal: [0.0, 0.0, -1.0],
    };
    plate.motion.servo = Some(Servo {
        along: [0.0, 0.0, -1.0],
        target: ServoTarget::Force(FORCE),
        velocity_limit: 0.2,
        ..Servo::default()
    });
    world.walls.push(plate);
    world
}

#[test]
fn a_servo_goes_by_what_the_grains_of_all_domains_bear() {
    let world = pressed();
    let mut whole = after(&world, 1, 1);
    let steps = (0.03 / whole.time_step().value) as u64;
    whole.advance(steps - 1).unwrap();
    let plate = whole.walls()[5].clone();
    assert!((plate.force[2] / FORCE - 1.0).abs() < 0.01, "{plate:?}");
    for domains in [2, 4] {
        let mut decomposed = after(&world, domains, steps / 3);
        let moving = decomposed.walls()[5].position[2];
        // Resuming with another decomposition keeps the position of the servo, and its position at the last rebuild.
        let state = decomposed.save().unwrap();
        let mut decomposed = Simulation::restore(world.clone(), among(6 - domains), &state).unwrap();
        decomposed.advance(steps - steps / 3).unwrap();
        assert_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
        assert_same_ledger(&whole, &decomposed, &format!("{domains} domains"));
        assert_eq!(decomposed.walls()[5], plate);
        assert!(moving < 9.2e-3 && moving != plate.position[2], "{moving}");
    }
}

#[test]
fn servos_of_stress_and_torque_go_by_what_the_grains_of_all_domains_bear() {
    for world in [under_a_plate(), under_a_flap()] {
        let (steps, name) = (3000, world.walls[5].name.clone());
        let mut whole = after(&world, 1, steps);
        let wall = whole.walls()[5].clone();
        for domains in [2, 4] {
            let what = format!("{name}, {domains} domains");
            let mut decomposed = after(&world, domains, steps / 2);
            let state = decomposed.save().unwrap();
            let mut decomposed = Simulation::restore(world.clone(), among(6 - domains), &state).unwrap();
            decomposed.advance(steps - steps / 2).unwrap();
            assert_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
            assert_eq!(decomposed.walls()[5], wall, "{what}");
        }
        assert!(wall.angle > 0.01 || wall.position[2] < 9.1e-3, "{name}: {wall:?}");
    }
}

#[test]
fn a_target_that_is_set_between_steps_holds_in_all_domains_and_when_resumed() {
    let world = pressed();
    let mut whole = after(&world, 1, 1);
    let steps = (0.04 / whole.time_step().value) as u64;
    let (before, soon) = (steps / 2, 200);
    whole.advance(before - 1).unwrap();
    whole.set_servo_target(5, 2.0 * FORCE).unwrap();
    whole.advance(steps - before).unwrap();
    let plate = whole.walls()[5].clone();
    assert!((plate.force[2] / (2.0 * FORCE) - 1.0).abs() < 0.02, "{plate:?}");
    let status = whole.servo_status(5).unwrap();
    assert!(status.missing.abs() < 0.02 && status.integral_time > 0.0, "{status:?}");
    for domains in [2, 4] {
        let what = format!("{domains} domains");
        let mut decomposed = after(&world, domains, before);
        decomposed.set_servo_target(5, 2.0 * FORCE).unwrap();
        decomposed.advance(soon).unwrap();
        let state = decomposed.save().unwrap();
        let mut decomposed = Simulation::restore(world.clone(), among(6 - domains), &state).unwrap();
        decomposed.advance(steps - before - soon).unwrap();
        assert_eq!(decomposed.servo_status(5), Some(status), "{what}");
        assert_same(&mut whole, &mut decomposed, &what);
        assert_eq!(decomposed.walls()[5], plate, "{what}");
    }
    // The floor has no servo, and a target is a positive number.
    assert_eq!(whole.servo_status(0), None);
    whole.set_servo_target(0, 1.0).unwrap();
    for (wall, target, phrase) in [
        (5, 0.0, "wall plate: the target of its servo is 0"),
        (77, 1.0, "no wall of this index"),
    ] {
        let refused = whole.set_servo_target(wall, target).unwrap_err().to_string();
        assert!(refused.contains(phrase), "{refused}");
    }
}

#[test]
fn heat_flows_between_domains() {
    let ways: [(TangentialLaw, &[usize]); 2] = [(TangentialLaw::Mindlin, &[2, 4]), (TangentialLaw::None, &[2])];
    for (tangential, numbers) in ways {
        let mut world = conducting(falling(2000, tangential));
        // Some grains leave at the top and take their heat along.
        world.domain = Some(Domain::open([-0.1; 3], [0.1, 0.1, 0.0122], LeavingPolicy::Delete));
        let mut whole = after(&world, 1, 1500);
        let expected = whole.scalar_ledger(GrainScalar::Temperature).unwrap();
        assert!(expected.left > 0.0 && expected.from_walls != 0.0, "{expected:?}");
        for &domains in numbers {
            let what = format!("{tangential:?}, {domains} domains");
            let mut decomposed = after(&world, domains, 700);
            let state = decomposed.save().unwrap();
            let mut decomposed = Simulation::restore(world.clone(), among(domains + 1), &state).unwrap();
            decomposed.advance(800).unwrap();
            assert_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
            for scalar in GrainScalar::ALL {
                let ledger = decomposed.scalar_ledger(scalar).unwrap();
                assert!(
                    ledger.left > 0.0 && ledger.residual.abs() < 1e-12 * ledger.initial,
                    "{what}: {ledger:?}"
                );
            }
            for ([flow, given], [decomposed_flow, decomposed_given]) in whole.heat_of_walls().into_iter().zip(decomposed.heat_of_walls()) {
                assert_eq!(flow, decomposed_flow, "{what}");
                assert!(
                    (given - decomposed_given).abs() <= 1e-12 * given.abs(),
                    "{what}: {given} {decomposed_given}"
                );
            }
        }
    }
}

#[test]
fn grains_take_their_derivatives_along_to_other_domains() {
    // Friction rotates grains: they have orientations and derivatives of these.
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = falling(1500, tangential);
        let with = |domains: usize| Settings {
            scheme: Scheme::Gear,
            ..among(domains)
        };
        let mut whole = Simulation::new(world.clone(), with(1)).unwrap();
        whole.advance(2000).unwrap();
        assert!(whole.contacts() > 20, "{}", whole.contacts());
        for domains in [2, 4] {
            let mut decomposed = Simulation::new(world.clone(), with(domains)).unwrap();
            decomposed.advance(1200).unwrap();
            let state = decomposed.save().unwrap();
            let mut decomposed = Simulation::restore(world.clone(), with(domains + 1), &state).unwrap();
            decomposed.advance(800).unwrap();
            let what = format!("{tangential:?}, {domains} domains");
            assert_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
            let migrations = decomposed.decomposition().unwrap().migrations;
            assert!(migrations > 0, "{what}: {migrations}");
        }
    }
}

#[test]
fn grains_are_held_set_free_and_loaded_again_while_the_world_is_divided() {
    let world = bed();
    let mut whole = Simulation::new(world.clone(), among(1)).unwrap();
    play(&mut whole, END);
    for domains in [2, 4] {
        // Each split has another state: free, fixed, under load, rotating, free again, and all fixed.
        for split in [250, 400, 600, 800, 1000, 1200] {
            let what = format!("{domains} domains, split at {split}");
            let mut decomposed = Simulation::new(world.clone(), among(domains)).unwrap();
            play(&mut decomposed, split);
            let mut whole = Simulation::new(world.clone(), among(1)).unwrap();
            play(&mut whole, split);
            assert_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
            assert_eq!(whole.bodies(), decomposed.bodies(), "{what}");
        }
        let mut first = Simulation::new(world.clone(), among(domains)).unwrap();
        play(&mut first, 800);
        let past: Vec<_> = changes().into_iter().filter(|(step, _)| *step < 800).collect();
        let state = first.save().unwrap();
        let mut decomposed = Simulation::restore_changed(world.clone(), among(domains + 1), &state, &past).unwrap();
        play(&mut decomposed, END);
        assert_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
        assert_same_ledger(&whole, &decomposed, &format!("{domains} domains"));
    }
}

/// Grains in a channel that is periodic along x, under two bars in prescribed motion as long as the channel. One rises and leaves the domain; the
/// other moves down into the grains and through the sides.
fn barred() -> World {
    let (spacing, count) = (1.05e-3, 12);
    let length = f64::from(count) * spacing;
    let mut world = falling(1700, TangentialLaw::Mindlin);
    world.walls = world.walls.split_off(2);
    world.domain = Some(Domain {
        periodic: [true, false, false],
        ..Domain::open([0.0, -0.1, -0.1], [length, 0.1, 1.02e-2], LeavingPolicy::Delete)
    });
    let all = std::mem::take(&mut world.grains);
    for k in (0..all.len()).filter(|&k| all.position[k][2] < 6.2e-3) {
        let (position, velocity, spin) = (all.position[k], all.velocity[k], all.angular_velocity[k]);
        world.grains.push(all.id[k], position, velocity, spin, all.radius[k], 0, 0);
    }
    for (id, height, velocity) in [(5000, 1e-2, [0.0, 0.0, 1.0]), (6000, 7.2e-3, [0.4, 0.0, -0.5])] {
        let body = Body {
            id,
            mass: 1e-4,
            moments: [1e-9; 3],
            center: [0.5 * length, 6e-3, height],
            orientation: [1.0, 0.0, 0.0, 0.0],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            motion: Some(WallMotion {
                velocity,
                ..WallMotion::default()
            }),
            joint: None,
            carries: Vec::new(),
        };
        let sphere = |k: u32| Sphere {
            id: id + k,
            offset: [(f64::from(k) + 0.5) * spacing - 0.5 * length, 0.0, 0.0],
            radius: 5e-4,
        };
        world.grains.push_body(body, &(0..count).map(sphere).collect::<Vec<_>>(), 0, 0);
    }
    world
}

#[test]
fn bodies_that_are_held_reach_through_all_domains() {
    let world = barred();
    let mut whole = after(&world, 1, 1500);
    let [bar] = whole.bodies()[..] else {
        panic!("one of two left: {:?}", whole.bodies())
    };
    assert!(bar.id == 6000 && bar.center[2] < 6e-3, "{bar:?}");
    let before = world.grains.position[world.grains.len() - 1];
    let last = *whole.snapshot().position.last().unwrap();
    assert!(last[0] < before[0], "it went through the side: {before:?} {last:?}");
    let pushed = whole.snapshot().force.iter().rev().take(12).filter(|force| force[2] > 0.0).count();
    assert!(pushed > 0 && whole.ledger().wall_work != 0.0);
    for domains in [2, 4] {
        let mut decomposed = after(&world, domains, 1500);
        assert_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
        assert_same_ledger(&whole, &decomposed, &format!("{domains} domains"));
        assert_eq!(whole.bodies(), decomposed.bodies());
        let mut first = after(&world, domains, 600);
        let mut second = Simulation::restore(world.clone(), among(domains + 1), &first.save().unwrap()).unwrap();
        second.advance(900).unwrap();
        assert_same(&mut whole, &mut second, &format!("from {domains} domains"));
    }
}

#[test]
fn sides_slide_past_each_other_between_domains() {
    // Cuts across the gradient, and across the vorticity axis.
    for (flow, gradient) in [(0, 2), (2, 0)] {
        let mut world = gas(1000);
        let domain = world.domain.as_mut().unwrap();
        domain.shear = Some(Shear {
            flow,
            gradient,
            rate: 100.0,
        });
        let length = domain.max[gradient];
        let mut whole = started(&world, 1);
        let (mut at, mut passed) = (whole.snapshot().position, 0);
        for _ in 0..20 {
            whole.advance(200).unwrap();
            let now = whole.snapshot().position;
            let has_passed = |(a, b): &(&[f64; 3], &[f64; 3])| (a[gradient] - b[gradient]).abs() > 0.5 * length;
            passed += at.iter().zip(&now).filter(has_passed).count();
            at = now;
        }
        // Grains that cross the sides are accelerated or slowed down, as the sides move at 1.2 m/s.
        let ledger = whole.ledger();
        assert!(
            passed > 100 && ledger.wall_work.abs() > 0.01 * ledger.initial,
            "{passed} {ledger:?}"
        );
        assert!(ledger.residual.abs() < 0.01 * ledger.initial, "{ledger:?}");
        for domains in [2, 4, 8] {
            let what = format!("flow along {flow}, {domains} domains");
            let mut decomposed = after(&world, domains, 2000);
            let state = decomposed.save().unwrap();
            let mut decomposed = Simulation::restore(world.clone(), among(domains / 2), &state).unwrap();
            decomposed.advance(2000).unwrap();
            decomposed.observe().unwrap();
            assert_same(&mut whole, &mut decomposed, &what);
            assert_same_ledger(&whole, &decomposed, &what);
        }
    }
}
