//! Grid of cubes around a mesh, and the integer coordinates of the corners of the mesh.

use super::VoxelError;
use crate::world::{Triangle, Vec3};
use seixo_sweeps::voxelize::RAYS;

/// Largest number of cubes in a grid: each takes about ten bytes during voxelization.
const MOST_CUBES: f64 = (1 << 25) as f64;
/// Largest number of cubes along an axis, for which the rays through them are still distinct.
const MAX_SLICES: f64 = (1 << 14) as f64;
/// Largest number of units along an axis, for which products of three of them stay below 2⁶³.
const MAX_UNITS: u32 = 1 << 20;
/// Share of a cube by which a body may extend beyond the grid: rounding error of a length that is a multiple of the edge.
const ROUNDING: f64 = 1e-9;

/// A grid of cubes around the center of a mesh; the edge of a cube is the diameter of the spheres.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    /// Numbers of cubes along x, y and z.
    pub counts: [u32; 3],
    /// Edge of a cube.
    pub edge: f64,
    /// Corners of the axis-aligned bounding box of the mesh.
    pub bounds: [Vec3; 2],
    /// Half the distance of the rays through a cube, in units of which [`seixo_sweeps::cast_rays`] has 32 per cube.
    pub(super) half_gap: u32,
}

impl Lattice {
    /// Grid for spheres of this radius.
    ///
    /// # Errors
    /// If the mesh has no extent, or the radius does not fit it.
    pub fn new(mesh: &[Triangle], radius: f64) -> Result<Lattice, VoxelError> {
        if mesh.is_empty() {
            return Err(VoxelError::Empty);
        }
        if let Some(triangle) = mesh
            .iter()
            .position(|triangle| !triangle.as_flattened().iter().all(|x| x.is_finite()))
        {
            return Err(VoxelError::NotFinite { triangle: triangle + 1 });
        }
        let corners = || mesh.iter().flatten();
        let low = [0, 1, 2].map(|k| corners().fold(f64::INFINITY, |low, corner| low.min(corner[k])));
        let high = [0, 1, 2].map(|k| corners().fold(f64::NEG_INFINITY, |high, corner| high.max(corner[k])));
        let extent = [0, 1, 2].map(|k| high[k] - low[k]);
        let longest = extent[0].max(extent[1]).max(extent[2]);
        if !longest.is_normal() {
            return Err(VoxelError::Extent { longest });
        }
        // NaN is rejected, too.
        if !(radius > 0.0 && 2.0 * radius <= longest * (1.0 + ROUNDING)) {
            return Err(VoxelError::Radius { radius, longest });
        }
        let counts = counts_of(&extent, radius);
        if !do_fit(&counts) {
            return Err(VoxelError::TooMany {
                radius,
                cubes: counts.iter().product(),
                most: MOST_CUBES,
                slices: MAX_SLICES,
                fitting: radius_that_fits(&extent, radius),
            });
        }
        let counts = counts.map(|count| count as u32);
        let widest = counts[0].max(counts[1]).max(counts[2]);
        Ok(Lattice {
            counts,
            edge: 2.0 * radius,
            bounds: [low, high],
            half_gap: 1 << (MAX_UNITS / (2 * RAYS * widest)).ilog2(),
        })
    }

    /// Number of cubes.
    pub fn cubes(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).product()
    }

    /// Differences of the indices of cubes that are neighbors along x, y and z.
    pub(super) fn strides(&self) -> [usize; 3] {
        let [x, y, _] = self.counts.map(|count| count as usize);
        [1, x, x * y]
    }

    /// Width of a cube \[units\].
    pub(super) fn units(&self) -> u32 {
        2 * RAYS * self.half_gap
    }

    /// Center of the cube with this index.
    pub fn center(&self, cube: u32) -> Vec3 {
        let [x, y, _] = self.counts;
        let place = [cube % x, cube / x % y, cube / x / y];
        [0, 1, 2].map(|k| self.middle(k) + (f64::from(place[k]) + 0.5 - 0.5 * f64::from(self.counts[k])) * self.edge)
    }

    /// Coordinate of the center of the grid; halves are added, as the sum of both ends may exceed the range of a double.
    fn middle(&self, axis: usize) -> f64 {
        0.5 * self.bounds[0][axis] + 0.5 * self.bounds[1][axis]
    }

    /// A corner of the mesh in units from the corner of the grid. All are odd, while sides of cubes and rays have even coordinates, so no
    /// corner lies on them. A corner on a side belongs to the cube above, except at the last side.
    pub(super) fn snapped(&self, corner: &Vec3) -> [u32; 3] {
        [0, 1, 2].map(|k| {
            let pairs = f64::from(self.units() / 2);
            let all = f64::from(self.counts[k]) * pairs;
            let pair = (corner[k] - self.middle(k)) / self.edge * pairs + 0.5 * all;
            2 * (pair.clamp(0.0, all - 1.0) as u32) + 1
        })
    }
}

/// Numbers of cubes that enclose a body of this extent.
fn counts_of(extent: &Vec3, radius: f64) -> Vec3 {
    extent.map(|length| (length / (2.0 * radius) * (1.0 - ROUNDING)).ceil().max(1.0))
}

fn do_fit(counts: &Vec3) -> bool {
    counts.iter().all(|&count| count <= MAX_SLICES) && counts.iter().product::<f64>() <= MOST_CUBES
}

/// A larger radius with an acceptable number of cubes.
fn radius_that_fits(extent: &Vec3, radius: f64) -> f64 {
    let mut fitting = extent.iter().fold(radius, |most, length| most.max(0.5 * length / MAX_SLICES));
    while !do_fit(&counts_of(extent, fitting)) {
        fitting *= 1.05;
    }
    // Rounded up to two digits for the message.
    let digit = 10_f64.powf(fitting.log10().floor() - 1.0);
    (fitting / digit).ceil() * digit
}
