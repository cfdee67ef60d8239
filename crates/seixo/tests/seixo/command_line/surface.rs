//! Free surfaces of fluids: meshes of frames during a run and afterwards, and pictures of them.

use crate::command_line::stage::Stage;
use seixo::files::mesh_in;
use std::collections::BTreeMap;

/// A column of water that begins to collapse: 384 particles, and wall particles.
const COLUMN: &str = r#"
title = "Little column"
[run]
until = "40 ms"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[fluid.water]
density = "1000 kg/m^3"
artificial_viscosity = 0.05
support = 2.4
fill = { box = { min = [0, 0, 0], max = ["16 cm", "12 cm", "16 cm"] } }
spacing = "2 cm"
[wall.tank]
box = { min = [0, 0, 0], max = ["40 cm", "12 cm", "24 cm"], open = ["top"] }
[output]
every = "20 ms"
"#;

/// A cube of water without gravity, and a tap so far away that no grid can contain both.
const APART: &str = r#"
[run]
until = "40 ms"
[world]
gravity = [0, 0, 0]
[fluid.water]
density = "1000 kg/m^3"
artificial_viscosity = 0.05
support = 2.4
fill = { box = { min = [0, 0, 0], max = ["16 cm", "16 cm", "16 cm"] } }
spacing = "2 cm"
fastest = "2 m/s"
[inlet.tap]
through = { disc = { center = [1e6, 1e6, 1e6], normal = [0, 0, -1], radius = "3 cm" } }
speed = "1 m/s"
[output]
every = "20 ms"
surface = true
"#;

/// A layer of water between periodic sides, 192 particles.
const LAYER: &str = r#"
[run]
until = "2 ms"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[world.domain]
min = [0, 0, "-10 cm"]
max = ["16 cm", "12 cm", "30 cm"]
sides = ["periodic", "periodic", "open"]
[fluid.water]
density = "1000 kg/m^3"
artificial_viscosity = 0.05
support = 2.4
fill = { box = { min = [0, 0, 0], max = ["16 cm", "12 cm", "8 cm"] } }
spacing = "2 cm"
fastest = "1 m/s"
[wall.floor]
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[output]
every = "2 ms"
surface = true
"#;

/// Returns the surfaces in a run folder, by name.
fn surfaces(stage: &Stage, run: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = stage.results(run);
    files.retain(|name, _| name.starts_with("fields/surface"));
    files
}

/// Returns the part of surfaces that does not depend on fields, which frames store in single precision.
fn shapes(surfaces: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let texts = surfaces.values().map(|bytes| String::from_utf8_lossy(bytes));
    let is_shape = |line: &&str| {
        ["position", "normals", "connectivity"]
            .iter()
            .any(|name| line.contains(&format!("Name=\"{name}\"")))
    };
    texts
        .flat_map(|text| text.lines().filter(is_shape).map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// Volume enclosed by triangles \[m³\].
fn volume(triangles: &[[[f64; 3]; 3]]) -> f64 {
    let six_fold = triangles
        .iter()
        .map(|[a, b, c]| a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]));
    six_fold.sum::<f64>() / 6.0
}

#[test]
fn surfaces_are_the_same_as_the_run_goes_and_afterwards_on_any_number_of_threads() {
    let stage = Stage::new();
    stage.write("column.toml", COLUMN);
    stage.succeed("run column.toml --quiet --threads 1");
    assert!(surfaces(&stage, "column.out").is_empty());
    let reported = stage.succeed("surface column.out --all --threads 1").out;
    let one_by_one = surfaces(&stage, "column.out");
    let names: Vec<&str> = one_by_one.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "fields/surface.pvd",
            "fields/surface_000000.vtp",
            "fields/surface_000001.vtp",
            "fields/surface_000002.vtp"
        ]
    );
    assert_eq!(reported.lines().count(), 4, "{reported}");
    let list = stage.read("column.out/fields/surface.pvd");
    assert!(list.contains(r#"timestep="0.0" part="0" file="surface_000000.vtp""#), "{list}");
    stage.succeed("surface column.out --all --threads 3");
    assert!(surfaces(&stage, "column.out") == one_by_one);

    stage.write(
        "flowing.toml",
        &COLUMN.replace("every = \"20 ms\"", "every = \"20 ms\"\nsurface = true"),
    );
    stage.succeed("run flowing.toml --quiet --threads 2");
    let as_it_went = surfaces(&stage, "flowing.out");
    assert_eq!(as_it_went.keys().map(String::as_str).collect::<Vec<_>>(), names);
    assert_eq!(shapes(&as_it_went).len(), 9);
    assert!(shapes(&as_it_went) == shapes(&one_by_one));
    assert!(stage.read("flowing.out/scene.toml").contains("surface = true"));
    assert!(stage.read("column.out/scene.toml").contains("surface = false"));
    // A run in the same folder removes the files of the earlier run.
    stage.write("flowing.toml", COLUMN);
    let said = stage.succeed("run flowing.toml --force").out;
    assert!(
        said.trim_end()
            .ends_with("or ParaView (flowing.out/fields/fluid.pvd, flowing.out/fields/walls.pvd)"),
        "{said}"
    );
    assert!(surfaces(&stage, "flowing.out").is_empty());
}

#[test]
fn a_surface_between_periodic_sides_is_two_sheets_afterwards_too() {
    let stage = Stage::new();
    stage.write("layer.toml", LAYER);
    stage.succeed("run layer.toml --quiet");
    let as_it_went = surfaces(&stage, "layer.out");
    let reported = stage.succeed("surface layer.out --all").out;
    assert!(shapes(&surfaces(&stage, "layer.out")) == shapes(&as_it_went));
    // 8 × 6 × 4 particles, each of 8 cm³; nothing is rounded off.
    let share = reported
        .lines()
        .next()
        .and_then(|line| line.split(" enclosed, ").nth(1)?.split(' ').next()?.parse::<f64>().ok());
    assert!(share.is_some_and(|share| (98.0..102.0).contains(&share)), "{reported}");
    stage.succeed("surface layer.out --frame 0 --out layer.obj");
    let triangles = mesh_in::read(&stage.path("layer.obj")).unwrap();
    // Cubes have an edge of 1 cm, so each sheet has two triangles per square; no triangle is normal to a side.
    let heights = |triangle: &[[f64; 3]; 3]| triangle.map(|[_, _, z]| z);
    assert!(triangles.len() >= 2 * 2 * 16 * 12, "{}", triangles.len());
    for triangle in &triangles {
        let [a, b, c] = heights(triangle);
        assert!(a.max(b).max(c) - a.min(b).min(c) < 0.005, "{triangle:?}");
    }
}

#[test]
fn a_surface_that_no_grid_holds_is_left_out_and_the_run_goes_on() {
    let stage = Stage::new();
    stage.write("apart.toml", APART);
    let done = stage.succeed("run apart.toml --threads 1");
    let said = format!("{}{}", done.out, done.err);
    let reported: Vec<&str> = said.lines().filter(|line| line.contains("shows no surface")).collect();
    // The first frame without a surface is at 10 ms. A short run may end before the warning; the one at the end counts all frames.
    let last = reported.last().expect("it is reported");
    assert!(
        reported.len() <= 2 && last.contains("surface_000002.vtp") && last.contains("so far: 2"),
        "{said}"
    );
    let log = stage.read("apart.out/log.jsonl");
    assert!(log.contains("shows no surface: no grid holds all particles of fluid 0"), "{log}");
    let is_empty = |frame: u32| {
        stage
            .read(&format!("apart.out/fields/surface_{frame:06}.vtp"))
            .contains("NumberOfPolys=\"0\"")
    };
    assert_eq!([0, 1, 2].map(is_empty), [false, true, true]);
    assert!(stage.read("apart.out/fields/surface.pvd").contains("surface_000002.vtp"));
}

#[test]
fn meshes_hold_the_water_that_there_is_and_pictures_show_them() {
    let stage = Stage::new();
    stage.write("column.toml", COLUMN);
    stage.succeed("run column.toml --quiet");
    let reported = stage.succeed("surface column.out --frame 0 --out column.ply").out;
    // 8 × 6 × 8 particles, each of 8 cm³.
    assert!(
        reported.contains("column.ply") && reported.contains("3.0720e-3 m³ of fluid"),
        "{reported}"
    );
    for name in ["column.ply", "column.obj", "column.stl"] {
        stage.succeed(&format!("surface column.out --frame 0 --out {name}"));
        let triangles = mesh_in::read(&stage.path(name)).unwrap();
        let held = volume(&triangles) / 3.072e-3;
        // Edges of a box with a width of six to eight particles are rounded off.
        assert!((0.95..1.03).contains(&held), "{name}: {held}");
        let corners = triangles.as_flattened();
        let highest = corners.iter().map(|corner| corner[2]).fold(0.0, f64::max);
        // Near its rim a surface is a tenth of a spacing higher.
        assert!((highest - 0.16).abs() < 0.003, "{name}: {highest} m");
    }
    stage.succeed("surface column.out --all --format stl --out meshes --cube-size 1 --smooth 0");
    assert!(mesh_in::read(&stage.path("meshes/surface_000002.stl")).unwrap().len() > 100);
    assert!(!stage.path("meshes/surface.pvd").exists());

    stage.succeed("surface column.out --field velocity --out fast.vtp");
    let text = stage.read("fast.vtp");
    assert!(text.contains(r#"Name="velocity""#) && !text.contains(r#"Name="pressure""#));

    stage.succeed("picture column.out --surface --size 320x200 --out water.png");
    stage.succeed("picture column.out --surface --field pressure --size 320x200 --out pressure.png");
    let [water, pressure] = ["water.png", "pressure.png"].map(|name| std::fs::read(stage.path(name)).unwrap());
    assert!(&water[1..4] == b"PNG" && water != pressure);
}

#[test]
fn surfaces_that_cannot_be_are_refused_with_a_remedy() {
    let stage = Stage::new();
    stage.write("column.toml", COLUMN);
    stage.succeed("run column.toml --quiet --until 1ms");
    stage.succeed("run heap.toml --quiet --until 1ms");
    for (line, phrases) in [
        ("surface nowhere.out", &["nowhere.out"][..]),
        ("surface heap.out", &["heap.out", "no fluid", "[fluid.NAME]"]),
        ("surface column.out --frame 9", &["frame 9 does not exist", "0 to"]),
        ("surface column.out --frame 0 --all", &["cannot be used with"]),
        (
            "surface column.out --smoothing-length 9",
            &["fluid_0000", "smoothing length", "0.8 to 4", "drops"],
        ),
        ("surface column.out --cube-size 0", &["size of cubes", "0.1 to 1", "0.5 is usual"]),
        ("surface column.out --threshold 2", &["threshold is 2", "leave it out"]),
        ("surface column.out --smooth 999", &["0 to 200"]),
        ("surface column.out --field heat", &["heat", "velocity"]),
        ("surface column.out --out water", &["water: the ending says no format", "--format"]),
        ("picture heap.out --surface", &["fluid_0000", "[fluid.NAME]"]),
        ("picture column.out --surface --contacts", &["cannot be used with"]),
    ] {
        let done = stage.seixo(line);
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        for phrase in phrases {
            assert!(done.err.contains(phrase), "{line}: no `{phrase}` in {}", done.err);
        }
    }
    let last = stage.path("column.out/fields/fluid_000000.vtp");
    let bytes = std::fs::read(&last).unwrap();
    std::fs::write(&last, &bytes[..bytes.len() / 2]).unwrap();
    let cut = stage.seixo("surface column.out --frame 0");
    assert_eq!(cut.code, 2);
    assert!(cut.err.contains("fluid_000000.vtp") && cut.err.contains("cut off"), "{}", cut.err);
}
