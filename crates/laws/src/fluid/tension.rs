//! Surface tension by pairwise forces \[Tartakovsky 2005\]. Neighbors attract each other at long range and repel at short range. So inside a fluid
//! the forces cancel, and at a surface a net force remains.
//!
//! With q = r/H the potential of a pair is U(r), zero from the support H on, and
//!
//! U′/r = pull (1 − q)⁴ (1 + 4q) − push (1 − q)⁷ (1 + 7q + 16q²).
//!
//! Both terms are Wendland's functions \[Wendland 1995\]. Of a dozen pairs of such functions, drops flow best with this one. The Fourier transform of
//! U has its maximum at a wavelength of H and is nowhere below −10⁻⁵ of it, so particles do not cluster. It is small at the wavelength of a spacing,
//! so particles do not lock into a lattice. With n = 1/Δᵈ evenly spread particles per volume, two conditions give the two strengths:
//!
//! - No own pressure, ∫ rᵈ U′ dr = 0: a drop rests at its rest density, and its pressure is that of the equation of state. By partial integration,
//!   particles with neighbors on all sides have no energy either. So the stored energy is that of surfaces.
//! - The work that separates two halves is that of two surfaces \[Fowler 1937; Rowlinson 1982, ch. 1; Tartakovsky 2016\]. The sum of −½ n² U over all
//!   pairs across gives γ = (π/8) n² ∫ r⁴ U′ dr in space and γ = ⅓ n² ∫ r³ U′ dr in a plane.
//!
//! The tension of a drop differs from γ. In its surface layer attraction and repulsion do not balance, and the pressure falls until they do. As the
//! pressure is smoothed over H, it also acts along the surface. So the tension of drops is [`layer`] times γ. With supports so long that sums become
//! integrals, the factor would be 1.5.
//!
//! ```
//! use seixo_laws::fluid::Space;
//! use seixo_laws::fluid::tension::{slope, strengths};
//! let [pull, push] = strengths(0.072, 0.3, 0.1, Space::Volume);
//! // Particles repel each other at short range and attract at long range, up to the support.
//! assert!(slope::<f64>(0.2, pull, push) < 0.0 && slope::<f64>(0.8, pull, push) > 0.0);
//! assert_eq!(slope::<f64>(1.0, pull, push), 0.0);
//! // Evenly spread in space, both balance: there is no own pressure.
//! let places = (0..1000).map(|k| (f64::from(k) + 0.5) / 1000.0);
//! assert!(places.map(|q: f64| q.powi(4) * slope::<f64>(q, pull, push)).sum::<f64>().abs() < 1e-9 * pull);
//! ```

use super::Space;
use crate::real::Real;
use cubecl::prelude::*;
use std::f64::consts::PI;

/// Cosine of the contact angle at a wall without attraction and repulsion, and its increase at the full strength of the fluid. By Young's law and the
/// works above they would be −1 and 2 \[Tartakovsky 2016\], but the surface layer changes both. Measured on drops at rest on a wall in a plane,
/// between 30° and 130°.
const COSINE_BY_WALL: [f64; 2] = [-0.48, 1.1];

/// Tension over the value from the work of pairs alone, [`Space::Volume`] first. Measured by the pressure in drops at rest, with radii of 9 to 24
/// spacings and supports of 4 to 6 spacings.
const LAYER: [f64; 2] = [1.25, 1.4];

/// Factor on the tension of evenly spread pairs, due to the lower pressure in the surface layer \[-\].
pub fn layer(space: Space) -> f64 {
    match space {
        Space::Volume => LAYER[0],
        Space::Plane => LAYER[1],
    }
}

/// ∫ q^{m−1} (1 − q)^{n−1} dq from 0 to 1, for whole m and n.
fn beta(m: u32, n: u32) -> f64 {
    (1..n).fold(1.0 / f64::from(m), |value, k| value * f64::from(k) / f64::from(m + k))
}

/// ∫ q^a (1 − q)⁴ (1 + 4q) dq and ∫ q^a (1 − q)⁷ (1 + 7q + 16q²) dq.
fn moments(a: u32) -> [f64; 2] {
    [
        beta(a + 1, 5) + 4.0 * beta(a + 2, 5),
        beta(a + 1, 8) + 7.0 * beta(a + 2, 8) + 16.0 * beta(a + 3, 8),
    ]
}

/// Strengths of attraction and repulsion \[N/m\], in a plane per meter of depth. Arguments are the surface tension \[N/m\], the support \[m\] and the
/// spacing \[m\].
pub fn strengths(tension: f64, support: f64, spacing: f64, space: Space) -> [f64; 2] {
    let (ratio, d) = (support / spacing, if space == Space::Volume { 3 } else { 2 });
    let [pulled, pushed] = moments(d + 1);
    let push_over_pull = pulled / pushed;
    let [pulled, pushed] = moments(d + 2);
    let left = pulled - push_over_pull * pushed;
    // n² ∫ r^{d+1} U′ dr over the attraction.
    let per_pull = match space {
        Space::Volume => PI / 8.0 * ratio.powi(6) * left,
        Space::Plane => ratio.powi(4) * support * left / 3.0,
    };
    let pull = tension / (layer(space) * per_pull);
    [pull, push_over_pull * pull]
}

/// Share of the strength of a fluid with which it and a wall act on each other, for this contact angle \[rad\]; negative values repel at long range
/// \[-\].
pub fn share_of_wall(contact_angle: f64) -> f64 {
    let [alone, of_fluid] = COSINE_BY_WALL;
    (contact_angle.cos() - alone) / of_fluid
}

/// U′/r at q ≤ 1; positive values attract.
#[cube]
#[inline(always)]
pub fn slope<R: Real>(q: R, pull: R, push: R) -> R {
    let left = R::new(1.0) - q;
    let square = left * left;
    let near = square * left * (R::new(1.0) + q * (R::new(7.0) + R::new(16.0) * q));
    square * square * (pull * (R::new(1.0) + R::new(4.0) * q) - push * near)
}

/// U/H² at q ≤ 1.
#[cube]
#[inline(always)]
pub fn potential<R: Real>(q: R, pull: R, push: R) -> R {
    let left = R::new(1.0) - q;
    let square = left * left;
    let fourth = square * square;
    let pulled = fourth * left * (R::new(1.0) - left * (R::new(1.5) - left * (R::new(4.0) / R::new(7.0))));
    let near = R::new(1.0) + q * (R::new(8.0) + q * (R::new(25.0) + R::new(32.0) * q));
    push * (fourth * fourth * near / R::new(22.0)) - pull * pulled
}
