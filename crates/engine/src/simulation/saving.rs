//! Checkpoints of a simulation.

use crate::bodies::Bodies;
use crate::bonds::BondNetwork;
use crate::checkpoint::{contact_ledger, misfit, numbers, particles_of_fluid};
use crate::events::SurroundingsChange;
use crate::fields::Fields;
use crate::guard::StepError;
use crate::refusal::WorldError;
use crate::simulation::Simulation;
use crate::simulation::autotune::placed;
use crate::state::{Column, Sections, State};
use crate::walls::{displacements_without_starts, last_motions};
use crate::world::{Settings, World};
use seixo_device::Cpu;
use seixo_sweeps::layout::RECORD;

impl Simulation {
    /// All data needed to resume.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn save(&mut self) -> Result<State, StepError> {
        let mut state = State::default();
        self.save_to(&mut state)?;
        Ok(state)
    }

    /// Like [`Simulation::save`], section by section. Contact histories from a GPU are pending columns, which stay those of this step.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn save_to(&mut self, to: &mut dyn Sections) -> Result<(), StepError> {
        self.observe()?;
        let device: &Cpu = &self.whole.populations.context.device;
        self.whole.populations.grains.fields.save(Some(device), to);
        self.whole.populations.grains.disabled.save(to);
        self.whole.populations.save_given_masses(to);
        self.whole.populations.save_shapes(to);
        if self.whole.populations.bodies.are_present {
            self.whole.populations.bodies.save(to);
        }
        if self.whole.populations.grains_on_gpu() {
            self.whole.populations.record_bond_energies();
        }
        if let Some(network) = &mut self.whole.populations.bonds {
            network.save(to);
        }
        let are_two = self.has_two_histories();
        if self.whole.populations.grains.are_pairs_elsewhere {
            self.save_contacts_of_subdomains(to)?;
            self.whole.populations.save_wall_histories(to);
        } else {
            self.whole.save_histories(to, are_two)?;
        }
        self.whole.populations.save_scalar_ledgers(to);
        if let Some(flow) = &self.whole.populations.flow {
            flow.save(to);
        }
        self.whole.populations.walls.save_servos(to);
        self.whole.populations.walls.save_starts(to);
        self.whole.populations.save_cell(to);
        self.whole.populations.save_wear(to);
        self.whole.populations.save_skin(to);
        to.put(
            "clock/steps",
            Column::U64(vec![
                self.whole.populations.context.steps,
                self.rebuilds(),
                self.whole.populations.grains.next_id,
            ]),
        );
        to.put(
            "clock/time_step",
            Column::F64(vec![
                self.whole.populations.context.stepping.dt,
                self.whole.populations.walls.listed_at,
            ]),
        );
        self.whole.populations.save_motion(to);
        self.whole.populations.save_lately_loaded(to);
        self.whole.populations.save_ledger(to);
        Ok(())
    }

    /// Whether both grains of a contact have a history, as on a GPU.
    pub(crate) fn has_two_histories(&self) -> bool {
        let are_divided = self.subdomains.is_some() && self.whole.backend.gpu.is_some() && !self.whole.populations.has_no_grains();
        self.whole.populations.grains_on_gpu() || are_divided
    }

    /// Resumes from a saved state of the same world and settings; the number of threads may differ.
    ///
    /// # Errors
    /// If the world cannot be simulated, or the state is of another world.
    pub fn restore(world: World, settings: Settings, state: &State) -> Result<Simulation, WorldError> {
        Simulation::restore_changed(world, settings, state, &[])
    }

    /// Like [`Simulation::restore`], for a simulation whose surroundings were changed before it was saved.
    ///
    /// `past` contains the arguments of [`Simulation::change`] and the steps at which it was called. Of changes that replace each other – gravity, a
    /// load, presence of a wall, and motions of a wall after [`Simulation::keep_start_of_wall`] – it need only have the last.
    ///
    /// # Errors
    /// As [`Simulation::restore`].
    pub fn restore_changed(
        mut world: World,
        settings: Settings,
        state: &State,
        past: &[(u64, Vec<SurroundingsChange>)],
    ) -> Result<Simulation, WorldError> {
        let fields = Fields::load(state).map_err(|name| misfit(&format!("section {name} is missing or of the wrong size")))?;
        let n = fields.len();
        let materials = world.materials.len() as u32;
        if fields.position.len() != n * RECORD || fields.material.iter().any(|&m| m >= materials) {
            return Err(misfit("its grains have other columns or materials"));
        }
        let again = |settings| Simulation::restore_changed(world.clone(), settings, state, past);
        let (settings, tried) = placed(settings, [n, particles_of_fluid(state)], again);
        let mut simulation = Simulation::prepare(&world, settings, fields)?;
        simulation.notices.extend(tried);
        let fluids = world.fluids.take();
        let populations = &mut simulation.whole.populations;
        if populations.context.materials.has_friction == populations.grains.fields.spin.is_empty() && n > 0 {
            return Err(misfit("one of the two has friction, the other has not"));
        }
        populations.check_restored_shapes(world.shapes.len())?;
        let mut changes = past.iter().flat_map(|(_, changes)| changes);
        populations.bodies.are_present |= changes.any(|change| matches!(change, SurroundingsChange::Hold { .. }));
        if populations.bodies.are_present {
            if populations.grains.fields.member.len() != n {
                return Err(misfit("its grains are of no rigid body, those of the scene are"));
            }
            populations.bodies = Bodies::load(state, &populations.grains.fields.member, &world.grains.bodies)?;
        }
        if populations.is_geared() && populations.grains.fields.position_derivatives.is_empty() && n > 0 {
            return Err(misfit("its grains were not moved by Gear's method"));
        }
        if !world.bonds.is_empty() {
            if populations.grains.fields.orientation.len() != n * RECORD {
                return Err(misfit("its grains have no orientations, those of the scene do"));
            }
            populations.bonds = Some(Box::new(BondNetwork::load(&world, state)?));
        }
        populations.loads.follow(&populations.grains.fields);
        populations.restore_lately_loaded(state);
        populations.grains.disabled = populations.disabled_of(state)?;
        populations.check_saved_shapes(state, &world.shapes)?;
        populations.restore_given_masses(state);
        let [dt, listed_at] = *numbers(state, "clock/time_step", Some(2))? else {
            unreachable!("the length was checked")
        };
        if dt != populations.context.stepping.dt {
            return Err(misfit(&format!(
                "its time step is {dt:e} s, the scene's is {:e} s",
                populations.context.stepping.dt
            )));
        }
        let Some(Column::U64(clock)) = state.get("clock/steps") else {
            return Err(misfit("section clock/steps is missing"));
        };
        let &[steps, rebuilds, next_id] = clock.as_slice() else {
            return Err(misfit("section clock/steps has the wrong size"));
        };

        populations.tune_servos();
        let last = last_motions(past);
        let starts = populations.walls.saved_starts(state, &last)?;
        let ways = displacements_without_starts(state, &starts)?;
        let mut ways = ways.iter();
        for (index, (step, changes)) in past.iter().enumerate() {
            let then = *step as f64 * dt;
            populations.walls.place(then, true);
            for (number, change) in changes.iter().enumerate() {
                if let SurroundingsChange::Motion { wall, motion } = change
                    && let Some(start) = starts.get(wall)
                {
                    if last.get(wall) == Some(&(index, number)) {
                        populations.walls.begin_from_start(*wall, motion, start, then)?;
                        populations.tune_servos();
                    }
                    continue;
                }
                populations.walls.restore_servo(change, &mut ways)?;
                populations.change_surroundings(std::slice::from_ref(change), then)?;
            }
            populations.switch_again(changes, then, state)?;
        }
        populations.walls.take_starts(state, &starts)?;
        if populations.is_geared() && populations.bodies.lack_derivatives() {
            return Err(misfit("its rigid bodies were not moved by Gear's method"));
        }
        populations.walls.restore_servos(state)?;
        populations.restore_cell(state)?;
        populations.restore_skin(state)?;
        populations.context.steps = steps;
        populations.list_from_references(listed_at);
        populations.grains.rebuilds = rebuilds;
        populations.grains.next_id = next_id;
        populations.restore_contact_histories(state, true)?;
        populations.restore_wear(state)?;
        (populations.ledger.work, populations.ledger.last_power_sums) = contact_ledger(state)?;
        populations.restore_scalar_ledgers(state)?;
        populations.restore_fluids(fluids, state)?;
        simulation.go_where_asked()?;
        Ok(simulation)
    }
}
