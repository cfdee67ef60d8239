//! Meshes of files with the unit, size, orientation and position that a scene gives them.

use crate::{
    diagnostics::UnlocatedDiagnostic,
    fill::si,
    quantity::Length,
    schema::{Turn, Vector},
    vocabulary::{LengthUnit, Scale},
    walls::unit,
};
use glam::{DMat3, DVec3};
use seixo_engine::world::{Triangle, Vec3};
use std::path::Path;

/// Component of a rotation that is only rounding error: with it a quarter turn maps axes exactly onto axes.
const ROUNDING: f64 = 1e-15;

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// Meters per length of a file.
///
/// # Errors
/// If both keys give a unit.
pub(crate) fn meters(length_unit: Option<&LengthUnit>, scale: Option<&Scale>) -> Result<f64, At> {
    let scale = scale.copied().unwrap_or_default();
    if length_unit.is_some() && scale.is_unit {
        let complaint = UnlocatedDiagnostic::new("`unit` and `scale` both give the unit of the lengths");
        return Err((
            "scale",
            complaint.remedy("keep `unit`; beside it `scale` is a factor, as in scale = 2"),
        ));
    }
    Ok(scale.factor * length_unit.map_or(1.0, |length_unit| length_unit.meters))
}

/// From the coordinates of a file to those of the scene: scaled, then rotated about the origin of the file, then moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeshPlacement {
    /// Meters per length of the file.
    factor: f64,
    rotation: Option<DMat3>,
    /// Displacement \[m\].
    shift: Option<Vec3>,
}

impl MeshPlacement {
    /// The placement without rotation and displacement; `factor` is in meters per length of the file.
    pub fn scaled(factor: f64) -> MeshPlacement {
        MeshPlacement {
            factor,
            rotation: None,
            shift: None,
        }
    }

    /// The placement by these keys of a section.
    ///
    /// # Errors
    /// If `unit` and `scale` both give a unit, or the axis of the rotation has no direction.
    pub fn new(
        length_unit: Option<&LengthUnit>,
        scale: Option<&Scale>,
        rotate: Option<&Turn>,
        shift: Option<&Vector<Length>>,
    ) -> Result<MeshPlacement, At> {
        let rotation = rotate.map(rotation).transpose();
        Ok(MeshPlacement {
            factor: meters(length_unit, scale)?,
            rotation: rotation.map_err(|complaint| ("rotate.axis", complaint))?,
            shift: shift.map(si),
        })
    }

    fn place(&self, corner: &mut Vec3) {
        corner.iter_mut().for_each(|coordinate| *coordinate *= self.factor);
        if let Some(rotation) = self.rotation {
            *corner = (rotation * DVec3::from(*corner)).to_array();
        }
        if let Some(shift) = self.shift {
            corner.iter_mut().zip(shift).for_each(|(coordinate, by)| *coordinate += by);
        }
    }
}

fn rotation(turn: &Turn) -> Result<DMat3, UnlocatedDiagnostic> {
    let matrix = DMat3::from_axis_angle(unit(&turn.axis)?.into(), turn.angle.si);
    let exact = |x: f64| if (x - x.round()).abs() < ROUNDING { x.round() } else { x };
    Ok(DMat3::from_cols_array(&matrix.to_cols_array().map(exact)))
}

/// The triangles of a file, placed \[m\].
///
/// # Errors
/// If the file is no mesh, or its size is beyond what a double can hold.
pub(crate) fn placed_mesh(file: &Path, placement: &MeshPlacement) -> Result<Vec<Triangle>, UnlocatedDiagnostic> {
    let mut triangles = seixo_files::mesh_in::read(file).map_err(|error| UnlocatedDiagnostic::of_file(&error))?;
    triangles.iter_mut().flatten().for_each(|corner| placement.place(corner));
    if triangles.iter().flatten().flatten().any(|coordinate| !coordinate.is_finite()) {
        let factor = placement.factor;
        return Err(
            UnlocatedDiagnostic::new(format!("scaled by {factor}, the mesh is beyond what a double can hold"))
                .remedy("use a smaller `scale`"),
        );
    }
    Ok(triangles)
}
