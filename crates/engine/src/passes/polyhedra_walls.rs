//! Contacts of polyhedral grains with walls.

use super::polyhedra::posed;
use crate::fields::{Fields, one_each};
use crate::measure::{NO_CONTACT, sum};
use crate::polyhedra::{GrainsAtWalls, KeptContacts, PAIRS_OF_PART, Polyhedra, SLOTS, parts_of_pairs};
use crate::populations::Populations;
use seixo_device::Strided;
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::{ELEMENT, RECORD, WALL, WALL_CONTACT, add, coefficients, load, store};
use seixo_sweeps::shape_walls::{GrainByWall, ShapeWallLoad, contacts_with_wall};

impl Populations {
    /// Lists the wall elements near polyhedral grains, from the lists of walls.
    pub(crate) fn list_walls_of_polyhedra(&mut self) {
        let Some(polyhedra) = &mut self.polyhedra else { return };
        let (fields, walls) = (&self.grains.fields, &self.walls);
        let polyhedral = (0..fields.shape.len()).filter(|&i| fields.shape[i] > 0);
        let near = polyhedral.flat_map(move |i| {
            let entries = walls.row[i]..walls.row[i + 1];
            entries.map(move |k| ([fields.id[i], walls.list[k as usize]], [i as u32, k]))
        });
        polyhedra.at_walls.rebuild(near.collect());
    }

    /// Computes the contacts of polyhedral grains with walls, and adds them to the forces on grains and walls.
    pub(crate) fn wall_contacts_of_polyhedra(&mut self) {
        self.compute_walls_of_polyhedra();
        self.add_up_walls_of_polyhedra();
    }

    fn compute_walls_of_polyhedra(&mut self) {
        let Populations {
            context,
            grains,
            walls,
            polyhedra: Some(polyhedra),
            ..
        } = self
        else {
            return;
        };
        let Polyhedra { shapes, at_walls, .. } = &mut **polyhedra;
        let GrainsAtWalls { records, places } = at_walls;
        let (shapes, fields, places, ids) = (&*shapes, &grains.fields, &places[..], &records.ids[..]);
        let (elements, of_walls) = (&walls.elements[..], &walls.records[..]);
        let (materials, dt, overlap_limit) = (&context.materials, context.stepping.dt, context.settings.overlap_limit);
        let data = (
            Strided {
                items: &mut records.loads[..],
                per_part: PAIRS_OF_PART,
            },
            one_each(&mut records.contacts),
            one_each(&mut records.spare),
            one_each(&mut records.power_sums),
        );
        type Data<'a> = (
            Strided<'a, ShapeWallLoad<f64, f64>>,
            Strided<'a, KeptContacts>,
            Strided<'a, KeptContacts>,
            Strided<'a, PowerSums<f64>>,
        );
        context
            .device
            .run(parts_of_pairs(ids.len()), data, |part, (loads, kept, next, power_sums): Data| {
                let (kept, next) = (&mut kept.items[0], &mut next.items[0]);
                next.clear();
                let mut all = NO_CONTACT;
                for (k, now) in loads.items.iter_mut().enumerate() {
                    let pair = part * PAIRS_OF_PART + k;
                    let (i, e) = (places[pair][0] as usize, ids[pair][1] as usize * ELEMENT);
                    let wall = elements[e + 10] as usize * WALL;
                    let row = fields.material[i] * materials.count + of_walls[wall + 9] as u32;
                    let grain = GrainByWall {
                        posed: posed(fields, i),
                        center: load(&fields.position, i * RECORD),
                        velocity: load(&fields.velocity, i * RECORD),
                    };
                    let (mut old_keys, mut old_springs) = ([0; SLOTS], [0.0; SLOTS * RECORD]);
                    let (mut keys, mut springs) = ([0; SLOTS], [0.0; SLOTS * RECORD]);
                    let (of_pair, histories) = kept.of(k);
                    old_keys[..of_pair.len()].copy_from_slice(of_pair);
                    old_springs[..histories.len()].copy_from_slice(histories);
                    *now = contacts_with_wall::<f64, f64>(
                        &grain,
                        &shapes.words,
                        &shapes.numbers,
                        elements,
                        e,
                        of_walls,
                        0,
                        SLOTS as u32,
                        &old_keys,
                        &old_springs,
                        &mut keys,
                        &mut springs,
                        &coefficients(&materials.coefficients, row as usize),
                        dt,
                        overlap_limit,
                    );
                    next.push(&keys, &springs);
                    all = sum(all, &now.powers);
                }
                std::mem::swap(kept, next);
                power_sums.items[0] = all;
            });
    }

    /// Adds the loads of walls in the order of their list. What walls know of a contact is its force, at one point, and how near the grain is.
    fn add_up_walls_of_polyhedra(&mut self) {
        let Some(polyhedra) = &self.polyhedra else { return };
        let at_walls = &polyhedra.at_walls;
        let Fields {
            position, force, torque, ..
        } = &mut self.grains.fields;
        for (now, &[i, entry]) in at_walls.records.loads.iter().zip(&at_walls.places) {
            let (at, touches) = (i as usize * RECORD, f64::from(u32::from(now.contacts > 0)));
            add(force, at, &now.force);
            add(torque, at, &now.torque);
            force[at + 3] += touches;
            let record = &mut self.walls.wall_contacts[entry as usize * WALL_CONTACT..][..WALL_CONTACT];
            store(record, 0, &now.point);
            record[3] = position[at + 3] - now.overlap;
            store(record, 4, &now.force);
            record[WALL_CONTACT - 1] = touches;
        }
    }
}
