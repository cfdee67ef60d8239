//! Particles of fluids as points.

use super::read::{count_of, find, read, single, time, vectors};
use super::{Document, Values, VtkPoints};
use crate::FilesError;
use seixo_engine::state::FluidSnapshot;
use std::path::Path;

/// Arrays of a file beside id and position, with how many numbers of each a particle has.
const ARRAYS: [(&str, usize); 4] = [("pressure", 1), ("density", 1), ("velocity", 3), ("fluid", 1)];

/// The fluids at one time \[s\] as a `.vtp`: a point for each particle with its id, the index of its fluid, its velocity \[m/s\], density \[kg/m³\]
/// and pressure \[Pa\], and the distance of particles at rest \[m\] for all.
pub fn fluid(snapshot: &FluidSnapshot, spacing: f64, time: f64) -> Vec<u8> {
    let of_all = format!("<DataArray type=\"Float64\" Name=\"spacing\" NumberOfTuples=\"1\" format=\"ascii\">{spacing:?}</DataArray>\n");
    let count = snapshot.id.len();
    let mut document = Document::new(time, &of_all, count, &format!(r#"NumberOfVerts="{count}""#));
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

/// Reads a file that [`fluid`] made: as grains whose radius is half the distance of particles at rest.
pub fn read_fluid(path: &Path) -> Result<VtkPoints, FilesError> {
    read(path, |text| {
        let count = count_of(text, "NumberOfPoints", "points")?;
        let spacing = single(text, "spacing", "spacing")?;
        let values = |name: &str, components: usize| find(text, name)?.values(count, components);
        let mut scalars = Vec::new();
        for (name, components) in ARRAYS {
            scalars.push((name.to_owned(), values(name, components)?, components));
        }
        Ok(VtkPoints {
            time: time(text)?,
            position: vectors(values("position", 3)?),
            radius: vec![0.5 * spacing; count],
            id: values("id", 1)?.into_iter().map(|id| id as u32).collect(),
            scalars,
        })
    })
}
