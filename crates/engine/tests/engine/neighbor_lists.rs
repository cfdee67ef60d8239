//! Neighbor lists on a CPU: which worlds have some, what they take, and when they are rebuilt.

use crate::beds::falling;
use crate::devices::{after, apart, on_cpu};
use crate::resumed::assert_same_when_resumed;
use seixo_engine::Simulation;
use seixo_engine::world::{Domain, Grains, LeavingPolicy, Search, Settings, World};
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

/// Grains far apart that rise by 1 µm in a step of 2 µs. One of them passes the top of the domain every three steps.
fn rising(count: usize) -> World {
    let mut grains = Grains::default();
    for k in 0..count {
        let center = [2e-3 * k as f64, 0.0, -3e-6 * (k as f64 + 0.5)];
        grains.push(k as u32, center, [0.0, 0.0, 0.5], [0.0; 3], 5e-4, 0, 0);
    }
    World {
        gravity: [0.0; 3],
        grains,
        walls: Vec::new(),
        domain: Some(Domain::open([-1.0; 3], [1.0, 1.0, 0.0], LeavingPolicy::Delete)),
        ..falling(1, TangentialLaw::Mindlin)
    }
}

#[test]
fn grains_that_leave_one_by_one_are_removed_at_once_and_without_a_search() {
    // Half of this skin lasts 200 steps.
    let settings = Settings {
        time_step: Some(2e-6),
        skin: Some(4e-4),
        ..on_cpu()
    };
    let mut simulation = Simulation::new(rising(300), settings).unwrap();
    let before = simulation.rebuilds();
    for step in 1..=190 {
        simulation.advance(1).unwrap();
        assert_eq!(simulation.len(), 300 - (step + 1) / 3, "step {step}");
    }
    assert_eq!(simulation.rebuilds(), before);
    simulation.advance(20).unwrap();
    assert_eq!(simulation.rebuilds(), before + 1, "the skin is used up as if no grain had left");
    let ledger = simulation.ledger();
    assert!(
        ledger.left_domain > 0.0 && ledger.residual.abs() < 1e-12 * ledger.initial,
        "{ledger:?}"
    );
}

/// A falling bed of three parts whose upper layers are thrown over the top of the domain. A grain above the bed leaves long before the others.
fn thrown(tangential: TangentialLaw) -> World {
    let mut world = falling(3000, tangential);
    // Cells are counted from the lowest coordinates, of which this grain has one. It leaves before half the wide skin is used up.
    world.grains.push(3000, [2.6e-4, 8e-3, 0.0164], [0.0; 3], [0.0; 3], 2.5e-4, 0, 0);
    world.domain = Some(Domain::open([-0.1; 3], [0.1, 0.1, 0.0165], LeavingPolicy::Delete));
    for (center, velocity) in world.grains.position.iter().zip(&mut world.grains.velocity) {
        velocity[2] += if center[2] > 0.012 { 3.0 } else { 0.0 };
    }
    world
}

/// Steps in 600 of which the two upper layers leave, and a skin of which half lasts for some hundred.
fn with_wide_skin(settings: Settings) -> Settings {
    Settings {
        time_step: Some(2e-6),
        skin: Some(4e-4),
        ..settings
    }
}

#[test]
fn grains_move_as_with_lists_that_are_rebuilt_when_others_leave() {
    // Smooth grains have rows or, in a grid, cells only.
    for (tangential, search) in [
        (TangentialLaw::Mindlin, Search::Auto),
        (TangentialLaw::None, Search::Auto),
        (TangentialLaw::None, Search::Grid),
    ] {
        let world = thrown(tangential);
        let settings = with_wide_skin(Settings { search, ..on_cpu() });
        let kept = after(&world, settings.clone(), 600);
        // Such a run rebuilds its lists as domains do.
        let rebuilt = Settings {
            decomposition_invariant: true,
            ..settings
        };
        let rebuilt = after(&world, rebuilt, 600);
        assert!(kept.len() < 2900 && kept.len() == rebuilt.len(), "{} {}", kept.len(), rebuilt.len());
        assert!(
            kept.rebuilds() + 20 < rebuilt.rebuilds(),
            "{} {}",
            kept.rebuilds(),
            rebuilt.rebuilds()
        );
        assert!(kept.contacts() > 50 && kept.contacts() == rebuilt.contacts());
        // Sums have another order. Six hundred steps make little of their rounding.
        let difference = apart(&kept.snapshot(), &rebuilt.snapshot());
        assert!(difference < 1e-9, "{tangential:?}, {search:?}: {difference:e}");
        let [a, b] = [&kept, &rebuilt].map(|simulation| simulation.ledger());
        assert!((a.left_domain - b.left_domain).abs() < 1e-9 * a.left_domain, "{a:?} {b:?}");
        assert!((a.residual - b.residual).abs() < 1e-9 * a.initial.abs(), "{a:?} {b:?}");
    }
}

#[test]
fn bits_do_not_depend_on_threads_or_on_a_stop_between_two_rebuilds() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = thrown(tangential);
        let settings = with_wide_skin(on_cpu());
        let mut first = Simulation::new(world.clone(), settings.clone()).unwrap();
        // After this step, at most so many grains are left, and cells are those of more.
        let mut step_with = |most: usize| {
            while first.len() > most || first.save().unwrap().get("lists/extent").is_none() {
                first.advance(1).unwrap();
                assert!(first.steps() < 600, "a grain leaves");
            }
            first.steps()
        };
        let (step_of_first, step) = (step_with(3000), step_with(2999));
        for split in [step_of_first, step, step + 1, step + 37, step + 150] {
            assert_same_when_resumed(&world, &settings, [split, 200]);
        }
        let [one, two] = [1, 2].map(|threads| {
            let settings = Settings {
                threads,
                ..settings.clone()
            };
            after(&world, settings, step + 200).save().unwrap()
        });
        assert!(one == two, "{tangential:?}");
    }
}
