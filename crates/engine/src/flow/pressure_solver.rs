//! Iterative pressure solver of incompressible fluids, for all backends.

use super::lattice::Lattice;
use crate::fields::parts;
use crate::world::{Fluids, PressureTolerance, Solver};
use seixo_laws::fluid::Smoother;
use seixo_sweeps::layout::RECORD;

/// Relaxation factor, relative to the inverse of [`Lattice::stiffest`]. With twice the inverse, iterations would oscillate forever on a lattice; with
/// extrapolation this occurs already above the inverse. For particles off a lattice a little less is safe.
const OF_STIFFEST: f64 = 0.9;

/// The constraint that the pressures satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constraint {
    /// The density, at the end of the coming motion.
    Density,
    /// The volume of the flow, after a motion.
    Divergence,
}

impl Constraint {
    /// Whether an existing excess of density is corrected.
    pub fn corrects(self) -> bool {
        self == Constraint::Density
    }

    /// The mean error that may remain \[-\].
    fn tolerance(self, projection: &PressureTolerance) -> f64 {
        match self {
            Constraint::Density => projection.density_error,
            Constraint::Divergence => projection.divergence_error,
        }
    }
}

/// Statistics of the pressure solutions of incompressible fluids: for the density correction, and for the divergence correction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PressureSolves {
    /// Steps.
    pub steps: u64,
    /// Iterations, of all steps together.
    pub iterations: [u64; 2],
    /// Steps that did not converge within the maximum number of iterations.
    pub unfinished: [u64; 2],
    /// Largest mean error that remained in a step \[-\].
    pub largest_error: [f64; 2],
}

impl PressureSolves {
    /// The warning about steps whose pressures did not converge, if there were any.
    pub(crate) fn warning(&self, projection: &PressureTolerance) -> Option<String> {
        let [density, divergence] = self.unfinished;
        let (what, count, error, tolerance) = if density > 0 {
            ("density", density, self.largest_error[0], projection.density_error)
        } else {
            ("divergence", divergence, self.largest_error[1], projection.divergence_error)
        };
        (count > 0).then(|| {
            format!(
                "{count} of {} steps went on after {} iterations with an error of the {what} above {tolerance:.1e}, {error:.1e} at most; more \
                 `iterations`, a larger `{what}_error` or a shorter time step mend it",
                self.steps, projection.iterations
            )
        })
    }

    /// Adds the result of a step.
    pub(crate) fn add_iterations(&mut self, constraint: Constraint, solved: &IterationResult) {
        let k = usize::from(!constraint.corrects());
        self.steps += u64::from(constraint.corrects());
        self.iterations[k] += u64::from(solved.iterations);
        self.unfinished[k] += u64::from(!solved.is_done);
        self.largest_error[k] = self.largest_error[k].max(solved.error);
    }
}

/// Result of some iterations.
pub(crate) struct IterationResult {
    iterations: u32,
    /// Mean excess of density before the last iteration, at the applied pressures \[-\].
    error: f64,
    is_done: bool,
}

/// Iterates on any backend until the mean error is small enough. `once` runs one iteration, which extrapolates by a share of its change. It returns
/// the mean error before it and the sum of `overshoot`. The shares are those of Nesterov's method, and restart whenever iterations have overshot.
pub(crate) fn iterate<E>(
    constraint: Constraint,
    projection: &PressureTolerance,
    mut once: impl FnMut(f64) -> Result<[f64; 2], E>,
) -> Result<IterationResult, E> {
    let tolerance = constraint.tolerance(projection);
    let (mut pace, mut iterations) = (1.0f64, 0);
    loop {
        let next = 0.5 * (1.0 + (1.0 + 4.0 * pace * pace).sqrt());
        let [error, overshoot] = once((pace - 1.0) / next)?;
        iterations += 1;
        let is_done = iterations >= PressureTolerance::MIN && error <= tolerance;
        if is_done || iterations >= projection.iterations {
            return Ok(IterationResult {
                iterations,
                error,
                is_done,
            });
        }
        pace = if overshoot > 0.0 { 1.0 } else { next };
    }
}

/// Quanta of [`IterationError`] in one.
const QUANTA: f64 = (1u128 << 80) as f64;

/// Remaining error of an iteration, summed over fluid particles. Sums are of whole quanta of 2⁻⁸⁰: they are the same in any order and for any
/// decomposition, and have room up to 10¹⁴.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct IterationError {
    /// Excess of density \[-\].
    error: i128,
    /// Sum of `overshoot`, see [`seixo_laws::fluid::dfsph`] \[Pa\]: positive once iterations have overshot.
    overshoot: i128,
    /// Number of particles.
    particles: u64,
}

impl IterationError {
    /// Adds the remaining error of a particle.
    pub fn add_iterations(&mut self, error: f64, overshoot: f64) {
        let [error, overshoot] = [error, overshoot].map(|x| (x * QUANTA).round() as i128);
        *self = self.plus(&IterationError {
            error,
            overshoot,
            particles: 1,
        });
    }

    /// The sum of both.
    pub fn plus(&self, other: &IterationError) -> IterationError {
        IterationError {
            error: self.error.saturating_add(other.error),
            overshoot: self.overshoot.saturating_add(other.overshoot),
            particles: self.particles + other.particles,
        }
    }

    /// Mean excess of density \[-\], and the sum of `overshoot` \[Pa\].
    pub fn mean(&self) -> [f64; 2] {
        [
            self.error as f64 / QUANTA / self.particles.max(1) as f64,
            self.overshoot as f64 / QUANTA,
        ]
    }

    /// Encodes the sums as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        [
            &self.error.to_le_bytes()[..],
            &self.overshoot.to_le_bytes(),
            &self.particles.to_le_bytes(),
        ]
        .concat()
    }

    /// Decodes bytes; `None` if they are no such sums.
    pub fn read(bytes: &[u8]) -> Option<IterationError> {
        let (error, rest) = bytes.split_first_chunk()?;
        let (overshoot, particles) = rest.split_first_chunk()?;
        Some(IterationError {
            error: i128::from_le_bytes(*error),
            overshoot: i128::from_le_bytes(*overshoot),
            particles: u64::from_le_bytes(particles.try_into().ok()?),
        })
    }
}

/// The pressure solver.
pub(crate) struct PressureSolver {
    lattice: Lattice,
    /// Longest step that the flow allows \[s\].
    longest_step: f64,
    /// Velocities that neighbors read, later accelerations with their pressures, see [`seixo_sweeps::dfsph`].
    pub moving: Vec<f64>,
    /// Further records of the solver, see [`seixo_sweeps::dfsph`].
    pub solving: Vec<f64>,
    /// Remaining error, by part.
    pub left: Vec<IterationError>,
    /// Statistics so far.
    pub solves: PressureSolves,
}

impl PressureSolver {
    /// A solver for these fluids.
    pub fn new(fluids: &Fluids) -> PressureSolver {
        let lattice = match fluids.solver {
            Solver::Incompressible => Lattice::of(fluids),
            Solver::WeaklyCompressible | Solver::Muller2003 => Lattice {
                density: 1.0,
                stiffest: 1.0,
            },
        };
        PressureSolver {
            lattice,
            longest_step: fluids.longest_step_of_flow(),
            moving: Vec::new(),
            solving: Vec::new(),
            left: Vec::new(),
            solves: PressureSolves::default(),
        }
    }

    /// ω, see [`seixo_laws::fluid::dfsph`].
    pub fn relaxation(&self) -> f64 {
        OF_STIFFEST / self.lattice.stiffest
    }

    /// A step over the longest one, at most 1, see [`seixo_laws::fluid::dfsph::source()`].
    pub fn share_of_longest_step(&self, dt: f64) -> f64 {
        (dt / self.longest_step).min(1.0)
    }

    /// A smoothing function that makes densities on a lattice those at rest.
    pub fn calibrated(&self, smoother: Smoother<f64>) -> Smoother<f64> {
        Smoother {
            norm: smoother.norm / self.lattice.density,
            slope_norm: smoother.slope_norm / self.lattice.density,
            ..smoother
        }
    }

    /// Allocates arrays for this number of particles.
    pub fn make_room(&mut self, n: usize) {
        self.moving.resize(n * RECORD, 0.0);
        self.solving.resize(n * RECORD, 0.0);
        self.left.resize(parts(n), IterationError::default());
    }

    /// Bytes of its arrays.
    pub fn bytes(&self) -> u64 {
        (8 * (self.moving.capacity() + self.solving.capacity()) + size_of::<IterationError>() * self.left.capacity()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::IterationError;

    #[test]
    fn what_is_left_is_the_same_in_any_order_and_among_any_number() {
        let one = |k: i32| [1e-3 / f64::from(k), f64::from(7 - k) * 1.7e-9];
        let sum = |order: &mut dyn Iterator<Item = i32>| {
            order.fold(IterationError::default(), |mut all, k| {
                let [error, overshoot] = one(k);
                all.add_iterations(error, overshoot);
                all
            })
        };
        let whole = sum(&mut (1..1000));
        let [low, high] = [sum(&mut (1..300).rev()), sum(&mut (300..1000).rev())];
        assert_eq!(low.plus(&high), whole);
        assert_eq!(IterationError::read(&whole.bytes()), Some(whole));
        assert_eq!(IterationError::read(&whole.bytes()[1..]), None);
        let [error, overshoot] = whole.mean();
        let expected = (1..1000)
            .map(one)
            .fold([0.0; 2], |[a, b], [error, overshoot]| [a + error / 999.0, b + overshoot]);
        assert!(
            (error - expected[0]).abs() < 1e-15 && (overshoot - expected[1]).abs() < 1e-15,
            "{error} {overshoot}"
        );
    }
}
