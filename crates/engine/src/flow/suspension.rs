//! Grains that are smaller than the fluid particles: forces of fluids on them, and their reaction.

use super::Flow;
use crate::fields::{FluidFields, Numbers, numbers, part_range, parts};
use crate::search::Pairs;
use crate::surroundings::Surroundings;
use crate::world::Fluids;
use seixo_laws::fluid::suspension::{Coupling, coupling};
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use seixo_sweeps::layout::{RECORD, add, load, store};
use seixo_sweeps::suspension::{borne_by, suspended};

/// Numbers per grain: two records, the contributions to its rate and to its flow.
const FOUND: usize = 2 * RECORD;

/// Grains that are smaller than the fluid particles.
pub(crate) struct Suspension {
    /// Indices of the grains among the particles.
    pub grains: Vec<u32>,
    /// All neighbors of each grain.
    pub around: Pairs,
    /// The grains near each fluid particle.
    pub near: Pairs,
    /// Results for the grains, in the order of `grains`.
    found: Vec<f64>,
    pub coupling: Coupling<f64>,
    /// Powers at the last step \[W\]: the dissipation by drag; and the gain of fluid and dissipation beyond the energy that fluid lost to grains.
    pub power_sums: FluidPowerSums,
}

impl Suspension {
    /// Without grains yet, in fluids with this time step \[s\].
    pub fn new(fluids: &Fluids, dt: f64) -> Suspension {
        Suspension {
            grains: Vec::new(),
            around: Pairs::default(),
            near: Pairs::default(),
            found: Vec::new(),
            coupling: coupling(fluids.smoothing, fluids.support, dt),
            power_sums: FluidPowerSums::default(),
        }
    }

    /// Whether there are no grains.
    pub fn is_empty(&self) -> bool {
        self.grains.is_empty()
    }

    /// Removes all neighbor lists.
    pub fn forget_rows(&mut self) {
        (self.around, self.near) = (Pairs::default(), Pairs::default());
    }

    /// Bytes of the lists.
    pub fn bytes(&self) -> u64 {
        self.around.bytes() + self.near.bytes() + (self.grains.capacity() * 4 + self.found.capacity() * 8) as u64
    }
}

impl Flow {
    /// Computes the interaction of fluids with grains that are smaller than their particles, after all other forces on fluids.
    pub fn suspend(&mut self, surroundings: &Surroundings) {
        self.suspension.power_sums = FluidPowerSums::default();
        if self.suspension.is_empty() {
            return;
        }
        self.push_grains(surroundings);
        let (mut viscous, mut lost) = (0.0, 0.0);
        for (&i, found) in self.suspension.grains.iter().zip(self.suspension.found.chunks_exact(FOUND)) {
            let at = i as usize * RECORD;
            self.fields.force_density_rate[at..][..RECORD].copy_from_slice(&found[..RECORD]);
            self.fields.velocity_pressure[at..][..RECORD].copy_from_slice(&found[RECORD..]);
            viscous += found[RECORD - 1];
            lost += found[FOUND - 1];
        }
        self.suspension.power_sums = FluidPowerSums {
            viscous,
            wall: viscous - lost,
            ..FluidPowerSums::default()
        };
        self.apply_reaction_to_fluid(surroundings);
    }

    /// Computes the fluid forces on each grain.
    fn push_grains(&mut self, surroundings: &Surroundings) {
        let n = self.suspension.grains.len();
        self.suspension.found.resize(n * FOUND, 0.0);
        let (smoother, plan, sides) = (self.smoother(), self.compiled_for, &self.stepping.sides);
        let (fields, media, body_boundaries, bodies) = (&self.fields, &self.media[..], &self.body_boundaries, &surroundings.bodies);
        let Suspension {
            grains,
            around,
            found,
            coupling,
            ..
        } = &mut self.suspension;
        let (grains, around, coupling) = (&grains[..], &*around, &*coupling);
        let data = (numbers(found, FOUND),);
        surroundings.context.device.run(parts(n), data, |part, (found,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for (slot, &i) in grains[first..end].iter().enumerate() {
                let (i, at) = (i as usize, slot * FOUND);
                found.items[at..][..FOUND].fill(0.0);
                let Some(b) = body_boundaries.index_of_body(fields.kind[i]) else {
                    continue;
                };
                let now = suspended::<f64, f64>(
                    i,
                    around.row[i] as usize,
                    around.row[i + 1] - around.row[i],
                    &around.neighbors,
                    &fields.position,
                    &fields.velocity_pressure,
                    &fields.particle_velocity,
                    &fields.force_density_rate,
                    &fields.kind,
                    media,
                    bodies.center[b * RECORD + 3],
                    &load(&fields.half_velocity, 3 * i),
                    coupling,
                    &smoother,
                    sides,
                    1,
                    plan,
                );
                store(found.items, at, &now.force);
                found.items[at + RECORD - 1] = now.drag_power;
                store(found.items, at + RECORD, &now.pull);
                found.items[at + FOUND - 1] = now.lost_power;
            }
        });
    }

    /// Applies the reaction of the grains to each fluid particle by its share.
    fn apply_reaction_to_fluid(&mut self, surroundings: &Surroundings) {
        let n = self.fields.len();
        let (smoother, plan, sides) = (self.smoother(), self.compiled_for, &self.stepping.sides);
        let FluidFields {
            position,
            velocity_pressure: flow,
            force_density_rate: rate,
            ..
        } = &mut self.fields;
        let (position, flow, near) = (&position[..], &flow[..], &self.suspension.near);
        let data = (numbers(rate, RECORD),);
        surroundings.context.device.run(parts(n), data, |part, (rate,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for j in first..end {
                let (entry, count) = (near.row[j] as usize, near.row[j + 1] - near.row[j]);
                if count > 0 {
                    let force = borne_by::<f64, f64>(j, entry, count, &near.neighbors, position, flow, &smoother, sides, 1, plan);
                    add(rate.items, (j - first) * RECORD, &force);
                }
            }
        });
    }
}
