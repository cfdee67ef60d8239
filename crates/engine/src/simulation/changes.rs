//! Changes between two steps: grains that come and go, velocities, bonds, melting, freezing, walls and loads.

use crate::assemble::fields_of;
use crate::events::{OverlapCheck, SurroundingsChange, check_newcomers, stopped};
use crate::flow::{Freezing, Melting};
use crate::insertion::{FreeSpace, PlacedGrain};
use crate::polyhedra::Polyhedra;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::scalars::GrainScalar;
use crate::simulation::Simulation;
use crate::world::{Grains, Vec3, check_walls_around};
use seixo_laws::Vector3;
use seixo_sweeps::layout::{RECORD, store};
use std::collections::HashSet;

impl Simulation {
    /// Smallest id above all that were used or are reserved for grains that may be added.
    pub fn next_id(&self) -> u64 {
        self.whole.populations.grains.next_id
    }

    /// Mass of a grain \[kg\], if it was given and does not follow from the density of its material.
    pub fn given_mass(&self, id: u32) -> Option<f64> {
        self.whole.populations.grains.given_masses.get(&id).copied()
    }

    /// Rejects grains that could not be added now; the simulation is not changed.
    ///
    /// # Errors
    /// If a grain is unlike those for which the simulation is prepared, has the id of another, is outside the domain, or overlaps another object; and as
    /// [`Simulation::observe`]. It is prepared for the grains that the world has at the start and for those of
    /// [`crate::world::LaterAdditions::grains`]: of each material, for all radii from the smallest to the largest one of both. Grains with given masses
    /// must not be lighter than those for their radius.
    pub fn check_coming(&mut self, grains: &Grains) -> Result<(), WorldError> {
        let scalars: Vec<GrainScalar> = self.scalars().collect();
        let polyhedra = self.whole.populations.polyhedra.as_deref();
        let shapes = polyhedra.map_or(0, Polyhedra::shapes);
        check_newcomers(grains, shapes, self.whole.populations.context.domain.as_ref(), &scalars)?;
        check_walls_around(&self.whole.populations.walls.given, grains)?;
        let largest = grains.radius.iter().copied().fold(0.0, f64::max);
        let [low, high] = corners_of(&grains.position);
        let mut room = self.room(low, high, largest)?;
        room.take_all(grains)?;
        let coming: HashSet<u32> = grains.id.iter().copied().collect();
        let of_world = &self.whole.populations.grains;
        let mut taken = of_world.fields.id.iter().chain(&of_world.disabled.fields.id);
        if let Some(&id) = taken.find(|id| coming.contains(id)) {
            return Err(WorldError::DuplicateId { id });
        }
        for (k, &id) in grains.id.iter().enumerate() {
            let (radius, material) = (grains.radius[k], grains.material[k]);
            let densities = &self.whole.populations.context.materials.densities;
            let density = densities.get(material as usize).copied().unwrap_or(f64::NAN);
            let mass = grains.mass_alone(k, density);
            let shape = grains.shape.get(k).copied().filter(|&shape| shape > 0);
            let polyhedra = self.whole.populations.polyhedra.as_ref();
            let rounding = shape
                .zip(polyhedra)
                .map(|(shape, polyhedra)| polyhedra.shapes.rounding(shape, radius));
            let prepared = &self.whole.populations.grains.prepared;
            // Of a polyhedral grain, the rounding radius counts in contacts, and that of its bounding sphere in cells.
            let flaw = prepared.flaw_of(material, rounding.unwrap_or(radius), mass);
            if let Some(what) = flaw.or_else(|| prepared.flaw_of(material, radius, f64::INFINITY)) {
                return Err(WorldError::Unexpected { id, radius, what });
            }
        }
        Ok(())
    }

    /// Adds grains with their velocities at this time. Their ids must be new.
    ///
    /// # Errors
    /// As [`Simulation::check_coming`], before any change. After other errors the simulation cannot continue.
    pub fn insert(&mut self, grains: &Grains) -> Result<(), WorldError> {
        if grains.is_empty() {
            return Ok(());
        }
        self.check_coming(grains)?;
        self.whole.populations.grains.next_id = grains
            .id
            .iter()
            .fold(self.whole.populations.grains.next_id, |next, &id| next.max(u64::from(id) + 1));
        let gained = self.edit(OverlapCheck::Nothing, |populations| {
            let materials = &populations.context.materials;
            let new = fields_of(&populations.context.device, grains, &materials.densities, materials.has_friction);
            populations.append_grains(&new);
            // A removed grain may have had the same id.
            for id in &grains.id {
                populations.grains.given_masses.remove(id);
            }
            populations.grains.given_masses.extend(&grains.masses);
        })?;
        self.whole.populations.ledger.work.inserted += gained;
        Ok(())
    }

    /// Removes grains, and each body that carries one of them, as a whole. Unknown ids are ignored. The ledger adds their energy to that of grains
    /// that left.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn remove(&mut self, ids: &[u32]) -> Result<(), WorldError> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        let gained = self.edit(OverlapCheck::Nothing, |populations| populations.remove_grains(&ids))?;
        self.whole.populations.ledger.work.left_domain -= gained;
        Ok(())
    }

    /// Disables the grains of a group: they keep their state, but take no part in the simulation until [`Simulation::enable`]. The bonds among them
    /// leave with them; bonds to other grains are removed, and so is the prescribed motion of the group. The ledger adds their energy to that of
    /// grains that left.
    ///
    /// # Errors
    /// If rigid bodies without prescribed motion carry some of them, or bodies that displace a fluid; and as [`Simulation::observe`].
    pub fn disable(&mut self, group: u32) -> Result<(), WorldError> {
        self.observe().map_err(stopped)?;
        self.whole.populations.check_disabling(group)?;
        let gained = self.edit(OverlapCheck::Nothing, |populations| populations.disable_grains(group))?;
        self.whole.populations.ledger.work.left_domain -= gained;
        Ok(())
    }

    /// Enables the disabled grains of a group as free grains, with the ids, positions, orientations, velocities and scalars that they had, and with
    /// the bonds that left with them. Contacts begin without history. A group without disabled grains is not changed.
    ///
    /// # Errors
    /// If a grain would overlap another grain or a wall by more than [`crate::world::Settings::overlap_limit`], before any change. And as
    /// [`Simulation::observe`].
    pub fn enable(&mut self, group: u32) -> Result<(), WorldError> {
        self.observe().map_err(stopped)?;
        let fields = &self.whole.populations.grains.disabled.fields;
        let (mut ids, mut centers, mut radii) = (Vec::new(), Vec::new(), Vec::new());
        for (k, record) in fields.position.as_chunks::<RECORD>().0.iter().enumerate() {
            if fields.group[k] == group {
                let &[x, y, z, radius] = record;
                ids.push(fields.id[k]);
                centers.push([x, y, z]);
                radii.push(radius);
            }
        }
        if ids.is_empty() {
            return Ok(());
        }
        // The grains were in contact with each other and with walls, so they may overlap as grains do.
        let shrunk = 1.0 - self.whole.populations.context.settings.overlap_limit;
        let [low, high] = corners_of(&centers);
        let room = self.room(low, high, radii.iter().copied().fold(0.0, f64::max))?;
        if let Some(k) = (0..ids.len()).find(|&k| !room.is_free(centers[k], shrunk * radii[k])) {
            return Err(WorldError::Taken {
                id: ids[k],
                at: centers[k],
            });
        }
        let gained = self.edit(OverlapCheck::Walls, |populations| populations.enable_grains(group))?;
        self.whole.populations.ledger.work.inserted += gained;
        Ok(())
    }

    /// Sets the velocity of all grains of a group at this time \[m/s\], except those of bodies with prescribed motion or on joints.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn set_velocity(&mut self, group: u32, velocity: Vec3) -> Result<(), WorldError> {
        self.set_velocities(
            velocity,
            |populations, i| populations.grains.fields.group[i] == group,
            |populations, b| populations.group_of_body(b) == group,
        )
    }

    /// Sets the velocity of a grain, or of the body that carries it, at this time \[m/s\]. Bodies with prescribed motion or on joints are not
    /// changed.
    /// An unknown id is ignored.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn set_velocity_of(&mut self, id: u32, velocity: Vec3) -> Result<(), WorldError> {
        self.observe().map_err(stopped)?;
        let body = (0..self.whole.populations.grains.fields.len())
            .find(|&i| self.whole.populations.grains.fields.id[i] == id)
            .and_then(|i| self.whole.populations.body_of(i));
        self.set_velocities(
            velocity,
            |populations, i| match body {
                Some(body) => populations.body_of(i) == Some(body),
                None => populations.grains.fields.id[i] == id,
            },
            |_, b| body == Some(b),
        )
    }

    /// Sets the velocity of the center of mass \[m/s\] of a rigid body at this time, and its angular velocity \[rad/s\] if one is given. A body with
    /// prescribed motion or on a joint is not changed. An unknown id is ignored.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn set_velocity_of_body(&mut self, body: u32, velocity: Vec3, angular_velocity: Option<Vec3>) -> Result<(), WorldError> {
        let gained = self.edit(OverlapCheck::Nothing, |populations| {
            let is_it = |populations: &Populations, b: usize| populations.bodies.id[b] == body;
            populations.set_velocity_of_bodies(velocity, is_it);
            if let Some(spin) = angular_velocity {
                populations.set_spin_of_bodies(spin, is_it);
            }
        })?;
        self.whole.populations.ledger.work.inserted += gained;
        Ok(())
    }

    /// Announces that grains of this group may be held, set free or loaded, as [`crate::world::LaterAdditions::constrained_groups`] does at the start.
    pub fn announce_group(&mut self, group: u32, name: &str) {
        let announced = &mut self.whole.populations.constrained_groups;
        if announced.iter().all(|(known, _)| *known != group) {
            announced.push((group, name.to_owned()));
        }
    }

    /// Lets checkpoints hold where this wall was when its present motion began: of the motions that it got, [`Simulation::restore_changed`] then needs
    /// only the last. For walls that get very many. Returns false, and does nothing, with periodic sides, where all motions are needed.
    pub fn keep_start_of_wall(&mut self, wall: usize) -> bool {
        self.whole.populations.walls.keep_start(wall)
    }

    fn set_velocities(
        &mut self,
        velocity: Vec3,
        is_grain: impl Fn(&Populations, usize) -> bool,
        is_body: impl Fn(&Populations, usize) -> bool,
    ) -> Result<(), WorldError> {
        let gained = self.edit(OverlapCheck::Nothing, |populations| {
            let chosen: Vec<usize> = (0..populations.grains.fields.len())
                .filter(|&i| is_grain(populations, i) && !populations.is_bound(i))
                .collect();
            for &i in &chosen {
                if populations.is_polyhedral(i) && populations.body_of(i).is_none() {
                    // Its angular momentum at half steps follows from its angular velocity now, which is kept.
                    let (_, spin) = populations.velocities(i, &[]);
                    store(&mut populations.grains.fields.half_spin, i * 3, &spin);
                }
                populations.grains.fields.velocity[i * RECORD..][..3].copy_from_slice(&velocity);
                populations.grains.fields.half_velocity[i * 3..][..3].copy_from_slice(&velocity);
            }
            populations.set_half_step_velocities(chosen);
            populations.set_velocity_of_bodies(velocity, is_body);
        })?;
        self.whole.populations.ledger.work.inserted += gained;
        Ok(())
    }

    /// Changes walls, inlets, gravity, loads or prescribed motion.
    ///
    /// # Errors
    /// If a wall would appear deep in a grain or in a fluid, or a released grain would be deep in a wall or another grain.
    /// Before any change, if grains cannot be fixed or loaded, or are not of a group announced for this; and if a wall cannot get a motion, with its
    /// images at periodic sides, or is too fast with it for the time step. And as [`Simulation::observe`].
    pub fn change(&mut self, changes: &[SurroundingsChange]) -> Result<(), WorldError> {
        self.observe().map_err(stopped)?;
        self.whole.populations.check_switches(changes)?;
        let any = |is: fn(&SurroundingsChange) -> bool| changes.iter().any(is);
        let meets = if any(|change| matches!(change, SurroundingsChange::Free { .. })) {
            OverlapCheck::Grains
        } else if any(|change| matches!(change, SurroundingsChange::Wall { is_there: true, .. })) {
            OverlapCheck::Walls
        } else {
            OverlapCheck::Nothing
        };
        let mut refused = None;
        let gained = self.edit(meets, |populations| {
            let (before, now) = (populations.context.stepping.gravity, populations.context.time());
            let on_joints = populations
                .bodies
                .moving_on_joints(&populations.grains.fields, &populations.context.stepping);
            let unfit = populations.change_surroundings(changes, now).err();
            // The kick at this time uses half of the old and half of the new gravity. Velocities at whole steps contain all of the old one.
            let less = before.minus(&populations.context.stepping.gravity);
            let pull = less.times(populations.context.stepping.velocity_lead);
            for half in populations.grains.fields.half_velocity.chunks_exact_mut(3) {
                half.iter_mut().zip([pull.x, pull.y, pull.z]).for_each(|(v, change)| *v += change);
            }
            let bodies = &mut populations.bodies;
            let halves = bodies.half_velocity.chunks_exact_mut(RECORD).enumerate();
            for (_, half) in halves.filter(|(b, _)| !bodies.held.is_body_prescribed(*b) && !bodies.joints.is_on_joint(*b)) {
                half.iter_mut().zip([pull.x, pull.y, pull.z]).for_each(|(v, change)| *v += change);
            }
            for (b, moving) in &on_joints {
                bodies.go_on_from(*b, moving, &populations.grains.fields, &populations.context.stepping);
            }
            let gravity = populations.context.stepping.gravity;
            let of_flow = populations.with_flow(|flow, surroundings| {
                flow.change_gravity(gravity, &less.times(0.5 * surroundings.context.stepping.dt));
                flow.follow_walls(surroundings)
            });
            if less != Vector3::zero() {
                // The prediction for the next step depends on the new gravity.
                populations.begin_gear(0..populations.grains.fields.len());
                populations.begin_gear_of_bodies(0..populations.bodies.len());
            }
            refused = unfit.or(of_flow);
            populations.switch(changes, now);
        })?;
        self.whole.populations.ledger.work.inserted += gained;
        refused.map_or(Ok(()), Err)
    }

    /// Applies a change to the host data, rebuilds the lists, and uploads them. Returns the energy that was added \[J\].
    ///
    /// Energy of grains and fluid that left, and are removed by this rebuild, is added to that of what left. Work of periodic sides on wrapped particles
    /// is added to theirs.
    pub(crate) fn edit(&mut self, meets: OverlapCheck, change: impl FnOnce(&mut Populations)) -> Result<f64, WorldError> {
        self.observe_with_contacts().map_err(stopped)?;
        let are_two = self.has_two_histories();
        let before = self.whole.begin_change(are_two)?;
        self.download();
        // Grains that left take their bonds along.
        self.whole.populations.remove_bond_energy();
        change(&mut self.whole.populations);
        self.whole.list_changed(&before, meets)?;
        self.upload(true)?;
        Ok(self.whole.populations.gained(&before))
    }

    /// Makes the bonds of these kinds, indices into [`crate::world::World::bonds`], without load at the current positions. Bonds between
    /// neighbors omit pairs that are already bonded.
    ///
    /// # Errors
    /// If a kind is not in the world, no pair is found, a pair cannot be bonded, or the time step is too long for the bonds; and as
    /// [`Simulation::observe`].
    pub fn bond(&mut self, kinds: &[usize]) -> Result<(), WorldError> {
        if kinds.is_empty() {
            return Ok(());
        }
        self.whole.populations.check_kinds(kinds)?;
        self.observe().map_err(stopped)?;
        let found = self.whole.populations.pairs_to_bond_now(kinds)?;
        let gained = self.edit(OverlapCheck::Nothing, |populations| populations.make_bonds(&found))?;
        self.whole.populations.ledger.work.inserted += gained;
        Ok(())
    }

    /// Removes the intact bonds of these kinds, which act no more from this time on. They do not count as breaks; their energy is added to that
    /// of breaks. They can be made again.
    ///
    /// # Errors
    /// If a kind is not in the world, and as [`Simulation::observe`].
    pub fn unbond(&mut self, kinds: &[usize]) -> Result<(), WorldError> {
        if kinds.is_empty() {
            return Ok(());
        }
        self.whole.populations.check_kinds(kinds)?;
        let mut released = 0.0;
        let gained = self.edit(OverlapCheck::Nothing, |populations| released = populations.dissolve_bonds(kinds))?;
        self.whole.populations.ledger.work.inserted += gained + released;
        Ok(())
    }

    /// Melts bodies: fluid replaces them. Its mass is that of the nearest number of whole particles, if the sites suffice. It has the same momentum
    /// and, unless its particles are on one line, angular momentum. The change in energy is added to the ledger as supplied between two steps. Bodies
    /// that are not present, or have left the domain, are skipped.
    ///
    /// # Errors
    /// If there are no fluids into which bodies could melt. If a body is named twice, is not coupled to fluids, or has no sites or one outside of the
    /// domain. If no id is left for particles, and as [`Simulation::observe`].
    pub fn melt(&mut self, melting: &[Melting]) -> Result<(), WorldError> {
        if melting.is_empty() {
            return Ok(());
        }
        self.observe().map_err(stopped)?;
        let (bodies, domain) = (&self.whole.populations.bodies, self.whole.populations.context.domain_to_leave());
        let stays = |b: usize| domain.is_none_or(|domain| !bodies.has_left(b, &domain));
        let is_there = |one: &&Melting| bodies.id.iter().position(|id| *id == one.body).is_some_and(stays);
        let there: Vec<&Melting> = melting.iter().filter(is_there).collect();
        if there.is_empty() {
            return Ok(());
        }
        let melts = self.whole.populations.melts_of(&there)?;
        let ids: HashSet<u32> = there.iter().map(|one| one.body).collect();
        let gained = self.edit(OverlapCheck::Nothing, |populations| {
            let is_of_one = |i: usize| populations.body_of(i).is_some_and(|b| ids.contains(&populations.bodies.id[b]));
            let melted: Vec<bool> = (0..populations.grains.fields.len()).map(is_of_one).collect();
            populations.retain_grains(|i| !melted[i]);
            populations.change_forces(|populations| {
                populations.with_flow(|flow, surroundings| flow.take_in(&melts, surroundings));
                populations.recompute_body_loads();
            });
        })?;
        self.whole.populations.ledger.work.inserted += gained;
        Ok(())
    }

    /// Melts the bodies of a group that froze, see [`Simulation::freeze`], into the fluid with this index into [`crate::world::Fluids::kinds`]. The sites
    /// are the places of the particles that froze. A group without such bodies is skipped.
    ///
    /// # Errors
    /// As [`Simulation::melt`].
    pub fn melt_frozen(&mut self, group: u32, fluid: u32) -> Result<(), WorldError> {
        self.observe().map_err(stopped)?;
        let melting = self.whole.populations.meltings_of_frozen(group, fluid);
        self.melt(&melting)
    }

    /// Freezes fluid: a rigid body replaces some of its particles. It has their mass, center of mass, momentum, angular momentum and principal moments
    /// of inertia, and a sphere of half a spacing in the place of each. It is coupled to fluids. The energy that the particles had by their motion
    /// relative to the body is lost; the change in energy is added to the ledger as supplied between two steps. Particles that have left the domain are
    /// skipped. Returns the id of the body.
    ///
    /// [`crate::world::LaterAdditions`] must announce that fluids freeze, and the kind of the spheres.
    ///
    /// # Errors
    /// Before any change, if no fluid could freeze like this, if a particle is named twice or is not there, or if all are on one line; if the body is
    /// so light that the time step is too long for it; if no id is left; and as [`Simulation::observe`]. Also if the body overlaps walls or grains too
    /// much; then the simulation cannot continue.
    pub fn freeze(&mut self, freezing: &Freezing) -> Result<u32, WorldError> {
        self.observe().map_err(stopped)?;
        let frozen = self.whole.populations.frozen_of(freezing)?;
        let gained = self.edit(OverlapCheck::Frozen, |populations| populations.solidify(&frozen))?;
        self.whole.populations.ledger.work.inserted += gained;
        Ok(frozen.body_boundary.body)
    }

    /// Free space for spheres up to the `largest` radius with their centers between two corners \[m\].
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn room(&mut self, low: Vec3, high: Vec3, largest: f64) -> Result<FreeSpace<'_>, WorldError> {
        self.observe().map_err(stopped)?;
        self.whole
            .populations
            .walls
            .sort(self.whole.populations.grains.cells.largest_radius());
        let is_near = |seen: &PlacedGrain| {
            let reach = seen.radius + largest;
            (0..3).all(|k| seen.center[k] >= low[k] - reach && seen.center[k] <= high[k] + reach)
        };
        let near: Vec<PlacedGrain> = self.grains().filter(is_near).collect();
        let mut room = FreeSpace::among(
            &self.whole.populations.walls,
            near.iter().fold(largest, |most, seen| most.max(seen.radius)),
        );
        near.iter().for_each(|seen| room.take(seen.center, seen.radius));
        Ok(room)
    }
}

/// Corners of the box around these centers \[m\].
fn corners_of(centers: &[Vec3]) -> [Vec3; 2] {
    let bound = |of: fn(f64, f64) -> f64, start: f64| centers.iter().fold([start; 3], |most, x| [0, 1, 2].map(|k| of(most[k], x[k])));
    [bound(f64::min, f64::INFINITY), bound(f64::max, f64::NEG_INFINITY)]
}
