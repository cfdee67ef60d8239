//! Fluid that freezes: between two steps, a rigid body replaces some of its particles.
//!
//! The body has their mass, center of mass, momentum, angular momentum and principal moments of inertia. The energy of their motion relative to it is
//! lost.

use crate::assemble::fields_of;
use crate::bodies::Bodies;
use crate::flow::freezing::boundary_of_frozen;
use crate::flow::{Flow, Freezing, Melting};
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::world::{Body, BodyBoundary, ExpectedGrains, Fluids, Grains, Solver, Sphere, Vec3, array, principal, rotation_to_axes, vector};
use seixo_laws::Vector3;
use std::collections::{BTreeSet, HashSet};

/// Smallest ratio of the least and the largest principal moment of inertia: below it, all particles are on one line.
const LEAST_MOMENT: f64 = 1e-6;

/// A body that replaces particles of fluids.
pub(crate) struct Frozen {
    /// The body and its spheres.
    grains: Grains,
    /// What fluids interact with of it.
    pub body_boundary: BodyBoundary,
    /// Ids of the particles.
    particles: HashSet<u32>,
}

impl Populations {
    /// The body into which these particles freeze.
    pub(crate) fn frozen_of(&self, freezing: &Freezing) -> Result<Frozen, WorldError> {
        let refused = |what: String| Err(WorldError::Fluid(what));
        let Some(flow) = &self.flow else {
            return refused("fluid is to freeze where nothing flows; add a fluid".to_owned());
        };
        let radius = 0.5 * flow.plan.spacing;
        if let Some(flaw) = self.flaw_of_freezing(flow, freezing.material, radius) {
            return refused(flaw);
        }
        let particles: HashSet<u32> = freezing.particles.iter().copied().collect();
        let mut chosen: Vec<usize> = flow.of_fluid().filter(|&i| particles.contains(&flow.fields.id[i])).collect();
        if chosen.is_empty() || chosen.len() != freezing.particles.len() {
            return refused(format!(
                "{} particles of fluids are to freeze, and {} of them are there; name at least three that are there, each once",
                freezing.particles.len(),
                chosen.len()
            ));
        }
        // What left the domain goes with this change.
        let domain = self.context.domain_to_leave();
        chosen.retain(|&i| domain.is_none_or(|domain| !domain.is_outside_domain(&array(&flow.place(i)))));
        if chosen.is_empty() {
            return refused("all of the fluid that is to freeze has left the domain; freeze fluid that is inside".to_owned());
        }
        let particles = chosen.iter().map(|&i| flow.fields.id[i]).collect();
        // Sums do not depend on the order in which the particles are stored.
        chosen.sort_unstable_by_key(|&i| flow.fields.id[i]);
        let first = self.grains.next_id;
        if first + chosen.len() as u64 > u64::from(u32::MAX) {
            return refused("fluid is to freeze, and more than 2^32 grains would have come: no id is left for its spheres".to_owned());
        }
        // A new body with the id of a removed one would get its boundary particles, its joint or its prescribed motion.
        let above_present = self.bodies.id.iter().max().map_or(0, |highest| highest + 1);
        let id = above_present.max(flow.body_boundaries.lowest_free_id()).max(first as u32);
        let (body, offset) = self.solid_of(flow, &chosen, id)?;
        let spheres: Vec<Sphere> = (first as u32..)
            .zip(&offset)
            .map(|(id, &offset)| Sphere { id, offset, radius })
            .collect();
        let mut grains = Grains::default();
        grains.push_body(body, &spheres, freezing.material, freezing.group);
        let body_boundary = boundary_of_frozen(&flow.plan, id, offset);
        self.check_time_step_of_frozen(flow, &grains, &body_boundary)?;
        Ok(Frozen {
            grains,
            body_boundary,
            particles,
        })
    }

    /// Reason for which no fluid can freeze into spheres of this material and radius \[m\].
    fn flaw_of_freezing(&self, flow: &Flow, material: u32, radius: f64) -> Option<String> {
        if flow.is_incompressible() {
            return Some(
                "fluids of solver = \"dfsph\" are to freeze, into which nothing melts again; use solver = \"wcsph\" or \"muller2003\""
                    .to_owned(),
            );
        }
        if flow.plan.across.is_some() {
            return Some(
                "fluids that flow in a plane are to freeze, and their particles are no spheres; let them flow in space".to_owned(),
            );
        }
        if let Some(diffusion) = self.diffusions.first() {
            let scalar = diffusion.scalar.noun();
            return Some(format!(
                "fluids are to freeze where grains have {scalar}, which fluids do not have; leave it out"
            ));
        }
        let is_announced = |kind: &ExpectedGrains| kind.material == material && (kind.radius[0]..=kind.radius[1]).contains(&radius);
        if !self.bodies.are_present || !self.grains.expected.iter().any(is_announced) {
            return Some(format!(
                "fluids are to freeze into spheres with a radius of {radius} m of material {material}, which are not announced; add them to World::later, \
                 and that fluids freeze"
            ));
        }
        None
    }

    /// These particles as one rigid body with this id, and their positions in its frame \[m\].
    fn solid_of(&self, flow: &Flow, chosen: &[usize], id: u32) -> Result<(Body, Vec<Vec3>), WorldError> {
        let corner = flow.place(chosen[0]);
        // Of all images of a particle, that nearest to the first one.
        let from_corner: Vec<Vector3<f64>> = chosen.iter().map(|&i| flow.apart(&corner, i).times(-1.0)).collect();
        self.refuse_spread(&from_corner)?;
        let (mut mass, mut moved, mut momentum) = (0.0, Vector3::<f64>::zero(), Vector3::<f64>::zero());
        for (&i, place) in chosen.iter().zip(&from_corner) {
            let own = flow.mass(i);
            mass += own;
            moved = moved.plus(&place.times(own));
            momentum = momentum.plus(&flow.velocity(i).times(own));
        }
        let (middle, velocity) = (moved.times(1.0 / mass), momentum.times(1.0 / mass));
        let arms: Vec<Vector3<f64>> = from_corner.iter().map(|place| place.minus(&middle)).collect();
        let (mut inertia, mut turning) = ([[0.0; 3]; 3], Vector3::<f64>::zero());
        for (&i, arm) in chosen.iter().zip(&arms) {
            let (own, at, square) = (flow.mass(i), array(arm), arm.dot(arm));
            for (k, row) in inertia.iter_mut().enumerate() {
                for (element, x) in row.iter_mut().zip(at) {
                    *element -= own * at[k] * x;
                }
                row[k] += own * square;
            }
            turning = turning.plus(&arm.cross(&flow.velocity(i).minus(&velocity)).times(own));
        }
        let [(a, x), (b, y), (c, _)] = principal(inertia);
        if c <= LEAST_MOMENT * a {
            return Err(WorldError::Fluid(format!(
                "{} particles are to freeze that are on one line, about which their body could not turn; freeze more of them",
                chosen.len()
            )));
        }
        let z = array(&vector(x).cross(&vector(y)));
        let orientation = rotation_to_axes([x, y, z]);
        let spin = [(a, x), (b, y), (c, z)]
            .into_iter()
            .fold(Vector3::<f64>::zero(), |spin, (moment, axis)| {
                let axis = vector(axis);
                spin.plus(&axis.times(axis.dot(&turning) / moment))
            });
        let into_body = orientation.back();
        let body = Body {
            id,
            mass,
            moments: [a, b, c],
            center: array(&corner.plus(&middle)),
            orientation: [orientation.w, orientation.x, orientation.y, orientation.z],
            velocity: array(&velocity),
            angular_velocity: array(&spin),
            motion: None,
            joint: None,
            carries: Vec::new(),
        };
        Ok((body, arms.iter().map(|arm| array(&into_body.to_space(arm))).collect()))
    }

    /// Refuses particles of which some are nearest to the first one across a periodic side, and others are not.
    fn refuse_spread(&self, from_corner: &[Vector3<f64>]) -> Result<(), WorldError> {
        let Some(domain) = &self.context.domain else { return Ok(()) };
        for axis in (0..3).filter(|&axis| domain.periodic[axis]) {
            let along = from_corner.iter().map(|place| array(place)[axis]);
            let [low, high] = along.fold([0.0f64; 2], |[low, high], x| [low.min(x), high.max(x)]);
            let most = 0.5 * (domain.max[axis] - domain.min[axis]);
            if high - low > most {
                return Err(WorldError::Fluid(format!(
                    "fluid is to freeze that is {:.4e} m long along {}, and the domain repeats itself there; freeze at most half of its length, {most:.4e} m",
                    high - low,
                    ["x", "y", "z"][axis]
                )));
            }
        }
        Ok(())
    }

    /// Refuses a body for which the time step is too long.
    fn check_time_step_of_frozen(&self, flow: &Flow, grains: &Grains, body_boundary: &BodyBoundary) -> Result<(), WorldError> {
        let lightness = grains.lightness(|material| self.context.materials.densities[material]);
        // The limit of contacts is that of single spheres of this material.
        if lightness < 1.0 - 1e-9 {
            return Err(WorldError::Fluid(format!(
                "what freezes responds to a force on a sphere as if this had {lightness:.3} times the mass of a sphere of its material, for which the time \
                 step is chosen; freeze a thicker region, or let the material be as dense as the fluid"
            )));
        }
        if flow.plan.solver == Solver::Muller2003 {
            let alone = Fluids {
                body_boundaries: vec![body_boundary.clone()],
                ..flow.plan.clone()
            };
            let (limit, cause) = alone.limit_by_bodies(&grains.bodies, false);
            let dt = self.context.stepping.dt;
            if dt > limit {
                return Err(WorldError::Fluid(format!(
                    "the time step of {dt:.4e} s is above the limit of what freezes, {limit:.4e} s, by {cause}; choose a shorter one"
                )));
            }
        }
        Ok(())
    }

    /// Replaces particles of fluids by a body. Velocities at this time are kept, and so are all values that the change does not affect.
    pub(crate) fn solidify(&mut self, frozen: &Frozen) {
        let (grains, bodies) = (self.grains.fields.len(), self.bodies.len());
        self.change_forces(|populations| populations.add_frozen(frozen));
        self.begin_gear(grains..self.grains.fields.len());
        self.begin_gear_of_bodies(bodies..self.bodies.len());
        self.set_half_step_body_velocities(bodies..self.bodies.len());
    }

    /// Adds a body, with its spheres and its boundary, in place of particles of fluids, and computes the forces of these.
    fn add_frozen(&mut self, frozen: &Frozen) {
        let first = self.grains.fields.len();
        let materials = &self.context.materials;
        let new = fields_of(&self.context.device, &frozen.grains, &materials.densities, materials.has_friction);
        let (bodies, members) = Bodies::new(&frozen.grains);
        let first_member = self.bodies.append(bodies);
        self.grains.fields.append(&new);
        self.loads.follow(&self.grains.fields);
        self.grains.fields.member.extend(new.id.iter().map(|id| first_member + members[id]));
        self.bodies.find_places(&self.grains.fields.member);
        let end = self.grains.fields.len();
        self.grains.next_id += (end - first) as u64;
        self.place_members(first..end);
        self.orient_grains();
        // Their power is added with that of all loads that change here.
        self.add_loads(first..end);
        self.with_flow(|flow, surroundings| flow.solidify(&frozen.particles, &frozen.body_boundary, surroundings));
        self.recompute_body_loads();
    }

    /// How the bodies of a group that froze melt again, into a fluid: in the places of the particles that froze.
    pub(crate) fn meltings_of_frozen(&self, group: u32, fluid: u32) -> Vec<Melting> {
        let Some(flow) = &self.flow else { return Vec::new() };
        let grains = (0..self.grains.fields.len()).filter(|&i| self.grains.fields.group[i] == group);
        let bodies: BTreeSet<usize> = grains.filter_map(|i| self.body_of(i)).collect();
        let melting = |b: usize| {
            let id = self.bodies.id[b];
            let frozen = flow.frozen().iter().find(|frozen| frozen.body == id)?;
            Some(Melting {
                body: id,
                fluid,
                sites: frozen.offset.clone(),
            })
        };
        bodies.into_iter().filter_map(melting).collect()
    }
}
