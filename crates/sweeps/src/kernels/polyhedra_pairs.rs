//! Contacts of pairs with a polyhedral grain, in two launches: a search, then the forces.
//!
//! Few pairs may touch, and these take many times as long as the test of a pair. With one thread for all of a pair, most threads of a GPU would wait for a
//! few. So the search tests with a thread a pair, and then several threads share the features of each pair that may touch. They write the keys of
//! contacts. The forces have a thread a contact. Each block takes as many pairs as it has threads, numbers their contacts, and computes as many at a
//! time as it has threads. Then each thread adds those of its pair in the order of keys. So sums depend neither on the block nor on the order of pairs.

use super::bonds::quaternion;
use super::polyhedra::{CONTACT_THREADS, SIDE, posed};
use super::polyhedra_lists::PAIR_LOAD;
use super::{add_and_store_sum, is_halted, raise};
use crate::bodies::is_ghost;
use crate::layout::{Record, coefficients, four_numbers, last, record, xyz};
use crate::motion::TOO_DEEP;
use crate::periodic::{PeriodicBoundaries, nearest_image};
use crate::shape_features::ShapePair;
use crate::shape_pairs::contact_in_slot;
use crate::shape_search::{
    Extents, approach_of, direction_along, extents_of, nothing_found, planes_meet, search_features, sizes_of_search,
};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Vector3, larger};

/// Threads that share the features of a pair. Rocks of 14 faces have 24 vertices and 36 edges.
const LANES: u32 = 16;

/// Pairs that a block takes one after the other from the order of pairs.
const RUN: usize = 8;

/// Threads of a block that computes forces, which are also its pairs.
const BLOCK: u32 = CONTACT_THREADS as u32;

/// Pairs whose contacts are counted one after the other by one thread.
const SEGMENT: usize = 16;

/// Segments of a block.
const SEGMENTS: usize = CONTACT_THREADS / SEGMENT;

/// Pair k as laws read it, with its direction of the last step.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn shape_pair<C: Coordinate<R>, R: Coordinate<R>>(
    k: usize,
    pairs: &[u32],
    shape: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
    direction: &Vector3<R>,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] kind: u32,
) -> ShapePair<C, R> {
    let first = pairs[k * 2usize] as usize;
    let second = pairs[k * 2usize + 1usize] as usize;
    let between = xyz::<C>(position[first]).minus(&xyz::<C>(position[second]));
    let apart = nearest_image::<C, R>(&between, sides, kind).apart;
    let i = posed::<C, R>(first, shape, position, velocity, spin, orientation);
    let j = posed::<C, R>(second, shape, position, velocity, spin, orientation);
    ShapePair::<C, R> {
        apart,
        velocity: xyz::<R>(velocity[first]).minus(&xyz::<R>(velocity[second])),
        direction: direction.plus(&Vector3::<R>::zero()),
        i,
        j,
    }
}

/// Place in the order of pairs of the one that thread `unit` of this block tests. Threads of a block take short runs of pairs from all over the order, as
/// those that touched come first in it, and would be searched by few blocks.
#[cube]
fn place_of_pair(unit: usize) -> usize {
    ((unit / RUN) * CUBE_COUNT + CUBE_POS) * RUN + unit % RUN
}

/// Finds the contacts of n pairs. Their keys are written to `keys`, with `slots` slots a pair, and their number to `loads`, see [`PAIR_LOAD`], where all
/// forces are zero then.
///
/// Blocks have [`CONTACT_THREADS`] threads. Each tests a pair, in this order; then [`LANES`] threads together search each pair that may touch.
///
/// A pair with contacts for which there are too few slots raises the flag of a too deep overlap.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn search_shape_pairs<R: Coordinate<R>, C: Coordinate<R>>(
    pairs: &[u32],
    order: &[u32],
    shape: &[u32],
    words: &[u32],
    numbers: &[C],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
    keys: &mut [u32],
    loads: &mut [Record<R>],
    flags: &mut [u32],
    sides: &PeriodicBoundaries<C, R>,
    n: u32,
    parity: u32,
    #[comptime] slots: usize,
    #[comptime] kind: u32,
) {
    let mut found_keys = Shared::<[u32]>::new_slice(comptime!(CONTACT_THREADS * slots));
    let mut found = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    let mut searched = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    let mut reaches = Shared::<[Record<C>]>::new_slice(CONTACT_THREADS);
    let mut nearest_of = Shared::<[Record<C>]>::new_slice(CONTACT_THREADS);
    let unit = UNIT_POS as usize;
    if !is_halted(flags, parity) {
        let place = place_of_pair(unit);
        let mut is_near = 0u32.runtime();
        if place < n as usize {
            let k = order[place] as usize;
            let at = k * PAIR_LOAD;
            let direction = xyz::<R>(loads[at + 3usize]);
            let pair = shape_pair::<C, R>(k, pairs, shape, position, velocity, spin, orientation, &direction, sides, kind);
            let sizes = sizes_of_search::<C, R>(&pair, words, numbers);
            let approach = approach_of::<C, R>(&pair, &sizes);
            if approach.spheres_meet {
                let extents = extents_of::<C, R>(&pair, &approach, words, numbers);
                if planes_meet::<C>(&approach, &extents) {
                    is_near = 1u32;
                }
                reaches[unit] = four_numbers::<C>(extents.low_i, extents.high_j, approach.bound, C::new(0.0));
            }
            let nothing = Record::<R>::new(R::new(0.0));
            loads[at] = nothing;
            loads[at + 1usize] = nothing;
            loads[at + 2usize] = nothing;
            loads[at + 3usize] = record::<R>(&direction, R::new(-1.0));
            keys[k * slots] = 0u32;
        }
        found[unit] = is_near;
        sync_cube();
        // The pairs to be searched, by the threads that tested them.
        let mut before = 0u32.runtime();
        let mut all = 0u32.runtime();
        for s in 0..CONTACT_THREADS {
            if s < unit {
                before += found[s];
            }
            all += found[s];
        }
        if is_near == 1u32 {
            searched[before as usize] = UNIT_POS;
        }
        sync_cube();

        let lane = UNIT_POS % LANES;
        let first = unit - lane as usize;
        let mut begin = 0u32.runtime();
        while begin < all {
            let turn = begin + UNIT_POS / LANES;
            let is_searched = turn < all;
            let mut goes_on = turn < all;
            let mut k = 0usize.runtime();
            let mut reach = Record::<C>::new(C::new(0.0));
            if is_searched {
                let tester = searched[turn as usize] as usize;
                k = order[place_of_pair(tester)] as usize;
                reach = reaches[tester];
            }
            let at = k * PAIR_LOAD;
            let bound_square = reach.extract(2usize) * reach.extract(2usize);
            let mut limit = reach.extract(2usize);
            let mut contacts = 0u32.runtime();
            let mut least = C::new(-1.0);
            let mut nearest = Vector3::<C>::zero();
            // A pair that is apart is searched twice, see `find_contacts`. All threads of the block come along, as they wait for each other.
            for _round in 0..2u32 {
                if goes_on {
                    let direction = xyz::<R>(loads[at + 3usize]);
                    let pair = shape_pair::<C, R>(k, pairs, shape, position, velocity, spin, orientation, &direction, sides, kind);
                    let sizes = sizes_of_search::<C, R>(&pair, words, numbers);
                    let approach = approach_of::<C, R>(&pair, &sizes);
                    let extents = Extents::<C> {
                        low_i: reach.extract(0usize),
                        high_j: reach.extract(1usize),
                    };
                    let mut search = nothing_found::<C>();
                    search.least = least;
                    search.nearest = nearest.plus(&Vector3::<C>::zero());
                    search_features::<C, R>(
                        &pair,
                        &sizes,
                        &approach,
                        &extents,
                        words,
                        numbers,
                        limit,
                        lane,
                        LANES,
                        unit * slots,
                        comptime!(slots as u32),
                        &mut found_keys,
                        &mut search,
                    );
                    found[unit] = search.at.contacts;
                    nearest_of[unit] = record::<C>(&search.nearest, search.least);
                }
                sync_cube();
                if goes_on {
                    for s in first..first + LANES as usize {
                        contacts += found[s];
                        let square = last::<C>(nearest_of[s]);
                        if square >= C::new(0.0) && (least < C::new(0.0) || square < least) {
                            least = square;
                            nearest = xyz::<C>(nearest_of[s]);
                        }
                    }
                    goes_on = contacts == 0u32 && least > bound_square;
                    limit = C::root(larger::<C>(least, bound_square));
                }
                sync_cube();
            }
            // Keys in ascending order: each goes behind those that are smaller.
            if is_searched {
                for c in 0..min(found[unit], comptime!(slots as u32)) {
                    let key = found_keys[unit * slots + c as usize];
                    let mut rank = 0usize.runtime();
                    for s in first..first + LANES as usize {
                        for d in 0..min(found[s], comptime!(slots as u32)) {
                            if found_keys[s * slots + d as usize] < key {
                                rank += 1usize;
                            }
                        }
                    }
                    if rank < slots {
                        keys[k * slots + rank] = key;
                    }
                }
                if lane == 0u32 {
                    let mut direction = xyz::<R>(loads[at + 3usize]);
                    if least >= C::new(0.0) {
                        direction = direction_along::<C, R>(&nearest, &quaternion::<C>(orientation[pairs[k * 2usize + 1usize] as usize]));
                    }
                    loads[at] = record::<R>(&Vector3::<R>::zero(), R::counted(contacts));
                    loads[at + 3usize] = record::<R>(&direction, R::new(-1.0));
                    if contacts < comptime!(slots as u32) {
                        keys[k * slots + contacts as usize] = 0u32;
                    }
                    if contacts > comptime!(slots as u32) {
                        raise(flags, parity, TOO_DEEP);
                    }
                }
            }
            sync_cube();
            begin += comptime!(CONTACT_THREADS as u32 / LANES);
        }
    }
}

/// Forces of the contacts that [`search_shape_pairs()`] found. Each block takes as many pairs as it has threads, in this order; results of each pair are
/// added to its `loads`. Histories are read from `old_keys` and `old_springs` and written to `springs`.
///
/// If some pairs are `shared` with other subdomains, `member` marks ghost particles. The owner of a ghost computes the pair, too, so half of its powers
/// counts here.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn shape_pair_contacts<R: Coordinate<R>, C: Coordinate<R>>(
    pairs: &[u32],
    order: &[u32],
    shape: &[u32],
    words: &[u32],
    numbers: &[C],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
    material: &[u32],
    member: &[u32],
    table: &[R],
    old_keys: &[u32],
    old_springs: &[R],
    keys: &mut [u32],
    springs: &mut [R],
    loads: &mut [Record<R>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    sides: &PeriodicBoundaries<C, R>,
    dt: R,
    overlap_limit: R,
    slots: u32,
    n: u32,
    materials: u32,
    parity: u32,
    #[comptime] kind: u32,
    #[comptime] shared: bool,
) {
    let mut first_of = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    let mut of_segment = Shared::<[u32]>::new_slice(SEGMENTS);
    let mut of_contact = Shared::<[Record<R>]>::new_slice(CONTACT_THREADS);
    let unit = UNIT_POS as usize;
    let place = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        // The pair of this thread.
        let mut own = 0u32.runtime();
        let mut contacts = 0u32.runtime();
        if place < n as usize {
            own = order[place];
            contacts = min(R::whole(last::<R>(loads[own as usize * PAIR_LOAD])), slots);
        }
        let at = own as usize * PAIR_LOAD;
        // The number of its first contact among those of the block, and the number of all.
        first_of[unit] = contacts;
        sync_cube();
        if unit < SEGMENTS {
            let mut sum = 0u32.runtime();
            for k in 0..SEGMENT {
                let count = first_of[unit * SEGMENT + k];
                first_of[unit * SEGMENT + k] = sum;
                sum += count;
            }
            of_segment[unit] = sum;
        }
        sync_cube();
        let mut first = first_of[unit];
        let mut all = 0u32.runtime();
        for k in 0..SEGMENTS {
            let sum = of_segment[k];
            if k < unit / SEGMENT {
                first += sum;
            }
            all += sum;
        }
        sync_cube();
        first_of[unit] = first;
        sync_cube();
        let end = first + contacts;

        let mut took = Record::<R>::new(R::new(0.0));
        let mut excess = R::new(-1.0);
        let mut conducting_radius = R::new(0.0);
        // Contacts from `begin` on are computed together. The number of rounds is the same for all threads of the block.
        let mut begin = 0u32.runtime();
        while begin < all {
            let contact = begin + UNIT_POS;
            let mut pushes = Record::<R>::new(R::new(0.0));
            let mut turns_i = Record::<R>::new(R::new(0.0));
            let mut turns_j = Record::<R>::new(R::new(0.0));
            let mut powers = Record::<R>::new(R::new(0.0));
            if contact < all {
                // Its pair is the last one whose first contact does not come later.
                let mut low = 0u32.runtime();
                let mut high = BLOCK.runtime();
                while high - low > 1u32 {
                    let middle = (low + high) / 2u32;
                    if first_of[middle as usize] <= contact {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                let k = order[place - unit + low as usize] as usize;
                let i = pairs[k * 2usize] as usize;
                let j = pairs[k * 2usize + 1usize] as usize;
                // Only the search needs a direction.
                let none = Vector3::<R>::zero();
                let pair = shape_pair::<C, R>(k, pairs, shape, position, velocity, spin, orientation, &none, sides, kind);
                let laws = coefficients::<R>(table, (material[i] * materials + material[j]) as usize);
                let sums = contact_in_slot::<C, R>(
                    contact - first_of[low as usize],
                    &pair,
                    words,
                    numbers,
                    k * slots as usize,
                    slots,
                    old_keys,
                    old_springs,
                    keys,
                    springs,
                    &laws,
                    dt,
                    overlap_limit,
                );
                pushes = record::<R>(&sums.force, sums.conducting_radius);
                turns_i = record::<R>(&sums.torque_i, sums.normal_energy);
                turns_j = record::<R>(&sums.torque_j, sums.tangential_energy);
                powers = four_numbers::<R>(sums.normal_power, sums.tangential_power, sums.damping_power, sums.excess);
            }
            // Contacts of the pair of this thread among these.
            let from = (max(first, begin) - begin) as usize;
            let upto = (max(min(end, begin + BLOCK), begin) - begin) as usize;
            of_contact[unit] = pushes;
            sync_cube();
            if from < upto {
                let mut force = xyz::<R>(loads[at]);
                for s in from..upto {
                    force = force.plus(&xyz::<R>(of_contact[s]));
                    conducting_radius += last::<R>(of_contact[s]);
                }
                loads[at] = record::<R>(&force, last::<R>(loads[at]));
            }
            sync_cube();
            of_contact[unit] = turns_i;
            sync_cube();
            if from < upto {
                let mut sum = loads[at + 1usize];
                for s in from..upto {
                    sum += of_contact[s];
                }
                loads[at + 1usize] = sum;
            }
            sync_cube();
            of_contact[unit] = turns_j;
            sync_cube();
            if from < upto {
                let mut sum = loads[at + 2usize];
                for s in from..upto {
                    sum += of_contact[s];
                }
                loads[at + 2usize] = sum;
            }
            sync_cube();
            of_contact[unit] = powers;
            sync_cube();
            if from < upto {
                for s in from..upto {
                    took += of_contact[s];
                    excess = larger::<R>(excess, last::<R>(of_contact[s]));
                }
            }
            sync_cube();
            begin += BLOCK;
        }

        if contacts > 0u32 {
            loads[at + 3usize] = record::<R>(&xyz::<R>(loads[at + 3usize]), excess);
            loads[at + 4usize] = record::<R>(&Vector3::<R>::zero(), conducting_radius);
            if excess > R::new(0.0) {
                raise(flags, parity, TOO_DEEP);
            }
        }
        let mut share = R::new(1.0);
        if shared {
            if contacts > 0u32 {
                let i = pairs[own as usize * 2usize] as usize;
                let j = pairs[own as usize * 2usize + 1usize] as usize;
                if is_ghost(member[i]) || is_ghost(member[j]) {
                    share = R::new(0.5);
                }
            }
        }
        add_and_store_sum::<C, R>(
            power,
            four_numbers::<R>(
                share * took.extract(0usize),
                share * took.extract(1usize),
                share * took.extract(2usize),
                R::new(0.0),
            ),
            SIDE,
        );
    }
}
