//! Keys of blocks: a solid that is cut into polyhedral grains.

use super::{BoxShape, Direction, Vector};
use crate::{
    quantity::{Length, Positive, Quantity},
    vocabulary::{LARGEST_WHOLE, WholeNumber},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A solid that is cut into the Voronoi cells of random points. Each cell is a polyhedral grain with a shape of its own, and lies on its neighbors face on
/// face.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "box": { "min": [0, 0, 0], "max": ["2 m", "1 m", "1 m"] }, "count": 100, "rounding": "1 cm" }))]
pub(crate) struct Blocks {
    /// Box that the solid fills.
    #[serde(rename = "box")]
    pub box_: BoxShape,
    /// Planes that cut off parts of the box: the solid is on the side to which each normal points.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{ "point": ["2 m", 0, 0], "normal": [-1, 0, -0.5] }]))]
    pub cuts: Vec<Cut>,
    /// Number of blocks.
    #[schemars(example = 100)]
    pub count: WholeNumber<1, 10_000>,
    /// Radius of edges and corners. Faces stay where they are. Overlaps are limited to a share of it.
    #[schemars(example = &"1 cm")]
    pub rounding: Quantity<Length, Positive>,
    /// Number of times that the points move to the centers of their cells, which makes the blocks more alike; 1 if left out.
    #[schemars(example = 3)]
    pub relaxations: Option<WholeNumber<0, 100>>,
    /// Seed of the random points; that of the run if left out. Blocks of other sections differ anyway.
    #[schemars(example = 1)]
    pub seed: Option<WholeNumber<0, LARGEST_WHOLE>>,
}

/// A plane that cuts off a part of a solid.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cut {
    /// A point of the plane.
    pub point: Vector<Length>,
    /// Normal of the plane, of any length; it points into the solid that is left.
    pub normal: Direction,
}
