//! The command line of Seixo.

mod command;
mod failure;
mod terminal;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[global_allocator]
static MEMORY: seixo_device::Aligned = seixo_device::Aligned;

/// Seixo, a particle engine: scene file in, checked numbers and pictures out.
#[derive(Parser)]
#[command(version, propagate_version = true, arg_required_else_help = true, after_help = EXAMPLES)]
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
  WGPU_BACKEND      graphics interface of pictures and windows, such as vulkan; default: any
  DISPLAY, WAYLAND_DISPLAY
                    screen for the window of seixo view; a page needs none
  OMPI_COMM_WORLD_SIZE, PMI_SIZE, MV2_COMM_WORLD_SIZE, SLURM_STEP_NUM_TASKS, PMIX_RANK
                    set by MPI launchers; default: one process

Exit codes: 0 done, 1 the run failed, 2 the input is wrong, 130 interrupted.
Each command has examples of its own: seixo run --help";

#[derive(Subcommand)]
enum Command {
    Run(command::run::RunArguments),
    Check(command::check::CheckArguments),
    Resume(command::resume::ResumeArguments),
    Sweep(Box<command::sweep::SweepArguments>),
    New(command::new::NewArguments),
    Info(command::info::InfoArguments),
    Plot(command::plot::PlotArguments),
    Picture(command::picture::PictureArguments),
    Film(Box<command::film::FilmArguments>),
    View(Box<command::view::ViewArguments>),
    Slice(command::slice::SliceArguments),
    Table(command::table::TableArguments),
    Surface(command::surface::SurfaceArguments),
    Spheres(command::spheres::SpheresArguments),
    /// Run the validation cases on this machine and compare measured with expected values.
    Verify(seixo::verify::VerifyArguments),
    Bench(Box<command::bench::BenchArguments>),
    Explain(command::explain::ExplainArguments),
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

/// Ignores SIGXFSZ: a write beyond the file size limit (`ulimit -f`) then fails with an error that names the file, instead of ending the program.
fn outlive_file_limit() {
    // If the handler cannot be installed, the signal ends the program as usual.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

fn main() -> ExitCode {
    outlive_file_limit();
    let asked = match CommandLine::try_parse() {
        Ok(line) => line.command,
        Err(reported) => return terminal::usage(&reported),
    };
    let divides = matches!(asked, Command::Run(_) | Command::Resume(_));
    if let Err(failure) = command::ranks::refuse(seixo::transport::launched_by_mpi(), divides) {
        return failure.exit();
    }
    let done = match asked {
        Command::Run(arguments) => command::run::run(&arguments),
        Command::Check(arguments) => command::check::check(&arguments),
        Command::Resume(arguments) => command::resume::resume(&arguments),
        Command::Sweep(arguments) => command::sweep::sweep(&arguments),
        Command::New(arguments) => command::new::new(&arguments),
        Command::Info(arguments) => command::info::info(&arguments),
        Command::Plot(arguments) => command::plot::plot(&arguments),
        Command::Picture(arguments) => command::picture::picture(&arguments),
        Command::Film(arguments) => command::film::film(&arguments),
        Command::View(arguments) => command::view::view(&arguments),
        Command::Slice(arguments) => command::slice::slice(&arguments),
        Command::Table(arguments) => command::table::table(&arguments),
        Command::Surface(arguments) => command::surface::surface(&arguments),
        Command::Spheres(arguments) => command::spheres::spheres(&arguments),
        Command::Verify(arguments) => return seixo::verify::verify(&arguments),
        Command::Bench(arguments) => command::bench::bench(&arguments),
        Command::Explain(arguments) => command::explain::explain(&arguments),
        Command::Schema => terminal::out(&seixo::scene::schema()),
        Command::Man { folder } => command::manual(CommandLine::command(), &folder),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut CommandLine::command(), "seixo", &mut script);
            terminal::out(&String::from_utf8_lossy(&script))
        }
    };
    done.map_or_else(|failure| failure.exit(), |()| ExitCode::SUCCESS)
}
