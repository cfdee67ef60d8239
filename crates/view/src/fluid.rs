//! Fluids beside the grains of a frame: particles as balls, or their free surface.

use std::path::Path;
use std::time::SystemTime;

use glam::DVec3;
use seixo_analysis::{SurfaceOptions, free_surface};
use seixo_files::vtk::{VtkFluid, VtkPoints, read_fluid, read_grains};

use crate::{ViewError, picture::beside};

/// What a frame consists of.
pub struct Balls {
    /// Grains, and behind them particles of fluids, whose radius is half their spacing, or the vertices of their surface instead.
    pub points: VtkPoints,
    /// How many of them are grains.
    pub grains: usize,
    /// How many particles of fluids there are.
    pub particles: usize,
    /// Triangles of the surface: for each corner its place among the points, and its normal.
    pub surface: Vec<[(usize, DVec3); 3]>,
}

/// When the files of grains and of fluids were written, and their bytes; `None` of one that is not there.
pub type Stamp = [Option<(SystemTime, u64)>; 2];

impl Balls {
    /// What tells other tables from those of now, of the frame that has this file.
    pub fn stamp(file: &Path) -> Stamp {
        ["grains", "fluid"].map(|kind| {
            let known = beside(file, kind).metadata().ok()?;
            Some((known.modified().ok()?, known.len()))
        })
    }

    /// Those of the frame that has this file.
    pub fn read(file: &Path) -> Result<Balls, ViewError> {
        let path = beside(file, "fluid");
        let fluid = path.exists().then(|| read_fluid(&path)).transpose()?;
        let particles = fluid.as_ref().map_or(0, |fluid| fluid.particles.id.len());
        Balls::of(file, fluid.map(VtkFluid::points), particles)
    }

    /// Those of the frame that has this file, with the surface of its fluids.
    pub fn with_surface(file: &Path) -> Result<Balls, ViewError> {
        let path = beside(file, "fluid");
        if !path.exists() {
            return Err(ViewError::NoFluid { path });
        }
        let fluid = read_fluid(&path)?;
        let found = free_surface(&fluid.particles, fluid.spacing, &fluid.cell, &SurfaceOptions::default());
        let surface = found.map_err(|source| ViewError::Surface { path, source })?;
        let particles = fluid.particles.id.len();
        // A vertex is a point, where a particle is a ball.
        let vertices = VtkFluid {
            time: fluid.time,
            spacing: 0.0,
            cell: fluid.cell,
            particles: surface.vertices,
        };
        let mut balls = Balls::of(file, Some(vertices.points()), particles)?;
        let (first, normals) = (balls.grains, surface.normals);
        let corner = |vertex: u32| (first + vertex as usize, DVec3::from(normals[vertex as usize]));
        balls.surface = surface.triangles.iter().map(|triangle| triangle.map(corner)).collect();
        Ok(balls)
    }

    /// The grains beside a file, and these points behind them.
    fn of(file: &Path, fluid: Option<VtkPoints>, particles: usize) -> Result<Balls, ViewError> {
        let path = beside(file, "grains");
        let grains = path.exists().then(|| read_grains(&path)).transpose()?;
        Ok(Balls::joined(grains, fluid, particles))
    }

    /// Grains and fluids as they are in a simulation.
    pub fn of_both(grains: Option<VtkPoints>, fluid: Option<VtkFluid>) -> Balls {
        let particles = fluid.as_ref().map_or(0, |fluid| fluid.particles.id.len());
        Balls::joined(grains, fluid.map(VtkFluid::points), particles)
    }

    fn joined(grains: Option<VtkPoints>, fluid: Option<VtkPoints>, particles: usize) -> Balls {
        Balls {
            grains: grains.as_ref().map_or(0, |grains| grains.id.len()),
            points: match (grains, fluid) {
                (Some(grains), Some(fluid)) => joined(grains, fluid),
                (grains, fluid) => grains.or(fluid).unwrap_or_default(),
            },
            particles,
            surface: Vec::new(),
        }
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
