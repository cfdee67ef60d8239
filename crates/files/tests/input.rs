//! Grain files and meshes: what is right is read, what is wrong is named, and nothing makes the reader wait, swell or panic.

use proptest::prelude::*;
use seixo_files::FilesError;
use seixo_files::grains_in::{self, GrainRow, Limits};
use seixo_files::{grains_out, mesh_in, pairs_in, path_in, sieve_in};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn with_file<T>(bytes: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    std::fs::write(&path, bytes).unwrap();
    read(&path)
}

fn grains(text: impl AsRef<[u8]>) -> Result<Vec<GrainRow>, FilesError> {
    with_file(text.as_ref(), |path| grains_in::read(path, &Limits::default()))
}

fn mesh(bytes: impl AsRef<[u8]>) -> Result<Vec<[[f64; 3]; 3]>, FilesError> {
    with_file(bytes.as_ref(), mesh_in::read)
}

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
fn a_table_with_commas_and_units_gives_si() {
    let text = "# made by hand\nid,x [mm],y[cm],z,radius[um],vx[mm/s],vy,vz,wz[rpm],material,temperature[K]\n\n7, 1,2,3 ,500,4,0,-1,60,glass,295\r\n";
    let row = &grains(text).unwrap()[0];
    assert_eq!((row.id, row.line, row.material.as_deref()), (Some(7), 4, Some("glass")));
    assert_eq!((row.position, row.velocity), ([1e-3, 0.02, 3.0], [4e-3, 0.0, -1.0]));
    assert_eq!(row.temperature, Some(295.0));
    assert!((row.radius.unwrap() - 5e-4).abs() < 1e-18);
    assert!((row.angular_velocity[2] - std::f64::consts::TAU).abs() < 1e-14);
}

#[test]
fn a_table_of_spheres_reads_back_to_the_bit() {
    let centers = [[0.1, -2.0 / 3.0, 1e-12], [3e7, 0.0, -0.0]];
    let rows = grains(grains_out::spheres(&centers, 1.0 / 7.0)).unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.position, row.radius)).collect();
    assert_eq!(found, centers.map(|center| (center, Some(1.0 / 7.0))));
}

#[test]
fn a_table_with_tabs_and_spaces_is_read() {
    let rows = grains("Radius[m]\tPosX[m] PosY [m] PosZ[m]\r\n 0.001 -0.03943927123 0.008236898253 -0.08041593914\r\n").unwrap();
    let expected = GrainRow {
        line: 2,
        radius: Some(0.001),
        position: [-0.03943927123, 0.008236898253, -0.08041593914],
        ..GrainRow::default()
    };
    assert_eq!(rows, [expected]);
}

#[test]
fn wrong_grain_files_are_named_with_line_and_value() {
    for (text, expected) in [
        ("", vec!["input: the file is empty"]),
        ("0.1 0.2 0.3 0.01\n", vec!["input:1:", "`0.1`", "name the columns"]),
        ("x,y\n", vec!["input:1:", "no column `z`"]),
        ("x,y,z,weight\n", vec!["input:1:", "`weight`", "radius"]),
        (
            "x,y,z,qw,qx\n",
            vec!["input:1:", "2 of the columns qw, qx, qy and qz", "all four, or none"],
        ),
        ("x,y,z,x\n", vec!["input:1:", "`x` is there twice"]),
        ("x[kg],y,z\n", vec!["input:1:", "`x` cannot be in `kg`", "mm"]),
        ("x,y,z,vx[m]\n", vec!["input:1:", "`vx` cannot be in `m`", "m/s"]),
        ("x,y,z,id[m]\n", vec!["input:1:", "`id` takes no unit"]),
        ("x,y,z\n1,2,3\n1,2\n", vec!["input:3:", "2 values", "3 columns"]),
        (
            "x,y,z\n1,2,3\n\n1,zwei,3\n",
            vec!["input:4:", "column `y`", "`zwei`", "not a finite number"],
        ),
        ("x,y,z\n1,nan,3\n", vec!["input:2:", "`nan`"]),
        ("x[nm],y,z\n1,inf,1e999\n", vec!["input:2:", "`inf`"]),
        (
            "x,y,z,radius[mm]\n1,2,3,-0.5\n",
            vec!["input:2:", "column `radius[mm]`", "`-0.5` is not a radius"],
        ),
        ("x,y,z,radius\n1,2,3,0\n", vec!["input:2:", "`0` is not a radius"]),
        ("x,y,z,temperature\n1,2,3,-5\n", vec!["input:2:", "`-5` is not a temperature"]),
        ("x,y,z,id\n1,2,3,4294967296\n", vec!["input:2:", "`4294967296` is not an id"]),
        (
            "x,y,z,id\n1,2,3,5\n1,2,4,6\n1,2,5,5\n",
            vec!["input:4:", "5 is already the id of line 2"],
        ),
        ("x,y,z\n1,\u{1b}[31m,3\n", vec!["input:2:", "`\\u{1b}[31m`"]),
    ] {
        let message = grains(text).unwrap_err().to_string();
        assert!(expected.iter().all(|part| message.contains(part)), "{text:?}: {message}");
    }
}

#[test]
fn limits_hold() {
    let text = "x,y,z\n1,1,1\n2,2,2\nnot a grain\n";
    let read = |limits| with_file(text.as_bytes(), |path| grains_in::read(path, &limits));
    assert_eq!(
        read(Limits {
            take: Some(2),
            ..Limits::default()
        })
        .unwrap()
        .len(),
        2
    );
    assert!(
        read(Limits {
            rows: 1,
            ..Limits::default()
        })
        .unwrap_err()
        .to_string()
        .contains("input:3: more than 1 grains")
    );
    assert!(matches!(
        read(Limits {
            bytes: 10,
            ..Limits::default()
        }),
        Err(FilesError::TooLarge { size: 30, limit: 10, .. })
    ));
}

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
    for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
        assert_eq!(mesh(ply(format)).unwrap(), pyramid(), "{format}");
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
            "input:10: `curv 0 1 2` is neither corner nor flat face",
        ),
        (b"v 1 2 3\nf 1 1\n".to_vec(), "input:2: a face with 2 corners"),
        (b"v 1 2 3\n".to_vec(), "no triangles"),
        (cut(ply("ascii"), 4), "the file ends too early"),
        (cut(ply("binary_little_endian"), 1), "byte 408: the file ends too early"),
        (changed("format ascii 1.0\n", ""), "the header does not tell the format"),
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
fn paths_are_read_and_wrong_ones_named() {
    let read = |text: &str| with_file(text.as_bytes(), path_in::read);
    let path = read("t[ms], x[mm], angle[deg]\n0,5,0\n500,6,90\n").unwrap();
    assert_eq!(
        (path.time, path.position),
        (vec![0.0, 0.5], vec![[5e-3, 0.0, 0.0], [6e-3, 0.0, 0.0]])
    );
    assert!((path.angle[1] - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    for (text, expected) in [
        ("t x\n0 1\n0 2\n", "input:3: the time 0 s is not after that of the row before, 0 s"),
        ("t x\n0 1\n", "fewer than two places"),
        ("x y\n0 1\n", "input:1: no column `t`"),
        ("t x\n0 1\n1 nan\n", "input:3: column `x`: `nan` is not a finite number"),
        ("t[m] x\n", "column `t` cannot be in `m`"),
        ("", "says nothing"),
    ] {
        let message = read(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn pairs_are_read_and_wrong_ones_named() {
    let read = |text: &str| with_file(text.as_bytes(), pairs_in::read);
    let pairs = read("# joints\nb, a\n3,7\n\n0,4294967295\n").unwrap();
    let found: Vec<_> = pairs.iter().map(|pair| (pair.line, pair.ids)).collect();
    assert_eq!(found, [(3, [7, 3]), (5, [u32::MAX, 0])]);
    for (text, expected) in [
        ("a b\n1 2\n3 4\n2 1\n", "input:4: the grains 1 and 2 are already the pair of line 2"),
        ("a b\n5 5\n", "input:2: the grain 5 makes a pair with itself"),
        ("a b\n1 -2\n", "input:2: column `b`: `-2` is not an id"),
        ("a b\n1 2 3\n", "input:2: 3 values, but the header names 2 columns"),
        ("a\n1\n", "input:1: no column `a`, or no column `b`"),
        ("a c\n1 2\n", "`c` is none of them"),
        ("a b\n", "names no pair"),
        ("", "says nothing"),
    ] {
        let message = read(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{expected}: {message}");
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
        (b"cube".to_vec(), "too few for a mesh"),
        (TEXT_STL.replace("1e-1", "nan").into(), "input:6: `vertex 0 nan 0`"),
        (TEXT_STL.replace("endsolid part\n", "").into(), "cut off"),
        (TEXT_STL.replace("   vertex 0 0 0\n", "").into(), "input:7: a facet with 2 corners"),
        (b"solid nothing\nendsolid\n".to_vec(), "no triangles"),
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

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (path, found) in [(folder.path(), "a folder"), (&pipe, "a pipe"), (Path::new("/dev/zero"), "device")] {
        for error in [
            mesh_in::read(path).unwrap_err(),
            grains_in::read(path, &Limits::default()).unwrap_err(),
        ] {
            assert!(
                matches!(error, FilesError::NotAFile { .. }) && error.to_string().contains(found),
                "{error}"
            );
        }
    }
    let missing = mesh_in::read(&folder.path().join("silo.stl")).unwrap_err().to_string();
    assert!(missing.contains("silo.stl") && missing.contains("check the path"), "{missing}");
}

#[test]
fn huge_files_with_nothing_in_them_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    let file = std::fs::File::create(&path).unwrap();
    let start = Instant::now();
    for length in [1 << 30, 1 << 40] {
        file.set_len(length).unwrap();
        assert!(mesh_in::read(&path).is_err());
        assert!(grains_in::read(&path, &Limits::default()).is_err());
        assert!(seixo_files::vtk::read_grains(&path).is_err());
    }
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn published_packings_and_walls_are_read() {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.exists() {
        return;
    }
    let drum = grains_in::read(&data.join("dosta2024/Drum_PartCoordinates.txt"), &Limits::default()).unwrap();
    assert_eq!(drum.iter().filter(|row| row.radius == Some(0.002)).count(), 8_000);
    assert_eq!(drum.len(), 38_000);
    let bed = data.join("dosta2024/Penetration_25KParticles.txt");
    let first = Limits {
        take: Some(25_000),
        ..Limits::default()
    };
    assert_eq!(grains_in::read(&bed, &first).unwrap().len(), 25_000);
    let ball = grains_in::read(&bed, &Limits::default()).unwrap_err().to_string();
    assert!(
        ball.contains("6 values, but the header names 4 columns: `5 0.01 0.01 0 0 0.06`"),
        "{ball}"
    );
    assert_eq!(mesh_in::read(&data.join("dosta2024/Drum_walls.txt")).unwrap().len(), 1_200);
    assert_eq!(mesh_in::read(&data.join("teapot.stl")).unwrap().len(), 6_320);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), start in 0usize..12) {
        let starts = [
            "", "solid \n", "solid x\nfacet\nvertex", "x,y,z\n", "x[m] y[m] z[m]\n", "vertex1_X[m] ", "#\n", "id,x[,y]],z\n",
            "d[mm],passing[%]\n1,0\n", "v 0 0 0\nf 1", "ply\nformat ascii 1.0\n",
            "ply\nformat binary_little_endian 1.0\nelement face 9\nproperty list uint uint vertex_index\nend_header\n",
        ];
        let bytes = [starts[start].as_bytes(), &bytes].concat();
        let _ = mesh(&bytes);
        let _ = grains(&bytes);
        let _ = with_file(&bytes, |path| sieve_in::read(path).is_ok());
        let _ = with_file(&bytes, |path| seixo_files::vtk::read_grains(path).is_ok());
    }

    #[test]
    fn arbitrary_words_never_panic(words in prop::collection::vec("[a-z0-9.,\\[\\] \t\n#-]{1,6}|vertex |endfacet\n|endsolid\n|x|,y|,z\n|1e5,", 0..60)) {
        let text = words.concat();
        let _ = grains(&text);
        let _ = mesh(format!("solid {text}"));
        let _ = with_file(format!("r,passing\n{text}").as_bytes(), |path| sieve_in::read(path).is_ok());
        let _ = with_file(format!("a,b\n{text}").as_bytes(), |path| pairs_in::read(path).is_ok());
    }

    #[test]
    fn numbers_come_back_to_the_bit(position in prop::array::uniform3(-1e9f64..1e9)) {
        let [x, y, z] = position;
        prop_assert_eq!(grains(format!("x y z\n{x} {y:e} {z:?}\n")).unwrap()[0].position, position);
    }
}
