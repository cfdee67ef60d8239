//! Keys of a fill: a region, an amount, radii, and how grains are placed.

use super::{BoxShape, Vector};
use crate::{
    quantity::{Length, NotNegative, Number, Positive, Quantity, UpToOne},
    reader::OneChoice,
    words::{LARGEST_WHOLE, Lattice, Method, Scale, Share, Whole, Word},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// A region filled with grains that do not overlap: `count` or `solid_fraction`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Fill {
    /// Where the grains are.
    pub region: Region,
    /// Parts of the region that no grain reaches into.
    #[serde(default)]
    pub minus: Vec<Region>,
    /// How many.
    pub count: Option<Whole<1, LARGEST_WHOLE>>,
    /// Which share of the region they take.
    pub solid_fraction: Option<Quantity<Number, UpToOne>>,
    /// Their radii.
    pub radius: Radius,
    /// How they are placed. "lattice" if left out: on a lattice, each moved at random within the slack. "random": the largest first, each at
    /// a random place that is free, also of the grains of earlier sections; ends near a solid fraction of 0.35. "growth": placed small, grown
    /// and pushed apart until they have their size; for dense packings, up to about 0.62. "rain": as "random" and loose, in the region
    /// extended upward as far as needed, so that they fall into it; for a box, or a cylinder along gravity. `velocity` of the section gives
    /// them a speed to fall with.
    #[serde(default)]
    pub method: Word<Method>,
    /// Which lattice; "hexagonal" if left out.
    pub lattice: Option<Word<Lattice>>,
    /// Whether the sides of a box in x, y and z wrap: grains may then cross a side, and do not overlap with those across the other one.
    pub periodic: Option<[bool; 3]>,
}

/// A part of space.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Region {
    /// Between two corners.
    Box(BoxShape),
    /// Inside a cylinder.
    Cylinder(CylinderRegion),
    /// Inside a cut cone.
    Cone(ConeRegion),
    /// Inside a sphere.
    Sphere(SphereRegion),
    /// Inside a closed mesh.
    Mesh(MeshRegion),
}

/// The inside of a cylinder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CylinderRegion {
    /// Center of one end; a lattice starts here.
    pub from: Vector<Length>,
    /// Center of the other end.
    pub to: Vector<Length>,
    /// Radius.
    pub radius: Quantity<Length, Positive>,
}

/// The inside of a cut cone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ConeRegion {
    /// Center of one end; a lattice starts here.
    pub from: Vector<Length>,
    /// Center of the other end.
    pub to: Vector<Length>,
    /// Radii at `from` and at `to`.
    pub radii: [Quantity<Length, NotNegative>; 2],
}

/// The inside of a sphere.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SphereRegion {
    /// Center.
    pub center: Vector<Length>,
    /// Radius.
    pub radius: Quantity<Length, Positive>,
}

/// The inside of a closed mesh; a closed part inside another one is a hollow if at least half of its triangles face inward. Other triangles that face
/// inward are turned over.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MeshRegion {
    /// An STL, OBJ or PLY file, or a text table with three vertices a line.
    #[schemars(example = &"vessel.stl")]
    pub file: String,
    /// By what the lengths of the mesh are multiplied, or the unit they are in.
    #[serde(default)]
    pub scale: Scale,
}

/// Radii of grains.
#[derive(Clone, Debug)]
pub(crate) enum Radius {
    /// All the same.
    One(Quantity<Length, Positive>),
    /// Drawn from a distribution.
    Spread(Spread),
}

/// A distribution of radii, by number of grains unless it says otherwise.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Spread {
    /// Smallest and largest, all between equally likely.
    Uniform([Quantity<Length, Positive>; 2]),
    /// Mean and standard deviation, cut at three standard deviations.
    Normal([Quantity<Length, Positive>; 2]),
    /// Median, and standard deviation of the natural logarithm; cut at three standard deviations.
    LogNormal((Quantity<Length, Positive>, Quantity<Number, UpToOne>)),
    /// Scale, the radius that 63.2 % stay below, and shape; without the 0.135 % at either end.
    Weibull((Quantity<Length, Positive>, Quantity<Number, Positive>)),
    /// Some radii, each with its share.
    Discrete(Discrete),
    /// A sieve curve: a text file with the columns `diameter[mm]` or `radius[mm]`, and `passing[%]`, the share of the mass that is finer. It
    /// runs from 0 to all, finest first, and is straight in between. Grains are drawn so that their masses follow it.
    #[schemars(example = serde_json::json!({ "psd": "sieve.csv" }))]
    Psd(String),
}

/// Some radii, each with its share.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Discrete {
    /// The radii.
    pub radii: Vec<Quantity<Length, Positive>>,
    /// Their shares, which add up to 1.
    pub shares: Vec<Quantity<Number, NotNegative>>,
    /// Shares of what: "number" of grains, or "mass".
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
                Spread::deserialize(OneChoice(map)).map(Radius::Spread)
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
        schemars::json_schema!({ "anyOf": [generator.subschema_for::<Quantity<Length, Positive>>(), generator.subschema_for::<Spread>()] })
    }
}
