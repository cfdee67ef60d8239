//! Broad phase of rigid bodies \[Silva 2010, § 5.3.4\], at each rebuild of the lists.
//!
//! It finds which bodies may have contacts until the next rebuild, and with which of their spheres. Only these spheres are searched among grains and
//! walls. Each body has a bounding box of all its spheres. If another sphere or a wall may be near this box, the boxes of groups of a few close
//! spheres are tested, too. So the test is coarse far from contacts and fine near them. A skipped sphere would have neighbors in its own body only,
//! which lists omit. So lists have the same bits with any groups and boxes.

pub(crate) mod groups;

use crate::bodies::Bodies;
use crate::search::Cells;
use crate::walls::Walls;
use groups::Groups;
use seixo_device::{Cpu, Strided};
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::periodic::{PeriodicBoundaries, nearest_image};

/// Mark: spheres of another body or free grains may be near.
pub(crate) const GRAINS: u8 = 1;
/// Mark: elements of walls may be near.
pub(crate) const WALLS: u8 = 2;

/// Number of bodies and groups per part, the unit of work.
const BODIES_OF_PART: usize = 16;
const GROUPS_OF_PART: usize = 64;

/// Margin of a box, in roundings of the largest number that it is compared with. So pairs that lists accept by a rounding error are near here, too.
const ROUNDINGS: f64 = 64.0;

/// Objects with which a rigid body may have contacts until the next rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PossibleContacts {
    /// A fluid that interacts with it (F in \[Silva 2010\]).
    pub fluid: bool,
    /// A sphere of another body, a free grain, or a wall (C in \[Silva 2010\]).
    pub solid: bool,
}

/// Result of the broad phase of rigid bodies at the last rebuild.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BroadPhase {
    /// Possible contacts of each body, in the order of [`crate::Simulation::bodies`].
    pub bodies: Vec<PossibleContacts>,
    /// Number of spheres in bodies.
    pub spheres: usize,
    /// Number of these whose neighbors were searched among grains.
    pub near_grains: usize,
    /// Number of these that were compared with walls.
    pub near_walls: usize,
}

impl BroadPhase {
    /// Numbers of bodies that may have contacts with nothing, fluids only, other solids only, and both (none, F, C and FC in \[Silva 2010\]).
    pub fn counts(&self) -> [usize; 4] {
        let mut counts = [0; 4];
        for body in &self.bodies {
            counts[usize::from(body.fluid) + 2 * usize::from(body.solid)] += 1;
        }
        counts
    }
}

/// Bounding boxes of bodies and of groups of their spheres, and marks of near objects.
#[derive(Default)]
pub(crate) struct BoundingVolumes {
    groups: Groups,
    of_groups: Vec<Bounds>,
    of_bodies: Vec<Bounds>,
    /// Marks [`GRAINS`] and [`WALLS`] of each group; empty if nothing is known.
    near_groups: Vec<u8>,
    /// The same marks of each body.
    pub(crate) near_bodies: Vec<u8>,
}

impl BoundingVolumes {
    /// Clears the marks: any object may be near any other.
    pub(crate) fn forget(&mut self) {
        self.near_groups.clear();
        self.near_bodies.clear();
    }

    /// Whether there are no marks.
    pub(crate) fn is_idle(&self) -> bool {
        self.near_groups.is_empty()
    }

    /// Whether [`GRAINS`] or [`WALLS`], as in `mark`, may be near the grain of this member of a body.
    pub fn may_contact(&self, mark: u8, member: u32) -> bool {
        member == FREE || self.is_idle() || self.near_groups[self.groups.of[member as usize] as usize] & mark != 0
    }

    /// Updates the bounding boxes of bodies and groups to the current positions, and clears all marks. `beyond` is the sum of lengths, besides
    /// coordinates, with which boxes are compared \[m\].
    pub(crate) fn update_bounding_boxes(
        &mut self,
        device: &Cpu,
        bodies: &Bodies,
        position: &[f64],
        (sides, kind): (&PeriodicBoundaries<f64, f64>, u32),
        beyond: f64,
    ) {
        self.groups.follow(bodies);
        let BoundingVolumes {
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
                // In a periodic domain, the images of all spheres of a body that are nearest to its first one.
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

    /// Marks the bodies that are near other objects and, of these, the groups.
    pub(crate) fn look(&mut self, device: &Cpu, mark: u8, comes_near: impl Fn(&Bounds, usize) -> bool + Sync) {
        let BoundingVolumes {
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
                // If a body has one group, both have the same box.
                let is_only = groups.row[b + 1] - groups.row[b] == 1;
                if near_bodies[b] & mark != 0 && (is_only || comes_near(&of_groups[group], b)) {
                    *near |= mark;
                }
            }
        };
        device.run(of_groups.len().div_ceil(GROUPS_OF_PART), data, of_part);
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let boxes = (self.of_groups.capacity() + self.of_bodies.capacity()) * size_of::<Bounds>();
        let marks = self.near_groups.capacity() + self.near_bodies.capacity();
        self.groups.bytes() + (boxes + marks) as u64
    }
}

/// Sum of the lengths with which boxes are compared, besides coordinates \[m\]: radii, skins, and periods of the domain.
pub(crate) fn beyond(cells: &Cells, walls: &Walls) -> f64 {
    let periods = [cells.sides.length.x, cells.sides.length.y, cells.sides.length.z];
    let closed = (0..3).filter(|&axis| !cells.sides.is_open(axis));
    closed.fold(cells.largest_radius() + cells.skin + walls.skin, |sum, axis| sum + periods[axis])
}
