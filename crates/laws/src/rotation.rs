//! Orientation and rotation of a rigid body.
//!
//! What is kept is the angular momentum in space, L: without a torque it stays the same to the bit. The orientation goes on by turns about the
//! three principal axes of the body, one after the other and back again \[McLachlan 1993; Dullweber 1997\]:
//! each is the exact motion of a part of the kinetic energy, Σ L_k²/2I_k, so the whole is symplectic, reversible and of
//! second order, for bodies of any shape.

use crate::real::Real;
use crate::vector::Vector3;
use cubecl::prelude::*;

/// An orientation: the unit quaternion that turns vectors of the body into vectors of space.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Quaternion<R: Real> {
    /// Cosine of half the angle.
    pub w: R,
    /// Sine of half the angle times the axis, along x.
    pub x: R,
    /// Along y.
    pub y: R,
    /// Along z.
    pub z: R,
}

#[cube]
impl<R: Real> Quaternion<R> {
    /// The turn by `other`, in the frame of the body, and then by this one.
    #[inline(always)]
    pub fn after(&self, other: &Quaternion<R>) -> Quaternion<R> {
        Quaternion::<R> {
            w: self.w * other.w - self.x * other.x - self.y * other.y - self.z * other.z,
            x: self.w * other.x + self.x * other.w + self.y * other.z - self.z * other.y,
            y: self.w * other.y - self.x * other.z + self.y * other.w + self.z * other.x,
            z: self.w * other.z + self.x * other.y - self.y * other.x + self.z * other.w,
        }
    }

    /// The turn back.
    #[inline(always)]
    pub fn back(&self) -> Quaternion<R> {
        Quaternion::<R> {
            w: self.w,
            x: -self.x,
            y: -self.y,
            z: -self.z,
        }
    }

    /// A vector of the body, in space: v + w t + u × t, t = 2 u × v, with the vector part u.
    #[inline(always)]
    pub fn turned(&self, v: &Vector3<R>) -> Vector3<R> {
        let axis = Vector3::<R> {
            x: self.x,
            y: self.y,
            z: self.z,
        };
        let twice = axis.cross(v).times(R::new(2.0));
        v.plus(&twice.times(self.w)).plus(&axis.cross(&twice))
    }

    /// The same turn by a quaternion of length one: rounding adds up.
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
pub fn angular_velocity<R: Real>(turn: &Quaternion<R>, momentum: &Vector3<R>, moments: &Vector3<R>) -> Vector3<R> {
    let own = turn.back().turned(momentum);
    turn.turned(&Vector3::<R> {
        x: own.x / moments.x,
        y: own.y / moments.y,
        z: own.z / moments.z,
    })
}

/// Angular momentum of a body in space, L = R I Rᵀ ω \[kg m²/s\].
#[cube]
#[inline(always)]
pub fn angular_momentum<R: Real>(turn: &Quaternion<R>, angular_velocity: &Vector3<R>, moments: &Vector3<R>) -> Vector3<R> {
    let own = turn.back().turned(angular_velocity);
    turn.turned(&Vector3::<R> {
        x: own.x * moments.x,
        y: own.y * moments.y,
        z: own.z * moments.z,
    })
}

/// An orientation one step on, with this angular momentum in space: turns about the principal axes z, y, x, y, z of the body.
#[cube]
#[inline(always)]
pub fn turned_freely<R: Real>(turn: &Quaternion<R>, momentum: &Vector3<R>, moments: &Vector3<R>, dt: R) -> Quaternion<R> {
    let half = R::new(0.5) * dt;
    let zero = R::new(0.0);
    let one = R::new(1.0);
    let x = Vector3::<R> { x: one, y: zero, z: zero };
    let y = Vector3::<R> { x: zero, y: one, z: zero };
    let z = Vector3::<R> { x: zero, y: zero, z: one };
    let first = turned_about::<R>(turn, momentum, &z, half / moments.z);
    let second = turned_about::<R>(&first, momentum, &y, half / moments.y);
    let third = turned_about::<R>(&second, momentum, &x, dt / moments.x);
    let fourth = turned_about::<R>(&third, momentum, &y, half / moments.y);
    turned_about::<R>(&fourth, momentum, &z, half / moments.z).normalized()
}

/// An orientation turned about a principal axis of the body by its angular momentum along it times `rate`, Δt over the moment of inertia.
///
/// Cosine and sine of half the angle are cut off behind its seventh power and scaled to length one: a turn about that axis by an angle that is
/// off by less than 10⁻⁶ for a fifth of a turn a step, and always an odd function of L_k, so the step stays symplectic and reversible.
#[cube]
#[inline(always)]
fn turned_about<R: Real>(turn: &Quaternion<R>, momentum: &Vector3<R>, axis: &Vector3<R>, rate: R) -> Quaternion<R> {
    let one = R::new(1.0);
    let angle = R::new(0.5) * turn.back().turned(momentum).dot(axis) * rate;
    let square = angle * angle;
    let cosine = one - square / R::new(2.0) * (one - square / R::new(12.0) * (one - square / R::new(30.0)));
    let sine = angle * (one - square / R::new(6.0) * (one - square / R::new(20.0) * (one - square / R::new(42.0))));
    let about = Quaternion::<R> {
        w: cosine,
        x: sine * axis.x,
        y: sine * axis.y,
        z: sine * axis.z,
    };
    turn.after(&about.normalized())
}

/// Of the orientations that come from `start` by a turn about a unit axis of space, the one that is nearest to `turn`.
#[cube]
#[inline(always)]
pub fn turned_about_alone<R: Real>(turn: &Quaternion<R>, start: &Quaternion<R>, axis: &Vector3<R>) -> Quaternion<R> {
    let whole = turn.after(&start.back());
    let sine = whole.x * axis.x + whole.y * axis.y + whole.z * axis.z;
    let about = Quaternion::<R> {
        w: whole.w,
        x: sine * axis.x,
        y: sine * axis.y,
        z: sine * axis.z,
    };
    about.normalized().after(start)
}

/// An orientation turned with this angular velocity in space for a time: Cayley's map, about ω by 2 atan(½|ω|Δt), so of second order and its own
/// reverse.
#[cube]
#[inline(always)]
pub fn turned_by<R: Real>(turn: &Quaternion<R>, spin: &Vector3<R>, dt: R) -> Quaternion<R> {
    let half = R::new(0.5) * dt;
    let about = Quaternion::<R> {
        w: R::new(1.0),
        x: half * spin.x,
        y: half * spin.y,
        z: half * spin.z,
    };
    about.after(turn).normalized()
}

/// Rotational energy of a body, Σ L_k²/2I_k in its own frame \[J\].
#[cube]
#[inline(always)]
pub fn energy_of_rotation<R: Real>(turn: &Quaternion<R>, momentum: &Vector3<R>, moments: &Vector3<R>) -> R {
    R::new(0.5) * momentum.dot(&angular_velocity::<R>(turn, momentum, moments))
}
