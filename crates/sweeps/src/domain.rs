//! Where the particles of a domain are: a domain owns a block of the world.

use cubecl::prelude::*;
use seixo_laws::{Real, Vector3};

/// A part of the world between planes across its axes.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug, PartialEq)]
pub struct Block<R: Real> {
    /// Where it begins along each axis \[m\].
    pub low: Vector3<R>,
    /// Where it ends along each axis \[m\].
    pub high: Vector3<R>,
    /// What images are apart along each periodic axis; along others zero \[m\].
    pub length: Vector3<R>,
}

/// Whether a place \[m\], or an image of it, is in a block, from its lower planes on up to but without its upper ones.
#[cube]
#[inline(always)]
pub fn is_in_block<R: Real>(place: &Vector3<R>, block: &Block<R>) -> bool {
    is_within::<R>(place.x, block.low.x, block.high.x, block.length.x)
        && is_within::<R>(place.y, block.low.y, block.high.y, block.length.y)
        && is_within::<R>(place.z, block.low.z, block.high.z, block.length.z)
}

/// Whether a coordinate \[m\] is in a stretch of its axis, from `low` on up to but without `high`. Along a periodic axis, images count, which are
/// `length` apart; along another that is zero.
#[cube]
#[inline(always)]
fn is_within<R: Real>(x: R, low: R, high: R, length: R) -> bool {
    let mut is_inside = x >= low && x < high;
    if length > R::new(0.0) {
        is_inside = is_inside || (x + length >= low && x + length < high) || (x - length >= low && x - length < high);
    }
    is_inside
}
