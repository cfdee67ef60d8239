//! Inlets and outlets at work: what comes, what goes, and when.
//!
//! Everything that changes the number of particles happens at the end of a step that follows from the world alone: a layer passes the plane of its
//! inlet, or outlets are looked at. Then lists are made anew and forces found again, so the next step begins with those of what is there.

use super::Flow;
use crate::fields::{FluidFields, Sorted};
use crate::guard::Stop;
use crate::simulation::Simulation;
use crate::state::Passed;
use crate::world::{FluidInlet, FluidOutlet, Vec3};
use seixo_laws::Vector3;
use seixo_sweeps::fluid::{OUTWARD, PASSING, WALL, is_outward, is_passing};
use seixo_sweeps::views::{RECORD, load};

/// Share of a step by which an event may be late without waiting for the next one: what rounding does to the number of steps.
const SLACK: f64 = 1e-6;
/// Most steps between two looks at outlets.
const LONGEST_LOOK: f64 = 1000.0;
/// How far back, in times between two looks, it is traced whether fluid beyond an outlet, or beside it, came through: one would do if nothing were
/// slowed down on its way.
const TRACED: f64 = 2.0;

/// How far an inlet is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Feeding {
    /// Whether it may bring fluid at all, as stages tell.
    pub is_open: bool,
    /// Whether it does.
    pub runs: bool,
    /// How far its layers had gone when that last changed \[m\].
    pub way: f64,
    /// The step of that.
    pub since: u64,
    /// Layers that became fluid.
    pub layers: u64,
}

/// All inlets and outlets at work.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Passages {
    /// By inlet.
    pub feeding: Vec<Feeding>,
    /// What came by each inlet, and behind them what went by each outlet.
    pub passed: Vec<Passed>,
    /// The lowest id that no particle of fluid had.
    pub next_id: u64,
    /// The step at which outlets are looked at next.
    pub next_look: u64,
    /// Energy that came with what was let in \[J\].
    pub inserted: f64,
    /// Ids of what became fluid at this step, whose velocities at half steps are yet to be found.
    pub fresh: Vec<u32>,
}

/// What becomes of a particle when outlets are looked at.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Stays,
    /// Fluid goes on beyond the outlet of this number, along its normal.
    LetGo(usize, Vec3),
    /// Fluid is taken away by the outlet of this number.
    Taken(usize),
    /// A particle in an outlet is where nothing sees it any more.
    OutOfSight,
}

/// The first step at which a time \[s\] is over.
fn step_of(time: f64, dt: f64) -> u64 {
    (time / dt - SLACK).ceil().max(0.0) as u64
}

/// How far layers are at a step \[m\].
fn way_at(inlet: &FluidInlet, feeding: &Feeding, step: u64, dt: f64) -> f64 {
    let steps = if feeding.runs { step - feeding.since } else { 0 };
    feeding.way + inlet.speed * dt * steps as f64
}

/// The step at which the next layer of an inlet that runs has passed its plane.
fn release_at(inlet: &FluidInlet, feeding: &Feeding, spacing: f64, dt: f64) -> u64 {
    let left = (feeding.layers as f64 + 0.5) * spacing - feeding.way;
    feeding.since + step_of(left / inlet.speed, dt)
}

/// The step at which something happens at an inlet.
fn next_at(inlet: &FluidInlet, feeding: &Feeding, spacing: f64, dt: f64) -> u64 {
    let [begin, end] = [inlet.from, inlet.to].map(|time| step_of(time, dt));
    if !feeding.is_open || feeding.layers >= inlet.most_layers {
        return u64::MAX;
    }
    if !feeding.runs {
        return if feeding.since < end { begin.max(feeding.since) } else { u64::MAX };
    }
    release_at(inlet, feeding, spacing, dt).min(end)
}

impl Flow {
    /// Whether there are inlets or outlets.
    pub fn has_passages(&self) -> bool {
        !(self.plan.inlets.is_empty() && self.plan.outlets.is_empty())
    }

    /// Whether particle i is in an inlet or an outlet.
    pub fn is_passing(&self, i: usize) -> bool {
        is_passing(self.fields.kind[i])
    }

    /// How far past an outlet particles are taken away \[m\].
    fn depth_of_outlets(&self) -> f64 {
        self.plan.support + self.plan.spacing
    }

    /// Steps between two looks at outlets: what flows as fast as is expected goes a spacing meanwhile.
    fn steps_between_looks(&self) -> u64 {
        let steps = self.plan.spacing / (self.plan.fastest * self.stepping.dt);
        steps.clamp(1.0, LONGEST_LOOK) as u64
    }

    /// Share of the difference by which what is in outlets follows, in a step, the fluid before it: in the time in which the fastest flow goes a
    /// support. At once would be no better: sound would come back whole, as from an open end, and a channel ring.
    pub fn pace_in_outlets(&self) -> f64 {
        (self.plan.fastest * self.stepping.dt / self.plan.support).min(1.0)
    }

    /// Puts the first layers of all inlets up, at time zero, and takes what starts beyond outlets for what is leaving.
    pub fn put_passages_up(&mut self, simulation: &Simulation) {
        let ids = self.fields.id.iter().filter(|id| **id < WALL);
        self.passages.next_id = ids.max().map_or(0, |id| u64::from(*id) + 1);
        self.passages.passed = vec![Passed::default(); self.plan.inlets.len() + self.plan.outlets.len()];
        for k in 0..self.plan.inlets.len() {
            let is_open = self.plan.inlets[k].is_open;
            self.passages.feeding.push(Feeding {
                is_open,
                ..Feeding::default()
            });
            for layer in 0..self.plan.layers_in_inlets() {
                self.add_layer(k, layer, 0.0);
            }
            self.start_or_stop(k, 0);
        }
        self.passages.next_look = self.steps_between_looks();
        self.drain(simulation);
        let inlets = self.plan.inlets.len();
        self.passages.passed[inlets..].fill(Passed::default());
        self.left = 0.0;
    }

    /// The next step at which something happens at inlets.
    fn next_feeding(&self) -> u64 {
        let (spacing, dt) = (self.plan.spacing, self.stepping.dt);
        let inlets = self.plan.inlets.iter().zip(&self.passages.feeding);
        let steps = inlets.map(|(inlet, feeding)| next_at(inlet, feeding, spacing, dt));
        steps.fold(u64::MAX, u64::min)
    }

    /// The next step at which something happens at inlets and outlets.
    pub fn next_passage(&self) -> u64 {
        let look = if self.plan.outlets.is_empty() {
            u64::MAX
        } else {
            self.passages.next_look
        };
        self.next_feeding().min(look)
    }

    /// Lets happen what is due at inlets and outlets at this step; tells whether anything did. Forces and lists are out of date then.
    pub fn pass(&mut self, simulation: &Simulation) -> bool {
        let step = simulation.steps();
        let mut is_changed = false;
        for k in 0..self.plan.inlets.len() {
            is_changed |= self.feed(k, step);
        }
        if !self.plan.outlets.is_empty() && self.passages.next_look <= step {
            self.passages.next_look = step + self.steps_between_looks();
            is_changed |= self.drain(simulation);
        }
        is_changed
    }

    /// Lets an inlet do what is due.
    fn feed(&mut self, k: usize, step: u64) -> bool {
        let (spacing, dt) = (self.plan.spacing, self.stepping.dt);
        let mut is_changed = false;
        loop {
            let (inlet, feeding) = (&self.plan.inlets[k], self.passages.feeding[k]);
            if next_at(inlet, &feeding, spacing, dt) > step {
                return is_changed;
            }
            is_changed = true;
            let way = way_at(inlet, &feeding, step, dt);
            let is_past = feeding.runs && release_at(inlet, &feeding, spacing, dt) <= step;
            if is_past {
                self.release(k);
                let last = feeding.layers + self.plan.layers_in_inlets();
                self.passages.feeding[k].layers += 1;
                self.add_layer(k, last, way);
            }
            if !is_past || self.passages.feeding[k].layers >= self.plan.inlets[k].most_layers {
                self.start_or_stop(k, step);
            }
        }
    }

    /// Lets an inlet run from this step on if it should, and else stand still.
    fn start_or_stop(&mut self, k: usize, step: u64) {
        let dt = self.stepping.dt;
        let (inlet, feeding) = (&self.plan.inlets[k], &mut self.passages.feeding[k]);
        let is_time = (step_of(inlet.from, dt)..step_of(inlet.to, dt)).contains(&step);
        let way = way_at(inlet, feeding, step, dt);
        feeding.runs = feeding.is_open && is_time && feeding.layers < inlet.most_layers;
        (feeding.way, feeding.since) = (way, step);
        let velocity = self.velocity_in(k);
        let kind = WALL | PASSING | k as u32;
        for i in 0..self.fields.len() {
            if self.fields.kind[i] == kind {
                self.fields.motion[i * RECORD..][..3].copy_from_slice(&velocity);
            }
        }
    }

    /// Opens or closes an inlet as of this step.
    pub fn turn_inlet(&mut self, k: usize, is_open: bool, step: u64) {
        let Some(feeding) = self.passages.feeding.get_mut(k) else { return };
        feeding.is_open = is_open;
        self.start_or_stop(k, step);
    }

    /// Velocity of the layers of an inlet \[m/s\].
    fn velocity_in(&self, k: usize) -> Vec3 {
        let inlet = &self.plan.inlets[k];
        let speed = if self.passages.feeding[k].runs { inlet.speed } else { 0.0 };
        inlet.normal.map(|n| n * speed)
    }

    /// Adds a layer to an inlet whose first one has gone this far \[m\]; layers are counted from time zero.
    fn add_layer(&mut self, k: usize, layer: u64, way: f64) {
        let FluidInlet { sites, normal, .. } = self.plan.inlets[k].clone();
        let past = way - (layer as f64 + 0.5) * self.plan.spacing;
        let [u, v, w] = self.velocity_in(k);
        let volume = -self.plan.volume();
        let mut new = FluidFields::default();
        for site in sites {
            let [x, y, z] = [0, 1, 2].map(|axis| site[axis] + past * normal[axis]);
            let id = self.passages.next_id as u32;
            self.passages.next_id += 1;
            // A layer has one velocity, and so no acceleration.
            let kind = WALL | PASSING | k as u32;
            self.put(&mut new, [id, kind], [x, y, z, volume], [u, v, w, 0.0], [0.0; 3]);
        }
        self.fields.append(&new);
    }

    /// Makes fluid of the layer that has passed the plane of an inlet, with the velocity and the pressure that it had there.
    fn release(&mut self, k: usize) {
        let inlet = &self.plan.inlets[k];
        let fluid = &self.plan.kinds[inlet.kind as usize];
        let (velocity, volume) = (self.velocity_in(k), self.plan.volume());
        let (kind, spacing) = (WALL | PASSING | k as u32, self.plan.spacing);
        let fields = &mut self.fields;
        // The next layer is a spacing behind.
        let is_past = |fields: &FluidFields, i: usize| {
            let place = [0, 1, 2].map(|axis| fields.position[i * RECORD + axis]);
            fields.kind[i] == kind && inlet.past(place) > -0.25 * spacing
        };
        let of_layer: Vec<usize> = (0..fields.len()).filter(|&i| is_past(fields, i)).collect();
        for &i in &of_layer {
            let at = i * RECORD;
            let density = fluid.density_at(fields.flow[at + 3]);
            fields.kind[i] = inlet.kind;
            fields.position[at + 3] = volume * fluid.density / density;
            fields.excess[i] = density / fluid.density - 1.0;
            fields.flow[at..][..3].copy_from_slice(&velocity);
            fields.half_velocity[3 * i..][..3].copy_from_slice(&velocity);
            fields.rate[at..][..RECORD].fill(0.0);
            self.passages.fresh.push(fields.id[i]);
        }
        self.count += of_layer.len();
        self.passages.passed[k].take(of_layer.len(), fluid.density * volume);
    }

    /// What becomes of a particle of this kind, place and velocity when outlets are looked at. Nothing that came through one stays: neither what
    /// has turned around by then, nor what went by its side or too far.
    fn fate(&self, kind: u32, place: Vec3, velocity: Vec3) -> Fate {
        let depth = self.depth_of_outlets();
        let outlets = &self.plan.outlets;
        if is_outward(kind) {
            let past = outlets[(kind & (OUTWARD - 1)) as usize].opening.past(place);
            return if past.is_none_or(|past| past > depth) {
                Fate::OutOfSight
            } else {
                Fate::Stays
            };
        }
        if kind & WALL != 0 {
            return Fate::Stays;
        }
        let is_in = |outlet: &FluidOutlet| outlet.opening.past(place).is_some_and(|past| (0.0..=depth).contains(&past));
        if let Some(k) = outlets.iter().position(is_in) {
            return outlets[k].opening.normal().map_or(Fate::Taken(k), |normal| Fate::LetGo(k, normal));
        }
        let time = TRACED * self.steps_between_looks() as f64 * self.stepping.dt;
        let way = velocity.map(|speed| speed * time);
        let came = outlets.iter().position(|outlet| outlet.opening.was_passed(place, way));
        came.map_or(Fate::Stays, Fate::Taken)
    }

    /// Whether a look at outlets changes anything for particles of these kinds, with these records of places and velocities.
    pub fn lets_any_go(&self, kind: &[u32], position: &[f64], flow: &[f64]) -> bool {
        let record = |records: &[f64], i: usize| [0, 1, 2].map(|axis| records[i * RECORD + axis]);
        (0..kind.len()).any(|i| self.fate(kind[i], record(position, i), record(flow, i)) != Fate::Stays)
    }

    /// Takes what is past outlets out of the fluid, and away from where nothing sees it any more. Tells whether there was any.
    fn drain(&mut self, simulation: &Simulation) -> bool {
        let inlets = self.plan.inlets.len();
        let (mut gone, mut is_changed) = (Vec::new(), false);
        for i in 0..self.fields.len() {
            let [place, velocity] =
                [&self.fields.position, &self.fields.flow].map(|records| [0, 1, 2].map(|axis| records[i * RECORD + axis]));
            let fate = self.fate(self.fields.kind[i], place, velocity);
            if let Fate::LetGo(k, _) | Fate::Taken(k) = fate {
                self.left += self.energy_of(i).total();
                let mass = self.mass(i);
                self.passages.passed[inlets + k].take(1, mass);
                self.count -= 1;
            }
            match fate {
                Fate::Stays => continue,
                Fate::LetGo(k, normal) => self.let_go(i, k, normal),
                Fate::Taken(_) | Fate::OutOfSight => gone.push(i),
            }
            is_changed = true;
        }
        if !gone.is_empty() {
            let stays = |i: &usize| gone.binary_search(i).is_err();
            let kept: Vec<u32> = (0..self.fields.len()).filter(stays).map(|i| i as u32).collect();
            self.fields.reorder(&simulation.device, &kept);
        }
        is_changed
    }

    /// Makes particle i of fluid one that passes an outlet: with the velocity that it has across it, but not back, and the pressure of the outlet.
    fn let_go(&mut self, i: usize, k: usize, normal: Vec3) {
        let across: Vector3<f64> = load(&normal, 0);
        let kept = across.times(self.velocity(i).dot(&across).max(0.0));
        let outlet = &self.plan.outlets[k];
        let density = self.plan.kinds[self.fields.kind[i] as usize].density;
        let at = i * RECORD;
        let head = outlet.level.map_or(0.0, |level| {
            let below = load::<f64>(&self.fields.position, at).minus(&load::<f64>(&level, 0));
            density * self.stepping.gravity.dot(&below)
        });
        let flow = [kept.x, kept.y, kept.z, (outlet.pressure + head).max(0.0)];
        let fields = &mut self.fields;
        fields.kind[i] = WALL | PASSING | OUTWARD | k as u32;
        fields.position[at + 3] = -self.plan.volume();
        fields.flow[at..][..RECORD].copy_from_slice(&flow);
        fields.motion[at..][..3].copy_from_slice(&flow[..3]);
        fields.half_velocity[3 * i..][..3].copy_from_slice(&normal);
        (fields.excess[i], fields.swelling_before[i]) = (0.0, 0.0);
        fields.rate[at..][..RECORD].fill(0.0);
    }

    /// Energy of all fluids and of what left with particles, but for what walls and periodic sides gave \[J\].
    fn held_and_left(&self) -> f64 {
        self.energies().total() + self.left - self.work.wall
    }

    /// Makes lists anew and finds forces again.
    fn settle_anew(&mut self, simulation: &Simulation) {
        self.renew_lists(simulation);
        self.find_forces(simulation);
        self.set_out();
    }

    /// Lets what became fluid at this step begin with the velocity that it came with, once its forces are known.
    fn set_out(&mut self) {
        let mut fresh = std::mem::take(&mut self.passages.fresh);
        fresh.sort_unstable();
        self.pull_back_half_a_step(|id| fresh.binary_search(&id).is_ok());
    }
}

impl Simulation {
    /// What came by each inlet of fluids since time zero, and behind them what went by each outlet.
    pub fn passed_fluids(&self) -> Vec<Passed> {
        self.flow.as_ref().map_or_else(Vec::new, |flow| flow.passages.passed.clone())
    }

    /// Lets fluids come and go as far as that is due at this step. What comes and goes is booked by what it changes in the energies, with forces
    /// before and after.
    pub(crate) fn let_fluids_pass(&mut self) -> Result<(), Stop> {
        let steps = self.steps;
        let due = self.flow.as_deref().filter(|flow| flow.next_passage() <= steps);
        let Some(flow) = due else { return Ok(()) };
        let coming: usize = flow.plan.inlets.iter().map(|inlet| inlet.sites.len()).sum();
        if flow.passages.next_id + coming as u64 > u64::from(WALL) {
            return Err(self.failed("more than 2^31 particles of fluids have come: no id is left for more; end the run before".to_owned()));
        }
        if self.flows_remotely() && !self.finds_some_to_pass()? {
            return Ok(());
        }
        self.observe_fluids()?;
        let before = self.with_flow(|flow, simulation| {
            let before = flow.held_and_left();
            flow.pass(simulation).then_some(before)
        });
        let Some(before) = before else { return Ok(()) };
        if self.flows_remotely() {
            self.with_flow(|flow, simulation| {
                flow.remote = None;
                flow.settle(simulation);
            });
            if let Some(gpu) = self.gpu.clone() {
                self.hand_fluids_over(&gpu).map_err(|refusal| self.failed(refusal.to_string()))?;
            }
            self.observe_fluids()?;
            self.with_remote_flow(|remote, flow, _| {
                flow.set_out();
                remote.set_out(flow);
                Ok(())
            })?;
        }
        if !self.flows_remotely() {
            self.with_flow(|flow, simulation| flow.settle_anew(simulation));
            self.load_bodies_anew();
        }
        self.with_flow(|flow, _| flow.passages.inserted += flow.held_and_left() - before);
        Ok(())
    }

    /// Whether anything comes or goes at this step, at which outlets of fluids on a GPU may be due to be looked at.
    fn finds_some_to_pass(&mut self) -> Result<bool, Stop> {
        let steps = self.steps;
        self.with_remote_flow(|remote, flow, _| {
            let finds_some = flow.next_feeding() <= steps || remote.lets_any_go(flow)?;
            if !finds_some {
                flow.passages.next_look = steps + flow.steps_between_looks();
            }
            Ok(finds_some)
        })
    }
}
