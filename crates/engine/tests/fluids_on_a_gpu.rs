//! Fluids on a GPU are those of the CPU.

mod pools;

use pools::{G, fluids, tank, water};
use seixo_engine::Simulation;
use seixo_engine::state::FluidSnapshot;
use seixo_engine::world::{DeviceChoice, Precision, Settings, World};

/// A column of water that breaks down in a tank twice as wide, in a plane or in space.
fn column(is_plane: bool) -> World {
    let spacing = 0.05;
    let mut medium = water(44.0);
    (medium.viscosity, medium.artificial_viscosity, medium.density_diffusion) = (0.5, 0.05, 0.1);
    let mut fluids = fluids(vec![medium], spacing, 3.0, is_plane.then_some(1));
    fluids.fastest = 4.4;
    let cells = if is_plane { [32, 1, 24] } else { [16, 6, 14] };
    let filled = if is_plane { [16, 1, 20] } else { [8, 6, 10] };
    tank(fluids, cells, filled, 3, None)
}

fn on(device: DeviceChoice, precision: Option<Precision>, world: World) -> Simulation {
    let settings = Settings {
        device,
        precision,
        threads: 1,
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

/// The largest difference of two fields, over the largest of the first.
fn apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let most = a.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    let difference = a
        .iter()
        .flatten()
        .zip(b.iter().flatten())
        .fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
    difference / most
}

fn after(simulation: &mut Simulation, steps: u64) -> FluidSnapshot {
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
    simulation.fluid().unwrap()
}

#[test]
fn a_gpu_goes_the_way_of_the_cpu() {
    for (is_plane, precision, tolerance) in [
        (true, Precision::F64, 1e-9),
        (false, Precision::F64, 1e-9),
        // What single precision leaves of pressures, 10⁻⁷ of ρ c², grows as water splashes.
        (true, Precision::Mixed, 2e-3),
    ] {
        let mut here = on(DeviceChoice::Cpu, None, column(is_plane));
        let mut there = on(DeviceChoice::Gpu(None), Some(precision), column(is_plane));
        let (mine, its) = (after(&mut here, 300), after(&mut there, 300));
        assert_eq!(mine.id, its.id);
        let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
        let (a, b) = (here.ledger(), there.ledger());
        println!(
            "{precision:?} plane {is_plane}: x {x:.2e} v {v:.2e} rebuilds {} {}",
            here.rebuilds(),
            there.rebuilds()
        );
        println!("{a:?}\n{b:?}");
        assert!(x < tolerance && v < 10.0 * tolerance, "{precision:?} plane {is_plane}: {x:e} {v:e}");
        // The books: what went through them, in J, of what was there at the start.
        for (one, other) in a.values().into_iter().zip(b.values()) {
            assert!((one - other).abs() < tolerance * 1000.0 * G, "{one} {other}");
        }
        let [force, same] = [&here, &there].map(|simulation| simulation.walls()[0].force);
        assert!(apart(&[force], &[same]) < 10.0 * tolerance, "{force:?} {same:?}");
    }
}
