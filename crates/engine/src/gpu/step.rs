//! A time step on the GPU: a page on which every line is one pass.

use super::servos::are_led_by_host;
use super::{Number, OnGpu, doubles, numbers, raised, stepping};
use crate::simulation::Simulation;
use crate::world::Leaving;
use seixo_device::gpu::{GpuError, units, units_in_cubes_of};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::bonds::SOME_BROKE;
use seixo_sweeps::kernels::step::{Plan, grains, walls};
use seixo_sweeps::kernels::walls::{control, place};
use seixo_sweeps::kernels::{DONE, UNITS};
use seixo_sweeps::motion::{LEFT, NOT_FINITE, STALE, Stepping, TOO_CONDUCTIVE, TOO_DEEP, TOO_FAST};
use seixo_sweeps::pose::SERVO;
use seixo_sweeps::sides::SHEARED;
use seixo_sweeps::views::ELEMENT;
use std::time::Instant;

/// Steps that are queued before the host looks at the flags, at most.
pub(super) const BATCH: usize = 128;

/// What the host can tell apart, in the profile: steps, of which it waits for many at once, and new lists; of fluids, too, and what comes and goes
/// by their inlets and outlets.
pub(crate) const PASSES: [&str; 5] = ["steps", "lists", "fluids", "lists of fluids", "passages"];
const STEPS: usize = 0;
const LISTS: usize = 1;
pub(super) const FLUIDS: usize = 2;
pub(super) const LISTS_OF_FLUIDS: usize = 3;
pub(crate) const PASSAGES: usize = 4;

/// Steps that are queued: how things stood before them.
pub(super) struct Queued {
    now: usize,
    forces_known: bool,
    start: Instant,
}

/// Steps, a batch at most, until the lists are stale because a wall moved half their skin, or sides slid that far.
fn until_walls_stale(host: &Simulation) -> u64 {
    let walls = host
        .walls
        .steps_until_moved(host.steps, host.stepping.dt, host.walls.slack(), BATCH as u64);
    walls.min(host.steps_until_slid())
}

/// Whether these flags, or walls, say that the lists are stale.
pub(crate) fn lists_are_stale(host: &Simulation, raised: u32) -> bool {
    raised & (STALE | LEFT) != 0 || until_walls_stale(host) == 0
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// One step: forces where the grains are, and the grains on to the next place. The host only queues it.
    pub(super) fn step(&mut self, host: &Simulation, ahead: u32) -> Result<(), GpuError> {
        let parity = ahead & 1;
        self.place_walls(host);
        self.bear_on_walls(host, parity);
        self.conduct(host, ahead, parity);
        let is_geared = self.geared.is_some();
        self.hold_grains(host, parity, is_geared);
        self.assemble_forces(host, parity)?;
        self.control_walls(host, parity);
        let touch = !self.forces_known && self.contacts.is_none();
        if !is_geared {
            self.touch_and_advance(host, ahead, parity, (touch, true, false));
        } else if touch {
            self.touch_and_advance(host, ahead, parity, (true, false, true));
        }
        self.advance_by_gear(host, parity);
        self.move_bodies(host, parity);
        self.forces_known = false;
        self.now ^= 1;
        self.bin();
        Ok(())
    }

    /// Up to `steps` steps, renewing the lists whenever they are stale, until all are done or something is wrong.
    pub(super) fn steps(&mut self, host: &mut Simulation, steps: u64) -> Result<u32, GpuError> {
        let end = host.steps + steps;
        while host.steps < end {
            match &mut self.queued {
                // While these were on their way, the host had other things to do.
                Some(queued) => queued.start = Instant::now(),
                None => self.queue_batch(host, end - host.steps)?,
            }
            let raised = self.collect_steps(host)?;
            if self.must_be_seen_to(host, raised) {
                return Ok(raised);
            }
            self.renew_stale_lists(host, raised)?;
        }
        Ok(0)
    }

    /// Whether the host must see to these flags.
    pub(super) fn must_be_seen_to(&self, host: &Simulation, raised: u32) -> bool {
        let fatal = if host.leaving() == Leaving::Error { LEFT } else { 0 } | NOT_FINITE | TOO_FAST | TOO_DEEP | TOO_CONDUCTIVE;
        raised & fatal != 0 || raised & LEFT != 0 && self.carriers.is_some()
    }

    /// Renews the lists if flags, or walls, say that they are stale.
    pub(super) fn renew_stale_lists(&mut self, host: &mut Simulation, raised: u32) -> Result<(), GpuError> {
        if lists_are_stale(host, raised) {
            let start = Instant::now();
            self.put_bodies_back(host)?;
            self.renew_lists(host, raised & LEFT != 0)?;
            host.profile.book_on_gpu(LISTS, start, 1);
        }
        Ok(())
    }

    /// How many steps to queue, `most` at most.
    pub(super) fn steps_at_once(&self, host: &Simulation, most: u64) -> u64 {
        if are_led_by_host(host) {
            return 1;
        }
        // Half of what the lists lasted before, or have lasted by now: steps queued behind a stale list are launched in vain.
        let lasting = self.interval.max(self.since_renewal);
        let batch = (lasting / 2).clamp(1, BATCH as u64).min(most);
        batch.min(until_walls_stale(host)).max(1)
    }

    /// Gets ready for a batch of steps.
    pub(super) fn set_out(&mut self, host: &Simulation, batch: u64) {
        self.send_poses(host, batch as usize);
        self.send_poses_of_bodies(host, batch);
        self.gpu.clear(&self.flags);
        self.queued = Some(Queued {
            now: self.now,
            forces_known: self.forces_known,
            start: Instant::now(),
        });
    }

    /// Queues some steps, `most` at most.
    pub(super) fn queue_batch(&mut self, host: &Simulation, most: u64) -> Result<(), GpuError> {
        let batch = self.steps_at_once(host, most);
        self.set_out(host, batch);
        for ahead in 0..batch as u32 {
            self.step(host, ahead)?;
            self.gpu.set_off(ahead);
        }
        Ok(())
    }

    /// Waits for the steps that are queued; returns the flags that they raised.
    pub(super) fn collect_steps(&mut self, host: &mut Simulation) -> Result<u32, GpuError> {
        if self.queued.is_none() {
            return Ok(0);
        }
        let flags = self.gpu.download(&self.flags)?;
        if let Some(walls) = self.walls.as_ref().filter(|_| host.walls.has_servos() && !are_led_by_host(host)) {
            host.walls.servos = doubles(&self.gpu.download(&walls.servos)?);
        }
        let raised = self.count_queued(host, &flags)?;
        if flags[DONE] > 0 {
            self.fetch_and_lead(host)?;
        }
        Ok(raised)
    }

    /// Fetches what broke in the steps that are queued, once their flags are here, and counts those that were taken; returns the flags that they raised.
    pub(super) fn count_queued(&mut self, host: &mut Simulation, flags: &[u32]) -> Result<u32, GpuError> {
        let Some(queued) = self.queued.take() else { return Ok(0) };
        if flags[SOME_BROKE] != 0 {
            self.fetch_breaks(host, host.steps)?;
        }
        let done = u64::from(flags[DONE]);
        self.now = queued.now ^ (done as usize & 1);
        self.forces_known = done == 0 && queued.forces_known;
        host.steps += done;
        host.place_sides();
        self.since_renewal += done;
        host.profile.book_on_gpu(STEPS, queued.start, done);
        Ok(raised(flags))
    }

    /// Poses of the walls at the next `batch` steps: moving walls need nothing from the host within them.
    pub(super) fn send_poses(&mut self, host: &Simulation, batch: usize) {
        if let Some(walls) = &mut self.walls
            && host.walls.has_moving()
        {
            let time = |step: usize| (host.steps + step as u64) as f64 * host.stepping.dt;
            let poses = (0..batch).flat_map(|step| host.walls.poses(time(step), time(step + 1)));
            let mut poses = poses.collect::<Vec<f64>>();
            poses.resize(walls.poses.len(), 0.0);
            self.gpu.write(&walls.poses, &numbers::<C>(poses));
        }
    }

    /// Puts the walls where they are at this step.
    pub(super) fn place_walls(&self, host: &Simulation) {
        let Some(near) = self.walls.as_ref().filter(|_| host.walls.has_moving()) else {
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

    /// Takes servos to the next step, by the loads of this one, unless the host does.
    fn control_walls(&self, host: &Simulation, parity: u32) {
        let Some(near) = self.walls.as_ref().filter(|_| host.walls.has_servos() && !host.settings.divisible) else {
            return;
        };
        let walls = near.servos.len() / SERVO;
        let (count, dim) = units(walls * UNITS);
        control::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            near.touches.argument(),
            near.list.argument(),
            near.elements.argument(),
            near.poses.argument(),
            near.servos.argument(),
            self.flags.argument(),
            near.entries as u32,
            walls as u32,
            C::of(host.stepping.dt),
            parity,
        );
    }

    /// Forces between grains and walls; where there are none, nothing.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    pub(super) fn touch_walls(&self, host: &Simulation, parity: u32) {
        let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0 && !self.forces_known) else {
            return;
        };
        let (count, dim) = units(near.near);
        // SAFETY: units beyond the number of grains near walls do nothing, and these are places below n; rows, made by the scan of their lengths, end at `entries`, for which list, history and touches
        // have room; lists name elements, elements walls, both from the host's own tables; records and fields have n records.
        unsafe {
            walls::launch_unchecked::<R, C>(
                self.gpu.client(),
                count,
                dim,
                near.grains.argument(),
                near.row.argument(),
                near.list.argument(),
                near.elements.argument(),
                near.records.argument(),
                near.history.argument(),
                near.touches.argument(),
                self.position[self.now].argument(),
                self.velocity[self.now].argument(),
                self.spin[self.now].argument(),
                self.material.argument(),
                self.table.argument(),
                self.force.argument(),
                self.torque.argument(),
                self.flags.argument(),
                self.wall_power.records(),
                R::of(host.stepping.dt),
                R::of(host.settings.overlap_limit),
                near.near as u32,
                host.materials,
                parity,
                self.kind.frictional,
                self.kind.compound,
            );
        }
    }

    /// Forces between grains `ahead` steps from where the host stands, and the grains on to their next place: either or both. With forces alone,
    /// what contacts take is added up, or only noted.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    pub(super) fn touch_and_advance(&self, host: &Simulation, ahead: u32, parity: u32, (touch, advance, adds_up): (bool, bool, bool)) {
        let to_add_up = self.bonds_to_add_up();
        let plan = Plan {
            kind: self.kind,
            touch,
            advance,
            adds_up,
            damped: host.stepping.local_damping > 0.0 || self.kind.sides == SHEARED,
            // All parts of a divisible world run one kernel, be grains near walls there or not: compilers might fuse otherwise in another.
            walls: self.walls.as_ref().is_some_and(|near| near.entries > 0 || host.settings.divisible),
            outside: self.holding.is_some() && (to_add_up.is_none() || !advance),
            bonded: to_add_up.is_some() && touch && advance,
            turns: self.orientations().is_some(),
            // Likewise, whether some are copies of grains of other domains or not.
            carries: self.has_members(),
        };
        if let Some(binned) = &self.binned {
            self.push_and_advance(binned, host, parity, plan);
            return if advance {
                self.bin()
            };
        }
        let now = Stepping {
            sides: host.sides_ahead(ahead),
            ..host.stepping
        };
        let no_walls = &self.no_rows;
        let nothing = (&self.cells.lengths, &self.cells.kept, &self.old_rows.history, &self.wall_power);
        let (rows_of_bonds, bonds, pull, taken) = to_add_up.unwrap_or(nothing);
        // Measured on an H200: small cubes fill the registers better, by 5 to 10 %.
        let books = plan.damped || !advance;
        let (count, dim) = if books { units(self.n) } else { units_in_cubes_of(128, self.n) };
        // SAFETY: units beyond n do nothing; rows are interleaved in tiles whose sizes, summed by the scan, list and history have room for,
        // the list two rows of a tile more, which are read but not used;
        // lists name places below n; all fields have n records, of rotation only where it is read, and members n words; flags have all their words, powers
        // two records for every cube.
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
                self.member().argument(),
                self.table.argument(),
                self.walls.as_ref().map_or(no_walls, |near| &near.row).argument(),
                rows_of_bonds.argument(),
                bonds.argument(),
                pull.records(),
                taken.argument(),
                self.position[self.now].records(),
                self.velocity[self.now].records(),
                self.spin[self.now].records(),
                self.half_velocity.records(),
                self.half_spin.records(),
                self.force.records(),
                self.torque.records(),
                self.reference.records(),
                self.position[self.now ^ 1].records(),
                self.velocity[self.now ^ 1].records(),
                self.spin[self.now ^ 1].records(),
                self.orientations().unwrap_or(&self.wall_energy).records(),
                self.flags.argument(),
                self.power.records(),
                stepping::<C, R>(&now),
                R::of(host.settings.overlap_limit),
                self.n as u32,
                host.materials,
                parity,
                plan,
            );
        }
    }
}
