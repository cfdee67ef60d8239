//! Disks that fail, fill up or crash during a run.

use crate::command_line::stage::HEAP;
use seixo::Scene;
use seixo::files::checkpoint;
use seixo::files::layer::{Fault, FaultyDisk, FileLayer, Unsynced};
use seixo::run::{Event, Observer, Options, RunError, resume, start};
use std::io::ErrorKind;
use std::path::Path;

/// Run folder on a disk in memory.
pub const FOLDER: &str = "/heap.out";

fn scene() -> Scene {
    let few = [
        ("grains.heap.fill.count", "20"),
        ("run.until", "3 ms"),
        ("output.every", "1 ms"),
        ("run.threads", "1"),
        ("checkpoint.every", "1 us"),
    ];
    let overrides = few.map(|(key, value)| (key.to_owned(), value.to_owned()));
    seixo::scene::load_text(HEAP, Path::new("heap.toml"), &overrides).unwrap()
}

/// Stores the newest checkpoint that was reported as stored.
#[derive(Default)]
struct Acknowledged(Option<u64>);

impl Observer for Acknowledged {
    fn event(&mut self, event: &Event) {
        if let Event::Checkpoint { steps, .. } = event {
            self.0 = Some(*steps);
        }
    }
}

fn run_on(disk: &FaultyDisk, scene: Scene) -> (Result<(), RunError>, Option<u64>) {
    let mut acknowledged = Acknowledged::default();
    let ran = start(
        scene,
        Path::new(FOLDER),
        Options {
            layer: disk,
            ..Options::new(&mut acknowledged)
        },
    );
    (ran.map(drop), acknowledged.0)
}

/// Data that must be the same after a crash and a resume: the state, and files by their names.
pub fn results(disk: &FaultyDisk) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(FOLDER);
    let (_, _, state) = checkpoint::newest_valid(disk, &folder.join("checkpoints")).unwrap();
    let mut results = vec![("state".to_owned(), checkpoint::digest(&state).into_bytes())];
    for inside in ["", "fields", "contacts", "coarse", "probes"] {
        for path in disk.list(&folder.join(inside)).unwrap_or_default() {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if name != "profile.csv" && matches!(ending, Some("csv" | "vtp" | "vti" | "pvd" | "toml" | "tmp")) {
                results.push((name, disk.read(&path).unwrap()));
            }
        }
    }
    results
}

/// Whether every file that a `.pvd` lists exists and is complete.
fn collections_are_valid(disk: &FaultyDisk) -> bool {
    [
        "fields/grains.pvd",
        "fields/walls.pvd",
        "contacts/contacts.pvd",
        "coarse/coarse.pvd",
    ]
    .iter()
    .all(|pvd| {
        let pvd = Path::new(FOLDER).join(pvd);
        let Ok(text) = disk.read(&pvd) else { return true };
        let text = String::from_utf8(text).unwrap();
        let mut files = text.split("file=\"").skip(1).filter_map(|rest| rest.split('"').next());
        text.ends_with("</VTKFile>\n")
            && files.all(|file| {
                disk.read(&pvd.with_file_name(file))
                    .is_ok_and(|bytes| bytes.ends_with(b"</VTKFile>\n"))
            })
    })
}

/// Asserts that runs whose disk fails at one of so many operations say so, and keep their last checkpoint.
#[track_caller]
fn assert_failures_are_reported(one_of: usize) {
    let scene = scene();
    let whole = FaultyDisk::new();
    run_on(&whole, scene.clone()).0.unwrap();
    let operations = whole.operations();
    for at in (1..=operations).step_by(one_of) {
        let faults = [
            Fault::Fail {
                at,
                error: ErrorKind::PermissionDenied,
            },
            Fault::FailFrom {
                from: at,
                error: ErrorKind::StorageFull,
            },
            Fault::ShortWrite { at },
        ];
        for fault in faults {
            let disk = FaultyDisk::with_fault(fault);
            let (ran, acknowledged) = run_on(&disk, scene.clone());
            disk.set_fault(None);
            if let Err(error) = ran {
                let text = error.to_string();
                assert!(!error.is_input() && text.contains(FOLDER), "{fault:?}: {text}");
            }
            assert!(collections_are_valid(&disk), "{fault:?}");
            if let Some(steps) = acknowledged {
                let (_, header, _) = checkpoint::newest_valid(&disk, &Path::new(FOLDER).join("checkpoints")).unwrap();
                assert!(
                    header.steps >= steps,
                    "{fault:?}: step {steps} was acknowledged, {} is there",
                    header.steps
                );
            }
        }
    }
}

#[test]
fn a_run_whose_disk_fails_says_so_and_keeps_its_last_checkpoint() {
    assert_failures_are_reported(23);
}

#[test]
fn a_run_whose_disk_fails_at_any_of_many_operations_says_so() {
    assert_failures_are_reported(7);
}

#[test]
fn a_run_goes_on_after_any_crash_with_the_same_results() {
    let scene = scene();
    let whole = FaultyDisk::new();
    run_on(&whole, scene.clone()).0.unwrap();
    let (operations, expected) = (whole.operations(), results(&whole));
    for after in (1..operations).step_by(11) {
        for unsynced in [Unsynced::Lost, Unsynced::NamesKept, Unsynced::CachedResponse] {
            let disk = FaultyDisk::with_fault(Fault::Crash { after });
            let (_, acknowledged) = run_on(&disk, scene.clone());
            let disk = disk.reopen_with(unsynced);
            assert!(collections_are_valid(&disk), "crash after {after}, {unsynced:?}");
            let Some(steps) = acknowledged else { continue };
            let (_, header, _) = checkpoint::newest_valid(&disk, &Path::new(FOLDER).join("checkpoints")).unwrap();
            assert!(header.steps >= steps, "crash after {after}, {unsynced:?}");
            let mut no_one = Acknowledged::default();
            resume(
                Path::new(FOLDER),
                &[],
                Options {
                    layer: &disk,
                    ..Options::new(&mut no_one)
                },
            )
            .unwrap();
            assert!(results(&disk) == expected, "crash after {after}, {unsynced:?}: other results");
        }
    }
}

#[test]
fn a_run_that_would_not_fit_is_not_started() {
    let disk = FaultyDisk::new();
    disk.set_free_space(1000);
    let (ran, _) = run_on(&disk, scene());
    let text = ran.unwrap_err().to_string();
    assert!(text.contains("1000 are free") && text.contains("output.every"), "{text}");
    assert!(!disk.exists(Path::new(FOLDER)).unwrap());
}
