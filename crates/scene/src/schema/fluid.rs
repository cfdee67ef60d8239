//! Keys of fluids: what flows, where it is at the start, and how finely it is divided.

use super::{Region, Vector};
use crate::{
    quantity::{Angle, Any, Density, Length, NotNegative, Number, Positive, Pressure, Quantity, SurfaceTension, Velocity, Viscosity},
    words::{AutoOr, FlowPlane, InitialPressure, Solver, Word},
};
use schemars::JsonSchema;
use seixo_engine::world::{Smoothing, StateLaw};
use serde::{Deserialize, Serialize};

/// A fluid, divided into particles (smoothed particle hydrodynamics). `spacing`, `support`, `smoothing`, `solver` and `plane` hold for all fluids of
/// a scene: give them in one section, or alike in several.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FluidSection {
    /// Density at zero pressure.
    pub density: Quantity<Density, Positive>,
    /// Dynamic viscosity; 0 if left out.
    #[serde(default)]
    pub viscosity: Quantity<Viscosity, NotNegative>,
    /// Where it is at the start. Particles are on a cubic lattice that begins half a spacing inside the lower corner of a box, and lies in the
    /// middle of other regions. Their ids count fluids in alphabetical order, and then along x, y and z.
    pub fill: Region,
    /// Velocity at the start.
    #[serde(default)]
    pub velocity: Vector<Velocity>,
    /// Distance between particles.
    pub spacing: Option<Quantity<Length, Positive>>,
    /// Distance beyond which particles do not see each other, in spacings: twice the smoothing length; 4 if left out.
    pub support: Option<Quantity<Number, Positive>>,
    /// Smoothing function: "wendland" (C2) if left out, or "cubic_spline".
    pub smoothing: Option<Word<Smoothing>>,
    /// How its motion is found: "wcsph", weakly compressible.
    pub solver: Option<Word<Solver>>,
    /// Speed of sound, not that of the real fluid but one at least ten times as fast as the flow, or "auto": ten times the fastest flow that is
    /// expected.
    #[serde(default)]
    pub sound_speed: AutoOr<Quantity<Velocity, Positive>>,
    /// How density becomes pressure: "tait" or "linear".
    #[serde(default)]
    pub state: Word<StateLaw>,
    /// Pressure at rest density: what keeps pressures positive where there is no free surface.
    #[serde(default)]
    pub background_pressure: Quantity<Pressure, NotNegative>,
    /// Artificial viscosity; if left out 0.02 where `viscosity` is 0, else 0.
    pub artificial_viscosity: Option<Quantity<Number, NotNegative>>,
    /// Diffusion of density, which keeps pressures smooth; if left out 0.1, and 0 where there is a surface tension.
    pub density_diffusion: Option<Quantity<Number, NotNegative>>,
    /// Surface tension; 0 if left out.
    #[serde(default)]
    pub surface_tension: Quantity<SurfaceTension, NotNegative>,
    /// Angle at which the surface of a fluid with a tension meets walls, inside the fluid: from 30° to 130°, and 90° if left out.
    pub contact_angle: Option<Quantity<Angle, Any>>,
    /// By which share of the difference to its neighbors a particle moves with them.
    #[serde(default)]
    pub xsph: Quantity<Number, NotNegative>,
    /// Pressure at the start, beside that of the background: "hydrostatic", as at rest, or "none". Hydrostatic if left out where there is
    /// gravity.
    pub initial_pressure: Option<Word<InitialPressure>>,
    /// Makes the flow one in a plane, "xy", "xz" or "yz": one layer of particles at the coordinate 0 of the other axis, and the section of all
    /// walls there. Masses and forces are then those of a meter of depth.
    pub plane: Option<Word<FlowPlane>>,
    /// The fastest flow that is expected. If left out the largest of: the speed that a fall through the height of all fluid gives, speeds at the
    /// start, and speeds of walls.
    pub fastest: Option<Quantity<Velocity, Positive>>,
}
