//! Neighbor rows from grids in two passes, of which only the first compares positions.
//!
//! The candidates of a grain are the grains in the cells near it, in the order of grids, cells and indices. The first pass counts the neighbors among
//! them, and keeps one bit per candidate. The second walks through the same cells and writes the candidates whose bits are set. A grain may have more
//! candidates than bits; the second pass compares the positions of these again. So rows have the order of [`crate::neighbors::neighbors_of()`].
//!
//! Both passes find the same cells: these follow from sums and a product of a sum, which no compiler fuses. Word w of the bits of grain i of n is
//! number w n + i, so adjacent threads use adjacent words.
//!
//! If pairs that overlap are to come first in their rows (see [`super::row_order`]), the first pass keeps another word for each grain, behind the words
//! of all candidates. It says which of the first 32 neighbors overlap the grain. So the second pass needs no positions for this, either, and moves
//! entries as [`super::row_order::touching_first()`] does, to the same places.
//!
//! Threads of the second pass find their entries at different times. They collect the first ones of each row in shared memory, and then write those of
//! all rows of a tile together: whole transactions of memory instead of parts.

use super::THREADS;
use crate::bodies::is_ghost;
use crate::cells::{next_run, walk_around};
use crate::entries::{TILE, first_entry};
use crate::layout::{Record, last, xyz};
use crate::neighbors::are_near;
use crate::pair::depth_of;
use cubecl::prelude::*;
use seixo_laws::{Real, Vector3};

/// Bits per word.
const BITS: u32 = 32;

/// Entries of a row that are collected before they are written.
const COLLECTED: u32 = 16;

/// Entries that a block collects.
const ROOM: usize = COLLECTED as usize * THREADS;

/// Whether grain j is a neighbor of grain i, which has this center and radius.
#[cube]
#[inline(always)]
fn is_neighbor<C: Real>(i: usize, j: usize, center: &Vector3<C>, radius: C, position: &[Record<C>], skin: C) -> bool {
    let other = position[j];
    let apart = center.minus(&xyz::<C>(other));
    are_near::<C>(&apart, radius, last::<C>(other), skin) && j != i
}

/// Whether grain j overlaps a grain with this center and radius.
#[cube]
#[inline(always)]
fn overlaps<C: Real>(j: usize, center: &Vector3<C>, radius: C, position: &[Record<C>]) -> bool {
    let other = position[j];
    let apart = center.minus(&xyz::<C>(other));
    depth_of::<C>(&apart, radius + last::<C>(other)) > C::new(0.0)
}

/// Counts the neighbors of each of n grains, and marks them among its candidates, of which the first 32 `words` have bits. With `touching`, another
/// word of `marks` says which neighbors overlap the grain. With `copies`, ghost particles, which `member` marks, get no neighbors.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn mark_neighbors<C: Real>(
    position: &[Record<C>],
    grids: &[C],
    shapes: &[u32],
    first: &[u32],
    member: &[u32],
    marks: &mut [u32],
    count: &mut [u32],
    skin: C,
    number_of_grids: u32,
    words: u32,
    n: u32,
    #[comptime] touching: bool,
    #[comptime] copies: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let mut has_row = true;
        if copies {
            has_row = !is_ghost(member[i]);
        }
        let mut listed = 0u32;
        if has_row {
            listed = mark_candidates::<C>(
                i,
                position,
                grids,
                shapes,
                number_of_grids as usize,
                first,
                marks,
                skin,
                words,
                n as usize,
                touching,
            );
        }
        count[i] = listed;
    }
}

/// Counts and marks the neighbors of grain i, see [`mark_neighbors()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
fn mark_candidates<C: Real>(
    i: usize,
    position: &[Record<C>],
    grids: &[C],
    shapes: &[u32],
    number_of_grids: usize,
    first: &[u32],
    marks: &mut [u32],
    skin: C,
    words: u32,
    n: usize,
    #[comptime] touching: bool,
) -> u32 {
    let own = position[i];
    let center = xyz::<C>(own);
    let radius = last::<C>(own);
    let mut listed = 0u32;
    let mut candidate = 0u32;
    let mut word = 0u32;
    let mut touches = 0u32;
    for g in 0..number_of_grids {
        let reach = radius + grids[g * 8usize + 4usize] + skin;
        let mut walk = walk_around::<C>(&center, reach, grids, shapes, g, false);
        let begin = next_run(&mut walk, first, false);
        let mut next_first = begin.first;
        let mut next_end = begin.end;
        let mut goes_on = true;
        while goes_on {
            // The bounds of the next run are read while this one is searched.
            let mut j = next_first;
            let end = next_end;
            goes_on = walk.goes_on();
            if goes_on {
                let next = next_run(&mut walk, first, false);
                next_first = next.first;
                next_end = next.end;
            }
            while j < end {
                // Four at a time, so that the reads of one do not wait for the test of another. Behind the run, its last grain is read again.
                let mut near = 0u32.runtime();
                let mut deep = 0u32.runtime();
                #[unroll]
                for ahead in 0..4usize {
                    let other = position[min(j + ahead, end - 1usize)];
                    let apart = center.minus(&xyz::<C>(other));
                    let is_other = j + ahead < end && j + ahead != i;
                    if are_near::<C>(&apart, radius, last::<C>(other), skin) && is_other {
                        near |= 1u32 << (ahead as u32);
                        if touching {
                            if depth_of::<C>(&apart, radius + last::<C>(other)) > C::new(0.0) {
                                deep |= 1u32 << (ahead as u32);
                            }
                        }
                    }
                }
                if touching {
                    let mut rest = near;
                    let mut neighbor = listed;
                    while rest != 0u32 && neighbor < BITS {
                        touches |= ((deep >> rest.trailing_zeros()) & 1u32) << neighbor;
                        rest &= rest - 1u32;
                        neighbor += 1u32;
                    }
                }
                listed += near.count_ones();
                let bit = candidate % BITS;
                let taken = min((end - j) as u32, 4u32);
                word |= near << bit;
                if bit + taken >= BITS {
                    if candidate / BITS < words {
                        marks[(candidate / BITS) as usize * n + i] = word;
                    }
                    word = near >> (BITS - bit);
                }
                candidate += taken;
                j += 4usize;
            }
        }
    }
    if candidate / BITS < words {
        marks[(candidate / BITS) as usize * n + i] = word;
    }
    if touching {
        marks[words as usize * n + i] = touches;
    }
    listed
}

/// Writes the rows of n grains, whose neighbors [`mark_neighbors()`] counted and marked. With `touching`, neighbors that overlap a grain come before all
/// others of its row, in the order of [`crate::kernels::row_order::touching_first()`].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn marked_rows<C: Real>(
    position: &[Record<C>],
    grids: &[C],
    shapes: &[u32],
    first: &[u32],
    tile_first: &[u32],
    count: &[u32],
    marks: &[u32],
    list: &mut [u32],
    skin: C,
    number_of_grids: u32,
    words: u32,
    n: u32,
    #[comptime] touching: bool,
) {
    // Each thread uses words of its own.
    let mut collected = Shared::<[u32]>::new_slice(ROOM);
    let unit = UNIT_POS as usize;
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let own = position[i];
        let center = xyz::<C>(own);
        let radius = last::<C>(own);
        let listed = count[i];
        let at = first_entry(i, tile_first);
        let mut entered = 0u32;
        // Number of the neighbors so far that overlap the grain, and bits for the first neighbors.
        let mut front = 0u32;
        let mut touches = 0u32;
        if touching {
            touches = marks[words as usize * n as usize + i];
        }
        // The run of cells that the last neighbor was in, by its first grain, and its candidates.
        let mut run_first = 0usize.runtime();
        let mut run_begin = 0u32.runtime();
        let mut run_end = 0u32.runtime();
        let mut g = 0usize.runtime();
        let mut reach = radius + grids[4usize] + skin;
        let mut walk = walk_around::<C>(&center, reach, grids, shapes, 0usize, false);
        let mut walks = number_of_grids > 0u32;
        // The rest of the bits that were read last, and the first candidate without a bit.
        let mut word = 0u32.runtime();
        let mut bits = 0u32.runtime();
        if words > 0u32 {
            bits = marks[i];
        }
        let mut unmarked = words * BITS;
        // From neighbor to neighbor, as rows are about as long in all threads.
        while entered < listed && walks {
            while bits == 0u32 && word + 1u32 < words {
                word += 1u32;
                bits = marks[word as usize * n as usize + i];
            }
            let is_marked = bits != 0u32;
            let mut candidate = unmarked;
            if is_marked {
                candidate = word * BITS + bits.trailing_zeros();
                bits &= bits - 1u32;
            } else {
                unmarked += 1u32;
            }
            while candidate >= run_end && walks {
                if walk.goes_on() {
                    let run = next_run(&mut walk, first, false);
                    run_first = run.first;
                    run_begin = run_end;
                    run_end += (run.end - run.first) as u32;
                } else {
                    g += 1usize;
                    walks = g < number_of_grids as usize;
                    if walks {
                        reach = radius + grids[g * 8usize + 4usize] + skin;
                        walk = walk_around::<C>(&center, reach, grids, shapes, g, false);
                    }
                }
            }
            let j = run_first as u32 + (candidate - run_begin);
            let mut is_listed = walks;
            if walks && !is_marked {
                is_listed = is_neighbor::<C>(i, j as usize, &center, radius, position, skin);
            }
            if is_listed {
                let mut place = entered;
                if touching {
                    let mut is_touching = (touches >> (entered % BITS)) & 1u32 == 1u32;
                    if entered >= BITS {
                        is_touching = overlaps::<C>(j as usize, &center, radius, position);
                    }
                    if is_touching {
                        if front < entered {
                            // The first entry that does not overlap makes room.
                            let mut passed_over = 0u32;
                            if front < COLLECTED {
                                passed_over = collected[front as usize * THREADS + unit];
                            } else {
                                passed_over = list[at + front as usize * TILE];
                            }
                            if entered < COLLECTED {
                                collected[entered as usize * THREADS + unit] = passed_over;
                            } else {
                                list[at + entered as usize * TILE] = passed_over;
                            }
                        }
                        place = front;
                        front += 1u32;
                    }
                }
                if place < COLLECTED {
                    collected[place as usize * THREADS + unit] = j;
                } else {
                    list[at + place as usize * TILE] = j;
                }
                entered += 1u32;
            }
        }
        // Entries after the row have no meaning, and are written so that transactions are whole.
        let width = (tile_first[i / TILE + 1usize] - tile_first[i / TILE]) / TILE as u32;
        let mut s = 0u32;
        while s < width && s < COLLECTED {
            let mut word = 0u32;
            if s < entered {
                word = collected[s as usize * THREADS + unit];
            }
            list[at + s as usize * TILE] = word;
            s += 1u32;
        }
    }
}
