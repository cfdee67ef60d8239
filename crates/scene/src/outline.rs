//! Meshes of rigid bodies: for pictures, and for fluids.

use seixo_engine::world::{Body, Triangle};
use std::{collections::BTreeMap, sync::Arc};

/// Meshes of rigid bodies, and the mesh of each body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outlines {
    meshes: Vec<Arc<[Triangle]>>,
    /// Indices of meshes, by the groups of grains that use them.
    of_group: BTreeMap<u32, usize>,
    /// Surfaces of polyhedral grains, by their groups: for fluids alone, as pictures have these grains without them.
    of_polyhedra: BTreeMap<u32, Arc<[Triangle]>>,
    bodies: Vec<Outlined>,
}

/// A body that was made from a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlined {
    /// Its id.
    pub body: u32,
    /// Index of its mesh in [`Outlines::meshes()`].
    pub mesh: usize,
    /// Scale of the mesh: radius of the smallest sphere about its center of mass that contains its spheres \[m\].
    pub radius: f64,
    /// Ids of the grains that are part of it.
    pub carries: Vec<u32>,
}

impl Outlines {
    /// Adds the mesh of the bodies of a group; returns its index.
    pub(crate) fn add_mesh(&mut self, group: u32, mesh: &Arc<[Triangle]>) -> usize {
        let known = self.meshes.iter().position(|known| Arc::ptr_eq(known, mesh));
        let place = known.unwrap_or_else(|| {
            self.meshes.push(mesh.clone());
            self.meshes.len() - 1
        });
        self.of_group.insert(group, place);
        place
    }

    /// Adds a body with the mesh of this index, at this scale \[m\].
    pub(crate) fn add_body(&mut self, mesh: usize, radius: f64, body: &Body) {
        self.bodies.push(Outlined {
            body: body.id,
            mesh,
            radius,
            carries: body.carries.iter().map(|(id, _)| *id).collect(),
        });
    }

    /// Adds the surface of the polyhedral grains of a group, which displace fluids.
    pub(crate) fn add_polyhedron(&mut self, group: u32, surface: Arc<[Triangle]>) {
        self.of_polyhedra.insert(group, surface);
    }

    /// Whether no body was made from a mesh.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// The meshes: triangles in the frame of the principal axes, about the center of mass, in lengths of the radius of a body.
    pub fn meshes(&self) -> &[Arc<[Triangle]>] {
        &self.meshes
    }

    /// Bodies that were made from meshes.
    pub fn bodies(&self) -> &[Outlined] {
        &self.bodies
    }

    /// Number of triangles of all bodies together.
    pub fn triangles(&self) -> usize {
        self.bodies.iter().map(|body| self.meshes[body.mesh].len()).sum()
    }

    /// The mesh of the bodies of a group, or the surface of its polyhedral grains, if they have one.
    pub(crate) fn of_group(&self, group: u32) -> Option<&[Triangle]> {
        let of_bodies = self.of_group.get(&group).map(|&place| &self.meshes[place]);
        of_bodies.or_else(|| self.of_polyhedra.get(&group)).map(|mesh| &**mesh)
    }
}
