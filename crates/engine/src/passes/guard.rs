//! Conversion of the flags of a step to an error with grain, position, partner, step and likely cause.

use crate::guard::{StepError, StepErrorCause};
use crate::populations::Populations;
use crate::world::LeavingPolicy;
use seixo_sweeps::layout::{RECORD, WALL_CONTACT, load};
use seixo_sweeps::motion::{LEFT_DOMAIN, NOT_FINITE, TOO_FAST};
use seixo_sweeps::periodic::nearest_image;

impl Populations {
    /// Error of a failed device.
    pub(crate) fn failed(&self, what: String) -> StepError {
        StepError::of_device(what, self.context.steps, self.context.time())
    }

    /// Whether the host removes what left the world: there are bodies, which go as a whole, or polyhedral grains.
    pub(crate) fn loses_on_host(&self) -> bool {
        self.bodies.are_present || self.has_polyhedra()
    }

    /// Converts the flags of the motion to an error.
    pub(crate) fn guard_motion(&mut self) -> Result<(), StepError> {
        let flags = self.grains.motion_reports.iter().fold(0, |all, moved| all | moved.flags);
        let fatal = if self.leaving() == LeavingPolicy::Error {
            NOT_FINITE | TOO_FAST | LEFT_DOMAIN
        } else {
            NOT_FINITE | TOO_FAST
        };
        if flags & fatal == 0 {
            return Ok(());
        }
        let dt = self.context.stepping.dt;
        let limit = self.context.stepping.stride_square.sqrt();
        let stride = |i: usize| {
            self.grains.fields.half_velocity[3 * i..3 * i + 3]
                .iter()
                .map(|v| (v * dt).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        let outside = |i: usize| self.context.domain.is_some_and(|domain| self.is_outside(i, &domain));
        let is_bad: Box<dyn Fn(usize) -> bool + '_> = if flags & NOT_FINITE != 0 {
            Box::new(|i| !self.grains.fields.position[RECORD * i..][..3].iter().all(|x| x.abs() < 1e18))
        } else if flags & TOO_FAST != 0 {
            Box::new(|i| stride(i) > limit)
        } else {
            Box::new(outside)
        };
        let bad: Vec<usize> = (0..self.grains.fields.len()).filter(|&i| !self.is_ghost(i) && is_bad(i)).collect();
        // All subdomains know that a body left; those that own its grains report one.
        if self.grains.has_ghosts && bad.is_empty() && flags & (NOT_FINITE | TOO_FAST) == 0 {
            return Ok(());
        }
        let worst = bad.iter().copied().min_by_key(|&i| self.grains.fields.id[i]).unwrap_or(0);
        let cause = if flags & NOT_FINITE != 0 {
            StepErrorCause::NotFinite
        } else if flags & TOO_FAST != 0 {
            StepErrorCause::TooFast {
                moved: stride(worst),
                limit,
            }
        } else {
            StepErrorCause::LeftDomain
        };
        Err(self.stop(worst, bad.len(), cause))
    }

    /// Returns an error if an overlap is too deep, or if the last neighbor lists were too long.
    pub(crate) fn guard_contacts(&mut self) -> Result<(), StepError> {
        if let Some(entries) = self.grains.pairs.too_many {
            return Err(self.failed(format!(
                "the neighbor lists would have {entries} entries, and indices of 32 bits number 4294967295; use fewer grains or a narrower skin"
            )));
        }
        self.guard_polyhedra()?;
        if !self.is_too_deep() {
            return Ok(());
        }
        Err(self.too_deep())
    }

    /// Error that names the deepest overlap.
    pub(crate) fn too_deep(&self) -> StepError {
        let limit = self.context.settings.overlap_limit;
        let (share, i, partner) = self.deepest_overlap_now();
        let cause = StepErrorCause::TooDeep {
            partner: partner.into_boxed_str(),
            share,
            limit,
            of_rounding: self.is_polyhedral(i),
        };
        self.stop(i, 1, cause)
    }

    /// Whether an overlap exceeds the limit.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.grains
            .contact_power_sums
            .iter()
            .chain(&self.grains.wall_power_sums)
            .chain(self.powers_of_polyhedra())
            .any(|power_sums| power_sums.excess > 0.0)
    }

    /// The deepest current overlap as a share of the smaller radius, the index of its grain, and the partner.
    pub(crate) fn deepest_overlap_now(&self) -> (f64, usize, String) {
        let position = &self.grains.fields.position;
        let mut deepest = (0.0, 0, String::new());
        if let Some((share, i, other)) = self.deepest_of_polyhedra() {
            deepest = (share, i, format!("grain {other}"));
        }
        let mut row = Vec::new();
        for i in 0..self.grains.fields.len() {
            self.grains.cells.neighbors(i, position, self.grains.cells.skin, &mut row);
            for &j in row
                .iter()
                .filter(|&&j| !self.excluded_from_contact(i, j as usize) && !self.is_polyhedral(i) && !self.is_polyhedral(j as usize))
            {
                let (a, b) = (&position[i * RECORD..][..RECORD], &position[j as usize * RECORD..][..RECORD]);
                let apart = load::<f64>(a, 0).minus(&load(b, 0));
                let distance = nearest_image(&apart, &self.context.stepping.sides, self.context.sides)
                    .apart
                    .length();
                let share = (a[3] + b[3] - distance) / a[3].min(b[3]);
                if share > deepest.0 {
                    deepest = (share, i, format!("grain {}", self.grains.fields.id[j as usize]));
                }
            }
            for k in self.walls.row[i] as usize..self.walls.row[i + 1] as usize {
                let touch = &self.walls.wall_contacts[k * WALL_CONTACT..][..WALL_CONTACT];
                let radius = position[i * RECORD + 3];
                let share = (radius - touch[3]) / self.contact_radius_of(i);
                if touch[7] > 0.0 && share > deepest.0 {
                    let wall = self.walls.wall_of(self.walls.list[k]);
                    deepest = (share, i, format!("wall {}", self.walls.given[wall].name));
                }
            }
        }
        deepest
    }

    pub(crate) fn stop(&self, i: usize, affected: usize, cause: StepErrorCause) -> StepError {
        let record = |field: &[f64]| [field[RECORD * i], field[RECORD * i + 1], field[RECORD * i + 2]];
        StepError {
            grain: self.grains.fields.id[i],
            affected,
            position: record(&self.grains.fields.position),
            velocity: record(&self.grains.fields.velocity),
            cause,
            step: self.context.steps,
            time: self.context.time(),
        }
    }
}
