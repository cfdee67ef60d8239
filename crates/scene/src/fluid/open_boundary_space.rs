//! Space of inlets and outlets of fluids, and of the particles that pass through them.

use super::{Layout, periods, point_index::PointIndex};
use glam::DVec3;
use seixo_engine::world::{Domain, FluidInlet, FluidOutlet, OutletForm};

/// Smallest distance of wall particles, and of fluid at the start, from the sample points of an inlet \[spacings\]. The points are a spacing apart in
/// a layer and half a spacing along the normal: no position between them is farther than 0.75 from one.
const NEAREST: f64 = 0.77;
/// Distance behind an inlet at which its sample points begin \[spacings\]: fluid that starts half a spacing before the inlet is accepted.
const BEGIN: f64 = 0.3;

/// Positions of particles in inlets and outlets, and on their way.
pub(super) struct OpenBoundarySpace<'a> {
    inlets: &'a [FluidInlet],
    outlets: &'a [FluidOutlet],
    /// Along the columns of inlet particles, with the index of the inlet.
    columns: PointIndex,
    spacing: f64,
    /// Depth of outlets \[m\].
    depth: f64,
}

impl<'a> OpenBoundarySpace<'a> {
    pub(super) fn new(
        inlets: &'a [FluidInlet],
        outlets: &'a [FluidOutlet],
        layout: &Layout,
        domain: Option<&Domain>,
    ) -> OpenBoundarySpace<'a> {
        let spacing = layout.spacing;
        let mut columns = PointIndex::new(spacing, periods(domain));
        for (index, inlet) in inlets.iter().enumerate() {
            for site in &inlet.sites {
                for half in 0..=2 * layout.layers {
                    let depth = (BEGIN + 0.5 * f64::from(half)) * spacing;
                    columns.add(DVec3::from(*site) - depth * DVec3::from(inlet.normal), index as u32);
                }
            }
        }
        OpenBoundarySpace {
            inlets,
            outlets,
            columns,
            spacing,
            depth: layout.band() + spacing,
        }
    }

    /// Whether a wall particle at this position would be in the way.
    pub(super) fn crosses(&self, at: DVec3) -> bool {
        let is_behind = |outlet: &FluidOutlet| {
            let past = outlet.opening.past(at.to_array());
            outlet.opening.normal().is_some() && past.is_some_and(|past| past > 0.0 && past < self.depth)
        };
        self.columns.nearer_than((NEAREST - 1e-6) * self.spacing, at).is_some() || self.outlets.iter().any(is_behind)
    }

    /// The inlet in which a fluid particle would start.
    pub(super) fn inlet_at(&self, at: DVec3) -> Option<&FluidInlet> {
        let found = self.columns.nearer_than((NEAREST - 1e-6) * self.spacing, at)?;
        self.inlets.get(found as usize)
    }

    /// Positions that fluid reaches first: names of inlets, and positions half a spacing before them.
    pub(super) fn fronts(&self) -> Vec<(&str, DVec3)> {
        let of_inlet = |inlet: &'a FluidInlet| {
            let ahead = 0.5 * self.spacing * DVec3::from(inlet.normal);
            let places = inlet.sites.iter().map(move |site| DVec3::from(*site) + ahead);
            places.map(move |place| (inlet.name.as_str(), place))
        };
        self.inlets.iter().flat_map(of_inlet).collect()
    }

    /// Positions around all inlets and outlets.
    pub(super) fn corners(&self) -> Vec<DVec3> {
        let mut all = Vec::new();
        for inlet in self.inlets {
            let back = self.depth * DVec3::from(inlet.normal);
            for site in &inlet.sites {
                all.extend([DVec3::from(*site), DVec3::from(*site) - back]);
            }
        }
        for outlet in self.outlets {
            let (center, normal, [u, v]) = match &outlet.opening {
                OutletForm::Disc { center, normal, radius } => {
                    let (u, v) = DVec3::from(*normal).any_orthonormal_pair();
                    (center, normal, [u * *radius, v * *radius])
                }
                OutletForm::Rectangle {
                    center,
                    normal,
                    along: [u, v],
                    half,
                } => (center, normal, [DVec3::from(*u) * half[0], DVec3::from(*v) * half[1]]),
                OutletForm::Box { .. } => continue,
            };
            let (center, ahead) = (DVec3::from(*center), self.depth * DVec3::from(*normal));
            for place in [center - u - v, center - u + v, center + u - v, center + u + v] {
                all.extend([place, place + ahead]);
            }
        }
        all
    }
}
