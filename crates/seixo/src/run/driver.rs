//! The run loop: steps up to the next event, outputs, checkpoints, requests from outside.

use super::agreement::Asked;
use super::audience::Audience;
use super::breaks::Breaks;
use super::course::Course;
use super::exchange::Exchange;
use super::folder::{CHECKPOINTS, disk};
use super::fragments;
use super::frames::Corners;
use super::log::Log;
use super::look::Sights;
use super::outputs::Outputs;
use super::record::{self, Outcome, Record};
use super::warnings::Warnings;
use super::{Ending, Event, Options, Progress, RunError};
use seixo_engine::{Ranks, Refusal, Simulation, Stop};
use seixo_files::FilesError;
use seixo_files::checkpoint::{self, Header};
use seixo_files::owner::Ownership;
use seixo_scene::{Scene, Source};
use seixo_view::live::Status;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Wall time between two looks at what was asked from outside \[s\].
const LOOK_EVERY: f64 = 0.1;

/// What a run writes besides checkpoints.
pub(super) struct Books<'a> {
    /// The folder, where this process is the one that writes.
    pub owned: Option<Ownership<'a>>,
    pub outputs: Outputs,
    pub exchange: Option<Exchange>,
    pub breaks: Option<Breaks>,
    pub log: Log,
    pub record: Record,
}

pub(super) struct Driver<'a> {
    folder: PathBuf,
    steps_at_end: u64,
    checkpoint_every: f64,
    keeps_previous: bool,
    simulation: Simulation,
    course: Course,
    books: Books<'a>,
    options: Options<'a>,
    started: Instant,
    /// Wall time and particle-steps of earlier starts.
    before: (f64, f64),
    particle_steps: f64,
    step_time: (f64, u64),
    output_time: (f64, u64),
    last_checkpoint: (Instant, f64),
    warnings: Warnings,
    audience: Option<Audience>,
    /// Where the scene says what, for what is refused on the way.
    source: Source,
}

impl<'a> Driver<'a> {
    /// One for a scene that starts within these [`bounds`](super::frames::bounds).
    pub fn new(
        folder: &Path,
        (scene, bounds): (&Scene, Corners),
        (simulation, course): (Simulation, Course),
        books: Books<'a>,
        options: Options<'a>,
    ) -> Driver<'a> {
        let audience = options
            .audience
            .clone()
            .map(|live| Audience::new(live, folder.to_owned(), Sights::of(scene, bounds, books.outputs.surfaces())));
        let planned = scene.run.steps(simulation.time_step().value);
        Driver {
            folder: folder.to_owned(),
            steps_at_end: if course.is_over() { simulation.steps() } else { planned },
            checkpoint_every: scene.checkpoint.every_wall,
            keeps_previous: scene.checkpoint.keep > 1,
            before: (books.record.wall_time, books.record.particle_steps),
            last_checkpoint: (Instant::now(), simulation.time()),
            warnings: Warnings::default(),
            audience,
            source: scene.source.clone(),
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
    pub fn drive(mut self, opening: &Event) -> Result<Ending, RunError> {
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
                // A full disk keeps the books from being closed, too; the first error is the one worth telling. A folder of others is left alone.
                if self.check_folder().is_ok() {
                    if let Some(breaks) = &mut self.books.breaks {
                        let _ = breaks.write(&mut self.simulation);
                    }
                    let _ = self.books.outputs.list_frames(self.options.layer);
                }
                let reason = error.to_string();
                let _ = self.report(&Event::Failed {
                    reason: reason.clone(),
                    time,
                    steps,
                });
                self.linger(Some(reason));
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
        if outcome == Outcome::Finished {
            self.linger(None);
        }
        Ok(Ending {
            record: self.books.record,
            checkpoint: self.folder.join(CHECKPOINTS).join(checkpoint::FILE_NAME),
        })
    }

    /// Lets those who look go on with that, now that the run is over or failed for this reason. It is the one or the other, whatever becomes of that.
    fn linger(&mut self, failure: Option<String>) {
        let (Some(audience), control) = (&mut self.audience, &self.options.control) else {
            return;
        };
        let is_left = || control.stop.load(Ordering::Relaxed);
        if let Err(stop) = audience.linger(&mut self.simulation, failure, is_left) {
            let (time, steps) = (self.simulation.time(), self.simulation.steps());
            let text = format!("what is left of the run cannot be looked at: {stop}");
            let _ = self.report(&Event::Notice { text, time, steps });
        }
    }

    fn run(&mut self) -> Result<Outcome, RunError> {
        let mut pace = Pace {
            steps: 1,
            every: LOOK_EVERY,
        };
        let mut speed = 0.0;
        if self.simulation.steps() == 0 {
            self.let_happen()?;
            self.advance(0)?;
            self.write_checkpoint()?;
        }
        loop {
            self.let_happen()?;
            self.attend()?;
            let steps = self.simulation.steps();
            self.tell_progress(speed);
            let control = &self.options.control;
            let is_due = self.last_checkpoint.0.elapsed().as_secs_f64() >= self.checkpoint_every;
            if let Some(audience) = &self.audience {
                pace.every = audience.answer_every();
            }
            let asked = Asked {
                stop: control.stop.load(Ordering::Relaxed),
                checkpoint: control.checkpoint.swap(false, Ordering::Relaxed) || is_due,
                steps: pace.whole(self.simulation.steps_at_once()),
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
            let count = match &mut self.audience {
                Some(audience) => audience.allowed(&self.simulation, count),
                None => count,
            };
            if count == 0 {
                continue;
            }
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

    /// Takes steps, if any, and writes outputs meanwhile if they are due now; returns how long that took \[s\]. Who looks gets what was found for that.
    fn advance(&mut self, count: u64) -> Result<f64, RunError> {
        if !self.books.outputs.is_due(self.simulation.steps()) {
            let audience = &mut self.audience;
            let hand_over = |_: &Simulation| audience.iter_mut().for_each(Audience::hand_over);
            let ((), advanced) = self.simulation.advance_while(count, hand_over);
            return advanced.map(|()| 0.0).map_err(|stop| self.stopped(stop));
        }
        let clock = Instant::now();
        self.check_folder()?;
        // Bringing grains back from a GPU takes as long as many steps: only where outputs are due.
        self.simulation.observe().map_err(|stop| self.stopped(stop))?;
        // Before the GPU goes on: it keeps what single contacts remember.
        let contacts = if self.books.outputs.needs_contacts(self.simulation.steps()) {
            self.simulation.contacts_now().map_err(|stop| self.stopped(stop))?
        } else {
            Vec::new()
        };
        let (outputs, layer, audience) = (&mut self.books.outputs, self.options.layer, &mut self.audience);
        let mut seconds = 0.0;
        let (written, advanced) = self.simulation.advance_while(count, |simulation| {
            audience.iter_mut().for_each(Audience::hand_over);
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
        let told = self.course.happen(&mut self.simulation).map_err(|refusal| self.refused(refusal))?;
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

    /// Does what those ask for who look at the run, and finds what they want to see.
    fn attend(&mut self) -> Result<(), RunError> {
        let mut done = Vec::new();
        let Some(audience) = &mut self.audience else { return Ok(()) };
        let reached = audience.reach_in(&mut self.simulation, &mut done);
        let (time, steps) = (self.simulation.time(), self.simulation.steps());
        for one in done {
            if let Some(change) = one.lasting {
                self.course.note_by_hand(steps, change);
            }
            let text = one.text;
            self.report(&Event::ByHand { text, time, steps })?;
        }
        reached.map_err(|refusal| self.refused(refusal))?;
        let audience = self.audience.as_mut();
        let answered = audience.map_or(Ok(()), |audience| audience.answer(&mut self.simulation));
        answered.map_err(|stop| self.stopped(stop))
    }

    fn refused(&self, refusal: Refusal) -> RunError {
        match refusal {
            Refusal::Stopped(stop) => self.stopped(*stop),
            refusal => RunError::Event {
                place: self.source.place_of(&refusal),
                refusal: Box::new(refusal),
                time: self.simulation.time(),
                checkpoint_time: self.last_checkpoint.1,
                folder: self.folder.join(CHECKPOINTS),
            },
        }
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
        // Before anything of a folder that was removed is made again.
        self.check_folder()?;
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

    /// An error if the folder is not there any more, or another process has taken it.
    fn check_folder(&self) -> Result<(), FilesError> {
        self.books.owned.as_ref().map_or(Ok(()), Ownership::check)
    }

    /// Brings `run.json`, `profile.csv` and `trace.csv` up to date.
    fn close(&mut self, outcome: Outcome) -> Result<(), FilesError> {
        self.check_folder()?;
        let record = &mut self.books.record;
        record.result = outcome;
        record.wall_time = self.before.0 + self.started.elapsed().as_secs_f64();
        record.particle_steps = self.before.1 + self.particle_steps;
        record.share_of_pace = self.audience.as_ref().and_then(Audience::share_of_pace);
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
        let status = Status {
            time: self.simulation.time(),
            until: self.books.record.until,
            steps: self.simulation.steps(),
            particle_steps_per_second: speed,
            gravity: self.simulation.gravity(),
            ..Status::default()
        };
        self.options.observer.progress(&Progress {
            time: self.simulation.time(),
            until: self.books.record.until,
            steps: self.simulation.steps(),
            steps_at_end: self.steps_at_end,
            grains: self.simulation.len(),
            wall_time: self.started.elapsed().as_secs_f64(),
            particle_steps_per_second: speed,
            kinetic: self.books.outputs.kinetic,
            share_of_pace: self.audience.as_mut().and_then(|audience| audience.tell(status)),
        });
    }
}

/// How many steps to take between two looks outside.
struct Pace {
    steps: u64,
    /// Wall time between these \[s\].
    every: f64,
}

/// Share of a batch that is taken for a whole one.
const NEARLY: f64 = 0.75;

impl Pace {
    /// As many steps, or whole batches of about as many: whatever is left of one lets a GPU wait once more.
    fn whole(&self, batch: u64) -> u64 {
        match (self.steps as f64 / batch as f64 + 1.0 - NEARLY) as u64 {
            0 => self.steps,
            batches => batches * batch,
        }
    }

    fn learn(&mut self, steps: u64, seconds: f64) {
        let fitting = self.every * steps as f64 / seconds.max(1e-9);
        self.steps = (fitting as u64).clamp(1, 2 * self.steps.max(1)).min(1 << 32);
    }
}
