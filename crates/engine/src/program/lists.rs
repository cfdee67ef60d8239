//! The lists: each line is one pass. Its columns: what it does, the line of the profile, the population, the need, and the function or exchange.

use super::Population::{Bodies, Bonds, Fluid, Grains, Walls};
use super::{Action, Exchange, ListedPass, Population};
use crate::flow::Constraint;
use crate::guard::StepError;
use crate::pass::Pass::{
    self, Bonds as BondForces, Checks, Contacts, EnergyLedger, FilmExchange, Fluids, HeatConduction, Integration, NeighborLists,
    WallContacts, WallMotion,
};
use crate::populations::Populations;
use crate::scalars::GrainScalar;
use crate::world::Solver;

/// Motion of grains, bodies and walls to the next positions.
#[rustfmt::skip]
pub(crate) static GRAIN_MOTION: &[ListedPass] = &[
    exchange("sum of the loads on servo walls", WallMotion, Walls, |s| s.walls.has_servos(), Exchange::ServoLoads),
    exchange("sum of the forces on bodies", Integration, Bodies, always, Exchange::BodyForces),
    compute("last work of contacts", EnergyLedger, Grains, Populations::has_no_grains, Populations::add_work_without_grains),
    compute("motion of walls without grains", WallMotion, Walls, Populations::has_no_grains, |populations| populations.pass_time(1)),
    // A domain without grains has all bodies, too.
    compute("motion of bodies without grains", Integration, Bodies, Populations::has_no_grains, Populations::advance_bodies),
    check("heat conduction", HeatConduction, Grains, |s| has_grains(s) && s.diffusion_of(GrainScalar::Temperature).is_some(), |s| s.diffuse(GrainScalar::Temperature)),
    check("film exchange", FilmExchange, Grains, |s| has_grains(s) && s.diffusion_of(GrainScalar::FilmThickness).is_some(), |s| s.diffuse(GrainScalar::FilmThickness)),
    check("motion of the cell", Integration, Grains, |s| has_grains(s) && s.has_controlled_cell(), Populations::move_cell),
    compute("motion of grains", Integration, Grains, |s| has_grains(s) && !s.is_geared(), Populations::advance_grains),
    compute("motion of grains by Gear's method", Integration, Grains, |s| has_grains(s) && s.is_geared(), Populations::advance_grains_by_gear),
    compute("motion of bodies", Integration, Bodies, |s| has_grains(s) && s.bodies.are_present, Populations::advance_bodies),
    // With polyhedra, their pass rotates all grains.
    compute("orientations of bonded grains", Integration, Bonds, |s| has_bonds(s) && !s.has_polyhedra(), Populations::integrate_orientations),
    compute("rotation of polyhedra", Integration, Grains, |s| has_grains(s) && s.has_polyhedra(), Populations::rotate_polyhedra),
    compute("motion of walls", WallMotion, Walls, has_grains, Populations::move_walls),
    compute("work of local damping", EnergyLedger, Grains, has_grains, Populations::add_local_damping),
    check("limits of motion", Checks, Grains, has_grains, Populations::guard_motion),
];

/// Forces on grains at their new positions.
#[rustfmt::skip]
pub(crate) static GRAIN_FORCES: &[ListedPass] = &[
    exchange("departure of ghost positions", NeighborLists, Grains, always, Exchange::GhostPositions),
    exchange("agreement on neighbor lists", NeighborLists, Grains, always, Exchange::Agreement),
    compute("contacts away from ghosts", Contacts, Grains, |s| has_grains(s) && s.grains.border.goes_ahead, Populations::inner_contact_forces),
    exchange("neighbor lists and ghosts", NeighborLists, Grains, always, Exchange::NeighborLists),
    compute("work without grains", EnergyLedger, Grains, Populations::has_no_grains, Populations::add_work_without_grains),
    compute("contacts", Contacts, Grains, has_grains, Populations::contact_forces),
    compute("contacts of polyhedra", Contacts, Grains, |s| has_grains(s) && s.has_polyhedra(), Populations::polyhedra_forces),
    compute("stress of the cell", Contacts, Grains, |s| has_grains(s) && s.has_controlled_cell(), Populations::measure_cell_stress),
    compute("wall contacts", WallContacts, Walls, has_grains, Populations::wall_forces),
    compute("bonds", BondForces, Bonds, has_bonds, Populations::bond_forces),
    compute("loads that depend on time", WallContacts, Grains, Populations::has_loads_of_time, Populations::evaluate_loads),
    compute("loads", WallContacts, Grains, |s| has_grains(s) && s.has_external_loads(), Populations::external_loads),
    compute("work of contacts", EnergyLedger, Grains, has_grains, Populations::add_contact_work),
    check("limits of contacts", Checks, Grains, has_grains, Populations::guard_contacts),
    exchange("agreement on errors", Checks, Grains, always, Exchange::Status),
];

#[rustfmt::skip]
static WEAKLY_COMPRESSIBLE: &[ListedPass] = &[
    compute("motion of fluids", Integration, Fluid, always, Populations::advance_fluids),
    compute("motion of wall particles", WallMotion, Walls, always, Populations::place_boundaries),
    check("limits of fluids", Checks, Fluid, always, Populations::guard_fluids),
    exchange("fluid neighbor lists and ghosts", NeighborLists, Fluid, always, Exchange::FluidLists(true)),
    compute("pressures of wall particles", WallMotion, Walls, always, Populations::wall_particle_pressures),
    exchange("exchange of wall pressures", WallMotion, Walls, always, Exchange::WallPressures),
    compute("particle shifting", Fluids, Fluid, Populations::shifts_fluids, Populations::shift_fluids),
    compute("XSPH", Fluids, Fluid, Populations::has_xsph, Populations::draw_fluids_along),
    exchange("exchange of particle velocities", Fluids, Fluid, Populations::has_drift, Exchange::ParticleVelocities),
    compute("fluid forces", Fluids, Fluid, always, Populations::fluid_pair_forces),
    compute("small grains in fluids", Fluids, Grains, Populations::has_small_grains, Populations::suspend_grains),
    exchange("sum of the forces on body boundaries", Fluids, Bodies, always, Exchange::BodyBoundaryForces),
    compute("loads of fluids on bodies", Fluids, Bodies, always, Populations::load_bodies),
    compute("work of fluids", EnergyLedger, Fluid, always, Populations::add_fluid_work),
    check("open boundaries", WallMotion, Fluid, Populations::has_open_boundaries, Populations::pass_open_boundaries),
];

#[rustfmt::skip]
static INCOMPRESSIBLE: &[ListedPass] = &[
    compute("pressures of wall particles", WallMotion, Walls, always, Populations::wall_particle_pressures),
    exchange("exchange of wall pressures", WallMotion, Walls, always, Exchange::WallPressures),
    compute("viscous forces", Fluids, Fluid, always, Populations::viscous_forces),
    solve("pressures for constant density", Constraint::Density),
    compute("motion of fluids", Integration, Fluid, always, Populations::advect_fluids),
    compute("motion of wall particles", WallMotion, Walls, always, Populations::place_boundaries),
    check("limits of fluids", Checks, Fluid, always, Populations::guard_fluids),
    exchange("fluid neighbor lists and ghosts", NeighborLists, Fluid, always, Exchange::FluidLists(false)),
    solve("pressures for zero divergence", Constraint::Divergence),
    exchange("sum of the forces on body boundaries", Fluids, Bodies, always, Exchange::BodyBoundaryForces),
    compute("loads of fluids on bodies", Fluids, Bodies, always, Populations::load_bodies),
    compute("work on bodies", EnergyLedger, Fluid, always, Populations::add_body_work),
    exchange("removal of lost fluid", NeighborLists, Fluid, always, Exchange::LostFluid),
];

#[rustfmt::skip]
static MULLER_2003: &[ListedPass] = &[
    compute("velocities after forces", Integration, Fluid, always, Populations::drive_velocities),
    exchange("exchange of velocities", Integration, Fluid, Populations::smooths_velocities, Exchange::DrivenVelocities),
    compute("motion of fluids", Integration, Fluid, always, Populations::xsph_velocities),
    compute("rebound at walls", WallMotion, Fluid, always, Populations::move_in_container),
    compute("motion of body boundaries", WallMotion, Walls, always, Populations::place_boundaries),
    check("limits of fluids", Checks, Fluid, always, Populations::guard_fluids),
    exchange("fluid neighbor lists and ghosts", NeighborLists, Fluid, always, Exchange::FluidLists(true)),
    compute("densities", Fluids, Fluid, always, Populations::sum_densities),
    exchange("exchange of densities", Fluids, Fluid, always, Exchange::Densities),
    compute("fluid forces", Fluids, Fluid, always, Populations::muller_forces),
    exchange("sum of the forces on body boundaries", Fluids, Bodies, always, Exchange::BodyBoundaryForces),
    compute("loads of fluids on bodies", Fluids, Bodies, always, Populations::load_bodies),
    compute("work of fluids", EnergyLedger, Fluid, always, Populations::add_muller_fluid_step),
];

/// The passes of a solver of fluids.
pub(crate) fn of_fluids(solver: Solver) -> &'static [ListedPass] {
    match solver {
        Solver::WeaklyCompressible => WEAKLY_COMPRESSIBLE,
        Solver::Incompressible => INCOMPRESSIBLE,
        Solver::Muller2003 => MULLER_2003,
    }
}

fn always(_: &Populations) -> bool {
    true
}

fn has_grains(simulation: &Populations) -> bool {
    !simulation.has_no_grains()
}

fn has_bonds(simulation: &Populations) -> bool {
    has_grains(simulation) && simulation.is_bonded()
}

type Need = fn(&Populations) -> bool;

const fn compute(name: &'static str, pass: Pass, population: Population, when: Need, run: fn(&mut Populations)) -> ListedPass {
    let action = Action::Compute(run);
    ListedPass {
        name,
        pass,
        population,
        when,
        action,
    }
}

const fn check(
    name: &'static str,
    pass: Pass,
    population: Population,
    when: Need,
    run: fn(&mut Populations) -> Result<(), StepError>,
) -> ListedPass {
    let action = Action::Check(run);
    ListedPass {
        name,
        pass,
        population,
        when,
        action,
    }
}

const fn solve(name: &'static str, constraint: Constraint) -> ListedPass {
    ListedPass {
        name,
        pass: Fluids,
        population: Fluid,
        when: always,
        action: Action::Solve(constraint),
    }
}

const fn exchange(name: &'static str, pass: Pass, population: Population, when: Need, exchange: Exchange) -> ListedPass {
    ListedPass {
        name,
        pass,
        population,
        when,
        action: Action::Exchange(exchange),
    }
}
