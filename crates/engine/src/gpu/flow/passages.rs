//! Inlets and outlets: the host lets fluids come and go, and a GPU tells whether any is about to, and lets what came set out.

use super::FlowOnGpu;
use crate::fields::FluidFields;
use crate::flow::Flow;
use crate::gpu::{Number, doubles, numbers};
use seixo_device::gpu::GpuError;
use seixo_laws::Coordinate;
use seixo_sweeps::views::RECORD;

/// Velocities that are kept, and sums of the powers that particles gain: none yet.
pub(super) fn kept_velocities(fields: &FluidFields) -> Vec<f64> {
    fields.half_velocity.chunks_exact(3).flat_map(|v| [v[0], v[1], v[2], 0.0]).collect()
}

/// What densities are, and how they changed a step before, with sums of what viscosity and diffusion took: nothing yet.
pub(super) fn kept_densities(fields: &FluidFields) -> Vec<f64> {
    let both = fields.excess.iter().zip(&fields.swelling_before);
    both.flat_map(|(&excess, &swelling)| [excess, swelling, 0.0, 0.0]).collect()
}

impl<C: Number + Coordinate<R>, R: Number> FlowOnGpu<C, R> {
    /// As [`super::RemoteFlow::lets_any_go`].
    pub(super) fn finds_any_to_go(&self, host: &Flow) -> Result<bool, GpuError> {
        let (n, now) = (self.n, self.now);
        let mut copies = self.gpu.copies();
        let kind = copies.add(&self.kind, 0..n);
        let position = copies.add(&self.position[now], 0..RECORD * n);
        let flow = copies.add(&self.flowing[now], 0..RECORD * n);
        let arrived = copies.wait()?;
        let (position, flow) = (doubles(&arrived.take(position)), doubles(&arrived.take(flow)));
        Ok(host.lets_any_go(&arrived.take(kind), &position, &flow))
    }

    /// As [`super::RemoteFlow::set_out`].
    pub(super) fn take_kept(&self, host: &Flow) {
        self.gpu.write(&self.half_velocity, &numbers::<C>(kept_velocities(&host.fields)));
        self.gpu.write(&self.thermal, &numbers::<C>(kept_densities(&host.fields)));
    }
}
