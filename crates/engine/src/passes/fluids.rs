//! Passes of fluids, and what fluids save, start with and restore.

use crate::checkpoint::misfit;
use crate::fields::FluidFields;
use crate::flow::checkpoint::{BOUNDARY, LEDGER_SECTION, NEXT_ID};
use crate::flow::freezing::load_frozen;
use crate::flow::{Constraint, Flow, Halo, Muller, OpenBoundaries, layout};
use crate::guard::StepError;
use crate::pass::Pass;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::state::{Column, Profile, State};
use crate::surroundings::Surroundings;
use crate::world::{Fluids, Solver};
use seixo_sweeps::bodies::LOAD;
use seixo_sweeps::fluid_lanes::FluidPowerSums;
use seixo_sweeps::layout::RECORD;

impl Populations {
    /// Energies that fluids dissipated and gained since time zero \[J\].
    pub(crate) fn work_of_fluids(&self) -> FluidPowerSums {
        self.flow.as_ref().map_or_else(FluidPowerSums::default, |flow| flow.work)
    }

    /// Energy of fluid particles that left since time zero \[J\].
    pub(crate) fn left_with_fluids(&self) -> f64 {
        self.flow.as_ref().map_or(0.0, |flow| flow.left)
    }

    /// Whether there are fluids.
    pub(crate) fn flows(&self) -> bool {
        self.flow.is_some()
    }

    /// The solver of the fluids.
    pub(crate) fn solver_of_fluids(&self) -> Solver {
        self.flow.as_ref().map_or_else(Solver::default, |flow| flow.plan.solver)
    }

    /// The fluids, if there are any, with what they read and the profile of their work.
    pub(crate) fn fluids(&mut self) -> Option<(&mut Flow, Surroundings<'_>, &mut Profile)> {
        let surroundings = Surroundings {
            context: &self.context,
            grains: &self.grains,
            bodies: &self.bodies,
            walls: &self.walls,
        };
        self.flow.as_mut().map(|flow| (&mut **flow, surroundings, &mut self.profile))
    }

    /// Runs some work on the fluids, if there are any.
    pub(crate) fn with_flow<T: Default>(&mut self, run: impl FnOnce(&mut Flow, &Surroundings) -> T) -> T {
        self.fluids()
            .map_or_else(T::default, |(flow, surroundings, _)| run(flow, &surroundings))
    }

    /// What fluids read of everything else.
    pub(crate) fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            context: &self.context,
            grains: &self.grains,
            bodies: &self.bodies,
            walls: &self.walls,
        }
    }

    /// Sets fluids up at time zero, with their forces.
    pub(crate) fn init_fluids(&mut self, fluids: Fluids) -> Result<(), WorldError> {
        self.flow = Some(Box::new(Flow::new(fluids, &self.surroundings())?));
        let refused = self.with_flow(|flow, surroundings| {
            flow.take_particles();
            flow.init_wall_particles(surroundings);
            flow.init_body_boundaries(0, surroundings);
            flow.init_open_boundaries(surroundings);
            flow.rebuild_neighbor_lists(surroundings);
            flow.begin(surroundings);
            flow.check_shifting().err()
        });
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        self.recompute_body_loads();
        Ok(())
    }
}

/// Passes of the [program](crate::program).
impl Populations {
    pub(crate) fn advance_fluids(&mut self) {
        self.with_flow(|flow, surroundings| flow.advance(surroundings));
    }

    pub(crate) fn place_boundaries(&mut self) {
        self.with_flow(|flow, surroundings| flow.place_boundary(surroundings));
    }

    pub(crate) fn rebuild_fluid_lists_if_needed(&mut self) {
        self.with_flow(|flow, surroundings| flow.rebuild_neighbor_lists_if_needed(surroundings));
    }

    pub(crate) fn wall_particle_pressures(&mut self) {
        self.with_flow(|flow, surroundings| flow.wall_pressures(surroundings, true));
    }

    pub(crate) fn shift_fluids(&mut self) {
        self.with_flow(|flow, surroundings| flow.shift(surroundings));
    }

    pub(crate) fn draw_fluids_along(&mut self) {
        self.with_flow(|flow, surroundings| flow.draw_along(surroundings));
    }

    pub(crate) fn fluid_pair_forces(&mut self) {
        self.with_flow(|flow, surroundings| flow.exchange(surroundings));
    }

    pub(crate) fn add_fluid_work(&mut self) {
        self.with_flow(|flow, _| flow.add_contact_work());
    }

    pub(crate) fn viscous_forces(&mut self) {
        self.with_flow(|flow, surroundings| flow.viscous_forces_of(surroundings));
    }

    /// Solves for the pressures of incompressible fluids, together with their other parts.
    pub(crate) fn solve_pressures<H: Halo>(&mut self, constraint: Constraint, others: &mut H) -> Result<(), H::Lost> {
        let solved = self.pass(Pass::Fluids, |populations| {
            populations.with_flow(|flow, surroundings| Some(flow.project(surroundings, constraint, others)))
        });
        solved.unwrap_or(Ok(()))
    }

    pub(crate) fn advect_fluids(&mut self) {
        self.with_flow(|flow, surroundings| flow.drift(surroundings));
    }

    pub(crate) fn build_fluid_lists_if_needed(&mut self) {
        self.with_flow(|flow, surroundings| flow.build_lists_if_needed(surroundings));
    }

    pub(crate) fn drop_lost_fluids(&mut self) {
        self.with_flow(|flow, surroundings| flow.remove_left(surroundings));
    }

    /// Whether fluids are on a GPU.
    pub(crate) fn fluids_on_gpu(&self) -> bool {
        self.flow.as_ref().is_some_and(|flow| flow.is_on_gpu)
    }

    /// Name of a wall that has a servo and contains a fluid of Müller's solver, if there is one.
    pub(crate) fn servo_wall_of_container(&self) -> Option<&str> {
        self.flow.as_ref()?.muller.as_ref()?;
        let wall = self.walls.given.iter().find(|wall| wall.motion.servo.is_some())?;
        Some(&wall.name)
    }

    /// Why fluids cannot be on a GPU, if they cannot.
    pub(crate) fn why_fluids_on_host(&self) -> Option<String> {
        let name = self.servo_wall_of_container()?;
        Some(format!(
            "wall {name} has a servo and contains a fluid of solver = \"muller2003\", which does not go on a GPU"
        ))
    }

    /// Why something cannot be on a GPU, if something cannot.
    pub(crate) fn why_on_host(&self) -> Option<String> {
        self.why_fluids_on_host()
            .or_else(|| self.why_cell_on_host())
            .or_else(|| self.why_polyhedra_on_host())
    }

    /// Number of steps until the next event at inlets and outlets, at most `most` and at least one.
    pub(crate) fn steps_until_open_boundary_event(&self, from: u64, most: u64) -> u64 {
        let next = self.flow.as_ref().map_or(u64::MAX, |flow| flow.next_open_boundary_event());
        next.saturating_sub(from).clamp(1, most)
    }

    /// Applies fluid forces to bodies.
    pub(crate) fn load_bodies(&mut self) {
        let feels = self.flow.as_ref().is_some_and(|flow| !flow.body_boundaries.is_empty());
        if !feels {
            return;
        }
        self.with_flow(|flow, surroundings| flow.sum_forces_on_bodies(surroundings));
        self.apply_fluid_loads();
    }

    /// Takes the loads that fluids computed.
    pub(crate) fn apply_fluid_loads(&mut self) {
        if let Some(flow) = self.flow.as_mut().filter(|flow| !flow.body_boundaries.is_empty()) {
            std::mem::swap(&mut flow.body_boundaries.load, &mut self.bodies.load);
            self.bodies.load.resize(self.bodies.len() * LOAD, 0.0);
        }
    }

    /// As [`Populations::load_bodies`], after forces were computed outside of a step.
    pub(crate) fn recompute_body_loads(&mut self) {
        self.load_bodies();
        self.with_flow(|flow, _| flow.last.wall += flow.body_boundaries.power);
    }

    /// Subtracts the energy that bodies gained in a step of incompressible fluids from the work of walls.
    pub(crate) fn add_body_work(&mut self) {
        let dt = self.context.stepping.dt;
        self.with_flow(|flow, _| flow.work.wall += flow.body_boundaries.power * dt);
    }

    /// Restores fluids from a checkpoint.
    pub(crate) fn restore_fluids(&mut self, fluids: Option<Fluids>, state: &State) -> Result<(), WorldError> {
        let Some(mut fluids) = fluids else { return Ok(()) };
        let frozen = load_frozen(state, &fluids).ok_or_else(|| misfit("the bodies that froze out of its fluids are incomplete"))?;
        let frozen_bodies = frozen.len();
        fluids.body_boundaries.extend(frozen);
        layout::as_saved(
            &mut fluids,
            state,
            self.walls.all_there().len(),
            (&self.bodies, self.context.domain.as_ref()),
        );
        let mut flow = Flow::new(fluids, &self.surroundings())?;
        flow.frozen_bodies = frozen_bodies;
        flow.plan.particles = Default::default();
        flow.fields = FluidFields::load(state).map_err(|name| misfit(&format!("section {name} is missing or of the wrong size")))?;
        let (n, walls) = (flow.fields.len(), self.walls.all_there().len());
        let mut particles = flow.fields.id.iter().zip(&flow.fields.kind);
        if flow.fields.position.len() != n * RECORD || !particles.all(|(&id, &kind)| flow.can_exist(id, kind, walls)) {
            return Err(misfit("its fluids have other columns, kinds or walls"));
        }
        flow.compiled_for.moving |= !flow.fields.particle_velocity.is_empty();
        if flow.compiled_for.moving && flow.fields.particle_velocity.len() != n * RECORD {
            return Err(misfit("its walls stand still, those of the scene move"));
        }
        let pressures = if flow.is_incompressible() { 2 * n } else { 0 };
        if flow.fields.pressures.len() != pressures {
            return Err(misfit("its fluids are moved by another solver"));
        }
        let Some(Column::F64(ledger)) = state.get(LEDGER_SECTION) else {
            return Err(misfit(&format!("section {LEDGER_SECTION} is missing")));
        };
        let &[viscous, diffusive, wall, by_viscosity, by_diffusion, by_walls, left] = ledger.as_slice() else {
            return Err(misfit(&format!("section {LEDGER_SECTION} has the wrong size")));
        };
        let Some(Column::F64(places)) = state.get(BOUNDARY) else {
            return Err(misfit("section fluid/boundary is missing"));
        };
        let (places, _) = places.as_chunks::<3>();
        if places.len() != flow.plan.boundary.position.len() {
            return Err(misfit("its fluids have other boundaries"));
        }
        flow.plan.boundary.position.copy_from_slice(places);
        flow.last = FluidPowerSums { viscous, diffusive, wall };
        flow.work = FluidPowerSums {
            viscous: by_viscosity,
            diffusive: by_diffusion,
            wall: by_walls,
        };
        flow.left = left;
        if flow.has_open_boundaries() {
            let (inlets, outlets) = (flow.plan.inlets.len(), flow.plan.outlets.len());
            flow.open_boundaries =
                OpenBoundaries::load(state, inlets, outlets).ok_or_else(|| misfit("its fluids have other inlets or outlets"))?;
        } else {
            let Some(Column::U64(next_id)) = state.get(NEXT_ID) else {
                return Err(misfit("section fluid/next_id is missing"));
            };
            flow.open_boundaries.next_id = next_id.first().copied().ok_or_else(|| misfit("section fluid/next_id is empty"))?;
        }
        flow.there = self.walls.all_there().to_vec();
        flow.restore_skin(state)
            .ok_or_else(|| misfit("the neighbor lists of its fluids have a skin that does not exist"))?;
        flow.find_running(&self.surroundings());
        flow.follow_bodies(&self.surroundings());
        flow.rebuild_lists(&self.surroundings());
        flow.count = flow.of_fluid().count();
        self.flow = Some(Box::new(flow));
        self.load_bodies();
        Ok(())
    }

    /// Turns the flags of the motion pass of fluids into an error.
    pub(crate) fn guard_fluids(&mut self) -> Result<(), StepError> {
        self.with_flow(|flow, surroundings| flow.stopped_by(flow.flags(), surroundings))
            .map_or(Ok(()), Err)
    }
}

/// The passes of `step.rs`.
impl Populations {
    /// Whether velocities of fluids are smoothed among neighbors.
    pub(crate) fn smooths_velocities(&self) -> bool {
        let muller = self.flow.as_ref().and_then(|flow| flow.muller.as_ref());
        muller.is_some_and(Muller::smooths)
    }

    pub(crate) fn drive_velocities(&mut self) {
        self.with_flow(|flow, surroundings| flow.drive_velocities(surroundings));
    }

    pub(crate) fn xsph_velocities(&mut self) {
        self.with_flow(|flow, surroundings| flow.xsph_velocities(surroundings));
    }

    pub(crate) fn move_in_container(&mut self) {
        self.with_flow(|flow, surroundings| flow.move_in_container(surroundings));
    }

    pub(crate) fn sum_densities(&mut self) {
        self.with_flow(|flow, surroundings| flow.sum_densities(surroundings));
    }

    pub(crate) fn muller_forces(&mut self) {
        self.with_flow(|flow, surroundings| flow.drive(surroundings));
    }

    pub(crate) fn add_muller_fluid_step(&mut self) {
        self.with_flow(|flow, _| flow.add_muller_step());
    }

    /// Whether fluid particles are shifted.
    pub(crate) fn shifts_fluids(&self) -> bool {
        self.flow.as_ref().is_some_and(|flow| flow.compiled_for.shifting)
    }

    /// Whether particles of weakly compressible fluids follow the velocities of their neighbors.
    pub(crate) fn has_xsph(&self) -> bool {
        self.flow.as_ref().is_some_and(|flow| flow.compiled_for.xsph)
    }

    /// Whether fluid particles move with another velocity than the flow.
    pub(crate) fn has_drift(&self) -> bool {
        self.flow.as_ref().is_some_and(|flow| flow.compiled_for.has_drift())
    }

    /// Whether fluids may carry grains that are smaller than their particles.
    pub(crate) fn has_small_grains(&self) -> bool {
        self.flow.as_ref().is_some_and(|flow| flow.compiled_for.carrying)
    }

    /// Computes the interaction of fluids with grains that are smaller than their particles.
    pub(crate) fn suspend_grains(&mut self) {
        self.with_flow(|flow, surroundings| flow.suspend(surroundings));
    }
}
