//! Schedule of outputs by step number: there is no drift, and interruptions do not matter.

/// Events at the multiples of an interval, each at the nearest step, at most one per step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    steps_between: f64,
    next: u64,
}

impl Schedule {
    /// Events every `every` \[s\], the first at time zero, for a time step of `time_step` \[s\].
    pub fn new(every: f64, time_step: f64) -> Schedule {
        Schedule {
            steps_between: (every / time_step).max(1.0),
            next: 0,
        }
    }

    /// Number of the next event, from 0.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns the step of an event.
    pub fn step_of(&self, event: u64) -> u64 {
        (event as f64 * self.steps_between).round() as u64
    }

    /// Whether the next event is due at this step.
    pub fn is_due(&self, step: u64) -> bool {
        self.step_of(self.next) <= step
    }

    /// Returns the step of the first event after this step.
    pub fn step_after(&self, step: u64) -> u64 {
        let mut later = *self;
        later.pass(step);
        later.step_of(later.next)
    }

    /// Skips all events up to and including this step.
    pub fn pass(&mut self, step: u64) {
        self.next = (step as f64 / self.steps_between) as u64;
        while self.is_due(step) {
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(every: f64, time_step: f64, until: u64) -> Vec<u64> {
        let mut schedule = Schedule::new(every, time_step);
        let mut due = Vec::new();
        for step in 0..=until {
            if schedule.is_due(step) {
                due.push(step);
                schedule.pass(step);
            }
        }
        due
    }

    #[test]
    fn events_fall_on_the_nearest_steps_and_do_not_drift() {
        assert_eq!(steps(2.5, 1.0, 10), [0, 3, 5, 8, 10]);
        assert_eq!(steps(1e-3, 1e-5, 300), [0, 100, 200, 300]);
        let third = Schedule::new(1.0, 1.0 / 3.0);
        assert_eq!(third.step_of(1_000_000_000), 3_000_000_000);
    }

    #[test]
    fn an_interval_below_the_time_step_gives_one_event_a_step() {
        assert_eq!(steps(1e-12, 1.0, 4), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn passing_a_step_at_once_or_one_by_one_is_the_same() {
        for every in [0.3, 1.0, 1.7, 12.34] {
            let mut walked = Schedule::new(every, 1.0);
            for step in 0..200 {
                walked.pass(step);
                let mut jumped = Schedule::new(every, 1.0);
                jumped.pass(step);
                assert_eq!(walked, jumped);
            }
        }
    }
}
