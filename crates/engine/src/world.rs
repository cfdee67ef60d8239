//! What a simulation starts from: materials, interactions, grains, walls, gravity. SI throughout.

mod body;
mod bond;
mod conduction;
mod fluid;
mod joint;
mod passage;
mod wall;

use crate::division::Ranks;
pub use body::{Body, Sphere};
pub use bond::{BondSize, Bonded, Bonds, CrossSection, UNBREAKABLE};
pub use conduction::{Conduction, Thermal};
pub(crate) use conduction::{check_conduction, check_temperatures};
pub(crate) use fluid::check_fluids;
pub use fluid::{
    Boundary, CONTACT_ANGLES, Fluid, Fluids, Hull, LARGEST_SUSPENDED, LEAST_COHESIVE_SUPPORT, Particles, Projection, Smoothing, Solver,
    Space, StateLaw, ViscousForce, capillary_speed,
};
pub use joint::{Joint, JointFlaw};
pub use passage::{FluidInlet, FluidOutlet, Opening};
pub use seixo_device::gpu::Api;
use seixo_laws::contact::{Adhesive, NormalLaw, Resistance, RollingLaw, TangentialLaw, TwistingLaw};
pub use seixo_laws::motion::Scheme;
pub use wall::{Frustum, Servo, SurfaceMotion, Triangle, Vibration, Wall, WallMotion, WallPath, WallShape};

/// A point or vector in space, x y z.
pub type Vec3 = [f64; 3];

/// An isotropic elastic solid.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name as the scene spells it.
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

/// How two materials act on each other when they touch.
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
    /// Normal spring k_n \[N/m\]; required by, and only used by, the linear law.
    pub stiffness: Option<f64>,
    /// Tangential spring k_t \[N/m\] of the linear tangential law; default 2/7 k_n with a linear normal law.
    pub tangential_stiffness: Option<f64>,
    /// Dissipative time A \[s\] of the viscoelastic law.
    pub dissipative_time: Option<f64>,
    /// Depth ε \[J\] of the potential.
    pub potential_energy: Option<f64>,
    /// What sticks the two together.
    pub cohesion: Option<Adhesive>,
    /// What resists rolling.
    pub rolling: Option<Resistance<RollingLaw>>,
    /// What resists twisting.
    pub twisting: Option<Resistance<TwistingLaw>>,
}

impl Default for Interaction {
    /// Smooth elastic contact by Hertz's law.
    fn default() -> Self {
        Interaction {
            normal: NormalLaw::Hertz,
            tangential: TangentialLaw::None,
            restitution: 1.0,
            friction: 0.0,
            stiffness: None,
            tangential_stiffness: None,
            dissipative_time: None,
            potential_energy: None,
            cohesion: None,
            rolling: None,
            twisting: None,
        }
    }
}

/// Grains as parallel columns; every column has the same length.
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
    /// Temperatures \[K\] where the world conducts heat; else empty.
    pub temperature: Vec<f64>,
    /// Rigid bodies that carry some of them.
    pub bodies: Vec<Body>,
}

impl Grains {
    /// Number of grains.
    pub fn len(&self) -> usize {
        self.id.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
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
    }
    /// Appends grain k of another table, with its temperature, but without what carries it.
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
        self.temperature.extend(other.temperature.get(k));
    }
}

/// What happens to a grain whose center leaves the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// It is removed; the ledger keeps what it took along.
    Delete,
    /// The run stops with an error that names it.
    Error,
}

/// The box in which grains may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Lower corner \[m\].
    pub min: Vec3,
    /// Upper corner \[m\].
    pub max: Vec3,
    /// What happens outside of sides that are not periodic.
    pub leaving: Leaving,
    /// Whether what leaves along x, y, z comes in on the other side.
    pub periodic: [bool; 3],
    /// Whether images slide past the domain, so that it is sheared.
    pub shear: Option<Shear>,
}

impl Domain {
    /// A domain whose sides are all open.
    pub fn open(min: Vec3, max: Vec3, leaving: Leaving) -> Domain {
        Domain {
            min,
            max,
            leaving,
            periodic: [false; 3],
            shear: None,
        }
    }

    /// Whether a center is outside of sides that are not periodic.
    pub fn has_lost(&self, center: &[f64]) -> bool {
        (0..3).any(|axis| !self.periodic[axis] && (center[axis] < self.min[axis] || center[axis] > self.max[axis]))
    }

    /// Corners of the domain, beyond all places along periodic axes.
    pub fn open_corners(&self) -> [Vec3; 2] {
        let pick = |axis: usize, corner: Vec3, far: f64| if self.periodic[axis] { far } else { corner[axis] };
        [
            [0, 1, 2].map(|axis| pick(axis, self.min, -1e300)),
            [0, 1, 2].map(|axis| pick(axis, self.max, 1e300)),
        ]
    }
}

/// Simple shear by Lees and Edwards' periodic sides: v along `flow` grows by `rate` per length along `gradient`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shear {
    /// Axis of the flow, 0 to 2.
    pub flow: usize,
    /// Axis of its gradient, another one.
    pub gradient: usize,
    /// Shear rate \[1/s\].
    pub rate: f64,
}

/// Everything a simulation starts from.
#[derive(Clone, Debug)]
pub struct World {
    /// Gravitational acceleration \[m/s²\].
    pub gravity: Vec3,
    /// Local non-viscous damping α \[-\] \[PUC-Rio 2009\], 0 ≤ α < 1.
    pub local_damping: f64,
    /// Box outside of which grains are deleted or refused; `None` = unbounded.
    pub domain: Option<Domain>,
    /// Materials.
    pub materials: Vec<Material>,
    /// Interaction of materials a and b at `a * materials.len() + b`, symmetric; `None` where the scene gives none.
    pub interactions: Vec<Option<Interaction>>,
    /// Names of the grain groups (scene sections).
    pub groups: Vec<String>,
    /// The grains.
    pub grains: Grains,
    /// The walls.
    pub walls: Vec<Wall>,
    /// What is not there at the start, but may come.
    pub later: Later,
    /// How heat flows; `None` where nobody asks.
    pub conduction: Option<Conduction>,
    /// What flows; `None` in a dry world.
    pub fluids: Option<Fluids>,
    /// What glues grains together.
    pub bonds: Vec<Bonds>,
    /// Forces laid on grains from outside.
    pub loads: Vec<Load>,
}

/// A force and a torque that act on every grain of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Index into [`World::groups`].
    pub group: u32,
    /// Force \[N\].
    pub force: Vec3,
    /// Torque \[N m\].
    pub torque: Vec3,
}

/// What is not there at the start, but may come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Later {
    /// Kinds of grains: cells, skin and time step are made for them, too.
    pub grains: Vec<Expected>,
    /// Indices into [`World::walls`] of those that are not there at the start.
    pub walls: Vec<usize>,
    /// Motions that walls, by their indices into [`World::walls`], may be given later, in their order: the time step is made for them, too.
    pub motions: Vec<(usize, WallMotion)>,
    /// Indices into [`World::bonds`] of those that are not made at the start.
    pub bonds: Vec<usize>,
    /// Indices into [`World::groups`] of those whose grains may be held, set free or loaded anew: such worlds run where held grains do.
    pub switched: Vec<u32>,
}

/// A kind of grains that may come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Index into [`World::materials`].
    pub material: u32,
    /// Smallest and largest radius \[m\].
    pub radius: [f64; 2],
    /// Largest speed at which they come \[m/s\].
    pub speed: f64,
    /// Largest coordinate at which they come \[m\].
    pub reach: f64,
    /// Highest id that they bring along; `None` if they get their ids as they come.
    pub highest_id: Option<u32>,
}

impl World {
    /// The interaction of two materials, if the scene gives one.
    pub fn interaction(&self, a: u32, b: u32) -> Option<&Interaction> {
        self.interactions[a as usize * self.materials.len() + b as usize].as_ref()
    }
}

/// How pairs are found. All ways find the same pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// `Grid` while R_max < 2 R_min, else `HierarchicalGrid`.
    #[default]
    Auto,
    /// Uniform grid, one cell size for all, every grain in the cell of its center \[PUC-Rio 2009, § 5.1.1\].
    Grid,
    /// Uniform grid, every grain in all cells that its box touches \[PUC-Rio 2009, § 5.1.2, after Ivson et al.\].
    GridMultiCell,
    /// One uniform grid per size class: each halves the radius.
    HierarchicalGrid,
    /// One hash table per size class, over a domain without bounds \[Silva 2010, Algorithm 2\].
    SpatialHash,
    /// Every pair tested; the reference for tests \[ME964 2011\].
    BruteForce,
}

impl Search {
    /// Every way.
    pub const ALL: [Search; 6] = [
        Search::Auto,
        Search::Grid,
        Search::GridMultiCell,
        Search::HierarchicalGrid,
        Search::SpatialHash,
        Search::BruteForce,
    ];

    /// Its word in a scene and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Search::Auto => "auto",
            Search::Grid => "grid",
            Search::GridMultiCell => "grid_multi_cell",
            Search::HierarchicalGrid => "hierarchical_grid",
            Search::SpatialHash => "spatial_hash",
            Search::BruteForce => "brute_force",
        }
    }

    /// The way that is taken for grains of these radii. `Auto` looks at their spread: cells of twice the largest radius hold the more small
    /// grains, all looked at, the wider it is. Below a spread of 2 there is one size class, and both grids are the same; to a spread of 4 they
    /// were measured alike, from 8 on the hierarchical one was faster (docs/theory/search.md).
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

/// Where a world is stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// Whichever of the CPU, the first GPU that is one and both together takes most steps in a second, with a notice of what was measured; of many
    /// grains the GPU, untried; the CPU, with a notice, where there is no GPU.
    Auto,
    /// The cores of this machine.
    #[default]
    Cpu,
    /// A GPU: the most capable, or the one of this API and index.
    Gpu(Option<(Api, usize)>),
    /// Grains and bodies on the cores of this machine, fluids at the same time on a GPU: the most capable, or the one of this API and index.
    Heterogeneous(Option<(Api, usize)>),
}

/// With how many digits a world is stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// All in double precision.
    F64,
    /// Coordinates, and velocities as they are summed up, in double precision; forces and all else in single.
    Mixed,
    /// All in single precision: for devices that have no other, and domains of a few hundred radii.
    F32,
}

impl Precision {
    /// Its word on the command line and in a scene.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F64 => "f64",
            Precision::Mixed => "mixed",
            Precision::F32 => "f32",
        }
    }
}

/// How a GPU puts forces together. All ways give the same forces; what is slower is there to be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assembly {
    /// In one launch: every grain adds up its own row of neighbors and moves on.
    #[default]
    Fused,
    /// Through a list of contacts: each is computed for both of its grains, and every grain adds up its own part of the list \[PUC-Rio 2009\].
    ContactList,
    /// Every contact once; what its two grains get is sorted by grain and added up \[ME964 2011\].
    SortedContacts,
}

impl Assembly {
    /// Every way.
    pub const ALL: [Assembly; 3] = [Assembly::Fused, Assembly::ContactList, Assembly::SortedContacts];

    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Assembly::Fused => "fused",
            Assembly::ContactList => "contact-list",
            Assembly::SortedContacts => "sorted-contacts",
        }
    }
}

/// How a world is stepped.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where.
    pub device: DeviceChoice,
    /// With how many digits; `None` = f64 on the CPU, mixed on a GPU.
    pub precision: Option<Precision>,
    /// Time step \[s\]; `None` = chosen from the stable limit.
    pub time_step: Option<f64>,
    /// Scheme of integration.
    pub scheme: Scheme,
    /// Pair search.
    pub search: Search,
    /// Skin of the Verlet list \[m\]; `None` = chosen from the radii. Zero rebuilds at every step.
    pub skin: Option<f64>,
    /// Threads; 0 = all cores.
    pub threads: usize,
    /// Overlap above which the run stops, as a fraction of the smaller radius.
    pub overlap_limit: f64,
    /// How forces are put together, on a GPU; the CPU has one way.
    pub assembly: Assembly,
    /// Whether spheres of rigid bodies that are far from all else are left out when lists are made, on the CPU. It changes no result.
    pub broad_phase: bool,
    /// Whether results do not depend, to the last bit, on how the world is divided among devices or on what is far away: rows of neighbors stand in
    /// the order of ids, and every particle adds its own row up. Not meant are sums over all: the ledger, wear, servos of walls on a GPU, and the error at
    /// which pressures of incompressible fluids are taken for found. Where sides are periodic, lists are to be made anew at the same steps, since particles
    /// are put back then.
    pub divisible: bool,
    /// Among how many domains grains and fluids are divided, each with threads of its own, see [`crate::Refusal::Division`]; 1 = not at all. With more, results
    /// are those of [`Settings::divisible`].
    pub domains: usize,
    /// On how many GPUs of this machine domains are, of the API of the one that [`Settings::device`] asks for; with 1, all of them are on that one.
    pub gpus: usize,
    /// The processes among which the grains are divided, a domain each, where there are several. [`Settings::domains`] is their number then, and
    /// [`Settings::threads`] is meant for each of them, 0 = one.
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
            assembly: Assembly::default(),
            broad_phase: true,
            divisible: false,
            domains: 1,
            gpus: 1,
            ranks: None,
        }
    }
}
