//! Keys of fluids: what flows, where it is at the start, and how finely it is divided.

use super::{Region, Vector};
use crate::{
    quantity::{
        Angle, Any, Density, Length, NotNegative, Number, Positive, Pressure, Quantity, SpecificEnergy, Stiffness, SurfaceTension,
        Velocity, Viscosity, ZeroToOne,
    },
    words::{AutoOr, FlowPlane, InitialPressure, Whole, Word},
};
use schemars::JsonSchema;
use seixo_engine::world::{Smoothing, Solver, StateLaw, ViscousForce};
use serde::{Deserialize, Serialize};

/// A fluid, divided into particles (smoothed particle hydrodynamics). `spacing`, `support`, `smoothing`, `viscous_force`,
/// `particle_shifting`, `plane`, `solver` and what belongs to it hold for all fluids of a scene: give them in one section, or alike in several.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FluidSection {
    /// Density at zero pressure.
    pub density: Quantity<Density, Positive>,
    /// Dynamic viscosity; 0 if left out.
    #[serde(default)]
    pub viscosity: Quantity<Viscosity, NotNegative>,
    /// How viscosity acts between two particles: "central" if left out, along the line between them, which keeps angular momentum and lets free surfaces
    /// be free of traction; or "morris", as in [Morris 1997], which does neither. Of "wcsph" and "dfsph".
    pub viscous_force: Option<Word<ViscousForce>>,
    /// Whether particles are shifted from where they are dense to where they are sparse; false if left out. For flows without a free surface, at
    /// Reynolds numbers of some hundreds and more, with a `support` of 3. Of "wcsph" alone.
    pub particle_shifting: Option<bool>,
    /// Where it is at the start; only a fluid that comes by an inlet may do without. Particles are on a cubic lattice that begins half a spacing
    /// inside the lower corner of a box, and lies in the middle of other regions. Their ids count fluids in alphabetical order, and then along
    /// x, y and z.
    pub fill: Option<Region>,
    /// Leaves out what would be behind walls that are planes, or faces of boxes, in place of refusing the fluid: for sloping floors.
    #[serde(default)]
    pub cut_at_planes: bool,
    /// Velocity at the start.
    #[serde(default)]
    pub velocity: Vector<Velocity>,
    /// Distance between particles.
    pub spacing: Option<Quantity<Length, Positive>>,
    /// Distance beyond which particles do not see each other, in spacings: twice the smoothing length; if left out 4, with "dfsph" 3, with
    /// "muller2003" 2.
    pub support: Option<Quantity<Number, Positive>>,
    /// Smoothing function: "wendland" (C2) if left out, or "cubic_spline"; "muller2003" has its own.
    pub smoothing: Option<Word<Smoothing>>,
    /// How its motion is found: "wcsph", weakly compressible, if left out; "dfsph", incompressible, for long time steps; or "muller2003", as Müller,
    /// Charypar & Gross did it: fast, rough and springy.
    pub solver: Option<Word<Solver>>,
    /// With "dfsph": excess of density, on average over all particles, that a step may lead to; 2e-5 if left out.
    pub density_error: Option<Quantity<Number, Positive>>,
    /// With "dfsph": by how much the flow after a step may compress particles in another such step, on average; 1e-3 if left out.
    pub divergence_error: Option<Quantity<Number, Positive>>,
    /// With "dfsph": iterations for each of the two after which a step goes on as it is; 100 if left out.
    pub iterations: Option<Whole<2, 100_000>>,
    /// Speed of sound, not that of the real fluid but one at least ten times as fast as the flow, or "auto": ten times the fastest flow that is
    /// expected.
    #[serde(default)]
    pub sound_speed: AutoOr<Quantity<Velocity, Positive>>,
    /// With "muller2003" k of its pressure k (density - density at rest), the square of a speed; if left out 25 times the square of the fastest flow
    /// that is expected.
    pub stiffness: Option<Quantity<SpecificEnergy, Positive>>,
    /// How density becomes pressure: "tait" if left out, or "linear", which "muller2003" always has; "dfsph" has neither.
    pub state: Option<Word<StateLaw>>,
    /// Pressure at rest density: what keeps pressures positive where there is no free surface.
    #[serde(default)]
    pub background_pressure: Quantity<Pressure, NotNegative>,
    /// Artificial viscosity; if left out 0.02 where `viscosity` is 0, else 0. Of "wcsph" and "dfsph".
    pub artificial_viscosity: Option<Quantity<Number, NotNegative>>,
    /// Diffusion of density, which keeps pressures smooth; if left out 0.1, and 0 where there is a surface tension. Of "wcsph" alone.
    pub density_diffusion: Option<Quantity<Number, NotNegative>>,
    /// Surface tension; 0 if left out. Of "wcsph" alone.
    #[serde(default)]
    pub surface_tension: Quantity<SurfaceTension, NotNegative>,
    /// Angle at which the surface of a fluid with a tension meets walls, inside the fluid: from 30° to 130°, and 90° if left out.
    pub contact_angle: Option<Quantity<Angle, Any>>,
    /// By which share of the difference to its neighbors the velocity of a particle follows theirs; 0.5 with "muller2003" if left out, 0 with others,
    /// which have none.
    pub xsph: Option<Quantity<Number, ZeroToOne>>,
    /// With "muller2003" the share of its velocity into a wall with which a particle leaves it; 1 if left out.
    pub restitution: Option<Quantity<Number, ZeroToOne>>,
    /// With "muller2003" and bodies that displace it, stiffness of the spring between a particle and a sphere that overlap; if left out a quarter of
    /// density × stiffness × spacing.
    pub body_stiffness: Option<Quantity<Stiffness, Positive>>,
    /// With them, the share of its velocity onto a heavy body with which a particle leaves it, above 0 and below 1; 0.7 if left out.
    pub body_restitution: Option<Quantity<Number, ZeroToOne>>,
    /// Pressure at the start, beside that of the background: "hydrostatic", as at rest, or "none". Hydrostatic if left out where there is
    /// gravity.
    pub initial_pressure: Option<Word<InitialPressure>>,
    /// Makes the flow one in a plane, "xy", "xz" or "yz": one layer of particles at the coordinate 0 of the other axis, and the section of all
    /// walls there. Masses and forces are then those of a meter of depth.
    pub plane: Option<Word<FlowPlane>>,
    /// The fastest flow that is expected. If left out the largest of: the speed that a fall through the height of all fluid gives, speeds at the
    /// start, speeds of walls and of inlets, and the speed that what comes by an inlet has when it falls to the bottom of all walls.
    pub fastest: Option<Quantity<Velocity, Positive>>,
}
