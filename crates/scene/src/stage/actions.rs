//! Actions of stages at their start, and their order: in a simulation, or in a dry run that finds errors before the run.

use super::{Freeze, Plan, Stage, StageAction, StageItem};
use crate::{assemble::CheckState, diagnostics::UnlocatedDiagnostic};
use seixo_engine::world::{Grains, Load, Vec3, World};
use seixo_engine::{DryRun, Freezing, Melting, PlannedChange, Simulation, SurroundingsChange, WorldError};
use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    ops::Range,
};

/// Target of the actions: a simulation or a dry run.
pub trait StageTarget {
    /// Reason for which an action is impossible.
    type Refused;
    /// Removes bonds of these kinds.
    fn dissolve(&mut self, kinds: &[usize]) -> Result<(), Self::Refused>;
    /// Removes the grains of these groups.
    fn remove_grains(&mut self, groups: &[u32]) -> Result<(), Self::Refused>;
    /// Disables a group.
    fn withdraw(&mut self, group: u32) -> Result<(), Self::Refused>;
    /// Enables a disabled group.
    fn bring_back(&mut self, group: u32) -> Result<(), Self::Refused>;
    /// Melts these bodies, which are all bodies of these groups.
    fn melt_down(&mut self, groups: &[u32], bodies: &[Melting]) -> Result<(), Self::Refused>;
    /// Melts the bodies of a group that froze, into this fluid.
    fn melt_frozen_of(&mut self, group: u32, fluid: u32) -> Result<(), Self::Refused>;
    /// Freezes fluid.
    fn solidify(&mut self, freeze: &Freeze) -> Result<(), Self::Refused>;
    /// Changes walls, inlets and gravity, or prescribed motions and loads.
    fn alter(&mut self, changes: &[SurroundingsChange]) -> Result<(), Self::Refused>;
    /// Adds grains.
    fn bring(&mut self, grains: &Grains) -> Result<(), Self::Refused>;
    /// Sets the velocity of the grains of a group \[m/s\].
    fn throw(&mut self, group: u32, velocity: Vec3) -> Result<(), Self::Refused>;
    /// Makes bonds of these kinds.
    fn bonds(&mut self, kinds: &[usize]) -> Result<(), Self::Refused>;
}

impl StageTarget for Simulation {
    type Refused = WorldError;

    fn dissolve(&mut self, kinds: &[usize]) -> Result<(), WorldError> {
        self.unbond(kinds)
    }

    fn remove_grains(&mut self, groups: &[u32]) -> Result<(), WorldError> {
        if groups.is_empty() {
            return Ok(());
        }
        self.observe().map_err(|stop| WorldError::Stopped(Box::new(stop)))?;
        let ids: Vec<u32> = self
            .grains()
            .filter(|seen| groups.contains(&seen.group))
            .map(|seen| seen.id)
            .collect();
        self.remove(&ids)
    }

    fn withdraw(&mut self, group: u32) -> Result<(), WorldError> {
        self.disable(group)
    }

    fn bring_back(&mut self, group: u32) -> Result<(), WorldError> {
        self.enable(group)
    }

    fn melt_down(&mut self, _: &[u32], bodies: &[Melting]) -> Result<(), WorldError> {
        self.melt(bodies)
    }

    fn melt_frozen_of(&mut self, group: u32, fluid: u32) -> Result<(), WorldError> {
        self.melt_frozen(group, fluid)
    }

    fn solidify(&mut self, freeze: &Freeze) -> Result<(), WorldError> {
        self.observe().map_err(|stop| WorldError::Stopped(Box::new(stop)))?;
        let cell = self.cell();
        let particles: Vec<u32> = self.fluid().map_or_else(Vec::new, |fluid| {
            let taken = (0..fluid.id.len()).filter(|&k| freeze.takes(fluid.kind[k], fluid.position[k], &cell));
            taken.map(|k| fluid.id[k]).collect()
        });
        if particles.is_empty() {
            let name = self.names_of_fluids().swap_remove(freeze.fluid as usize);
            return Err(WorldError::Fluid(format!(
                "{name} is to freeze at t = {:.6e} s, and none of it is in the region; move or enlarge the region",
                self.time()
            )));
        }
        let freezing = Freezing {
            particles,
            material: freeze.material,
            group: freeze.group,
        };
        self.freeze(&freezing).map(|_| ())
    }

    fn alter(&mut self, changes: &[SurroundingsChange]) -> Result<(), WorldError> {
        if changes.is_empty() { Ok(()) } else { self.change(changes) }
    }

    fn bring(&mut self, grains: &Grains) -> Result<(), WorldError> {
        self.insert(grains)
    }

    fn throw(&mut self, group: u32, velocity: Vec3) -> Result<(), WorldError> {
        self.set_velocity(group, velocity)
    }

    fn bonds(&mut self, kinds: &[usize]) -> Result<(), WorldError> {
        self.bond(kinds)
    }
}

/// A dry run continues after errors and collects them.
impl StageTarget for DryRun<'_> {
    type Refused = Infallible;

    fn dissolve(&mut self, kinds: &[usize]) -> Result<(), Infallible> {
        self.unbond(kinds);
        Ok(())
    }

    fn remove_grains(&mut self, groups: &[u32]) -> Result<(), Infallible> {
        self.remove(groups);
        Ok(())
    }

    fn withdraw(&mut self, group: u32) -> Result<(), Infallible> {
        self.disable(group);
        Ok(())
    }

    fn bring_back(&mut self, group: u32) -> Result<(), Infallible> {
        self.enable(group);
        Ok(())
    }

    fn melt_down(&mut self, groups: &[u32], _: &[Melting]) -> Result<(), Infallible> {
        self.remove(groups);
        Ok(())
    }

    fn melt_frozen_of(&mut self, group: u32, _: u32) -> Result<(), Infallible> {
        self.remove(&[group]);
        Ok(())
    }

    fn solidify(&mut self, freeze: &Freeze) -> Result<(), Infallible> {
        self.freeze(freeze.group);
        Ok(())
    }

    fn alter(&mut self, changes: &[SurroundingsChange]) -> Result<(), Infallible> {
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

    fn bonds(&mut self, kinds: &[usize]) -> Result<(), Infallible> {
        self.bond(kinds);
        Ok(())
    }
}

impl Stage {
    /// Executes all actions of a stage, in this order: removal, groups that are disabled, melting and freezing, changes of the surroundings, grains
    /// of the `reserve`, groups that are enabled, prescribed motions and velocities, and new bonds.
    ///
    /// # Errors
    /// If an action is refused.
    pub fn begin<S: StageTarget>(&self, reserve: &Grains, on: &mut S) -> Result<(), S::Refused> {
        on.dissolve(&self.bonds(false))?;
        on.remove_grains(&self.groups_that_go())?;
        for act in &self.actions {
            if let StageAction::Disable(group) = act {
                on.withdraw(*group)?;
            }
        }
        let (groups, bodies) = self.melting();
        on.melt_down(&groups, &bodies)?;
        for act in &self.actions {
            if let StageAction::MeltFrozen(group, fluid) = act {
                on.melt_frozen_of(*group, *fluid)?;
            }
        }
        for act in &self.actions {
            if let StageAction::Freeze(freeze) = act {
                on.solidify(freeze)?;
            }
        }
        on.alter(&self.surroundings())?;
        on.bring(&self.coming(reserve))?;
        for act in &self.actions {
            if let StageAction::Enable(group) = act {
                on.bring_back(*group)?;
            }
        }
        on.alter(&self.switches())?;
        for act in &self.actions {
            if let StageAction::Velocity(group, velocity) = act {
                on.throw(*group, *velocity)?;
            }
        }
        on.bonds(&self.bonds(true))
    }

    /// All actions that use [`Simulation::change`].
    pub fn changes(&self) -> Vec<SurroundingsChange> {
        [self.surroundings(), self.switches()].concat()
    }

    /// Changes around the present grains: walls, inlets of fluids, gravity and the lengths of the domain.
    fn surroundings(&self) -> Vec<SurroundingsChange> {
        let turned = |walls: &Range<usize>, is_there: bool| {
            walls
                .clone()
                .map(|wall| SurroundingsChange::Wall { wall, is_there })
                .collect::<Vec<_>>()
        };
        let change = |act: &StageAction| match act {
            StageAction::Remove(StageItem::Walls(walls)) => turned(walls, false),
            StageAction::Add(StageItem::Walls(walls)) => turned(walls, true),
            StageAction::Remove(StageItem::FluidInlet(inlet)) => vec![SurroundingsChange::Inlet {
                inlet: *inlet,
                is_open: false,
            }],
            StageAction::Add(StageItem::FluidInlet(inlet)) => vec![SurroundingsChange::Inlet {
                inlet: *inlet,
                is_open: true,
            }],
            StageAction::Gravity(gravity) => vec![SurroundingsChange::Gravity(*gravity)],
            StageAction::Cell(axes) => vec![SurroundingsChange::Cell(*axes)],
            StageAction::Motion(walls, motion) => walls
                .clone()
                .map(|wall| SurroundingsChange::Motion {
                    wall,
                    motion: motion.clone(),
                })
                .collect(),
            _ => Vec::new(),
        };
        self.actions.iter().flat_map(change).collect()
    }

    /// Changes of the grains, including those that the stage adds: prescribed motions and loads.
    fn switches(&self) -> Vec<SurroundingsChange> {
        let change = |act: &StageAction| match act {
            StageAction::Hold(group, motion) => Some(SurroundingsChange::Hold {
                group: *group,
                motion: motion.clone(),
            }),
            StageAction::Free(group) => Some(SurroundingsChange::Free { group: *group }),
            StageAction::Load(load) => Some(SurroundingsChange::Load(load.clone())),
            _ => None,
        };
        self.actions.iter().filter_map(change).collect()
    }

    /// Kinds of bonds that it makes, or removes.
    fn bonds(&self, comes: bool) -> Vec<usize> {
        let kind = |act: &StageAction| match act {
            StageAction::Add(StageItem::Bonds(kind)) if comes => Some(*kind),
            StageAction::Remove(StageItem::Bonds(kind)) if !comes => Some(*kind),
            _ => None,
        };
        self.actions.iter().filter_map(kind).collect()
    }

    fn groups_that_go(&self) -> Vec<u32> {
        let group = |act: &StageAction| match act {
            StageAction::Remove(StageItem::Group(group)) => Some(*group),
            _ => None,
        };
        self.actions.iter().filter_map(group).collect()
    }

    /// Groups and bodies that melt.
    fn melting(&self) -> (Vec<u32>, Vec<Melting>) {
        let (mut groups, mut bodies) = (Vec::new(), Vec::new());
        for act in &self.actions {
            if let StageAction::Melt(group, melting) = act {
                groups.push(*group);
                bodies.extend_from_slice(melting);
            }
        }
        (groups, bodies)
    }

    /// The grains of a reserve that it adds.
    fn coming(&self, reserve: &Grains) -> Grains {
        let mut coming = Grains::default();
        let comes = |k: &usize| self.actions.contains(&StageAction::Add(StageItem::Group(reserve.group[*k])));
        (0..reserve.len()).filter(comes).for_each(|k| coming.push_from(reserve, k));
        coming
    }
}

/// Refuses actions that a simulation would refuse at the start of a stage, as far as that follows from the scene alone.
pub(super) fn refuse_impossible(plan: &Plan, world: &World, ranges: &BTreeMap<String, Range<usize>>, findings: &mut CheckState) {
    if !findings.is_sound() {
        return;
    }
    let is_there = |group: u32| {
        ![StageItem::Group(group), StageItem::Inlet(group)]
            .iter()
            .any(|thing| plan.absent.contains(thing))
    };
    let with_inlets: BTreeSet<u32> = plan.inlets.iter().map(|inlet| inlet.group).collect();
    let mut open: BTreeSet<u32> = with_inlets.iter().copied().filter(|&group| is_there(group)).collect();
    let mut forecast = DryRun::of(world);
    for (number, stage) in plan.stages.iter().enumerate() {
        let Ok(()) = stage.begin(&plan.reserve, &mut forecast);
        let mut reported = BTreeSet::new();
        for (planned, refusal) in forecast.take_refused() {
            let path = format!("stage.{number}.{}", key_of(&planned, world, ranges));
            let complaint = UnlocatedDiagnostic::from_message(&refusal.to_string()).within(&format!("stage {}", stage.name));
            if reported.insert(path.clone()) {
                findings.add(&path, complaint);
            }
        }
        for act in &stage.actions {
            match act {
                StageAction::Add(StageItem::Group(group) | StageItem::Inlet(group)) if with_inlets.contains(group) => {
                    open.insert(*group);
                }
                StageAction::Remove(StageItem::Group(group) | StageItem::Inlet(group)) => {
                    open.remove(group);
                }
                _ => {}
            }
        }
        // Inlets add grains that are due after a stage has begun.
        open.iter().for_each(|&group| forecast.open(group));
    }
}

/// The key of a stage for an action.
fn key_of(planned: &PlannedChange, world: &World, ranges: &BTreeMap<String, Range<usize>>) -> String {
    let change = match planned {
        PlannedChange::Grains(_) | PlannedChange::Bonds(_) => return "add".to_owned(),
        PlannedChange::Disable(group) => return format!("set.grains.{}.disabled", world.groups[*group as usize]),
        PlannedChange::Change(change) => change,
    };
    match change {
        SurroundingsChange::Motion { wall, .. } => {
            let named = ranges.iter().find(|(_, range)| range.contains(wall));
            named.map_or_else(|| "set.wall".to_owned(), |(name, _)| format!("set.wall.{name}"))
        }
        SurroundingsChange::Hold { group, .. } | SurroundingsChange::Free { group } | SurroundingsChange::Load(Load { group, .. }) => {
            format!("set.grains.{}", world.groups[*group as usize])
        }
        SurroundingsChange::Gravity(_) => "set.gravity".to_owned(),
        SurroundingsChange::Cell(_) => "set.domain".to_owned(),
        SurroundingsChange::Wall { is_there: true, .. } | SurroundingsChange::Inlet { is_open: true, .. } => "add".to_owned(),
        SurroundingsChange::Wall { .. } | SurroundingsChange::Inlet { .. } => "remove".to_owned(),
    }
}
