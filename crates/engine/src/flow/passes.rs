//! The passes of a step of fluids.

use super::Flow;
use super::shared::{is_marked, is_own_fluid};
use crate::fields::{FluidFields, Numbers, Sorted, numbers, one_each, part_range, parts};
use crate::simulation::Simulation;
use crate::world::{Leaving, Solver};
use seixo_device::{Cpu, Strided};
use seixo_laws::Vector3;
use seixo_laws::fluid::{Smoothing, ViscousForce};
use seixo_laws::motion::gravity_energy;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::fluid::{FlowPlan, WALL, drifted, flown, is_passing, is_suspended, mass_at};
use seixo_sweeps::fluid_lanes::{CENTRAL, FlowRows, FlowTally, FlowView, INVISCID, MORRIS, flow_of_part};
use seixo_sweeps::motion::{LEFT, Moved, STALE, STILL};
use seixo_sweeps::sides::{OPEN, PERIODIC, put_back};
use seixo_sweeps::views::{RECORD, load, recall, store};

/// A sweep over the pairs of a part.
type Sweep = fn(&FlowView, &FlowRows, &mut [f64]) -> FlowTally;

/// The sweep that is compiled for these sides and this function, and for what walls and fluids ask for.
fn sweep_for(plan: FlowPlan) -> Sweep {
    fn pick<const SIDES: u32, const SPLINE: bool>(plan: FlowPlan) -> Sweep {
        match plan.viscous {
            None if !plan.mixed && !plan.cohesive => of_fluid::<SIDES, SPLINE, INVISCID>(plan),
            None | Some(ViscousForce::Central) => of_fluid::<SIDES, SPLINE, CENTRAL>(plan),
            Some(ViscousForce::Morris) => of_fluid::<SIDES, SPLINE, MORRIS>(plan),
        }
    }
    fn of_fluid<const SIDES: u32, const SPLINE: bool, const VISCOUS: u32>(plan: FlowPlan) -> Sweep {
        // A fluid with a tension is alone.
        match (plan.moving, plan.mixed, plan.cohesive) {
            (false, false, false) => flow_of_part::<SIDES, SPLINE, false, false, VISCOUS, false>,
            (true, false, false) => flow_of_part::<SIDES, SPLINE, true, false, VISCOUS, false>,
            (false, true, _) => flow_of_part::<SIDES, SPLINE, false, true, VISCOUS, false>,
            (true, true, _) => flow_of_part::<SIDES, SPLINE, true, true, VISCOUS, false>,
            (false, false, true) => flow_of_part::<SIDES, SPLINE, false, false, VISCOUS, true>,
            (true, false, true) => flow_of_part::<SIDES, SPLINE, true, false, VISCOUS, true>,
        }
    }
    match (plan.sides, plan.smoothing == Smoothing::CubicSpline) {
        (OPEN, false) => pick::<OPEN, false>(plan),
        (OPEN, true) => pick::<OPEN, true>(plan),
        (_, false) => pick::<PERIODIC, false>(plan),
        (_, true) => pick::<PERIODIC, true>(plan),
    }
}

impl Flow {
    /// Of fluid with new ids, velocities at half steps start half a step back, and the rate of change of densities was before as it is now.
    pub fn pull_back_half_a_step(&mut self, is_new: impl Fn(u32) -> bool) {
        let (ahead, gravity) = (self.stepping.shows_ahead, self.stepping.gravity);
        let FluidFields {
            id,
            kind,
            half_velocity,
            rate,
            swelling_before,
            ..
        } = &mut self.fields;
        for i in (0..kind.len()).filter(|&i| kind[i] & WALL == 0 && is_new(id[i])) {
            let mass = mass_at(&self.media, kind[i] as usize);
            let acceleration = load::<f64>(rate, i * RECORD).times(1.0 / mass).plus(&gravity);
            let kept = recall::<f64>(half_velocity, 3 * i).minus(&acceleration.times(ahead));
            store(half_velocity, 3 * i, &kept);
            swelling_before[i] = rate[i * RECORD + 3];
        }
    }

    /// Lets gravity pull otherwise from now on: what it would have added by now to velocities at half steps, it adds.
    pub fn pull_otherwise(&mut self, gravity: Vector3<f64>, pull: &Vector3<f64>) {
        self.stepping.gravity = gravity;
        if self.stepping.shows_ahead == 0.0 {
            // Velocities of whole steps have had all that gravity gave until now.
            return;
        }
        for i in (0..self.fields.len()).filter(|&i| self.fields.kind[i] & WALL == 0) {
            let kept = recall::<f64>(&mut self.fields.half_velocity, 3 * i).plus(pull);
            store(&mut self.fields.half_velocity, 3 * i, &kept);
        }
    }

    /// Finds the forces of this moment, once it is known where all particles are.
    pub fn find_forces(&mut self, simulation: &Simulation) {
        self.press_walls(simulation, false);
        self.shift(simulation);
        self.exchange(simulation);
        self.suspend(simulation);
        self.last = self.powers();
    }

    /// Finds the forces of this moment anew, as what acts on fluids was changed. Velocities of this moment stay what they are: the kick over it is half by
    /// the forces before, half by those after.
    pub fn push_anew(&mut self, simulation: &Simulation) {
        let before = self.fields.rate.clone();
        self.place_boundary(simulation);
        self.find_forces(simulation);
        for i in (0..self.fields.len()).filter(|&i| self.fields.kind[i] & WALL == 0) {
            let change = load::<f64>(&before, i * RECORD).minus(&load(&self.fields.rate, i * RECORD));
            let ahead = self.stepping.shows_ahead / mass_at(&self.media, self.fields.kind[i] as usize);
            let kept = recall::<f64>(&mut self.fields.half_velocity, 3 * i).plus(&change.times(ahead));
            store(&mut self.fields.half_velocity, 3 * i, &kept);
        }
    }

    /// Kick and drift of all particles of fluid, whose densities follow.
    pub fn advance(&mut self, simulation: &Simulation) {
        let n = self.fields.len();
        let FluidFields {
            kind,
            position,
            flow,
            motion,
            half_velocity,
            excess,
            rate,
            swelling_before,
            reference,
            copy,
            ..
        } = &mut self.fields;
        let (kind, rate, reference, copy) = (&kind[..], &rate[..], &reference[..], &copy[..]);
        let (media, stepping) = (&self.media[..], &self.stepping);
        let FlowPlan { moving, shifting, .. } = self.compiled_for;
        let data = (
            numbers(position, RECORD),
            numbers(flow, RECORD),
            numbers(motion, RECORD),
            numbers(half_velocity, 3),
            numbers(excess, 1),
            numbers(swelling_before, 1),
            one_each(&mut self.moves),
        );
        type Data<'a> = (
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Strided<'a, Moved<f64>>,
        );
        simulation.device.run(
            parts(n),
            data,
            |part, (position, flow, motion, half_velocity, excess, before, moves): Data| {
                let (first, end) = part_range(part, n);
                let mut all = STILL;
                for i in 0..end - first {
                    let at = i * RECORD;
                    if is_passing(kind[first + i]) {
                        let now = drifted::<f64, f64>(
                            &recall(position.items, at),
                            &recall(motion.items, at),
                            &load(reference, (first + i) * RECORD),
                            stepping,
                        );
                        store(position.items, at, &now.position);
                        all.flags |= now.flags;
                    }
                    if is_suspended(kind[first + i]) {
                        // A step on, what acts on it now is what acted a step before.
                        store(half_velocity.items, 3 * i, &load::<f64>(rate, (first + i) * RECORD));
                    }
                    if !is_own_fluid(kind, copy, first + i) {
                        continue;
                    }
                    let swelling = rate[(first + i) * RECORD + 3];
                    let mut place: Vector3<f64> = recall(position.items, at);
                    if shifting {
                        let drift = recall::<f64>(motion.items, at).minus(&recall(flow.items, at));
                        place = place.plus(&drift.times(stepping.dt));
                    }
                    let now = flown::<f64, f64>(
                        &place,
                        &recall(half_velocity.items, 3 * i),
                        excess.items[i],
                        &load(rate, (first + i) * RECORD),
                        swelling,
                        before.items[i],
                        &load(reference, (first + i) * RECORD),
                        media,
                        kind[first + i] as usize,
                        stepping,
                    );
                    store(position.items, at, &now.position);
                    position.items[at + 3] = now.volume;
                    store(flow.items, at, &now.velocity);
                    flow.items[at + 3] = now.pressure;
                    if moving {
                        store(motion.items, at, &now.velocity);
                    }
                    store(half_velocity.items, 3 * i, &now.half);
                    excess.items[i] = now.excess;
                    before.items[i] = swelling;
                    all.flags |= now.flags;
                }
                moves.items[0] = all;
            },
        );
    }

    /// Flags that the last motion of fluid and walls raised.
    pub fn flags(&self) -> u32 {
        self.moves.iter().fold(0, |all, moved| all | moved.flags)
    }

    /// Renews cells and lists if a particle, be it one of a wall, moved half the skin, or one left.
    pub fn renew_lists_when_stale(&mut self, simulation: &Simulation) {
        if self.flags() & (STALE | LEFT) != 0 {
            self.renew_lists(simulation);
        }
    }

    /// Renews cells and lists if a particle, be it one of a wall, moved half the skin; what left the domain is there until the step is over.
    pub fn list_when_stale(&mut self, simulation: &Simulation) {
        if self.flags() & STALE != 0 {
            self.stand_here(simulation);
            self.list_anew(simulation);
        }
    }

    /// Removes fluid outside the domain, and renews cells and lists, if any left in this step.
    pub fn drop_lost(&mut self, simulation: &Simulation) {
        if self.flags() & LEFT != 0 {
            self.renew_lists(simulation);
        }
    }

    /// Sorts the particles into cells and lists their pairs anew; fluid outside the domain is removed.
    pub fn renew_lists(&mut self, simulation: &Simulation) {
        let held_by_pairs = self.settle(simulation);
        self.list_anew(simulation);
        if let Some(held) = held_by_pairs {
            self.left += held - self.held_by_pairs(&simulation.device);
        }
    }

    /// What the surface and springs to bodies store \[J\].
    fn held_by_pairs(&self, device: &Cpu) -> f64 {
        self.surface_energy(device) + self.spring_energy(device)
    }

    /// Removes fluid outside the domain, and keeps where all others are, for new lists. If fluid was removed, or a body is to be, tells what pairs stored
    /// before \[J\]: what they then store less is known with the new lists.
    pub fn settle(&mut self, simulation: &Simulation) -> Option<f64> {
        let at = |i: usize| i * RECORD;
        // At the start nothing is listed yet, and nothing is in the books.
        let is_listed = !self.pairs.row.is_empty();
        let mut held_by_pairs = (is_listed && self.hulls.has_lost()).then(|| self.held_by_pairs(&simulation.device));
        if let Some(domain) = simulation.domain.filter(|domain| domain.leaving == Leaving::Delete) {
            let lost = |i: usize| !self.is_wall(i) && domain.has_lost(&self.fields.position[at(i)..][..3]);
            let kept: Vec<u32> = (0..self.fields.len()).filter(|&i| !lost(i)).map(|i| i as u32).collect();
            if kept.len() < self.fields.len() {
                held_by_pairs = held_by_pairs.or_else(|| is_listed.then(|| self.held_by_pairs(&simulation.device)));
                self.left += (0..self.fields.len())
                    .filter(|&i| lost(i))
                    .map(|i| self.energy_of(i).total())
                    .sum::<f64>();
                self.count -= self.fields.len() - kept.len();
                self.fields.reorder(&simulation.device, &kept);
            }
        }
        self.stand_here(simulation);
        held_by_pairs
    }

    /// Puts particles back that left through periodic sides, and keeps where all are, for new lists. What gravity has to give fluid anew for that, the
    /// sides did.
    pub fn stand_here(&mut self, simulation: &Simulation) {
        if simulation.sides != OPEN {
            for i in 0..self.fields.len() {
                let before = self.place(i);
                let returned = put_back(&before, &self.stepping.sides).position;
                if !self.is_wall(i) {
                    let moved = returned.minus(&before);
                    self.work.wall += gravity_energy(self.mass(i), &self.stepping.gravity, &moved);
                }
                store(&mut self.fields.position, i * RECORD, &returned);
            }
        }
        let FluidFields { position, reference, .. } = &mut self.fields;
        for (kept, now) in reference.chunks_exact_mut(RECORD).zip(position.chunks_exact(RECORD)) {
            kept[..3].copy_from_slice(&now[..3]);
        }
        self.rebuilds += 1;
    }

    /// Sorts the particles into cells, and lists their pairs, by where they are kept to have been when that was done.
    pub fn list_anew(&mut self, simulation: &Simulation) {
        self.drop_hulls_of_lost_bodies(simulation);
        self.cells.sort(&simulation.device, &mut self.fields, |_| true);
        self.find_walls();
        let n = self.fields.len();
        let (device, index, places) = (&simulation.device, self.cells.index(), &self.fields.reference[..]);
        if self.walls.is_empty() && self.suspension.is_empty() && self.fields.copy.is_empty() {
            if self.lists_once() {
                self.pairs.fill_rows::<true>(device, &index, places, n);
            } else {
                self.pairs.fill_rows::<false>(device, &index, places, n);
            }
        } else {
            // Particles of walls do nothing to each other: they are all of one body, and those that see no fluid need no row. What copies do is found
            // by those who own them.
            let member: Vec<u32> = self
                .fields
                .kind
                .iter()
                .map(|kind| if kind & WALL != 0 { 0 } else { FREE })
                .collect();
            let sees_fluid = self.walls_before_fluid();
            let copy = &self.fields.copy[..];
            let has_row = |i: usize| !is_marked(copy, i) && (member[i] == FREE || sees_fluid[i]);
            if self.lists_once() {
                self.pairs.fill_rows_of::<true>(device, &index, places, n, has_row);
                self.before_walls
                    .fill_rows_of::<false>(device, &index, places, n, |i| sees_fluid[i]);
                self.before_walls.drop_inside_bodies(&member, &[0]);
            } else {
                self.pairs.fill_rows_of::<false>(device, &index, places, n, has_row);
            }
            self.pairs.drop_inside_bodies(&member, &[0]);
        }
        if !self.suspension.is_empty() {
            // They are no part of what particles do to each other.
            let kind = &self.fields.kind[..];
            let is_grain = |i: usize| is_suspended(kind[i]);
            self.pairs.drop_partners(|j| is_grain(j as usize));
            self.suspension.around.fill_rows_of::<false>(device, &index, places, n, is_grain);
            let is_fluid = |j: u32| kind[j as usize] & WALL == 0;
            self.suspension.near.turn_around(&self.suspension.around, is_fluid);
            if self.divisible {
                self.suspension.around.sort_rows(device, &self.fields.id);
                self.suspension.near.sort_rows(device, &self.fields.id);
            }
        }
        if self.divisible {
            self.pairs.sort_rows(device, &self.fields.id);
        }
        if self.is_incompressible() {
            self.projector.make_room(n);
        }
        self.moves.resize(parts(n), STILL);
        self.tallies.resize(parts(n), FlowTally::default());
        self.take_over_densities();
        self.hold_in_container(simulation);
    }

    /// Whether a pair inside a part stands in one row only.
    pub fn lists_once(&self) -> bool {
        self.compiled_for.solver == Solver::WeaklyCompressible && !self.divisible && !self.compiled_for.shifting
    }

    /// Forces, and rates of change of densities.
    pub fn exchange(&mut self, simulation: &Simulation) {
        let n = self.fields.len();
        let (sweep, is_once) = (sweep_for(self.compiled_for), self.lists_once());
        let smoother = self.smoother();
        let FluidFields {
            kind,
            position,
            flow,
            motion,
            rate,
            ..
        } = &mut self.fields;
        let view = FlowView {
            position: &position[..],
            flow: &flow[..],
            motion: &motion[..],
            kind: &kind[..],
            media: &self.media[..],
            gravity: self.stepping.gravity,
            smoother,
            sides: &self.stepping.sides,
        };
        let (row, neighbors) = (&self.pairs.row[..], &self.pairs.neighbors[..]);
        let data = (numbers(rate, RECORD), one_each(&mut self.tallies));
        simulation
            .device
            .run(parts(n), data, |part, (rate, tally): (Numbers, Strided<FlowTally>)| {
                let (first, end) = part_range(part, n);
                let rows = FlowRows {
                    first,
                    end,
                    row,
                    neighbors,
                    is_once,
                };
                tally.items[0] = sweep(&view, &rows, rate.items);
            });
        self.take_up_motion(simulation);
    }

    /// Powers of this moment \[W\].
    pub fn powers(&self) -> FlowTally {
        self.tallies.iter().fold(self.suspension.tally, |all, one| all.plus(one))
    }

    /// Books the work of this step: its share is the mean of the powers at its two ends.
    pub fn book_work(&mut self) {
        let mut now = self.powers();
        // What bodies gain is no work of walls.
        now.wall += self.hulls.power;
        let before = std::mem::replace(&mut self.last, now);
        self.work = self.work.plus(&before.plus(&now).times(0.5 * self.stepping.dt));
    }
}
