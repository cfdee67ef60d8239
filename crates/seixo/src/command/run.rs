//! `seixo run`: runs a scene into a folder.

use super::ranks::Rank;
use super::watch::{StopArguments, Watcher};
use super::{Done, Failure, SceneChanges, Verbosity, load};
use crate::run::{Options, TimelineOptions, folder, start};
use clap::Args;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Run a scene and write its results to a folder
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo run silo.toml                              into silo.out/
  seixo run silo.toml --threads 4 --until \"2 s\"    four threads, two simulated seconds
  seixo run silo.toml --device gpu                 on the graphics card, see `seixo info`; forces there in single precision (--precision)
  seixo run silo.toml --out wide --set \"grains.bed.fill.count=20000\"
  seixo run silo.toml --json | jq .time            for scripts: one JSON object a line
  seixo run silo.toml --gpus 2 --trace silo.json   when each domain did what, for https://ui.perfetto.dev or chrome://tracing
  mpirun -n 4 seixo run silo.toml                  decomposed over 4 processes, if the program was built with MPI

Ctrl-C, TERM and HUP write a checkpoint and stop with exit code 130; `seixo resume` goes on, bit for bit as if nothing had happened.
USR1 writes a checkpoint and goes on. A folder that holds a run is never overwritten without --force, and one into which another process writes not at all.")]
pub struct RunArguments {
    /// Scene file, such as silo.toml
    scene: PathBuf,
    /// Folder for the results; default: SCENE.out in the current folder, such as silo.out for silo.toml
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Remove the results of an earlier or aborted run in that folder, and run again
    #[arg(long)]
    force: bool,
    /// Write a timeline of some steps into this file, in the trace format of Chrome: passes and exchanges of each domain, and with CUDA the launches in
    /// each queue of its GPU. Results are the same to the bit
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Steps of the timeline: from the number of completed steps at which it begins to the one at which it ends
    #[arg(long, value_name = "FIRST..LAST", requires = "trace", default_value = "1000..1040", value_parser = steps_of_timeline)]
    trace_steps: Range<u64>,
    /// Leave out launches on GPUs, whose timing takes the host some microseconds each
    #[arg(long, requires = "trace")]
    trace_host: bool,
    #[command(flatten)]
    changes: SceneChanges,
    #[command(flatten)]
    stop: StopArguments,
    #[command(flatten)]
    voice: Verbosity,
}

impl RunArguments {
    /// Returns the timeline that is asked for.
    fn timeline(&self) -> Option<TimelineOptions> {
        self.trace.clone().map(|file| TimelineOptions {
            file,
            steps: self.trace_steps.clone(),
            times_launches: !self.trace_host,
        })
    }
}

/// Parses two numbers of steps, the second above the first.
fn steps_of_timeline(text: &str) -> Result<Range<u64>, String> {
    let ends = text
        .split_once("..")
        .and_then(|(first, last)| Some((first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?)));
    match ends {
        Some((first, last)) if first < last => Ok(first..last),
        _ => Err("write two numbers of steps with two dots between them, the larger one last, such as 2000..2040".to_owned()),
    }
}

/// Runs the scene.
pub fn run(arguments: &RunArguments) -> Done {
    let overrides = arguments.changes.overrides();
    let rank = Rank::join(&arguments.scene, &overrides);
    let voice = rank.voice(arguments.voice);
    let ran = || -> Done {
        let control = arguments.stop.control()?;
        let scene = load(&arguments.scene, &rank.divide(overrides)?)?;
        // Ranks stop together, at a step.
        if control.stop.load(Ordering::Relaxed) && rank.all_ranks().is_none() {
            return Err(Failure::Interrupted("stopped before the run began; nothing was written".to_owned()));
        }
        let folder = arguments.out.clone().unwrap_or_else(|| folder::of_scene(&arguments.scene));
        let mut watcher = Watcher::new(voice);
        let ending = start(
            scene,
            &folder,
            Options {
                control,
                overwrite: arguments.force,
                ranks: rank.all_ranks(),
                timeline: arguments.timeline(),
                ..Options::new(&mut watcher)
            },
        )?;
        watcher.close(&folder, &ending)
    };
    rank.end(ran().map_err(|failure: Failure| failure.with_json(voice.json)))
}
