//! One time step: a page on which every line is one pass.

use crate::guard::Stop;
use crate::simulation::{Pass, Simulation};
use crate::world::Solver;

impl Simulation {
    /// Advances by one time step; afterwards positions, velocities and forces all belong to [`Simulation::time`].
    ///
    /// # Errors
    /// If a grain's state became impossible; the error names it and the likely cause.
    pub fn step(&mut self) -> Result<(), Stop> {
        if self.division.is_some() {
            return self.advance_divided(1);
        }
        if self.is_remote() || self.flows_remotely() {
            return self.advance_remotely(1);
        }
        self.move_grains()?;
        self.push_grains()?;
        if self.flows() {
            self.step_fluids()?;
        }
        Ok(())
    }

    /// The first half of a step of grains: they and all that carries or bounds them go to their next places.
    pub(crate) fn move_grains(&mut self) -> Result<(), Stop> {
        if self.is_empty() {
            self.book_without_grains();
            self.rest(1);
            // A domain without grains has the bodies of all.
            self.pass(Pass::Advance, Simulation::advance_bodies);
            return Ok(());
        }
        if self.conducts() {
            self.pass(Pass::Conduct, Simulation::conduct_heat)?;
        }
        if self.is_geared() {
            self.pass(Pass::Advance, Simulation::advance_grains_by_gear);
        } else {
            self.pass(Pass::Advance, Simulation::advance_grains);
        }
        if self.carries {
            self.pass(Pass::Advance, Simulation::advance_bodies);
        }
        if self.is_bonded() {
            self.pass(Pass::Advance, Simulation::turn_grains);
        }
        self.pass(Pass::Boundaries, Simulation::move_walls);
        self.pass(Pass::Measure, Simulation::book_local_damping);
        self.pass(Pass::Guard, Simulation::guard_motion)
    }

    /// What of the second half need not wait for the grains of other domains, of one domain.
    pub(crate) fn push_inner_grains(&mut self) {
        if !self.is_empty() {
            self.pass(Pass::Contacts, Simulation::touch_inner_grains);
        }
    }

    /// The second half: all that pushes them there.
    pub(crate) fn push_grains(&mut self) -> Result<(), Stop> {
        if self.is_empty() {
            self.pass(Pass::Measure, Simulation::book_without_grains);
            return Ok(());
        }
        self.pass(Pass::Cells, Simulation::renew_lists_when_stale);
        self.pass(Pass::Contacts, Simulation::touch_grains);
        self.pass(Pass::Walls, Simulation::bear_on_walls);
        if self.is_bonded() {
            self.pass(Pass::Bonds, Simulation::hold_grains);
        }
        if self.is_driven() {
            self.pass(Pass::Walls, Simulation::drive);
        }
        self.pass(Pass::Measure, Simulation::book_work);
        self.pass(Pass::Guard, Simulation::guard_contacts)
    }

    fn step_fluids(&mut self) -> Result<(), Stop> {
        match self.solver_of_fluids() {
            Solver::WeaklyCompressible => self.step_weakly_compressible_fluids(),
            Solver::Incompressible => self.step_incompressible_fluids(),
            Solver::Muller2003 => self.step_muller(),
        }
    }

    fn step_muller(&mut self) -> Result<(), Stop> {
        self.pass(Pass::Advance, Simulation::smooth_velocities);
        self.pass(Pass::Boundaries, Simulation::move_in_container);
        self.pass(Pass::Boundaries, Simulation::place_boundaries);
        self.pass(Pass::Guard, Simulation::guard_fluids)?;
        self.pass(Pass::Cells, Simulation::renew_lists_of_fluids_when_stale);
        self.pass(Pass::Fluids, Simulation::sum_densities);
        self.pass(Pass::Fluids, Simulation::drive_fluids);
        self.pass(Pass::Fluids, Simulation::load_bodies);
        self.pass(Pass::Measure, Simulation::book_step_of_fluids);
        Ok(())
    }

    fn step_weakly_compressible_fluids(&mut self) -> Result<(), Stop> {
        self.move_fluids()?;
        self.pass(Pass::Cells, Simulation::renew_lists_of_fluids_when_stale);
        self.pass(Pass::Boundaries, Simulation::press_boundaries);
        self.pass(Pass::Fluids, Simulation::shift_fluids);
        self.push_fluids();
        self.let_fluids_bear();
        self.pass(Pass::Boundaries, Simulation::let_fluids_pass)
    }

    /// The first half of a step of weakly compressible fluids: they and what bounds them go to their next places.
    pub(crate) fn move_fluids(&mut self) -> Result<(), Stop> {
        self.pass(Pass::Advance, Simulation::advance_fluids);
        self.pass(Pass::Boundaries, Simulation::place_boundaries);
        self.pass(Pass::Guard, Simulation::guard_fluids)
    }

    /// The second half: all that pushes fluids there, once it is known how walls press.
    pub(crate) fn push_fluids(&mut self) {
        self.pass(Pass::Fluids, Simulation::exchange_fluids);
        self.pass(Pass::Fluids, Simulation::suspend_grains);
    }

    /// What fluids do to bodies, and what all of that took.
    pub(crate) fn let_fluids_bear(&mut self) {
        self.pass(Pass::Fluids, Simulation::load_bodies);
        self.pass(Pass::Measure, Simulation::book_work_of_fluids);
    }

    /// The same of incompressible fluids.
    pub(crate) fn let_incompressible_fluids_bear(&mut self) {
        self.pass(Pass::Fluids, Simulation::load_bodies);
        self.pass(Pass::Measure, Simulation::book_work_on_bodies);
    }

    fn step_incompressible_fluids(&mut self) -> Result<(), Stop> {
        self.pass(Pass::Boundaries, Simulation::press_boundaries);
        self.pass(Pass::Fluids, Simulation::drag_fluids);
        self.pass(Pass::Fluids, Simulation::correct_densities);
        self.move_incompressible_fluids()?;
        self.pass(Pass::Cells, Simulation::list_fluids_when_stale);
        self.pass(Pass::Fluids, Simulation::free_fluids_of_divergence);
        self.let_incompressible_fluids_bear();
        self.pass(Pass::Cells, Simulation::drop_lost_fluids);
        Ok(())
    }

    /// Of a step of incompressible fluids, when they and what bounds them go to their next places.
    pub(crate) fn move_incompressible_fluids(&mut self) -> Result<(), Stop> {
        self.pass(Pass::Advance, Simulation::drift_fluids);
        self.pass(Pass::Boundaries, Simulation::place_boundaries);
        self.pass(Pass::Guard, Simulation::guard_fluids)
    }

    /// Does `work` – such as writing what is seen of this state –, and advances by `steps` time steps, or until one fails. A GPU takes the
    /// first of them meanwhile. What came of the work is told beside what came of the steps.
    pub fn advance_while<T>(&mut self, steps: u64, work: impl FnOnce(&Simulation) -> T) -> (T, Result<(), Stop>) {
        let ahead = self.go_ahead(steps);
        let worked = work(self);
        (worked, ahead.and_then(|()| self.advance(steps)))
    }

    /// Advances by `steps` time steps, or until one fails.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn advance(&mut self, steps: u64) -> Result<(), Stop> {
        if self.division.is_some() {
            return self.advance_divided(steps);
        }
        if self.is_remote() || self.flows_remotely() {
            return self.advance_remotely(steps);
        }
        if self.is_empty() && !self.flows() {
            self.rest(steps);
            return Ok(());
        }
        let device = self.device.clone();
        device.enter(|| (0..steps).try_for_each(|_| self.step()))
    }
}
