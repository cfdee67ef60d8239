//! Heat conduction of a world.

use crate::refusal::WorldError;
use crate::world::World;
use seixo_laws::contact::NormalLaw;
use seixo_laws::heat::{contact_conductivity, real_contact_radius};

/// Thermal properties of a material.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Thermal {
    /// Thermal conductivity k \[W/(m K)\]; `None` = insulator.
    pub conductivity: Option<f64>,
    /// Specific heat capacity c \[J/(kg K)\]; required for grains.
    pub specific_heat_capacity: Option<f64>,
    /// Young's modulus of the real solid \[Pa\], if that of the material is reduced. Contacts then conduct through the contact radius
    /// that the real modulus gives under the same force.
    pub real_youngs_modulus: Option<f64>,
}

/// Heat conduction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conduction {
    /// Thermal properties, by material.
    pub materials: Vec<Thermal>,
    /// Temperatures of the walls \[K\]; `None` = insulator.
    pub walls: Vec<Option<f64>>,
}

impl World {
    /// Thermal conductance per contact radius of two materials \[W/(m K)\]; zero if one is an insulator or nothing conducts.
    pub(crate) fn contact_conductivity(&self, a: usize, b: usize) -> f64 {
        let Some(conduction) = &self.conduction else { return 0.0 };
        let [of_a, of_b] = [conduction.materials[a], conduction.materials[b]];
        let (Some(k_a), Some(k_b)) = (of_a.conductivity, of_b.conductivity) else {
            return 0.0;
        };
        let modulus = |is_real: bool| {
            let compliance = |index: usize, thermal: &Thermal| {
                let material = &self.materials[index];
                let real = thermal.real_youngs_modulus.filter(|_| is_real);
                (1.0 - material.poisson_ratio.powi(2)) / real.unwrap_or(material.youngs_modulus)
            };
            1.0 / (compliance(a, &of_a) + compliance(b, &of_b))
        };
        contact_conductivity(k_a, k_b) * real_contact_radius(modulus(false), modulus(true))
    }
}

/// Checks the values of heat conduction: all that are required exist and are possible.
pub(crate) fn check_conduction(world: &World) -> Result<(), WorldError> {
    let Some(conduction) = &world.conduction else { return Ok(()) };
    let mut holds_grains = vec![false; world.materials.len()];
    let coming = world.later.grains.iter().map(|kind| kind.material);
    for material in world.grains.material.iter().copied().chain(coming) {
        holds_grains[material as usize] = true;
    }
    for (material, thermal) in world.materials.iter().zip(&conduction.materials) {
        let numbers = [
            ("thermal conductivity", thermal.conductivity),
            ("specific heat capacity", thermal.specific_heat_capacity),
            ("real Young's modulus", thermal.real_youngs_modulus),
        ];
        for (what, value) in numbers {
            if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
                return Err(WorldError::Material {
                    name: material.name.clone(),
                    what,
                    value,
                    must: "a positive number",
                });
            }
        }
    }
    for (index, thermal) in conduction.materials.iter().enumerate() {
        if holds_grains[index] && thermal.specific_heat_capacity.is_none() {
            return Err(WorldError::Material {
                name: world.materials[index].name.clone(),
                what: "specific heat capacity",
                value: 0.0,
                must: "a positive number, as its grains have temperatures",
            });
        }
    }
    for (wall, temperature) in world.walls.iter().zip(&conduction.walls) {
        let Some(temperature) = *temperature else { continue };
        let what = if !(temperature.is_finite() && temperature >= 0.0) {
            format!("its temperature is {temperature} K, must be zero or positive")
        } else if conduction.materials[wall.material as usize].conductivity.is_none() {
            let material = &world.materials[wall.material as usize].name;
            format!(
                "it has a temperature, but its material {material} has no thermal conductivity; give it one, or leave the temperature out"
            )
        } else {
            continue;
        };
        return Err(WorldError::Wall {
            name: wall.name.clone(),
            what,
        });
    }
    check_hertzian(world, conduction)
}

/// Rejects real moduli where contacts do not follow Hertz's law: for others the change of the contact radius is not known.
fn check_hertzian(world: &World, conduction: &Conduction) -> Result<(), WorldError> {
    for (a, first) in world.materials.iter().enumerate() {
        for (b, second) in world.materials.iter().enumerate() {
            let is_corrected = [a, b]
                .iter()
                .any(|&index| conduction.materials[index].real_youngs_modulus.is_some());
            let normal = world.interaction(a as u32, b as u32).map(|interaction| interaction.normal);
            if is_corrected && normal.is_some_and(|normal| !matches!(normal, NormalLaw::Hertz | NormalLaw::Viscoelastic)) {
                return Err(WorldError::Interaction {
                    a: first.name.clone(),
                    b: second.name.clone(),
                    what: "a real Young's modulus corrects the contact radius of Hertz's law only; use normal = \"hertz\" or \"viscoelastic\", or leave the real modulus out".into(),
                });
            }
        }
    }
    Ok(())
}
