//! Neighbor search: cells, tables, and the neighbor list with contact histories.
//!
//! The grids of [`Cells`] sort the grains, so that neighbors are close in memory. Pairs are found with these grids or with another method of the
//! scene:
//! all pairs, all cells that a grain overlaps, or hash tables. All methods give the same list.

mod cells;
mod layers;
mod overlap;
mod pairs;
mod shortlists;
mod skin;
mod table_backend;
mod tables;

use crate::fields::Fields;
pub use cells::{Cells, MAX_CLASSES, cells_between, is_small, number_of_cells, size_classes};
pub use layers::{Layer, layers_near};
pub use overlap::deepest_overlap;
pub use pairs::Pairs;
pub(crate) use pairs::of_partner;
use seixo_device::Cpu;
use seixo_sweeps::layout::RECORD;
pub use shortlists::{Histories, PartShortlist, Shortlists};
pub use skin::{ListCost, ListCounts, SkinTuning};
pub(crate) use table_backend::{FiledParticles, TableBackend};
pub use tables::{StaticTables, Tables};

#[cfg(test)]
pub(crate) mod tests;

/// Hash tables of the spheres that are fixed, which are kept while these spheres do not change: [`crate::world::Search::SpatialHashStatic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticTable {
    /// Number of spheres in them.
    pub spheres: usize,
    /// Number of times that they were filled since the start or the last restart. With grains on a GPU, the host fills tables of its own before each
    /// upload.
    pub fills: u64,
}

/// Resizes; if that needs memory, it reserves a sixteenth more, so that lists of changing length do not allocate each time.
pub fn resize_with_room<T: Clone + Default>(items: &mut Vec<T>, len: usize) {
    if items.capacity() < len {
        items.reserve_exact(len + len / 16 - items.len());
    }
    items.resize(len, T::default());
}

/// Pairs of spheres with gaps below `skin` or slightly above, each once, as indices in a table of centers and radii.
pub fn pairs_within(device: &Cpu, mut cells: Cells, position: &[f64], skin: f64) -> Vec<(usize, usize)> {
    let n = position.len() / RECORD;
    let mut sorted = Fields::default();
    sorted.id.extend(0..n as u32);
    sorted.position.extend(position);
    cells.sort(device, &mut sorted, |_| true);
    let (mut row, mut pairs) = (Vec::new(), Vec::new());
    for i in 0..n {
        // Grains may be outside of periodic sides by half the skin.
        cells.neighbors(i, &sorted.position, skin, &mut row);
        let later = row.iter().filter(|&&j| j as usize > i);
        pairs.extend(later.map(|&j| (sorted.id[i] as usize, sorted.id[j as usize] as usize)));
    }
    pairs
}
