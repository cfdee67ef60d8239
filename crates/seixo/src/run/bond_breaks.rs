//! The table of broken bonds.

use super::folder::BREAKS;
use super::outputs::{Marks, table};
use seixo_engine::world::Bonds;
use seixo_engine::{BondBreak, Simulation};
use seixo_files::FilesError;
use seixo_files::layer::FileLayer;
use seixo_files::table::Table;
use seixo_laws::bond::BreakMode;
use std::path::Path;

/// Table with a line for each broken bond, in the order of breaking. The names of the columns give the numbers of kinds and modes.
pub(super) struct BondBreakTable {
    table: Table,
}

impl BondBreakTable {
    /// Opens the table of a new run, or of a run that resumes from the marks of a checkpoint; `None` for a run without bonds.
    pub fn open((layer, folder): (&dyn FileLayer, &Path), kinds: &[Bonds], marks: &Marks) -> Result<Option<BondBreakTable>, FilesError> {
        if kinds.is_empty() {
            return Ok(None);
        }
        let numbered = |names: &mut dyn Iterator<Item = &str>| {
            let names: Vec<String> = names.enumerate().map(|(number, name)| format!("{number} {name}")).collect();
            names.join("; ")
        };
        let kind = format!("kind ({})", numbered(&mut kinds.iter().map(|kind| kind.name.as_str())));
        let mode = format!("mode ({})", numbered(&mut BreakMode::ALL.iter().map(|mode| mode.keyword())));
        let columns = ["first", "second", "x [m]", "y [m]", "z [m]", "energy [J]", &kind, &mode];
        let table = table(layer, &folder.join(BREAKS), &columns, marks.get(BREAKS))?;
        Ok(Some(BondBreakTable { table }))
    }

    /// Writes the bonds that broke since the last call.
    pub fn write(&mut self, simulation: &mut Simulation) -> Result<(), FilesError> {
        for BondBreak {
            time,
            kind,
            grains,
            place,
            mode,
            energy,
        } in simulation.drain_bond_breaks()
        {
            let mode = BreakMode::ALL.iter().position(|other| *other == mode).unwrap_or(0);
            let [first, second] = grains.map(f64::from);
            let line = [
                time,
                first,
                second,
                place[0],
                place[1],
                place[2],
                energy,
                f64::from(kind),
                mode as f64,
            ];
            self.table.row(&line)?;
        }
        Ok(())
    }

    /// Records the length of the table.
    pub fn mark(&mut self, marks: &mut Marks) -> Result<(), FilesError> {
        marks.insert(BREAKS.to_owned(), self.table.mark()?);
        Ok(())
    }
}
