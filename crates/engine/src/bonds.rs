//! The network of bonds: what is glued together, what it bears, and what broke.

mod later;
mod limit;
mod network;
mod plan;

pub(crate) use limit::{likely_limit, limit_of_bonds};
pub(crate) use network::Network;
pub(crate) use plan::{
    Found, Standing, check_bonds, in_one_body, joined_for_good, lower_first, missing, note_joined, nothing_near, pairs_at_start, refused,
};

use crate::contact_records::array;
use crate::fields::{Fields, PART, part_range, parts};
use crate::simulation::Simulation;
use crate::world::{Vec3, World};
use seixo_device::{Ranges, Strided};
use seixo_laws::Vector3;
use seixo_laws::bond::{BondLaw, BreakMode, GLUE, Glue, Hold, Span, deformed, hold, turned_since, utilization};
use seixo_sweeps::bodies::{FREE, is_ghost, store_turn};
use seixo_sweeps::bond_lanes::bonds_of_part;
use seixo_sweeps::bonds::{
    BOND, BondRows, BondTally, BondedGrains, ENERGY, apart_of, end_at, glue_at, moves_of, rest_at, span_of, turn_on,
};
use seixo_sweeps::motion::LEFT;
use seixo_sweeps::sides::{OPEN, PERIODIC, SHEARED};
use seixo_sweeps::views::RECORD;
use std::collections::{HashMap, HashSet};

/// A bond that broke.
#[derive(Clone, Debug, PartialEq)]
pub struct Break {
    /// When \[s\].
    pub time: f64,
    /// Index into [`World::bonds`].
    pub kind: u32,
    /// Ids of its grains.
    pub grains: [u32; 2],
    /// Middle between their centers \[m\].
    pub place: Vec3,
    /// How.
    pub mode: BreakMode,
    /// Elastic energy that it held \[J\].
    pub energy: f64,
}

/// A bond as it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BondSnapshot {
    /// Index into [`World::bonds`].
    pub kind: u32,
    /// Ids of its grains.
    pub grains: [u32; 2],
    /// Center of the first grain, and of the image of the second next to it \[m\].
    pub ends: [Vec3; 2],
    /// Force on the second grain \[N\].
    pub force: Vec3,
    /// Elastic axial force, positive where it pulls \[N\].
    pub tension: f64,
    /// Elastic force across the axis \[N\].
    pub shear: f64,
    /// The larger of the bending moments at its ends \[N m\].
    pub bending: f64,
    /// Torsion moment \[N m\].
    pub torsion: f64,
    /// Elastic energy \[J\].
    pub energy: f64,
    /// Share of its strength that it uses \[-\].
    pub used: f64,
}

impl Simulation {
    /// Whether there are, or were, bonds.
    pub(crate) fn is_bonded(&self) -> bool {
        self.bonds.is_some()
    }

    /// Elastic energy of all bonds that hold \[J\].
    pub(crate) fn energy_of_bonds(&self) -> f64 {
        self.bonds.as_ref().map_or(0.0, |network| network.energy())
    }

    /// Ids of grains that have gone out of the domain, and are to be removed.
    pub(crate) fn gone_grains(&self) -> HashSet<u32> {
        let Some(domain) = &self.domain else { return HashSet::new() };
        let gone = (0..self.fields.len()).filter(|&i| self.has_gone(i, domain));
        gone.map(|i| self.fields.id[i]).collect()
    }

    /// Books the energy of bonds whose grains have gone out of the domain, as these flags tell, and are to be removed.
    pub(crate) fn book_bonds_leaving(&mut self, flags: u32) {
        let (Some(network), true) = (&self.bonds, flags & LEFT != 0) else {
            return;
        };
        let gone = self.gone_grains();
        if gone.is_empty() {
            return;
        }
        let goes = |bond: &usize| network.ids(*bond).iter().any(|id| gone.contains(id));
        // What a bond to a grain of another domain holds is booked there by half.
        let share = |places: [usize; 2]| if places.iter().any(|&i| self.is_copy(i)) { 0.5 } else { 1.0 };
        let along: f64 = self
            .standing_bonds(network, network.all_holding().filter(goes))
            .map(|(_, one)| share(one.places) * one.held.energy)
            .sum();
        self.work.left_domain += along;
    }

    /// Lists bonds in the order of the grains.
    pub(crate) fn list_bonds(&mut self) {
        let (is_divisible, has_ghosts, member) = (self.settings.divisible, self.has_ghosts, &self.fields.member);
        let has_row = |i: u32| !has_ghosts || !is_ghost(member[i as usize]);
        if let Some(network) = &mut self.bonds {
            network.list(&self.fields.id, is_divisible, has_row);
        }
    }

    /// Bonds what the world wants bonded from the start, as the grains stand.
    pub(crate) fn bond_grains(&mut self, world: &World, found: &[Found]) {
        if !world.bonds.is_empty() {
            self.bonds = Some(Box::new(Network::new(world)));
        }
        self.orient_grains();
        let sides = (&self.stepping.sides, self.sides);
        if let Some(network) = &mut self.bonds {
            network.add(&self.kinds_of_bonds, found, &self.fields, sides);
        }
    }

    /// Gives grains that have none an orientation: that of space, or of the body that carries them.
    pub(crate) fn orient_grains(&mut self) {
        if !(self.is_bonded() || self.is_geared() && self.frictional) {
            return;
        }
        for i in self.fields.turn.len() / RECORD..self.fields.len() {
            let turn = match self.body_of(i) {
                Some(b) => self.bodies.turn[b * RECORD..][..RECORD].to_vec(),
                None => vec![1.0, 0.0, 0.0, 0.0],
            };
            self.fields.turn.extend(turn);
        }
    }

    /// Orientations of all grains one step on; those that are carried turn as their bodies do.
    pub(crate) fn turn_grains(&mut self) {
        let is_geared = self.is_geared();
        let n = self.fields.len();
        let Fields {
            member, turn, half_spin, ..
        } = &mut self.fields;
        let (member, half_spin, bodies, dt) = (&member[..], &half_spin[..], &self.bodies, self.stepping.dt);
        let data = (Strided {
            items: &mut turn[..],
            per_part: PART * RECORD,
        },);
        self.device.run(parts(n), data, |part, (turn,): (Strided<f64>,)| {
            let (first, end) = part_range(part, n);
            for i in first..end {
                let member = member.get(i).copied().unwrap_or(FREE);
                match bodies.of(member) {
                    Some(b) => store_turn(turn.items, (i - first) * RECORD, &bodies.turn_of(member, b)),
                    // Gear's method turned it with its other derivatives.
                    None if is_geared => {}
                    None => turn_on(i - first, turn.items, &half_spin[first * 3..], dt),
                }
            }
        });
    }

    /// Forces and torques of all bonds, added to those of contacts.
    pub(crate) fn hold_grains(&mut self) {
        let (time, is_once) = (self.time(), self.lists_once());
        let Some(network) = &mut self.bonds else { return };
        let n = self.fields.len();
        let Fields {
            position,
            velocity,
            spin,
            turn,
            force,
            torque,
            ..
        } = &mut self.fields;
        let grains = BondedGrains {
            position: &position[..],
            velocity: &velocity[..],
            spin: &spin[..],
            turn: &turn[..],
            glue: &network.glue,
            sides: &self.stepping.sides,
        };
        let (row, partner) = (&network.row[..], &network.partner[..]);
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
                items: &mut network.tallies[..],
                per_part: 1,
            },
        );
        type Data<'a> = (Ranges<'a, f64>, Strided<'a, f64>, Strided<'a, f64>, Strided<'a, BondTally>);
        let has_points = network.glue.chunks_exact(GLUE).any(|row| row[0] == BondLaw::Point.code());
        let bonds = match (self.sides, has_points) {
            (OPEN, false) => bonds_of_part::<OPEN, false>,
            (OPEN, true) => bonds_of_part::<OPEN, true>,
            (PERIODIC, false) => bonds_of_part::<PERIODIC, false>,
            (PERIODIC, true) => bonds_of_part::<PERIODIC, true>,
            (_, false) => bonds_of_part::<SHEARED, false>,
            (_, true) => bonds_of_part::<SHEARED, true>,
        };
        self.device.run(parts(n), data, |part, (entries, force, torque, tally): Data| {
            let (first, end) = part_range(part, n);
            let rows = BondRows {
                first,
                end,
                row,
                partner,
                is_once,
            };
            tally.items[0] = bonds(&grains, &rows, entries.items, force.items, torque.items);
        });
        let now = network.tallies.iter().fold(BondTally::default(), |all, one| all.plus(one));
        let before = std::mem::replace(&mut network.last, now);
        if self.steps > 0 {
            // A step's share is the mean of the powers at its two ends.
            network.work.damping += 0.5 * self.stepping.dt * (before.damping_power + now.damping_power);
        }
        network.work.fracture += now.released;
        if now.broken > 0.0 {
            network.note_breaks(time, &self.fields.position, (&self.stepping.sides, self.sides));
        }
    }

    /// What broke since this was last asked, in the order in which it did.
    pub fn take_breaks(&mut self) -> Vec<Break> {
        self.bonds
            .as_mut()
            .map_or_else(Vec::new, |network| std::mem::take(&mut network.breaks))
    }

    /// How many bonds were made, and how many of them hold.
    pub fn bonds_made_and_holding(&self) -> [usize; 2] {
        self.bonds.as_ref().map_or([0; 2], |network| [network.len(), network.holding()])
    }

    /// Ids of all grains that are, or were, bonded, ascending; those that left are among them.
    pub fn bonded_grains(&self) -> Vec<u32> {
        let mut ids = self.bonds.as_ref().map_or_else(Vec::new, |network| network.ends.clone());
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Bonds that hold, as they stand, in the order in which they were made.
    ///
    /// # Panics
    /// As [`Simulation::ledger`].
    pub fn bonds_now(&self) -> Vec<BondSnapshot> {
        self.assert_observed();
        let Some(network) = &self.bonds else { return Vec::new() };
        let snapshot = |(bond, standing): (usize, OneBond)| {
            let OneBond {
                places: _,
                from,
                apart,
                held,
                span,
                glue,
            } = standing;
            BondSnapshot {
                kind: network.kind[bond],
                grains: network.ids(bond),
                ends: [array(&from), array(&from.plus(&apart))],
                force: array(&held.force),
                tension: held.tension,
                shear: held.shear,
                bending: held.bending,
                torsion: held.torsion,
                energy: held.energy,
                used: utilization(&held, &span, &glue).share,
            }
        };
        self.standing_bonds(network, network.all_holding()).map(snapshot).collect()
    }

    /// How bonds of the table stand whose grains are there.
    fn standing_bonds<'a>(
        &'a self,
        network: &'a Network,
        bonds: impl IntoIterator<Item = usize> + 'a,
    ) -> impl Iterator<Item = (usize, OneBond)> + 'a {
        let fields = &self.fields;
        let places: HashMap<u32, usize> = fields.id.iter().copied().zip(0..).collect();
        bonds.into_iter().filter_map(move |bond| {
            let places = network.places(bond, &places)?;
            let [i, j] = places.map(|place| end_at(place, &fields.position, &fields.velocity, &fields.spin, &fields.turn));
            let apart = apart_of::<f64, f64>(&i, &j, &self.stepping.sides, self.sides);
            let record = &network.records[bond * BOND..][..BOND];
            let (rest, glue) = (rest_at(record, 0), glue_at(&network.glue, network.kind[bond] as usize));
            let span = span_of(&i, &j, &rest.axis, record[3], &glue);
            let shape = deformed(
                &apart,
                &i.turn,
                &turned_since(&i.turn, &j.turn, &rest.turn),
                &rest.axis,
                span.per_length,
            );
            let standing = OneBond {
                places,
                from: i.position,
                apart,
                held: hold(&shape, &moves_of(i, j), &span, &glue),
                span,
                glue,
            };
            Some((bond, standing))
        })
    }

    /// Notes what energy every bond holds, as the grains stand.
    pub(crate) fn note_energies_of_bonds(&mut self) {
        let Some(mut network) = self.bonds.take() else { return };
        let energies: Vec<(usize, f64)> = self
            .standing_bonds(&network, network.all_holding())
            .map(|(bond, standing)| (bond, standing.held.energy))
            .collect();
        for (bond, energy) in energies {
            network.records[bond * BOND + ENERGY] = energy;
        }
        self.bonds = Some(network);
    }
}

/// How a bond stands.
struct OneBond {
    /// Places of its grains.
    places: [usize; 2],
    /// Center of its first grain \[m\].
    from: Vector3<f64>,
    /// From there to the second \[m\].
    apart: Vector3<f64>,
    held: Hold<f64>,
    span: Span<f64>,
    glue: Glue<f64>,
}
