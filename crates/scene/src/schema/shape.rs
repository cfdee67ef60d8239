//! Keys of shapes.

use super::{Direction, Vector};
use crate::{
    quantity::{Angle, Length, Number, Positive, Quantity},
    vocabulary::{LengthUnit, Scale, Word},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use seixo_engine::voxels::VoxelFilling;
use serde::de::{
    Deserializer, MapAccess, SeqAccess, Visitor,
    value::{MapAccessDeserializer, SeqAccessDeserializer},
};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// A shape made of spheres: a list of them, a `file` of them, or a `mesh` with the radius of its spheres. A `radius` in the section of grains that uses
/// the shape gives another size.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShapeSection {
    /// List of the spheres, which may overlap; or, with a mesh, their radius.
    #[schemars(example = serde_json::json!([{ "at": [0, 0, 0], "radius": 1 }, { "at": [0, 0, 1], "radius": 0.8 }]))]
    pub spheres: Option<ShapeSpheres>,
    /// Text file with the columns x, y, z and radius, as `seixo spheres` writes it.
    #[schemars(example = &"tablet.csv")]
    pub file: Option<String>,
    /// Mesh that is voxelized into equal spheres: STL, OBJ or PLY.
    #[schemars(example = &"tablet.stl")]
    pub mesh: Option<String>,
    /// Unit of the lengths of the shape, of its file or of its mesh; "m" if left out. It counts for clumps without a `radius`.
    pub unit: Option<LengthUnit>,
    /// Factor for these lengths, or their unit.
    pub scale: Option<Scale>,
    /// Rotation of the shape, as of a mesh whose vertical axis is y. `orientation` in the section of grains is relative to the rotated shape.
    #[schemars(example = serde_json::json!({ "axis": [1, 0, 0], "angle": "90 deg" }))]
    pub rotate: Option<Turn>,
    /// Volume, center and inertia of the solid. Without them, those of the mesh are used if it is closed, else those of the union of the spheres.
    pub solid: Option<SolidSection>,
}

/// The spheres of a shape.
#[derive(Clone, Debug)]
pub(crate) enum ShapeSpheres {
    /// A list of spheres.
    Listed(Vec<ShapeSphere>),
    /// Equal spheres from a mesh.
    Equal(EqualSpheres),
}

/// A sphere of a shape.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShapeSphere {
    /// Center of the sphere.
    pub at: [Quantity<Number>; 3],
    /// Radius of the sphere.
    pub radius: Quantity<Number, Positive>,
}

/// Equal spheres from a mesh: one per cube of a grid whose cubes have the width of a sphere.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EqualSpheres {
    /// Radius of the spheres, in lengths of the mesh.
    pub radius: Quantity<Number, Positive>,
    /// "surface": spheres in the cubes that the surface intersects. "solid": also in the cubes inside.
    #[serde(default)]
    pub fill: Word<VoxelFilling>,
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

/// Volume, center and inertia of a solid of density one, in lengths of the shape.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "volume": 1, "center": [0, 0, 0], "inertia": [0.17, 0.17, 0.17, 0, 0, 0] }))]
pub(crate) struct SolidSection {
    /// Volume of the solid.
    pub volume: Quantity<Number, Positive>,
    /// Center of mass.
    pub center: [Quantity<Number>; 3],
    /// Inertia tensor about the center of mass: xx, yy, zz, xy, xz, yz, where xy = −∫ x y dV.
    pub inertia: [Quantity<Number>; 6],
}

/// Joint between bodies and space; it carries the forces and torques of the constrained directions, without friction.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JointSection {
    /// Bodies rotate about an axis at rest.
    Hinge(HingeSection),
    /// Bodies rotate freely about a point at rest.
    Ball(BallSection),
    /// Bodies move along a direction without rotation.
    Slider(SliderSection),
}

/// A hinge.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct HingeSection {
    /// A point of the axis; the center of mass of each body if left out.
    pub through: Option<Vector<Length>>,
    /// Direction of the axis, of any length.
    pub axis: Direction,
}

/// A ball joint.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BallSection {
    /// The point at rest; the center of mass of each body if left out.
    pub through: Option<Vector<Length>>,
}

/// A slider.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SliderSection {
    /// Direction of the motion, of any length.
    pub along: Direction,
}

/// A rotation about an axis.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Turn {
    /// Direction of the axis, of any length.
    pub axis: Direction,
    /// Angle, counterclockwise when seen from the tip of the axis.
    pub angle: Quantity<Angle>,
}
