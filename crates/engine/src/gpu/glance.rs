//! What pictures need of grains on a GPU.

use super::{Number, OnGpu, vector};
use crate::glance::{Glance, Glancing, Shade};
use crate::simulation;
use crate::world::Vec3;
use seixo_device::gpu::{Buffer, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::measure::glance;
use seixo_sweeps::views::RECORD;

/// Places with radii, and numbers, for pictures.
pub struct Glanced<R> {
    places: Buffer<R>,
    values: Buffer<R>,
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Queues a copy of what pictures need: whoever waits for it, waits while the steps go on.
    pub(super) fn glance_at(&mut self, origin: Vec3, shade: Shade) -> Result<Glancing, GpuError> {
        let n = self.n;
        if n == 0 {
            return Ok(Glancing(Box::new(|| Ok(Glance::default()))));
        }
        let gpu = &self.gpu;
        let glanced = match self.glanced.take().filter(|glanced| glanced.values.len() >= n) {
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
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            glanced.places.records(),
            glanced.values.argument(),
            vector(&simulation::vector(origin)),
            n as u32,
            shade.number(),
        );
        let places = gpu.download_part(&glanced.places, 0..RECORD * n);
        let (values, id) = (gpu.download_part(&glanced.values, 0..n), gpu.download_part(&self.id, 0..n));
        self.glanced = Some(glanced);
        Ok(Glancing(Box::new(move || {
            let number = |value: &R| value.double() as f32;
            let places = places.wait_to(|places| {
                places
                    .as_chunks()
                    .0
                    .iter()
                    .map(|place: &[R; RECORD]| place.each_ref().map(number))
                    .collect()
            });
            let values = values.wait_to(|values| values.iter().map(number).collect());
            let failed = |error: GpuError| error.to_string();
            Ok(Glance {
                places: places.map_err(failed)?,
                values: values.map_err(failed)?,
                id: id.wait().map_err(failed)?,
                grains: n,
            })
        })))
    }
}
