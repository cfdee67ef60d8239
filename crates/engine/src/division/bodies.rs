//! Bodies in domains: every domain has the table of all of them, and some of their grains.
//!
//! Where bodies that are held stand follows from the time alone. What nothing holds is moved by all domains alike, by what pushes on its grains in all of
//! them: each adds that up in the order of members, as an undivided world does. All domains book the same of it, of which one counts.

use super::letters::{Illegible, enclose, unfold};
use crate::bodies::Bodies;
use crate::fields::Fields;
use crate::measure::Work;
use crate::simulation::Simulation;
use crate::world::Leaving;
use seixo_laws::Vector3;
use seixo_sweeps::bodies::{LOAD, original_of};
use seixo_sweeps::views::{RECORD, load};
use std::ops::Range;

/// Numbers that tell what pushes on a grain.
const PUSH: usize = 6;

/// What pushes on all members of bodies, wherever their grains are; empty but in a domain.
#[derive(Clone, Default)]
pub(crate) struct Pushes {
    /// Of every member a force \[N\] and padding.
    force: Vec<f64>,
    /// Of every member a torque \[N m\] and padding.
    torque: Vec<f64>,
}

impl Pushes {
    /// Nothing yet on so many members.
    fn on(members: usize) -> Pushes {
        let zeros = vec![0.0; members * RECORD];
        Pushes {
            force: zeros.clone(),
            torque: zeros,
        }
    }

    /// Whether they come from all domains.
    pub fn are_gathered(&self) -> bool {
        !self.force.is_empty()
    }

    /// Forces and torques by the places of members: these or, where all grains are here, those of the grains.
    pub fn or_of<'a>(&'a self, fields: &'a Fields) -> [&'a [f64]; 2] {
        if self.are_gathered() {
            [&self.force, &self.torque]
        } else {
            [&fields.force, &fields.torque]
        }
    }

    /// Appends some numbers of others.
    pub fn keep(&mut self, others: &Pushes, numbers: Range<usize>) {
        self.force.extend(others.force.get(numbers.clone()).unwrap_or_default());
        self.torque.extend(others.torque.get(numbers).unwrap_or_default());
    }

    /// Begins anew with nothing that pushes.
    pub(super) fn forget(&mut self) {
        self.force.fill(0.0);
        self.torque.fill(0.0);
    }

    /// Takes in what a domain tells, see [`Simulation::tell_pushes`].
    pub(super) fn take_in(&mut self, mut letter: &[u8]) -> Result<(), Illegible> {
        let members: Vec<u32> = unfold(&mut letter)?;
        let numbers: Vec<f64> = unfold(&mut letter)?;
        if numbers.len() != members.len() * PUSH {
            return Err(Illegible);
        }
        for (&member, push) in members.iter().zip(numbers.chunks_exact(PUSH)) {
            let at = member as usize * RECORD;
            for (column, vector) in [&mut self.force, &mut self.torque].into_iter().zip(push.chunks_exact(3)) {
                column.get_mut(at..at + 3).ok_or(Illegible)?.copy_from_slice(vector);
            }
        }
        Ok(())
    }

    /// Numbers that there is room for.
    pub fn capacity(&self) -> usize {
        self.force.capacity() + self.torque.capacity()
    }
}

impl Bodies {
    /// The same bodies for a domain, which hears what pushes on them.
    pub(super) fn of_domain(&self) -> Bodies {
        let mut share = Bodies {
            pushes: Pushes::on(self.body_of.len()),
            ..self.clone()
        };
        share.find_places(&[]);
        share
    }
}

impl Simulation {
    /// Whether there are rigid bodies that move by what pushes on them.
    pub(super) fn has_loose_bodies(&self) -> bool {
        (0..self.bodies.len()).any(|b| !self.bodies.held.holds(b))
    }

    /// Where what bodies lose and gain is booked: in a domain apart from what its grains do, for other domains book the same.
    pub(crate) fn books_of_bodies(&mut self) -> &mut Work {
        if self.has_ghosts { &mut self.bodies.booked } else { &mut self.work }
    }

    /// What pushes on the grains of a domain that bodies carry which nothing holds, as a letter.
    pub(super) fn tell_pushes(&self) -> Vec<u8> {
        let fields = &self.fields;
        let (mut members, mut numbers) = (Vec::<u32>::new(), Vec::<f64>::new());
        for (i, &member) in fields.member.iter().enumerate() {
            if self.bodies.of(member).is_none_or(|b| self.bodies.held.holds(b)) {
                continue;
            }
            let at = i * RECORD;
            let push = [&fields.force[at..at + 3], &fields.torque[at..at + 3]];
            // Zeros are there already, but for their sign.
            if push.iter().any(|vector| vector.iter().any(|x| x.to_bits() != 0)) {
                members.push(member);
                numbers.extend(push.into_iter().flatten());
            }
        }
        let mut letter = Vec::new();
        enclose(&mut letter, &members);
        enclose(&mut letter, &numbers);
        letter
    }

    /// Takes over the bodies of a domain, which are those of all, and what it booked of them.
    pub(super) fn take_over_bodies(&mut self, bodies: &mut Bodies) {
        self.work = self.work.plus(&std::mem::take(&mut bodies.booked));
        self.bodies = Bodies {
            pushes: Pushes::default(),
            ..bodies.clone()
        };
    }

    /// Drops pairs of grains that never touch from the rows of a domain, copies included.
    pub(crate) fn drop_pairs_inside_bodies(&mut self) {
        if self.bodies.len() == 0 {
            return;
        }
        let member: Vec<u32> = self.fields.member.iter().map(|member| original_of(*member)).collect();
        self.pairs.drop_inside_bodies(&member, &self.bodies.that_touch());
    }

    /// As [`Simulation::power_of_holding`], of the grains that a domain owns: what pushes on a body does the power of what pushes on its grains. What fluids
    /// do to it counts where its first grain is.
    pub(crate) fn power_of_holding_here(&self) -> f64 {
        if self.bodies.held.is_empty() {
            return 0.0;
        }
        let (fields, bodies) = (&self.fields, &self.bodies);
        let is_held = |i: &usize| self.body_of(*i).is_some_and(|b| bodies.held.holds(b));
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

    /// Removes what left the world: of the grains of a domain, and of all bodies.
    pub(super) fn drop_lost(&mut self) {
        let Some(domain) = self.domain.filter(|domain| domain.leaving == Leaving::Delete) else {
            return;
        };
        let lost: Vec<bool> = (0..self.fields.len()).map(|i| self.has_gone(i, &domain)).collect();
        self.book_bodies_leaving(&domain);
        if lost.contains(&true) {
            self.book_grains_leaving();
            self.book_heat_leaving(|_, i| lost[i]);
            self.keep_grains(|i| !lost[i]);
        }
        // Also bodies of which no grain is here: members have the same names everywhere.
        let left: Vec<bool> = (0..self.bodies.len()).map(|b| self.bodies.has_left(b, &domain)).collect();
        if left.contains(&true) {
            self.keep_bodies(|b| !left[b]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_sweeps::bodies::{FREE, GHOST, ghost_of, is_ghost};

    #[test]
    fn a_copy_tells_what_it_is_a_copy_of() {
        assert_eq!((ghost_of(FREE), original_of(GHOST)), (GHOST, FREE));
        assert!(is_ghost(GHOST) && !is_ghost(FREE));
        for member in [0, 1, 77, (1 << 31) - 3] {
            let ghost = ghost_of(member);
            assert!(is_ghost(ghost) && !is_ghost(member) && ghost != GHOST, "{member}");
            assert_eq!((original_of(ghost), original_of(member)), (member, member));
        }
    }

    #[test]
    fn pushes_stand_where_their_members_do() {
        let told = |members: &[u32], numbers: &[f64]| {
            let mut letter = Vec::new();
            enclose(&mut letter, members);
            enclose(&mut letter, numbers);
            letter
        };
        let mut pushes = Pushes::on(3);
        let second = told(&[1], &[1.0, 2.0, 3.0, 4.0, 5.0, -0.0]);
        pushes.take_in(&second).unwrap();
        let [force, torque] = pushes.or_of(&Fields::default()).map(<[f64]>::to_vec);
        assert_eq!(force, [[0.0; 4], [1.0, 2.0, 3.0, 0.0], [0.0; 4]].concat());
        assert_eq!(torque, [[0.0; 4], [4.0, 5.0, 0.0, 0.0], [0.0; 4]].concat());
        assert!(torque[6].is_sign_negative());
        // A member that there is not, numbers that are missing, and a letter cut short.
        for wrong in [told(&[3], &[0.0; 6]), told(&[0, 1], &[0.0; 6]), second[..second.len() - 1].to_vec()] {
            assert_eq!(pushes.take_in(&wrong), Err(Illegible));
        }
        pushes.forget();
        assert!(pushes.force.iter().chain(&pushes.torque).all(|x| x.to_bits() == 0));
    }
}
