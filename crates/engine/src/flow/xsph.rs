//! XSPH: particles of weakly compressible fluids follow the velocities of their neighbors. Müller's solver has its own, see
//! [`Flow::xsph_velocities`].

use super::Flow;
use super::halo::is_own_fluid;
use crate::fields::{FluidFields, Numbers, numbers, part_range, parts};
use crate::surroundings::Surroundings;
use seixo_laws::Vector3;
use seixo_sweeps::layout::{RECORD, load, store};
use seixo_sweeps::xsph::draw_on;

impl Flow {
    /// Computes the velocities with which fluid particles move by XSPH.
    pub fn draw_along(&mut self, surroundings: &Surroundings) {
        if !self.compiled_for.xsph {
            return;
        }
        let n = self.fields.len();
        let (smoother, plan, sides) = (self.smoother(), self.compiled_for, &self.stepping.sides);
        let FluidFields {
            kind,
            position,
            velocity_pressure: flow,
            particle_velocity: motion,
            ghost: copy,
            ..
        } = &mut self.fields;
        let (kind, position, flow, copy, pairs) = (&kind[..], &position[..], &flow[..], &copy[..], &self.pairs);
        let (media, shares) = (&self.media[..], &self.xsph[..]);
        let data = (numbers(motion, RECORD),);
        surroundings.context.device.run(parts(n), data, |part, (motion,): (Numbers,)| {
            let (first, end) = part_range(part, n);
            for i in (first..end).filter(|&i| is_own_fluid(kind, copy, i)) {
                let drift = draw_on::<f64, f64>(
                    i,
                    pairs.row[i] as usize,
                    pairs.row[i + 1] - pairs.row[i],
                    &pairs.neighbors,
                    position,
                    flow,
                    kind,
                    media,
                    shares,
                    &smoother,
                    sides,
                    1,
                    plan,
                );
                let velocity: Vector3<f64> = load(flow, i * RECORD);
                store(motion.items, (i - first) * RECORD, &velocity.plus(&drift));
            }
        });
    }
}
