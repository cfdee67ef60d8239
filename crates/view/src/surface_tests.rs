use std::fs;

use glam::DVec3;
use seixo_engine::PeriodicCell;
use seixo_engine::state::{FluidSnapshot, GrainSnapshot};
use seixo_files::vtk::{self, Field};

use crate::{
    PictureOptions, Shown, SmoothMesh,
    camera::{Camera, Projection},
    color::Rgb,
    fluid_frames, picture,
    render::{Pane, RenderScene, render},
};

const RED: Rgb = [200, 60, 40];
const BLUE: Rgb = [40, 80, 200];
const SIZE: (u32, u32) = (320, 240);

#[test]
fn a_pane_that_faces_the_eye_keeps_its_colors_and_mixes_them_between_corners() {
    let side = 128;
    let camera = Camera {
        eye: DVec3::new(0.0, 0.0, -5.0),
        axes: [DVec3::X, DVec3::Y, DVec3::Z],
        focal: 300.0,
        center: [64.0; 2],
        near: 0.1,
        middle: 5.0,
        projection: Projection::Perspective,
    };
    let corners = [DVec3::new(-9.0, -9.0, 0.0), DVec3::new(9.0, -9.0, 0.0), DVec3::new(0.0, 9.0, 0.0)];
    let middle = |pane: Pane| {
        let stage = RenderScene {
            panes: &[pane],
            ..RenderScene::default()
        };
        let image = render(&stage, &[], &camera, (side, side)).unwrap();
        let at = 3 * (64 * side + 64) as usize;
        [image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]]
    };
    let is_near = |a: Rgb, b: Rgb, most: u8| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= most);
    let flat = middle(Pane::flat(corners, RED));
    assert!(is_near(flat, RED, 8), "{flat:?}");
    // Normals may point to either side, and corners may have either order.
    let [a, b, c] = corners;
    for corners in [[a, b, c], [a, c, b]] {
        for normal in [DVec3::Z, -DVec3::Z] {
            let pane = Pane {
                normals: [normal; 3],
                ..Pane::flat(corners, RED)
            };
            assert!(is_near(middle(pane), flat, 1));
        }
    }
    let mixed = middle(Pane {
        colors: [RED, RED, BLUE],
        ..Pane::flat(corners, RED)
    });
    assert!(mixed[0] < RED[0] - 20 && mixed[2] > RED[2] + 20 && mixed[2] < BLUE[2], "{mixed:?}");
    // Normals that point away from the light make the same triangle darker.
    let aslant = middle(Pane {
        normals: [DVec3::new(0.8, -0.3, -0.5).normalize(); 3],
        ..Pane::flat(corners, RED)
    });
    assert!(aslant[0] < flat[0] - 20, "{aslant:?}");
}

#[test]
fn vertices_of_a_mesh_are_one_where_it_bends_gently_and_several_at_edges() {
    let bent = |degrees: f64| {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let [a, b] = [[0.0; 3], [0.0, 1.0, 0.0]];
        SmoothMesh::new(&[[a, [1.0, 0.0, 0.0], b], [a, b, [-cosine, 0.0, sine]], [a, b, b]])
    };
    let (gentle, sharp) = (bent(20.0), bent(60.0));
    assert_eq!(
        [&gentle, &sharp].map(|mesh| (mesh.position.len(), mesh.triangles.len())),
        [(4, 2), (6, 2)]
    );
    // Halfway between the normals of both sides.
    let [x, _, z] = gentle.normal[0];
    assert!(
        (x.abs() / z.abs() - 10.0_f64.to_radians().tan()).abs() < 1e-12,
        "{:?}",
        gentle.normal
    );
}

/// A run folder with one frame: a ball of two fluids, one above the other, and with `has_grains` a grain beside it.
fn run_folder(has_grains: bool) -> tempfile::TempDir {
    let folder = tempfile::Builder::new().suffix(".out").tempdir().unwrap();
    let fields = folder.path().join("fields");
    fs::create_dir(&fields).unwrap();
    let line = || (-6..=6).map(|k| 0.01 * f64::from(k));
    let sites = line().flat_map(|x| line().flat_map(move |y| line().map(move |z| [x, y, z])));
    let position: Vec<[f64; 3]> = sites.filter(|&site| DVec3::from(site).length() < 0.061).collect();
    let count = position.len();
    let fluid = FluidSnapshot {
        id: (0..count as u32).collect(),
        kind: position.iter().map(|place| u32::from(place[2] > 0.0)).collect(),
        velocity: vec![[0.0; 3]; count],
        density: vec![1000.0; count],
        pressure: position.iter().map(|place| 500.0 - 1e4 * place[2]).collect(),
        position,
    };
    let water = vtk::fluid(&fluid, 0.01, &PeriodicCell::open(), 0.5);
    fs::write(fields.join("fluid_000000.vtp"), water).unwrap();
    if has_grains {
        let grains = GrainSnapshot {
            id: vec![0],
            position: vec![[0.1, 0.0, 0.0]],
            velocity: vec![[0.0; 3]],
            radius: vec![0.02],
            ..GrainSnapshot::default()
        };
        fs::write(fields.join("grains_000000.vtp"), vtk::grains(&grains, &[Field::Velocity], 0.5)).unwrap();
    }
    folder
}

fn options(field: Option<&str>) -> PictureOptions {
    PictureOptions {
        shown: Shown::Surface,
        size: SIZE,
        field: field.map(str::to_owned),
        view: Some([0.0, -1.0, 0.0]),
        ..PictureOptions::default()
    }
}

/// The pixels of a picture left of its legend, with positions and colors.
fn pixels(bytes: Vec<u8>) -> Vec<([u32; 2], Rgb)> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut rgb = vec![0; (3 * SIZE.0 * SIZE.1) as usize];
    reader.next_frame(&mut rgb).unwrap();
    let places = (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| [x, y]));
    let all = places.zip(rgb.as_chunks::<3>().0.iter().copied());
    all.filter(|([x, _], _)| *x < SIZE.0 - 45).collect()
}

#[test]
fn a_ball_of_fluids_is_drawn_as_a_disk_without_gaps() {
    let folder = run_folder(false);
    let drawn = pixels(picture(folder.path(), &options(None)).unwrap());
    // The first distinct color is blue, the second orange; text and background are gray.
    let blue = |color: Rgb| i32::from(color[2]) > i32::from(color[0]) + 25;
    let orange = |color: Rgb| i32::from(color[0]) > i32::from(color[2]) + 25;
    let disk: Vec<[u32; 2]> = drawn
        .iter()
        .filter(|&&(_, color)| blue(color) || orange(color))
        .map(|&(at, _)| at)
        .collect();
    let [width, height] = [0, 1].map(|axis| {
        let ends = [disk.iter().map(|at| at[axis]).min(), disk.iter().map(|at| at[axis]).max()].map(Option::unwrap);
        f64::from(ends[1] - ends[0] + 1)
    });
    assert!(height > 120.0 && (width / height - 1.0).abs() < 0.05, "{width} × {height}");
    // Share of the area of an ellipse: separate balls would leave gaps at the rim, and a hole would be missing. The last three pixels at the rim are
    // too dark to classify their color.
    let filled = disk.len() as f64 / (0.25 * std::f64::consts::PI * width * height);
    assert!((0.88..1.05).contains(&filled), "{filled}");
    // The upper half is the second fluid, the lower one the first.
    let middle = disk.iter().map(|at| f64::from(at[1])).sum::<f64>() / disk.len() as f64;
    let above = |is: &dyn Fn(Rgb) -> bool| {
        let rows: Vec<f64> = drawn
            .iter()
            .filter(|&&(_, color)| is(color))
            .map(|&(at, _)| f64::from(at[1]))
            .collect();
        rows.iter().filter(|&&row| row < middle).count() as f64 / rows.len() as f64
    };
    assert!(above(&orange) > 0.9 && above(&blue) < 0.2, "{} {}", above(&orange), above(&blue));
}

#[test]
fn a_surface_is_colored_by_a_field_and_drawn_beside_grains() {
    let folder = run_folder(false);
    let of = |field: Option<&str>| picture(folder.path(), &options(field)).unwrap();
    let shaded = pixels(of(Some("pressure")));
    // Viridis: yellow at high pressure, at the bottom, and violet at the top.
    let yellowness = |low: u32, high: u32| {
        let rows: Vec<f64> = shaded
            .iter()
            .filter(|([x, y], color)| (100..180).contains(x) && (low..high).contains(y) && color.iter().max() > color.iter().min())
            .map(|(_, color)| f64::from(color[1]) - f64::from(color[2]))
            .collect();
        rows.iter().sum::<f64>() / rows.len() as f64
    };
    assert!(
        yellowness(170, 190) > yellowness(60, 80) + 40.0,
        "{} {}",
        yellowness(170, 190),
        yellowness(60, 80)
    );
    assert!(of(None) != of(Some("pressure")) && of(None) == of(Some("fluid")));
    let particles = PictureOptions {
        shown: Shown::Grains,
        ..options(Some("pressure"))
    };
    assert!(of(Some("pressure")) != picture(folder.path(), &particles).unwrap());

    let with_grain = run_folder(true);
    let beside = picture(with_grain.path(), &options(None)).unwrap();
    assert!(beside != of(None));
    // The grain belongs to no fluid: it is gray, to the right of the ball.
    let grays = pixels(beside).into_iter().filter(|([x, y], color)| {
        let [least, most] = [color.iter().min(), color.iter().max()].map(Option::unwrap);
        (200..260).contains(x) && (110..140).contains(y) && most - least < 25 && *most < 238
    });
    assert!(grays.count() > 100);
}

#[test]
fn what_has_no_surface_is_refused_with_a_remedy() {
    let folder = run_folder(true);
    let refused = |options: &PictureOptions| picture(folder.path(), options).unwrap_err().to_string();
    let unknown = refused(&options(Some("temperature")));
    assert!(unknown.contains("\"temperature\"") && unknown.contains("pressure"), "{unknown}");
    assert_eq!(fluid_frames(folder.path()).unwrap().len(), 1);
    fs::remove_file(folder.path().join("fields/fluid_000000.vtp")).unwrap();
    let dry = refused(&options(None));
    assert!(dry.contains("fluid_000000.vtp") && dry.contains("[fluid.NAME]"), "{dry}");
    let none = fluid_frames(folder.path()).unwrap_err().to_string();
    assert!(none.contains("[fluid.NAME]"), "{none}");
}
