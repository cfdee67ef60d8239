//! Forces of pairs with a polyhedral grain. [`super::polyhedra_search`] has written the keys of their contacts.
//!
//! Few pairs touch, and these take many times as long as others. So the forces have a thread a contact. Each block takes as many pairs as it has threads,
//! numbers their contacts, and computes as many at a time as it has threads. Then each thread adds those of its pair in the order of keys. So sums depend
//! neither on the block nor on the order of pairs.

use super::polyhedra::{CONTACT_THREADS, SIDE, posed};
use super::polyhedra_lists::PAIR_LOAD;
use super::{add_and_store_sum, is_halted, raise};
use crate::bodies::is_ghost;
use crate::layout::{Record, coefficients, four_numbers, last, record, xyz};
use crate::motion::TOO_DEEP;
use crate::periodic::{PeriodicBoundaries, nearest_image};
use crate::shape_features::ShapePair;
use crate::shape_pairs::contact_in_slot;
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Vector3, larger};

/// Threads of a block that computes forces, which are also its pairs.
const BLOCK: u32 = CONTACT_THREADS as u32;

/// Pairs whose contacts are counted one after the other by one thread.
const SEGMENT: usize = 16;

/// Segments of a block.
const SEGMENTS: usize = CONTACT_THREADS / SEGMENT;

/// Pair k as laws read it, with its direction of the last step.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(super) fn shape_pair<C: Coordinate<R>, R: Coordinate<R>>(
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

/// Forces of the contacts that [`crate::kernels::polyhedra_search::search_shape_pairs()`] found. Each block takes as many pairs as it has threads, in this order;
/// results of each pair are added to its `loads`. Histories are read from `old_keys` and `old_springs` and written to `springs`.
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
