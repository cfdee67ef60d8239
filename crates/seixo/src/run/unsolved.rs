//! Pressures of fluids that were not found.

use super::Event;
use seixo_engine::Simulation;

/// What a run tells of them.
#[derive(Default)]
pub(super) struct Unsolved {
    is_told: bool,
}

impl Unsolved {
    /// What is to be told now, if there is anything: at once, and again at the end.
    pub fn notice(&mut self, simulation: &Simulation, is_end: bool) -> Option<Event> {
        if self.is_told && !is_end {
            return None;
        }
        let text = simulation.warning_of_fluids()?;
        self.is_told = true;
        let (time, steps) = (simulation.time(), simulation.steps());
        Some(Event::Notice { text, time, steps })
    }
}
