//! Small worlds for tests.

use seixo_engine::world::{Grains, Interaction, Material, Wall, WallMotion, WallShape, World};
use seixo_laws::contact::{NormalLaw, TangentialLaw};

/// A pseudo-random number in −1..1 from an index.
pub fn noise(index: u64) -> f64 {
    let mut x = index.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

pub fn interaction(tangential: TangentialLaw) -> Interaction {
    Interaction {
        normal: NormalLaw::Hertz,
        tangential,
        restitution: 0.5,
        friction: 0.5,
        ..Interaction::default()
    }
}

fn plane(name: &str, point: [f64; 3], normal: [f64; 3]) -> Wall {
    Wall {
        name: name.into(),
        material: 0,
        shape: WallShape::Plane { point, normal },
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    }
}

/// Grains of two sizes on a jittered lattice that fall into a box with a floor of two triangles and a moving side.
pub fn falling(count: usize, tangential: TangentialLaw) -> World {
    let side = (count as f64).cbrt().ceil() as usize;
    let spacing = 1.05e-3;
    let mut grains = Grains::default();
    for k in 0..count {
        let cell = [k % side, k / side % side, k / side / side];
        let mut center = [0.0; 3];
        for axis in 0..3 {
            center[axis] = (cell[axis] as f64 + 0.6) * spacing + 2e-5 * noise((3 * k + axis) as u64);
        }
        let velocity = [0, 1, 2].map(|axis| 0.1 * noise((1000 * k + axis) as u64));
        let radius = if k % 7 == 0 { 2.5e-4 } else { 5e-4 };
        grains.push(k as u32, center, velocity, [0.0, 0.0, 20.0 * noise(k as u64)], radius, 0, 0);
    }
    let length = side as f64 * spacing + 3e-4;
    let corner = |x: f64, y: f64| [x, y, 0.0];
    let floor = [
        [
            corner(-length, -length),
            corner(2.0 * length, -length),
            corner(2.0 * length, 2.0 * length),
        ],
        [
            corner(-length, -length),
            corner(2.0 * length, 2.0 * length),
            corner(-length, 2.0 * length),
        ],
    ];
    let mut moving = plane("pusher", [0.0; 3], [1.0, 0.0, 0.0]);
    moving.motion.velocity = [5e-3, 0.0, 0.0];
    World {
        gravity: [0.0, 0.0, -200.0],
        materials: vec![Material {
            name: "glass".into(),
            density: 2500.0,
            youngs_modulus: 1e7,
            poisson_ratio: 0.3,
        }],
        interactions: vec![Some(interaction(tangential))],
        groups: vec!["bed".into()],
        grains,
        walls: vec![
            moving,
            plane("right", [length, 0.0, 0.0], [-1.0, 0.0, 0.0]),
            plane("front", [0.0; 3], [0.0, 1.0, 0.0]),
            plane("back", [0.0, length, 0.0], [0.0, -1.0, 0.0]),
            Wall {
                name: "floor".into(),
                material: 0,
                shape: WallShape::Mesh(floor.to_vec()),
                motion: WallMotion::default(),
                specific_wear_rate: 0.0,
            },
        ],
        ..World::default()
    }
}
