//! Meshes that rigid bodies were made from: what they look like, and what fluids see of them.

use seixo_engine::world::{Body, Triangle};
use std::{collections::BTreeMap, sync::Arc};

/// Meshes that rigid bodies were made from, and which body is of which.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outlines {
    meshes: Vec<Arc<[Triangle]>>,
    /// Places of meshes, by the groups of grains that are of them.
    of_group: BTreeMap<u32, usize>,
    bodies: Vec<Outlined>,
}

/// A body that was made from a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlined {
    /// Its id.
    pub body: u32,
    /// Place of its mesh in [`Outlines::meshes()`].
    pub mesh: usize,
    /// By what the mesh is multiplied: the radius of the sphere that just holds its spheres \[m\].
    pub radius: f64,
    /// Ids of the grains that it carries.
    pub carries: Vec<u32>,
}

impl Outlines {
    /// Notes that the bodies of a group are of this mesh; returns its place.
    pub(crate) fn add_mesh(&mut self, group: u32, mesh: &Arc<[Triangle]>) -> usize {
        let known = self.meshes.iter().position(|known| Arc::ptr_eq(known, mesh));
        let place = known.unwrap_or_else(|| {
            self.meshes.push(mesh.clone());
            self.meshes.len() - 1
        });
        self.of_group.insert(group, place);
        place
    }

    /// Notes that a body is of the mesh at this place, so many times as large \[m\].
    pub(crate) fn add_body(&mut self, mesh: usize, radius: f64, body: &Body) {
        self.bodies.push(Outlined {
            body: body.id,
            mesh,
            radius,
            carries: body.carries.iter().map(|(id, _)| *id).collect(),
        });
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

    /// How many triangles all bodies have together.
    pub fn triangles(&self) -> usize {
        self.bodies.iter().map(|body| self.meshes[body.mesh].len()).sum()
    }

    /// The mesh that the bodies of a group are of, if they are of one.
    pub(crate) fn of_group(&self, group: u32) -> Option<&[Triangle]> {
        self.of_group.get(&group).map(|&place| &*self.meshes[place])
    }
}
