//! Hash tables of fixed spheres that are filled once: the results are those of one kind of table for all spheres, to the bit.

use crate::alike::assert_same;
use crate::clumps::{heap, rod};
use crate::devices::{on_gpu, on_threads, with_default_skin};
use crate::domains::among;
use crate::on_gpus;
use crate::resumed::assert_same_when_resumed;
use crate::switched::{END, bed, play};
use seixo_engine::Simulation;
use seixo_engine::world::{LeavingPolicy, Precision, Search, Settings, WallMotion, World};

/// Spheres of the fixed rods.
const FIXED: usize = 4 * 9;

/// Clumps and grains that fall onto four fixed rods and one that moves.
fn heap_on_rods(periodic: Option<LeavingPolicy>) -> World {
    let mut world = heap(60, periodic);
    let raised = 4e-3;
    let grains = &mut world.grains;
    grains.position.iter_mut().for_each(|center| center[2] += raised);
    grains.bodies.iter_mut().for_each(|body| body.center[2] += raised);
    let upright = [1.0, 0.0, 0.0, 0.0];
    for k in 0..4 {
        let center = [12.4e-3, 4e-3 + 5e-3 * f64::from(k), 1.2e-3];
        rod(9, 1e-3).put(grains, center, upright, [0.0; 3], [0.0; 3]);
        grains.bodies.last_mut().unwrap().motion = Some(WallMotion::default());
    }
    rod(3, 1e-3).put(grains, [8e-3, 22e-3, 1.2e-3], upright, [0.0; 3], [0.0; 3]);
    grains.bodies.last_mut().unwrap().motion = Some(WallMotion {
        velocity: [0.02, 0.0, 0.0],
        ..WallMotion::default()
    });
    world
}

fn with(search: Search, settings: Settings) -> Settings {
    Settings { search, ..settings }
}

/// The same simulation with hash tables for all spheres, and with other tables for fixed spheres. Only the first would choose its skin.
fn both(world: &World, settings: &Settings) -> [Simulation; 2] {
    let settings = &with_default_skin(world, settings.clone());
    [Search::SpatialHash, Search::SpatialHashStatic].map(|search| Simulation::new(world.clone(), with(search, settings.clone())).unwrap())
}

#[test]
fn a_heap_on_fixed_rods_has_the_same_bits_and_their_table_is_filled_once() {
    for periodic in [None, Some(LeavingPolicy::Error), Some(LeavingPolicy::Delete)] {
        // Without a broad phase, fixed spheres have rows of neighbors, too.
        for broad_phase in [None, Some(false)] {
            let settings = Settings {
                broad_phase,
                ..on_threads(1)
            };
            let [mut all, mut divided] = both(&heap_on_rods(periodic), &settings);
            assert_eq!(all.static_table(), None);
            for simulation in [&mut all, &mut divided] {
                simulation.advance(3000).unwrap();
            }
            assert!(all.ledger().normal_damping > 0.0 && all.rebuilds() > 3, "{}", all.rebuilds());
            assert!(
                all.save().unwrap() == divided.save().unwrap(),
                "{periodic:?}, broad phase {broad_phase:?}"
            );
            let found = divided.static_table().expect("four rods are fixed");
            assert_eq!(found.spheres, FIXED);
            // Bodies that leave change the numbers of all others.
            assert!(
                found.fills == 1 || periodic == Some(LeavingPolicy::Delete),
                "{periodic:?}: {found:?}"
            );
        }
    }
}

#[test]
fn a_run_goes_on_from_a_saved_state_with_its_static_tables() {
    let settings = with(Search::SpatialHashStatic, on_threads(1));
    assert_same_when_resumed(&heap_on_rods(None), &settings, [1537, 700]);
}

#[test]
fn grains_that_are_fixed_and_released_during_a_run_have_the_same_bits() {
    let world = bed();
    let [mut all, mut divided] = both(&world, &on_threads(1));
    assert_eq!(divided.static_table(), None);
    play(&mut divided, 690);
    let fixed = world.grains.group.iter().filter(|&&group| group == 1).count();
    let found = divided.static_table().expect("a group is fixed");
    assert_eq!(found.spheres, fixed);
    // On their body, free grains get positions that differ by roundings.
    assert!(found.fills <= 2, "{found:?}");
    play(&mut divided, 850);
    assert_eq!(divided.static_table(), None, "they turn");
    for simulation in [&mut all, &mut divided] {
        play(simulation, END);
    }
    assert!(all.save().unwrap() == divided.save().unwrap());
    let others = world.grains.len() - fixed;
    assert_eq!(
        divided.static_table().map(|table| table.spheres),
        Some(others),
        "the others are fixed at last"
    );
}

#[test]
fn domains_on_the_cpu_give_the_result_of_one() {
    let world = heap_on_rods(None);
    let run = |domains: usize, search: Search| {
        let settings = with_default_skin(&world, with(search, among(domains)));
        let mut simulation = Simulation::new(world.clone(), settings).unwrap();
        simulation.advance(2000).unwrap();
        simulation.observe().unwrap();
        simulation
    };
    let mut whole = run(1, Search::SpatialHash);
    for domains in [1, 3] {
        assert_same(
            &mut whole,
            &mut run(domains, Search::SpatialHashStatic),
            &format!("{domains} domains"),
        );
    }
}

#[test]
fn a_gpu_has_the_same_bits_with_and_without_static_tables() {
    for precision in [Precision::F64, Precision::F32] {
        let [mut all, mut divided] = both(&heap_on_rods(None), &on_gpu(precision));
        for simulation in [&mut all, &mut divided] {
            simulation.advance(600).unwrap();
            simulation.observe().unwrap();
        }
        let earlier = divided.static_table().expect("four rods are fixed");
        assert_eq!(earlier.spheres, FIXED);
        let before = divided.rebuilds();
        for simulation in [&mut all, &mut divided] {
            simulation.advance(900).unwrap();
            simulation.observe().unwrap();
        }
        assert!(divided.rebuilds() > before && all.ledger().normal_damping > 0.0);
        assert_eq!(divided.static_table(), Some(earlier), "{precision:?}: filled again");
        assert_eq!(all.snapshot(), divided.snapshot(), "{precision:?}");
        assert_eq!(all.bodies(), divided.bodies(), "{precision:?}");
    }
}

#[test]
fn domains_on_gpus_are_refused() {
    let settings = with(Search::SpatialHashStatic, on_gpus::among(2, Precision::F64));
    let refused = Simulation::new(heap_on_rods(None), settings).err().expect("a refusal").to_string();
    assert!(
        refused.contains("spatial_hash_static") && refused.contains("--device cpu"),
        "{refused}"
    );
}
