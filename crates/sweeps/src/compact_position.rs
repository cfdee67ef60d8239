//! Compact positions: coordinates as integers of 32 bits, for GPUs with coordinates in double and laws in single precision.
//!
//! A neighbor is then read with 16 bytes instead of 32, and without arithmetic in double precision. An axis is divided into *spans* of equal length,
//! and a span into 2³² *quanta*. A compact coordinate is the number of quanta since the start of its span; the span itself is left out. So points a
//! whole number of spans apart are the same, and the difference of two coordinates modulo 2³² is their shortest distance. It is an exact integer, and
//! exactly opposite for the other of the two.
//!
//! **Range.** A span is at least [`SPANS`] times the reach of the lists, which is the support and the skin. Particles move by half the skin at most
//! before lists are rebuilt. So listed pairs are less than two reaches apart, at most a quarter of a span. A period is a whole number of spans, so
//! that the shortest distance is that of nearest images. A period shorter than the least span is a span itself.
//!
//! **Error.** Truncation displaces a coordinate by less than a quantum. Along open axes spans are powers of two, so the product with their inverse is
//! exact. Along periodic axes it rounds by less than another quantum at up to 10⁶ spans from the origin. A span is at most 2 [`SPANS`] reaches. So the
//! error of a distance is below four quanta, 1.5·10⁻⁸ of the reach, near the origin as far away. Laws round it to single precision.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::compact_position::{CompactScale, compact_apart, compact_position};
//! use seixo_sweeps::periodic::PeriodicBoundaries;
//! // Lists reach 0.1 m. A kilometer away from the origin, distances have errors below 10⁻⁸ of that.
//! let scale = CompactScale::within(0.1, &PeriodicBoundaries::open());
//! let at = |x: f64| compact_position::<f64, f64>(&Vector3 { x, y: 0.0, z: -1.0 }, &scale);
//! let apart = |x: f64, y: f64| compact_apart::<f64, f64>(&at(x), &at(y), &scale).x;
//! assert!((apart(1000.03, 1000.0) - 0.03).abs() < 1e-9);
//! assert!((apart(-0.01, 0.04) + 0.05).abs() < 1e-9);
//! assert_eq!(apart(0.04, -0.01), -apart(-0.01, 0.04));
//! ```

use crate::periodic::PeriodicBoundaries;
use cubecl::prelude::*;
use seixo_laws::{Real, Vector3};

/// Least length of a span \[reaches of the lists\].
pub const SPANS: f64 = 8.0;

/// Quanta of a span: 2³².
const QUANTA: f32 = 4_294_967_296.0;

/// Spans and quanta along the three axes.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug)]
pub struct CompactScale<C: Real, R: Real> {
    /// One over the spans \[1/m\].
    pub per_span: Vector3<C>,
    /// Quanta \[m\].
    pub quantum: Vector3<R>,
}

impl CompactScale<f64, f64> {
    /// The scale for lists with this positive reach \[m\]. No sides slide or change their distance.
    pub fn within(reach: f64, sides: &PeriodicBoundaries<f64, f64>) -> CompactScale<f64, f64> {
        let least = SPANS * reach;
        let lengths = [sides.length.x, sides.length.y, sides.length.z];
        let [x, y, z] = [0, 1, 2].map(|axis| {
            if sides.is_open(axis) {
                power_of_two_from(least)
            } else {
                lengths[axis] / (lengths[axis] / least).floor().max(1.0)
            }
        });
        let quanta = f64::from(QUANTA);
        CompactScale {
            per_span: Vector3 {
                x: 1.0 / x,
                y: 1.0 / y,
                z: 1.0 / z,
            },
            quantum: Vector3 {
                x: x / quanta,
                y: y / quanta,
                z: z / quanta,
            },
        }
    }
}

/// The least power of two that is not below a positive number. Products with it are exact.
fn power_of_two_from(least: f64) -> f64 {
    let mut power = 1.0;
    while power < least {
        power *= 2.0;
    }
    while 0.5 * power >= least {
        power *= 0.5;
    }
    power
}

/// A position in quanta, without its spans.
#[derive(CubeType, Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactPosition {
    /// First coordinate.
    pub x: u32,
    /// Second coordinate.
    pub y: u32,
    /// Third coordinate.
    pub z: u32,
}

/// The low 32 bits of a difference.
#[inline]
fn wrapped_difference(a: u32, b: u32) -> u32 {
    a.wrapping_sub(b)
}

mod wrapped_difference {
    use cubecl::frontend::SubExpand;
    use cubecl::prelude::*;

    /// The same in a kernel, where differences wrap around.
    pub fn expand(scope: &Scope, a: NativeExpand<u32>, b: NativeExpand<u32>) -> NativeExpand<u32> {
        a.__expand_sub_method(scope, b)
    }
}

/// A coordinate in quanta, rounded towards the origin.
#[cube]
#[inline(always)]
fn compact_coordinate<C: Real>(x: C, per_span: C) -> u32 {
    let spans = x * per_span;
    // The size stands between product and difference. So no compiler fuses the two, and all kernels get the same bits.
    let mut size = spans;
    if spans < C::new(0.0) {
        size = -spans;
    }
    // The share of a positive number is exact and below one, so its quanta fit into 32 bits.
    let share = size - C::counted(C::whole(size));
    let quanta = C::whole(share * C::new(QUANTA));
    let mut coordinate = quanta;
    if spans < C::new(0.0) {
        coordinate = wrapped_difference(0u32, quanta);
    }
    coordinate
}

/// The compact position of a point. `C` has more than 32 bits of precision.
#[cube]
#[inline(always)]
pub fn compact_position<C: Real, R: Real>(position: &Vector3<C>, scale: &CompactScale<C, R>) -> CompactPosition {
    CompactPosition {
        x: compact_coordinate::<C>(position.x, scale.per_span.x),
        y: compact_coordinate::<C>(position.y, scale.per_span.y),
        z: compact_coordinate::<C>(position.z, scale.per_span.z),
    }
}

/// Shortest distance from a coordinate to another \[m\].
#[cube]
#[inline(always)]
fn shortest<R: Real>(from: u32, to: u32, quantum: R) -> R {
    R::signed(wrapped_difference(to, from) as i32) * quantum
}

/// The vector from `other` to the point at `own`, or to its nearest image \[m\].
#[cube]
#[inline(always)]
pub fn compact_apart<C: Real, R: Real>(own: &CompactPosition, other: &CompactPosition, scale: &CompactScale<C, R>) -> Vector3<R> {
    Vector3::<R> {
        x: shortest::<R>(other.x, own.x, scale.quantum.x),
        y: shortest::<R>(other.y, own.y, scale.quantum.y),
        z: shortest::<R>(other.z, own.z, scale.quantum.z),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest error of the distance of a pair that moves together from the origin in both directions \[reaches\].
    fn worst(scale: &CompactScale<f64, f64>, reach: f64) -> f64 {
        let at = |x: f64| compact_position::<f64, f64>(&Vector3 { x, y: x, z: x }, scale);
        let mut worst: f64 = 0.0;
        for k in -400i32..=400 {
            let x = 25.7 * reach * f64::from(k);
            for share in [-1.9, -0.31, 0.0, 1e-3, 0.77, 2.0] {
                let y = x + share * reach;
                let apart = compact_apart::<f64, f64>(&at(y), &at(x), scale);
                for along in [apart.x, apart.y, apart.z] {
                    worst = worst.max((along - (y - x)).abs() / reach);
                }
            }
        }
        worst
    }

    #[test]
    fn ten_thousand_reaches_away_distances_are_as_near_the_origin() {
        for reach in [3e-7, 0.011, 0.125, 42.0] {
            let scale = CompactScale::within(reach, &PeriodicBoundaries::open());
            assert!(worst(&scale, reach) < 1.5e-8, "{reach}: {:e}", worst(&scale, reach));
        }
    }

    #[test]
    fn a_period_of_any_length_leads_to_the_nearest_image() {
        let reach = 0.1;
        // Between two and a hundred reaches: below the least span, and not a whole number of them.
        for period in [0.41, 0.79, 0.8, 1.33, 9.97] {
            let length = Vector3 {
                x: period,
                y: period,
                z: period,
            };
            let sides = PeriodicBoundaries {
                low: Vector3::zero(),
                length,
                ..PeriodicBoundaries::open()
            };
            let scale = CompactScale::within(reach, &sides);
            let at = |x: f64| compact_position::<f64, f64>(&Vector3 { x, y: 0.0, z: 0.0 }, &scale);
            for (a, b, expected) in [(period - 0.03, 0.05, -0.08), (0.05, period - 0.03, 0.08), (0.11, 0.2, -0.09)] {
                let apart = compact_apart::<f64, f64>(&at(a), &at(b), &scale).x;
                assert!((apart - expected).abs() < 1.5e-8 * reach, "{period}: {apart}");
            }
        }
    }

    #[test]
    fn the_distance_back_is_exactly_opposite() {
        let scale = CompactScale::within(0.3, &PeriodicBoundaries::open());
        let at = |x: f64| compact_position::<f64, f64>(&Vector3 { x, y: -x, z: 0.0 }, &scale);
        for x in [0.0, 0.1, -7.3, 1234.5] {
            let there = compact_apart::<f64, f64>(&at(x), &at(x + 0.2), &scale);
            let back = compact_apart::<f64, f64>(&at(x + 0.2), &at(x), &scale);
            assert_eq!(there, back.times(-1.0));
        }
    }
}
