//! Where walls were when their present motions began, in a checkpoint.
//!
//! A motion begins where the one before it ended, so a checkpoint of a wall that gets one motion after the other would need all of them. With this
//! place it needs the last one.

use super::servo::finished_displacements;
use super::{Walls, elements_of};
use crate::checkpoint::{misfit, numbers, words};
use crate::events::SurroundingsChange;
use crate::refusal::WorldError;
use crate::state::{Column, Sections, State};
use crate::world::{Frustum, Vec3, WallMotion, WallShape};
use seixo_laws::Quaternion;
use seixo_sweeps::layout::ELEMENT;
use seixo_sweeps::wall_pose::SERVO;
use std::collections::BTreeMap;

/// Sections of a checkpoint: the walls, their places, and the wall of each displacement of a servo whose motion ended.
const WALLS: &str = "walls/with_starts";
const STARTS: &str = "walls/starts";
const ENDED_OF: &str = "walls/ended_servos_of";

/// Number of values of a wall besides its elements: rotation angle, position of the origin, rotation.
const CARRIED: usize = 8;
/// Number of values of an element that say where it is.
const PLACED: usize = 9;

/// The values of each wall whose place is in a checkpoint.
pub(crate) type SavedStarts<'a> = BTreeMap<usize, &'a [f64]>;

/// Three values from this index on.
fn three(values: &[f64], at: usize) -> Vec3 {
    [values[at], values[at + 1], values[at + 2]]
}

/// The same kind of shape, with the places of its elements.
fn shape_with(shape: &WallShape, elements: &[f64]) -> WallShape {
    let records = || elements.chunks_exact(PLACED);
    match shape {
        WallShape::Plane { .. } => WallShape::Plane {
            point: three(elements, 0),
            normal: three(elements, 3),
        },
        WallShape::Mesh(_) => WallShape::Mesh(records().map(|record| [0, 3, 6].map(|at| three(record, at))).collect()),
        WallShape::Round(frusta) => {
            let placed = frusta.iter().zip(records()).map(|(frustum, record)| Frustum {
                base: three(record, 0),
                axis: three(record, 3),
                ..*frustum
            });
            WallShape::Round(placed.collect())
        }
        WallShape::Sphere { radius, .. } => WallShape::Sphere {
            center: three(elements, 0),
            radius: *radius,
        },
    }
}

/// The last motion that each wall got, as indices of the past and of its changes.
pub(crate) fn last_motions(past: &[(u64, Vec<SurroundingsChange>)]) -> BTreeMap<usize, (usize, usize)> {
    let mut last = BTreeMap::new();
    for (index, (_, changes)) in past.iter().enumerate() {
        for (number, change) in changes.iter().enumerate() {
            if let SurroundingsChange::Motion { wall, .. } = change {
                last.insert(*wall, (index, number));
            }
        }
    }
    last
}

impl Walls {
    /// Lets checkpoints hold where this wall was when its present motion began. Returns false, and does nothing, if walls may have periodic images: their
    /// order depends on all motions.
    pub(crate) fn keep_start(&mut self, wall: usize) -> bool {
        let is_possible = !self.may_repeat();
        if is_possible {
            self.with_starts.insert(wall);
        }
        is_possible
    }

    /// Saves the places of these walls, if there are any.
    pub(crate) fn save_starts(&self, to: &mut dyn Sections) {
        if self.with_starts.is_empty() {
            return;
        }
        let mut starts = Vec::new();
        for &wall in &self.with_starts {
            let (origin, turn) = &self.carried_before[wall];
            starts.push(self.turned_before[wall]);
            starts.extend(origin);
            starts.extend([turn.w, turn.x, turn.y, turn.z]);
            let records = elements_of(&self.given[wall].shape, wall, self.first[wall]);
            starts.extend(records.chunks_exact(ELEMENT).flat_map(|record| &record[..PLACED]));
        }
        to.put(WALLS, Column::U32(self.with_starts.iter().map(|&wall| wall as u32).collect()));
        to.put(STARTS, Column::F64(starts));
        to.put(ENDED_OF, Column::U32(self.ended_servos_of.clone()));
    }

    /// The saved places; empty without any.
    ///
    /// # Errors
    /// If they are of other walls, or a wall of them got no motion.
    pub(crate) fn saved_starts<'a>(&self, state: &'a State, last: &BTreeMap<usize, (usize, usize)>) -> Result<SavedStarts<'a>, WorldError> {
        let mut starts = SavedStarts::new();
        if state.get(WALLS).is_none() {
            return Ok(starts);
        }
        let mut left = numbers(state, STARTS, None)?;
        for &wall in words(state, WALLS)? {
            let wall = wall as usize;
            if wall >= self.given.len() || !last.contains_key(&wall) {
                return Err(misfit("a wall of it got another motion, which is missing"));
            }
            let count = CARRIED + PLACED * (self.first[wall + 1] - self.first[wall]);
            let Some((own, rest)) = left.split_at_checked(count) else {
                return Err(misfit(&format!("section {STARTS} has the wrong size")));
            };
            starts.insert(wall, own);
            left = rest;
        }
        Ok(starts)
    }

    /// Begins the last motion of a wall at this time \[s\], from its saved place.
    ///
    /// # Errors
    /// As [`Walls::set_motion`].
    pub(crate) fn begin_from_start(&mut self, wall: usize, motion: &WallMotion, start: &[f64], time: f64) -> Result<(), WorldError> {
        let [w, x, y, z] = [4, 5, 6, 7].map(|at| start[at]);
        self.turned_before[wall] = start[0];
        self.carried_before[wall] = (three(start, 1), Quaternion { w, x, y, z });
        self.servos[wall * SERVO..][..SERVO].fill(0.0);
        let shape = shape_with(&self.given[wall].shape, &start[CARRIED..]);
        self.begin_motion(wall, shape, motion, time)
    }

    /// Takes over which walls have saved places, and the displacements of all servos whose motions ended.
    ///
    /// # Errors
    /// If the displacements are not complete.
    pub(crate) fn take_starts(&mut self, state: &State, starts: &SavedStarts) -> Result<(), WorldError> {
        if starts.is_empty() {
            return Ok(());
        }
        self.with_starts = starts.keys().copied().collect();
        self.ended_servos_of = words(state, ENDED_OF)?.to_vec();
        self.finished_displacements = finished_displacements(state).copied().collect();
        if self.ended_servos_of.len() == self.finished_displacements.len() {
            Ok(())
        } else {
            Err(misfit(&format!("section {ENDED_OF} has the wrong size")))
        }
    }
}

/// Displacements of servos whose motions ended, in the order of their ends, of walls without a saved place.
///
/// # Errors
/// If it is not known of which walls they are.
pub(crate) fn displacements_without_starts(state: &State, starts: &SavedStarts) -> Result<Vec<f64>, WorldError> {
    let ways = finished_displacements(state).copied();
    if starts.is_empty() {
        return Ok(ways.collect());
    }
    let own = ways.zip(words(state, ENDED_OF)?);
    Ok(own
        .filter(|(_, wall)| !starts.contains_key(&(**wall as usize)))
        .map(|(way, _)| way)
        .collect())
}
