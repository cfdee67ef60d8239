//! The course of a scene: its steps, with the stages, inlets and zones that act between them and the outputs that are due.

use super::Event;
use super::outputs::Outputs;
use super::stage_runner::StageRunner;
use seixo_engine::state::Sections;
use seixo_engine::{Simulation, StepError, WorldError};
use seixo_files::FilesError;
use std::time::Instant;

/// A simulation with the events and outputs of its scene.
pub(super) struct Course {
    pub simulation: Simulation,
    pub stage_runner: StageRunner,
    pub outputs: Outputs,
}

/// Reason why steps or outputs failed.
pub(super) enum Halt {
    Step(Box<StepError>),
    Files(FilesError),
}

impl Course {
    /// Performs the actions that are due at this step; the following code sees the simulation after them. Returns the events for the log.
    pub fn happen(&mut self) -> Result<Vec<Event>, WorldError> {
        let reported = self.stage_runner.happen(&mut self.simulation)?;
        if reported.iter().any(|event| matches!(event, Event::StageBegan { .. })) {
            let begun = self.stage_runner.stages().count();
            self.outputs.begin_stage(begun - 1, self.simulation.steps());
        }
        Ok(reported)
    }

    /// Returns the first step after this one at which an action or an output may be due.
    pub fn next_step_after(&mut self, step: u64) -> u64 {
        self.outputs.next_step_after(step).min(self.stage_runner.next_step_after(step))
    }

    /// Whether an output is due now.
    pub fn is_due(&mut self) -> bool {
        self.outputs.is_due(self.simulation.steps())
    }

    /// Takes `count` steps, and writes the outputs meanwhile that are due now; before them it runs `meanwhile`, while a GPU computes. `hear` gets the
    /// index and the line of each probe. Returns the time for outputs \[s\]; `None` if none were due.
    pub fn advance(&mut self, count: u64, meanwhile: impl FnOnce(), mut hear: impl FnMut(usize, &[f64])) -> Result<Option<f64>, Halt> {
        let stopped = |stop: StepError| Halt::Step(Box::new(stop));
        if !self.is_due() {
            let ((), advanced) = self.simulation.advance_while(count, |_| meanwhile());
            return advanced.map(|()| None).map_err(stopped);
        }
        let clock = Instant::now();
        // A download of the grains from a GPU takes as long as many steps, so it happens only if outputs are due.
        self.simulation.observe().map_err(stopped)?;
        // Before the GPU continues, as it changes the contact history.
        let contacts = if self.outputs.needs_contacts(self.simulation.steps()) {
            self.simulation.contacts_now().map_err(stopped)?
        } else {
            Vec::new()
        };
        let fetched = clock.elapsed().as_secs_f64();
        let (outputs, stage_runner) = (&mut self.outputs, &mut self.stage_runner);
        let mut seconds = 0.0;
        let (written, advanced) = self.simulation.advance_while(count, |simulation| {
            meanwhile();
            let written = outputs.write_due(simulation, (contacts, fetched), |probe, line| {
                stage_runner.take_line(probe, line);
                hear(probe, line);
            });
            seconds = clock.elapsed().as_secs_f64();
            written
        });
        written.map_err(Halt::Files)?;
        advanced.map_err(stopped)?;
        Ok(Some(seconds))
    }

    /// Adds the state of simulation, outputs and events to a checkpoint.
    pub fn save_to(&mut self, to: &mut dyn Sections) -> Result<(), StepError> {
        self.simulation.save_to(to)?;
        self.outputs.save(to);
        self.stage_runner.save(to);
        Ok(())
    }
}
