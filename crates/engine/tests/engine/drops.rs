//! Drops of a fluid with a surface tension.

use seixo_engine::world::{
    Fluid, Fluids, Material, Particles, PressureTolerance, SignedDistances, Smoothing, Solver, ViscousForce, Wall, WallMotion,
    WallParticles, WallShape, World, capillary_speed,
};
use std::f64::consts::FRAC_PI_2;

/// Surface tension \[N/m\].
pub const SIGMA: f64 = 0.072;
/// Rest density \[kg/m³\].
pub const DENSITY: f64 = 1000.0;
/// Spacing of particles \[m\].
pub const SPACING: f64 = 5e-4;

/// A plane drop with its center at zero and this radius in spacings. With a contact angle \[rad\], it is the upper half of a drop on a floor with
/// slip.
pub fn droplet(radius: i64, contact_angle: Option<f64>) -> World {
    let fastest = capillary_speed(SIGMA, DENSITY, 2.0 * SPACING);
    let middle = |k: i64| (k as f64 + 0.5) * SPACING;
    let sites = |[left, right]: [i64; 2], [low, high]: [i64; 2]| -> Vec<[f64; 3]> {
        let row = |z: i64| (left..right).map(move |x| [middle(x), 0.0, middle(z)]);
        (low..high).flat_map(row).collect()
    };
    let bottom = if contact_angle.is_some() { 0 } else { -radius };
    let mut position = sites([-radius, radius], [bottom, radius]);
    position.retain(|x| x[0].hypot(x[2]) < radius as f64 * SPACING);
    let count = position.len();
    let layers = if contact_angle.is_some() {
        sites([-3 * radius, 3 * radius], [-4, 0])
    } else {
        Vec::new()
    };
    let floor = Wall {
        name: "floor".to_owned(),
        material: 0,
        shape: WallShape::Plane {
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
        },
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    };
    let fluids = Fluids {
        solver: Solver::WeaklyCompressible,
        projection: PressureTolerance::default(),
        smoothing: Smoothing::Wendland,
        viscous_force: ViscousForce::default(),
        particle_shifting: false,
        spacing: SPACING,
        support: 4.0 * SPACING,
        across: Some(1),
        kinds: vec![Fluid {
            artificial_viscosity: 0.5,
            surface_tension: SIGMA,
            contact_angle: contact_angle.unwrap_or(FRAC_PI_2),
            ..Fluid::new("water", DENSITY, 10.0 * fastest)
        }],
        particles: Particles {
            id: (0..count as u32).collect(),
            position,
            velocity: vec![[0.0; 3]; count],
            pressure: vec![0.0; count],
            kind: vec![0; count],
        },
        boundary: WallParticles {
            wall: vec![0; layers.len()],
            position: layers,
            volume: Vec::new(),
        },
        slips: contact_angle.iter().map(|_| true).collect(),
        inside: Vec::new(),
        signed_distances: SignedDistances::default(),
        largest_speed: fastest,
        inlets: Vec::new(),
        outlets: Vec::new(),
        body_boundaries: Vec::new(),
    };
    World {
        materials: vec![Material {
            name: "wall".to_owned(),
            density: 1000.0,
            youngs_modulus: 1e9,
            poisson_ratio: 0.3,
        }],
        interactions: vec![None],
        groups: Vec::new(),
        grains: Default::default(),
        walls: contact_angle.iter().map(|_| floor.clone()).collect(),
        fluids: Some(fluids),
        ..World::default()
    }
}
