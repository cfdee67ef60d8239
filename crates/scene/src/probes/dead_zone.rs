//! Probes of dead zones: from the keys of a scene to cells and limits.

use super::{Kind, fluid::fluid_of, group_of};
use crate::{ProbeKind, diagnostics::UnlocatedDiagnostic, fill::corners, quantity::Quantity, schema::DeadZoneOf};
use seixo_analysis::{Grid, SpeedLimit};
use seixo_engine::world::World;

/// Largest number of cells: each has five numbers in memory and in checkpoints.
const MAX_CELLS: f64 = 1e6;
/// Number of samples of a line if the scene does not say how often they are taken.
const USUAL_SAMPLES: f64 = 100.0;

/// The dead zones of a section, for a probe with this time between two lines \[s\]; completes the section.
pub(super) fn dead_zone(section: &mut DeadZoneOf, every: f64, world: &World, is_sound: bool) -> Kind {
    let at = |key: &str, complaint: UnlocatedDiagnostic| (format!("dead_zone.{key}"), complaint);
    let (min, mut max) = corners(&section.region).map_err(|complaint| at("region", complaint))?;
    if let Some(domain) = &world.domain {
        // A box that is longer than a periodic domain is cut to its length, so that nothing counts twice.
        for axis in (0..3).filter(|&axis| domain.periodic[axis]) {
            max[axis] = max[axis].min(min[axis] + domain.max[axis] - domain.min[axis]);
        }
    }
    let spacing = section.spacing.si;
    let cells = ((max - min) / spacing).element_product();
    if cells > MAX_CELLS {
        let complaint = UnlocatedDiagnostic::new(format!("a spacing of {spacing} m makes {cells:.3e} cells"));
        let complaint = complaint.limit(format!("{MAX_CELLS:e} cells"));
        return Err(at("spacing", complaint.remedy("use a larger spacing or a smaller region")));
    }
    let limit = match (section.limit, section.limit_of_mean) {
        (Some(speed), None) => SpeedLimit::Speed(speed.si),
        (None, Some(share)) => SpeedLimit::OfMean(share.si),
        _ => {
            let complaint = UnlocatedDiagnostic::new("a dead zone has one limit: `limit` or `limit_of_mean`");
            let complaint = complaint.remedy("write limit = \"1 mm/s\", or limit_of_mean = 0.1, and not both");
            return Err(("dead_zone".to_owned(), complaint));
        }
    };
    let sample_every = section.sample_every.get_or_insert(Quantity::new(every / USUAL_SAMPLES)).si;
    if sample_every > every * (1.0 + 1e-9) {
        let complaint = UnlocatedDiagnostic::new(format!("samples {sample_every} s apart are fewer than the lines, {every} s apart"));
        let complaint = complaint.limit(format!("`sample_every` up to {every} s"));
        return Err(at(
            "sample_every",
            complaint.remedy("sample more often, or raise `every` of the probe"),
        ));
    }
    if section.group.is_some() && section.fluid.is_some() {
        let complaint = UnlocatedDiagnostic::new("`group` is for grains alone, and `fluid` for a fluid alone");
        return Err(at(
            "fluid",
            complaint.remedy("remove one of them, or both to average all grains and fluids"),
        ));
    }
    let group = section.group.as_ref().map(|name| group_of(name, world)).transpose();
    let group = group.map_err(|complaint| at("group", complaint))?;
    // Refused fluids are absent.
    let fluid = section.fluid.as_deref().filter(|_| is_sound || world.fluids.is_some());
    Ok(ProbeKind::DeadZone {
        grid: Grid::between(min, max, spacing),
        limit,
        sample_every,
        group,
        fluid: fluid_of("dead_zone.fluid", fluid, world)?,
    })
}
