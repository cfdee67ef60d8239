//! What of rigid bodies fluids feel.

use super::{Fluid, Fluids, Solver, are_volumes};
use crate::refusal::Refusal;
use crate::world::{Body, Vec3};
use seixo_laws::contact::restitution::LEAST_RESTITUTION;
use seixo_laws::fluid::spring::{damping, longest_braked_step, longest_step};
use std::collections::HashMap;
use std::f64::consts::PI;

/// Radius of the largest grains that fluids can carry without flowing around them \[supports\]. In slow flow these stir what is taken for the fluid
/// around them with half of their own velocity, see [`seixo_laws::fluid::suspension`].
pub const LARGEST_SUSPENDED: f64 = 0.25;

/// The particles of a rigid body that fluids feel, as they feel those of walls: all that is within a support of its surface, inside.
/// Or a grain that is too small for that. With [`Solver::Muller2003`] its own spheres.
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    /// Id of the body, one of [`crate::world::Grains::bodies`].
    pub body: u32,
    /// Where they are from its center, in the frame of its principal axes \[m\].
    pub offset: Vec<Vec3>,
    /// Radii of the spheres \[m\], with [`Solver::Muller2003`]; with others empty.
    pub radius: Vec<f64>,
    /// What its particles stand for \[m³\], in a plane \[m²\]; empty where each stands for as much as one of a fluid, see [`Fluids::volume`].
    pub volume: Vec<f64>,
    /// Whether fluids slip along it freely; else they stick to it. Not asked for by [`Solver::Muller2003`].
    pub slips: bool,
    /// Radius of a grain that is smaller than the particles of fluids \[m\]: it has one particle, at its center, and drag and buoyancy stand for what fluids
    /// do at its surface, see [`seixo_laws::fluid::suspension`]. `None` for a body around which fluids flow.
    pub suspended: Option<f64>,
}

/// The fewest spheres that a particle is taken to touch at once: those around a hollow of a layer of them.
const FEWEST_AT_ONCE: usize = 4;

impl Hull {
    /// How many of its spheres a particle touches at once, that is a sphere of half a spacing: at most as many as one in the middle of any of them.
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
        self.offset.iter().map(touched).max().unwrap_or(0).max(FEWEST_AT_ONCE)
    }

    /// With how many pairs its spheres and fluid all around it touch, at most: as many as there are around each sphere by itself, or as particles around
    /// the box that holds all have with so many spheres at once.
    fn pairs(&self, spacing: f64, at_once: usize) -> f64 {
        let around = |radius: &f64| 4.0 * PI * (radius / spacing + 0.5).powi(2);
        let alone: f64 = self.radius.iter().map(around).sum();
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
    /// Stiffness \[N/m\] and damping \[N s/m\] between a particle of a fluid and a sphere of a body; zeros where they do not touch as spheres do, and for a
    /// restitution with which no world is accepted.
    pub(crate) fn spring(&self, fluid: &Fluid) -> [f64; 2] {
        let touches = self.solver == Solver::Muller2003 && !self.hulls.is_empty();
        if touches && fluid.body_restitution > 0.0 && fluid.body_restitution <= 1.0 {
            let mass = fluid.density * self.volume();
            return [fluid.body_stiffness, damping(fluid.body_stiffness, mass, fluid.body_restitution)];
        }
        [0.0; 2]
    }

    /// The longest time step \[s\] at which springs and dampers between fluids and these bodies are stable, and what limits it; without any there is no
    /// limit. See [`longest_step()`] and [`longest_braked_step()`].
    pub(crate) fn limit_by_bodies(&self, bodies: &[Body]) -> (f64, String) {
        let mut limit = (f64::INFINITY, String::new());
        if self.solver != Solver::Muller2003 {
            return limit;
        }
        // What holds a body lets no damper turn it around.
        let free = bodies.iter().filter(|body| body.motion.is_none());
        let masses: HashMap<u32, f64> = free.map(|body| (body.id, body.mass)).collect();
        let touching = |hull: &Hull| {
            let at_once = hull.at_once(0.5 * self.spacing);
            let mass = masses.get(&hull.body).copied().unwrap_or(f64::INFINITY);
            (hull.body, at_once as f64, [hull.pairs(self.spacing, at_once), mass])
        };
        let touching: Vec<(u32, f64, [f64; 2])> = self.hulls.iter().map(touching).collect();
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
            for (body, n, [pairs, mass]) in &touching {
                let braked = longest_braked_step(eta, [*n, m], [*pairs, *mass]);
                if braked < limit.0 {
                    limit = (
                        braked,
                        format!(
                            "dampers between {name:?} and body {body}: 1/(\u{3b7}(n/(2m) + N/M)) with \u{3b7} = {eta:.3e} N s/m (by body_stiffness and \
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
    /// What of it leaves the plane across an axis, 0 to 2, with this coordinate \[m\]: nothing that moves in the plane takes such a body out of it.
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

/// Refuses bodies with hulls that would take flow out of the plane across an axis.
fn check_plane(fluids: &Fluids, bodies: &[Body], axis: usize) -> Result<(), Refusal> {
    let mut places = fluids.particles.position.iter().chain(&fluids.boundary.position);
    let at = places.next().map_or(0.0, |place| place[axis]);
    let known: HashMap<u32, &Body> = bodies.iter().map(|body| (body.id, body)).collect();
    for hull in &fluids.hulls {
        let of_body = known.get(&hull.body).and_then(|body| body.leaves_plane(axis, at));
        let of_hull = || hull.offset.iter().any(|place| place[axis] != 0.0).then_some("hull");
        if let Some(what) = of_body.or_else(of_hull) {
            let along = ["x", "y", "z"][axis];
            return Err(Refusal::Fluid(format!(
                "fluids that flow in the plane {along} = {at} m are to feel body {}, which leaves it by its {what}; have all of it in the plane, and let \
                 it turn about {along} alone",
                hull.body
            )));
        }
    }
    Ok(())
}

/// Refuses hulls of bodies that are not there, or that have several.
pub(super) fn check_hulls(fluids: &Fluids, bodies: &[Body]) -> Result<(), Refusal> {
    let mut known: HashMap<u32, bool> = bodies.iter().map(|body| (body.id, false)).collect();
    for hull in &fluids.hulls {
        let id = hull.body;
        let flaw = match known.insert(id, true) {
            None => Some("is not there"),
            Some(true) => Some("has another hull"),
            Some(false) if hull.offset.iter().flatten().any(|x| !x.is_finite()) => Some("has a particle at a place that is none"),
            Some(false) if !are_volumes(&hull.volume, hull.offset.len()) => Some("has a particle without a volume"),
            Some(false) => None,
        };
        if let Some(flaw) = flaw {
            return Err(Refusal::Fluid(format!(
                "fluids are to feel body {id}, which {flaw}; a hull belongs to one body of the world, and its places are finite"
            )));
        }
    }
    fluids
        .hulls
        .iter()
        .try_for_each(|hull| hull.suspended.map_or(Ok(()), |radius| check_suspended(fluids, hull, radius)))?;
    if fluids.solver == Solver::Muller2003 && !fluids.hulls.is_empty() {
        check_spheres(fluids)?;
    }
    fluids.across.map_or(Ok(()), |axis| check_plane(fluids, bodies, axis))
}

/// Refuses spheres that Müller's fluid cannot touch as one sphere touches another.
fn check_spheres(fluids: &Fluids) -> Result<(), Refusal> {
    let refuse = |what: String| Err(Refusal::Fluid(what));
    let Fluids { spacing, support, .. } = *fluids;
    let largest = support - 0.5 * spacing;
    for hull in &fluids.hulls {
        let id = hull.body;
        if hull.radius.len() != hull.offset.len() {
            return refuse(format!(
                "fluids are to feel body {id} with {} radii for {} spheres; solver = \"muller2003\" asks for one of each",
                hull.radius.len(),
                hull.offset.len()
            ));
        }
        // A radius that is no number is not at most anything.
        let is_wrong = |radius: &&f64| !(**radius > 0.0 && **radius <= largest * (1.0 + 1e-9));
        if let Some(radius) = hull.radius.iter().find(is_wrong) {
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
        if !(LEAST_RESTITUTION..1.0).contains(&restitution) {
            return refuse(format!(
                "fluid {name:?} has a restitution of {restitution} at bodies; it must be at least {LEAST_RESTITUTION} and below 1: with 1 explicit Euler lets \
                 springs grow at any time step"
            ));
        }
    }
    Ok(())
}

/// Refuses a grain of this radius \[m\] that is to be carried without fluids flowing around it, where that means nothing.
fn check_suspended(fluids: &Fluids, hull: &Hull, radius: f64) -> Result<(), Refusal> {
    let refuse = |what: String| {
        Err(Refusal::Fluid(format!(
            "fluids are to carry body {} as a small grain, {what}",
            hull.body
        )))
    };
    if hull.offset != [[0.0; 3]] {
        return refuse("which has one particle, at its center: give it that".to_owned());
    }
    let largest = LARGEST_SUSPENDED * fluids.support;
    if !(radius > 0.0 && radius <= largest * (1.0 + 1e-9)) {
        return refuse(format!(
            "but its radius is {radius} m; it must be positive and at most {largest:.4e} m, a quarter of the support: use a larger spacing, or give it \
             a hull around which fluids flow"
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
