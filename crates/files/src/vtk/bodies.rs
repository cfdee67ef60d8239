//! Surfaces of rigid bodies as triangles.

use super::read::{find_renamed, read};
use super::triangles::{Surfaces, read_surfaces, whole};
use super::{ArrayStore, Format, Values};
use crate::FilesError;
use std::path::Path;

/// Surfaces of rigid bodies, and of which grains they show what these only touch for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VtkBodies {
    /// Time \[s\].
    pub time: f64,
    /// Vertices \[m\].
    pub position: Vec<[f64; 3]>,
    /// Unit normal of the surface at each.
    pub normal: Vec<[f64; 3]>,
    /// Triangles, by their vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Id of the body that each triangle is of.
    pub body: Vec<u32>,
    /// Ids of the grains that these bodies carry, each with that of its body.
    pub carried: Vec<[u32; 2]>,
}

/// The surfaces of bodies as a `.vtp`: triangles with the id of their body, between vertices with unit normals; and, of the whole file, the ids of the
/// grains that these bodies carry (`body_members`), and of their bodies (`body_of_member`).
pub fn bodies(bodies: &VtkBodies) -> Vec<u8> {
    Format::default().bodies(bodies)
}

impl Format {
    /// As [`bodies`], in this format.
    pub fn bodies(self, bodies: &VtkBodies) -> Vec<u8> {
        let columns = [0, 1].map(|k| bodies.carried.iter().map(|pair| pair[k]).collect::<Vec<u32>>());
        let tuples = format!(r#" NumberOfTuples="{}""#, bodies.carried.len());
        let (mut store, mut of_all) = (ArrayStore::new(self), String::new());
        for (name, ids) in ["body_members", "body_of_member"].into_iter().zip(&columns) {
            store.array(&mut of_all, name, &Values::Integers(ids), &tuples);
        }
        let surfaces = Surfaces {
            position: &bodies.position,
            normal: &bodies.normal,
            triangles: &bodies.triangles,
        };
        surfaces.document(store, (bodies.time, &of_all), &[("body", Values::Integers(&bodies.body))])
    }
}

/// Reads a file that [`bodies`] made.
pub fn read_bodies(path: &Path) -> Result<VtkBodies, FilesError> {
    read(path, |content| {
        let found = read_surfaces(content, "body")?;
        let [carried, carrier] = [("body_members", "carried"), ("body_of_member", "carrier")]
            .map(|(name, earlier)| find_renamed(content, name, earlier)?.counted_values().map(whole));
        let (carried, carrier) = (carried?, carrier?);
        if carried.len() != carrier.len() {
            return Err("it does not have the body of each member".into());
        }
        Ok(VtkBodies {
            time: found.time,
            position: found.position,
            normal: found.normal,
            triangles: found.triangles,
            body: found.id,
            carried: carried.into_iter().zip(carrier).map(|(grain, body)| [grain, body]).collect(),
        })
    })
}
