//! Errors of a step: grain, position, partner, step and likely cause.

use crate::scalars::GrainScalar;

/// Cause of a step error.
#[derive(Clone, Debug, PartialEq)]
pub enum StepErrorCause {
    /// Its position is not a finite number.
    NotFinite,
    /// It moved more than a cell in one step.
    TooFast {
        /// Distance moved \[m\].
        moved: f64,
        /// Largest allowed distance \[m\].
        limit: f64,
    },
    /// Its overlap with a partner is too deep.
    TooDeep {
        /// The partner: id of a grain or name of a wall. It takes less room than a `String`, so that results with an error stay short.
        partner: Box<str>,
        /// Overlap as a share of the smaller radius.
        share: f64,
        /// Largest allowed share.
        limit: f64,
        /// Whether this radius is the rounding radius of a polyhedron.
        of_rounding: bool,
    },
    /// It left the domain, which is an error in this scene.
    LeftDomain,
    /// One of its scalars changes too fast for the time step.
    TooConductive {
        /// The scalar.
        scalar: GrainScalar,
        /// Σ H Δt / κ, at most 1; the capacity κ of heat is m c.
        share: f64,
        /// Time step at which the share would be 1 \[s\].
        time_step: f64,
    },
    /// The cause of an error of a fluid particle.
    FluidErrorCause(Box<FluidErrorCause>),
    /// Its density is far from the rest density.
    TooCompressed {
        /// (ρ − ρ₀)/ρ₀ \[-\].
        excess: f64,
    },
    /// No grain is the cause: the GPU failed, there are no free ids, or the cell became too short.
    Device {
        /// Error message, with the remedy.
        what: String,
    },
}

/// Error of a fluid particle.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidErrorCause {
    /// Name of the fluid.
    pub fluid: String,
    /// Cause of the error.
    pub cause: StepErrorCause,
}

/// Error that stops the run, as the state of a grain became impossible.
#[derive(Clone, Debug, PartialEq)]
pub struct StepError {
    /// Id of the grain or fluid particle; the lowest one if several are affected.
    pub grain: u32,
    /// Number of affected grains or particles.
    pub affected: usize,
    /// Its center \[m\].
    pub position: [f64; 3],
    /// Its velocity \[m/s\].
    pub velocity: [f64; 3],
    /// Cause of the error.
    pub cause: StepErrorCause,
    /// Number of completed steps.
    pub step: u64,
    /// Time of the detection \[s\].
    pub time: f64,
}

impl std::fmt::Display for StepError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "step {} (t = {:.6e} s): {}", self.step, self.time, WithoutStep(self))
    }
}

impl StepError {
    /// The error of a device that failed for this reason, after so many steps at a time \[s\].
    pub(crate) fn of_device(what: String, step: u64, time: f64) -> StepError {
        StepError {
            grain: 0,
            affected: 0,
            position: [0.0; 3],
            velocity: [0.0; 3],
            cause: StepErrorCause::Device { what },
            step,
            time,
        }
    }

    /// This error without its step and time, for messages that name these before.
    pub(crate) fn without_step(&self) -> String {
        WithoutStep(self).to_string()
    }
}

/// An error without its step and time.
struct WithoutStep<'a>(&'a StepError);

impl std::fmt::Display for WithoutStep<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let StepError {
            grain,
            affected,
            position: [x, y, z],
            velocity,
            cause,
            ..
        } = self.0;
        if let StepErrorCause::Device { what } = cause {
            return f.write_str(what);
        }
        let speed = velocity.iter().map(|c| c * c).sum::<f64>().sqrt();
        let (fluid, cause) = match cause {
            StepErrorCause::FluidErrorCause(inner) => (Some(&inner.fluid), &inner.cause),
            cause => (None, cause),
        };
        match fluid {
            Some(fluid) => write!(f, "particle {grain} of {fluid:?}")?,
            None => write!(f, "grain {grain}")?,
        }
        write!(f, " at ({x:.4e}, {y:.4e}, {z:.4e}) m, speed {speed:.3e} m/s, ")?;
        match cause {
            StepErrorCause::NotFinite => write!(
                f,
                "has a position that is not a number. Likely cause: a time step too large, grains on top of each other, or a force whose formula has no value at this time"
            )?,
            StepErrorCause::TooFast { moved, limit } => write!(
                f,
                "moved {moved:.3e} m in one step, more than a cell ({limit:.3e} m). Likely cause: a time step too large, or a start velocity too high"
            )?,
            StepErrorCause::TooDeep {
                partner,
                share,
                limit,
                of_rounding,
            } => {
                let (radius, advice) = if *of_rounding {
                    (
                        "rounding radius",
                        "Use a stiffer material, a larger `rounding` of the shape, or a larger run.overlap_limit",
                    )
                } else {
                    (
                        "radius",
                        "Likely cause: too soft a material, too high a speed, or a time step too large",
                    )
                };
                write!(
                    f,
                    "overlaps {partner} by {:.1} % of the smaller {radius}; the limit is {:.1} % (run.overlap_limit). {advice}",
                    100.0 * share,
                    100.0 * limit
                )?;
            }
            StepErrorCause::Device { .. } | StepErrorCause::FluidErrorCause(_) => {}
            StepErrorCause::TooConductive {
                scalar: GrainScalar::Temperature,
                share,
                time_step,
            } => write!(
                f,
                "takes up heat faster than the time step can follow: Σ H Δt / (m c) is {share:.3}, the limit is 1. Use run.time_step below {time_step:.3e} s, a smaller thermal_conductivity or a larger specific_heat_capacity"
            )?,
            StepErrorCause::TooConductive {
                scalar: GrainScalar::FilmThickness,
                share,
                time_step,
            } => write!(
                f,
                "shares its film faster than the time step can follow: λ Δt Σ A_j/(A_i + A_j) is {share:.3}, the limit is 1. Use run.time_step below {time_step:.3e} s, or a smaller film_exchange"
            )?,
            StepErrorCause::TooCompressed { excess } => write!(
                f,
                "has a density that is {:.1} % off; a fluid that flows keeps it within some percent. Likely cause: a sound_speed below ten times the fastest flow, particles that start inside each other, or a time step too large",
                100.0 * excess
            )?,
            StepErrorCause::LeftDomain if fluid.is_some() => write!(
                f,
                "left the domain. Likely cause: a gap between walls; or enlarge world.domain, or set world.leaving = \"delete\""
            )?,
            StepErrorCause::LeftDomain => write!(f, "left the domain. Enlarge world.domain, or set world.leaving = \"delete\"")?,
        }
        if *affected > 1 {
            let what = if fluid.is_some() { "particles" } else { "grains" };
            write!(f, " ({affected} {what} are affected)")?;
        }
        Ok(())
    }
}

impl std::error::Error for StepError {}
