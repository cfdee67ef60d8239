//! The run loop: steps up to the next event, outputs, checkpoints, requests from outside.

use super::agreement::{Asked, compare, first_alone};
use super::breaks::Breaks;
use super::course::Course;
use super::exchange::Exchange;
use super::folder::{self, CHECKPOINTS, SCENE, disk};
use super::fragments;
use super::frames::bounds;
use super::log::Log;
use super::outputs::{Marks, Outputs};
use super::record::{self, Outcome, Record};
use super::volume::expected_output;
use super::warnings::Warnings;
use super::{Ending, Event, Options, Progress, RunError};
use seixo_engine::world::World;
use seixo_engine::{Ranks, Refusal, Simulation, Stop};
use seixo_files::FilesError;
use seixo_files::checkpoint::{self, Header};
use seixo_files::layer::{remove_temporaries, replace};
use seixo_scene::Scene;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Wall time between two looks at what was asked from outside \[s\].
const LOOK_EVERY: f64 = 0.1;

/// Runs a scene into a folder, from time zero to its end or until it is asked to stop.
///
/// # Errors
/// If the folder is taken, the world is refused, a grain's state becomes impossible, or a file cannot be written.
pub fn start(mut scene: Scene, folder: &Path, options: Options) -> Result<Ending, RunError> {
    let options = options.settled();
    let layer = options.layer;
    if options.writes() {
        folder::check_free(layer, folder, options.overwrite)?;
    }
    let scene_hash = record::scene_hash(&scene.resolved, &scene.world, &scene.plan.reserve);
    compare(options.ranks.as_ref(), "the scene, or a file that it names,", || scene_hash.clone())?;
    scene.settings.ranks = options.ranks.clone();
    let (bounds, grains) = (bounds(&scene.world), scene.world.grains.len());
    let mut simulation = Simulation::new(world_of(&mut scene), scene.settings.clone())?;
    let needed = expected_output(&scene, grains, simulation.time_step().value);
    let free = folder::free_space(layer, folder)?;
    if needed > free {
        return Err(RunError::NoSpace {
            folder: folder.to_owned(),
            needed,
            free,
        });
    }

    if options.writes() {
        folder::prepare(layer, folder)?;
    }
    let record = Record::new(&mut simulation, &scene.title, &scene_hash, scene.run.until);
    record.write(layer, folder)?;
    let path = folder.join(SCENE);
    replace(layer, &path, scene.resolved.as_bytes()).map_err(disk(&path, "write it"))?;
    let started = Event::Started {
        folder: folder.to_owned(),
        title: scene.title.clone(),
        grains: simulation.len(),
        fluid_particles: simulation.fluid_particles(),
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        threads: simulation.threads(),
        until: scene.run.until,
        time_step: record.time_step.value,
        time_step_limit: record.time_step.limit,
        time_step_cause: record.time_step.cause.clone(),
        notices: [&scene.notices, simulation.notices()].concat(),
    };
    let time_step = record.time_step.value;
    let outputs = Outputs::open((layer, folder), &scene, bounds, time_step, &Marks::new())?;
    let course = Course::new(&scene.plan, time_step);
    let every = scene.output.energies_every;
    let exchange = Exchange::open((layer, folder), &course, every, time_step, (&Marks::new(), 0))?;
    let breaks = Breaks::open((layer, folder), &scene.world.bonds, &Marks::new())?;
    let log = Log::create(layer, folder)?;
    let books = Books {
        outputs,
        exchange,
        breaks,
        log,
        record,
    };
    Driver::new(folder, &scene, (simulation, course), books, options).drive(&started)
}

/// Goes on from the newest valid checkpoint of a run folder, bit for bit as if the run had never stopped, unless on another device.
/// Of the overrides, those that matter are `run.threads`, `run.device`, `run.precision` and `run.until`.
///
/// # Errors
/// If the folder holds no run or no valid checkpoint, its scene has changed, or as [`start`].
pub fn resume(folder: &Path, overrides: &[(String, String)], options: Options) -> Result<Ending, RunError> {
    let options = options.settled();
    let (layer, ranks) = (options.layer, options.ranks.clone());
    let path = folder.join(SCENE);
    if !layer.exists(&path).map_err(disk(&path, "look at it"))? {
        return Err(RunError::NotARun { folder: folder.to_owned() });
    }
    // Who looks at checkpoints may have to finish one.
    let newest = || checkpoint::newest_valid(layer, &folder.join(CHECKPOINTS)).map_err(RunError::from);
    let (from, header, state) = first_alone(ranks.as_ref(), newest)?;
    compare(ranks.as_ref(), "the checkpoint", || checkpoint::digest(&state))?;
    let often = [CHECKPOINTS, folder::FIELDS, folder::CONTACTS, folder::COARSE].map(|inside| folder.join(inside));
    for inside in [folder.to_owned()].into_iter().chain(often) {
        if !layer.exists(&inside).map_err(disk(&inside, "look at it"))? {
            continue;
        }
        remove_temporaries(layer, &inside).map_err(disk(&inside, "remove temporary files"))?;
    }
    let text = String::from_utf8_lossy(&layer.read(&path).map_err(disk(&path, "read it"))?).into_owned();
    let mut scene = seixo_scene::load_text(&text, &path, overrides).map_err(RunError::Scene)?;
    scene.settings.ranks = ranks;
    let scene_hash = record::scene_hash(&text, &scene.world, &scene.plan.reserve);
    let marks: Option<Marks> = serde_json::from_value(header.outputs.clone()).ok();
    let Some(marks) = marks.filter(|_| header.scene_hash == scene_hash) else {
        return Err(RunError::OtherScene { folder: folder.to_owned() });
    };
    let time_step = scene.settings.time_step.map_or_else(
        || seixo_engine::plan_time_step(&scene.world, scene.settings.scheme).map(|step| step.value),
        Ok,
    )?;
    let Some(course) = Course::restore(&scene.plan, time_step, &state, header.steps) else {
        return Err(RunError::OtherScene { folder: folder.to_owned() });
    };
    let bounds = bounds(&scene.world);
    let mut simulation = Simulation::restore_changed(world_of(&mut scene), scene.settings.clone(), &state, &course.past())?;

    let mut record = Record::new(&mut simulation, &scene.title, &scene_hash, scene.run.until);
    if let Some(before) = Record::read(layer, folder) {
        record.wall_time = before.wall_time;
        record.particle_steps = before.particle_steps;
        record.take_stages(before.stages, &course);
    }
    let mut outputs = Outputs::open((layer, folder), &scene, bounds, record.time_step.value, &marks)?;
    outputs.restore(&state, &simulation);
    let place = (layer, folder);
    let exchange = Exchange::open(place, &course, scene.output.energies_every, time_step, (&marks, header.steps))?;
    let breaks = Breaks::open(place, &scene.world.bonds, &marks)?;
    let resumed = Event::Resumed {
        checkpoint: from,
        time: simulation.time(),
        steps: simulation.steps(),
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        threads: simulation.threads(),
        until: scene.run.until,
        notices: simulation.notices().to_vec(),
    };
    let log = Log::resume(layer, folder)?;
    let books = Books {
        outputs,
        exchange,
        breaks,
        log,
        record,
    };
    Driver::new(folder, &scene, (simulation, course), books, options).drive(&resumed)
}

/// The scene's world, with its grains: a million of them are not kept twice.
fn world_of(scene: &mut Scene) -> World {
    let grains = std::mem::take(&mut scene.world.grains);
    World {
        grains,
        ..scene.world.clone()
    }
}

/// What a run writes besides checkpoints.
struct Books {
    outputs: Outputs,
    exchange: Option<Exchange>,
    breaks: Option<Breaks>,
    log: Log,
    record: Record,
}

struct Driver<'a> {
    folder: PathBuf,
    steps_at_end: u64,
    checkpoint_every: f64,
    keeps_previous: bool,
    simulation: Simulation,
    course: Course,
    books: Books,
    options: Options<'a>,
    started: Instant,
    /// Wall time and particle-steps of earlier starts.
    before: (f64, f64),
    particle_steps: f64,
    step_time: (f64, u64),
    output_time: (f64, u64),
    last_checkpoint: (Instant, f64),
    warnings: Warnings,
}

impl<'a> Driver<'a> {
    fn new(folder: &Path, scene: &Scene, (simulation, course): (Simulation, Course), books: Books, options: Options<'a>) -> Driver<'a> {
        let planned = ((scene.run.until / simulation.time_step().value).round() as u64).max(1);
        Driver {
            folder: folder.to_owned(),
            steps_at_end: if course.is_over() { simulation.steps() } else { planned },
            checkpoint_every: scene.checkpoint.every_wall,
            keeps_previous: scene.checkpoint.keep > 1,
            before: (books.record.wall_time, books.record.particle_steps),
            last_checkpoint: (Instant::now(), simulation.time()),
            warnings: Warnings::default(),
            simulation,
            course,
            books,
            options,
            started: Instant::now(),
            particle_steps: 0.0,
            step_time: (0.0, 0),
            output_time: (0.0, 0),
        }
    }

    /// Runs to the end, and says in the books how it ended.
    fn drive(mut self, opening: &Event) -> Result<Ending, RunError> {
        let ran = self.report(opening).map_err(RunError::from).and_then(|()| self.run());
        if ran.is_err() {
            // Others may be elsewhere, and what closes the books must not wait for them.
            self.options.ranks.iter().for_each(Ranks::leave);
        }
        let (time, steps) = (self.simulation.time(), self.simulation.steps());
        let outcome = match &ran {
            Ok(outcome) => *outcome,
            Err(error) => {
                self.books.record.reason = Some(error.to_string());
                Outcome::Failed
            }
        };
        let closed = self.close(outcome);
        match ran {
            Ok(_) => closed.map_err(RunError::from)?,
            Err(error) => {
                // A full disk keeps the books from being closed, too; the first error is the one worth telling.
                if let Some(breaks) = &mut self.books.breaks {
                    let _ = breaks.write(&mut self.simulation);
                }
                let _ = self.books.outputs.list_frames(self.options.layer);
                let _ = self.report(&Event::Failed {
                    reason: error.to_string(),
                    time,
                    steps,
                });
                return Err(error);
            }
        }
        let Record {
            wall_time,
            particle_steps_per_second,
            ..
        } = self.books.record;
        self.report(&match outcome {
            Outcome::Finished => Event::Finished {
                time,
                steps,
                wall_time,
                particle_steps_per_second,
            },
            _ => Event::Interrupted { time, steps },
        })?;
        Ok(Ending {
            record: self.books.record,
            checkpoint: self.folder.join(CHECKPOINTS).join(checkpoint::FILE_NAME),
        })
    }

    fn run(&mut self) -> Result<Outcome, RunError> {
        let mut pace = Pace { steps: 1 };
        let mut speed = 0.0;
        if self.simulation.steps() == 0 {
            self.let_happen()?;
            self.advance(0)?;
            self.write_checkpoint()?;
        }
        loop {
            self.let_happen()?;
            let steps = self.simulation.steps();
            self.tell_progress(speed);
            let control = &self.options.control;
            let is_due = self.last_checkpoint.0.elapsed().as_secs_f64() >= self.checkpoint_every;
            let asked = Asked {
                stop: control.stop.load(Ordering::Relaxed),
                checkpoint: control.checkpoint.swap(false, Ordering::Relaxed) || is_due,
                steps: pace.steps,
            };
            let asked = asked.by_all(self.options.ranks.as_ref())?;
            let looks = self.books.outputs.is_due(steps);
            if steps >= self.steps_at_end || asked.stop || asked.checkpoint {
                self.advance(0)?;
                self.write_checkpoint()?;
            }
            let outputs = &self.books.outputs;
            for notice in self.warnings.notices(&self.simulation, outputs, looks, steps >= self.steps_at_end) {
                self.report(&notice)?;
            }
            if steps >= self.steps_at_end {
                for notice in self.course.conclude(self.simulation.time(), steps) {
                    self.report(&notice)?;
                }
                return Ok(Outcome::Finished);
            }
            if asked.stop {
                return Ok(Outcome::Interrupted);
            }
            let lines = self
                .books
                .exchange
                .as_ref()
                .map_or(u64::MAX, |exchange| exchange.next_step_after(steps));
            let next = self.books.outputs.next_step_after(steps).min(lines);
            let next = next.min(self.course.next_step_after(steps)).min(self.steps_at_end);
            let count = asked.steps.min(next - steps);
            let clock = Instant::now();
            let particles = (self.simulation.len() + self.simulation.fluid_particles()) as f64;
            let writing = self.advance(count)?;
            let seconds = clock.elapsed().as_secs_f64() - writing;
            pace.learn(count, seconds);
            self.step_time.0 += seconds;
            self.step_time.1 += count;
            self.particle_steps += particles * count as f64;
            speed = particles * count as f64 / seconds.max(1e-9);
        }
    }

    /// Takes steps, if any, and writes outputs meanwhile if they are due now; returns how long that took \[s\].
    fn advance(&mut self, count: u64) -> Result<f64, RunError> {
        if !self.books.outputs.is_due(self.simulation.steps()) {
            self.simulation.advance(count).map_err(|stop| self.stopped(stop))?;
            return Ok(0.0);
        }
        let clock = Instant::now();
        // Bringing grains back from a GPU takes as long as many steps: only where outputs are due.
        self.simulation.observe().map_err(|stop| self.stopped(stop))?;
        // Before the GPU goes on: it keeps what single contacts remember.
        let contacts = if self.books.outputs.needs_contacts(self.simulation.steps()) {
            self.simulation.contacts_now().map_err(|stop| self.stopped(stop))?
        } else {
            Vec::new()
        };
        let (outputs, layer) = (&mut self.books.outputs, self.options.layer);
        let mut seconds = 0.0;
        let (written, advanced) = self.simulation.advance_while(count, |simulation| {
            let written = outputs.write_due(layer, simulation, &contacts);
            seconds = clock.elapsed().as_secs_f64();
            written
        });
        written?;
        advanced.map_err(|stop| self.stopped(stop))?;
        self.output_time.0 += seconds;
        self.output_time.1 += 1;
        Ok(seconds)
    }

    /// Lets the course of the run happen as far as it is due at this step; what follows sees the simulation as it is after that.
    fn let_happen(&mut self) -> Result<(), RunError> {
        let told = self.course.happen(&mut self.simulation).map_err(|refusal| match refusal {
            Refusal::Stopped(stop) => self.stopped(*stop),
            refusal => RunError::Event {
                refusal: Box::new(refusal),
                time: self.simulation.time(),
                checkpoint_time: self.last_checkpoint.1,
                folder: self.folder.join(CHECKPOINTS),
            },
        })?;
        for event in &told {
            self.books.record.note(event);
            self.report(event)?;
        }
        let (steps, time) = (self.simulation.steps(), self.simulation.time());
        if let Some(exchange) = &mut self.books.exchange {
            exchange.write_due(&self.course, steps, time)?;
        }
        if let Some(breaks) = &mut self.books.breaks {
            breaks.write(&mut self.simulation)?;
        }
        if self.course.is_over() {
            self.steps_at_end = steps;
        }
        Ok(())
    }

    fn stopped(&self, stop: Stop) -> RunError {
        RunError::Stopped {
            stop: Box::new(stop),
            checkpoint_time: self.last_checkpoint.1,
            folder: self.folder.join(CHECKPOINTS),
        }
    }

    fn write_checkpoint(&mut self) -> Result<(), RunError> {
        let clock = Instant::now();
        self.simulation.observe().map_err(|stop| self.stopped(stop))?;
        let mut marks = self.books.outputs.marks(self.options.layer)?;
        if let Some(exchange) = &mut self.books.exchange {
            exchange.mark(&mut marks)?;
        }
        if let Some(breaks) = &mut self.books.breaks {
            breaks.write(&mut self.simulation)?;
            breaks.mark(&mut marks)?;
        }
        let header = Header {
            version: self.books.record.version.clone(),
            scene_hash: self.books.record.scene_hash.clone(),
            time: self.simulation.time(),
            steps: self.simulation.steps(),
            outputs: serde_json::to_value(marks).unwrap_or_default(),
        };
        let layer = self.options.layer;
        let path = checkpoint::write(layer, &self.folder.join(CHECKPOINTS), &header, |to| {
            self.simulation.save_to(to).map_err(|stop| self.stopped(stop))?;
            self.books.outputs.save(to);
            self.course.save(to);
            Ok::<(), RunError>(())
        })?;
        if !self.keeps_previous {
            let previous = path.with_extension("checkpoint.prev");
            if layer.exists(&previous).map_err(disk(&previous, "look at it"))? {
                layer.remove(&previous).map_err(disk(&previous, "remove it"))?;
            }
        }
        if self.books.breaks.is_some() {
            fragments::write(layer, &self.folder, &self.simulation)?;
        }
        self.last_checkpoint = (Instant::now(), header.time);
        self.output_time.0 += clock.elapsed().as_secs_f64();
        self.output_time.1 += 1;
        self.report(&Event::Checkpoint {
            path,
            time: header.time,
            steps: header.steps,
        })?;
        self.close(Outcome::Running).map_err(RunError::from)
    }

    /// Brings `run.json`, `profile.csv` and `trace.csv` up to date.
    fn close(&mut self, outcome: Outcome) -> Result<(), FilesError> {
        let record = &mut self.books.record;
        record.result = outcome;
        record.wall_time = self.before.0 + self.started.elapsed().as_secs_f64();
        record.particle_steps = self.before.1 + self.particle_steps;
        record.measure(&mut self.simulation);
        record.write(self.options.layer, &self.folder)?;
        record::write_profile(self.options.layer, &self.folder, &self.simulation, self.step_time, self.output_time)?;
        record::write_trace(self.options.layer, &self.folder, &self.simulation)
    }

    fn report(&mut self, event: &Event) -> Result<(), FilesError> {
        let written = self.books.log.write(event);
        self.options.observer.event(event);
        written
    }

    fn tell_progress(&mut self, speed: f64) {
        self.options.observer.progress(&Progress {
            time: self.simulation.time(),
            until: self.books.record.until,
            steps: self.simulation.steps(),
            steps_at_end: self.steps_at_end,
            grains: self.simulation.len(),
            wall_time: self.started.elapsed().as_secs_f64(),
            particle_steps_per_second: speed,
            kinetic: self.books.outputs.kinetic,
        });
    }
}

/// How many steps to take between two looks outside.
struct Pace {
    steps: u64,
}

impl Pace {
    fn learn(&mut self, steps: u64, seconds: f64) {
        let fitting = LOOK_EVERY * steps as f64 / seconds.max(1e-9);
        self.steps = (fitting as u64).clamp(1, 2 * self.steps.max(1)).min(1 << 32);
    }
}
