//! Meshes as equal spheres: report, files, cache, and errors.

use crate::command_line::stage::{Done, Stage};
use seixo::files::vtk;
use serde_json::Value;
use std::path::PathBuf;

/// A block of 2 × 4 × 6 with a corner at the origin; its last line is a face.
const BLOCK: &str = "v 0 0 0\nv 2 0 0\nv 2 4 0\nv 0 4 0\nv 0 0 6\nv 2 0 6\nv 2 4 6\nv 0 4 6
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 4 1 5 8\nf 2 3 7 6\n";

/// A test folder with the block, and a cache of its own.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("block.obj", BLOCK);
    stage
}

fn seixo(stage: &Stage, line: &str) -> Done {
    let cache = stage.path("cache");
    stage.seixo_with(line, &[("XDG_CACHE_HOME", &cache.display().to_string())])
}

fn report(stage: &Stage, line: &str) -> Value {
    let done = seixo(stage, line);
    assert_eq!(done.code, 0, "{line}: {}", done.err);
    serde_json::from_str(&done.out).unwrap()
}

/// Returns the files in the cache.
fn kept(stage: &Stage) -> Vec<PathBuf> {
    let files = std::fs::read_dir(stage.path("cache/seixo/spheres")).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn a_closed_mesh_is_reported_with_its_mass_and_written_so_that_scenes_read_it() {
    let stage = stage();
    let line = "spheres block.obj --unit mm --radius 0.5 --fill solid --density 1000 --json";
    let reported = report(&stage, line);
    assert_eq!(
        (&reported["mesh"]["triangles"], &reported["mesh"]["open_edges"]),
        (&12.into(), &0.into())
    );
    assert_eq!(
        (&reported["spheres"]["count"], &reported["body"]["as"]),
        (&48.into(), &"the mesh".into())
    );
    let number = |value: &Value| value.as_f64().unwrap();
    // 48 mm³ of 1 g/cm³, and moments of inertia of m/12 times the squares of two edges.
    let mass = number(&reported["body"]["mass"]);
    assert!((mass / 48e-6 - 1.0).abs() < 1e-12, "{mass}");
    for (k, squares) in [52.0, 40.0, 20.0].into_iter().enumerate() {
        let expected = 48e-6 * squares * 1e-6 / 12.0;
        assert!(
            (number(&reported["body"]["inertia"][k]) / expected - 1.0).abs() < 1e-9,
            "{reported}"
        );
        assert!(
            (number(&reported["body"]["principal_inertia"][k]) / expected - 1.0).abs() < 1e-9,
            "{reported}"
        );
        assert!(
            (number(&reported["body"]["center"][k]) - [1e-3, 2e-3, 3e-3][k]).abs() < 1e-15,
            "{reported}"
        );
    }
    // The outermost spheres are at half of (1, 3, 5) mm from the center.
    let bounding_radius = 0.5e-3 * 35f64.sqrt() + 0.5e-3;
    assert!(
        (number(&reported["body"]["bounding_radius"]) / bounding_radius - 1.0).abs() < 1e-12,
        "{reported}"
    );
    assert_eq!(reported["mesh"]["size"], "2.00 mm × 4.00 mm × 6.00 mm");
    let words = seixo(&stage, "spheres block.obj --unit mm --radius 500um --fill solid --out block.csv").out;
    assert!(words.contains("triangles") && words.contains("principal inertia"), "{words}");
    seixo(&stage, "spheres block.obj --radius 0.5 --fill solid --out block.vtp");
    let points = vtk::read_grains(&stage.path("block.vtp")).unwrap();
    assert!(points.position.len() == 48 && points.radius.iter().all(|&radius| radius == 0.5));
    assert!(points.position.contains(&[0.5, 3.5, 5.5]));

    // Both as grains and as the shape of a clump, whose mass is given by the report.
    let solid = reported["body"]["solid_for_a_shape"].as_str().unwrap();
    let grains = "[grains.loose]\nmaterial = \"clay\"\nfile = \"block.csv\"\n";
    let clump = format!(
        "[shape.block]\nfile = \"block.csv\"\nsolid = {solid}\n[grains.clump]\nmaterial = \"clay\"\nshape = \"block\"\nat = [[0.1, 0, 0]]\nradius = \"3 mm\"\n"
    );
    let start = "[run]\nuntil = \"1 ms\"\n[material.clay]\ndensity = 2000\nyoungs_modulus = 1e7\npoisson_ratio = 0.2\n[interaction.clay-clay]\nrestitution = 0.5\nfriction = 0.3\n";
    stage.write("both.toml", &format!("{start}{grains}{clump}"));
    let checked = stage.succeed("check both.toml --json");
    let checked: Value = serde_json::from_str(&checked.out).unwrap();
    assert_eq!(checked["grains"], 96, "{checked}");
    // They are far apart: no sphere of the clump is near another object.
    let reported = stage.succeed("run both.toml").out;
    assert!(
        reported.contains("broad phase of clumps: 1 near nothing, 0 near fluids, 0 near grains or walls, 0 near both"),
        "{reported}"
    );
    assert!(reported.contains("neighbors were searched for 0 of 48 spheres"), "{reported}");
    let record = stage.record("both.out");
    let found = &record["broad_phase"];
    assert_eq!([&found["none"], &found["C"], &found["spheres"]], [1, 0, 48], "{record}");
}

#[test]
fn bodies_of_a_mesh_are_written_and_drawn_as_it() {
    let stage = stage();
    stage.write(
        "blocks.toml",
        r#"
[run]
until = "1 ms"
[material.clay]
density = 2000
youngs_modulus = 1e7
poisson_ratio = 0.2
[interaction.clay-clay]
restitution = 0.5
friction = 0.3
[shape.block]
mesh = "block.obj"
spheres = { radius = 0.5 }
[grains.blocks]
material = "clay"
shape = "block"
at = [[0, 0, 0], ["2 cm", 0, 0]]
radius = "3 mm"
velocity = [0, 0.5, 0]
[grains.dust]
material = "clay"
at = [["1 cm", 0, 0]]
radius = "1 mm"
[output]
every = "0.25 ms"
"#,
    );
    stage.succeed("run blocks.toml --quiet");
    let frame = |number: u32| vtk::read_bodies(&stage.path(&format!("blocks.out/fields/bodies_{number:06}.vtp"))).unwrap();
    let (first, last) = (frame(0), frame(4));
    assert_eq!((first.triangles.len(), &first.body[11..13]), (24, &[0, 1][..]));
    let grains = vtk::read_grains(&stage.path("blocks.out/fields/grains_000004.vtp")).unwrap();
    // All grains except the dust.
    assert_eq!(last.carried.len(), grains.id.len() - 1);
    let moved = 0.5 * (last.time - first.time);
    for (before, after) in first.position.iter().zip(&last.position) {
        let away = [after[0] - before[0], after[1] - before[1] - moved, after[2] - before[2]];
        assert!(moved > 4e-4 && away.iter().all(|x| x.abs() < 1e-12), "{away:?}");
    }

    // A resumed run writes and lists the same files as an uninterrupted one.
    stage.succeed("run blocks.toml --quiet --until 0.0005 --out halves");
    stage.succeed("resume halves --quiet --until 0.001");
    let [whole, halves] = ["blocks.out", "halves"].map(|run| stage.results(run));
    let of_bodies: Vec<&String> = whole.keys().filter(|name| name.contains("bodies")).collect();
    assert_eq!((of_bodies.len(), of_bodies[0].as_str()), (6, "fields/bodies.pvd"));
    assert!(of_bodies.iter().all(|&name| halves.get(name) == whole.get(name)));
    assert!(stage.read("blocks.out/fields/bodies.pvd").contains("bodies_000004.vtp"));

    let drawn = |how: &str| {
        stage.succeed(&format!("picture blocks.out --size 320x200 --out drawn.png {how}"));
        std::fs::read(stage.path("drawn.png")).unwrap()
    };
    assert!(drawn("") != drawn("--spheres"));
    assert_eq!(stage.seixo("picture blocks.out --walls --spheres").code, 2);
    // Without a mesh there is no such file.
    stage.write("dust.toml", &stage.read("blocks.toml").replace("shape = \"block\"\n", ""));
    stage.succeed("run dust.toml --quiet --until 0.0003");
    assert!(stage.results("dust.out").keys().all(|name| !name.contains("bodies")));
}

#[test]
fn an_open_mesh_is_reported_and_weighs_what_its_spheres_weigh() {
    let stage = stage();
    let (open, _) = BLOCK.trim_end().rsplit_once('\n').unwrap();
    stage.write("block.obj", open);
    let done = seixo(&stage, "spheres block.obj --radius 0.5 --fill solid");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.err.contains("the mesh is not closed: it ends at 4 of its") && done.err.contains("those of the spheres"),
        "{}",
        done.err
    );
    assert!(done.out.contains("the spheres"), "{}", done.out);
}

#[test]
fn parts_of_a_mesh_that_overlap_are_filled_once_and_weigh_twice_there() {
    let stage = stage();
    // A second block, shifted by half of the first one.
    let second = "v 1 2 3\nv 3 2 3\nv 3 6 3\nv 1 6 3\nv 1 2 9\nv 3 2 9\nv 3 6 9\nv 1 6 9
f 9 12 11 10\nf 13 14 15 16\nf 9 10 14 13\nf 11 12 16 15\nf 12 9 13 16\nf 10 11 15 14\n";
    stage.write("block.obj", &format!("{BLOCK}{second}"));
    let reported = report(&stage, "spheres block.obj --radius 0.5 --fill solid --json");
    let cubes = &reported["cubes"];
    assert_eq!([&cubes["inside"], &cubes["inside_of_several_parts"]], [90, 6], "{reported}");
    let volume = reported["body"]["volume"].as_f64().unwrap();
    assert!((volume - 96.0).abs() < 1e-9, "{volume}");
}

#[test]
fn what_was_found_is_kept_by_content_and_a_damaged_file_is_rebuilt() {
    let stage = stage();
    let line = "spheres block.obj --radius 0.25 --fill solid --json";
    let first = report(&stage, line);
    assert_eq!(first["cubes"]["from_cache"], false);
    let files = kept(&stage);
    assert_eq!(files.len(), 1);
    let file = &files[0];
    let whole = std::fs::read(file).unwrap();

    // Another name and other bytes, but the same triangles.
    stage.write("copy.obj", &format!("# a copy\n{BLOCK}"));
    let again = report(&stage, &line.replace("block", "copy"));
    assert_eq!(again["cubes"]["from_cache"], true);
    for part in ["spheres", "body"] {
        assert_eq!(again[part], first[part]);
    }

    let mut damaged = whole.clone();
    damaged[5] ^= 1;
    std::fs::write(file, &damaged).unwrap();
    let again = report(&stage, line);
    assert_eq!(
        (&again["cubes"]["from_cache"], &again["spheres"]),
        (&false.into(), &first["spheres"])
    );
    assert_eq!(std::fs::read(file).unwrap(), whole);

    // Another radius, filling or mesh gives another result.
    for other in [line.replace("0.25", "0.5"), line.replace("solid", "surface")] {
        assert_eq!(report(&stage, &other)["cubes"]["from_cache"], false);
    }
    stage.write("block.obj", &BLOCK.replace("v 2 4 6", "v 2 4 5"));
    assert_eq!(report(&stage, line)["cubes"]["from_cache"], false);
    assert_eq!(kept(&stage).len(), 4);

    // If the cache cannot be written, nothing is stored, and there is no message.
    let done = stage.seixo_with(line, &[("XDG_CACHE_HOME", "/dev/null")]);
    assert!(done.code == 0 && done.err.is_empty(), "{}", done.err);
}

#[test]
fn a_gpu_finds_the_spheres_of_the_cpu() {
    let stage = stage();
    let tables = ["cpu", "gpu"].map(|device| {
        let line = format!("spheres block.obj --radius 0.13 --fill solid --device {device} --out {device}.csv");
        let done = stage.seixo_with(&line, &[("XDG_CACHE_HOME", "/dev/null")]);
        assert_eq!(done.code, 0, "{}", done.err);
        stage.read(&format!("{device}.csv"))
    });
    assert!(tables[0].lines().count() > 2000 && tables[0] == tables[1]);
}

#[test]
fn what_gives_no_spheres_is_refused_with_names_and_remedies() {
    let stage = stage();
    stage.write("sheet.obj", "v 0 0 0\nv 2 0 0\nv 2 4 0\nf 1 2 3\n");
    stage.write("empty.obj", "v 0 0 0\n");
    for (line, phrases) in [
        ("spheres nowhere.stl --radius 1", &["nowhere.stl", "check the path"][..]),
        ("spheres empty.obj --radius 1", &["empty.obj", "no triangles"]),
        (
            "spheres block.obj --radius 4",
            &["block.obj", "a radius of 4", "longest side is 6", "at most 3"],
        ),
        ("spheres block.obj --radius 0", &["a radius of 0", "above 0"]),
        (
            "spheres block.obj --radius 1e-4",
            &["block.obj", "6.000e12 cubes", "33554432", "a radius of at least"],
        ),
        (
            "spheres sheet.obj --radius 0.1 --fill solid",
            &["sheet.obj", "encloses no volume", "fill the surface only"],
        ),
        ("spheres block.obj --radius 1s", &["is time [s]", "length [m] belongs here"]),
        ("spheres block.obj --radius 1 --unit s", &["is time [s]"]),
        ("spheres block.obj --radius 1 --unit 2", &["unknown unit"]),
        ("spheres block.obj --radius 1 --density 0", &["a density above 0"]),
        ("spheres block.obj --radius 1 --out block.xyz", &["block.xyz", ".csv or .vtp"]),
        ("spheres block.obj --radius 1 --device gpu:99", &["no GPU 99"]),
        ("spheres block.obj", &["--radius"]),
    ] {
        let done = seixo(&stage, line);
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        for phrase in phrases {
            assert!(done.err.contains(phrase), "{line}: no `{phrase}` in {}", done.err);
        }
    }
}

#[test]
fn bodies_of_a_bench_are_made_of_a_mesh() {
    let stage = stage();
    let done = seixo(
        &stage,
        "bench rigid-fluid 6.4 --mesh block.obj --radius 0.5 --steps 1 --repeat 1 --json",
    );
    assert_eq!(done.code, 0, "{}", done.err);
    let bodies_and_spheres = |line: &str| -> [u64; 2] {
        let line: Value = serde_json::from_str(line).unwrap();
        [&line["bodies"], &line["body_spheres"]].map(|value| value.as_u64().unwrap())
    };
    // None of 2 × 4 × 6 cubes is inside.
    let expected = [26, 53, 107, 215, 430].map(|bodies: u64| [bodies, 48 * bodies]);
    assert_eq!(done.out.lines().map(bodies_and_spheres).collect::<Vec<_>>(), expected);
    for (line, reported) in [
        ("bench rigid-fluid 6.4 --mesh block.obj --radius 4", "radius"),
        ("bench rigid-fluid 6.4 --mesh nothing.obj --radius 1", "nothing.obj"),
    ] {
        let refused = seixo(&stage, line);
        assert!(refused.code == 2 && refused.err.contains(reported), "{line}: {}", refused.err);
    }
}

#[test]
fn bodies_of_coarser_spheres_are_compared_with_the_finest() {
    let stage = stage();
    let done = seixo(
        &stage,
        "bench rigid-fluid 6.4 --mesh block.obj --radius 1,0.5 --steps 1 --repeat 1 --json",
    );
    assert_eq!(done.code, 0, "{}", done.err);
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3 * 5);
    let of = |line: &Value, key: &str| line[key].as_f64().unwrap();
    for line in lines.chunks(3) {
        let [fine, coarse, compared] = line else { panic!("{line:?}") };
        // None of 2 × 4 × 6 cubes is inside, and none of 1 × 2 × 3.
        assert_eq!(of(fine, "body_spheres"), 48.0 * of(fine, "bodies"));
        assert_eq!(of(coarse, "body_spheres"), 6.0 * of(fine, "bodies"));
        assert_eq!((of(compared, "finest_spheres"), of(compared, "spheres")), (48.0, 6.0));
        let speed_up = of(coarse, "steps_per_second") / of(fine, "steps_per_second");
        assert!((of(compared, "speed_up") / speed_up - 1.0).abs() < 1e-12, "{compared}");
    }
    for (line, reported) in [
        ("bench rigid-fluid 6.6 --mesh block.obj --radius 1,0.25", "4.00 times the smallest"),
        (
            "bench rigid-fluid 6.6 --mesh block.obj --radius 1,0.5 --solver wcsph",
            "--solver wcsph",
        ),
    ] {
        let refused = seixo(&stage, line);
        assert!(refused.code == 2 && refused.err.contains(reported), "{line}: {}", refused.err);
    }
}
