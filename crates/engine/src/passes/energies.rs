//! Energies and momenta of a domain, and the work of its contacts.

use crate::bodies::Moving;
use crate::fields::{part_range, parts};
use crate::flow::FlowEnergy;
use crate::measure::{Momentum, NO_CONTACT, sum};
use crate::populations::Populations;
use crate::spheres::{SphereMotion, angular_velocity_of_sphere, velocity_of_sphere};
use crate::state::Ledger;
use crate::world::given_mass_or_of_sphere;
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_laws::motion::{gravity_energy, kinetic_energy};
use seixo_sweeps::contact::{PowerSums, Stored, stored_in_contacts_of};
use seixo_sweeps::layout::{RECORD, history_stride, load};
use seixo_sweeps::wall::stored_in_walls_of;

impl Populations {
    /// Linear and angular momentum of the grains and bodies.
    pub(crate) fn momentum(&self) -> Momentum {
        let Share { linear, angular, .. } = self.shares();
        Momentum { linear, angular }
    }

    /// Adds the work of the contacts in this step to the ledger: the mean of the powers at both ends of the step, times its length.
    pub(crate) fn add_contact_work(&mut self) {
        let total = |tallies: &[PowerSums<f64>]| tallies.iter().fold(NO_CONTACT, sum);
        let mut now = sum(total(&self.grains.contact_power_sums), &total(&self.grains.wall_power_sums));
        now = self.powers_of_polyhedra().fold(now, sum);
        if self.cell.is_some() {
            now.wall_power += self.power_of_cell();
        }
        let half_dt = 0.5 * self.context.stepping.dt;
        let before = std::mem::replace(&mut self.ledger.last_power_sums, now);
        self.ledger.work.normal_damping += half_dt * (before.normal_power + now.normal_power);
        self.ledger.work.tangential_damping += half_dt * (before.damping_power + now.damping_power);
        self.ledger.work.tangential += half_dt * (before.tangential_power + now.tangential_power);
        self.ledger.work.wall += half_dt * (before.wall_power + now.wall_power);
    }

    /// Adds the energy dissipated by local damping in this motion to the ledger, before any grain leaves or migrates.
    pub(crate) fn add_local_damping(&mut self) {
        self.ledger.work.local_damping += self.grains.motion_reports.iter().fold(0.0, |sum, moved| sum + moved.damping_work);
    }

    /// Adds the last work of contacts and bonds to the ledger when no grain is left.
    pub(crate) fn add_work_without_grains(&mut self) {
        self.grains.contact_power_sums.clear();
        self.grains.wall_power_sums.clear();
        if let Some(polyhedra) = &mut self.polyhedra {
            polyhedra.forget();
        }
        self.add_contact_work();
        if let Some(network) = &mut self.bonds {
            let before = std::mem::take(&mut network.last);
            network.work.damping += 0.5 * self.context.stepping.dt * before.damping_power;
        }
    }

    /// Mass of grain i \[kg\]; for a grain of a body, its share of the body's mass, by the volume of its sphere.
    pub(crate) fn mass_of(&self, i: usize) -> f64 {
        match self.body_of(i) {
            Some(b) => self.bodies.center[b * RECORD + 3] * self.bodies.offset[self.grains.fields.member[i] as usize * RECORD + 3],
            None => self.grains.fields.velocity[i * RECORD + 3],
        }
    }

    /// Mass of grain i as a single sphere \[kg\]: that which was given, or that of the density of its material.
    pub(crate) fn mass_alone(&self, i: usize) -> f64 {
        let fields = &self.grains.fields;
        let density = self.context.materials.densities[fields.material[i] as usize];
        let given = self.grains.given_masses.get(&fields.id[i]);
        given_mass_or_of_sphere(given, fields.position[i * RECORD + 3], density)
    }

    /// How grains move that are spheres and in no body.
    pub(crate) fn motion_of_spheres(&self) -> SphereMotion {
        SphereMotion {
            stepping: self.context.stepping,
            rotates: self.context.materials.has_friction,
        }
    }

    /// Velocity and angular velocity of grain i at [`crate::Simulation::time`], for these motions of the bodies.
    pub(crate) fn velocities(&self, i: usize, bodies: &[Moving]) -> (Vector3<f64>, Vector3<f64>) {
        let fields = &self.grains.fields;
        if let Some(b) = self.body_of(i) {
            let Moving { velocity, spin, .. } = &bodies[b];
            return (velocity.plus(&spin.cross(&self.bodies.arm(fields.member[i]))), *spin);
        }
        let v = velocity_of_sphere(fields, i, &self.context.stepping);
        if !self.context.materials.has_friction {
            return (v, Vector3::zero());
        }
        let of_polyhedron = self.angular_velocity_of_polyhedron(i);
        (
            v,
            of_polyhedron.unwrap_or_else(|| angular_velocity_of_sphere(fields, i, &self.context.stepping)),
        )
    }

    fn share_of(&self, part: usize) -> Share {
        let mut share = Share::default();
        let mut row = Vec::new();
        let fields = &self.grains.fields;
        let n = fields.len();
        let (part_first, part_end) = part_range(part, n);
        let stride = history_stride(self.context.materials.are_extended);
        let has_histories = self.context.materials.has_friction && !self.has_energies_of_gpus();
        let histories = has_histories.then(|| self.grains.pairs.histories_of_part(part, stride));
        // A pair in both rows is counted by halves.
        let (inside_first, inside_end) = if self.lists_once() { (part_first, part_end) } else { (0, 0) };
        for i in part_first..part_end {
            if self.body_of(i).is_none() {
                let (v, w) = self.velocities(i, &[]);
                let mass = fields.velocity[i * RECORD + 3];
                let x = load::<f64>(&fields.position, i * RECORD);
                let (rotational, own) = self.rotation_of(i, &w);
                share.kinetic += kinetic_energy(mass, &v);
                share.rotational += rotational;
                share.gravity += gravity_energy(mass, &self.context.stepping.gravity, &x);
                share.add_momentum(&v.times(mass), &x.cross(&v.times(mass)).plus(&own));
            }
            if self.has_energies_of_gpus() {
                continue;
            }
            let stored = if self.context.materials.has_friction {
                let [base, first, end] = [part_first, i, i + 1].map(|at| self.grains.pairs.row[at] as usize);
                stored_in_contacts_of::<f64, f64>(
                    i,
                    first - base,
                    end - base,
                    &self.grains.pairs.neighbors[base..],
                    histories.as_deref().unwrap_or_default(),
                    &fields.position,
                    &fields.material,
                    self.context.materials.count,
                    &self.context.materials.coefficients,
                    inside_first,
                    inside_end,
                    &self.context.stepping.sides,
                    self.context.sides,
                    true,
                    self.context.materials.are_extended,
                    true,
                )
            } else {
                self.grains.cells.neighbors(i, &fields.position, self.grains.cells.skin, &mut row);
                let (end, position, material) = (row.len(), &fields.position, &fields.material);
                stored_in_contacts_of::<f64, f64>(
                    i,
                    0,
                    end,
                    &row,
                    &[],
                    position,
                    material,
                    self.context.materials.count,
                    &self.context.materials.coefficients,
                    0,
                    0,
                    &self.context.stepping.sides,
                    self.context.sides,
                    false,
                    false,
                    false,
                )
            };
            let first = self.walls.row[i] as usize;
            // Polyhedral grains have lists of their own.
            let end = if self.is_polyhedral(i) {
                first
            } else {
                self.walls.row[i + 1] as usize
            };
            let in_walls = stored_in_walls_of::<f64, f64>(
                i,
                first,
                end,
                &self.walls.list,
                &self.walls.elements,
                &self.walls.records,
                &self.walls.history,
                &self.walls.wall_contacts,
                &fields.position,
                &fields.material,
                self.context.materials.count,
                &self.context.materials.coefficients,
                self.context.materials.has_friction,
                self.context.materials.are_extended,
            );
            share.stored.normal += stored.normal + in_walls.normal;
            share.stored.tangential += stored.tangential + in_walls.tangential;
        }
        share
    }

    fn shares(&self) -> Share {
        let mut shares = vec![Share::default(); parts(self.grains.fields.len())];
        let data = (Strided {
            items: &mut shares[..],
            per_part: 1,
        },);
        self.context
            .device
            .run(parts(self.grains.fields.len()), data, |part, (share,): (Strided<Share>,)| {
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
        let free = (0..self.bodies.len()).filter(|&b| !self.bodies.held.is_body_prescribed(b));
        free.fold(all, |mut all, b| {
            let moving = self.bodies.moving(b, &self.grains.fields, &self.context.stepping);
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

    /// Work of walls and periodic sides since time zero \[J\].
    pub(crate) fn wall_work(&self) -> f64 {
        self.ledger.work.wall + self.work_of_fluids().wall
    }

    /// Current energies, from the last observation of GPUs or from the host.
    pub(crate) fn gpu_energies(&self) -> Ledger {
        let of_grains = if self.has_energies_of_gpus() {
            self.ledger.on_gpu
        } else {
            self.energies()
        };
        let of_fluids = self.flow.as_ref().map_or_else(FlowEnergy::default, |flow| flow.energies());
        Ledger {
            kinetic: of_grains.kinetic + of_fluids.kinetic,
            compression: of_fluids.compression,
            surface: self.flow.as_ref().map_or(0.0, |flow| flow.surface_energy(&self.context.device)),
            gravity: of_grains.gravity + of_fluids.gravity,
            elastic_normal: of_grains.elastic_normal + self.flow.as_ref().map_or(0.0, |flow| flow.spring_energy(&self.context.device)),
            ..of_grains
        }
    }

    fn energies(&self) -> Ledger {
        let now = self.shares();
        let [normal, tangential] = self.polyhedra.as_ref().map_or([0.0; 2], |polyhedra| polyhedra.stored());
        Ledger {
            kinetic: now.kinetic,
            rotational: now.rotational,
            elastic_normal: now.stored.normal + normal,
            elastic_tangential: now.stored.tangential + tangential,
            elastic_bonds: self.energy_of_bonds(),
            gravity: now.gravity,
            ..Ledger::default()
        }
    }

    /// Kinetic and potential energy of a free grain when it leaves \[J\].
    pub(crate) fn energy_of(&self, i: usize) -> f64 {
        let (v, w) = self.velocities(i, &[]);
        let mass = self.grains.fields.velocity[i * RECORD + 3];
        let x = load::<f64>(&self.grains.fields.position, i * RECORD);
        kinetic_energy(mass, &v) + self.rotation_of(i, &w).0 + gravity_energy(mass, &self.context.stepping.gravity, &x)
    }
}

/// Sums of one part, added in the order of the parts.
#[derive(Clone, Copy, Default)]
pub(crate) struct Share {
    pub(crate) kinetic: f64,
    pub(crate) rotational: f64,
    pub(crate) gravity: f64,
    pub(crate) stored: Stored<f64>,
    pub(crate) linear: [f64; 3],
    pub(crate) angular: [f64; 3],
}

impl Share {
    pub(crate) fn add_momentum(&mut self, linear: &Vector3<f64>, angular: &Vector3<f64>) {
        for (sum, v) in [(&mut self.linear, linear), (&mut self.angular, angular)] {
            for (slot, x) in sum.iter_mut().zip([v.x, v.y, v.z]) {
                *slot += x;
            }
        }
    }
}
