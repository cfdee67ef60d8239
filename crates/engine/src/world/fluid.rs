//! Fluids: kinds, particles, boundaries and discretization.

mod body_boundary;
mod kind;
mod shifting;
mod signed_distance;
mod tension;
mod time_step;
mod xsph;

use super::Vec3;
use super::body::Body;
use super::open_boundary::{FluidInlet, FluidOutlet, check_open_boundaries};
use crate::refusal::WorldError;
use crate::world::speed_limit::{BELOW_SPEED_LIMIT, SPEED_LIMIT, speed_of};
use body_boundary::check_body_boundaries;
pub use body_boundary::{BodyBoundary, LARGEST_SUSPENDED};
pub use kind::Fluid;
pub use seixo_laws::fluid::{Smoothing, Space, StateLaw, ViscousForce};
pub use seixo_sweeps::fluid::Solver;
use seixo_sweeps::fluid::WALL;
use shifting::check_shifting;
pub use signed_distance::SignedDistances;
use tension::check_tension;
pub use tension::{CONTACT_ANGLES, MIN_COHESIVE_SUPPORT, capillary_speed};
use xsph::check_xsph;

/// Fluid particles as parallel columns of the same length. All have the same volume at rest, see [`Fluids::volume`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// Unique ids, below 2³¹.
    pub id: Vec<u32>,
    /// Positions \[m\].
    pub position: Vec<Vec3>,
    /// Velocities \[m/s\].
    pub velocity: Vec<Vec3>,
    /// Pressures \[Pa\].
    pub pressure: Vec<f64>,
    /// Index into [`Fluids::kinds`].
    pub kind: Vec<u32>,
}

/// Wall particles in several layers: they carry the pressure of the fluid in front of them and repel it \[Adami 2012\].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WallParticles {
    /// Positions at time zero \[m\].
    pub position: Vec<Vec3>,
    /// Index into [`super::World::walls`]; they move with that wall.
    pub wall: Vec<u32>,
    /// Volumes \[m³\], in a plane \[m²\]; empty if each has the volume of a fluid particle, see [`Fluids::volume`].
    pub volume: Vec<f64>,
}

/// Whether there are as many volumes as particles, all above zero, or none at all.
fn are_volumes(volumes: &[f64], particles: usize) -> bool {
    volumes.is_empty() || volumes.len() == particles && volumes.iter().all(|volume| volume.is_finite() && *volume > 0.0)
}

/// Tolerances of the pressure solver of an incompressible fluid, see [`Solver::Incompressible`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressureTolerance {
    /// Excess of density over the rest density, averaged over all particles, that a step may cause \[-\].
    pub density_error: f64,
    /// Compression that the velocities at the end of a step may cause in a further step, on average, over the rest density \[-\].
    pub divergence_error: f64,
    /// Iterations of either solver after which the step continues without convergence.
    pub iterations: u32,
}

impl PressureTolerance {
    /// Fewest iterations. With one, pressures would not change with the flow where the previous ones are within tolerance.
    pub const MIN: u32 = 2;
}

impl Default for PressureTolerance {
    fn default() -> PressureTolerance {
        PressureTolerance {
            density_error: 2e-5,
            divergence_error: 1e-3,
            iterations: 100,
        }
    }
}

/// The fluids of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluids {
    /// Solver.
    pub solver: Solver,
    /// Tolerances of the pressure solver, for incompressible fluids.
    pub projection: PressureTolerance,
    /// Smoothing function.
    pub smoothing: Smoothing,
    /// Viscous force.
    pub viscous_force: ViscousForce,
    /// Whether particles are shifted toward sparse regions, see [`seixo_laws::fluid::shifting`].
    pub particle_shifting: bool,
    /// Distance between particles at rest \[m\].
    pub spacing: f64,
    /// Support radius H \[m\]: particles farther apart do not interact. The smoothing length h is half of it.
    pub support: f64,
    /// Axis normal to the plane of a two-dimensional flow; `None` in three dimensions. All positions have the same coordinate along it, and masses,
    /// forces and energies are per meter of depth.
    pub across: Option<usize>,
    /// The fluids.
    pub kinds: Vec<Fluid>,
    /// Their particles.
    pub particles: Particles,
    /// Wall particles.
    pub boundary: WallParticles,
    /// Body boundary particles.
    pub body_boundaries: Vec<BodyBoundary>,
    /// For each wall of the world, whether fluids slip freely along it; otherwise they do not slip.
    pub slips: Vec<bool>,
    /// For each wall of the world that is round, whether fluids are inside it; used by [`Solver::Muller2003`] only.
    pub inside: Vec<bool>,
    /// Signed distances of the walls of the world that are meshes; used by [`Solver::Muller2003`] only.
    pub signed_distances: SignedDistances,
    /// Largest expected speed of the flow \[m/s\].
    pub largest_speed: f64,
    /// Inlets.
    pub inlets: Vec<FluidInlet>,
    /// Outlets.
    pub outlets: Vec<FluidOutlet>,
}

impl Particles {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether there are no particles.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }
}

impl Fluids {
    /// Smoothing length h = H/2 \[m\].
    pub fn smoothing_length(&self) -> f64 {
        0.5 * self.support
    }

    /// Whether the flow is three- or two-dimensional.
    pub fn space(&self) -> Space {
        if self.across.is_some() { Space::Plane } else { Space::Volume }
    }

    /// Volume of a particle at rest \[m³\], in a plane \[m²\].
    pub fn volume(&self) -> f64 {
        match self.space() {
            Space::Volume => self.spacing.powi(3),
            Space::Plane => self.spacing.powi(2),
        }
    }

    /// Kinematic viscosity ν = α h c/(2 (d + 2)) that corresponds to the artificial viscosity in d dimensions \[m²/s\].
    pub fn artificial_kinematic_viscosity(&self, fluid: &Fluid) -> f64 {
        fluid.artificial_viscosity * self.smoothing_length() * fluid.sound_speed / self.space().artificial_over_shear()
    }
}

/// Rejects fluids that cannot be simulated in a world with this number of walls.
pub(crate) fn check_fluids(fluids: &Fluids, walls: usize, bodies: &[Body], freezes: bool) -> Result<(), WorldError> {
    let refuse = |what: String| Err(WorldError::Fluid(what));
    check_columns(fluids, walls)?;
    let Fluids { spacing, support, .. } = *fluids;
    if !(spacing.is_finite() && spacing > 0.0 && support.is_finite() && support >= 1.2 * spacing) {
        return refuse(format!(
            "a support of {support} m with a spacing of {spacing} m: it must be at least 1.2 spacings, or particles have no neighbors"
        ));
    }
    check_body_boundaries(fluids, bodies, freezes)?;
    check_shifting(fluids)?;
    for fluid in &fluids.kinds {
        let Fluid { name, sound_speed, .. } = fluid;
        let positive = [("density", fluid.density), ("sound speed", *sound_speed)];
        let at_least_zero = [
            ("viscosity", fluid.viscosity),
            ("artificial viscosity", fluid.artificial_viscosity),
            ("density diffusion", fluid.density_diffusion),
            ("XSPH share", fluid.xsph),
            ("background pressure", fluid.background_pressure),
            ("surface tension", fluid.surface_tension),
        ];
        if let Some((what, value)) = positive.into_iter().find(|(_, x)| !(x.is_finite() && *x > 0.0)) {
            return refuse(format!("fluid {name:?} has a {what} of {value}; it must be positive"));
        }
        if let Some((what, value)) = at_least_zero.into_iter().find(|(_, x)| !(x.is_finite() && *x >= 0.0)) {
            return refuse(format!("fluid {name:?} has a {what} of {value}; it must be zero or more"));
        }
        if fluid.xsph > 1.0 {
            return refuse(format!("fluid {name:?} has an XSPH share of {}; it must be 0 to 1", fluid.xsph));
        }
        if fluids.solver == Solver::Muller2003 {
            check_muller(fluids, fluid)?;
            continue;
        }
        check_xsph(fluids, fluid)?;
        if fluids.solver == Solver::WeaklyCompressible && *sound_speed < 10.0 * fluids.largest_speed * (1.0 - 1e-9) {
            return refuse(format!(
                "fluid {name:?} has a sound speed of {sound_speed} m/s where a flow of {:.3} m/s is expected; it must be ten times as fast, \
                 or densities change by more than 1 %: write sound_speed = {:.4} or leave it out",
                fluids.largest_speed,
                10.0 * fluids.largest_speed
            ));
        }
        if fluids.solver == Solver::WeaklyCompressible {
            check_tension(fluids, fluid)?;
        }
    }
    if fluids.solver == Solver::Incompressible {
        check_projection(fluids)?;
    }
    let Particles {
        id,
        position,
        velocity,
        pressure,
        kind,
    } = &fluids.particles;
    let mut ids = id.clone();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return refuse(format!("two particles of fluids have the id {}; give each its own", pair[0]));
    }
    if let Some(id) = ids.last().filter(|id| **id >= WALL) {
        return refuse(format!(
            "a particle of a fluid has the id {id}; ids must be below 2^31, as those above are of walls: give smaller ids"
        ));
    }
    let finite = |v: &Vec3| v.iter().all(|x| x.is_finite());
    for i in 0..id.len() {
        if !finite(&position[i]) || !finite(&velocity[i]) || !pressure[i].is_finite() || kind[i] as usize >= fluids.kinds.len() {
            return refuse(format!(
                "particle {} at {:?} has a place, a velocity, a pressure or a fluid that is none",
                id[i], position[i]
            ));
        }
        let speed = speed_of(&velocity[i]);
        if speed >= SPEED_LIMIT {
            return refuse(format!(
                "particle {} of a fluid moves at {speed:e} m/s, must be {BELOW_SPEED_LIMIT}; check the unit",
                id[i]
            ));
        }
    }
    check_open_boundaries(fluids)
}

/// Rejects columns whose lengths or indices do not match each other or the walls.
fn check_columns(fluids: &Fluids, walls: usize) -> Result<(), WorldError> {
    let Fluids {
        kinds,
        particles,
        boundary,
        slips,
        ..
    } = fluids;
    let (n, bounding) = (particles.len(), boundary.position.len());
    let lengths = [
        ("place", particles.position.len(), n, "particle"),
        ("velocity", particles.velocity.len(), n, "particle"),
        ("pressure", particles.pressure.len(), n, "particle"),
        ("fluid", particles.kind.len(), n, "particle"),
        ("wall", boundary.wall.len(), bounding, "particle of a wall"),
        ("slip", slips.len(), walls, "wall"),
    ];
    if let Some((what, count, wanted, of)) = lengths.into_iter().find(|(_, count, wanted, _)| count != wanted) {
        return Err(WorldError::Fluid(format!(
            "fluids have {count} times a {what} for {wanted} times a {of}; give every {of} one"
        )));
    }
    if !are_volumes(&boundary.volume, bounding) {
        return Err(WorldError::Fluid(format!(
            "{} volumes are given for {bounding} wall particles; give each one above zero, or none",
            boundary.volume.len()
        )));
    }
    if kinds.is_empty() {
        return Err(WorldError::Fluid(
            "there is no fluid among the fluids of the world; give one, or none of it".to_owned(),
        ));
    }
    for (place, &wall) in boundary.position.iter().zip(&boundary.wall) {
        if wall as usize >= walls || !place.iter().all(|x| x.is_finite()) {
            return Err(WorldError::Fluid(format!(
                "a particle of wall number {wall} is at {place:?}, but walls are numbered from 0, there are {walls}, and places are finite"
            )));
        }
    }
    Ok(())
}

/// Rejects features that the solver of Müller et al. (2003) does not support.
fn check_muller(fluids: &Fluids, fluid: &Fluid) -> Result<(), WorldError> {
    let refuse = |what: String| Err(WorldError::Fluid(what));
    let name = &fluid.name;
    if !(0.0..=1.0).contains(&fluid.restitution) {
        return refuse(format!(
            "fluid {name:?} has a restitution of {}; it must be 0 to 1",
            fluid.restitution
        ));
    }
    if fluid.xsph == 0.0 && fluid.viscosity == 0.0 {
        return refuse(format!(
            "fluid {name:?} has neither a viscosity nor an XSPH share: explicit Euler lets sound in it grow at any time step; write xsph = 0.5, or \
             give it a viscosity"
        ));
    }
    let unknown = [
        ("a background pressure", fluid.background_pressure != 0.0),
        ("an artificial viscosity", fluid.artificial_viscosity != 0.0),
        ("a diffusion of density", fluid.density_diffusion != 0.0),
        ("a surface tension", fluid.surface_tension != 0.0),
        ("Tait's equation of state", fluid.state != StateLaw::Linear),
    ];
    if let Some((what, _)) = unknown.into_iter().find(|(_, is_given)| *is_given) {
        return refuse(format!(
            "fluid {name:?} has {what}, which solver = \"muller2003\" does not know; leave it out, or use solver = \"wcsph\""
        ));
    }
    if fluids.across.is_some() || fluids.smoothing != Smoothing::Poly6 || !fluids.boundary.position.is_empty() {
        return refuse(
            "solver = \"muller2003\" works in space, with its own smoothing functions, and without wall particles; use solver = \"wcsph\" for \
             anything else"
                .to_owned(),
        );
    }
    if !(fluids.inlets.is_empty() && fluids.outlets.is_empty()) {
        return refuse(
            "inlets and outlets are particles that fluid sees as those of walls, which solver = \"muller2003\" does without; leave them out, or use \
             solver = \"wcsph\""
                .to_owned(),
        );
    }
    Ok(())
}

/// Largest ratio of two rest densities at which pressures at the interface are correct.
const MAX_CONTRAST: f64 = 100.0;

/// Rejects settings that an incompressible fluid does not use, and missing ones that it needs.
fn check_projection(fluids: &Fluids) -> Result<(), WorldError> {
    let refuse = |what: String| Err(WorldError::Fluid(what));
    let PressureTolerance {
        density_error,
        divergence_error,
        iterations,
    } = fluids.projection;
    if !(fluids.largest_speed.is_finite() && fluids.largest_speed > 0.0) {
        return refuse(format!(
            "the fastest flow that is expected is {} m/s; the time step of incompressible fluids follows from it: it must be positive",
            fluids.largest_speed
        ));
    }
    for (what, value) in [("density", density_error), ("divergence", divergence_error)] {
        if !(value > 0.0 && value <= 0.1) {
            return refuse(format!(
                "an error of {value} of the {what} is asked for; it must be above 0 and at most 0.1"
            ));
        }
    }
    if iterations < PressureTolerance::MIN {
        return refuse(format!(
            "{iterations} iterations for pressures are too few; it must be at least {}",
            PressureTolerance::MIN
        ));
    }
    let densities = fluids.kinds.iter().map(|fluid| fluid.density);
    let [least, most] = densities.fold([f64::INFINITY, 0.0], |[least, most], density| {
        [density.min(least), density.max(most)]
    });
    if most > MAX_CONTRAST * least {
        return refuse(format!(
            "densities of {least} and {most} kg/m\u{b3} are more than {MAX_CONTRAST} times apart: pressures of incompressible fluids go wrong \
             between them; leave the lighter one out"
        ));
    }
    if let Some(fluid) = fluids.kinds.iter().find(|fluid| fluid.background_pressure > 0.0) {
        return refuse(format!(
            "fluid {:?} has a background pressure of {} Pa; an incompressible fluid has none: leave it out",
            fluid.name, fluid.background_pressure
        ));
    }
    if let Some(fluid) = fluids.kinds.iter().find(|fluid| fluid.surface_tension > 0.0) {
        return refuse(format!(
            "fluid {:?} has a surface tension of {} N/m, which solver = \"dfsph\" does not know; leave it out, or use solver = \"wcsph\"",
            fluid.name, fluid.surface_tension
        ));
    }
    if !(fluids.inlets.is_empty() && fluids.outlets.is_empty()) {
        return refuse(
            "inlets and outlets change what is there between steps, which solver = \"dfsph\" does not know; leave them out, or use solver = \"wcsph\""
                .to_owned(),
        );
    }
    Ok(())
}
