//! The state of a running simulation as arrays: positions, velocities, contacts and energies, in SI units.
//!
//! Beads fall into a box and come to rest. The program computes their granular temperature and coordination number from the arrays, and checks the
//! arrays against each other: contact forces against forces on beads, and the force on the walls against the weight.
//!
//! Run it with `cargo run --release --example read_arrays`.

use seixo::Simulation;
use seixo::engine::state::GrainSnapshot;
use seixo::engine::{ContactRecord, Partner};

/// Beads above the floor of a box that is open at the top.
const SCENE: &str = r#"
[run]
until = "0.6 s"
threads = 1

[world]
gravity = [0, 0, "-9.81 m/s^2"]

[material.glass]
density = "2500 kg/m^3"
youngs_modulus = "5 MPa"
poisson_ratio = 0.2

[interaction.glass-glass]
restitution = 0.5
friction = 0.3

[grains.beads]
material = "glass"
fill = { region = { box = { min = [0, 0, 0], max = ["4 cm", "4 cm", "10 cm"] } }, count = 300, radius = "2 mm" }

[wall.box]
material = "glass"
box = { min = [0, 0, 0], max = ["4 cm", "4 cm", "10 cm"], open = ["top"] }
"#;

/// Granular temperature \[m²/s²\]: a third of the mean square of the velocities relative to the center of mass, weighted by mass.
fn granular_temperature(grains: &GrainSnapshot) -> f64 {
    let all: f64 = grains.mass.iter().sum();
    let mean = |axis: usize, power: i32| {
        let terms = grains.mass.iter().zip(&grains.velocity);
        terms.map(|(&mass, velocity)| mass * velocity[axis].powi(power)).sum::<f64>() / all
    };
    (0..3).map(|axis| mean(axis, 2) - mean(axis, 1).powi(2)).sum::<f64>() / 3.0
}

/// Kinetic energy of the centers \[J\].
fn kinetic_energy(grains: &GrainSnapshot) -> f64 {
    let terms = grains.mass.iter().zip(&grains.velocity);
    terms.map(|(&mass, v)| 0.5 * mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])).sum()
}

/// Mean number of contacts of a grain: a contact of two grains counts for both.
fn coordination(grains: &GrainSnapshot, contacts: &[ContactRecord]) -> f64 {
    let with_grains = contacts.iter().filter(|contact| matches!(contact.b, Partner::Grain(_))).count();
    (contacts.len() + with_grains) as f64 / grains.id.len() as f64
}

/// Sum of the contact forces on each grain \[N\], in the order of the snapshot.
fn forces_of_contacts(grains: &GrainSnapshot, contacts: &[ContactRecord]) -> Vec<[f64; 3]> {
    let mut forces = vec![[0.0; 3]; grains.id.len()];
    let mut add = |id: u32, force: [f64; 3], sign: f64| {
        // Ids ascend in a snapshot.
        if let Ok(at) = grains.id.binary_search(&id) {
            forces[at] = [0, 1, 2].map(|axis| forces[at][axis] + sign * force[axis]);
        }
    };
    for contact in contacts {
        add(contact.a, contact.force(), 1.0);
        if let Partner::Grain(id) = contact.b {
            add(id, contact.force(), -1.0);
        }
    }
    forces
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = seixo::scene::load_text(SCENE, "beads.toml".as_ref(), &[])?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let steps = (0.1 / simulation.time_step().value).round() as u64;
    let weight = 9.81 * simulation.snapshot().mass.iter().sum::<f64>();
    let mut on_walls: f64 = 0.0;
    println!("time [s]  height [m]  temperature [m²/s²]  contacts per bead  kinetic energy [J]  force on walls [N]");
    for _ in 0..6 {
        simulation.advance(steps)?;
        let contacts = simulation.contacts_now()?;
        let (grains, ledger) = (simulation.snapshot(), simulation.ledger());
        let top = grains.position.iter().fold(0.0, |top: f64, center| top.max(center[2]));
        let kinetic = kinetic_energy(&grains);
        on_walls = simulation.walls().iter().map(|wall| wall.force[2]).sum();
        println!(
            "{:8.2}  {top:10.4}  {:19.3e}  {:17.2}  {kinetic:18.3e}  {on_walls:18.4}",
            simulation.time(),
            granular_temperature(&grains),
            coordination(&grains, &contacts)
        );
        assert!((kinetic - ledger.kinetic).abs() <= 1e-9 * ledger.kinetic, "other velocities");
        let sums = forces_of_contacts(&grains, &contacts);
        let pairs = sums.as_flattened().iter().zip(grains.force.as_flattened());
        let apart = pairs.fold(0.0, |most: f64, (sum, force)| most.max((sum - force).abs()));
        assert!(apart < 1e-6 * weight, "contact forces differ from forces on beads by {apart} N");
    }
    println!("weight of the beads: {weight:.4} N");
    assert!((on_walls + weight).abs() < 0.05 * weight, "the walls do not carry the beads");
    Ok(())
}
