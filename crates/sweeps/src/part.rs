//! Input and output of a sweep over the contacts of a part.
//!
//! ```
//! use seixo_sweeps::part::PartRows;
//! // A chain of three grains. Each pair is in the row of its first member.
//! let rows = PartRows { first: 0, end: 3, row: &[0, 1, 2, 2], neighbors: &[1, 2], is_once: true };
//! let partners = |i: usize| &rows.neighbors[rows.row[i] as usize..rows.row[i + 1] as usize];
//! assert_eq!(partners(0), [1]);
//! assert_eq!(partners(1), [2]);
//! assert!(partners(2).is_empty());
//! ```

use crate::layout::RECORD;
use crate::periodic::{Image, OPEN, PeriodicBoundaries, nearest_image};
use seixo_laws::{Real, Vector3};

/// Fields of all grains that the sweep reads.
pub struct GrainsView<'a, R: Real> {
    /// Centers and radii.
    pub position: &'a [R],
    /// Velocities and masses.
    pub velocity: &'a [R],
    /// Angular velocities.
    pub spin: &'a [R],
    /// Materials.
    pub material: &'a [u32],
    /// Number of materials.
    pub materials: u32,
    /// Rows of coefficients, one per pair of materials.
    pub table: &'a [R],
    /// Whether all grains have the material of the first grain.
    pub is_uniform: bool,
    /// Periodic sides.
    pub sides: &'a PeriodicBoundaries<R, R>,
}

/// The rows of a part in the pair list.
pub struct PartRows<'a> {
    /// First grain of the part.
    pub first: usize,
    /// Grain after the last of the part.
    pub end: usize,
    /// First entry of every grain's row, and the end of the last row.
    pub row: &'a [u32],
    /// Partners of all rows.
    pub neighbors: &'a [u32],
    /// Whether a pair inside the part is in the row of its first member only. Otherwise it is in both rows, as pairs across the border of the part
    /// are.
    pub is_once: bool,
}

impl PartRows<'_> {
    /// Number of grains, from the first of the part on, whose pairs are in one row only: all of the part, or none.
    #[inline(always)]
    pub(crate) fn inside(&self) -> usize {
        if self.is_once { self.end - self.first } else { 0 }
    }
}

/// Output of a part. Slot 0 belongs to its first grain or entry. Histories may have fewer digits than forces.
pub struct PartOut<'a, C, R = C> {
    /// History records of the pairs of the part's shortlist, or of the part's entries if there is none; all zero for a pair without contact.
    pub history: &'a mut [R],
    /// Forces and numbers of contacts.
    pub force: &'a mut [C],
    /// Torques.
    pub torque: &'a mut [C],
}

/// Time step and limits.
#[derive(Clone, Copy)]
pub struct Limits<R> {
    /// Time step \[s\].
    pub dt: R,
    /// Limit of the overlap, as a share of the smaller radius \[-\].
    pub overlap: R,
}

/// The vector from j to i, or to the nearest periodic image, with the sides between them.
#[inline(always)]
pub(crate) fn apart<R: Real, const SIDES: u32>(x_i: &[R; RECORD], x_j: &[R; RECORD], sides: &PeriodicBoundaries<R, R>) -> Image<R> {
    let apart = Vector3 {
        x: x_i[0] - x_j[0],
        y: x_i[1] - x_j[1],
        z: x_i[2] - x_j[2],
    };
    if SIDES == OPEN {
        return Image {
            apart,
            passed: R::new(0.0),
            crossed: Vector3::zero(),
        };
    }
    nearest_image::<R, R>(&apart, sides, SIDES)
}

/// The components of a vector.
#[inline(always)]
pub(crate) fn array<R: Real>(v: &Vector3<R>) -> [R; 3] {
    [v.x, v.y, v.z]
}

/// The record of grain i.
#[inline(always)]
pub(crate) fn record<R: Real>(numbers: &[R], i: usize) -> &[R; RECORD] {
    let (records, _) = numbers.as_chunks::<RECORD>();
    &records[i]
}
