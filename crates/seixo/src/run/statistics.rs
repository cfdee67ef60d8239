//! Mean, standard deviation and extremes of the columns of a probe, over a time back from each line.

use super::schedule::Schedule;
use seixo_engine::state::{Column, Sections, State};
use seixo_scene::Average;
use std::collections::VecDeque;

/// Share of the window by which rounding may shift the time of a sample.
const ROUNDING: f64 = 1e-9;

/// Statistics of a probe, with the samples that they are taken from.
pub(super) struct Statistics {
    /// Time back from each line \[s\].
    window: f64,
    /// Schedule of the samples.
    pub schedule: Schedule,
    /// Time \[s\] and values of each sample in the window, the oldest first.
    samples: VecDeque<Vec<f64>>,
}

impl Statistics {
    /// Creates statistics without samples, for a time step of `time_step` \[s\].
    pub fn new(average: &Average, time_step: f64) -> Statistics {
        Statistics {
            window: average.window,
            schedule: Schedule::new(average.sample_every, time_step),
            samples: VecDeque::new(),
        }
    }

    /// Takes a sample at a time \[s\], and drops those that the window has passed.
    pub fn take(&mut self, time: f64, values: &[f64]) {
        self.samples.push_back([&[time][..], values].concat());
        let begin = time - self.window * (1.0 - ROUNDING);
        while self.samples.front().is_some_and(|sample| sample[0] < begin) {
            self.samples.pop_front();
        }
    }

    /// Returns the means of all columns, then their standard deviations, their smallest and their largest values; NaN without samples.
    pub fn values(&self, columns: usize) -> Vec<f64> {
        let count = self.samples.len() as f64;
        let of = |column: usize| self.samples.iter().map(move |sample| sample[column + 1]);
        let means: Vec<f64> = (0..columns).map(|column| of(column).sum::<f64>() / count).collect();
        let squares = |column: usize| of(column).map(|value| (value - means[column]).powi(2)).sum::<f64>();
        let deviations: Vec<f64> = (0..columns).map(|column| (squares(column) / count).sqrt()).collect();
        let lowest: Vec<f64> = (0..columns).map(|column| of(column).fold(f64::NAN, f64::min)).collect();
        let highest: Vec<f64> = (0..columns).map(|column| of(column).fold(f64::NAN, f64::max)).collect();
        [means, deviations, lowest, highest].concat()
    }

    /// Adds the samples to a checkpoint.
    pub fn save(&self, to: &mut dyn Sections, name: &str) {
        to.put(name, Column::F64(self.samples.iter().flatten().copied().collect()));
    }

    /// Restores the samples of this number of columns from a checkpoint, if they are there.
    pub fn restore(&mut self, state: &State, name: &str, columns: usize) {
        if let Some(Column::F64(numbers)) = state.get(name) {
            self.samples = numbers.chunks_exact(columns + 1).map(<[f64]>::to_vec).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    const AVERAGE: Average = Average {
        window: 2.0,
        sample_every: 0.01,
    };

    #[test]
    fn a_sine_has_the_mean_and_deviation_of_whole_periods() {
        let mut statistics = Statistics::new(&AVERAGE, 0.01);
        for k in 0..=500 {
            let time = 0.01 * f64::from(k);
            statistics.take(time, &[3.0 + 0.5 * (TAU * time).sin(), time]);
        }
        let [mean, mean_time, deviation, _, lowest, first, highest, last] = statistics.values(2)[..] else {
            panic!("four numbers for each of two columns");
        };
        // Two whole periods with 100 samples each.
        assert!((mean - 3.0).abs() < 1e-12 && (deviation - 0.5 / 2.0_f64.sqrt()).abs() < 1e-12);
        assert!((lowest - 2.5).abs() < 1e-12 && (highest - 3.5).abs() < 1e-12);
        // The window does not contain its beginning.
        assert!((first - 3.01).abs() < 1e-12 && last == 5.0 && (mean_time - 4.005).abs() < 1e-12);
    }

    #[test]
    fn a_checkpoint_has_the_samples() {
        let mut first = Statistics::new(&AVERAGE, 0.01);
        (0..100).for_each(|k| first.take(0.05 * f64::from(k), &[f64::from(k * k), 1.0]));
        let mut state = State::default();
        first.save(&mut state, "samples");
        let mut second = Statistics::new(&AVERAGE, 0.01);
        second.restore(&state, "samples", 2);
        for statistics in [&mut first, &mut second] {
            statistics.take(5.0, &[7.0, 2.0]);
        }
        assert_eq!(first.values(2), second.values(2));
        assert!(Statistics::new(&AVERAGE, 0.01).values(1).iter().all(|value| value.is_nan()));
    }
}
