//! Initial pressures from the weight of the fluid above.

use super::Layout;
use glam::DVec3;
use seixo_engine::world::{Particles, Vec3};
use std::collections::HashMap;

/// Largest gap in a column: fluid above it does not load fluid below \[spacings\].
const GAP: f64 = 1.5;

/// Data for the pressure of a fluid at rest.
pub(super) struct HydrostaticState {
    /// \[kg/m³\].
    pub density: f64,
    /// Background pressure \[Pa\].
    pub background: f64,
    /// Whether the initial pressure is hydrostatic.
    pub is_hydrostatic: bool,
}

/// Sets the pressures of all particles; `heads` are those of their kinds.
pub(super) fn set(particles: &mut Particles, heads: &[HydrostaticState], gravity: Vec3, layout: &Layout) {
    let is_along = |axis: &usize| (0..3).all(|other| other == *axis || gravity[other] == 0.0);
    let weights = match (0..3).find(is_along) {
        _ if gravity == [0.0; 3] => vec![0.0; particles.len()],
        Some(axis) => by_columns(particles, heads, (axis, gravity[axis]), layout),
        None => by_depths(particles, heads, gravity.into(), layout.spacing),
    };
    let of_particle = |(weight, kind): (f64, &u32)| {
        let head = &heads[*kind as usize];
        head.background + if head.is_hydrostatic { weight } else { 0.0 }
    };
    particles.pressure = weights.into_iter().zip(&particles.kind).map(of_particle).collect();
}

/// Weight per area above the center of each particle in its column of the lattice \[Pa\], for gravity along an axis; it includes half of the particle
/// itself.
fn by_columns(particles: &Particles, heads: &[HydrostaticState], (axis, gravity): (usize, f64), layout: &Layout) -> Vec<f64> {
    let spacing = layout.spacing;
    let beside = [(axis + 1) % 3, (axis + 2) % 3];
    let mut columns: HashMap<[i64; 2], Vec<usize>> = HashMap::new();
    for (k, place) in particles.position.iter().enumerate() {
        let column = beside.map(|axis| ((place[axis] - layout.origin[axis]) / spacing + 1e-6).floor() as i64);
        columns.entry(column).or_default().push(k);
    }
    let mut weights = vec![0.0; particles.len()];
    for column in columns.values_mut() {
        let depth = |k: usize| particles.position[k][axis] * gravity.signum();
        column.sort_by(|&a, &b| depth(a).total_cmp(&depth(b)));
        let (mut above, mut before) = (0.0, f64::NEG_INFINITY);
        for &k in column.iter() {
            if depth(k) - before > GAP * spacing {
                above = 0.0;
            }
            let own = heads[particles.kind[k] as usize].density * gravity.abs() * spacing;
            weights[k] = above + 0.5 * own;
            above += own;
            before = depth(k);
        }
    }
    weights
}

/// Pressure from the depth below the highest particle of the same fluid, which is half a spacing below its surface \[Pa\].
fn by_depths(particles: &Particles, heads: &[HydrostaticState], gravity: DVec3, spacing: f64) -> Vec<f64> {
    let depth = |k: usize| gravity.dot(particles.position[k].into());
    let mut highest = vec![f64::INFINITY; heads.len()];
    for k in 0..particles.len() {
        let slot = &mut highest[particles.kind[k] as usize];
        *slot = slot.min(depth(k));
    }
    let weight = |k: usize| {
        let kind = particles.kind[k] as usize;
        heads[kind].density * (depth(k) - highest[kind] + 0.5 * gravity.length() * spacing)
    };
    (0..particles.len()).map(weight).collect()
}
