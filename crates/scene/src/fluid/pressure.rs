//! Initial pressures from the weight of the fluid above.

use super::Layout;
use super::point_index::PointIndex;
use glam::DVec3;
use seixo_engine::world::{Particles, Vec3};
use std::collections::{BTreeMap, HashMap};

/// Largest gap in a column, but for one that a body fills: fluid above a larger one does not load fluid below \[spacings\].
const GAP: f64 = 1.5;

/// Distance within which a particle belongs to a site of the lattice \[spacings\].
const NEAR: f64 = 0.6;

/// Data for the pressure of a fluid at rest.
pub(super) struct HydrostaticState {
    /// \[kg/m³\].
    pub density: f64,
    /// Background pressure \[Pa\].
    pub background: f64,
    /// Whether the initial pressure is hydrostatic.
    pub is_hydrostatic: bool,
}

/// Sites of the lattice without a particle near them: bodies moved the particles a little, or removed them.
pub(super) fn sites_in_bodies(sites: &[Vec3], particles: &[Vec3], layout: &Layout) -> Vec<Vec3> {
    let near = NEAR * layout.spacing;
    let mut index = PointIndex::new(layout.spacing, layout.periods);
    particles.iter().for_each(|place| index.add((*place).into(), 0));
    let is_empty = |site: &&Vec3| index.nearer_than(near, (**site).into()).is_none();
    sites.iter().filter(is_empty).copied().collect()
}

/// Sets the pressures of all particles; `heads` are those of their kinds. `in_bodies` are sites of the lattice that bodies take from fluids.
pub(super) fn set(particles: &mut Particles, in_bodies: &[Vec3], heads: &[HydrostaticState], gravity: Vec3, layout: &Layout) {
    let is_along = |axis: &usize| (0..3).all(|other| other == *axis || gravity[other] == 0.0);
    let weights = match (0..3).find(is_along) {
        _ if gravity == [0.0; 3] => vec![0.0; particles.len()],
        Some(axis) => by_columns(particles, in_bodies, heads, (axis, gravity[axis]), layout),
        None => by_depths(particles, heads, gravity.into(), layout.spacing),
    };
    let of_particle = |(weight, kind): (f64, &u32)| {
        let head = &heads[*kind as usize];
        head.background + if head.is_hydrostatic { weight } else { 0.0 }
    };
    particles.pressure = weights.into_iter().zip(&particles.kind).map(of_particle).collect();
}

/// Fluid without a gap in a column of the lattice.
struct Run {
    column: [i64; 2],
    /// Its particles, from the highest to the lowest.
    particles: Vec<usize>,
    /// Whether a body is on top of it, so that no free surface is there.
    is_covered: bool,
}

/// Weight per area above the center of each particle in its column of the lattice \[Pa\], for gravity along an axis; it includes half of the particle
/// itself. Under a body the pressure is that of the fluid beside it at the same height.
fn by_columns(
    particles: &Particles,
    in_bodies: &[Vec3],
    heads: &[HydrostaticState],
    (axis, gravity): (usize, f64),
    layout: &Layout,
) -> Vec<f64> {
    let depth = |place: &Vec3| place[axis] * gravity.signum();
    let weight_of = |k: usize| heads[particles.kind[k] as usize].density * gravity.abs() * layout.spacing;
    let runs = runs(particles, in_bodies, depth, axis, layout);
    let mut weights = vec![0.0; particles.len()];
    for run in &runs {
        let mut above = 0.0;
        for &k in &run.particles {
            weights[k] = above + 0.5 * weight_of(k);
            above += weight_of(k);
        }
    }
    let mut of_column: HashMap<[i64; 2], Vec<usize>> = HashMap::new();
    for (index, run) in runs.iter().enumerate() {
        of_column.entry(run.column).or_default().push(index);
    }
    // What weighs on each run beside its own particles; found from the rim of each body inwards.
    let mut loads: Vec<Option<f64>> = runs.iter().map(|run| (!run.is_covered).then_some(0.0)).collect();
    loop {
        let beside = |run: &Run| {
            let [u, v] = run.column;
            let columns = [[u - 1, v], [u + 1, v], [u, v - 1], [u, v + 1]];
            let near = columns.into_iter().filter_map(|column| of_column.get(&column)).flatten();
            let known = near.filter_map(|&other| Some((&runs[other], loads[other]?)));
            let asked = known.filter_map(|(other, load)| {
                let (k, next) = first_alike(run, other, |k| depth(&particles.position[k]), NEAR * layout.spacing)?;
                let lower = (depth(&particles.position[k]) - depth(&particles.position[next])) / layout.spacing;
                Some(load + weights[next] + lower * weight_of(next) - weights[k])
            });
            asked.max_by(f64::total_cmp)
        };
        let unknown = runs.iter().enumerate().filter(|(index, _)| loads[*index].is_none());
        let found: Vec<(usize, f64)> = unknown.filter_map(|(index, run)| Some((index, beside(run)?))).collect();
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|(index, load)| loads[index] = Some(load));
    }
    for (run, load) in runs.iter().zip(&loads) {
        run.particles.iter().for_each(|&k| weights[k] += load.unwrap_or(0.0));
    }
    weights
}

/// The columns of the lattice, each split at gaps and at bodies.
fn runs(particles: &Particles, in_bodies: &[Vec3], depth: impl Fn(&Vec3) -> f64, axis: usize, layout: &Layout) -> Vec<Run> {
    let beside = [(axis + 1) % 3, (axis + 2) % 3];
    let mut columns: BTreeMap<[i64; 2], Vec<(f64, Option<usize>)>> = BTreeMap::new();
    let of_fluid = particles.position.iter().enumerate().map(|(k, place)| (place, Some(k)));
    for (place, particle) in of_fluid.chain(in_bodies.iter().map(|place| (place, None))) {
        let column = beside.map(|axis| ((place[axis] - layout.origin[axis]) / layout.spacing + 1e-6).floor() as i64);
        columns.entry(column).or_default().push((depth(place), particle));
    }
    let mut runs: Vec<Run> = Vec::new();
    for (column, mut sites) in columns {
        sites.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut before, mut continues, mut is_covered) = (f64::NEG_INFINITY, false, false);
        for (depth, particle) in sites {
            if depth - before > GAP * layout.spacing {
                (continues, is_covered) = (false, false);
            }
            before = depth;
            let Some(k) = particle else {
                (continues, is_covered) = (false, true);
                continue;
            };
            match runs.last_mut().filter(|_| continues) {
                Some(run) => run.particles.push(k),
                None => runs.push(Run {
                    column,
                    particles: vec![k],
                    is_covered,
                }),
            }
            continues = true;
        }
    }
    runs
}

/// The highest particle of a run with one of another run at the same depth, up to a tolerance \[m\].
fn first_alike(run: &Run, other: &Run, depth: impl Fn(usize) -> f64, tolerance: f64) -> Option<(usize, usize)> {
    let mut others = other.particles.iter().copied().peekable();
    run.particles.iter().find_map(|&k| {
        while others.next_if(|&next| depth(next) < depth(k) - tolerance).is_some() {}
        let next = *others.peek()?;
        (depth(next) <= depth(k) + tolerance).then_some((k, next))
    })
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
