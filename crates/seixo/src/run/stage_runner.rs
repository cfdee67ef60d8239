//! Stages, inlets and zones of a run. Their actions belong to step numbers, which follow from the scene alone.
//!
//! A [`Session`](super::Session) does all of this, with probes, for a program that steps a scene itself. A program that steps a
//! simulation of its own calls the stage runner at every step that it names:
//!
//! ```
//! use seixo::{Simulation, run::StageRunner};
//! let scene = seixo::scene::load_text(seixo::scene::templates()[0].text, "bounce.toml".as_ref(), &[])?;
//! let mut simulation = Simulation::new(scene.world.clone(), scene.settings.clone())?;
//! let mut course = StageRunner::new(&scene.plan, simulation.time_step().value);
//! while simulation.steps() < 1000 {
//!     course.happen(&mut simulation)?;
//!     let next = course.next_step_after(simulation.steps()).min(1000);
//!     simulation.advance(next - simulation.steps())?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::Event;
use super::measure::reason;
use super::probe_lines::ProbeLines;
use super::region_servos::RegionServos;
use super::schedule::Schedule;
use super::user_record::UserRecord;
use seixo_engine::state::{Column, PassedParticles, Sections, State};
use seixo_engine::{PlacedGrain, Simulation, SurroundingsChange, WorldError};
use seixo_scene::{Inlet, InletTotals, Plan, Stage, StageAction, StageItem};
use std::collections::HashMap;

/// Executes the stages, inlets and zones of a scene.
pub struct StageRunner {
    plan: Plan,
    time_step: f64,
    /// Step at which each stage began, for the stages so far.
    began: Vec<u64>,
    /// Whether the condition of the last stage is fulfilled.
    is_over: bool,
    /// Schedule of the checks of the stage's condition, by the steps since the stage began.
    looks: Schedule,
    /// First step of the latest series of checks at which the condition was fulfilled.
    held_since: Option<u64>,
    /// Lines of the probes that the conditions name.
    lines: ProbeLines,
    region_servos: RegionServos,
    inlets: Vec<InletRunner>,
    zones: Vec<ZoneRunner>,
    /// Particles that passed the inlets and outlets of fluids.
    passed: Vec<PassedParticles>,
    /// Changes by a user.
    user_record: UserRecord,
}

/// State of an inlet.
struct InletRunner {
    schedule: Schedule,
    poured: InletTotals,
    is_open: bool,
    /// Time at which it opened \[s\].
    since: f64,
    /// Amount that entered before it opened, in kilograms or grains.
    before: f64,
    is_reported: bool,
}

/// State of a zone.
struct ZoneRunner {
    schedule: Schedule,
    is_there: bool,
    count: u64,
    mass: f64,
}

const STAGES: &str = "course/stages";
const POURED: [&str; 2] = ["course/poured", "course/poured_mass"];
const DRAINED: [&str; 2] = ["course/drained", "course/drained_mass"];

impl StageRunner {
    /// Creates the stage runner of a plan at its start, with a time step of `time_step` \[s\].
    pub fn new(plan: &Plan, time_step: f64) -> StageRunner {
        let is_there = |thing: &StageItem| !plan.absent.contains(thing);
        let pouring = |inlet: &Inlet| InletRunner {
            schedule: Schedule::new(inlet.every, time_step),
            poured: InletTotals::default(),
            is_open: is_there(&StageItem::Group(inlet.group)) && is_there(&StageItem::Inlet(inlet.group)),
            since: 0.0,
            before: 0.0,
            is_reported: false,
        };
        let zones = plan.zones.iter().enumerate();
        StageRunner {
            time_step,
            began: Vec::new(),
            is_over: false,
            looks: Schedule::new(1.0, time_step),
            held_since: None,
            lines: ProbeLines::of(plan),
            region_servos: RegionServos::new(&plan.region_servos, &plan.absent, time_step),
            inlets: plan.inlets.iter().map(pouring).collect(),
            zones: zones
                .map(|(index, zone)| ZoneRunner {
                    schedule: Schedule::new(zone.every, time_step),
                    is_there: is_there(&StageItem::Zone(index)),
                    count: 0,
                    mass: 0.0,
                })
                .collect(),
            user_record: UserRecord::default(),
            passed: vec![PassedParticles::default(); plan.fluid_inlets.len() + plan.fluid_outlets.len()],
            plan: plan.clone(),
        }
    }

    /// Restores the stage runner from a state of [`StageRunner::save`] at this step; `None` if the state belongs to another plan.
    pub fn restore(plan: &Plan, time_step: f64, state: &State, step: u64) -> Option<StageRunner> {
        let mut stage_runner = StageRunner::new(plan, time_step);
        stage_runner.user_record = UserRecord::restore(state)?;
        if stage_runner.is_empty() {
            stage_runner.region_servos.restore(state);
            return Some(stage_runner);
        }
        let whole = |name: &str| match state.get(name) {
            Some(Column::U64(values)) => Some(values.clone()),
            _ => None,
        };
        let number = |name: &str| match state.get(name) {
            Some(Column::F64(values)) => Some(values.clone()),
            _ => None,
        };
        let stages = whole(STAGES)?;
        let [is_over, held, ref began @ ..] = stages[..] else { return None };
        for (index, &at) in began.iter().enumerate() {
            let stage = plan.stages.get(index)?.clone();
            stage_runner.enter(&stage, at);
        }
        (stage_runner.is_over, stage_runner.held_since) = (is_over > 0, held.checked_sub(1));
        let (counts, masses) = (whole(POURED[0])?, number(POURED[1])?);
        for (index, (inlet, pouring)) in plan.inlets.iter().zip(&mut stage_runner.inlets).enumerate() {
            pouring.poured = InletTotals {
                count: *counts.get(index)?,
                mass: *masses.get(2 * index)?,
                waiting: number(&waiting(inlet))?,
            };
            pouring.before = *masses.get(2 * index + 1)?;
        }
        let (counts, masses) = (whole(DRAINED[0])?, number(DRAINED[1])?);
        for (index, draining) in stage_runner.zones.iter_mut().enumerate() {
            (draining.count, draining.mass) = (*counts.get(index)?, *masses.get(index)?);
        }
        stage_runner.lines.restore(state);
        stage_runner.region_servos.restore(state);
        let in_stage = stage_runner.steps_in_stage(step);
        stage_runner.looks.pass(in_stage);
        stage_runner.inlets.iter_mut().for_each(|pouring| pouring.schedule.pass(step));
        stage_runner.zones.iter_mut().for_each(|draining| draining.schedule.pass(step));
        Some(stage_runner)
    }

    /// Adds the state of the stage runner to a checkpoint.
    pub fn save(&self, to: &mut dyn Sections) {
        self.user_record.save(to);
        self.region_servos.save(to);
        if self.is_empty() {
            return;
        }
        let held = self.held_since.map_or(0, |step| step + 1);
        let stages = [u64::from(self.is_over), held].into_iter().chain(self.began.iter().copied());
        to.put(STAGES, Column::U64(stages.collect()));
        self.lines.save(to);
        let poured = || self.inlets.iter().map(|pouring| &pouring.poured);
        to.put(POURED[0], Column::U64(poured().map(|poured| poured.count).collect()));
        let masses = self.inlets.iter().flat_map(|pouring| [pouring.poured.mass, pouring.before]);
        to.put(POURED[1], Column::F64(masses.collect()));
        to.put(DRAINED[0], Column::U64(self.zones.iter().map(|zone| zone.count).collect()));
        to.put(DRAINED[1], Column::F64(self.zones.iter().map(|zone| zone.mass).collect()));
        for (inlet, poured) in self.plan.inlets.iter().zip(poured()) {
            to.put(&waiting(inlet), Column::F64(poured.waiting.clone()));
        }
    }

    /// Returns the changes of the surroundings so far, with their steps, for [`Simulation::restore_changed`]: all of stages, and those of a user that
    /// no later one replaced.
    pub fn past(&self) -> Vec<(u64, Vec<SurroundingsChange>)> {
        let stages = self.began.iter().zip(&self.plan.stages);
        let by_user = self.user_record.changes().iter();
        let by_user = by_user.map(|(step, change)| (*step, vec![change.clone()]));
        let mut past: Vec<_> = stages.map(|(&step, stage)| (step, stage.changes())).chain(by_user).collect();
        past.sort_by_key(|&(step, _)| step);
        past
    }

    /// Records a change by a user at this step, in place of earlier ones of the same thing if it replaces them.
    pub(super) fn record_user_change(&mut self, step: u64, change: SurroundingsChange, replaces: bool) {
        self.user_record.add(step, change, replaces);
    }

    /// Returns the changes by a user that count.
    pub(super) fn user_record(&self) -> &UserRecord {
        &self.user_record
    }

    /// Takes a line of a probe, by its index in [`seixo_scene::Scene::probes`]: its time \[s\], then its columns. Conditions and servos that name probes
    /// look at these lines; a program that steps a scene itself passes them on, in the order of time.
    pub fn take_line(&mut self, probe: usize, line: &[f64]) {
        self.lines.take(probe, line);
        self.region_servos.take(probe, line);
    }

    /// Whether there are no stages, inlets and zones.
    pub fn is_empty(&self) -> bool {
        self.plan.stages.is_empty() && self.plan.inlets.is_empty() && self.plan.zones.is_empty()
    }

    /// Whether the condition of the last stage is fulfilled, which ends the run.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the stages so far, with the steps at which they began.
    pub fn stages(&self) -> impl Iterator<Item = (&str, u64)> {
        self.plan
            .stages
            .iter()
            .map(|stage| stage.name.as_str())
            .zip(self.began.iter().copied())
    }

    /// Returns the column names for [`StageRunner::exchanged`], with units, in the same order.
    pub fn exchanges(&self) -> Vec<String> {
        let inlets = self.plan.inlets.iter().map(|inlet| ("inlet", &inlet.name));
        let zones = self.plan.zones.iter().map(|zone| ("zone", &zone.name));
        let fluids_in = self.plan.fluid_inlets.iter().map(|name| ("inlet", name));
        let fluids_out = self.plan.fluid_outlets.iter().map(|name| ("outlet", name));
        let columns = |(what, name): (&str, &String)| [format!("{what}_{name}_count"), format!("{what}_{name}_mass [kg]")];
        inlets.chain(zones).chain(fluids_in).chain(fluids_out).flat_map(columns).collect()
    }

    /// Returns number and mass \[kg\] of the grains that each inlet added and each zone removed, then the fluid particles that passed the inlets and
    /// outlets of fluids.
    pub fn exchanged(&self) -> Vec<f64> {
        let inlets = self.inlets.iter().map(|pouring| (pouring.poured.count, pouring.poured.mass));
        let zones = self.zones.iter().map(|draining| (draining.count, draining.mass));
        let passed = self.passed.iter().map(|passed| (passed.count, passed.mass));
        let all = inlets.chain(zones).chain(passed);
        all.flat_map(|(count, mass)| [count as f64, mass]).collect()
    }

    /// Returns the first step after this one at which an action may be due.
    pub fn next_step_after(&self, step: u64) -> u64 {
        let in_stage = self.steps_in_stage(step);
        let look = self
            .stage()
            .map(|_| (step - in_stage).saturating_add(self.looks.step_after(in_stage)));
        let inlets = self
            .inlets
            .iter()
            .filter(|pouring| pouring.is_open)
            .map(|pouring| &pouring.schedule);
        let zones = self
            .zones
            .iter()
            .filter(|draining| draining.is_there)
            .map(|draining| &draining.schedule);
        let scheduled = inlets.chain(zones).map(|schedule| schedule.step_after(step));
        let by_clock = self.step_of_clock().into_iter().chain(self.step_of_hold());
        let by_clock = by_clock.filter(|due| *due > step);
        let corrected = [self.region_servos.next_step_after(step)];
        scheduled.chain(look).chain(by_clock).chain(corrected).min().unwrap_or(u64::MAX)
    }

    /// Performs the actions that are due at the current step: a stage ends and the next one begins, zones remove grains, inlets add grains. Returns
    /// the events for the log.
    ///
    /// # Errors
    /// If grains cannot be placed, or the simulation stopped.
    pub fn happen(&mut self, simulation: &mut Simulation) -> Result<Vec<Event>, WorldError> {
        let mut reported = Vec::new();
        let step = simulation.steps();
        if self.began.is_empty() && !self.plan.stages.is_empty() {
            self.begin(simulation, &mut reported)?;
        } else if self.stage().is_some() {
            let in_stage = self.steps_in_stage(step);
            let is_due = self.looks.is_due(in_stage);
            if is_due {
                self.looks.pass(in_stage);
            }
            if is_due || [self.step_of_clock(), self.step_of_hold()].contains(&Some(step)) {
                self.look(simulation, &mut reported)?;
            }
        }
        self.drain(simulation)?;
        for index in 0..self.inlets.len() {
            self.pour(index, simulation, &mut reported)?;
        }
        reported.extend(self.region_servos.act(simulation)?);
        self.passed = simulation.passed_fluids();
        Ok(reported)
    }

    /// Returns the shortfalls of inlets that end with the run, and a notice that names the stages that did not begin, if there are any.
    pub fn conclude(&self, time: f64, steps: u64) -> Vec<Event> {
        let mut notices = self.shortfalls(|_| true, time, steps);
        let mut missed = self.plan.stages.iter().skip(self.began.len()).map(|stage| stage.name.as_str());
        if let (Some(current), Some(first)) = (self.stage(), missed.next()) {
            let named = missed.fold(first.to_owned(), |named, name| format!("{named}, {name}"));
            let text = format!(
                "the run ends in stage {}, before these began: {named}; let it end later (run.until), or change the condition `until` of the stage",
                current.name
            );
            notices.push(Event::Notice { text, time, steps });
        }
        notices
    }

    /// Returns the shortfalls of open inlets whose group satisfies `ends`.
    fn shortfalls(&self, ends: impl Fn(u32) -> bool, time: f64, steps: u64) -> Vec<Event> {
        let all = self.plan.inlets.iter().zip(&self.inlets);
        let all = all.filter(|(inlet, pouring)| pouring.is_open && ends(inlet.group));
        all.filter_map(|(inlet, pouring)| {
            let last = pouring.schedule.step_of(pouring.schedule.next().saturating_sub(1)) as f64 * self.time_step;
            (last < inlet.to).then(|| shortfall(inlet, pouring, last, time, steps)).flatten()
        })
        .collect()
    }

    /// Returns the current stage, if it has a condition.
    fn stage(&self) -> Option<&Stage> {
        let stage = self.plan.stages.get(self.began.len().checked_sub(1)?)?;
        (stage.until.is_some() && !self.is_over).then_some(stage)
    }

    /// Returns the number of steps since the current stage began, at this step.
    fn steps_in_stage(&self, step: u64) -> u64 {
        step.saturating_sub(self.began.last().copied().unwrap_or_default())
    }

    /// Returns the number of steps for which the condition of a stage must be true.
    fn steps_to_hold(&self, stage: &Stage) -> u64 {
        (stage.hold / self.time_step).round() as u64
    }

    /// Returns the step at which the stage's condition was true for long enough, if it is true until then. It is looked at then, too, so that a stage
    /// lasts as long as it says.
    fn step_of_hold(&self) -> Option<u64> {
        Some(self.held_since?.saturating_add(self.steps_to_hold(self.stage()?)))
    }

    /// Returns the step at which the clocks of the stage's condition allow it. It is looked at then, too, so that a stage lasts as long as it says.
    fn step_of_clock(&self) -> Option<u64> {
        let condition = self.stage()?.until.as_ref()?;
        condition.first_step_by_clock(*self.began.last()?, self.time_step)
    }

    /// Checks the condition of the stage.
    fn look(&mut self, simulation: &mut Simulation, reported: &mut Vec<Event>) -> Result<(), WorldError> {
        let (time, steps) = (simulation.time(), simulation.steps());
        let Some((stage, condition)) = self.stage().and_then(|stage| Some((stage, stage.until.as_ref()?))) else {
            return Ok(());
        };
        if condition.looks_at_grains() {
            observe(simulation)?;
        }
        let in_stage = self.steps_in_stage(steps);
        let Some(reason) = reason(condition, simulation, in_stage as f64 * self.time_step, &self.lines) else {
            self.held_since = None;
            return Ok(());
        };
        let hold = self.steps_to_hold(stage);
        let name = stage.name.clone();
        let since = *self.held_since.get_or_insert(steps);
        if steps - since < hold {
            return Ok(());
        }
        reported.push(Event::StageEnded {
            stage: name,
            reason,
            time,
            steps,
        });
        if self.began.len() == self.plan.stages.len() {
            self.is_over = true;
            return Ok(());
        }
        self.begin(simulation, reported)
    }

    /// Begins the next stage.
    fn begin(&mut self, simulation: &mut Simulation, reported: &mut Vec<Event>) -> Result<(), WorldError> {
        let (time, steps) = (simulation.time(), simulation.steps());
        let stage = self.plan.stages[self.began.len()].clone();
        stage.begin(&self.plan.reserve, simulation)?;
        let goes = |group: u32| stage.actions.contains(&StageAction::Remove(StageItem::Group(group)));
        let ends = |group: u32| goes(group) || stage.actions.contains(&StageAction::Remove(StageItem::Inlet(group)));
        reported.extend(self.shortfalls(ends, time, steps));
        self.enter(&stage, steps);
        reported.push(Event::StageBegan {
            stage: stage.name,
            time,
            steps,
        });
        Ok(())
    }

    /// Records that the next stage began at this step, and updates the active objects of the plan.
    fn enter(&mut self, stage: &Stage, step: u64) {
        self.began.push(step);
        self.held_since = None;
        self.lines.clear();
        self.region_servos.enter(stage);
        self.looks = Schedule::new(stage.every, self.time_step);
        self.looks.pass(0);
        for act in &stage.actions {
            let (thing, comes) = match act {
                StageAction::Add(thing) => (thing, true),
                StageAction::Remove(thing) => (thing, false),
                _ => continue,
            };
            match thing {
                StageItem::Walls(_) | StageItem::Bonds(_) | StageItem::FluidInlet(_) => {}
                StageItem::Zone(index) => {
                    self.zones[*index].is_there = comes;
                    self.zones[*index].schedule.pass(step);
                }
                StageItem::Group(group) | StageItem::Inlet(group) => {
                    let own = |(inlet, _): &(&Inlet, &mut InletRunner)| inlet.group == *group;
                    for (inlet, pouring) in self.plan.inlets.iter().zip(&mut self.inlets).filter(own) {
                        pouring.before = inlet.amount(&pouring.poured);
                        pouring.is_open = comes;
                        pouring.since = step as f64 * self.time_step;
                        pouring.schedule.pass(step);
                    }
                }
            }
        }
    }

    /// Removes the grains in the zones that are due, with the whole bodies that they belong to.
    fn drain(&mut self, simulation: &mut Simulation) -> Result<(), WorldError> {
        let step = simulation.steps();
        let is_due: Vec<bool> = self.zones.iter().map(|zone| zone.is_there && zone.schedule.is_due(step)).collect();
        if !is_due.contains(&true) {
            return Ok(());
        }
        observe(simulation)?;
        let cell = simulation.cell();
        let zone_of = |seen: &PlacedGrain| (0..is_due.len()).find(|&index| is_due[index] && self.plan.zones[index].takes(seen, &cell));
        let of_bodies: HashMap<u32, usize> = simulation.grains().filter_map(|seen| Some((seen.body?, zone_of(&seen)?))).collect();
        let taken = simulation.grains().map(|seen| match seen.body {
            Some(body) => (seen, of_bodies.get(&body).copied()),
            None => (seen, zone_of(&seen)),
        });
        let mut ids = Vec::new();
        for (seen, taken) in taken {
            if let Some(index) = taken {
                ids.push(seen.id);
                self.zones[index].count += 1;
                self.zones[index].mass += seen.mass;
            }
        }
        self.zones.iter_mut().for_each(|zone| zone.schedule.pass(step));
        if ids.is_empty() { Ok(()) } else { simulation.remove(&ids) }
    }

    /// Adds the grains that are due at an inlet, if it is open.
    fn pour(&mut self, index: usize, simulation: &mut Simulation, reported: &mut Vec<Event>) -> Result<(), WorldError> {
        let (time, steps) = (simulation.time(), simulation.steps());
        let (inlet, pouring) = (&self.plan.inlets[index], &mut self.inlets[index]);
        if !pouring.is_open || !pouring.schedule.is_due(steps) {
            return Ok(());
        }
        let event = pouring.schedule.next();
        pouring.schedule.pass(steps);
        // The last event is the first one at or after the end: it adds what became due since the event before.
        let before = event
            .checked_sub(1)
            .map_or(-1.0, |event| pouring.schedule.step_of(event) as f64 * self.time_step);
        if before >= inlet.to {
            pouring.is_open = false;
            return Ok(());
        }
        let due = inlet.due(pouring.before, pouring.since, time);
        inlet.pour(event, due, &mut pouring.poured, simulation)?;
        let missing = due - inlet.amount(&pouring.poured);
        if missing > 2.0 * inlet.filling() && !pouring.poured.waiting.is_empty() && !pouring.is_reported {
            pouring.is_reported = true;
            let text = format!("inlet {} falls behind: there is not enough room for {}", inlet.name, inlet.rate);
            reported.push(Event::Notice { text, time, steps });
        }
        if time >= inlet.to {
            reported.extend(shortfall(inlet, pouring, time, time, steps));
        }
        Ok(())
    }
}

/// Describes requested and reached rate of an inlet until a time \[s\], if they differ by more than 1 %.
fn shortfall(inlet: &Inlet, pouring: &InletRunner, until: f64, time: f64, steps: u64) -> Option<Event> {
    let due = inlet.due(pouring.before, pouring.since, until);
    let reached = inlet.amount(&pouring.poured) / due;
    if pouring.poured.waiting.is_empty() || reached > 0.99 {
        return None;
    }
    let text = format!(
        "inlet {}: {} were asked for, {:.3e} were reached, as the rest found no free place; widen it, raise the velocity of its grains, \
         or lower the rate",
        inlet.name,
        inlet.rate,
        inlet.rate.with(reached * inlet.rate.value()).value()
    );
    Some(Event::Notice { text, time, steps })
}

/// Returns the section of a state for the radii that wait at an inlet.
fn waiting(inlet: &Inlet) -> String {
    format!("course/waiting/{}", inlet.name)
}

fn observe(simulation: &mut Simulation) -> Result<(), WorldError> {
    simulation.observe().map_err(|stop| WorldError::Stopped(Box::new(stop)))
}
