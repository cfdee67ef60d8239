//! Meshes in PLY, as text or binary: element `vertex` with x, y, z, and element `face` with a list of vertices.

use super::{EXPORT_AGAIN, face::cut};
use crate::FilesError;
use crate::columns::number;
use crate::error::quoted;
use seixo_engine::world::Triangle;
use std::path::Path;

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    LittleEndian,
    BigEndian,
}

/// A type of number: its names, its size \[bytes\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

impl Kind {
    fn of(word: &str) -> Option<Kind> {
        Some(match word {
            "char" | "int8" => Kind::Signed(1),
            "short" | "int16" => Kind::Signed(2),
            "int" | "int32" => Kind::Signed(4),
            "uchar" | "uint8" => Kind::Unsigned(1),
            "ushort" | "uint16" => Kind::Unsigned(2),
            "uint" | "uint32" => Kind::Unsigned(4),
            "float" | "float32" => Kind::Float(4),
            "double" | "float64" => Kind::Float(8),
            _ => return None,
        })
    }

    fn size(self) -> usize {
        let (Kind::Signed(size) | Kind::Unsigned(size) | Kind::Float(size)) = self;
        size
    }

    /// The number of these bytes, the least significant first.
    fn value(self, bytes: [u8; 8]) -> f64 {
        let word = u64::from_le_bytes(bytes);
        match self {
            Kind::Float(4) => f64::from(f32::from_bits(word as u32)),
            Kind::Float(_) => f64::from_bits(word),
            Kind::Unsigned(_) => word as f64,
            Kind::Signed(size) => {
                let unused = 64 - 8 * size as u32;
                ((word << unused) as i64 >> unused) as f64
            }
        }
    }
}

/// A number, or with a type of its length a list of them.
struct Property {
    name: String,
    length: Option<Kind>,
    kind: Kind,
}

struct Element {
    name: String,
    count: u64,
    properties: Vec<Property>,
}

impl Element {
    /// Takes a property of the last element of a header; none where a header has no element yet, or no such property.
    fn property(elements: &mut [Element], property: Option<Property>) -> Option<()> {
        elements.last_mut()?.properties.push(property?);
        Some(())
    }
}

/// The bytes of a file, and how far they are read.
struct Reader<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    line: u64,
    format: Format,
}

impl Reader<'_> {
    fn error(&self, problem: impl Into<String>) -> FilesError {
        match self.format {
            Format::Text => FilesError::line(self.path, self.line, problem, EXPORT_AGAIN),
            _ => FilesError::content(self.path, format!("byte {}: {}", self.at, problem.into()), EXPORT_AGAIN),
        }
    }

    /// The next line of the header.
    fn header_line(&mut self) -> Result<String, FilesError> {
        let rest = &self.bytes[self.at..];
        let Some(length) = rest.iter().take(4096).position(|&byte| byte == b'\n') else {
            return Err(self.error("the header does not end with `end_header`"));
        };
        self.at += length + 1;
        self.line += 1;
        Ok(String::from_utf8_lossy(&rest[..length]).trim().to_owned())
    }

    /// The next number of the body.
    fn number(&mut self, kind: Kind) -> Result<f64, FilesError> {
        if self.format == Format::Text {
            let rest = &self.bytes[self.at..];
            let start = rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
            self.line += rest[..start].iter().filter(|&&byte| byte == b'\n').count() as u64;
            let word = rest[start..].split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
            self.at += start + word.len();
            if word.is_empty() {
                return Err(self.error("the file ends too early"));
            }
            let word = String::from_utf8_lossy(word);
            return number(&word).ok_or_else(|| self.error(format!("{} is not a finite number", quoted(&word))));
        }
        let Some(found) = self.bytes.get(self.at..self.at + kind.size()) else {
            return Err(self.error("the file ends too early"));
        };
        let mut bytes = [0; 8];
        bytes[..found.len()].copy_from_slice(found);
        if self.format == Format::BigEndian {
            bytes[..found.len()].reverse();
        }
        let value = kind.value(bytes);
        if !value.is_finite() {
            return Err(self.error(format!("{value} is not a finite number")));
        }
        self.at += kind.size();
        Ok(value)
    }

    /// Elements that the header promises.
    fn elements(&mut self) -> Result<Vec<Element>, FilesError> {
        let mut elements: Vec<Element> = Vec::new();
        let mut format = None;
        let first = self.header_line()?;
        if first != "ply" {
            return Err(self.error(format!("a PLY begins with `ply`, and not with {}", quoted(&first))));
        }
        loop {
            let line = self.header_line()?;
            let words: Vec<&str> = line.split_whitespace().collect();
            let property = |name: &str, length: Option<&str>, kind: &str| {
                let length = length.map(|word| Kind::of(word).filter(|kind| !matches!(kind, Kind::Float(_))).ok_or(()));
                Some(Property {
                    name: name.to_owned(),
                    length: length.transpose().ok()?,
                    kind: Kind::of(kind)?,
                })
            };
            let added = match *words.as_slice() {
                ["format", word, "1.0"] => {
                    format = [
                        ("ascii", Format::Text),
                        ("binary_little_endian", Format::LittleEndian),
                        ("binary_big_endian", Format::BigEndian),
                    ]
                    .into_iter()
                    .find(|(name, _)| *name == word)
                    .map(|(_, format)| format);
                    format.map(drop)
                }
                ["comment" | "obj_info", ..] => Some(()),
                ["element", name, count] => count.parse().ok().map(|count| {
                    elements.push(Element {
                        name: name.to_owned(),
                        count,
                        properties: Vec::new(),
                    })
                }),
                ["property", "list", length, kind, name] => Element::property(&mut elements, property(name, Some(length), kind)),
                ["property", kind, name] => Element::property(&mut elements, property(name, None, kind)),
                ["end_header"] => break,
                _ => None,
            };
            if added.is_none() {
                return Err(self.error(format!("{} does not belong into the header of a PLY", quoted(&line))));
            }
        }
        self.format = format.ok_or_else(|| self.error("the header does not give the format"))?;
        Ok(elements)
    }
}

/// Whether a file that starts like this is a PLY.
pub(super) fn is_start(head: &[u8]) -> bool {
    head.starts_with(b"ply\n") || head.starts_with(b"ply\r\n")
}

/// Reads the whole of a file.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Vec<Triangle>, FilesError> {
    let mut reader = Reader {
        path,
        bytes,
        at: 0,
        line: 0,
        format: Format::Text,
    };
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    let mut face: Vec<[f64; 3]> = Vec::new();
    for element in reader.elements()? {
        let named = |names: &[&str]| {
            element
                .properties
                .iter()
                .position(|property| names.contains(&property.name.as_str()))
        };
        let places = ["x", "y", "z"].map(|name| named(&[name]));
        let list = named(&["vertex_indices", "vertex_index"]);
        let (is_vertex, is_face) = (element.name == "vertex", element.name == "face");
        if element.name == "tristrips" && element.count > 0 {
            return Err(reader.error("the surface is in strips of triangles, and faces alone are read"));
        }
        if is_vertex && places.contains(&None) || is_face && list.is_none() {
            return Err(reader.error(format!("element {} has no x, y and z, or no vertex_indices", quoted(&element.name))));
        }
        // Elements without properties take no bytes, however many they are.
        let rows = if element.properties.is_empty() { 0 } else { element.count };
        for _ in 0..rows {
            let mut corner = [0.0; 3];
            face.clear();
            for (place, property) in element.properties.iter().enumerate() {
                let Some(length) = property.length else {
                    let value = reader.number(property.kind)?;
                    if let Some(axis) = places.iter().position(|found| *found == Some(place)) {
                        corner[axis] = value;
                    }
                    continue;
                };
                for _ in 0..reader.number(length)? as u64 {
                    let index = reader.number(property.kind)?;
                    if is_face && list == Some(place) {
                        let known = (index >= 0.0).then(|| corners.get(index as usize)).flatten();
                        let Some(&corner) = known else {
                            return Err(reader.error(format!("vertex {index} is none of the {} there are, counted from 0", corners.len())));
                        };
                        face.push(corner);
                    }
                }
            }
            if is_vertex {
                corners.push(corner);
            }
            if is_face {
                cut(&face, &mut triangles).map_err(|problem| reader.error(problem))?;
            }
        }
    }
    Ok(triangles)
}
