//! Conditions of stages that hold at the start already.

use super::{Act, Plan};
use crate::{assemble::Findings, condition::Measure};
use seixo_engine::world::{Vec3, WallMotion, World};

/// Tells of a first stage whose condition holds at the start already, as far as the world shows that: grains that start at rest have no kinetic energy.
/// Who gave a `hold` knows.
pub(crate) fn note_early_end(world: &World, plan: &Plan, findings: &mut Findings) {
    let Some(stage) = plan.stages.first().filter(|stage| stage.hold == 0.0) else {
        return;
    };
    // What else a stage does as it begins may change what its condition looks at.
    let spares_grains = |act: &Act| matches!(act, Act::Gravity(_) | Act::Motion(..) | Act::Load(_));
    let Some(until) = stage.until.as_ref().filter(|_| stage.acts.iter().all(spares_grains)) else {
        return;
    };
    let reason = until.holds(|measure| match measure {
        Measure::Time | Measure::Duration => 0.0,
        Measure::Grains(group) => world.grains.group.iter().filter(|other| is_of(**other, *group)).count() as f64,
        Measure::KineticEnergy(group) | Measure::LargestSpeed(group) if is_at_rest(world, *group) => 0.0,
        // Of these nothing is known before the first step: no comparison holds.
        Measure::KineticEnergy(_) | Measure::LargestSpeed(_) | Measure::Coordination(_) | Measure::WallForce(_) => f64::NAN,
    });
    if let Some(reason) = reason {
        let place = findings.told_place("stage.0.until");
        let run = if plan.stages.len() == 1 { ", and the run with it" } else { "" };
        findings.notices.push(format!(
            "{place}: stage {}: its condition holds at the start already, as {reason}. If it still does at the first look, after {} s, the stage ends there{run}; \
             add `and duration 0.1 s`, or another time, to the condition, or give the stage a `hold`",
            stage.name, stage.every
        ));
    }
}

/// Whether a grain of this group is meant by a group, or by all.
fn is_of(own: u32, group: Option<u32>) -> bool {
    group.is_none_or(|group| group == own)
}

/// Whether no grain of a group, or of all, moves at the start; a body that does might be of any group.
fn is_at_rest(world: &World, group: Option<u32>) -> bool {
    let stands = |velocity: &Vec3| *velocity == [0.0; 3];
    let is_still = |motion: &WallMotion| *motion == WallMotion::default();
    let grains = &world.grains;
    let mut of_grains = grains.group.iter().zip(&grains.velocity).filter(|(own, _)| is_of(**own, group));
    let mut bodies = grains.bodies.iter();
    of_grains.all(|(_, velocity)| stands(velocity))
        && bodies.all(|body| stands(&body.velocity) && stands(&body.angular_velocity) && body.motion.as_ref().is_none_or(is_still))
}
