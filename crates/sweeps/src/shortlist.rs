//! Shortlist: the pairs of the list that may touch soon.
//!
//! A list includes the skin so that it lasts, and most of its pairs do not touch. The shortlist holds the pairs nearer than a small margin. Only
//! these are evaluated until grains have moved so far that another pair could touch (dynamic pruning \[Abraham 2015\]). Omitted pairs do not touch.
//! So the shortlist and the time of its rebuild change only the run time, not the result.
//!
//! ```
//! use seixo_sweeps::shortlist::Shortlist;
//! // Room for four pairs. Two of them are inside the part, one is across its border.
//! let shortlist = Shortlist { entry: &mut [7, 9, 0, 8], grain: &mut [2, 3, 0, 2], count: &mut [2, 1] };
//! assert_eq!(shortlist.inside().0, [7, 9]);
//! assert_eq!(shortlist.across().0, [8]);
//! ```

use crate::part::{GrainsView, PartRows, apart, record};
use crate::simd::prefetch;
use seixo_laws::{Real, Vector3};

/// Number of list entries by which a partner's position is prefetched.
const AHEAD: usize = 16;

/// The shortlist of a part: pairs inside it from the front. From the back: pairs across its border, and all pairs that are in both rows.
pub struct Shortlist<'a> {
    /// Entries, counted from the part's first, with room for all.
    pub entry: &'a mut [u32],
    /// The grain that owns the row of each entry, counted from the part's first.
    pub grain: &'a mut [u16],
    /// Numbers of pairs inside and across.
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

/// Selects the pairs of a part whose surfaces are nearer than `margin`.
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
            let Vector3 { x, y, z } = apart::<R, SIDES>(x_i, x_j, grains.sides).apart;
            let reach = x_i[3] + x_j[3] + margin;
            let is_near = x * x + y * y + z * z < reach * reach;
            let is_across = j.wrapping_sub(rows.first as u32) >= own;
            // Every pair is written, but only a near one advances the index. So there is no branch to predict. There is room for all pairs.
            let slot = if is_across { room - 1 - across } else { inside };
            shortlist.entry[slot] = (k - base) as u32;
            shortlist.grain[slot] = (i - rows.first) as u16;
            inside += usize::from(is_near && !is_across);
            across += usize::from(is_near && is_across);
        }
    }
    *shortlist.count = [inside as u32, across as u32];
}
