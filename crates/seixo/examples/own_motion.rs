//! Motion that the program computes: a paddle with a motor of constant power pushes grains over a floor.
//!
//! The paddle is a group of grains. The program reads the force on it at every step, and sets its velocity at every tenth step. At the end, the work
//! of the motor is compared with the energy that the grains gained and dissipated.
//!
//! Run it with `cargo run --release --example own_motion`.

use seixo::engine::SurroundingsChange;
use seixo::engine::state::Ledger;
use seixo::engine::world::{Interaction, Settings, WallMotion, WallShape};
use seixo::laws::contact::TangentialLaw;
use seixo::{Simulation, World, WorldError};

/// Radius of all grains \[m\].
const RADIUS: f64 = 5e-3;
/// Index of the group that is the paddle: the first that the world names.
const PADDLE: u32 = 0;
/// Power of the motor \[W\].
const POWER: f64 = 0.02;
/// Speed of the paddle without resistance \[m/s\].
const TOP_SPEED: f64 = 0.3;

/// A row of grains, which becomes the paddle, and four rows of loose grains, all on a floor.
fn world() -> Result<World, WorldError> {
    let rough = Interaction {
        tangential: TangentialLaw::Mindlin,
        restitution: 0.6,
        friction: 0.4,
        ..Interaction::default()
    };
    let floor = WallShape::Plane {
        point: [0.0; 3],
        normal: [0.0, 0.0, 1.0],
    };
    let mut world = World::builder()
        .gravity([0.0, 0.0, -9.81])
        .material("glass", 2500.0, 1e7, 0.2)
        .interaction("glass", "glass", rough)
        .wall("floor", "glass", floor)
        // A group that gets a motion during the run must be announced.
        .constrained_group("paddle");
    for k in 0..8_u32 {
        world = world.grain("paddle", "glass", [0.0, 2.0 * RADIUS * f64::from(k), RADIUS], RADIUS);
    }
    for k in 0..24_u32 {
        let (row, column) = (f64::from(k / 6), f64::from(k % 6));
        let center = [2.2 * RADIUS * (row + 1.0), RADIUS * (1.5 + 2.2 * column), RADIUS];
        world = world.grain("loose", "glass", center, RADIUS);
    }
    world.build()
}

/// Gives the paddle a velocity along x \[m/s\], from its current position on.
fn drive(simulation: &mut Simulation, speed: f64) -> Result<(), WorldError> {
    let motion = WallMotion {
        velocity: [speed, 0.0, 0.0],
        ..WallMotion::default()
    };
    simulation.change(&[SurroundingsChange::Hold {
        group: PADDLE,
        motion: Box::new(motion),
    }])
}

/// Force of the grains against the motion of the paddle \[N\].
fn resistance(simulation: &Simulation) -> f64 {
    let seen = simulation.snapshot();
    let forces = seen.force.iter().zip(&seen.group);
    forces.filter(|&(_, &group)| group == PADDLE).map(|(force, _)| -force[0]).sum()
}

/// Energy of the loose grains and all contacts, and energy that contacts dissipated \[J\].
fn energies(ledger: &Ledger) -> [f64; 2] {
    let stored = ledger.kinetic + ledger.rotational + ledger.elastic_normal + ledger.elastic_tangential + ledger.gravity;
    [stored, ledger.normal_damping + ledger.tangential_damping + ledger.friction]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings {
        time_step: Some(2e-5),
        threads: 1,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(world()?, settings)?;
    let dt = simulation.time_step().value;
    let mut speed = TOP_SPEED;
    drive(&mut simulation, speed)?;
    let start = simulation.ledger();
    let (mut work, mut smooth): (f64, f64) = (0.0, 0.0);
    println!("time [s]  paddle at [m]  speed [m/s]  resistance [N]  work [J]");
    for _ in 0..5 {
        for _ in 0..500 {
            for _ in 0..10 {
                let before = resistance(&simulation);
                simulation.advance(1)?;
                let after = resistance(&simulation);
                // Mean power of the step times its length.
                work += 0.5 * dt * (before + after) * speed;
                smooth += 0.02 * (after - smooth);
            }
            // Against a large resistance, force times speed is the power of the motor.
            speed = POWER / (smooth.max(0.0) + POWER / TOP_SPEED);
            drive(&mut simulation, speed)?;
        }
        let x = simulation.bodies()[0].center[0];
        println!("{:8.2}  {x:13.4}  {speed:11.4}  {smooth:14.4}  {work:.3e}", simulation.time());
    }
    let end = simulation.ledger();
    let ([stored, dissipated], [stored_before, dissipated_before]) = (energies(&end), energies(&start));
    let (gained, lost) = (stored - stored_before, dissipated - dissipated_before);
    println!("work of the motor {work:.4e} J = energy gained {gained:.4e} J + dissipated {lost:.4e} J");
    let counted = end.wall_work - start.wall_work;
    assert!((work - counted).abs() < 1e-6 * work, "the ledger has {counted} J");
    assert!((gained + lost - work).abs() < 0.01 * work, "energy is not conserved");
    Ok(())
}
