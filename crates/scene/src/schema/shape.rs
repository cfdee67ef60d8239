//! Keys of shapes.

use super::{Direction, Vector};
use crate::{
    quantity::{Angle, Length, Number, Positive, Quantity},
    words::Word,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use seixo_engine::voxels::Filling;
use serde::de::{
    Deserializer, MapAccess, SeqAccess, Visitor,
    value::{MapAccessDeserializer, SeqAccessDeserializer},
};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// A shape made of spheres: a list of them, a `file` of them, or a `mesh` with the radius of its spheres. Its lengths are its own: how large a
/// clump is, is said where it is used.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShapeSection {
    /// The spheres, which may overlap; or, of a mesh, how large they are.
    pub spheres: Option<ShapeSpheres>,
    /// Text file with a column each for x, y, z and radius, as `seixo spheres` writes it.
    #[schemars(example = &"tablet.csv")]
    pub file: Option<String>,
    /// A mesh that becomes equal spheres: STL, OBJ or PLY.
    #[schemars(example = &"tablet.stl")]
    pub mesh: Option<String>,
    /// Volume, center and inertia of the solid, if they are not those of the mesh, or, where it is not closed or there is none, of the union of the
    /// spheres.
    pub solid: Option<SolidSection>,
}

/// The spheres of a shape.
#[derive(Clone, Debug)]
pub(crate) enum ShapeSpheres {
    /// One by one.
    Listed(Vec<ShapeSphere>),
    /// Those of a mesh.
    Equal(EqualSpheres),
}

/// A sphere of a shape.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShapeSphere {
    /// Its center.
    pub at: [Quantity<Number>; 3],
    /// Its radius.
    pub radius: Quantity<Number, Positive>,
}

/// The spheres that a mesh becomes: those of a grid of cubes as wide as they are.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EqualSpheres {
    /// Their radius, in lengths of the mesh.
    pub radius: Quantity<Number, Positive>,
    /// "surface": where the surface passes through their cubes. "solid": inside, too.
    #[serde(default)]
    pub fill: Word<Filling>,
}

impl<'de> Deserialize<'de> for ShapeSpheres {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = ShapeSpheres;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list such as [{ at = [0, 0, 0], radius = 1 }], or, with a `mesh`, { radius = 0.1, fill = \"solid\" }")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ShapeSpheres, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(ShapeSpheres::Listed)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ShapeSpheres, A::Error> {
                EqualSpheres::deserialize(MapAccessDeserializer::new(map)).map(ShapeSpheres::Equal)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for ShapeSpheres {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ShapeSpheres::Listed(list) => list.serialize(serializer),
            ShapeSpheres::Equal(equal) => equal.serialize(serializer),
        }
    }
}

impl JsonSchema for ShapeSpheres {
    fn schema_name() -> Cow<'static, str> {
        "ShapeSpheres".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "anyOf": [generator.subschema_for::<Vec<ShapeSphere>>(), generator.subschema_for::<EqualSpheres>()] })
    }
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

/// What ties bodies to space, and bears what it does not let through, without friction.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JointSection {
    /// They turn about an axis that stands still.
    Hinge(HingeSection),
    /// A point of them stands still, about which they turn freely.
    Ball(BallSection),
    /// They move along a direction, and do not turn.
    Slider(SliderSection),
}

/// A hinge.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct HingeSection {
    /// A point of the axis; of each body its center of mass if left out.
    pub through: Option<Vector<Length>>,
    /// Direction of the axis, of any length.
    pub axis: Direction,
}

/// A ball joint.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BallSection {
    /// The point that stands still; of each body its center of mass if left out.
    pub through: Option<Vector<Length>>,
}

/// A slider.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SliderSection {
    /// Direction in which they move, of any length.
    pub along: Direction,
}

/// A turn about an axis.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Turn {
    /// Direction of the axis, of any length.
    pub axis: Direction,
    /// Angle, counterclockwise as seen from the tip of the axis.
    pub angle: Quantity<Angle>,
}
