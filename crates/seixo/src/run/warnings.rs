//! Warnings during a run: of fluids pressures that did not converge, leaks, and surfaces that could not be computed; and frames that take long.

use super::Event;
use super::outputs::Outputs;
use seixo_engine::Simulation;

/// Wall time that a run waits for its frames \[s\], and share of all its time, from which on it is a warning.
const LONG_WAIT: (f64, f64) = (1.0, 0.03);

/// Warnings that were reported already.
#[derive(Default)]
pub(super) struct Warnings {
    reported: [bool; 4],
}

impl Warnings {
    /// Returns the new warnings after this wall time of the run \[s\]; each is reported once, and again at the end. Leaks are checked only with outputs,
    /// as the check needs all particles.
    pub fn notices(&mut self, (simulation, outputs): (&Simulation, &Outputs), wall_time: f64, writes: bool, is_end: bool) -> Vec<Event> {
        let leak = (writes || is_end).then(|| simulation.leak_of_fluids()).flatten();
        let (time, steps) = (simulation.time(), simulation.steps());
        let mut notices = Vec::new();
        let slow = slow_frames(outputs.waited_for_frames(), wall_time);
        let found = [simulation.warning_of_fluids(), leak, outputs.warning(), slow];
        for (found, reported) in found.into_iter().zip(&mut self.reported) {
            if let Some(text) = found.filter(|_| !*reported || is_end) {
                *reported = true;
                notices.push(Event::Notice { text, time, steps });
            }
        }
        notices
    }
}

/// Returns the warning about frames for which a run waited this long \[s\] of its wall time \[s\], if that is long.
fn slow_frames(waited: f64, wall_time: f64) -> Option<String> {
    (waited >= LONG_WAIT.0 && waited >= LONG_WAIT.1 * wall_time).then(|| {
        format!(
            "the run waited {waited:.1} s of {wall_time:.1} s until earlier frames and checkpoints were written; write frames less often \
             (output.every), with fewer arrays (output.fields), or without compression (output.encoding = \"raw\")"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_frames_is_a_warning_if_it_takes_a_share_of_the_run() {
        assert_eq!(slow_frames(0.5, 0.6), None);
        assert_eq!(slow_frames(2.0, 1000.0), None);
        let text = slow_frames(2.0, 8.0).unwrap();
        assert!(
            text.starts_with("the run waited 2.0 s of 8.0 s") && text.contains("output.every"),
            "{text}"
        );
    }
}
