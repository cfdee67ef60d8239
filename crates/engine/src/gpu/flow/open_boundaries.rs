//! Inlets and outlets. The host creates and removes fluid particles. Data for its check of the outlets are downloaded here, and initial values of new
//! particles are uploaded.

use super::GpuFluid;
use crate::fields::FluidFields;
use crate::flow::Flow;
use crate::gpu::{Number, doubles, numbers};
use seixo_device::gpu::GpuError;
use seixo_laws::Coordinate;
use seixo_sweeps::layout::RECORD;

/// Half-step velocities, and the sums of the powers that particles gain, which start at zero.
pub(super) fn kept_velocities(fields: &FluidFields) -> Vec<f64> {
    fields.half_velocity.chunks_exact(3).flat_map(|v| [v[0], v[1], v[2], 0.0]).collect()
}

/// Density errors, density rates of the step before, and the sums of viscous and diffusive powers, which start at zero.
pub(super) fn kept_densities(fields: &FluidFields) -> Vec<f64> {
    let both = fields.density_error.iter().zip(&fields.previous_density_rate);
    both.flat_map(|(&excess, &density_rate)| [excess, density_rate, 0.0, 0.0]).collect()
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// As [`super::FluidGpuBackend::outlets_change_any`].
    pub(super) fn finds_any_to_go(&self, host: &Flow) -> Result<bool, GpuError> {
        let (n, now) = (self.n, self.now);
        let mut copies = self.gpu.copies();
        let kind = copies.add(&self.kind, 0..n);
        let position = copies.add(&self.position[now], 0..RECORD * n);
        let flow = copies.add(&self.flowing[now], 0..RECORD * n);
        let arrived = copies.wait()?;
        let (position, flow) = (doubles(&arrived.take(position)), doubles(&arrived.take(flow)));
        Ok(host.outlets_change_any(&arrived.take(kind), &position, &flow))
    }

    /// As [`super::FluidGpuBackend::set_out`].
    pub(super) fn take_kept(&self, host: &Flow) {
        self.gpu.write(&self.half_velocity, &numbers::<C>(kept_velocities(&host.fields)));
        self.gpu.write(&self.thermal, &numbers::<C>(kept_densities(&host.fields)));
    }
}
