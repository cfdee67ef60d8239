//! Step errors as messages: all ranks report the error that one rank found.

use crate::exchange::{DecodeError, encode, read};
use crate::guard::{FluidErrorCause, StepError, StepErrorCause};
use crate::scalars::GrainScalar;
use crate::state::{Column, Sections, State};

/// Grain, number of affected grains, step, and number of the cause.
const COUNTS: &str = "stop/counts";
/// Time, position, velocity, and the numbers of the cause.
const NUMBERS: &str = "stop/numbers";
/// The text of the cause.
const WORD: &str = "stop/word";
/// The fluid of the error, if there is one.
const FLUID: &str = "stop/fluid";

/// Encodes a step error as a message.
pub fn encode_step_error(stop: &StepError) -> Vec<u8> {
    let mut state = State::default();
    let cause = match &stop.cause {
        StepErrorCause::FluidErrorCause(inner) => {
            state.put(FLUID, characters(&inner.fluid));
            &inner.cause
        }
        cause => cause,
    };
    let (which, [a, b], word): (u64, [f64; 2], &str) = match cause {
        StepErrorCause::NotFinite => (0, [0.0; 2], ""),
        StepErrorCause::TooFast { moved, limit } => (1, [*moved, *limit], ""),
        StepErrorCause::TooDeep {
            partner,
            share,
            limit,
            of_rounding,
        } => (if *of_rounding { 7 } else { 2 }, [*share, *limit], &**partner),
        StepErrorCause::LeftDomain => (3, [0.0; 2], ""),
        StepErrorCause::TooConductive { scalar, share, time_step } => (4, [*share, *time_step], scalar.name()),
        StepErrorCause::TooCompressed { excess } => (5, [*excess, 0.0], ""),
        StepErrorCause::Device { what } => (6, [0.0; 2], what.as_str()),
        // The inner cause of a fluid error is not a fluid error itself.
        StepErrorCause::FluidErrorCause(inner) => (6, [0.0; 2], inner.fluid.as_str()),
    };
    state.put(
        COUNTS,
        Column::U64(vec![u64::from(stop.grain), stop.affected as u64, stop.step, which]),
    );
    let ([x, y, z], [u, v, w]) = (stop.position, stop.velocity);
    state.put(NUMBERS, Column::F64(vec![stop.time, x, y, z, u, v, w, a, b]));
    state.put(WORD, characters(word));
    encode(&state)
}

/// Decodes a step error.
pub fn decode_step_error(bytes: &[u8]) -> Result<StepError, DecodeError> {
    let state = read(bytes)?;
    let (Some(Column::U64(counts)), Some(Column::F64(numbers))) = (state.get(COUNTS), state.get(NUMBERS)) else {
        return Err(DecodeError);
    };
    let (&[grain, affected, step, which], &[time, x, y, z, u, v, w, a, b]) = (counts.as_slice(), numbers.as_slice()) else {
        return Err(DecodeError);
    };
    let word = text(&state, WORD)?;
    let cause = match which {
        0 => StepErrorCause::NotFinite,
        1 => StepErrorCause::TooFast { moved: a, limit: b },
        2 | 7 => StepErrorCause::TooDeep {
            partner: word.into_boxed_str(),
            share: a,
            limit: b,
            of_rounding: which == 7,
        },
        3 => StepErrorCause::LeftDomain,
        4 => StepErrorCause::TooConductive {
            scalar: GrainScalar::named(&word).ok_or(DecodeError)?,
            share: a,
            time_step: b,
        },
        5 => StepErrorCause::TooCompressed { excess: a },
        6 => StepErrorCause::Device { what: word },
        _ => return Err(DecodeError),
    };
    Ok(StepError {
        grain: u32::try_from(grain).map_err(|_| DecodeError)?,
        affected: affected as usize,
        position: [x, y, z],
        velocity: [u, v, w],
        cause: match text(&state, FLUID) {
            Ok(fluid) => StepErrorCause::FluidErrorCause(Box::new(FluidErrorCause { fluid, cause })),
            Err(DecodeError) => cause,
        },
        step,
        time,
    })
}

fn characters(text: &str) -> Column {
    Column::U32(text.chars().map(u32::from).collect())
}

fn text(state: &State, name: &str) -> Result<String, DecodeError> {
    match state.get(name) {
        Some(Column::U32(characters)) => characters
            .iter()
            .map(|&character| char::from_u32(character))
            .collect::<Option<String>>()
            .ok_or(DecodeError),
        _ => Err(DecodeError),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_saw_all_report() {
        let causes = [
            StepErrorCause::NotFinite,
            StepErrorCause::TooFast { moved: 0.5, limit: 0.25 },
            StepErrorCause::TooDeep {
                partner: "wall Größe".into(),
                share: 0.7,
                limit: 0.5,
                of_rounding: false,
            },
            StepErrorCause::TooDeep {
                partner: "grain 3".into(),
                share: 0.75,
                limit: 0.5,
                of_rounding: true,
            },
            StepErrorCause::LeftDomain,
            StepErrorCause::TooConductive {
                scalar: GrainScalar::Temperature,
                share: 1.5,
                time_step: 1e-6,
            },
            StepErrorCause::TooCompressed { excess: -0.25 },
            StepErrorCause::Device {
                what: "the GPU is gone".to_owned(),
            },
        ];
        let in_fluid = StepErrorCause::FluidErrorCause(Box::new(FluidErrorCause {
            fluid: "water".to_owned(),
            cause: StepErrorCause::TooCompressed { excess: 0.5 },
        }));
        for cause in causes.into_iter().chain([in_fluid]) {
            let stop = StepError {
                grain: 7,
                affected: 3,
                position: [1.0, -2.0, 3.0],
                velocity: [-0.0, 5.0, 1e-300],
                cause,
                step: 1 << 40,
                time: 0.125,
            };
            let bytes = encode_step_error(&stop);
            assert_eq!(decode_step_error(&bytes), Ok(stop));
            assert_eq!(decode_step_error(&bytes[..bytes.len() - 1]), Err(DecodeError));
        }
    }
}
