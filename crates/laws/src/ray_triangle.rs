//! Intersection of parallel lines and triangles in integers, so that the result is the same on every device.
//!
//! Coordinates are units of a lattice, from 1 to 2²⁰. Across the lines, corners have odd coordinates and lines have even ones. So a line may meet an
//! edge but never a corner. No product here exceeds 2⁶¹.
//!
//! ```
//! use seixo_laws::ray_triangle::{Corner, crossing, winding_increment};
//! let corner = |u: i64, v: i64, w: i64| Corner { u, v, w };
//! let (a, b, c) = (corner(1, 1, 1), corner(11, 1, 11), corner(1, 11, 1));
//! // The triangle lies in the plane w = u. The second line passes beside it.
//! assert_eq!((crossing(&a, &b, &c, 4, 2), crossing(&a, &b, &c, 8, 8)), (4, 0));
//! // Seen from its other side, an exit is an entry.
//! assert_eq!((winding_increment(&a, &b, &c, 4, 2), winding_increment(&a, &c, &b, 4, 2)), (-1, 1));
//! ```

use cubecl::prelude::*;

/// A corner of a triangle in the frame of parallel lines \[units\].
#[derive(CubeType, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner {
    /// First coordinate across the lines, odd.
    pub u: i64,
    /// Second coordinate across the lines, odd.
    pub v: i64,
    /// Coordinate along the lines; u, v, w are right-handed.
    pub w: i64,
}

/// Twice the signed area of the triangle of an edge from a to b and the line at u, v, seen against the lines \[units²\]. It is positive if the line
/// passes on the left of the edge.
#[cube]
#[inline(always)]
pub fn side(a: &Corner, b: &Corner, u: i64, v: i64) -> i64 {
    (b.u - a.u) * (v - a.v) - (b.v - a.v) * (u - a.u)
}

/// Coordinate along the line at u, v at which it meets the triangle or its edges, rounded down \[units\]. It is 0 if the line misses the triangle or
/// lies in its plane.
#[cube]
#[inline(always)]
pub fn crossing(a: &Corner, b: &Corner, c: &Corner, u: i64, v: i64) -> i64 {
    let of_a = side(b, c, u, v);
    let of_b = side(c, a, u, v);
    let of_c = side(a, b, u, v);
    let area = of_a + of_b + of_c;
    let mut height = 0i64;
    let is_left = of_a >= 0i64 && of_b >= 0i64 && of_c >= 0i64;
    let is_right = of_a <= 0i64 && of_b <= 0i64 && of_c <= 0i64;
    if area != 0i64 && (is_left || is_right) {
        // Numerator and denominator have the same sign, so the quotient is rounded down.
        height = (of_a * a.w + of_b * b.w + of_c * c.w) / area;
    }
    height
}

/// Whether a line passes on the left of an edge. A line that meets an edge is on the left of either the edge or its reverse.
#[cube]
#[inline(always)]
fn is_left_of(a: &Corner, b: &Corner, u: i64, v: i64) -> bool {
    let area = side(a, b, u, v);
    area > 0i64 || (area == 0i64 && b.u > a.u)
}

/// Change of the winding number where the line at u, v crosses this triangle of a surface that faces outward: 1 at entry, −1 at exit. Of the
/// triangles at an edge that the line meets, those on one side of the line count.
#[cube]
#[inline(always)]
pub fn winding_increment(a: &Corner, b: &Corner, c: &Corner, u: i64, v: i64) -> i32 {
    let mut change = 0i32;
    if is_left_of(a, b, u, v) && is_left_of(b, c, u, v) && is_left_of(c, a, u, v) {
        change -= 1i32;
    }
    if is_left_of(b, a, u, v) && is_left_of(c, b, u, v) && is_left_of(a, c, u, v) {
        change += 1i32;
    }
    change
}
