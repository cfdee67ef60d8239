//! What pictures need of particles on a GPU.

use super::{Number, OnGpu, vector};
use crate::glance::{Glance, Glancing, Shade};
use crate::simulation;
use crate::world::Vec3;
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::measure::glance;
use seixo_sweeps::views::RECORD;

/// What n particles are and how fast, with words of theirs, which is to come from a GPU.
pub struct Arriving<R, const WORDS: usize> {
    copies: Copies,
    places: Ticket<R>,
    values: Ticket<R>,
    words: [Ticket<u32>; WORDS],
}

/// Places with radii, numbers and words.
pub type Arrived<const WORDS: usize> = (Vec<[f32; 4]>, Vec<f32>, [Vec<u32>; WORDS]);

impl<R: Number, const WORDS: usize> Arriving<R, WORDS> {
    /// Puts them where the steps leave them alone.
    pub fn put<C: Number + Coordinate<R>>(
        gpu: &Gpu,
        (position, velocity, n): (&Buffer<C>, &Buffer<R>, usize),
        words: [&Buffer<u32>; WORDS],
        (origin, shade): (Vec3, Shade),
    ) -> Arriving<R, WORDS> {
        let (places, values) = (gpu.parcel(RECORD * n), gpu.parcel(n));
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
        let mut copies = gpu.copies();
        let [places, values] = [places, values].map(|buffer| copies.add(&buffer, 0..buffer.len()));
        // The steps put particles in another order.
        let words = words.map(|words| {
            let parcel = gpu.parcel(n);
            gpu.copy(words, n, &parcel);
            copies.add(&parcel, 0..n)
        });
        Arriving {
            copies,
            places,
            values,
            words,
        }
    }

    /// Brings them here, and waits for that: on the thread of who looks, as a word with the device takes as long as some steps.
    pub fn wait(self) -> Result<Arrived<WORDS>, GpuError> {
        let number = |value: &R| value.double() as f32;
        let of_places = |places: &[R]| {
            let places: &[[R; RECORD]] = places.as_chunks().0;
            places.iter().map(|place| place.each_ref().map(number)).collect()
        };
        let arrived = self.copies.carry_off().wait()?;
        Ok((
            arrived.make(self.places, of_places),
            arrived.make(self.values, |values| values.iter().map(number).collect()),
            self.words.map(|words| arrived.take(words)),
        ))
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Puts aside what pictures need: whoever waits for it, waits while the steps go on.
    pub(super) fn glance_at(&self, origin: Vec3, shade: Shade) -> Glancing {
        if self.n == 0 {
            return Glancing::of(Glance::default());
        }
        let from = (&self.position[self.now], &self.velocity[self.now], self.n);
        let arriving = Arriving::put(&self.gpu, from, [&self.id], (origin, shade));
        Glancing::coming(move || {
            let (places, values, [id]) = arriving.wait()?;
            Ok(Glance {
                id,
                grains: places.len(),
                places,
                values,
            })
        })
    }
}
