//! Flow of fluids: fluid particles, wall particles, and how both are set up.

mod backend;
pub(crate) mod body_boundary;
pub(crate) mod boundary;
pub(crate) mod checkpoint;
mod dfsph;
pub(crate) mod freezing;
mod guard;
pub(crate) mod halo;
mod lattice;
pub(crate) mod layout;
mod leaks;
mod measure;
pub(crate) mod melting;
mod muller;
mod open_boundaries;
mod passes;
pub(crate) mod pressure_solver;
mod sample;
mod shifting;
mod skin;
pub(crate) mod suspension;
mod tension;
mod xsph;

use body_boundary::BodyBoundaries;
pub(crate) use boundary::check_motion;
use boundary::check_running;
pub use freezing::Freezing;
pub(crate) use halo::{Columns, FluidReport, Halo, NoHalo, is_marked};
pub(crate) use measure::{FlowEnergies, FlowEnergy};
pub use melting::Melting;
pub(crate) use muller::Muller;
pub(crate) use open_boundaries::{InletState, OpenBoundaries};
use pressure_solver::PressureSolver;
pub use pressure_solver::PressureSolves;
pub(crate) use pressure_solver::{Constraint, IterationError, iterate};
pub(crate) use sample::CellSortedParticles;
pub use sample::FluidSampler;
use suspension::Suspension;

use crate::fields::FluidFields;
use crate::periodic::check_periods;
use crate::refusal::WorldError;
use crate::search::{Cells, Pairs, SkinTuning};
use crate::surroundings::Surroundings;
use crate::world::{Fluids, GhostSelection, Solver, StateLaw, TimeStep, Vec3, World};
use seixo_laws::fluid::Smoother;
use seixo_laws::fluid::tension::{share_of_wall, strengths};
use seixo_sweeps::fluid::{FluidKernelConfig, MEDIUM, WALL};
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::motion::{MotionReport, StepParameters};
use seixo_sweeps::periodic::SHEARED;

/// Share of the limit of the time step that "auto" takes.
const AUTO_OF_LIMIT: f64 = 0.625;

/// Skin of the neighbor lists where the scene gives none, at the start of a run, in spacings.
const SKIN_OF_SPACING: f64 = 0.3;

/// Fluids and their state.
pub(crate) struct Flow {
    /// Discretization and boundaries of the fluids, without their particles.
    pub plan: Fluids,
    pub fields: FluidFields,
    pub cells: Cells,
    /// Present unless the skin of the lists is given.
    pub skin_tuning: Option<SkinTuning>,
    /// Number of steps since the last rebuild of the neighbor lists.
    pub steps_since_listed: u64,
    /// Pairs inside a part are in one row, pairs across parts in both. For solvers that list pairs twice, and in decomposition-invariant worlds, all
    /// are in both.
    pub pairs: Pairs,
    /// Whether rows are in the order of ids, see [`crate::world::Settings::decomposition_invariant`].
    pub decomposition_invariant: bool,
    /// Particles that a subdomain on a GPU tests for ghost particles, see [`crate::world::Settings::ghost_selection`].
    pub ghost_selection: GhostSelection,
    /// Fluid neighbors of each wall particle; empty where all pairs are in both rows.
    before_walls: Pairs,
    /// Pressure and velocity of the fluid in front of each wall particle, in the order of `walls`.
    before: Vec<f64>,
    /// Indices of wall particles.
    walls: Vec<u32>,
    /// Rows of coefficients of the fluids, see [`MEDIUM`].
    pub media: Vec<f64>,
    /// XSPH coefficient ε of each fluid \[-\].
    pub xsph: Vec<f64>,
    pub stepping: StepParameters<f64, f64>,
    pub compiled_for: FluidKernelConfig,
    moves: Vec<MotionReport<f64>>,
    /// Whether bodies left whose particles are still there.
    bodies_left: bool,
    contact_power_sums: Vec<FluidPowerSums>,
    /// Powers at the last step \[W\].
    pub last: FluidPowerSums,
    /// Energies dissipated and gained since time zero \[J\].
    pub work: FluidPowerSums,
    /// Surface energy at the last observation of a GPU \[J\].
    pub surface: f64,
    /// Energy of the springs to bodies at that time \[J\].
    pub springs: f64,
    /// Energy of particles that left \[J\].
    pub left: f64,
    /// Bodies that are coupled to fluids.
    pub body_boundaries: BodyBoundaries,
    /// How many of these, the last in the plan, froze out of fluids.
    pub frozen_bodies: usize,
    /// Grains that are smaller than the particles.
    pub suspension: Suspension,
    /// State of inlets and outlets.
    pub open_boundaries: OpenBoundaries,
    /// Additional data of Müller's solver, if the fluids use it.
    pub muller: Option<Muller>,
    /// The GPU backend with the particles, if they are not here.
    pub is_on_gpu: bool,
    /// Number of fluid particles.
    pub count: usize,
    /// Which walls were present when their particles were set up.
    pub(crate) there: Vec<bool>,
    /// Pressure solver of incompressible fluids.
    pub projector: PressureSolver,
    /// Last computed poses of the walls.
    poses: Vec<f64>,
    /// Number of rebuilds of the neighbor lists, since the checkpoint if the simulation continues from one.
    pub rebuilds: u64,
}

/// The row of a fluid's coefficients.
fn medium(fluids: &Fluids, kind: usize) -> [f64; MEDIUM] {
    let fluid = &fluids.kinds[kind];
    let (c, h) = (fluid.sound_speed, fluids.smoothing_length());
    let [pull, push] = strengths(fluid.surface_tension, fluids.support, fluids.spacing, fluids.space());
    [
        fluid.viscosity,
        fluid.artificial_viscosity * h * c * fluid.density,
        2.0 * fluid.density_diffusion * h / (c * fluid.density),
        fluid.density,
        fluid.density * c * c,
        fluid.background_pressure,
        fluid.density * fluids.volume(),
        f64::from(fluid.state == StateLaw::Linear),
        pull,
        push,
        share_of_wall(fluid.contact_angle),
    ]
}

/// The time step as limited by fluids.
pub(crate) fn limited_by_fluids(step: TimeStep, world: &World) -> TimeStep {
    let Some(fluids) = &world.fluids else { return step };
    let (of_flow, of_bodies) = (
        fluids.limit_of_time_step(world.gravity),
        fluids.limit_by_bodies(&world.grains.bodies, world.later.freezes),
    );
    let (limit, cause) = if of_bodies.0 < of_flow.0 { of_bodies } else { of_flow };
    let auto = AUTO_OF_LIMIT * limit;
    TimeStep {
        value: step.value.min(auto),
        auto: step.auto.min(auto),
        cause: if limit < step.limit { cause } else { step.cause },
        limit: step.limit.min(limit),
    }
}

impl Flow {
    /// Scale of the smoothing function. For solvers with density summation, it makes densities on a lattice those at rest.
    pub fn smoother(&self) -> Smoother<f64> {
        let smoother = self.plan.smoothing.smoother(self.plan.support, self.plan.space());
        if self.is_incompressible() {
            self.projector.calibrated(smoother)
        } else {
            smoother
        }
    }

    /// Whether the pressures are solved iteratively to keep densities.
    pub fn is_incompressible(&self) -> bool {
        self.compiled_for.solver == Solver::Incompressible
    }

    /// Whether particle i is a wall particle.
    pub fn is_wall(&self, i: usize) -> bool {
        self.fields.kind[i] & WALL != 0
    }

    /// Flow of these fluids, without particles yet.
    pub fn new(mut fluids: Fluids, surroundings: &Surroundings) -> Result<Flow, WorldError> {
        let (settings, sides) = (&surroundings.context.settings, surroundings.context.sides);
        if sides == SHEARED {
            return Err(WorldError::Fluid(
                "fluids and sides that slide (world.domain.shear) exclude each other".to_owned(),
            ));
        }
        let skin = settings.skin.unwrap_or(SKIN_OF_SPACING * fluids.spacing);
        let skin_tuning = skin::tuning(&fluids, surroundings, skin);
        let half_support = 0.5 * fluids.support;
        let mut cells = Cells::new(std::iter::once(half_support), settings.search, skin);
        (cells.kind, cells.sides, cells.halvings) = (sides, surroundings.context.stepping.sides, 1);
        cells.widest = skin_tuning.map_or(skin, |tuning| tuning.widest());
        let is_bounded = !fluids.boundary.position.is_empty();
        let passes = !(fluids.inlets.is_empty() && fluids.outlets.is_empty());
        let body_boundaries = BodyBoundaries::of(&fluids, surroundings.walls.given.len());
        fluids
            .slips
            .extend(fluids.body_boundaries.iter().map(|body_boundary| body_boundary.slips));
        // Time by which whole steps are ahead of the stored velocities.
        let ahead = match fluids.solver {
            Solver::WeaklyCompressible => 0.5 * surroundings.context.stepping.dt,
            Solver::Incompressible | Solver::Muller2003 => 0.0,
        };
        if let Some(domain) = &surroundings.context.domain {
            check_periods(domain, fluids.support + skin)?;
        }
        for &wall in &fluids.boundary.wall {
            check_running(&surroundings.walls.given[wall as usize])?;
        }
        let has_xsph = fluids.solver == Solver::WeaklyCompressible && fluids.kinds.iter().any(|fluid| fluid.xsph > 0.0);
        Ok(Flow {
            media: (0..fluids.kinds.len()).flat_map(|kind| medium(&fluids, kind)).collect(),
            xsph: fluids.kinds.iter().map(|fluid| fluid.xsph).collect(),
            stepping: StepParameters {
                reads_ahead: ahead,
                velocity_lead: ahead,
                lag: 0.0,
                local_damping: 0.0,
                damped_gravity: 0.0,
                skin_exceeded_square: (0.5 * skin).powi(2),
                stride_square: (2.0 * half_support + skin).powi(2),
                ..surroundings.context.stepping
            },
            compiled_for: FluidKernelConfig {
                solver: fluids.solver,
                smoothing: fluids.smoothing,
                sides,
                mixed: fluids.kinds.len() > 1,
                bounded: is_bounded || passes || !body_boundaries.is_empty(),
                // Shifted particles and those with XSPH do not move with the velocity of the flow.
                moving: passes
                    || !body_boundaries.is_empty()
                    || fluids.particle_shifting
                    || has_xsph
                    || is_bounded && (surroundings.walls.has_moving() || surroundings.walls.has_running()),
                passing: passes,
                viscous: fluids
                    .kinds
                    .iter()
                    .any(|fluid| fluid.viscosity > 0.0)
                    .then_some(fluids.viscous_force),
                cohesive: fluids.kinds.iter().any(|fluid| fluid.surface_tension > 0.0),
                laden: !body_boundaries.is_empty(),
                carrying: body_boundaries.has_suspended(),
                shifting: fluids.particle_shifting,
                xsph: has_xsph,
            },
            projector: PressureSolver::new(&fluids),
            fields: FluidFields::default(),
            cells,
            skin_tuning,
            steps_since_listed: 0,
            pairs: Pairs::default(),
            decomposition_invariant: settings.decomposition_invariant,
            ghost_selection: settings.ghost_selection,
            before_walls: Pairs::default(),
            before: Vec::new(),
            walls: Vec::new(),
            moves: Vec::new(),
            bodies_left: false,
            contact_power_sums: Vec::new(),
            last: FluidPowerSums::default(),
            work: FluidPowerSums::default(),
            surface: 0.0,
            springs: 0.0,
            left: 0.0,
            suspension: Suspension::new(&fluids, surroundings.context.stepping.dt),
            body_boundaries,
            frozen_bodies: 0,
            open_boundaries: OpenBoundaries::default(),
            muller: Muller::of(&fluids, surroundings.walls)?,
            is_on_gpu: false,
            count: 0,
            there: Vec::new(),
            poses: Vec::new(),
            rebuilds: 0,
            plan: fluids,
        })
    }

    /// Takes the particles of the plan in their state at time zero.
    pub(crate) fn take_particles(&mut self) {
        let particles = std::mem::take(&mut self.plan.particles);
        let mut fields = FluidFields::default();
        for k in 0..particles.len() {
            self.put_fluid(
                &mut fields,
                [particles.id[k], particles.kind[k]],
                [particles.position[k], particles.velocity[k]],
                particles.pressure[k],
            );
        }
        self.fields = fields;
        self.count = particles.len();
    }

    /// Computes forces at time zero, or after particles came between two steps.
    pub(crate) fn begin(&mut self, surroundings: &Surroundings) {
        match self.compiled_for.solver {
            Solver::WeaklyCompressible => {
                self.find_forces(surroundings);
                self.set_half_step_velocities(|_| true);
            }
            Solver::Incompressible => self.begin_as_incompressible(surroundings),
            Solver::Muller2003 => self.begin_as_muller(surroundings),
        }
    }

    /// Adds a fluid particle with this id, kind, position and velocity to some fields, at the density that belongs to a pressure.
    fn put_fluid(&self, fields: &mut FluidFields, [id, kind]: [u32; 2], [[x, y, z], [u, v, w]]: [Vec3; 2], pressure: f64) {
        let fluid = &self.plan.kinds[kind as usize];
        let density = if self.is_incompressible() {
            fluid.density
        } else {
            fluid.density_at(pressure)
        };
        let volume = self.plan.volume() * fluid.density / density;
        self.put(fields, [id, kind], [x, y, z, volume], [u, v, w, pressure], [u, v, w]);
        if let Some(error) = fields.density_error.last_mut() {
            *error = density / fluid.density - 1.0;
        }
    }

    /// Adds a particle at rest density with this id, kind, position, volume, velocity and pressure to some fields. `kept` is its velocity as well, or
    /// the acceleration of its wall.
    fn put(&self, fields: &mut FluidFields, [id, kind]: [u32; 2], place: [f64; RECORD], flow: [f64; RECORD], kept: [f64; 3]) {
        fields.id.push(id);
        fields.kind.push(kind);
        fields.position.extend(place);
        fields.velocity_pressure.extend(flow);
        if self.compiled_for.moving {
            fields.particle_velocity.extend([flow[0], flow[1], flow[2], 0.0]);
        }
        fields.half_velocity.extend(kept);
        fields.density_error.push(0.0);
        fields.force_density_rate.extend([0.0; RECORD]);
        fields.previous_density_rate.push(0.0);
        if self.is_incompressible() {
            fields.pressures.extend([flow[3], 0.0]);
        }
        fields.reference.extend([place[0], place[1], place[2], 0.5 * self.plan.support]);
    }
}
