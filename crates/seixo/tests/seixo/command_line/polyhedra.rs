//! Polyhedral grains in the files of a run, and in pictures of it.

use crate::command_line::stage::Stage;
use seixo::engine::state::Column;
use seixo::files::layer::Disk;
use seixo::files::{FilesError, checkpoint, vtk};
use std::f64::consts::PI;

const BRICKS: &str = r#"
[run]
until = "1 ms"
[material.stone]
density = 2500
youngs_modulus = 1e7
poisson_ratio = 0.2
[interaction.stone-stone]
restitution = 0.5
friction = 0.3
[shape.brick]
kind = "polyhedron"
box = [8, 4, 2]
rounding = 0.3
unit = "mm"
[grains.bricks]
material = "stone"
shape = "brick"
at = [[0, 0, 0], ["2 cm", 0, 0]]
velocity = [0, 0.5, 0]
[grains.dust]
material = "stone"
at = [["1 cm", 0, 0]]
radius = "1 mm"
[output]
every = "0.25 ms"
"#;

#[test]
fn polyhedral_grains_are_written_and_drawn_with_their_faces() {
    let stage = Stage::new();
    stage.write("bricks.toml", BRICKS);
    stage.succeed("run bricks.toml --quiet");
    let frame = |number: u32| vtk::read_polyhedra(&stage.path(&format!("bricks.out/fields/polyhedra_{number:06}.vtp"))).unwrap();
    let (first, last) = (frame(0), frame(4));
    let grains = vtk::read_grains(&stage.path("bricks.out/fields/grains_000004.vtp")).unwrap();
    assert_eq!((grains.id.len(), last.id.len()), (3, last.triangles.len()));
    // The dust is a sphere.
    let mut shown = last.id.clone();
    shown.dedup();
    assert!(shown.len() == 2 && shown.iter().all(|id| grains.id.contains(id)), "{shown:?}");
    assert!(last.velocity.iter().all(|velocity| *velocity == [0.0, 0.5, 0.0]));
    let moved = 0.5 * (last.time - first.time);
    for (before, after) in first.position.iter().zip(&last.position) {
        let away = [after[0] - before[0], after[1] - before[1] - moved, after[2] - before[2]];
        assert!(moved > 4e-4 && away.iter().all(|x| x.abs() < 1e-12), "{away:?}");
    }

    // A resumed run writes and lists the same files as an uninterrupted one.
    stage.succeed("run bricks.toml --quiet --until 0.0005 --out halves");
    stage.succeed("resume halves --quiet --until 0.001");
    let [whole, halves] = ["bricks.out", "halves"].map(|run| stage.results(run));
    let of_polyhedra: Vec<&String> = whole.keys().filter(|name| name.contains("polyhedra")).collect();
    assert_eq!((of_polyhedra.len(), of_polyhedra[0].as_str()), (6, "fields/polyhedra.pvd"));
    assert!(of_polyhedra.iter().all(|&name| halves.get(name) == whole.get(name)));
    assert!(stage.read("bricks.out/fields/polyhedra.pvd").contains("polyhedra_000004.vtp"));

    let drawn = |how: &str| {
        stage.succeed(&format!("picture bricks.out --size 320x200 --out drawn.png {how}"));
        std::fs::read(stage.path("drawn.png")).unwrap()
    };
    assert!(drawn("") != drawn("--spheres"));
}

#[test]
fn a_table_has_the_orientations_of_polyhedra_and_can_be_a_start() {
    let stage = Stage::new();
    let turning = "orientation = { axis = [1, 2, -1], angle = \"70 deg\" }\nangular_velocity = [400, 100, -800]";
    let fields = "[output]\nfields = [\"velocity\", \"orientation\"]\n";
    let turned = BRICKS.replace("velocity = [0, 0.5, 0]", turning).replace("[output]\n", fields);
    stage.write("bricks.toml", &turned);
    stage.succeed("run bricks.toml --quiet");
    let grains = vtk::read_grains(&stage.path("bricks.out/fields/grains_000004.vtp")).unwrap();
    let (_, orientations, width) = grains.scalars.iter().find(|(name, ..)| name == "orientation").unwrap();
    assert_eq!((*width, orientations.len()), (4, 12));
    let surfaces = |run: &str, frame: u32| vtk::read_polyhedra(&stage.path(&format!("{run}/fields/polyhedra_{frame:06}.vtp"))).unwrap();
    let last = surfaces("bricks.out", 4);
    // The drawn brick ends 4 mm from its center along x: so does the turned one along the turned axis. Orientations have seven digits.
    let brick = grains.id.iter().position(|&id| id == last.id[0]).unwrap();
    let [w, x, y, z] = orientations.as_chunks().0[brick];
    let along = [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)];
    let reach = |corner: &[f64; 3]| (0..3).map(|k| along[k] * (corner[k] - grains.position[brick][k])).sum::<f64>();
    let of_brick = last.triangles.iter().zip(&last.id).filter(|(_, id)| **id == last.id[0]);
    let corners = of_brick.flat_map(|(triangle, _)| triangle.map(|corner| last.position[corner as usize]));
    let farthest = corners.map(|corner| reach(&corner)).fold(0.0, f64::max);
    assert!((farthest - 4e-3).abs() < 1e-8 && along[0] < 0.9, "{farthest} {along:?}");

    stage.succeed("table bricks.out --out start.csv");
    let table = stage.read("start.csv");
    assert!(
        table.starts_with("id,x[m],y[m],z[m],radius[m],vx[m/s],vy[m/s],vz[m/s],qw,qx,qy,qz\n"),
        "{table}"
    );
    let at = "at = [[0, 0, 0], [\"2 cm\", 0, 0]]\nvelocity = [0, 0.5, 0]";
    stage.write("next.toml", &BRICKS.replace(at, "file = \"start.csv\"\nrows = [1, 2]"));
    stage.succeed("run next.toml --quiet --until 0.00025");
    let first = surfaces("next.out", 0);
    assert_eq!((&first.id, &first.triangles), (&last.id, &last.triangles));
    for (now, then) in first.position.as_flattened().iter().zip(last.position.as_flattened()) {
        assert!((now - then).abs() < 1e-8, "{now} {then}");
    }
    // Free spheres have none.
    let (rest, _) = BRICKS.split_once("[shape.brick]").unwrap();
    let dust = "[grains.dust]\nmaterial = \"stone\"\nat = [[0, 0, 0]]\nradius = 1\n[output]\nfields = [\"orientation\"]";
    stage.write("dust.toml", &format!("{rest}{dust}"));
    let refused = stage.seixo("check dust.toml");
    assert!(
        refused.code == 2
            && refused
                .err
                .contains("\"orientation\" is for scenes with polyhedra, clumps or bonds"),
        "{}",
        refused.err
    );
}

#[test]
fn polyhedra_come_by_a_stage_and_are_set_free_by_it() {
    let stage = Stage::new();
    let scene = BRICKS
        .replace("velocity = [0, 0.5, 0]", "fixed = true")
        .replace("[material.stone]", "[world]\ngravity = [0, 0, -9.81]\n[material.stone]");
    let late = "[grains.late]\nmaterial = \"stone\"\nshape = \"brick\"\nat = [[0, 0, \"2 cm\"]]\n";
    let stages = "[[stage]]\nname = \"hold\"\nuntil = \"duration 0.5 ms\"\n\
                  [[stage]]\nname = \"free\"\nadd = [\"grains.late\"]\nset.grains.bricks.fixed = false\n";
    stage.write("bricks.toml", &format!("{scene}{late}{stages}"));
    stage.succeed("run bricks.toml --quiet");
    let seen = |frame: u32| {
        let found = vtk::read_polyhedra(&stage.path(&format!("bricks.out/fields/polyhedra_{frame:06}.vtp"))).unwrap();
        let mut ids = found.id;
        ids.dedup();
        (ids.len(), found.velocity)
    };
    let (held, at_rest) = seen(1);
    assert!(held == 2 && at_rest.iter().all(|velocity| *velocity == [0.0; 3]), "{at_rest:?}");
    // All fall for half a millisecond, give or take two steps.
    let (falling, velocities) = seen(4);
    let fallen = -9.81 * 0.5e-3;
    assert_eq!(falling, 3);
    assert!(
        velocities.iter().all(|velocity| (velocity[2] / fallen - 1.0).abs() < 0.1),
        "{velocities:?}"
    );
}

#[test]
fn a_checkpoint_of_shapes_with_other_axes_is_refused() {
    let stage = Stage::new();
    stage.write("bricks.toml", BRICKS);
    stage.succeed("run bricks.toml --quiet --until 0.0005");
    let path = stage.path("bricks.out/checkpoints").join(checkpoint::FILE_NAME);
    let (header, mut state) = checkpoint::read(&Disk, &path).unwrap();
    let digests = state.sections.iter_mut().find(|(name, _)| name == "shapes/digest");
    let Some((_, Column::U64(digests))) = digests else {
        panic!("no digests of shapes")
    };
    digests[0] ^= 1;
    checkpoint::write_file(&Disk, &path, &header, |to| {
        state.put_to(to);
        Ok::<(), FilesError>(())
    })
    .unwrap();
    let refused = stage.seixo("resume bricks.out --quiet --until 0.001");
    for part in [
        checkpoint::FILE_NAME,
        "shape `brick` had other axes",
        "resume with the scene and version that wrote it",
    ] {
        assert!(refused.code == 2 && refused.err.contains(part), "{part}: {}", refused.err);
    }
    // So is a scene that starts from it.
    let own = ["shape = ", "at = ", "velocity = ", "radius = "];
    let rest = BRICKS.lines().filter(|line| !own.iter().any(|key| line.starts_with(key)));
    let rest = rest.collect::<Vec<_>>().join("\n");
    stage.write("next.toml", &format!("{rest}\n[start]\nfrom = \"bricks.out\"\n"));
    let refused = stage.seixo("run next.toml --quiet");
    assert!(
        refused.code == 2 && refused.err.contains("shape `brick` had other axes"),
        "{}",
        refused.err
    );
    // The sphere between the bricks has no axes, and can be taken alone.
    let (rest, _) = BRICKS.split_once("[shape.brick]").unwrap();
    let region = "{ box = { min = [\"5 mm\", \"-1 m\", \"-1 m\"], max = [\"15 mm\", \"1 m\", \"1 m\"] } }";
    let start = format!("[grains.dust]\nmaterial = \"stone\"\n[start]\nfrom = \"bricks.out\"\ninside = {region}\n");
    stage.write("dust.toml", &format!("{rest}{start}"));
    stage.succeed("run dust.toml --quiet --until 0.0001");
}

#[test]
fn a_slice_of_polyhedra_takes_their_masses_and_volumes_from_the_frame() {
    let stage = Stage::new();
    stage.write("bricks.toml", BRICKS);
    stage.succeed("run bricks.toml --quiet --until 0.00025");
    let refused = stage.seixo("slice bricks.out");
    assert!(
        refused.code == 2 && refused.err.contains("polyhedra have masses and volumes of their own"),
        "{} {}",
        refused.code,
        refused.err
    );
    // The remedy of the message.
    let fields = "[output]\nfields = [\"velocity\", \"mass\", \"volume\"]\n";
    stage.write("bricks.toml", &BRICKS.replace("[output]\n", fields));
    stage.succeed("run bricks.toml --quiet --force --until 0.00025");
    let grains = vtk::read_grains(&stage.path("bricks.out/fields/grains_000000.vtp")).unwrap();
    let column = |wanted: &str| &grains.scalars.iter().find(|(name, ..)| name == wanted).unwrap().1;
    // Two bricks and a sphere. The core of a brick is 0.6 mm less along each axis.
    let [a, b, c] = [7.4, 3.4, 1.4];
    let round = PI * 0.3 * 0.3;
    let brick = a * b * c + 0.6 * (a * b + b * c + c * a) + round * (a + b + c) + 4.0 / 3.0 * 0.3 * round;
    for (volume, mass) in column("volume").iter().zip(column("mass")) {
        let expected = if *mass > 1e-4 { brick } else { 4.0 / 3.0 * PI };
        assert!((volume / (1e-9 * expected) - 1.0).abs() < 1e-9, "{volume} of {mass}");
    }
    let values = |field: &str| -> Vec<f64> {
        stage.succeed(&format!("slice bricks.out --width 5mm --field {field} --out slice.csv"));
        let table = stage.read("slice.csv");
        let last = |line: &str| line.rsplit(',').next().unwrap().parse().unwrap();
        table.lines().skip(1).map(last).collect()
    };
    let (shares, densities) = (values("solid_fraction"), values("density"));
    assert!(shares.iter().any(|share| *share > 1e-3));
    for (share, density) in shares.iter().zip(&densities) {
        assert!((density - 2500.0 * share).abs() < 1e-6, "{density} {share}");
    }
}

#[test]
fn check_fails_where_the_run_stops_in_its_first_steps() {
    let stage = Stage::new();
    // The second brick hits the dust within a quarter of a millisecond.
    stage.write("fast.toml", &BRICKS.replace("velocity = [0, 0.5, 0]", "velocity = [-20, 0, 0]"));
    let checked = stage.seixo("check fast.toml");
    assert_eq!(checked.code, 1, "{}", checked.err);
    assert!(
        checked.out.contains("grains     3") && !checked.out.contains("right; next"),
        "{}",
        checked.out
    );
    for phrase in ["of the smaller rounding radius", "a larger `rounding` of the shape"] {
        assert!(checked.err.contains(phrase), "no `{phrase}` in\n{}", checked.err);
    }
    let after = checked.err.split("fast.toml: the run will stop early: ").nth(1).unwrap_or_default();
    let step = after.split(" (t").next().unwrap_or_default();
    let ran = stage.seixo("run fast.toml --quiet");
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(step.starts_with("step ") && ran.err.contains(step), "{step}:\n{}", ran.err);
    let reported = stage.seixo("check fast.toml --json");
    let found: serde_json::Value = serde_json::from_str(&reported.out).unwrap();
    assert_eq!(reported.code, 1);
    assert!(
        found["stop"].as_str().is_some_and(|stop| stop.contains("will stop early")),
        "{found}"
    );
    // Slow bricks are right.
    stage.write("bricks.toml", BRICKS);
    assert!(stage.succeed("check bricks.toml").out.contains("right; next: seixo run"));
}

#[test]
fn check_estimates_the_size_of_frames_and_the_least_time() {
    let stage = Stage::new();
    let (bricks, _) = BRICKS.split_once("[grains.dust]").unwrap();
    let fill = "fill = { region = { box = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] } }, count = 200 }";
    let many = bricks.replace("at = [[0, 0, 0], [\"2 cm\", 0, 0]]", fill);
    let checked = || -> serde_json::Value { serde_json::from_str(&stage.succeed("check scene.toml --json").out).unwrap() };
    let contacts_and_bound = |found: &serde_json::Value| (found["contacts_per_grain"].as_f64(), found["time_is_lower_bound"].as_bool());
    for encoding in ["compressed", "raw"] {
        stage.write(
            "scene.toml",
            &format!("{many}[output]\nevery = \"0.25 ms\"\nencoding = \"{encoding}\"\n"),
        );
        let found = checked();
        stage.succeed("run scene.toml --quiet --force");
        let files = std::fs::read_dir(stage.path("scene.out/fields")).unwrap();
        let written: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
        // The estimate has checkpoints, too, with contacts that these bricks do not have.
        let share = found["output"].as_f64().unwrap() / written as f64;
        assert!((0.9..1.5).contains(&share), "{encoding}: {share} of {written} B");
        assert_eq!(contacts_and_bound(&found), (Some(0.0), Some(true)));
    }
    let text = stage.succeed("check scene.toml").out;
    assert!(
        text.contains("  time       at least ") && text.contains("a grain has 0.00 contacts there"),
        "{text}"
    );
    // A ball that two planes press from both sides.
    let (materials, _) = BRICKS.split_once("[shape.brick]").unwrap();
    let plane = |name: &str, height: f64, up: f64| {
        format!("[wall.{name}]\nmaterial = \"stone\"\nplane = {{ point = [0, 0, {height}], normal = [0, 0, {up}] }}\n")
    };
    let planes = [plane("floor", -0.999e-3, 1.0), plane("lid", 0.999e-3, -1.0)].concat();
    let ball = "[grains.ball]\nmaterial = \"stone\"\nat = [[0, 0, 0]]\nradius = \"1 mm\"\n";
    stage.write("scene.toml", &format!("{materials}{ball}{planes}"));
    let found = checked();
    assert_eq!(contacts_and_bound(&found), (Some(2.0), Some(false)));
    let text = stage.succeed("check scene.toml").out;
    assert!(
        text.contains("  time       about ") && text.contains("later contacts add to it"),
        "{text}"
    );
    // With held balls beside it, and with three spheres that move as one, there are fewer contacts per grain, but nothing will lie closer.
    let held = "[grains.held]\nmaterial = \"stone\"\nat = [[0.01, 0, 0], [0.02, 0, 0], [0.03, 0, 0]]\nradius = \"0.5 mm\"\nfixed = true\n";
    stage.write("scene.toml", &format!("{materials}{ball}{held}{planes}"));
    assert_eq!(contacts_and_bound(&checked()), (Some(2.0 / 4.0), Some(false)));
    let sphere = |height: i32| format!("{{ at = [0, 0, {height}], radius = 1 }}");
    let tower = format!("[shape.tower]\nunit = \"mm\"\nspheres = [{}]\n", [-2, 0, 2].map(sphere).join(", "));
    let clump = "[grains.clump]\nmaterial = \"stone\"\nshape = \"tower\"\nat = [[0, 0, 0]]\n";
    let planes = [plane("floor", -2.999e-3, 1.0), plane("lid", 2.999e-3, -1.0)].concat();
    stage.write("scene.toml", &format!("{materials}{tower}{clump}{planes}"));
    assert_eq!(contacts_and_bound(&checked()), (Some(2.0 / 3.0), Some(false)));
}
