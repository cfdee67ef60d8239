//! Where a simulation that runs stands and how fast it goes, in the words that windows and pages have for it.

use crate::{
    live::{Controls, Status},
    scale,
};

/// Of the pace that a simulation is held to, what it must reach to count as in time.
pub const IN_TIME: f64 = 0.97;

/// What is said of a simulation that runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pace {
    /// Whether it is about to begin, paused or done; nothing while it goes on.
    pub state: &'static str,
    /// Its time, and when it ends.
    pub time: String,
    /// How fast its time passes.
    pub pace: String,
    /// Its steps, and how fast they are.
    pub steps: String,
    /// How much it reaches of the pace that it is held to, where that is less.
    pub shortfall: String,
}

impl Pace {
    /// That of the simulation with these reins.
    pub fn of(controls: &Controls) -> Pace {
        let Status {
            time,
            until,
            steps,
            particle_steps_per_second: speed,
            pace,
            is_over,
            ..
        } = controls.status();
        // Before its first step it tells nothing.
        if until == 0.0 {
            return Pace {
                state: "about to begin",
                ..Pace::default()
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
        Pace {
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

    /// All but the shortfall, in one line.
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
    fn a_run_tells_where_it_stands_and_by_how_much_it_falls_short() {
        let controls = Controls::default();
        assert_eq!(Pace::of(&controls).line(), "about to begin");
        let status = Status {
            time: 0.25,
            until: 2.0,
            steps: 1200,
            particle_steps_per_second: 3.0e6,
            pace: 0.1,
            ..Status::default()
        };
        controls.tell(status);
        let free = Pace::of(&controls);
        let steps = "step 1200, 3.000e6 particle-steps/s";
        assert_eq!(free.line(), format!("0.25 s of 2 s   ·   0.1 s a second   ·   {steps}"));
        assert_eq!(free.shortfall, "");
        controls.set_rate(Some(0.4));
        assert_eq!(Pace::of(&controls).shortfall, "falls short: 0.250 of it");
        controls.set_rate(Some(0.1));
        assert_eq!(Pace::of(&controls).shortfall, "");
        // What stands still falls short of nothing.
        controls.set_rate(Some(0.4));
        controls.pause(true);
        let still = Pace::of(&controls);
        assert_eq!((still.state, still.shortfall.as_str()), ("paused", ""));
        assert!(
            still.line().starts_with("paused   ·   0.25 s of 2 s   ·   step"),
            "{}",
            still.line()
        );
        controls.tell(Status { is_over: true, ..status });
        assert_eq!(Pace::of(&controls).state, "done");
    }
}
