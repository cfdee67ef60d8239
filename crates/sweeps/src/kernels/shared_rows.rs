//! Rows of neighbors that several threads of a GPU share.
//!
//! A thread that computes a row waits for the records of one neighbor after the other. Where grains are so few that most of a GPU is empty, other threads
//! take some of the neighbors, so that all wait at the same time. A block has a tile of rows. Its first 32 threads, one for each row, compute the first
//! entries of these, the next 32 threads the second ones, and so on: adjacent threads read adjacent words, and take the same branch where rows begin with
//! the pairs in contact.
//!
//! The first thread of a row adds up the loads in the order of the entries. So only operations that a compiler fuses in one kernel and not in the other
//! depend on the number of threads.

use super::store_sum;
use crate::entries::{TILE, history_at};
use crate::layout::{Record, four_numbers, last, record, xyz};
use crate::periodic::PeriodicBoundaries;
use crate::tiles::{ContactKernelConfig, ContactLoad, Grain, contact_of_entry, no_load};
use cubecl::prelude::*;
use seixo_laws::contact::Coefficients;
use seixo_laws::{Coordinate, Real, larger};

/// Rows of a block.
pub(super) const ROWS: u32 = TILE as u32;

/// Contacts of a grain with the `count` neighbors of its row, history included, as by [`crate::tiles::contacts_of()`], but shared by `lanes` threads. Only
/// the first of them, which is one of the first 32 of the block, gets the sum.
///
/// All threads of a block call this together, with the same `longest`, which is no less than any `count` of them. A thread whose row is not to be computed
/// has a `count` of zero; its row has room for one read.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub(super) fn contacts_of_shared_row<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    count: u32,
    longest: u32,
    first: usize,
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
    #[comptime] lanes: usize,
    #[comptime] kind: ContactKernelConfig,
) -> ContactLoad<R> {
    let mut forces = Shared::<[Record<R>]>::new_slice(comptime!(lanes * TILE));
    let mut torques = Shared::<[Record<R>]>::new_slice(comptime!(lanes * TILE));
    let mut powers = Shared::<[Record<R>]>::new_slice(comptime!(lanes * TILE));
    let unit = UNIT_POS as usize;
    let own_row = own_material * materials;
    let mut all = no_load::<R>();
    let mut s = UNIT_POS / ROWS;
    let mut entry = select(s < count, first + s as usize * TILE, first);
    let mut word = list[entry];
    let rounds = (longest + comptime!(lanes as u32 - 1)) / comptime!(lanes as u32);
    for _round in 0..rounds {
        // The next word is read while this neighbor is computed.
        let next_entry = select(s + comptime!(lanes as u32) < count, entry + comptime!(lanes * TILE), entry);
        let next = list[next_entry];
        let mut one = no_load::<R>();
        if s < count {
            contact_of_entry::<C, R>(
                grain,
                word,
                entry,
                history_at(entry, 0usize, kind.numbers),
                own_row,
                shared,
                list,
                history,
                position,
                velocity,
                spin,
                material,
                table,
                sides,
                dt,
                overlap_limit,
                &mut one,
                kind,
            );
        }
        forces[unit] = record::<R>(&one.force, one.contacts);
        torques[unit] = record::<R>(&one.torque, one.excess);
        powers[unit] = four_numbers::<R>(one.normal_power, one.tangential_power, one.damping_power, one.side_power);
        sync_cube();
        if unit < TILE {
            // Behind the end of a row there is no load.
            for lane in 0..lanes {
                let at = lane * TILE + unit;
                let push = forces[at];
                let bend = torques[at];
                let took = powers[at];
                all.force = all.force.plus(&xyz::<R>(push));
                all.contacts += last::<R>(push);
                all.torque = all.torque.plus(&xyz::<R>(bend));
                all.excess = larger::<R>(all.excess, last::<R>(bend));
                all.normal_power += took.extract(0usize);
                all.tangential_power += took.extract(1usize);
                all.damping_power += took.extract(2usize);
                all.side_power += last::<R>(took);
            }
        }
        sync_cube();
        word = next;
        entry = next_entry;
        s += comptime!(lanes as u32);
    }
    all
}

/// Stores the sum over the threads of a block of what n grains `took`, for steps whose own blocks are smaller, see [`super::step::grains()`].
#[cube(launch)]
pub fn store_powers<R: Real, C: Coordinate<R>>(took: &[Record<R>], power: &mut [Record<C>], n: u32) {
    let i = ABSOLUTE_POS;
    let mut own = Record::<R>::new(R::new(0.0));
    if i < n as usize {
        own = took[i];
    }
    store_sum::<C, R>(power, own);
}
