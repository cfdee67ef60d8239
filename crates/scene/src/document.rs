//! The scene file as a tree of nodes with their positions in the file; `--set` edits the tree.

use crate::diagnostics::{Diagnostics, MOST, Place, UnlocatedDiagnostic};
use std::{collections::BTreeMap, io::Read, ops::Range, path::Path};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// A value and its position.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub value: Value,
    pub place: Place,
}

/// The content of a node.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    List(Vec<Node>),
    Table(BTreeMap<String, Entry>),
}

/// A node and its key.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: Place,
    pub node: Node,
}

impl Node {
    /// The root of a scene file; syntax errors are pushed to `found`, and the tree then lacks the unreadable parts.
    pub fn parse(text: &str, found: &mut Diagnostics) -> Node {
        let whole = |table: BTreeMap<String, Entry>| Node {
            value: Value::Table(table),
            place: Place::Whole,
        };
        if let Err((span, complaint)) = look_over(text) {
            found.push(Place::Span(span), None, complaint);
            return whole(BTreeMap::new());
        }
        // A parser that continues after errors keeps them all: for a long text only the first one is reported.
        let (table, errors) = if text.len() <= LONGEST_RECOVERED {
            DeTable::parse_recoverable(text)
        } else {
            match DeTable::parse(text) {
                Ok(table) => (table, Vec::new()),
                Err(error) => (Spanned::new(0..0, DeTable::new()), vec![error]),
            }
        };
        found.leave_out(errors.len().saturating_sub(MOST));
        for error in errors.into_iter().take(MOST) {
            let complaint =
                UnlocatedDiagnostic::new(format!("this is not TOML: {}", error.message())).remedy("see https://toml.io for the syntax");
            found.push(error.span().map_or(Place::Whole, Place::Span), None, complaint);
        }
        whole(table.into_inner().into_iter().map(entry).collect())
    }

    /// Sets the value at a dotted path, and creates missing tables.
    ///
    /// # Errors
    /// If a part of the path is not a table.
    pub fn set(&mut self, path: &str, value: &str, place: &Place) -> Result<(), UnlocatedDiagnostic> {
        if path.matches('.').count() > MAX_LEVELS {
            return Err(UnlocatedDiagnostic::new("--set: the path has too many levels")
                .limit(format!("{MAX_LEVELS} levels"))
                .remedy("name a key of the scene, as in --set run.until=2"));
        }
        let mut node = self;
        for key in path.split('.') {
            let is_list = matches!(node.value, Value::List(_));
            let Value::Table(table) = &mut node.value else {
                let remedy = if is_list {
                    "change the item of this list in the scene file; --set reaches whole lists only"
                } else {
                    "name a key of the scene, as in --set run.until=2"
                };
                return Err(UnlocatedDiagnostic::new(format!("--set {path}: `{key}` is not inside a table")).remedy(remedy));
            };
            let fresh = || Entry {
                key: place.clone(),
                node: Node {
                    value: Value::Table(BTreeMap::new()),
                    place: place.clone(),
                },
            };
            node = &mut table.entry(key.to_owned()).or_insert_with(fresh).node;
        }
        let parsed = if look_over(value).is_ok() {
            DeValue::parse(value).ok()
        } else {
            None
        };
        node.value = parsed.map_or_else(|| Value::Text(value.to_owned()), |parsed| placed(parsed).value);
        node.stand_at(place);
        Ok(())
    }

    /// Removes the node at a path.
    pub fn remove(&mut self, path: &[String]) {
        let Some((last, before)) = path.split_last() else { return };
        let mut node = self;
        for key in before {
            let Value::Table(table) = &mut node.value else { return };
            let Some(entry) = table.get_mut(key) else { return };
            node = &mut entry.node;
        }
        if let Value::Table(table) = &mut node.value {
            table.remove(last);
        }
    }

    /// The node at a path, or the last existing one on the path, with the position to report: for a table that of its key.
    pub fn find<'a>(&self, path: impl Iterator<Item = &'a str>) -> (&Node, Place) {
        let mut at = (self, Place::Whole);
        for key in path {
            at = match &at.0.value {
                Value::Table(table) => match table.get(key) {
                    Some(entry) if matches!(entry.node.value, Value::Table(_)) => (&entry.node, entry.key.clone()),
                    Some(entry) => (&entry.node, entry.node.place.clone()),
                    None => return at,
                },
                Value::List(list) => match key.parse::<usize>().ok().and_then(|index| list.get(index)) {
                    Some(node) => (node, node.place.clone()),
                    None => return at,
                },
                _ => return at,
            };
        }
        at
    }

    /// Keys that lead to the node, or to the key, at a position.
    pub fn path_to(&self, place: &Place) -> Option<Vec<String>> {
        let below = |key: String, node: &Node| {
            let mut path = node.path_to(place)?;
            path.insert(0, key);
            Some(path)
        };
        match &self.value {
            _ if self.place == *place => Some(Vec::new()),
            Value::Table(table) => table.iter().find_map(|(key, entry)| {
                if entry.key == *place {
                    Some(vec![key.clone()])
                } else {
                    below(key.clone(), &entry.node)
                }
            }),
            Value::List(list) => list.iter().enumerate().find_map(|(index, node)| below(index.to_string(), node)),
            _ => None,
        }
    }

    /// Gives a node and all its children one position.
    fn stand_at(&mut self, place: &Place) {
        self.place = place.clone();
        match &mut self.value {
            Value::List(list) => list.iter_mut().for_each(|node| node.stand_at(place)),
            Value::Table(table) => table.values_mut().for_each(|entry| {
                entry.key = place.clone();
                entry.node.stand_at(place);
            }),
            _ => {}
        }
    }

    /// The value as written, shortened; `None` for tables, which are too long.
    pub fn shown(&self) -> Option<String> {
        let text = match &self.value {
            Value::Text(text) => format!("\"{}\"", text.chars().take(60).collect::<String>()),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Boolean(value) => value.to_string(),
            Value::List(list) => format!("[{}]", list.iter().take(4).filter_map(Node::shown).collect::<Vec<_>>().join(", ")),
            Value::Table(_) => return None,
        };
        Some(if text.chars().count() > 60 {
            text.chars().take(60).chain(['…']).collect()
        } else {
            text
        })
    }
}

/// Deepest nesting of tables and lists; a scene has at most 6 levels.
const MAX_LEVELS: usize = 32;
/// Largest number of words, numbers and signs of a scene: the parser needs some 100 bytes for each.
const MAX_WORDS: usize = 2_000_000;
/// Longest text in which all syntax errors are searched \[bytes\].
const LONGEST_RECOVERED: usize = 1 << 18;

/// Refuses a text that nests more deeply than [`MAX_LEVELS`], counting brackets and the dots of keys, or has more than [`MAX_WORDS`]. The check
/// precedes parsing and needs no recursion, because later code walks the tree by recursion. Tokens end where the TOML parser ends them, also in text
/// that is not TOML.
fn look_over(text: &str) -> Result<(), (Range<usize>, UnlocatedDiagnostic)> {
    let (mut at, mut depth, mut dots, mut words) = (0, 0, 0, 0);
    let mut open: Vec<(char, usize)> = Vec::new();
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut length = first.len_utf8();
        words += usize::from(!matches!(first, ' ' | '\t'));
        match first {
            '.' => dots += 1,
            '[' | '{' => {
                open.push((if first == '[' { ']' } else { '}' }, dots + 1));
                depth += dots + 1;
                dots = 0;
            }
            ']' | '}' => {
                dots = 0;
                depth -= open.pop_if(|(closing, _)| *closing == first).map_or(0, |(_, levels)| levels);
            }
            ',' | '\n' => dots = 0,
            '=' | ' ' | '\t' | '\r' => {}
            '#' => length = rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => length = string_length(rest, first),
            _ => {
                length = rest
                    .find(['.', '=', ',', '[', ']', '{', '}', ' ', '\t', '#', '\r', '\n'])
                    .unwrap_or(rest.len())
            }
        }
        if depth + dots > MAX_LEVELS {
            let complaint = UnlocatedDiagnostic::new("tables and lists are nested too deeply").limit(format!("{MAX_LEVELS} levels"));
            return Err((
                at..at + length,
                complaint.remedy("no key of a scene is nested deeper than 6 levels"),
            ));
        }
        if words > MAX_WORDS {
            let complaint = UnlocatedDiagnostic::new("up to here the scene has more words, numbers and signs than are read");
            let complaint = complaint.limit(format!("{MAX_WORDS} of them"));
            return Err((at..at + length, complaint.remedy(IN_A_FILE)));
        }
        at += length;
    }
    Ok(())
}

/// The remedy for a scene that is too long.
const IN_A_FILE: &str = "keep grains in a file of their own and name it with `file`";

/// Length of the string at the start of `text`. An unclosed string ends with its line, or with the text if it has three quotes.
fn string_length(text: &str, quote: char) -> usize {
    let is_long = text.starts_with(&quote.to_string().repeat(3));
    let delimiter = quote.to_string().repeat(if is_long { 3 } else { 1 });
    let mut at = delimiter.len();
    while let Some(first) = text[at..].chars().next() {
        if text[at..].starts_with(&delimiter) {
            // Up to two quotes directly before the closing three belong to the string.
            let extra = if is_long {
                text[at + 3..].chars().take(2).take_while(|c| *c == quote).count()
            } else {
                0
            };
            return at + delimiter.len() + extra;
        }
        if first == '\n' && !is_long {
            return at;
        }
        let is_escape = first == '\\' && quote == '"' && text[at + 1..].starts_with(['"', '\\']);
        at += if is_escape { 2 } else { first.len_utf8() };
    }
    text.len()
}

fn entry((key, value): (Spanned<std::borrow::Cow<'_, str>>, Spanned<DeValue<'_>>)) -> (String, Entry) {
    let place = Place::Span(key.span());
    (
        key.into_inner().into_owned(),
        Entry {
            key: place,
            node: placed(value),
        },
    )
}

/// The tree of a parsed value.
fn placed(value: Spanned<DeValue<'_>>) -> Node {
    let place = Place::Span(value.span());
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(value) => Value::Integer(value),
            Err(_) => Value::Float(digits.as_str().parse().unwrap_or(f64::INFINITY)),
        },
        DeValue::Float(digits) => Value::Float(digits.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => Value::Boolean(value),
        DeValue::Datetime(value) => Value::Text(value.to_string()),
        DeValue::Array(list) => Value::List(list.iter().cloned().map(placed).collect()),
        DeValue::Table(table) => Value::Table(table.into_iter().map(entry).collect()),
    };
    Node { value, place }
}

/// Largest accepted scene file \[bytes\].
const LARGEST: u64 = 16 << 20;

/// The text of a scene file.
///
/// # Errors
/// If it is missing, not a regular file, empty, too large, or not UTF-8.
pub(crate) fn text_of(path: &Path) -> Result<String, UnlocatedDiagnostic> {
    let metadata = std::fs::metadata(path).map_err(|error| {
        UnlocatedDiagnostic::new(format!("the scene file \"{}\" cannot be opened: {error}", path.display()))
            .remedy("check the path, or write a scene to start from with `seixo new`")
    })?;
    if !metadata.is_file() {
        return Err(UnlocatedDiagnostic::new(format!("\"{}\" is not a regular file", path.display()))
            .remedy("name a scene file, such as scene.toml"));
    }
    if metadata.len() > LARGEST {
        return Err(UnlocatedDiagnostic::new(format!("the scene file holds {} bytes", metadata.len()))
            .limit(format!("{LARGEST} bytes"))
            .remedy(IN_A_FILE));
    }
    // System files such as those in /proc report a size of zero, and reading some of them blocks.
    if metadata.len() == 0 {
        return Err(UnlocatedDiagnostic::new(format!("the scene file \"{}\" is empty", path.display()))
            .limit("at least [run], and grains or a fluid")
            .remedy("name a scene file, such as scene.toml, or write one to start from with `seixo new`"));
    }
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    read.map_err(|error| {
        UnlocatedDiagnostic::new(format!("the scene file \"{}\" cannot be read: {error}", path.display())).remedy("check its permissions")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        UnlocatedDiagnostic::new(format!(
            "the scene file is not UTF-8 text at byte {}",
            error.utf8_error().valid_up_to()
        ))
        .remedy("save it as UTF-8")
    })
}
