//! Rigid bodies that act on fluids on a GPU. If the bodies are on the same GPU, grains and fluids use the same records of them, and a halted step
//! halts both, see [`GpuFluid::halt_with_grains`]. Otherwise the host uploads the motion of bodies, and downloads their loads.

use super::GpuFluid;
use crate::bodies::Bodies;
use crate::flow::Flow;
use crate::gpu::{CoupledBodies, Number, doubles, numbers, stepping};
use crate::surroundings::Surroundings;
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::kernels::THREADS;
use seixo_sweeps::kernels::bodies::NOWHERE;
use seixo_sweeps::kernels::body_boundary::{halt_all, index_body_boundaries, mark_dry, place_body_boundaries, sum_forces_on_bodies};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::periodic::OPEN;
use std::sync::Arc;

/// Body boundary particles on a GPU.
pub(super) struct GpuBodyBoundaries<C> {
    body_boundaries: usize,
    pub particles: usize,
    /// Kind of the first body boundary, and id of its first particle.
    pub first: [u32; 2],
    /// First particle of each body boundary, and the end of the last.
    row: Buffer<u32>,
    /// Index of the body in the table, for each body boundary and for each particle.
    body: Buffer<u32>,
    pub body_of: Buffer<u32>,
    offset: Buffer<C>,
    /// Indices of these particles among all.
    pub place: Buffer<u32>,
    pub bodies: Arc<CoupledBodies<C>>,
    /// Whether grains on this GPU use the same records of bodies.
    shares_bodies: bool,
    /// Whether particles outside of the box of the fluid have no rows.
    skips_dry: bool,
    /// For each body boundary: the power that its body gains, summed over all steps, and the present one \[W\].
    power: Buffer<C>,
    ledger: f64,
}

impl<C: Number> GpuBodyBoundaries<C> {
    /// Body boundaries of the host; `None` without any. Bodies may already be on the GPU.
    pub fn new(
        gpu: &Gpu,
        host: &Flow,
        surroundings: &Surroundings,
        shared: Option<Arc<CoupledBodies<C>>>,
    ) -> Result<Option<GpuBodyBoundaries<C>>, GpuError> {
        if host.body_boundaries.is_empty() {
            return Ok(None);
        }
        let layout = &host.body_boundaries;
        let shares_bodies = shared.is_some();
        let bodies = match shared {
            Some(bodies) => bodies,
            None => Arc::new(CoupledBodies::new(gpu, surroundings.bodies)?),
        };
        let particles = layout.offset.len() / RECORD;
        let body: Vec<u32> = layout.body_index.iter().map(|body_index| body_index.unwrap_or(FREE)).collect();
        let rows = layout.row.windows(2).zip(&body);
        let body_of: Vec<u32> = rows.flat_map(|(row, &b)| vec![b; (row[1] - row[0]) as usize]).collect();
        Ok(Some(GpuBodyBoundaries {
            body_boundaries: body.len(),
            particles,
            first: [WALL | layout.first[0], WALL | layout.first[1]],
            row: gpu.upload(&layout.row, "body boundary particles")?,
            power: gpu.zeros(2 * body.len(), "body boundary particles")?,
            body: gpu.upload(&body, "body boundary particles")?,
            body_of: gpu.upload(&body_of, "body boundary particles")?,
            offset: gpu.upload(&numbers::<C>(layout.offset.iter().copied()), "body boundary particles")?,
            place: gpu.upload(&vec![FREE; particles], "body boundary particles")?,
            bodies,
            shares_bodies,
            skips_dry: surroundings.context.settings.broad_phase == Some(true) && shares_bodies,
            ledger: 0.0,
        }))
    }

    /// Indices of their bodies in the table, and angular velocities of all bodies.
    pub fn turning(&self) -> (&Buffer<u32>, &Buffer<C>) {
        (&self.body, &self.bodies.spin)
    }

    /// Kind of the first body boundary.
    pub fn first_kind(&self) -> u32 {
        self.first[0]
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Records the new indices of body boundary particles after a sort.
    pub(super) fn index_body_boundaries(&self) {
        let Some(body_boundaries) = &self.body_boundaries else { return };
        if self.boundary_forces().is_some() {
            self.gpu.write(&body_boundaries.place, &vec![NOWHERE; body_boundaries.place.len()]);
        }
        let (count, dim) = units(self.n);
        index_body_boundaries::launch(
            self.gpu.client(),
            count,
            dim,
            self.id.argument(),
            body_boundaries.place.argument(),
            body_boundaries.first[1],
            self.n as u32,
        );
    }

    /// Marks body boundary particles that no fluid can reach before the next rebuild, in the buffer of keys, if they are to have no rows: those
    /// outside of the box of the fluid and of small grains \[Silva 2010, Algorithm 7\]. Returns whether there are marks.
    pub(super) fn mark_dry_boundaries(&self, host: &Flow) -> Result<bool, GpuError> {
        let skipping = self.body_boundaries.as_ref().filter(|body_boundaries| body_boundaries.skips_dry);
        // Across periodic sides, fluid may be near a particle outside of its box.
        let Some(body_boundaries) = skipping.filter(|_| self.plan.sides == OPEN) else {
            return Ok(false);
        };
        let wet = self.cells.box_of_free(&self.gpu, &self.reference, Some(&self.member), self.n)?;
        let reach = host.plan.support + host.cells.skin;
        // Rounding of the distances of pairs.
        let margin = 64.0 * f64::from(f32::EPSILON) * (reach + if wet == Bounds::NOTHING { 0.0 } else { wet.farthest() });
        let wet = wet.widened(reach + margin);
        self.gpu.write(&self.cells.domain, &numbers::<C>([wet.low, wet.high].concat()));
        let (count, dim) = units(self.n);
        mark_dry::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            self.id.argument(),
            self.reference.records(),
            self.cells.domain.argument(),
            self.key.argument(),
            body_boundaries.first[1],
            self.n as u32,
        );
        Ok(true)
    }

    /// Places body boundary particles according to the bodies at this step. With `watch`, the step halts if one is too far from its listed position.
    pub(super) fn place_body_boundaries(&self, host: &Flow, parity: u32, watch: bool) {
        let Some(body_boundaries) = &self.body_boundaries else { return };
        let (count, dim) = units(body_boundaries.particles);
        place_body_boundaries::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            body_boundaries.place.argument(),
            body_boundaries.body_of.argument(),
            body_boundaries.offset.argument(),
            body_boundaries.bodies.center.argument(),
            body_boundaries.bodies.orientation.argument(),
            body_boundaries.bodies.velocity.argument(),
            body_boundaries.bodies.spin.argument(),
            self.reference.records(),
            self.position[self.now].records(),
            self.motion.records(),
            self.flags.argument(),
            stepping::<C, C>(&host.stepping),
            body_boundaries.particles as u32,
            parity,
            self.plan.sides,
            host.body_boundaries.across,
            watch,
        );
    }

    /// Halts grains on the same GPU if fluids halt at this step, and fluids if grains do.
    pub(super) fn halt_with_grains(&self, parity: u32) {
        if let Some(flags) = &self.flags_of_grains {
            let (count, dim) = units(1);
            halt_all::launch(self.gpu.client(), count, dim, self.flags.argument(), flags.argument(), parity);
        }
    }

    /// Sums the forces of fluids on bodies, or collects those on the boundary particles of this subdomain. If the step `adds_up`, powers are summed
    /// too.
    pub(super) fn sum_forces_on_bodies(&self, parity: u32, adds_up: bool) {
        let Some(body_boundaries) = &self.body_boundaries else { return };
        match self.boundary_forces() {
            Some(forces) => self.collect_boundary_forces(body_boundaries, forces),
            None => self.sum_forces_of(&body_boundaries.place, &self.rate, parity, adds_up),
        }
    }

    /// As [`GpuFluid::sum_forces_on_bodies`], from the forces at these indices of the boundary particles.
    pub(super) fn sum_forces_of(&self, place: &Buffer<u32>, rate: &Buffer<R>, parity: u32, adds_up: bool) {
        let Some(body_boundaries) = &self.body_boundaries else { return };
        let (count, dim) = units(body_boundaries.body_boundaries * THREADS);
        sum_forces_on_bodies::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            body_boundaries.row.argument(),
            body_boundaries.body.argument(),
            place.argument(),
            body_boundaries.offset.argument(),
            body_boundaries.bodies.orientation.argument(),
            body_boundaries.bodies.velocity.argument(),
            body_boundaries.bodies.spin.argument(),
            rate.records(),
            body_boundaries.bodies.load.argument(),
            body_boundaries.power.argument(),
            self.flags.argument(),
            body_boundaries.body_boundaries as u32,
            parity,
            adds_up,
        );
    }

    /// Downloads loads of bodies and the powers that they gain now. Returns the powers that they gained in all steps since the last time, as a sum
    /// \[W\].
    pub(super) fn body_boundary_message(&mut self, host: &mut Flow) -> Result<f64, GpuError> {
        let Some(body_boundaries) = &mut self.body_boundaries else {
            return Ok(0.0);
        };
        let mut copies = self.gpu.copies();
        let load = copies.add(&body_boundaries.bodies.load, 0..body_boundaries.bodies.load.len());
        let power = copies.add(&body_boundaries.power, 0..body_boundaries.power.len());
        let arrived = copies.wait()?;
        let power = doubles(&arrived.take(power));
        // All subdomains sum the same powers; one adds them to its ledger.
        let counts = host.body_boundaries.adds_to_ledger();
        let sum = |which: usize| {
            if counts {
                power.iter().skip(which).step_by(2).sum::<f64>()
            } else {
                0.0
            }
        };
        host.body_boundaries.load = doubles(&arrived.take(load));
        host.body_boundaries.power = sum(1);
        Ok(sum(0) - std::mem::replace(&mut body_boundaries.ledger, sum(0)))
    }

    /// As [`super::FluidGpuBackend::update_bodies`].
    pub(super) fn see(&self, bodies: &Bodies) {
        if let Some(body_boundaries) = self
            .body_boundaries
            .as_ref()
            .filter(|body_boundaries| !body_boundaries.shares_bodies)
        {
            body_boundaries.bodies.move_as(&self.gpu, bodies);
        }
    }

    /// Requests the loads on bodies, if these are not on this GPU.
    pub(super) fn request_loads(&self, copies: &mut Copies) -> Option<Ticket<C>> {
        let elsewhere = self
            .body_boundaries
            .as_ref()
            .filter(|body_boundaries| !body_boundaries.shares_bodies)?;
        let load = &elsewhere.bodies.load;
        Some(copies.add(load, 0..load.len()))
    }

    /// Stores the loads on bodies that have arrived.
    pub(super) fn receive_loads(host: &mut Flow, arrived: &Arrived, load: Option<Ticket<C>>) {
        if let Some(load) = load {
            host.body_boundaries.load = doubles(&arrived.take(load));
        }
    }
}
