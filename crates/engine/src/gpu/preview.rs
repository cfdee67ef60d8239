//! Previews of particles on a GPU.

use super::{GpuGrains, Number, vector};
use crate::preview::{ColorScalar, GpuPreview, PendingPreview, Preview, PreviewBounds, PreviewTransfer};
use crate::world;
use crate::world::Vec3;
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::measure::{BOUNDS_RECORDS, preview_bounds, preview_fluid, preview_grains};
use seixo_sweeps::layout::RECORD;

/// Maximum number of particles that are sampled for the bounds of a preview: this many describe the extent of a scene as well as all.
const MAX: usize = 1 << 15;

/// Positions and values of particles, copied to buffers that steps do not change.
struct Put<R> {
    copies: Copies,
    places: Ticket<R>,
    values: Ticket<R>,
    id: Ticket<u32>,
    /// Downloads of the bounds of the particles, if they can be drawn from GPU memory.
    survey: Option<(Copies, Ticket<R>)>,
    count: usize,
    is_fluid: bool,
}

/// Particles: positions, velocities, ids, and their number.
pub type PreviewSource<'a, C, R> = (&'a Buffer<C>, &'a Buffer<R>, &'a Buffer<u32>, usize);

/// Copies the data for a preview; of fluids with their kinds and their radius in previews. The steps go on while the receiver waits for the copy.
pub fn copy_for_preview<C: Number + Coordinate<R>, R: Number>(
    gpu: &Gpu,
    (position, velocity, id, n): PreviewSource<C, R>,
    fluid: Option<(&Buffer<u32>, R)>,
    (origin, shade): (Vec3, ColorScalar),
) -> PendingPreview {
    if n == 0 {
        return PendingPreview::of(Preview::default());
    }
    let (places, values) = (gpu.parcel(RECORD * n), gpu.parcel(n));
    let (count, dim) = units(n);
    let from = (position.records(), velocity.records());
    let to = (places.records(), values.argument());
    let origin = vector(&world::vector(origin));
    match fluid {
        None => preview_grains::launch::<R, C>(
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
        Some((kind, radius)) => preview_fluid::launch::<R, C>(
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
    // Steps may sort the particles into another order.
    let ids = gpu.parcel(n);
    gpu.copy(id, n, &ids);
    let mut copies = gpu.copies();
    // Only numbers of this size can be drawn from GPU memory.
    let survey = (size_of::<R>() == size_of::<f32>()).then(|| preview_bounds_of(gpu, &places, &values));
    let [places, values] = [places, values].map(|buffer: Buffer<R>| copies.add(&buffer, 0..buffer.len()));
    PendingPreview::of(Put {
        survey,
        id: copies.add(&ids, 0..n),
        copies,
        places,
        values,
        count: n,
        is_fluid: fluid.is_some(),
    })
}

/// Computes the bounds of these particles.
fn preview_bounds_of<R: Number>(gpu: &Gpu, places: &Buffer<R>, values: &Buffer<R>) -> (Copies, Ticket<R>) {
    let n = values.len();
    let units_of_it = n.min(MAX);
    let found = gpu.parcel(RECORD * BOUNDS_RECORDS * units_of_it);
    let (count, dim) = units(units_of_it);
    let (places, values, to) = (places.records(), values.argument(), found.records());
    let shares = n.div_ceil(units_of_it) as u32;
    preview_bounds::launch::<R>(gpu.client(), count, dim, places, values, to, n as u32, units_of_it as u32, shares);
    let mut copies = gpu.copies();
    let ticket = copies.add(&found, 0..found.len());
    (copies, ticket)
}

impl PreviewBounds {
    /// Reduces the results of the threads of a GPU.
    fn of<R: Number>(found: &[R]) -> PreviewBounds {
        let number = |value: &R| value.double() as f32;
        let units: &[[[R; RECORD]; BOUNDS_RECORDS]] = found.as_chunks().0.as_chunks().0;
        let mut survey = PreviewBounds {
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

impl<R: Number> PreviewTransfer for Put<R> {
    /// Runs on the thread of the viewer, as each request to the device takes as long as some steps.
    fn wait(self: Box<Self>) -> Result<Preview, GpuError> {
        let number = |value: &R| value.double() as f32;
        let of_places = |places: &[R]| {
            let places: &[[R; RECORD]] = places.as_chunks().0;
            places.iter().map(|place| place.each_ref().map(number)).collect()
        };
        let arrived = self.copies.carry_off().wait()?;
        let all = Preview {
            places: arrived.make(self.places, of_places),
            values: arrived.make(self.values, |values| values.iter().map(number).collect()),
            id: arrived.take(self.id),
            grains: 0,
        };
        if !self.is_fluid {
            return Ok(Preview {
                grains: all.id.len(),
                ..all
            });
        }
        let shown = |k: &usize| all.places[*k][RECORD - 1] > 0.0;
        let shown: Vec<usize> = (0..all.id.len()).filter(shown).collect();
        Ok(Preview {
            id: shown.iter().map(|&k| all.id[k]).collect(),
            places: shown.iter().map(|&k| all.places[k]).collect(),
            values: shown.iter().map(|&k| all.values[k]).collect(),
            grains: 0,
        })
    }

    fn share_memory(&mut self) -> Result<Option<Vec<GpuPreview>>, GpuError> {
        let Some((copies, ticket)) = self.survey.take() else {
            return Ok(None);
        };
        let Some((shared, arrived)) = self.copies.share(&[&self.places, &self.values], copies)? else {
            return Ok(None);
        };
        let survey = arrived.make(ticket, PreviewBounds::of::<R>);
        let two = <[_; 2]>::try_from(shared).ok();
        let preview = |[places, values]: [_; 2]| GpuPreview {
            places,
            values,
            count: self.count,
            is_fluid: self.is_fluid,
            survey,
        };
        Ok(two.map(|two| vec![preview(two)]))
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Copies the data of grains for a preview.
    pub(super) fn preview_of(&self, origin: Vec3, shade: ColorScalar) -> PendingPreview {
        let from = (&self.position[self.now], &self.velocity[self.now], &self.id, self.n);
        copy_for_preview(&self.gpu, from, None, (origin, shade))
    }
}
