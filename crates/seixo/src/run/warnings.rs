//! What a run tells of its fluids while it goes on: pressures that were not found, leaks, and surfaces that cannot be made.

use super::Event;
use super::outputs::Outputs;
use seixo_engine::Simulation;

/// What was told.
#[derive(Default)]
pub(super) struct Warnings {
    told: [bool; 3],
}

impl Warnings {
    /// What is to be told now: everything at once, and again at the end. Leaks are looked for when outputs are written, as that takes all particles.
    pub fn notices(&mut self, simulation: &Simulation, outputs: &Outputs, writes: bool, is_end: bool) -> Vec<Event> {
        let leak = (writes || is_end).then(|| simulation.leak_of_fluids()).flatten();
        let (time, steps) = (simulation.time(), simulation.steps());
        let mut notices = Vec::new();
        let found = [simulation.warning_of_fluids(), leak, outputs.warning()];
        for (found, told) in found.into_iter().zip(&mut self.told) {
            if let Some(text) = found.filter(|_| !*told || is_end) {
                *told = true;
                notices.push(Event::Notice { text, time, steps });
            }
        }
        notices
    }
}
