//! Runs that are stopped, killed and resumed with other numbers of threads: the results have the same bits.

use crate::command_line::rows;
use crate::command_line::stage::{Dice, Stage, signal};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Waits until the run has written its first checkpoint: from then on it handles signals and can be resumed.
pub fn lines_after_first_checkpoint(child: &mut Child) -> impl Iterator<Item = Value> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines
        .map_while(Result::ok)
        .map_while(|line| serde_json::from_str::<Value>(&line).ok());
    assert!(lines.any(|line| line["event"] == "checkpoint"), "no checkpoint");
    lines
}

/// Results are the same for any number of threads.
#[test]
fn results_do_not_depend_on_threads() {
    let stage = Stage::new();
    for threads in [1, 2, 3, 8] {
        stage.succeed(&format!("run heap.toml --quiet --threads {threads} --out threads-{threads}"));
    }
    for threads in [2, 3, 8] {
        // The resolved scene contains the number of threads.
        std::fs::copy(
            stage.path("threads-1/scene.toml"),
            stage.path(&format!("threads-{threads}/scene.toml")),
        )
        .unwrap();
        stage.assert_same(&format!("threads-{threads}"), "threads-1");
    }
}

/// Five random interruptions by three signals, each followed by another number of threads.
#[test]
fn a_stopped_run_goes_on_as_if_it_had_never_stopped() {
    let stage = Stage::new();
    let clock = Instant::now();
    let fine = "--set run.time_step=6us";
    stage.succeed(&format!("run heap.toml --quiet --out whole {fine}"));
    let whole = clock.elapsed();
    let mut dice = Dice(5);
    for (split, name) in ["INT", "TERM", "HUP", "INT", "TERM"].into_iter().enumerate() {
        let run = format!("split-{split}");
        let mut wait = whole.mul_f64(0.004 * dice.below(100) as f64);
        // On a machine with other work a run may be faster than the one before, and finish before the signal.
        let (output, last) = loop {
            let mut child = stage.start(&format!("run heap.toml --json --force --out {run} {fine}"));
            let lines = lines_after_first_checkpoint(&mut child);
            sleep(wait);
            signal(&child, name);
            let asked = Instant::now();
            let last = lines.last().unwrap();
            let output = child.wait_with_output().unwrap();
            assert!(asked.elapsed() < Duration::from_secs(5));
            if output.status.code() != Some(0) || wait < Duration::from_millis(1) {
                break (output, last);
            }
            wait /= 2;
        };
        assert_eq!(output.status.code(), Some(130), "{name}");
        assert!(last["message"].as_str().unwrap().contains(&format!("seixo resume {run}")), "{last}");
        let record = stage.record(&run);
        assert_eq!(record["result"], "interrupted");
        let steps = stage.checkpoint(&run).0.steps;
        assert!(
            steps < stage.checkpoint("whole").0.steps,
            "the signal came too late to test anything"
        );
        stage.succeed(&format!("resume {run} --quiet --threads {}", split + 1));
        stage.assert_same(&run, "whole");
    }
}

/// A run with an early end is resumed beyond its end.
#[test]
fn a_finished_run_goes_further_when_asked_to() {
    let stage = Stage::new();
    stage.succeed("run heap.toml --quiet --out long");
    stage.succeed("run heap.toml --quiet --until 0.0333 --out short");
    stage.succeed("resume short --quiet --until 0.12 --threads 1");
    // The resolved scene contains the end time.
    std::fs::copy(stage.path("long/scene.toml"), stage.path("short/scene.toml")).unwrap();
    stage.assert_same("short", "long");
}

/// With subdomains and on a GPU, frames and probes have the same bytes; sums over time are added in other groups.
#[test]
fn among_domains_and_on_a_gpu_only_sums_over_time_are_to_rounding() {
    let stage = Stage::new();
    // Tolerances as shares of the supplied energies.
    for (name, options, rounding) in [("domains", "--domains 2", 1e-13), ("gpu", "--device gpu --precision mixed", 1e-6)] {
        let (whole, split) = (format!("whole-{name}"), format!("split-{name}"));
        stage.succeed(&format!("run heap.toml --quiet --until 0.04 --out {whole} {options}"));
        stage.succeed(&format!("run heap.toml --quiet --until 0.0253 --out {split} {options}"));
        stage.succeed(&format!("resume {split} --quiet --until 0.04"));
        std::fs::copy(
            stage.path(&format!("{whole}/scene.toml")),
            stage.path(&format!("{split}/scene.toml")),
        )
        .unwrap();
        let (resumed, expected) = (stage.results(&split), stage.results(&whole));
        let ledgers = ["energies.csv", "probes/ledger.csv"];
        for (file, bytes) in expected.iter().filter(|(file, _)| !ledgers.contains(&file.as_str())) {
            assert!(resumed.get(file) == Some(bytes), "{name}: {file} differs");
        }
        let [resumed, expected] = [split, whole].map(|run| rows(&stage.read(&format!("{run}/energies.csv"))));
        assert_eq!(resumed.len(), expected.len());
        for (row, right) in resumed.iter().zip(&expected) {
            let budget = right[20].abs() + right[17].abs();
            let off = row.iter().zip(right).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
            assert!(off < rounding * budget, "{name}: {off} J of {budget} J at {} s", right[0]);
        }
    }
}

#[test]
fn usr1_writes_a_checkpoint_and_goes_on() {
    let stage = Stage::new();
    let mut child = stage.start("run heap.toml --json");
    let mut lines = lines_after_first_checkpoint(&mut child);
    signal(&child, "USR1");
    let checkpoint = lines.find(|line| line["event"] == "checkpoint").unwrap();
    let last = lines.last().unwrap();
    assert_eq!(last["event"], "finished");
    assert!(checkpoint["steps"].as_u64() < last["steps"].as_u64());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn resume_refuses_what_it_cannot_continue_faithfully() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("empty")).unwrap();
    for folder in ["empty", "nowhere"] {
        let done = stage.seixo(&format!("resume {folder}"));
        assert_eq!(done.code, 2);
        assert!(done.err.contains(folder) && done.err.contains("not a run folder"), "{}", done.err);
    }
    stage.succeed("run heap.toml --quiet --until 0.01");
    let scene = stage.read("heap.out/scene.toml");
    stage.write("heap.out/scene.toml", &scene.replace("friction = 0.4", "friction = 0.5"));
    let done = stage.seixo("resume heap.out --until 0.02");
    assert_eq!(done.code, 2);
    assert!(done.err.contains("scene.toml"), "{}", done.err);
    stage.write("heap.out/scene.toml", &scene);

    let record = stage.read("heap.out/run.json");
    let done = stage.seixo("resume heap.out --until 0.004");
    assert_eq!(done.code, 2, "{}", done.out);
    for reported in ["t = 4.000000e-3 s", "newest checkpoint is at t =", "--until"] {
        assert!(done.err.contains(reported), "no `{reported}` in {}", done.err);
    }
    assert_eq!(stage.read("heap.out/run.json"), record, "a run that does not go on is as it was");
    // A resume up to the current time has nothing to do.
    stage.succeed("resume heap.out --until 0.01 --quiet");

    let energies = stage.read("heap.out/energies.csv");
    stage.write("heap.out/energies.csv", &energies[..energies.len() - 10]);
    let done = stage.seixo("resume heap.out --until 0.02");
    assert_eq!(done.code, 1);
    assert!(done.err.contains("energies.csv"), "{}", done.err);
    stage.write("heap.out/energies.csv", &(energies + "half a line that a crash left"));
    stage.succeed("resume heap.out --until 0.02 --quiet");

    std::fs::write(stage.path("heap.out/checkpoints/state.checkpoint"), "torn").unwrap();
    stage.succeed("resume heap.out --until 0.03 --quiet");
    for name in ["state.checkpoint", "state.checkpoint.prev"] {
        std::fs::write(stage.path("heap.out/checkpoints").join(name), "torn").unwrap();
    }
    let done = stage.seixo("resume heap.out");
    assert_eq!(done.code, 1);
    assert!(done.err.contains("no readable checkpoint"), "{}", done.err);
}

/// A hundred kills at random moments of a run that writes checkpoints all the time. All reported checkpoints are stored, and the results at the end
/// are those of an uninterrupted run.
#[test]
fn no_kill_loses_a_checkpoint_that_was_acknowledged() {
    let stage = Stage::new();
    let heavy = "--set checkpoint.every=1us --until 0.06";
    stage.succeed(&format!("run heap.toml --quiet --out whole {heavy}"));
    let mut dice = Dice(9);
    let mut kills = 0;
    let mut run = 0;
    let mut is_new = true;
    while kills < 100 {
        let folder = format!("killed-{run}");
        let line = if is_new {
            format!("run heap.toml --json --out {folder} {heavy}")
        } else {
            format!("resume {folder} --json")
        };
        let mut child = stage.start(&line);
        let lines = lines_after_first_checkpoint(&mut child);
        sleep(Duration::from_micros(dice.below(30_000)));
        child.kill().unwrap();
        kills += 1;
        // The pipe still has the lines from before the kill; an incomplete line reports no checkpoint.
        let reported: Vec<Value> = lines.collect();
        let is_done = child.wait().unwrap().success();
        let acknowledged = reported
            .iter()
            .filter(|line| line["event"] == "checkpoint")
            .filter_map(|line| line["steps"].as_u64())
            .max();
        let kept = stage.checkpoint(&folder).0.steps;
        assert!(
            acknowledged.is_none_or(|steps| kept >= steps),
            "kill {kills}: step {acknowledged:?} was acknowledged, {kept} is there"
        );
        is_new = is_done;
        if is_done {
            stage.assert_same(&folder, "whole");
            run += 1;
        }
    }
    stage.succeed(&format!("resume killed-{run} --quiet"));
    stage.assert_same(&format!("killed-{run}"), "whole");
}
