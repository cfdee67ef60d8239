//! Cooling of a granular gas.

use super::case_run::{CaseRun, Done, advance, along, dot, mean, straight, volume_of};
use seixo_engine::Simulation;
use seixo_engine::world::Vec3;
use std::f64::consts::PI;

/// Growth of 1/√T until the end of a run, over its initial value.
const LASTING: f64 = 2.5;
/// Initial number of collisions per grain during the time of one collision.
const ENCOUNTERS: f64 = 0.01;

/// Directions distributed evenly over the sphere by a golden-angle spiral.
fn directions(count: usize) -> impl Iterator<Item = Vec3> {
    (0..count).map(move |k| {
        let height = 1.0 - (2 * k + 1) as f64 / count as f64;
        let (width, angle) = ((1.0 - height * height).sqrt(), PI * (3.0 - 5f64.sqrt()) * k as f64);
        [width * angle.cos(), width * angle.sin(), height]
    })
}

/// Granular temperature: a third of the mean square of the velocity fluctuations \[m²/s²\].
fn temperature(velocity: &[Vec3]) -> f64 {
    let drift = [0, 1, 2].map(|axis| mean(velocity, |v| v[axis]));
    mean(velocity, |v| {
        let own = along(*v, -1.0, drift);
        dot(own, own) / 3.0
    })
}

/// Smooth inelastic spheres in a periodic box lose energy in collisions.
pub fn haff(case_run: &mut CaseRun) -> Done {
    let mut lines = Vec::new();
    for (name, [restitution, wanted]) in case_run.reference()? {
        let mut scene = case_run.scene_with(&[
            ("interaction.grain-grain.restitution".to_owned(), restitution.to_string()),
            ("grains.gas.fill.solid_fraction".to_owned(), wanted.to_string()),
        ])?;
        let (radii, count) = (&scene.world.grains.radius, scene.world.grains.len());
        let domain = scene.world.domain.ok_or("the scene has no domain")?;
        let box_volume: f64 = (0..3).map(|axis| domain.max[axis] - domain.min[axis]).product();
        let (diameter, fraction) = (2.0 * radii[0], volume_of(radii) / box_volume);
        // Pair correlation at contact [Carnahan 1969], and deviation from a Maxwell distribution [van Noije 1998].
        let pair_correlation = (1.0 - 0.5 * fraction) / (1.0 - fraction).powi(3);
        let e = restitution;
        let excess = 16.0 * (1.0 - e) * (1.0 - 2.0 * e * e) / (81.0 - 17.0 * e + 30.0 * e * e * (1.0 - e));
        let expected = 4.0 / PI.sqrt() * (1.0 - e * e) * fraction * pair_correlation / diameter * (1.0 + 3.0 / 16.0 * excess);
        // The largest temperature for which collisions are still short compared with the time between them.
        let mass = scene.world.materials[0].density * volume_of(&radii[..1]);
        let stiffness = scene.world.interactions[0]
            .as_ref()
            .and_then(|pair| pair.stiffness)
            .ok_or("no stiffness")?;
        let duration = PI * (0.5 * mass / stiffness).sqrt();
        let speed = ENCOUNTERS / duration * PI.sqrt() * diameter / (24.0 * fraction * pair_correlation);
        let velocities = directions(count).map(|direction| along([0.0; 3], 3f64.sqrt() * speed, direction));
        scene.world.grains.velocity = velocities.collect();
        let start = temperature(&scene.world.grains.velocity);
        let until = LASTING / (expected * start.sqrt());
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let stride = (until / simulation.time_step().value / 250.0).ceil() as u64;
        let mut cooling = vec![(0.0, 1.0 / start.sqrt())];
        while simulation.time() < until {
            advance(&mut simulation, stride)?;
            cooling.push((simulation.time(), 1.0 / temperature(&simulation.snapshot().velocity).sqrt()));
        }
        // All grains start at one speed; after a loss of half of the energy, collisions have mixed the speeds.
        let from = cooling.iter().position(|point| point.1 > (2.0 / start).sqrt()).unwrap_or(0);
        let (slope, _) = straight(&cooling[from..]);
        case_run.row_within(0.05, format!("{name}: slope of 1/sqrt(T) over time [1/m]"), slope, expected);
        let scaled = |(time, value): &(f64, f64)| (time * expected * start.sqrt(), value * start.sqrt());
        lines.push((name.to_owned(), cooling.iter().map(scaled).collect()));
    }
    lines.push(("expected".to_owned(), vec![(0.0, 1.0), (LASTING, 1.0 + LASTING)]));
    case_run.curve(
        "cooling",
        ["time over the time of cooling [-]", "1/√T over that at the start [-]"],
        lines,
    );
    Ok(())
}
