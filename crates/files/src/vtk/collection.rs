//! The list of the files of a series.

use super::read::attribute;
use crate::FilesError;
use crate::columns::{number, open_input};
use crate::error::quoted;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

/// Longest list \[bytes\]: some 10⁷ files.
const LONGEST_FILE: u64 = 1 << 30;

/// What stands for the characters that XML has a use of its own for; the first is unpacked last.
const ESCAPES: [(&str, &str); 3] = [("&", "&amp;"), ("<", "&lt;"), ("\"", "&quot;")];

/// A `.pvd`: the files of a series with their times \[s\], by paths as seen from the folder of the `.pvd`.
pub fn collection(frames: &[(f64, String)]) -> String {
    let mut text =
        String::from("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n");
    for (time, file) in frames {
        let file = ESCAPES
            .iter()
            .fold(file.clone(), |file, (plain, escape)| file.replace(plain, escape));
        let _ = writeln!(text, r#"<DataSet timestep="{time:?}" part="0" file="{file}"/>"#);
    }
    text.push_str("</Collection>\n</VTKFile>\n");
    text
}

/// Reads a file that [`collection`] made.
///
/// # Errors
/// If the file cannot be read, is cut off, or is another one.
pub fn read_collection(path: &Path) -> Result<Vec<(f64, String)>, FilesError> {
    const REMEDY: &str = "give a .pvd file that Seixo wrote";
    let (mut file, _) = open_input(path, "a .pvd file", LONGEST_FILE)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(FilesError::disk(path, "read it"))?;
    let wrong = |problem: String| FilesError::content(path, problem, REMEDY);
    let text = String::from_utf8(bytes).map_err(|_| wrong("this is not a text file".into()))?;
    if !text.contains("<Collection>") || !text.ends_with("</VTKFile>\n") {
        return Err(wrong("it is cut off, or no list of VTK files".into()));
    }
    let mut frames = Vec::new();
    for entry in text.split("<DataSet").skip(1) {
        let time = attribute(entry, "timestep").unwrap_or_default();
        let time = number(time).ok_or_else(|| wrong(format!("its time {} is no number", quoted(time))))?;
        let file = attribute(entry, "file").ok_or_else(|| wrong("an entry names no file".into()))?;
        let unescaped = ESCAPES
            .iter()
            .rev()
            .fold(file.to_owned(), |file, (plain, escape)| file.replace(escape, plain));
        frames.push((time, unescaped));
    }
    Ok(frames)
}
