//! Free surfaces of fluids as triangles.

use super::{ArrayStore, Document, Format, Values};
use seixo_engine::state::FluidSnapshot;

/// What vertices of a surface can be written with beside their fluid and normal, by the names of the arrays.
pub const SURFACE_FIELDS: [&str; 3] = ["pressure", "density", "velocity"];

/// The free surfaces of fluids at one time \[s\] as a `.vtp`: triangles between vertices, which have a unit normal, the index of their fluid and
/// those of [`SURFACE_FIELDS`] that are named.
pub fn surface(vertices: &FluidSnapshot, normals: &[[f64; 3]], triangles: &[[u32; 3]], fields: &[&str], time: f64) -> Vec<u8> {
    Format::default().surface(vertices, normals, triangles, fields, time)
}

impl Format {
    /// As [`surface`], in this format.
    pub fn surface(self, vertices: &FluidSnapshot, normals: &[[f64; 3]], triangles: &[[u32; 3]], fields: &[&str], time: f64) -> Vec<u8> {
        let cells = format!(r#"NumberOfPolys="{}""#, triangles.len());
        let mut document = Document::new(ArrayStore::new(self), (time, ""), vertices.position.len(), &cells);
        let all = SURFACE_FIELDS.into_iter().zip([
            Values::Scalars32(&vertices.pressure),
            Values::Scalars32(&vertices.density),
            Values::Vectors32(&vertices.velocity),
        ]);
        let always = [("fluid", Values::Integers(&vertices.kind)), ("normals", Values::Vectors32(normals))];
        let arrays: Vec<_> = all.filter(|(name, _)| fields.contains(name)).chain(always).collect();
        document.group(&format!(r#"PointData Scalars="{}" Normals="normals""#, arrays[0].0), &arrays);
        document.triangles(&vertices.position, triangles);
        document.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::{count_of, find, time};
    use super::*;

    #[test]
    fn a_surface_has_the_triangles_and_the_fields_that_were_asked_for() {
        let corners = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]];
        let vertices = FluidSnapshot {
            id: (0..4).collect(),
            kind: vec![3; 4],
            position: corners.to_vec(),
            velocity: vec![[0.5, 0.0, -2.0]; 4],
            density: vec![1000.0; 4],
            pressure: vec![-8.0, 0.0, 8.0, 16.0],
        };
        let triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let normals = [[0.0, 0.0, 1.0]; 4];
        let text = String::from_utf8(surface(&vertices, &normals, &triangles, &["velocity", "pressure"], 0.25)).unwrap();
        assert_eq!(time(text.as_str()), Ok(0.25));
        assert_eq!(count_of(&text, "NumberOfPoints", "points"), Ok(4));
        assert_eq!(count_of(&text, "NumberOfPolys", "polygons"), Ok(4));
        let values = |name: &str, components: usize| find(text.as_str(), name).and_then(|array| array.values(4, components));
        assert_eq!(values("position", 3).unwrap(), corners.as_flattened());
        let of_triangles: Vec<f64> = triangles.as_flattened().iter().map(|&vertex| f64::from(vertex)).collect();
        assert_eq!(values("connectivity", 3).unwrap(), of_triangles);
        assert_eq!(values("offsets", 1).unwrap(), [3.0, 6.0, 9.0, 12.0]);
        assert_eq!(values("velocity", 3).unwrap(), vertices.velocity.as_flattened());
        assert_eq!(values("pressure", 1).unwrap(), vertices.pressure);
        assert_eq!(values("fluid", 1).unwrap(), [3.0; 4]);
        assert_eq!(values("normals", 3).unwrap(), normals.as_flattened());
        assert!(values("density", 1).is_err());
        assert!(text.contains(r#"<PointData Scalars="pressure" Normals="normals">"#));
        // Without any of them the fluid is what is shown.
        let bare = String::from_utf8(surface(&vertices, &normals, &triangles, &[], 0.25)).unwrap();
        assert!(bare.contains(r#"Scalars="fluid""#));
    }
}
