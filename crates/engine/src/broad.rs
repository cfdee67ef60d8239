//! The broad phase of rigid bodies \[Silva 2010, § 5.3.4\], when lists are made anew: which bodies may touch anything until the next time, and with which of
//! their spheres. Only these are looked up among grains and walls.
//!
//! Every body has a box that holds all its spheres. Where a foreign sphere or a wall may come near to that, so have groups of a few spheres that lie
//! close together: coarse far from any contact, fine near one. A sphere that is not looked up would find none but those of its own body, which
//! lists drop: so lists are the same to the bit, whatever groups and boxes are like.

mod groups;

use crate::bodies::Bodies;
use crate::search::Cells;
use crate::simulation::Simulation;
use crate::walls::Walls;
use groups::Groups;
use seixo_device::{Cpu, Strided};
use seixo_sweeps::bodies::{FREE, is_ghost};
use seixo_sweeps::boxes::{Bounds, Spheres};
use seixo_sweeps::sides::{Sides, nearest_image};
use seixo_sweeps::views::{RECORD, load};
use std::collections::HashSet;

/// What may come near: spheres of another body or of none.
pub(crate) const GRAINS: u8 = 1;
/// Elements of walls.
pub(crate) const WALLS: u8 = 2;

/// Bodies and groups per part: the unit of work.
const BODIES_OF_PART: usize = 16;
const GROUPS_OF_PART: usize = 64;

/// Roundings of the largest number that a box is compared by, by which it is wider: what lists have as near by a rounding is near here, too.
const ROUNDINGS: f64 = 64.0;

/// What a rigid body may touch until the lists are made anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MayTouch {
    /// A fluid that feels it (F in \[Silva 2010\]).
    pub fluid: bool,
    /// A sphere of another body or of none, or a wall (C in \[Silva 2010\]).
    pub solid: bool,
}

/// What the broad phase of rigid bodies found when the lists were made last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BroadPhase {
    /// What each body may touch, in the order of [`Simulation::bodies`].
    pub bodies: Vec<MayTouch>,
    /// Spheres that bodies carry.
    pub spheres: usize,
    /// Those of them whose neighbors were looked for.
    pub among_grains: usize,
    /// Those of them that were compared with walls.
    pub among_walls: usize,
}

impl BroadPhase {
    /// How many bodies may touch nothing, fluids only, other solids only, and both (none, F, C and FC in \[Silva 2010\]).
    pub fn counts(&self) -> [usize; 4] {
        let mut counts = [0; 4];
        for body in &self.bodies {
            counts[usize::from(body.fluid) + 2 * usize::from(body.solid)] += 1;
        }
        counts
    }
}

/// Boxes of bodies and of groups of their spheres, and what may come near them.
#[derive(Default)]
pub(crate) struct Broad {
    groups: Groups,
    of_groups: Vec<Bounds>,
    of_bodies: Vec<Bounds>,
    /// [`GRAINS`] and [`WALLS`] that may come near each group; empty where nothing is known.
    near_groups: Vec<u8>,
    /// Likewise of each body.
    near_bodies: Vec<u8>,
}

impl Broad {
    /// Forgets what it knew: everything may be near everything.
    fn forget(&mut self) {
        self.near_groups.clear();
        self.near_bodies.clear();
    }

    /// Whether nothing is known.
    fn is_idle(&self) -> bool {
        self.near_groups.is_empty()
    }

    /// Whether [`GRAINS`] or [`WALLS`] may be near to the grain that is this member of a body.
    pub fn may_meet(&self, mark: u8, member: u32) -> bool {
        member == FREE || self.is_idle() || self.near_groups[self.groups.of[member as usize] as usize] & mark != 0
    }

    /// Puts boxes around bodies and groups, where their spheres are now; nothing is known to be near any of them yet. `beyond` is what, beside
    /// coordinates, they are compared by \[m\].
    fn put_boxes(&mut self, device: &Cpu, bodies: &Bodies, position: &[f64], (sides, kind): (&Sides<f64, f64>, u32), beyond: f64) {
        self.groups.follow(bodies);
        let Broad {
            groups,
            of_groups,
            of_bodies,
            near_groups,
            near_bodies,
        } = self;
        let groups = &*groups;
        of_groups.resize(groups.len(), Bounds::NOTHING);
        let data = (Strided {
            items: &mut of_groups[..],
            per_part: GROUPS_OF_PART,
        },);
        let of_part = |part: usize, (boxes,): (Strided<Bounds>,)| {
            for (slot, bounds) in boxes.items.iter_mut().enumerate() {
                let group = part * GROUPS_OF_PART + slot;
                let at = |m: u32| bodies.place[m as usize] as usize * RECORD;
                // In a periodic domain, of all spheres of a body the images nearest to its first one.
                let first = load::<f64>(position, at(bodies.row[groups.body[group] as usize]));
                let whole = groups.members(group).iter().fold(Bounds::NOTHING, |whole, &m| {
                    let apart = load::<f64>(position, at(m)).minus(&first);
                    let center = first.plus(&nearest_image::<f64, f64>(&apart, sides, kind).apart);
                    whole.with(&Bounds::around(&center, position[at(m) + 3]))
                });
                *bounds = whole.widened(ROUNDINGS * f64::EPSILON * (whole.farthest() + beyond));
            }
        };
        device.run(groups.len().div_ceil(GROUPS_OF_PART), data, of_part);
        let whole = |row: &[u32]| {
            let of_body = &of_groups[row[0] as usize..row[1] as usize];
            of_body.iter().fold(Bounds::NOTHING, |whole, bounds| whole.with(bounds))
        };
        of_bodies.clear();
        of_bodies.extend(groups.row.windows(2).map(whole));
        near_groups.clear();
        near_groups.resize(groups.len(), 0);
        near_bodies.clear();
        near_bodies.resize(bodies.len(), 0);
    }

    /// Marks the bodies that something comes near and, of these, the groups.
    fn look(&mut self, device: &Cpu, mark: u8, comes_near: impl Fn(&Bounds, usize) -> bool + Sync) {
        let Broad {
            groups,
            of_groups,
            of_bodies,
            near_groups,
            near_bodies,
        } = self;
        let (groups, of_groups, of_bodies) = (&*groups, &of_groups[..], &of_bodies[..]);
        let data = (Strided {
            items: &mut near_bodies[..],
            per_part: BODIES_OF_PART,
        },);
        let of_part = |part: usize, (near,): (Strided<u8>,)| {
            for (slot, near) in near.items.iter_mut().enumerate() {
                let b = part * BODIES_OF_PART + slot;
                if comes_near(&of_bodies[b], b) {
                    *near |= mark;
                }
            }
        };
        device.run(of_bodies.len().div_ceil(BODIES_OF_PART), data, of_part);
        let near_bodies = &near_bodies[..];
        let data = (Strided {
            items: &mut near_groups[..],
            per_part: GROUPS_OF_PART,
        },);
        let of_part = |part: usize, (near,): (Strided<u8>,)| {
            for (slot, near) in near.items.iter_mut().enumerate() {
                let group = part * GROUPS_OF_PART + slot;
                let b = groups.body[group] as usize;
                // The box of a body of one group is that of the group.
                let is_only = groups.row[b + 1] - groups.row[b] == 1;
                if near_bodies[b] & mark != 0 && (is_only || comes_near(&of_groups[group], b)) {
                    *near |= mark;
                }
            }
        };
        device.run(of_groups.len().div_ceil(GROUPS_OF_PART), data, of_part);
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let boxes = (self.of_groups.capacity() + self.of_bodies.capacity()) * size_of::<Bounds>();
        let marks = self.near_groups.capacity() + self.near_bodies.capacity();
        self.groups.bytes() + (boxes + marks) as u64
    }
}

/// What boxes are compared by beside coordinates \[m\]: radii, skins, and periods of the domain.
fn beyond(cells: &Cells, walls: &Walls) -> f64 {
    let periods = [cells.sides.length.x, cells.sides.length.y, cells.sides.length.z];
    let closed = (0..3).filter(|&axis| !cells.sides.is_open(axis));
    closed.fold(cells.largest_radius() + cells.skin + walls.skin, |sum, axis| sum + periods[axis])
}

impl Simulation {
    /// Lists pairs of grains that are near each other, but for those of one body; of grains that bodies carry, only those are looked up that may be
    /// near to any other.
    pub(crate) fn list_pairs(&mut self) {
        if self.lists_once() {
            self.fill_rows::<true>();
        } else {
            self.fill_rows::<false>();
        }
        if self.settings.divisible {
            self.pairs.sort_rows(&self.device, &self.fields.id);
        }
    }

    /// Fills the rows of pairs; with `ONCE`, a pair inside a part stands in one row.
    fn fill_rows<const ONCE: bool>(&mut self) {
        let n = self.fields.len();
        if self.has_ghosts || !self.carries {
            let (member, has_ghosts) = (&self.fields.member, self.has_ghosts);
            let is_own = |i: usize| !has_ghosts || !is_ghost(member[i]);
            self.pairs
                .fill_rows_of::<ONCE>(&self.device, &self.cells.index(), &self.fields.position, n, is_own);
            self.drop_pairs_inside_bodies();
            return;
        }
        self.bodies.find_places(&self.fields.member);
        let Simulation {
            device,
            settings,
            fields,
            bodies,
            cells,
            pairs,
            walls,
            broad,
            ..
        } = self;
        let (bodies, cells, fields) = (&*bodies, &*cells, &*fields);
        let touching = bodies.that_touch();
        // A body of one sphere is found in one look.
        if settings.broad_phase && bodies.body_of.len() > bodies.len() {
            broad.put_boxes(device, bodies, &fields.position, (&cells.sides, cells.kind), beyond(cells, walls));
            let spheres = Spheres {
                position: &fields.position,
                member: &fields.member,
                body_of: &touching,
                grids: &cells.grids,
                shapes: &cells.shapes,
                first: &cells.first,
                skin: cells.skin,
            };
            let reach = cells.largest_radius() + cells.skin;
            broad.look(device, GRAINS, |bounds, b| {
                let own = spheres.body_of[bodies.row[b] as usize];
                bounds.any_image(reach, &cells.sides, cells.kind, |image| spheres.are_near(image, own))
            });
        } else {
            broad.forget();
        }
        let is_wanted = |i: usize| broad.may_meet(GRAINS, fields.member[i]);
        pairs.fill_rows_of::<ONCE>(device, &cells.index(), &fields.position, n, is_wanted);
        pairs.drop_inside_bodies(&fields.member, &touching);
    }

    /// Finds bodies, and groups of their spheres, that may be near to walls; what is held touches none.
    pub(crate) fn look_for_walls(&mut self) {
        let Simulation {
            device,
            bodies,
            cells,
            walls,
            broad,
            ..
        } = self;
        if broad.is_idle() {
            return;
        }
        let (bodies, cells, walls) = (&*bodies, &*cells, &*walls);
        // Walls have no images: they meet spheres where these are, which is in the domain.
        broad.look(device, WALLS, |bounds, b| {
            !bodies.held.holds(b) && bounds.any_image(0.0, &cells.sides, cells.kind, |image| walls.may_come_near(image))
        });
    }

    /// What the broad phase of rigid bodies found when the lists were made last. `None` where there was none: without bodies of several spheres, on a
    /// GPU, and if [`crate::world::Settings::broad_phase`] is off.
    ///
    /// # Panics
    /// As [`Simulation::ledger`].
    pub fn broad_phase(&self) -> Option<BroadPhase> {
        if self.is_remote() || self.broad.is_idle() {
            return None;
        }
        self.assert_observed();
        let wet = self.flow.as_ref().map_or_else(HashSet::new, |flow| flow.bodies_near_fluid());
        let bodies = self.bodies.id.iter().zip(&self.broad.near_bodies);
        let carried = self.fields.member.iter().filter(|&&member| member != FREE);
        let marked = |mark: u8| carried.clone().filter(|&&member| self.broad.may_meet(mark, member)).count();
        Some(BroadPhase {
            bodies: bodies
                .map(|(id, &near)| MayTouch {
                    fluid: wet.contains(id),
                    solid: near != 0,
                })
                .collect(),
            spheres: self.bodies.body_of.len(),
            among_grains: marked(GRAINS),
            among_walls: marked(WALLS),
        })
    }
}
