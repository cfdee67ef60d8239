//! Contact histories that outlast a rebuild of the neighbor lists: packed from the old rows, and copied to the new.

use crate::entries::{carry_history_of, contacts_in_row, pack_contacts_of};
use cubecl::prelude::*;
use seixo_laws::Real;

/// Number of contacts of each of n grains at the last step.
#[cube(launch)]
pub fn count_contacts(count: &[u32], tile_first: &[u32], list: &[u32], out: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        out[i] = contacts_in_row(i, count[i], tile_first, list);
    }
}

/// Packs the contacts of n grains, from the grain's entry of `start` on.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn pack_contacts<R: Real>(
    tile_first: &[u32],
    list: &[u32],
    history: &[R],
    start: &[u32],
    partner: &mut [u32],
    a: &mut [R],
    b: &mut [R],
    c: &mut [R],
    d: &mut [R],
    rest: &mut [R],
    in_spare: u32,
    n: u32,
    #[comptime] numbers: usize,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        pack_contacts_of::<R>(i, tile_first, list, history, start, partner, a, b, c, d, rest, in_spare, numbers);
    }
}

/// Copies the packed contact histories to the new rows of n grains.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn carry_histories<R: Real>(
    count: &[u32],
    tile_first: &[u32],
    list: &mut [u32],
    history: &mut [R],
    old_of: &[u32],
    start: &[u32],
    partner: &[u32],
    a: &[R],
    b: &[R],
    c: &[R],
    d: &[R],
    rest: &[R],
    in_spare: u32,
    id: &[u32],
    old_id: &[u32],
    known: u32,
    n: u32,
    #[comptime] numbers: usize,
    #[comptime] by_id: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        carry_history_of::<R>(
            i, count[i], tile_first, list, history, old_of, start, partner, a, b, c, d, rest, in_spare, id, old_id, known, numbers, by_id,
        );
    }
}
