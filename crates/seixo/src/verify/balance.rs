//! Conservation laws in systems of many grains.

use super::case_run::{CaseRun, Done, advance, along, cross, length};
use seixo_engine::state::{GrainSnapshot, Ledger};
use seixo_engine::{Momentum, Simulation};

/// Energy dissipated by friction and damping \[J\].
fn taken(ledger: &Ledger) -> f64 {
    ledger.normal_damping + ledger.tangential_damping + ledger.friction + ledger.local_damping
}

/// Σ |m v| and Σ |x × m v + I ω|: scales for errors of the momenta.
fn sizes(grains: &GrainSnapshot) -> (f64, f64) {
    (0..grains.id.len()).fold((0.0, 0.0), |(linear, angular), i| {
        let push = along([0.0; 3], grains.mass[i], grains.velocity[i]);
        let inertia = 0.4 * grains.mass[i] * grains.radius[i].powi(2);
        let turn = along(cross(grains.position[i], push), inertia, grains.angular_velocity[i]);
        (linear + length(push), angular + length(turn))
    })
}

/// Two clusters in free space: first elastic, then with friction and damping.
pub fn cluster(case_run: &mut CaseRun) -> Done {
    for (name, [restitution, friction, energy_lost]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
        for pair in scene.world.interactions.iter_mut().flatten() {
            (pair.restitution, pair.friction) = (restitution, friction);
        }
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let (linear_size, angular_size) = sizes(&simulation.snapshot());
        let start = simulation.momentum();
        let (mut linear, mut angular, mut energy, mut residual) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
        while simulation.time() < scene.run.until {
            advance(&mut simulation, 100)?;
            let Momentum { linear: p, angular: l } = simulation.momentum();
            let ledger = simulation.ledger();
            let held = ledger.kinetic + ledger.rotational + ledger.elastic_normal + ledger.elastic_tangential;
            linear = linear.max(length(along(p, -1.0, start.linear)) / linear_size);
            angular = angular.max(length(along(l, -1.0, start.angular)) / angular_size);
            energy = energy.max((held - ledger.initial).abs() / ledger.initial);
            residual = residual.max(ledger.residual.abs() / ledger.initial);
        }
        let meetings = simulation.ledger();
        case_run.row(format!("{name}: drift of momentum [-]"), linear, 0.0, 1e-12);
        case_run.row(format!("{name}: drift of angular momentum [-]"), angular, 0.0, 1e-12);
        if energy_lost == 0.0 {
            case_run.row(format!("{name}: drift of energy [-]"), energy, 0.0, 1e-4);
        } else if taken(&meetings) < energy_lost * meetings.initial {
            return Err(format!("the clusters lost only {:.3e} J; they hardly met", taken(&meetings)).into());
        }
        case_run.row(
            format!("{name}: residual of the ledger [-]"),
            residual,
            0.0,
            if energy_lost == 0.0 { 1e-4 } else { 1e-3 },
        );
    }
    Ok(())
}

/// Grains that fall into a box: their energy budget, and their weight at rest.
pub fn heap(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let gravity = length(scene.world.gravity);
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut residual = 0.0f64;
    while simulation.time() < scene.run.until {
        advance(&mut simulation, 100)?;
        residual = residual.max(simulation.ledger().residual.abs());
    }
    let grains = simulation.snapshot();
    let ledger = simulation.ledger();
    let weight = gravity * grains.mass.iter().sum::<f64>();
    let walls = simulation.walls();
    let force = |axis: usize| walls.iter().map(|wall| wall.force[axis]).sum::<f64>();
    case_run.compare(&[
        residual / taken(&ledger),
        ledger.kinetic / taken(&ledger),
        -force(2) / weight,
        force(0).hypot(force(1)) / weight,
    ])
}
