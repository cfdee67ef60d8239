//! Meshes in Wavefront OBJ: corners `v x y z` and faces `f i j k …`.

use super::{EXPORT_AGAIN, cut};
use crate::FilesError;
use crate::columns::{Lines, number};
use crate::error::quoted;
use seixo_engine::world::Triangle;

/// First words of lines that say nothing of the surface.
const PASSED_OVER: [&str; 18] = [
    "vn",
    "vt",
    "vp",
    "o",
    "g",
    "s",
    "mg",
    "l",
    "p",
    "usemtl",
    "mtllib",
    "usemap",
    "maplib",
    "lod",
    "bevel",
    "c_interp",
    "d_interp",
    "shadow_obj",
];

/// Whether a file whose first line is this is an OBJ.
pub(super) fn is_first_line(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    first == "v" || first == "f" || PASSED_OVER.contains(&first)
}

/// Reads from the line in `text` on.
pub(super) fn read(mut lines: Lines, text: &mut String) -> Result<Vec<Triangle>, FilesError> {
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    let mut face = Vec::new();
    loop {
        let mut words = text.split_whitespace();
        match words.next().unwrap_or_default() {
            "v" => {
                let numbers: Vec<_> = words.map(number).collect();
                let &[Some(x), Some(y), Some(z), ..] = numbers.as_slice() else {
                    return Err(lines.error(format!("{} is not a corner of three finite numbers", quoted(text)), EXPORT_AGAIN));
                };
                corners.push([x, y, z]);
            }
            "f" => {
                face.clear();
                for word in words {
                    let named = word.split('/').next().unwrap_or_default();
                    let Some(corner) = corner(named, &corners) else {
                        let problem = format!("{} names none of the {} corners so far", quoted(word), corners.len());
                        return Err(lines.error(problem, EXPORT_AGAIN));
                    };
                    face.push(corner);
                }
                cut(&face, &mut triangles).map_err(|problem| lines.error(problem, EXPORT_AGAIN))?;
            }
            first if PASSED_OVER.contains(&first) => {}
            _ => {
                let problem = format!("{} is neither corner nor flat face of an OBJ", quoted(text));
                return Err(lines.error(problem, EXPORT_AGAIN));
            }
        }
        if lines.next(text)?.is_none() {
            return Ok(triangles);
        }
    }
}

/// The corner that a face names: from 1 for the first on, or from −1 for the last so far back.
fn corner(named: &str, corners: &[[f64; 3]]) -> Option<[f64; 3]> {
    let number: i64 = named.parse().ok()?;
    let index = if number < 0 { corners.len() as i64 + number } else { number - 1 };
    corners.get(usize::try_from(index).ok()?).copied()
}
