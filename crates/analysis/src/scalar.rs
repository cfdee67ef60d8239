//! What of coarse-grained fields is one number at every point, by a word for it.

use crate::coarse::CoarseFields;
use crate::tensor::deviatoric;
use glam::DMat3;
use std::str::FromStr;

/// A number at every point of coarse-grained fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Volume of grains per volume \[-\].
    SolidFraction,
    /// Mass per volume \[kg/m³\].
    Density,
    /// Length of the mean velocity \[m/s\].
    Speed,
    /// A component of the mean velocity \[m/s\], by its axis.
    Velocity(usize),
    /// Granular temperature \[m²/s²\].
    Temperature,
    /// A third of the trace of the stress \[Pa\].
    Pressure,
    /// √(3/2 s:s) of the stress without its pressure \[Pa\].
    Deviatoric,
    /// A component of the symmetric part of the stress \[Pa\], by its two axes.
    Stress(usize, usize),
}

const WORDS: [(Scalar, &str); 15] = [
    (Scalar::SolidFraction, "solid_fraction"),
    (Scalar::Density, "density"),
    (Scalar::Speed, "speed"),
    (Scalar::Velocity(0), "velocity_x"),
    (Scalar::Velocity(1), "velocity_y"),
    (Scalar::Velocity(2), "velocity_z"),
    (Scalar::Temperature, "temperature"),
    (Scalar::Pressure, "pressure"),
    (Scalar::Deviatoric, "deviatoric"),
    (Scalar::Stress(0, 0), "stress_xx"),
    (Scalar::Stress(1, 1), "stress_yy"),
    (Scalar::Stress(2, 2), "stress_zz"),
    (Scalar::Stress(0, 1), "stress_xy"),
    (Scalar::Stress(0, 2), "stress_xz"),
    (Scalar::Stress(1, 2), "stress_yz"),
];

impl FromStr for Scalar {
    type Err = String;
    fn from_str(word: &str) -> Result<Scalar, String> {
        let found = WORDS.into_iter().find(|(_, known)| *known == word);
        let known = || WORDS.map(|(_, word)| word).join(", ");
        found
            .map(|(scalar, _)| scalar)
            .ok_or_else(|| format!("there is no field `{word}`; fields are {}", known()))
    }
}

impl Scalar {
    /// The word for it.
    pub fn word(self) -> &'static str {
        WORDS.iter().find(|(scalar, _)| *scalar == self).map_or("", |entry| entry.1)
    }

    /// Its unit; empty for a pure number.
    pub fn unit(self) -> &'static str {
        match self {
            Scalar::SolidFraction => "",
            Scalar::Density => "kg/m³",
            Scalar::Speed | Scalar::Velocity(_) => "m/s",
            Scalar::Temperature => "m²/s²",
            Scalar::Pressure | Scalar::Deviatoric | Scalar::Stress(..) => "Pa",
        }
    }

    /// Whether it is of contacts, too.
    pub fn needs_contacts(self) -> bool {
        matches!(self, Scalar::Pressure | Scalar::Deviatoric | Scalar::Stress(..))
    }

    /// Whether it is an amount per volume, which is zero where no grain is; all else is of the grains that are near.
    pub fn is_density(self) -> bool {
        matches!(self, Scalar::SolidFraction | Scalar::Density)
    }

    /// Its values at the points of the fields.
    pub fn values(self, fields: &CoarseFields) -> Vec<f64> {
        let velocity = |of: &dyn Fn(&[f64; 3]) -> f64| fields.velocity.iter().map(of).collect();
        let stress = |of: &dyn Fn(&DMat3) -> f64| {
            let both = fields.contact_stress.iter().zip(&fields.kinetic_stress);
            both.map(|(contact, kinetic)| of(&DMat3::from_cols_array(&std::array::from_fn(|k| contact[k] + kinetic[k]))))
                .collect()
        };
        match self {
            Scalar::SolidFraction => fields.solid_fraction.clone(),
            Scalar::Density => fields.density.clone(),
            Scalar::Speed => velocity(&|v| v.iter().map(|x| x * x).sum::<f64>().sqrt()),
            Scalar::Velocity(axis) => velocity(&|v| v[axis]),
            Scalar::Temperature => fields.temperature.clone(),
            Scalar::Pressure => fields.pressure.clone(),
            Scalar::Deviatoric => stress(&deviatoric),
            Scalar::Stress(a, b) => stress(&|tensor| 0.5 * (tensor.col(a)[b] + tensor.col(b)[a])),
        }
    }
}
