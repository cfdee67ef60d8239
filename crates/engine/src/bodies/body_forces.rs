//! Forces on the members of bodies whose grains are in several domains.

use crate::exchange::{DecodeError, enclose_records, unfold_records};
use crate::fields::Fields;
use seixo_sweeps::layout::RECORD;
use std::ops::Range;

/// Number of components of the force and torque on a grain.
const BODY_FORCE: usize = 6;

/// Forces and torques on all members of bodies, in whichever subdomain their grains are; empty without a decomposition.
#[derive(Clone, Default)]
pub(crate) struct BodyForces {
    /// A force \[N\] and padding for each member.
    force: Vec<f64>,
    /// A torque \[N m\] and padding for each member.
    torque: Vec<f64>,
}

impl BodyForces {
    /// No forces yet on this number of members.
    pub fn on(members: usize) -> BodyForces {
        let zeros = vec![0.0; members * RECORD];
        BodyForces {
            force: zeros.clone(),
            torque: zeros,
        }
    }

    /// Whether they were gathered from all subdomains.
    pub fn are_gathered(&self) -> bool {
        !self.force.is_empty()
    }

    /// Forces and torques by the indices of members: these or, where all grains are here, those of the grains.
    pub fn or_of<'a>(&'a self, fields: &'a Fields) -> [&'a [f64]; 2] {
        if self.are_gathered() {
            [&self.force, &self.torque]
        } else {
            [&fields.force, &fields.torque]
        }
    }

    /// Appends some components of another.
    pub fn keep(&mut self, others: &BodyForces, numbers: Range<usize>) {
        self.force.extend(others.force.get(numbers.clone()).unwrap_or_default());
        self.torque.extend(others.torque.get(numbers).unwrap_or_default());
    }

    /// Resets all forces and torques.
    pub fn forget(&mut self) {
        self.force.fill(0.0);
        self.torque.fill(0.0);
    }

    /// Forces and torques by the indices of members, a record each.
    pub fn new(force: Vec<f64>, torque: Vec<f64>) -> BodyForces {
        BodyForces { force, torque }
    }

    /// The records of forces and of torques.
    pub fn records(&self) -> [&[f64]; 2] {
        [&self.force, &self.torque]
    }

    /// A message with these forces and torques on members, in one record each.
    pub fn message(forces: impl Iterator<Item = (u32, [f64; BODY_FORCE])>) -> Vec<u8> {
        enclose_records(forces)
    }

    /// The force and the torque that start at index `at` of these columns.
    pub fn record_at(force: &[f64], torque: &[f64], at: usize) -> [f64; BODY_FORCE] {
        std::array::from_fn(|k| if k < 3 { force[at + k] } else { torque[at + k - 3] })
    }

    /// Reads a [message](BodyForces::message) of a subdomain.
    pub fn take_in(&mut self, message: &[u8]) -> Result<(), DecodeError> {
        for (member, push) in unfold_records::<BODY_FORCE>(message)? {
            let at = member as usize * RECORD;
            for (column, vector) in [&mut self.force, &mut self.torque].into_iter().zip(push.chunks_exact(3)) {
                column.get_mut(at..at + 3).ok_or(DecodeError)?.copy_from_slice(vector);
            }
        }
        Ok(())
    }

    /// Capacity of the arrays, in numbers.
    pub fn capacity(&self) -> usize {
        self.force.capacity() + self.torque.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::enclose;

    #[test]
    fn forces_are_where_their_members_are() {
        let reported = |members: &[u32], numbers: &[f64]| {
            let mut message = Vec::new();
            enclose(&mut message, members);
            enclose(&mut message, numbers);
            message
        };
        let mut forces = BodyForces::on(3);
        let second = reported(&[1], &[1.0, 2.0, 3.0, 4.0, 5.0, -0.0]);
        forces.take_in(&second).unwrap();
        let [force, torque] = forces.or_of(&Fields::default()).map(<[f64]>::to_vec);
        assert_eq!(force, [[0.0; 4], [1.0, 2.0, 3.0, 0.0], [0.0; 4]].concat());
        assert_eq!(torque, [[0.0; 4], [4.0, 5.0, 0.0, 0.0], [0.0; 4]].concat());
        assert!(torque[6].is_sign_negative());
        // A member that does not exist, missing numbers, and a truncated message.
        for wrong in [
            reported(&[3], &[0.0; 6]),
            reported(&[0, 1], &[0.0; 6]),
            second[..second.len() - 1].to_vec(),
        ] {
            assert_eq!(forces.take_in(&wrong), Err(DecodeError));
        }
        forces.forget();
        assert!(forces.force.iter().chain(&forces.torque).all(|x| x.to_bits() == 0));
    }
}
