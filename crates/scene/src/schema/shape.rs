//! Keys of shapes.

use super::{Direction, Vector};
use crate::{
    quantity::{Angle, Length, Number, Positive, Quantity},
    vocabulary::{LARGEST_WHOLE, LengthUnit, Scale, ShapeKind, WholeNumber, Word},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use seixo_engine::voxels::VoxelFilling;
use serde::de::{
    Deserializer, MapAccess, SeqAccess, Visitor,
    value::{MapAccessDeserializer, SeqAccessDeserializer},
};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// Most convex parts of a polyhedron: all of them are compared with those of another grain.
pub(crate) const MOST_PARTS: u64 = 64;

/// A shape made of spheres: a list of them, a `file` of them, or a `mesh` with the radius of its spheres. With kind = "polyhedron", a convex polyhedron
/// with rounded edges, by one of `mesh`, `box`, `tetrahedron`, `cylinder`, `capsule`, `tablet` and `rock`, or several by `parts`. A `radius` in the section of grains that uses
/// the shape gives another size.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShapeSection {
    /// What grains of this shape are. "clump": rigid bodies of spheres. "polyhedron": single grains with rounded edges, convex or of convex parts. "clump" if left out.
    #[schemars(example = &"polyhedron")]
    pub kind: Option<Word<ShapeKind>>,
    /// List of the spheres, which may overlap; or, with a mesh, their radius.
    #[schemars(example = serde_json::json!([{ "at": [0, 0, 0], "radius": 1 }, { "at": [0, 0, 1], "radius": 0.8 }]))]
    pub spheres: Option<ShapeSpheres>,
    /// Text file with the columns x, y, z and radius, as `seixo spheres` writes it.
    #[schemars(example = &"tablet.csv")]
    pub file: Option<String>,
    /// Mesh that is voxelized into equal spheres, or around which the polyhedron is: STL, OBJ or PLY.
    #[schemars(example = &"tablet.stl")]
    pub mesh: Option<String>,
    /// Polyhedron of several convex parts: a mesh of each, in the same lengths. Parts may overlap, and should.
    #[schemars(example = serde_json::json!(["stem.obj", "foot.obj"]))]
    pub parts: Option<Vec<String>>,
    /// Polyhedron from a concave mesh: largest number of convex parts into which it is cut. Volume, center and inertia are those of the mesh.
    #[schemars(example = 8)]
    pub convex_parts: Option<WholeNumber<2, MOST_PARTS>>,
    /// Polyhedron: radius of its edges and corners, in lengths of the shape. The faces stay where they are. Overlaps are limited to a share of it.
    #[schemars(example = 0.1)]
    pub rounding: Option<Quantity<Number, Positive>>,
    /// Polyhedron from meshes: largest number of faces of each; the vertices that matter most are kept. All faces if left out.
    #[schemars(example = 40)]
    pub faces: Option<WholeNumber<4, 200>>,
    /// Polyhedron: box with these edges along x, y and z.
    #[serde(rename = "box")]
    #[schemars(example = serde_json::json!([1, 1, 1]))]
    pub box_: Option<[Quantity<Number, Positive>; 3]>,
    /// Polyhedron: regular tetrahedron with this edge before it is rounded.
    #[schemars(example = 1)]
    pub tetrahedron: Option<Quantity<Number, Positive>>,
    /// Polyhedron: regular prism along z in place of a cylinder.
    pub cylinder: Option<CylinderShape>,
    /// Polyhedron: all that is near enough to a segment along z.
    pub capsule: Option<CapsuleShape>,
    /// Polyhedron: cylinder along z with rounded caps.
    pub tablet: Option<TabletShape>,
    /// Polyhedron: Voronoi cell, as random as gravel.
    pub rock: Option<RockShape>,
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

impl ShapeSection {
    /// Whether its grains are polyhedra.
    pub(crate) fn is_polyhedron(&self) -> bool {
        self.kind == Some(Word(ShapeKind::Polyhedron))
    }

    /// The keys that give a polyhedron by some numbers, and whether each is there.
    pub(crate) fn solids(&self) -> [(&'static str, bool); 6] {
        [
            ("box", self.box_.is_some()),
            ("tetrahedron", self.tetrahedron.is_some()),
            ("cylinder", self.cylinder.is_some()),
            ("capsule", self.capsule.is_some()),
            ("tablet", self.tablet.is_some()),
            ("rock", self.rock.is_some()),
        ]
    }

    /// The first key that is there and only for polyhedra.
    pub(crate) fn key_of_polyhedra(&self) -> Option<&'static str> {
        let others = [
            ("parts", self.parts.is_some()),
            ("convex_parts", self.convex_parts.is_some()),
            ("rounding", self.rounding.is_some()),
            ("faces", self.faces.is_some()),
        ];
        let mut all = self.solids().into_iter().chain(others);
        all.find(|(_, is_given)| *is_given).map(|(key, _)| key)
    }
}

/// Number of sides of a prism.
pub(crate) type Sides = WholeNumber<3, 16>;

/// A prism in place of a cylinder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "radius": 1, "height": 2 }))]
pub(crate) struct CylinderShape {
    /// Distance of the corners from the axis, before they are rounded.
    pub radius: Quantity<Number, Positive>,
    /// Height.
    pub height: Quantity<Number, Positive>,
    /// Number of sides; 12 if left out.
    #[schemars(example = 12)]
    pub sides: Option<Sides>,
}

/// A capsule.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "radius": 1, "length": 4 }))]
pub(crate) struct CapsuleShape {
    /// Radius.
    pub radius: Quantity<Number, Positive>,
    /// Length with both ends, above two radii.
    pub length: Quantity<Number, Positive>,
}

/// A tablet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "radius": 4, "band": 2, "cap": 1 }))]
pub(crate) struct TabletShape {
    /// Distance of the corners from the axis, before they are rounded.
    pub radius: Quantity<Number, Positive>,
    /// Height of the cylinder between the caps.
    pub band: Quantity<Number, Positive>,
    /// Height of each cap, a part of a sphere; at most the radius.
    pub cap: Quantity<Number, Positive>,
    /// Number of sides; 12 if left out.
    #[schemars(example = 12)]
    pub sides: Option<Sides>,
}

/// A random rock.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "widths": [3, 2, 1.5] }))]
pub(crate) struct RockShape {
    /// Widths along x, y and z, before edges are rounded.
    pub widths: [Quantity<Number, Positive>; 3],
    /// Number of neighbors of the Voronoi cell: most of them make a face. 18 if left out.
    #[schemars(example = 18)]
    pub neighbors: Option<WholeNumber<8, 100>>,
    /// Seed of its random numbers; that of the run if left out. Rocks of other names differ anyway.
    #[schemars(example = 1)]
    pub seed: Option<WholeNumber<0, LARGEST_WHOLE>>,
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
