//! Rows of neighbors for GPUs, interleaved in tiles of 32 grains, so that adjacent threads read adjacent words.
//!
//! Entry s of grain i is at index `first[i / 32] + 32 s + i % 32`, and every grain lists all its neighbors. The highest bit of an entry is set if the
//! pair was in contact at the last step. Only then its history counts. So entries without contact need neither a read nor a reset of the history.
//!
//! ```
//! use seixo_sweeps::tiles::if_uniform;
//! // With one material for all grains, one read serves all.
//! assert_eq!([0, 5, 40].map(|i| if_uniform(i, true)), [0, 0, 0]);
//! assert_eq!([0, 5, 40].map(|i| if_uniform(i, false)), [0, 5, 40]);
//! ```

use crate::entries::{IN_CONTACT_BIT, PLACE, TILE, history_at};
use crate::grain::{ContactLoad, Grain, Neighbor, no_load, pair_of};
use crate::layout::{LARGEST_OVERLAP, Record, coefficients, extended_coefficients, last, xyz};
use crate::pair::{ContactForces, depth_of, extended_contact, frictional_pair_contact, normal_pair_contact};
use crate::periodic::{Image, PeriodicBoundaries, by_components, nearest_image};
use crate::smooth_pairs::push_both_on;
use cubecl::prelude::*;
use seixo_laws::contact::{Coefficients, ContactHistory, ExtendedHistory};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector, smaller};

/// Kind of contacts for which kernels are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContactKernelConfig {
    /// Whether contacts have friction and grains rotate; otherwise there are normal forces only.
    pub frictional: bool,
    /// Whether all grains have one material.
    pub uniform: bool,
    /// Codes of the normal and the tangential law, if all contacts have the same.
    pub laws: Option<(i64, i64)>,
    /// Which sides are periodic: [`crate::periodic::OPEN`], [`crate::periodic::PERIODIC`] or [`crate::periodic::SHEARED`]. No kernel is compiled for
    /// stretched cells.
    pub sides: u32,
    /// Whether contacts are extended, see [`seixo_laws::contact::extended`].
    pub is_extended: bool,
    /// Numbers of the history of a pair: 3; 4 if a law needs the contact radius; 10 for extended contacts.
    pub numbers: usize,
    /// Whether some contacts have a damping per effective mass.
    pub damps_per_mass: bool,
    /// Whether smooth neighbors are also evaluated one by one. Otherwise, the fusing of operations could depend on which of two a neighbor is.
    pub one_by_one: bool,
}

/// Contacts of a grain with the `count` neighbors of its row, history included. The row starts at entry `first` with `first_word` and, for smooth
/// grains, `second_word`, which are read even if the row is shorter. If all grains have one material, `shared` holds the coefficients of all pairs;
/// otherwise `own_material` is the material of the grain.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn contacts_of<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    count: u32,
    first: usize,
    first_word: u32,
    second_word: u32,
    own_material: u32,
    shared: &Coefficients<R>,
    list: &mut [u32],
    history: &mut [R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    material: &[u32],
    materials: u32,
    table: &[R],
    sides: &PeriodicBoundaries<C, R>,
    dt: R,
    overlap_limit: R,
    #[comptime] kind: ContactKernelConfig,
) -> ContactLoad<R> {
    let mut all = no_load::<R>();
    let own_row = own_material * materials;
    let mut entry = first;
    let mut stride = history_at(first, 0usize, kind.numbers);
    let mut word = first_word;
    if comptime!(kind.frictional || kind.one_by_one) {
        for _s in 0..count {
            // The next word is read while this neighbor is computed. The list has room for one read after the last entry.
            let next = list[entry + TILE];
            let neighbor = fetch::<C, R>(word, stride, history, position, velocity, spin, kind);
            let pair = of_pair::<R>(shared, table, own_row, material, neighbor.place as usize, kind);
            if kind.is_extended {
                let row = (own_row + material[if_uniform(neighbor.place as usize, kind.uniform)]) as usize;
                resolve_extended::<C, R>(
                    grain,
                    &neighbor,
                    &pair,
                    table,
                    row,
                    entry,
                    stride,
                    list,
                    history,
                    sides,
                    dt,
                    overlap_limit,
                    &mut all,
                    kind,
                );
            } else if kind.frictional {
                resolve::<C, R>(
                    grain,
                    &neighbor,
                    &pair,
                    entry,
                    stride,
                    list,
                    history,
                    sides,
                    dt,
                    overlap_limit,
                    &mut all,
                    kind,
                );
            } else {
                push_on::<C, R>(grain, &neighbor, &pair, sides, overlap_limit, &mut all, kind.sides);
            }
            word = next;
            entry += TILE;
            stride += TILE * kind.numbers;
        }
    } else {
        // Two at a time, so that the reads of one do not wait for the other, and their words a turn before. Smooth grains leave registers for that.
        let mut second = second_word;
        let mut s = 0u32;
        while s < count {
            // Behind the last word of the row, its words are read again.
            let is_pair = s + 1u32 < count;
            let one = fetch::<C, R>(word, stride, history, position, velocity, spin, kind);
            let other = fetch::<C, R>(select(is_pair, second, word), stride, history, position, velocity, spin, kind);
            let third_at = select(s + 2u32 < count, entry + 64usize, entry);
            let fourth_at = select(s + 3u32 < count, entry + 96usize, entry);
            let third = list[third_at];
            let fourth = list[fourth_at];
            let laws_of_one = of_pair::<R>(shared, table, own_row, material, one.place as usize, kind);
            let laws_of_other = of_pair::<R>(shared, table, own_row, material, other.place as usize, kind);
            push_both_on::<C, R>(
                grain,
                &one,
                &other,
                is_pair,
                &laws_of_one,
                &laws_of_other,
                sides,
                overlap_limit,
                &mut all,
                kind.sides,
            );
            word = third;
            second = fourth;
            entry += 64usize;
            s += 2u32;
        }
    }
    all
}

/// Reads all that a contact may need without waiting for the contact test. Histories are read only for pairs that were in contact.
#[cube]
#[inline(always)]
pub(crate) fn fetch<C: Real, R: Real>(
    word: u32,
    stride: usize,
    history: &mut [R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    #[comptime] kind: ContactKernelConfig,
) -> Neighbor<C, R> {
    let place = word & PLACE;
    let in_contact = word >> IN_CONTACT_BIT;
    let there = position[place as usize];
    let moving = velocity[place as usize];
    let mut turning = Vector3::<R>::zero();
    let mut force = Vector3::<R>::zero();
    let mut contact_radius = R::new(0.0);
    if kind.frictional {
        turning = xyz::<R>(spin[place as usize]);
        if in_contact == 1u32 {
            force.x = history[stride];
            force.y = history[stride + TILE];
            force.z = history[stride + 64usize];
            if kind.numbers != 3usize {
                contact_radius = history[stride + 96usize];
            }
        }
    }
    Neighbor::<C, R> {
        place,
        in_contact,
        position: xyz::<C>(there),
        reach: last::<C>(there),
        velocity: xyz::<R>(moving),
        mass: last::<R>(moving),
        spin: turning,
        stored_history: ContactHistory::<R> { force, contact_radius },
    }
}

/// Adds the force of a neighbor to a grain, and writes their contact history.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(crate) fn resolve<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    neighbor: &Neighbor<C, R>,
    coefficients: &Coefficients<R>,
    entry: usize,
    stride: usize,
    list: &mut [u32],
    history: &mut [R],
    sides: &PeriodicBoundaries<C, R>,
    dt: R,
    overlap_limit: R,
    all: &mut ContactLoad<R>,
    #[comptime] kind: ContactKernelConfig,
) {
    let image = nearest_image::<C, R>(&grain.position.minus(&neighbor.position), sides, kind.sides);
    let depth = depth_of::<C>(&image.apart, grain.reach + neighbor.reach);
    if depth > C::new(0.0) {
        let pair = pair_of::<C, R>(grain, neighbor, &image, depth, sides, kind.sides);
        let allowed = overlap_limit * smaller::<R>(grain.radius, pair.radius_j);
        let outcome = frictional_pair_contact::<R>(&pair, &grain.spin, &neighbor.spin, &neighbor.stored_history, coefficients, dt);
        if neighbor.in_contact == 0u32 {
            list[entry] = neighbor.place | 0x8000_0000u32;
        }
        history[stride] = outcome.history.force.x;
        history[stride + TILE] = outcome.history.force.y;
        history[stride + 64usize] = outcome.history.force.z;
        if kind.numbers == 4usize {
            history[stride + 96usize] = outcome.history.contact_radius;
        }
        take::<R>(&outcome, allowed, all);
        slip::<C, R>(&outcome, &image, sides, all, kind.sides);
        all.contacts += R::new(1.0);
    } else if neighbor.in_contact == 1u32 {
        list[entry] = neighbor.place;
    }
}

/// Adds the force, torque and power of a contact to those of a grain.
#[cube]
#[inline(always)]
fn take<R: Real>(outcome: &ContactForces<R>, allowed: R, all: &mut ContactLoad<R>) {
    let half = R::new(0.5);
    // Each of the two grains adds half of the contact's work to the ledger.
    all.normal_power += half * outcome.normal_power;
    all.tangential_power += half * outcome.tangential_power;
    all.damping_power += half * outcome.damping_power;
    all.force = all.force.plus(&outcome.force);
    all.torque = all.torque.plus(&outcome.bend.times(outcome.arm_i));
    all.excess = larger::<R>(all.excess, outcome.overlap - allowed);
}

/// Adds half of the power supplied by sliding sides: the force on the grain times the velocity of its neighbor's image relative to the neighbor. In a
/// stretched cell, adds half of the force across its sides.
#[cube]
#[inline(always)]
fn slip<C: Coordinate<R>, R: Real>(
    outcome: &ContactForces<R>,
    image: &Image<C>,
    sides: &PeriodicBoundaries<C, R>,
    all: &mut ContactLoad<R>,
    #[comptime] kind: u32,
) {
    if comptime!(kind == 2) {
        all.side_power += R::new(0.5) * C::near(image.passed) * outcome.force.dot(&sides.slide);
    }
    if comptime!(kind == 3) {
        let crossed = near_vector::<C, R>(&image.crossed);
        all.across = all.across.plus(&by_components::<R>(&outcome.force, &crossed).times(R::new(0.5)));
    }
}

/// As [`resolve()`], for extended contacts. Includes neighbors that were connected to the grain a step ago.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn resolve_extended<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    neighbor: &Neighbor<C, R>,
    coefficients: &Coefficients<R>,
    table: &[R],
    row: usize,
    entry: usize,
    stride: usize,
    list: &mut [u32],
    history: &mut [R],
    sides: &PeriodicBoundaries<C, R>,
    dt: R,
    overlap_limit: R,
    all: &mut ContactLoad<R>,
    #[comptime] kind: ContactKernelConfig,
) {
    let zero = R::new(0.0);
    let image = nearest_image::<C, R>(&grain.position.minus(&neighbor.position), sides, kind.sides);
    let depth = depth_of::<C>(&image.apart, grain.reach + neighbor.reach);
    if depth > C::new(0.0) || neighbor.in_contact == 1u32 {
        let pair = pair_of::<C, R>(grain, neighbor, &image, depth, sides, kind.sides);
        let allowed = overlap_limit * smaller::<R>(grain.radius, pair.radius_j);
        let mut extended_history = ExtendedHistory::<R> {
            rolling: Vector3::<R>::zero(),
            twisting: zero,
            largest_overlap: zero,
            holds: zero,
        };
        if neighbor.in_contact == 1u32 {
            extended_history.rolling.x = history[stride + 128usize];
            extended_history.rolling.y = history[stride + 160usize];
            extended_history.rolling.z = history[stride + 192usize];
            extended_history.twisting = history[stride + 224usize];
            extended_history.largest_overlap = history[stride + LARGEST_OVERLAP * TILE];
            extended_history.holds = history[stride + 288usize];
        }
        let result = extended_contact::<R>(
            &pair,
            &grain.spin,
            &neighbor.spin,
            &neighbor.stored_history,
            &extended_history,
            coefficients,
            &extended_coefficients::<R>(table, row),
            dt,
        );
        if result.extended_history.holds > zero {
            list[entry] = neighbor.place | 0x8000_0000u32;
            history[stride] = result.outcome.history.force.x;
            history[stride + TILE] = result.outcome.history.force.y;
            history[stride + 64usize] = result.outcome.history.force.z;
            history[stride + 96usize] = result.outcome.history.contact_radius;
            history[stride + 128usize] = result.extended_history.rolling.x;
            history[stride + 160usize] = result.extended_history.rolling.y;
            history[stride + 192usize] = result.extended_history.rolling.z;
            history[stride + 224usize] = result.extended_history.twisting;
            history[stride + LARGEST_OVERLAP * TILE] = result.extended_history.largest_overlap;
            history[stride + 288usize] = result.extended_history.holds;
            all.contacts += R::new(1.0);
        } else {
            list[entry] = neighbor.place;
        }
        take::<R>(&result.outcome, allowed, all);
        slip::<C, R>(&result.outcome, &image, sides, all, kind.sides);
        all.torque = all.torque.plus(&result.couple);
    }
}

/// Adds the normal force of a smooth neighbor to a grain.
#[cube]
#[inline(always)]
pub fn push_on<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    neighbor: &Neighbor<C, R>,
    coefficients: &Coefficients<R>,
    sides: &PeriodicBoundaries<C, R>,
    overlap_limit: R,
    all: &mut ContactLoad<R>,
    #[comptime] kind: u32,
) {
    let image = nearest_image::<C, R>(&grain.position.minus(&neighbor.position), sides, kind);
    let depth = depth_of::<C>(&image.apart, grain.reach + neighbor.reach);
    if depth > C::new(0.0) {
        let pair = pair_of::<C, R>(grain, neighbor, &image, depth, sides, kind);
        let outcome = normal_pair_contact::<R>(&pair, coefficients);
        slip::<C, R>(&outcome, &image, sides, all, kind);
        let allowed = overlap_limit * smaller::<R>(grain.radius, pair.radius_j);
        all.normal_power += R::new(0.5) * outcome.normal_power;
        all.force = all.force.plus(&outcome.force);
        all.excess = larger::<R>(all.excess, outcome.overlap - allowed);
        all.contacts += R::new(1.0);
    }
}

/// Index 0 if all grains have one material, so that one read serves all.
#[cube]
#[inline(always)]
pub fn if_uniform(i: usize, #[comptime] uniform: bool) -> usize {
    let mut place = i;
    if uniform {
        place = 0usize;
    }
    place
}

/// Coefficients of a pair; the grain's own if all grains have one material. If the kernel is compiled for certain laws, their codes are constants,
/// and the compiler removes all other laws, and dampings per mass that are zero.
#[cube]
#[inline(always)]
pub fn of_pair<R: Real>(
    own: &Coefficients<R>,
    table: &[R],
    own_row: u32,
    material: &[u32],
    j: usize,
    #[comptime] kind: ContactKernelConfig,
) -> Coefficients<R> {
    let mut pair = Coefficients::<R> {
        normal_stiffness: own.normal_stiffness,
        normal_damping: own.normal_damping,
        tangential_stiffness: own.tangential_stiffness,
        tangential_damping: own.tangential_damping,
        friction: own.friction,
        normal_law: own.normal_law,
        tangential_law: own.tangential_law,
        normal_rate: own.normal_rate,
        tangential_rate: own.tangential_rate,
    };
    if !kind.uniform {
        pair = coefficients::<R>(table, (own_row + material[j]) as usize);
    }
    if comptime!(!kind.damps_per_mass) {
        pair.normal_rate = R::new(0.0);
        pair.tangential_rate = R::new(0.0);
    }
    if comptime!(kind.laws.is_some()) {
        pair.normal_law = R::from_int(comptime!(kind.laws.unwrap_or_default().0));
        pair.tangential_law = R::from_int(comptime!(kind.laws.unwrap_or_default().1));
    }
    pair
}
