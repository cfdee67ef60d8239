//! Going on from a saved state.

use seixo_engine::Simulation;
use seixo_engine::state::State;
use seixo_engine::world::{Settings, World};

/// Fails where a run that is saved after some steps, and then goes on for some more, differs by a bit from one that takes these up from what was
/// saved, on another number of threads. Returns the state at the end.
#[track_caller]
pub fn assert_same_when_resumed(world: &World, settings: &Settings, [before, after]: [u64; 2]) -> State {
    let mut whole = Simulation::new(world.clone(), settings.clone()).unwrap();
    whole.advance(before).unwrap();
    let elsewhere = Settings {
        threads: 3,
        ..settings.clone()
    };
    let mut second = Simulation::restore(world.clone(), elsewhere, &whole.save().unwrap()).unwrap();
    second.observe().unwrap();
    assert_eq!(whole.walls(), second.walls());
    for simulation in [&mut whole, &mut second] {
        simulation.advance(after).unwrap();
    }
    let (whole, second) = (whole.save().unwrap(), second.save().unwrap());
    for ((name, a), (_, b)) in whole.sections.iter().zip(&second.sections) {
        assert!(a == b, "{settings:?}: section {name} differs");
    }
    whole
}
