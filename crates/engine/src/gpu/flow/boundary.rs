//! Particles of walls: each step puts those that move where poses have them, which the host sends for a batch of steps; and what fluid sees in all of
//! them.

use super::FlowOnGpu;
use crate::flow::Flow;
use crate::gpu::step::BATCH;
use crate::gpu::{Number, numbers, stepping};
use crate::simulation::Simulation;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::boundary::{place_boundary, press_walls};
use seixo_sweeps::pose::POSE;

/// What tells where the particles of walls are.
pub(super) struct Carriage<C> {
    walls: usize,
    /// Whether each wall moves.
    moves: Buffer<u32>,
    /// Where particles are when the motions of their walls begin, three numbers each, in the order of their ids.
    start: Buffer<C>,
    poses: Buffer<C>,
    servos: Buffer<C>,
}

impl<C: Number> Carriage<C> {
    /// That of the host's walls; none where no wall moves, or none bounds fluids.
    pub fn new(gpu: &Gpu, host: &Flow, simulation: &Simulation) -> Result<Option<Carriage<C>>, GpuError> {
        let walls = &simulation.walls;
        if host.plan.boundary.position.is_empty() || !walls.has_moving() {
            return Ok(None);
        }
        let count = walls.given.len();
        // Hulls of bodies are numbered behind walls, and are moved by other means.
        let of_hulls = std::iter::repeat_n(0, host.hulls.seat.len());
        let moves: Vec<u32> = (0..count).map(|wall| u32::from(walls.moves(wall))).chain(of_hulls).collect();
        let upload = |values: &[f64]| gpu.upload(&numbers::<C>(values.iter().copied()), "walls");
        Ok(Some(Carriage {
            walls: count,
            moves: gpu.upload(&moves, "walls")?,
            start: upload(host.plan.boundary.position.as_flattened())?,
            poses: gpu.buffer((BATCH + 1) * count * POSE, "poses of walls")?,
            servos: upload(&walls.servos)?,
        }))
    }

    /// Sends the poses at a step and at so many more.
    fn send(&self, gpu: &Gpu, simulation: &Simulation, step: u64, more: u64) {
        let mut poses = Vec::with_capacity(self.poses.len());
        for step in step..=step + more {
            let time = step as f64 * simulation.stepping.dt;
            simulation.walls.poses_within(simulation.domain.as_ref(), time, &mut poses);
        }
        gpu.write_part(&self.poses, 0, &numbers::<C>(poses));
    }
}

impl<C: Number + Coordinate<R>, R: Number> FlowOnGpu<C, R> {
    /// Lets walls be where they are at a step and at so many more, which come next.
    pub(super) fn send_poses(&self, simulation: &Simulation, step: u64, more: u64) {
        if let Some(carriage) = &self.carriage {
            carriage.send(&self.gpu, simulation, step, more);
        }
    }

    /// Puts particles of walls and of bodies where they are at this step; with `watch`, those too far from where they are listed halt it.
    pub(super) fn place_boundaries(&self, host: &Flow, parity: u32, watch: bool) {
        self.place_walls(host, parity, watch);
        self.place_hulls(host, parity, watch);
    }

    /// Puts particles of walls where they are at this step; with `watch`, those too far from where they are listed halt it.
    fn place_walls(&self, host: &Flow, parity: u32, watch: bool) {
        let Some(carriage) = self.carriage.as_ref().filter(|_| self.bounding > 0) else {
            return;
        };
        let (count, dim) = units(self.bounding);
        place_boundary::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.walls.argument(),
            self.id.argument(),
            self.kind.argument(),
            carriage.moves.argument(),
            carriage.start.argument(),
            self.at_rest.argument(),
            carriage.poses.argument(),
            carriage.servos.argument(),
            self.reference.records(),
            self.position[self.now].records(),
            self.motion.records(),
            self.half_velocity.records(),
            self.flags.argument(),
            stepping::<C, R>(&host.stepping),
            carriage.walls as u32,
            self.bounding as u32,
            parity,
            self.plan.sides,
            watch,
        );
    }

    /// Finds what fluid sees in walls; what is in outlets follows the fluid if it `leads`.
    pub(super) fn press(&self, host: &Flow, parity: u32, leads: bool) {
        if self.bounding == 0 {
            return;
        }
        let (count, dim) = units(self.bounding);
        let poses = self.carriage.as_ref().map(|carriage| &carriage.poses);
        let (body, spin) = self.hulls.as_ref().map_or((&self.nothing, &self.at_rest), |hulls| hulls.turning());
        press_walls::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.walls.argument(),
            self.kind.argument(),
            self.slips.argument(),
            self.at_rest.argument(),
            poses.unwrap_or(&self.at_rest).argument(),
            body.argument(),
            spin.argument(),
            self.media.argument(),
            self.position[self.now].argument(),
            self.flowing[self.now].argument(),
            self.motion.records(),
            self.half_velocity.records(),
            self.seen.records(),
            self.flags.argument(),
            self.smoother(host),
            stepping::<C, R>(&host.stepping),
            R::of(host.pace_in_outlets()),
            host.hulls.first[0],
            self.bounding as u32,
            parity,
            self.plan,
            poses.is_some(),
            host.hulls.across,
            leads,
        );
    }
}
