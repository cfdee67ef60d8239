//! Measurements across periodic sides.

use super::case_run::{CaseRun, Done, Outcome, advance, run_until};
use crate::run::plane_counter::PlaneCounter;
use seixo_analysis::{Plane, RigidMotion, components, coordination, solid_fraction, stress_in};
use seixo_engine::Simulation;
use seixo_engine::world::Vec3;
use seixo_scene::{Probe, ProbeKind};

/// Radius of the grains of a chain without contacts.
const APART: &str = "\"0.9 mm\"";
/// Number of samples of a plane; a grain moves a tenth of the cell between two samples.
const LOOKS: u32 = 100;

/// Returns the probe with this name.
fn probe_of<'p>(probes: &'p [Probe], name: &str) -> Result<&'p ProbeKind, String> {
    let found = probes.iter().find(|probe| probe.name == name);
    found
        .map(|probe| &probe.what)
        .ok_or_else(|| format!("the scene has no probe `{name}`"))
}

/// Stress of a chain that is closed through a periodic side, and the number of passes of a grain through planes.
pub fn periodic_measurement(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    advance(&mut simulation, 1)?;
    let (grains, contacts) = (simulation.snapshot(), simulation.contacts_now()?);
    for (name, [expected, tolerance]) in case_run.reference()? {
        let (what, measured) = match probe_of(&scene.probes, name)? {
            ProbeKind::Stress(region) => ("stress [Pa]", components(&stress_in(region, &grains, &contacts, &[]).contact)[2]),
            ProbeKind::Coordination(region) => ("coordination [-]", coordination(region.as_ref(), &grains).mean),
            ProbeKind::SolidFraction(region) => ("solid fraction [-]", solid_fraction(region, &grains)),
            &ProbeKind::CountThrough { point, normal, radius } => ("grains", passes(case_run, point, normal, radius)?),
            _ => return Err(format!("reference.csv: nothing is expected of probe `{name}`").into()),
        };
        case_run.row(format!("{name}: {what}"), measured, expected, tolerance);
    }
    Ok(())
}

/// Number of grains that pass a plane, or the disk of this radius \[m\], without contacts.
fn passes(case_run: &CaseRun, point: Vec3, normal: Vec3, radius: Option<f64>) -> Outcome<f64> {
    let scene = case_run.scene_with(&[("grains.chain.radius".to_owned(), APART.to_owned())])?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut passage = PlaneCounter::default();
    for k in 0..=LOOKS {
        run_until(&mut simulation, scene.run.until * f64::from(k) / f64::from(LOOKS))?;
        let grains = simulation.snapshot();
        let plane = Plane::in_cell(point, normal, &grains.cell);
        passage.look(&grains, &plane, radius, &[RigidMotion::NONE; 2]);
    }
    let [count, ..] = passage.line(simulation.time());
    Ok(count)
}
