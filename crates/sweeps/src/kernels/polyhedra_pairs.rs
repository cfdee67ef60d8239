//! Forces of pairs with a polyhedral grain. [`super::polyhedra_near`] has written the keys of their contacts.
//!
//! Few pairs touch, and these take many times as long as others. So the forces have a thread a contact. Each block takes as many pairs as it has threads,
//! numbers their contacts, and computes as many at a time as it has threads. Then each thread adds those of its pair in the order of keys. So sums depend
//! neither on the block nor on the order of pairs.
//!
//! Contacts of one kind follow each other, as threads side by side that take different branches wait for each other. Keys begin with the kind, so the
//! contacts of a pair still ascend in this order.

use super::polyhedra::{CONTACT_BLOCK, CONTACT_COUNTS, CONTACT_THREADS, SIDE, posed};
use super::polyhedra_blocks::number_in_block;
use super::polyhedra_lists::PAIR_LOAD;
use super::{add_and_store_sum, is_halted, raise};
use crate::bodies::is_ghost;
use crate::layout::{Record, coefficients, four_numbers, last, record, xyz};
use crate::motion::TOO_DEEP;
use crate::periodic::{PeriodicBoundaries, nearest_image};
use crate::shape_features::{KIND_BIT, ShapePair, VERTEX_OF_I, VERTEX_OF_J};
use crate::shape_pairs::contact_in_slot;
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Vector3, larger};

/// Bits of a number of contacts in a word: more than those of all contacts of a block.
const COUNT_BITS: u32 = 16;

/// The lower of two such numbers in a word.
const COUNT: u32 = (1 << COUNT_BITS) - 1;

/// Largest number of slots of a pair: a block numbers all contacts of its pairs with 16 bits.
pub const MOST_SLOTS: usize = COUNT as usize / CONTACT_THREADS;

/// Contacts of the pair of a thread by kind: how many are vertices of i and of j, and where those of each kind begin among the contacts of the block.
#[derive(CubeType, Clone, Copy, Debug)]
struct KindsOfPair {
    vertices_of_i: u32,
    vertices_of_j: u32,
    first_of_i: u32,
    first_of_j: u32,
    first_of_edges: u32,
}

/// Counts and numbers the contacts of each kind in a block. All threads of the block call it; the keys of its pair start at `first_slot`. Pairs before it
/// have `before` contacts of any kind.
#[cube]
fn kinds_of_pair(first_slot: usize, contacts: u32, before: u32, keys: &mut [u32], counts: &mut [u32]) -> KindsOfPair {
    let mut vertices_of_i = 0u32.runtime();
    let mut vertices_of_j = 0u32.runtime();
    for c in 0u32..contacts {
        let kind = keys[first_slot + c as usize] >> KIND_BIT;
        if kind == VERTEX_OF_I {
            vertices_of_i += 1u32;
        } else if kind == VERTEX_OF_J {
            vertices_of_j += 1u32;
        }
    }
    let vertices = number_in_block(vertices_of_i | (vertices_of_j << COUNT_BITS), counts, CONTACT_THREADS);
    let first_of_i = vertices.before & COUNT;
    let before_of_j = vertices.before >> COUNT_BITS;
    let all_of_i = vertices.all & COUNT;
    let all_of_j = vertices.all >> COUNT_BITS;
    let first_of_j = all_of_i + before_of_j;
    let first_of_edges = all_of_i + all_of_j + (before - first_of_i - before_of_j);
    KindsOfPair {
        vertices_of_i,
        vertices_of_j,
        first_of_i,
        first_of_j,
        first_of_edges,
    }
}

/// Place of contact c of a pair among those of the block.
#[cube]
fn place_of_contact(c: u32, kinds: &KindsOfPair) -> u32 {
    let vertices = kinds.vertices_of_i + kinds.vertices_of_j;
    let mut place = kinds.first_of_i + c;
    if c >= vertices {
        place = kinds.first_of_edges + (c - vertices);
    } else if c >= kinds.vertices_of_i {
        place = kinds.first_of_j + (c - kinds.vertices_of_i);
    }
    place
}

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

/// Forces of the contacts that [`crate::kernels::polyhedra_near::find_near_contacts()`] found. Each block takes as many pairs as it has threads, in this order;
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
    let mut counts = Shared::<[u32]>::new_slice(CONTACT_COUNTS);
    // Of the contacts that are computed together: the thread of the pair and the number in the pair; force; torques and energies; radius and excess.
    let mut taken = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    let mut pushes = Shared::<[Record<R>]>::new_slice(CONTACT_THREADS);
    let mut turns_of_i = Shared::<[Record<R>]>::new_slice(CONTACT_THREADS);
    let mut turns_of_j = Shared::<[Record<R>]>::new_slice(CONTACT_THREADS);
    let mut sizes = Shared::<[R]>::new_slice(CONTACT_THREADS * 2);
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
        let numbered = number_in_block(contacts, &mut counts, CONTACT_THREADS);
        if numbered.all > 0u32 {
            let mut took = Record::<R>::new(R::new(0.0));
            let kinds = kinds_of_pair((own * slots) as usize, contacts, numbered.before, keys, &mut counts);
            let mut excess = R::new(-1.0);
            let mut conducting_radius = R::new(0.0);
            // Contacts from `begin` on are computed together. The number of rounds is the same for all threads of the block.
            let mut begin = 0u32.runtime();
            while begin < numbered.all {
                for c in 0u32..contacts {
                    let to = place_of_contact(c, &kinds);
                    if to >= begin && to < begin + CONTACT_BLOCK {
                        taken[(to - begin) as usize] = (UNIT_POS << COUNT_BITS) | c;
                    }
                }
                sync_cube();
                if begin + UNIT_POS < numbered.all {
                    let item = taken[unit];
                    let k = order[place - unit + (item >> COUNT_BITS) as usize] as usize;
                    let i = pairs[k * 2usize] as usize;
                    let j = pairs[k * 2usize + 1usize] as usize;
                    // Only the search needs a direction.
                    let none = Vector3::<R>::zero();
                    let pair = shape_pair::<C, R>(k, pairs, shape, position, velocity, spin, orientation, &none, sides, kind);
                    let laws = coefficients::<R>(table, (material[i] * materials + material[j]) as usize);
                    let sums = contact_in_slot::<C, R>(
                        item & COUNT,
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
                    pushes[unit] = record::<R>(&sums.force, R::new(0.0));
                    turns_of_i[unit] = record::<R>(&sums.torque_i, sums.normal_energy);
                    turns_of_j[unit] = record::<R>(&sums.torque_j, sums.tangential_energy);
                    sizes[unit * 2usize] = sums.conducting_radius;
                    sizes[unit * 2usize + 1usize] = sums.excess;
                    let mut share = R::new(1.0);
                    if shared {
                        if is_ghost(member[i]) || is_ghost(member[j]) {
                            share = R::new(0.5);
                        }
                    }
                    took += four_numbers::<R>(
                        share * sums.normal_power,
                        share * sums.tangential_power,
                        share * sums.damping_power,
                        R::new(0.0),
                    );
                }
                sync_cube();
                // One contact after the other, so that sums do not depend on which are computed together.
                if contacts > 0u32 {
                    let mut push = loads[at];
                    let mut turn_of_i = loads[at + 1usize];
                    let mut turn_of_j = loads[at + 2usize];
                    for c in 0u32..contacts {
                        let from = place_of_contact(c, &kinds);
                        if from >= begin && from < begin + CONTACT_BLOCK {
                            let s = (from - begin) as usize;
                            push += pushes[s];
                            turn_of_i += turns_of_i[s];
                            turn_of_j += turns_of_j[s];
                            conducting_radius += sizes[s * 2usize];
                            excess = larger::<R>(excess, sizes[s * 2usize + 1usize]);
                        }
                    }
                    loads[at] = push;
                    loads[at + 1usize] = turn_of_i;
                    loads[at + 2usize] = turn_of_j;
                }
                sync_cube();
                begin += CONTACT_BLOCK;
            }
            if contacts > 0u32 {
                loads[at + 3usize] = record::<R>(&xyz::<R>(loads[at + 3usize]), excess);
                loads[at + 4usize] = record::<R>(&Vector3::<R>::zero(), conducting_radius);
                if excess > R::new(0.0) {
                    raise(flags, parity, TOO_DEEP);
                }
            }
            add_and_store_sum::<C, R>(power, took, SIDE);
        } else if UNIT_POS == 0u32 && CUBE_POS * 2usize < power.len() {
            // Most blocks have no contacts, and add nothing.
            power[CUBE_POS * 2usize + 1usize] = Record::<C>::new(C::new(0.0));
        }
    }
}
