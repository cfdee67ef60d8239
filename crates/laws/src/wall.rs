//! Nearest points of walls.

use crate::{real::Real, vector::Vector3};
use cubecl::prelude::*;

/// The point of the triangle abc nearest to p, by the Voronoi region p lies in: corner, edge or face (Ericson, Real-Time Collision
/// Detection, 2005, § 5.1.5).
#[cube]
#[inline(always)]
pub fn nearest_on_triangle<R: Real>(p: &Vector3<R>, a: &Vector3<R>, b: &Vector3<R>, c: &Vector3<R>) -> Vector3<R> {
    let zero = R::new(0.0);
    let ab = b.minus(a);
    let ac = c.minus(a);
    let ap = p.minus(a);
    let d1 = ab.dot(&ap);
    let d2 = ac.dot(&ap);
    let bp = p.minus(b);
    let d3 = ab.dot(&bp);
    let d4 = ac.dot(&bp);
    let cp = p.minus(c);
    let d5 = ab.dot(&cp);
    let d6 = ac.dot(&cp);
    let va = d3 * d6 - d5 * d4;
    let vb = d5 * d2 - d1 * d6;
    let vc = d1 * d4 - d3 * d2;
    let mut along_ab = zero;
    let mut along_ac = zero;
    if d1 <= zero && d2 <= zero {
        along_ab = zero;
    } else if d3 >= zero && d4 <= d3 {
        along_ab = R::new(1.0);
    } else if d6 >= zero && d5 <= d6 {
        along_ac = R::new(1.0);
    } else if vc <= zero && d1 >= zero && d3 <= zero {
        along_ab = d1 / (d1 - d3);
    } else if vb <= zero && d2 >= zero && d6 <= zero {
        along_ac = d2 / (d2 - d6);
    } else if va <= zero && d4 - d3 >= zero && d5 - d6 >= zero {
        along_ac = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        along_ab = R::new(1.0) - along_ac;
    } else {
        let inverse = R::new(1.0) / (va + vb + vc);
        along_ab = vb * inverse;
        along_ac = vc * inverse;
    }
    a.plus(&ab.times(along_ab)).plus(&ac.times(along_ac))
}

/// Rodrigues' rotation of v about the unit vector `axis` by the angle of which `cos` and `sin` are given.
#[cube]
#[inline(always)]
pub fn rotated<R: Real>(v: &Vector3<R>, axis: &Vector3<R>, cos: R, sin: R) -> Vector3<R> {
    v.times(cos)
        .plus(&axis.cross(v).times(sin))
        .plus(&axis.times(axis.dot(v) * (R::new(1.0) - cos)))
}
