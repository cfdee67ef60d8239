//! Surfaces of solids as triangles, each with the id of its solid: what files of bodies and of polyhedral grains have in common.

use super::read::{Content, count_of, find, time, vectors};
use super::{ArrayStore, Document, Values};

/// Triangles between vertices with unit normals.
#[derive(Clone, Copy)]
pub(super) struct Surfaces<'a> {
    pub position: &'a [[f64; 3]],
    pub normal: &'a [[f64; 3]],
    pub triangles: &'a [[u32; 3]],
}

impl Surfaces<'_> {
    /// The surfaces at this time \[s\] as a `.vtp`, with arrays of the whole file, which are in the store, and arrays of the triangles, of which the first
    /// has the ids.
    pub fn document(self, store: ArrayStore, (time, of_all): (f64, &str), of_triangles: &[(&str, Values)]) -> Vec<u8> {
        let cells = format!(r#"NumberOfPolys="{}""#, self.triangles.len());
        let mut document = Document::new(store, (time, of_all), self.position.len(), &cells);
        document.group(r#"PointData Normals="normals""#, &[("normals", Values::Vectors32(self.normal))]);
        document.group(&format!(r#"CellData Scalars="{}""#, of_triangles[0].0), of_triangles);
        document.triangles(self.position, self.triangles);
        document.finish()
    }
}

/// What [`Surfaces::document`] wrote, but for the arrays of the whole file, and those of the triangles behind the ids.
pub(super) struct ReadSurfaces {
    pub time: f64,
    pub position: Vec<[f64; 3]>,
    pub normal: Vec<[f64; 3]>,
    pub triangles: Vec<[u32; 3]>,
    pub id: Vec<u32>,
}

/// Reads surfaces whose ids have this name.
pub(super) fn read_surfaces(content: Content, id: &str) -> Result<ReadSurfaces, String> {
    let points = count_of(content.text, "NumberOfPoints", "points")?;
    let polygons = count_of(content.text, "NumberOfPolys", "polygons")?;
    let corners = whole(find(content, "connectivity")?.values(polygons, 3)?);
    if corners.iter().any(|&corner| corner as usize >= points) {
        return Err("a triangle has corners that are not there".into());
    }
    Ok(ReadSurfaces {
        time: time(content)?,
        position: vectors(find(content, "position")?.values(points, 3)?),
        normal: vectors(find(content, "normals")?.values(points, 3)?),
        triangles: corners.as_chunks().0.to_vec(),
        id: whole(find(content, id)?.values(polygons, 1)?),
    })
}

/// Numbers that were written as integers.
pub(super) fn whole(values: Vec<f64>) -> Vec<u32> {
    values.into_iter().map(|number| number as u32).collect()
}
