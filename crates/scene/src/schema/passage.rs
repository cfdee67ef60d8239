//! Keys of inlets and outlets of fluids.

use super::{BoxShape, Vector};
use crate::{
    inlet::{Disc, Rectangle},
    quantity::{Length, NotNegative, Positive, Pressure, Quantity, Time, Velocity, Volume, VolumeRate},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A way in for a fluid: it comes through a part of a plane, along its normal and with one velocity. Exactly one of `speed` and `rate`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FluidInletSection {
    /// What comes, by its name; may be left out where the scene has one fluid only.
    #[schemars(example = &"water")]
    pub fluid: Option<String>,
    /// Where. Behind it stand particles that are on their way, as deep as the support: nothing else may be there.
    pub through: Mouth,
    /// How fast it comes.
    pub speed: Option<Quantity<Velocity, Positive>>,
    /// How much comes: volume per time; in a plane, that of a meter of depth.
    pub rate: Option<Quantity<VolumeRate, Positive>>,
    /// Time at which it begins; before, it is a wall.
    #[serde(default)]
    pub from: Quantity<Time, NotNegative>,
    /// Time at which it ends; with the run if left out. Behind it, it is a wall.
    pub to: Option<Quantity<Time, Positive>>,
    /// How much comes at most; in a plane, that of a meter of depth.
    pub volume: Option<Quantity<Volume, Positive>>,
}

/// The part of a plane through which a fluid comes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mouth {
    /// A disc; fluid comes on the side that its normal points to.
    Disc(Disc),
    /// A rectangle; fluid comes on the side of the cross product of its edges.
    Rectangle(Rectangle),
}

/// A way out for fluids: what goes through it is taken away.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FluidOutletSection {
    /// Where. Behind a disc or a rectangle stand particles that are leaving, as deep as the support and a spacing: no wall is there.
    pub through: Drain,
    /// Pressure behind a disc or a rectangle; that of the background if left out.
    pub pressure: Option<Quantity<Pressure, NotNegative>>,
    /// A point at which that is the pressure: elsewhere it is that of fluid at rest, but not below zero. The same everywhere if left out.
    pub level: Option<Vector<Length>>,
}

/// The form of a way out.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Drain {
    /// A disc; fluid leaves to the side that its normal points to.
    Disc(Disc),
    /// A rectangle; fluid leaves to the side of the cross product of its edges.
    Rectangle(Rectangle),
    /// A box between two corners, in which fluid is taken away at once.
    Box(BoxShape),
}
