//! What a sweep over the contacts of a part reads and writes.

use crate::sides::{OPEN, Sides, nearest_image};
use crate::views::RECORD;
use seixo_laws::{Real, Vector3};

/// What is read of all grains.
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
    /// Whether all grains are of the first grain's material.
    pub is_uniform: bool,
    /// Periodic sides.
    pub sides: &'a Sides<R, R>,
}

/// The rows of a part in the list of pairs.
pub struct PartRows<'a> {
    /// First grain of the part.
    pub first: usize,
    /// The grain after its last.
    pub end: usize,
    /// First entry of every grain's row, and one more.
    pub row: &'a [u32],
    /// Partners of all rows.
    pub neighbors: &'a [u32],
    /// Whether a pair inside the part stands in the row of its first member only; else it stands in both, as pairs across its border do.
    pub is_once: bool,
}

impl PartRows<'_> {
    /// How many grains there are, from the first of the part on, pairs with which stand in no other row: all of the part, or none.
    #[inline(always)]
    pub(crate) fn inside(&self) -> usize {
        if self.is_once { self.end - self.first } else { 0 }
    }
}

/// What a part writes; slot 0 belongs to its first grain or entry.
pub struct PartOut<'a, R> {
    /// Records of history of the part's entries, all zero for a pair that does not touch.
    pub history: &'a mut [R],
    /// Forces and numbers of touches.
    pub force: &'a mut [R],
    /// Torques.
    pub torque: &'a mut [R],
}

/// Time step, and limits.
#[derive(Clone, Copy)]
pub struct Limits<R> {
    /// Time step \[s\].
    pub dt: R,
    /// Overlap that is too deep, as a share of the smaller radius \[-\].
    pub overlap: R,
}

/// The vector from j to i, or to the nearest image where sides are periodic, and how many times it passed sides that slide.
#[inline(always)]
pub(crate) fn apart<R: Real, const SIDES: u32>(x_i: &[R; RECORD], x_j: &[R; RECORD], sides: &Sides<R, R>) -> ([R; 3], R) {
    let apart = [x_i[0] - x_j[0], x_i[1] - x_j[1], x_i[2] - x_j[2]];
    if SIDES == OPEN {
        return (apart, R::new(0.0));
    }
    let [x, y, z] = apart;
    let image = nearest_image::<R, R>(&Vector3 { x, y, z }, sides, SIDES);
    (array(&image.apart), image.passed)
}

/// The numbers of a vector.
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
