//! Text tables whose first line names columns and units; what grain files and wall files have in common.

mod cells;
mod quantity;

pub(crate) use cells::Separator;
pub(crate) use quantity::{Quantity, UnitSystem};

use crate::FilesError;
use crate::error::quoted;
use crate::layer::irregular;
use cells::{bare, bracketed, unbracketed};
use quantity::without_percent;
use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest line of a text file \[bytes\].
const LONGEST_LINE: u64 = 64 << 10;
/// Most columns of a table: far beyond any use, few enough to look for each among the known ones.
const MOST_COLUMNS: usize = 1000;

/// Opens what a user names: regular files only that hold something, no longer than `limit`; gives the file and its length \[bytes\].
pub(crate) fn open_input(path: &Path, what: &'static str, limit: u64) -> Result<(File, u64), FilesError> {
    // Looked at before it is opened, because opening a pipe waits for its other end.
    let metadata = std::fs::metadata(path).map_err(FilesError::disk(path, "read it"))?;
    if let Some(found) = irregular(&metadata) {
        return Err(FilesError::NotAFile {
            path: path.to_owned(),
            found,
        });
    }
    if metadata.len() > limit {
        return Err(FilesError::TooLarge {
            path: path.to_owned(),
            what,
            size: metadata.len(),
            limit,
        });
    }
    // Files of system information say that they are empty, and some of them wait for news when they are read.
    if metadata.len() == 0 {
        return Err(FilesError::content(
            path,
            "the file is empty and says nothing",
            "give the path of a file with something in it, not one of those in which the system describes itself",
        ));
    }
    let file = File::open(path).map_err(FilesError::disk(path, "read it"))?;
    Ok((file, metadata.len()))
}

/// The lines of a text file that say something: neither blank nor a `#` comment, nor separators without values.
pub(crate) struct Lines {
    path: PathBuf,
    reader: BufReader<File>,
    number: u64,
    bytes: Vec<u8>,
    /// The decimal mark that the numbers so far have, and the line of the first of them.
    mark: Cell<Option<(char, u64)>>,
}

impl Lines {
    pub(crate) fn new(path: &Path, file: File) -> Lines {
        Lines {
            path: path.to_owned(),
            reader: BufReader::with_capacity(1 << 16, file),
            number: 0,
            bytes: Vec::new(),
            mark: Cell::new(None),
        }
    }

    /// Puts the next line into `text` and gives its number, from 1; `None` at the end of the file. Text that is not UTF-8 is taken as Latin-1.
    pub(crate) fn next(&mut self, text: &mut String) -> Result<Option<u64>, FilesError> {
        loop {
            self.bytes.clear();
            let taken = (&mut self.reader).take(LONGEST_LINE + 1).read_until(b'\n', &mut self.bytes);
            let taken = taken.map_err(FilesError::disk(&self.path, "read it"))?;
            if taken == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && (self.bytes.starts_with(&[0xff, 0xfe]) || self.bytes.starts_with(&[0xfe, 0xff])) {
                return Err(self.error("the text is in UTF-16", "save it as UTF-8, which programs also call CSV UTF-8"));
            }
            if taken as u64 > LONGEST_LINE {
                let problem = format!("a line of more than {LONGEST_LINE} bytes");
                return Err(self.error(problem, "is this a text file? Give one row a line"));
            }
            text.clear();
            match std::str::from_utf8(&self.bytes) {
                Ok(line) => text.push_str(line.trim_start_matches('\u{feff}').trim()),
                Err(_) => {
                    let line: String = self.bytes.iter().map(|&byte| char::from(byte)).collect();
                    text.push_str(line.trim());
                }
            }
            let is_separator = |c: char| matches!(c, ';' | ',' | '"') || c.is_whitespace();
            // Spreadsheets write the separator into a line of its own.
            let names_separator = self.number == 1 && text.len() <= 5 && text.to_ascii_lowercase().starts_with("sep=");
            if !(text.chars().all(is_separator) || text.starts_with('#') || names_separator) {
                return Ok(Some(self.number));
            }
        }
    }

    /// The file that is read.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// An error in the line read last.
    pub(crate) fn error(&self, problem: impl Into<String>, remedy: impl Into<String>) -> FilesError {
        self.error_at(self.number, problem, remedy)
    }

    /// An error in an earlier line.
    pub(crate) fn error_at(&self, line: u64, problem: impl Into<String>, remedy: impl Into<String>) -> FilesError {
        FilesError::line(&self.path, line.max(1), problem, remedy)
    }
}

/// A column that a kind of file may have.
pub(crate) struct Known {
    /// The names it goes by, compared by their letters and digits in lower case; the first is the one to recommend. Several columns may share a name if
    /// their units differ.
    pub(crate) names: &'static [&'static str],
    pub(crate) quantity: Quantity,
}

/// A column that a file has.
pub(crate) struct Column {
    /// Its place in the table of known columns.
    pub(crate) slot: usize,
    /// Whether the file gives its unit.
    pub(crate) has_unit: bool,
    /// Its place in a row.
    index: usize,
    /// What one unit of it is in SI.
    scale: f64,
    /// As the file spells it.
    label: String,
    /// Whether `1,234` can only be a number between 1 and 2.
    has_decimal_commas: bool,
}

/// What a label says: the known column and, if the label gives one, the size of its unit in SI.
type Meaning = (usize, Option<f64>);

/// A unit that the column of a label cannot have: the name, the unit, and the quantity of the column.
struct WrongUnit {
    name: String,
    unit: String,
    quantity: Quantity,
}

/// Finds the column that a label names; none if it is unknown.
fn meaning(label: &str, known: &[Known]) -> Result<Option<Meaning>, WrongUnit> {
    let named = |name: &str| {
        let name = bare(name);
        let matching = move |known: &&Known| !name.is_empty() && known.names.iter().any(|known| bare(known) == name);
        known.iter().filter(matching).map(|found| found.quantity).collect::<Vec<_>>()
    };
    let place = |name: &str, quantity: Quantity| {
        let name = bare(name);
        known
            .iter()
            .position(|known| known.quantity == quantity && known.names.iter().any(|known| bare(known) == name))
    };
    let with_unit = |name: &str, unit: &str| {
        let measured = |quantity: Quantity| Some((quantity, quantity.size_of(unit)?));
        let (quantity, size) = named(name).into_iter().find_map(measured)?;
        Some((place(name, quantity)?, Some(size)))
    };
    let in_brackets = bracketed(label);
    let without = without_percent(label);
    let of_percent = (without != label).then_some((without.replace("()", "").replace("[]", ""), "%"));
    for (name, unit) in in_brackets.iter().chain(&of_percent) {
        if let Some(found) = with_unit(name, unit) {
            return Ok(Some(found));
        }
    }
    if let Some(&quantity) = named(label).first() {
        return Ok(place(label, quantity).map(|slot| (slot, None)));
    }
    if let Some(found) = unbracketed(label).find_map(|(name, unit)| with_unit(name, unit)) {
        return Ok(Some(found));
    }
    match in_brackets {
        Some((name, unit)) => match named(&name).first() {
            Some(&quantity) => Err(WrongUnit {
                unit: unit.to_owned(),
                name,
                quantity,
            }),
            None => Ok(None),
        },
        None => Ok(None),
    }
}

/// How well the labels that a separator gives fit the known columns, and the number of known ones; better fits are larger.
///
/// A separator is meant if all labels are known. Spaces may also stand within names, so they are the last choice of several.
fn fit(labels: &[String], separator: Separator, known: &[Known]) -> (bool, bool, usize) {
    let named: Vec<&String> = labels.iter().filter(|label| !label.is_empty()).collect();
    let slots = (known.len()..)
        .zip(&named)
        .filter_map(|(other, label)| match meaning(label, known) {
            Ok(found) => found.map(|(slot, _)| slot),
            // The unit is wrong, but the column is known.
            Err(_) => Some(other),
        });
    let slots: Vec<usize> = slots.collect();
    let is_repeated = slots.iter().enumerate().any(|(k, slot)| slots[..k].contains(slot));
    let count = if is_repeated { 1 } else { slots.len() };
    let is_whole = !named.is_empty() && slots.len() == named.len() && !is_repeated;
    (is_whole, separator != Separator::Space && count > 1, count)
}

/// The first line of a table, understood.
pub(crate) struct Header {
    pub(crate) columns: Vec<Column>,
    /// Columns that are not read, as the file spells them.
    unread: Vec<String>,
    separator: Separator,
    /// How many columns the file has.
    width: usize,
}

impl Header {
    /// Understands the first line of a table. Columns that are not known stay unread; one at least must be known.
    pub(crate) fn parse(lines: &Lines, text: &str, known: &[Known]) -> Result<Header, FilesError> {
        let ways = Separator::ALL.into_iter().map(|separator| (separator, separator.labels(text)));
        let ways = ways.filter(|(_, labels)| labels.len() <= MOST_COLUMNS);
        let fits: Vec<_> = ways
            .map(|(separator, labels)| (fit(&labels, separator, known), separator, labels))
            .collect();
        // Of equal fits, `max_by_key` takes the last one, and the first separator is meant.
        let Some(((.., count), separator, labels)) = fits.into_iter().rev().max_by_key(|(fit, ..)| *fit) else {
            let problem = format!("the first line names more than {MOST_COLUMNS} columns, which is the limit");
            return Err(lines.error(problem, "remove those that are not needed"));
        };
        if count == 0 {
            let first = text
                .split(|c: char| matches!(c, ';' | ',') || c.is_whitespace())
                .next()
                .unwrap_or_default();
            let problem = format!("the first line must name the columns, and {} is none of them", quoted(first));
            return Err(lines.error(problem, format!("use {} with units like `x[mm]`", listed(known))));
        }
        let is_named = |label: &String| !label.is_empty();
        let width = labels.iter().rposition(is_named).map_or(0, |last| last + 1);
        let labels = labels.into_iter().take(width).collect();
        let found = Header::of_labels(lines, labels, separator, known, UnitSystem::Si)?;
        let mut columns = found.columns.iter().enumerate();
        match columns.find(|(k, column)| found.columns[..*k].iter().any(|other| other.slot == column.slot)) {
            Some((_, twice)) => Err(lines.error(
                format!("column {} is there twice", quoted(&name_of(&twice.label))),
                "remove one of them",
            )),
            None => Ok(found),
        }
    }

    /// Understands column names, in which no unit means that of a system. Columns without a name are left out.
    pub(crate) fn of_labels(
        lines: &Lines,
        labels: Vec<String>,
        separator: Separator,
        known: &[Known],
        units: UnitSystem,
    ) -> Result<Header, FilesError> {
        let (mut columns, mut unread, width) = (Vec::new(), Vec::new(), labels.len());
        for (index, label) in labels.into_iter().enumerate() {
            match meaning(&label, known) {
                Ok(Some((slot, size))) => columns.push(Column {
                    slot,
                    has_unit: size.is_some(),
                    index,
                    scale: size.unwrap_or_else(|| units.size_of(known[slot].quantity)),
                    label,
                    has_decimal_commas: separator == Separator::Semicolon,
                }),
                Ok(None) if label.is_empty() => {}
                Ok(None) => unread.push(label),
                Err(WrongUnit { name, quantity, .. }) if quantity.units().is_empty() => {
                    let problem = format!("column {} takes no unit, as {} has it", quoted(&name), quoted(&label));
                    return Err(lines.error(problem, "remove the unit"));
                }
                Err(WrongUnit { name, unit, quantity }) => {
                    let units = quantity.units().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
                    return Err(lines.error(
                        format!("column {} cannot be in {}", quoted(&name), quoted(&unit)),
                        format!("use one of {units}"),
                    ));
                }
            }
        }
        Ok(Header {
            columns,
            unread,
            separator,
            width,
        })
    }

    pub(crate) fn has(&self, slot: usize) -> bool {
        self.columns.iter().any(|column| column.slot == slot)
    }

    /// Leaves the columns of a slot unread, because another column says the same.
    pub(crate) fn leave_out(&mut self, slot: usize) {
        self.leave_out_if(|column| column.slot == slot);
    }

    /// Of several columns of one slot, leaves all but the first unread.
    pub(crate) fn leave_out_repeated(&mut self) {
        let mut seen = Vec::new();
        self.leave_out_if(|column| {
            let is_repeated = seen.contains(&column.slot);
            seen.push(column.slot);
            is_repeated
        });
    }

    fn leave_out_if(&mut self, mut is_left_out: impl FnMut(&Column) -> bool) {
        let (left_out, kept): (Vec<Column>, Vec<Column>) = self.columns.drain(..).partition(|column| is_left_out(column));
        // A column that is there twice under one name is read.
        let names = left_out.into_iter().map(|column| column.label);
        self.unread
            .extend(names.filter(|label| !kept.iter().any(|column| column.label == *label)));
        self.columns = kept;
    }

    /// Refuses columns that are not known, where each column matters.
    pub(crate) fn refuse_unread(&self, lines: &Lines, known: &[Known]) -> Result<(), FilesError> {
        match self.unread.first() {
            Some(first) => Err(lines.error(
                format!("column {} is not known here", quoted(first)),
                format!("remove it, or use one of {}", listed(known)),
            )),
            None => Ok(()),
        }
    }

    /// Adds a note that names the columns that are not read, if there are any.
    pub(crate) fn note_unread(&self, lines: &Lines, notes: &mut Vec<String>) {
        const MOST: usize = 20;
        if self.unread.is_empty() {
            return;
        }
        let mut names: Vec<String> = self.unread.iter().take(MOST).map(|label| quoted(label)).collect();
        if self.unread.len() > MOST {
            names.push(format!("{} more", self.unread.len() - MOST));
        }
        let (what, verb) = if names.len() == 1 { ("column", "is") } else { ("columns", "are") };
        add_note(
            notes,
            format!("{}: {what} {} {verb} not read", lines.path.display(), names.join(", ")),
        );
    }

    /// Hands each value of a row that is read to `put`, with its column.
    pub(crate) fn row(
        &self,
        lines: &Lines,
        text: &str,
        mut put: impl FnMut(&Column, &str) -> Result<(), FilesError>,
    ) -> Result<(), FilesError> {
        let mut cells = self.separator.cells(text);
        while cells.len() > self.width && cells.last().is_some_and(|cell| cell.is_empty()) {
            cells.pop();
        }
        // Empty cells at the end of a line are lost among its blanks.
        let is_cut = self.separator == Separator::Tab && cells.len() < self.width;
        let is_complete = is_cut && self.columns.iter().all(|column| column.index < cells.len());
        if cells.len() != self.width && !is_complete {
            let problem = format!(
                "{} values, but the header names {} columns: {}",
                cells.len(),
                self.width,
                quoted(text)
            );
            let remedy = if self.separator == Separator::Comma && cells.len() > self.width {
                "give each row one value a column. If commas are decimal, separate the columns by semicolons"
            } else {
                "give each row one value a column"
            };
            return Err(lines.error(problem, remedy));
        }
        self.columns.iter().try_for_each(|column| put(column, &cells[column.index]))
    }
}

impl Column {
    /// A finite number in SI, with a decimal point or a decimal comma, as all numbers of the file.
    pub(crate) fn number(&self, lines: &Lines, value: &str) -> Result<f64, FilesError> {
        let has_comma = value.contains(',');
        let text = if has_comma { Some(self.without_comma(lines, value)?) } else { None };
        if has_comma || value.contains('.') {
            let mark = if has_comma { ',' } else { '.' };
            match lines.mark.get() {
                None => lines.mark.set(Some((mark, lines.number))),
                Some((before, _)) if before == mark => {}
                Some((before, line)) => {
                    let words = |mark: char| if mark == ',' { "a decimal comma" } else { "a decimal point" };
                    let problem = format!("has {}, but numbers from line {line} on have {}", words(mark), words(before));
                    return Err(self.wrong(lines, value, &problem, "write all numbers of the file in one way"));
                }
            }
        }
        let number = number(text.as_deref().unwrap_or(value)).map(|number| number * self.scale);
        number
            .filter(|number| number.is_finite())
            .ok_or_else(|| self.wrong(lines, value, "is not a finite number", "write it like 0.25 or 2.5e-1"))
    }

    /// A number with a decimal comma, written with a point.
    fn without_comma(&self, lines: &Lines, value: &str) -> Result<String, FilesError> {
        let (whole, rest) = value.split_once(',').unwrap_or((value, ""));
        if whole.contains('.') || rest.contains(['.', ',']) {
            let problem = "has more than one decimal mark";
            return Err(self.wrong(
                lines,
                value,
                problem,
                "write it without separators of thousands, as 1234.5 or 1234,5",
            ));
        }
        let whole_digits = whole.trim_start_matches(['+', '-']);
        let is_decimal = self.has_decimal_commas || lines.mark.get().is_some_and(|(mark, _)| mark == ',');
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let groups = (1..=3).contains(&whole_digits.len()) && rest.len() == 3 && !whole_digits.starts_with('0');
        if groups && is_digits(whole_digits) && is_digits(rest) && !is_decimal {
            let problem = format!("can be {whole}.{rest} or {whole}{rest}");
            return Err(self.wrong(
                lines,
                value,
                &problem,
                "write it with a decimal point, or separate the columns by semicolons",
            ));
        }
        Ok(format!("{whole}.{rest}"))
    }

    pub(crate) fn wrong(&self, lines: &Lines, value: &str, problem: &str, remedy: &str) -> FilesError {
        self.wrong_at(lines, lines.number, value, problem, remedy)
    }

    /// An error in a value of an earlier line.
    pub(crate) fn wrong_at(&self, lines: &Lines, line: u64, value: &str, problem: &str, remedy: &str) -> FilesError {
        lines.error_at(line, format!("column {}: {} {problem}", quoted(&self.label), quoted(value)), remedy)
    }
}

/// The names to recommend.
fn listed(known: &[Known]) -> String {
    known.iter().map(|known| known.names[0]).collect::<Vec<_>>().join(", ")
}

/// The name in a label.
fn name_of(label: &str) -> String {
    bracketed(label).map_or_else(|| label.to_owned(), |(name, _)| name)
}

/// Adds a note unless it is there: several sections of a scene may read one file.
pub(crate) fn add_note(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// A finite number.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
