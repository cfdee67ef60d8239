//! Records of all current contacts.
//!
//! Sweeps store contact histories, not contact forces: a record of each force would cost memory traffic in each step, but is needed at observations
//! only.
//! So the force of each contact is recomputed by the same laws, from the state of the last sweep.

use crate::contact_records::{ContactRecord, Partner};
use crate::fields::Fields;
use crate::populations::Populations;
use crate::search::{Cells, pairs_within};
use crate::world::{Precision, Search, array};
use seixo_laws::Vector3;
use seixo_laws::contact::{ContactHistory, ExtendedHistory};
use seixo_sweeps::layout::{
    ELEMENT, EXTENDED_HISTORY_STRIDE, PLANE, RECORD, WALL_CONTACT, coefficients, extended_coefficients, extended_history_at, load,
};
use seixo_sweeps::pair::{ExtendedGeometry, Pair, depth_of, extended_contact, frictional_pair_contact, near};
use seixo_sweeps::periodic::{image_velocity, nearest_image};

impl Populations {
    /// Pairs of indices i, j of grains that may be in contact, each once. It makes cells of its own: worlds without friction may have no list, and
    /// the host has no cells of grains on a GPU.
    pub(crate) fn near_pairs(&self) -> Vec<(usize, usize)> {
        let position = &self.grains.fields.position;
        if position.is_empty() {
            return Vec::new();
        }
        let skin = self.grains.cells.skin;
        let mut cells = Cells::new(position.chunks_exact(RECORD).map(|record| record[3]), Search::Auto, skin);
        (cells.sides, cells.kind) = (self.context.stepping.sides, self.context.sides);
        pairs_within(&self.context.device, cells, position, skin)
    }

    /// The contact of grains i and j, if they overlap or attract each other; `of_i` is the contact history of i.
    pub(crate) fn between(&self, i: usize, j: usize, of_i: &[f64; EXTENDED_HISTORY_STRIDE]) -> Option<ContactRecord> {
        let Fields {
            id,
            position,
            velocity,
            material,
            ..
        } = &self.grains.fields;
        let (at, other) = (i * RECORD, j * RECORD);
        let center = load::<f64>(position, at);
        let image = nearest_image(
            &center.minus(&load(position, other)),
            &self.context.stepping.sides,
            self.context.sides,
        );
        let apart = image.apart;
        let slide = image_velocity(image.passed, &image.crossed, &self.context.stepping.sides, self.context.sides);
        let pair = Pair {
            depth: depth_of(&apart, position[at + 3] + position[other + 3]),
            apart,
            velocity: load::<f64>(velocity, at).minus(&load(velocity, other)).minus(&slide),
            radius_i: position[at + 3],
            radius_j: position[other + 3],
            mass_i: velocity[at + 3],
            mass_j: velocity[other + 3],
        };
        let holds = self.context.materials.are_extended && extended_history_at::<f64>(of_i, 0).holds > 0.0;
        if pair.depth <= 0.0 && !holds {
            return None;
        }
        let spins = [at, other].map(|at| {
            if self.context.materials.has_friction {
                load::<f64>(&self.grains.fields.spin, at)
            } else {
                Vector3::zero()
            }
        });
        let contact = Contact {
            pair: &pair,
            near: near(&pair),
            extended_history: self.context.materials.are_extended.then(|| extended_history_at(of_i, 0)),
            row: (material[i] * self.context.materials.count + material[j]) as usize,
            table: &self.context.materials.coefficients,
        };
        let press = contact.act(&spins, Vector3::zero(), 0.0)[0];
        let mut friction = Vector3::zero();
        if self.context.materials.has_friction {
            friction = self.sliding_force(&contact, &press, spins, &load(of_i, 0));
        }
        let (normal, overlap) = (&contact.near.normal, contact.near.close.contact.overlap);
        let arm = pair.radius_i - 0.5 * overlap;
        let record = ContactRecord {
            a: id[i],
            b: Partner::Grain(id[j]),
            center: array(&center),
            point: array(&center.minus(&normal.times(arm))),
            branch: array(&pair.apart),
            normal: array(normal),
            overlap,
            normal_force: array(&press),
            tangential_force: array(&friction),
        };
        Some(if id[i] < id[j] { record } else { record.turned() })
    }

    /// Tangential force on i at the whole step, from the stored spring force, which is half a step later.
    ///
    /// A sticking contact was advanced by half a step after its force was computed; the law with the reversed step undoes that. A sliding one was
    /// limited to Coulomb's limit and not advanced. Its spring is exactly at the limit, and the law with a zero step keeps it there.
    fn sliding_force(&self, contact: &Contact, press: &Vector3<f64>, spins: [Vector3<f64>; 2], spring: &Vector3<f64>) -> Vector3<f64> {
        // Tolerance between the limit of the sweep and the recomputed one: rounding errors of spring and dashpot before their difference was taken.
        let rounding = match self.context.precision() {
            Precision::F64 => 1e-10,
            Precision::Mixed => 3e-6,
            Precision::F32 => 1e-3,
        };
        let length = spring.length();
        if length == 0.0 && press.length() == 0.0 {
            return Vector3::zero();
        }
        let normal = &contact.near.normal;
        // A spring far above the limit is reduced to it.
        let beyond = spring.times(1e6 * (1.0 + press.length()) / length.max(1e-300));
        let limit = contact.act(&spins, beyond, 0.0)[1].length();
        let friction = coefficients::<f64>(contact.table, contact.row).friction;
        let at_rest = Contact {
            pair: &Pair {
                velocity: Vector3::zero(),
                ..*contact.pair
            },
            ..*contact
        };
        let elastic = at_rest.act(&spins, Vector3::zero(), 0.0)[0].length();
        let slides = (length - limit).abs() <= rounding * (limit + friction * elastic);
        // The stored spring has rotated with the contact already: the spin about the normal is omitted.
        let spins = spins.map(|spin| spin.minus(&normal.times(spin.dot(normal))));
        // The factor puts the spring above the limit in spite of rounding.
        let (share, step) = if slides { (2.0, 0.0) } else { (1.0, -self.context.stepping.dt) };
        contact.act(&spins, spring.times(share), step)[1]
    }

    /// The contact of grain i with the wall element of entry k, if it has a force, which the sweep stores.
    pub(crate) fn with_wall(&self, i: usize, k: usize) -> Option<ContactRecord> {
        let touch = &self.walls.wall_contacts[k * WALL_CONTACT..][..WALL_CONTACT];
        if touch[7] <= 0.0 {
            return None;
        }
        let element = &self.walls.elements[self.walls.list[k] as usize * ELEMENT..][..ELEMENT];
        let (point, distance, force) = (load::<f64>(touch, 0), touch[3], load::<f64>(touch, 4));
        let center = load::<f64>(&self.grains.fields.position, i * RECORD);
        let branch = center.minus(&point);
        let is_plane = element[9] == f64::from(PLANE);
        let normal = if is_plane {
            load(element, 3)
        } else {
            branch.times(1.0 / branch.length())
        };
        let press = normal.times(force.dot(&normal));
        Some(ContactRecord {
            a: self.grains.fields.id[i],
            b: Partner::Wall(element[10] as u32),
            center: array(&center),
            point: array(&point),
            branch: array(&branch),
            normal: array(&normal),
            overlap: self.grains.fields.position[i * RECORD + 3] - distance,
            normal_force: array(&press),
            tangential_force: array(&force.minus(&press)),
        })
    }
}

/// Two grains that overlap or attract each other, with the arguments of the laws.
#[derive(Clone, Copy)]
pub(crate) struct Contact<'a> {
    pub(crate) pair: &'a Pair<f64>,
    pub(crate) near: ExtendedGeometry<f64>,
    /// History of an extended contact, beside its tangential spring.
    pub extended_history: Option<ExtendedHistory<f64>>,
    pub(crate) row: usize,
    pub(crate) table: &'a [f64],
}

impl Contact<'_> {
    /// Normal and tangential force on i by the laws, with this tangential spring, over a step of this length.
    pub(crate) fn act(&self, spins: &[Vector3<f64>; 2], spring: Vector3<f64>, step: f64) -> [Vector3<f64>; 2] {
        let laws = coefficients(self.table, self.row);
        let contact_history = ContactHistory {
            force: spring,
            contact_radius: self.near.close.contact.contact_radius,
        };
        let force = match &self.extended_history {
            None => frictional_pair_contact(self.pair, &spins[0], &spins[1], &contact_history, &laws, step).force,
            Some(extended_history) => {
                let more = extended_coefficients(self.table, self.row);
                // No contact begins or ends here. Powers, which contain a division by the step, are not used.
                extended_contact(
                    self.pair,
                    &spins[0],
                    &spins[1],
                    &contact_history,
                    extended_history,
                    &laws,
                    &more,
                    step,
                )
                .outcome
                .force
            }
        };
        let press = self.near.normal.times(force.dot(&self.near.normal));
        [press, force.minus(&press)]
    }
}
