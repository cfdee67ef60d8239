//! A scene that a program steps itself.

mod saved;
mod scene_files;

use super::changes::Change;
use super::course::Course;
use super::error::Halt;
use super::outputs::Outputs;
use super::record;
use super::stage_runner::StageRunner;
use super::startup::world_of;
use super::until::Until;
use super::user_change::UserChange;
use super::warnings::Warnings;
use super::{Event, RunError};
use scene_files::SceneFile;
use seixo_engine::state::State;
use seixo_engine::world::Grains;
use seixo_engine::{Simulation, StepError, SurroundingsChange, WorldError};
use seixo_files::checkpoint;
use seixo_scene::{Diagnostics, Scene};

/// A scene that a program steps itself: stages, inlets, zones and probes act at the same steps as in a run, and nothing is written.
///
/// A session is made at time zero, or resumed from a file that [`Session::save`] wrote or from a run folder. On the CPU it then continues with the same
/// bits. After an error of a step or of a change, the simulation cannot continue.
///
/// ```
/// use seixo::run::{Session, UserChange};
/// let scene = seixo::scene::load_text(seixo::scene::templates()[0].text, "bounce.toml".as_ref(), &[])?;
/// let mut session = Session::new(scene)?;
/// session.change(UserChange::Gravity { gravity: [0.0, 0.0, -1.62] })?;
/// let mut end = session.until("time > 10 ms")?;
/// session.advance(1_000_000, Some(&mut end))?;
/// println!("{:?} at {} s", session.simulation().snapshot().position[0], session.simulation().time());
/// # assert!(session.simulation().time() > 0.01 && end.reason().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session {
    scene: Scene,
    course: Course,
    /// Names of the columns of each probe, the time first.
    columns: Vec<Vec<String>>,
    events: Vec<Event>,
    warnings: Warnings,
    origin: Origin,
    steps_at_end: u64,
}

/// What a file of the session says of its scene.
struct Origin {
    /// The scene with all defaults, before it was resumed with other values of its keys.
    text: String,
    /// Keys with other values since a resume.
    changes: Vec<Change>,
    scene_hash: String,
    /// The files that the text names, as they were when it was read.
    files: Vec<SceneFile>,
}

/// The error of a step that failed.
fn stopped(stop: StepError) -> RunError {
    WorldError::Stopped(Box::new(stop)).into()
}

fn halted(halt: Halt) -> RunError {
    match halt {
        Halt::Step(stop) => WorldError::Stopped(stop).into(),
        Halt::Files(error) => error.into(),
    }
}

impl Session {
    /// Sets up a scene at time zero, and performs what its stages and inlets do at the start.
    ///
    /// # Errors
    /// If the world is refused, or the first stage cannot begin.
    pub fn new(mut scene: Scene) -> Result<Session, RunError> {
        let scene_hash = record::scene_hash(&scene.resolved, &scene.world, &scene.plan.reserve);
        let simulation = Simulation::new(world_of(&mut scene), scene.settings.clone());
        let simulation = simulation.map_err(|refusal| RunError::refused(refusal, &scene.source))?;
        let time_step = simulation.time_step().value;
        let course = Course {
            stage_runner: StageRunner::new(&scene.plan, time_step),
            outputs: Outputs::kept(&scene, time_step),
            simulation,
        };
        let origin = Origin {
            text: scene.resolved.clone(),
            changes: Vec::new(),
            scene_hash,
            files: scene_files::kept(scene.files.iter().map(|path| (path.clone(), path.clone())), Vec::new()),
        };
        let steps_at_end = scene.run.steps(time_step);
        let mut session = Session::of(scene, course, origin, steps_at_end);
        session.act(None)?;
        Ok(session)
    }

    fn of(scene: Scene, course: Course, origin: Origin, steps_at_end: u64) -> Session {
        let columns = scene
            .probes
            .iter()
            .map(|probe| [vec!["time [s]".to_owned()], probe.columns()].concat());
        Session {
            columns: columns.collect(),
            events: Vec::new(),
            warnings: Warnings::default(),
            scene,
            course,
            origin,
            steps_at_end,
        }
    }

    /// The scene, with the names of groups, walls and materials; the simulation has taken its grains.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.course.simulation
    }

    /// The simulation, to observe it. A resume does not repeat changes that are made here; make them with [`Session::change`].
    pub fn simulation_mut(&mut self) -> &mut Simulation {
        &mut self.course.simulation
    }

    /// Name of the current stage; `None` without stages.
    pub fn stage(&self) -> Option<&str> {
        self.course.stage_runner.stages().last().map(|(name, _)| name)
    }

    /// Number of steps at the end of the run: that of `run.until`, or the one at which the condition of the last stage ended it. A session may continue
    /// after it.
    pub fn steps_at_end(&self) -> u64 {
        self.steps_at_end
    }

    /// Takes up to this many steps, with all events and probes that are due on the way. Returns the number of steps: fewer only if `until` holds, or if
    /// the condition of the last stage ends the run. After that end, further calls take steps without stages.
    ///
    /// # Errors
    /// If the state of a grain becomes impossible, or an event is refused.
    pub fn advance(&mut self, steps: u64, mut until: Option<&mut Until>) -> Result<u64, RunError> {
        let first = self.course.simulation.steps();
        let end = first.saturating_add(steps);
        loop {
            let now = self.course.simulation.steps();
            if let Some(until) = until.as_deref_mut()
                && until.is_met(&mut self.course.simulation).map_err(stopped)?
            {
                break;
            }
            if now >= end {
                break;
            }
            let next = self.course.next_step_after(now).min(end);
            let next = until.as_deref().map_or(next, |until| until.next_step_after(now).min(next));
            // The outputs of this step were taken when it was reached.
            self.course.advance(next - now, || (), |_, _| ()).map_err(halted)?;
            if self.act(until.as_deref_mut())? {
                break;
            }
        }
        Ok(self.course.simulation.steps() - first)
    }

    /// Performs what is due at this step: events, then probes. Returns whether the condition of the last stage ends the run here.
    fn act(&mut self, mut until: Option<&mut Until>) -> Result<bool, RunError> {
        let was_over = self.course.stage_runner.is_over();
        let reported = self.course.happen();
        let reported = reported.map_err(|refusal| RunError::refused(refusal, &self.scene.source))?;
        self.events.extend(reported);
        let measures = self.course.is_due();
        if measures {
            let hear = |probe: usize, line: &[f64]| {
                if let Some(until) = until.as_deref_mut() {
                    until.take_line(probe, line);
                }
            };
            self.course.advance(0, || (), hear).map_err(halted)?;
        }
        let seen = (&self.course.simulation, &self.course.outputs);
        // A session has no frames to wait for.
        self.events.extend(self.warnings.notices(seen, 0.0, measures, false));
        let ends = self.course.stage_runner.is_over() && !was_over;
        if ends {
            self.steps_at_end = self.course.simulation.steps();
        }
        Ok(ends)
    }

    /// Reads a condition in the words of `until` of a stage, such as "time > 2 s or probe.core.strain_zz > 0.15".
    ///
    /// # Errors
    /// If it is no condition, or names something that the scene does not have.
    pub fn until(&self, text: &str) -> Result<Until, Diagnostics> {
        let (steps, time_step) = (self.course.simulation.steps(), self.course.simulation.time_step().value);
        let mut until = Until::new(self.scene.condition(text)?, steps, time_step);
        for probe in 0..self.columns.len() {
            for line in self.course.outputs.kept_lines(probe) {
                until.take_line(probe, line);
            }
        }
        Ok(until)
    }

    /// The lines of a probe so far: names of the columns with units, the time first, and the values of each line. `None` for an unknown name.
    pub fn probe(&self, name: &str) -> Option<(&[String], &[Vec<f64>])> {
        let index = self.scene.probes.iter().position(|probe| probe.name == name)?;
        Some((&self.columns[index], self.course.outputs.kept_lines(index)))
    }

    /// The events since the last call: stages, notices, and changes by the program.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Makes a change, which acts from the next step on. It is an event, and a resume repeats it. Gravity, and velocities of walls that do not turn, are
    /// not set again if they are exactly as they should be.
    ///
    /// # Errors
    /// If it names something that the scene does not have, a number is not finite, or the simulation refuses it.
    pub fn change(&mut self, change: UserChange) -> Result<(), RunError> {
        if change.is_in_effect(&self.scene, &mut self.course)? {
            return Ok(());
        }
        let lasting = change.apply(&self.scene, &mut self.course)?;
        let steps = self.course.simulation.steps();
        for one in lasting {
            let replaces = match &one {
                // A program may move a wall at every step, and a checkpoint need not have all of these motions.
                SurroundingsChange::Motion { wall, .. } => self.course.simulation.keep_start_of_wall(*wall),
                _ => true,
            };
            self.course.stage_runner.record_user_change(steps, one, replaces);
        }
        self.note(change.to_string());
        Ok(())
    }

    /// Adds grains with their velocities at this time. Their ids must be new, see [`Simulation::next_id`].
    ///
    /// # Errors
    /// As [`Simulation::insert`].
    pub fn insert(&mut self, grains: &Grains) -> Result<(), RunError> {
        self.course.simulation.insert(grains)?;
        self.note(format!("{} grains are added", grains.len()));
        Ok(())
    }

    /// Removes grains, and each body that carries one of them, as a whole. Unknown ids are ignored.
    ///
    /// # Errors
    /// As [`Simulation::remove`].
    pub fn remove(&mut self, ids: &[u32]) -> Result<(), RunError> {
        let before = self.course.simulation.len();
        self.course.simulation.remove(ids)?;
        self.note(format!("{} grains are removed", before - self.course.simulation.len()));
        Ok(())
    }

    fn note(&mut self, text: String) {
        let (time, steps) = (self.course.simulation.time(), self.course.simulation.steps());
        self.events.push(Event::UserAction { text, time, steps });
    }

    /// BLAKE3 of the state of simulation, events and probes. Without changes by the program it is that of a run's checkpoint at this step.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn digest(&mut self) -> Result<String, RunError> {
        let mut state = State::default();
        self.course.save_to(&mut state).map_err(stopped)?;
        Ok(checkpoint::digest(&state))
    }
}
