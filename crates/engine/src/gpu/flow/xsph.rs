//! XSPH of weakly compressible fluids on a GPU.

use super::GpuFluid;
use crate::flow::Flow;
use crate::gpu::{Number, stepping};
use seixo_device::gpu::units;
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::xsph::draw_along;

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Computes the velocities with which fluid particles move, if there is XSPH.
    pub(super) fn draw_along(&self, host: &Flow) {
        if !self.plan.xsph {
            return;
        }
        let (count, dim) = units(self.n);
        draw_along::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.position[self.now].argument(),
            self.flowing[self.now].argument(),
            self.kind.argument(),
            self.media.argument(),
            self.xsph.argument(),
            self.motion.records(),
            self.smoother(host),
            stepping::<C, R>(&host.stepping),
            self.n as u32,
            self.plan,
        );
    }
}
