//! Random scenes with all features: each is refused or runs, and all ways to run it give the same result.
//!
//! `SEIXO_SCENES` is the number of scenes, with seeds from `SEIXO_FIRST_SCENE` on. A failure shows the seed and the scene.

mod compared;
mod fluids;
mod grains;
mod happenings;
mod orders;
mod walls;
mod writer;

use compared::{compare_files, compare_states, seen};
use seixo::files::layer::FaultyDisk;
use seixo::run::{NoObserver, Observer, Options, Progress, RunError, resume, start};
use seixo::{Scene, Simulation};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use writer::{STEPS, scene};

use crate::command_line::faults::{FOLDER, results};

/// Time limit for all runs of a scene on slow machines; usually they take some tenths of a second. The kernels of a GPU are compiled for each scene.
const WATCH: Duration = Duration::from_secs(180);

/// Time step of a scene before its own is computed \[s\].
const DRAFT: f64 = 1e-5;

/// Number of scenes by result.
#[derive(Debug, Default)]
struct Count {
    /// Refused by `check`.
    refused: u32,
    /// Stopped early by the state of a grain or a particle.
    stopped: u32,
    ran: u32,
    /// Runs whose features subdomains, or a GPU, do not support.
    single_domain: u32,
    off_gpu: u32,
}

/// Reads a number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|number| number.parse().unwrap())
}

#[test]
fn random_scenes_come_to_the_same_by_every_way_to_run_them() {
    let (count, first) = (number("SEIXO_SCENES"), number("SEIXO_FIRST_SCENE").unwrap_or(0));
    let mut counted = Count::default();
    for seed in first..first + count.unwrap_or(25) {
        let text = watched(move || text_of(seed)).unwrap_or_else(|fault| fail(seed, &fault, &scene(seed, DRAFT)));
        // Kernels of a GPU take long to compile if a processor emulates it.
        let with_gpu = count.is_some() || seed.is_multiple_of(8);
        let tried = text.clone();
        let became = watched(move || all_ways(&tried, with_gpu)).and_then(|became| became);
        match became {
            Ok(Became::Refused) => counted.refused += 1,
            Ok(Became::Stopped) => counted.stopped += 1,
            Ok(Became::Ran { is_decomposed, is_on_gpu }) => {
                counted.ran += 1;
                counted.single_domain += u32::from(!is_decomposed);
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

/// Fails the test with the data to repeat it.
fn fail(seed: u64, fault: &str, text: &str) -> ! {
    panic!("scene {seed}: {fault}\n{text}")
}

/// Returns the result of `work`, or an error if it takes too long or panics.
fn watched<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    let (sender, reported) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = sender.send(work());
    });
    reported.recv_timeout(WATCH).map_err(|error| match error {
        mpsc::RecvTimeoutError::Timeout => format!("not over after {WATCH:?}"),
        mpsc::RecvTimeoutError::Disconnected => "a panic, which is shown above".to_owned(),
    })
}

/// Result of a scene.
enum Became {
    Refused,
    Stopped,
    Ran { is_decomposed: bool, is_on_gpu: bool },
}

/// Returns the scene of a seed; its times follow from its time step.
fn text_of(seed: u64) -> String {
    let draft = scene(seed, DRAFT);
    let step = load(&draft, &[]).ok().and_then(|loaded| {
        let planned = seixo::engine::plan_time_step(&loaded.world, loaded.settings.scheme);
        Some(planned.ok()?.value)
    });
    step.map_or(draft, |step| scene(seed, step))
}

/// Reads a scene in the folder with the meshes of the tests.
fn load(text: &str, changes: &[(&str, &str)]) -> Result<Scene, String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seixo/command_line/scenes/random.toml");
    let changes: Vec<_> = changes.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    seixo::scene::load_text(text, &file, &changes).map_err(|found| found.plain())
}

/// Stops a run at a given step.
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

/// Runs a scene on a disk in memory, to its end or until an interruption.
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

/// Whether a run ended because of the state of a grain or a particle, and not by a fault of the program.
fn is_stop(error: &RunError) -> bool {
    matches!(error, RunError::Stopped { .. }) && !error.to_string().contains("panicked")
}

/// Runs a scene with one and two threads, with an interruption, with two subdomains, and on a GPU with and without an interruption. Returns an error
/// if results differ.
fn all_ways(text: &str, with_gpu: bool) -> Result<Became, String> {
    let Ok(loaded) = load(text, &[]) else { return Ok(Became::Refused) };
    if Simulation::new(loaded.world, loaded.settings).is_err() {
        return Ok(Became::Refused);
    }
    let [one, two] = ["1", "2"].map(|threads| ("run.threads", threads));
    let decomposition_invariant = ("run.decomposition_invariant", "true");
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
    let mut no_one = NoObserver;
    let options = Options {
        layer: &interrupted,
        ..Options::new(&mut no_one)
    };
    let threads = [("run.threads".to_owned(), "2".to_owned())];
    resume(Path::new(FOLDER), &threads, options).map_err(of("resumed"))?;
    compare_files("resumed", &results(&interrupted), &expected, 0.0)?;

    let single_domain = shown(&run(text, &[one, decomposition_invariant], None).map_err(of("divisible"))?);
    let is_decomposed = match run(text, &[two, ("run.domains", "2")], None) {
        Ok(decomposed) => {
            // The state of a decomposed run has other sections; sums over all particles agree to rounding.
            compare_files("two domains", &shown(&decomposed), &single_domain, 1e-11)?;
            true
        }
        Err(error) if error.is_input() => false,
        Err(error) => return Err(format!("two domains: {error}")),
    };
    let is_on_gpu = with_gpu && on_gpu(text, one)?;
    Ok(Became::Ran { is_decomposed, is_on_gpu })
}

/// Returns the files of a run without its state.
fn shown(disk: &FaultyDisk) -> Vec<(String, Vec<u8>)> {
    let mut files = results(disk);
    files.retain(|(name, _)| name != "state");
    files
}

/// Compares a GPU with the CPU, and an interrupted run on the GPU with an uninterrupted one. Returns whether the GPU supports the scene.
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
    let mut no_one = NoObserver;
    let options = Options {
        layer: &interrupted,
        ..Options::new(&mut no_one)
    };
    resume(Path::new(FOLDER), &[], options).map_err(of("resumed on a GPU"))?;
    // Sums over all particles are added in another order, and agree to rounding.
    compare_files("resumed on a GPU", &shown(&interrupted), &shown(&whole), 1e-9)?;
    Ok(true)
}
