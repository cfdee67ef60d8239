//! The reference of the scene file, key by key, from the types that also read it.
//!
//! ```
//! let keys = seixo_scene::explain::keys();
//! let gravity = keys.iter().find(|key| key.path == "world.gravity").unwrap();
//! assert_eq!(gravity.unit, "m/s^2");
//! ```

mod pages;
mod path;
mod tree;

pub use pages::pages;
pub(crate) use path::unknown_key;
pub use path::{Place, at};

use crate::quantity::pattern;
use crate::{diagnostics, schema};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use tree::Types;

/// The version that a key came with, where it does not say.
const FIRST_VERSION: &str = "0.1.0";
/// The sections in the order of a scene; a table with several places is listed in the first of them.
const SECTIONS: &[&str] = &[
    "title",
    "version",
    "run",
    "world",
    "material",
    "interaction",
    "shape",
    "start",
    "wall",
    "grains",
    "fluid",
    "inlet",
    "outlet",
    "bonds",
    "zone",
    "stage",
    "output",
    "checkpoint",
    "probe",
];
/// Stands in a path for a name that the user chooses.
const NAME: &str = "NAME";

/// A key of the scene file.
#[derive(Clone, Debug)]
pub struct Key {
    /// Sections and keys that lead to it, as in `wall.NAME.motion.servo.gain`.
    pub path: String,
    /// Meaning of the key.
    pub meaning: String,
    /// Kind of the value: "length", "whole number", "one of …", "table".
    pub kind: String,
    /// SI unit of the number; empty if there is none.
    pub unit: String,
    /// Accepted values; empty if all of the kind are accepted.
    pub range: String,
    /// Default value.
    pub default: String,
    /// Example, as a scene has it.
    pub example: String,
    /// Version of Seixo that introduced the key.
    pub since: String,
    /// Names in other programs.
    pub synonyms: Vec<&'static str>,
    /// Path that lists the keys of this table, if not here.
    pub listed_at: Option<String>,
}

/// The types and the whole schema.
fn types() -> (Types, Value) {
    let mut whole: Value = serde_json::from_str(&schema()).unwrap_or_default();
    let definitions = whole["$defs"].as_object_mut().map(std::mem::take).unwrap_or_default();
    (Types { definitions }, whole)
}

/// All keys of the scene file, section by section; the keys of a table with several places are listed at the first.
pub fn keys() -> Vec<Key> {
    let (types, whole) = types();
    let (mut met, mut keys) = (Vec::new(), Vec::new());
    types.list(&[&whole], "", &mut met, &mut keys);
    keys
}

/// The keys at and below a path, as `wall.motion.servo`; names that users choose may be omitted. A single word finds all keys of that name.
///
/// # Errors
/// If there is no such key, with a guess at the intended one.
pub fn find(topic: &str) -> Result<Vec<Key>, String> {
    let all = keys();
    let parts = |path: &str| -> Vec<String> {
        path.split('.')
            .filter(|part| *part != NAME && !part.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let wanted = parts(topic);
    let is_prefix = |path: &[String]| all.iter().any(|key| parts(&key.path).starts_with(path));
    let has_names = |table: &[String]| {
        let mut before_names = all.iter().filter_map(|key| key.path.split_once(".NAME"));
        before_names.any(|(before, _)| parts(before) == table)
    };
    let mut here = wanted.clone();
    // Tables that are listed elsewhere: continue there, and store the original path.
    let (mut moved, mut walked) = (Vec::new(), 1);
    while walked < here.len() {
        if !is_prefix(&here[..=walked]) && has_names(&here[..walked]) {
            // A name that the user chose.
            here.remove(walked);
            continue;
        }
        let asked = all.iter().find(|key| parts(&key.path) == here[..walked]);
        if let Some((asked, place)) = asked.and_then(|key| Some((key.path.clone(), key.listed_at.clone()?))) {
            let mut there = parts(&place);
            let length = there.len();
            there.extend_from_slice(&here[walked..]);
            (here, walked) = (there, length);
            moved.push((place, asked));
        }
        walked += 1;
    }
    let as_asked = |mut key: Key| {
        for (place, asked) in moved.iter().rev() {
            if let Some(rest) = key.path.strip_prefix(place) {
                key.path = format!("{asked}{rest}");
            }
        }
        key
    };
    let found: Vec<Key> = all
        .iter()
        .filter(|key| parts(&key.path).starts_with(&here))
        .cloned()
        .map(as_asked)
        .collect();
    if !found.is_empty() && !here.is_empty() {
        return Ok(found);
    }
    if let [word] = &wanted[..] {
        let named = named(&all, word).concat();
        if !named.is_empty() {
            return Ok(named);
        }
    }
    let known: BTreeSet<String> = all
        .iter()
        .flat_map(|key| [key.path.replace(".NAME", ""), key.name().to_owned()])
        .collect();
    Err(diagnostics::nearest(topic, known.iter().map(String::as_str)).map_or_else(
        || "`seixo explain` lists the sections".to_owned(),
        |near| format!("did you mean `{near}`?"),
    ))
}

/// Of these keys, those with this synonym, and the others with this name.
pub(crate) fn named(all: &[Key], word: &str) -> [Vec<Key>; 2] {
    let is_synonym = |key: &&Key| key.synonyms.iter().any(|known| known.eq_ignore_ascii_case(word));
    let (meant, others): (Vec<&Key>, Vec<&Key>) = all.iter().partition(is_synonym);
    let same = others.into_iter().filter(|key| key.name() == word);
    [meant.into_iter().cloned().collect(), same.cloned().collect()]
}

/// The accepted units of quantities.
pub fn units() -> String {
    pattern::units()
}

/// The sections, each with its meaning: the starting point.
pub fn sections() -> Vec<Key> {
    keys().into_iter().filter(|key| !key.path.contains('.')).collect()
}

impl Key {
    /// The key as a paragraph for a terminal.
    pub fn text(&self) -> String {
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" [{}]", self.unit)
        };
        let mut text = format!("{}\n    {}\n    kind:     {}{unit}\n", self.path, self.meaning, self.kind);
        let rest = [
            ("accepted", self.range.as_str()),
            ("default", &self.default),
            ("example", &self.spelled()),
            ("since", &self.since),
            ("elsewhere", &self.synonyms.join(", ")),
        ];
        for (what, value) in rest.into_iter().filter(|(_, value)| !value.is_empty()) {
            _ = writeln!(text, "    {:<9} {value}", format!("{what}:"));
        }
        if let Some(place) = &self.listed_at {
            _ = writeln!(text, "    keys:     those of {place}");
        }
        text
    }

    /// The last part of its path.
    fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// The example with its key, as a scene has it.
    fn spelled(&self) -> String {
        let name = self.name();
        let is_section = !self.path.contains('.') && self.kind.contains("table");
        match self.kind.as_str() {
            "tables by name" if is_section => format!("[{name}.{NAME}]"),
            "list: table" if is_section => format!("[[{name}]]"),
            _ if is_section => format!("[{name}]"),
            _ => format!("{name} = {}", self.example),
        }
    }
}

#[cfg(test)]
mod tests;
