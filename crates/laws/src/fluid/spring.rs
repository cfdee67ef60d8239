//! A spring and a damper between a particle of fluid and a sphere of a rigid body that overlap: so the two act on each other in
//! \[Silva 2010, § 5.3.5\], as grains do.
//!
//! - spring: f = k δ n (5.1), where δ is the sum of both radii less the distance, and n points from the sphere to the particle;
//! - damper: f = −η v (5.2), where v is the velocity of the particle over that of the sphere, along n and across.
//!
//! Both act on the particle, their opposite on the sphere. \[Silva 2010\] prints the signs for vectors from i to j; they are those with which overlap repels and
//! damping opposes the motion. Along n the two together never pull, as between grains: \[Silva 2010\] does not say what happens
//! to a pair that parts.

use crate::contact::restitution::{Spring, damping_ratio};
use crate::real::{Real, larger};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// What a spring and a damper do to a particle.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Pressed<R: Real> {
    /// Force \[N\].
    pub force: Vector3<R>,
    /// Power that the damper takes from the motion of the two \[W\].
    pub taken: R,
}

/// How deep a particle and a sphere overlap \[m\], the square of whose distance is given and that touch from the distance `reach` on; zero where they
/// do not.
#[cube]
#[inline(always)]
pub fn overlap<R: Real>(square: R, reach: R) -> R {
    larger::<R>(reach - R::root(square), R::new(0.0))
}

/// What the sphere does to the particle, which is `apart` from it and moves over it with `moving` \[m/s\]. `softening` \[m²\] keeps quotients by the
/// distance bounded.
#[cube]
#[inline(always)]
pub fn press<R: Real>(apart: &Vector3<R>, moving: &Vector3<R>, overlap: R, stiffness: R, damping: R, softening: R) -> Pressed<R> {
    let zero = R::new(0.0);
    let mut force = Vector3::<R>::zero();
    let mut taken = zero;
    if overlap > zero {
        let normal = apart.times(R::inverse_root(apart.dot(apart) + softening));
        let elastic = stiffness * overlap;
        let parting = moving.dot(&normal);
        let pushed = larger::<R>(elastic - damping * parting, zero);
        let sliding = moving.minus(&normal.times(parting));
        force = normal.times(pushed).minus(&sliding.times(damping));
        taken = elastic * parting - force.dot(moving);
    }
    Pressed::<R> { force, taken }
}

/// What the spring stores \[J\]: ½ k δ².
#[cube]
#[inline(always)]
pub fn energy<R: Real>(overlap: R, stiffness: R) -> R {
    R::new(0.5) * stiffness * overlap * overlap
}

/// Damping η \[N s/m\] with which a particle of this mass \[kg\] leaves a body that is much heavier with this share of the speed with which it came,
/// above 0 and at most 1.
pub fn damping(stiffness: f64, mass: f64, restitution: f64) -> f64 {
    2.0 * damping_ratio(Spring::Hooke, restitution) * (stiffness * mass).sqrt()
}

/// The longest time step \[s\] at which explicit Euler does not let a particle swing more and more.
///
/// With n springs on the mass m, one step takes (δ, v) to (δ + v Δt, v − (n k δ + n η v) Δt/m). The determinant of that is
/// 1 − n η Δt/m + n k Δt²/m, so amplitudes do not grow as long as k Δt ≤ η, for any mass and any number.
pub fn longest_step(stiffness: f64, damping: f64) -> f64 {
    damping / stiffness
}

/// The longest time step \[s\] at which dampers do not turn velocities around: of a particle with as many of them as `of_particle` tells, number and mass
/// \[kg\], and of a body with as many as `of_body` tells.
///
/// A step takes the share n η Δt/m of the velocity of a particle over a body that stands still, which must be below 2; and of the velocity of a body over
/// fluid that stands still the share N η Δt/M, which must be below 1, as the body's velocity is extrapolated by half a step. Together, they are below 1
/// where η Δt (n/(2m) + N/M) is.
pub fn longest_braked_step(damping: f64, of_particle: [f64; 2], of_body: [f64; 2]) -> f64 {
    1.0 / (damping * (0.5 * of_particle[0] / of_particle[1] + of_body[0] / of_body[1]))
}
