//! Wall particles: their positions, and the state of the fluid in front of them.

use super::Flow;
use crate::fields::{FluidFields, Numbers, Sorted, numbers, one_each, part_range, parts};
use crate::refusal::WorldError;
use crate::search::{cells_between, is_small};
use crate::surroundings::Surroundings;
use crate::walls::{WallLoad, is_moving};
use crate::world::{Wall, WallMotion, WallParticles, array};
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_sweeps::fluid::{
    WALL, WallParticlePose, carried, fluid_before, is_outward, is_passing, is_suspended, outlet_velocity, viscous_velocity,
};
use seixo_sweeps::layout::{RECORD, load, store};
use seixo_sweeps::motion::{MotionReport, SKIN_EXCEEDED};
use seixo_sweeps::wall_pose::{point_of_wall, spin_of_wall};
use std::collections::HashSet;

/// Rejects a wall that bounds a fluid and that a torque turns, or that moves while its surface runs: a wall particle has only one velocity.
pub fn check_running(wall: &Wall) -> Result<(), WorldError> {
    if wall.motion.servo.is_some_and(|servo| servo.turns()) {
        return Err(WorldError::Fluid(format!(
            "wall {} bounds a fluid, and a servo with a torque turns it, which reacts to grains only; let it turn at a given rate, or make two walls \
             of it",
            wall.name
        )));
    }
    if !wall.motion.surface.runs() || !is_moving(&wall.motion) {
        return Ok(());
    }
    let name = &wall.name;
    Err(WorldError::Fluid(format!(
        "wall {name} bounds a fluid and moves while its surface runs; let it do one of both, or make two walls of it"
    )))
}

/// Rejects a motion that a wall, given by its number, cannot have where it bounds fluids, see [`check_running()`].
pub(crate) fn check_motion(
    boundary: Option<&WallParticles>,
    (number, wall): (usize, &Wall),
    motion: &WallMotion,
) -> Result<(), WorldError> {
    if !boundary.is_some_and(|boundary| boundary.wall.contains(&(number as u32))) {
        return Ok(());
    }
    check_running(&Wall {
        motion: motion.clone(),
        ..wall.clone()
    })
}

impl Flow {
    /// Computes the current poses of the walls.
    fn pose_walls(&mut self, surroundings: &Surroundings) {
        self.poses.clear();
        let domain = surroundings.context.domain.as_ref();
        surroundings
            .walls
            .poses_within(domain, surroundings.context.time(), &mut self.poses);
    }

    /// State of boundary particle k at the last computed poses of the walls.
    fn carried(&self, surroundings: &Surroundings, k: usize) -> WallParticlePose<f64> {
        let (walls, boundary) = (surroundings.walls, &self.plan.boundary);
        let start = load::<f64>(&boundary.position[k], 0);
        let wall = boundary.wall[k] as usize;
        let (poses, stepping) = (&self.poses, &self.stepping);
        carried::<f64, f64>(
            wall,
            &start,
            &walls.at_rest,
            poses,
            0,
            &walls.servos,
            &start,
            stepping,
            self.compiled_for.sides,
        )
    }

    /// Sets up the particles of all present walls at the current poses; body boundary particles and those in inlets and outlets stay.
    pub fn init_wall_particles(&mut self, surroundings: &Surroundings) {
        let stays = |i: &usize| !self.is_wall(*i) || self.is_passing(*i) || self.body_boundaries.of_kind(self.fields.kind[*i]).is_some();
        let order: Vec<u32> = (0..self.fields.len()).filter(stays).map(|i| i as u32).collect();
        if order.len() < self.fields.len() {
            self.fields.reorder(&surroundings.context.device, &order);
        }
        self.there = surroundings.walls.all_there().to_vec();
        self.pose_walls(surroundings);
        let whole = self.plan.volume();
        let mut walls = FluidFields::default();
        for k in 0..self.plan.boundary.position.len() {
            let wall = self.plan.boundary.wall[k];
            if !self.there[wall as usize] {
                continue;
            }
            let now = self.carried(surroundings, k);
            let ([x, y, z], [u, v, w]) = (array(&now.position), array(&now.velocity));
            let kept = array(&now.acceleration);
            let id = WALL | k as u32;
            let volume = self.plan.boundary.volume.get(k).copied().unwrap_or(whole);
            self.put(&mut walls, [id, WALL | wall], [x, y, z, -volume], [u, v, w, 0.0], kept);
        }
        self.fields.append(&walls);
        self.find_running(surroundings);
    }

    /// Stores which particles belong to running surfaces of walls at rest.
    pub fn find_running(&mut self, surroundings: &Surroundings) {
        let (body_boundaries, given) = (&self.body_boundaries, &surroundings.walls.given);
        let FluidFields {
            kind,
            particle_velocity: motion,
            ..
        } = &mut self.fields;
        for (&kind, record) in kind.iter().zip(motion.chunks_exact_mut(RECORD)) {
            let is_of_wall = kind & WALL != 0 && !is_passing(kind) && body_boundaries.of_kind(kind).is_none();
            let runs = is_of_wall && given[(kind & !WALL) as usize].motion.surface.runs();
            record[3] = f64::from(u8::from(runs));
        }
    }

    /// Finds the indices of wall particles, and of grains that are smaller than the fluid particles.
    pub fn find_walls(&mut self) {
        let (walls, grains) = (&mut self.walls, &mut self.suspension.grains);
        walls.clear();
        grains.clear();
        let kinds = self.fields.kind.iter().zip(0..);
        for (&kind, i) in kinds.filter(|(kind, _)| **kind & WALL != 0) {
            if is_suspended(kind) {
                grains.push(i);
            } else {
                walls.push(i);
            }
        }
        self.index_body_boundaries();
    }

    /// For each particle, whether it is a wall particle that may have fluid neighbors: the cubic cells around it contain fluid. These are as wide as
    /// the reach of the neighbor lists.
    pub fn walls_before_fluid(&self) -> Vec<bool> {
        let edge = self.plan.support + self.cells.skin;
        let (n, places) = (self.fields.len(), &self.fields.reference);
        let bound = |of: fn(f64, f64) -> f64, start: f64| {
            let widest = |most: [f64; 3], x: &[f64]| [0, 1, 2].map(|axis| of(most[axis], x[axis]));
            places.chunks_exact(RECORD).fold([start; 3], widest)
        };
        let (low, high) = (bound(f64::min, f64::INFINITY), bound(f64::max, f64::NEG_INFINITY));
        let (shape, edge) = cells_between(low, high, edge, |shape| is_small(shape, n));
        // A layer of empty cells surrounds all others.
        let width = shape.map(|cubes| cubes as usize + 2);
        let cube = |i: usize| {
            let [x, y, z] = [0, 1, 2].map(|axis| ((places[i * RECORD + axis] - low[axis]) / edge) as usize + 1);
            (z * width[1] + y) * width[0] + x
        };
        let mut filled = vec![false; width.iter().product()];
        self.of_fluid().for_each(|i| filled[cube(i)] = true);
        // Near a periodic side, fluid may be anywhere near the opposite side: all particles there count as having fluid neighbors.
        let is_far = |i: usize, axis: usize| {
            let x = places[i * RECORD + axis];
            self.stepping.sides.is_open(axis) || (x - low[axis]).min(high[axis] - x) > 2.0 * edge
        };
        let around = |k: usize| (k / 9 * width[1] + k / 3 % 3) * width[0] + k % 3;
        let corner = around(13);
        let sees = |i: usize| !(0..3).all(|axis| is_far(i, axis)) || (0..27).any(|k| filled[cube(i) + around(k) - corner]);
        let is_asked = |i: usize| self.is_wall(i) && !is_suspended(self.fields.kind[i]);
        (0..n).map(|i| is_asked(i) && sees(i)).collect()
    }

    /// Ids of the bodies that fluid may reach before the next rebuild.
    pub fn bodies_near_fluid(&self) -> HashSet<u32> {
        if self.body_boundaries.is_empty() {
            return HashSet::new();
        }
        let sees_fluid = self.walls_before_fluid();
        let near = self.fields.kind.iter().zip(sees_fluid).filter(|(_, sees)| *sees);
        near.filter_map(|(kind, _)| self.body_boundaries.of_kind(*kind))
            .map(|body_boundary| self.body_boundaries.body(body_boundary))
            .collect()
    }

    /// Adds and removes particles with their walls; returns the error if a wall appears in a fluid.
    pub fn follow_walls(&mut self, surroundings: &Surroundings) -> Option<WorldError> {
        if self.there == surroundings.walls.all_there() {
            return None;
        }
        let before = self.there.clone();
        self.init_wall_particles(surroundings);
        if self.compiled_for.cohesive {
            // Particles that leave at this step take the energy of their pairs along, which is computed from the lists.
            self.rebuild_lists(surroundings);
        }
        self.rebuild_neighbor_lists(surroundings);
        let is_new = |wall: usize| !before[wall];
        self.fluid_in_walls(is_new, surroundings)
            .or_else(|| self.fluid_behind_walls(is_new, surroundings))
    }

    /// From now on, wall particles may move.
    pub fn begin_moving(&mut self, surroundings: &Surroundings) {
        if self.compiled_for.moving {
            return;
        }
        self.compiled_for.moving = true;
        self.fields.particle_velocity.clone_from(&self.fields.velocity_pressure);
        for &i in &self.walls {
            self.fields.particle_velocity[i as usize * RECORD..][..3].fill(0.0);
        }
        self.find_running(surroundings);
    }

    /// Makes the current positions of the particles of a wall the start of its next motion.
    pub fn begin_from_here(&mut self, surroundings: &Surroundings, wall: usize) {
        if self.compiled_for.bounded {
            self.begin_moving(surroundings);
        }
        self.pose_walls(surroundings);
        for k in 0..self.plan.boundary.wall.len() {
            if self.plan.boundary.wall[k] as usize == wall {
                self.plan.boundary.position[k] = array(&self.carried(surroundings, k).position);
            }
        }
    }

    /// Applies the new motion of a wall to its particles: those of a wall at rest have no velocity any more.
    pub fn move_otherwise(&mut self, surroundings: &Surroundings, wall: usize) {
        self.place_container(surroundings);
        self.pose_walls(surroundings);
        for index in 0..self.walls.len() {
            let i = self.walls[index] as usize;
            if self.fields.kind[i] == WALL | wall as u32 {
                let now = self.carried(surroundings, (self.fields.id[i] & !WALL) as usize);
                store(&mut self.fields.particle_velocity, i * RECORD, &now.velocity);
                store(&mut self.fields.half_velocity, 3 * i, &now.acceleration);
            }
        }
        self.find_running(surroundings);
    }

    /// Moves wall and body boundary particles with their walls and bodies, and flags parts with a particle that moved too far since the last rebuild.
    pub fn place_boundary(&mut self, surroundings: &Surroundings) {
        let moves = surroundings.walls.has_moving() && !self.walls.is_empty();
        if !moves && self.body_boundaries.is_empty() {
            return;
        }
        self.pose_walls(surroundings);
        let has_lost_some = self.follow_bodies(surroundings) | std::mem::take(&mut self.bodies_left);
        if let Some(first) = self.moves.first_mut().filter(|_| has_lost_some) {
            first.flags |= SKIN_EXCEEDED;
        }
        let n = self.fields.len();
        let FluidFields {
            id,
            kind,
            position,
            particle_velocity: motion,
            half_velocity,
            reference,
            ..
        } = &mut self.fields;
        let (id, kind, reference) = (&id[..], &kind[..], &reference[..]);
        let (walls, starts, poses) = (&surroundings.walls, &self.plan.boundary.position[..], &self.poses[..]);
        let (stepping, sides) = (&self.stepping, self.compiled_for.sides);
        let (body_boundaries, bodies) = (&self.body_boundaries, &surroundings.bodies);
        let data = (
            numbers(position, RECORD),
            numbers(motion, RECORD),
            numbers(half_velocity, 3),
            one_each(&mut self.moves),
        );
        type Data<'a> = (Numbers<'a>, Numbers<'a>, Numbers<'a>, Strided<'a, MotionReport<f64>>);
        surroundings
            .context
            .device
            .run(parts(n), data, |part, (position, motion, acceleration, moves): Data| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    if kind[i] & WALL == 0 || is_passing(kind[i]) {
                        continue;
                    }
                    let listed = load::<f64>(reference, i * RECORD);
                    let wall = (kind[i] & !WALL) as usize;
                    let now = match body_boundaries.of_kind(kind[i]) {
                        Some(body_boundary) => body_boundaries.carried(bodies, (id[i], body_boundary), &listed, (stepping, sides)),
                        None if walls.moves(wall) => {
                            let start = load::<f64>(&starts[(id[i] & !WALL) as usize], 0);
                            let (at_rest, servos) = (&walls.at_rest, &walls.servos);
                            Some(carried::<f64, f64>(
                                wall, &start, at_rest, poses, 0, servos, &listed, stepping, sides,
                            ))
                        }
                        None => None,
                    };
                    let Some(now) = now else { continue };
                    store(position.items, (i - first) * RECORD, &now.position);
                    store(motion.items, (i - first) * RECORD, &now.velocity);
                    if !is_suspended(kind[i]) {
                        store(acceleration.items, 3 * (i - first), &now.acceleration);
                    }
                    moves.items[0].flags |= now.flags;
                }
            });
    }

    /// Computes the state of the fluid in front of each wall particle, and the pressure of the wall from it. With `leads`, which is set once a step,
    /// particles in outlets follow the fluid.
    pub fn wall_pressures(&mut self, surroundings: &Surroundings, leads: bool) {
        // Bodies may have left since the boundaries were placed.
        self.bodies_left |= self.follow_bodies(surroundings);
        // Without viscous forces, the velocity at walls has no effect.
        if self.walls.is_empty() || self.is_incompressible() && self.compiled_for.viscous.is_none() {
            return;
        }
        let n = self.walls.len();
        self.before.resize(n * RECORD, 0.0);
        if self.compiled_for.moving {
            self.pose_walls(surroundings);
        }
        let (smoother, plan) = (self.smoother(), self.compiled_for);
        let rows = if self.lists_once() { &self.before_walls } else { &self.pairs };
        let (fields, walls, media) = (&self.fields, &self.walls[..], &self.media[..]);
        let (stepping, pace) = (&self.stepping, self.pace_in_outlets());
        let (body_boundaries, poses, slips) = (&self.body_boundaries, &self.poses[..], &self.plan.slips[..]);
        let (at_rest, bodies) = (&surroundings.walls.at_rest[..], &surroundings.bodies);
        // Angular velocity of the surface for fluid that sticks to it.
        let spin_of = |kind: u32| match body_boundaries.of_kind(kind) {
            _ if !plan.moving || is_passing(kind) => Vector3::zero(),
            Some(body_boundary) => body_boundaries.spin(bodies, body_boundary),
            None if slips[(kind & !WALL) as usize] => Vector3::zero(),
            None => spin_of_wall::<f64>((kind & !WALL) as usize, at_rest, poses, 0, true),
        };
        let data = (numbers(&mut self.before, RECORD),);
        surroundings.context.device.run(parts(n), data, |part, (before,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for (slot, &i) in walls[first..end].iter().enumerate() {
                let i = i as usize;
                // For a wall particle, the field of velocities at half steps contains the acceleration of its wall.
                let pull = stepping.gravity.minus(&load(&fields.half_velocity, 3 * i));
                let spin = spin_of(fields.kind[i]);
                let found = fluid_before::<f64, f64>(
                    i,
                    rows.row[i] as usize,
                    rows.row[i + 1] - rows.row[i],
                    &rows.neighbors,
                    &fields.position,
                    &fields.velocity_pressure,
                    &fields.kind,
                    media,
                    &pull,
                    &spin,
                    &smoother,
                    &stepping.sides,
                    1,
                    plan,
                );
                let led = leads && is_outward(fields.kind[i]);
                let Vector3 { x, y, z } = if led {
                    // For an outlet particle, the field of wall accelerations contains the normal.
                    outlet_velocity(
                        &load(&fields.particle_velocity, i * RECORD),
                        &found,
                        &load(&fields.half_velocity, 3 * i),
                        pace,
                    )
                } else {
                    found.velocity
                };
                before.items[slot * RECORD..][..RECORD].copy_from_slice(&[found.pressure, x, y, z]);
            }
        });
        for (&i, before) in self.walls.iter().zip(self.before.chunks_exact(RECORD)) {
            let i = i as usize;
            let kind = self.fields.kind[i];
            if !is_outward(kind) {
                self.fields.velocity_pressure[i * RECORD + 3] = before[0];
            } else if leads {
                self.fields.particle_velocity[i * RECORD..][..3].copy_from_slice(&before[1..]);
            }
            let velocity: Vector3<f64> = if self.compiled_for.moving {
                load(&self.fields.particle_velocity, i * RECORD)
            } else {
                Vector3::zero()
            };
            // Particles in inlets and outlets are fluid, and flow with the velocity at which they move.
            let seen = if is_passing(kind) {
                velocity
            } else {
                viscous_velocity(&velocity, &load(before, 1), self.plan.slips[(kind & !WALL) as usize])
            };
            store(&mut self.fields.velocity_pressure, i * RECORD, &seen);
        }
    }

    /// Loads of the fluids on each wall.
    pub fn loads(&self, surroundings: &Surroundings) -> Vec<WallLoad> {
        let mut loads = vec![WallLoad::default(); self.there.len()];
        let (walls, mut poses) = (&surroundings.walls, Vec::new());
        walls.poses_within(None, surroundings.context.time(), &mut poses);
        let is_of_wall = |kind: u32| !is_passing(kind) && self.body_boundaries.of_kind(kind).is_none();
        for &i in self.walls.iter().filter(|i| is_of_wall(self.fields.kind[**i as usize])) {
            let i = i as usize;
            let wall = (self.fields.kind[i] & !WALL) as usize;
            let force: Vector3<f64> = load(&self.fields.force_density_rate, i * RECORD);
            let start = load::<f64>(&self.plan.boundary.position[(self.fields.id[i] & !WALL) as usize], 0);
            // Not from the position, which may be on the other side of a periodic domain.
            let now = point_of_wall::<f64>(wall, &start, &walls.at_rest, &poses, 0, &walls.servos);
            loads[wall].add(&force, &now.arm, &now.velocity);
        }
        loads
    }
}
