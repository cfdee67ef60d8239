//! Fluid properties at points: means over the particles around, found through cells that are built for one sampler.

use super::Flow;
use crate::search::{cells_between, is_small};
use crate::state::FluidSample;
use crate::world::{Vec3, array};
use seixo_device::stable_order_by_key;
use seixo_laws::Vector3;
use seixo_laws::fluid::Smoother;
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::periodic::nearest_image;
use std::ops::Range;

/// A sampler of the current state of fluids, for any number of points.
pub struct FluidSampler<'a>(pub(crate) Option<CellSortedParticles<'a>>);

/// Fluid particles by cells, which are at least as wide as the support.
pub(crate) struct CellSortedParticles<'a> {
    flow: &'a Flow,
    smoother: Smoother<f64>,
    low: Vec3,
    edge: f64,
    shape: [u32; 3],
    /// First entry of every cell, and one more.
    first: Vec<u32>,
    /// Indices of the particles.
    particles: Vec<usize>,
}

impl<'a> CellSortedParticles<'a> {
    pub(crate) fn of(flow: &'a Flow) -> CellSortedParticles<'a> {
        let position = &flow.fields.position;
        let place = |i: usize| [0, 1, 2].map(|axis| position[i * RECORD + axis]);
        let of_fluid: Vec<usize> = flow.of_fluid().collect();
        let bound = |of: fn(f64, f64) -> f64, start: f64| {
            let widest = |most: Vec3, x: Vec3| [0, 1, 2].map(|axis| of(most[axis], x[axis]));
            of_fluid.iter().map(|&i| place(i)).fold([start; 3], widest)
        };
        let (low, high) = (bound(f64::min, f64::INFINITY), bound(f64::max, f64::NEG_INFINITY));
        let (shape, edge) = cells_between(low, high, flow.plan.support, |shape| is_small(shape, of_fluid.len()));
        let cell = |x: Vec3| {
            let [x, y, z] = [0, 1, 2].map(|axis| ((x[axis] - low[axis]) / edge) as u32);
            (z * shape[1] + y) * shape[0] + x
        };
        let key: Vec<u32> = of_fluid.iter().map(|&i| cell(place(i))).collect();
        let (mut order, mut first) = (Vec::new(), Vec::new());
        stable_order_by_key(&key, shape.iter().product::<u32>() as usize, &mut order, &mut first);
        CellSortedParticles {
            flow,
            smoother: flow.smoother(),
            low,
            edge,
            shape,
            first,
            particles: order.into_iter().map(|k| of_fluid[k as usize]).collect(),
        }
    }

    /// Cells along an axis that may have particles within the support of a coordinate.
    fn cells(&self, axis: usize, x: f64) -> Range<u32> {
        let support = self.flow.plan.support;
        let [from, to] = [x - support, x + support].map(|end| (end - self.low[axis]) / self.edge);
        let end = ((to.floor() + 1.0) as u32).min(self.shape[axis]);
        (from as u32).min(end)..end
    }

    /// Particles within the support of a point, in the order of their indices.
    fn around(&self, point: &Vec3) -> Vec<usize> {
        let (flow, here) = (self.flow, load::<f64>(point, 0));
        let (sides, support) = (&flow.stepping.sides, flow.plan.support);
        let is_near = |i: usize| {
            let apart = here.minus(&load(&flow.fields.position, i * RECORD));
            let apart = nearest_image::<f64, f64>(&apart, sides, flow.compiled_for.sides).apart;
            apart.dot(&apart) < support * support
        };
        let lengths = array(&sides.length);
        // Across periodic sides, particles near an image of the point are near the point.
        let images = |axis: usize| {
            let turns = if sides.is_open(axis) { 0..=0 } else { -1..=1 };
            turns.map(move |turn| self.cells(axis, point[axis] + f64::from(turn) * lengths[axis]))
        };
        let mut near = Vec::new();
        for row in images(2)
            .flatten()
            .flat_map(|z| images(1).flatten().map(move |y| z * self.shape[1] + y))
        {
            for along in images(0) {
                let [from, to] = [along.start, along.end].map(|x| self.first[(row * self.shape[0] + x) as usize] as usize);
                near.extend(self.particles[from..to].iter().copied().filter(|&i| is_near(i)));
            }
        }
        near.sort_unstable();
        near.dedup();
        near
    }

    /// Means over the particles around a point, with the weights V W.
    fn at(&self, point: &Vec3) -> FluidSample {
        let (flow, here) = (self.flow, load::<f64>(point, 0));
        let mut sample = FluidSample::default();
        for i in self.around(point) {
            let apart: Vector3<f64> = here.minus(&load(&flow.fields.position, i * RECORD));
            let apart = nearest_image::<f64, f64>(&apart, &flow.stepping.sides, flow.compiled_for.sides).apart;
            let weight = flow.fields.position[i * RECORD + 3] * self.smoother.value(apart.length(), flow.plan.smoothing);
            let fluid = &flow.plan.kinds[flow.fields.kind[i] as usize];
            sample.share += weight;
            sample.pressure += weight * flow.fields.velocity_pressure[i * RECORD + 3];
            sample.density += weight * fluid.density * (1.0 + flow.fields.density_error[i]);
            for (sum, x) in sample.velocity.iter_mut().zip(array(&flow.velocity(i))) {
                *sum += weight * x;
            }
        }
        if sample.share > 0.0 {
            let per_share = 1.0 / sample.share;
            sample.pressure *= per_share;
            sample.density *= per_share;
            sample.velocity = sample.velocity.map(|x| x * per_share);
        }
        sample
    }
}

impl FluidSampler<'_> {
    /// Fluid properties at a point \[m\].
    pub fn at(&self, point: &Vec3) -> FluidSample {
        self.0.as_ref().map_or_else(FluidSample::default, |filed| filed.at(point))
    }
}
