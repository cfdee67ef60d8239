//! Keys of single solvers: with another solver they have no effect, and are refused.

use super::{Shared, agreed};
use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    quantity::Quantity,
    schema::{FluidSection, SceneFile},
    vocabulary::{InitialPressure, WholeNumber, Word},
};
use seixo_engine::world::{PressureTolerance, Solver, StateLaw};

/// Largest accepted error \[-\]: with a larger one, the fluid would not appear incompressible.
const LARGEST_ERROR: f64 = 0.1;

/// A key, whether a section gives it, and the remedy.
type Key = (&'static str, fn(&FluidSection) -> bool, &'static str);

/// Keys of "dfsph" only.
const OF_INCOMPRESSIBLE: [Key; 3] = [
    (
        "density_error",
        |section| section.density_error.is_some(),
        "remove it, or write solver = \"dfsph\"",
    ),
    (
        "divergence_error",
        |section| section.divergence_error.is_some(),
        "remove it, or write solver = \"dfsph\"",
    ),
    (
        "iterations",
        |section| section.iterations.is_some(),
        "remove it, or write solver = \"dfsph\"",
    ),
];

/// Keys of "muller2003" only.
const OF_MULLER: [Key; 4] = [
    (
        "stiffness",
        |section| section.stiffness.is_some(),
        "remove it, or write solver = \"muller2003\"",
    ),
    (
        "restitution",
        |section| section.restitution.is_some(),
        "remove it, or write solver = \"muller2003\"",
    ),
    (
        "body_stiffness",
        |section| section.body_stiffness.is_some(),
        "remove it: bodies bear its pressure; or write solver = \"muller2003\"",
    ),
    (
        "body_restitution",
        |section| section.body_restitution.is_some(),
        "remove it: bodies bear its pressure; or write solver = \"muller2003\"",
    ),
];

/// A key of "wcsph" only.
const SHIFTING: Key = (
    "particle_shifting",
    |section| section.particle_shifting == Some(true),
    "remove it, or write solver = \"wcsph\"",
);

/// Other keys that "dfsph" does not support.
const NOT_OF_INCOMPRESSIBLE: [Key; 7] = [
    SHIFTING,
    (
        "sound_speed",
        |section| section.sound_speed.value().is_some(),
        "remove it; `fastest` sets the time step, and the strength of artificial_viscosity",
    ),
    (
        "state",
        |section| section.state.is_some(),
        "remove it: its pressures keep densities, and do not follow from them; or write solver = \"wcsph\"",
    ),
    (
        "background_pressure",
        |section| section.background_pressure.si > 0.0,
        "remove it, or write solver = \"wcsph\" for flows without a free surface",
    ),
    (
        "density_diffusion",
        |section| section.density_diffusion.is_some_and(|number| number.si > 0.0),
        "remove it: its densities are sums over neighbors, and nothing diffuses; or write solver = \"wcsph\"",
    ),
    (
        "xsph",
        |section| section.xsph.is_some_and(|share| share.si > 0.0),
        "remove it: particles that move with smoothed velocities, which diverge, do not keep their densities; or write solver = \"wcsph\"",
    ),
    (
        "surface_tension",
        |section| section.surface_tension.si > 0.0,
        "remove it, or write solver = \"wcsph\"",
    ),
];

/// Other keys that "muller2003" does not support.
const NOT_OF_MULLER: [Key; 10] = [
    SHIFTING,
    (
        "smoothing",
        |section| section.smoothing.is_some(),
        "remove it: poly6, spiky and viscosity's own are part of it",
    ),
    (
        "viscous_force",
        |section| section.viscous_force.is_some(),
        "remove it: its viscosity has a form of its own",
    ),
    (
        "plane",
        |section| section.plane.is_some(),
        "remove it, as its functions are for space; or write solver = \"wcsph\"",
    ),
    (
        "state",
        |section| section.state == Some(Word(StateLaw::Tait)),
        "remove it: its pressure is stiffness × (density − density at rest)",
    ),
    (
        "background_pressure",
        |section| section.background_pressure.si > 0.0,
        "remove it: its pressure at rest density is 0",
    ),
    (
        "artificial_viscosity",
        |section| section.artificial_viscosity.is_some_and(|number| number.si > 0.0),
        "remove it; `xsph` and `viscosity` calm this fluid",
    ),
    (
        "density_diffusion",
        |section| section.density_diffusion.is_some_and(|number| number.si > 0.0),
        "remove it: its densities are sums over neighbors, and nothing diffuses",
    ),
    (
        "initial_pressure",
        |section| section.initial_pressure == Some(Word(InitialPressure::Hydrostatic)),
        "remove it: its pressures follow from where particles are",
    ),
    (
        "surface_tension",
        |section| section.surface_tension.si > 0.0,
        "remove it, or write solver = \"wcsph\"",
    ),
];

/// Reports keys that the solver of a section does not support.
pub(super) fn refuse_keys(file: &SceneFile, solver: Solver, findings: &mut CheckState) {
    let unknown: [&[Key]; 2] = match solver {
        Solver::WeaklyCompressible => [&OF_INCOMPRESSIBLE, &OF_MULLER],
        Solver::Incompressible => [&OF_MULLER, &NOT_OF_INCOMPRESSIBLE],
        Solver::Muller2003 => [&OF_INCOMPRESSIBLE, &NOT_OF_MULLER],
    };
    for (name, section) in &file.fluid {
        for (key, asks, remedy) in unknown.into_iter().flatten() {
            if asks(section) {
                refuse(name, key, solver, (*remedy).to_owned(), findings);
            }
        }
    }
}

/// Reports XSPH of a weakly compressible fluid together with particle shifting: particles move with one velocity.
pub(super) fn refuse_xsph(file: &SceneFile, shared: &Shared, findings: &mut CheckState) {
    if shared.solver != Solver::WeaklyCompressible || !shared.particle_shifting {
        return;
    }
    for (name, _) in file
        .fluid
        .iter()
        .filter(|(_, section)| section.xsph.is_some_and(|share| share.si > 0.0))
    {
        let complaint = UnlocatedDiagnostic::new(format!(
            "fluid.{name}: `xsph` and `particle_shifting` both set the velocity with which particles move"
        ));
        findings.add(
            &format!("fluid.{name}.xsph"),
            complaint
                .limit("one of both")
                .remedy("leave xsph out, or write particle_shifting = false"),
        );
    }
}

/// Reports a key that a solver does not support.
pub(super) fn refuse(fluid: &str, key: &str, solver: Solver, remedy: String, findings: &mut CheckState) {
    let solver = Word(solver).text();
    let complaint = UnlocatedDiagnostic::new(format!("fluid.{fluid}: `{key}` is not for solver = \"{solver}\""));
    findings.add(&format!("fluid.{fluid}.{key}"), complaint.remedy(remedy));
}

/// Reports inlets and outlets if a solver does not support them.
pub(super) fn reject_open_boundaries(file: &SceneFile, solver: Solver, findings: &mut CheckState) {
    let why = match solver {
        Solver::WeaklyCompressible => return,
        Solver::Incompressible => "fluids do not come and go between its steps",
        Solver::Muller2003 => "fluids come and go by particles that bound them, which it does without",
    };
    let solver = Word(solver).text();
    let inlets = file.inlet.keys().map(|name| format!("inlet.{name}"));
    for path in inlets.chain(file.outlet.keys().map(|name| format!("outlet.{name}"))) {
        let complaint = UnlocatedDiagnostic::new(format!("{path}: it is not for solver = \"{solver}\": {why}"));
        let remedy = "remove it, and let fluid start where it is needed; or write solver = \"wcsph\"";
        findings.add(&path, complaint.limit("no inlets and no outlets").remedy(remedy));
    }
}

/// Tolerances of incompressible fluids; fills in those that sections omit. Other fluids have none.
pub(super) fn projection(file: &mut SceneFile, solver: Solver, findings: &mut CheckState) -> PressureTolerance {
    let usual = PressureTolerance::default();
    if solver != Solver::Incompressible {
        return usual;
    }
    let reported = |value: f64| format!("{value}");
    let mut error = |key: &'static str, read: fn(&FluidSection) -> Option<f64>, usual: f64| -> f64 {
        let value = agreed(file, key, read, reported, findings).unwrap_or(usual);
        if value > LARGEST_ERROR {
            let section = file.fluid.iter().find(|(_, section)| read(section).is_some());
            let name = section.map_or("", |(name, _)| name.as_str());
            let complaint = UnlocatedDiagnostic::new(format!("fluid.{name}: with `{key}` {value} densities are not kept at all"));
            findings.add(
                &format!("fluid.{name}.{key}"),
                complaint
                    .limit(format!("at most {LARGEST_ERROR}"))
                    .remedy(format!("leave it out, which makes it {usual}; it is a share, not percent")),
            );
        }
        value
    };
    let density_error = error(
        "density_error",
        |section| section.density_error.map(|share| share.si),
        usual.density_error,
    );
    let divergence_error = error(
        "divergence_error",
        |section| section.divergence_error.map(|share| share.si),
        usual.divergence_error,
    );
    let iterations = agreed(
        file,
        "iterations",
        |section| section.iterations.map(|count| count.0),
        |count| format!("{count}"),
        findings,
    );
    let iterations = iterations.unwrap_or(u64::from(usual.iterations));
    for section in file.fluid.values_mut() {
        section.density_error = Some(Quantity::new(density_error));
        section.divergence_error = Some(Quantity::new(divergence_error));
        section.iterations = Some(WholeNumber(iterations));
    }
    PressureTolerance {
        density_error,
        divergence_error,
        iterations: iterations as u32,
    }
}
