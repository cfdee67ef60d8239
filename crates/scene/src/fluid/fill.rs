//! Fluid particles at the start: sites of cubic lattices in their regions.

use super::{AXES, Layout, Shared, count, periods, point_index::PointIndex};
use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    fill::{Inside, refuse_too_many_of, si},
    grains::is_inside,
    schema::{Region, SceneFile},
};
use glam::DVec3;
use seixo_engine::world::{Domain, Particles};

/// Largest number of sites that are tested.
const MAX_SITES: f64 = 1e9;
/// Smallest distance of particles of different fluids \[spacings\].
const NEAREST: f64 = 0.5;
/// Tolerance without a note for the edge of a box that is no whole number of spacings \[spacings\].
const SLACK: f64 = 0.01;
/// Tolerance without a note for the volume of another region against that of its particles \[-\].
const SHARE: f64 = 0.02;

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// Region of a fluid at the start.
struct Sites {
    inside: Inside,
    /// Half a spacing before the first site \[m\].
    corner: DVec3,
    places: Vec<DVec3>,
}

/// The particles of all fluids, and a corner of the lattice of the first. Ids count from 0, by fluid in alphabetical order, and then along x first,
/// then y, then z.
pub(super) fn fill(file: &mut SceneFile, shared: &Shared, domain: Option<&Domain>, findings: &mut CheckState) -> (Particles, DVec3) {
    let has_several = file.fluid.len() > 1;
    let (mut particles, mut corner) = (Particles::default(), None);
    let mut earlier: Vec<(String, Inside)> = Vec::new();
    let mut taken = PointIndex::new(shared.spacing, periods(domain));
    for (kind, (name, section)) in file.fluid.iter_mut().enumerate() {
        let path = format!("fluid.{name}");
        let Some(region) = &mut section.fill else { continue };
        let found = match sites(&path, region, shared, findings) {
            Ok(found) => found,
            Err((key, complaint)) => {
                findings.add(&format!("{path}.{key}"), complaint.within(&path));
                continue;
            }
        };
        let who_has = |place: DVec3| -> Option<usize> {
            let inside = earlier.iter().position(|(_, inside)| inside.holds(place));
            let near = || taken.nearer_than(NEAREST * (1.0 - 1e-6) * shared.spacing, place);
            inside.or_else(|| near().map(|owner| owner as usize))
        };
        let mut clashes = found.places.iter().filter_map(|place| Some((place, who_has(*place)?)));
        if !earlier.is_empty()
            && let Some((place, other)) = clashes.next()
        {
            let message = format!(
                "{path}: its particle at {place:.6} m is in fluid.{}, or too close to it",
                earlier[other].0
            );
            let complaint = UnlocatedDiagnostic::new(message).limit(format!("{NEAREST} spacings between particles of two fluids"));
            findings.add(
                &format!("{path}.fill"),
                complaint.remedy("move or shrink one of the two regions: what fills one place is one fluid"),
            );
        }
        if let Some(domain) = domain
            && let Some(place) = found.places.iter().find(|place| !is_inside(&place.to_array(), domain))
        {
            let complaint = UnlocatedDiagnostic::new(format!("{path}: a particle at {place:.6} m starts outside of the domain"));
            findings.add(
                &format!("{path}.fill"),
                complaint
                    .limit(format!("{:?} to {:?} m", domain.min, domain.max))
                    .remedy("enlarge world.domain or move the fluid"),
            );
        }
        let velocity = si(&section.velocity);
        for place in found.places {
            if has_several {
                taken.add(place, earlier.len() as u32);
            }
            particles.id.push(particles.id.len() as u32);
            particles.position.push(place.to_array());
            particles.velocity.push(velocity);
            particles.pressure.push(0.0);
            particles.kind.push(kind as u32);
        }
        corner.get_or_insert(found.corner);
        earlier.push((name.clone(), found.inside));
    }
    if let Err(complaint) = refuse_too_many_of("particles", particles.len() as f64, "use a larger `spacing`") {
        findings.add("fluid", complaint);
    }
    (particles, corner.unwrap_or_default())
}

fn sites(path: &str, region: &mut Region, shared: &Shared, findings: &mut CheckState) -> Result<Sites, At> {
    let inside = Inside::new(region, findings).map_err(|complaint| ("fill", complaint))?;
    let is_box = matches!(region, Region::Box(_));
    let (min, max) = inside.bounds();
    let spacing = shared.spacing;
    let (mut first, mut counts) = (DVec3::ZERO, [1.0; 3]);
    for axis in 0..3 {
        if shared.across == Some(axis) {
            if !(min[axis]..=max[axis]).contains(&0.0) {
                let complaint = UnlocatedDiagnostic::new(format!(
                    "the region does not reach the plane in which fluids flow, {} = 0",
                    AXES[axis]
                ));
                let limit = format!(
                    "a region with {} = 0 inside; this one is from {:.6} to {:.6} m",
                    AXES[axis], min[axis], max[axis]
                );
                return Err(("fill", complaint.limit(limit).remedy("move the region, or choose another `plane`")));
            }
            continue;
        }
        let extent = max[axis] - min[axis];
        if extent < spacing * (1.0 - 1e-6) {
            let complaint = UnlocatedDiagnostic::new(format!(
                "a spacing of {spacing} m is larger than the region, which measures {extent:.6} m along {}",
                AXES[axis]
            ));
            let limit = format!("at most {extent:.6} m, for one layer of particles");
            return Err((
                "spacing",
                complaint.limit(limit).remedy("use a smaller spacing, or fill a larger region"),
            ));
        }
        counts[axis] = count(extent, spacing);
        first[axis] = if is_box {
            min[axis] + 0.5 * spacing
        } else {
            0.5 * (min[axis] + max[axis]) - 0.5 * (counts[axis] - 1.0) * spacing
        };
    }
    let all: f64 = counts.iter().product();
    let remedy = "use a larger spacing, or fill a smaller region";
    let share = if is_box || shared.across.is_some() {
        1.0
    } else {
        inside.volume() / (max - min).element_product()
    };
    refuse_too_many_of("particles", share * all, remedy).map_err(|complaint| ("spacing", complaint))?;
    if all > MAX_SITES {
        let complaint = UnlocatedDiagnostic::new(format!("the box around the region has {all:.1e} places for particles"));
        return Err(("spacing", complaint.limit(format!("{MAX_SITES:.0e}")).remedy(remedy)));
    }
    let [along_x, along_y, along_z] = counts.map(|count| count as u64);
    let mut places = Vec::new();
    for k in 0..along_z {
        for j in 0..along_y {
            for i in 0..along_x {
                let place = first + spacing * DVec3::new(i as f64, j as f64, k as f64);
                if is_box || inside.holds(place) {
                    places.push(place);
                }
            }
        }
    }
    if places.is_empty() {
        let complaint = UnlocatedDiagnostic::new("no particle is inside the region");
        return Err(("fill", complaint.remedy("use a smaller spacing, or fill a larger region")));
    }
    note_uneven(path, is_box, &inside, counts, places.len(), shared, findings);
    Ok(Sites {
        inside,
        corner: first - 0.5 * spacing,
        places,
    })
}

/// Notes particles whose volume differs from that of their region.
fn note_uneven(path: &str, is_box: bool, inside: &Inside, counts: [f64; 3], places: usize, shared: &Shared, findings: &mut CheckState) {
    let spacing = shared.spacing;
    let (min, max) = inside.bounds();
    let spacings = (max - min) / spacing;
    let flows_along = |axis: &usize| shared.across != Some(*axis);
    if is_box {
        let is_uneven = |axis: &usize| (spacings[*axis] - counts[*axis]).abs() > SLACK;
        if let Some(axis) = (0..3).filter(flows_along).find(is_uneven) {
            let size = |edges: [f64; 3]| (0..3).filter(flows_along).map(|axis| edges[axis] * spacing).product::<f64>();
            let unit = if shared.across.is_some() { "m²" } else { "m³" };
            findings.notices.push(format!(
                "{path}: its box is {:.4} spacings long in {}, and holds {}: particles stand for {:.6} {unit} of {:.6} {unit}",
                spacings[axis],
                AXES[axis],
                counts[axis],
                size(counts),
                size(spacings.to_array())
            ));
        }
        return;
    }
    let filled = places as f64 * spacing.powi(3);
    if shared.across.is_none() && (filled / inside.volume() - 1.0).abs() > SHARE {
        findings.notices.push(format!(
            "{path}: its particles stand for {filled:.6} m³, the region has {:.6} m³; a smaller spacing comes closer",
            inside.volume()
        ));
    }
}

/// Notes periodic lengths that are no whole number of spacings.
pub(super) fn note_uneven_periods(layout: &Layout, findings: &mut CheckState) {
    for (axis, period) in layout.periods.iter().enumerate() {
        let Some([min, max]) = period.filter(|_| layout.across != Some(axis)) else {
            continue;
        };
        let spacings = (max - min) / layout.spacing;
        if (spacings - spacings.round()).abs() > 1e-6 {
            findings.notices.push(format!(
                "world.domain is {spacings:.4} spacings long in {}, where its sides are periodic: particles on both sides do not match; choose a \
                 spacing that divides the length",
                AXES[axis]
            ));
        }
    }
}
