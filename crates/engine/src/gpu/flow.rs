//! Fluids on a GPU: their particles and those of the walls that bound them, stepped as grains are.

mod boundary;
mod dfsph;
mod muller;
mod passages;

use super::lists::{Keys, UNBOUNDED};
use super::step::{BATCH, FLUIDS, LISTS_OF_FLUIDS};
use super::tables::{Index, Tables};
use super::{Cells, Number, Rows, doubles, numbers, raised, room_for_cubes, stepping};
use crate::flow::{Flow, FlowEnergies};
use crate::simulation::Simulation;
use crate::state::Profile;
use boundary::Carriage;
use dfsph::Projecting;
use muller::MullerOnGpu;
use passages::{kept_densities, kept_velocities};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units, units_in_cubes_of};
use seixo_laws::fluid::smoothing::SmootherLaunch;
use seixo_laws::{Coordinate, Vector3};
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::fluid::{FlowPlan, Solver, WALL};
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::kernels::bodies::drop_inside_bodies;
use seixo_sweeps::kernels::flow::{count_near, flow, mark_walls, put_back_inside, remember};
use seixo_sweeps::kernels::{DONE, FLAGS, UNITS};
use seixo_sweeps::motion::{LEFT, NOT_FINITE, STALE, TOO_COMPRESSED, TOO_FAST};
use seixo_sweeps::sides::OPEN;
use seixo_sweeps::views::{RECORD, load, store};
use std::mem::swap;
use std::time::Instant;

/// Fluids on a GPU, whatever its precision.
pub(crate) trait RemoteFlow: Send + Sync {
    /// Takes up to `steps` steps, to where the host's clock is; fewer if a flag was raised that the host must see to. Returns the flags and the steps
    /// taken.
    fn advance(&mut self, host: &mut Flow, simulation: &Simulation, steps: u64, profile: &mut Profile) -> Result<(u32, u64), GpuError>;
    /// Finds forces for where particles are now, and brings fields and books of the host up to date.
    fn observe(&mut self, host: &mut Flow, simulation: &Simulation) -> Result<(), GpuError>;
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
    /// The body that each is of as far as lists go: particles of walls do nothing to each other.
    member: Buffer<u32>,
    touching: Buffer<u32>,
    media: Buffer<R>,
    slips: Buffer<u32>,
    /// Twice: a step reads one and writes the other; `now` tells which holds the state.
    position: [Buffer<C>; 2],
    flowing: [Buffer<R>; 2],
    now: usize,
    /// Velocities of walls, where they move or their surfaces run.
    motion: Buffer<R>,
    /// What fluid sees in walls.
    seen: Buffer<R>,
    /// Of particles of walls, their accelerations.
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
    /// Where fluids move by Müller's solver.
    muller: Option<MullerOnGpu<C, R>>,
    flags: Buffer<u32>,
    power: Buffer<C>,
    /// Where pressures are iterated; of fluids that are not incompressible nearly nothing.
    projecting: Projecting<R>,
    /// What was booked of the sums that particles keep.
    booked: FlowEnergies,
    /// Whether what is in outlets follows the fluid of this moment already: once a step, it takes a part of the way.
    is_led: bool,
    interval: u64,
    since_renewal: u64,
}

impl<C: Number + Coordinate<R>, R: Number> FlowOnGpu<C, R> {
    /// Takes over fluids of the host as they stand.
    pub fn take_over(gpu: Gpu, host: &mut Flow, simulation: &Simulation) -> Result<FlowOnGpu<C, R>, GpuError> {
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
        let member: Vec<u32> = fields.kind.iter().map(|kind| if kind & WALL != 0 { 0 } else { FREE }).collect();
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
            muller: host
                .muller
                .as_ref()
                .map(|muller| MullerOnGpu::new(&gpu, muller, n, simulation.walls.has_moving()))
                .transpose()?,
            flags: gpu.zeros(FLAGS, "flags")?,
            power: gpu.zeros(2 * RECORD * room_for_cubes(n), "the ledger")?,
            projecting: Projecting::new(&gpu, if host.is_incompressible() { n } else { 1 })?,
            booked: FlowEnergies::default(),
            is_led: true,
            interval: 64,
            since_renewal: 64,
            gpu,
        };
        remote.list(host, simulation)?;
        Ok(remote)
    }

    /// Sorts the particles and lists their pairs, by where they are kept to have been when that was done.
    fn list(&mut self, host: &mut Flow, simulation: &Simulation) -> Result<(), GpuError> {
        let n = self.n;
        host.cells.sides = simulation.stepping.sides;
        let keys = Keys {
            key: &self.key,
            id: &self.id,
            order: &self.order,
        };
        let everywhere = UNBOUNDED.concat();
        self.cells
            .order(&self.gpu, &mut host.cells, &everywhere, &self.reference, keys, n)?;
        self.reorder();
        let gpu = &self.gpu;
        if let (Some(tables), Some(laid_out)) = (&mut self.tables, &host.cells.tables) {
            tables.fill(gpu, laid_out, &self.reference, 0..n, host.cells.skin)?;
        }
        let index = Index::of(&host.cells, &self.cells, self.tables.as_ref(), &self.nothing);
        self.rows.fill(gpu, &index, &self.reference, (n, n), &self.cells.lengths)?;
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
            let (count, dim) = units(n);
            mark_walls::launch(gpu.client(), count, dim, self.kind.argument(), self.key.argument(), n as u32);
            gpu.compact(&self.key, n, &self.walls, &self.cells.kept)?;
            self.bounding = gpu.download(&self.cells.kept)?[0] as usize;
        }
        Ok(())
    }

    /// Puts every field into the new order. What is free just then takes a field up and becomes that field.
    fn reorder(&mut self) {
        let (n, now) = (self.n, self.now);
        let (gpu, order) = (&self.gpu, &self.order);
        for words in [&mut self.id, &mut self.kind, &mut self.member] {
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
    fn renew_lists(&mut self, host: &mut Flow, simulation: &Simulation) -> Result<(), GpuError> {
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
                stepping::<C, R>(&host.stepping),
                self.n as u32,
            );
        }
        remember::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            self.position[self.now].records(),
            self.reference.records(),
            self.n as u32,
        );
        self.list(host, simulation)
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
        if self.plan.moving {
            fields.motion = self.read(&self.motion)?;
            for i in (0..self.n).filter(|&i| fields.kind[i] & WALL == 0) {
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
        let smoother = host.smoother();
        SmootherLaunch::new(
            R::of(smoother.per_support),
            R::of(smoother.norm),
            R::of(smoother.slope_norm),
            R::of(smoother.softening),
        )
    }

    /// One step or, without `advance`, the forces of this moment; what is in outlets follows the fluid if it `leads`. The host only queues it.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    fn step(&mut self, host: &Flow, parity: u32, advance: bool, leads: bool) {
        if self.muller.is_some() {
            return self.step_muller(host, parity, advance);
        }
        self.place_walls(host, parity, advance);
        self.press(host, parity, leads);
        // Small cubes let more registers be in use; where powers are noted, cubes are those of the books.
        let (count, dim) = if advance { units_in_cubes_of(128, self.n) } else { units(self.n) };
        // SAFETY: there are particles, and units beyond n do nothing; rows are interleaved in tiles whose sizes, summed by the scan, the list has
        // room for; lists name places below n; all fields have n records; kinds of fluids are rows of the table, those of walls are not looked
        // up; flags have all their words, powers two records for every cube.
        unsafe {
            flow::launch_unchecked::<R, C>(
                self.gpu.client(),
                count,
                dim,
                self.rows.tile_first.argument(),
                self.rows.count.argument(),
                self.rows.list.argument(),
                self.kind.argument(),
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
                self.plan,
                advance,
            );
        }
        if advance {
            self.now ^= 1;
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> RemoteFlow for FlowOnGpu<C, R> {
    fn advance(&mut self, host: &mut Flow, simulation: &Simulation, steps: u64, profile: &mut Profile) -> Result<(u32, u64), GpuError> {
        if host.is_incompressible() {
            return self.advance_incompressible(host, simulation, steps, profile);
        }
        let mut taken = 0;
        while taken < steps {
            let lasting = self.interval.max(self.since_renewal);
            let batch = (lasting / 2).clamp(1, BATCH as u64).min(steps - taken);
            let (start, before) = (Instant::now(), self.now);
            let first = simulation.steps - steps + taken;
            self.send_poses(simulation, first, batch);
            self.send_containers(host, simulation, first, batch);
            self.gpu.clear(&self.flags);
            for step in 0..batch as u32 {
                self.step(host, step & 1, true, step > 0 || !self.is_led);
            }
            // Where the last step leads, walls may be too far from where they are listed.
            self.place_walls(host, batch as u32 & 1, true);
            let flags = self.gpu.download(&self.flags)?;
            let done = u64::from(flags[DONE]);
            profile.book(FLUIDS, start, done);
            self.now = before ^ (done as usize & 1);
            self.is_led &= done == 0;
            taken += done;
            self.since_renewal += done;
            let raised = raised(&flags);
            if raised & (NOT_FINITE | TOO_FAST | TOO_COMPRESSED | LEFT) != 0 {
                return Ok((raised, taken));
            }
            if raised & STALE != 0 {
                let start = Instant::now();
                self.renew_lists(host, simulation)?;
                profile.book(LISTS_OF_FLUIDS, start, 1);
            }
        }
        Ok((0, taken))
    }

    fn neighbors(&self, host: &Flow) -> Result<[u64; 2], GpuError> {
        let (count, dim) = units(self.n);
        count_near::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.position[self.now].records(),
            self.key.argument(),
            stepping::<C, R>(&host.stepping),
            R::of(host.plan.support),
            self.n as u32,
            self.plan,
        );
        let near = self.gpu.download_part(&self.key, 0..self.n).wait()?;
        let listed = self.gpu.download_part(&self.rows.count, 0..self.n).wait()?;
        let of_fluid = listed.iter().zip(&host.fields.kind).filter(|(_, kind)| **kind & WALL == 0);
        Ok([
            near.into_iter().map(u64::from).sum(),
            of_fluid.map(|(count, _)| u64::from(*count)).sum(),
        ])
    }

    fn lets_any_go(&self, host: &Flow) -> Result<bool, GpuError> {
        self.finds_any_to_go(host)
    }

    fn set_out(&mut self, host: &Flow) {
        self.take_kept(host);
    }

    fn observe(&mut self, host: &mut Flow, simulation: &Simulation) -> Result<(), GpuError> {
        let is_incompressible = host.is_incompressible();
        if !is_incompressible {
            self.send_poses(simulation, simulation.steps, 0);
            self.gpu.clear(&self.flags);
            self.step(host, 0, false, !self.is_led);
            self.is_led = true;
        }
        let [half, thermal] = self.bring_home(host)?;
        if is_incompressible {
            self.tell(host, &half, &thermal);
            return Ok(());
        }
        if self.muller.is_some() {
            return self.tell_of_muller(host, &half, &thermal);
        }
        let (n, seen) = (self.n, self.read(&self.seen)?);
        let fields = &mut host.fields;
        let mut sums = FlowEnergies::default();
        for i in 0..n {
            let (half, thermal) = (&half[RECORD * i..][..RECORD], &thermal[RECORD * i..][..RECORD]);
            (fields.excess[i], fields.swelling_before[i]) = (thermal[0], thermal[1]);
            if fields.kind[i] & WALL != 0 {
                fields.flow[RECORD * i..][..RECORD].copy_from_slice(&seen[RECORD * i..][..RECORD]);
            } else {
                sums = sums.plus(&FlowEnergies {
                    viscous: thermal[2],
                    diffusive: thermal[3],
                    gained: half[3],
                });
            }
        }
        let power = self.gpu.download(&self.power)?;
        let mut now = FlowEnergies::default();
        host.surface = 0.0;
        for cube in power.chunks_exact(2 * RECORD).take(n.div_ceil(UNITS)) {
            now = now.plus(&FlowEnergies {
                viscous: cube[RECORD].double(),
                diffusive: cube[RECORD + 1].double(),
                gained: cube[RECORD + 2].double(),
            });
            host.surface += cube[RECORD + 3].double();
        }
        let since = sums.minus(&self.booked).tally();
        self.booked = sums;
        let now = now.tally();
        let before = std::mem::replace(&mut host.last, now);
        // A step's share is the mean of the powers at its two ends: of the first and of the last that were added up, half.
        let (dt, half) = (host.stepping.dt, 0.5 * host.stepping.dt);
        let share = |of: fn(&FlowTally) -> f64| dt * of(&since) + half * (of(&now) - of(&before));
        if since != FlowTally::default() {
            host.work = host.work.plus(&FlowTally {
                viscous: share(|tally| tally.viscous),
                diffusive: share(|tally| tally.diffusive),
                wall: share(|tally| tally.wall),
            });
        }
        Ok(())
    }
}
