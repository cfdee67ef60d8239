//! Keys of outputs: frames, tables, probes.

use super::{BoxShape, Direction, Plane, Region, SimpleRegion, Vector};
use crate::{
    quantity::{Length, Number, Positive, Quantity, Time, Velocity},
    vocabulary::{WholeNumber, Word},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use seixo_files::vtk::{Encoding, Field};
use serde::de::{self, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// Files that the run writes, and how often.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OutputSection {
    /// Simulated time between two frames; a hundredth of the run if left out.
    pub every: Option<Quantity<Time, Positive>>,
    /// Arrays of the frames besides id and radius; velocity if left out. `group` numbers the sections of grains in alphabetical order.
    #[schemars(example = serde_json::json!(["velocity", "force"]))]
    pub fields: Option<Vec<Word<Field>>>,
    /// How the frames store their arrays: "compressed", or "raw". Raw frames are larger, but written and read faster, and Python maps them into memory.
    #[serde(default)]
    pub encoding: Word<Encoding>,
    /// Simulated time between two lines of the energy ledger; as `every` if left out.
    pub energies_every: Option<Quantity<Time, Positive>>,
    /// Whether each frame has the contacts, with their forces and force chains.
    #[serde(default)]
    pub contacts: bool,
    /// Whether each frame has the free surface of the fluids, as a mesh.
    #[serde(default)]
    pub surface: bool,
    /// Coarse-grained fields of each frame; none if left out.
    pub coarse: Option<CoarseSection>,
}

/// Fields on a grid, averaged from grains, contacts and bonds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CoarseSection {
    /// Box of the grid points.
    pub region: BoxShape,
    /// Distance of neighboring grid points.
    pub spacing: Quantity<Length, Positive>,
    /// Width of the kernel, at least the spacing; it ends at twice its width.
    #[schemars(example = &"4 mm")]
    pub width: Quantity<Length, Positive>,
}

/// A quantity logged over time: exactly one of the keys besides `every`, `average`, `sample_every` and `on`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ProbeSection {
    /// Simulated time between two lines; as the energy ledger if left out.
    pub every: Option<Quantity<Time, Positive>>,
    /// Statistics: each line also has the mean, the standard deviation, the smallest and the largest value of each column over this time back; none
    /// if left out.
    #[schemars(example = &"0.1 s")]
    pub average: Option<Quantity<Time, Positive>>,
    /// Simulated time between two samples of the statistics; `every` or a hundredth of `average`, whichever is shorter, if left out.
    #[schemars(example = &"1 ms")]
    pub sample_every: Option<Quantity<Time, Positive>>,
    /// Wall or rigid body that carries the points, planes and regions of the probe: they are given at time zero, and then move and turn with it. A wall
    /// or its face, as in "tank" or "tank.top"; a group of grains with one body, or a body of the group by its number, as in "ship" or "ship.2". "wall."
    /// or "grains." before the name says which is meant. Columns with the present positions are added.
    #[schemars(example = &"tank")]
    pub on: Option<String>,
    /// Position of the grain with this id; with periodic sides, that inside the domain.
    pub position: Option<WholeNumber<0, { u32::MAX as u64 }>>,
    /// Grains that pass a plane along its normal: number, mass, and mass per time. With periodic sides a grain counts each time that it passes.
    pub count_through: Option<CountThrough>,
    /// Residence times of grains between two planes, from an inlet, or in a zone: number of stays that ended and of grains inside, mean, standard deviation
    /// and quantiles, by mass.
    pub residence_time: Option<Residence>,
    /// Dead zones: time-averaged velocity of grains and fluids in cells, and the share that hardly moves.
    pub dead_zone: Option<DeadZoneOf>,
    /// Energies of the ledger.
    pub energy: Option<bool>,
    /// Lengths of a periodic domain, its logarithmic strains since the start, positive in compression, and its volume.
    pub cell: Option<bool>,
    /// Center of mass of a group of grains; not a number along a periodic axis that the group spans completely.
    #[schemars(example = &"bed")]
    pub group_center: Option<String>,
    /// Force on a group of grains by contacts, walls, bonds, loads and fluids, without gravity; for a boundary, the total force that acts on it.
    #[schemars(example = &"bed")]
    pub group_force: Option<String>,
    /// Load on a group of grains as one force and one torque, of contacts and of fluids separately.
    pub group_load: Option<LoadOn>,
    /// Position, rotation since the start, velocity and angular velocity of a rigid body, and the load on it, of contacts and of fluids separately.
    pub body: Option<BodyOf>,
    /// Number of bonds that were made, and of those that are intact.
    pub bonds: Option<bool>,
    /// Number and size of the fragments, which are grains connected by bonds. `true`: of all grains that are, or were, bonded; { groups = ["NAME"] }:
    /// of the grains of these sections, bonded or not.
    pub fragments: Option<FragmentsOf>,
    /// Force of grains and fluids on a wall.
    #[schemars(example = &"lid")]
    pub wall_force: Option<String>,
    /// Torque of grains and fluids on a wall, about the point `through` of its axis; about the origin if it has none. The drive supplies the opposite
    /// torque.
    #[schemars(example = &"drum")]
    pub wall_torque: Option<String>,
    /// Power that grains and fluids supply to a wall, moving surfaces included: force times velocity and torque times angular velocity. It is negative
    /// while the wall drives them; the drive supplies the opposite power.
    #[schemars(example = &"drum")]
    pub wall_power: Option<String>,
    /// Position of a wall: the middle of the box around it, or the point of a plane; and its angle of rotation.
    #[schemars(example = &"lid")]
    pub wall_position: Option<String>,
    /// Volume worn from a wall by sliding grains.
    #[schemars(example = &"liner")]
    pub worn_volume: Option<String>,
    /// Mean stress in a region: the parts of contacts and bonds, and of the motion.
    pub stress: Option<InVolume>,
    /// Strain of a group of grains since the start, or since a stage.
    pub strain: Option<StrainOf>,
    /// Fabric tensor: directions of the contacts between grains.
    pub fabric: Option<Inside>,
    /// Coordination number: contacts per grain.
    pub coordination: Option<Inside>,
    /// Share of a region's volume that grains fill.
    pub solid_fraction: Option<InVolume>,
    /// Degree of mixing of groups.
    pub mixing: Option<MixingOf>,
    /// Angle of repose of a heap, or dynamic angle of repose in a rotating drum, with its standard error, for gravity along -z: of the cone or the plane
    /// that fits the surface.
    pub angle_of_repose: Option<HeapOf>,
    /// Mean temperature of a group of grains, weighted by mass, with the lowest and the highest.
    #[schemars(example = &"bed")]
    pub group_temperature: Option<String>,
    /// Mean thickness of the liquid films of a group of grains, weighted by area, with the lowest and the highest.
    #[schemars(example = &"bed")]
    pub group_film: Option<String>,
    /// Balance of liquid films: their volume, and that of grains that entered and left since the start.
    pub film: Option<bool>,
    /// Heat flow from a wall into the grains, and its total since the start.
    #[schemars(example = &"drum")]
    pub wall_heat: Option<String>,
    /// Heat balance: heat stored in grains, and heat exchanged since the start.
    pub heat: Option<bool>,
    /// All fluids: number of particles, their mass and kinetic energy, root mean square and maximum of their speeds, maximum over the speed of sound,
    /// largest pressure, smallest and largest density over the rest density.
    pub fluid: Option<bool>,
    /// Pressure of fluids at points: the mean over the particles within the support, weighted by the share of the surroundings that each fills.
    pub fluid_pressure: Option<AtPoints>,
    /// Velocity of fluids at points; a mean as for `fluid_pressure`.
    pub fluid_velocity: Option<AtPoints>,
    /// Height of the free surface, for gravity along -z: the largest z at which fluids fill half of the surroundings. Wall particles do not count as
    /// fluid, so keep a distance of the support from walls.
    pub surface_height: Option<AtPlaces>,
    /// Position of the front of a fluid along a direction.
    pub front: Option<FrontOf>,
    /// Volume of fluid per time that passes a plane along its normal; in a plane flow, per meter of depth.
    pub flow_rate: Option<FlowThrough>,
}

/// A group of grains on which loads act.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LoadOn {
    /// Name of the group of grains.
    #[schemars(example = &"hull")]
    pub group: String,
    /// Point about which torques are taken; the center of mass of the group if left out.
    pub about: Option<Vector<Length>>,
}

/// A rigid body.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BodyOf {
    /// Name of the group of grains that it belongs to: of a clump, of a boundary, or of grains with a joint or `displaces_fluid = true`.
    #[schemars(example = &"hull")]
    pub group: String,
    /// Its number among the bodies of the group, in their order; the only one if left out.
    pub number: Option<WholeNumber<1, { u32::MAX as u64 }>>,
    /// Point in space about which torques are taken; the center of mass of the body if left out.
    pub about: Option<Vector<Length>>,
}

/// Points in space.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AtPoints {
    /// One point or more.
    pub at: Vec<Vector<Length>>,
}

/// Points on a map.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AtPlaces {
    /// One point x y or more.
    #[schemars(example = serde_json::json!([["2 cm", "5 cm"]]))]
    pub at: Vec<[Quantity<Length>; 2]>,
}

/// The front of a fluid.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FrontOf {
    /// Direction, of any length; the probe logs the largest coordinate of the fluid along it.
    pub along: Direction,
    /// Name of the fluid; all fluids if left out.
    #[schemars(example = &"water")]
    pub fluid: Option<String>,
}

/// A plane through which fluids flow.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FlowThrough {
    /// The plane; flow along its normal is positive.
    pub through: Plane,
    /// Name of the fluid; all fluids if left out.
    #[schemars(example = &"water")]
    pub fluid: Option<String>,
}

/// A plane that grains pass.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CountThrough {
    /// The plane; grains count when they pass it along its normal.
    pub plane: Plane,
    /// Only grains within this distance of the point count; everywhere if left out.
    pub radius: Option<Quantity<Length, Positive>>,
}

/// Where residence times begin and end: `from` with `to` or `zone`, or `zone` alone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Residence {
    /// Where the time begins: a plane, when a grain passes it along its normal, or the name of a group whose inlet adds the grains, when it does. With
    /// the zone if left out.
    pub from: Option<ResidenceStart>,
    /// Plane where the time ends, when the grain passes it along its normal.
    pub to: Option<Plane>,
    /// Zone. With `from`, the time ends when the center of the grain enters it. Without `from`, the time is that of each stay in the zone.
    pub zone: Option<Region>,
}

/// Where residence times begin.
#[derive(Clone, Debug)]
pub(crate) enum ResidenceStart {
    /// At the inlet of a group.
    Inlet(String),
    /// At a plane.
    Plane(Plane),
}

impl<'de> Deserialize<'de> for ResidenceStart {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = ResidenceStart;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a plane, as in { point = [0, 0, 0], normal = [0, 0, 1] }, or the name of a group with an inlet")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<ResidenceStart, E> {
                Ok(ResidenceStart::Inlet(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ResidenceStart, A::Error> {
                Plane::deserialize(MapAccessDeserializer::new(map)).map(ResidenceStart::Plane)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for ResidenceStart {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ResidenceStart::Inlet(name) => name.serialize(serializer),
            ResidenceStart::Plane(plane) => plane.serialize(serializer),
        }
    }
}

impl JsonSchema for ResidenceStart {
    fn schema_name() -> Cow<'static, str> {
        "ResidenceStart".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "anyOf": [generator.subschema_for::<Plane>(), generator.subschema_for::<String>()], "examples": ["feed"] })
    }
}

/// Cells in which velocities are averaged, and the limit of what is dead: one of `limit` and `limit_of_mean`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DeadZoneOf {
    /// Box of the cells.
    pub region: BoxShape,
    /// Edge of the cells, which are cubes.
    #[schemars(example = &"5 mm")]
    pub spacing: Quantity<Length, Positive>,
    /// Speed of the time-averaged velocity below which a cell is dead.
    #[schemars(example = &"1 mm/s")]
    pub limit: Option<Quantity<Velocity, Positive>>,
    /// The same, as a share of the mean speed of all cells.
    #[schemars(example = 0.1)]
    pub limit_of_mean: Option<Quantity<Number, Positive>>,
    /// Simulated time between two samples; a hundredth of `every` of the probe if left out. Each line is of the samples since the line before.
    #[schemars(example = &"1 ms")]
    pub sample_every: Option<Quantity<Time, Positive>>,
    /// Name of a group of grains, if only its grains are meant; all grains and fluids if `group` and `fluid` are left out.
    #[schemars(example = &"sand")]
    pub group: Option<String>,
    /// Name of a fluid, if only it is meant.
    #[schemars(example = &"water")]
    pub fluid: Option<String>,
}

/// A region with a volume.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InVolume {
    /// The region: a box, a cylinder or a sphere.
    pub region: SimpleRegion,
}

/// Grains of which the strain is measured.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StrainOf {
    /// Name of the group of grains.
    #[schemars(example = &"core")]
    pub group: String,
    /// Only grains whose centers are inside when the strain is zero, in a box, a cylinder or a sphere; the whole group if left out.
    pub region: Option<SimpleRegion>,
    /// Name of the stage at whose start the strain is zero, before which it is not a number; at the start of the run if left out.
    #[schemars(example = &"load")]
    pub since: Option<String>,
}

/// Grains that are a heap.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct HeapOf {
    /// Name of the group of grains.
    #[schemars(example = &"sand")]
    pub group: String,
    /// Only grains whose centers are inside, in a box, a cylinder or a sphere; the whole group if left out.
    pub region: Option<SimpleRegion>,
    /// Direction of the axis of a rotating drum, of any length: the plane that fits the middle third of the surface is logged. A heap if left out.
    #[schemars(example = serde_json::json!([0, 1, 0]))]
    pub axis: Option<Direction>,
}

/// A region, or everything.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Inside {
    /// A box, a cylinder or a sphere; everything if left out.
    pub region: Option<SimpleRegion>,
}

/// Grains whose fragments are counted.
#[derive(Clone, Debug)]
pub(crate) enum FragmentsOf {
    /// All grains that are, or were, bonded; or none.
    Bonded(bool),
    /// Grains of some groups.
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

/// Groups of which the mixing is measured, and the cells.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MixingOf {
    /// Names of two or more groups of grains.
    #[schemars(example = serde_json::json!(["small", "large"]))]
    pub groups: Vec<String>,
    /// Number of cells along x, y and z.
    #[schemars(example = serde_json::json!([10, 10, 10]))]
    pub cells: [WholeNumber<1, 1000>; 3],
    /// Box that is divided into the cells; the box around the groups' grains at that time if left out.
    pub region: Option<BoxShape>,
}
