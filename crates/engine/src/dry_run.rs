//! Dry run: a check of planned changes before the run.
//!
//! It rejects errors that follow from the plan alone, with the same functions that reject them during the run. Positions of moving grains and fluids
//! are unknown. So a wall that would appear inside one of them, or a new grain at the position of another, is detected during the run only.

use crate::bonds::{in_one_body, joined_for_good, lower_first, missing, nothing_near, record_joined, refused};
use crate::cell_control::controlled;
use crate::events::{SurroundingsChange, check_newcomers};
use crate::flow::check_motion;
use crate::group_constraints::ConstraintContext;
use crate::insertion::check_places;
use crate::refusal::WorldError;
use crate::walls::is_moving;
use crate::world::{Bonded, Grains, Load, Wall, World, check_walls_around};
use std::collections::HashMap;

/// A planned change.
#[derive(Clone, Debug, PartialEq)]
pub enum PlannedChange {
    /// A change of walls, inlets, gravity, loads or prescribed motion.
    Change(SurroundingsChange),
    /// Grains that are added, by their group.
    Grains(u32),
    /// Bonds that are made, by their index into [`World::bonds`].
    Bonds(usize),
    /// A group that is disabled.
    Disable(u32),
}

/// State of a world after the planned changes.
pub struct DryRun<'a> {
    world: &'a World,
    /// Groups of grains with known ids.
    group_of: HashMap<u32, u32>,
    /// Whether grains of each group may exist.
    may_be_there: Vec<bool>,
    /// Whether some grains of each group enter one by one.
    by_inlet: Vec<bool>,
    /// Whether bodies of each group froze out of fluids.
    froze: Vec<bool>,
    /// Whether each group has prescribed motion as one body.
    is_one: Vec<bool>,
    /// Pairs of ids with unbreakable or new bonds, the lower id first, and the kinds of these bonds.
    joined: HashMap<[u32; 2], usize>,
    /// Whether each wall exists, and whether it is at its initial position.
    walls: Vec<[bool; 2]>,
    refused: Vec<(PlannedChange, WorldError)>,
}

impl<'a> DryRun<'a> {
    /// A world at time zero.
    pub fn of(world: &'a World) -> DryRun<'a> {
        let (grains, groups) = (&world.grains, world.groups.len());
        let mut forecast = DryRun {
            world,
            group_of: HashMap::new(),
            may_be_there: vec![false; groups],
            by_inlet: vec![false; groups],
            froze: vec![false; groups],
            is_one: vec![false; groups],
            joined: joined_for_good(world),
            walls: world.walls.iter().map(|wall| [true, !is_moving(&wall.motion)]).collect(),
            refused: Vec::new(),
        };
        world.later.walls.iter().for_each(|&wall| forecast.walls[wall][0] = false);
        forecast.note_groups(grains);
        for body in grains.bodies.iter().filter(|body| body.motion.is_some()) {
            let Some(&group) = body.carries.first().and_then(|(id, _)| forecast.group_of.get(id)) else {
                continue;
            };
            let of_group = grains.group.iter().filter(|other| **other == group).count();
            forecast.is_one[group as usize] = body.carries.len() == of_group;
        }
        forecast
    }

    /// Opens an inlet: grains of a group may enter from now on, one by one.
    pub fn open(&mut self, group: u32) {
        self.may_be_there[group as usize] = true;
        self.by_inlet[group as usize] = true;
    }

    /// Removes the grains of these groups.
    pub fn remove(&mut self, groups: &[u32]) {
        for &group in groups {
            self.may_be_there[group as usize] = false;
            self.froze[group as usize] = false;
        }
    }

    /// Freezes fluid into a body of this group.
    pub fn freeze(&mut self, group: u32) {
        self.may_be_there[group as usize] = true;
        self.froze[group as usize] = true;
    }

    /// Disables a group.
    pub fn disable(&mut self, group: u32) {
        if let Some(what) = self.circumstances(group).flaw_of_disabling() {
            self.refused.push((PlannedChange::Disable(group), self.switch_refused(group, what)));
        }
        self.may_be_there[group as usize] = false;
        self.is_one[group as usize] = false;
        // Bonds among its grains come back with them, those to other grains do not.
        let of_group = |ids: &[u32; 2]| ids.iter().filter(|&id| self.group_of.get(id) == Some(&group)).count();
        self.joined.retain(|ids, _| of_group(ids) != 1);
    }

    /// Enables a disabled group.
    pub fn enable(&mut self, group: u32) {
        self.may_be_there[group as usize] = true;
    }

    /// Changes walls, inlets, gravity, loads or prescribed motion.
    pub fn change(&mut self, changes: &[SurroundingsChange]) {
        for change in changes {
            if let Err(refusal) = self.check_change(change) {
                self.refused.push((PlannedChange::Change(change.clone()), refusal));
            }
            match change {
                SurroundingsChange::Wall { wall, is_there } => self.walls[*wall][0] = *is_there,
                SurroundingsChange::Motion { wall, motion } => self.walls[*wall][1] &= !is_moving(motion),
                SurroundingsChange::Hold { group, .. } => self.is_one[*group as usize] = !self.by_inlet[*group as usize],
                SurroundingsChange::Free { group } => self.is_one[*group as usize] = false,
                _ => {}
            }
        }
    }

    /// Adds grains.
    pub fn insert(&mut self, grains: &Grains) {
        let Some(&group) = grains.group.first() else { return };
        if let Err(refusal) = self.check_insertion(grains) {
            self.refused.push((PlannedChange::Grains(group), refusal));
        }
        self.note_groups(grains);
    }

    /// Makes bonds of these kinds.
    pub fn bond(&mut self, kinds: &[usize]) {
        let mut joined = self.joined.clone();
        for (at, &kind) in kinds.iter().enumerate() {
            if let Err(refusal) = self.check_bonds(kind, &kinds[..at], &mut joined) {
                self.refused.push((PlannedChange::Bonds(kind), refusal));
            }
        }
        // Breakable bonds may be broken at the start of a later stage.
        joined.retain(|_, kind| self.world.bonds[*kind].is_unbreakable());
        self.joined = joined;
    }

    /// Removes bonds of these kinds.
    pub fn unbond(&mut self, kinds: &[usize]) {
        self.joined.retain(|_, kind| !kinds.contains(kind));
    }

    /// Changes that were rejected since the last call, with the errors.
    pub fn take_refused(&mut self) -> Vec<(PlannedChange, WorldError)> {
        std::mem::take(&mut self.refused)
    }

    fn note_groups(&mut self, grains: &Grains) {
        self.group_of.extend(grains.id.iter().copied().zip(grains.group.iter().copied()));
        grains.group.iter().for_each(|&group| self.may_be_there[group as usize] = true);
    }

    fn check_change(&self, change: &SurroundingsChange) -> Result<(), WorldError> {
        if let SurroundingsChange::Motion { wall, motion } = change {
            let boundary = self.world.fluids.as_ref().map(|fluids| &fluids.boundary);
            return check_motion(boundary, (*wall, &self.world.walls[*wall]), motion);
        }
        if let SurroundingsChange::Cell(axes) = change {
            return controlled(self.world.domain.as_ref(), *axes).map(|_| ());
        }
        let (SurroundingsChange::Hold { group, .. } | SurroundingsChange::Free { group } | SurroundingsChange::Load(Load { group, .. })) =
            change
        else {
            return Ok(());
        };
        let is_held = matches!(change, SurroundingsChange::Hold { .. });
        let flaw = if is_held && !self.may_be_there[*group as usize] {
            Some("no grain of the group exists in this stage; fix the grains in a later stage, or leave it out".to_owned())
        } else {
            self.circumstances(*group).flaw_of(change)
        };
        flaw.map_or(Ok(()), |what| Err(self.switch_refused(*group, what)))
    }

    fn switch_refused(&self, group: u32, what: String) -> WorldError {
        WorldError::Switch {
            group: self.world.groups[group as usize].clone(),
            what,
        }
    }

    fn circumstances(&self, group: u32) -> ConstraintContext {
        let world = self.world;
        let is_of_group = |id: &u32| self.group_of.get(id) == Some(&group);
        let bodies = world.grains.bodies.iter();
        let bodies = bodies.filter(|body| body.carries.first().is_some_and(|(id, _)| is_of_group(id)));
        let is_coupled = |id: u32| {
            world
                .fluids
                .iter()
                .flat_map(|fluids| &fluids.body_boundaries)
                .any(|body_boundary| body_boundary.body == id)
        };
        ConstraintContext {
            scalar: world.scalars().first().copied(),
            slides: world
                .domain
                .is_some_and(|domain| domain.shear.is_some() || domain.control.is_some()),
            are_carried: self.froze[group as usize] || bodies.clone().any(|body| body.motion.is_none()),
            couple_to_fluid: self.froze[group as usize] || bodies.clone().any(|body| is_coupled(body.id)),
            has_polyhedra: !world.shapes.is_empty(),
        }
    }

    fn check_insertion(&self, grains: &Grains) -> Result<(), WorldError> {
        let world = self.world;
        check_newcomers(grains, world.shapes.len(), world.domain.as_ref(), &world.scalars())?;
        let walls = world.walls.iter().zip(&self.walls);
        let standing: Vec<Wall> = walls.filter(|(_, is)| **is == [true; 2]).map(|(wall, _)| wall.clone()).collect();
        check_walls_around(&standing, grains)?;
        check_places(standing, grains)
    }

    /// Checks whether bonds of a kind can be made, after those of the kinds `with` at the same time, which are included in `joined`.
    fn check_bonds(&self, kind: usize, with: &[usize], joined: &mut HashMap<[u32; 2], usize>) -> Result<(), WorldError> {
        let all = &self.world.bonds;
        let bonds = &all[kind];
        let may_be = |group: &u32| self.may_be_there[*group as usize];
        match &bonds.between {
            Bonded::Near { groups, tolerance } => {
                let there: Vec<usize> = groups.iter().filter(|group| may_be(group)).map(|&group| group as usize).collect();
                // Grains of one body are not bonded to each other.
                let is_one = |group: &usize| self.is_one[*group];
                if there.is_empty() || there.len() == 1 && there.iter().all(is_one) {
                    return Err(nothing_near(bonds));
                }
                // Both kinds would find the same pairs. Later bonds omit pairs that are bonded, but not bonds made at the same time.
                let is_part = |few: &[u32], many: &[u32]| few.iter().all(|group| many.contains(group));
                let is_rival = |other: &&usize| match &all[**other].between {
                    Bonded::Near {
                        groups: others,
                        tolerance: far,
                    } => is_part(groups, others) && tolerance <= far || is_part(others, groups) && far <= tolerance,
                    Bonded::Pairs(_) => false,
                };
                with.iter().find(is_rival).map_or(Ok(()), |&other| {
                    let by = &all[other].name;
                    Err(refused(
                        bonds,
                        format!("it finds grains that {by}, made at the same moment, bonds already; make the two in stages of their own"),
                    ))
                })
            }
            Bonded::Pairs(pairs) => {
                // Ids of grains from inlets are unknown.
                let is_gone = |id: &u32| self.group_of.get(id).is_some_and(|group| !may_be(group));
                if let Some(&id) = pairs.as_flattened().iter().find(|id| is_gone(id)) {
                    return Err(missing(bonds, id));
                }
                if let Some(&ids) = self.in_one_body(pairs) {
                    return Err(in_one_body(bonds, ids));
                }
                pairs
                    .iter()
                    .try_for_each(|&ids| record_joined((all, kind), lower_first(ids), joined))
            }
        }
    }

    /// First of these pairs in the same rigid body: a clump, or a group with prescribed motion.
    fn in_one_body<'b>(&self, pairs: &'b [[u32; 2]]) -> Option<&'b [u32; 2]> {
        let grains = &self.world.grains;
        let carrier = grains.carriers();
        let clump = |id: &u32| carrier.get(id).filter(|&&body| grains.bodies[body].motion.is_none());
        let held = |id: &u32| self.group_of.get(id).filter(|&&group| self.is_one[group as usize]);
        pairs
            .iter()
            .find(|[a, b]| clump(a).is_some() && clump(a) == clump(b) || held(a).is_some() && held(a) == held(b))
    }
}
