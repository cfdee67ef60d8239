//! What a scene asks to see: frames, tables, probes.

use super::{BoxShape, Direction, Plane, Region, Vector};
use crate::{
    quantity::{Length, Positive, Quantity, Time},
    words::{Whole, Word},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use seixo_files::vtk::Field;
use serde::de::{self, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// What is written, and how often.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OutputSection {
    /// Simulated time between two frames; a hundredth of the run if left out.
    pub every: Option<Quantity<Time, Positive>>,
    /// What frames hold beside id and radius; velocity if left out.
    pub fields: Option<Vec<Word<Field>>>,
    /// Simulated time between two lines of the energy ledger; as `every` if left out.
    pub energies_every: Option<Quantity<Time, Positive>>,
    /// Whether the contacts of each frame are written, with their forces and force chains.
    #[serde(default)]
    pub contacts: bool,
    /// Whether the free surface of the fluids of each frame is written, as a mesh.
    #[serde(default)]
    pub surface: bool,
    /// Coarse-grained fields of each frame; none if left out.
    pub coarse: Option<CoarseSection>,
}

/// Fields on a grid, coarse-grained from grains, contacts and bonds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CoarseSection {
    /// Where the points of the grid are.
    pub region: BoxShape,
    /// Distance of neighboring points.
    pub spacing: Quantity<Length, Positive>,
    /// Width of the kernel, at least the spacing; it ends at twice its width.
    pub width: Quantity<Length, Positive>,
}

/// A quantity logged over time: exactly one of the keys besides `every`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ProbeSection {
    /// Simulated time between two lines; as the energy ledger if left out.
    pub every: Option<Quantity<Time, Positive>>,
    /// Position of the grain with this id; in the domain where sides are periodic.
    pub position: Option<Whole<0, { u32::MAX as u64 }>>,
    /// Grains that passed a plane along its normal, their mass, and mass per time; through periodic sides they pass each time that they come around.
    pub count_through: Option<CountThrough>,
    /// Energies.
    pub energy: Option<bool>,
    /// Center of mass of a group of grains; not a number along a periodic axis that the group reaches all the way around.
    #[schemars(example = &"bed")]
    pub group_center: Option<String>,
    /// Force on a group of grains by all that touches, bonds or loads it, fluids included, without gravity; of a boundary, what it is pushed with.
    #[schemars(example = &"bed")]
    pub group_force: Option<String>,
    /// How many bonds were made, and how many hold.
    pub bonds: Option<bool>,
    /// Into how many fragments, and how large ones, grains fell that bonds held: of all that are, or were, bonded with `true`; of the grains of
    /// some sections with { groups = ["NAME"] }, bonded or not.
    pub fragments: Option<FragmentsOf>,
    /// Force of grains and fluids on a wall.
    #[schemars(example = &"lid")]
    pub wall_force: Option<String>,
    /// Torque of grains and fluids on a wall, about the point that its axis goes through; about the origin if it has none.
    #[schemars(example = &"drum")]
    pub wall_torque: Option<String>,
    /// Where a wall is: the middle of the box around it, of a plane its point; and the angle that it turned.
    #[schemars(example = &"lid")]
    pub wall_position: Option<String>,
    /// Volume that sliding grains took from a wall that wears.
    #[schemars(example = &"liner")]
    pub worn_volume: Option<String>,
    /// Mean stress in a region, by contacts and bonds, and by motion.
    pub stress: Option<InVolume>,
    /// How a group of grains is deformed since the start.
    pub strain: Option<StrainOf>,
    /// Directions of the contacts between grains.
    pub fabric: Option<Inside>,
    /// Contacts per grain.
    pub coordination: Option<Inside>,
    /// Share of a region that grains fill.
    pub solid_fraction: Option<InVolume>,
    /// How well groups are mixed.
    pub mixing: Option<MixingOf>,
    /// Mean temperature of a group of grains, by mass, with its lowest and highest.
    #[schemars(example = &"bed")]
    pub group_temperature: Option<String>,
    /// Heat flow from a wall into the grains, and the heat that it gave since the start.
    #[schemars(example = &"drum")]
    pub wall_heat: Option<String>,
    /// Where heat is and where it went.
    pub heat: Option<bool>,
    /// All fluids: how many particles, their mass and kinetic energy, root mean square and largest of their speeds, the largest over the speed of
    /// sound, the largest pressure, the smallest and largest density over that at rest.
    pub fluid: Option<bool>,
    /// Pressure of fluids at points: the mean over the particles within the support, by what each fills of the surroundings.
    pub fluid_pressure: Option<AtPoints>,
    /// Velocity of fluids at points: the same mean.
    pub fluid_velocity: Option<AtPoints>,
    /// Height of the free surface, where gravity points along -z: the largest z at which fluids fill half of the surroundings. Walls are not
    /// counted among them, so keep off those by the support.
    pub surface_height: Option<AtPlaces>,
    /// How far a fluid has come along a direction.
    pub front: Option<FrontOf>,
    /// Volume of fluid that passes a plane along its normal, per time; in a scene that flows in a plane, per meter of depth.
    pub flow_rate: Option<FlowThrough>,
}

/// Points in space.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AtPoints {
    /// One point or more.
    pub at: Vec<Vector<Length>>,
}

/// Places on a map.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AtPlaces {
    /// One place x y or more.
    pub at: Vec<[Quantity<Length>; 2]>,
}

/// The front of a fluid.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FrontOf {
    /// The direction, of any length; what is logged is the largest coordinate along it.
    pub along: Direction,
    /// Name of the fluid; all fluids if left out.
    #[schemars(example = &"water")]
    pub fluid: Option<String>,
}

/// A plane that fluids flow through.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FlowThrough {
    /// The plane; what flows along its normal counts up.
    pub through: Plane,
    /// Name of the fluid; all fluids if left out.
    #[schemars(example = &"water")]
    pub fluid: Option<String>,
}

/// A plane to be passed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CountThrough {
    /// The plane; grains are counted as they pass it along the normal.
    pub plane: Plane,
    /// Count only within this distance of the point; everywhere if left out.
    pub radius: Option<Quantity<Length, Positive>>,
}

/// A region whose volume counts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InVolume {
    /// The region.
    pub region: Region,
}

/// Grains that are deformed together.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StrainOf {
    /// Name of a group of grains.
    #[schemars(example = &"core")]
    pub group: String,
    /// Only grains whose centers are inside at the start; the whole group if left out.
    pub region: Option<Region>,
}

/// A region, or everything.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Inside {
    /// The region; everything if left out.
    pub region: Option<Region>,
}

/// Whose fragments are counted.
#[derive(Clone, Debug)]
pub(crate) enum FragmentsOf {
    /// Those of all grains that are, or were, bonded; or none.
    Bonded(bool),
    /// Those of the grains of some groups.
    Groups(Groups),
}

/// Groups of grains.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Groups {
    /// Names of one or more groups of grains.
    #[schemars(example = serde_json::json!(["sand"]))]
    pub groups: Vec<String>,
}

impl<'de> Deserialize<'de> for FragmentsOf {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = FragmentsOf;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, or { groups = [\"NAME\"] }")
            }
            fn visit_bool<E: de::Error>(self, is_wanted: bool) -> Result<FragmentsOf, E> {
                Ok(FragmentsOf::Bonded(is_wanted))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FragmentsOf, A::Error> {
                Groups::deserialize(MapAccessDeserializer::new(map)).map(FragmentsOf::Groups)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for FragmentsOf {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FragmentsOf::Bonded(is_wanted) => is_wanted.serialize(serializer),
            FragmentsOf::Groups(groups) => groups.serialize(serializer),
        }
    }
}

impl JsonSchema for FragmentsOf {
    fn schema_name() -> Cow<'static, str> {
        "FragmentsOf".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "anyOf": [generator.subschema_for::<bool>(), generator.subschema_for::<Groups>()] })
    }
}

/// Groups that mix, and the cells in which they are counted.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MixingOf {
    /// Names of two or more groups of grains.
    #[schemars(example = serde_json::json!(["small", "large"]))]
    pub groups: Vec<String>,
    /// Number of cells along x, y and z.
    pub cells: [Whole<1, 1000>; 3],
    /// The box that the cells divide; the box around the groups' grains at that time if left out.
    pub region: Option<BoxShape>,
}
