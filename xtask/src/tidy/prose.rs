//! How pages are written: sentences that can be read at once, pages of one sitting, citations that can be looked up.

use super::source::Source;
use super::{Page, Violation};
use std::collections::BTreeSet;

/// Words of a sentence at most.
const LONGEST_SENTENCE: usize = 40;
/// Words of a page at most.
const LONGEST_PAGE: usize = 3000;
/// Pages that are looked up, not read: one entry after the other.
const LISTS: &[&str] = &["GLOSSARY.md", "docs/bibliography.md", "docs/reference/python-api.md"];
/// Points that end no sentence.
const ABBREVIATIONS: &[&str] = &["al.", "cf.", "ch.", "e.g.", "eq.", "fig.", "i.e.", "p.", "pp.", "vol."];
/// Where every work that is cited stands once.
const BIBLIOGRAPHY: &str = "docs/bibliography.md";

/// What the pages for readers come to.
pub struct Measures {
    /// Pages.
    pub pages: usize,
    /// Words of all sentences over their number.
    pub mean_sentence: f64,
    /// Words of the longest page that is read.
    pub longest_page: usize,
}

/// Whether a page is for readers: those of the root and of `docs`.
pub fn is_read(path: &str) -> bool {
    path.ends_with(".md") && (path.starts_with("docs/") || !path.contains('/'))
}

/// Checks all pages, and the citations in comments.
pub fn check(pages: &[Page], sources: &[Source], found: &mut Vec<Violation>) -> Measures {
    let known: BTreeSet<&str> = pages
        .iter()
        .filter(|page| page.path == BIBLIOGRAPHY)
        .flat_map(|page| page.text.lines())
        .filter_map(|line| line.strip_prefix("- **[")?.split_once(']'))
        .map(|(key, _)| key)
        .collect();
    let (mut count, mut words, mut sentences, mut longest_page) = (0, 0, 0, 0);
    let mut say = |path: &str, line: usize, what: String, remedy: &'static str| {
        found.push(Violation {
            path: path.to_owned(),
            line,
            rule: 14,
            what,
            remedy,
        });
    };
    let of_comments = sources.iter().flat_map(|source| {
        let lines = source.comments.iter();
        lines.map(|(line, text)| (source.path.as_str(), *line, text.as_str()))
    });
    let of_pages = pages.iter().filter(|page| !page.path.ends_with(".rs")).flat_map(|page| {
        let lines = (1..).zip(page.text.lines());
        lines.map(|(line, text)| (page.path.as_str(), line, text))
    });
    for (path, line, text) in of_comments.chain(of_pages) {
        for key in cited(text).filter(|key| !known.contains(key.as_str())) {
            say(path, line, format!("[{key}] is not in {BIBLIOGRAPHY}"), "add the work there");
        }
    }
    for page in pages.iter().filter(|page| is_read(&page.path)) {
        count += 1;
        if LISTS.contains(&page.path.as_str()) {
            continue;
        }
        let length = page.text.split_whitespace().count();
        longest_page = longest_page.max(length);
        if length > LONGEST_PAGE {
            say(
                &page.path,
                1,
                format!("{length} words, {LONGEST_PAGE} are allowed"),
                "split the page",
            );
        }
        for (line, length) in lengths(&page.text) {
            words += length;
            sentences += 1;
            if length > LONGEST_SENTENCE {
                say(
                    &page.path,
                    line,
                    format!("a sentence of {length} words, {LONGEST_SENTENCE} are allowed"),
                    "make it two",
                );
            }
        }
    }
    Measures {
        pages: count,
        mean_sentence: f64::from(u32::try_from(words).unwrap_or(u32::MAX))
            / f64::from(u32::try_from(sentences).unwrap_or(u32::MAX)).max(1.0),
        longest_page,
    }
}

/// The works that a line cites: `[Silva 2010, eq. 2.11]`, `\[Love 1927; Weber 1966\]`.
fn cited(line: &str) -> impl Iterator<Item = String> + '_ {
    let brackets = line.split('[').skip(1).filter_map(|rest| {
        let (inside, after) = rest.split_once(']')?;
        (!after.starts_with(['(', ':'])).then(|| inside.trim_end_matches('\\'))
    });
    brackets.flat_map(|inside| inside.split(';')).filter_map(|one| {
        let key = one.split(',').next().unwrap_or_default().trim();
        let (name, year) = key.rsplit_once(' ')?;
        let is_year =
            year.len() >= 4 && year.len() <= 5 && year.chars().take(4).all(|c| c.is_ascii_digit()) && year.starts_with(['1', '2']);
        let is_name = name.starts_with(char::is_alphabetic) && name.chars().all(|c| c.is_alphanumeric() || " -'.".contains(c));
        (is_year && is_name).then(|| key.to_owned())
    })
}

/// The lines of a page with their numbers; those of code are empty.
pub fn without_code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).map(move |(line, text)| {
        let is_fence = text.trim_start().starts_with("```");
        is_code ^= is_fence;
        (
            line,
            if is_code || is_fence || text.starts_with("    ") {
                ""
            } else {
                text
            },
        )
    })
}

/// Sentences of a page, each with the line on which it begins and its number of words; code, tables and headings are left out.
fn lengths(text: &str) -> Vec<(usize, usize)> {
    let (mut all, mut begun, mut length) = (Vec::new(), 0, 0);
    for (line, text) in without_code(text) {
        let text = text.trim_start();
        let is_item = text.starts_with("- ") || text.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        let is_prose = !(text.is_empty() || text.starts_with(['|', '#', '`', '!']));
        if (is_item || !is_prose) && length > 0 {
            all.push((begun, length));
            length = 0;
        }
        if !is_prose {
            continue;
        }
        for word in text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)) {
            if length == 0 {
                begun = line;
            }
            length += 1;
            let bare = word.trim_end_matches([')', '*', '_', '"', '`']);
            if bare.ends_with(['.', '!', '?', ':']) && !ABBREVIATIONS.contains(&bare) {
                all.push((begun, length));
                length = 0;
            }
        }
    }
    if length > 0 {
        all.push((begun, length));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::page;
    use super::*;

    #[test]
    fn long_sentences_long_pages_and_unknown_works_are_found() {
        let long = "word ".repeat(LONGEST_SENTENCE + 1);
        let pages = [
            page(BIBLIOGRAPHY, "- **[Silva 2010]** J. R. da Silva Junior.\n"),
            page(
                "docs/a.md",
                &format!("Short.\n\n{long}\nSee [Silva 2010, eq. 2.11] and [Unknown 1999; Silva 2010].\n"),
            ),
            page("docs/b.md", &"One two three.\n".repeat(LONGEST_PAGE)),
            page(
                "crates/a/src/lib.rs",
                "/// As \\[Someone 1900, § 2\\] and \\[kg\\].\nfn a(x: [u8; 2010]) {}\n",
            ),
        ];
        let mut found = Vec::new();
        let sources = [Source::new(&pages[3].path, &pages[3].text)];
        let measures = check(&pages, &sources, &mut found);
        let said: Vec<(&str, usize)> = found.iter().map(|one| (one.path.as_str(), one.line)).collect();
        assert_eq!(
            said,
            [("crates/a/src/lib.rs", 1), ("docs/a.md", 4), ("docs/a.md", 3), ("docs/b.md", 1)],
            "{found:?}"
        );
        assert_eq!(measures.pages, 3);
    }
}
