//! VTK files: what is written reads back, and what ParaView needs is there.

use proptest::prelude::*;
use seixo_engine::state::{FluidSnapshot, GrainScalar, GrainSnapshot, WallSnapshot, WallWear};
use seixo_engine::{BondSnapshot, ContactRecord, Partner, PeriodicCell};
use seixo_files::vtk::{self, Encoding, Field, Format, RawRange, VtkIndex, VtkNumbers, VtkType};

fn snapshot(count: u32) -> GrainSnapshot {
    let mut snapshot = GrainSnapshot::default();
    for id in 0..count {
        let x = f64::from(id) * 0.1 + 1e-9;
        snapshot.id.push(id * 3);
        snapshot.position.push([x, -x, 1e4 + x]);
        snapshot.velocity.push([x, 2.0 * x, 3.0 * x]);
        snapshot.angular_velocity.push([-x; 3]);
        snapshot.force.push([x * 1e6; 3]);
        snapshot.torque.push([x * 1e-6; 3]);
        snapshot.radius.push(0.001 + x * 1e-6);
        snapshot.mass.push(x * 1e-3);
        snapshot.body.push(i64::from(id / 3) - 1);
        snapshot.material.push(id % 2);
        snapshot.group.push(id % 3);
        snapshot.coordination.push(id % 13);
        snapshot.pressure.push(x * 1e3);
        for scalar in GrainScalar::ALL {
            snapshot.scalars[scalar].push(300.0 + x);
        }
        snapshot.fragment.push(id / 2 * 6);
        snapshot.volume.push(x * 1e-9);
        snapshot.orientation.push([1.0, x, -x, 0.5 * x]);
    }
    snapshot
}

fn read<T>(bytes: &[u8], read: impl FnOnce(&std::path::Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grains_000000.vtp");
    std::fs::write(&path, bytes).unwrap();
    read(&path)
}

#[test]
fn grains_come_back() {
    // The middle one is a whole number of compressed blocks, the last one a few and a bit.
    for count in [0, 1, 32_768, 100_000] {
        let snapshot = snapshot(count);
        let fields: Vec<Field> = Field::all().map(|(field, _)| field).collect();
        let points = read(&vtk::grains(&snapshot, &fields, 0.1 + 0.2), vtk::read_grains).unwrap();
        assert_eq!(points.time, 0.1 + 0.2);
        assert_eq!(
            (&points.id, &points.position, &points.radius),
            (&snapshot.id, &snapshot.position, &snapshot.radius)
        );
        let names: Vec<_> = points
            .scalars
            .iter()
            .map(|(name, _, components)| (name.as_str(), *components))
            .collect();
        let components = [3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 4, 1, 1];
        assert_eq!(
            names,
            Field::all()
                .zip(components)
                .map(|((_, keyword), count)| (keyword, count))
                .collect::<Vec<_>>()
        );
        assert_eq!(points.scalars[7].1, snapshot.mass);
        assert_eq!(
            points.scalars[6].1,
            snapshot.coordination.iter().map(|&count| f64::from(count)).collect::<Vec<_>>()
        );
        assert_eq!(
            points.scalars[8].1,
            snapshot.body.iter().map(|&body| body as f64).collect::<Vec<_>>()
        );
        let in_single_precision = [(2, snapshot.force.as_flattened()), (12, snapshot.orientation.as_flattened())];
        for (field, sent) in in_single_precision {
            let read = &points.scalars[field].1;
            assert_eq!(read.len(), sent.len());
            assert!(read.iter().zip(sent).all(|(read, sent)| (read - sent).abs() <= 1e-7 * sent.abs()));
        }
    }
}

#[test]
fn walls_come_back_and_planes_are_drawn_inside_the_box() {
    let wall = |name: &str, triangles, plane| WallSnapshot {
        name: name.into(),
        triangles,
        plane,
        ..WallSnapshot::default()
    };
    let triangle = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let diagonal = 1.0 / 3.0f64.sqrt();
    let sent = [
        wall("chute & hopper", vec![triangle, triangle], None),
        wall("floor", vec![], Some(([9.0, 9.0, 0.25], [0.0, 0.0, 1.0]))),
        wall("corner", vec![], Some(([0.5; 3], [diagonal; 3]))),
        wall("far away", vec![], Some(([0.0, 0.0, -7.0], [0.0, 0.0, 1.0]))),
    ];
    let found = read(&vtk::walls(&sent, Some([[0.0; 3], [1.0; 3]]), 2.0), vtk::read_walls).unwrap();
    assert_eq!(
        (found.time, found.names),
        (2.0, ["chute & hopper", "floor", "corner", "far away"].map(String::from).to_vec())
    );
    assert_eq!(found.triangles[..2], [triangle, triangle]);
    let area = |index: u32| {
        let of_wall = found.triangles.iter().zip(&found.wall).filter(|(_, wall)| **wall == index);
        of_wall
            .map(|(triangle, _)| signed_area(triangle, if index == 1 { [0.0, 0.0, 1.0] } else { [diagonal; 3] }))
            .sum::<f64>()
    };
    assert!((area(1) - 1.0).abs() < 1e-12, "a square across the box");
    assert!(
        (area(2) - 0.75 * 3.0f64.sqrt()).abs() < 1e-12,
        "the regular hexagon of a cube's diagonal cut"
    );
    assert_eq!(area(3), 0.0);
    assert_eq!(read(&vtk::walls(&sent, None, 0.0), vtk::read_walls).unwrap().triangles.len(), 2);
}

#[test]
fn wear_comes_back_for_every_triangle_and_is_no_number_where_walls_do_not_wear() {
    let triangle = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let worn = |volumes: &[f64]| {
        Some(WallWear {
            volume: volumes.iter().sum(),
            volumes: volumes.to_vec(),
            depths: volumes.iter().map(|volume| 2.0 * volume).collect(),
        })
    };
    let mut sent = [
        WallSnapshot {
            triangles: vec![triangle; 2],
            wear: worn(&[3e-9, 1e-9]),
            ..WallSnapshot::default()
        },
        WallSnapshot {
            triangles: vec![triangle],
            ..WallSnapshot::default()
        },
        WallSnapshot {
            plane: Some(([0.0, 0.0, 0.5], [0.0, 0.0, 1.0])),
            wear: Some(WallWear {
                volume: 8e-9,
                ..WallWear::default()
            }),
            ..WallSnapshot::default()
        },
    ];
    let bounds = Some([[0.0; 3], [2.0, 4.0, 1.0]]);
    let found = read(&vtk::walls(&sent, bounds, 0.0), vtk::read_walls).unwrap();
    let field = |wanted: &str| found.fields.iter().find(|(name, _)| name == wanted).unwrap().1.clone();
    let (volume, depth) = (field("worn_volume"), field("wear_depth"));
    assert_eq!((&volume[..2], &depth[..2]), (&[3e-9, 1e-9][..], &[6e-9, 2e-9][..]));
    assert!(volume[2].is_nan() && depth[2].is_nan());
    // Of the plane what is drawn has 8 m²; it is one polygon, which is read as two triangles.
    assert!((depth[3] - 1e-9).abs() < 1e-22 && depth[4] == depth[3] && depth.len() == 5);
    sent.iter_mut().for_each(|wall| wall.wear = None);
    assert!(read(&vtk::walls(&sent, bounds, 0.0), vtk::read_walls).unwrap().fields.is_empty());
}

#[test]
fn surfaces_of_bodies_come_back_with_the_grains_that_they_carry() {
    let corners = [[0.1, 0.2, 1e4 + 1e-9], [0.5, 0.2, 0.3], [0.1, 0.7, 0.3]];
    let sent = vtk::VtkBodies {
        time: 0.1 + 0.2,
        position: [corners, corners.map(|corner| corner.map(|x| x + 2.0))].concat(),
        normal: vec![[0.0, 0.6, 0.8]; 6],
        triangles: vec![[0, 1, 2], [5, 4, 3], [3, 4, 5]],
        body: vec![7, 9, 9],
        carried: vec![[40, 7], [41, 7], [4_000_000_000, 9]],
    };
    let bytes = vtk::bodies(&sent);
    let found = read(&bytes, vtk::read_bodies).unwrap();
    // Normals keep seven digits.
    let normals = found.normal.as_flattened().iter().zip(sent.normal.as_flattened());
    assert!(normals.into_iter().all(|(read, sent)| (read - sent).abs() < 1e-7));
    assert_eq!(
        found,
        vtk::VtkBodies {
            normal: found.normal.clone(),
            ..sent.clone()
        }
    );
    assert_eq!(
        read(&vtk::bodies(&vtk::VtkBodies::default()), vtk::read_bodies).unwrap(),
        vtk::VtkBodies::default()
    );
    let wrong = vtk::VtkBodies {
        triangles: vec![[0, 1, 2], [5, 4, 3], [3, 4, 6]],
        ..sent
    };
    for (bytes, reported) in [
        (vtk::bodies(&wrong), "corners that are not there"),
        (vtk::grains(&snapshot(2), &[], 0.0), "does not count its polygons"),
        (bytes[..bytes.len() / 2].to_vec(), "cut off"),
    ] {
        let message = read(&bytes, vtk::read_bodies).unwrap_err().to_string();
        assert!(message.contains(reported), "{message}");
    }
}

#[test]
fn surfaces_of_polyhedral_grains_come_back_and_are_drawn_as_bodies() {
    let corners = [[0.1, 0.2, 1e4 + 1e-9], [0.5, 0.2, 0.3], [0.1, 0.7, 0.3]];
    let sent = vtk::VtkPolyhedra {
        time: 0.25,
        position: [corners, corners.map(|corner| corner.map(|x| x + 2.0))].concat(),
        normal: vec![[0.0, -1.0, 0.0]; 6],
        triangles: vec![[0, 1, 2], [5, 4, 3], [3, 4, 5]],
        id: vec![40, 4_000_000_000, 4_000_000_000],
        velocity: vec![[0.5, 0.0, -2.0], [0.25; 3], [0.25; 3]],
    };
    let bytes = vtk::polyhedra(&sent);
    assert_eq!(read(&bytes, vtk::read_polyhedra).unwrap(), sent);
    let none = vtk::VtkPolyhedra::default();
    assert_eq!(read(&vtk::polyhedra(&none), vtk::read_polyhedra).unwrap(), none);
    // Beside a body, each of them is a further one.
    let body = vtk::VtkBodies {
        position: corners.to_vec(),
        normal: vec![[0.0, 0.0, 1.0]; 3],
        triangles: vec![[0, 1, 2]],
        body: vec![7],
        carried: vec![[3, 7]],
        ..vtk::VtkBodies::default()
    };
    let both = body.with_polyhedra(&sent);
    assert_eq!((both.time, both.position.len(), both.normal.len()), (0.25, 9, 9));
    assert_eq!(both.triangles, [[0, 1, 2], [3, 4, 5], [8, 7, 6], [6, 7, 8]]);
    assert_eq!(
        (&both.body[..], &both.carried[..]),
        (&[7, 8, 9, 9][..], &[[3, 7], [40, 8], [4_000_000_000, 9]][..])
    );
    let wrong = vtk::VtkPolyhedra {
        triangles: vec![[0, 1, 2], [5, 4, 3], [3, 4, 6]],
        ..sent
    };
    let message = read(&vtk::polyhedra(&wrong), vtk::read_polyhedra).unwrap_err().to_string();
    assert!(message.contains("corners that are not there"), "{message}");
}

/// Area of a triangle, positive if its corners turn left around `normal`.
fn signed_area([a, b, c]: &[[f64; 3]; 3], normal: [f64; 3]) -> f64 {
    let edge = |to: &[f64; 3]| [to[0] - a[0], to[1] - a[1], to[2] - a[2]];
    let (u, v) = (edge(b), edge(c));
    0.5 * (normal[0] * (u[1] * v[2] - u[2] * v[1]) + normal[1] * (u[2] * v[0] - u[0] * v[2]) + normal[2] * (u[0] * v[1] - u[1] * v[0]))
}

#[test]
fn contacts_come_back_as_lines_between_centers_and_to_walls() {
    let contact = |b: Partner, force: f64| ContactRecord {
        a: 3,
        b,
        center: [1.0, 2.0, 3.0],
        point: [1.0, 2.0, 2.0],
        branch: [0.0, 0.0, 2.0],
        normal: [0.0, 0.0, 1.0],
        overlap: 1e-3,
        normal_force: [0.0, 0.0, force],
        tangential_force: [0.25, 0.0, 0.0],
    };
    let sent = [contact(Partner::Grain(8), 1.5), contact(Partner::Wall(2), -0.5)];
    let bytes = vtk::contacts(&sent, &[true, false], 0.25);
    let found = read(&bytes, vtk::read_contacts).unwrap();
    assert_eq!(
        (found.time, &found.normal_force[..], &found.is_in_chain[..]),
        (0.25, &[1.5, -0.5][..], &[true, false][..])
    );
    assert_eq!(found.ends, [[[1.0, 2.0, 1.0], [1.0, 2.0, 3.0]]; 2]);
    assert!(read(&vtk::contacts(&[], &[], 0.0), vtk::read_contacts).unwrap().ends.is_empty());
    let message = read(&vtk::grains(&snapshot(2), &[], 0.0), vtk::read_contacts)
        .unwrap_err()
        .to_string();
    assert!(message.contains("does not count its lines"), "{message}");
}

#[test]
fn an_image_says_where_its_points_are() {
    let image = vtk::Image {
        origin: [0.5, -1.0, 0.25],
        spacing: 0.1,
        points: [2, 1, 3],
        scalars: &[("density", &[1.0; 6])],
        vectors: &[("velocity", &[[0.0; 3]; 6])],
        tensors: &[("contact_stress", &[[0.0; 9]; 6])],
    };
    let text = String::from_utf8(vtk::image(&image, 2.0)).unwrap();
    assert!(
        text.contains(r#"<ImageData WholeExtent="0 1 0 0 0 2" Origin="0.5 -1.0 0.25" Spacing="0.1 0.1 0.1">"#),
        "{text}"
    );
    assert!(text.contains(r#"<Piece Extent="0 1 0 0 0 2">"#) && text.contains(r#"NumberOfComponents="9" Name="contact_stress""#));
    assert!(text.ends_with("</Piece>\n</ImageData>\n</VTKFile>\n"));
}

#[test]
fn bonds_come_back() {
    let bond = |k: u32| {
        let x = f64::from(k) * 0.25;
        BondSnapshot {
            kind: k % 2,
            grains: [k, k + 7],
            ends: [[x, 0.1, -x], [x + 1e-9, 0.2, 1e4]],
            force: [x, -x, 0.5],
            tension: x,
            shear: 2.0 * x,
            bending: 3.0 * x,
            torsion: 4.0 * x,
            energy: 5.0 * x,
            utilization: 0.125,
        }
    };
    for count in [0, 1, 1000] {
        let bonds: Vec<BondSnapshot> = (0..count).map(bond).collect();
        let lines = read(&vtk::bonds(&bonds, 0.3), vtk::read_bonds).unwrap();
        assert_eq!(lines.time, 0.3);
        assert_eq!(lines.ends, bonds.iter().map(|bond| bond.ends).collect::<Vec<_>>());
        assert_eq!(lines.grains, bonds.iter().map(|bond| bond.grains).collect::<Vec<_>>());
        assert_eq!(lines.force, bonds.iter().map(|bond| bond.force).collect::<Vec<_>>());
        assert_eq!(lines.kind, bonds.iter().map(|bond| bond.kind).collect::<Vec<_>>());
        let of = |name: &str| lines.fields.iter().find(|(known, _)| known == name).unwrap().1.clone();
        assert_eq!(of("utilization"), vec![0.125; count as usize]);
        assert_eq!(of("torsion"), bonds.iter().map(|bond| bond.torsion).collect::<Vec<_>>());
        assert_eq!(lines.fields.len(), 6);
    }
    let grains = vtk::grains(&snapshot(3), &[], 0.0);
    let refused = read(&grains, vtk::read_bonds).unwrap_err().to_string();
    assert!(refused.contains("lines"), "{refused}");
}

#[test]
fn fluids_come_back_and_as_balls_of_half_a_spacing() {
    for count in [0, 1, 1000] {
        let numbers = |scale: f64| (0..count).map(|id| f64::from(id) * scale).collect::<Vec<_>>();
        let sent = FluidSnapshot {
            id: (0..count).map(|id| 3 * id).collect(),
            kind: (0..count).map(|id| id % 2).collect(),
            position: numbers(0.1).into_iter().map(|x| [x, -x, 1e4 + x]).collect(),
            velocity: numbers(0.25).into_iter().map(|x| [x, 0.0, -x]).collect(),
            density: numbers(0.5),
            pressure: numbers(-8.0),
        };
        let mut cell = PeriodicCell::open();
        if count > 1 {
            ([cell.low[0], cell.low[2]], [cell.length[0], cell.length[2]]) = ([-0.1, 1e-17], [0.3, 2.0]);
        }
        let found = read(&vtk::fluid(&sent, 0.01, &cell, 0.3), vtk::read_fluid).unwrap();
        assert_eq!((found.time, found.spacing, found.cell, &found.particles), (0.3, 0.01, cell, &sent));
        let found = found.points();
        assert_eq!((found.time, &found.id, &found.position), (0.3, &sent.id, &sent.position));
        assert_eq!(found.radius, vec![0.005; count as usize]);
        let of = |name: &str| found.scalars.iter().find(|(known, ..)| known == name).unwrap().1.clone();
        assert_eq!((of("density"), of("pressure")), (sent.density, sent.pressure));
        assert_eq!(of("velocity"), sent.velocity.as_flattened());
        assert_eq!(of("fluid"), sent.kind.iter().map(|&kind| f64::from(kind)).collect::<Vec<_>>());
    }
    let refused = read(&vtk::grains(&snapshot(3), &[], 0.0), vtk::read_fluid).unwrap_err().to_string();
    assert!(refused.contains("no array `spacing`"), "{refused}");
}

#[test]
fn a_collection_lists_times_and_files() {
    let text = vtk::collection(&[(0.0, "grains_000000.vtp".into()), (1e-7, "a&\"b\".vtp".into())]);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[3], r#"<DataSet timestep="0.0" part="0" file="grains_000000.vtp"/>"#);
    assert_eq!(lines[4], r#"<DataSet timestep="1e-7" part="0" file="a&amp;&quot;b&quot;.vtp"/>"#);
    assert_eq!((lines[0], lines[6]), (r#"<?xml version="1.0"?>"#, "</VTKFile>"));
}

#[test]
fn a_collection_comes_back() {
    let files = [(0.0, "grains_000000.vtp".to_owned()), (1e-7, "a&\"b\"<&lt;.vtp".to_owned())];
    let text = vtk::collection(&files);
    assert_eq!(read(text.as_bytes(), vtk::read_collection).unwrap(), files);
    let refused = |text: &str| read(text.as_bytes(), vtk::read_collection).unwrap_err().to_string();
    let cut = refused(&text[..text.len() - 20]);
    assert!(cut.contains("grains_000000.vtp: it is cut off, or no list"), "{cut}");
    let wrong = refused(&text.replace("1e-7", "soon"));
    assert!(wrong.contains("its time `soon` is no number"), "{wrong}");
}

#[test]
fn single_arrays_are_read_in_their_own_type() {
    // More than one block of 2^18 bytes, a last block that is full, and none at all.
    for count in [0, 1, 50, 1 << 15, 40_000] {
        let sent = snapshot(count);
        let bytes = vtk::grains(&sent, &[Field::Velocity, Field::Body, Field::Group], 0.25);
        read(&bytes, |path| {
            let index = VtkIndex::open(path).unwrap();
            assert_eq!((index.time, index.points, index.cells), (0.25, count as usize, count as usize));
            let names: Vec<&str> = index.arrays.iter().map(|array| array.name.as_str()).collect();
            assert_eq!(
                names,
                ["radius", "id", "velocity", "body", "group", "position", "connectivity", "offsets"]
            );
            let of = |group: &str, name: &str| {
                let array = index.find(group, name).unwrap();
                (array.components, index.read(array).unwrap())
            };
            let single: Vec<f32> = sent.velocity.as_flattened().iter().map(|&value| value as f32).collect();
            assert_eq!(of("PointData", "velocity"), (3, VtkNumbers::F32(single)));
            assert_eq!(of("PointData", "radius"), (1, VtkNumbers::F64(sent.radius.clone())));
            assert_eq!(of("PointData", "id"), (1, VtkNumbers::U32(sent.id.clone())));
            assert_eq!(of("PointData", "body"), (1, VtkNumbers::I64(sent.body.clone())));
            assert_eq!(
                of("Points", "position"),
                (3, VtkNumbers::F64(sent.position.as_flattened().to_vec()))
            );
            assert!(index.find("CellData", "velocity").is_none());
        });
    }
}

#[test]
fn an_index_has_what_belongs_to_the_whole_file() {
    let names = ["floor", "lid, öben"];
    let wall = |name: &&str| WallSnapshot {
        name: (*name).to_owned(),
        triangles: vec![[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]; 2],
        ..WallSnapshot::default()
    };
    let walls: Vec<WallSnapshot> = names.iter().map(wall).collect();
    let index = read(&vtk::walls(&walls, None, 0.5), VtkIndex::open).unwrap();
    assert_eq!(
        (index.names.as_slice(), index.points, index.cells),
        (&names.map(str::to_owned)[..], 12, 4)
    );
    let fluid = vtk::fluid(&FluidSnapshot::default(), 0.01, &PeriodicCell::open(), 0.3);
    let index = read(&fluid, VtkIndex::open).unwrap();
    assert_eq!(index.numbers, [("TimeValue".to_owned(), 0.3), ("spacing".to_owned(), 0.01)]);
    let image = vtk::Image {
        origin: [0.5, -1.0, 0.25],
        spacing: 0.1,
        points: [2, 1, 3],
        scalars: &[("density", &[1.0; 6])],
        vectors: &[],
        tensors: &[("contact_stress", &[[0.5; 9]; 6])],
    };
    read(&vtk::image(&image, 2.0), |path| {
        let index = VtkIndex::open(path).unwrap();
        let grid = index.grid.unwrap();
        assert_eq!((grid.origin, grid.spacing, grid.points), (image.origin, [0.1; 3], image.points));
        let stress = index.find("PointData", "contact_stress").unwrap();
        assert_eq!((stress.count, stress.components), (6, 9));
        assert_eq!(index.read(stress).unwrap(), VtkNumbers::F32(vec![0.5; 54]));
    });
}

#[test]
fn foreign_and_cut_files_have_no_index() {
    let bytes = vtk::grains(&snapshot(50), &[Field::Velocity], 0.0);
    let refused = |bytes: &[u8]| read(bytes, VtkIndex::open).unwrap_err().to_string();
    for cut in [1, 40, bytes.len() / 2, bytes.len() - 12] {
        let message = refused(&bytes[..cut]);
        assert!(message.contains("cut off, or no VTK file"), "{message}");
    }
    let text = String::from_utf8(bytes).unwrap();
    let foreign = refused(text.replace("vtkZLibDataCompressor", "vtkLZ4DataCompressor").as_bytes());
    assert!(foreign.contains("its compressor is `vtkLZ4DataCompressor`"), "{foreign}");
    let fewer = refused(text.replace(r#"NumberOfPoints="50""#, r#"NumberOfPoints="49""#).as_bytes());
    assert!(fewer.contains("array `radius` has 400 bytes for 49 times 8"), "{fewer}");
}

const RAW: Format = Format {
    encoding: Encoding::Raw,
    threads: 1,
};

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    // More than one block in each array, a last one that is full, and none.
    for count in [0, 1 << 15, 100_000] {
        let snapshot = snapshot(count);
        let fields = [Field::Velocity, Field::Body];
        let alone = vtk::grains(&snapshot, &fields, 0.5);
        for threads in [2, 3, 16] {
            let format = Format {
                threads,
                ..Format::default()
            };
            assert!(
                format.grains(&snapshot, &fields, 0.5) == alone,
                "{count} grains on {threads} threads"
            );
        }
    }
}

#[test]
fn raw_files_have_what_compressed_ones_have() {
    let fields: Vec<Field> = Field::all().map(|(field, _)| field).collect();
    for count in [0, 1, 51, 40_000] {
        let sent = snapshot(count);
        let both = [Format::default(), RAW].map(|format| format.grains(&sent, &fields, 0.25));
        let [packed, raw] = both.each_ref().map(|bytes| read(bytes, vtk::read_grains).unwrap());
        assert_eq!(packed, raw);
        // An index has the same arrays with the same numbers, and says where they are.
        read(&both[0], |path| {
            let packed = VtkIndex::open(path).unwrap();
            read(&both[1], |path| {
                let (raw, bytes) = (VtkIndex::open(path).unwrap(), &both[1]);
                assert_eq!((raw.time, raw.points, raw.cells), (0.25, count as usize, count as usize));
                assert_eq!(raw.arrays.len(), packed.arrays.len());
                for (array, other) in raw.arrays.iter().zip(&packed.arrays) {
                    assert_eq!((&array.name, &array.group), (&other.name, &other.group));
                    let numbers = raw.read(array).unwrap();
                    assert_eq!(numbers, packed.read(other).unwrap());
                    assert_eq!(other.raw_range(), None);
                    let RawRange { offset, length, kind } = array.raw_range().unwrap();
                    assert_eq!((offset % 8, length as usize), (0, array.count * array.components * kind.width()));
                    let there = &bytes[offset as usize..][..length as usize];
                    if let VtkNumbers::F64(numbers) = numbers {
                        assert_eq!(kind, VtkType::F64);
                        assert!(numbers.iter().flat_map(|number| number.to_le_bytes()).eq(there.iter().copied()));
                    }
                }
            });
        });
    }
}

#[test]
fn every_kind_of_file_can_be_raw() {
    let bodies = vtk::VtkBodies {
        time: 2.0,
        position: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]],
        normal: vec![[0.0, 0.0, 1.0]; 3],
        triangles: vec![[0, 1, 2]],
        body: vec![7],
        carried: vec![[3, 7], [4, 7], [9, 7]],
    };
    assert_eq!(read(&RAW.bodies(&bodies), vtk::read_bodies).unwrap(), bodies);
    let wall = WallSnapshot {
        name: "floor, öben".to_owned(),
        triangles: vec![[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]; 2],
        ..WallSnapshot::default()
    };
    let walls = [wall];
    let [packed, raw] = [Format::default(), RAW].map(|format| read(&format.walls(&walls, None, 0.5), vtk::read_walls).unwrap());
    assert_eq!(packed, raw);
    let index = read(&RAW.walls(&walls, None, 0.5), VtkIndex::open).unwrap();
    assert_eq!((index.names.as_slice(), index.cells), (&["floor, öben".to_owned()][..], 2));
    let mut cell = PeriodicCell::open();
    (cell.low[1], cell.length[1]) = (-0.1, 0.3);
    let water = FluidSnapshot {
        id: vec![4],
        kind: vec![1],
        position: vec![[0.5, 0.25, 0.125]],
        velocity: vec![[1.0, 2.0, 3.0]],
        density: vec![1000.0],
        pressure: vec![8.0],
    };
    let fluid = read(&RAW.fluid(&water, 0.01, &cell, 0.3), vtk::read_fluid).unwrap();
    assert_eq!((fluid.time, fluid.spacing, fluid.cell, &fluid.particles), (0.3, 0.01, cell, &water));
    assert_eq!(read(&RAW.contacts(&[], &[], 1.0), vtk::read_contacts).unwrap().time, 1.0);
    assert_eq!(read(&RAW.bonds(&[], 1.0), vtk::read_bonds).unwrap().time, 1.0);
    let surface = RAW.surface(&water, &[[0.0, 0.0, 1.0]], &[], &["velocity"], 0.3);
    assert_eq!(read(&surface, VtkIndex::open).unwrap().points, 1);
    let image = vtk::Image {
        origin: [0.0; 3],
        spacing: 0.1,
        points: [1, 1, 3],
        scalars: &[("density", &[1.0, 2.0, 3.0])],
        vectors: &[],
        tensors: &[],
    };
    read(&RAW.image(&image, 2.0), |path| {
        let index = VtkIndex::open(path).unwrap();
        let density = index.find("PointData", "density").unwrap();
        assert_eq!(index.read(density).unwrap(), VtkNumbers::F32(vec![1.0, 2.0, 3.0]));
    });
}

#[test]
fn cut_and_foreign_raw_files_are_refused() {
    let bytes = RAW.grains(&snapshot(50), &[Field::Velocity], 0.0);
    for cut in [1, 40, 700, bytes.len() / 2, bytes.len() - 12] {
        let message = read(&bytes[..cut], VtkIndex::open).unwrap_err().to_string();
        assert!(message.contains("cut off, or no VTK file"), "{cut}: {message}");
        let message = read(&bytes[..cut], vtk::read_grains).unwrap_err().to_string();
        assert!(
            message.contains("cut off, or no VTK file") || message.contains("not a text file"),
            "{cut}: {message}"
        );
    }
    // Numbers are no text: it is changed in front of them.
    let changed = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let mut bytes = bytes.clone();
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    let fewer = changed(r#"NumberOfPoints="50""#, r#"NumberOfPoints="49""#);
    let message = read(&fewer, VtkIndex::open).unwrap_err().to_string();
    assert!(message.contains("array `radius` has 400 bytes for 49 times 8"), "{message}");
    let beyond = changed(r#"offset="0""#, r#"offset="9""#);
    let message = read(&beyond, VtkIndex::open).unwrap_err().to_string();
    assert!(message.contains("array `radius` is damaged"), "{message}");
    let packed = changed(r#"format="appended" offset="0"/>"#, r#"format="binary"             />"#);
    let message = read(&packed, VtkIndex::open).unwrap_err().to_string();
    assert!(message.contains("its compressor is ``"), "{message}");
}

#[test]
fn fields_go_by_their_keywords() {
    for (field, keyword) in Field::all() {
        assert_eq!((field.to_string(), keyword.parse()), (keyword.to_owned(), Ok(field)));
    }
    let message = "speed".parse::<Field>().unwrap_err().to_string();
    assert!(message.contains("`speed`") && message.contains("angular_velocity"), "{message}");
}

proptest! {
    #[test]
    fn damaged_files_are_refused_or_read_without_a_panic(
        at in 0.0f64..1.0,
        byte in any::<u8>(),
        (cut, is_raw) in any::<(bool, bool)>(),
    ) {
        let format = if is_raw { RAW } else { Format::default() };
        let mut bytes = format.grains(&snapshot(50), &[Field::Velocity], 0.0);
        let at = (at * bytes.len() as f64) as usize;
        if cut {
            bytes.truncate(at);
            prop_assert!(read(&bytes, vtk::read_grains).is_err());
        } else {
            bytes[at] = byte;
            let _ = read(&bytes, vtk::read_grains);
            let _ = read(&bytes, vtk::read_walls);
        }
        read(&bytes, |path| {
            if let Ok(index) = VtkIndex::open(path) {
                index.arrays.iter().for_each(|array| {
                    let _ = index.read(array);
                });
            }
        });
    }
}
