//! Measurements of fluids.

use super::{Flow, Muller};
use crate::fields::{PART, part_range};
use crate::state::FluidSnapshot;
use crate::world::array;
use seixo_laws::Vector3;
use seixo_laws::motion::{gravity_energy, kinetic_energy, velocity_ahead};
use seixo_sweeps::fluid::mass_at;
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::periodic::nearest_image;

/// Energies of fluids \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FlowEnergy {
    pub kinetic: f64,
    /// Energy stored by pressure.
    pub compression: f64,
    pub gravity: f64,
}

/// Energies that viscosity and the density diffusion dissipated, and that fluid gained with its surface, or the powers of these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FlowEnergies {
    pub viscous: f64,
    pub diffusive: f64,
    pub gained: f64,
}

impl FlowEnergies {
    pub fn plus(self, other: &FlowEnergies) -> FlowEnergies {
        FlowEnergies {
            viscous: self.viscous + other.viscous,
            diffusive: self.diffusive + other.diffusive,
            gained: self.gained + other.gained,
        }
    }

    pub fn minus(self, other: &FlowEnergies) -> FlowEnergies {
        FlowEnergies {
            viscous: self.viscous - other.viscous,
            diffusive: self.diffusive - other.diffusive,
            gained: self.gained - other.gained,
        }
    }

    /// These energies as sums of the ledger. The energy that fluid gains beyond its own exchange comes from walls.
    pub fn power_sums(&self) -> FluidPowerSums {
        FluidPowerSums {
            viscous: self.viscous,
            diffusive: self.diffusive,
            wall: self.gained + self.viscous + self.diffusive,
        }
    }
}

impl FlowEnergy {
    pub fn total(&self) -> f64 {
        self.kinetic + self.compression + self.gravity
    }
}

impl Flow {
    /// Mass of fluid particle i \[kg\].
    pub fn mass(&self, i: usize) -> f64 {
        mass_at(&self.media, self.fields.kind[i] as usize)
    }

    /// Position of particle i \[m\].
    pub fn place(&self, i: usize) -> Vector3<f64> {
        load(&self.fields.position, i * RECORD)
    }

    /// The vector to a point from particle i, or from its nearest image \[m\].
    pub fn apart(&self, point: &Vector3<f64>, i: usize) -> Vector3<f64> {
        nearest_image::<f64, f64>(&point.minus(&self.place(i)), &self.stepping.sides, self.compiled_for.sides).apart
    }

    /// Velocity of fluid particle i at the current time \[m/s\].
    pub fn velocity(&self, i: usize) -> Vector3<f64> {
        let rate = load::<f64>(&self.fields.force_density_rate, i * RECORD).times(1.0 / self.mass(i));
        velocity_ahead(
            &load(&self.fields.half_velocity, 3 * i),
            &rate.plus(&self.stepping.gravity),
            self.stepping.velocity_lead,
        )
    }

    /// Energies of fluid particle i.
    pub fn energy_of(&self, i: usize) -> FlowEnergy {
        let fluid = &self.plan.kinds[self.fields.kind[i] as usize];
        let (mass, excess) = (self.mass(i), self.fields.density_error[i]);
        let compression = if self.is_incompressible() {
            // Solvers that keep densities store no energy.
            0.0
        } else {
            let swollen = self.plan.volume() * excess / (1.0 + excess);
            let stored = fluid.state.energy(fluid.density * (1.0 + excess), fluid.density, fluid.sound_speed);
            // Müller's pressure does half of the work of its equation of state, see [`seixo_laws::fluid::muller`].
            let per_mass = if self.muller.is_some() { 0.5 * stored } else { stored };
            mass * per_mass + fluid.background_pressure * swollen
        };
        FlowEnergy {
            kinetic: kinetic_energy(mass, &self.velocity(i)),
            compression,
            gravity: gravity_energy(mass, &self.stepping.gravity, &self.place(i)),
        }
    }

    /// Energies of all fluids, in the order of their particles.
    pub fn energies(&self) -> FlowEnergy {
        self.of_fluid().fold(FlowEnergy::default(), |mut all, i| {
            let one = self.energy_of(i);
            all.kinetic += one.kinetic;
            all.compression += one.compression;
            all.gravity += one.gravity;
            all
        })
    }

    /// Indices of the fluid particles.
    pub fn of_fluid(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.fields.len()).filter(|&i| !self.is_wall(i))
    }

    /// Numbers of neighbors of all fluid particles: those within the support, and those in their lists.
    pub(crate) fn neighbors(&self) -> [u64; 2] {
        let n = self.fields.len();
        let support = self.plan.support;
        let (mut near, mut listed) = (0, 0);
        for i in 0..n {
            let (first, end) = part_range(i / PART, n);
            for &j in self.pairs.of(i) {
                let j = j as usize;
                let apart = self.apart(&self.place(i), j);
                let is_near = u64::from(apart.dot(&apart) < support * support);
                let is_inside = self.lists_once() && (first..end).contains(&j);
                let ends = u64::from(!self.is_wall(i)) + u64::from(is_inside && !self.is_wall(j));
                near += ends * is_near;
                listed += ends;
            }
        }
        [near, listed]
    }

    /// Bytes of the arrays.
    pub fn bytes(&self) -> u64 {
        let of_solvers = self.projector.bytes() + self.muller.as_ref().map_or(0, Muller::bytes);
        self.fields.bytes() + self.cells.bytes() + self.pairs.bytes() + self.before_walls.bytes() + self.suspension.bytes() + of_solvers
    }

    pub(crate) fn snapshot(&self) -> FluidSnapshot {
        let mut order: Vec<usize> = self.of_fluid().collect();
        order.sort_unstable_by_key(|&i| self.fields.id[i]);
        let fields = &self.fields;
        FluidSnapshot {
            id: order.iter().map(|&i| fields.id[i]).collect(),
            kind: order.iter().map(|&i| fields.kind[i]).collect(),
            position: order.iter().map(|&i| array(&self.place(i))).collect(),
            velocity: order.iter().map(|&i| array(&self.velocity(i))).collect(),
            density: order
                .iter()
                .map(|&i| self.plan.kinds[fields.kind[i] as usize].density * (1.0 + fields.density_error[i]))
                .collect(),
            pressure: order.iter().map(|&i| fields.velocity_pressure[i * RECORD + 3]).collect(),
        }
    }
}
