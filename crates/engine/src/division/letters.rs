//! What domains tell each other, as bytes: named columns, or numbers alone.

use crate::state::{Column, Sections, State};

/// A letter that cannot be read: it is of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegible;

/// Named columns as bytes.
pub fn letter(state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, column) in &state.sections {
        let (kind, numbers): (u8, Vec<u8>) = match column {
            Column::F64(values) => (0, to_bytes(values)),
            Column::U32(values) => (1, values.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Column::U64(values) => (2, values.iter().flat_map(|x| x.to_le_bytes()).collect()),
        };
        bytes.extend((name.len() as u64).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.push(kind);
        bytes.extend((numbers.len() as u64).to_le_bytes());
        bytes.extend(numbers);
    }
    bytes
}

/// Named columns that were bytes.
pub fn read(mut bytes: &[u8]) -> Result<State, Illegible> {
    let mut state = State::default();
    while !bytes.is_empty() {
        let name = std::str::from_utf8(part(&mut bytes)?).map_err(|_| Illegible)?.to_owned();
        let (kind, rest) = bytes.split_first().ok_or(Illegible)?;
        bytes = rest;
        let numbers = part(&mut bytes)?;
        let column = match kind {
            0 => Column::F64(from_bytes(numbers)?),
            1 => Column::U32(chunks::<4>(numbers)?.iter().map(|x| u32::from_le_bytes(*x)).collect()),
            2 => Column::U64(chunks::<8>(numbers)?.iter().map(|x| u64::from_le_bytes(*x)).collect()),
            _ => return Err(Illegible),
        };
        state.put(&name, column);
    }
    Ok(state)
}

/// What stands behind its length.
fn part<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Illegible> {
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or(Illegible)?;
    let (part, rest) = rest.split_at_checked(u64::from_le_bytes(*length) as usize).ok_or(Illegible)?;
    *bytes = rest;
    Ok(part)
}

fn chunks<const SIZE: usize>(bytes: &[u8]) -> Result<&[[u8; SIZE]], Illegible> {
    let (chunks, rest) = bytes.as_chunks::<SIZE>();
    if rest.is_empty() { Ok(chunks) } else { Err(Illegible) }
}

/// Numbers as bytes.
pub fn to_bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Numbers that were bytes.
pub fn from_bytes(bytes: &[u8]) -> Result<Vec<f64>, Illegible> {
    Ok(chunks::<8>(bytes)?.iter().map(|x| f64::from_le_bytes(*x)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut state = State::default();
        state.put("grains/id", Column::U32(vec![7, u32::MAX]));
        state.put("grains/position", Column::F64(vec![-0.0, f64::MIN_POSITIVE, 1e300]));
        state.put("clock", Column::U64(vec![u64::MAX]));
        state.put("nothing", Column::F64(Vec::new()));
        let bytes = letter(&state);
        assert_eq!(read(&bytes).unwrap().sections, state.sections);
        assert!((1..bytes.len()).all(|end| read(&bytes[..end]).map(|state| state.sections.len()).unwrap_or(0) < 4));
    }
}
