//! Integration of one grain over one time step.

use crate::real::{Coordinate, Real};
use crate::vector::{Vector3, widened};
use cubecl::prelude::*;

/// One leap-frog step of a translational or rotational velocity (S0): the velocity lives at half steps,
/// v^{t+Δt/2} = v^{t−Δt/2} + a^t Δt.
#[cube]
#[inline(always)]
pub fn kick<C: Coordinate<R>, R: Real>(half_velocity: &Vector3<C>, acceleration: &Vector3<R>, dt: R) -> Vector3<C> {
    half_velocity.plus(&widened::<C, R>(&acceleration.times(dt)))
}

/// Position after one leap-frog step (S0): x^{t+Δt} = x^t + v^{t+Δt/2} Δt.
#[cube]
#[inline(always)]
pub fn drift<C: Real>(position: &Vector3<C>, half_velocity: &Vector3<C>, dt: C) -> Vector3<C> {
    position.plus(&half_velocity.times(dt))
}

/// The velocity at the whole step that follows a half step, extrapolated with the last known acceleration: v^t ≈ v^{t−Δt/2} + a Δt/2.
/// Laws that depend on velocity read this one; its error is of second order in Δt.
#[cube]
#[inline(always)]
pub fn whole_step_velocity<R: Real>(half_velocity: &Vector3<R>, acceleration: &Vector3<R>, dt: R) -> Vector3<R> {
    half_velocity.plus(&acceleration.times(dt * R::new(0.5)))
}

/// Local non-viscous damping (S0): f_d = −α |f| v/|v|, zero where v is zero. Also for torques with the angular velocity.
#[cube]
#[inline(always)]
pub fn local_damping<R: Real>(force: &Vector3<R>, velocity: &Vector3<R>, alpha: R) -> Vector3<R> {
    let mut factor = R::new(0.0);
    if alpha > R::new(0.0) {
        let speed = velocity.length();
        if speed > R::new(0.0) {
            factor = -alpha * force.length() / speed;
        }
    }
    velocity.times(factor)
}

/// Kinetic energy ½ m v² \[J\].
#[cube]
#[inline(always)]
pub fn kinetic_energy<R: Real>(mass: R, velocity: &Vector3<R>) -> R {
    R::new(0.5) * mass * velocity.dot(velocity)
}

/// Rotational energy ½ I ω² of a solid sphere, I = 2/5 m R² \[J\].
#[cube]
#[inline(always)]
pub fn rotational_energy<R: Real>(mass: R, radius: R, angular_velocity: &Vector3<R>) -> R {
    R::new(0.5) * inertia::<R>(mass, radius) * angular_velocity.dot(angular_velocity)
}

/// Moment of inertia of a solid sphere, 2/5 m R² \[kg m²\].
#[cube]
#[inline(always)]
pub fn inertia<R: Real>(mass: R, radius: R) -> R {
    R::new(2.0) / R::new(5.0) * mass * radius * radius
}

/// Potential energy in gravity, −m g·x \[J\].
#[cube]
#[inline(always)]
pub fn gravity_energy<R: Real>(mass: R, gravity: &Vector3<R>, position: &Vector3<R>) -> R {
    -mass * gravity.dot(position)
}
