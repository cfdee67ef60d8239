//! Grains that another simulation saved, with which a world starts.

use super::{Body, Grains, PolyhedralShape, Vec3, array, vector};
use seixo_laws::Quaternion;
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::{EXTENDED_HISTORY_STRIDE, RECORD, WALL_CONTACT};
use seixo_sweeps::motion::StepParameters;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Grains that another simulation saved: where they are, how they move, and what their contacts and bonds remember. [`SavedGrains::of`] reads them from
/// the state of that simulation.
///
/// Rigid bodies with prescribed motion are single grains here: the motion belongs to the other world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedGrains {
    /// Grains and rigid bodies, with indices of materials, groups and shapes. Those of the other world are to be replaced.
    pub grains: Grains,
    /// Of each grain.
    pub(crate) forces: Vec<SavedForces>,
    /// Of each body: stored velocity \[m/s\], and angular momentum \[kg m²/s\].
    pub(crate) of_bodies: Vec<[Vec3; 2]>,
    pub(crate) contacts: Vec<SavedContact>,
    pub(crate) wall_contacts: Vec<SavedWallContact>,
    /// Contacts of pairs with a polyhedral grain, in the order of their ids.
    pub(crate) shape_contacts: Vec<SavedShapeContacts>,
    /// Contacts of polyhedral grains with walls, in the order of the ids of the grains.
    pub(crate) shape_wall_contacts: Vec<SavedShapeContacts>,
    /// Digests of the shapes of the other world.
    pub(crate) shape_digests: Vec<u64>,
    pub(crate) bonds: Vec<SavedBond>,
    /// Gravitational acceleration there \[m/s²\].
    pub(crate) gravity: Vec3,
    /// Time by which velocities at whole steps were ahead of the stored ones \[s\].
    pub(crate) velocity_lead: f64,
    /// Powers of all contacts in the last step.
    pub(crate) power_sums: Option<PowerSums<f64>>,
}

/// Forces on a grain in the last step, and what follows from them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SavedForces {
    /// Record of the force \[N\].
    pub force: [f64; RECORD],
    /// Torque \[N m\].
    pub torque: Vec3,
    /// Stored velocity \[m/s\].
    pub velocity: Vec3,
    /// Stored angular velocity \[rad/s\].
    pub spin: Vec3,
    /// Orientation, a unit quaternion w x y z; `None` where grains had none.
    pub orientation: Option<[f64; 4]>,
    /// Stored angular momentum \[kg m²/s\]; `None` for a grain of a body, and where no grain was polyhedral.
    pub momentum: Option<Vec3>,
}

/// History of a contact, with zeros for values that this kind of contact did not have.
pub(crate) type SavedHistory = [f64; EXTENDED_HISTORY_STRIDE];

/// A contact of two grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SavedContact {
    pub ids: [u32; 2],
    pub of_first: SavedHistory,
    /// Where it is not the opposite of that of the first.
    pub of_second: Option<SavedHistory>,
}

/// A contact of a grain and a wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SavedWallContact {
    pub id: u32,
    pub record: [f64; WALL_CONTACT],
    pub history: SavedHistory,
}

/// Numbers of the load of a pair with a polyhedral grain, or of such a grain at a wall: force and torque on the first grain; direction, or point on the
/// wall; energies; excess of the overlap, or overlap; radius through which it conducts.
pub(crate) type LoadNumbers = [f64; OF_LOAD];
pub(crate) const OF_LOAD: usize = 13;

/// All contacts of a pair with a polyhedral grain, or of a polyhedral grain with a wall.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SavedShapeContacts {
    /// Ids of two grains, or that of the grain and the number of an element of the walls there.
    pub ids: [u32; 2],
    /// Keys of the contacts.
    pub keys: Vec<u32>,
    /// Their histories, [`RECORD`] numbers each.
    pub histories: Vec<f64>,
    /// What they did in the last step.
    pub load: LoadNumbers,
}

/// A bond that holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SavedBond {
    /// Ids of the grains, in the order of the bond.
    pub ids: [u32; 2],
    /// Row of its parameters in the other world.
    pub row: u32,
    /// Its record, whose vectors are in the frame of its first grain.
    pub record: [f64; seixo_sweeps::bonds::BOND],
}

impl From<Grains> for SavedGrains {
    /// Grains of which nothing else was saved.
    fn from(grains: Grains) -> SavedGrains {
        SavedGrains {
            grains,
            ..SavedGrains::default()
        }
    }
}

/// Why these shapes are not those that grains had where shapes had these digests, with the numbers of the `used` ones in the order of the table, from
/// one; `None` if they are. Orientations and contact histories are those of the axes and features of a shape.
pub(crate) fn flaw_of_shapes(used: impl Iterator<Item = u32>, digests: &[u64], shapes: &[PolyhedralShape]) -> Option<String> {
    let used: BTreeSet<u32> = used.filter(|&number| number > 0).collect();
    used.into_iter().find_map(|number| {
        let index = number as usize - 1;
        let Some(shape) = shapes.get(index) else {
            return Some("its grains have shapes that those of the scene do not have".to_owned());
        };
        let problem = match digests.get(index) {
            Some(digest) if *digest == shape.digest() => return None,
            Some(_) => "had other axes, vertices or sizes when it was written",
            None => "may have had other axes when it was written, by a version that did not save which",
        };
        Some(format!("shape `{}` {problem}", shape.name))
    })
}

impl SavedGrains {
    /// Why these shapes are not those that the grains had when they were saved, as words that follow "it does not fit:"; `None` if they are. The shapes
    /// are those of the other world, in its order.
    pub fn flaw_of_shapes(&self, shapes: &[PolyhedralShape]) -> Option<String> {
        flaw_of_shapes(self.grains.shape.iter().copied(), &self.shape_digests, shapes)
    }

    /// Keeps some grains, by their ids, and rigid bodies all of whose grains are kept; contacts and bonds stay where both ends do.
    ///
    /// ```
    /// use seixo_engine::world::SavedGrains;
    /// let mut saved = SavedGrains::default();
    /// saved.grains.push(7, [0.0; 3], [0.0; 3], [0.0; 3], 1e-3, 0, 0);
    /// saved.retain(|id| id != 7);
    /// assert!(saved.grains.is_empty());
    /// ```
    pub fn retain(&mut self, keeps: impl Fn(u32) -> bool) {
        let mut kept: HashSet<u32> = self.grains.id.iter().copied().filter(|&id| keeps(id)).collect();
        let mut of_bodies = std::mem::take(&mut self.of_bodies).into_iter();
        let all = std::mem::take(&mut self.grains);
        for body in &all.bodies {
            let motion = of_bodies.next();
            if body.carries.iter().all(|(id, _)| kept.contains(id)) {
                self.grains.bodies.push(body.clone());
                self.of_bodies.extend(motion);
            } else {
                body.carries.iter().for_each(|(id, _)| {
                    kept.remove(id);
                });
            }
        }
        let forces = std::mem::take(&mut self.forces);
        for k in (0..all.len()).filter(|&k| kept.contains(&all.id[k])) {
            self.grains.push_from(&all, k);
            self.forces.extend(forces.get(k));
        }
        self.contacts.retain(|contact| contact.ids.iter().all(|id| kept.contains(id)));
        self.wall_contacts.retain(|contact| kept.contains(&contact.id));
        self.shape_contacts
            .retain(|contacts| contacts.ids.iter().all(|id| kept.contains(id)));
        self.shape_wall_contacts.retain(|contacts| kept.contains(&contacts.ids[0]));
        self.bonds.retain(|bond| bond.ids.iter().all(|id| kept.contains(id)));
    }

    /// Rotates everything about the origin by a unit quaternion w x y z, and then displaces it \[m\]. Contact histories and gravity rotate with the
    /// grains, which do not move against each other.
    pub fn place(&mut self, [w, x, y, z]: [f64; 4], shift: Vec3) {
        let rotation = Quaternion { w, x, y, z };
        let is_rotated = [x, y, z] != [0.0; 3];
        let turn = |v: &mut Vec3| {
            if is_rotated {
                *v = array(&rotation.to_space(&vector(*v)));
            }
        };
        let turn_part = |numbers: &mut [f64]| {
            if let Some(v) = numbers.first_chunk_mut::<3>() {
                turn(v);
            }
        };
        let turn_history = |history: &mut SavedHistory| {
            // The tangential spring, and the rolling torque; all else counts along the normal.
            turn_part(&mut history[..3]);
            turn_part(&mut history[4..7]);
        };
        let put = |v: &mut Vec3| {
            turn(v);
            v.iter_mut().zip(shift).for_each(|(x, by)| *x += by);
        };
        let turn_orientation = |orientation: &mut [f64; 4]| {
            if is_rotated {
                let [w, x, y, z] = *orientation;
                let Quaternion { w, x, y, z } = rotation.after(&Quaternion { w, x, y, z }).normalized();
                *orientation = [w, x, y, z];
            }
        };
        let Grains {
            position,
            velocity,
            angular_velocity,
            orientation,
            bodies,
            ..
        } = &mut self.grains;
        orientation.iter_mut().for_each(turn_orientation);
        position.iter_mut().for_each(put);
        velocity.iter_mut().chain(angular_velocity).for_each(turn);
        for body in bodies {
            put(&mut body.center);
            turn_orientation(&mut body.orientation);
            turn(&mut body.velocity);
            turn(&mut body.angular_velocity);
        }
        self.of_bodies.as_flattened_mut().iter_mut().for_each(turn);
        for forces in &mut self.forces {
            turn_part(&mut forces.force);
            [&mut forces.torque, &mut forces.velocity, &mut forces.spin]
                .into_iter()
                .for_each(turn);
            forces.orientation.as_mut().into_iter().for_each(turn_orientation);
            forces.momentum.as_mut().into_iter().for_each(turn);
        }
        for contact in &mut self.contacts {
            turn_history(&mut contact.of_first);
            contact.of_second.iter_mut().for_each(turn_history);
        }
        for contact in &mut self.wall_contacts {
            // The nearest point of the wall, and the force on the grain.
            if let Some(point) = contact.record.first_chunk_mut::<3>() {
                put(point);
            }
            turn_part(&mut contact.record[4..7]);
            turn_history(&mut contact.history);
        }
        for contacts in self.shape_contacts.iter_mut().chain(&mut self.shape_wall_contacts) {
            contacts.histories.chunks_exact_mut(RECORD).for_each(turn_part);
            // The force, and the torque on the first grain.
            turn_part(&mut contacts.load[..3]);
            turn_part(&mut contacts.load[3..6]);
        }
        for contacts in &mut self.shape_contacts {
            // The direction of the nearest points.
            turn_part(&mut contacts.load[6..9]);
        }
        for contacts in &mut self.shape_wall_contacts {
            // The point on the wall.
            if let Some(point) = contacts.load[6..].first_chunk_mut::<3>() {
                put(point);
            }
        }
        turn(&mut self.gravity);
    }

    /// Bonds that hold: ids of their grains, and the index of their kind in the other world; `None` for a bond with a stiffness of its own, where that
    /// world has this many `kinds`.
    pub fn bonds(&self, kinds: usize) -> impl Iterator<Item = ([u32; 2], Option<usize>)> + '_ {
        let kind = move |bond: &SavedBond| Some(bond.row as usize).filter(|&row| row < kinds);
        self.bonds.iter().map(move |bond| (bond.ids, kind(bond)))
    }

    /// Keeps the bonds of some kinds, by their indices in the other world.
    pub fn retain_bonds(&mut self, keeps: impl Fn(usize) -> bool) {
        self.bonds.retain(|bond| keeps(bond.row as usize));
    }

    /// Indices of free grains, in their order in the table.
    pub fn free_grains(&self) -> Vec<usize> {
        let carried = self.grains.carriers();
        (0..self.grains.len())
            .filter(|&k| !carried.contains_key(&self.grains.id[k]))
            .collect()
    }

    /// Rigid bodies, with the indices of their grains in the order in which they carry them.
    pub fn bodies(&self) -> Vec<(&Body, Vec<usize>)> {
        let places: HashMap<u32, usize> = self.grains.id.iter().copied().zip(0..).collect();
        let members = |body: &Body| body.carries.iter().filter_map(|(id, _)| places.get(id).copied()).collect();
        self.grains.bodies.iter().map(|body| (body, members(body))).collect()
    }

    /// The parameters of steps there, as far as stored velocities depend on them: a velocity at a whole step stays the same with another time step,
    /// integrator or gravity, and no bit changes if nothing differs.
    pub(crate) fn stepping(&self, now: &StepParameters<f64, f64>) -> StepParameters<f64, f64> {
        StepParameters {
            velocity_lead: self.velocity_lead,
            gravity: vector(self.gravity),
            ..*now
        }
    }
}
