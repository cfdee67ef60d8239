//! Shares of the wall time of a run, from its table of seconds per pass.

use serde::Serialize;

/// Parts of the wall time of a run \[-\]. The rest is the start, and what the run does between steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Shares {
    /// Time steps, without rebuilds of lists.
    #[serde(rename = "share_of_steps")]
    pub steps: f64,
    /// Rebuilds of neighbor lists.
    #[serde(rename = "share_of_lists")]
    pub lists: f64,
    /// Frames, tables and checkpoints, as far as the run waits for them.
    #[serde(rename = "share_of_outputs")]
    pub outputs: f64,
}

impl Shares {
    /// Adds up the lines of `profile.csv`, relative to a wall time \[s\].
    pub fn of(profile: &str, wall_time: f64) -> Shares {
        let mut shares = Shares::default();
        for line in profile.lines().skip(1) {
            let mut cells = line.split(',');
            let (Some(pass), Some(Ok(seconds))) = (cells.next(), cells.next().map(str::parse::<f64>)) else {
                continue;
            };
            let part = if pass == "outputs" {
                &mut shares.outputs
            } else if pass.ends_with("neighbor lists") {
                &mut shares.lists
            } else {
                &mut shares.steps
            };
            *part += seconds / wall_time;
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_outputs_are_separate_from_steps() {
        let profile = "pass,seconds,share,calls\ngrain steps,3.0,0.3,9\nneighbor lists,2.0,0.2,4\nfluid steps,1.0,0.1,9\n\
                       fluid neighbor lists,0.5,0.05,2\noutputs,2.5,0.25,3\n";
        let expected = Shares {
            steps: 0.5,
            lists: 0.3125,
            outputs: 0.3125,
        };
        assert_eq!(Shares::of(profile, 8.0), expected);
    }
}
