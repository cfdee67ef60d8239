//! What pictures need of particles on a GPU.

use super::{Number, OnGpu, vector};
use crate::glance::{Aboard, Glance, Glancing, OnItsWay, Shade};
use crate::simulation;
use crate::world::Vec3;
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::measure::{glance_at_fluid, glance_at_grains};
use seixo_sweeps::views::RECORD;

/// Where particles are and how fast, put where the steps leave it alone.
struct Put<R> {
    copies: Copies,
    places: Ticket<R>,
    values: Ticket<R>,
    id: Ticket<u32>,
    count: usize,
    is_fluid: bool,
}

/// Particles: where they are, how fast, their ids, and how many.
pub type From<'a, C, R> = (&'a Buffer<C>, &'a Buffer<R>, &'a Buffer<u32>, usize);

/// Puts aside what pictures need, of fluids with their kinds and the radius to show them with: whoever waits for it, waits while the steps go on.
pub fn put_aside<C: Number + Coordinate<R>, R: Number>(
    gpu: &Gpu,
    (position, velocity, id, n): From<C, R>,
    fluid: Option<(&Buffer<u32>, R)>,
    (origin, shade): (Vec3, Shade),
) -> Glancing {
    if n == 0 {
        return Glancing::of(Glance::default());
    }
    let (places, values) = (gpu.parcel(RECORD * n), gpu.parcel(n));
    let (count, dim) = units(n);
    let from = (position.records(), velocity.records());
    let to = (places.records(), values.argument());
    let origin = vector(&simulation::vector(origin));
    match fluid {
        None => glance_at_grains::launch::<R, C>(
            gpu.client(),
            count,
            dim,
            from.0,
            from.1,
            to.0,
            to.1,
            origin,
            n as u32,
            shade.number(),
        ),
        Some((kind, radius)) => glance_at_fluid::launch::<R, C>(
            gpu.client(),
            count,
            dim,
            from.0,
            from.1,
            kind.argument(),
            to.0,
            to.1,
            origin,
            radius,
            n as u32,
            shade.number(),
        ),
    }
    // The steps put particles in another order.
    let ids = gpu.parcel(n);
    gpu.copy(id, n, &ids);
    let mut copies = gpu.copies();
    let [places, values] = [places, values].map(|buffer: Buffer<R>| copies.add(&buffer, 0..buffer.len()));
    Glancing::of(Put {
        id: copies.add(&ids, 0..n),
        copies,
        places,
        values,
        count: n,
        is_fluid: fluid.is_some(),
    })
}

impl<R: Number> OnItsWay for Put<R> {
    /// On the thread of who looks, as a word with the device takes as long as some steps.
    fn wait(self: Box<Self>) -> Result<Glance, GpuError> {
        let number = |value: &R| value.double() as f32;
        let of_places = |places: &[R]| {
            let places: &[[R; RECORD]] = places.as_chunks().0;
            places.iter().map(|place| place.each_ref().map(number)).collect()
        };
        let arrived = self.copies.carry_off().wait()?;
        let all = Glance {
            places: arrived.make(self.places, of_places),
            values: arrived.make(self.values, |values| values.iter().map(number).collect()),
            id: arrived.take(self.id),
            grains: 0,
        };
        if !self.is_fluid {
            return Ok(Glance {
                grains: all.id.len(),
                ..all
            });
        }
        let shown = |k: &usize| all.places[*k][RECORD - 1] > 0.0;
        let shown: Vec<usize> = (0..all.id.len()).filter(shown).collect();
        Ok(Glance {
            id: shown.iter().map(|&k| all.id[k]).collect(),
            places: shown.iter().map(|&k| all.places[k]).collect(),
            values: shown.iter().map(|&k| all.values[k]).collect(),
            grains: 0,
        })
    }

    fn lend(&self) -> Result<Option<Vec<Aboard>>, GpuError> {
        if size_of::<R>() != size_of::<f32>() {
            return Ok(None);
        }
        let lent = self.copies.lend(&[&self.places, &self.values])?;
        let two = lent.and_then(|lent| <[_; 2]>::try_from(lent).ok());
        let aboard = |[places, values]: [_; 2]| Aboard {
            places,
            values,
            count: self.count,
            is_fluid: self.is_fluid,
        };
        Ok(two.map(|two| vec![aboard(two)]))
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Puts aside what pictures need of grains.
    pub(super) fn glance_at(&self, origin: Vec3, shade: Shade) -> Glancing {
        let from = (&self.position[self.now], &self.velocity[self.now], &self.id, self.n);
        put_aside(&self.gpu, from, None, (origin, shade))
    }
}
