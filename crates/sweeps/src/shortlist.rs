//! Shortlist: the pairs of the list that may touch soon.
//!
//! A list includes the skin so that it lasts, and most of its pairs do not touch. The shortlist holds the pairs nearer than a small margin. Only
//! these are evaluated until grains have moved so far that another pair could touch (dynamic pruning \[Abraham 2015\]). Omitted pairs do not touch.
//! So the shortlist and the time of its rebuild change only the run time, not the result.
//!
//! ```
//! use seixo_sweeps::shortlist::Shortlist;
//! // Two pairs inside the part, and one across its border.
//! let shortlist = Shortlist { first: 100, grain: &[2, 3, 2], partner: &[103, 104, 7], inside: 2 };
//! assert_eq!(shortlist.inside().1, [103, 104]);
//! assert_eq!(shortlist.across().1, [7]);
//! ```

use crate::part::{GrainsView, PartRows, apart, record};
use crate::simd::{InLanes, SimdLevel, on_best_simd, prefetch};
use seixo_laws::{Real, Vector3};

/// Number of list entries by which a partner's position is prefetched.
const AHEAD: usize = 16;

/// The shortlist of a part: first pairs inside it, then pairs across its border, and all pairs that are in both rows.
#[derive(Clone, Copy)]
pub struct Shortlist<'a> {
    /// First grain of the part.
    pub first: usize,
    /// The grain that owns the row of each pair, counted from the part's first.
    pub grain: &'a [u16],
    /// Its partner in each pair.
    pub partner: &'a [u32],
    /// Number of pairs inside.
    pub inside: usize,
}

impl<'a> Shortlist<'a> {
    /// Grains and partners of pairs inside the part.
    pub fn inside(&self) -> (&'a [u16], &'a [u32]) {
        (&self.grain[..self.inside], &self.partner[..self.inside])
    }

    /// Grains and partners of pairs across its border.
    pub fn across(&self) -> (&'a [u16], &'a [u32]) {
        (&self.grain[self.inside..], &self.partner[self.inside..])
    }
}

/// Selects the pairs of a part whose surfaces are nearer than `margin`, with the widest vector units of this processor. Writes their entries and
/// grains, counted from the part's first: pairs inside it from the front, in their order, and pairs across its border from the back. There must be
/// room for all entries of the part. Returns the numbers of pairs inside and across.
pub fn pick_of_part<R: Real, const SIDES: u32>(
    grains: &GrainsView<R>,
    rows: &PartRows,
    margin: R,
    entry: &mut [u32],
    grain: &mut [u16],
) -> [usize; 2] {
    let mut picking = Picking::<R, SIDES> {
        grains,
        rows,
        margin,
        entry,
        grain,
        count: [0; 2],
    };
    on_best_simd(&mut picking);
    picking.count
}

/// Arguments and result of [`pick_of_part`].
struct Picking<'a, 'b, R: Real, const SIDES: u32> {
    grains: &'a GrainsView<'b, R>,
    rows: &'a PartRows<'b>,
    margin: R,
    entry: &'a mut [u32],
    grain: &'a mut [u16],
    count: [usize; 2],
}

impl<R: Real, const SIDES: u32> InLanes for Picking<'_, '_, R, SIDES> {
    #[inline(always)]
    fn resolve<U: SimdLevel>(&mut self, _unit: U) {
        let (grains, rows) = (self.grains, self.rows);
        let base = rows.row[rows.first] as usize;
        let own = rows.inside() as u32;
        let (mut inside, mut across) = (0, 0);
        let room = self.entry.len();
        for i in rows.first..rows.end {
            let x_i = record(grains.position, i);
            for k in rows.row[i] as usize..rows.row[i + 1] as usize {
                let j = rows.neighbors[k];
                if let Some(&next) = rows.neighbors.get(k + AHEAD) {
                    prefetch(grains.position, next as usize);
                }
                let x_j = record(grains.position, j as usize);
                let Vector3 { x, y, z } = apart::<R, SIDES>(x_i, x_j, grains.sides).apart;
                let reach = x_i[3] + x_j[3] + self.margin;
                let is_near = x * x + y * y + z * z < reach * reach;
                let is_across = j.wrapping_sub(rows.first as u32) >= own;
                // Every pair is written, but only a near one advances the index. So there is no branch to predict. There is room for all pairs.
                let slot = if is_across { room - 1 - across } else { inside };
                self.entry[slot] = (k - base) as u32;
                self.grain[slot] = (i - rows.first) as u16;
                inside += usize::from(is_near && !is_across);
                across += usize::from(is_near && is_across);
            }
        }
        self.count = [inside, across];
    }
}
