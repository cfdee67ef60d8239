//! Where the arrays of a file go: into its text, or behind it.

use super::values::Values;
use super::{BLOCK, Encoding, Format};
use crate::parallel::in_parallel;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::fmt::Write as _;
use std::io::Write as _;

/// Multiple of bytes at which raw arrays begin in a file: numbers of mapped arrays must not lie across words.
const ALIGNMENT: usize = 8;

/// Bytes that are encoded as text together. Each three are four letters, so that parts of a multiple of three join to the text of all.
const ENCODED: usize = 3 << 17;

/// The arrays of a file in the making, in its format.
pub(super) struct ArrayStore {
    format: Format,
    /// Raw arrays, each behind its length.
    appended: Vec<u8>,
}

impl ArrayStore {
    pub fn new(format: Format) -> ArrayStore {
        ArrayStore {
            format,
            appended: Vec::new(),
        }
    }

    /// The attribute of the file that names its compressor.
    pub fn attribute(&self) -> &'static str {
        match self.format.encoding {
            Encoding::Compressed => r#" compressor="vtkZLibDataCompressor""#,
            Encoding::Raw => "",
        }
    }

    /// Makes room for arrays of this many bytes before they are packed.
    pub fn reserve(&mut self, text: &mut String, bytes: usize) {
        match self.format.encoding {
            Encoding::Compressed => text.reserve_exact(bytes * 3 / 2),
            Encoding::Raw => self.appended.reserve(bytes),
        }
    }

    /// Adds an array with these further attributes.
    pub fn array(&mut self, to: &mut String, name: &str, values: &Values, further: &str) {
        let _ = write!(to, r#"<DataArray {} Name="{name}"{further} "#, values.attributes());
        match self.format.encoding {
            Encoding::Compressed => {
                to.push_str(r#"format="binary">"#);
                pack(to, values, self.format.threads);
                to.push_str("</DataArray>\n");
            }
            Encoding::Raw => {
                let _ = writeln!(to, r#"format="appended" offset="{}"/>"#, self.append(values));
            }
        }
    }

    /// Appends an array behind its length, and returns the place of the length.
    fn append(&mut self, values: &Values) -> usize {
        let start = self.appended.len().next_multiple_of(ALIGNMENT);
        self.appended.resize(start, 0);
        self.appended.extend_from_slice(&(values.bytes() as u64).to_le_bytes());
        for block in 0..values.bytes().div_ceil(BLOCK) {
            self.appended.extend_from_slice(&values.block(block));
        }
        start
    }

    /// The whole file, of which this is the text up to the end of the data.
    pub fn finish(self, mut text: String) -> Vec<u8> {
        if self.format.encoding == Encoding::Raw {
            text.push_str("<AppendedData encoding=\"raw\">\n");
            // Behind the character that ends the text, data begin at a whole word.
            let before = (text.len() + 1).next_multiple_of(ALIGNMENT) - 1;
            text.extend(std::iter::repeat_n(' ', before - text.len()));
            text.push('_');
        }
        let mut bytes = text.into_bytes();
        if self.format.encoding == Encoding::Raw {
            bytes.extend_from_slice(&self.appended);
            bytes.extend_from_slice(b"\n</AppendedData>\n");
        }
        bytes.extend_from_slice(b"</VTKFile>\n");
        bytes
    }
}

/// Blocks of zlib behind a header of their number, size, last size (0 = full) and packed sizes; header and blocks are base64 each.
fn pack(out: &mut String, values: &Values, threads: usize) {
    let bytes = values.bytes();
    let blocks = in_parallel(bytes.div_ceil(BLOCK), threads, |block| {
        let mut packed = Vec::new();
        let mut encoder = ZlibEncoder::new(&mut packed, Compression::new(1));
        // A vector in memory takes every write.
        let _ = encoder.write_all(&values.block(block)).and_then(|()| encoder.try_finish());
        drop(encoder);
        packed
    });
    let header = [blocks.len() as u64, BLOCK as u64, (bytes % BLOCK) as u64];
    let sizes = blocks.iter().map(|block| block.len() as u64);
    let header: Vec<u8> = header.into_iter().chain(sizes).flat_map(u64::to_le_bytes).collect();
    STANDARD.encode_string(header, out);
    let packed = blocks.concat();
    let parts: Vec<&[u8]> = packed.chunks(ENCODED).collect();
    let texts = in_parallel(parts.len(), threads, |part| STANDARD.encode(parts[part]));
    texts.iter().for_each(|text| out.push_str(text));
}
