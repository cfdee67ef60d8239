//! What contacts read of a grain and of its neighbor, and the load that they add to the grain.
//!
//! ```
//! use seixo_sweeps::grain::no_load;
//! let load = no_load::<f64>();
//! assert!(load.contacts == 0.0 && load.excess < 0.0);
//! ```

use crate::layout::{Record, last, xyz};
use crate::pair::Pair;
use crate::periodic::{Image, PeriodicBoundaries, by_components};
use cubecl::prelude::*;
use seixo_laws::contact::ContactHistory;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// State of a grain for its contacts.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Grain<C: Real, R: Real> {
    /// Center \[m\].
    pub position: Vector3<C>,
    /// Radius \[m\].
    pub reach: C,
    /// Radius in the precision of laws \[m\].
    pub radius: R,
    /// Velocity \[m/s\].
    pub velocity: Vector3<R>,
    /// Mass \[kg\].
    pub mass: R,
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<R>,
}

/// A grain from its records of position, velocity and spin.
#[cube]
#[inline(always)]
pub fn grain_of<C: Coordinate<R>, R: Real>(here: Record<C>, moving: Record<R>, turning: Record<R>) -> Grain<C, R> {
    Grain::<C, R> {
        position: xyz::<C>(here),
        reach: last::<C>(here),
        radius: C::near(last::<C>(here)),
        velocity: xyz::<R>(moving),
        mass: last::<R>(moving),
        spin: xyz::<R>(turning),
    }
}

/// Sum over the contacts of a grain.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ContactLoad<R: Real> {
    /// Force \[N\].
    pub force: Vector3<R>,
    /// Torque \[N m\].
    pub torque: Vector3<R>,
    /// Number of contacts.
    pub contacts: R,
    /// The grain's half of the power dissipated by normal damping \[W\].
    pub normal_power: R,
    /// The grain's half of the power taken by tangential forces \[W\].
    pub tangential_power: R,
    /// Part of `tangential_power` dissipated by damping \[W\].
    pub damping_power: R,
    /// The grain's half of the power supplied by sliding sides \[W\].
    pub side_power: R,
    /// Largest excess of an overlap over its limit \[m\]; negative if all are below.
    pub excess: R,
    /// The grain's half of the forces across the sides of a stretched cell \[N\], see [`crate::contact::PowerSums::across`].
    pub across: Vector3<R>,
}

/// No load.
#[cube]
#[inline(always)]
pub fn no_load<R: Real>() -> ContactLoad<R> {
    ContactLoad::<R> {
        force: Vector3::<R>::zero(),
        torque: Vector3::<R>::zero(),
        contacts: R::new(0.0),
        normal_power: R::new(0.0),
        tangential_power: R::new(0.0),
        damping_power: R::new(0.0),
        side_power: R::new(0.0),
        excess: R::new(-1.0),
        across: Vector3::<R>::zero(),
    }
}

/// A neighbor of an entry in the list.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Neighbor<C: Real, R: Real> {
    /// Its index.
    pub place: u32,
    /// 1 if the two were in contact at the last step, else 0.
    pub in_contact: u32,
    /// Center \[m\].
    pub position: Vector3<C>,
    /// Radius \[m\].
    pub reach: C,
    /// Velocity \[m/s\].
    pub velocity: Vector3<R>,
    /// Mass \[kg\].
    pub mass: R,
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<R>,
    /// Contact history.
    pub stored_history: ContactHistory<R>,
}

/// A grain and a neighbor in contact.
#[cube]
#[inline(always)]
pub(crate) fn pair_of<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    neighbor: &Neighbor<C, R>,
    image: &Image<C>,
    depth: C,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] kind: u32,
) -> Pair<R> {
    let mut velocity = grain.velocity.minus(&neighbor.velocity);
    if comptime!(kind == 2) {
        velocity = velocity.minus(&sides.slide.times(C::near(image.passed)));
    }
    if comptime!(kind == 3) {
        velocity = velocity.minus(&by_components::<R>(&near_vector::<C, R>(&image.crossed), &sides.slide));
    }
    Pair::<R> {
        apart: near_vector::<C, R>(&image.apart),
        depth: C::near(depth),
        velocity,
        radius_i: grain.radius,
        radius_j: C::near(neighbor.reach),
        mass_i: grain.mass,
        mass_j: neighbor.mass,
    }
}
