//! Meshes: all of a file is read, and what is not understood is named.

use super::{mesh, with_file};
use seixo_files::mesh_in;
use std::time::{Duration, Instant};

fn binary_stl(count: u32, triangles: &[[f32; 9]]) -> Vec<u8> {
    let mut bytes = b"solid, but binary".to_vec();
    bytes.resize(80, b' ');
    bytes.extend(count.to_le_bytes());
    for corners in triangles {
        [0.0; 3]
            .iter()
            .chain(corners)
            .for_each(|value: &f32| bytes.extend(value.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

const CORNERS: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.5];
const TEXT_STL: &str = "solid part\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 0.1 0 0\n   vertex 0 1e-1 0\n  endloop\n endfacet\nendsolid part\n";

#[test]
fn stl_is_read_as_binary_and_as_text() {
    assert_eq!(
        mesh(binary_stl(1, &[CORNERS])).unwrap(),
        [[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]]
    );
    let triangle = [[0.0; 3], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]];
    assert_eq!(mesh(TEXT_STL).unwrap(), [triangle]);
    assert_eq!(mesh(TEXT_STL.to_uppercase().replace('\n', "\r\n")).unwrap(), [triangle]);
}

#[test]
fn all_solids_of_a_text_stl_are_read() {
    let lid = TEXT_STL.replace("part", "").replace("vertex 0 0 0", "vertex 0 0 0.1");
    let spaced = format!("\u{feff}\n  {TEXT_STL}\n\n\t{}\n{lid}\n", "SOLID nothing\nendsolid");
    let found = with_file(spaced.as_bytes(), mesh_in::examine).unwrap();
    let triangle = |z: f64| [[0.0, 0.0, z], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]];
    assert_eq!((found.format, found.solids), ("STL as text", Some(3)));
    assert_eq!(found.triangles, [triangle(0.0), triangle(0.1)]);
    let binary = with_file(&binary_stl(1, &[CORNERS]), mesh_in::examine).unwrap();
    assert_eq!((binary.format, binary.solids), ("binary STL", None));
}

#[test]
fn a_broken_mesh_is_blamed_by_the_reader_that_its_name_says() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, expected) in [
        (
            "a.stl",
            "facet normal 0 0 1\n",
            "a.stl:1: `facet normal 0 0 1` stands where a text STL",
        ),
        ("b.STL", "x y z\n1 2 3\n", "b.STL:1: `x y z` stands where a text STL"),
        ("c.stl", "\0\0\0", "c.stl: 3 bytes are too few for a binary STL"),
        (
            "d.obj",
            "x y z\n1 2 3\n",
            "d.obj:1: `x y z` is neither corner nor flat face of an OBJ",
        ),
        (
            "e.obj",
            "\0v 1 2 3\n",
            "e.obj:1: `\\0v 1 2 3` is neither corner nor flat face of an OBJ",
        ),
        ("f.ply", "x y z\n1 2 3\n", "f.ply:1: a PLY begins with `ply`, and not with `x y z`"),
        ("g.ply", "\0\n", "a PLY begins with `ply`"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        assert!(mesh_in::is_mesh(&path).unwrap(), "{name}");
        let message = mesh_in::read(&path).unwrap_err().to_string();
        assert!(message.contains(expected), "{expected}: {message}");
    }
    for (text, is_mesh) in [("x y z\n1 2 3\n", false), ("# by hand\n\nf 1 2 3\n", true), (TEXT_STL, true)] {
        assert_eq!(with_file(text.as_bytes(), mesh_in::is_mesh).unwrap(), is_mesh, "{text}");
    }
}

/// A tetrahedron, and what it is in each format: four corners, three triangles and a face of four corners.
const CORNERS_OF_PYRAMID: [[f64; 3]; 5] = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.25]];
const FACES_OF_PYRAMID: [&[usize]; 5] = [&[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4], &[3, 2, 1, 0]];

fn pyramid() -> Vec<[[f64; 3]; 3]> {
    let fans = FACES_OF_PYRAMID
        .iter()
        .flat_map(|face| (1..face.len() - 1).map(|k| [face[0], face[k], face[k + 1]]));
    fans.map(|triangle| triangle.map(|corner| CORNERS_OF_PYRAMID[corner])).collect()
}

fn obj() -> String {
    let corners = CORNERS_OF_PYRAMID.iter().map(|[x, y, z]| format!("v {x} {y} {z} 1.0\n"));
    let face = |face: &&[usize]| face.iter().map(|k| format!(" {}/7/{}", k + 1, k + 1)).collect::<String>();
    let faces = FACES_OF_PYRAMID.iter().map(|corners| format!("f{}\n", face(corners)));
    format!(
        "# made by hand\nmtllib a.mtl\no pyramid\nvn 0 0 1\n{}s off\n{}",
        corners.collect::<String>(),
        faces.collect::<String>()
    )
}

fn ply(format: &str) -> Vec<u8> {
    let header = format!(
        "ply\nformat {format} 1.0\ncomment made by hand\nelement vertex 5\nproperty double x\nproperty float y\nproperty float32 z\nproperty uchar red\nelement face 5\nproperty short flags\nproperty list uint8 int vertex_indices\nelement edge 9\nend_header\n"
    );
    let mut bytes = header.into_bytes();
    let is_big = format == "binary_big_endian";
    let mut put = |number: &[u8], text: String| match format {
        "ascii" => bytes.extend(format!("{text}\n").bytes()),
        _ if is_big => bytes.extend(number.iter().rev()),
        _ => bytes.extend(number),
    };
    for [x, y, z] in CORNERS_OF_PYRAMID {
        put(&x.to_le_bytes(), x.to_string());
        for value in [y, z] {
            put(&(value as f32).to_le_bytes(), value.to_string());
        }
        put(&[200], "200".into());
    }
    for face in FACES_OF_PYRAMID {
        put(&(-2i16).to_le_bytes(), "-2".into());
        put(&[face.len() as u8], face.len().to_string());
        face.iter().for_each(|&k| put(&(k as i32).to_le_bytes(), k.to_string()));
    }
    bytes
}

#[test]
fn obj_and_ply_are_read() {
    assert_eq!(mesh(obj()).unwrap(), pyramid());
    // Counted back from the last corner.
    let backward = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n";
    assert_eq!(mesh(backward).unwrap(), [[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]);
    // Groups, colors, a weight, a line that goes on, a remark, what is no surface.
    let odd = "o a\nv 0 0 0 0.5 0.5 0.5\ng b\nv 1 0 0 1\nv 0 \\\n1 0\nusemtl red\nl 1 2\np 1\no c\nf 1/1 \\\n\\\n2/2 3/3 # all\n";
    let found = with_file(odd.as_bytes(), mesh_in::examine).unwrap();
    assert_eq!((found.format, found.solids), ("OBJ", Some(2)));
    assert_eq!(found.triangles, [[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]);
    for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
        assert_eq!(mesh(ply(format)).unwrap(), pyramid(), "{format}");
    }
}

#[test]
fn concave_faces_of_a_prism_enclose_what_the_prism_does() {
    // An L of area 5 and height 2, whose ends are one face each; with the corner at the bend first, last and in between.
    let outline = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
    for first in 0..6 {
        let mut text = String::new();
        for z in [0, 2] {
            for k in 0..6 {
                let [x, y]: [f64; 2] = outline[(first + k) % 6];
                text += &format!("v {x} {y} {z}\n");
            }
        }
        text += "f 6 5 4 3 2 1\nf 7 8 9 10 11 12\n";
        for k in 1..=6 {
            let next = k % 6 + 1;
            text += &format!("f {k} {next} {} {}\n", next + 6, k + 6);
        }
        let triangles = mesh(text).unwrap();
        let area = |[a, b, c]: [[f64; 3]; 3]| 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).abs();
        // Both ends are covered once: parts that reach out of the L would add up to more.
        let ends: f64 = triangles.iter().map(|triangle| area(*triangle)).sum();
        assert!((ends - 10.0).abs() < 1e-12, "{first}: {ends}");
        assert_eq!(triangles.len(), 20);
    }
}

#[test]
fn wrong_obj_and_ply_are_named() {
    let cut = |bytes: Vec<u8>, by: usize| bytes[..bytes.len() - by].to_vec();
    let changed = |from: &str, to: &str| String::from_utf8(ply("ascii")).unwrap().replace(from, to).into_bytes();
    for (bytes, expected) in [
        (
            obj().replace("v 1 1 0 1.0", "v 1 inf 0").into_bytes(),
            "input:7: `v 1 inf 0` is not a corner",
        ),
        (
            obj().replace("f 1/7/1", "f 9/7/1").into_bytes(),
            "input:11: `9/7/1` names none of the 5 corners so far",
        ),
        (obj().replace("f 1/7/1", "f 0").into_bytes(), "`0` names none"),
        (
            obj().replace("s off", "curv 0 1 2").into_bytes(),
            "input:10: `curv 0 1 2` is of a curve or a curved surface",
        ),
        (
            obj().replace("s off", "cube 1").into_bytes(),
            "input:10: `cube 1` is neither corner nor flat face",
        ),
        (b"v 0 0 0 1 2\nf 1 1 1\n".to_vec(), "input:1: `v 0 0 0 1 2` is not a corner"),
        (b"v 1 2 3\nf 1 \\\n 1 \\\n".to_vec(), "input:3: a face with 2 corners"),
        (
            b"v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 4\n".to_vec(),
            "input:5: a face that crosses itself",
        ),
        (changed("element face 5", "element tristrips 5"), "strips of triangles"),
        (b"v 1 2 3\nf 1 1\n".to_vec(), "input:2: a face with 2 corners"),
        (b"v 1 2 3\n".to_vec(), "no triangles"),
        (cut(ply("ascii"), 4), "the file ends too early"),
        (cut(ply("binary_little_endian"), 1), "byte 408: the file ends too early"),
        (changed("format ascii 1.0\n", ""), "the header does not give the format"),
        (changed("double x", "quad x"), "input:5: `property quad x` does not belong"),
        (changed("end_header\n", ""), "input:13: `0` does not belong"),
        (changed("float y", "float u"), "`vertex` has no x, y and z"),
        (changed("0.25", "nan"), "`nan` is not a finite number"),
        (
            changed("element vertex 5", "element vertex 18446744073709551615"),
            "the file ends too early",
        ),
        (changed("\n3\n2\n1\n0\n", "\n3\n2\n1\n7\n"), "vertex 7 is none of the 5 there are"),
    ] {
        let start = Instant::now();
        let message = mesh(&bytes).unwrap_err().to_string();
        assert!(message.contains(expected), "{expected}: {message}");
        assert!(start.elapsed() < Duration::from_secs(1));
    }
}

#[test]
fn a_table_of_corners_is_read() {
    let header = "vertex1_X[mm] vertex1_Y[mm] vertex1_Z[mm] vertex2_X[m] vertex2_Y[m] vertex2_Z[m] vertex3_X[m] vertex3_Y[m] vertex3_Z[m]";
    let triangles = mesh(format!("{header}\r\n1\t2\t3\t4\t5\t6\t7\t8\t9\r\n")).unwrap();
    assert_eq!(triangles, [[[0.001, 0.002, 0.003], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]);
}

#[test]
fn wrong_meshes_are_named_and_refused_quickly() {
    let nan = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, f32::NAN, 0.0];
    let whole = binary_stl(2, &[CORNERS, CORNERS]);
    for (bytes, expected) in [
        (binary_stl(u32::MAX, &[CORNERS])[17..].to_vec(), "promises"),
        (binary_stl(7, &[CORNERS]), "promises 7 triangles, which take 434"),
        (
            [&[0; 80], &u32::MAX.to_le_bytes()[..], &[0; 50]].concat(),
            "promises 4294967295 triangles, which take 214748364834",
        ),
        (
            [&[0; 80], &whole[80..170]].concat(),
            "promises 2 triangles, which take 184: cut off",
        ),
        (binary_stl(2, &[CORNERS, nan]), "triangle 2 has a corner at NaN"),
        (binary_stl(0, &[]), "no triangles"),
        (b"cube".to_vec(), "4 bytes that begin neither an STL nor an OBJ"),
        (b"\0\0".to_vec(), "too few for a binary STL"),
        (TEXT_STL.replace("1e-1", "nan").into(), "input:6: `vertex 0 nan 0`"),
        (TEXT_STL.replace("endsolid part\n", "").into(), "cut off"),
        (TEXT_STL.replace("   vertex 0 0 0\n", "").into(), "input:7: a facet with 2 corners"),
        (b"solid nothing\nendsolid\n".to_vec(), "no triangles"),
        (format!("{TEXT_STL}vertex 0 0 0\n").into(), "input:10: `vertex 0 0 0` stands where"),
        (format!("{TEXT_STL}\nthe end\n").into(), "input:11: `the end` stands where"),
        (format!("{TEXT_STL}{}", &TEXT_STL[..40]).into(), "cut off"),
        (
            TEXT_STL.replace("endsolid part", "solid lid").into(),
            "input:9: `solid lid` does not belong here",
        ),
        (b"vertex1_X[m] vertex1_Y[m]\n1 2\n".to_vec(), "no column `vertex1_z`"),
    ] {
        let start = Instant::now();
        let message = mesh(&bytes).unwrap_err().to_string();
        assert!(message.contains(expected), "{expected}: {message}");
        assert!(start.elapsed() < Duration::from_secs(1));
    }
}

#[test]
fn triangles_without_area_are_found_at_any_size() {
    let good = |scale: f64| [[0.0; 3], [scale, 0.0, 0.0], [0.0, scale, 0.0]];
    let line = [[0.1, 0.1, 0.1], [0.2, 0.2, 0.2], [0.3, 0.3, 0.3]];
    let point = [[1.0; 3], [1.0; 3], [0.0, 0.0, 1.0]];
    let triangles = [good(1.0), line, good(1e-150), point, [[5.0; 3]; 3], good(1e150)];
    assert_eq!(mesh_in::degenerate(&triangles), [1, 3, 4]);
}
