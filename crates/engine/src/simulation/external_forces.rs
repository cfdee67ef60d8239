//! Forces and torques that a program gives to single grains.

use crate::events::{OverlapCheck, stopped};
use crate::fields::GIVEN_LOAD;
use crate::guard::StepError;
use crate::loads::GivenLoad;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::simulation::Simulation;
use crate::world::{ForceAssembly, Vec3};

/// Forces and torques that were given to single grains, in the order of the ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExternalForces {
    /// Ids of all grains, ascending.
    pub id: Vec<u32>,
    /// Force on each grain \[N\].
    pub force: Vec<Vec3>,
    /// Torque on each grain \[N m\].
    pub torque: Vec<Vec3>,
}

impl Simulation {
    /// Gives the grains with these ids external forces \[N\] and torques \[N m\], which act from this time on until they are replaced; without
    /// `torques` each grain keeps the torque that it has. Of several values for one grain the last counts. The force on a grain of a rigid body acts at
    /// the center of the grain. They add to the loads of groups, and the ledger counts their work as that of walls.
    ///
    /// Velocities at this time are kept, so a force that begins now acts as if it had begun exactly now. A grain that is given a force in each step has
    /// a force that changes all the time, such as that of a spring: each value is then the force at its time, and the motion is as accurate as that
    /// under forces of the engine.
    ///
    /// ```
    /// use seixo_engine::Simulation;
    /// use seixo_engine::world::{Interaction, Settings, World};
    ///
    /// let world = World::builder()
    ///     .material("glass", 2500.0, 1e7, 0.2)
    ///     .interaction("glass", "glass", Interaction::default())
    ///     .grain("balls", "glass", [0.0, 0.0, 0.1], 1e-3)
    ///     .build()?;
    /// let mut simulation = Simulation::new(world, Settings::default())?;
    /// let id = simulation.snapshot().id[0];
    /// simulation.set_external_forces(&[id], &[[1e-3, 0.0, 0.0]], None)?;
    /// assert_eq!(simulation.external_forces()?.force, [[1e-3, 0.0, 0.0]]);
    /// simulation.advance(10)?;
    /// assert!(simulation.snapshot().velocity[0][0] > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Before any change, if the numbers of ids, forces and torques differ, if there is no grain with one of the ids, a number is not finite, a torque
    /// is given to grains that do not rotate, or forces are not assembled by [`ForceAssembly::Fused`]. And as [`Simulation::observe`].
    pub fn set_external_forces(&mut self, ids: &[u32], forces: &[Vec3], torques: Option<&[Vec3]>) -> Result<(), WorldError> {
        self.observe().map_err(stopped)?;
        let given = self.checked_loads(ids, forces, torques)?;
        if given.is_empty() {
            return Ok(());
        }
        self.change_given_loads(|populations| populations.give_loads(&given))
    }

    /// Ends all external forces and torques on single grains. Their memory is freed.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn clear_external_forces(&mut self) -> Result<(), WorldError> {
        self.observe().map_err(stopped)?;
        if !self.whole.populations.loads.act_on_single_grains() {
            return Ok(());
        }
        let gained = self.edit(OverlapCheck::Nothing, Populations::end_given_loads)?;
        self.whole.populations.ledger.work.inserted += gained;
        Ok(())
    }

    /// The external forces and torques on all grains, in the order of their ids: zero where none were given.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn external_forces(&mut self) -> Result<ExternalForces, StepError> {
        self.observe()?;
        let fields = &self.whole.populations.grains.fields;
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_unstable_by_key(|&i| fields.id[i]);
        let (given, _) = fields.given_load.as_chunks::<GIVEN_LOAD>();
        let given = |&i: &usize| given.get(i).copied().unwrap_or_default();
        Ok(ExternalForces {
            id: order.iter().map(|&i| fields.id[i]).collect(),
            force: order.iter().map(given).map(|[x, y, z, ..]| [x, y, z]).collect(),
            torque: order.iter().map(given).map(|[.., x, y, z]| [x, y, z]).collect(),
        })
    }

    /// Loads for these grains, one for each, in the order of their ids.
    fn checked_loads(&self, ids: &[u32], forces: &[Vec3], torques: Option<&[Vec3]>) -> Result<Vec<GivenLoad>, WorldError> {
        let refused = |what: String| Err(WorldError::ExternalForces(what));
        let counts = [("forces", Some(forces.len())), ("torques", torques.map(<[Vec3]>::len))];
        for (name, count) in counts {
            if let Some(count) = count.filter(|&count| count != ids.len()) {
                return refused(format!("{} ids have {count} {name}; give one to each", ids.len()));
            }
        }
        let populations = &self.whole.populations;
        let assembly = populations.context.settings.assembly;
        if assembly != ForceAssembly::Fused {
            return Err(WorldError::AssemblyElsewhere {
                assembly: assembly.name(),
                what: "external forces on grains",
            });
        }
        let vectors = [Some((forces, "force")), torques.map(|torques| (torques, "torque"))];
        for (vectors, name) in vectors.into_iter().flatten() {
            if let Some(k) = vectors.iter().position(|vector| vector.iter().any(|x| !x.is_finite())) {
                return refused(format!(
                    "the {name} on grain {} is {:?}, must be of finite numbers",
                    ids[k], vectors[k]
                ));
            }
        }
        let turns = |torque: &Vec3| *torque != [0.0; 3];
        if let Some(k) = torques
            .filter(|_| !populations.context.materials.has_friction)
            .and_then(|torques| torques.iter().position(turns))
        {
            return refused(format!(
                "grain {} is given a torque, but without friction grains do not rotate; give forces, or set a friction coefficient",
                ids[k]
            ));
        }
        let mut order: Vec<usize> = (0..ids.len()).collect();
        // The order of equal ids is kept.
        order.sort_by_key(|&k| ids[k]);
        let mut given: Vec<GivenLoad> = Vec::with_capacity(order.len());
        for k in order {
            let load = GivenLoad {
                id: ids[k],
                force: forces[k],
                torque: torques.map(|torques| torques[k]),
            };
            match given.last_mut().filter(|last| last.id == load.id) {
                Some(last) => *last = load,
                None => given.push(load),
            }
        }
        let present = &populations.grains.fields.id;
        let is_given = |id: &&u32| given.binary_search_by_key(*id, |load| load.id).is_ok();
        if present.iter().filter(is_given).count() < given.len()
            && let Some(missing) = given.iter().find(|load| !present.contains(&load.id))
        {
            return refused(format!(
                "there is no grain {}; it may have left, been removed or been disabled: take the ids of the present grains",
                missing.id
            ));
        }
        Ok(given)
    }

    /// Changes the loads of single grains in the observed state. Neighbor lists do not depend on them. They are rebuilt only with domains, or with the
    /// same bits as in domains, which rebuild them; beside fluids on a GPU; and on a GPU that has more data of motion, or no room for loads yet.
    fn change_given_loads(&mut self, change: impl FnOnce(&mut Populations)) -> Result<(), WorldError> {
        let is_alone = !self.whole.populations.context.settings.decomposition_invariant;
        if is_alone && self.whole.backend.gpu.is_none() {
            change(&mut self.whole.populations);
            return Ok(());
        }
        if is_alone && self.whole.takes_given_loads() {
            change(&mut self.whole.populations);
            return self.whole.send_given_loads().map_err(stopped);
        }
        let gained = self.edit(OverlapCheck::Nothing, change)?;
        self.whole.populations.ledger.work.inserted += gained;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Simulation;
    use crate::world::{Interaction, Settings, World};

    #[test]
    fn after_loaded_grains_are_removed_the_rest_is_as_after_a_resume() {
        let world = World::builder()
            .material("glass", 2500.0, 1e7, 0.2)
            .interaction("glass", "glass", Interaction::default())
            .grain("left", "glass", [0.0, 0.0, 0.1], 1e-3)
            .grain("right", "glass", [0.1, 0.0, 0.1], 1e-3)
            .build()
            .unwrap();
        let mut simulation = Simulation::new(world.clone(), Settings::default()).unwrap();
        let (id, group) = (simulation.snapshot().id, simulation.snapshot().group);
        simulation.set_external_forces(&id, &[[1e-3, 0.0, 0.0]; 2], None).unwrap();
        // The last group first.
        let first = usize::from(group[1] > group[0]);
        for k in [first, 1 - first] {
            simulation.remove(&[id[k]]).unwrap();
            let state = simulation.save().unwrap();
            let twin = Simulation::restore(world.clone(), Settings::default(), &state).unwrap();
            let [own, of_twin] = [&simulation, &twin].map(|one| &one.whole.populations.loads);
            assert_eq!(own.groups(), of_twin.groups());
            assert_eq!(own.act_on_single_grains(), of_twin.act_on_single_grains());
        }
    }
}
