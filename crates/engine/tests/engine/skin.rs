//! The skin of the neighbor lists follows the motion of the grains, and changes no result.

use crate::beds::{falling, noise};
use crate::devices::{on_cpu, on_gpu};
use crate::domains::started;
use crate::gases::gas;
use crate::resumed::assert_same_when_resumed;
use seixo_engine::Simulation;
use seixo_engine::state::Column;
use seixo_engine::world::{Precision, Settings, World};
use seixo_laws::contact::TangentialLaw;

/// Fast grains that fall back into a box at rest.
fn shaken(count: usize, tangential: TangentialLaw) -> World {
    let mut world = falling(count, tangential);
    world.walls[0].motion.velocity = [0.0; 3];
    for (k, velocity) in world.grains.velocity.iter_mut().enumerate() {
        *velocity = [0, 1, 2].map(|axis| 2.0 * noise((77 * k + axis) as u64));
    }
    world
}

/// Asserts that lists of a skin that is chosen give the same bits as those of the default skin, and are rebuilt less often.
#[track_caller]
fn assert_wider_and_same(world: &World, settings: &Settings, steps: u64) {
    let new = |skin| {
        let settings = Settings {
            skin,
            decomposition_invariant: true,
            ..settings.clone()
        };
        Simulation::new(world.clone(), settings).unwrap()
    };
    let mut tuned = new(None);
    let default = tuned.skin();
    let mut fixed = new(Some(default));
    for simulation in [&mut tuned, &mut fixed] {
        simulation.advance(steps).unwrap();
        simulation.observe().unwrap();
    }
    assert_eq!(fixed.skin(), default);
    assert!(tuned.skin() > default, "{} {default}", tuned.skin());
    assert!(
        5 * tuned.rebuilds() < 4 * fixed.rebuilds(),
        "{} {}",
        tuned.rebuilds(),
        fixed.rebuilds()
    );
    assert!(tuned.ledger().normal_damping > 0.0, "none of them touched");
    assert_eq!(tuned.snapshot(), fixed.snapshot());
}

#[test]
fn a_skin_that_changes_during_the_run_changes_no_bit() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        assert_wider_and_same(&shaken(500, tangential), &on_cpu(), 600);
    }
}

#[test]
fn a_skin_that_changes_on_a_gpu_changes_no_bit() {
    assert_wider_and_same(&shaken(300, TangentialLaw::Mindlin), &on_gpu(Precision::F64), 600);
}

#[test]
fn a_resumed_run_chooses_the_same_skins() {
    for [before, after] in [[1, 500], [60, 440], [333, 167]] {
        let state = assert_same_when_resumed(&gas(500), &Settings::default(), [before, after]);
        let Some(Column::U64(skin)) = state.get("lists/skin") else {
            panic!("the choice of the skin is saved");
        };
        assert!(skin[0] > 5, "{skin:?}");
    }
}

#[test]
fn all_domains_choose_the_skin_of_the_undivided_world() {
    let world = gas(1000);
    let mut whole = started(&world, 1);
    let default = whole.skin();
    whole.advance(500).unwrap();
    assert!(whole.skin() > default);
    for domains in [2, 4] {
        let mut decomposed = started(&world, domains);
        decomposed.advance(500).unwrap();
        decomposed.observe().unwrap();
        assert_eq!((whole.skin(), whole.rebuilds()), (decomposed.skin(), decomposed.rebuilds()));
        assert_eq!(whole.snapshot(), decomposed.snapshot());
    }
}
