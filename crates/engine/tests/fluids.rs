//! Fluids: what a physicist would look at.

mod pools;

use pools::{G, fluids, tank, water};
use seixo_engine::Simulation;
use seixo_engine::world::Settings;

#[test]
fn still_water_stays_still() {
    let (spacing, height) = (0.05, 20);
    let depth = height as f64 * spacing;
    let fastest = (2.0 * G * depth).sqrt();
    let mut medium = water(10.0 * fastest);
    medium.artificial_viscosity = 0.02;
    medium.density_diffusion = 0.1;
    let mut fluids = fluids(vec![medium], spacing, 4.0, Some(1));
    fluids.fastest = fastest;
    let world = tank(fluids, [20, 1, 30], [20, 1, height], 4, None);
    let mut simulation = Simulation::new(
        world,
        Settings {
            threads: 1,
            ..Settings::default()
        },
    )
    .unwrap();
    for k in 0..20 {
        let fluid = simulation.fluid().unwrap();
        let speed = (fluid.velocity.iter().flatten().map(|v| v * v).sum::<f64>() / fluid.id.len() as f64).sqrt();
        let error = fluid
            .position
            .iter()
            .zip(&fluid.pressure)
            .map(|(x, p)| (p - 1000.0 * G * (depth - x[2])).abs())
            .fold(0.0, f64::max);
        let ledger = simulation.ledger();
        println!(
            "{k} t {:.3} v_rms {speed:.2e} dp/rho g H {:.3e} kinetic {:.3e} compression {:.4e} gravity {:.4e} visc {:.3e} diff {:.3e} wall {:.3e} residual {:.3e} rebuilds {}",
            simulation.time(),
            error / (1000.0 * G * depth),
            ledger.kinetic,
            ledger.compression,
            ledger.gravity,
            ledger.viscosity,
            ledger.diffusion,
            ledger.wall_work,
            ledger.residual,
            simulation.rebuilds()
        );
        simulation.advance(500).unwrap();
    }
}
