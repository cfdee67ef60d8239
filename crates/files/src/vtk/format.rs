//! How the arrays of a file are stored.

/// Encoding of the arrays of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Compressed with zlib, and written as text (base64).
    #[default]
    Compressed,
    /// The bytes of the numbers, appended to the text of the file: larger, written and read faster, and programs can map them into memory.
    Raw,
}

impl Encoding {
    /// Every encoding, with the word for it in scenes.
    pub const ALL: [(Encoding, &'static str); 2] = [(Encoding::Compressed, "compressed"), (Encoding::Raw, "raw")];
}

/// How files are written. What they contain does not depend on the number of threads.
///
/// ```
/// use seixo_engine::state::GrainSnapshot;
/// use seixo_files::vtk::{Encoding, Format, grains};
///
/// let snapshot = GrainSnapshot::default();
/// let format = Format { threads: 4, ..Format::default() };
/// assert_eq!(format.grains(&snapshot, &[], 0.5), grains(&snapshot, &[], 0.5));
/// let raw = Format { encoding: Encoding::Raw, ..format }.grains(&snapshot, &[], 0.5);
/// assert!(String::from_utf8_lossy(&raw).contains("<AppendedData encoding=\"raw\">"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Encoding of the arrays.
    pub encoding: Encoding,
    /// Threads that compress an array at the same time, at least one.
    pub threads: usize,
}

impl Default for Format {
    /// Compressed by one thread.
    fn default() -> Format {
        Format {
            encoding: Encoding::Compressed,
            threads: 1,
        }
    }
}
