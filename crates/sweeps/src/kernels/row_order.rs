//! Order of the entries of a row: pairs that overlap come before all others.
//!
//! The numbers of histories are interleaved as entries are, so that adjacent threads read adjacent words. A transaction of memory serves eight of them,
//! and is needed if one of the eight pairs is in contact. With contacts spread over rows, that holds for nearly every entry. With contacts at the start
//! of rows, it holds for about as many entries as grains have contacts, and threads compute their contacts at the same time.
//!
//! [`super::neighbor_marks`] writes rows in this order already.

use crate::entries::{TILE, first_entry};
use crate::layout::{Record, last, xyz};
use crate::pair::depth_of;
use crate::periodic::{PeriodicBoundaries, nearest_image};
use cubecl::prelude::*;
use seixo_laws::Real;

/// Puts the neighbors that overlap a grain before all others of its row, for the rows of n grains. The overlapping ones keep their order. None of the
/// entries is flagged yet. `kind` says which sides are periodic, see [`crate::periodic`].
#[cube(launch)]
pub fn touching_first<C: Real>(
    position: &[Record<C>],
    tile_first: &[u32],
    count: &[u32],
    list: &mut [u32],
    sides: &PeriodicBoundaries<C, C>,
    n: u32,
    #[comptime] kind: u32,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let here = position[i];
        let center = xyz::<C>(here);
        let radius = last::<C>(here);
        let mut entry = first_entry(i, tile_first);
        let mut front = first_entry(i, tile_first);
        for _s in 0..count[i] {
            let j = list[entry];
            let there = position[j as usize];
            let image = nearest_image::<C, C>(&center.minus(&xyz::<C>(there)), sides, kind);
            let depth = depth_of::<C>(&image.apart, radius + last::<C>(there));
            if depth > C::new(0.0) {
                let passed_over = list[front];
                list[entry] = passed_over;
                list[front] = j;
                front += TILE;
            }
            entry += TILE;
        }
    }
}
