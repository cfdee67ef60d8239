//! Joints of bodies to space: the constraint of each joint, computed once from the world.

use crate::world::{Body, constraint_of};
use seixo_sweeps::bodies::store_orientation;
use seixo_sweeps::joints::{JOINT, JointConstraint, NO_JOINT, SLIDER, joint_at};
use seixo_sweeps::layout::store;
use std::collections::HashMap;

/// Record of a joint for the table of bodies.
fn record_of(body: &Body) -> [f64; JOINT] {
    let mut numbers = [0.0; JOINT];
    if let Some(joint) = &body.joint {
        let bearing = constraint_of(body, joint);
        numbers[0] = bearing.kind;
        store(&mut numbers, 1, &bearing.point);
        store(&mut numbers, 4, &bearing.axis);
        store(&mut numbers, 7, &bearing.lever);
        store(&mut numbers, 10, &bearing.moments);
        store_orientation(&mut numbers, 13, &bearing.frame);
        store_orientation(&mut numbers, 17, &bearing.start);
    }
    numbers
}

/// Joints of all bodies, [`JOINT`] numbers each, in the order of their table; empty if no body has a joint. Bodies that were added later have none.
#[derive(Clone, Default)]
pub(crate) struct Joints(Vec<f64>);

impl Joints {
    /// Joints of the bodies with these ids, from the world.
    pub fn new(given: &[Body], ids: &[u32]) -> Joints {
        let records: HashMap<u32, [f64; JOINT]> = given
            .iter()
            .filter(|body| body.joint.is_some())
            .map(|body| (body.id, record_of(body)))
            .collect();
        if records.is_empty() {
            return Joints::default();
        }
        let record = |id: &u32| records.get(id).copied().unwrap_or([0.0; JOINT]);
        Joints(ids.iter().flat_map(record).collect())
    }

    /// Whether no body ever had a joint.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records from body b on.
    pub fn rest(&self, b: usize) -> &[f64] {
        self.0.get(b * JOINT..).unwrap_or_default()
    }

    /// Kind of joint of body b.
    fn kind(&self, b: usize) -> f64 {
        self.rest(b).first().copied().unwrap_or(f64::from(NO_JOINT))
    }

    /// Whether body b is on a joint.
    pub fn is_on_joint(&self, b: usize) -> bool {
        self.kind(b) != f64::from(NO_JOINT)
    }

    /// Whether body b is on a joint with a fixed pivot.
    pub fn pivots(&self, b: usize) -> bool {
        self.is_on_joint(b) && self.kind(b) != f64::from(SLIDER)
    }

    /// Joint of body b, if it has one.
    pub fn of(&self, b: usize) -> Option<JointConstraint<f64>> {
        self.is_on_joint(b).then(|| joint_at(&self.0, b))
    }

    /// Keeps only some bodies.
    pub fn kept(&self, stays: impl Fn(usize) -> bool) -> Joints {
        let records = self.0.chunks_exact(JOINT).enumerate().filter(|(b, _)| stays(*b));
        Joints(records.flat_map(|(_, record)| record).copied().collect())
    }

    /// Number of values that the table has room for.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }
}
