//! Arrays of a `.vtp` or `.vti`, found without unpacking them, so that a program reads only those that it needs.
//!
//! The header of a packed array has the length of its text. The search steps over this text, and takes as long for a large file as for a small
//! one. Raw arrays are not even read: [`VtkArray::raw_range`] says where a program finds them.

use super::BLOCK;
use super::read::{LONGEST_FILE, attribute, count_of, names_of, unpack};
use crate::FilesError;
use crate::columns::{number, open_input};
use crate::error::{Refused, quoted};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Longest tag, or text that is not packed \[bytes\]: the names of some 10⁵ walls.
const LONGEST_TEXT: u64 = 16 << 20;
const REMEDY: &str = "give a .vtp or .vti file that Seixo wrote";
const COMPRESSOR: &str = "vtkZLibDataCompressor";
/// The end of a file behind what is appended.
const END: &[u8; 28] = b"\n</AppendedData>\n</VTKFile>\n";
/// Bytes of the length of a raw array.
const LENGTH: u64 = 8;

/// Numbers of an array, in the type that they have in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum VtkNumbers {
    /// Double precision.
    F64(Vec<f64>),
    /// Single precision.
    F32(Vec<f32>),
    /// Whole numbers, not negative.
    U32(Vec<u32>),
    /// Whole numbers.
    I64(Vec<i64>),
}

/// Type of the numbers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VtkType {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
    /// Whole numbers of 32 bits, not negative.
    U32,
    /// Whole numbers of 64 bits.
    I64,
}

impl VtkType {
    fn named(name: &str) -> Option<VtkType> {
        match name {
            "Float64" => Some(VtkType::F64),
            "Float32" => Some(VtkType::F32),
            "UInt32" => Some(VtkType::U32),
            "Int64" => Some(VtkType::I64),
            _ => None,
        }
    }

    /// Bytes of a number.
    pub fn width(self) -> usize {
        match self {
            VtkType::F64 | VtkType::I64 => 8,
            VtkType::F32 | VtkType::U32 => 4,
        }
    }

    fn numbers(self, bytes: &[u8]) -> VtkNumbers {
        match self {
            VtkType::F64 => VtkNumbers::F64(bytes.as_chunks().0.iter().map(|&value| f64::from_le_bytes(value)).collect()),
            VtkType::F32 => VtkNumbers::F32(bytes.as_chunks().0.iter().map(|&value| f32::from_le_bytes(value)).collect()),
            VtkType::U32 => VtkNumbers::U32(bytes.as_chunks().0.iter().map(|&value| u32::from_le_bytes(value)).collect()),
            VtkType::I64 => VtkNumbers::I64(bytes.as_chunks().0.iter().map(|&value| i64::from_le_bytes(value)).collect()),
        }
    }
}

/// An array of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VtkArray {
    /// Its name.
    pub name: String,
    /// What it belongs to, by VTK's word: `Points`, `PointData`, `CellData`, `Verts`, `Lines`, `Polys`, or `FieldData` for the whole file.
    pub group: String,
    /// Numbers for each point or cell.
    pub components: usize,
    /// Points or cells.
    pub count: usize,
    kind: VtkType,
    place: Place,
}

/// First byte of an array in its file, and length \[bytes\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Of its text.
    Packed(u64, u64),
    /// Of its numbers.
    Raw(u64, u64),
}

/// Where the numbers of a raw array are: one after the other, the lowest byte of each first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRange {
    /// First byte in the file, a multiple of 8.
    pub offset: u64,
    /// Length \[bytes\].
    pub length: u64,
    /// Type of the numbers.
    pub kind: VtkType,
}

impl VtkArray {
    /// Where its numbers are in the file, if they are there as they are in memory, so that a program can map them; `None` if they are compressed.
    pub fn raw_range(&self) -> Option<RawRange> {
        match self.place {
            Place::Packed(..) => None,
            Place::Raw(offset, length) => Some(RawRange {
                offset,
                length,
                kind: self.kind,
            }),
        }
    }
}

/// Points of a regular grid; x runs fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VtkGrid {
    /// The first point \[m\].
    pub origin: [f64; 3],
    /// Distances of neighboring points along x, y and z \[m\].
    pub spacing: [f64; 3],
    /// Points along x, y and z.
    pub points: [usize; 3],
}

/// What a file has, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VtkIndex {
    path: PathBuf,
    /// Time \[s\].
    pub time: f64,
    /// Number of points.
    pub points: usize,
    /// Number of vertices, lines or polygons.
    pub cells: usize,
    /// All arrays of points, cells or numbers of the whole file, in the order of the file.
    pub arrays: Vec<VtkArray>,
    /// Numbers of the whole file, by name, the time among them.
    pub numbers: Vec<(String, f64)>,
    /// Names of walls, in the order of their indices.
    pub names: Vec<String>,
    /// The grid of a `.vti`.
    pub grid: Option<VtkGrid>,
}

impl VtkIndex {
    /// Finds the arrays of a file.
    ///
    /// # Errors
    /// If the file cannot be read, is cut off, or is not one that this program wrote.
    pub fn open(path: &Path) -> Result<VtkIndex, FilesError> {
        let (file, size) = open_input(path, "a .vtp or .vti file", LONGEST_FILE)?;
        let mut index = VtkIndex {
            path: path.to_owned(),
            ..VtkIndex::default()
        };
        let mut scan = Scan {
            input: BufReader::new(file),
            at: 0,
            size,
        };
        let refused = |refused: Refused| refused.at((path, "read it"), "it is cut off, or no VTK file", REMEDY);
        index.search(&mut scan).map_err(refused)?;
        Ok(index)
    }

    /// The array of this name in a group.
    pub fn find(&self, group: &str, name: &str) -> Option<&VtkArray> {
        self.arrays.iter().find(|array| array.group == group && array.name == name)
    }

    /// Reads and unpacks an array of this file.
    ///
    /// # Errors
    /// If the file cannot be read, or was damaged or replaced.
    pub fn read(&self, array: &VtkArray) -> Result<VtkNumbers, FilesError> {
        let (Place::Packed(start, length) | Place::Raw(start, length)) = array.place;
        let bytes = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(start))?;
            let mut bytes = Vec::new();
            file.take(length).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = bytes().map_err(FilesError::disk(&self.path, "read it"))?;
        let bytes = match array.place {
            Place::Packed(..) => std::str::from_utf8(&bytes).ok().and_then(unpack),
            Place::Raw(..) => Some(bytes),
        };
        let expected = array.count * array.components * array.kind.width();
        match bytes.filter(|bytes| bytes.len() == expected) {
            Some(bytes) => Ok(array.kind.numbers(&bytes)),
            None => Err(FilesError::content(
                &self.path,
                format!("array `{}` is damaged", array.name),
                REMEDY,
            )),
        }
    }

    fn search(&mut self, scan: &mut Scan) -> Result<(), Refused> {
        let (mut group, mut is_compressed, mut appended) = (String::new(), false, Vec::new());
        loop {
            let tag = scan.tag()?;
            let name = tag.split_whitespace().next().unwrap_or_default();
            match name {
                "VTKFile" => is_compressed = check_encoding(&tag)?,
                "ImageData" => self.grid = Some(grid(&tag)?),
                "Piece" => self.count(&tag)?,
                "DataArray" if attribute(&tag, "format") == Some("ascii") => self.number(scan, &tag)?,
                "DataArray" if attribute(&tag, "format") == Some("appended") => {
                    appended.push((Described::by(&tag, &group)?, start_of(&tag)?))
                }
                "DataArray" if is_compressed => self.packed(scan, Described::by(&tag, &group)?)?,
                "DataArray" => return Err(other("compressor", "", COMPRESSOR).into()),
                "AppendedData" => {
                    self.appended(scan, &tag, std::mem::take(&mut appended))?;
                    break;
                }
                "Array" => self.names = names_of(&scan.text_before_tag()?)?,
                "/VTKFile" => break,
                _ if name.starts_with(['/', '?']) => {}
                _ => group = name.to_owned(),
            }
        }
        if let Some((array, _)) = appended.first() {
            return Err(array.damaged().into());
        }
        let time = self.numbers.iter().find(|(name, _)| name == "TimeValue");
        self.time = time.map(|(_, time)| *time).ok_or_else(|| "it has no time".to_owned())?;
        Ok(())
    }

    fn count(&mut self, piece: &str) -> Result<(), String> {
        if let Some(grid) = &self.grid {
            let [x, y, z] = grid.points;
            let points = x.checked_mul(y).and_then(|points| points.checked_mul(z));
            self.points = points.ok_or("its grid has too many points")?;
            return Ok(());
        }
        self.points = count_of(piece, "NumberOfPoints", "points")?;
        let counts = ["NumberOfVerts", "NumberOfLines", "NumberOfPolys"].map(|key| attribute(piece, key));
        self.cells = counts.into_iter().flatten().find_map(|count| count.parse().ok()).unwrap_or(0);
        Ok(())
    }

    fn number(&mut self, scan: &mut Scan, tag: &str) -> Result<(), Refused> {
        let name = attribute(tag, "Name").ok_or_else(|| "an array has no name".to_owned())?.to_owned();
        let text = scan.text_before_tag()?;
        let value = number(text.trim()).ok_or_else(|| format!("its {name} {} is no number", quoted(&text)))?;
        self.numbers.push((name, value));
        Ok(())
    }

    fn packed(&mut self, scan: &mut Scan, array: Described) -> Result<(), Refused> {
        let start = scan.at;
        let bytes = scan.pass_packed()?.ok_or_else(|| array.damaged())?;
        let length = scan.at - start;
        if !scan.text_before_tag()?.is_empty() {
            return Err(array.damaged().into());
        }
        self.add(array, bytes, Place::Packed(start, length))?;
        Ok(())
    }

    /// Finds the appended arrays, each by the place of its length within what is appended; they reach to the end of the file.
    fn appended(&mut self, scan: &mut Scan, tag: &str, arrays: Vec<(Described, u64)>) -> Result<(), Refused> {
        let encoding = attribute(tag, "encoding").unwrap_or_default();
        if encoding != "raw" {
            return Err(other("encoding", encoding, "raw").into());
        }
        scan.until(b'_')?;
        let start = scan.at;
        let end = scan.size.checked_sub(END.len() as u64).filter(|&end| end >= start);
        let end = end.ok_or_else(|| io::Error::from(ErrorKind::UnexpectedEof))?;
        if scan.bytes_at(end)? != *END {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        for (array, place) in arrays {
            // Behind its length.
            let place = place
                .checked_add(start)
                .filter(|&place| place < end)
                .ok_or_else(|| array.damaged())?;
            let (length, first) = (u64::from_le_bytes(scan.bytes_at(place)?), place + LENGTH);
            if first.checked_add(length).is_none_or(|last| last > end) {
                return Err(array.damaged().into());
            }
            let bytes = usize::try_from(length).map_err(|_| array.damaged())?;
            self.add(array, bytes, Place::Raw(first, length))?;
        }
        Ok(())
    }

    /// Adds an array of this many bytes.
    fn add(&mut self, array: Described, bytes: usize, place: Place) -> Result<(), String> {
        let Described {
            name,
            group,
            components,
            kind,
        } = array;
        let (count, width) = (bytes / (components * kind.width()), components * kind.width());
        let expected = match group.as_str() {
            "Points" | "PointData" => self.points,
            "CellData" => self.cells,
            _ => count,
        };
        if count != expected || count * width != bytes {
            return Err(format!("array `{name}` has {bytes} bytes for {expected} times {width}"));
        }
        self.arrays.push(VtkArray {
            name,
            group,
            components,
            count,
            kind,
            place,
        });
        Ok(())
    }
}

/// What the tag of an array says.
struct Described {
    name: String,
    group: String,
    components: usize,
    kind: VtkType,
}

impl Described {
    fn by(tag: &str, group: &str) -> Result<Described, String> {
        let name = attribute(tag, "Name").ok_or("an array has no name")?.to_owned();
        let of_type = attribute(tag, "type").unwrap_or_default();
        let kind = VtkType::named(of_type).ok_or_else(|| format!("array `{name}` is of type {}", quoted(of_type)))?;
        let components = attribute(tag, "NumberOfComponents").unwrap_or("1");
        let components = components.parse::<usize>().ok().filter(|components| (1..=9).contains(components));
        let components = components.ok_or_else(|| format!("array `{name}` does not count its components"))?;
        Ok(Described {
            name,
            group: group.to_owned(),
            components,
            kind,
        })
    }

    fn damaged(&self) -> String {
        format!("array `{}` is damaged", self.name)
    }
}

/// Place of an appended array within what is appended.
fn start_of(tag: &str) -> Result<u64, String> {
    let start = attribute(tag, "offset").and_then(|start| start.parse().ok());
    start.ok_or_else(|| "an array has no place".to_owned())
}

fn other(key: &str, found: &str, expected: &str) -> String {
    format!("its {key} is {}, not `{expected}`", quoted(found))
}

/// Whether arrays are compressed; they are raw where no compressor is named.
fn check_encoding(tag: &str) -> Result<bool, String> {
    for (key, expected) in [("byte_order", "LittleEndian"), ("header_type", "UInt64")] {
        let found = attribute(tag, key).unwrap_or_default();
        if found != expected {
            return Err(other(key, found, expected));
        }
    }
    match attribute(tag, "compressor") {
        None => Ok(false),
        Some(COMPRESSOR) => Ok(true),
        Some(found) => Err(other("compressor", found, COMPRESSOR)),
    }
}

fn grid(tag: &str) -> Result<VtkGrid, String> {
    let three = |key: &str| -> Option<[f64; 3]> {
        let numbers: Option<Vec<f64>> = attribute(tag, key)?.split_whitespace().map(number).collect();
        numbers?.try_into().ok()
    };
    let points = || -> Option<[usize; 3]> {
        let ends: Result<Vec<usize>, _> = attribute(tag, "WholeExtent")?.split_whitespace().map(str::parse).collect();
        match ends.ok()?.as_slice() {
            &[0, x, 0, y, 0, z] => Some([x.checked_add(1)?, y.checked_add(1)?, z.checked_add(1)?]),
            _ => None,
        }
    };
    match (three("Origin"), three("Spacing"), points()) {
        (Some(origin), Some(spacing), Some(points)) => Ok(VtkGrid { origin, spacing, points }),
        _ => Err("it does not give origin, spacing and extent of its grid".into()),
    }
}

/// Characters of base64 for this number of bytes.
fn encoded(bytes: u64) -> Option<u64> {
    bytes.div_ceil(3).checked_mul(4)
}

/// A file that is read from its start to its end.
struct Scan {
    input: BufReader<File>,
    /// Place of the next byte.
    at: u64,
    size: u64,
}

impl Scan {
    /// Bytes that follow; none if the file grew in the meantime.
    fn left(&self) -> u64 {
        self.size.saturating_sub(self.at)
    }

    fn until(&mut self, end: u8) -> Result<String, Refused> {
        let mut bytes = Vec::new();
        self.at += Read::by_ref(&mut self.input).take(LONGEST_TEXT).read_until(end, &mut bytes)? as u64;
        if bytes.pop() != Some(end) {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        String::from_utf8(bytes).map_err(|_| "this is not a text file".to_owned().into())
    }

    /// The bytes at this place; an error if the file ends before the last.
    fn bytes_at<const COUNT: usize>(&mut self, place: u64) -> io::Result<[u8; COUNT]> {
        let mut bytes = [0; COUNT];
        self.input.seek(SeekFrom::Start(place))?;
        self.input.read_exact(&mut bytes)?;
        self.at = place + COUNT as u64;
        Ok(bytes)
    }

    /// The inside of the next tag, without its brackets. What is left of a tag that [`Scan::text_before_tag`] began is skipped.
    fn tag(&mut self) -> Result<String, Refused> {
        self.until(b'<')?;
        self.until(b'>')
    }

    /// The text up to the next tag, which begins with it.
    fn text_before_tag(&mut self) -> Result<String, Refused> {
        self.until(b'<')
    }

    /// The words in the next characters, which encode this number of bytes; `None` if they do not.
    fn words(&mut self, bytes: u64) -> Result<Option<Vec<u64>>, Refused> {
        let Some(length) = encoded(bytes) else { return Ok(None) };
        if length > self.left() {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        let mut text = Vec::new();
        Read::by_ref(&mut self.input).take(length).read_to_end(&mut text)?;
        self.at += text.len() as u64;
        let words = STANDARD.decode(&text).ok();
        Ok(words.map(|bytes| bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect()))
    }

    /// Passes a packed array, and returns the number of bytes that it unpacks to; `None` if its header makes no sense.
    fn pass_packed(&mut self) -> Result<Option<usize>, Refused> {
        let Some(&[blocks, block, last]) = self.words(24)?.as_deref() else {
            return Ok(None);
        };
        let Some(sizes) = blocks.checked_mul(8) else { return Ok(None) };
        let Some(sizes) = self.words(sizes)?.filter(|sizes| sizes.len() as u64 == blocks) else {
            return Ok(None);
        };
        if block != BLOCK as u64 || last >= block || (blocks == 0 && last > 0) {
            return Ok(None);
        }
        let packed = sizes.iter().try_fold(0_u64, |sum, &size| sum.checked_add(size)).and_then(encoded);
        let packed = packed.filter(|&packed| packed <= self.left());
        let Some(packed) = packed.and_then(|packed| i64::try_from(packed).ok()) else {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        };
        self.input.seek_relative(packed)?;
        self.at += packed as u64;
        let full = if last > 0 { blocks - 1 } else { blocks };
        let bytes = full.checked_mul(block).and_then(|bytes| bytes.checked_add(last));
        Ok(bytes.and_then(|bytes| usize::try_from(bytes).ok()))
    }
}
