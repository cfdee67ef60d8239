//! Resistance to twisting, the turn of a contact about its own normal. `constant` and `elastic_plastic` as against rolling, with their own
//! coefficient; `marshall`: what the friction of a contact disk of radius a gives, k = ½ k_t a², a dashpot ½ c_t a² and a limit 2/3 a μ F_n
//! \[Marshall 2009, eqs. 31 and 33\].

use super::rolling::{Turning, constant, elastic_plastic};
use super::{Restraint, Supplement, restrain};
use crate::real::Real;
use crate::vector::Vector3;
use cubecl::prelude::*;

/// The contact disk: what tangential forces do on it.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Disk<R: Real> {
    /// Its radius a \[m\].
    pub radius: R,
    /// Tangential stiffness k_t \[N/m\].
    pub stiffness: R,
    /// Tangential dashpot c_t \[N s/m\].
    pub dashpot: R,
    /// Largest tangential force μ F_n \[N\].
    pub limit: R,
}

/// Stiffness of the disk's spring against twisting \[N m/rad\].
#[cube]
#[inline(always)]
pub fn stiffness_of_disk<R: Real>(radius: R, tangential_stiffness: R) -> R {
    R::new(0.5) * tangential_stiffness * radius * radius
}

/// The pair's law against twisting.
#[cube]
#[inline(always)]
pub fn resist<R: Real>(turning: &Turning<R>, disk: &Disk<R>, supplement: &Supplement<R>, dt: R) -> Restraint<R> {
    let mut all = Restraint::<R> {
        force: Vector3::<R>::zero(),
        next: Vector3::<R>::zero(),
        power: R::new(0.0),
        damping_power: R::new(0.0),
    };
    if supplement.twisting_law == R::new(1.0) {
        all = constant::<R>(turning, dt);
    }
    if supplement.twisting_law == R::new(2.0) {
        all = elastic_plastic::<R>(turning, supplement.rolling_damping, dt);
    }
    if supplement.twisting_law == R::new(3.0) {
        let stiffness = stiffness_of_disk::<R>(disk.radius, disk.stiffness);
        let dashpot = R::new(0.5) * disk.dashpot * disk.radius * disk.radius;
        let limit = R::new(2.0) / R::new(3.0) * disk.radius * disk.limit;
        all = restrain::<R>(&turning.stored, &turning.velocity, stiffness, dashpot, limit, dt);
    }
    all
}
