//! What inlets and outlets of fluids take up: where particles in them are, or come by.

use super::{Layout, periods, places::Places};
use glam::DVec3;
use seixo_engine::world::{Domain, FluidInlet, FluidOutlet, Opening};

/// How near the places that stand for what comes by in an inlet particles of walls may be, and fluid may start \[spacings\]. In its layers these
/// places are a spacing apart, along its normal half a one: nothing between them is farther than 0.75 from one.
const NEAREST: f64 = 0.77;
/// How far behind an inlet these places begin \[spacings\]: what starts half a spacing before it is clear.
const BEGIN: f64 = 0.3;

/// Where particles in inlets and outlets are, or come by.
pub(super) struct Ways<'a> {
    inlets: &'a [FluidInlet],
    outlets: &'a [FluidOutlet],
    /// Along the columns of particles in inlets, with the number of each.
    columns: Places,
    spacing: f64,
    /// How deep outlets are \[m\].
    depth: f64,
}

impl<'a> Ways<'a> {
    pub(super) fn new(inlets: &'a [FluidInlet], outlets: &'a [FluidOutlet], layout: &Layout, domain: Option<&Domain>) -> Ways<'a> {
        let spacing = layout.spacing;
        let mut columns = Places::new(spacing, periods(domain));
        for (index, inlet) in inlets.iter().enumerate() {
            for site in &inlet.sites {
                for half in 0..=2 * layout.layers {
                    let depth = (BEGIN + 0.5 * f64::from(half)) * spacing;
                    columns.add(DVec3::from(*site) - depth * DVec3::from(inlet.normal), index as u32);
                }
            }
        }
        Ways {
            inlets,
            outlets,
            columns,
            spacing,
            depth: layout.band() + spacing,
        }
    }

    /// Whether a particle of a wall would stand in the way.
    pub(super) fn crosses(&self, at: DVec3) -> bool {
        let is_behind = |outlet: &FluidOutlet| {
            let past = outlet.opening.past(at.to_array());
            outlet.opening.normal().is_some() && past.is_some_and(|past| past > 0.0 && past < self.depth)
        };
        self.columns.nearer_than((NEAREST - 1e-6) * self.spacing, at).is_some() || self.outlets.iter().any(is_behind)
    }

    /// The inlet in which a particle of fluid would start.
    pub(super) fn inlet_at(&self, at: DVec3) -> Option<&FluidInlet> {
        let found = self.columns.nearer_than((NEAREST - 1e-6) * self.spacing, at)?;
        self.inlets.get(found as usize)
    }

    /// Where fluid comes to first: the names of inlets, and places half a spacing before them.
    pub(super) fn fronts(&self) -> Vec<(&str, DVec3)> {
        let of_inlet = |inlet: &'a FluidInlet| {
            let ahead = 0.5 * self.spacing * DVec3::from(inlet.normal);
            let places = inlet.sites.iter().map(move |site| DVec3::from(*site) + ahead);
            places.map(move |place| (inlet.name.as_str(), place))
        };
        self.inlets.iter().flat_map(of_inlet).collect()
    }

    /// Places around all that inlets and outlets take up.
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
                Opening::Disc { center, normal, radius } => {
                    let (u, v) = DVec3::from(*normal).any_orthonormal_pair();
                    (center, normal, [u * *radius, v * *radius])
                }
                Opening::Rectangle {
                    center,
                    normal,
                    along: [u, v],
                    half,
                } => (center, normal, [DVec3::from(*u) * half[0], DVec3::from(*v) * half[1]]),
                Opening::Box { .. } => continue,
            };
            let (center, ahead) = (DVec3::from(*center), self.depth * DVec3::from(*normal));
            for place in [center - u - v, center - u + v, center + u - v, center + u + v] {
                all.extend([place, place + ahead]);
            }
        }
        all
    }
}
