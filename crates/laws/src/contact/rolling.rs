//! Resistance to rolling. `constant`: a torque μ_r R* F_n against the rolling (model A of
//! \[Ai 2011\]). `elastic_plastic`: a spring k_r = 2.25 k_n (μ_r R*)² with dashpot behind a slider at μ_r R* F_n (model C there; k_r after
//! \[Jiang 2005\]). F_n is what presses the surfaces together, attraction included, as for friction.

use super::{Restraint, Supplement, restrain};
use crate::real::{Real, larger, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Share of a relative spin that a constant torque may take in one step: without a limit it would turn the spin around at rest. Laws read
/// spins that are extrapolated by half a step, so a grain at rest is stable while the shares of all its contacts add up to less than 1,
/// each times the reduced over the grain's own inertia: with 12 equal neighbors to 0.75.
const SHARE_PER_STEP: f32 = 0.125;
/// Moment of inertia of a sphere about a point of its surface over that about its center, 7/5 to 2/5.
const ABOUT_CONTACT: f32 = 3.5;

/// What resists a relative angular velocity.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Turning<R: Real> {
    /// ω_i − ω_j, or the part of it that is resisted \[rad/s\].
    pub velocity: Vector3<R>,
    /// Torque of the spring half a step ago, on i \[N m\].
    pub stored: Vector3<R>,
    /// Force that presses the surfaces together \[N\].
    pub load: R,
    /// μ R*: the arm of the limiting torque \[m\].
    pub arm: R,
    /// Tangent stiffness of the normal law \[N/m\].
    pub normal_stiffness: R,
    /// Reduced moment of inertia of the two about their centers \[kg m²\].
    pub inertia: R,
}

/// A torque of constant size against the motion, less where it would stop it within the step.
#[cube]
#[inline(always)]
pub fn constant<R: Real>(turning: &Turning<R>, dt: R) -> Restraint<R> {
    let square = turning.velocity.dot(&turning.velocity);
    let inverse = R::inverse_root(larger::<R>(square, R::new(1.0e-37)));
    let most = R::new(SHARE_PER_STEP) * turning.inertia / dt;
    let factor = smaller::<R>(turning.arm * turning.load * inverse, most);
    Restraint::<R> {
        force: turning.velocity.times(-factor),
        next: Vector3::<R>::zero(),
        power: factor * square,
        damping_power: R::new(0.0),
    }
}

/// Stiffness of the spring against rolling \[N m/rad\].
#[cube]
#[inline(always)]
pub fn stiffness<R: Real>(normal_stiffness: R, arm: R) -> R {
    R::new(2.25) * normal_stiffness * arm * arm
}

/// A spring with dashpot behind a slider.
#[cube]
#[inline(always)]
pub fn elastic_plastic<R: Real>(turning: &Turning<R>, damping_ratio: R, dt: R) -> Restraint<R> {
    let stiffness = stiffness::<R>(turning.normal_stiffness, turning.arm);
    let dashpot = R::new(2.0) * damping_ratio * R::root(stiffness * turning.inertia * R::new(ABOUT_CONTACT));
    let limit = turning.arm * turning.load;
    restrain::<R>(&turning.stored, &turning.velocity, stiffness, dashpot, limit, dt)
}

/// The pair's law against rolling.
#[cube]
#[inline(always)]
pub fn resist<R: Real>(turning: &Turning<R>, supplement: &Supplement<R>, dt: R) -> Restraint<R> {
    let mut all = Restraint::<R> {
        force: Vector3::<R>::zero(),
        next: Vector3::<R>::zero(),
        power: R::new(0.0),
        damping_power: R::new(0.0),
    };
    if supplement.rolling_law == R::new(1.0) {
        all = constant::<R>(turning, dt);
    }
    if supplement.rolling_law == R::new(2.0) {
        all = elastic_plastic::<R>(turning, supplement.rolling_damping, dt);
    }
    all
}
