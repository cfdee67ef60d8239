//! The contacts that bear now, one by one.
//!
//! Sweeps keep what a contact remembers, not what it does: a record of every force would cost each step the traffic that only a look needs.
//! So the force of a single contact is found again, by the same laws, from the state in which the last sweep found it.

use crate::fields::Fields;
use crate::guard::Stop;
use crate::search::{Cells, pairs_within};
use crate::simulation::Simulation;
use crate::world::{Precision, Search, Vec3};
use seixo_laws::Vector3;
use seixo_laws::contact::{Imprint, Memory};
use seixo_sweeps::pair::{Near, Pair, depth_of, near, rub_together, stick_together};
use seixo_sweeps::sides::nearest_image;
use seixo_sweeps::views::{COMPOUND, ELEMENT, RECORD, TOUCH, coefficients, imprint_at, load, supplement};

/// What a grain touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Partner {
    /// The grain with this id.
    Grain(u32),
    /// The wall with this index into [`crate::world::World::walls`].
    Wall(u32),
}

/// A contact that bears: what grain a and its partner b do to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRecord {
    /// Id of grain a; of two grains the one with the smaller id.
    pub a: u32,
    /// What it touches.
    pub b: Partner,
    /// Center of a \[m\].
    pub center: Vec3,
    /// Contact point \[m\]: the middle of the overlap of two grains; the nearest point of a wall.
    pub point: Vec3,
    /// From the center of b, or from the nearest point of the wall, to the center of a \[m\].
    pub branch: Vec3,
    /// Unit normal from b to a.
    pub normal: Vec3,
    /// Overlap δ \[m\].
    pub overlap: f64,
    /// Normal force on a \[N\].
    pub normal_force: Vec3,
    /// Tangential force on a \[N\].
    pub tangential_force: Vec3,
}

impl ContactRecord {
    /// Force on a \[N\]; b gets the opposite.
    pub fn force(&self) -> Vec3 {
        [0, 1, 2].map(|k| self.normal_force[k] + self.tangential_force[k])
    }

    /// The same contact as b's, where b is a grain: ids exchanged, vectors turned around.
    fn turned(mut self) -> ContactRecord {
        if let Partner::Grain(id) = self.b {
            self.b = Partner::Grain(self.a);
            self.a = id;
            self.center = [0, 1, 2].map(|k| self.center[k] - self.branch[k]);
            for vector in [
                &mut self.branch,
                &mut self.normal,
                &mut self.normal_force,
                &mut self.tangential_force,
            ] {
                *vector = vector.map(|x| -x);
            }
        }
        self
    }
}

pub(crate) fn array(v: &Vector3<f64>) -> Vec3 {
    [v.x, v.y, v.z]
}

impl Simulation {
    /// Every contact that bears at [`Simulation::time`], once, in the order of ids. The forces of all contacts of a grain, the load on it, and what
    /// fluids do to it add up to its force.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn contacts_now(&mut self) -> Result<Vec<ContactRecord>, Stop> {
        self.observe()?;
        let mut records = Vec::new();
        if self.frictional {
            self.visit_touching(|simulation, i, j, of_i, _| records.extend(simulation.between(i as usize, j as usize, of_i)))?;
        } else {
            let near = self.near_pairs();
            records.extend(near.into_iter().filter_map(|(i, j)| self.between(i, j, &[0.0; COMPOUND])));
        }
        for i in 0..self.fields.len() {
            let touching = self.walls.row[i] as usize..self.walls.row[i + 1] as usize;
            records.extend(touching.filter_map(|k| self.with_wall(i, k)));
        }
        records.sort_by_key(|record| (record.a, record.b));
        Ok(records)
    }

    /// Pairs of places i, j of grains that may touch, each once. There is no list where nothing rubs, and on a GPU no cells of the host.
    fn near_pairs(&self) -> Vec<(usize, usize)> {
        let position = &self.fields.position;
        if position.is_empty() {
            return Vec::new();
        }
        let skin = self.cells.skin;
        let mut cells = Cells::new(position.chunks_exact(RECORD).map(|record| record[3]), Search::Auto, skin);
        (cells.sides, cells.kind) = (self.stepping.sides, self.sides);
        pairs_within(&self.device, cells, position, skin)
    }

    /// The contact of the grains at places i and j, if they touch or hold each other; `of_i` is what i remembers of it.
    fn between(&self, i: usize, j: usize, of_i: &[f64; COMPOUND]) -> Option<ContactRecord> {
        let Fields {
            id,
            position,
            velocity,
            material,
            ..
        } = &self.fields;
        let (at, other) = (i * RECORD, j * RECORD);
        let center = load::<f64>(position, at);
        let image = nearest_image(&center.minus(&load(position, other)), &self.stepping.sides, self.sides);
        let apart = image.apart;
        let slide = self.stepping.sides.slide.times(image.passed);
        let pair = Pair {
            depth: depth_of(&apart, position[at + 3] + position[other + 3]),
            apart,
            velocity: load::<f64>(velocity, at).minus(&load(velocity, other)).minus(&slide),
            radius_i: position[at + 3],
            radius_j: position[other + 3],
            mass_i: velocity[at + 3],
            mass_j: velocity[other + 3],
        };
        let holds = self.is_compound && imprint_at::<f64>(of_i, 0).holds > 0.0;
        if pair.depth <= 0.0 && !holds {
            return None;
        }
        let spins = [at, other].map(|at| {
            if self.frictional {
                load::<f64>(&self.fields.spin, at)
            } else {
                Vector3::zero()
            }
        });
        let contact = Contact {
            pair: &pair,
            near: near(&pair),
            imprint: self.is_compound.then(|| imprint_at(of_i, 0)),
            row: (material[i] * self.materials + material[j]) as usize,
            table: &self.table,
        };
        let press = contact.act(&spins, Vector3::zero(), 0.0)[0];
        let mut rub = Vector3::zero();
        if self.frictional {
            rub = self.rubbing(&contact, &press, spins, &load(of_i, 0));
        }
        let (normal, overlap) = (&contact.near.normal, contact.near.close.touch.overlap);
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
            tangential_force: array(&rub),
        };
        Some(if id[i] < id[j] { record } else { record.turned() })
    }

    /// The tangential force on i at the whole step, from the spring force half a step later that the contact remembers.
    ///
    /// A contact that sticks was advanced by half a step after it acted: the law with the step reversed takes it back. One that slides was
    /// cut to Coulomb's limit and not advanced; it is known by a spring exactly at the limit, and the law with no step leaves it there.
    fn rubbing(&self, contact: &Contact, press: &Vector3<f64>, spins: [Vector3<f64>; 2], spring: &Vector3<f64>) -> Vector3<f64> {
        // What the sweep's limit may differ by from the one found again: rounding, of spring and dashpot before one was taken from the other.
        let rounding = match self.precision() {
            Precision::F64 => 1e-10,
            Precision::Mixed => 3e-6,
            Precision::F32 => 1e-3,
        };
        let length = spring.length();
        if length == 0.0 && press.length() == 0.0 {
            return Vector3::zero();
        }
        let normal = &contact.near.normal;
        // A spring far beyond the limit is cut to it.
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
        // What is remembered has turned with the contact already: the twist about the normal is left out.
        let spins = spins.map(|spin| spin.minus(&normal.times(spin.dot(normal))));
        // Beyond the limit, whatever rounding did to it.
        let (share, step) = if slides { (2.0, 0.0) } else { (1.0, -self.stepping.dt) };
        contact.act(&spins, spring.times(share), step)[1]
    }

    /// The contact of the grain at place i with the wall element of entry k, if it bears; its force is kept by the sweep.
    fn with_wall(&self, i: usize, k: usize) -> Option<ContactRecord> {
        let touch = &self.walls.touches[k * TOUCH..][..TOUCH];
        if touch[7] <= 0.0 {
            return None;
        }
        let element = &self.walls.elements[self.walls.list[k] as usize * ELEMENT..][..ELEMENT];
        let (point, distance, force) = (load::<f64>(touch, 0), touch[3], load::<f64>(touch, 4));
        let center = load::<f64>(&self.fields.position, i * RECORD);
        let branch = center.minus(&point);
        let is_plane = element[9] > 0.0;
        let normal = if is_plane { load(element, 3) } else { branch.times(1.0 / distance) };
        let press = normal.times(force.dot(&normal));
        Some(ContactRecord {
            a: self.fields.id[i],
            b: Partner::Wall(element[10] as u32),
            center: array(&center),
            point: array(&point),
            branch: array(&branch),
            normal: array(&normal),
            overlap: self.fields.position[i * RECORD + 3] - distance,
            normal_force: array(&press),
            tangential_force: array(&force.minus(&press)),
        })
    }
}

/// Two grains that touch or hold each other, as the laws meet them.
#[derive(Clone, Copy)]
struct Contact<'a> {
    pair: &'a Pair<f64>,
    near: Near<f64>,
    /// What a compound contact remembers beside its tangential spring.
    imprint: Option<Imprint<f64>>,
    row: usize,
    table: &'a [f64],
}

impl Contact<'_> {
    /// Normal and tangential force on i by the laws, with this tangential spring, over a step of this length.
    fn act(&self, spins: &[Vector3<f64>; 2], spring: Vector3<f64>, step: f64) -> [Vector3<f64>; 2] {
        let laws = coefficients(self.table, self.row);
        let memory = Memory {
            force: spring,
            contact_radius: self.near.close.touch.contact_radius,
        };
        let force = match &self.imprint {
            None => rub_together(self.pair, &spins[0], &spins[1], &memory, &laws, step).force,
            Some(imprint) => {
                let more = supplement(self.table, self.row);
                // Nothing breaks or begins in a look: powers, which a step of no length would divide by, are not asked for.
                stick_together(self.pair, &spins[0], &spins[1], &memory, imprint, &laws, &more, step)
                    .outcome
                    .force
            }
        };
        let press = self.near.normal.times(force.dot(&self.near.normal));
        [press, force.minus(&press)]
    }
}
