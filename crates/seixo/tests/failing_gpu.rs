//! Runs whose GPU fails on the way: they end with the reason, and their last checkpoint goes on elsewhere. Software Vulkan suffices; without any adapter
//! this test fails. It has its own process, as the GPU fails for all that use it.

use seixo::device::gpu::{Api, Gpu};
use seixo::files::checkpoint;
use seixo::files::layer::{FaultyDisk, FileLayer};
use seixo::run::{Event, NoObserver, Observer, Options, RunEnd, RunError, resume, start};
use seixo::scene::load_text;
use serde_json::Value;
use std::path::Path;

/// Run folder on a disk in memory.
const FOLDER: &str = "/heap.out";

/// Grains fall into a box, and more are added on the way, for which the GPU needs memory at the latest.
const HEAP: &str = r#"
[run]
until = "200 ms"
time_step = "15 us"
threads = 2
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "20 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.5
friction = 0.4
[grains.heap]
material = "clay"
fill = { region = { box = { min = ["-25 mm", "-25 mm", "1 mm"], max = ["25 mm", "25 mm", "70 mm"] } }, count = 300, radius = { uniform = ["2 mm", "3 mm"] } }
[grains.late]
material = "clay"
at = [["-1 cm", 0, "10 cm"], ["1 cm", 0, "10 cm"]]
radius = "3 mm"
[wall.box]
material = "clay"
box = { min = ["-25 mm", "-25 mm", 0], max = ["25 mm", "25 mm", "120 mm"], open = ["top"] }
[[stage]]
name = "fall"
until = "duration 20 ms"
[[stage]]
name = "more"
add = ["grains.late"]
[output]
every = "5 ms"
[checkpoint]
every = "10 ms"
"#;

/// Lets the GPU fail once a checkpoint after the start is stored.
struct Saboteur<'a> {
    fail: &'a dyn Fn(),
    /// Steps of the newest checkpoint that was reported as stored.
    stored: Option<u64>,
}

impl Observer for Saboteur<'_> {
    fn event(&mut self, event: &Event) {
        if let Event::Checkpoint { steps, .. } = event {
            self.stored = Some(*steps);
            if *steps > 0 {
                (self.fail)();
            }
        }
    }
}

/// Runs the scene with these changes on a disk, while an observer looks on.
fn run(disk: &FaultyDisk, changes: &[(&str, &str)], observer: &mut dyn Observer) -> Result<RunEnd, RunError> {
    let changes: Vec<(String, String)> = changes.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let scene = load_text(HEAP, Path::new("heap.toml"), &changes).unwrap();
    let options = Options {
        layer: disk,
        ..Options::new(observer)
    };
    start(scene, Path::new(FOLDER), options)
}

/// Asserts that a run in so many domains ends once the GPU fails, with an error that has these words, and goes on from its checkpoint on the CPU.
#[track_caller]
fn assert_ends_and_goes_on(domains: &str, fail: &dyn Fn(), words: &[&str]) {
    let disk = FaultyDisk::new();
    let mut saboteur = Saboteur { fail, stored: None };
    let error = run(&disk, &[("run.device", "wgpu"), ("run.domains", domains)], &mut saboteur).unwrap_err();
    let reason = error.to_string();
    println!("{domains} domains: {reason}");
    assert!(!error.is_input(), "{reason}");
    for word in words.iter().chain(&["wgpu:0", "`seixo resume /heap.out` goes on from it"]) {
        assert!(reason.contains(word), "without \"{word}\": {reason}");
    }
    let record: Value = serde_json::from_slice(&disk.read(&Path::new(FOLDER).join("run.json")).unwrap()).unwrap();
    assert_eq!(
        (record["result"].as_str(), record["reason"].as_str()),
        (Some("failed"), Some(reason.as_str()))
    );
    let (_, header, _) = checkpoint::newest_valid(&disk, &Path::new(FOLDER).join("checkpoints")).unwrap();
    assert!(
        saboteur.stored.is_some_and(|steps| steps > 0 && header.steps >= steps),
        "{:?}",
        saboteur.stored
    );
    let until = (header.time + 1e-3).to_string();
    let elsewhere = [("run.device", "cpu"), ("run.domains", "1"), ("run.until", until.as_str())];
    let elsewhere = elsewhere.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let mut no_one = NoObserver;
    let options = Options {
        layer: &disk,
        ..Options::new(&mut no_one)
    };
    let end = resume(Path::new(FOLDER), &elsewhere, options).unwrap();
    assert!(end.record.steps > header.steps, "{} after {}", end.record.steps, header.steps);
}

#[test]
fn a_gpu_that_fails_ends_a_run_with_the_reason_and_a_checkpoint_that_goes_on() {
    let gpu = Gpu::open(Some((Api::Wgpu, 0))).unwrap();
    for domains in ["1", "2"] {
        assert_ends_and_goes_on(domains, &|| gpu.exhaust(true), &["has no memory left for"]);
        // A run does not begin, and its folder stays free.
        let disk = FaultyDisk::new();
        let refused = run(&disk, &[("run.device", "wgpu"), ("run.domains", domains)], &mut NoObserver).unwrap_err();
        let reason = refused.to_string();
        assert!(
            !refused.is_input() && reason.contains("wgpu:0") && reason.contains("has no memory left for"),
            "{reason}"
        );
        assert!(!disk.exists(Path::new(FOLDER)).unwrap(), "{reason}");
        gpu.exhaust(false);
    }
    assert_ends_and_goes_on("2", &|| assert!(gpu.lose(), "wgpu releases a device"), &["domain ", " of 2 on "]);
}
