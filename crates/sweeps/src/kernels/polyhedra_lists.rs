//! Lists of pairs with a polyhedral grain, from rows of neighbors, and histories that outlast a rebuild.
//!
//! The first grain of a pair is that with the lower id, and has the pair in its list. In a subdomain ghost particles have no lists, so the pair of a ghost
//! is in the list of the other grain, whichever comes first. All are in the order of ids, as on a CPU: pairs in the list of a grain, and the ends of all
//! pairs of a grain, by the id of the partner. So sums have an order that depends neither on the cells nor on the domains.

use crate::bodies::{FREE, GHOST, is_ghost};
use crate::entries::{PLACE, TILE, first_entry};
use crate::layout::{Record, last};
use crate::shape_meshes::{FEATURES, FIRST_OF_MESH};
use cubecl::prelude::*;
use seixo_laws::Real;

/// Records of a pair: force on the first grain and number of contacts, torque on the first and energy of normal springs, torque on the second and energy
/// of tangential springs, direction and excess of the overlap, padding and the sum of the contact radii. The last record of a pair without contacts has
/// no meaning.
pub const PAIR_LOAD: usize = 5;

/// Records of a grain at a wall element: force and number of contacts, torque and energy of normal springs, point and energy of tangential springs,
/// sum of the contact radii, padding and overlap.
pub const WALL_LOAD: usize = 4;

/// The end of a pair that is not in the list: its first grain is so far away that rounding left it out of one of both rows.
pub const NO_END: u32 = u32::MAX;

/// Whether one of two grains with these shapes is polyhedral; spheres have the mark [`FREE`].
#[cube]
fn has_shape(one: u32, other: u32) -> bool {
    one != FREE || other != FREE
}

/// Whether a grain with this `own` id lists its pair with grain j, whose id is `other`. If there are `ghosts`, `member` marks them.
#[cube]
fn lists_pair(own: u32, other: u32, j: usize, member: &[u32], #[comptime] ghosts: bool) -> bool {
    let mut lists = own < other;
    if ghosts {
        lists = lists || is_ghost(member[j]);
    }
    lists
}

/// Counts the pairs that each of n grains lists, and all its pairs, of those with a polyhedral grain. If there are `ghosts`, `member` marks them.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn count_shape_pairs(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    id: &[u32],
    shape: &[u32],
    member: &[u32],
    pairs: &mut [u32],
    ends: &mut [u32],
    n: u32,
    #[comptime] ghosts: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let first = first_entry(i, tile_first);
        let own = id[i];
        let mark = shape[i];
        let mut listed = 0u32;
        let mut all = 0u32;
        for s in 0..count[i] {
            let j = (list[first + s as usize * TILE] & PLACE) as usize;
            if has_shape(mark, shape[j]) {
                all += 1u32;
                if lists_pair(own, id[j], j, member, ghosts) {
                    listed += 1u32;
                }
            }
        }
        pairs[i] = listed;
        ends[i] = all;
    }
}

/// Writes the pairs that each of n grains lists, from pair `pair_first` of the grain on: the indices of both grains, that with the lower id first. If
/// there are `ghosts`, `member` marks them.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn list_shape_pairs(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    id: &[u32],
    shape: &[u32],
    member: &[u32],
    pair_first: &[u32],
    pairs: &mut [u32],
    n: u32,
    #[comptime] ghosts: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let first = first_entry(i, tile_first);
        let own = id[i];
        let mark = shape[i];
        let start = pair_first[i] as usize;
        let mut placed = 0u32;
        for s in 0..count[i] {
            let j = list[first + s as usize * TILE] & PLACE;
            let other = id[j as usize];
            if has_shape(mark, shape[j as usize]) && lists_pair(own, other, j as usize, member, ghosts) {
                let mut place = placed;
                let mut goes_on = placed > 0u32;
                while goes_on {
                    let at = (start + place as usize) * 2usize;
                    // One of both is the grain itself.
                    let one = pairs[at - 2usize];
                    let two = pairs[at - 1usize];
                    let before = select(one == i as u32, two, one);
                    goes_on = id[before as usize] > other;
                    if goes_on {
                        pairs[at] = one;
                        pairs[at + 1usize] = two;
                        place -= 1u32;
                        goes_on = place > 0u32;
                    }
                }
                let at = (start + place as usize) * 2usize;
                pairs[at] = select(own < other, i as u32, j);
                pairs[at + 1usize] = select(own < other, j, i as u32);
                placed += 1u32;
            }
        }
    }
}

/// The pair with this partner in the list of grain i; [`NO_END`] if it is not there.
#[cube]
fn pair_of(i: usize, partner: u32, pair_first: &[u32], pairs: &[u32]) -> u32 {
    let mut found = NO_END.runtime();
    for p in pair_first[i]..pair_first[i + 1usize] {
        let at = p as usize * 2usize;
        if pairs[at] == partner || pairs[at + 1usize] == partner {
            found = p;
        }
    }
    found
}

/// The pair of the grains with these ids among the ends from `begin` to `end`; [`NO_END`] if it is not there.
#[cube]
fn pair_with_ids(first: u32, second: u32, begin: u32, end: u32, ends: &[u32], pairs: &[u32], id: &[u32]) -> u32 {
    let mut found = NO_END.runtime();
    for s in begin..end {
        let word = ends[s as usize];
        if word != NO_END {
            let at = (word >> 1u32) as usize * 2usize;
            if id[pairs[at] as usize] == first && id[pairs[at + 1usize] as usize] == second {
                found = word >> 1u32;
            }
        }
    }
    found
}

/// Writes the ends of the pairs of each of n grains, from end `end_first` of the grain on: twice the index of the pair, plus one for its second grain. If
/// there are `ghosts`, `member` marks them.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn list_shape_ends(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    id: &[u32],
    shape: &[u32],
    member: &[u32],
    pair_first: &[u32],
    pairs: &[u32],
    end_first: &[u32],
    ends: &mut [u32],
    n: u32,
    #[comptime] ghosts: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let first = first_entry(i, tile_first);
        let own = id[i];
        let mark = shape[i];
        let start = end_first[i] as usize;
        let mut placed = 0u32;
        for s in 0..count[i] {
            let j = (list[first + s as usize * TILE] & PLACE) as usize;
            let other = id[j];
            if has_shape(mark, shape[j]) && other < own {
                let mut is_own = own < other;
                if ghosts {
                    is_own = is_ghost(member[j]);
                }
                let lister = select(is_own, i as u32, j as u32);
                let partner = select(is_own, j as u32, i as u32);
                let pair = pair_of(lister as usize, partner, pair_first, pairs);
                if pair != NO_END {
                    let mut place = placed;
                    let mut goes_on = placed > 0u32;
                    while goes_on {
                        let before = ends[start + place as usize - 1usize];
                        let partner_before = pairs[(before >> 1u32) as usize * 2usize];
                        goes_on = id[partner_before as usize] > other;
                        if goes_on {
                            ends[start + place as usize] = before;
                            place -= 1u32;
                            goes_on = place > 0u32;
                        }
                    }
                    ends[start + place as usize] = pair * 2u32 + 1u32;
                    placed += 1u32;
                }
            }
        }
        let mut at = start + placed as usize;
        for p in pair_first[i]..pair_first[i + 1usize] {
            // Those of which it is the second grain are placed already.
            if pairs[p as usize * 2usize] == i as u32 {
                ends[at] = p * 2u32;
                at += 1usize;
            }
        }
        for rest in at..end_first[i + 1usize] as usize {
            ends[rest] = NO_END;
        }
    }
}

/// Marks n grains that may be ghost particles, or grains of bodies, which `member` marks: these by [`GHOST`], as others move them, other polyhedral
/// grains by their shapes, and other spheres by [`FREE`].
#[cube(launch)]
pub fn mark_held(shape: &[u32], member: &[u32], held: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let mut mark = shape[i];
        if member[i] != FREE {
            mark = GHOST.runtime();
        }
        held[i] = mark;
    }
}

/// Removes the pairs with a polyhedral grain from the rows of n grains.
#[cube(launch)]
pub fn drop_shape_pairs(tile_first: &[u32], count: &mut [u32], list: &mut [u32], shape: &[u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let first = first_entry(i, tile_first);
        let mark = shape[i];
        let mut kept = 0u32;
        for s in 0..count[i] {
            let word = list[first + s as usize * TILE];
            if !has_shape(mark, shape[(word & PLACE) as usize]) {
                list[first + kept as usize * TILE] = word;
                kept += 1u32;
            }
        }
        count[i] = kept;
    }
}

/// Copies the contact histories in the `slots` slots from `from` on to those from `to` on, up to the first free one.
#[cube]
pub(super) fn copy_slots<R: Real>(
    from: usize,
    to: usize,
    slots: u32,
    old_keys: &[u32],
    old_springs: &[R],
    keys: &mut [u32],
    springs: &mut [R],
) {
    let mut slot = 0u32.runtime();
    let mut goes_on = slots > 0u32;
    while goes_on {
        let old = from + slot as usize;
        let new = to + slot as usize;
        let key = old_keys[old];
        keys[new] = key;
        if key != 0u32 {
            #[unroll]
            for c in 0..4usize {
                springs[new * 4usize + c] = old_springs[old * 4usize + c];
            }
        }
        slot += 1u32;
        goes_on = key != 0u32 && slot < slots;
    }
}

/// Copies loads and contact histories of n new pairs from those of the old list. A new pair has no contacts. `old_of` has the old index of each grain.
/// A pair has `slots` slots, of which those after the first free one are not copied.
///
/// In a subdomain, a ghost has another index than before, and the other grain of the pair may have listed it. So pairs are found `by_id` among the old
/// ends of both grains, as far as these had ends: their old indices are below `known` then.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn carry_shape_pairs<R: Real>(
    pairs: &[u32],
    old_of: &[u32],
    old_first: &[u32],
    old_pairs: &[u32],
    old_end_first: &[u32],
    old_ends: &[u32],
    id: &[u32],
    old_id: &[u32],
    old_loads: &[Record<R>],
    old_keys: &[u32],
    old_springs: &[R],
    loads: &mut [Record<R>],
    keys: &mut [u32],
    springs: &mut [R],
    slots: u32,
    known: u32,
    n: u32,
    #[comptime] by_id: bool,
) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        let first = pairs[k * 2usize] as usize;
        let second = pairs[k * 2usize + 1usize] as usize;
        let mut old = NO_END.runtime();
        if by_id {
            let of_first = old_of[first];
            if of_first < known {
                let begin = old_end_first[of_first as usize];
                let end = old_end_first[of_first as usize + 1usize];
                old = pair_with_ids(id[first], id[second], begin, end, old_ends, old_pairs, old_id);
            }
            let of_second = old_of[second];
            if old == NO_END && of_second < known {
                let begin = old_end_first[of_second as usize];
                let end = old_end_first[of_second as usize + 1usize];
                old = pair_with_ids(id[first], id[second], begin, end, old_ends, old_pairs, old_id);
            }
        } else {
            old = pair_of(old_of[first] as usize, old_of[second], old_first, old_pairs);
        }
        if old == NO_END {
            let nothing = Record::<R>::new(R::new(0.0));
            let mut untouched = Record::<R>::new(R::new(0.0));
            untouched.insert(3usize, R::new(-1.0));
            #[unroll]
            for r in 0..3usize {
                loads[k * PAIR_LOAD + r] = nothing;
            }
            loads[k * PAIR_LOAD + 3usize] = untouched;
            keys[k * slots as usize] = 0u32;
        } else {
            #[unroll]
            for r in 0..5usize {
                loads[k * PAIR_LOAD + r] = old_loads[old as usize * PAIR_LOAD + r];
            }
            let from = (old * slots) as usize;
            copy_slots::<R>(from, k * slots as usize, slots, old_keys, old_springs, keys, springs);
        }
    }
}

/// Marks those of n pairs that were in contact in the last step.
#[cube(launch)]
pub fn mark_touching_pairs<R: Real>(loads: &[Record<R>], marks: &mut [u32], n: u32) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        let mut mark = 0u32;
        if last::<R>(loads[k * PAIR_LOAD]) > R::new(0.0) {
            mark = 1u32;
        }
        marks[k] = mark;
    }
}

/// Lists the indices of n pairs in the order in which threads take them: those with a mark, then all others, both in the order of their indices.
/// `before` has the number of marked pairs before each pair, and that of all. So threads side by side have about the same work.
#[cube(launch)]
pub fn order_shape_pairs(marks: &[u32], before: &[u32], order: &mut [u32], n: u32) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        let marked = before[k];
        let mut place = marked;
        if marks[k] == 0u32 {
            place = before[n as usize] + k as u32 - marked;
        }
        order[place as usize] = k as u32;
    }
}

/// The wall element that stands for this one: the first of its mesh, or itself.
#[cube]
pub(super) fn wall_of(element: u32, features: &[u32]) -> u32 {
    features[element as usize * FEATURES + FIRST_OF_MESH]
}

/// As [`carry_shape_pairs()`], for the wall elements near each of n grains. Entries of spheres have no contacts, nor do those of grains whose old index is
/// `known` or above: these have just arrived. All triangles of a mesh are one wall, whose load and contacts are at its first entry in the row of a grain:
/// `features` name the mesh of each element, see [`FEATURES`].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn carry_shape_walls<R: Real, C: Real>(
    row: &[u32],
    list: &[u32],
    features: &[u32],
    old_of: &[u32],
    old_row: &[u32],
    old_list: &[u32],
    old_loads: &[Record<C>],
    old_keys: &[u32],
    old_springs: &[R],
    loads: &mut [Record<C>],
    keys: &mut [u32],
    springs: &mut [R],
    slots: u32,
    known: u32,
    n: u32,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let mut from = 0usize;
        let mut to = 0usize;
        if old_of[i] < known {
            from = old_row[old_of[i] as usize] as usize;
            to = old_row[old_of[i] as usize + 1usize] as usize;
        }
        for k in row[i]..row[i + 1usize] {
            let wall = wall_of(list[k as usize], features);
            let mut earlier = 0u32.runtime();
            for s in row[i]..k {
                if wall_of(list[s as usize], features) == wall {
                    earlier += 1u32;
                }
            }
            let mut found = NO_END.runtime();
            if earlier == 0u32 {
                for q in from..to {
                    if found == NO_END && wall_of(old_list[q], features) == wall {
                        found = q as u32;
                    }
                }
            }
            let at = k as usize;
            let nothing = Record::<C>::new(C::new(0.0));
            if found == NO_END {
                #[unroll]
                for r in 0..4usize {
                    loads[at * WALL_LOAD + r] = nothing;
                }
                keys[at * slots as usize] = 0u32;
            } else {
                #[unroll]
                for r in 0..4usize {
                    loads[at * WALL_LOAD + r] = old_loads[found as usize * WALL_LOAD + r];
                }
                let from = (found * slots) as usize;
                copy_slots::<R>(from, at * slots as usize, slots, old_keys, old_springs, keys, springs);
            }
        }
    }
}
