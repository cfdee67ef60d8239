//! Triangle meshes: STL, binary or text, OBJ, PLY, and text tables of nine columns `vertex1_X[m] … vertex3_Z[m]`.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("square.obj");
//! std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")?;
//! let mesh = seixo_files::mesh_in::examine(&path)?;
//! assert_eq!(mesh.format, "OBJ");
//! assert_eq!(mesh.triangles.len(), 2, "a face of four corners is two triangles");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod face;
mod obj;
mod ply;
mod stl;

use crate::FilesError;
use crate::columns::{Header, Known, Lines, Quantity, open_input};
use seixo_engine::world::Triangle;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Longest mesh file \[bytes\]: some 40 million triangles.
const LONGEST_FILE: u64 = 2 << 30;
/// Bytes that determine the format.
const LOOKED_AT: u64 = 512;
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

/// Contents of a mesh file.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFile {
    /// Its format, in words.
    pub format: &'static str,
    /// How many solids (STL as text) or objects (OBJ) it distinguishes, if its format can.
    pub solids: Option<usize>,
    /// The triangles of all of them. Those without area are kept; [`degenerate`] names them.
    pub triangles: Vec<Triangle>,
}

/// The reader that a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    BinaryStl,
    TextStl,
    Obj,
    Ply,
    Table,
    Unknown,
}

/// Reads the triangles of a mesh, see [`examine`].
pub fn read(path: &Path) -> Result<Vec<Triangle>, FilesError> {
    examine(path).map(|found| found.triangles)
}

/// Reads a mesh; the format follows from the content, and by the name where that says nothing. STL, OBJ and PLY have no unit: their numbers are taken
/// as meters.
pub fn examine(path: &Path) -> Result<MeshFile, FilesError> {
    let (file, size) = open_input(path, "a mesh", LONGEST_FILE)?;
    let kind = kind_of(path)?;
    let mut text = String::new();
    let (format, solids, triangles) = match kind {
        Kind::BinaryStl => ("binary STL", None, stl::read_binary(path, file, size)?),
        Kind::Ply => ("PLY", None, ply::read(path, &whole(path, file)?)?),
        Kind::Unknown => {
            let problem = format!("{size} bytes that begin neither an STL nor an OBJ, a PLY or a table of corners: no mesh");
            return Err(FilesError::content(path, problem, EXPORT_AGAIN));
        }
        Kind::TextStl | Kind::Obj | Kind::Table => {
            let mut lines = Lines::new(path, file);
            if lines.next(&mut text)?.is_none() {
                return Err(FilesError::content(path, "the file says nothing", EXPORT_AGAIN));
            }
            match kind {
                Kind::TextStl => {
                    let (triangles, solids) = stl::read_text(lines, &mut text)?;
                    ("STL as text", Some(solids), triangles)
                }
                Kind::Obj => {
                    let (triangles, objects) = obj::read(lines, &mut text)?;
                    ("OBJ", Some(objects).filter(|&objects| objects > 0), triangles)
                }
                _ => ("table of corners", None, read_table(lines, &mut text)?),
            }
        }
    };
    if triangles.is_empty() {
        return Err(FilesError::content(path, "the mesh has no triangles", EXPORT_AGAIN));
    }
    Ok(MeshFile { format, solids, triangles })
}

/// Whether a file is meant as a mesh, by how it begins or by its name, be it sound or not.
pub fn is_mesh(path: &Path) -> Result<bool, FilesError> {
    kind_of(path).map(|kind| kind != Kind::Unknown)
}

fn kind_of(path: &Path) -> Result<Kind, FilesError> {
    let disk = |error| FilesError::disk(path, "read it")(error);
    let (mut file, size) = open_input(path, "a mesh", u64::MAX)?;
    let mut head = Vec::new();
    (&mut file).take(LOOKED_AT).read_to_end(&mut head).map_err(disk)?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let by_name = match ending.to_ascii_lowercase().as_str() {
        "stl" => Some(Kind::TextStl),
        "obj" => Some(Kind::Obj),
        "ply" => Some(Kind::Ply),
        _ => None,
    };
    if stl::is_binary(&head, size) {
        return Ok(Kind::BinaryStl);
    }
    if ply::is_start(&head) {
        return Ok(Kind::Ply);
    }
    if head.contains(&0) {
        return Ok(by_name.filter(|kind| *kind != Kind::TextStl).unwrap_or(Kind::BinaryStl));
    }
    file.seek(SeekFrom::Start(0)).map_err(disk)?;
    let mut text = String::new();
    Lines::new(path, file).next(&mut text)?;
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_column = |name: &str| first.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    Ok(if first.eq_ignore_ascii_case("solid") {
        Kind::TextStl
    } else if obj::is_first_word(first) {
        Kind::Obj
    } else if ["vertex1_", "vertex2_", "vertex3_"].into_iter().any(is_column) {
        Kind::Table
    } else {
        by_name.unwrap_or(Kind::Unknown)
    })
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

/// What is left of a file.
fn whole(path: &Path, mut file: File) -> Result<Vec<u8>, FilesError> {
    let mut bytes = Vec::new();
    (&mut file)
        .take(LONGEST_FILE)
        .read_to_end(&mut bytes)
        .map_err(FilesError::disk(path, "read it"))?;
    Ok(bytes)
}

/// Reads a table whose first line is in `text`.
fn read_table(mut lines: Lines, text: &mut String) -> Result<Vec<Triangle>, FilesError> {
    let header = Header::parse(&lines, text, &KNOWN)?;
    header.refuse_unread(&lines, &KNOWN)?;
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
