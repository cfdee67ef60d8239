//! Planes that are passed, and their images.

use seixo_engine::PeriodicCell;
use seixo_engine::world::Vec3;

/// A plane in a periodic cell. It reaches over the side of the domain that it is most nearly parallel to; where that side is periodic, an image
/// of the plane follows after each length of the domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    point: Vec3,
    normal: Vec3,
    /// The axis along which images follow each other.
    axis: usize,
    /// Distance of the images along the normal \[m\], if there are any.
    period: Option<f64>,
}

impl Plane {
    /// The plane through a point \[m\] with this unit normal.
    pub fn in_cell(point: Vec3, normal: Vec3, cell: &PeriodicCell) -> Plane {
        let steepest = |most: usize, axis: usize| if normal[axis].abs() > normal[most].abs() { axis } else { most };
        let axis = (0..3).fold(0, steepest);
        Plane {
            point,
            normal,
            axis,
            period: cell.is_periodic(axis).then(|| normal[axis].abs() * cell.length[axis]),
        }
    }

    /// The axis along which images follow each other, if there are any.
    pub fn periodic_axis(&self) -> Option<usize> {
        self.period.map(|_| self.axis)
    }

    /// From the point of the plane to a place \[m\].
    fn seen_from_point(&self, place: Vec3) -> Vec3 {
        [0, 1, 2].map(|k| place[k] - self.point[k])
    }

    /// Height of a place above the plane, along its normal \[m\].
    pub fn height(&self, place: Vec3) -> f64 {
        let way = self.seen_from_point(place);
        (0..3).map(|k| way[k] * self.normal[k]).sum()
    }

    /// The place at this height above the point of the plane \[m\].
    pub fn at(&self, height: f64) -> Vec3 {
        [0, 1, 2].map(|k| self.point[k] + height * self.normal[k])
    }

    /// Distance of a place from the normal through the point, or its nearest image, of the plane \[m\].
    pub fn aside(&self, place: Vec3, cell: &PeriodicCell) -> f64 {
        let way = self.seen_from_point(place);
        let way = cell.nearest(way).of(way);
        let height: f64 = (0..3).map(|k| way[k] * self.normal[k]).sum();
        (0..3).map(|k| (way[k] - height * self.normal[k]).powi(2)).sum::<f64>().sqrt()
    }

    /// How many of the plane and its images are at or below a height \[m\], counted from the plane itself.
    fn below(&self, height: f64) -> f64 {
        match self.period {
            Some(period) => (height / period).floor(),
            None if height < 0.0 => -1.0,
            None => 0.0,
        }
    }

    /// How often the plane and its images are passed on the way from one height to another \[m\]: counted up along the normal.
    pub fn passed(&self, from: f64, to: f64) -> f64 {
        self.below(to) - self.below(from)
    }

    /// Share of the way from one height to another \[m\] at which the plane, or the first of its images, is passed along the normal; `None` if none is.
    pub fn passage(&self, from: f64, to: f64) -> Option<f64> {
        let first = (self.below(from) + 1.0) * self.period.unwrap_or(0.0);
        (self.passed(from, to) > 0.0).then(|| (first - from) / (to - from))
    }

    /// The heights above the images that are within this reach of a place at this height \[m\]; above the plane itself where there are none.
    pub fn near(&self, height: f64, reach: f64) -> impl Iterator<Item = f64> + use<> {
        let (period, counts) = match self.period {
            Some(period) => {
                let [first, last] = [-reach - height, reach - height].map(|end| end / period);
                (period, first.ceil() as i64..=last.floor() as i64)
            }
            None => (0.0, 0..=0),
        };
        counts.map(move |count| height + count as f64 * period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_engine::world::{Domain, LeavingPolicy};

    fn cell() -> PeriodicCell {
        let domain = Domain {
            periodic: [false, false, true],
            ..Domain::open([0.0; 3], [1.0, 1.0, 2.0], LeavingPolicy::Error)
        };
        PeriodicCell::of(Some(&domain), 0.0)
    }

    #[test]
    fn images_of_a_plane_are_passed_like_itself() {
        let down = Plane::in_cell([0.0, 0.0, 1.5], [0.0, 0.0, -1.0], &cell());
        let passed = |from: f64, to: f64| down.passed(down.height([0.0, 0.0, from]), down.height([0.0, 0.0, to]));
        // At 1.5, -0.5 and -2.5, and back again.
        assert_eq!(
            [passed(1.6, 1.4), passed(1.4, -0.4), passed(0.0, -3.0), passed(-3.0, 1.6)],
            [1.0, 0.0, 2.0, -3.0]
        );
        assert_eq!(down.near(down.height([0.5, 0.5, -0.4]), 0.25).count(), 1);
        assert_eq!(down.near(down.height([0.5, 0.5, 0.4]), 0.25).count(), 0);
        let open = Plane::in_cell([0.3, 0.0, 0.0], [1.0, 0.0, 0.0], &cell());
        assert_eq!(
            [open.passed(-5.0, 7.0), open.passed(7.0, 6.0), open.passed(0.0, -0.1)],
            [1.0, 0.0, -1.0]
        );
        assert_eq!(open.near(7.0, 0.1).collect::<Vec<_>>(), [7.0]);
        // A disk in the plane is met across the side, too.
        assert!((open.aside([0.9, 0.0, 1.9], &cell()) - 0.1).abs() < 1e-15);
    }
}
