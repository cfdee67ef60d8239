//! The list of polyhedral grains near walls, in the order of ids of grains and numbers of wall elements.

use super::records::PairRecords;
use seixo_sweeps::shape_walls::{NO_WALL_LOAD, ShapeWallLoad};

/// The list of polyhedral grains near walls. The ids of a pair are that of the grain and the number of the element; all elements of a mesh are one pair,
/// with the number of the first.
#[derive(Default)]
pub(crate) struct GrainsAtWalls {
    pub records: PairRecords<ShapeWallLoad<f64, f64>>,
    /// Index of the grain and entry in the list of walls, of each pair.
    pub places: Vec<[u32; 2]>,
}

impl GrainsAtWalls {
    /// Lists pairs by their ids and places. Of pairs with the same ids, that with the first places counts.
    pub fn rebuild(&mut self, mut list: Vec<([u32; 2], [u32; 2])>) {
        list.sort_unstable();
        list.dedup_by_key(|(ids, _)| *ids);
        self.records.relist(list.iter().map(|&(ids, _)| ids), NO_WALL_LOAD);
        self.places = list.into_iter().map(|(_, places)| places).collect();
    }

    /// Entry in the list of walls of a pair with these ids, if it is listed.
    pub fn entry_of(&self, ids: [u32; 2]) -> Option<usize> {
        let k = self.records.ids.binary_search(&ids).ok()?;
        Some(self.places[k][1] as usize)
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        self.places.capacity() as u64 * 8 + self.records.bytes()
    }
}
