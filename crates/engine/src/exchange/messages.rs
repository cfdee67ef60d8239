//! Messages between subdomains, as bytes: named columns, or items alone.

use crate::state::{Column, Sections, State};
use seixo_device::gpu::{Word, bytes_of, items_of};
use seixo_transport::{Disconnected, Transport};

/// A message that cannot be decoded: another program sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError;

/// Sends a message to each of the neighbor subdomains, in their order, and waits for theirs.
pub fn exchange(transport: &mut dyn Transport, beside: &[usize], messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Disconnected> {
    for (&other, message) in beside.iter().zip(messages) {
        transport.send(other, message)?;
    }
    beside.iter().map(|&other| transport.receive(other)).collect()
}

/// Encodes named columns as bytes.
pub fn encode(state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, column) in &state.sections {
        append_message(&mut bytes, name.as_bytes());
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
                append_message(
                    &mut bytes,
                    values.iter().map(|x| x.to_le_bytes()).collect::<Vec<_>>().as_flattened(),
                );
            }
        }
    }
    bytes
}

/// Decodes named columns.
pub fn read(mut bytes: &[u8]) -> Result<State, DecodeError> {
    let mut state = State::default();
    while !bytes.is_empty() {
        let name = std::str::from_utf8(part(&mut bytes)?).map_err(|_| DecodeError)?.to_owned();
        let (kind, rest) = bytes.split_first().ok_or(DecodeError)?;
        bytes = rest;
        let numbers = part(&mut bytes)?;
        let column = match kind {
            0 => Column::F64(items_of(numbers).ok_or(DecodeError)?),
            1 => Column::U32(items_of(numbers).ok_or(DecodeError)?),
            2 => Column::U64(whole_numbers(numbers)?),
            _ => return Err(DecodeError),
        };
        state.put(&name, column);
    }
    Ok(state)
}

/// The bytes that follow their length.
fn part<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], DecodeError> {
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or(DecodeError)?;
    let (part, rest) = rest.split_at_checked(u64::from_le_bytes(*length) as usize).ok_or(DecodeError)?;
    *bytes = rest;
    Ok(part)
}

fn whole_numbers(bytes: &[u8]) -> Result<Vec<u64>, DecodeError> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    rest.is_empty()
        .then(|| numbers.iter().map(|x| u64::from_le_bytes(*x)).collect())
        .ok_or(DecodeError)
}

/// Encodes numbers as bytes.
pub fn to_bytes(numbers: &[f64]) -> Vec<u8> {
    bytes_of(numbers).to_vec()
}

/// Decodes numbers.
pub fn from_bytes(bytes: &[u8]) -> Result<Vec<f64>, DecodeError> {
    items_of(bytes).ok_or(DecodeError)
}

/// Appends items after their length.
pub fn enclose<W: Word>(message: &mut Vec<u8>, items: &[W]) {
    append_message(message, bytes_of(items));
}

/// Takes the next items from a message.
pub fn unfold<W: Word>(message: &mut &[u8]) -> Result<Vec<W>, DecodeError> {
    items_of(part(message)?).ok_or(DecodeError)
}

/// A message with numbered records, but for those of zeros: these are zero already where it is read. Zeros with a sign are sent.
pub fn enclose_records<const NUMBERS: usize>(records: impl Iterator<Item = (u32, [f64; NUMBERS])>) -> Vec<u8> {
    let is_sent = |(_, record): &(u32, [f64; NUMBERS])| record.iter().any(|x| x.to_bits() != 0);
    let (names, records): (Vec<u32>, Vec<[f64; NUMBERS]>) = records.filter(is_sent).unzip();
    let mut message = Vec::new();
    enclose(&mut message, &names);
    enclose(&mut message, records.as_flattened());
    message
}

/// Decodes numbered records.
pub fn unfold_records<const NUMBERS: usize>(mut message: &[u8]) -> Result<Vec<(u32, [f64; NUMBERS])>, DecodeError> {
    let names: Vec<u32> = unfold(&mut message)?;
    let numbers: Vec<f64> = unfold(&mut message)?;
    match numbers.as_chunks::<NUMBERS>() {
        (records, []) if records.len() == names.len() => Ok(names.into_iter().zip(records.iter().copied()).collect()),
        _ => Err(DecodeError),
    }
}

/// Appends a message to another.
pub fn append_message(message: &mut Vec<u8>, inner: &[u8]) {
    message.extend((inner.len() as u64).to_le_bytes());
    message.extend(inner);
}

/// Takes the next message that is contained in another.
pub fn next_message(message: &mut &[u8]) -> Result<Vec<u8>, DecodeError> {
    Ok(part(message)?.to_vec())
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
        let bytes = encode(&state);
        assert_eq!(read(&bytes).unwrap().sections, state.sections);
        assert!((1..bytes.len()).all(|end| read(&bytes[..end]).map(|state| state.sections.len()).unwrap_or(0) < 4));
    }
}
