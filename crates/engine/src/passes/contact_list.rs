//! Forces between grains by a list of contacts, made in each step \[PUC-Rio 2009, § 5.3.1\]: count the contacts of each grain, sum the counts, identify
//! each contact by its number, compute it. Then each grain adds up its own contacts.
//!
//! It is there for comparison: a contact that is listed, computed and then added passes through memory three times. Both grains of a contact have it in
//! their row, so that no two threads write to one place.

use crate::contact_list::{ContactResult, apart};
use crate::fields::{Fields, PART, one_each, part_range, parts};
use crate::measure::{NO_CONTACT, sum};
use crate::populations::Populations;
use seixo_device::{Ranges, Strided, exclusive_scan};
use seixo_laws::smaller;
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::{RECORD, add, coefficients, contact_history_at, load, store};
use seixo_sweeps::pair::{Pair, frictional_pair_contact, normal_pair_contact};

impl Populations {
    /// Computes the forces between all grains by a list of contacts.
    pub(crate) fn contacts_by_list(&mut self) {
        let n = self.grains.fields.len();
        let device = &self.context.device;
        let (pairs, list) = (&mut self.grains.pairs, &mut self.grains.contact_list);
        list.count(device, pairs, &self.grains.fields.position);
        let contacts = exclusive_scan(&mut list.first) as usize;
        list.identify(device, pairs, &self.grains.fields.position, contacts);
        self.compute_contacts(contacts);
        let (first, computed) = (&self.grains.contact_list.first[..], &self.grains.contact_list.computed[..]);
        let Fields { force, torque, .. } = &mut self.grains.fields;
        let per_part = PART * RECORD;
        let data = (
            Strided {
                items: &mut force[..],
                per_part,
            },
            Strided {
                items: &mut torque[..],
                per_part,
            },
            one_each(&mut self.grains.contact_power_sums),
        );
        type Data<'a> = (Strided<'a, f64>, Strided<'a, f64>, Strided<'a, PowerSums<f64>>);
        self.context.device.run(parts(n), data, |part, (force, torque, power_sums): Data| {
            let (begin, end) = part_range(part, n);
            force.items.fill(0.0);
            torque.items.fill(0.0);
            let mut all = NO_CONTACT;
            for i in begin..end {
                let (at, own) = ((i - begin) * RECORD, first[i] as usize..first[i + 1] as usize);
                force.items[at + 3] = own.len() as f64;
                for contact in &computed[own] {
                    add(force.items, at, &contact.force);
                    if !torque.items.is_empty() {
                        add(torque.items, at, &contact.torque);
                    }
                    all = sum(all, &contact.power);
                }
            }
            power_sums.items[0] = all;
        });
    }

    /// Computes the contacts that were identified, with their histories.
    fn compute_contacts(&mut self, contacts: usize) {
        let Fields {
            position,
            velocity,
            spin,
            material,
            ..
        } = &self.grains.fields;
        let (neighbors, table) = (&self.grains.pairs.neighbors[..], &self.context.materials.coefficients[..]);
        let (is_frictional, materials) = (self.context.materials.has_friction, self.context.materials.count);
        let (dt, overlap_limit) = (self.context.stepping.dt, self.context.settings.overlap_limit);
        let list = &mut self.grains.contact_list;
        list.computed.resize(contacts, ContactResult::NONE);
        let found = &list.found[..];
        let data = (
            Strided {
                items: &mut list.computed[..],
                per_part: PART,
            },
            Ranges {
                items: &mut self.grains.pairs.history[..],
                bounds: &list.part_entry,
                stride: RECORD,
            },
        );
        type Data<'a> = (Strided<'a, ContactResult>, Ranges<'a, f64>);
        self.context.device.run(parts(contacts), data, |part, (computed, history): Data| {
            let part_entry = history.bounds[0] as usize;
            for (slot, [i, entry]) in computed.items.iter_mut().zip(&found[part * PART..]) {
                let (i, entry) = (*i as usize, *entry as usize);
                let j = neighbors[entry] as usize;
                let (apart, depth) = apart(position, i, j);
                let pair = Pair {
                    apart,
                    depth,
                    velocity: load(velocity, i * RECORD).minus(&load(velocity, j * RECORD)),
                    radius_i: position[i * RECORD + 3],
                    radius_j: position[j * RECORD + 3],
                    mass_i: velocity[i * RECORD + 3],
                    mass_j: velocity[j * RECORD + 3],
                };
                let laws = coefficients(table, (material[i] * materials + material[j]) as usize);
                let forces = if is_frictional {
                    let at = (entry - part_entry) * RECORD;
                    let before = contact_history_at(history.items, at);
                    let spins = [i, j].map(|k| load(spin, k * RECORD));
                    let forces = frictional_pair_contact(&pair, &spins[0], &spins[1], &before, &laws, dt);
                    store(history.items, at, &forces.history.force);
                    history.items[at + 3] = forces.history.contact_radius;
                    forces
                } else {
                    normal_pair_contact(&pair, &laws)
                };
                *slot = ContactResult {
                    force: forces.force,
                    torque: forces.bend.times(forces.arm_i),
                    power: PowerSums {
                        normal_power: 0.5 * forces.normal_power,
                        tangential_power: 0.5 * forces.tangential_power,
                        damping_power: 0.5 * forces.damping_power,
                        wall_power: 0.0,
                        excess: forces.overlap - overlap_limit * smaller(pair.radius_i, pair.radius_j),
                    },
                };
            }
        });
    }
}
