//! Rotation of a polyhedral grain over one time step, by its angular momentum in space.
//!
//! ```
//! use seixo_laws::{Quaternion, Vector3};
//! use seixo_sweeps::motion::StepParameters;
//! use seixo_sweeps::shape_motion::rotated_shape;
//! let (zero, corner) = (Vector3::zero(), Vector3 { x: 1.0, y: 1.0, z: 1.0 });
//! let stepping = StepParameters::<f64, f64> {
//!     dt: 1e-3, reads_ahead: 5e-4, velocity_lead: 5e-4, lag: 0.0, gravity: zero, local_damping: 0.0, damped_gravity: 1.0,
//!     skin_exceeded_square: 0.01, stride_square: 1.0, domain_min: zero, domain_max: corner, sides: Default::default(),
//! };
//! let upright = Quaternion { w: 1.0, x: 0.0, y: 0.0, z: 0.0 };
//! let (momentum, moments) = (Vector3 { x: 0.0, y: 0.0, z: 6.0 }, Vector3 { x: 1.0, y: 2.0, z: 3.0 });
//! // Without a torque it keeps its angular momentum to the last bit, and turns by L Δt/I.
//! let turned = rotated_shape::<f64, f64>(&upright, &momentum, &zero, &zero, &moments, &stepping);
//! assert_eq!(turned.momentum, momentum);
//! assert!((turned.orientation.z - 1e-3f64.sin()).abs() < 1e-15 && (turned.spin.z - 2.0).abs() < 1e-12);
//! ```

use crate::bodies::torque_of;
use crate::motion::StepParameters;
use cubecl::prelude::*;
use seixo_laws::motion::{kick, velocity_ahead};
use seixo_laws::rotation::{angular_velocity, rotated_freely};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, near_vector, widened};

/// State of rotation after a step.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct ShapeRotation<C: Real, R: Real> {
    /// Orientation.
    pub orientation: Quaternion<C>,
    /// Angular momentum in space \[kg m²/s\], at half steps for leap-frog.
    pub momentum: Vector3<C>,
    /// Angular velocity for laws \[rad/s\].
    pub spin: Vector3<C>,
    /// Energy dissipated by local damping \[J\].
    pub damping_work: R,
}

/// Rotates a polyhedral grain over one step, under the torque on it \[N m\]. `momentum` is the stored angular momentum \[kg m²/s\], `spin` the angular
/// velocity that laws read \[rad/s\], and `moments` are the principal moments of inertia \[kg m²\].
#[cube]
#[inline(always)]
pub fn rotated_shape<C: Coordinate<R>, R: Real>(
    orientation: &Quaternion<C>,
    momentum: &Vector3<C>,
    spin: &Vector3<R>,
    torque: &Vector3<R>,
    moments: &Vector3<C>,
    stepping: &StepParameters<C, R>,
) -> ShapeRotation<C, R> {
    let turning = torque_of::<R>(spin, torque, torque, stepping.local_damping);
    let after = kick::<C, R>(momentum, &turning.rate, stepping.dt);
    let turns_with = after.plus(&momentum.minus(&after).times(stepping.lag));
    let turned = rotated_freely::<C>(orientation, &turns_with, moments, C::wide(stepping.dt));
    let read = velocity_ahead::<C>(&after, &widened::<C, R>(&turning.rate), C::wide(stepping.reads_ahead));
    let reads = angular_velocity::<C>(&turned, &read, moments);
    let mut damping_work = R::new(0.0);
    if stepping.local_damping > R::new(0.0) {
        let middle = near_vector::<C, R>(&angular_velocity::<C>(orientation, &momentum.plus(&after), moments));
        damping_work = -turning.brake.dot(&middle) * (R::new(0.5) * stepping.dt);
    }
    ShapeRotation::<C, R> {
        orientation: turned,
        momentum: after,
        spin: reads,
        damping_work,
    }
}
