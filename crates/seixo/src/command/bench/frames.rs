//! `seixo bench frames`: measures what the frames of a run cost it.

use super::super::{Done, Failure};
use super::{Case, lattice};
use crate::device_options::DeviceArguments;
use crate::run::{CheckpointsRecord, FramesRecord, NoObserver, Options, Record, start};
use crate::terminal;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use seixo_files::vtk::{Encoding, Field};
use serde::Serialize;
use std::path::Path;

/// Measure what the frames of a run cost it
///
/// A lattice of grains with six contacts each runs into a temporary folder. Its frames have positions, radii, ids and velocities, as those of a scene
/// without `output.fields`. The run copies them, or queues copies on GPUs and goes on; it waits if two of them are not written yet. A thread beside the
/// run writes them. The same numbers are in run.json of any run.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench frames                                           10⁵ grains on this CPU
  seixo bench frames --particles 1000000 --device gpu --every 10000
                                                               a frame each 10 000 steps
  seixo bench frames --encoding compressed,raw --json          both encodings")]
pub struct FramesArguments {
    /// Number of grains; lattices take the nearest cube
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(8..))]
    particles: u32,
    /// Number of frames after the one at the start
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Steps between two frames; if they are few, the run waits for its frames
    #[arg(long, value_name = "STEPS", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Encodings of the arrays, separated by commas
    #[arg(long, value_delimiter = ',', value_parser = encodings(), default_values = ["compressed"])]
    encoding: Vec<Encoding>,
    /// Number of CPU threads, of the run and of the compression; 0 = all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,
    #[command(flatten)]
    place: DeviceArguments,
    /// Print one JSON object per line on the standard output
    #[arg(long)]
    pub json: bool,
}

/// Parses the word for an [`Encoding`].
fn encodings() -> impl TypedValueParser<Value = Encoding> {
    PossibleValuesParser::new(Encoding::ALL.map(|(_, word)| word)).map(|word| {
        let found = Encoding::ALL.into_iter().find(|(_, known)| *known == word);
        found.map(|(encoding, _)| encoding).unwrap_or_default()
    })
}

#[derive(Serialize)]
struct Measured {
    case: &'static str,
    device: String,
    precision: String,
    threads: usize,
    particles: usize,
    encoding: &'static str,
    steps_between: u32,
    /// Number of frames, that at the start included.
    frames: u64,
    /// Bytes of a frame.
    bytes: f64,
    /// Wall time for which the run copied the frame at the start \[s\].
    first_copying: f64,
    /// Wall times of a frame after it \[s\].
    copying: f64,
    waiting: f64,
    /// Wall time of writing a frame beside the run \[s\].
    writing: f64,
    /// Wall time of the steps with the frames after the one at the start, without checkpoints \[s\], and the share of it for which these frames held
    /// up the run.
    seconds: f64,
    share: f64,
    checkpoints: CheckpointsRecord,
}

/// Runs the measurement with each encoding.
pub fn frames(arguments: &FramesArguments) -> Done {
    let folder = std::env::temp_dir().join(format!("seixo-bench-frames-{}", std::process::id()));
    for &encoding in &arguments.encoding {
        let ran = run(arguments, encoding, &folder);
        // The folder is not needed any more. The result of the measurement is returned even if the removal fails.
        let _ = std::fs::remove_dir_all(&folder);
        let measured = Measured::of(ran?, encoding, arguments.every);
        if arguments.json {
            terminal::json(&measured)?;
        } else {
            terminal::out(&measured.text())?;
        }
    }
    Ok(())
}

fn run(arguments: &FramesArguments, encoding: Encoding, folder: &Path) -> Result<Record, Failure> {
    let template = &seixo_scene::templates()[0];
    let scene = seixo_scene::load_text(template.text, template.name.as_ref(), &[]);
    let mut scene = scene.map_err(|diagnostics| Failure::Scene(Box::new(diagnostics)))?;
    scene.world = Case::Lattice.world(arguments.particles as usize, 0.5, 2.7);
    scene.settings = Case::Lattice.settings(arguments.threads);
    arguments.place.apply(&mut scene.settings).map_err(Failure::Input)?;
    let every = f64::from(arguments.every) * lattice::STEP;
    scene.run.until = f64::from(arguments.repeat) * every;
    (scene.output.every, scene.output.energies_every) = (every, scene.run.until);
    (scene.output.fields, scene.output.encoding) = (vec![Field::Velocity], encoding);
    (scene.output.contacts, scene.output.surface, scene.output.coarse) = (false, false, None);
    scene.checkpoint.every_wall = f64::INFINITY;
    scene.probes.clear();
    let mut observer = NoObserver;
    let options = Options {
        overwrite: true,
        ..Options::new(&mut observer)
    };
    Ok(start(scene, folder, options)?.record)
}

/// What frames cost the steps between them.
#[derive(Debug)]
struct Intervals {
    /// Number of intervals, each of which ends with a frame.
    count: u64,
    /// Wall time for which the run copied such a frame \[s\].
    copying: f64,
    /// Wall time for which it waited before the copy \[s\].
    waiting: f64,
    /// Wall time of all intervals \[s\].
    seconds: f64,
}

impl Intervals {
    /// Leaves the frame at the start and all checkpoints out of a run with this wall time \[s\]: the intervals do not contain them.
    fn of(frames: &FramesRecord, checkpoints: &CheckpointsRecord, wall_time: f64) -> Intervals {
        let count = frames.count.saturating_sub(1);
        let each = |total: f64| total / count.max(1) as f64;
        Intervals {
            count,
            copying: each(frames.copying - frames.first_copying),
            // The first frame finds the queue empty.
            waiting: each(frames.waiting),
            seconds: wall_time - frames.first_copying - checkpoints.copying - checkpoints.waiting,
        }
    }

    /// Share of the wall time for which frames held up the run.
    fn share(&self) -> f64 {
        self.count as f64 * (self.copying + self.waiting) / self.seconds
    }
}

impl Measured {
    fn of(record: Record, encoding: Encoding, steps_between: u32) -> Measured {
        let (frames, checkpoints) = (record.frames.unwrap_or_default(), record.checkpoints.unwrap_or_default());
        let intervals = Intervals::of(&frames, &checkpoints, record.wall_time);
        let each = |total: f64| total / frames.count.max(1) as f64;
        let word = Encoding::ALL.into_iter().find(|(known, _)| *known == encoding);
        Measured {
            case: "frames",
            device: record.device,
            precision: record.precision,
            threads: record.threads,
            particles: record.grains,
            encoding: word.map_or("", |(_, word)| word),
            steps_between,
            frames: frames.count,
            bytes: each(frames.bytes as f64),
            first_copying: frames.first_copying,
            copying: intervals.copying,
            waiting: intervals.waiting,
            writing: each(frames.writing),
            seconds: intervals.seconds,
            share: intervals.share(),
            checkpoints,
        }
    }

    fn text(&self) -> String {
        let seconds = |value: f64| terminal::scaled(value, "s");
        let stored = self.checkpoints.count.max(1) as f64;
        format!(
            "frames · {} · {} · {}, one each {}\n  a frame: the run copies for {} and waits for {}; beside it {} of writing, {}\n  {} after the one at \
             the start held up the run for {:.2} % of {}\n  a checkpoint: the run copies for {} and waits for {}; beside it {} of writing",
            terminal::many(self.particles, "grain"),
            terminal::place(&self.device, &self.precision, self.threads),
            self.encoding,
            terminal::many(self.steps_between as usize, "step"),
            seconds(self.copying),
            seconds(self.waiting),
            seconds(self.writing),
            terminal::scaled(self.bytes, "B"),
            terminal::many(self.frames.saturating_sub(1) as usize, "frame"),
            100.0 * self.share,
            terminal::duration(self.seconds),
            seconds(self.checkpoints.copying / stored),
            seconds(self.checkpoints.waiting / stored),
            seconds(self.checkpoints.writing / stored),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_at_the_start_and_checkpoints_are_in_no_interval() {
        // Three intervals of 2 s of steps and 0.1 s for a frame. The frame at the start takes longer.
        let frames = FramesRecord {
            count: 4,
            copying: 0.5 + 3.0 * 0.08,
            first_copying: 0.5,
            waiting: 3.0 * 0.02,
            ..FramesRecord::default()
        };
        let checkpoints = CheckpointsRecord {
            count: 2,
            copying: 0.3,
            waiting: 1.5,
            writing: 2.0,
        };
        let found = Intervals::of(&frames, &checkpoints, 0.5 + 3.0 * 2.1 + 0.3 + 1.5);
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-12;
        assert!(
            found.count == 3 && near(found.copying, 0.08) && near(found.waiting, 0.02),
            "{found:?}"
        );
        assert!(near(found.seconds, 6.3) && near(found.share(), 0.1 / 2.1), "{found:?}");
    }
}
