//! The dam break: a cube of water of one meter in a tank of two by one meter, on a floor and between walls of particles.

use super::case::world_of;
use seixo_engine::world::{
    Boundary, Fluid, Fluids, Interaction, Particles, Projection, Smoothing, Solver, StateLaw, Vec3, Wall, WallMotion, WallShape, World,
};

/// Density of water \[kg/m³\].
const DENSITY: f64 = 1000.0;
/// Acceleration of gravity \[m/s²\].
const GRAVITY: f64 = 9.81;
/// Speed of sound \[m/s\]: ten times √(2 g · 1 m), rounded down as in the decks of other programs.
const SOUND_SPEED: f64 = 44.0;

/// As many particles of water as come nearest to this number in a cube, that see each other up to so many spacings apart.
pub fn world(particles: usize, support: f64) -> World {
    let side = ((particles as f64).cbrt().round() as i64).max(2);
    let spacing = 1.0 / side as f64;
    let layers = support.ceil() as i64;
    let place = |cell: [i64; 3]| cell.map(|k| (k as f64 + 0.5) * spacing);
    let mut water = Particles::default();
    for k in 0..side.pow(3) {
        let cell = [k % side, (k / side) % side, k / (side * side)];
        let position: Vec3 = place(cell);
        water.id.push(k as u32);
        water.position.push(position);
        water.velocity.push([0.0; 3]);
        water.pressure.push(DENSITY * GRAVITY * (1.0 - position[2]));
        water.kind.push(0);
    }
    let mut boundary = Boundary::default();
    let inside = |cell: [i64; 3]| (0..2 * side).contains(&cell[0]) && (0..side).contains(&cell[1]) && cell[2] >= 0;
    for z in -layers..side * 3 / 2 {
        for y in -layers..side + layers {
            for x in -layers..2 * side + layers {
                if !inside([x, y, z]) {
                    boundary.position.push(place([x, y, z]));
                    boundary.wall.push(0);
                }
            }
        }
    }
    let fluids = Fluids {
        solver: Solver::default(),
        projection: Projection::default(),
        smoothing: Smoothing::Wendland,
        spacing,
        support: support * spacing,
        across: None,
        kinds: vec![Fluid {
            name: "water".to_owned(),
            density: DENSITY,
            viscosity: 0.0,
            sound_speed: SOUND_SPEED,
            state: StateLaw::Tait,
            background_pressure: 0.0,
            artificial_viscosity: 0.1,
            density_diffusion: 0.1,
            xsph: 0.0,
            surface_tension: 0.0,
            contact_angle: std::f64::consts::FRAC_PI_2,
            restitution: 0.0,
            body_stiffness: 0.0,
            body_restitution: 0.0,
        }],
        particles: water,
        boundary,
        slips: vec![true],
        inside: Vec::new(),
        fastest: 0.1 * SOUND_SPEED,
        inlets: Vec::new(),
        outlets: Vec::new(),
        hulls: Vec::new(),
    };
    let floor = Wall {
        name: "tank".to_owned(),
        material: 0,
        shape: WallShape::Plane {
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
        },
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    };
    World {
        fluids: Some(fluids),
        ..world_of(Default::default(), Interaction::default(), vec![floor], -GRAVITY)
    }
}
