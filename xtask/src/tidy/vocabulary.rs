//! One word for one concept: words whose meaning here is unknown in this field are found in pages, comments, messages and names.

use super::source::Source;
use super::{Page, Violation, prose};
use std::collections::BTreeMap;

/// Words that are not used, each with the term to use.
const WORDS: &str = include_str!("words.tsv");

/// Checks the pages for readers, and the comments, string literals and names of all Rust files.
pub fn check(pages: &[Page], sources: &[Source], found: &mut Vec<Violation>) {
    let words: Vec<(String, &str)> = WORDS
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(word, better)| (format!(" {} ", word.to_lowercase()), better))
        .collect();
    let mut look = |path: &str, line: &dyn Fn() -> usize, text: &str| {
        for (word, better) in words.iter().filter(|(word, _)| text.contains(word)) {
            found.push(Violation {
                path: path.to_owned(),
                line: line(),
                rule: 14,
                what: format!("`{}` is no word of the field; use \"{better}\"", word.trim()),
                remedy: "GLOSSARY.md has the terms",
            });
        }
    };
    for page in pages.iter().filter(|page| prose::is_read(&page.path)) {
        for (line, text) in prose::without_code(&page.text) {
            look(&page.path, &|| line, &in_words(&without_targets(&without_quotes(text))));
        }
    }
    for source in sources {
        for (line, text) in &source.comments {
            look(&source.path, &|| *line, &in_words(&without_quotes(text)));
        }
        // A literal of one word is a key or a name in a file, which outlives its word; those of this program name the words.
        let messages = source.literals.iter().filter(|(_, text)| text.contains(' '));
        for (line, text) in messages.filter(|_| !source.path.starts_with("xtask/")) {
            look(&source.path, &|| *line, &in_words(&without_quotes(text)));
        }
        let mut names = BTreeMap::new();
        for (at, name) in source.words() {
            names.entry(name).or_insert(at);
        }
        for (name, first) in names {
            look(&source.path, &|| source.line_of(first), &in_words(&parts(name)));
        }
    }
}

/// A line without the code in it.
fn without_quotes(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// A line without the targets of its links.
fn without_targets(line: &str) -> String {
    let parts = line.split("](").enumerate();
    let shown = parts.map(|(k, part)| part.split_once(')').filter(|_| k > 0).map_or(part, |(_, rest)| rest));
    shown.collect::<Vec<_>>().join(" ")
}

/// The words of a name: `StepStatus` and `step_status` are "Step Status" and "step status".
fn parts(name: &str) -> String {
    let mut apart = String::new();
    let mut is_before_lower = false;
    for c in name.chars() {
        if c == '_' || c.is_uppercase() && is_before_lower {
            apart.push(' ');
        }
        is_before_lower = c.is_lowercase();
        if c != '_' {
            apart.push(c);
        }
    }
    apart
}

/// A text in lower case with one space around each word. Keys, paths and units remain one word: `run.label`, `m/s2`.
fn in_words(text: &str) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() || "-'_./".contains(c);
    let spaced: String = text.to_lowercase().chars().map(|c| if is_of_word(c) { c } else { ' ' }).collect();
    let words = spaced
        .split(' ')
        .map(|word| word.trim_matches(['.', '/']))
        .filter(|word| !word.is_empty());
    format!(" {} ", words.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::super::page;
    use super::*;

    #[test]
    fn private_words_are_found_in_pages_comments_messages_and_names() {
        let pages = [
            page(
                "docs/a.md",
                "The lists are rebuilt.\nThey are made anew, by `anew` and [x](anew.md).\n",
            ),
            page("validation/a.md", "anew\n"),
        ];
        let code = "// `anew`\n// Anew.\nfn made_anew() {}\nfn renewal() { say(\"Begin anew.\"); }\nstruct Anew;\nfn sound() { read(\"anew\"); say(\"run.anew is old\"); }\n";
        let mut found = Vec::new();
        check(&pages, &[Source::new("crates/a/src/lib.rs", code)], &mut found);
        let mut lines: Vec<(&str, usize)> = found.iter().map(|one| (one.path.as_str(), one.line)).collect();
        lines.sort_unstable();
        lines.dedup();
        let of_code = [2, 3, 4, 5].map(|line| ("crates/a/src/lib.rs", line));
        assert_eq!(lines, [&of_code[..], &[("docs/a.md", 2)]].concat(), "{found:?}");
    }
}
