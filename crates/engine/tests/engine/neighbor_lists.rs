//! Neighbor lists: which worlds have some, what they take, when they are rebuilt, and that grains that left go then.

use crate::beds::falling;
use crate::devices::{after, apart, on_cpu, on_gpu};
use crate::resumed::assert_same_when_resumed;
use crate::{domains, on_gpus};
use seixo_engine::Simulation;
use seixo_engine::world::{Domain, Grains, LeavingPolicy, Precision, Search, Settings, World};
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
fn grains_thrown_out_of_a_bed_cost_no_rebuild_and_change_no_bit_of_a_resumed_run() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = thrown(tangential);
        let unbounded = World {
            domain: None,
            ..world.clone()
        };
        for settings in [on_cpu(), on_gpu(Precision::F64)].map(with_wide_skin) {
            let [kept, all] = [&world, &unbounded].map(|world| after(world, settings.clone(), 600));
            assert!(kept.len() < 2900, "{}", kept.len());
            // Grains that are gone move no more.
            assert!(kept.rebuilds() <= all.rebuilds(), "{} {}", kept.rebuilds(), all.rebuilds());
            let mut first = Simulation::new(world.clone(), settings.clone()).unwrap();
            while highest(&first) <= TOP {
                first.advance(1).unwrap();
                first.observe().unwrap();
                assert!(first.steps() < 600, "a grain leaves");
            }
            let step = first.steps();
            for split in [step, step + 37] {
                assert_same_when_resumed(&world, &settings, [split, 200]);
            }
        }
    }
}
