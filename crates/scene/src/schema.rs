//! The scene file, key by key. Reading, `seixo schema` and the resolved scene all follow these types.

use crate::{
    device::Device,
    quantity::{
        Acceleration, AngularVelocity, Any, BelowOne, Density, Length, NotNegative, Number, PoissonRatio, Positive, Pressure, Quantity,
        Stiffness, Time, UpToOne, Velocity,
    },
    words::{AutoOr, End, Face, LARGEST_WHOLE, Method, Scale, Whole, Word},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use seixo_engine::world::{Leaving, Precision, Search, Settings};
use seixo_files::vtk::Field;
use seixo_laws::contact::{NormalLaw, TangentialLaw};
use serde::de::{self, Deserializer, IntoDeserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// A vector whose components share a dimension.
pub(crate) type Vector<D> = [Quantity<D>; 3];
/// A direction; its length does not matter.
pub(crate) type Direction = [Quantity<Number>; 3];

/// A Seixo scene. Numbers are SI; strings carry units, as in "2 mm".
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SceneFile {
    /// What the scene shows; the file's name if left out.
    pub title: Option<String>,
    /// Version of the scene format.
    #[serde(default)]
    pub version: Whole<1, 1>,
    /// How it is run.
    pub run: RunSection,
    /// Gravity and the box around everything.
    #[serde(default)]
    pub world: WorldSection,
    /// Materials by name.
    #[serde(default)]
    pub material: BTreeMap<String, MaterialSection>,
    /// Pairs of materials, named A-B.
    #[serde(default)]
    pub interaction: BTreeMap<String, InteractionSection>,
    /// Groups of grains by name, numbered in alphabetical order.
    #[serde(default)]
    pub grains: BTreeMap<String, GrainsSection>,
    /// Walls by name.
    #[serde(default)]
    pub wall: BTreeMap<String, WallSection>,
    /// What is written, and how often.
    #[serde(default)]
    pub output: OutputSection,
    /// Checkpoints to resume from.
    #[serde(default)]
    pub checkpoint: CheckpointSection,
    /// Quantities logged over time, by name.
    #[serde(default)]
    pub probe: BTreeMap<String, ProbeSection>,
}

/// How the scene is run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunSection {
    /// Time at which the run ends.
    pub until: Quantity<Time, Positive>,
    /// Time step: "auto" or a value below the stable limit.
    #[serde(default)]
    pub time_step: AutoOr<Quantity<Time, Positive>>,
    /// Where to compute: "cpu", "gpu", "auto" (a GPU where there is one), "cuda", "wgpu", and of several GPUs one as in "gpu:1". "cpu" if
    /// left out, since only the CPU gives the same bits on every machine.
    #[serde(default)]
    pub device: Device,
    /// With how many digits: "f64"; "mixed", coordinates and the velocities that move them in double, all else in single precision; "f32".
    /// "auto" is f64 on the CPU, which has nothing else, and mixed on a GPU.
    #[serde(default)]
    pub precision: AutoOr<Word<Precision>>,
    /// Every random choice follows from it.
    #[serde(default = "first_seed")]
    pub seed: Whole<0, LARGEST_WHOLE>,
    /// Threads; 0 = all cores.
    #[serde(default)]
    pub threads: Whole<0, 4096>,
    /// Overlap above which the run stops, as a fraction of the smaller radius.
    #[serde(default = "usual_overlap_limit")]
    pub overlap_limit: Quantity<Number, UpToOne>,
    /// Local non-viscous damping: the share of each force that opposes the motion.
    #[serde(default)]
    pub local_damping: Quantity<Number, BelowOne>,
    /// How pairs are found; all ways find the same. "auto": "grid" while the largest radius is below twice the smallest, else
    /// "hierarchical_grid", a grid for each size. To be compared: "grid_multi_cell", grains in all cells that they touch; "spatial_hash", which
    /// wide, thinly filled spaces do not cost memory; "brute_force", every pair.
    #[serde(default)]
    pub search: Word<Search>,
    /// Extra reach of the neighbor list: "auto" or a length; 0 rebuilds it at every step.
    #[serde(default)]
    pub skin: AutoOr<Quantity<Length, NotNegative>>,
}

fn first_seed() -> Whole<0, LARGEST_WHOLE> {
    Whole(1)
}

fn usual_overlap_limit() -> Quantity<Number, UpToOne> {
    Quantity::new(Settings::default().overlap_limit)
}

/// Gravity and the box around everything.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WorldSection {
    /// Gravitational acceleration; none if left out.
    #[serde(default)]
    pub gravity: Vector<Acceleration>,
    /// Box in which grains may be; unbounded if left out.
    pub domain: Option<BoxShape>,
    /// What happens to a grain whose center leaves the domain; "error" if left out.
    pub leaving: Option<Word<Leaving>>,
}

/// An isotropic elastic solid.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MaterialSection {
    /// Mass per volume of the solid.
    pub density: Quantity<Density, Positive>,
    /// Young's modulus.
    pub youngs_modulus: Quantity<Pressure, Positive>,
    /// Poisson's ratio.
    pub poisson_ratio: Quantity<Number, PoissonRatio>,
}

/// How two materials act on each other when they touch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InteractionSection {
    /// Law of the normal force; "hertz" if left out.
    pub normal: Option<Word<NormalLaw>>,
    /// Law of the tangential force; "mindlin" with hertz and "linear" with linear if left out.
    pub tangential: Option<Word<TangentialLaw>>,
    /// Speed of separation over speed of approach.
    pub restitution: Quantity<Number, UpToOne>,
    /// Coulomb coefficient; needed unless tangential = "none".
    pub friction: Option<Quantity<Number, NotNegative>>,
    /// Normal spring of the linear law.
    pub stiffness: Option<Quantity<Stiffness, Positive>>,
    /// Tangential spring of the linear law; 2/7 of the normal spring if left out.
    pub tangential_stiffness: Option<Quantity<Stiffness, Positive>>,
}

/// Grains: exactly one of `file`, `fill` and `at`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GrainsSection {
    /// Their material; a `material` column of the file goes first.
    pub material: Option<String>,
    /// Text file with a column each for x, y, z and more, named in its first line.
    pub file: Option<String>,
    /// First and last row to take from the file, counted from 1, or from the end with -1 as the last row.
    pub rows: Option<[i64; 2]>,
    /// By what the lengths of the file are multiplied, or the unit they are in.
    pub scale: Option<Scale>,
    /// A region to be filled.
    pub fill: Option<Fill>,
    /// Centers of single grains.
    pub at: Option<Vec<Vector<Length>>>,
    /// Radius of the grains of `at`, or of a file without radii.
    pub radius: Option<Quantity<Length, Positive>>,
    /// Velocity at the start, added to that of the file.
    #[serde(default)]
    pub velocity: Vector<Velocity>,
    /// Angular velocity at the start, added to that of the file.
    #[serde(default)]
    pub angular_velocity: Vector<AngularVelocity>,
}

/// A region filled with grains that do not overlap: `count` or `solid_fraction`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Fill {
    /// Where the grains are.
    pub region: Region,
    /// How many.
    pub count: Option<Whole<1, LARGEST_WHOLE>>,
    /// Which share of the region they take.
    pub solid_fraction: Option<Quantity<Number, UpToOne>>,
    /// Their radii.
    pub radius: Radius,
    /// How they are placed.
    #[serde(default)]
    pub method: Word<Method>,
}

/// A part of space.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Region {
    /// Between two corners.
    Box(BoxShape),
    /// Inside a cylinder.
    Cylinder(CylinderRegion),
    /// Inside a sphere.
    Sphere(SphereRegion),
}

/// An upright box.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BoxShape {
    /// Lower corner.
    pub min: Vector<Length>,
    /// Upper corner.
    pub max: Vector<Length>,
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

/// The inside of a sphere.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SphereRegion {
    /// Center.
    pub center: Vector<Length>,
    /// Radius.
    pub radius: Quantity<Length, Positive>,
}

/// Radii of the grains of a fill.
#[derive(Clone, Debug)]
pub(crate) enum Radius {
    /// All the same.
    One(Quantity<Length, Positive>),
    /// Drawn from a distribution.
    Spread(Spread),
}

/// A distribution of radii.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Spread {
    /// Smallest and largest, all between equally likely.
    Uniform([Quantity<Length, Positive>; 2]),
    /// Mean and standard deviation, cut at three standard deviations.
    Normal([Quantity<Length, Positive>; 2]),
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
                Spread::deserialize(MapAccessDeserializer::new(map)).map(Radius::Spread)
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

/// A rigid boundary: exactly one of `plane`, `mesh`, `box`, `cylinder` and `cone`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WallSection {
    /// Its material.
    pub material: String,
    /// An infinite plane.
    pub plane: Option<Plane>,
    /// An STL file, or a text table with three vertices a line.
    pub mesh: Option<String>,
    /// By what the lengths of the mesh are multiplied, or the unit they are in.
    pub scale: Option<Scale>,
    /// Six planes around a box; each is a wall named NAME.FACE.
    #[serde(rename = "box")]
    pub box_: Option<BoxWall>,
    /// The mantle of a cylinder, in triangles.
    pub cylinder: Option<CylinderWall>,
    /// The mantle of a cut cone, in triangles.
    pub cone: Option<ConeWall>,
    /// How it moves; at rest if left out.
    #[serde(default)]
    pub motion: Motion,
}

/// An infinite plane; grains are on the side that the normal points to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Plane {
    /// A point of the plane.
    pub point: Vector<Length>,
    /// Its normal, of any length.
    pub normal: Direction,
}

/// A box that grains are inside of.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BoxWall {
    /// Lower corner.
    pub min: Vector<Length>,
    /// Upper corner.
    pub max: Vector<Length>,
    /// Faces left out: left and right in x, front and back in y, bottom and top in z.
    #[serde(default)]
    pub open: Vec<Word<Face>>,
}

/// Triangles around a round wall.
pub(crate) type Segments = Whole<3, 10_000>;

fn usual_segments() -> Segments {
    Whole(64)
}

/// The mantle of a cylinder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CylinderWall {
    /// Center of one end.
    pub from: Vector<Length>,
    /// Center of the other end.
    pub to: Vector<Length>,
    /// Radius of the corners.
    pub radius: Quantity<Length, Positive>,
    /// Number of flat faces around.
    #[serde(default = "usual_segments")]
    pub segments: Segments,
    /// Ends that are closed.
    #[serde(default)]
    pub caps: Vec<Word<End>>,
}

/// The mantle of a cut cone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ConeWall {
    /// Center of one end.
    pub from: Vector<Length>,
    /// Center of the other end.
    pub to: Vector<Length>,
    /// Radii of the corners at `from` and at `to`.
    pub radii: [Quantity<Length, NotNegative>; 2],
    /// Number of flat faces around.
    #[serde(default = "usual_segments")]
    pub segments: Segments,
    /// Ends that are closed.
    #[serde(default)]
    pub caps: Vec<Word<End>>,
}

/// Motion at constant rates.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Motion {
    /// Velocity of the wall and of its axis.
    #[serde(default)]
    pub translate: Vector<Velocity>,
    /// Angular velocity about the axis.
    #[serde(default)]
    pub rotate: Quantity<AngularVelocity, Any>,
    /// Direction of the axis, of any length; needed to rotate.
    pub axis: Option<Direction>,
    /// A point of the axis at the start; needed to rotate.
    pub through: Option<Vector<Length>>,
}

/// What is written, and how often.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OutputSection {
    /// Simulated time between two frames; a hundredth of the run if left out.
    pub every: Option<Quantity<Time, Positive>>,
    /// What frames hold beside id and radius; velocity if left out.
    pub fields: Option<Vec<Word<Field>>>,
    /// Simulated time between two lines of the energy ledger; as `every` if left out.
    pub energies_every: Option<Quantity<Time, Positive>>,
}

/// Checkpoints to resume from.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CheckpointSection {
    /// Wall time between two checkpoints.
    pub every: Quantity<Time, Positive>,
    /// How many are kept: the newest, and the one before it.
    pub keep: Whole<1, 2>,
}

impl Default for CheckpointSection {
    fn default() -> Self {
        CheckpointSection {
            every: Quantity::new(600.0),
            keep: Whole(2),
        }
    }
}

/// A quantity logged over time: exactly one of `position`, `count_through`, `energy`, `group_center` and `wall_force`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ProbeSection {
    /// Simulated time between two lines; as the energy ledger if left out.
    pub every: Option<Quantity<Time, Positive>>,
    /// Position of the grain with this id.
    pub position: Option<Whole<0, { u32::MAX as u64 }>>,
    /// Grains that passed a plane along its normal.
    pub count_through: Option<CountThrough>,
    /// Energies.
    pub energy: Option<bool>,
    /// Center of mass of a group of grains.
    pub group_center: Option<String>,
    /// Force of the grains on a wall.
    pub wall_force: Option<String>,
}

/// A plane to be passed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CountThrough {
    /// The plane; grains are counted as they pass it along the normal.
    pub plane: Plane,
    /// Count only within this distance of the point; everywhere if left out.
    pub radius: Option<Quantity<Length, Positive>>,
}

/// The JSON Schema of scene files, for editors.
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(SceneFile);
    let mut close = schemars::transform::RecursiveTransform(|schema: &mut Schema| {
        if schema.get("properties").is_some() {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
    });
    schemars::transform::Transform::transform(&mut close, &mut schema);
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}
