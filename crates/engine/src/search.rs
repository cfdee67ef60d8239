//! Which grains are near each other: cells, tables, and the Verlet list with its history.
//!
//! The grids of [`Cells`] sort the grains, so that neighbors lie close in memory. Pairs are found through them or, as the scene asks, in another
//! way: among all grains, through all cells that a grain touches, through hash tables. Every way makes the same list.

mod cells;
mod overlap;
mod pairs;
mod tables;
mod trial;

use crate::fields::Fields;
pub use cells::{Cells, cells_between, is_small};
pub use overlap::deepest_overlap;
pub use pairs::Pairs;
use seixo_device::Cpu;
use seixo_sweeps::views::RECORD;
pub use tables::Tables;
pub(crate) use trial::{Filed, TablePlace};
pub use trial::{SearchTrial, Sharing, TableTrial};

#[cfg(test)]
pub(crate) mod tests;

/// Resizes and, where that needs memory, takes a quarter more, so that lists that breathe do not allocate.
pub fn resize_with_room<T: Clone + Default>(items: &mut Vec<T>, len: usize) {
    if items.capacity() < len {
        items.reserve_exact(len + len / 4 - items.len());
    }
    items.resize(len, T::default());
}

/// Pairs of spheres, by their places in a table of centers and radii, whose surfaces are closer than `skin` or nearly so, each once.
pub fn pairs_within(device: &Cpu, mut cells: Cells, position: &[f64], skin: f64) -> Vec<(usize, usize)> {
    let n = position.len() / RECORD;
    let mut sorted = Fields::default();
    sorted.id.extend(0..n as u32);
    sorted.position.extend(position);
    cells.sort(device, &mut sorted, |_| true);
    let (mut row, mut pairs) = (Vec::new(), Vec::new());
    for i in 0..n {
        // Grains may stand outside of periodic sides by half the skin.
        cells.neighbors(i, &sorted.position, skin, &mut row);
        let later = row.iter().filter(|&&j| j as usize > i);
        pairs.extend(later.map(|&j| (sorted.id[i] as usize, sorted.id[j as usize] as usize)));
    }
    pairs
}
