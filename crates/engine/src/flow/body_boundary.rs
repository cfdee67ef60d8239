//! Rigid bodies that are coupled to fluids: their body boundary particles, and the forces of fluids on them. These particles are like wall particles,
//! or grains, or spheres for Müller's fluid.

use super::Flow;
use crate::bodies::Bodies;
use crate::exchange::{DecodeError, enclose_records, unfold_records};
use crate::fields::{FluidFields, Sorted};
use crate::surroundings::Surroundings;
use crate::world::{BodyBoundary, Fluids, array, volume_of_sphere};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::{FREE, IN_SPACE, LOAD, angular_velocity_in_plane, carry, in_plane, orientation_at, push_on};
use seixo_sweeps::fluid::{SUSPENDED, WALL, WallParticlePose};
use seixo_sweeps::layout::{RECORD, load, store};
use seixo_sweeps::motion::{SKIN_EXCEEDED, StepParameters};
use std::collections::HashMap;

/// The body boundary particles of all bodies that are coupled to fluids.
#[derive(Default)]
pub(crate) struct BodyBoundaries {
    /// Ids of the bodies.
    body: Vec<u32>,
    /// First particle of each body, and one more.
    pub row: Vec<u32>,
    /// Offsets of particles from the centers of their bodies, in the frames of the principal axes \[m\]. The fourth number is minus a volume \[m³\]
    /// or, for spheres, the distance of contact with fluid \[m\].
    pub offset: Vec<f64>,
    /// Whether each body is a grain that is smaller than the fluid particles.
    is_suspended: Vec<bool>,
    /// Indices of the particles among all particles.
    place: Vec<u32>,
    /// Indices of the bodies in their table; none for those that left.
    pub body_index: Vec<Option<u32>>,
    /// Ids in the table when the indices were looked up.
    seated: Vec<u32>,
    /// Index of the first body among walls and bodies, and of its first particle among wall and body boundary particles.
    pub first: [u32; 2],
    /// The axis normal to a plane flow, see [`in_plane()`].
    pub across: u32,
    /// Power that bodies gain \[W\].
    pub power: f64,
    /// Loads of all bodies, before they are copied to the table.
    pub load: Vec<f64>,
    /// Forces on the particles of all subdomains; none without a decomposition.
    heard: Option<BodyBoundaryForces>,
}

/// Fluid forces on all body boundary particles; a subdomain has only some of these particles.
struct BodyBoundaryForces {
    /// A force \[N\] and padding for each particle.
    rate: Vec<f64>,
    /// Indices of the forces: particle numbers.
    place: Vec<u32>,
    /// Whether this subdomain adds the energy of bodies to its ledger, as all compute the same.
    adds_to_ledger: bool,
}

/// Number of components of the force on a particle.
const FORCE: usize = 3;

impl BodyBoundaries {
    /// Whether this domain adds the energy of bodies to its ledger.
    pub fn adds_to_ledger(&self) -> bool {
        self.heard.as_ref().is_none_or(|heard| heard.adds_to_ledger)
    }

    /// Forces on the particles of all subdomains, a record each; empty without a decomposition.
    pub fn forces_of_all(&self) -> &[f64] {
        self.heard.as_ref().map_or(&[], |heard| &heard.rate)
    }

    /// Those of a plan in a world with this number of walls.
    pub fn of(plan: &Fluids, walls: usize) -> BodyBoundaries {
        let mut body_boundaries = BodyBoundaries {
            row: vec![0],
            first: [walls as u32, plan.boundary.position.len() as u32],
            across: plan.across.map_or(IN_SPACE, |axis| axis as u32),
            ..BodyBoundaries::default()
        };
        for body_boundary in &plan.body_boundaries {
            body_boundaries.body.push(body_boundary.body);
            body_boundaries.is_suspended.push(body_boundary.suspended.is_some());
            let whole = body_boundary.suspended.map_or(plan.volume(), volume_of_sphere);
            let volume = |k: usize| body_boundary.volume.get(k).copied().unwrap_or(whole);
            let beside = |k: usize| {
                -body_boundary
                    .radius
                    .get(k)
                    .map_or_else(|| volume(k), |radius| radius + 0.5 * plan.spacing)
            };
            let records = body_boundary
                .offset
                .iter()
                .enumerate()
                .map(|(k, [x, y, z])| [*x, *y, *z, beside(k)]);
            body_boundaries.offset.extend(records.flatten());
            body_boundaries.row.push(body_boundaries.particles() as u32);
        }
        body_boundaries.body_index = vec![None; body_boundaries.body.len()];
        body_boundaries.place = vec![FREE; body_boundaries.particles()];
        body_boundaries
    }

    /// Whether no body is coupled to fluids.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// Number of all body boundary particles.
    pub fn particles(&self) -> usize {
        self.offset.len() / RECORD
    }

    /// The index of the body that a particle of this kind belongs to, if it is a body boundary particle.
    pub fn of_kind(&self, kind: u32) -> Option<usize> {
        let number = (kind & !(WALL | SUSPENDED)).checked_sub(self.first[0])? as usize;
        (kind & WALL != 0 && number < self.body.len()).then_some(number)
    }

    /// The index of the body with this id, if it is coupled to fluids.
    pub fn of_body(&self, id: u32) -> Option<usize> {
        self.body.iter().position(|body| *body == id)
    }

    /// Id of the body with this index.
    pub fn body(&self, body_boundary: usize) -> u32 {
        self.body[body_boundary]
    }

    /// The kind of the particles of a body.
    fn kind_of(&self, body_boundary: usize) -> u32 {
        let number = WALL | (self.first[0] + body_boundary as u32);
        if self.is_suspended[body_boundary] {
            SUSPENDED | number
        } else {
            number
        }
    }

    /// Whether any body is a grain that is smaller than the fluid particles.
    pub fn has_suspended(&self) -> bool {
        self.is_suspended.contains(&true)
    }

    /// Index in the table of the body with particles of this kind, if it is there.
    pub fn index_of_body(&self, kind: u32) -> Option<usize> {
        let body_index = self.body_index[self.of_kind(kind)?]?;
        Some(body_index as usize)
    }

    /// Whether a body boundary particle with this id and kind can exist.
    pub fn can_be_body_particle(&self, id: u32, kind: u32) -> bool {
        let particle = (id & !WALL).wrapping_sub(self.first[1]);
        let body_boundary = self.of_kind(kind).filter(|body_boundary| self.kind_of(*body_boundary) == kind);
        id & WALL != 0
            && body_boundary.is_some_and(|body_boundary| (self.row[body_boundary]..self.row[body_boundary + 1]).contains(&particle))
    }

    /// Whether there are particles of bodies that left.
    pub fn has_lost(&self) -> bool {
        let mut body_boundaries = self.body_index.iter().zip(self.row.windows(2));
        body_boundaries.any(|(body_index, row)| {
            body_index.is_none() && self.place[row[0] as usize..row[1] as usize].iter().any(|place| *place != FREE)
        })
    }

    /// Looks up the indices of the bodies; returns whether one left since the last time.
    fn find_seats(&mut self, bodies: &Bodies) -> bool {
        if self.seated == bodies.id {
            return false;
        }
        self.seated.clone_from(&bodies.id);
        let seats: HashMap<u32, u32> = bodies.id.iter().copied().zip(0..).collect();
        let mut left = false;
        for (body_index, body) in self.body_index.iter_mut().zip(&self.body) {
            let found = seats.get(body).copied();
            left |= body_index.is_some() && found.is_none();
            *body_index = found;
        }
        left
    }

    /// The lowest id above those of all bodies that are or were coupled to fluids.
    pub fn lowest_free_id(&self) -> u32 {
        self.body.iter().max().map_or(0, |highest| highest + 1)
    }

    /// Takes the fluid loads on bodies, in the current order of their table; some may have left since the last look-up.
    pub fn apply_body_load(&mut self, bodies: &Bodies) -> Vec<f64> {
        let mut load = std::mem::take(&mut self.load);
        if self.seated != bodies.id {
            let seats: HashMap<u32, usize> = self.seated.iter().copied().zip(0..).collect();
            let of_body = |id: &u32| load.get(LOAD * seats[id]..LOAD * (seats[id] + 1)).unwrap_or_default();
            load = bodies.id.iter().flat_map(of_body).copied().collect();
        }
        load.truncate(LOAD * bodies.len());
        load
    }

    /// Angular velocity of a body, as fluids use it \[rad/s\].
    pub fn spin(&self, bodies: &Bodies, body_boundary: usize) -> Vector3<f64> {
        let body_index = self.body_index[body_boundary].map(|body_index| body_index as usize * RECORD);
        body_index.map_or(Vector3::zero(), |at| {
            angular_velocity_in_plane(&load(&bodies.spin, at), self.across)
        })
    }

    /// The state of the particle with this id on its body, at the periodic image nearest to its listed position.
    pub fn carried(
        &self,
        bodies: &Bodies,
        (id, body_boundary): (u32, usize),
        listed: &Vector3<f64>,
        (stepping, sides): (&StepParameters<f64, f64>, u32),
    ) -> Option<WallParticlePose<f64>> {
        let body_index = self.body_index[body_boundary]? as usize;
        let now = carry::<f64>(
            body_index,
            ((id & !WALL) - self.first[1]) as usize,
            listed,
            listed,
            &self.offset,
            &bodies.center,
            &bodies.orientation,
            &bodies.velocity,
            &bodies.spin,
            stepping,
            sides,
        );
        Some(WallParticlePose {
            position: in_plane(&now.position, listed, self.across),
            velocity: in_plane(&now.velocity, &Vector3::zero(), self.across),
            // The acceleration follows from the current force, and so cannot enter that force.
            acceleration: Vector3::zero(),
            flags: now.flags & SKIN_EXCEEDED,
        })
    }
}

impl Flow {
    /// Adds the body boundary particles of all bodies that are present, from this one on.
    pub fn init_body_boundaries(&mut self, first: usize, surroundings: &Surroundings) {
        let bodies = surroundings.bodies;
        self.body_boundaries.find_seats(bodies);
        let body_boundaries = &self.body_boundaries;
        let mut fields = FluidFields::default();
        for (body_boundary, body_index) in body_boundaries.body_index.iter().enumerate().skip(first) {
            let Some(body_index) = *body_index else { continue };
            let center: Vector3<f64> = load(&bodies.center, body_index as usize * RECORD);
            for particle in body_boundaries.row[body_boundary]..body_boundaries.row[body_boundary + 1] {
                let id = WALL | (body_boundaries.first[1] + particle);
                let carried = body_boundaries.carried(bodies, (id, body_boundary), &center, (&self.stepping, self.compiled_for.sides));
                let Some(now) = carried else { continue };
                let ([x, y, z], [u, v, w]) = (array(&now.position), array(&now.velocity));
                let beside = body_boundaries.offset[particle as usize * RECORD + 3];
                self.put(
                    &mut fields,
                    [id, body_boundaries.kind_of(body_boundary)],
                    [x, y, z, beside],
                    [u, v, w, 0.0],
                    [0.0; 3],
                );
            }
        }
        self.fields.append(&fields);
    }

    /// Couples a body that froze out of fluids to these; lists and forces are out of date then.
    pub fn couple_frozen(&mut self, body_boundary: BodyBoundary, surroundings: &Surroundings) {
        (self.compiled_for.bounded, self.compiled_for.laden) = (true, true);
        let first = self.plan.body_boundaries.len();
        self.plan.slips.push(body_boundary.slips);
        self.plan.body_boundaries.push(body_boundary);
        self.frozen_bodies += 1;
        self.body_boundaries = BodyBoundaries::of(&self.plan, surroundings.walls.given.len());
        self.init_body_boundaries(first, surroundings);
    }

    /// Looks up the indices of bodies; returns whether one that is coupled to fluids left.
    pub fn follow_bodies(&mut self, surroundings: &Surroundings) -> bool {
        self.body_boundaries.find_seats(surroundings.bodies)
    }

    /// Removes the particles of bodies that left.
    pub fn remove_particles_of_left_bodies(&mut self, surroundings: &Surroundings) {
        let is_lost = |kind: u32| {
            self.body_boundaries
                .of_kind(kind)
                .is_some_and(|body_boundary| self.body_boundaries.body_index[body_boundary].is_none())
        };
        let kinds = self.fields.kind.iter().zip(0..);
        let kept: Vec<u32> = kinds.filter(|(kind, _)| !is_lost(**kind)).map(|(_, i)| i).collect();
        if kept.len() < self.fields.len() {
            self.fields.reorder(&surroundings.context.device, &kept);
        }
    }

    /// Stores the indices of body boundary particles.
    pub fn index_body_boundaries(&mut self) {
        if self.body_boundaries.is_empty() {
            return;
        }
        self.body_boundaries.place.fill(FREE);
        for &i in self.walls.iter().chain(&self.suspension.grains) {
            let [id, kind] = [self.fields.id[i as usize], self.fields.kind[i as usize]];
            if self.body_boundaries.of_kind(kind).is_some() {
                self.body_boundaries.place[((id & !WALL) - self.body_boundaries.first[1]) as usize] = i;
            }
        }
    }

    /// Sums fluid forces on bodies, in the order of their body boundary particles.
    pub fn sum_forces_on_bodies(&mut self, surroundings: &Surroundings) {
        let bodies = surroundings.bodies;
        let BodyBoundaries {
            row,
            offset,
            place,
            body_index,
            load: loads,
            power,
            heard,
            ..
        } = &mut self.body_boundaries;
        loads.clear();
        loads.resize(bodies.len() * LOAD, 0.0);
        *power = 0.0;
        let (place, rate) = match heard {
            Some(heard) => (&heard.place, &heard.rate),
            None => (&*place, &self.fields.force_density_rate),
        };
        for (body_boundary, body_index) in body_index.iter().enumerate() {
            let Some(b) = body_index.map(|body_index| body_index as usize) else {
                continue;
            };
            let (first, end) = (row[body_boundary] as usize, row[body_boundary + 1] as usize);
            let orientation = orientation_at(&bodies.orientation, b * RECORD);
            let push = push_on::<f64, f64>(first, end, place, offset, &orientation, rate, rate, false);
            store(loads, b * LOAD, &push.force);
            store(loads, b * LOAD + RECORD, &push.torque);
            let (velocity, spin) = (load(&bodies.velocity, b * RECORD), load(&bodies.spin, b * RECORD));
            *power += push.force.dot(&velocity) + push.torque.dot(&spin);
        }
        if !self.body_boundaries.adds_to_ledger() {
            self.body_boundaries.power = 0.0;
        }
    }

    /// Applies the forces of all subdomains to bodies; one subdomain, with `adds_to_ledger`, adds the energy to its ledger.
    pub fn reduce_body_boundary_forces(&mut self, adds_to_ledger: bool) {
        let particles = self.body_boundaries.particles();
        self.body_boundaries.heard = (particles > 0).then(|| BodyBoundaryForces {
            rate: vec![0.0; particles * RECORD],
            place: (0..particles as u32).collect(),
            adds_to_ledger,
        });
    }

    /// A message with the forces on the own body boundary particles of a subdomain; none if no body is coupled to fluids.
    pub fn body_boundary_message(&self) -> Option<Vec<u8>> {
        self.body_boundaries.heard.as_ref()?;
        let places = self.body_boundaries.place.iter().zip(0u32..);
        let own = places.filter(|(i, _)| **i != FREE && !self.is_ghost(**i as usize));
        Some(Flow::boundary_force_message(own.map(|(&i, particle)| {
            (particle, &self.fields.force_density_rate[i as usize * RECORD..])
        })))
    }

    /// A message with the forces on these body boundary particles, each the start of a slice.
    pub fn boundary_force_message<'a>(forces: impl Iterator<Item = (u32, &'a [f64])>) -> Vec<u8> {
        enclose_records(forces.map(|(particle, force)| (particle, std::array::from_fn::<f64, FORCE, _>(|k| force[k]))))
    }

    /// Reads the messages of all subdomains.
    pub fn apply_body_boundary_forces(&mut self, messages: &[Vec<u8>]) -> Result<(), DecodeError> {
        let Some(heard) = &mut self.body_boundaries.heard else {
            return Ok(());
        };
        heard.rate.fill(0.0);
        for message in messages {
            for (particle, force) in unfold_records::<FORCE>(message)? {
                let at = particle as usize * RECORD;
                heard.rate.get_mut(at..at + FORCE).ok_or(DecodeError)?.copy_from_slice(&force);
            }
        }
        Ok(())
    }
}
