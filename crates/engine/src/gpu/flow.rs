//! Fluids on a GPU: their particles and those of the walls that bound them, stepped as grains are.

mod boundary;
mod dfsph;
mod domain;
mod hulls;
mod muller;
mod passages;
mod remote;
mod shifting;
mod suspension;

use super::lists::{Keys, UNBOUNDED};
use super::tables::{Index, Tables};
use super::{Cells, Closed, Number, Rows, done_by_sides, doubles, numbers, room_for_cubes, stepping};
use crate::bodies::Bodies;
use crate::flow::{Flow, FlowEnergies};
use crate::glance::{Glancing, Shade};
use crate::simulation::Simulation;
use crate::state::Profile;
use crate::world::Vec3;
use boundary::Carriage;
use dfsph::Projecting;
use domain::{Border, FlowOfDomain};
use hulls::HullsOnGpu;
use muller::MullerOnGpu;
use passages::{kept_densities, kept_velocities};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units, units_in_cubes_of};
use seixo_laws::fluid::smoothing::SmootherLaunch;
use seixo_laws::{Coordinate, Vector3};
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::fluid::{FlowPlan, Solver, WALL, is_suspended};
use seixo_sweeps::kernels::FLAGS;
use seixo_sweeps::kernels::bodies::drop_inside_bodies;
use seixo_sweeps::kernels::flow::{flow, mark_walls, put_back_inside, remember};
use seixo_sweeps::sides::OPEN;
use seixo_sweeps::views::{RECORD, load, store};
use std::any::Any;
use std::mem::swap;
use std::time::Instant;
use suspension::SuspensionOnGpu;

/// Fluids on a GPU, whatever its precision.
pub(crate) trait RemoteFlow: FlowOfDomain + Send + Sync {
    /// Takes up to `steps` steps, to where the host's clock is; fewer if a flag was raised that the host must see to.
    fn advance(&mut self, host: &mut Flow, simulation: &Simulation, steps: u64, profile: &mut Profile) -> Result<Closed, GpuError>;
    /// How many steps are best queued at once, `most` at most.
    fn batch(&self, most: u64) -> u64;
    /// Gets ready for so many steps from this one on, which are to be queued one by one. Not of incompressible fluids, whose steps wait for the host.
    fn open(&mut self, host: &Flow, simulation: &Simulation, first: u64, batch: u64);
    /// Queues the step that is `ahead` steps from the first.
    fn queue(&mut self, host: &Flow, ahead: u32);
    /// Waits for the steps that were queued; where the host told how bodies move, it gets their loads.
    fn close(&mut self, host: &mut Flow, profile: &mut Profile) -> Result<Closed, GpuError>;
    /// Lists all anew where these flags ask for it.
    fn renew_when_stale(&mut self, host: &mut Flow, raised: u32, profile: &mut Profile) -> Result<(), GpuError>;
    /// Takes a step of incompressible fluids, to where walls and bodies were last seen: while it waits for the GPU, again and again, all else may go on.
    fn step_alone(&mut self, host: &mut Flow, profile: &mut Profile) -> Result<Closed, GpuError>;
    /// Lets walls be where they are at the host's clock.
    fn see_walls(&self, simulation: &Simulation);
    /// Lets the GPU begin with the steps that are queued so far, see [`Gpu::set_off`].
    fn set_off(&self, ahead: u32);
    /// Lets bodies that are not on this GPU be where they are now.
    fn see_bodies(&self, bodies: &Bodies);
    /// Finds forces for where particles are now, and brings fields and books of the host up to date.
    fn observe(&mut self, host: &mut Flow, simulation: &Simulation) -> Result<(), GpuError>;
    /// Queues a copy of what pictures need of particles of fluids.
    fn glance(&self, host: &Flow, origin: Vec3, shade: Shade) -> Glancing;
    /// Neighbors of all particles of fluid, those within the support and those in their lists.
    fn neighbors(&self, host: &Flow) -> Result<[u64; 2], GpuError>;
    /// Whether a look at outlets changes anything; the host is told no more than that.
    fn lets_any_go(&self, host: &Flow) -> Result<bool, GpuError>;
    /// Takes up velocities and densities of the host, which knows all others and in which order they are: before the first step.
    fn set_out(&mut self, host: &Flow);
}

/// Particles with coordinates C and everything else R.
pub(crate) struct FlowOnGpu<C, R> {
    gpu: Gpu,
    n: usize,
    plan: FlowPlan,
    id: Buffer<u32>,
    kind: Buffer<u32>,
    /// The body that each is of as far as lists go: particles of walls do nothing to each other, but small grains see them.
    member: Buffer<u32>,
    touching: Buffer<u32>,
    media: Buffer<R>,
    slips: Buffer<u32>,
    /// Records of walls where their motions begin.
    at_rest: Buffer<C>,
    /// Twice: a step reads one and writes the other; `now` tells which holds the state.
    position: [Buffer<C>; 2],
    flowing: [Buffer<R>; 2],
    now: usize,
    /// Velocities of walls, where they move or their surfaces run.
    motion: Buffer<R>,
    /// What fluid sees in walls and of small grains.
    seen: Buffer<R>,
    /// Of particles of walls, their accelerations; of small grains, the forces of a step before.
    half_velocity: Buffer<C>,
    thermal: Buffer<C>,
    rate: Buffer<R>,
    reference: Buffer<C>,
    rows: Rows<R>,
    key: Buffer<u32>,
    order: Buffer<u32>,
    cells: Cells<C>,
    tables: Option<Tables<C>>,
    /// Places of particles of walls, and how many they are.
    walls: Buffer<u32>,
    bounding: usize,
    /// Where walls move.
    carriage: Option<Carriage<C>>,
    nothing: Buffer<u32>,
    /// Bodies that fluids feel.
    hulls: Option<HullsOnGpu<C>>,
    /// Where they carry grains that are smaller than their particles.
    suspension: Option<SuspensionOnGpu<R>>,
    /// Where fluids move by Müller's solver.
    muller: Option<MullerOnGpu<C, R>>,
    /// Where the world is divisible.
    border: Option<Border<C, R>>,
    flags: Buffer<u32>,
    power: Buffer<C>,
    /// Where pressures are iterated; of fluids that are not incompressible nearly nothing.
    projecting: Projecting<R>,
    /// What was booked of the sums that particles keep.
    booked: FlowEnergies,
    /// Whether what is in outlets follows the fluid of this moment already: once a step, it takes a part of the way.
    is_led: bool,
    /// Steps that are queued.
    opened: Option<Opened>,
    interval: u64,
    since_renewal: u64,
}

/// The body that a particle of this kind is of as far as lists go.
fn body_in_lists(kind: u32) -> u32 {
    if kind & WALL != 0 && !is_suspended(kind) { 0 } else { FREE }
}

/// Steps that are queued, and how things stood before them.
struct Opened {
    now: usize,
    start: Instant,
    queued: u32,
}

/// What scales the smoothing function, in any precision.
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

impl<C: Number + Coordinate<R>, R: Number> FlowOnGpu<C, R> {
    /// Takes over fluids of the host as they stand, beside bodies that may be on the GPU already.
    pub fn take_over(
        gpu: Gpu,
        host: &mut Flow,
        simulation: &Simulation,
        of_bodies: Option<Box<dyn Any>>,
    ) -> Result<FlowOnGpu<C, R>, GpuError> {
        let fields = &host.fields;
        let n = fields.len();
        let as_c = |values: &[f64], what| gpu.upload(&numbers::<C>(values.iter().copied()), what);
        let as_r = |values: &[f64], what| gpu.upload(&numbers::<R>(values.iter().copied()), what);
        let thermal: Vec<f64> = if host.is_incompressible() {
            let pressures = fields.multipliers.chunks_exact(2);
            let records = fields.excess.iter().zip(pressures);
            records.flat_map(|(&excess, of)| [excess, of[0], of[1], 0.0]).collect()
        } else {
            kept_densities(fields)
        };
        let member: Vec<u32> = fields.kind.iter().map(|kind| body_in_lists(*kind)).collect();
        let slips: Vec<u32> = host.plan.slips.iter().map(|&slips| u32::from(slips)).chain([0]).collect();
        let words = |what| gpu.buffer(n, what);
        let mut remote = FlowOnGpu {
            n,
            plan: host.compiled_for,
            id: gpu.upload(&fields.id, "ids")?,
            kind: gpu.upload(&fields.kind, "kinds of particles")?,
            member: gpu.upload(&member, "kinds of particles")?,
            touching: gpu.zeros(1, "kinds of particles")?,
            media: as_r(&host.media, "fluids")?,
            slips: gpu.upload(&slips, "walls")?,
            at_rest: as_c(
                if simulation.walls.at_rest.is_empty() {
                    &[0.0]
                } else {
                    &simulation.walls.at_rest
                },
                "walls",
            )?,
            position: [as_c(&fields.position, "positions")?, gpu.buffer(RECORD * n, "positions")?],
            flowing: [as_r(&fields.flow, "velocities")?, gpu.buffer(RECORD * n, "velocities")?],
            now: 0,
            motion: if host.compiled_for.moving {
                as_r(&fields.motion, "velocities of walls")?
            } else {
                gpu.buffer(RECORD, "velocities of walls")?
            },
            seen: as_r(&fields.flow, "pressures of walls")?,
            half_velocity: as_c(&kept_velocities(fields), "velocities")?,
            thermal: as_c(&thermal, "densities")?,
            rate: as_r(&fields.rate, "forces")?,
            reference: as_c(&fields.reference, "positions of the lists")?,
            rows: Rows::new(&gpu, n)?,
            key: words("cells")?,
            order: words("the order of cells")?,
            cells: Cells::new(&gpu, host.cells.grids(), n)?,
            tables: host.cells.tables.as_ref().map(|_| Tables::new(&gpu)).transpose()?,
            walls: words("particles of walls")?,
            bounding: 0,
            carriage: Carriage::new(&gpu, host, simulation)?,
            nothing: gpu.zeros(1, "walls")?,
            hulls: HullsOnGpu::new(&gpu, host, simulation, of_bodies)?,
            suspension: SuspensionOnGpu::new(&gpu, host)?,
            muller: host
                .muller
                .as_ref()
                .map(|muller| MullerOnGpu::new(&gpu, muller, n, simulation.walls.has_moving()))
                .transpose()?,
            border: Border::new(&gpu, host, simulation)?,
            flags: gpu.zeros(FLAGS, "flags")?,
            power: gpu.zeros(2 * RECORD * room_for_cubes(n), "the ledger")?,
            projecting: Projecting::new(&gpu, if host.is_incompressible() { n } else { 1 }, simulation.leaving())?,
            booked: FlowEnergies::default(),
            is_led: true,
            opened: None,
            interval: 64,
            since_renewal: 64,
            gpu,
        };
        remote.list(host)?;
        Ok(remote)
    }

    /// Sorts the particles and lists their pairs, by where they are kept to have been when that was done.
    fn list(&mut self, host: &mut Flow) -> Result<(), GpuError> {
        self.sort(host)?;
        self.list_pairs(host)
    }

    /// Puts the particles into the order of their cells, without those that are no longer here.
    fn sort(&mut self, host: &mut Flow) -> Result<(), GpuError> {
        let n = self.n;
        let divided = self.border.as_ref().filter(|border| border.is_divided);
        let keys = Keys {
            key: &self.key,
            id: &self.id,
            order: &self.order,
            member: divided.map(|border| &border.owned),
        };
        let everywhere = UNBOUNDED.concat();
        let cells = self
            .cells
            .order(&self.gpu, &mut host.cells, &everywhere, &self.reference, keys, n)?;
        if divided.is_some() {
            self.n = self.gpu.download_part(&self.cells.first, cells..cells + 1).wait()?[0] as usize;
        }
        self.reorder();
        Ok(())
    }

    /// Lists the pairs of all particles, which stand in the order of their cells.
    fn list_pairs(&mut self, host: &Flow) -> Result<(), GpuError> {
        let n = self.n;
        let gpu = &self.gpu;
        if let (Some(tables), Some(laid_out)) = (&mut self.tables, &host.cells.tables) {
            tables.fill(gpu, laid_out, &self.reference, 0..n, host.cells.skin)?;
        }
        let rowless = self
            .border
            .as_ref()
            .and_then(|border| border.mark_rowless(gpu, &self.kind, n, &self.key));
        let index = Index::of(&host.cells, &self.cells, self.tables.as_ref(), &self.nothing);
        self.rows.fill(gpu, &index, &self.reference, (n, n), &self.cells.lengths, rowless)?;
        if host.divisible {
            self.rows.sort(gpu, &self.id, n);
        }
        self.bounding = 0;
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
            self.put_grains_aside(host.divisible);
            let (count, dim) = units(n);
            mark_walls::launch(gpu.client(), count, dim, self.kind.argument(), self.key.argument(), n as u32);
            gpu.compact(&self.key, n, &self.walls, &self.cells.kept)?;
            self.bounding = gpu.download(&self.cells.kept)?[0] as usize;
            self.find_hulls();
        }
        Ok(())
    }

    /// Puts every field into the new order. What is free just then takes a field up and becomes that field.
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
        if self.plan.solver == Solver::Incompressible {
            // Lists are made anew within a step, and walls feel all of it.
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

    /// Lists all anew by where particles are now.
    fn renew_lists(&mut self, host: &mut Flow) -> Result<(), GpuError> {
        self.stand_here(host)?;
        self.list(host)
    }

    /// Puts particles back that left through periodic sides, and keeps where all are, for new lists, see [`Flow::stand_here`].
    fn stand_here(&mut self, host: &mut Flow) -> Result<(), GpuError> {
        self.interval = self.since_renewal;
        self.since_renewal = 0;
        host.rebuilds += 1;
        let (count, dim) = units(self.n);
        if self.plan.sides != OPEN {
            put_back_inside::launch::<R, C>(
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
            host.work.wall += done_by_sides(&self.gpu, &self.power, self.n)?;
        }
        remember::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            self.position[self.now].records(),
            self.reference.records(),
            self.n as u32,
        );
        Ok(())
    }

    /// The records of all particles.
    fn read<N: Number>(&self, records: &Buffer<N>) -> Result<Vec<f64>, GpuError> {
        Ok(doubles(&self.gpu.download_part(records, 0..RECORD * self.n).wait()?))
    }

    /// Brings to the host what all solvers keep alike; returns the records of velocities that are kept and of densities, which solvers add sums to.
    fn bring_home(&self, host: &mut Flow) -> Result<[Vec<f64>; 2], GpuError> {
        let fields = &mut host.fields;
        fields.id = self.gpu.download_part(&self.id, 0..self.n).wait()?;
        fields.kind = self.gpu.download_part(&self.kind, 0..self.n).wait()?;
        fields.position = self.read(&self.position[self.now])?;
        fields.flow = self.read(&self.flowing[self.now])?;
        fields.rate = self.read(&self.rate)?;
        fields.reference = self.read(&self.reference)?;
        fields.excess.resize(self.n, 0.0);
        fields.swelling_before.resize(self.n, 0.0);
        if let Some(border) = &self.border {
            fields.copy = border.copies(&self.gpu, self.n)?;
        }
        if self.plan.moving {
            fields.motion = self.read(&self.motion)?;
            for i in (0..self.n).filter(|&i| !self.plan.shifting && fields.kind[i] & WALL == 0) {
                // Of fluid that is what flows.
                let velocity: Vector3<f64> = load(&fields.flow, RECORD * i);
                store(&mut fields.motion, RECORD * i, &velocity);
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

    /// One step or, without `advance`, the forces of this moment; what is in outlets follows the fluid if it `leads`. The host only queues it.
    fn step(&mut self, host: &Flow, parity: u32, advance: bool, leads: bool) {
        if self.muller.is_some() {
            return self.step_muller(host, parity, advance);
        }
        self.place_boundaries(host, parity, advance);
        self.press_and_push(host, parity, advance, leads);
    }

    /// As [`FlowOnGpu::step`], once all that bounds fluids is where it is.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    fn press_and_push(&mut self, host: &Flow, parity: u32, advance: bool, leads: bool) {
        self.press(host, parity, leads);
        self.shift(host);
        // Small cubes let more registers be in use; where powers are noted, cubes are those of the books.
        let (count, dim) = if advance { units_in_cubes_of(128, self.n) } else { units(self.n) };
        // SAFETY: there are particles, and units beyond n do nothing; rows are interleaved in tiles whose sizes, summed by the scan, the list has
        // room for; lists name places below n; all fields have n records; kinds of fluids are rows of the table, those of walls are not looked
        // up; owners have n words where they are read, flags all their words, powers two records for every cube.
        unsafe {
            flow::launch_unchecked::<R, C>(
                self.gpu.client(),
                count,
                dim,
                self.rows.tile_first.argument(),
                self.rows.count.argument(),
                self.rows.list.argument(),
                self.kind.argument(),
                self.border.as_ref().map_or(&self.nothing, |border| &border.owned).argument(),
                self.media.argument(),
                self.position[self.now].records(),
                self.flowing[self.now].records(),
                self.motion.records(),
                self.seen.records(),
                self.half_velocity.records(),
                self.thermal.records(),
                self.rate.records(),
                self.reference.records(),
                self.position[self.now ^ 1].records(),
                self.flowing[self.now ^ 1].records(),
                self.flags.argument(),
                self.power.records(),
                self.smoother(host),
                stepping::<C, R>(&host.stepping),
                self.n as u32,
                parity,
                self.hulls.as_ref().map_or(u32::MAX, HullsOnGpu::first_kind),
                self.plan,
                advance,
                self.border.is_some(),
            );
        }
        self.suspend(host, parity, advance);
        self.bear_on_bodies(parity, advance);
        if advance {
            self.now ^= 1;
        }
    }
}
