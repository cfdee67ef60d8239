//! A run whose GPU is lost while frames are on their way. Software Vulkan suffices; without any adapter this test fails. It has its own process, as the GPU
//! stays lost for all that use it.

#[path = "seixo/slow_disk.rs"]
mod slow_disk;

use seixo::device::gpu::{Api, Gpu};
use seixo::files::layer::{FaultyDisk, FileLayer};
use seixo::run::{NoObserver, Options, RunEnd, RunError, start};
use seixo::scene::load_text;
use serde_json::Value;
use slow_disk::SlowDisk;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Run folder on a disk in memory.
const FOLDER: &str = "/heap.out";

/// Grains fall into a box. Frames are 20 steps apart, and show spheres and walls alone.
const HEAP: &str = r#"
[run]
until = "6 ms"
time_step = "15 us"
threads = 2
device = "wgpu"
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
velocity = [0, 0, "-0.6 m/s"]
fill = { region = { box = { min = ["-15 mm", "-15 mm", "1 mm"], max = ["15 mm", "15 mm", "30 mm"] } }, count = 60, radius = { uniform = ["2 mm", "3 mm"] } }
[wall.box]
material = "clay"
box = { min = ["-15 mm", "-15 mm", 0], max = ["15 mm", "15 mm", "120 mm"], open = ["top"] }
[output]
every = "0.3 ms"
"#;

fn run(layer: &dyn FileLayer) -> Result<RunEnd, RunError> {
    let scene = load_text(HEAP, Path::new("heap.toml"), &[]).unwrap();
    let mut no_one = NoObserver;
    let options = Options {
        layer,
        ..Options::new(&mut no_one)
    };
    start(scene, Path::new(FOLDER), options)
}

fn within(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

#[test]
fn a_gpu_lost_while_frames_are_on_their_way_ends_the_run_with_the_reason_and_whole_frames() {
    let whole = FaultyDisk::new();
    run(&whole).unwrap();
    let gpu = Gpu::open(Some((Api::Wgpu, 0))).unwrap();
    // While the thread that writes frames is busy with the third one, the run requests the fourth and waits for room for a fifth.
    let disk = SlowDisk::new(|path| {
        if path.to_string_lossy().contains("grains_000002") {
            sleep(Duration::from_millis(500));
            assert!(gpu.lose(), "wgpu releases a device");
        }
    });
    let error = run(&disk).map(drop).unwrap_err();
    let reason = error.to_string();
    println!("{reason}");
    assert!(!error.is_input(), "{reason}");
    for word in [
        "the GPU failed",
        "the last good state, t = 0.000000e0 s",
        "`seixo resume /heap.out` goes on from it",
    ] {
        assert!(reason.contains(word), "without \"{word}\": {reason}");
    }
    let disk = &disk.disk;
    let record: Value = serde_json::from_slice(&disk.read(&within("run.json")).unwrap()).unwrap();
    assert_eq!(
        (record["result"].as_str(), record["reason"].as_str()),
        (Some("failed"), Some(reason.as_str()))
    );

    // What is there was not made up from memory that is gone, and what is listed is there.
    let files = disk.list(&within("fields")).unwrap();
    let is_frame = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "vtp");
    for path in files.iter().filter(is_frame) {
        assert!(disk.read(path).unwrap() == whole.read(path).unwrap(), "{} differs", path.display());
    }
    let list = String::from_utf8(disk.read(&within("fields/grains.pvd")).unwrap()).unwrap();
    let listed: Vec<&str> = list.split("file=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(listed.len() >= 3, "{list}");
    for name in listed {
        assert!(files.contains(&within("fields").join(name)), "{name} is not there");
    }
}
