//! Keys that belong to one solver: those of the other have no effect, and are refused.

use super::agreed;
use crate::{
    assemble::Findings,
    diagnostics::Complaint,
    quantity::Quantity,
    schema::{FluidSection, SceneFile, usual_diffusion},
    words::Whole,
};
use seixo_engine::world::{Projection, Solver, StateLaw};

/// The largest error that is accepted \[-\]: one that is larger would not be seen as incompressible by anybody.
const LARGEST_ERROR: f64 = 0.1;

/// Refuses keys that the solver has no use for, fills in what is left out of its own, and tells how well fluids are to keep their volume.
pub(super) fn settle(file: &mut SceneFile, solver: Solver, findings: &mut Findings) -> Projection {
    match solver {
        Solver::WeaklyCompressible => {
            refuse(file, &OF_INCOMPRESSIBLE, "\"wcsph\", which iterates nothing", findings);
            Projection::default()
        }
        Solver::Incompressible => {
            refuse(file, &OF_COMPRESSIBLE, "\"dfsph\", which compresses nothing", findings);
            projection(file, findings)
        }
    }
}

/// A key, what is wrong with it if it is given, and what to do.
type Key = (&'static str, fn(&FluidSection) -> bool, &'static str);

/// Keys of solvers that iterate.
const OF_INCOMPRESSIBLE: [Key; 3] = [
    (
        "density_error",
        |section| section.density_error.is_some(),
        "leave it out, or write solver = \"dfsph\"",
    ),
    (
        "divergence_error",
        |section| section.divergence_error.is_some(),
        "leave it out, or write solver = \"dfsph\"",
    ),
    (
        "iterations",
        |section| section.iterations.is_some(),
        "leave it out, or write solver = \"dfsph\"",
    ),
];

/// Keys of solvers that compress.
const OF_COMPRESSIBLE: [Key; 4] = [
    (
        "sound_speed",
        |section| section.sound_speed.value().is_some(),
        "leave it out; `fastest` sets the time step, and the strength of artificial_viscosity",
    ),
    (
        "state",
        |section| section.state.0 != StateLaw::default(),
        "leave it out, or write solver = \"wcsph\"",
    ),
    (
        "background_pressure",
        |section| section.background_pressure.si > 0.0,
        "leave it out, or write solver = \"wcsph\" for flows without a free surface",
    ),
    (
        "density_diffusion",
        |section| ![0.0, usual_diffusion().si].contains(&section.density_diffusion.si),
        "leave it out, or write solver = \"wcsph\"",
    ),
];

/// Complains of keys that are given and have no effect.
fn refuse(file: &SceneFile, keys: &[Key], solver: &str, findings: &mut Findings) {
    for (name, section) in &file.fluid {
        for (key, _, remedy) in keys.iter().filter(|(_, is_given, _)| is_given(section)) {
            let complaint = Complaint::new(format!("fluid.{name}: `{key}` has no effect with the solver {solver}"));
            findings.add(
                &format!("fluid.{name}.{key}"),
                complaint.limit(format!("no `{key}` with this solver")).remedy(*remedy),
            );
        }
    }
}

/// How well fluids are to keep their volume.
fn projection(file: &mut SceneFile, findings: &mut Findings) -> Projection {
    let usual = Projection::default();
    let told = |value: f64| format!("{value}");
    let mut error = |key: &'static str, read: fn(&FluidSection) -> Option<f64>, usual: f64| -> f64 {
        let value = agreed(file, key, read, told, findings).unwrap_or(usual);
        if value > LARGEST_ERROR {
            let section = file.fluid.iter().find(|(_, section)| read(section).is_some());
            let name = section.map_or("", |(name, _)| name.as_str());
            let complaint = Complaint::new(format!("fluid.{name}: with `{key}` {value} densities are not kept at all"));
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
        section.iterations = Some(Whole(iterations));
        section.density_diffusion = Quantity::new(0.0);
    }
    Projection {
        density_error,
        divergence_error,
        iterations: iterations as u32,
    }
}
