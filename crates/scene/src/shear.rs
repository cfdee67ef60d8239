//! Check of sheared periodic cells: whether anything sets their grains in motion.

use crate::{assemble::CheckState, stage::Plan};
use seixo_engine::world::{Body, Domain, Grains, Shear, Vec3, Wall, WallMotion, World};

/// Notes that grains of a sheared cell stay at rest, if they do: moving images only drag grains that have contacts with them.
pub(crate) fn note_rest(world: &World, plan: &Plan, findings: &mut CheckState) {
    let Some((domain, shear)) = world.domain.and_then(|domain| Some((domain, domain.shear?))) else {
        return;
    };
    let grains = &world.grains;
    if grains.is_empty() || shear.rate == 0.0 || is_moved(world, plan) || touch_across_sides(grains, &domain, &shear) {
        return;
    }
    findings.notices.push(
        "world.domain.shear: the grains stay at rest: none meets an image of another as the sides slide, and nothing else moves them. Let them fill the \
         cell up to these sides and across them (`periodic` of a fill), or give them the velocity of the flow"
            .to_owned(),
    );
}

/// Whether something moves grains, now or later, besides the moving images.
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
        || plan.stages.iter().any(|stage| !stage.actions.is_empty())
        || grains.velocity.iter().chain(&grains.angular_velocity).any(is_some)
        || grains.bodies.iter().any(is_body_moved)
        || world.walls.iter().any(is_driven)
}

/// Whether two grains at rest have a contact across the sheared sides, for any displacement of the images along the flow.
fn touch_across_sides(grains: &Grains, domain: &Domain, shear: &Shear) -> bool {
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
