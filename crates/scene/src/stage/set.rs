//! What stages set: gravity, motions, velocities, and which grains are held and loaded.

use super::{Act, At, Cast};
use crate::{
    assemble::Findings,
    diagnostics::Complaint,
    fill::si,
    quantity::{Acceleration, Force, Torque, Velocity},
    schema::{GrainsSection, Motion, SceneFile, Vector},
    walls,
};
use schemars::JsonSchema;
use seixo_engine::world::{Load, Vec3, WallMotion};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What changes as a stage begins.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SetSection {
    /// Gravitational acceleration.
    pub gravity: Option<Vector<Acceleration>>,
    /// Walls, by name; the face of a box in quotes, as in "tank.top".
    #[serde(default)]
    pub wall: BTreeMap<String, SetWall>,
    /// Groups of grains, by name.
    #[serde(default)]
    pub grains: BTreeMap<String, SetGrains>,
}

impl SetSection {
    /// What it names, as in "wall.lid".
    pub fn names(&self) -> Vec<String> {
        let gravity = self.gravity.iter().map(|_| "gravity".to_owned());
        let walls = self.wall.keys().map(|name| format!("wall.{name}"));
        let grains = self.grains.keys().map(|name| format!("grains.{name}"));
        gravity.chain(walls).chain(grains).collect()
    }
}

/// What changes of a wall.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SetWall {
    /// How it moves from there on; a point of its axis is where that is at this moment.
    pub motion: Motion,
}

/// What changes of a group of grains: at least one of these.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SetGrains {
    /// Velocity of all of them, unless they are held.
    pub velocity: Option<Vector<Velocity>>,
    /// true holds them where they are, whatever pushes them: they are a boundary from there on. false sets grains that are held free: they go on
    /// as any others, with the velocities that they have. What bonds them to others goes on holding.
    pub fixed: Option<bool>,
    /// Makes a boundary of them that moves like this from where they are, or moves one that they are already in another way; a point of the axis
    /// is where that is at this moment, `start` and `stop` count from it.
    pub motion: Option<Motion>,
    /// Constant force on each grain from there on, in place of the one before; as it was if left out.
    pub force: Option<Vector<Force>>,
    /// Constant torque on each grain from there on; likewise.
    pub torque: Option<Vector<Torque>>,
}

/// How a group of grains stands as stages go by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    is_held: bool,
    /// \[N\].
    force: Vec3,
    /// \[N m\].
    torque: Vec3,
}

impl Standing {
    fn at_start(section: &GrainsSection) -> Standing {
        Standing {
            is_held: section.is_boundary(),
            force: section.force.as_ref().map_or([0.0; 3], si),
            torque: section.torque.as_ref().map_or([0.0; 3], si),
        }
    }
}

/// Makes the paths of files in stages absolute.
pub(crate) fn complete_paths(file: &mut SceneFile, findings: &Findings) {
    let grains = file.stage.iter_mut().flat_map(|stage| stage.set.grains.values_mut());
    for path in grains.filter_map(|grains| grains.motion.as_mut()?.path.as_mut()) {
        *path = findings.absolute(path).display().to_string();
    }
}

impl Cast<'_> {
    /// What a stage sets; `standings` is how groups stand before it, and after it when it returns.
    pub(super) fn settings(&self, set: &SetSection, standings: &mut BTreeMap<u32, Standing>, findings: &Findings) -> Result<Vec<Act>, At> {
        let mut acts: Vec<Act> = set.gravity.iter().map(|gravity| Act::Gravity(si(gravity))).collect();
        for (name, wall) in &set.wall {
            let range = self.walls.find(name).map_err(|complaint| ("wall", complaint))?;
            let motion = walls::motion_of_stage(&wall.motion).map_err(|(_, complaint)| ("wall", complaint.within(name)))?;
            // Belts and rollers go on running.
            let surface = self
                .world
                .walls
                .get(range.start)
                .map_or_else(Default::default, |wall| wall.motion.surface);
            let motion = Box::new(WallMotion { surface, ..motion });
            acts.push(Act::Motion(range, motion));
        }
        for (name, grains) in &set.grains {
            let group = self.group(name).map_err(|complaint| ("grains", complaint))?;
            let section = &self.file.grains[name];
            let standing = standings.entry(group).or_insert_with(|| Standing::at_start(section));
            let switched = self.switched(group, grains, standing, findings);
            acts.extend(switched.map_err(|complaint| ("grains", complaint.within(&format!("grains.{name}"))))?);
        }
        Ok(acts)
    }

    /// What is set of the grains of a group, which stand like this before, and after it when it returns.
    fn switched(&self, group: u32, set: &SetGrains, standing: &mut Standing, findings: &Findings) -> Result<Vec<Act>, Complaint> {
        let mut acts = Vec::new();
        let motion = match (set.fixed, &set.motion) {
            (Some(_), Some(_)) => {
                let complaint = Complaint::new("`fixed` and `motion` both say how they are held");
                return Err(complaint.remedy("keep `motion` for a boundary that moves, or `fixed` for one that stays or is set free"));
            }
            (Some(true), None) => Some(WallMotion::default()),
            (None, Some(motion)) => {
                let motion = walls::motion_of_boundary(&mut motion.clone(), findings);
                Some(motion.map_err(|(_, complaint)| complaint)?)
            }
            (Some(false), None) if standing.is_held => {
                standing.is_held = false;
                acts.push(Act::Free(group));
                None
            }
            (Some(false), None) => {
                let complaint = Complaint::new("they are free already");
                return Err(complaint.limit("grains that are held").remedy("remove fixed = false"));
            }
            (None, None) => None,
        };
        if let Some(motion) = motion {
            standing.is_held = true;
            acts.push(Act::Hold(group, Box::new(motion)));
        }
        let pushes = [
            ("velocity", set.velocity.is_some()),
            ("force", set.force.is_some()),
            ("torque", set.torque.is_some()),
        ];
        let given = pushes.into_iter().find(|(_, is_given)| *is_given);
        if let Some((key, _)) = given.filter(|_| standing.is_held) {
            let complaint = Complaint::new(format!(
                "`{key}` is not for grains that are held, which move as they are told, whatever pushes them"
            ));
            return Err(complaint.remedy("remove it, set them free with fixed = false, or say with `motion` how they move"));
        }
        let is_on_joints = self.section_of(group).joint.is_some();
        if is_on_joints && set.velocity.is_some() {
            let complaint = Complaint::new("`velocity` is not for bodies on joints, which do not let every velocity through");
            return Err(complaint.remedy("remove it, and push them with `force` or `torque`"));
        }
        if let Some(velocity) = &set.velocity {
            acts.push(Act::Velocity(group, si(velocity)));
        }
        if set.force.is_some() || set.torque.is_some() {
            standing.force = set.force.as_ref().map_or(standing.force, si);
            standing.torque = set.torque.as_ref().map_or(standing.torque, si);
            acts.push(Act::Load(Load {
                group,
                force: standing.force,
                torque: standing.torque,
            }));
        }
        if acts.is_empty() {
            let complaint = Complaint::new("nothing is set").limit("`velocity`, `fixed`, `motion`, `force` or `torque`");
            return Err(complaint.remedy("add one of them, or leave the group out"));
        }
        Ok(acts)
    }

    /// The section of a group.
    fn section_of(&self, group: u32) -> &GrainsSection {
        &self.file.grains[&self.world.groups[group as usize]]
    }
}
