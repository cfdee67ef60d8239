//! Scenes that start from another run.

use crate::command_line::stage::Stage;
use seixo::files::vtk::{VtkPoints, read_grains, read_polyhedra};

/// Thirty grains fall into a box.
const FILL: &str = r#"
[run]
until = "40 ms"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "20 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.5
friction = 0.4
[grains.bed]
material = "clay"
fill = { region = { box = { min = ["-10 mm", "-10 mm", "0.1 mm"], max = ["10 mm", "10 mm", "20 mm"] } }, count = 30, radius = "2 mm" }
[wall.box]
material = "clay"
box = { min = ["-10 mm", "-10 mm", 0], max = ["10 mm", "10 mm", "60 mm"], open = ["top"] }
[output]
every = "20 ms"
"#;

/// The scene without its fill, and with these keys of the start.
fn next(start: &str) -> String {
    let lines = FILL.lines().filter(|line| !line.starts_with("fill = "));
    let rest: Vec<&str> = lines.collect();
    format!("{}\n[start]\nfrom = \"fill.out\"\n{start}\n", rest.join("\n"))
}

fn filled() -> Stage {
    let stage = Stage::new();
    stage.write("fill.toml", FILL);
    stage.succeed("run fill.toml --quiet");
    stage
}

fn frame(stage: &Stage, run: &str, frame: u32) -> VtkPoints {
    read_grains(&stage.path(&format!("{run}/fields/grains_{frame:06}.vtp"))).unwrap()
}

#[test]
fn a_run_begins_where_another_ended_and_can_be_resumed() {
    let stage = filled();
    stage.write("next.toml", &next(""));
    stage.succeed("run next.toml --quiet --until 20ms");
    let (last, first) = (frame(&stage, "fill.out", 2), frame(&stage, "next.out", 0));
    assert_eq!(
        (&first.id, &first.position, &first.radius),
        (&last.id, &last.position, &last.radius)
    );
    assert_eq!(first.time, 0.0);
    stage.succeed("run next.toml --quiet --until 10ms --out parted");
    stage.succeed("resume parted --quiet --until 20ms");
    assert_eq!(frame(&stage, "parted", 1), frame(&stage, "next.out", 1));
    // The other run is part of the scene: it may not change before the end.
    stage.succeed("resume fill.out --quiet --until 50ms");
    let refused = stage.seixo("resume parted --quiet --until 40ms");
    assert_eq!(refused.code, 2, "{}", refused.err);
}

#[test]
fn grains_are_cut_thinned_rotated_and_moved() {
    let stage = filled();
    let last = frame(&stage, "fill.out", 2);
    let taken = |keys: &str, out: &str| {
        stage.write("next.toml", &next(keys));
        stage.succeed(&format!("run next.toml --quiet --until 1us --out {out}"));
        frame(&stage, out, 0)
    };
    assert_eq!(taken("every = 3", "third").id, (0..30).step_by(3).collect::<Vec<u32>>());
    let half = taken("share = 0.5", "half");
    assert!((8..23).contains(&half.id.len()), "{} of 30", half.id.len());
    let low = taken(
        "inside = { box = { min = [\"-1 m\", \"-1 m\", \"-1 m\"], max = [\"1 m\", \"1 m\", \"4 mm\"] } }",
        "low",
    );
    let expected: Vec<u32> = (0..30).filter(|&id| last.position[id as usize][2] <= 4e-3).collect();
    assert!(!expected.is_empty() && expected.len() < 30, "{expected:?}");
    assert_eq!(low.id, expected);
    let put = taken("rotate = { axis = [0, 0, 1], angle = \"90 deg\" }\nmove = [0, 0, \"5 mm\"]", "put");
    for (before, now) in last.position.iter().zip(&put.position) {
        let [x, y, z] = *before;
        let apart: f64 = [-y, x, z + 5e-3].iter().zip(now).map(|(a, b)| (a - b).abs()).sum();
        assert!(apart < 1e-12, "{before:?}, {now:?}");
    }
}

#[test]
fn a_frame_gives_grains_without_histories_and_says_so() {
    let stage = filled();
    stage.write("next.toml", &next("frame = 1"));
    let done = stage.succeed("run next.toml --until 1us");
    assert!(
        format!("{}{}", done.out, done.err).contains("no histories of contacts"),
        "{}\n{}",
        done.out,
        done.err
    );
    let (before, now) = (frame(&stage, "fill.out", 1), frame(&stage, "next.out", 0));
    assert_eq!((now.id, now.position), (before.id, before.position));
}

#[test]
fn what_does_not_fit_is_refused_with_a_remedy() {
    let stage = filled();
    let refused = |text: &str, parts: &[&str]| {
        stage.write("next.toml", text);
        let done = stage.seixo("check next.toml");
        assert_eq!(done.code, 2, "{text}\n{}{}", done.out, done.err);
        let said = format!("{}{}", done.out, done.err);
        for part in parts {
            assert!(said.contains(part), "{part} is not in\n{said}");
        }
    };
    refused(
        &next("").replace("[grains.bed]", "[grains.other]"),
        &["group `bed`", "add [grains.bed]", "groups = { bed = \"NAME\" }"],
    );
    refused(
        &next("")
            .replace("[grains.bed]\nmaterial = \"clay\"", "[grains.bed]")
            .replace("clay", "loam"),
        &["no material is named `clay`", "start"],
    );
    refused(&next("groups = { sand = \"bed\" }"), &["no group `sand`", "bed"]);
    refused(&next("every = 2\nshare = 0.5"), &["`every` and `share`", "keep one"]);
    refused(&next("frame = 7"), &["grains_000007.vtp"]);
    refused(&next("").replace("fill.out", "elsewhere"), &["is not a run folder", "seixo run"]);
    refused(
        &next("").replace("[wall.box]", "radius = \"1 mm\"\n[wall.box]"),
        &["`radius`", "of the run", "remove"],
    );
    refused(
        &next("inside = { sphere = { center = [\"9 m\", 0, 0], radius = \"1 m\" } }"),
        &["no grain of the other run is left"],
    );
    // A group of another name here is no error.
    stage.write(
        "next.toml",
        &next("groups = { bed = \"sand\" }").replace("[grains.bed]", "[grains.sand]"),
    );
    stage.succeed("check next.toml");
}

/// A few dice in the box, among grains.
fn dice(rest: &str) -> String {
    let shape = "[shape.die]\nkind = \"polyhedron\"\nbox = [4, 4, 4]\nrounding = 0.6\nunit = \"mm\"";
    let fill =
        "fill = { region = { box = { min = [\"-9 mm\", \"-9 mm\", \"22 mm\"], max = [\"9 mm\", \"9 mm\", \"40 mm\"] } }, count = 4 }";
    format!("{rest}\n{shape}\n[grains.dice]\nmaterial = \"clay\"\nshape = \"die\"\n{fill}\n")
}

#[test]
fn polyhedral_grains_go_on_with_their_shapes() {
    let stage = Stage::new();
    stage.write("fill.toml", &dice(FILL));
    stage.succeed("run fill.toml --quiet");
    // Of the scene that goes on, only the new dice have a shape, which is another one.
    let others = dice("")
        .replace("box = [4, 4, 4]", "box = [4, 3, 2]")
        .replace("grains.dice", "grains.more");
    let others = others.replace("22 mm", "42 mm").replace("40 mm", "58 mm");
    stage.write(
        "next.toml",
        &format!("{}\n{others}\n[grains.dice]\nmaterial = \"clay\"\n", next("")),
    );
    stage.succeed("run next.toml --quiet --until 20ms");
    let surfaces = |run: &str, frame: u32| read_polyhedra(&stage.path(&format!("{run}/fields/polyhedra_{frame:06}.vtp"))).unwrap();
    let of_fill = frame(&stage, "fill.out", 2).id;
    let (last, first) = (surfaces("fill.out", 2), surfaces("next.out", 0));
    let taken: Vec<usize> = (0..first.id.len()).filter(|&k| of_fill.contains(&first.id[k])).collect();
    assert!(!taken.is_empty() && taken.len() == last.id.len() && taken.len() < first.id.len());
    for (&k, before) in taken.iter().zip(0..) {
        let corners = |triangles: &[[u32; 3]], of: &[[f64; 3]], k: usize| triangles[k].map(|corner| of[corner as usize]);
        assert_eq!(first.id[k], last.id[before]);
        assert_eq!(
            corners(&first.triangles, &first.position, k),
            corners(&last.triangles, &last.position, before)
        );
    }
    // A third run starts from the second, with shapes of both.
    let third = next("").replace("fill.out", "next.out");
    stage.write(
        "third.toml",
        &format!("{third}\n[grains.dice]\nmaterial = \"clay\"\n[grains.more]\nmaterial = \"clay\"\n"),
    );
    stage.succeed("run third.toml --quiet --until 1us");
    assert_eq!(surfaces("third.out", 0).position, surfaces("next.out", 1).position);
    stage.write("framed.toml", &next("frame = 1"));
    let refused = stage.seixo("run framed.toml --quiet");
    assert!(refused.code == 2 && refused.err.contains("leave `frame` out"), "{}", refused.err);
}
