//! What no file may contain, wherever it stands.

use super::source::{Source, commas};
use super::{Page, Violation};
use std::path::Path;

/// Lines of a file at most.
const MAX_LINES: usize = 800;
/// Parameters of a function at most, unless a line says why.
const MOST_PARAMETERS: usize = 7;
/// Names that say nothing.
const EMPTY_NAMES: &[&str] = &["common", "core", "helper", "helpers", "manager", "types", "util", "utils"];
/// Marks of unfinished work, in two halves so that this page does not carry them.
const MARKS: &[(&str, &str)] = &[("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("HA", "CK")];
/// What a line of a program starts with, and prose does not.
const STARTS_OF_CODE: &[&str] = &["#[", "fn ", "impl ", "let ", "pub ", "return ", "use "];

/// Rules for every text file.
pub fn check_text(page: &Page, found: &mut Vec<Violation>) {
    let Page { path, text } = page;
    let mut say = |line: usize, rule: u32, what: String, remedy: &'static str| {
        found.push(Violation {
            path: path.clone(),
            line,
            rule,
            what,
            remedy,
        });
    };
    let lines = text.lines().count();
    if lines > MAX_LINES {
        say(
            MAX_LINES + 1,
            10,
            format!("{lines} lines, {MAX_LINES} are allowed"),
            "split the file along its nouns",
        );
    }
    let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    if path.ends_with(".rs") && EMPTY_NAMES.contains(&&*stem) {
        say(1, 8, format!("a module is named `{stem}`"), "name it after what it holds");
    }
    for (k, line) in text.lines().enumerate() {
        let has_mark = |(one, two): &(&str, &str)| {
            line.split(|c: char| !c.is_alphanumeric())
                .any(|word| word.strip_prefix(one) == Some(two))
        };
        if MARKS.iter().any(has_mark) {
            say(k + 1, 12, "a mark of unfinished work".into(), "do it, or open an issue");
        }
        if line.to_lowercase().contains(&["keep", "in", "sync"].join(" ")) {
            say(
                k + 1,
                12,
                "two places ask to be changed together".into(),
                "derive one from the other",
            );
        }
    }
}

/// Rules for Rust files.
pub fn check_source(source: &Source, found: &mut Vec<Violation>) {
    let path = source.path.as_str();
    let mut say = |line: usize, rule: u32, what: String, remedy: &'static str| {
        found.push(Violation {
            path: path.to_owned(),
            line,
            rule,
            what,
            remedy,
        });
    };
    for (at, _) in source.words().filter(|(_, word)| *word == "unsafe") {
        let line = source.line_of(at);
        let allowed = [
            "crates/sweeps/src/lanes.rs",
            "crates/sweeps/src/simd.rs",
            "crates/engine/src/gpu/step.rs",
            "crates/engine/src/gpu/bins.rs",
            "crates/engine/src/gpu/bonds.rs",
            "crates/engine/src/gpu/flow.rs",
            "crates/transport/src/ranks.rs",
            "crates/python/src/views.rs",
        ];
        if !(allowed.contains(&path) || path.starts_with("crates/device/") || path.contains("/tests/")) {
            say(
                line,
                6,
                "`unsafe` outside crates/sweeps/src/{lanes,simd}.rs, crates/engine/src/gpu/{step,bins,bonds,flow}.rs, \
                 crates/transport/src/ranks.rs, crates/python/src/views.rs and crates/device"
                    .into(),
                "find a safe way",
            );
        }
        let follows = source.code[at + "unsafe".len()..].trim_start();
        if (follows.starts_with('{') || follows.starts_with("impl")) && !comment_above(source, line).contains("SAFETY:") {
            say(
                line,
                6,
                "`unsafe` without its proof".into(),
                "say why it is sound in a `// SAFETY:` comment directly above",
            );
        }
    }
    let mut before = "";
    for (at, word) in source.words() {
        if before == "mod" && EMPTY_NAMES.contains(&word) {
            say(
                source.line_of(at),
                8,
                format!("a module is named `{word}`"),
                "name it after what it holds",
            );
        }
        before = word;
    }
    for head in source.heads() {
        let count = parameters(head.text);
        if count > MOST_PARAMETERS && !has_reason(source, head.line) {
            let remedy = "group them in a struct, or add #[expect(clippy::too_many_arguments, reason = \"…\")]";
            say(head.line, 10, format!("{count} parameters, {MOST_PARAMETERS} are allowed"), remedy);
        }
    }
    for (line, comment) in source.comments.iter().filter(|(_, comment)| is_code(comment)) {
        say(
            *line,
            12,
            format!("commented-out code: {comment}"),
            "delete it; the history keeps it",
        );
    }
    for (pattern, what) in [
        ("#[ignore", "an ignored test"),
        ("todo!(", "unfinished code"),
        ("unimplemented!(", "unfinished code"),
        ("dbg!(", "a leftover of debugging"),
        ("(dead_code", "dead code that is let pass"),
    ] {
        for (at, _) in source.code.match_indices(pattern) {
            say(source.line_of(at), 12, format!("{what}: `{pattern}`"), "repair or delete it");
        }
    }
    // The cube macro makes undocumented items, so that the compiler's own lint is off in these two.
    if path.starts_with("crates/laws/src/") || path.starts_with("crates/sweeps/src/") {
        let public = source
            .code
            .lines()
            .enumerate()
            .filter(|(k, line)| *k + 1 < source.tests_from() && is_public_item(line.trim()));
        for (k, line) in public {
            if !is_documented(source, k) {
                say(
                    k + 1,
                    13,
                    format!("no documentation: {}", line.trim()),
                    "add a doc comment with SI units in brackets",
                );
            }
        }
    }
}

/// The comment that ends on the line above, attributes skipped.
fn comment_above(source: &Source, line: usize) -> String {
    let above = source.lines[..line - 1].iter().rev().map(|line| line.trim());
    above
        .skip_while(|line| line.starts_with("#["))
        .take_while(|line| line.starts_with("//"))
        .collect()
}

/// Number of parameters in a function's head.
fn parameters(head: &str) -> usize {
    let Some(open) = opening(head) else { return 0 };
    let mut depth = 0;
    for (k, c) in head[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let list = head[open + 1..open + k].trim();
            return if list.is_empty() {
                0
            } else {
                commas(list.trim_end_matches(',')) + 1
            };
        }
    }
    0
}

/// Where the list of parameters opens: the first round bracket outside the generic parameters.
fn opening(head: &str) -> Option<usize> {
    let mut depth = 0;
    let mut before = ' ';
    for (k, c) in head.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            '(' if depth == 0 => return Some(k),
            _ => {}
        }
        before = c;
    }
    None
}

/// Whether an attribute above the function says why it has many parameters.
fn has_reason(source: &Source, line: usize) -> bool {
    let above = source.lines[..line - 1].iter().rev().map(|line| line.trim());
    above
        .take_while(|line| line.starts_with("#[") || line.starts_with("//"))
        .any(|line| line.contains("clippy::too_many_arguments") && line.contains("reason = "))
}

/// Whether a comment, not one of documentation, reads like a line of a program.
fn is_code(comment: &str) -> bool {
    if ["///", "//!", "/**", "/*!"].iter().any(|mark| comment.starts_with(mark)) {
        return false;
    }
    let text = comment.trim_start_matches(['/', '*']).trim_end_matches("*/").trim();
    let ends_like_code = text.ends_with([';', '{', '}']) || text.ends_with(")]");
    let has_syntax = ["(", " = ", "::", " => "].iter().any(|mark| text.contains(mark));
    ends_like_code && (has_syntax || STARTS_OF_CODE.iter().any(|start| text.starts_with(start))) || text == "}"
}

fn is_public_item(line: &str) -> bool {
    let Some(item) = line.strip_prefix("pub ") else { return false };
    let is_field = item
        .split_once(':')
        .is_some_and(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    is_field
        || ["fn ", "struct ", "enum ", "trait ", "const ", "static ", "type "]
            .iter()
            .any(|kind| item.starts_with(kind))
}

/// Whether a doc comment stands above line number `k` (from 0), attributes skipped; `$(#[$…])*` hands one on.
fn is_documented(source: &Source, k: usize) -> bool {
    let mut above = source.lines[..k].iter().rev().map(|line| line.trim());
    let first = above.find(|line| !line.starts_with("#["));
    first.is_some_and(|line| line.starts_with("///") || line.starts_with("$(#["))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        check_text(
            &Page {
                path: path.to_owned(),
                text: text.to_owned(),
            },
            &mut found,
        );
        check_source(&Source::new(path, text), &mut found);
        found.iter().map(|violation| (violation.line, violation.rule)).collect()
    }

    #[test]
    fn unsafe_stays_in_its_places_and_has_a_proof() {
        let proven = "// SAFETY: the index is below the length,\n// see above.\nunsafe { x() }";
        assert_eq!(rules("crates/sweeps/src/lanes.rs", proven), []);
        assert_eq!(rules("crates/sweeps/src/cells.rs", proven), [(3, 6)]);
        assert_eq!(rules("crates/transport/src/ranks.rs", proven), []);
        assert_eq!(rules("crates/transport/src/threads.rs", proven), [(3, 6)]);
        assert_eq!(
            rules(
                "crates/device/src/cpu.rs",
                "let a = 1;\nunsafe { x() }\n// unsafe\nlet b = \"unsafe\";"
            ),
            [(2, 6)]
        );
        assert_eq!(
            rules(
                "crates/engine/tests/a.rs",
                "// SAFETY: handed on.\n#[a]\nunsafe impl A for B { unsafe fn c() {} }"
            ),
            []
        );
    }

    #[test]
    fn names_say_something() {
        assert_eq!(rules("crates/view/src/utils.rs", ""), [(1, 8)]);
        assert_eq!(rules("crates/view/src/a.rs", "mod types;\nuse core::fmt;\nmod camera;"), [(1, 8)]);
    }

    #[test]
    fn files_and_functions_stay_short() {
        assert_eq!(rules("a.md", &"\n".repeat(801)), [(801, 10)]);
        let many = "fn a<F: Fn(u8, u8) -> u8>(a: A<B, C>, b: B, c: C, d: D, e: E, f: F, g: G, h: H,) {}";
        assert_eq!(rules("a.rs", many), [(1, 10)]);
        assert_eq!(rules("a.rs", &many.replace(", h: H", "")), []);
        assert_eq!(
            rules("a.rs", &format!("#[expect(clippy::too_many_arguments, reason = \"why\")]\n{many}")),
            []
        );
        assert_eq!(rules("a.rs", &format!("#[expect(clippy::too_many_arguments)]\n{many}")), [(2, 10)]);
    }

    #[test]
    fn nothing_is_left_lying_about() {
        assert_eq!(rules("a.rs", "// let a = b;\n// }\n// #[cfg(test)]"), [(1, 12), (2, 12), (3, 12)]);
        assert_eq!(
            rules(
                "a.rs",
                "// The first (of two) is kept;\n// see `a::b` for why.\n/// let a = b;\nlet c = d; // as before"
            ),
            [(1, 12)]
        );
        assert_eq!(rules("a.rs", "// It waits for all of it; then it goes on\n// and ends."), []);
        assert_eq!(rules("a.rs", "#[ignore]\n#[test]\nfn a() { todo!() }"), [(1, 12), (3, 12)]);
        assert_eq!(rules("a.md", &["TO", "DO: this"].concat()), [(1, 12)]);
        assert_eq!(rules("a.md", &["Keep in", " sync with b."].concat()), [(1, 12)]);
    }

    #[test]
    fn laws_and_sweeps_are_documented() {
        let path = "crates/laws/src/a.rs";
        let text = "/// Sum.\n#[cube]\n#[inline(always)]\npub fn a() {}\npub struct B {\n    /// C \\[m\\].\n    pub c: R,\n    pub d: R,\n}\npub mod e;\npub use f::g;";
        assert_eq!(rules(path, text), [(5, 13), (8, 13)]);
        assert_eq!(rules("crates/view/src/a.rs", text), []);
    }
}
