//! Rigid bodies in subdomains: each has the table of all bodies, and some of their grains.
//!
//! The position of a body in prescribed motion follows from the time alone. All subdomains move the other bodies alike, by the forces on their grains
//! in all subdomains. Each adds up these forces in the order of the members, as a world without decomposition does. All subdomains compute the same
//! energies, of which one copy counts.

use crate::bodies::{Bodies, BodyForces};
use crate::populations::Populations;
use seixo_laws::Vector3;
use seixo_sweeps::bodies::{LOAD, original_of};
use seixo_sweeps::layout::{RECORD, load};

impl Bodies {
    /// The same bodies for a subdomain, which receives the forces on them.
    pub(crate) fn of_domain(&self) -> Bodies {
        let mut share = Bodies {
            body_forces: BodyForces::on(self.body_of.len()),
            ..self.clone()
        };
        share.find_places(&[]);
        share
    }
}

impl Populations {
    /// Whether there are rigid bodies that move freely.
    pub(crate) fn has_loose_bodies(&self) -> bool {
        (0..self.bodies.len()).any(|b| !self.bodies.held.is_body_prescribed(b))
    }

    /// A message with the forces on the own grains of this subdomain that belong to free bodies.
    pub(super) fn body_force_message(&self) -> Vec<u8> {
        let fields = &self.grains.fields;
        let is_free = |member: u32| self.bodies.of(member).is_some_and(|b| !self.bodies.held.is_body_prescribed(b));
        let own = fields.member.iter().zip(0..).filter(|(member, _)| is_free(**member));
        BodyForces::message(own.map(|(&member, i)| (member, BodyForces::record_at(&fields.force, &fields.torque, i * RECORD))))
    }

    /// Copies the bodies from a subdomain, which are the same in all, and adds their ledger.
    pub(crate) fn gather_bodies(&mut self, bodies: &mut Bodies) {
        self.ledger.work = self.ledger.work.plus(&std::mem::take(&mut bodies.ledger));
        self.bodies = Bodies {
            body_forces: BodyForces::default(),
            ..bodies.clone()
        };
    }

    /// Removes pairs of grains of one body, which are never in contact, from the rows of a subdomain, ghosts included.
    pub(crate) fn drop_pairs_inside_bodies(&mut self) {
        if self.bodies.len() == 0 {
            return;
        }
        let member: Vec<u32> = self.grains.fields.member.iter().map(|member| original_of(*member)).collect();
        self.grains
            .pairs
            .drop_inside_bodies(&member, &self.bodies.contact_body_of_members());
    }

    /// As [`Populations::power_of_prescribed_motion`], of the own grains of a subdomain: the power of the forces on a body is that of the forces on
    /// its grains. The fluid forces on a body count in the subdomain of its first grain.
    pub(crate) fn local_power_of_prescribed_motion(&self) -> f64 {
        if self.bodies.held.is_empty() {
            return 0.0;
        }
        let (fields, bodies) = (&self.grains.fields, &self.bodies);
        let is_held = |i: &usize| self.body_of(*i).is_some_and(|b| bodies.held.is_body_prescribed(b));
        let vector = |column: &[f64], at: usize| -> Vector3<f64> { load(column, at) };
        (0..fields.len()).filter(is_held).fold(0.0, |power, i| {
            let at = i * RECORD;
            let of_grain =
                vector(&fields.force, at).dot(&vector(&fields.velocity, at)) + vector(&fields.torque, at).dot(&vector(&fields.spin, at));
            let is_first = |b: &usize| !bodies.load.is_empty() && fields.member[i] == bodies.row[*b];
            let of_fluids = self.body_of(i).filter(is_first).map_or(0.0, |b| {
                let (of_load, at) = (b * LOAD, b * RECORD);
                let of_force = vector(&bodies.load, of_load).dot(&vector(&bodies.velocity, at));
                of_force + vector(&bodies.load, of_load + RECORD).dot(&vector(&bodies.spin, at))
            });
            power - of_grain - of_fluids
        })
    }

    /// Removes the grains of a subdomain, and the bodies, that left the world. Returns the indices of the other grains, if some were removed.
    pub(super) fn remove_left(&mut self) -> Option<Vec<u32>> {
        let domain = self.context.domain_to_leave()?;
        let lost: Vec<bool> = (0..self.grains.fields.len()).map(|i| self.is_outside(i, &domain)).collect();
        self.remove_body_energy(&domain);
        let stayed = lost.contains(&true).then(|| {
            self.remove_grain_energy();
            self.remove_leaving_scalars(|_, i| lost[i]);
            self.retain_grains(|i| !lost[i])
        });
        // This includes bodies without a grain here: members have the same ids everywhere.
        let left: Vec<bool> = (0..self.bodies.len()).map(|b| self.bodies.has_left(b, &domain)).collect();
        if left.contains(&true) {
            self.retain_bodies(|b| !left[b]);
        }
        stayed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_sweeps::bodies::{FREE, GHOST, REMOVED, ghost_of, is_ghost, is_owned};

    #[test]
    fn a_copy_reports_what_it_is_a_copy_of() {
        assert_eq!((ghost_of(FREE), original_of(GHOST)), (GHOST, FREE));
        assert!(is_ghost(GHOST) && !is_ghost(FREE) && is_owned(FREE));
        assert!(!is_ghost(REMOVED) && !is_owned(REMOVED), "a grain that is being removed is neither");
        for member in [0, 1, 77, (1 << 31) - 4] {
            let ghost = ghost_of(member);
            assert!(is_ghost(ghost) && !is_ghost(member) && ghost != GHOST, "{member}");
            assert!(is_owned(member) && !is_owned(ghost), "{member}");
            assert_eq!((original_of(ghost), original_of(member)), (member, member));
        }
    }
}
