use std::{f64::consts::FRAC_1_SQRT_2, fs, path::Path};

use glam::DVec3;
use seixo_engine::state::{FluidSnapshot, GrainSnapshot};
use seixo_engine::{BondSnapshot, PeriodicCell};
use seixo_files::vtk::{self, Field, VtkBodies, VtkPolyhedra};

use crate::{
    PictureOptions, PreviewParts, Shown, SmoothMesh, Snapshot,
    camera::{Camera, Projection},
    canvas::Canvas,
    color::Rgb,
    picture,
    picture_tests::run_folder,
    render::render,
};

const SIDE: u32 = 256;
const FOCAL: f64 = 300.0;

/// A camera five units in front of the origin.
fn camera() -> Camera {
    Camera {
        eye: DVec3::new(0.0, 0.0, -5.0),
        axes: [DVec3::X, DVec3::Y, DVec3::Z],
        focal: FOCAL,
        center: [f64::from(SIDE) / 2.0; 2],
        near: 0.1,
        middle: 5.0,
        projection: Projection::Perspective,
    }
}

/// Rotates by 45° about the vertical axis.
fn turned([x, y, z]: [f64; 3]) -> [f64; 3] {
    [FRAC_1_SQRT_2 * (x + z), y, FRAC_1_SQRT_2 * (z - x)]
}

/// A cube with this half side, centered at the origin.
fn cube(half: f64) -> SmoothMesh {
    let mut triangles = Vec::new();
    for (axis, side) in [0, 1, 2].into_iter().flat_map(|axis| [(axis, -half), (axis, half)]) {
        let corner = |u: f64, v: f64| {
            let mut place = [side; 3];
            (place[(axis + 1) % 3], place[(axis + 2) % 3]) = (u * half, v * half);
            place
        };
        let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        triangles.extend([[a, b, c], [a, c, d]]);
    }
    SmoothMesh::new(&triangles)
}

/// A body of grains with these ids, with the cube as its rotated surface.
fn cube_of(half: f64, carried: &[u32], time: f64) -> VtkBodies {
    let mesh = cube(half);
    VtkBodies {
        time,
        position: mesh.position.into_iter().map(turned).collect(),
        normal: mesh.normal.into_iter().map(turned).collect(),
        body: vec![3; mesh.triangles.len()],
        triangles: mesh.triangles,
        carried: carried.iter().map(|&grain| [grain, 3]).collect(),
    }
}

/// A run folder with one frame: one body of spheres at the corners of the cube and one sphere outside.
fn folder_of_a_cube() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().suffix(".out").tempdir().unwrap();
    let fields = folder.path().join("fields");
    fs::create_dir(&fields).unwrap();
    let corner = |k: u32| turned([0, 1, 2].map(|axis| if k >> axis & 1 == 0 { -0.75 } else { 0.75 }));
    let grains = GrainSnapshot {
        id: (10..19).collect(),
        position: (0..8).map(corner).chain([[1.9, 0.0, 0.0]]).collect(),
        velocity: vec![[1.0, 0.0, 0.0]; 9],
        radius: [vec![0.25; 8], vec![0.1]].concat(),
        ..GrainSnapshot::default()
    };
    fs::write(fields.join("grains_000000.vtp"), vtk::grains(&grains, &[Field::Velocity], 0.5)).unwrap();
    let bodies = cube_of(1.0, &grains.id, 0.5);
    fs::write(fields.join("bodies_000000.vtp"), vtk::bodies(&bodies)).unwrap();
    folder
}

fn read(folder: &Path, has_meshes: bool) -> Snapshot {
    let options = PictureOptions {
        has_meshes,
        ..PictureOptions::default()
    };
    Snapshot::read(folder, &options).unwrap()
}

fn drawn(snapshot: &Snapshot) -> Canvas {
    render(&snapshot.stage(&snapshot.scenery()), &[], &camera(), (SIDE, SIDE)).unwrap()
}

/// Whether a pixel shows an object. The background is constant along rows.
fn is_covered(image: &Canvas, x: u32, y: u32) -> bool {
    let pixel = |x: u32| -> Rgb {
        let at = 3 * (y * image.width + x) as usize;
        [image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]]
    };
    pixel(x)
        .into_iter()
        .zip(pixel(0))
        .any(|(here, background)| here.abs_diff(background) > 3)
}

#[test]
fn a_body_is_seen_as_the_mesh_that_it_was_made_from() {
    let folder = folder_of_a_cube();
    let (mesh, spheres) = (read(folder.path(), true), read(folder.path(), false));
    let [of_mesh, of_spheres] = [&mesh, &spheres].map(drawn);
    let area = (0..SIDE * SIDE).filter(|at| is_covered(&of_mesh, at % SIDE, at / SIDE)).count();
    // Rotated by 45°, the cube shows a near edge and two far edges: two trapezoids. A partly covered pixel counts.
    let [near, far] = [FOCAL / (5.0 - 2.0 * FRAC_1_SQRT_2), FOCAL / 5.0];
    let expected = 2.0 * (2.0 * FRAC_1_SQRT_2 * far) * (near + far);
    assert!((area as f64 / expected - 1.0).abs() < 0.025, "{area} px, not {expected}");
    // The spheres leave the middle of the cube free; one sphere is outside.
    for (place, is_seen) in [([128, 128], [true, false]), ([128, 71], [true, true]), ([242, 128], [false, true])] {
        let found = [&of_mesh, &of_spheres].map(|image| is_covered(image, place[0], place[1]));
        assert_eq!(found, is_seen, "at {place:?}");
    }
    // Both fill the same part of the picture and have the same spheres to pick.
    assert_eq!(mesh.in_view(&mesh.scenery()), spheres.in_view(&spheres.scenery()));
    assert_eq!((&mesh.id, mesh.shown, mesh.seen()), (&spheres.id, 9, spheres.seen()));
    assert!(mesh.balls.iter().all(|ball| ball[3] < 0.0) && spheres.balls.iter().all(|ball| ball[3] > 0.0));
}

#[test]
fn a_body_has_the_mean_color_of_its_grains_on_a_scale_and_else_that_of_the_first() {
    let folder = run_folder();
    let fields = folder.path().join("fields");
    let grains = GrainSnapshot {
        id: vec![4, 5, 6],
        position: vec![[0.0; 3], [0.0, 0.0, 1.0], [0.0, 0.0, 2.0]],
        velocity: [1.0, 2.0, 3.0].map(|speed| [speed, 0.0, 0.0]).to_vec(),
        radius: vec![0.1; 3],
        group: vec![1, 0, 1],
        ..GrainSnapshot::default()
    };
    let all = [Field::Velocity, Field::Group];
    fs::write(fields.join("grains_000001.vtp"), vtk::grains(&grains, &all, 0.01)).unwrap();
    fs::write(fields.join("bodies_000001.vtp"), vtk::bodies(&cube_of(1.0, &[6, 4], 0.01))).unwrap();
    for (field, same) in [("speed", 1), ("group", 0)] {
        let options = PictureOptions {
            field: Some(field.to_owned()),
            range: Some((0.0, 4.0)),
            ..PictureOptions::default()
        };
        let seen = Snapshot::read(folder.path(), &options).unwrap();
        let expected = [seen.coloring.color(same); 3];
        assert!(
            seen.bodies.len() == 12 && seen.bodies.iter().all(|pane| pane.colors == expected),
            "{field}"
        );
    }
}

#[test]
fn a_polyhedral_grain_is_seen_as_its_surface_in_its_color() {
    let folder = run_folder();
    let fields = folder.path().join("fields");
    let grains = GrainSnapshot {
        id: vec![4, 5],
        position: vec![[0.0; 3], [0.0, 0.0, 3.0]],
        velocity: vec![[1.0, 0.0, 0.0], [3.0, 0.0, 0.0]],
        radius: vec![1.5; 2],
        ..GrainSnapshot::default()
    };
    fs::write(fields.join("grains_000001.vtp"), vtk::grains(&grains, &[Field::Velocity], 0.01)).unwrap();
    let mesh = cube(0.8);
    let polyhedra = VtkPolyhedra {
        time: 0.01,
        id: vec![4; mesh.triangles.len()],
        velocity: vec![[1.0, 0.0, 0.0]; mesh.triangles.len()],
        position: mesh.position,
        normal: mesh.normal,
        triangles: mesh.triangles,
    };
    fs::write(fields.join("polyhedra_000001.vtp"), vtk::polyhedra(&polyhedra)).unwrap();
    let seen = read(folder.path(), true);
    assert_eq!(seen.balls.iter().map(|ball| ball[3]).collect::<Vec<_>>(), [-1.5, 1.5]);
    let expected = [seen.coloring.color(0); 3];
    assert!(seen.bodies.len() == 12 && seen.bodies.iter().all(|pane| pane.colors == expected));
    // Instead of it, its bounding sphere can be shown.
    let spheres = read(folder.path(), false);
    assert!(spheres.bodies.is_empty() && spheres.balls.iter().all(|ball| ball[3] > 0.0));
}

#[test]
fn previews_leave_out_particles_that_a_body_carries() {
    let parts = PreviewParts {
        id: vec![9, 7, 8, 7, 9],
        places: vec![[0.0, 0.0, 0.0, 0.5]; 5],
        values: vec![1.0; 5],
        field: ("speed", "m/s"),
        grains: 3,
        bodies: Some(cube_of(1.0, &[7, 9], 0.0)),
        ..PreviewParts::default()
    };
    let seen = Snapshot::of_preview(parts, &PictureOptions::default(), 0);
    let radii: Vec<f32> = seen.balls.iter().map(|ball| ball[3]).collect();
    // Fluid particles have their own numbering.
    assert_eq!(radii, [-0.5, -0.5, 0.5, 0.5, 0.5]);
    assert_eq!(seen.bodies.len(), 12);
}

#[test]
fn fluids_and_bodies_stay_where_bonds_stand_for_grains() {
    let folder = run_folder();
    let fields = folder.path().join("fields");
    let bond = BondSnapshot {
        kind: 0,
        grains: [0, 9],
        ends: [[0.0; 3], [0.0, 0.002, 0.0]],
        force: [1.0, 0.0, 0.0],
        tension: 1.0,
        shear: 0.0,
        bending: 0.0,
        torsion: 0.0,
        energy: 1e-6,
        utilization: 0.5,
    };
    fs::write(fields.join("bonds_000001.vtp"), vtk::bonds(&[bond], 0.01)).unwrap();
    let options = |shown: Shown, has_meshes: bool| PictureOptions {
        shown,
        has_meshes,
        size: (320, 200),
        ..PictureOptions::default()
    };
    let bare = picture(folder.path(), &options(Shown::Bonds, true)).unwrap();
    fs::write(fields.join("bodies_000001.vtp"), vtk::bodies(&cube_of(0.001, &[26], 0.01))).unwrap();
    let with_body = picture(folder.path(), &options(Shown::Bonds, true)).unwrap();
    assert!(with_body != bare && picture(folder.path(), &options(Shown::Bonds, false)).unwrap() == bare);
    let fluid = FluidSnapshot {
        id: (0..9).collect(),
        kind: vec![0; 9],
        position: (0..9).map(|id| [0.0005 * f64::from(id), 0.002, 0.002]).collect(),
        velocity: vec![[0.0; 3]; 9],
        density: vec![1000.0; 9],
        pressure: vec![0.0; 9],
    };
    let water = vtk::fluid(&fluid, 0.001, &PeriodicCell::open(), 0.01);
    fs::write(fields.join("fluid_000001.vtp"), water).unwrap();
    assert!(picture(folder.path(), &options(Shown::Bonds, true)).unwrap() != with_body);
    // Contacts would be hidden inside the body.
    for (shown, panes, drops) in [(Shown::Bonds, 12, 9), (Shown::Contacts, 0, 0)] {
        let seen = Snapshot::read(folder.path(), &options(shown, true)).unwrap();
        let scenery = seen.scenery();
        let stage = seen.stage(&scenery);
        assert_eq!(
            (stage.bodies.len(), stage.water.places.len(), stage.balls.places.len()),
            (panes, drops, 0)
        );
        assert!(!stage.rods.is_empty());
    }
}
