//! Particles of fluids as balls, beside the grains of a frame.

use std::path::Path;

use seixo_files::vtk::{VtkPoints, read_fluid, read_grains};

use crate::{ViewError, picture::beside};

/// The balls of a frame.
pub struct Balls {
    /// Grains, and behind them particles of fluids, whose radius is half their spacing.
    pub points: VtkPoints,
    /// How many of them are particles of fluids.
    pub particles: usize,
}

impl Balls {
    /// Those of the frame that has this file.
    pub fn read(file: &Path) -> Result<Balls, ViewError> {
        let [grains, fluid] = ["grains", "fluid"].map(|kind| beside(file, kind));
        let grains = grains.exists().then(|| read_grains(&grains)).transpose()?;
        let fluid = fluid.exists().then(|| read_fluid(&fluid)).transpose()?;
        let particles = fluid.as_ref().map_or(0, |fluid| fluid.id.len());
        let points = match (grains, fluid) {
            (Some(grains), Some(fluid)) => joined(grains, fluid),
            (grains, fluid) => grains.or(fluid).unwrap_or_default(),
        };
        Ok(Balls { points, particles })
    }
}

/// Grains and particles of fluids in one table; a field that the ones have is not a number for the others if they lack it.
fn joined(mut grains: VtkPoints, fluid: VtkPoints) -> VtkPoints {
    let counts = [grains.id.len(), fluid.id.len()];
    for (name, values, width) in &mut grains.scalars {
        let same = fluid
            .scalars
            .iter()
            .find(|(known, _, numbers)| *known == *name && *numbers == *width);
        match same {
            Some((_, more, _)) => values.extend(more),
            None => values.resize((counts[0] + counts[1]) * *width, f64::NAN),
        }
    }
    for (name, values, width) in fluid.scalars {
        if grains.scalars.iter().all(|(known, ..)| *known != name) {
            let lacking = vec![f64::NAN; counts[0] * width];
            grains.scalars.push((name, [lacking, values].concat(), width));
        }
    }
    grains.position.extend(fluid.position);
    grains.radius.extend(fluid.radius);
    grains.id.extend(fluid.id);
    grains
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_ones_have_is_not_a_number_for_the_others() {
        let points = |ids: &[u32], scalars: &[(&str, usize)]| VtkPoints {
            time: 0.5,
            position: ids.iter().map(|&id| [f64::from(id), 0.0, 0.0]).collect(),
            radius: vec![0.1; ids.len()],
            id: ids.to_vec(),
            scalars: scalars
                .iter()
                .map(|&(name, width)| (name.to_owned(), vec![2.0; ids.len() * width], width))
                .collect(),
        };
        let all = joined(
            points(&[7, 8], &[("velocity", 3), ("group", 1)]),
            points(&[0, 1, 2], &[("velocity", 3), ("density", 1)]),
        );
        assert_eq!(
            (all.id.as_slice(), all.radius.len(), all.position[4][0]),
            (&[7, 8, 0, 1, 2][..], 5, 2.0)
        );
        let numbers = |name: &str| {
            let (_, values, _) = all.scalars.iter().find(|(known, ..)| known == name).unwrap();
            values.iter().map(|value| value.is_finite()).collect::<Vec<_>>()
        };
        assert_eq!(numbers("velocity"), [true; 15]);
        assert_eq!(numbers("group"), [true, true, false, false, false]);
        assert_eq!(numbers("density"), [false, false, true, true, true]);
    }
}
