//! Runs with MPI ranks: the same files as any other run, one message in case of an error, and no rank that waits forever.

use crate::stage::{Done, SEIXO, Stage};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Longest duration of a job after one of its ranks is killed.
const SOON: Duration = Duration::from_secs(10);

/// All ranks are on this machine and use its loopback, also as root in a container; a job that hangs is ended.
const MPIRUN: &str =
    "--allow-run-as-root --oversubscribe --bind-to none --mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include lo --timeout 200";

fn launcher(stage: &Stage, ranks: usize, line: &str) -> Command {
    let mut command = stage.command("mpirun", &format!("{MPIRUN} -n {ranks} {SEIXO} {line}"));
    // Concurrent jobs fail because of the folder that Open MPI creates for all jobs of a user.
    command.env("TMPDIR", stage.path("."));
    command
}

fn among(stage: &Stage, ranks: usize, line: &str) -> Done {
    Done::of(launcher(stage, ranks, line))
}

/// The record of a decomposed run without the imbalance that a clock measured.
fn record_but_for_clocks(stage: &Stage, run: &str) -> Value {
    let mut record = stage.record(run);
    record["decomposition"].as_object_mut().unwrap().remove("imbalance_by_time");
    record
}

/// Asserts that a job failed, and that one rank printed the reason.
fn assert_reported_once(done: &Done, what: &str) {
    let said = format!("{}{}", done.out, done.err);
    assert!(done.code != 0, "{said}");
    assert_eq!(said.matches(what).count(), 1, "\"{what}\" in\n{said}");
}

#[test]
fn ranks_write_what_threads_and_one_process_write() {
    let stage = Stage::new();
    let short = "--until 0.02 --quiet";
    stage.succeed(&format!("run heap.toml {short} --set run.decomposition_invariant=true --out whole"));
    for ranks in [2, 4] {
        let run = format!("run heap.toml {short} --out ranks-{ranks}");
        among(&stage, ranks, &run).succeeded(&run);
        stage.succeed(&format!("run heap.toml {short} --domains {ranks} --out threads-{ranks}"));
        stage.assert_same(&format!("ranks-{ranks}"), &format!("threads-{ranks}"));
        let [of_ranks, of_threads] = ["ranks", "threads"].map(|run| record_but_for_clocks(&stage, &format!("{run}-{ranks}")));
        for what in ["decomposition", "grains", "contacts", "rebuilds", "result"] {
            assert_eq!(of_ranks[what], of_threads[what], "{what}");
        }
        assert_eq!(of_ranks["decomposition"]["grains"].as_array().unwrap().len(), ranks);
        let reported = |record: &Value| -> Vec<[u64; 3]> {
            let counts = |of_one: &Value| ["messages", "bytes", "collectives"].map(|what| of_one[what].as_u64().unwrap());
            record["communication"].as_array().unwrap().iter().map(counts).collect()
        };
        assert_eq!(reported(&of_ranks), reported(&of_threads));
        assert!(reported(&of_ranks).len() == ranks && reported(&of_ranks).iter().flatten().all(|count| *count > 0));
    }
    // First with two ranks, then with four, then in one process.
    let parts = [
        "run heap.toml --until 0.006 --quiet --out moved",
        "resume moved --until 0.013 --quiet",
    ];
    among(&stage, 2, parts[0]).succeeded(parts[0]);
    among(&stage, 4, parts[1]).succeeded(parts[1]);
    stage.succeed(&format!("resume moved {short}"));
    let expected = stage.results("whole");
    // The scene contains the number of subdomains, and sums over all grains agree only to rounding.
    let is_same_to_the_bit = |name: &str| !["scene.toml", "energies.csv", "probes/ledger.csv"].contains(&name);
    for run in ["ranks-2", "ranks-4", "moved"] {
        let found = stage.results(run);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, bytes) in expected.iter().filter(|(name, _)| is_same_to_the_bit(name)) {
            assert!(&found[name] == bytes, "{run}: {name} differs");
        }
    }
}

/// A column of water that begins to collapse.
const COLUMN: &str = r#"
[run]
until = "30 ms"
decomposition_invariant = true
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[fluid.water]
density = "1000 kg/m^3"
artificial_viscosity = 0.05
support = 2.4
fill = { box = { min = [0, 0, 0], max = ["24 cm", "8 cm", "16 cm"] } }
spacing = "2 cm"
[wall.tank]
box = { min = [0, 0, 0], max = ["48 cm", "8 cm", "24 cm"], open = ["top"] }
[output]
every = "10 ms"
"#;

#[test]
fn water_among_ranks_is_that_of_threads() {
    let stage = Stage::new();
    stage.write("column.toml", COLUMN);
    stage.succeed("run column.toml --quiet --out whole");
    stage.succeed("run column.toml --quiet --domains 2 --out threads");
    for (line, ranks) in [
        ("run column.toml --quiet --out ranks", 2),
        ("run column.toml --quiet --until 0.01 --out moved", 3),
        ("resume moved --quiet --until 0.03", 2),
    ] {
        among(&stage, ranks, line).succeeded(line);
    }
    stage.assert_same("ranks", "threads");
    let [of_ranks, of_threads] = ["ranks", "threads"].map(|run| record_but_for_clocks(&stage, run));
    assert_eq!(of_ranks["decomposition"], of_threads["decomposition"]);
    let frames = |run: &str| {
        let mut files = stage.results(run);
        files.retain(|name, _| name.starts_with("fields/"));
        files
    };
    assert!(frames("whole").len() > 3);
    for run in ["ranks", "moved"] {
        assert!(frames(run) == frames("whole"), "{run}");
    }
}

#[test]
fn a_run_that_goes_wrong_ends_on_all_ranks_with_one_message() {
    let stage = Stage::new();
    let narrow = "domain = { min = [\"-3 cm\", \"-3 cm\", \"2 mm\"], max = [\"3 cm\", \"3 cm\", \"20 cm\"] }\nleaving = \"error\"\n";
    let scene = stage.read("heap.toml").replace("open = [\"top\"]", "open = [\"top\", \"bottom\"]");
    stage.write("leak.toml", &scene.replace("[material.clay]", &format!("{narrow}[material.clay]")));
    for ranks in [2, 4] {
        let done = among(&stage, ranks, &format!("run leak.toml --out leak-{ranks}"));
        assert_reported_once(&done, "left the domain");
        let record = stage.record(&format!("leak-{ranks}"));
        assert_eq!(record["result"], "failed");
        assert!(record["reason"].as_str().unwrap().contains("left the domain"));
    }
}

#[test]
fn what_ranks_cannot_do_is_refused_in_words() {
    let stage = Stage::new();
    let done = among(&stage, 2, "check heap.toml");
    assert!(done.code != 0 && done.err.contains("only `seixo run`"), "{}", done.err);
    assert_reported_once(&among(&stage, 2, "run heap.toml --domains 3"), "each of 2 ranks has one");
    assert_reported_once(&among(&stage, 2, "resume nowhere"), "not a run folder");
    assert!(!stage.path("heap.out").exists());
    let run = "run heap.toml --until 0.001 --quiet";
    among(&stage, 2, run).succeeded(run);
    assert_reported_once(&among(&stage, 2, run), "holds an earlier run");
}

/// Returns the process of a rank.
fn process_of(mpirun: u32, rank: usize) -> String {
    let variable = format!("OMPI_COMM_WORLD_RANK={rank}");
    let threads = fs::read_dir(format!("/proc/{mpirun}/task")).unwrap();
    let children: Vec<String> = threads
        .map(|thread| fs::read_to_string(thread.unwrap().path().join("children")).unwrap())
        .collect();
    let is_rank = |child: &&str| {
        let variables = fs::read(format!("/proc/{child}/environ")).unwrap();
        String::from_utf8_lossy(&variables).split('\0').any(|one| one == variable)
    };
    let found = children.iter().flat_map(|children| children.split_whitespace()).find(is_rank);
    found.expect("mpirun started it").to_owned()
}

#[test]
fn a_signal_to_one_rank_stops_all_after_a_checkpoint() {
    let stage = Stage::new();
    let line = "run heap.toml --json --until 20 --set output.every=10s --set wall.rod.motion.translate=[0,0,0] --out long";
    let mut launcher = launcher(&stage, 2, line);
    let mut mpirun = launcher.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(mpirun.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut lines = lines.map_while(|line| serde_json::from_str::<Value>(&line).ok());
    assert!(lines.any(|line| line["event"] == "checkpoint"), "no checkpoint");
    // The first rank owns the folder for all ranks.
    let holder = format!("process {} on host", process_of(mpirun.id(), 0));
    assert_reported_once(&Done::of(stage.command(SEIXO, "resume long")), &holder);
    assert_reported_once(&among(&stage, 2, "run heap.toml --force --out long"), &holder);
    let kill = format!("kill -TERM {}", process_of(mpirun.id(), 1));
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let last = lines.last().unwrap();
    assert_eq!(last["event"], "interrupted");
    assert!(last["message"].as_str().unwrap().contains("seixo resume long"), "{last}");
    assert_eq!(mpirun.wait().unwrap().code(), Some(130));
    let record = stage.record("long");
    assert_eq!(record["result"], "interrupted");
    assert_eq!(record["steps"].as_u64(), Some(stage.checkpoint("long").0.steps));
}

/// The heap without outputs that need more than grains, and options for a GPU; software Vulkan suffices.
fn plain_on_a_gpu(stage: &Stage) -> &'static str {
    let scene = stage.read("heap.toml");
    let (scene, _) = scene.split_once("[output]").unwrap();
    let output = "[output]\nevery = \"5 ms\"\nfields = [\"velocity\", \"force\", \"coordination\"]\n";
    stage.write("plain.toml", &format!("{scene}{output}"));
    "plain.toml --set run.time_step=15us --device gpu --precision mixed"
}

#[test]
fn ranks_on_a_gpu_write_the_frames_of_domains_on_it() {
    let stage = Stage::new();
    let run = format!("run {} --quiet --until 0.015", plain_on_a_gpu(&stage));
    let line = format!("{run} --out ranks");
    among(&stage, 2, &line).succeeded(&line);
    stage.succeed(&format!("{run} --domains 2 --out domains"));
    let [found, expected] = ["ranks", "domains"].map(|run| stage.results(run));
    let frames = || expected.iter().filter(|(name, _)| name.starts_with("fields/"));
    assert!(frames().count() > 4, "{:?}", expected.keys());
    for (name, bytes) in frames() {
        assert!(found.get(name) == Some(bytes), "{name} differs");
    }
    let device = stage.record("ranks")["device"].clone();
    assert!(device.as_str().is_some_and(|device| device.contains("gpu:0")), "{device}");
}

/// Waits until a process of this number no longer runs. One that ended, but whose exit code was not read yet, is a zombie.
/// Its first thread is one as soon as it ends, while others may still hold the files.
fn await_end(process: &str) {
    let begun = Instant::now();
    let has_threads = || fs::read_dir(format!("/proc/{process}/task")).is_ok_and(|threads| threads.count() > 1);
    let is_alive = || fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|state| !state.contains(") Z "));
    let is_running = || is_alive() || has_threads();
    while is_running() {
        assert!(begun.elapsed() < SOON, "process {process} is left");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_rank_on_a_gpu_that_is_killed_ends_all_and_the_run_goes_on_from_its_checkpoint() {
    let stage = Stage::new();
    let endless = "--json --until 20 --set output.every=10s --set wall.rod.motion.translate=[0,0,0] --set checkpoint.every=200ms";
    let line = format!("run {} {endless} --out killed", plain_on_a_gpu(&stage));
    let mut launcher = launcher(&stage, 2, &line);
    let mut mpirun = launcher.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(mpirun.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut lines = lines.map_while(|line| serde_json::from_str::<Value>(&line).ok());
    let is_on_the_way = |line: &Value| line["event"] == "checkpoint" && line["steps"].as_u64() > Some(0);
    let steps = lines.find(is_on_the_way).expect("a checkpoint on the way")["steps"].as_u64();
    let [first, second] = [0, 1].map(|rank| process_of(mpirun.id(), rank));
    let kill = format!("kill -KILL {second}");
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let begun = Instant::now();
    let ended = mpirun.wait_with_output().unwrap();
    let reported = String::from_utf8_lossy(&ended.stderr);
    assert!(begun.elapsed() < SOON, "the job went on for {:?}\n{reported}", begun.elapsed());
    assert!(!ended.status.success() && reported.contains("signal 9"), "{reported}");
    await_end(&first);
    let header = stage.checkpoint("killed").0;
    assert!(Some(header.steps) >= steps, "{} {steps:?}", header.steps);
    let until = header.time + 1e-3;
    stage.succeed(&format!("resume killed --quiet --device cpu --domains 1 --until {until}"));
    let record = stage.record("killed");
    assert_eq!(record["result"], "finished");
    assert!(record["steps"].as_u64() > Some(header.steps));
}
