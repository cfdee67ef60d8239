//! Each command with valid and invalid input.

use crate::command_line::rows;
use crate::command_line::stage::Stage;
use seixo::files::vtk;
use serde_json::Value;

#[test]
fn a_run_writes_all_that_was_asked_for() {
    let stage = Stage::new();
    let done = stage.succeed("run heap.toml");
    for reported in [
        "seixo picture heap.out",
        "ParaView (heap.out/fields/grains.pvd, heap.out/fields/walls.pvd)",
    ] {
        assert!(done.out.contains(reported), "{}", done.out);
    }

    let record = stage.record("heap.out");
    assert_eq!(record["result"], "finished");
    assert_eq!(
        (&record["device"], &record["precision"], &record["grains"]),
        (&"CPU".into(), &"f64".into(), &300.into())
    );
    assert_eq!(
        (&record["groups"], &record["materials"]),
        (&vec!["heap"].into(), &vec!["clay"].into())
    );
    let step = record["time_step"]["value"].as_f64().unwrap();
    assert!(step > 0.0 && step < record["time_step"]["limit"].as_f64().unwrap());
    assert!(record["time_step"]["cause"].as_str().unwrap().contains("Rayleigh"));
    assert!((record["time"].as_f64().unwrap() - 0.12).abs() <= 0.5 * step);
    assert!(record["particle_steps_per_second"].as_f64().unwrap() > 0.0 && record["bytes_per_particle"].as_f64().unwrap() > 0.0);

    let energies = rows(&stage.read("heap.out/energies.csv"));
    assert_eq!(energies.len(), 121);
    for (line, row) in energies.iter().enumerate() {
        assert!(
            (row[0] - 1e-3 * line as f64).abs() <= 0.5 * step * 1.000_001,
            "line {line} is at {} s",
            row[0]
        );
        let (budget, residual) = (row[20] + row[17], row[21]);
        assert!(
            residual.abs() < 5e-3 * budget,
            "the ledger misses {residual} J of {budget} J at {} s",
            row[0]
        );
    }

    let pvd = stage.read("heap.out/fields/grains.pvd");
    assert_eq!(pvd.matches("<DataSet").count(), 13);
    for frame in 0..13 {
        let grains = vtk::read_grains(&stage.path(&format!("heap.out/fields/grains_{frame:06}.vtp"))).unwrap();
        assert_eq!(grains.id.len(), 300);
        assert!((grains.time - 0.01 * f64::from(frame)).abs() <= 0.5 * step * 1.000_001);
        assert!(pvd.contains(&format!("grains_{frame:06}.vtp")) && pvd.contains(&format!("{:?}", grains.time)));
    }
    let first = vtk::read_walls(&stage.path("heap.out/fields/walls_000000.vtp")).unwrap();
    let last = vtk::read_walls(&stage.path("heap.out/fields/walls_000012.vtp")).unwrap();
    let rod = first.names.iter().position(|name| name == "rod").unwrap() as u32;
    let lowest = |walls: &vtk::VtkWalls| {
        let of_rod = walls.triangles.iter().zip(&walls.wall).filter(|(_, wall)| **wall == rod);
        of_rod
            .flat_map(|(triangle, _)| triangle)
            .map(|corner| corner[2])
            .fold(f64::INFINITY, f64::min)
    };
    assert!(
        (lowest(&first) - lowest(&last) - 0.078).abs() < 1e-4,
        "the rod comes down by 0.65 m/s for 120 ms"
    );
    let inside = |walls: &vtk::VtkWalls| {
        walls
            .triangles
            .iter()
            .flatten()
            .all(|corner| corner[0].abs() <= 0.025 + 1e-12 && corner[2] >= -1e-12)
    };
    assert!(inside(&first), "the faces of the box end at its edges");

    assert_eq!(rows(&stage.read("heap.out/probes/middle.csv")).len(), 61);
    assert_eq!(rows(&stage.read("heap.out/probes/one.csv")).len(), 172);
    let middle = rows(&stage.read("heap.out/probes/middle.csv"));
    assert!(middle[60][3] < middle[0][3], "the grains fall");
    let flow = rows(&stage.read("heap.out/probes/flow.csv"));
    let grains = |frame: u32| vtk::read_grains(&stage.path(&format!("heap.out/fields/grains_{frame:06}.vtp"))).unwrap();
    let below = |frame: u32| grains(frame).position.iter().filter(|center| center[2] >= 0.02).count() as f64;
    assert_eq!(
        flow[120][1],
        below(0) - below(12),
        "what is counted is what went from above to below"
    );
    assert!(flow[60][1] > 10.0 && flow[60][2] > 0.0);
    let rod = rows(&stage.read("heap.out/probes/rod.csv"));
    assert!(rod.iter().any(|row| row[3] > 0.0), "the grains push the rod up");
    let ledger = stage.read("heap.out/probes/ledger.csv");
    assert_eq!(ledger, stage.read("heap.out/energies.csv"), "the same quantity at the same times");

    for (folder, kind, ending) in [("contacts", "contacts", "vtp"), ("coarse", "coarse", "vti")] {
        let pvd = stage.read(&format!("heap.out/{folder}/{kind}.pvd"));
        assert!(pvd.matches("<DataSet").count() == 13 && pvd.contains(&format!("{kind}_000012.{ending}")));
    }
    let contacts = vtk::read_contacts(&stage.path("heap.out/contacts/contacts_000012.vtp")).unwrap();
    assert_eq!(contacts.ends.len() as u64, record["contacts"].as_u64().unwrap());
    let links = contacts.is_in_chain.iter().filter(|&&is_link| is_link).count();
    assert!(links > 3 && 2 * links < contacts.ends.len(), "{links} of {}", contacts.ends.len());
    let last = |probe: &str| rows(&stage.read(&format!("heap.out/probes/{probe}.csv"))).pop().unwrap();
    let field = |wanted: &str| grains(12).scalars.into_iter().find(|(name, _, _)| name == wanted).unwrap().1;
    let inside = |center: &[f64; 3]| center[0].hypot(center[1]) <= 0.025 && (0.0..=0.04).contains(&center[2]);
    let (centers, counts) = (grains(12).position, field("coordination"));
    let counts: Vec<f64> = centers
        .iter()
        .zip(counts)
        .filter(|(center, _)| inside(center))
        .map(|(_, count)| count)
        .collect();
    let carrying: Vec<f64> = counts.iter().copied().filter(|&count| count > 1.0).collect();
    for (found, counts) in last("touches")[1..].iter().zip([counts, carrying]) {
        let expected = counts.iter().sum::<f64>() / counts.len() as f64;
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    let (filling, stress) = (last("filling"), last("stress"));
    assert!((0.05..0.75).contains(&filling[1]), "{filling:?}");
    // A third of the trace of contact stress and kinetic stress is the pressure.
    let trace: f64 = stress[3..6].iter().chain(&stress[9..12]).sum();
    assert!(stress[1] > 0.0 && (trace / 3.0 / stress[1] - 1.0).abs() < 1e-12, "{stress:?}");
    assert!(
        (last("fabric")[2..5].iter().sum::<f64>() - 1.0).abs() < 1e-12,
        "the trace of the fabric"
    );
    let count = |values: Vec<f64>| values.into_iter().filter(|&value| value > 0.0).count();
    let (pressed, touching) = (count(field("pressure")), count(field("coordination")));
    // A contact that separates faster than its spring pushes has no force.
    assert!(pressed <= touching && 10 * pressed > 9 * touching, "{pressed} {touching}");

    let profile = stage.read("heap.out/profile.csv");
    assert!(profile.starts_with("pass,seconds,share,calls\n") && profile.contains("\ncontacts,") && profile.contains("\noutputs,"));
    assert!(
        stage
            .read("heap.out/log.jsonl")
            .lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
    assert_eq!(stage.checkpoint("heap.out").0.steps, record["steps"].as_u64().unwrap());
    stage.succeed("check heap.out/scene.toml");
}

#[test]
fn an_earlier_run_is_never_overwritten_silently() {
    let stage = Stage::new();
    stage.succeed("run heap.toml --until 0.03 --quiet");
    let (before, log) = (stage.results("heap.out"), stage.read("heap.out/log.jsonl"));
    let again = stage.seixo("run heap.toml --until 0.01");
    assert_eq!(again.code, 2);
    assert!(
        again.err.contains("heap.out") && again.err.contains("--force") && again.err.contains("seixo resume heap.out"),
        "{}",
        again.err
    );
    assert!(stage.results("heap.out") == before && stage.read("heap.out/log.jsonl") == log);

    stage.write("heap.out/notes.txt", "mine");
    stage.succeed("run heap.toml --until 0.01 --quiet --force");
    assert!(
        !stage.path("heap.out/fields/grains_000003.vtp").exists(),
        "frames of the longer run are gone"
    );
    assert_eq!(stage.read("heap.out/notes.txt"), "mine");
    stage.succeed("run heap.toml --until 0.01 --quiet --out fresh");
    std::fs::remove_file(stage.path("heap.out/notes.txt")).unwrap();
    stage.assert_same("heap.out", "fresh");
}

#[test]
fn a_folder_that_no_run_wrote_is_left_alone() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("photos")).unwrap();
    stage.write("photos/energies.csv", "precious");
    let done = stage.seixo("run heap.toml --out photos --force");
    assert_eq!(done.code, 2);
    assert!(done.err.contains("photos") && done.err.contains("--out"), "{}", done.err);
    assert_eq!(stage.read("photos/energies.csv"), "precious");
    std::fs::create_dir(stage.path("empty")).unwrap();
    stage.succeed("run heap.toml --until 1e-4 --out empty");
}

#[test]
fn wrong_scenes_are_refused_with_place_and_remedy() {
    let stage = Stage::new();
    let scene = stage.read("heap.toml");
    stage.write("typo.toml", &scene.replace("restitution", "restitutoin"));
    for command in ["run", "check"] {
        let done = stage.seixo(&format!("{command} typo.toml"));
        assert_eq!(done.code, 2);
        assert!(
            done.err.contains("typo.toml:12") && done.err.contains("restitutoin"),
            "{}",
            done.err
        );
        assert!(done.err.contains("restitution"), "{}", done.err);
    }
    assert!(!stage.path("typo.out").exists());
    for (flags, reported) in [
        ("--set run.until=5mm", "run.until"),
        ("--set run.untill=5", "until"),
        ("--set nonsense", "path.to.key=value"),
        ("--device gup", "device"),
        ("--precision f32", "precision"),
        ("--set run.time_step=1s", "stable limit"),
    ] {
        let done = stage.seixo(&format!("run heap.toml {flags}"));
        assert_eq!(done.code, 2, "{flags}: {}", done.err);
        assert!(done.err.contains(reported), "{flags}: {}", done.err);
        assert!(!stage.path("heap.out").exists(), "{flags}");
    }
    let missing = stage.seixo("run nowhere.toml");
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("nowhere.toml"), "{}", missing.err);
}

#[test]
fn scripts_read_lines_of_json() {
    let stage = Stage::new();
    let done = stage.succeed("run heap.toml --until 0.02 --json");
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["event"], "started");
    assert_eq!(lines[lines.len() - 1]["event"], "finished");
    assert!(lines.iter().any(|line| line["event"] == "checkpoint") && lines.iter().any(|line| line["event"] == "progress"));

    let wrong = stage.seixo("run heap.toml --set run.until=-1 --json");
    assert_eq!(wrong.code, 2);
    let line: Value = serde_json::from_str(wrong.out.trim()).unwrap();
    assert_eq!(line["exit_code"], 2);
    assert!(line["diagnostics"][0]["message"].as_str().unwrap().contains("until"), "{line}");
    let taken: Value = serde_json::from_str(stage.seixo("run heap.toml --json").out.trim()).unwrap();
    assert_eq!(taken["exit_code"], 2);

    let checked: Value = serde_json::from_str(&stage.succeed("check heap.toml --json").out).unwrap();
    assert_eq!(checked["grains"], 300);
    let reported: Value = serde_json::from_str(&stage.succeed("info heap.out --json").out).unwrap();
    assert_eq!(reported["checkpoint"]["digest"], stage.checkpoint("heap.out").1);
    assert_eq!(reported["run"]["result"], "finished");
}

#[test]
fn check_reports_size_and_cost_and_writes_nothing() {
    let stage = Stage::new();
    let done = stage.succeed("check heap.toml");
    for reported in [
        "300",
        "clay",
        "rod",
        "time step",
        "memory",
        "particle-steps/s",
        "seixo run heap.toml",
    ] {
        assert!(done.out.contains(reported), "{reported}: {}", done.out);
    }
    assert_eq!(std::fs::read_dir(stage.path("")).unwrap().count(), 1);
}

#[test]
fn check_says_where_smooth_grains_have_no_neighbor_list() {
    let scene = r#"
        [run]
        until = "1 ms"
        [world]
        gravity = [0, 0, "-9.81 m/s^2"]
        [material.rock]
        density = "2600 kg/m^3"
        youngs_modulus = "50 MPa"
        poisson_ratio = 0.2
        [interaction.rock-rock]
        normal = "linear"
        stiffness = "2e3 N/m"
        tangential = "none"
        restitution = 0.8
        [grains.a]
        material = "rock"
        fill = { region = { box = { min = [0, 0, 0], max = ["3 cm", "3 cm", "3 cm"] } }, count = 20, radius = "1 mm", method = "random" }
    "#;
    let stage = Stage::new();
    stage.write("smooth.toml", scene);
    let notice = "searched at every step";
    assert!(!stage.succeed("check smooth.toml").out.contains(notice));
    assert!(stage.succeed("check smooth.toml --set run.search=grid").out.contains(notice));
}

#[test]
fn a_run_that_cannot_go_on_names_grain_time_and_last_good_state() {
    let stage = Stage::new();
    let scene = stage.read("heap.toml");
    let narrow = "domain = { min = [\"-3 cm\", \"-3 cm\", 0], max = [\"3 cm\", \"3 cm\", \"10 cm\"] }\nleaving = \"error\"\n";
    let scene = scene.replace("[material.clay]", &format!("{narrow}[material.clay]"));
    stage.write("leak.toml", &scene.replace("open = [\"top\"]", "open = [\"top\", \"bottom\"]"));
    let done = stage.seixo("run leak.toml");
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(
        done.err.contains("grain ") && done.err.contains("left the domain") && done.err.contains("last good state"),
        "{}",
        done.err
    );
    let record = stage.record("leak.out");
    assert_eq!(record["result"], "failed");
    assert!(record["reason"].as_str().unwrap().contains("left the domain"));
    assert_eq!(stage.checkpoint("leak.out").0.steps, 0);
}

#[test]
fn output_that_cannot_be_written_ends_with_code_1() {
    let stage = Stage::new();
    stage.write("file", "");
    let done = stage.seixo("run heap.toml --out file/inside");
    assert_eq!(done.code, 1);
    assert!(done.err.contains("file/inside"), "{}", done.err);
    let done = stage.seixo("run heap.toml --out /proc/heap.out");
    assert_eq!(done.code, 1);
    assert!(done.err.contains("/proc/heap.out"), "{}", done.err);
    let done = stage.seixo("run heap.toml --set output.every=1us --set run.until=1s --set run.time_step=1us --set grains.heap.fill.region.box.max=[1,1,1] --set wall.box.box.max=[2,2,2] --set grains.heap.fill.count=100000 --set wall.rod.cylinder.from=[0,0,10] --set wall.rod.cylinder.to=[0,1,10]");
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("free") && done.err.contains("output.every"), "{}", done.err);
    assert!(!stage.path("heap.out").exists());
}

#[test]
fn a_run_shorter_than_a_step_takes_one_and_is_reported() {
    let stage = Stage::new();
    let checked = stage.seixo("check heap.toml --set run.until=1ns");
    assert_eq!(checked.code, 0, "{}", checked.err);
    for phrase in [
        "1.00 ns in 1 step\n",
        "before the end of the first time step",
        "run.time_step",
        "particle-steps/s",
    ] {
        assert!(checked.out.contains(phrase), "no `{phrase}` in {}", checked.out);
    }
    let ran = stage.seixo("run heap.toml --set run.until=1ns");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("before the end of the first time step"), "{}", ran.err);
    assert_eq!(stage.checkpoint("heap.out").0.steps, 1);
}

#[test]
fn the_passes_of_a_step_are_listed_in_order() {
    let stage = Stage::new();
    assert!(!stage.succeed("check heap.toml").out.contains("pass 1 "));
    let text = stage.succeed("check heap.toml --passes").out;
    let at = |name: &str| text.find(name).unwrap_or_else(|| panic!("no {name} in {text}"));
    let order = ["motion of grains ", "neighbor lists and ghosts ", "contacts  ", "work of contacts "].map(at);
    assert!(order.is_sorted(), "{text}");
    assert!(
        !text.contains("Gear") && !text.contains("fluid") && !text.contains("bonds"),
        "{text}"
    );
    let done: Value = serde_json::from_str(&stage.succeed("check heap.toml --passes --json").out).unwrap();
    let passes = done["passes"].as_array().unwrap();
    let listed = passes.iter().find(|pass| pass["name"] == "contacts").unwrap();
    assert_eq!((&listed["population"], &listed["exchanges"]), (&"grains".into(), &false.into()));
    // A GPU computes contacts and motion in one launch.
    let motion = passes.iter().find(|pass| pass["name"] == "motion of grains").unwrap();
    assert_eq!(listed["on_gpu"], motion["on_gpu"]);
    assert!(
        passes
            .iter()
            .all(|pass| pass["on_gpu"].as_str().is_some_and(|work| !work.is_empty())),
        "{passes:?}"
    );
    // Times of the profile are those of the passes.
    stage.succeed("run heap.toml --quiet --set run.until=1ms");
    let profile = stage.read("heap.out/profile.csv");
    let has_line = |pass: &Value| profile.lines().any(|line| line.starts_with(pass["profile"].as_str().unwrap()));
    assert!(passes.iter().all(has_line), "{profile}");
}

#[test]
fn one_table_says_where_passes_run_and_why_not() {
    let stage = Stage::new();
    let text = stage.succeed("info --placements").out;
    let row = text.lines().find(|line| line.starts_with("small grains in fluids")).unwrap();
    let number = row.split_whitespace().find(|word| word.starts_with('[')).unwrap();
    let reason = text
        .lines()
        .find(|line| line.trim_start().starts_with(number) && line.contains(": not on "))
        .unwrap();
    assert!(reason.contains("CPU domains") && reason.contains("blocks of their own"), "{reason}");
    let table: Value = serde_json::from_str(&stage.succeed("info --placements --json").out).unwrap();
    let (limits, passes) = (table["limits"].as_array().unwrap(), table["passes"].as_array().unwrap());
    assert!(
        limits.len() <= 8 && limits.iter().all(|limit| limit["why"].as_str().is_some_and(|why| why.len() > 20)),
        "{limits:?}"
    );
    // The program on one CPU is complete.
    assert!(
        passes
            .iter()
            .all(|pass| pass["limits"]["CPU"].as_array().is_some_and(Vec::is_empty))
    );
    // The passes of a scene are among those of the table.
    let out = stage.succeed("check heap.toml --passes --json").out;
    let of_scene: Value = serde_json::from_str(&out).unwrap();
    let names: Vec<&Value> = passes.iter().map(|pass| &pass["pass"]).collect();
    assert!(
        of_scene["passes"]
            .as_array()
            .unwrap()
            .iter()
            .all(|pass| names.contains(&&pass["name"])),
        "{out}"
    );
}

#[test]
fn templates_are_listed_written_once_and_right() {
    let stage = Stage::new();
    let list = stage.succeed("new --list").out;
    for template in seixo::scene::templates() {
        assert_eq!(
            list.matches(&format!("\n  {} ", template.name)).count(),
            1,
            "{}: {list}",
            template.name
        );
    }
    assert_eq!(stage.succeed("new").out, list);
    assert_eq!(stage.seixo("new bounce --list").code, 2);
    stage.succeed("new bounce");
    stage.succeed("check bounce.toml");
    // Editors find the schema by the first line.
    for template in seixo::scene::templates() {
        assert!(template.text.starts_with("#:schema ./scene.schema.json\n"), "{}", template.name);
    }
    stage.write("bounce.toml", "mine");
    let done = stage.seixo("new bounce");
    assert_eq!(done.code, 2);
    assert!(done.err.contains("bounce.toml") && done.err.contains("--force"), "{}", done.err);
    assert_eq!(stage.read("bounce.toml"), "mine");
    assert_eq!(stage.seixo("new bunce").code, 2);
}

#[test]
fn templates_bring_the_files_that_they_read() {
    let stage = Stage::new();
    assert!(stage.succeed("new teapots").out.contains("teapot.obj"));
    stage.succeed("check teapots.toml");
    // Another template that uses the same file.
    stage.succeed("new everything");
    stage.write("teapot.obj", "mine");
    let done = stage.seixo("new everything other.toml");
    assert_eq!(done.code, 2);
    assert!(done.err.contains("teapot.obj") && done.err.contains("--force"), "{}", done.err);
    assert_eq!(stage.read("teapot.obj"), "mine");
    assert!(!stage.path("other.toml").exists());
    stage.succeed("new everything other.toml --force");
    assert_ne!(stage.read("teapot.obj"), "mine");
}

#[test]
fn help_names_environment_variables() {
    let help = Stage::new().succeed("--help").out;
    for variable in ["NO_COLOR", "XDG_CACHE_HOME", "SEIXO_DATA", "SEIXO_COMMIT", "WGPU_BACKEND"] {
        let line = help.lines().find(|line| line.trim_start().starts_with(variable));
        assert!(line.is_some_and(|line| line.contains("default: ")), "{variable}: {help}");
    }
}

#[test]
fn the_schema_names_every_section() {
    let schema: Value = serde_json::from_str(&Stage::new().succeed("schema").out).unwrap();
    for section in [
        "run",
        "world",
        "material",
        "interaction",
        "grains",
        "wall",
        "fluid",
        "output",
        "checkpoint",
        "probe",
    ] {
        assert!(schema["properties"][section].is_object(), "{section}");
    }
}

#[test]
fn info_reports_machine_files_and_refuses_the_rest() {
    let stage = Stage::new();
    assert!(stage.succeed("info").out.contains("cpu"));
    stage.write("bed.csv", "x[mm],y[mm],z[mm],radius[mm]\n0,0,0,1\n10,0,0,2\n");
    let reported = stage.succeed("info bed.csv").out;
    assert!(reported.contains('2') && reported.contains("0.01"), "{reported}");
    stage.write("empty.csv", "x[mm],y[mm],z[mm],radius[mm]\n");
    let reported = stage.succeed("info empty.csv").out;
    assert!(
        reported.contains("the file has no grains") && !reported.contains("null"),
        "{reported}"
    );
    stage.write(
        "flat.stl",
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n",
    );
    assert!(stage.succeed("info flat.stl").out.contains("triangles"));
    stage.write("cut.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n");
    for (path, reported) in [
        ("nowhere", "nowhere"),
        ("cut.stl", "cut.stl"),
        ("heap.toml", "seixo check heap.toml"),
        (".", "run.json"),
    ] {
        let done = stage.seixo(&format!("info {path}"));
        assert_eq!(done.code, 2, "{path}: {}", done.out);
        assert!(done.err.contains(reported), "{path}: {}", done.err);
    }
}

#[test]
fn the_title_of_the_scene_heads_pictures() {
    let stage = Stage::new();
    stage.write("little.toml", &stage.read("heap.toml").replace("Little heap", "Small"));
    stage.succeed("run little.toml --until 0.001 --quiet");
    let pictures = ["", "--title Small", "--title little"].map(|title| {
        stage.succeed(&format!("picture little.out --size 200x200 --out titled.png {title}"));
        std::fs::read(stage.path("titled.png")).unwrap()
    });
    assert!(pictures[0] == pictures[1] && pictures[0] != pictures[2]);
}

#[test]
fn charts_come_out_of_a_run_folder() {
    let stage = Stage::new();
    stage.succeed("run heap.toml --until 0.01 --quiet");
    stage.succeed("plot heap.out");
    for chart in ["energies", "probe-flow", "probe-stress", "profile"] {
        assert!(stage.read(&format!("heap.out/plots/{chart}.svg")).contains("<svg"), "{chart}");
    }
    stage.succeed("picture heap.out --size 200x200 --contacts");
    stage.succeed("picture heap.out --size 200x200 --color pressure");
    assert_eq!(stage.seixo("picture heap.out --contacts chains --field force").code, 2);
    assert_eq!(stage.seixo("plot nowhere.out").code, 2);
    assert_eq!(stage.seixo("picture nowhere.out").code, 2);
    assert_eq!(stage.seixo("picture heap.out --size 3").code, 2);
}

#[test]
fn the_last_line_of_a_run_names_what_there_is_to_look_at() {
    let stage = Stage::new();
    let done = stage.succeed("run heap.toml --until 0.01");
    for way in ["`seixo picture heap.out`", "`seixo plot heap.out`"] {
        assert!(done.out.contains(way), "no {way} in {}", done.out);
    }
    let lists = done
        .out
        .split_once("ParaView (")
        .and_then(|(_, rest)| rest.split_once(')'))
        .unwrap()
        .0;
    assert!(lists.contains("heap.out/fields/grains.pvd"), "{lists}");
    for list in lists.split(", ") {
        assert!(stage.path(list).exists(), "{list}");
    }
}

#[test]
fn the_ending_of_a_film_names_its_format() {
    let stage = Stage::new();
    stage.succeed("run heap.toml --until 0.02 --quiet");
    stage.succeed("film heap.out --size 64x64 --rate 10 --out heap.gif --quiet");
    assert!(std::fs::read(stage.path("heap.gif")).unwrap().starts_with(b"GIF89a"));
    for (line, phrase) in [
        ("film heap.out --size 64x64 --rate 60 --out heap.gif", "--rate 50"),
        ("film heap.out --size 64x64 --out heap.avi", ".gif"),
    ] {
        let done = stage.seixo(line);
        assert!(done.code == 2 && done.err.contains(phrase), "{line}: {}", done.err);
    }
}

#[test]
fn columns_of_runs_and_measured_data_share_a_plot() {
    let stage = Stage::new();
    stage.succeed("run heap.toml --until 0.01 --quiet");
    stage.succeed("run heap.toml --until 0.01 --quiet --out other.out");
    let marks = |chart: &str| {
        let svg = stage.read(chart);
        ["<polyline", "<circle"].map(|mark| svg.matches(mark).count())
    };
    let done = stage.succeed("plot heap.out other.out --y energies.kinetic --x energies.friction");
    let chart = "heap.out/plots/energies.kinetic-over-energies.friction.svg";
    assert!(done.out.contains(chart), "{}", done.out);
    assert_eq!(marks(chart), [2, 0]);

    stage.write("measured.csv", "t [ms];T [mJ]\n1,5;2\n5;3,25\n9;1\n");
    stage.succeed("plot heap.out --y energies.kinetic --with measured.csv --map time=t --map energies.kinetic=T --out .");
    assert_eq!(marks("energies.kinetic-over-time.svg"), [1, 3]);

    stage.write("lengths.csv", "time [m],kinetic [J]\n1,2\n");
    for (line, phrases) in [
        ("plot heap.out energy", &["energy", "--y"][..]),
        ("plot heap.out other.out", &["other.out", "--y"]),
        ("plot heap.out --y nonsense", &["\"nonsense\"", "energies: time, kinetic"]),
        ("plot heap.out nowhere.out --y energies.kinetic", &["nowhere.out", "no such folder"]),
        (
            "plot heap.out --y energies.kinetic --with measured.csv",
            &["measured.csv", "t, T", "--map"],
        ),
        ("plot heap.out --y energies.kinetic --with lengths.csv", &["[m]", "[s]"]),
        (
            "plot heap.out --y energies.kinetic --with absent.csv",
            &["absent.csv: ", "--with takes a file of measured data", "first line names columns"],
        ),
        (
            "plot heap.out --y energies.kinetic --with measured.csv --map friction=T",
            &["--map friction", "time, energies.kinetic"],
        ),
        ("plot heap.out --x time", &["--y"]),
    ] {
        let done = stage.seixo(line);
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        for phrase in phrases {
            assert!(done.err.contains(phrase), "{line}: no `{phrase}` in {}", done.err);
        }
    }
}

#[test]
fn a_quick_bench_measures_frames_of_each_encoding() {
    let stage = Stage::new();
    let line = "bench frames --particles 64 --repeat 3 --every 2 --encoding compressed,raw --threads 1 --json";
    let text = stage.succeed(line).out;
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{text}");
    for (line, encoding) in lines.iter().zip(["compressed", "raw"]) {
        assert_eq!(line["encoding"], encoding);
        assert_eq!((line["particles"].as_u64(), line["frames"].as_u64()), (Some(64), Some(4)), "{line}");
        assert_eq!(line["checkpoints"]["count"], 2);
        assert!(
            line["bytes"].as_f64() > Some(1000.0) && line["copying"].as_f64() > Some(0.0),
            "{line}"
        );
        // Three frames came after the one at the start.
        let of = |key: &str| line[key].as_f64().unwrap();
        let share = 3.0 * (of("copying") + of("waiting")) / of("seconds");
        assert!(of("first_copying") > 0.0 && (of("share") / share - 1.0).abs() < 1e-12, "{line}");
    }
}

#[test]
fn the_tables_of_the_reference_are_run_beside_what_it_prints() {
    let stage = Stage::new();
    let lines_of = |line: &str| -> Vec<Value> {
        let done = stage.succeed(line);
        done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let lines = lines_of("bench rigid-fluid --steps 3 --repeat 2 --json");
    let tables: Vec<&str> = lines.iter().map(|line| line["table"].as_str().unwrap()).collect();
    assert_eq!(tables, [["6.3"; 5].as_slice(), &["6.4"; 5], &["6.5"; 4], &["6.7"; 4]].concat());
    for line in &lines {
        let of = |key: &str| line[key].as_f64().unwrap();
        assert!(of("steps_per_second") > 0.0 && of("slowest") <= of("fastest"), "{line}");
        let over = of("steps_per_second") / of("published_steps_per_second");
        assert!((of("over_published") / over - 1.0).abs() < 1e-12, "{line}");
        assert_eq!(of("body_spheres"), 76.0 * of("bodies"));
        assert_eq!(line["measurements"].as_array().unwrap().len(), 2);
        // Software Vulkan draws if there is no graphics card.
        let is_drawn =
            [&line["drawn_per_second"], &line["published_drawn_per_second"]].map(|rate| rate.as_f64().is_some_and(|rate| rate > 0.0));
        assert_eq!(is_drawn, [true; 2], "{line}");
        let pace = of("steps_per_second") * of("time_step");
        assert!(
            (of("simulated_per_second") / pace - 1.0).abs() < 1e-12 && of("seconds_per_step") > 0.0,
            "{line}"
        );
    }
    // [Silva 2010] has no larger scenes.
    let larger = &lines_of("bench rigid-fluid 6.4 --scale 2 --steps 1 --repeat 1 --json")[0];
    assert_eq!((&larger["bodies"], &larger["body_spheres"]), (&52.into(), &3952.into()));
    assert!(larger["published_steps_per_second"].is_null() && larger["over_published"].is_null());
    let searches = lines_of("bench rigid-fluid 6.4 --sphere-floor --search spatial_hash,spatial_hash_static --steps 2 --repeat 1 --json");
    let ways: Vec<&str> = searches[..2].iter().map(|line| line["search"].as_str().unwrap()).collect();
    assert_eq!((ways, searches.len()), (vec!["spatial_hash", "spatial_hash_static"], 10));
    // The floor has spheres, too.
    assert!(
        searches
            .iter()
            .all(|line| line["body_spheres"].as_u64() > line["bodies"].as_u64().map(|bodies| 76 * bodies))
    );
    let text = stage.succeed("bench rigid-fluid 6.5 --steps 1 --repeat 1 --plot charts").out;
    for part in ["[Silva 2010], table 6.5: 1.6", "bodies of 76 spheres", "of real time"] {
        assert!(text.contains(part), "{text}");
    }
    // The CPU here, and the CPU and the GPU of the reference.
    let chart = stage.read("charts/rigid-fluid-6.5.svg");
    assert_eq!(chart.matches("<polyline").count(), 3);
    for (line, reported) in [
        ("bench rigid-fluid 6.10", "6.10"),
        ("bench rigid-fluid --steps 0", "--steps"),
        ("bench rigid-fluid --mesh block.obj", "--radius"),
        ("bench rigid-fluid 6.6 --split", "add --device gpu"),
        ("bench rigid-fluid 6.5 --queues", "--device gpu"),
        ("bench rigid-fluid 6.4 --queues --device gpu", "table 6.5"),
    ] {
        let refused = stage.seixo(line);
        assert!(refused.code == 2 && refused.err.contains(reported), "{line}: {}", refused.err);
    }
}

#[test]
fn ways_to_find_pairs_are_compared_and_drawn() {
    let stage = Stage::new();
    let done = stage.succeed("bench search --particles 400 --spreads 1,4 --fluid 600,900 --repeat 1 --json --plot plots");
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Five searches for two spreads; one and two tables without walls, one, two and three with walls.
    assert_eq!(lines.len(), 20);
    for line in &lines {
        assert!(
            line["pairs"].as_u64().unwrap() > 10 && line["seconds"].as_f64().unwrap() > 0.0,
            "{line}"
        );
    }
    let ways: Vec<&str> = lines[..5].iter().map(|line| line["way"].as_str().unwrap()).collect();
    assert_eq!(
        ways,
        ["grid", "grid_multi_cell", "hierarchical_grid", "spatial_hash", "brute_force"]
    );
    // With walls there are more pairs.
    assert!(lines[12]["pairs"].as_u64() > lines[11]["pairs"].as_u64());
    for name in ["spread", "tables"] {
        let text = stage.read(&format!("plots/search-{name}.svg"));
        assert_eq!(text.matches("<polyline").count(), 5, "{name}");
        assert!(text.contains("time a particle [µs]"), "{name}");
    }
    let done = stage.succeed(
        "bench search --particles 300,600,1200 --spreads 1,4 --searches grid,brute_force --fluid 600 --repeat 1 --json --plot plots",
    );
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Two searches for three numbers of spheres and two spreads, and five comparisons of tables.
    assert_eq!(lines.len(), 17);
    for of_spread in lines[..12].chunks(6) {
        let numbers: Vec<f64> = of_spread.iter().map(|line| line["at"].as_f64().unwrap()).collect();
        assert_eq!(numbers, [300.0, 300.0, 600.0, 600.0, 1200.0, 1200.0]);
        let pairs: Vec<u64> = of_spread.iter().map(|line| line["pairs"].as_u64().unwrap()).collect();
        assert!(pairs[0] == pairs[1] && pairs[1] < pairs[2] && pairs[3] < pairs[4], "{pairs:?}");
    }
    assert!(
        lines[0]["comparison"] == "number" && lines[1]["way"] == "brute_force, ratio 1",
        "{}",
        lines[1]
    );
    assert_eq!(stage.read("plots/search-number.svg").matches("<polyline").count(), 4);
    let done = stage.succeed("bench search --whole --particles 300,600 --spreads 1 --searches grid --steps 2 --repeat 1 --json");
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // A search and a list with a skin, for two numbers of spheres, without and with friction.
    let numbers: Vec<u64> = lines.iter().map(|line| line["particles"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [300, 300, 600, 600, 300, 300, 600, 600]);
    let done = stage.succeed("bench search --whole --particles 300 --spreads 1,3 --steps 4 --repeat 1 --json --plot plots");
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Four searches and a list with a skin, for two spreads, without and with friction.
    assert_eq!(lines.len(), 20);
    for of_world in lines.chunks(5) {
        let contacts = of_world[0]["pairs"].as_u64().unwrap();
        assert!(
            contacts > 20 && of_world.iter().all(|line| line["pairs"].as_u64() == Some(contacts)),
            "{of_world:?}"
        );
    }
    assert_eq!(stage.read("plots/search-whole.svg").matches("<polyline").count(), 10);
    assert!(lines.iter().all(|line| line["ratio"].is_null()));
    let done = stage.succeed("bench search --particles 100 --spreads 1 --searches grid --fluid 600 --ratio 1,4 --repeat 3 --json");
    let lines: Vec<Value> = done.out.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines.iter().map(|line| line["ratio"].as_f64().unwrap()).collect::<Vec<_>>(),
        [[1.0; 5], [4.0; 5]].concat()
    );
    for line in &lines {
        let of = |key: &str| line[key].as_f64().unwrap();
        assert!(of("seconds_to_fill") > 0.0 && of("seconds_to_list") > 0.0, "{line}");
    }
    let refused = stage.seixo("bench search --ratio 0.5");
    assert!(refused.code == 2 && refused.err.contains("1 to 16"), "{}", refused.err);
    assert_eq!(stage.seixo("bench search --spreads 0.5").code, 2);
    assert_eq!(stage.seixo("bench search --searches gird").code, 2);
    let refused = stage.seixo("bench search --solid-fraction 0.5");
    assert!(refused.code == 2 && refused.err.contains("0.01 to 0.32"), "{}", refused.err);
}
