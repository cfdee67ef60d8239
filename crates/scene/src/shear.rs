//! Cells whose sides slide past each other: whether anything sets their grains in motion.

use crate::{assemble::Findings, stage::Plan};
use seixo_engine::world::{Body, Domain, Grains, Shear, Vec3, Wall, WallMotion, World};

/// Notes that grains of a sheared cell stay at rest, if they do: images that slide drag along what they touch, and nothing else.
pub(crate) fn note_rest(world: &World, plan: &Plan, findings: &mut Findings) {
    let Some((domain, shear)) = world.domain.and_then(|domain| Some((domain, domain.shear?))) else {
        return;
    };
    let grains = &world.grains;
    if grains.is_empty() || shear.rate == 0.0 || is_moved(world, plan) || do_meet(grains, &domain, &shear) {
        return;
    }
    findings.notices.push(
        "world.domain.shear: the grains stay at rest: none meets an image of another as the sides slide, and nothing else moves them. Let them fill the \
         cell up to these sides and across them (`periodic` of a fill), or give them the velocity of the flow"
            .to_owned(),
    );
}

/// Whether something moves grains, or will, but for sides that slide.
fn is_moved(world: &World, plan: &Plan) -> bool {
    let is_some = |vector: &Vec3| *vector != [0.0; 3];
    let is_body_moved = |body: &Body| is_some(&body.velocity) || is_some(&body.angular_velocity) || body.motion.is_some();
    let is_driven = |wall: &Wall| {
        let motion = WallMotion {
            until: None,
            ..wall.motion.clone()
        };
        motion != WallMotion::default()
    };
    let grains = &world.grains;
    is_some(&world.gravity)
        || !world.loads.is_empty()
        || !plan.inlets.is_empty()
        || plan.stages.iter().any(|stage| !stage.acts.is_empty())
        || grains.velocity.iter().chain(&grains.angular_velocity).any(is_some)
        || grains.bodies.iter().any(is_body_moved)
        || world.walls.iter().any(is_driven)
}

/// Whether two grains that stay where they are touch across the sides that slide, wherever these have their images along the flow.
fn do_meet(grains: &Grains, domain: &Domain, shear: &Shear) -> bool {
    let (up, beside) = (shear.gradient, 3 - shear.gradient - shear.flow);
    let [height, width] = [up, beside].map(|axis| domain.max[axis] - domain.min[axis]);
    let largest = grains.radius.iter().copied().fold(0.0, f64::max);
    let all = grains.position.iter().zip(&grains.radius);
    let is_low = |(place, radius): &(&Vec3, &f64)| place[up] - **radius - largest < domain.min[up];
    let is_high = |(place, radius): &(&Vec3, &f64)| place[up] + **radius + largest > domain.max[up];
    let low: Vec<(&Vec3, &f64)> = all.clone().filter(is_low).collect();
    all.filter(is_high).any(|(high, of_high)| {
        low.iter().any(|(place, radius)| {
            let mut aside = place[beside] - high[beside];
            if domain.periodic[beside] {
                aside -= width * (aside / width).round();
            }
            (place[up] + height - high[up]).hypot(aside) < *radius + of_high
        })
    })
}
