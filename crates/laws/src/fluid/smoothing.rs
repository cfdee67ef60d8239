//! Smoothing functions W = σ w(q) with q = r/H, zero beyond the support H, and their derivatives.
//!
//! ```
//! use seixo_laws::fluid::{Smoothing, Space};
//! let (support, smoothing) = (0.3, Smoothing::Wendland);
//! let smoother = smoothing.smoother(support, Space::Volume);
//! let step = support / 1000.0;
//! let shell = |k: u32| {
//!     let r = (f64::from(k) + 0.5) * step;
//!     4.0 * std::f64::consts::PI * r * r * step * smoother.value(r, smoothing)
//! };
//! // The integral over space is one, and the function is zero beyond its support.
//! assert!(((0..1000).map(shell).sum::<f64>() - 1.0).abs() < 1e-6 && smoother.value(2.0 * support, smoothing) == 0.0);
//! ```

use super::{cubic_spline, poly6, spiky, viscosity, wendland};
use crate::real::{Real, smaller};
use cubecl::prelude::*;
use std::f64::consts::PI;

/// A smoothing function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Smoothing {
    /// Wendland's C2 function, without pairing instability.
    #[default]
    Wendland,
    /// The cubic spline of Monaghan & Lattanzio.
    CubicSpline,
    /// Müller's function for density.
    Poly6,
    /// Müller's function for pressure.
    Spiky,
    /// Müller's function for viscosity.
    Viscosity,
}

/// Number of dimensions of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Space {
    /// Three dimensions.
    #[default]
    Volume,
    /// Two dimensions: all quantities are per meter of depth.
    Plane,
}

impl Space {
    /// 2(d + 2): the coefficient α h c ρ₀ of an artificial viscosity over the equivalent viscosity in a shear flow (derived in
    /// docs/reference/fluids.md) \[-\].
    pub fn artificial_over_shear(self) -> f64 {
        let dimensions = match self {
            Space::Volume => 3.0,
            Space::Plane => 2.0,
        };
        2.0 * (dimensions + 2.0)
    }

    /// 2d(d + 2): twice the inverse of the mean of n_a² n_b² over all directions n.
    fn shear_over_fourth_moment(self) -> f64 {
        match self {
            Space::Volume => 30.0,
            Space::Plane => 16.0,
        }
    }
}

impl Smoothing {
    /// All functions that a scene may choose for a flow, with their keywords.
    pub const ALL: [(Smoothing, &'static str); 2] = [(Smoothing::Wendland, "wendland"), (Smoothing::CubicSpline, "cubic_spline")];

    /// σ for a support H \[m\]: 1/m³ in space, 1/m² in a plane.
    pub fn norm(self, support: f64, space: Space) -> f64 {
        let [in_space, in_plane] = match self {
            Smoothing::Wendland => wendland::NORM,
            Smoothing::CubicSpline => cubic_spline::NORM,
            Smoothing::Poly6 => poly6::NORM,
            Smoothing::Spiky => spiky::NORM,
            Smoothing::Viscosity => viscosity::NORM,
        };
        match space {
            Space::Volume => in_space / support.powi(3),
            Space::Plane => in_plane / support.powi(2),
        }
    }

    /// The function with its scale factors, with h = H/2.
    pub fn smoother(self, support: f64, space: Space) -> Smoother<f64> {
        let norm = self.norm(support, space);
        let mut smoother = Smoother {
            per_support: 1.0 / support,
            norm,
            slope_norm: norm / (support * support),
            softening: (1e-7 * support).powi(2),
            shear: 0.0,
        };
        smoother.shear = space.shear_over_fourth_moment() / smoother.fourth_moment(self, space);
        smoother
    }
}

/// Scale factors of a smoothing function.
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug, PartialEq)]
pub struct Smoother<R: Real> {
    /// 1/H \[1/m\].
    pub per_support: R,
    /// σ \[1/m³\], in a plane \[1/m²\].
    pub norm: R,
    /// σ/H².
    pub slope_norm: R,
    /// (10⁻⁷ H)² \[m²\]: keeps quotients by the distance bounded.
    pub softening: R,
    /// 2d(d + 2)/∫ W r⁴ dV in d dimensions \[1/m⁴\]: scales central viscous forces, see [`ViscousForce`](super::ViscousForce).
    pub shear: R,
}

impl Smoother<f64> {
    /// ∫ W r⁴ dV \[m⁴\], by Simpson's rule with a node where the pieces of the spline join. The error is of the order of 1/400⁴, below 10⁻⁹.
    fn fourth_moment(&self, smoothing: Smoothing, space: Space) -> f64 {
        const STEPS: u32 = 400;
        let step = 1.0 / (self.per_support * f64::from(STEPS));
        let shell = |r: f64| match space {
            Space::Volume => 4.0 * PI * r * r,
            Space::Plane => 2.0 * PI * r,
        };
        // The integrand is zero at both ends.
        let sum: f64 = (1..STEPS)
            .map(|k| {
                let r = step * f64::from(k);
                f64::from(2 + 2 * (k % 2)) * shell(r) * r.powi(4) * self.value(r, smoothing)
            })
            .sum();
        sum * step / 3.0
    }
}

#[cube]
impl<R: Real> Smoother<R> {
    /// W at a distance r \[m\]; zero beyond the support.
    #[inline(always)]
    pub fn value(&self, r: R, #[comptime] smoothing: Smoothing) -> R {
        let q = smaller::<R>(r * self.per_support, R::new(1.0));
        let mut value = wendland::value::<R>(q);
        if comptime!(smoothing == Smoothing::CubicSpline) {
            value = cubic_spline::value::<R>(q);
        }
        if comptime!(smoothing == Smoothing::Poly6) {
            value = poly6::value::<R>(q);
        }
        if comptime!(smoothing == Smoothing::Spiky) {
            value = spiky::value::<R>(q);
        }
        if comptime!(smoothing == Smoothing::Viscosity) {
            value = viscosity::value::<R>(q);
        }
        value * self.norm
    }

    /// W′/r at a distance r \[m\]; zero beyond the support.
    #[inline(always)]
    pub fn slope(&self, r: R, #[comptime] smoothing: Smoothing) -> R {
        let q = smaller::<R>(r * self.per_support, R::new(1.0));
        let mut slope = wendland::slope::<R>(q);
        if comptime!(smoothing == Smoothing::CubicSpline) {
            slope = cubic_spline::slope::<R>(q);
        }
        if comptime!(smoothing == Smoothing::Poly6) {
            slope = poly6::slope::<R>(q);
        }
        if comptime!(smoothing == Smoothing::Spiky) {
            slope = spiky::slope::<R>(q);
        }
        if comptime!(smoothing == Smoothing::Viscosity) {
            slope = viscosity::slope::<R>(q);
        }
        slope * self.slope_norm
    }
}
