//! A world in motion.

use crate::assemble::{check, fields_of, is_frictional, longest_gaps, table_of};
use crate::bodies::Bodies;
use crate::bonds::{Found, Network, pairs_at_start};
use crate::border::Border;
use crate::broad::Broad;
use crate::contact_records::array;
use crate::digits::Digits;
use crate::division::{Division, Traffic};
use crate::fields::Fields;
use crate::flow::Flow;
use crate::gpu::Remote;
use crate::heat::Heat;
use crate::loads::Loads;
use crate::measure::{NO_CONTACT, Work};
use crate::placement::placed;
use crate::refusal::Refusal;
use crate::search::{Cells, Pairs};
use crate::sides::{check_sides, kind_of, sides_of};
use crate::state::{Ledger, Profile, Span, Trace};
use crate::time_step::{TimeStep, left_to_bonds, plan_with_bonds};
use crate::walls::Walls;
use crate::world::{Bonds, Domain, Expected, Leaving, Precision, Settings, Vec3, World};
use seixo_device::Cpu;
use seixo_device::gpu::Gpu;
use seixo_laws::Vector3;
use seixo_laws::contact::TangentialLaw;
use seixo_laws::motion::Scheme;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::contact::Tally;
use seixo_sweeps::motion::{Moved, Stepping, acceleration, angular_acceleration};
use seixo_sweeps::sides::SHEARED;
use seixo_sweeps::views::{COMPOUND, RECORD, load, remembered};
use std::sync::Arc;
use std::time::Instant;

/// The passes of a step, by the words of `step.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pass {
    Conduct,
    Advance,
    Boundaries,
    Cells,
    Contacts,
    Walls,
    Bonds,
    Fluids,
    Measure,
    Guard,
}

/// Names of the passes, in their order.
pub(crate) const PASSES_OF_CPU: [&str; 10] = [
    "conduct",
    "advance",
    "boundaries",
    "cells",
    "contacts",
    "walls",
    "bonds",
    "fluids",
    "measure",
    "guard",
];

/// A world in motion: made from a [`World`], advanced step by step.
pub struct Simulation {
    pub(crate) device: Arc<Cpu>,
    pub(crate) settings: Settings,
    pub(crate) domain: Option<Domain>,
    /// Which sides of it are periodic.
    pub(crate) sides: u32,
    pub(crate) fields: Fields,
    /// Rigid bodies, and whether there are or were any.
    pub(crate) bodies: Bodies,
    pub(crate) carries: bool,
    /// Whether some grains are copies of those of other domains, which [`Fields::member`] says.
    pub(crate) has_ghosts: bool,
    /// Which of its own grains these push, in a domain.
    pub(crate) border: Border,
    pub(crate) moves_of_bodies: Vec<Moved<f64>>,
    /// What bodies may touch until lists are made anew.
    pub(crate) broad: Broad,
    pub(crate) table: Vec<f64>,
    pub(crate) materials: u32,
    /// Densities of the materials \[kg/m³\].
    pub(crate) densities: Vec<f64>,
    /// Kinds of grains that may come.
    pub(crate) expected: Vec<Expected>,
    /// The lowest id above all that were used.
    pub(crate) next_id: u64,
    pub(crate) frictional: bool,
    /// Whether a tangential law asks for the contact radius before.
    pub(crate) has_mindlin: bool,
    /// Whether contacts can do more than rub, see [`seixo_laws::contact::compound`].
    pub(crate) is_compound: bool,
    /// Whether all grains are of one material.
    pub(crate) is_uniform: bool,
    pub(crate) cells: Cells,
    pub(crate) pairs: Pairs,
    pub(crate) old_pairs: Pairs,
    pub(crate) walls: Walls,
    pub(crate) loads: Loads,
    /// Groups whose grains may be held, set free or loaded anew, with their names.
    pub(crate) switched: Vec<(u32, String)>,
    pub(crate) stepping: Stepping<f64, f64>,
    pub(crate) moves: Vec<Moved<f64>>,
    pub(crate) tallies: Vec<Tally<f64>>,
    pub(crate) wall_tallies: Vec<Tally<f64>>,
    pub(crate) last_tally: Tally<f64>,
    pub(crate) work: Work,
    pub(crate) steps: u64,
    pub(crate) rebuilds: u64,
    pub(crate) time_step: TimeStep,
    pub(crate) digits: Digits,
    pub(crate) profile: Profile,
    /// Whether grains were moved, and what pushes them there is still to be found.
    pub(crate) owes_forces: bool,
    /// Where a GPU and the cores of this machine are at work at the same time.
    pub(crate) trace: Option<Trace>,
    /// The GPU that steps the grains; without any grain, it has nothing.
    pub(crate) gpu: Option<Gpu>,
    /// Where the grains are, if not here.
    pub(crate) remote: Option<Box<dyn Remote>>,
    /// The domains that the grains are in, if not here.
    pub(crate) division: Option<Division>,
    /// How often grains went from one domain to another, when somebody looked last.
    pub(crate) changed_hands: u64,
    /// What each domain told the others, when somebody looked last.
    pub(crate) traffic: Vec<Traffic>,
    /// Whether fields and ledger show the grains as they stand.
    pub(crate) is_current: bool,
    /// Energies as the GPU summed them.
    pub(crate) held: Ledger,
    /// What the second of each pair remembers, where it is not just the opposite of what the first does.
    pub(crate) of_second: Vec<(u32, u32, [f64; COMPOUND])>,
    /// What glues grains together, if anything does or may.
    pub(crate) bonds: Option<Box<Network>>,
    /// The kinds of bonds, and what is left of their limit of the time step \[-\].
    pub(crate) kinds_of_bonds: Vec<Bonds>,
    pub(crate) left_to_bonds: f64,
    /// What flows, if anything does.
    pub(crate) flow: Option<Box<Flow>>,
    /// What heat needs, where it flows.
    pub(crate) heat: Option<Box<Heat>>,
    pub(crate) notices: Vec<String>,
}

impl Simulation {
    /// Sets a world up at time zero, with its forces.
    ///
    /// # Errors
    /// If the world or a setting cannot be simulated.
    pub fn new(mut world: World, settings: Settings) -> Result<Simulation, Refusal> {
        let fluid = world.fluids.as_ref().map_or(0, |fluids| fluids.particles.len());
        let again = |settings| Simulation::new(world.clone(), settings);
        let (settings, tried) = placed(settings, [world.grains.len(), fluid], again);
        let (mut simulation, found) = Simulation::planned(&world, settings, Fields::default())?;
        simulation.digits.check(Precision::F64)?;
        simulation.notices.extend(tried);
        simulation.fields = fields_of(&world.grains, &simulation.densities, simulation.frictional);
        simulation.tune_servos();
        if simulation.carries {
            simulation.put_bodies_up(&world.grains);
        }
        simulation.bond_grains(&world, &found);
        let fluids = world.fluids.take();
        drop(world);
        simulation.renew_lists();
        simulation.touch_grains();
        simulation.touch_walls();
        simulation.hold_grains();
        simulation.refuse_deep_overlaps()?;
        let power = simulation.drive_at_start();
        simulation.begin_gear_at_start();
        if let Some(fluids) = fluids {
            simulation.put_fluids_up(fluids)?;
        }
        simulation.pull_back_half_a_step(0..simulation.fields.len());
        simulation.pull_bodies_back(0..simulation.bodies.len());
        simulation.last_tally = Tally {
            wall_power: power,
            ..NO_CONTACT
        };
        simulation.work.initial = simulation.ledger().residual;
        simulation.open_heat_books()?;
        simulation.go_where_asked()?;
        Ok(simulation)
    }

    /// Checks a world and sets everything up but lists and forces.
    pub(crate) fn prepare(world: &World, settings: Settings, fields: Fields) -> Result<Simulation, Refusal> {
        Simulation::planned(world, settings, fields).map(|(simulation, _)| simulation)
    }

    /// As [`Simulation::prepare`], with the pairs that are to be bonded at the start, which the time step depends on.
    fn planned(world: &World, mut settings: Settings, fields: Fields) -> Result<(Simulation, Vec<Found>), Refusal> {
        check(world, &settings)?;
        settings.heed_ranks();
        settings.divisible |= settings.domains > 1;
        let device = Arc::new(Cpu::new(settings.threads)?);
        let found = pairs_at_start(&device, world)?;
        let mut time_step = plan_with_bonds(world, settings.scheme, &found)?;
        if let Some(value) = settings.time_step {
            if value > time_step.limit {
                let TimeStep { limit, auto, cause, .. } = time_step;
                return Err(Refusal::TimeStep { value, limit, auto, cause });
            }
            time_step.value = value;
        }
        let digits = Digits::asked_by(world, time_step.value);
        let (table, is_compound) = table_of(world)?;
        let frictional = is_frictional(world) || !world.bonds.is_empty();
        let usual_skin = usual_skin(world);
        let skin = settings.skin.unwrap_or(usual_skin);
        // Walls are listed even where cells are made anew at every step.
        let skin_of_walls = if skin > 0.0 { skin } else { usual_skin };
        let later = world.later.grains.iter().flat_map(classes_of);
        let mut radii: Vec<f64> = world.grains.radius.iter().copied().chain(later).collect();
        if let (true, Some(fluids)) = (radii.is_empty(), &world.fluids) {
            // Without grains there is nothing to sort, but a size is asked for.
            radii.push(fluids.spacing);
        }
        // Grains that hold each other across a gap are listed, too.
        let [gap, gap_to_walls] = longest_gaps(world, &table);
        let mut cells = Cells::new(radii.iter().copied(), settings.search, skin + gap);
        cells.gap = gap;
        cells.kind = kind_of(world.domain.as_ref());
        let bounds = world.domain.map_or([[-1e300; 3], [1e300; 3]], |domain| domain.open_corners());
        let sides = kind_of(world.domain.as_ref());
        check_sides(world, 2.0 * cells.largest_radius() + cells.skin)?;
        // Where sides slide, grains across them move past each other though they stand still: half of the skin is theirs.
        let strides = if sides == SHEARED { 4.0 } else { 2.0 };
        let stepping = Stepping {
            dt: time_step.value,
            reads_ahead: settings.scheme.reads_ahead() * time_step.value,
            shows_ahead: settings.scheme.shows_ahead() * time_step.value,
            lag: settings.scheme.lag(),
            gravity: vector(world.gravity),
            local_damping: world.local_damping,
            stale_square: (skin / strides).powi(2),
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
        let mut walls = Walls::new(world.walls.clone(), reach, skin_of_walls, gap_to_walls, remembered(is_compound));
        if !world.grains.is_empty() || !world.later.grains.is_empty() {
            notices.extend(walls.repeat(world.domain.as_ref(), &world.later.motions, cells.largest_radius())?);
        }
        world.later.walls.iter().for_each(|&wall| walls.set_there(wall, false));
        let highest_ids = world.later.grains.iter().filter_map(|kind| kind.highest_id.as_ref());
        let kinds_of_material = world.later.grains.iter().map(|kind| kind.material);
        let all_materials: Vec<u32> = world.grains.material.iter().copied().chain(kinds_of_material).collect();
        let left_to_bonds = left_to_bonds(world, settings.scheme);
        let name_of = |group: u32| world.groups[group as usize].clone();
        let simulation = Simulation {
            device,
            domain: world.domain,
            sides,
            fields,
            bodies: Bodies::default(),
            carries: !world.grains.bodies.is_empty(),
            has_ghosts: false,
            border: Border::default(),
            moves_of_bodies: Vec::new(),
            broad: Broad::default(),
            table,
            materials: world.materials.len() as u32,
            densities: world.materials.iter().map(|material| material.density).collect(),
            expected: world.later.grains.clone(),
            next_id: world.grains.id.iter().chain(highest_ids).max().map_or(0, |&id| u64::from(id) + 1),
            frictional,
            has_mindlin: world.interactions.iter().flatten().any(|i| i.tangential == TangentialLaw::Mindlin),
            is_compound,
            is_uniform: all_materials.windows(2).all(|pair| pair[0] == pair[1]),
            cells,
            pairs: Pairs::default(),
            old_pairs: Pairs::default(),
            walls,
            loads: Loads::of(world)?,
            switched: world.later.switched.iter().map(|&group| (group, name_of(group))).collect(),
            stepping,
            moves: Vec::new(),
            tallies: Vec::new(),
            wall_tallies: Vec::new(),
            last_tally: NO_CONTACT,
            work: Work::default(),
            steps: 0,
            rebuilds: 0,
            time_step,
            digits,
            profile: Profile::new(&PASSES_OF_CPU),
            owes_forces: false,
            trace: None,
            settings,
            gpu: None,
            remote: None,
            division: None,
            changed_hands: 0,
            traffic: Vec::new(),
            is_current: true,
            held: Ledger::default(),
            of_second: Vec::new(),
            bonds: None,
            kinds_of_bonds: world.bonds.clone(),
            left_to_bonds,
            flow: None,
            heat: Heat::of(world),
            notices,
        };
        Ok((simulation, found))
    }

    /// Time reached \[s\].
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.stepping.dt
    }

    /// Steps completed.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Number of grains.
    pub fn len(&self) -> usize {
        let whole = self.remote.as_ref().map_or(self.fields.len(), |remote| remote.grains());
        self.division.as_ref().map_or(whole, Division::grains)
    }

    /// Whether no grain is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gravity now \[m/s²\].
    pub fn gravity(&self) -> Vec3 {
        array(&self.stepping.gravity)
    }

    /// The time step and what limits it.
    pub fn time_step(&self) -> &TimeStep {
        &self.time_step
    }

    /// Threads at work.
    pub fn threads(&self) -> usize {
        self.device.threads()
    }

    /// How often the neighbor lists were renewed.
    pub fn rebuilds(&self) -> u64 {
        self.rebuilds + self.flow.as_ref().map_or(0, |flow| flow.rebuilds)
    }

    /// Seconds per pass.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    pub(crate) fn leaving(&self) -> Leaving {
        self.domain.map_or(Leaving::Delete, |domain| domain.leaving)
    }

    /// Whether a center is outside the domain.
    pub(crate) fn has_left(&self, center: &[f64]) -> bool {
        self.domain.is_some_and(|domain| domain.has_lost(center))
    }

    /// Runs a pass and adds its time to the profile.
    pub(crate) fn pass<T>(&mut self, pass: Pass, run: impl FnOnce(&mut Simulation) -> T) -> T {
        let start = Instant::now();
        let result = run(self);
        self.profile.book(pass as usize, start, 1);
        if let Some(trace) = &mut self.trace {
            trace.note(PASSES_OF_CPU[pass as usize], Some(start), self.steps);
        }
        result
    }

    /// The latest passes of a simulation of which parts are computed on the cores of this machine and on a GPU at the same time; else nothing.
    pub fn trace(&self) -> Vec<Span> {
        self.trace.as_ref().map_or(Vec::new(), |trace| trace.spans().copied().collect())
    }

    fn refuse_deep_overlaps(&self) -> Result<(), Refusal> {
        let limit = self.settings.overlap_limit;
        // The overlap of two centers in one place gives forces that are not numbers.
        if !self.is_too_deep() && self.fields.force.iter().all(|f| f.is_finite()) {
            return Ok(());
        }
        let (share, i, partner) = self.deepest_touch();
        let (id, limit, share) = (self.fields.id[i], 100.0 * limit, 100.0 * share);
        let center = &self.fields.position[i * RECORD..];
        match partner.strip_prefix("grain ").and_then(|other| other.parse::<u32>().ok()) {
            Some(other) => {
                let overlap = 0.01 * share * center[3];
                Err(Refusal::Overlap {
                    a: id.min(other),
                    b: id.max(other),
                    overlap,
                    share,
                    limit,
                })
            }
            None => Err(Refusal::InWall {
                id,
                at: [center[0], center[1], center[2]],
                share,
                limit,
            }),
        }
    }

    /// Velocities that are kept at half steps start half a step back: v^{−Δt/2} = v⁰ − a⁰ Δt/2. Grains that are carried keep none.
    pub(crate) fn pull_back_half_a_step(&mut self, grains: impl IntoIterator<Item = usize>) {
        let backwards = -self.stepping.shows_ahead;
        let stepping = self.stepping;
        let Fields {
            member,
            position,
            velocity,
            spin,
            half_velocity,
            half_spin,
            force,
            torque,
            ..
        } = &mut self.fields;
        for i in grains {
            if member.get(i).is_some_and(|&m| m != FREE) {
                continue;
            }
            let at = i * RECORD;
            let (radius, mass) = (position[at + 3], velocity[at + 3]);
            let rate = acceleration(&load(velocity, at), mass, &load(force, at), &stepping).rate;
            for (slot, a) in half_velocity[3 * i..3 * i + 3].iter_mut().zip([rate.x, rate.y, rate.z]) {
                *slot += backwards * a;
            }
            if self.frictional {
                let rate = angular_acceleration(&load(spin, at), mass, radius, &load(torque, at), &stepping).rate;
                for (slot, a) in half_spin[3 * i..3 * i + 3].iter_mut().zip([rate.x, rate.y, rate.z]) {
                    *slot += backwards * a;
                }
            }
        }
    }
}

/// Skin of the lists as a share of the radius, where the scene gives none.
const SKIN_OF_RADIUS: f64 = 0.2;

/// The skin where the scene gives none \[m\], from the median radius: a few small or large grains do not set it. Where no grain is there
/// yet, those that may come do.
fn usual_skin(world: &World) -> f64 {
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

/// Radii that stand for all of a kind: its largest, those that halve it, and its smallest \[m\].
fn classes_of(kind: &Expected) -> impl Iterator<Item = f64> + '_ {
    let halved = std::iter::successors(Some(kind.radius[1]), |radius| Some(0.5 * radius));
    halved.take_while(|&radius| radius > kind.radius[0]).chain([kind.radius[0]])
}

pub(crate) fn vector(v: Vec3) -> Vector3<f64> {
    Vector3 { x: v[0], y: v[1], z: v[2] }
}
