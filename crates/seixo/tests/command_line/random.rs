//! Scenes made at random of all that a scene can say: each is refused, or runs, and comes to the same by every way to run it.
//!
//! `SEIXO_SCENES` is how many are tried, from the seed `SEIXO_FIRST_SCENE` on. A fault shows the seed and the scene.

mod compared;
mod fluids;
mod grains;
mod happenings;
mod orders;
mod walls;
mod writer;

use compared::{compare_files, compare_states, seen};
use seixo::files::layer::FaultyDisk;
use seixo::run::{Observer, Options, Progress, RunError, Silent, resume, start};
use seixo::{Scene, Simulation};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use writer::{STEPS, scene};

use crate::faults::{FOLDER, results};

/// How long a scene may take that is run in all ways, on slow machines, too; it takes some tenths of a second. A GPU's kernels are compiled for each.
const WATCH: Duration = Duration::from_secs(180);

/// Time step of a scene before its own is known \[s\].
const DRAFT: f64 = 1e-5;

/// What becomes of scenes, counted.
#[derive(Debug, Default)]
struct Count {
    /// `check` refuses them.
    refused: u32,
    /// They end early, with what is wrong with a grain or a particle.
    stopped: u32,
    ran: u32,
    /// Runs in which domains, or a GPU, refuse what they do not know.
    undivided: u32,
    off_gpu: u32,
}

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|number| number.parse().unwrap())
}

#[test]
fn random_scenes_come_to_the_same_by_every_way_to_run_them() {
    let (count, first) = (number("SEIXO_SCENES"), number("SEIXO_FIRST_SCENE").unwrap_or(0));
    let mut counted = Count::default();
    for seed in first..first + count.unwrap_or(25) {
        let text = watched(move || text_of(seed)).unwrap_or_else(|fault| fail(seed, &fault, &scene(seed, DRAFT)));
        // Kernels of a GPU take long to compile where a processor stands in for it.
        let with_gpu = count.is_some() || seed.is_multiple_of(8);
        let tried = text.clone();
        let became = watched(move || all_ways(&tried, with_gpu)).and_then(|became| became);
        match became {
            Ok(Became::Refused) => counted.refused += 1,
            Ok(Became::Stopped) => counted.stopped += 1,
            Ok(Became::Ran { is_divided, is_on_gpu }) => {
                counted.ran += 1;
                counted.undivided += u32::from(!is_divided);
                counted.off_gpu += u32::from(with_gpu && !is_on_gpu);
            }
            Err(fault) => fail(seed, &fault, &text),
        }
    }
    println!("{counted:?}");
    assert!(
        2 * counted.ran > counted.refused + counted.stopped,
        "too few scenes run: {counted:?}"
    );
}

/// Ends the test with what can be run again.
fn fail(seed: u64, fault: &str, text: &str) -> ! {
    panic!("scene {seed}: {fault}\n{text}")
}

/// What work comes to, or that it never ends, or panics.
fn watched<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = tell.send(work());
    });
    told.recv_timeout(WATCH).map_err(|error| match error {
        mpsc::RecvTimeoutError::Timeout => format!("not over after {WATCH:?}"),
        mpsc::RecvTimeoutError::Disconnected => "a panic, which is shown above".to_owned(),
    })
}

/// What became of a scene.
enum Became {
    Refused,
    Stopped,
    Ran { is_divided: bool, is_on_gpu: bool },
}

/// The scene of a seed, with times that follow from the step that it takes.
fn text_of(seed: u64) -> String {
    let draft = scene(seed, DRAFT);
    let step = load(&draft, &[]).ok().and_then(|loaded| {
        let planned = seixo::engine::plan_time_step(&loaded.world, loaded.settings.scheme);
        Some(planned.ok()?.value)
    });
    step.map_or(draft, |step| scene(seed, step))
}

/// Reads a scene that lies beside the meshes of the tests.
fn load(text: &str, changes: &[(&str, &str)]) -> Result<Scene, String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command_line/scenes/random.toml");
    let changes: Vec<_> = changes.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    seixo::scene::load_text(text, &file, &changes).map_err(|found| found.plain())
}

/// Asks a run to stop once it has come this far.
struct Interruption {
    at: u64,
    stop: Arc<AtomicBool>,
}

impl Observer for Interruption {
    fn progress(&mut self, progress: &Progress) {
        if progress.steps >= self.at {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs a scene on a disk in memory, to its end or until it was interrupted here.
fn run(text: &str, changes: &[(&str, &str)], interrupt_at: Option<u64>) -> Result<FaultyDisk, RunError> {
    let disk = FaultyDisk::new();
    let scene = load(text, changes).expect("it was read before");
    let mut interruption = Interruption {
        at: interrupt_at.unwrap_or(u64::MAX),
        stop: Arc::default(),
    };
    let stop = interruption.stop.clone();
    let mut options = Options {
        layer: &disk,
        ..Options::new(&mut interruption)
    };
    options.control.stop = stop;
    start(scene, Path::new(FOLDER), options)?;
    Ok(disk)
}

/// Whether a run ended for what became of a grain or a particle, and not for a fault of the program.
fn is_stop(error: &RunError) -> bool {
    matches!(error, RunError::Stopped { .. }) && !error.to_string().contains("panicked")
}

/// Runs a scene on one thread, on two, with an interruption, among two domains, and on a GPU with and without one, or says what is wrong with that.
fn all_ways(text: &str, with_gpu: bool) -> Result<Became, String> {
    let Ok(loaded) = load(text, &[]) else { return Ok(Became::Refused) };
    if Simulation::new(loaded.world, loaded.settings).is_err() {
        return Ok(Became::Refused);
    }
    let [one, two] = ["1", "2"].map(|threads| ("run.threads", threads));
    let divisible = ("run.divisible", "true");
    let whole = match run(text, &[one], None) {
        Ok(whole) => whole,
        Err(error) if is_stop(&error) => return Ok(Became::Stopped),
        Err(error) => return Err(format!("it was found right, and then: {error}")),
    };
    let expected = results(&whole);
    let of = |way: &'static str| move |error: RunError| format!("{way}: {error}");
    compare_files(
        "two threads",
        &results(&run(text, &[two], None).map_err(of("two threads"))?),
        &expected,
        0.0,
    )?;

    let interrupted = run(text, &[one], Some(STEPS / 2)).map_err(of("until it is interrupted"))?;
    let mut nobody = Silent;
    let options = Options {
        layer: &interrupted,
        ..Options::new(&mut nobody)
    };
    let threads = [("run.threads".to_owned(), "2".to_owned())];
    resume(Path::new(FOLDER), &threads, options).map_err(of("resumed"))?;
    compare_files("resumed", &results(&interrupted), &expected, 0.0)?;

    let undivided = shown(&run(text, &[one, divisible], None).map_err(of("divisible"))?);
    let is_divided = match run(text, &[two, ("run.domains", "2")], None) {
        Ok(divided) => {
            // What is kept of a division is its own; sums over all are the same to rounding.
            compare_files("two domains", &shown(&divided), &undivided, 1e-11)?;
            true
        }
        Err(error) if error.is_input() => false,
        Err(error) => return Err(format!("two domains: {error}")),
    };
    let is_on_gpu = with_gpu && on_gpu(text, one)?;
    Ok(Became::Ran { is_divided, is_on_gpu })
}

/// What a run wrote, without its state.
fn shown(disk: &FaultyDisk) -> Vec<(String, Vec<u8>)> {
    let mut files = results(disk);
    files.retain(|(name, _)| name != "state");
    files
}

/// Compares a GPU with the CPU, and a run on it that was interrupted with one that was not; whether it knows all that the scene needs.
fn on_gpu(text: &str, threads: (&str, &str)) -> Result<bool, String> {
    let gpu = [threads, ("run.device", "gpu"), ("run.precision", "f64")];
    let scene = load(text, &gpu)?;
    let Ok(simulation) = Simulation::new(scene.world.clone(), scene.settings.clone()) else {
        return Ok(false);
    };
    let found = seen(simulation, &scene).map_err(|error| format!("on a GPU: {error}"))?;
    let scene = load(text, &[threads])?;
    let simulation = Simulation::new(scene.world.clone(), scene.settings.clone()).map_err(|error| error.to_string())?;
    let expected = seen(simulation, &scene).map_err(|error| format!("stepped by hand: {error}"))?;
    compare_states(&found, &expected)?;

    let of = |way: &'static str| move |error: RunError| format!("{way}: {error}");
    let whole = run(text, &gpu, None).map_err(of("on a GPU"))?;
    let interrupted = run(text, &gpu, Some(STEPS / 2)).map_err(of("on a GPU until it is interrupted"))?;
    let mut nobody = Silent;
    let options = Options {
        layer: &interrupted,
        ..Options::new(&mut nobody)
    };
    resume(Path::new(FOLDER), &[], options).map_err(of("resumed on a GPU"))?;
    // Sums over all are made of other parts, and are the same to rounding.
    compare_files("resumed on a GPU", &shown(&interrupted), &shown(&whole), 1e-9)?;
    Ok(true)
}
