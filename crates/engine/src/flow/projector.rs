//! How the pressures of incompressible fluids are iterated, wherever an iteration is done.

use super::lattice::Lattice;
use crate::fields::parts;
use crate::world::{Fluids, Projection, Solver};
use seixo_laws::fluid::Smoother;
use seixo_sweeps::views::RECORD;

/// Share of the inverse of [`Lattice::stiffest`] by which iterations are relaxed. With twice the inverse they would swing forever on a lattice, and
/// those that look ahead do so above the inverse; among particles that are not on a lattice a little less is safe.
const OF_STIFFEST: f64 = 0.9;

/// What pressures are to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constraint {
    /// The density, at the end of the coming motion.
    Density,
    /// The volume of the flow, after a motion.
    Divergence,
}

impl Constraint {
    /// Whether an excess of density that is there already is corrected.
    pub fn corrects(self) -> bool {
        self == Constraint::Density
    }

    /// The mean error that may be left \[-\].
    fn tolerance(self, projection: &Projection) -> f64 {
        match self {
            Constraint::Density => projection.density_error,
            Constraint::Divergence => projection.divergence_error,
        }
    }
}

/// How the pressures of incompressible fluids were found: numbers for corrections of densities, and for freeing the flow of divergence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solves {
    /// Steps.
    pub steps: u64,
    /// Iterations, of all steps together.
    pub iterations: [u64; 2],
    /// Steps in which the most iterations that are granted were not enough.
    pub unfinished: [u64; 2],
    /// Largest mean error that was left in a step \[-\].
    pub largest_error: [f64; 2],
}

impl Solves {
    /// What a run should tell of steps whose pressures were not found, if there were any.
    pub(crate) fn warning(&self, projection: &Projection) -> Option<String> {
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

    /// Books what came of a step.
    pub(crate) fn book(&mut self, constraint: Constraint, solved: &Solved) {
        let k = usize::from(!constraint.corrects());
        self.steps += u64::from(constraint.corrects());
        self.iterations[k] += u64::from(solved.iterations);
        self.unfinished[k] += u64::from(!solved.is_done);
        self.largest_error[k] = self.largest_error[k].max(solved.error);
    }
}

/// What came of some iterations.
pub(crate) struct Solved {
    iterations: u32,
    /// Mean excess of density that was left before the last of them, by the pressures that push \[-\].
    error: f64,
    is_done: bool,
}

/// Iterates until the mean error is small enough, wherever an iteration is done: `once` does one, which looks ahead by a share of the change that it
/// makes, and returns the mean error before it and how far the last two changes go the same way. The shares are those of Nesterov's method, and begin
/// anew whenever changes turn back.
pub(crate) fn iterate<E>(
    constraint: Constraint,
    projection: &Projection,
    mut once: impl FnMut(f64) -> Result<[f64; 2], E>,
) -> Result<Solved, E> {
    let tolerance = constraint.tolerance(projection);
    let (mut pace, mut iterations) = (1.0f64, 0);
    loop {
        let next = 0.5 * (1.0 + (1.0 + 4.0 * pace * pace).sqrt());
        let [error, turn] = once((pace - 1.0) / next)?;
        iterations += 1;
        let is_done = iterations >= Projection::FEWEST && error <= tolerance;
        if is_done || iterations >= projection.iterations {
            return Ok(Solved {
                iterations,
                error,
                is_done,
            });
        }
        pace = if turn > 0.0 { 1.0 } else { next };
    }
}

/// Quanta of [`Left`] in one.
const QUANTA: f64 = (1u128 << 80) as f64;

/// What an iteration leaves, summed over particles of fluid. Sums are of whole quanta of 2⁻⁸⁰: they are the same in any order, however fluids are
/// divided, and have room up to 10¹⁴.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Left {
    /// Excess of density \[-\].
    error: i128,
    /// How far the last two changes go the same way \[Pa\].
    turn: i128,
    /// How many particles there are.
    particles: u64,
}

impl Left {
    /// Adds what is left of a particle.
    pub fn book(&mut self, error: f64, turn: f64) {
        let [error, turn] = [error, turn].map(|x| (x * QUANTA).round() as i128);
        *self = self.plus(&Left { error, turn, particles: 1 });
    }

    /// The sum of both.
    pub fn plus(&self, other: &Left) -> Left {
        Left {
            error: self.error.saturating_add(other.error),
            turn: self.turn.saturating_add(other.turn),
            particles: self.particles + other.particles,
        }
    }

    /// Mean excess of density \[-\], and the sum of turns \[Pa\].
    pub fn mean(&self) -> [f64; 2] {
        [self.error as f64 / QUANTA / self.particles.max(1) as f64, self.turn as f64 / QUANTA]
    }

    /// As bytes.
    pub fn bytes(&self) -> Vec<u8> {
        [
            &self.error.to_le_bytes()[..],
            &self.turn.to_le_bytes(),
            &self.particles.to_le_bytes(),
        ]
        .concat()
    }

    /// What was bytes; `None` if it was something else.
    pub fn read(bytes: &[u8]) -> Option<Left> {
        let (error, rest) = bytes.split_first_chunk()?;
        let (turn, particles) = rest.split_first_chunk()?;
        Some(Left {
            error: i128::from_le_bytes(*error),
            turn: i128::from_le_bytes(*turn),
            particles: u64::from_le_bytes(particles.try_into().ok()?),
        })
    }
}

/// What finds pressures.
pub(crate) struct Projector {
    lattice: Lattice,
    /// Velocities that neighbors read, later accelerations and the pressures that they come from, see [`seixo_sweeps::dfsph`].
    pub moving: Vec<f64>,
    /// Likewise.
    pub solving: Vec<f64>,
    /// What is left, by part.
    pub left: Vec<Left>,
    /// What came of it so far.
    pub solves: Solves,
}

impl Projector {
    /// One for these fluids.
    pub fn new(fluids: &Fluids) -> Projector {
        let lattice = match fluids.solver {
            Solver::Incompressible => Lattice::of(fluids),
            Solver::WeaklyCompressible | Solver::Muller2003 => Lattice {
                density: 1.0,
                stiffest: 1.0,
            },
        };
        Projector {
            lattice,
            moving: Vec::new(),
            solving: Vec::new(),
            left: Vec::new(),
            solves: Solves::default(),
        }
    }

    /// ω, see [`seixo_laws::fluid::dfsph`].
    pub fn relaxation(&self) -> f64 {
        OF_STIFFEST / self.lattice.stiffest
    }

    /// A smoothing function that makes densities on a lattice those at rest.
    pub fn calibrated(&self, smoother: Smoother<f64>) -> Smoother<f64> {
        Smoother {
            norm: smoother.norm / self.lattice.density,
            slope_norm: smoother.slope_norm / self.lattice.density,
            ..smoother
        }
    }

    /// Makes room for so many particles.
    pub fn make_room(&mut self, n: usize) {
        self.moving.resize(n * RECORD, 0.0);
        self.solving.resize(n * RECORD, 0.0);
        self.left.resize(parts(n), Left::default());
    }

    /// Bytes that its arrays hold.
    pub fn bytes(&self) -> u64 {
        (8 * (self.moving.capacity() + self.solving.capacity()) + size_of::<Left>() * self.left.capacity()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Left;

    #[test]
    fn what_is_left_is_the_same_in_any_order_and_among_any_number() {
        let one = |k: i32| [1e-3 / f64::from(k), f64::from(7 - k) * 1.7e-9];
        let sum = |order: &mut dyn Iterator<Item = i32>| {
            order.fold(Left::default(), |mut all, k| {
                let [error, turn] = one(k);
                all.book(error, turn);
                all
            })
        };
        let whole = sum(&mut (1..1000));
        let [low, high] = [sum(&mut (1..300).rev()), sum(&mut (300..1000).rev())];
        assert_eq!(low.plus(&high), whole);
        assert_eq!(Left::read(&whole.bytes()), Some(whole));
        assert_eq!(Left::read(&whole.bytes()[1..]), None);
        let [error, turn] = whole.mean();
        let expected = (1..1000)
            .map(one)
            .fold([0.0; 2], |[a, b], [error, turn]| [a + error / 999.0, b + turn]);
        assert!(
            (error - expected[0]).abs() < 1e-15 && (turn - expected[1]).abs() < 1e-15,
            "{error} {turn}"
        );
    }
}
