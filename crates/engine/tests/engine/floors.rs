//! A floor.

use seixo_engine::world::{Wall, WallMotion, WallShape};

/// The plane z = 0, on whose upper side particles are.
pub fn floor() -> Wall {
    Wall {
        name: "floor".into(),
        material: 0,
        shape: WallShape::Plane {
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
        },
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    }
}
