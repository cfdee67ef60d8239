//! Beds below walls with servos.

use crate::beds::falling;
use seixo_engine::world::{Extent, Servo, ServoTarget, Vec3, Wall, WallMotion, WallShape, World};
use seixo_laws::contact::TangentialLaw;

fn steered(name: &str, shape: WallShape, through: Vec3, servo: Servo) -> Wall {
    Wall {
        name: name.into(),
        material: 0,
        shape,
        motion: WallMotion {
            through,
            servo: Some(servo),
            ..WallMotion::default()
        },
        specific_wear_rate: 0.0,
    }
}

/// A bed in a box with a moving side, and a plate above that a servo presses down with a stress on the present area of the box.
pub fn under_a_plate() -> World {
    let mut world = falling(512, TangentialLaw::Mindlin);
    let shape = WallShape::Plane {
        point: [0.0, 0.0, 9.2e-3],
        normal: [0.0, 0.0, -1.0],
    };
    let servo = Servo {
        along: [0.0, 0.0, -1.0],
        target: ServoTarget::Stress {
            stress: 7e3,
            area: [[0, 1], [2, 3]].map(|walls| Extent::Between { walls, edge: 2e-4 }),
        },
        velocity_limit: 0.5,
        ..Servo::default()
    };
    world.walls.push(steered("plate", shape, [0.0; 3], servo));
    world
}

/// A bed in a box, and a flap above on a hinge along y that a servo turns down with a torque.
pub fn under_a_flap() -> World {
    let mut world = falling(512, TangentialLaw::Mindlin);
    let (low, high, height) = (-1e-3, 10e-3, 9.2e-3);
    let corners = [[low, low], [high, low], [high, high], [low, high]].map(|[x, y]| [x, y, height]);
    let shape = WallShape::Mesh(vec![[corners[0], corners[1], corners[2]], [corners[0], corners[2], corners[3]]]);
    let servo = Servo {
        along: [0.0, 1.0, 0.0],
        target: ServoTarget::Torque(2e-3),
        velocity_limit: 50.0,
        ..Servo::default()
    };
    world.walls.push(steered("flap", shape, [low, 0.0, height], servo));
    world
}
