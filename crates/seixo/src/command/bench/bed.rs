//! The bed: grains that fall into an open box, as in benchmarks of other programs.

use super::case::{Jitter, laid_out, with_room};
use super::search::mixture;
use seixo_engine::world::Grains;

/// Diameter of the grains \[m\].
pub const DIAMETER: f64 = 1e-3;
/// Normal stiffness of the linear law \[N/m\]: a collision lasts some 20 steps.
pub const STIFFNESS: f64 = 400.0;
/// Time step \[s\].
pub const STEP: f64 = 5e-6;
/// A diameter \[m\] for the example of \[ME964 2011\], which gives none. With the time step of that example, landing grains overlap by a tenth of the
/// radius.
pub const REFERENCE_DIAMETER: f64 = 1e-2;
/// Time step of \[ME964 2011\] \[s\].
pub const REFERENCE_STEP: f64 = 5e-5;
/// Number of layers of grains at the start.
const LAYERS: f64 = 30.0;

/// Returns the spacing of the initial lattice \[m\], and the number of grains along either side of the square floor.
pub fn lattice(diameter: f64, particles: usize, solid_fraction: f64) -> (f64, usize) {
    let spacing = diameter * (std::f64::consts::PI / 6.0 / solid_fraction).powf(1.0 / 3.0);
    (spacing, (particles as f64 / LAYERS).sqrt().ceil() as usize)
}

/// Returns the bed before it falls, a jittered lattice, and the length of its box \[m\].
pub fn grains(diameter: f64, particles: usize, solid_fraction: f64) -> (Grains, f64) {
    let (grains, [length, _]) = row(1, diameter, particles, solid_fraction);
    (grains, length)
}

/// Returns `beds` beds side by side along x, without walls between them, and length and width of their box \[m\].
pub fn row(beds: usize, diameter: f64, particles: usize, solid_fraction: f64) -> (Grains, [f64; 2]) {
    let (spacing, width) = lattice(diameter, particles, solid_fraction);
    let reach = (0.1 * diameter).min(0.5 * (spacing - diameter)).max(0.0);
    let length = beds * width;
    let grains = laid_out(beds * particles, diameter / 2.0, 6, |i, jitter| {
        let cell = [i % length, (i / length) % width, i / (length * width)];
        let center = cell.map(|k| k as f64 * spacing + spacing / 2.0 + reach * jitter.next());
        [center, [0.0; 3].map(|_: f64| jitter.next() * 0.05)]
    });
    (grains, [length, width].map(|cells| cells as f64 * spacing))
}

/// Returns a bed of many sizes before it falls, and the length of its square floor \[m\]. The smallest grains have the usual [`DIAMETER`], the largest
/// are `spread` times as large, and every octave of radii has the same volume.
///
/// # Errors
/// If the grains do not fit.
pub fn of_many_sizes(particles: usize, spread: f64, solid_fraction: f64) -> Result<(Grains, f64), String> {
    let spheres = mixture::spheres(particles, spread, solid_fraction)?;
    let smallest = spheres.iter().map(|(_, radius)| *radius).fold(f64::INFINITY, f64::min);
    let scale = DIAMETER / 2.0 / smallest;
    let mut jitter = Jitter(1);
    let mut grains = with_room(particles);
    let mut length = 0.0f64;
    for (id, (center, radius)) in spheres.into_iter().enumerate() {
        let (center, radius) = (center.map(|coordinate| coordinate * scale), radius * scale);
        let velocity = [0.0; 3].map(|_: f64| jitter.next() * 0.05);
        grains.push(id as u32, center, velocity, [0.0; 3], radius, 0, 0);
        length = length.max(center[0] + radius).max(center[1] + radius);
    }
    Ok((grains, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bed_of_many_sizes_has_the_ratio_of_radii_and_lies_in_its_box() {
        let (grains, length) = of_many_sizes(500, 4.0, 0.2).unwrap();
        let smallest = grains.radius.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = grains.radius.iter().copied().fold(0.0, f64::max);
        assert!((smallest / (0.5 * DIAMETER) - 1.0).abs() < 1e-12, "{smallest}");
        // The radii are those in the middle of equal shares of all grains.
        assert!((3.5..=4.0).contains(&(largest / smallest)), "{}", largest / smallest);
        for (center, radius) in grains.position.iter().zip(&grains.radius) {
            assert!(center.iter().all(|x| x - radius > -1e-12));
            assert!(center[..2].iter().all(|x| x + radius < length * (1.0 + 1e-12)));
        }
    }
}
