//! Frames and checkpoints, which a thread writes beside the run: none is lost, and raw frames have what compressed ones have.

use crate::command_line::faults::{FOLDER, results};
use crate::command_line::stage::{HEAP, Stage};
use crate::slow_disk::SlowDisk;
use seixo::files::layer::{FaultyDisk, FileLayer};
use seixo::files::vtk::{VtkIndex, read_contacts, read_grains, read_walls};
use seixo::run::{Event, Observer, Options, Progress, Record, start};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// Time that a file of grains or a checkpoint takes on a slow disk.
const PAUSE: Duration = Duration::from_millis(250);

/// A disk on which each file of grains and each checkpoint takes its time.
pub fn slow_disk() -> SlowDisk<'static> {
    SlowDisk::new(|path| {
        let path = path.to_string_lossy();
        if ["grains_", "state.checkpoint"].iter().any(|name| path.contains(name)) {
            sleep(PAUSE);
        }
    })
}

/// What a run reports.
#[derive(Default)]
struct Reports {
    notices: Vec<String>,
    /// Steps of the checkpoints.
    stored: Vec<u64>,
    /// Largest number of steps before the first of them was stored.
    steps_before: u64,
}

impl Observer for Reports {
    fn progress(&mut self, progress: &Progress) {
        if self.stored.is_empty() {
            self.steps_before = progress.steps;
        }
    }
    fn event(&mut self, event: &Event) {
        match event {
            Event::Notice { text, .. } => self.notices.push(text.clone()),
            Event::Checkpoint { steps, .. } => self.stored.push(*steps),
            _ => {}
        }
    }
}

/// Runs a small heap with twelve frames, and returns what it reports, and its record.
fn run_on(layer: &dyn FileLayer) -> (Reports, Record) {
    let few = [
        ("grains.heap.fill.count", "20"),
        ("run.until", "1.1 ms"),
        ("output.every", "0.1 ms"),
        ("run.threads", "1"),
    ];
    let overrides = few.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let scene = seixo::scene::load_text(HEAP, Path::new("heap.toml"), &overrides).unwrap();
    let mut reports = Reports::default();
    let options = Options {
        layer,
        ..Options::new(&mut reports)
    };
    let record = start(scene, Path::new(FOLDER), options).unwrap().record;
    (reports, record)
}

#[test]
fn a_run_waits_for_a_slow_disk_says_so_and_loses_no_frame() {
    let (fast, slow) = (FaultyDisk::new(), slow_disk());
    assert_eq!(run_on(&fast).0.notices, [""; 0]);
    let notices = run_on(&slow).0.notices;
    // Once in the course of the run, and with all of the time at its end.
    assert!((1..=2).contains(&notices.len()), "{notices:?}");
    for notice in &notices {
        assert!(notice.starts_with("the run waited") && notice.contains("output.every"), "{notice}");
    }
    assert!(results(&slow.disk) == results(&fast));
    let profile = slow.disk.read(&Path::new(FOLDER).join("profile.csv")).unwrap();
    let profile = String::from_utf8(profile).unwrap();
    let outputs = profile.lines().find_map(|line| line.strip_prefix("outputs,")).unwrap();
    let seconds: f64 = outputs.split(',').next().unwrap().parse().unwrap();
    assert!(seconds > 1.0, "{profile}");
}

#[test]
fn steps_go_on_while_a_checkpoint_is_written_and_the_record_has_what_writing_took() {
    let slow = slow_disk();
    let (reports, record) = run_on(&slow);
    assert!(reports.steps_before > 0, "the run waited for its first checkpoint");
    assert_eq!(reports.stored, [0, record.steps]);

    let (frames, checkpoints) = (record.frames.unwrap(), record.checkpoints.unwrap());
    assert_eq!((frames.count, checkpoints.count), (12, 2));
    assert!(record.starting > Some(0.0), "{:?}", record.starting);
    let pause = PAUSE.as_secs_f64();
    assert!(frames.writing >= 12.0 * pause && checkpoints.writing >= 2.0 * pause);
    // The last checkpoint is waited for; so are frames, of which two are in work.
    assert!(checkpoints.waiting >= pause && frames.waiting > 0.0 && frames.copying > 0.0 && checkpoints.copying > 0.0);
    let size = |folder: &str| -> u64 {
        let paths = slow.list(&Path::new(FOLDER).join(folder)).unwrap_or_default();
        let files = paths.iter().filter(|path| path.extension().is_some_and(|ending| ending != "pvd"));
        files.map(|path| slow.size(path).unwrap()).sum()
    };
    assert_eq!(frames.bytes, ["fields", "contacts", "coarse"].map(size).iter().sum::<u64>());
}

#[test]
fn raw_frames_have_what_compressed_ones_have() {
    let stage = Stage::new();
    let scene = HEAP.replace("until = \"120 ms\"", "until = \"20 ms\"");
    stage.write("packed.toml", &scene);
    stage.write("raw.toml", &scene.replace("[output]\n", "[output]\nencoding = \"raw\"\n"));
    for scene in ["packed", "raw"] {
        stage.succeed(&format!("run {scene}.toml --quiet"));
    }
    assert!(stage.read("packed.out/scene.toml").contains("encoding = \"compressed\""));
    let both = |name: &str| ["packed", "raw"].map(|run| stage.path(&format!("{run}.out/{name}")));
    for frame in 0..3 {
        let [packed, raw] = both(&format!("fields/grains_{frame:06}.vtp")).map(|path| read_grains(&path).unwrap());
        assert!(packed == raw && raw.position.len() == 300);
        let [packed, raw] = both(&format!("fields/walls_{frame:06}.vtp")).map(|path| read_walls(&path).unwrap());
        assert_eq!(packed, raw);
        let [packed, raw] = both(&format!("contacts/contacts_{frame:06}.vtp")).map(|path| read_contacts(&path).unwrap());
        assert!(packed == raw);
        let [packed, raw] = both(&format!("coarse/coarse_{frame:06}.vti")).map(|path| VtkIndex::open(&path).unwrap());
        let array = |index: &VtkIndex| index.read(index.find("PointData", "density").unwrap()).unwrap();
        assert_eq!(array(&packed), array(&raw));
        assert!(raw.arrays.iter().all(|array| array.raw_range().is_some()));
    }
    // Commands and other scenes read both.
    let [packed, raw] = ["packed", "raw"].map(|run| {
        stage.succeed(&format!("table {run}.out --out {run}.csv"));
        stage.succeed(&format!("slice {run}.out --field velocity_z --out {run}-slice.csv"));
        [stage.read(&format!("{run}.csv")), stage.read(&format!("{run}-slice.csv"))]
    });
    assert!(packed == raw);
    // The frames go on as they were after an interruption.
    stage.succeed("run raw.toml --quiet --force --until 10ms");
    stage.succeed("resume raw.out --quiet --until 20ms");
    let [packed, raw] = both("fields/grains_000002.vtp").map(|path| read_grains(&path).unwrap());
    assert!(packed == raw);
}
