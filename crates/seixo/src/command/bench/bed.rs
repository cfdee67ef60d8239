//! The bed: grains that drop into an open box, as in the decks of other programs.

use super::case::{Jitter, with_room};
use seixo_engine::world::Grains;

/// Diameter of the grains \[m\].
pub const DIAMETER: f64 = 1e-3;
/// Normal spring of the linear law \[N/m\]: a collision lasts some 20 steps.
pub const STIFFNESS: f64 = 400.0;
/// Time step \[s\].
pub const STEP: f64 = 5e-6;
/// Diameter of the grains of \[ME964 2011\] \[m\]; with its time step, they sink into each other by a tenth of the radius when they land.
pub const DIAMETER_OF_S2: f64 = 1e-2;
/// Time step of \[ME964 2011\] \[s\].
pub const STEP_OF_S2: f64 = 5e-5;
/// Layers of grains at the start.
const LAYERS: f64 = 30.0;

/// Distance of neighbors of the lattice that a bed falls from \[m\], and how many of them stand along either side of its square floor.
pub fn lattice(diameter: f64, particles: usize, solid_fraction: f64) -> (f64, usize) {
    let spacing = diameter * (std::f64::consts::PI / 6.0 / solid_fraction).powf(1.0 / 3.0);
    (spacing, (particles as f64 / LAYERS).sqrt().ceil() as usize)
}

/// The bed before it falls, a jittered lattice, and the length of its box \[m\].
pub fn grains(diameter: f64, particles: usize, solid_fraction: f64) -> (Grains, f64) {
    let (grains, [length, _]) = row(1, diameter, particles, solid_fraction);
    (grains, length)
}

/// So many beds side by side along x, without walls between them, and length and width of their box \[m\].
pub fn row(beds: usize, diameter: f64, particles: usize, solid_fraction: f64) -> (Grains, [f64; 2]) {
    let (spacing, width) = lattice(diameter, particles, solid_fraction);
    let reach = (0.1 * diameter).min(0.5 * (spacing - diameter)).max(0.0);
    let length = beds * width;
    let mut jitter = Jitter(1);
    let mut grains = with_room(beds * particles);
    for i in 0..beds * particles {
        let cell = [i % length, (i / length) % width, i / (length * width)];
        let center = cell.map(|k| k as f64 * spacing + spacing / 2.0 + reach * jitter.next());
        let velocity = [0.0; 3].map(|_: f64| jitter.next() * 0.05);
        grains.push(i as u32, center, velocity, [0.0; 3], diameter / 2.0, 0, 0);
    }
    (grains, [length, width].map(|cells| cells as f64 * spacing))
}
