//! Quantities in conditions of stages and sessions.

use super::probe_lines::ProbeLines;
use seixo_engine::Simulation;
use seixo_engine::state::GrainSnapshot;
use seixo_scene::{Condition, Measure};
use std::cell::OnceCell;

/// Returns the reason why a condition holds now, after this duration \[s\] and with these lines of probes; `None` if it does not hold.
pub(super) fn reason(condition: &Condition, simulation: &Simulation, duration: f64, lines: &ProbeLines) -> Option<String> {
    let grains = OnceCell::new();
    condition.holds(|measure| match measure {
        Measure::Time => simulation.time(),
        Measure::Duration => duration,
        measure @ (Measure::Probe(_) | Measure::Drift(..)) => lines.value(measure),
        measure => value(measure, grains.get_or_init(|| simulation.snapshot()), simulation),
    })
}

/// Returns the value of a measured quantity.
fn value(measure: &Measure, grains: &GrainSnapshot, simulation: &Simulation) -> f64 {
    let of = |group: &Option<u32>| {
        let group = *group;
        (0..grains.id.len()).filter(move |&k| group.is_none_or(|group| grains.group[k] == group))
    };
    let square = |v: [f64; 3]| v.iter().map(|c| c * c).sum::<f64>();
    match measure {
        // The caller evaluates time and probes.
        Measure::Time | Measure::Duration | Measure::Probe(_) | Measure::Drift(..) => f64::NAN,
        Measure::Grains(group) => of(group).count() as f64,
        Measure::KineticEnergy(group) => of(group).map(|k| 0.5 * grains.mass[k] * square(grains.velocity[k])).sum(),
        Measure::LargestSpeed(group) => of(group).map(|k| square(grains.velocity[k]).sqrt()).fold(0.0, f64::max),
        Measure::Coordination(group) => of(group).map(|k| f64::from(grains.coordination[k])).sum::<f64>() / of(group).count() as f64,
        Measure::WallForce(walls) => {
            let forces = simulation.walls()[walls.clone()].iter().map(|wall| wall.force).collect::<Vec<_>>();
            square(forces.iter().fold([0.0; 3], |sum, force| [0, 1, 2].map(|k| sum[k] + force[k]))).sqrt()
        }
    }
}
