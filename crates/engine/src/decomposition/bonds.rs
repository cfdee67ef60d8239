//! Bonds of a decomposed world.
//!
//! A subdomain has the bonds of its own grains. A bond across a border is in two subdomains. Both compute the same bits from the same numbers; each
//! applies the force to its own grain and adds half of the energies to the ledger. Bonds migrate with their grains, as contact histories do. No two
//! intact bonds have the same grains, so the ids of the grains identify a bond.

use super::subdomain::Subdomain;
use crate::bonds::{Attachment, BondBreak};
use crate::exchange::{HaltReason, encode, read};
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::state::{Column, Sections, State};
use seixo_laws::bond::BreakMode;
use seixo_sweeps::bonds::{ATTACHMENT, BOND, BROKEN, BondPowerSums, ENERGY, KIND, rest_at};
use std::collections::{HashMap, HashSet};

/// Sections for intact bonds: ids of their grains, and their records.
pub(super) const INTACT_BONDS: [&str; 2] = ["bonds/ends", "bonds/record"];

/// Section for the attachments of the intact bonds, in a world with shapes of polyhedral grains.
pub(super) const ATTACHMENTS: &str = "bonds/attachment";

/// Sections for broken bonds: ids of their grains, and the time, position, mode and energy of each break.
const BROKEN_BONDS: [&str; 2] = ["breaks/ends", "breaks/record"];

/// Number of components of a break.
const BREAK: usize = 6;

/// The items of two such sections, each with the ids of its grains.
fn reported<'a, const NUMBERS: usize>(
    state: &'a State,
    [ends, records]: [&'static str; 2],
) -> impl Iterator<Item = ([u32; 2], &'a [f64; NUMBERS])> + use<'a, NUMBERS> {
    let (ends, records): (&[u32], &[f64]) = match (state.get(ends), state.get(records)) {
        (Some(Column::U32(ends)), Some(Column::F64(records))) => (&ends[..], &records[..]),
        _ => Default::default(),
    };
    ends.as_chunks::<2>().0.iter().copied().zip(records.as_chunks::<NUMBERS>().0)
}

/// The attachments of the intact bonds of a report, in their order; none in a world of spheres.
fn reported_attachments(state: &State) -> &[[f64; ATTACHMENT]] {
    match state.get(ATTACHMENTS) {
        Some(Column::F64(numbers)) => numbers.as_chunks().0,
        _ => &[],
    }
}

impl Subdomain {
    /// Migrates bonds with their grains between these subdomains on GPUs; returns the grains that are bonded to those of other subdomains.
    pub(super) fn migrate_bonds(&mut self, partners: &[usize]) -> Result<HashSet<u32>, HaltReason> {
        if !self.local.populations.is_bonded() {
            return Ok(HashSet::new());
        }
        let own = self.on_gpu(|remote, _| Ok(remote.owned_ids()?))?;
        let known: HashSet<u32> = own.iter().copied().collect();
        let (mut all, mut across) = (State::default(), State::default());
        self.local.populations.bonds_message(&mut all);
        let is_across = |ids: &[u32; 2]| !ids.iter().all(|id| known.contains(id));
        self.local.populations.bonds_between_message(is_across, &mut across);
        let messages = vec![encode(&across); partners.len()];
        let mut held = vec![all];
        for received in self.exchange_with(partners, messages)? {
            held.push(read(&received)?);
        }
        // Grains are identified by their ids here.
        let local = &mut self.local;
        local.populations.grains.fields.id = own;
        local.populations.receive_bonds(&held);
        let bonded = local.populations.bonded_across();
        local.populations.grains.fields.id = Vec::new();
        Ok(bonded)
    }
}

impl Populations {
    /// Largest distance of two bonded centers at the start of their bond, as far as its length and the arms at its ends show \[m\].
    pub(super) fn longest_bond(&self) -> f64 {
        let Some(network) = &self.bonds else { return 0.0 };
        let arms = |bond: usize| {
            let attachment = network.attachment(bond).map(Attachment::of);
            attachment.map_or(0.0, |attachment| attachment.arms.iter().map(|arm| arm.length()).sum())
        };
        let lengths = network
            .intact_bonds()
            .map(|bond| rest_at(&network.records, bond * BOND).axis.length() + arms(bond));
        lengths.fold(0.0, f64::max)
    }

    /// Writes the intact bonds.
    pub(crate) fn bonds_message(&mut self, to: &mut State) {
        self.bonds_between_message(|_| true, to);
    }

    /// Writes the intact bonds, without those of grains that have left the world.
    pub(super) fn staying_bonds_message(&mut self, to: &mut State) {
        let gone = self.grains_outside();
        self.bonds_between_message(|ids| !ids.iter().any(|id| gone.contains(id)), to);
    }

    /// Writes the intact bonds between grains with the selected ids.
    fn bonds_between_message(&mut self, are_meant: impl Fn(&[u32; 2]) -> bool, to: &mut State) {
        let Some(network) = &mut self.bonds else { return };
        network.store_rows();
        let reported: Vec<usize> = network.intact_bonds().filter(|&bond| are_meant(&network.ids(bond))).collect();
        let ends = reported.iter().flat_map(|&bond| network.ids(bond));
        let records = reported.iter().flat_map(|&bond| &network.records[bond * BOND..][..BOND]);
        to.put(INTACT_BONDS[0], Column::U32(ends.collect()));
        to.put(INTACT_BONDS[1], Column::F64(records.copied().collect()));
        if network.has_attachments() {
            let attachments = reported.iter().filter_map(|&bond| network.attachment(bond)).flatten();
            to.put(ATTACHMENTS, Column::F64(attachments.copied().collect()));
        }
    }

    /// Reads the bonds of its own grains, which are all grains here, from records that may contain a bond twice.
    pub(super) fn receive_bonds(&mut self, held: &[State]) {
        let Some(network) = &mut self.bonds else { return };
        let own: HashSet<u32> = self.grains.fields.id.iter().copied().collect();
        let own_ends = |ids: &[u32; 2]| ids.iter().filter(|id| own.contains(*id)).count();
        let all = held.iter().flat_map(|state| {
            let attachments = reported_attachments(state);
            let bonds = reported::<BOND>(state, INTACT_BONDS).enumerate();
            bonds.map(move |(k, (ids, record))| (ids, record, attachments.get(k)))
        });
        let mut bonds: Vec<_> = all.filter(|(ids, ..)| own_ends(ids) > 0).collect();
        bonds.sort_unstable_by_key(|(ids, ..)| *ids);
        bonds.dedup_by_key(|(ids, ..)| *ids);
        network.forget_rows();
        network.ends = bonds.iter().flat_map(|(ids, ..)| *ids).collect();
        network.parameter_row = bonds.iter().map(|(_, record, _)| record[KIND] as u32).collect();
        network.records = bonds.iter().flat_map(|(_, record, _)| **record).collect();
        network.attachments = bonds
            .iter()
            .filter_map(|(_, _, attachment)| *attachment)
            .flatten()
            .copied()
            .collect();
        let energies = bonds.iter().map(|(ids, record, _)| 0.5 * own_ends(ids) as f64 * record[ENERGY]);
        network.last.energy = energies.sum();
    }

    /// Ids of its own grains, which are all grains here, that are bonded to those of other subdomains.
    pub(super) fn bonded_across(&self) -> HashSet<u32> {
        let Some(network) = &self.bonds else { return HashSet::new() };
        let own: HashSet<u32> = self.grains.fields.id.iter().copied().collect();
        let ends = (0..network.len()).map(|bond| network.ids(bond));
        let across = ends.filter(|ids| !ids.iter().all(|id| own.contains(id)));
        across.flatten().filter(|id| own.contains(id)).collect()
    }

    /// Returns an error if a received bond has a grain that is neither here nor a ghost here.
    pub(super) fn refuse_torn_bonds(&self) -> Result<(), WorldError> {
        let Some(network) = &self.bonds else { return Ok(()) };
        let torn = (0..network.len()).find(|bond| network.records[bond * BOND + BROKEN] != 0.0);
        torn.map_or(Ok(()), |bond| {
            let [a, b] = network.ids(bond);
            Err(WorldError::Subdomains(format!(
                "the bond between grains {a} and {b} reaches over a whole domain; use fewer domains"
            )))
        })
    }

    /// Changes of the bonds of a subdomain since the last call.
    pub(super) fn report_bonds(&mut self) -> State {
        if self.grains_on_gpu() {
            self.record_bond_energies();
        }
        let mut report = State::default();
        self.bonds_message(&mut report);
        let Some(network) = &mut self.bonds else { return report };
        report.put("bonds/ledger", Column::F64(network.ledger()));
        network.work = Default::default();
        let breaks = std::mem::take(&mut network.breaks);
        let record = |broken: &BondBreak| {
            let [x, y, z] = broken.place;
            [broken.time, x, y, z, broken.mode.code(), broken.energy]
        };
        report.put(
            BROKEN_BONDS[0],
            Column::U32(breaks.iter().flat_map(|broken| broken.grains).collect()),
        );
        report.put(BROKEN_BONDS[1], Column::F64(breaks.iter().flat_map(record).collect()));
        report
    }

    /// Updates the bond network of the whole world with the changes in all subdomains. Its rows are rebuilt with the neighbor lists; then the bonds
    /// of grains that have left are removed.
    pub(crate) fn merge_bond_reports(&mut self, reports: &[State]) {
        let Some(network) = &mut self.bonds else { return };
        let known: HashMap<[u32; 2], usize> = network.intact_bonds().map(|bond| (network.ids(bond), bond)).collect();
        network.last = BondPowerSums::default();
        for bond in known.values() {
            network.records[bond * BOND + ENERGY] = 0.0;
        }
        let mut breaks: Vec<(usize, BondBreak)> = Vec::new();
        for report in reports {
            for (ids, record) in reported::<BOND>(report, INTACT_BONDS) {
                if let Some(bond) = known.get(&ids) {
                    network.records[bond * BOND + ENERGY] = record[ENERGY];
                }
            }
            if let Some(Column::F64(ledger)) = report.get("bonds/ledger")
                && let &[damping, fracture, energy, damping_power] = ledger.as_slice()
            {
                network.work.damping += damping;
                network.work.fracture += fracture;
                network.last.energy += energy;
                network.last.damping_power += damping_power;
            }
            for (grains, &[time, x, y, z, code, energy]) in reported::<BREAK>(report, BROKEN_BONDS) {
                if let (Some(&bond), Some(mode)) = (known.get(&grains), BreakMode::of(code)) {
                    let (kind, place) = (network.kind(bond), [x, y, z]);
                    let broken = BondBreak {
                        time,
                        kind,
                        grains,
                        place,
                        mode,
                        energy,
                    };
                    breaks.push((bond, broken));
                }
            }
        }
        // A bond across a border broke in two subdomains, at the same step.
        breaks.sort_by(|(a, one), (b, other)| one.time.total_cmp(&other.time).then(a.cmp(b)));
        breaks.dedup_by_key(|(bond, _)| *bond);
        for (bond, broken) in breaks {
            network.records[bond * BOND + BROKEN] = broken.mode.code();
            network.records[bond * BOND + ENERGY] = broken.energy;
            network.breaks.push(broken);
        }
    }
}
