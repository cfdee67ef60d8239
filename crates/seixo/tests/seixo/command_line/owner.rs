//! A run folder has one owner. A second process is refused, the folder of a killed run can be taken over, and a run notices the removal of its
//! folder.

use crate::command_line::interruptions::lines_after_first_checkpoint;
use crate::command_line::stage::{Done, Stage, signal};
use seixo::files::owner::Owner;
use std::fs;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A run that outlasts each test. The rod does not move, as it would be pressed through the floor.
const LONG: &str = "--until 4 --set output.every=4s --set checkpoint.every=1h --set wall.rod.motion.translate=[0,0,0]";

/// Starts a run, and returns after its first checkpoint.
fn started(stage: &Stage, line: &str) -> Child {
    let mut child = stage.start(line);
    // Dropped, so that the pipe is closed: failed output must not end the run.
    drop(lines_after_first_checkpoint(&mut child));
    child
}

/// Stops a run, and returns its exit code and output.
fn stopped(mut child: Child) -> (Option<i32>, String) {
    signal(&child, "INT");
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

fn assert_refused(done: &Done, by: &Child) {
    let said = format!("{}{}", done.out, done.err);
    assert_eq!(done.code, 2, "{said}");
    let process = format!("process {} on host `{}`", by.id(), Owner::this().host);
    assert!(said.contains(&process), "without \"{process}\": {said}");
}

#[test]
fn who_comes_second_is_refused_and_reported_by_whom() {
    let stage = Stage::new();
    let first = started(&stage, &format!("run heap.toml --json --out long {LONG}"));
    for line in ["run heap.toml --out long", "run heap.toml --force --out long", "resume long"] {
        assert_refused(&stage.seixo(line), &first);
    }
    // Reading needs no lock.
    stage.succeed("info long");
    let (code, said) = stopped(first);
    assert_eq!(code, Some(130), "{said}");
    assert!(!stage.path("long/lock").exists());
    let done = stage.succeed("run heap.toml --until 1e-4 --force --out long");
    assert!(!done.err.contains("taken over"), "{}", done.err);
}

#[test]
fn of_two_that_start_together_one_wins() {
    let stage = Stage::new();
    for round in 0..3 {
        let line = format!("run heap.toml --quiet --out both-{round} {LONG}");
        let mut both = [stage.start(&line), stage.start(&line)];
        let clock = Instant::now();
        let over = loop {
            if let Some(index) = (0..2).find(|&index| both[index].try_wait().unwrap().is_some()) {
                break index;
            }
            assert!(clock.elapsed() < Duration::from_secs(60), "both go on");
            sleep(Duration::from_millis(5));
        };
        let [first, second] = both;
        let (winner, loser) = if over == 0 { (second, first) } else { (first, second) };
        let output = loser.wait_with_output().unwrap();
        let done = Done {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert_refused(&done, &winner);
        // A signal before the run handles signals would end it at once.
        let checkpoint = stage.path(&format!("both-{round}/checkpoints/state.checkpoint"));
        while !checkpoint.exists() {
            assert!(clock.elapsed() < Duration::from_secs(60), "no checkpoint");
            sleep(Duration::from_millis(5));
        }
        assert_eq!(stopped(winner).0, Some(130));
    }
}

#[test]
fn what_a_killed_run_left_is_taken_over_with_a_note() {
    let stage = Stage::new();
    let mut killed = started(&stage, "run heap.toml --json --out killed");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(stage.path("killed/lock").exists(), "it was over before it was killed");
    let done = stage.succeed("resume killed");
    let note = format!("note: taken over from process {} on host", killed.id());
    assert!(
        done.err.contains(&note) && stage.read("killed/log.jsonl").contains("taken over from"),
        "{}",
        done.err
    );
    assert!(!stage.path("killed/lock").exists());
}

#[test]
fn a_folder_whose_making_was_cut_off_is_taken_over_by_force() {
    let stage = Stage::new();
    // Remains of a kill between the creation of the folders and of the record, without and with the lock.
    for folder in ["early", "late"] {
        for inside in ["checkpoints", "fields", "probes"] {
            fs::create_dir_all(stage.path(folder).join(inside)).unwrap();
        }
    }
    stage.write("early/run.json.tmp", "{\"version\"");
    let left = Owner {
        start: Some("before all others".to_owned()),
        ..Owner::this()
    };
    stage.write("late/lock", &serde_json::to_string(&left).unwrap());
    // A file of the user in the folder.
    stage.write("late/notes.txt", "mine");
    for folder in ["early", "late"] {
        let run = format!("run heap.toml --until 1e-4 --out {folder}");
        let done = stage.seixo(&run);
        assert_eq!(done.code, 2);
        assert!(done.err.contains("cut off") && done.err.contains("--force"), "{}", done.err);
        assert!(!stage.path(folder).join("run.json").exists());
        let done = stage.succeed(&format!("{run} --force"));
        assert_eq!(done.err.contains("taken over from process"), folder == "late", "{}", done.err);
    }
    assert_eq!(stage.read("late/notes.txt"), "mine");
}

#[test]
fn a_lock_of_others_protects_what_is_beside_it() {
    let stage = Stage::new();
    fs::create_dir(stage.path("photos")).unwrap();
    stage.write("photos/lock", "");
    stage.write("photos/energies.csv", "precious");
    for text in ["", "mine"] {
        stage.write("photos/lock", text);
        let done = stage.seixo("run heap.toml --out photos --force");
        assert_eq!(done.code, 2, "{}", done.err);
        assert_eq!([stage.read("photos/lock"), stage.read("photos/energies.csv")], [text, "precious"]);
    }
}

/// Empties the folder of a running run, and removes it.
fn remove(stage: &Stage, folder: &str) {
    while fs::remove_dir_all(stage.path(folder)).is_err_and(|_| stage.path(folder).exists()) {}
}

/// A way to remove a folder.
type Taking<'a> = &'a dyn Fn(&str);

#[test]
fn a_folder_that_goes_away_ends_the_run_with_the_cause() {
    let stage = Stage::new();
    let removed = |folder: &str| remove(&stage, folder);
    let moved = |folder: &str| fs::rename(stage.path(folder), stage.path("elsewhere")).unwrap();
    let replaced = |folder: &str| {
        fs::rename(stage.path(folder), stage.path("kept")).unwrap();
        stage.succeed(&format!("run heap.toml --quiet --until 1e-4 --out {folder}"));
    };
    let ways: [(&str, Taking); 3] = [("removed", &removed), ("moved", &moved), ("replaced", &replaced)];
    for (folder, goes) in ways {
        // A line of the ledger is due each millisecond.
        let run = started(&stage, &format!("run heap.toml --json --out {folder} {LONG}"));
        goes(folder);
        assert_eq!(run.wait_with_output().unwrap().status.code(), Some(1), "{folder}");
    }
    for gone in ["removed", "moved"] {
        assert!(!stage.path(gone).exists(), "{gone}: created again");
    }
    // The lock of the run in its moved folder is invalid.
    assert!(stage.path("elsewhere/lock").exists());
    let done = stage.succeed("resume elsewhere --until 1e-3");
    assert!(done.err.contains("or the folder was moved"), "{}", done.err);
    assert!(!stage.path("elsewhere/lock").exists());
    let record = stage.read("replaced/run.json");
    assert!(record.contains("\"finished\""), "who came next is left alone: {record}");

    for (folder, often) in [("frames", "output.every=1ms"), ("states", "checkpoint.every=1us")] {
        let run = started(&stage, &format!("run heap.toml --json --out {folder} {LONG} --set {often}"));
        remove(&stage, folder);
        assert_eq!(run.wait_with_output().unwrap().status.code(), Some(1), "{folder}");
    }
}

#[test]
fn a_table_that_goes_away_is_noticed_by_the_next_checkpoint() {
    let stage = Stage::new();
    let run = started(&stage, &format!("run heap.toml --json --out part {LONG}"));
    fs::remove_file(stage.path("part/energies.csv")).unwrap();
    let (code, said) = stopped(run);
    assert_eq!(code, Some(1), "{said}");
    let record = stage.read("part/run.json");
    assert!(record.contains("part/energies.csv: it was removed"), "{record}");
}
