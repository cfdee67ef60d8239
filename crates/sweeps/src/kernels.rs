//! Entry points of GPUs: a unit for every grain, each doing what a sweep says.
//!
//! A step never waits for the host. Every kernel of step s first looks whether an earlier step asked for a halt – because lists are stale or
//! something is wrong – and then does nothing, so the state stays where it was until the host, which reads the flags late, sees to it.

pub mod assembly;
pub mod bins;
pub mod bodies;
pub mod bonds;
pub mod boundary;
pub mod dfsph;
pub mod domain;
pub mod flow;
pub mod gear;
pub mod heat;
pub mod hulls;
pub mod lists;
pub mod measure;
pub mod muller;
pub mod peel;
pub mod shifting;
pub mod step;
pub mod suspension;
pub mod walls;

use crate::views::{Record, four_numbers, last};
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real};

/// Units per cube of all kernels that book what their grains took.
pub const UNITS: usize = 256;

/// Kinds of flags: the first words of the buffer of flags, in the order of their bits.
pub const KINDS: usize = 8;

/// Place of the word that tells how many steps were done.
pub const DONE: usize = KINDS + 2;

/// Words of the buffer of flags. Behind the kinds: whether steps of parity 0 and of parity 1 are to halt, how many steps were done, and whether
/// bonds broke.
///
/// Parities alternate, so what a step raises stops the next one and not units of its own that have yet to begin. That the number of the
/// step is nowhere among the arguments makes all launches alike, which APIs reward.
pub const FLAGS: usize = KINDS + 4;

/// Whether a step before this one, of parity `parity`, asked for a halt.
#[cube]
fn is_halted(flags: &mut [u32], parity: u32) -> bool {
    flags[8usize + parity as usize] != 0u32
}

/// Raises flags in a step. Units that write at the same time write the same.
#[cube]
fn raise(flags: &mut [u32], parity: u32, raised: u32) {
    if raised != 0u32 {
        flags[9usize - parity as usize] = 1u32;
        #[unroll]
        for kind in 0..8usize {
            if ((raised >> (kind as u32)) & 1u32) == 1u32 {
                flags[kind] = 1u32;
            }
        }
    }
}

/// Whether a step is to be taken; then it is counted if it moves the grains. Else its halt is handed on to the next step.
#[cube]
fn begins(flags: &mut [u32], parity: u32, #[comptime] advance: bool) -> bool {
    let goes = !is_halted(flags, parity);
    if ABSOLUTE_POS == 0usize {
        if goes {
            if advance {
                flags[10usize] += 1u32;
            }
        } else {
            flags[9usize - parity as usize] = 1u32;
        }
    }
    goes
}

/// Adds up what the units of a cube took, in a fixed order; unit 0 gets the sum.
#[cube]
fn sum_of_cube<R: Real>(amounts: Record<R>) -> Record<R> {
    let mut shared = Shared::<[Record<R>]>::new_slice(256usize);
    let unit = UNIT_POS as usize;
    shared[unit] = amounts;
    sync_cube();
    let mut sum = Record::<R>::new(R::new(0.0));
    if unit < 16usize {
        for k in 0..16usize {
            sum += shared[unit * 16usize + k];
        }
    }
    sync_cube();
    if unit < 16usize {
        shared[unit] = sum;
    }
    sync_cube();
    let mut total = Record::<R>::new(R::new(0.0));
    if unit == 0usize {
        for k in 0..16usize {
            total += shared[k];
        }
    }
    total
}

/// Puts the sum of what the units of a cube tell into the first of the cube's two records.
#[cube]
fn put_sum<C: Real>(sums: &mut [Record<C>], amounts: Record<C>) {
    let total = sum_of_cube::<C>(amounts);
    if UNIT_POS == 0u32 {
        sums[CUBE_POS * 2usize] = total;
    }
}

/// A record of the laws, in the precision of coordinates.
#[cube]
fn widened_record<C: Coordinate<R>, R: Real>(narrow: Record<R>) -> Record<C> {
    four_numbers::<C>(
        C::wide(narrow.extract(0usize)),
        C::wide(narrow.extract(1usize)),
        C::wide(narrow.extract(2usize)),
        C::wide(last::<R>(narrow)),
    )
}

/// Adds what a cube's grains took to the first of the cube's two records.
#[cube]
fn book<C: Coordinate<R>, R: Real>(power: &mut [Record<C>], amounts: Record<R>) {
    let total = sum_of_cube::<R>(amounts);
    if UNIT_POS == 0u32 {
        let at = CUBE_POS * 2usize;
        power[at] += widened_record::<C, R>(total);
    }
}

/// Puts what a cube's grains take now into the second of the cube's two records.
#[cube]
fn note<C: Coordinate<R>, R: Real>(power: &mut [Record<C>], amounts: Record<R>) {
    let total = sum_of_cube::<R>(amounts);
    if UNIT_POS == 0u32 {
        power[CUBE_POS * 2usize + 1usize] = widened_record::<C, R>(total);
    }
}

/// Adds what a cube takes to the first of the cube's two records, and puts it into the second.
#[cube]
fn book_and_note<C: Coordinate<R>, R: Real>(power: &mut [Record<C>], took: Record<R>) {
    let total = widened_record::<C, R>(sum_of_cube::<R>(took));
    let at = CUBE_POS * 2usize;
    // A grid of several rows may have more cubes than there is anything to book for.
    if UNIT_POS == 0u32 && at < power.len() {
        power[at] += total;
        power[at + 1usize] = total;
    }
}
