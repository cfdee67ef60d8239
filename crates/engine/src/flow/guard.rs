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
use seixo_sweeps::sides::nearest_image;
use seixo_sweeps::views::{RECORD, load};

/// How near a particle of fluid may be to one of a wall that appears \[spacings\]. The first layer of a wall stands half a spacing behind its surface,
/// so what is nearer is at the surface or behind it.
const NEAREST_TO_NEW_WALL: f64 = 0.6;

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
        let place = |i: usize| -> Vector3<f64> { load(&fields.position, i * RECORD) };
        let limit = self.stepping.stride_square.sqrt();
        let stride = |i: usize| load::<f64>(&fields.half_velocity, 3 * i).length() * self.stepping.dt;
        let [low, high] = [&self.stepping.domain_min, &self.stepping.domain_max].map(array);
        let outside = |x: [f64; 3]| [0, 1, 2].map(|axis| (low[axis] - x[axis]).max(x[axis] - high[axis]));
        let beyond = |i: usize| {
            if flags & NOT_FINITE != 0 {
                place(i).dot(&place(i)) - 1e36
            } else if flags & TOO_FAST != 0 {
                stride(i) - limit
            } else if leaves {
                outside(array(&place(i))).into_iter().fold(f64::NEG_INFINITY, f64::max)
            } else {
                fields.excess[i].abs() - f64::from(MOST_EXCESS)
            }
        };
        let (worst, affected) = named(self.of_fluid(), &fields.id, beyond)?;
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
            position: array(&place(worst)),
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
        let rows = if self.is_incompressible() {
            &self.pairs
        } else {
            &self.before_walls
        };
        let place = |i: usize| -> Vector3<f64> { load(&fields.position, i * RECORD) };
        let wall_of = |i: usize| (fields.kind[i] & !WALL) as usize;
        let limit = NEAREST_TO_NEW_WALL * self.plan.spacing;
        let mut nearest: Option<(f64, usize, usize)> = None;
        let of_new = |i: &usize| !is_passing(fields.kind[*i]) && is_new(wall_of(*i));
        for i in self.walls.iter().map(|&i| i as usize).filter(of_new) {
            for &j in &rows.neighbors[rows.row[i] as usize..rows.row[i + 1] as usize] {
                let j = j as usize;
                let apart = place(i).minus(&place(j));
                let distance = nearest_image(&apart, &self.stepping.sides, self.compiled_for.sides).apart.length();
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
            at: array(&place(j)),
            distance,
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
