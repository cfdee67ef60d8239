//! Surface tension: its requirements, and the defaults of keys that depend on it.

use super::Shared;
use crate::{assemble::CheckState, diagnostics::UnlocatedDiagnostic, quantity::Quantity, schema::SceneFile};
use seixo_engine::world::{CONTACT_ANGLES, MIN_COHESIVE_SUPPORT, Smoothing, Solver};
use std::f64::consts::FRAC_PI_2;

/// Fills in contact angles; reports keys that are incompatible with a tension.
pub(super) fn complete(file: &mut SceneFile, shared: &Shared, findings: &mut CheckState) {
    let is_alone = file.fluid.len() == 1;
    let passes = !(file.inlet.is_empty() && file.outlet.is_empty());
    for (name, section) in &mut file.fluid {
        let path = format!("fluid.{name}");
        if section.surface_tension.si == 0.0 {
            if section.contact_angle.is_some() {
                findings
                    .notices
                    .push(format!("{path}.contact_angle has no effect: the fluid has no surface_tension"));
            }
            continue;
        }
        if shared.solver != Solver::WeaklyCompressible {
            // Refused with the keys that other solvers do not support.
            continue;
        }
        let angle = section.contact_angle.get_or_insert(Quantity::new(FRAC_PI_2)).si;
        let mut complain = |key: &str, complaint: UnlocatedDiagnostic| findings.add(&format!("{path}.{key}"), complaint.within(&path));
        if !is_alone {
            let complaint =
                UnlocatedDiagnostic::new("a surface tension in a scene with several fluids, where the one between them is not built yet");
            complain(
                "surface_tension",
                complaint
                    .limit("one fluid")
                    .remedy("leave surface_tension out, or the other fluids"),
            );
        }
        if passes {
            let complaint = UnlocatedDiagnostic::new("a surface tension in a scene with inlets or outlets, which would be walls to it");
            complain(
                "surface_tension",
                complaint
                    .limit("no inlets and no outlets")
                    .remedy("leave surface_tension out, or let fluid start where it is needed"),
            );
        }
        if shared.smoothing != Smoothing::Wendland {
            let complaint = UnlocatedDiagnostic::new("a surface tension is known for Wendland's smoothing function alone");
            complain("smoothing", complaint.remedy("write smoothing = \"wendland\", or leave it out"));
        }
        if shared.support < MIN_COHESIVE_SUPPORT * (1.0 - 1e-9) {
            let message = format!(
                "with a support of {} spacings particles that a surface tension pulls together hold each other in a lattice",
                shared.support
            );
            let complaint = UnlocatedDiagnostic::new(message).limit(format!(">= {MIN_COHESIVE_SUPPORT} spacings"));
            complain(
                "support",
                complaint.remedy("leave support out, or write support = 5, with which drops flow more easily"),
            );
        }
        let [least, most] = CONTACT_ANGLES;
        if !(least - 1e-9..=most + 1e-9).contains(&angle) {
            let [least, most, given] = [least, most, angle].map(f64::to_degrees);
            let complaint = UnlocatedDiagnostic::new(format!("a contact angle of {given:.4}° is not one that walls give a fluid"));
            complain(
                "contact_angle",
                complaint
                    .limit(format!("{least:.0}° to {most:.0}°"))
                    .remedy("write it with its unit, as in contact_angle = \"60 deg\", inside these limits"),
            );
        }
        if section.density_diffusion.is_some_and(|diffusion| diffusion.si > 0.0) {
            findings.notices.push(format!(
                "{path}.density_diffusion evens out the pressure that holds the layer at the surface: the tension of drops sinks by up to a half, \
                 and with time so does the pressure inside; leave it out for a tension that stays"
            ));
        }
    }
}
