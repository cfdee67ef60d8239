//! A time step of grains on the GPU: the launches of [`super::GrainLaunch`], in batches.

use super::domain::StepPart;
use super::few_grains::blocks_of_one_launch;
use super::neighbor_lists::{box_around, is_beyond};
use super::tables::sum_of_blocks;
use super::{FinishedSteps, GpuGrains, LaunchState, Number, doubles, numbers, raised, stepping};
use crate::populations::Populations;
use crate::world::LeavingPolicy;
use seixo_device::gpu::{Buffer, Copies, GpuError, Ticket, units, units_in_cubes_of};
use seixo_laws::Coordinate;
use seixo_laws::contact::CoefficientsLaunch;
use seixo_sweeps::kernels::bonds::SOME_BROKE;
use seixo_sweeps::kernels::few_grains::{THREADS_OF_BLOCK, grains_and_walls};
use seixo_sweeps::kernels::step::{StepKernelConfig, grains};
use seixo_sweeps::kernels::wall_forces::{PLACED_ELEMENTS, PLACED_WALLS, WALL_THREADS, walls};
use seixo_sweeps::kernels::walls::{control, place};
use seixo_sweeps::kernels::{DONE, FLAGS, HALTED, THREADS};
use seixo_sweeps::layout::ELEMENT;
use seixo_sweeps::motion::{LEFT_DOMAIN, NOT_FINITE, SKIN_EXCEEDED, StepParameters, TOO_CONDUCTIVE, TOO_DEEP, TOO_FAST};
use seixo_sweeps::periodic::{OPEN, SHEARED};
use seixo_sweeps::wall_pose::SERVO;
use std::time::Instant;

/// Maximum number of steps that are queued before the host reads the flags.
pub(super) const BATCH: usize = 128;

/// Number of steps after which the sums of powers in grains go to those of blocks, if these have more digits: what is added to a long sum loses its own.
const STEPS_OF_A_SUM: u64 = 4096;

/// Number of particles up to which a launch takes the host longer than the GPU.
pub(super) const FEW: usize = 200_000;

/// Passes of the GPU that the profile distinguishes. The host waits for many steps at once, so it cannot time the parts of a step. For fluids there
/// are steps, lists, and the exchange through inlets and outlets.
pub(crate) const PASSES: [&str; 5] = [
    "grain steps",
    "neighbor lists",
    "fluid steps",
    "fluid neighbor lists",
    "open boundaries",
];
const STEPS: usize = 0;
pub(crate) const LISTS: usize = 1;
pub(super) const FLUIDS: usize = 2;
pub(crate) const FLUID_LISTS: usize = 3;
pub(crate) const OPEN_BOUNDARIES: usize = 4;

/// State before the steps that are queued.
pub(super) struct PendingSteps {
    now: usize,
    forces_known: bool,
    /// Number of steps, if none halts.
    batch: u64,
    start: Instant,
}

/// Number of steps that n particles best take without the host, so many steps after a rebuild of the lists, of which those before lasted for this
/// `interval`.
///
/// Steps that are queued behind lists out of date are launched in vain. With few particles that takes as long as a wait, so their batches are half as long
/// as lists last. Some steps take long in vain, too: in a decomposition, GPUs send each other halos; those of fluids read records before they look at the
/// flag. So their batches end where the lists before did, and are a quarter as long from there on.
pub(super) fn batch_after(since_rebuild: u64, interval: u64, n: usize, is_long_in_vain: bool) -> u64 {
    let lasting = interval.max(since_rebuild);
    let batch = if n <= FEW {
        lasting / 2
    } else if is_long_in_vain {
        interval.saturating_sub(since_rebuild).max(lasting / 4)
    } else {
        lasting
    };
    batch.clamp(1, BATCH as u64)
}

/// Number of steps, at most `most`, until a wall has moved half the skin of the lists, or the sides have slid that far. It takes as long as there are
/// steps to look at.
fn until_walls_exceed_skin(host: &Populations, most: u64) -> u64 {
    let walls = host
        .walls
        .steps_until_moved(host.context.steps, host.context.stepping.dt, host.walls.slack(), most);
    walls.min(host.steps_until_slid())
}

/// Whether, by these flags, a grain moved as far as the skin allows, or a wall or a side did.
pub(crate) fn lists_out_of_date(host: &Populations, raised: u32) -> bool {
    raised & SKIN_EXCEEDED != 0 || until_walls_exceed_skin(host, 1) == 0
}

/// Coefficients of contacts between grains of the first material, as a kernel argument; zeros if there is none.
fn coefficients_of_first<R: Number>(host: &Populations) -> CoefficientsLaunch<R> {
    let coefficients = &host.context.materials.coefficients;
    let number = |at: usize| R::of(coefficients.get(at).copied().unwrap_or(0.0));
    CoefficientsLaunch::new(
        number(0),
        number(1),
        number(2),
        number(3),
        number(4),
        number(5),
        number(6),
        number(7),
        number(8),
    )
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// First part of a step: forces, and motion of the grains that move by themselves.
    pub(super) fn forces_and_motion_of_grains(&mut self, host: &Populations, ahead: u32) -> Result<(), GpuError> {
        let parity = ahead & 1;
        if self.is_step_one_launch(host) {
            self.grains_and_walls(host, ahead, parity);
            return Ok(());
        }
        self.place_walls(host);
        self.wall_forces(host, parity);
        self.shape_wall_forces(host, parity);
        let is_geared = self.geared.is_some();
        self.bond_forces(host, parity, is_geared);
        self.shape_pair_forces(host, parity);
        // Polyhedral grains conduct through the contacts that were found just now.
        self.diffuse(host, ahead, parity);
        self.assemble_forces(host, parity)?;
        self.control_walls(host, parity);
        let touch = !self.forces_known && self.contacts.is_none();
        if !is_geared {
            if !self.has_only_polyhedra() {
                let part = self.first_part(touch);
                self.forces_and_motion(host, ahead, parity, (touch, true, false), part);
            }
            self.move_polyhedra(host, ahead, parity);
        } else if touch {
            self.forces_and_motion(host, ahead, parity, (true, false, true), StepPart::Whole);
        }
        self.gear_step(host, parity);
        self.collect_member_forces();
        Ok(())
    }

    /// Second part of a step: motion of bodies.
    pub(super) fn finish_step(&mut self, host: &Populations, ahead: u32) {
        self.move_bodies(host, ahead & 1);
        self.forces_known = false;
        self.now ^= 1;
        self.bin();
    }

    /// As [`super::GpuBackend::launch_state`]. Sides that slide, scalars, bodies, bonds, loads and Gear's method pass values that depend on time, or do
    /// more than launch.
    pub(super) fn state_of_launches(&self, host: &Populations) -> Option<LaunchState> {
        (self.is_repeated() && self.are_steps_alike()).then_some(LaunchState {
            now: self.now,
            rebuilds: host.grains.rebuilds,
        })
    }

    /// Whether each of the next steps makes the same launches, moving walls excepted, and all grains move by themselves.
    pub(super) fn are_steps_alike(&self) -> bool {
        let moves_alone = !self.has_members() && self.has_no_other_forces() && self.has_no_other_motion();
        moves_alone && !self.forces_known && self.kind.sides != SHEARED && self.diffusions.is_empty()
    }

    /// Whether no launch computes other forces on grains than those of contacts and walls, and none assembles these.
    pub(super) fn has_no_other_forces(&self) -> bool {
        self.holding.is_none() && self.contacts.is_none()
    }

    /// Whether no other launch than that of contacts moves spheres that move by themselves.
    pub(super) fn has_no_other_motion(&self) -> bool {
        self.geared.is_none() && self.binned.is_none()
    }

    /// Whether the grains are so few, and the GPU such, that launches are repeated.
    pub(super) fn is_repeated(&self) -> bool {
        self.n <= FEW && self.gpu.can_record()
    }

    /// Whether these flags require an action of the host.
    pub(super) fn needs_host(&self, host: &Populations, raised: u32) -> bool {
        let left = if host.leaving() == LeavingPolicy::Error { LEFT_DOMAIN } else { 0 };
        raised & (left | NOT_FINITE | TOO_FAST | TOO_DEEP | TOO_CONDUCTIVE) != 0
    }

    /// Whether a grain or a body is outside a domain that removes it, after finished steps. Waits for the GPU if there are bodies, or if the box of the
    /// grains did not come with the flags.
    pub(super) fn finds_outside(&self, host: &Populations) -> Result<bool, GpuError> {
        let Some(domain) = host.context.domain_to_leave() else {
            return Ok(false);
        };
        let are_beyond = |position: &Buffer<C>, member: Option<&Buffer<u32>>, n: usize| -> Result<bool, GpuError> {
            Ok(is_beyond(&self.cells.box_of_free(&self.gpu, position, member, n)?, &domain))
        };
        let have_left = match &self.box_after_steps {
            Some(bounds) => is_beyond(bounds, &domain),
            None => are_beyond(&self.position[self.now], self.marks_of_free(), self.n)?,
        };
        match self.carriers.as_ref().filter(|carriers| carriers.bodies > 0 && !have_left) {
            Some(carriers) => are_beyond(&carriers.coupled.center, None, carriers.bodies),
            None => Ok(have_left),
        }
    }

    /// Rebuilds the lists if the flags or the walls require it.
    pub(super) fn rebuild_lists_if_flagged(&mut self, host: &mut Populations, raised: u32) -> Result<(), GpuError> {
        if lists_out_of_date(host, raised) {
            let start = Instant::now();
            let lists = self.counts_of_lists(host)?;
            host.tune_skin(&lists);
            self.wrap_bodies(host)?;
            let leaving = raised & LEFT_DOMAIN != 0;
            let known = self.box_after_steps.take().filter(|_| !leaving && self.sorts_in_known_box());
            self.rebuild_neighbor_lists(host, leaving, known)?;
            host.profile.add_on_gpu(LISTS, start, 1);
        }
        Ok(())
    }

    /// Number of steps to queue, at most `most`.
    pub(super) fn steps_at_once(&self, host: &Populations, most: u64) -> u64 {
        let mut batch = batch_after(self.since_rebuild, self.interval, self.n, host.grains.has_ghosts).min(most);
        if Self::has_short_sums() {
            // So that sums end at the same steps in a resumed run.
            batch = batch.min(STEPS_OF_A_SUM - host.context.steps % STEPS_OF_A_SUM);
        }
        batch.min(until_walls_exceed_skin(host, batch)).max(1)
    }

    /// Prepares a batch of steps.
    pub(super) fn set_out(&mut self, host: &Populations, batch: u64) {
        self.send_poses(host, batch as usize);
        self.send_loads(host, batch as usize);
        self.send_poses_of_bodies(host, batch);
        self.gpu.clear(&self.flags);
        if self.since_rebuild == 0 {
            self.strides.forget();
        }
        self.box_after_steps = None;
        self.entries_after_steps = None;
        self.queued = Some(PendingSteps {
            now: self.now,
            forces_known: self.forces_known,
            batch,
            start: Instant::now(),
        });
    }

    /// As [`super::GpuBackend::restart_clock`].
    pub(super) fn restart_clock_of_steps(&mut self) {
        if let Some(queued) = &mut self.queued {
            queued.start = Instant::now();
        }
    }

    /// Waits for the queued steps, and downloads what they raised, with the servos and, if the halo is sent `by_messages`, with these.
    pub(super) fn collect_steps(&mut self, host: &mut Populations, by_messages: bool) -> Result<FinishedSteps, GpuError> {
        if self.queued.is_none() {
            return Ok(FinishedSteps::default());
        }
        // One copy, and so one wait for all.
        let mut copies = self.gpu.copies();
        let flags = copies.add(&self.flags, 0..FLAGS);
        let halo = self.request_halo(&mut copies, by_messages);
        let servos = self.request_servos(host, &mut copies);
        let corners = self.request_box(host, &mut copies);
        let entries = self.request_entries_in_time(host, &mut copies);
        let arrived = copies.wait()?;
        let flags = arrived.take(flags);
        let before = host.context.steps;
        let raised = self.count_queued(host, &flags)?;
        let taken = host.context.steps - before;
        let have_halted = flags[HALTED..DONE].iter().any(|&halted| halted != 0);
        self.box_after_steps = corners
            .filter(|(_, is_last)| *is_last || have_halted)
            .map(|(corners, _)| arrived.make(corners, |corners| box_around(corners).0));
        self.entries_after_steps = entries.map(|entries| arrived.make(entries, sum_of_blocks));
        if let Some(servos) = servos {
            host.walls.servos = doubles(&arrived.take(servos));
        }
        Ok(FinishedSteps {
            raised,
            taken,
            needs_host: self.needs_host(host, raised),
            messages: Self::halo_messages(&arrived, halo),
        })
    }

    /// Whether the box around all grains after steps is that in which a rebuild sorts them. Not where grains are moved or removed before they are sorted,
    /// or where others are sorted with them.
    fn sorts_in_known_box(&self) -> bool {
        self.kind.sides == OPEN && !self.has_members() && self.binned.is_none()
    }

    /// Marks of the grains that are free, and not ghosts; `None` if all are.
    fn marks_of_free(&self) -> Option<&Buffer<u32>> {
        self.has_members().then(|| self.member())
    }

    /// Queues the search for the box around the free grains after the queued steps, and requests its corners. A rebuild of the lists there needs it, or
    /// removes what is outside the domain. Also returns whether walls will have moved too far for the lists then; otherwise the box is found only if
    /// something halts the steps.
    fn request_box(&self, host: &Populations, copies: &mut Copies) -> Option<(Ticket<C>, bool)> {
        let is_wanted = self.sorts_in_known_box() || host.context.domain_to_leave().is_some();
        let queued = self.queued.as_ref().filter(|_| is_wanted)?;
        let positions = [&self.position[queued.now], &self.position[queued.now ^ 1]];
        let is_last = until_walls_exceed_skin(host, queued.batch + 1) <= queued.batch;
        let (free, flags): (_, &Buffer<u32>) = ((self.marks_of_free(), self.n), &self.flags);
        let corners = self.cells.request_bounds(&self.gpu, positions, free, (flags, is_last), copies);
        Some((corners, is_last))
    }

    /// Requests the number of entries of the lists if they may be counted after the queued steps, so that the host does not wait for it then.
    fn request_entries_in_time(&self, host: &Populations, copies: &mut Copies) -> Option<Ticket<u32>> {
        let is_due = self.queued.as_ref().is_some_and(|queued| host.may_count_entries(queued.batch));
        is_due.then(|| self.rows.request_ends(&self.gpu, self.n, copies))
    }

    /// Whether grains sum powers with fewer digits than blocks do.
    fn has_short_sums() -> bool {
        size_of::<R>() < size_of::<C>()
    }

    /// Counts the steps that were taken, once their flags are here, and fetches the bonds that broke in them. Returns the flags that the steps
    /// raised.
    fn count_queued(&mut self, host: &mut Populations, flags: &[u32]) -> Result<u32, GpuError> {
        let Some(queued) = self.queued.take() else { return Ok(0) };
        if flags[SOME_BROKE] != 0 {
            self.fetch_breaks(host, host.context.steps)?;
        }
        let done = u64::from(flags[DONE]);
        self.now = queued.now ^ (done as usize & 1);
        self.forces_known = done == 0 && queued.forces_known;
        host.context.steps += done;
        if Self::has_short_sums() && (host.context.steps - done) / STEPS_OF_A_SUM != host.context.steps / STEPS_OF_A_SUM {
            self.collect();
        }
        host.place_sides();
        self.since_rebuild += done;
        self.strides.take_over(flags);
        host.profile.add_on_gpu(STEPS, queued.start, done);
        Ok(raised(flags))
    }

    /// Sends the poses of the walls for the next `batch` steps: within them moving walls need nothing from the host.
    pub(super) fn send_poses(&mut self, host: &Populations, batch: usize) {
        if let Some(walls) = &mut self.walls
            && host.walls.has_moving()
        {
            let time = |step: usize| (host.context.steps + step as u64) as f64 * host.context.stepping.dt;
            let poses = (0..batch).flat_map(|step| host.walls.poses(time(step), time(step + 1)));
            let mut poses = poses.collect::<Vec<f64>>();
            poses.resize(walls.poses.len(), 0.0);
            self.gpu.write(&walls.poses, &numbers::<C>(poses));
        }
    }

    /// Whether the launch of the forces between grains and walls places the walls, too.
    ///
    /// A subdomain without grains near walls has no such launch, and compilers might fuse operations differently in it. So where servos of
    /// decomposition-invariant runs measure areas between walls, all subdomains place these in the same kernel.
    fn places_with_forces(&self, host: &Populations) -> bool {
        host.walls.has_moving()
            && !self.has_only_polyhedra()
            && !(host.context.settings.decomposition_invariant && host.walls.measures_areas())
            && host.walls.given.len() <= PLACED_WALLS
            && self
                .walls
                .as_ref()
                .is_some_and(|near| near.entries > 0 && !self.forces_known && near.elements.len() / ELEMENT <= PLACED_ELEMENTS)
    }

    /// Places the walls at this step, unless [`GpuGrains::wall_contacts`], which follows, does.
    pub(super) fn place_walls(&self, host: &Populations) {
        let Some(near) = self
            .walls
            .as_ref()
            .filter(|_| host.walls.has_moving() && !self.places_with_forces(host))
        else {
            return;
        };
        let elements = near.elements.len() / ELEMENT;
        let (count, dim) = units(elements);
        place::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            near.start.argument(),
            near.at_rest.argument(),
            near.poses.argument(),
            near.servos.argument(),
            near.records.argument(),
            near.elements.argument(),
            self.flags.argument(),
            host.walls.given.len() as u32,
            elements as u32,
        );
    }

    /// Advances the servos to the next step with the loads of this one. Among other subdomains, it only sums the loads of the grains here.
    fn control_walls(&self, host: &Populations, parity: u32) {
        if self.control_by_whole_numbers(host, parity) {
            return;
        }
        let Some(near) = self.walls.as_ref().filter(|_| host.walls.has_servos()) else {
            return;
        };
        let walls = near.servos.len() / SERVO;
        let (count, dim) = units(walls * THREADS);
        control::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            near.wall_contacts.argument(),
            near.list.argument(),
            near.elements.argument(),
            near.poses.argument(),
            near.servos.argument(),
            self.flags.argument(),
            near.entries as u32,
            walls as u32,
            C::of(host.context.stepping.dt),
            parity,
        );
    }

    /// Computes the forces between grains and walls; does nothing without wall contacts, or without spheres.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    pub(super) fn wall_contacts(&self, host: &Populations, parity: u32) {
        let is_needed = !self.forces_known && !self.has_only_polyhedra();
        let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0 && is_needed) else {
            return;
        };
        let (marks, shaped) = self.marks_of_shapes();
        let places = self.places_with_forces(host);
        let (elements, records, placed, placed_records) = if places {
            (&near.start, &near.at_rest, &near.elements, &near.records)
        } else {
            (&near.elements, &near.records, &self.energy, &self.wall_energy)
        };
        let (count, dim) = units_in_cubes_of(WALL_THREADS as u32, near.near);
        // SAFETY: threads beyond the number of grains near walls only read, what the last of these does, and these grains are indices below n. Their
        // rows come from the scan of the rows' lengths, have at least one entry, and end at `entries`, for which list, history and touches have room.
        // Lists refer to elements, and elements to walls, both from the host's own tables. Records and fields have n records, those of rotation if they
        // are read, and materials and, if they are read, marks of shapes n words. If walls are placed, they have no more elements than there are
        // threads in a block and records in its memory, and no more walls; poses have a record of each wall for every step of a batch. Powers are
        // written within their length, which is not zero.
        unsafe {
            walls::launch_unchecked::<R, C>(
                self.gpu.client(),
                count,
                dim,
                near.leads.records(),
                near.list.argument(),
                elements.argument(),
                records.argument(),
                near.poses.argument(),
                near.servos.argument(),
                placed.argument(),
                placed_records.argument(),
                near.history.argument(),
                near.wall_contacts.argument(),
                self.position[self.now].records(),
                self.velocity[self.now].records(),
                self.spin[self.now].records(),
                self.material.argument(),
                marks.argument(),
                self.table.argument(),
                self.force.records(),
                self.torque.records(),
                self.flags.argument(),
                self.wall_power.records(),
                R::of(host.context.stepping.dt),
                R::of(host.context.settings.overlap_limit),
                near.near as u32,
                host.context.materials.count,
                (near.elements.len() / ELEMENT) as u32,
                host.walls.given.len() as u32,
                parity,
                self.kind.frictional,
                self.kind.is_extended,
                shaped,
                places,
            );
        }
    }

    /// Computes all forces on grains `ahead` steps after the host's clock, and moves the grains to their next positions, in one launch. Does nothing
    /// without walls.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    fn grains_and_walls(&self, host: &Populations, ahead: u32, parity: u32) {
        let Some(near) = &self.walls else { return };
        let now = StepParameters {
            sides: host.sides_ahead(ahead),
            ..host.context.stepping
        };
        let (count, dim) = units_in_cubes_of(THREADS_OF_BLOCK as u32, blocks_of_one_launch(self.n) * THREADS_OF_BLOCK);
        // SAFETY: there is at least one grain, and threads of grains beyond n only read, what those of the last grain do. Rows of neighbors are
        // interleaved in tiles. Their list and history have room for the sizes of the tiles, which the scan sums up, and the list for two more rows of a
        // tile, which are read but not used. Rows of walls come from the scan of the rows' lengths and end at the number of entries, for which list,
        // history and touches have room. Lists refer to grains below n, and to elements, and elements to walls, both from the host's own tables. All
        // fields and materials have n records, those of rotation if they are read, and `near.row` a word more. Flags have all their words. Powers of
        // walls have two records for every block, as the rebuild of the lists made room for n grains.
        unsafe {
            grains_and_walls::launch_unchecked::<R, C>(
                self.gpu.client(),
                count,
                dim,
                self.rows.tile_first.argument(),
                self.rows.count.argument(),
                self.rows.list.argument(),
                self.rows.history.argument(),
                self.material.argument(),
                self.table.argument(),
                near.row.argument(),
                near.list.argument(),
                near.elements.argument(),
                near.records.argument(),
                near.history.argument(),
                near.wall_contacts.argument(),
                self.wall_power.records(),
                self.position[self.now].records(),
                self.velocity[self.now].records(),
                self.spin[self.now].records(),
                self.half_velocity.records(),
                self.half_spin.records(),
                self.reference.records(),
                self.position[self.now ^ 1].records(),
                self.velocity[self.now ^ 1].records(),
                self.spin[self.now ^ 1].records(),
                self.flags.argument(),
                stepping::<C, R>(&now),
                coefficients_of_first::<R>(host),
                R::of(host.context.settings.overlap_limit),
                self.n as u32,
                host.context.materials.count,
                parity,
                self.kind,
            );
        }
    }

    /// Computes the forces between grains `ahead` steps after the host's clock, or moves the grains to their next positions, or both. Without motion,
    /// the powers of contacts are added up if the third flag is set, and only stored otherwise. For one part of the rows, or for all.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    pub(super) fn forces_and_motion(
        &self,
        host: &Populations,
        ahead: u32,
        parity: u32,
        (touch, advance, adds_up): (bool, bool, bool),
        part: StepPart,
    ) {
        let to_add_up = self.bonds_to_add_up();
        let (held, is_any_held) = self.moved_by_others();
        let plan = StepKernelConfig {
            kind: self.kind,
            touch,
            advance,
            reads_early: !self.kind.frictional && size_of::<C>() == size_of::<f32>(),
            adds_up,
            damped: host.context.stepping.local_damping > 0.0 || self.kind.sides == SHEARED,
            // All subdomains of a decomposition-invariant run use one kernel, with or without grains near walls: compilers might fuse operations
            // differently in another kernel.
            walls: self
                .walls
                .as_ref()
                .is_some_and(|near| near.entries > 0 || host.context.settings.decomposition_invariant),
            outside: self.shapes.is_some() || self.holding.is_some() && (to_add_up.is_none() || !advance),
            bonded: to_add_up.is_some() && touch && advance,
            rotates: self.orientations().is_some(),
            // For the same reason this does not depend on whether there are ghost particles.
            carries: is_any_held,
            // For the same reason this does not depend on whether steps are in parts.
            parted: host.context.settings.decomposition_invariant,
        };
        if let Some(binned) = &self.binned {
            // What ends the step sorts the grains into their new cells.
            self.push_and_advance(binned, host, ahead, parity, plan);
            return;
        }
        let now = StepParameters {
            sides: host.sides_ahead(ahead),
            ..host.context.stepping
        };
        let strides = self.stride_bounds(host, ahead);
        let no_walls = &self.no_rows;
        let nothing = (
            &self.cells.lengths,
            &self.cells.kept,
            self.old_contacts.placeholder(),
            &self.wall_power,
        );
        let (rows_of_bonds, bonds, pull, taken) = to_add_up.unwrap_or(nothing);
        let ledger = plan.damped || !advance;
        let rows = self.rows_of(part);
        let (count, dim) = if ledger {
            units(rows.threads)
        } else {
            units_in_cubes_of(self.threads_of_blocks(host), rows.threads)
        };
        // After the first part, the new positions are the current ones.
        let now_at = if part.is_later() { self.now ^ 1 } else { self.now };
        // SAFETY: threads beyond n do nothing. Rows are interleaved in tiles. List and history have room for the sizes of the tiles, which the scan
        // sums up. The list has room for two more rows of a tile, which are read but not used. Lists refer to indices below n. All fields have n
        // records, those of rotation only if it is read, and members n words. Flags have all their words, and powers two records for every block. If the
        // launch is for a part, the table of parts has n words, the lists of all parts behind them, and a word more; a listed index counts only if it is
        // below n.
        unsafe {
            grains::launch_unchecked::<R, C>(
                self.gpu.client(),
                count,
                dim,
                self.rows.tile_first.argument(),
                self.rows.count.argument(),
                self.rows.list.argument(),
                self.rows.history.argument(),
                self.material.argument(),
                held.argument(),
                self.table_of_parts().argument(),
                self.table.argument(),
                self.walls.as_ref().map_or(no_walls, |near| &near.row).argument(),
                rows_of_bonds.argument(),
                bonds.argument(),
                pull.records(),
                taken.argument(),
                self.position[now_at].records(),
                self.velocity[now_at].records(),
                self.spin[now_at].records(),
                self.half_velocity.records(),
                self.half_spin.records(),
                self.force.records(),
                self.torque.records(),
                self.reference.records(),
                self.position[now_at ^ 1].records(),
                self.velocity[now_at ^ 1].records(),
                self.spin[now_at ^ 1].records(),
                self.orientations().unwrap_or(&self.wall_energy).records(),
                self.flags.argument(),
                self.power.records(),
                stepping::<C, R>(&now),
                coefficients_of_first::<R>(host),
                R::of(host.context.settings.overlap_limit),
                R::of(strides.widest_square),
                R::of(strides.square),
                strides.level,
                self.n as u32,
                host.context.materials.count,
                parity,
                part.number(),
                rows.first as u32,
                rows.listed as u32,
                plan,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_short_where_steps_in_vain_take_long() {
        let (many, few) = (FEW + 1, FEW);
        let batches = |n: usize, is_long_in_vain: bool| [0, 20, 39, 40, 60].map(|since| batch_after(since, 40, n, is_long_in_vain));
        assert_eq!(batches(many, false), [40, 40, 40, 40, 60]);
        assert_eq!(batches(many, true), [40, 20, 10, 10, 15]);
        for is_long_in_vain in [false, true] {
            assert_eq!(batches(few, is_long_in_vain), [20, 20, 20, 20, 30]);
            // Lists that last long take the longest batches, and those that end at once take single steps.
            assert_eq!(batch_after(10_000, 40, many, is_long_in_vain), BATCH as u64);
            assert_eq!(batch_after(0, 1, many, is_long_in_vain), 1);
        }
        assert_eq!(batch_after(1, 1, many, true), 1);
    }
}
