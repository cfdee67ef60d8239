//! Table of the bonds, and their rows in the order of the grains.

use super::BondBreak;
use super::attachment::Attachment;
use super::plan::BondCandidate;
use crate::fields::{Fields, PART, parts, start_parts};
use crate::refusal::WorldError;
use crate::state::{Column, Sections, State};
use crate::world::{Bonds, SavedBond, World, array};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use seixo_device::exclusive_scan;
use seixo_laws::Vector3;
use seixo_laws::bond::{BOND_PARAMETERS, BreakMode};
use seixo_sweeps::bonds::{
    ATTACHMENT, BOND, BROKEN, BondPowerSums, ENERGY, FIRST, KIND, REMOVED, apart_of, bond_parameters_at, end_at, made_now, row_of,
};
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::periodic::{PeriodicBoundaries, nearest_image};
use std::collections::HashMap;

/// Energies dissipated by bonds \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BondWork {
    pub damping: f64,
    pub fracture: f64,
}

/// All bonds of a simulation: a table in the order in which they were made, and rows in the order of the grains.
#[derive(Clone, Default)]
pub(crate) struct BondNetwork {
    /// Rows of parameters: one for each kind, then one for each stiffness of single pairs.
    pub bond_parameters: Vec<f64>,
    /// Kind of each of these rows, an index into [`World::bonds`].
    kind_of_row: Vec<u32>,
    /// Ids of the two grains of each bond, two words each.
    pub ends: Vec<u32>,
    /// Index of the parameter row of each bond.
    pub parameter_row: Vec<u32>,
    /// Records of all bonds.
    pub records: Vec<f64>,
    /// Whether bonds have attachments: there are shapes of polyhedral grains.
    has_attachments: bool,
    /// Attachments of all bonds, [`ATTACHMENT`] numbers each, if they have them.
    pub attachments: Vec<f64>,
    pub row: Vec<u32>,
    pub part_row: Vec<u32>,
    pub partner: Vec<u32>,
    pub bond_of_entry: Vec<u32>,
    pub entries: Vec<f64>,
    /// Attachments of the entries, if bonds have them.
    pub entry_attachments: Vec<f64>,
    pub contact_power_sums: Vec<BondPowerSums>,
    pub last: BondPowerSums,
    pub work: BondWork,
    pub breaks: Vec<BondBreak>,
}

impl BondNetwork {
    /// A network with the kinds of bonds of a world, without bonds.
    pub fn new(world: &World) -> BondNetwork {
        let of_kinds = world
            .bonds
            .iter()
            .zip(0..)
            .map(|(bonds, kind)| (row_of(&bonds.bond_parameters()), kind));
        let of_pairs = world.bonds.iter().zip(0..).flat_map(|(bonds, kind)| {
            let mut values = bonds.of_pairs.stiffness.clone();
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
            let row = move |stiffness| (row_of(&bonds.parameters_of_pair(Some(stiffness))), kind);
            values.into_iter().map(row)
        });
        let (rows, kind_of_row): (Vec<[f64; BOND_PARAMETERS]>, Vec<u32>) = of_kinds.chain(of_pairs).unzip();
        BondNetwork {
            bond_parameters: rows.into_flattened(),
            kind_of_row,
            has_attachments: !world.shapes.is_empty(),
            ..BondNetwork::default()
        }
    }

    /// A network with the same kinds, without bonds.
    pub fn of_same_kinds(&self) -> BondNetwork {
        BondNetwork {
            bond_parameters: self.bond_parameters.clone(),
            kind_of_row: self.kind_of_row.clone(),
            has_attachments: self.has_attachments,
            ..BondNetwork::default()
        }
    }

    /// Kind of a bond, an index into [`World::bonds`].
    pub fn kind(&self, bond: usize) -> u32 {
        self.kind_of_row[self.parameter_row[bond] as usize]
    }

    /// Stiffness of a bond \[N/m\], if it is not that of its kind, of this many `kinds`.
    pub fn own_stiffness(&self, bond: usize, kinds: usize) -> Option<f64> {
        let row = self.parameter_row[bond] as usize;
        (row >= kinds).then(|| self.stiffness_of_row(row))
    }

    fn stiffness_of_row(&self, row: usize) -> f64 {
        bond_parameters_at::<f64>(&self.bond_parameters, row).stiffness
    }

    /// Rows of the stiffnesses of single pairs, by kind and bits of the stiffness.
    fn rows_of_pairs(&self, kinds: usize) -> HashMap<(u32, u64), usize> {
        let key = |row: usize| (self.kind_of_row[row], self.stiffness_of_row(row).to_bits());
        (kinds..self.kind_of_row.len()).map(|row| (key(row), row)).collect()
    }

    /// Adds the bonds of these pairs, of some of these kinds, at the positions of these fields.
    pub fn add(&mut self, kinds: &[Bonds], found: &[BondCandidate], fields: &Fields, sides: (&PeriodicBoundaries<f64, f64>, u32)) {
        let places: HashMap<u32, usize> = fields.id.iter().copied().zip(0..).collect();
        let mut of_kind = vec![0; kinds.len()];
        (0..self.len()).for_each(|bond| of_kind[self.kind(bond) as usize] += 1);
        let rows = self.rows_of_pairs(kinds.len());
        for one in found {
            let number = of_kind[one.kind];
            of_kind[one.kind] += 1;
            let ends = one
                .ids
                .map(|id| end_at(places[&id], &fields.position, &fields.velocity, &fields.spin, &fields.orientation));
            let mut apart = apart_of::<f64, f64>(&ends[0], &ends[1], sides.0, sides.1);
            if self.has_attachments {
                let attachment = one.attachment.unwrap_or(Attachment::at_centers(ends.map(|end| end.radius)));
                let [arm_i, arm_j] = [0, 1].map(|end| ends[end].orientation.to_space(&attachment.arms[end]));
                apart = apart.plus(&arm_j).minus(&arm_i);
                self.attachments.extend(attachment.numbers());
            }
            let bonds = &kinds[one.kind];
            let strength = one.strength * bonds.weibull_modulus.map_or(1.0, |modulus| scatter(modulus, bonds.seed, number));
            let row = one
                .stiffness
                .map_or(one.kind, |stiffness| rows[&(one.kind as u32, stiffness.to_bits())]);
            let record = made_now(&apart, &ends, strength, row);
            self.ends.extend(one.ids);
            self.parameter_row.push(row as u32);
            self.records.extend(record);
        }
    }

    /// Removes bonds of the table, without a break mode. Returns their elastic energy \[J\], which is added to the ledger with that of breaks.
    pub fn dissolve(&mut self, bonds: &[usize]) -> f64 {
        let mut held = 0.0;
        for &bond in bonds {
            self.records[bond * BOND + BROKEN] = REMOVED;
            held += std::mem::take(&mut self.records[bond * BOND + ENERGY]);
        }
        // The rows are stored back into the table later, so they need the change, too.
        for (k, &bond) in self.bond_of_entry.iter().enumerate() {
            for number in [BROKEN, ENERGY] {
                self.entries[k * BOND + number] = self.records[bond as usize * BOND + number];
            }
        }
        self.last.energy -= held;
        self.work.fracture += held;
        held
    }

    /// Makes removed bonds intact again, with these elastic energies \[J\].
    pub fn restore(&mut self, energies: &[(usize, f64)]) {
        for &(bond, energy) in energies {
            self.records[bond * BOND + BROKEN] = 0.0;
            self.records[bond * BOND + ENERGY] = energy;
            self.last.energy += energy;
        }
    }

    /// Lets bonds go on as they were saved, by the ids of their grains: with their reference, strength and energy, and the parameters of this world.
    /// They are to be listed again.
    pub fn go_on_from(&mut self, saved: &[SavedBond]) {
        self.forget_rows();
        let before: HashMap<[u32; 2], &SavedBond> = saved.iter().map(|bond| (bond.ids, bond)).collect();
        for bond in 0..self.len() {
            let Some(saved) = before.get(&self.ids(bond)) else { continue };
            let record = &mut self.records[bond * BOND..][..BOND];
            let row = record[KIND];
            record.copy_from_slice(&saved.record);
            record[KIND] = row;
        }
        self.last.energy = self.intact_bonds().map(|bond| self.records[bond * BOND + ENERGY]).sum();
    }

    /// Number of bonds that were ever made.
    pub fn len(&self) -> usize {
        self.parameter_row.len()
    }

    /// Ids of the grains of a bond.
    pub fn ids(&self, bond: usize) -> [u32; 2] {
        [self.ends[2 * bond], self.ends[2 * bond + 1]]
    }

    /// Indices of the grains of a bond, if both exist.
    pub fn places<T: Copy>(&self, bond: usize, places: &HashMap<u32, T>) -> Option<[T; 2]> {
        let [first, second] = self.ids(bond);
        Some([*places.get(&first)?, *places.get(&second)?])
    }

    /// Whether bonds have attachments: there are shapes of polyhedral grains.
    pub fn has_attachments(&self) -> bool {
        self.has_attachments
    }

    /// The numbers of the attachment of a bond, see [`ATTACHMENT`]; `None` in a world of spheres, where bonds end at their centers.
    pub fn attachment(&self, bond: usize) -> Option<&[f64]> {
        self.has_attachments.then(|| &self.attachments[bond * ATTACHMENT..][..ATTACHMENT])
    }

    /// Intact bonds.
    pub fn intact_bonds(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&bond| self.records[bond * BOND + BROKEN] == 0.0)
    }

    /// Number of intact bonds.
    pub fn intact_count(&self) -> usize {
        self.intact_bonds().count()
    }

    /// Sort key of bonds in rows: order of creation or, in a decomposition-invariant world, ids of the grains. The lower id is that of the first
    /// grain, so each row is then in the order of the neighbors' ids.
    pub fn rank(&self, bond: usize, is_decomposition_invariant: bool) -> ([u32; 2], usize) {
        (if is_decomposition_invariant { self.ids(bond) } else { [0; 2] }, bond)
    }

    /// Lists the intact bonds in the order of these grains, in the rows of grains that have one; removes bonds of grains that no longer exist.
    pub fn list(&mut self, id: &[u32], is_decomposition_invariant: bool, has_row: impl Fn(u32) -> bool) {
        self.store_rows();
        let n = id.len();
        let places: HashMap<u32, u32> = id.iter().copied().zip(0..n as u32).collect();
        let (mut holding, mut gone) = (Vec::new(), Vec::new());
        for bond in self.intact_bonds() {
            match self.places(bond, &places) {
                Some(ends) => holding.push((bond, ends)),
                None => gone.push(bond),
            }
        }
        // The energy of removed bonds is subtracted once.
        for bond in gone {
            self.last.energy -= std::mem::take(&mut self.records[bond * BOND + ENERGY]);
            self.records[bond * BOND + BROKEN] = REMOVED;
        }
        holding.sort_unstable_by_key(|&(bond, _)| self.rank(bond, is_decomposition_invariant));
        // A bond inside a part is in the row of the earlier grain, a bond across parts in both; in a decomposition-invariant world all are in both.
        let rows_of = |&(_, [i, j]): &(usize, [u32; 2])| {
            let is_inside = !is_decomposition_invariant && i as usize / PART == j as usize / PART;
            let (early, late) = (i.min(j), i.max(j));
            let rows = [(early, has_row(early)), (late, !is_inside && has_row(late))];
            rows.into_iter().filter(|(_, is_there)| *is_there).map(|(i, _)| i)
        };
        self.row.clear();
        self.row.resize(n + 1, 0);
        holding.iter().flat_map(rows_of).for_each(|i| self.row[i as usize] += 1);
        let entries = exclusive_scan(&mut self.row) as usize;
        let mut next = self.row.clone();
        self.partner = vec![0; entries];
        self.bond_of_entry = vec![0; entries];
        self.entries = vec![0.0; entries * BOND];
        for one in &holding {
            let (bond, [first, second]) = *one;
            for i in rows_of(one) {
                let k = next[i as usize] as usize;
                next[i as usize] += 1;
                self.partner[k] = if i == first { second } else { first | FIRST };
                self.bond_of_entry[k] = bond as u32;
                self.entries[k * BOND..(k + 1) * BOND].copy_from_slice(&self.records[bond * BOND..(bond + 1) * BOND]);
            }
        }
        self.entry_attachments = Vec::new();
        if self.has_attachments {
            let of_entry = |&bond: &u32| &self.attachments[bond as usize * ATTACHMENT..][..ATTACHMENT];
            self.entry_attachments = self.bond_of_entry.iter().flat_map(of_entry).copied().collect();
        }
        start_parts(&self.row, &mut self.part_row);
        self.contact_power_sums.resize(parts(n), BondPowerSums::default());
    }

    /// Stores and clears the rows; another device has its own.
    pub fn forget_rows(&mut self) {
        self.store_rows();
        (self.row, self.part_row, self.partner) = (Vec::new(), Vec::new(), Vec::new());
        (self.bond_of_entry, self.entries, self.contact_power_sums) = (Vec::new(), Vec::new(), Vec::new());
        self.entry_attachments = Vec::new();
    }

    /// Stores the entries of the rows into the table.
    pub fn store_rows(&mut self) {
        for (k, &bond) in self.bond_of_entry.iter().enumerate() {
            let (entry, record) = (k * BOND, bond as usize * BOND);
            for number in [BROKEN, ENERGY] {
                self.records[record + number] = self.entries[entry + number];
            }
        }
    }

    /// Records the breaks of this time, with grains at these positions and these periodic sides.
    pub fn record_breaks(&mut self, time: f64, position: &[f64], (sides, kind): (&PeriodicBoundaries<f64, f64>, u32)) {
        let mut breaks = Vec::new();
        for i in 0..self.row.len() - 1 {
            for k in self.row[i] as usize..self.row[i + 1] as usize {
                let bond = self.bond_of_entry[k] as usize;
                let is_known = self.records[bond * BOND + BROKEN] != 0.0;
                let Some(mode) = BreakMode::of(self.entries[k * BOND + BROKEN]).filter(|_| !is_known) else {
                    continue;
                };
                self.records[bond * BOND + BROKEN] = self.entries[k * BOND + BROKEN];
                let j = (self.partner[k] & !FIRST) as usize;
                // The vector is from the first grain to the second, in the row of either.
                let [from, to] = if self.partner[k] & FIRST != 0 { [j, i] } else { [i, j] };
                let here: Vector3<f64> = load(position, from * RECORD);
                let apart = nearest_image::<f64, f64>(&load::<f64>(position, to * RECORD).minus(&here), sides, kind).apart;
                breaks.push((bond, array(&here.plus(&apart.times(0.5))), mode, self.entries[k * BOND + ENERGY]));
            }
        }
        breaks.sort_unstable_by_key(|(bond, ..)| *bond);
        for (bond, place, mode, energy) in breaks {
            let (kind, grains) = (self.kind(bond), self.ids(bond));
            self.breaks.push(BondBreak {
                time,
                kind,
                grains,
                place,
                mode,
                energy,
            });
        }
    }

    /// Elastic energy of all intact bonds \[J\].
    pub fn energy(&self) -> f64 {
        self.last.energy
    }

    /// Copies all data needed to resume into a checkpoint.
    pub fn save(&mut self, to: &mut dyn Sections) {
        self.store_rows();
        to.put("bonds/ends", Column::U32(self.ends.clone()));
        to.put("bonds/kind", Column::U32(self.parameter_row.clone()));
        to.put("bonds/record", Column::F64(self.records.clone()));
        to.put("bonds/ledger", Column::F64(self.ledger()));
        if self.has_attachments {
            to.put("bonds/attachment", Column::F64(self.attachments.clone()));
        }
    }

    /// Energies dissipated and stored by bonds \[J\], and the power of damping \[W\].
    pub fn ledger(&self) -> Vec<f64> {
        let BondPowerSums { energy, damping_power, .. } = self.last;
        vec![self.work.damping, self.work.fracture, energy, damping_power]
    }

    /// Reads bonds from a checkpoint; they are listed together with the grains.
    ///
    /// # Errors
    /// If a section is missing or does not match the others.
    pub fn load(world: &World, state: &State) -> Result<BondNetwork, WorldError> {
        let misfit = || WorldError::State {
            what: "its bonds are not those of the scene, or incomplete".into(),
        };
        let (Some(Column::U32(ends)), Some(Column::U32(parameter_row))) = (state.get("bonds/ends"), state.get("bonds/kind")) else {
            return Err(misfit());
        };
        let (Some(Column::F64(records)), Some(Column::F64(ledger))) = (state.get("bonds/record"), state.get("bonds/ledger")) else {
            return Err(misfit());
        };
        let &[damping, fracture, energy, damping_power] = ledger.as_slice() else {
            return Err(misfit());
        };
        let (network, bonds) = (BondNetwork::new(world), parameter_row.len());
        let rows = network.kind_of_row.len() as u32;
        if ends.len() != 2 * bonds || records.len() != BOND * bonds || parameter_row.iter().any(|&row| row >= rows) {
            return Err(misfit());
        }
        let attachments = match state.get("bonds/attachment") {
            _ if !network.has_attachments => Vec::new(),
            Some(Column::F64(attachments)) if attachments.len() == ATTACHMENT * bonds => attachments.clone(),
            _ => return Err(misfit()),
        };
        Ok(BondNetwork {
            attachments,
            ends: ends.clone(),
            parameter_row: parameter_row.clone(),
            records: records.clone(),
            last: BondPowerSums {
                energy,
                damping_power,
                ..BondPowerSums::default()
            },
            work: BondWork { damping, fracture },
            ..network
        })
    }

    /// Memory of the table and the rows \[bytes\].
    pub fn bytes(&self) -> u64 {
        let attachments = self.attachments.capacity() + self.entry_attachments.capacity();
        let words = self.ends.capacity() + self.parameter_row.capacity() + self.row.capacity() + 2 * self.partner.capacity();
        (8 * (self.bond_parameters.capacity() + self.records.capacity() + self.entries.capacity() + attachments) + 4 * words) as u64
    }
}

/// A strength over the nominal one, from a Weibull distribution with this modulus, of which 63.2 % are below the nominal one. Equal seeds and numbers
/// give equal values.
fn scatter(modulus: f64, seed: u64, number: u64) -> f64 {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    random.set_stream(number);
    let u: f64 = random.random();
    (-(-u).ln_1p()).powf(1.0 / modulus)
}
