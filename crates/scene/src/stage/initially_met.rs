//! Conditions of stages that are met at the start.

use super::{Plan, StageAction};
use crate::{assemble::CheckState, condition::Measure};
use seixo_engine::world::{Vec3, WallMotion, World};

/// Notes a first stage whose condition is met at the start, as far as the world shows it: grains that start at rest have no kinetic energy. There is
/// no note if the stage has a `hold`.
pub(crate) fn note_early_end(world: &World, plan: &Plan, findings: &mut CheckState) {
    let Some(stage) = plan.stages.first().filter(|stage| stage.hold == 0.0) else {
        return;
    };
    // Other actions of the stage at its start may change the quantities of its condition.
    let spares_grains = |act: &StageAction| {
        matches!(
            act,
            StageAction::Gravity(_) | StageAction::Cell(_) | StageAction::Motion(..) | StageAction::Load(_)
        )
    };
    let Some(until) = stage.until.as_ref().filter(|_| stage.actions.iter().all(spares_grains)) else {
        return;
    };
    let reason = until.holds(|measure| match measure {
        Measure::Time | Measure::Duration => 0.0,
        Measure::Grains(group) => world.grains.group.iter().filter(|other| is_of(**other, *group)).count() as f64,
        Measure::KineticEnergy(group) | Measure::LargestSpeed(group) if is_at_rest(world, *group) => 0.0,
        // These values are unknown before the first step: no comparison is true.
        Measure::KineticEnergy(_) | Measure::LargestSpeed(_) | Measure::Coordination(_) | Measure::WallForce(_) => f64::NAN,
        // A stage sees the lines that are written after it began.
        Measure::Probe(_) | Measure::Drift(..) => f64::NAN,
    });
    if let Some(reason) = reason {
        let place = findings.location_text("stage.0.until");
        let run = if plan.stages.len() == 1 { ", and the run with it" } else { "" };
        findings.notices.push(format!(
            "{place}: stage {}: its condition holds at the start already, as {reason}. If it still does at the first look, after {} s, the stage ends there{run}; \
             add `and duration 0.1 s`, or another time, to the condition, or give the stage a `hold`",
            stage.name, stage.every
        ));
    }
}

/// Whether a condition on a group, or on all grains, includes grains of this group.
fn is_of(own: u32, group: Option<u32>) -> bool {
    group.is_none_or(|group| group == own)
}

/// Whether no grain of a group, or of all, moves at the start; a moving body might belong to any group.
fn is_at_rest(world: &World, group: Option<u32>) -> bool {
    let is_zero = |velocity: &Vec3| *velocity == [0.0; 3];
    let is_still = |motion: &WallMotion| *motion == WallMotion::default();
    let grains = &world.grains;
    let mut of_grains = grains.group.iter().zip(&grains.velocity).filter(|(own, _)| is_of(**own, group));
    let mut bodies = grains.bodies.iter();
    of_grains.all(|(_, velocity)| is_zero(velocity))
        && bodies.all(|body| is_zero(&body.velocity) && is_zero(&body.angular_velocity) && body.motion.as_ref().is_none_or(is_still))
}
