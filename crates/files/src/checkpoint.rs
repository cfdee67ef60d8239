//! Checkpoints: everything a run needs to go on, in one file that is whole or refused.
//!
//! ```text
//! magic             8 bytes   "SEIXOCKP"
//! format version    u32
//! preface           the header
//! preface, bytes    of each section: name, kind, encoding, count, stored bytes, BLAKE3 of the stored bytes; and these,
//!                   little-endian values, zstd level 1, in frames of 4 MiB
//! 0                 u32
//! seal              BLAKE3 of all bytes before
//! ```
//!
//! A preface is its length, u32, and JSON. Sections are packed as they come, a few at once, and let go of, so that saving takes little memory. A thread
//! writes them meanwhile, if one starts.
//!
//! ```
//! use seixo_engine::state::Column;
//! use seixo_files::checkpoint::{Header, newest_valid, write};
//! use seixo_files::layer::FaultyDisk;
//! use std::path::Path;
//!
//! let (disk, folder, outputs) = (FaultyDisk::new(), Path::new("/checkpoints"), serde_json::json!({}));
//! let header = Header { version: "0.1.0".into(), scene_hash: "abc".into(), time: 0.1, steps: 7, outputs };
//! write(&disk, folder, &header, |to| {
//!     to.put("radius", Column::F64(vec![1e-3]));
//!     Ok::<(), seixo_files::FilesError>(())
//! })?;
//! let (_, _, state) = newest_valid(&disk, folder)?;
//! assert_eq!(state.get("radius"), Some(&Column::F64(vec![1e-3])));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::FilesError;
use crate::error::Refused;
use crate::layer::{FileLayer, LayerFile, beside, folder_of, temporary_of, write_temporary};
use crate::parallel::in_parallel;
use seixo_engine::state::{Column, PendingColumns, Sections, State};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

/// Name of the newest checkpoint in its folder; the one before has `.prev` after it.
pub const FILE_NAME: &str = "state.checkpoint";

const MAGIC: &[u8; 8] = b"SEIXOCKP";
const FORMAT_VERSION: u32 = 2;
/// Bytes of a checkpoint without a header and sections.
const MIN: u64 = 8 + 4 + 4 + 4 + SEAL_LENGTH;
const SEAL_LENGTH: u64 = blake3::OUT_LEN as u64;
/// Longest preface \[bytes\]: a header of some ten thousand output files.
const LONGEST_PREFACE: u32 = 4 << 20;
/// Most sections.
const MAX_SECTIONS: u64 = 1 << 10;
/// Longest file \[bytes\]: some 10⁹ grains.
const LONGEST_FILE: u64 = 512 << 30;
/// A file may unpack to this many bytes …
const FREE_EXPANSION: u64 = 64 << 20;
/// … and to as many times its own length; what would unpack to more is stored as it is, so that a bomb cannot look like a checkpoint.
const MAX_EXPANSION: u64 = 256;
const USE_ANOTHER: &str = "resume from another checkpoint, or start the run again";

/// What a checkpoint says about itself besides the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the program that wrote it.
    pub version: String,
    /// BLAKE3 of the scene that it belongs to.
    pub scene_hash: String,
    /// Simulated time \[s\]; spelled as text in the file because JSON numbers lose the last bit in some readers.
    #[serde(with = "exact")]
    pub time: f64,
    /// Steps done.
    pub steps: u64,
    /// Counters of the outputs, and the [`crate::table::Mark`]s of the append-only files.
    pub outputs: serde_json::Value,
}

mod exact {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{value:?}"))
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<f64, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    F64,
    U32,
    U64,
}

impl Kind {
    fn of(column: &Column) -> Kind {
        match column {
            Column::F64(_) => Kind::F64,
            Column::U32(_) => Kind::U32,
            Column::U64(_) => Kind::U64,
        }
    }

    fn width(self) -> u64 {
        if self == Kind::U32 { 4 } else { 8 }
    }

    fn column(self, bytes: &[u8]) -> Column {
        match self {
            Kind::F64 => Column::F64(bytes.as_chunks().0.iter().map(|&value| f64::from_le_bytes(value)).collect()),
            Kind::U32 => Column::U32(bytes.as_chunks().0.iter().map(|&value| u32::from_le_bytes(value)).collect()),
            Kind::U64 => Column::U64(bytes.as_chunks().0.iter().map(|&value| u64::from_le_bytes(value)).collect()),
        }
    }
}

/// Bytes of some numbers of a column.
fn plain_bytes(column: &Column, part: Range<usize>) -> Vec<u8> {
    fn all<T: Copy, const WIDTH: usize>(values: &[T], bytes_of: impl Fn(T) -> [u8; WIDTH]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(values.len() * WIDTH);
        values.iter().for_each(|&value| bytes.extend_from_slice(&bytes_of(value)));
        bytes
    }
    match column {
        Column::F64(values) => all(&values[part], f64::to_le_bytes),
        Column::U32(values) => all(&values[part], u32::to_le_bytes),
        Column::U64(values) => all(&values[part], u64::to_le_bytes),
    }
}

fn count(column: &Column) -> usize {
    match column {
        Column::F64(values) => values.len(),
        Column::U32(values) => values.len(),
        Column::U64(values) => values.len(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    Plain,
    Zstd,
}

#[derive(Serialize, Deserialize)]
struct Section {
    name: String,
    kind: Kind,
    encoding: Encoding,
    count: u64,
    stored: u64,
    blake3: String,
}

fn most_plain_bytes(stored: u64) -> u64 {
    stored.saturating_mul(MAX_EXPANSION).saturating_add(FREE_EXPANSION)
}

/// Bytes of a section that may shrink as far as it likes: of so few, all sections together stay below [`FREE_EXPANSION`].
const SMALL_SECTION: usize = (FREE_EXPANSION / MAX_SECTIONS) as usize;

/// Bytes that are packed together. A constant, as files must not depend on the number of threads.
const BLOCK: usize = 4 << 20;

/// A section as the file has it.
struct PackedSection {
    preface: Section,
    /// The stored bytes, in parts.
    stored: Vec<Vec<u8>>,
}

/// Packs the numbers of each column in blocks, each into a frame of its own; a reader takes frames that follow each other for one. Blocks of all sections
/// are packed at the same time. A section that shrinks more than a reader believes stays plain.
fn packed(sections: &[(String, Column)], threads: usize) -> io::Result<Vec<PackedSection>> {
    let blocks_of = |(section, (_, column)): (usize, &(String, Column))| {
        let (numbers, per_block) = (count(column), BLOCK / Kind::of(column).width() as usize);
        // Without numbers there is one frame, which is empty.
        let starts = (0..numbers.div_ceil(per_block).max(1)).map(move |block| block * per_block);
        starts.map(move |start| (section, start..numbers.min(start + per_block)))
    };
    let blocks: Vec<(usize, Range<usize>)> = sections.iter().enumerate().flat_map(blocks_of).collect();
    let frames = in_parallel(blocks.len(), threads, |index| {
        let (section, part) = &blocks[index];
        zstd::bulk::compress(&plain_bytes(&sections[*section].1, part.clone()), 1)
    });
    let mut stored: Vec<Vec<Vec<u8>>> = vec![Vec::new(); sections.len()];
    for ((section, _), frame) in blocks.iter().zip(frames) {
        stored[*section].push(frame?);
    }
    let prefaces = in_parallel(sections.len(), threads, |k| {
        let ((name, column), frames) = (&sections[k], &stored[k]);
        let (kind, numbers) = (Kind::of(column), count(column));
        let (plain, packed) = (numbers as u64 * kind.width(), bytes_in(frames));
        let is_believed = plain <= SMALL_SECTION as u64 || plain <= packed * MAX_EXPANSION;
        let kept_plain = (!is_believed).then(|| vec![plain_bytes(column, 0..numbers)]);
        let kept = kept_plain.as_ref().unwrap_or(frames);
        let mut hash = blake3::Hasher::new();
        kept.iter().for_each(|part| {
            hash.update(part);
        });
        let preface = Section {
            name: name.clone(),
            kind,
            encoding: if is_believed { Encoding::Zstd } else { Encoding::Plain },
            count: numbers as u64,
            stored: bytes_in(kept),
            blake3: hash.finalize().to_string(),
        };
        (preface, kept_plain)
    });
    let both = prefaces
        .into_iter()
        .zip(stored)
        .map(|((preface, kept_plain), frames)| PackedSection {
            preface,
            stored: kept_plain.unwrap_or(frames),
        });
    Ok(both.collect())
}

fn bytes_in(parts: &[Vec<u8>]) -> u64 {
    parts.iter().map(|part| part.len() as u64).sum()
}

/// Where packed sections go.
enum Destination<'a, 'file> {
    /// To the thread that writes. It takes the next sections once it has written the last, so that few are in memory.
    Thread(SyncSender<Vec<PackedSection>>),
    /// To the file, from the thread that packs: no other one started.
    File(MutexGuard<'a, Writing<'file>>),
}

/// Sections on their way to the file. Errors are returned at the end.
struct Packing<'a, 'file> {
    threads: usize,
    sections: u64,
    /// Sections that are packed together with the next ones.
    waiting: Vec<(String, Column)>,
    /// Bytes of these before they are packed.
    bytes: usize,
    to: Destination<'a, 'file>,
    failed: io::Result<()>,
}

impl Packing<'_, '_> {
    fn section(&mut self, name: &str, column: Column) -> io::Result<()> {
        self.sections += 1;
        if self.sections > MAX_SECTIONS {
            return Err(io::Error::other(format!("more than {MAX_SECTIONS} sections")));
        }
        self.bytes += count(&column) * Kind::of(&column).width() as usize;
        self.waiting.push((name.to_owned(), column));
        // A block for each thread.
        if self.bytes >= BLOCK * self.threads { self.pack() } else { Ok(()) }
    }

    /// Packs the sections that wait.
    fn pack(&mut self) -> io::Result<()> {
        let sections = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        let packed = packed(&sections, self.threads)?;
        drop(sections);
        match &mut self.to {
            // The thread that writes has an error of its own if it takes no more.
            Destination::Thread(thread) => thread.send(packed).map_err(|_| io::Error::other("not written")),
            Destination::File(writing) => writing.sections(packed),
        }
    }

    /// Packs the rest.
    fn finish(mut self) -> io::Result<()> {
        std::mem::replace(&mut self.failed, Ok(()))?;
        self.pack()
    }
}

/// A checkpoint on its way to the disk.
struct Writing<'a> {
    file: &'a mut dyn LayerFile,
    seal: blake3::Hasher,
}

impl Writing<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.seal.update(bytes);
        self.file.write_all(bytes)
    }

    fn preface(&mut self, preface: &impl Serialize) -> io::Result<()> {
        let preface = serde_json::to_vec(preface)?;
        let length = u32::try_from(preface.len()).ok().filter(|&length| length <= LONGEST_PREFACE);
        let length =
            length.ok_or_else(|| io::Error::other(format!("a preface takes {} bytes of at most {LONGEST_PREFACE}", preface.len())))?;
        self.bytes(&length.to_le_bytes())?;
        self.bytes(&preface)
    }

    /// Begins the file.
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        self.bytes(&[&MAGIC[..], &FORMAT_VERSION.to_le_bytes()].concat())?;
        self.preface(header)
    }

    fn sections(&mut self, sections: Vec<PackedSection>) -> io::Result<()> {
        for PackedSection { preface, stored } in sections {
            self.preface(&preface)?;
            // Each part is freed once it is written.
            stored.into_iter().try_for_each(|part| self.bytes(&part))?;
        }
        Ok(())
    }

    /// Begins the file and writes the sections that arrive.
    fn all(&mut self, header: &Header, sections: &Receiver<Vec<PackedSection>>) -> io::Result<()> {
        self.begin(header)?;
        sections.iter().try_for_each(|sections| self.sections(sections))
    }

    /// Ends the file.
    fn seal(&mut self) -> io::Result<()> {
        self.bytes(&0u32.to_le_bytes())?;
        let seal = self.seal.finalize();
        self.file.write_all(seal.as_bytes())
    }
}

impl Sections for Packing<'_, '_> {
    fn put(&mut self, name: &str, column: Column) {
        if self.failed.is_ok() {
            self.failed = self.section(name, column);
        }
    }

    fn put_pending(&mut self, columns: PendingColumns) {
        let all: &mut dyn Sections = self;
        columns(all);
    }
}

/// Writes `folder/state.checkpoint`; the one that was there becomes `state.checkpoint.prev`. Once this returns, the checkpoint
/// survives a power cut; if it fails or the machine stops, an older one is still there. `save` puts the sections.
///
/// # Errors
/// If the disk fails; and what `save` returns.
pub fn write<E: From<FilesError>>(
    layer: &dyn FileLayer,
    folder: &Path,
    header: &Header,
    save: impl FnOnce(&mut dyn Sections) -> Result<(), E>,
) -> Result<PathBuf, E> {
    write_on_threads(layer, folder, 1, header, save)
}

/// As [`write()`]; this number of threads packs the sections. The file does not depend on it.
///
/// # Errors
/// As [`write()`].
pub fn write_on_threads<E: From<FilesError>>(
    layer: &dyn FileLayer,
    folder: &Path,
    threads: usize,
    header: &Header,
    save: impl FnOnce(&mut dyn Sections) -> Result<(), E>,
) -> Result<PathBuf, E> {
    let path = folder.join(FILE_NAME);
    write_keeping((layer, path.as_path()), Some(previous_of(&path)), threads, header, save)?;
    Ok(path)
}

/// Writes a checkpoint into a file of any name, in place of what was there. Once this returns, it survives a power cut; if it fails, the old file is
/// still there. `save` puts the sections.
///
/// # Errors
/// As [`write()`].
pub fn write_file<E: From<FilesError>>(
    layer: &dyn FileLayer,
    path: &Path,
    header: &Header,
    save: impl FnOnce(&mut dyn Sections) -> Result<(), E>,
) -> Result<(), E> {
    write_keeping((layer, path), None, 1, header, save)
}

fn write_keeping<E: From<FilesError>>(
    (layer, path): (&dyn FileLayer, &Path),
    previous: Option<PathBuf>,
    threads: usize,
    header: &Header,
    save: impl FnOnce(&mut dyn Sections) -> Result<(), E>,
) -> Result<(), E> {
    let (mut save, mut not_saved) = (Some(save), None);
    let written = write_sections((layer, path), previous, threads, header, &mut |to| {
        // Called once.
        not_saved = save.take().and_then(|save| save(to).err());
        if not_saved.is_some() {
            Err(io::Error::other("not saved"))
        } else {
            Ok(())
        }
    });
    match (not_saved, written) {
        (Some(error), _) => Err(error),
        (None, written) => {
            written.map_err(FilesError::disk(path, "write the checkpoint"))?;
            Ok(())
        }
    }
}

fn write_sections(
    (layer, path): (&dyn FileLayer, &Path),
    previous: Option<PathBuf>,
    threads: usize,
    header: &Header,
    save: &mut dyn FnMut(&mut dyn Sections) -> io::Result<()>,
) -> io::Result<()> {
    let folder = folder_of(path);
    layer.create_dir_all(folder)?;
    let temporary = write_temporary(layer, path, &mut |file| {
        let writing = Mutex::new(Writing {
            file,
            seal: blake3::Hasher::new(),
        });
        let lock = || writing.lock().unwrap_or_else(PoisonError::into_inner);
        thread::scope(|scope| {
            let (to_thread, arriving) = sync_channel(0);
            let writes = Builder::new().spawn_scoped(scope, move || lock().all(header, &arriving)).ok();
            let to = if writes.is_some() {
                Destination::Thread(to_thread)
            } else {
                let mut writing = lock();
                writing.begin(header)?;
                Destination::File(writing)
            };
            let mut packing = Packing {
                threads: threads.max(1),
                sections: 0,
                waiting: Vec::new(),
                bytes: 0,
                to,
                failed: Ok(()),
            };
            let saved = save(&mut packing).and_then(|()| packing.finish());
            let written = writes.map(|writes| writes.join().unwrap_or_else(|panic| resume_unwind(panic)));
            // If the file failed, nothing more could be packed.
            written.unwrap_or(Ok(()))?;
            saved
        })?;
        lock().seal()
    })?;
    // The new file's name is made durable first: from here on it stands in for the current one even if that is damaged.
    layer.sync_dir(folder)?;
    if let Some(previous) = previous
        && layer.exists(path)?
    {
        layer.rename(path, &previous)?;
    }
    layer.rename(&temporary, path)?;
    layer.sync_dir(folder)
}

fn previous_of(path: &Path) -> PathBuf {
    beside(path, ".prev")
}

/// Reads a checkpoint and checks all of it. No more memory is taken than its state fills, and none for a file that lies about its size.
pub fn read(layer: &dyn FileLayer, path: &Path) -> Result<(Header, State), FilesError> {
    let disk = |source| FilesError::disk(path, "read the checkpoint")(source);
    let size = layer.size(path).map_err(disk)?;
    if size > LONGEST_FILE {
        return Err(FilesError::TooLarge {
            path: path.to_owned(),
            what: "a checkpoint",
            size,
            limit: LONGEST_FILE,
        });
    }
    let mut input = Sealed {
        input: layer.open(path).map_err(disk)?,
        seal: blake3::Hasher::new(),
        left: size,
    };
    let refused = |refused: Refused| refused.at((path, "read the checkpoint"), "the checkpoint ends too early", USE_ANOTHER);
    decode(&mut input).map_err(refused)
}

fn refused<T>(problem: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Content(problem.into()))
}

/// A reader that remembers the hash of what it gave, and how much is left.
struct Sealed {
    input: Box<dyn Read + Send>,
    seal: blake3::Hasher,
    left: u64,
}

impl Sealed {
    fn take(&mut self, length: u64) -> Result<Vec<u8>, Refused> {
        if length > self.left {
            return Err(Refused::Disk(io::ErrorKind::UnexpectedEof.into()));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
        (&mut self.input).take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length {
            return Err(Refused::Disk(io::ErrorKind::UnexpectedEof.into()));
        }
        self.left -= length;
        self.seal.update(&bytes);
        Ok(bytes)
    }

    fn take_u32(&mut self) -> Result<u32, Refused> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// The next preface; none where there are no more.
    fn take_preface<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Refused> {
        let length = self.take_u32()?;
        if length == 0 {
            return Ok(None);
        }
        if length > LONGEST_PREFACE {
            return refused(format!("a preface of {length} bytes does not fit (limit {LONGEST_PREFACE})"));
        }
        let preface = self.take(length.into())?;
        serde_json::from_slice(&preface).map_or_else(
            |error| refused(format!("a preface in it is damaged: {error}")),
            |preface| Ok(Some(preface)),
        )
    }
}

fn decode(input: &mut Sealed) -> Result<(Header, State), Refused> {
    let size = input.left;
    if size < MIN {
        return refused(format!("{size} bytes are too few for a checkpoint"));
    }
    if input.take(8)? != MAGIC {
        return refused("this is not a Seixo checkpoint");
    }
    let version = input.take_u32()?;
    if version != FORMAT_VERSION {
        return refused(format!(
            "checkpoint format {version}, but this program reads format {FORMAT_VERSION}"
        ));
    }
    let Some(header) = input.take_preface::<Header>()? else {
        return refused("it has no header");
    };
    let mut state = State::default();
    let (mut stored, mut plain) = (0u64, 0u64);
    while let Some(section) = input.take_preface::<Section>()? {
        // What a section promises is weighed against the bytes that are there before any of it is unpacked.
        if section.stored > input.left {
            return Err(Refused::Disk(io::ErrorKind::UnexpectedEof.into()));
        }
        stored += section.stored;
        plain = plain.saturating_add(section.count.saturating_mul(section.kind.width()));
        let limit = most_plain_bytes(stored);
        if plain > limit || state.sections.len() as u64 == MAX_SECTIONS {
            return refused(format!(
                "it claims to unpack to {plain} bytes in {} sections or more; of {stored} bytes, {limit} are believed",
                state.sections.len() + 1
            ));
        }
        let column = decode_section(input, &section)?;
        state.sections.push((section.name, column));
    }
    let seal = input.seal.finalize();
    if input.take(SEAL_LENGTH)? != seal.as_bytes() {
        return refused("the checksum over the whole file is wrong: the file is damaged");
    }
    if input.left > 0 {
        return refused(format!("{} bytes follow its end: damaged", input.left));
    }
    Ok((header, state))
}

fn decode_section(input: &mut Sealed, section: &Section) -> Result<Column, Refused> {
    let name = &section.name;
    let stored = input.take(section.stored)?;
    if blake3::hash(&stored).to_string() != section.blake3 {
        return refused(format!("the checksum of section `{name}` is wrong: the file is damaged"));
    }
    let expected = usize::try_from(section.count * section.kind.width()).unwrap_or(usize::MAX);
    let plain = match section.encoding {
        Encoding::Plain => stored,
        Encoding::Zstd => {
            let mut plain = Vec::new();
            plain.try_reserve_exact(expected)?;
            match zstd::bulk::Decompressor::new()?.decompress_to_buffer(&stored, &mut plain) {
                Ok(_) => plain,
                Err(error) => return refused(format!("section `{name}` cannot be unpacked: {error}")),
            }
        }
    };
    if plain.len() != expected {
        return refused(format!("section `{name}` holds {} bytes instead of {expected}", plain.len()));
    }
    Ok(section.kind.column(&plain))
}

/// The newest checkpoint of a folder that is whole: the current one, else the one before it (the path says which).
/// Where both are damaged and a complete one was about to take its place, that one is put there and returned.
pub fn newest_valid(layer: &dyn FileLayer, folder: &Path) -> Result<(PathBuf, Header, State), FilesError> {
    let current = folder.join(FILE_NAME);
    let pending = temporary_of(&current);
    let mut reasons = Vec::new();
    for path in [current.clone(), previous_of(&current), pending.clone()] {
        match read(layer, &path) {
            Ok((header, state)) if path == pending => {
                let finish = layer.rename(&pending, &current).and_then(|()| layer.sync_dir(folder));
                finish.map_err(FilesError::disk(&current, "finish the interrupted checkpoint"))?;
                return Ok((current, header, state));
            }
            Ok((header, state)) => return Ok((path, header, state)),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    Err(FilesError::NoCheckpoint {
        folder: folder.to_owned(),
        reasons: reasons.join("\n"),
    })
}

/// BLAKE3 of a state's canonical bytes: equal exactly for states that are equal bit for bit.
pub fn digest(state: &State) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, column) in &state.sections {
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        let count = count(column);
        hasher.update(&[Kind::of(column) as u8]).update(&(count as u64).to_le_bytes());
        hasher.update(&plain_bytes(column, 0..count));
    }
    hasher.finalize().to_string()
}
