//! The grains for which a simulation is prepared: cells, skin and time step suffice for grains that come, also after the others have left.

use crate::assemble::largest_radii;
use crate::world::{LightestSphere, World, lightest_spheres};

/// Share by which rounding may make a grain lighter than its like \[-\].
const ROUNDING: f64 = 1e-12;

/// The grains that a world has at the start, and those that it announces for later, by their materials.
#[derive(Clone, Default)]
pub(crate) struct PreparedGrains {
    /// Names of the materials.
    names: Vec<String>,
    /// Spheres that allow the shortest time steps.
    lightest: Vec<LightestSphere>,
    /// Largest radius of each material \[m\]; zero for a material of which no other grain can come.
    largest: Vec<f64>,
}

impl PreparedGrains {
    /// Those of a world.
    pub fn of(world: &World) -> PreparedGrains {
        let mut largest = largest_radii(world);
        for (material, radius) in largest.iter_mut().enumerate() {
            // The only grain of a material needs no interaction with another one.
            if world.interaction(material as u32, material as u32).is_none() {
                *radius = 0.0;
            }
        }
        PreparedGrains {
            names: world.materials.iter().map(|material| material.name.clone()).collect(),
            lightest: lightest_spheres(world, |_| true),
            largest,
        }
    }

    /// Smallest radius of all \[m\]; infinite without grains.
    pub fn smallest(&self) -> f64 {
        self.lightest.iter().map(|sphere| sphere.radius).fold(f64::INFINITY, f64::min)
    }

    fn of_material(&self, material: u32) -> impl Iterator<Item = &LightestSphere> {
        self.lightest.iter().filter(move |sphere| sphere.material == material as usize)
    }

    /// Why a grain of this material, radius \[m\] and mass \[kg\] cannot come; `None` if it can.
    pub fn flaw_of(&self, material: u32, radius: f64, mass: f64) -> Option<String> {
        let name = self
            .names
            .get(material as usize)
            .map_or("a material that is not there", String::as_str);
        let largest = self.largest.get(material as usize).copied().unwrap_or(0.0);
        let smallest = self.of_material(material).map(|sphere| sphere.radius).fold(f64::INFINITY, f64::min);
        if largest == 0.0 {
            return Some(format!("no more grains of {name} were prepared"));
        }
        if !(smallest..=largest).contains(&radius) {
            return Some(format!(
                "grains of {name} were prepared with radii from {smallest:.4e} m to {largest:.4e} m"
            ));
        }
        let fitting = self.of_material(material).filter(|sphere| sphere.radius <= radius);
        let least = fitting
            .map(|sphere| radius * (sphere.mass / sphere.radius))
            .fold(f64::INFINITY, f64::min);
        (mass.is_nan() || mass < least * (1.0 - ROUNDING))
            .then(|| format!("its mass is {mass:.4e} kg, and grains of {name} of this radius were prepared with at least {least:.4e} kg"))
    }
}
