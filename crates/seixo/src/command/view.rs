//! `seixo view`: a window or a page on a run.

use super::picture::{LookArguments, failure};
use super::watch::{Watcher, signals};
use super::{Changes, Done, Failure, Voice, load};
use crate::say;
use clap::Args;
use seixo::run::glimpse::draw_where_it_runs;
use seixo::run::{Control, Options, folder, start};
use seixo::view::{Live, Page, PictureOptions, Recording, Show, Shown, window};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Wall time between two looks at whether Ctrl-C was pressed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Look at a run in a window, or in a browser: live, or played back
///
/// A scene is run as by seixo run, into a folder, and shown meanwhile; closing the window, or Ctrl-C, stops the run with a checkpoint (exit code 130, unless
/// it was over). A run folder is played back, and followed if it still grows. Looking changes no result. What is done by hand (gravity tilted, grains
/// pushed, drawn or dropped) does: it is written to log.jsonl, and checkpoints go on with it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo view silo.out                       plays a run back in a window
  seixo view silo.toml                      runs the scene into silo.out/ and shows it
  seixo view dam.toml --smooth --real-time  fluids as a surface, a second in a second
  seixo view silo.out --browser             a page instead: prints the address to open
  ssh -L 8000:localhost:8000 cluster seixo view silo.out --browser --port 8000
                                            from another machine: open the address that it prints here

In the window: drag turns, Shift or the right button moves, the wheel zooms, F frames all, a click picks a particle and tells its fields and contacts,
Ctrl and drag draws it along, Space plays or pauses, the arrow keys go frame by frame, W turns walls off,
K keeps a view and V flies through those that were kept, Q quits.")]
pub struct ViewArguments {
    /// A scene to run, or the folder of a run
    #[arg(value_name = "SCENE|DIR")]
    what: PathBuf,
    /// Serve a page on this machine instead of opening a window; only who knows the printed address can look, and nobody can change anything
    #[arg(long)]
    browser: bool,
    /// Port of the page; any that is free if left out
    #[arg(long, value_name = "PORT", requires = "browser")]
    port: Option<u16>,
    /// Hold simulated time to wall time, or to a multiple of it, and say by how much it falls short
    #[arg(long, value_name = "TIMES", num_args = 0..=1, default_missing_value = "1", value_parser = multiple)]
    real_time: Option<f64>,
    /// Stand still before the first step
    #[arg(long)]
    paused: bool,
    /// Folder for the results of a scene; SCENE.out if left out
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Remove what an earlier run wrote to that folder, and run anew
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    look: LookArguments,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    voice: Voice,
}

/// A multiple of wall time.
pub(super) fn multiple(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "write a number above 0, such as 1 or 0.1".to_owned())
}

/// Shows the run.
pub fn view(arguments: &ViewArguments) -> Done {
    if arguments.what.is_dir() {
        return play(arguments);
    }
    let ran = run(arguments);
    ran.map_err(|failure| failure.told(arguments.voice.json))
}

/// Plays a run folder back.
fn play(arguments: &ViewArguments) -> Done {
    let of_runs = [
        (arguments.real_time.is_some(), "--real-time"),
        (arguments.paused, "--paused"),
        (arguments.out.is_some(), "--out"),
        (arguments.force, "--force"),
        (!arguments.changes.overrides().is_empty(), "what changes a scene"),
    ];
    if let Some((_, flag)) = of_runs.into_iter().find(|(is_given, _)| *is_given) {
        let folder = arguments.what.display();
        return Err(Failure::Input(format!(
            "{flag} belongs to a scene that is run, but {folder} is a folder, which is played back; name the scene file, or leave it out"
        )));
    }
    let options = arguments.look.options(None);
    let recording = Recording::open(&arguments.what).map_err(failure)?;
    if !arguments.browser {
        return window(Arc::new(recording), &options).map_err(failure);
    }
    let control = signals()?;
    let _page = open(arguments, Arc::new(recording.confined().map_err(failure)?))?;
    while !control.stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Opens the page and prints where it is.
fn open(arguments: &ViewArguments, show: Arc<dyn Show>) -> Result<Page, Failure> {
    let page = Page::open(show, arguments.port.unwrap_or(0)).map_err(failure)?;
    say::out(&page.address())?;
    say::note("Seixo shows it at this address until Ctrl-C; from another machine, tunnel the port: ssh -L PORT:localhost:PORT HOST");
    Ok(page)
}

/// Runs a scene and shows it.
fn run(arguments: &ViewArguments) -> Done {
    let control = signals()?;
    let scene = load(&arguments.what, &arguments.changes.overrides())?;
    let folder = arguments.out.clone().unwrap_or_else(|| folder::of_scene(&arguments.what));
    let live = Arc::new(Live::new(title(&scene.title, &arguments.what), folder.clone(), true));
    live.reins().set_rate(arguments.real_time);
    live.reins().pause(arguments.paused);
    let mut options = arguments.look.options(None);
    if options.shown == Shown::Surface {
        // The mesh of a surface takes longer than many steps.
        options.shown = Shown::Smooth;
    }
    let page = if arguments.browser {
        Some(open(arguments, live.clone())?)
    } else {
        draw_where_it_runs(&live, &scene.settings).map_err(failure)?;
        None
    };
    let voice = Voice {
        // A line of progress under the address is welcome, one beside a window is not read.
        quiet: arguments.voice.quiet,
        ..arguments.voice
    };
    let runs = |control: Control| -> Done {
        let mut watcher = Watcher::new(voice);
        let ran = start(
            scene,
            &folder,
            Options {
                control,
                overwrite: arguments.force,
                audience: Some(live.clone()),
                ..Options::new(&mut watcher)
            },
        );
        live.leave();
        watcher.close(&folder, &ran?)
    };
    if page.is_some() {
        return runs(control);
    }
    beside(&live, &options, &control, runs)
}

/// Opens a window and lets something run beside it, which is asked to stop when the window closes.
fn beside(live: &Arc<Live>, options: &PictureOptions, control: &Control, runs: impl FnOnce(Control) -> Done + Send) -> Done {
    thread::scope(|scope| {
        let running = scope.spawn(|| runs(control.clone()));
        let shown = window(live.clone(), options);
        control.stop.store(true, Ordering::Relaxed);
        let ran = running.join().unwrap_or_else(|panic| resume_unwind(panic));
        match (shown, ran) {
            (Err(error), Ok(()) | Err(Failure::Interrupted(_) | Failure::Told(_))) => Err(failure(error)),
            (_, ran) => ran,
        }
    })
}

fn title(title: &str, scene: &Path) -> String {
    if title.is_empty() {
        scene.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    } else {
        title.to_owned()
    }
}
