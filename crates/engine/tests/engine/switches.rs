//! Grains that are fixed, released and loaded again during the run: tests against physics, and rejected inputs.

use crate::bars::{SPACING, bonds, mass, row, settings};
use crate::beds;
use crate::resumed::assert_same;
use crate::switched::{END, bed, changes, hold, play};
use seixo_engine::world::{Body, Bonded, Load, Settings, Sphere, WallMotion, World};
use seixo_engine::{Simulation, SurroundingsChange};
use seixo_laws::bond::BondLaw;
use seixo_laws::contact::TangentialLaw;

/// Grains far apart without bonds; the first two belong to one group, the third to another.
fn apart(velocity: [f64; 3]) -> World {
    let mut world = row(3, |_| velocity, bonds(BondLaw::Beam));
    world.bonds.clear();
    for k in 0..3 {
        world.grains.position[k][0] *= 3.0;
    }
    world.groups = vec!["plate".into(), "rest".into()];
    world.grains.group[2] = 1;
    world.later.constrained_groups = vec![0, 1];
    world
}

#[test]
fn what_is_held_moves_as_reported_and_goes_on_like_that_when_it_is_free() {
    let (thrown, reported) = ([0.3, 0.1, 0.0], [0.0, 0.0, -0.2]);
    let mut world = apart(thrown);
    world.gravity = [0.0, 0.0, -9.81];
    let dt = 1e-6;
    let mut simulation = Simulation::new(world, settings(dt)).unwrap();
    simulation.advance(1000).unwrap();
    let (before, ledger) = (simulation.snapshot(), simulation.ledger());
    simulation.change(&[hold(0, reported)]).unwrap();
    // The ledger no longer counts two of the three grains.
    let (now, after) = (simulation.snapshot(), simulation.ledger());
    assert_eq!(now.position, before.position);
    assert_eq!(now.velocity[..2], [reported; 2]);
    assert!((after.kinetic / ledger.kinetic - 1.0 / 3.0).abs() < 1e-12, "{after:?}");
    assert!((after.residual - ledger.residual).abs() < 1e-12 * ledger.kinetic);
    assert!(after.inserted < 0.0);
    simulation.advance(1000).unwrap();
    let held = simulation.snapshot();
    for k in 0..2 {
        for (axis, speed) in reported.into_iter().enumerate() {
            let way = held.position[k][axis] - before.position[k][axis];
            assert!((way - speed * 1000.0 * dt).abs() < 1e-15, "{k}: {way}");
        }
    }
    assert_eq!(simulation.bodies().len(), 1);
    simulation.change(&[SurroundingsChange::Free { group: 0 }]).unwrap();
    assert!(simulation.bodies().is_empty() && (simulation.snapshot().mass[0] / mass() - 1.0).abs() < 1e-12);
    simulation.advance(1000).unwrap();
    let free = simulation.snapshot();
    let time = 1000.0 * dt;
    for k in 0..2 {
        assert!(
            (free.velocity[k][2] - (reported[2] - 9.81 * time)).abs() < 1e-12,
            "{:?}",
            free.velocity
        );
        let fallen = free.position[k][2] - held.position[k][2];
        assert!((fallen - (reported[2] * time - 0.5 * 9.81 * time * time)).abs() < 1e-14, "{fallen}");
    }
    let ledger = simulation.ledger();
    assert!(
        ledger.residual.abs() < 1e-9 * ledger.kinetic && ledger.wall_work == 0.0,
        "{ledger:?}"
    );
}

#[test]
fn a_load_that_changes_acts_from_that_moment_on() {
    let (first, second) = ([2e-4, 0.0, 1e-4], [-1e-4, 3e-4, 0.0]);
    let mut world = apart([0.0; 3]);
    world.loads.push(Load::constant(1, first, [0.0; 3]));
    let dt = 1e-6;
    let mut simulation = Simulation::new(world, settings(dt)).unwrap();
    simulation.advance(700).unwrap();
    let (shown, then) = (simulation.snapshot().velocity[2], simulation.ledger());
    let load = Load::constant(1, second, [0.0, 0.0, 1e-9]);
    simulation.change(&[SurroundingsChange::Load(load)]).unwrap();
    for (axis, velocity) in simulation.snapshot().velocity[2].into_iter().enumerate() {
        assert!((velocity - shown[axis]).abs() < 1e-15, "{velocity} {shown:?}");
    }
    let at = simulation.snapshot().position[2];
    simulation.advance(500).unwrap();
    let (seen, ledger) = (simulation.snapshot(), simulation.ledger());
    let [before, after] = [700.0 * dt, 500.0 * dt];
    let mut work = 0.0;
    for axis in 0..3 {
        let speed = (first[axis] * before + second[axis] * after) / mass();
        assert!((seen.velocity[2][axis] - speed).abs() < 1e-12, "{seen:?}");
        work += second[axis] * (seen.position[2][axis] - at[axis]);
    }
    let turned = 0.5 * 1e-9 * seen.angular_velocity[2][2] * after;
    assert!(turned > 0.0);
    let done = ledger.wall_work - then.wall_work;
    // Positions have fewer digits than displacements.
    assert!((done - work - turned).abs() < 1e-8 * ledger.kinetic, "{done} {work} {turned}");
    assert!(ledger.residual.abs() < 1e-9 * ledger.kinetic, "{ledger:?}");
}

/// A rod rotates; then its first two grains are moved on along their circle, and are released again.
#[test]
fn bonds_survive_that_their_grains_are_held_and_set_free() {
    let (count, rate) = (6, 200.0);
    let middle = 0.5 * (count - 1) as f64 * SPACING;
    let mut world = row(count, |k| [0.0, rate * (k as f64 * SPACING - middle), 0.0], bonds(BondLaw::Beam));
    for spin in &mut world.grains.angular_velocity {
        *spin = [0.0, 0.0, rate];
    }
    world.groups = vec!["grip".into(), "rod".into()];
    world.grains.group = (0..count as u32).map(|k| u32::from(k > 1)).collect();
    world.bonds[0].between = Bonded::Near {
        groups: vec![0, 1],
        tolerance: 0.3,
    };
    world.bonds[0].damping_ratio = 0.2;
    world.later.constrained_groups = vec![0];
    let dt = 5e-7;
    let mut simulation = Simulation::new(world, settings(dt)).unwrap();
    // A rotation by two radians.
    let steps = (2.0 / rate / dt) as u64;
    simulation.advance(steps).unwrap();
    let (whirling, earlier) = (simulation.snapshot(), simulation.ledger());
    assert!(whirling.orientation[0][0] < 0.9, "it is turned");
    let center = [0, 1, 2].map(|axis| whirling.position.iter().map(|place| place[axis]).sum::<f64>() / count as f64);
    let motion = Box::new(WallMotion {
        angular_velocity: [0.0, 0.0, rate],
        through: center,
        ..WallMotion::default()
    });
    simulation.change(&[SurroundingsChange::Hold { group: 0, motion }]).unwrap();
    let held = simulation.snapshot();
    for (now, then) in held.orientation.iter().zip(&whirling.orientation) {
        assert!(now.iter().zip(then).all(|(a, b)| (a - b).abs() < 1e-14), "{now:?} {then:?}");
    }
    // Centrifugal force stretches the bonds as before.
    for _ in 0..4 {
        simulation.advance(steps / 4).unwrap();
        let ledger = simulation.ledger();
        assert!(
            (ledger.elastic_bonds / earlier.elastic_bonds - 1.0).abs() < 0.1,
            "{ledger:?} {earlier:?}"
        );
    }
    assert_eq!(simulation.bond_counts(), [5, 5]);
    let ledger = simulation.ledger();
    assert!(ledger.residual.abs() < 1e-3 * earlier.kinetic, "{ledger:?}");
    simulation.change(&[SurroundingsChange::Free { group: 0 }]).unwrap();
    simulation.advance(steps).unwrap();
    let (end, ledger) = (simulation.snapshot(), simulation.ledger());
    let length: f64 = (0..3)
        .map(|axis| (end.position[count - 1][axis] - end.position[0][axis]).powi(2))
        .sum();
    assert!((length.sqrt() / (2.0 * middle) - 1.0).abs() < 0.01, "{length}");
    assert!((ledger.kinetic / earlier.kinetic - 1.0).abs() < 0.01, "{ledger:?} {earlier:?}");
    assert!(ledger.residual.abs() < 1e-3 * earlier.kinetic, "{ledger:?}");
}

/// Two bonded grains are moved apart by prescribed motion, which forces do not affect. So the speed of a released grain does not follow from a
/// dashpot between them.
#[test]
fn a_bond_between_two_that_are_held_gives_no_blow_when_one_is_set_free() {
    let mut world = row(2, |_| [0.0; 3], bonds(BondLaw::Beam));
    world.groups = vec!["base".into(), "cap".into()];
    world.grains.group = vec![0, 1];
    world.bonds[0].between = Bonded::Near {
        groups: vec![0, 1],
        tolerance: 0.3,
    };
    world.bonds[0].damping_ratio = 0.2;
    world.later.constrained_groups = vec![0, 1];
    let mut simulation = Simulation::new(world, settings(5e-7)).unwrap();
    let speed = 1e-2;
    simulation.change(&[hold(0, [0.0; 3]), hold(1, [speed, 0.0, 0.0])]).unwrap();
    simulation.advance(5).unwrap();
    simulation.change(&[SurroundingsChange::Free { group: 1 }]).unwrap();
    simulation.advance(1).unwrap();
    // In a step, the dashpot of two free spheres reduces the velocity by 2ζω dt, some percent. The dashpot of two fixed grains would reverse it.
    let velocity = simulation.snapshot().velocity[1][0];
    assert!((velocity / speed - 1.0).abs() < 0.2, "{velocity} m/s");
}

#[test]
fn going_on_before_at_and_after_switches_is_the_same_to_the_bit() {
    let world = bed();
    let settings = |threads: usize| Settings {
        threads,
        ..Settings::default()
    };
    let mut whole = Simulation::new(world.clone(), settings(1)).unwrap();
    play(&mut whole, END);
    let whole = whole.save().unwrap();
    for split in [250, 300, 301, 500, 501, 600, 700, 701, 800, 900, 901, 1000, 1100, 1101] {
        let mut first = Simulation::new(world.clone(), settings(2)).unwrap();
        play(&mut first, split);
        let past: Vec<(u64, Vec<SurroundingsChange>)> = changes().into_iter().filter(|(step, _)| *step < split).collect();
        let state = first.save().unwrap();
        let mut second = Simulation::restore_changed(world.clone(), settings(3), &state, &past).unwrap();
        assert_eq!((first.ledger(), first.bodies()), (second.ledger(), second.bodies()));
        play(&mut second, END);
        assert_same(&whole, &second.save().unwrap(), &format!("split at {split}"));
    }
    // Right after a switch, before another step.
    let mut first = Simulation::new(world.clone(), settings(2)).unwrap();
    play(&mut first, 700);
    let events = changes();
    first.change(&events[2].1).unwrap();
    let mut second = Simulation::restore_changed(world, settings(1), &first.save().unwrap(), &events[..3]).unwrap();
    for simulation in [&mut first, &mut second] {
        simulation.advance(150).unwrap();
    }
    assert_same(&first.save().unwrap(), &second.save().unwrap(), "right after a switch");
}

#[test]
fn the_ledger_closes_over_switches() {
    let mut simulation = Simulation::new(bed(), settings(2e-6)).unwrap();
    play(&mut simulation, 1100);
    let before = simulation.ledger();
    let moved = before.normal_damping + before.tangential_damping + before.friction;
    println!("residual {:.1e} of {moved:.1e} J taken", before.residual);
    assert!(before.residual.abs() < 1e-2 * moved, "{before:?}");
    // If all grains are fixed, the bed has no energy and no inner forces.
    play(&mut simulation, END);
    let (after, seen) = (simulation.ledger(), simulation.snapshot());
    assert_eq!((after.kinetic, after.gravity, after.elastic_normal), (0.0, 0.0, 0.0));
    // First order in the step in which it happens.
    assert!((after.residual - before.residual).abs() < 5e-3 * moved, "{after:?}");
    let load = [2e-6, 0.0, 1e-6];
    for (group, force) in seen.group.iter().zip(&seen.force) {
        assert_eq!(*force, if *group == 0 { load } else { [0.0; 3] });
    }
}

#[test]
fn holding_a_group_whose_grains_are_gone_changes_nothing() {
    let world = apart([0.3, 0.1, 0.0]);
    let run = |holds: bool| {
        let mut simulation = Simulation::new(world.clone(), settings(1e-6)).unwrap();
        simulation.remove(&[0, 1]).unwrap();
        if holds {
            simulation.change(&[hold(0, [0.0; 3])]).unwrap();
        }
        simulation.advance(100).unwrap();
        simulation
    };
    let (mut held, free) = (run(true), run(false));
    let (now, expected) = (held.snapshot(), free.snapshot());
    assert_eq!(
        (now.id, now.position, now.velocity),
        (expected.id, expected.position, expected.velocity)
    );
    let past = [(0, vec![hold(0, [0.0; 3])])];
    let mut second = Simulation::restore_changed(world.clone(), settings(1e-6), &held.save().unwrap(), &past).unwrap();
    for simulation in [&mut held, &mut second] {
        simulation.advance(100).unwrap();
    }
    assert_same(&held.save().unwrap(), &second.save().unwrap(), "nothing is held");
}

#[test]
fn what_cannot_be_switched_is_refused_by_name() {
    let refused = |prepare: &dyn Fn(&mut World), change: SurroundingsChange| {
        let mut world = apart([0.0; 3]);
        prepare(&mut world);
        let mut simulation = Simulation::new(world, settings(1e-6)).unwrap();
        simulation.advance(10).unwrap();
        simulation.change(&[change]).unwrap_err().to_string()
    };
    let still = || hold(0, [0.0; 3]);
    let unannounced = refused(&|world| world.later.constrained_groups = vec![1], still());
    assert!(unannounced.contains("of group 0: it is not announced"), "{unannounced}");
    let clump = |world: &mut World| {
        let body = Body {
            id: 0,
            mass: 1e-4,
            moments: [1e-10; 3],
            center: [1.0, 0.0, 0.0],
            orientation: [1.0, 0.0, 0.0, 0.0],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            motion: None,
            joint: None,
            carries: Vec::new(),
        };
        let sphere = Sphere {
            id: 9,
            offset: [0.0; 3],
            radius: 2e-3,
        };
        world.grains.push_body(body, &[sphere], 0, 0);
    };
    let clumped = refused(&clump, still());
    assert!(
        clumped.contains("grains plate: clumps, and bodies on joints, cannot be held while they move"),
        "{clumped}"
    );
    let load = Load::constant(1, [f64::NAN; 3], [0.0; 3]);
    assert!(refused(&|_| {}, SurroundingsChange::Load(load)).contains("grains rest: a number of their load is not finite"));
    let endless = SurroundingsChange::Hold {
        group: 0,
        motion: Box::new(WallMotion {
            stop: Some(-1.0),
            ..WallMotion::default()
        }),
    };
    assert!(refused(&|_| {}, endless).contains("stops at -1 s"));

    // A grain that entered a wall while it was fixed cannot be released there.
    let mut world = apart([0.0; 3]);
    world.walls.push(beds::falling(1, TangentialLaw::None).walls.swap_remove(0));
    world.walls[0].motion = WallMotion::default();
    for place in &mut world.grains.position {
        place[0] += 0.1;
    }
    let mut simulation = Simulation::new(world, settings(1e-6)).unwrap();
    simulation.change(&[hold(0, [-10.0, 0.0, 0.0])]).unwrap();
    simulation.advance(10_000).unwrap();
    let stuck = simulation.change(&[SurroundingsChange::Free { group: 0 }]).unwrap_err().to_string();
    assert!(
        stuck.contains("grain 0 cannot be set free") && stuck.contains("overlaps with wall pusher"),
        "{stuck}"
    );
}
