//! Particle shifting: a drift from dense to sparse places, in addition to the velocity.
//!
//! A flow that stretches its particles in one direction and compresses them in another leaves lines of particles and voids. There, sums over
//! neighbors no longer approximate derivatives. V₀ is the volume at rest, h the smoothing length, U the largest expected speed, and Δ the spacing. A
//! particle drifts with
//!
//! δu_i = −h U Σ_j (V_i V_j/V₀) (1 + 0.2 (W/W(Δ))⁴) ∇W,
//!
//! at most with U/2 (\[Lind 2012\], scaled and bounded by the largest expected speed as in \[Sun 2019\], with a quarter of its strength).
//!
//! The drifts of a pair are opposite. So the mean position of all fluid stays, except for the effect of walls and of the bound. The particle moves
//! with v + δu, and its density follows that velocity. Its own velocity v is that of the fluid at its position. So it takes momentum from the fluid
//! that the drift carries past it:
//!
//! m_i (dv/dt)_i += ½ Σ_j ρ V_i V_j ((δu_i + δu_j)·∇W) (v_j − v_i), which is ρ V (δu·∇)v (\[Oger 2016\], with the mass of each particle constant).
//! Without this term, shifted particles carry momentum across the flow, as viscosity does.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::fluid::shifting::{bounded, drift_by, shifting};
//! use seixo_laws::fluid::{Separation, Smoothing, Space};
//! let (smoothing, space) = (Smoothing::Wendland, Space::Volume);
//! let (rule, smoother) = (shifting(smoothing, space, 0.3, 0.1, 2.0), smoothing.smoother(0.3, space));
//! let along = |x: f64| Vector3 { x, y: 0.0, z: 0.0 };
//! let drift = |x: f64| drift_by::<f64>(&Separation::by(&along(x), &smoother), 1e-6, &rule, &smoother, smoothing);
//! // Two particles drift apart with opposite velocities, at most with half of the largest expected speed.
//! assert!(drift(0.1).x > 0.0 && drift(0.1).x == -drift(-0.1).x);
//! assert!((bounded::<f64>(&along(50.0), &rule).length() - 1.0).abs() < 1e-12);
//! ```

use super::{Separation, Smoother, Smoothing, Space};
use crate::real::Real;
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Bound of the drift, over the largest expected speed \[-\].
const MAX: f64 = 0.5;

/// Coefficients of particle shifting, derived once on the host.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug, PartialEq)]
pub struct Shifting<R: Real> {
    /// h U/V₀ \[1/(m s)\].
    pub strength: R,
    /// 1/W(Δ) \[m³\].
    pub per_weight: R,
    /// Largest drift \[m/s\].
    pub most: R,
}

/// Particle shifting for this smoothing function, support \[m\], spacing \[m\] and largest expected speed `fastest` \[m/s\].
pub fn shifting(smoothing: Smoothing, space: Space, support: f64, spacing: f64, fastest: f64) -> Shifting<f64> {
    let smoother = smoothing.smoother(support, space);
    let volume = match space {
        Space::Volume => spacing.powi(3),
        Space::Plane => spacing.powi(2),
    };
    Shifting {
        strength: 0.5 * support * fastest / volume,
        per_weight: 1.0 / smoother.value(spacing, smoothing),
        most: MAX * fastest,
    }
}

/// Contribution of another particle to the drift of one \[m/s\]. `volumes` is the product of their volumes \[m⁶\]; the other drift is opposite.
#[cube]
#[inline(always)]
pub fn drift_by<R: Real>(
    apart: &Separation<R>,
    volumes: R,
    shifting: &Shifting<R>,
    smoother: &Smoother<R>,
    #[comptime] smoothing: Smoothing,
) -> Vector3<R> {
    let distance = apart.square * apart.per_distance;
    let near = smoother.value(distance, smoothing) * shifting.per_weight;
    let square = near * near;
    let crowd = R::new(1.0) + R::new(0.2) * square * square;
    apart
        .vector
        .times(-(shifting.strength * volumes * crowd * smoother.slope(distance, smoothing)))
}

/// The drift limited to the bound \[m/s\].
#[cube]
#[inline(always)]
pub fn bounded<R: Real>(drift: &Vector3<R>, shifting: &Shifting<R>) -> Vector3<R> {
    let speed = drift.length();
    let mut share = R::new(1.0);
    if speed > shifting.most {
        share = shifting.most / speed;
    }
    drift.times(share)
}

/// Momentum per time that particle i takes from j by the drift \[N\]. `product` is ρ V_i V_j \[kg m³\], and the other arguments are the sum of both
/// drifts and v_j − v_i \[m/s\].
#[cube]
#[inline(always)]
pub fn taken_up<R: Real>(
    apart: &Separation<R>,
    product: R,
    drifts: &Vector3<R>,
    faster: &Vector3<R>,
    smoother: &Smoother<R>,
    #[comptime] smoothing: Smoothing,
) -> Vector3<R> {
    let slope = smoother.slope(apart.square * apart.per_distance, smoothing);
    faster.times(R::new(0.5) * product * slope * drifts.dot(&apart.vector))
}

#[cfg(test)]
mod tests {
    use super::*;

    type V = Vector3<f64>;

    /// Spacing \[m\].
    const SPACING: f64 = 0.1;
    /// Largest expected speed \[m/s\].
    const FASTEST: f64 = 3.0;

    fn in_plane(x: f64, z: f64) -> V {
        V { x, y: 0.0, z }
    }

    /// Drift \[m/s\] of a particle at this position in a plane, among the other particles of a square lattice. The lattice site at zero is its own.
    fn drift_at(place: &V) -> V {
        let smoothing = Smoothing::Wendland;
        let (shifting, smoother) = (
            shifting(smoothing, Space::Plane, 3.0 * SPACING, SPACING, FASTEST),
            smoothing.smoother(3.0 * SPACING, Space::Plane),
        );
        let others = (-4..=4).flat_map(|i| (-4..=4).map(move |k| (i, k))).filter(|site| *site != (0, 0));
        let sum = others.fold(V::zero(), |sum, (i, k)| {
            let other = in_plane(SPACING * f64::from(i), SPACING * f64::from(k));
            let apart = Separation::by(&place.minus(&other), &smoother);
            sum.plus(&drift_by(&apart, SPACING.powi(4), &shifting, &smoother, smoothing))
        });
        bounded(&sum, &shifting)
    }

    #[test]
    fn particles_of_a_lattice_stay_and_one_that_is_off_its_site_comes_back() {
        // Sums of opposite numbers, of the order of the largest expected speed.
        assert!(drift_at(&V::zero()).length() < 1e-14 * FASTEST);
        for (x, z) in [(0.01, 0.0), (0.02, -0.03), (-0.03, 0.005)] {
            let off = in_plane(x, z);
            let back = drift_at(&off);
            assert!(
                back.dot(&off) < -0.9 * back.length() * off.length() && back.length() > 0.0,
                "{off:?} {back:?}"
            );
        }
    }

    #[test]
    fn no_drift_is_faster_than_half_of_the_flow() {
        let shifting = shifting(Smoothing::Wendland, Space::Plane, 3.0 * SPACING, SPACING, FASTEST);
        let slow = in_plane(0.3, -0.4);
        assert_eq!(bounded(&slow, &shifting), slow);
        let fast = bounded(&slow.times(100.0), &shifting);
        // Only a few rounding errors.
        assert!((fast.length() - 0.5 * FASTEST).abs() < 1e-14 * FASTEST, "{fast:?}");
        assert!(fast.cross(&slow).length() < 1e-14 * FASTEST, "{fast:?}");
    }

    #[test]
    fn what_two_do_to_each_other_is_opposite() {
        let smoothing = Smoothing::Wendland;
        let shifting = shifting(smoothing, Space::Volume, 3.0 * SPACING, SPACING, FASTEST);
        let smoother = smoothing.smoother(3.0 * SPACING, Space::Volume);
        let there = V {
            x: 0.03,
            y: -0.11,
            z: 0.07,
        };
        let [mine, its] = [there.times(1.0), there.times(-1.0)]
            .map(|apart| drift_by(&Separation::by(&apart, &smoother), 1.1e-6, &shifting, &smoother, smoothing));
        assert_eq!(mine, its.times(-1.0));
        // Away from each other.
        assert!(mine.dot(&there) > 0.0);
    }
}
