//! Frames of free spheres on a GPU, which goes on while they are on their way. Software Vulkan suffices; without any adapter these tests fail.

use crate::command_line::faults::FOLDER;
use crate::command_line::frames::slow_disk;
use crate::command_line::rows;
use seixo::files::layer::{FaultyDisk, FileLayer};
use seixo::run::{Control, Event, NoObserver, Observer, Options, Progress, Record, resume, start};
use seixo::scene::load_text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Grains with friction fall between a wall that moves and one that a servo moves, others leave, and gravity changes at the step of the third frame.
/// Frames are 60 steps apart, and energies 20.
const FALL: &str = r#"
[run]
until = "3.75 ms"
time_step = "15 us"
threads = 2
device = "gpu"
precision = "mixed"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
domain = { min = ["-30 mm", "-30 mm", "-30 mm"], max = ["30 mm", "30 mm", "60 mm"] }
leaving = "delete"
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
[grains.heap.fill]
region = { box = { min = ["-15 mm", "-15 mm", "1 mm"], max = ["15 mm", "15 mm", "30 mm"] } }
count = 60
radius = { uniform = ["2 mm", "3 mm"] }
[grains.spray]
material = "clay"
at = [["-8 mm", 0, "52 mm"], [0, 0, "55 mm"], ["8 mm", 0, "58 mm"]]
radius = "2 mm"
velocity = [0, 0, "2.5 m/s"]
[wall.floor]
material = "clay"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[wall.left]
material = "clay"
plane = { point = ["-15 mm", 0, 0], normal = [1, 0, 0] }
motion = { translate = ["0.5 m/s", 0, 0] }
[wall.right]
material = "clay"
plane = { point = ["15 mm", 0, 0], normal = [-1, 0, 0] }
motion = { servo = { force = "1 N", along = [-1, 0, 0], velocity_limit = "0.5 m/s" } }
[[stage]]
name = "fall"
until = "time > 1.79 ms"
[[stage]]
name = "tilt"
set.gravity = ["50 m/s^2", 0, "-200 m/s^2"]
[output]
every = "0.9 ms"
energies_every = "0.3 ms"
"#;

/// Grains rise through sides that slide, past which those on the other side move. Frames are 50 steps apart.
const SHEARED: &str = r#"
[run]
until = "3 ms"
time_step = "15 us"
threads = 2
skin = "0.2 mm"
device = "gpu"
precision = "mixed"
[world]
domain = { min = ["-14 mm", "-14 mm", "-14 mm"], max = ["14 mm", "14 mm", "14 mm"], sides = ["periodic", "periodic", "periodic"], shear = { flow = "x", gradient = "z", rate = "20 Hz" } }
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "20 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.5
friction = 0.5
[grains.gas]
material = "clay"
fill = { region = { box = { min = ["-14 mm", "-14 mm", "-14 mm"], max = ["14 mm", "14 mm", "14 mm"] } }, count = 100, radius = "2 mm", method = "random", periodic = [true, true, true] }
velocity = ["0.1 m/s", 0, "0.7 m/s"]
[output]
every = "0.75 ms"
"#;

/// Runs a scene on a disk, and returns the record of the run.
fn run(scene: &str, layer: &dyn FileLayer, control: Control, observer: &mut dyn Observer) -> Record {
    let scene = load_text(scene, Path::new("frames.toml"), &[]).unwrap();
    let options = Options {
        layer,
        control,
        ..Options::new(observer)
    };
    start(scene, Path::new(FOLDER), options).unwrap().record
}

/// Runs a scene from start to end.
fn whole(scene: &str) -> (FaultyDisk, Record) {
    let disk = FaultyDisk::new();
    let record = run(scene, &disk, Control::default(), &mut NoObserver);
    (disk, record)
}

/// The files of all frames.
fn frames(disk: &FaultyDisk) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = disk.list(&Path::new(FOLDER).join("fields")).unwrap();
    let read = |path: PathBuf| {
        let bytes = disk.read(&path).unwrap();
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

/// The text of the table of energies.
fn energies(disk: &FaultyDisk) -> String {
    String::from_utf8(disk.read(&Path::new(FOLDER).join("energies.csv")).unwrap()).unwrap()
}

/// Asserts that two runs have the same bytes of frames, so many of grains.
#[track_caller]
fn assert_same_frames(found: &FaultyDisk, expected: &FaultyDisk, of_grains: usize) {
    let (found, expected) = (frames(found), frames(expected));
    assert!(found.keys().eq(expected.keys()), "{:?}, not {:?}", found.keys(), expected.keys());
    for (path, bytes) in &expected {
        assert!(&found[path] == bytes, "{} differs", path.display());
    }
    let is_of_grains = |path: &&PathBuf| path.to_string_lossy().contains("grains_");
    assert_eq!(expected.keys().filter(is_of_grains).count(), of_grains);
}

/// Asserts that a scene writes the same frames and energies if this probe lets the run observe everything at the steps of its five frames. Without the
/// probe only frames and energies are due then. Returns the disk and the record of the run without it.
#[track_caller]
fn assert_same_with_a_probe(scene: &str, probe: &str) -> (FaultyDisk, Record) {
    let (plain, record) = whole(scene);
    let (observed, _) = whole(&format!("{scene}{probe}"));
    assert_same_frames(&plain, &observed, 5);
    assert_eq!(energies(&plain), energies(&observed));
    (plain, record)
}

#[test]
fn frames_that_leave_a_gpu_while_it_goes_on_are_those_of_a_run_that_observes_everything() {
    let probe = "[probe.floor]\nwall_force = \"floor\"\nevery = \"0.9 ms\"\n";
    let fields = "fields = [\"force\", \"torque\", \"angular_velocity\", \"coordination\", \"mass\", \"volume\"]\n";
    for fields in ["", fields] {
        let (disk, record) = assert_same_with_a_probe(&format!("{FALL}{fields}"), probe);
        // The scene does what it is for.
        let tilted = &record.stages[1];
        assert!((tilted.began - 1.8e-3).abs() < 1e-9, "{tilted:?}");
        let text = energies(&disk);
        let column = |name: &str| {
            let header = text.lines().next().unwrap();
            header.split(',').position(|column| column.starts_with(name)).unwrap()
        };
        let rows = rows(&text);
        let last = rows.last().unwrap();
        for name in ["left_domain", "friction"] {
            assert!(last[column(name)] != 0.0, "{name}: {text}");
        }
    }
}

#[test]
fn frames_of_a_cell_whose_sides_slide_are_those_of_a_run_that_observes_everything() {
    assert_same_with_a_probe(SHEARED, "[probe.gas]\ngroup_force = \"gas\"\nevery = \"0.75 ms\"\n");
}

/// Step between two frames at which a checkpoint is requested.
const CHECKPOINT_AT: u64 = 100;
/// Step between two later frames at which the run is interrupted.
const STOP_AT: u64 = 160;

/// Requests a checkpoint and later the end of a run, between frames.
#[derive(Default)]
struct Interrupter {
    control: Control,
    /// Steps of the checkpoints.
    stored: Vec<u64>,
}

impl Observer for Interrupter {
    fn progress(&mut self, progress: &Progress) {
        let Control { stop, checkpoint } = &self.control;
        checkpoint.fetch_or(progress.steps == CHECKPOINT_AT, Ordering::Relaxed);
        stop.fetch_or(progress.steps == STOP_AT, Ordering::Relaxed);
    }
    fn event(&mut self, event: &Event) {
        if let Event::Checkpoint { steps, .. } = event {
            self.stored.push(*steps);
        }
    }
}

#[test]
fn frames_from_a_gpu_to_a_slow_disk_are_the_same_across_checkpoints_and_an_interruption() {
    let (expected, record) = whole(FALL);
    let slow = slow_disk();
    let mut interrupter = Interrupter::default();
    let control = interrupter.control.clone();
    let stopped = run(FALL, &slow, control, &mut interrupter);
    assert_eq!((stopped.steps, interrupter.stored), (STOP_AT, vec![0, CHECKPOINT_AT, STOP_AT]));
    let mut no_one = NoObserver;
    let options = Options {
        layer: &slow,
        ..Options::new(&mut no_one)
    };
    let end = resume(Path::new(FOLDER), &[], options).unwrap();
    assert_eq!(end.record.steps, record.steps);
    assert_same_frames(&slow.disk, &expected, 5);
}
