//! Keys of shapes.

use super::Direction;
use crate::quantity::{Angle, Number, Positive, Quantity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A shape made of spheres. Its lengths are its own: how large a clump is, is said where it is used.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShapeSection {
    /// The spheres; they may overlap.
    pub spheres: Vec<ShapeSphere>,
    /// Volume, center and inertia of the solid, if they are not those of the union of the spheres.
    pub solid: Option<SolidSection>,
}

/// A sphere of a shape.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShapeSphere {
    /// Its center.
    pub at: [Quantity<Number>; 3],
    /// Its radius.
    pub radius: Quantity<Number, Positive>,
}

/// What a shape weighs and how hard it is to turn, at density one, in lengths of the shape.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SolidSection {
    /// Volume of the solid.
    pub volume: Quantity<Number, Positive>,
    /// Its center of mass.
    pub center: [Quantity<Number>; 3],
    /// Its inertia tensor about the center of mass: xx, yy, zz, xy, xz, yz, where xy = −∫ x y dV.
    pub inertia: [Quantity<Number>; 6],
}

/// A turn about an axis.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Turn {
    /// Direction of the axis, of any length.
    pub axis: Direction,
    /// Angle, counterclockwise as seen from the tip of the axis.
    pub angle: Quantity<Angle>,
}
