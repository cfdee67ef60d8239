//! The columns of cubes along an axis, and which triangles they may meet.

use super::{Lattice, VoxelError};
use seixo_device::{Cpu, Strided, exclusive_scan};
use seixo_laws::crossing::side;
use seixo_sweeps::peel::{CORNERS, corner_at, peel};

/// Most triangles in all columns of an axis: a gigabyte of them.
const MOST_ENTRIES: u64 = 1 << 28;
/// Columns that a thread takes at once.
const PART: usize = 16;

/// A mesh as it is seen along an axis w, column by column; u and v are the two axes that follow.
pub(crate) struct Columns {
    /// Corners of the triangles, see [`seixo_sweeps::peel`].
    pub corners: Vec<u32>,
    /// First entry of every column, and one more.
    pub first: Vec<u32>,
    /// The triangles of the columns.
    pub triangles: Vec<u32>,
    /// Columns in a row along u.
    pub wide: u32,
    /// Cubes in a column.
    pub slices: u32,
    /// Half the distance of two lines \[units\].
    pub half_gap: u32,
}

/// What the lines along an axis met, cube by cube and column by column.
pub(crate) struct Peeled {
    /// 1 where a line meets a triangle.
    pub touched: Vec<u32>,
    /// By what the winding number of the middle of a cube is above that of the cube before.
    pub turns: Vec<i32>,
}

impl Columns {
    /// Those along an axis, for triangles with these corners.
    pub(super) fn new(mesh: &[[[u32; 3]; 3]], lattice: &Lattice, axis: usize) -> Result<Columns, VoxelError> {
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
            visit_columns(triangle, units, |u, v| {
                entries += 1;
                first[(v * wide + u) as usize] += 1;
            });
            if entries > MOST_ENTRIES {
                return Err(VoxelError::TooManyEntries { most: MOST_ENTRIES });
            }
        }
        let mut triangles = vec![0; exclusive_scan(&mut first) as usize];
        for (number, triangle) in (0..).zip(corners.chunks_exact(CORNERS)) {
            visit_columns(triangle, units, |u, v| {
                let entry = &mut first[(v * wide + u) as usize];
                triangles[*entry as usize] = number;
                *entry += 1;
            });
        }
        // Every entry now is the end of its column: they go back by one place.
        first.copy_within(..columns, 1);
        first[0] = 0;
        Ok(Columns {
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

    /// Looks through all columns, here.
    pub(super) fn peel(&self, cpu: &Cpu) -> Peeled {
        let slices = self.slices as usize;
        let (mut touched, mut turns) = (vec![0; self.count() * slices], vec![0; self.count() * slices]);
        let per_part = PART * slices;
        let data = (
            Strided {
                items: touched.as_mut_slice(),
                per_part,
            },
            Strided {
                items: turns.as_mut_slice(),
                per_part,
            },
        );
        cpu.run(
            self.count().div_ceil(PART),
            data,
            |part, (touched, turns): (Strided<u32>, Strided<i32>)| {
                let start = part * PART;
                for column in start..(start + PART).min(self.count()) {
                    peel(
                        column,
                        self.wide,
                        self.slices,
                        self.half_gap,
                        &self.first,
                        &self.triangles,
                        &self.corners,
                        (column - start) * slices,
                        touched.items,
                        turns.items,
                    );
                }
            },
        );
        Peeled { touched, turns }
    }
}

/// Calls `visit` with the columns that a triangle covers a part of; with none for one that is seen edge on.
fn visit_columns(triangle: &[u32], units: u32, mut visit: impl FnMut(u32, u32)) {
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
            // All of a column is outside if its corner farthest to the left of an edge is on the right of it.
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
