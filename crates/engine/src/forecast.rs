//! Whether what is planned can be done, before anything moves: a walk over a world as plans will have it.
//!
//! Refused is what follows from the plan alone, by the functions that refuse it while a simulation runs. Where grains that move and fluids will be,
//! nobody knows: that a wall would appear in one of them, or a grain come where one is, shows when it happens.

use crate::bonds::{in_one_body, joined_for_good, lower_first, missing, note_joined, nothing_near, refused};
use crate::events::{Change, check_newcomers};
use crate::flow::check_motion;
use crate::insertion::check_places;
use crate::refusal::Refusal;
use crate::switches::Circumstances;
use crate::walls::is_moving;
use crate::world::{Bonded, Grains, Load, Wall, World};
use std::collections::HashMap;

/// Something that is planned.
#[derive(Clone, Debug, PartialEq)]
pub enum Planned {
    /// A change of what surrounds the grains, or holds them.
    Change(Change),
    /// Grains that come, by their group.
    Grains(u32),
    /// Bonds that are made, by their index into [`World::bonds`].
    Bonds(usize),
}

/// A world as plans will have it.
pub struct Forecast<'a> {
    world: &'a World,
    /// Groups of the grains whose ids are known.
    group_of: HashMap<u32, u32>,
    /// Whether some grain of each group may be there.
    may_be_there: Vec<bool>,
    /// Whether the grains of each group, or some of them, come one by one.
    by_inlet: Vec<bool>,
    /// Whether each group is held as one body.
    is_one: Vec<bool>,
    /// Pairs of ids that bonds are known to hold, the lower one first, and of which kind these are.
    joined: HashMap<[u32; 2], usize>,
    /// Whether each wall is there, and whether it stands where the world has it.
    walls: Vec<[bool; 2]>,
    refused: Vec<(Planned, Refusal)>,
}

impl<'a> Forecast<'a> {
    /// A world at time zero.
    pub fn of(world: &'a World) -> Forecast<'a> {
        let (grains, groups) = (&world.grains, world.groups.len());
        let mut forecast = Forecast {
            world,
            group_of: HashMap::new(),
            may_be_there: vec![false; groups],
            by_inlet: vec![false; groups],
            is_one: vec![false; groups],
            joined: joined_for_good(world),
            walls: world.walls.iter().map(|wall| [true, !is_moving(&wall.motion)]).collect(),
            refused: Vec::new(),
        };
        world.later.walls.iter().for_each(|&wall| forecast.walls[wall][0] = false);
        forecast.know(grains);
        for body in grains.bodies.iter().filter(|body| body.motion.is_some()) {
            let Some(&group) = body.carries.first().and_then(|(id, _)| forecast.group_of.get(id)) else {
                continue;
            };
            let of_group = grains.group.iter().filter(|other| **other == group).count();
            forecast.is_one[group as usize] = body.carries.len() == of_group;
        }
        forecast
    }

    /// Grains of a group may come from now on, one by one.
    pub fn open(&mut self, group: u32) {
        self.may_be_there[group as usize] = true;
        self.by_inlet[group as usize] = true;
    }

    /// Grains of these groups go.
    pub fn remove(&mut self, groups: &[u32]) {
        groups.iter().for_each(|&group| self.may_be_there[group as usize] = false);
    }

    /// Changes what surrounds the grains, or holds them.
    pub fn change(&mut self, changes: &[Change]) {
        for change in changes {
            if let Err(refusal) = self.check_change(change) {
                self.refused.push((Planned::Change(change.clone()), refusal));
            }
            match change {
                Change::Wall { wall, is_there } => self.walls[*wall][0] = *is_there,
                Change::Motion { wall, motion } => self.walls[*wall][1] &= !is_moving(motion),
                Change::Hold { group, .. } => self.is_one[*group as usize] = !self.by_inlet[*group as usize],
                Change::Free { group } => self.is_one[*group as usize] = false,
                _ => {}
            }
        }
    }

    /// Adds grains.
    pub fn insert(&mut self, grains: &Grains) {
        let Some(&group) = grains.group.first() else { return };
        if let Err(refusal) = self.check_insertion(grains) {
            self.refused.push((Planned::Grains(group), refusal));
        }
        self.know(grains);
    }

    /// Makes bonds of these kinds.
    pub fn bond(&mut self, kinds: &[usize]) {
        let mut joined = self.joined.clone();
        for (at, &kind) in kinds.iter().enumerate() {
            if let Err(refusal) = self.check_bonds(kind, &kinds[..at], &mut joined) {
                self.refused.push((Planned::Bonds(kind), refusal));
            }
        }
        // What can break may be broken when another stage begins.
        joined.retain(|_, kind| self.world.bonds[*kind].is_unbreakable());
        self.joined = joined;
    }

    /// Dissolves bonds of these kinds.
    pub fn unbond(&mut self, kinds: &[usize]) {
        self.joined.retain(|_, kind| !kinds.contains(kind));
    }

    /// What was refused since this was asked last, and why.
    pub fn take_refused(&mut self) -> Vec<(Planned, Refusal)> {
        std::mem::take(&mut self.refused)
    }

    fn know(&mut self, grains: &Grains) {
        self.group_of.extend(grains.id.iter().copied().zip(grains.group.iter().copied()));
        grains.group.iter().for_each(|&group| self.may_be_there[group as usize] = true);
    }

    fn check_change(&self, change: &Change) -> Result<(), Refusal> {
        if let Change::Motion { wall, motion } = change {
            let boundary = self.world.fluids.as_ref().map(|fluids| &fluids.boundary);
            return check_motion(boundary, (*wall, &self.world.walls[*wall]), motion);
        }
        let (Change::Hold { group, .. } | Change::Free { group } | Change::Load(Load { group, .. })) = change else {
            return Ok(());
        };
        let is_held = matches!(change, Change::Hold { .. });
        let flaw = if is_held && !self.may_be_there[*group as usize] {
            Some("none of them is there to be held; hold them when they are, or leave it out".to_owned())
        } else {
            self.circumstances(*group).flaw_of(change)
        };
        flaw.map_or(Ok(()), |what| {
            Err(Refusal::Switch {
                group: self.world.groups[*group as usize].clone(),
                what,
            })
        })
    }

    fn circumstances(&self, group: u32) -> Circumstances {
        let world = self.world;
        let is_of_group = |id: &u32| self.group_of.get(id) == Some(&group);
        let bodies = world.grains.bodies.iter();
        let bodies = bodies.filter(|body| body.carries.first().is_some_and(|(id, _)| is_of_group(id)));
        let is_felt = |id: u32| world.fluids.iter().flat_map(|fluids| &fluids.hulls).any(|hull| hull.body == id);
        Circumstances {
            conducts: world.conduction.is_some(),
            slides: world.domain.is_some_and(|domain| domain.shear.is_some()),
            are_carried: bodies.clone().any(|body| body.motion.is_none()),
            are_felt: bodies.clone().any(|body| is_felt(body.id)),
        }
    }

    fn check_insertion(&self, grains: &Grains) -> Result<(), Refusal> {
        let world = self.world;
        check_newcomers(grains, world.domain.as_ref(), world.conduction.is_some())?;
        let walls = world.walls.iter().zip(&self.walls);
        let standing: Vec<Wall> = walls.filter(|(_, is)| **is == [true; 2]).map(|(wall, _)| wall.clone()).collect();
        check_places(standing, grains)
    }

    /// Whether bonds of a kind can be made, after those of the kinds `with` at the same moment, which are `joined` among others.
    fn check_bonds(&self, kind: usize, with: &[usize], joined: &mut HashMap<[u32; 2], usize>) -> Result<(), Refusal> {
        let all = &self.world.bonds;
        let bonds = &all[kind];
        let may_be = |group: &u32| self.may_be_there[*group as usize];
        match &bonds.between {
            Bonded::Near { groups, tolerance } => {
                let there: Vec<usize> = groups.iter().filter(|group| may_be(group)).map(|&group| group as usize).collect();
                // What one body carries is joined already.
                let is_one = |group: &usize| self.is_one[*group];
                if there.is_empty() || there.len() == 1 && there.iter().all(is_one) {
                    return Err(nothing_near(bonds));
                }
                // What one finds the other finds, too: what comes later passes over what is bonded before, but not at the same moment.
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
                // Of grains that come through inlets nobody knows the ids.
                let is_gone = |id: &u32| self.group_of.get(id).is_some_and(|group| !may_be(group));
                if let Some(&id) = pairs.as_flattened().iter().find(|id| is_gone(id)) {
                    return Err(missing(bonds, id));
                }
                if let Some(&ids) = self.in_one_body(pairs) {
                    return Err(in_one_body(bonds, ids));
                }
                pairs.iter().try_for_each(|&ids| note_joined((all, kind), lower_first(ids), joined))
            }
        }
    }

    /// The first of these pairs that one rigid body carries: a clump, or a group that is held.
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
