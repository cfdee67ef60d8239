//! Voxelization of meshes: cubes of a grid, each of which becomes a sphere. It uses the depth peeling of \[Silva 2010, § 3.4\] along all three axes,
//! so that no face is missed because it is parallel to the rays.
//!
//! Corners are snapped to a lattice of integers, see [`Lattice`]. All later arithmetic is exact, and so the same on every device. Parallel rays,
//! 16 × 16 through each cube along each axis, cross the triangles ([`seixo_sweeps::voxelize`]). A cube is taken if one of its rays meets a
//! triangle in it, or if it contains a corner of the mesh. The rays through the centers of cubes decide what is inside.
//!
//! ```
//! use seixo_engine::voxels::{Edges, Lattice, VoxelFilling, voxels};
//! use seixo_engine::world::{DeviceChoice, Triangle};
//!
//! let [o, x, y, z] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
//! let tetrahedron: [Triangle; 4] = [[o, y, x], [o, x, z], [o, z, y], [x, y, z]];
//! let edges = Edges::of(&tetrahedron);
//! assert!(edges.is_closed());
//! let lattice = Lattice::new(&tetrahedron, 0.025)?;
//! let found = voxels(&tetrahedron, &edges, &lattice, VoxelFilling::Solid, (DeviceChoice::Cpu, 1), &mut Vec::new())?;
//! let volume = f64::from(found.inside) * lattice.edge.powi(3);
//! assert!((volume - 1.0 / 6.0).abs() < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod edges;
mod lattice;
mod parts;
mod rays;

pub use edges::{Edges, NonManifoldEdge, is_collapsed};
pub use lattice::Lattice;
pub use parts::Parts;
pub(crate) use rays::{RayCrossings, RayGrid};

use crate::device_choice::gpu_asked_for;
use crate::refusal::WorldError;
use crate::world::{DeviceChoice, Triangle};
use seixo_device::Cpu;

/// Selection of the cubes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VoxelFilling {
    /// Cubes that the surface passes through.
    #[default]
    Surface,
    /// These cubes, and those whose centers are inside.
    Solid,
}

impl VoxelFilling {
    /// All selections, with their names in a scene.
    pub const ALL: [(VoxelFilling, &'static str); 2] = [(VoxelFilling::Surface, "surface"), (VoxelFilling::Solid, "solid")];
}

/// The cubes of a [`Lattice`] that a mesh fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voxels {
    /// Indices of the cubes in ascending order, see [`Lattice::center`].
    pub taken: Vec<u32>,
    /// Number of cubes with their center inside.
    pub inside: u32,
    /// Number of cubes for which the three axes disagree whether the center is inside, so that two of them decide.
    pub disputed: u32,
    /// Number of cubes with their center inside several parts of the mesh.
    pub doubled: u32,
}

/// Reason for which a mesh cannot be voxelized. Each message ends with the remedy, after a semicolon.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VoxelError {
    /// It has no triangles.
    #[error("the mesh has no triangles; export it again")]
    Empty,
    /// A coordinate is not a number, or infinite.
    #[error("triangle {triangle} of the mesh has a corner that is not at a finite place; export the mesh again")]
    NotFinite {
        /// Number of the triangle, from 1.
        triangle: usize,
    },
    /// The mesh has no extent, or one beyond double precision.
    #[error("the longest side of the box around the mesh is {longest}; check the mesh and its unit")]
    Extent {
        /// Longest side of its bounding box.
        longest: f64,
    },
    /// The radius is not positive, or larger than the body.
    #[error(
        "a radius of {radius} does not go with a mesh whose longest side is {longest}; use one above 0 and of at most {}, in lengths of the mesh",
        0.5 * longest
    )]
    Radius {
        /// The radius.
        radius: f64,
        /// Longest side of the bounding box of the mesh.
        longest: f64,
    },
    /// The radius is too small for this machine.
    #[error(
        "with a radius of {radius} the box around the mesh takes {cubes:.3e} cubes, more than {most} or than {slices} along an axis; \
         use a radius of at least {fitting:.1e}"
    )]
    TooMany {
        /// The radius.
        radius: f64,
        /// Number of cubes with this radius.
        cubes: f64,
        /// Largest number of cubes.
        most: f64,
        /// Largest number of cubes along an axis.
        slices: f64,
        /// A radius that is large enough.
        fitting: f64,
    },
    /// There are too many triangles for this number of cubes.
    #[error(
        "the triangles pass through more than {most} rows of cubes, all triangles together; use a larger radius, or a mesh of fewer triangles"
    )]
    TooManyEntries {
        /// Largest number of entries, each a triangle in a column of the ray grid.
        most: u64,
    },
    /// The requested device is missing or failed.
    #[error("{0}")]
    Device(String),
}

impl From<WorldError> for VoxelError {
    fn from(refusal: WorldError) -> VoxelError {
        VoxelError::Device(refusal.to_string())
    }
}

/// Mark: a ray through the cube meets a triangle in it.
const TOUCHED: u8 = 8;
/// Mark: the center is inside several parts of the mesh.
const DOUBLED: u8 = 16;
/// Bits that count the axes along which the center is inside.
const VOTES: u8 = 3;

/// The cubes of a lattice that a mesh fills, the same on every device. `threads` are those of the CPU, 0 = one per core.
///
/// A center is inside if the winding number of the mesh around it is not zero, so that overlapping parts are one body. If the triangles do not agree
/// which side is outside, it is inside if a ray to it crosses an odd number of triangles. For a mesh that is not closed this depends on the ray, and
/// two of three axes decide.
///
/// # Errors
/// If there are too many triangles, or the device is not sufficient.
pub fn voxels(
    mesh: &[Triangle],
    edges: &Edges,
    lattice: &Lattice,
    filling: VoxelFilling,
    (device, threads): (DeviceChoice, usize),
    notices: &mut Vec<String>,
) -> Result<Voxels, VoxelError> {
    let gpu = gpu_asked_for(device, notices)?;
    let cpu = Cpu::new(threads).map_err(WorldError::from)?;
    let snapped: Vec<[[u32; 3]; 3]> = mesh
        .iter()
        .map(|triangle| triangle.map(|corner| lattice.snapped(&corner)))
        .collect();
    let mut marks = vec![0_u8; lattice.cubes()];
    let strides = lattice.strides();
    for corner in snapped.as_flattened() {
        let cube: usize = (0..3).map(|k| (corner[k] / lattice.units()) as usize * strides[k]).sum();
        marks[cube] |= TOUCHED;
    }
    for axis in 0..3 {
        let columns = RayGrid::new(&snapped, lattice, axis)?;
        let peeled = match &gpu {
            Some(gpu) => columns.cast_rays_on_gpu(gpu).map_err(WorldError::from)?,
            None => columns.cast_rays(&cpu),
        };
        mark(&mut marks, lattice, axis, &peeled, edges.is_oriented());
    }
    let how_many = |is_meant: fn(u8) -> bool| marks.iter().filter(|&&mark| is_meant(mark)).count() as u32;
    let is_inside = |mark: u8| mark & VOTES >= 2;
    let is_taken = |mark: u8| mark & TOUCHED != 0 || filling == VoxelFilling::Solid && is_inside(mark);
    Ok(Voxels {
        taken: (0..)
            .zip(&marks)
            .filter(|(_, mark)| is_taken(**mark))
            .map(|(cube, _)| cube)
            .collect(),
        inside: how_many(is_inside),
        disputed: how_many(|mark| [1, 2].contains(&(mark & VOTES))),
        doubled: how_many(|mark| mark & DOUBLED != 0),
    })
}

/// Adds the crossings of rays along an axis to the marks of all cubes.
fn mark(marks: &mut [u8], lattice: &Lattice, axis: usize, peeled: &RayCrossings, is_oriented: bool) {
    let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    let [wide, slices] = [u, axis].map(|axis| lattice.counts[axis] as usize);
    let strides = lattice.strides();
    let columns = peeled.touched.chunks_exact(slices).zip(peeled.windings.chunks_exact(slices));
    for (column, (touched, turns)) in columns.enumerate() {
        let start = column % wide * strides[u] + column / wide * strides[v];
        let mut winding = 0_i32;
        for (slice, (met, turn)) in touched.iter().zip(turns).enumerate() {
            winding += turn;
            let is_inside = if is_oriented { winding != 0 } else { winding % 2 != 0 };
            let is_doubled = is_oriented && winding.abs() > 1;
            let mark = &mut marks[start + slice * strides[axis]];
            *mark += u8::from(is_inside);
            *mark |= (TOUCHED * u8::from(*met != 0)) | (DOUBLED * u8::from(is_doubled));
        }
    }
}
