//! Inlets and outlets during a run: inserted and removed fluid, and the steps of these events.
//!
//! The number of particles changes only at the end of steps that follow from the world alone: when a layer passes the plane of its inlet, or outlets
//! are checked. Then neighbor lists are rebuilt and forces computed again, so the next step begins with the forces of the current particles.

use super::Flow;
use crate::fields::{FluidFields, Sorted};
use crate::state::PassedParticles;
use crate::surroundings::Surroundings;
use crate::world::{FluidInlet, FluidOutlet, Vec3};
use seixo_laws::Vector3;
use seixo_sweeps::fluid::{OPEN_BOUNDARY, OUTLET, WALL, is_outward, is_passing};
use seixo_sweeps::layout::{RECORD, load};

/// Share of a step by which an event may be late without waiting for the next step: the effect of rounding on the number of steps.
const SLACK: f64 = 1e-6;
/// Maximum number of steps between two checks of outlets.
const MAX_STEPS_BETWEEN_CHECKS: f64 = 1000.0;
/// How far back the path of fluid beyond or beside an outlet is traced to find whether it passed the outlet, in intervals between two checks. One
/// would suffice if nothing slowed down on its way.
const TRACED: f64 = 2.0;

/// State of an inlet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct InletState {
    /// Whether stages allow it to insert fluid.
    pub is_open: bool,
    /// Whether it inserts fluid.
    pub runs: bool,
    /// Displacement of its layers at the last change of that \[m\].
    pub way: f64,
    /// The step of that change.
    pub since: u64,
    /// Number of layers that became fluid.
    pub layers: u64,
}

/// State of all inlets and outlets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenBoundaries {
    /// States of the inlets.
    pub feeding: Vec<InletState>,
    /// Particles that entered by each inlet, followed by those that left by each outlet.
    pub passed: Vec<PassedParticles>,
    /// The lowest id that no fluid particle had.
    pub next_id: u64,
    /// The step of the next check of outlets.
    pub next_check: u64,
    /// Energy of inserted fluid \[J\].
    pub inserted: f64,
    /// Ids of particles that became fluid at this step, whose velocities at half steps are still to be computed.
    pub fresh: Vec<u32>,
}

/// Result of the check of outlets for a particle.
#[derive(Clone, Copy, PartialEq)]
enum OutletFate {
    Stays,
    /// Fluid continues beyond the outlet of this number, along its normal.
    LetGo(usize, Vec3),
    /// The outlet of this number removes the fluid.
    Taken(usize),
    /// An outlet particle has no fluid within its reach any more.
    OutOfSight,
}

/// The first step at or after a time \[s\].
fn step_of(time: f64, dt: f64) -> u64 {
    (time / dt - SLACK).ceil().max(0.0) as u64
}

/// Displacement of the layers at a step \[m\].
fn layer_displacement(inlet: &FluidInlet, feeding: &InletState, step: u64, dt: f64) -> f64 {
    let steps = if feeding.runs { step - feeding.since } else { 0 };
    feeding.way + inlet.speed * dt * steps as f64
}

/// The step at which the next layer of a running inlet has passed its plane.
fn release_at(inlet: &FluidInlet, feeding: &InletState, spacing: f64, dt: f64) -> u64 {
    let left = (feeding.layers as f64 + 0.5) * spacing - feeding.way;
    feeding.since + step_of(left / inlet.speed, dt)
}

/// The step of the next event at an inlet.
fn next_at(inlet: &FluidInlet, feeding: &InletState, spacing: f64, dt: f64) -> u64 {
    let [begin, end] = [inlet.from, inlet.to].map(|time| step_of(time, dt));
    if !feeding.is_open || feeding.layers >= inlet.max_layers {
        return u64::MAX;
    }
    if !feeding.runs {
        return if feeding.since < end { begin.max(feeding.since) } else { u64::MAX };
    }
    release_at(inlet, feeding, spacing, dt).min(end)
}

impl Flow {
    /// Whether there are inlets or outlets.
    pub fn has_open_boundaries(&self) -> bool {
        !(self.plan.inlets.is_empty() && self.plan.outlets.is_empty())
    }

    /// Whether particle i is in an inlet or an outlet.
    pub fn is_passing(&self, i: usize) -> bool {
        is_passing(self.fields.kind[i])
    }

    /// Distance beyond an outlet at which particles are removed \[m\].
    fn depth_of_outlets(&self) -> f64 {
        self.plan.support + self.plan.spacing
    }

    /// Number of steps between two checks of outlets: flow at the largest expected speed moves by a spacing in this time.
    pub(crate) fn steps_between_outlet_checks(&self) -> u64 {
        let steps = self.plan.spacing / (self.plan.largest_speed * self.stepping.dt);
        steps.clamp(1.0, MAX_STEPS_BETWEEN_CHECKS) as u64
    }

    /// Share of the difference to the fluid before them by which outlet particles relax in a step: the relaxation time is that in which the fastest
    /// flow moves by a support. Instant relaxation would be no better: sound would be reflected completely, as from an open end, and a channel would
    /// resonate.
    pub fn pace_in_outlets(&self) -> f64 {
        (self.plan.largest_speed * self.stepping.dt / self.plan.support).min(1.0)
    }

    /// Creates the first layers of all inlets at time zero, and treats fluid that starts beyond outlets as leaving.
    pub fn init_open_boundaries(&mut self, surroundings: &Surroundings) {
        let ids = self.fields.id.iter().filter(|id| **id < WALL);
        self.open_boundaries.next_id = ids.max().map_or(0, |id| u64::from(*id) + 1);
        self.open_boundaries.passed = vec![PassedParticles::default(); self.plan.inlets.len() + self.plan.outlets.len()];
        for k in 0..self.plan.inlets.len() {
            let is_open = self.plan.inlets[k].is_open;
            self.open_boundaries.feeding.push(InletState {
                is_open,
                ..InletState::default()
            });
            for layer in 0..self.plan.layers_in_inlets() {
                self.add_layer(k, layer, 0.0);
            }
            self.start_or_stop(k, 0);
        }
        self.open_boundaries.next_check = self.steps_between_outlet_checks();
        self.drain(surroundings);
        let inlets = self.plan.inlets.len();
        self.open_boundaries.passed[inlets..].fill(PassedParticles::default());
        self.left = 0.0;
    }

    /// The step of the next event at inlets.
    pub(crate) fn next_feeding(&self) -> u64 {
        let (spacing, dt) = (self.plan.spacing, self.stepping.dt);
        let inlets = self.plan.inlets.iter().zip(&self.open_boundaries.feeding);
        let steps = inlets.map(|(inlet, feeding)| next_at(inlet, feeding, spacing, dt));
        steps.fold(u64::MAX, u64::min)
    }

    /// The step of the next event at inlets and outlets.
    pub fn next_open_boundary_event(&self) -> u64 {
        let look = if self.plan.outlets.is_empty() {
            u64::MAX
        } else {
            self.open_boundaries.next_check
        };
        self.next_feeding().min(look)
    }

    /// Updates inlets and outlets at this step, if that is due; returns whether anything changed. Forces and lists are out of date then.
    pub fn pass(&mut self, surroundings: &Surroundings) -> bool {
        let step = surroundings.context.steps;
        let mut is_changed = false;
        for k in 0..self.plan.inlets.len() {
            is_changed |= self.update_inlet(k, step);
        }
        if !self.plan.outlets.is_empty() && self.open_boundaries.next_check <= step {
            self.open_boundaries.next_check = step + self.steps_between_outlet_checks();
            is_changed |= self.drain(surroundings);
        }
        is_changed
    }

    /// Updates an inlet, if that is due.
    fn update_inlet(&mut self, k: usize, step: u64) -> bool {
        let (spacing, dt) = (self.plan.spacing, self.stepping.dt);
        let mut is_changed = false;
        loop {
            let (inlet, feeding) = (&self.plan.inlets[k], self.open_boundaries.feeding[k]);
            if next_at(inlet, &feeding, spacing, dt) > step {
                return is_changed;
            }
            is_changed = true;
            let way = layer_displacement(inlet, &feeding, step, dt);
            let is_past = feeding.runs && release_at(inlet, &feeding, spacing, dt) <= step;
            if is_past {
                self.release(k);
                let last = feeding.layers + self.plan.layers_in_inlets();
                self.open_boundaries.feeding[k].layers += 1;
                self.add_layer(k, last, way);
            }
            if !is_past || self.open_boundaries.feeding[k].layers >= self.plan.inlets[k].max_layers {
                self.start_or_stop(k, step);
            }
        }
    }

    /// Starts or stops an inlet at this step, as its state requires.
    fn start_or_stop(&mut self, k: usize, step: u64) {
        let dt = self.stepping.dt;
        let (inlet, feeding) = (&self.plan.inlets[k], &mut self.open_boundaries.feeding[k]);
        let is_time = (step_of(inlet.from, dt)..step_of(inlet.to, dt)).contains(&step);
        let way = layer_displacement(inlet, feeding, step, dt);
        feeding.runs = feeding.is_open && is_time && feeding.layers < inlet.max_layers;
        (feeding.way, feeding.since) = (way, step);
        let velocity = self.velocity_in(k);
        let kind = WALL | OPEN_BOUNDARY | k as u32;
        for i in 0..self.fields.len() {
            if self.fields.kind[i] == kind {
                self.fields.particle_velocity[i * RECORD..][..3].copy_from_slice(&velocity);
            }
        }
    }

    /// Opens or closes an inlet as of this step.
    pub fn switch_inlet(&mut self, k: usize, is_open: bool, step: u64) {
        let Some(feeding) = self.open_boundaries.feeding.get_mut(k) else {
            return;
        };
        feeding.is_open = is_open;
        self.start_or_stop(k, step);
    }

    /// Velocity of the layers of an inlet \[m/s\].
    fn velocity_in(&self, k: usize) -> Vec3 {
        let inlet = &self.plan.inlets[k];
        let speed = if self.open_boundaries.feeding[k].runs { inlet.speed } else { 0.0 };
        inlet.normal.map(|n| n * speed)
    }

    /// Adds a layer to an inlet whose first layer has this displacement \[m\]; layers are counted from time zero.
    fn add_layer(&mut self, k: usize, layer: u64, way: f64) {
        let FluidInlet { sites, normal, .. } = self.plan.inlets[k].clone();
        let past = way - (layer as f64 + 0.5) * self.plan.spacing;
        let [u, v, w] = self.velocity_in(k);
        let volume = -self.plan.volume();
        let mut new = FluidFields::default();
        for site in sites {
            let [x, y, z] = [0, 1, 2].map(|axis| site[axis] + past * normal[axis]);
            let id = self.open_boundaries.next_id as u32;
            self.open_boundaries.next_id += 1;
            // A layer has one velocity, and so no acceleration.
            let kind = WALL | OPEN_BOUNDARY | k as u32;
            self.put(&mut new, [id, kind], [x, y, z, volume], [u, v, w, 0.0], [0.0; 3]);
        }
        self.fields.append(&new);
    }

    /// Converts the layer that has passed the plane of an inlet to fluid, with the velocity and the pressure of the layer.
    fn release(&mut self, k: usize) {
        let inlet = &self.plan.inlets[k];
        let fluid = &self.plan.kinds[inlet.kind as usize];
        let (velocity, volume) = (self.velocity_in(k), self.plan.volume());
        let (kind, spacing) = (WALL | OPEN_BOUNDARY | k as u32, self.plan.spacing);
        let fields = &mut self.fields;
        // The next layer is a spacing behind.
        let is_past = |fields: &FluidFields, i: usize| {
            let place = [0, 1, 2].map(|axis| fields.position[i * RECORD + axis]);
            fields.kind[i] == kind && inlet.past(place) > -0.25 * spacing
        };
        let of_layer: Vec<usize> = (0..fields.len()).filter(|&i| is_past(fields, i)).collect();
        for &i in &of_layer {
            let at = i * RECORD;
            let density = fluid.density_at(fields.velocity_pressure[at + 3]);
            fields.kind[i] = inlet.kind;
            fields.position[at + 3] = volume * fluid.density / density;
            fields.density_error[i] = density / fluid.density - 1.0;
            fields.velocity_pressure[at..][..3].copy_from_slice(&velocity);
            fields.half_velocity[3 * i..][..3].copy_from_slice(&velocity);
            fields.force_density_rate[at..][..RECORD].fill(0.0);
            self.open_boundaries.fresh.push(fields.id[i]);
        }
        self.count += of_layer.len();
        self.open_boundaries.passed[k].take(of_layer.len(), fluid.density * volume);
    }

    /// Result of the check of outlets for a particle of this kind, position and velocity. No fluid that passed an outlet stays: neither fluid that
    /// has reversed since, nor fluid beside the outlet or too far beyond it.
    fn outlet_fate(&self, kind: u32, place: Vec3, velocity: Vec3) -> OutletFate {
        let depth = self.depth_of_outlets();
        let outlets = &self.plan.outlets;
        if is_outward(kind) {
            let past = outlets[(kind & (OUTLET - 1)) as usize].opening.past(place);
            return if past.is_none_or(|past| past > depth) {
                OutletFate::OutOfSight
            } else {
                OutletFate::Stays
            };
        }
        if kind & WALL != 0 {
            return OutletFate::Stays;
        }
        let is_in = |outlet: &FluidOutlet| outlet.opening.past(place).is_some_and(|past| (0.0..=depth).contains(&past));
        if let Some(k) = outlets.iter().position(is_in) {
            return outlets[k]
                .opening
                .normal()
                .map_or(OutletFate::Taken(k), |normal| OutletFate::LetGo(k, normal));
        }
        let time = TRACED * self.steps_between_outlet_checks() as f64 * self.stepping.dt;
        let way = velocity.map(|speed| speed * time);
        let came = outlets.iter().position(|outlet| outlet.opening.was_passed(place, way));
        came.map_or(OutletFate::Stays, OutletFate::Taken)
    }

    /// Whether a check of outlets changes any of these particles, given by kinds and by records of positions and velocities.
    pub fn outlets_change_any(&self, kind: &[u32], position: &[f64], flow: &[f64]) -> bool {
        let record = |records: &[f64], i: usize| [0, 1, 2].map(|axis| records[i * RECORD + axis]);
        (0..kind.len()).any(|i| self.outlet_fate(kind[i], record(position, i), record(flow, i)) != OutletFate::Stays)
    }

    /// Removes fluid beyond outlets, and outlet particles without fluid within their reach. Returns whether there were any.
    fn drain(&mut self, surroundings: &Surroundings) -> bool {
        let inlets = self.plan.inlets.len();
        let (mut gone, mut is_changed) = (Vec::new(), false);
        for i in 0..self.fields.len() {
            let [place, velocity] =
                [&self.fields.position, &self.fields.velocity_pressure].map(|records| [0, 1, 2].map(|axis| records[i * RECORD + axis]));
            let outlet_fate = self.outlet_fate(self.fields.kind[i], place, velocity);
            if let OutletFate::LetGo(k, _) | OutletFate::Taken(k) = outlet_fate {
                self.left += self.energy_of(i).total();
                let mass = self.mass(i);
                self.open_boundaries.passed[inlets + k].take(1, mass);
                self.count -= 1;
            }
            match outlet_fate {
                OutletFate::Stays => continue,
                OutletFate::LetGo(k, normal) => self.convert_to_outlet(i, k, normal),
                OutletFate::Taken(_) | OutletFate::OutOfSight => gone.push(i),
            }
            is_changed = true;
        }
        if !gone.is_empty() {
            let stays = |i: &usize| gone.binary_search(i).is_err();
            let kept: Vec<u32> = (0..self.fields.len()).filter(stays).map(|i| i as u32).collect();
            self.fields.reorder(&surroundings.context.device, &kept);
        }
        is_changed
    }

    /// Converts fluid particle i to an outlet particle, with its normal velocity, but not backwards, and the pressure of the outlet.
    fn convert_to_outlet(&mut self, i: usize, k: usize, normal: Vec3) {
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
        fields.kind[i] = WALL | OPEN_BOUNDARY | OUTLET | k as u32;
        fields.position[at + 3] = -self.plan.volume();
        fields.velocity_pressure[at..][..RECORD].copy_from_slice(&flow);
        fields.particle_velocity[at..][..3].copy_from_slice(&flow[..3]);
        fields.half_velocity[3 * i..][..3].copy_from_slice(&normal);
        (fields.density_error[i], fields.previous_density_rate[i]) = (0.0, 0.0);
        fields.force_density_rate[at..][..RECORD].fill(0.0);
    }

    /// Energy of all fluids and of particles that left, without the work of walls and periodic sides \[J\].
    pub(crate) fn total_fluid_energy(&self) -> f64 {
        self.energies().total() + self.left - self.work.wall
    }

    /// Rebuilds neighbor lists and computes forces again.
    pub(crate) fn migrate(&mut self, surroundings: &Surroundings) {
        self.rebuild_neighbor_lists(surroundings);
        self.find_forces(surroundings);
        self.set_out();
    }

    /// Sets the initial velocity of particles that became fluid at this step, after their forces are computed.
    pub(crate) fn set_out(&mut self) {
        let mut fresh = std::mem::take(&mut self.open_boundaries.fresh);
        fresh.sort_unstable();
        self.set_half_step_velocities(|id| fresh.binary_search(&id).is_ok());
    }
}
