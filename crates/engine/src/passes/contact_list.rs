//! Forces between grains by a list of contacts, made in each step: count the contacts of each grain, sum the counts, identify each contact by its number,
//! compute it. Then each grain adds up its own contacts.
//!
//! There are two methods. Either both grains of a contact have it in their row \[PUC-Rio 2009, § 5.3.1\]. Or each contact is there once, and its results
//! for the two grains are sorted by grain before they are added up \[ME964 2011\]. No two threads write to one place.
//!
//! They are there for comparison: a contact that is listed, computed and then added passes through memory three times.

use crate::contact_list::{ContactResult, apart};
use crate::fields::{Fields, PART, one_each, part_range, parts};
use crate::measure::{NO_CONTACT, sum};
use crate::populations::Populations;
use crate::world::ForceAssembly;
use seixo_device::{Ranges, Strided, exclusive_scan};
use seixo_laws::smaller;
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::{RECORD, add, coefficients, contact_history_at, load, store};
use seixo_sweeps::pair::{Pair, frictional_pair_contact, normal_pair_contact};

impl Populations {
    /// Computes the forces between all grains by a list of contacts.
    pub(crate) fn contacts_by_list(&mut self) {
        let once = self.context.settings.assembly == ForceAssembly::SortedContacts;
        let device = &self.context.device;
        let (pairs, list) = (&mut self.grains.pairs, &mut self.grains.contact_list);
        list.count(device, pairs, &self.grains.fields.position, once);
        let contacts = exclusive_scan(&mut list.first) as usize;
        list.identify(device, pairs, &self.grains.fields.position, contacts, once);
        self.compute_contacts(once);
        if once {
            self.grains.contact_list.sort_ends(&self.grains.pairs);
        }
        self.add_up_contacts(once);
    }

    /// Computes the contacts that were identified: for the grain in whose row each is, and with `once` also for the other.
    fn compute_contacts(&mut self, once: bool) {
        let Fields {
            position,
            velocity,
            spin,
            material,
            ..
        } = &self.grains.fields;
        let (neighbors, history) = (&self.grains.pairs.neighbors[..], &self.grains.pairs.history[..]);
        let (is_frictional, materials) = (self.context.materials.has_friction, self.context.materials.count);
        let table = &self.context.materials.coefficients[..];
        let (dt, overlap_limit) = (self.context.stepping.dt, self.context.settings.overlap_limit);
        let list = &mut self.grains.contact_list;
        let (found, ends) = (&list.found[..], if once { 2 } else { 1 });
        list.computed.resize(ends * found.len(), ContactResult::NONE);
        let computed = (Strided {
            items: &mut list.computed[..],
            per_part: ends * PART,
        },);
        type Data<'a> = (Strided<'a, ContactResult>,);
        self.context.device.run(parts(found.len()), computed, |part, (computed,): Data| {
            for (slots, &[i, entry]) in computed.items.chunks_exact_mut(ends).zip(&found[part * PART..]) {
                let (i, entry) = (i as usize, entry as usize);
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
                    let before = contact_history_at(history, entry * RECORD);
                    let spins = [i, j].map(|k| load(spin, k * RECORD));
                    frictional_pair_contact(&pair, &spins[0], &spins[1], &before, &laws, dt)
                } else {
                    normal_pair_contact(&pair, &laws)
                };
                let of_first = ContactResult {
                    force: forces.force,
                    torque: forces.bend.times(forces.arm_i),
                    power: PowerSums {
                        normal_power: 0.5 * forces.normal_power,
                        tangential_power: 0.5 * forces.tangential_power,
                        damping_power: 0.5 * forces.damping_power,
                        wall_power: 0.0,
                        excess: forces.overlap - overlap_limit * smaller(pair.radius_i, pair.radius_j),
                        ..NO_CONTACT
                    },
                    history: forces.history,
                };
                let of_second = of_first.of_second(forces.bend.times(forces.arm_j));
                slots.iter_mut().zip([of_first, of_second]).for_each(|(slot, end)| *slot = end);
            }
        });
    }

    /// Adds up the contacts of each grain, and stores their histories in its row.
    fn add_up_contacts(&mut self, once: bool) {
        let n = self.grains.fields.len();
        let list = &self.grains.contact_list;
        let (row, neighbors) = (&self.grains.pairs.row[..], &self.grains.pairs.neighbors[..]);
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
            Ranges {
                items: &mut self.grains.pairs.history[..],
                bounds: &self.grains.pairs.part_row,
                stride: RECORD,
            },
            one_each(&mut self.grains.contact_power_sums),
        );
        type Data<'a> = (Strided<'a, f64>, Strided<'a, f64>, Ranges<'a, f64>, Strided<'a, PowerSums<f64>>);
        self.context
            .device
            .run(parts(n), data, |part, (force, torque, history, power_sums): Data| {
                let (begin, end) = part_range(part, n);
                force.items.fill(0.0);
                torque.items.fill(0.0);
                let mut all = NO_CONTACT;
                for i in begin..end {
                    let at = (i - begin) * RECORD;
                    let own = list.of(i, row, neighbors, once);
                    force.items[at + 3] = own.len() as f64;
                    for (contact, entry) in own {
                        add(force.items, at, &contact.force);
                        if !torque.items.is_empty() {
                            add(torque.items, at, &contact.torque);
                        }
                        if !history.items.is_empty() {
                            let place = (entry - row[begin] as usize) * RECORD;
                            store(history.items, place, &contact.history.force);
                            history.items[place + 3] = contact.history.contact_radius;
                        }
                        all = sum(all, &contact.power);
                    }
                }
                power_sums.items[0] = all;
            });
    }
}
