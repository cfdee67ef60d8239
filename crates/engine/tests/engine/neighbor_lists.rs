//! Neighbor lists: which worlds have some, what they take, when they are rebuilt, and that grains that left go then.

use crate::bars;
use crate::beds::falling;
use crate::clumps::{self, Fill as _, rod};
use crate::devices::{after, apart, on_cpu, on_gpu};
use crate::resumed::assert_same_when_resumed;
use crate::{domains, on_gpus};
use seixo_engine::Simulation;
use seixo_engine::world::{Domain, Grains, LeavingPolicy, Precision, Search, Settings, World};
use seixo_laws::bond::BondLaw;
use seixo_laws::contact::TangentialLaw;

#[test]
fn smooth_grains_have_lists_by_default_and_move_as_without_them() {
    let world = falling(1000, TangentialLaw::None);
    let with = |search: Search| after(&world, Settings { search, ..on_cpu() }, 600);
    let mut listed = with(Search::Auto);
    assert!(listed.list_entries().unwrap() > 1000, "{}", listed.list_entries().unwrap());
    for search in [Search::Grid, Search::HierarchicalGrid] {
        let mut searched = with(search);
        assert_eq!(searched.list_entries().unwrap(), 0, "{search:?}");
        assert!(searched.contacts() > 10, "{}", searched.contacts());
        let difference = apart(&listed.snapshot(), &searched.snapshot());
        assert!(difference < 1e-9, "{search:?}: {difference:e}");
    }
}

#[test]
fn pairs_that_do_not_touch_take_no_memory_for_histories() {
    let mut world = falling(2000, TangentialLaw::Mindlin);
    world.walls.clear();
    let with = |skin: f64| {
        let settings = Settings {
            skin: Some(skin),
            ..on_cpu()
        };
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        let entries = simulation.list_entries().unwrap();
        (entries as f64, simulation.bytes() as f64)
    };
    let ((few, bytes_of_few), (many, bytes_of_many)) = (with(1e-6), with(6e-4));
    assert!(many - few > 8000.0, "{many} {few}");
    let of_entry = (bytes_of_many - bytes_of_few) / (many - few);
    assert!(of_entry < 8.0, "{of_entry} bytes an entry");
}

/// Radius of grains that rise \[m\], and their speed \[m/s\].
const RADIUS: f64 = 5e-4;
const SPEED: f64 = 0.5;
/// Half of this skin lasts for 200 steps of 2 µs, in which the fastest grain moves by 1 µm \[m\].
const SKIN: f64 = 4e-4;

/// Grains far apart that rise. One of them passes the top of the domain every three steps.
fn rising(count: usize) -> World {
    let mut grains = Grains::default();
    for k in 0..count {
        let center = [2e-3 * k as f64, 0.0, -3e-6 * (k as f64 + 0.5)];
        grains.push(k as u32, center, [0.0, 0.0, SPEED], [0.0; 3], RADIUS, 0, 0);
    }
    World {
        gravity: [0.0; 3],
        grains,
        walls: Vec::new(),
        domain: Some(Domain::open([-1.0; 3], [1.0, 1.0, 0.0], LeavingPolicy::Delete)),
        ..falling(1, TangentialLaw::Mindlin)
    }
}

/// A falling bed of three parts whose upper layers are thrown over the top of the domain.
fn thrown(tangential: TangentialLaw) -> World {
    let mut world = falling(3000, tangential);
    world.domain = Some(Domain::open([-0.1; 3], [0.1, 0.1, TOP], LeavingPolicy::Delete));
    for (center, velocity) in world.grains.position.iter().zip(&mut world.grains.velocity) {
        velocity[2] += if center[2] > 0.012 { 3.0 } else { 0.0 };
    }
    world
}

/// Top of the domain of [`thrown()`] \[m\].
const TOP: f64 = 0.0165;

fn with_wide_skin(settings: Settings) -> Settings {
    Settings {
        time_step: Some(2e-6),
        skin: Some(SKIN),
        ..settings
    }
}

/// Height of the highest grain \[m\].
fn highest(simulation: &Simulation) -> f64 {
    let snapshot = simulation.snapshot();
    snapshot.position.iter().map(|x| x[2]).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn grains_that_leave_stay_until_motion_asks_for_new_lists() {
    let alone = [on_cpu(), on_gpu(Precision::F64)];
    let divided = [domains::among(2), on_gpus::among(2, Precision::F64)];
    for settings in alone.into_iter().chain(divided).map(with_wide_skin) {
        let mut simulation = Simulation::new(rising(300), settings.clone()).unwrap();
        let of_one = simulation.ledger().kinetic / 300.0;
        simulation.advance(1).unwrap();
        simulation.observe().unwrap();
        let before = simulation.rebuilds();
        simulation.advance(189).unwrap();
        simulation.observe().unwrap();
        // Sixty-three have left, the first of them by less than half a skin.
        assert_eq!((simulation.len(), simulation.rebuilds()), (300, before), "{settings:?}");
        assert!(highest(&simulation) > 0.45 * SKIN, "{settings:?}");
        assert_eq!(simulation.ledger().left_domain, 0.0, "{settings:?}");
        simulation.advance(20).unwrap();
        simulation.observe().unwrap();
        // By then sixty-seven have left. At most the last ten steps let others follow.
        assert_eq!((simulation.len(), simulation.rebuilds()), (233, before + 1), "{settings:?}");
        assert!(highest(&simulation) < 0.1 * SKIN, "{settings:?}");
        let ledger = simulation.ledger();
        // Sums over some hundred grains in double precision.
        assert!((ledger.left_domain / (67.0 * of_one) - 1.0).abs() < 1e-12, "{ledger:?}");
        assert!(ledger.residual.abs() < 1e-12 * ledger.initial, "{ledger:?}");
        // A state between leaving and removal.
        assert_same_when_resumed(&rising(300), &settings, [100, 150]);
    }
}

#[test]
fn an_event_takes_grains_that_left_along_and_the_ledger_counts_them_once() {
    for settings in [on_cpu(), on_gpu(Precision::F64), domains::among(2)].map(with_wide_skin) {
        let mut simulation = Simulation::new(rising(300), settings.clone()).unwrap();
        let of_one = simulation.ledger().kinetic / 300.0;
        simulation.advance(100).unwrap();
        assert_eq!(simulation.len(), 300, "{settings:?}");
        // Thirty-three have left.
        simulation.remove(&[299]).unwrap();
        assert_eq!(simulation.len(), 300 - 33 - 1, "{settings:?}");
        let ledger = simulation.ledger();
        assert!((ledger.left_domain / (34.0 * of_one) - 1.0).abs() < 1e-12, "{ledger:?}");
        assert!(ledger.residual.abs() < 1e-12 * ledger.initial, "{ledger:?}");
    }
}

#[test]
fn an_event_takes_bonds_of_grains_that_left_along_and_supplies_nothing() {
    let sideways = |k: usize| if k.is_multiple_of(2) { SPEED } else { -SPEED };
    let mut world = bars::row(4, |k| [SPEED, 0.0, sideways(k)], bars::bonds(BondLaw::Beam));
    world.groups.push("nothing".into());
    // The last grain is outside after 50 of the 100 steps.
    let end = world.grains.position[3][0] + 5e-5;
    world.domain = Some(Domain::open([-1.0; 3], [end, 1.0, 1.0], LeavingPolicy::Delete));
    for settings in [on_cpu(), on_gpu(Precision::F64)].map(with_wide_skin) {
        let mut simulation = after(&world, settings.clone(), 100);
        let before = simulation.ledger();
        assert_eq!(simulation.len(), 4, "{settings:?}");
        simulation.set_velocity(1, [0.0; 3]).unwrap();
        let now = simulation.ledger();
        assert_eq!(simulation.len(), 3, "{settings:?}");
        let along = before.elastic_bonds - now.elastic_bonds;
        assert!(along > 1e-6 * before.kinetic, "{settings:?}: {along:e} J");
        // Bonds bend by a ten-thousandth of the coordinates, so that their energies have twelve digits.
        let supplied = now.inserted - before.inserted;
        assert!(supplied.abs() < 1e-10 * before.kinetic, "{settings:?}: {supplied:e} J");
    }
}

/// A skin of which half lasts for 200 of the steps of [`with_wide_skin()`], but not for 201 \[m\].
const LASTING: f64 = 4.01e-4;

/// Two rods far apart, of which one rises out of the domain at once. Between them, two grains approach each other from beyond the skin, and touch after
/// 201 steps.
fn rising_rod() -> World {
    let mut world = clumps::world(TangentialLaw::Mindlin);
    world.gravity = [0.0; 3];
    world.domain = Some(Domain::open([-1.0; 3], [1.0, 1.0, 0.0], LeavingPolicy::Delete));
    world.grains.clear_and(|grains| {
        for (center, speed) in [([0.0, 0.0, -2e-5], SPEED), ([2e-2, 0.0, -2e-3], 0.0)] {
            rod(3, RADIUS).put(grains, center, [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, speed], [0.0; 3]);
        }
        for side in [-1.0, 1.0] {
            let center = [1e-2, side * (RADIUS + 0.5 * (LASTING + 5e-7)), -2e-3];
            grains.push(grains.len() as u32, center, [0.0, -side * SPEED, 0.0], [0.0; 3], RADIUS, 0, 0);
        }
    });
    world
}

fn with_lasting_skin(settings: Settings) -> Settings {
    Settings {
        skin: Some(LASTING),
        ..with_wide_skin(settings)
    }
}

#[test]
fn a_state_with_a_body_outside_is_gone_on_from_to_the_bit() {
    let world = rising_rod();
    for settings in [on_gpu(Precision::F64), domains::among(2), on_gpus::among(2, Precision::F64)].map(with_lasting_skin) {
        let simulation = after(&world, settings.clone(), 100);
        assert!(simulation.len() == 8 && highest(&simulation) > 2e-5, "{settings:?}");
        let end = assert_same_when_resumed(&world, &settings, [100, 110]);
        assert_eq!(Simulation::restore(world.clone(), settings, &end).unwrap().len(), 5);
    }
}

#[test]
fn a_contact_that_closes_in_the_last_stride_before_a_body_is_removed_pushes_at_once() {
    let world = rising_rod();
    let expected = after(&world, with_lasting_skin(on_cpu()), 203);
    assert_eq!((expected.len(), expected.contacts()), (5, 1));
    for settings in [on_gpu(Precision::F64), on_gpus::among(2, Precision::F64)].map(with_lasting_skin) {
        let found = after(&world, settings.clone(), 203);
        assert_eq!((found.len(), found.contacts()), (5, 1), "{settings:?}");
        assert_eq!(found.rebuilds(), expected.rebuilds(), "{settings:?}");
        // A force that is missing for a step changes velocities by a ten-thousandth.
        let difference = apart(&expected.snapshot(), &found.snapshot());
        assert!(difference < 1e-9, "{settings:?}: {difference:e}");
    }
}

#[test]
fn grains_thrown_out_of_a_bed_cost_no_rebuild_and_change_no_bit_of_a_resumed_run() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = thrown(tangential);
        let unbounded = World {
            domain: None,
            ..world.clone()
        };
        let mut first = Simulation::new(world.clone(), with_wide_skin(on_cpu())).unwrap();
        while highest(&first) <= TOP {
            first.advance(1).unwrap();
            first.observe().unwrap();
            assert!(first.steps() < 600, "a grain leaves");
        }
        // On a GPU, its way may be longer by rounding.
        let step = first.steps() + 1;
        for settings in [on_cpu(), on_gpu(Precision::F64)].map(with_wide_skin) {
            let [kept, all] = [&world, &unbounded].map(|world| after(world, settings.clone(), 600));
            assert!(kept.len() < 2900, "{}", kept.len());
            // Grains that are gone move no more.
            assert!(kept.rebuilds() <= all.rebuilds(), "{} {}", kept.rebuilds(), all.rebuilds());
            for split in [step, step + 36] {
                assert_same_when_resumed(&world, &settings, [split, 200]);
            }
        }
    }
}
