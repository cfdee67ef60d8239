//! The lists of a step on GPUs.
//!
//! A GPU computes forces before it moves what they act on, and does several passes of the program in one launch. So it has lists of its own. Each entry
//! names the passes that it does; a test compares them with the program. Many steps are queued before the host reads their flags, unless the host has
//! to act within a step.

use super::Exchange;
use crate::flow::Constraint;
use crate::world::Solver;

/// Work of a step that is queued for grains, bodies and walls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrainLaunch {
    /// Forces on grains, and motion of those that move by themselves.
    ForcesAndMotion,
    /// Motion of rigid bodies. Grains that are ghosts elsewhere are packed.
    Bodies,
}

/// Work of a step that is queued for fluids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FluidLaunch {
    /// Wall particles and body boundary particles are placed.
    Boundaries,
    /// Pressures and velocities of wall particles.
    WallPressures,
    /// Velocities of particles, with shifting or XSPH.
    ParticleVelocities,
    /// Forces on fluid and small grains, with the motion of weakly compressible fluid.
    Forces,
    /// Densities of Müller's solver.
    MullerDensities,
    /// Forces of Müller's solver.
    MullerForces,
    /// Motion of Müller's solver.
    MullerMotion,
    /// Viscous forces of incompressible fluid.
    ViscousForces,
    /// Motion of incompressible fluid.
    Drift,
    /// Sum of the forces of incompressible fluid on bodies.
    BodyForces,
}

/// What queued work belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The step this many steps after the host's clock.
    Step(u32),
    /// The present forces, for an observation: nothing moves.
    Present,
}

impl Moment {
    /// Parity of the step, see [`seixo_sweeps::kernels`].
    pub fn parity(self) -> u32 {
        match self {
            Moment::Step(ahead) => ahead & 1,
            Moment::Present => 0,
        }
    }

    /// Whether particles move.
    pub fn advances(self) -> bool {
        self != Moment::Present
    }
}

/// What an entry of a list does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Queues launches for grains, bodies and walls.
    Grains(GrainLaunch),
    /// Queues launches for fluids.
    Fluids(FluidLaunch),
    /// Solves for the pressures of incompressible fluids, in all domains together.
    Solve(Constraint),
    /// Exchanges data between domains. In lists that end a batch, the host also learns what its steps raised, and rebuilds neighbor lists.
    Exchange(Exchange),
}

impl Work {
    /// What it does, in words.
    fn name(self) -> &'static str {
        match self {
            Work::Grains(GrainLaunch::ForcesAndMotion) => "forces on grains, and their motion",
            Work::Grains(GrainLaunch::Bodies) => "motion of bodies",
            Work::Fluids(FluidLaunch::Boundaries) => "wall particles and body boundaries",
            Work::Fluids(FluidLaunch::WallPressures) => "pressures of wall particles",
            Work::Fluids(FluidLaunch::ParticleVelocities) => "velocities of particles",
            Work::Fluids(FluidLaunch::Forces) => "forces on fluids, and their motion",
            Work::Fluids(FluidLaunch::MullerDensities) => "densities",
            Work::Fluids(FluidLaunch::MullerForces) => "forces on fluids",
            Work::Fluids(FluidLaunch::MullerMotion | FluidLaunch::Drift) => "motion of fluids",
            Work::Fluids(FluidLaunch::ViscousForces) => "viscous forces",
            Work::Fluids(FluidLaunch::BodyForces) => "loads of fluids on bodies",
            Work::Solve(_) => "pressures",
            Work::Exchange(Exchange::Agreement) => "flags of a batch of steps",
            Work::Exchange(Exchange::FluidGhosts) => "ghosts of fluids",
            Work::Exchange(_) => "exchange",
        }
    }
}

/// An entry of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedWork {
    pub work: Work,
    /// Whether it belongs to motion alone: not needed to compute the present forces.
    pub is_motion: bool,
    /// The passes of the program that it does.
    pub does: &'static [&'static str],
}

impl QueuedWork {
    /// Its name in a timeline: most exchanges do one pass, whose name says what they exchange.
    pub fn name_in_timeline(&self) -> &'static str {
        match (self.work, self.does) {
            (Work::Exchange(_), &[only]) => only,
            (work, _) => work.name(),
        }
    }
}

/// The lists of a simulation: what is queued for each step, and what ends a batch of steps.
#[derive(Clone, Copy)]
pub(crate) struct QueuedLists {
    /// For fluids, in each step. Their loads act on the bodies that grains then move.
    pub fluids: &'static [QueuedWork],
    /// For all else, in each step.
    pub grains: &'static [QueuedWork],
    /// After a batch of steps.
    pub end_of_grains: &'static [QueuedWork],
    /// After that.
    pub end_of_fluids: &'static [QueuedWork],
}

const fn grains(launch: GrainLaunch, does: &'static [&'static str]) -> QueuedWork {
    QueuedWork {
        work: Work::Grains(launch),
        is_motion: false,
        does,
    }
}

const fn fluids(launch: FluidLaunch, does: &'static [&'static str]) -> QueuedWork {
    QueuedWork {
        work: Work::Fluids(launch),
        is_motion: false,
        does,
    }
}

const fn motion(work: Work, does: &'static [&'static str]) -> QueuedWork {
    QueuedWork {
        work,
        is_motion: true,
        does,
    }
}

const fn exchange(exchange: Exchange, does: &'static [&'static str]) -> QueuedWork {
    QueuedWork {
        work: Work::Exchange(exchange),
        is_motion: false,
        does,
    }
}

/// The passes of a cell whose lengths are controlled are in no launch: the table of placements refuses it on a GPU.
#[rustfmt::skip]
static GRAINS: &[QueuedWork] = &[
    grains(GrainLaunch::ForcesAndMotion, &[
        "contacts", "contacts away from ghosts", "wall contacts", "bonds", "loads that depend on time", "loads", "heat conduction", "film exchange",
        "work of contacts", "limits of contacts", "motion of grains", "motion of grains by Gear's method", "orientations of bonded grains",
        "work of local damping", "limits of motion", "motion of walls", "motion of the cell", "stress of the cell",
        "contacts of polyhedra", "rotation of polyhedra",
    ]),
    exchange(Exchange::ServoLoads, &["sum of the loads on servo walls"]),
    exchange(Exchange::BodyForces, &["sum of the forces on bodies"]),
    grains(GrainLaunch::Bodies, &["motion of bodies"]),
    exchange(Exchange::GhostPositions, &["departure of ghost positions"]),
];

#[rustfmt::skip]
static END_OF_GRAINS: &[QueuedWork] = &[
    exchange(Exchange::Agreement, &[
        "agreement on neighbor lists",
        "agreement on errors",
        "last work of contacts",
        "motion of walls without grains",
        "motion of bodies without grains",
        "work without grains",
    ]),
    exchange(Exchange::NeighborLists, &["neighbor lists and ghosts"]),
];

#[rustfmt::skip]
static END_OF_WEAKLY_COMPRESSIBLE: &[QueuedWork] = &[
    exchange(Exchange::FluidLists(true), &["limits of fluids", "fluid neighbor lists and ghosts", "open boundaries"]),
];

#[rustfmt::skip]
static END_OF_MULLER_2003: &[QueuedWork] = &[
    exchange(Exchange::FluidLists(true), &["limits of fluids", "fluid neighbor lists and ghosts"]),
];

#[rustfmt::skip]
static WEAKLY_COMPRESSIBLE: &[QueuedWork] = &[
    fluids(FluidLaunch::Boundaries, &["motion of wall particles"]),
    fluids(FluidLaunch::WallPressures, &["pressures of wall particles", "exchange of wall pressures"]),
    fluids(FluidLaunch::ParticleVelocities, &["particle shifting", "XSPH"]),
    exchange(Exchange::ParticleVelocities, &["exchange of particle velocities"]),
    fluids(FluidLaunch::Forces, &["fluid forces", "small grains in fluids", "loads of fluids on bodies", "work of fluids", "motion of fluids"]),
    exchange(Exchange::BodyBoundaryForces, &["sum of the forces on body boundaries"]),
    motion(Work::Exchange(Exchange::FluidGhosts), &[]),
];

#[rustfmt::skip]
static MULLER_2003: &[QueuedWork] = &[
    fluids(FluidLaunch::Boundaries, &["motion of body boundaries"]),
    fluids(FluidLaunch::MullerDensities, &["densities"]),
    exchange(Exchange::Densities, &["exchange of densities"]),
    fluids(FluidLaunch::MullerForces, &["fluid forces", "loads of fluids on bodies", "work of fluids", "velocities after forces"]),
    exchange(Exchange::BodyBoundaryForces, &["sum of the forces on body boundaries"]),
    motion(Work::Exchange(Exchange::DrivenVelocities), &["exchange of velocities"]),
    motion(Work::Fluids(FluidLaunch::MullerMotion), &["motion of fluids", "rebound at walls"]),
    motion(Work::Exchange(Exchange::FluidGhosts), &[]),
];

/// The host waits within a step of incompressible fluids. So grains come first, as on a CPU.
#[rustfmt::skip]
static INCOMPRESSIBLE: &[QueuedWork] = &[
    fluids(FluidLaunch::WallPressures, &["pressures of wall particles", "exchange of wall pressures"]),
    fluids(FluidLaunch::ViscousForces, &["viscous forces"]),
    QueuedWork { work: Work::Solve(Constraint::Density), is_motion: false, does: &["pressures for constant density"] },
    fluids(FluidLaunch::Drift, &["motion of fluids"]),
    fluids(FluidLaunch::Boundaries, &["motion of wall particles"]),
    exchange(Exchange::FluidLists(false), &["limits of fluids", "fluid neighbor lists and ghosts"]),
    QueuedWork { work: Work::Solve(Constraint::Divergence), is_motion: false, does: &["pressures for zero divergence"] },
    fluids(FluidLaunch::BodyForces, &["loads of fluids on bodies", "work on bodies"]),
    exchange(Exchange::BodyBoundaryForces, &["sum of the forces on body boundaries"]),
    exchange(Exchange::LostFluid, &["removal of lost fluid"]),
];

impl QueuedLists {
    /// The lists of grains with fluids of this solver, or without fluids.
    pub(crate) const fn of(solver: Option<Solver>) -> QueuedLists {
        let (fluids, end_of_fluids): (&[QueuedWork], &[QueuedWork]) = match solver {
            None => (&[], &[]),
            Some(Solver::WeaklyCompressible) => (WEAKLY_COMPRESSIBLE, END_OF_WEAKLY_COMPRESSIBLE),
            Some(Solver::Muller2003) => (MULLER_2003, END_OF_MULLER_2003),
            Some(Solver::Incompressible) => (&[], INCOMPRESSIBLE),
        };
        QueuedLists {
            fluids,
            grains: GRAINS,
            end_of_grains: END_OF_GRAINS,
            end_of_fluids,
        }
    }

    /// All their entries.
    fn all(&self) -> impl Iterator<Item = &'static QueuedWork> + use<> {
        [self.fluids, self.grains, self.end_of_grains, self.end_of_fluids]
            .into_iter()
            .flatten()
    }

    /// Name of the work that does a pass of the program.
    pub(crate) fn work_for(&self, pass: &str) -> Option<&'static str> {
        let mut doing = self.all().filter(|queued| queued.does.contains(&pass));
        doing.next().map(|queued| queued.work.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::lists::{GRAIN_FORCES, GRAIN_MOTION, of_fluids};
    use std::collections::HashMap;

    #[test]
    fn a_gpu_does_each_pass_of_the_program_once() {
        for solver in [
            None,
            Some(Solver::WeaklyCompressible),
            Some(Solver::Incompressible),
            Some(Solver::Muller2003),
        ] {
            let mut times: HashMap<&str, usize> = HashMap::new();
            for pass in QueuedLists::of(solver).all().flat_map(|queued| queued.does) {
                *times.entry(pass).or_default() += 1;
            }
            let of_fluids = solver.into_iter().flat_map(of_fluids);
            for listed in GRAIN_MOTION.iter().chain(GRAIN_FORCES).chain(of_fluids) {
                assert_eq!(times.remove(listed.name), Some(1), "{solver:?}: {}", listed.name);
            }
            assert!(times.is_empty(), "{solver:?} has no pass {times:?}");
        }
    }
}
