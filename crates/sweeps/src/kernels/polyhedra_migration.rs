//! Polyhedral grains that come to a subdomain and leave it: their shapes, and the histories of their contacts.

use super::polyhedra_lists::{NO_END, PAIR_LOAD, WALL_LOAD, copy_slots, wall_of};
use crate::bodies::FREE;
use crate::layout::{Record, last};
use cubecl::prelude::*;
use seixo_laws::Real;

/// Marks m grains from index `from` on by their shapes: the last numbers of their angular momenta, where zero is a sphere.
#[cube(launch)]
pub fn mark_arrived_shapes<C: Real>(momentum: &[Record<C>], shape: &mut [u32], from: u32, m: u32) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = from as usize + k;
        let mut mark = C::whole(last::<C>(momentum[i]));
        if mark == 0u32 {
            mark = FREE.runtime();
        }
        shape[i] = mark;
    }
}

/// Whether a pair was in contact in the last step; `end` is one of its ends.
#[cube]
fn is_touching<R: Real>(end: u32, loads: &[Record<R>]) -> bool {
    let mut touches = false;
    if end != NO_END {
        touches = last::<R>(loads[(end >> 1u32) as usize * PAIR_LOAD]) > R::new(0.0);
    }
    touches
}

/// Index of the other grain of a pair, of which this is an end.
#[cube]
pub(super) fn partner_at(end: u32, pairs: &[u32]) -> usize {
    let own = end & 1u32;
    pairs[((end >> 1u32) * 2u32 + 1u32 - own) as usize] as usize
}

/// Number of pairs in contact of each of m grains at these indices.
#[cube(launch)]
pub fn count_shape_contacts<R: Real>(place: &[u32], end_first: &[u32], ends: &[u32], loads: &[Record<R>], out: &mut [u32], m: u32) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        let mut touching = 0u32;
        for s in end_first[i]..end_first[i + 1usize] {
            if is_touching::<R>(ends[s as usize], loads) {
                touching += 1u32;
            }
        }
        out[k] = touching;
    }
}

/// Packs the contact histories of the pairs of m grains, from their entry of `start` on, with the number of the grain among the m and the id of the other
/// grain. A pair has `slots` slots, of which those after the first free one have no meaning. Pairs beyond the `room` are left out.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn pack_shape_contacts<R: Real>(
    place: &[u32],
    start: &[u32],
    end_first: &[u32],
    ends: &[u32],
    pairs: &[u32],
    id: &[u32],
    loads: &[Record<R>],
    keys: &[u32],
    springs: &[R],
    whose: &mut [u32],
    packed_keys: &mut [u32],
    packed_springs: &mut [R],
    room: u32,
    slots: u32,
    m: u32,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        let mut at = start[k];
        for s in end_first[i]..end_first[i + 1usize] {
            let end = ends[s as usize];
            if is_touching::<R>(end, loads) {
                if at < room {
                    let partner = partner_at(end, pairs);
                    whose[at as usize * 2usize] = k as u32;
                    whose[at as usize * 2usize + 1usize] = id[partner];
                    let from = ((end >> 1u32) * slots) as usize;
                    copy_slots::<R>(from, (at * slots) as usize, slots, keys, springs, packed_keys, packed_springs);
                }
                at += 1u32;
            }
        }
    }
}

/// Restores the contact histories of this many pairs, see [`pack_shape_contacts()`]; `place` has the present indices of the grains. Histories with grains
/// that are no longer near are dropped. If both grains of a pair have arrived, both bring the same numbers.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn unpack_shape_contacts<R: Real>(
    whose: &[u32],
    packed_keys: &[u32],
    packed_springs: &[R],
    place: &[u32],
    id: &[u32],
    end_first: &[u32],
    ends: &[u32],
    pairs: &[u32],
    keys: &mut [u32],
    springs: &mut [R],
    slots: u32,
    entries: u32,
) {
    let at = ABSOLUTE_POS;
    if at < entries as usize {
        let i = place[whose[at * 2usize] as usize] as usize;
        let other = whose[at * 2usize + 1usize];
        for s in end_first[i]..end_first[i + 1usize] {
            let end = ends[s as usize];
            if end != NO_END {
                let partner = partner_at(end, pairs);
                if id[partner] == other {
                    let to = ((end >> 1u32) * slots) as usize;
                    copy_slots::<R>(at * slots as usize, to, slots, packed_keys, packed_springs, keys, springs);
                }
            }
        }
    }
}

/// Number of wall elements that each of m grains at these indices touched in the last step, as a polyhedral grain.
#[cube(launch)]
pub fn count_shape_touches<C: Real>(place: &[u32], row: &[u32], loads: &[Record<C>], out: &mut [u32], m: u32) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        let mut touched = 0u32;
        for q in row[i]..row[i + 1usize] {
            if last::<C>(loads[q as usize * WALL_LOAD]) > C::new(0.0) {
                touched += 1u32;
            }
        }
        out[k] = touched;
    }
}

/// As [`pack_shape_contacts()`], for wall elements.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn pack_shape_touches<R: Real, C: Real>(
    place: &[u32],
    start: &[u32],
    row: &[u32],
    list: &[u32],
    loads: &[Record<C>],
    keys: &[u32],
    springs: &[R],
    whose: &mut [u32],
    packed_keys: &mut [u32],
    packed_springs: &mut [R],
    room: u32,
    slots: u32,
    m: u32,
) {
    let k = ABSOLUTE_POS;
    if k < m as usize {
        let i = place[k] as usize;
        let mut at = start[k];
        for q in row[i]..row[i + 1usize] {
            if last::<C>(loads[q as usize * WALL_LOAD]) > C::new(0.0) {
                if at < room {
                    whose[at as usize * 2usize] = k as u32;
                    whose[at as usize * 2usize + 1usize] = list[q as usize];
                    let from = (q * slots) as usize;
                    copy_slots::<R>(from, (at * slots) as usize, slots, keys, springs, packed_keys, packed_springs);
                }
                at += 1u32;
            }
        }
    }
}

/// As [`unpack_shape_contacts()`], for wall elements. All triangles of a mesh are one wall. Its histories were at its first entry in the row before, and
/// go to the first in the present row. `features` name the mesh of each element, see [`crate::shape_meshes::FEATURES`].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn unpack_shape_touches<R: Real>(
    whose: &[u32],
    packed_keys: &[u32],
    packed_springs: &[R],
    place: &[u32],
    row: &[u32],
    list: &[u32],
    features: &[u32],
    keys: &mut [u32],
    springs: &mut [R],
    slots: u32,
    entries: u32,
) {
    let at = ABSOLUTE_POS;
    if at < entries as usize {
        let i = place[whose[at * 2usize] as usize] as usize;
        let wall = wall_of(whose[at * 2usize + 1usize], features);
        let mut found = NO_END.runtime();
        for q in row[i]..row[i + 1usize] {
            if found == NO_END && wall_of(list[q as usize], features) == wall {
                found = q;
            }
        }
        if found != NO_END {
            let to = (found * slots) as usize;
            copy_slots::<R>(at * slots as usize, to, slots, packed_keys, packed_springs, keys, springs);
        }
    }
}
