//! Interface of fluids on a GPU to the rest of the engine.

use super::{FluidGpuBackend, FluidNeighbors, GpuFluid, PendingFluidSteps};
use crate::bodies::Bodies;
use crate::exchange::HaltReason;
use crate::flow::{Constraint, Flow, FlowEnergies, is_marked};
use crate::gpu::neighbor_lists::is_beyond;
use crate::gpu::preview::copy_for_preview;
use crate::gpu::step::{FLUID_LISTS, FLUIDS, batch_after};
use crate::gpu::{FinishedSteps, Number, doubles, raised, stepping};
use crate::preview::{ColorScalar, PendingPreview};
use crate::program::{FluidLaunch, Moment};
use crate::search::ListCounts;
use crate::state::Profile;
use crate::state::arrays::{ArraysError, ParticleArray};
use crate::surroundings::Surroundings;
use crate::world::{Domain, Vec3};
use seixo_device::gpu::{Buffer, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::fluid::{WALL, is_suspended};
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use seixo_sweeps::kernels::fluid::count_near;
use seixo_sweeps::kernels::{DONE, FLAGS, THREADS};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::motion::{LEFT_DOMAIN, NOT_FINITE, SKIN_EXCEEDED, TOO_COMPRESSED, TOO_FAST};
use std::time::Instant;

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Counts the queued steps that were taken, once their flags are here. Returns the flags, and how many steps were taken.
    fn count_queued(&mut self, flags: &[u32], profile: &mut Profile) -> (u32, u64) {
        let Some(opened) = self.opened.take() else { return (0, 0) };
        let is_incompressible = self.is_incompressible();
        let taken = if is_incompressible { 1 } else { u64::from(flags[DONE]) };
        profile.add_on_gpu(FLUIDS, opened.start, taken);
        if is_incompressible {
            // The step goes on.
            self.opened = Some(PendingFluidSteps {
                start: Instant::now(),
                ..opened
            });
        } else {
            self.now = opened.now ^ (taken as usize & 1);
        }
        self.is_led &= taken == 0;
        self.since_rebuild += taken;
        (raised(flags), taken)
    }

    /// Counts of the lists, whose skin was used up.
    pub(super) fn counts_of_lists(&self, host: &Flow) -> Result<ListCounts, GpuError> {
        let entries = match &self.border {
            _ if !host.counts_entries() => 0,
            // In several domains, wall particles near planes have rows twice.
            Some(border) => self.entries_of_fluid(&border.owned)?,
            None => self.entries,
        };
        Ok(ListCounts {
            grains: host.count as f64,
            entries: entries as f64,
        })
    }

    /// Whether own fluid is outside this domain; waits for the GPU.
    fn finds_outside(&self, domain: &Domain) -> Result<bool, GpuError> {
        let (n, position) = (self.n, &self.position[self.now]);
        let bounds = self.cells.box_of_free(&self.gpu, position, Some(&self.member), n)?;
        if !is_beyond(&bounds, domain) {
            return Ok(false);
        }
        // In this box there are also ghost particles and small grains.
        let mut copies = self.gpu.copies();
        let (places, kind) = (copies.add(position, 0..RECORD * n), copies.add(&self.kind, 0..n));
        let owned = self.border.as_ref().map(|border| copies.add(&border.owned, 0..n));
        let arrived = copies.wait()?;
        let (places, kind) = (doubles(&arrived.take(places)), arrived.take(kind));
        let owned = owned.map(|owned| arrived.take(owned));
        let is_own_fluid = |i: usize| kind[i] & WALL == 0 && owned.as_ref().is_none_or(|owned| owned[i] == FREE);
        Ok((0..n).any(|i| is_own_fluid(i) && domain.is_outside_domain(&places[i * RECORD..])))
    }

    /// Entries in the rows of fluid particles that are `owned`; waits for the GPU.
    fn entries_of_fluid(&self, owned: &Buffer<u32>) -> Result<u64, GpuError> {
        let mut copies = self.gpu.copies();
        let [counts, kinds, owned] = [&self.rows.count, &self.kind, owned].map(|words| copies.add(words, 0..self.n));
        let arrived = copies.wait()?;
        let [counts, kinds, owned] = [counts, kinds, owned].map(|ticket| arrived.take(ticket));
        let rows = counts.iter().zip(kinds.iter().zip(&owned));
        let own = rows.filter(|(_, (kind, owned))| **kind & WALL == 0 && **owned == FREE);
        Ok(own.map(|(count, _)| u64::from(*count)).sum())
    }
}

impl<C: Number + Coordinate<R>, R: Number> FluidGpuBackend for GpuFluid<C, R> {
    fn batch(&self, most: u64) -> u64 {
        if self.is_incompressible() {
            return 1;
        }
        batch_after(self.since_rebuild, self.interval, self.n, true).min(most)
    }

    fn open(&mut self, host: &Flow, surroundings: &Surroundings, batch: u64) {
        let now = surroundings.context.steps;
        let ahead = if self.is_incompressible() { 0 } else { batch };
        self.send_poses(surroundings, now, ahead);
        self.send_containers(host, surroundings, now, batch);
        self.forget_exchanged_halos();
        self.gpu.clear(&self.flags);
        self.opened = Some(PendingFluidSteps {
            now: self.now,
            start: Instant::now(),
            queued: 0,
        });
    }

    fn open_present(&mut self, surroundings: &Surroundings) {
        self.send_poses(surroundings, surroundings.context.steps, 0);
        self.gpu.clear(&self.flags);
        self.has_present_forces = true;
    }

    fn launch(&mut self, launch: FluidLaunch, host: &Flow, moment: Moment) {
        let (parity, advance) = (moment.parity(), moment.advances());
        let is_incompressible = self.is_incompressible();
        match launch {
            FluidLaunch::Boundaries => {
                // In a subdomain, the exchange of the step before placed them.
                let are_placed = self.is_decomposed() && matches!(moment, Moment::Step(ahead) if ahead > 0);
                if !are_placed {
                    self.place_boundaries(host, parity, advance);
                }
                if advance && self.is_decomposed() && !are_placed && !is_incompressible {
                    // Walls had these poses already at the end of the step before, and what moved too far was listed again. The flags are cleared,
                    // since no subdomain may halt alone within a step.
                    self.gpu.clear(&self.flags);
                }
                if let (Moment::Step(ahead), Some(opened)) = (moment, &mut self.opened) {
                    opened.queued = ahead + 1;
                }
            }
            FluidLaunch::WallPressures if is_incompressible => {
                if self.plan.viscous.is_some() {
                    self.wall_particle_pressures_on_gpu(host, parity, false);
                }
            }
            FluidLaunch::WallPressures => {
                let leads = !self.is_led || matches!(moment, Moment::Step(ahead) if ahead > 0);
                self.wall_particle_pressures_on_gpu(host, parity, leads);
                self.is_led |= !advance;
            }
            FluidLaunch::ParticleVelocities => {
                self.shift(host);
                self.draw_along(host);
            }
            FluidLaunch::Forces => self.forces(host, parity, advance),
            FluidLaunch::MullerDensities => self.sum_muller_densities(host, parity),
            FluidLaunch::MullerForces => self.muller_forces(host, parity, advance),
            FluidLaunch::MullerMotion => self.muller_motion(host, parity),
            FluidLaunch::ViscousForces => self.viscous_forces_of(host),
            FluidLaunch::Drift => self.drift(host),
            FluidLaunch::BodyForces => {
                if self.body_boundaries.is_some() {
                    // If lists were out of date, this step has rebuilt them and goes on: so the flags are cleared.
                    self.gpu.clear(&self.flags);
                    self.sum_forces_on_bodies(0, true);
                }
            }
        }
    }

    fn solve(&mut self, host: &mut Flow, constraint: Constraint, others: &mut dyn FluidNeighbors) -> Result<(), HaltReason> {
        self.project(host, constraint, others)
    }

    fn restart_clock(&mut self) {
        if let Some(opened) = &mut self.opened {
            opened.start = Instant::now();
        }
    }

    fn close(&mut self, host: &mut Flow, profile: &mut Profile, by_messages: bool) -> Result<FinishedSteps, GpuError> {
        let Some(queued) = self.opened.as_ref().map(|opened| opened.queued) else {
            return Ok(FinishedSteps::default());
        };
        let has_exchanged = self.has_exchanged_halos();
        if !self.is_incompressible() && !has_exchanged {
            // After the last step, walls and bodies may be too far from their listed positions.
            self.place_boundaries(host, queued & 1, true);
        }
        // One copy, and so one wait for all.
        let mut copies = self.gpu.copies();
        let flags = copies.add(&self.flags, 0..FLAGS);
        let load = self.request_loads(&mut copies);
        let halo = if has_exchanged {
            Vec::new()
        } else {
            self.request_halo(&mut copies, by_messages)
        };
        let arrived = copies.wait()?;
        Self::receive_loads(host, &arrived, load);
        let (raised, taken) = self.count_queued(&arrived.take(flags), profile);
        host.steps_since_listed += taken;
        Ok(FinishedSteps {
            raised,
            taken,
            needs_host: raised & (NOT_FINITE | TOO_FAST | TOO_COMPRESSED | LEFT_DOMAIN) != 0,
            messages: Self::halo_messages(&arrived, halo),
        })
    }

    fn has_outside(&self, domain: &Domain) -> Result<bool, GpuError> {
        self.finds_outside(domain)
    }

    fn rebuild_if_needed(&mut self, host: &mut Flow, raised: u32, profile: &mut Profile) -> Result<(), GpuError> {
        if raised & SKIN_EXCEEDED != 0 {
            let start = Instant::now();
            let lists = self.counts_of_lists(host)?;
            host.tune_skin(&lists);
            self.rebuild_neighbor_lists(host)?;
            profile.add_on_gpu(FLUID_LISTS, start, 1);
        }
        Ok(())
    }

    fn finish(&mut self, host: &mut Flow, profile: &mut Profile) -> Result<(), GpuError> {
        let mut copies = self.gpu.copies();
        if let Some(load) = self.request_loads(&mut copies) {
            let arrived = copies.wait()?;
            Self::receive_loads(host, &arrived, Some(load));
        }
        if let Some(opened) = self.opened.take() {
            profile.add_on_gpu(FLUIDS, opened.start, 0);
        }
        Ok(())
    }

    fn update_servos(&self, surroundings: &Surroundings) {
        self.send_servos(surroundings);
    }

    fn update_bodies(&self, bodies: &Bodies) {
        self.see(bodies);
    }

    fn preview(&self, host: &Flow, origin: Vec3, shade: ColorScalar) -> PendingPreview {
        let from = (&self.position[self.now], &self.flowing[self.now], &self.id, self.n);
        let fluid = (&self.kind, R::of(host.shown_radius()));
        copy_for_preview(&self.gpu, from, Some(fluid), (origin, shade))
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

    fn outlets_change_any(&self, host: &Flow) -> Result<bool, GpuError> {
        self.finds_any_to_go(host)
    }

    fn set_out(&mut self, host: &Flow) {
        self.take_kept(host);
    }

    #[cfg(test)]
    fn entries_of_short_rows(&self) -> Result<[u64; 2], GpuError> {
        let sum = |count: &Buffer<u32>| -> Result<u64, GpuError> {
            let counts = self.gpu.download_part(count, 0..self.n).wait()?;
            Ok(counts.into_iter().map(u64::from).sum())
        };
        let short = if self.short.are_used { sum(&self.short.count)? } else { 0 };
        Ok([short, sum(&self.rows.count)?])
    }

    #[cfg(test)]
    fn refuse_short_rows(&mut self) {
        (self.short.is_refused, self.short.are_used) = (true, false);
    }

    fn needs_present_forces(&self) -> bool {
        !self.is_incompressible() && !self.has_present_forces
    }

    fn arrays(&self) -> Result<Vec<ParticleArray<'static>>, ArraysError> {
        self.cuda_arrays()
    }

    fn observe(&mut self, host: &mut Flow) -> Result<(), GpuError> {
        let is_incompressible = self.is_incompressible();
        self.has_present_forces = false;
        let gained_by_bodies = self.body_boundary_message(host)?;
        let [half, thermal] = self.download_common(host)?;
        if is_incompressible {
            self.download_incompressible(host, &half, &thermal);
            // The energy that bodies gain is no work of walls: it is added back to the sums over wall particles.
            host.work.wall += gained_by_bodies * host.stepping.dt;
            return Ok(());
        }
        if self.muller.is_some() {
            return self.download_muller(host, &half, &thermal);
        }
        let (n, seen) = (self.n, self.read(&self.seen)?);
        let fields = &mut host.fields;
        let (mut sums, mut now) = (FlowEnergies::default(), FlowEnergies::default());
        for i in 0..n {
            let (half, thermal) = (&half[RECORD * i..][..RECORD], &thermal[RECORD * i..][..RECORD]);
            (fields.density_error[i], fields.previous_density_rate[i]) = (thermal[0], thermal[1]);
            if fields.kind[i] & WALL != 0 {
                fields.velocity_pressure[RECORD * i..][..RECORD].copy_from_slice(&seen[RECORD * i..][..RECORD]);
            }
            if is_suspended(fields.kind[i]) {
                // Power of drag, and power that the fluid loses to the grain.
                now.viscous += fields.force_density_rate[RECORD * i + 3];
                now.gained -= fields.velocity_pressure[RECORD * i + 3];
            }
            if is_marked(&fields.ghost, i) {
                // The subdomain that owns it counts it.
                continue;
            }
            // These are zero for wall particles.
            sums = sums.plus(&FlowEnergies {
                viscous: thermal[2],
                diffusive: thermal[3],
                gained: half[3],
            });
        }
        let power = self.gpu.download(&self.power)?;
        host.surface = 0.0;
        for cube in power.chunks_exact(2 * RECORD).take(n.div_ceil(THREADS)) {
            now = now.plus(&FlowEnergies {
                viscous: cube[RECORD].double(),
                diffusive: cube[RECORD + 1].double(),
                gained: cube[RECORD + 2].double(),
            });
            host.surface += cube[RECORD + 3].double();
        }
        let (mut since, mut now) = (sums.minus(&self.ledger).power_sums(), now.power_sums());
        self.ledger = sums;
        since.wall += gained_by_bodies;
        now.wall += host.body_boundaries.power;
        let before = std::mem::replace(&mut host.last, now);
        // The work of a step is that of the mean of the powers at its two ends. So the first and the last powers count half.
        let (dt, half) = (host.stepping.dt, 0.5 * host.stepping.dt);
        let share = |of: fn(&FluidPowerSums) -> f64| dt * of(&since) + half * (of(&now) - of(&before));
        if since != FluidPowerSums::default() {
            host.work = host.work.plus(&FluidPowerSums {
                viscous: share(|power_sums| power_sums.viscous),
                diffusive: share(|power_sums| power_sums.diffusive),
                wall: share(|power_sums| power_sums.wall),
            });
        }
        Ok(())
    }
}
