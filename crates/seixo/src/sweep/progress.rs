//! A sweep while it runs: the states of its points, and its table.

use super::SweepError;
use super::plan::{Plan, Point};
use super::point_process::{Input, Place, PointProcess, Program, State, is_finished};
use super::results::{self, Results, TABLE};
use crate::run::folder::disk;
use seixo_files::FilesError;
use seixo_files::layer::{Disk, replace};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Wall time between two tests for a stop, and between two calls of [`SweepObserver::progress`].
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Wall time between two writes of the table.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// How far a sweep is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepProgress {
    /// Number of points.
    pub points: usize,
    /// Number of points that reached their ends.
    pub finished: usize,
    /// Number of points that are running.
    pub running: usize,
    /// Number of points that failed.
    pub failed: usize,
    /// Points that are done, with shares of those that are running.
    pub done: f64,
}

/// Receives the progress of a sweep.
pub trait SweepObserver {
    /// Called before the first point runs.
    fn begun(&mut self, _progress: &SweepProgress, _places: &[Place]) {}
    /// Called when a point has ended, with its wall time \[s\] if it is finished.
    fn ended(&mut self, _point: &Point, _state: &State, _wall_time: Option<f64>) {}
    /// Called several times a second.
    fn progress(&mut self, _progress: &SweepProgress) {}
}

/// An observer that does nothing.
pub struct NoSweepObserver;

impl SweepObserver for NoSweepObserver {}

/// How a sweep ended.
#[derive(Clone, Debug)]
pub struct SweepEnd {
    /// States of the points, in order.
    pub states: Vec<State>,
    /// Path of the table.
    pub table: PathBuf,
}

impl SweepEnd {
    /// Number of points that reached their ends.
    pub fn finished(&self) -> usize {
        self.states.iter().filter(|state| **state == State::Finished).count()
    }

    /// Indices of the points that failed, with the reasons.
    pub fn failed(&self) -> impl Iterator<Item = (usize, &str)> {
        self.states.iter().enumerate().filter_map(|(index, state)| match state {
            State::Failed(reason) => Some((index, reason.as_str())),
            _ => None,
        })
    }

    /// Whether it was stopped before each point reached its end or failed.
    pub fn is_interrupted(&self) -> bool {
        self.finished() + self.failed().count() < self.states.len()
    }
}

/// A sweep while it runs.
pub struct Running<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    scene: &'a Path,
    average_from: f64,
    states: Vec<State>,
    results: Vec<Option<Results>>,
    last_table: Instant,
    /// Whether a point has started or ended since the table was written.
    is_table_old: bool,
    /// Why the table could not be written, or a result not be read.
    failure: Option<FilesError>,
}

impl<'a> Running<'a> {
    /// The sweep as far as it is finished in its folder.
    pub fn new(plan: &'a Plan, folder: &'a Path, scene: &'a Path, average_from: f64) -> Result<Running<'a>, SweepError> {
        let mut running = Running {
            plan,
            folder,
            scene,
            average_from,
            states: vec![State::Waiting; plan.points.len()],
            results: plan.points.iter().map(|_| None).collect(),
            last_table: Instant::now(),
            is_table_old: false,
            failure: None,
        };
        for index in 0..plan.points.len() {
            if is_finished(&running.folder_of(index)) {
                running.states[index] = State::Finished;
                running.results[index] = Some(running.read(index)?);
            }
        }
        running.write()?;
        Ok(running)
    }

    fn folder_of(&self, index: usize) -> PathBuf {
        self.folder.join(&self.plan.points[index].name)
    }

    fn read(&self, index: usize) -> Result<Results, FilesError> {
        Results::read(&self.folder_of(index), self.average_from)
    }

    /// Writes the table.
    fn write(&self) -> Result<(), FilesError> {
        let text = results::text(self.plan, &self.states, &self.results);
        let path = self.folder.join(TABLE);
        replace(&Disk, &path, text.as_bytes()).map_err(disk(&path, "write it"))
    }

    /// Indices of the points that are not finished.
    pub fn unfinished(&self) -> impl Iterator<Item = usize> {
        let states = self.states.iter().enumerate();
        states.filter(|(_, state)| **state != State::Finished).map(|(index, _)| index)
    }

    /// How far the sweep is.
    pub fn progress(&self) -> SweepProgress {
        let share = |state: &State| match state {
            State::Running(share) => *share,
            State::Finished | State::Failed(_) => 1.0,
            State::Waiting | State::Interrupted => 0.0,
        };
        let [finished, running, failed] =
            ["finished", "running", "failed"].map(|word| self.states.iter().filter(|state| state.word() == word).count());
        SweepProgress {
            points: self.states.len(),
            finished,
            running,
            failed,
            done: self.states.iter().map(share).sum(),
        }
    }

    /// Runs the points that are not finished, in order, one after the other at each place, until `stop`.
    pub fn complete(&mut self, program: &Program, places: &[Place], stop: &AtomicBool, observer: &mut dyn SweepObserver) {
        let queue = Mutex::new(self.unfinished().collect::<Vec<usize>>().into_iter());
        let inputs: Vec<Input> = places.iter().map(|_| Input::default()).collect();
        let (plan, folder, scene) = (self.plan, self.folder, self.scene);
        // Without its table, the sweep stops; the caller's flag is not set for it.
        let ends = AtomicBool::new(stop.load(Ordering::Relaxed));
        let (sender, messages) = channel();
        let next = || {
            let is_stopped = ends.load(Ordering::Relaxed);
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            if is_stopped { None } else { queue.next() }
        };
        thread::scope(|scope| {
            for (place, input) in places.iter().zip(&inputs) {
                let (sender, next, ends) = (sender.clone(), &next, &ends);
                scope.spawn(move || {
                    while let Some(index) = next() {
                        let point = &plan.points[index];
                        let process = PointProcess {
                            program,
                            scene,
                            overrides: plan.overrides(point),
                            folder: folder.join(&point.name),
                            place,
                        };
                        // The receiver waits for all senders to go.
                        let mut report = |share: f64| drop(sender.send((index, State::Running(share))));
                        report(0.0);
                        let ended = process.complete(ends, input, &mut report);
                        let _ = sender.send((index, ended));
                    }
                });
            }
            drop(sender);
            loop {
                let entered = match messages.recv_timeout(LOOK_EVERY) {
                    Ok((index, state)) => self.enter(index, state, observer),
                    Err(RecvTimeoutError::Timeout) => Ok(()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                let written = entered.and_then(|()| self.update());
                if let Err(failure) = written {
                    self.failure.get_or_insert(failure);
                }
                if self.failure.is_some() || stop.load(Ordering::Relaxed) {
                    ends.store(true, Ordering::Relaxed);
                    inputs.iter().for_each(Input::end);
                }
                observer.progress(&self.progress());
            }
        });
    }

    /// Takes a new state of a point, and reports a point that has ended.
    fn enter(&mut self, index: usize, state: State, observer: &mut dyn SweepObserver) -> Result<(), FilesError> {
        self.is_table_old |= state.word() != self.states[index].word();
        self.states[index] = state;
        match &self.states[index] {
            State::Waiting | State::Running(_) => return Ok(()),
            State::Finished => self.results[index] = Some(self.read(index)?),
            State::Interrupted | State::Failed(_) => {}
        }
        let wall_time = self.results[index].as_ref().map(|results| results.wall_time);
        observer.ended(&self.plan.points[index], &self.states[index], wall_time);
        Ok(())
    }

    /// Writes the table if a point has started or ended since, unless it was written a moment ago.
    fn update(&mut self) -> Result<(), FilesError> {
        if !self.is_table_old || self.last_table.elapsed() < WRITE_EVERY {
            return Ok(());
        }
        self.is_table_old = false;
        self.last_table = Instant::now();
        self.write()
    }

    /// Writes the table for the last time.
    pub fn conclude(self) -> Result<SweepEnd, SweepError> {
        let written = self.write();
        self.failure.map_or(written, Err)?;
        Ok(SweepEnd {
            states: self.states,
            table: self.folder.join(TABLE),
        })
    }
}
