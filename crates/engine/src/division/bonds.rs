//! Bonds of a world that is divided.
//!
//! A domain has the bonds of the grains that it owns. One across a border is in two domains: both come to the same bits from the same numbers, either does
//! to its own grain what the bond does to it, and books half. Bonds go along with their grains as what contacts remember does, and no two that hold have
//! the same grains, so the ids of these name a bond everywhere.

use super::letters::{letter, read};
use super::subdomain::{Halt, Subdomain};
use crate::bonds::Break;
use crate::refusal::Refusal;
use crate::simulation::Simulation;
use crate::state::{Column, Sections, State};
use seixo_laws::bond::BreakMode;
use seixo_sweeps::bonds::{BOND, BROKEN, BondTally, ENERGY, KIND, rest_at};
use std::collections::{HashMap, HashSet};

/// Sections that tell bonds that hold: ids of their grains, and their records.
const HOLDING: [&str; 2] = ["bonds/ends", "bonds/record"];

/// Sections that tell what broke: ids of its grains, and when, where, how and with what energy.
const BROKE: [&str; 2] = ["breaks/ends", "breaks/record"];

/// Numbers that tell a break.
const BREAK: usize = 6;

/// What two such sections tell, each with the ids of its grains.
fn told<'a, const NUMBERS: usize>(
    state: &'a State,
    [ends, records]: [&'static str; 2],
) -> impl Iterator<Item = ([u32; 2], &'a [f64; NUMBERS])> + use<'a, NUMBERS> {
    let (ends, records): (&[u32], &[f64]) = match (state.get(ends), state.get(records)) {
        (Some(Column::U32(ends)), Some(Column::F64(records))) => (&ends[..], &records[..]),
        _ => Default::default(),
    };
    ends.as_chunks::<2>().0.iter().copied().zip(records.as_chunks::<NUMBERS>().0)
}

impl Subdomain {
    /// Lets bonds go with their grains, which have changed hands with these domains on GPUs; returns which grains are bonded to those of other domains.
    pub(super) fn hand_bonds_on(&mut self, partners: &[usize]) -> Result<HashSet<u32>, Halt> {
        if !self.simulation.is_bonded() {
            return Ok(HashSet::new());
        }
        let own = self.on_gpu(|remote, _| Ok(remote.own_ids()?))?;
        let known: HashSet<u32> = own.iter().copied().collect();
        let (mut all, mut across) = (State::default(), State::default());
        self.simulation.tell_bonds_between(|_| true, &mut all);
        let is_across = |ids: &[u32; 2]| !ids.iter().all(|id| known.contains(id));
        self.simulation.tell_bonds_between(is_across, &mut across);
        let letters = vec![letter(&across); partners.len()];
        let mut held = vec![all];
        for received in self.exchange_with(partners, letters)? {
            held.push(read(&received)?);
        }
        // Grains are known here by their ids alone.
        let simulation = &mut self.simulation;
        simulation.fields.id = own;
        simulation.take_in_bonds(&held);
        let bonded = simulation.bonded_across();
        simulation.fields.id = Vec::new();
        Ok(bonded)
    }
}

impl Simulation {
    /// Length of the longest bond that holds, as it was made \[m\].
    pub(super) fn longest_bond(&self) -> f64 {
        let Some(network) = &self.bonds else { return 0.0 };
        let lengths = network
            .all_holding()
            .map(|bond| rest_at(&network.records, bond * BOND).axis.length());
        lengths.fold(0.0, f64::max)
    }

    /// Tells the bonds that hold, but for those of grains that have left the world.
    pub(super) fn tell_bonds(&mut self, to: &mut State) {
        let gone = self.gone_grains();
        self.tell_bonds_between(|ids| !ids.iter().any(|id| gone.contains(id)), to);
    }

    /// Tells those bonds that hold of which these are the ids of grains.
    fn tell_bonds_between(&mut self, are_meant: impl Fn(&[u32; 2]) -> bool, to: &mut State) {
        let Some(network) = &mut self.bonds else { return };
        network.take_back();
        let told: Vec<usize> = network.all_holding().filter(|&bond| are_meant(&network.ids(bond))).collect();
        let ends = told.iter().flat_map(|&bond| network.ids(bond));
        let records = told.iter().flat_map(|&bond| &network.records[bond * BOND..][..BOND]);
        to.put(HOLDING[0], Column::U32(ends.collect()));
        to.put(HOLDING[1], Column::F64(records.copied().collect()));
    }

    /// Takes in, of the bonds that are told, some of them twice, those of its own grains, which are all that are here.
    pub(super) fn take_in_bonds(&mut self, held: &[State]) {
        let Some(network) = &mut self.bonds else { return };
        let own: HashSet<u32> = self.fields.id.iter().copied().collect();
        let own_ends = |ids: &[u32; 2]| ids.iter().filter(|id| own.contains(*id)).count();
        let all = held.iter().flat_map(|state| told::<BOND>(state, HOLDING));
        let mut bonds: Vec<([u32; 2], &[f64; BOND])> = all.filter(|(ids, _)| own_ends(ids) > 0).collect();
        bonds.sort_unstable_by_key(|(ids, _)| *ids);
        bonds.dedup_by_key(|(ids, _)| *ids);
        network.forget_rows();
        network.ends = bonds.iter().flat_map(|(ids, _)| *ids).collect();
        network.kind = bonds.iter().map(|(_, record)| record[KIND] as u32).collect();
        network.records = bonds.iter().flat_map(|(_, record)| **record).collect();
        network.last.energy = bonds.iter().map(|(ids, record)| 0.5 * own_ends(ids) as f64 * record[ENERGY]).sum();
    }

    /// Ids of its own grains, which are all that are here, that are bonded to those of other domains.
    pub(super) fn bonded_across(&self) -> HashSet<u32> {
        let Some(network) = &self.bonds else { return HashSet::new() };
        let own: HashSet<u32> = self.fields.id.iter().copied().collect();
        let ends = (0..network.len()).map(|bond| network.ids(bond));
        let across = ends.filter(|ids| !ids.iter().all(|id| own.contains(id)));
        across.flatten().filter(|id| own.contains(id)).collect()
    }

    /// Refuses bonds that were taken in, but of which one grain is neither here nor has a copy here.
    pub(super) fn refuse_torn_bonds(&self) -> Result<(), Refusal> {
        let Some(network) = &self.bonds else { return Ok(()) };
        let torn = (0..network.len()).find(|bond| network.records[bond * BOND + BROKEN] != 0.0);
        torn.map_or(Ok(()), |bond| {
            let [a, b] = network.ids(bond);
            Err(Refusal::Division(format!(
                "the bond between grains {a} and {b} reaches over a whole domain; use fewer domains"
            )))
        })
    }

    /// What became of the bonds of a domain since this was last asked.
    pub(super) fn report_bonds(&mut self) -> State {
        if self.is_remote() {
            self.note_energies_of_bonds();
        }
        let mut report = State::default();
        self.tell_bonds(&mut report);
        let Some(network) = &mut self.bonds else { return report };
        report.put("bonds/ledger", Column::F64(network.ledger()));
        network.work = Default::default();
        let breaks = std::mem::take(&mut network.breaks);
        let record = |broken: &Break| {
            let [x, y, z] = broken.place;
            [broken.time, x, y, z, broken.mode.code(), broken.energy]
        };
        report.put(BROKE[0], Column::U32(breaks.iter().flat_map(|broken| broken.grains).collect()));
        report.put(BROKE[1], Column::F64(breaks.iter().flat_map(record).collect()));
        report
    }

    /// Brings the network of the whole world up to date with what became of the bonds of all domains. Its rows are made anew with the lists, and then those
    /// bonds are let go of whose grains have left.
    pub(super) fn take_reports_of_bonds(&mut self, reports: &[State]) {
        let Some(network) = &mut self.bonds else { return };
        let known: HashMap<[u32; 2], usize> = network.all_holding().map(|bond| (network.ids(bond), bond)).collect();
        network.last = BondTally::default();
        for bond in known.values() {
            network.records[bond * BOND + ENERGY] = 0.0;
        }
        let mut breaks: Vec<(usize, Break)> = Vec::new();
        for report in reports {
            for (ids, record) in told::<BOND>(report, HOLDING) {
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
            for (grains, &[time, x, y, z, code, energy]) in told::<BREAK>(report, BROKE) {
                if let (Some(&bond), Some(mode)) = (known.get(&grains), BreakMode::of(code)) {
                    let (kind, place) = (network.kind[bond], [x, y, z]);
                    let broken = Break {
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
        // What broke across a border broke in two domains, at the same step.
        breaks.sort_by(|(a, one), (b, other)| one.time.total_cmp(&other.time).then(a.cmp(b)));
        breaks.dedup_by_key(|(bond, _)| *bond);
        for (bond, broken) in breaks {
            network.records[bond * BOND + BROKEN] = broken.mode.code();
            network.records[bond * BOND + ENERGY] = broken.energy;
            network.breaks.push(broken);
        }
    }
}
