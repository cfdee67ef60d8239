//! Keys of inlets and outlets of fluids.

use super::{BoxShape, Vector};
use crate::{
    inlet::{Disc, Rectangle},
    quantity::{Length, NotNegative, Positive, Pressure, Quantity, Time, Velocity, Volume, VolumeRate},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Inlet of a fluid: it enters through a part of a plane, along its normal and with uniform velocity. Exactly one of `speed` and `rate`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FluidInletSection {
    /// Name of the fluid; may be left out where the scene has one fluid only.
    #[schemars(example = &"water")]
    pub fluid: Option<String>,
    /// Form and position of the inlet. Behind it are buffer particles, as deep as the support: nothing else may be there.
    pub through: InletShape,
    /// Speed of the fluid that enters.
    #[schemars(example = &"0.5 m/s")]
    pub speed: Option<Quantity<Velocity, Positive>>,
    /// Volume per time; in a plane flow, per meter of depth.
    pub rate: Option<Quantity<VolumeRate, Positive>>,
    /// Time at which the inlet opens; before, it is a wall.
    #[serde(default)]
    #[schemars(example = &"0.1 s")]
    pub from: Quantity<Time, NotNegative>,
    /// Time at which the inlet closes; with the run if left out. Afterwards it is a wall.
    #[schemars(example = &"2 s")]
    pub to: Option<Quantity<Time, Positive>>,
    /// Largest volume that enters; in a plane flow, per meter of depth.
    #[schemars(example = &"1e-3 m^3")]
    pub volume: Option<Quantity<Volume, Positive>>,
}

/// The part of a plane through which a fluid enters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum InletShape {
    /// A disc; fluid enters on the side to which the normal points.
    Disc(Disc),
    /// A rectangle; fluid enters on the side of the cross product of its edges.
    Rectangle(Rectangle),
}

/// Outlet of fluids: it removes fluid that flows through it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FluidOutletSection {
    /// Form and position of the outlet. Behind a disc or a rectangle are buffer particles, as deep as the support and a spacing: no wall may be
    /// there.
    pub through: OutletShape,
    /// Pressure behind a disc or a rectangle; that of the background if left out.
    #[schemars(example = &"1 kPa")]
    pub pressure: Option<Quantity<Pressure, NotNegative>>,
    /// Point at which `pressure` applies. Elsewhere the pressure is hydrostatic, but not below zero. The same everywhere if left out.
    pub level: Option<Vector<Length>>,
}

/// The form of an outlet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutletShape {
    /// A disc; fluid leaves on the side to which the normal points.
    Disc(Disc),
    /// A rectangle; fluid leaves on the side of the cross product of its edges.
    Rectangle(Rectangle),
    /// A box between two corners, in which fluid is removed at once.
    Box(BoxShape),
}
