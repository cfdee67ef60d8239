//! Meshes in STL: binary, or as text with one solid or several.

use super::{EXPORT_AGAIN, LONGEST_FILE, whole};
use crate::FilesError;
use crate::columns::{Lines, number};
use crate::error::quoted;
use seixo_engine::world::Triangle;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes before the triangles of a binary file, their count included.
const HEADER: u64 = 84;
/// Bytes of a triangle in a binary file.
const TRIANGLE: u64 = 50;
/// Most triangles: as many as the longest binary file holds.
pub(super) const MAX_TRIANGLES: usize = (LONGEST_FILE / TRIANGLE) as usize;

/// How many triangles a binary file that starts like this promises, and how long it is then \[bytes\].
fn promise(head: &[u8]) -> Option<(u64, u64)> {
    let count = u64::from(u32::from_le_bytes(head.get(80..84)?.try_into().ok()?));
    Some((count, HEADER + count * TRIANGLE))
}

/// Whether a file that starts like this is binary. Its length decides before the first word: binary files that start with `solid` are common.
pub(super) fn is_binary(head: &[u8], size: u64) -> bool {
    promise(head).is_some_and(|(_, expected)| expected == size)
}

/// Reads a binary file of this size \[bytes\].
pub(super) fn read_binary(path: &Path, mut file: File, size: u64) -> Result<Vec<Triangle>, FilesError> {
    let mut head = Vec::new();
    (&mut file)
        .take(HEADER)
        .read_to_end(&mut head)
        .map_err(FilesError::disk(path, "read it"))?;
    let problem = match promise(&head) {
        Some((_, expected)) if expected == size => None,
        Some((count, expected)) => Some(format!(
            "{size} bytes, but as a binary STL its header promises {count} triangles, which take {expected}: cut off, or no mesh"
        )),
        None => Some(format!("{size} bytes are too few for a binary STL")),
    };
    if let Some(problem) = problem {
        return Err(FilesError::content(path, problem, EXPORT_AGAIN));
    }
    let mut triangles = Vec::new();
    for (index, record) in whole(path, file)?.as_chunks::<{ TRIANGLE as usize }>().0.iter().enumerate() {
        // Twelve numbers: the normal, which the corners give as well, then the corners.
        let corners = &record.as_chunks().0[3..12];
        let at = |i: usize| f64::from(f32::from_le_bytes(corners[i]));
        let triangle = [[at(0), at(1), at(2)], [at(3), at(4), at(5)], [at(6), at(7), at(8)]];
        if let Some(value) = triangle.iter().flatten().find(|value| !value.is_finite()) {
            let problem = format!("triangle {} has a corner at {value}", index + 1);
            return Err(FilesError::content(path, problem, EXPORT_AGAIN));
        }
        triangles.push(triangle);
    }
    Ok(triangles)
}

/// Reads a text from the line in `text` on: the triangles of all its solids, and how many solids there are.
pub(super) fn read_text(mut lines: Lines, text: &mut String) -> Result<(Vec<Triangle>, usize), FilesError> {
    let (mut triangles, mut solids, mut is_within) = (Vec::new(), 0, false);
    let mut corners: Vec<[f64; 3]> = Vec::with_capacity(3);
    loop {
        let mut words = text.split_whitespace();
        let keyword = words.next().unwrap_or_default().to_ascii_lowercase();
        match keyword.as_str() {
            "solid" if !is_within => {
                is_within = true;
                solids += 1;
            }
            _ if !is_within => {
                let problem = format!("{} stands where a text STL has `solid`, or ends", quoted(text));
                return Err(lines.error(problem, EXPORT_AGAIN));
            }
            "vertex" if corners.len() < 3 => {
                let numbers: Vec<_> = words.map(number).collect();
                let &[Some(x), Some(y), Some(z)] = numbers.as_slice() else {
                    return Err(lines.error(format!("{} is not a corner of three finite numbers", quoted(text)), EXPORT_AGAIN));
                };
                corners.push([x, y, z]);
            }
            "endfacet" => {
                let &[a, b, c] = corners.as_slice() else {
                    return Err(lines.error(format!("a facet with {} corners", corners.len()), EXPORT_AGAIN));
                };
                triangles.push([a, b, c]);
                corners.clear();
            }
            "facet" | "outer" | "endloop" if corners.is_empty() || keyword == "endloop" => {}
            "endsolid" if corners.is_empty() => is_within = false,
            _ => return Err(lines.error(format!("{} does not belong here in a text STL", quoted(text)), EXPORT_AGAIN)),
        }
        if lines.next(text)?.is_none() {
            break;
        }
    }
    if is_within {
        return Err(lines.error("the file ends without `endsolid`: it is cut off", EXPORT_AGAIN));
    }
    Ok((triangles, solids))
}
