//! What readers see of a simulation: particles, bodies, walls, contacts, energies, momenta.

use crate::backend::Observed;
use crate::bonds::{BondBreak, BondSnapshot};
use crate::broad_phase::{BroadPhase, GRAINS, PossibleContacts, WALLS};
use crate::contact_records::ContactRecord;
use crate::decomposition::Subdomains;
use crate::fields::computed;
use crate::flow::{CellSortedParticles, Flow, FluidSampler, PressureSolves};
use crate::guard::StepError;
use crate::insertion::PlacedGrain;
use crate::measure::Momentum;
use crate::periodic_cell::PeriodicCell;
use crate::polyhedra::PolyhedronSnapshot;
use crate::populations::Populations;
use crate::preview::{ColorScalar, PendingPreview};
use crate::search::StaticTable;
use crate::simulation::Simulation;
use crate::spheres::snapshot_of_spheres;
use crate::state::{
    FluidSample, FluidSnapshot, GrainColumns, GrainScalar, GrainSnapshot, Ledger, PassedParticles, ScalarLedger, WallSnapshot,
};
use crate::world::{PolyhedralShape, Vec3, WallMotion, array, vector, volume_of_sphere};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::{FREE, LOAD};
use seixo_sweeps::layout::{EXTENDED_HISTORY_STRIDE, RECORD};
use std::collections::HashSet;

const UNOBSERVED: &str = "call Simulation::observe before reading a simulation that runs on a GPU";

impl Simulation {
    /// Panics if the state was not observed: a value from it would be wrong.
    pub(crate) fn assert_observed(&self) {
        assert!(self.whole.backend.observed == Some(Observed::Everything), "{UNOBSERVED}");
    }

    /// The energy ledger at [`Simulation::time`].
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe_ledger`] or [`Simulation::observe`].
    pub fn ledger(&self) -> Ledger {
        assert!(self.whole.backend.observed >= Some(Observed::Ledger), "{UNOBSERVED}");
        let now = self.whole.populations.gpu_energies();
        let work = &self.whole.populations.ledger.work;
        let held = now.total();
        // Work of tangential forces that is neither dissipated by damping nor stored in springs was dissipated by sliding.
        let friction = work.tangential - work.tangential_damping - now.elastic_tangential;
        let bonds = self
            .whole
            .populations
            .bonds
            .as_ref()
            .map_or_else(Default::default, |network| network.work);
        let of_bonds = bonds.damping + bonds.fracture;
        let of_fluids = self.whole.populations.work_of_fluids();
        let left_domain = self.whole.populations.left_domain();
        let inserted = work.inserted
            + self
                .whole
                .populations
                .flow
                .as_ref()
                .map_or(0.0, |flow| flow.open_boundaries.inserted);
        let wall_work = self.whole.populations.wall_work();
        let by_fluids = of_fluids.viscous + of_fluids.diffusive;
        let taken = work.normal_damping + work.tangential_damping + friction + work.local_damping + of_bonds + by_fluids + left_domain;
        Ledger {
            normal_damping: work.normal_damping,
            tangential_damping: work.tangential_damping,
            friction,
            local_damping: work.local_damping,
            bond_damping: bonds.damping,
            fracture: bonds.fracture,
            viscosity: of_fluids.viscous,
            diffusion: of_fluids.diffusive,
            wall_work,
            left_domain,
            inserted,
            initial: work.initial,
            residual: held + taken - wall_work - inserted - work.initial,
            ..now
        }
    }

    /// Linear and angular momentum at [`Simulation::time`].
    pub fn momentum(&self) -> Momentum {
        self.assert_observed();
        self.whole.populations.momentum()
    }

    /// All grains at this time, in the order of their ids.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn snapshot(&self) -> GrainSnapshot {
        self.snapshot_with(GrainColumns::ALL)
    }

    /// Like [`Simulation::snapshot`], with these columns only.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn snapshot_with(&self, columns: GrainColumns) -> GrainSnapshot {
        self.assert_observed();
        let populations = &self.whole.populations;
        let (fields, device) = (&populations.grains.fields, &populations.context.device);
        let order = populations.order_by_id();
        let count = |is_wanted: bool| if is_wanted { order.len() } else { 0 };
        let bodies = populations.bodies.all_moving(fields, &populations.context.stepping);
        let velocities = |slot: usize| populations.velocities(order[slot] as usize, &bodies);
        let body = |slot: usize| {
            let carrier = populations.body_of(order[slot] as usize);
            carrier.map_or(-1, |b| i64::from(populations.bodies.id[b]))
        };
        let polyhedra = populations.polyhedra.as_deref();
        let shapes: &[PolyhedralShape] = polyhedra.map_or(&[][..], |polyhedra| &polyhedra.shapes.given[..]);
        let volume = |slot: usize| {
            let i = order[slot] as usize;
            let (radius, shape) = (fields.position[RECORD * i + 3], fields.shape.get(i).copied().unwrap_or_default());
            let shape = (shape as usize).checked_sub(1).and_then(|index| shapes.get(index));
            shape.map_or_else(|| volume_of_sphere(radius), |shape| shape.volume_at(radius))
        };
        let (orientations, _) = fields.orientation.as_chunks::<RECORD>();
        let has_orientations = !orientations.is_empty() || populations.bodies.are_present;
        let orientation = |slot: usize| {
            let i = order[slot] as usize;
            orientations.get(i).copied().unwrap_or_else(|| populations.orientation_in_body(i))
        };
        // Bodies and shapes determine these; loads of fluids are added to forces and torques.
        let has_loads = columns.force || columns.torque;
        let of_spheres = GrainColumns {
            velocity: false,
            angular_velocity: false,
            mass: false,
            volume: false,
            force: has_loads,
            torque: has_loads,
            ..columns
        };
        let mut spheres = snapshot_of_spheres(fields, &order, &populations.motion_of_spheres(), of_spheres, device);
        if has_loads {
            self.add_loads_of_fluids(&order, &mut spheres.force, &mut spheres.torque);
        }
        GrainSnapshot {
            velocity: computed(device, count(columns.velocity), |slot| array(&velocities(slot).0)),
            angular_velocity: computed(device, count(columns.angular_velocity), |slot| array(&velocities(slot).1)),
            force: if columns.force { spheres.force } else { Vec::new() },
            torque: if columns.torque { spheres.torque } else { Vec::new() },
            body: computed(device, count(columns.body && populations.bodies.are_present), body),
            mass: computed(device, count(columns.mass), |slot| populations.mass_of(order[slot] as usize)),
            volume: computed(device, count(columns.volume), volume),
            shape: computed(device, count(columns.shape && !fields.shape.is_empty()), |slot| {
                fields.shape[order[slot] as usize]
            }),
            shapes: polyhedra.map_or_else(Default::default, |polyhedra| polyhedra.shapes.given.clone()),
            orientation: computed(device, count(columns.orientation && has_orientations), orientation),
            scalars: fields.scalars.picked(&order),
            cell: self.cell(),
            ..spheres
        }
    }

    /// All walls at this time.
    pub fn walls(&self) -> Vec<WallSnapshot> {
        self.assert_observed();
        let populations = &self.whole.populations;
        let mut loads = populations.walls.loads(&populations.grains.fields);
        let of_fluids = populations
            .flow
            .as_ref()
            .map_or_else(Vec::new, |flow| flow.loads(&populations.surroundings()));
        for (all, one) in loads.iter_mut().zip(of_fluids) {
            all.force = [0, 1, 2].map(|axis| all.force[axis] + one.force[axis]);
            all.torque = [0, 1, 2].map(|axis| all.torque[axis] + one.torque[axis]);
            all.power += one.power;
        }
        let borne = self.walls_now().into_iter().zip(loads).enumerate();
        let borne = borne.map(|(index, (wall, load))| WallSnapshot {
            force: load.force,
            torque: load.torque,
            power: load.power,
            wear: populations.walls.wear(index),
            ..wall
        });
        borne.collect()
    }

    /// Whether contacts of grains are computed from neighbor lists. Otherwise they are searched at every step.
    pub fn has_neighbor_lists(&self) -> bool {
        let populations = &self.whole.populations;
        populations.grains_on_gpu() || populations.lists_pairs()
    }

    /// Number of entries in the neighbor lists of grains: one or two for each pair.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn list_entries(&mut self) -> Result<u64, StepError> {
        if self.whole.populations.grains_on_gpu() {
            return self.whole.with_gpu_backend(|remote, _| remote.listed());
        }
        if self.whole.populations.grains.are_pairs_elsewhere {
            self.observe_with_contacts()?;
        }
        Ok(self.whole.populations.grains.pairs.neighbors.len() as u64)
    }

    /// Number of current contacts: pairs of grains, counted once, and grains with wall elements.
    pub fn contacts(&self) -> u64 {
        self.assert_observed();
        let ends: f64 = self
            .whole
            .populations
            .grains
            .fields
            .force
            .chunks_exact(RECORD)
            .map(|record| record[3])
            .sum();
        let with_walls = self
            .whole
            .populations
            .walls
            .wall_contacts
            .chunks_exact(seixo_sweeps::layout::WALL_CONTACT)
            .filter(|touch| touch[7] > 0.0)
            .count() as u64;
        (ends as u64 - with_walls) / 2 + with_walls
    }

    /// Pairs with a polyhedral grain at the last observation: those in the list, those in contact, and the contacts of all. A pair of polyhedra may have
    /// several contacts.
    pub fn polyhedral_pairs(&self) -> [u64; 3] {
        self.assert_observed();
        let Some(polyhedra) = &self.whole.populations.polyhedra else {
            return [0; 3];
        };
        let loads = &polyhedra.pairs.records.loads;
        let touching = loads.iter().filter(|load| load.contacts > 0).count();
        let contacts = loads.iter().map(|load| u64::from(load.contacts)).sum();
        [loads.len() as u64, touching as u64, contacts]
    }

    /// Memory of the arrays on the devices where they are stepped \[bytes\]. Copies that subdomains and GPUs send for an observation do not count.
    pub fn bytes(&self) -> u64 {
        self.subdomains
            .as_ref()
            .map_or_else(|| self.whole.bytes(), |subdomains| subdomains.bytes())
    }

    /// Bond breaks since the last call, in the order of occurrence.
    pub fn drain_bond_breaks(&mut self) -> Vec<BondBreak> {
        self.whole
            .populations
            .bonds
            .as_mut()
            .map_or_else(Vec::new, |network| std::mem::take(&mut network.breaks))
    }

    /// Number of bonds made, and number of intact ones.
    pub fn bond_counts(&self) -> [usize; 2] {
        self.whole
            .populations
            .bonds
            .as_ref()
            .map_or([0; 2], |network| [network.len(), network.intact_count()])
    }

    /// Ids of all grains that are or were bonded, in ascending order, including those that left.
    pub fn bonded_grains(&self) -> Vec<u32> {
        let mut ids = self
            .whole
            .populations
            .bonds
            .as_ref()
            .map_or_else(Vec::new, |network| network.ends.clone());
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Intact bonds at this time, in the order in which they were made.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn bonds_now(&self) -> Vec<BondSnapshot> {
        self.assert_observed();
        self.whole.populations.bond_snapshots()
    }

    /// All bodies at this time, in the order of their definition.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn bodies(&self) -> Vec<crate::BodySnapshot> {
        self.assert_observed();
        self.whole
            .populations
            .bodies
            .snapshot(&self.whole.populations.grains.fields, &self.whole.populations.context.stepping)
    }

    /// The same without an observation, with the known velocities; `None` if a GPU or subdomains step the bodies.
    pub fn bodies_now(&self) -> Option<Vec<crate::BodySnapshot>> {
        let are_here = self.subdomains.is_none() && !self.whole.populations.grains_on_gpu();
        are_here.then(|| {
            self.whole
                .populations
                .bodies
                .snapshot(&self.whole.populations.grains.fields, &self.whole.populations.context.stepping)
        })
    }

    /// All polyhedral grains at this time, in the order of their ids.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn polyhedra(&self) -> Vec<PolyhedronSnapshot> {
        self.assert_observed();
        self.whole.populations.polyhedron_snapshots()
    }

    /// Takes a preview of all particles, with positions relative to this origin \[m\]. Velocities of grains are those that the laws read in this
    /// step, which lack the forces of half a step. `None` where it would take as long as a full frame: in a decomposition, and on a GPU
    /// with servo walls.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn preview(&mut self, origin: Vec3, shade: ColorScalar) -> Result<Option<PendingPreview>, StepError> {
        // The position of a wall with a servo is in GPU memory until the next observation.
        let has_servos = self.whole.populations.walls.servos.iter().any(|&number| number != 0.0);
        if self.subdomains.is_some() || (self.whole.backend.gpu.is_some() && has_servos) {
            return Ok(None);
        }
        let grains = if self.whole.populations.grains_on_gpu() {
            self.whole.with_gpu_backend(|remote, _| Ok(remote.preview(origin, shade)))?
        } else {
            PendingPreview::of(self.whole.populations.preview_grains(origin, shade))
        };
        let fluids = if self.whole.populations.fluids_on_gpu() {
            self.whole
                .with_fluid_gpu_backend(|remote, flow, _, _| Ok(Some(remote.preview(flow, origin, shade))))?
        } else {
            self.whole
                .populations
                .flow
                .as_ref()
                .map(|flow| PendingPreview::of(flow.preview(origin, shade)))
        };
        Ok(Some(match fluids {
            Some(fluids) => PendingPreview::of([grains, fluids]),
            None => grains,
        }))
    }

    /// Walls at their current positions, without forces and wear.
    pub fn walls_now(&self) -> Vec<WallSnapshot> {
        let given = self.whole.populations.walls.given.iter().enumerate();
        let shown = given.map(|(index, wall)| {
            let (triangles, plane) = self.whole.populations.walls.surface(index);
            let (position, angle) = self.whole.populations.walls.pose_at(index, self.time());
            WallSnapshot {
                name: wall.name.clone(),
                triangles,
                plane,
                position,
                angle,
                ..WallSnapshot::default()
            }
        });
        shown.collect()
    }

    /// Rigid motion of a wall since time zero, by all of its motions with their frames and servos: the current position of its point that was at the
    /// origin then \[m\], and the rotation as a unit quaternion w x y z.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn motion_of_wall(&self, wall: usize) -> (Vec3, [f64; 4]) {
        self.assert_observed();
        let (origin, rotation) = self.whole.populations.walls.carried(wall);
        (origin, [rotation.w, rotation.x, rotation.y, rotation.z])
    }

    /// Whether exactly this motion, which does not turn the wall, moves it already, with the same current point of its axis.
    pub fn goes_straight_by(&self, wall: usize, motion: &WallMotion) -> bool {
        self.whole.populations.walls.goes_straight_by(wall, motion, self.time())
    }

    /// Current velocity of the axis of a wall \[m/s\], which is that of all its points unless it turns, and its angular velocity \[rad/s\]; a servo's
    /// included.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn velocities_of_wall(&self, wall: usize) -> [Vec3; 2] {
        self.assert_observed();
        self.whole.populations.walls.velocities_at(wall, self.time())
    }

    /// What the servo of a wall sets now: a force \[N\], a stress \[Pa\] or a torque \[N m\]; `None` for a wall without servo.
    pub fn servo_target(&self, wall: usize) -> Option<f64> {
        let servo = self.whole.populations.walls.given[wall].motion.servo.as_ref();
        servo.map(|servo| servo.target.value())
    }

    /// Whether snapshots of grains contain the ids of bodies.
    pub fn shows_bodies(&self) -> bool {
        self.whole.populations.bodies.are_present
    }

    /// Scalars that snapshots of grains contain.
    pub fn scalars(&self) -> impl Iterator<Item = GrainScalar> {
        self.whole.populations.diffusions.iter().map(|diffusion| diffusion.scalar)
    }

    /// All grains, in the order of the cells.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn grains(&self) -> impl Iterator<Item = PlacedGrain> + '_ {
        self.assert_observed();
        let fields = &self.whole.populations.grains.fields;
        (0..fields.len()).map(|i| {
            let place = &fields.position[i * RECORD..][..RECORD];
            PlacedGrain {
                id: fields.id[i],
                group: fields.group[i],
                center: [place[0], place[1], place[2]],
                radius: place[3],
                mass: self.whole.populations.mass_of(i),
                body: self.whole.populations.body_of(i).map(|b| self.whole.populations.bodies.id[b]),
                is_bound: self.whole.populations.is_bound(i),
            }
        })
    }

    /// All contacts with force at [`Simulation::time`], each once, in the order of ids. The force on a grain is the sum of its contact forces, its
    /// load and the force of fluids.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn contacts_now(&mut self) -> Result<Vec<ContactRecord>, StepError> {
        self.observe_with_contacts()?;
        let mut records = Vec::new();
        if self.whole.populations.context.materials.has_friction {
            self.whole
                .visit_contacts(|populations, i, j, of_i, _| records.extend(populations.between(i as usize, j as usize, of_i)))?;
        } else {
            let near = self.whole.populations.near_pairs();
            records.extend(
                near.into_iter()
                    .filter_map(|(i, j)| self.whole.populations.between(i, j, &[0.0; EXTENDED_HISTORY_STRIDE])),
            );
        }
        records.extend(self.whole.populations.records_of_polyhedra());
        for i in 0..self.whole.populations.grains.fields.len() {
            let touching = self.whole.populations.walls.row[i] as usize..self.whole.populations.walls.row[i + 1] as usize;
            records.extend(touching.filter_map(|k| self.whole.populations.with_wall(i, k)));
        }
        records.sort_by_key(|record| (record.a, record.b));
        Ok(records)
    }

    /// The ledger of a scalar; `None` if grains do not have it.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn scalar_ledger(&self, scalar: GrainScalar) -> Option<ScalarLedger> {
        self.assert_observed();
        let diffusion = self.whole.populations.diffusion_of(scalar)?;
        let held = diffusion.of_all(&self.whole.populations.grains.fields);
        let from_walls = diffusion.given.iter().sum::<f64>();
        Some(ScalarLedger {
            held,
            from_walls,
            inserted: diffusion.inserted,
            left: diffusion.left,
            initial: diffusion.initial,
            residual: held - from_walls - diffusion.inserted + diffusion.left - diffusion.initial,
        })
    }

    /// Current heat flow from each wall into its grains \[W\], and its heat since time zero \[J\].
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn heat_of_walls(&self) -> Vec<[f64; 2]> {
        self.assert_observed();
        let Some(heat) = self.whole.populations.diffusion_of(GrainScalar::Temperature) else {
            return Vec::new();
        };
        let flows = self.whole.populations.flows_from_walls(heat);
        flows.into_iter().zip(&heat.given).map(|(flow, &given)| [flow, given]).collect()
    }

    /// Hash tables of the spheres of fixed bodies. `None` if the search has none, without such bodies, and in several domains.
    pub fn static_table(&self) -> Option<StaticTable> {
        if self.subdomains.is_some() {
            return None;
        }
        let fixed = self.whole.populations.grains.cells.tables.as_ref()?.at_rest()?;
        Some(StaticTable {
            spheres: fixed.names().len(),
            fills: fixed.fills(),
        })
    }

    /// Result of the broad phase of rigid bodies at the last rebuild. `None` if there was none: without bodies of several spheres, and as
    /// [`crate::world::Settings::broad_phase`] says; on a GPU in single precision also before the first rebuild there.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn broad_phase(&self) -> Option<BroadPhase> {
        let populations = &self.whole.populations;
        let is_left_out = populations.grains_on_gpu() && !populations.splits_broad_phase();
        if is_left_out || populations.grains.bounding_volumes.is_idle() {
            return None;
        }
        self.assert_observed();
        let wet = self
            .whole
            .populations
            .flow
            .as_ref()
            .map_or_else(HashSet::new, |flow| flow.bodies_near_fluid());
        let bodies = self
            .whole
            .populations
            .bodies
            .id
            .iter()
            .zip(&self.whole.populations.grains.bounding_volumes.near_bodies);
        let carried = self.whole.populations.grains.fields.member.iter().filter(|&&member| member != FREE);
        let marked = |mark: u8| {
            carried
                .clone()
                .filter(|&&member| self.whole.populations.grains.bounding_volumes.may_contact(mark, member))
                .count()
        };
        Some(BroadPhase {
            bodies: bodies
                .map(|(id, &near)| PossibleContacts {
                    fluid: wet.contains(id),
                    solid: near != 0,
                })
                .collect(),
            spheres: self.whole.populations.bodies.body_of.len(),
            near_grains: marked(GRAINS),
            near_walls: marked(WALLS),
        })
    }

    /// The periodic cell at [`Simulation::time`].
    pub fn cell(&self) -> PeriodicCell {
        let Populations { context, cell, .. } = &self.whole.populations;
        let there = PeriodicCell::of(context.domain.as_ref(), self.time());
        match cell {
            Some(cell) => there.stretched(array(&context.stepping.sides.length), cell.speed),
            None => there,
        }
    }

    /// Number of fluid particles.
    pub fn fluid_particles(&self) -> usize {
        let whole = self.whole.populations.fluid_particles();
        self.subdomains.as_ref().map_or(whole, Subdomains::fluid_particles)
    }

    /// Mean number of neighbors of a fluid particle: those within the support, and those in its list.
    ///
    /// # Errors
    /// If the GPU fails.
    ///
    /// # Panics
    /// As [`Simulation::snapshot`], and in the work of [`Simulation::advance_while`], as a GPU takes the next steps then.
    pub fn fluid_neighbors(&self) -> Result<[f64; 2], StepError> {
        self.assert_observed();
        assert!(!self.whole.backend.is_batch_queued, "the GPU takes the next steps already");
        let Some(flow) = &self.whole.populations.flow else {
            return Ok([0.0; 2]);
        };
        let ends = match &self.whole.backend.fluids {
            Some(remote) => remote
                .neighbors(flow)
                .map_err(|error| self.whole.populations.failed(error.to_string()))?,
            None => flow.neighbors(),
        };
        Ok(ends.map(|ends| ends as f64 / flow.count.max(1) as f64))
    }

    /// Statistics of the pressure solutions of incompressible fluids since this simulation was set up or restored; empty for other fluids.
    pub fn solves_of_fluids(&self) -> PressureSolves {
        self.whole
            .populations
            .flow
            .as_ref()
            .map_or_else(PressureSolves::default, |flow| flow.projector.solves)
    }

    /// The warning about steps that continued although the pressure solver of incompressible fluids had not converged, if there were any.
    pub fn warning_of_fluids(&self) -> Option<String> {
        let flow = self.whole.populations.flow.as_ref()?;
        flow.projector.solves.warning(&flow.plan.projection)
    }

    /// Names of the fluids, in the order of their numbers.
    pub fn names_of_fluids(&self) -> Vec<String> {
        let names = |flow: &Flow| flow.plan.kinds.iter().map(|fluid| fluid.name.clone()).collect();
        self.whole.populations.flow.as_deref().map_or_else(Vec::new, names)
    }

    /// All fluid particles in their current state, in the order of their ids; `None` without fluids.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn fluid(&self) -> Option<FluidSnapshot> {
        self.assert_observed();
        self.whole.populations.flow.as_ref().map(|flow| flow.snapshot())
    }

    /// Linear momentum of all fluids \[kg m/s\].
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn momentum_of_fluids(&self) -> Vec3 {
        self.assert_observed();
        let Some(flow) = &self.whole.populations.flow else {
            return [0.0; 3];
        };
        let sum = flow.of_fluid().fold(Vector3::zero(), |all: Vector3<f64>, i| {
            all.plus(&flow.velocity(i).times(flow.mass(i)))
        });
        array(&sum)
    }

    /// A sampler of the current state of fluids; use one sampler for many points. Without fluids all samples are empty.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn sample_fluids(&self) -> FluidSampler<'_> {
        self.assert_observed();
        FluidSampler(self.whole.populations.flow.as_deref().map(CellSortedParticles::of))
    }

    /// Fluid properties at these points \[m\]; all are empty without fluids.
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn sample_fluid(&self, points: &[Vec3]) -> Vec<FluidSample> {
        let look = self.sample_fluids();
        points.iter().map(|point| look.at(point)).collect()
    }

    /// Fluid load on each body, in the order of the table: force \[N\], and torque about its center of mass \[N m\].
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn loads_of_fluids_on_bodies(&self) -> Vec<[[f64; 3]; 2]> {
        self.assert_observed();
        let of_body = |b: usize| {
            let of = |at: usize| {
                let numbers = self.whole.populations.bodies.load.get(at..at + 3);
                numbers.map_or([0.0; 3], |numbers| [numbers[0], numbers[1], numbers[2]])
            };
            [of(b * LOAD), of(b * LOAD + RECORD)]
        };
        (0..self.whole.populations.bodies.len()).map(of_body).collect()
    }

    /// Load on each body by the contacts, bonds and external loads of its grains, in the order of the table: force \[N\], and torque about its center of
    /// mass \[N m\].
    ///
    /// # Panics
    /// If the simulation runs on a GPU and took steps since [`Simulation::observe`], as with all functions that read its state.
    pub fn loads_of_grains_on_bodies(&self) -> Vec<[[f64; 3]; 2]> {
        self.assert_observed();
        let populations = &self.whole.populations;
        let push = |b: usize| populations.bodies.push_of_grains(b, &populations.grains.fields);
        let loads = (0..populations.bodies.len()).map(push);
        loads.map(|push| [array(&push.force), array(&push.torque)]).collect()
    }

    /// Adds the fluid loads on bodies to the forces and torques of the grains with these indices. Each grain gets a share of the force by volume, and
    /// a torque for the part of the moment that these forces do not have: on a body they add up to its load.
    pub(crate) fn add_loads_of_fluids(&self, order: &[u32], force: &mut [Vec3], torque: &mut [Vec3]) {
        if self.whole.populations.bodies.load.is_empty() {
            return;
        }
        let bodies = &self.whole.populations.bodies;
        let share = |member: u32| bodies.offset[member as usize * RECORD + 3];
        let loads = self.loads_of_fluids_on_bodies().into_iter().enumerate();
        let shared: Vec<[Vector3<f64>; 2]> = loads
            .map(|(b, [push, twist])| {
                let (push, twist) = (vector(push), vector(twist));
                let members = bodies.row[b]..bodies.row[b + 1];
                let middle = members.fold(Vector3::<f64>::zero(), |sum, m| sum.plus(&bodies.arm(m).times(share(m))));
                [push, twist.minus(&middle.cross(&push))]
            })
            .collect();
        for (slot, &i) in order.iter().enumerate() {
            let Some(b) = self.whole.populations.body_of(i as usize) else {
                continue;
            };
            let [push, twist] = shared[b].map(|whole| array(&whole.times(share(self.whole.populations.grains.fields.member[i as usize]))));
            force[slot] = [0, 1, 2].map(|k| force[slot][k] + push[k]);
            torque[slot] = [0, 1, 2].map(|k| torque[slot][k] + twist[k]);
        }
    }

    /// The warning about fluid that leaked, or flowed over a rim, if there is any: in a world without a domain nothing removes it, and nothing stops
    /// the run. For a GPU it is as of the last observation.
    pub fn leak_of_fluids(&self) -> Option<String> {
        let flow = self
            .whole
            .populations
            .flow
            .as_ref()
            .filter(|_| self.whole.populations.context.domain.is_none())?;
        let below = flow.below_all_walls(&self.whole.populations.walls);
        let first = *below.iter().min_by_key(|&&i| flow.fields.id[i])?;
        let [x, y, z] = array(&flow.place(first));
        Some(format!(
            "particle {} of fluid {:?} is at ({x:.4}, {y:.4}, {z:.4}) m, below all walls, and {} more: it leaked, or flowed over a rim; a \
             world.domain with leaving = \"delete\" takes such away, one with \"error\" stops the run",
            flow.fields.id[first],
            flow.plan.kinds[flow.fields.kind[first] as usize].name,
            below.len() - 1
        ))
    }

    /// Particles that entered fluids by each inlet since time zero, followed by those that left by each outlet.
    pub fn passed_fluids(&self) -> Vec<PassedParticles> {
        self.whole
            .populations
            .flow
            .as_ref()
            .map_or_else(Vec::new, |flow| flow.open_boundaries.passed.clone())
    }
}
