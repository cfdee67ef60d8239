//! Body boundary particles: the part of a rigid body that interacts with fluids.

use super::{Fluid, Fluids, Solver, are_volumes};
use crate::refusal::WorldError;
use crate::world::{Body, Vec3};
use seixo_laws::contact::restitution::MIN_RESTITUTION;
use seixo_laws::fluid::spring::{damping, longest_braked_step, longest_step};
use std::collections::HashMap;
use std::f64::consts::PI;

/// Largest radius of suspended grains, around which the flow is not resolved \[supports\]. In slow flow these stir what counts as the surrounding
/// fluid with half of their own velocity, see [`seixo_laws::fluid::suspension`].
pub const LARGEST_SUSPENDED: f64 = 0.25;

/// Body boundary particles of a rigid body: all within a support of its surface, inside. Fluids interact with them as with wall particles.
/// For a suspended grain it is one particle, and with [`Solver::Muller2003`] the spheres of the body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyBoundary {
    /// Id of the body, one of [`crate::world::Grains::bodies`].
    pub body: u32,
    /// Positions relative to its center, in the frame of its principal axes \[m\].
    pub offset: Vec<Vec3>,
    /// Radii of the spheres \[m\] for [`Solver::Muller2003`]; empty for other solvers.
    pub radius: Vec<f64>,
    /// Volumes of the particles \[m³\], in a plane \[m²\]; empty if each has the volume of a fluid particle, see [`Fluids::volume`].
    pub volume: Vec<f64>,
    /// Whether fluids slip freely along it; otherwise they do not slip. [`Solver::Muller2003`] does not use it.
    pub slips: bool,
    /// Radius of a suspended grain, smaller than fluid particles \[m\]. It has one particle at its center; drag and buoyancy replace the forces at
    /// its surface, see [`seixo_laws::fluid::suspension`]. `None` for a body around which the flow is resolved.
    pub suspended: Option<f64>,
}

/// Smallest assumed number of spheres in simultaneous contact with a particle: those around a gap in a layer of spheres.
const MIN_AT_ONCE: usize = 4;

/// The same for a body that froze: its spheres are as close as particles, at most a sphere and the twelve that touch it.
const AT_ONCE_IN_FROZEN: f64 = 13.0;

/// Number of fluid particles around a single sphere of this radius \[m\].
fn particles_around(radius: f64, spacing: f64) -> f64 {
    4.0 * PI * (radius / spacing + 0.5).powi(2)
}

impl BodyBoundary {
    /// Upper bound of the spheres in simultaneous contact with a particle, a sphere of half a spacing: the largest number in contact with a particle
    /// at the center of any of them.
    fn at_once(&self, half_spacing: f64) -> usize {
        let mut order: Vec<usize> = (0..self.offset.len()).collect();
        order.sort_by(|a, b| self.offset[*a][0].total_cmp(&self.offset[*b][0]));
        let along: Vec<f64> = order.iter().map(|&k| self.offset[k][0]).collect();
        let farthest = self.radius.iter().copied().fold(0.0, f64::max) + half_spacing;
        let touched = |at: &Vec3| {
            let (first, end) = (
                along.partition_point(|x| *x <= at[0] - farthest),
                along.partition_point(|x| *x < at[0] + farthest),
            );
            let is_touched = |k: &&usize| {
                let square: f64 = (0..3).map(|axis| (self.offset[**k][axis] - at[axis]).powi(2)).sum();
                square < (self.radius[**k] + half_spacing).powi(2)
            };
            order[first..end].iter().filter(is_touched).count()
        };
        self.offset.iter().map(touched).max().unwrap_or(0).max(MIN_AT_ONCE)
    }

    /// Upper bound of the pairs of its spheres and the fluid around it.
    ///
    /// It is the smaller of two sums: the particles around each single sphere, and those around the bounding box, each with `at_once` spheres.
    fn pairs(&self, spacing: f64, at_once: usize) -> f64 {
        let alone: f64 = self.radius.iter().map(|&radius| particles_around(radius, spacing)).sum();
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let ends = self
                .offset
                .iter()
                .zip(&self.radius)
                .map(|(at, radius)| [at[axis] - radius, at[axis] + radius]);
            let [low, high] = ends.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], end| {
                [low.min(end[0]), high.max(end[1])]
            });
            (high - low) / spacing + 1.0
        });
        alone.min(2.0 * (x * y + y * z + z * x) * at_once as f64)
    }
}

impl Fluids {
    /// Stiffness \[N/m\] and damping \[N s/m\] between a fluid particle and a sphere of a body. Zero if they do not interact as spheres, and for a
    /// restitution that the checks reject.
    pub(crate) fn spring(&self, fluid: &Fluid) -> [f64; 2] {
        if self.solver == Solver::Muller2003 && fluid.body_restitution > 0.0 && fluid.body_restitution <= 1.0 {
            let mass = fluid.density * self.volume();
            return [fluid.body_stiffness, damping(fluid.body_stiffness, mass, fluid.body_restitution)];
        }
        [0.0; 2]
    }

    /// Longest stable time step \[s\] for springs and dampers between fluids and these bodies, and those into which fluid `freezes` later, and the
    /// limiting cause; infinite without any. See [`longest_step()`] and [`longest_braked_step()`].
    pub(crate) fn limit_by_bodies(&self, bodies: &[Body], freezes: bool) -> (f64, String) {
        let mut limit = (f64::INFINITY, String::new());
        if self.solver != Solver::Muller2003 {
            return limit;
        }
        // Dampers do not reverse a body with prescribed motion.
        let free = bodies.iter().filter(|body| body.motion.is_none());
        let masses: HashMap<u32, f64> = free.map(|body| (body.id, body.mass)).collect();
        let touching = |body_boundary: &BodyBoundary| {
            let at_once = body_boundary.at_once(0.5 * self.spacing);
            let mass = masses.get(&body_boundary.body).copied().unwrap_or(f64::INFINITY);
            (
                format!("body {}", body_boundary.body),
                at_once as f64,
                [body_boundary.pairs(self.spacing, at_once), mass],
            )
        };
        let mut touching: Vec<(String, f64, [f64; 2])> = self.body_boundaries.iter().map(touching).collect();
        if freezes {
            // Each particle of the lightest fluid brings the pairs of a sphere.
            let density = self.kinds.iter().fold(f64::INFINITY, |least, fluid| least.min(fluid.density));
            let of_sphere = [particles_around(0.5 * self.spacing, self.spacing), density * self.volume()];
            touching.push(("what freezes".to_owned(), AT_ONCE_IN_FROZEN, of_sphere));
        }
        for fluid in self.kinds.iter().filter(|_| !touching.is_empty()) {
            let name = &fluid.name;
            let [k, eta] = self.spring(fluid);
            let swinging = longest_step(k, eta);
            if swinging < limit.0 {
                limit = (
                    swinging,
                    format!(
                        "springs between {name:?} and bodies, which explicit Euler lets grow unless k\u{394}t \u{2264} \u{3b7}, with k = {k:.3e} N/m \
                         (body_stiffness), \u{3b7} = {eta:.3e} N s/m (by body_restitution = {})",
                        fluid.body_restitution
                    ),
                );
            }
            let m = fluid.density * self.volume();
            for (what, n, [pairs, mass]) in &touching {
                let braked = longest_braked_step(eta, [*n, m], [*pairs, *mass]);
                if braked < limit.0 {
                    limit = (
                        braked,
                        format!(
                            "dampers between {name:?} and {what}: 1/(\u{3b7}(n/(2m) + N/M)) with \u{3b7} = {eta:.3e} N s/m (by body_stiffness and \
                             body_restitution = {}), n = {n} on a particle of m = {m:.3e} kg and N = {pairs:.0} on the body of M = {mass:.3e} kg",
                            fluid.body_restitution
                        ),
                    );
                }
            }
        }
        limit
    }
}

impl Body {
    /// Part of its motion that leaves the plane normal to an axis, 0 to 2, at this coordinate \[m\]; `None` if it stays in the plane.
    pub fn leaves_plane(&self, axis: usize, at: f64) -> Option<&'static str> {
        let is_about_another = |vector: &Vec3| (0..3).any(|other| other != axis && vector[other] != 0.0);
        let [_, x, y, z] = self.orientation;
        let flaws = [
            ("center", self.center[axis] != at),
            ("spheres", self.carries.iter().any(|(_, offset)| offset[axis] != 0.0)),
            ("orientation", is_about_another(&[x, y, z])),
            ("velocity", self.velocity[axis] != 0.0),
            ("angular velocity", is_about_another(&self.angular_velocity)),
        ];
        flaws.into_iter().find(|(_, is)| *is).map(|(what, _)| what)
    }
}

/// Rejects bodies with boundary particles that would leave the plane of a two-dimensional flow.
fn check_plane(fluids: &Fluids, bodies: &[Body], axis: usize) -> Result<(), WorldError> {
    let mut places = fluids.particles.position.iter().chain(&fluids.boundary.position);
    let at = places.next().map_or(0.0, |place| place[axis]);
    let known: HashMap<u32, &Body> = bodies.iter().map(|body| (body.id, body)).collect();
    for body_boundary in &fluids.body_boundaries {
        let of_body = known.get(&body_boundary.body).and_then(|body| body.leaves_plane(axis, at));
        let of_body_boundary = || {
            body_boundary
                .offset
                .iter()
                .any(|place| place[axis] != 0.0)
                .then_some("boundary particles")
        };
        if let Some(what) = of_body.or_else(of_body_boundary) {
            let along = ["x", "y", "z"][axis];
            return Err(WorldError::Fluid(format!(
                "fluids that flow in the plane {along} = {at} m are to feel body {}, which leaves it by its {what}; have all of it in the plane, and let \
                 it turn about {along} alone",
                body_boundary.body
            )));
        }
    }
    Ok(())
}

/// Rejects body boundary particles of missing bodies, and several sets for one body; and fluids that could not interact with a body if one
/// `freezes` later.
pub(super) fn check_body_boundaries(fluids: &Fluids, bodies: &[Body], freezes: bool) -> Result<(), WorldError> {
    let mut known: HashMap<u32, bool> = bodies.iter().map(|body| (body.id, false)).collect();
    for body_boundary in &fluids.body_boundaries {
        let id = body_boundary.body;
        let flaw = match known.insert(id, true) {
            None => Some("is not there"),
            Some(true) => Some("has two sets of boundary particles"),
            Some(false) if body_boundary.offset.iter().flatten().any(|x| !x.is_finite()) => {
                Some("has a particle whose position is not finite")
            }
            Some(false) if !are_volumes(&body_boundary.volume, body_boundary.offset.len()) => Some("has a particle without a volume"),
            Some(false) => None,
        };
        if let Some(flaw) = flaw {
            return Err(WorldError::Fluid(format!(
                "fluids are to feel body {id}, which {flaw}; boundary particles belong to one body of the world, and their positions are finite"
            )));
        }
    }
    fluids.body_boundaries.iter().try_for_each(|body_boundary| {
        body_boundary
            .suspended
            .map_or(Ok(()), |radius| check_suspended(fluids, body_boundary, radius))
    })?;
    if fluids.solver == Solver::Muller2003 && (freezes || !fluids.body_boundaries.is_empty()) {
        check_spheres(fluids)?;
    }
    fluids.across.map_or(Ok(()), |axis| check_plane(fluids, bodies, axis))
}

/// Rejects spheres with which the particles of Müller's solver cannot interact as spheres do.
fn check_spheres(fluids: &Fluids) -> Result<(), WorldError> {
    let refuse = |what: String| Err(WorldError::Fluid(what));
    let Fluids { spacing, support, .. } = *fluids;
    let largest = support - 0.5 * spacing;
    for body_boundary in &fluids.body_boundaries {
        let id = body_boundary.body;
        if body_boundary.radius.len() != body_boundary.offset.len() {
            return refuse(format!(
                "fluids are to feel body {id} with {} radii for {} spheres; solver = \"muller2003\" asks for one of each",
                body_boundary.radius.len(),
                body_boundary.offset.len()
            ));
        }
        // NaN fails this comparison, too.
        let is_wrong = |radius: &&f64| !(**radius > 0.0 && **radius <= largest * (1.0 + 1e-9));
        if let Some(radius) = body_boundary.radius.iter().find(is_wrong) {
            return refuse(format!(
                "fluids are to feel body {id}, which has a sphere with a radius of {radius} m; it must be positive and, as solver = \"muller2003\" \
                 looks no farther than the support of {support} m, at most {largest:.4e} m, that less half a spacing: make the body of finer spheres, or \
                 take a larger support"
            ));
        }
    }
    for fluid in &fluids.kinds {
        let (name, stiffness, restitution) = (&fluid.name, fluid.body_stiffness, fluid.body_restitution);
        if !(stiffness.is_finite() && stiffness > 0.0) {
            return refuse(format!(
                "fluid {name:?} has a stiffness of {stiffness} N/m at bodies; it must be positive"
            ));
        }
        if !(MIN_RESTITUTION..1.0).contains(&restitution) {
            return refuse(format!(
                "fluid {name:?} has a restitution of {restitution} at bodies; it must be at least {MIN_RESTITUTION} and below 1: with 1 explicit Euler lets \
                 springs grow at any time step"
            ));
        }
    }
    Ok(())
}

/// Rejects a suspended grain of this radius \[m\] where the model does not apply.
fn check_suspended(fluids: &Fluids, body_boundary: &BodyBoundary, radius: f64) -> Result<(), WorldError> {
    let refuse = |what: String| {
        Err(WorldError::Fluid(format!(
            "fluids are to carry body {} as a small grain, {what}",
            body_boundary.body
        )))
    };
    if body_boundary.offset != [[0.0; 3]] {
        return refuse("which has one particle, at its center: give it that".to_owned());
    }
    let largest = LARGEST_SUSPENDED * fluids.support;
    if !(radius > 0.0 && radius <= largest * (1.0 + 1e-9)) {
        return refuse(format!(
            "but its radius is {radius} m; it must be positive and at most {largest:.4e} m, a quarter of the support: use a larger spacing, or give it \
             boundary particles around which fluids flow"
        ));
    }
    if fluids.solver != Solver::WeaklyCompressible {
        return refuse("which solver = \"wcsph\" alone does: use that".to_owned());
    }
    if fluids.across.is_some() {
        return refuse("and flow in a plane, where nothing is a sphere: let them flow in space".to_owned());
    }
    Ok(())
}
