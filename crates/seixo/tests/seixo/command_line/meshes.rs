//! Meshes in `seixo info`: content, defects, and errors of damaged files.

use crate::command_line::stage::{HEAP, Stage};
use serde_json::{Value, json};

/// A cube with an edge of 1 m and a corner at the origin, as OBJ; its faces are squares with outward normals.
const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 4 1 5 8\nf 2 3 7 6\n";

fn reported(stage: &Stage, name: &str, text: &str) -> Value {
    stage.write(name, text);
    serde_json::from_str(&stage.succeed(&format!("info {name} --json")).out).unwrap()
}

#[test]
fn info_names_what_is_odd_about_a_mesh_and_where() {
    let stage = Stage::new();
    let sound = reported(&stage, "cube.obj", CUBE);
    assert_eq!((&sound["format"], &sound["triangles"]), (&json!("OBJ"), &json!(12)));
    assert_eq!(
        (&sound["edges"], &sound["connected_parts"], &sound["is_closed"]),
        (&json!(18), &json!(1), &json!(true))
    );
    assert_eq!((&sound["min"], &sound["max"]), (&json!([0.0, 0.0, 0.0]), &json!([1.0, 1.0, 1.0])));
    for odd in [
        "open_edges",
        "edges_of_triangles_that_disagree",
        "edges_of_more_than_two_triangles",
        "without_area",
    ] {
        assert_eq!(sound[odd], json!(0), "{odd}");
    }

    // The last face is missing, and the first one has an inward normal.
    let broken = CUBE.replace("f 1 4 3 2", "f 1 2 3 4").replace("f 2 3 7 6\n", "");
    let broken = reported(&stage, "broken.obj", &broken);
    assert_eq!((&broken["open_edges"], &broken["is_closed"]), (&json!(4), &json!(false)));
    // The missing face has the second edge of the first face. The first and the third face traverse their common edge in the same direction.
    assert_eq!(broken["first_open_edge"], json!([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]));
    assert_eq!(broken["edges_of_triangles_that_disagree"], json!(3));
    assert_eq!(
        broken["first_edge_of_triangles_that_disagree"],
        json!([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    );

    // A triangle on an edge of two faces, and a degenerate triangle.
    let finned = reported(&stage, "finned.obj", &format!("{CUBE}v 2 0 2\nf 5 6 9\nf 1 9 9\n"));
    assert_eq!(finned["edges_of_more_than_two_triangles"], json!(1));
    assert_eq!(
        finned["first_edge_of_more_than_two_triangles"],
        json!([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    );
    assert_eq!(
        (&finned["without_area"], &finned["first_without_area"]["number"]),
        (&json!(1), &json!(14))
    );
    assert_eq!(finned["connected_parts"], json!(2));

    let facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";
    let two = format!(
        "solid a\n{facet}endsolid a\nsolid b\n{}endsolid b\n",
        facet.replace(" 0\nvertex", " 3\nvertex")
    );
    let two = reported(&stage, "two.stl", &two);
    assert_eq!((&two["solids"], &two["triangles"]), (&json!(2), &json!(2)));
    // The text output leaves out missing items.
    let words = stage.succeed("info cube.obj").out;
    assert!(words.contains("open edges") && !words.contains("first open edge"), "{words}");
}

#[test]
fn info_ends_with_a_summary_on_what_a_mesh_can_be_used_for() {
    let stage = Stage::new();
    let turned = CUBE.replace("f 1 4 3 2", "f 1 2 3 4");
    let open = CUBE.replace("f 2 3 7 6\n", "");
    for (name, text, region, summary) in [
        (
            "cube.obj",
            CUBE,
            true,
            "closed and oriented: usable as wall, as body and as region to fill",
        ),
        (
            "turned.obj",
            turned.as_str(),
            true,
            "closed, not oriented: usable as wall, and, with 2 of 12 triangles taken turned over",
        ),
        (
            "open.obj",
            open.as_str(),
            false,
            "not closed: usable as wall, and as body with the mass of its spheres; not as region",
        ),
    ] {
        let found = reported(&stage, name, text);
        let uses = json!({ "wall": true, "body": true, "region": region });
        assert_eq!(found["usable_as"], uses, "{name}");
        let words = stage.succeed(&format!("info {name}")).out;
        let last = words.trim_end().lines().last().unwrap();
        assert!(last.starts_with("verdict") && last.contains(summary), "{name}: {last}");
    }
    // A region is filled if `summary` permits it, and refused with the same reason otherwise.
    let fill = |mesh: &str| {
        HEAP.replace(
            "box = { min = [\"-25 mm\", \"-25 mm\", \"1 mm\"], max = [\"25 mm\", \"25 mm\", \"70 mm\"] } }",
            &format!("mesh = {{ file = \"{mesh}\", scale = 0.02 }} }}"),
        )
    };
    stage.write("filled.toml", &fill("open.obj"));
    let refused = stage.seixo("check filled.toml").err;
    assert!(
        refused.contains("the mesh is not closed: 1 triangles meet at the edge"),
        "{refused}"
    );

    stage.write("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
    let done = stage.seixo("info line.obj");
    assert_eq!(done.code, 2, "{}", done.out);
    assert!(
        done.out.contains("usable for nothing: no triangle of the mesh has an area"),
        "{}",
        done.out
    );
}

#[test]
fn info_blames_a_broken_mesh_as_what_it_is_meant_to_be() {
    let stage = Stage::new();
    for (name, text, expected) in [
        (
            "a.stl",
            "facet normal 0 0 1\n",
            "a.stl:1: `facet normal 0 0 1` stands where a text STL",
        ),
        (
            "b.stl",
            "solid a\nendsolid a\nthe end\n",
            "b.stl:3: `the end` stands where a text STL",
        ),
        ("c.stl", "x y z\n1 2 3\n", "c.stl:1: `x y z` stands where a text STL"),
        ("d.obj", "v 0 0 0\nf 1 2 3\n", "d.obj:2: `2` names none of the 1 corners"),
        ("e.ply", "ply\nformat ascii 1.0\n", "e.ply:2: the header does not end"),
    ] {
        stage.write(name, text);
        let done = stage.seixo(&format!("info {name}"));
        assert_eq!(done.code, 2, "{name}: {}", done.out);
        assert!(done.err.contains(expected), "{name}: {}", done.err);
        for other in ["binary", "column", "checkpoint"] {
            assert!(!done.err.contains(other), "{name}: {}", done.err);
        }
    }
}

/// A floor of two adjacent solids, each of two triangles.
fn floor() -> String {
    let solid = |name: &str, low: f64, high: f64| {
        let facet = |corners: [[f64; 2]; 3]| {
            let vertices: String = corners.iter().map(|[x, y]| format!("   vertex {x} {y} 0\n")).collect();
            format!(" facet normal 0 0 1\n  outer loop\n{vertices}  endloop\n endfacet\n")
        };
        let halves = [
            facet([[low, 0.0], [high, 0.0], [high, 0.1]]),
            facet([[low, 0.0], [high, 0.1], [low, 0.1]]),
        ];
        format!("solid {name}\n{}endsolid {name}\n", halves.concat())
    };
    solid("left", 0.0, 0.05) + &solid("right", 0.05, 0.1)
}

#[test]
fn every_solid_of_a_floor_holds_a_ball() {
    let stage = Stage::new();
    stage.write("two_solids.stl", &floor());
    let grains = ["left", "right"].map(|name| {
        let x = if name == "left" { "2.5 cm" } else { "7.5 cm" };
        format!(
            "[grains.{name}]\nmaterial = \"g\"\nat = [[\"{x}\", \"5 cm\", \"1 cm\"]]\nradius = \"5 mm\"\n[probe.{name}]\ngroup_center = \"{name}\"\nevery = \"10 ms\"\n"
        )
    });
    let start = "[run]\nuntil = \"0.3 s\"\n[world]\ngravity = [0, 0, \"-9.81 m/s^2\"]\n[material.g]\ndensity = \"2500 kg/m^3\"\nyoungs_modulus = \"5 MPa\"\npoisson_ratio = 0.3\n[interaction.g-g]\nrestitution = 0.3\nfriction = 0.3\n[wall.floor]\nmaterial = \"g\"\nmesh = \"two_solids.stl\"\n";
    stage.write("two.toml", &format!("{start}{}", grains.concat()));
    stage.succeed("run two.toml --quiet");
    for name in ["left", "right"] {
        let table = stage.read(&format!("two.out/probes/{name}.csv"));
        let height: f64 = table.lines().last().unwrap().rsplit(',').next().unwrap().parse().unwrap();
        // The weight of 13 mN causes an overlap of some hundredths of a millimeter with a ball of 5 MPa.
        assert!((height - 5e-3).abs() < 5e-5, "{name}: {height}");
    }
}

#[test]
fn check_and_info_print_how_large_walls_and_bodies_are() {
    let stage = Stage::new();
    // A block of 10 × 20 × 30, drawn in millimeters.
    let faces = CUBE.lines().filter(|line| line.starts_with('f'));
    let corners = CUBE.lines().filter_map(|line| line.strip_prefix("v "));
    let drawn = corners.map(|corner| {
        let edges = corner.split(' ').zip([10, 20, 30]);
        let edges: Vec<String> = edges
            .map(|(share, edge)| (share.parse::<i32>().unwrap() * edge).to_string())
            .collect();
        format!("v {}", edges.join(" "))
    });
    let drawn: Vec<String> = drawn.chain(faces.map(str::to_owned)).collect();
    let drawn = drawn.join("\n");
    let words = reported(&stage, "drawn.obj", &drawn)["size"].as_str().unwrap().to_owned();
    assert_eq!(
        words,
        "10.0 m × 20.0 m × 30.0 m; with unit = \"mm\" in a scene 10.0 mm × 20.0 mm × 30.0 mm"
    );

    let dice = "[shape.die]\nmesh = \"drawn.obj\"\nunit = \"mm\"\nspheres = { radius = 2.5, fill = \"solid\" }\n[grains.dice]\nmaterial = \"clay\"\nshape = \"die\"\nat = [[0, 0, \"20 cm\"]]\n";
    let part = "[wall.part]\nmaterial = \"clay\"\nmesh = \"drawn.obj\"\nmove = [0, 0, \"-1 km\"]\n";
    stage.write("dice.toml", &format!("{HEAP}{dice}{part}"));
    let words = stage.succeed("check dice.toml").out;
    for phrase in [
        // 6 cm³ of 2.5 g/cm³; its moments are m/12 times the squares of two edges. The outermost of its spheres is at (2.5, 7.5, 12.5) mm.
        "dice, the heaviest: 48 spheres, 10.0 mm × 20.0 mm × 30.0 mm along its principal axes, bounding radius 17.3 mm, 15.0 g",
        "moments of inertia 1.625e-6, 1.250e-6, 6.250e-7 kg m²",
        "part: mesh of 12 triangles, 10.0 m × 20.0 m × 30.0 m, from (0 m, 0 m, -1.00 km) to (10.0 m, 20.0 m, -970 m)",
        "box.bottom: plane through (-25.0 mm, -25.0 mm, 0 m), grains on the side of (0.000, 0.000, 1.000)",
        "note: wall.part: its mesh is 30.000 m long",
        "note: wall.part: no grain can reach it, as it is behind wall.box.",
    ] {
        assert!(words.contains(phrase), "no `{phrase}` in\n{words}");
    }
    let found: Value = serde_json::from_str(&stage.succeed("check dice.toml --json").out).unwrap();
    let mass = found["body_sizes"][0]["mass"].as_f64().unwrap();
    assert!((mass / 0.015 - 1.0).abs() < 1e-9, "{mass}");
    let part = found["wall_sizes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|wall| wall["wall"] == "part")
        .unwrap();
    assert_eq!(part["bounds"], json!([[0.0, 0.0, -1000.0], [10.0, 20.0, -970.0]]));
}
