//! Blocks of matter in water.

use crate::pools::{G, domain, drop_in, fluids, sites, tank, water, wet};
use seixo_engine::Simulation;
use seixo_engine::world::{Body, BodyBoundary, Domain, Fluids, Grains, Interaction, Joint, LeavingPolicy, Sphere, Vec3, WallMotion, World};

pub const DENSITY: f64 = 1000.0;
/// Spacing of particles in tanks \[m\].
pub const SPACING: f64 = 0.02;

/// A box in spacings of the fluid: its lower corner, its widths, and its density relative to water. In a plane, y = 0, it has one layer of particles.
#[derive(Clone, Copy)]
pub struct Block {
    pub low: [i64; 3],
    pub cells: [i64; 3],
    pub density_ratio: f64,
}

impl Block {
    fn high(&self) -> [i64; 3] {
        [0, 1, 2].map(|k| self.low[k] + self.cells[k])
    }

    pub fn volume(&self, spacing: f64) -> f64 {
        self.cells.iter().product::<i64>() as f64 * spacing.powi(3)
    }

    fn holds(&self, at: &Vec3, spacing: f64) -> bool {
        (0..3).all(|k| at[k] > self.low[k] as f64 * spacing && at[k] < self.high()[k] as f64 * spacing)
    }

    /// Adds it to a world in place of the fluid there: a body with the particles of a lattice, and a small sphere for contacts with grains.
    pub fn put(&self, world: &mut World, velocity: Vec3, is_held: bool) {
        let fluids = world.fluids.as_mut().expect("a wet world");
        let spacing = fluids.spacing;
        let center = [0, 1, 2].map(|k| 0.5 * (self.low[k] + self.high()[k]) as f64 * spacing);
        let places = sites(self.low, self.high(), spacing, fluids.across.is_some());
        let mass = self.density_ratio * DENSITY * (places.len() as f64 * fluids.volume());
        let squares = self.cells.map(|n| (n as f64 * spacing).powi(2));
        let moments = [0, 1, 2].map(|k| mass / 12.0 * (squares[(k + 1) % 3] + squares[(k + 2) % 3]));
        let offset = places.iter().map(|at| [0, 1, 2].map(|k| at[k] - center[k])).collect();
        let id = world.grains.bodies.len() as u32;
        fluids.body_boundaries.push(BodyBoundary {
            body: id,
            offset,
            slips: true,
            radius: Vec::new(),
            volume: Vec::new(),
            suspended: None,
        });
        remove_inside(fluids, self);
        let sphere = Sphere {
            id: world.grains.len() as u32,
            offset: [0.0; 3],
            radius: spacing,
        };
        let body = Body {
            id,
            mass,
            moments,
            center,
            orientation: [1.0, 0.0, 0.0, 0.0],
            velocity: if is_held { [0.0; 3] } else { velocity },
            angular_velocity: [0.0; 3],
            motion: is_held.then(WallMotion::default),
            joint: None,
            carries: Vec::new(),
        };
        world.groups = vec!["blocks".to_owned()];
        world.grains.push_body(body, &[sphere], 0, 0);
        world.interactions = vec![Some(Interaction::default())];
        world.materials[0].youngs_modulus = 1e6;
    }
}

fn remove_inside(fluids: &mut Fluids, block: &Block) {
    let (old, spacing) = (std::mem::take(&mut fluids.particles), fluids.spacing);
    for k in (0..old.len()).filter(|&k| !block.holds(&old.position[k], spacing)) {
        drop_in(fluids, old.position[k], old.velocity[k], old.pressure[k]);
    }
}

/// A tank of water with this number of spacings and room above, in space or in a plane.
pub fn pool(cells: [i64; 3], depth: i64, across: Option<usize>) -> World {
    let fastest = (2.0 * G * depth as f64 * SPACING).sqrt();
    let mut medium = water(10.0 * fastest);
    (medium.artificial_viscosity, medium.density_diffusion) = (0.1, 0.1);
    let layers = support(across);
    let mut fluids = fluids(vec![medium], SPACING, layers as f64, across);
    fluids.largest_speed = fastest;
    tank(fluids, cells, [cells[0], cells[1], depth], layers, None)
}

/// Support of the particles \[spacings\]: in a plane they have fewer neighbors.
fn support(across: Option<usize>) -> i64 {
    if across.is_some() { 4 } else { 3 }
}

/// A block that is pushed through water in a periodic box, without gravity.
pub fn pushed() -> World {
    let block = Block {
        low: [4, 5, 4],
        cells: [4, 3, 4],
        density_ratio: 2.0,
    };
    pushed_through(None, block, [[1.0, 0.3, -0.2], [3.0, 1.0, 5.0]])
}

/// As [`pushed()`], in a plane.
pub fn pushed_in_a_plane() -> World {
    let block = Block {
        low: [4, -1, 4],
        cells: [4, 2, 4],
        density_ratio: 2.0,
    };
    pushed_through(Some(1), block, [[1.0, 0.0, -0.2], [0.0, 5.0, 0.0]])
}

fn pushed_through(across: Option<usize>, block: Block, [velocity, angular_velocity]: [Vec3; 2]) -> World {
    let n = 12;
    let mut medium = water(20.0);
    (medium.artificial_viscosity, medium.density_diffusion, medium.background_pressure) = (0.1, 0.1, 2e4);
    let mut fluids = fluids(vec![medium], SPACING, support(across) as f64, across);
    fluids.largest_speed = 2.0;
    for x in sites([0; 3], [n; 3], SPACING, across.is_some()) {
        drop_in(&mut fluids, x, [0.0; 3], 2e4);
    }
    let edge = n as f64 * SPACING;
    let periodic = [0, 1, 2].map(|axis| across != Some(axis));
    let low = periodic.map(|is_periodic| if is_periodic { 0.0 } else { -edge });
    let mut world = wet(fluids, 0.0, Some(domain(low, [edge; 3], periodic)), Vec::new());
    block.put(&mut world, velocity, false);
    let grains: &mut Grains = &mut world.grains;
    grains.bodies[0].angular_velocity = angular_velocity;
    world
}

/// The same with the block on a hinge beside its center.
pub fn hinged() -> World {
    let mut world = pushed();
    let body = &mut world.grains.bodies[0];
    let [x, y, z] = body.center;
    body.joint = Some(Joint::Hinge {
        through: [x - 0.04, y, z],
        axis: [0.0, 0.0, 1.0],
    });
    (body.velocity, body.angular_velocity) = ([0.0, 0.8, 0.0], [0.0, 0.0, 20.0]);
    world
}

/// Momentum of body 0 and of the water together \[N s\].
pub fn momentum(simulation: &Simulation) -> Vec3 {
    let (body, water) = (simulation.bodies()[0], simulation.momentum_of_fluids());
    [0, 1, 2].map(|k| body.mass * body.velocity[k] + water[k])
}

/// Two blocks above water: one leaves the domain, the other falls in.
pub fn thrown_out() -> World {
    let mut world = pool([14, 8, 16], 6, None);
    let block = |low: [i64; 3]| Block {
        low,
        cells: [4, 4, 3],
        density_ratio: 0.5,
    };
    block([1, 2, 8]).put(&mut world, [0.0, 0.0, 4.0], false);
    block([9, 2, 6]).put(&mut world, [0.0, 0.0, -0.5], false);
    world.domain = Some(Domain::open([-1.0; 3], [1.0, 1.0, 0.32], LeavingPolicy::Delete));
    world
}
