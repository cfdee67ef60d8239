//! Identical bits for any number of threads, and after a restart from any saved state.

use crate::beds;
use crate::devices::on_threads;
use crate::resumed::assert_same;
use seixo_engine::Simulation;
use seixo_engine::state::State;
use seixo_engine::world::{Domain, LeavingPolicy, Search, Settings, World};
use seixo_laws::contact::TangentialLaw;

fn after(world: &World, threads: usize, steps: u64) -> State {
    let mut simulation = Simulation::new(world.clone(), on_threads(threads)).unwrap();
    simulation.advance(steps).unwrap();
    assert!(
        simulation.rebuilds() > 3 && simulation.contacts() > 1000,
        "{} {}",
        simulation.rebuilds(),
        simulation.contacts()
    );
    simulation.save().unwrap()
}

#[test]
fn one_thread_equals_two_three_and_eight() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = beds::falling(6000, tangential);
        let one = after(&world, 1, 1500);
        for threads in [2, 3, 8] {
            assert_same(&one, &after(&world, threads, 1500), &format!("{tangential:?}, {threads} threads"));
        }
    }
}

#[test]
fn going_on_from_a_saved_state_equals_never_stopping() {
    let mut world = beds::falling(3000, TangentialLaw::Mindlin);
    // Some grains fly over the rim and are removed.
    world.domain = Some(Domain::open([-0.1, -0.1, -0.1], [0.1, 0.1, 0.0157], LeavingPolicy::Delete));
    let whole = after(&world, 2, 2500);
    for split in [1, 137, 700, 1003, 2499] {
        let mut first = Simulation::new(world.clone(), on_threads(1)).unwrap();
        first.advance(split).unwrap();
        let mut second = Simulation::restore(world.clone(), on_threads(3), &first.save().unwrap()).unwrap();
        assert_eq!(first.ledger(), second.ledger());
        assert_eq!(first.snapshot(), second.snapshot());
        assert_eq!(first.walls(), second.walls());
        second.advance(2500 - split).unwrap();
        assert_same(&whole, &second.save().unwrap(), &format!("split at {split}"));
    }
}

#[test]
fn the_way_pairs_are_found_does_not_matter_to_the_physics() {
    // Different searches visit pairs in different orders: equal up to rounding, which a short run does not amplify.
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = beds::falling(500, tangential);
        let run = |search: Search, skin: Option<f64>| {
            let settings = Settings {
                search,
                skin,
                ..on_threads(1)
            };
            let mut simulation = Simulation::new(world.clone(), settings).unwrap();
            simulation.advance(300).unwrap();
            (simulation.snapshot(), simulation.ledger())
        };
        let (reference, ledger) = run(Search::BruteForce, None);
        let scale = ledger.kinetic + ledger.gravity.abs();
        let skins = [None, Some(0.0), Some(4e-4)];
        for (search, skin) in Search::ALL.into_iter().flat_map(|search| skins.map(|skin| (search, skin))) {
            let (other, energies) = run(search, skin);
            for (a, b) in reference.position.iter().zip(&other.position) {
                for axis in 0..3 {
                    assert!((a[axis] - b[axis]).abs() < 1e-11, "{search:?}, skin {skin:?}: {a:?} {b:?}");
                }
            }
            assert_eq!(reference.coordination, other.coordination, "{search:?}, skin {skin:?}");
            for (a, b) in ledger.values().into_iter().zip(energies.values()) {
                assert!((a - b).abs() < 1e-9 * scale, "{search:?}, skin {skin:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn every_search_goes_on_from_a_saved_state_as_if_it_had_not_stopped_on_any_number_of_threads() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = beds::falling(1500, tangential);
        for search in Search::ALL {
            let with = |threads: usize| Settings {
                search,
                ..on_threads(threads)
            };
            let mut whole = Simulation::new(world.clone(), with(1)).unwrap();
            whole.advance(700).unwrap();
            let mut first = Simulation::new(world.clone(), with(2)).unwrap();
            first.advance(333).unwrap();
            let mut second = Simulation::restore(world.clone(), with(3), &first.save().unwrap()).unwrap();
            second.advance(367).unwrap();
            assert_same(
                &whole.save().unwrap(),
                &second.save().unwrap(),
                &format!("{search:?} {tangential:?}"),
            );
        }
    }
}

#[test]
fn two_names_for_one_material_change_nothing() {
    let one = beds::falling(2000, TangentialLaw::Mindlin);
    let mut two = one.clone();
    let mut other = two.materials[0].clone();
    other.name = "also glass".into();
    two.materials.push(other);
    two.interactions = vec![Some(beds::interaction(TangentialLaw::Mindlin)); 4];
    two.grains.material = two.grains.id.iter().map(|id| id % 2).collect();
    let run = |world: &World| {
        let mut simulation = Simulation::new(world.clone(), on_threads(1)).unwrap();
        simulation.advance(2500).unwrap();
        assert!(simulation.contacts() > 1000);
        simulation.snapshot()
    };
    let (one, two) = (run(&one), run(&two));
    assert_eq!((one.position, one.velocity, one.force), (two.position, two.velocity, two.force));
}
