//! Grains on a GPU that are smaller than the particles of the fluids there: their forces are found between those of fluids and their motion.

use super::FlowOnGpu;
use crate::flow::Flow;
use crate::gpu::{Number, stepping};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_laws::fluid::suspension::CouplingLaunch;
use seixo_sweeps::kernels::suspension::{bear_grains, push_grains, put_grains_aside, sort_aside};

/// What small grains on a GPU ask for beside what hulls have.
pub(super) struct SuspensionOnGpu<R> {
    /// How many grains stand behind all others in the row of each particle.
    aside: Buffer<u32>,
    /// Of particles of hulls that are grains, what fluid does to them, and the power that drag takes. It lives for a step.
    force: Buffer<R>,
}

impl<R: Number> SuspensionOnGpu<R> {
    /// For the grains of the host; none where there are none.
    pub fn new(gpu: &Gpu, host: &Flow) -> Result<Option<SuspensionOnGpu<R>>, GpuError> {
        if !host.compiled_for.carrying {
            return Ok(None);
        }
        Ok(Some(SuspensionOnGpu {
            aside: gpu.buffer(host.fields.len(), "rows of neighbors")?,
            force: gpu.zeros(host.hulls.offset.len(), "forces")?,
        }))
    }
}

fn coupling<R: Number>(host: &Flow) -> CouplingLaunch<R> {
    let coupling = &host.suspension.coupling;
    CouplingLaunch::new(
        R::of(coupling.reach),
        R::of(coupling.pi),
        R::of(coupling.artificial_over_shear),
        R::of(coupling.dt),
    )
}

impl<C: Number + Coordinate<R>, R: Number> FlowOnGpu<C, R> {
    /// Puts small grains behind all others in new rows; in the order of their ids again, if rows stand `in_order`.
    pub(super) fn put_grains_aside(&self, in_order: bool) {
        let Some(suspension) = &self.suspension else { return };
        let (count, dim) = units(self.n);
        put_grains_aside::launch(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.kind.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            suspension.aside.argument(),
            self.n as u32,
        );
        if in_order {
            let (count, dim) = units(self.n);
            sort_aside::launch(
                self.gpu.client(),
                count,
                dim,
                self.rows.tile_first.argument(),
                self.rows.count.argument(),
                suspension.aside.argument(),
                self.rows.list.argument(),
                self.id.argument(),
                self.n as u32,
            );
        }
    }

    /// Lets fluids and small grains act on each other, once all other forces on fluids are known, and takes fluids on if the step is to `advance`.
    pub(super) fn suspend(&self, host: &Flow, parity: u32, advance: bool) {
        let (Some(suspension), Some(hulls)) = (&self.suspension, &self.hulls) else {
            return;
        };
        let (count, dim) = units(hulls.particles);
        push_grains::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            hulls.place.argument(),
            hulls.body_of.argument(),
            hulls.bodies.center.argument(),
            self.kind.argument(),
            self.media.argument(),
            self.position[self.now].argument(),
            self.flowing[self.now].argument(),
            self.motion.argument(),
            self.rate.argument(),
            self.half_velocity.argument(),
            self.seen.records(),
            suspension.force.records(),
            self.flags.argument(),
            coupling::<R>(host),
            self.smoother(host),
            stepping::<C, R>(&host.stepping),
            hulls.particles as u32,
            parity,
            self.plan,
        );
        let (count, dim) = units(self.n);
        bear_grains::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            suspension.aside.argument(),
            self.rows.list.argument(),
            self.id.argument(),
            self.kind.argument(),
            self.media.argument(),
            self.position[self.now].argument(),
            self.seen.argument(),
            suspension.force.records(),
            self.half_velocity.records(),
            self.thermal.records(),
            self.rate.records(),
            self.reference.records(),
            self.position[self.now ^ 1].records(),
            self.flowing[self.now ^ 1].records(),
            self.flags.argument(),
            self.smoother(host),
            stepping::<C, R>(&host.stepping),
            hulls.first[1],
            self.n as u32,
            parity,
            self.plan,
            advance,
        );
    }
}
