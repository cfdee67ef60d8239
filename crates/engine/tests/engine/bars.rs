//! Rows of grains with bonds of square section, for tests.

use seixo_engine::world::{BondSize, Bonded, Bonds, CrossSection, Grains, Interaction, Material, PairValues, Settings, World};
use seixo_laws::bond::BondLaw;
use std::f64::consts::PI;

pub const RADIUS: f64 = 2e-3;
/// Centers are farther apart than two radii, so that contacts do not support the bonds.
pub const SPACING: f64 = 5e-3;
pub const SIDE: f64 = 4e-3;
pub const MODULUS: f64 = 1e8;
pub const DENSITY: f64 = 2500.0;

pub fn bonds(law: BondLaw) -> Bonds {
    Bonds {
        name: "glue".into(),
        between: Bonded::Near {
            groups: vec![0],
            tolerance: 0.3,
        },
        law,
        section: CrossSection::Square,
        size: BondSize::Length(SIDE),
        youngs_modulus: MODULUS,
        stiffness: None,
        of_pairs: PairValues::default(),
        poisson_ratio: 0.2,
        damping_ratio: 0.0,
        damping: None,
        tensile_strength: f64::INFINITY,
        cohesion: f64::INFINITY,
        friction_angle: 0.0,
        fracture_energy: f64::INFINITY,
        weibull_modulus: None,
        seed: 1,
        one_piece: false,
    }
}

/// A row of grains along x, each with this velocity.
pub fn row(count: usize, velocity: impl Fn(usize) -> [f64; 3], bonds: Bonds) -> World {
    let mut grains = Grains::default();
    for k in 0..count {
        grains.push(k as u32, [k as f64 * SPACING, 0.0, 0.0], velocity(k), [0.0; 3], RADIUS, 0, 0);
    }
    World {
        materials: vec![Material {
            name: "stone".into(),
            density: DENSITY,
            youngs_modulus: 1e8,
            poisson_ratio: 0.2,
        }],
        interactions: vec![Some(Interaction::default())],
        groups: vec!["row".into()],
        grains,
        bonds: vec![bonds],
        ..World::default()
    }
}

pub fn mass() -> f64 {
    4.0 / 3.0 * PI * RADIUS.powi(3) * DENSITY
}

pub fn settings(time_step: f64) -> Settings {
    Settings {
        time_step: Some(time_step),
        threads: 1,
        ..Settings::default()
    }
}
