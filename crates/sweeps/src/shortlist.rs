//! Of the pairs in the list, those that may touch before long.
//!
//! A list reaches as far as the skin, so that it lasts; most of its pairs do not touch. Those that are nearer than a small margin are picked
//! out, and only these are looked at until grains moved so far that another pair could touch (the dynamic pruning of
//! \[Abraham 2015\]). What is left out does not touch, so that nothing but time depends on what is picked, and when.

use crate::part::{GrainsView, PartRows, apart, record};
use crate::units::prefetch;
use seixo_laws::Real;

/// How many entries of the list ahead a partner's place is asked for.
const AHEAD: usize = 16;

/// The picked pairs of a part: those inside it from the front; from the back those across its border, and all that stand in both rows.
pub struct Shortlist<'a> {
    /// Entries, counted from the part's first; with room for all.
    pub entry: &'a mut [u32],
    /// The grain in whose row each of them stands, counted from the part's first.
    pub grain: &'a mut [u16],
    /// How many there are inside and across.
    pub count: &'a mut [u32; 2],
}

impl Shortlist<'_> {
    /// Entries and grains of pairs inside the part.
    pub fn inside(&self) -> (&[u32], &[u16]) {
        let end = self.count[0] as usize;
        (&self.entry[..end], &self.grain[..end])
    }

    /// Entries and grains of pairs across its border.
    pub fn across(&self) -> (&[u32], &[u16]) {
        let first = self.entry.len() - self.count[1] as usize;
        (&self.entry[first..], &self.grain[first..])
    }
}

/// Picks the pairs of a part whose surfaces are nearer than `margin`.
#[inline(always)]
pub(crate) fn pick<R: Real, const SIDES: u32>(grains: &GrainsView<R>, rows: &PartRows, margin: R, shortlist: &mut Shortlist) {
    let base = rows.row[rows.first] as usize;
    let own = rows.inside() as u32;
    let (mut inside, mut across) = (0, 0);
    let room = shortlist.entry.len();
    for i in rows.first..rows.end {
        let x_i = record(grains.position, i);
        for k in rows.row[i] as usize..rows.row[i + 1] as usize {
            let j = rows.neighbors[k];
            if let Some(&next) = rows.neighbors.get(k + AHEAD) {
                prefetch(grains.position, next as usize);
            }
            let x_j = record(grains.position, j as usize);
            let ([x, y, z], _) = apart::<R, SIDES>(x_i, x_j, grains.sides);
            let reach = x_i[3] + x_j[3] + margin;
            let is_near = x * x + y * y + z * z < reach * reach;
            let is_across = j.wrapping_sub(rows.first as u32) >= own;
            // Every pair is written, only one that is near moves its place on: the processor has nothing to guess. There is room for all.
            let slot = if is_across { room - 1 - across } else { inside };
            shortlist.entry[slot] = (k - base) as u32;
            shortlist.grain[slot] = (i - rows.first) as u16;
            inside += usize::from(is_near && !is_across);
            across += usize::from(is_near && is_across);
        }
    }
    *shortlist.count = [inside as u32, across as u32];
}
