//! Turns the flags of a fluid step into one error with particle, position, step and likely cause; rejects walls that appear in a fluid.

use super::Flow;
use crate::guard::{FluidErrorCause, StepError, StepErrorCause};
use crate::refusal::WorldError;
use crate::surroundings::Surroundings;
use crate::world::{LeavingPolicy, array};
use seixo_laws::Vector3;
use seixo_sweeps::fluid::{MAX_DENSITY_ERROR, WALL, is_passing};
use seixo_sweeps::layout::{DISTANCE_GRID, FRUSTUM, RECORD, load};
use seixo_sweeps::motion::{LEFT_DOMAIN, NOT_FINITE, TOO_COMPRESSED, TOO_FAST};
use seixo_sweeps::muller::{CONTAINER_ELEMENT, container_surface_point};

/// Smallest distance of a fluid particle from a particle of a wall that appears \[spacings\]. The first layer of a wall is half a spacing behind its
/// surface, so nearer fluid is at the surface or behind it.
const NEAREST_TO_NEW_WALL: f64 = 0.6;

/// Largest depth of a particle behind a wall that appears and contains Müller's fluid \[spacings\]. Fluid that rests on a wall is behind it by
/// rounding, or where two walls form an oblique angle. Every wall pushes fluid back from up to this depth.
const DEEPEST_IN_NEW_WALL: f64 = 0.1;

/// Depth of a position in a wall that contains Müller's fluid by these elements \[m\]; `None` if it is outside of the wall.
///
/// A position is inside a body if it is behind all elements of it. For a vessel, which `is_around` the fluid, one element suffices. Fluid beyond the
/// `reach` of a finite vessel was never inside. The elements of a mesh are its parts, with signed distances in `samples`: one suffices, too.
fn depth_in(place: &Vector3<f64>, container: &[f64], samples: &[f64], is_around: bool, reach: f64) -> Option<f64> {
    let mut depths = container.chunks_exact(CONTAINER_ELEMENT).enumerate().map(|(k, hold)| {
        let beside = container_surface_point::<f64, f64>(place, container, k * CONTAINER_ELEMENT, samples, !samples.is_empty());
        let depth = -beside.distance;
        let is_elsewhere = is_around && hold[9] == f64::from(FRUSTUM) && depth > reach;
        (depth > 0.0 && beside.within >= 0.0 && !is_elsewhere).then_some(depth)
    });
    if is_around || container[9] == f64::from(DISTANCE_GRID) {
        depths.flatten().reduce(f64::max)
    } else {
        depths.try_fold(f64::INFINITY, |least, depth| Some(least.min(depth?)))
    }
}

/// For particles that exceed a limit by these amounts, the particle that the error names, and the number of particles: the lowest id of all that
/// exceed it. If rounding hides the excess, it is the particle nearest to the limit. NaN is far beyond.
fn named(of_fluid: impl Iterator<Item = usize>, id: &[u32], beyond: impl Fn(usize) -> f64) -> Option<(usize, usize)> {
    let by = |i: usize| Some(beyond(i)).filter(|by| !by.is_nan()).unwrap_or(f64::INFINITY);
    let all: Vec<(usize, f64)> = of_fluid.map(|i| (i, by(i))).collect();
    let affected = all.iter().filter(|(_, by)| *by > 0.0);
    let lowest = affected.clone().min_by_key(|(i, _)| id[*i]);
    let nearest = || all.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    lowest.or_else(nearest).map(|(i, _)| (*i, affected.count().max(1)))
}

impl Flow {
    /// The error that flags mean, if they mean one: any of these flags yields an error, with a particle and its position.
    pub fn stopped_by(&self, flags: u32, surroundings: &Surroundings) -> Option<StepError> {
        let leaves = surroundings.context.leaving() == LeavingPolicy::Error && flags & LEFT_DOMAIN != 0;
        if flags & (NOT_FINITE | TOO_FAST | TOO_COMPRESSED) == 0 && !leaves {
            return None;
        }
        let fields = &self.fields;
        let limit = self.stepping.stride_square.sqrt();
        let by_velocity = |i: usize| load::<f64>(&fields.half_velocity, 3 * i).length() * self.stepping.dt;
        let since_listed = |i: usize| self.place(i).minus(&load(&fields.reference, i * RECORD)).length();
        // Displacements by walls count as well, see [`seixo_sweeps::muller::contain`].
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
                fields.density_error[i].abs() - f64::from(MAX_DENSITY_ERROR)
            }
        };
        let own = self.of_fluid().filter(|&i| !self.is_ghost(i));
        let (worst, affected) = named(own, &fields.id, beyond)?;
        let cause = if flags & NOT_FINITE != 0 {
            StepErrorCause::NotFinite
        } else if flags & TOO_FAST != 0 {
            StepErrorCause::TooFast {
                moved: stride(worst),
                limit,
            }
        } else if leaves {
            StepErrorCause::LeftDomain
        } else {
            StepErrorCause::TooCompressed {
                excess: fields.density_error[worst],
            }
        };
        Some(StepError {
            grain: fields.id[worst],
            affected,
            position: array(&self.place(worst)),
            velocity: array(&load(&fields.velocity_pressure, worst * RECORD)),
            cause: StepErrorCause::FluidErrorCause(Box::new(FluidErrorCause {
                fluid: self.plan.kinds[fields.kind[worst] as usize].name.clone(),
                cause,
            })),
            step: surroundings.context.steps,
            time: surroundings.context.time(),
        })
    }

    /// Why new walls cannot be where they are, if there is fluid.
    pub fn fluid_in_walls(&self, is_new: impl Fn(usize) -> bool, surroundings: &Surroundings) -> Option<WorldError> {
        let fields = &self.fields;
        let rows = if self.lists_once() { &self.before_walls } else { &self.pairs };
        let wall_of = |i: usize| (fields.kind[i] & !WALL) as usize;
        let limit = NEAREST_TO_NEW_WALL * self.plan.spacing;
        let mut nearest: Option<(f64, usize, usize)> = None;
        let of_wall = |kind: u32| !is_passing(kind) && self.body_boundaries.of_kind(kind).is_none();
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
        nearest.map(|(distance, i, j)| WorldError::WallInFluid {
            wall: surroundings.walls.given[wall_of(i)].name.clone(),
            time: surroundings.context.time(),
            fluid: self.plan.kinds[fields.kind[j] as usize].name.clone(),
            id: fields.id[j],
            at: array(&self.place(j)),
            distance,
            limit,
        })
    }

    /// As [`Flow::fluid_in_walls`], for walls that contain fluid without wall particles.
    pub fn fluid_behind_walls(&self, is_new: impl Fn(usize) -> bool, surroundings: &Surroundings) -> Option<WorldError> {
        let (muller, walls) = (self.muller.as_ref()?, surroundings.walls);
        let limit = DEEPEST_IN_NEW_WALL * self.plan.spacing;
        let mut deepest: Option<(f64, usize, usize)> = None;
        for wall in (0..walls.given.len()).filter(|&wall| is_new(wall)) {
            let holds = muller
                .container
                .chunks_exact(CONTAINER_ELEMENT)
                .filter(|hold| hold[11] == wall as f64);
            let container: Vec<f64> = holds.flatten().copied().collect();
            if container.is_empty() {
                continue;
            }
            for i in self.of_fluid() {
                let depth = depth_in(
                    &self.place(i),
                    &container,
                    &muller.samples,
                    self.plan.inside[wall],
                    self.plan.support,
                );
                if let Some(depth) = depth.filter(|depth| *depth > deepest.map_or(limit, |(most, ..)| most)) {
                    deepest = Some((depth, wall, i));
                }
            }
        }
        deepest.map(|(depth, wall, i)| WorldError::FluidBehindWall {
            wall: walls.given[wall].name.clone(),
            time: surroundings.context.time(),
            fluid: self.plan.kinds[self.fields.kind[i] as usize].name.clone(),
            id: self.fields.id[i],
            at: array(&self.place(i)),
            depth,
            limit,
        })
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
