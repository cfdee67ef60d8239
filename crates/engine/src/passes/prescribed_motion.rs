//! Motion of bodies that does not depend on forces, its power, and walls near such bodies.

use crate::bodies::Bodies;
use crate::broad_phase::WALLS;
use crate::populations::Populations;
use crate::prescribed_motion::{Pose, PrescribedMotion};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::{POSE_OF_BODY, is_ghost, place_prescribed_body, store_orientation};
use seixo_sweeps::layout::{RECORD, load, store};
use seixo_sweeps::motion::{LEFT_DOMAIN, flags_of};
use seixo_sweeps::periodic::{OPEN, PeriodicBoundaries};

impl Populations {
    /// Moves bodies with prescribed motion to their current positions: all of them, or only those that are not permanently at rest. Returns the
    /// flags that they raise.
    pub(crate) fn move_prescribed_bodies(&mut self, all: bool) -> u32 {
        let time = self.context.time();
        let poses: Vec<(usize, [f64; POSE_OF_BODY])> = self.bodies.held.iter(all).map(|(b, held)| (b, self.pose_of(held, time))).collect();
        let Bodies {
            center,
            half_velocity,
            momentum,
            orientation,
            moments,
            velocity,
            spin,
            ..
        } = &mut self.bodies;
        let mut flags = 0;
        for (b, pose) in poses {
            place_prescribed_body(b, 0, &pose, center, half_velocity, momentum, orientation, moments, velocity, spin);
            flags |= flags_of::<f64, f64>(&load(&pose, 0), 0.0, 0.0, &self.context.stepping) & LEFT_DOMAIN;
        }
        flags
    }

    /// Pose of a body with prescribed motion at this time \[s\], in the form of [`place_prescribed_body()`].
    fn pose_of(&self, held: &PrescribedMotion, time: f64) -> [f64; POSE_OF_BODY] {
        let Pose {
            center,
            orientation,
            velocity,
            spin,
        } = held.at(time);
        let center = if self.context.sides == OPEN {
            center
        } else {
            image_inside(&center, &self.context.stepping.sides)
        };
        let mut pose = [0.0; POSE_OF_BODY];
        store(&mut pose, 0, &center);
        store(&mut pose, 3, &velocity);
        store(&mut pose, 6, &spin);
        store_orientation(&mut pose, 9, &orientation);
        pose
    }

    /// Poses at this time \[s\] of all bodies with prescribed motion that are not permanently at rest.
    pub(crate) fn poses_of_bodies(&self, time: f64) -> impl Iterator<Item = f64> + '_ {
        self.bodies.held.iter(false).flat_map(move |(_, held)| self.pose_of(held, time))
    }

    /// Power of prescribed motion \[W\], which balances all forces on these bodies.
    pub(crate) fn power_of_prescribed_motion(&self) -> f64 {
        if self.grains.has_ghosts {
            return self.local_power_of_prescribed_motion();
        }
        let bodies = &self.bodies;
        bodies.held.iter(false).fold(0.0, |power, (b, _)| {
            let push = bodies.push(b, &self.grains.fields);
            let (velocity, spin) = (load::<f64>(&bodies.velocity, b * RECORD), load::<f64>(&bodies.spin, b * RECORD));
            power - push.force.dot(&velocity) - push.torque.dot(&spin)
        })
    }

    /// Lists the walls near each grain. Skipped are grains with prescribed motion, which walls cannot move, and those known to be far from all walls.
    pub(crate) fn list_walls(&mut self) {
        self.walls.sort(self.grains.cells.largest_radius());
        self.find_near_walls();
        let (time, carries, bodies, broad, member) = (
            self.context.time(),
            self.bodies.are_present,
            &self.bodies,
            &self.grains.bounding_volumes,
            &self.grains.fields.member,
        );
        let is_held = |i: usize| bodies.of(member[i]).is_some_and(|b| bodies.held.is_body_prescribed(b));
        let has_ghosts = self.grains.has_ghosts;
        let is_skipped = |i: usize| {
            let is_copy = has_ghosts && is_ghost(member[i]);
            is_copy || carries && (!broad.may_contact(WALLS, member[i]) || is_held(i))
        };
        self.walls
            .list(&self.context.device, &self.grains.cells, &self.grains.fields, time, is_skipped);
        self.list_walls_of_polyhedra();
    }

    /// Whether grain i, or the grain that ghost i copies, belongs to a body with prescribed motion.
    pub(crate) fn is_prescribed(&self, i: usize) -> bool {
        self.body_of_owner(i).is_some_and(|b| self.bodies.held.is_body_prescribed(b))
    }
}

/// Periodic image of a position that lies in the domain: a motion may pass periodic sides many times.
pub(crate) fn image_inside(place: &Vector3<f64>, sides: &PeriodicBoundaries<f64, f64>) -> Vector3<f64> {
    let inside = |x: f64, low: f64, length: f64| x - length * ((x - low) / length).floor();
    Vector3 {
        x: inside(place.x, sides.low.x, sides.length.x),
        y: inside(place.y, sides.low.y, sides.length.y),
        z: inside(place.z, sides.low.z, sides.length.z),
    }
}
