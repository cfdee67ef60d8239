//! Residence times of grains between two planes.

use super::plane_counter::Followed;
use seixo_analysis::Plane;
use seixo_engine::state::{Column, GrainSnapshot, Sections, State};
use std::collections::BTreeMap;

/// Shares of the mass whose longest residence times are columns.
const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Residence times: from the passage of a first plane along its normal to that of a second one.
///
/// A passage lies between two samples. Its time is that of a grain that moved uniformly in between, so the time of a uniform flow is exact. Across
/// periodic sides samples are as frequent as those of a [`super::plane_counter::PlaneCounter`]. A grain that passes the first plane again begins
/// again. A grain that leaves without passing the second plane does not count.
#[derive(Default)]
pub(super) struct ResidenceTimes {
    followed: Followed,
    /// Time of the last sample \[s\].
    time: f64,
    /// Time at which each grain between the planes passed the first one \[s\], by id.
    entered: BTreeMap<u32, f64>,
    /// Residence time \[s\] and mass \[kg\] of each passage of the second plane.
    passages: Vec<[f64; 2]>,
}

impl ResidenceTimes {
    /// Takes a sample at a time \[s\].
    pub fn look(&mut self, grains: &GrainSnapshot, time: f64, planes: &[Plane; 2]) {
        let ResidenceTimes {
            followed,
            time: since,
            entered,
            passages,
        } = self;
        entered.retain(|id, _| grains.id.binary_search(id).is_ok());
        followed.follow(grains, |index, then, now| {
            let passes = |plane: &Plane| {
                let share = plane.passage(plane.height(then), plane.height(now));
                share.map(|share| *since + share * (time - *since))
            };
            let (id, [begins, ends]) = (grains.id[index], planes.each_ref().map(passes));
            if let Some(begin) = begins.filter(|begin| ends.is_none_or(|end| *begin <= end)) {
                entered.insert(id, begin);
            }
            if let Some(end) = ends
                && let Some(begin) = entered.remove(&id)
            {
                passages.push([end - begin, grains.mass[index]]);
            }
            if let Some(begin) = begins.filter(|begin| ends.is_some_and(|end| *begin > end)) {
                entered.insert(id, begin);
            }
        });
        self.time = time;
    }

    /// Returns the number of passages and of grains between the planes, then mean, standard deviation and quantiles of the residence times \[s\],
    /// weighted by mass; NaN before the first passage.
    pub fn line(&self) -> [f64; 9] {
        let mass: f64 = self.passages.iter().map(|[_, mass]| mass).sum();
        let mean = self.passages.iter().map(|[time, mass]| time * mass).sum::<f64>() / mass;
        let square = self.passages.iter().map(|[time, mass]| mass * (time - mean).powi(2)).sum::<f64>() / mass;
        let mut sorted = self.passages.clone();
        sorted.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let quantile = |share: f64| {
            let mut rest = share * mass;
            let reached = sorted.iter().find(|[_, mass]| {
                rest -= mass;
                rest <= 0.0
            });
            reached.or(sorted.last()).map_or(f64::NAN, |[time, _]| *time)
        };
        let [a, b, c, d, e] = QUANTILES.map(quantile);
        let counts = [self.passages.len(), self.entered.len()].map(|count| count as f64);
        [counts[0], counts[1], mean, square.sqrt(), a, b, c, d, e]
    }

    /// Adds the data that later lines depend on to a checkpoint, with the step of the next sample.
    pub fn save(&self, to: &mut dyn Sections, name: impl Fn(&str) -> String, next_check: u64) {
        self.followed.save(to, &name);
        to.put(&name("entered"), Column::U32(self.entered.keys().copied().collect()));
        let times = [self.time].into_iter().chain(self.entered.values().copied());
        to.put(&name("entered_at"), Column::F64(times.collect()));
        to.put(&name("passages"), Column::F64(self.passages.as_flattened().to_vec()));
        to.put(&name("look"), Column::U64(vec![next_check]));
    }

    /// Restores the times from a checkpoint, with the step of the next sample; `None` if the checkpoint has none.
    pub fn restored(state: &State, name: impl Fn(&str) -> String) -> Option<(ResidenceTimes, u64)> {
        let numbers = |what: &str| match state.get(&name(what)) {
            Some(Column::F64(numbers)) => Some(numbers.as_slice()),
            _ => None,
        };
        let (Some(Column::U32(ids)), Some(Column::U64(next))) = (state.get(&name("entered")), state.get(&name("look"))) else {
            return None;
        };
        let (&time, entered_at) = numbers("entered_at")?.split_first()?;
        let times = ResidenceTimes {
            followed: Followed::restored(state, &name)?,
            time,
            entered: ids.iter().copied().zip(entered_at.iter().copied()).collect(),
            passages: numbers("passages")?.as_chunks::<2>().0.to_vec(),
        };
        Some((times, *next.first()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_engine::PeriodicCell;
    use seixo_engine::world::{Domain, LeavingPolicy};

    /// Grains that move along x, each from its place with its velocity, at a time.
    fn moved(grains: &[(u32, f64, f64, f64)], time: f64, cell: PeriodicCell) -> GrainSnapshot {
        GrainSnapshot {
            id: grains.iter().map(|grain| grain.0).collect(),
            position: grains
                .iter()
                .map(|&(_, from, velocity, _)| cell.inside([from + velocity * time, 0.0, 0.0]))
                .collect(),
            mass: grains.iter().map(|grain| grain.3).collect(),
            cell,
            ..GrainSnapshot::default()
        }
    }

    fn planes(cell: &PeriodicCell) -> [Plane; 2] {
        [1.0, 3.0].map(|x| Plane::in_cell([x, 0.0, 0.0], [1.0, 0.0, 0.0], cell))
    }

    #[test]
    fn a_uniform_flow_has_the_distance_over_the_velocity_at_any_interval() {
        let cell = PeriodicCell::open();
        let grains = [(1, 0.1, 0.8, 1.0), (4, -0.33, 0.8, 2.0), (9, 0.7, 0.8, 3.0)];
        for every in [0.01, 0.37, 1.9, 10.0] {
            let mut times = ResidenceTimes::default();
            for k in 0..=(10.0_f64 / every).ceil() as u32 {
                let time = every * f64::from(k);
                times.look(&moved(&grains, time, cell), time, &planes(&cell));
            }
            let [passed, inside, mean, deviation, quantiles @ ..] = times.line();
            assert_eq!((passed, inside), (3.0, 0.0), "{every}");
            assert!((mean - 2.5).abs() < 1e-12 && deviation < 1e-7, "{every}: {mean} s");
            assert!(quantiles.iter().all(|time| (time - 2.5).abs() < 1e-12));
        }
    }

    #[test]
    fn quantiles_and_means_are_of_the_mass() {
        let cell = PeriodicCell::open();
        // Residence times of 1, 2 and 4 s; a grain that turns back does not count, and one is still inside.
        let grains = [
            (0, 0.0, 2.0, 1.0),
            (1, 0.0, 1.0, 2.0),
            (2, 0.0, 0.5, 5.0),
            (3, 4.0, -1.0, 9.0),
            (4, 0.0, 0.2, 1.0),
        ];
        let mut times = ResidenceTimes::default();
        for k in 0..=70 {
            let time = 0.1 * f64::from(k);
            times.look(&moved(&grains, time, cell), time, &planes(&cell));
        }
        let [passed, inside, mean, deviation, first, second, median, _, last] = times.line();
        assert_eq!((passed, inside), (3.0, 1.0));
        let square = (1.0 + 2.0 * 4.0 + 5.0 * 16.0) / 8.0 - (25.0_f64 / 8.0).powi(2);
        assert!((mean - 25.0 / 8.0).abs() < 1e-9 && (deviation - square.sqrt()).abs() < 1e-9);
        for (found, expected) in [(first, 1.0), (second, 2.0), (median, 4.0), (last, 4.0)] {
            assert!((found - expected).abs() < 1e-9, "{found} s, {expected} s");
        }
    }

    #[test]
    fn a_grain_that_goes_around_passes_each_time_and_a_checkpoint_has_all() {
        let domain = Domain {
            periodic: [true, false, false],
            ..Domain::open([0.0; 3], [4.0, 1.0, 1.0], LeavingPolicy::Error)
        };
        let cell = PeriodicCell::of(Some(&domain), 0.0);
        let grains = [(5, 0.5, 1.0, 1.0)];
        let mut times = ResidenceTimes::default();
        for k in 0..=30 {
            let time = 0.4 * f64::from(k);
            times.look(&moved(&grains, time, cell), time, &planes(&cell));
            let mut state = State::default();
            let name = |what: &str| format!("probe/r/{what}");
            times.save(&mut state, name, 7);
            let (restored, next) = ResidenceTimes::restored(&state, name).unwrap();
            assert_eq!(next, 7);
            times = restored;
        }
        // From 1 m to 3 m, and to the same planes 4 m on, three times in 12 m.
        let [passed, inside, mean, ..] = times.line();
        assert_eq!((passed, inside), (3.0, 0.0));
        assert!((mean - 2.0).abs() < 1e-12, "{mean} s");
    }
}
