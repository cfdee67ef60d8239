//! One contact of two features of bodies with corners: its forces, its history, and the attraction at its ends.
//!
//! The features are those of a pair of polyhedral grains, or of a grain and a wall from a mesh.

use crate::layout::{load, store};
use crate::shape_features::{Fading, FeaturePair, Frame, PairSizes, PairSums, ShapePair, seen, unit};
use cubecl::prelude::*;
use seixo_laws::contact::faded::{FadedPair, faded_contact, faded_spring_energy, whole_energy};
use seixo_laws::contact::{Coefficients, ContactHistory, ContactPair, RelativeMotion};
use seixo_laws::nearest::overlap_at;
use seixo_laws::wall::velocity_of_point;
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector};

/// Motion of a surface that runs along a body, such as that of a belt, relative to the body. Contacts see its part along the surface.
#[derive(CubeType, Clone, Copy, Debug)]
pub(crate) struct SurfaceMotion<R: Real> {
    /// Velocity at the center of j \[m/s\].
    pub velocity: Vector3<R>,
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<R>,
}

/// Adds a force on i \[N\] that acts at a point relative to the center of j, and the opposite force on j.
#[cube]
#[inline(always)]
fn add_force<R: Real>(force: &Vector3<R>, arm_i: &Vector3<R>, arm_j: &Vector3<R>, sums: &mut PairSums<R>) {
    sums.force = sums.force.plus(force);
    sums.torque_i = sums.torque_i.plus(&arm_i.cross(force));
    sums.torque_j = sums.torque_j.minus(&arm_j.cross(force));
}

/// Adds the attraction S_k at an end of a contact \[N\], which acts because the contact fades there.
#[cube]
#[inline(always)]
pub(crate) fn add_end<C: Coordinate<R>, R: Real>(
    end: &FeaturePair<C>,
    attraction: R,
    frame: &Frame<C>,
    apart: &Vector3<C>,
    sums: &mut PairSums<R>,
) {
    let normal = near_vector::<C, R>(&frame.orientation.to_space(&unit::<C>(&end.gap, end.square)));
    let point = seen::<C>(&end.on_j, frame);
    add_force::<R>(
        &normal.times(-attraction),
        &near_vector::<C, R>(&point.minus(apart)),
        &near_vector::<C, R>(&point),
        sums,
    );
}

/// The first old slot from `from` on whose key is not below this one, or that is free; `slots` if there is none.
#[cube]
#[inline(always)]
pub(crate) fn old_slot_from(from: u32, key: u32, first_slot: usize, slots: u32, old_keys: &[u32]) -> u32 {
    let mut slot = from;
    let mut goes_on = slot < slots;
    while goes_on {
        let old = old_keys[first_slot + slot as usize];
        goes_on = old != 0u32 && old < key;
        if goes_on {
            slot += 1u32;
            goes_on = slot < slots;
        }
    }
    slot
}

/// The history of the contact with this key, if it is in this old slot, see [`old_slot_from()`]; else that of no contact.
#[cube]
#[inline(always)]
pub(crate) fn history_in_slot<R: Real>(
    key: u32,
    slot: u32,
    first_slot: usize,
    slots: u32,
    old_keys: &[u32],
    old_springs: &[R],
) -> ContactHistory<R> {
    let mut force = Vector3::<R>::zero();
    let mut contact_radius = R::new(0.0);
    if slot < slots {
        let at = first_slot + slot as usize;
        if old_keys[at] == key {
            force = load::<R>(old_springs, at * 4usize);
            contact_radius = old_springs[at * 4usize + 3usize];
        }
    }
    ContactHistory::<R> { force, contact_radius }
}

/// The history of the contact with this key, from the old slots; that of no contact if there is none. Contacts that share sums come in the order of keys,
/// as old slots do, so that each is passed once.
#[cube]
#[inline(always)]
pub(crate) fn old_history<R: Real>(
    key: u32,
    first_slot: usize,
    slots: u32,
    old_keys: &[u32],
    old_springs: &[R],
    sums: &mut PairSums<R>,
) -> ContactHistory<R> {
    sums.at.old = old_slot_from(sums.at.old, key, first_slot, slots, old_keys);
    history_in_slot::<R>(key, sums.at.old, first_slot, slots, old_keys, old_springs)
}

/// Adds a contact of two features with this history, and writes the new one to the next slot. If it `runs`, the surface of j moves. Returns U Φ/δ \[N\].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(crate) fn add_contact<C: Coordinate<R>, R: Real>(
    key: u32,
    feature: &FeaturePair<C>,
    fades: &Fading<C>,
    frame: &Frame<C>,
    pair: &ShapePair<C, R>,
    sizes: &PairSizes<C, R>,
    surface: &SurfaceMotion<R>,
    contact_history: &ContactHistory<R>,
    first_slot: usize,
    slots: u32,
    keys: &mut [u32],
    springs: &mut [R],
    coefficients: &Coefficients<R>,
    dt: R,
    sums: &mut PairSums<R>,
    #[comptime] runs: bool,
) -> R {
    let depth = overlap_at::<C>(feature.square, sizes.reach);
    let overlap = C::near(depth);
    let share = C::near(fades.share);
    let reach = C::near(sizes.reach);
    let radius = R::root(sizes.effective_radius * overlap);
    let touch = ContactPair::<R> {
        overlap,
        contact_radius: radius,
        effective_mass: sizes.effective_mass,
    };
    let energy = share * whole_energy::<R>(&touch, reach, coefficients);
    let per_overlap = energy / overlap;
    let faded = FadedPair::<R> {
        touch,
        reach,
        share,
        fading_force: per_overlap * C::near(fades.pull),
    };
    let along = frame.orientation.to_space(&unit::<C>(&feature.gap, feature.square));
    let point = seen::<C>(&feature.on_j, frame).plus(&along.times(sizes.rounding_j - C::new(0.5) * depth));
    let normal = near_vector::<C, R>(&along);
    let arm_i = near_vector::<C, R>(&point.minus(&pair.apart));
    let arm_j = near_vector::<C, R>(&point);
    let mut velocity = velocity_of_point::<R>(&pair.velocity, &pair.i.spin, &arm_i).minus(&pair.j.spin.cross(&arm_j));
    let mut spins = pair.i.spin.plus(&pair.j.spin);
    let mut running = Vector3::<R>::zero();
    if runs {
        let whole = surface.velocity.plus(&surface.spin.cross(&arm_j));
        running = whole.minus(&normal.times(whole.dot(&normal)));
        velocity = velocity.minus(&running);
        spins = spins.plus(&surface.spin);
    }
    let approach = RelativeMotion::<R> {
        velocity,
        twist: R::new(0.5) * spins.dot(&normal),
    };
    let response = faded_contact::<R>(&faded, &normal, &approach, contact_history, coefficients, dt);
    if sums.at.contacts < slots {
        let at = first_slot + sums.at.contacts as usize;
        keys[at] = key;
        store::<R>(springs, at * 4usize, &response.history.force);
        springs[at * 4usize + 3usize] = response.history.contact_radius;
    }
    let push = normal.times(response.normal).plus(&response.tangential);
    add_force::<R>(&push, &arm_i, &arm_j, sums);
    sums.normal_power += response.normal_power;
    sums.tangential_power += response.tangential_power;
    sums.damping_power += response.damping_power;
    if runs {
        sums.surface_power += push.dot(&running);
    }
    sums.normal_energy += energy;
    sums.tangential_energy += faded_spring_energy::<R>(&response.history.force, &faded, coefficients);
    sums.conducting_radius += share * radius;
    sums.excess = larger::<R>(sums.excess, overlap - sizes.allowed);
    sums.at.contacts += 1u32;
    per_overlap
}
