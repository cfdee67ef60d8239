//! Periodic sides of the domain: what leaves on one side comes in on the other, and grains near one side meet those near the other.
//!
//! With Lees and Edwards' sides \[Lees 1972\] the images above and below the domain slide past it, so that all of it is
//! sheared: an image above is displaced by `offset` and faster by `slide`, one below the other way.

use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// No periodic sides.
pub const OPEN: u32 = 0;
/// Some sides are periodic.
pub const PERIODIC: u32 = 1;
/// One pair of periodic sides slides.
pub const SHEARED: u32 = 2;

/// The periodic sides.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug)]
pub struct Sides<C: Real, R: Real> {
    /// Lower corner of the domain along periodic axes \[m\]; along the others beyond all places.
    pub low: Vector3<C>,
    /// Lengths of the domain along periodic axes \[m\]; along the others beyond all distances.
    pub length: Vector3<C>,
    /// 1 for the axis across which images slide, else 0.
    pub across: Vector3<C>,
    /// Displacement of the images above \[m\], at most half of the domain either way.
    pub offset: Vector3<C>,
    /// Velocity of the images above \[m/s\].
    pub slide: Vector3<R>,
}

impl<C: Real, R: Real> Sides<C, R> {
    /// Sides that are all open.
    pub fn open() -> Sides<C, R> {
        let far = C::new(FAR);
        Sides {
            low: Vector3 { x: -far, y: -far, z: -far },
            length: Vector3 { x: far, y: far, z: far },
            across: Vector3::zero(),
            offset: Vector3::zero(),
            slide: Vector3::zero(),
        }
    }
}

impl<R: Real> Sides<f64, R> {
    /// Whether the sides along an axis are open.
    pub fn is_open(&self, axis: usize) -> bool {
        [self.length.x, self.length.y, self.length.z][axis] >= f64::from(FAR)
    }
}

impl<C: Real, R: Real> Default for Sides<C, R> {
    fn default() -> Self {
        Sides::open()
    }
}

/// As [`Sides::open()`], in a kernel.
#[cube]
#[inline(always)]
pub fn open_sides<C: Real, R: Real>() -> Sides<C, R> {
    let far = C::new(FAR);
    Sides::<C, R> {
        low: Vector3::<C> { x: -far, y: -far, z: -far },
        length: Vector3::<C> { x: far, y: far, z: far },
        across: Vector3::<C>::zero(),
        offset: Vector3::<C>::zero(),
        slide: Vector3::<R>::zero(),
    }
}

/// A length beyond all distances, whose half is one, too.
pub const FAR: f32 = 1.0e37;

/// How many lengths lie between a coordinate and its nearest image: −1, 0 or 1.
#[cube]
#[inline(always)]
fn turns<C: Real>(apart: C, length: C) -> C {
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

/// The nearest image of a vector between two places in the domain.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Image<C: Real> {
    /// The vector.
    pub apart: Vector3<C>,
    /// How many times it passed the sides that slide, upward.
    pub passed: C,
}

/// From j to the nearest image of i, or from the nearest image of j to i.
#[cube]
#[inline(always)]
pub fn nearest_image<C: Real, R: Real>(apart: &Vector3<C>, sides: &Sides<C, R>, #[comptime] kind: u32) -> Image<C> {
    let mut nearest = apart.plus(&Vector3::<C>::zero());
    let mut passed = C::new(0.0);
    if comptime!(kind > 0) {
        let count = Vector3::<C> {
            x: turns::<C>(nearest.x, sides.length.x),
            y: turns::<C>(nearest.y, sides.length.y),
            z: turns::<C>(nearest.z, sides.length.z),
        };
        nearest.x -= count.x * sides.length.x;
        nearest.y -= count.y * sides.length.y;
        nearest.z -= count.z * sides.length.z;
        if comptime!(kind == 2) {
            passed = count.dot(&sides.across);
            nearest = nearest.minus(&sides.offset.times(passed));
            // What slid may be half a domain beyond the nearest image now, along the axis that it slid along.
            nearest.x -= turns::<C>(nearest.x, sides.length.x) * sides.length.x;
            nearest.y -= turns::<C>(nearest.y, sides.length.y) * sides.length.y;
            nearest.z -= turns::<C>(nearest.z, sides.length.z) * sides.length.z;
        }
    }
    Image::<C> { apart: nearest, passed }
}

/// As the vector of [`nearest_image()`], in the precision of the laws.
#[cube]
#[inline(always)]
pub fn near_image<C: Coordinate<R>, R: Real>(apart: &Vector3<C>, sides: &Sides<C, R>, #[comptime] kind: u32) -> Vector3<R> {
    let image = nearest_image::<C, R>(apart, sides, kind);
    near_vector::<C, R>(&image.apart)
}

/// Velocity of the nearest image of j over that of j itself, from the vector from j to i \[m/s\].
#[cube]
#[inline(always)]
pub fn slide_of<C: Coordinate<R>, R: Real>(apart: &Vector3<C>, sides: &Sides<C, R>) -> Vector3<R> {
    let image = nearest_image::<C, R>(apart, sides, 2u32);
    sides.slide.times(C::near(image.passed))
}

/// A grain put back into the domain.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Returned<C: Real> {
    /// Where it is now.
    pub position: Vector3<C>,
    /// How many times it passed the sides that slide, upward: so many times it has to be slowed down.
    pub passed: C,
}

/// How many lengths a coordinate is beyond the domain that starts at `low`: −1, 0 or 1.
#[cube]
#[inline(always)]
fn turns_from<C: Real>(coordinate: C, low: C, length: C) -> C {
    let mut count = C::new(0.0);
    if coordinate >= low + length {
        count = C::new(1.0);
    }
    if coordinate < low {
        count = C::new(-1.0);
    }
    count
}

/// Puts a grain that left through periodic sides back; it has moved by less than a length since it was last put back.
#[cube]
#[inline(always)]
pub fn put_back<C: Real, R: Real>(position: &Vector3<C>, sides: &Sides<C, R>) -> Returned<C> {
    let low = &sides.low;
    let count = Vector3::<C> {
        x: turns_from::<C>(position.x, low.x, sides.length.x),
        y: turns_from::<C>(position.y, low.y, sides.length.y),
        z: turns_from::<C>(position.z, low.z, sides.length.z),
    };
    let passed = count.dot(&sides.across);
    let mut inside = Vector3::<C> {
        x: position.x - count.x * sides.length.x,
        y: position.y - count.y * sides.length.y,
        z: position.z - count.z * sides.length.z,
    };
    inside = inside.minus(&sides.offset.times(passed));
    Returned::<C> {
        position: Vector3::<C> {
            x: inside.x - turns_from::<C>(inside.x, low.x, sides.length.x) * sides.length.x,
            y: inside.y - turns_from::<C>(inside.y, low.y, sides.length.y) * sides.length.y,
            z: inside.z - turns_from::<C>(inside.z, low.z, sides.length.z) * sides.length.z,
        },
        passed,
    }
}

/// Images of the domain around it, itself included.
pub const IMAGES: u32 = 27;
/// The one that is the domain itself.
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

/// Displacement of image k of the domain, counted in steps of one length along x, then y, then z.
#[cube]
#[inline(always)]
pub fn image_shift<C: Real, R: Real>(k: u32, sides: &Sides<C, R>) -> Vector3<C> {
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

/// Whether what is within `reach` of a point can lie in the domain.
#[cube]
#[inline(always)]
pub fn reaches_domain<C: Real, R: Real>(p: &Vector3<C>, reach: C, sides: &Sides<C, R>) -> bool {
    let from = p.minus(&sides.low);
    let along_x = from.x + reach >= C::new(0.0) && from.x - reach <= sides.length.x;
    let along_y = from.y + reach >= C::new(0.0) && from.y - reach <= sides.length.y;
    let along_z = from.z + reach >= C::new(0.0) && from.z - reach <= sides.length.z;
    along_x && along_y && along_z
}
