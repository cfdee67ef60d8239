//! Sweeps: points that are killed and continued, points that fail, and what is refused.

use crate::command_line::interruptions::lines_after_first_checkpoint;
use crate::command_line::stage::{Dice, SEIXO, Stage, signal};
use seixo::sweep::{NoSweepObserver, Point, Program, Request, State, Sweep, SweepObserver};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Three times four points, each with many checkpoints.
const VARIED: &str = "--vary interaction.clay-clay.friction=0.2..0.4..0.1 --vary run.seed=1..4";
const SHORT: &str = "--set run.until=15ms --set checkpoint.every=1us";

/// The points of a sweep, as `--dry-run` lists them: their names and settings.
fn points(stage: &Stage, line: &str) -> Vec<(String, Value)> {
    let done = stage.succeed(&format!("sweep {line} --dry-run --json"));
    let lines = done.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|line| (line["point"].as_str().unwrap().to_owned(), line["settings"].clone()))
        .collect()
}

/// The cells of `sweep.csv`, its header first. No cell of these tests has a comma, except the last ones, which are reasons.
fn table(stage: &Stage, folder: &str) -> Vec<Vec<String>> {
    let text = stage.read(&format!("{folder}/sweep.csv"));
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// The column of this name.
fn column(table: &[Vec<String>], name: &str) -> Vec<String> {
    let at = table[0]
        .iter()
        .position(|cell| cell == name)
        .unwrap_or_else(|| panic!("no {name} in {:?}", table[0]));
    table[1..].iter().map(|row| row[at].clone()).collect()
}

/// Records of the points that are finished, by their names.
fn finished(stage: &Stage, folder: &str, points: &[(String, Value)]) -> BTreeMap<String, String> {
    let records = points.iter().filter_map(|(name, _)| {
        let text = std::fs::read_to_string(stage.path(&format!("{folder}/{name}/run.json"))).ok()?;
        text.contains("\"result\": \"finished\"").then(|| (name.clone(), text))
    });
    records.collect()
}

#[test]
fn a_sweep_that_is_killed_ends_with_every_point_as_if_it_ran_alone() {
    let stage = Stage::new();
    let line = format!("heap.toml {VARIED} {SHORT} --out swept");
    let points = points(&stage, &line);
    assert_eq!(points.len(), 12);
    assert!(!stage.path("swept").exists(), "a dry run writes nothing");

    let mut dice = Dice(3);
    let mut kept = BTreeMap::new();
    for _ in 0..8 {
        let mut sweep = stage.start(&format!("sweep {line} --quiet --jobs 2"));
        sleep(Duration::from_millis(100 + dice.below(250)));
        sweep.kill().unwrap();
        sweep.wait().unwrap();
        kept.extend(finished(&stage, "swept", &points));
    }
    let done = stage.succeed(&format!("sweep {line} --jobs 3"));
    assert!(
        done.out.contains("12 points finished") && done.out.contains("swept/sweep.csv"),
        "{}",
        done.out
    );
    let last = finished(&stage, "swept", &points);
    assert_eq!(last.len(), 12);
    for (name, record) in &kept {
        assert_eq!(&last[name], record, "a finished point is not run again");
    }
    let folders = std::fs::read_dir(stage.path("swept")).unwrap().map(|entry| entry.unwrap());
    let names: BTreeSet<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let expected = points.iter().map(|(name, _)| name.clone());
    let expected: BTreeSet<String> = expected.chain(["sweep.json", "sweep.csv"].map(str::to_owned)).collect();
    assert_eq!(names, expected);

    let table = table(&stage, "swept");
    assert_eq!(column(&table, "state"), ["finished"; 12]);
    let heights = ["middle.z [m]", "middle.z_mean [m]"].map(|name| column(&table, name));
    for (k, (name, settings)) in points.iter().enumerate() {
        let of = |key: &str| settings[key].as_str().unwrap().to_owned();
        let (friction, seed) = (of("interaction.clay-clay.friction"), of("run.seed"));
        assert_eq!(table[k + 1][..3], [name.clone(), friction.clone(), seed.clone()]);
        let alone = format!("alone-{k}");
        stage.succeed(&format!(
            "run heap.toml {SHORT} --set interaction.clay-clay.friction={friction} --set run.seed={seed} --out {alone} --quiet"
        ));
        stage.assert_same(&format!("swept/{name}"), &alone);
        let probe = stage.read(&format!("{alone}/probes/middle.csv"));
        assert_eq!(
            Some(heights[0][k].as_str()),
            probe.lines().last().and_then(|line| line.split(',').nth(3))
        );
        // The grains fall, so that their mean height is between the first and the last.
        let [end, mean] = [0, 1].map(|what| heights[what][k].parse::<f64>().unwrap());
        let start: f64 = probe
            .lines()
            .nth(1)
            .and_then(|line| line.split(',').nth(3))
            .unwrap()
            .parse()
            .unwrap();
        assert!(end < mean && mean < start, "{end} {mean} {start}");
    }
    // All is done: the same command reads the results.
    let clock = stage.read("swept/sweep.csv");
    stage.succeed(&format!("sweep {line} --quiet"));
    assert_eq!(stage.read("swept/sweep.csv"), clock);
}

#[test]
fn a_point_that_fails_is_listed_with_its_words_and_the_others_are_run() {
    let stage = Stage::new();
    let line = "sweep heap.toml --vary run.time_step=10us,1s,12us --until 1ms --out swept";
    let done = stage.seixo(line);
    assert_eq!(done.code, 1, "{}", done.err);
    for part in ["1 of 3 points failed", "run.time_step=1 s", "stable limit", "swept/sweep.csv"] {
        assert!(done.err.contains(part), "no \"{part}\" in {}", done.err);
    }
    let found = table(&stage, "swept");
    assert_eq!(column(&found, "state"), ["finished", "failed", "finished"]);
    assert_eq!(column(&found, "run.time_step"), ["10 us", "1 s", "12 us"]);
    assert!(stage.read("swept/sweep.csv").contains("stable limit"));
    let again = stage.seixo(&format!("{line} --json"));
    assert_eq!(again.code, 1, "{}", again.err);
    let lines: Vec<Value> = again.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tried: Vec<&Value> = lines.iter().filter(|line| line["event"] == "point").collect();
    assert_eq!(tried.len(), 1, "only the failed point is tried again: {}", again.out);
    assert!(tried[0]["reason"].as_str().unwrap().contains("stable limit"), "{}", tried[0]);
}

#[test]
fn a_point_whose_process_ends_by_force_fails_alone_and_is_continued() {
    let stage = Stage::new();
    // Longer than the test; the rod does not move, as it would be pressed through the floor.
    let long = "--until 4 --set output.every=4s --set wall.rod.motion.translate=[0,0,0]";
    let line = format!("heap.toml --vary run.seed=1,2 {long} --out swept --jobs 2");
    let points = points(&stage, &line);
    let sweep = stage.start(&format!("sweep {line}"));
    let clock = Instant::now();
    while !stage.path("swept/sweep.csv").exists() || column(&table(&stage, "swept"), "state") != ["running"; 2] {
        assert!(clock.elapsed() < Duration::from_secs(60), "the table does not show that points run");
        sleep(Duration::from_millis(5));
    }
    for (name, _) in &points {
        while !stage.path(&format!("swept/{name}/checkpoints/state.checkpoint")).exists() {
            assert!(clock.elapsed() < Duration::from_secs(60), "no checkpoint");
            sleep(Duration::from_millis(5));
        }
    }
    let owner: Value = serde_json::from_str(&stage.read(&format!("swept/{}/lock", points[0].0))).unwrap();
    let kill = format!("kill -KILL {}", owner["pid"]);
    assert!(stage.command("sh", "-c").arg(kill).status().unwrap().success());
    let other = stage.seixo(&format!("sweep {line}"));
    assert_eq!(other.code, 2, "two sweeps of one folder: {}", other.err);
    assert!(other.err.contains("process "), "{}", other.err);
    signal(&sweep, "TERM");
    let output = sweep.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    for part in ["SIGKILL", "0 of 2 points finished", "the same command continues"] {
        assert!(said.contains(part), "no \"{part}\" in {said}");
    }
    assert_eq!(column(&table(&stage, "swept"), "state"), ["failed", "interrupted"]);
    assert!(stage.checkpoint(&format!("swept/{}", points[1].0)).0.steps > 0);
}

#[test]
fn wrong_variations_are_refused_before_anything_is_written() {
    let stage = Stage::new();
    for (flags, reported) in [
        ("--vary interaction.clay-clay.fricton=0.2,0.3", "did you mean `friction`?"),
        ("--vary interaction.clay-caly.friction=0.2,0.3", "did you mean `clay-clay`?"),
        ("--vary run.seed=5..1", "5..1 is empty"),
        ("--vary run.seed", "such as run.seed=1..5"),
        ("--vary run.seed=1..5..0", "zero"),
        ("--vary run.seed=1..9..5", "write 6 as its end"),
        ("--vary run.seed=1,1", "run.seed has the value 1 twice"),
        ("--vary material.clay.density=1..3..1m", "density"),
        ("--vary interaction.clay-clay.friction=0.2,-1", "friction"),
        ("--vary interaction.clay-clay.friction=0.2..0.4", "0.2..0.4..0.05"),
        ("--vary run.seed=1..400 --vary grains.heap.fill.count=1..400", "160000 points"),
        ("--vary run.seed=1,2 --vary run.seed=3", "varied twice"),
        ("--vary run.seed=1,2 --set run.seed=3", "also set"),
        ("--vary run.seed=1..3 --sample sobol", "lhs:40"),
        ("--vary run.seed=1..3 --gpus 2 --device cpu", "--gpus"),
        ("--vary run.seed=1..3 --gpus 1000", "1000 GPUs are asked for"),
        ("--out swept", "--vary"),
    ] {
        let done = stage.seixo(&format!("sweep heap.toml {flags}"));
        assert_eq!(done.code, 2, "{flags}: {}", done.err);
        assert!(done.err.contains(reported), "{flags}: {}", done.err);
    }
    assert_eq!(stage.seixo("sweep nowhere.toml --vary run.seed=1,2").code, 2);
    assert_eq!(std::fs::read_dir(stage.path("")).unwrap().count(), 1);
}

#[test]
fn a_folder_keeps_its_sweep() {
    let stage = Stage::new();
    let line = "sweep heap.toml --until 1ms --vary run.seed=1..2 --out swept --quiet";
    stage.succeed(line);
    let refuse = |line: &str, reported: &str| {
        let done = stage.seixo(line);
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        assert!(done.err.contains(reported) && done.err.contains("--out"), "{line}: {}", done.err);
    };
    refuse(
        &line.replace("1..2", "1..3"),
        "2 points over run.seed with run.until=1ms; this one is of 3 points",
    );
    refuse(&line.replace("1ms", "2ms"), "with run.until=2ms");
    refuse(&line.replace("1..2", "1,4"), "values of run.seed only there: 2; only here: 4");
    // The same points, otherwise written.
    stage.succeed(&line.replace("1..2", "2,1"));
    let before = stage.read("swept/sweep.csv");
    stage.write("heap.toml", &stage.read("heap.toml").replace("20 MPa", "21 MPa"));
    refuse(line, "a sweep of another scene");
    assert_eq!(stage.read("swept/sweep.csv"), before);
    std::fs::create_dir(stage.path("photos")).unwrap();
    stage.write("photos/sweep.csv", "precious");
    refuse(&line.replace("swept", "photos"), "not the folder of a sweep");
    assert_eq!(stage.read("photos/sweep.csv"), "precious");
}

#[test]
fn a_file_that_the_scene_names_belongs_to_the_scene() {
    let stage = Stage::new();
    let bed = "x[mm],y[mm],z[mm],radius[mm]\n0,0,5,1\n10,0,5,2\n0,10,5,2\n-10,0,5,2\n0,0,15,2\n";
    stage.write("bed.csv", bed);
    let scene = stage.read("heap.toml");
    let (before, rest) = scene.split_once("[grains.heap.fill]").unwrap();
    let (_, after) = rest.split_once("[wall.box]").unwrap();
    let after = after.replace("position = 7", "position = 1");
    stage.write("heap.toml", &format!("{before}file = \"bed.csv\"\n[wall.box]{after}"));
    let line = "sweep heap.toml --until 0.1ms --vary interaction.clay-clay.friction=0.2,0.3 --quiet";
    stage.succeed(line);
    assert!(stage.path("heap.sweep/sweep.csv").exists());
    stage.write("bed.csv", &bed.replace("15", "16"));
    let done = stage.seixo(line);
    assert!(done.code == 2 && done.err.contains("a file that it names"), "{}", done.err);
}

#[test]
fn a_sample_is_spread_over_each_key_and_depends_on_its_seed_only() {
    let stage = Stage::new();
    let line = "heap.toml --vary interaction.clay-clay.friction=0..1 --vary run.seed=1..4 --sample lhs:8";
    let drawn = points(&stage, line);
    assert_eq!(drawn.len(), 8);
    let of = |key: &str| -> Vec<f64> {
        let mut values: Vec<f64> = drawn
            .iter()
            .map(|(_, settings)| settings[key].as_str().unwrap().parse().unwrap())
            .collect();
        values.sort_by(f64::total_cmp);
        values
    };
    for (k, friction) in of("interaction.clay-clay.friction").into_iter().enumerate() {
        assert!((k as f64 / 8.0..=(k + 1) as f64 / 8.0).contains(&friction), "point {k}: {friction}");
    }
    assert_eq!(of("run.seed"), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
    assert_eq!(points(&stage, line), drawn);
    assert_ne!(points(&stage, &format!("{line} --sample-seed 2")), drawn);
}

#[test]
fn each_gpu_computes_a_point_at_a_time() {
    let stage = Stage::new();
    stage.succeed("sweep heap.toml --until 0.1ms --vary run.seed=1,2 --gpus 1 --precision f32 --out swept --quiet");
    assert_eq!(column(&table(&stage, "swept"), "state"), ["finished"; 2]);
    for (name, _) in points(&stage, "heap.toml --until 0.1ms --vary run.seed=1,2 --gpus 1 --precision f32") {
        let record = stage.record(&format!("swept/{name}"));
        assert_ne!(record["device"], "CPU");
        assert_eq!(record["precision"], "f32");
    }
}

#[test]
fn a_run_stops_with_a_checkpoint_when_its_input_ends() {
    let stage = Stage::new();
    stage.succeed("run heap.toml --quiet --out whole --until 0.06");
    let mut command = stage.command(SEIXO, "run heap.toml --json --out split --until 0.06 --stop-at-end-of-input");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let input = child.stdin.take().unwrap();
    let lines = lines_after_first_checkpoint(&mut child);
    drop(input);
    let last = lines.last().unwrap();
    assert_eq!((child.wait().unwrap().code(), &last["event"]), (Some(130), &"interrupted".into()));
    stage.succeed("resume split --quiet");
    stage.assert_same("split", "whole");
}

/// Names of the points that ended, with their states.
#[derive(Default)]
struct Ended(BTreeSet<(String, String)>);

impl SweepObserver for Ended {
    fn ended(&mut self, point: &Point, state: &State, _wall_time: Option<f64>) {
        self.0.insert((point.name.clone(), state.word().to_owned()));
    }
}

#[test]
fn a_scene_that_is_in_no_file_is_kept_beside_its_points() {
    let stage = Stage::new();
    let text = stage.read("heap.toml").replacen("friction = 0.4", "friction = 0.125", 1);
    let request = Request {
        text: Some(text.clone()),
        vary: vec!["run.seed=1,2".parse().unwrap()],
        settings: vec![("run.until".to_owned(), "1 ms".to_owned())],
        ..Request::new(stage.path("heap.toml"))
    };
    let sweep = Sweep::new(request).unwrap();
    let (folder, program) = (stage.path("swept"), Program::new(SEIXO.into(), Vec::new()));
    let stopped = sweep.run(&folder, &program, &AtomicBool::new(true), &mut NoSweepObserver).unwrap();
    assert!(stopped.is_interrupted() && stopped.finished() == 0, "{:?}", stopped.states);
    let mut ended = Ended::default();
    let end = sweep.run(&folder, &program, &AtomicBool::new(false), &mut ended).unwrap();
    assert_eq!(end.states, [State::Finished, State::Finished]);
    let names = sweep.points().iter().map(|point| (point.name.clone(), "finished".to_owned()));
    assert_eq!(ended.0, names.collect::<BTreeSet<_>>());
    assert_eq!(stage.read("swept/scene.toml"), text);
    for point in sweep.points() {
        let run = stage.read(&format!("swept/{}/scene.toml", point.name));
        assert!(run.contains("friction = 0.125"), "{run}");
    }
}
