//! Loads that the program computes from the state, and a load that is a formula of time.
//!
//! One ball hangs on a spring that is not part of the world: the program reads the ball at every step and sets the force on it. The load on
//! a second ball balances its weight and swings along x as a cosine of time. Both motions are compared with Newton's law.
//!
//! Run it with `cargo run --release --example own_loads`.

use seixo::engine::SurroundingsChange;
use seixo::engine::world::{Formula, FormulaError, Interaction, Load, Material, Settings, TimeFunction, Vec3, VectorOfTime};
use seixo::{Simulation, World};
use std::f64::consts::{PI, TAU};

/// Radius of both balls \[m\].
const RADIUS: f64 = 1e-2;
/// Their density \[kg/m³\].
const DENSITY: f64 = 2500.0;
/// Gravitational acceleration \[m/s²\].
const GRAVITY: f64 = 9.81;
/// Index of the group of the ball on the spring.
const HANGING: u32 = 0;
/// Index of the group of the other ball.
const DRIVEN: u32 = 1;
/// Stiffness of the spring \[N/m\].
const STIFFNESS: f64 = 10.0;
/// Position of the ball without force of the spring \[m\].
const REST: Vec3 = [0.0, 0.0, 0.5];
/// Amplitude of the force on the driven ball \[N\].
const AMPLITUDE: f64 = 0.05;
/// Frequency of this force \[Hz\].
const FREQUENCY: f64 = 4.0;

/// Mass of a ball \[kg\].
fn mass() -> f64 {
    DENSITY * 4.0 / 3.0 * PI * RADIUS.powi(3)
}

/// Two balls at rest that do not touch, and the load on the driven one.
fn world() -> Result<World, FormulaError> {
    let glass = Material {
        name: "glass".into(),
        density: DENSITY,
        youngs_modulus: 1e7,
        poisson_ratio: 0.2,
    };
    let swinging = Formula::read(&format!("cos(2 * pi * {FREQUENCY} * t)"), AMPLITUDE)?;
    let load = Load {
        group: DRIVEN,
        force: VectorOfTime([
            TimeFunction::Formula(swinging),
            TimeFunction::Constant(0.0),
            TimeFunction::Constant(mass() * GRAVITY),
        ]),
        ..Load::default()
    };
    let mut world = World {
        gravity: [0.0, 0.0, -GRAVITY],
        materials: vec![glass],
        interactions: vec![Some(Interaction::default())],
        groups: vec!["hanging".into(), "driven".into()],
        loads: vec![load],
        ..World::default()
    };
    // A group whose load changes during the run must be announced.
    world.later.constrained_groups = vec![HANGING];
    world.grains.push(0, REST, [0.0; 3], [0.0; 3], RADIUS, 0, HANGING);
    world.grains.push(1, [0.0, 0.2, 0.5], [0.0; 3], [0.0; 3], RADIUS, 0, DRIVEN);
    Ok(world)
}

/// Force of the spring \[N\]. A load acts until the next one, here for a step, so it is computed for the middle of the step.
fn spring(position: Vec3, velocity: Vec3, dt: f64) -> Vec3 {
    [0, 1, 2].map(|axis| -STIFFNESS * (position[axis] + 0.5 * dt * velocity[axis] - REST[axis]))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings {
        time_step: Some(1e-4),
        threads: 1,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(world()?, settings)?;
    let dt = simulation.time_step().value;
    // Newton's law: a ball that is let go at REST swings about a point below it, and a ball under a cosine force swings on one side of its start.
    let sag = mass() * GRAVITY / STIFFNESS;
    let (of_spring, of_force) = ((STIFFNESS / mass()).sqrt(), TAU * FREQUENCY);
    let swing = AMPLITUDE / (mass() * of_force * of_force);
    println!("time [s]  z of the hanging ball [m]  exact [m]  x of the driven ball [m]  exact [m]");
    for _ in 0..10 {
        for _ in 0..1000 {
            let seen = simulation.snapshot();
            let force = spring(seen.position[0], seen.velocity[0], dt);
            simulation.change(&[SurroundingsChange::Load(Load::constant(HANGING, force, [0.0; 3]))])?;
            simulation.advance(1)?;
        }
        let (time, seen) = (simulation.time(), simulation.snapshot());
        let (z, x) = (seen.position[0][2], seen.position[1][0]);
        let exact_z = REST[2] - sag * (1.0 - (of_spring * time).cos());
        let exact_x = swing * (1.0 - (of_force * time).cos());
        println!("{time:8.1}  {z:25.6}  {exact_z:9.6}  {x:24.6}  {exact_x:9.6}");
        assert!((z - exact_z).abs() < 1e-3 * sag, "the spring is not that of Hooke");
        assert!((x - exact_x).abs() < 1e-3 * swing, "the force is not that of the formula");
    }
    let ledger = simulation.ledger();
    println!("work of the loads {:.4e} J", ledger.wall_work);
    println!("kinetic energy {:.4e} J", ledger.kinetic);
    Ok(())
}
