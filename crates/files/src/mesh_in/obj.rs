//! Meshes in Wavefront OBJ: corners `v x y z` and faces `f i j k …`.

use super::{EXPORT_AGAIN, face::cut};
use crate::FilesError;
use crate::columns::{Lines, number};
use crate::error::quoted;
use seixo_engine::world::Triangle;

/// First words of lines that say nothing of the surface: normals and textures, names, groups and looks, lines and points.
const PASSED_OVER: [&str; 21] = [
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
    "trace_obj",
    "ctech",
    "stech",
];
/// First words of lines of curves and curved surfaces.
const CURVED: [&str; 15] = [
    "cstype", "deg", "bmat", "step", "curv", "curv2", "surf", "parm", "trim", "hole", "scrv", "sp", "end", "con", "bsp",
];
/// How long a line may be with all that it goes on in \[bytes\].
const LONGEST: usize = 1 << 20;

/// Whether a file whose first word is this is an OBJ.
pub(super) fn is_first_word(first: &str) -> bool {
    ["v", "f"].contains(&first) || PASSED_OVER.contains(&first) || CURVED.contains(&first)
}

/// Reads from the line in `text` on: the triangles, and how many objects are named.
pub(super) fn read(mut lines: Lines, text: &mut String) -> Result<(Vec<Triangle>, usize), FilesError> {
    let (mut corners, mut triangles, mut objects) = (Vec::new(), Vec::new(), 0);
    let mut face = Vec::new();
    loop {
        join(&mut lines, text)?;
        let mut words = text.split_whitespace().take_while(|word| !word.starts_with('#'));
        match words.next().unwrap_or_default() {
            "v" => {
                let numbers: Option<Vec<f64>> = words.map(number).collect();
                // Behind the place there may be a weight, a color, or both.
                match numbers.as_deref() {
                    Some(&[x, y, z, ref rest @ ..]) if [0, 1, 3, 4].contains(&rest.len()) => corners.push([x, y, z]),
                    _ => {
                        let problem = format!("{} is not a corner of three finite numbers", quoted(text));
                        return Err(lines.error(problem, EXPORT_AGAIN));
                    }
                }
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
            first if PASSED_OVER.contains(&first) || first.is_empty() => objects += usize::from(first == "o"),
            first if CURVED.contains(&first) => {
                let problem = format!("{} is of a curve or a curved surface, and flat faces alone are read", quoted(text));
                return Err(lines.error(problem, EXPORT_AGAIN));
            }
            _ => {
                let problem = format!("{} is neither corner nor flat face of an OBJ", quoted(text));
                return Err(lines.error(problem, EXPORT_AGAIN));
            }
        }
        if lines.next(text)?.is_none() {
            return Ok((triangles, objects));
        }
    }
}

/// Adds to a line what it goes on in, behind a `\` at its end.
fn join(lines: &mut Lines, text: &mut String) -> Result<(), FilesError> {
    let mut more = String::new();
    while text.ends_with('\\') {
        text.pop();
        if lines.next(&mut more)?.is_none() {
            break;
        }
        if text.len() + more.len() > LONGEST {
            return Err(lines.error(format!("a line that goes on for more than {LONGEST} bytes"), EXPORT_AGAIN));
        }
        text.push(' ');
        text.push_str(&more);
    }
    Ok(())
}

/// The corner that a face names: from 1 for the first on, or from −1 for the last so far back.
fn corner(named: &str, corners: &[[f64; 3]]) -> Option<[f64; 3]> {
    let number: i64 = named.parse().ok()?;
    let index = if number < 0 { corners.len() as i64 + number } else { number - 1 };
    corners.get(usize::try_from(index).ok()?).copied()
}
