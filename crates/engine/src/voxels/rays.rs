//! Ray grid along an axis, and the triangles that its rays may meet.

use super::{Lattice, VoxelError};
use seixo_device::{Cpu, Strided, exclusive_scan};
use seixo_laws::ray_triangle::side;
use seixo_sweeps::voxelize::{CORNERS, cast_rays, corner_at};

/// Largest number of triangles in all columns of an axis: one gigabyte of memory.
const MAX_ENTRIES: u64 = 1 << 28;
/// Number of columns per unit of work of a thread.
const PART: usize = 16;

/// A mesh seen along an axis w, column by column; u and v are the two axes that follow.
pub(crate) struct RayGrid {
    /// Corners of the triangles, see [`seixo_sweeps::cast_rays`].
    pub corners: Vec<u32>,
    /// Index of the first entry of each column, and the total number.
    pub first: Vec<u32>,
    /// Triangles of the columns.
    pub triangles: Vec<u32>,
    /// Number of columns in a row along u.
    pub wide: u32,
    /// Number of cubes in a column.
    pub slices: u32,
    /// Half the distance of two rays \[units\].
    pub half_gap: u32,
}

/// Crossings of the rays along an axis, by column and cube.
pub(crate) struct RayCrossings {
    /// 1 if a ray meets a triangle in the cube.
    pub touched: Vec<u32>,
    /// Change of the winding number at the center of a cube from that of the previous cube.
    pub windings: Vec<i32>,
}

impl RayGrid {
    /// Grid along an axis, for triangles with these corners.
    pub(super) fn new(mesh: &[[[u32; 3]; 3]], lattice: &Lattice, axis: usize) -> Result<RayGrid, VoxelError> {
        let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        let corners: Vec<u32> = mesh
            .iter()
            .flatten()
            .flat_map(|corner| [corner[u], corner[v], corner[axis]])
            .collect();
        let [wide, high] = [u, v].map(|axis| lattice.counts[axis]);
        let units = lattice.units();
        let columns = wide as usize * high as usize;
        let mut first = vec![0_u32; columns + 1];
        let mut entries = 0_u64;
        for triangle in corners.chunks_exact(CORNERS) {
            visit_rays(triangle, units, |u, v| {
                entries += 1;
                first[(v * wide + u) as usize] += 1;
            });
            if entries > MAX_ENTRIES {
                return Err(VoxelError::TooManyEntries { most: MAX_ENTRIES });
            }
        }
        let mut triangles = vec![0; exclusive_scan(&mut first) as usize];
        for (number, triangle) in (0..).zip(corners.chunks_exact(CORNERS)) {
            visit_rays(triangle, units, |u, v| {
                let entry = &mut first[(v * wide + u) as usize];
                triangles[*entry as usize] = number;
                *entry += 1;
            });
        }
        // Each entry is now the end of its column: shift them by one index.
        first.copy_within(..columns, 1);
        first[0] = 0;
        Ok(RayGrid {
            corners,
            first,
            triangles,
            wide,
            slices: lattice.counts[axis],
            half_gap: lattice.half_gap,
        })
    }

    /// Number of columns.
    pub(crate) fn count(&self) -> usize {
        self.first.len() - 1
    }

    /// Casts the rays of all columns, on the CPU.
    pub(super) fn cast_rays(&self, cpu: &Cpu) -> RayCrossings {
        let slices = self.slices as usize;
        let (mut touched, mut windings) = (vec![0; self.count() * slices], vec![0; self.count() * slices]);
        let per_part = PART * slices;
        let data = (
            Strided {
                items: touched.as_mut_slice(),
                per_part,
            },
            Strided {
                items: windings.as_mut_slice(),
                per_part,
            },
        );
        cpu.run(
            self.count().div_ceil(PART),
            data,
            |part, (touched, windings): (Strided<u32>, Strided<i32>)| {
                let start = part * PART;
                for column in start..(start + PART).min(self.count()) {
                    cast_rays(
                        column,
                        self.wide,
                        self.slices,
                        self.half_gap,
                        &self.first,
                        &self.triangles,
                        &self.corners,
                        (column - start) * slices,
                        touched.items,
                        windings.items,
                    );
                }
            },
        );
        RayCrossings { touched, windings }
    }
}

/// Calls `visit` for each column that a triangle covers partly; for none if it is parallel to the rays.
fn visit_rays(triangle: &[u32], units: u32, mut visit: impl FnMut(u32, u32)) {
    let [a, b, c] = [0, 3, 6].map(|at| corner_at(triangle, at));
    let area = side(&b, &c, a.u, a.v);
    if area == 0 {
        return;
    }
    let around = if area > 0 {
        [(a, b), (b, c), (c, a)]
    } else {
        [(a, c), (c, b), (b, a)]
    };
    let range = |k: usize| {
        let of_corners = [triangle[k], triangle[k + 3], triangle[k + 6]];
        let low = of_corners.iter().fold(u32::MAX, |low, &one| low.min(one));
        let high = of_corners.iter().fold(0, |high, &one| high.max(one));
        low / units..=high / units
    };
    for v in range(1) {
        for u in range(0) {
            let [low_u, high_u, low_v, high_v] = [u, u + 1, v, v + 1].map(|column| i64::from(column * units));
            // A column is completely outside if its leftmost corner, relative to an edge, is to the right of it.
            let is_met = around.iter().all(|(from, to)| {
                let farthest_u = if to.v > from.v { low_u } else { high_u };
                let farthest_v = if to.u > from.u { high_v } else { low_v };
                side(from, to, farthest_u, farthest_v) >= 0
            });
            if is_met {
                visit(u, v);
            }
        }
    }
}
