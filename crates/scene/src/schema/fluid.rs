//! Keys of fluids: their properties, solver, particles and initial state.

use super::{Region, Vector};
use crate::{
    quantity::{
        Angle, Any, Density, Length, NotNegative, Number, Positive, Pressure, Quantity, SpecificEnergy, Stiffness, SurfaceTension,
        Velocity, Viscosity, ZeroToOne,
    },
    vocabulary::{AutoOr, FlowPlane, InitialPressure, WholeNumber, Word},
};
use schemars::JsonSchema;
use seixo_engine::world::{Smoothing, Solver, StateLaw, ViscousForce};
use serde::{Deserialize, Serialize};

/// A fluid, discretized into particles (smoothed particle hydrodynamics). `spacing`, `support`, `smoothing`, `viscous_force`, `particle_shifting`,
/// `plane`, `solver` and the keys of the solver are common to all fluids of a scene: give them in one section, or equally in several.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FluidSection {
    /// Density at zero pressure.
    #[schemars(example = &"1000 kg/m^3")]
    pub density: Quantity<Density, Positive>,
    /// Dynamic viscosity; 0 if left out.
    #[serde(default)]
    pub viscosity: Quantity<Viscosity, NotNegative>,
    /// Viscous force between two particles: "central" if left out, along the line between them, which conserves angular momentum and leaves free
    /// surfaces without traction; or "morris", as in [Morris 1997], which does neither. For "wcsph" and "dfsph".
    #[schemars(example = &"morris")]
    pub viscous_force: Option<Word<ViscousForce>>,
    /// Whether particles are shifted from dense to sparse places; false if left out. For flows without a free surface, at Reynolds numbers of some
    /// hundreds and more, with a `support` of 3. For "wcsph" only.
    pub particle_shifting: Option<bool>,
    /// Region of the fluid at the start; only a fluid with an inlet may omit it. Particles are on a cubic lattice. In a box it begins half a spacing
    /// inside the lower corner; in other regions it is centered. Ids count fluids in alphabetical order, and then along x, y and z.
    pub fill: Option<Region>,
    /// Cuts the fluid at walls that are planes, or faces of boxes, instead of refusing fluid behind them: for sloping floors.
    #[serde(default)]
    pub cut_at_planes: bool,
    /// Velocity at the start.
    #[serde(default)]
    pub velocity: Vector<Velocity>,
    /// Distance between particles at rest.
    #[schemars(example = &"5 mm")]
    pub spacing: Option<Quantity<Length, Positive>>,
    /// Radius beyond which the smoothing function is zero, in spacings: twice the smoothing length; if left out 4, with "dfsph" 3, with "muller2003"
    /// 2.
    #[schemars(example = 3)]
    pub support: Option<Quantity<Number, Positive>>,
    /// Smoothing function (kernel): "wendland" (C2) if left out, or "cubic_spline"; "muller2003" has its own.
    #[schemars(example = &"cubic_spline")]
    pub smoothing: Option<Word<Smoothing>>,
    /// Solver: "wcsph", weakly compressible, if left out; "dfsph", incompressible, for long time steps; or "muller2003" of Müller, Charypar & Gross
    /// (2003): fast, rough and springy.
    #[schemars(example = &"dfsph")]
    pub solver: Option<Word<Solver>>,
    /// With "dfsph": tolerance for the excess of density after a step, averaged over all particles; 2e-5 if left out.
    #[schemars(example = 1e-4)]
    pub density_error: Option<Quantity<Number, Positive>>,
    /// With "dfsph": tolerance for the compression that the flow after a step would cause in another such step, on average; 1e-3 if left out.
    #[schemars(example = 1e-3)]
    pub divergence_error: Option<Quantity<Number, Positive>>,
    /// With "dfsph": largest number of iterations for each of the two tolerances, after which the step is accepted anyway; 100 if left out.
    #[schemars(example = 100)]
    pub iterations: Option<WholeNumber<2, 100_000>>,
    /// Numerical speed of sound, not that of the real fluid: at least ten times the speed of the flow, or "auto": ten times the largest expected
    /// speed.
    #[serde(default)]
    #[schemars(example = &"30 m/s")]
    pub sound_speed: AutoOr<Quantity<Velocity, Positive>>,
    /// With "muller2003": k in the pressure k (density − rest density), the square of a speed; if left out 25 times the square of the largest
    /// expected speed.
    pub stiffness: Option<Quantity<SpecificEnergy, Positive>>,
    /// Equation of state, from density to pressure: "tait" if left out, or "linear", which "muller2003" always has; "dfsph" has neither.
    #[schemars(example = &"linear")]
    pub state: Option<Word<StateLaw>>,
    /// Pressure at rest density; it keeps pressures positive in flows without a free surface.
    #[serde(default)]
    #[schemars(example = &"1 kPa")]
    pub background_pressure: Quantity<Pressure, NotNegative>,
    /// Artificial viscosity; if left out 0.02 where `viscosity` is 0, else 0. For "wcsph" and "dfsph".
    #[schemars(example = 0.05)]
    pub artificial_viscosity: Option<Quantity<Number, NotNegative>>,
    /// Diffusion of density, which smooths pressures; if left out 0.1, and 0 where there is a surface tension. For "wcsph" only.
    #[schemars(example = 0.1)]
    pub density_diffusion: Option<Quantity<Number, NotNegative>>,
    /// Surface tension; 0 if left out. For "wcsph" only.
    #[serde(default)]
    pub surface_tension: Quantity<SurfaceTension, NotNegative>,
    /// Contact angle of the free surface at walls, measured inside the fluid, for fluids with surface tension, from 30° to 130°; 90° if left out.
    #[schemars(example = &"60 deg")]
    pub contact_angle: Option<Quantity<Angle, Any>>,
    /// XSPH coefficient: share of the velocity difference to its neighbors that is added to the velocity of a particle with "muller2003", and with
    /// "wcsph" only to the velocity with which it moves; if left out 0.5 with "muller2003", else 0. Not for "dfsph", nor with `particle_shifting`.
    pub xsph: Option<Quantity<Number, ZeroToOne>>,
    /// With "muller2003": restitution at walls, the speed away from the wall over the speed toward it; 1 if left out.
    pub restitution: Option<Quantity<Number, ZeroToOne>>,
    /// With "muller2003" and bodies that displace the fluid: stiffness of the spring between a particle and a sphere that overlap; if left out a
    /// quarter of density × stiffness × spacing.
    pub body_stiffness: Option<Quantity<Stiffness, Positive>>,
    /// With "muller2003" and bodies that displace the fluid: restitution at a heavy body, above 0 and below 1; if left out 0.7.
    pub body_restitution: Option<Quantity<Number, ZeroToOne>>,
    /// Pressure at the start, besides the background pressure: "hydrostatic", as at rest, or "none". Hydrostatic if left out where there is gravity.
    #[schemars(example = &"none")]
    pub initial_pressure: Option<Word<InitialPressure>>,
    /// Plane flow in "xy", "xz" or "yz": one layer of particles at the coordinate 0 of the third axis, and the section of all walls there. Masses and
    /// forces are per meter of depth.
    #[schemars(example = &"xz")]
    pub plane: Option<Word<FlowPlane>>,
    /// Largest expected speed of the flow. If left out the largest of: the speed of a fall through the height of all fluid, speeds at the start,
    /// speeds of walls and of inlets, and the speed of fluid from an inlet after a fall to the bottom of all walls.
    #[schemars(example = &"2 m/s")]
    pub fastest: Option<Quantity<Velocity, Positive>>,
}
