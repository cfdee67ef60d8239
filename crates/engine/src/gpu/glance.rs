//! What pictures need of particles on a GPU.

use super::{Number, OnGpu, vector};
use crate::glance::{Glance, Glancing, Shade};
use crate::simulation;
use crate::world::Vec3;
use seixo_device::gpu::{Buffer, Download, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::measure::glance;
use seixo_sweeps::views::RECORD;

/// Places with radii and numbers on their way.
pub struct Arriving<R> {
    places: Download<R>,
    values: Download<R>,
}

impl<R: Number> Arriving<R> {
    /// Queues copies of what n particles are and how fast.
    pub fn queue<C: Number + Coordinate<R>>(
        gpu: &Gpu,
        (position, velocity, n): (&Buffer<C>, &Buffer<R>, usize),
        (origin, shade): (Vec3, Shade),
    ) -> Result<Arriving<R>, GpuError> {
        let (places, values) = (gpu.scratch(RECORD * n)?, gpu.scratch(n)?);
        let (count, dim) = units(n);
        glance::launch::<R, C>(
            gpu.client(),
            count,
            dim,
            position.records(),
            velocity.records(),
            places.records(),
            values.argument(),
            vector(&simulation::vector(origin)),
            n as u32,
            shade.number(),
        );
        Ok(Arriving {
            places: gpu.carry_off(places),
            values: gpu.carry_off(values),
        })
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

/// Queues a copy of the first words of a buffer, which the steps may change meanwhile.
pub fn queue_words(gpu: &Gpu, from: &Buffer<u32>, n: usize) -> Result<Download<u32>, GpuError> {
    let words = gpu.scratch(n)?;
    gpu.copy(from, n, &words);
    Ok(gpu.carry_off(words))
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Queues a copy of what pictures need: whoever waits for it, waits while the steps go on.
    pub(super) fn glance_at(&self, origin: Vec3, shade: Shade) -> Result<Glancing, GpuError> {
        let n = self.n;
        if n == 0 {
            return Ok(Glancing::of(Glance::default()));
        }
        let from = (&self.position[self.now], &self.velocity[self.now], n);
        let arriving = Arriving::queue(&self.gpu, from, (origin, shade))?;
        let id = queue_words(&self.gpu, &self.id, n)?;
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
