//! The list of polyhedral grains near planes, in the order of ids of grains and numbers of wall elements.

use super::records::PairRecords;
use seixo_sweeps::shape_walls::{NO_PLANE_LOAD, PlaneLoad};

/// The list of polyhedral grains near planes. The ids of a pair are that of the grain and the number of the element.
#[derive(Default)]
pub(crate) struct GrainsAtPlanes {
    pub records: PairRecords<PlaneLoad>,
    /// Index of the grain and entry in the list of walls, of each pair.
    pub places: Vec<[u32; 2]>,
}

impl GrainsAtPlanes {
    /// Lists pairs by their ids and places.
    pub fn rebuild(&mut self, mut list: Vec<([u32; 2], [u32; 2])>) {
        list.sort_unstable();
        self.records.relist(list.iter().map(|&(ids, _)| ids), NO_PLANE_LOAD);
        self.places = list.into_iter().map(|(_, places)| places).collect();
    }

    /// After contacts were computed between two steps: histories, and the loads of contacts that are not new, are those from `before`.
    pub fn go_back(&mut self, before: PairRecords<PlaneLoad>) {
        for (now, old) in self.records.loads.iter_mut().zip(&before.loads) {
            if old.contacts > 0 {
                *now = *old;
            }
        }
        (self.records.contacts, self.records.power_sums) = (before.contacts, before.power_sums);
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        self.places.capacity() as u64 * 8 + self.records.bytes()
    }
}
