//! What is measured: the ledger, snapshots, momenta.

use crate::bodies::Moving;
use crate::contact_records::array;
use crate::fields::{part_range, parts};
use crate::flow::FlowEnergy;
use crate::simulation::Simulation;
use crate::state::{GrainSnapshot, Ledger, WallSnapshot};
use seixo_device::Strided;
use seixo_laws::motion::{gravity_energy, inertia, kinetic_energy, rotational_energy, velocity_ahead};
use seixo_laws::{Real, Vector3};
use seixo_sweeps::contact::{Stored, Tally, stored_in_contacts_of};
use seixo_sweeps::motion::{acceleration, angular_acceleration};
use seixo_sweeps::views::{RECORD, load};
use seixo_sweeps::wall::stored_in_walls_of;

/// Energies taken since time zero \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Work {
    pub normal_damping: f64,
    /// By tangential forces: into springs, by damping, by sliding.
    pub tangential: f64,
    pub tangential_damping: f64,
    pub local_damping: f64,
    pub wall: f64,
    pub left_domain: f64,
    pub inserted: f64,
    pub initial: f64,
}

impl Work {
    /// The sum of both.
    pub fn plus(&self, other: &Work) -> Work {
        Work {
            normal_damping: self.normal_damping + other.normal_damping,
            tangential: self.tangential + other.tangential,
            tangential_damping: self.tangential_damping + other.tangential_damping,
            local_damping: self.local_damping + other.local_damping,
            wall: self.wall + other.wall,
            left_domain: self.left_domain + other.left_domain,
            inserted: self.inserted + other.inserted,
            initial: self.initial + other.initial,
        }
    }
}

/// Linear and angular momentum of all grains but those of bodies that are held.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Σ m v \[kg m/s\].
    pub linear: [f64; 3],
    /// Σ x × m v + I ω about the origin \[kg m²/s\].
    pub angular: [f64; 3],
}

/// Sums of one part, folded in the order of the parts.
#[derive(Clone, Copy, Default)]
struct Share {
    kinetic: f64,
    rotational: f64,
    gravity: f64,
    stored: Stored<f64>,
    linear: [f64; 3],
    angular: [f64; 3],
}

impl Share {
    fn add_momentum(&mut self, linear: &Vector3<f64>, angular: &Vector3<f64>) {
        for (sum, v) in [(&mut self.linear, linear), (&mut self.angular, angular)] {
            for (slot, x) in sum.iter_mut().zip([v.x, v.y, v.z]) {
                *slot += x;
            }
        }
    }
}

impl Simulation {
    /// Books the work of this step's contacts: a step's share is the mean of the powers at its two ends.
    pub(crate) fn book_work(&mut self) {
        let total = |tallies: &[Tally<f64>]| tallies.iter().fold(NO_CONTACT, sum);
        let now = sum(total(&self.tallies), &total(&self.wall_tallies));
        let half_dt = 0.5 * self.stepping.dt;
        let before = std::mem::replace(&mut self.last_tally, now);
        self.work.normal_damping += half_dt * (before.normal_power + now.normal_power);
        self.work.tangential_damping += half_dt * (before.damping_power + now.damping_power);
        self.work.tangential += half_dt * (before.tangential_power + now.tangential_power);
        self.work.wall += half_dt * (before.wall_power + now.wall_power);
    }

    /// Books what local damping took as grains moved, before any of them leaves or changes hands.
    pub(crate) fn book_local_damping(&mut self) {
        self.work.local_damping += self.moves.iter().fold(0.0, |sum, moved| sum + moved.damping_work);
    }

    /// As [`Simulation::book_work`] and of bonds, where no grain is left: what was done before the last of them went.
    pub(crate) fn book_without_grains(&mut self) {
        self.tallies.clear();
        self.wall_tallies.clear();
        self.book_work();
        if let Some(network) = &mut self.bonds {
            let before = std::mem::take(&mut network.last);
            network.work.damping += 0.5 * self.stepping.dt * before.damping_power;
        }
    }

    /// Mass of grain i \[kg\]: of one that is carried, its share of the body's, by the volume of its sphere.
    pub(crate) fn mass_of(&self, i: usize) -> f64 {
        match self.body_of(i) {
            Some(b) => self.bodies.center[b * RECORD + 3] * self.bodies.offset[self.fields.member[i] as usize * RECORD + 3],
            None => self.fields.velocity[i * RECORD + 3],
        }
    }

    /// Velocity and angular velocity of grain i at [`Simulation::time`], where bodies move like this.
    pub(crate) fn velocities(&self, i: usize, bodies: &[Moving]) -> (Vector3<f64>, Vector3<f64>) {
        let (fields, at) = (&self.fields, i * RECORD);
        if let Some(b) = self.body_of(i) {
            let Moving { velocity, spin, .. } = &bodies[b];
            return (velocity.plus(&spin.cross(&self.bodies.arm(fields.member[i]))), *spin);
        }
        let (radius, mass) = (fields.position[at + 3], fields.velocity[at + 3]);
        let linear = acceleration(&load(&fields.velocity, at), mass, &load(&fields.force, at), &self.stepping);
        let v = velocity_ahead(&load(&fields.half_velocity, 3 * i), &linear.rate, self.stepping.shows_ahead);
        if !self.frictional {
            return (v, Vector3::zero());
        }
        let angular = angular_acceleration(&load(&fields.spin, at), mass, radius, &load(&fields.torque, at), &self.stepping);
        (
            v,
            velocity_ahead(&load(&fields.half_spin, 3 * i), &angular.rate, self.stepping.shows_ahead),
        )
    }

    fn share_of(&self, part: usize) -> Share {
        let mut share = Share::default();
        let mut row = Vec::new();
        let fields = &self.fields;
        let n = fields.len();
        let (part_first, part_end) = part_range(part, n);
        // A pair that stands in both rows is stored by halves.
        let (inside_first, inside_end) = if self.lists_once() { (part_first, part_end) } else { (0, 0) };
        for i in part_first..part_end {
            if self.body_of(i).is_none() {
                let (v, w) = self.velocities(i, &[]);
                let mass = fields.velocity[i * RECORD + 3];
                let radius = fields.position[i * RECORD + 3];
                let x = load::<f64>(&fields.position, i * RECORD);
                share.kinetic += kinetic_energy(mass, &v);
                share.rotational += rotational_energy(mass, radius, &w);
                share.gravity += gravity_energy(mass, &self.stepping.gravity, &x);
                share.add_momentum(&v.times(mass), &x.cross(&v.times(mass)).plus(&w.times(inertia(mass, radius))));
            }
            if self.is_remote() {
                continue;
            }
            let stored = if self.frictional {
                let (first, end) = (self.pairs.row[i] as usize, self.pairs.row[i + 1] as usize);
                stored_in_contacts_of::<f64, f64>(
                    i,
                    first,
                    end,
                    &self.pairs.neighbors,
                    &self.pairs.history,
                    &fields.position,
                    &fields.material,
                    self.materials,
                    &self.table,
                    inside_first,
                    inside_end,
                    &self.stepping.sides,
                    self.sides,
                    true,
                    self.is_compound,
                    true,
                )
            } else {
                self.cells.neighbors(i, &fields.position, self.cells.skin, &mut row);
                let (end, position, material) = (row.len(), &fields.position, &fields.material);
                stored_in_contacts_of::<f64, f64>(
                    i,
                    0,
                    end,
                    &row,
                    &[],
                    position,
                    material,
                    self.materials,
                    &self.table,
                    0,
                    0,
                    &self.stepping.sides,
                    self.sides,
                    false,
                    false,
                    false,
                )
            };
            let (first, end) = (self.walls.row[i] as usize, self.walls.row[i + 1] as usize);
            let in_walls = stored_in_walls_of::<f64, f64>(
                i,
                first,
                end,
                &self.walls.list,
                &self.walls.elements,
                &self.walls.records,
                &self.walls.history,
                &self.walls.touches,
                &fields.position,
                &fields.material,
                self.materials,
                &self.table,
                self.frictional,
                self.is_compound,
            );
            share.stored.normal += stored.normal + in_walls.normal;
            share.stored.tangential += stored.tangential + in_walls.tangential;
        }
        share
    }

    fn shares(&self) -> Share {
        let mut shares = vec![Share::default(); parts(self.fields.len())];
        let data = (Strided {
            items: &mut shares[..],
            per_part: 1,
        },);
        self.device
            .run(parts(self.fields.len()), data, |part, (share,): (Strided<Share>,)| {
                share.items[0] = self.share_of(part)
            });
        let all = shares.iter().fold(Share::default(), |mut all, share| {
            all.kinetic += share.kinetic;
            all.rotational += share.rotational;
            all.gravity += share.gravity;
            all.stored.normal += share.stored.normal;
            all.stored.tangential += share.stored.tangential;
            for axis in 0..3 {
                all.linear[axis] += share.linear[axis];
                all.angular[axis] += share.angular[axis];
            }
            all
        });
        let free = (0..self.bodies.len()).filter(|&b| !self.bodies.held.holds(b));
        free.fold(all, |mut all, b| {
            let moving = self.bodies.moving(b, &self.fields, &self.stepping);
            let [kinetic, rotational, gravity] = self.energies_of_body(b);
            all.kinetic += kinetic;
            all.rotational += rotational;
            all.gravity += gravity;
            let center = load::<f64>(&self.bodies.center, b * RECORD);
            let linear = moving.velocity.times(self.bodies.center[b * RECORD + 3]);
            all.add_momentum(&linear, &center.cross(&linear).plus(&moving.momentum));
            all
        })
    }

    /// Reading a state that is still on its way would be a wrong number.
    pub(crate) fn assert_observed(&self) {
        assert!(
            self.is_current,
            "call Simulation::observe before reading a simulation that runs on a GPU"
        );
    }

    /// The energy ledger at [`Simulation::time`].
    ///
    /// # Panics
    /// As all that reads a simulation: if it runs on a GPU and took steps since [`Simulation::observe`].
    pub fn ledger(&self) -> Ledger {
        self.assert_observed();
        let now = self.held_energies();
        let work = &self.work;
        let held = now.total();
        // What tangential forces took and neither damping nor springs have, sliding took.
        let friction = work.tangential - work.tangential_damping - now.elastic_tangential;
        let bonds = self.bonds.as_ref().map_or_else(Default::default, |network| network.work);
        let of_bonds = bonds.damping + bonds.fracture;
        let of_fluids = self.work_of_fluids();
        let left_domain = work.left_domain + self.left_with_fluids();
        let inserted = work.inserted + self.flow.as_ref().map_or(0.0, |flow| flow.passages.inserted);
        let wall_work = self.wall_work();
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

    /// What walls and periodic sides did so far \[J\].
    pub(crate) fn wall_work(&self) -> f64 {
        self.work.wall + self.work_of_fluids().wall
    }

    /// Where the energy is, as readers see it.
    pub(crate) fn held_energies(&self) -> Ledger {
        let of_grains = if self.is_remote() { self.held } else { self.energies() };
        let of_fluids = self.flow.as_ref().map_or_else(FlowEnergy::default, |flow| flow.energies());
        Ledger {
            kinetic: of_grains.kinetic + of_fluids.kinetic,
            compression: of_fluids.compression,
            surface: self.flow.as_ref().map_or(0.0, |flow| flow.surface_energy(&self.device)),
            gravity: of_grains.gravity + of_fluids.gravity,
            elastic_normal: of_grains.elastic_normal + self.flow.as_ref().map_or(0.0, |flow| flow.spring_energy(&self.device)),
            ..of_grains
        }
    }

    fn energies(&self) -> Ledger {
        let now = self.shares();
        Ledger {
            kinetic: now.kinetic,
            rotational: now.rotational,
            elastic_normal: now.stored.normal,
            elastic_tangential: now.stored.tangential,
            elastic_bonds: self.energy_of_bonds(),
            gravity: now.gravity,
            ..Ledger::default()
        }
    }

    /// Linear and angular momentum at [`Simulation::time`].
    pub fn momentum(&self) -> Momentum {
        self.assert_observed();
        let now = self.shares();
        Momentum {
            linear: now.linear,
            angular: now.angular,
        }
    }

    /// What a grain that no body carries takes along when it leaves: kinetic energy and potential in gravity \[J\].
    pub(crate) fn energy_of(&self, i: usize) -> f64 {
        let (v, w) = self.velocities(i, &[]);
        let mass = self.fields.velocity[i * RECORD + 3];
        let radius = self.fields.position[i * RECORD + 3];
        let x = load::<f64>(&self.fields.position, i * RECORD);
        kinetic_energy(mass, &v) + rotational_energy(mass, radius, &w) + gravity_energy(mass, &self.stepping.gravity, &x)
    }

    /// All grains as they stand, in the order of their ids.
    pub fn snapshot(&self) -> GrainSnapshot {
        self.assert_observed();
        let fields = &self.fields;
        let mut order: Vec<u32> = (0..fields.len() as u32).collect();
        order.sort_unstable_by_key(|&i| fields.id[i as usize]);
        let of_field = |field: &[f64]| -> Vec<[f64; 3]> {
            let (records, _) = field.as_chunks::<RECORD>();
            let record = |&i: &u32| records.get(i as usize).map_or([0.0; 3], |&[x, y, z, _]| [x, y, z]);
            order.iter().map(record).collect()
        };
        let of_words = |field: &[u32]| -> Vec<u32> { order.iter().map(|&i| field[i as usize]).collect() };
        let bodies = self.bodies.all_moving(fields, &self.stepping);
        let (velocity, angular_velocity) = order
            .iter()
            .map(|&i| self.velocities(i as usize, &bodies))
            .map(|(v, w)| (array(&v), array(&w)))
            .unzip();
        let body = |&i: &u32| self.body_of(i as usize).map_or(-1, |b| i64::from(self.bodies.id[b]));
        let (mut force, mut torque) = (of_field(&fields.force), of_field(&fields.torque));
        self.add_loads_of_fluids(&order, &mut force, &mut torque);
        GrainSnapshot {
            id: of_words(&fields.id),
            position: of_field(&fields.position),
            velocity,
            angular_velocity,
            force,
            torque,
            radius: order.iter().map(|&i| fields.position[RECORD * i as usize + 3]).collect(),
            body: if self.carries {
                order.iter().map(body).collect()
            } else {
                Vec::new()
            },
            mass: order.iter().map(|&i| self.mass_of(i as usize)).collect(),
            material: of_words(&fields.material),
            group: of_words(&fields.group),
            coordination: order.iter().map(|&i| f64::whole(fields.force[RECORD * i as usize + 3])).collect(),
            orientation: {
                let (turns, _) = fields.turn.as_chunks::<RECORD>();
                order.iter().filter_map(|&i| turns.get(i as usize).copied()).collect()
            },
            temperature: order.iter().filter_map(|&i| fields.temperature.get(i as usize).copied()).collect(),
            pressure: Vec::new(),
            fragment: Vec::new(),
            cell: self.cell(),
        }
    }

    /// All walls as they stand.
    pub fn walls(&self) -> Vec<WallSnapshot> {
        self.assert_observed();
        let mut loads = self.walls.loads();
        let of_fluids = self.flow.as_ref().map_or_else(Vec::new, |flow| flow.loads(self));
        for (all, one) in loads.iter_mut().zip(of_fluids) {
            for axis in 0..3 {
                all.0[axis] += one.0[axis];
                all.1[axis] += one.1[axis];
            }
        }
        let borne = self.walls_now().into_iter().zip(loads).enumerate();
        let borne = borne.map(|(index, (wall, (force, torque)))| WallSnapshot {
            force,
            torque,
            wear: self.walls.wear(index),
            ..wall
        });
        borne.collect()
    }

    /// Contacts that bear now: pairs of grains once, and grains with wall elements.
    pub fn contacts(&self) -> u64 {
        self.assert_observed();
        let ends: f64 = self.fields.force.chunks_exact(RECORD).map(|record| record[3]).sum();
        let with_walls = self
            .walls
            .touches
            .chunks_exact(seixo_sweeps::views::TOUCH)
            .filter(|touch| touch[7] > 0.0)
            .count() as u64;
        (ends as u64 - with_walls) / 2 + with_walls
    }

    /// Bytes that the simulation's arrays hold where they are stepped.
    pub fn bytes(&self) -> u64 {
        if let Some(remote) = &self.remote {
            return remote.gpu().peak();
        }
        let tallies = (self.tallies.capacity() + self.wall_tallies.capacity()) * size_of::<Tally<f64>>();
        self.fields.bytes()
            + self.bodies.bytes()
            + self.broad.bytes()
            + self.cells.bytes()
            + self.pairs.bytes()
            + self.old_pairs.bytes()
            + self.walls.bytes()
            + self.flow.as_ref().map_or(0, |flow| flow.bytes())
            + self.bonds.as_ref().map_or(0, |network| network.bytes())
            + self.division.as_ref().map_or(0, |division| division.bytes())
            + tallies as u64
    }
}

/// The tally of no contact at all.
pub(crate) const NO_CONTACT: Tally<f64> = Tally {
    normal_power: 0.0,
    tangential_power: 0.0,
    damping_power: 0.0,
    wall_power: 0.0,
    excess: -1.0,
};

/// Sum of two tallies.
pub(crate) fn sum(mut all: Tally<f64>, one: &Tally<f64>) -> Tally<f64> {
    all.normal_power += one.normal_power;
    all.tangential_power += one.tangential_power;
    all.damping_power += one.damping_power;
    all.wall_power += one.wall_power;
    all.excess = all.excess.max(one.excess);
    all
}
