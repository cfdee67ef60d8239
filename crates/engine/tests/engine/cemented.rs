//! Beds of grains in contact, and bonds between them.

use crate::beds;
use seixo_engine::world::{BondSize, Bonded, Bonds, CrossSection, PairValues, World};
use seixo_laws::bond::BondLaw;
use seixo_laws::contact::TangentialLaw;

/// Edge of the lattice of beds: most grains touch a neighbor at the start \[m\].
pub const EDGE: f64 = 1.002_75e-3;

/// Grains of two sizes with small initial overlaps, which fly apart and fall in a box with a moving side.
pub fn pressed(count: usize, tangential: TangentialLaw) -> World {
    let mut world = beds::falling(count, tangential);
    world.grains.position.iter_mut().flatten().for_each(|x| *x *= EDGE / 1.05e-3);
    world
}

/// The world with bonds between all near grains; bonds break where grains are strongly pressed.
pub fn cemented(mut world: World) -> World {
    world.bonds = vec![Bonds {
        name: "cement".into(),
        between: Bonded::Near {
            groups: vec![0],
            tolerance: 0.03,
        },
        law: BondLaw::Beam,
        section: CrossSection::Circle,
        size: BondSize::Share(1.0),
        youngs_modulus: 1e7,
        stiffness: None,
        of_pairs: PairValues::default(),
        poisson_ratio: 0.2,
        damping_ratio: 0.05,
        damping: None,
        tensile_strength: 2.5e4,
        cohesion: 5e4,
        friction_angle: 0.5,
        fracture_energy: f64::INFINITY,
        weibull_modulus: None,
        seed: 1,
        one_piece: false,
    }];
    world
}
