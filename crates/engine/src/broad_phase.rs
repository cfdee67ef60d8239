//! Broad phase of rigid bodies \[Silva 2010, § 5.3.4\], at each rebuild of the lists.
//!
//! It finds which bodies may have contacts until the next rebuild, and with which of their spheres. Only these spheres are searched among grains and
//! walls. Each body has a bounding box of all its spheres. If another sphere or a wall may be near this box, the boxes of groups of a few close
//! spheres are tested, too. So the test is coarse far from contacts and fine near them. A skipped sphere would have neighbors in its own body only,
//! which lists omit. So lists have the same bits with any groups and boxes.
//!
//! Where bodies are on a GPU, the host has their poses only. Then boxes follow from these and are compared with boxes of other bodies, as in
//! \[Silva 2010, Algorithm 7\], and the GPU searches the spheres that are left.

pub(crate) mod groups;
pub(crate) mod sorted_boxes;

use crate::bodies::Bodies;
use crate::search::Cells;
use crate::walls::Walls;
use groups::Groups;
use seixo_device::{Cpu, Strided};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::{FREE, is_carried};
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::layout::{RECORD, load};
use sorted_boxes::SortedBoxes;

/// Mark: spheres of another body or free grains may be near.
pub(crate) const GRAINS: u8 = 1;
/// Mark: elements of walls may be near.
pub(crate) const WALLS: u8 = 2;

/// Number of bodies and groups per part, the unit of work.
const BODIES_OF_PART: usize = 16;
const GROUPS_OF_PART: usize = 64;

/// Margin of a box, in roundings of the largest number that it is compared with. So pairs that lists accept by a rounding error are near here, too.
const ROUNDINGS: f64 = 64.0;

/// Largest length of a body, as a share of a period, for which only the nearest images of two bodies can be near each other, also with sliding sides:
/// their centers are at most one and a half periods apart, and two bodies are shorter than the rest of two periods.
const LARGEST_SHARE: f64 = 0.25;

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
    /// Radius of each member while a GPU has the grains \[m\].
    radius: Vec<f64>,
    /// Box of the centers of all free grains on a GPU, if there are any.
    pub(crate) free: Option<Bounds>,
    sorted: SortedBoxes,
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

    /// Updates the bounding boxes of bodies and groups to their current spheres, and clears all marks. `sphere_of` gives the center and radius of a
    /// member of a body \[m\]. Coordinates have a relative rounding error, and are compared with other lengths whose sum is `beyond` \[m\].
    pub(crate) fn update_bounding_boxes(
        &mut self,
        device: &Cpu,
        bodies: &Bodies,
        (rounding, beyond): (f64, f64),
        sphere_of: impl Fn(usize, u32) -> (Vector3<f64>, f64) + Sync,
    ) {
        self.groups.follow(bodies);
        let BoundingVolumes {
            groups,
            of_groups,
            of_bodies,
            near_groups,
            near_bodies,
            ..
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
                let b = groups.body[group] as usize;
                let whole = groups.members(group).iter().fold(Bounds::NOTHING, |whole, &m| {
                    let (center, radius) = sphere_of(b, m);
                    whole.with(&Bounds::around(&center, radius))
                });
                *bounds = whole.widened(ROUNDINGS * rounding * (whole.farthest() + beyond));
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

    /// As [`BoundingVolumes::update_bounding_boxes`], from the poses of bodies, which may extend beyond periodic sides.
    pub(crate) fn update_from_poses(&mut self, device: &Cpu, bodies: &Bodies, lengths: (f64, f64)) {
        let radius = std::mem::take(&mut self.radius);
        self.update_bounding_boxes(device, bodies, lengths, |b, m| {
            let center = load::<f64>(&bodies.center, b * RECORD).plus(&bodies.arm(m));
            (center, radius[m as usize])
        });
        self.radius = radius;
    }

    /// Groups the members of bodies, and stores their radii, before a GPU takes these grains.
    pub(crate) fn keep_spheres(&mut self, bodies: &Bodies, member: &[u32], position: &[f64]) {
        self.groups.follow(bodies);
        self.radius.resize(bodies.body_of.len(), 0.0);
        for (&m, record) in member.iter().zip(position.chunks_exact(RECORD)).filter(|(m, _)| is_carried(**m)) {
            self.radius[m as usize] = record[3];
        }
    }

    /// Number of groups, and the group of each member.
    pub(crate) fn groups_of_members(&self) -> (usize, &[u32]) {
        (self.groups.len(), &self.groups.of)
    }

    /// Marks of each group; empty if nothing is known.
    pub(crate) fn marks(&self) -> &[u8] {
        &self.near_groups
    }

    /// Marks the bodies, and groups of their spheres, whose boxes are within the skin of the box of another body, or of the free grains. `touching`
    /// is the body of each member for the exclusion of contacts.
    pub(crate) fn look_at_boxes(&mut self, device: &Cpu, bodies: &Bodies, touching: &[u32], cells: &Cells) {
        let longest = self.of_bodies.iter().flat_map(Bounds::edges).fold(0.0, f64::max);
        if closed_periods(cells).any(|period| longest > LARGEST_SHARE * period) {
            self.look(device, GRAINS, |_, _| true);
            return;
        }
        let mut others = std::mem::take(&mut self.sorted);
        let owner = |b: usize| touching[bodies.row[b] as usize];
        let free = self.free.map(|centers| (centers.widened(cells.largest_radius()), FREE));
        let of_bodies = self.of_bodies.iter().enumerate().map(|(b, bounds)| (*bounds, owner(b)));
        others.fill(of_bodies.chain(free));
        // A box may extend beyond a periodic side by its whole length, that of the free grains by their radius.
        let reach = longest + cells.largest_radius() + 2.0 * cells.skin;
        self.look(device, GRAINS, |bounds, b| {
            let near = bounds.widened(cells.skin);
            near.any_image(reach, &cells.sides, cells.kind, |image| others.are_near(image, owner(b)))
        });
        self.sorted = others;
    }

    /// Marks the bodies that are near other objects and, of these, the groups.
    pub(crate) fn look(&mut self, device: &Cpu, mark: u8, comes_near: impl Fn(&Bounds, usize) -> bool + Sync) {
        let BoundingVolumes {
            groups,
            of_groups,
            of_bodies,
            near_groups,
            near_bodies,
            ..
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
        let radii = self.radius.capacity() * size_of::<f64>();
        self.groups.bytes() + self.sorted.bytes() + (boxes + marks + radii) as u64
    }
}

/// Sum of the lengths with which boxes are compared, besides coordinates \[m\]: radii, skins, and periods of the domain.
pub(crate) fn beyond(cells: &Cells, walls: &Walls) -> f64 {
    closed_periods(cells).fold(cells.largest_radius() + cells.skin + walls.skin, |sum, period| sum + period)
}

/// Lengths of the domain between periodic sides \[m\].
fn closed_periods(cells: &Cells) -> impl Iterator<Item = f64> {
    let periods = [cells.sides.length.x, cells.sides.length.y, cells.sides.length.z];
    let closed = (0..3).filter(move |&axis| !cells.sides.is_open(axis));
    closed.map(move |axis| periods[axis])
}
