//! Warnings about fluids during a run: pressures that did not converge, leaks, and surfaces that could not be computed.

use super::Event;
use super::outputs::Outputs;
use seixo_engine::Simulation;

/// Warnings that were reported already.
#[derive(Default)]
pub(super) struct Warnings {
    reported: [bool; 3],
}

impl Warnings {
    /// Returns the new warnings; each is reported once, and again at the end. Leaks are checked only with outputs, as the check needs all particles.
    pub fn notices(&mut self, simulation: &Simulation, outputs: &Outputs, writes: bool, is_end: bool) -> Vec<Event> {
        let leak = (writes || is_end).then(|| simulation.leak_of_fluids()).flatten();
        let (time, steps) = (simulation.time(), simulation.steps());
        let mut notices = Vec::new();
        let found = [simulation.warning_of_fluids(), leak, outputs.warning()];
        for (found, reported) in found.into_iter().zip(&mut self.reported) {
            if let Some(text) = found.filter(|_| !*reported || is_end) {
                *reported = true;
                notices.push(Event::Notice { text, time, steps });
            }
        }
        notices
    }
}
