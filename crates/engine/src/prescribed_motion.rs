//! Bodies with prescribed motion, independent of forces.
//!
//! The prescribed motion balances all forces on a body, including gravity, so these bodies have no energy and no momentum in the ledger. Their work
//! on other objects is added to the work of walls. They have no contacts with walls or with each other, which could not move them.

use crate::walls::{WallDisplacement, is_moving};
use crate::world::{Body, WallMotion, vector};
use seixo_laws::{Quaternion, Vector3};
use seixo_sweeps::bodies::orientation_at;
use seixo_sweeps::layout::load;
use std::collections::HashMap;

/// Prescribed motion of a body.
#[derive(Clone, Debug)]
pub(crate) struct PrescribedMotion {
    motion: WallMotion,
    /// Vector from the point of the motion's axis to the center of mass, at the start \[m\].
    arm: Vector3<f64>,
    /// Orientation at the start.
    orientation: Quaternion<f64>,
    /// Whether the body is at rest for good, and its grains were moved to their positions on it.
    is_carried: bool,
}

/// Number of values per body in a checkpoint: the arm, and the orientation w x y z.
pub(crate) const PRESCRIBED: usize = 7;

/// Prescribed position and velocities of a body at one time.
pub(crate) struct Pose {
    /// Center of mass \[m\].
    pub center: Vector3<f64>,
    pub orientation: Quaternion<f64>,
    /// Velocity of the center of mass \[m/s\].
    pub velocity: Vector3<f64>,
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<f64>,
}

impl PrescribedMotion {
    /// Prescribed motion of a body of the world, if it has one.
    fn of(body: &Body) -> Option<PrescribedMotion> {
        let motion = body.motion.clone()?;
        Some(PrescribedMotion {
            arm: vector(body.center).minus(&vector(motion.through)),
            orientation: body.quaternion(),
            is_carried: false,
            motion,
        })
    }

    /// Prescribed motion that starts from this center \[m\] and orientation.
    fn from_here(motion: &WallMotion, center: &Vector3<f64>, orientation: Quaternion<f64>) -> PrescribedMotion {
        PrescribedMotion {
            motion: motion.clone(),
            arm: center.minus(&vector(motion.through)),
            orientation,
            is_carried: false,
        }
    }

    /// Inverse of [`PrescribedMotion::numbers`].
    fn of_numbers(motion: &WallMotion, numbers: &[f64]) -> PrescribedMotion {
        PrescribedMotion {
            motion: motion.clone(),
            arm: load(numbers, 0),
            orientation: orientation_at(numbers, 3),
            is_carried: false,
        }
    }

    /// Values for a checkpoint.
    fn numbers(&self) -> [f64; PRESCRIBED] {
        let (arm, orientation) = (&self.arm, &self.orientation);
        [arm.x, arm.y, arm.z, orientation.w, orientation.x, orientation.y, orientation.z]
    }

    /// The pose at this time \[s\].
    pub(crate) fn at(&self, time: f64) -> Pose {
        let stance = WallDisplacement::at(&self.motion, time);
        let turned = stance.rotation();
        let arm = turned.to_space(&self.arm);
        let spin = stance.spin();
        Pose {
            center: vector(self.motion.through).plus(&stance.shift).plus(&arm),
            orientation: turned.after(&self.orientation),
            velocity: stance.velocity.plus(&spin.cross(&arm)),
            spin,
        }
    }
}

/// Prescribed motion of each body, in the order of the table; empty if no body has one.
#[derive(Clone, Default)]
pub(crate) struct PrescribedBodies(Vec<Option<Box<PrescribedMotion>>>);

impl PrescribedBodies {
    /// Prescribed motions of the bodies with these ids, from the world.
    pub fn new(given: &[Body], ids: &[u32]) -> PrescribedBodies {
        let held: HashMap<u32, PrescribedMotion> = given
            .iter()
            .filter_map(|body| Some((body.id, PrescribedMotion::of(body)?)))
            .collect();
        if held.is_empty() {
            return PrescribedBodies::default();
        }
        PrescribedBodies(ids.iter().map(|id| held.get(id).cloned().map(Box::new)).collect())
    }

    /// Prescribes the motion of body b of `count`, from this center \[m\] and orientation.
    pub fn prescribe(&mut self, (b, count): (usize, usize), motion: &WallMotion, center: &Vector3<f64>, orientation: Quaternion<f64>) {
        self.0.resize(count, None);
        self.0[b] = Some(Box::new(PrescribedMotion::from_here(motion, center, orientation)));
    }

    /// Prescribes the motion of body b of `count`, with the values of a checkpoint.
    pub fn prescribe_from_state(&mut self, (b, count): (usize, usize), motion: &WallMotion, numbers: &[f64]) {
        self.0.resize(count, None);
        self.0[b] = Some(Box::new(PrescribedMotion::of_numbers(motion, numbers)));
    }

    /// Ends the prescribed motion of body b.
    pub fn end_prescribed(&mut self, b: usize) {
        if let Some(held) = self.0.get_mut(b) {
            *held = None;
        }
    }

    /// Values for a checkpoint, [`PRESCRIBED`] for each body: zeros for bodies without prescribed motion.
    pub fn numbers(&self) -> Vec<f64> {
        let of_body = |held: &Option<Box<PrescribedMotion>>| held.as_ref().map_or([0.0; PRESCRIBED], |held| held.numbers());
        self.0.iter().flat_map(of_body).collect()
    }

    /// Whether no body ever had prescribed motion.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether body b has prescribed motion.
    pub fn is_body_prescribed(&self, b: usize) -> bool {
        self.0.get(b).is_some_and(Option::is_some)
    }

    /// Whether body b is at rest for good: its prescribed motion has no velocity at any time.
    pub fn is_at_rest(&self, b: usize) -> bool {
        self.0
            .get(b)
            .and_then(Option::as_deref)
            .is_some_and(|held| !is_moving(&held.motion))
    }

    /// Whether body b is at rest for good, and its grains were moved to their positions on it.
    pub fn is_carried(&self, b: usize) -> bool {
        self.0.get(b).and_then(Option::as_deref).is_some_and(|held| held.is_carried)
    }

    /// Records that the grains of all bodies were moved to their positions on them.
    pub fn note_carried(&mut self) {
        for held in self.0.iter_mut().flatten() {
            held.is_carried = !is_moving(&held.motion);
        }
    }

    /// Prescribed motions and the indices of their bodies: all of them, or only those that are not permanently at rest.
    pub fn iter(&self, all: bool) -> impl Iterator<Item = (usize, &PrescribedMotion)> {
        let held = self.0.iter().enumerate().filter_map(|(b, held)| Some((b, held.as_deref()?)));
        held.filter(move |(_, held)| all || is_moving(&held.motion))
    }

    /// Keeps only some bodies.
    pub fn kept(mut self, stays: impl Fn(usize) -> bool) -> PrescribedBodies {
        let mut b = 0;
        self.0.retain(|_| {
            b += 1;
            stays(b - 1)
        });
        self
    }
}
