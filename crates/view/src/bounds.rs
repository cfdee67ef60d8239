//! Bounds of spheres.

use crate::SHARE;
use rayon::prelude::*;

/// Center and radius of a ball \[m\].
pub type Ball = [f32; 4];

/// Lowest and highest value of each of the four numbers of balls \[m\]; radii without sign.
pub type Bounds = [Ball; 2];

/// Bounds of no ball.
pub const NOTHING: Bounds = [[f32::INFINITY; 4], [f32::NEG_INFINITY; 4]];

/// Whether all numbers of a ball are finite.
pub fn is_somewhere(ball: &Ball) -> bool {
    ball.iter().all(|number| number.is_finite())
}

/// Bounds that contain both.
pub fn joined([low, high]: Bounds, [lower, higher]: Bounds) -> Bounds {
    [
        std::array::from_fn(|axis| low[axis].min(lower[axis])),
        std::array::from_fn(|axis| high[axis].max(higher[axis])),
    ]
}

/// Bounds of the balls for which `counts` holds.
pub fn of(balls: &[Ball], counts: impl Fn(&Ball) -> bool + Sync) -> Bounds {
    let of_share = |share: &[Ball]| {
        let counted = share.iter().filter(|ball| counts(ball));
        let outlines = counted.map(|&[x, y, z, radius]| [x, y, z, radius.abs()]);
        outlines.fold(NOTHING, |bounds, ball| joined(bounds, [ball, ball]))
    };
    balls.par_chunks(SHARE).map(of_share).reduce(|| NOTHING, joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_that_is_nowhere_bounds_nothing_wherever_it_stands() {
        let there = [[1.0, -2.0, 3.0, 0.5], [-1.0, 4.0, 0.0, -0.25]];
        let nowhere = [[f32::NAN, 0.0, 0.0, 9.0], [0.0, f32::INFINITY, 0.0, 9.0], [9.0, 9.0, 9.0, f32::NAN]];
        let expected = [[-1.0, -2.0, 0.0, 0.25], [1.0, 4.0, 3.0, 0.5]];
        for at in 0..3 {
            let (before, after) = there.split_at(at);
            assert_eq!(of(&[before, &nowhere[..], after].concat(), is_somewhere), expected, "{at}");
        }
        assert_eq!(of(&nowhere, is_somewhere), NOTHING);
    }
}
