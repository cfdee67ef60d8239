//! The table of grains that entered through inlets and were removed by zones.

use super::folder::EXCHANGE;
use super::outputs::{Marks, table};
use super::schedule::Schedule;
use super::stage_runner::StageRunner;
use seixo_files::FilesError;
use seixo_files::layer::FileLayer;
use seixo_files::table::Table;
use std::path::Path;

/// Table of the number and mass of grains that entered and left since the start, over time.
pub(super) struct Exchange {
    table: Table,
    schedule: Schedule,
}

impl Exchange {
    /// Opens the table of a new run, or of a run that resumes at this step from the marks of a checkpoint; `None` for a run without inlets and zones.
    pub fn open(
        (layer, folder): (&dyn FileLayer, &Path),
        stage_runner: &StageRunner,
        every: f64,
        time_step: f64,
        (marks, step): (&Marks, u64),
    ) -> Result<Option<Exchange>, FilesError> {
        let columns = stage_runner.exchanges();
        if columns.is_empty() {
            return Ok(None);
        }
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mark = marks.get(EXCHANGE);
        let mut schedule = Schedule::new(every, time_step);
        if mark.is_some() {
            schedule.pass(step);
        }
        let table = table(layer, &folder.join(EXCHANGE), &columns, mark)?;
        Ok(Some(Exchange { table, schedule }))
    }

    /// Returns the first step after this one at which a line is due.
    pub fn next_step_after(&self, step: u64) -> u64 {
        self.schedule.step_after(step)
    }

    /// Writes a line if one is due.
    pub fn write_due(&mut self, stage_runner: &StageRunner, step: u64, time: f64) -> Result<(), FilesError> {
        if !self.schedule.is_due(step) {
            return Ok(());
        }
        self.schedule.pass(step);
        self.table.row(&[vec![time], stage_runner.exchanged()].concat())
    }

    /// Records the length of the table.
    pub fn mark(&mut self, marks: &mut Marks) -> Result<(), FilesError> {
        marks.insert(EXCHANGE.to_owned(), self.table.mark()?);
        Ok(())
    }
}
