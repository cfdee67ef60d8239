//! The periodic cell: a domain and its images, for measurements on the host.

use crate::world::{Domain, Vec3};
use std::ops::Range;

/// Relative rounding error of lengths within which a region counts as a whole number of cells long.
const ROUNDING: f64 = 1e-12;

/// A domain at one time, with its images; along axes with open sides there are none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodicCell {
    /// Lower corner along periodic axes \[m\]; 0 along open ones.
    pub low: Vec3,
    /// Length along periodic axes \[m\]; infinite along open ones.
    pub length: Vec3,
    /// Displacement of the images above by the Lees–Edwards shear \[m\], at most half of the domain in either direction.
    pub offset: Vec3,
    /// Velocity of the images above \[m/s\].
    pub slide: Vec3,
    /// Rate of change of the length along each axis \[m/s\], at which images move away from each other; `None` if nothing controls the lengths.
    pub stretch: Option<Vec3>,
    /// The axes, that of the gradient first: the number of passes through it determines the position along the flow.
    order: [usize; 3],
}

/// An image of the domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Image {
    /// Displacement from the domain to the image \[m\].
    pub shift: Vec3,
    /// Velocity relative to the domain \[m/s\].
    pub velocity: Vec3,
}

impl Image {
    /// The domain itself.
    const ITSELF: Image = Image {
        shift: [0.0; 3],
        velocity: [0.0; 3],
    };

    /// Position in this image of a position in the domain \[m\].
    pub fn of(&self, place: Vec3) -> Vec3 {
        [0, 1, 2].map(|axis| place[axis] + self.shift[axis])
    }

    fn plus(&self, other: &Image) -> Image {
        Image {
            shift: other.of(self.shift),
            velocity: [0, 1, 2].map(|axis| self.velocity[axis] + other.velocity[axis]),
        }
    }
}

impl Default for PeriodicCell {
    fn default() -> Self {
        PeriodicCell::open()
    }
}

impl PeriodicCell {
    /// Space without periodic sides.
    pub fn open() -> PeriodicCell {
        PeriodicCell {
            low: [0.0; 3],
            length: [f64::INFINITY; 3],
            offset: [0.0; 3],
            slide: [0.0; 3],
            stretch: None,
            order: [0, 1, 2],
        }
    }

    /// This cell with the lengths that its control gave it \[m\], and their rates of change \[m/s\].
    #[must_use]
    pub fn stretched(mut self, length: Vec3, rate: Vec3) -> PeriodicCell {
        for (own, given) in self.length.iter_mut().zip(length).filter(|(own, _)| own.is_finite()) {
            *own = given;
        }
        self.stretch = Some(rate);
        self
    }

    /// The cell of a domain at this time \[s\]; its lengths at the start if they are controlled.
    pub fn of(domain: Option<&Domain>, time: f64) -> PeriodicCell {
        let mut cell = PeriodicCell::open();
        let Some(domain) = domain else { return cell };
        for axis in (0..3).filter(|&axis| domain.periodic[axis]) {
            cell.low[axis] = domain.min[axis];
            cell.length[axis] = domain.max[axis] - domain.min[axis];
        }
        if let Some(shear) = domain.shear {
            let speed = shear.rate * cell.length[shear.gradient];
            let way = speed * time;
            let period = cell.length[shear.flow];
            cell.offset[shear.flow] = way - period * (way / period).round();
            cell.slide[shear.flow] = speed;
            cell.order.sort_by_key(|&axis| axis != shear.gradient);
        }
        cell
    }

    /// Whether the sides along an axis are periodic.
    pub fn is_periodic(&self, axis: usize) -> bool {
        self.length[axis].is_finite()
    }

    /// The axes, that of the gradient of a shear first.
    pub fn axes(&self) -> [usize; 3] {
        self.order
    }

    /// Velocity of the simple shear imposed by sheared sides at a position, or of the strain of a cell whose lengths change, relative to the lower
    /// sides \[m/s\]: that of images increases in proportion to their distance. Zero for other cells.
    pub fn streaming(&self, place: Vec3) -> Vec3 {
        let share = |axis: usize| (place[axis] - self.low[axis]) / self.length[axis];
        match self.stretch {
            Some(stretch) => [0, 1, 2].map(|axis| stretch[axis] * share(axis)),
            None => self.slide.map(|slide| slide * share(self.order[0])),
        }
    }

    /// The image `count` cells away along an axis.
    pub fn image(&self, axis: usize, count: f64) -> Image {
        // An open axis has no finite length.
        if count == 0.0 {
            return Image::ITSELF;
        }
        let slides = if axis == self.order[0] { count } else { 0.0 };
        let mut shift = self.offset.map(|offset| offset * slides);
        shift[axis] += self.length[axis] * count;
        let mut velocity = self.slide.map(|slide| slide * slides);
        if let Some(stretch) = self.stretch {
            velocity[axis] += stretch[axis] * count;
        }
        Image { shift, velocity }
    }

    /// Images in which an object between two corners \[m\] reaches into the axis-aligned box between two others \[m\]. If the object has no extent
    /// along a periodic axis, the upper face of the box does not belong to it, so that adjacent boxes contain each point once.
    pub fn images(&self, thing: [Vec3; 2], into: [Vec3; 2]) -> impl Iterator<Item = Image> + use<> {
        let cell = *self;
        let [first, second, third] = cell.order;
        // Images of a found one, along another axis.
        let beyond = move |axis: usize, found: Image| {
            let [from, to] = thing.map(|corner| found.of(corner)[axis]);
            let counts = cell.counts(axis, [from, to], into.map(|corner| corner[axis]));
            counts.map(move |count| found.plus(&cell.image(axis, count as f64)))
        };
        let along_first = beyond(first, Image::ITSELF);
        along_first.flat_map(move |found| beyond(second, found).flat_map(move |found| beyond(third, found)))
    }

    /// Numbers of cells by which an object between these coordinates must be moved along an axis to reach into an interval.
    fn counts(&self, axis: usize, [from, to]: [f64; 2], [low, high]: [f64; 2]) -> Range<i64> {
        let length = self.length[axis];
        if !self.is_periodic(axis) {
            return 0..i64::from(to >= low && from <= high);
        }
        if from < to {
            let last = ((high - from) / length).floor() as i64;
            return ((low - to) / length).ceil() as i64..last.saturating_add(1);
        }
        // Distance from the lower end in cells: a whole number and a remainder, which rounding must not make one.
        let beyond = (from - low) / length;
        let share = (beyond - beyond.floor()).min(1.0 - 0.5 * f64::EPSILON);
        let mut wide = (high - low) / length;
        if (wide - wide.round()).abs() < ROUNDING {
            wide = wide.round();
        }
        let first = -beyond.floor() as i64;
        first..first.saturating_add((wide - share).ceil().max(0.0) as i64)
    }

    /// The image that reduces a vector between two positions \[m\] to the shortest one: the nearest image of the second.
    pub fn nearest(&self, apart: Vec3) -> Image {
        self.turned(apart, f64::round)
    }

    /// Position in the domain of a position's image \[m\].
    pub fn inside(&self, place: Vec3) -> Vec3 {
        let from_corner = [0, 1, 2].map(|axis| place[axis] - self.low[axis]);
        self.turned(from_corner, f64::floor).of(place)
    }

    /// The image that shifts a vector back by its length in cells, rounded with `cells`.
    fn turned(&self, vector: Vec3, cells: fn(f64) -> f64) -> Image {
        let periodic = self.order.into_iter().filter(|&axis| self.is_periodic(axis));
        periodic.fold(Image::ITSELF, |image, axis| {
            let count = cells(image.of(vector)[axis] / self.length[axis]);
            image.plus(&self.image(axis, -count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{LeavingPolicy, Shear};

    fn cell(shear: Option<Shear>, time: f64) -> PeriodicCell {
        let domain = Domain {
            periodic: [true, false, true],
            shear,
            ..Domain::open([1.0, 0.0, -1.0], [3.0, 9.0, 2.0], LeavingPolicy::Error)
        };
        PeriodicCell::of(Some(&domain), time)
    }

    /// A cell of 2 m along x and 3 m along z; images above are 0.75 m behind.
    fn sheared() -> PeriodicCell {
        let shear = Shear {
            flow: 0,
            gradient: 2,
            rate: 0.5,
        };
        cell(Some(shear), 3.5)
    }

    #[test]
    fn boxes_side_by_side_share_out_every_point_once() {
        for cell in [cell(None, 0.0), sheared()] {
            // Bounds of boxes that fill the cell, with any start.
            let cuts = |from: f64, length: f64| [0.0, 0.3, 0.5, 1.0].map(|share| from + share * length);
            for (x, z) in [(1.0, -1.0), (0.1, 0.7), (-7.3, 11.2)] {
                for point in [
                    [1.0, 4.0, -1.0],
                    [2.0, 4.0, 0.5],
                    [3.0, 4.0, 2.0],
                    [1.0 - 1e-15, 4.0, -1.0 - 1e-15],
                    [2.2, 4.0, 0.1],
                ] {
                    let mut found = 0;
                    for [left, right] in cuts(x, 2.0).windows(2).map(|ends| [ends[0], ends[1]]) {
                        for [low, high] in cuts(z, 3.0).windows(2).map(|ends| [ends[0], ends[1]]) {
                            found += cell.images([point; 2], [[left, 0.0, low], [right, 9.0, high]]).count();
                        }
                    }
                    assert_eq!(found, 1, "{point:?} {x} {z}");
                    // The whole cell, and a box that is two cells long.
                    let times = |long: f64| cell.images([point; 2], [[x, 0.0, z], [x + long, 9.0, z + 3.0]]).count();
                    assert_eq!([times(2.0), times(4.0)], [1, 2], "{point:?} {x} {z}");
                }
            }
        }
    }

    #[test]
    fn images_above_are_where_they_slid_to_and_faster() {
        let cell = sheared();
        assert_eq!((cell.offset, cell.slide), ([-0.75, 0.0, 0.0], [1.5, 0.0, 0.0]));
        // A ball below the lower side has an image above the upper one.
        let images: Vec<Image> = cell
            .images([[1.9, 1.0, -1.1], [2.1, 1.2, -0.9]], [[1.0, 0.0, 1.5], [3.0, 9.0, 2.0]])
            .collect();
        let [image] = images[..] else { panic!("{images:?}") };
        assert_eq!((image.shift, image.velocity), ([-0.75, 0.0, 3.0], [1.5, 0.0, 0.0]));
        assert_eq!(cell.inside([2.0, 5.0, 2.5]), [2.75, 5.0, -0.5]);
        assert_eq!(cell.nearest([0.0, 8.0, -2.9]).of([0.0, 8.0, -2.9]), [-0.75, 8.0, 3.0 - 2.9]);
        // A point 1.65 m behind in the image above is 0.35 m ahead in the one before.
        assert_eq!(cell.nearest([-0.9, 0.0, -3.0]).shift, [1.25, 0.0, 3.0]);
    }

    #[test]
    fn images_of_a_cell_that_is_stretched_move_with_its_length() {
        let still = cell(None, 0.0);
        let stretched = still.stretched([2.5, 7.0, 3.5], [0.5, 7.0, -0.25]);
        // Along y the sides are open.
        assert_eq!(stretched.length, [2.5, f64::INFINITY, 3.5]);
        let image = stretched.image(0, 2.0);
        assert_eq!((image.shift, image.velocity), ([5.0, 0.0, 0.0], [1.0, 0.0, 0.0]));
        // What follows the strain is as fast as its image, less the velocity of the image.
        let place = [1.5, 0.0, -0.3];
        let beyond = stretched.image(2, 1.0);
        let [here, there] = [place, beyond.of(place)].map(|place| stretched.streaming(place));
        for axis in [0, 2] {
            assert!(
                (there[axis] - here[axis] - beyond.velocity[axis]).abs() < 1e-15,
                "{here:?} {there:?}"
            );
        }
        assert_eq!(still.streaming(place), [0.0; 3]);
    }

    #[test]
    fn space_without_sides_is_seen_once_and_where_it_is() {
        let open = PeriodicCell::open();
        let ball = [[-1.0; 3], [1.0; 3]];
        let shifts = |into: [Vec3; 2]| open.images(ball, into).map(|image| image.shift).collect::<Vec<_>>();
        assert_eq!(shifts([[1.0; 3], [2.0; 3]]), [[0.0; 3]]);
        assert_eq!(shifts([[1.1; 3], [2.0; 3]]), [[0.0; 3]; 0]);
        assert_eq!(open.inside([-1e30, 0.0, 7.0]), [-1e30, 0.0, 7.0]);
        assert_eq!(open.nearest([-1e30, 0.0, 7.0]).shift, [0.0; 3]);
    }
}
