//! Contacts of pairs with a polyhedral grain: each pair is computed once, in the order of ids, and each grain adds up its own.

use crate::contact_records::{ContactRecord, Partner};
use crate::fields::{Fields, PART, part_range, parts};
use crate::guard::StepError;
use crate::measure::half_of;
use crate::polyhedra::{Polyhedra, SLOTS, ShapePairs};
use crate::populations::Populations;
use crate::world::array;
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_sweeps::bodies::{is_ghost, orientation_at};
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::{RECORD, add, coefficients, load};
use seixo_sweeps::periodic::{image_velocity, nearest_image};
use seixo_sweeps::shape_pairs::{PairLoad, PosedShape, ShapePair, shape_contacts_over_steps};
use seixo_sweeps::shapes::{extent_along, shape_at};

impl Populations {
    /// Takes the pairs with a polyhedral grain out of the rows, into a list of their own.
    pub(crate) fn list_polyhedra(&mut self) {
        let Some(polyhedra) = &mut self.polyhedra else { return };
        let Fields { id, shape, .. } = &self.grains.fields;
        let is_polyhedral = |i: u32| shape.get(i as usize).is_some_and(|&shape| shape > 0);
        let taken = self.grains.pairs.take_pairs(is_polyhedral);
        polyhedra.pairs.rebuild(&taken, id);
    }

    /// Computes the contacts of all pairs with a polyhedral grain, and adds them to the forces on grains.
    pub(crate) fn polyhedra_forces(&mut self) {
        self.compute_polyhedra();
        self.add_up_polyhedra();
    }

    fn compute_polyhedra(&mut self) {
        let Populations {
            context,
            grains,
            polyhedra: Some(polyhedra),
            ..
        } = self
        else {
            return;
        };
        let Polyhedra { shapes, pairs, .. } = &mut **polyhedra;
        let ShapePairs { records, places, .. } = pairs;
        let (places, shapes, fields) = (&places[..], &*shapes, &grains.fields);
        let (materials, dt, overlap_limit) = (&context.materials, context.stepping.dt, context.settings.overlap_limit);
        let (sides, kind) = (&context.stepping.sides, context.sides);
        let (member, has_ghosts) = (&fields.member[..], grains.has_ghosts);
        records.compute(
            &context.device,
            |pair, load| {
                // The owner of a ghost computes the pair, too.
                let is_shared = has_ghosts && places[pair].iter().any(|&place| is_ghost(member[place as usize]));
                if is_shared { half_of(&load.powers) } else { load.powers }
            },
            |pair, _, before: &PairLoad<f64>, slots, _: &mut ()| {
                let [i, j] = places[pair].map(|place| place as usize);
                let image = nearest_image::<f64, f64>(
                    &load(&fields.position, i * RECORD).minus(&load(&fields.position, j * RECORD)),
                    sides,
                    kind,
                );
                let slide = image_velocity(image.passed, &image.crossed, sides, kind);
                let pair = ShapePair {
                    apart: image.apart,
                    velocity: load(&fields.velocity, i * RECORD)
                        .minus(&load(&fields.velocity, j * RECORD))
                        .minus(&slide),
                    direction: before.direction,
                    i: posed(fields, i),
                    j: posed(fields, j),
                };
                let row = (fields.material[i] * materials.count + fields.material[j]) as usize;
                shape_contacts_over_steps::<f64, f64>(
                    &pair,
                    &shapes.words,
                    &shapes.numbers,
                    0,
                    SLOTS as u32,
                    &slots.old_keys,
                    &slots.old_springs,
                    &mut slots.keys,
                    &mut slots.springs,
                    &coefficients(&materials.coefficients, row),
                    dt,
                    overlap_limit,
                    &mut slots.near,
                )
            },
        );
    }

    fn add_up_polyhedra(&mut self) {
        let Some(polyhedra) = &self.polyhedra else { return };
        let (n, pairs) = (self.grains.fields.len(), &polyhedra.pairs);
        if pairs.places.is_empty() {
            return;
        }
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
        );
        self.context
            .device
            .run(parts(n), data, |part, (force, torque): (Strided<f64>, Strided<f64>)| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    let at = (i - first) * RECORD;
                    for &end in pairs.of(i) {
                        let load = &pairs.records.loads[end as usize / 2];
                        let (push, turn) = if end % 2 == 0 {
                            (load.force, &load.torque_i)
                        } else {
                            (load.force.times(-1.0), &load.torque_j)
                        };
                        add(force.items, at, &push);
                        add(torque.items, at, turn);
                        force.items[at + 3] += f64::from(u32::from(load.contacts > 0));
                    }
                }
            });
    }

    /// Powers of the contacts of polyhedral grains.
    pub(crate) fn powers_of_polyhedra(&self) -> impl Iterator<Item = &PowerSums<f64>> {
        self.polyhedra.iter().flat_map(|polyhedra| polyhedra.power_sums())
    }

    /// Returns an error if a pair, or a grain at a wall, has more contacts than there is room for.
    pub(crate) fn guard_polyhedra(&self) -> Result<(), StepError> {
        let Some(polyhedra) = &self.polyhedra else { return Ok(()) };
        let of_shape = |place: u32| {
            let index = (self.grains.fields.shape[place as usize] as usize).checked_sub(1);
            let shape = index.and_then(|index| polyhedra.shapes.given.get(index));
            shape.map_or_else(|| "a sphere".to_owned(), |shape| format!("shape {}", shape.name))
        };
        let (pairs, at_walls) = (&polyhedra.pairs, &polyhedra.at_walls);
        let of_pairs = pairs.records.loads.iter().map(|load| load.contacts);
        let of_walls = at_walls.records.loads.iter().map(|load| load.contacts);
        let (what, contacts, remedy) = if let Some((k, contacts)) = beyond_room(of_pairs) {
            let ([a, b], [first, second]) = (pairs.records.ids[k], pairs.places[k].map(of_shape));
            (
                format!("grain {a} ({first}) and grain {b} ({second}) have"),
                contacts,
                "use shapes of fewer faces, or a stiffer material",
            )
        } else if let Some((k, contacts)) = beyond_room(of_walls) {
            let ([grain, element], [place, _]) = (at_walls.records.ids[k], at_walls.places[k]);
            let wall = &self.walls.given[self.walls.wall_of(element)].name;
            (
                format!("grain {grain} ({}) and wall {wall} have", of_shape(place)),
                contacts,
                "use a shape of fewer faces, a mesh of larger triangles, or a stiffer material",
            )
        } else {
            return Ok(());
        };
        Err(self.failed(format!("{what} {contacts} contacts, and at most {SLOTS} are possible; {remedy}")))
    }

    /// The deepest overlap of a pair with a polyhedral grain, as a share of the smaller rounding radius, with the index of that grain and the id of the
    /// other.
    pub(crate) fn deepest_of_polyhedra(&self) -> Option<(f64, usize, u32)> {
        let pairs = &self.polyhedra.as_ref()?.pairs;
        let touching = (0..pairs.places.len()).filter(|&k| pairs.records.loads[k].contacts > 0);
        let shares = touching.map(|k| {
            let (overlap, roundings) = self.overlap_of_pair(pairs, k);
            let smaller = usize::from(roundings[1] < roundings[0]);
            let grain = pairs.places[k][smaller] as usize;
            (overlap / roundings[smaller], grain, pairs.records.ids[k][1 - smaller])
        });
        shares.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Radius of grain i in contacts \[m\]: that of a sphere, or the rounding radius.
    pub(crate) fn contact_radius_of(&self, i: usize) -> f64 {
        let fields = &self.grains.fields;
        let scale = fields.position[i * RECORD + 3];
        let shape = fields.shape.get(i).copied().unwrap_or(0);
        let polyhedra = self.polyhedra.as_ref().filter(|_| shape > 0);
        polyhedra.map_or(scale, |polyhedra| polyhedra.shapes.rounding(shape, scale))
    }

    /// Deepest overlap of pair k, which has contacts, and both rounding radii \[m\].
    fn overlap_of_pair(&self, pairs: &ShapePairs, k: usize) -> (f64, [f64; 2]) {
        let roundings = pairs.places[k].map(|place| self.contact_radius_of(place as usize));
        let allowed = self.context.settings.overlap_limit * roundings[0].min(roundings[1]);
        (pairs.records.loads[k].powers.excess + allowed, roundings)
    }

    /// Records of the pairs with a polyhedral grain that are in contact, one for each pair.
    pub(crate) fn records_of_polyhedra(&self) -> Vec<ContactRecord> {
        let Some(polyhedra) = &self.polyhedra else { return Vec::new() };
        let loads = &polyhedra.pairs.records.loads;
        let touching = (0..loads.len()).filter(|&k| loads[k].contacts > 0);
        touching.map(|k| self.record_of_pair(polyhedra, k)).collect()
    }

    /// The record of pair k: the sum of its forces, at the point where its line meets the plane between the two grains.
    fn record_of_pair(&self, polyhedra: &Polyhedra, k: usize) -> ContactRecord {
        let (pairs, now) = (&polyhedra.pairs, &polyhedra.pairs.records.loads[k]);
        let [i, j] = pairs.places[k].map(|place| place as usize);
        let fields = &self.grains.fields;
        let center = load::<f64>(&fields.position, i * RECORD);
        let apart = center.minus(&load(&fields.position, j * RECORD));
        let branch = nearest_image::<f64, f64>(&apart, &self.context.stepping.sides, self.context.sides).apart;
        let (overlap, _) = self.overlap_of_pair(pairs, k);
        let normal = now.direction;
        let grain = posed(fields, i);
        let toward_j = grain.orientation.back().to_space(&normal.times(-1.0));
        let shape = shape_at(&polyhedra.shapes.words, grain.shape);
        let depth = extent_along::<f64>(&shape, &polyhedra.shapes.numbers, grain.scale, &toward_j);
        let height = depth + polyhedra.shapes.rounding(grain.shape, grain.scale) - 0.5 * overlap;
        // The points of the line of a force F with the torque T are F × T / F², plus any multiple of F.
        let square = now.force.dot(&now.force);
        let across = now.force.dot(&normal);
        let mut arm = normal.times(-height);
        if square > 0.0 && across != 0.0 {
            let foot = now.force.cross(&now.torque_i).times(1.0 / square);
            arm = foot.plus(&now.force.times((-height - foot.dot(&normal)) / across));
        }
        let press = normal.times(across);
        ContactRecord {
            a: pairs.records.ids[k][0],
            b: Partner::Grain(pairs.records.ids[k][1]),
            center: array(&center),
            point: array(&center.plus(&arm)),
            branch: array(&branch),
            normal: array(&normal),
            overlap,
            normal_force: array(&press),
            tangential_force: array(&now.force.minus(&press)),
        }
    }
}

/// The first pair with more contacts than there is room for, and their number.
fn beyond_room(contacts: impl Iterator<Item = u32>) -> Option<(usize, u32)> {
    contacts.enumerate().find(|&(_, count)| count as usize > SLOTS)
}

/// Grain i as the laws of polyhedral grains read it; it may be a sphere.
pub(super) fn posed(fields: &Fields, i: usize) -> PosedShape<f64, f64> {
    let spin: Vector3<f64> = load(&fields.spin, i * RECORD);
    PosedShape {
        shape: fields.shape[i],
        scale: fields.position[i * RECORD + 3],
        orientation: orientation_at(&fields.orientation, i * RECORD),
        spin,
        mass: fields.velocity[i * RECORD + 3],
    }
}
