//! Conditions that end the steps of a session.

use super::measure::reason;
use super::probe_lines::ProbeLines;
use super::schedule::Schedule;
use seixo_engine::{Simulation, StepError};
use seixo_scene::Condition;

/// Simulated time between two checks of grains and walls, as usual for stages \[s\].
const USUALLY_EVERY: f64 = 1e-3;

/// A condition that ends the steps of a [`Session`](super::Session), in the words of `until` of a stage. `time` is that of the whole run; `duration`
/// counts from where the condition was made, and a column of a probe has the value of its last line, also of one before that.
///
/// Clocks are checked at their step, probes at each of their lines, and grains and walls once a millisecond, the first time after one, see
/// [`Until::every`].
pub struct Until {
    condition: Condition,
    time_step: f64,
    /// Step at which it was made.
    began: u64,
    looks: Schedule,
    lines: ProbeLines,
    /// Whether there is a line of a probe that it names, and that was not looked at.
    has_line: bool,
    /// Step of its clock, until it was looked at then.
    clock: Option<u64>,
    reason: Option<String>,
}

impl Until {
    /// Makes the condition at this step.
    pub(super) fn new(condition: Condition, step: u64, time_step: f64) -> Until {
        Until {
            lines: ProbeLines::of_conditions([&condition]),
            clock: condition.first_step_by_clock(step, time_step),
            looks: looks(USUALLY_EVERY, time_step),
            condition,
            time_step,
            began: step,
            has_line: false,
            reason: None,
        }
    }

    /// Sets the simulated time between two checks of grains and walls \[s\]; at every step if it is shorter than a time step.
    #[must_use]
    pub fn every(mut self, time: f64) -> Until {
        self.looks = looks(time.max(0.0), self.time_step);
        self
    }

    /// The fulfilled part of the condition, with the measured values; `None` if it was not fulfilled yet.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Takes a line of a probe, by its index: its time \[s\], then its columns.
    pub(super) fn take_line(&mut self, probe: usize, line: &[f64]) {
        self.has_line |= self.lines.take(probe, line);
    }

    /// Returns the first step after this one at which it is looked at; lines of probes are due by themselves.
    pub(super) fn next_step_after(&self, step: u64) -> u64 {
        let in_steps = step.saturating_sub(self.began);
        let look = self.began.saturating_add(self.looks.step_after(in_steps));
        self.clock.filter(|clock| *clock > step).map_or(look, |clock| clock.min(look))
    }

    /// Whether it is fulfilled; looks at the simulation if that is due.
    pub(super) fn is_met(&mut self, simulation: &mut Simulation) -> Result<bool, StepError> {
        if self.reason.is_some() {
            return Ok(true);
        }
        let step = simulation.steps();
        let in_steps = step.saturating_sub(self.began);
        let is_timed = self.clock.is_some_and(|clock| clock <= step);
        if !(is_timed || self.has_line || self.looks.is_due(in_steps)) {
            return Ok(false);
        }
        if is_timed {
            self.clock = None;
        }
        self.has_line = false;
        self.looks.pass(in_steps);
        if self.condition.looks_at_grains() {
            simulation.observe()?;
        }
        let duration = in_steps as f64 * self.time_step;
        self.reason = reason(&self.condition, simulation, duration, &self.lines);
        Ok(self.reason.is_some())
    }
}

/// The schedule of checks, of which the first is one interval after the start.
fn looks(every: f64, time_step: f64) -> Schedule {
    let mut looks = Schedule::new(every, time_step);
    looks.pass(0);
    looks
}
