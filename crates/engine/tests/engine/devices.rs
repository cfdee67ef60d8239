//! Simulations on threads of the CPU and on a GPU, and the differences of both.

use seixo_engine::Simulation;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{DeviceChoice, Precision, Settings, World};

pub fn on_gpu(precision: Precision) -> Settings {
    Settings {
        device: DeviceChoice::Gpu(None),
        precision: Some(precision),
        ..Settings::default()
    }
}

pub fn on_cpu() -> Settings {
    Settings {
        device: DeviceChoice::Cpu,
        ..Settings::default()
    }
}

pub fn on_threads(threads: usize) -> Settings {
    Settings {
        threads,
        ..Settings::default()
    }
}

/// A simulation of this world on one thread.
pub fn started(world: World) -> Simulation {
    started_on(world, 1)
}

/// A simulation of this world on this many threads.
pub fn started_on(world: World, threads: usize) -> Simulation {
    Simulation::new(world, on_threads(threads)).expect("the world is sound")
}

/// These settings with the default skin of this world from start to end, so that all devices rebuild lists at the same steps.
pub fn with_default_skin(world: &World, settings: Settings) -> Settings {
    let skin = Some(Simulation::new(world.clone(), on_cpu()).unwrap().skin());
    Settings { skin, ..settings }
}

/// Skin with which the lists of fluids of this world begin \[m\]. With it from start to end, all devices rebuild lists at the same steps, and wrap
/// the same particles at periodic sides.
pub fn first_skin_of_fluids(world: &World) -> Option<f64> {
    Simulation::new(world.clone(), on_cpu()).unwrap().skin_of_fluids()
}

/// Largest difference of two columns of vectors, relative to the largest length in the first.
fn difference(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    assert_eq!(a.len(), b.len());
    let length = |v: &[f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let largest = a.iter().map(length).fold(0.0, f64::max);
    let apart = a.iter().zip(b).map(|(a, b)| length(&[a[0] - b[0], a[1] - b[1], a[2] - b[2]]));
    apart.fold(0.0, f64::max) / largest
}

pub fn after(world: &World, settings: Settings, steps: u64) -> Simulation {
    let mut simulation = Simulation::new(world.clone(), settings).unwrap();
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
    simulation
}

/// Largest difference of forces, torques and positions of two snapshots.
pub fn apart(a: &GrainSnapshot, b: &GrainSnapshot) -> f64 {
    assert_eq!(a.id, b.id);
    let columns = [(&a.force, &b.force), (&a.position, &b.position), (&a.velocity, &b.velocity)];
    let torque = if a.torque.iter().flatten().all(|&x| x == 0.0) {
        0.0
    } else {
        difference(&a.torque, &b.torque)
    };
    columns.iter().map(|(a, b)| difference(a, b)).fold(torque, f64::max)
}

/// Asserts that the columns of two ledgers differ by no more than rounding of the total energy.
#[track_caller]
pub fn assert_same_ledger(cpu: &Simulation, gpu: &Simulation, what: &str) {
    let scale = cpu.ledger().kinetic + cpu.ledger().gravity.abs();
    for (k, (a, b)) in cpu.ledger().values().into_iter().zip(gpu.ledger().values()).enumerate() {
        assert!((a - b).abs() < 1e-10 * scale, "{what}: ledger column {k}: {a} {b}");
    }
}
