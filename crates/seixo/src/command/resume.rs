//! `seixo resume`: continues a run.

use super::ranks::Rank;
use super::watch::{StopArguments, Watcher};
use super::{Done, Failure, Limits, Verbosity};
use crate::run::{Options, folder, resume as go_on};
use clap::Args;
use std::path::PathBuf;

/// Continue a run from the newest checkpoint of its folder, with the same bits as an uninterrupted run
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo resume silo.out                  to the end that the scene gives
  seixo resume silo.out --until \"10 s\"   further than that
  seixo resume silo.out --threads 8      on other threads: the results stay the same bits
  seixo resume silo.out --device gpu     on another device: the same state goes on, with other rounding
  seixo resume silo.out --set interaction.glass-glass.friction=0.2   with another friction from here on
  seixo resume silo.out --moved /old/meshes=/new/meshes   what the scene names is elsewhere now

A run folder may be moved, alone or with the files that its scene names: what moved along is found relative to it.

What is the same bits as in a run that never stopped:
  on the CPU           all files
  on a GPU, on both,   the state, and with it frames and probes. Sums over time in energies.csv (damping, friction, viscosity,
  or among domains     wall_work, residual) are to rounding: a checkpoint adds them up in other groups. In f64 that is some
                       1e-14 of the energies, in mixed and f32 some 1e-7
Where bodies or small grains are in fluids on a GPU, lists may be made at other steps: then all is to rounding.")]
pub struct ResumeArguments {
    /// Folder of the run, such as silo.out
    folder: PathBuf,
    /// New path of a file that the scene names, or of a folder above it, such as --moved /old/meshes=/new/meshes; repeat the option for more paths
    #[arg(long, value_name = "OLD=NEW", value_parser = moved)]
    moved: Vec<(PathBuf, PathBuf)>,
    /// Change a value of the scene from here on, such as --set interaction.glass-glass.friction=0.2; for keys that say nothing of the past of the run.
    /// Repeat the option for more values
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE", value_parser = super::setting)]
    settings: Vec<(String, String)>,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    stop: StopArguments,
    #[command(flatten)]
    voice: Verbosity,
}

/// Parses an old and a new path.
fn moved(text: &str) -> Result<(PathBuf, PathBuf), String> {
    let absolute = |path: &str| std::path::absolute(path).map_err(|error| error.to_string());
    match text.split_once('=') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok((absolute(from)?, absolute(to)?)),
        _ => Err("write it as OLD=NEW, such as /old/meshes=/new/meshes".to_owned()),
    }
}

/// Continues the run.
pub fn resume(arguments: &ResumeArguments) -> Done {
    let overrides = [arguments.settings.clone(), arguments.limits.overrides()].concat();
    let rank = Rank::join(&arguments.folder.join(folder::SCENE), &overrides);
    let voice = rank.voice(arguments.voice);
    let ran = || -> Done {
        let control = arguments.stop.control()?;
        let mut watcher = Watcher::new(voice);
        let ending = go_on(
            &arguments.folder,
            &rank.divide(overrides)?,
            Options {
                control,
                ranks: rank.all_ranks(),
                moved: arguments.moved.clone(),
                ..Options::new(&mut watcher)
            },
        )?;
        watcher.close(&arguments.folder, &ending)
    };
    rank.end(ran().map_err(|failure: Failure| failure.with_json(voice.json)))
}
