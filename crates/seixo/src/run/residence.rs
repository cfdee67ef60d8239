//! Residence times of grains: between two planes, from an inlet, or in a zone.

use super::plane_counter::{Followed, time_to_look, time_to_look_along};
use seixo_analysis::{Plane, RigidMotion};
use seixo_engine::PeriodicCell;
use seixo_engine::state::{Column, GrainSnapshot, Sections, State};
use seixo_scene::{Enclosure, Passage};
use std::collections::BTreeMap;

/// Shares of the mass whose longest residence times are columns.
const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Number of classes of the distribution, from zero to the longest time.
const CLASSES: usize = 100;
/// Number of bisections for the time at which a grain crosses the surface of a zone: the rounding error of the path.
const HALVINGS: u32 = 52;
/// Header of the distribution.
const DISTRIBUTION: &str = "from [s],to [s],grains,mass [kg],density [1/s],cumulative [-]\n";

/// Residence times: from a first passage of a grain, such as that of a plane along its normal, to a second one.
///
/// A passage lies between two samples. Its time is that of a grain that moved uniformly in between, so the time of a uniform flow is exact. That of an
/// inlet is the sample at which its grains are new. Across periodic sides samples are as frequent as those of a
/// [`super::plane_counter::PlaneCounter`]. A grain that passes the first time again begins again. A grain that leaves without the second passage does
/// not count.
#[derive(Default)]
pub(super) struct ResidenceTimes {
    followed: Followed,
    /// Time of the last sample \[s\].
    time: f64,
    /// Time at which each grain between the planes passed the first one \[s\], by id.
    entered: BTreeMap<u32, f64>,
    /// Residence time \[s\] and mass \[kg\] of each passage of the second plane.
    stays: Vec<[f64; 2]>,
}

impl ResidenceTimes {
    /// Takes a sample at a time \[s\]: from the first passage to the second one, with the motions of what carries both, up to the last sample and up to
    /// now.
    pub fn look(&mut self, grains: &GrainSnapshot, time: f64, between: [&Passage; 2], carried: &[RigidMotion; 2]) {
        self.begin_at_inlet(grains, time, between[0]);
        let crossings = between.map(|passage| Crossing::of(passage, &grains.cell));
        let ResidenceTimes {
            followed,
            time: since,
            entered,
            stays,
        } = self;
        entered.retain(|id, _| grains.id.binary_search(id).is_ok());
        followed.follow(grains, |index, then, now| {
            let (then, now) = (carried[0].back(then), carried[1].back(now));
            let passes = |crossing: &Crossing| crossing.share(then, now).map(|share| *since + share * (time - *since));
            let (id, [begins, ends]) = (grains.id[index], crossings.each_ref().map(passes));
            if let Some(begin) = begins.filter(|begin| ends.is_none_or(|end| *begin <= end)) {
                entered.insert(id, begin);
            }
            if let Some(end) = ends
                && let Some(begin) = entered.remove(&id)
            {
                stays.push([end - begin, grains.mass[index]]);
            }
            if let Some(begin) = begins.filter(|begin| ends.is_some_and(|end| *begin > end)) {
                entered.insert(id, begin);
            }
        });
        self.time = time;
    }

    /// Begins the times of the grains that an inlet added since the last sample.
    fn begin_at_inlet(&mut self, grains: &GrainSnapshot, time: f64, from: &Passage) {
        let Passage::Inlet { group, first_id, .. } = from else { return };
        for (index, &id) in grains.id.iter().enumerate() {
            if grains.group[index] == *group && id >= *first_id && !self.followed.has(id) {
                self.entered.insert(id, time);
            }
        }
    }

    /// Returns the table of the distribution: ended stays and their mass in classes of the residence time, the density of the distribution by mass, and
    /// its sum up to the end of each class.
    pub fn distribution(&self) -> String {
        let longest = self.stays.iter().fold(0.0, |longest: f64, [time, _]| longest.max(*time));
        let width = longest / CLASSES as f64;
        let mut classes = [(0_u64, 0.0_f64); CLASSES];
        for [time, mass] in &self.stays {
            let class = &mut classes[((time / width) as usize).min(CLASSES - 1)];
            *class = (class.0 + 1, class.1 + mass);
        }
        let whole: f64 = classes.iter().map(|(_, mass)| mass).sum();
        let (mut text, mut below) = (DISTRIBUTION.to_owned(), 0.0);
        for (index, (stays, mass)) in classes.into_iter().enumerate() {
            below += mass;
            let [from, to] = [index, index + 1].map(|end| end as f64 * width);
            let [density, cumulative] = [mass / whole / width, below / whole];
            text += &format!("{from:?},{to:?},{stays},{mass:?},{density:?},{cumulative:?}\n");
        }
        text
    }

    /// Returns the number of ended stays and of grains between the planes, then mean, standard deviation and quantiles of the residence times \[s\],
    /// weighted by mass; NaN before the first passage.
    pub fn line(&self) -> [f64; 9] {
        let mass: f64 = self.stays.iter().map(|[_, mass]| mass).sum();
        let mean = self.stays.iter().map(|[time, mass]| time * mass).sum::<f64>() / mass;
        let square = self.stays.iter().map(|[time, mass]| mass * (time - mean).powi(2)).sum::<f64>() / mass;
        let mut sorted = self.stays.clone();
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
        let counts = [self.stays.len(), self.entered.len()].map(|count| count as f64);
        [counts[0], counts[1], mean, square.sqrt(), a, b, c, d, e]
    }

    /// Adds the data that later lines depend on to a checkpoint, with the step of the next sample.
    pub fn save(&self, to: &mut dyn Sections, name: impl Fn(&str) -> String, next_check: u64) {
        self.followed.save(to, &name);
        to.put(&name("entered"), Column::U32(self.entered.keys().copied().collect()));
        let times = [self.time].into_iter().chain(self.entered.values().copied());
        to.put(&name("entered_at"), Column::F64(times.collect()));
        to.put(&name("stays"), Column::F64(self.stays.as_flattened().to_vec()));
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
            stays: numbers("stays")?.as_chunks::<2>().0.to_vec(),
        };
        Some((times, *next.first()?))
    }
}

/// Returns the time until the next sample \[s\] for these grains and this gravity \[m/s²\].
pub(super) fn time_to_follow(between: [&Passage; 2], grains: &GrainSnapshot, gravity: [f64; 3]) -> f64 {
    let of_passage = |passage: &Passage| match Crossing::of(passage, &grains.cell) {
        Crossing::Never => f64::INFINITY,
        Crossing::Plane(plane) => time_to_look(grains, &plane, gravity),
        Crossing::Zone { .. } => (0..3)
            .filter(|&axis| grains.cell.is_periodic(axis))
            .map(|axis| time_to_look_along(axis, grains, gravity))
            .fold(f64::INFINITY, f64::min),
    };
    between.map(of_passage).into_iter().fold(f64::INFINITY, f64::min)
}

/// A passage in a periodic cell.
enum Crossing<'a> {
    /// None on the way of a grain.
    Never,
    Plane(Plane),
    Zone {
        zone: &'a Enclosure,
        cell: &'a PeriodicCell,
        /// Whether grains enter it, or leave it.
        is_entry: bool,
    },
}

impl<'a> Crossing<'a> {
    fn of(passage: &'a Passage, cell: &'a PeriodicCell) -> Crossing<'a> {
        match passage {
            Passage::Plane { point, normal } => Crossing::Plane(Plane::in_cell(*point, *normal, cell)),
            Passage::Inlet { .. } => Crossing::Never,
            Passage::Entry(zone) | Passage::Exit(zone) => Crossing::Zone {
                zone,
                cell,
                is_entry: matches!(passage, Passage::Entry(_)),
            },
        }
    }

    /// Share of the straight way from one place to another \[m\] at which the passage is; `None` if it is not on the way.
    fn share(&self, from: [f64; 3], to: [f64; 3]) -> Option<f64> {
        let (zone, cell, is_entry) = match self {
            Crossing::Never => return None,
            Crossing::Plane(plane) => return plane.passage(plane.height(from), plane.height(to)),
            Crossing::Zone { zone, cell, is_entry } => (zone, cell, *is_entry),
        };
        let has_passed = |place: [f64; 3]| {
            let mut images = cell.images([place; 2], zone.bounds());
            images.any(|image| zone.holds(image.of(place))) == is_entry
        };
        if has_passed(from) || !has_passed(to) {
            return None;
        }
        let (mut before, mut after) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let share = 0.5 * (before + after);
            if has_passed([0, 1, 2].map(|axis| from[axis] + share * (to[axis] - from[axis]))) {
                after = share;
            } else {
                before = share;
            }
        }
        Some(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    fn planes() -> [Passage; 2] {
        [1.0, 3.0].map(|x| Passage::Plane {
            point: [x, 0.0, 0.0],
            normal: [1.0, 0.0, 0.0],
        })
    }

    /// Takes a sample of these grains at a time.
    fn look(times: &mut ResidenceTimes, grains: &GrainSnapshot, time: f64, between: &[Passage; 2]) {
        times.look(grains, time, between.each_ref(), &[RigidMotion::NONE; 2]);
    }

    #[test]
    fn a_uniform_flow_has_the_distance_over_the_velocity_at_any_interval() {
        let cell = PeriodicCell::open();
        let grains = [(1, 0.1, 0.8, 1.0), (4, -0.33, 0.8, 2.0), (9, 0.7, 0.8, 3.0)];
        for every in [0.01, 0.37, 1.9, 10.0] {
            let mut times = ResidenceTimes::default();
            for k in 0..=(10.0_f64 / every).ceil() as u32 {
                let time = every * f64::from(k);
                look(&mut times, &moved(&grains, time, cell), time, &planes());
            }
            let [passed, inside, mean, deviation, quantiles @ ..] = times.line();
            assert_eq!((passed, inside), (3.0, 0.0), "{every}");
            assert!((mean - 2.5).abs() < 1e-12 && deviation < 1e-7, "{every}: {mean} s");
            assert!(quantiles.iter().all(|time| (time - 2.5).abs() < 1e-12));
        }
    }

    #[test]
    fn the_time_of_new_grains_begins_at_the_inlet() {
        let from = Passage::Inlet {
            group: 0,
            every: 0.5,
            first_id: 5,
        };
        let between = [from, planes()[1].clone()];
        let cell = PeriodicCell::open();
        let mut times = ResidenceTimes::default();
        // Grain 2 is there from the start, grain 8 is of another group, and grains 5 and 6 come at 0 and 0.5 s, 2 m from the end.
        for k in 0..=9 {
            let time = 0.5 * f64::from(k);
            let all = [(2, 0.0, 1.0, 1.0), (5, 1.0, 1.0, 1.0), (6, 0.5, 1.0, 3.0), (8, 0.5, 1.0, 1.0)];
            let there: Vec<_> = all.into_iter().filter(|grain| grain.0 < 6 || k > 0).collect();
            let mut seen = moved(&there, time, cell);
            seen.group = there.iter().map(|grain| u32::from(grain.0 == 8)).collect();
            look(&mut times, &seen, time, &between);
        }
        let [passed, inside, mean, deviation, ..] = times.line();
        assert_eq!((passed, inside), (2.0, 0.0));
        assert!((mean - 2.0).abs() < 1e-12 && deviation < 1e-7, "{mean} s");
    }

    #[test]
    fn the_distribution_has_all_of_the_mass_and_its_mean() {
        let times = ResidenceTimes {
            stays: (1..=1000).map(|k| [0.004 * f64::from(k), f64::from(k)]).collect(),
            ..ResidenceTimes::default()
        };
        let text = times.distribution();
        let rows: Vec<Vec<f64>> = text
            .lines()
            .skip(1)
            .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
            .collect();
        let sum = |of: &dyn Fn(&[f64]) -> f64| rows.iter().map(|row| of(row)).sum::<f64>();
        assert_eq!(rows.len(), CLASSES);
        assert!((sum(&|row| row[2]) - 1000.0).abs() < 1e-9 && (sum(&|row| row[3]) - 500_500.0).abs() < 1e-6);
        assert!((sum(&|row| row[4] * (row[1] - row[0])) - 1.0).abs() < 1e-12 && (rows[CLASSES - 1][5] - 1.0).abs() < 1e-12);
        // The middle of a class stands for its times, which are less than a class of 0.04 s apart.
        let mean = sum(&|row| 0.5 * (row[0] + row[1]) * row[4] * (row[1] - row[0]));
        assert!((mean - times.line()[2]).abs() < 0.02, "{mean} s");
        assert_eq!(ResidenceTimes::default().distribution().lines().count(), CLASSES + 1);
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
            look(&mut times, &moved(&grains, time, cell), time, &planes());
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
            look(&mut times, &moved(&grains, time, cell), time, &planes());
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
