//! Initial state of a simulation: materials, interactions, grains, walls, gravity. All values are in SI units.
//!
//! ```
//! use seixo_engine::world::{Interaction, Material, World};
//!
//! let glass = Material { name: "glass".into(), density: 2500.0, youngs_modulus: 7e10, poisson_ratio: 0.25 };
//! let rubber = Material { name: "rubber".into(), density: 1100.0, youngs_modulus: 5e6, poisson_ratio: 0.49 };
//! assert_eq!(glass.shear_modulus(), 2.8e10);
//! let rough = Some(Interaction { friction: 0.8, ..Interaction::default() });
//! let world = World {
//!     materials: vec![glass, rubber],
//!     interactions: vec![None, rough.clone(), rough, None],
//!     ..World::default()
//! };
//! assert_eq!(world.interaction(0, 1).map(|pair| pair.friction), Some(0.8));
//! ```

mod body;
mod bond;
mod builder;
mod cell;
mod conduction;
mod fluid;
mod grain_source;
mod joint;
mod lightest_sphere;
mod open_boundary;
mod polyhedral_grain;
mod principal;
mod saved;
mod shape;
pub(crate) mod speed_limit;
mod sphere_mass;
mod time_function;
mod time_step;
mod wall;

use crate::ranks::Ranks;
use crate::scalars::{GrainScalar, GrainScalars};
pub use body::{Body, Sphere};
pub use bond::{BondSize, Bonded, Bonds, CrossSection, PairValues, UNBREAKABLE};
pub use builder::WorldBuilder;
pub use cell::{AxisControl, CellControl};
pub(crate) use conduction::check_conduction;
pub use conduction::{Conduction, Thermal};
pub(crate) use fluid::check_fluids;
pub use fluid::{
    BodyBoundary, CONTACT_ANGLES, Fluid, Fluids, LARGEST_SUSPENDED, MIN_COHESIVE_SUPPORT, Particles, PressureTolerance, SignedDistances,
    Smoothing, Solver, Space, StateLaw, ViscousForce, WallParticles, capillary_speed,
};
pub use grain_source::GrainSource;
pub use joint::{Joint, JointFlaw};
pub(crate) use joint::{constraint_of, rotation_to_axes, start_of};
pub(crate) use lightest_sphere::{LightestSphere, lightest_spheres};
pub use open_boundary::{FluidInlet, FluidOutlet, OutletForm};
pub use polyhedral_grain::PolyhedralGrain;
pub(crate) use polyhedral_grain::{check_polyhedra, check_shapes, check_walls_around};
pub use principal::principal;
pub use saved::SavedGrains;
pub(crate) use saved::{
    LoadNumbers, OF_LOAD, SavedBond, SavedContact, SavedForces, SavedHistory, SavedShapeContacts, SavedWallContact, flaw_of_shapes,
};
pub use seixo_device::Cpu;
pub use seixo_device::gpu::Api;
use seixo_laws::Vector3;
use seixo_laws::contact::{Cohesion, NormalLaw, ResistanceLaw, RollingLaw, TangentialLaw, TwistingLaw};
pub use seixo_laws::motion::Scheme;
pub use seixo_sweeps::shapes::PartEnds;
pub use shape::PolyhedralShape;
pub use sphere_mass::volume_of_sphere;
pub(crate) use sphere_mass::{given_mass_or_of_sphere, mass_of_sphere};
use std::collections::BTreeMap;
use std::sync::Arc;
pub use time_function::{Formula, FormulaError, TimeFunction, VectorOfTime};
pub use time_step::TimeStep;
pub use wall::{
    Extent, Frustum, MotionFrame, Servo, ServoTarget, SurfaceMotion, Triangle, Vibration, Wall, WallMotion, WallPath, WallShape,
};

/// A point or vector in space, x y z.
pub type Vec3 = [f64; 3];

/// The vector of three numbers.
pub(crate) fn vector(v: Vec3) -> Vector3<f64> {
    Vector3 { x: v[0], y: v[1], z: v[2] }
}

/// The numbers of a vector.
pub(crate) fn array(v: &Vector3<f64>) -> Vec3 {
    [v.x, v.y, v.z]
}

/// An isotropic elastic solid.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name in the scene.
    pub name: String,
    /// Mass density \[kg/m³\].
    pub density: f64,
    /// Young's modulus E \[Pa\].
    pub youngs_modulus: f64,
    /// Poisson's ratio ν \[-\], −1 < ν ≤ 0.5.
    pub poisson_ratio: f64,
}

impl Material {
    /// Shear modulus G = E / (2 (1 + ν)) \[Pa\].
    pub fn shear_modulus(&self) -> f64 {
        self.youngs_modulus / (2.0 * (1.0 + self.poisson_ratio))
    }
}

/// Contact laws and coefficients of a pair of materials.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    /// Law of the normal force.
    pub normal: NormalLaw,
    /// Law of the tangential force.
    pub tangential: TangentialLaw,
    /// Coefficient of restitution e \[-\], 0 < e ≤ 1.
    pub restitution: f64,
    /// Coulomb friction coefficient μ \[-\].
    pub friction: f64,
    /// Normal stiffness k_n \[N/m\]; required and used by the linear law only.
    pub stiffness: Option<f64>,
    /// Damping γ_n per effective mass \[1/s\] of the linear law and of Hertz's, in place of a restitution below 1.
    pub damping: Option<f64>,
    /// Damping γ_t per effective mass \[1/s\] of the tangential law, see [`Interaction::damping_rates`].
    pub tangential_damping: Option<f64>,
    /// Tangential stiffness k_t \[N/m\] of the linear tangential law, see [`Interaction::tangential_spring`].
    pub tangential_stiffness: Option<f64>,
    /// Dissipative time A \[s\] of the viscoelastic law.
    pub dissipative_time: Option<f64>,
    /// Depth ε \[J\] of the potential.
    pub potential_energy: Option<f64>,
    /// Cohesion law.
    pub cohesion: Option<Cohesion>,
    /// Law of the rolling resistance.
    pub rolling: Option<ResistanceLaw<RollingLaw>>,
    /// Law of the twisting resistance.
    pub twisting: Option<ResistanceLaw<TwistingLaw>>,
    /// Rate at which the films of two grains in contact even out their thicknesses \[1/s\]; `None` = they share no liquid.
    pub film_exchange: Option<f64>,
}

impl Interaction {
    /// Dampings γ_n and γ_t per effective mass \[1/s\]; zero where a restitution gives the damping. Unless it is given, γ_t is half of γ_n, as in LAMMPS.
    pub fn damping_rates(&self) -> [f64; 2] {
        let normal = self.damping.unwrap_or(0.0);
        let tangential = if self.tangential == TangentialLaw::None {
            0.0
        } else {
            0.5 * normal
        };
        [normal, self.tangential_damping.unwrap_or(tangential)]
    }

    /// Whether the normal force has an energy that depends on the overlap alone, beside a dashpot, and no other torque than that of friction acts.
    pub(crate) fn is_of_overlap_alone(&self) -> bool {
        let is_plain = self.cohesion.is_none() && self.rolling.is_none() && self.twisting.is_none();
        is_plain && self.normal != NormalLaw::Hysteretic
    }

    /// Stiffness k_t \[N/m\] of the linear tangential law. Unless it is given, it is 2/7 of the normal stiffness, if there is one.
    pub fn tangential_spring(&self) -> Option<f64> {
        self.tangential_stiffness.or(self.stiffness.map(|stiffness| 2.0 / 7.0 * stiffness))
    }
}

impl Default for Interaction {
    /// Smooth elastic contact with Hertz's law.
    fn default() -> Self {
        Interaction {
            normal: NormalLaw::Hertz,
            tangential: TangentialLaw::None,
            restitution: 1.0,
            friction: 0.0,
            stiffness: None,
            damping: None,
            tangential_damping: None,
            tangential_stiffness: None,
            dissipative_time: None,
            potential_energy: None,
            cohesion: None,
            rolling: None,
            twisting: None,
            film_exchange: None,
        }
    }
}

/// Grains as parallel columns of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grains {
    /// Unique ids.
    pub id: Vec<u32>,
    /// Centers \[m\].
    pub position: Vec<Vec3>,
    /// Velocities \[m/s\].
    pub velocity: Vec<Vec3>,
    /// Angular velocities \[rad/s\].
    pub angular_velocity: Vec<Vec3>,
    /// Radii \[m\].
    pub radius: Vec<f64>,
    /// Index into [`World::materials`].
    pub material: Vec<u32>,
    /// Index into [`World::groups`].
    pub group: Vec<u32>,
    /// Shape of each grain: 0 is a sphere, k the shape k − 1 of [`World::shapes`]. Empty if all are spheres.
    pub shape: Vec<u32>,
    /// Orientation of each grain, a unit quaternion w x y z. Empty if all are spheres.
    pub orientation: Vec<[f64; 4]>,
    /// Masses that are given \[kg\], by the ids of their grains; all others follow from the densities of materials. A rigid body has a mass of its
    /// own.
    pub masses: BTreeMap<u32, f64>,
    /// Scalars that they carry, such as temperatures where the world conducts heat.
    pub scalars: GrainScalars,
    /// Rigid bodies that carry some of them.
    pub bodies: Vec<Body>,
}

impl Grains {
    /// Number of grains.
    pub fn len(&self) -> usize {
        self.id.len()
    }
    /// Whether there are no grains.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }
    /// Makes room for more grains in all columns.
    pub fn reserve(&mut self, grains: usize) {
        self.id.reserve_exact(grains);
        self.position.reserve_exact(grains);
        self.velocity.reserve_exact(grains);
        self.angular_velocity.reserve_exact(grains);
        self.radius.reserve_exact(grains);
        self.material.reserve_exact(grains);
        self.group.reserve_exact(grains);
    }

    /// Appends one grain.
    #[expect(clippy::too_many_arguments, reason = "one argument per column of the table")]
    pub fn push(&mut self, id: u32, position: Vec3, velocity: Vec3, angular_velocity: Vec3, radius: f64, material: u32, group: u32) {
        self.id.push(id);
        self.position.push(position);
        self.velocity.push(velocity);
        self.angular_velocity.push(angular_velocity);
        self.radius.push(radius);
        self.material.push(material);
        self.group.push(group);
        if !self.shape.is_empty() {
            self.shape.push(0);
            self.orientation.push([1.0, 0.0, 0.0, 0.0]);
        }
    }

    /// Mass of grain k as a single sphere of this density \[kg/m³\], or its given mass \[kg\].
    pub(crate) fn mass_alone(&self, k: usize, density: f64) -> f64 {
        given_mass_or_of_sphere(self.masses.get(&self.id[k]), self.radius[k], density)
    }

    /// Appends grain k of another table, with its scalars and its given mass, but without its body.
    pub fn push_from(&mut self, other: &Grains, k: usize) {
        self.push(
            other.id[k],
            other.position[k],
            other.velocity[k],
            other.angular_velocity[k],
            other.radius[k],
            other.material[k],
            other.group[k],
        );
        if let Some(&shape) = other.shape.get(k) {
            let count = self.len();
            self.shape.resize(count, 0);
            self.orientation.resize(count, [1.0, 0.0, 0.0, 0.0]);
            (self.shape[count - 1], self.orientation[count - 1]) = (shape, other.orientation[k]);
        }
        self.masses.extend(other.masses.get_key_value(&other.id[k]));
        self.scalars.push_from(&other.scalars, k);
    }
}

/// Policy for a grain whose center leaves the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeavingPolicy {
    /// The grain is removed when the neighbor lists are rebuilt, at most half a skin and one step outside; with a skin of 0 on a GPU, half the default
    /// skin. The ledger records the energy that it takes along.
    Delete,
    /// The run stops with an error that names the grain.
    Error,
}

/// The box in which grains may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Lower corner \[m\].
    pub min: Vec3,
    /// Upper corner \[m\].
    pub max: Vec3,
    /// Policy for grains that leave through sides that are not periodic.
    pub leaving: LeavingPolicy,
    /// Whether a grain that leaves along x, y or z enters on the opposite side.
    pub periodic: [bool; 3],
    /// Shear of the domain, in which periodic images slide past it; `None` without shear.
    pub shear: Option<Shear>,
    /// Control of the lengths along periodic axes; `None` if they stay.
    pub control: Option<CellControl>,
}

impl Domain {
    /// A domain whose sides are all open.
    pub fn open(min: Vec3, max: Vec3, leaving: LeavingPolicy) -> Domain {
        Domain {
            min,
            max,
            leaving,
            periodic: [false; 3],
            shear: None,
            control: None,
        }
    }

    /// Whether a center is outside a side that is not periodic.
    pub fn is_outside_domain(&self, center: &[f64]) -> bool {
        (0..3).any(|axis| !self.periodic[axis] && (center[axis] < self.min[axis] || center[axis] > self.max[axis]))
    }

    /// Corners of the domain; along periodic axes they are farther than any position.
    pub fn open_corners(&self) -> [Vec3; 2] {
        let pick = |axis: usize, corner: Vec3, far: f64| if self.periodic[axis] { far } else { corner[axis] };
        [
            [0, 1, 2].map(|axis| pick(axis, self.min, -1e300)),
            [0, 1, 2].map(|axis| pick(axis, self.max, 1e300)),
        ]
    }
}

/// Simple shear by the periodic sides of Lees and Edwards: the velocity along `flow` grows by `rate` per length along `gradient`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shear {
    /// Axis of the flow, 0 to 2.
    pub flow: usize,
    /// Axis of the velocity gradient; differs from `flow`.
    pub gradient: usize,
    /// Shear rate \[1/s\].
    pub rate: f64,
}

/// Complete initial state of a simulation. The default is empty, without gravity and without bounds.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Gravitational acceleration \[m/s²\].
    pub gravity: Vec3,
    /// Local non-viscous damping α \[-\] \[PUC-Rio 2009\], 0 ≤ α < 1.
    pub local_damping: f64,
    /// Forces on which local damping acts.
    pub locally_damped: LocallyDamped,
    /// Box outside of which grains are removed or an error; `None` = unbounded.
    pub domain: Option<Domain>,
    /// Materials.
    pub materials: Vec<Material>,
    /// Interaction of materials a and b at `a * materials.len() + b`, symmetric; `None` where the scene gives none.
    pub interactions: Vec<Option<Interaction>>,
    /// Names of the grain groups (scene sections).
    pub groups: Vec<String>,
    /// Shapes of polyhedral grains.
    pub shapes: Vec<PolyhedralShape>,
    /// The grains.
    pub grains: Grains,
    /// The walls.
    pub walls: Vec<Wall>,
    /// Objects that may be added during the run.
    pub later: LaterAdditions,
    /// Heat conduction; `None` if it is not computed.
    pub conduction: Option<Conduction>,
    /// Fluids; `None` in a world without fluids.
    pub fluids: Option<Fluids>,
    /// Bonds between grains.
    pub bonds: Vec<Bonds>,
    /// External forces on grains.
    pub loads: Vec<Load>,
    /// What another simulation saved of grains that are among [`World::grains`], by their ids: they go on with its forces, contact histories and bonds.
    /// `None` for a world in which all begins.
    pub saved: Option<Arc<SavedGrains>>,
}

/// Forces on which local damping acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocallyDamped {
    /// All forces, with weight: a grain that rises and falls freely loses energy, too.
    #[default]
    AllForces,
    /// All forces but weight \[PUC-Rio 2009, eqs. 3-9 and 3-11\]: free fall is not damped.
    AllButWeight,
}

impl LocallyDamped {
    /// 1 if weight is damped, else 0.
    pub(crate) fn share_of_weight(self) -> f64 {
        match self {
            LocallyDamped::AllForces => 1.0,
            LocallyDamped::AllButWeight => 0.0,
        }
    }
}

/// A force and a torque that act on every grain of a group, constant or as formulas of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Index into [`World::groups`].
    pub group: u32,
    /// Force \[N\].
    pub force: VectorOfTime,
    /// Torque \[N m\].
    pub torque: VectorOfTime,
}

impl Load {
    /// A constant force \[N\] and torque \[N m\] on every grain of a group.
    pub fn constant(group: u32, force: Vec3, torque: Vec3) -> Load {
        Load {
            group,
            force: force.into(),
            torque: torque.into(),
        }
    }

    /// Whether it depends on time.
    pub fn depends_on_time(&self) -> bool {
        self.force.depends_on_time() || self.torque.depends_on_time()
    }
}

/// Objects that may be added during the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaterAdditions {
    /// Kinds of grains; cells, skin and time step are chosen for them, too.
    pub grains: Vec<ExpectedGrains>,
    /// Indices into [`World::walls`] of walls that are absent at the start.
    pub walls: Vec<usize>,
    /// Motions that walls may receive later, in their order, with indices into [`World::walls`]. The time step is chosen for them, too.
    pub motions: Vec<(usize, WallMotion)>,
    /// Indices into [`World::bonds`] of bonds that are not made at the start.
    pub bonds: Vec<usize>,
    /// Indices into [`World::groups`] of groups whose grains may be fixed, released or loaded during the run.
    /// Such worlds run on the devices on which grains with prescribed motion run.
    pub constrained_groups: Vec<u32>,
    /// Whether fluids may freeze into rigid bodies, see [`crate::Simulation::freeze`]. The kinds of their spheres are in `grains`. Such worlds run as
    /// those with bodies.
    pub freezes: bool,
}

/// A kind of grains that may enter during the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedGrains {
    /// Index into [`World::materials`].
    pub material: u32,
    /// Smallest and largest radius \[m\].
    pub radius: [f64; 2],
    /// Smallest mass over radius \[kg/m\] of grains whose mass is given; `None` for grains of the density of their material.
    pub mass_per_radius: Option<f64>,
    /// Index into [`World::shapes`]; `None` for spheres.
    pub shape: Option<u32>,
    /// Largest speed at which they enter \[m/s\].
    pub speed: f64,
    /// Largest coordinate at which they enter \[m\].
    pub reach: f64,
    /// Highest of their ids, if they bring ids; `None` if they receive ids when they enter.
    pub highest_id: Option<u32>,
}

impl World {
    /// The interaction of two materials, if the scene gives one.
    pub fn interaction(&self, a: u32, b: u32) -> Option<&Interaction> {
        self.interactions[a as usize * self.materials.len() + b as usize].as_ref()
    }

    /// Scalars that every grain must have.
    pub fn scalars(&self) -> Vec<GrainScalar> {
        let heat = self.conduction.as_ref().map(|_| GrainScalar::Temperature);
        let films = self.has_films().then_some(GrainScalar::FilmThickness);
        heat.into_iter().chain(films).collect()
    }

    /// Whether grains have liquid films: some interaction lets them share their liquid.
    pub fn has_films(&self) -> bool {
        self.interactions
            .iter()
            .flatten()
            .any(|interaction| interaction.film_exchange.is_some())
    }
}

/// Method of the pair search. All methods find the same pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// `Grid` while R_max < 2 R_min, else `HierarchicalGrid`.
    #[default]
    Auto,
    /// Uniform grid with one cell size; each grain is in the cell of its center \[PUC-Rio 2009, § 5.1.1\].
    Grid,
    /// Uniform grid; each grain is in all cells that its bounding box overlaps \[PUC-Rio 2009, § 5.1.2, after Ivson et al.\].
    GridMultiCell,
    /// One uniform grid for each size class; radii halve from class to class.
    HierarchicalGrid,
    /// One hash table for each size class, over an unbounded domain \[Silva 2010, § 4.2 and Algorithm 2\].
    SpatialHash,
    /// The same, with more tables for the spheres of bodies with a prescribed motion that are at rest for good. These are filled only when such
    /// spheres come, go or are elsewhere \[Silva 2010, § 4.2\]. Rows of neighbors are those of `SpatialHash`, in the same order.
    SpatialHashStatic,
    /// Test of every pair; the reference in tests \[ME964 2011\].
    BruteForce,
}

impl Search {
    /// All methods.
    pub const ALL: [Search; 7] = [
        Search::Auto,
        Search::Grid,
        Search::GridMultiCell,
        Search::HierarchicalGrid,
        Search::SpatialHash,
        Search::SpatialHashStatic,
        Search::BruteForce,
    ];

    /// Name in a scene and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Search::Auto => "auto",
            Search::Grid => "grid",
            Search::GridMultiCell => "grid_multi_cell",
            Search::HierarchicalGrid => "hierarchical_grid",
            Search::SpatialHash => "spatial_hash",
            Search::SpatialHashStatic => "spatial_hash_static",
            Search::BruteForce => "brute_force",
        }
    }

    /// Resolves `Auto` for grains of these radii.
    ///
    /// The choice depends on the spread of the radii. Cells of twice the largest radius contain more small grains, all of which are tested, the wider
    /// it is.
    /// Below a spread of 2 there is one size class, and both grids are the same. Up to a spread of 4 both were measured to be equally fast.
    /// From 8 on the hierarchical grid was faster (docs/evidence/search.md).
    pub fn chosen_for(self, radii: impl Iterator<Item = f64>) -> Search {
        if self != Search::Auto {
            return self;
        }
        let (least, most) = radii.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), r| (least.min(r), most.max(r)));
        if most < 2.0 * least {
            Search::Grid
        } else {
            Search::HierarchicalGrid
        }
    }
}

/// Device on which a world is stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The fastest of the CPU, the first GPU and both together, by steps per second; a notice reports the measurement.
    /// With many grains the GPU is taken without a trial. Without a GPU the CPU is taken, with a notice.
    Auto,
    /// The CPU cores of this machine.
    #[default]
    Cpu,
    /// A GPU: the most capable one, or the one with this API and index.
    Gpu(Option<(Api, usize)>),
    /// Grains and bodies on the CPU cores, and fluids at the same time on a GPU: the most capable one, or the one with this API and index.
    Heterogeneous(Option<(Api, usize)>),
}

/// Number of digits in which a world is stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// All values in double precision.
    F64,
    /// Coordinates and the sums of velocities in double precision; forces and all other values in single precision.
    Mixed,
    /// All values in single precision: for devices without double precision, and domains of at most a few hundred radii.
    F32,
}

impl Precision {
    /// Name on the command line and in a scene.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F64 => "f64",
            Precision::Mixed => "mixed",
            Precision::F32 => "f32",
        }
    }
}

/// Method by which forces between grains are assembled. All methods give the same forces; the slower ones are there for comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForceAssembly {
    /// One launch: each grain sums its own row of the neighbor list and is integrated.
    #[default]
    Fused,
    /// List of contacts: each contact is computed for both grains, and each grain sums its own part of the list \[PUC-Rio 2009\].
    ContactList,
    /// Each contact is computed once; the forces on its two grains are sorted by grain and summed \[ME964 2011\].
    SortedContacts,
}

impl ForceAssembly {
    /// All methods.
    pub const ALL: [ForceAssembly; 3] = [ForceAssembly::Fused, ForceAssembly::ContactList, ForceAssembly::SortedContacts];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ForceAssembly::Fused => "fused",
            ForceAssembly::ContactList => "contact_list",
            ForceAssembly::SortedContacts => "sorted_contacts",
        }
    }
}

/// Particles that a subdomain tests, at a rebuild of neighbor lists, to find those that are ghost particles of a neighbor. Both methods find the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GhostSelection {
    /// All particles, which took less time on a GPU (docs/evidence/scaling.md).
    #[default]
    All,
    /// Those in layers of cells near the neighbor \[Harada 2010\]. Fluids on the CPU, and those with wall particles that move, test all.
    Layers,
}

impl GhostSelection {
    /// All methods.
    pub const ALL: [GhostSelection; 2] = [GhostSelection::All, GhostSelection::Layers];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            GhostSelection::All => "all",
            GhostSelection::Layers => "layers",
        }
    }
}

/// Whether steps of grains in subdomains on GPUs are in parts: first the grains that are ghost particles of a neighbor, and all others while these travel.
/// It changes no result. Steps for which the hosts wait, and those of grains with bonds, bodies, heat, local damping or sliding
/// sides, are never in parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HaloOverlap {
    /// Always.
    Always,
    /// Never. On two GPUs with NVLink, parts took longer than steps at once with a million grains each.
    #[default]
    Never,
}

impl HaloOverlap {
    /// All kinds.
    pub const ALL: [HaloOverlap; 2] = [HaloOverlap::Always, HaloOverlap::Never];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            HaloOverlap::Always => "always",
            HaloOverlap::Never => "never",
        }
    }
}

/// What subdomains share equally when load is balanced. Particles have the same bits with both; sums over all particles agree to rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadBalance {
    /// Particles. Two runs then have the same planes, and so the same sums.
    #[default]
    Count,
    /// Work time, where it can be measured, else particles. Clocks decide where planes are.
    Time,
}

impl LoadBalance {
    /// Both.
    pub const ALL: [LoadBalance; 2] = [LoadBalance::Count, LoadBalance::Time];

    /// Name in scenes.
    pub fn name(self) -> &'static str {
        match self {
            LoadBalance::Count => "count",
            LoadBalance::Time => "time",
        }
    }
}

/// Settings of the time integration.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Device.
    pub device: DeviceChoice,
    /// Precision; `None` = f64 on the CPU, mixed on a GPU. On the CPU, mixed concerns frictional contacts of grains only, and there is no f32.
    pub precision: Option<Precision>,
    /// Time step \[s\]; `None` = derived from the stability limit.
    pub time_step: Option<f64>,
    /// Integration scheme.
    pub scheme: Scheme,
    /// Pair search.
    pub search: Search,
    /// Skin of the neighbor list \[m\]; `None` = chosen from radii or spacings at first, and from the motion during the run. Zero rebuilds the list at
    /// every step.
    pub skin: Option<f64>,
    /// Number of threads; 0 = all cores.
    pub threads: usize,
    /// Overlap above which the run stops, as a fraction of the smaller radius.
    pub overlap_limit: f64,
    /// Method by which forces between grains are assembled.
    pub assembly: ForceAssembly,
    /// Whether the cores find, by bounding boxes, the spheres of rigid bodies that are far from all other objects, which then are not searched
    /// \[Silva 2010, § 5.3.4\]; `None` = for bodies on the CPU. With `Some(true)` also for bodies on a GPU. It changes no result.
    pub broad_phase: Option<bool>,
    /// Whether results have the same bits for any decomposition and whatever happens far away.
    ///
    /// Neighbor rows are then ordered by id, and each particle sums its own row. Excluded are sums over all particles: the ledger, wear, servos of
    /// walls on a GPU, and the error at which pressures of incompressible fluids count as converged. With periodic sides, lists must be rebuilt at
    /// the same steps, since particles are wrapped into the domain then.
    pub decomposition_invariant: bool,
    /// Number of subdomains for grains and fluids, each with threads of its own, see [`crate::WorldError::Subdomains`]; 1 = no decomposition.
    /// With more than one, results are those of [`Settings::decomposition_invariant`].
    pub domains: usize,
    /// Particles that subdomains test for ghost particles. It changes no result.
    pub ghost_selection: GhostSelection,
    /// Whether steps of grains in subdomains on GPUs are in parts, so that halos travel meanwhile. It changes no result.
    pub halo_overlap: HaloOverlap,
    /// What subdomains share equally. Its planes change no bit of a particle, but the last digits of sums over all.
    pub load_balance: LoadBalance,
    /// Number of GPUs of this machine for the subdomains, of the API of the one in [`Settings::device`]; with 1, all subdomains are on that GPU.
    pub gpus: usize,
    /// The MPI processes, if there are several; each has one subdomain. [`Settings::domains`] is then their number, and [`Settings::threads`] applies
    /// to each of them, 0 = one.
    pub ranks: Option<Ranks>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            device: DeviceChoice::default(),
            precision: None,
            time_step: None,
            scheme: Scheme::default(),
            search: Search::Auto,
            skin: None,
            threads: 0,
            overlap_limit: 0.5,
            assembly: ForceAssembly::default(),
            broad_phase: None,
            decomposition_invariant: false,
            domains: 1,
            ghost_selection: GhostSelection::default(),
            halo_overlap: HaloOverlap::default(),
            load_balance: LoadBalance::default(),
            gpus: 1,
            ranks: None,
        }
    }
}
