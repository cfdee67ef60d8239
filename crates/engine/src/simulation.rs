//! A running simulation of a world.

mod arrays;
pub(crate) mod autotune;
mod changes;
mod decomposed;
mod external_forces;
mod gathering;
mod observation;
mod parts;
mod placement;
mod saving;
mod servos;
mod start;
mod timeline;

pub use servos::ServoStatus;

use crate::assemble::{check, fields_of, is_frictional, longest_gaps, table_of};
use crate::bodies::Bodies;
use crate::bonds::{BondCandidate, BondPlan, pairs_at_start};
use crate::cell_control::CellState;
use crate::context::{MaterialTable, StepContext};
use crate::coordinate_precision::CoordinatePrecision;
use crate::decomposition::{Subdomains, Traffic};
use crate::device_choice::open_ahead;
use crate::diffusion::Diffusion;
use crate::fields::{Fields, Numbers, numbers, part_range, parts};
use crate::grains::GrainState;
use crate::loads::Loads;
use crate::local_domain::LocalDomain;
use crate::measure::{EnergyLedger, NO_CONTACT};
use crate::pass::PASSES_OF_CPU;
use crate::periodic::{check_periods, check_sides, kind_of, sides_of};
use crate::polyhedra::Polyhedra;
use crate::populations::Populations;
use crate::prepared_grains::PreparedGrains;
use crate::program::PassLine;
use crate::refusal::WorldError;
use crate::search::{Cells, SkinTuning};
use crate::simulation::autotune::placed;
use crate::state::{Profile, Span};
use crate::time_step::{left_to_bonds, plan_with_bonds};
use crate::walls::Walls;
use crate::world::{ExpectedGrains, LeavingPolicy, Precision, Search, Settings, TimeStep, Vec3, World, array, vector};
pub use external_forces::ExternalForces;
use seixo_device::Cpu;
use seixo_laws::motion::Scheme;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::{RECORD, history_stride, load};
use seixo_sweeps::motion::{StepParameters, acceleration, angular_acceleration};
use seixo_sweeps::periodic::{SHEARED, STRETCHED};
use std::sync::Arc;

/// A running simulation: made from a [`World`], advanced step by step.
pub struct Simulation {
    /// The whole world or, if it is decomposed, what was observed of it.
    pub(crate) whole: LocalDomain,
    /// Domains that own the particles, in a decomposed simulation.
    pub(crate) subdomains: Option<Subdomains>,
    /// Migrations and messages between domains, at the last observation.
    pub(crate) traffic: Traffic,
    pub(crate) digits: CoordinatePrecision,
    pub(crate) notices: Vec<String>,
}

impl Simulation {
    /// Sets up a world at time zero, with its forces.
    ///
    /// # Errors
    /// If the world or a setting cannot be simulated.
    pub fn new(mut world: World, settings: Settings) -> Result<Simulation, WorldError> {
        let opening = open_ahead(&settings);
        let fluid = world.fluids.as_ref().map_or(0, |fluids| fluids.particles.len());
        let again = |settings| Simulation::new(world.clone(), settings);
        let (settings, tried) = placed(settings, [world.grains.len(), fluid], again);
        let (mut simulation, found) = Simulation::planned(&world, settings, Fields::default())?;
        simulation.digits.check(Precision::F64)?;
        simulation.notices.extend(tried);
        let populations = &mut simulation.whole.populations;
        populations.grains.fields = fields_of(
            &populations.context.device,
            &world.grains,
            &populations.context.materials.densities,
            populations.context.materials.has_friction,
        );
        populations.tune_servos();
        if populations.bodies.are_present {
            populations.init_bodies(&world.grains);
        }
        populations.bond_grains(&world, &found);
        let (fluids, saved) = (world.fluids.take(), world.saved.take());
        drop(world);
        populations.rebuild_neighbor_lists();
        if let Some(entries) = populations.grains.pairs.too_many {
            return Err(WorldError::FluidSurroundings {
                what: "the number of entries of the neighbor lists",
                value: entries as f64,
                must: "at most 4294967295, which indices of 32 bits can number: use fewer grains or a narrower skin",
            });
        }
        populations.contact_forces();
        populations.polyhedra_forces();
        populations.measure_cell_stress();
        populations.wall_contacts();
        populations.bond_forces();
        populations.refuse_deep_overlaps()?;
        let power = populations.initial_external_loads();
        populations.begin_gear_at_start();
        if let Some(fluids) = fluids {
            populations.init_fluids(fluids)?;
            // The forces of fluids on bodies are known only now.
            populations.begin_gear_of_bodies(0..populations.bodies.len());
        }
        populations.set_all_half_step_velocities();
        populations.set_half_step_body_velocities(0..populations.bodies.len());
        populations.ledger.last_power_sums = PowerSums {
            wall_power: power,
            ..NO_CONTACT
        };
        if let Some(saved) = saved {
            populations.go_on_from(&saved)?;
        }
        let residual = simulation.ledger().residual;
        let populations = &mut simulation.whole.populations;
        populations.ledger.work.initial = residual;
        populations.init_scalar_ledgers()?;
        drop(opening);
        simulation.go_where_asked()?;
        Ok(simulation)
    }

    /// Checks a world and sets up everything except lists and forces.
    pub(crate) fn prepare(world: &World, settings: Settings, fields: Fields) -> Result<Simulation, WorldError> {
        Simulation::planned(world, settings, fields).map(|(simulation, _)| simulation)
    }

    /// Like [`Simulation::prepare`], but also returns the pairs that are bonded at the start, on which the time step depends.
    fn planned(world: &World, mut settings: Settings, fields: Fields) -> Result<(Simulation, Vec<BondCandidate>), WorldError> {
        check(world, &settings)?;
        settings.limit_to_ranks();
        settings.decomposition_invariant |= settings.domains > 1;
        let device = Arc::new(Cpu::new(settings.threads)?);
        let found = pairs_at_start(&device, world)?;
        let mut time_step = plan_with_bonds(world, settings.scheme, &found)?;
        if let Some(value) = settings.time_step {
            if value > time_step.limit {
                let TimeStep { limit, auto, cause, .. } = time_step;
                return Err(WorldError::TimeStep { value, limit, auto, cause });
            }
            time_step.value = value;
        }
        let digits = CoordinatePrecision::asked_by(world, time_step.value);
        let (table, is_extended) = table_of(world)?;
        let frictional = is_frictional(world) || !world.bonds.is_empty();
        let default_skin = default_skin(world);
        let skin = settings.skin.unwrap_or(default_skin);
        // Walls are listed even if cells are rebuilt at every step.
        let skin_of_walls = if skin > 0.0 { skin } else { default_skin };
        let later = world.later.grains.iter().flat_map(classes_of);
        let mut radii: Vec<f64> = world.grains.radius.iter().copied().chain(later).collect();
        if let (true, Some(fluids)) = (radii.is_empty(), &world.fluids) {
            // Without grains there is nothing to sort, but the cells need a size.
            radii.push(fluids.spacing);
        }
        // Grains that attract each other across a gap are listed, too.
        let [gap, gap_to_walls] = longest_gaps(world, &table);
        let mut cells = Cells::new(radii.iter().copied(), settings.search, skin + gap);
        cells.gap = gap;
        let skin_tuning = skin_tuning(world, &settings, default_skin, 2.0 * cells.largest_radius() + gap);
        if let Some(tuning) = &skin_tuning {
            cells.widest = tuning.widest() + gap;
        }
        cells.kind = kind_of(world.domain.as_ref());
        // Where particles may leave, motion raises no flag: each rebuild of the lists looks for them.
        let guarded = world.domain.filter(|domain| domain.leaving == LeavingPolicy::Error);
        let bounds = guarded.map_or([[-1e300; 3], [1e300; 3]], |domain| domain.open_corners());
        let sides = kind_of(world.domain.as_ref());
        check_sides(world, 2.0 * cells.largest_radius() + cells.skin)?;
        // With sides that move, grains on opposite sides move past each other even at rest. Half of the skin is reserved for this motion.
        let strides = if [SHEARED, STRETCHED].contains(&sides) { 4.0 } else { 2.0 };
        let stepping = StepParameters {
            dt: time_step.value,
            reads_ahead: settings.scheme.reads_ahead() * time_step.value,
            velocity_lead: settings.scheme.velocity_lead() * time_step.value,
            lag: settings.scheme.lag(),
            gravity: vector(world.gravity),
            local_damping: world.local_damping,
            damped_gravity: world.locally_damped.share_of_weight(),
            skin_exceeded_square: (skin / strides).powi(2),
            stride_square: cells.smallest_edge().powi(2),
            domain_min: vector(bounds[0]),
            domain_max: vector(bounds[1]),
            sides: sides_of(world.domain.as_ref(), 0.0),
        };
        let mut notices = Vec::new();
        if settings.scheme == Scheme::ExplicitEuler {
            notices.push(
                "explicit_euler lets springs gain energy: contacts rebound faster than they should unless the time step is very short"
                    .to_owned(),
            );
        }
        let reach = world
            .grains
            .position
            .iter()
            .flatten()
            .copied()
            .chain(world.later.grains.iter().map(|kind| kind.reach))
            .fold(0.0, |most: f64, x| most.max(2.0 * x.abs()));
        let mut walls = Walls::new(world.walls.clone(), reach, skin_of_walls, gap_to_walls, history_stride(is_extended));
        if !world.grains.is_empty() || !world.later.grains.is_empty() {
            notices.extend(walls.repeat(world.domain.as_ref(), &world.later.motions, cells.largest_radius())?);
        }
        world.later.walls.iter().for_each(|&wall| walls.set_there(wall, false));
        let highest_ids = world.later.grains.iter().filter_map(|kind| kind.highest_id.as_ref());
        let kinds_of_material = world.later.grains.iter().map(|kind| kind.material);
        let all_materials: Vec<u32> = world.grains.material.iter().copied().chain(kinds_of_material).collect();
        let left_to_bonds = left_to_bonds(world, settings.scheme);
        let name_of = |group: u32| world.groups[group as usize].clone();
        let next_id = world.grains.id.iter().chain(highest_ids).max().map_or(0, |&id| u64::from(id) + 1);
        let bodies = Bodies {
            are_present: !world.grains.bodies.is_empty() || world.later.freezes,
            ..Bodies::default()
        };
        let materials = MaterialTable {
            coefficients: table,
            count: world.materials.len() as u32,
            densities: world.materials.iter().map(|material| material.density).collect(),
            has_friction: frictional,
            needs_contact_radius: world.interactions.iter().flatten().any(|i| i.tangential.needs_contact_radius()),
            are_extended: is_extended,
            is_uniform: all_materials.windows(2).all(|pair| pair[0] == pair[1]),
        };
        let populations = Populations {
            context: StepContext {
                device,
                settings,
                domain: world.domain,
                sides,
                stepping,
                steps: 0,
                time_step,
                materials,
            },
            cell: CellState::of(world.domain.as_ref()),
            grains: GrainState {
                given_masses: world.grains.masses.clone(),
                prepared: PreparedGrains::of(world),
                skin_tuning,
                ..GrainState::new(fields, cells, world.later.grains.clone(), next_id)
            },
            bodies,
            walls,
            loads: Loads::of(world)?,
            constrained_groups: world
                .later
                .constrained_groups
                .iter()
                .map(|&group| (group, name_of(group)))
                .collect(),
            bonds: None,
            polyhedra: Polyhedra::of(world),
            bond_plan: BondPlan {
                kinds: world.bonds.clone(),
                shapes: if world.bonds.is_empty() { Vec::new() } else { world.shapes.clone() },
                time_step_share: left_to_bonds,
            },
            flow: None,
            diffusions: Diffusion::all_of(world),
            ledger: EnergyLedger::default(),
            profile: Profile::new(&PASSES_OF_CPU),
            trace: None,
            timeline: None,
        };
        let simulation = Simulation {
            whole: LocalDomain::new(populations),
            subdomains: None,
            traffic: Traffic::default(),
            digits,
            notices,
        };
        Ok((simulation, found))
    }

    /// Simulated time \[s\].
    pub fn time(&self) -> f64 {
        self.whole.populations.context.time()
    }

    /// Number of completed steps.
    pub fn steps(&self) -> u64 {
        self.whole.populations.context.steps
    }

    /// Number of grains.
    pub fn len(&self) -> usize {
        let whole = self
            .whole
            .backend
            .grains
            .as_ref()
            .map_or(self.whole.populations.grains.fields.len(), |remote| remote.grains());
        self.subdomains.as_ref().map_or(whole, |subdomains| subdomains.grains())
    }

    /// Whether there are no grains.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Current gravity \[m/s²\].
    pub fn gravity(&self) -> Vec3 {
        array(&self.whole.populations.context.stepping.gravity)
    }

    /// The time step and its limiting cause.
    pub fn time_step(&self) -> &TimeStep {
        &self.whole.populations.context.time_step
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.whole.populations.context.device.threads()
    }

    /// Number of rebuilds of the neighbor lists.
    pub fn rebuilds(&self) -> u64 {
        self.whole.populations.grains.rebuilds + self.whole.populations.flow.as_ref().map_or(0, |flow| flow.rebuilds)
    }

    /// Skin of the neighbor lists of grains at the last observation \[m\]. Without one in the settings, it follows the motion of the grains.
    pub fn skin(&self) -> f64 {
        let cells = &self.whole.populations.grains.cells;
        cells.skin - cells.gap
    }

    /// Skin of the neighbor lists of fluids at the last observation \[m\], if there are fluids. Without one in the settings, it follows their motion.
    pub fn skin_of_fluids(&self) -> Option<f64> {
        self.whole.populations.flow.as_ref().map(|flow| flow.cells.skin)
    }

    /// The passes of a step that this simulation needs now, in order, as the CPU takes them. A GPU computes the forces first, and fuses some passes.
    ///
    /// ```
    /// use seixo_engine::Simulation;
    /// use seixo_engine::world::{Interaction, Material, Settings, World};
    ///
    /// let glass = Material { name: "glass".into(), density: 2500.0, youngs_modulus: 1e7, poisson_ratio: 0.2 };
    /// let mut world = World {
    ///     gravity: [0.0, 0.0, -9.81],
    ///     materials: vec![glass],
    ///     interactions: vec![Some(Interaction::default())],
    ///     groups: vec!["ball".into()],
    ///     ..World::default()
    /// };
    /// world.grains.push(0, [0.0; 3], [0.0; 3], [0.0; 3], 1e-3, 0, 0);
    /// let simulation = Simulation::new(world, Settings::default())?;
    /// assert!(simulation.program().iter().any(|pass| pass.name == "motion of grains"));
    /// # Ok::<(), seixo_engine::WorldError>(())
    /// ```
    pub fn program(&self) -> Vec<PassLine> {
        self.whole.populations.program()
    }

    /// Wall time per pass \[s\].
    pub fn profile(&self) -> &Profile {
        &self.whole.populations.profile
    }

    /// The latest passes of a simulation that uses CPU cores and a GPU at the same time; otherwise empty.
    pub fn trace(&self) -> Vec<Span> {
        self.whole
            .populations
            .trace
            .as_ref()
            .map_or(Vec::new(), |trace| trace.spans().copied().collect())
    }
}

impl Populations {
    pub(crate) fn leaving(&self) -> LeavingPolicy {
        self.context.leaving()
    }

    /// Whether a center is outside the domain.
    pub(crate) fn has_left(&self, center: &[f64]) -> bool {
        self.context.has_left(center)
    }

    fn refuse_deep_overlaps(&self) -> Result<(), WorldError> {
        let limit = self.context.settings.overlap_limit;
        // Two grains at the same position give forces that are not numbers.
        if !self.is_too_deep() && self.grains.fields.force.iter().all(|f| f.is_finite()) {
            return Ok(());
        }
        let (share, i, partner) = self.deepest_overlap_now();
        let (id, limit, share) = (self.grains.fields.id[i], 100.0 * limit, 100.0 * share);
        let of_rounding = self.is_polyhedral(i);
        let center = &self.grains.fields.position[i * RECORD..];
        match partner.strip_prefix("grain ").and_then(|other| other.parse::<u32>().ok()) {
            Some(other) => {
                let overlap = 0.01 * share * self.contact_radius_of(i);
                Err(WorldError::Overlap {
                    a: id.min(other),
                    b: id.max(other),
                    overlap,
                    share,
                    limit,
                    of_rounding,
                })
            }
            None => Err(WorldError::InWall {
                id,
                at: [center[0], center[1], center[2]],
                wall: partner.trim_start_matches("wall ").to_owned(),
                share,
                limit,
                of_rounding,
            }),
        }
    }

    /// Initializes velocities at half steps half a step earlier: v^{−Δt/2} = v⁰ − a⁰ Δt/2. Grains of bodies have none.
    pub(crate) fn set_half_step_velocities(&mut self, grains: impl IntoIterator<Item = usize>) {
        let rotates = self.context.materials.has_friction;
        for i in grains {
            self.set_half_step_momentum(i);
            let (motion, half_velocity, half_spin) = MotionAtStart::of(&mut self.grains.fields, &self.context.stepping, rotates);
            let spin = if rotates { 3 * i..3 * i + 3 } else { 0..0 };
            motion.step_back(i, &mut half_velocity[3 * i..3 * i + 3], &mut half_spin[spin]);
        }
    }

    /// As [`Populations::set_half_step_velocities`] for all grains, on all threads.
    pub(crate) fn set_all_half_step_velocities(&mut self) {
        let (n, rotates) = (self.grains.fields.len(), self.context.materials.has_friction);
        if self.has_polyhedra() {
            (0..n).for_each(|i| self.set_half_step_momentum(i));
        }
        let (motion, half_velocity, half_spin) = MotionAtStart::of(&mut self.grains.fields, &self.context.stepping, rotates);
        let data = (numbers(half_velocity, 3), numbers(half_spin, 3));
        self.context
            .device
            .run(parts(n), data, |part, (half_velocity, half_spin): (Numbers, Numbers)| {
                let (first, end) = part_range(part, n);
                for i in 0..end - first {
                    let spin = if rotates { 3 * i..3 * i + 3 } else { 0..0 };
                    motion.step_back(first + i, &mut half_velocity.items[3 * i..3 * i + 3], &mut half_spin.items[spin]);
                }
            });
    }
}

/// What the accelerations of grains at the start follow from.
struct MotionAtStart<'a> {
    member: &'a [u32],
    position: &'a [f64],
    velocity: &'a [f64],
    spin: &'a [f64],
    force: &'a [f64],
    torque: &'a [f64],
    stepping: &'a StepParameters<f64, f64>,
    rotates: bool,
}

impl<'a> MotionAtStart<'a> {
    /// The motion of all grains, and their velocities and angular velocities at half steps.
    fn of(
        fields: &'a mut Fields,
        stepping: &'a StepParameters<f64, f64>,
        rotates: bool,
    ) -> (MotionAtStart<'a>, &'a mut [f64], &'a mut [f64]) {
        let motion = MotionAtStart {
            member: &fields.member,
            position: &fields.position,
            velocity: &fields.velocity,
            spin: &fields.spin,
            force: &fields.force,
            torque: &fields.torque,
            stepping,
            rotates,
        };
        (motion, &mut fields.half_velocity[..], &mut fields.half_spin[..])
    }

    /// Takes the velocity of grain i and, if it rotates, its angular velocity back by half a step.
    fn step_back(&self, i: usize, half_velocity: &mut [f64], half_spin: &mut [f64]) {
        if self.member.get(i).is_some_and(|&m| m != FREE) {
            return;
        }
        let (at, stepping) = (i * RECORD, self.stepping);
        let backwards = -stepping.velocity_lead;
        let (radius, mass) = (self.position[at + 3], self.velocity[at + 3]);
        let rate = acceleration(&load(self.velocity, at), mass, &load(self.force, at), stepping).rate;
        for (slot, a) in half_velocity.iter_mut().zip([rate.x, rate.y, rate.z]) {
            *slot += backwards * a;
        }
        if self.rotates {
            let rate = angular_acceleration(&load(self.spin, at), mass, radius, &load(self.torque, at), stepping).rate;
            for (slot, a) in half_spin.iter_mut().zip([rate.x, rate.y, rate.z]) {
                *slot += backwards * a;
            }
        }
    }
}

/// Default skin, as a share of the radius.
const SKIN_OF_RADIUS: f64 = 0.2;

/// Default skin \[m\], derived from the median radius, so that a few small or large grains do not determine it. In a world without grains
/// it is derived from those that may be added.
fn default_skin(world: &World) -> f64 {
    let mut radii = world.grains.radius.clone();
    if radii.is_empty() {
        radii.extend(world.later.grains.iter().map(|kind| 0.5 * (kind.radius[0] + kind.radius[1])));
        radii.extend(
            world
                .fluids
                .iter()
                .map(|fluids| fluids.spacing)
                .filter(|_| world.later.grains.is_empty()),
        );
    }
    let middle = radii.len() / 2;
    SKIN_OF_RADIUS * *radii.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The choice of the skin during the run, if it is not given, from its default \[m\]. Without a skin, grains are listed up to `reach` \[m\].
///
/// Controlled sides use up a part of the skin that no grain does, and tables of fixed spheres keep their cells. A wider skin must fit between periodic
/// sides, and images of walls reach no farther than the default.
fn skin_tuning(world: &World, settings: &Settings, default: f64, reach: f64) -> Option<SkinTuning> {
    let is_empty = world.grains.is_empty() && world.later.grains.is_empty();
    let keeps_cells = settings.search == Search::SpatialHashStatic;
    if settings.skin.is_some() || is_empty || keeps_cells || kind_of(world.domain.as_ref()) == STRETCHED {
        return None;
    }
    let periodic = world.domain.as_ref().filter(|domain| domain.periodic.contains(&true));
    let is_allowed = |skin: f64| periodic.is_none_or(|domain| world.walls.is_empty() && check_periods(domain, reach + skin).is_ok());
    Some(SkinTuning::new(default, 2.0 * default / SKIN_OF_RADIUS, is_allowed))
}

/// Radii that represent a kind: its largest, repeated halves of it, and its smallest \[m\].
fn classes_of(kind: &ExpectedGrains) -> impl Iterator<Item = f64> + '_ {
    let halved = std::iter::successors(Some(kind.radius[1]), |radius| Some(0.5 * radius));
    halved.take_while(|&radius| radius > kind.radius[0]).chain([kind.radius[0]])
}
