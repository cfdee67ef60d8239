//! Progress and speed of a running simulation as text for windows and pages.

use crate::{
    live::{RunControl, Status},
    scale,
};

/// Least share of the requested pace that counts as real time.
pub const IN_TIME: f64 = 0.97;

/// Texts about a running simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSpeed {
    /// Whether it is about to begin, paused or done; empty while it runs.
    pub state: &'static str,
    /// Simulated time, and its end.
    pub time: String,
    /// Simulated time per wall time.
    pub pace: String,
    /// Steps, and particle steps per second.
    pub steps: String,
    /// Share of the requested pace that is reached, if it falls short.
    pub shortfall: String,
}

impl RunSpeed {
    /// Texts for the simulation with this run control.
    pub fn of(controls: &RunControl) -> RunSpeed {
        let Status {
            time,
            until,
            steps,
            particle_steps_per_second: speed,
            pace,
            is_over,
            ..
        } = controls.status();
        // Before its first step there is no status.
        if until == 0.0 {
            return RunSpeed {
                state: "about to begin",
                ..RunSpeed::default()
            };
        }
        let word = |value: f64| {
            let (factor, unit) = scale::readable(value, "s");
            format!("{} {unit}", scale::digits(value * factor, 3))
        };
        let state = match (is_over, controls.is_paused()) {
            (true, _) => "done",
            (_, true) => "paused",
            _ => "",
        };
        let goes_on = state.is_empty();
        let missed = controls.rate().filter(|times| goes_on && pace < IN_TIME * times);
        RunSpeed {
            state,
            time: format!("{} of {}", word(time), word(until)),
            pace: if goes_on && pace > 0.0 {
                format!("{} s a second", scale::digits(pace, 3))
            } else {
                String::new()
            },
            steps: format!("step {steps}, {speed:.3e} particle-steps/s"),
            shortfall: missed.map_or_else(String::new, |times| format!("falls short: {:.3} of it", pace / times)),
        }
    }

    /// All texts except the shortfall in one line.
    pub fn line(&self) -> String {
        let parts: [&str; 4] = [self.state, &self.time, &self.pace, &self.steps];
        let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        said.join("   ·   ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_reports_where_it_stands_and_by_how_much_it_falls_short() {
        let controls = RunControl::default();
        assert_eq!(RunSpeed::of(&controls).line(), "about to begin");
        let status = Status {
            time: 0.25,
            until: 2.0,
            steps: 1200,
            particle_steps_per_second: 3.0e6,
            pace: 0.1,
            ..Status::default()
        };
        controls.report_status(status);
        let free = RunSpeed::of(&controls);
        let steps = "step 1200, 3.000e6 particle-steps/s";
        assert_eq!(free.line(), format!("0.25 s of 2 s   ·   0.1 s a second   ·   {steps}"));
        assert_eq!(free.shortfall, "");
        controls.set_rate(Some(0.4));
        assert_eq!(RunSpeed::of(&controls).shortfall, "falls short: 0.250 of it");
        controls.set_rate(Some(0.1));
        assert_eq!(RunSpeed::of(&controls).shortfall, "");
        // A paused simulation does not fall short.
        controls.set_rate(Some(0.4));
        controls.pause(true);
        let still = RunSpeed::of(&controls);
        assert_eq!((still.state, still.shortfall.as_str()), ("paused", ""));
        assert!(
            still.line().starts_with("paused   ·   0.25 s of 2 s   ·   step"),
            "{}",
            still.line()
        );
        controls.report_status(Status { is_over: true, ..status });
        assert_eq!(RunSpeed::of(&controls).state, "done");
    }
}
