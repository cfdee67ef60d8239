//! The scene file, key by key. The reader, `seixo schema` and the resolved scene all use these types.

mod blocks;
mod bond;
mod cell;
mod fill;
mod fluid;
mod open_boundary;
mod output;
mod shape;
mod start;
mod wall;

pub(crate) use blocks::Blocks;
pub(crate) use bond::BondsSection;
pub(crate) use cell::{CellControlSection, SetDomain};
pub(crate) use fill::{ConeRegion, CylinderRegion, Discrete, Distribution, Fill, MeshRegion, Radius, Region, SimpleRegion, SphereRegion};
pub(crate) use fluid::FluidSection;
pub(crate) use open_boundary::{FluidInletSection, FluidOutletSection, InletShape, OutletShape};
pub(crate) use output::{BodyOf, CoarseSection, DeadZoneOf, FragmentsOf, LoadOn, OutputSection, ProbeSection, Residence, ResidenceStart};
pub(crate) use shape::{CapsuleShape, EqualSpheres, JointSection, MOST_PARTS, ShapeSection, ShapeSpheres, Sides, Turn};
pub(crate) use start::StartSection;
pub(crate) use wall::{BoxWall, FrameSection, Motion, Plane, Segments, ServoSection, SurfaceRotation, Vibrate, WallSection};

use crate::{
    device::Device,
    inlet::InletSection,
    quantity::{
        Acceleration, Angle, AngularVelocity, Any, BelowOne, Conductivity, Density, Energy, Force, Frequency, HeatCapacity, Length, Mass,
        NotNegative, Number, PoissonRatio, Positive, Pressure, Quantity, Restitution, Stiffness, SurfaceEnergy, Temperature, Time, Torque,
        UpToOne, Velocity, Volume, of_time::OfTime,
    },
    stage::{StageSection, ZoneSection},
    vocabulary::{AutoOr, Axis, LARGEST_WHOLE, Scale, Side, WholeNumber, Word},
};
use schemars::{JsonSchema, Schema};
use seixo_engine::world::{ForceAssembly, LeavingPolicy, LoadBalance, LocallyDamped, Precision, Scheme, Search, Settings};
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
    /// Title of the scene; the file's name if left out.
    #[schemars(example = &"Discharge of a hopper")]
    pub title: Option<String>,
    /// Version of the scene format.
    #[serde(default)]
    pub version: WholeNumber<1, 1>,
    /// Settings of the run: end time, time step, integrator, device.
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
    /// Shapes of clumps and polyhedra by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shape: BTreeMap<String, ShapeSection>,
    /// Start from another run: its grains, rigid bodies and bonds go on here, in sections without `file`, `fill`, `at`, `blocks` and `inlet`. First they
    /// are cut and thinned, then rotated, then moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartSection>,
    /// Groups of grains by name, each with exactly one of `file`, `fill`, `at`, `blocks` and `inlet`, or with none of them if its grains come from another
    /// run, see `start`. They are numbered in alphabetical order.
    #[serde(default)]
    pub grains: BTreeMap<String, GrainsSection>,
    /// Walls by name, each with exactly one of `plane`, `mesh`, `box`, `cylinder`, `cone` and `sphere`.
    #[serde(default)]
    pub wall: BTreeMap<String, WallSection>,
    /// Fluids by name. Walls act on them through several layers of wall particles.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fluid: BTreeMap<String, FluidSection>,
    /// Inlets of fluids by name. An inlet of grains is the key `inlet` of their section.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inlet: BTreeMap<String, FluidInletSection>,
    /// Outlets of fluids by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outlet: BTreeMap<String, FluidOutletSection>,
    /// Bonds between grains by name, each section with exactly one of `among` and `pairs`. A bond is an elastic connection that lasts until it breaks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bonds: BTreeMap<String, BondsSection>,
    /// Parts of space from which grains are removed, by name.
    #[serde(default)]
    pub zone: BTreeMap<String, ZoneSection>,
    /// Stages of the run, in order: each has actions at its start and a condition for its end.
    #[serde(default)]
    pub stage: Vec<StageSection>,
    /// Files that the run writes, and how often.
    #[serde(default)]
    pub output: OutputSection,
    /// Checkpoints to resume from.
    #[serde(default)]
    pub checkpoint: CheckpointSection,
    /// Quantities logged over time, by name, each with exactly one of the keys besides `every`.
    #[serde(default)]
    pub probe: BTreeMap<String, ProbeSection>,
}

impl SceneFile {
    /// Whether there are fluids but no grains, neither now nor later.
    pub fn is_fluid_only(&self) -> bool {
        self.grains.is_empty() && !self.fluid.is_empty()
    }

    /// Whether the grains of a section have a polyhedron as their shape.
    pub fn has_polyhedron(&self, section: &GrainsSection) -> bool {
        let shape = section.shape.as_ref().and_then(|name| self.shape.get(name));
        shape.is_some_and(ShapeSection::is_polyhedron)
    }
}

/// Settings of the run: end time, time step, integrator, device.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunSection {
    /// Simulated time at which the run ends.
    #[schemars(example = &"2 s")]
    pub until: Quantity<Time, Positive>,
    /// Time step: "auto" or a value below the stable limit. "auto" is 0.7 of the limit of grains or 0.625 of that of fluids, whichever is less.
    #[serde(default)]
    #[schemars(example = &"1 us")]
    pub time_step: AutoOr<Quantity<Time, Positive>>,
    /// Integrator of the grains and rigid bodies: "leapfrog" (second order, also with friction and damping), "velocity_verlet", "symplectic_euler",
    /// "explicit_euler", or "gear" (predictor–corrector of five values). "gear_of_places" has the coefficients for forces that do not depend on
    /// velocities. Both take no bodies on joints.
    #[serde(default)]
    pub integrator: Word<Scheme>,
    /// Device that computes: "cpu", "gpu", "heterogeneous" (grains and bodies on the CPU, fluids at the same time on a GPU), "auto" (the fastest in a
    /// trial of some steps), "cuda", "wgpu". "gpu:1" selects one of several GPUs. "cpu" if left out, since only the CPU gives the same bits on every
    /// machine.
    #[serde(default)]
    pub device: Device,
    /// Precision: "f64"; "mixed", with coordinates and the velocities that move them in double and all else in single precision, on the CPU only
    /// frictional contacts of grains; "f32", not on the CPU. "auto" is f64 on the CPU, and mixed on a GPU.
    #[serde(default)]
    pub precision: AutoOr<Word<Precision>>,
    /// Start of all random numbers.
    #[serde(default = "first_seed")]
    pub seed: WholeNumber<0, LARGEST_WHOLE>,
    /// Number of CPU threads; 0 = all cores.
    #[serde(default)]
    #[schemars(example = 4)]
    pub threads: WholeNumber<0, 4096>,
    /// Number of subdomains of the decomposition, each with its share of the threads; 1 = no decomposition.
    #[serde(default = "one_domain")]
    #[schemars(example = 4)]
    pub domains: WholeNumber<1, 4096>,
    /// Number of GPUs of this machine to use, with at least one subdomain each. They are of the kind that `device` names, or that "auto" finds. On the
    /// command line it makes "gpu" the device of a scene that names none, or the CPU.
    #[serde(default = "one_gpu")]
    #[schemars(example = 2)]
    pub gpus: WholeNumber<1, 1024>,
    /// Overlap above which the run stops, as a fraction of the smaller radius.
    #[serde(default = "usual_overlap_limit")]
    #[schemars(example = 0.1)]
    pub overlap_limit: Quantity<Number, UpToOne>,
    /// Local non-viscous damping: the share of each force that opposes the motion.
    #[serde(default)]
    #[schemars(example = 0.1)]
    pub local_damping: Quantity<Number, BelowOne>,
    /// Forces on which local damping acts: "all_forces", with weight, which also damps free fall; "all_but_weight", which leaves free fall as it is
    /// [PUC-Rio 2009]. Grains at rest are the same. "all_forces" if left out, since a bed then comes to rest sooner.
    #[serde(default)]
    pub local_damping_of: Word<LocallyDamped>,
    /// Method of the pair search; all methods find the same pairs. "auto": "grid" while the largest radius is below twice the smallest, else
    /// "hierarchical_grid", a grid for each size. For comparison: "grid_multi_cell", with each grain in all cells that it overlaps; "spatial_hash",
    /// which saves memory in wide, thinly filled spaces; "spatial_hash_static", the same with a table of its own for spheres that are fixed
    /// [Silva 2010]; "brute_force", every pair. Without friction, a CPU keeps a neighbor list with "auto", but searches at every step with "grid" and
    /// "hierarchical_grid".
    #[serde(default)]
    pub search: Word<Search>,
    /// Extra reach of the neighbor list: "auto" or a length; 0 rebuilds it at every step. With "auto", it follows the motion of grains and fluids.
    #[serde(default)]
    #[schemars(example = &"0.2 mm")]
    pub skin: AutoOr<Quantity<Length, NotNegative>>,
    /// Assembly of the forces between grains; all methods give the same forces. "fused": each grain computes its contacts and is moved. For comparison:
    /// "contact_list", which lists the contacts of each step and computes them one by one [PUC-Rio 2009]; "sorted_contacts", which computes each
    /// contact once and sorts the forces by grain [ME964 2011].
    #[serde(default)]
    pub assembly: Word<ForceAssembly>,
    /// Whether the cores test bounding boxes of clumps, and of groups of their spheres, before neighbors of single spheres are searched. It changes no
    /// result. If left out, the cores do so for clumps on the CPU. `true` lets them do so also for clumps on one GPU, while it lists fluids
    /// [Silva 2010].
    pub broad_phase: Option<bool>,
    /// What subdomains share equally: "count", the particles; "time", the work, as far as it can be measured. Grains and fluids have the same bits with
    /// both. With "time", clocks decide where planes between subdomains are, so that the last digits of sums over all particles, as in the ledger, may
    /// differ between two runs. "count" if left out.
    #[schemars(example = &"time")]
    pub balance: Option<Word<LoadBalance>>,
    /// Whether results have the same bits for any number of subdomains, and whatever is far away. Each particle then adds its forces in the order of
    /// the ids of its neighbors, which takes longer. `false` if left out.
    #[serde(default)]
    pub decomposition_invariant: bool,
}

fn one_domain() -> WholeNumber<1, 4096> {
    WholeNumber(1)
}

fn one_gpu() -> WholeNumber<1, 1024> {
    WholeNumber(1)
}

fn first_seed() -> WholeNumber<0, LARGEST_WHOLE> {
    WholeNumber(1)
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
    /// What happens to a particle whose center leaves the domain; "error" if left out. With "delete" it goes when neighbor lists are rebuilt, at most half a skin outside; with a skin of 0 on a GPU, half the default skin.
    pub leaving: Option<Word<LeavingPolicy>>,
}

/// The box in which grains may be.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "min": [0, 0, 0], "max": ["10 cm", "10 cm", "20 cm"] }))]
pub(crate) struct DomainSection {
    /// Lower corner.
    pub min: Vector<Length>,
    /// Upper corner.
    pub max: Vector<Length>,
    /// Sides of the domain along x, y, z: "open", or "periodic", where grains that leave on one side enter on the other. Meshes and
    /// round walls have periodic images: let their surfaces end at the side.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["periodic", "periodic", "open"]))]
    pub sides: [Word<Side>; 3],
    /// Steady simple shear of a periodic domain (Lees & Edwards): the images above and below move along the flow.
    pub shear: Option<ShearSection>,
    /// Control of the lengths of a periodic domain: stresses that servos reach and keep, and strain rates.
    pub control: Option<CellControlSection>,
}

/// Steady simple shear.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "flow": "x", "gradient": "z", "rate": "50 Hz" }))]
pub(crate) struct ShearSection {
    /// Axis of the flow.
    pub flow: Word<Axis>,
    /// Axis along which the flow velocity increases.
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
    #[schemars(example = 0.2)]
    pub poisson_ratio: Quantity<Number, PoissonRatio>,
    /// Thermal conductivity of the solid; needed for grains and walls with temperatures.
    pub thermal_conductivity: Option<Quantity<Conductivity, Positive>>,
    /// Heat per mass and kelvin; needed for grains with temperatures.
    pub specific_heat_capacity: Option<Quantity<HeatCapacity, Positive>>,
    /// Young's modulus of the real solid if `youngs_modulus` is softer. Heat is conducted through contacts of the width that the real solid has.
    #[schemars(example = &"70 GPa")]
    pub real_youngs_modulus: Option<Quantity<Pressure, Positive>>,
}

/// Contact parameters of a pair of materials.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InteractionSection {
    /// Law of the normal force; "hertz" if left out.
    pub normal: Option<Word<NormalLaw>>,
    /// Law of the tangential force; "mindlin" with hertz and "linear" with linear if left out.
    #[schemars(example = &"linear")]
    pub tangential: Option<Word<TangentialLaw>>,
    /// Speed of separation over speed of approach. Needed unless there is a `damping`, or the normal law is "viscoelastic", which has a dissipative
    /// time instead, or "potential", which has no dissipation.
    pub restitution: Option<Quantity<Number, Restitution>>,
    /// Coulomb friction coefficient; needed unless tangential = "none".
    pub friction: Option<Quantity<Number, NotNegative>>,
    /// Stiffness of the normal spring of the linear law, or of the loading branch of the hysteretic law.
    pub stiffness: Option<Quantity<Stiffness, Positive>>,
    /// Damping γ_n of the linear law or of Hertz's in place of a restitution: the dashpot force is γ_n times the effective mass and the speed of
    /// approach. So heavier grains rebound less. With "hertz" this force has the factor √(δ/d) of the spring, δ the overlap and d = 4R*, the diameter
    /// of equal spheres.
    #[schemars(example = &"500 1/s")]
    pub damping: Option<Quantity<Frequency, Positive>>,
    /// Damping γ_t of the tangential law; half of `damping` if left out. With Mindlin's laws it has the factor √(δ/d), too.
    #[schemars(example = &"250 1/s")]
    pub tangential_damping: Option<Quantity<Frequency, NotNegative>>,
    /// Stiffness of the tangential spring of the linear law; 2/7 of the normal spring if left out.
    pub tangential_stiffness: Option<Quantity<Stiffness, Positive>>,
    /// Dissipative time A of the viscoelastic law.
    #[schemars(example = &"10 us")]
    pub dissipative_time: Option<Quantity<Time, Positive>>,
    /// Depth ε of the potential.
    pub potential_energy: Option<Quantity<Energy, Positive>>,
    /// Cohesion: attraction of the two surfaces; nothing if left out.
    pub cohesion: Option<CohesionSection>,
    /// Rolling resistance; nothing if left out.
    pub rolling: Option<RollingSection>,
    /// Twisting resistance; nothing if left out.
    pub twisting: Option<TwistingSection>,
    /// Rate at which the thicknesses of two liquid films in contact even out; without it, they share no liquid.
    #[schemars(example = &"5 1/s")]
    pub film_exchange: Option<Quantity<Frequency, Positive>>,
}

/// Attraction that is added to the normal law.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "law": "dmt", "surface_energy": "0.05 J/m^2" }))]
pub(crate) struct CohesionSection {
    /// Cohesion law. "sjkr": attraction = energy_density × contact area. "dmt": attraction = 4πγR* during contact. "jkr": an elastic neck with the
    /// pull-off force 3πγR*. "capillary": a liquid bridge.
    pub law: Word<CohesionLaw>,
    /// Cohesion energy density of "sjkr".
    #[schemars(example = &"10 kPa")]
    pub energy_density: Option<Quantity<Pressure, Positive>>,
    /// Surface energy γ of each of the two surfaces, for "dmt" and "jkr"; the work of adhesion is 2γ.
    pub surface_energy: Option<Quantity<SurfaceEnergy, Positive>>,
    /// Surface tension of the liquid of "capillary".
    #[schemars(example = &"72 mN/m")]
    pub surface_tension: Option<Quantity<SurfaceEnergy, Positive>>,
    /// Contact angle of the liquid; 0 if left out.
    pub contact_angle: Option<Quantity<Angle, NotNegative>>,
    /// Volume of the liquid in each bridge.
    pub volume: Option<Quantity<Volume, Positive>>,
}

/// Rolling resistance.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "law": "constant", "coefficient": 0.1 }))]
pub(crate) struct RollingSection {
    /// "constant": a constant torque against rolling. "elastic_plastic": a spring and dashpot with a limiting torque, with which grains come to rest.
    pub law: Word<RollingLaw>,
    /// Limiting torque over R* times the normal force.
    pub coefficient: Quantity<Number, NotNegative>,
    /// Damping ratio of the spring; 0.3 if left out.
    #[schemars(example = 0.3)]
    pub damping_ratio: Option<Quantity<Number, NotNegative>>,
}

/// Twisting resistance.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "law": "constant", "coefficient": 0.1 }))]
pub(crate) struct TwistingSection {
    /// "constant" and "elastic_plastic": as for rolling. "marshall": the torque follows from the friction of the contact area, without a coefficient.
    pub law: Word<TwistingLaw>,
    /// Limiting torque over R* times the normal force; not for "marshall".
    pub coefficient: Option<Quantity<Number, NotNegative>>,
    /// Damping ratio of the spring of "elastic_plastic". Without it, the value of the rolling resistance is used, if there is one.
    #[schemars(example = 0.3)]
    pub damping_ratio: Option<Quantity<Number, NotNegative>>,
}

/// Grains: exactly one of `file`, `fill`, `at`, `blocks` and `inlet`, or none of them for grains of another run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GrainsSection {
    /// Material of the grains; a `material` column of the file takes precedence. Without both, the type of an atom in a file of LAMMPS is the name of its
    /// material.
    #[schemars(example = &"glass")]
    pub material: Option<String>,
    /// Text file with one column for each of x, y, z and further quantities, whose first line names the columns; or a data file of LAMMPS, or a dump of
    /// LAMMPS or LIGGGHTS as text, whose last snapshot is read.
    #[schemars(example = &"bed.csv")]
    pub file: Option<String>,
    /// First and last row to read from the file, counted from 1; negative numbers count from the end, -1 is the last row.
    #[schemars(example = serde_json::json!([1, 100]))]
    pub rows: Option<[i64; 2]>,
    /// Factor for the lengths of the file, or their unit.
    pub scale: Option<Scale>,
    /// Region that is filled with grains at the start.
    pub fill: Option<Fill>,
    /// Inlet: grains that enter during the run.
    pub inlet: Option<InletSection>,
    /// Centers of single grains.
    pub at: Option<Vec<Vector<Length>>>,
    /// Solid that is cut into polyhedral grains.
    pub blocks: Option<Blocks>,
    /// Name of a shape: each position becomes a clump, a rigid body of spheres, or a polyhedron. Its radius is that of the smallest sphere about its
    /// center of mass that contains it. Spheres if left out.
    #[schemars(example = &"tablet")]
    pub shape: Option<String>,
    /// Rotation of clumps relative to the axes in which their shape is defined; columns qw, qx, qy, qz of a file take precedence. At random in a
    /// fill or an inlet, unrotated elsewhere if left out.
    pub orientation: Option<Turn>,
    /// Radius of the grains of `at`, or of a file; a `radius` or `diameter` column of the file takes precedence. Without it, clumps have the size of
    /// their shape.
    pub radius: Option<Quantity<Length, Positive>>,
    /// Mass of each grain, in place of the density of its material; the moment of inertia is 2/5 of the mass times the square of the radius. A `mass`
    /// or `density` column of the file takes precedence. For spheres that are there from the start or that a stage adds.
    pub mass: Option<Quantity<Mass, Positive>>,
    /// Velocity at the start; it is added to that of the file.
    #[serde(default)]
    pub velocity: Vector<Velocity>,
    /// Angular velocity at the start; it is added to that of the file.
    #[serde(default)]
    pub angular_velocity: Vector<AngularVelocity>,
    /// Temperature at the start, or of grains that enter. A `temperature` column of the file takes precedence. If some grains have a temperature, all
    /// need one, and contacts conduct heat.
    pub temperature: Option<Quantity<Temperature, NotNegative>>,
    /// Thickness of the liquid film on each grain at the start, or on grains that enter. A `film_thickness` column of the file takes precedence. Grains
    /// are dry if it is left out. Films share their liquid through contacts of materials with `film_exchange`.
    #[schemars(example = &"20 um")]
    pub film_thickness: Option<Quantity<Length, NotNegative>>,
    /// Force on each grain, besides gravity, contacts and bonds; for clumps on each sphere. A component is constant, or a formula of the time t in
    /// seconds, as in "(2 * sin(2 * pi * 5 * t)) N". None if left out.
    pub force: Option<[OfTime<Force>; 3]>,
    /// Torque on each grain, as `force`; for clumps on each sphere. None if left out.
    pub torque: Option<[OfTime<Torque>; 3]>,
    /// Prescribed motion: the grains, or clumps, move as one rigid boundary, whatever forces act on them, and push all that they contact or are bonded
    /// to. Keys as for walls, but without `servo`.
    pub motion: Option<Motion>,
    /// Makes the grains, or clumps, a boundary at rest, whatever forces act on them.
    #[serde(default)]
    pub fixed: bool,
    /// Connects each clump, or grain, to space by a hinge, a ball joint or a slider. On a hinge or a ball joint velocities follow from
    /// `angular_velocity`.
    pub joint: Option<JointSection>,
    /// Resolved coupling with fluids: bodies displace fluid and get buoyancy and drag through body boundary particles. For bodies thicker than a few
    /// spacings of the fluid. With solver = "muller2003": for spheres whose radius is at most the fluid's support less half a spacing. If fluids flow
    /// in a plane, all spheres must be in it; they are disks of a meter of depth.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub displaces_fluid: bool,
    /// Name of the fluid that they become when a stage melts them, as in "water"; for grains that displace fluids.
    #[schemars(example = &"water")]
    pub melts_into: Option<String>,
    /// Unresolved coupling with fluids: drag and buoyancy follow from empirical laws and also act back on the fluid. For spheres that are small
    /// compared with the fluid particles; they displace no fluid particles.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carried_by_fluid: bool,
}

impl GrainsSection {
    /// Whether the grains have a prescribed motion, at rest or not, as one boundary.
    pub fn is_boundary(&self) -> bool {
        self.fixed || self.motion.is_some()
    }

    /// The key that couples the grains to fluids.
    pub fn key_to_fluids(&self) -> Option<&'static str> {
        let keys = [
            ("displaces_fluid", self.displaces_fluid),
            ("carried_by_fluid", self.carried_by_fluid),
        ];
        keys.into_iter().find(|(_, is_given)| *is_given).map(|(key, _)| key)
    }
}

/// A box whose edges are parallel to the axes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "min": [0, 0, 0], "max": ["10 cm", "10 cm", "20 cm"] }))]
pub(crate) struct BoxShape {
    /// Lower corner.
    pub min: Vector<Length>,
    /// Upper corner.
    pub max: Vector<Length>,
}

/// Checkpoints from which a run resumes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CheckpointSection {
    /// Wall time between two checkpoints.
    #[schemars(example = &"10 min")]
    pub every: Quantity<Time, Positive>,
    /// Number of checkpoints that are kept: only the newest, or also the one before it.
    pub keep: WholeNumber<1, 2>,
}

impl Default for CheckpointSection {
    fn default() -> Self {
        CheckpointSection {
            every: Quantity::new(600.0),
            keep: WholeNumber(2),
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
