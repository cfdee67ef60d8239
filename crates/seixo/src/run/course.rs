//! The course of a run: its stages, inlets and zones. What happens belongs to step numbers, which follow from the scene alone.
//!
//! Who steps a scene by hand lets its course happen at every step that it names:
//!
//! ```
//! use seixo::{Simulation, run::Course};
//! let scene = seixo::scene::load_text(seixo::scene::templates()[0].text, "bounce.toml".as_ref(), &[])?;
//! let mut simulation = Simulation::new(scene.world.clone(), scene.settings.clone())?;
//! let mut course = Course::new(&scene.plan, simulation.time_step().value);
//! while simulation.steps() < 1000 {
//!     course.happen(&mut simulation)?;
//!     let next = course.next_step_after(simulation.steps()).min(1000);
//!     simulation.advance(next - simulation.steps())?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::Event;
use super::measure::value;
use super::schedule::Schedule;
use seixo_engine::state::{Column, Passed, Sections, State};
use seixo_engine::{Change, Refusal, Seen, Simulation};
use seixo_scene::{Act, Inlet, Measure, Plan, Poured, Stage, Thing};
use std::cell::OnceCell;
use std::collections::HashMap;

/// Where the plan of a scene stands.
pub struct Course {
    plan: Plan,
    time_step: f64,
    /// Steps at which stages began, one for each that did.
    began: Vec<u64>,
    /// Whether the last stage ended by its condition.
    is_over: bool,
    /// When the condition of the stage is looked at.
    looks: Schedule,
    /// Step since which the condition held at every look.
    held_since: Option<u64>,
    inlets: Vec<Pouring>,
    zones: Vec<Draining>,
    /// What passed the inlets and outlets of fluids.
    passed: Vec<Passed>,
    /// Gravity that somebody set by hand, and when \[m/s²\].
    by_hand: Vec<(u64, [f64; 3])>,
}

/// An inlet at work.
struct Pouring {
    schedule: Schedule,
    poured: Poured,
    is_open: bool,
    /// Time since which it is open \[s\].
    since: f64,
    /// How much came before that, in kilograms or grains.
    before: f64,
    is_told: bool,
}

/// A zone at work.
struct Draining {
    schedule: Schedule,
    is_there: bool,
    count: u64,
    mass: f64,
}

const BY_HAND: [&str; 2] = ["course/by_hand", "course/gravity_by_hand"];
const STAGES: &str = "course/stages";
const POURED: [&str; 2] = ["course/poured", "course/poured_mass"];
const DRAINED: [&str; 2] = ["course/drained", "course/drained_mass"];

impl Course {
    /// The course of a plan at its start, with steps of `time_step` \[s\].
    pub fn new(plan: &Plan, time_step: f64) -> Course {
        let is_there = |thing: &Thing| !plan.absent.contains(thing);
        let pouring = |inlet: &Inlet| Pouring {
            schedule: Schedule::new(inlet.every, time_step),
            poured: Poured::default(),
            is_open: is_there(&Thing::Group(inlet.group)) && is_there(&Thing::Inlet(inlet.group)),
            since: 0.0,
            before: 0.0,
            is_told: false,
        };
        let zones = plan.zones.iter().enumerate();
        Course {
            time_step,
            began: Vec::new(),
            is_over: false,
            looks: Schedule::new(1.0, time_step),
            held_since: None,
            inlets: plan.inlets.iter().map(pouring).collect(),
            zones: zones
                .map(|(index, zone)| Draining {
                    schedule: Schedule::new(zone.every, time_step),
                    is_there: is_there(&Thing::Zone(index)),
                    count: 0,
                    mass: 0.0,
                })
                .collect(),
            by_hand: Vec::new(),
            passed: vec![Passed::default(); plan.fluid_inlets.len() + plan.fluid_outlets.len()],
            plan: plan.clone(),
        }
    }

    /// The course as it was when [`Course::save`] added it to a state, at this step; `None` if that was of another plan.
    pub fn restore(plan: &Plan, time_step: f64, state: &State, step: u64) -> Option<Course> {
        let mut course = Course::new(plan, time_step);
        if let (Some(Column::U64(steps)), Some(Column::F64(gravity))) = (state.get(BY_HAND[0]), state.get(BY_HAND[1])) {
            course.by_hand = steps.iter().copied().zip(gravity.as_chunks().0.iter().copied()).collect();
        }
        if course.is_empty() {
            return Some(course);
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
            course.enter(&stage, at);
        }
        (course.is_over, course.held_since) = (is_over > 0, held.checked_sub(1));
        let (counts, masses) = (whole(POURED[0])?, number(POURED[1])?);
        for (index, (inlet, pouring)) in plan.inlets.iter().zip(&mut course.inlets).enumerate() {
            pouring.poured = Poured {
                count: *counts.get(index)?,
                mass: *masses.get(2 * index)?,
                waiting: number(&waiting(inlet))?,
            };
            pouring.before = *masses.get(2 * index + 1)?;
        }
        let (counts, masses) = (whole(DRAINED[0])?, number(DRAINED[1])?);
        for (index, draining) in course.zones.iter_mut().enumerate() {
            (draining.count, draining.mass) = (*counts.get(index)?, *masses.get(index)?);
        }
        course.looks.pass(step);
        course.inlets.iter_mut().for_each(|pouring| pouring.schedule.pass(step));
        course.zones.iter_mut().for_each(|draining| draining.schedule.pass(step));
        Some(course)
    }

    /// Adds to a state what the course depends on.
    pub fn save(&self, to: &mut dyn Sections) {
        if !self.by_hand.is_empty() {
            let (steps, gravity): (Vec<u64>, Vec<[f64; 3]>) = self.by_hand.iter().copied().unzip();
            to.put(BY_HAND[0], Column::U64(steps));
            to.put(BY_HAND[1], Column::F64(gravity.into_flattened()));
        }
        if self.is_empty() {
            return;
        }
        let held = self.held_since.map_or(0, |step| step + 1);
        let stages = [u64::from(self.is_over), held].into_iter().chain(self.began.iter().copied());
        to.put(STAGES, Column::U64(stages.collect()));
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

    /// What was changed around the grains, and when: what [`Simulation::restore_changed`] asks for.
    pub fn past(&self) -> Vec<(u64, Vec<Change>)> {
        let stages = self.began.iter().zip(&self.plan.stages);
        let by_hand = self.by_hand.iter().map(|&(step, gravity)| (step, vec![Change::Gravity(gravity)]));
        let mut past: Vec<_> = stages.map(|(&step, stage)| (step, stage.changes())).chain(by_hand).collect();
        past.sort_by_key(|&(step, _)| step);
        past
    }

    /// Notes what somebody changed by hand at this step.
    pub(super) fn note_by_hand(&mut self, step: u64, change: Change) {
        if let Change::Gravity(gravity) = change {
            self.by_hand.push((step, gravity));
        }
    }

    /// Whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.plan.stages.is_empty() && self.plan.inlets.is_empty() && self.plan.zones.is_empty()
    }

    /// Whether the last stage ended by its condition, and the run with it.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The stages so far, with the steps at which they began.
    pub fn stages(&self) -> impl Iterator<Item = (&str, u64)> {
        self.plan
            .stages
            .iter()
            .map(|stage| stage.name.as_str())
            .zip(self.began.iter().copied())
    }

    /// Names of what came and went, with units, in the order of [`Course::exchanged`].
    pub fn exchanges(&self) -> Vec<String> {
        let inlets = self.plan.inlets.iter().map(|inlet| ("inlet", &inlet.name));
        let zones = self.plan.zones.iter().map(|zone| ("zone", &zone.name));
        let fluids_in = self.plan.fluid_inlets.iter().map(|name| ("inlet", name));
        let fluids_out = self.plan.fluid_outlets.iter().map(|name| ("outlet", name));
        let columns = |(what, name): (&str, &String)| [format!("{what}_{name}_count"), format!("{what}_{name}_mass [kg]")];
        inlets.chain(zones).chain(fluids_in).chain(fluids_out).flat_map(columns).collect()
    }

    /// Grains, and their mass \[kg\], that came through each inlet, and that each zone took; then particles of fluids that passed their inlets and
    /// outlets.
    pub fn exchanged(&self) -> Vec<f64> {
        let inlets = self.inlets.iter().map(|pouring| (pouring.poured.count, pouring.poured.mass));
        let zones = self.zones.iter().map(|draining| (draining.count, draining.mass));
        let passed = self.passed.iter().map(|passed| (passed.count, passed.mass));
        let all = inlets.chain(zones).chain(passed);
        all.flat_map(|(count, mass)| [count as f64, mass]).collect()
    }

    /// The first step behind this one at which something may happen.
    pub fn next_step_after(&self, step: u64) -> u64 {
        let look = self.stage().map(|_| &self.looks);
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
        let schedules = look.into_iter().chain(inlets).chain(zones);
        schedules.map(|schedule| schedule.step_after(step)).min().unwrap_or(u64::MAX)
    }

    /// Lets happen what is due at the step that a simulation is at: a stage ends and the next one begins, zones take grains, inlets bring
    /// some. Tells what is worth to be told.
    ///
    /// # Errors
    /// If what should come has no place, or the simulation cannot be looked at.
    pub fn happen(&mut self, simulation: &mut Simulation) -> Result<Vec<Event>, Refusal> {
        let mut told = Vec::new();
        let step = simulation.steps();
        if self.began.is_empty() && !self.plan.stages.is_empty() {
            self.begin(simulation, &mut told)?;
        } else if self.stage().is_some() && self.looks.is_due(step) {
            self.looks.pass(step);
            self.look(simulation, &mut told)?;
        }
        self.drain(simulation)?;
        for index in 0..self.inlets.len() {
            self.pour(index, simulation, &mut told)?;
        }
        self.passed = simulation.passed_fluids();
        Ok(told)
    }

    /// What inlets that end with the run fell short of.
    pub fn conclude(&self, time: f64, steps: u64) -> Vec<Event> {
        self.shortfalls(|_| true, time, steps)
    }

    /// What inlets of some groups that end now fell short of.
    fn shortfalls(&self, ends: impl Fn(u32) -> bool, time: f64, steps: u64) -> Vec<Event> {
        let all = self.plan.inlets.iter().zip(&self.inlets);
        let all = all.filter(|(inlet, pouring)| pouring.is_open && ends(inlet.group));
        all.filter_map(|(inlet, pouring)| {
            let last = pouring.schedule.step_of(pouring.schedule.next().saturating_sub(1)) as f64 * self.time_step;
            (last < inlet.to).then(|| shortfall(inlet, pouring, last, time, steps)).flatten()
        })
        .collect()
    }

    /// The stage that waits for its condition.
    fn stage(&self) -> Option<&Stage> {
        let stage = self.plan.stages.get(self.began.len().checked_sub(1)?)?;
        (stage.until.is_some() && !self.is_over).then_some(stage)
    }

    /// Looks at the condition of the stage.
    fn look(&mut self, simulation: &mut Simulation, told: &mut Vec<Event>) -> Result<(), Refusal> {
        let (time, steps) = (simulation.time(), simulation.steps());
        let Some((stage, condition)) = self.stage().and_then(|stage| Some((stage, stage.until.as_ref()?))) else {
            return Ok(());
        };
        if condition.looks_at_grains() {
            observe(simulation)?;
        }
        let began = self.began[self.began.len() - 1];
        let grains = OnceCell::new();
        let reason = condition.holds(|measure| match measure {
            Measure::Time => time,
            Measure::Duration => (steps - began) as f64 * self.time_step,
            measure => value(measure, grains.get_or_init(|| simulation.snapshot()), simulation),
        });
        let Some(reason) = reason else {
            self.held_since = None;
            return Ok(());
        };
        let hold = (stage.hold / self.time_step).round() as u64;
        let name = stage.name.clone();
        let since = *self.held_since.get_or_insert(steps);
        if steps - since < hold {
            return Ok(());
        }
        told.push(Event::StageEnded {
            stage: name,
            reason,
            time,
            steps,
        });
        if self.began.len() == self.plan.stages.len() {
            self.is_over = true;
            return Ok(());
        }
        self.begin(simulation, told)
    }

    /// Begins the next stage.
    fn begin(&mut self, simulation: &mut Simulation, told: &mut Vec<Event>) -> Result<(), Refusal> {
        let (time, steps) = (simulation.time(), simulation.steps());
        let stage = self.plan.stages[self.began.len()].clone();
        stage.begin(&self.plan.reserve, simulation)?;
        let goes = |group: u32| stage.acts.contains(&Act::Remove(Thing::Group(group)));
        let ends = |group: u32| goes(group) || stage.acts.contains(&Act::Remove(Thing::Inlet(group)));
        told.extend(self.shortfalls(ends, time, steps));
        self.enter(&stage, steps);
        told.push(Event::StageBegan {
            stage: stage.name,
            time,
            steps,
        });
        Ok(())
    }

    /// Notes that the next stage began at this step, and what of the plan is there from then on.
    fn enter(&mut self, stage: &Stage, step: u64) {
        self.began.push(step);
        self.held_since = None;
        self.looks = Schedule::new(stage.every, self.time_step);
        self.looks.pass(step);
        for act in &stage.acts {
            let (thing, comes) = match act {
                Act::Add(thing) => (thing, true),
                Act::Remove(thing) => (thing, false),
                _ => continue,
            };
            match thing {
                Thing::Walls(_) | Thing::Bonds(_) | Thing::FluidInlet(_) => {}
                Thing::Zone(index) => {
                    self.zones[*index].is_there = comes;
                    self.zones[*index].schedule.pass(step);
                }
                Thing::Group(group) | Thing::Inlet(group) => {
                    let own = |(inlet, _): &(&Inlet, &mut Pouring)| inlet.group == *group;
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

    /// Takes away the grains in the zones that are due, and whole the bodies of which they are a part.
    fn drain(&mut self, simulation: &mut Simulation) -> Result<(), Refusal> {
        let step = simulation.steps();
        let is_due: Vec<bool> = self.zones.iter().map(|zone| zone.is_there && zone.schedule.is_due(step)).collect();
        if !is_due.contains(&true) {
            return Ok(());
        }
        observe(simulation)?;
        let cell = simulation.cell();
        let zone_of = |seen: &Seen| (0..is_due.len()).find(|&index| is_due[index] && self.plan.zones[index].takes(seen, &cell));
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

    /// Lets an inlet bring what is due, if it is open.
    fn pour(&mut self, index: usize, simulation: &mut Simulation, told: &mut Vec<Event>) -> Result<(), Refusal> {
        let (time, steps) = (simulation.time(), simulation.steps());
        let (inlet, pouring) = (&self.plan.inlets[index], &mut self.inlets[index]);
        if !pouring.is_open || !pouring.schedule.is_due(steps) {
            return Ok(());
        }
        let event = pouring.schedule.next();
        pouring.schedule.pass(steps);
        // The last event is the first at or behind the end: it brings what came due since the one before.
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
        if missing > 2.0 * inlet.filling() && !pouring.poured.waiting.is_empty() && !pouring.is_told {
            pouring.is_told = true;
            let text = format!("inlet {} falls behind: there is not enough room for {}", inlet.name, inlet.rate);
            told.push(Event::Notice { text, time, steps });
        }
        if time >= inlet.to {
            told.extend(shortfall(inlet, pouring, time, time, steps));
        }
        Ok(())
    }
}

/// What an inlet was asked for and what it reached until a time \[s\], if that is not about the same.
fn shortfall(inlet: &Inlet, pouring: &Pouring, until: f64, time: f64, steps: u64) -> Option<Event> {
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

/// The section of a state for the radii that wait at an inlet.
fn waiting(inlet: &Inlet) -> String {
    format!("course/waiting/{}", inlet.name)
}

fn observe(simulation: &mut Simulation) -> Result<(), Refusal> {
    simulation.observe().map_err(|stop| Refusal::Stopped(Box::new(stop)))
}
