//! Bodies that are held: they move as they are told, whatever pushes on them.
//!
//! What holds a body bears all that pushes on it, gravity included, so such bodies have no energy and no momentum in the books; what they do
//! to everything else is booked as the work of walls. They touch neither walls nor each other: nothing could move by it.

use crate::bodies::Bodies;
use crate::broad::WALLS;
use crate::simulation::{Simulation, vector};
use crate::walls::{Stance, is_moving};
use crate::world::{Body, WallMotion};
use seixo_laws::{Quaternion, Vector3};
use seixo_sweeps::bodies::{POSE_OF_BODY, is_ghost, put_held, store_turn, turn_at};
use seixo_sweeps::motion::{LEFT, flags_of};
use seixo_sweeps::sides::{OPEN, Sides};
use seixo_sweeps::views::{RECORD, load, store};
use std::collections::HashMap;

/// How a body is held.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    motion: WallMotion,
    /// From the point of the motion's axis to the center of mass, before anything moves \[m\].
    arm: Vector3<f64>,
    /// Orientation then.
    turn: Quaternion<f64>,
}

/// Numbers that a state keeps of how a body is held: the arm, and the orientation w x y z.
pub(crate) const HELD: usize = 7;

/// Where a body is held at a time, and how it moves then.
struct Pose {
    /// Center of mass \[m\].
    center: Vector3<f64>,
    turn: Quaternion<f64>,
    /// Velocity of the center of mass \[m/s\].
    velocity: Vector3<f64>,
    /// \[rad/s\].
    spin: Vector3<f64>,
}

impl Held {
    /// How the world has a body held, if it does.
    fn of(body: &Body) -> Option<Held> {
        let motion = body.motion.clone()?;
        Some(Held {
            arm: vector(body.center).minus(&vector(motion.through)),
            turn: body.turn(),
            motion,
        })
    }

    /// From where a body is now, with its center \[m\] and orientation; the motion has not begun.
    fn from_here(motion: &WallMotion, center: &Vector3<f64>, turn: Quaternion<f64>) -> Held {
        Held {
            motion: motion.clone(),
            arm: center.minus(&vector(motion.through)),
            turn,
        }
    }

    /// As [`Held::numbers`] tells.
    fn of_numbers(motion: &WallMotion, numbers: &[f64]) -> Held {
        Held {
            motion: motion.clone(),
            arm: load(numbers, 0),
            turn: turn_at(numbers, 3),
        }
    }

    /// What a state keeps of it.
    fn numbers(&self) -> [f64; HELD] {
        let (arm, turn) = (&self.arm, &self.turn);
        [arm.x, arm.y, arm.z, turn.w, turn.x, turn.y, turn.z]
    }

    /// The pose at this time \[s\].
    fn at(&self, time: f64) -> Pose {
        let stance = Stance::at(&self.motion, time);
        let turned = stance.turn();
        let arm = turned.turned(&self.arm);
        let spin = stance.axis.times(stance.rate);
        Pose {
            center: vector(self.motion.through).plus(&stance.shift).plus(&arm),
            turn: turned.after(&self.turn),
            velocity: stance.velocity.plus(&spin.cross(&arm)),
            spin,
        }
    }
}

/// Which bodies are held and how, in the order of the table; empty where none is.
#[derive(Clone, Default)]
pub(crate) struct HeldBodies(Vec<Option<Box<Held>>>);

impl HeldBodies {
    /// How the bodies with these ids are held, as the world has it.
    pub fn new(given: &[Body], ids: &[u32]) -> HeldBodies {
        let held: HashMap<u32, Held> = given.iter().filter_map(|body| Some((body.id, Held::of(body)?))).collect();
        if held.is_empty() {
            return HeldBodies::default();
        }
        HeldBodies(ids.iter().map(|id| held.get(id).cloned().map(Box::new)).collect())
    }

    /// Holds body b, one of so many, from this center \[m\] and orientation on.
    pub fn hold(&mut self, (b, count): (usize, usize), motion: &WallMotion, center: &Vector3<f64>, turn: Quaternion<f64>) {
        self.0.resize(count, None);
        self.0[b] = Some(Box::new(Held::from_here(motion, center, turn)));
    }

    /// Holds body b, one of so many, as numbers of a state tell.
    pub fn hold_again(&mut self, (b, count): (usize, usize), motion: &WallMotion, numbers: &[f64]) {
        self.0.resize(count, None);
        self.0[b] = Some(Box::new(Held::of_numbers(motion, numbers)));
    }

    /// Lets body b go.
    pub fn let_go(&mut self, b: usize) {
        if let Some(held) = self.0.get_mut(b) {
            *held = None;
        }
    }

    /// What a state keeps of how bodies are held, [`HELD`] numbers each: zeros of those that are not.
    pub fn numbers(&self) -> Vec<f64> {
        let of_body = |held: &Option<Box<Held>>| held.as_ref().map_or([0.0; HELD], |held| held.numbers());
        self.0.iter().flat_map(of_body).collect()
    }

    /// Whether no body was ever held.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether body b is held.
    pub fn holds(&self, b: usize) -> bool {
        self.0.get(b).is_some_and(Option::is_some)
    }

    /// Those that are held, and their places in the table; all of them, or only those that do not stand still for good.
    pub fn iter(&self, all: bool) -> impl Iterator<Item = (usize, &Held)> {
        let held = self.0.iter().enumerate().filter_map(|(b, held)| Some((b, held.as_deref()?)));
        held.filter(move |(_, held)| all || is_moving(&held.motion))
    }

    /// Keeps only some bodies.
    pub fn kept(mut self, stays: impl Fn(usize) -> bool) -> HeldBodies {
        let mut b = 0;
        self.0.retain(|_| {
            b += 1;
            stays(b - 1)
        });
        self
    }
}

/// The image of a place that lies in the domain: a motion may go on and on through periodic sides.
fn image_inside(place: &Vector3<f64>, sides: &Sides<f64, f64>) -> Vector3<f64> {
    let inside = |x: f64, low: f64, length: f64| x - length * ((x - low) / length).floor();
    Vector3 {
        x: inside(place.x, sides.low.x, sides.length.x),
        y: inside(place.y, sides.low.y, sides.length.y),
        z: inside(place.z, sides.low.z, sides.length.z),
    }
}

impl Simulation {
    /// Puts bodies that are held where they are now; all of them, or only those that do not stand still for good. Tells which flags they raise.
    pub(crate) fn hold_bodies(&mut self, all: bool) -> u32 {
        let time = self.time();
        let poses: Vec<(usize, [f64; POSE_OF_BODY])> = self.bodies.held.iter(all).map(|(b, held)| (b, self.pose_of(held, time))).collect();
        let Bodies {
            center,
            half_velocity,
            momentum,
            turn,
            moments,
            velocity,
            spin,
            ..
        } = &mut self.bodies;
        let mut flags = 0;
        for (b, pose) in poses {
            put_held(b, 0, &pose, center, half_velocity, momentum, turn, moments, velocity, spin);
            flags |= flags_of::<f64, f64>(&load(&pose, 0), 0.0, 0.0, &self.stepping) & LEFT;
        }
        flags
    }

    /// The pose of a body that is held at this time \[s\], as [`put_held()`] takes it.
    fn pose_of(&self, held: &Held, time: f64) -> [f64; POSE_OF_BODY] {
        let Pose {
            center,
            turn,
            velocity,
            spin,
        } = held.at(time);
        let center = if self.sides == OPEN {
            center
        } else {
            image_inside(&center, &self.stepping.sides)
        };
        let mut pose = [0.0; POSE_OF_BODY];
        store(&mut pose, 0, &center);
        store(&mut pose, 3, &velocity);
        store(&mut pose, 6, &spin);
        store_turn(&mut pose, 9, &turn);
        pose
    }

    /// Poses at this time \[s\] of the bodies that are held and do not stand still, one after the other.
    pub(crate) fn poses_of_bodies(&self, time: f64) -> impl Iterator<Item = f64> + '_ {
        self.bodies.held.iter(false).flat_map(move |(_, held)| self.pose_of(held, time))
    }

    /// Power that what holds bodies puts in \[W\]: it bears what pushes on them.
    pub(crate) fn power_of_holding(&self) -> f64 {
        if self.has_ghosts {
            return self.power_of_holding_here();
        }
        let bodies = &self.bodies;
        bodies.held.iter(false).fold(0.0, |power, (b, _)| {
            let push = bodies.push(b, &self.fields);
            let (velocity, spin) = (load::<f64>(&bodies.velocity, b * RECORD), load::<f64>(&bodies.spin, b * RECORD));
            power - push.force.dot(&velocity) - push.torque.dot(&spin)
        })
    }

    /// Lists which walls grains are near, but for grains that are held: these no wall can move; and for those that are known to be far from any.
    pub(crate) fn list_walls(&mut self) {
        self.walls.sort(self.cells.largest_radius());
        self.look_for_walls();
        let (time, carries, bodies, broad, member) = (self.time(), self.carries, &self.bodies, &self.broad, &self.fields.member);
        let is_held = |i: usize| bodies.of(member[i]).is_some_and(|b| bodies.held.holds(b));
        let has_ghosts = self.has_ghosts;
        let is_skipped = |i: usize| {
            let is_copy = has_ghosts && is_ghost(member[i]);
            is_copy || carries && (!broad.may_meet(WALLS, member[i]) || is_held(i))
        };
        self.walls.list(&self.device, &self.cells, &self.fields, time, is_skipped);
    }

    /// Whether the grain at place i is of a body that is held, or a copy of one that is.
    pub(crate) fn is_held(&self, i: usize) -> bool {
        self.body_of_original(i).is_some_and(|b| self.bodies.held.holds(b))
    }
}
