//! Load of subdomains: what each reports of it, and samples of the positions of its particles.

use crate::exchange::{DecodeError, MAX_SAMPLED, from_bytes, to_bytes};

/// Maximum number of positions per axis in a message.
const MAX_SENT: usize = 64;

/// What a subdomain reports of its load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Number of particles.
    pub particles: f64,
    /// Work time of a particle in a step \[s\]; 0 if it was not measured.
    pub cost: f64,
    /// Number of steps between two rebuilds of the neighbor lists.
    pub steps: f64,
    /// Time that a rebuild takes longer if planes move \[s\].
    pub moving: f64,
}

/// Numbers of a load in a message.
const NUMBERS: usize = 4;

impl Load {
    /// The load of this number of particles, whose work was not measured.
    fn of(particles: usize) -> Load {
        Load {
            particles: particles as f64,
            ..Load::default()
        }
    }

    fn numbers(&self) -> [f64; NUMBERS] {
        [self.particles, self.cost, self.steps, self.moving]
    }

    fn from_numbers([particles, cost, steps, moving]: [f64; NUMBERS]) -> Load {
        Load {
            particles,
            cost,
            steps,
            moving,
        }
    }

    /// Encodes the load as a message.
    pub fn encode(&self) -> Vec<u8> {
        to_bytes(&self.numbers())
    }

    /// Decodes a message.
    pub fn read(message: &[u8]) -> Result<Load, DecodeError> {
        let numbers = from_bytes(message)?;
        let numbers: [f64; NUMBERS] = numbers.as_slice().try_into().map_err(|_| DecodeError)?;
        Ok(Load::from_numbers(numbers))
    }
}

/// The load of a subdomain, and the distribution of its particles.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadSample {
    /// Its load.
    pub load: Load,
    /// What planes share equally: the number of particles, or the time of their work \[s\].
    pub weight: f64,
    /// Coordinates along each axis in ascending order, with equal numbers of particles between them \[m\].
    along: [Vec<f64>; 3],
}

impl LoadSample {
    /// A sample for this number of particles, all or some of which are at these positions \[m\].
    pub fn of(particles: usize, places: &[[f64; 3]]) -> LoadSample {
        let apart = places.len().div_ceil(MAX_SAMPLED).max(1);
        let along = [0, 1, 2].map(|axis| {
            let mut all: Vec<f64> = places.iter().step_by(apart).map(|place| place[axis]).collect();
            all.sort_unstable_by(f64::total_cmp);
            let taken = all.len().min(MAX_SENT);
            (0..taken).map(|k| all[(2 * k + 1) * all.len() / (2 * taken)]).collect()
        });
        LoadSample {
            load: Load::of(particles),
            weight: particles as f64,
            along,
        }
    }

    /// The sample with this load of the same number of particles.
    pub fn with_load(self, load: Load) -> LoadSample {
        LoadSample { load, ..self }
    }

    /// Encodes the sample as a message.
    pub fn encode(&self) -> Vec<u8> {
        to_bytes(&[&self.load.numbers()[..], &self.along.concat()].concat())
    }

    /// Decodes a message.
    pub fn read(message: &[u8]) -> Result<LoadSample, DecodeError> {
        let numbers = from_bytes(message)?;
        let (&load, along) = numbers.split_first_chunk::<NUMBERS>().ok_or(DecodeError)?;
        let each = along.len() / 3;
        if along.len() != 3 * each {
            return Err(DecodeError);
        }
        let load = Load::from_numbers(load);
        Ok(LoadSample {
            load,
            weight: load.particles,
            along: [0, 1, 2].map(|axis| along[axis * each..][..each].to_vec()),
        })
    }

    /// Share of the sample along an axis that is between these limits \[-\].
    fn share_along(&self, axis: usize, [low, high]: [f64; 2]) -> f64 {
        let below = |end: f64| self.along[axis].partition_point(|place| *place < end);
        below(high).saturating_sub(below(low)) as f64 / self.along[axis].len().max(1) as f64
    }

    /// Share of the particles between these limits along each axis \[-\].
    pub fn share_in(&self, extent: &[[f64; 2]; 3]) -> f64 {
        (0..3).map(|axis| self.share_along(axis, extent[axis])).product()
    }

    /// Coordinates of the sample between these limits along an axis \[m\], and the weight that each represents.
    pub fn weighed(&self, axis: usize, extent: &[[f64; 2]; 3]) -> impl Iterator<Item = (f64, f64)> + use<'_> {
        let [low, high] = extent[axis];
        let others = (0..3).filter(|k| *k != axis);
        let share: f64 = others.map(|k| self.share_along(k, extent[k])).product();
        let weight = self.weight * share / self.along[axis].len().max(1) as f64;
        let within = self.along[axis].iter().filter(move |place| (low..high).contains(*place));
        within.map(move |place| (*place, weight))
    }
}
