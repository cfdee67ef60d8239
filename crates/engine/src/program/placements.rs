//! Where the passes of a step can be computed: the one table of what a placement cannot do, and why.

use super::lists::{GRAIN_FORCES, GRAIN_MOTION, of_fluids};
use super::{ListedPass, Population};
use crate::populations::Populations;
use crate::world::{DeviceChoice, Search, Solver};

/// Where a simulation is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The cores of one machine, without decomposition.
    Cpu,
    /// Several domains on cores.
    CpuDomains,
    /// One GPU.
    Gpu,
    /// Several domains on GPUs.
    GpuDomains,
    /// Grains on cores, fluids at the same time on a GPU.
    CpuAndGpu,
    /// The same, in several domains.
    CpuAndGpuDomains,
}

impl Placement {
    /// All placements.
    pub const ALL: [Placement; 6] = [
        Placement::Cpu,
        Placement::CpuDomains,
        Placement::Gpu,
        Placement::GpuDomains,
        Placement::CpuAndGpu,
        Placement::CpuAndGpuDomains,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Cpu => "CPU",
            Placement::CpuDomains => "CPU domains",
            Placement::Gpu => "GPU",
            Placement::GpuDomains => "GPU domains",
            Placement::CpuAndGpu => "CPU and GPU",
            Placement::CpuAndGpuDomains => "CPU and GPU domains",
        }
    }
}

/// What some placements cannot do.
#[derive(Clone, Copy, Debug)]
pub struct PlacementLimit {
    /// What worlds with it have.
    pub what: &'static str,
    /// Solver and names of the passes that cannot be there; of all solvers without one, and all passes without names.
    passes: (Option<Solver>, &'static [&'static str]),
    /// The placements that cannot do it.
    pub not_on: &'static [Placement],
    /// The reason.
    pub why: &'static str,
    /// Whether the limit holds for a world.
    when: fn(&Populations) -> bool,
}

use Placement::{CpuAndGpu, CpuAndGpuDomains, CpuDomains, Gpu, GpuDomains};

/// All limits of placements. Their order is that in which a world is refused.
static LIMITS: &[PlacementLimit] = &[
    PlacementLimit {
        what: "the CPU and a GPU at the same time",
        passes: (None, &[]),
        not_on: &[CpuAndGpuDomains],
        why: "each domain would need cores and a GPU of its own in step with all others",
        when: |populations| matches!(populations.context.settings.device, DeviceChoice::Heterogeneous(_)),
    },
    PlacementLimit {
        what: "small grains in fluids",
        passes: (Some(Solver::WeaklyCompressible), &["small grains in fluids"]),
        not_on: &[CpuDomains, GpuDomains],
        why: "grains and fluids have blocks of their own, so a grain and the fluid around it may be in different domains",
        when: Populations::has_small_grains,
    },
    PlacementLimit {
        what: "inlets or outlets of fluids",
        passes: (Some(Solver::WeaklyCompressible), &["open boundaries"]),
        not_on: &[CpuDomains, GpuDomains],
        why: "the ids of the particles that enter follow from one count",
        when: Populations::has_open_boundaries,
    },
    PlacementLimit {
        what: "a broad phase of rigid bodies beside a GPU",
        passes: (None, &["neighbor lists and ghosts"]),
        not_on: &[GpuDomains],
        why: "each domain on a GPU lists its grains within the exchange of ghosts, without the cores",
        when: |populations| populations.context.settings.broad_phase == Some(true) && populations.bodies.are_present,
    },
    PlacementLimit {
        what: "a servo on a wall, with fluids of solver = \"muller2003\"",
        passes: (Some(Solver::Muller2003), &["rebound at walls"]),
        not_on: &[Gpu, GpuDomains, CpuAndGpu],
        why: "the host sends the walls that contain the fluid before the step, and the servo moves its wall within the step",
        when: |populations| populations.servo_wall_of_container().is_some(),
    },
    PlacementLimit {
        what: "a periodic cell whose lengths are controlled",
        passes: (None, &["motion of the cell", "stress of the cell"]),
        not_on: &[CpuDomains, Gpu, GpuDomains, CpuAndGpuDomains],
        why: "its servos need the stress of all contacts in each step",
        when: Populations::has_controlled_cell,
    },
    PlacementLimit {
        what: "polyhedral grains",
        passes: (None, &["contacts of polyhedra", "rotation of polyhedra"]),
        not_on: &[CpuAndGpu, CpuAndGpuDomains],
        why: "a GPU beside the cores takes fluids, so far only those around spheres and clumps",
        when: Populations::has_polyhedra,
    },
    PlacementLimit {
        what: "hash tables of fixed spheres that are filled once (\"spatial_hash_static\")",
        passes: (None, &["neighbor lists and ghosts"]),
        not_on: &[GpuDomains],
        why: "the spheres of a domain change when grains migrate, and the host of a GPU does not have their positions",
        when: |populations| populations.context.settings.search == Search::SpatialHashStatic,
    },
];

/// A pass of the program, and where it can be computed.
#[derive(Clone, Copy, Debug)]
pub struct PlacementRow {
    /// The pass.
    pub pass: &'static str,
    /// What it works on.
    pub population: Population,
    /// Solver of the fluids whose list has the pass; `None` for a pass of grains.
    pub solver: Option<Solver>,
}

impl PlacementRow {
    /// Indices in [`placement_limits`] of what this placement cannot do in this pass.
    pub fn limits_on(&self, placement: Placement) -> impl Iterator<Item = usize> + use<> {
        let row = *self;
        let holds = move |limit: &PlacementLimit| limit.not_on.contains(&placement) && limit.is_of(&row);
        LIMITS
            .iter()
            .enumerate()
            .filter(move |(_, limit)| holds(limit))
            .map(|(index, _)| index)
    }
}

/// What some placements cannot do.
pub fn placement_limits() -> &'static [PlacementLimit] {
    LIMITS
}

/// All passes of grains and of each solver of fluids, and where they can be computed.
///
/// ```
/// use seixo_engine::{Placement, placements};
///
/// let rows = placements();
/// assert!(rows.iter().all(|row| row.limits_on(Placement::Cpu).next().is_none()), "one CPU computes everything");
/// ```
pub fn placements() -> Vec<PlacementRow> {
    let of_grains = GRAIN_MOTION.iter().chain(GRAIN_FORCES).map(|pass| (None, pass));
    let of_solvers = [Solver::WeaklyCompressible, Solver::Incompressible, Solver::Muller2003];
    let of_solvers = of_solvers
        .into_iter()
        .flat_map(|solver| of_fluids(solver).iter().map(move |pass| (Some(solver), pass)));
    let row = |(solver, listed): (Option<Solver>, &ListedPass)| PlacementRow {
        pass: listed.name,
        population: listed.population,
        solver,
    };
    of_grains.chain(of_solvers).map(row).collect()
}

impl PlacementLimit {
    /// Whether it is about this pass.
    fn is_of(&self, row: &PlacementRow) -> bool {
        let (solver, names) = self.passes;
        (solver.is_none() || solver == row.solver) && (names.is_empty() || names.contains(&row.pass))
    }
}

impl Populations {
    /// What this placement cannot do of what these populations need.
    pub(crate) fn limit_on(&self, placement: Placement) -> Option<&'static PlacementLimit> {
        LIMITS.iter().find(|limit| limit.not_on.contains(&placement) && (limit.when)(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_names_a_pass_of_the_program() {
        let rows = placements();
        for (index, limit) in LIMITS.iter().enumerate() {
            let has_limit = |row: &&PlacementRow| {
                limit
                    .not_on
                    .iter()
                    .all(|&placement| row.limits_on(placement).any(|found| found == index))
            };
            assert!(rows.iter().any(|row| has_limit(&row)), "{limit:?}");
        }
        assert!(rows.iter().all(|row| row.limits_on(Placement::Cpu).next().is_none()));
    }
}
