//! Liquid films on grains, which share their liquid through contacts.
//!
//! A film covers the whole surface of its grain, so its volume is V = A h with A = 4 π R². Two films in contact even out their thicknesses h at the
//! rate λ of the pair: d(h_i − h_j)/dt = −λ (h_i − h_j). With the flow H (h_j − h_i) into film i, see [`crate::diffusion`], this needs
//! H (1/A_i + 1/A_j) = λ. Volume is conserved for any two sizes.
//!
//! ```
//! use seixo_laws::film::{SPHERE, film_area, film_conductance};
//! let (rate, radius_i, radius_j) = (0.5, 1e-3, 4e-3);
//! let conductance = film_conductance::<f64>(SPHERE * rate, radius_i, radius_j);
//! let [area_i, area_j] = [radius_i, radius_j].map(|radius| film_area::<f64>(SPHERE, radius));
//! // The difference of the thicknesses decays at the rate of the pair, also for unequal grains.
//! assert!((conductance / area_i + conductance / area_j - rate).abs() < 1e-12);
//! // A much larger neighbor is a reservoir: towards its thickness the film changes at the same rate.
//! assert!((film_conductance::<f64>(SPHERE * rate, radius_i, 1e6) / (rate * area_i) - 1.0).abs() < 1e-12);
//! ```

use crate::real::Real;
use cubecl::prelude::*;
use std::f64::consts::PI;

/// Area of a sphere over the square of its radius, 4 π \[-\].
pub const SPHERE: f64 = 4.0 * PI;

/// Area of the film on a grain of this radius, with [`SPHERE`] as `sphere` \[m²\]. It is the capacity of the diffusion: volume per thickness.
#[cube]
#[inline(always)]
pub fn film_area<R: Real>(sphere: R, radius: R) -> R {
    sphere * radius * radius
}

/// Conductance of the contact of two films, λ A_i A_j / (A_i + A_j) \[m²/s\], with `rate` = 4 π λ \[1/s\] and the radii of the grains.
#[cube]
#[inline(always)]
pub fn film_conductance<R: Real>(rate: R, radius_i: R, radius_j: R) -> R {
    let square_i = radius_i * radius_i;
    let square_j = radius_j * radius_j;
    rate * (square_i * (square_j / (square_i + square_j)))
}
