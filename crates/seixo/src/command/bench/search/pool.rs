//! Rigid bodies of spheres in a pool of fluid, as in the scenes of \[Silva 2010, tables 6.1 and 6.2\]: 50 bodies of 76 spheres.

use super::super::case::Jitter;
use seixo_engine::world::Vec3;

/// Support of a fluid particle (h of SPH): closer particles are neighbors. This is the unit of length.
const REACH: f64 = 1.0;
/// Spacing of the fluid; a particle then has 27 neighbors.
const SPACING: f64 = 0.53 * REACH;
/// Number of bodies along x and y.
const BODIES: [usize; 2] = [5, 10];
/// Number of spheres of a body along each axis; four corners are missing.
const SPHERES: [usize; 3] = [4, 4, 5];
/// Spacing of the bodies over the radius of their spheres.
const PITCH: f64 = 10.0;
/// Height of the walls in rows of spheres.
const HEIGHT: usize = 5;

/// Particles by center and radius, the moving ones first.
pub struct Pool {
    pub particles: Vec<(Vec3, f64)>,
    /// Number of moving particles.
    pub moving: usize,
    /// Number of fluid particles among them.
    pub fluid: usize,
}

impl Pool {
    /// Builds a pool of `fluid` particles around the bodies, with or without a static floor and walls. `ratio` is the radius of the spheres of bodies
    /// and walls over the support of the fluid. With 1, their cells are twice as large as those of the fluid, as in \[Silva 2010, figure 4.2\]. With
    /// more, bodies are larger and farther apart, and the fluid covers only a corner of the floor.
    pub fn new(fluid: usize, has_static: bool, ratio: f64) -> Pool {
        let (radius, pitch) = (ratio * REACH, PITCH * ratio * REACH);
        let mut bodies = Vec::new();
        for body in 0..BODIES[0] * BODIES[1] {
            let corner = [
                (body % BODIES[0]) as f64 * pitch + 2.0 * radius,
                (body / BODIES[0]) as f64 * pitch + 2.0 * radius,
                radius,
            ];
            for k in 0..SPHERES.iter().product() {
                let at = [k % SPHERES[0], k / SPHERES[0] % SPHERES[1], k / (SPHERES[0] * SPHERES[1])];
                let is_missing = at[2] == SPHERES[2] - 1 && at[0].is_multiple_of(SPHERES[0] - 1) && at[1].is_multiple_of(SPHERES[1] - 1);
                if !is_missing {
                    bodies.push([0, 1, 2].map(|axis| corner[axis] + 2.0 * radius * at[axis] as f64));
                }
            }
        }
        let mut particles = fluid_around(&bodies, radius, fluid);
        particles.extend(bodies.into_iter().map(|center| (center, radius)));
        let moving = particles.len();
        if has_static {
            let size = BODIES.map(|bodies| bodies as f64 * pitch);
            particles.extend(floor_and_walls(size, radius).into_iter().map(|center| (center, radius)));
        }
        Pool { particles, moving, fluid }
    }
}

/// Jittered lattice from the floor up, without positions inside bodies of spheres of this radius. It covers as much of the floor with any radius.
fn fluid_around(bodies: &[Vec3], radius: f64, fluid: usize) -> Vec<(Vec3, f64)> {
    let mut jitter = Jitter(1);
    let side = BODIES.map(|bodies| (bodies as f64 * PITCH * REACH / SPACING) as usize);
    let mut particles = Vec::with_capacity(fluid);
    // Spheres are sorted by squares of the floor, so that a position is compared only with nearby spheres.
    let pitch = PITCH * radius;
    let square = |x: &Vec3| {
        let [i, j] = [0, 1].map(|axis| ((x[axis] / pitch) as usize).min(BODIES[axis] - 1));
        i + BODIES[0] * j
    };
    let mut standing = vec![Vec::new(); BODIES[0] * BODIES[1]];
    for center in bodies {
        standing[square(center)].push(*center);
    }
    for k in 0.. {
        if particles.len() == fluid {
            break;
        }
        let at = [k % side[0], k / side[0] % side[1], k / (side[0] * side[1])];
        let center = at.map(|c| SPACING * (c as f64 + 0.5 + 0.1 * jitter.next()));
        let is_inside = standing[square(&center)]
            .iter()
            .any(|other| (0..3).map(|axis| (center[axis] - other[axis]).powi(2)).sum::<f64>() < radius * radius);
        if !is_inside {
            particles.push((center, 0.5 * REACH));
        }
    }
    particles
}

/// Spheres side by side, below and around the pool.
fn floor_and_walls(size: [f64; 2], radius: f64) -> Vec<Vec3> {
    let side = size.map(|length| (length / (2.0 * radius)).ceil() as i32 + 1);
    let mut centers = Vec::new();
    for i in -1..side[0] {
        for j in -1..side[1] {
            let is_edge = i == -1 || j == -1 || i == side[0] - 1 || j == side[1] - 1;
            let rows = if is_edge { HEIGHT } else { 0 };
            for k in 0..=rows {
                centers.push([i as f64, j as f64, k as f64].map(|c| radius * (2.0 * c)));
            }
        }
    }
    centers.iter().map(|c| [c[0] + radius, c[1] + radius, c[2] - radius]).collect()
}
