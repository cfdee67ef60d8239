//! Counts grains that pass a plane.

use seixo_analysis::{Plane, RigidMotion};
use seixo_engine::PeriodicCell;
use seixo_engine::state::{Column, GrainSnapshot, Sections, State};

/// Largest displacement between two samples, as a share of the domain. With twice as much, a grain would seem to have moved the other way.
const FARTHEST: f64 = 0.25;

/// Grains at the last sample.
#[derive(Default)]
pub(super) struct Followed {
    /// Their ids, ascending.
    id: Vec<u32>,
    /// Their centers \[m\].
    place: Vec<[f64; 3]>,
}

impl Followed {
    /// Whether a grain was there at the last sample.
    pub fn has(&self, id: u32) -> bool {
        self.id.binary_search(&id).is_ok()
    }

    /// Calls `each` for each grain that was there at the last sample: with its index now, its center then, and the image of its center now that is
    /// nearest to it \[m\]. The sample becomes the last one.
    pub fn follow(&mut self, grains: &GrainSnapshot, mut each: impl FnMut(usize, [f64; 3], [f64; 3])) {
        let mut before = self.id.iter().zip(&self.place).peekable();
        for (index, &id) in grains.id.iter().enumerate() {
            while before.next_if(|(other, _)| **other < id).is_some() {}
            let Some((_, &then)) = before.next_if(|(other, _)| **other == id) else {
                continue;
            };
            let now = grains.position[index];
            let apart = [0, 1, 2].map(|axis| now[axis] - then[axis]);
            each(index, then, grains.cell.nearest(apart).of(now));
        }
        self.id.clone_from(&grains.id);
        self.place.clone_from(&grains.position);
    }

    /// Adds the grains to a checkpoint.
    pub fn save(&self, to: &mut dyn Sections, name: &impl Fn(&str) -> String) {
        to.put(&name("ids"), Column::U32(self.id.clone()));
        to.put(&name("centers"), Column::F64(self.place.as_flattened().to_vec()));
    }

    /// Restores the grains from a checkpoint; `None` if it has none.
    pub fn restored(state: &State, name: &impl Fn(&str) -> String) -> Option<Followed> {
        match (state.get(&name("ids")), state.get(&name("centers"))) {
            (Some(Column::U32(id)), Some(Column::F64(places))) => Some(Followed {
                id: id.clone(),
                place: places.as_chunks::<3>().0.to_vec(),
            }),
            _ => None,
        }
    }
}

/// Counts grains that pass a plane between two samples: along its normal upwards, against it downwards.
///
/// Across periodic sides a grain is assumed to have moved the shortest way since the last sample. So samples are taken at every line, and more often
/// if the fastest grain could move too far between two lines. A grain that passes and returns between two samples does not change the count. A grain
/// that passes and leaves the domain is missed. A grain that enters in between, through an inlet or by a stage, is not counted. If the plane is a
/// disk, the center of the grain at the first sample behind the plane decides.
#[derive(Default)]
pub(crate) struct PlaneCounter {
    followed: Followed,
    count: f64,
    /// Mass of the counted grains \[kg\].
    mass: f64,
    /// Time \[s\] and counted mass \[kg\] at the last line.
    line: [f64; 2],
}

impl PlaneCounter {
    /// Counts the grains that passed the plane, or the disk of this radius \[m\], since the last sample. The plane is that at the start, and these are
    /// the motions of what carries it, up to the last sample and up to now.
    pub fn look(&mut self, grains: &GrainSnapshot, plane: &Plane, radius: Option<f64>, carried: &[RigidMotion; 2]) {
        let PlaneCounter { followed, count, mass, .. } = self;
        followed.follow(grains, |index, then, now| {
            let passed = plane.passed(plane.height(carried[0].back(then)), plane.height(carried[1].back(now)));
            let place = || carried[1].back(grains.position[index]);
            if passed != 0.0 && radius.is_none_or(|radius| plane.aside(place(), &grains.cell) <= radius) {
                *count += passed;
                *mass += passed * grains.mass[index];
            }
        });
    }

    /// Returns count, mass \[kg\], and mass flow rate since the last line \[kg/s\]; the rate is zero at the first line.
    pub fn line(&mut self, time: f64) -> [f64; 3] {
        let [then, mass_then] = self.line;
        self.line = [time, self.mass];
        let flow = if time > then {
            (self.mass - mass_then) / (time - then)
        } else {
            0.0
        };
        [self.count, self.mass, flow]
    }

    /// Adds the data that later lines depend on to a checkpoint, with the step of the next sample.
    pub fn save(&self, to: &mut dyn Sections, name: impl Fn(&str) -> String, next_check: u64) {
        let [time, mass] = self.line;
        self.followed.save(to, &name);
        to.put(&name("passed"), Column::F64(vec![self.count, self.mass, time, mass]));
        to.put(&name("look"), Column::U64(vec![next_check]));
    }

    /// Restores the counter from a checkpoint, with the step of the next sample; `None` if the checkpoint has none.
    pub fn restored(state: &State, name: impl Fn(&str) -> String, plane: &Plane) -> Option<(PlaneCounter, u64)> {
        let numbers = |what: &str| match state.get(&name(what)) {
            Some(Column::F64(numbers)) => Some(numbers.as_slice()),
            _ => None,
        };
        let ids = |what: &str| match state.get(&name(what)) {
            Some(Column::U32(ids)) => Some(ids.as_slice()),
            _ => None,
        };
        let next_check = match state.get(&name("look")) {
            Some(Column::U64(steps)) => steps.first().copied(),
            _ => None,
        };
        let (&[count, mass, time], rest) = numbers("passed")?.split_first_chunk::<3>()?;
        let followed = match Followed::restored(state, &name) {
            Some(followed) => followed,
            None => on_sides([ids("behind")?, ids("ahead")?], plane),
        };
        let passage = PlaneCounter {
            followed,
            count,
            mass,
            line: [time, rest.first().copied().unwrap_or(mass)],
        };
        Some((passage, next_check.unwrap_or(u64::MAX)))
    }
}

/// Converts the data of an earlier version, which stored only the side of the plane for each grain. Grains are returned in the order of ids at
/// positions on these sides. With periodic images of the plane a side is not enough, so these grains count as new.
fn on_sides(sides: [&[u32]; 2], plane: &Plane) -> Followed {
    if plane.periodic_axis().is_some() {
        return Followed::default();
    }
    let [behind, ahead] = [-1.0, 0.0].map(|height| plane.at(height));
    let known = [(sides[0], behind), (sides[1], ahead)];
    let mut known: Vec<(u32, [f64; 3])> = known
        .into_iter()
        .flat_map(|(ids, place)| ids.iter().map(move |&id| (id, place)))
        .collect();
    known.sort_by_key(|(id, _)| *id);
    let (id, place) = known.into_iter().unzip();
    Followed { id, place }
}

/// Returns the time until the next sample \[s\] for these grains and this gravity \[m/s²\].
pub(super) fn time_to_look(grains: &GrainSnapshot, plane: &Plane, gravity: [f64; 3]) -> f64 {
    let along = |axis| time_to_look_along(axis, grains, gravity);
    plane.periodic_axis().map_or(f64::INFINITY, along)
}

/// Returns the time until a grain could have moved too far along a periodic axis \[s\].
pub(super) fn time_to_look_along(axis: usize, grains: &GrainSnapshot, gravity: [f64; 3]) -> f64 {
    let PeriodicCell { length, slide, .. } = &grains.cell;
    let fastest = grains
        .velocity
        .iter()
        .fold(0.0, |most: f64, velocity| most.max(velocity[axis].abs()));
    // v t + g t²/2 is the largest displacement.
    let (speed, far) = (fastest + slide[axis].abs(), FARTHEST * length[axis]);
    2.0 * far / (speed + (speed * speed + 2.0 * gravity[axis].abs() * far).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_engine::world::{Domain, LeavingPolicy};

    fn grains(heights: &[(u32, f64, f64)], cell: PeriodicCell) -> GrainSnapshot {
        GrainSnapshot {
            id: heights.iter().map(|grain| grain.0).collect(),
            position: heights.iter().map(|&(_, aside, height)| [aside, 0.0, height]).collect(),
            mass: vec![0.5; heights.len()],
            cell,
            ..GrainSnapshot::default()
        }
    }

    /// Cell with a height of 3 m and a width of 4 m.
    fn periodic() -> PeriodicCell {
        let domain = Domain {
            periodic: [true, false, true],
            ..Domain::open([0.0; 3], [4.0, 4.0, 3.0], LeavingPolicy::Error)
        };
        PeriodicCell::of(Some(&domain), 0.0)
    }

    /// Samples grains in turn, with a disk of 2 m at a height of 1 m that faces down.
    fn counted(cell: PeriodicCell) -> impl FnMut(f64, &[(u32, f64, f64)]) -> [f64; 3] {
        let mut passage = PlaneCounter::default();
        move |time: f64, heights: &[(u32, f64, f64)]| {
            let plane = Plane::in_cell([0.0, 0.0, 1.0], [0.0, 0.0, -1.0], &cell);
            passage.look(&grains(heights, cell), &plane, Some(2.0), &[RigidMotion::NONE; 2]);
            passage.line(time)
        }
    }

    #[test]
    fn grains_count_up_along_the_normal_and_down_against_it() {
        let mut count = counted(PeriodicCell::open());
        assert_eq!(
            count(0.0, &[(1, 0.0, 2.0), (4, 0.0, 3.0), (7, 5.0, 2.0), (9, 0.0, 0.5)]),
            [0.0, 0.0, 0.0]
        );
        assert_eq!(
            count(0.5, &[(1, 0.0, 0.9), (4, 0.0, 0.8), (7, 5.0, 0.0), (9, 0.0, 0.4)]),
            [2.0, 1.0, 2.0],
            "7 passes outside the disk"
        );
        assert_eq!(
            count(0.75, &[(4, 0.0, 1.1), (9, 0.0, 0.3)]),
            [1.0, 0.5, -2.0],
            "4 comes back, 1 and 7 left"
        );
    }

    #[test]
    fn a_plane_that_overtakes_grains_is_passed_by_them() {
        let cell = PeriodicCell::open();
        let plane = Plane::in_cell([0.0, 0.0, 1.0], [0.0, 0.0, 1.0], &cell);
        let up = |height: f64| RigidMotion::new([0.0, 0.0, height], [1.0, 0.0, 0.0, 0.0]);
        let mut passage = PlaneCounter::default();
        // Grains rise by 0.1 m, and the plane by 1 m: from 1 m to 2 m, past the first one, and up to the second one that is above it still.
        passage.look(&grains(&[(1, 0.0, 1.5), (2, 0.0, 2.0)], cell), &plane, None, &[up(0.0); 2]);
        passage.look(&grains(&[(1, 0.0, 1.6), (2, 0.0, 2.1)], cell), &plane, None, &[up(0.0), up(1.0)]);
        assert_eq!(passage.line(1.0)[0], -1.0);
        // A half turn about x makes the plane face down, at −1 m.
        let over = RigidMotion::new([0.0; 3], [0.0, 1.0, 0.0, 0.0]);
        let mut passage = PlaneCounter::default();
        passage.look(&grains(&[(1, 0.0, -0.5)], cell), &plane, None, &[over; 2]);
        passage.look(&grains(&[(1, 0.0, -1.5)], cell), &plane, None, &[over; 2]);
        assert_eq!(passage.line(1.0)[0], 1.0);
    }

    #[test]
    fn what_goes_around_through_periodic_sides_counts_each_time() {
        // Steps of 1 m downwards: at 1 m the grain passes the plane, at 0 m only the periodic side. Its nearest image is 0.1 m from the center of the
        // disk.
        let heights = [2.5, 1.5, 0.5, 2.5, 1.5, 0.5, 2.5];
        let mut count = counted(periodic());
        let down = heights.map(|height| count(0.0, &[(2, 3.9, height)])[0]);
        assert_eq!(down, [0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0]);
        let mut count = counted(periodic());
        let up = heights.map(|height| count(0.0, &[(2, 3.9, 3.0 - height)])[0]);
        assert_eq!(up, [0.0, -1.0, -1.0, -1.0, -2.0, -2.0, -2.0]);
    }

    #[test]
    fn looks_are_as_frequent_as_the_fastest_grain_asks_for() {
        let mut seen = grains(&[(0, 0.0, 1.0), (1, 0.0, 2.0)], periodic());
        seen.velocity = vec![[9.0, 0.0, 0.5], [0.0, 0.0, -2.0]];
        let down = Plane::in_cell([0.0, 0.0, 1.0], [0.0, 0.0, -1.0], &seen.cell);
        assert_eq!(time_to_look(&seen, &down, [0.0; 3]), 0.75 / 2.0);
        // From rest: g t²/2.
        seen.velocity = vec![[0.0; 3]; 2];
        assert!((time_to_look(&seen, &down, [5.0, 0.0, -6.0]) - 0.5).abs() < 1e-15);
        assert_eq!(time_to_look(&seen, &down, [0.0; 3]), f64::INFINITY);
        let across = Plane::in_cell([0.0; 3], [0.0, 1.0, 0.0], &seen.cell);
        assert_eq!(time_to_look(&seen, &across, [0.0, -9.81, 0.0]), f64::INFINITY);
    }

    #[test]
    fn checkpoints_with_sides_alone_go_on() {
        let mut state = State::default();
        let name = |what: &str| format!("probe/q/{what}");
        state.put(&name("behind"), Column::U32(vec![4, 9]));
        state.put(&name("ahead"), Column::U32(vec![5]));
        state.put(&name("passed"), Column::F64(vec![3.0, 1.5, 0.25]));
        let go_on = |cell: PeriodicCell| {
            let plane = Plane::in_cell([0.0, 0.0, 1.0], [0.0, 0.0, 1.0], &cell);
            let (mut passage, next) = PlaneCounter::restored(&state, name, &plane).unwrap();
            assert_eq!(next, u64::MAX);
            let seen = grains(&[(4, 0.0, 1.1), (5, 0.0, 1.0), (9, 0.0, 0.9)], cell);
            passage.look(&seen, &plane, None, &[RigidMotion::NONE; 2]);
            passage.line(0.5)
        };
        assert_eq!(go_on(PeriodicCell::open()), [4.0, 2.0, 2.0]);
        assert_eq!(go_on(periodic()), [3.0, 1.5, 0.0]);
    }
}
