//! Contacts of pairs with a polyhedral grain: each pair is computed once, in the order of ids, and each grain adds up its own.

use crate::contact_records::{ContactRecord, Partner};
use crate::fields::{Fields, PART, one_each, part_range, parts};
use crate::guard::StepError;
use crate::measure::{NO_CONTACT, sum};
use crate::polyhedra::{KeptContacts, PAIRS_OF_PART, PairOfGrains, Polyhedra, SLOTS, parts_of_pairs};
use crate::populations::Populations;
use crate::world::array;
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_sweeps::bodies::orientation_at;
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::{RECORD, add, coefficients, load};
use seixo_sweeps::periodic::{image_velocity, nearest_image};
use seixo_sweeps::shape_pairs::{PairLoad, PosedShape, ShapePair, shape_contacts};
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
        let Polyhedra { shapes, pairs } = &mut **polyhedra;
        let (list, shapes, fields) = (&pairs.list[..], &*shapes, &grains.fields);
        let (materials, dt, overlap_limit) = (&context.materials, context.stepping.dt, context.settings.overlap_limit);
        let (sides, kind) = (&context.stepping.sides, context.sides);
        let data = (
            Strided {
                items: &mut pairs.loads[..],
                per_part: PAIRS_OF_PART,
            },
            one_each(&mut pairs.contacts),
            one_each(&mut pairs.spare),
            one_each(&mut pairs.power_sums),
        );
        type Data<'a> = (
            Strided<'a, PairLoad<f64>>,
            Strided<'a, KeptContacts>,
            Strided<'a, KeptContacts>,
            Strided<'a, PowerSums<f64>>,
        );
        context
            .device
            .run(parts_of_pairs(list.len()), data, |part, (loads, kept, next, power_sums): Data| {
                let (kept, next) = (&mut kept.items[0], &mut next.items[0]);
                next.clear();
                let mut all = NO_CONTACT;
                for (k, now) in loads.items.iter_mut().enumerate() {
                    let [i, j] = list[part * PAIRS_OF_PART + k].places.map(|place| place as usize);
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
                        direction: now.direction,
                        i: posed(fields, i),
                        j: posed(fields, j),
                    };
                    let (mut old_keys, mut old_springs) = ([0; SLOTS], [0.0; SLOTS * RECORD]);
                    let (mut keys, mut springs) = ([0; SLOTS], [0.0; SLOTS * RECORD]);
                    let (of_pair, histories) = kept.of(k);
                    old_keys[..of_pair.len()].copy_from_slice(of_pair);
                    old_springs[..histories.len()].copy_from_slice(histories);
                    let row = (fields.material[i] * materials.count + fields.material[j]) as usize;
                    *now = shape_contacts::<f64, f64>(
                        &pair,
                        &shapes.words,
                        &shapes.numbers,
                        0,
                        SLOTS as u32,
                        &old_keys,
                        &old_springs,
                        &mut keys,
                        &mut springs,
                        &coefficients(&materials.coefficients, row),
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

    fn add_up_polyhedra(&mut self) {
        let Some(polyhedra) = &self.polyhedra else { return };
        let (n, pairs) = (self.grains.fields.len(), &polyhedra.pairs);
        if pairs.list.is_empty() {
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
                        let load = &pairs.loads[end as usize / 2];
                        let (push, turn) = if end % 2 == 0 {
                            (load.force, &load.torque_i)
                        } else {
                            (load.force.times(-1.0), &load.torque_j)
                        };
                        add(force.items, at, &push);
                        add(torque.items, at, turn);
                        force.items[at + 3] += f64::from(load.contacts);
                    }
                }
            });
    }

    /// Powers of the contacts of polyhedral grains.
    pub(crate) fn powers_of_polyhedra(&self) -> impl Iterator<Item = &PowerSums<f64>> {
        self.polyhedra.iter().flat_map(|polyhedra| &polyhedra.pairs.power_sums)
    }

    /// Returns an error if a pair has more contacts than there is room for.
    pub(crate) fn guard_polyhedra(&self) -> Result<(), StepError> {
        let Some(polyhedra) = &self.polyhedra else { return Ok(()) };
        let pairs = polyhedra.pairs.list.iter().zip(&polyhedra.pairs.loads);
        let mut crowded = pairs.filter(|(_, load)| load.contacts as usize > SLOTS);
        crowded.next().map_or(Ok(()), |(pair, load)| {
            let ([a, b], [first, second]) = (pair.ids, pair.places.map(|place| self.grains.fields.shape[place as usize]));
            Err(self.failed(format!(
                "grains {a} and {b} of shapes {first} and {second} have {} contacts, at most {SLOTS} are possible; simplify their shapes, or use harder materials",
                load.contacts
            )))
        })
    }

    /// The deepest overlap of a pair with a polyhedral grain, as a share of the smaller rounding radius, with its pair.
    pub(crate) fn deepest_of_polyhedra(&self) -> Option<(f64, PairOfGrains)> {
        let polyhedra = self.polyhedra.as_ref()?;
        let touching = (0..polyhedra.pairs.list.len()).filter(|&k| polyhedra.pairs.loads[k].contacts > 0);
        let shares = touching.map(|k| {
            let (overlap, rounding) = self.overlap_of_pair(polyhedra, k);
            (overlap / rounding, polyhedra.pairs.list[k])
        });
        shares.max_by(|(a, _), (b, _)| a.total_cmp(b))
    }

    /// Deepest overlap of pair k, which has contacts, and the smaller rounding radius \[m\].
    fn overlap_of_pair(&self, polyhedra: &Polyhedra, k: usize) -> (f64, f64) {
        let fields = &self.grains.fields;
        let roundings = polyhedra.pairs.list[k].places.map(|place| {
            let place = place as usize;
            polyhedra.shapes.rounding(fields.shape[place], fields.position[place * RECORD + 3])
        });
        let smaller = roundings[0].min(roundings[1]);
        let allowed = self.context.settings.overlap_limit * smaller;
        (polyhedra.pairs.loads[k].powers.excess + allowed, smaller)
    }

    /// Records of the pairs with a polyhedral grain that are in contact, one for each pair.
    pub(crate) fn records_of_polyhedra(&self) -> Vec<ContactRecord> {
        let Some(polyhedra) = &self.polyhedra else { return Vec::new() };
        let touching = (0..polyhedra.pairs.list.len()).filter(|&k| polyhedra.pairs.loads[k].contacts > 0);
        touching.map(|k| self.record_of_pair(polyhedra, k)).collect()
    }

    /// The record of pair k: the sum of its forces, at the point where its line meets the plane between the two grains.
    fn record_of_pair(&self, polyhedra: &Polyhedra, k: usize) -> ContactRecord {
        let (pair, now) = (&polyhedra.pairs.list[k], &polyhedra.pairs.loads[k]);
        let [i, j] = pair.places.map(|place| place as usize);
        let fields = &self.grains.fields;
        let center = load::<f64>(&fields.position, i * RECORD);
        let apart = center.minus(&load(&fields.position, j * RECORD));
        let branch = nearest_image::<f64, f64>(&apart, &self.context.stepping.sides, self.context.sides).apart;
        let (overlap, _) = self.overlap_of_pair(polyhedra, k);
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
            a: pair.ids[0],
            b: Partner::Grain(pair.ids[1]),
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

/// Grain i as the laws of polyhedral grains read it; it may be a sphere.
fn posed(fields: &Fields, i: usize) -> PosedShape<f64, f64> {
    let spin: Vector3<f64> = load(&fields.spin, i * RECORD);
    PosedShape {
        shape: fields.shape[i],
        scale: fields.position[i * RECORD + 3],
        orientation: orientation_at(&fields.orientation, i * RECORD),
        spin,
        mass: fields.velocity[i * RECORD + 3],
    }
}
