//! What stages do as they begin, and in which order: to a simulation, or to a forecast of one, which tells beforehand what would be refused.

use super::{Act, Plan, Stage, Thing};
use crate::{assemble::Findings, diagnostics::Complaint};
use seixo_engine::world::{Grains, Load, Vec3, World};
use seixo_engine::{Change, Forecast, Melting, Planned, Refusal, Simulation};
use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    ops::Range,
};

/// What stages act upon.
pub trait Staged {
    /// Why something cannot be done.
    type Refused;
    /// Dissolves bonds of these kinds.
    fn dissolve(&mut self, kinds: &[usize]) -> Result<(), Self::Refused>;
    /// Takes the grains of these groups away.
    fn take_away(&mut self, groups: &[u32]) -> Result<(), Self::Refused>;
    /// Melts these bodies, which are all of these groups.
    fn melt_down(&mut self, groups: &[u32], bodies: &[Melting]) -> Result<(), Self::Refused>;
    /// Changes what surrounds the grains, or holds them.
    fn alter(&mut self, changes: &[Change]) -> Result<(), Self::Refused>;
    /// Adds grains.
    fn bring(&mut self, grains: &Grains) -> Result<(), Self::Refused>;
    /// Gives the grains of a group a velocity \[m/s\].
    fn throw(&mut self, group: u32, velocity: Vec3) -> Result<(), Self::Refused>;
    /// Makes bonds of these kinds.
    fn glue(&mut self, kinds: &[usize]) -> Result<(), Self::Refused>;
}

impl Staged for Simulation {
    type Refused = Refusal;

    fn dissolve(&mut self, kinds: &[usize]) -> Result<(), Refusal> {
        self.unbond(kinds)
    }

    fn take_away(&mut self, groups: &[u32]) -> Result<(), Refusal> {
        if groups.is_empty() {
            return Ok(());
        }
        self.observe().map_err(|stop| Refusal::Stopped(Box::new(stop)))?;
        let ids: Vec<u32> = self
            .grains()
            .filter(|seen| groups.contains(&seen.group))
            .map(|seen| seen.id)
            .collect();
        self.remove(&ids)
    }

    fn melt_down(&mut self, _: &[u32], bodies: &[Melting]) -> Result<(), Refusal> {
        self.melt(bodies)
    }

    fn alter(&mut self, changes: &[Change]) -> Result<(), Refusal> {
        if changes.is_empty() { Ok(()) } else { self.change(changes) }
    }

    fn bring(&mut self, grains: &Grains) -> Result<(), Refusal> {
        self.insert(grains)
    }

    fn throw(&mut self, group: u32, velocity: Vec3) -> Result<(), Refusal> {
        self.set_velocity(group, velocity)
    }

    fn glue(&mut self, kinds: &[usize]) -> Result<(), Refusal> {
        self.bond(kinds)
    }
}

/// A forecast goes on, and collects what is refused.
impl Staged for Forecast<'_> {
    type Refused = Infallible;

    fn dissolve(&mut self, kinds: &[usize]) -> Result<(), Infallible> {
        self.unbond(kinds);
        Ok(())
    }

    fn take_away(&mut self, groups: &[u32]) -> Result<(), Infallible> {
        self.remove(groups);
        Ok(())
    }

    fn melt_down(&mut self, groups: &[u32], _: &[Melting]) -> Result<(), Infallible> {
        self.remove(groups);
        Ok(())
    }

    fn alter(&mut self, changes: &[Change]) -> Result<(), Infallible> {
        self.change(changes);
        Ok(())
    }

    fn bring(&mut self, grains: &Grains) -> Result<(), Infallible> {
        self.insert(grains);
        Ok(())
    }

    fn throw(&mut self, _: u32, _: Vec3) -> Result<(), Infallible> {
        Ok(())
    }

    fn glue(&mut self, kinds: &[usize]) -> Result<(), Infallible> {
        self.bond(kinds);
        Ok(())
    }
}

impl Stage {
    /// Lets all happen that it begins with: what goes or melts, what surrounds the grains, what comes of the `reserve`, how that is held and moves, and
    /// what is glued together then.
    ///
    /// # Errors
    /// What is refused.
    pub fn begin<S: Staged>(&self, reserve: &Grains, on: &mut S) -> Result<(), S::Refused> {
        on.dissolve(&self.bonds(false))?;
        on.take_away(&self.groups_that_go())?;
        let (groups, bodies) = self.melting();
        on.melt_down(&groups, &bodies)?;
        on.alter(&self.surroundings())?;
        on.bring(&self.coming(reserve))?;
        on.alter(&self.switches())?;
        for act in &self.acts {
            if let Act::Velocity(group, velocity) = act {
                on.throw(*group, *velocity)?;
            }
        }
        on.glue(&self.bonds(true))
    }

    /// All that it changes by [`Simulation::change`].
    pub fn changes(&self) -> Vec<Change> {
        [self.surroundings(), self.switches()].concat()
    }

    /// What it changes around grains that are there before it: walls, inlets of fluids and gravity.
    fn surroundings(&self) -> Vec<Change> {
        let turned = |walls: &Range<usize>, is_there: bool| walls.clone().map(|wall| Change::Wall { wall, is_there }).collect::<Vec<_>>();
        let change = |act: &Act| match act {
            Act::Remove(Thing::Walls(walls)) => turned(walls, false),
            Act::Add(Thing::Walls(walls)) => turned(walls, true),
            Act::Remove(Thing::FluidInlet(inlet)) => vec![Change::Inlet {
                inlet: *inlet,
                is_open: false,
            }],
            Act::Add(Thing::FluidInlet(inlet)) => vec![Change::Inlet {
                inlet: *inlet,
                is_open: true,
            }],
            Act::Gravity(gravity) => vec![Change::Gravity(*gravity)],
            Act::Motion(walls, motion) => walls
                .clone()
                .map(|wall| Change::Motion {
                    wall,
                    motion: motion.clone(),
                })
                .collect(),
            _ => Vec::new(),
        };
        self.acts.iter().flat_map(change).collect()
    }

    /// What it changes of the grains, those that come with it, too: what holds and loads them.
    fn switches(&self) -> Vec<Change> {
        let change = |act: &Act| match act {
            Act::Hold(group, motion) => Some(Change::Hold {
                group: *group,
                motion: motion.clone(),
            }),
            Act::Free(group) => Some(Change::Free { group: *group }),
            Act::Load(load) => Some(Change::Load(*load)),
            _ => None,
        };
        self.acts.iter().filter_map(change).collect()
    }

    /// Kinds of bonds that it makes, or dissolves.
    fn bonds(&self, comes: bool) -> Vec<usize> {
        let kind = |act: &Act| match act {
            Act::Add(Thing::Bonds(kind)) if comes => Some(*kind),
            Act::Remove(Thing::Bonds(kind)) if !comes => Some(*kind),
            _ => None,
        };
        self.acts.iter().filter_map(kind).collect()
    }

    fn groups_that_go(&self) -> Vec<u32> {
        let group = |act: &Act| match act {
            Act::Remove(Thing::Group(group)) => Some(*group),
            _ => None,
        };
        self.acts.iter().filter_map(group).collect()
    }

    /// Groups and bodies that melt.
    fn melting(&self) -> (Vec<u32>, Vec<Melting>) {
        let (mut groups, mut bodies) = (Vec::new(), Vec::new());
        for act in &self.acts {
            if let Act::Melt(group, melting) = act {
                groups.push(*group);
                bodies.extend_from_slice(melting);
            }
        }
        (groups, bodies)
    }

    /// The grains of a reserve that come.
    fn coming(&self, reserve: &Grains) -> Grains {
        let mut coming = Grains::default();
        let comes = |k: &usize| self.acts.contains(&Act::Add(Thing::Group(reserve.group[*k])));
        (0..reserve.len()).filter(comes).for_each(|k| coming.push_from(reserve, k));
        coming
    }
}

/// Refuses what a simulation would refuse when a stage begins, as far as that follows from the scene alone.
pub(super) fn refuse_impossible(plan: &Plan, world: &World, ranges: &BTreeMap<String, Range<usize>>, findings: &mut Findings) {
    if !findings.is_sound() {
        return;
    }
    let is_there = |group: u32| {
        ![Thing::Group(group), Thing::Inlet(group)]
            .iter()
            .any(|thing| plan.absent.contains(thing))
    };
    let with_inlets: BTreeSet<u32> = plan.inlets.iter().map(|inlet| inlet.group).collect();
    let mut open: BTreeSet<u32> = with_inlets.iter().copied().filter(|&group| is_there(group)).collect();
    let mut forecast = Forecast::of(world);
    for (number, stage) in plan.stages.iter().enumerate() {
        let Ok(()) = stage.begin(&plan.reserve, &mut forecast);
        let mut told = BTreeSet::new();
        for (planned, refusal) in forecast.take_refused() {
            let path = format!("stage.{number}.{}", key_of(&planned, world, ranges));
            let complaint = Complaint::told(&refusal.to_string()).within(&format!("stage {}", stage.name));
            if told.insert(path.clone()) {
                findings.add(&path, complaint);
            }
        }
        for act in &stage.acts {
            match act {
                Act::Add(Thing::Group(group) | Thing::Inlet(group)) if with_inlets.contains(group) => {
                    open.insert(*group);
                }
                Act::Remove(Thing::Group(group) | Thing::Inlet(group)) => {
                    open.remove(group);
                }
                _ => {}
            }
        }
        // Inlets bring what is due after a stage has begun.
        open.iter().for_each(|&group| forecast.open(group));
    }
}

/// The key of a stage that says what is planned.
fn key_of(planned: &Planned, world: &World, ranges: &BTreeMap<String, Range<usize>>) -> String {
    let change = match planned {
        Planned::Grains(_) | Planned::Bonds(_) => return "add".to_owned(),
        Planned::Change(change) => change,
    };
    match change {
        Change::Motion { wall, .. } => {
            let named = ranges.iter().find(|(_, range)| range.contains(wall));
            named.map_or_else(|| "set.wall".to_owned(), |(name, _)| format!("set.wall.{name}"))
        }
        Change::Hold { group, .. } | Change::Free { group } | Change::Load(Load { group, .. }) => {
            format!("set.grains.{}", world.groups[*group as usize])
        }
        Change::Gravity(_) => "set.gravity".to_owned(),
        Change::Wall { is_there: true, .. } | Change::Inlet { is_open: true, .. } => "add".to_owned(),
        Change::Wall { .. } | Change::Inlet { .. } => "remove".to_owned(),
    }
}
