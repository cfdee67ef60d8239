//! Bodies on joints to space.

use seixo_engine::world::{Joint, World};

/// Adds a joint to a body that starts at rest.
pub fn tie(world: &mut World, b: usize, joint: Joint) {
    let body = &mut world.grains.bodies[b];
    (body.velocity, body.angular_velocity) = ([0.0; 3], [0.0; 3]);
    body.joint = Some(joint);
}

/// The world with three of its clumps on joints, one of each kind.
pub fn with_joints(mut world: World) -> World {
    let near = |world: &World, b: usize, by: [f64; 3]| {
        let center = world.grains.bodies[b].center;
        [0, 1, 2].map(|k| center[k] + by[k])
    };
    let through = near(&world, 10, [0.0, 0.0, 1e-3]);
    let axis = [1.0, 0.3, 0.0];
    tie(&mut world, 10, Joint::Hinge { through, axis });
    let through = near(&world, 20, [1e-3, 0.0, 2e-3]);
    tie(&mut world, 20, Joint::Ball { through });
    tie(&mut world, 31, Joint::Slider { along: [0.0, 0.0, 2.0] });
    world
}
