//! `seixo bench view`: pictures a second, and what looking costs a run.

use super::super::view::AtLast;
use super::super::{Done, Failure};
use super::Case;
use crate::say;
use clap::{Args, ValueEnum};
use seixo::place::PlaceArguments;
use seixo::run::glimpse::draw_where_it_runs;
use seixo::run::{Control, Observer, Options, Progress, RunError, start};
use seixo::view::{Drawer, Live, PictureOptions, Show, Snapshot, ViewError};
use seixo_engine::world::Settings;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Wall time of a run before it is measured \[s\].
const WARM: f64 = 1.0;
/// Share of a picture of a lattice that grains have, at least.
const COLORED: f64 = 0.02;
/// Pictures of one snapshot that are drawn to be measured.
const PICTURES: usize = 60;

/// Measure pictures a second of many particles, and what windows and pages cost a run that they look at
///
/// Pictures are drawn as in a window of --size but for the last pass, into an image that no display shows. First one snapshot is drawn again and again while
/// the camera turns, and with all its data brought to the device each time. Then runs of a lattice of grains, each with six contacts, are timed in turns:
/// alone; with a viewer that asks for nothing; with one that draws 30 pictures a second; with one that draws as many as it can; with a page that is sent as
/// many as it can; and with a viewer that asks once and never comes back.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench view                                     10⁵ grains on this CPU, drawn by the best graphics adapter there is
  seixo bench view --device gpu --particles 1000000    live data of a GPU
  seixo bench view --particles 10000000 --no-run       pictures alone
  seixo bench view --viewers nobody,page               two of the runs")]
pub struct ViewArguments {
    /// Number of grains; lattices take the nearest cube
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(8..))]
    particles: u32,
    /// Width and height of pictures in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = super::super::picture::size, default_value = "1920x1080")]
    size: (u32, u32),
    /// Wall time of each run [s]
    #[arg(long, default_value_t = 4.0, value_parser = super::super::view::above_zero)]
    seconds: f64,
    /// Measurements, whose median is printed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Draw pictures alone, and run nothing
    #[arg(long)]
    no_run: bool,
    /// Which runs to time, all if not said; the first is what the others are compared with
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Viewer::value_variants().to_vec(), hide_default_value = true)]
    viewers: Vec<Viewer>,
    #[command(flatten)]
    place: PlaceArguments,
    /// Print one JSON object a line on the standard output
    #[arg(long)]
    pub json: bool,
}

/// Who looks at a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
enum Viewer {
    /// nobody looks
    Nobody,
    /// a viewer that asks for nothing
    Idle,
    /// 30 pictures a second
    ThirtyASecond,
    /// as many pictures as it can
    AsFastAsItCan,
    /// a page, as many frames as it can
    Page,
    /// a viewer that asks once and never comes back
    Stalled,
}

impl Viewer {
    /// As in the help.
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
    /// Pixels drawn for one of a picture, along either side.
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

/// Measures.
pub fn view(arguments: &ViewArguments) -> Done {
    draw(arguments)?;
    if arguments.no_run {
        return Ok(());
    }
    let folder = std::env::temp_dir().join(format!("seixo-bench-view-{}", std::process::id()));
    let measured = watch(arguments, &folder);
    // Of no use any more, and the error of a measurement is the one worth telling.
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

/// The lattice as it starts.
fn snapshot(arguments: &ViewArguments) -> Snapshot {
    let world = Case::Lattice.world(arguments.particles as usize, 0.5, 2.7);
    let values: Vec<f32> = world.grains.position.iter().map(|place| place[0] as f32).collect();
    let few = seixo::view::Few {
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
    Snapshot::of_few(few, &PictureOptions::default(), 0)
}

fn draw(arguments: &ViewArguments) -> Done {
    let snapshot = snapshot(arguments);
    for detail in [1, 2] {
        let mut drawer = Drawer::new(arguments.size, detail).map_err(wrong)?;
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
            say::json(&drawn)?;
        } else {
            let (width, height) = arguments.size;
            say::out(&format!(
                "{} grains at {width}×{height}, {} a pixel, on {}: {still:.1} pictures/s while the camera turns, {fresh:.1} with new data",
                say::count(snapshot.shown as u64),
                if detail == 1 { "1 sample" } else { "4 samples" },
                drawn.adapter,
            ))?;
        }
    }
    Ok(())
}

/// How often a second something can be done, from the median of its times.
fn rate(count: usize, mut body: impl FnMut(usize) -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut seconds = Vec::new();
    for k in 0..count {
        let clock = Instant::now();
        body(k)?;
        seconds.push(clock.elapsed().as_secs_f64());
    }
    Ok(1.0 / median(&mut seconds))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn watch(arguments: &ViewArguments, folder: &Path) -> Done {
    let mut found: Vec<Vec<Clocked>> = arguments.viewers.iter().map(|_| Vec::new()).collect();
    for turn in 1..=arguments.repeat {
        for (all, &viewer) in found.iter_mut().zip(&arguments.viewers) {
            let (clock, words) = (Instant::now(), viewer.words());
            let clocked = run(arguments, folder, viewer)?;
            say::note(&format!(
                "{turn} of {}, {words}: {} particle-steps/s, in {}",
                arguments.repeat,
                say::scaled(clocked.speed, ""),
                say::duration(clock.elapsed().as_secs_f64())
            ));
            all.push(clocked);
        }
    }
    let of = |all: &[Clocked], number: fn(&Clocked) -> f64| median(&mut all.iter().map(number).collect::<Vec<_>>());
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
            say::json(&watched)?;
            continue;
        }
        let seen = match viewer {
            Viewer::Nobody | Viewer::Idle | Viewer::Stalled => String::new(),
            Viewer::Page => format!(
                ", {:.1} frames/s of {:.2} bytes a grain",
                watched.pictures_per_second, watched.bytes_per_particle
            ),
            _ => format!(", {:.1} pictures/s", watched.pictures_per_second),
        };
        say::out(&format!(
            "{}: {} particle-steps/s on {}, {:.2} % of the first{seen}",
            viewer.words(),
            say::scaled(speed, ""),
            watched.device,
            100.0 * watched.share_of_first
        ))?;
    }
    Ok(())
}

/// What was measured of a run.
struct Clocked {
    particles: usize,
    device: String,
    /// Particle-steps a second.
    speed: f64,
    /// Pictures a second.
    pictures: f64,
    /// Bytes of a frame, over its particles.
    bytes: f64,
}

/// How far a measurement is.
#[derive(Default)]
struct Phase {
    /// Whether the run is warm.
    is_on: AtomicBool,
    /// Whether all is measured, or the run failed.
    is_over: AtomicBool,
}

/// Notes how far a run is when it is warm, and stops it when it was long enough.
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
        // The first checkpoint takes as long as it takes.
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

fn run(arguments: &ViewArguments, folder: &Path, viewer: Viewer) -> Result<Clocked, Failure> {
    let template = &seixo::scene::templates()[0];
    let scene = seixo::scene::load_text(template.text, template.name.as_ref(), &[]);
    let mut scene = scene.map_err(|diagnostics| Failure::Scene(Box::new(diagnostics)))?;
    scene.world = Case::Lattice.world(arguments.particles as usize, 0.5, 2.7);
    let mut settings: Settings = Case::Lattice.settings(0);
    arguments.place.apply(&mut settings).map_err(Failure::Input)?;
    scene.settings = settings;
    // Longer than anybody waits: nothing is written before.
    scene.run.until = 1e6;
    (scene.output.every, scene.output.energies_every) = (1e6, 1e6);
    scene.checkpoint.every_wall = f64::INFINITY;
    scene.probes.clear();
    let control = Control::default();
    let live = Arc::new(Live::new("lattice".to_owned(), folder.to_owned(), false));
    if !matches!(viewer, Viewer::Nobody | Viewer::Page) {
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
        let looking = (viewer != Viewer::Nobody).then(|| scope.spawn(|| look(&live, viewer, arguments.size, &phase)));
        let ran: Result<_, RunError> = start(
            scene,
            folder,
            Options {
                control,
                overwrite: true,
                audience: (viewer != Viewer::Nobody).then(|| live.clone()),
                ..Options::new(&mut clock)
            },
        );
        drop(ends);
        let looked = looking.map(|looking| looking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let record = ran?.record;
        let (pictures, bytes) = looked.transpose().map_err(wrong)?.unwrap_or_default();
        let (from, (to, steps, particles)) = (clock.warm.unwrap_or_default(), clock.last);
        Ok(Clocked {
            particles,
            device: record.device,
            speed: particles as f64 * (steps - from.1) as f64 / (to - from.0),
            pictures,
            bytes,
        })
    })
}

/// Looks at a run until it is measured; pictures a second, and bytes a particle.
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
    // As windows do: one thread draws while another gets what it draws next.
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

/// Draws all that comes, or makes frames for pages of it; how many a second, and bytes a particle.
fn draw_all(
    live: &Live,
    viewer: Viewer,
    size: (u32, u32),
    snapshots: &Receiver<Arc<Snapshot>>,
    phase: &Phase,
) -> Result<(f64, f64), ViewError> {
    let drawer = || match live.graphics() {
        Some(graphics) => Drawer::beside(graphics, size, 1),
        None => Drawer::new(size, 1),
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
            None => bytes = seixo::view::bytes_of_frame(&snapshot)? as f64 / snapshot.shown.max(1) as f64,
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
