//! What domains tell each other, as bytes: named columns, or items alone.

use crate::state::{Column, Sections, State};
use seixo_device::gpu::{Word, bytes_of, items_of};
use seixo_transport::{Lost, Transport};

/// A letter that cannot be read: it is of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegible;

/// Sends a letter to each of the domains beside this one, in their order, and waits for theirs.
pub fn exchange(transport: &mut dyn Transport, beside: &[usize], letters: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Lost> {
    for (&other, letter) in beside.iter().zip(letters) {
        transport.send(other, letter)?;
    }
    beside.iter().map(|&other| transport.receive(other)).collect()
}

/// Named columns as bytes.
pub fn letter(state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, column) in &state.sections {
        enclose_letter(&mut bytes, name.as_bytes());
        match column {
            Column::F64(values) => {
                bytes.push(0);
                enclose(&mut bytes, values);
            }
            Column::U32(values) => {
                bytes.push(1);
                enclose(&mut bytes, values);
            }
            Column::U64(values) => {
                bytes.push(2);
                enclose_letter(
                    &mut bytes,
                    values.iter().map(|x| x.to_le_bytes()).collect::<Vec<_>>().as_flattened(),
                );
            }
        }
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
            0 => Column::F64(items_of(numbers).ok_or(Illegible)?),
            1 => Column::U32(items_of(numbers).ok_or(Illegible)?),
            2 => Column::U64(whole_numbers(numbers)?),
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

fn whole_numbers(bytes: &[u8]) -> Result<Vec<u64>, Illegible> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    rest.is_empty()
        .then(|| numbers.iter().map(|x| u64::from_le_bytes(*x)).collect())
        .ok_or(Illegible)
}

/// Numbers as bytes.
pub fn to_bytes(numbers: &[f64]) -> Vec<u8> {
    bytes_of(numbers).to_vec()
}

/// Numbers that were bytes.
pub fn from_bytes(bytes: &[u8]) -> Result<Vec<f64>, Illegible> {
    items_of(bytes).ok_or(Illegible)
}

/// Appends items, behind their length.
pub fn enclose<W: Word>(letter: &mut Vec<u8>, items: &[W]) {
    enclose_letter(letter, bytes_of(items));
}

/// Takes the next items out of a letter.
pub fn unfold<W: Word>(letter: &mut &[u8]) -> Result<Vec<W>, Illegible> {
    items_of(part(letter)?).ok_or(Illegible)
}

/// Appends a letter to another.
pub fn enclose_letter(letter: &mut Vec<u8>, inner: &[u8]) {
    letter.extend((inner.len() as u64).to_le_bytes());
    letter.extend(inner);
}

/// Takes the letter out of another that is next in it.
pub fn unfold_letter(letter: &mut &[u8]) -> Result<Vec<u8>, Illegible> {
    Ok(part(letter)?.to_vec())
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
