//! Grain files and meshes: what is right is read, what is wrong is named, and nothing makes the reader wait, swell or panic.

mod meshes;
mod other_programs;
mod sieves;

use proptest::prelude::*;
use seixo_engine::state::GrainScalar;
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
    with_file(text.as_ref(), |path| grains_in::read(path, &Limits::default(), &mut Vec::new()))
}

fn mesh(bytes: impl AsRef<[u8]>) -> Result<Vec<[[f64; 3]; 3]>, FilesError> {
    with_file(bytes.as_ref(), mesh_in::read)
}

#[test]
fn a_table_with_commas_and_units_gives_si() {
    let text = "# made by hand\nid,x [mm],y[cm],z,radius[um],vx[mm/s],vy,vz,wz[rpm],material,temperature[K]\n\n7, 1,2,3 ,500,4,0,-1,60,glass,295\r\n";
    let row = &grains(text).unwrap()[0];
    assert_eq!((row.id, row.line, row.material.as_deref()), (Some(7), 4, Some("glass")));
    assert_eq!((row.position, row.velocity), ([1e-3, 0.02, 3.0], [4e-3, 0.0, -1.0]));
    assert_eq!(row.scalars[GrainScalar::Temperature], Some(295.0));
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
        ("weight,force\n", vec!["input:1:", "`weight`", "radius"]),
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
        (
            "x,y,z,mass[g]\n1,2,3,0\n",
            vec!["input:2:", "column `mass[g]`", "`0` is not a mass", "above zero"],
        ),
        ("x,y,z,mass[m]\n", vec!["input:1:", "`mass` cannot be in `m`", "kg"]),
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
    let read = |limits| with_file(text.as_bytes(), |path| grains_in::read(path, &limits, &mut Vec::new()));
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
        (
            "t x angel\n",
            "input:1: column `angel` is not known here; remove it, or use one of t, x, y, z, angle",
        ),
        ("", "says nothing"),
    ] {
        let message = read(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn pairs_are_read_and_wrong_ones_named() {
    let read = |text: &str| with_file(text.as_bytes(), |path| pairs_in::read(path, &mut Vec::new()));
    let pairs = read("# joints\nb, a\n3,7\n\n0,4294967295\n").unwrap();
    let found: Vec<_> = pairs.iter().map(|pair| (pair.line, pair.ids)).collect();
    assert_eq!(found, [(3, [7, 3]), (5, [u32::MAX, 0])]);
    let own = read("strength[%] a b stiffness[N/mm]\n50 1 2 3\n200 2 3 4\n").unwrap();
    let found: Vec<_> = own.iter().map(|pair| (pair.ids, pair.stiffness, pair.strength)).collect();
    assert_eq!(found, [([1, 2], Some(3e3), Some(0.5)), ([2, 3], Some(4e3), Some(2.0))]);
    for (text, expected) in [
        ("a b\n1 2\n3 4\n2 1\n", "input:4: the grains 1 and 2 are already the pair of line 2"),
        ("a b\n5 5\n", "input:2: the grain 5 makes a pair with itself"),
        ("a b\n1 -2\n", "input:2: column `b`: `-2` is not an id"),
        ("a b\n1 2 3\n", "input:2: 3 values, but the header names 2 columns"),
        ("a b k\n1 2 0\n", "input:2: column `k`: `0` is not positive"),
        ("a b strength\n1 2 -1\n", "input:2: column `strength`: `-1` is not positive"),
        ("a b stiffness[Pa]\n1 2 1\n", "column `stiffness` cannot be in `Pa`"),
        ("a strength\n1 2\n", "input:1: no column `a`, or no column `b`"),
        ("a\n1\n", "input:1: no column `a`, or no column `b`"),
        ("a c\n1 2\n", "input:1: no column `a`, or no column `b`"),
        ("u v\n1 2\n", "`u` is none of them"),
        ("a b\n", "names no pair"),
        ("", "says nothing"),
    ] {
        let message = read(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (path, found) in [(folder.path(), "a folder"), (&pipe, "a pipe"), (Path::new("/dev/zero"), "device")] {
        for error in [
            mesh_in::read(path).unwrap_err(),
            grains_in::read(path, &Limits::default(), &mut Vec::new()).unwrap_err(),
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
        assert!(grains_in::read(&path, &Limits::default(), &mut Vec::new()).is_err());
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
    let read = |name: &str, limits: &Limits| grains_in::read(&data.join("dosta2024").join(name), limits, &mut Vec::new());
    let drum = read("Drum_PartCoordinates.txt", &Limits::default()).unwrap();
    assert_eq!(drum.iter().filter(|row| row.radius == Some(0.002)).count(), 8_000);
    assert_eq!(drum.len(), 38_000);
    let bed = "Penetration_25KParticles.txt";
    let first = Limits {
        take: Some(25_000),
        ..Limits::default()
    };
    assert_eq!(read(bed, &first).unwrap().len(), 25_000);
    let ball = read(bed, &Limits::default()).unwrap_err().to_string();
    assert!(
        ball.contains("6 values, but the header names 4 columns: `5 0.01 0.01 0 0 0.06`"),
        "{ball}"
    );
    assert_eq!(mesh_in::read(&data.join("dosta2024/Drum_walls.txt")).unwrap().len(), 1_200);
    assert_eq!(mesh_in::read(&data.join("teapot.stl")).unwrap().len(), 6_320);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), start in 0usize..16) {
        let starts = [
            "", "solid \n", "solid x\nfacet\nvertex", "x,y,z\n", "x[m] y[m] z[m]\n", "vertex1_X[m] ", "#\n", "id,x[,y]],z\n",
            "d[mm],passing[%]\n1,0\n", "v 0 0 0\nf 1", "ply\nformat ascii 1.0\n",
            "ply\nformat binary_little_endian 1.0\nelement face 9\nproperty list uint uint vertex_index\nend_header\n",
            "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3\n", "ITEM: NUMBER OF ATOMS\n1\nITEM: ATOMS x y z\n", "2 atoms\nAtoms # sphere\n",
            "\"Sieve size (mm)\";\"Retained (g)\"\n",
        ];
        let bytes = [starts[start].as_bytes(), &bytes].concat();
        let _ = mesh(&bytes);
        let _ = grains(&bytes);
        let _ = with_file(&bytes, |path| sieve_in::read(path, &mut Vec::new()).is_ok());
        let _ = with_file(&bytes, |path| seixo_files::vtk::read_grains(path).is_ok());
    }

    #[test]
    fn arbitrary_words_never_panic(words in prop::collection::vec("[a-z0-9.,\\[\\] \t\n#-]{1,6}|vertex |endfacet\n|endsolid\n|x|,y|,z\n|1e5,", 0..60)) {
        let text = words.concat();
        let _ = grains(&text);
        let _ = mesh(format!("solid {text}"));
        let _ = with_file(format!("r,passing\n{text}").as_bytes(), |path| sieve_in::read(path, &mut Vec::new()).is_ok());
        let _ = with_file(format!("a,b\n{text}").as_bytes(), |path| pairs_in::read(path, &mut Vec::new()).is_ok());
    }

    #[test]
    fn numbers_come_back_to_the_bit(position in prop::array::uniform3(-1e9f64..1e9)) {
        let [x, y, z] = position;
        prop_assert_eq!(grains(format!("x y z\n{x} {y:e} {z:?}\n")).unwrap()[0].position, position);
    }
}
