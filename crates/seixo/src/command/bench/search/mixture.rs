//! Spheres of many sizes at random positions, without overlaps.

use super::super::case::Jitter;
use seixo_engine::world::Vec3;
use std::collections::HashMap;
use std::f64::consts::PI;

/// Radius of the largest sphere \[m\].
const LARGEST: f64 = 1e-3;
/// Largest number of positions that are tried for a sphere.
const MAX_TRIES: usize = 100_000;

/// Returns radii in descending order. The ratio of the largest to the smallest is `spread`, and every octave of radii has the same volume. Then there
/// are R⁻⁴ dR spheres from R to R + dR, and a share (R⁻³ − R_max⁻³)/(R_min⁻³ − R_max⁻³) of all spheres is larger than R.
fn radii(particles: usize, spread: f64) -> Vec<f64> {
    let radius = |k: usize| {
        let share = (k as f64 + 0.5) / particles as f64;
        LARGEST / (1.0 + share * (spread.powi(3) - 1.0)).cbrt()
    };
    (0..particles).map(radius).collect()
}

/// Places spheres at random in a cube, the largest first, each at its first random position without overlap.
///
/// # Errors
/// If the spheres do not fit.
pub fn spheres(particles: usize, spread: f64, solid_fraction: f64) -> Result<Vec<(Vec3, f64)>, String> {
    let radii = radii(particles, spread);
    let solid: f64 = radii.iter().map(|r| 4.0 / 3.0 * PI * r.powi(3)).sum();
    // At least one sphere fits.
    let length = (solid / solid_fraction).cbrt().max(2.001 * LARGEST);
    let edge = 2.0 * LARGEST / spread;
    // Each sphere is listed in all cells of its bounding box, so that a small sphere searches few cells for large ones.
    let cells = |center: &Vec3, radius: f64| {
        let span = |axis: usize| ((center[axis] - radius) / edge).floor() as i32..=((center[axis] + radius) / edge).floor() as i32;
        let rows = span(2).flat_map(move |z| span(1).map(move |y| (y, z)));
        let columns = span(0);
        rows.flat_map(move |(y, z)| columns.clone().map(move |x| [x, y, z]))
            .collect::<Vec<_>>()
    };
    let mut within: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
    let mut jitter = Jitter(1);
    let mut placed: Vec<(Vec3, f64)> = Vec::with_capacity(particles);
    for radius in radii {
        let is_free = |center: &Vec3| {
            let near = cells(center, radius);
            let mut others = near.iter().filter_map(|cell| within.get(cell)).flatten();
            others.all(|&other| {
                let (there, other_radius) = placed[other as usize];
                let square: f64 = (0..3).map(|axis| (center[axis] - there[axis]).powi(2)).sum();
                square >= (radius + other_radius).powi(2)
            })
        };
        let mut places = (0..MAX_TRIES).map(|_| [0.0; 3].map(|_: f64| 0.5 * length + (0.5 * length - radius) * jitter.next()));
        let Some(center) = places.find(is_free) else {
            return Err(format!(
                "only {} of {particles} spheres fit at --solid-fraction {solid_fraction}; ask for less",
                placed.len()
            ));
        };
        for cell in cells(&center, radius) {
            within.entry(cell).or_default().push(placed.len() as u32);
        }
        placed.push((center, radius));
    }
    Ok(placed)
}
