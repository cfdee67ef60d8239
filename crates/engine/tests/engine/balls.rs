//! Small spheres in water.

use crate::pools::{G, domain, drop_in, fluids, sites, tank, water, wet};
use seixo_engine::Simulation;
use seixo_engine::world::{Body, BodyBoundary, Interaction, Load, Sphere, Vec3, WallMotion, World};
use std::f64::consts::PI;

pub const DENSITY: f64 = 1000.0;
/// Spacing of particles \[m\].
pub const SPACING: f64 = 0.02;
/// Edge of periodic boxes \[spacings\].
pub const CELLS: i64 = 12;

/// Viscosity of slow flows \[Pa s\].
pub const THICK: f64 = 100.0;
/// Radius of balls in slow flows \[m\].
pub const RADIUS: f64 = 0.4 * SPACING;
/// Velocity at which Re is 0.05 in slow flows \[m/s\].
pub const STOKES: f64 = 0.3125;

/// A small sphere with its density relative to water.
#[derive(Clone, Copy)]
pub struct Ball {
    pub at: Vec3,
    pub radius: f64,
    pub density_ratio: f64,
    pub velocity: Vec3,
    pub is_held: bool,
}

impl Ball {
    pub fn volume(&self) -> f64 {
        4.0 / 3.0 * PI * self.radius.powi(3)
    }

    fn mass(&self) -> f64 {
        self.density_ratio * DENSITY * self.volume()
    }

    /// Adds it to a world as a body of one grain that fluids carry.
    pub fn put(&self, world: &mut World) {
        let id = put_sphere(world, self.at, self.radius, self.mass(), self.velocity, self.is_held);
        world.fluids.as_mut().expect("a wet world").body_boundaries.push(BodyBoundary {
            body: id,
            offset: vec![[0.0; 3]],
            slips: false,
            radius: Vec::new(),
            volume: Vec::new(),
            suspended: Some(self.radius),
        });
    }
}

/// A ball at rest.
pub fn ball(at: Vec3, radius: f64, density_ratio: f64) -> Ball {
    Ball {
        at,
        radius,
        density_ratio,
        velocity: [0.0; 3],
        is_held: false,
    }
}

/// Adds a body of one sphere to a world; returns its id.
fn put_sphere(world: &mut World, center: Vec3, radius: f64, mass: f64, velocity: Vec3, is_held: bool) -> u32 {
    let id = world.grains.bodies.len() as u32;
    let body = Body {
        id,
        mass,
        moments: [0.4 * mass * radius * radius; 3],
        center,
        orientation: [1.0, 0.0, 0.0, 0.0],
        velocity,
        angular_velocity: [0.0; 3],
        motion: is_held.then(WallMotion::default),
        joint: None,
        carries: Vec::new(),
    };
    let sphere = Sphere {
        id,
        offset: [0.0; 3],
        radius,
    };
    world.grains.push_body(body, &[sphere], 0, 0);
    world.groups = vec!["balls".to_owned()];
    world.interactions = vec![Some(Interaction::default())];
    // Soft material, so that the fluid limits the time step: balls hardly touch here.
    world.materials[0].youngs_modulus = 1e5;
    id
}

/// Adds a cube of this many spacings to a world, with this lower corner, in place of the water there. Water flows around it, and grains touch the
/// sphere inside. Returns its sites relative to its center.
pub fn put_cube(world: &mut World, low: [i64; 3], cells: i64, density_ratio: f64) -> Vec<Vec3> {
    let high = low.map(|first| first + cells);
    let center = [0, 1, 2].map(|k| 0.5 * (low[k] + high[k]) as f64 * SPACING);
    let edge = cells as f64 * SPACING;
    let places = sites(low, high, SPACING, false);
    let offset: Vec<Vec3> = places.iter().map(|at| [0, 1, 2].map(|k| at[k] - center[k])).collect();
    let body = put_sphere(world, center, 0.5 * edge, density_ratio * DENSITY * edge.powi(3), [0.0; 3], false);
    let fluids = world.fluids.as_mut().expect("a wet world");
    fluids.body_boundaries.push(BodyBoundary {
        body,
        offset: offset.clone(),
        slips: true,
        radius: Vec::new(),
        volume: Vec::new(),
        suspended: None,
    });
    let old = std::mem::take(&mut fluids.particles);
    for (at, pressure) in old.position.into_iter().zip(old.pressure) {
        if (0..3).any(|k| (at[k] - center[k]).abs() > 0.5 * edge) {
            drop_in(fluids, at, [0.0; 3], pressure);
        }
    }
    offset
}

/// Water of this viscosity \[Pa s\] and this speed of sound \[m/s\] at rest in a periodic box, without gravity.
pub fn periodic(viscosity: f64, sound_speed: f64) -> World {
    let pressure = 0.05 * DENSITY * sound_speed * sound_speed;
    let mut medium = water(sound_speed);
    (medium.viscosity, medium.density_diffusion, medium.background_pressure) = (viscosity, 0.1, pressure);
    let mut fluids = fluids(vec![medium], SPACING, 3.0, None);
    fluids.largest_speed = 0.1 * sound_speed;
    for x in sites([0; 3], [CELLS; 3], SPACING, false) {
        drop_in(&mut fluids, x, [0.0; 3], pressure);
    }
    let edge = CELLS as f64 * SPACING;
    wet(fluids, 0.0, Some(domain([0.0; 3], [edge; 3], [true; 3])), Vec::new())
}

/// A tank of water, 20 cm deep, with artificial viscosity only.
pub fn pool() -> World {
    let depth = 10;
    let fastest = (2.0 * G * depth as f64 * SPACING).sqrt();
    let mut medium = water(10.0 * fastest);
    (medium.artificial_viscosity, medium.density_diffusion) = (0.1, 0.1);
    let mut fluids = fluids(vec![medium], SPACING, 3.0, None);
    fluids.largest_speed = fastest;
    tank(fluids, [8, 8, 16], [8, 8, depth], 3, None)
}

/// Applies a force along −z to each ball \[N\].
pub fn pull(world: &mut World, force: f64) {
    world.loads = vec![Load::constant(0, [0.0, 0.0, -force], [0.0; 3])];
}

/// The force at which a ball sinks at [`STOKES`] by Stokes' law \[N\].
pub fn stokes_force() -> f64 {
    6.0 * PI * THICK * RADIUS * STOKES
}

/// One sphere that is pulled through a slow flow in a periodic box.
pub fn alone() -> World {
    let mut world = periodic(THICK, 20.0);
    ball([0.055, 0.1, 0.15], RADIUS, 2.5).put(&mut world);
    pull(&mut world, stokes_force());
    world
}

/// Its sinking velocity over Stokes' velocity, for a cubic lattice of spheres with one per box \[Hasimoto 1959, eq. 4\].
pub fn hasimoto() -> f64 {
    let share = 4.0 / 3.0 * PI * (RADIUS / (CELLS as f64 * SPACING)).powi(3);
    1.0 - 1.7601 * share.cbrt() + share
}

/// Mean sinking velocity of balls relative to the water \[m/s\].
pub fn sinking(simulation: &Simulation) -> f64 {
    let water = simulation.fluid_particles() as f64 * DENSITY * SPACING.powi(3);
    let bodies = simulation.bodies();
    let of_balls = bodies.iter().map(|body| body.velocity[2]).sum::<f64>() / bodies.len() as f64;
    simulation.momentum_of_fluids()[2] / water - of_balls
}

/// Random positions of spheres of this radius in the periodic box, without overlaps \[m\].
pub fn scattered(count: usize, radius: f64) -> Vec<Vec3> {
    let edge = CELLS as f64 * SPACING;
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / (1u64 << 31) as f64 * edge
    };
    let mut places: Vec<Vec3> = Vec::new();
    while places.len() < count {
        let at: Vec3 = [random(), random(), random()];
        let is_near = |other: &Vec3| {
            let along = |k: usize| {
                let apart = (at[k] - other[k]).abs();
                apart.min(edge - apart)
            };
            (0..3).map(|k| along(k).powi(2)).sum::<f64>() < 4.0 * radius * radius
        };
        if !places.iter().any(is_near) {
            places.push(at);
        }
    }
    places
}

/// Grains that fly through water in all directions in a periodic box, without gravity.
pub fn stirred() -> World {
    let mut world = periodic(2.0, 24.0);
    for (k, at) in scattered(40, 0.3 * SPACING).into_iter().enumerate() {
        let turn = k as f64;
        let flying = Ball {
            velocity: [turn.cos(), (1.7 * turn).sin(), (2.9 * turn).cos()],
            ..ball(at, 0.3 * SPACING, 1.0 + 0.1 * turn)
        };
        flying.put(&mut world);
    }
    world
}

/// Momentum of bodies and water together, and the sum of the magnitudes of the bodies' momenta \[N s\].
pub fn momentum(simulation: &Simulation) -> (Vec3, f64) {
    let (water, bodies) = (simulation.momentum_of_fluids(), simulation.bodies());
    let of_bodies = |k: usize| bodies.iter().map(|body| body.mass * body.velocity[k]).sum::<f64>();
    let speed = |v: Vec3| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let size = bodies.iter().map(|body| body.mass * speed(body.velocity)).sum();
    ([0, 1, 2].map(|k| water[k] + of_bodies(k)), size)
}
