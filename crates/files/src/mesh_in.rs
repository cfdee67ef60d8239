//! Triangle meshes: STL, binary or text, OBJ, PLY, and text tables of nine columns `vertex1_X[m] … vertex3_Z[m]`.

mod obj;
mod ply;

use crate::FilesError;
use crate::columns::{Header, Known, Lines, Quantity, number, open_input};
use crate::error::quoted;
use seixo_engine::world::Triangle;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Longest mesh file \[bytes\]: some 40 million triangles.
const LONGEST_FILE: u64 = 2 << 30;
/// Bytes before the triangles of a binary STL, its count included.
const STL_HEADER: u64 = 84;
/// Bytes that tell the format.
const LOOKED_AT: u64 = 512;
/// Bytes of a triangle in a binary STL.
const STL_TRIANGLE: u64 = 50;
/// Most triangles: as many as the longest STL holds.
const MOST_TRIANGLES: usize = (LONGEST_FILE / STL_TRIANGLE) as usize;
const EXPORT_AGAIN: &str = "export the mesh again, as STL, OBJ or PLY of flat faces";

const KNOWN: [Known; 9] = [
    Known {
        names: &["vertex1_x"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["vertex1_y"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["vertex1_z"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["vertex2_x"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["vertex2_y"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["vertex2_z"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["vertex3_x"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["vertex3_y"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["vertex3_z"],
        quantity: Quantity::Length,
    },
];

/// Reads a mesh; the format is told by the content, not by the name. STL, OBJ and PLY have no unit: their numbers are taken as meters.
/// Triangles without area are kept; [`degenerate`] names them.
pub fn read(path: &Path) -> Result<Vec<Triangle>, FilesError> {
    let disk = |error| FilesError::disk(path, "read it")(error);
    let (mut file, size) = open_input(path, "a mesh", LONGEST_FILE)?;
    let mut head = Vec::new();
    (&mut file).take(LOOKED_AT).read_to_end(&mut head).map_err(disk)?;
    let count = head
        .get(80..84)
        .and_then(|bytes| bytes.try_into().ok())
        .map(|bytes| u64::from(u32::from_le_bytes(bytes)));
    // The length decides before the first word: binary files that start with `solid` are common.
    let is_binary = count.is_some_and(|count| STL_HEADER + count * STL_TRIANGLE == size);
    file.seek(SeekFrom::Start(if is_binary { STL_HEADER } else { 0 })).map_err(disk)?;
    let starts_with = |start: &str| {
        head.get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
    };
    let triangles = if is_binary {
        read_binary_stl(path, &whole(path, file)?)?
    } else if ply::is_start(&head) {
        ply::read(path, &whole(path, file)?)?
    } else if head.contains(&0) {
        return Err(FilesError::content(path, binary_problem(count, size), EXPORT_AGAIN));
    } else if starts_with("solid") {
        read_text_stl(Lines::new(path, file))?
    } else {
        let mut text = String::new();
        let mut lines = Lines::new(path, file);
        let has_line = lines.next(&mut text)?.is_some();
        if has_line && obj::is_first_line(&text) {
            obj::read(lines, &mut text)?
        } else if has_line && ["vertex1_", "\u{feff}", "#"].into_iter().any(starts_with) {
            read_table(lines, &mut text)?
        } else {
            return Err(FilesError::content(path, binary_problem(count, size), EXPORT_AGAIN));
        }
    };
    if triangles.is_empty() {
        return Err(FilesError::content(path, "the mesh has no triangles", EXPORT_AGAIN));
    }
    Ok(triangles)
}

fn binary_problem(count: Option<u64>, size: u64) -> String {
    match count {
        Some(count) => {
            let expected = STL_HEADER + count * STL_TRIANGLE;
            format!("{size} bytes, but as a binary STL its header promises {count} triangles, which take {expected}: cut off, or no mesh")
        }
        None => format!("{size} bytes are too few for a mesh"),
    }
}

/// The places of the triangles that have no area: two corners in one place, or all three on a line to the last digits.
pub fn degenerate(triangles: &[Triangle]) -> Vec<usize> {
    let has_area = |[a, b, c]: &Triangle| {
        let edge = |to: &[f64; 3]| [to[0] - a[0], to[1] - a[1], to[2] - a[2]];
        let (u, v) = (edge(b), edge(c));
        let longest = u.iter().chain(&v).fold(0.0f64, |longest, x| longest.max(x.abs()));
        // Edges are scaled before they are multiplied, so that the area of a small triangle does not underflow.
        let (u, v) = (u.map(|x| x / longest), v.map(|x| x / longest));
        let normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        normal.iter().map(|x| x * x).sum::<f64>().sqrt() > 1e-12
    };
    triangles
        .iter()
        .enumerate()
        .filter(|(_, triangle)| !has_area(triangle))
        .map(|(index, _)| index)
        .collect()
}

/// Cuts a face into a fan of triangles, which is right where it is convex; else says what is wrong with it.
fn cut(face: &[[f64; 3]], triangles: &mut Vec<Triangle>) -> Result<(), String> {
    let more = face.len().saturating_sub(2);
    if more == 0 {
        return Err(format!("a face with {} corners", face.len()));
    }
    if triangles.len() + more > MOST_TRIANGLES {
        return Err(format!("more than {MOST_TRIANGLES} triangles"));
    }
    triangles.extend(face[1..].windows(2).map(|pair| [face[0], pair[0], pair[1]]));
    Ok(())
}

/// What is left of a file.
fn whole(path: &Path, mut file: File) -> Result<Vec<u8>, FilesError> {
    let mut bytes = Vec::new();
    (&mut file)
        .take(LONGEST_FILE)
        .read_to_end(&mut bytes)
        .map_err(FilesError::disk(path, "read it"))?;
    Ok(bytes)
}

fn read_binary_stl(path: &Path, bytes: &[u8]) -> Result<Vec<Triangle>, FilesError> {
    let mut triangles = Vec::new();
    for (index, record) in bytes.as_chunks::<{ STL_TRIANGLE as usize }>().0.iter().enumerate() {
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

fn read_text_stl(mut lines: Lines) -> Result<Vec<Triangle>, FilesError> {
    let mut triangles = Vec::new();
    let mut corners: Vec<[f64; 3]> = Vec::with_capacity(3);
    let mut text = String::new();
    lines.next(&mut text)?;
    while lines.next(&mut text)?.is_some() {
        let mut words = text.split_whitespace();
        let keyword = words.next().unwrap_or_default().to_ascii_lowercase();
        match keyword.as_str() {
            "vertex" if corners.len() < 3 => {
                let numbers: Vec<_> = words.map(number).collect();
                let &[Some(x), Some(y), Some(z)] = numbers.as_slice() else {
                    return Err(lines.error(format!("{} is not a corner of three finite numbers", quoted(&text)), EXPORT_AGAIN));
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
            "endsolid" if corners.is_empty() => return Ok(triangles),
            _ => return Err(lines.error(format!("{} does not belong here in a text STL", quoted(&text)), EXPORT_AGAIN)),
        }
    }
    Err(lines.error("the file ends without `endsolid`: it is cut off", EXPORT_AGAIN))
}

/// Reads a table whose first line is in `text`.
fn read_table(mut lines: Lines, text: &mut String) -> Result<Vec<Triangle>, FilesError> {
    let header = Header::parse(&lines, text, &KNOWN)?;
    if let Some(missing) = (0..9).find(|&slot| !header.has(slot)) {
        return Err(lines.error(
            format!("no column `{}`", KNOWN[missing].names[0]),
            "name all nine coordinates in the first line",
        ));
    }
    let mut triangles = Vec::new();
    while lines.next(text)?.is_some() {
        let mut triangle = Triangle::default();
        header.row(&lines, text, |column, value| {
            triangle[column.slot / 3][column.slot % 3] = column.number(&lines, value)?;
            Ok(())
        })?;
        triangles.push(triangle);
    }
    Ok(triangles)
}
