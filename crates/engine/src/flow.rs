//! Fluids in motion: their particles, those of the walls that bound them, and how both are set up.

mod boundary;
mod dfsph;
mod guard;
mod hulls;
mod lattice;
mod layout;
mod leaks;
mod measure;
mod melting;
mod muller;
mod passages;
mod passes;
mod place;
mod projector;
mod sample;
mod saved;
mod shared;
mod shifting;
mod suspension;
mod tension;

pub(crate) use boundary::check_motion;
use boundary::check_running;
use hulls::Hulls;
pub(crate) use measure::{FlowEnergies, FlowEnergy};
pub use melting::Melting;
pub(crate) use muller::Muller;
pub(crate) use passages::{Feeding, Passages};
use projector::Projector;
pub use projector::Solves;
pub(crate) use projector::{Constraint, Left, iterate};
pub use sample::FluidLook;
use shared::Nobody;
pub(crate) use shared::{Columns, Others, Share, is_marked};
use suspension::Suspension;

use crate::fields::FluidFields;
use crate::gpu::RemoteFlow;
use crate::refusal::Refusal;
use crate::search::{Cells, Pairs};
use crate::sides::check_periods;
use crate::simulation::Simulation;
use crate::time_step::TimeStep;
use crate::world::{Fluids, Solver, StateLaw, World};
use seixo_laws::fluid::Smoother;
use seixo_laws::fluid::tension::{share_of_wall, strengths};
use seixo_sweeps::fluid::{FlowPlan, MEDIUM, WALL};
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::motion::{Moved, Stepping};
use seixo_sweeps::sides::SHEARED;
use seixo_sweeps::views::RECORD;

/// Share of the limit of the time step that "auto" takes.
const AUTO_OF_LIMIT: f64 = 0.625;

/// Skin of the lists where the scene gives none, in spacings.
const SKIN_OF_SPACING: f64 = 0.3;

/// Fluids in motion.
pub(crate) struct Flow {
    /// How they are discretized and what bounds them, without their particles.
    pub plan: Fluids,
    pub fields: FluidFields,
    pub cells: Cells,
    /// Pairs inside a part in one row, pairs across parts in both; of solvers that list pairs twice, and in divisible worlds, all in both.
    pub pairs: Pairs,
    /// Whether rows stand in the order of ids, see [`crate::world::Settings::divisible`].
    pub divisible: bool,
    /// All fluid that each particle of a wall sees; empty where all pairs stand in both rows.
    before_walls: Pairs,
    /// What the fluid before each particle of a wall is like, in the order of `walls`: pressure, velocity.
    before: Vec<f64>,
    /// Places of the particles of walls.
    walls: Vec<u32>,
    /// Rows of coefficients of the fluids, see [`MEDIUM`].
    pub media: Vec<f64>,
    pub stepping: Stepping<f64, f64>,
    pub compiled_for: FlowPlan,
    moves: Vec<Moved<f64>>,
    tallies: Vec<FlowTally>,
    /// Powers at the last step \[W\].
    pub last: FlowTally,
    /// Energies taken and given since time zero \[J\].
    pub work: FlowTally,
    /// What the surface stored when a GPU was last looked at \[J\].
    pub surface: f64,
    /// What springs to bodies stored then \[J\].
    pub springs: f64,
    /// Taken along by particles that left \[J\].
    pub left: f64,
    /// Bodies that fluids feel.
    pub hulls: Hulls,
    /// Grains that are smaller than the particles.
    pub suspension: Suspension,
    /// Inlets and outlets at work.
    pub passages: Passages,
    /// What Müller's solver has beside all others, if the fluids move by it.
    pub muller: Option<Muller>,
    /// Where the particles are, if not here.
    pub remote: Option<Box<dyn RemoteFlow>>,
    /// Particles of fluid.
    pub count: usize,
    /// Which walls were there when their particles were set up.
    there: Vec<bool>,
    /// What finds pressures of incompressible fluids.
    pub projector: Projector,
    /// Poses of the walls when they were last asked for.
    poses: Vec<f64>,
    /// How often the lists were made, since what was saved if the simulation goes on from that.
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

/// What fluids leave of a time step.
pub(crate) fn limited_by_fluids(step: TimeStep, world: &World) -> TimeStep {
    let Some(fluids) = &world.fluids else { return step };
    let (of_flow, of_bodies) = (
        fluids.limit_of_time_step(world.gravity),
        fluids.limit_by_bodies(&world.grains.bodies),
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
    /// What scales the smoothing function. Where densities are summed up, it makes them those at rest on a lattice.
    pub fn smoother(&self) -> Smoother<f64> {
        let smoother = self.plan.smoothing.smoother(self.plan.support, self.plan.space());
        if self.is_incompressible() {
            self.projector.calibrated(smoother)
        } else {
            smoother
        }
    }

    /// Whether pressures are found by iterations that keep densities.
    pub fn is_incompressible(&self) -> bool {
        self.compiled_for.solver == Solver::Incompressible
    }

    /// Whether particle i is one of a wall.
    pub fn is_wall(&self, i: usize) -> bool {
        self.fields.kind[i] & WALL != 0
    }

    /// Flow of these fluids, without particles yet.
    pub fn new(mut fluids: Fluids, simulation: &Simulation) -> Result<Flow, Refusal> {
        let (settings, sides) = (&simulation.settings, simulation.sides);
        if sides == SHEARED {
            return Err(Refusal::Fluid(
                "fluids and sides that slide (world.domain.shear) exclude each other".to_owned(),
            ));
        }
        let skin = settings.skin.unwrap_or(SKIN_OF_SPACING * fluids.spacing);
        let half_support = 0.5 * fluids.support;
        let mut cells = Cells::new(std::iter::once(half_support), settings.search, skin);
        (cells.kind, cells.sides, cells.halvings) = (sides, simulation.stepping.sides, 1);
        let is_bounded = !fluids.boundary.position.is_empty();
        let passes = !(fluids.inlets.is_empty() && fluids.outlets.is_empty());
        let hulls = Hulls::of(&fluids, simulation.walls.given.len());
        fluids.slips.extend(fluids.hulls.iter().map(|hull| hull.slips));
        // How far whole steps are ahead of the velocities that are kept.
        let ahead = match fluids.solver {
            Solver::WeaklyCompressible => 0.5 * simulation.stepping.dt,
            Solver::Incompressible | Solver::Muller2003 => 0.0,
        };
        if let Some(domain) = &simulation.domain {
            check_periods(domain, fluids.support + skin)?;
        }
        for &wall in &fluids.boundary.wall {
            check_running(&simulation.walls.given[wall as usize])?;
        }
        Ok(Flow {
            media: (0..fluids.kinds.len()).flat_map(|kind| medium(&fluids, kind)).collect(),
            stepping: Stepping {
                reads_ahead: ahead,
                shows_ahead: ahead,
                lag: 0.0,
                local_damping: 0.0,
                stale_square: (0.5 * skin).powi(2),
                stride_square: (2.0 * half_support + skin).powi(2),
                ..simulation.stepping
            },
            compiled_for: FlowPlan {
                solver: fluids.solver,
                smoothing: fluids.smoothing,
                sides,
                mixed: fluids.kinds.len() > 1,
                bounded: is_bounded || passes || !hulls.is_empty(),
                // What is shifted goes on otherwise than it flows.
                moving: passes
                    || !hulls.is_empty()
                    || fluids.particle_shifting
                    || is_bounded && (simulation.walls.has_moving() || simulation.walls.has_running()),
                passing: passes,
                viscous: fluids
                    .kinds
                    .iter()
                    .any(|fluid| fluid.viscosity > 0.0)
                    .then_some(fluids.viscous_force),
                cohesive: fluids.kinds.iter().any(|fluid| fluid.surface_tension > 0.0),
                laden: !hulls.is_empty(),
                carrying: hulls.has_suspended(),
                shifting: fluids.particle_shifting,
            },
            projector: Projector::new(&fluids),
            fields: FluidFields::default(),
            cells,
            pairs: Pairs::default(),
            divisible: settings.divisible,
            before_walls: Pairs::default(),
            before: Vec::new(),
            walls: Vec::new(),
            moves: Vec::new(),
            tallies: Vec::new(),
            last: FlowTally::default(),
            work: FlowTally::default(),
            surface: 0.0,
            springs: 0.0,
            left: 0.0,
            suspension: Suspension::new(&fluids, simulation.stepping.dt),
            hulls,
            passages: Passages::default(),
            muller: Muller::of(&fluids, &simulation.walls)?,
            remote: None,
            count: 0,
            there: Vec::new(),
            poses: Vec::new(),
            rebuilds: 0,
            plan: fluids,
        })
    }

    /// Takes the particles of the plan, as they stand at time zero.
    fn take_particles(&mut self) {
        let particles = std::mem::take(&mut self.plan.particles);
        let mut fields = FluidFields::default();
        for k in 0..particles.len() {
            let fluid = &self.plan.kinds[particles.kind[k] as usize];
            let pressure = particles.pressure[k];
            let density = if self.is_incompressible() {
                fluid.density
            } else {
                fluid.density_at(pressure)
            };
            let ([x, y, z], [u, v, w]) = (particles.position[k], particles.velocity[k]);
            let volume = self.plan.volume() * fluid.density / density;
            self.put(
                &mut fields,
                [particles.id[k], particles.kind[k]],
                [x, y, z, volume],
                [u, v, w, pressure],
                [u, v, w],
            );
            fields.excess[k] = density / fluid.density - 1.0;
        }
        self.fields = fields;
        self.count = particles.len();
    }

    /// Finds forces at time zero.
    fn begin(&mut self, simulation: &Simulation) {
        match self.compiled_for.solver {
            Solver::WeaklyCompressible => {
                self.find_forces(simulation);
                self.pull_back_half_a_step(|_| true);
            }
            Solver::Incompressible => self.begin_as_incompressible(simulation),
            Solver::Muller2003 => self.begin_as_muller(simulation),
        }
    }

    /// Adds a particle at rest density with this id and kind, this place and volume, this velocity and pressure, to some fields. `kept` is its velocity,
    /// too, or the acceleration of its wall.
    fn put(&self, fields: &mut FluidFields, [id, kind]: [u32; 2], place: [f64; RECORD], flow: [f64; RECORD], kept: [f64; 3]) {
        fields.id.push(id);
        fields.kind.push(kind);
        fields.position.extend(place);
        fields.flow.extend(flow);
        if self.compiled_for.moving {
            fields.motion.extend([flow[0], flow[1], flow[2], 0.0]);
        }
        fields.half_velocity.extend(kept);
        fields.excess.push(0.0);
        fields.rate.extend([0.0; RECORD]);
        fields.swelling_before.push(0.0);
        if self.is_incompressible() {
            fields.multipliers.extend([flow[3], 0.0]);
        }
        fields.reference.extend([place[0], place[1], place[2], 0.5 * self.plan.support]);
    }
}

impl Simulation {
    /// Energies that fluids lost and got since time zero \[J\].
    pub(crate) fn work_of_fluids(&self) -> FlowTally {
        self.flow.as_ref().map_or_else(FlowTally::default, |flow| flow.work)
    }

    /// Energy that fluids which left took along since time zero \[J\].
    pub(crate) fn left_with_fluids(&self) -> f64 {
        self.flow.as_ref().map_or(0.0, |flow| flow.left)
    }

    /// Whether anything flows.
    pub(crate) fn flows(&self) -> bool {
        self.flow.is_some()
    }

    /// How the motion of fluids is found.
    pub(crate) fn solver_of_fluids(&self) -> Solver {
        self.flow.as_ref().map_or_else(Solver::default, |flow| flow.plan.solver)
    }

    /// Does something to what flows, if anything does, with all else in sight.
    pub(crate) fn with_flow<T: Default>(&mut self, run: impl FnOnce(&mut Flow, &Simulation) -> T) -> T {
        let Some(mut flow) = self.flow.take() else {
            return T::default();
        };
        let result = run(&mut flow, self);
        self.flow = Some(flow);
        result
    }

    /// Sets fluids up at time zero, with their forces.
    pub(crate) fn put_fluids_up(&mut self, fluids: Fluids) -> Result<(), Refusal> {
        self.flow = Some(Box::new(Flow::new(fluids, self)?));
        let refused = self.with_flow(|flow, simulation| {
            flow.take_particles();
            flow.put_boundary_up(simulation);
            flow.put_hulls_up(simulation);
            flow.put_passages_up(simulation);
            flow.renew_lists(simulation);
            flow.begin(simulation);
            flow.check_shifting().err()
        });
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        self.load_bodies_anew();
        Ok(())
    }
}

/// The passes of `step.rs`.
impl Simulation {
    pub(crate) fn advance_fluids(&mut self) {
        self.with_flow(|flow, simulation| flow.advance(simulation));
    }

    pub(crate) fn place_boundaries(&mut self) {
        self.with_flow(|flow, simulation| flow.place_boundary(simulation));
    }

    pub(crate) fn renew_lists_of_fluids_when_stale(&mut self) {
        self.with_flow(|flow, simulation| flow.renew_lists_when_stale(simulation));
    }

    pub(crate) fn press_boundaries(&mut self) {
        self.with_flow(|flow, simulation| flow.press_walls(simulation, true));
    }

    pub(crate) fn shift_fluids(&mut self) {
        self.with_flow(|flow, simulation| flow.shift(simulation));
    }

    pub(crate) fn exchange_fluids(&mut self) {
        self.with_flow(|flow, simulation| flow.exchange(simulation));
    }

    pub(crate) fn book_work_of_fluids(&mut self) {
        self.with_flow(|flow, _| flow.book_work());
    }

    pub(crate) fn drag_fluids(&mut self) {
        self.with_flow(|flow, simulation| flow.drag(simulation));
    }

    pub(crate) fn correct_densities(&mut self) {
        self.with_flow(|flow, simulation| {
            let Ok(()) = flow.project(simulation, Constraint::Density, &mut Nobody);
        });
    }

    pub(crate) fn drift_fluids(&mut self) {
        self.with_flow(|flow, simulation| flow.drift(simulation));
    }

    pub(crate) fn list_fluids_when_stale(&mut self) {
        self.with_flow(|flow, simulation| flow.list_when_stale(simulation));
    }

    pub(crate) fn free_fluids_of_divergence(&mut self) {
        self.with_flow(|flow, simulation| {
            let Ok(()) = flow.project(simulation, Constraint::Divergence, &mut Nobody);
        });
    }

    pub(crate) fn drop_lost_fluids(&mut self) {
        self.with_flow(|flow, simulation| flow.drop_lost(simulation));
    }
}
