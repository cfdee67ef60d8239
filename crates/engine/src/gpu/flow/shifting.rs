//! Particle shifting on a GPU.

use super::GpuFluid;
use crate::flow::Flow;
use crate::gpu::{Number, stepping};
use seixo_device::gpu::units;
use seixo_laws::Coordinate;
use seixo_laws::fluid::shifting::ShiftingLaunch;
use seixo_sweeps::kernels::shifting::shift;

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Computes the shifted velocities with which fluid particles move, if there is particle shifting.
    pub(super) fn shift(&self, host: &Flow) {
        if !self.plan.shifting {
            return;
        }
        let shifting = host.shifting();
        let (count, dim) = units(self.n);
        shift::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.position[self.now].argument(),
            self.flowing[self.now].records(),
            self.motion.records(),
            ShiftingLaunch::new(R::of(shifting.strength), R::of(shifting.per_weight), R::of(shifting.most)),
            self.smoother(host),
            stepping::<C, R>(&host.stepping),
            self.n as u32,
            self.plan,
        );
    }
}
