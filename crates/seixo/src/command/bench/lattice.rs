//! The lattice: grains in contact with their six neighbors from the first step, in a closed box without gravity; or grains bonded to them across a
//! gap, without walls.

use super::case::{self, laid_out};
use seixo_engine::world::{BondSize, Bonded, Bonds, CrossSection, Grains, PairValues};
use seixo_laws::bond::BondLaw;

/// Radius of the grains \[m\].
const RADIUS: f64 = 5e-4;
/// Spacing of neighbors in contact \[radii\].
pub const PRESSED: f64 = 1.98;
/// Spacing of bonded neighbors, which are not in contact \[radii\].
pub const BONDED: f64 = 2.05;
/// Largest distance from the lattice site along each axis \[radii\].
const JITTER: f64 = 0.01;
/// Largest initial velocity along each axis \[radii/step\]. In a thousand steps, a grain moves a fifth of the distance that triggers a rebuild of
/// lists.
const SPEED: f64 = 2e-5;
/// Time step \[s\].
pub const STEP: f64 = 1e-6;
/// Number of steps of a collision.
const STEPS_PER_COLLISION: f64 = 40.0;

/// Beam bonds to the six neighbors, too strong to break.
pub fn bonds() -> Bonds {
    Bonds {
        name: "cement".to_owned(),
        between: Bonded::Near {
            groups: vec![0],
            tolerance: 0.1,
        },
        law: BondLaw::Beam,
        section: CrossSection::Circle,
        size: BondSize::Share(1.0),
        youngs_modulus: 1e7,
        stiffness: None,
        of_pairs: PairValues::default(),
        poisson_ratio: 0.2,
        damping_ratio: 0.1,
        damping: None,
        tensile_strength: 1e9,
        cohesion: 1e9,
        friction_angle: 0.5,
        fracture_energy: f64::INFINITY,
        one_piece: false,
        weibull_modulus: None,
        seed: 1,
    }
}

/// Normal stiffness \[N/m\].
pub fn stiffness() -> f64 {
    case::stiffness(2.0 * RADIUS, STEPS_PER_COLLISION * STEP)
}

/// Returns a full cube with about `particles` grains at this spacing \[radii\], and the length of the box in contact with them \[m\].
pub fn grains(particles: usize, spacing: f64) -> (Grains, f64) {
    let side = ((particles as f64).cbrt().round() as usize).max(1);
    let grains = laid_out(side.pow(3), RADIUS, 6, |i, jitter| {
        let cell = [i % side, (i / side) % side, i / (side * side)];
        let center = cell.map(|k| RADIUS * (1.0 + spacing * k as f64 + JITTER * jitter.next()));
        [center, [0.0; 3].map(|_: f64| SPEED * RADIUS / STEP * jitter.next())]
    });
    (grains, RADIUS * (2.0 + spacing * (side - 1) as f64))
}
