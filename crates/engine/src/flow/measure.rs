//! What is measured of fluids.

use super::{Flow, Muller, Solves};
use crate::contact_records::array;
use crate::division::Division;
use crate::fields::{PART, part_range};
use crate::guard::Stop;
use crate::simulation::Simulation;
use crate::state::FluidSnapshot;
use crate::world::Vec3;
use seixo_device::gpu::GpuError;
use seixo_laws::Vector3;
use seixo_laws::motion::{gravity_energy, kinetic_energy, velocity_ahead};
use seixo_sweeps::fluid::mass_at;
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::sides::nearest_image;
use seixo_sweeps::views::{RECORD, load};

/// Energies of fluids \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FlowEnergy {
    pub kinetic: f64,
    /// Stored by pressure.
    pub compression: f64,
    pub gravity: f64,
}

/// Sums of what viscosity and the diffusion of density took, and of what fluid gained with its surface, or the powers of these.
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

    /// What fluid gains more than it loses by itself comes from walls.
    pub fn tally(&self) -> FlowTally {
        FlowTally {
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
    /// Mass of particle i of fluid \[kg\].
    pub fn mass(&self, i: usize) -> f64 {
        mass_at(&self.media, self.fields.kind[i] as usize)
    }

    /// Place of particle i \[m\].
    pub fn place(&self, i: usize) -> Vector3<f64> {
        load(&self.fields.position, i * RECORD)
    }

    /// The vector to a point from particle i, or from its nearest image \[m\].
    pub fn apart(&self, point: &Vector3<f64>, i: usize) -> Vector3<f64> {
        nearest_image::<f64, f64>(&point.minus(&self.place(i)), &self.stepping.sides, self.compiled_for.sides).apart
    }

    /// Velocity of particle i of fluid at this time \[m/s\].
    pub fn velocity(&self, i: usize) -> Vector3<f64> {
        let rate = load::<f64>(&self.fields.rate, i * RECORD).times(1.0 / self.mass(i));
        velocity_ahead(
            &load(&self.fields.half_velocity, 3 * i),
            &rate.plus(&self.stepping.gravity),
            self.stepping.shows_ahead,
        )
    }

    /// Energies of particle i of fluid.
    pub fn energy_of(&self, i: usize) -> FlowEnergy {
        let fluid = &self.plan.kinds[self.fields.kind[i] as usize];
        let (mass, excess) = (self.mass(i), self.fields.excess[i]);
        let compression = if self.is_incompressible() {
            // What keeps densities stores nothing.
            0.0
        } else {
            let swollen = self.plan.volume() * excess / (1.0 + excess);
            let stored = fluid.state.energy(fluid.density * (1.0 + excess), fluid.density, fluid.sound_speed);
            // Müller's pressure does half of the work that its equation of state tells, see [`seixo_laws::fluid::muller`].
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

    /// Places of the particles of fluid.
    pub fn of_fluid(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.fields.len()).filter(|&i| !self.is_wall(i))
    }

    /// Neighbors of a particle of fluid on average, within the support and in the lists.
    fn neighbors(&self) -> Result<[f64; 2], GpuError> {
        let per_particle = |ends: [u64; 2]| ends.map(|ends| ends as f64 / self.count.max(1) as f64);
        if let Some(remote) = &self.remote {
            return remote.neighbors(self).map(per_particle);
        }
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
        Ok(per_particle([near, listed]))
    }

    /// Bytes that the arrays hold.
    pub fn bytes(&self) -> u64 {
        let of_solvers = self.projector.bytes() + self.muller.as_ref().map_or(0, Muller::bytes);
        self.fields.bytes() + self.cells.bytes() + self.pairs.bytes() + self.before_walls.bytes() + self.suspension.bytes() + of_solvers
    }

    fn snapshot(&self) -> FluidSnapshot {
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
                .map(|&i| self.plan.kinds[fields.kind[i] as usize].density * (1.0 + fields.excess[i]))
                .collect(),
            pressure: order.iter().map(|&i| fields.flow[i * RECORD + 3]).collect(),
        }
    }
}

impl Simulation {
    /// Particles of fluids.
    pub fn fluid_particles(&self) -> usize {
        let whole = self.flow.as_ref().map_or(0, |flow| flow.count);
        self.division.as_ref().map_or(whole, Division::fluid_particles)
    }

    /// Neighbors of a particle of fluid on average: those within the support, and those in its list.
    ///
    /// # Errors
    /// If the GPU fails.
    ///
    /// # Panics
    /// As [`Simulation::ledger`].
    pub fn fluid_neighbors(&self) -> Result<[f64; 2], Stop> {
        self.assert_observed();
        let found = self.flow.as_ref().map_or(Ok([0.0; 2]), |flow| flow.neighbors());
        found.map_err(|error| self.failed(error.to_string()))
    }

    /// How pressures of incompressible fluids were found since this simulation was set up or restored; of other fluids, nothing ever was.
    pub fn solves_of_fluids(&self) -> Solves {
        self.flow.as_ref().map_or_else(Solves::default, |flow| flow.projector.solves)
    }

    /// What should be told of steps that went on although pressures of incompressible fluids had not been found, if there were any.
    pub fn warning_of_fluids(&self) -> Option<String> {
        let flow = self.flow.as_ref()?;
        flow.projector.solves.warning(&flow.plan.projection)
    }

    /// Names of the fluids, in the order of their numbers.
    pub fn names_of_fluids(&self) -> Vec<String> {
        let names = |flow: &Flow| flow.plan.kinds.iter().map(|fluid| fluid.name.clone()).collect();
        self.flow.as_deref().map_or_else(Vec::new, names)
    }

    /// All particles of fluids as they stand, in the order of their ids; `None` in a dry world.
    ///
    /// # Panics
    /// As [`Simulation::ledger`].
    pub fn fluid(&self) -> Option<FluidSnapshot> {
        self.assert_observed();
        self.flow.as_ref().map(|flow| flow.snapshot())
    }

    /// Linear momentum of all fluids \[kg m/s\].
    ///
    /// # Panics
    /// As [`Simulation::ledger`].
    pub fn momentum_of_fluids(&self) -> Vec3 {
        self.assert_observed();
        let Some(flow) = &self.flow else { return [0.0; 3] };
        let sum = flow.of_fluid().fold(Vector3::zero(), |all: Vector3<f64>, i| {
            all.plus(&flow.velocity(i).times(flow.mass(i)))
        });
        array(&sum)
    }
}
