//! Rigid bodies that melt: between two steps, fluid replaces them.
//!
//! The fluid has the mass of the body as far as whole particles can, and its momentum and angular momentum. Its pressure decreases with height like
//! that of the fluid around it.

use super::Flow;
use crate::fields::FluidFields;
use crate::surroundings::Surroundings;
use crate::world::{Vec3, array};
use seixo_laws::Vector3;
use seixo_sweeps::layout::RECORD;

/// A body that is to melt.
#[derive(Clone, Debug, PartialEq)]
pub struct Melting {
    /// Its id: one of a body that is coupled to fluids.
    pub body: u32,
    /// The fluid that replaces it: index into [`crate::world::Fluids::kinds`].
    pub fluid: u32,
    /// Sites for particles, relative to its center, in the frame of its principal axes \[m\]. If particles at all sites have more mass than the body,
    /// those farthest from the center stay empty.
    pub sites: Vec<Vec3>,
}

impl Melting {
    /// Number of particles of this mass that replace a body of that mass \[kg\]: the nearest number, but at least one, and at most that of the sites.
    pub fn particles(&self, of_body: f64, of_particle: f64) -> usize {
        let room = self.sites.len().max(1);
        ((of_body / of_particle).round() as usize).clamp(1, room)
    }
}

/// The fluid that replaces a body.
pub(crate) struct Melt {
    pub kind: u32,
    /// Positions \[m\].
    pub(crate) position: Vec<Vector3<f64>>,
    /// Velocities \[m/s\].
    pub velocity: Vec<Vector3<f64>>,
    /// Pressures \[Pa\].
    pub pressure: Vec<f64>,
}

impl Flow {
    /// Pressure at the origin of a hydrostatic fluid with this force density \[N/m³\] and the pressure in front of a body \[Pa\]; `None` if there is
    /// no fluid in front of it.
    pub(crate) fn head_before(&self, body_boundary: usize, pull: &Vector3<f64>) -> Option<f64> {
        let fields = &self.fields;
        let pressure = |i: usize| fields.velocity_pressure[i * RECORD + 3];
        let sees_fluid = |i: &usize| self.body_boundaries.of_kind(fields.kind[*i]) == Some(body_boundary) && pressure(*i) > 0.0;
        let (mut count, mut sum) = (0, 0.0);
        for i in (0..fields.len()).filter(sees_fluid) {
            count += 1;
            sum += pressure(i) - pull.dot(&self.place(i));
        }
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Inserts fluid for bodies that are removed, and recomputes forces. All fluid keeps its current velocities.
    pub(crate) fn take_in(&mut self, melts: &[Melt], surroundings: &Surroundings) {
        self.follow_bodies(surroundings);
        if self.pairs_hold_energy() {
            // The bodies take the energy of their pairs along, which is computed from lists without the new particles.
            self.rebuild_neighbor_lists(surroundings);
        }
        self.keep_velocities();
        let mut new = FluidFields::default();
        for melt in melts {
            for ((place, velocity), &pressure) in melt.position.iter().zip(&melt.velocity).zip(&melt.pressure) {
                let id = self.open_boundaries.next_id as u32;
                self.open_boundaries.next_id += 1;
                self.put_fluid(&mut new, [id, melt.kind], [array(place), array(velocity)], pressure);
            }
        }
        self.count += new.len();
        self.fields.append(&new);
        self.rebuild_neighbor_lists(surroundings);
        self.begin(surroundings);
    }
}
