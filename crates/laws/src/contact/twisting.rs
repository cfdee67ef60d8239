//! Twisting resistance: resistance to rotation of a contact about its own normal.
//!
//! - `constant` and `elastic_plastic`: as for rolling, with a coefficient of their own.
//! - `marshall`: friction on a contact disk of radius a, with a spring k = ½ k_t a², a dashpot ½ c_t a² and a limit 2/3 a μ F_n
//!   \[Marshall 2009, eqs. 31 and 33\].
//!
//! ```
//! use seixo_laws::contact::twisting::stiffness_of_disk;
//! let (radius, stiffness) = (0.3, 100.0);
//! let step = radius / 1000.0;
//! let ring = |k: u32| {
//!     let r = (f64::from(k) + 0.5) * step;
//!     stiffness * (2.0 * r * step / (radius * radius)) * r * r
//! };
//! // Each ring of the disk has a share of the tangential stiffness by its area, and its radius as lever arm.
//! assert!(((0..1000).map(ring).sum::<f64>() / stiffness_of_disk::<f64>(radius, stiffness) - 1.0).abs() < 1e-5);
//! ```

use super::rolling::{RotationResistance, constant, elastic_plastic};
use super::{ExtendedCoefficients, SliderResponse, TwistingLaw, restrain};
use crate::real::Real;
use crate::vector::Vector3;
use cubecl::prelude::*;

/// The contact disk with the parameters of its tangential forces.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ContactDisk<R: Real> {
    /// Radius a \[m\].
    pub radius: R,
    /// Tangential stiffness k_t \[N/m\].
    pub stiffness: R,
    /// Tangential dashpot c_t \[N s/m\].
    pub dashpot: R,
    /// Largest tangential force μ F_n \[N\].
    pub limit: R,
}

/// Stiffness of the twisting spring of the disk \[N m/rad\].
#[cube]
#[inline(always)]
pub fn stiffness_of_disk<R: Real>(radius: R, tangential_stiffness: R) -> R {
    R::new(0.5) * tangential_stiffness * radius * radius
}

/// Twisting resistance by the pair's law.
#[cube]
#[inline(always)]
pub fn resist<R: Real>(
    turning: &RotationResistance<R>,
    disk: &ContactDisk<R>,
    extended_coefficients: &ExtendedCoefficients<R>,
    dt: R,
) -> SliderResponse<R> {
    let mut all = SliderResponse::<R> {
        force: Vector3::<R>::zero(),
        next: Vector3::<R>::zero(),
        power: R::new(0.0),
        damping_power: R::new(0.0),
    };
    if extended_coefficients.twisting_law == R::new(TwistingLaw::CONSTANT) {
        all = constant::<R>(turning, dt);
    }
    if extended_coefficients.twisting_law == R::new(TwistingLaw::ELASTIC_PLASTIC) {
        all = elastic_plastic::<R>(turning, extended_coefficients.rolling_damping, dt);
    }
    if extended_coefficients.twisting_law == R::new(TwistingLaw::MARSHALL) {
        let stiffness = stiffness_of_disk::<R>(disk.radius, disk.stiffness);
        let dashpot = R::new(0.5) * disk.dashpot * disk.radius * disk.radius;
        let limit = R::new(2.0) / R::new(3.0) * disk.radius * disk.limit;
        all = restrain::<R>(&turning.stored, &turning.velocity, stiffness, dashpot, limit, dt);
    }
    all
}
