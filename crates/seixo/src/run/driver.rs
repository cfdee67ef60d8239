//! The run loop: steps up to the next event, outputs, checkpoints, requests from outside.

use super::bond_breaks::BondBreakTable;
use super::checkpoint_job::{CheckpointJob, StoredCheckpoint};
use super::course::Course;
use super::error::Halt;
use super::exchange::Exchange;
use super::folder::CHECKPOINTS;
use super::fragments;
use super::frames::Corners;
use super::full_frame::FrameContents;
use super::log::Log;
use super::rank_agreement::RunRequests;
use super::record::{self, Outcome, Record};
use super::timeline::RunTimeline;
use super::viewers::Viewers;
use super::warnings::Warnings;
use super::write_times::CheckpointsRecord;
use super::{Event, Options, Progress, RunEnd, RunError};
use seixo_engine::state::PendingState;
use seixo_engine::{Ranks, StepError, WorldError};
use seixo_files::FilesError;
use seixo_files::checkpoint::{self, Header};
use seixo_files::owner::Ownership;
use seixo_scene::{Scene, Source};
use seixo_view::live::Status;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

/// Wall time between two checks of requests from outside \[s\].
const LOOK_EVERY: f64 = 0.1;

/// Files of a run besides frames, energies, probes and checkpoints.
pub(super) struct RunTables<'a> {
    /// Ownership of the folder, if this process is the one that writes.
    pub owned: Option<Arc<Ownership<'a>>>,
    pub exchange: Option<Exchange>,
    pub breaks: Option<BondBreakTable>,
    pub log: Log,
    pub record: Record,
}

pub(super) struct Driver<'a> {
    folder: PathBuf,
    steps_at_end: u64,
    checkpoint_every: f64,
    keeps_previous: bool,
    course: Course,
    tables: RunTables<'a>,
    options: Options<'a>,
    started: Instant,
    /// Wall time \[s\] and particle-steps of earlier starts.
    before: (f64, f64),
    particle_steps: f64,
    step_time: (f64, u64),
    output_time: (f64, u64),
    /// Wall time \[s\] for which states were copied for checkpoints.
    copy_time: f64,
    last_checkpoint: Instant,
    /// Simulated time at this start or resume \[s\].
    began_at: f64,
    warnings: Warnings,
    viewers: Option<Viewers>,
    timeline: Option<RunTimeline>,
    /// Source text of the scene, for the positions of errors.
    source: Source,
}

impl<'a> Driver<'a> {
    /// Creates the driver of a scene with these initial [`bounds`](super::frames::bounds).
    pub fn new(
        folder: &Path,
        (scene, bounds): (&Scene, Corners),
        course: Course,
        tables: RunTables<'a>,
        options: Options<'a>,
    ) -> Driver<'a> {
        let viewers = options
            .viewers
            .clone()
            .map(|live| Viewers::new(live, folder.to_owned(), FrameContents::of(scene, bounds, course.outputs.surfaces())));
        let planned = scene.run.steps(course.simulation.time_step().value);
        Driver {
            folder: folder.to_owned(),
            steps_at_end: if course.stage_runner.is_over() {
                course.simulation.steps()
            } else {
                planned
            },
            checkpoint_every: scene.checkpoint.every_wall,
            keeps_previous: scene.checkpoint.keep > 1,
            before: (tables.record.wall_time, tables.record.particle_steps),
            copy_time: 0.0,
            last_checkpoint: Instant::now(),
            began_at: course.simulation.time(),
            warnings: Warnings::default(),
            viewers,
            timeline: options.timeline.clone().map(RunTimeline::new),
            source: scene.source.clone(),
            course,
            tables,
            options,
            started: Instant::now(),
            particle_steps: 0.0,
            step_time: (0.0, 0),
            output_time: (0.0, 0),
        }
    }

    /// Runs to the end, and records the result. Meanwhile a thread writes frames and checkpoints.
    pub fn drive(self, opening: &Event) -> Result<RunEnd, RunError> {
        let (layer, owned) = (self.options.layer, self.tables.owned.clone());
        thread::scope(|scope| {
            self.course.outputs.start_frames(scope, layer, owned);
            self.drive_to_end(opening)
        })
    }

    fn drive_to_end(mut self, opening: &Event) -> Result<RunEnd, RunError> {
        let ran = self.report(opening).map_err(RunError::from).and_then(|()| self.run());
        if ran.is_err() {
            // Other ranks may be at another step, and the final outputs must not wait for them.
            self.options.ranks.iter().for_each(Ranks::leave);
        }
        let (time, steps) = (self.course.simulation.time(), self.course.simulation.steps());
        let outcome = match &ran {
            Ok(outcome) => *outcome,
            Err(error) => {
                self.tables.record.reason = Some(error.to_string());
                Outcome::Failed
            }
        };
        let closed = self.close(outcome);
        match ran {
            Ok(_) => closed.map_err(RunError::from)?,
            Err(error) => {
                // A full disk makes these outputs fail too; the first error is the one to report. A folder of another process is not touched.
                if self.check_folder().is_ok() {
                    if let Some(breaks) = &mut self.tables.breaks {
                        let _ = breaks.write(&mut self.course.simulation);
                    }
                    let _ = self.course.outputs.list_frames(self.options.layer);
                    let _ = self.report_stored();
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
        } = self.tables.record;
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
        Ok(RunEnd {
            record: self.tables.record,
            checkpoint: self.folder.join(CHECKPOINTS).join(checkpoint::FILE_NAME),
        })
    }

    /// Serves viewers until they leave, after the run ended or failed for this reason. Errors do not change the result of the run.
    fn linger(&mut self, failure: Option<String>) {
        let (Some(viewers), control) = (&mut self.viewers, &self.options.control) else {
            return;
        };
        let is_left = || control.stop.load(Ordering::Relaxed);
        if let Err(stop) = viewers.linger(&mut self.course.simulation, failure, is_left) {
            let (time, steps) = (self.course.simulation.time(), self.course.simulation.steps());
            let text = format!("the rest of the run cannot be shown: {stop}");
            let _ = self.report(&Event::Notice { text, time, steps });
        }
    }

    fn run(&mut self) -> Result<Outcome, RunError> {
        let mut pace = Pace {
            steps: 1,
            every: LOOK_EVERY,
        };
        let mut speed = 0.0;
        if self.course.simulation.steps() == 0 {
            self.run_due_events()?;
            self.advance(0)?;
            self.write_checkpoint()?;
        }
        loop {
            self.run_due_events()?;
            self.attend()?;
            self.course.outputs.check_written().map_err(|halt| self.halted(halt))?;
            self.report_stored()?;
            let steps = self.course.simulation.steps();
            self.report_progress(speed);
            let control = &self.options.control;
            let is_due = self.last_checkpoint.elapsed().as_secs_f64() >= self.checkpoint_every;
            if let Some(viewers) = &self.viewers {
                pace.every = viewers.answer_every();
            }
            let asked = RunRequests {
                stop: control.stop.load(Ordering::Relaxed),
                checkpoint: control.checkpoint.swap(false, Ordering::Relaxed) || is_due,
                steps: pace.whole(self.course.simulation.steps_at_once()),
            };
            let asked = asked.by_all(self.options.ranks.as_ref())?;
            let looks = self.course.outputs.is_due(steps);
            let is_last = steps >= self.steps_at_end || asked.stop;
            if is_last || asked.checkpoint {
                self.advance(0)?;
                self.write_checkpoint()?;
            }
            if is_last {
                self.wait_for_checkpoints()?;
            }
            let (seen, wall_time) = (
                (&self.course.simulation, &self.course.outputs),
                self.started.elapsed().as_secs_f64(),
            );
            for notice in self.warnings.notices(seen, wall_time, looks, steps >= self.steps_at_end) {
                self.report(&notice)?;
            }
            self.attend_timeline(is_last)?;
            if steps >= self.steps_at_end {
                for notice in self.course.stage_runner.conclude(self.course.simulation.time(), steps) {
                    self.report(&notice)?;
                }
                return Ok(Outcome::Finished);
            }
            if asked.stop {
                return Ok(Outcome::Interrupted);
            }
            let lines = self
                .tables
                .exchange
                .as_ref()
                .map_or(u64::MAX, |exchange| exchange.next_step_after(steps));
            let timeline = self.timeline.as_ref().map_or(u64::MAX, RunTimeline::next_step);
            let next = self.course.next_step_after(steps).min(lines).min(timeline).min(self.steps_at_end);
            let count = asked.steps.min(next - steps);
            let count = match &mut self.viewers {
                Some(viewers) => viewers.allowed(&self.course.simulation, count),
                None => count,
            };
            if count == 0 {
                continue;
            }
            let clock = Instant::now();
            let particles = (self.course.simulation.len() + self.course.simulation.fluid_particles()) as f64;
            let writing = self.advance(count)?;
            let seconds = clock.elapsed().as_secs_f64() - writing;
            pace.learn(count, seconds);
            self.step_time.0 += seconds;
            self.step_time.1 += count;
            self.particle_steps += particles * count as f64;
            speed = particles * count as f64 / seconds.max(1e-9);
        }
    }

    /// Takes `count` steps, and writes outputs meanwhile if they are due now; returns the time for outputs \[s\]. Viewers get their answers.
    fn advance(&mut self, count: u64) -> Result<f64, RunError> {
        if self.course.is_due() {
            self.check_folder()?;
        }
        let viewers = &mut self.viewers;
        let deliver = || viewers.iter_mut().for_each(Viewers::deliver);
        let advanced = self.course.advance(count, deliver, |_, _| ());
        let Some(seconds) = advanced.map_err(|halt| self.halted(halt))? else {
            return Ok(0.0);
        };
        self.output_time.0 += seconds;
        self.output_time.1 += 1;
        Ok(seconds)
    }

    /// Performs the stage actions that are due at this step; the following code sees the simulation after them.
    fn run_due_events(&mut self) -> Result<(), RunError> {
        let reported = self.course.happen().map_err(|refusal| self.refused(refusal))?;
        for event in &reported {
            self.tables.record.note(event);
            self.report(event)?;
        }
        let (steps, time) = (self.course.simulation.steps(), self.course.simulation.time());
        if let Some(exchange) = &mut self.tables.exchange {
            exchange.write_due(&self.course.stage_runner, steps, time)?;
        }
        if let Some(breaks) = &mut self.tables.breaks {
            breaks.write(&mut self.course.simulation)?;
        }
        if self.course.stage_runner.is_over() {
            self.steps_at_end = steps;
        }
        Ok(())
    }

    /// Applies user actions, and prepares the frames that viewers requested.
    fn attend(&mut self) -> Result<(), RunError> {
        let mut done = Vec::new();
        let Some(viewers) = &mut self.viewers else { return Ok(()) };
        let reached = viewers.reach_in(&mut self.course.simulation, &mut done);
        let (time, steps) = (self.course.simulation.time(), self.course.simulation.steps());
        for one in done {
            if let Some(change) = one.lasting {
                self.course.stage_runner.record_user_change(steps, change, true);
            }
            let text = one.text;
            self.report(&Event::UserAction { text, time, steps })?;
        }
        reached.map_err(|refusal| self.refused(refusal))?;
        let viewers = self.viewers.as_mut();
        let answered = viewers.map_or(Ok(()), |viewers| viewers.answer(&mut self.course.simulation));
        answered.map_err(|stop| self.stopped(stop))
    }

    /// Begins or ends the timeline, if that is due.
    fn attend_timeline(&mut self, is_over: bool) -> Result<(), FilesError> {
        let Some(timeline) = &mut self.timeline else { return Ok(()) };
        let Some(text) = timeline.attend(&mut self.course.simulation, self.options.layer, is_over) else {
            return Ok(());
        };
        let (time, steps) = (self.course.simulation.time(), self.course.simulation.steps());
        self.report(&Event::Notice { text, time, steps })
    }

    fn refused(&self, refusal: WorldError) -> RunError {
        match refusal {
            WorldError::Stopped(stop) => self.stopped(*stop),
            refusal => RunError::Event {
                place: self.source.place_of(&refusal),
                refusal: Box::new(refusal),
                time: self.course.simulation.time(),
                checkpoint_time: self.checkpoint_time(),
                folder: self.folder.join(CHECKPOINTS),
            },
        }
    }

    fn stopped(&self, stop: StepError) -> RunError {
        RunError::Stopped {
            stop: Box::new(stop),
            checkpoint_time: self.checkpoint_time(),
            folder: self.folder.join(CHECKPOINTS),
        }
    }

    fn halted(&self, halt: Halt) -> RunError {
        match halt {
            Halt::Step(stop) => self.stopped(*stop),
            Halt::Files(error) => error.into(),
        }
    }

    /// Returns the simulated time of the newest checkpoint \[s\], once none is left to be written.
    fn checkpoint_time(&self) -> f64 {
        self.course.outputs.newest_checkpoint().unwrap_or(self.began_at)
    }

    /// Waits until all checkpoints are stored, and reports them.
    fn wait_for_checkpoints(&mut self) -> Result<(), RunError> {
        let clock = Instant::now();
        let stored = self.course.outputs.wait_for_checkpoints();
        self.output_time.0 += clock.elapsed().as_secs_f64();
        self.report_stored()?;
        stored.map_err(|halt| self.halted(halt))
    }

    /// Reports the checkpoints that were stored since the last call.
    fn report_stored(&mut self) -> Result<(), FilesError> {
        for StoredCheckpoint { path, time, steps } in self.course.outputs.take_stored() {
            self.report(&Event::Checkpoint { path, time, steps })?;
        }
        Ok(())
    }

    /// Copies the state, which is written as a checkpoint beside the run. The checkpoint before must be stored first: a second copy would need too much
    /// memory.
    fn write_checkpoint(&mut self) -> Result<(), RunError> {
        self.wait_for_checkpoints()?;
        let clock = Instant::now();
        // Before anything is created again in a folder that was removed.
        self.check_folder()?;
        self.course.simulation.observe().map_err(|stop| self.stopped(stop))?;
        let mut marks = self.course.outputs.marks(self.options.layer)?;
        if let Some(exchange) = &mut self.tables.exchange {
            exchange.mark(&mut marks)?;
        }
        if let Some(breaks) = &mut self.tables.breaks {
            breaks.write(&mut self.course.simulation)?;
            breaks.mark(&mut marks)?;
        }
        let header = Header {
            version: self.tables.record.version.clone(),
            scene_hash: self.tables.record.scene_hash.clone(),
            time: self.course.simulation.time(),
            steps: self.course.simulation.steps(),
            outputs: serde_json::to_value(marks).unwrap_or_default(),
        };
        let mut state = PendingState::default();
        self.course.save_to(&mut state).map_err(|stop| self.stopped(stop))?;
        self.course.outputs.put_checkpoint(CheckpointJob {
            folder: self.folder.join(CHECKPOINTS),
            header,
            state,
            keeps_previous: self.keeps_previous,
            threads: self.tables.record.threads,
        });
        let seconds = clock.elapsed().as_secs_f64();
        self.copy_time += seconds;
        if self.tables.breaks.is_some() {
            // They are those of the newest checkpoint, not of one that may still fail.
            self.wait_for_checkpoints()?;
            fragments::write(self.options.layer, &self.folder, &self.course.simulation)?;
        }
        self.last_checkpoint = Instant::now();
        let closed = self.close(Outcome::Running);
        // With the record and the profile, for which the run stands still, too.
        self.output_time.0 += seconds + self.last_checkpoint.elapsed().as_secs_f64();
        self.output_time.1 += 1;
        closed.map_err(RunError::from)
    }

    /// Fails if the folder is gone, or if another process has taken it.
    fn check_folder(&self) -> Result<(), FilesError> {
        self.tables.owned.as_ref().map_or(Ok(()), |owned| owned.check())
    }

    /// Updates `run.json`, `profile.csv` and `trace.csv`.
    fn close(&mut self, outcome: Outcome) -> Result<(), FilesError> {
        self.check_folder()?;
        let (frames, checkpoints) = self.course.outputs.write_times();
        let copying = self.copy_time;
        let record = &mut self.tables.record;
        record.frames = Some(frames);
        record.checkpoints = Some(CheckpointsRecord { copying, ..checkpoints });
        record.result = outcome;
        record.wall_time = self.before.0 + self.started.elapsed().as_secs_f64();
        record.particle_steps = self.before.1 + self.particle_steps;
        record.real_time_ratio = self.viewers.as_ref().and_then(Viewers::real_time_ratio);
        record.measure(&mut self.course.simulation);
        record.write(self.options.layer, &self.folder)?;
        record::write_profile(
            self.options.layer,
            &self.folder,
            &self.course.simulation,
            self.step_time,
            self.output_time,
        )?;
        record::write_trace(self.options.layer, &self.folder, &self.course.simulation)
    }

    fn report(&mut self, event: &Event) -> Result<(), FilesError> {
        let written = self.tables.log.write(event);
        self.options.observer.event(event);
        written
    }

    fn report_progress(&mut self, speed: f64) {
        let status = Status {
            time: self.course.simulation.time(),
            until: self.tables.record.until,
            steps: self.course.simulation.steps(),
            particle_steps_per_second: speed,
            gravity: self.course.simulation.gravity(),
            ..Status::default()
        };
        self.options.observer.progress(&Progress {
            time: self.course.simulation.time(),
            until: self.tables.record.until,
            steps: self.course.simulation.steps(),
            steps_at_end: self.steps_at_end,
            grains: self.course.simulation.len(),
            wall_time: self.started.elapsed().as_secs_f64(),
            particle_steps_per_second: speed,
            kinetic: self.course.outputs.kinetic,
            real_time_ratio: self.viewers.as_mut().and_then(|viewers| viewers.report_progress(status)),
        });
    }
}

/// Number of steps between two checks of requests.
struct Pace {
    steps: u64,
    /// Wall time between these checks \[s\].
    every: f64,
}

/// Share of a batch that is rounded up to a whole batch.
const NEARLY: f64 = 0.75;

impl Pace {
    /// Returns the number of steps, rounded to whole batches if it is as large as a batch: each partial batch makes a GPU wait once more.
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
