//! Periodic images of walls: additional elements that belong to the same wall.
//!
//! Grains have contacts with a wall and with its images by whole lengths of the domain, as they have with images of grains. Images exist of those
//! elements whose image may be near a grain, at most one length away. They follow the elements of all walls, so elements keep their
//! indices. Where an element and an image coincide, a grain has one contact point, which counts once. A grain that is wrapped at a side
//! has a contact with another image of the same element, and its contact history is carried over.

use super::grid::bounds_of;
use super::motion::{is_moving, rotation_axis};
use super::{Walls, vector};
use crate::refusal::WorldError;
use crate::world::{Domain, Vec3, WallMotion, WallShape};
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::layout::{ELEMENT, TRIANGLE};
use std::collections::BTreeSet;

/// Names of the axes.
const AXES: [&str; 3] = ["x", "y", "z"];

/// Largest difference of two directions that count as equal \[-\].
const SAME: f64 = 1e-9;

/// Largest displacement of a wall, as a share of the domain's length, for which images one length away suffice.
const MAX_DISPLACEMENT: f64 = 0.5;

/// Offset of an image, in lengths of the domain along each axis.
type Count = [i8; 3];

/// Periodic images of walls.
#[derive(Clone, Default)]
pub(super) struct Images {
    /// Offset of each image from its element.
    count: Vec<Count>,
    /// The periodic domain; `None` without periodic sides.
    cell: Option<Cell>,
}

/// A domain with periodic sides.
#[derive(Clone, Copy)]
struct Cell {
    domain: Domain,
    /// Distance from the domain within which an object may be near a grain \[m\].
    reach: f64,
}

fn unit(axis: usize) -> Vec3 {
    [0, 1, 2].map(|k| f64::from(u8::from(k == axis)))
}

/// Whether two directions are parallel or opposite.
fn is_along(one: &Vec3, other: &Vec3) -> bool {
    let (one, other) = (vector(one), vector(other));
    one.cross(&other).length() <= SAME * one.length() * other.length()
}

/// Largest displacement of the axis of a wall by a motion within its frame, in both directions along each axis \[m\].
pub(crate) fn largest_displacement(motion: &WallMotion) -> Bounds {
    let lasting = motion.longest();
    let mut way = Bounds {
        low: [0.0; 3],
        high: [0.0; 3],
    };
    for k in 0..3 {
        let mut add = |one: f64, other: f64| {
            way.low[k] += one.min(other);
            way.high[k] += one.max(other);
        };
        if motion.velocity[k] != 0.0 {
            add(0.0, motion.velocity[k] * lasting);
        }
        for vibration in &motion.vibrations {
            let (amplitude, start) = (vibration.amplitude[k], vibration.phase.sin());
            add(amplitude * (-1.0 - start), amplitude * (1.0 - start));
        }
        if let Some(path) = &motion.path {
            let ways = path.position.iter().map(|place| place[k] - path.position[0][k]);
            let (low, high) = ways.fold((0.0f64, 0.0f64), |(low, high), way| (low.min(way), high.max(way)));
            add(low, high);
        }
        if motion.servo.is_some_and(|servo| !servo.turns() && servo.along[k] != 0.0) {
            add(f64::NEG_INFINITY, f64::INFINITY);
        }
    }
    way
}

/// Bounding box of all positions to which a motion with the displacements `way` takes the content of a box.
fn swept(bounds: &Bounds, motion: &WallMotion, way: &Bounds) -> Bounds {
    let mut swept = *bounds;
    if let Some(axis) = rotation_axis(motion) {
        let through = &motion.through;
        let farthest = (0..3).map(|k| (bounds.low[k] - through[k]).abs().max((bounds.high[k] - through[k]).abs()).powi(2));
        let farthest = farthest.sum::<f64>().sqrt();
        for k in (0..3).filter(|&k| !is_along(&axis, &unit(k))) {
            (swept.low[k], swept.high[k]) = (through[k] - farthest, through[k] + farthest);
        }
    }
    for k in 0..3 {
        swept.low[k] += way.low[k];
        swept.high[k] += way.high[k];
    }
    motion
        .of_frame()
        .map_or(swept, |frame| self::swept(&swept, &frame, &largest_displacement(&frame)))
}

impl Cell {
    fn length(&self, axis: usize) -> f64 {
        self.domain.max[axis] - self.domain.min[axis]
    }

    fn periodic_axes(&self) -> impl Iterator<Item = usize> {
        let periodic = self.domain.periodic;
        (0..3).filter(move |&axis| periodic[axis])
    }

    /// Offsets of all images next to the domain.
    fn around(&self) -> Vec<Count> {
        let counts = |axis: usize| -> &'static [i8] { if self.domain.periodic[axis] { &[-1, 0, 1] } else { &[0] } };
        let mut all = Vec::new();
        for &z in counts(2) {
            for &y in counts(1) {
                all.extend(counts(0).iter().map(|&x| [x, y, z]));
            }
        }
        all.retain(|count| *count != [0; 3]);
        all
    }

    /// Displacement of an image \[m\].
    fn shift(&self, count: Count) -> Vec3 {
        [0, 1, 2].map(|k| if count[k] == 0 { 0.0 } else { f64::from(count[k]) * self.length(k) })
    }

    /// Whether the image of the content of a box may be near a grain.
    fn is_near(&self, bounds: &Bounds, count: Count) -> bool {
        let shift = self.shift(count);
        self.periodic_axes().all(|k| {
            bounds.low[k] + shift[k] <= self.domain.max[k] + self.reach && bounds.high[k] + shift[k] >= self.domain.min[k] - self.reach
        })
    }

    /// Reason for which images of a wall with these offsets do not move with it, if there is one.
    fn flaw_of_motion(&self, motion: &WallMotion, way: &Bounds, counts: &BTreeSet<Count>) -> Option<String> {
        let away = format!("keep it farther than {:.3e} m from these sides", self.reach);
        if let Some(shear) = self.domain.shear
            && counts.iter().any(|count| count[shear.gradient] != 0)
        {
            return Some(format!(
                "it reaches over sides that slide past each other, where its image would slide, too; {away}, or open them"
            ));
        }
        if motion.frame.is_some() && !counts.is_empty() {
            return Some(format!(
                "it reaches over periodic sides and moves in a frame that moves, so that its image would move otherwise; {away}, leave the frame out, or \
                 open these sides"
            ));
        }
        let goes_far = |axis: &usize| {
            let most = MAX_DISPLACEMENT * self.length(*axis);
            (way.low[*axis] < -most || way.high[*axis] > most) && counts.iter().any(|count| count[*axis] != 0)
        };
        if let Some(axis) = self.periodic_axes().find(goes_far) {
            let farthest = way.high[axis].max(-way.low[axis]);
            let how_far = if farthest.is_finite() {
                format!("by up to {farthest:.3e} m")
            } else if motion.servo.is_some() {
                "as far as a servo takes it, which is not known before".to_owned()
            } else {
                "without an end".to_owned()
            };
            return Some(format!(
                "it moves along {axis} through sides that are periodic, {how_far}; the limit is {:.3e} m, half of the domain: let its surface run \
                 while it stands, let it stop earlier, or write it as a plane",
                MAX_DISPLACEMENT * self.length(axis),
                axis = AXES[axis]
            ));
        }
        let leaves = |axis: &Vec3| counts.iter().any(|count| !is_along(axis, &self.shift(*count)));
        if rotation_axis(motion).is_some_and(|axis| leaves(&axis)) {
            return Some(format!(
                "it reaches over periodic sides and turns about an axis that does not go through them at right angles, so that its image would turn about \
                 another; {away}, turn it about such an axis, or open these sides"
            ));
        }
        let rolling = &motion.surface.angular_velocity;
        (*rolling != [0.0; 3] && leaves(rolling)).then(|| {
            format!(
                "it reaches over periodic sides and its surface turns about an axis that does not go through them at right angles, so that its image would \
                 turn about another; {away}, or open these sides"
            )
        })
    }

    /// Reason for which a plane differs on both sides of the domain, if grains come near it.
    fn flaw_of_plane(&self, point: &Vec3, normal: &Vec3, motion: &WallMotion) -> Option<String> {
        if motion.frame.is_some() {
            return Some(
                "it is a plane in a frame that moves, and would differ on both sides of the domain; leave the frame out, or open the sides"
                    .to_owned(),
            );
        }
        let turning = rotation_axis(motion).filter(|axis| !is_along(axis, normal));
        let leans = |k: &usize| normal[*k].abs() > SAME || turning.is_some_and(|axis| !is_along(&axis, &unit(*k)));
        let leaning = self.periodic_axes().find(leans);
        if leaning.is_none() && self.domain.shear.is_none() {
            return None;
        }
        let way = largest_displacement(motion);
        // Smallest distance of a corner of the domain in front of the plane, during the whole motion.
        let nearest = (0..3).filter(|&k| normal[k] != 0.0).map(|k| {
            let (corner, ahead) = if normal[k] > 0.0 {
                (self.domain.min[k], way.high[k])
            } else {
                (self.domain.max[k], way.low[k])
            };
            (corner - point[k] - ahead) * normal[k]
        });
        if turning.is_none() && nearest.sum::<f64>() > self.reach {
            return None;
        }
        Some(match leaning {
            Some(axis) => format!(
                "the plane stands across the sides along {axis}, which are periodic: grains that leave there would come in behind it; turn it so that it \
                 goes along {axis}, leave that face of a box out, or open these sides",
                axis = AXES[axis]
            ),
            None => "sides slide past each other, and its images would slide, too; take the wall away, or let no sides slide".to_owned(),
        })
    }
}

impl Walls {
    /// Makes the images of walls in a domain whose largest grain has this radius \[m\]; `later` are the motions that walls may get later, in their
    /// order. Returns notices for walls that extend far beyond periodic sides, and for motions that may be rejected when they begin.
    ///
    /// # Errors
    /// If a wall comes near a periodic side and its image would not move with it.
    pub fn repeat(&mut self, domain: Option<&Domain>, later: &[(usize, WallMotion)], largest: f64) -> Result<Vec<String>, WorldError> {
        let Some(domain) = domain.filter(|domain| domain.periodic.contains(&true)) else {
            return Ok(Vec::new());
        };
        let cell = Cell {
            domain: *domain,
            reach: largest + self.skin,
        };
        self.images.cell = Some(cell);
        let mut notices = Vec::new();
        for wall in 0..self.given.len() {
            self.repeat_wall(wall)?;
            let first = &self.given[wall].motion;
            let mut before: Vec<&WallMotion> = std::iter::once(first).filter(|motion| is_moving(motion)).collect();
            for (_, motion) in later.iter().filter(|(moved, _)| *moved == wall) {
                match self.wanted(wall, &before, motion, &cell) {
                    Err(what) if before.is_empty() => return Err(self.refused(wall, what)),
                    // The position of a wall that moved before is known during the run only.
                    Err(what) => notices.push(format!(
                        "wall {} may stop the run when it gets another motion, if what moves it before takes it to periodic sides: {what}",
                        self.given[wall].name
                    )),
                    Ok(_) => {}
                }
                before.extend(is_moving(motion).then_some(motion));
            }
        }
        self.place(0.0, true);
        notices.extend((0..self.given.len()).filter_map(|wall| self.overhang(wall, &cell)));
        Ok(notices)
    }

    fn refused(&self, wall: usize, what: String) -> WorldError {
        WorldError::Wall {
            name: self.given[wall].name.clone(),
            what,
        }
    }

    /// Notice for a wall that extends far beyond periodic sides, if it does.
    fn overhang(&self, wall: usize, cell: &Cell) -> Option<String> {
        let is_bounded = !matches!(self.given[wall].shape, WallShape::Plane { .. });
        let mut bounds = Bounds::NOTHING;
        for element in self.elements_of_wall(wall).filter(|_| is_bounded) {
            bounds = bounds.with(&bounds_of(&self.start[element * ELEMENT..][..ELEMENT]));
        }
        let beyond = |axis: usize| (cell.domain.min[axis] - bounds.low[axis]).max(bounds.high[axis] - cell.domain.max[axis]);
        let axis = cell.periodic_axes().find(|&axis| beyond(axis) > cell.reach)?;
        let (name, length) = (&self.given[wall].name, cell.length(axis));
        Some(format!(
            "wall {name} reaches {:.3e} m over the periodic sides along {}: what is beyond a side, up to a length of {length:.3e} m, comes in on the opposite one",
            beyond(axis),
            AXES[axis]
        ))
    }

    /// Images of the elements of a wall that may be near a grain during this motion, which starts anywhere that the motions `before` take the wall.
    ///
    /// The error is the reason for which images do not move with the wall. Planes need no images; they are checked only if nothing moved them before.
    fn wanted(&self, wall: usize, before: &[&WallMotion], motion: &WallMotion, cell: &Cell) -> Result<BTreeSet<(usize, Count)>, String> {
        let mut wanted = BTreeSet::new();
        if let WallShape::Plane { point, normal } = &self.given[wall].shape {
            let flaw = cell.flaw_of_plane(point, normal, motion).filter(|_| before.is_empty());
            return flaw.map_or(Ok(wanted), Err);
        }
        let (around, way) = (cell.around(), largest_displacement(motion));
        for element in self.elements_of_wall(wall) {
            let at_start = bounds_of(&self.start[element * ELEMENT..][..ELEMENT]);
            let earlier = before
                .iter()
                .fold(at_start, |bounds, moved| swept(&bounds, moved, &largest_displacement(moved)));
            let bounds = swept(&earlier, motion, &way);
            let near = around.iter().filter(|count| cell.is_near(&bounds, **count));
            wanted.extend(near.map(|count| (element, *count)));
        }
        let counts: BTreeSet<Count> = wanted.iter().map(|(_, count)| *count).collect();
        let flaw = cell.flaw_of_motion(motion, &way, &counts);
        flaw.map_or(Ok(wanted), Err)
    }

    /// Updates the images of a wall for the motion that starts now.
    pub(super) fn repeat_wall(&mut self, wall: usize) -> Result<(), WorldError> {
        let Some(cell) = self.images.cell else { return Ok(()) };
        let wanted = self.wanted(wall, &[], &self.given[wall].motion, &cell);
        let mut wanted = wanted.map_err(|what| self.refused(wall, what))?;
        for image in 0..self.images.count.len() {
            let at = self.first_image() + image;
            let (origin, count) = (self.start[at * ELEMENT + 11] as usize, self.images.count[image]);
            if self.elements_of_wall(wall).contains(&origin) {
                // An image that is not needed coincides with its element, where it does not count.
                let shift = if wanted.remove(&(origin, count)) {
                    cell.shift(count)
                } else {
                    [0.0; 3]
                };
                let record = self.shifted(origin, &shift);
                self.start[at * ELEMENT..][..ELEMENT].copy_from_slice(&record);
            }
        }
        for (element, count) in wanted {
            let record = self.shifted(element, &cell.shift(count));
            self.start.extend(record);
            self.elements.extend(record);
            self.images.count.push(count);
        }
        Ok(())
    }

    /// Whether walls may have images.
    pub(super) fn may_repeat(&self) -> bool {
        self.images.cell.is_some()
    }

    /// Record of an element at the start of its wall's motion, displaced by `shift` \[m\].
    fn shifted(&self, element: usize, shift: &Vec3) -> [f64; ELEMENT] {
        let mut record = [0.0; ELEMENT];
        record.copy_from_slice(&self.start[element * ELEMENT..][..ELEMENT]);
        // For all kinds except triangles, only the first three numbers are a position.
        let places = if record[9] == f64::from(TRIANGLE) { 9 } else { 3 };
        for (k, number) in record[..places].iter_mut().enumerate() {
            *number += shift[k % 3];
        }
        record
    }

    /// Index of the first element that is an image.
    fn first_image(&self) -> usize {
        self.first[self.given.len()]
    }

    /// Elements that are images of those of a moving wall, or of `all` walls.
    pub(super) fn images_to_place(&self, all: bool) -> impl Iterator<Item = usize> + '_ {
        let images = self.first_image()..self.start.len() / ELEMENT;
        images.filter(move |&element| all || self.moves(self.start[element * ELEMENT + 10] as usize))
    }

    /// The element of which an element is an image, or itself.
    pub fn origin_of(&self, element: u32) -> usize {
        self.elements[element as usize * ELEMENT + 11] as usize
    }

    /// The entry of grain i and an element or, if the grain was wrapped at a side since, of another image of the element.
    pub fn entry_of(&self, i: usize, element: u32) -> Option<usize> {
        let mut row = self.row[i] as usize..self.row[i + 1] as usize;
        row.clone().find(|&k| self.list[k] == element).or_else(|| {
            let origin = *self.elements.get(element as usize * ELEMENT + 11)? as usize;
            row.find(|&k| self.origin_of(self.list[k]) == origin)
        })
    }

    /// Carries the contact histories of grains that were wrapped at sides since the last list over to another image of their element.
    pub(super) fn carry_through_sides(&mut self, old_of: &[u32]) {
        if self.images.cell.is_none() {
            return;
        }
        let numbers = self.contact_histories;
        for (i, &old) in old_of.iter().enumerate().take(self.row.len() - 1) {
            for q in self.old_row[old as usize] as usize..self.old_row[old as usize + 1] as usize {
                let remembers = self.old_history[q * numbers..][..numbers].iter().any(|number| *number != 0.0);
                if !remembers {
                    continue;
                }
                // If the element itself is still listed, its history is already there.
                let entry = self.entry_of(i, self.old_list[q]);
                if let Some(k) = entry.filter(|&k| self.list[k] != self.old_list[q]) {
                    self.history[k * numbers..][..numbers].copy_from_slice(&self.old_history[q * numbers..][..numbers]);
                }
            }
        }
    }
}
