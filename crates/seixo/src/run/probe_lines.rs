//! Lines of probes that conditions of stages look at.

use seixo_engine::state::{Column, Sections, State};
use seixo_scene::{Condition, Measure, Plan};
use std::collections::{BTreeMap, VecDeque};

/// Share of a time by which rounding may shift a line.
const ROUNDING: f64 = 1e-9;

/// Last lines of the probes that conditions name, since the present stage began.
pub(super) struct ProbeLines {
    /// By the index of the probe.
    probes: BTreeMap<usize, Lines>,
}

/// Last lines of a probe.
#[derive(Default)]
struct Lines {
    /// Longest time over which a condition asks for a drift \[s\].
    longest: f64,
    /// Time \[s\] and values of each line, the oldest first: those since the last one that is this time back.
    rows: VecDeque<Vec<f64>>,
}

impl ProbeLines {
    /// Creates the lines that the conditions of a plan ask for, none of them so far.
    pub fn of(plan: &Plan) -> ProbeLines {
        ProbeLines::of_conditions(plan.stages.iter().filter_map(|stage| stage.until.as_ref()))
    }

    /// Creates the lines that these conditions ask for, none of them so far.
    pub fn of_conditions<'a>(conditions: impl IntoIterator<Item = &'a Condition>) -> ProbeLines {
        let mut probes = BTreeMap::<usize, Lines>::new();
        for measure in conditions.into_iter().flat_map(Condition::measures) {
            let (column, over) = match measure {
                Measure::Probe(column) => (column, 0.0),
                Measure::Drift(column, over) => (column, *over),
                _ => continue,
            };
            let lines = probes.entry(column.probe).or_default();
            lines.longest = lines.longest.max(over);
        }
        ProbeLines { probes }
    }

    /// Takes a line of a probe, its time \[s\] first, if a condition names the probe. Returns whether one does.
    pub fn take(&mut self, probe: usize, row: &[f64]) -> bool {
        let Some(lines) = self.probes.get_mut(&probe) else { return false };
        let begin = row[0] - lines.longest * (1.0 - ROUNDING);
        lines.rows.push_back(row.to_vec());
        while lines.rows.get(1).is_some_and(|second| second[0] <= begin) {
            lines.rows.pop_front();
        }
        true
    }

    /// Forgets all lines, as a stage begins.
    pub fn clear(&mut self) {
        self.probes.values_mut().for_each(|lines| lines.rows.clear());
    }

    /// Returns the value of a quantity of probes; NaN before there are the lines that it needs, and for other quantities.
    pub fn value(&self, measure: &Measure) -> f64 {
        let lines = |probe: usize| self.probes.get(&probe);
        match measure {
            Measure::Probe(at) => lines(at.probe).map_or(f64::NAN, |lines| lines.last(at.column)),
            Measure::Drift(at, over) => lines(at.probe).map_or(f64::NAN, |lines| lines.drift(at.column, *over)),
            _ => f64::NAN,
        }
    }

    /// Adds the lines to a checkpoint.
    pub fn save(&self, to: &mut dyn Sections) {
        for (probe, lines) in &self.probes {
            let width = lines.rows.front().map_or(0, Vec::len);
            let numbers = [width as f64].into_iter().chain(lines.rows.iter().flatten().copied());
            to.put(&section(*probe), Column::F64(numbers.collect()));
        }
    }

    /// Restores the lines from a checkpoint, if they are there.
    pub fn restore(&mut self, state: &State) {
        for (probe, lines) in &mut self.probes {
            if let Some(Column::F64(numbers)) = state.get(&section(*probe))
                && let Some((&width, numbers)) = numbers.split_first()
                && width > 0.0
            {
                lines.rows = numbers.chunks_exact(width as usize).map(<[f64]>::to_vec).collect();
            }
        }
    }
}

impl Lines {
    /// Value of a column at the last line.
    fn last(&self, column: usize) -> f64 {
        self.rows.back().map_or(f64::NAN, |row| row[column + 1])
    }

    /// Magnitude of the slope of the line that is fitted to a column by least squares, times this time \[s\]: over the lines since the last one that is
    /// this time back; NaN if none is.
    fn drift(&self, column: usize, over: f64) -> f64 {
        let begin = self.rows.back().map_or(f64::NAN, |last| last[0]) - over * (1.0 - ROUNDING);
        let Some(first) = self.rows.iter().rposition(|row| row[0] <= begin) else {
            return f64::NAN;
        };
        let within = || self.rows.range(first..);
        let mean = |k: usize| within().map(|row| row[k]).sum::<f64>() / within().len() as f64;
        let (time, value) = (mean(0), mean(column + 1));
        let (mut product, mut square) = (0.0, 0.0);
        for row in within() {
            product += (row[0] - time) * (row[column + 1] - value);
            square += (row[0] - time).powi(2);
        }
        (product / square).abs() * over
    }
}

/// Returns the section of a checkpoint for a probe.
fn section(probe: usize) -> String {
    format!("course/lines/{probe}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_is_the_change_over_the_time_and_needs_lines_that_go_back_so_far() {
        let lines = Lines {
            longest: 1.0,
            ..Lines::default()
        };
        let mut probes = ProbeLines {
            probes: BTreeMap::from([(3, lines)]),
        };
        let drift = |probes: &ProbeLines, over: f64| probes.probes[&3].drift(1, over);
        for k in 0..=30 {
            let time = 0.1 * f64::from(k);
            // A column that falls by 2 per second, with noise that the fit averages out.
            let noise = if k % 2 == 0 { 0.01 } else { -0.01 };
            assert!(probes.take(3, &[time, 7.0, 5.0 - 2.0 * time + noise]));
            assert_eq!(drift(&probes, 1.0).is_nan(), k < 10, "{time}");
        }
        assert!((drift(&probes, 1.0) - 2.0).abs() < 0.02 && (drift(&probes, 0.5) - 1.0).abs() < 0.02);
        assert_eq!(probes.probes[&3].rows.len(), 11);
        assert_eq!(probes.probes[&3].last(0), 7.0);
        probes.clear();
        assert!(probes.probes[&3].last(0).is_nan() && drift(&probes, 0.5).is_nan());
    }

    #[test]
    fn a_checkpoint_has_the_lines() {
        let of = || ProbeLines {
            probes: BTreeMap::from([
                (
                    0,
                    Lines {
                        longest: 2.0,
                        ..Lines::default()
                    },
                ),
                (1, Lines::default()),
            ]),
        };
        let mut first = of();
        (0..5).for_each(|k| assert!(first.take(0, &[f64::from(k), f64::from(k * k)])));
        let mut state = State::default();
        first.save(&mut state);
        let mut second = of();
        second.restore(&state);
        assert_eq!(first.probes[&0].rows, second.probes[&0].rows);
        assert!(second.probes[&1].rows.is_empty());
    }
}
