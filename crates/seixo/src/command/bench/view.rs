//! `seixo bench view`: measures pictures per second, and the cost of viewers for a run.

use super::super::view::AtLast;
use super::super::{Done, Failure};
use super::Case;
use super::median::median;
use crate::device_options::DeviceArguments;
use crate::run::preview::draw_where_it_runs;
use crate::run::{Control, Observer, Options, Progress, RunError, start};
use crate::terminal;
use clap::{Args, ValueEnum};
use seixo_engine::world::Settings;
use seixo_view::{FrameSource, HAS_PAGES, Live, OffscreenRenderer, PictureOptions, Snapshot, ViewError};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Warm-up of a run \[s\].
const WARM: f64 = 1.0;
/// Smallest share of a picture of a lattice that shows grains \[-\].
const COLORED: f64 = 0.02;
/// Number of measured pictures of one snapshot.
const PICTURES: usize = 60;

/// Measure pictures per second of many particles, and the cost of windows and pages for a run
///
/// Pictures are drawn as in a window of --size, but without the last pass, into an image off screen. First one snapshot is drawn repeatedly: once
/// with a turning camera only, and once with an upload of all data for each picture. Then runs of a lattice of grains with six contacts each are
/// timed in turn: without a viewer; with a viewer that requests nothing; with 30 pictures per second; with as many pictures as possible; with a page
/// that receives as many frames as possible; and with a viewer that requests one frame and then stalls.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench view                                     10⁵ grains on this CPU, drawn by the best graphics adapter there is
  seixo bench view --device gpu --particles 1000000    live data of a GPU
  seixo bench view --particles 10000000 --no-run       pictures alone
  seixo bench view --viewers none,page                 two of the runs")]
pub struct ViewArguments {
    /// Number of grains; lattices take the nearest cube
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(8..))]
    particles: u32,
    /// Width and height of the pictures in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = super::super::picture::size, default_value = "1920x1080")]
    size: (u32, u32),
    /// Wall time of each run [s]
    #[arg(long, default_value_t = 4.0, value_parser = super::super::view::above_zero)]
    seconds: f64,
    /// Number of measurements, of which the median is printed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Measure pictures only, without runs
    #[arg(long)]
    no_run: bool,
    /// Runs to time, separated by commas; the others are compared with the first one. Default: all, a page only if this program has pages
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Viewer::of_this_program(), hide_default_value = true)]
    viewers: Vec<Viewer>,
    #[command(flatten)]
    place: DeviceArguments,
    /// Print one JSON object per line on the standard output
    #[arg(long)]
    pub json: bool,
}

/// Viewer of a timed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
enum Viewer {
    /// no viewer
    #[value(name = "none", alias = "nobody")]
    #[serde(rename = "none")]
    Without,
    /// a viewer that requests nothing
    Idle,
    /// 30 pictures per second
    ThirtyASecond,
    /// as many pictures as possible
    AsFastAsItCan,
    /// a page, as many frames as possible
    Page,
    /// a viewer that requests one frame and then stalls
    Stalled,
}

impl Viewer {
    /// Returns the viewers that this program has.
    fn of_this_program() -> Vec<Viewer> {
        let all = Viewer::value_variants().iter().copied();
        all.filter(|&viewer| HAS_PAGES || viewer != Viewer::Page).collect()
    }

    /// Returns the text of the help.
    fn words(self) -> String {
        let value = self.to_possible_value();
        value
            .and_then(|value| value.get_help().map(ToString::to_string))
            .unwrap_or_default()
    }
}

#[derive(Serialize)]
struct Drawn<'a> {
    adapter: &'a str,
    particles: usize,
    size: (u32, u32),
    /// Drawn pixels per pixel of the picture, along either side.
    detail: u32,
    pictures_per_second: f64,
    pictures_per_second_of_new_data: f64,
}

#[derive(Serialize)]
struct Watched {
    viewer: Viewer,
    particles: usize,
    device: String,
    particle_steps_per_second: f64,
    share_of_first: f64,
    pictures_per_second: f64,
    bytes_per_particle: f64,
}

fn wrong(error: ViewError) -> Failure {
    Failure::Run(error.to_string())
}

/// Runs the measurements.
pub fn view(arguments: &ViewArguments) -> Done {
    draw(arguments)?;
    if arguments.no_run {
        return Ok(());
    }
    let folder = std::env::temp_dir().join(format!("seixo-bench-view-{}", std::process::id()));
    let measured = watch(arguments, &folder);
    // The folder is not needed any more. The result of the measurement is returned even if the removal fails.
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

/// Initial state of the lattice.
fn snapshot(arguments: &ViewArguments) -> Snapshot {
    let world = Case::Lattice.world(arguments.particles as usize, 0.5, 2.7);
    let values: Vec<f32> = world.grains.position.iter().map(|place| place[0] as f32).collect();
    let parts = seixo_view::PreviewParts {
        places: world
            .grains
            .position
            .iter()
            .zip(&world.grains.radius)
            .map(|(place, &radius)| [place[0], place[1], place[2], radius].map(|number| number as f32))
            .collect(),
        grains: values.len(),
        id: world.grains.id,
        field: ("x", "m"),
        values,
        ..Default::default()
    };
    Snapshot::of_preview(parts, &PictureOptions::default(), 0)
}

fn draw(arguments: &ViewArguments) -> Done {
    let snapshot = snapshot(arguments);
    for detail in [1, 2] {
        let mut drawer = OffscreenRenderer::new(arguments.size, detail).map_err(wrong)?;
        drawer.load(&snapshot).map_err(wrong)?;
        drawer.draw(0.0).map_err(wrong)?;
        let turn = |picture: usize| 0.1 * picture as f64;
        let still = rate(PICTURES, |picture| drawer.draw(turn(picture)).map_err(wrong))?;
        let fresh = rate(PICTURES / 2, |picture| {
            drawer.load(&snapshot).map_err(wrong)?;
            drawer.draw(turn(picture)).map_err(wrong)
        })?;
        let drawn = Drawn {
            adapter: drawer.adapter(),
            particles: snapshot.shown,
            size: arguments.size,
            detail,
            pictures_per_second: still,
            pictures_per_second_of_new_data: fresh,
        };
        if arguments.json {
            terminal::json(&drawn)?;
        } else {
            let (width, height) = arguments.size;
            terminal::out(&format!(
                "{} grains at {width}×{height}, {} a pixel, on {}: {still:.1} pictures/s while the camera turns, {fresh:.1} with new data",
                terminal::count(snapshot.shown as u64),
                if detail == 1 { "1 sample" } else { "4 samples" },
                drawn.adapter,
            ))?;
        }
    }
    Ok(())
}

/// Returns the rate \[1/s\] from the median of the measured times.
fn rate(count: usize, mut body: impl FnMut(usize) -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut seconds = Vec::new();
    for k in 0..count {
        let clock = Instant::now();
        body(k)?;
        seconds.push(clock.elapsed().as_secs_f64());
    }
    Ok(1.0 / median(seconds))
}

fn watch(arguments: &ViewArguments, folder: &Path) -> Done {
    let mut found: Vec<Vec<RunTiming>> = arguments.viewers.iter().map(|_| Vec::new()).collect();
    for turn in 1..=arguments.repeat {
        for (all, &viewer) in found.iter_mut().zip(&arguments.viewers) {
            let (clock, words) = (Instant::now(), viewer.words());
            let clocked = run(arguments, folder, viewer)?;
            terminal::note(&format!(
                "{turn} of {}, {words}: {} particle-steps/s, in {}",
                arguments.repeat,
                terminal::scaled(clocked.speed, ""),
                terminal::duration(clock.elapsed().as_secs_f64())
            ));
            all.push(clocked);
        }
    }
    let of = |all: &[RunTiming], number: fn(&RunTiming) -> f64| median(all.iter().map(number));
    let first = of(&found[0], |one| one.speed);
    for (all, &viewer) in found.iter().zip(&arguments.viewers) {
        let speed = of(all, |one| one.speed);
        let watched = Watched {
            viewer,
            particles: all[0].particles,
            device: all[0].device.clone(),
            particle_steps_per_second: speed,
            share_of_first: speed / first,
            pictures_per_second: of(all, |one| one.pictures),
            bytes_per_particle: of(all, |one| one.bytes),
        };
        if arguments.json {
            terminal::json(&watched)?;
            continue;
        }
        let seen = match viewer {
            Viewer::Without | Viewer::Idle | Viewer::Stalled => String::new(),
            Viewer::Page => format!(
                ", {:.1} frames/s of {:.2} bytes a grain",
                watched.pictures_per_second, watched.bytes_per_particle
            ),
            _ => format!(", {:.1} pictures/s", watched.pictures_per_second),
        };
        terminal::out(&format!(
            "{}: {} particle-steps/s on {}, {:.2} % of the first{seen}",
            viewer.words(),
            terminal::scaled(speed, ""),
            watched.device,
            100.0 * watched.share_of_first
        ))?;
    }
    Ok(())
}

/// Measurement of a run.
struct RunTiming {
    particles: usize,
    device: String,
    /// Particle-steps per second.
    speed: f64,
    /// Pictures per second.
    pictures: f64,
    /// Bytes per particle of a frame.
    bytes: f64,
}

/// Progress of a measurement.
#[derive(Default)]
struct Phase {
    /// Whether the warm-up is over.
    is_on: AtomicBool,
    /// Whether the measurement is complete, or the run failed.
    is_over: AtomicBool,
}

/// Records the start of the measurement after the warm-up, and stops the run at its end.
struct Clock<'a> {
    phase: &'a Phase,
    seconds: f64,
    control: Control,
    began: Option<f64>,
    warm: Option<(f64, u64)>,
    last: (f64, u64, usize),
}

impl Observer for Clock<'_> {
    fn progress(&mut self, progress: &Progress) {
        let now = (progress.wall_time, progress.steps);
        // The first checkpoint takes a time of its own.
        let began = if progress.steps > 0 {
            *self.began.get_or_insert(now.0)
        } else {
            now.0
        };
        if now.0 > began + WARM && self.warm.is_none() {
            self.warm = Some(now);
            self.phase.is_on.store(true, Ordering::Relaxed);
        }
        if let Some((warm, _)) = self.warm
            && !self.control.stop.load(Ordering::Relaxed)
        {
            self.last = (now.0, now.1, progress.grains);
            if now.0 > warm + self.seconds {
                self.control.stop.store(true, Ordering::Relaxed);
                self.phase.is_over.store(true, Ordering::Relaxed);
            }
        }
    }
}

fn run(arguments: &ViewArguments, folder: &Path, viewer: Viewer) -> Result<RunTiming, Failure> {
    let template = &seixo_scene::templates()[0];
    let scene = seixo_scene::load_text(template.text, template.name.as_ref(), &[]);
    let mut scene = scene.map_err(|diagnostics| Failure::Scene(Box::new(diagnostics)))?;
    scene.world = Case::Lattice.world(arguments.particles as usize, 0.5, 2.7);
    let mut settings: Settings = Case::Lattice.settings(0);
    arguments.place.apply(&mut settings).map_err(Failure::Input)?;
    scene.settings = settings;
    // These times exceed any measurement, so no file is written before.
    scene.run.until = 1e6;
    (scene.output.every, scene.output.energies_every) = (1e6, 1e6);
    scene.checkpoint.every_wall = f64::INFINITY;
    scene.probes.clear();
    let control = Control::default();
    let live = Arc::new(Live::new("lattice".to_owned(), folder.to_owned(), false));
    if !matches!(viewer, Viewer::Without | Viewer::Page) {
        draw_where_it_runs(&live, &scene.settings);
    }
    let phase = Phase::default();
    let mut clock = Clock {
        phase: &phase,
        seconds: arguments.seconds,
        control: control.clone(),
        began: None,
        warm: None,
        last: (0.0, 0, 0),
    };
    thread::scope(|scope| {
        let ends = AtLast(|| phase.is_over.store(true, Ordering::Relaxed));
        let looking = (viewer != Viewer::Without).then(|| scope.spawn(|| look(&live, viewer, arguments.size, &phase)));
        let ran: Result<_, RunError> = start(
            scene,
            folder,
            Options {
                control,
                overwrite: true,
                viewers: (viewer != Viewer::Without).then(|| live.clone()),
                ..Options::new(&mut clock)
            },
        );
        drop(ends);
        let looked = looking.map(|looking| looking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let record = ran?.record;
        let (pictures, bytes) = looked.transpose().map_err(wrong)?.unwrap_or_default();
        let (from, (to, steps, particles)) = (clock.warm.unwrap_or_default(), clock.last);
        Ok(RunTiming {
            particles,
            device: record.device,
            speed: particles as f64 * (steps - from.1) as f64 / (to - from.0),
            pictures,
            bytes,
        })
    })
}

/// Views a run until it is measured; returns pictures per second, and bytes per particle.
fn look(live: &Arc<Live>, viewer: Viewer, size: (u32, u32), phase: &Phase) -> Result<(f64, f64), ViewError> {
    let options = PictureOptions::default();
    let is_over = || phase.is_over.load(Ordering::Relaxed);
    if matches!(viewer, Viewer::Idle | Viewer::Stalled) {
        if viewer == Viewer::Stalled {
            live.frame(&options, None)?;
        }
        while !is_over() {
            thread::sleep(Duration::from_millis(50));
        }
        return Ok((0.0, 0.0));
    }
    // As in windows: one thread draws while another gets the next snapshot.
    let (sender, snapshots) = sync_channel::<Arc<Snapshot>>(0);
    thread::scope(|scope| {
        let drawing = scope.spawn(move || draw_all(live, viewer, size, &snapshots, phase));
        let mut seen = None;
        while !is_over() {
            let Some(snapshot) = live.frame(&options, seen)? else { continue };
            seen = Some(snapshot.number);
            if sender.send(snapshot).is_err() {
                break;
            }
        }
        drop(sender);
        drawing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Draws all snapshots, or encodes them as frames for a page; returns their rate, and bytes per particle.
fn draw_all(
    live: &Live,
    viewer: Viewer,
    size: (u32, u32),
    snapshots: &Receiver<Arc<Snapshot>>,
    phase: &Phase,
) -> Result<(f64, f64), ViewError> {
    let drawer = || match live.graphics() {
        Some(graphics) => OffscreenRenderer::beside(graphics, size, 1),
        None => OffscreenRenderer::new(size, 1),
    };
    let mut drawer = (viewer != Viewer::Page).then(drawer).transpose()?;
    let (mut count, mut bytes) = (0usize, 0.0);
    let mut clock: Option<Instant> = None;
    let mut due = Instant::now();
    for snapshot in snapshots {
        match &mut drawer {
            Some(drawer) => {
                drawer.load(&snapshot)?;
                drawer.draw(0.02 * count as f64)?;
            }
            None => bytes = seixo_view::bytes_of_frame(&snapshot)? as f64 / snapshot.shown.max(1) as f64,
        }
        match clock {
            Some(_) => count += 1,
            None if phase.is_on.load(Ordering::Relaxed) => clock = Some(Instant::now()),
            None => {}
        }
        if viewer == Viewer::ThirtyASecond {
            due = (due + Duration::from_secs_f64(1.0 / 30.0)).max(Instant::now() - Duration::from_millis(100));
            thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }
    let seconds = clock.map_or(1.0, |clock| clock.elapsed().as_secs_f64());
    if let Some(drawer) = drawer.filter(|_| count > 0)
        && drawer.colored()? < COLORED
    {
        let cause = "the pictures show no grains: what they cost says nothing".to_owned();
        return Err(ViewError::Live { cause });
    }
    Ok((count as f64 / seconds, bytes))
}
