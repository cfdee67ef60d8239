//! Grain files that other programs write: what they mean is read, what is not read is named, and what cannot be read is refused with its line.

use super::with_file;
use seixo_files::FilesError;
use seixo_files::grains_in::{self, GrainRow, Limits};

fn read(text: impl AsRef<[u8]>) -> Result<(Vec<GrainRow>, Vec<String>), FilesError> {
    let mut notes = Vec::new();
    let rows = with_file(text.as_ref(), |path| grains_in::read(path, &Limits::default(), &mut notes))?;
    // Notes name the file in its folder.
    let notes = notes.iter().filter_map(|note| Some(note.split_once("input: ")?.1.to_owned()));
    let notes = notes.collect();
    Ok((rows, notes))
}

/// Two grains of 2 and 3 mm at (1, 2, 3.5) mm and (−4, 5, 6.25) mm; the second one moves at (0.5, −1.25, 0) m/s.
const TWO: [([f64; 3], f64, [f64; 3]); 2] = [
    ([1e-3, 2e-3, 3.5e-3], 2e-3, [0.0; 3]),
    ([-4e-3, 5e-3, 6.25e-3], 3e-3, [0.5, -1.25, 0.0]),
];

/// Numbers that were scaled by a unit differ by a rounding error from those that were not.
#[track_caller]
fn assert_two(rows: &[GrainRow]) {
    assert_eq!(rows.len(), 2);
    for (row, (position, radius, velocity)) in rows.iter().zip(TWO) {
        let found = [row.position, [row.radius.unwrap(), 0.0, 0.0], row.velocity].concat();
        let expected = [position, [radius, 0.0, 0.0], velocity].concat();
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-15 * b.abs();
        assert!(found.iter().zip(&expected).all(is_near), "{found:?} is not {expected:?}");
    }
}

#[test]
fn tables_of_spreadsheets_are_read() {
    for text in [
        // A spreadsheet where commas are decimal, with a mark of the byte order, its own line for the separator, and rows without values.
        "\u{feff}sep=;\r\nx [mm];y [mm];z [mm];Diameter [mm];vx;vy;vz\r\n1;2;3,5;4;0;0;0\r\n-4;5;6,25;6;0,5;-1,25;0\r\n;;;;;;\r\n",
        // Everything in quotes.
        "\"X (mm)\",\"Y (mm)\",\"Z (mm)\",\"radius, mm\",\"v_x\",\"v_y\",\"v_z\"\n\"1\",\"2\",\"3.5\",\"2\",\"0\",\"0\",\"0\"\n\"-4\",\"5\",\"6.25\",\"3\",\"0.5\",\"-1.25\",\"0\"\n",
        // Tabs, with names of several words.
        "x position (mm)\ty position (mm)\tz position (mm)\tradius (mm)\tx velocity (m/s)\ty velocity (m/s)\tz velocity (m/s)\n1\t2\t3.5\t2\t0\t0\t0\n-4\t5\t6.25\t3\t0.5\t-1.25\t0\n",
        // As data frames write units.
        "x_mm,y_mm,z_mm,d_mm,vx,vy,vz\n1,2,3.5,4,0,0,0\n-4,5,6.25,6,0.5,-1.25,0\n",
        // As ParaView writes points.
        "\"radius\",\"velocity:0\",\"velocity:1\",\"velocity:2\",\"Points:0\",\"Points:1\",\"Points:2\"\n0.002,0,0,0,0.001,0.002,0.0035\n0.003,0.5,-1.25,0,-0.004,0.005,0.00625\n",
    ] {
        match read(text) {
            Ok((rows, notes)) => {
                assert_two(&rows);
                assert_eq!(notes, [""; 0], "{text}");
            }
            Err(error) => panic!("{text}: {error}"),
        }
    }
}

#[test]
fn text_of_old_spreadsheets_is_read() {
    // µ and ß in Latin-1 are no UTF-8.
    let (rows, notes) = read(b"x[\xb5m];y[\xb5m];z[\xb5m];Gr\xf6\xdfe\n1;2;3;9\n").unwrap();
    assert!((rows[0].position[2] - 3e-6).abs() < 1e-20);
    assert_eq!(notes, ["column `Größe` is not read"]);
    let message = read(b"\xff\xfex\0,\0y\0\n\0").unwrap_err().to_string();
    assert!(message.contains("input:1: the text is in UTF-16; save it as UTF-8"), "{message}");
}

#[test]
fn columns_that_are_not_known_are_named_once() {
    let (rows, notes) = read("x,y,z,radius,diameter,weight,f_1[2],density,mass\n1,2,3,4,8,heavy stuff,7,2500,5\n").unwrap();
    assert_eq!(
        (rows[0].position, rows[0].radius, rows[0].mass),
        ([1.0, 2.0, 3.0], Some(4.0), Some(5.0))
    );
    assert_eq!(rows[0].density, None, "the mass counts");
    assert_eq!(notes, ["columns `weight`, `f_1[2]`, `diameter`, `density` are not read"]);
}

const DUMP: &str = "\
ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
1
ITEM: BOX BOUNDS pp pp ff
0 1
0 1
0 1
ITEM: ATOMS id type x y z radius
1 1 0 0 0 1
ITEM: TIMESTEP
5000
ITEM: NUMBER OF ATOMS
2
ITEM: BOX BOUNDS pp pp ff
-0.5 0.5
-0.5 0.5
0 0.25
ITEM: ATOMS id type type x y z ix iy iz vx vy vz fx fy fz omegax omegay omegaz radius \n\
7 1 1 0.001 0.002 0.0035 0 0 0 0 0 0 1 1 1 0 0 0 0.002 \n\
3 2 2 -0.004 0.005 0.00625 0 0 0 0.5 -1.25 0 1 1 1 0 0 30 0.003 \n";

#[test]
fn the_last_snapshot_of_a_dump_is_read() {
    let (rows, notes) = read(DUMP).unwrap();
    assert_two(&rows);
    assert_eq!(
        (rows[0].id, rows[1].id, rows[1].atom_type.as_deref()),
        (Some(7), Some(3), Some("2"))
    );
    assert_eq!((rows[1].line, rows[1].angular_velocity), (21, [0.0, 0.0, 30.0]));
    assert_eq!(
        notes,
        [
            "columns `ix`, `iy`, `iz`, `fx`, `fy`, `fz` are not read",
            "of its 2 snapshots, the last is read, which is of time step 5000"
        ]
    );
}

#[test]
fn coordinates_in_shares_of_the_box_and_other_units_are_read() {
    let dump = "ITEM: UNITS\ncgs\nITEM: TIME\n0.5\nITEM: TIMESTEP\n1\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS ff ff ff\n-1 1\n0 2\n0 10\n\
                ITEM: ATOMS xs ys zs diameter density vx vy vz\n0.55 0.1 0.035 0.4 2.5 0 0 0\n0.3 0.25 0.0625 0.6 2.5 50 -125 0\n";
    let (rows, notes) = read(dump).unwrap();
    // A coordinate is a difference of bounds of 1 cm.
    for (row, (position, ..)) in rows.iter().zip(TWO) {
        let differs = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-17;
        assert!(
            !row.position.iter().zip(&position).any(differs),
            "{:?} is not {position:?}",
            row.position
        );
    }
    assert!((rows[0].density.unwrap() - 2500.0).abs() < 1e-9);
    assert!((rows[1].velocity[1] + 1.25).abs() < 1e-15 && (rows[1].radius.unwrap() - 3e-3).abs() < 1e-17);
    assert_eq!(notes, [""; 0]);
}

#[test]
fn wrong_dumps_are_named_with_line_and_remedy() {
    let box_ = "ITEM: BOX BOUNDS ff ff ff\n0 1\n0 1\n0 1\n";
    let with = |text: &str| format!("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\n{text}");
    for (text, expected) in [
        (
            with(&format!("{box_}ITEM: ATOMS x y z\n1 2 3\n")),
            "input:10: the item ends early; remove the snapshot",
        ),
        (with("ITEM: ATOMS x y z\n1 2 3\nITEM: TIMESTEP\n"), "input:7: the item ends early"),
        (
            with("ITEM: ATOMS x y z\n1 2 3\n1 2 4\n1 2 5\n"),
            "input:8: `1 2 5` is a line of no item; give as many",
        ),
        (
            with("ITEM: ATOMS x y z\n1 2\n"),
            "input:6: 2 values, but the header names 3 columns",
        ),
        (
            with("ITEM: ATOMS x y z radius\n1 2 3 0\n"),
            "input:6: column `radius`: `0` is not a radius; use a number above zero",
        ),
        (
            with("ITEM: ATOMS id x z\n"),
            "input:5: the atoms have no column `y`; dump x, y and z",
        ),
        (
            with("ITEM: ATOMS xs ys zs\n1 2 3\n"),
            "input:5: the coordinates xs, ys and zs are shares of a box",
        ),
        (
            with("ITEM: BOX BOUNDS ff ff ff\n0\n"),
            "input:6: `0` is not a lower and an upper bound of the box; write two numbers",
        ),
        (
            with("ITEM: ATOMS id x y z\n1 2 3 4\n1 2 3 5\n"),
            "input:7: column `id`: 1 is already the id of line 6; number each grain once",
        ),
        (
            "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\nmany\n".to_owned(),
            "input:4: `many` is not a number of atoms",
        ),
        (
            "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ENTRIES\n3\n".to_owned(),
            "input:3: the item `NUMBER OF ENTRIES` is not read; dump the atoms",
        ),
        ("ITEM: TIMESTEP\n0\n".to_owned(), "input:2: no item `ITEM: ATOMS`, and so no grains"),
        (
            "ITEM: ATOMS x y z\n".to_owned(),
            "input:1: no item `ITEM: NUMBER OF ATOMS` before the atoms",
        ),
        (
            "ITEM: UNITS\nmetal\n".to_owned(),
            "input:2: numbers in units `metal` are not read; use one of si, cgs",
        ),
    ] {
        let message = read(&text).unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: no `{expected}` in {message}");
    }
}

const DATA: &str = "\
LAMMPS data file via write_data, version 29 Aug 2024, timestep = 5000, units = si

2 atoms
2 atom types
0 bonds

-0.5 0.5 xlo xhi
-0.5 0.5 ylo yhi
0 0.25 zlo zhi

Atoms # sphere

7 1 0.004 2500 0.001 0.002 0.0035 0 0 0
3 2 0.006 2600 -0.004 0.005 0.00625 0 0 -1 # the second

Velocities

3 0.5 -1.25 0 0 0 30
7 0 0 0 0 0 0

Bonds

1 1 3 7
";

#[test]
fn data_files_of_spheres_are_read() {
    let (rows, notes) = read(DATA).unwrap();
    assert_two(&rows);
    assert_eq!(
        (rows[0].id, rows[1].id, rows[1].atom_type.as_deref()),
        (Some(7), Some(3), Some("2"))
    );
    assert_eq!((rows[1].density, rows[1].angular_velocity), (Some(2600.0), [0.0, 0.0, 30.0]));
    assert_eq!(
        notes,
        ["columns `ix`, `iy`, `iz` are not read", "sections that are not read: `Bonds`"]
    );
}

#[test]
fn data_files_of_other_styles_and_units_are_read() {
    let atoms = "\n2 atoms\n1 atom types\n0 1 xlo xhi\n";
    // LIGGGHTS and old versions of LAMMPS name no style.
    let plain = format!(
        "granular bed\n{atoms}\nAtoms\n\n1 1 0.004 2500 0.001 0.002 0.0035\n2 1 0.006 2500 -0.004 0.005 0.00625\n\nVelocities\n\n2 0.5 -1.25 0\n"
    );
    let (rows, notes) = read(plain).unwrap();
    assert_two(&rows);
    assert_eq!(
        notes,
        ["`Atoms` names no style, so it is read as `Atoms # sphere`: id type diameter density x y z"]
    );
    let hybrid = format!(
        "bonded bed, units = cgs\n{atoms}\nAtoms # hybrid sphere bond\n\n1 1 0.1 0.2 0.35 0.4 2.5 1 1\n2 1 -0.4 0.5 0.625 0.6 2.5 1 1\n\nVelocities\n\n2 50 -125 0 0 0 0\n"
    );
    let (rows, notes) = read(hybrid).unwrap();
    assert_two(&rows);
    assert!((rows[0].density.unwrap() - 2500.0).abs() < 1e-9);
    assert_eq!(notes, ["column `values of other styles` is not read"]);
    let atomic = format!("points\n{atoms}\nAtoms # atomic\n\n1 1 0.1 0.2 0.3\n2 1 0.1 0.2 0.4\n");
    let (rows, notes) = read(atomic).unwrap();
    assert_eq!((rows[1].position, rows[1].radius, rows[1].density), ([0.1, 0.2, 0.4], None, None));
    assert_eq!(notes, [""; 0]);
}

#[test]
fn wrong_data_files_are_named_with_line_and_remedy() {
    for (from, to, expected) in [
        (
            "2 atoms",
            "3 atoms",
            "input:23: 2 atoms, but the file announces 3; write the file again",
        ),
        (
            "units = si",
            "units = real",
            "input:1: numbers in units `real` are not read; use one of si",
        ),
        (
            "# sphere",
            "# ellipsoid",
            "input:11: atoms of style `ellipsoid` are not read; write atoms of one of the styles sphere",
        ),
        (
            "7 1 0.004 2500 0.001 0.002 0.0035 0 0 0",
            "7 1 0.004 2500",
            "input:13: 4 values, but an atom of style sphere has 7",
        ),
        (
            "3 2 0.006",
            "3 2 0",
            "input:14: column `diameter`: `0` is not a diameter; use a number above zero",
        ),
        (
            "3 2 0.006 2600",
            "3 2 0.006 dense",
            "input:14: column `density`: `dense` is not a finite number; write it like",
        ),
        (
            "3 0.5 -1.25",
            "4 0.5 -1.25",
            "input:18: the velocity of an atom that is not there: `4 0.5",
        ),
        (
            "3 0.5 -1.25 0 0 0 30",
            "3 0.5 -1.25",
            "input:18: 3 values, but a velocity has 4 or 7",
        ),
    ] {
        let text = DATA.replace(from, to);
        let message = match read(&text) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{to} is taken"),
        };
        assert!(message.contains(expected), "{to}: no `{expected}` in {message}");
    }
}

#[test]
fn numbers_with_commas_are_read_only_where_they_have_one_meaning() {
    for (text, expected) in [
        (
            "x;y;z\n1.234,5;0;0\n",
            "input:2: column `x`: `1.234,5` has more than one decimal mark; write it without",
        ),
        (
            "x;y;z\n1,5;0,5;0\n0.5;1;1\n",
            "input:3: column `x`: `0.5` has a decimal point, but numbers from line 2 on have a decimal comma",
        ),
        (
            "x\ty\tz\n1,234\t0\t0\n",
            "input:2: column `x`: `1,234` can be 1.234 or 1234; write it with a decimal point",
        ),
        ("x,y,z\n\"12,500\",0,0\n", "input:2: column `x`: `12,500` can be 12.500 or 12500"),
        (
            "x,y,z\n1,5,2,5,3,5\n",
            "input:2: 6 values, but the header names 3 columns: `1,5,2,5,3,5`; give each row one value a column. If",
        ),
    ] {
        let message = read(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: no `{expected}` in {message}");
    }
    let position = |text: &str| read(text).unwrap().0[0].position;
    assert_eq!(position("x;y;z\n1,234;-0,5e-1;2\n"), [1.234, -0.05, 2.0]);
    assert_eq!(
        position("x\ty\tz\n0,125\t1,5\t1,234\n"),
        [0.125, 1.5, 1.234],
        "earlier commas can only be decimal"
    );
    assert_eq!(position("x,y,z\n\"1,5\",2,3\n"), [1.5, 2.0, 3.0]);
}
