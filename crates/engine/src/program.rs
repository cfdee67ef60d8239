//! The program of a time step: its passes in order. There is one list for grains, and one for each solver of fluids.
//!
//! A list is data. It is the same on one domain and on many: what domains exchange is a pass like any other, which does nothing where there is one
//! domain. An [`Executor`] runs the passes; it decides what an exchange means.

mod lists;
mod placements;
mod queued;

use crate::flow::{Constraint, NoHalo};
use crate::guard::StepError;
use crate::pass::{PASSES_OF_CPU, Pass};
use crate::populations::Populations;

use lists::of_fluids;
pub(crate) use lists::{GRAIN_FORCES, GRAIN_MOTION};
pub use placements::{Placement, PlacementLimit, PlacementRow, placement_limits, placements};
pub(crate) use queued::{FluidLaunch, GrainLaunch, Moment, QueuedLists, QueuedWork, Work};

/// What a pass works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Population {
    /// Grains.
    Grains,
    /// Rigid bodies.
    Bodies,
    /// Walls, and wall particles.
    Walls,
    /// Bonds between grains.
    Bonds,
    /// Fluid particles.
    Fluid,
}

impl Population {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Population::Grains => "grains",
            Population::Bodies => "bodies",
            Population::Walls => "walls",
            Population::Bonds => "bonds",
            Population::Fluid => "fluid",
        }
    }
}

/// A pass of the program of a simulation, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassLine {
    /// What it does.
    pub name: &'static str,
    /// What it works on.
    pub population: Population,
    /// Line of the profile that has its time.
    pub profile: &'static str,
    /// Whether it exchanges data between domains.
    pub exchanges: bool,
    /// What does it on a GPU, where one launch may do several passes.
    pub on_gpu: &'static str,
}

impl Populations {
    /// The passes of a step that are needed now, in order.
    pub(crate) fn program(&self) -> Vec<PassLine> {
        let needed = self.passes().filter(|listed| (listed.when)(self));
        let queued = QueuedLists::of(self.flows().then(|| self.solver_of_fluids()));
        let line = |listed: &ListedPass| PassLine {
            name: listed.name,
            population: listed.population,
            profile: PASSES_OF_CPU[listed.pass as usize],
            exchanges: matches!(listed.action, Action::Exchange(_) | Action::Solve(_)),
            on_gpu: queued.work_for(listed.name).unwrap_or_default(),
        };
        needed.map(line).collect()
    }

    /// All passes of a step on the CPU, in order.
    pub(crate) fn passes(&self) -> impl Iterator<Item = &'static ListedPass> + use<> {
        let fluids = self.flows().then(|| of_fluids(self.solver_of_fluids()));
        GRAIN_MOTION.iter().chain(GRAIN_FORCES).chain(fluids.into_iter().flatten())
    }
}

/// An exchange between domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// Sum of the loads of grains on walls with servos.
    ServoLoads,
    /// Sum of the forces on the grains of each rigid body.
    BodyForces,
    /// Ghost grains are on their way to their new positions.
    GhostPositions,
    /// Whether a domain failed, or needs new neighbor lists.
    Agreement,
    /// Ghost grains arrive, or grains migrate and neighbor lists are rebuilt.
    NeighborLists,
    /// Whether a domain failed.
    Status,
    /// Ghosts of fluid follow within a batch of steps on GPUs.
    FluidGhosts,
    /// Ghosts of fluid follow, or fluid migrates and its neighbor lists are rebuilt. If true, fluid that left is removed.
    FluidLists(bool),
    /// Pressures of wall particles.
    WallPressures,
    /// Velocities of fluid particles that drift through the flow, by shifting or by XSPH.
    ParticleVelocities,
    /// Velocities of fluid particles after forces, before they are smoothed.
    DrivenVelocities,
    /// Densities of fluid particles.
    Densities,
    /// Sum of the forces of fluids on body boundary particles.
    BodyBoundaryForces,
    /// Fluid that left is removed.
    LostFluid,
}

/// What a pass does.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    /// Computes, in one domain.
    Compute(fn(&mut Populations)),
    /// Computes, and may find that a state became impossible.
    Check(fn(&mut Populations) -> Result<(), StepError>),
    /// Solves for the pressures of incompressible fluids, in all domains together.
    Solve(Constraint),
    /// Exchanges data between domains.
    Exchange(Exchange),
}

/// A pass of a step.
pub(crate) struct ListedPass {
    /// What it does, in words.
    pub name: &'static str,
    /// Line of the profile that has its time.
    pub pass: Pass,
    pub population: Population,
    /// Whether the simulation needs it now.
    pub when: fn(&Populations) -> bool,
    pub action: Action,
}

/// Runs the passes of a step.
pub(crate) trait Executor {
    /// The reason for which a step ends early.
    type Halt;

    /// What this domain has.
    fn populations(&mut self) -> &mut Populations;

    /// Exchanges data with the other domains. `failure` is the error of an earlier pass of this domain, which the others do not know yet.
    ///
    /// # Errors
    /// If this domain or another one failed.
    fn exchange(&mut self, exchange: Exchange, failure: &mut Option<StepError>) -> Result<(), Self::Halt>;

    /// Solves for pressures, together with the other domains.
    ///
    /// # Errors
    /// If the others cannot be reached.
    fn solve(&mut self, constraint: Constraint) -> Result<(), Self::Halt>;

    /// The reason to stop for an error that no exchange reported.
    fn stop(&self, error: StepError) -> Self::Halt;
}

/// Runs a list of passes. After an error nothing is computed before the next exchange, which may end the step.
pub(crate) fn execute<E: Executor>(executor: &mut E, passes: impl IntoIterator<Item = &'static ListedPass>) -> Result<(), E::Halt> {
    let mut failure = None;
    for listed in passes {
        let populations = executor.populations();
        if !(listed.when)(populations) {
            continue;
        }
        match listed.action {
            Action::Exchange(exchange) => {
                let began = populations.now();
                executor.exchange(exchange, &mut failure)?;
                executor.populations().note(listed.name, began);
            }
            _ if failure.is_some() => {}
            Action::Compute(run) => populations.pass(listed.pass, run),
            Action::Check(run) => failure = populations.pass(listed.pass, run).err(),
            Action::Solve(constraint) => {
                let began = populations.now();
                executor.solve(constraint)?;
                executor.populations().note(listed.name, began);
            }
        }
    }
    failure.map_or(Ok(()), |error| Err(executor.stop(error)))
}

/// The only domain: there is no one to exchange data with.
pub(crate) struct OneDomain<'a>(pub &'a mut Populations);

impl Executor for OneDomain<'_> {
    type Halt = StepError;

    fn populations(&mut self) -> &mut Populations {
        self.0
    }

    fn exchange(&mut self, exchange: Exchange, failure: &mut Option<StepError>) -> Result<(), StepError> {
        if let Some(error) = failure.take() {
            return Err(error);
        }
        match exchange {
            Exchange::NeighborLists if self.0.has_no_grains() => {}
            Exchange::NeighborLists => self.0.pass(Pass::NeighborLists, Populations::rebuild_neighbor_lists_if_needed),
            Exchange::FluidLists(true) => self.0.pass(Pass::NeighborLists, Populations::rebuild_fluid_lists_if_needed),
            Exchange::FluidLists(false) => self.0.pass(Pass::NeighborLists, Populations::build_fluid_lists_if_needed),
            Exchange::LostFluid => self.0.pass(Pass::NeighborLists, Populations::drop_lost_fluids),
            _ => {}
        }
        Ok(())
    }

    fn solve(&mut self, constraint: Constraint) -> Result<(), StepError> {
        let Ok(()) = self.0.solve_pressures(constraint, &mut NoHalo);
        Ok(())
    }

    fn stop(&self, error: StepError) -> StepError {
        error
    }
}

impl Populations {
    /// First half of a step of grains: moves them, their bodies and walls to the next positions.
    pub(crate) fn move_grains(&mut self) -> Result<(), StepError> {
        execute(&mut OneDomain(self), GRAIN_MOTION)
    }

    /// Second half of a step of grains: forces at the new positions.
    pub(crate) fn grain_forces(&mut self) -> Result<(), StepError> {
        execute(&mut OneDomain(self), GRAIN_FORCES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::fields_of;
    use crate::gpu::search_tests::world;
    use crate::guard::StepErrorCause;
    use crate::simulation::Simulation;
    use crate::world::{Settings, Solver};
    use seixo_device::Cpu;
    use std::collections::HashSet;

    /// A domain among others: it writes down its exchanges.
    struct Noted {
        simulation: Simulation,
        exchanges: Vec<(Exchange, bool)>,
    }

    impl Executor for Noted {
        type Halt = StepError;

        fn populations(&mut self) -> &mut Populations {
            &mut self.simulation.whole.populations
        }

        fn exchange(&mut self, exchange: Exchange, failure: &mut Option<StepError>) -> Result<(), StepError> {
            self.exchanges.push((exchange, failure.is_some()));
            if exchange == Exchange::Status {
                return failure.take().map_or(Ok(()), Err);
            }
            Ok(())
        }

        fn solve(&mut self, _: Constraint) -> Result<(), StepError> {
            Ok(())
        }

        fn stop(&self, error: StepError) -> StepError {
            error
        }
    }

    fn noted() -> Noted {
        let world = world(&[([0.0; 3], 1e-3), ([5e-3, 0.0, 0.0], 1e-3)]);
        let fields = fields_of(&Cpu::new(1).unwrap(), &world.grains, &[2500.0], true);
        Noted {
            simulation: Simulation::prepare(&world, Settings::default(), fields).unwrap(),
            exchanges: Vec::new(),
        }
    }

    #[test]
    fn after_an_error_nothing_is_computed_but_all_is_exchanged() {
        const fn listed(action: Action) -> ListedPass {
            ListedPass {
                name: "a pass",
                pass: Pass::Checks,
                population: Population::Grains,
                when: |_| true,
                action,
            }
        }
        static PASSES: [ListedPass; 5] = [
            listed(Action::Exchange(Exchange::ServoLoads)),
            listed(Action::Check(|simulation| Err(simulation.failed("it broke".to_owned())))),
            listed(Action::Compute(|_| panic!("nothing is computed after an error"))),
            listed(Action::Exchange(Exchange::GhostPositions)),
            listed(Action::Exchange(Exchange::Status)),
        ];
        let mut domain = noted();
        let error = execute(&mut domain, &PASSES).unwrap_err();
        assert!(matches!(error.cause, StepErrorCause::Device { .. }), "{error}");
        let expected = [
            (Exchange::ServoLoads, false),
            (Exchange::GhostPositions, true),
            (Exchange::Status, true),
        ];
        assert_eq!(domain.exchanges, expected);
        // Without a later exchange the error ends the list, and one domain learns of it at the next exchange.
        let mut domain = noted();
        assert!(execute(&mut domain, &PASSES[..2]).is_err());
        assert!(execute(&mut OneDomain(&mut domain.simulation.whole.populations), &PASSES).is_err());
    }

    #[test]
    fn passes_of_a_list_have_names_of_their_own() {
        let of_fluids = [Solver::WeaklyCompressible, Solver::Incompressible, Solver::Muller2003].map(of_fluids);
        for list in of_fluids {
            let passes: Vec<&ListedPass> = GRAIN_MOTION.iter().chain(GRAIN_FORCES).chain(list).collect();
            let names: HashSet<&str> = passes.iter().map(|listed| listed.name).collect();
            assert_eq!(names.len(), passes.len());
        }
    }
}
