//! Surfaces of polyhedral grains as triangles.

use super::read::{find, read, vectors};
use super::triangles::{Surfaces, read_surfaces};
use super::{ArrayStore, Format, Values, VtkBodies};
use crate::FilesError;
use std::path::Path;

/// Surfaces of polyhedral grains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VtkPolyhedra {
    /// Time \[s\].
    pub time: f64,
    /// Vertices \[m\].
    pub position: Vec<[f64; 3]>,
    /// Unit normal of the surface at each.
    pub normal: Vec<[f64; 3]>,
    /// Triangles, by their vertices; those of a grain one after the other.
    pub triangles: Vec<[u32; 3]>,
    /// Id of the grain that each triangle is of.
    pub id: Vec<u32>,
    /// Velocity of the center of mass of this grain \[m/s\].
    pub velocity: Vec<[f64; 3]>,
}

impl VtkBodies {
    /// These bodies, and each polyhedral grain as a further one that carries this grain.
    pub fn with_polyhedra(mut self, polyhedra: &VtkPolyhedra) -> VtkBodies {
        let numbers = self.body.iter().copied().chain(self.carried.iter().map(|pair| pair[1]));
        let first = numbers.max().map_or(0, |last| last.wrapping_add(1));
        let vertices = self.position.len() as u32;
        for (k, of_grain) in (0..).zip(polyhedra.id.chunk_by(|a, b| a == b)) {
            let body = first.wrapping_add(k);
            self.carried.push([of_grain[0], body]);
            self.body.extend(of_grain.iter().map(|_| body));
        }
        self.time = polyhedra.time;
        self.position.extend_from_slice(&polyhedra.position);
        self.normal.extend_from_slice(&polyhedra.normal);
        let shifted = polyhedra.triangles.iter().map(|corners| corners.map(|corner| vertices + corner));
        self.triangles.extend(shifted);
        self
    }
}

/// The surfaces of polyhedral grains as a `.vtp`: triangles with the id and the velocity of their grain, between vertices with unit normals.
pub fn polyhedra(polyhedra: &VtkPolyhedra) -> Vec<u8> {
    Format::default().polyhedra(polyhedra)
}

impl Format {
    /// As [`polyhedra`], in this format.
    pub fn polyhedra(self, polyhedra: &VtkPolyhedra) -> Vec<u8> {
        let surfaces = Surfaces {
            position: &polyhedra.position,
            normal: &polyhedra.normal,
            triangles: &polyhedra.triangles,
        };
        let of_triangles = [
            ("id", Values::Integers(&polyhedra.id)),
            ("velocity", Values::Vectors32(&polyhedra.velocity)),
        ];
        surfaces.document(ArrayStore::new(self), (polyhedra.time, ""), &of_triangles)
    }
}

/// Reads a file that [`polyhedra`] made.
pub fn read_polyhedra(path: &Path) -> Result<VtkPolyhedra, FilesError> {
    read(path, |content| {
        let found = read_surfaces(content, "id")?;
        Ok(VtkPolyhedra {
            velocity: vectors(find(content, "velocity")?.values(found.id.len(), 3)?),
            time: found.time,
            position: found.position,
            normal: found.normal,
            triangles: found.triangles,
            id: found.id,
        })
    })
}
