//! The network of bonds: what is glued together, what it bears, and what broke.

mod later;
mod limit;
mod network;
mod plan;

pub(crate) use limit::{likely_limit, limit_of_bonds};
pub(crate) use network::Network;
pub(crate) use plan::{Found, Standing, check_bonds, mass_of_sphere, pairs_at_start};

use crate::contact_records::array;
use crate::fields::{Fields, PART, part_range, parts};
use crate::simulation::Simulation;
use crate::world::{Vec3, World};
use seixo_device::{Ranges, Strided};
use seixo_laws::Vector3;
use seixo_laws::bond::{BreakMode, hold, utilization};
use seixo_sweeps::bodies::{FREE, store_turn};
use seixo_sweeps::bonds::{BOND, BROKEN, BondRows, BondTally, BondedGrains, FIRST, bonds_of_part, ends_of, glue_at, rest_at, turn_on};
use seixo_sweeps::sides::{OPEN, PERIODIC, SHEARED};
use seixo_sweeps::views::{RECORD, load};

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

    /// Books the energy of bonds whose grains leave the domain while lists are renewed.
    pub(crate) fn book_bonds_leaving(&mut self, renew: impl FnOnce(&mut Simulation)) {
        let held = self.energy_of_bonds();
        renew(self);
        self.work.left_domain += held - self.energy_of_bonds();
    }

    /// Lists bonds in the order of the grains.
    pub(crate) fn list_bonds(&mut self) {
        if let Some(network) = &mut self.bonds {
            network.list(&self.fields.id);
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
        let time = self.time();
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
        let (row, partner, kind) = (&network.row[..], &network.partner[..], &network.kind_of_entry[..]);
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
        let bonds = match self.sides {
            OPEN => bonds_of_part::<OPEN>,
            PERIODIC => bonds_of_part::<PERIODIC>,
            _ => bonds_of_part::<SHEARED>,
        };
        self.device.run(parts(n), data, |part, (entries, force, torque, tally): Data| {
            let (first, end) = part_range(part, n);
            let rows = BondRows {
                first,
                end,
                row,
                partner,
                kind,
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

    /// Bonds that hold, as they stand, in the order in which they were made.
    ///
    /// # Panics
    /// As [`Simulation::ledger`].
    pub fn bonds_now(&self) -> Vec<BondSnapshot> {
        self.assert_observed();
        let Some(network) = &self.bonds else { return Vec::new() };
        let mut entries: Vec<(u32, usize, usize)> = (0..self.fields.len())
            .flat_map(|i| (network.row[i]..network.row[i + 1]).map(move |k| (network.bond_of_entry[k as usize], i, k as usize)))
            .filter(|&(_, _, k)| network.entries[k * BOND + BROKEN] == 0.0)
            .collect();
        entries.sort_unstable();
        entries.dedup_by_key(|(bond, ..)| *bond);
        let fields = &self.fields;
        let snapshot = |(bond, i, k): (u32, usize, usize)| {
            let j = (network.partner[k] & !FIRST) as usize;
            let (first, second) = if network.partner[k] & FIRST != 0 { (j, i) } else { (i, j) };
            let (sides, kind) = (&self.stepping.sides, self.sides);
            let ends = ends_of::<f64, f64>(
                first,
                second,
                &fields.position,
                &fields.velocity,
                &fields.spin,
                &fields.turn,
                sides,
                kind,
            );
            let rest = rest_at(&network.entries, k * BOND);
            let glue = glue_at(&network.glue, network.kind_of_entry[k] as usize);
            let held = hold(&ends, &rest, &glue);
            let bond = bond as usize;
            BondSnapshot {
                kind: network.kind[bond],
                grains: [network.ends[2 * bond], network.ends[2 * bond + 1]],
                ends: {
                    let from: Vector3<f64> = load(&fields.position, first * RECORD);
                    [array(&from), array(&from.plus(&ends.apart))]
                },
                force: array(&held.force),
                tension: held.tension,
                shear: held.shear,
                bending: held.bending,
                torsion: held.torsion,
                energy: held.energy,
                used: utilization(&held, &rest, &glue).share,
            }
        };
        entries.into_iter().map(snapshot).collect()
    }
}
