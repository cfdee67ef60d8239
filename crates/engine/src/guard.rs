//! Flags of a step become one error that names grain, place, partner, step and likely cause.

use crate::simulation::Simulation;
use crate::world::Leaving;
use seixo_sweeps::motion::{LEFT, NOT_FINITE, TOO_FAST};
use seixo_sweeps::sides::nearest_image;
use seixo_sweeps::views::{RECORD, TOUCH, load};

/// What happened to a grain.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// Its position is not a finite number.
    NotFinite,
    /// It moved more than a cell in one step.
    TooFast {
        /// Distance moved \[m\].
        moved: f64,
        /// Largest allowed \[m\].
        limit: f64,
    },
    /// It overlaps a partner too deeply.
    TooDeep {
        /// The partner: a grain's id or a wall's name.
        partner: String,
        /// Overlap as a share of the smaller radius.
        share: f64,
        /// Largest allowed share.
        limit: f64,
    },
    /// It left the domain, and the scene calls that an error.
    LeftDomain,
    /// Heat flows through it faster than the time step can follow.
    TooConductive {
        /// Σ H Δt / (m c), at most 1.
        share: f64,
        /// The time step at which it would be 1 \[s\].
        time_step: f64,
    },
    /// It is a particle of a fluid, and not a grain.
    InFluid(Box<InFluid>),
    /// Its density is far from that at rest.
    TooCompressed {
        /// (ρ − ρ₀)/ρ₀ \[-\].
        excess: f64,
    },
    /// No grain is to blame: the GPU failed, or no id is left.
    Device {
        /// What was reported, with the remedy.
        what: String,
    },
}

/// What happened to a particle of a fluid.
#[derive(Clone, Debug, PartialEq)]
pub struct InFluid {
    /// Name of the fluid.
    pub fluid: String,
    /// What happened.
    pub cause: Cause,
}

/// The run stopped: one grain's state became impossible.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// The grain's or the particle's id; the lowest, where several are affected.
    pub grain: u32,
    /// How many grains or particles are affected.
    pub affected: usize,
    /// Its center \[m\].
    pub position: [f64; 3],
    /// Its velocity \[m/s\].
    pub velocity: [f64; 3],
    /// What happened.
    pub cause: Cause,
    /// Steps completed before.
    pub step: u64,
    /// Time at which it was seen \[s\].
    pub time: f64,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Cause::Device { what } = &self.cause {
            return write!(f, "step {} (t = {:.6e} s): {what}", self.step, self.time);
        }
        let [x, y, z] = self.position;
        let speed = self.velocity.iter().map(|c| c * c).sum::<f64>().sqrt();
        write!(f, "step {} (t = {:.6e} s): ", self.step, self.time)?;
        let (fluid, cause) = match &self.cause {
            Cause::InFluid(inner) => (Some(&inner.fluid), &inner.cause),
            cause => (None, cause),
        };
        match fluid {
            Some(fluid) => write!(f, "particle {} of {fluid:?}", self.grain)?,
            None => write!(f, "grain {}", self.grain)?,
        }
        write!(f, " at ({x:.4e}, {y:.4e}, {z:.4e}) m, speed {speed:.3e} m/s, ")?;
        match cause {
            Cause::NotFinite => write!(
                f,
                "has a position that is not a number. Likely cause: a time step too large, or grains on top of each other"
            )?,
            Cause::TooFast { moved, limit } => write!(
                f,
                "moved {moved:.3e} m in one step, more than a cell ({limit:.3e} m). Likely cause: a time step too large, or a start velocity too high"
            )?,
            Cause::TooDeep { partner, share, limit } => write!(
                f,
                "overlaps {partner} by {:.1} % of the smaller radius; the limit is {:.1} % (run.overlap_limit). Likely cause: too soft a material, too high a speed, or a time step too large",
                100.0 * share,
                100.0 * limit
            )?,
            Cause::Device { .. } | Cause::InFluid(_) => {}
            Cause::TooConductive { share, time_step } => write!(
                f,
                "takes up heat faster than the time step can follow: Σ H Δt / (m c) is {share:.3}, the limit is 1. Use run.time_step below {time_step:.3e} s, a smaller thermal_conductivity or a larger specific_heat_capacity"
            )?,
            Cause::TooCompressed { excess } => write!(
                f,
                "has a density that is {:.1} % off; a fluid that flows keeps it within some percent. Likely cause: a sound_speed below ten times the fastest flow, particles that start inside each other, or a time step too large",
                100.0 * excess
            )?,
            Cause::LeftDomain if fluid.is_some() => write!(
                f,
                "left the domain. Likely cause: a gap between walls; or enlarge world.domain, or set world.leaving = \"delete\""
            )?,
            Cause::LeftDomain => write!(f, "left the domain. Enlarge world.domain, or set world.leaving = \"delete\"")?,
        }
        if self.affected > 1 {
            let what = if fluid.is_some() { "particles" } else { "grains" };
            write!(f, " ({} {what} are affected)", self.affected)?;
        }
        Ok(())
    }
}

impl std::error::Error for Stop {}

impl Simulation {
    /// Turns the flags of the moving pass into an error.
    pub(crate) fn guard_motion(&mut self) -> Result<(), Stop> {
        let flags = self.moves.iter().fold(0, |all, moved| all | moved.flags);
        let fatal = if self.leaving() == Leaving::Error {
            NOT_FINITE | TOO_FAST | LEFT
        } else {
            NOT_FINITE | TOO_FAST
        };
        if flags & fatal == 0 {
            return Ok(());
        }
        let dt = self.stepping.dt;
        let limit = self.stepping.stride_square.sqrt();
        let stride = |i: usize| {
            self.fields.half_velocity[3 * i..3 * i + 3]
                .iter()
                .map(|v| (v * dt).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        let outside = |i: usize| self.domain.is_some_and(|domain| self.has_gone(i, &domain));
        let is_bad: Box<dyn Fn(usize) -> bool + '_> = if flags & NOT_FINITE != 0 {
            Box::new(|i| !self.fields.position[RECORD * i..][..3].iter().all(|x| x.abs() < 1e18))
        } else if flags & TOO_FAST != 0 {
            Box::new(|i| stride(i) > limit)
        } else {
            Box::new(outside)
        };
        let bad: Vec<usize> = (0..self.fields.len()).filter(|&i| !self.is_copy(i) && is_bad(i)).collect();
        // All domains know that a body left; those that have its grains name one.
        if self.has_ghosts && bad.is_empty() && flags & (NOT_FINITE | TOO_FAST) == 0 {
            return Ok(());
        }
        let worst = bad.iter().copied().min_by_key(|&i| self.fields.id[i]).unwrap_or(0);
        let cause = if flags & NOT_FINITE != 0 {
            Cause::NotFinite
        } else if flags & TOO_FAST != 0 {
            Cause::TooFast {
                moved: stride(worst),
                limit,
            }
        } else {
            Cause::LeftDomain
        };
        Err(self.stop(worst, bad.len(), cause))
    }

    /// Turns an overlap that is too deep into an error.
    pub(crate) fn guard_contacts(&mut self) -> Result<(), Stop> {
        if !self.is_too_deep() {
            return Ok(());
        }
        Err(self.too_deep())
    }

    /// The error that names the deepest overlap.
    pub(crate) fn too_deep(&self) -> Stop {
        let limit = self.settings.overlap_limit;
        let (share, i, partner) = self.deepest_touch();
        self.stop(i, 1, Cause::TooDeep { partner, share, limit })
    }

    /// Whether an overlap is above the limit.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.tallies.iter().chain(&self.wall_tallies).any(|tally| tally.excess > 0.0)
    }

    /// The deepest overlap now as a share of the smaller radius, whose it is, and with what.
    pub(crate) fn deepest_touch(&self) -> (f64, usize, String) {
        let position = &self.fields.position;
        let mut deepest = (0.0, 0, String::new());
        let mut row = Vec::new();
        for i in 0..self.fields.len() {
            self.cells.neighbors(i, position, self.cells.skin, &mut row);
            for &j in row.iter().filter(|&&j| !self.never_touch(i, j as usize)) {
                let (a, b) = (&position[i * RECORD..][..RECORD], &position[j as usize * RECORD..][..RECORD]);
                let apart = load::<f64>(a, 0).minus(&load(b, 0));
                let distance = nearest_image(&apart, &self.stepping.sides, self.sides).apart.length();
                let share = (a[3] + b[3] - distance) / a[3].min(b[3]);
                if share > deepest.0 {
                    deepest = (share, i, format!("grain {}", self.fields.id[j as usize]));
                }
            }
            for k in self.walls.row[i] as usize..self.walls.row[i + 1] as usize {
                let touch = &self.walls.touches[k * TOUCH..][..TOUCH];
                let radius = position[i * RECORD + 3];
                let share = (radius - touch[3]) / radius;
                if touch[7] > 0.0 && share > deepest.0 {
                    let wall = self.walls.wall_of(self.walls.list[k]);
                    deepest = (share, i, format!("wall {}", self.walls.given[wall].name));
                }
            }
        }
        deepest
    }

    pub(crate) fn stop(&self, i: usize, affected: usize, cause: Cause) -> Stop {
        let record = |field: &[f64]| [field[RECORD * i], field[RECORD * i + 1], field[RECORD * i + 2]];
        Stop {
            grain: self.fields.id[i],
            affected,
            position: record(&self.fields.position),
            velocity: record(&self.fields.velocity),
            cause,
            step: self.steps,
            time: self.time(),
        }
    }
}
