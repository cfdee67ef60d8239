//! What domains tell of where their particles are, for planes to be moved.

use super::letters::{Illegible, from_bytes, to_bytes};

/// Of how many particles a domain looks where they are, at most.
pub const SAMPLED: usize = 4096;

/// Of how many it tells.
const TOLD: usize = 64;

/// How many particles a domain has, and how they are spread.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Particles.
    pub particles: f64,
    /// Places along each axis, in their order, with as many particles between any two of them \[m\].
    along: [Vec<f64>; 3],
}

impl Sample {
    /// Of so many particles, all or some of which are at these places \[m\].
    pub fn of(particles: usize, places: &[[f64; 3]]) -> Sample {
        let apart = places.len().div_ceil(SAMPLED).max(1);
        let along = [0, 1, 2].map(|axis| {
            let mut all: Vec<f64> = places.iter().step_by(apart).map(|place| place[axis]).collect();
            all.sort_unstable_by(f64::total_cmp);
            let taken = all.len().min(TOLD);
            (0..taken).map(|k| all[(2 * k + 1) * all.len() / (2 * taken)]).collect()
        });
        Sample {
            particles: particles as f64,
            along,
        }
    }

    /// As a letter.
    pub fn told(&self) -> Vec<u8> {
        to_bytes(&[&[self.particles][..], &self.along.concat()].concat())
    }

    /// From a letter.
    pub fn read(letter: &[u8]) -> Result<Sample, Illegible> {
        let numbers = from_bytes(letter)?;
        let (&particles, along) = numbers.split_first().ok_or(Illegible)?;
        let each = along.len() / 3;
        if along.len() != 3 * each {
            return Err(Illegible);
        }
        Ok(Sample {
            particles,
            along: [0, 1, 2].map(|axis| along[axis * each..][..each].to_vec()),
        })
    }

    /// Share of what was told along an axis that is between these ends \[-\].
    fn share_along(&self, axis: usize, [low, high]: [f64; 2]) -> f64 {
        let below = |end: f64| self.along[axis].partition_point(|place| *place < end);
        below(high).saturating_sub(below(low)) as f64 / self.along[axis].len().max(1) as f64
    }

    /// Share of the particles that is between these ends along each axis \[-\].
    pub fn share_in(&self, extent: &[[f64; 2]; 3]) -> f64 {
        (0..3).map(|axis| self.share_along(axis, extent[axis])).product()
    }

    /// Places along an axis that are between these ends \[m\], and how many particles each stands for.
    pub fn weighed(&self, axis: usize, extent: &[[f64; 2]; 3]) -> impl Iterator<Item = (f64, f64)> + use<'_> {
        let [low, high] = extent[axis];
        let others = (0..3).filter(|k| *k != axis);
        let share: f64 = others.map(|k| self.share_along(k, extent[k])).product();
        let weight = self.particles * share / self.along[axis].len().max(1) as f64;
        let within = self.along[axis].iter().filter(move |place| (low..high).contains(*place));
        within.map(move |place| (*place, weight))
    }
}
