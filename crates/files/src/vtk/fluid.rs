//! Particles of fluids as points.

use super::cell::{cell_in, of_file, sides_of};
use super::read::{count_of, find, read, single, time, vectors};
use super::{ArrayStore, Document, Format, Values, VtkPoints};
use crate::FilesError;
use seixo_engine::PeriodicCell;
use seixo_engine::state::FluidSnapshot;
use std::path::Path;

/// The fluids at one time \[s\] as a `.vtp`: a point for each particle with its id, the index of its fluid, its velocity \[m/s\], density \[kg/m³\]
/// and pressure \[Pa\], and the distance of particles at rest \[m\] for all. Along periodic axes the lower sides of the cell, and how long it is \[m\], go
/// with them.
pub fn fluid(snapshot: &FluidSnapshot, spacing: f64, cell: &PeriodicCell, time: f64) -> Vec<u8> {
    Format::default().fluid(snapshot, spacing, cell, time)
}

impl Format {
    /// As [`fluid`], in this format.
    pub fn fluid(self, snapshot: &FluidSnapshot, spacing: f64, cell: &PeriodicCell, time: f64) -> Vec<u8> {
        let of_all = of_file("spacing", spacing) + &sides_of(cell);
        let count = snapshot.id.len();
        let mut document = Document::new(
            ArrayStore::new(self),
            (time, &of_all),
            count,
            &format!(r#"NumberOfVerts="{count}""#),
        );
        let arrays = [
            ("pressure", Values::Scalars32(&snapshot.pressure)),
            ("density", Values::Scalars32(&snapshot.density)),
            ("velocity", Values::Vectors32(&snapshot.velocity)),
            ("fluid", Values::Integers(&snapshot.kind)),
            ("id", Values::Integers(&snapshot.id)),
        ];
        document.vertices(&arrays, &snapshot.position);
        document.finish()
    }
}

/// Fluids of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VtkFluid {
    /// Time \[s\].
    pub time: f64,
    /// Distance of particles at rest \[m\].
    pub spacing: f64,
    /// The cell that they are in.
    pub cell: PeriodicCell,
    /// The particles.
    pub particles: FluidSnapshot,
}

impl VtkFluid {
    /// As grains whose radius is half the distance of particles at rest.
    pub fn points(self) -> VtkPoints {
        let FluidSnapshot {
            id,
            kind,
            position,
            velocity,
            density,
            pressure,
        } = self.particles;
        let scalars = [
            ("pressure", pressure, 1),
            ("density", density, 1),
            ("velocity", velocity.into_flattened(), 3),
            ("fluid", kind.into_iter().map(f64::from).collect(), 1),
        ];
        VtkPoints {
            time: self.time,
            radius: vec![0.5 * self.spacing; id.len()],
            position,
            id,
            scalars: scalars.map(|(name, values, width)| (name.to_owned(), values, width)).into(),
        }
    }
}

/// Reads a file that [`fluid`] made.
pub fn read_fluid(path: &Path) -> Result<VtkFluid, FilesError> {
    read(path, |content| {
        let count = count_of(content.text, "NumberOfPoints", "points")?;
        let values = |name: &str, components: usize| find(content, name)?.values(count, components);
        let whole = |name: &str| -> Result<Vec<u32>, String> { Ok(values(name, 1)?.into_iter().map(|number| number as u32).collect()) };
        Ok(VtkFluid {
            cell: cell_in(content.text)?,
            time: time(content)?,
            spacing: single(content, "spacing", "spacing")?,
            particles: FluidSnapshot {
                id: whole("id")?,
                kind: whole("fluid")?,
                position: vectors(values("position", 3)?),
                velocity: vectors(values("velocity", 3)?),
                density: values("density", 1)?,
                pressure: values("pressure", 1)?,
            },
        })
    })
}
