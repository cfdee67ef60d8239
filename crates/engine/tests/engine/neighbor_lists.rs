//! Neighbor lists on a CPU: which worlds have some, and what they take.

use crate::beds::falling;
use crate::devices::{after, apart, on_cpu};
use seixo_engine::Simulation;
use seixo_engine::world::{Search, Settings};
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
