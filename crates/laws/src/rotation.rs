//! Orientation and rotation of a rigid body.
//!
//! The angular momentum in space, L, is stored: without a torque it stays the same to the last bit. The orientation advances by rotations about the
//! three principal axes of the body, in an order that is symmetric in time \[McLachlan 1993; Dullweber 1997\]. Each rotation is the exact motion for
//! one part of the kinetic energy Σ L_k²/2I_k. So the step is symplectic, reversible and of second order, for bodies of any shape.
//!
//! ```
//! use seixo_laws::{Quaternion, Vector3};
//! let half = 0.5f64.sqrt();
//! let quarter = Quaternion { w: half, x: 0.0, y: 0.0, z: half };
//! let full = quarter.after(&quarter).after(&quarter).after(&quarter);
//! let v = Vector3 { x: 1.0, y: 2.0, z: 3.0 };
//! // A quarter turn about z takes x to y and y to −x. A full turn changes nothing.
//! assert!(quarter.to_space(&v).minus(&Vector3 { x: -2.0, y: 1.0, z: 3.0 }).length() < 1e-12);
//! assert!(full.to_space(&v).minus(&v).length() < 1e-12);
//! ```

use crate::real::Real;
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Cosine and sine of an angle.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct CosineSine<R: Real> {
    /// Cosine.
    pub cosine: R,
    /// Sine.
    pub sine: R,
}

/// Cosine and sine of an angle of any size \[rad\]; `full` is 2π, which the host gives.
///
/// The series of the sine and of one minus the cosine, of an eighth of the angle, are truncated after the 13th and 14th power. Three doublings
/// follow. The error is a few roundoffs of the angle. Operations are those of laws, so all devices find the same.
#[cube]
#[inline(always)]
pub fn cosine_and_sine<R: Real>(angle: R, full: R) -> CosineSine<R> {
    let one = R::new(1.0);
    let two = R::new(2.0);
    let mut sign = R::new(1.0);
    if angle < R::new(0.0) {
        sign = R::new(-1.0);
    }
    let size = angle * sign;
    let turns = R::counted(R::whole(size / full + R::new(0.5)));
    let x = (size - turns * full) * R::new(0.125);
    let square = x * x;
    let sine_beyond = one - square / R::new(72.0) * (one - square / R::new(110.0) * (one - square / R::new(156.0)));
    let mut sine = x * (one - square / R::new(6.0) * (one - square / R::new(20.0) * (one - square / R::new(42.0) * sine_beyond)));
    let fall_beyond = one - square / R::new(90.0) * (one - square / R::new(132.0) * (one - square / R::new(182.0)));
    let mut fall =
        square / two * (one - square / R::new(12.0) * (one - square / R::new(30.0) * (one - square / R::new(56.0) * fall_beyond)));
    for _k in 0..3u32 {
        // sin 2x = 2 sin x cos x, and 1 − cos 2x = 2 sin² x.
        sine *= two * (one - fall);
        fall *= two * (two - fall);
    }
    CosineSine::<R> {
        cosine: one - fall,
        sine: sine * sign,
    }
}

/// Orientation: the unit quaternion that rotates vectors of the body frame into space.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Quaternion<R: Real> {
    /// Cosine of half the angle.
    pub w: R,
    /// x component of the sine of half the angle times the axis.
    pub x: R,
    /// y component.
    pub y: R,
    /// z component.
    pub z: R,
}

#[cube]
impl<R: Real> Quaternion<R> {
    /// The rotation by `other`, in the body frame, followed by this one.
    #[inline(always)]
    pub fn after(&self, other: &Quaternion<R>) -> Quaternion<R> {
        Quaternion::<R> {
            w: self.w * other.w - self.x * other.x - self.y * other.y - self.z * other.z,
            x: self.w * other.x + self.x * other.w + self.y * other.z - self.z * other.y,
            y: self.w * other.y - self.x * other.z + self.y * other.w + self.z * other.x,
            z: self.w * other.z + self.x * other.y - self.y * other.x + self.z * other.w,
        }
    }

    /// The inverse rotation.
    #[inline(always)]
    pub fn back(&self) -> Quaternion<R> {
        Quaternion::<R> {
            w: self.w,
            x: -self.x,
            y: -self.y,
            z: -self.z,
        }
    }

    /// A vector of the body frame, in space: v + w t + u × t, t = 2 u × v, with the vector part u.
    #[inline(always)]
    pub fn to_space(&self, v: &Vector3<R>) -> Vector3<R> {
        let axis = Vector3::<R> {
            x: self.x,
            y: self.y,
            z: self.z,
        };
        let twice = axis.cross(v).times(R::new(2.0));
        v.plus(&twice.times(self.w)).plus(&axis.cross(&twice))
    }

    /// The same rotation scaled to length one, because rounding errors add up.
    #[inline(always)]
    pub fn normalized(&self) -> Quaternion<R> {
        let scale = R::inverse_root(self.w * self.w + self.x * self.x + self.y * self.y + self.z * self.z);
        Quaternion::<R> {
            w: self.w * scale,
            x: self.x * scale,
            y: self.y * scale,
            z: self.z * scale,
        }
    }
}

/// Angular velocity of a body, ω = R I⁻¹ Rᵀ L \[rad/s\], from its angular momentum in space and its principal moments.
#[cube]
#[inline(always)]
pub fn angular_velocity<R: Real>(orientation: &Quaternion<R>, momentum: &Vector3<R>, moments: &Vector3<R>) -> Vector3<R> {
    let own = orientation.back().to_space(momentum);
    orientation.to_space(&Vector3::<R> {
        x: own.x / moments.x,
        y: own.y / moments.y,
        z: own.z / moments.z,
    })
}

/// Angular momentum of a body in space, L = R I Rᵀ ω \[kg m²/s\].
#[cube]
#[inline(always)]
pub fn angular_momentum<R: Real>(orientation: &Quaternion<R>, angular_velocity: &Vector3<R>, moments: &Vector3<R>) -> Vector3<R> {
    let own = orientation.back().to_space(angular_velocity);
    orientation.to_space(&Vector3::<R> {
        x: own.x * moments.x,
        y: own.y * moments.y,
        z: own.z * moments.z,
    })
}

/// Angular acceleration of a body in space \[rad/s²\] by Euler's equations in the frame of its principal axes, ω̇₁ = (T₁ + (I₂ − I₃) ω₂ω₃)/I₁ and
/// cyclic \[PUC-Rio n.d., algorithm 6\], without the misprints of the source. It is the same vector in both frames, as ω × ω = 0.
#[cube]
#[inline(always)]
pub fn angular_acceleration_of_body<R: Real>(
    orientation: &Quaternion<R>,
    angular_velocity: &Vector3<R>,
    torque: &Vector3<R>,
    moments: &Vector3<R>,
) -> Vector3<R> {
    let to_body = orientation.back();
    let spin = to_body.to_space(angular_velocity);
    let push = to_body.to_space(torque);
    orientation.to_space(&Vector3::<R> {
        x: (push.x + (moments.y - moments.z) * spin.y * spin.z) / moments.x,
        y: (push.y + (moments.z - moments.x) * spin.z * spin.x) / moments.y,
        z: (push.z + (moments.x - moments.y) * spin.x * spin.y) / moments.z,
    })
}

/// Orientation after one step with this angular momentum in space: rotations about the principal axes z, y, x, y, z of the body.
#[cube]
#[inline(always)]
pub fn rotated_freely<R: Real>(orientation: &Quaternion<R>, momentum: &Vector3<R>, moments: &Vector3<R>, dt: R) -> Quaternion<R> {
    let half = R::new(0.5) * dt;
    let zero = R::new(0.0);
    let one = R::new(1.0);
    let x = Vector3::<R> { x: one, y: zero, z: zero };
    let y = Vector3::<R> { x: zero, y: one, z: zero };
    let z = Vector3::<R> { x: zero, y: zero, z: one };
    let first = rotated_about_axis::<R>(orientation, momentum, &z, half / moments.z);
    let second = rotated_about_axis::<R>(&first, momentum, &y, half / moments.y);
    let third = rotated_about_axis::<R>(&second, momentum, &x, dt / moments.x);
    let fourth = rotated_about_axis::<R>(&third, momentum, &y, half / moments.y);
    rotated_about_axis::<R>(&fourth, momentum, &z, half / moments.z).normalized()
}

/// Orientation rotated about a principal axis of the body by its angular momentum along this axis times `rate`, which is Δt over the moment of
/// inertia.
///
/// The series of the cosine and sine of half the angle are truncated after the seventh power and scaled to length one. The result is a rotation about
/// that axis. Its angle is wrong by less than 10⁻⁶ at a fifth of a revolution per step. It is an odd function of L_k, so the step stays symplectic
/// and reversible.
#[cube]
#[inline(always)]
fn rotated_about_axis<R: Real>(orientation: &Quaternion<R>, momentum: &Vector3<R>, axis: &Vector3<R>, rate: R) -> Quaternion<R> {
    let one = R::new(1.0);
    let angle = R::new(0.5) * orientation.back().to_space(momentum).dot(axis) * rate;
    let square = angle * angle;
    // 1 − s/2 + s²/24 − s³/720 and 1 − s/6 + s²/120 − s³/5040 with one division for both, as each takes a GPU long. Without a rotation they are 1.
    let share = square / R::new(5040.0);
    let cosine = one - share * R::new(7.0) * (R::new(360.0) - square * (R::new(30.0) - square));
    let sine = angle * (one - share * (R::new(840.0) - square * (R::new(42.0) - square)));
    let about = Quaternion::<R> {
        w: cosine,
        x: sine * axis.x,
        y: sine * axis.y,
        z: sine * axis.z,
    };
    orientation.after(&about.normalized())
}

/// The orientation nearest to `orientation` among those obtained from `start` by a rotation about a unit axis of space.
#[cube]
#[inline(always)]
pub fn nearest_rotation_about<R: Real>(orientation: &Quaternion<R>, start: &Quaternion<R>, axis: &Vector3<R>) -> Quaternion<R> {
    let whole = orientation.after(&start.back());
    let sine = whole.x * axis.x + whole.y * axis.y + whole.z * axis.z;
    let about = Quaternion::<R> {
        w: whole.w,
        x: sine * axis.x,
        y: sine * axis.y,
        z: sine * axis.z,
    };
    about.normalized().after(start)
}

/// Orientation rotated with this angular velocity in space for a time. This is Cayley's map, about ω by 2 atan(½|ω|Δt). So it is of second order and
/// reversible.
#[cube]
#[inline(always)]
pub fn rotated_by<R: Real>(orientation: &Quaternion<R>, spin: &Vector3<R>, dt: R) -> Quaternion<R> {
    let half = R::new(0.5) * dt;
    let about = Quaternion::<R> {
        w: R::new(1.0),
        x: half * spin.x,
        y: half * spin.y,
        z: half * spin.z,
    };
    about.after(orientation).normalized()
}

/// Rotational energy of a body, Σ L_k²/2I_k in the body frame \[J\].
#[cube]
#[inline(always)]
pub fn energy_of_rotation<R: Real>(orientation: &Quaternion<R>, momentum: &Vector3<R>, moments: &Vector3<R>) -> R {
    R::new(0.5) * momentum.dot(&angular_velocity::<R>(orientation, momentum, moments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn cosines_and_sines_are_those_of_the_standard_library() {
        for k in -4000..4000 {
            let angle = 0.0137 * f64::from(k);
            let found = cosine_and_sine::<f64>(angle, TAU);
            let (sine, cosine) = angle.sin_cos();
            let bar = 1e-14 + 1e-15 * angle.abs();
            assert!(
                (found.cosine - cosine).abs() < bar && (found.sine - sine).abs() < bar,
                "{angle}: {found:?}"
            );
        }
    }
}
