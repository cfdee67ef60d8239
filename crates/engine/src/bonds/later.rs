//! Bonds that are made and dissolved between two steps.

use super::limit::limit_of_bonds;
use super::plan::{Found, Standing, pairs_to_bond};
use super::{Network, OneBond};
use crate::assemble::mass_of_sphere;
use crate::events::{Meets, stopped};
use crate::fields::Fields;
use crate::refusal::Refusal;
use crate::simulation::Simulation;
use crate::world::Bonds;
use seixo_laws::bond::Hold;
use seixo_sweeps::bonds::{BOND, rest_at};
use seixo_sweeps::views::{RECORD, add};
use std::borrow::Cow;
use std::collections::HashMap;

/// What a bond does, with the places of its grains.
pub(crate) type Pull = ([usize; 2], Hold<f64>);

impl Simulation {
    /// Makes the bonds of these kinds, indices into [`crate::world::World::bonds`], as the grains stand now: nothing pulls on them yet. Where
    /// neighbors are joined, pairs that bonds hold already are passed over.
    ///
    /// # Errors
    /// If a kind is not one of the world's, there is nothing to bond, a pair cannot be bonded, the time step is too long for the bonds, and as
    /// [`Simulation::observe`].
    pub fn bond(&mut self, kinds: &[usize]) -> Result<(), Refusal> {
        if kinds.is_empty() {
            return Ok(());
        }
        self.check_kinds(kinds)?;
        self.observe().map_err(stopped)?;
        let found = self.pairs_to_bond_now(kinds)?;
        let gained = self.edit(Meets::Nothing, |simulation| simulation.make_bonds(&found))?;
        self.work.inserted += gained;
        Ok(())
    }

    /// Dissolves the bonds of these kinds that hold: from this moment on they do nothing. They are not among the breaks; what they held is booked
    /// with what breaks release. They can be made again.
    ///
    /// # Errors
    /// If a kind is not one of the world's, and as [`Simulation::observe`].
    pub fn unbond(&mut self, kinds: &[usize]) -> Result<(), Refusal> {
        if kinds.is_empty() {
            return Ok(());
        }
        self.check_kinds(kinds)?;
        let mut released = 0.0;
        let gained = self.edit(Meets::Nothing, |simulation| released = simulation.dissolve_bonds(kinds))?;
        self.work.inserted += gained + released;
        Ok(())
    }

    fn check_kinds(&self, kinds: &[usize]) -> Result<(), Refusal> {
        let count = self.kinds_of_bonds.len();
        kinds.iter().find(|kind| **kind >= count).map_or(Ok(()), |&kind| {
            Err(Refusal::Setting {
                what: "kind of bonds",
                value: kind as f64,
                must: "the index of one of the world's",
            })
        })
    }

    /// The grains as bonds find them now.
    fn standing(&self) -> Standing<'_> {
        let fields = &self.fields;
        let n = fields.len();
        let mass = |i: usize| mass_of_sphere(fields.position[i * RECORD + 3], self.densities[fields.material[i] as usize]);
        Standing {
            id: &fields.id,
            group: &fields.group,
            position: Cow::Borrowed(&fields.position),
            mass: (0..n).map(mass).collect(),
            body: (0..n).map(|i| self.body_of(i)).collect(),
            sides: (self.stepping.sides, self.sides),
        }
    }

    /// The pairs that bonds of these kinds join now, if the time step suits them and all bonds that hold.
    fn pairs_to_bond_now(&self, kinds: &[usize]) -> Result<Vec<Found>, Refusal> {
        let standing = self.standing();
        let mut all = self
            .bonds
            .as_ref()
            .map_or_else(Vec::new, |network| holding(network, &self.kinds_of_bonds, &standing));
        let joined = all.iter().map(|one| (one.ids, one.kind)).collect();
        let found = pairs_to_bond(&self.device, &standing, (&self.kinds_of_bonds, kinds), &joined)?;
        all.extend(&found);
        let Some((limit, cause)) = limit_of_bonds(&self.kinds_of_bonds, &standing, &all) else {
            return Ok(found);
        };
        let (value, limit) = (self.stepping.dt, self.left_to_bonds * limit);
        if value > limit {
            return Err(Refusal::BondStep { value, limit, cause });
        }
        Ok(found)
    }

    fn make_bonds(&mut self, found: &[Found]) {
        let sides = (&self.stepping.sides, self.sides);
        let Some(network) = &mut self.bonds else { return };
        let first = network.len();
        network.add(&self.kinds_of_bonds, found, &self.fields, sides);
        let made: Vec<usize> = (first..network.len()).collect();
        self.lay_bonds(&made, 1.0);
    }

    /// Returns the elastic energy that was held \[J\].
    fn dissolve_bonds(&mut self, kinds: &[usize]) -> f64 {
        let Some(network) = &mut self.bonds else { return 0.0 };
        network.take_back();
        let goes = |bond: &usize| kinds.contains(&(network.kind[*bond] as usize));
        let going: Vec<usize> = network.all_holding().filter(goes).collect();
        self.lay_bonds(&going, -1.0);
        self.bonds.as_mut().map_or(0.0, |network| network.dissolve(&going))
    }

    /// Adds to the forces of this moment what bonds of the table do – of those that are made now, their dashpots alone –, or takes it away with a
    /// sign of −1.
    fn lay_bonds(&mut self, bonds: &[usize], sign: f64) {
        if bonds.is_empty() {
            return;
        }
        let pulls = self.pulls_of(bonds);
        self.change_forces(|simulation| simulation.pull(&pulls, sign));
    }

    /// Adds pulls to the forces of this moment, or takes them away with a sign of −1.
    pub(crate) fn pull(&mut self, pulls: &[Pull], sign: f64) {
        let Fields { force, torque, .. } = &mut self.fields;
        for ([i, j], held) in pulls {
            let push = held.force.times(sign);
            add(force, i * RECORD, &push.times(-1.0));
            add(force, j * RECORD, &push);
            add(torque, i * RECORD, &held.torque_i.times(sign));
            add(torque, j * RECORD, &held.torque_j.times(sign));
        }
        if let Some(network) = &mut self.bonds {
            network.last.damping_power += sign * pulls.iter().map(|(_, held)| held.damping_power).sum::<f64>();
        }
    }

    /// Bonds of the table that hold these grains, which are held, at others that are held apart from them.
    pub(crate) fn bonds_to_others_held(&self, grains: &[usize]) -> Vec<usize> {
        let Some(network) = &self.bonds else { return Vec::new() };
        let places: HashMap<u32, usize> = self.fields.id.iter().copied().zip(0..).collect();
        let is_between = |[i, j]: [usize; 2]| {
            let is_one = self.body_of(i) == self.body_of(j);
            !is_one && self.is_held(i) && self.is_held(j) && (grains.contains(&i) || grains.contains(&j))
        };
        let ends = |bond: &usize| network.places(*bond, &places);
        network.all_holding().filter(|bond| ends(bond).is_some_and(is_between)).collect()
    }

    /// What bonds of the table do now, with the places of their grains.
    pub(crate) fn pulls_of(&self, bonds: &[usize]) -> Vec<Pull> {
        let Some(network) = &self.bonds else { return Vec::new() };
        let pull = |(_, standing): (usize, OneBond)| (standing.places, standing.held);
        self.standing_bonds(network, bonds.iter().copied()).map(pull).collect()
    }
}

/// The bonds that hold, between grains that are there.
fn holding(network: &Network, kinds: &[Bonds], standing: &Standing) -> Vec<Found> {
    let places: HashMap<u32, usize> = standing.id.iter().copied().zip(0..).collect();
    let found = |bond: usize| {
        let (ids, pair) = (network.ids(bond), network.places(bond, &places)?);
        let kind = network.kind[bond] as usize;
        Some(Found {
            kind,
            ids,
            pair,
            length: rest_at(&network.records, bond * BOND).axis.length(),
            size: kinds[kind].size_between(standing.radius(pair[0]), standing.radius(pair[1])),
        })
    };
    network.all_holding().filter_map(found).collect()
}
