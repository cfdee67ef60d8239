//! Values of a scene that are neither quantities nor tables: words of a vocabulary, whole numbers, `"auto"`, scales.

use crate::{
    diagnostics::{UnlocatedDiagnostic, did_you_mean},
    quantity,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use seixo_engine::voxels::VoxelFilling;
use seixo_engine::world::{CrossSection, ForceAssembly, LeavingPolicy, LoadBalance, LocallyDamped, Precision, Scheme, Search, Solver};
use seixo_files::vtk::{Encoding, Field};
use seixo_laws::bond::BondLaw;
use seixo_laws::contact::{CohesionLaw, NormalLaw, RollingLaw, TangentialLaw, TwistingLaw};
use seixo_laws::fluid::{Smoothing, StateLaw, ViscousForce};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use std::{borrow::Cow, fmt, marker::PhantomData};

/// A set of words for a scene, each with its meaning.
pub trait Vocabulary: Copy + PartialEq + 'static {
    /// Name of the set.
    const NAME: &'static str;
    /// Every word with its meaning.
    fn words() -> Vec<(String, Self)>;
}

/// One word of a vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Word<T>(pub T);

macro_rules! vocabulary {
    ($($name:ty, $title:literal: $words:expr;)+) => {$(
        impl Vocabulary for $name {
            const NAME: &'static str = $title;
            fn words() -> Vec<(String, Self)> {
                $words.into_iter().map(|(word, meaning)| (word.to_string(), meaning)).collect()
            }
        }
    )+};
}

/// Method by which a fill places its grains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// On a lattice, each displaced at random within its free space.
    #[default]
    Lattice,
    /// Random sequential insertion.
    Random,
    /// Random sequential insertion into a column that extends upward.
    Rain,
    /// Growth from small grains to a dense packing.
    Growth,
}

/// Sites of a lattice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lattice {
    /// Hexagonal close packing.
    #[default]
    Hexagonal,
    /// Simple cubic.
    Cubic,
    /// Body-centered cubic.
    BodyCentered,
    /// Face-centered cubic.
    FaceCentered,
}

/// Kind of the shares of a discrete distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// The number of grains.
    Number,
    /// The mass.
    Mass,
}

/// What grains of a shape are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShapeKind {
    /// Rigid bodies of spheres.
    #[default]
    Clump,
    /// Single grains: convex polyhedra with rounded edges.
    Polyhedron,
}

/// A face of a box, seen along +y with z up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Lowest x.
    Left,
    /// Highest x.
    Right,
    /// Lowest y.
    Front,
    /// Highest y.
    Back,
    /// Lowest z.
    Bottom,
    /// Highest z.
    Top,
}

/// Side of a wall on which its grains are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallSide {
    /// In it, as in a vessel.
    Inside,
    /// Around it, as around an obstacle.
    Outside,
}

/// Kind of a side of the domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Grains that leave are deleted, or are an error.
    #[default]
    Open,
    /// Grains that leave enter on the other side.
    Periodic,
}

/// A direction of the coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// First.
    X,
    /// Second.
    Y,
    /// Third.
    Z,
}

/// An end of a cylinder or cone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At `from`.
    From,
    /// At `to`.
    To,
}

/// Initial pressure of a fluid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialPressure {
    /// Hydrostatic pressure.
    Hydrostatic,
    /// Background pressure only.
    None,
}

/// Plane of a plane flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowPlane {
    /// Normal to z.
    Xy,
    /// Normal to y.
    Xz,
    /// Normal to x.
    Yz,
}

impl FlowPlane {
    /// The axis normal to it, 0 to 2.
    pub fn across(self) -> usize {
        match self {
            FlowPlane::Yz => 0,
            FlowPlane::Xz => 1,
            FlowPlane::Xy => 2,
        }
    }
}

/// Velocity condition of a fluid at a wall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slip {
    /// No slip.
    #[default]
    None,
    /// Free slip.
    Free,
}

vocabulary! {
    Precision, "precision": [Precision::F64, Precision::Mixed, Precision::F32].map(|precision| (precision.name(), precision));
    ForceAssembly, "force assembly": ForceAssembly::ALL.map(|assembly| (assembly.name(), assembly));
    LoadBalance, "balance of load": LoadBalance::ALL.map(|balance| (balance.name(), balance));
    LocallyDamped, "forces with local damping": [("all_forces", LocallyDamped::AllForces), ("all_but_weight", LocallyDamped::AllButWeight)];
    Search, "search": Search::ALL.map(|search| (search.name(), search));
    Scheme, "integrator": Scheme::ALL.map(|(scheme, word)| (word, scheme));
    LeavingPolicy, "leaving": [("delete", LeavingPolicy::Delete), ("error", LeavingPolicy::Error)];
    Method, "fill method": [("lattice", Method::Lattice), ("random", Method::Random), ("rain", Method::Rain), ("growth", Method::Growth)];
    VoxelFilling, "fill": VoxelFilling::ALL.map(|(filling, word)| (word, filling));
    Lattice, "lattice": [("hexagonal", Lattice::Hexagonal), ("cubic", Lattice::Cubic), ("body_centered", Lattice::BodyCentered), ("face_centered", Lattice::FaceCentered)];
    Share, "share": [("number", Share::Number), ("mass", Share::Mass)];
    ShapeKind, "kind of shape": [("clump", ShapeKind::Clump), ("polyhedron", ShapeKind::Polyhedron)];
    Face, "box face": [("left", Face::Left), ("right", Face::Right), ("front", Face::Front), ("back", Face::Back), ("bottom", Face::Bottom), ("top", Face::Top)];
    WallSide, "side of a wall": [("inside", WallSide::Inside), ("outside", WallSide::Outside)];
    Side, "kind of side": [("open", Side::Open), ("periodic", Side::Periodic)];
    Axis, "axis": [("x", Axis::X), ("y", Axis::Y), ("z", Axis::Z)];
    End, "cylinder end": [("from", End::From), ("to", End::To)];
    NormalLaw, "normal law": NormalLaw::ALL.iter().map(|law| (law.keyword(), *law));
    TangentialLaw, "tangential law": TangentialLaw::ALL.iter().map(|law| (law.keyword(), *law));
    CohesionLaw, "law of cohesion": CohesionLaw::ALL.iter().map(|law| (law.keyword(), *law));
    RollingLaw, "law against rolling": RollingLaw::ALL.iter().map(|law| (law.keyword(), *law));
    TwistingLaw, "law against twisting": TwistingLaw::ALL.iter().map(|law| (law.keyword(), *law));
    BondLaw, "law of bonds": BondLaw::ALL.map(|law| (law.keyword(), law));
    CrossSection, "cross-section": CrossSection::ALL.map(|section| (section.name(), section));
    Encoding, "encoding of frames": Encoding::ALL.map(|(encoding, word)| (word, encoding));
    Field, "output field": Field::all().map(|(field, word)| (word, field));
    Smoothing, "smoothing function": Smoothing::ALL.map(|(smoothing, word)| (word, smoothing));
    ViscousForce, "viscous force": ViscousForce::ALL.map(|(force, word)| (word, force));
    StateLaw, "equation of state": StateLaw::ALL.map(|(law, word)| (word, law));
    Solver, "solver": Solver::ALL.map(|(solver, word)| (word, solver));
    InitialPressure, "initial pressure": [("hydrostatic", InitialPressure::Hydrostatic), ("none", InitialPressure::None)];
    FlowPlane, "plane": [("xy", FlowPlane::Xy), ("xz", FlowPlane::Xz), ("yz", FlowPlane::Yz)];
    Slip, "slip": [("none", Slip::None), ("free", Slip::Free)];
}

impl<T: Vocabulary> Word<T> {
    /// As in a scene.
    pub fn text(self) -> String {
        let word = T::words().into_iter().find(|(_, meaning)| *meaning == self.0).map(|(word, _)| word);
        word.unwrap_or_default()
    }
}

impl<'de, T: Vocabulary> Deserialize<'de> for Word<T> {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<T: Vocabulary> Visitor<'_> for Reader<T> {
            type Value = Word<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let words: Vec<String> = T::words().into_iter().map(|(word, _)| word).collect();
                write!(f, "one of {}", words.join(", "))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                let words = T::words();
                words
                    .iter()
                    .find(|(word, _)| word == text)
                    .map(|(_, meaning)| Word(*meaning))
                    .ok_or_else(|| {
                        let known = words.iter().map(|(word, _)| word.as_str());
                        E::custom(UnlocatedDiagnostic::new(format!("unknown {} `{text}`", T::NAME)).remedy(did_you_mean(text, known)))
                    })
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<T: Vocabulary> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<T: Vocabulary> JsonSchema for Word<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": T::words().into_iter().map(|(word, _)| word).collect::<Vec<_>>() })
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeNumber<const MIN: u64, const MAX: u64>(pub u64);

/// The largest whole number in TOML.
pub const LARGEST_WHOLE: u64 = i64::MAX as u64;

impl<const MIN: u64, const MAX: u64> Default for WholeNumber<MIN, MAX> {
    fn default() -> Self {
        WholeNumber(MIN)
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for WholeNumber<MIN, MAX> {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader<const MIN: u64, const MAX: u64>;
        impl<const MIN: u64, const MAX: u64> Visitor<'_> for Reader<MIN, MAX> {
            type Value = WholeNumber<MIN, MAX>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if MIN == MAX {
                    write!(f, "{MIN}")
                } else {
                    write!(f, "a whole number from {MIN} to {MAX}")
                }
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
                match u64::try_from(value) {
                    Ok(value) if (MIN..=MAX).contains(&value) => Ok(WholeNumber(value)),
                    _ => Err(E::invalid_value(de::Unexpected::Signed(value), &self)),
                }
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
                if value.fract() == 0.0 && value.abs() < LARGEST_WHOLE as f64 {
                    self.visit_i64(value as i64)
                } else {
                    Err(E::invalid_value(de::Unexpected::Float(value), &self))
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl<const MIN: u64, const MAX: u64> Serialize for WholeNumber<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<const MIN: u64, const MAX: u64> JsonSchema for WholeNumber<MIN, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("whole number from {MIN} to {MAX}").into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// `"auto"` or a value.
#[derive(Clone, Copy, Debug, Default)]
pub enum AutoOr<T> {
    /// The program chooses.
    #[default]
    Auto,
    /// The user chose.
    Value(T),
}

impl<T: Copy> AutoOr<T> {
    /// The user's value, if any.
    pub fn value(self) -> Option<T> {
        match self {
            AutoOr::Auto => None,
            AutoOr::Value(value) => Some(value),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for AutoOr<T> {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = AutoOr<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"auto\" or a value with its unit")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                if text == "auto" {
                    Ok(AutoOr::Auto)
                } else {
                    T::deserialize(text.into_deserializer()).map(AutoOr::Value)
                }
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(AutoOr::Value)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(AutoOr::Value)
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<T: Serialize> Serialize for AutoOr<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AutoOr::Auto => serializer.serialize_str("auto"),
            AutoOr::Value(value) => value.serialize(serializer),
        }
    }
}

impl<T: JsonSchema> JsonSchema for AutoOr<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("auto or {}", T::schema_name()).into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "auto" }, generator.subschema_for::<T>()] })
    }
}

/// Factor for the lengths of a file, or their unit, as in `"mm"`.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The factor; for a unit, in meters.
    pub factor: f64,
    /// Whether it was given as a unit.
    pub is_unit: bool,
}

impl Default for Scale {
    fn default() -> Self {
        Scale {
            factor: 1.0,
            is_unit: false,
        }
    }
}

/// Reads a unit of length, or a length such as `1 mm`: its length \[m\].
fn meters_of<E: de::Error>(unit: &str) -> Result<f64, E> {
    let has_number = unit.trim_start().starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let one = if has_number { unit.to_owned() } else { format!("1 {unit}") };
    quantity::Quantity::<quantity::Length, quantity::Positive>::deserialize(one.as_str().into_deserializer()).map(|length| length.si)
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Scale;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a factor such as 0.001 or a unit of length such as \"mm\"")
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Scale, E> {
                quantity::Quantity::<quantity::Number, quantity::Positive>::deserialize(value.into_deserializer()).map(|factor| Scale {
                    factor: factor.si,
                    is_unit: false,
                })
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Scale, E> {
                self.visit_f64(value as f64)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Scale, E> {
                meters_of(text).map(|factor| Scale { factor, is_unit: true })
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for Scale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.factor)
    }
}

impl JsonSchema for Scale {
    fn schema_name() -> Cow<'static, str> {
        "scale".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "type": "string", "examples": ["mm"] }] })
    }
}

/// Unit of the lengths of a file, as in `"mm"`.
#[derive(Clone, Debug)]
pub struct LengthUnit {
    /// As written.
    pub symbol: String,
    /// Its length \[m\].
    pub meters: f64,
}

impl<'de> Deserialize<'de> for LengthUnit {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = LengthUnit;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a unit of length such as \"mm\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<LengthUnit, E> {
                meters_of(text).map(|meters| LengthUnit {
                    symbol: text.to_owned(),
                    meters,
                })
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

impl Serialize for LengthUnit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.symbol)
    }
}

impl JsonSchema for LengthUnit {
    fn schema_name() -> Cow<'static, str> {
        "unit".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "examples": ["mm"] })
    }
}
