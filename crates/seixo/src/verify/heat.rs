//! Heat conduction through contacts: a pair, a chain, a lattice.

use super::case_run::{CaseRun, Done, Outcome, mean, run_until, straight};
use seixo_engine::Simulation;
use seixo_engine::state::GrainScalar;
use std::f64::consts::PI;

/// Temperature differences of a pair after these relaxation times, with this multiple of the scene's time step, and the mean temperature by heat
/// capacity at the end.
fn pair_after(case_run: &CaseRun, times: &[f64], steps_of_scene: f64) -> Outcome<(Vec<f64>, f64)> {
    let mut scene = case_run.scene()?;
    let relaxation = 0.5 * scene.run.until;
    scene.settings.time_step = scene.settings.time_step.map(|step| step / steps_of_scene);
    let capacities: Vec<f64> = scene
        .world
        .conduction
        .iter()
        .flat_map(|conduction| &conduction.materials)
        .filter_map(|thermal| thermal.specific_heat_capacity)
        .collect();
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut differences = Vec::new();
    for time in times {
        run_until(&mut simulation, time * relaxation)?;
        let now = &simulation.snapshot().scalars[GrainScalar::Temperature];
        differences.push((now[0] - now[1]).abs());
    }
    let now = simulation.snapshot();
    let capacity = |k: usize| now.mass[k] * capacities[now.material[k] as usize];
    let held: f64 = (0..2).map(|k| capacity(k) * now.scalars[GrainScalar::Temperature][k]).sum();
    Ok((differences, held / (capacity(0) + capacity(1))))
}

/// Two grains reach the same temperature.
pub fn pair(case_run: &mut CaseRun) -> Done {
    let (differences, mean) = pair_after(case_run, &[0.5, 1.0, 2.0], 1.0)?;
    let exact = 100.0 * (-1.0f64).exp();
    let error = |steps: f64| Ok::<_, Box<dyn std::error::Error>>((pair_after(case_run, &[1.0], steps)?.0[0] - exact).abs());
    let order = (error(0.02)? / error(0.04)?).log2();
    case_run.compare(&[&differences[..], &[mean, order]].concat())
}

/// Temperature \[K\] of a rod at the relative position x and this Fourier number \[Carslaw 1959, § 3.4\]. It starts at 300 K; its end x = 0 is kept
/// at 400 K, its end x = 1 at 300 K.
fn rod(x: f64, fourier: f64) -> f64 {
    let mode = |n: f64| 2.0 / (n * PI) * (n * PI * x).sin() * (-n * n * PI * PI * fourier).exp();
    300.0 + 100.0 * (1.0 - x - (1..200).map(|n| mode(f64::from(n))).sum::<f64>())
}

/// A chain between two walls: first as a rod in transient conduction, then as contacts in series.
pub fn chain(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let (until, count) = (scene.run.until, scene.world.grains.len() as f64);
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    // The run lasts until a Fourier number of 3.
    let (mut distances, mut lines) = (Vec::new(), Vec::new());
    for fourier in [0.02, 0.05, 0.2] {
        run_until(&mut simulation, until * fourier / 3.0)?;
        let now = &simulation.snapshot().scalars[GrainScalar::Temperature];
        let place = |k: usize| (k as f64 + 0.5) / count;
        let off = (0..now.len()).map(|k| (now[k] - rod(place(k), fourier)).abs());
        distances.push(off.fold(0.0, f64::max));
        lines.push((
            format!("grains, Fo = {fourier}"),
            (0..now.len()).map(|k| (place(k), now[k])).collect(),
        ));
        let curve = (0..=100).map(|k| f64::from(k) / 100.0).map(|x| (x, rod(x, fourier)));
        lines.push((format!("rod, Fo = {fourier}"), curve.collect()));
    }
    case_run.curve("profile", ["place over length of the chain [-]", "temperature [K]"], lines);
    run_until(&mut simulation, until)?;
    let now = simulation.snapshot();
    let points: Vec<(f64, f64)> = now
        .position
        .iter()
        .map(|x| x[0])
        .zip(now.scalars[GrainScalar::Temperature].iter().copied())
        .collect();
    let (slope, _) = straight(&points);
    let middle = (mean(&points, |point| point.0), mean(&points, |point| point.1));
    let bent = points.iter().map(|(x, t)| (t - middle.1 - slope * (x - middle.0)).abs());
    let bent = bent.fold(0.0, f64::max);
    let walls = simulation.heat_of_walls();
    let index = |name: &str| simulation.walls().iter().position(|wall| wall.name == name).unwrap_or(0);
    let [hot, cold] = [walls[index("hot")], walls[index("cold")]];
    let residual = simulation.scalar_ledger(GrainScalar::Temperature).unwrap_or_default().residual / hot[1];
    case_run.compare(&[
        hot[0],
        cold[0],
        bent,
        now.scalars[GrainScalar::Temperature][0],
        distances[0],
        distances[1],
        distances[2],
        residual,
    ])
}

/// Number of grains of the lattice along x and y, its spacing, and the radius of its grains \[m\].
const ALONG: usize = 6;
const SPACING: f64 = 2e-3;
const RADIUS: f64 = 1.005e-3;

/// Conductivity of a simple cubic packing.
pub fn cubic(case_run: &mut CaseRun) -> Done {
    let mut scene = case_run.scene()?;
    scene.world.grains.radius.fill(RADIUS);
    for (k, center) in scene.world.grains.position.iter_mut().enumerate() {
        *center = [k % ALONG, k / ALONG % ALONG, k / ALONG / ALONG].map(|site| (site as f64 + 0.5) * SPACING);
    }
    let area = scene
        .world
        .domain
        .map_or(0.0, |domain| (domain.max[0] - domain.min[0]) * (domain.max[1] - domain.min[1]));
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    run_until(&mut simulation, scene.run.until)?;
    let now = simulation.snapshot();
    let points: Vec<(f64, f64)> = now
        .position
        .iter()
        .map(|x| x[2])
        .zip(now.scalars[GrainScalar::Temperature].iter().copied())
        .collect();
    let slope = straight(&points).0;
    let walls = simulation.heat_of_walls();
    let flow = walls.iter().map(|wall| wall[0].abs()).sum::<f64>() / 2.0;
    // All grains of a layer have the same temperature: no heat flows sideways.
    let layer = |z: f64| {
        let of_layer = points.iter().filter(|point| (point.0 - z).abs() < 1e-4).map(|point| point.1);
        of_layer.fold((f64::INFINITY, 0.0f64), |(low, high), t| (low.min(t), high.max(t)))
    };
    let sideways = points
        .iter()
        .map(|point| layer(point.0))
        .map(|(low, high)| high - low)
        .fold(0.0, f64::max);
    let down = slope * SPACING;
    case_run.compare(&[flow / (area * slope), sideways / down])
}
