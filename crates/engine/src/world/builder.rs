//! Builds a world by the names of its materials and groups.
//!
//! ```
//! use seixo_engine::Simulation;
//! use seixo_engine::world::{Interaction, Settings, WallShape, World};
//! let floor = WallShape::Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] };
//! let world = World::builder()
//!     .gravity([0.0, 0.0, -9.81])
//!     .material("glass", 2500.0, 1e7, 0.2)
//!     .interaction("glass", "glass", Interaction::default())
//!     .wall("floor", "glass", floor)
//!     .grain("balls", "glass", [0.0, 0.0, 0.02], 0.01)
//!     .build()?;
//! let simulation = Simulation::new(world, Settings::default())?;
//! assert_eq!(simulation.len(), 1);
//! # Ok::<(), seixo_engine::WorldError>(())
//! ```

use crate::refusal::WorldError;
use crate::world::{Domain, Interaction, Material, Vec3, Wall, WallMotion, WallShape, World};

/// Builds a [`World`]. Materials and groups go by their names; grains get the ids 0, 1, 2 and so on.
#[derive(Clone, Debug, Default)]
pub struct WorldBuilder {
    world: World,
    /// Interactions by the names of two materials.
    pairs: Vec<([String; 2], Interaction)>,
    /// The first name that is not known.
    unknown: Option<(&'static str, String)>,
}

impl World {
    /// A builder of an empty world, without gravity and without bounds.
    pub fn builder() -> WorldBuilder {
        WorldBuilder::default()
    }
}

/// Index of a name in a list.
fn place_of<'a>(names: impl IntoIterator<Item = &'a String>, name: &str) -> Option<u32> {
    names.into_iter().position(|known| known == name).map(|place| place as u32)
}

impl WorldBuilder {
    /// Sets the gravitational acceleration \[m/s²\].
    pub fn gravity(mut self, gravity: Vec3) -> Self {
        self.world.gravity = gravity;
        self
    }

    /// Bounds the world.
    pub fn domain(mut self, domain: Domain) -> Self {
        self.world.domain = Some(domain);
        self
    }

    /// Adds a material with its density \[kg/m³\], Young's modulus \[Pa\] and Poisson's ratio \[-\].
    pub fn material(mut self, name: &str, density: f64, youngs_modulus: f64, poisson_ratio: f64) -> Self {
        self.world.materials.push(Material {
            name: name.to_owned(),
            density,
            youngs_modulus,
            poisson_ratio,
        });
        self
    }

    /// Sets the interaction of two materials, which may be added later.
    pub fn interaction(mut self, a: &str, b: &str, interaction: Interaction) -> Self {
        self.pairs.push(([a.to_owned(), b.to_owned()], interaction));
        self
    }

    /// Adds a wall at rest, of a material that was added.
    pub fn wall(self, name: &str, material: &str, shape: WallShape) -> Self {
        self.moving_wall(name, material, shape, WallMotion::default())
    }

    /// Adds a wall with a motion, of a material that was added.
    pub fn moving_wall(mut self, name: &str, material: &str, shape: WallShape, motion: WallMotion) -> Self {
        let material = self.material_named(material);
        self.world.walls.push(Wall {
            name: name.to_owned(),
            material,
            shape,
            motion,
            specific_wear_rate: 0.0,
        });
        self
    }

    /// Adds a grain at rest, with its center and radius \[m\], of a material that was added. The group is made when it is first named.
    pub fn grain(mut self, group: &str, material: &str, center: Vec3, radius: f64) -> Self {
        let (material, group) = (self.material_named(material), self.group_named(group));
        let id = self.world.grains.len() as u32;
        self.world.grains.push(id, center, [0.0; 3], [0.0; 3], radius, material, group);
        self
    }

    /// Announces that the grains of a group may be held, released or loaded during the run.
    pub fn constrained_group(mut self, group: &str) -> Self {
        let group = self.group_named(group);
        self.world.later.constrained_groups.push(group);
        self
    }

    /// The world.
    ///
    /// # Errors
    /// If a material is named that was not added.
    pub fn build(mut self) -> Result<World, WorldError> {
        let count = self.world.materials.len();
        self.world.interactions = vec![None; count * count];
        for ([a, b], interaction) in std::mem::take(&mut self.pairs) {
            let [a, b] = [&a, &b].map(|name| self.material_named(name) as usize);
            if self.unknown.is_none() {
                self.world.interactions[a * count + b] = Some(interaction.clone());
                self.world.interactions[b * count + a] = Some(interaction);
            }
        }
        match self.unknown {
            None => Ok(self.world),
            Some((what, name)) => Err(WorldError::UnknownName {
                what,
                name,
                known: self
                    .world
                    .materials
                    .iter()
                    .map(|material| material.name.clone())
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }

    /// Index of a material; 0 for an unknown one, which [`WorldBuilder::build`] refuses.
    fn material_named(&mut self, name: &str) -> u32 {
        let found = place_of(self.world.materials.iter().map(|material| &material.name), name);
        found.unwrap_or_else(|| {
            self.unknown.get_or_insert(("material", name.to_owned()));
            0
        })
    }

    /// Index of a group, which is made if there is none of this name.
    fn group_named(&mut self, name: &str) -> u32 {
        place_of(&self.world.groups, name).unwrap_or_else(|| {
            self.world.groups.push(name.to_owned());
            self.world.groups.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_indices_and_interactions_are_symmetric() {
        let world = World::builder()
            .material("glass", 2500.0, 1e7, 0.2)
            .material("steel", 7800.0, 1e8, 0.3)
            .interaction("steel", "glass", Interaction::default())
            .grain("a", "steel", [0.0; 3], 1e-3)
            .grain("b", "glass", [1.0, 0.0, 0.0], 2e-3)
            .grain("a", "glass", [2.0, 0.0, 0.0], 1e-3)
            .constrained_group("b")
            .build()
            .unwrap();
        assert_eq!(
            (world.grains.id, world.grains.material, world.grains.group),
            (vec![0, 1, 2], vec![1, 0, 0], vec![0, 1, 0])
        );
        assert_eq!(
            (world.groups, world.later.constrained_groups),
            (vec!["a".to_owned(), "b".to_owned()], vec![1])
        );
        let are_there: Vec<bool> = world.interactions.iter().map(Option::is_some).collect();
        assert_eq!(are_there, [false, true, true, false]);
    }

    #[test]
    fn an_unknown_material_is_refused_with_those_that_are_known() {
        let builder = World::builder().material("glass", 2500.0, 1e7, 0.2);
        for spoiled in [
            builder.clone().grain("a", "gals", [0.0; 3], 1e-3),
            builder.clone().interaction("glass", "gals", Interaction::default()),
        ] {
            let message = spoiled.build().unwrap_err().to_string();
            assert_eq!(message, "no material is named `gals`; known are: glass");
        }
    }
}
