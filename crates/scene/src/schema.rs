//! The scene file, key by key. Reading, `seixo schema` and the resolved scene all follow these types.

mod bond;
mod fill;
mod fluid;
mod output;
mod passage;
mod shape;
mod wall;

pub(crate) use bond::BondsSection;
pub(crate) use fill::{CylinderRegion, Discrete, Fill, Radius, Region, SphereRegion, Spread};
pub(crate) use fluid::FluidSection;
pub(crate) use output::{CoarseSection, FragmentsOf, OutputSection, ProbeSection};
pub(crate) use passage::{Drain, FluidInletSection, FluidOutletSection, Mouth};
pub(crate) use shape::{EqualSpheres, JointSection, ShapeSection, ShapeSpheres, Turn};
pub(crate) use wall::{BoxWall, Motion, Plane, Segments, ServoSection, SurfaceRotation, Vibrate, WallSection};

use crate::{
    device::Device,
    inlet::InletSection,
    quantity::{
        Acceleration, Angle, AngularVelocity, Any, BelowOne, Conductivity, Density, Energy, Force, Frequency, HeatCapacity, Length,
        NotNegative, Number, PoissonRatio, Positive, Pressure, Quantity, Restitution, Stiffness, SurfaceEnergy, Temperature, Time, Torque,
        UpToOne, Velocity, Volume,
    },
    stage::{StageSection, ZoneSection},
    words::{AutoOr, Axis, LARGEST_WHOLE, Scale, Side, Whole, Word},
};
use schemars::{JsonSchema, Schema};
use seixo_engine::world::{Leaving, Precision, Scheme, Search, Settings};
use seixo_laws::contact::{CohesionLaw, NormalLaw, RollingLaw, TangentialLaw, TwistingLaw};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A vector whose components share a dimension.
pub(crate) type Vector<D> = [Quantity<D>; 3];
/// A direction; its length does not matter.
pub(crate) type Direction = [Quantity<Number>; 3];

/// A Seixo scene. Numbers are SI; strings carry units, as in "2 mm".
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SceneFile {
    /// What the scene shows; the file's name if left out.
    #[schemars(example = &"Discharge of a hopper")]
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
    /// Shapes of clumps by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shape: BTreeMap<String, ShapeSection>,
    /// Groups of grains by name, numbered in alphabetical order.
    #[serde(default)]
    pub grains: BTreeMap<String, GrainsSection>,
    /// Walls by name.
    #[serde(default)]
    pub wall: BTreeMap<String, WallSection>,
    /// Fluids by name. Walls bound them by layers of particles of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fluid: BTreeMap<String, FluidSection>,
    /// Inlets of fluids by name. An inlet of grains is the key `inlet` of their section.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inlet: BTreeMap<String, FluidInletSection>,
    /// Outlets of fluids by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outlet: BTreeMap<String, FluidOutletSection>,
    /// Bonds between grains by name: what glues them together until it breaks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bonds: BTreeMap<String, BondsSection>,
    /// Parts of space from which grains are taken away, by name.
    #[serde(default)]
    pub zone: BTreeMap<String, ZoneSection>,
    /// Things that happen in order.
    #[serde(default)]
    pub stage: Vec<StageSection>,
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

impl SceneFile {
    /// Whether there are fluids, and no grain ever comes.
    pub fn is_fluid_only(&self) -> bool {
        self.grains.is_empty() && !self.fluid.is_empty()
    }
}

/// How the scene is run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunSection {
    /// Time at which the run ends.
    pub until: Quantity<Time, Positive>,
    /// Time step: "auto" or a value below the stable limit.
    #[serde(default)]
    pub time_step: AutoOr<Quantity<Time, Positive>>,
    /// How grains are moved: "leapfrog" (of second order, with friction and damping, too), "velocity_verlet", "symplectic_euler",
    /// "explicit_euler", "gear" (predictor and corrector of five values; "gear_of_places" with the coefficients for forces that do not depend on
    /// velocities).
    #[serde(default)]
    pub integrator: Word<Scheme>,
    /// Where to compute: "cpu", "gpu", "heterogeneous" (grains and bodies on the CPU, fluids at the same time on a GPU), "auto" (where some steps
    /// were fastest), "cuda", "wgpu", and of several GPUs one as in "gpu:1". "cpu" if left out, since only the CPU gives the same bits on every
    /// machine.
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
    /// Domains among which grains and fluids are divided, each with its share of the threads; 1 = not divided.
    #[serde(default = "one_domain")]
    pub domains: Whole<1, 4096>,
    /// GPUs of this machine that domains are on, at least one domain each: those of the kind that `device` names, or that "auto" finds.
    #[serde(default = "one_gpu")]
    pub gpus: Whole<1, 1024>,
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
    /// Whether, on the CPU, neighbors are looked for of those spheres of clumps alone that may have any: found by boxes around clumps and around
    /// groups of their spheres. It changes no result. `true` if left out.
    #[serde(default = "usual_broad_phase")]
    pub broad_phase: bool,
    /// Whether results do not depend, to the last bit, on how the world is decomposed into domains or on what is far away: every particle adds up what
    /// acts on it in the order of the ids of its neighbors, which takes longer. `false` if left out.
    #[serde(default)]
    pub divisible: bool,
}

fn one_domain() -> Whole<1, 4096> {
    Whole(1)
}

fn one_gpu() -> Whole<1, 1024> {
    Whole(1)
}

fn first_seed() -> Whole<0, LARGEST_WHOLE> {
    Whole(1)
}

fn usual_broad_phase() -> bool {
    Settings::default().broad_phase
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
    pub domain: Option<DomainSection>,
    /// What happens to a grain whose center leaves the domain; "error" if left out.
    pub leaving: Option<Word<Leaving>>,
}

/// The box in which grains may be.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DomainSection {
    /// Lower corner.
    pub min: Vector<Length>,
    /// Upper corner.
    pub max: Vector<Length>,
    /// What the sides along x, y, z are: "open", or "periodic" where what leaves on one side comes in on the other. Walls have no images: let
    /// them reach past periodic sides by a grain.
    #[serde(default)]
    pub sides: [Word<Side>; 3],
    /// Steady simple shear of a periodic domain (Lees & Edwards): the images above and below slide past it.
    pub shear: Option<ShearSection>,
}

/// Steady simple shear.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShearSection {
    /// Axis of the flow.
    pub flow: Word<Axis>,
    /// Axis along which the flow gets faster.
    pub gradient: Word<Axis>,
    /// Shear rate: velocity per length.
    pub rate: Quantity<Frequency, Any>,
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
    /// Thermal conductivity of the solid; grains and walls that have temperatures need it.
    pub thermal_conductivity: Option<Quantity<Conductivity, Positive>>,
    /// Heat per mass and kelvin; grains that have temperatures need it.
    pub specific_heat_capacity: Option<Quantity<HeatCapacity, Positive>>,
    /// Young's modulus of the real solid where `youngs_modulus` is softer: heat flows through contacts as wide as it would leave them.
    pub real_youngs_modulus: Option<Quantity<Pressure, Positive>>,
}

/// How two materials act on each other when they touch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InteractionSection {
    /// Law of the normal force; "hertz" if left out.
    pub normal: Option<Word<NormalLaw>>,
    /// Law of the tangential force; "mindlin" with hertz and "linear" with linear if left out.
    pub tangential: Option<Word<TangentialLaw>>,
    /// Speed of separation over speed of approach; needed unless the normal law is "viscoelastic", which has a dissipative time in its
    /// place, or "potential", which loses nothing.
    pub restitution: Option<Quantity<Number, Restitution>>,
    /// Coulomb coefficient; needed unless tangential = "none".
    pub friction: Option<Quantity<Number, NotNegative>>,
    /// Normal spring of the linear law, or the one of the hysteretic law while it loads.
    pub stiffness: Option<Quantity<Stiffness, Positive>>,
    /// Tangential spring of the linear law; 2/7 of the normal spring if left out.
    pub tangential_stiffness: Option<Quantity<Stiffness, Positive>>,
    /// Dissipative time A of the viscoelastic law.
    pub dissipative_time: Option<Quantity<Time, Positive>>,
    /// Depth ε of the potential.
    pub potential_energy: Option<Quantity<Energy, Positive>>,
    /// What sticks the two together; nothing if left out.
    pub cohesion: Option<CohesionSection>,
    /// What resists rolling; nothing if left out.
    pub rolling: Option<RollingSection>,
    /// What resists twisting; nothing if left out.
    pub twisting: Option<TwistingSection>,
}

/// Attraction, added to the normal law.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CohesionSection {
    /// "sjkr": pull = energy_density times the area of contact. "dmt": pull = 4πγR* while touching. "jkr": an elastic neck, pull-off at 3πγR*.
    /// "capillary": a liquid bridge.
    pub law: Word<CohesionLaw>,
    /// Cohesion energy density of "sjkr".
    pub energy_density: Option<Quantity<Pressure, Positive>>,
    /// Surface energy γ of each of the two bodies, of "dmt" and "jkr"; the work of adhesion is 2γ.
    pub surface_energy: Option<Quantity<SurfaceEnergy, Positive>>,
    /// Surface tension of the liquid of "capillary".
    pub surface_tension: Option<Quantity<SurfaceEnergy, Positive>>,
    /// Contact angle of the liquid; 0 if left out.
    pub contact_angle: Option<Quantity<Angle, NotNegative>>,
    /// Volume of liquid in every bridge.
    pub volume: Option<Quantity<Volume, Positive>>,
}

/// Resistance to rolling.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RollingSection {
    /// "constant": a torque against the rolling. "elastic_plastic": a spring with dashpot behind a slider; grains come to rest.
    pub law: Word<RollingLaw>,
    /// The limiting torque over R* times the normal force.
    pub coefficient: Quantity<Number, NotNegative>,
    /// Damping ratio of the spring; 0.3 if left out.
    pub damping_ratio: Option<Quantity<Number, NotNegative>>,
}

/// Resistance to twisting.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TwistingSection {
    /// "constant" and "elastic_plastic" as against rolling; "marshall": what the friction of the contact area gives, without a coefficient.
    pub law: Word<TwistingLaw>,
    /// The limiting torque over R* times the normal force; not for "marshall".
    pub coefficient: Option<Quantity<Number, NotNegative>>,
    /// Damping ratio of the spring of "elastic_plastic"; that of rolling if there is one.
    pub damping_ratio: Option<Quantity<Number, NotNegative>>,
}

/// Grains: exactly one of `file`, `fill`, `at` and `inlet`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GrainsSection {
    /// Their material; a `material` column of the file goes first.
    #[schemars(example = &"glass")]
    pub material: Option<String>,
    /// Text file with a column each for x, y, z and more, named in its first line.
    #[schemars(example = &"bed.csv")]
    pub file: Option<String>,
    /// First and last row to take from the file, counted from 1, or from the end with -1 as the last row.
    pub rows: Option<[i64; 2]>,
    /// By what the lengths of the file are multiplied, or the unit they are in.
    pub scale: Option<Scale>,
    /// A region to be filled.
    pub fill: Option<Fill>,
    /// Grains that come while the scene runs.
    pub inlet: Option<InletSection>,
    /// Centers of single grains.
    pub at: Option<Vec<Vector<Length>>>,
    /// Their shape, by name: each place becomes a clump, a rigid body of spheres. Radii are then those of the spheres about the centers of mass
    /// that just hold the clumps. Spheres if left out.
    #[schemars(example = &"tablet")]
    pub shape: Option<String>,
    /// How clumps are turned from the way that their shape is drawn; columns qw, qx, qy, qz of a file go first. At random in a fill, as
    /// drawn elsewhere if left out.
    pub orientation: Option<Turn>,
    /// Radius of the grains of `at`, or of a file without radii. If left out, clumps are as large as their shape is drawn, its lengths being meters.
    pub radius: Option<Quantity<Length, Positive>>,
    /// Velocity at the start, added to that of the file.
    #[serde(default)]
    pub velocity: Vector<Velocity>,
    /// Angular velocity at the start, added to that of the file.
    #[serde(default)]
    pub angular_velocity: Vector<AngularVelocity>,
    /// Temperature at the start, or with which they come; a `temperature` column of the file goes first. If some grains have one, all have, and
    /// heat flows through their contacts.
    pub temperature: Option<Quantity<Temperature, NotNegative>>,
    /// Constant force on each grain, beside gravity and what it touches; of a clump, on each sphere. None if left out.
    pub force: Option<Vector<Force>>,
    /// Constant torque on each grain; of a clump, on each sphere. None if left out.
    pub torque: Option<Vector<Torque>>,
    /// Makes a boundary of the grains: as one rigid body they move like this, whatever pushes them, and what they touch or are bonded to is
    /// pushed. As of walls, but without `servo`.
    pub motion: Option<Motion>,
    /// Makes a boundary of the grains that stays where it is, whatever pushes it.
    #[serde(default)]
    pub fixed: bool,
    /// Ties each clump, or grain, to space by a hinge, a ball joint or a slider. On a hinge or a ball joint velocities follow from `angular_velocity`.
    pub joint: Option<JointSection>,
    /// Lets fluids feel them: they are lifted, carried and slowed down, and fluids make way. For what is thicker than a few spacings of the fluid; with
    /// solver = "muller2003" for spheres whose radius is at most the fluid's support less half a spacing. Where fluids flow in a plane, all spheres are in it,
    /// and are disks of a meter of depth.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub displaces_fluid: bool,
    /// Name of the fluid that they become when a stage melts them, as in "water"; for those that displace fluids.
    #[schemars(example = &"water")]
    pub melts_into: Option<String>,
    /// Lets fluids lift them, carry them along and slow them down, and be slowed down in turn, by laws of drag and buoyancy: for spheres that are small
    /// beside the particles of the fluid, which makes no room for them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carried_by_fluid: bool,
}

impl GrainsSection {
    /// Whether its grains move as one, whatever pushes them.
    pub fn is_boundary(&self) -> bool {
        self.fixed || self.motion.is_some()
    }

    /// The key by which fluids and its grains act on each other.
    pub fn key_to_fluids(&self) -> Option<&'static str> {
        let keys = [
            ("displaces_fluid", self.displaces_fluid),
            ("carried_by_fluid", self.carried_by_fluid),
        ];
        keys.into_iter().find(|(_, is_given)| *is_given).map(|(key, _)| key)
    }
}

/// An upright box.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BoxShape {
    /// Lower corner.
    pub min: Vector<Length>,
    /// Upper corner.
    pub max: Vector<Length>,
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

/// The JSON Schema of scene files, for editors.
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(SceneFile);
    let mut close = schemars::transform::RecursiveTransform(|schema: &mut Schema| {
        if schema.get("properties").is_some() {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
    });
    schemars::transform::Transform::transform(&mut close, &mut schema);
    schema.insert("$id".to_owned(), "urn:seixo:scene:1".into());
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}
