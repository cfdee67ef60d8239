//! Fluids driven by walls: lids, paddles, drums and pistons.

use crate::beds::falling;
use crate::couette::couette;
use crate::floors::floor;
use crate::pools::{G, domain, drop_in, fluids, sites, water, wet};
use seixo_engine::world::{Fluids, Frustum, Servo, ServoTarget, SurfaceMotion, Vibration, Wall, WallMotion, WallShape, World};
use seixo_laws::contact::TangentialLaw;

/// As [`couette()`], with an upper wall that moves through the periodic sides, in place of a moving surface.
pub fn round_and_round() -> World {
    let mut world = couette();
    let motion = &mut world.walls[1].motion;
    (motion.velocity, motion.surface) = (motion.surface.velocity, SurfaceMotion::default());
    world
}

/// Adds particles of a wall at these sites.
fn stand(fluids: &mut Fluids, wall: u32, low: [i64; 3], high: [i64; 3]) {
    for x in sites(low, high, fluids.spacing, true) {
        fluids.boundary.position.push(x);
        fluids.boundary.wall.push(wall);
    }
}

/// Viscous water with a spacing of 5 cm, in a plane; without particles.
fn thick() -> Fluids {
    let mut medium = water(44.0);
    (medium.viscosity, medium.artificial_viscosity, medium.density_diffusion) = (0.5, 0.05, 0.1);
    let mut fluids = fluids(vec![medium], 0.05, 3.0, Some(1));
    fluids.largest_speed = 4.4;
    fluids
}

/// Amplitude of the paddle of [`paddled`] \[m\], and its frequency \[Hz\].
pub const PADDLE: [f64; 2] = [0.04, 1.5];

/// Water half a meter deep in a plane tank whose left end, wall 1, is a paddle that oscillates from rest.
pub fn paddled() -> World {
    let mut fluids = thick();
    let depth = 10.0 * fluids.spacing;
    for x in sites([0; 3], [30, 1, 10], fluids.spacing, true) {
        drop_in(&mut fluids, x, [0.0; 3], 1000.0 * G * (depth - x[2]));
    }
    stand(&mut fluids, 0, [-6, 0, -3], [33, 1, 0]);
    stand(&mut fluids, 0, [30, 0, 0], [33, 1, 16]);
    stand(&mut fluids, 1, [-3, 0, 0], [0, 1, 16]);
    fluids.slips = vec![false; 2];
    let mut paddle = floor();
    paddle.name = "paddle".to_owned();
    paddle.motion.vibrations = vec![Vibration {
        amplitude: [PADDLE[0], 0.0, 0.0],
        frequency: PADDLE[1],
        phase: -std::f64::consts::FRAC_PI_2,
    }];
    wet(fluids, G, None, vec![floor(), paddle])
}

/// Water in front of a paddle, which a servo moves until it presses a grain against a side of its box. The water is elsewhere.
pub fn served() -> World {
    let mut world = falling(1, TangentialLaw::Mindlin);
    let side = world.walls.iter().find_map(|wall| match wall.shape {
        WallShape::Plane { point, normal } if normal[0] < 0.0 => Some(point[0]),
        _ => None,
    });
    let radius = world.grains.radius[0];
    let at = side.unwrap() - radius;
    (world.grains.position[0][0], world.grains.velocity[0]) = (at, [0.0; 3]);
    let paddle = world.walls.len() as u32;
    world.walls.push(Wall {
        name: "paddle".to_owned(),
        shape: WallShape::Plane {
            point: [at - radius - 1e-4, 0.0, 0.0],
            normal: [1.0, 0.0, 0.0],
        },
        motion: WallMotion {
            servo: Some(Servo {
                along: [1.0, 0.0, 0.0],
                target: ServoTarget::Force(0.05),
                velocity_limit: 0.5,
                ..Servo::default()
            }),
            ..WallMotion::default()
        },
        ..floor()
    });
    let mut fluids = paddled().fluids.unwrap();
    // The first wall of the box has the particles of the floor.
    fluids
        .boundary
        .wall
        .iter_mut()
        .filter(|wall| **wall == 1)
        .for_each(|wall| *wall = paddle);
    fluids.slips = vec![false; world.walls.len()];
    world.fluids = Some(fluids);
    world
}

/// A drum of half a meter, half full of water, in a plane; it rotates at 4 rad/s about its axis, which is at zero.
pub fn drum() -> World {
    let (mut fluids, radius) = (thick(), 0.5);
    let spacing = fluids.spacing;
    for x in sites([-10, 0, -10], [10, 1, 0], spacing, true) {
        if x[0].hypot(x[2]) < radius - 0.4 * spacing {
            drop_in(&mut fluids, x, [0.0; 3], -1000.0 * G * x[2]);
        }
    }
    for ring in 0..3 {
        let radius = radius + (f64::from(ring) + 0.5) * spacing;
        let count = (std::f64::consts::TAU * radius / spacing).round() as u32;
        for k in 0..count {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / f64::from(count)).sin_cos();
            fluids.boundary.position.push([radius * cos, 0.0, radius * sin]);
            fluids.boundary.wall.push(0);
        }
    }
    fluids.slips = vec![false];
    let mut drum = floor();
    drum.name = "drum".to_owned();
    drum.shape = WallShape::Round(vec![Frustum {
        base: [0.0, -1.0, 0.0],
        axis: [0.0, 1.0, 0.0],
        height: 2.0,
        radii: [radius; 2],
    }]);
    drum.motion.angular_velocity = [0.0, 4.0, 0.0];
    wet(fluids, G, None, vec![drum])
}

/// A closed periodic channel of water, one meter long, between a wall and a piston, which approaches at this speed \[m/s\] until it stops \[s\].
pub fn pressed(speed: f64, stop: f64) -> World {
    let spacing = 0.025;
    let mut medium = water(20.0);
    // High viscosity, so that the fluid comes to rest.
    (medium.artificial_viscosity, medium.density_diffusion) = (1.0, 0.1);
    let mut fluids = fluids(vec![medium], spacing, 3.0, Some(1));
    fluids.largest_speed = 0.5;
    for x in sites([0; 3], [8, 1, 40], spacing, true) {
        drop_in(&mut fluids, x, [0.0; 3], 0.0);
    }
    stand(&mut fluids, 0, [0, 0, -3], [8, 1, 0]);
    stand(&mut fluids, 1, [0, 0, 40], [8, 1, 43]);
    fluids.slips = vec![true; 2];
    let mut piston = floor();
    piston.name = "piston".to_owned();
    piston.motion = WallMotion {
        velocity: [0.0, 0.0, -speed],
        stop: Some(stop),
        ..WallMotion::default()
    };
    let channel = Some(domain([0.0, -1.0, -1.0], [0.2, 1.0, 2.0], [true, false, false]));
    wet(fluids, 0.0, channel, vec![floor(), piston])
}
