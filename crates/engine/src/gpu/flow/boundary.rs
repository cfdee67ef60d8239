//! Wall particles: each step places those of moving walls according to the poses, which the host sends for a batch of steps. Then it computes their
//! pressures and velocities as the fluid sees them.

use super::GpuFluid;
use crate::flow::Flow;
use crate::gpu::step::BATCH;
use crate::gpu::{Number, numbers, stepping};
use crate::surroundings::Surroundings;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::boundary::{place_boundary, wall_pressures};
use seixo_sweeps::wall_pose::POSE;
use std::sync::Arc;

/// Motion of the walls with particles.
pub(super) struct WallParticleMotion<C> {
    walls: usize,
    /// Whether each wall moves.
    moves: Buffer<u32>,
    /// Positions of the wall particles at the start of the motions of their walls, three numbers each, in the order of their ids.
    start: Buffer<C>,
    poses: Buffer<C>,
    servos: Arc<Buffer<C>>,
    /// Whether grains on this GPU have the same servos.
    shares_servos: bool,
}

impl<C: Number> WallParticleMotion<C> {
    /// Motion of the host's walls, with these servos if grains on the GPU have them. `None` if no wall moves, or if no wall bounds fluids.
    pub fn new(
        gpu: &Gpu,
        host: &Flow,
        surroundings: &Surroundings,
        servos: Option<Arc<Buffer<C>>>,
    ) -> Result<Option<WallParticleMotion<C>>, GpuError> {
        let walls = &surroundings.walls;
        if host.plan.boundary.position.is_empty() || !walls.has_moving() {
            return Ok(None);
        }
        let count = walls.given.len();
        // Body boundaries are numbered behind walls, and are moved by another kernel.
        let of_body_boundaries = std::iter::repeat_n(0, host.body_boundaries.body_index.len());
        let moves: Vec<u32> = (0..count)
            .map(|wall| u32::from(walls.moves(wall)))
            .chain(of_body_boundaries)
            .collect();
        let upload = |values: &[f64]| gpu.upload(&numbers::<C>(values.iter().copied()), "walls");
        Ok(Some(WallParticleMotion {
            walls: count,
            moves: gpu.upload(&moves, "walls")?,
            start: upload(host.plan.boundary.position.as_flattened())?,
            poses: gpu.buffer((BATCH + 1) * count * POSE, "poses of walls")?,
            shares_servos: servos.is_some(),
            servos: match servos {
                Some(servos) => servos,
                None => Arc::new(upload(&walls.servos)?),
            },
        }))
    }

    /// Sends the poses at a step and at this many more, and the present servos if grains are elsewhere.
    fn send(&self, gpu: &Gpu, surroundings: &Surroundings, step: u64, more: u64) {
        let mut poses = Vec::with_capacity(self.poses.len());
        for step in step..=step + more {
            let time = step as f64 * surroundings.context.stepping.dt;
            surroundings
                .walls
                .poses_within(surroundings.context.domain.as_ref(), time, &mut poses);
        }
        gpu.write_part(&self.poses, 0, &numbers::<C>(poses));
        self.send_servos(gpu, surroundings);
    }

    /// Sends the present servos, if grains are elsewhere.
    fn send_servos(&self, gpu: &Gpu, surroundings: &Surroundings) {
        if surroundings.walls.has_servos() && !self.shares_servos {
            gpu.write(&self.servos, &numbers::<C>(surroundings.walls.servos.iter().copied()));
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Sends the present servos, if grains are elsewhere.
    pub(super) fn send_servos(&self, surroundings: &Surroundings) {
        if let Some(carriage) = &self.carriage {
            carriage.send_servos(&self.gpu, surroundings);
        }
    }

    /// Sends the poses of walls at a step and at the next `more` steps.
    pub(super) fn send_poses(&self, surroundings: &Surroundings, step: u64, more: u64) {
        if let Some(carriage) = &self.carriage {
            carriage.send(&self.gpu, surroundings, step, more);
        }
    }

    /// Places wall particles and body boundary particles at this step. With `watch`, the step halts if one is too far from its listed position.
    pub(super) fn place_boundaries(&self, host: &Flow, parity: u32, watch: bool) {
        self.place_walls(host, parity, watch);
        self.place_body_boundaries(host, parity, watch);
        if watch {
            self.halt_with_grains(parity);
        }
    }

    /// Places wall particles at this step. With `watch`, the step halts if one is too far from its listed position.
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

    /// Computes velocities and pressures of wall particles as the fluid sees them. Outlet particles are relaxed towards the fluid if the step
    /// `leads`.
    pub(super) fn wall_particle_pressures_on_gpu(&self, host: &Flow, parity: u32, leads: bool) {
        if self.bounding == 0 {
            return;
        }
        let (count, dim) = units(self.bounding);
        let poses = self.carriage.as_ref().map(|carriage| &carriage.poses);
        let (body, spin) = self
            .body_boundaries
            .as_ref()
            .map_or((&self.nothing, &self.at_rest), |body_boundaries| body_boundaries.turning());
        wall_pressures::launch::<R, C>(
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
            host.body_boundaries.first[0],
            self.bounding as u32,
            parity,
            self.plan,
            poses.is_some(),
            host.body_boundaries.across,
            leads,
        );
    }
}
