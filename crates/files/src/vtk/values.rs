//! What the arrays of files are made from.

use super::BLOCK;
use std::borrow::Cow;

/// What an array of a file is made from: places and sizes keep all digits, the rest seven.
pub(super) enum Values<'a> {
    Vectors64(&'a [[f64; 3]]),
    Vectors32(&'a [[f64; 3]]),
    Quaternions32(Cow<'a, [[f64; 4]]>),
    Tensors32(&'a [[f64; 9]]),
    Scalars32(&'a [f64]),
    Scalars64(&'a [f64]),
    Integers(&'a [u32]),
    Offsets(&'a [i64]),
}

impl Values<'_> {
    pub fn attributes(&self) -> &'static str {
        match self {
            Values::Vectors64(_) => r#"type="Float64" NumberOfComponents="3""#,
            Values::Vectors32(_) => r#"type="Float32" NumberOfComponents="3""#,
            Values::Quaternions32(_) => r#"type="Float32" NumberOfComponents="4""#,
            Values::Tensors32(_) => r#"type="Float32" NumberOfComponents="9""#,
            Values::Scalars32(_) => r#"type="Float32""#,
            Values::Scalars64(_) => r#"type="Float64""#,
            Values::Integers(_) => r#"type="UInt32""#,
            Values::Offsets(_) => r#"type="Int64""#,
        }
    }

    /// Bytes of one point or cell before they are packed.
    pub fn bytes_a_point(&self) -> usize {
        match self {
            Values::Tensors32(_) => 36,
            Values::Vectors64(_) => 24,
            Values::Quaternions32(_) => 16,
            Values::Vectors32(_) => 12,
            Values::Scalars64(_) | Values::Offsets(_) => 8,
            Values::Scalars32(_) | Values::Integers(_) => 4,
        }
    }

    /// Points or cells.
    fn len(&self) -> usize {
        match self {
            Values::Vectors64(values) | Values::Vectors32(values) => values.len(),
            Values::Quaternions32(values) => values.len(),
            Values::Tensors32(values) => values.len(),
            Values::Scalars32(values) | Values::Scalars64(values) => values.len(),
            Values::Integers(values) => values.len(),
            Values::Offsets(values) => values.len(),
        }
    }

    /// Bytes of all before they are packed.
    pub fn bytes(&self) -> usize {
        self.len() * self.bytes_a_point()
    }

    /// All numbers, and how many belong to one point or cell.
    pub fn numbers(&self) -> (Vec<f64>, usize) {
        match self {
            Values::Vectors64(values) | Values::Vectors32(values) => (values.as_flattened().to_vec(), 3),
            Values::Quaternions32(values) => (values.as_flattened().to_vec(), 4),
            Values::Tensors32(values) => (values.as_flattened().to_vec(), 9),
            Values::Scalars32(values) | Values::Scalars64(values) => (values.to_vec(), 1),
            Values::Integers(values) => (values.iter().map(|&value| f64::from(value)).collect(), 1),
            Values::Offsets(values) => (values.iter().map(|&value| value as f64).collect(), 1),
        }
    }

    /// The bytes of a block, by its number: [`BLOCK`] of them, in the last block those that are left.
    pub fn block(&self, index: usize) -> Vec<u8> {
        let single = |value: f64| (value as f32).to_le_bytes();
        match self {
            Values::Vectors64(values) => block_of(values.as_flattened(), index, f64::to_le_bytes),
            Values::Vectors32(values) => block_of(values.as_flattened(), index, single),
            Values::Quaternions32(values) => block_of(values.as_flattened(), index, single),
            Values::Tensors32(values) => block_of(values.as_flattened(), index, single),
            Values::Scalars32(values) => block_of(values, index, single),
            Values::Scalars64(values) => block_of(values, index, f64::to_le_bytes),
            Values::Integers(values) => block_of(values, index, u32::to_le_bytes),
            Values::Offsets(values) => block_of(values, index, i64::to_le_bytes),
        }
    }
}

/// The bytes of the numbers of a block. No number is in two of them: a block is a power of two.
fn block_of<T: Copy, const WIDTH: usize>(numbers: &[T], index: usize, bytes_of: impl Fn(T) -> [u8; WIDTH]) -> Vec<u8> {
    let count = BLOCK / WIDTH;
    let end = numbers.len().min((index + 1) * count);
    let numbers = &numbers[end.min(index * count)..end];
    let mut bytes = Vec::with_capacity(numbers.len() * WIDTH);
    for &number in numbers {
        bytes.extend_from_slice(&bytes_of(number));
    }
    bytes
}
