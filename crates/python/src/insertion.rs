//! Grains that Python adds.

use crate::errors;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use seixo::engine::state::GrainScalar;
use seixo::engine::world::Grains;
use std::collections::BTreeMap;

/// Grains that come, as columns of the same length.
pub struct Newcomers {
    /// Centers \[m\].
    pub position: Vec<[f64; 3]>,
    /// Radii \[m\].
    pub radius: Vec<f64>,
    /// Velocities \[m/s\].
    pub velocity: Vec<[f64; 3]>,
    /// Angular velocities \[rad/s\].
    pub angular_velocity: Vec<[f64; 3]>,
    /// Indices of materials.
    pub material: Vec<u32>,
    /// Indices of groups.
    pub group: Vec<u32>,
    /// Ids, if they are given.
    pub id: Option<Vec<u32>>,
    /// Masses, if they are given \[kg\].
    pub mass: Option<Vec<f64>>,
    /// Scalars that they carry.
    pub scalars: Vec<(GrainScalar, Vec<f64>)>,
}

impl Newcomers {
    /// The table of these grains; without ids of their own, they get those from the next free one on. `None` if too few are left.
    pub fn grains(self, next_id: u64) -> Option<Grains> {
        let id = match self.id {
            Some(id) => id,
            None => (next_id..)
                .take(self.radius.len())
                .map(|id| u32::try_from(id).ok())
                .collect::<Option<Vec<u32>>>()?,
        };
        let masses: BTreeMap<u32, f64> = self.mass.map(|mass| id.iter().copied().zip(mass).collect()).unwrap_or_default();
        let mut grains = Grains {
            id,
            position: self.position,
            velocity: self.velocity,
            angular_velocity: self.angular_velocity,
            radius: self.radius,
            material: self.material,
            group: self.group,
            masses,
            ..Grains::default()
        };
        for (scalar, values) in self.scalars {
            grains.scalars[scalar] = values;
        }
        Some(grains)
    }
}

/// The values of an array.
pub fn column<T: Element + Copy>(array: &PyReadonlyArray1<'_, T>) -> PyResult<Vec<T>> {
    Ok(array.as_slice()?.to_vec())
}

/// The rows of an array of vectors.
pub fn rows(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<[f64; 3]>> {
    let (rows, rest) = array.as_slice()?.as_chunks::<3>();
    if rest.is_empty() {
        Ok(rows.to_vec())
    } else {
        Err(errors::wrong("an array of vectors must have three columns".to_owned()))
    }
}

/// Scalars by their names.
pub fn scalars(named: &Bound<'_, PyDict>) -> PyResult<Vec<(GrainScalar, Vec<f64>)>> {
    let mut scalars = Vec::new();
    for (name, values) in named.iter() {
        let name: String = name.extract()?;
        let values: PyReadonlyArray1<'_, f64> = values.extract()?;
        let scalar = GrainScalar::named(&name).ok_or_else(|| {
            let known = GrainScalar::ALL.map(GrainScalar::name).join(", ");
            errors::wrong(format!("grains carry no scalar `{name}`; known are {known}"))
        })?;
        scalars.push((scalar, column(&values)?));
    }
    Ok(scalars)
}
