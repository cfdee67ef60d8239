//! Flags of a step of fluids become one error that names particle, place, step and likely cause; and what is refused of a wall that appears.

use super::Flow;
use crate::contact_records::array;
use crate::guard::{Cause, InFluid, Stop};
use crate::refusal::Refusal;
use crate::simulation::Simulation;
use crate::world::Leaving;
use seixo_laws::Vector3;
use seixo_sweeps::fluid::{MOST_EXCESS, WALL, is_passing};
use seixo_sweeps::motion::{LEFT, NOT_FINITE, TOO_COMPRESSED, TOO_FAST};
use seixo_sweeps::muller::{HOLD, beside_hold};
use seixo_sweeps::views::{FRUSTUM, RECORD, load};

/// How near a particle of fluid may be to one of a wall that appears \[spacings\]. The first layer of a wall stands half a spacing behind its surface,
/// so what is nearer is at the surface or behind it.
const NEAREST_TO_NEW_WALL: f64 = 0.6;

/// How deep a particle may be behind a wall that appears and holds Müller's fluid \[spacings\]. Fluid that lies on a wall is behind it by rounding, or where
/// two walls meet aslant; every wall puts back what is no deeper than this.
const DEEPEST_IN_NEW_WALL: f64 = 0.1;

/// How deep a place is in a wall that holds Müller's fluid by this container \[m\]; `None` if it is not.
///
/// A body is where a place is behind all of its elements. Around a vessel, which `is_around` the fluid, that is where it is behind one of them; beyond the
/// `reach` of what has ends is fluid that was never inside.
fn depth_in(place: &Vector3<f64>, container: &[f64], is_around: bool, reach: f64) -> Option<f64> {
    let mut depths = container.chunks_exact(HOLD).enumerate().map(|(k, hold)| {
        let beside = beside_hold::<f64>(place, container, k * HOLD);
        let depth = -beside.distance;
        let is_elsewhere = is_around && hold[9] == f64::from(FRUSTUM) && depth > reach;
        (depth > 0.0 && beside.within >= 0.0 && !is_elsewhere).then_some(depth)
    });
    if is_around {
        depths.flatten().reduce(f64::max)
    } else {
        depths.try_fold(f64::INFINITY, |least, depth| Some(least.min(depth?)))
    }
}

/// Of particles that are by so much beyond a limit, the one to be named, and how many are: the lowest id of all that are or, where rounding lets
/// none be, the one that is nearest to it. A number that is none is far beyond.
fn named(of_fluid: impl Iterator<Item = usize>, id: &[u32], beyond: impl Fn(usize) -> f64) -> Option<(usize, usize)> {
    let by = |i: usize| Some(beyond(i)).filter(|by| !by.is_nan()).unwrap_or(f64::INFINITY);
    let all: Vec<(usize, f64)> = of_fluid.map(|i| (i, by(i))).collect();
    let affected = all.iter().filter(|(_, by)| *by > 0.0);
    let lowest = affected.clone().min_by_key(|(i, _)| id[*i]);
    let nearest = || all.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    lowest.or_else(nearest).map(|(i, _)| (*i, affected.count().max(1)))
}

impl Flow {
    /// The error that flags mean, if they mean one: whichever is raised leads to one, with a particle and its place.
    pub fn stopped_by(&self, flags: u32, simulation: &Simulation) -> Option<Stop> {
        let leaves = simulation.leaving() == Leaving::Error && flags & LEFT != 0;
        if flags & (NOT_FINITE | TOO_FAST | TOO_COMPRESSED) == 0 && !leaves {
            return None;
        }
        let fields = &self.fields;
        let limit = self.stepping.stride_square.sqrt();
        let by_velocity = |i: usize| load::<f64>(&fields.half_velocity, 3 * i).length() * self.stepping.dt;
        let since_listed = |i: usize| self.place(i).minus(&load(&fields.reference, i * RECORD)).length();
        // What walls moved counts as well, see [`seixo_sweeps::muller::settled`].
        let stride = |i: usize| by_velocity(i).max(if self.muller.is_some() { since_listed(i) } else { 0.0 });
        let [low, high] = [&self.stepping.domain_min, &self.stepping.domain_max].map(array);
        let outside = |x: [f64; 3]| [0, 1, 2].map(|axis| (low[axis] - x[axis]).max(x[axis] - high[axis]));
        let beyond = |i: usize| {
            if flags & NOT_FINITE != 0 {
                self.place(i).dot(&self.place(i)) - 1e36
            } else if flags & TOO_FAST != 0 {
                stride(i) - limit
            } else if leaves {
                outside(array(&self.place(i))).into_iter().fold(f64::NEG_INFINITY, f64::max)
            } else {
                fields.excess[i].abs() - f64::from(MOST_EXCESS)
            }
        };
        let own = self.of_fluid().filter(|&i| !self.is_copy(i));
        let (worst, affected) = named(own, &fields.id, beyond)?;
        let cause = if flags & NOT_FINITE != 0 {
            Cause::NotFinite
        } else if flags & TOO_FAST != 0 {
            Cause::TooFast {
                moved: stride(worst),
                limit,
            }
        } else if leaves {
            Cause::LeftDomain
        } else {
            Cause::TooCompressed {
                excess: fields.excess[worst],
            }
        };
        Some(Stop {
            grain: fields.id[worst],
            affected,
            position: array(&self.place(worst)),
            velocity: array(&load(&fields.flow, worst * RECORD)),
            cause: Cause::InFluid(Box::new(InFluid {
                fluid: self.plan.kinds[fields.kind[worst] as usize].name.clone(),
                cause,
            })),
            step: simulation.steps,
            time: simulation.time(),
        })
    }

    /// Why walls that are new cannot be where they are, as there is a fluid.
    pub fn fluid_in_walls(&self, is_new: impl Fn(usize) -> bool, simulation: &Simulation) -> Option<Refusal> {
        let fields = &self.fields;
        let rows = if self.lists_once() { &self.before_walls } else { &self.pairs };
        let wall_of = |i: usize| (fields.kind[i] & !WALL) as usize;
        let limit = NEAREST_TO_NEW_WALL * self.plan.spacing;
        let mut nearest: Option<(f64, usize, usize)> = None;
        let of_wall = |kind: u32| !is_passing(kind) && self.hulls.of_kind(kind).is_none();
        let of_new = |i: &usize| of_wall(fields.kind[*i]) && is_new(wall_of(*i));
        for i in self.walls.iter().map(|&i| i as usize).filter(of_new) {
            for &j in rows.of(i) {
                let j = j as usize;
                let distance = self.apart(&self.place(i), j).length();
                if distance < nearest.map_or(limit, |(least, ..)| least) {
                    nearest = Some((distance, i, j));
                }
            }
        }
        nearest.map(|(distance, i, j)| Refusal::WallInFluid {
            wall: simulation.walls.given[wall_of(i)].name.clone(),
            time: simulation.time(),
            fluid: self.plan.kinds[fields.kind[j] as usize].name.clone(),
            id: fields.id[j],
            at: array(&self.place(j)),
            distance,
            limit,
        })
    }

    /// As [`Flow::fluid_in_walls`], of walls that hold fluid without particles.
    pub fn fluid_behind_walls(&self, is_new: impl Fn(usize) -> bool, simulation: &Simulation) -> Option<Refusal> {
        let (muller, walls) = (self.muller.as_ref()?, &simulation.walls);
        let limit = DEEPEST_IN_NEW_WALL * self.plan.spacing;
        let mut deepest: Option<(f64, usize, usize)> = None;
        for wall in (0..walls.given.len()).filter(|&wall| is_new(wall)) {
            let holds = muller.container.chunks_exact(HOLD).filter(|hold| hold[11] == wall as f64);
            let container: Vec<f64> = holds.flatten().copied().collect();
            if container.is_empty() {
                continue;
            }
            for i in self.of_fluid() {
                let depth = depth_in(&self.place(i), &container, self.plan.inside[wall], self.plan.support);
                if let Some(depth) = depth.filter(|depth| *depth > deepest.map_or(limit, |(most, ..)| most)) {
                    deepest = Some((depth, wall, i));
                }
            }
        }
        deepest.map(|(depth, wall, i)| Refusal::FluidBehindWall {
            wall: walls.given[wall].name.clone(),
            time: simulation.time(),
            fluid: self.plan.kinds[self.fields.kind[i] as usize].name.clone(),
            id: self.fields.id[i],
            at: array(&self.place(i)),
            depth,
            limit,
        })
    }
}

impl Simulation {
    /// Turns the flags of the moving pass of fluids into an error.
    pub(crate) fn guard_fluids(&mut self) -> Result<(), Stop> {
        self.with_flow(|flow, simulation| flow.stopped_by(flow.flags(), simulation))
            .map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_flag_names_a_particle_even_where_rounding_shows_none_beyond_the_limit() {
        let named = |beyond: [f64; 3]| named(0..3, &[7, 9, 5], |i| beyond[i]);
        assert_eq!(named([0.1, -0.5, 2.0]), Some((2, 2)), "the lowest id of two");
        assert_eq!(named([-0.2, -1e-12, -3.0]), Some((1, 1)), "the nearest to the limit");
        assert_eq!(named([-0.2, f64::NAN, -3.0]), Some((1, 1)), "what is no number");
    }
}
