//! Keys of a fill: region, amount, radii, and method of placement.

use super::{BoxShape, Turn, Vector};
use crate::{
    quantity::{Length, NotNegative, Number, Positive, Quantity, UpToOne},
    reader::OneChoice,
    vocabulary::{LARGEST_WHOLE, Lattice, LengthUnit, Method, Scale, Share, WholeNumber, Word},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// A region filled with grains that do not overlap; give `count` or `solid_fraction`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "region": { "box": { "min": [0, 0, 0], "max": ["10 cm", "10 cm", "20 cm"] } }, "count": 1000, "radius": "2 mm" }))]
pub(crate) struct Fill {
    /// Region to fill.
    pub region: Region,
    /// Parts of the region that stay free of grains.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{ "sphere": { "center": ["5 cm", "5 cm", "10 cm"], "radius": "2 cm" } }]))]
    pub minus: Vec<Region>,
    /// Number of grains.
    pub count: Option<WholeNumber<1, LARGEST_WHOLE>>,
    /// Share of the region's volume that the grains fill; of clumps and polyhedra the spheres around them.
    #[schemars(example = 0.3)]
    pub solid_fraction: Option<Quantity<Number, UpToOne>>,
    /// Radii of the grains. Without it, clumps have the size of their shape; spheres need it.
    pub radius: Option<Radius>,
    /// Method of placement. "lattice" if left out: on a lattice, with each grain displaced at random within its free space. "random": random
    /// sequential insertion, the largest first, also free of grains of earlier sections; it ends near a solid fraction of 0.35. "growth": grains are
    /// placed small, grown and pushed apart until they have their size; for dense packings, up to about 0.62. "rain": "random" at a low density, in
    /// the region extended upward as needed, so that grains fall into it; for a box, or a cylinder along gravity. `velocity` of the section gives the
    /// initial speed of the fall.
    #[serde(default)]
    pub method: Word<Method>,
    /// Lattice of the sites; "hexagonal" if left out.
    #[schemars(example = &"cubic")]
    pub lattice: Option<Word<Lattice>>,
    /// Whether the sides of a box are periodic in x, y and z. Grains may then extend across a side, and do not overlap with those at the opposite
    /// side.
    #[schemars(example = serde_json::json!([true, true, false]))]
    pub periodic: Option<[bool; 3]>,
}

/// A part of space.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Region {
    /// A box between two corners.
    Box(BoxShape),
    /// The inside of a cylinder.
    Cylinder(CylinderRegion),
    /// The inside of a truncated cone.
    Cone(ConeRegion),
    /// The inside of a sphere.
    Sphere(SphereRegion),
    /// The inside of a closed mesh.
    Mesh(MeshRegion),
}

/// A part of space that is quickly searched: zones and probes use it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SimpleRegion {
    /// A box between two corners.
    Box(BoxShape),
    /// The inside of a cylinder.
    Cylinder(CylinderRegion),
    /// The inside of a sphere.
    Sphere(SphereRegion),
}

/// The inside of a cylinder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "from": [0, 0, 0], "to": [0, 0, "20 cm"], "radius": "5 cm" }))]
pub(crate) struct CylinderRegion {
    /// Center of one end; a lattice starts there.
    pub from: Vector<Length>,
    /// Center of the other end.
    pub to: Vector<Length>,
    /// Radius.
    pub radius: Quantity<Length, Positive>,
}

/// The inside of a truncated cone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "from": [0, 0, 0], "to": [0, 0, "20 cm"], "radii": ["2 cm", "5 cm"] }))]
pub(crate) struct ConeRegion {
    /// Center of one end; a lattice starts there.
    pub from: Vector<Length>,
    /// Center of the other end.
    pub to: Vector<Length>,
    /// Radii at `from` and at `to`.
    pub radii: [Quantity<Length, NotNegative>; 2],
}

/// The inside of a sphere.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "center": [0, 0, "10 cm"], "radius": "5 cm" }))]
pub(crate) struct SphereRegion {
    /// Center.
    pub center: Vector<Length>,
    /// Radius.
    pub radius: Quantity<Length, Positive>,
}

/// The inside of a closed mesh. A closed part inside another one is a hollow if at least half of its triangles face inward. Other triangles that face
/// inward are flipped.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MeshRegion {
    /// An STL, OBJ or PLY file, or a text table with three vertices per line.
    #[schemars(example = &"vessel.stl")]
    pub file: String,
    /// Unit of the lengths of the mesh; "m" if left out.
    pub unit: Option<LengthUnit>,
    /// Factor for the lengths of the mesh, or their unit.
    #[serde(default)]
    pub scale: Scale,
    /// Rotation of the mesh about the origin of its file, after it is scaled.
    pub rotate: Option<Turn>,
    /// Displacement of the mesh, after it is rotated.
    #[serde(rename = "move")]
    #[schemars(example = serde_json::json!([0, 0, "10 cm"]))]
    pub shift: Option<Vector<Length>>,
}

/// Radii of grains.
#[derive(Clone, Debug)]
pub(crate) enum Radius {
    /// One radius for all.
    One(Quantity<Length, Positive>),
    /// Drawn from a distribution.
    Spread(Distribution),
}

/// A distribution of radii, by number of grains unless stated otherwise.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Distribution {
    /// Smallest and largest radius of a uniform distribution.
    #[schemars(example = serde_json::json!({ "uniform": ["1 mm", "2 mm"] }))]
    Uniform([Quantity<Length, Positive>; 2]),
    /// Mean and standard deviation; cut at three standard deviations.
    #[schemars(example = serde_json::json!({ "normal": ["2 mm", "0.2 mm"] }))]
    Normal([Quantity<Length, Positive>; 2]),
    /// Median, and standard deviation of the natural logarithm; cut at three standard deviations.
    #[schemars(example = serde_json::json!({ "log_normal": ["2 mm", 0.2] }))]
    LogNormal((Quantity<Length, Positive>, Quantity<Number, UpToOne>)),
    /// Scale, below which 63.2 % of the radii are, and shape; the smallest and the largest 0.135 % are cut off.
    #[schemars(example = serde_json::json!({ "weibull": ["2 mm", 4] }))]
    Weibull((Quantity<Length, Positive>, Quantity<Number, Positive>)),
    /// Some radii, each with its share.
    Discrete(Discrete),
    /// Sieve curve: a text file with the columns `diameter[mm]` or `radius[mm]`, and `passing[%]`, the share of the mass that is finer,
    /// `cumulative retained[%]`, or `retained[%]` or `retained[g]` of each sieve. It goes from 0 % to 100 %, finest or coarsest first, and is linear in
    /// between. Grains are drawn so that their masses follow it.
    #[schemars(example = serde_json::json!({ "psd": "sieve.csv" }))]
    Psd(String),
}

/// Some radii, each with its share.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "radii": ["1 mm", "2 mm"], "shares": [0.4, 0.6], "by": "mass" }))]
pub(crate) struct Discrete {
    /// The radii.
    pub radii: Vec<Quantity<Length, Positive>>,
    /// Their shares, which add up to 1.
    pub shares: Vec<Quantity<Number, NotNegative>>,
    /// Kind of the shares: "number" of grains, or "mass".
    pub by: Word<Share>,
}

impl<'de> Deserialize<'de> for Radius {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Radius;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a radius such as \"2 mm\", { uniform = [\"1 mm\", \"2 mm\"] } or { normal = [\"2 mm\", \"0.1 mm\"] }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Radius, E> {
                Quantity::deserialize(text.into_deserializer()).map(Radius::One)
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Radius, E> {
                Quantity::deserialize(value.into_deserializer()).map(Radius::One)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Radius, E> {
                Quantity::deserialize(value.into_deserializer()).map(Radius::One)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Radius, A::Error> {
                Distribution::deserialize(OneChoice(map)).map(Radius::Spread)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for Radius {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Radius::One(radius) => radius.serialize(serializer),
            Radius::Spread(spread) => spread.serialize(serializer),
        }
    }
}

impl JsonSchema for Radius {
    fn schema_name() -> Cow<'static, str> {
        "Radius".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds = [
            generator.subschema_for::<Quantity<Length, Positive>>(),
            generator.subschema_for::<Distribution>(),
        ];
        schemars::json_schema!({ "anyOf": kinds, "examples": ["2 mm"] })
    }
}
