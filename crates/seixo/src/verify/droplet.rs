//! Drops with surface tension.

use super::case_run::{CaseRun, Done, Line, Outcome, length, mean, run_until};
use super::fluid::{fluid_now, fluids_of, fluids_of_mut};
use seixo_engine::Simulation;
use seixo_engine::world::{Fluid, Fluids};
use std::f64::consts::{PI, TAU};

/// Initial strain rate of a drop over √(σ/(ρR³)); the drop gets a fifth longer than wide.
const STRETCHING: f64 = 0.25;
/// Artificial viscosity while a drop comes to rest.
const CALMING: &str = "0.5";
/// Depth of the inner part of a drop \[supports\]; surface tension does not act there.
const BELOW: f64 = 1.3;
/// Time at which a drop is at rest, and time over which it is sampled \[√(ρR³/σ)\].
const REST: [f64; 2] = [2.5, 1.0];
/// Number of samples in that time.
const LOOKS: u32 = 20;

/// Radius \[m\] of a two-dimensional drop of one fluid, from its number of particles, and the time √(ρR³/σ) \[s\].
fn size(fluids: &Fluids) -> (f64, f64) {
    let Fluid {
        density, surface_tension, ..
    } = fluids.kinds[0];
    let radius = fluids.spacing * (fluids.particles.len() as f64 / PI).sqrt();
    (radius, (density * radius.powi(3) / surface_tension).sqrt())
}

/// Elongation of a drop: for an ellipse, the difference of the squares of its axes over their sum.
fn elongation(simulation: &Simulation) -> Outcome<f64> {
    let now = fluid_now(simulation)?;
    let [along, across] = [0, 2].map(|axis| mean(&now.position, |x| x[axis] * x[axis]));
    Ok((along - across) / (along + across))
}

/// A stretched drop oscillates, another drop is at rest.
pub fn drop(case_run: &mut CaseRun) -> Done {
    let mut scene = case_run.scene()?;
    let until = scene.run.until;
    let fluids = fluids_of_mut(&mut scene.world)?;
    let (radius, time) = size(fluids);
    let (tension, mass) = (fluids.kinds[0].surface_tension, fluids.kinds[0].density * PI * radius * radius);
    let rate = STRETCHING / time;
    for (x, v) in fluids.particles.position.iter().zip(&mut fluids.particles.velocity) {
        *v = [rate * x[0], 0.0, -rate * x[2]];
    }
    let period = TAU * time / 6.0_f64.sqrt();
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut swings = vec![(0.0, elongation(&simulation)?)];
    while simulation.time() < until {
        let next = simulation.time() + 0.01 * period;
        run_until(&mut simulation, next)?;
        swings.push((simulation.time(), elongation(&simulation)?));
        case_run.print_progress("swinging", &simulation, until);
    }
    // The first sample is a circle, whose elongation may have either sign.
    let crossings: Vec<f64> = swings[2..]
        .windows(2)
        .filter(|pair| pair[0].1 * pair[1].1 < 0.0)
        .map(|pair| pair[0].0 + (pair[1].0 - pair[0].0) * pair[0].1 / (pair[0].1 - pair[1].1))
        .collect();
    let &[first, _, third, ..] = crossings.as_slice() else {
        return Err(format!("the drop passes through a circle {} times, not three", crossings.len()).into());
    };
    let momentum = length(simulation.momentum_of_fluids()) / (mass * rate * radius);
    let residual = simulation.ledger().residual / (TAU * radius * tension);

    let calmed = ("fluid.water.artificial_viscosity".to_owned(), CALMING.to_owned());
    let scene = case_run.scene_with(&[calmed])?;
    let inside = radius - BELOW * fluids_of(&scene.world)?.support;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let [from, during] = REST;
    let (mut pressures, mut squares) = (Vec::new(), Vec::new());
    for k in 0..=LOOKS {
        run_until(&mut simulation, time * (from + during * f64::from(k) / f64::from(LOOKS)))?;
        let now = fluid_now(&simulation)?;
        let particles = now.position.iter().zip(&now.pressure);
        pressures.extend(particles.filter(|(x, _)| x[0].hypot(x[2]) < inside).map(|(_, p)| *p));
        squares.extend(now.velocity.iter().map(|v| v.iter().map(|v| v * v).sum::<f64>()));
    }
    case_run.compare(&[
        (third - first) / period,
        momentum,
        residual,
        mean(&pressures, |p| *p) * radius / tension,
        mean(&squares, |square| *square).sqrt() * time / radius,
    ])?;
    let rayleigh = |(time, _): &(f64, f64)| {
        let angle = TAU * time / period;
        (*time, 2.0 * STRETCHING / 6.0_f64.sqrt() * angle.sin())
    };
    let solution = swings.iter().map(rayleigh).collect();
    let lines: Vec<Line> = vec![
        ("measured".to_owned(), swings),
        ("Rayleigh, without viscosity".to_owned(), solution),
    ];
    case_run.curve("swings", ["time [s]", "elongation [-]"], lines);
    Ok(())
}
