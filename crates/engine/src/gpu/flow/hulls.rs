//! Rigid bodies that fluids on a GPU feel. Where bodies are on the same GPU, both look at the same records of them, and a step that halts for the one
//! halts for the other; else the host tells where bodies are, and gets their loads.

use super::FlowOnGpu;
use crate::bodies::Bodies;
use crate::flow::Flow;
use crate::gpu::{FeltBodies, Number, OfBodies, doubles, numbers, stepping};
use crate::simulation::Simulation;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::kernels::UNITS;
use seixo_sweeps::kernels::hulls::{bear_on_bodies, find_hulls, halt_together, place_hulls};
use seixo_sweeps::views::RECORD;
use std::any::Any;
use std::sync::Arc;

/// Hulls on a GPU.
pub(super) struct HullsOnGpu<C> {
    hulls: usize,
    pub particles: usize,
    /// Kind of the first, and id of its first particle.
    pub first: [u32; 2],
    /// First particle of each, and one more.
    row: Buffer<u32>,
    /// Bodies of hulls and of their particles, by their places in the table.
    body: Buffer<u32>,
    pub body_of: Buffer<u32>,
    offset: Buffer<C>,
    /// Where the particles are among all.
    pub place: Buffer<u32>,
    pub bodies: Arc<FeltBodies<C>>,
    /// Flags of grains that wait for fluids.
    flags_of_grains: Option<Arc<Buffer<u32>>>,
    /// Of each hull: the sum of the powers that its body gained at all steps, and that of now \[W\].
    power: Buffer<C>,
    booked: f64,
}

impl<C: Number> HullsOnGpu<C> {
    /// Those of the host; none where there are none. Bodies may be on the GPU already.
    pub fn new(
        gpu: &Gpu,
        host: &Flow,
        simulation: &Simulation,
        of_bodies: Option<Box<dyn Any>>,
    ) -> Result<Option<HullsOnGpu<C>>, GpuError> {
        if host.hulls.is_empty() {
            return Ok(None);
        }
        let layout = &host.hulls;
        let of_bodies = of_bodies.and_then(|shared| shared.downcast::<OfBodies<C>>().ok());
        let (bodies, flags_of_grains) = match of_bodies {
            Some(shared) => (shared.bodies, Some(shared.flags)),
            None => (Arc::new(FeltBodies::new(gpu, &simulation.bodies)?), None),
        };
        let particles = layout.offset.len() / RECORD;
        let body: Vec<u32> = layout.seat.iter().map(|seat| seat.unwrap_or(FREE)).collect();
        let rows = layout.row.windows(2).zip(&body);
        let body_of: Vec<u32> = rows.flat_map(|(row, &b)| vec![b; (row[1] - row[0]) as usize]).collect();
        Ok(Some(HullsOnGpu {
            hulls: body.len(),
            particles,
            first: [WALL | layout.first[0], WALL | layout.first[1]],
            row: gpu.upload(&layout.row, "hulls of bodies")?,
            power: gpu.zeros(2 * body.len(), "hulls of bodies")?,
            body: gpu.upload(&body, "hulls of bodies")?,
            body_of: gpu.upload(&body_of, "hulls of bodies")?,
            offset: gpu.upload(&numbers::<C>(layout.offset.iter().copied()), "hulls of bodies")?,
            place: gpu.upload(&vec![FREE; particles], "hulls of bodies")?,
            bodies,
            flags_of_grains,
            booked: 0.0,
        }))
    }

    /// Where their bodies are in the table, and how bodies turn.
    pub fn turning(&self) -> (&Buffer<u32>, &Buffer<C>) {
        (&self.body, &self.bodies.spin)
    }

    /// Kind of the first.
    pub fn first_kind(&self) -> u32 {
        self.first[0]
    }
}

impl<C: Number + Coordinate<R>, R: Number> FlowOnGpu<C, R> {
    /// Notes where the particles of hulls are in a new order.
    pub(super) fn find_hulls(&self) {
        let Some(hulls) = &self.hulls else { return };
        let (count, dim) = units(self.n);
        find_hulls::launch(
            self.gpu.client(),
            count,
            dim,
            self.id.argument(),
            hulls.place.argument(),
            hulls.first[1],
            self.n as u32,
        );
    }

    /// Puts the particles of hulls where bodies are at this step; with `watch`, those too far from where they are listed halt it. Grains that wait for
    /// fluids halt then, too, as fluids do with them.
    pub(super) fn place_hulls(&self, host: &Flow, parity: u32, watch: bool) {
        let Some(hulls) = &self.hulls else { return };
        let (count, dim) = units(hulls.particles);
        place_hulls::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            hulls.place.argument(),
            hulls.body_of.argument(),
            hulls.offset.argument(),
            hulls.bodies.center.argument(),
            hulls.bodies.turn.argument(),
            hulls.bodies.velocity.argument(),
            hulls.bodies.spin.argument(),
            self.reference.records(),
            self.position[self.now].records(),
            self.motion.records(),
            self.flags.argument(),
            stepping::<C, C>(&host.stepping),
            hulls.particles as u32,
            parity,
            self.plan.sides,
            host.hulls.across,
            watch,
        );
        if let Some(flags) = hulls.flags_of_grains.as_ref().filter(|_| watch) {
            let (count, dim) = units(1);
            halt_together::launch(self.gpu.client(), count, dim, self.flags.argument(), flags.argument(), parity);
        }
    }

    /// Sums up what fluids do to bodies; powers are added up, too, if the step `adds_up`.
    pub(super) fn bear_on_bodies(&self, parity: u32, adds_up: bool) {
        let Some(hulls) = &self.hulls else { return };
        let (count, dim) = units(hulls.hulls * UNITS);
        bear_on_bodies::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            hulls.row.argument(),
            hulls.body.argument(),
            hulls.place.argument(),
            hulls.offset.argument(),
            hulls.bodies.turn.argument(),
            hulls.bodies.velocity.argument(),
            hulls.bodies.spin.argument(),
            self.rate.records(),
            hulls.bodies.load.argument(),
            hulls.power.argument(),
            self.flags.argument(),
            hulls.hulls as u32,
            parity,
            adds_up,
        );
    }

    /// Brings loads of bodies to the host, and the powers that they gain now; returns the sum of those that they gained at all steps since the last
    /// time \[W\].
    pub(super) fn tell_of_hulls(&mut self, host: &mut Flow) -> Result<f64, GpuError> {
        let Some(hulls) = &mut self.hulls else { return Ok(0.0) };
        let mut copies = self.gpu.copies();
        let load = copies.add(&hulls.bodies.load, 0..hulls.bodies.load.len());
        let power = copies.add(&hulls.power, 0..hulls.power.len());
        let arrived = copies.wait()?;
        let power = doubles(&arrived.take(power));
        let sum = |which: usize| power.iter().skip(which).step_by(2).sum::<f64>();
        host.hulls.load = doubles(&arrived.take(load));
        host.hulls.power = sum(1);
        Ok(sum(0) - std::mem::replace(&mut hulls.booked, sum(0)))
    }

    /// As [`super::RemoteFlow::see_bodies`].
    pub(super) fn see(&self, bodies: &Bodies) {
        if let Some(hulls) = self.hulls.as_ref().filter(|hulls| hulls.flags_of_grains.is_none()) {
            hulls.bodies.move_as(&self.gpu, bodies);
        }
    }

    /// Waits for the flags; with them come loads of bodies that the host told of.
    pub(super) fn collect_flags(&self, host: &mut Flow) -> Result<Vec<u32>, GpuError> {
        let mut copies = self.gpu.copies();
        let flags = copies.add(&self.flags, 0..self.flags.len());
        let told = self.hulls.as_ref().filter(|hulls| hulls.flags_of_grains.is_none());
        let load = told.map(|hulls| copies.add(&hulls.bodies.load, 0..hulls.bodies.load.len()));
        let arrived = copies.wait()?;
        if let Some(load) = load {
            host.hulls.load = doubles(&arrived.take(load));
        }
        Ok(arrived.take(flags))
    }
}
