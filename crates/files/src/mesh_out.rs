//! Triangle meshes for other programs: STL and PLY, both binary, and OBJ. None of them has a unit: numbers are meters.
//!
//! ```
//! use seixo_files::mesh_out::{MeshFormat, mesh};
//!
//! let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
//! let normals = [[0.0, 0.0, 1.0]; 3];
//! let bytes = mesh(MeshFormat::Obj, &corners, &normals, &[[0, 1, 2]]);
//! assert_eq!(bytes, b"o surface\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
//! ```

use std::fmt::Write as _;

/// How a mesh is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    /// Triangles one by one, in single precision.
    Stl,
    /// Text, with all digits.
    Obj,
    /// Vertices with their normals, in double and single precision, and triangles between them.
    Ply,
}

/// A mesh of triangles between vertices, which have unit normals.
pub fn mesh(format: MeshFormat, vertices: &[[f64; 3]], normals: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<u8> {
    match format {
        MeshFormat::Stl => stl(vertices, triangles),
        MeshFormat::Obj => obj(vertices, triangles),
        MeshFormat::Ply => ply(vertices, normals, triangles),
    }
}

fn stl(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<u8> {
    // Not `solid`: a file that starts so is taken for text by many.
    let mut bytes = b"Seixo, in meters".to_vec();
    bytes.resize(80, b' ');
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| vertices[vertex as usize]);
        let edge = |to: [f64; 3]| [0, 1, 2].map(|k| to[k] - a[k]);
        let (u, v) = (edge(b), edge(c));
        let normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        for numbers in [normal.map(|x| x / length), a, b, c] {
            numbers.iter().for_each(|&number| bytes.extend((number as f32).to_le_bytes()));
        }
        bytes.extend([0_u8; 2]);
    }
    bytes
}

fn obj(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut text = String::from("o surface\n");
    for [x, y, z] in vertices {
        let _ = writeln!(text, "v {x} {y} {z}");
    }
    for [a, b, c] in triangles.iter().map(|triangle| triangle.map(|vertex| u64::from(vertex) + 1)) {
        let _ = writeln!(text, "f {a} {b} {c}");
    }
    text.into_bytes()
}

fn ply(vertices: &[[f64; 3]], normals: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut bytes = format!(
        "ply\nformat binary_little_endian 1.0\ncomment Seixo, in meters\nelement vertex {}\n\
         property double x\nproperty double y\nproperty double z\nproperty float nx\nproperty float ny\nproperty float nz\n\
         element face {}\nproperty list uchar uint vertex_indices\nend_header\n",
        vertices.len(),
        triangles.len()
    )
    .into_bytes();
    for (vertex, normal) in vertices.iter().zip(normals) {
        vertex.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        normal.iter().for_each(|&number| bytes.extend((number as f32).to_le_bytes()));
    }
    for triangle in triangles {
        bytes.push(3);
        triangle.iter().for_each(|vertex| bytes.extend(vertex.to_le_bytes()));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh_in;

    #[test]
    fn what_is_written_reads_back() {
        let vertices = [[0.0, 0.0, 0.0], [0.25, 0.0, 0.0], [0.0, 1.0 / 3.0, 0.0], [0.0, 0.0, -1e-9]];
        let normals = [[0.0, 0.0, 1.0]; 4];
        let triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mesh");
        let sent = triangles.map(|triangle| triangle.map(|vertex| vertices[vertex as usize]));
        for (format, exact) in [(MeshFormat::Stl, false), (MeshFormat::Obj, true), (MeshFormat::Ply, true)] {
            std::fs::write(&path, mesh(format, &vertices, &normals, &triangles)).unwrap();
            let found = mesh_in::read(&path).unwrap();
            assert_eq!(found.len(), 4, "{format:?}");
            for (found, sent) in found.as_flattened().as_flattened().iter().zip(sent.as_flattened().as_flattened()) {
                let expected = if exact { *sent } else { f64::from(*sent as f32) };
                assert_eq!(*found, expected, "{format:?}");
            }
        }
    }
}
