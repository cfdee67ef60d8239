//! Particles of walls: where they are, and what the fluid before them is like.

use super::Flow;
use crate::contact_records::array;
use crate::fields::{FluidFields, Numbers, Sorted, numbers, one_each, part_range, parts};
use crate::refusal::Refusal;
use crate::search::{cells_between, is_small};
use crate::simulation::Simulation;
use crate::walls::is_moving;
use crate::world::{Boundary, Wall, WallMotion};
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_sweeps::fluid::{Carried, WALL, carried, drag_velocity, fluid_before, is_outward, is_passing, is_suspended, led_on};
use seixo_sweeps::motion::{Moved, STALE};
use seixo_sweeps::pose::{point_of_wall, spin_of_wall};
use seixo_sweeps::views::{RECORD, load, store};
use std::collections::HashSet;

/// Refuses a wall that bounds a fluid and moves while its surface runs: of a particle, only one velocity is known.
pub fn check_running(wall: &Wall) -> Result<(), Refusal> {
    if !wall.motion.surface.runs() || !is_moving(&wall.motion) {
        return Ok(());
    }
    let name = &wall.name;
    Err(Refusal::Fluid(format!(
        "wall {name} bounds a fluid and moves while its surface runs; let it do one of both, or make two walls of it"
    )))
}

/// Refuses a motion that a wall, by its number, cannot have where it bounds fluids, see [`check_running()`].
pub(crate) fn check_motion(boundary: Option<&Boundary>, (number, wall): (usize, &Wall), motion: &WallMotion) -> Result<(), Refusal> {
    if !boundary.is_some_and(|boundary| boundary.wall.contains(&(number as u32))) {
        return Ok(());
    }
    check_running(&Wall {
        motion: motion.clone(),
        ..wall.clone()
    })
}

impl Flow {
    /// Finds the poses that walls have now.
    fn pose_walls(&mut self, simulation: &Simulation) {
        self.poses.clear();
        let domain = simulation.domain.as_ref();
        simulation.walls.poses_within(domain, simulation.time(), &mut self.poses);
    }

    /// Particle k of the boundary as its wall has it at the poses found last.
    fn carried(&self, simulation: &Simulation, k: usize) -> Carried<f64> {
        let (walls, boundary) = (&simulation.walls, &self.plan.boundary);
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

    /// Sets up the particles of all walls that are there, where the walls are now; those of bodies, and in inlets and outlets, stay.
    pub fn put_boundary_up(&mut self, simulation: &Simulation) {
        let stays = |i: &usize| !self.is_wall(*i) || self.is_passing(*i) || self.hulls.of_kind(self.fields.kind[*i]).is_some();
        let order: Vec<u32> = (0..self.fields.len()).filter(stays).map(|i| i as u32).collect();
        if order.len() < self.fields.len() {
            self.fields.reorder(&simulation.device, &order);
        }
        self.there = simulation.walls.all_there().to_vec();
        self.pose_walls(simulation);
        let whole = self.plan.volume();
        let mut walls = FluidFields::default();
        for k in 0..self.plan.boundary.position.len() {
            let wall = self.plan.boundary.wall[k];
            if !self.there[wall as usize] {
                continue;
            }
            let now = self.carried(simulation, k);
            let ([x, y, z], [u, v, w]) = (array(&now.position), array(&now.velocity));
            let kept = array(&now.acceleration);
            let id = WALL | k as u32;
            let volume = self.plan.boundary.volume.get(k).copied().unwrap_or(whole);
            self.put(&mut walls, [id, WALL | wall], [x, y, z, -volume], [u, v, w, 0.0], kept);
        }
        self.fields.append(&walls);
        self.find_running(simulation);
    }

    /// Notes which particles are of surfaces that run while their walls stand.
    pub fn find_running(&mut self, simulation: &Simulation) {
        let (hulls, given) = (&self.hulls, &simulation.walls.given);
        let FluidFields { kind, motion, .. } = &mut self.fields;
        for (&kind, record) in kind.iter().zip(motion.chunks_exact_mut(RECORD)) {
            let is_of_wall = kind & WALL != 0 && !is_passing(kind) && hulls.of_kind(kind).is_none();
            let runs = is_of_wall && given[(kind & !WALL) as usize].motion.surface.runs();
            record[3] = f64::from(u8::from(runs));
        }
    }

    /// Finds the places of particles of walls, and of grains that are smaller.
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
        self.find_hulls();
    }

    /// Of every particle, whether it is one of a wall that may see fluid: some is in one of the cubes around it that are as wide as what is
    /// listed reaches.
    pub fn walls_before_fluid(&self) -> Vec<bool> {
        let edge = self.plan.support + self.cells.skin;
        let (n, places) = (self.fields.len(), &self.fields.reference);
        let bound = |of: fn(f64, f64) -> f64, start: f64| {
            let widest = |most: [f64; 3], x: &[f64]| [0, 1, 2].map(|axis| of(most[axis], x[axis]));
            places.chunks_exact(RECORD).fold([start; 3], widest)
        };
        let (low, high) = (bound(f64::min, f64::INFINITY), bound(f64::max, f64::NEG_INFINITY));
        let (shape, edge) = cells_between(low, high, edge, |shape| is_small(shape, n));
        // A layer of empty cubes lies around all.
        let width = shape.map(|cubes| cubes as usize + 2);
        let cube = |i: usize| {
            let [x, y, z] = [0, 1, 2].map(|axis| ((places[i * RECORD + axis] - low[axis]) / edge) as usize + 1);
            (z * width[1] + y) * width[0] + x
        };
        let mut filled = vec![false; width.iter().product()];
        self.of_fluid().for_each(|i| filled[cube(i)] = true);
        // Across a periodic side fluid may be anywhere near the other one: there, all particles are taken to see it.
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

    /// Ids of the bodies that fluid may come near until lists are made anew.
    pub fn bodies_near_fluid(&self) -> HashSet<u32> {
        if self.hulls.is_empty() {
            return HashSet::new();
        }
        let sees_fluid = self.walls_before_fluid();
        let near = self.fields.kind.iter().zip(sees_fluid).filter(|(_, sees)| *sees);
        near.filter_map(|(kind, _)| self.hulls.of_kind(*kind))
            .map(|hull| self.hulls.body(hull))
            .collect()
    }

    /// Lets particles of walls come and go with their walls; tells why they cannot where a wall that comes is in a fluid.
    pub fn follow_walls(&mut self, simulation: &Simulation) -> Option<Refusal> {
        if self.there == simulation.walls.all_there() {
            return None;
        }
        let before = self.there.clone();
        self.put_boundary_up(simulation);
        if self.compiled_for.cohesive {
            // What leaves just then takes along what its pairs hold, which are looked up in lists.
            self.list_anew(simulation);
        }
        self.renew_lists(simulation);
        let is_new = |wall: usize| !before[wall];
        self.fluid_in_walls(is_new, simulation)
            .or_else(|| self.fluid_behind_walls(is_new, simulation))
    }

    /// Takes the places that particles of a wall have now for those at which its next motion begins.
    pub fn begin_from_here(&mut self, simulation: &Simulation, wall: usize) {
        if self.compiled_for.bounded && !self.compiled_for.moving {
            self.compiled_for.moving = true;
            self.fields.motion.clone_from(&self.fields.flow);
            for &i in &self.walls {
                self.fields.motion[i as usize * RECORD..][..3].fill(0.0);
            }
            self.find_running(simulation);
        }
        self.pose_walls(simulation);
        for k in 0..self.plan.boundary.wall.len() {
            if self.plan.boundary.wall[k] as usize == wall {
                self.plan.boundary.position[k] = array(&self.carried(simulation, k).position);
            }
        }
    }

    /// Lets fluid see from now on how a wall moves that has just got another motion: one that rests has no velocity any more.
    pub fn move_otherwise(&mut self, simulation: &Simulation, wall: usize) {
        self.hold_in_container(simulation);
        self.pose_walls(simulation);
        for index in 0..self.walls.len() {
            let i = self.walls[index] as usize;
            if self.fields.kind[i] == WALL | wall as u32 {
                let now = self.carried(simulation, (self.fields.id[i] & !WALL) as usize);
                store(&mut self.fields.motion, i * RECORD, &now.velocity);
                store(&mut self.fields.half_velocity, 3 * i, &now.acceleration);
            }
        }
        self.find_running(simulation);
    }

    /// Puts the particles of moving walls where their walls are now, and those of bodies where these are, and flags parts of which one is too far
    /// from where it is listed.
    pub fn place_boundary(&mut self, simulation: &Simulation) {
        let moves = simulation.walls.has_moving() && !self.walls.is_empty();
        if !moves && self.hulls.is_empty() {
            return;
        }
        self.pose_walls(simulation);
        let has_lost_some = self.follow_bodies(simulation);
        if let Some(first) = self.moves.first_mut().filter(|_| has_lost_some) {
            first.flags |= STALE;
        }
        let n = self.fields.len();
        let FluidFields {
            id,
            kind,
            position,
            motion,
            half_velocity,
            reference,
            ..
        } = &mut self.fields;
        let (id, kind, reference) = (&id[..], &kind[..], &reference[..]);
        let (walls, starts, poses) = (&simulation.walls, &self.plan.boundary.position[..], &self.poses[..]);
        let (stepping, sides) = (&self.stepping, self.compiled_for.sides);
        let (hulls, bodies) = (&self.hulls, &simulation.bodies);
        let data = (
            numbers(position, RECORD),
            numbers(motion, RECORD),
            numbers(half_velocity, 3),
            one_each(&mut self.moves),
        );
        type Data<'a> = (Numbers<'a>, Numbers<'a>, Numbers<'a>, Strided<'a, Moved<f64>>);
        simulation
            .device
            .run(parts(n), data, |part, (position, motion, acceleration, moves): Data| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    if kind[i] & WALL == 0 || is_passing(kind[i]) {
                        continue;
                    }
                    let listed = load::<f64>(reference, i * RECORD);
                    let wall = (kind[i] & !WALL) as usize;
                    let now = match hulls.of_kind(kind[i]) {
                        Some(hull) => hulls.carried(bodies, (id[i], hull), &listed, (stepping, sides)),
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

    /// Finds what the fluid before each particle of a wall is like, and lets the wall push back alike. If it `leads`, which is to be once a step,
    /// particles in outlets follow the fluid.
    pub fn press_walls(&mut self, simulation: &Simulation, leads: bool) {
        // Where nothing but pressures acts, what walls drag at does not matter.
        if self.walls.is_empty() || self.is_incompressible() && self.compiled_for.viscous.is_none() {
            return;
        }
        let n = self.walls.len();
        self.before.resize(n * RECORD, 0.0);
        if self.compiled_for.moving {
            self.pose_walls(simulation);
        }
        let (smoother, plan) = (self.smoother(), self.compiled_for);
        let rows = if self.lists_once() { &self.before_walls } else { &self.pairs };
        let (fields, walls, media) = (&self.fields, &self.walls[..], &self.media[..]);
        let (stepping, pace) = (&self.stepping, self.pace_in_outlets());
        let (hulls, poses, slips) = (&self.hulls, &self.poses[..], &self.plan.slips[..]);
        let (at_rest, bodies) = (&simulation.walls.at_rest[..], &simulation.bodies);
        // How the surface turns to which fluid sticks.
        let spin_of = |kind: u32| match hulls.of_kind(kind) {
            _ if !plan.moving || is_passing(kind) => Vector3::zero(),
            Some(hull) => hulls.spin(bodies, hull),
            None if slips[(kind & !WALL) as usize] => Vector3::zero(),
            None => spin_of_wall::<f64>((kind & !WALL) as usize, at_rest, poses, 0, true),
        };
        let data = (numbers(&mut self.before, RECORD),);
        simulation.device.run(parts(n), data, |part, (before,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for (slot, &i) in walls[first..end].iter().enumerate() {
                let i = i as usize;
                // Of a particle of a wall, what else is the velocity at half steps is the acceleration of its wall.
                let pull = stepping.gravity.minus(&load(&fields.half_velocity, 3 * i));
                let spin = spin_of(fields.kind[i]);
                let found = fluid_before::<f64, f64>(
                    i,
                    rows.row[i] as usize,
                    rows.row[i + 1] - rows.row[i],
                    &rows.neighbors,
                    &fields.position,
                    &fields.flow,
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
                    // There, what else is the acceleration of a wall is the normal.
                    led_on(&load(&fields.motion, i * RECORD), &found, &load(&fields.half_velocity, 3 * i), pace)
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
                self.fields.flow[i * RECORD + 3] = before[0];
            } else if leads {
                self.fields.motion[i * RECORD..][..3].copy_from_slice(&before[1..]);
            }
            let velocity: Vector3<f64> = if self.compiled_for.moving {
                load(&self.fields.motion, i * RECORD)
            } else {
                Vector3::zero()
            };
            // What passes is fluid, and flows as it moves.
            let seen = if is_passing(kind) {
                velocity
            } else {
                drag_velocity(&velocity, &load(before, 1), self.plan.slips[(kind & !WALL) as usize])
            };
            store(&mut self.fields.flow, i * RECORD, &seen);
        }
    }

    /// Force of the fluids on each wall \[N\], and its torque about the wall's axis point \[N m\].
    pub fn loads(&self, simulation: &Simulation) -> Vec<([f64; 3], [f64; 3])> {
        let mut loads = vec![([0.0; 3], [0.0; 3]); self.there.len()];
        let (walls, mut poses) = (&simulation.walls, Vec::new());
        walls.poses_within(None, simulation.time(), &mut poses);
        let is_of_wall = |kind: u32| !is_passing(kind) && self.hulls.of_kind(kind).is_none();
        for &i in self.walls.iter().filter(|i| is_of_wall(self.fields.kind[**i as usize])) {
            let i = i as usize;
            let wall = (self.fields.kind[i] & !WALL) as usize;
            let force: Vector3<f64> = load(&self.fields.rate, i * RECORD);
            let start = load::<f64>(&self.plan.boundary.position[(self.fields.id[i] & !WALL) as usize], 0);
            // Not from the place: that may be on the other side of a periodic domain.
            let arm = point_of_wall::<f64>(wall, &start, &walls.at_rest, &poses, 0, &walls.servos).arm;
            let torque = arm.cross(&force);
            let (of_force, of_torque) = &mut loads[wall];
            for (sum, part) in of_force.iter_mut().zip(array(&force)) {
                *sum += part;
            }
            for (sum, part) in of_torque.iter_mut().zip(array(&torque)) {
                *sum += part;
            }
        }
        loads
    }
}
