//! Bonds that are made or removed between two steps.

use super::bonds::BondState;
use crate::bonds::later::BondAction;
use crate::bonds::limit::limit_of_bonds;
use crate::bonds::plan::pairs_to_bond;
use crate::bonds::{Attachment, BondCandidate, BondNetwork, BondPositions};
use crate::fields::Fields;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::world::Bonds;
use seixo_sweeps::bonds::{BOND, rest_at};
use seixo_sweeps::layout::{RECORD, add};
use std::borrow::Cow;
use std::collections::HashMap;

impl Populations {
    pub(crate) fn check_kinds(&self, kinds: &[usize]) -> Result<(), WorldError> {
        let count = self.bond_plan.kinds.len();
        kinds.iter().find(|kind| **kind >= count).map_or(Ok(()), |&kind| {
            Err(WorldError::FluidSurroundings {
                what: "kind of bonds",
                value: kind as f64,
                must: "the index of one of the world's",
            })
        })
    }

    /// Current grains, as the bond functions need them.
    fn grains_of_bonds(&self) -> BondPositions<'_> {
        let fields = &self.grains.fields;
        let n = fields.len();
        BondPositions {
            id: &fields.id,
            group: &fields.group,
            position: Cow::Borrowed(&fields.position),
            mass: (0..n).map(|i| self.mass_alone(i)).collect(),
            body: (0..n).map(|i| self.body_of(i)).collect(),
            shape: &fields.shape,
            orientation: Cow::Borrowed(&fields.orientation),
            shapes: &self.bond_plan.shapes,
            sides: (self.context.stepping.sides, self.context.sides),
        }
    }

    /// Pairs that bonds of these kinds would connect now, if the time step is short enough for them and all intact bonds.
    pub(crate) fn pairs_to_bond_now(&self, kinds: &[usize]) -> Result<Vec<BondCandidate>, WorldError> {
        let state = self.grains_of_bonds();
        let mut all = self
            .bonds
            .as_ref()
            .map_or_else(Vec::new, |network| holding(network, &self.bond_plan.kinds, &state));
        let joined = all.iter().map(|one| (one.ids, one.kind)).collect();
        let found = pairs_to_bond(&self.context.device, &state, (&self.bond_plan.kinds, kinds), &joined)?;
        all.extend(&found);
        let Some((limit, cause)) = limit_of_bonds(&self.bond_plan.kinds, &state, &all) else {
            return Ok(found);
        };
        let (value, limit) = (self.context.stepping.dt, self.bond_plan.time_step_share * limit);
        if value > limit {
            return Err(WorldError::BondStep { value, limit, cause });
        }
        Ok(found)
    }

    pub(crate) fn make_bonds(&mut self, found: &[BondCandidate]) {
        let sides = (&self.context.stepping.sides, self.context.sides);
        let Some(network) = &mut self.bonds else { return };
        let first = network.len();
        network.add(&self.bond_plan.kinds, found, &self.grains.fields, sides);
        let made: Vec<usize> = (first..network.len()).collect();
        self.list_bonds_by_grain(&made, 1.0);
    }

    /// Removes bonds, and returns their elastic energy \[J\].
    pub(crate) fn dissolve_bonds(&mut self, kinds: &[usize]) -> f64 {
        let Some(network) = &mut self.bonds else { return 0.0 };
        network.store_rows();
        let goes = |bond: &usize| kinds.contains(&(network.kind(*bond) as usize));
        self.grains.disabled.bonds.retain(|&bond| !goes(&(bond as usize)));
        let going: Vec<usize> = network.intact_bonds().filter(goes).collect();
        self.list_bonds_by_grain(&going, -1.0);
        self.bonds.as_mut().map_or(0.0, |network| network.dissolve(&going))
    }

    /// Adds the current forces of bonds of the table to the forces on their grains, or subtracts them with a sign of −1. New bonds have dashpot
    /// forces only.
    pub(super) fn list_bonds_by_grain(&mut self, bonds: &[usize], sign: f64) {
        if bonds.is_empty() {
            return;
        }
        let pulls = self.bond_actions(bonds);
        self.change_forces(|populations| populations.add_bond_actions(&pulls, sign));
    }

    /// Adds bond forces to the current forces, or subtracts them with a sign of −1.
    pub(crate) fn add_bond_actions(&mut self, pulls: &[BondAction], sign: f64) {
        let Fields { force, torque, .. } = &mut self.grains.fields;
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

    /// Bonds of the table between these grains, which have prescribed motion, and grains of other bodies with prescribed motion.
    pub(crate) fn bonds_between_prescribed(&self, grains: &[usize]) -> Vec<usize> {
        let Some(network) = &self.bonds else { return Vec::new() };
        let places: HashMap<u32, usize> = self.grains.fields.id.iter().copied().zip(0..).collect();
        let is_between = |[i, j]: [usize; 2]| {
            let is_one = self.body_of(i) == self.body_of(j);
            !is_one && self.is_prescribed(i) && self.is_prescribed(j) && (grains.contains(&i) || grains.contains(&j))
        };
        let ends = |bond: &usize| network.places(*bond, &places);
        network.intact_bonds().filter(|bond| ends(bond).is_some_and(is_between)).collect()
    }

    /// Current forces of bonds of the table, with the indices of their grains.
    pub(crate) fn bond_actions(&self, bonds: &[usize]) -> Vec<BondAction> {
        let Some(network) = &self.bonds else { return Vec::new() };
        let pull = |(_, state): (usize, BondState)| (state.places, state.held);
        self.current_bonds(network, bonds.iter().copied()).map(pull).collect()
    }
}

/// Intact bonds between grains that exist.
pub(crate) fn holding(network: &BondNetwork, kinds: &[Bonds], state: &BondPositions) -> Vec<BondCandidate> {
    let places: HashMap<u32, usize> = state.id.iter().copied().zip(0..).collect();
    let found = |bond: usize| {
        let (ids, pair) = (network.ids(bond), network.places(bond, &places)?);
        let kind = network.kind(bond) as usize;
        let attachment = network.attachment(bond).map(Attachment::of);
        let radii = attachment.map_or(pair.map(|i| state.radius(i)), |attachment| attachment.radii);
        Some(BondCandidate {
            kind,
            ids,
            pair,
            length: rest_at(&network.records, bond * BOND).axis.length(),
            size: kinds[kind].size_between(radii[0], radii[1]),
            stiffness: network.own_stiffness(bond, kinds.len()),
            strength: network.records[bond * BOND + 3],
            attachment,
        })
    };
    network.intact_bonds().filter_map(found).collect()
}
