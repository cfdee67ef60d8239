//! Surface tension by forces between pairs \[Tartakovsky 2005\]: neighbors pull each other from afar and push each
//! other away when near, so inside a fluid all cancels, and at a surface something is left.
//!
//! With q = r/H the potential of a pair is U(r), zero from the support H on, and
//!
//! U′/r = pull (1 − q)⁴ (1 + 4q) − push (1 − q)⁷ (1 + 7q + 16q²).
//!
//! Both parts are Wendland's functions \[Wendland 1995\]. Of a dozen pairs of such functions, this one lets drops flow best: the
//! Fourier transform of U has its largest value at a wavelength of H and nowhere one below −10⁻⁵ of that, so that particles do not stand in heaps,
//! and little is left of it at the wavelength of a spacing, so that they do not hold each other in a lattice. The two strengths follow from two
//! conditions, with n = 1/Δᵈ particles to a volume, spread evenly:
//!
//! - No pressure by itself, ∫ rᵈ U′ dr = 0: a drop rests at its rest density, and its pressure is that of the equation of state. By parts, the
//!   energy of what has neighbors all around is none either, so what is stored is that of surfaces.
//! - The work that parts two halves is that of two surfaces
//!   \[Fowler 1937; Rowlinson 1982, ch. 1; Tartakovsky 2016\]: of −½ n² U for each pair across, summed up,
//!   γ = (π/8) n² ∫ r⁴ U′ dr in space and γ = ⅓ n² ∫ r³ U′ dr in a plane.
//!
//! That is not yet the tension of a drop. In the layer at its surface pull and push do not balance; pressure falls there until they do, and as it is
//! smoothed over H, that pulls along the surface, too: what drops have is [`layer`] times γ. With supports so long that sums are integrals it would
//! be 1.5.

use super::Space;
use crate::real::Real;
use cubecl::prelude::*;
use std::f64::consts::PI;

/// Cosine of the contact angle at a wall that neither pulls nor pushes, and what all of the fluid's own strength adds to it. By Young's law and the
/// works above they would be −1 and 2 \[Tartakovsky 2016\]; the layer at the surface moves both. Measured on drops in a plane that rest on
/// a wall, between 30° and 130°.
const COSINE_BY_WALL: [f64; 2] = [-0.48, 1.1];

/// Tension over what the work between pairs alone would give, [`Space::Volume`] first: measured by the pressure in drops at rest with radii of 9 to
/// 24 spacings and supports of 4 to 6.
const LAYER: [f64; 2] = [1.25, 1.4];

/// What multiplies the tension of evenly spread pairs: the share of the layer at the surface in which the pressure is lower.
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

/// How strongly pairs of particles pull and push \[N/m\], per meter of depth in a plane, for a surface tension \[N/m\], a support \[m\], and
/// particles that are a spacing \[m\] apart.
pub fn strengths(tension: f64, support: f64, spacing: f64, space: Space) -> [f64; 2] {
    let (ratio, d) = (support / spacing, if space == Space::Volume { 3 } else { 2 });
    let [pulled, pushed] = moments(d + 1);
    let push_over_pull = pulled / pushed;
    let [pulled, pushed] = moments(d + 2);
    let left = pulled - push_over_pull * pushed;
    // n² ∫ r^{d+1} U′ dr over the pull.
    let per_pull = match space {
        Space::Volume => PI / 8.0 * ratio.powi(6) * left,
        Space::Plane => ratio.powi(4) * support * left / 3.0,
    };
    let pull = tension / (layer(space) * per_pull);
    [pull, push_over_pull * pull]
}

/// Share of its strength with which a fluid and a wall that it meets at this angle \[rad\] act on each other; below zero they push each other away
/// from afar.
pub fn share_of_wall(contact_angle: f64) -> f64 {
    let [alone, of_fluid] = COSINE_BY_WALL;
    (contact_angle.cos() - alone) / of_fluid
}

/// U′/r at a share q ≤ 1 of the support; above zero the two pull each other.
#[cube]
#[inline(always)]
pub fn slope<R: Real>(q: R, pull: R, push: R) -> R {
    let left = R::new(1.0) - q;
    let square = left * left;
    let near = square * left * (R::new(1.0) + q * (R::new(7.0) + R::new(16.0) * q));
    square * square * (pull * (R::new(1.0) + R::new(4.0) * q) - push * near)
}

/// U/H² at a share q ≤ 1 of the support.
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
