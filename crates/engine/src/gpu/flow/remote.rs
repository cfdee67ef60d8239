//! What the rest of the engine asks of fluids on a GPU.

use super::{FlowOnGpu, Opened, RemoteFlow};
use crate::bodies::Bodies;
use crate::flow::{Flow, FlowEnergies, is_marked};
use crate::glance::{Glancing, Shade};
use crate::gpu::glance::put_aside;
use crate::gpu::step::{BATCH, FLUIDS, LISTS_OF_FLUIDS};
use crate::gpu::{Closed, Number, raised, stepping};
use crate::simulation::Simulation;
use crate::state::Profile;
use crate::world::Vec3;
use seixo_device::gpu::{GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::fluid::{WALL, is_suspended};
use seixo_sweeps::fluid_lanes::FlowTally;
use seixo_sweeps::kernels::flow::count_near;
use seixo_sweeps::kernels::{DONE, UNITS};
use seixo_sweeps::motion::{LEFT, NOT_FINITE, STALE, TOO_COMPRESSED, TOO_FAST};
use seixo_sweeps::views::RECORD;
use std::time::Instant;

impl<C: Number + Coordinate<R>, R: Number> FlowOnGpu<C, R> {
    /// Counts the steps that were taken of those that are queued, once their flags are here.
    pub(super) fn count_queued(&mut self, flags: &[u32], profile: &mut Profile) -> Closed {
        let Some(opened) = self.opened.take() else {
            return Closed::default();
        };
        let taken = u64::from(flags[DONE]);
        profile.book_on_gpu(FLUIDS, opened.start, taken);
        self.now = opened.now ^ (taken as usize & 1);
        self.is_led &= taken == 0;
        self.since_renewal += taken;
        let raised = raised(flags);
        Closed {
            raised,
            taken,
            must_be_seen_to: raised & (NOT_FINITE | TOO_FAST | TOO_COMPRESSED | LEFT) != 0,
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> RemoteFlow for FlowOnGpu<C, R> {
    fn advance(&mut self, host: &mut Flow, simulation: &Simulation, steps: u64, profile: &mut Profile) -> Result<Closed, GpuError> {
        if host.is_incompressible() {
            return self.advance_incompressible(host, simulation, steps, profile);
        }
        let mut taken = 0;
        while taken < steps {
            let batch = self.batch(steps - taken);
            self.open(host, simulation, simulation.steps - steps + taken, batch);
            (0..batch as u32).for_each(|ahead| self.queue(host, ahead));
            let closed = self.close(host, profile)?;
            taken += closed.taken;
            if closed.must_be_seen_to {
                return Ok(Closed { taken, ..closed });
            }
            self.renew_when_stale(host, closed.raised, profile)?;
        }
        Ok(Closed {
            taken,
            ..Closed::default()
        })
    }

    fn batch(&self, most: u64) -> u64 {
        let lasting = self.interval.max(self.since_renewal);
        (lasting / 2).clamp(1, BATCH as u64).min(most)
    }

    fn open(&mut self, host: &Flow, simulation: &Simulation, first: u64, batch: u64) {
        self.send_poses(simulation, first, batch);
        self.send_containers(host, simulation, first, batch);
        self.gpu.clear(&self.flags);
        self.opened = Some(Opened {
            now: self.now,
            start: Instant::now(),
            queued: 0,
        });
    }

    fn queue(&mut self, host: &Flow, ahead: u32) {
        self.step(host, ahead & 1, true, ahead > 0 || !self.is_led);
        if let Some(opened) = &mut self.opened {
            opened.queued = ahead + 1;
        }
    }

    fn set_off(&self, ahead: u32) {
        self.gpu.set_off(ahead);
    }

    fn close(&mut self, host: &mut Flow, profile: &mut Profile) -> Result<Closed, GpuError> {
        let Some(queued) = self.opened.as_ref().map(|opened| opened.queued) else {
            return Ok(Closed::default());
        };
        // Where the last step leads, walls and bodies may be too far from where they are listed.
        self.place_boundaries(host, queued & 1, true);
        let flags = self.collect_flags(host)?;
        Ok(self.count_queued(&flags, profile))
    }

    fn renew_when_stale(&mut self, host: &mut Flow, raised: u32, profile: &mut Profile) -> Result<(), GpuError> {
        if raised & STALE != 0 {
            let start = Instant::now();
            self.renew_lists(host)?;
            profile.book_on_gpu(LISTS_OF_FLUIDS, start, 1);
        }
        Ok(())
    }

    fn step_alone(&mut self, host: &mut Flow, profile: &mut Profile) -> Result<Closed, GpuError> {
        self.step_incompressible(host, profile)
    }

    fn see_walls(&self, simulation: &Simulation) {
        self.send_poses(simulation, simulation.steps, 0);
    }

    fn see_bodies(&self, bodies: &Bodies) {
        self.see(bodies);
    }

    fn glance(&self, host: &Flow, origin: Vec3, shade: Shade) -> Glancing {
        let from = (&self.position[self.now], &self.flowing[self.now], &self.id, self.n);
        let fluid = (&self.kind, R::of(host.shown_radius()));
        put_aside(&self.gpu, from, Some(fluid), (origin, shade))
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
        let gained_by_bodies = self.tell_of_hulls(host)?;
        let [half, thermal] = self.bring_home(host)?;
        if is_incompressible {
            self.tell(host, &half, &thermal);
            // What bodies gain is no work of walls.
            host.work.wall += gained_by_bodies * host.stepping.dt;
            return Ok(());
        }
        if self.muller.is_some() {
            return self.tell_of_muller(host, &half, &thermal);
        }
        let (n, seen) = (self.n, self.read(&self.seen)?);
        let fields = &mut host.fields;
        let (mut sums, mut now) = (FlowEnergies::default(), FlowEnergies::default());
        for i in 0..n {
            let (half, thermal) = (&half[RECORD * i..][..RECORD], &thermal[RECORD * i..][..RECORD]);
            (fields.excess[i], fields.swelling_before[i]) = (thermal[0], thermal[1]);
            if fields.kind[i] & WALL != 0 {
                fields.flow[RECORD * i..][..RECORD].copy_from_slice(&seen[RECORD * i..][..RECORD]);
            }
            if is_suspended(fields.kind[i]) {
                // What drag takes, and what fluid loses to the grain.
                now.viscous += fields.rate[RECORD * i + 3];
                now.gained -= fields.flow[RECORD * i + 3];
            }
            if is_marked(&fields.copy, i) {
                // Its own domain counts it.
                continue;
            }
            // Of particles of walls they are zero.
            sums = sums.plus(&FlowEnergies {
                viscous: thermal[2],
                diffusive: thermal[3],
                gained: half[3],
            });
        }
        let power = self.gpu.download(&self.power)?;
        host.surface = 0.0;
        for cube in power.chunks_exact(2 * RECORD).take(n.div_ceil(UNITS)) {
            now = now.plus(&FlowEnergies {
                viscous: cube[RECORD].double(),
                diffusive: cube[RECORD + 1].double(),
                gained: cube[RECORD + 2].double(),
            });
            host.surface += cube[RECORD + 3].double();
        }
        let (mut since, mut now) = (sums.minus(&self.booked).tally(), now.tally());
        self.booked = sums;
        since.wall += gained_by_bodies;
        now.wall += host.hulls.power;
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
