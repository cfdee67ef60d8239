//! Fluids on a GPU: fluid particles and wall particles, stepped in the same way as grains.

mod arrays;
mod backend;
mod body_boundary;
mod boundary;
mod compact_positions;
mod dfsph;
mod domain;
mod muller;
mod open_boundaries;
mod shifting;
mod short_rows;
mod suspension;
mod xsph;

use super::neighbor_lists::{Extent, Keys, UNBOUNDED};
use super::tables::{Index, RowSearch, Tables};
use super::{
    Cells, FinishedSteps, Number, Rows, SharedWithFluids, done_by_sides, doubles, numbers, room_for_cubes, sides_do_work, stepping,
};
use crate::bodies::Bodies;
use crate::exchange::HaltReason;
use crate::flow::{Constraint, Flow, FlowEnergies};
use crate::preview::{ColorScalar, PendingPreview};
use crate::program::{FluidLaunch, Moment};
use crate::state::Profile;
use crate::state::arrays::{ArraysError, ParticleArray};
use crate::surroundings::Surroundings;
use crate::world::{Domain, Vec3};
use body_boundary::GpuBodyBoundaries;
use boundary::WallParticleMotion;
use compact_positions::CompactPositions;
use dfsph::GpuPressureSolver;
use domain::FlowDomainState;
pub(crate) use domain::{ColumnExchange, FluidColumn, FluidDomainBackend, FluidNeighbors, NoNeighbors};
use muller::GpuMuller;
use open_boundaries::{kept_densities, kept_velocities};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units, units_in_cubes_of};
use seixo_laws::fluid::smoothing::SmootherLaunch;
use seixo_laws::{Coordinate, Vector3};
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::entries::TILE;
use seixo_sweeps::fluid::{FluidKernelConfig, Solver, WALL, is_suspended};
use seixo_sweeps::kernels::FLAGS;
use seixo_sweeps::kernels::bodies::drop_inside_bodies;
use seixo_sweeps::kernels::fluid::{flow, mark_walls, record_list_positions, wrap_particles};
use seixo_sweeps::layout::{RECORD, load, store};
use seixo_sweeps::periodic::OPEN;
use short_rows::ShortRows;
use std::any::Any;
use std::mem::swap;
use std::sync::Arc;
use std::time::Instant;
use suspension::GpuSuspension;

/// Fluids on a GPU, independent of their precision.
pub(crate) trait FluidGpuBackend: FluidDomainBackend + Send + Sync {
    /// Number of steps that are best queued at once, at most `most`.
    fn batch(&self, most: u64) -> u64;
    /// Prepares a batch of this many steps from the host's clock on, whose launches are then queued one by one. For incompressible fluids the clock is
    /// at the end of the step, as they follow what moved already.
    fn open(&mut self, host: &Flow, surroundings: &Surroundings, batch: u64);
    /// Prepares the computation of present forces, whose launches are then queued.
    fn open_present(&mut self, surroundings: &Surroundings);
    /// Queues some work.
    fn launch(&mut self, launch: FluidLaunch, host: &Flow, moment: Moment);
    /// Solves for the pressures that satisfy a constraint, together with the `others`, and applies them. It waits for the GPU several times.
    fn solve(&mut self, host: &mut Flow, constraint: Constraint, others: &mut dyn FluidNeighbors) -> Result<(), HaltReason>;
    /// The host did other work while queued steps ran: their time in the profile starts now.
    fn restart_clock(&mut self);
    /// Waits for the queued steps. If bodies are not on this GPU, it also downloads the loads on them. If the halo is sent `by_messages`, these are
    /// part of the result.
    fn close(&mut self, host: &mut Flow, profile: &mut Profile, by_messages: bool) -> Result<FinishedSteps, GpuError>;
    /// Whether own fluid is outside this domain, at the end of finished steps.
    fn has_outside(&self, domain: &Domain) -> Result<bool, GpuError>;
    /// Rebuilds the neighbor lists if these flags require it.
    fn rebuild_if_needed(&mut self, host: &mut Flow, raised: u32, profile: &mut Profile) -> Result<(), GpuError>;
    /// Ends a step that went on after it was closed: the host gets the loads on bodies, if these are not on this GPU.
    fn finish(&mut self, host: &mut Flow, profile: &mut Profile) -> Result<(), GpuError>;
    /// Updates the servos of walls, unless grains on this GPU have the same.
    fn update_servos(&self, surroundings: &Surroundings);
    /// Updates the motion of bodies that are not on this GPU.
    fn update_bodies(&self, bodies: &Bodies);
    /// Brings fields and ledger of the host up to date. The present forces were computed, unless the fluid is incompressible.
    fn observe(&mut self, host: &mut Flow) -> Result<(), GpuError>;
    /// Whether the forces at the current positions are to be computed before an observation.
    fn needs_present_forces(&self) -> bool;
    /// Queues a copy of the data of fluid particles for previews.
    fn preview(&self, host: &Flow, origin: Vec3, shade: ColorScalar) -> PendingPreview;
    /// The arrays of all particles in the memory of the GPU, once all that was queued is done.
    fn arrays(&self) -> Result<Vec<ParticleArray<'static>>, ArraysError>;
    /// Numbers of neighbors of all fluid particles: those within the support, and those in their lists.
    fn neighbors(&self, host: &Flow) -> Result<[u64; 2], GpuError>;
    /// Whether a check of the outlets would change anything. Leaves the host's copy as it is.
    fn outlets_change_any(&self, host: &Flow) -> Result<bool, GpuError>;
    /// Uploads half-step velocities and densities of the host before the first step. The host must have all other fields, in the order of the GPU.
    fn set_out(&mut self, host: &Flow);
    /// Entries of the short rows that steps read, 0 if they read none, and entries of all rows. At least one step was taken since the last rebuild.
    #[cfg(test)]
    fn entries_of_short_rows(&self) -> Result<[u64; 2], GpuError>;
    /// Steps read no short rows from now on.
    #[cfg(test)]
    fn refuse_short_rows(&mut self);
}

/// Particles with coordinates of type C and all other numbers of type R.
pub(crate) struct GpuFluid<C, R> {
    gpu: Gpu,
    n: usize,
    plan: FluidKernelConfig,
    id: Buffer<u32>,
    kind: Buffer<u32>,
    /// Body of each particle for the lists: pairs of wall particles are dropped, but small grains see wall particles.
    member: Buffer<u32>,
    touching: Buffer<u32>,
    media: Buffer<R>,
    /// XSPH coefficients of the fluids.
    xsph: Buffer<R>,
    slips: Buffer<u32>,
    /// Records of walls at the start of their motions.
    at_rest: Buffer<C>,
    /// Double-buffered: a step reads one buffer and writes the other. `now` is the index of the current state.
    position: [Buffer<C>; 2],
    flowing: [Buffer<R>; 2],
    now: usize,
    compact: CompactPositions,
    /// Velocities of walls, if they move or their surfaces do.
    motion: Buffer<R>,
    /// Velocities and pressures of wall particles and of small grains, as the fluid sees them.
    seen: Buffer<R>,
    /// Velocities at half steps. For wall particles, accelerations; for small grains, the forces of the step before.
    half_velocity: Buffer<C>,
    thermal: Buffer<C>,
    rate: Buffer<R>,
    reference: Buffer<C>,
    rows: Rows<R>,
    /// Number of entries that were found for the rows, with the room of their tiles.
    entries: u64,
    short: ShortRows<C>,
    key: Buffer<u32>,
    order: Buffer<u32>,
    cells: Cells<C>,
    tables: Option<Tables<C>>,
    /// Indices of the wall particles, and their number.
    walls: Buffer<u32>,
    bounding: usize,
    /// Present if walls move.
    carriage: Option<WallParticleMotion<C>>,
    nothing: Buffer<u32>,
    /// Bodies that act on fluids.
    body_boundaries: Option<GpuBodyBoundaries<C>>,
    /// Present if fluids carry grains that are smaller than their particles.
    suspension: Option<GpuSuspension<R>>,
    /// Present with Müller's solver.
    muller: Option<GpuMuller<C, R>>,
    /// Present in decomposition-invariant runs.
    border: Option<FlowDomainState<C, R>>,
    flags: Buffer<u32>,
    /// Flags of the grains on the same GPU: a step that halts for one halts for both. None in a subdomain: hosts wait after each step of both.
    flags_of_grains: Option<Arc<Buffer<u32>>>,
    power: Buffer<C>,
    /// Buffers of the pressure iteration; nearly empty unless fluids are incompressible.
    projecting: GpuPressureSolver<R>,
    /// Part of the power sums of the particles that is already in the ledger.
    ledger: FlowEnergies,
    /// Whether outlet particles have been relaxed towards the fluid at this moment. That happens once a step, by a part of the difference.
    is_led: bool,
    /// Whether the forces at the current positions were computed for the next observation.
    has_present_forces: bool,
    /// Queued steps.
    opened: Option<PendingFluidSteps>,
    interval: u64,
    since_rebuild: u64,
}

/// Body of a particle of this kind for the lists.
fn body_in_lists(kind: u32) -> u32 {
    if kind & WALL != 0 && !is_suspended(kind) { 0 } else { FREE }
}

/// State before the steps that are queued.
struct PendingFluidSteps {
    now: usize,
    start: Instant,
    queued: u32,
}

/// Scaling of the smoothing function, in any precision.
fn smoother<N: Number>(host: &Flow) -> SmootherLaunch<N> {
    let smoother = host.smoother();
    SmootherLaunch::new(
        N::of(smoother.per_support),
        N::of(smoother.norm),
        N::of(smoother.slope_norm),
        N::of(smoother.softening),
        N::of(smoother.shear),
    )
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Uploads the current state of the host's fluids. Grains may already be on the GPU, and share this with it.
    pub fn import_host_state(
        gpu: Gpu,
        host: &mut Flow,
        surroundings: &Surroundings,
        shared: Option<Box<dyn Any>>,
    ) -> Result<GpuFluid<C, R>, GpuError> {
        let shared = shared.and_then(|shared| shared.downcast::<SharedWithFluids<C>>().ok());
        let (flags_of_grains, bodies, servos) = match shared {
            Some(shared) => (Some(shared.flags), shared.bodies, shared.servos),
            None => (None, None, None),
        };
        let fields = &host.fields;
        let n = fields.len();
        let as_c = |values: &[f64], what| gpu.upload(&numbers::<C>(values.iter().copied()), what);
        let as_r = |values: &[f64], what| gpu.upload(&numbers::<R>(values.iter().copied()), what);
        let thermal: Vec<f64> = if host.is_incompressible() {
            let pressures = fields.pressures.chunks_exact(2);
            let records = fields.density_error.iter().zip(pressures);
            records.flat_map(|(&excess, of)| [excess, of[0], of[1], 0.0]).collect()
        } else {
            kept_densities(fields)
        };
        let member: Vec<u32> = fields.kind.iter().map(|kind| body_in_lists(*kind)).collect();
        let slips: Vec<u32> = host.plan.slips.iter().map(|&slips| u32::from(slips)).chain([0]).collect();
        let words = |what| gpu.buffer(n, what);
        let mut remote = GpuFluid {
            n,
            plan: host.compiled_for,
            id: gpu.upload(&fields.id, "ids")?,
            kind: gpu.upload(&fields.kind, "kinds of particles")?,
            member: gpu.upload(&member, "kinds of particles")?,
            touching: gpu.zeros(1, "kinds of particles")?,
            media: as_r(&host.media, "fluids")?,
            xsph: as_r(&host.xsph, "fluids")?,
            slips: gpu.upload(&slips, "walls")?,
            at_rest: as_c(
                if surroundings.walls.at_rest.is_empty() {
                    &[0.0]
                } else {
                    &surroundings.walls.at_rest
                },
                "walls",
            )?,
            position: [as_c(&fields.position, "positions")?, gpu.buffer(RECORD * n, "positions")?],
            flowing: [
                as_r(&fields.velocity_pressure, "velocities")?,
                gpu.buffer(RECORD * n, "velocities")?,
            ],
            now: 0,
            compact: CompactPositions::new::<C, R>(&gpu, host, n)?,
            motion: if host.compiled_for.moving {
                as_r(&fields.particle_velocity, "velocities of walls")?
            } else {
                gpu.buffer(RECORD, "velocities of walls")?
            },
            seen: as_r(&fields.velocity_pressure, "pressures of walls")?,
            half_velocity: as_c(&kept_velocities(fields), "velocities")?,
            thermal: as_c(&thermal, "densities")?,
            rate: as_r(&fields.force_density_rate, "forces")?,
            reference: as_c(&fields.reference, "positions of the lists")?,
            rows: Rows::new(&gpu, n)?,
            entries: 0,
            short: ShortRows::new(&gpu)?,
            key: words("cells")?,
            order: words("the order of cells")?,
            cells: Cells::new(&gpu, host.cells.grids(), n)?,
            tables: host.cells.tables.as_ref().map(|_| Tables::new(&gpu)).transpose()?,
            walls: words("wall particles")?,
            bounding: 0,
            carriage: WallParticleMotion::new(&gpu, host, surroundings, servos)?,
            nothing: gpu.zeros(1, "walls")?,
            body_boundaries: GpuBodyBoundaries::new(&gpu, host, surroundings, bodies)?,
            suspension: GpuSuspension::new(&gpu, host)?,
            muller: host
                .muller
                .as_ref()
                .map(|muller| GpuMuller::new(&gpu, muller, n, surroundings.walls.has_moving()))
                .transpose()?,
            border: FlowDomainState::new(&gpu, host, surroundings)?,
            flags: gpu.zeros(FLAGS, "flags")?,
            flags_of_grains: flags_of_grains.filter(|_| !surroundings.grains.has_ghosts),
            power: gpu.zeros(2 * RECORD * room_for_cubes(n), "the ledger")?,
            projecting: GpuPressureSolver::new(&gpu, if host.is_incompressible() { n } else { 1 }, host.decomposition_invariant)?,
            ledger: FlowEnergies::default(),
            is_led: true,
            has_present_forces: false,
            opened: None,
            interval: 64,
            since_rebuild: 64,
            gpu,
        };
        remote.list(host)?;
        Ok(remote)
    }

    /// Sorts the particles and lists their pairs, by the recorded positions for the lists.
    fn list(&mut self, host: &mut Flow) -> Result<(), GpuError> {
        self.sort(host, self.n)?;
        self.list_pairs(host)
    }

    /// Sorts the particles by cell, and removes those that are marked as removed: so many stay.
    fn sort(&mut self, host: &mut Flow, staying: usize) -> Result<(), GpuError> {
        let n = self.n;
        self.compact.are_current = false;
        let decomposed = self.border.as_ref().filter(|border| border.is_decomposed);
        let keys = Keys {
            key: &self.key,
            id: &self.id,
            order: &self.order,
            member: decomposed.map(|border| &border.owned),
        };
        let everywhere = UNBOUNDED.concat();
        self.cells
            .order(&self.gpu, &mut host.cells, Extent::Domain(&everywhere), &self.reference, keys, n)?;
        self.n = staying;
        self.reorder();
        Ok(())
    }

    /// Lists the pairs of all particles, which are sorted by cell.
    fn list_pairs(&mut self, host: &Flow) -> Result<(), GpuError> {
        if self.plan.bounded {
            self.queue_wall_particles()?;
        }
        let n = self.n;
        let gpu = &self.gpu;
        if let (Some(tables), Some(laid_out)) = (&mut self.tables, &host.cells.tables) {
            tables.fill(gpu, laid_out, &self.reference, 0..n, host.cells.skin)?;
        }
        let is_of_subdomain = |border: &FlowDomainState<C, R>| border.mark_rowless(gpu, &self.kind, n, &self.key);
        let are_marked = self.border.as_ref().is_some_and(is_of_subdomain) || self.mark_dry_boundaries(host)?;
        let rowless = are_marked.then_some(&self.key);
        let index = Index::of(&host.cells, &self.cells, self.tables.as_ref(), &self.nothing);
        let search = RowSearch {
            index,
            position: &self.reference,
            n,
            all: n,
            lengths: &self.cells.lengths,
            member: rowless,
            // The next step overwrites it.
            room: &self.position[self.now ^ 1],
            touching_first: false,
            rows_are_short: false,
        };
        self.rows.count(gpu, &search)?;
        // The host waits once for both numbers, and queues the next steps while the GPU writes and sorts the rows.
        let mut copies = gpu.copies();
        let entries = self.rows.request_entries(&mut copies, n);
        let walls = self.plan.bounded.then(|| copies.add(&self.cells.kept, 0..1));
        let arrived = copies.wait()?;
        self.rows.refuse_too_long(gpu, n)?;
        let entries = arrived.take(entries)[0] as usize;
        self.bounding = walls.map_or(0, |walls| arrived.take(walls)[0] as usize);
        if self.rows.list.len() < entries + 2 * TILE {
            // Lists that grow need the memory more. Short rows are decided on again below.
            self.short.give_back(gpu)?;
        }
        self.rows.fill(gpu, &search, entries)?;
        self.entries = entries as u64;
        if host.decomposition_invariant {
            self.rows.sort(gpu, &self.id, n);
        }
        if self.plan.bounded {
            let (count, dim) = units(n);
            drop_inside_bodies::launch(
                gpu.client(),
                count,
                dim,
                self.rows.tile_first.argument(),
                self.rows.count.argument(),
                self.rows.list.argument(),
                self.member.argument(),
                self.touching.argument(),
                n as u32,
            );
            self.order_small_grains_last(host.decomposition_invariant);
            self.index_body_boundaries();
        }
        self.prepare_short_rows(host)
    }

    /// Queues the listing of the wall particles. Their number comes to `kept` of the cells.
    fn queue_wall_particles(&mut self) -> Result<(), GpuError> {
        let (gpu, n) = (&self.gpu, self.n);
        let (count, dim) = units(n);
        let marks = &self.cells.lengths;
        mark_walls::launch(gpu.client(), count, dim, self.kind.argument(), marks.argument(), n as u32);
        self.cells.workspace.compact(gpu, marks, n, &self.walls, &self.cells.kept)
    }

    /// Puts every field into the new order. Each field is gathered into a buffer that is free, and that buffer becomes the field.
    fn reorder(&mut self) {
        let (n, now) = (self.n, self.now);
        let (gpu, order) = (&self.gpu, &self.order);
        let owned = self.border.as_mut().map(|border| &mut border.owned);
        for words in [&mut self.id, &mut self.kind, &mut self.member].into_iter().chain(owned) {
            gpu.gather(words, order, n, 1, &self.key);
            swap(words, &mut self.key);
        }
        gpu.gather(&self.flowing[now], order, n, RECORD, &self.flowing[now ^ 1]);
        if self.plan.moving {
            gpu.gather(&self.motion, order, n, RECORD, &self.flowing[now]);
            swap(&mut self.motion, &mut self.flowing[now]);
        }
        if self.is_incompressible() {
            // Lists are rebuilt within a step, and walls need these values afterwards.
            gpu.gather(&self.rate, order, n, RECORD, &self.flowing[now]);
            swap(&mut self.rate, &mut self.flowing[now]);
        }
        gpu.gather(&self.position[now], order, n, RECORD, &self.position[now ^ 1]);
        for numbers in [&mut self.half_velocity, &mut self.thermal, &mut self.reference] {
            gpu.gather(numbers, order, n, RECORD, &self.position[now]);
            swap(numbers, &mut self.position[now]);
        }
        self.now = now ^ 1;
    }

    /// Rebuilds all lists for the current positions.
    fn rebuild_neighbor_lists(&mut self, host: &mut Flow) -> Result<(), GpuError> {
        self.wrap_and_keep_positions(host)?;
        self.list(host)
    }

    /// Wraps particles that left through periodic sides, and records all positions for new lists, see [`Flow::wrap_and_keep_positions`].
    fn wrap_and_keep_positions(&mut self, host: &mut Flow) -> Result<(), GpuError> {
        self.interval = self.since_rebuild;
        self.since_rebuild = 0;
        host.rebuilds += 1;
        host.steps_since_listed = 0;
        let (count, dim) = units(self.n);
        if self.plan.sides != OPEN {
            wrap_particles::launch::<R, C>(
                self.gpu.client(),
                count.clone(),
                dim,
                self.position[self.now].records(),
                self.kind.argument(),
                self.border.as_ref().map_or(&self.nothing, |border| &border.owned).argument(),
                self.media.argument(),
                self.power.records(),
                stepping::<C, R>(&host.stepping),
                self.n as u32,
                self.border.is_some(),
            );
            // The host waits for it, so only if it is not zero.
            if sides_do_work(self.plan.sides, &host.stepping.sides, &host.stepping.gravity) {
                host.work.wall += done_by_sides(&self.gpu, &self.power, self.n)?;
            }
        }
        record_list_positions::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            self.position[self.now].records(),
            self.reference.records(),
            self.n as u32,
        );
        Ok(())
    }

    /// Downloads the records of all particles.
    fn read<N: Number>(&self, records: &Buffer<N>) -> Result<Vec<f64>, GpuError> {
        Ok(doubles(&self.gpu.download_part(records, 0..RECORD * self.n).wait()?))
    }

    /// Downloads the fields that all solvers have. Returns the records of half-step velocities and of densities, in which solvers also keep their
    /// sums.
    fn download_common(&self, host: &mut Flow) -> Result<[Vec<f64>; 2], GpuError> {
        let fields = &mut host.fields;
        fields.id = self.gpu.download_part(&self.id, 0..self.n).wait()?;
        fields.kind = self.gpu.download_part(&self.kind, 0..self.n).wait()?;
        fields.position = self.read(&self.position[self.now])?;
        fields.velocity_pressure = self.read(&self.flowing[self.now])?;
        fields.force_density_rate = self.read(&self.rate)?;
        fields.reference = self.read(&self.reference)?;
        fields.density_error.resize(self.n, 0.0);
        fields.previous_density_rate.resize(self.n, 0.0);
        if let Some(border) = &self.border {
            fields.ghost = border.ghost_flags(&self.gpu, self.n)?;
        }
        if self.plan.moving {
            fields.particle_velocity = self.read(&self.motion)?;
            for i in (0..self.n).filter(|&i| !self.plan.has_drift() && fields.kind[i] & WALL == 0) {
                // For fluid particles this is the velocity of the flow.
                let velocity: Vector3<f64> = load(&fields.velocity_pressure, RECORD * i);
                store(&mut fields.particle_velocity, RECORD * i, &velocity);
            }
        }
        let half = self.read(&self.half_velocity)?;
        fields.half_velocity.clear();
        for record in half.chunks_exact(RECORD) {
            fields.half_velocity.extend(&record[..3]);
        }
        host.find_walls();
        Ok([half, self.read(&self.thermal)?])
    }

    fn smoother(&self, host: &Flow) -> SmootherLaunch<R> {
        smoother(host)
    }

    /// Whether fluids are incompressible: the host waits within their steps.
    fn is_incompressible(&self) -> bool {
        self.plan.solver == Solver::Incompressible
    }

    /// Whether there are several subdomains.
    fn is_decomposed(&self) -> bool {
        self.border.as_ref().is_some_and(|border| border.is_decomposed)
    }

    /// Computes forces and, if particles are to `advance`, moves weakly compressible fluid.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    fn forces(&mut self, host: &Flow, parity: u32, advance: bool) {
        let are_ghosts_left = self.update_compact_positions();
        let is_short = advance && self.short.are_used;
        if is_short || are_ghosts_left {
            self.watch_ghosts(host, parity, is_short);
        }
        let (row_count, list, stray_square) = if is_short {
            self.select_short_rows(host);
            (&self.short.count, &self.short.list, Self::stray_square(host))
        } else {
            (&self.rows.count, &self.rows.list, R::of(0.0))
        };
        // Some domains may have short rows, and others not. One kernel for both leaves no difference in what a compiler fuses.
        let may_be_short = is_short || (advance && self.border.is_some());
        // Small blocks use the registers better. Without `advance` powers are stored, which requires the block size of the ledger.
        let (count, dim) = if advance { units_in_cubes_of(128, self.n) } else { units(self.n) };
        // SAFETY: there are particles, and threads beyond n do nothing. Rows are interleaved in tiles, and the list has room for their sizes, which
        // the scan sums up. So has that of short rows, which are parts of rows. Lists refer to indices below n. All fields have n records. Kinds of
        // fluids are rows of the table; kinds of walls are not looked up. `owned` has n words if it is read, and compact positions have n records. With
        // short rows, there are n records of the positions for which they were selected; without, these are not read, as the square is zero. There are
        // always two words that say whether short rows are out of date. Flags have all their words, and powers two records for every block.
        unsafe {
            flow::launch_unchecked::<R, C>(
                self.gpu.client(),
                count,
                dim,
                self.rows.tile_first.argument(),
                row_count.argument(),
                list.argument(),
                self.kind.argument(),
                self.border.as_ref().map_or(&self.nothing, |border| &border.owned).argument(),
                self.media.argument(),
                self.position[self.now].records(),
                self.compact.records[self.now].records(),
                self.flowing[self.now].records(),
                self.motion.records(),
                self.seen.records(),
                self.half_velocity.records(),
                self.thermal.records(),
                self.rate.records(),
                self.reference.records(),
                self.short.selected_at.records(),
                self.position[self.now ^ 1].records(),
                self.compact.records[self.now ^ 1].records(),
                self.flowing[self.now ^ 1].records(),
                self.short.outdated.argument(),
                self.flags.argument(),
                self.power.records(),
                self.smoother(host),
                self.compact.scale::<C, R>(),
                stepping::<C, R>(&host.stepping),
                stray_square,
                self.now as u32,
                self.n as u32,
                parity,
                self.body_boundaries.as_ref().map_or(u32::MAX, GpuBodyBoundaries::first_kind),
                self.plan,
                self.compact.are_used,
                may_be_short,
                advance,
                self.border.is_some(),
            );
        }
        self.suspend(host, parity, advance);
        self.sum_forces_on_bodies(parity, advance);
        if advance {
            self.now ^= 1;
        }
    }
}
