//! `seixo view`: shows a run in a window or on a page.

use super::picture::{LookArguments, failure};
use super::watch::{Watcher, signals};
use super::{Done, Failure, SceneChanges, Verbosity, features, load};
use crate::run::preview::draw_where_it_runs;
use crate::run::{Control, Options, folder, start};
use crate::terminal;
use clap::Args;
use seixo_files::layer::Disk;
use seixo_view::{Display, FrameSource, HAS_WINDOWS, KEYS, Live, Page, PictureOptions, Recording, Shown, ViewError};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Wall time between two tests for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(50);

const EXAMPLES: &str = "\
Examples:
  seixo view silo.out                       plays a run back in a window
  seixo view silo.toml                      runs the scene into silo.out/ and shows it
  seixo view dam.toml --smooth --real-time  fluids as a surface, a second in a second
  seixo view silo.out --browser             a page instead: prints the address to open
  ssh -L 8000:localhost:8000 cluster seixo view silo.out --browser --port 8000
                                            from another machine: open the address that it prints here";

/// Returns the examples, and the keys of the window if this program has windows.
fn help() -> String {
    let keys = KEYS.map(|(key, what)| format!("\n  {key:<30}{what}"));
    let of_window = if HAS_WINDOWS {
        format!("In the window:{}", keys.concat())
    } else {
        features::help()
    };
    format!("{EXAMPLES}\n\n{of_window}")
}

/// Show a run in a window or a browser: live, or played back
///
/// A scene runs as with `seixo run`, into a folder, and is shown meanwhile. Closing the window, or Ctrl-C, stops the run with a checkpoint; the exit
/// code is then 130, unless the run was complete. A run folder is played back, and followed while it still grows. Viewing does not change results; on
/// a GPU it changes them by rounding only. User actions in the window (tilted gravity; grains pushed, dragged or dropped) do change results: they are
/// written to log.jsonl, and checkpoints contain them.
#[derive(Args)]
#[command(after_help = help())]
pub struct ViewArguments {
    /// Scene to run, or folder of a run
    #[arg(value_name = "SCENE|DIR")]
    what: PathBuf,
    /// Serve a page on this machine instead of opening a window. Content, color and camera are chosen on the page. Only users with the printed
    /// address can view it, and it accepts no user actions
    #[arg(long, conflicts_with_all = ["paused", "field", "surface", "smooth", "spheres", "contacts", "bonds", "cracks", "walls", "range", "view", "projection", "cut", "size", "no_walls", "title"])]
    browser: bool,
    /// Port of the page; default: any free port
    #[arg(long, value_name = "PORT", requires = "browser")]
    port: Option<u16>,
    /// Tie simulated time to wall time, or to a multiple of it, such as 0.1 for slow motion; report how far the run falls short. Default multiple: 1
    #[arg(long, value_name = "TIMES", num_args = 0..=1, default_missing_value = "1", value_parser = above_zero)]
    real_time: Option<f64>,
    /// Start paused, before the first step
    #[arg(long)]
    paused: bool,
    /// Folder for the results of a scene; default: SCENE.out
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Remove the results of an earlier run in that folder, and run again
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    look: LookArguments,
    #[command(flatten)]
    changes: SceneChanges,
    #[command(flatten)]
    voice: Verbosity,
}

/// Parses a multiple of wall time, or a duration.
pub(super) fn above_zero(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "write a number above 0, such as 1 or 0.1".to_owned())
}

/// Shows the run.
pub fn view(arguments: &ViewArguments) -> Done {
    if arguments.what.is_dir() {
        return play(arguments);
    }
    let ran = run(arguments);
    ran.map_err(|failure| failure.with_json(arguments.voice.json))
}

/// Plays back a run folder.
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
    let recording = Recording::open(&arguments.what).map_err(failure)?;
    if !arguments.browser {
        let options = arguments.look.options(None);
        let display = Display::open(&options).map_err(failure)?;
        check(&recording, &options)?;
        return display.show(Arc::new(recording), || ()).map_err(failure);
    }
    let control = signals()?;
    let _page = open(arguments, Arc::new(recording.confined().map_err(failure)?))?;
    while !control.stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Refuses options for data that the last frame of a recording does not have.
fn check(recording: &Recording, options: &PictureOptions) -> Done {
    if options.field.is_none() && options.shown == Shown::Grains {
        return Ok(());
    }
    match recording.frame(options, None) {
        // The window reports damaged frames, and shows the others.
        Ok(_) | Err(ViewError::Frame(_)) => Ok(()),
        Err(error) => Err(failure(error)),
    }
}

/// Opens the page and prints its address.
fn open(arguments: &ViewArguments, show: Arc<dyn FrameSource>) -> Result<Page, Failure> {
    let page = Page::open(show, arguments.port.unwrap_or(0)).map_err(failure)?;
    let Verbosity { json, quiet } = arguments.voice;
    if json {
        terminal::json(&serde_json::json!({ "event": "page", "address": page.address() }))?;
    } else {
        terminal::out(&page.address())?;
    }
    if !json && !quiet {
        terminal::note(
            "Seixo shows it at this address until Ctrl-C; from another machine, tunnel the port: ssh -L PORT:localhost:PORT HOST",
        );
    }
    Ok(page)
}

/// Runs a scene and shows it.
fn run(arguments: &ViewArguments) -> Done {
    let control = signals()?;
    let scene = load(&arguments.what, &arguments.changes.overrides())?;
    let folder = arguments.out.clone().unwrap_or_else(|| folder::of_scene(&arguments.what));
    let mut options = arguments.look.options(None);
    if options.shown == Shown::Surface {
        terminal::note("the mesh of a surface takes longer than many steps: drawn as with --smooth");
        options.shown = Shown::Smooth;
    }
    // Errors of the display are found before the run starts.
    let display = (!arguments.browser).then(|| Display::open(&options)).transpose().map_err(failure)?;
    folder::check_free(&Disk, &folder, arguments.force).map_err(Failure::from)?;
    let live = Arc::new(Live::new(title(&scene.title, &arguments.what), folder.clone(), true));
    live.run_control().set_rate(arguments.real_time);
    live.run_control().pause(arguments.paused);
    let _page = if arguments.browser {
        Some(open(arguments, live.clone())?)
    } else {
        draw_where_it_runs(&live, &scene.settings);
        None
    };
    let voice = arguments.voice;
    let runs = |control: Control| -> Done {
        let mut watcher = Watcher::beside_viewers(voice);
        // Viewers are served until the guard is dropped.
        let leaves = AtLast(|| live.leave());
        let ran = start(
            scene,
            &folder,
            Options {
                control,
                overwrite: arguments.force,
                viewers: Some(live.clone()),
                ..Options::new(&mut watcher)
            },
        );
        drop(leaves);
        match ran {
            Ok(ending) => watcher.close(&folder, &ending),
            Err(error) => Err(watcher.failed(error)),
        }
    };
    match display {
        Some(display) => beside(display, &live, &control, runs),
        None => runs(control),
    }
}

/// Calls a function when it is dropped, also after a panic of its owner; otherwise other threads would wait forever.
pub(super) struct AtLast<F: Fn()>(pub F);

impl<F: Fn()> Drop for AtLast<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Opens a window, then starts a function in another thread. When the window closes, the control asks that function to stop.
fn beside(display: Display, live: &Arc<Live>, control: &Control, runs: impl FnOnce(Control) -> Done + Send) -> Done {
    let (opened, waits) = channel();
    thread::scope(|scope| {
        let running = scope.spawn(move || match waits.recv() {
            Ok(()) => runs(control.clone()),
            // The window failed to open; the error is reported below.
            Err(_) => Ok(()),
        });
        let stops = AtLast(|| control.stop.store(true, Ordering::Relaxed));
        let shown = display.show(live.clone(), move || {
            // The send fails only if the run is over already.
            let _ = opened.send(());
        });
        drop(stops);
        let ran = running.join().unwrap_or_else(|panic| resume_unwind(panic));
        match (shown, ran) {
            (Err(error), Ok(()) | Err(Failure::Interrupted(_) | Failure::Reported(_))) => Err(failure(error)),
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
