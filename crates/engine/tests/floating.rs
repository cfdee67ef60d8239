//! Rigid bodies in fluids: what Archimedes and Newton would look at.

mod pools;

use pools::{G, domain, drop_in, fluids, sites, tank, water, wet};
use seixo_engine::Simulation;
use seixo_engine::world::{Body, Fluids, Grains, Hull, Interaction, Settings, Sphere, Vec3, WallMotion, World};

const DENSITY: f64 = 1000.0;
/// Of particles in tanks \[m\].
const SPACING: f64 = 0.02;

/// A box of fluid's spacings: where its lower corner is, how many it is wide, and its density over that of water.
#[derive(Clone, Copy)]
struct Block {
    low: [i64; 3],
    cells: [i64; 3],
    density_ratio: f64,
}

impl Block {
    fn high(&self) -> [i64; 3] {
        [0, 1, 2].map(|k| self.low[k] + self.cells[k])
    }

    fn volume(&self, spacing: f64) -> f64 {
        self.cells.iter().product::<i64>() as f64 * spacing.powi(3)
    }

    fn holds(&self, at: &Vec3, spacing: f64) -> bool {
        (0..3).all(|k| at[k] > self.low[k] as f64 * spacing && at[k] < self.high()[k] as f64 * spacing)
    }

    /// Puts it into a world in place of the fluid there: a body with the particles of a lattice, and a small sphere for grains to touch.
    fn put(&self, world: &mut World, velocity: Vec3, is_held: bool) {
        let fluids = world.fluids.as_mut().expect("a wet world");
        let spacing = fluids.spacing;
        let center = [0, 1, 2].map(|k| 0.5 * (self.low[k] + self.high()[k]) as f64 * spacing);
        let mass = self.density_ratio * DENSITY * self.volume(spacing);
        let squares = self.cells.map(|n| (n as f64 * spacing).powi(2));
        let moments = [0, 1, 2].map(|k| mass / 12.0 * (squares[(k + 1) % 3] + squares[(k + 2) % 3]));
        let places = sites(self.low, self.high(), spacing, false);
        let offset = places.iter().map(|at| [0, 1, 2].map(|k| at[k] - center[k])).collect();
        let id = world.grains.bodies.len() as u32;
        fluids.hulls.push(Hull {
            body: id,
            offset,
            radius: Vec::new(),
            slips: true,
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

/// A tank of water of this spacing \[m\], with room above, of so many spacings.
fn pool(spacing: f64, cells: [i64; 3], depth: i64) -> World {
    let fastest = (2.0 * G * depth as f64 * spacing).sqrt();
    let mut medium = water(10.0 * fastest);
    (medium.artificial_viscosity, medium.density_diffusion) = (0.1, 0.1);
    let mut fluids = fluids(vec![medium], spacing, 3.0, None);
    fluids.fastest = fastest;
    tank(fluids, cells, [cells[0], cells[1], depth], 3, None)
}

fn started(world: World) -> Simulation {
    let settings = Settings {
        threads: 2,
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

/// Mean force of the fluid on body 0 over some steps \[N\].
fn mean_force(simulation: &mut Simulation, steps: u64) -> Vec3 {
    let mut sum = [0.0; 3];
    for _ in 0..steps {
        simulation.step().unwrap();
        let [force, _] = simulation.loads_of_fluids_on_bodies()[0];
        sum = [0, 1, 2].map(|k| sum[k] + force[k] / steps as f64);
    }
    sum
}

#[test]
fn a_block_that_is_held_under_water_is_lifted_by_the_weight_of_its_volume() {
    for floor in [2, 5] {
        let mut world = pool(SPACING, [10, 10, 18], 13);
        let block = Block {
            low: [3, 3, floor],
            cells: [4; 3],
            density_ratio: 3.0,
        };
        block.put(&mut world, [0.0; 3], true);
        let mut simulation = started(world);
        let steps = (0.15 / simulation.time_step().value) as u64;
        simulation.advance(steps).unwrap();
        let force = mean_force(&mut simulation, 2 * steps);
        let lift = DENSITY * G * block.volume(SPACING);
        assert!((force[2] / lift - 1.0).abs() < 0.02, "{} of {lift} N", force[2]);
        assert!(force[0].hypot(force[1]) < 0.02 * lift, "{force:?}");
    }
}

#[test]
fn a_block_as_dense_as_water_neither_rises_nor_sinks() {
    let mut world = pool(SPACING, [10, 10, 18], 13);
    let block = Block {
        low: [3, 3, 5],
        cells: [4; 3],
        density_ratio: 1.0,
    };
    block.put(&mut world, [0.0; 3], false);
    let mut simulation = started(world);
    let before = simulation.bodies()[0].center[2];
    let steps = (0.4 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    // What a fiftieth of its weight would do, with half of its volume of water coming along.
    let time = simulation.time();
    let off = 0.5 * 0.02 * G / 1.5 * time * time;
    let moved = simulation.bodies()[0].center[2] - before;
    assert!(moved.abs() < off, "{moved} m of {off} m");
}

#[test]
fn a_raft_half_as_dense_as_water_sinks_in_by_half() {
    let (spacing, depth) = (SPACING, 8);
    let mut world = pool(spacing, [14, 14, 14], depth);
    // Wide enough to lie flat: stable above √1.5 times its height.
    let block = Block {
        low: [3, 3, depth - 1],
        cells: [8, 8, 4],
        density_ratio: 0.5,
    };
    block.put(&mut world, [0.0; 3], false);
    let mut simulation = started(world);
    let start = simulation.ledger();
    let steps = (1.2 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    let raft = simulation.bodies()[0];
    // The level, from the volume that water and raft displace together.
    let water = (14 * 14 * depth - 8 * 8) as f64 * spacing.powi(3);
    let displaced = 0.5 * block.volume(spacing);
    let level = (water + displaced) / (14.0 * spacing).powi(2);
    let draft = level - (raft.center[2] - 2.0 * spacing);
    assert!((draft - 2.0 * spacing).abs() < spacing, "{draft} m of {} m", 2.0 * spacing);
    let tilt = 1.0 - raft.orientation[0].abs();
    assert!(tilt < 0.01, "{:?}", raft.orientation);
    let ledger = simulation.ledger();
    let moved = ledger.viscosity + (ledger.gravity - start.gravity).abs();
    assert!(ledger.residual.abs() < 0.02 * moved, "{ledger:?}");
}

/// A block that is pushed through water, all around periodic, without gravity.
fn pushed() -> World {
    let (spacing, n) = (0.02, 12);
    let mut medium = water(20.0);
    (medium.artificial_viscosity, medium.density_diffusion, medium.background_pressure) = (0.1, 0.1, 2e4);
    let mut fluids = fluids(vec![medium], spacing, 3.0, None);
    fluids.fastest = 2.0;
    for x in sites([0; 3], [n; 3], spacing, false) {
        drop_in(&mut fluids, x, [0.0; 3], 2e4);
    }
    let edge = n as f64 * spacing;
    let mut world = wet(fluids, 0.0, Some(domain([0.0; 3], [edge; 3], [true; 3])), Vec::new());
    let block = Block {
        low: [4, 5, 4],
        cells: [4, 3, 4],
        density_ratio: 2.0,
    };
    block.put(&mut world, [1.0, 0.3, -0.2], false);
    let grains: &mut Grains = &mut world.grains;
    grains.bodies[0].angular_velocity = [3.0, 1.0, 5.0];
    world
}

#[test]
fn what_a_body_loses_of_momentum_water_gains_and_of_energy_what_is_not_heat() {
    let mut simulation = started(pushed());
    let total = |simulation: &Simulation| {
        let (body, water) = (simulation.bodies()[0], simulation.momentum_of_fluids());
        [0, 1, 2].map(|k| body.mass * body.velocity[k] + water[k])
    };
    let (before, start) = (total(&simulation), simulation.ledger());
    let given = simulation.bodies()[0].velocity;
    simulation.advance(400).unwrap();
    let (after, now) = (total(&simulation), simulation.ledger());
    let size = simulation.bodies()[0].mass;
    for k in 0..3 {
        assert!((after[k] - before[k]).abs() < 1e-11 * size, "{before:?} {after:?}");
    }
    let kept = simulation.bodies()[0].velocity;
    assert!(kept[0] < 0.9 * given[0], "water held nothing: {kept:?}");
    // Of second order in the time step.
    assert!((now.residual - start.residual).abs() < 2e-3 * start.kinetic, "{now:?}");
}

#[test]
fn going_on_from_a_checkpoint_and_more_threads_change_no_bit() {
    let whole = |threads: usize| {
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(pushed(), settings).unwrap();
        simulation.advance(150).unwrap();
        simulation
    };
    let (mut one, two) = (whole(1), whole(2));
    assert_eq!(one.bodies(), two.bodies());
    let state = one.save().unwrap();
    one.advance(100).unwrap();
    let mut again = Simulation::restore(pushed(), Settings::default(), &state).unwrap();
    again.advance(100).unwrap();
    assert_eq!(one.bodies(), again.bodies());
    assert_eq!(one.fluid(), again.fluid());
    assert_eq!(one.loads_of_fluids_on_bodies(), again.loads_of_fluids_on_bodies());
}
