//! Rigid bodies that melt: between two steps, fluid replaces them.
//!
//! The fluid has the mass of the body as far as whole particles can, and its momentum and angular momentum. Its pressure decreases with height like
//! that of the fluid around it.

use crate::flow::Flow;
use crate::flow::melting::{Melt, Melting};
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::world::{Vec3, array, vector};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::orientation_at;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::layout::{RECORD, load};

impl Populations {
    /// The fluid that replaces each of these bodies, which are present.
    pub(crate) fn melts_of(&self, melting: &[&Melting]) -> Result<Vec<Melt>, WorldError> {
        let refused = |what: String| Err(WorldError::Fluid(what));
        let Some(flow) = &self.flow else {
            return refused("bodies are to melt where nothing flows; add a fluid".to_owned());
        };
        if flow.is_incompressible() {
            // Particles may come nearer to others than half a spacing.
            let why = "bodies are to melt into fluids of solver = \"dfsph\", whose pressures drive particles that start too near to others apart at the rate of the longest step, and they keep that velocity";
            return refused(format!("{why}; use solver = \"wcsph\" or \"muller2003\""));
        }
        let mut melts = Vec::new();
        for (k, one) in melting.iter().enumerate() {
            let id = one.body;
            if melting[..k].iter().any(|other| other.body == id) {
                return refused(format!("body {id} is to melt twice; name it once"));
            }
            let Some(body_boundary) = flow.body_boundaries.of_body(id) else {
                return refused(format!(
                    "body {id} is to melt, but is not coupled to fluids; let it displace fluids"
                ));
            };
            if one.fluid as usize >= flow.plan.kinds.len() || one.sites.is_empty() {
                return refused(format!(
                    "body {id} is to melt into fluid number {} at {} sites; it needs a fluid that is there, and at least one site",
                    one.fluid,
                    one.sites.len()
                ));
            }
            let melt = self.melt_of(flow, one, body_boundary);
            let is_outside = |place: &Vector3<f64>| self.has_left(&array(place));
            if melt.position.iter().any(is_outside) {
                return refused(format!(
                    "body {id} is to melt while a part of it is outside of the domain; enlarge world.domain, or let it melt elsewhere"
                ));
            }
            melts.push(melt);
        }
        let coming: usize = melts.iter().map(|melt| melt.position.len()).sum();
        if flow.open_boundaries.next_id + coming as u64 > u64::from(WALL) {
            return refused("more than 2^31 particles of fluids would have come: no id is left for what melts".to_owned());
        }
        Ok(melts)
    }

    /// The fluid that replaces a body with this index.
    fn melt_of(&self, flow: &Flow, melting: &Melting, body_boundary: usize) -> Melt {
        let b = self.bodies.id.iter().position(|id| *id == melting.body).unwrap_or_default();
        let (at, fluid) = (b * RECORD, &flow.plan.kinds[melting.fluid as usize]);
        let (of_body, of_particle) = (self.bodies.center[at + 3], fluid.density * flow.plan.volume());
        let moving = self.bodies.moving(b, &self.grains.fields, &self.context.stepping);
        let orientation = orientation_at(&self.bodies.orientation, at);
        let center: Vector3<f64> = load(&self.bodies.center, at);

        let square = |site: &Vec3| site.iter().map(|x| x * x).sum::<f64>();
        let mut sites = melting.sites.clone();
        sites.sort_by(|a, b| square(a).total_cmp(&square(b)));
        sites.truncate(melting.particles(of_body, of_particle));
        let arms: Vec<Vector3<f64>> = sites.iter().map(|site| orientation.to_space(&vector(*site))).collect();

        let count = arms.len() as f64;
        let sum = arms.iter().fold(Vector3::<f64>::zero(), |sum, arm| sum.plus(arm));
        let middle = sum.times(1.0 / count);
        let momentum = moving.velocity.times(of_body);
        let velocity = momentum.times(1.0 / (count * of_particle));
        let turning = moving.momentum.minus(&middle.cross(&momentum));
        let spin = turning_with(&arms, &middle, of_particle, &turning).unwrap_or(moving.spin);

        let pull = self.context.stepping.gravity.times(fluid.density);
        let head = flow.head_before(body_boundary, &pull);
        let position: Vec<Vector3<f64>> = arms.iter().map(|arm| center.plus(arm)).collect();
        let pressure = |place: &Vector3<f64>| head.map_or(fluid.background_pressure, |head| (head + pull.dot(place)).max(0.0));
        Melt {
            kind: melting.fluid,
            velocity: arms.iter().map(|arm| velocity.plus(&spin.cross(&arm.minus(&middle)))).collect(),
            pressure: position.iter().map(pressure).collect(),
            position,
        }
    }
}

/// Angular velocity \[rad/s\] at which equal masses \[kg\] at these positions, about their center \[m\], have an angular momentum \[kg m²/s\]; `None`
/// if they are on one line.
pub(crate) fn turning_with(places: &[Vector3<f64>], middle: &Vector3<f64>, mass: f64, momentum: &Vector3<f64>) -> Option<Vector3<f64>> {
    let mut inertia = [Vector3::<f64>::zero(); 3];
    for place in places {
        let arm = place.minus(middle);
        let square = arm.dot(&arm);
        for (axis, (column, along)) in inertia.iter_mut().zip([arm.x, arm.y, arm.z]).enumerate() {
            let unit = vector([0, 1, 2].map(|k| if k == axis { 1.0 } else { 0.0 }));
            *column = column.plus(&unit.times(square).minus(&arm.times(along)).times(mass));
        }
    }
    let [a, b, c] = inertia;
    let (determinant, trace) = (a.dot(&b.cross(&c)), a.x + b.y + c.z);
    let by_columns = Vector3 {
        x: momentum.dot(&b.cross(&c)),
        y: a.dot(&momentum.cross(&c)),
        z: a.dot(&b.cross(momentum)),
    };
    (determinant > 1e-9 * trace.powi(3)).then(|| by_columns.times(1.0 / determinant))
}
