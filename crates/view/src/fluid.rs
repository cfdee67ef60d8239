//! Fluids of a frame beside its grains: particles as balls, or their free surface.

use std::path::Path;
use std::time::SystemTime;

use glam::DVec3;
use seixo_analysis::{SurfaceOptions, free_surface};
use seixo_files::vtk::{VtkFluid, VtkPoints, read_fluid, read_grains};

use crate::{ViewError, picture::beside};

/// The spheres of a frame.
pub struct SphereSet {
    /// Grains, followed by fluid particles, whose radius is half their spacing, or by the vertices of the fluid surface instead.
    pub points: VtkPoints,
    /// Number of grains.
    pub grains: usize,
    /// Number of fluid particles.
    pub particles: usize,
    /// Triangles of the surface: for each corner its index among the points, and its normal.
    pub surface: Vec<[(usize, DVec3); 3]>,
}

/// Modification times and sizes \[bytes\] of the files of grains and fluids; `None` for a missing file.
pub type Stamp = [Option<(SystemTime, u64)>; 2];

impl SphereSet {
    /// Stamp of the frame with this file. It changes when the tables change.
    pub fn stamp(file: &Path) -> Stamp {
        ["grains", "fluid"].map(|kind| {
            let known = beside(file, kind).metadata().ok()?;
            Some((known.modified().ok()?, known.len()))
        })
    }

    /// Reads the frame with this file.
    pub fn read(file: &Path) -> Result<SphereSet, ViewError> {
        let path = beside(file, "fluid");
        let fluid = path.exists().then(|| read_fluid(&path)).transpose()?;
        let particles = fluid.as_ref().map_or(0, |fluid| fluid.particles.id.len());
        SphereSet::of(file, fluid.map(VtkFluid::points), particles)
    }

    /// Reads the frame with this file, with the surface of its fluids.
    pub fn with_surface(file: &Path) -> Result<SphereSet, ViewError> {
        let path = beside(file, "fluid");
        if !path.exists() {
            return Err(ViewError::NoFluid { path });
        }
        let fluid = read_fluid(&path)?;
        let found = free_surface(&fluid.particles, fluid.spacing, &fluid.cell, &SurfaceOptions::default());
        let surface = found.map_err(|source| ViewError::Surface { path, source })?;
        let particles = fluid.particles.id.len();
        // A vertex is a point of radius 0, while a particle is a ball.
        let vertices = VtkFluid {
            time: fluid.time,
            spacing: 0.0,
            cell: fluid.cell,
            particles: surface.vertices,
        };
        let mut balls = SphereSet::of(file, Some(vertices.points()), particles)?;
        let (first, normals) = (balls.grains, surface.normals);
        let corner = |vertex: u32| (first + vertex as usize, DVec3::from(normals[vertex as usize]));
        balls.surface = surface.triangles.iter().map(|triangle| triangle.map(corner)).collect();
        Ok(balls)
    }

    /// The grains of the frame with this file, followed by these points.
    fn of(file: &Path, fluid: Option<VtkPoints>, particles: usize) -> Result<SphereSet, ViewError> {
        let path = beside(file, "grains");
        let grains = path.exists().then(|| read_grains(&path)).transpose()?;
        Ok(SphereSet::joined(grains, fluid, particles))
    }

    /// Grains and fluids of a simulation.
    pub fn of_both(grains: Option<VtkPoints>, fluid: Option<VtkFluid>) -> SphereSet {
        let particles = fluid.as_ref().map_or(0, |fluid| fluid.particles.id.len());
        SphereSet::joined(grains, fluid.map(VtkFluid::points), particles)
    }

    fn joined(grains: Option<VtkPoints>, fluid: Option<VtkPoints>, particles: usize) -> SphereSet {
        SphereSet {
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

/// Grains and fluid particles in one table. Where one kind lacks a field of the other, its values are NaN.
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
