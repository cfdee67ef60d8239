//! Images of walls beyond periodic sides: elements of their own, which belong to the same wall.
//!
//! A wall and its images by whole lengths of the domain are what grains touch, as grains touch the images of grains. Images are written of those
//! elements whose image may come near a grain, at most one length away. They stand behind the elements of all walls, so elements keep their
//! numbers. Where an element and an image lie on each other, a grain touches one point, and that counts once. A grain that is put back at a side
//! touches another image of the same element, and its contact takes along what it remembers.

use super::grid::bounds_of;
use super::motion::{axis_of_turning, is_moving};
use super::{Walls, vector};
use crate::refusal::Refusal;
use crate::world::{Domain, Vec3, WallMotion, WallShape};
use seixo_sweeps::boxes::Bounds;
use seixo_sweeps::views::{ELEMENT, TRIANGLE};
use std::collections::BTreeSet;

/// Names of the axes.
const AXES: [&str; 3] = ["x", "y", "z"];

/// How far two directions may differ to count as the same \[-\].
const SAME: f64 = 1e-9;

/// Share of the domain's length by which a wall may go along it, so that images one length away suffice.
const FARTHEST_WAY: f64 = 0.5;

/// By how many lengths along each axis an image is away.
type Count = [i8; 3];

/// The images of walls.
#[derive(Clone, Default)]
pub(super) struct Images {
    /// How far each is from its element.
    count: Vec<Count>,
    /// Where sides are periodic, if any are.
    cell: Option<Cell>,
}

/// A domain with periodic sides.
#[derive(Clone, Copy)]
struct Cell {
    domain: Domain,
    /// Distance from the domain within which what is there may be near a grain \[m\].
    reach: f64,
}

fn unit(axis: usize) -> Vec3 {
    [0, 1, 2].map(|k| f64::from(u8::from(k == axis)))
}

/// Whether two directions are the same or opposite.
fn is_along(one: &Vec3, other: &Vec3) -> bool {
    let (one, other) = (vector(one), vector(other));
    one.cross(&other).length() <= SAME * one.length() * other.length()
}

/// How far a motion ever takes the axis of its wall, either way along each axis \[m\].
fn way_of(motion: &WallMotion) -> Bounds {
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
        if motion.servo.is_some_and(|servo| servo.along[k] != 0.0) {
            add(f64::NEG_INFINITY, f64::INFINITY);
        }
    }
    way
}

/// The box around all places to which a motion, which goes so far, ever takes what is in this one.
fn swept(bounds: &Bounds, motion: &WallMotion, way: &Bounds) -> Bounds {
    let mut swept = *bounds;
    if let Some(axis) = axis_of_turning(motion) {
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
    swept
}

impl Cell {
    fn length(&self, axis: usize) -> f64 {
        self.domain.max[axis] - self.domain.min[axis]
    }

    fn periodic_axes(&self) -> impl Iterator<Item = usize> {
        let periodic = self.domain.periodic;
        (0..3).filter(move |&axis| periodic[axis])
    }

    /// All images next to the domain.
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

    /// How far an image is away \[m\].
    fn shift(&self, count: Count) -> Vec3 {
        [0, 1, 2].map(|k| if count[k] == 0 { 0.0 } else { f64::from(count[k]) * self.length(k) })
    }

    /// Whether the image of what a box holds may be near a grain.
    fn is_near(&self, bounds: &Bounds, count: Count) -> bool {
        let shift = self.shift(count);
        self.periodic_axes().all(|k| {
            bounds.low[k] + shift[k] <= self.domain.max[k] + self.reach && bounds.high[k] + shift[k] >= self.domain.min[k] - self.reach
        })
    }

    /// Why images of a wall, so many lengths away, do not move with it.
    fn flaw_of_motion(&self, motion: &WallMotion, way: &Bounds, counts: &BTreeSet<Count>) -> Option<String> {
        let away = format!("keep it farther than {:.3e} m from these sides", self.reach);
        if let Some(shear) = self.domain.shear
            && counts.iter().any(|count| count[shear.gradient] != 0)
        {
            return Some(format!(
                "it reaches over sides that slide past each other, where its image would slide, too; {away}, or open them"
            ));
        }
        let goes_far = |axis: &usize| {
            let most = FARTHEST_WAY * self.length(*axis);
            (way.low[*axis] < -most || way.high[*axis] > most) && counts.iter().any(|count| count[*axis] != 0)
        };
        if let Some(axis) = self.periodic_axes().find(goes_far) {
            let farthest = way.high[axis].max(-way.low[axis]);
            let how_far = if farthest.is_finite() {
                format!("by up to {farthest:.3e} m")
            } else if motion.servo.is_some() {
                "as far as a servo takes it, which nobody knows before".to_owned()
            } else {
                "without an end".to_owned()
            };
            return Some(format!(
                "it moves along {axis} through sides that are periodic, {how_far}; the limit is {:.3e} m, half of the domain: let its surface run \
                 while it stands, let it stop earlier, or write it as a plane",
                FARTHEST_WAY * self.length(axis),
                axis = AXES[axis]
            ));
        }
        let leaves = |axis: &Vec3| counts.iter().any(|count| !is_along(axis, &self.shift(*count)));
        if axis_of_turning(motion).is_some_and(|axis| leaves(&axis)) {
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

    /// Why a plane is not the same on both sides of the domain, if grains come near it.
    fn flaw_of_plane(&self, point: &Vec3, normal: &Vec3, motion: &WallMotion) -> Option<String> {
        let turning = axis_of_turning(motion).filter(|axis| !is_along(axis, normal));
        let leans = |k: &usize| normal[*k].abs() > SAME || turning.is_some_and(|axis| !is_along(&axis, &unit(*k)));
        let leaning = self.periodic_axes().find(leans);
        if leaning.is_none() && self.domain.shear.is_none() {
            return None;
        }
        let way = way_of(motion);
        // How far the nearest corner of the domain is before it, wherever it goes.
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
    /// Writes the images of walls in a domain whose largest grain has this radius \[m\]; `later` are the motions that walls may be given later, in their
    /// order. Returns what should be told of walls that reach far over its sides, and of motions that may be refused when they begin.
    ///
    /// # Errors
    /// If a wall comes near a periodic side and its image would not move as it does.
    pub fn repeat(&mut self, domain: Option<&Domain>, later: &[(usize, WallMotion)], largest: f64) -> Result<Vec<String>, Refusal> {
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
                    // Where a wall is that moved before, only the run knows.
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

    fn refused(&self, wall: usize, what: String) -> Refusal {
        Refusal::Wall {
            name: self.given[wall].name.clone(),
            what,
        }
    }

    /// What should be told of a wall that reaches far over periodic sides, if it does.
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

    /// Which images of the elements of a wall may come near a grain in this motion, which begins anywhere that motions `before` it take the wall; or why
    /// they do not move with it. Planes, which need none, are only looked at where nothing moved them before.
    fn wanted(&self, wall: usize, before: &[&WallMotion], motion: &WallMotion, cell: &Cell) -> Result<BTreeSet<(usize, Count)>, String> {
        let mut wanted = BTreeSet::new();
        if let WallShape::Plane { point, normal } = &self.given[wall].shape {
            let flaw = cell.flaw_of_plane(point, normal, motion).filter(|_| before.is_empty());
            return flaw.map_or(Ok(wanted), Err);
        }
        let (around, way) = (cell.around(), way_of(motion));
        for element in self.elements_of_wall(wall) {
            let at_start = bounds_of(&self.start[element * ELEMENT..][..ELEMENT]);
            let earlier = before.iter().fold(at_start, |bounds, moved| swept(&bounds, moved, &way_of(moved)));
            let bounds = swept(&earlier, motion, &way);
            let near = around.iter().filter(|count| cell.is_near(&bounds, **count));
            wanted.extend(near.map(|count| (element, *count)));
        }
        let counts: BTreeSet<Count> = wanted.iter().map(|(_, count)| *count).collect();
        let flaw = cell.flaw_of_motion(motion, &way, &counts);
        flaw.map_or(Ok(wanted), Err)
    }

    /// Writes the images of a wall anew, for the motion that it begins now.
    pub(super) fn repeat_wall(&mut self, wall: usize) -> Result<(), Refusal> {
        let Some(cell) = self.images.cell else { return Ok(()) };
        let wanted = self.wanted(wall, &[], &self.given[wall].motion, &cell);
        let mut wanted = wanted.map_err(|what| self.refused(wall, what))?;
        for image in 0..self.images.count.len() {
            let at = self.first_image() + image;
            let (origin, count) = (self.start[at * ELEMENT + 11] as usize, self.images.count[image]);
            if self.elements_of_wall(wall).contains(&origin) {
                // One that is not wanted lies on its element, where it counts for nothing.
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

    /// The record of an element when its wall's motion begins, away by so much \[m\].
    fn shifted(&self, element: usize, shift: &Vec3) -> [f64; ELEMENT] {
        let mut record = [0.0; ELEMENT];
        record.copy_from_slice(&self.start[element * ELEMENT..][..ELEMENT]);
        // Of all kinds but triangles only the first three numbers are a place.
        let places = if record[9] == f64::from(TRIANGLE) { 9 } else { 3 };
        for (k, number) in record[..places].iter_mut().enumerate() {
            *number += shift[k % 3];
        }
        record
    }

    /// The first element that is an image.
    fn first_image(&self) -> usize {
        self.first[self.given.len()]
    }

    /// The elements that are images of those of a wall that moves, or of `all`.
    pub(super) fn images_to_place(&self, all: bool) -> impl Iterator<Item = usize> + '_ {
        let images = self.first_image()..self.start.len() / ELEMENT;
        images.filter(move |&element| all || self.moves(self.start[element * ELEMENT + 10] as usize))
    }

    /// The element that an element is an image of, or itself.
    pub fn origin_of(&self, element: u32) -> usize {
        self.elements[element as usize * ELEMENT + 11] as usize
    }

    /// The entry of grain i and an element, or, where it was put back at a side since, of another image of the element.
    pub fn entry_of(&self, i: usize, element: u32) -> Option<usize> {
        let mut row = self.row[i] as usize..self.row[i + 1] as usize;
        row.clone().find(|&k| self.list[k] == element).or_else(|| {
            let origin = *self.elements.get(element as usize * ELEMENT + 11)? as usize;
            row.find(|&k| self.origin_of(self.list[k]) == origin)
        })
    }

    /// Lets contacts of grains that were put back at sides since the list before keep what they remember: it goes to another image of their element.
    pub(super) fn carry_through_sides(&mut self, old_of: &[u32]) {
        if self.images.cell.is_none() {
            return;
        }
        let numbers = self.remembered;
        for (i, &old) in old_of.iter().enumerate().take(self.row.len() - 1) {
            for q in self.old_row[old as usize] as usize..self.old_row[old as usize + 1] as usize {
                let remembers = self.old_history[q * numbers..][..numbers].iter().any(|number| *number != 0.0);
                if !remembers {
                    continue;
                }
                // Where the element itself is listed still, it has all already.
                let entry = self.entry_of(i, self.old_list[q]);
                if let Some(k) = entry.filter(|&k| self.list[k] != self.old_list[q]) {
                    self.history[k * numbers..][..numbers].copy_from_slice(&self.old_history[q * numbers..][..numbers]);
                }
            }
        }
    }
}
