//! How a simulation that runs is steered, and what it tells of itself.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::PATIENCE;

/// What somebody does to a simulation that runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hand {
    /// Gravity is this from now on \[m/s²\].
    Gravity([f64; 3]),
    /// A grain, or the body that carries it, is pushed in this direction.
    Push {
        /// Id of the grain.
        id: u32,
        /// Direction, of length 1.
        along: [f64; 3],
    },
    /// A grain, or the body that carries it, is drawn to a place and held there until [`Hand::LetGo`], or until another one is drawn.
    Drag {
        /// Id of the grain.
        id: u32,
        /// Where its center is to be \[m\].
        to: [f64; 3],
        /// Simulated time in which it would come there with the speed that it starts with, if it is free to \[s\].
        within: f64,
    },
    /// What is drawn along moves on its own again.
    LetGo,
    /// A handful of grains like those there falls in from above.
    Drop,
}

/// A grain that somebody draws along.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// Its id.
    pub id: u32,
    /// Where its center is to be \[m\].
    pub to: [f64; 3],
    /// As in [`Hand::Drag`] \[s\].
    pub within: f64,
}

/// Where a simulation stands that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Status {
    /// Simulated time \[s\].
    pub time: f64,
    /// Simulated time at which it ends \[s\].
    pub until: f64,
    /// Steps.
    pub steps: u64,
    /// Grains and particles of fluids times steps over wall time \[1/s\].
    pub particle_steps_per_second: f64,
    /// Simulated time over wall time, of late; before that is known, what it is held to.
    pub pace: f64,
    /// Gravity \[m/s²\].
    pub gravity: [f64; 3],
    /// Whether it has ended, or failed.
    pub is_over: bool,
}

/// The reins of a simulation that runs.
#[derive(Debug, Default)]
pub struct Controls {
    reins: Mutex<Reins>,
    /// Told whenever something is asked for.
    asked: Condvar,
}

#[derive(Debug, Default)]
struct Reins {
    is_paused: bool,
    steps: u64,
    rate: Option<f64>,
    hands: Vec<Hand>,
    drawn: Option<Drawn>,
    status: Status,
    failure: Option<String>,
}

impl Reins {
    fn stands_still(&self) -> bool {
        self.is_paused && self.steps == 0
    }
}

impl Controls {
    fn reins(&self) -> MutexGuard<'_, Reins> {
        self.reins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, change: impl FnOnce(&mut Reins)) {
        change(&mut self.reins());
        self.asked.notify_all();
    }

    /// Lets the simulation stand still, or go on.
    pub fn pause(&self, is_paused: bool) {
        self.ask(|reins| (reins.is_paused, reins.steps) = (is_paused, 0));
    }

    /// Whether it stands still.
    pub fn is_paused(&self) -> bool {
        self.reins().is_paused
    }

    /// Lets it take so many steps more, if it stands still.
    pub fn step(&self, steps: u64) {
        self.ask(|reins| reins.steps += steps);
    }

    /// Holds simulated time to this multiple of wall time; `None` lets it run as fast as it can.
    pub fn set_rate(&self, rate: Option<f64>) {
        self.ask(|reins| reins.rate = rate);
    }

    /// See [`Controls::set_rate`].
    pub fn rate(&self) -> Option<f64> {
        self.reins().rate
    }

    /// Does something to it before its next step.
    pub fn reach_in(&self, hand: Hand) {
        self.ask(|reins| match hand {
            Hand::Drag { id, to, within } => reins.drawn = Some(Drawn { id, to, within }),
            Hand::LetGo => reins.drawn = None,
            hand => {
                // Of gravity that is turned and turned again only where it points now counts.
                if let (Hand::Gravity(_), Some(Hand::Gravity(_))) = (&hand, reins.hands.last()) {
                    reins.hands.pop();
                }
                reins.hands.push(hand);
            }
        });
    }

    /// Where it stands.
    pub fn status(&self) -> Status {
        self.reins().status
    }

    /// Why it could not go on, if it failed.
    pub fn failure(&self) -> Option<String> {
        self.reins().failure.clone()
    }

    /// Says where it stands. For who runs it.
    pub fn tell(&self, status: Status) {
        self.reins().status = status;
    }

    /// Says that it is over, and why if it failed. For who runs it.
    pub fn end(&self, failure: Option<String>) {
        let mut reins = self.reins();
        (reins.status.is_over, reins.failure) = (true, failure);
    }

    /// What was done to it since the last time; a grain that is drawn along is told by [`Controls::drawn`]. For who runs it.
    pub fn hands(&self) -> Vec<Hand> {
        std::mem::take(&mut self.reins().hands)
    }

    /// What somebody draws along now. For who runs it.
    pub fn drawn(&self) -> Option<Drawn> {
        self.reins().drawn
    }

    /// Whether it may take no step now. For who runs it.
    pub fn stands_still(&self) -> bool {
        self.reins().stands_still()
    }

    /// How many steps it may take now: as many as these, if it does not stand still. For who runs it.
    pub fn steps_allowed(&self, steps: u64) -> u64 {
        let mut reins = self.reins();
        if !reins.is_paused {
            return steps;
        }
        let allowed = reins.steps.min(steps);
        reins.steps -= allowed;
        allowed
    }

    /// Waits until something is asked for, but no longer than viewers do. For who runs it.
    pub fn wait(&self) {
        let reins = self.reins();
        if reins.stands_still() && reins.hands.is_empty() {
            let waited = self.asked.wait_timeout(reins, PATIENCE / 10);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_gravity_that_is_turned_only_the_last_counts() {
        let controls = Controls::default();
        let gravity = |x: f64| Hand::Gravity([x, 0.0, -9.81]);
        [gravity(1.0), gravity(2.0), Hand::Drop, gravity(3.0), gravity(4.0)]
            .into_iter()
            .for_each(|hand| controls.reach_in(hand));
        assert_eq!(controls.hands(), [gravity(2.0), Hand::Drop, gravity(4.0)]);
        assert!(controls.hands().is_empty());
    }

    #[test]
    fn what_is_drawn_along_is_held_until_it_is_let_go() {
        let controls = Controls::default();
        let drag = |id: u32, x: f64| Hand::Drag {
            id,
            to: [x, 0.0, 0.0],
            within: 0.05,
        };
        [drag(3, 1.0), drag(3, 2.0)].into_iter().for_each(|hand| controls.reach_in(hand));
        let drawn = Drawn {
            id: 3,
            to: [2.0, 0.0, 0.0],
            within: 0.05,
        };
        assert_eq!([controls.drawn(), controls.drawn()], [Some(drawn); 2]);
        assert!(controls.hands().is_empty());
        controls.reach_in(Hand::LetGo);
        assert_eq!(controls.drawn(), None);
    }

    #[test]
    fn one_that_stands_still_takes_the_steps_that_it_is_told_to() {
        let controls = Controls::default();
        assert_eq!((controls.stands_still(), controls.steps_allowed(7)), (false, 7));
        controls.pause(true);
        assert_eq!((controls.stands_still(), controls.steps_allowed(7)), (true, 0));
        controls.step(3);
        assert_eq!(controls.steps_allowed(2), 2);
        assert_eq!((controls.stands_still(), controls.steps_allowed(2)), (false, 1));
        assert!(controls.stands_still());
    }
}
