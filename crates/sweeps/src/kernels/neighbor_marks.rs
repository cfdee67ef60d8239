//! Neighbor rows from grids in two passes, of which only the first compares positions.
//!
//! The candidates of a grain are the grains in the cells near it, in the order of grids, cells and indices. The first pass counts the neighbors among
//! them, and keeps them in a few words for each grain. The second reads these words and writes the row, in the order of
//! [`crate::neighbors::neighbors_of()`]. Word w of grain i of n is number w n + i, so adjacent threads use adjacent words. There are two kinds of words:
//!
//! - **Bits**, one per candidate. The second pass walks through the same cells and writes the candidates whose bits are set. A grain may have more
//!   candidates than bits; the second pass compares the positions of these again.
//! - **Notes**, for rows of few neighbors in one grid. A note is half a word about four candidates in a row, if there are neighbors among them: which
//!   are neighbors, which of these overlap the grain, and where the four are. So the second pass walks through no cells. A grain whose notes need more
//!   room, or whose cells a note cannot number, has bits instead. The last word says which it has.
//!
//! Both passes find the same cells: these follow from sums and a product of a sum, which no compiler fuses.
//!
//! If pairs that overlap are to come first in their rows (see [`super::row_order`]), notes say which do. Without notes, the first pass keeps another word
//! for each grain, behind the bits of all candidates. It says which of the first 32 neighbors overlap the grain. So the second pass needs no positions
//! for this, either, and moves entries as [`super::row_order::touching_first()`] does, to the same places.
//!
//! Threads need different numbers of turns for a run of candidates, and grains at a border of blocks of cells have twice as many runs. So a turn of the
//! first pass is four candidates of any run: threads wait for each other at the end of the row only, not at the end of each run.
//!
//! Threads of the second pass find their entries at different times. They collect the first ones of each row in shared memory, and then write those of
//! all rows of a tile together: whole transactions of memory instead of parts.

use super::THREADS;
use super::neighbor_lists::put_tile_sizes;
use crate::bodies::is_ghost;
use crate::cells::{cells_around, first_of_run, has_few_runs, next_run, walk_around, walk_through};
use crate::entries::{TILE, first_entry};
use crate::layout::{BITS, Record, last, xyz};
use crate::neighbors::are_near;
use crate::pair::depth_of;
use cubecl::prelude::*;
use seixo_laws::{Real, Vector3};

/// Entries of a row that are collected before they are written.
const COLLECTED: u32 = 16;

/// Entries that a block collects.
const ROOM: usize = COLLECTED as usize * THREADS;

/// Words per grain that notes need. If there are fewer, there are only bits.
pub const NOTE_WORDS: usize = 8;

/// Word that says whether a grain has notes, in its higher half. Its lower half is the last note. Words of bits are before it.
const LAST_WORD: u32 = NOTE_WORDS as u32 - 1;

/// Most notes of a grain.
const MOST_NOTES: u32 = 2 * LAST_WORD + 1;

/// Words of notes of a block.
const NOTED: usize = NOTE_WORDS * THREADS;

/// The last word of a grain with notes, without its last note.
const HAS_NOTES: u32 = 1 << 16;

/// Candidates of a run that notes can number: eight times four.
const LONGEST_RUN: usize = 32;

/// Bits of a note that say which of four candidates are neighbors. The next four bits say which of these overlap the grain, three give the place of the
/// four in their run, and the others the number of the run.
const NEAR: u32 = 15;

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

/// The first eight bits of a note about up to four candidates: those from grain j on, in a run that ends before `end`. The next four bits need
/// `touching`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn found_among_four<C: Real>(
    i: usize,
    j: usize,
    end: usize,
    center: &Vector3<C>,
    radius: C,
    position: &[Record<C>],
    skin: C,
    #[comptime] touching: bool,
) -> u32 {
    let mut found = 0u32.runtime();
    // Together, so that the reads of one do not wait for the test of another. Behind the run, its last grain is read again.
    #[unroll]
    for ahead in 0..4usize {
        let other = position[min(j + ahead, end - 1usize)];
        let apart = center.minus(&xyz::<C>(other));
        if are_near::<C>(&apart, radius, last::<C>(other), skin) {
            found |= 1u32 << (ahead as u32);
            if touching {
                if depth_of::<C>(&apart, radius + last::<C>(other)) > C::new(0.0) {
                    found |= 16u32 << (ahead as u32);
                }
            }
        }
    }
    // Neither what is behind the run nor the grain itself counts.
    let taken = min((end - j) as u32, 4u32);
    let mut others = (1u32 << taken) - 1u32;
    if i >= j && i < j + taken as usize {
        others -= 1u32 << ((i - j) as u32);
    }
    found & (others | (others << 4u32))
}

/// Counts the neighbors of each of n grains, and keeps them in `marks`. Also writes the entries of each tile of rows to `sizes`. The first 32 `words`
/// candidates have bits; with `touching`, another word says which neighbors overlap the grain. With `notes`, there is one grid, and `words` is one less
/// than [`NOTE_WORDS`]: the last word says whether the grain has notes. With `copies`, ghost particles, which `member` marks, get no neighbors.
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
    sizes: &mut [u32],
    skin: C,
    number_of_grids: u32,
    words: u32,
    n: u32,
    #[comptime] touching: bool,
    #[comptime] notes: bool,
    #[comptime] copies: bool,
) {
    // Each thread uses words of its own.
    let mut noted = Shared::<[u32]>::new_slice(comptime!(if notes { NOTED } else { 1usize }));
    let unit = UNIT_POS as usize;
    let i = ABSOLUTE_POS;
    let mut listed = 0u32.runtime();
    if i < n as usize {
        let mut has_row = true;
        if copies {
            has_row = !is_ghost(member[i]);
        }
        if has_row {
            let own = position[i];
            let center = xyz::<C>(own);
            let radius = last::<C>(own);
            // The next candidate, and the bits of those before it that are not written yet.
            let mut candidate = 0u32.runtime();
            let mut word = 0u32.runtime();
            let mut touches = 0u32.runtime();
            // The number of notes, the last two of them, and whether notes can number all runs so far.
            let mut taken_notes = 0u32.runtime();
            let mut last_two = 0u32.runtime();
            let mut has_numbers = true;
            for g in 0..number_of_grids as usize {
                let reach = radius + grids[g * 8usize + 4usize] + skin;
                let span = cells_around::<C>(&center, reach, grids, shapes, g);
                let mut walk = walk_through(&span, shapes, g, false);
                let begin = next_run(&mut walk, first, false);
                let mut run = 0u32.runtime();
                let mut run_first = begin.first;
                let mut j = begin.first;
                let mut end = begin.end;
                if notes {
                    has_numbers = has_few_runs(&span) && end <= run_first + LONGEST_RUN;
                }
                // The bounds of the next run are read while this one is searched.
                let mut next_first = 0usize.runtime();
                let mut next_end = 0usize.runtime();
                let mut has_next = walk.goes_on();
                if has_next {
                    let next = next_run(&mut walk, first, false);
                    next_first = next.first;
                    next_end = next.end;
                }
                let mut goes_on = true;
                while goes_on {
                    if j < end {
                        let found = found_among_four::<C>(i, j, end, &center, radius, position, skin, touching);
                        let near = found & NEAR;
                        if notes {
                            if near != 0u32 {
                                let note = found | (((j - run_first) as u32) << 6u32) | (run << 11u32);
                                last_two = (last_two >> 16u32) | (note << 16u32);
                                if taken_notes % 2u32 == 1u32 && taken_notes < MOST_NOTES {
                                    noted[(taken_notes / 2u32) as usize * THREADS + unit] = last_two;
                                }
                                taken_notes += 1u32;
                            }
                        } else if touching {
                            let mut neighbor = listed;
                            #[unroll]
                            for ahead in 0..4usize {
                                if neighbor < BITS {
                                    touches |= ((found >> (ahead as u32 + 4u32)) & 1u32) << neighbor;
                                }
                                neighbor += (found >> (ahead as u32)) & 1u32;
                            }
                        }
                        listed += near.count_ones();
                        let bit = candidate % BITS;
                        let taken = min((end - j) as u32, 4u32);
                        word |= near << bit;
                        if bit + taken >= BITS {
                            if candidate / BITS < words {
                                marks[(candidate / BITS) as usize * n as usize + i] = word;
                            }
                            word = near >> (BITS - bit);
                        }
                        candidate += taken;
                        j += 4usize;
                    }
                    if j >= end {
                        goes_on = has_next;
                        run += 1u32;
                        run_first = next_first;
                        j = next_first;
                        end = next_end;
                        if notes {
                            has_numbers = has_numbers && end <= run_first + LONGEST_RUN;
                        }
                        has_next = walk.goes_on();
                        if has_next {
                            let next = next_run(&mut walk, first, false);
                            next_first = next.first;
                            next_end = next.end;
                        }
                    }
                }
            }
            let mut has_bits = true;
            if notes {
                has_bits = !has_numbers || taken_notes > MOST_NOTES;
                let mut last_word = 0u32.runtime();
                if !has_bits {
                    if taken_notes % 2u32 == 1u32 {
                        noted[(taken_notes / 2u32) as usize * THREADS + unit] = last_two >> 16u32;
                    }
                    last_word = HAS_NOTES;
                    if taken_notes == MOST_NOTES {
                        last_word = HAS_NOTES | noted[LAST_WORD as usize * THREADS + unit];
                    }
                    let written = min((taken_notes + 1u32) >> 1u32, LAST_WORD);
                    let mut w = 0u32.runtime();
                    while w < written {
                        marks[w as usize * n as usize + i] = noted[w as usize * THREADS + unit];
                        w += 1u32;
                    }
                }
                marks[LAST_WORD as usize * n as usize + i] = last_word;
            }
            if has_bits && candidate / BITS < words {
                marks[(candidate / BITS) as usize * n as usize + i] = word;
            }
            if comptime!(touching && !notes) {
                marks[words as usize * n as usize + i] = touches;
            }
        }
        count[i] = listed;
    }
    put_tile_sizes(listed, sizes, n);
}

/// Writes the rows of n grains, whose neighbors [`mark_neighbors()`] counted and kept, with the same `words` and `notes`. With `touching`, neighbors
/// that overlap a grain come before all others of its row, in the order of [`crate::kernels::row_order::touching_first()`].
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
    #[comptime] notes: bool,
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
        if comptime!(touching && !notes) {
            touches = marks[words as usize * n as usize + i];
        }
        // Whether there are notes, how many are read, and the rest of the last, with the grain that its first bit means.
        let mut has_notes = false;
        let mut read_notes = 0u32.runtime();
        let mut note = 0u32.runtime();
        let mut four_first = 0u32.runtime();
        if notes {
            has_notes = marks[LAST_WORD as usize * n as usize + i] >= HAS_NOTES;
        }
        // The run of cells that the last neighbor was in, by its first grain, and its candidates.
        let mut run_first = 0usize.runtime();
        let mut run_begin = 0u32.runtime();
        let mut run_end = 0u32.runtime();
        let mut g = 0usize.runtime();
        let mut reach = radius + grids[4usize] + skin;
        let span = cells_around::<C>(&center, reach, grids, shapes, 0usize);
        let mut walk = walk_through(&span, shapes, 0usize, false);
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
            let mut j = 0u32.runtime();
            let mut is_listed = true;
            let mut is_deep = false;
            if has_notes {
                if note & NEAR == 0u32 {
                    let two = marks[(read_notes / 2u32) as usize * n as usize + i];
                    note = (two >> ((read_notes % 2u32) * 16u32)) & 0xffffu32;
                    read_notes += 1u32;
                    four_first = first_of_run(&span, note >> 11u32, shapes, 0usize, first) as u32 + (((note >> 8u32) & 7u32) << 2u32);
                }
                let ahead = note.trailing_zeros();
                j = four_first + ahead;
                is_deep = (note >> (ahead + 4u32)) & 1u32 == 1u32;
                note &= note - 1u32;
            } else {
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
                j = run_first as u32 + (candidate - run_begin);
                is_listed = walks;
                if walks && !is_marked {
                    is_listed = is_neighbor::<C>(i, j as usize, &center, radius, position, skin);
                }
            }
            if is_listed {
                let mut place = entered;
                if touching {
                    let mut is_touching = is_deep;
                    if notes {
                        if !has_notes {
                            is_touching = overlaps::<C>(j as usize, &center, radius, position);
                        }
                    } else if entered < BITS {
                        is_touching = (touches >> (entered % BITS)) & 1u32 == 1u32;
                    } else {
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
