//! The command line: what it accepts, the commands, one file each, and their common parts.

mod bench;
mod check;
mod explain;
mod features;
mod film;
mod info;
mod new;
mod picture;
mod plot;
mod ranks;
mod resume;
mod run;
mod slice;
mod spheres;
mod surface;
mod sweep;
mod table;
mod view;
mod watch;

pub(crate) use crate::failure::{Done, Failure};
pub use check::findings;

use crate::device_options::{DecompositionArguments, DeviceArguments};
use crate::sweep::Program;
use crate::terminal;
use crate::verify;
use clap::{Args, CommandFactory, Parser, Subcommand};
use seixo_scene::Scene;
use seixo_scene::quantity::{self, Parsed};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Seixo, a particle engine: scene file in, checked numbers and pictures out.
#[derive(Parser)]
#[command(version, long_version = features::version(), propagate_version = true, arg_required_else_help = true, after_help = help())]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
A first run:
  seixo new silo                 a commented scene to start from, silo.toml
  seixo explain wall.motion      what the keys of a scene mean
  seixo check silo.toml          is it right, how large, how long will it take
  seixo run silo.toml            run it into silo.out/ (Ctrl-C keeps a checkpoint)
  seixo resume silo.out          go on where it stopped
  seixo sweep silo.toml --vary run.seed=1..5   several runs with other values, and a table of their results
  seixo view silo.out            look at it in a window; seixo view silo.toml runs it meanwhile, --browser shows a page instead
  seixo picture silo.out         the last frame as an image; seixo film silo.out all of them as a video
  seixo slice silo.out           solid fraction, velocity or stress on a plane
  seixo surface dam.out --all    the free surface of fluids, as meshes
  seixo plot silo.out            energies, probes, time per pass
  seixo spheres body.stl --radius 0.01   a mesh as equal spheres

Environment variables:
  NO_COLOR          no colors in messages, if not empty; default: colors on a terminal
  XDG_CACHE_HOME    folder for stored results, such as spheres of meshes; default: ~/.cache
  RAYON_NUM_THREADS number of CPU threads where run.threads is 0; default: all cores
  SEIXO_DATA        folder with measured data for seixo verify; default: ../shared/data
  SEIXO_COMMIT      commit of the program for seixo bench --record; default: none, then --commit is needed
  WGPU_BACKEND      graphics interface of pictures and windows, such as vulkan; default: any
  DISPLAY, WAYLAND_DISPLAY
                    screen for the window of seixo view; a page needs none
  OMPI_COMM_WORLD_SIZE, PMI_SIZE, MV2_COMM_WORLD_SIZE, SLURM_STEP_NUM_TASKS, PMIX_RANK
                    set by MPI launchers; default: one process

Exit codes: 0 done, 1 the run failed, 2 the input is wrong, 130 interrupted.
Each command has examples of its own: seixo run --help";

/// Returns the examples, and the features of this program.
fn help() -> String {
    format!("{EXAMPLES}\n\n{}", features::help())
}

#[derive(Subcommand)]
enum Command {
    Run(run::RunArguments),
    Check(check::CheckArguments),
    Resume(resume::ResumeArguments),
    Sweep(Box<sweep::SweepArguments>),
    New(new::NewArguments),
    Info(info::InfoArguments),
    Plot(plot::PlotArguments),
    Picture(picture::PictureArguments),
    Film(Box<film::FilmArguments>),
    View(Box<view::ViewArguments>),
    Slice(slice::SliceArguments),
    Table(table::TableArguments),
    Surface(surface::SurfaceArguments),
    Spheres(spheres::SpheresArguments),
    /// Run the validation cases on this machine and compare measured with expected values.
    Verify(verify::VerifyArguments),
    Bench(Box<bench::BenchArguments>),
    Explain(explain::ExplainArguments),
    /// Print the JSON Schema of the scene file, for editors.
    Schema,
    /// Write a manual page for each command, such as: seixo man ~/.local/share/man/man1
    Man {
        /// Folder to write into.
        folder: std::path::PathBuf,
    },
    /// Print a completion script for a shell, such as: seixo completions bash > ~/.local/share/bash-completion/completions/seixo
    Completions {
        /// Name of the shell.
        shell: clap_complete::Shell,
    },
}

/// The process that runs the command line, if it is not the program `seixo` but another one that goes on afterwards, such as Python.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Starts processes of the command line, for the points of a sweep; `None` for the program of this process.
    pub program: Option<Program>,
    /// Signals among TERM, HUP and USR1 that end the process by default, and do so again after the command.
    pub default_signals: Vec<i32>,
}

/// Runs a command line, its first word being the name of the program, and returns the exit code: 0 done, 1 the run failed, 2 the input is wrong,
/// 130 interrupted.
///
/// Ctrl-C, TERM and HUP stop a run after a checkpoint. A handler of the host for the same signal is called, too.
pub fn main(words: impl IntoIterator<Item = OsString>, host: &Host) -> u8 {
    watch::release_signals();
    watch::outlive_file_limit();
    let code = run_command(words, host);
    watch::release_signals();
    watch::react_by_default(&host.default_signals);
    // A host may leave without the end of `main` that does this.
    let _ = io::stdout().flush();
    code
}

fn run_command(words: impl IntoIterator<Item = OsString>, host: &Host) -> u8 {
    let asked = match CommandLine::try_parse_from(words) {
        Ok(line) => line.command,
        Err(reported) => return terminal::usage(&reported),
    };
    let divides = matches!(asked, Command::Run(_) | Command::Resume(_));
    if let Err(failure) = ranks::refuse(seixo_transport::launched_by_mpi(), divides) {
        return failure.exit();
    }
    let done = match asked {
        Command::Run(arguments) => run::run(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Resume(arguments) => resume::resume(&arguments),
        Command::Sweep(arguments) => sweep::sweep(&arguments, host.program.as_ref()),
        Command::New(arguments) => new::new(&arguments),
        Command::Info(arguments) => info::info(&arguments),
        Command::Plot(arguments) => plot::plot(&arguments),
        Command::Picture(arguments) => picture::picture(&arguments),
        Command::Film(arguments) => film::film(&arguments),
        Command::View(arguments) => view::view(&arguments),
        Command::Slice(arguments) => slice::slice(&arguments),
        Command::Table(arguments) => table::table(&arguments),
        Command::Surface(arguments) => surface::surface(&arguments),
        Command::Spheres(arguments) => spheres::spheres(&arguments),
        Command::Verify(arguments) => return verify::verify(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Schema => terminal::out(&seixo_scene::schema()),
        Command::Man { folder } => manual(CommandLine::command(), &folder),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut CommandLine::command(), "seixo", &mut script);
            terminal::out(&String::from_utf8_lossy(&script))
        }
    };
    done.map_or_else(|failure| failure.exit(), |()| 0)
}

/// Options that change a scene; each stands for a `--set`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SceneChanges {
    /// Change a value of the scene, such as --set run.until=2 or --set "material.glass.youngs_modulus=1 GPa"; repeat the option for more values
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    #[command(flatten)]
    limits: Limits,
}

/// Options for device, threads, decomposition and end time.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Limits {
    #[command(flatten)]
    place: DeviceArguments,
    /// Number of CPU threads; 0 = all cores, or 1 for each rank under MPI, where the number is per rank. Results have the same bits for any number
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    #[command(flatten)]
    decomposition: DecompositionArguments,
    /// Simulated time at which the run ends, such as "5 s" or 5 (seconds); default: run.until of the scene
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl Limits {
    fn overrides(&self) -> Vec<(String, String)> {
        let threads = self.threads.map(|threads| ("run.threads".to_owned(), threads.to_string()));
        let place = self.place.overrides();
        place
            .into_iter()
            .chain(threads)
            .chain(self.decomposition.overrides())
            .chain(self.until.clone().map(|until| ("run.until".to_owned(), until)))
            .collect()
    }
}

impl SceneChanges {
    fn overrides(&self) -> Vec<(String, String)> {
        [self.settings.clone(), self.limits.overrides()].concat()
    }

    /// Reads the scene with the changes.
    fn load(&self, scene: &Path) -> Result<Scene, Failure> {
        load(scene, &self.overrides())
    }
}

/// Reads a scene with overrides.
fn load(scene: &Path, overrides: &[(String, String)]) -> Result<Scene, Failure> {
    seixo_scene::load(scene, overrides).map_err(|diagnostics| Failure::Scene(Box::new(diagnostics)))
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("write it as path.to.key=value, such as run.until=2 or \"material.glass.youngs_modulus=1 GPa\"".to_owned()),
    }
}

/// Parses a quantity of the command line in SI; a unit in the text must have the dimension of `unit`.
fn quantity_in(unit: &str, text: &str) -> Result<Parsed, String> {
    let parsed = quantity::parse(text).map_err(|complaint| format!("{}; {}", complaint.message, complaint.remedy))?;
    let wanted = quantity::parse(&format!("1 {unit}")).ok().and_then(|one| one.powers);
    match (parsed.powers, wanted) {
        (Some(found), Some(wanted)) if found != wanted => Err(format!("\"{text}\" is {found}, but {wanted} belongs here")),
        _ => Ok(parsed),
    }
}

/// Options for the amount of output.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Verbosity {
    /// Print errors only
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object per line on the standard output
    #[arg(long)]
    json: bool,
}

/// Writes a manual page for each command into a folder.
fn manual(program: clap::Command, folder: &Path) -> Done {
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder));
    written.map_err(|error| Failure::Run(format!("manual pages cannot be written into {}: {error}", folder.display())))
}

/// Creates a folder for files, with those above it.
fn create_folder(folder: &Path) -> Done {
    std::fs::create_dir_all(folder).map_err(|error| Failure::Run(format!("{}: cannot create it: {error}", folder.display())))
}

/// Writes a file completely or not at all.
fn write_file(path: &Path, bytes: &[u8]) -> Done {
    use seixo_files::{FilesError, layer};
    let path: PathBuf = path.to_owned();
    let written = layer::replace(&layer::Disk, &path, bytes);
    written.map_err(|source| {
        FilesError::Disk {
            path,
            action: "write it",
            source,
        }
        .into()
    })
}
