//! Reads back the `.vtp` files of this program; files of other writers are refused, not guessed at.

use super::BLOCK;
use crate::FilesError;
use crate::columns::{number, open_input};
use crate::error::quoted;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// Longest file \[bytes\]: some 10⁸ grains.
pub(super) const LONGEST_FILE: u64 = 16 << 30;
/// The most that zlib unpacks from one byte.
const MAX_EXPANSION: usize = 1100;
/// The tag behind which raw arrays are appended.
const APPENDED: &[u8] = b"<AppendedData encoding=\"raw\">";
/// How far the tag of the file reaches at most \[bytes\].
const LONGEST_START: usize = 512;

/// What a file contains.
#[derive(Clone, Copy)]
pub(super) struct Content<'a> {
    /// Its text, up to the data that are appended to it.
    pub text: &'a str,
    /// Data that are appended: arrays, each behind its length.
    appended: &'a [u8],
}

impl<'a> From<&'a str> for Content<'a> {
    fn from(text: &'a str) -> Content<'a> {
        Content { text, appended: &[] }
    }
}

impl<'a> Content<'a> {
    /// Splits a file into its text and what is appended; `None` if its text is none.
    fn of(bytes: &'a [u8]) -> Option<Content<'a>> {
        let start = &bytes[..bytes.len().min(LONGEST_START)];
        // Text of a compressed file is long, and nothing is appended to it.
        let is_compressed = start.windows(12).any(|window| window == b" compressor=");
        let tag = (!is_compressed).then(|| bytes.windows(APPENDED.len()).position(|window| window == APPENDED));
        let Some(tag) = tag.flatten() else {
            return std::str::from_utf8(bytes).ok().map(Content::from);
        };
        let (text, rest) = bytes.split_at(tag);
        let first = rest.iter().position(|&byte| byte == b'_').map_or(rest.len(), |end| end + 1);
        Some(Content {
            text: std::str::from_utf8(text).ok()?,
            appended: &rest[first..],
        })
    }

    fn group(self, tag: &str) -> Result<Content<'a>, String> {
        let inside = self
            .text
            .split_once(&format!("<{tag}"))
            .and_then(|(_, rest)| rest.split_once(&format!("</{tag}>")));
        let text = inside.map(|(inside, _)| inside).ok_or_else(|| format!("it has no <{tag}>"))?;
        Ok(Content { text, ..self })
    }

    fn arrays(self) -> impl Iterator<Item = Array<'a>> {
        let elements = self.text.split("<DataArray").skip(1);
        elements.filter_map(move |element| {
            let (attributes, rest) = element.split_once('>')?;
            let body = if attributes.ends_with('/') {
                ""
            } else {
                rest.split_once("</DataArray>")?.0
            };
            Some(Array {
                attributes,
                body,
                appended: self.appended,
            })
        })
    }
}

/// Grains of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VtkPoints {
    /// Time \[s\].
    pub time: f64,
    /// Centers \[m\].
    pub position: Vec<[f64; 3]>,
    /// Radii \[m\].
    pub radius: Vec<f64>,
    /// Ids.
    pub id: Vec<u32>,
    /// Further fields: name, values one after the other, values for each grain (1, 3 or 4).
    pub scalars: Vec<(String, Vec<f64>, usize)>,
}

/// Walls of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VtkWalls {
    /// Time \[s\].
    pub time: f64,
    /// Triangles \[m\]; polygons are cut into them.
    pub triangles: Vec<[[f64; 3]; 3]>,
    /// Index into `names` for each triangle.
    pub wall: Vec<u32>,
    /// Names of the walls.
    pub names: Vec<String>,
    /// Further fields: name, and the value of each triangle's polygon.
    pub fields: Vec<(String, Vec<f64>)>,
}

/// Reads a file that [`super::grains`] made.
pub fn read_grains(path: &Path) -> Result<VtkPoints, FilesError> {
    read(path, |content| {
        let count = count_of(content.text, "NumberOfPoints", "points")?;
        let mut points = VtkPoints {
            time: time(content)?,
            ..VtkPoints::default()
        };
        points.position = vectors(find(content, "position")?.values(count, 3)?);
        for array in content.group("PointData")?.arrays() {
            let components = match array.attribute("NumberOfComponents") {
                Some("3") => 3,
                Some("4") => 4,
                _ => 1,
            };
            let values = array.values(count, components)?;
            match array.attribute("Name").ok_or("an array has no name")? {
                "radius" => points.radius = values,
                "id" => points.id = values.into_iter().map(|id| id as u32).collect(),
                name => points.scalars.push((name.to_owned(), values, components)),
            }
        }
        if points.radius.len() != count || points.id.len() != count {
            return Err("it lacks radius or id".into());
        }
        Ok(points)
    })
}

/// The parts of a list that end behind these places; `None` for one that is not in it.
pub fn parts<'a, T>(all: &'a [T], ends: &'a [i64]) -> impl Iterator<Item = Option<&'a [T]>> {
    let starts = [0].into_iter().chain(ends.iter().copied());
    starts.zip(ends).map(|(start, &end)| all.get(start as usize..end as usize))
}

impl VtkWalls {
    /// Walls whose polygons are cut into triangles, with further fields of the polygons.
    pub(super) fn fanned<'a>(
        time: f64,
        names: Vec<String>,
        polygons: impl Iterator<Item = (&'a u32, &'a [[f64; 3]])>,
        of_polygons: &[(&str, Vec<f64>)],
    ) -> VtkWalls {
        let mut walls = VtkWalls {
            time,
            names,
            fields: of_polygons.iter().map(|(name, _)| (name.to_string(), Vec::new())).collect(),
            ..VtkWalls::default()
        };
        for (index, (&wall, polygon)) in polygons.enumerate() {
            for edge in polygon.get(1..).unwrap_or_default().windows(2) {
                walls.triangles.push([polygon[0], edge[0], edge[1]]);
                walls.wall.push(wall);
                for ((_, values), (_, of_polygons)) in walls.fields.iter_mut().zip(of_polygons) {
                    values.push(of_polygons[index]);
                }
            }
        }
        walls
    }
}

/// Reads a file that [`super::walls`] made.
pub fn read_walls(path: &Path) -> Result<VtkWalls, FilesError> {
    read(path, |content| {
        let (points, polygons) = (
            count_of(content.text, "NumberOfPoints", "points")?,
            count_of(content.text, "NumberOfPolys", "polygons")?,
        );
        let corners = vectors(find(content, "position")?.values(points, 3)?);
        let wall_of = find(content, "wall")?.values(polygons, 1)?;
        let offsets = find(content, "offsets")?.values(polygons, 1)?;
        let mut of_polygons = Vec::new();
        for array in content.group("CellData")?.arrays() {
            let name = array.attribute("Name").ok_or("an array has no name")?;
            if name != "wall" {
                of_polygons.push((name, array.values(polygons, 1)?));
            }
        }
        let ends: Vec<i64> = offsets.into_iter().map(|end| end as i64).collect();
        let polygons = wall_of.iter().map(|&wall| wall as u32).collect::<Vec<_>>();
        let mut all = Vec::new();
        for polygon in parts(&corners, &ends) {
            all.push(polygon.ok_or("a polygon has corners that are not there")?);
        }
        Ok(VtkWalls::fanned(
            time(content)?,
            names(content)?,
            polygons.iter().zip(all),
            &of_polygons,
        ))
    })
}

pub(super) fn read<T>(path: &Path, parse: impl FnOnce(Content) -> Result<T, String>) -> Result<T, FilesError> {
    const REMEDY: &str = "give a .vtp file that Seixo wrote";
    const START: &[u8] = b"<?xml";
    let (mut file, _) = open_input(path, "a .vtp file", LONGEST_FILE)?;
    let mut bytes = Vec::new();
    let taken = (&mut file).take(START.len() as u64).read_to_end(&mut bytes);
    let taken = taken.and_then(|_| {
        if bytes == START {
            file.take(LONGEST_FILE).read_to_end(&mut bytes)
        } else {
            Ok(0)
        }
    });
    taken.map_err(FilesError::disk(path, "read it"))?;
    match Content::of(&bytes) {
        None => Err(FilesError::content(path, "this is not a text file", REMEDY)),
        Some(_) if !bytes.ends_with(b"</VTKFile>\n") => Err(FilesError::content(path, "it is cut off, or no VTK file", REMEDY)),
        Some(content) => parse(content).map_err(|problem| FilesError::content(path, problem, REMEDY)),
    }
}

/// The number behind the first `key`, which counts `what`.
pub(super) fn count_of(text: &str, key: &str, what: &str) -> Result<usize, String> {
    let count = attribute(text, key).and_then(|count| count.parse().ok());
    count.ok_or_else(|| format!("it does not count its {what}"))
}

/// The value of the first `key="value"`.
pub(super) fn attribute<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!(" {key}=\""))?;
    Some(rest.split_once('"')?.0)
}

pub(super) struct Array<'a> {
    attributes: &'a str,
    body: &'a str,
    /// Appended data of the file.
    appended: &'a [u8],
}

pub(super) fn find<'a>(content: impl Into<Content<'a>>, name: &str) -> Result<Array<'a>, String> {
    let content: Content<'a> = content.into();
    content
        .arrays()
        .find(|array| array.attribute("Name") == Some(name))
        .ok_or_else(|| format!("it has no array `{name}`"))
}

/// An array that files of earlier versions have under another name.
pub(super) fn find_renamed<'a>(content: Content<'a>, name: &str, earlier: &str) -> Result<Array<'a>, String> {
    find(content, name).or_else(|missing| find(content, earlier).map_err(|_| missing))
}

pub(super) fn time<'a>(content: impl Into<Content<'a>>) -> Result<f64, String> {
    single(content, "TimeValue", "time")
}

/// A number of the whole file, and what to call it.
pub(super) fn single<'a>(content: impl Into<Content<'a>>, name: &str, what: &str) -> Result<f64, String> {
    let body = find(content, name)?.body;
    number(body).ok_or_else(|| format!("its {what} {} is no number", quoted(body)))
}

fn names(content: Content) -> Result<Vec<String>, String> {
    let field_data = content.group("FieldData")?;
    let (_, list) = field_data
        .text
        .split_once("<Array")
        .and_then(|(_, rest)| rest.split_once('>'))
        .ok_or("it has no names")?;
    let (list, _) = list.split_once("</Array>").ok_or("its names do not end")?;
    names_of(list)
}

/// The names in a list of their bytes, each of which ends with a zero.
pub(super) fn names_of(list: &str) -> Result<Vec<String>, String> {
    let bytes: Vec<u8> = list
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| "its names are no bytes")?;
    let names = bytes.split_inclusive(|&byte| byte == 0);
    Ok(names
        .map(|name| String::from_utf8_lossy(name).trim_end_matches('\0').to_owned())
        .collect())
}

pub(super) fn vectors(values: Vec<f64>) -> Vec<[f64; 3]> {
    values.as_chunks().0.to_vec()
}

impl<'a> Array<'a> {
    fn attribute(&self, key: &str) -> Option<&'a str> {
        attribute(self.attributes, key)
    }

    /// The bytes of the numbers; `None` where they are not as they were written.
    fn bytes(&self) -> Option<Cow<'a, [u8]>> {
        if self.attribute("format") != Some("appended") {
            return unpack(self.body).map(Cow::Owned);
        }
        let start: usize = self.attribute("offset")?.parse().ok()?;
        let (length, rest) = self.appended.get(start..)?.split_first_chunk()?;
        let bytes = rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some(Cow::Borrowed(bytes))
    }

    /// The numbers of this array, which contains their number.
    pub(super) fn counted_values(&self) -> Result<Vec<f64>, String> {
        self.values(count_of(self.attributes, "NumberOfTuples", "numbers")?, 1)
    }

    /// The numbers of this array, which must be `count` times `components`.
    pub(super) fn values(&self, count: usize, components: usize) -> Result<Vec<f64>, String> {
        let name = self.attribute("Name").unwrap_or("without a name");
        let bytes = self.bytes().ok_or_else(|| format!("array `{name}` is damaged"))?;
        let values: Vec<f64> = match self.attribute("type") {
            Some("Float64") => bytes.as_chunks().0.iter().map(|&value| f64::from_le_bytes(value)).collect(),
            Some("Float32") => bytes
                .as_chunks()
                .0
                .iter()
                .map(|&value| f64::from(f32::from_le_bytes(value)))
                .collect(),
            Some("UInt32") => bytes
                .as_chunks()
                .0
                .iter()
                .map(|&value| f64::from(u32::from_le_bytes(value)))
                .collect(),
            Some("Int64") => bytes.as_chunks().0.iter().map(|&value| i64::from_le_bytes(value) as f64).collect(),
            other => return Err(format!("array `{name}` is of type {}", quoted(other.unwrap_or_default()))),
        };
        if Some(values.len()) != count.checked_mul(components) {
            return Err(format!(
                "array `{name}` has {} numbers for {count} times {components}",
                values.len()
            ));
        }
        Ok(values)
    }
}

/// Unpacks the text of a compressed array; `None` where it does not fit.
pub(super) fn unpack(body: &str) -> Option<Vec<u8>> {
    let body = body.trim();
    let encoded = |bytes: usize| bytes.div_ceil(3) * 4;
    let words = |bytes: &[u8]| -> Vec<u64> { bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect() };
    let start = words(&STANDARD.decode(body.get(..encoded(24))?).ok()?);
    let blocks = usize::try_from(start[0]).ok().filter(|&blocks| blocks <= body.len())?;
    let (header, packed) = body.split_at_checked(encoded(24 + 8 * blocks))?;
    let header = words(&STANDARD.decode(header).ok()?);
    let packed = STANDARD.decode(packed).ok()?;
    let (block, last) = (usize::try_from(header[1]).ok()?, usize::try_from(header[2]).ok()?);
    if block != BLOCK || last >= block {
        return None;
    }
    let mut bytes = Vec::new();
    let mut rest = packed.as_slice();
    for (index, &length) in header[3..].iter().enumerate() {
        let (part, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let expected = if index + 1 == blocks && last > 0 { last } else { block };
        if expected > part.len().saturating_mul(MAX_EXPANSION) {
            return None;
        }
        let before = bytes.len();
        ZlibDecoder::new(part).take(expected as u64).read_to_end(&mut bytes).ok()?;
        if bytes.len() - before != expected {
            return None;
        }
        rest = after;
    }
    rest.is_empty().then_some(bytes)
}
