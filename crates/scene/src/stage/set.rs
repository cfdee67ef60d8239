//! Settings that stages change: gravity, motions, velocities, prescribed motion and loads of grains.

use super::{At, Cast, StageAction, StageItem};
use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    fill::si,
    quantity::{
        Acceleration, Force, Positive, Pressure, Quantity, Torque, Velocity,
        of_time::{OfTime, vector_of_time},
    },
    schema::{GrainsSection, Motion, SceneFile, SetDomain, Vector},
    walls,
};
use schemars::JsonSchema;
use seixo_engine::world::{Load, Servo, VectorOfTime, WallMotion};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings that change at the start of a stage.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SetSection {
    /// Gravitational acceleration.
    pub gravity: Option<Vector<Acceleration>>,
    /// Stresses and strain rates of a periodic domain whose lengths are controlled.
    pub domain: Option<SetDomain>,
    /// Walls, by name; the face of a box in quotes, as in "tank.top".
    #[serde(default)]
    pub wall: BTreeMap<String, SetWall>,
    /// Groups of grains, by name.
    #[serde(default)]
    pub grains: BTreeMap<String, SetGrains>,
}

impl SetSection {
    /// The names of all settings, as in "wall.lid".
    pub fn names(&self) -> Vec<String> {
        let gravity = self.gravity.iter().map(|_| "gravity".to_owned());
        let domain = self.domain.iter().map(|_| "domain".to_owned());
        let walls = self.wall.keys().map(|name| format!("wall.{name}"));
        let grains = self.grains.keys().map(|name| format!("grains.{name}"));
        gravity.chain(domain).chain(walls).chain(grains).collect()
    }
}

/// Settings of a wall: at least one of these.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SetWall {
    /// Motion of the wall from this moment on: `translate`, `rotate` and `vibrate`, between `start` and `stop`. A path or a servo belongs in the
    /// section of the wall. `through` is a point of the axis at this moment.
    pub motion: Option<Motion>,
    /// Target of the wall's servo from this moment on. Otherwise the wall moves as `motion` says or, if it is left out, as its section says.
    pub servo: Option<SetServo>,
}

/// Target of a servo: that which its section has, a force, a stress or a torque.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "force": "200 N" }))]
pub(crate) struct SetServo {
    /// Force of the wall on the grains.
    pub force: Option<Quantity<Force, Positive>>,
    /// Force per area of the wall on the grains.
    #[schemars(example = &"10 kPa")]
    pub stress: Option<Quantity<Pressure, Positive>>,
    /// Torque of the wall on the grains.
    #[schemars(example = &"2 N m")]
    pub torque: Option<Quantity<Torque, Positive>>,
}

/// Settings of a group of grains: at least one of these.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SetGrains {
    /// Velocity of all grains of the group, unless they have a prescribed motion.
    pub velocity: Option<Vector<Velocity>>,
    /// true: the grains leave the simulation, and keep their ids, positions, orientations, velocities and temperatures. false: they come back with
    /// them, and with the bonds among them; a grain or wall at their positions is an error. In between nothing else can be set. A boundary comes back
    /// with `fixed` or `motion`.
    pub disabled: Option<bool>,
    /// true: the grains become a boundary at rest, whatever forces act on them. false: grains with a prescribed motion move freely again, and start
    /// with the velocities that they have. Bonds to other grains remain.
    pub fixed: Option<bool>,
    /// Prescribed motion: the grains become a boundary that moves like this from their current positions; if they already are one, it replaces their
    /// motion. `through` is a point of the axis at this moment; `start` and `stop` count from this moment.
    pub motion: Option<Motion>,
    /// Force on each grain from this moment on, constant or a formula of the time t since the start of the run; it replaces the previous one; as it
    /// was if left out.
    pub force: Option<[OfTime<Force>; 3]>,
    /// Torque on each grain from this moment on, as `force`; it replaces the previous one.
    pub torque: Option<[OfTime<Torque>; 3]>,
}

impl SetGrains {
    /// The first key that is given beside `disabled`.
    fn first_other_key(&self) -> Option<&'static str> {
        let keys = [
            ("fixed", self.fixed.is_some()),
            ("motion", self.motion.is_some()),
            ("velocity", self.velocity.is_some()),
            ("force", self.force.is_some()),
            ("torque", self.torque.is_some()),
        ];
        keys.into_iter().find_map(|(key, is_given)| is_given.then_some(key))
    }
}

/// Whether each item named so far is present.
type Presence = Vec<(StageItem, bool)>;

/// Refuses to add, remove or melt a disabled group.
pub(super) fn refuse_to_turn_disabled(
    name: &str,
    thing: &StageItem,
    states: &BTreeMap<u32, GroupState>,
) -> Result<(), UnlocatedDiagnostic> {
    let is_disabled = |group: &u32| states.get(group).is_some_and(|state| state.is_disabled);
    match thing {
        StageItem::Group(group) if is_disabled(group) => {
            let complaint = UnlocatedDiagnostic::new(format!("{name} is disabled"));
            Err(complaint.remedy(format!("bring it back in an earlier stage with set.{name}.disabled = false")))
        }
        _ => Ok(()),
    }
}

/// Prescribed motion and loads of a group of grains, as stages change them.
#[derive(Clone, Debug)]
pub(super) struct GroupState {
    is_disabled: bool,
    /// Whether their motion is prescribed, or was so when they were disabled.
    is_held: bool,
    /// \[N\].
    force: VectorOfTime,
    /// \[N m\].
    torque: VectorOfTime,
}

impl GroupState {
    fn at_start(section: &GrainsSection) -> GroupState {
        GroupState {
            is_disabled: false,
            is_held: section.is_boundary(),
            force: section.force.as_ref().map_or_else(VectorOfTime::default, vector_of_time),
            torque: section.torque.as_ref().map_or_else(VectorOfTime::default, vector_of_time),
        }
    }
}

/// Makes paths of files in stages absolute.
pub(crate) fn complete_paths(file: &mut SceneFile, findings: &CheckState) {
    let grains = file.stage.iter_mut().flat_map(|stage| stage.set.grains.values_mut());
    for path in grains.filter_map(|grains| grains.motion.as_mut()?.path.as_mut()) {
        *path = findings.absolute(path).display().to_string();
    }
}

impl Cast<'_> {
    /// The actions for the settings of a stage. `states` is the state of groups before the stage, and after it on return; so is `presence`.
    pub(super) fn settings(
        &self,
        set: &SetSection,
        (states, presence): (&mut BTreeMap<u32, GroupState>, &mut Presence),
        findings: &CheckState,
    ) -> Result<Vec<StageAction>, At> {
        let mut actions: Vec<StageAction> = set.gravity.iter().map(|gravity| StageAction::Gravity(si(gravity))).collect();
        if let Some(domain) = &set.domain {
            let section = self.file.world.domain.as_ref().and_then(|domain| domain.control.as_ref());
            let axes = domain.axes(section).map_err(|complaint| ("domain", complaint))?;
            actions.push(StageAction::Cell(axes));
        }
        for (name, wall) in &set.wall {
            let range = self.walls.find(name).map_err(|complaint| ("wall", complaint))?;
            let given = self
                .world
                .walls
                .get(range.start)
                .map_or_else(Default::default, |wall| wall.motion.clone());
            let motion = self.motion_of_wall(name, wall, &given);
            let motion = motion.map_err(|complaint| ("wall", complaint.within(name)))?;
            actions.push(StageAction::Motion(range, Box::new(motion)));
        }
        for (name, grains) in &set.grains {
            let group = self.group(name).map_err(|complaint| ("grains", complaint))?;
            let section = &self.file.grains[name];
            let state = states.entry(group).or_insert_with(|| GroupState::at_start(section));
            let at = |complaint: UnlocatedDiagnostic| ("grains", complaint.within(&format!("grains.{name}")));
            actions.extend(self.disabled(group, grains, state, presence).map_err(at)?);
            if grains.disabled != Some(true) {
                actions.extend(self.switched(group, grains, state, findings).map_err(at)?);
            }
        }
        Ok(actions)
    }

    /// The motion that a stage sets for a wall of this motion at the start.
    fn motion_of_wall(&self, name: &str, set: &SetWall, given: &WallMotion) -> Result<WallMotion, UnlocatedDiagnostic> {
        let prescribed = set.motion.as_ref().map(walls::motion_of_stage).transpose();
        let prescribed = prescribed.map_err(|(_, complaint)| complaint)?;
        // Belts and rollers keep their surface velocity.
        let surface = given.surface;
        let Some(target) = &set.servo else {
            let complaint = UnlocatedDiagnostic::new("nothing is set").limit("`motion` or `servo`");
            let motion = prescribed.ok_or_else(|| complaint.remedy("add one of them, or leave the wall out"))?;
            return Ok(WallMotion { surface, ..motion });
        };
        let section = self.file.wall.get(name).and_then(|section| section.motion.servo.as_ref());
        let (Some(servo), Some(section)) = (given.servo, section) else {
            let complaint = UnlocatedDiagnostic::new("it has no servo whose target a stage can set");
            return Err(complaint.remedy("write the servo in the section of the wall, with its target at the start"));
        };
        let share = match (target.force, target.stress, target.torque) {
            (Some(force), None, None) => section.force.map(|before| force.si / before.si),
            (None, Some(stress), None) => section.stress.map(|before| stress.si / before.si),
            (None, None, Some(torque)) => section.torque.map(|before| torque.si / before.si),
            _ => {
                let complaint = UnlocatedDiagnostic::new("a servo has one target");
                return Err(complaint.remedy("write servo = { force = \"200 N\" }, { stress = \"10 kPa\" } or { torque = \"2 N m\" }"));
            }
        };
        let Some(share) = share else {
            let complaint = UnlocatedDiagnostic::new("the servo has a target of another kind in the section of the wall");
            return Err(complaint.remedy("give the target as it is there, as a `force`, a `stress` or a `torque`"));
        };
        let servo = Servo {
            target: servo.target.with_value(servo.target.value() * share),
            ..servo
        };
        // The axis of a torque moves with its wall, and a stage counts motions from its start.
        if servo.turns() && (prescribed.is_some() || given.velocity != [0.0; 3]) {
            let complaint = UnlocatedDiagnostic::new("a stage cannot set the torque on a wall that is moved otherwise, too");
            return Err(complaint.remedy("leave `motion` and `translate` of this wall out, or keep the torque"));
        }
        let goes_straight = given.path.is_none() && given.vibrations.is_empty() && given.angular_velocity == [0.0; 3];
        let rest = match prescribed {
            Some(motion) => motion,
            None if goes_straight => WallMotion {
                velocity: given.velocity,
                through: given.through,
                ..WallMotion::default()
            },
            None => {
                let complaint =
                    UnlocatedDiagnostic::new("its path, vibration or rotation would begin again with the new target of its servo");
                return Err(complaint.remedy("add the `motion` that it has from this moment on beside the servo"));
            }
        };
        Ok(WallMotion {
            servo: Some(servo),
            surface,
            ..rest
        })
    }

    /// The action that disables or enables a group of grains, if its settings ask for one. `state` and `presence` are updated as in `settings`.
    fn disabled(
        &self,
        group: u32,
        set: &SetGrains,
        state: &mut GroupState,
        presence: &mut Presence,
    ) -> Result<Option<StageAction>, UnlocatedDiagnostic> {
        let name = &self.world.groups[group as usize];
        match (set.disabled, state.is_disabled) {
            (None, false) => Ok(None),
            (None, true) => {
                let complaint = UnlocatedDiagnostic::new("they are disabled, so nothing can be set");
                Err(complaint.remedy("add disabled = false, or set it in a later stage that does"))
            }
            (Some(true), true) => Err(UnlocatedDiagnostic::new("they are disabled already").remedy("remove disabled = true")),
            (Some(false), false) => {
                let complaint = UnlocatedDiagnostic::new("they are not disabled").limit("grains that an earlier stage disabled");
                Err(complaint.remedy("remove disabled = false"))
            }
            (Some(true), false) => {
                // Later stages are checked as if they were disabled, even if they cannot be.
                state.is_disabled = true;
                if self.are_clumps(group) {
                    let complaint = UnlocatedDiagnostic::new("clumps, and bodies on joints, cannot be disabled");
                    return Err(complaint.remedy(format!("write remove = [\"grains.{name}\"], or use spheres")));
                }
                if let Some(key) = set.first_other_key() {
                    let complaint = UnlocatedDiagnostic::new(format!("`{key}` does nothing to grains that are disabled"));
                    return Err(complaint.remedy(format!("remove it, or set `{key}` in the stage that brings them back")));
                }
                let is_shut = presence.contains(&(StageItem::Inlet(group), false));
                if self.section_of(group).inlet.is_some() && !is_shut {
                    let complaint = UnlocatedDiagnostic::new("they are disabled while their inlet adds more of them");
                    return Err(complaint.remedy(format!("add remove = [\"inlet.{name}\"] to this stage, or to one before it")));
                }
                self.turn(&format!("grains.{name}"), &StageItem::Group(group), false, presence)?;
                Ok(Some(StageAction::Disable(group)))
            }
            (Some(false), true) => {
                if state.is_held && set.fixed.is_none() && set.motion.is_none() {
                    let complaint = UnlocatedDiagnostic::new("they were held when they were disabled, and nothing says how they come back");
                    return Err(complaint.remedy("add fixed = true or a `motion` to hold them again, or fixed = false to set them free"));
                }
                let is_own = |(thing, _): &&mut (StageItem, bool)| *thing == StageItem::Group(group);
                presence.iter_mut().filter(is_own).for_each(|(_, is_there)| *is_there = true);
                state.is_disabled = false;
                Ok(Some(StageAction::Enable(group)))
            }
        }
    }

    /// The actions for the other settings of a group of grains. `state` is updated as in `settings`.
    fn switched(
        &self,
        group: u32,
        set: &SetGrains,
        state: &mut GroupState,
        findings: &CheckState,
    ) -> Result<Vec<StageAction>, UnlocatedDiagnostic> {
        let mut actions = Vec::new();
        let motion = match (set.fixed, &set.motion) {
            (Some(_), Some(_)) => {
                let complaint = UnlocatedDiagnostic::new("`fixed` and `motion` both say how they are held");
                return Err(complaint.remedy("keep `motion` for a boundary that moves, or `fixed` for one that stays or is set free"));
            }
            (Some(true), None) => Some(WallMotion::default()),
            (None, Some(motion)) => {
                let motion = walls::motion_of_boundary(&mut motion.clone(), findings);
                Some(motion.map_err(|(_, complaint)| complaint)?)
            }
            (Some(false), None) if state.is_held && self.are_clumps(group) => {
                let complaint =
                    UnlocatedDiagnostic::new("clumps that are held cannot be set free: each of their spheres would go its own way");
                return Err(complaint.remedy("hold them for good, let them move from the start, or use spheres"));
            }
            (Some(false), None) if state.is_held => {
                state.is_held = false;
                actions.push(StageAction::Free(group));
                None
            }
            (Some(false), None) => {
                let complaint = UnlocatedDiagnostic::new("they are free already");
                return Err(complaint.limit("grains that are held").remedy("remove fixed = false"));
            }
            (None, None) => None,
        };
        if let Some(motion) = motion {
            state.is_held = true;
            actions.push(StageAction::Hold(group, Box::new(motion)));
        }
        let pushes = [
            ("velocity", set.velocity.is_some()),
            ("force", set.force.is_some()),
            ("torque", set.torque.is_some()),
        ];
        let given = pushes.into_iter().find(|(_, is_given)| *is_given);
        if let Some((key, _)) = given.filter(|_| state.is_held) {
            let complaint = UnlocatedDiagnostic::new(format!(
                "`{key}` is not for grains that are held, which move as prescribed, whatever pushes them"
            ));
            return Err(complaint.remedy("remove it, set them free with fixed = false, or say with `motion` how they move"));
        }
        let is_on_joints = self.section_of(group).joint.is_some();
        if is_on_joints && set.velocity.is_some() {
            let complaint = UnlocatedDiagnostic::new("`velocity` is not for bodies on joints, which do not let every velocity through");
            return Err(complaint.remedy("remove it, and push them with `force` or `torque`"));
        }
        if let Some(velocity) = &set.velocity {
            actions.push(StageAction::Velocity(group, si(velocity)));
        }
        if set.force.is_some() || set.torque.is_some() {
            if let Some(force) = &set.force {
                state.force = vector_of_time(force);
            }
            if let Some(torque) = &set.torque {
                state.torque = vector_of_time(torque);
            }
            actions.push(StageAction::Load(Load {
                group,
                force: state.force.clone(),
                torque: state.torque.clone(),
            }));
        }
        if actions.is_empty() && set.disabled.is_none() {
            let complaint =
                UnlocatedDiagnostic::new("nothing is set").limit("`velocity`, `disabled`, `fixed`, `motion`, `force` or `torque`");
            return Err(complaint.remedy("add one of them, or leave the group out"));
        }
        Ok(actions)
    }

    /// Whether the grains of a group are clumps.
    fn are_clumps(&self, group: u32) -> bool {
        let section = self.section_of(group);
        section.shape.is_some() && !self.file.has_polyhedron(section)
    }

    /// The section of a group.
    fn section_of(&self, group: u32) -> &GrainsSection {
        &self.file.grains[&self.world.groups[group as usize]]
    }
}
