//! Grains on a GPU that are smaller than the fluid particles there. Their forces are computed between those of fluids and the motion of fluids.

use super::GpuFluid;
use crate::flow::Flow;
use crate::gpu::{Number, stepping};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_laws::fluid::suspension::CouplingLaunch;
use seixo_sweeps::kernels::suspension::{apply_reaction_to_fluid, order_small_grains_last, push_grains, sort_aside};

/// Data of small grains on a GPU beside those of body boundaries.
pub(super) struct GpuSuspension<R> {
    /// Number of small grains behind all other neighbors in the row of each particle.
    aside: Buffer<u32>,
    /// For body boundary particles that are small grains: the force of the fluid and the power of drag. Valid within a step.
    force: Buffer<R>,
}

impl<R: Number> GpuSuspension<R> {
    /// For the small grains of the host; `None` without any.
    pub fn new(gpu: &Gpu, host: &Flow) -> Result<Option<GpuSuspension<R>>, GpuError> {
        if !host.compiled_for.carrying {
            return Ok(None);
        }
        Ok(Some(GpuSuspension {
            aside: gpu.buffer(host.fields.len(), "rows of neighbors")?,
            force: gpu.zeros(host.body_boundaries.offset.len(), "forces")?,
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

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Puts small grains behind all other neighbors in new rows. If rows are `in_order`, the small grains are sorted by their ids again.
    pub(super) fn order_small_grains_last(&self, in_order: bool) {
        let Some(suspension) = &self.suspension else { return };
        let (count, dim) = units(self.n);
        order_small_grains_last::launch(
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

    /// Computes the forces between fluids and small grains, after all other forces on fluids, and moves fluids if the step is to `advance`.
    pub(super) fn suspend(&self, host: &Flow, parity: u32, advance: bool) {
        let (Some(suspension), Some(body_boundaries)) = (&self.suspension, &self.body_boundaries) else {
            return;
        };
        let (count, dim) = units(body_boundaries.particles);
        push_grains::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            body_boundaries.place.argument(),
            body_boundaries.body_of.argument(),
            body_boundaries.bodies.center.argument(),
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
            body_boundaries.particles as u32,
            parity,
            self.plan,
        );
        let (count, dim) = units(self.n);
        apply_reaction_to_fluid::launch::<R, C>(
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
            body_boundaries.first[1],
            self.n as u32,
            parity,
            self.plan,
            advance,
        );
    }
}
