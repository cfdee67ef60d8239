//! The course of a scene: its steps, with the stages, inlets and zones that act between them and the outputs that are due.

use super::Event;
use super::error::Halt;
use super::outputs::{Needs, Outputs, Taken};
use super::stage_runner::StageRunner;
use seixo_engine::state::Sections;
use seixo_engine::{Simulation, StepError, WorldError};
use std::time::Instant;

/// A simulation with the events and outputs of its scene.
pub(super) struct Course {
    pub simulation: Simulation,
    pub stage_runner: StageRunner,
    pub outputs: Outputs,
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
        if !self.is_due() {
            let ((), advanced) = self.simulation.advance_while(count, |_| meanwhile());
            return advanced.map(|()| None).map_err(Halt::from);
        }
        let clock = Instant::now();
        let taken = self.take_needed()?;
        let (outputs, stage_runner) = (&mut self.outputs, &mut self.stage_runner);
        let mut seconds = 0.0;
        let (written, advanced) = self.simulation.advance_while(count, |simulation| {
            meanwhile();
            let written = outputs.write_due(simulation, taken, |probe, line| {
                stage_runner.take_line(probe, line);
                hear(probe, line);
            });
            seconds = clock.elapsed().as_secs_f64();
            written
        });
        written?;
        advanced?;
        Ok(Some(seconds))
    }

    /// Takes what the outputs that are due now need before the simulation goes on. A download of all grains from a GPU takes as long as many steps.
    fn take_needed(&mut self) -> Result<Taken, Halt> {
        let mut taken = Taken::default();
        let needs = self.outputs.needs(self.simulation.steps());
        let requests = matches!(needs, Needs::Grains(_)) && self.simulation.can_request_grains();
        if requests {
            // Before the copies are made: those of two frames need memory enough.
            self.outputs.wait_for_room()?;
        }
        let clock = Instant::now();
        match needs {
            Needs::Ledger => self.simulation.observe_ledger()?,
            Needs::Grains(columns) if requests => taken.grains = self.simulation.request_grains(columns)?,
            Needs::Grains(_) => self.simulation.observe()?,
            Needs::Everything => {
                self.simulation.observe()?;
                if self.outputs.needs_contacts(self.simulation.steps()) {
                    // Before the GPU continues, as it changes the contact history.
                    taken.contacts = self.simulation.contacts_now()?;
                }
            }
        }
        taken.seconds = clock.elapsed().as_secs_f64();
        Ok(taken)
    }

    /// Adds the state of simulation, outputs and events to a checkpoint.
    pub fn save_to(&mut self, to: &mut dyn Sections) -> Result<(), StepError> {
        self.simulation.save_to(to)?;
        self.outputs.save(to);
        self.stage_runner.save(to);
        Ok(())
    }
}
