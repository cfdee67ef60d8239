//! Particles of walls: where they are, and what the fluid before them is like.

use super::Flow;
use crate::fields::{FluidFields, PART, Sorted, part_range, parts};
use crate::search::{cells_between, is_small};
use crate::simulation::Simulation;
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_sweeps::fluid::{WALL, drag_velocity, fluid_before};
use seixo_sweeps::views::{RECORD, load, store};

impl Flow {
    /// Sets up the particles of all walls that are there, where the walls are now.
    pub fn put_boundary_up(&mut self, simulation: &Simulation) {
        let order: Vec<u32> = (0..self.fields.len()).filter(|&i| !self.is_wall(i)).map(|i| i as u32).collect();
        if order.len() < self.fields.len() {
            self.fields.reorder(&simulation.device, &order);
        }
        self.there = simulation.walls.all_there().to_vec();
        let volume = -self.plan.volume();
        let mut walls = FluidFields::default();
        for k in 0..self.plan.boundary.position.len() {
            let wall = self.plan.boundary.wall[k];
            if !self.there[wall as usize] {
                continue;
            }
            let [[x, y, z], [u, v, w]] = simulation.walls.point(wall as usize, &self.plan.boundary.position[k]);
            let id = self.first_of_walls + k as u32;
            self.put(&mut walls, [id, WALL | wall], [x, y, z, volume], [u, v, w, 0.0]);
        }
        self.fields.append(&walls);
    }

    /// Finds the places of particles of walls.
    pub fn find_walls(&mut self) {
        let kinds = self.fields.kind.iter().zip(0..);
        self.walls.clear();
        self.walls.extend(kinds.filter(|(kind, _)| **kind & WALL != 0).map(|(_, i)| i));
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
        (0..n).map(|i| self.is_wall(i) && sees(i)).collect()
    }

    /// Lets particles of walls come and go with their walls.
    pub fn follow_walls(&mut self, simulation: &Simulation) {
        if self.there != simulation.walls.all_there() {
            self.put_boundary_up(simulation);
            if self.compiled_for.cohesive {
                // What leaves just then takes along what its pairs hold, which are looked up in lists.
                self.list_anew(simulation);
            }
            self.renew_lists(simulation);
        }
    }

    /// Takes the places that particles of a wall have now for those at which its next motion begins.
    pub fn begin_from_here(&mut self, simulation: &Simulation, wall: usize) {
        if self.compiled_for.bounded && !self.compiled_for.moving {
            self.compiled_for.moving = true;
            self.fields.motion.clone_from(&self.fields.flow);
            for &i in &self.walls {
                self.fields.motion[i as usize * RECORD..][..3].fill(0.0);
            }
        }
        let boundary = &mut self.plan.boundary;
        for (place, _) in boundary
            .position
            .iter_mut()
            .zip(&boundary.wall)
            .filter(|(_, of)| **of as usize == wall)
        {
            [*place, _] = simulation.walls.point(wall, place);
        }
    }

    /// Puts the particles of moving walls where their walls are now.
    pub fn place_boundary(&mut self, simulation: &Simulation) {
        if !simulation.walls.has_moving() {
            return;
        }
        for &i in &self.walls {
            let i = i as usize;
            let k = (self.fields.id[i] - self.first_of_walls) as usize;
            let wall = (self.fields.kind[i] & !WALL) as usize;
            if simulation.walls.moves(wall) {
                let [place, now] = simulation.walls.point(wall, &self.plan.boundary.position[k]);
                self.fields.position[i * RECORD..][..3].copy_from_slice(&place);
                let velocity = &mut self.fields.motion[i * RECORD..][..3];
                let acceleration = &mut self.fields.half_velocity[3 * i..3 * i + 3];
                for axis in 0..3 {
                    acceleration[axis] = (now[axis] - velocity[axis]) / self.stepping.dt;
                    velocity[axis] = now[axis];
                }
            }
        }
    }

    /// Finds what the fluid before each particle of a wall is like, and lets the wall push back alike.
    pub fn press_walls(&mut self, simulation: &Simulation) {
        if self.walls.is_empty() {
            return;
        }
        let n = self.walls.len();
        self.before.resize(n * RECORD, 0.0);
        let (smoother, plan) = (self.smoother(), self.compiled_for);
        let (fields, rows, walls, media) = (&self.fields, &self.before_walls, &self.walls[..], &self.media[..]);
        let stepping = &self.stepping;
        let data = (Strided {
            items: &mut self.before[..],
            per_part: PART * RECORD,
        },);
        simulation.device.run(parts(n), data, |part, (before,): (Strided<f64>,)| {
            let (first, end) = part_range(part, n);
            for (slot, &i) in walls[first..end].iter().enumerate() {
                let i = i as usize;
                // Of a particle of a wall, what else is the velocity at half steps is the acceleration of its wall.
                let pull = stepping.gravity.minus(&load(&fields.half_velocity, 3 * i));
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
                    &smoother,
                    &stepping.sides,
                    1,
                    plan,
                );
                let Vector3 { x, y, z } = found.velocity;
                before.items[slot * RECORD..][..RECORD].copy_from_slice(&[found.pressure, x, y, z]);
            }
        });
        for (&i, before) in self.walls.iter().zip(self.before.chunks_exact(RECORD)) {
            let i = i as usize;
            let wall = (self.fields.kind[i] & !WALL) as usize;
            self.fields.flow[i * RECORD + 3] = before[0];
            let velocity: Vector3<f64> = if self.compiled_for.moving {
                load(&self.fields.motion, i * RECORD)
            } else {
                Vector3::zero()
            };
            let seen = drag_velocity(&velocity, &load(before, 1), self.plan.slips[wall]);
            store(&mut self.fields.flow, i * RECORD, &seen);
        }
    }

    /// Force of the fluids on each wall \[N\], and its torque about the wall's axis point \[N m\].
    pub fn loads(&self, simulation: &Simulation) -> Vec<([f64; 3], [f64; 3])> {
        let mut loads = vec![([0.0; 3], [0.0; 3]); self.there.len()];
        for &i in &self.walls {
            let i = i as usize;
            let wall = (self.fields.kind[i] & !WALL) as usize;
            let force: Vector3<f64> = load(&self.fields.rate, i * RECORD);
            let arm = load::<f64>(&self.fields.position, i * RECORD).minus(&simulation.walls.axis_point(wall));
            let torque = arm.cross(&force);
            let (of_force, of_torque) = &mut loads[wall];
            for (sum, part) in of_force.iter_mut().zip([force.x, force.y, force.z]) {
                *sum += part;
            }
            for (sum, part) in of_torque.iter_mut().zip([torque.x, torque.y, torque.z]) {
                *sum += part;
            }
        }
        loads
    }
}
