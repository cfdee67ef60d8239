//! Control and status of a running simulation.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::PATIENCE;

/// A user action on a running simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UserAction {
    /// Sets gravity \[m/s²\].
    Gravity([f64; 3]),
    /// Pushes a grain, or the body that it belongs to, in this direction.
    Push {
        /// Id of the grain.
        id: u32,
        /// Unit direction.
        along: [f64; 3],
    },
    /// Drags a grain, or the body that it belongs to, to a position and holds it there until [`UserAction::LetGo`] or the next drag.
    Drag {
        /// Id of the grain.
        id: u32,
        /// Target position of its center \[m\].
        to: [f64; 3],
        /// Simulated time in which a free grain would reach the target at its initial speed \[s\].
        within: f64,
    },
    /// Releases the dragged grain.
    LetGo,
    /// Drops a few grains from above, similar to those present.
    Drop,
}

/// A grain that a user drags.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DraggedGrain {
    /// Id of the grain.
    pub id: u32,
    /// Target position of its center \[m\].
    pub to: [f64; 3],
    /// Time to reach the target, as in [`UserAction::Drag`] \[s\].
    pub within: f64,
}

/// Progress of a running simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Status {
    /// Simulated time \[s\].
    pub time: f64,
    /// Simulated time at which it ends \[s\].
    pub until: f64,
    /// Number of steps.
    pub steps: u64,
    /// Grains and fluid particles times steps over wall time \[1/s\].
    pub particle_steps_per_second: f64,
    /// Simulated time over wall time, averaged over the recent past; at first the rate that was set.
    pub pace: f64,
    /// Gravity \[m/s²\].
    pub gravity: [f64; 3],
    /// Whether it has ended, or failed.
    pub is_over: bool,
}

/// Run control of a running simulation.
#[derive(Debug, Default)]
pub struct RunControl {
    run_control: Mutex<Steering>,
    /// Notified at every request.
    asked: Condvar,
}

#[derive(Debug, Default)]
struct Steering {
    is_paused: bool,
    steps: u64,
    rate: Option<f64>,
    user_actions: Vec<UserAction>,
    drawn: Option<DraggedGrain>,
    status: Status,
    failure: Option<String>,
}

impl Steering {
    fn is_stopped(&self) -> bool {
        self.is_paused && self.steps == 0
    }
}

impl RunControl {
    fn run_control(&self) -> MutexGuard<'_, Steering> {
        self.run_control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, change: impl FnOnce(&mut Steering)) {
        change(&mut self.run_control());
        self.asked.notify_all();
    }

    /// Pauses or resumes the simulation.
    pub fn pause(&self, is_paused: bool) {
        self.ask(|run_control| (run_control.is_paused, run_control.steps) = (is_paused, 0));
    }

    /// Whether it is paused.
    pub fn is_paused(&self) -> bool {
        self.run_control().is_paused
    }

    /// Allows this many more steps while it is paused.
    pub fn step(&self, steps: u64) {
        self.ask(|run_control| run_control.steps += steps);
    }

    /// Limits simulated time to this multiple of wall time; `None` runs at full speed.
    pub fn set_rate(&self, rate: Option<f64>) {
        self.ask(|run_control| run_control.rate = rate);
    }

    /// The limit of [`RunControl::set_rate`].
    pub fn rate(&self) -> Option<f64> {
        self.run_control().rate
    }

    /// Applies a user action before the next step.
    pub fn reach_in(&self, hand: UserAction) {
        self.ask(|run_control| match hand {
            UserAction::Drag { id, to, within } => run_control.drawn = Some(DraggedGrain { id, to, within }),
            UserAction::LetGo => run_control.drawn = None,
            hand => {
                // Of several changes of gravity in a row, only the last one counts.
                if let (UserAction::Gravity(_), Some(UserAction::Gravity(_))) = (&hand, run_control.user_actions.last()) {
                    run_control.user_actions.pop();
                }
                run_control.user_actions.push(hand);
            }
        });
    }

    /// Progress of the simulation.
    pub fn status(&self) -> Status {
        self.run_control().status
    }

    /// Error message, if the run failed.
    pub fn failure(&self) -> Option<String> {
        self.run_control().failure.clone()
    }

    /// Reports progress. Called by the run.
    pub fn report_status(&self, status: Status) {
        self.run_control().status = status;
    }

    /// Reports the end, with the error message if the run failed. Called by the run.
    pub fn end(&self, failure: Option<String>) {
        let mut run_control = self.run_control();
        (run_control.status.is_over, run_control.failure) = (true, failure);
    }

    /// Takes the user actions since the last call, without drags, which [`RunControl::drawn`] returns. Called by the run.
    pub fn take_actions(&self) -> Vec<UserAction> {
        std::mem::take(&mut self.run_control().user_actions)
    }

    /// The grain that a user drags now. Called by the run.
    pub fn drawn(&self) -> Option<DraggedGrain> {
        self.run_control().drawn
    }

    /// Whether it may take no step now. Called by the run.
    pub fn is_stopped(&self) -> bool {
        self.run_control().is_stopped()
    }

    /// Number of steps allowed now: `steps`, or fewer if it is paused. Called by the run.
    pub fn steps_allowed(&self, steps: u64) -> u64 {
        let mut run_control = self.run_control();
        if !run_control.is_paused {
            return steps;
        }
        let allowed = run_control.steps.min(steps);
        run_control.steps -= allowed;
        allowed
    }

    /// Waits for a request, at most a tenth of [`PATIENCE`]. Called by the run.
    pub fn wait(&self) {
        let run_control = self.run_control();
        if run_control.is_stopped() && run_control.user_actions.is_empty() {
            let waited = self.asked.wait_timeout(run_control, PATIENCE / 10);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_gravity_that_is_turned_only_the_last_counts() {
        let controls = RunControl::default();
        let gravity = |x: f64| UserAction::Gravity([x, 0.0, -9.81]);
        [gravity(1.0), gravity(2.0), UserAction::Drop, gravity(3.0), gravity(4.0)]
            .into_iter()
            .for_each(|hand| controls.reach_in(hand));
        assert_eq!(controls.take_actions(), [gravity(2.0), UserAction::Drop, gravity(4.0)]);
        assert!(controls.take_actions().is_empty());
    }

    #[test]
    fn what_is_drawn_along_is_held_until_it_is_let_go() {
        let controls = RunControl::default();
        let drag = |id: u32, x: f64| UserAction::Drag {
            id,
            to: [x, 0.0, 0.0],
            within: 0.05,
        };
        [drag(3, 1.0), drag(3, 2.0)].into_iter().for_each(|hand| controls.reach_in(hand));
        let drawn = DraggedGrain {
            id: 3,
            to: [2.0, 0.0, 0.0],
            within: 0.05,
        };
        assert_eq!([controls.drawn(), controls.drawn()], [Some(drawn); 2]);
        assert!(controls.take_actions().is_empty());
        controls.reach_in(UserAction::LetGo);
        assert_eq!(controls.drawn(), None);
    }

    #[test]
    fn one_that_stands_still_takes_the_steps_that_it_is_reported_to() {
        let controls = RunControl::default();
        assert_eq!((controls.is_stopped(), controls.steps_allowed(7)), (false, 7));
        controls.pause(true);
        assert_eq!((controls.is_stopped(), controls.steps_allowed(7)), (true, 0));
        controls.step(3);
        assert_eq!(controls.steps_allowed(2), 2);
        assert_eq!((controls.is_stopped(), controls.steps_allowed(2)), (false, 1));
        assert!(controls.is_stopped());
    }
}
