//! Periodic sides of the domain. A grain that leaves through one side enters through the opposite side, and grains near opposite sides interact.
//!
//! With Lees–Edwards boundaries \[Lees 1972\] the images above and below the domain slide past it, so that the domain is sheared. An image above is
//! displaced by `offset` and faster by `slide`, and an image below is displaced and slowed by the same amounts.
//!
//! The lengths of a stretched cell change. Its images move away from each other: along each axis the next one is faster by a component of `slide`.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::periodic::{PERIODIC, PeriodicBoundaries, nearest_image, wrap};
//! let (low, length) = (Vector3::zero(), Vector3 { x: 10.0, y: 10.0, z: 10.0 });
//! let sides = PeriodicBoundaries::<f64, f64> { low, length, ..PeriodicBoundaries::open() };
//! let at = |x: f64| Vector3 { x, y: 5.0, z: 5.0 };
//! // Grains at 9.5 m and at 0.5 m are 1 m apart.
//! let apart = at(9.5).minus(&at(0.5));
//! assert_eq!(nearest_image::<f64, f64>(&apart, &sides, PERIODIC).apart.length(), 1.0);
//! assert_eq!(wrap::<f64, f64>(&at(10.5), &sides).position, at(0.5));
//! ```

use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// No periodic sides.
pub const OPEN: u32 = 0;
/// Some sides are periodic.
pub const PERIODIC: u32 = 1;
/// One pair of periodic sides slides (Lees–Edwards).
pub const SHEARED: u32 = 2;
/// The distances between periodic sides change.
pub const STRETCHED: u32 = 3;

/// The periodic sides.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug)]
pub struct PeriodicBoundaries<C: Real, R: Real> {
    /// Lower corner of the domain along periodic axes \[m\]; below all positions along the others.
    pub low: Vector3<C>,
    /// Lengths of the domain along periodic axes \[m\]; above all distances along the others.
    pub length: Vector3<C>,
    /// 1 for the axis across which images slide, else 0.
    pub across: Vector3<C>,
    /// Displacement of the images above \[m\], at most half a domain length in either direction.
    pub offset: Vector3<C>,
    /// Velocity of the images above \[m/s\]; of a stretched cell, of those above along each axis.
    pub slide: Vector3<R>,
}

impl<C: Real, R: Real> PeriodicBoundaries<C, R> {
    /// Open sides along all axes.
    pub fn open() -> PeriodicBoundaries<C, R> {
        let far = C::new(FAR_AWAY);
        PeriodicBoundaries {
            low: Vector3 { x: -far, y: -far, z: -far },
            length: Vector3 { x: far, y: far, z: far },
            across: Vector3::zero(),
            offset: Vector3::zero(),
            slide: Vector3::zero(),
        }
    }
}

impl<R: Real> PeriodicBoundaries<f64, R> {
    /// Whether the sides along an axis are open.
    pub fn is_open(&self, axis: usize) -> bool {
        [self.length.x, self.length.y, self.length.z][axis] >= f64::from(FAR_AWAY)
    }
}

impl<C: Real, R: Real> Default for PeriodicBoundaries<C, R> {
    fn default() -> Self {
        PeriodicBoundaries::open()
    }
}

/// As [`PeriodicBoundaries::open()`], in a kernel.
#[cube]
#[inline(always)]
pub fn open_sides<C: Real, R: Real>() -> PeriodicBoundaries<C, R> {
    let far = C::new(FAR_AWAY);
    PeriodicBoundaries::<C, R> {
        low: Vector3::<C> { x: -far, y: -far, z: -far },
        length: Vector3::<C> { x: far, y: far, z: far },
        across: Vector3::<C>::zero(),
        offset: Vector3::<C>::zero(),
        slide: Vector3::<R>::zero(),
    }
}

/// A length larger than all distances, as is its half \[m\].
pub const FAR_AWAY: f32 = 1.0e37;

/// Number of lengths between a coordinate difference and its nearest image: −1, 0 or 1.
#[cube]
#[inline(always)]
fn periods<C: Real>(apart: C, length: C) -> C {
    let half = length * C::new(0.5);
    let mut count = C::new(0.0);
    if apart > half {
        count = C::new(1.0);
    }
    if apart < -half {
        count = C::new(-1.0);
    }
    count
}

/// The nearest image of a vector between two positions in the domain.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Image<C: Real> {
    /// The vector.
    pub apart: Vector3<C>,
    /// Number of crossed sliding sides, counted upward.
    pub passed: C,
    /// Numbers of crossed sides of a stretched cell along each axis, counted upward; zero for other cells.
    pub crossed: Vector3<C>,
}

/// The vector from j to the nearest image of i, or from the nearest image of j to i.
#[cube]
#[inline(always)]
pub fn nearest_image<C: Real, R: Real>(apart: &Vector3<C>, sides: &PeriodicBoundaries<C, R>, #[comptime] kind: u32) -> Image<C> {
    let mut nearest = apart.plus(&Vector3::<C>::zero());
    let mut passed = C::new(0.0);
    let mut crossed = Vector3::<C>::zero();
    if comptime!(kind > 0) {
        let count = Vector3::<C> {
            x: periods::<C>(nearest.x, sides.length.x),
            y: periods::<C>(nearest.y, sides.length.y),
            z: periods::<C>(nearest.z, sides.length.z),
        };
        nearest.x -= count.x * sides.length.x;
        nearest.y -= count.y * sides.length.y;
        nearest.z -= count.z * sides.length.z;
        if comptime!(kind == 2) {
            passed = count.dot(&sides.across);
            nearest = nearest.minus(&sides.offset.times(passed));
            // After the displacement, the vector may be half a domain length beyond the nearest image along the axis of sliding.
            nearest.x -= periods::<C>(nearest.x, sides.length.x) * sides.length.x;
            nearest.y -= periods::<C>(nearest.y, sides.length.y) * sides.length.y;
            nearest.z -= periods::<C>(nearest.z, sides.length.z) * sides.length.z;
        }
        if comptime!(kind == 3) {
            crossed = count.plus(&Vector3::<C>::zero());
        }
    }
    Image::<C> {
        apart: nearest,
        passed,
        crossed,
    }
}

/// Products of the components of two vectors.
#[cube]
#[inline(always)]
pub fn by_components<R: Real>(a: &Vector3<R>, b: &Vector3<R>) -> Vector3<R> {
    Vector3::<R> {
        x: a.x * b.x,
        y: a.y * b.y,
        z: a.z * b.z,
    }
}

/// Velocity of an image relative to what it is an image of \[m/s\], from the numbers of sides between them: of sliding sides, and along each axis.
#[inline(always)]
pub fn image_velocity<R: Real>(passed: R, crossed: &Vector3<R>, sides: &PeriodicBoundaries<R, R>, kind: u32) -> Vector3<R> {
    if kind == STRETCHED {
        by_components::<R>(crossed, &sides.slide)
    } else {
        sides.slide.times(passed)
    }
}

/// As the vector of [`nearest_image()`], in the precision of the laws.
#[cube]
#[inline(always)]
pub fn near_image<C: Coordinate<R>, R: Real>(apart: &Vector3<C>, sides: &PeriodicBoundaries<C, R>, #[comptime] kind: u32) -> Vector3<R> {
    let image = nearest_image::<C, R>(apart, sides, kind);
    near_vector::<C, R>(&image.apart)
}

/// Velocity of the nearest image of j relative to j, from the vector from j to i \[m/s\].
#[cube]
#[inline(always)]
pub fn slide_of<C: Coordinate<R>, R: Real>(apart: &Vector3<C>, sides: &PeriodicBoundaries<C, R>) -> Vector3<R> {
    let image = nearest_image::<C, R>(apart, sides, 2u32);
    sides.slide.times(C::near(image.passed))
}

/// A grain wrapped back into the domain.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct WrappedPosition<C: Real> {
    /// Position \[m\].
    pub position: Vector3<C>,
    /// Number of crossed sliding sides, counted upward; the velocity of the grain is reduced by `slide` for each.
    pub passed: C,
    /// Numbers of crossed sides along each axis, counted upward; in a stretched cell, the velocity is reduced by the component of `slide` for each.
    pub crossed: Vector3<C>,
}

/// Number of lengths by which a coordinate is outside the domain that starts at `low`: −1, 0 or 1.
#[cube]
#[inline(always)]
fn lengths_beyond<C: Real>(coordinate: C, low: C, length: C) -> C {
    let mut count = C::new(0.0);
    if coordinate >= low + length {
        count = C::new(1.0);
    }
    if coordinate < low {
        count = C::new(-1.0);
    }
    count
}

/// Wraps a grain that left through periodic sides back into the domain. It has moved by less than a period since it was last wrapped.
#[cube]
#[inline(always)]
pub fn wrap<C: Real, R: Real>(position: &Vector3<C>, sides: &PeriodicBoundaries<C, R>) -> WrappedPosition<C> {
    let low = &sides.low;
    let count = Vector3::<C> {
        x: lengths_beyond::<C>(position.x, low.x, sides.length.x),
        y: lengths_beyond::<C>(position.y, low.y, sides.length.y),
        z: lengths_beyond::<C>(position.z, low.z, sides.length.z),
    };
    let passed = count.dot(&sides.across);
    let mut inside = Vector3::<C> {
        x: position.x - count.x * sides.length.x,
        y: position.y - count.y * sides.length.y,
        z: position.z - count.z * sides.length.z,
    };
    inside = inside.minus(&sides.offset.times(passed));
    WrappedPosition::<C> {
        position: Vector3::<C> {
            x: inside.x - lengths_beyond::<C>(inside.x, low.x, sides.length.x) * sides.length.x,
            y: inside.y - lengths_beyond::<C>(inside.y, low.y, sides.length.y) * sides.length.y,
            z: inside.z - lengths_beyond::<C>(inside.z, low.z, sides.length.z) * sides.length.z,
        },
        passed,
        crossed: count,
    }
}

/// Images of the domain, including itself.
pub const IMAGES: u32 = 27;
/// Index of the domain itself among its images.
pub const ITSELF: u32 = 13;

/// −1, 0 or 1 for a digit 0, 1 or 2.
#[cube]
#[inline(always)]
fn signed<C: Real>(digit: u32) -> C {
    let mut number = C::new(0.0);
    if digit == 0u32 {
        number = C::new(-1.0);
    }
    if digit == 2u32 {
        number = C::new(1.0);
    }
    number
}

/// Displacement of image k of the domain; k counts along x, then y, then z.
#[cube]
#[inline(always)]
pub fn image_shift<C: Real, R: Real>(k: u32, sides: &PeriodicBoundaries<C, R>) -> Vector3<C> {
    let count = Vector3::<C> {
        x: signed::<C>(k % 3u32),
        y: signed::<C>(k / 3u32 % 3u32),
        z: signed::<C>(k / 9u32),
    };
    let passed = count.dot(&sides.across);
    Vector3::<C> {
        x: count.x * sides.length.x,
        y: count.y * sides.length.y,
        z: count.z * sides.length.z,
    }
    .plus(&sides.offset.times(passed))
}

/// Whether a sphere of radius `reach` about a point can overlap the domain.
#[cube]
#[inline(always)]
pub fn reaches_domain<C: Real, R: Real>(p: &Vector3<C>, reach: C, sides: &PeriodicBoundaries<C, R>) -> bool {
    let from = p.minus(&sides.low);
    let along_x = from.x + reach >= C::new(0.0) && from.x - reach <= sides.length.x;
    let along_y = from.y + reach >= C::new(0.0) && from.y - reach <= sides.length.y;
    let along_z = from.z + reach >= C::new(0.0) && from.z - reach <= sides.length.z;
    along_x && along_y && along_z
}
