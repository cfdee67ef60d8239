//! Rolling resistance.
//!
//! - `constant`: a torque μ_r R* F_n against rolling (model A of \[Ai 2011\]).
//! - `elastic_plastic`: a spring k_r = 2.25 k_n (μ_r R*)² with a dashpot and a slider at μ_r R* F_n (model C of \[Ai 2011\]; k_r after
//!   \[Jiang 2005\]).
//!
//! F_n is the load on the surfaces including attraction, as for friction.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::contact::rolling::{RotationResistance, constant};
//! let torque = |spin: f64| {
//!     let (velocity, stored) = (Vector3 { x: spin, y: 0.0, z: 0.0 }, Vector3::zero());
//!     let turning = RotationResistance { velocity, stored, load: 2.0, arm: 1e-3, normal_stiffness: 1e4, inertia: 1e-7 };
//!     constant::<f64>(&turning, 1e-5).force.x
//! };
//! // As friction of solids, the torque opposes the motion and does not depend on its rate. A grain at rest feels none.
//! assert!((torque(10.0) + 2e-3).abs() < 1e-12 && (torque(-20.0) - 2e-3).abs() < 1e-12);
//! assert_eq!(torque(0.0), 0.0);
//! ```

use super::{ExtendedCoefficients, RollingLaw, SliderResponse, restrain};
use crate::real::{Real, larger, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Largest share of a relative angular velocity that a constant torque takes in one step \[-\]. Without this limit it would reverse the rotation of a
/// grain at rest. Laws read angular velocities extrapolated by half a step. So a grain at rest is stable while the shares of all its contacts add up
/// to less than 1. Each share counts times the effective inertia over the grain's own. With 12 equal neighbors the sum is 0.75.
const SHARE_PER_STEP: f32 = 0.125;
/// Moment of inertia of a sphere about a point of its surface over that about its center, 7/5 over 2/5 \[-\].
const ABOUT_CONTACT: f32 = 3.5;

/// Rotation to be resisted, with the parameters of the resistance.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct RotationResistance<R: Real> {
    /// ω_i − ω_j, or the component that is resisted \[rad/s\].
    pub velocity: Vector3<R>,
    /// Torque of the spring on i half a step ago \[N m\].
    pub stored: Vector3<R>,
    /// Load on the surfaces \[N\].
    pub load: R,
    /// μ R*: lever arm of the limiting torque \[m\].
    pub arm: R,
    /// Tangent stiffness of the normal law \[N/m\].
    pub normal_stiffness: R,
    /// Effective moment of inertia of the two about their centers \[kg m²\].
    pub inertia: R,
}

/// A torque of constant magnitude against the rotation, smaller if it would stop the rotation within the step.
#[cube]
#[inline(always)]
pub fn constant<R: Real>(turning: &RotationResistance<R>, dt: R) -> SliderResponse<R> {
    let square = turning.velocity.dot(&turning.velocity);
    let inverse = R::inverse_root(larger::<R>(square, R::new(1.0e-37)));
    let most = R::new(SHARE_PER_STEP) * turning.inertia / dt;
    let factor = smaller::<R>(turning.arm * turning.load * inverse, most);
    SliderResponse::<R> {
        force: turning.velocity.times(-factor),
        next: Vector3::<R>::zero(),
        power: factor * square,
        damping_power: R::new(0.0),
    }
}

/// Stiffness of the rolling spring \[N m/rad\].
#[cube]
#[inline(always)]
pub fn stiffness<R: Real>(normal_stiffness: R, arm: R) -> R {
    R::new(2.25) * normal_stiffness * arm * arm
}

/// A spring with a dashpot and a slider.
#[cube]
#[inline(always)]
pub fn elastic_plastic<R: Real>(turning: &RotationResistance<R>, damping_ratio: R, dt: R) -> SliderResponse<R> {
    let stiffness = stiffness::<R>(turning.normal_stiffness, turning.arm);
    let dashpot = R::new(2.0) * damping_ratio * R::root(stiffness * turning.inertia * R::new(ABOUT_CONTACT));
    let limit = turning.arm * turning.load;
    restrain::<R>(&turning.stored, &turning.velocity, stiffness, dashpot, limit, dt)
}

/// Rolling resistance by the pair's law.
#[cube]
#[inline(always)]
pub fn resist<R: Real>(turning: &RotationResistance<R>, extended_coefficients: &ExtendedCoefficients<R>, dt: R) -> SliderResponse<R> {
    let mut all = SliderResponse::<R> {
        force: Vector3::<R>::zero(),
        next: Vector3::<R>::zero(),
        power: R::new(0.0),
        damping_power: R::new(0.0),
    };
    if extended_coefficients.rolling_law == R::new(RollingLaw::CONSTANT) {
        all = constant::<R>(turning, dt);
    }
    if extended_coefficients.rolling_law == R::new(RollingLaw::ELASTIC_PLASTIC) {
        all = elastic_plastic::<R>(turning, extended_coefficients.rolling_damping, dt);
    }
    all
}
