use std::{fs, path::Path};

use glam::DVec3;
use seixo_engine::state::{FluidSnapshot, GrainSnapshot, WallSnapshot};
use seixo_engine::{BondSnapshot, ContactRecord, Partner, PeriodicCell};
use seixo_files::vtk::{self, Field};

use crate::{
    Film, FrameSource, PictureOptions, Recording, Shown, Snapshot, ViewError,
    bonds::BondBreaks,
    camera::{Camera, Frame, Projection},
    canvas::Canvas,
    color::{GROUND, Rgb, SKY},
    picture,
    render::{RenderScene, Rod, SphereBatch, render},
    snapshot::{FROM, outlook},
};

const RED: Rgb = [200, 60, 40];
const BLUE: Rgb = [40, 80, 200];
const FOCAL: f64 = 300.0;
const SIDE: u32 = 256;

/// A camera five units in front of the origin.
fn camera() -> Camera {
    let center = [f64::from(SIDE) / 2.0; 2];
    Camera {
        eye: DVec3::new(0.0, 0.0, -5.0),
        axes: [DVec3::X, DVec3::Y, DVec3::Z],
        focal: FOCAL,
        center,
        near: 0.1,
        middle: 5.0,
        projection: Projection::Perspective,
    }
}

fn image(spheres: &[(DVec3, Rgb)], walls: &[[DVec3; 3]]) -> Canvas {
    let places: Vec<[f32; 4]> = spheres.iter().map(|(center, _)| center.as_vec3().extend(1.0).to_array()).collect();
    let palette: Vec<Rgb> = spheres.iter().map(|&(_, color)| color).collect();
    let shade: Vec<u8> = (0..palette.len() as u8).collect();
    let balls = SphereBatch {
        places: &places,
        shade: &shade,
        palette: &palette,
        ..SphereBatch::default()
    };
    let stage = RenderScene {
        balls,
        walls,
        ..RenderScene::default()
    };
    render(&stage, &[], &camera(), (SIDE, SIDE)).unwrap()
}

fn pixel(image: &Canvas, x: u32, y: u32) -> Rgb {
    let at = 3 * (y * image.width + x) as usize;
    [image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]]
}

fn is_near(a: Rgb, b: Rgb, most: u8) -> bool {
    a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= most)
}

#[test]
fn a_sphere_has_its_color_and_its_outline_in_perspective() {
    for x in [0.0, 0.8] {
        let image = image(&[(DVec3::new(x, 0.0, 0.0), RED)], &[]);
        let (toward, half) = (f64::atan(x / 5.0), f64::asin(1.0 / f64::hypot(5.0, x)));
        let expected = [toward - half, toward + half].map(|angle| 128.0 + FOCAL * angle.tan());
        let row: Vec<u32> = (0..SIDE)
            .filter(|&x| !is_near(pixel(&image, x, 128), pixel(&image, 0, 128), 3))
            .collect();
        let outline = [f64::from(row[0]), f64::from(row[row.len() - 1] + 1)];
        assert!(
            outline.iter().zip(expected).all(|(seen, expected)| (seen - expected).abs() <= 1.0),
            "{outline:?}, not {expected:?}"
        );
        let center = pixel(&image, (128.0 + FOCAL * x / 5.0) as u32, 128);
        assert!(is_near(center, RED, 8), "{center:?}");
        assert!(is_near(pixel(&image, 0, 0), SKY, 1) && is_near(pixel(&image, 255, 255), GROUND, 1));
    }
}

#[test]
fn a_rod_reaches_from_end_to_end_and_is_as_thick_as_it_is() {
    let rod = |ends: [[f64; 3]; 2]| Rod {
        ends: ends.map(DVec3::from),
        radius: 0.2,
        color: RED,
    };
    let shown = |rods: Vec<Rod>| {
        let stage = RenderScene {
            rods: &rods,
            ..RenderScene::default()
        };
        render(&stage, &[], &camera(), (SIDE, SIDE)).unwrap()
    };
    let image = shown(vec![rod([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])]);
    let background = |x: u32, y: u32| is_near(pixel(&image, x, y), pixel(&image, 0, y), 3);
    let row: Vec<u32> = (1..SIDE).filter(|&x| !background(x, 128)).collect();
    let column: Vec<u32> = (1..SIDE).filter(|&y| !background(128, y)).collect();
    // The round ends are 1.2 from the middle, seen from a distance of 5; the sides are at ±0.2.
    let [half_length, half_width] = [
        FOCAL * (f64::atan(1.0 / 5.0) + f64::asin(0.2 / f64::hypot(5.0, 1.0))).tan(),
        FOCAL * f64::asin(0.2 / 5.0).tan(),
    ];
    for (seen, half) in [(row, half_length), (column, half_width)] {
        let outline = [f64::from(seen[0]), f64::from(seen[seen.len() - 1] + 1)];
        let expected = [128.0 - half, 128.0 + half];
        assert!(
            outline.iter().zip(expected).all(|(seen, expected)| (seen - expected).abs() <= 1.0),
            "{outline:?}, not {expected:?}"
        );
    }
    assert!(is_near(pixel(&image, 128, 128), RED, 8), "{:?}", pixel(&image, 128, 128));
    // Seen from its end, a rod is a disk; seen obliquely, it is complete, too.
    let image = shown(vec![
        rod([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]),
        rod([[0.5, -0.5, -1.0], [1.0, 1.0, 1.5]]),
    ]);
    assert!(is_near(pixel(&image, 128, 128), RED, 8));
    for share in [0.05, 0.5, 0.95] {
        let point = DVec3::new(0.5, -0.5, -1.0).lerp(DVec3::new(1.0, 1.0, 1.5), share);
        let [x, y] = [128.0 + FOCAL * point.x / (point.z + 5.0), 128.0 - FOCAL * point.y / (point.z + 5.0)];
        let [red, _, blue] = pixel(&image, x as u32, y as u32);
        assert!(red > blue + 60, "{share}");
    }
}

#[test]
fn the_nearest_of_two_spheres_is_seen() {
    let (front, back) = (DVec3::new(0.0, 0.0, -0.5), DVec3::new(0.0, 0.0, 0.7));
    for spheres in [[(front, RED), (back, BLUE)], [(back, BLUE), (front, RED)]] {
        assert!(is_near(pixel(&image(&spheres, &[]), 128, 128), RED, 8));
    }
    let (left, right) = (DVec3::new(-0.5, 0.0, 0.0), DVec3::new(0.5, 0.0, 0.0));
    let image = image(&[(left, RED), (right, BLUE)], &[]);
    let [a, b] = [122, 134].map(|x| pixel(&image, x, 128));
    assert!(a[0] > a[2] && b[2] > b[0], "they part where they intersect: {a:?} {b:?}");
}

#[test]
fn a_wall_in_front_shows_the_sphere_behind_it() {
    let wall = [
        DVec3::new(-9.0, -9.0, -2.0),
        DVec3::new(9.0, -9.0, -2.0),
        DVec3::new(0.0, 9.0, -2.0),
    ];
    let (plain, covered) = (image(&[(DVec3::ZERO, RED)], &[]), image(&[(DVec3::ZERO, RED)], &[wall]));
    assert!(is_near(pixel(&plain, 128, 128), pixel(&covered, 128, 128), 40));
    assert_ne!(pixel(&plain, 10, 128), pixel(&covered, 10, 128));
}

#[test]
fn the_camera_fills_the_frame_and_cuts_nothing() {
    let balls = [
        (DVec3::new(-3.0, 0.0, 1.0), 0.5),
        (DVec3::new(4.0, 2.0, 0.0), 1.5),
        (DVec3::new(0.0, -5.0, 0.2), 0.1),
    ];
    let frame = Frame {
        corner: [100.0, 50.0],
        size: [600.0, 400.0],
    };
    for projection in [Projection::Perspective, Projection::Orthographic] {
        let camera = Camera::framing(balls.into_iter(), (DVec3::new(0.4, -1.0, 0.3), projection), frame);
        let reach = |axis: usize, sign: f64| {
            let angle = |(center, radius): (DVec3, f64)| {
                let view = camera.view(center);
                sign * view[axis].atan2(view.z) + f64::asin(radius / f64::hypot(view[axis], view.z))
            };
            camera.focal * balls.into_iter().map(angle).fold(f64::NEG_INFINITY, f64::max).tan()
        };
        let [across, up] = [0, 1].map(|axis| [reach(axis, -1.0), reach(axis, 1.0)]);
        assert!(across.iter().all(|reach| *reach < 300.0 + 1e-6) && up.iter().all(|reach| *reach < 200.0 + 1e-6));
        let fills = |[low, high]: [f64; 2], half: f64| (low - half).abs() < 1e-6 && (high - half).abs() < 1e-6;
        assert!(fills(across, 300.0) || fills(up, 200.0), "{across:?} {up:?}");
    }
}

#[test]
fn without_perspective_things_are_as_large_behind_as_in_front() {
    // Two balls one behind the other, nearly as far apart as the picture is high.
    let balls = [(DVec3::new(-1.0, -2.0, 0.0), 0.5), (DVec3::new(1.0, 2.0, 0.0), 0.5)];
    let frame = Frame {
        corner: [0.0; 2],
        size: [256.0; 2],
    };
    let widths = |projection: Projection| {
        let camera = Camera::framing(balls.into_iter(), (DVec3::NEG_Y, projection), frame);
        let places = balls.map(|(center, radius)| center.as_vec3().extend(radius as f32).to_array());
        let batch = SphereBatch {
            places: &places,
            shade: &[0, 1],
            palette: &[RED, BLUE],
            ..SphereBatch::default()
        };
        let stage = RenderScene {
            balls: batch,
            ..RenderScene::default()
        };
        let image = render(&stage, &[], &camera, (SIDE, SIDE)).unwrap();
        let row: Vec<bool> = (0..SIDE)
            .map(|x| !is_near(pixel(&image, x, 128), pixel(&image, 128, 128), 3))
            .collect();
        let (left, right) = row.split_at(128);
        [left, right].map(|half| half.iter().filter(|&&is_ball| is_ball).count())
    };
    let [front, back] = widths(Projection::Perspective);
    assert!(front > back + 10, "{front} {back}");
    let [front, back] = widths(Projection::Orthographic);
    // The frame is three wide.
    assert!(front.abs_diff(back) <= 1 && front.abs_diff(85) <= 2, "{front} {back}");
}

#[test]
fn a_plane_flow_is_seen_head_on_without_perspective() {
    let flow = |thickness: f32| Snapshot {
        balls: (0..64)
            .map(|k| [(k % 8) as f32, thickness * (k % 2) as f32, (k / 8) as f32, 0.5])
            .collect(),
        particles: 64,
        shown: 64,
        ..Snapshot::default()
    };
    let options = PictureOptions::default();
    let (plane, space) = (flow(0.0), flow(0.1));
    assert_eq!((plane.plane(), space.plane()), (Some(1), None));
    assert_eq!(outlook(&options, plane.plane()), (DVec3::NEG_Y, Projection::Orthographic));
    assert_eq!(outlook(&options, space.plane()), (FROM, Projection::Perspective));
    let asked = PictureOptions {
        view: Some([0.0, 0.0, 1.0]),
        projection: Some(Projection::Perspective),
        ..options
    };
    assert_eq!(outlook(&asked, plane.plane()), (DVec3::Z, Projection::Perspective));
    // A layer of grains is no plane flow.
    let grains = Snapshot {
        grains: 64,
        particles: 0,
        ..plane
    };
    assert_eq!(grains.plane(), None);
}

/// A run folder of two frames with grains, a box and a plane.
pub fn run_folder() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().suffix(".out").tempdir().unwrap();
    let fields = folder.path().join("fields");
    fs::create_dir(&fields).unwrap();
    let position: Vec<[f64; 3]> = (0..27).map(|i| [i % 3, i / 3 % 3, i / 9].map(|k| 0.002 * f64::from(k))).collect();
    let grains = GrainSnapshot {
        id: (0..27).collect(),
        velocity: position.iter().map(|&[x, _, z]| [z, 0.0, -x]).collect(),
        radius: vec![0.001; 27],
        group: (0..27).map(|i| i % 2).collect(),
        position,
        ..GrainSnapshot::default()
    };
    let plane = WallSnapshot {
        name: "floor".into(),
        triangles: Vec::new(),
        plane: Some(([0.0, 0.0, -0.001], [0.0, 0.0, 1.0])),
        ..WallSnapshot::default()
    };
    for frame in 0..2 {
        let time = 0.01 * f64::from(frame);
        let write = |name: &str, bytes: Vec<u8>| fs::write(fields.join(format!("{name}_00000{frame}.vtp")), bytes).unwrap();
        write("grains", vtk::grains(&grains, &[Field::Velocity, Field::Group], time));
        let contacts: Vec<ContactRecord> = (0..26)
            .map(|a| ContactRecord {
                a,
                b: Partner::Grain(a + 1),
                center: grains.position[a as usize],
                point: [0.0; 3],
                branch: [0, 1, 2].map(|k| grains.position[a as usize][k] - grains.position[a as usize + 1][k]),
                normal: [1.0, 0.0, 0.0],
                overlap: 0.0,
                normal_force: [f64::from(a), 0.0, 0.0],
                tangential_force: [0.0; 3],
            })
            .collect();
        if frame == 1 {
            let path = folder.path().join("contacts");
            fs::create_dir(&path).unwrap();
            fs::write(path.join("contacts_000001.vtp"), vtk::contacts(&contacts, &[true; 26], time)).unwrap();
        }
        write("walls", vtk::walls(std::slice::from_ref(&plane), Some([[-1.0; 3], [1.0; 3]]), time));
    }
    folder
}

fn refusal(folder: &Path, options: PictureOptions) -> ViewError {
    picture(folder, &options).expect_err("a refusal")
}

#[test]
fn a_run_folder_becomes_a_png_of_the_size_asked_for() {
    let folder = run_folder();
    for (field, view, shown) in [
        (None, None, Shown::Grains),
        (Some("velocity_x"), Some([0.0, 0.0, 1.0]), Shown::Grains),
        (Some("group"), Some([1.0, 0.0, 0.0]), Shown::Grains),
        (None, None, Shown::Contacts),
        (None, None, Shown::ForceChains),
    ] {
        let options = PictureOptions {
            shown,
            size: (320, 200),
            field: field.map(str::to_string),
            view,
            ..PictureOptions::default()
        };
        let bytes = picture(folder.path(), &options).unwrap();
        let image = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        assert_eq!(image.info().size(), (320, 200));
    }
}

#[test]
fn fluids_are_drawn_beside_grains_and_alone() {
    let folder = run_folder();
    let fields = folder.path().join("fields");
    let dry = picture(folder.path(), &small(Shown::Grains)).unwrap();
    let fluid = FluidSnapshot {
        id: (0..9).collect(),
        kind: (0..9).map(|id| id % 2).collect(),
        position: (0..9).map(|id| [0.001 * f64::from(id), -0.003, 0.002]).collect(),
        velocity: vec![[0.001, 0.0, 0.0]; 9],
        density: vec![1000.0; 9],
        pressure: (0..9).map(f64::from).collect(),
    };
    let water = vtk::fluid(&fluid, 0.001, &PeriodicCell::open(), 0.01);
    fs::write(fields.join("fluid_000001.vtp"), water).unwrap();
    let of = |field: &str| PictureOptions {
        field: Some(field.to_owned()),
        ..small(Shown::Grains)
    };
    let wet = picture(folder.path(), &small(Shown::Grains)).unwrap();
    assert!(wet != dry);
    // Grains have no density and fluids no group; both are drawn all the same.
    for field in ["density", "group", "fluid", "pressure"] {
        assert!(picture(folder.path(), &of(field)).unwrap() != wet, "{field}");
    }
    for frame in 0..2 {
        fs::remove_file(fields.join(format!("grains_00000{frame}.vtp"))).unwrap();
    }
    let alone = picture(folder.path(), &of("pressure")).unwrap();
    assert!(alone != picture(folder.path(), &of("fluid")).unwrap());
    let unknown = refusal(folder.path(), of("group")).to_string();
    assert!(unknown.contains("pressure") && unknown.contains("density"), "{unknown}");
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_remedy() {
    let folder = run_folder();
    let small = PictureOptions {
        size: (128, 96),
        ..PictureOptions::default()
    };
    let of = |options: PictureOptions| refusal(folder.path(), options).to_string();
    let unknown = of(PictureOptions {
        field: Some("sped".into()),
        ..small.clone()
    });
    assert!(
        unknown.contains("\"sped\"") && unknown.contains("velocity") && unknown.contains("radius"),
        "{unknown}"
    );
    assert!(
        of(PictureOptions {
            frame: Some(2),
            ..small.clone()
        })
        .contains("0 to 1")
    );
    assert!(
        of(PictureOptions {
            size: (128, 100_000),
            ..small.clone()
        })
        .contains("64 to 4096")
    );
    assert!(
        of(PictureOptions {
            view: Some([0.0; 3]),
            ..small.clone()
        })
        .contains("direction")
    );
    assert!(
        of(PictureOptions {
            range: Some((1.0, 1.0)),
            ..small.clone()
        })
        .contains("range")
    );
    let without_contacts = of(PictureOptions {
        frame: Some(0),
        shown: Shown::Contacts,
        ..small.clone()
    });
    assert!(
        without_contacts.contains("contacts_000000.vtp") && without_contacts.contains("contacts = true"),
        "{without_contacts}"
    );
    let last = folder.path().join("fields/grains_000001.vtp");
    let bytes = fs::read(&last).unwrap();
    fs::write(&last, &bytes[..bytes.len() / 2]).unwrap();
    assert!(of(small.clone()).contains("grains_000001.vtp"));
    assert!(
        picture(
            folder.path(),
            &PictureOptions {
                frame: Some(0),
                ..small.clone()
            }
        )
        .is_ok()
    );
    // A film skips the damaged frame, unless there is no other.
    let film = Film::new(folder.path(), small.clone(), &[0, 1]).unwrap();
    assert_eq!(film.frames().iter().map(|(frame, _)| *frame).collect::<Vec<_>>(), [0]);
    assert!(film.damaged()[0].to_string().contains("grains_000001.vtp"), "{:?}", film.damaged());
    assert!(Film::new(folder.path(), small.clone(), &[1]).is_err());
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(refusal(empty.path(), small.clone()), ViewError::NoFrames { .. }));
    for (path, word) in [(empty.path().join("nowhere"), "no such folder"), (last, "this is a file")] {
        let refused = refusal(&path, small.clone()).to_string();
        assert!(refused.contains(word) && refused.contains("seixo run"), "{refused}");
    }
}

#[test]
fn a_recording_without_some_of_its_frames_is_numbered_by_those_that_are_there() {
    let folder = run_folder();
    let read = || {
        let recording = Recording::open(folder.path()).unwrap();
        let shown = recording.frame(&PictureOptions::default(), None).unwrap().unwrap();
        (recording.frames(), shown.number, shown.time)
    };
    let (frames, number, time) = read();
    assert_eq!((frames, number), (Some(2), 1));
    fs::remove_file(folder.path().join("fields/grains_000000.vtp")).unwrap();
    assert_eq!(read(), (Some(1), 0, time));
}

const BREAKS: &str = "time [s],first,second,x [m],y [m],z [m],energy [J],kind (0 glue),mode (0 tension; 1 bending; 2 shear)\n";
const EARLY: &str = "0.004,0,1,0.001,0.002,0.004,1e-6,0.0,2.0\n";

/// As [`run_folder`], with bonds in the last frame and two bond breaks, one before it and one after.
fn bonded_folder() -> tempfile::TempDir {
    let folder = run_folder();
    let bonds: Vec<BondSnapshot> = (0..18)
        .map(|first| BondSnapshot {
            kind: first % 2,
            grains: [first, first + 9],
            ends: [first, first + 9].map(|i| [i % 3, i / 3 % 3, i / 9].map(|k| 0.002 * f64::from(k))),
            force: [f64::from(first), 0.0, 0.0],
            tension: -f64::from(first),
            shear: 0.0,
            bending: 1e-3,
            torsion: 0.0,
            energy: 1e-6,
            utilization: 0.05 * f64::from(first),
        })
        .collect();
    fs::write(folder.path().join("fields/bonds_000001.vtp"), vtk::bonds(&bonds, 0.01)).unwrap();
    write_breaks(folder.path(), &format!("{EARLY}0.02,1,2,0.003,0,0,1e-6,0.0,0.0\n"));
    folder
}

fn write_breaks(folder: &Path, lines: &str) {
    fs::write(folder.join("bonds.csv"), format!("{BREAKS}{lines}")).unwrap();
}

fn small(shown: Shown) -> PictureOptions {
    PictureOptions {
        shown,
        size: (320, 200),
        ..PictureOptions::default()
    }
}

#[test]
fn bonds_are_drawn_by_any_field_of_theirs() {
    let folder = bonded_folder();
    let plain = picture(folder.path(), &small(Shown::Bonds)).unwrap();
    let of = |field: &str| PictureOptions {
        field: Some(field.to_owned()),
        ..small(Shown::Bonds)
    };
    assert!(picture(folder.path(), &of("utilization")).unwrap() == plain);
    for field in ["tension", "bending", "force", "kind"] {
        assert!(picture(folder.path(), &of(field)).unwrap() != plain, "{field}");
    }
    let unknown = refusal(folder.path(), of("strain")).to_string();
    assert!(
        ["\"strain\"", "utilization", "torsion", "kind"]
            .iter()
            .all(|word| unknown.contains(word)),
        "{unknown}"
    );
    // The first frame was written without bonds.
    let first = PictureOptions {
        frame: Some(0),
        ..small(Shown::Bonds)
    };
    let missing = refusal(folder.path(), first).to_string();
    assert!(
        missing.contains("bonds_000000.vtp") && missing.contains("[bonds.NAME]"),
        "{missing}"
    );
}

#[test]
fn cracks_are_those_until_the_frame_and_colored_by_how_they_broke() {
    let folder = bonded_folder();
    let cracks = BondBreaks::until(folder.path(), 0.01).unwrap();
    assert_eq!(cracks.modes, ["tension", "bending", "shear"]);
    assert_eq!(cracks.breaks, [(DVec3::new(0.001, 0.002, 0.004), 2)]);
    assert!(BondBreaks::until(folder.path(), 0.0).unwrap().breaks.is_empty());
    assert_eq!(BondBreaks::until(folder.path(), 0.02).unwrap().breaks.len(), 2);

    let drawn = |has_bonds: bool| picture(folder.path(), &small(Shown::BondBreaks { has_bonds })).unwrap();
    let alone = drawn(false);
    assert!(alone != drawn(true), "bonds are among them");
    write_breaks(folder.path(), EARLY);
    assert!(alone == drawn(false), "what breaks later is not seen");
    write_breaks(folder.path(), "0.004,0,1,0.001,0.002,0.004,1e-6,0.0,0.0\n");
    assert!(alone != drawn(false), "another mode has another color");

    for (lines, phrase) in [
        ("0.004,0,1,0.001,0.002,0.004,1e-6,0.0,7.0\n", "mode 7"),
        ("0.004,0,1,0.001,x,0.004,1e-6,0.0,1.0\n", "cell 5"),
        ("0.004,0\n", "cell 9"),
    ] {
        write_breaks(folder.path(), lines);
        let refused = refusal(folder.path(), small(Shown::BondBreaks { has_bonds: false })).to_string();
        assert!(refused.contains("bonds.csv:2") && refused.contains(phrase), "{refused}");
    }
    fs::remove_file(folder.path().join("bonds.csv")).unwrap();
    let missing = refusal(folder.path(), small(Shown::BondBreaks { has_bonds: true }));
    assert!(matches!(missing, ViewError::NoBonds { .. }), "{missing}");
}

#[test]
fn the_largest_fragments_have_colors_of_their_own() {
    let folder = run_folder();
    let path = folder.path().join("fields/grains_000001.vtp");
    let mut grains = GrainSnapshot {
        id: (0..27).collect(),
        position: (0..27).map(|i| [0.002 * f64::from(i), 0.0, 0.0]).collect(),
        radius: vec![0.001; 27],
        ..GrainSnapshot::default()
    };
    let options = PictureOptions {
        field: Some("fragment".into()),
        ..small(Shown::Grains)
    };
    let mut drawn = |fragment: Vec<u32>| {
        grains.fragment = fragment;
        fs::write(&path, vtk::grains(&grains, &[Field::Fragment], 0.01)).unwrap();
        picture(folder.path(), &options).unwrap()
    };
    let whole = drawn(vec![0; 27]);
    assert!(whole != drawn((0..27).map(|id| id / 9 * 9).collect()));
    assert!(whole != drawn((0..27).collect()), "more than the legend holds");
}
