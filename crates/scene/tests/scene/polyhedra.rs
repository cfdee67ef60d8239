//! Polyhedral grains in scenes: shapes by numbers and by meshes, and refused keys.

use crate::loaded::GLASS;
use glam::{DQuat, DVec3};
use seixo_engine::{Simulation, WorldError};
use seixo_scene::{Diagnostics, InletTotals, Scene, load_text};
use std::path::Path;

/// A scene with two grains of a shape with these keys, in a folder.
fn stones_in(folder: &Path, keys: &str, more: &str) -> Result<Scene, Diagnostics> {
    let text = format!(
        "{GLASS}[shape.stone]\n{keys}\n[grains.stones]\nmaterial = \"glass\"\nshape = \"stone\"\nat = [[0, 0, 1], [0, 0, 90]]\n{more}\n"
    );
    load_text(&text, &folder.join("scene.toml"), &[])
}

/// The same with a polyhedron that needs no file.
fn stones(keys: &str) -> Result<Scene, Diagnostics> {
    stones_in(Path::new(""), &format!("kind = \"polyhedron\"\n{keys}"), "")
}

/// Widths of a grain along x, y and z, as it lies in the world.
fn widths(scene: &Scene, grain: usize) -> DVec3 {
    let grains = &scene.world.grains;
    let shape = &scene.world.shapes[grains.shape[grain] as usize - 1];
    let [w, x, y, z] = grains.orientation[grain];
    let turn = DQuat::from_xyzw(x, y, z, w);
    let places = shape.vertices.iter().map(|vertex| turn * DVec3::from(*vertex));
    let high = places.clone().reduce(DVec3::max).unwrap();
    let low = places.reduce(DVec3::min).unwrap();
    (high - low + 2.0 * shape.rounding) * grains.radius[grain]
}

/// A prism along z of radius and height 1, as an OBJ file of triangles. Its lower end has no fan for the first `open` corners.
fn prism(sides: usize, open: usize) -> String {
    let mut text = String::new();
    for height in [0.0, 1.0] {
        for side in 0..sides {
            let (sine, cosine) = (std::f64::consts::TAU * side as f64 / sides as f64).sin_cos();
            text += &format!("v {cosine} {sine} {height}\n");
        }
    }
    for side in 0..sides {
        let (a, b) = (side + 1, (side + 1) % sides + 1);
        text += &format!("f {a} {b} {}\nf {a} {} {}\n", b + sides, b + sides, a + sides);
    }
    for side in 2..sides {
        text += &format!("f {} {} {}\n", sides + 1, sides + side, sides + side + 1);
        if side >= open + 2 {
            text += &format!("f 1 {} {side}\n", side + 1);
        }
    }
    text
}

#[test]
fn a_box_has_its_faces_where_the_scene_puts_them() {
    let scene = stones("box = [40, 20, 10]\nrounding = 2\nunit = \"mm\"").expect("a sound scene");
    let (grains, shapes) = (&scene.world.grains, &scene.world.shapes);
    assert_eq!((grains.len(), shapes.len(), &grains.shape[..]), (2, 1, &[1, 1][..]));
    assert_eq!((shapes[0].name.as_str(), shapes[0].flaw()), ("stone", None));
    assert_eq!([shapes[0].vertices.len(), shapes[0].edges.len(), shapes[0].faces.len()], [8, 12, 6]);
    assert!(
        widths(&scene, 0).distance(DVec3::new(0.04, 0.02, 0.01)) < 1e-9,
        "{}",
        widths(&scene, 0)
    );
    let radius = (18.0f64 * 18.0 + 8.0 * 8.0 + 3.0 * 3.0).sqrt() + 2.0;
    assert!((grains.radius[0] - 1e-3 * radius).abs() < 1e-12);
    // Steiner's formula for the core of 36 x 16 x 6 with a radius of 2, at 2500 kg/m³.
    let pi = std::f64::consts::PI;
    let volume = 3456.0 + 2.0 * (36.0 * 16.0 + 16.0 * 6.0 + 6.0 * 36.0) * 2.0 + pi * 4.0 * 58.0 + 4.0 / 3.0 * pi * 8.0;
    assert!((grains.masses[&0] / (2500.0 * volume * 1e-9) - 1.0).abs() < 1e-9);
}

#[test]
fn orientation_and_radius_are_those_of_the_section() {
    let turned = "radius = 5\norientation = { axis = [0, 0, 1], angle = \"90 deg\" }";
    let keys = "kind = \"polyhedron\"\nbox = [4, 2, 1]\nrounding = 0.2";
    let scene = stones_in(Path::new(""), keys, turned).expect("a sound scene");
    assert_eq!(scene.world.grains.radius, [5.0, 5.0]);
    let found = widths(&scene, 1);
    assert!(
        (found.y / found.x - 2.0).abs() < 1e-9 && (found.x / found.z - 2.0).abs() < 1e-9,
        "{found}"
    );
    // The shape itself may be rotated, too.
    let rotated = format!("{keys}\nrotate = {{ axis = [0, 1, 0], angle = \"90 deg\" }}");
    let scene = stones_in(Path::new(""), &rotated, "").expect("a sound scene");
    assert!(widths(&scene, 0).distance(DVec3::new(1.0, 2.0, 4.0)) < 1e-9);
}

#[test]
fn orientations_of_snapshots_are_those_of_the_drawn_shape() {
    // Neither the axes of the box nor those of the rotated shape are in the order of its principal axes.
    let keys = "kind = \"polyhedron\"\nbox = [4, 2, 1]\nrounding = 0.2\nrotate = { axis = [0, 1, 0], angle = \"90 deg\" }";
    let turned =
        "orientation = { axis = [1, 2, -2], angle = \"40 deg\" }\n[grains.dust]\nmaterial = \"glass\"\nat = [[0, 0, 50]]\nradius = 1";
    let scene = stones_in(Path::new(""), keys, turned).expect("a sound scene");
    let grains = Simulation::new(scene.world, scene.settings).expect("a sound world").snapshot();
    let expected = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -2.0) / 3.0, 40f64.to_radians());
    let found = grains.drawn_orientation();
    for (k, &[w, x, y, z]) in found.iter().enumerate() {
        let of_grain = if grains.shape[k] > 0 { expected } else { DQuat::IDENTITY };
        let apart = DQuat::from_xyzw(x, y, z, w).angle_between(of_grain);
        assert!(apart < 1e-7, "{k}: {apart} rad");
    }
    assert!(found.len() == 3 && grains.orientation[1] != found[1], "{found:?}");
}

#[test]
fn each_source_gives_a_sound_shape() {
    let sources = [
        ("tetrahedron = 2\nrounding = 0.1", 4),
        ("cylinder = { radius = 1, height = 2 }\nrounding = 0.1", 14),
        ("cylinder = { radius = 1, height = 2, sides = 16 }\nrounding = 0.1", 18),
        ("capsule = { radius = 1, length = 4 }", 0),
        ("tablet = { radius = 4, band = 2, cap = 1 }\nrounding = 0.3", 84),
    ];
    for (keys, faces) in sources {
        let scene = stones(keys).unwrap_or_else(|found| panic!("{keys}: {found}"));
        let shape = &scene.world.shapes[0];
        assert_eq!((shape.flaw(), shape.faces.len()), (None, faces), "{keys}");
    }
    let rock = |keys: &str| {
        let scene = stones(&format!("rock = {{ widths = [3, 2, 1.5]{keys} }}\nrounding = 0.1")).expect("a sound scene");
        assert_eq!(scene.world.shapes[0].flaw(), None);
        scene.world.shapes[0].clone()
    };
    assert_eq!(rock(""), rock(""));
    assert_ne!(rock(", seed = 7"), rock(", seed = 8"));
}

#[test]
fn a_mesh_becomes_the_polyhedron_around_it_with_as_many_faces_as_wanted() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("prism.obj"), prism(30, 0)).unwrap();
    let keys = "kind = \"polyhedron\"\nmesh = \"prism.obj\"\nrounding = 0.05";
    let whole = stones_in(folder.path(), keys, "").expect("a sound scene");
    assert_eq!(whole.world.shapes[0].faces.len(), 32);
    let simple = stones_in(folder.path(), &format!("{keys}\nfaces = 12"), "").expect("a sound scene");
    assert!(simple.world.shapes[0].faces.len() <= 12);
    let notices = simple.notices.join("\n");
    assert!(notices.contains("of 32 faces are left"), "{notices}");
}

/// A box with these corners as an OBJ file.
fn block(low: [f64; 3], high: [f64; 3]) -> String {
    let mut text = String::new();
    for k in 0..8 {
        let [x, y, z] = [0, 1, 2].map(|axis| if (k >> axis) & 1 == 1 { high[axis] } else { low[axis] });
        text += &format!("v {x} {y} {z}\n");
    }
    text + "f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\nf 3 8 4\nf 1 5 7\nf 1 7 3\nf 2 4 8\nf 2 8 6\n"
}

#[test]
fn several_meshes_are_one_grain_of_several_parts() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("stem.obj"), block([-0.5, -0.5, 0.0], [0.5, 0.5, 4.0])).unwrap();
    std::fs::write(folder.path().join("foot.obj"), block([-0.5, -0.5, 0.0], [2.5, 0.5, 1.0])).unwrap();
    let keys = "kind = \"polyhedron\"\nparts = [\"stem.obj\", \"foot.obj\"]\nrounding = 0.1";
    let scene = stones_in(folder.path(), keys, "").expect("a sound scene");
    let shape = &scene.world.shapes[0];
    assert_eq!((shape.flaw(), shape.parts.len()), (None, 2));
    assert_eq!([shape.vertices.len(), shape.edges.len(), shape.faces.len()], [16, 24, 12]);
    assert!(
        widths(&scene, 0).distance(DVec3::new(3.0, 1.0, 4.0)) < 1e-6,
        "{}",
        widths(&scene, 0)
    );
    // Both bars less what they share, with round edges.
    let volume = scene.world.grains.masses[&0] / 2500.0;
    assert!((5.7..6.0).contains(&volume), "{volume}");
    let none = stones_in(folder.path(), "kind = \"polyhedron\"\nparts = []\nrounding = 0.1", "")
        .expect_err("no parts")
        .plain();
    for phrase in ["a shape of 0 parts", "1 to 64", "help: list the meshes of the parts, as in parts ="] {
        assert!(none.contains(phrase), "no `{phrase}` in\n{none}");
    }
}

#[test]
fn polyhedra_come_through_inlets() {
    let text = format!(
        "{GLASS}[shape.stone]\nkind = \"polyhedron\"\nbox = [4, 2, 1]\nrounding = 0.2\n[grains.rain]\nmaterial = \"glass\"\nshape = \"stone\"\n\
         inlet = {{ through = {{ box = {{ min = [0, 0, 1], max = [1, 1, 2] }} }}, rate = \"20 1/s\", radius = 0.05, velocity = [0, 0, -1] }}\n"
    );
    let scene = load_text(&text, Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!((scene.world.grains.len(), scene.world.shapes.len()), (0, 1));
    assert_eq!(scene.world.later.grains[0].shape, Some(0));
    let mut simulation = Simulation::new(scene.world.clone(), scene.settings.clone()).expect("a sound world");
    let (inlet, mut totals) = (&scene.plan.inlets[0], InletTotals::default());
    inlet.pour(1, 10.0, &mut totals, &mut simulation).expect("there is space");
    let stones = simulation.polyhedra();
    assert!(stones.len() >= 8 && totals.count as usize == stones.len(), "{totals:?}");
    assert!(stones.iter().all(|stone| stone.shape == 0 && stone.radius == 0.05));
    assert_ne!(stones[0].orientation, stones[1].orientation);
    let mass = scene.world.shapes[0].mass(0.05, 2500.0);
    assert!((totals.mass / (mass * totals.count as f64) - 1.0).abs() < 1e-12, "{totals:?}");
    // A clump still does not.
    let clump = text.replace(
        "kind = \"polyhedron\"\nbox = [4, 2, 1]\nrounding = 0.2",
        "spheres = [{ at = [0, 0, 0], radius = 1 }]",
    );
    let message = load_text(&clump, Path::new("scene.toml"), &[]).expect_err("a clump").plain();
    assert!(message.contains("clumps do not come through inlets"), "{message}");
}

#[test]
fn impossible_polyhedra_are_refused_with_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let flat = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.3 0.3 1e-6\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    let tetrahedron = |x: f64, y: f64, z: f64| {
        format!(
            "v {x} {y} {z}\nv {} {y} {z}\nv {x} {} {z}\nv {x} {y} {}\n",
            x + 1.0,
            y + 1.0,
            z + 1.0
        )
    };
    let twice = format!(
        "{}{}f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 5 7 6\nf 5 6 8\nf 6 7 8\nf 7 5 8\n",
        tetrahedron(0.0, 0.0, 0.0),
        tetrahedron(0.2, 0.1, 0.15)
    );
    let meshes = [
        ("open.obj", prism(12, 3)),
        ("flat.obj", flat.to_owned()),
        ("crossing.obj", twice),
        ("round.obj", prism(40, 0)),
    ];
    for (name, text) in meshes {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let cases: &[(&str, &str, &[&str])] = &[
        ("mesh = \"open.obj\"\nrounding = 0.1", "", &["the mesh is open at", "close it"]),
        ("mesh = \"flat.obj\"\nrounding = 0.1", "", &["the points are flat"]),
        (
            "mesh = \"crossing.obj\"\nrounding = 0.1",
            "",
            &["the mesh crosses itself", "repair it"],
        ),
        (
            "mesh = \"round.obj\"\nrounding = 0.05",
            "",
            &["a face has 40 corners", "32 corners"],
        ),
        (
            "box = [1, 1, 1]\nrounding = 0.6",
            "",
            &["the rounding radius is 0.6 m", "from 0.0000867 m to 0.316 m", "such as 0.0634 m"],
        ),
        ("box = [1, 1, 1]", "", &["`rounding` is missing"]),
        ("box = [1, 1, 1e-6]\nrounding = 1e-7", "", &["the points are flat"]),
        ("rounding = 0.1", "", &["exactly one of", "box = [1, 1, 1]"]),
        (
            "box = [1, 1, 1]\ntetrahedron = 1\nrounding = 0.1",
            "",
            &["exactly one of", "keep one"],
        ),
        ("box = [1, 1, 1]\nfaces = 5\nrounding = 0.1", "", &["`faces` simplifies meshes"]),
        (
            "box = [1, 1, 1]\nrounding = 0.1\nspheres = [{ at = [0, 0, 0], radius = 1 }]",
            "",
            &["`spheres` is for clumps"],
        ),
        (
            "box = [1, 1, 1]\nrounding = 0.1\nsolid = { volume = 1, center = [0, 0, 0], inertia = [1, 1, 3, 0, 0, 0] }",
            "",
            &["no solid has the principal moments", "sum of the two others"],
        ),
        (
            "box = [1, 1, 1]\nrounding = 0.1\nsolid = { volume = 1, center = [2, 0, 0], inertia = [1, 1, 1, 0, 0, 0] }",
            "",
            &["the center of mass [2, 0, 0] is outside of the shape", "correct the center"],
        ),
        (
            "capsule = { radius = 1, length = 4 }\nsolid = { volume = 14, center = [0, 0, 9], inertia = [20, 20, 7, 0, 0, 0] }",
            "",
            &["the center of mass [0, 0, 9] is outside of the shape"],
        ),
        (
            "box = [1, 1, 1]\nrounding = 0.1\nsolid = { volume = 1, center = [0, 0, 0], inertia = [5, 5, 5, 0, 0, 0] }",
            "",
            &["must add up to at most 2", "check the numbers of `solid`"],
        ),
        (
            "box = [1, 1, 1]\nrounding = 0.1\nsolid = { volume = 1000, center = [0, 0, 0], inertia = [300, 300, 300, 0, 0, 0] }",
            "",
            &["must be positive and at most 4.1888"],
        ),
        (
            "box = [1, 1, 1]\nrounding = 1e-8",
            "",
            &["the rounding radius is 0.00000001 m", "from 0.0000867 m to 0.316 m"],
        ),
        (
            "capsule = { radius = 1, length = 2 }",
            "",
            &["a capsule of length 2 and radius 1", "above 2"],
        ),
        (
            "capsule = { radius = 1, length = 30000 }",
            "",
            &[
                "a capsule of length 30000 and radius 1",
                "accepted: at most 20000",
                "help: write a smaller length, or a larger radius",
            ],
        ),
        ("capsule = { radius = 1, length = 4 }\nrounding = 1", "", &["is its radius"]),
        (
            "tablet = { radius = 1, band = 1, cap = 2 }\nrounding = 0.1",
            "",
            &["caps of height 2"],
        ),
        (
            "cylinder = { radius = 1, height = 1, sides = 40 }\nrounding = 0.1",
            "",
            &["from 3 to 16"],
        ),
    ];
    for (keys, more, phrases) in cases {
        let found = stones_in(folder.path(), &format!("kind = \"polyhedron\"\n{keys}"), more).expect_err(keys);
        let message = found.plain();
        for phrase in *phrases {
            assert!(message.contains(phrase), "{keys}: no `{phrase}` in\n{message}");
        }
        assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "{keys}: no remedy in\n{message}");
    }
    let clump = "spheres = [{ at = [0, 0, 0], radius = 1 }]\nrounding = 0.1";
    let message = stones_in(folder.path(), clump, "").expect_err("a clump").plain();
    assert!(message.contains("`rounding` is for polyhedra"), "{message}");
}

#[test]
fn rounding_radii_have_one_range_and_its_limits_are_possible() {
    let shape = |rounding: &str| stones(&format!("box = [16, 16, 16]\nunit = \"mm\"\nrounding = {rounding}"));
    for outside in ["0.0001", "0.00138", "5.08", "7.9"] {
        let message = shape(outside).expect_err(outside).plain();
        let found = format!("the rounding radius is {outside} mm");
        for phrase in [found.as_str(), "from 0.00139 mm to 5.07 mm", "such as 1.01 mm"] {
            assert!(message.contains(phrase), "{outside}: no `{phrase}` in\n{message}");
        }
    }
    for inside in ["0.00139", "1.01", "5.07"] {
        shape(inside).unwrap_or_else(|found| panic!("{inside}: {found}"));
    }
}

#[test]
fn what_polyhedra_do_not_go_with_is_shown_at_its_key() {
    let keys = "kind = \"polyhedron\"\nbox = [4, 2, 1]\nrounding = 0.2";
    let explained = |scene: &Scene, refusal: &WorldError| {
        let found = scene.source.explain(refusal);
        found.unwrap_or_else(|| panic!("{refusal} has no place")).plain()
    };
    let rolling = "friction = 0.3\nrolling = { law = \"elastic_plastic\", coefficient = 0.1 }";
    let stones = format!("[shape.stone]\n{keys}\n[grains.stones]\nmaterial = \"glass\"\nshape = \"stone\"\nat = [[0, 0, 1]]\n");
    let text = GLASS.replace("friction = 0.3", rolling) + &stones;
    let scene = load_text(&text, Path::new("scene.toml"), &[]).expect("sound keys");
    let refusal = Simulation::new(scene.world.clone(), scene.settings.clone())
        .map(|_| ())
        .unwrap_err();
    let message = explained(&scene, &refusal);
    for phrase in [
        "scene.toml:11:",
        "rolling = {",
        "glass-glass: rolling does not go with polyhedral grains",
        "help: leave it out",
    ] {
        assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
    }
    let floor = "[wall.floor]\nmaterial = \"glass\"\nplane = { point = [0, 0, -50], normal = [0, 0, 1] }\nspecific_wear_rate = 1e-13";
    let scene = stones_in(Path::new(""), keys, floor).expect("a sound scene");
    let refusal = Simulation::new(scene.world.clone(), scene.settings.clone())
        .map(|_| ())
        .unwrap_err();
    let message = explained(&scene, &refusal);
    for phrase in [
        "specific_wear_rate = 1e-13",
        "wall floor: wear does not go with polyhedral grains yet",
        "help: leave specific_wear_rate, or wear_coefficient and hardness, out",
    ] {
        assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
    }
}

#[test]
fn a_wall_that_polyhedra_do_not_go_with_is_the_one_that_is_shown() {
    let keys = "kind = \"polyhedron\"\nbox = [4, 2, 1]\nrounding = 0.2";
    let floor = "[wall.floor]\nmaterial = \"glass\"\nplane = { point = [0, 0, -50], normal = [0, 0, 1] }";
    let tube = "[wall.tube]\nmaterial = \"glass\"\ncylinder = { from = [0, 0, -60], to = [0, 0, 160], radius = 60, caps = [";
    let cases: [(&str, &[&str]); 3] = [
        (
            "\"from\"] }",
            &[
                "scene.toml:",
                "cylinder = { from",
                "wall tube: it is open",
                "help: close both ends of the cylinder or cone with caps",
            ],
        ),
        (
            "\"from\", \"to\"] }\nsurface_velocity = [0, 0, 1]",
            &["surface_velocity = [0, 0, 1]", "wall tube: its surface velocity"],
        ),
        (
            "\"from\", \"to\"] }\n[grains.beside]\nmaterial = \"glass\"\nshape = \"stone\"\nat = [[99, 0, 0]]",
            &[
                "cylinder = { from",
                "wall tube: polyhedral grain 0 at",
                "help: move the grain or the wall",
            ],
        ),
    ];
    for (rest, phrases) in cases {
        let scene = stones_in(Path::new(""), keys, &format!("{floor}\n{tube}{rest}")).unwrap_or_else(|found| panic!("{found}"));
        let refusal = Simulation::new(scene.world.clone(), scene.settings.clone())
            .map(|_| ())
            .expect_err(rest);
        let message = scene.source.explain(&refusal).expect("a place").plain();
        for phrase in phrases {
            assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
        }
    }
}

#[test]
fn overlaps_at_the_start_are_shares_of_the_rounding_radius() {
    let keys = "kind = \"polyhedron\"\nbox = [4, 2, 1]\nrounding = 0.2";
    let close = "[grains.other]\nmaterial = \"glass\"\nshape = \"stone\"\nat = [[0, 0, 1.85]]";
    let scene = stones_in(Path::new(""), keys, close).expect("sound keys");
    let refusal = Simulation::new(scene.world, scene.settings).map(|_| ()).unwrap_err();
    let message = scene.source.explain(&refusal).expect("a place").plain();
    for phrase in ["75.0 % of the smaller rounding radius", "a larger `rounding`", "run.overlap_limit"] {
        assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
    }
}

#[test]
fn defects_of_meshes_are_refused_with_the_file_or_part_and_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let cube = block([0.0; 3], [1.0; 3]);
    let faces: String = cube
        .lines()
        .filter(|line| line.starts_with('f'))
        .map(|line| format!("{line}\n"))
        .collect();
    // Two squares, each from both sides with other diagonals.
    let sheets = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 3\nv 1 0 3\nv 1 0 4\nv 0 0 4\n\
                  f 1 2 3\nf 1 3 4\nf 2 1 4\nf 2 4 3\nf 5 6 7\nf 5 7 8\nf 6 5 8\nf 6 8 7\n";
    let around: Vec<DVec3> = (0..200)
        .map(|k| {
            let height = 1.0 - (2.0 * f64::from(k) + 1.0) / 200.0;
            let (sine, cosine) = (2.399_963 * f64::from(k)).sin_cos();
            DVec3::new(sine, cosine, 0.0) * (1.0 - height * height).sqrt() + DVec3::Z * height
        })
        .collect();
    let mut ball = String::new();
    for (k, triangle) in seixo_analysis::Polyhedron::around(&around).unwrap().triangles().iter().enumerate() {
        for [x, y, z] in triangle {
            ball += &format!("v {x} {y} {z}\n");
        }
        ball += &format!("f {} {} {}\n", 3 * k + 1, 3 * k + 2, 3 * k + 3);
    }
    let files = [
        ("void.obj", sheets.to_owned()),
        ("twice.obj", format!("{cube}{faces}")),
        ("turned.obj", cube.replace("f 1 3 4", "f 3 1 4")),
        ("infinite.obj", cube.replace("v 0 0 0", "v nan 0 0")),
        ("huge.obj", block([0.0; 3], [1e21; 3])),
        ("plate.obj", block([0.0; 3], [1.0, 1.0, 0.1])),
        ("grain.obj", block([0.0; 3], [1e-3; 3])),
        ("away.obj", block([10.0, 7.0, 4.0], [10.001, 7.001, 4.001])),
        ("open.obj", cube.replace("f 1 3 4\n", "")),
        ("ball.obj", ball),
        ("cube.obj", cube),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let many = format!("parts = [{}]\nrounding = 0.01", ["\"ball.obj\""; 64].join(", "));
    let cases: [(&str, &[&str]); 10] = [
        ("mesh = \"void.obj\"\nrounding = 0.1", &["the volume is", "check the mesh"]),
        (
            "mesh = \"twice.obj\"\nrounding = 0.1",
            &["more than two triangles meet at 18 edges", "split the mesh there"],
        ),
        (
            "mesh = \"turned.obj\"\nrounding = 0.1",
            &["triangles face different sides at 3 edges", "turn them"],
        ),
        (
            "mesh = \"infinite.obj\"\nrounding = 0.1",
            &["infinite.obj", "not a corner of three finite numbers"],
        ),
        (
            "mesh = \"huge.obj\"\nrounding = 1e20",
            &["the size is 1.000e21", "from 1e-20 to 1e20", "use another unit"],
        ),
        (
            "parts = [\"cube.obj\", \"plate.obj\"]\nrounding = 0.2",
            &["part 1: the rounding radius is 0.2 m", "to 0.047"],
        ),
        (
            "parts = [\"cube.obj\", \"open.obj\"]\nrounding = 0.1",
            &["part 1: the mesh is open at"],
        ),
        (
            "parts = [\"grain.obj\", \"away.obj\"]\nrounding = 1e-4",
            &["too small for their distance", "check the positions"],
        ),
        (many.as_str(), &["the parts have", "32767 of each", "write `faces`"]),
        (
            "parts = [\"cube.obj\", \"plate.obj\"]\nrounding = 1e-9",
            &["the rounding radius is 0.000000001 m", "to 0.047"],
        ),
    ];
    for (keys, phrases) in cases {
        let found = stones_in(folder.path(), &format!("kind = \"polyhedron\"\n{keys}"), "").expect_err(keys);
        let message = found.plain();
        for phrase in phrases {
            assert!(message.contains(phrase), "{keys}: no `{phrase}` in\n{message}");
        }
        assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "{keys}: no remedy in\n{message}");
    }
}

#[test]
fn a_concave_mesh_is_cut_into_parts_or_taken_as_the_polyhedron_around_it() {
    let folder = tempfile::tempdir().unwrap();
    // An angle of two bars: 5 in area, and 7 around it.
    let corners = [[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]];
    let mut angle = String::new();
    for height in [0, 1] {
        for [x, y] in corners {
            angle += &format!("v {x} {y} {height}\n");
        }
    }
    angle += "f 6 5 4 3 2 1\nf 7 8 9 10 11 12\n";
    for side in 1..=6 {
        let next = side % 6 + 1;
        angle += &format!("f {side} {next} {} {}\n", next + 6, side + 6);
    }
    std::fs::write(folder.path().join("angle.obj"), angle).unwrap();
    let refused = stones_in(folder.path(), "kind = \"polyhedron\"\nmesh = \"angle.obj\"\nrounding = 0.1", "").expect_err("concave");
    let message = refused.plain();
    for phrase in [
        "the mesh is concave: the polyhedron around it is 40.0 % larger",
        "at most 20 %",
        "parts = [\"angle.obj\"]",
    ] {
        assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
    }
    let keys = "kind = \"polyhedron\"\nparts = [\"angle.obj\"]\nrounding = 0.1";
    let scene = stones_in(folder.path(), keys, "").expect("a sound scene");
    assert_eq!((scene.world.shapes[0].faces.len(), scene.world.shapes[0].parts.len()), (7, 0));
    let notices = scene.notices.join("\n");
    assert!(notices.contains("is 40.0 % larger"), "{notices}");
}

/// A scene with a wedge of a volume of 1.5 that is cut into 20 blocks, with these keys of the section and of its blocks.
fn wedge(keys: &str, of_blocks: &str) -> Result<Scene, Diagnostics> {
    let text = format!(
        "{GLASS}[bonds.joints]\namong = [\"rock\"]\nyoungs_modulus = 1e6\none_piece = true\n[grains.rock]\nmaterial = \"glass\"\n{keys}\n\
         [grains.rock.blocks]\nbox = {{ min = [0, 0, 0], max = [2, 1, 1] }}\n\
         cuts = [{{ point = [2, 0, 0], normal = [-1, 0, -1] }}]\ncount = 20\n{of_blocks}\n"
    );
    load_text(&text, Path::new("scene.toml"), &[])
}

#[test]
fn blocks_fill_a_solid_and_bonds_join_their_faces() {
    let scene = wedge("", "rounding = 0.01").expect("a sound scene");
    let (grains, shapes) = (&scene.world.grains, &scene.world.shapes);
    assert_eq!((grains.len(), shapes.len()), (20, 20));
    assert!(shapes.iter().all(|shape| shape.flaw().is_none()));
    assert!((1..=20).all(|shape| grains.shape.contains(&shape)), "{:?}", grains.shape);
    // Only round edges and corners are missing.
    let share = grains.masses.values().sum::<f64>() / (2500.0 * 1.5);
    assert!(share < 1.0 && share > 0.98, "{share}");
    // The same seed gives the same blocks, another one others.
    let again = load_text(&scene.resolved, Path::new("scene.toml"), &[]).expect("a sound scene");
    assert_eq!((&again.world.grains, &again.world.shapes), (grains, shapes));
    let other = wedge("", "rounding = 0.01\nseed = 2").expect("a sound scene");
    assert_ne!(&other.world.shapes, shapes);
    let mut simulation = Simulation::new(scene.world, scene.settings).expect("a sound world");
    // All hang together, so there are 19 bonds at least.
    let [made, intact] = simulation.bond_counts();
    assert!(made >= 19 && intact == made, "{made}");
    // Neighbors touch without overlap: nothing moves.
    simulation.advance(100).expect("sound steps");
    assert!(simulation.ledger().kinetic < 1e-6, "{:?}", simulation.ledger());
    assert_eq!(simulation.bond_counts(), [made; 2]);
}

#[test]
fn polyhedra_on_joints_are_bodies_of_their_own() {
    let keys = "kind = \"polyhedron\"\nbox = [4, 2, 1]\nrounding = 0.2";
    let hinge = "joint = { hinge = { through = [0, 0, 3], axis = [0, 1, 0] } }";
    let turned = format!("{hinge}\norientation = {{ axis = [0, 1, 0], angle = \"30 deg\" }}\nangular_velocity = [0, 0.02, 0]");
    let scene = stones_in(Path::new(""), keys, &turned).expect("a sound scene");
    let (grains, shape) = (&scene.world.grains, &scene.world.shapes[0]);
    assert_eq!(grains.bodies.len(), 2);
    for (k, body) in grains.bodies.iter().enumerate() {
        assert_eq!(
            (body.carries.as_slice(), body.center),
            (&[(grains.id[k], [0.0; 3])][..], grains.position[k])
        );
        assert_eq!((body.mass, body.orientation), (grains.masses[&grains.id[k]], grains.orientation[k]));
        assert_eq!(body.moments, shape.moments_of_inertia(body.mass, grains.radius[k]));
    }
    // Two meters below and 87 m above the axis.
    for ([x, y, z], expected) in grains.velocity.iter().zip([-0.04, 1.74]) {
        assert!((x - expected).abs() < 1e-12 && y.abs() < 1e-12 && z.abs() < 1e-12, "{x} {y} {z}");
    }
    let mut simulation = Simulation::new(scene.world, scene.settings).expect("a sound world");
    simulation.advance(100).expect("sound steps");
    let [x, _, z] = simulation.polyhedra()[0].center;
    assert!((x.hypot(z - 3.0) - 2.0).abs() < 1e-12, "{x} {z}");
    let message = stones_in(Path::new(""), keys, &format!("{hinge}\nangular_velocity = [1, 0, 0]"))
        .expect_err("it cannot turn about x")
        .plain();
    assert!(message.contains("its hinge lets through"), "{message}");
}

#[test]
fn clumps_move_beside_polyhedra() {
    let clumps = "[shape.rod]\nspheres = [{ at = [-1, 0, 0], radius = 1 }, { at = [1, 0, 0], radius = 1 }]\n\
                  [grains.rods]\nmaterial = \"glass\"\nshape = \"rod\"\nat = [[0, 0, 20]]\n";
    let keys = "kind = \"polyhedron\"\nbox = [4, 2, 1]\nrounding = 0.2";
    let scene = stones_in(Path::new(""), keys, clumps).expect("a sound scene");
    let grains = &scene.world.grains;
    assert_eq!((&grains.shape[..], grains.bodies.len()), (&[0, 0, 1, 1][..], 1));
    let mut simulation = Simulation::new(scene.world, scene.settings).expect("a sound world");
    simulation.advance(100).expect("sound steps");
    assert_eq!((simulation.bodies().len(), simulation.polyhedra().len()), (1, 2));
}

#[test]
fn fixed_polyhedra_and_blocks_form_one_body_that_rests() {
    let keys = "kind = \"polyhedron\"\nbox = [4, 2, 1]\nrounding = 0.2";
    let stones = stones_in(Path::new(""), keys, "fixed = true").expect("a sound scene");
    let slope = |keys: &str| {
        let text = format!(
            "{GLASS}[grains.rock]\nmaterial = \"glass\"\n{keys}\n\
             [grains.rock.blocks]\nbox = {{ min = [0, 0, 0], max = [2, 1, 1] }}\ncount = 20\nrounding = 0.01\n"
        );
        load_text(&text, Path::new("scene.toml"), &[]).expect("a sound scene")
    };
    for (scene, speed) in [
        (stones, 0.0),
        (slope("fixed = true"), 0.0),
        (slope("motion = { translate = [0, 0, \"1 m/s\"] }"), 1.0),
    ] {
        let grains = &scene.world.grains;
        assert!(grains.shape.iter().all(|&shape| shape > 0));
        let [body] = &grains.bodies[..] else {
            panic!("one body: {:?}", grains.bodies)
        };
        let carried: Vec<u32> = body.carries.iter().map(|(id, _)| *id).collect();
        assert_eq!(carried, grains.id);
        assert!((body.mass / grains.masses.values().sum::<f64>() - 1.0).abs() < 1e-12);
        let motion = body.motion.as_ref().expect("prescribed motion");
        assert_eq!(motion.velocity, [0.0, 0.0, speed]);
        let (before, gravity) = (scene.world.grains.position.clone(), scene.world.gravity);
        let mut simulation = Simulation::new(scene.world, scene.settings).expect("a sound world");
        simulation.advance(10).expect("sound steps");
        let way = speed * simulation.time();
        for (now, then) in simulation.snapshot().position.iter().zip(&before) {
            assert!((now[2] - then[2] - way).abs() < 1e-9, "{now:?} {then:?} in gravity {gravity:?}");
        }
    }
}

/// A scene of two stones, a third one that comes late, and a ball, with these keys of the stones and these stages.
fn staged(keys: &str, stages: &[&str]) -> Result<Scene, Diagnostics> {
    let stage = |(k, actions): (usize, &&str)| format!("[[stage]]\nname = \"{k}\"\nuntil = \"duration 0.1 s\"\n{actions}\n");
    let stages: String = stages.iter().enumerate().map(stage).collect();
    let late = "[grains.late]\nmaterial = \"glass\"\nshape = \"stone\"\nat = [[20, 0, 1]]";
    let ball = "[grains.ball]\nmaterial = \"glass\"\nradius = 1\nat = [[40, 0, 0]]";
    let shape = "kind = \"polyhedron\"\nbox = [4, 2, 1]\nrounding = 0.2";
    stones_in(Path::new(""), shape, &format!("{keys}\n{late}\n{ball}\n{stages}"))
}

#[test]
fn stages_add_polyhedra_and_set_them_free() {
    let scene = staged("", &["", "add = [\"grains.late\"]"]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!((&scene.plan.reserve.shape[..], scene.world.grains.len()), (&[1][..], 3));
    let mut simulation = Simulation::new(scene.world, scene.settings).expect("a sound world");
    simulation.insert(&scene.plan.reserve).expect("it was announced");
    simulation.advance(10).expect("sound steps");
    assert_eq!(simulation.polyhedra().len(), 3);
    staged("fixed = true", &["", "set.grains.stones.fixed = false"]).unwrap_or_else(|found| panic!("{found}"));
    let held_for_a_time = ["set.grains.stones.fixed = true", "set.grains.stones.fixed = false"];
    staged("", &held_for_a_time).unwrap_or_else(|found| panic!("{found}"));
}

#[test]
fn no_group_is_disabled_beside_polyhedra_and_one_error_says_so() {
    for group in ["stones", "ball"] {
        let stages = [true, false].map(|is_disabled| format!("set.grains.{group}.disabled = {is_disabled}"));
        let found = staged("", &stages.each_ref().map(String::as_str)).expect_err(group);
        let message = found.plain();
        assert_eq!(found.list().len(), 1, "{message}");
        for phrase in [
            format!("stage 0: grains {group}: no group can be disabled in a world with polyhedral grains yet"),
            "help: remove the grains".to_owned(),
        ] {
            assert!(message.contains(&phrase), "no `{phrase}` in\n{message}");
        }
    }
}

#[test]
fn a_wrong_shape_is_one_error_wherever_it_is_used() {
    let section = "[grains.bed]\nmaterial = \"glass\"\nshape = \"die\"\nfill = { region = { box = { min = [0, 0, 0], max = [0.2, 0.2, 0.2] } }, count = 9 }";
    let rest = "[probe.first]\nposition = 3\n[probe.middle]\ngroup_center = \"bed\"";
    for (shape, error) in [
        ("kind = \"polyhedron\"\nbox = [16, 16, 16]\nunit = \"mm\"", "`rounding` is missing"),
        ("spheres = []\nunit = \"mm\"", "a shape of 0 spheres"),
    ] {
        let text = format!("{GLASS}[shape.die]\n{shape}\n{section}\n{rest}\n");
        let found = load_text(&text, Path::new("scene.toml"), &[]).expect_err(error);
        let message = found.plain();
        assert!(found.list().len() == 1 && message.contains(error), "{message}");
    }
}

#[test]
fn ids_of_bodies_are_for_bodies() {
    let output = |field: &str| staged(&format!("[output]\nfields = [\"{field}\"]"), &[]);
    let message = output("body").expect_err("no bodies").plain();
    assert!(message.contains("\"body\" is for scenes with clumps"), "{message}");
    output("orientation").unwrap_or_else(|found| panic!("{found}"));
}

#[test]
fn blocks_that_cannot_be_are_refused() {
    let cases = [
        ("radius = 1", "rounding = 0.01", "`radius` does not go with `blocks`"),
        ("at = [[0, 0, 0]]", "rounding = 0.01", "exactly one of"),
        ("", "rounding = 0.5", "the rounding radius is"),
        ("", "rounding = 0.01\nrelaxations = 101", "from 0 to 100"),
    ];
    for (keys, of_blocks, phrase) in cases {
        let message = wedge(keys, of_blocks).expect_err(phrase).plain();
        assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
    }
}
