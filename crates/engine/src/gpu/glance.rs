//! What pictures need of particles on a GPU.

use super::{Number, OnGpu, vector};
use crate::glance::{Glance, Glancing, Shade};
use crate::simulation;
use crate::world::Vec3;
use seixo_device::gpu::{Buffer, Download, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::measure::glance;
use seixo_sweeps::views::RECORD;

/// Memory for places with radii and for numbers, which is used again.
pub struct Glanced<R> {
    places: Buffer<R>,
    values: Buffer<R>,
}

/// Places with radii and numbers on their way.
pub struct Arriving<R> {
    places: Download<R>,
    values: Download<R>,
}

impl<R: Number> Arriving<R> {
    /// Queues copies of what n particles are and how fast.
    pub fn queue<C: Number + Coordinate<R>>(
        kept: &mut Option<Glanced<R>>,
        gpu: &Gpu,
        (position, velocity, n): (&Buffer<C>, &Buffer<R>, usize),
        (origin, shade): (Vec3, Shade),
    ) -> Result<Arriving<R>, GpuError> {
        let glanced = match kept.take().filter(|glanced| glanced.values.len() >= n) {
            Some(glanced) => glanced,
            None => Glanced {
                places: gpu.buffer(RECORD * n, "pictures")?,
                values: gpu.buffer(n, "pictures")?,
            },
        };
        let (count, dim) = units(n);
        glance::launch::<R, C>(
            gpu.client(),
            count,
            dim,
            position.records(),
            velocity.records(),
            glanced.places.records(),
            glanced.values.argument(),
            vector(&simulation::vector(origin)),
            n as u32,
            shade.number(),
        );
        let arriving = Arriving {
            places: gpu.download_part(&glanced.places, 0..RECORD * n),
            values: gpu.download_part(&glanced.values, 0..n),
        };
        *kept = Some(glanced);
        Ok(arriving)
    }

    /// Waits for them.
    pub fn wait(self) -> Result<(Vec<[f32; 4]>, Vec<f32>), GpuError> {
        let number = |value: &R| value.double() as f32;
        let of_places = |places: &[R]| {
            let places: &[[R; RECORD]] = places.as_chunks().0;
            places.iter().map(|place| place.each_ref().map(number)).collect()
        };
        let places = self.places.wait_to(of_places)?;
        Ok((places, self.values.wait_to(|values| values.iter().map(number).collect())?))
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Queues a copy of what pictures need: whoever waits for it, waits while the steps go on.
    pub(super) fn glance_at(&mut self, origin: Vec3, shade: Shade) -> Result<Glancing, GpuError> {
        let n = self.n;
        if n == 0 {
            return Ok(Glancing::of(Glance::default()));
        }
        let from = (&self.position[self.now], &self.velocity[self.now], n);
        let arriving = Arriving::queue(&mut self.glanced, &self.gpu, from, (origin, shade))?;
        let id = self.gpu.download_part(&self.id, 0..n);
        Ok(Glancing::coming(move || {
            let (places, values) = arriving.wait()?;
            Ok(Glance {
                id: id.wait()?,
                places,
                values,
                grains: n,
            })
        }))
    }
}
