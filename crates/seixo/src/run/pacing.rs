//! Pacing: ties simulated time to wall time if viewers request it, and measures the reached share.

use std::time::Instant;

/// Wall time over which the pace is averaged \[s\].
const PACE_OVER: f64 = 0.5;
/// Delay above which a run does not catch up, but restarts its pacing \[s\].
const BEHIND: f64 = 0.25;

/// A wall time, and the simulated time \[s\] at that moment.
type Moment = (Instant, f64);

/// Speed of simulated time relative to wall time.
#[derive(Default)]
pub(super) struct Pacing {
    /// Start of the pacing, and its rate: the multiple of wall time.
    anchor: Option<(Moment, f64)>,
    /// Start of the current average.
    since: Option<Moment>,
    /// Last averaged pace.
    pace: Option<f64>,
    last: Option<Moment>,
    /// Wall time with pacing, and the wall time that the reached simulated time should have taken \[s\].
    held: f64,
    reached: f64,
}

impl Pacing {
    /// Restarts the pacing from the next moment on.
    pub fn restart_pacing(&mut self) {
        self.anchor = None;
    }

    /// Returns by how much simulated time is ahead of wall time at this rate \[s\].
    pub fn ahead(&mut self, time: f64, rate: f64) -> f64 {
        let now = Instant::now();
        let held_since = self.anchor.filter(|(_, held)| *held == rate);
        let ((start, from), _) = held_since.unwrap_or(((now, time), rate));
        let ahead = (time - from) / rate - (now - start).as_secs_f64();
        let anchor = if ahead < -BEHIND { (now, time) } else { (start, from) };
        self.anchor = Some((anchor, rate));
        ahead
    }

    /// Records the simulated time \[s\] and the rate of the pacing, if there is one. A paused run has no pace.
    pub fn note(&mut self, time: f64, rate: Option<f64>, is_paused: bool) {
        let now = Instant::now();
        let last = self.last.replace((now, time));
        if is_paused {
            self.since = None;
            return;
        }
        if let (Some((then, from)), Some(rate)) = (last, rate) {
            self.held += (now - then).as_secs_f64();
            self.reached += (time - from) / rate;
        }
        let (then, from) = *self.since.get_or_insert((now, time));
        let passed = (now - then).as_secs_f64();
        if passed >= PACE_OVER {
            self.pace = Some((time - from) / passed);
            self.since = Some((now, time));
        }
    }

    /// Returns simulated time over wall time in the last interval; `None` before the first one is complete.
    pub fn pace(&self) -> Option<f64> {
        self.pace
    }

    /// Returns the reached share of the requested pace over the whole run; `None` without pacing.
    pub fn share(&self) -> Option<f64> {
        (self.held > 0.0).then(|| (self.reached / self.held).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    const MOMENT: Duration = Duration::from_millis(20);

    #[test]
    fn what_is_ahead_of_wall_time_has_that_long_to_wait() {
        let mut tempo = Pacing::default();
        assert_eq!(tempo.ahead(1.0, 2.0), 0.0);
        let ahead = tempo.ahead(3.0, 2.0);
        assert!(0.5 < ahead && ahead <= 1.0, "two seconds take one at twice the pace: {ahead}");
        assert_eq!(tempo.ahead(3.0, 1.0), 0.0, "another pace starts again");
    }

    #[test]
    fn what_is_far_behind_does_not_catch_up() {
        let mut tempo = Pacing::default();
        tempo.ahead(0.0, 0.01);
        assert!(tempo.ahead(-1.0, 0.01) < -99.0);
        assert!(tempo.ahead(-1.0, 0.01) > -1.0);
    }

    #[test]
    fn the_share_is_of_the_time_for_which_it_was_held() {
        let mut tempo = Pacing::default();
        tempo.note(0.0, None, false);
        sleep(MOMENT);
        tempo.note(5.0, None, false);
        assert_eq!(tempo.share(), None);
        sleep(MOMENT);
        // At least a hundredth of the elapsed time.
        tempo.note(5.0 + 0.01 * MOMENT.as_secs_f64(), Some(1.0), false);
        let share = tempo.share().unwrap();
        assert!(0.0 < share && share <= 0.01, "{share}");
        sleep(MOMENT);
        tempo.note(5.0, Some(1.0), true);
        assert_eq!(tempo.share(), Some(share), "standing still is no shortfall");
    }
}
