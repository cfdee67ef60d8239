//! Errors in a scene: message, position, value, limit, remedy.
//!
//! ```
//! let text = "[run]\nuntil = '2 m'\n";
//! let refused = seixo_scene::load_text(text, "drum.toml".as_ref(), &[]).unwrap_err();
//! let first = &refused.list()[0];
//! assert_eq!(refused.line_and_column(first), Some((2, 9)));
//! assert!(first.message.ends_with("is length [m], but time [s] belongs here"));
//! assert_eq!(first.remedy, "write it as in \"10 ms\"");
//! ```

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet, renderer::DecorStyle};
use std::{borrow::Cow, fmt, io::IsTerminal, ops::Range, path::PathBuf};

/// Largest number of errors that one check of a scene collects.
pub(crate) const MOST: usize = 30;
/// Largest number of kept errors if they come faster than they are counted; further ones are only counted.
const MAX_KEPT: usize = 100;
/// Longest part of a message \[characters\].
const LONGEST_PART: usize = 2000;
/// Largest number of names that are compared with a misspelled one, and of names in a list.
const MAX_COMPARED: usize = 1000;
const MAX_LISTED: usize = 60;
/// Longest line of a scene that is shown in a message \[bytes\].
const LONGEST_LINE: usize = 2000;

/// An error in a value whose position is not known yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnlocatedDiagnostic {
    /// The error.
    pub message: String,
    /// The accepted values.
    pub limit: Option<String>,
    /// The remedy.
    pub remedy: String,
}

impl UnlocatedDiagnostic {
    /// An error with its message.
    pub fn new(message: impl Into<String>) -> Self {
        UnlocatedDiagnostic {
            message: message.into(),
            ..UnlocatedDiagnostic::default()
        }
    }
    /// An error of a file, whose message ends with the remedy.
    pub(crate) fn of_file(error: &seixo_files::FilesError) -> Self {
        UnlocatedDiagnostic::from_message(&error.to_string())
    }
    /// An error from a message that ends with the remedy.
    pub(crate) fn from_message(message: &str) -> Self {
        match message.rsplit_once("; ") {
            Some((message, remedy)) => UnlocatedDiagnostic::new(message).remedy(remedy),
            None => UnlocatedDiagnostic::new(message),
        }
    }
    /// An error without a message so far.
    pub(crate) fn wanted(limit: String, remedy: String) -> Self {
        UnlocatedDiagnostic {
            message: String::new(),
            limit: Some(limit),
            remedy,
        }
    }
    /// Adds the accepted values.
    pub fn limit(mut self, limit: impl Into<String>) -> Self {
        self.limit = Some(limit.into());
        self
    }
    /// Names the part of the scene at fault.
    pub(crate) fn within(mut self, part: &str) -> Self {
        self.message = format!("{part}: {}", self.message);
        self
    }
    /// Adds the remedy.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }
}

const SEPARATOR: char = '\u{1f}';

/// Serde errors are text only: the three parts are joined with a separator.
impl fmt::Display for UnlocatedDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{SEPARATOR}{}{SEPARATOR}{}",
            self.message,
            self.limit.as_deref().unwrap_or_default(),
            self.remedy
        )
    }
}

impl From<String> for UnlocatedDiagnostic {
    fn from(text: String) -> Self {
        let mut parts = text.split(SEPARATOR).map(str::to_owned);
        UnlocatedDiagnostic {
            message: parts.next().unwrap_or_default(),
            limit: parts.next().filter(|limit| !limit.is_empty()),
            remedy: parts.next().unwrap_or_default(),
        }
    }
}

/// Position of a value of the scene.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// The scene as a whole.
    #[default]
    Whole,
    /// Bytes of the scene file.
    Span(Range<usize>),
    /// The n-th `--set`.
    Override(usize),
}

/// One error.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The error.
    pub message: String,
    /// The value as written, if one is at fault.
    pub value: Option<String>,
    /// The accepted values.
    pub limit: Option<String>,
    /// The remedy.
    pub remedy: String,
    pub(crate) place: Place,
}

/// All errors of a scene, with its text.
#[derive(Clone, Default)]
pub struct Diagnostics {
    pub(crate) file: PathBuf,
    pub(crate) text: Box<str>,
    pub(crate) overrides: Vec<String>,
    pub(crate) list: Vec<Diagnostic>,
    /// Number of further errors.
    pub(crate) left_out: u32,
    /// Checks that follow only after these errors are corrected.
    pub(crate) next: Option<Next>,
    /// Notes about keys that are valid.
    pub(crate) notices: Vec<String>,
}

/// Checks of a scene in their order: each starts only after the previous ones found no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Keys and values, one by one.
    Keys,
    /// Combinations of sections.
    Sections,
    /// The world at the start, in the engine.
    Start,
    /// Later checks of the engine.
    RestOfStart,
}

impl Next {
    fn text(self) -> &'static str {
        match self {
            Next::Keys => "keys and values, and how they fit together",
            Next::Sections => "how the sections fit together, overlaps, and the time step",
            Next::Start => "overlaps, the time step, and the rest of the start",
            Next::RestOfStart => "the rest of the start",
        }
    }
}

impl Diagnostics {
    /// All errors, in the order of the file.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }

    /// Line and column (from 1) of a diagnostic in the scene file, if it has a position there.
    pub fn line_and_column(&self, diagnostic: &Diagnostic) -> Option<(usize, usize)> {
        self.line_and_column_of(&diagnostic.place)
    }

    /// A position in words: `file:line:column`, the override, or the file.
    pub(crate) fn location_text(&self, place: &Place) -> String {
        let file = self.file.display();
        match (place, self.line_and_column_of(place)) {
            (Place::Override(index), _) => format!("--set {}", self.overrides.get(*index).map_or("", String::as_str)),
            (_, Some((line, column))) => format!("{file}:{line}:{column}"),
            (_, None) => file.to_string(),
        }
    }

    fn line_and_column_of(&self, place: &Place) -> Option<(usize, usize)> {
        let Place::Span(span) = place else { return None };
        let before = self.text.get(..span.start)?;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Some((line_number(before), before[start..].chars().count() + 1))
    }

    /// The checks that errors prevented, in a line; `None` if there are none.
    pub fn further(&self) -> Option<String> {
        let these = if self.list.len() + self.left_out as usize == 1 {
            "this is"
        } else {
            "these are"
        };
        let next = self.next?.text();
        Some(format!("to be checked once {these} mended: {next}"))
    }

    /// Whether there are so many errors that further checks only cost time.
    fn is_full(&self) -> bool {
        self.list.len() >= MAX_KEPT
    }

    pub(crate) fn push(&mut self, place: Place, value: Option<String>, complaint: UnlocatedDiagnostic) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        let UnlocatedDiagnostic { message, limit, remedy } = complaint;
        self.list.push(Diagnostic {
            message: shortened(message, LONGEST_PART),
            value: value.map(|value| shortened(value, LONGEST_PART)),
            limit: limit.map(|limit| shortened(limit, LONGEST_PART)),
            remedy: shortened(remedy, LONGEST_PART),
            place,
        });
    }

    /// Counts further errors without keeping them.
    pub(crate) fn leave_out(&mut self, count: usize) {
        self.left_out += u32::try_from(count).unwrap_or(u32::MAX);
    }

    /// Sorts by position, with overrides and the scene as a whole last.
    pub(crate) fn sort(&mut self) {
        self.list.sort_by_key(|d| match &d.place {
            Place::Span(span) => (0, span.start),
            Place::Override(index) => (1, *index),
            Place::Whole => (2, 0),
        });
        self.list.dedup_by(|a, b| a.place == b.place && a.message == b.message);
    }

    /// All messages without colors.
    pub fn plain(&self) -> String {
        self.render(&Renderer::plain())
    }

    /// All messages as a JSON array of objects with file, line, column, message, value, limit and remedy.
    pub fn to_json(&self) -> serde_json::Value {
        let entry = |d: &Diagnostic| {
            let at = self.line_and_column(d);
            let file = match d.place {
                Place::Override(_) => "--set".to_owned(),
                _ => self.file.display().to_string(),
            };
            serde_json::json!({
                "file": file, "line": at.map(|a| a.0), "column": at.map(|a| a.1),
                "message": d.message, "value": d.value, "limit": d.limit, "remedy": d.remedy,
            })
        };
        self.list.iter().map(entry).collect()
    }

    fn render(&self, renderer: &Renderer) -> String {
        let renderer = renderer.clone().decor_style(DecorStyle::Ascii);
        let mut rendered: Vec<String> = self.list.iter().take(MOST).map(|d| self.render_one(d, &renderer)).collect();
        let more = self.list.len().saturating_sub(MOST) + self.left_out as usize;
        if more > 0 {
            rendered.push(format!("… and {more} more"));
        }
        rendered.extend(self.further().map(|further| format!("note: {further}")));
        rendered.join("\n\n")
    }

    fn render_one(&self, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
        let clean = |text: &str| escape_controls(text).replace('\n', "\\n");
        let label = match (&diagnostic.value, &diagnostic.limit) {
            (Some(value), Some(limit)) => format!("{value}; accepted: {limit}"),
            (Some(value), None) => value.clone(),
            (None, Some(limit)) => format!("accepted: {limit}"),
            (None, None) => String::new(),
        };
        let (label, file) = (clean(&label), clean(&self.file.display().to_string()));
        let mut group = Level::ERROR
            .primary_title(clean(&diagnostic.message))
            .elements([] as [Origin<'_>; 0]);
        let mut is_labeled = true;
        match &diagnostic.place {
            Place::Override(index) => {
                let text = self.overrides.get(*index).map_or(String::new(), |text| clean(text));
                let annotation = AnnotationKind::Primary.span(0..text.len()).label(label.clone());
                group = group.element(Snippet::source(text).path("command line").annotation(annotation));
            }
            Place::Span(span) => match self.line_of(span) {
                Some((line, start, within)) => {
                    let annotation = AnnotationKind::Primary.span(within).label(label.clone());
                    group = group.element(
                        Snippet::source(shown_source(line))
                            .line_start(start)
                            .path(file)
                            .annotation(annotation),
                    );
                }
                None => {
                    is_labeled = false;
                    let (line, column) = self.line_and_column(diagnostic).unwrap_or((1, 1));
                    group = group.element(Origin::path(file).line(line).char_column(column));
                }
            },
            Place::Whole => {
                is_labeled = false;
                group = group.element(Origin::path(file));
            }
        }
        if !is_labeled && !label.is_empty() {
            group = group.element(Level::NOTE.message(label));
        }
        if !diagnostic.remedy.is_empty() {
            group = group.element(Level::HELP.message(clean(&diagnostic.remedy)));
        }
        renderer.render(&[group])
    }

    /// The first line that a span touches, its number, and the part of the span inside it; `None` for lines too long to show.
    fn line_of(&self, span: &Range<usize>) -> Option<(&str, usize, Range<usize>)> {
        let before = self.text.get(..span.start)?;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[start..].split('\n').next()?.trim_end_matches('\r');
        let from = (span.start - start).min(line.len());
        let to = (span.end.max(span.start) - start).min(line.len()).max(from);
        let is_whole = line.is_char_boundary(from) && line.is_char_boundary(to);
        (line.len() <= LONGEST_LINE && is_whole).then(|| (line, line_number(before), from..to))
    }
}

/// The number of the line after this text, from 1.
fn line_number(before: &str) -> usize {
    before.bytes().filter(|byte| *byte == b'\n').count() + 1
}

/// Shortens a text to so many characters.
pub(crate) fn shortened(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Whether a character has an effect on a terminal instead of being shown: control characters except line ends and tabs, and those that change the
/// direction of writing.
fn is_control(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text that is safe for a terminal: characters with an effect, as in escape sequences, are spelled out, as in `\u{1b}`.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_control(c) {
            escaped.extend(c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// A line of the scene that is safe for a terminal. Its length in bytes is unchanged, because annotations count them: the renderer itself replaces
/// the control characters of ASCII.
fn shown_source(line: &str) -> Cow<'_, str> {
    if !line.contains(|c: char| is_control(c) && !c.is_ascii()) {
        return Cow::Borrowed(line);
    }
    let shown = |c: char| match c.len_utf8() {
        2 if is_control(c) => '·',
        3 if is_control(c) => '\u{fffd}',
        _ => c,
    };
    Cow::Owned(line.chars().map(shown).collect())
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || !std::io::stderr().is_terminal();
        f.write_str(&self.render(&if is_plain { Renderer::plain() } else { Renderer::styled() }))
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.plain())
    }
}

impl std::error::Error for Diagnostics {}

/// The candidate that a misspelled word most likely means.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: String = word.chars().take(64).collect::<String>().to_lowercase();
    let short = candidates.into_iter().take(MAX_COMPARED).filter(|candidate| candidate.len() <= 256);
    let scored = short.map(|candidate| (strsim::damerau_levenshtein(&word, candidate), candidate));
    let (distance, candidate) = scored.min_by_key(|(distance, _)| *distance)?;
    (distance <= word.chars().count().max(4) / 2 || strsim::jaro_winkler(&word, candidate) > 0.9).then_some(candidate)
}

/// A list of names, shortened to a readable length.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let first = names.by_ref().take(MAX_LISTED).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// The remedy for an unknown word: the most similar known one, and all of them.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let all = listed(candidates.clone());
    match nearest(word, candidates) {
        Some(known) => format!("did you mean `{known}`? Known here: {all}"),
        None if all.is_empty() => "none is known here".to_owned(),
        None => format!("known here: {all}"),
    }
}
