//! Where the grains of a domain are: a domain owns a slab of the world.

use cubecl::prelude::*;
use seixo_laws::Real;

/// Whether a coordinate \[m\] is in a stretch of its axis, from `low` on up to but without `high`. Along a periodic axis, images count, which are
/// `length` apart; along another that is zero.
#[cube]
#[inline(always)]
pub fn is_within<R: Real>(x: R, low: R, high: R, length: R) -> bool {
    let mut is_inside = x >= low && x < high;
    if length > R::new(0.0) {
        is_inside = is_inside || (x + length >= low && x + length < high) || (x - length >= low && x - length < high);
    }
    is_inside
}
