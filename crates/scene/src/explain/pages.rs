//! The reference as pages of Markdown.

use super::{Key, keys, units};
use std::fmt::Write;

/// Largest number of keys of a table on the page of its section.
const LONGEST_TABLE: usize = 25;
/// Likewise, on the page of a section with more than [`MANY`] keys.
const LONGEST_OF_MANY: usize = 5;
/// See [`LONGEST_OF_MANY`].
const MANY: usize = 90;

/// The reference as pages of Markdown, each with its path below `docs/reference`: an index, a page for each section, the units.
pub fn pages() -> Vec<(String, String)> {
    let keys = keys();
    let mut index = "# Every key of a scene\n\n\
        `seixo explain --pages docs/reference` writes these pages. `seixo explain wall.motion` prints a part of them, \
        `seixo explain units` the [units](units.md).\n\n\
        `NAME` stands for a name that you choose. A number without a unit is in SI units.\n\n\
        | section | meaning | default |\n|---|---|---|\n"
        .to_owned();
    let mut pages = Vec::new();
    let all: Vec<&Key> = keys.iter().collect();
    for section in keys.iter().filter(|key| !key.path.contains('.')) {
        let below = within(&all, &section.path);
        let shown = section.spelled();
        let link = if below.is_empty() {
            format!("`{shown}`")
        } else {
            format!("[`{shown}`](scene/{}.md)", section.path)
        };
        _ = writeln!(index, "| {link} | {} | {} |", cell(&section.meaning), cell(&section.default));
        if below.is_empty() {
            continue;
        }
        // A table with many keys has a page of its own.
        let longest = if below.len() > MANY { LONGEST_OF_MANY } else { LONGEST_TABLE };
        let large: Vec<&&Key> = below
            .iter()
            .filter(|key| within(&below, &key.path).len() > longest && key.path.matches('.').count() == 2)
            .collect();
        let mut text = format!("# `{shown}`\n\n{}\n", section.meaning);
        for table in &large {
            let file = format!("{}.md", table.path.replace(".NAME", ""));
            _ = write!(text, "\nThe keys of `{}` have [a page of their own]({file}).\n", table.path);
            let own = tables(&within(&below, &table.path));
            pages.push((format!("scene/{file}"), format!("# `{}`\n\n{}\n{own}", table.path, table.meaning)));
        }
        let is_elsewhere = |key: &&&Key| large.iter().any(|table| key.path.starts_with(&format!("{}.", table.path)));
        let rest: Vec<&Key> = below.iter().filter(|key| !is_elsewhere(key)).copied().collect();
        text.push_str(&tables(&rest));
        pages.push((format!("scene/{}.md", section.path), text));
    }
    pages.push(("scene.md".to_owned(), index));
    let units = format!("# Units\n\n`seixo explain units` prints this page.\n\n```text\n{}```\n", units());
    pages.push(("units.md".to_owned(), units));
    pages
}

/// The keys below a table.
fn within<'a>(keys: &[&'a Key], path: &str) -> Vec<&'a Key> {
    let start = format!("{path}.");
    keys.iter().filter(|key| key.path.starts_with(&start)).copied().collect()
}

/// A text that is safe in a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Keys as tables, one for each table of the scene.
fn tables(keys: &[&Key]) -> String {
    let (mut text, mut before) = (String::new(), "");
    for key in keys {
        let (table, name) = key.path.rsplit_once('.').unwrap_or(("", &key.path));
        if table != before {
            before = table;
            _ = write!(
                text,
                "\n## `{table}`\n\n| key | meaning | kind | default | example |\n|---|---|---|---|---|\n"
            );
        }
        let mut meaning = cell(&key.meaning);
        if !key.synonyms.is_empty() {
            _ = write!(meaning, " Elsewhere: {}.", key.synonyms.join(", "));
        }
        if let Some(place) = &key.listed_at {
            _ = write!(meaning, " Keys: those of `{place}`.");
        }
        let unit = if key.unit.is_empty() {
            String::new()
        } else {
            format!(" \\[{}\\]", key.unit)
        };
        let range = if key.range.is_empty() {
            String::new()
        } else {
            format!("; {}", cell(&key.range))
        };
        let kind = format!("{}{unit}{range}", cell(&key.kind));
        _ = writeln!(
            text,
            "| `{name}` | {meaning} | {kind} | {} | `{}` |",
            cell(&key.default),
            cell(&key.spelled())
        );
    }
    text
}
