//! Damping ratio from a coefficient of restitution, by integration of the collision.
//!
//! ```
//! use seixo_laws::contact::restitution::{Spring, damping_ratio, restitution};
//! use std::f64::consts::PI;
//! // Without damping a grain leaves as fast as it came.
//! assert!((restitution(Spring::Hertz, 0.0) - 1.0).abs() < 1e-6);
//! // A linear contact lasts half a period of the oscillator, in which a weak damping leaves exp(−πζ).
//! assert!((restitution(Spring::Hooke, 0.01) - (-0.01 * PI).exp()).abs() < 1e-3);
//! // The damping ratio for a restitution gives that restitution.
//! assert!((restitution(Spring::Hertz, damping_ratio(Spring::Hertz, 0.7)) - 0.7).abs() < 1e-6);
//! ```

/// The spring of a normal law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spring {
    /// F = k δ.
    Hooke,
    /// F ∝ δ^{3/2}.
    Hertz,
}

/// The smallest restitution for which a damping ratio is found \[-\]. Below it the dashpot is too stiff for steps of 1e-3 of the collision time, and
/// the rebound speed is negligible.
pub const MIN_RESTITUTION: f64 = 1e-6;

/// Restitution of the collision δ̈ = −max(f(δ) + 2 ζ √f′(δ) δ̇, 0), δ(0) = 0, δ̇(0) = 1, in units of the pair's mass and stiffness. The dashpot is
/// the share ζ of critical damping at every overlap, and the bodies never attract each other. The result is independent of speed, mass, radius and
/// stiffness (\[Thornton 2013\]; \[Schwager 2007\] for Hooke).
pub fn restitution(spring: Spring, damping_ratio: f64) -> f64 {
    let force = |overlap: f64, speed: f64| {
        let overlap = overlap.max(0.0);
        let (elastic, slope) = match spring {
            Spring::Hooke => (overlap, 1.0),
            Spring::Hertz => (overlap * overlap.sqrt(), 1.5 * overlap.sqrt()),
        };
        (elastic + 2.0 * damping_ratio * slope.sqrt() * speed).max(0.0)
    };
    // Fourth-order Runge–Kutta. A collision lasts about 3 units of time, longer with damping.
    let dt = 1e-3;
    let (mut overlap, mut speed) = (0.0f64, 1.0f64);
    loop {
        let a1 = -force(overlap, speed);
        let (x2, v2) = (overlap + 0.5 * dt * speed, speed + 0.5 * dt * a1);
        let a2 = -force(x2, v2);
        let (x3, v3) = (overlap + 0.5 * dt * v2, speed + 0.5 * dt * a2);
        let a3 = -force(x3, v3);
        let (x4, v4) = (overlap + dt * v3, speed + dt * a3);
        let a4 = -force(x4, v4);
        overlap += dt / 6.0 * (speed + 2.0 * v2 + 2.0 * v3 + v4);
        speed += dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
        if overlap <= 0.0 || (speed < 0.0 && force(overlap, speed) == 0.0) || speed.abs() < 1e-9 && overlap < 1e-9 {
            return -speed;
        }
    }
}

/// The damping ratio ζ for the restitution e, [`MIN_RESTITUTION`] ≤ e ≤ 1: the inverse of [`restitution`], by bisection.
///
/// # Panics
/// If e is out of range. Scenes and worlds are checked before.
pub fn damping_ratio(spring: Spring, e: f64) -> f64 {
    assert!(
        (MIN_RESTITUTION..=1.0).contains(&e),
        "restitution {e} is not from {MIN_RESTITUTION} to 1"
    );
    if e == 1.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while restitution(spring, high) > e {
        high *= 2.0;
    }
    while high - low > 1e-9 * high {
        let middle = 0.5 * (low + high);
        if restitution(spring, middle) > e {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
