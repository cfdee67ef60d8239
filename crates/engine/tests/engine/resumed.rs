//! Restarts from a saved state, and comparisons of states.

use seixo_engine::state::State;
use seixo_engine::world::{Settings, World};
use seixo_engine::{Simulation, SurroundingsChange};

/// Asserts that a run that saves its state after some steps and continues, and a restart from that state with another number of threads, are bitwise
/// identical. Returns the final state.
#[track_caller]
pub fn assert_same_when_resumed(world: &World, settings: &Settings, steps: [u64; 2]) -> State {
    assert_same_when_resumed_after(world, settings, &[], steps)
}

/// As [`assert_same_when_resumed()`], with events at some earlier steps.
#[track_caller]
pub fn assert_same_when_resumed_after(
    world: &World,
    settings: &Settings,
    past: &[(u64, Vec<SurroundingsChange>)],
    [before, after]: [u64; 2],
) -> State {
    let mut whole = Simulation::new(world.clone(), settings.clone()).unwrap();
    for (step, changes) in past {
        whole.advance(step - whole.steps()).unwrap();
        whole.change(changes).unwrap();
    }
    whole.advance(before - whole.steps()).unwrap();
    let elsewhere = Settings {
        threads: 3,
        ..settings.clone()
    };
    let mut second = Simulation::restore_changed(world.clone(), elsewhere, &whole.save().unwrap(), past).unwrap();
    second.observe().unwrap();
    assert_eq!(whole.walls(), second.walls());
    for simulation in [&mut whole, &mut second] {
        simulation.advance(after).unwrap();
    }
    let (whole, second) = (whole.save().unwrap(), second.save().unwrap());
    assert_same(&whole, &second, &format!("{settings:?}"));
    whole
}

/// Asserts that two states are bitwise identical.
#[track_caller]
pub fn assert_same(a: &State, b: &State, what: &str) {
    for ((name, left), (_, right)) in a.sections.iter().zip(&b.sections) {
        assert!(left == right, "{what}: section {name} differs");
    }
    assert_eq!(a.sections.len(), b.sections.len());
}
