//! Contacts of the neighbor lists of the host.

use crate::checkpoint::padded;
use crate::fields::{part_range, parts};
use crate::populations::Populations;
use crate::search::of_partner;
use seixo_sweeps::layout::{EXTENDED_HISTORY_STRIDE, RECORD, extended_history_at, history_stride, load};
use seixo_sweeps::pair::depth_of;
use seixo_sweeps::periodic::nearest_image;

impl Populations {
    /// Like [`crate::local_domain::LocalDomain::visit_contacts`], for pairs listed here.
    pub(crate) fn visit_listed(&self, mut visit: impl FnMut(u32, u32, &[f64; EXTENDED_HISTORY_STRIDE], &[f64; EXTENDED_HISTORY_STRIDE])) {
        (0..self.listed_parts()).for_each(|part| self.visit_listed_in_part(part, &mut visit));
    }

    /// Number of parts of the list with contact histories.
    pub(crate) fn listed_parts(&self) -> usize {
        // Smooth grains may have rows, too, but no contact history.
        if self.context.materials.has_friction {
            parts(self.grains.pairs.row.len().saturating_sub(1))
        } else {
            0
        }
    }

    /// Like [`Populations::visit_listed`], for the pairs of one part.
    pub(crate) fn visit_listed_in_part(
        &self,
        part: usize,
        mut visit: impl FnMut(u32, u32, &[f64; EXTENDED_HISTORY_STRIDE], &[f64; EXTENDED_HISTORY_STRIDE]),
    ) {
        let numbers = history_stride(self.context.materials.are_extended);
        let (first, end) = part_range(part, self.grains.pairs.row.len() - 1);
        let (histories, base) = (
            self.grains.pairs.histories_of_part(part, numbers),
            self.grains.pairs.row[first] as usize,
        );
        for i in first..end {
            for k in self.grains.pairs.row[i] as usize..self.grains.pairs.row[i + 1] as usize {
                let j = self.grains.pairs.neighbors[k];
                // A pair across parts is in two rows with opposite forces; the row of the earlier grain is used for both.
                if j <= i as u32 && !self.is_ghost(j as usize) {
                    continue;
                }
                let record = &histories[(k - base) * numbers..][..numbers];
                let holds = if self.context.materials.are_extended {
                    extended_history_at(record, 0).holds > 0.0
                } else {
                    // A record of zeros may belong to two grains whose head-on contact just began.
                    record.iter().any(|&number| number != 0.0) || self.are_in_contact(i, j as usize)
                };
                if holds {
                    let of_i = padded(record);
                    let known = self.grains.of_second.binary_search_by_key(&(i as u32, j), |&(i, j, _)| (i, j));
                    let of_j = known.map_or_else(|_| of_partner(&of_i), |found| self.grains.of_second[found].2);
                    visit(i as u32, j, &of_i, &of_j);
                }
            }
        }
    }

    /// Whether two grains are in contact.
    fn are_in_contact(&self, i: usize, j: usize) -> bool {
        let position = &self.grains.fields.position;
        let apart = load(position, i * RECORD).minus(&load(position, j * RECORD));
        let apart = nearest_image::<f64, f64>(&apart, &self.context.stepping.sides, self.context.sides).apart;
        depth_of(&apart, position[i * RECORD + 3] + position[j * RECORD + 3]) > 0.0
    }
}
