//! Which grains are near each other: cells, tables, and the Verlet list with its history.
//!
//! The grids of [`Cells`] sort the grains, so that neighbors lie close in memory. Pairs are found through them or, as the scene asks, in another
//! way: among all grains, through all cells that a grain touches, through hash tables. Every way makes the same list.

mod cells;
mod overlap;
mod pairs;
mod tables;
mod trial;

pub use cells::Cells;
pub use overlap::deepest_overlap;
pub use pairs::Pairs;
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
