//! The table of bonds that broke.

use super::folder::BREAKS;
use super::outputs::{Marks, table};
use seixo_engine::world::Bonds;
use seixo_engine::{Break, Simulation};
use seixo_files::FilesError;
use seixo_files::layer::FileLayer;
use seixo_files::table::Table;
use seixo_laws::bond::BreakMode;
use std::path::Path;

/// A line for every bond that broke, in the order in which they did. Kinds and modes are numbered as the columns' names say.
pub(super) struct Breaks {
    table: Table,
}

impl Breaks {
    /// The table of a run that starts, or goes on from the marks of a checkpoint; none for a run without bonds.
    pub fn open((layer, folder): (&dyn FileLayer, &Path), kinds: &[Bonds], marks: &Marks) -> Result<Option<Breaks>, FilesError> {
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
        Ok(Some(Breaks { table }))
    }

    /// Writes what broke since it was last asked.
    pub fn write(&mut self, simulation: &mut Simulation) -> Result<(), FilesError> {
        for Break {
            time,
            kind,
            grains,
            place,
            mode,
            energy,
        } in simulation.take_breaks()
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

    /// Notes how far the table is written.
    pub fn mark(&mut self, marks: &mut Marks) -> Result<(), FilesError> {
        marks.insert(BREAKS.to_owned(), self.table.mark()?);
        Ok(())
    }
}
