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

/// What finds pressures.
pub(crate) struct Projector {
    lattice: Lattice,
    /// Velocities that neighbors read, later accelerations and the pressures that they come from, see [`seixo_sweeps::dfsph`].
    pub moving: Vec<f64>,
    /// Likewise.
    pub solving: Vec<f64>,
    /// By part: excess of density that is left, and how far the last two changes go the same way.
    pub left: Vec<[f64; 2]>,
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
        self.left.resize(parts(n), [0.0; 2]);
    }

    /// Bytes that its arrays hold.
    pub fn bytes(&self) -> u64 {
        (8 * (self.moving.capacity() + self.solving.capacity() + 2 * self.left.capacity())) as u64
    }
}
