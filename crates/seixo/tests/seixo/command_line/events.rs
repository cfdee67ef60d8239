//! Inlets, zones and stages on the command line.

use crate::command_line::rows;
use crate::command_line::stage::{Dice, Stage};

/// Grains enter through two inlets, settle on a plate that is then removed, and fall into a zone. A rod of the second stage pushes them.
const COURSE: &str = r#"
title = "Course"
[run]
until = "0.3 s"
time_step = "15 us"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
domain = { min = ["-6 cm", "-6 cm", "-6 cm"], max = ["6 cm", "6 cm", "12 cm"] }
leaving = "delete"
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "5 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.4
friction = 0.4
[grains.a]
material = "clay"
inlet = { through = { disc = { center = [0, 0, "8 cm"], normal = [0, 0, -1], radius = "18 mm" } }, rate = "0.4 kg/s", to = "80 ms", radius = { uniform = ["2 mm", "3 mm"] }, velocity = [0, 0, "-0.8 m/s"] }
[grains.b]
material = "clay"
inlet = { through = { box = { min = ["-18 mm", "-18 mm", "80 mm"], max = ["18 mm", "18 mm", "11 cm"] } }, rate = "1000 1/s", from = "20 ms", count = 40, radius = "2.5 mm" }
[grains.seed]
material = "clay"
at = [[0, 0, "3 mm"], ["1 cm", 0, "3 mm"]]
radius = "2.5 mm"
[grains.late]
material = "clay"
at = [["5 cm", 0, 0], ["5 cm", 0, "1 cm"]]
radius = "4 mm"
[wall.tube]
material = "clay"
cylinder = { from = [0, 0, "-1 mm"], to = [0, 0, "11 cm"], radius = "28 mm", segments = 24 }
[wall.plate]
material = "clay"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[wall.rod]
material = "clay"
cylinder = { from = [0, "-30 mm", "-2 cm"], to = [0, "30 mm", "-2 cm"], radius = "5 mm", segments = 12, caps = ["from", "to"] }
motion = { rotate = "10 rad/s", axis = [0, 1, 0], through = [0, 0, "-2 cm"] }
[zone.floor]
remove = true
region = { box = { min = ["-6 cm", "-6 cm", "-6 cm"], max = ["6 cm", "6 cm", "-3 cm"] } }
every = "1 ms"
[[stage]]
name = "fill"
until = "time > 90.5 ms"
[[stage]]
name = "settle"
until = "kinetic_energy < 1e-3 J or duration 60 ms"
hold = "5 ms"
remove = ["grains.seed"]
[[stage]]
name = "open"
remove = ["wall.plate"]
add = ["wall.rod", "grains.late"]
set = { gravity = [0, 0, "-12 m/s^2"], grains.late.velocity = ["-0.1 m/s", 0, 0] }
[[stage]]
name = "turn"
until = "grains < 5"
set = { wall.rod.motion = { translate = [0, 0, "-1 cm/s"] } }
[output]
every = "10 ms"
energies_every = "1 ms"
[probe.rod]
wall_force = "rod"
"#;

fn stage() -> Stage {
    let stage = Stage::new();
    stage.write(
        "course.toml",
        &COURSE.replace("name = \"open\"", "name = \"open\"\nuntil = \"duration 50 ms\""),
    );
    stage
}

/// Returns the last line of the table of inlets and zones, by column.
fn exchanged(stage: &Stage, run: &str) -> Vec<(String, f64)> {
    let text = stage.read(&format!("{run}/exchange.csv"));
    let (names, last) = (text.lines().next().unwrap(), text.lines().last().unwrap());
    let values = last.split(',').map(|cell| cell.parse().unwrap());
    names.split(',').map(str::to_owned).zip(values).collect()
}

fn of(exchanged: &[(String, f64)], name: &str) -> f64 {
    exchanged
        .iter()
        .find(|(other, _)| other == name)
        .unwrap_or_else(|| panic!("{name}"))
        .1
}

#[test]
fn stages_follow_each_other_and_inlets_keep_their_rates() {
    let stage = stage();
    let done = stage.succeed("run course.toml --out whole");
    for reported in [
        "stage fill begins",
        "stage fill ends: time = ",
        "stage settle ends: ",
        "stage turn begins",
    ] {
        assert!(done.err.contains(reported), "{reported}: {}", done.err);
    }
    let record = stage.record("whole");
    let stages = record["stages"].as_array().unwrap();
    let names: Vec<&str> = stages.iter().map(|stage| stage["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fill", "settle", "open", "turn"]);
    // A time is looked at at the step that passes it, 16 µs long, not only every millisecond.
    assert!((stages[0]["ended"].as_f64().unwrap() - 0.0905).abs() < 16e-6, "{}", stages[0]);
    let open = stages[2]["ended"].as_f64().unwrap() - stages[2]["began"].as_f64().unwrap();
    assert!((open - 0.050).abs() < 16e-6, "{open}");
    let exchanged = exchanged(&stage, "whole");
    // 0.4 kg/s for 80 ms, to half of the largest grain: 0.14 g.
    assert!((of(&exchanged, "inlet_a_mass [kg]") - 0.032).abs() < 1.5e-4, "{exchanged:?}");
    assert_eq!(of(&exchanged, "inlet_b_count"), 40.0);
    assert!(of(&exchanged, "zone_floor_count") > 100.0, "{exchanged:?}");
    // The remaining grains are those that entered, plus two late ones, without those of the seed and those that the zone removed; none leaves the
    // domain.
    let there = of(&exchanged, "inlet_a_count") + 40.0 + 2.0 - of(&exchanged, "zone_floor_count");
    assert_eq!(record["grains"].as_f64().unwrap(), there);
    let ledger = stage.read("whole/energies.csv");
    let numbers = |line: &str| line.split(',').map(|cell| cell.parse::<f64>().unwrap()).collect::<Vec<f64>>();
    let names: Vec<&str> = ledger.lines().next().unwrap().split(',').collect();
    let last = numbers(ledger.lines().last().unwrap());
    let at = |name: &str| last[names.iter().position(|other| *other == name).unwrap()];
    let taken = at("normal_damping [J]") + at("tangential_damping [J]") + at("friction [J]");
    assert!(at("residual [J]").abs() < 1e-2 * taken, "{} of {taken}", at("residual [J]"));
    let reported = stage.succeed("info whole").out;
    assert!(reported.contains("turn"), "{reported}");
    let reported = stage.succeed("check course.toml").out;
    for line in [
        "inlets     a, 0.4 kg/s from 0 s to 80.0 ms",
        " at the start; about ",
        " grains enter later",
        "zones      floor",
        "settle until kinetic_energy",
        "removes wall.plate",
    ] {
        assert!(reported.contains(line), "{line}: {reported}");
    }
}

/// A ball falls from rest, so that it moves at every check. The second stage begins at 0.3 ms.
const CLOCKS: &str = r#"
[run]
until = "3 ms"
time_step = "10 us"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "5 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.4
friction = 0.4
[grains.ball]
material = "clay"
at = [[0, 0, 0]]
radius = "2 mm"
[[stage]]
name = "wait"
until = "duration 0.3 ms"
[[stage]]
name = "fall"
until = "largest_speed > 0 m/s"
every = "1 ms"
hold = "0.5 ms"
[[stage]]
name = "rest"
[output]
every = "1 ms"
"#;

#[test]
fn a_stage_is_looked_at_by_its_own_clock_and_ends_when_its_hold_does() {
    let stage = Stage::new();
    stage.write("clocks.toml", CLOCKS);
    stage.succeed("run clocks.toml --quiet --out whole");
    let stages = stage.record("whole")["stages"].clone();
    let began = |k: usize| stages[k]["began"].as_f64().unwrap();
    // The first check is 1 ms after the start of the stage, and 0.5 ms later the stage has held: to a step of 10 µs.
    assert!((began(1) - 0.3e-3).abs() < 5e-6 && (began(2) - 1.8e-3).abs() < 5e-6, "{stages}");
    let explained = stage.succeed("explain stage.every").out;
    assert!(
        explained.contains("counted from the start of the stage") && explained.contains("up to one such time after"),
        "{explained}"
    );
    // Interrupted before the stage, before its check, and while it holds.
    for split in ["0.0002", "0.0009", "0.0016"] {
        let run = format!("split-{split}");
        stage.succeed(&format!("run clocks.toml --quiet --until {split} --out {run}"));
        stage.succeed(&format!("resume {run} --quiet --until 0.003"));
        assert_eq!(stage.record(&run)["stages"], stages, "{split}");
    }
}

#[test]
fn a_run_that_ends_before_its_stages_begin_names_them() {
    let stage = Stage::new();
    stage.write(
        "clocks.toml",
        &CLOCKS.replace(
            "name = \"rest\"",
            "name = \"pause\"\nuntil = \"time > 2.5 ms\"\n[[stage]]\nname = \"rest\"",
        ),
    );
    let missed = "the run ends in stage fall, before these began: pause, rest; ";
    let done = stage.succeed("run clocks.toml --until 0.001");
    assert_eq!(done.err.matches(missed).count(), 1, "{}", done.err);
    assert!(stage.read("clocks.out/log.jsonl").contains(missed));
    // The last stage begins, and the run ends in it.
    let done = stage.succeed("resume clocks.out --until 0.003");
    assert!(
        done.err.contains("stage rest begins") && !done.err.contains("the run ends in"),
        "{}",
        done.err
    );
}

#[test]
fn what_happens_does_not_depend_on_threads_outputs_or_interruptions() {
    let stage = stage();
    stage.succeed("run course.toml --quiet --threads 1 --out whole");
    for threads in [2, 3] {
        let run = format!("threads-{threads}");
        stage.succeed(&format!("run course.toml --quiet --threads {threads} --out {run}"));
        std::fs::copy(stage.path("whole/scene.toml"), stage.path(&format!("{run}/scene.toml"))).unwrap();
        stage.assert_same(&run, "whole");
    }
    let rare = "--set output.every=0.0333 --set output.energies_every=0.1";
    stage.succeed(&format!("run course.toml --quiet --out rare {rare}"));
    assert_eq!(stage.checkpoint("rare").1, stage.checkpoint("whole").1);
    assert_eq!(stage.record("rare")["stages"], stage.record("whole")["stages"]);
    let mut dice = Dice(3);
    for split in 0..8 {
        let run = format!("split-{split}");
        let (first, second) = (0.001 * dice.below(150) as f64 + 0.0005, 0.151 + 0.001 * dice.below(140) as f64);
        stage.succeed(&format!("run course.toml --quiet --until {first} --out {run}"));
        stage.succeed(&format!("resume {run} --quiet --until {second} --threads 1"));
        stage.succeed(&format!("resume {run} --quiet --until 0.3 --threads 2"));
        std::fs::copy(stage.path("whole/scene.toml"), stage.path(&format!("{run}/scene.toml"))).unwrap();
        stage.assert_same(&run, "whole");
        assert_eq!(stage.record(&run)["stages"], stage.record("whole")["stages"]);
    }
}

#[test]
fn a_gpu_lets_the_same_happen() {
    let stage = stage();
    // The longest stable steps: a processor that emulates a GPU is slow.
    let long_steps = "--set run.time_step=20us";
    let short = format!("--until 0.17 --set zone.floor.every=2ms {long_steps}");
    stage.succeed(&format!("run course.toml --quiet {short} --out cpu"));
    stage.succeed(&format!("run course.toml --quiet {short} --device gpu --precision f64 --out gpu"));
    let (cpu, gpu) = (exchanged(&stage, "cpu"), exchanged(&stage, "gpu"));
    for name in ["inlet_a_count", "inlet_a_mass [kg]", "inlet_b_count", "inlet_b_mass [kg]"] {
        assert!((of(&cpu, name) / of(&gpu, name) - 1.0).abs() < 1e-12, "{name}");
    }
    let began = |run: &str| {
        let record = stage.record(run);
        let stages = record["stages"].as_array().unwrap().iter();
        stages
            .map(|stage| (stage["name"].clone(), stage["began"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(began("cpu"), began("gpu"));
    assert_eq!(stage.record("cpu")["grains"], stage.record("gpu")["grains"]);
    // A run on the GPU resumes with the same bits too.
    stage.succeed(&format!(
        "run course.toml --quiet --until 0.12 --device gpu --precision mixed {long_steps} --out whole"
    ));
    stage.succeed(&format!(
        "run course.toml --quiet --until 0.077 --device gpu --precision mixed {long_steps} --out split"
    ));
    stage.succeed("resume split --quiet --until 0.12");
    std::fs::copy(stage.path("whole/scene.toml"), stage.path("split/scene.toml")).unwrap();
    stage.assert_same("split", "whole");
}

#[test]
fn an_inlet_that_cannot_keep_its_rate_says_what_it_reached() {
    let stage = stage();
    let scene = stage.read("course.toml").replace("rate = \"0.4 kg/s\"", "rate = \"6 kg/s\"");
    stage.write("jam.toml", &scene);
    let reported = stage.succeed("check jam.toml").out;
    assert!(reported.contains("6 kg/s were asked for; about"), "{reported}");
    let done = stage.succeed("run jam.toml --until 0.1 --out jam");
    assert!(
        done.err.contains("inlet a: 6 kg/s were asked for, ") && done.err.contains("were reached"),
        "{}",
        done.err
    );
    let came = of(&exchanged(&stage, "jam"), "inlet_a_mass [kg]");
    assert!(came < 0.9 * 0.48 && came > 0.02, "{came} kg of 0.48 kg");
}

#[test]
fn a_stage_that_could_not_begin_is_refused_before_the_run() {
    let stage = stage();
    let scene = stage
        .read("course.toml")
        .replace("at = [[\"5 cm\", 0, 0]", "at = [[\"5 cm\", 0, \"8 mm\"]");
    stage.write("taken.toml", &scene);
    let done = stage.seixo("run taken.toml");
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(
        done.err.contains("cannot be added at") && done.err.contains("taken.toml:57:7"),
        "{}",
        done.err
    );
    assert!(!stage.path("taken.out").exists());
}

/// Grains rest in two layers and are bonded by `bonds`. The upper layer is fixed, moved on a path and released, and lifts the lower one; then the
/// bonds are removed.
const GLUE: &str = r#"
[run]
until = "60 ms"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "5 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.4
friction = 0.4
[grains.low]
material = "clay"
at = [[0, 0, "2 mm"], ["4 mm", 0, "2 mm"], ["8 mm", 0, "2 mm"]]
radius = "2 mm"
[grains.high]
material = "clay"
at = [[0, 0, "6 mm"], ["4 mm", 0, "6 mm"], ["8 mm", 0, "6 mm"]]
radius = "2 mm"
[wall.plate]
material = "clay"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[bonds.cement]
among = ["high", "low"]
youngs_modulus = "1 MPa"
damping_ratio = 0.1
one_piece = true
[[stage]]
name = "settle"
until = "duration 20 ms"
[[stage]]
name = "glue"
until = "duration 1 ms"
add = ["bonds.cement"]
[[stage]]
name = "lift"
until = "duration 10 ms"
set = { grains.high.motion = { translate = [0, 0, "0.1 m/s"] } }
[[stage]]
name = "throw"
until = "duration 5 ms"
set = { grains.high = { fixed = false, force = [0, 0, "10 mN"] } }
[[stage]]
name = "part"
remove = ["bonds.cement"]
set = { grains.low.velocity = [0, 0, 0] }
[output]
every = "10 ms"
energies_every = "1 ms"
[probe.glue]
bonds = true
every = "1 ms"
[probe.high]
group_center = "high"
every = "1 ms"
[probe.low]
group_center = "low"
every = "1 ms"
"#;

#[test]
fn glue_comes_and_goes_and_grains_are_held_and_thrown() {
    let stage = Stage::new();
    stage.write("glue.toml", GLUE);
    stage.succeed("run glue.toml --quiet --threads 1 --out whole");
    let last_before = |probe: &str, time: f64| -> Vec<f64> {
        let text = stage.read(&format!("whole/probes/{probe}.csv"));
        let numbers = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>();
        text.lines().skip(1).map(numbers).take_while(|row| row[0] < time).last().unwrap()
    };
    // Two layers of three grains, and bonds between them: 2 + 2 + 3 bonds.
    assert_eq!(last_before("glue", 0.0195)[1..], [0.0, 0.0]);
    assert_eq!(last_before("glue", 0.0355)[1..], [7.0, 7.0]);
    assert_eq!(last_before("glue", 1.0)[1..], [7.0, 0.0]);
    // The lower layer hangs on the upper one, which rises by 1 mm.
    let heights = |time: f64| ["high", "low"].map(|probe| last_before(probe, time)[3]);
    let ([high, low], [lifted, carried]) = (heights(0.0205), heights(0.0315));
    assert!((lifted - high - 1e-3).abs() < 0.15e-3, "{high} {lifted}");
    assert!((carried - low - 1e-3).abs() < 0.2e-3, "{low} {carried}");
    for split in ["0.0105", "0.0205", "0.0245", "0.0325", "0.0385"] {
        let run = format!("split-{split}");
        stage.succeed(&format!("run glue.toml --quiet --until {split} --out {run}"));
        stage.succeed(&format!("resume {run} --quiet --until 0.06 --threads 2"));
        std::fs::copy(stage.path("whole/scene.toml"), stage.path(&format!("{run}/scene.toml"))).unwrap();
        stage.assert_same(&run, "whole");
    }
}

/// Water enters from a tap that one stage opens and another one closes, and falls into a sink.
const TAP: &str = r#"
[run]
until = "0.3 s"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[fluid.water]
density = 1000
spacing = "1 cm"
plane = "xz"
fastest = "3 m/s"
[inlet.tap]
through = { disc = { center = [0, 0, "50 cm"], normal = [0, 0, -1], radius = "2 cm" } }
speed = "1 m/s"
[outlet.sink]
through = { box = { min = [-1, -1, -1], max = [1, 1, 0.2] } }
[[stage]]
name = "wait"
until = "duration 0.05 s"
[[stage]]
name = "pour"
add = ["inlet.tap"]
until = "duration 0.15 s"
[[stage]]
name = "drip"
remove = ["inlet.tap"]
[output]
every = "50 ms"
"#;

#[test]
fn a_tap_is_opened_and_shut_and_the_table_reports_what_came_and_went() {
    let stage = Stage::new();
    stage.write("tap.toml", TAP);
    let reported = stage.succeed("check tap.toml").out;
    assert!(
        reported.contains("tap, water at 1.00 m/s in layers of 4") && reported.contains("sink"),
        "{reported}"
    );
    stage.succeed("run tap.toml --quiet --threads 1 --out whole");
    let passed = exchanged(&stage, "whole");
    // 15 cm of water in layers of 1 cm, each with four particles of 0.1 kg, per meter of depth.
    assert_eq!(of(&passed, "inlet_tap_count"), 60.0);
    assert!((of(&passed, "inlet_tap_mass [kg]") - 6.0).abs() < 1e-9, "{passed:?}");
    // Particles of the first 80 ms had the 165 ms that a fall of 30 cm takes.
    let sunk = of(&passed, "outlet_sink_count");
    assert!((28.0..60.0).contains(&sunk), "{sunk}");
    assert_eq!(stage.record("whole")["fluid_particles"].as_f64().unwrap(), 60.0 - sunk);
    for split in ["0.03", "0.111", "0.25"] {
        let run = format!("split-{split}");
        stage.succeed(&format!("run tap.toml --quiet --until {split} --out {run}"));
        stage.succeed(&format!("resume {run} --quiet --until 0.3 --threads 2"));
        std::fs::copy(stage.path("whole/scene.toml"), stage.path(&format!("{run}/scene.toml"))).unwrap();
        stage.assert_same(&run, "whole");
    }
}

#[test]
fn grains_that_come_later_bring_their_heat() {
    let stage = Stage::new();
    stage.write("later.toml", include_str!("scenes/heat-and-later-grains.toml"));
    stage.succeed("check later.toml");
    let probe = "[probe.later]\ngroup_temperature = \"later\"\n";
    stage.write("later.toml", &(stage.read("later.toml") + probe));
    stage.succeed("run later.toml --quiet --out later.out");
    let temperatures = rows(&stage.read("later.out/probes/later.csv"));
    let mean = temperatures.last().unwrap()[1];
    // They have no contacts.
    assert!((mean - 400.0).abs() < 1e-9, "{mean} K");
}

#[test]
fn what_a_stage_cannot_do_is_refused_before_the_run() {
    let stage = Stage::new();
    for (name, text, phrases) in [
        (
            "carried.toml",
            include_str!("scenes/stage-holds-carried-grains.toml"),
            [
                "stage two: grains g: grains coupled to fluids cannot be fixed while they move",
                "fix them from the start",
            ],
        ),
        (
            "belt.toml",
            include_str!("scenes/stage-moves-a-running-belt.toml"),
            [
                "stage two: wall roll bounds a fluid and moves while its surface runs",
                "make two walls of it",
            ],
        ),
    ] {
        stage.write(name, text);
        let line = 1 + text.lines().position(|line| line.starts_with("set = ")).unwrap();
        for command in ["check", "run"] {
            let done = stage.seixo(&format!("{command} {name}"));
            assert_eq!(done.code, 2, "{}", done.err);
            let place = format!("{name}:{line}:");
            assert!(
                done.err.contains(&place) && phrases.iter().all(|phrase| done.err.contains(phrase)),
                "{}",
                done.err
            );
        }
    }
}

/// The body that others become part of must not be mistaken for the one on which fluids acted.
#[test]
fn a_group_is_held_as_a_body_in_a_fluid_goes() {
    let stage = Stage::new();
    stage.write("held.toml", include_str!("scenes/group-held-as-a-body-goes.toml"));
    for solver in ["wcsph", "dfsph"] {
        let line = format!("run held.toml --quiet --out {solver} --set fluid.oil.solver={solver} --set output.every=5us");
        stage.succeed(&line);
        assert_eq!(stage.record(solver)["result"], "finished");
    }
}
