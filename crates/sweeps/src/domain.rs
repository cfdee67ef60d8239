//! Block of a subdomain, and the test whether a particle is in it.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::domain::{Block, is_in_block};
//! let at = |x: f64| Vector3 { x, y: 0.5, z: 0.5 };
//! let (high, length) = (Vector3 { x: 1.0, y: 1.0, z: 1.0 }, Vector3 { x: 4.0, y: 0.0, z: 0.0 });
//! let block = Block { low: Vector3::zero(), high, length };
//! // The lower plane, the upper plane, and a point with an image 4 m below.
//! assert_eq!([0.0, 1.0, 4.5].map(|x| is_in_block::<f64>(&at(x), &block)), [true, false, true]);
//! ```

use cubecl::prelude::*;
use seixo_laws::{Real, Vector3};

/// A block of the world between planes across its axes.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug, PartialEq)]
pub struct Block<R: Real> {
    /// Lower bound along each axis \[m\].
    pub low: Vector3<R>,
    /// Upper bound along each axis \[m\].
    pub high: Vector3<R>,
    /// Distance of images along each periodic axis, zero along other axes \[m\].
    pub length: Vector3<R>,
}

/// Whether a position \[m\] or an image of it is in a block. Lower planes belong to the block, upper ones do not.
#[cube]
#[inline(always)]
pub fn is_in_block<R: Real>(place: &Vector3<R>, block: &Block<R>) -> bool {
    is_within::<R>(place.x, block.low.x, block.high.x, block.length.x)
        && is_within::<R>(place.y, block.low.y, block.high.y, block.length.y)
        && is_within::<R>(place.z, block.low.z, block.high.z, block.length.z)
}

/// Whether a coordinate \[m\] is in the interval from `low` (included) to `high` (excluded). Along a periodic axis with images `length` apart, an
/// image counts too; `length` is zero along other axes.
#[cube]
#[inline(always)]
fn is_within<R: Real>(x: R, low: R, high: R, length: R) -> bool {
    let mut is_inside = x >= low && x < high;
    if length > R::new(0.0) {
        is_inside = is_inside || (x + length >= low && x + length < high) || (x - length >= low && x - length < high);
    }
    is_inside
}
