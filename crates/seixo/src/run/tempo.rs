//! Simulated time beside wall time: held to it where viewers wish for that, and how much of that is reached.

use std::time::Instant;

/// Wall time over which the pace is found \[s\].
const PACE_OVER: f64 = 0.5;
/// A run that is farther behind than this does not catch up, but goes on at its pace from there \[s\].
const BEHIND: f64 = 0.25;

/// A wall time, and the simulated time \[s\] then.
type Moment = (Instant, f64);

/// How fast simulated time goes.
#[derive(Default)]
pub(super) struct Tempo {
    /// When simulated time was held to wall time first, and to which multiple of it.
    anchor: Option<(Moment, f64)>,
    /// From when on the pace is found next.
    since: Option<Moment>,
    /// What it was of late.
    pace: Option<f64>,
    last: Option<Moment>,
    /// Wall time for which simulated time was held to it, and how much of that simulated time would have taken \[s\].
    held: f64,
    reached: f64,
}

impl Tempo {
    /// Holds simulated time to wall time from the next moment on, whatever was before.
    pub fn begin_anew(&mut self) {
        self.anchor = None;
    }

    /// How far simulated time is ahead of wall time, of which it is held to this multiple; both \[s\].
    pub fn ahead(&mut self, time: f64, rate: f64) -> f64 {
        let now = Instant::now();
        let held_since = self.anchor.filter(|(_, held)| *held == rate);
        let ((start, from), _) = held_since.unwrap_or(((now, time), rate));
        let ahead = (time - from) / rate - (now - start).as_secs_f64();
        let anchor = if ahead < -BEHIND { (now, time) } else { (start, from) };
        self.anchor = Some((anchor, rate));
        ahead
    }

    /// Notes how far simulated time is \[s\], and to which multiple of wall time it is held, if it is. What stands still has no pace.
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

    /// Simulated time over wall time, of late, once that is known.
    pub fn pace(&self) -> Option<f64> {
        self.pace
    }

    /// How much it reached, over the whole run, of what it was held to; `None` if it was not.
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
        let mut tempo = Tempo::default();
        assert_eq!(tempo.ahead(1.0, 2.0), 0.0);
        let ahead = tempo.ahead(3.0, 2.0);
        assert!(0.5 < ahead && ahead <= 1.0, "two seconds take one at twice the pace: {ahead}");
        assert_eq!(tempo.ahead(3.0, 1.0), 0.0, "another pace begins anew");
    }

    #[test]
    fn what_is_far_behind_does_not_catch_up() {
        let mut tempo = Tempo::default();
        tempo.ahead(0.0, 0.01);
        assert!(tempo.ahead(-1.0, 0.01) < -99.0);
        assert!(tempo.ahead(-1.0, 0.01) > -1.0);
    }

    #[test]
    fn the_share_is_of_the_time_for_which_it_was_held() {
        let mut tempo = Tempo::default();
        tempo.note(0.0, None, false);
        sleep(MOMENT);
        tempo.note(5.0, None, false);
        assert_eq!(tempo.share(), None);
        sleep(MOMENT);
        // A hundredth of what passes at least.
        tempo.note(5.0 + 0.01 * MOMENT.as_secs_f64(), Some(1.0), false);
        let share = tempo.share().unwrap();
        assert!(0.0 < share && share <= 0.01, "{share}");
        sleep(MOMENT);
        tempo.note(5.0, Some(1.0), true);
        assert_eq!(tempo.share(), Some(share), "standing still is no shortfall");
    }
}
