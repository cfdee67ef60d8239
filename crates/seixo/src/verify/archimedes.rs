//! Rigid bodies in water: buoyancy, floating depth, and momentum exchange.

use super::case_run::{CaseRun, Done, Outcome, advance, length, run_until};
use super::fluid::{extent, fluids_of, fluids_of_mut};
use seixo_engine::Simulation;
use seixo_engine::world::{
    Body, BodyBoundary, Domain, Fluids, Interaction, LeavingPolicy, Particles, Sphere, Vec3, WallMotion, WallParticles, World,
};
use seixo_scene::Scene;

/// Edge of a submerged cube at a fixed position \[m\].
const CUBE: f64 = 0.08;
/// Time in which the water settles, and time over which its force is averaged \[s\].
const LIFTED: [f64; 2] = [0.15, 0.3];
/// Width and height of a raft \[m\]; it floats flat if its width is above √1.5 times its height.
const RAFT: [f64; 2] = [0.12, 0.08];
/// Density of the raft over that of water.
const DENSITY_OF_RAFT: f64 = 0.5;
/// Initial depth of the raft in the water \[m\], and time at which it is at rest \[s\].
const DROPPED: [f64; 2] = [0.02, 1.2];
/// Number of steps of a body that moves through water.
const STEPS: u64 = 400;
/// Background pressure of water in a periodic box \[Pa\], so that no cavity forms behind a body.
const BACKGROUND: f64 = 2e4;

/// A box in a fluid; its sides are whole numbers of spacings.
struct Block {
    low: Vec3,
    size: Vec3,
    /// Density of the box over that of the fluid.
    density_ratio: f64,
}

impl Block {
    /// A box of this size in the middle of a tank, with its lower side at this height.
    fn in_the_middle(fluids: &Fluids, size: Vec3, height: f64, density_ratio: f64) -> Block {
        let beside = |axis: usize| {
            let [low, high] = extent(fluids, axis);
            0.5 * (low + high - size[axis])
        };
        Block {
            low: [beside(0), beside(1), height],
            size,
            density_ratio,
        }
    }

    fn volume(&self) -> f64 {
        self.size.iter().product()
    }

    fn center(&self) -> Vec3 {
        [0, 1, 2].map(|k| self.low[k] + 0.5 * self.size[k])
    }

    fn holds(&self, at: &Vec3) -> bool {
        (0..3).all(|k| at[k] > self.low[k] && at[k] < self.low[k] + self.size[k])
    }

    /// Lattice points that fill the box, relative to its center \[m\].
    fn lattice(&self, spacing: f64) -> Vec<Vec3> {
        let counts = self.size.map(|side| (side / spacing).round() as u32);
        let place = |k: u32, axis: usize| (f64::from(k) + 0.5) * spacing - 0.5 * self.size[axis];
        let mut places = Vec::new();
        for x in 0..counts[0] {
            for y in 0..counts[1] {
                for z in 0..counts[2] {
                    places.push([place(x, 0), place(y, 1), place(z, 2)]);
                }
            }
        }
        places
    }

    /// Adds the box to a world of one fluid and removes the fluid particles inside it. Without a velocity and an angular velocity the box does not
    /// move.
    fn put(&self, world: &mut World, moves: Option<[Vec3; 2]>) -> Done {
        let fluids = fluids_of_mut(world)?;
        let spacing = fluids.spacing;
        let mass = self.density_ratio * fluids.kinds[0].density * self.volume();
        let squares = self.size.map(|side| side * side);
        fluids.body_boundaries.push(BodyBoundary {
            body: 0,
            offset: self.lattice(spacing),
            radius: Vec::new(),
            volume: Vec::new(),
            slips: true,
            suspended: None,
        });
        let all = std::mem::take(&mut fluids.particles);
        fluids.particles = outside(&all, self);
        let [velocity, angular_velocity] = moves.unwrap_or_default();
        let body = Body {
            id: 0,
            mass,
            moments: [0, 1, 2].map(|k| mass / 12.0 * (squares[(k + 1) % 3] + squares[(k + 2) % 3])),
            center: self.center(),
            orientation: [1.0, 0.0, 0.0, 0.0],
            velocity,
            angular_velocity,
            motion: moves.is_none().then(WallMotion::default),
            joint: None,
            carries: Vec::new(),
        };
        // A body needs at least one grain. This one has no contacts, and is so soft that the water sets the time step.
        let sphere = Sphere {
            id: 0,
            offset: [0.0; 3],
            radius: spacing,
        };
        world.groups = vec!["block".to_owned()];
        world.grains.push_body(body, &[sphere], 0, 0);
        world.interactions = vec![Some(Interaction::default())];
        let material = world.materials.first_mut().ok_or("the scene has no material")?;
        material.youngs_modulus = 1e6;
        Ok(())
    }
}

/// Returns the particles outside a block.
fn outside(all: &Particles, block: &Block) -> Particles {
    let mut rest = Particles::default();
    for k in (0..all.len()).filter(|&k| !block.holds(&all.position[k])) {
        rest.id.push(rest.id.len() as u32);
        rest.position.push(all.position[k]);
        rest.velocity.push(all.velocity[k]);
        rest.pressure.push(all.pressure[k]);
        rest.kind.push(all.kind[k]);
    }
    rest
}

/// Mean force of water on a cube at this height above the floor, upward and sideways, over ρ g V.
fn lift(case_run: &mut CaseRun, mut scene: Scene, height: f64) -> Outcome<[f64; 2]> {
    let fluids = fluids_of(&scene.world)?;
    let cube = Block::in_the_middle(fluids, [CUBE; 3], height, 1.0);
    let weight = -fluids.kinds[0].density * scene.world.gravity[2] * cube.volume();
    let across = (CUBE / fluids.spacing).round();
    cube.put(&mut scene.world, None)?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let [settling, looking] = LIFTED;
    run_until(&mut simulation, settling)?;
    let steps = (looking / simulation.time_step().value).ceil() as u64;
    let mut sum = [0.0; 3];
    for _ in 0..steps {
        advance(&mut simulation, 1)?;
        let loads = simulation.loads_of_fluids_on_bodies();
        let [force, _] = loads.first().ok_or("water feels no body")?;
        sum = [0, 1, 2].map(|k| sum[k] + force[k]);
        case_run.print_progress(&format!("a cube {across} spacings wide"), &simulation, settling + looking);
    }
    let [x, y, z] = sum.map(|force| force / (steps as f64 * weight));
    Ok([z, x.hypot(y)])
}

/// Depth at which a raft floats, over its height.
fn draft(case_run: &mut CaseRun, mut scene: Scene) -> Outcome<f64> {
    let [width, height] = RAFT;
    let [depth, rest] = DROPPED;
    let fluids = fluids_of(&scene.world)?;
    let [floor, surface] = extent(fluids, 2);
    let [along, across] = [0, 1].map(|axis| {
        let [low, high] = extent(fluids, axis);
        high - low
    });
    let raft = Block::in_the_middle(fluids, [width, width, height], surface - depth, DENSITY_OF_RAFT);
    raft.put(&mut scene.world, Some([[0.0; 3]; 2]))?;
    let fluids = fluids_of(&scene.world)?;
    let water = fluids.particles.len() as f64 * fluids.volume();
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    while simulation.time() + simulation.time_step().value < rest {
        let next = rest.min(simulation.time() + 0.05);
        run_until(&mut simulation, next)?;
        case_run.print_progress("a raft", &simulation, rest);
    }
    let raft_now = *simulation.bodies().first().ok_or("the raft is gone")?;
    // The level follows from the volumes: particles at the surface give it only to half a spacing.
    let level = floor + (water + DENSITY_OF_RAFT * raft.volume()) / (along * across);
    Ok((level - (raft_now.center[2] - 0.5 * height)) / height)
}

/// Removes tank and gravity: only water in a periodic box is left.
fn without_tank(world: &mut World) -> Done {
    world.gravity = [0.0; 3];
    world.walls.clear();
    let fluids = fluids_of_mut(world)?;
    fluids.boundary = WallParticles::default();
    fluids.slips.clear();
    fluids.inside.clear();
    fluids.kinds[0].background_pressure = BACKGROUND;
    fluids.particles.pressure.fill(BACKGROUND);
    let sides = [0, 1, 2].map(|axis| extent(fluids, axis));
    world.domain = Some(Domain {
        periodic: [true; 3],
        ..Domain::open(sides.map(|[low, _]| low), sides.map(|[_, high]| high), LeavingPolicy::Error)
    });
    Ok(())
}

/// Change of the momentum of water and body while the water slows down a rotating block, over the initial momentum of the block.
fn exchange(mut scene: Scene) -> Outcome<f64> {
    without_tank(&mut scene.world)?;
    let fluids = fluids_of(&scene.world)?;
    let spacing = fluids.spacing;
    let block = Block {
        low: [3.0, 4.0, 4.0].map(|k| k * spacing),
        size: [4.0, 3.0, 4.0].map(|k| k * spacing),
        density_ratio: 2.0,
    };
    block.put(&mut scene.world, Some([[1.0, 0.3, -0.2], [3.0, 1.0, 5.0]]))?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let momenta = |simulation: &Simulation| -> Outcome<[Vec3; 2]> {
        let body = *simulation.bodies().first().ok_or("the block is gone")?;
        Ok([body.velocity.map(|v| body.mass * v), simulation.momentum_of_fluids()])
    };
    let [given, water] = momenta(&simulation)?;
    advance(&mut simulation, STEPS)?;
    let [left, gained] = momenta(&simulation)?;
    let change = [0, 1, 2].map(|k| left[k] + gained[k] - given[k] - water[k]);
    Ok(length(change) / length(given))
}

/// Buoyancy of a submerged cube, and momentum exchange between body and water.
pub fn short(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let [up, sideways] = lift(case_run, scene, CUBE)?;
    let change = exchange(case_run.scene()?)?;
    case_run.compare(&[up, sideways, change])
}

/// Buoyancy of a cube at a larger depth for three spacings, and floating depth of a raft.
pub fn long(case_run: &mut CaseRun) -> Done {
    let mut measured = Vec::new();
    for across in [4.0, 6.0, 8.0] {
        let spacing = ("fluid.water.spacing".to_owned(), format!("\"{} m\"", CUBE / across));
        let scene = case_run.scene_with(&[spacing])?;
        let [up, _] = lift(case_run, scene, 0.5 * CUBE)?;
        measured.push(up);
    }
    let scene = case_run.scene()?;
    measured.push(draft(case_run, scene)?);
    case_run.compare(&measured)
}
