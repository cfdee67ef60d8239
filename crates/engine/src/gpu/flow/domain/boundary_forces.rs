//! Forces on body boundary particles, by their indices: those of this subdomain, then those of all subdomains.

use super::super::GpuFluid;
use super::super::body_boundary::GpuBodyBoundaries;
use crate::exchange::DecodeError;
use crate::flow::Flow;
use crate::gpu::{Number, doubles, numbers};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::body_boundary::forces_on_boundary_particles;
use seixo_sweeps::layout::RECORD;

/// Forces on all body boundary particles.
pub(in crate::gpu::flow) struct BoundaryForces<R> {
    /// The indices of the particles, in their order.
    order: Buffer<u32>,
    /// A record for each particle.
    force: Buffer<R>,
}

impl<R: Number> BoundaryForces<R> {
    /// Room for the particles of the host; `None` without any.
    pub fn new(gpu: &Gpu, host: &Flow) -> Result<Option<BoundaryForces<R>>, GpuError> {
        let particles = host.body_boundaries.particles();
        if particles == 0 {
            return Ok(None);
        }
        let order: Vec<u32> = (0..particles as u32).collect();
        Ok(Some(BoundaryForces {
            order: gpu.upload(&order, "body boundary particles")?,
            force: gpu.zeros(RECORD * particles, "body boundary particles")?,
        }))
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Forces on body boundary particles, if there are any in several subdomains.
    pub(in crate::gpu::flow) fn boundary_forces(&self) -> Option<&BoundaryForces<R>> {
        self.border.as_ref().and_then(|border| border.boundary_forces.as_ref())
    }

    /// Collects the forces on the particles of this subdomain.
    pub(in crate::gpu::flow) fn collect_boundary_forces(&self, body_boundaries: &GpuBodyBoundaries<C>, forces: &BoundaryForces<R>) {
        let (count, dim) = units(body_boundaries.particles);
        forces_on_boundary_particles::launch::<R>(
            self.gpu.client(),
            count,
            dim,
            body_boundaries.place.argument(),
            self.border().owned.argument(),
            self.rate.records(),
            forces.force.records(),
            body_boundaries.particles as u32,
        );
    }

    /// Downloads the forces on the particles of this subdomain into a message; none if no body is coupled to fluids.
    pub(super) fn boundary_force_message(&self) -> Result<Option<Vec<u8>>, GpuError> {
        let Some(forces) = self.boundary_forces() else { return Ok(None) };
        let force = doubles(&self.gpu.download(&forces.force)?);
        let own = force.chunks_exact(RECORD).zip(0..);
        Ok(Some(Flow::boundary_force_message(own.map(|(force, particle)| (particle, force)))))
    }

    /// Takes the forces on all particles from the messages of all subdomains, and sums them for the bodies.
    pub(super) fn sum_boundary_forces(&self, host: &mut Flow, messages: &[Vec<u8>], adds_up: bool) -> Result<(), DecodeError> {
        let Some(forces) = self.boundary_forces() else { return Ok(()) };
        host.apply_body_boundary_forces(messages)?;
        self.gpu
            .write(&forces.force, &numbers::<R>(host.body_boundaries.forces_of_all().iter().copied()));
        self.sum_forces_of(&forces.order, &forces.force, 0, adds_up);
        Ok(())
    }
}
