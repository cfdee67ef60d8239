//! Integration of one grain over one time step.
//!
//! All schemes store a velocity, change it by v ← v + a Δt, and move the grain with it. They differ in three points, see [`Scheme`].
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::motion::{drift, kick};
//! let (gravity, dt) = (Vector3 { x: 0.0, y: 0.0, z: -9.81 }, 0.01);
//! let (mut position, mut velocity) = (Vector3::zero(), kick::<f64, f64>(&Vector3::zero(), &gravity, 0.5 * dt));
//! for _ in 0..100 {
//!     position = drift::<f64>(&position, &velocity, dt);
//!     velocity = kick::<f64, f64>(&velocity, &gravity, dt);
//! }
//! // In one second a body falls ½ g. Leap-frog, which begins with half a kick, has no error in free fall.
//! assert!((position.z + 0.5 * 9.81).abs() < 1e-12);
//! ```

pub mod gear;

use crate::real::{Coordinate, Real};
use crate::vector::{Vector3, widened};
use cubecl::prelude::*;

/// One leap-frog step of a translational or angular velocity \[PUC-Rio 2009\]. The velocity is stored at half steps: v^{t+Δt/2} = v^{t−Δt/2} + a^t
/// Δt.
#[cube]
#[inline(always)]
pub fn kick<C: Coordinate<R>, R: Real>(half_velocity: &Vector3<C>, acceleration: &Vector3<R>, dt: R) -> Vector3<C> {
    half_velocity.plus(&widened::<C, R>(&acceleration.times(dt)))
}

/// Position after one leap-frog step \[PUC-Rio 2009\]: x^{t+Δt} = x^t + v^{t+Δt/2} Δt.
#[cube]
#[inline(always)]
pub fn drift<C: Real>(position: &Vector3<C>, half_velocity: &Vector3<C>, dt: C) -> Vector3<C> {
    position.plus(&half_velocity.times(dt))
}

/// The stored velocity extrapolated by a time `ahead`, with the last known acceleration. Leap-frog stores v^{t−Δt/2}. Half a step ahead it is
/// v^t ≈ v^{t−Δt/2} + a Δt/2, with an error of second order in Δt.
#[cube]
#[inline(always)]
pub fn velocity_ahead<R: Real>(kept: &Vector3<R>, acceleration: &Vector3<R>, ahead: R) -> Vector3<R> {
    kept.plus(&acceleration.times(ahead))
}

/// An explicit scheme of integration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Velocities at half steps \[PUC-Rio 2009\]; laws read them extrapolated to the whole step. Of second order, also with damping and friction.
    #[default]
    Leapfrog,
    /// Velocities at half steps, which laws read as they are: velocity Verlet as in most codes, x^{t+Δt} = x + v Δt + ½ a Δt². Forces use the new
    /// position and the velocity of the half step. Of second order, but of first order if forces depend on velocity.
    VelocityVerlet,
    /// v^{t+Δt} = v^t + a^t Δt, x^{t+Δt} = x^t + v^{t+Δt} Δt. Of first order; the energy stays bounded.
    SymplecticEuler,
    /// v^{t+Δt} = v^t + a^t Δt, x^{t+Δt} = x^t + v^t Δt \[ME964 2011\]. Of first order; springs gain energy.
    ExplicitEuler,
    /// Gear's predictor and corrector of five values, see [`gear`], with coefficients for forces that depend on velocities \[PUC-Rio n.d.\].
    Gear,
    /// Gear's method with coefficients for forces that depend on positions only.
    GearOfPlaces,
}

impl Scheme {
    /// All schemes with their keywords in a scene.
    pub const ALL: [(Scheme, &'static str); 6] = [
        (Scheme::Leapfrog, "leapfrog"),
        (Scheme::VelocityVerlet, "velocity_verlet"),
        (Scheme::SymplecticEuler, "symplectic_euler"),
        (Scheme::ExplicitEuler, "explicit_euler"),
        (Scheme::Gear, "gear"),
        (Scheme::GearOfPlaces, "gear_of_places"),
    ];

    /// Share of a step by which the velocity that laws read is ahead of the stored one \[-\].
    pub fn reads_ahead(self) -> f64 {
        if self == Scheme::Leapfrog { 0.5 } else { 0.0 }
    }

    /// Share of a step by which the velocity at the whole step is ahead of the stored one \[-\].
    pub fn velocity_lead(self) -> f64 {
        match self {
            Scheme::Leapfrog | Scheme::VelocityVerlet => 0.5,
            Scheme::SymplecticEuler | Scheme::ExplicitEuler | Scheme::Gear | Scheme::GearOfPlaces => 0.0,
        }
    }

    /// α₀ of Gear's method for forces that depend on velocities \[-\].
    pub const GEAR: f64 = 19.0 / 90.0;

    /// α₀ of a predictor–corrector scheme \[-\]; `None` for other schemes.
    pub fn corrects(self) -> Option<f64> {
        match self {
            Scheme::Gear => Some(Scheme::GEAR),
            Scheme::GearOfPlaces => Some(19.0 / 120.0),
            _ => None,
        }
    }

    /// 1 if grains move with the velocity before its update, else 0.
    pub fn lag(self) -> f64 {
        if self == Scheme::ExplicitEuler { 1.0 } else { 0.0 }
    }
}

/// Local non-viscous damping \[PUC-Rio 2009\]: f_d = −α |f| v/|v|, zero at v = 0. It also serves torques with the angular velocity.
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
