//! A spring and a damper between a fluid particle and an overlapping sphere of a rigid body: their coupling in \[Silva 2010, § 5.3.5\], as between
//! grains.
//!
//! - Spring: f = k δ n (5.1). δ is the sum of both radii minus the distance, and n points from the sphere to the particle.
//! - Damper: f = −η v (5.2). v is the velocity of the particle relative to the sphere, along n and across.
//!
//! Both act on the particle, and their opposite acts on the sphere. \[Silva 2010\] prints the signs for vectors from i to j. With the signs here,
//! overlap repels and damping opposes the motion. Along n the sum of both never attracts, as between grains. \[Silva 2010\] does not specify the
//! force of a pair that separates.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::fluid::spring::{overlap, spring_and_damper};
//! let along = |x: f64| Vector3 { x, y: 0.0, z: 0.0 };
//! let depth = overlap::<f64>(0.02 * 0.02, 0.03);
//! let respond = |speed: f64| spring_and_damper::<f64>(&along(0.02), &along(speed), depth, 500.0, 2.0, 1e-18);
//! // Overlap repels and damping resists the approach. A particle that leaves fast is not attracted.
//! assert!(respond(-1.0).force.x > respond(0.0).force.x && respond(0.0).force.x > 0.0);
//! assert!(respond(10.0).force.x.abs() < 1e-9);
//! // The damper takes energy from either motion.
//! assert!(respond(-1.0).taken > 0.0 && respond(1.0).taken > 0.0);
//! ```

use crate::contact::restitution::{Spring, damping_ratio};
use crate::real::{Real, larger};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Force of a spring and a damper on a particle.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct SpringResponse<R: Real> {
    /// Force \[N\].
    pub force: Vector3<R>,
    /// Power that the damper dissipates \[W\].
    pub taken: R,
}

/// Overlap of a particle and a sphere, from their squared distance; they touch at the distance `reach` \[m\]. It is zero where they do not overlap.
#[cube]
#[inline(always)]
pub fn overlap<R: Real>(square: R, reach: R) -> R {
    larger::<R>(reach - R::root(square), R::new(0.0))
}

/// Force of the sphere on the particle. `apart` is the vector to the particle \[m\], and `moving` its relative velocity \[m/s\]. `softening` \[m²\]
/// keeps quotients by the distance bounded.
#[cube]
#[inline(always)]
pub fn spring_and_damper<R: Real>(
    apart: &Vector3<R>,
    moving: &Vector3<R>,
    overlap: R,
    stiffness: R,
    damping: R,
    softening: R,
) -> SpringResponse<R> {
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
    SpringResponse::<R> { force, taken }
}

/// Energy of the spring, ½ k δ² \[J\].
#[cube]
#[inline(always)]
pub fn energy<R: Real>(overlap: R, stiffness: R) -> R {
    R::new(0.5) * stiffness * overlap * overlap
}

/// Damping η for which a particle of this mass \[kg\] rebounds from a much heavier body with this restitution, above 0 and at most 1 \[N s/m\].
pub fn damping(stiffness: f64, mass: f64, restitution: f64) -> f64 {
    2.0 * damping_ratio(Spring::Hooke, restitution) * (stiffness * mass).sqrt()
}

/// The longest time step at which explicit Euler does not amplify the oscillation of a particle \[s\].
///
/// With n springs on the mass m, one step takes (δ, v) to (δ + v Δt, v − (n k δ + n η v) Δt/m). The determinant is 1 − n η Δt/m + n k Δt²/m. So
/// amplitudes do not grow if k Δt ≤ η, for any mass and any number of springs.
pub fn longest_step(stiffness: f64, damping: f64) -> f64 {
    damping / stiffness
}

/// The longest time step at which dampers do not reverse velocities \[s\]. `of_particle` and `of_body` are the number of dampers on a particle and on
/// a body, and its mass \[kg\].
///
/// In a step a particle loses the share n η Δt/m of its velocity relative to a body at rest; this must be below 2. A body loses the share N η Δt/M of
/// its velocity relative to fluid at rest. This must be below 1, as the velocity of the body is extrapolated by half a step. Together they are stable
/// where η Δt (n/(2m) + N/M) is below 1.
pub fn longest_braked_step(damping: f64, of_particle: [f64; 2], of_body: [f64; 2]) -> f64 {
    1.0 / (damping * (0.5 * of_particle[0] / of_particle[1] + of_body[0] / of_body[1]))
}
