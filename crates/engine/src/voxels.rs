//! Meshes as cubes of a grid, each of which becomes a sphere: the depth peeling of \[Silva 2010, § 3.4\], along all three axes, so that no face is lost
//! because it is seen edge on.
//!
//! Corners are snapped to a lattice of whole numbers, see [`Lattice`]; what follows is exact, and so the same on every device. Parallel lines,
//! 16 × 16 through every cube along each axis, cross the triangles ([`seixo_sweeps::peel`]): a cube is taken where one of them meets a
//! triangle in it, or where a corner of the mesh is in it. The lines through the middles of cubes tell what is inside.

mod columns;
mod edges;
mod lattice;
mod parts;

pub(crate) use columns::{Columns, Peeled};
pub use edges::{Edges, OddEdge, is_collapsed};
pub use lattice::Lattice;
pub use parts::Parts;

use crate::place::gpu_asked_for;
use crate::refusal::Refusal;
use crate::world::{DeviceChoice, Triangle};
use seixo_device::Cpu;

/// Which cubes are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filling {
    /// Those that the surface passes through.
    #[default]
    Surface,
    /// These, and those whose middles are inside.
    Solid,
}

impl Filling {
    /// All, with their words.
    pub const ALL: [(Filling, &'static str); 2] = [(Filling::Surface, "surface"), (Filling::Solid, "solid")];
}

/// The cubes of a [`Lattice`] that a mesh takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voxels {
    /// Their numbers, ascending, see [`Lattice::center`].
    pub taken: Vec<u32>,
    /// How many cubes have their middle inside.
    pub inside: u32,
    /// Of how many the three axes do not agree whether their middle is inside, so that two decide.
    pub disputed: u32,
    /// How many have their middle inside of several parts of the mesh at once.
    pub doubled: u32,
}

/// Why a mesh does not become cubes. Every message ends with the remedy, after a semicolon.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VoxelError {
    /// It has no triangles.
    #[error("the mesh has no triangles; export it again")]
    Empty,
    /// A coordinate is not a number, or infinite.
    #[error("triangle {triangle} of the mesh has a corner that is not at a finite place; export the mesh again")]
    NotFinite {
        /// Its number, from 1.
        triangle: usize,
    },
    /// It has no extent, or one beyond doubles.
    #[error("the longest side of the box around the mesh is {longest}; check the mesh and its unit")]
    Extent {
        /// The longest side of the box around it.
        longest: f64,
    },
    /// The radius is none, or larger than the body.
    #[error(
        "a radius of {radius} does not go with a mesh whose longest side is {longest}; use one above 0 and of at most {}, in lengths of the mesh",
        0.5 * longest
    )]
    Radius {
        /// The radius.
        radius: f64,
        /// The longest side of the box around the mesh.
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
        /// How many cubes there would be.
        cubes: f64,
        /// The most that there may be.
        most: f64,
        /// The most that there may be along an axis.
        slices: f64,
        /// A radius with which they are fewer.
        fitting: f64,
    },
    /// There are too many triangles for so many cubes.
    #[error(
        "the triangles pass through more than {most} columns of cubes, counted one by one; use a larger radius, or a mesh of fewer triangles"
    )]
    TooManyEntries {
        /// The most that there may be.
        most: u64,
    },
    /// The device that was asked for is not there, or failed.
    #[error("{0}")]
    Device(String),
}

impl From<Refusal> for VoxelError {
    fn from(refusal: Refusal) -> VoxelError {
        VoxelError::Device(refusal.to_string())
    }
}

/// A line through the cube meets a triangle in it.
const TOUCHED: u8 = 8;
/// Its middle is inside of several parts of the mesh.
const DOUBLED: u8 = 16;
/// Bits that count along how many axes its middle is inside.
const VOTES: u8 = 3;

/// The cubes of a lattice that a mesh takes; the same ones on every device. `threads` are those of the CPU, 0 = one per core.
///
/// A middle is inside where the winding number of the mesh around it is not zero, so that parts which overlap are one body; where its triangles
/// do not agree which side is outside, where a line to it crosses an odd number of triangles. Where the mesh is not closed this depends on the
/// line, and two of three axes decide.
///
/// # Errors
/// If the triangles are too many, or the device does not suffice.
pub fn voxels(
    mesh: &[Triangle],
    edges: &Edges,
    lattice: &Lattice,
    filling: Filling,
    (device, threads): (DeviceChoice, usize),
    notices: &mut Vec<String>,
) -> Result<Voxels, VoxelError> {
    let gpu = gpu_asked_for(device, notices)?;
    let cpu = Cpu::new(threads).map_err(Refusal::from)?;
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
        let columns = Columns::new(&snapped, lattice, axis)?;
        let peeled = match &gpu {
            Some(gpu) => columns.peel_on(gpu).map_err(Refusal::from)?,
            None => columns.peel(&cpu),
        };
        mark(&mut marks, lattice, axis, &peeled, edges.is_oriented());
    }
    let how_many = |is_meant: fn(u8) -> bool| marks.iter().filter(|&&mark| is_meant(mark)).count() as u32;
    let is_inside = |mark: u8| mark & VOTES >= 2;
    let is_taken = |mark: u8| mark & TOUCHED != 0 || filling == Filling::Solid && is_inside(mark);
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

/// Adds what the lines along an axis saw to the marks of all cubes.
fn mark(marks: &mut [u8], lattice: &Lattice, axis: usize, peeled: &Peeled, is_oriented: bool) {
    let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    let [wide, slices] = [u, axis].map(|axis| lattice.counts[axis] as usize);
    let strides = lattice.strides();
    let columns = peeled.touched.chunks_exact(slices).zip(peeled.turns.chunks_exact(slices));
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
