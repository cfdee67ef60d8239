//! Probes of residence times: from the keys of a scene to where the times begin and end.

use super::{Kind, unknown};
use crate::{
    ProbeKind,
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    fill::{Inside, si},
    inlet::Inlet,
    schema::{Plane, Region, Residence, ResidenceStart},
    walls,
};
use seixo_engine::world::{Vec3, World};
use std::{fmt, sync::Arc};

/// Where residence times begin or end.
#[derive(Clone, Debug, PartialEq)]
pub enum Passage {
    /// At a plane, when a grain passes it along its normal.
    Plane {
        /// A point of the plane \[m\].
        point: Vec3,
        /// Its unit normal.
        normal: Vec3,
    },
    /// At an inlet, when it adds the grain.
    Inlet {
        /// Group of the grains, an index into [`World::groups`].
        group: u32,
        /// Simulated time between two additions \[s\].
        every: f64,
        /// Grains with ids below this one were not added by it.
        first_id: u32,
    },
    /// Where the center of a grain enters a zone.
    Entry(Enclosure),
    /// Where it leaves the zone.
    Exit(Enclosure),
}

/// The inside of a box, a cylinder, a cone, a sphere or a closed mesh.
#[derive(Clone)]
pub struct Enclosure {
    inside: Arc<Inside>,
    /// Its region in the scene.
    definition: String,
}

impl Enclosure {
    /// Whether a point is inside \[m\].
    pub fn holds(&self, point: Vec3) -> bool {
        self.inside.holds(point.into())
    }

    /// Corners of the bounding box, parallel to the axes \[m\].
    pub fn bounds(&self) -> [Vec3; 2] {
        let (low, high) = self.inside.bounds();
        [low.to_array(), high.to_array()]
    }
}

impl fmt::Debug for Enclosure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.definition)
    }
}

impl PartialEq for Enclosure {
    fn eq(&self, other: &Enclosure) -> bool {
        self.definition == other.definition
    }
}

/// The probe of residence times of a section. Paths of meshes are made absolute.
pub(super) fn residence(section: &mut Residence, world: &World, inlets: &[Inlet], findings: &mut CheckState) -> Kind {
    let at = |key: &str, complaint: UnlocatedDiagnostic| (key.to_owned(), complaint);
    let zone = section.zone.as_mut().map(|region| enclosure(region, findings)).transpose();
    let zone = zone.map_err(|complaint| at("residence_time.zone", complaint))?;
    let to = section.to.as_ref().map(|to| plane("residence_time.to", to)).transpose()?;
    let from = match &section.from {
        None => None,
        Some(ResidenceStart::Plane(from)) => Some(plane("residence_time.from", from)?),
        Some(ResidenceStart::Inlet(name)) => {
            let own = name.strip_prefix("inlet.").unwrap_or(name);
            let Some(inlet) = inlets.iter().find(|inlet| inlet.name == own) else {
                // Refused inlets are absent.
                if !findings.is_sound() {
                    return Ok(ProbeKind::Energy);
                }
                let complaint = unknown("group with an inlet", own, inlets.iter().map(|inlet| inlet.name.as_str()));
                return Err(at("residence_time.from", complaint));
            };
            Some(Passage::Inlet {
                group: inlet.group,
                every: inlet.every,
                first_id: world.grains.id.iter().max().map_or(0, |highest| highest.saturating_add(1)),
            })
        }
    };
    match (from, to, zone) {
        (Some(from), Some(to), None) => Ok(ProbeKind::ResidenceTime { from, to }),
        (Some(from), None, Some(zone)) => Ok(ProbeKind::ResidenceTime {
            from,
            to: Passage::Entry(zone),
        }),
        (None, None, Some(zone)) => Ok(ProbeKind::ResidenceTime {
            from: Passage::Entry(zone.clone()),
            to: Passage::Exit(zone),
        }),
        _ => {
            let complaint = UnlocatedDiagnostic::new("a residence time begins and ends somewhere, once each");
            let complaint = complaint.limit("`from` with `to`, `from` with `zone`, or `zone` alone");
            Err(at("residence_time", complaint.remedy("give one of these")))
        }
    }
}

fn plane(key: &str, plane: &Plane) -> Result<Passage, (String, UnlocatedDiagnostic)> {
    let normal = walls::unit(&plane.normal).map_err(|complaint| (format!("{key}.normal"), complaint))?;
    Ok(Passage::Plane {
        point: si(&plane.point),
        normal,
    })
}

fn enclosure(region: &mut Region, findings: &mut CheckState) -> Result<Enclosure, UnlocatedDiagnostic> {
    let inside = Inside::new(region, findings)?;
    Ok(Enclosure {
        inside: Arc::new(inside),
        definition: serde_json::to_string(&*region).unwrap_or_default(),
    })
}
