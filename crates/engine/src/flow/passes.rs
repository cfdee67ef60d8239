//! The passes of a step of fluids.

use super::Flow;
use super::halo::{is_marked, is_own_fluid};
use crate::fields::{FluidFields, Numbers, Sorted, numbers, one_each, part_range, parts};
use crate::surroundings::Surroundings;
use crate::world::Solver;
use seixo_device::{Cpu, Strided};
use seixo_laws::Vector3;
use seixo_laws::fluid::{Smoothing, ViscousForce};
use seixo_laws::motion::gravity_energy;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::fluid::{FluidKernelConfig, WALL, advected, drifted_position, is_passing, is_suspended, mass_at};
use seixo_sweeps::fluid_lanes::{CENTRAL, FlowRows, FlowView, FluidPowerSums, INVISCID, MORRIS, flow_of_part};
use seixo_sweeps::layout::{RECORD, load, recall, store};
use seixo_sweeps::motion::{AT_REST, MotionReport, SKIN_EXCEEDED};
use seixo_sweeps::periodic::{OPEN, wrap};

/// A sweep over the pairs of a part.
type Sweep = fn(&FlowView, &FlowRows, &mut [f64]) -> FluidPowerSums;

/// The sweep that is compiled for this smoothing function, and for the models of walls and fluids.
fn sweep_for(plan: FluidKernelConfig) -> Sweep {
    fn pick<const SPLINE: bool>(plan: FluidKernelConfig) -> Sweep {
        match plan.viscous {
            None if !plan.mixed && !plan.cohesive => of_fluid::<SPLINE, INVISCID>(plan),
            None | Some(ViscousForce::Central) => of_fluid::<SPLINE, CENTRAL>(plan),
            Some(ViscousForce::Morris) => of_fluid::<SPLINE, MORRIS>(plan),
        }
    }
    fn of_fluid<const SPLINE: bool, const VISCOUS: u32>(plan: FluidKernelConfig) -> Sweep {
        // A fluid with surface tension is the only one.
        match (plan.moving, plan.mixed, plan.cohesive) {
            (false, false, false) => flow_of_part::<SPLINE, false, false, VISCOUS, false>,
            (true, false, false) => flow_of_part::<SPLINE, true, false, VISCOUS, false>,
            (false, true, _) => flow_of_part::<SPLINE, false, true, VISCOUS, false>,
            (true, true, _) => flow_of_part::<SPLINE, true, true, VISCOUS, false>,
            (false, false, true) => flow_of_part::<SPLINE, false, false, VISCOUS, true>,
            (true, false, true) => flow_of_part::<SPLINE, true, false, VISCOUS, true>,
        }
    }
    match plan.smoothing {
        Smoothing::CubicSpline => pick::<true>(plan),
        _ => pick::<false>(plan),
    }
}

impl Flow {
    /// Sets velocities of fluid with new ids half a step back, and its previous rate of change of density to the current one.
    pub fn set_half_step_velocities(&mut self, is_new: impl Fn(u32) -> bool) {
        let (ahead, gravity) = (self.stepping.velocity_lead, self.stepping.gravity);
        let FluidFields {
            id,
            kind,
            half_velocity,
            force_density_rate: rate,
            previous_density_rate,
            ..
        } = &mut self.fields;
        for i in (0..kind.len()).filter(|&i| kind[i] & WALL == 0 && is_new(id[i])) {
            let mass = mass_at(&self.media, kind[i] as usize);
            let acceleration = load::<f64>(rate, i * RECORD).times(1.0 / mass).plus(&gravity);
            let kept = recall::<f64>(half_velocity, 3 * i).minus(&acceleration.times(ahead));
            store(half_velocity, 3 * i, &kept);
            previous_density_rate[i] = rate[i * RECORD + 3];
        }
    }

    /// Stores the current velocities of all fluid in place of those half a step back, until its forces are computed again.
    pub(crate) fn keep_velocities(&mut self) {
        for i in self.of_fluid().collect::<Vec<usize>>() {
            let velocity = self.velocity(i);
            store(&mut self.fields.half_velocity, 3 * i, &velocity);
        }
    }

    /// Changes gravity from now on: velocities at half steps get the part that the new gravity would have added by now.
    pub fn change_gravity(&mut self, gravity: Vector3<f64>, pull: &Vector3<f64>) {
        self.stepping.gravity = gravity;
        if self.stepping.velocity_lead == 0.0 {
            // Velocities at whole steps already have all of the previous gravity.
            return;
        }
        for i in (0..self.fields.len()).filter(|&i| self.fields.kind[i] & WALL == 0) {
            let kept = recall::<f64>(&mut self.fields.half_velocity, 3 * i).plus(pull);
            store(&mut self.fields.half_velocity, 3 * i, &kept);
        }
    }

    /// Computes the current forces, after the positions of all particles are known.
    pub fn find_forces(&mut self, surroundings: &Surroundings) {
        self.wall_pressures(surroundings, false);
        self.shift(surroundings);
        self.draw_along(surroundings);
        self.exchange(surroundings);
        self.suspend(surroundings);
        self.last = self.powers();
    }

    /// Computes the current forces again, after a change of the loads on fluids. Current velocities stay the same: one half of the kick over the
    /// current time is by the forces before, the other by those after.
    pub fn recompute_fluid_forces(&mut self, surroundings: &Surroundings) {
        let before = self.fields.force_density_rate.clone();
        self.place_boundary(surroundings);
        self.find_forces(surroundings);
        for i in (0..self.fields.len()).filter(|&i| self.fields.kind[i] & WALL == 0) {
            let change = load::<f64>(&before, i * RECORD).minus(&load(&self.fields.force_density_rate, i * RECORD));
            let ahead = self.stepping.velocity_lead / mass_at(&self.media, self.fields.kind[i] as usize);
            let kept = recall::<f64>(&mut self.fields.half_velocity, 3 * i).plus(&change.times(ahead));
            store(&mut self.fields.half_velocity, 3 * i, &kept);
        }
    }

    /// Kick and drift of all fluid particles, and update of their densities.
    pub fn advance(&mut self, surroundings: &Surroundings) {
        self.steps_since_listed += 1;
        let n = self.fields.len();
        let FluidFields {
            kind,
            position,
            velocity_pressure: flow,
            particle_velocity: motion,
            half_velocity,
            density_error: excess,
            force_density_rate: rate,
            previous_density_rate,
            reference,
            ghost: copy,
            ..
        } = &mut self.fields;
        let (kind, rate, reference, copy) = (&kind[..], &rate[..], &reference[..], &copy[..]);
        let (media, stepping) = (&self.media[..], &self.stepping);
        let (moving, has_drift) = (self.compiled_for.moving, self.compiled_for.has_drift());
        let data = (
            numbers(position, RECORD),
            numbers(flow, RECORD),
            numbers(motion, RECORD),
            numbers(half_velocity, 3),
            numbers(excess, 1),
            numbers(previous_density_rate, 1),
            one_each(&mut self.moves),
        );
        type Data<'a> = (
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Strided<'a, MotionReport<f64>>,
        );
        surroundings.context.device.run(
            parts(n),
            data,
            |part, (position, flow, motion, half_velocity, excess, before, moves): Data| {
                let (first, end) = part_range(part, n);
                let mut all = AT_REST;
                for i in 0..end - first {
                    let at = i * RECORD;
                    if is_passing(kind[first + i]) {
                        let now = drifted_position::<f64, f64>(
                            &recall(position.items, at),
                            &recall(motion.items, at),
                            &load(reference, (first + i) * RECORD),
                            stepping,
                        );
                        store(position.items, at, &now.position);
                        all.flags |= now.flags;
                    }
                    if is_suspended(kind[first + i]) {
                        // One step later, the current rate is the previous one.
                        store(half_velocity.items, 3 * i, &load::<f64>(rate, (first + i) * RECORD));
                    }
                    if !is_own_fluid(kind, copy, first + i) {
                        continue;
                    }
                    let density_rate = rate[(first + i) * RECORD + 3];
                    let mut place: Vector3<f64> = recall(position.items, at);
                    if has_drift {
                        let drift = recall::<f64>(motion.items, at).minus(&recall(flow.items, at));
                        place = place.plus(&drift.times(stepping.dt));
                    }
                    let now = advected::<f64, f64>(
                        &place,
                        &recall(half_velocity.items, 3 * i),
                        excess.items[i],
                        &load(rate, (first + i) * RECORD),
                        density_rate,
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
                    before.items[i] = density_rate;
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

    /// Whether a particle, fluid or wall, moved by half the skin. If so, chooses the skin of the next lists.
    fn tune_exceeded_skin(&mut self) -> bool {
        let is_exceeded = self.flags() & SKIN_EXCEEDED != 0;
        if is_exceeded {
            self.tune_skin(&self.list_counts());
        }
        is_exceeded
    }

    /// Rebuilds cells and neighbor lists if a particle, fluid or wall, moved by half the skin.
    pub fn rebuild_neighbor_lists_if_needed(&mut self, surroundings: &Surroundings) {
        if self.tune_exceeded_skin() {
            self.rebuild_neighbor_lists(surroundings);
        }
    }

    /// As [`Flow::rebuild_neighbor_lists_if_needed`], but fluid outside the domain stays until the end of the step.
    pub fn build_lists_if_needed(&mut self, surroundings: &Surroundings) {
        if self.tune_exceeded_skin() {
            self.wrap_and_keep_positions(surroundings);
            self.rebuild_lists(surroundings);
        }
    }

    /// Removes fluid outside the domain if lists were rebuilt in this step; cells and neighbor lists are then rebuilt without it.
    pub fn remove_left(&mut self, surroundings: &Surroundings) {
        if self.lists_left_fluid(surroundings) {
            self.rebuild_neighbor_lists(surroundings);
        }
    }

    /// Whether lists that were rebuilt in this step have own fluid outside a domain that removes it.
    pub fn lists_left_fluid(&self, surroundings: &Surroundings) -> bool {
        let domain = surroundings.context.domain_to_leave();
        let Some(domain) = domain.filter(|_| self.steps_since_listed == 0) else {
            return false;
        };
        let mut own = self.of_fluid().filter(|&i| !self.is_ghost(i));
        own.any(|i| domain.is_outside_domain(&self.fields.position[i * RECORD..]))
    }

    /// Sorts the particles into cells and rebuilds their neighbor lists; fluid outside the domain is removed.
    pub fn rebuild_neighbor_lists(&mut self, surroundings: &Surroundings) {
        let pair_energy = self.remove_left_and_keep_positions(surroundings);
        self.rebuild_lists(surroundings);
        if let Some(held) = pair_energy {
            self.left += held - self.pair_energy(&surroundings.context.device);
        }
    }

    /// Whether pairs hold energy that fluid takes along where it leaves: on both sides of a pair of which one particle is removed.
    pub(crate) fn pairs_hold_energy(&self) -> bool {
        self.compiled_for.cohesive || self.muller.is_some() && self.compiled_for.bounded
    }

    /// Energy of the surface and of springs to bodies \[J\].
    pub(crate) fn pair_energy(&self, device: &Cpu) -> f64 {
        self.surface_energy(device) + self.spring_energy(device)
    }

    /// Removes fluid outside the domain, and stores the positions of all other particles for new lists. If fluid was removed, or a body is to be,
    /// returns the energy of pairs before \[J\]: its decrease is known with the new lists.
    pub fn remove_left_and_keep_positions(&mut self, surroundings: &Surroundings) -> Option<f64> {
        let at = |i: usize| i * RECORD;
        // At the start nothing is listed yet, and the ledger is empty.
        let is_listed = !self.pairs.row.is_empty();
        let mut pair_energy = (is_listed && self.body_boundaries.has_lost()).then(|| self.pair_energy(&surroundings.context.device));
        if let Some(domain) = surroundings.context.domain_to_leave() {
            let lost = |i: usize| !self.is_wall(i) && domain.is_outside_domain(&self.fields.position[at(i)..][..3]);
            let kept: Vec<u32> = (0..self.fields.len()).filter(|&i| !lost(i)).map(|i| i as u32).collect();
            if kept.len() < self.fields.len() {
                pair_energy = pair_energy.or_else(|| is_listed.then(|| self.pair_energy(&surroundings.context.device)));
                self.left += (0..self.fields.len())
                    .filter(|&i| lost(i))
                    .map(|i| self.energy_of(i).total())
                    .sum::<f64>();
                self.count -= self.fields.len() - kept.len();
                self.fields.reorder(&surroundings.context.device, &kept);
            }
        }
        self.wrap_and_keep_positions(surroundings);
        pair_energy
    }

    /// Wraps particles that left through periodic sides, and stores all positions for new lists. The sides supply the potential energy that wrapped
    /// fluid gains.
    pub fn wrap_and_keep_positions(&mut self, surroundings: &Surroundings) {
        if surroundings.context.sides != OPEN {
            for i in 0..self.fields.len() {
                let before = self.place(i);
                let returned = wrap(&before, &self.stepping.sides).position;
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
        self.steps_since_listed = 0;
    }

    /// Sorts the particles into cells, and builds neighbor lists, at their stored positions of the last rebuild.
    pub fn rebuild_lists(&mut self, surroundings: &Surroundings) {
        self.remove_particles_of_left_bodies(surroundings);
        self.cells.sort(&surroundings.context.device, &mut self.fields, |_| true);
        self.find_walls();
        let n = self.fields.len();
        let (device, index, places) = (&surroundings.context.device, self.cells.index(), &self.fields.reference[..]);
        if self.walls.is_empty() && self.suspension.is_empty() && self.fields.ghost.is_empty() {
            if self.lists_once() {
                self.pairs.fill_rows::<true>(device, &index, places, n);
            } else {
                self.pairs.fill_rows::<false>(device, &index, places, n);
            }
        } else {
            // Wall particles do not interact with each other: they count as one body, and those without fluid neighbors need no row. The owners of
            // ghosts compute the forces on them.
            let member: Vec<u32> = self
                .fields
                .kind
                .iter()
                .map(|kind| if kind & WALL != 0 { 0 } else { FREE })
                .collect();
            let sees_fluid = self.walls_before_fluid();
            let copy = &self.fields.ghost[..];
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
            // They take no part in pair interactions.
            let kind = &self.fields.kind[..];
            let is_grain = |i: usize| is_suspended(kind[i]);
            self.pairs.drop_partners(|j| is_grain(j as usize));
            self.suspension.around.fill_rows_of::<false>(device, &index, places, n, is_grain);
            let is_fluid = |j: u32| kind[j as usize] & WALL == 0;
            self.suspension.near.transpose_rows(&self.suspension.around, is_fluid);
            if self.decomposition_invariant {
                self.suspension.around.sort_rows(device, &self.fields.id);
                self.suspension.near.sort_rows(device, &self.fields.id);
            }
        }
        if self.decomposition_invariant {
            self.pairs.sort_rows(device, &self.fields.id);
        }
        if self.is_incompressible() {
            self.projector.make_room(n);
        }
        self.moves.resize(parts(n), AT_REST);
        self.contact_power_sums.resize(parts(n), FluidPowerSums::default());
        self.import_densities();
        self.place_container(surroundings);
    }

    /// Whether a pair inside a part is in one row only.
    pub fn lists_once(&self) -> bool {
        self.compiled_for.solver == Solver::WeaklyCompressible && !self.decomposition_invariant && !self.compiled_for.has_drift()
    }

    /// Forces, and rates of change of densities.
    pub fn exchange(&mut self, surroundings: &Surroundings) {
        let n = self.fields.len();
        let (sweep, is_once) = (sweep_for(self.compiled_for), self.lists_once());
        let smoother = self.smoother();
        let FluidFields {
            kind,
            position,
            velocity_pressure: flow,
            particle_velocity: motion,
            force_density_rate: rate,
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
            is_periodic: self.compiled_for.sides != OPEN,
        };
        let (row, neighbors) = (&self.pairs.row[..], &self.pairs.neighbors[..]);
        let data = (numbers(rate, RECORD), one_each(&mut self.contact_power_sums));
        surroundings
            .context
            .device
            .run(parts(n), data, |part, (rate, power_sums): (Numbers, Strided<FluidPowerSums>)| {
                let (first, end) = part_range(part, n);
                let rows = FlowRows {
                    first,
                    end,
                    row,
                    neighbors,
                    is_once,
                };
                power_sums.items[0] = sweep(&view, &rows, rate.items);
            });
        self.account_for_drift(surroundings);
    }

    /// Current powers \[W\].
    pub fn powers(&self) -> FluidPowerSums {
        self.contact_power_sums
            .iter()
            .fold(self.suspension.power_sums, |all, one| all.plus(one))
    }

    /// Adds the work of this step to the ledger: the mean of the powers at its two ends.
    pub fn add_contact_work(&mut self) {
        let mut now = self.powers();
        // The energy that bodies gain is no work of walls.
        now.wall += self.body_boundaries.power;
        let before = std::mem::replace(&mut self.last, now);
        self.work = self.work.plus(&before.plus(&now).times(0.5 * self.stepping.dt));
    }
}
