//! Comparison of two runs of a scene.

use seixo::engine::state::{FluidSnapshot, GrainSnapshot};
use seixo::run::StageRunner;
use seixo::{Scene, Simulation};
use std::error::Error;

/// Returns an error if files of two runs differ; numbers of tables may differ by this share of the largest number.
pub fn compare_files(way: &str, found: &[(String, Vec<u8>)], expected: &[(String, Vec<u8>)], share: f64) -> Result<(), String> {
    // The resolved scene contains the numbers of threads and domains.
    let written = |files: &[(String, Vec<u8>)]| -> Vec<(String, Vec<u8>)> {
        let files = files.iter().filter(|(name, _)| name != "scene.toml");
        files.cloned().collect()
    };
    let [found, expected] = [written(found), written(expected)];
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if names(&found) != names(&expected) {
        return Err(format!("{way}: files {:?} in place of {:?}", names(&found), names(&expected)));
    }
    for ((name, bytes), (_, right)) in found.iter().zip(&expected) {
        let is_table = share > 0.0 && name.ends_with(".csv");
        if !(bytes == right || is_table && are_near(bytes, right, share)) {
            return Err(format!("{way}: {name} differs"));
        }
    }
    Ok(())
}

/// Whether tables have the same format, and numbers that differ by at most this share of the largest number except times.
fn are_near(a: &[u8], b: &[u8], share: f64) -> bool {
    let cells = |bytes: &[u8]| -> Vec<Vec<String>> {
        let text = String::from_utf8_lossy(bytes);
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let [a, b] = [cells(a), cells(b)];
    let numbers = a
        .iter()
        .flat_map(|row| row.iter().skip(1))
        .filter_map(|cell| cell.parse::<f64>().ok());
    let largest = numbers.fold(0.0, |most: f64, number| most.max(number.abs()));
    let is_near = |(a, b): (&String, &String)| {
        let numbers = (a.parse::<f64>(), b.parse::<f64>());
        a == b || matches!(numbers, (Ok(a), Ok(b)) if (a - b).abs() <= share * largest)
    };
    let is_near_row = |(a, b): (&Vec<String>, &Vec<String>)| a.len() == b.len() && a.iter().zip(b).all(is_near);
    a.len() == b.len() && a.iter().zip(&b).all(is_near_row)
}

/// Final state of a simulation.
pub type Seen = (GrainSnapshot, Option<FluidSnapshot>);

/// Steps a simulation of a scene to its end, with all stage actions.
pub fn seen(mut simulation: Simulation, scene: &Scene) -> Result<Seen, Box<dyn Error>> {
    let step = simulation.time_step().value;
    let steps = (scene.run.until / step).round() as u64;
    let mut course = StageRunner::new(&scene.plan, step);
    while simulation.steps() < steps {
        course.happen(&mut simulation)?;
        let next = course.next_step_after(simulation.steps()).min(steps);
        simulation.advance(next - simulation.steps())?;
    }
    simulation.observe()?;
    Ok((simulation.snapshot(), simulation.fluid()))
}

/// Largest relative difference of positions and velocities on two devices, over the size of the scene and the largest velocity. Forces of a step
/// differ by 2·10⁻¹⁶ of the largest. Rounding of positions is ten thousand times as large in overlaps, which are small. Fifty steps are too few for
/// it to grow.
const NEAR: f64 = 1e-9;
/// Size of a scene \[m\], and the smallest velocity scale \[m/s\] for motions by rounding of forces alone.
const SIZE: f64 = 0.04;
const SLOW: f64 = 0.1;

/// Returns an error if the states on two devices differ.
pub fn compare_states(found: &Seen, expected: &Seen) -> Result<(), String> {
    let (grains, right) = (&found.0, &expected.0);
    if grains.id != right.id {
        return Err(format!("on a GPU: {} grains in place of {}", grains.id.len(), right.id.len()));
    }
    near("places of grains", &grains.position, &right.position, SIZE)?;
    near("velocities of grains", &grains.velocity, &right.velocity, SLOW)?;
    // The smallest grains have a radius of 1 mm.
    let turning = SLOW / 1e-3;
    near("angular velocities", &grains.angular_velocity, &right.angular_velocity, turning)?;
    let (Some(fluid), Some(right)) = (&found.1, &expected.1) else {
        return Ok(());
    };
    if fluid.id != right.id {
        return Err(format!("on a GPU: {} particles in place of {}", fluid.id.len(), right.id.len()));
    }
    near("places of fluids", &fluid.position, &right.position, SIZE)?;
    near("velocities of fluids", &fluid.velocity, &right.velocity, SLOW)
}

/// Returns an error if vectors differ by too much relative to the largest of them, or to `least`.
fn near(what: &str, found: &[[f64; 3]], expected: &[[f64; 3]], least: f64) -> Result<(), String> {
    let largest = expected.iter().flatten().fold(least, |most, number| most.max(number.abs()));
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    let mut apart = pairs.map(|(a, b)| (a - b).abs());
    let apart = apart.find(|apart| apart.is_nan() || *apart > NEAR * largest);
    apart.map_or(Ok(()), |apart| {
        Err(format!("on a GPU: {what} are {apart:e} apart, of {largest:e}, after all steps"))
    })
}
