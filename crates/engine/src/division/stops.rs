//! Why a domain stopped, as a letter: what one rank saw, all tell.

use super::letters::{Illegible, letter, read};
use crate::guard::{Cause, InFluid, Stop};
use crate::state::{Column, Sections, State};

/// Grain, how many are affected, step, and which cause it is.
const COUNTS: &str = "stop/counts";
/// Time, position, velocity, and the numbers of the cause.
const NUMBERS: &str = "stop/numbers";
/// The word of the cause.
const WORD: &str = "stop/word";
/// The fluid that it is about, if it is about one.
const FLUID: &str = "stop/fluid";

/// A stop as a letter.
pub fn stop_letter(stop: &Stop) -> Vec<u8> {
    let mut state = State::default();
    let cause = match &stop.cause {
        Cause::InFluid(inner) => {
            state.put(FLUID, characters(&inner.fluid));
            &inner.cause
        }
        cause => cause,
    };
    let (which, [a, b], word): (u64, [f64; 2], &str) = match cause {
        Cause::NotFinite => (0, [0.0; 2], ""),
        Cause::TooFast { moved, limit } => (1, [*moved, *limit], ""),
        Cause::TooDeep { partner, share, limit } => (2, [*share, *limit], partner.as_str()),
        Cause::LeftDomain => (3, [0.0; 2], ""),
        Cause::TooConductive { share, time_step } => (4, [*share, *time_step], ""),
        Cause::TooCompressed { excess } => (5, [*excess, 0.0], ""),
        Cause::Device { what } => (6, [0.0; 2], what.as_str()),
        // A fluid is in no fluid.
        Cause::InFluid(inner) => (6, [0.0; 2], inner.fluid.as_str()),
    };
    state.put(
        COUNTS,
        Column::U64(vec![u64::from(stop.grain), stop.affected as u64, stop.step, which]),
    );
    let ([x, y, z], [u, v, w]) = (stop.position, stop.velocity);
    state.put(NUMBERS, Column::F64(vec![stop.time, x, y, z, u, v, w, a, b]));
    state.put(WORD, characters(word));
    letter(&state)
}

/// A stop that was a letter.
pub fn read_stop(bytes: &[u8]) -> Result<Stop, Illegible> {
    let state = read(bytes)?;
    let (Some(Column::U64(counts)), Some(Column::F64(numbers))) = (state.get(COUNTS), state.get(NUMBERS)) else {
        return Err(Illegible);
    };
    let (&[grain, affected, step, which], &[time, x, y, z, u, v, w, a, b]) = (counts.as_slice(), numbers.as_slice()) else {
        return Err(Illegible);
    };
    let word = text(&state, WORD)?;
    let cause = match which {
        0 => Cause::NotFinite,
        1 => Cause::TooFast { moved: a, limit: b },
        2 => Cause::TooDeep {
            partner: word,
            share: a,
            limit: b,
        },
        3 => Cause::LeftDomain,
        4 => Cause::TooConductive { share: a, time_step: b },
        5 => Cause::TooCompressed { excess: a },
        6 => Cause::Device { what: word },
        _ => return Err(Illegible),
    };
    Ok(Stop {
        grain: u32::try_from(grain).map_err(|_| Illegible)?,
        affected: affected as usize,
        position: [x, y, z],
        velocity: [u, v, w],
        cause: match text(&state, FLUID) {
            Ok(fluid) => Cause::InFluid(Box::new(InFluid { fluid, cause })),
            Err(Illegible) => cause,
        },
        step,
        time,
    })
}

fn characters(text: &str) -> Column {
    Column::U32(text.chars().map(u32::from).collect())
}

fn text(state: &State, name: &str) -> Result<String, Illegible> {
    match state.get(name) {
        Some(Column::U32(characters)) => characters
            .iter()
            .map(|&character| char::from_u32(character))
            .collect::<Option<String>>()
            .ok_or(Illegible),
        _ => Err(Illegible),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_saw_all_tell() {
        let causes = [
            Cause::NotFinite,
            Cause::TooFast { moved: 0.5, limit: 0.25 },
            Cause::TooDeep {
                partner: "wall Größe".to_owned(),
                share: 0.7,
                limit: 0.5,
            },
            Cause::LeftDomain,
            Cause::TooConductive {
                share: 1.5,
                time_step: 1e-6,
            },
            Cause::TooCompressed { excess: -0.25 },
            Cause::Device {
                what: "the GPU is gone".to_owned(),
            },
        ];
        let in_fluid = Cause::InFluid(Box::new(InFluid {
            fluid: "water".to_owned(),
            cause: Cause::TooCompressed { excess: 0.5 },
        }));
        for cause in causes.into_iter().chain([in_fluid]) {
            let stop = Stop {
                grain: 7,
                affected: 3,
                position: [1.0, -2.0, 3.0],
                velocity: [-0.0, 5.0, 1e-300],
                cause,
                step: 1 << 40,
                time: 0.125,
            };
            let bytes = stop_letter(&stop);
            assert_eq!(read_stop(&bytes), Ok(stop));
            assert_eq!(read_stop(&bytes[..bytes.len() - 1]), Err(Illegible));
        }
    }
}
