//! What pictures need of particles on a GPU.

use super::{Number, OnGpu, vector};
use crate::glance::{Aboard, Glance, Glancing, OnItsWay, Shade, Survey};
use crate::simulation;
use crate::world::Vec3;
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::measure::{SURVEYED, glance_at_fluid, glance_at_grains, survey};
use seixo_sweeps::views::RECORD;

/// Particles of which so much is known before they are drawn, at most: so many say as much as all of where the scene is.
const MOST: usize = 1 << 15;

/// Where particles are and how fast, put where the steps leave it alone.
struct Put<R> {
    copies: Copies,
    places: Ticket<R>,
    values: Ticket<R>,
    id: Ticket<u32>,
    /// What is known of them once it is here, where they can be drawn from.
    survey: Option<(Copies, Ticket<R>)>,
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
    // Numbers of other sizes are not drawn from where they lie.
    let survey = (size_of::<R>() == size_of::<f32>()).then(|| survey_of(gpu, &places, &values));
    let [places, values] = [places, values].map(|buffer: Buffer<R>| copies.add(&buffer, 0..buffer.len()));
    Glancing::of(Put {
        survey,
        id: copies.add(&ids, 0..n),
        copies,
        places,
        values,
        count: n,
        is_fluid: fluid.is_some(),
    })
}

/// Finds out where these particles are.
fn survey_of<R: Number>(gpu: &Gpu, places: &Buffer<R>, values: &Buffer<R>) -> (Copies, Ticket<R>) {
    let n = values.len();
    let units_of_it = n.min(MOST);
    let found = gpu.parcel(RECORD * SURVEYED * units_of_it);
    let (count, dim) = units(units_of_it);
    let (places, values, to) = (places.records(), values.argument(), found.records());
    let shares = n.div_ceil(units_of_it) as u32;
    survey::launch::<R>(gpu.client(), count, dim, places, values, to, n as u32, units_of_it as u32, shares);
    let mut copies = gpu.copies();
    let ticket = copies.add(&found, 0..found.len());
    (copies, ticket)
}

impl Survey {
    /// What units of a GPU found.
    fn of<R: Number>(found: &[R]) -> Survey {
        let number = |value: &R| value.double() as f32;
        let units: &[[[R; RECORD]; SURVEYED]] = found.as_chunks().0.as_chunks().0;
        let mut survey = Survey {
            some: Vec::with_capacity(units.len()),
            corners: [[f32::INFINITY; RECORD], [f32::NEG_INFINITY; RECORD]],
            seen: 0,
            mean_radius: 0.0,
        };
        for [place, sums, lowest, highest] in units.iter().map(|unit| unit.each_ref().map(|record| record.each_ref().map(number))) {
            let [value, radii, count, _] = sums;
            survey.some.push((place, value));
            if count > 0.0 {
                survey.seen += count as usize;
                survey.mean_radius += f64::from(radii);
                let [low, high] = &mut survey.corners;
                *low = std::array::from_fn(|axis| low[axis].min(lowest[axis]));
                *high = std::array::from_fn(|axis| high[axis].max(highest[axis]));
            }
        }
        survey.mean_radius /= survey.seen.max(1) as f64;
        survey
    }
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

    fn lend(&mut self) -> Result<Option<Vec<Aboard>>, GpuError> {
        let Some((copies, ticket)) = self.survey.take() else {
            return Ok(None);
        };
        let Some((lent, arrived)) = self.copies.lend(&[&self.places, &self.values], copies)? else {
            return Ok(None);
        };
        let survey = arrived.make(ticket, Survey::of::<R>);
        let two = <[_; 2]>::try_from(lent).ok();
        let aboard = |[places, values]: [_; 2]| Aboard {
            places,
            values,
            count: self.count,
            is_fluid: self.is_fluid,
            survey,
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
