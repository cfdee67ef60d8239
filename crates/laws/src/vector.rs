//! Vectors of three numbers.
//!
//! ```
//! use seixo_laws::{Vector3, between};
//! let (u, v) = (Vector3::<f64> { x: 1.0, y: 2.0, z: 3.0 }, Vector3::<f64> { x: -4.0, y: 0.0, z: 5.0 });
//! // The vector product is perpendicular to both vectors.
//! assert!(u.cross(&v).dot(&u).abs() < 1e-12 && u.cross(&v).dot(&v).abs() < 1e-12);
//! // Far from the origin a short distance keeps its digits, as it is rounded after the subtraction.
//! let (a, b) = (Vector3 { x: 1e6, y: 0.0, z: 0.0 }, Vector3 { x: 1e6 + 1e-3, y: 0.0, z: 0.0 });
//! assert!((between::<f64, f32>(&a, &b).x - 1e-3).abs() < 1e-8);
//! ```

use crate::real::{Coordinate, Real};
use cubecl::prelude::*;

/// Vector of three components.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug, PartialEq)]
pub struct Vector3<R: Real> {
    /// First component.
    pub x: R,
    /// Second component.
    pub y: R,
    /// Third component.
    pub z: R,
}

#[cube]
impl<R: Real> Vector3<R> {
    /// The vector (0, 0, 0).
    #[inline(always)]
    pub fn zero() -> Vector3<R> {
        Vector3::<R> {
            x: R::new(0.0),
            y: R::new(0.0),
            z: R::new(0.0),
        }
    }
    /// Sum.
    #[inline(always)]
    pub fn plus(&self, other: &Vector3<R>) -> Vector3<R> {
        Vector3::<R> {
            x: self.x + other.x,
            y: self.y + other.y,
            z: self.z + other.z,
        }
    }
    /// Difference.
    #[inline(always)]
    pub fn minus(&self, other: &Vector3<R>) -> Vector3<R> {
        Vector3::<R> {
            x: self.x - other.x,
            y: self.y - other.y,
            z: self.z - other.z,
        }
    }
    /// Product with a scalar.
    #[inline(always)]
    pub fn times(&self, factor: R) -> Vector3<R> {
        Vector3::<R> {
            x: self.x * factor,
            y: self.y * factor,
            z: self.z * factor,
        }
    }
    /// Scalar product.
    #[inline(always)]
    pub fn dot(&self, other: &Vector3<R>) -> R {
        self.x * other.x + self.y * other.y + self.z * other.z
    }
    /// Vector product.
    #[inline(always)]
    pub fn cross(&self, other: &Vector3<R>) -> Vector3<R> {
        Vector3::<R> {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }
    /// Length.
    #[inline(always)]
    pub fn length(&self) -> R {
        R::root(self.dot(self))
    }
}

/// The vector b − a between two positions, in the precision of laws.
#[cube]
#[inline(always)]
pub fn between<C: Coordinate<R>, R: Real>(a: &Vector3<C>, b: &Vector3<C>) -> Vector3<R> {
    Vector3::<R> {
        x: C::near(b.x - a.x),
        y: C::near(b.y - a.y),
        z: C::near(b.z - a.z),
    }
}

/// A vector of the laws in the precision of coordinates.
#[cube]
#[inline(always)]
pub fn widened<C: Coordinate<R>, R: Real>(v: &Vector3<R>) -> Vector3<C> {
    Vector3::<C> {
        x: C::wide(v.x),
        y: C::wide(v.y),
        z: C::wide(v.z),
    }
}

/// A vector of coordinates in the precision of laws.
#[cube]
#[inline(always)]
pub fn near_vector<C: Coordinate<R>, R: Real>(v: &Vector3<C>) -> Vector3<R> {
    Vector3::<R> {
        x: C::near(v.x),
        y: C::near(v.y),
        z: C::near(v.z),
    }
}

/// What has to be kept of a vector of coordinates beside one near it, see [`Coordinate::rest()`].
#[cube]
#[inline(always)]
pub fn rest_of<C: Coordinate<R>, R: Real>(v: &Vector3<C>, near: &Vector3<R>) -> Vector3<R> {
    Vector3::<R> {
        x: C::rest(v.x, near.x),
        y: C::rest(v.y, near.y),
        z: C::rest(v.z, near.z),
    }
}

/// The vector near this one that has this rest, see [`Coordinate::with_rest()`].
#[cube]
#[inline(always)]
pub fn with_rest<C: Coordinate<R>, R: Real>(near: &Vector3<R>, rest: &Vector3<R>) -> Vector3<C> {
    Vector3::<C> {
        x: C::with_rest(near.x, rest.x),
        y: C::with_rest(near.y, rest.y),
        z: C::with_rest(near.z, rest.z),
    }
}
