//! Bonds between grains: forces, orientations, energies, and the state of each bond.

use crate::bonds::{BondCandidate, BondNetwork, BondSnapshot};
use crate::fields::{Fields, PART, part_range, parts};
use crate::populations::Populations;
use crate::world::{World, array};
use seixo_device::{Ranges, Strided};
use seixo_laws::Vector3;
use seixo_laws::bond::{
    BOND_PARAMETERS, BondForces, BondGeometry, BondLaw, BondParameters, bond_forces, deformed, rotation_since, utilization,
};
use seixo_sweeps::bodies::{FREE, is_ghost, store_orientation};
use seixo_sweeps::bond_lanes::bonds_of_part;
use seixo_sweeps::bonds::{
    BOND, BondPowerSums, BondRows, BondedGrains, ENERGY, apart_of, attached, bond_parameters_at, end_at, integrate_orientation, moves_of,
    rest_at, span_of,
};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::periodic::{OPEN, PERIODIC, SHEARED};
use std::collections::{HashMap, HashSet};

impl Populations {
    /// Intact bonds, in the order in which they were made.
    pub(crate) fn bond_snapshots(&self) -> Vec<BondSnapshot> {
        let Some(network) = &self.bonds else { return Vec::new() };
        let snapshot = |(bond, state): (usize, BondState)| {
            let BondState {
                places: _,
                from,
                apart,
                held,
                span,
                bond_parameters,
            } = state;
            BondSnapshot {
                kind: network.kind(bond),
                grains: network.ids(bond),
                ends: [array(&from), array(&from.plus(&apart))],
                force: array(&held.force),
                tension: held.tension,
                shear: held.shear,
                bending: held.bending,
                torsion: held.torsion,
                energy: held.energy,
                utilization: utilization(&held, &span, &bond_parameters).share,
            }
        };
        self.current_bonds(network, network.intact_bonds()).map(snapshot).collect()
    }

    /// Whether there are, or were, bonds.
    pub(crate) fn is_bonded(&self) -> bool {
        self.bonds.is_some()
    }

    /// Elastic energy of all intact bonds \[J\].
    pub(crate) fn energy_of_bonds(&self) -> f64 {
        self.bonds.as_ref().map_or(0.0, |network| network.energy())
    }

    /// Ids of grains that left the domain and will be removed.
    pub(crate) fn grains_outside(&self) -> HashSet<u32> {
        let Some(domain) = self.context.domain_to_leave() else {
            return HashSet::new();
        };
        let gone = (0..self.grains.fields.len()).filter(|&i| self.is_outside(i, &domain));
        gone.map(|i| self.grains.fields.id[i]).collect()
    }

    /// Adds the energy of bonds of grains that left the domain and will be removed to the ledger.
    pub(crate) fn remove_bond_energy(&mut self) {
        let Some(network) = &self.bonds else { return };
        let gone = self.grains_outside();
        if gone.is_empty() {
            return;
        }
        let goes = |bond: &usize| network.ids(*bond).iter().any(|id| gone.contains(id));
        // The subdomain of the ghost particle adds the other half of the energy.
        let share = |places: [usize; 2]| if places.iter().any(|&i| self.is_ghost(i)) { 0.5 } else { 1.0 };
        let along: f64 = self
            .current_bonds(network, network.intact_bonds().filter(goes))
            .map(|(_, one)| share(one.places) * one.held.energy)
            .sum();
        self.ledger.work.left_domain += along;
    }

    /// Lists bonds in the order of the grains.
    pub(crate) fn list_bonds(&mut self) {
        let (is_decomposition_invariant, has_ghosts, member) = (
            self.context.settings.decomposition_invariant,
            self.grains.has_ghosts,
            &self.grains.fields.member,
        );
        let has_row = |i: u32| !has_ghosts || !is_ghost(member[i as usize]);
        if let Some(network) = &mut self.bonds {
            network.list(&self.grains.fields.id, is_decomposition_invariant, has_row);
        }
    }

    /// Makes the bonds that exist from the start, at the current positions.
    pub(crate) fn bond_grains(&mut self, world: &World, found: &[BondCandidate]) {
        if !world.bonds.is_empty() {
            self.bonds = Some(Box::new(BondNetwork::new(world)));
        }
        self.orient_grains();
        let sides = (&self.context.stepping.sides, self.context.sides);
        if let Some(network) = &mut self.bonds {
            network.add(&self.bond_plan.kinds, found, &self.grains.fields, sides);
        }
    }

    /// Initializes missing orientations of grains: that of space, or of their body. Grains without a shape are spheres.
    pub(crate) fn orient_grains(&mut self) {
        if !(self.is_bonded() || self.has_polyhedra() || self.is_geared() && self.context.materials.has_friction) {
            return;
        }
        for i in self.grains.fields.orientation.len() / RECORD..self.grains.fields.len() {
            let orientation = match self.body_of(i) {
                Some(b) => self.bodies.orientation[b * RECORD..][..RECORD].to_vec(),
                None => vec![1.0, 0.0, 0.0, 0.0],
            };
            self.grains.fields.orientation.extend(orientation);
        }
        if self.has_polyhedra() {
            // Those of spheres, as long as no polyhedral grain has come.
            let Fields {
                id,
                shape,
                angular_momentum,
                ..
            } = &mut self.grains.fields;
            shape.resize(id.len(), 0);
            angular_momentum.resize(3 * id.len(), 0.0);
        }
    }

    /// Integrates the orientations of all grains; those of bodies rotate with their bodies.
    pub(crate) fn integrate_orientations(&mut self) {
        let is_geared = self.is_geared();
        let n = self.grains.fields.len();
        let Fields {
            member,
            orientation,
            half_spin,
            ..
        } = &mut self.grains.fields;
        let (member, half_spin, bodies, dt) = (&member[..], &half_spin[..], &self.bodies, self.context.stepping.dt);
        let data = (Strided {
            items: &mut orientation[..],
            per_part: PART * RECORD,
        },);
        self.context.device.run(parts(n), data, |part, (orientation,): (Strided<f64>,)| {
            let (first, end) = part_range(part, n);
            for i in first..end {
                let member = member.get(i).copied().unwrap_or(FREE);
                match bodies.of(member) {
                    Some(b) => store_orientation(orientation.items, (i - first) * RECORD, &bodies.orientation_of(member, b)),
                    // Gear's method integrated it with the other derivatives.
                    None if is_geared => {}
                    None => integrate_orientation(i - first, orientation.items, &half_spin[first * 3..], dt),
                }
            }
        });
    }

    /// Adds forces and torques of all bonds to those of contacts.
    pub(crate) fn bond_forces(&mut self) {
        let (time, is_once) = (self.context.time(), self.lists_once());
        let Some(network) = &mut self.bonds else { return };
        let n = self.grains.fields.len();
        let Fields {
            position,
            velocity,
            spin,
            orientation,
            force,
            torque,
            ..
        } = &mut self.grains.fields;
        let grains = BondedGrains {
            position: &position[..],
            velocity: &velocity[..],
            spin: &spin[..],
            orientation: &orientation[..],
            bond_parameters: &network.bond_parameters,
            sides: &self.context.stepping.sides,
        };
        let (row, partner, attachments) = (&network.row[..], &network.partner[..], &network.entry_attachments[..]);
        let data = (
            Ranges {
                items: &mut network.entries[..],
                bounds: &network.part_row,
                stride: BOND,
            },
            Strided {
                items: &mut force[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut torque[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut network.contact_power_sums[..],
                per_part: 1,
            },
        );
        type Data<'a> = (Ranges<'a, f64>, Strided<'a, f64>, Strided<'a, f64>, Strided<'a, BondPowerSums>);
        let has_points = network
            .bond_parameters
            .chunks_exact(BOND_PARAMETERS)
            .any(|row| row[0] == BondLaw::Point.code());
        let bonds = match (self.context.sides, has_points) {
            (OPEN, false) => bonds_of_part::<OPEN, false>,
            (OPEN, true) => bonds_of_part::<OPEN, true>,
            (PERIODIC, false) => bonds_of_part::<PERIODIC, false>,
            (PERIODIC, true) => bonds_of_part::<PERIODIC, true>,
            (_, false) => bonds_of_part::<SHEARED, false>,
            (_, true) => bonds_of_part::<SHEARED, true>,
        };
        self.context
            .device
            .run(parts(n), data, |part, (entries, force, torque, power_sums): Data| {
                let (first, end) = part_range(part, n);
                let rows = BondRows {
                    first,
                    end,
                    row,
                    partner,
                    attachments,
                    is_once,
                };
                power_sums.items[0] = bonds(&grains, &rows, entries.items, force.items, torque.items);
            });
        let now = network
            .contact_power_sums
            .iter()
            .fold(BondPowerSums::default(), |all, one| all.plus(one));
        let before = std::mem::replace(&mut network.last, now);
        if self.context.steps > 0 {
            // The work of a step is the mean of the powers at its two ends times its length.
            network.work.damping += 0.5 * self.context.stepping.dt * (before.damping_power + now.damping_power);
        }
        network.work.fracture += now.released;
        if now.broken > 0.0 {
            network.record_breaks(
                time,
                &self.grains.fields.position,
                (&self.context.stepping.sides, self.context.sides),
            );
        }
    }

    /// States of bonds of the table whose grains exist.
    pub(crate) fn current_bonds<'a>(
        &'a self,
        network: &'a BondNetwork,
        bonds: impl IntoIterator<Item = usize> + 'a,
    ) -> impl Iterator<Item = (usize, BondState)> + 'a {
        let fields = &self.grains.fields;
        let places: HashMap<u32, usize> = fields.id.iter().copied().zip(0..).collect();
        bonds.into_iter().filter_map(move |bond| {
            let places = network.places(bond, &places)?;
            let [i, j] = places.map(|place| end_at(place, &fields.position, &fields.velocity, &fields.spin, &fields.orientation));
            let apart = apart_of::<f64, f64>(&i, &j, &self.context.stepping.sides, self.context.sides);
            let record = &network.records[bond * BOND..][..BOND];
            let (rest, bond_parameters) = (
                rest_at(record, 0),
                bond_parameters_at(&network.bond_parameters, network.parameter_row[bond] as usize),
            );
            let (mut first, mut second, mut between, mut arms) = (i, j, apart, None);
            if let Some(attachment) = network.attachment(bond) {
                let [(at_i, arm_i), (at_j, arm_j)] = [attached(&i, attachment, 0), attached(&j, attachment, 1)];
                (first, second, between) = (at_i, at_j, apart.plus(&arm_j).minus(&arm_i));
                arms = Some([arm_i, arm_j]);
            }
            let span = span_of(&first, &second, &rest.axis, record[3], &bond_parameters);
            let shape = deformed(
                &between,
                &i.orientation,
                &rotation_since(&i.orientation, &j.orientation, &rest.orientation),
                &rest.axis,
                span.per_length,
            );
            let mut held = bond_forces(&shape, &moves_of(first, second), &span, &bond_parameters);
            if let Some([arm_i, arm_j]) = arms {
                // Torques of the law are about the ends of the bond.
                held.torque_i = held.torque_i.minus(&arm_i.cross(&held.force));
                held.torque_j = held.torque_j.plus(&arm_j.cross(&held.force));
            }
            let state = BondState {
                places,
                from: i.position,
                apart,
                held,
                span,
                bond_parameters,
            };
            Some((bond, state))
        })
    }

    /// Stores the current elastic energy of each bond.
    pub(crate) fn record_bond_energies(&mut self) {
        let Some(mut network) = self.bonds.take() else { return };
        let energies: Vec<(usize, f64)> = self
            .current_bonds(&network, network.intact_bonds())
            .map(|(bond, state)| (bond, state.held.energy))
            .collect();
        for (bond, energy) in energies {
            network.records[bond * BOND + ENERGY] = energy;
        }
        self.bonds = Some(network);
    }
}

/// State of a bond.
pub(crate) struct BondState {
    /// Indices of its grains.
    pub(crate) places: [usize; 2],
    /// Center of its first grain \[m\].
    pub from: Vector3<f64>,
    /// Vector from there to the second \[m\].
    pub apart: Vector3<f64>,
    pub(crate) held: BondForces<f64>,
    pub span: BondGeometry<f64>,
    pub bond_parameters: BondParameters<f64>,
}
