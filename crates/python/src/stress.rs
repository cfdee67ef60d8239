//! Mean stress in a region of a simulation that Python steps.

use seixo::analysis::Region;
use seixo::engine::StepError;
use seixo::engine::state::GrainSnapshot;
use seixo::run::{Session, stress_now};
use seixo::scene::ProbeKind;

/// Reason why there is no stress.
pub enum Refusal {
    /// The region is wrong.
    Misuse(String),
    /// The simulation stopped.
    Stopped(Box<StepError>),
}

impl From<StepError> for Refusal {
    fn from(error: StepError) -> Refusal {
        Refusal::Stopped(Box::new(error))
    }
}

/// Mean stress of contacts and of motion \[Pa\], each by rows, in the region of a probe with this name, around all grains, or in a region of these
/// numbers \[m\].
pub fn stress_in_region(session: &mut Session, region: &str, name: &str, numbers: &[f64]) -> Result<Option<[[f64; 9]; 2]>, Refusal> {
    check_numbers(region, numbers).map_err(Refusal::Misuse)?;
    let probe = session.scene().probes.iter().find(|probe| probe.name == name).cloned();
    let carrier = probe.as_ref().and_then(|probe| probe.carrier.clone()).filter(|_| region == "probe");
    let given = match (region, probe.as_ref().map(|probe| &probe.what), numbers) {
        ("probe", Some(ProbeKind::Stress(region)), _) => *region,
        ("box", _, &[x, y, z, u, v, w]) => Region::Box {
            min: [x, y, z].into(),
            max: [u, v, w].into(),
        },
        ("sphere", _, &[x, y, z, radius]) => Region::Sphere {
            center: [x, y, z].into(),
            radius,
        },
        ("cylinder", _, &[x, y, z, u, v, w, radius]) => Region::Cylinder {
            from: [x, y, z].into(),
            to: [u, v, w].into(),
            radius,
        },
        ("all", ..) => {
            let simulation = session.simulation_mut();
            simulation.observe()?;
            around(&simulation.snapshot())
        }
        _ => {
            return Err(Refusal::Misuse(format!(
                "no probe `{name}` logs a stress; give a region, as in {{\"min\": …, \"max\": …}}"
            )));
        }
    };
    let volume = given.volume();
    if !(volume.is_finite() && volume > 0.0) {
        let reason = format!("a region of {volume} m³ has no mean stress; give one with a positive volume, and grains in it");
        return Err(Refusal::Misuse(reason));
    }
    let found = stress_now(session.simulation_mut(), &given, carrier.as_ref())?;
    // Matrices have their columns in a row.
    Ok(found.map(|stress| [stress.contact, stress.kinetic].map(|part| part.transpose().to_cols_array())))
}

/// Rejects a region with numbers that no place or length has.
fn check_numbers(region: &str, numbers: &[f64]) -> Result<(), String> {
    if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
        return Err(format!("a number of the region is {number}; give finite ones"));
    }
    match (region, numbers) {
        ("sphere" | "cylinder", &[.., radius]) if radius <= 0.0 => {
            Err(format!("the radius of the region is {radius} m; give a positive one"))
        }
        _ => Ok(()),
    }
}

/// The smallest box around all grains; along periodic axes the whole cell.
fn around(grains: &GrainSnapshot) -> Region {
    let (mut min, mut max) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for axis in 0..3 {
        for (center, radius) in grains.position.iter().zip(&grains.radius) {
            min[axis] = min[axis].min(center[axis] - radius);
            max[axis] = max[axis].max(center[axis] + radius);
        }
        if grains.cell.is_periodic(axis) {
            min[axis] = grains.cell.low[axis];
            max[axis] = min[axis] + grains.cell.length[axis];
        }
    }
    Region::Box {
        min: min.into(),
        max: max.into(),
    }
}
