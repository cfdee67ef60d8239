//! What each stratum, and the page of the step, may not contain.

use super::Violation;
use super::source::{Source, words_of};

/// Tests that cannot share a process: with a device that is lost to all that use it, with an allocator that counts, and with messages between
/// processes.
const BINARIES_OF_THEIR_OWN: &[&str] = &[
    "crates/engine/tests/lost_device.rs",
    "crates/engine/tests/memory_of_a_start.rs",
    "crates/engine/tests/no_allocation.rs",
    "crates/seixo/tests/failing_gpu.rs",
    "crates/seixo/tests/lost_gpu.rs",
    "crates/transport/tests/ranks.rs",
    "crates/transport/tests/threads.rs",
];

/// Physics has no place in a device.
const PHYSICS: &[&str] = &["contact", "bond", "fluid", "particle", "grain"];
/// What a sweep would compute a formula with; geometry takes its roots by `Real::root`.
const FORMULAS: &[&str] = &[".sqrt(", ".powf(", ".powi(", ".exp(", ".ln(", ".sin(", ".cos("];
/// What allocates.
const ALLOCATIONS: &[&str] = &[
    "Vec::new", "vec!", "Box::new", ".to_vec(", ".collect", ".clone()", "String::", "format!",
];
/// Numbers that host and kernels share: tiles, blocks, masks and bits of entries and kinds, and words of the flags.
const LITERALS: &[&str] = &[
    "32usize",
    "256usize",
    "0x7fff_ffff",
    "31u32",
    "29u32",
    "flags[8",
    "flags[9",
    "flags[10",
    "flags[11",
];
/// Crates that read or write JSON and TOML.
const SPEAK_SERDE: &[&str] = &["crates/scene/", "crates/files/", "crates/seixo/", "crates/python/"];

/// Invariants 1 to 5 and 7, and that tests of a crate are one binary, of invariant 11.
pub fn check(source: &Source, found: &mut Vec<Violation>) {
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
    if path.starts_with("crates/laws/src/") {
        for head in source.heads().into_iter().filter(|head| head.line < source.tests_from()) {
            let names: Vec<&str> = words_of(head.text).map(|(_, word)| word).collect();
            let taken = ["Vec", "usize"]
                .into_iter()
                .find(|name| names.contains(name))
                .or_else(|| has_slice(head.text).then_some("a slice"));
            if let Some(taken) = taken {
                say(
                    head.line,
                    1,
                    format!("a law takes or gives {taken}"),
                    "pass numbers and vectors of three; loops belong to crates/sweeps",
                );
            }
        }
    }
    if path.starts_with("crates/sweeps/src/") {
        for (at, word) in source.words().filter(|(_, word)| word.starts_with("Atomic") || *word == "atomic") {
            say(
                source.line_of(at),
                2,
                format!("a sweep uses {word}"),
                "gather: slot i sums over its own row in a fixed order",
            );
        }
        for (list, what, remedy) in [
            (
                FORMULAS,
                "a sweep computes a formula with",
                "move the formula to crates/laws and call it",
            ),
            (ALLOCATIONS, "a sweep allocates with", "take the memory as an argument"),
            (
                LITERALS,
                "a sweep writes out the number of a shared constant,",
                "use TILE, THREADS, PLACE, a constant of a bit, HALTED, DONE or SOME_BROKE",
            ),
        ] {
            for (at, pattern) in list.iter().flat_map(|pattern| source.code.match_indices(pattern)) {
                let line = source.line_of(at);
                if line < source.tests_from() {
                    say(line, 2, format!("{what} `{pattern}`"), remedy);
                }
            }
        }
    }
    if path.starts_with("crates/device/") {
        for (k, line) in source.lines.iter().enumerate() {
            if let Some(word) = PHYSICS.iter().find(|word| line.to_lowercase().contains(*word)) {
                say(
                    k + 1,
                    3,
                    format!("a device knows the word `{word}`"),
                    "speak of items, parts and slots",
                );
            }
        }
    }
    if path == "crates/engine/src/program/lists.rs" {
        for at in operators(&source.code) {
            let operator = &source.code[at..=at];
            say(
                source.line_of(at),
                4,
                format!("the step computes with `{operator}`"),
                "move arithmetic into a pass of crates/engine/src/passes.rs",
            );
        }
    }
    if path.starts_with("crates/") && !SPEAK_SERDE.iter().any(|folder| path.starts_with(folder)) {
        for (at, word) in source.words().filter(|(_, word)| word.starts_with("serde")) {
            say(
                source.line_of(at),
                5,
                format!("{word} is used here"),
                "convert to and from a type of crates/scene or crates/files",
            );
        }
    }
    let stands_alone = path.split_once("/tests/").is_some_and(|(_, file)| !file.contains('/'));
    if path.starts_with("crates/") && stands_alone && !BINARIES_OF_THEIR_OWN.contains(&path) {
        say(
            1,
            11,
            "this test is a binary of its own".into(),
            "make it a module of the crate's one test binary, tests/CRATE/main.rs",
        );
    }
    let has_backends = [
        "crates/device/",
        "crates/transport/",
        "crates/seixo/src/main.rs",
        "crates/seixo/src/command",
        "crates/seixo/src/terminal.rs",
        // What a library leaves out of the program, and a program out of windows, pages and videos.
        "crates/seixo/src/lib.rs",
        "crates/view/src/lib.rs",
    ]
    .iter()
    .any(|place| path.starts_with(place));
    // The root of a test binary leaves out long tests, and those of parts that are left out.
    let is_test_root = path.ends_with("/main.rs") && path.contains("/tests/");
    if !has_backends && !is_test_root {
        let features = source
            .words()
            .filter(|(at, word)| *word == "feature" && is_in_cfg(&source.code, *at));
        for (at, _) in features {
            say(
                source.line_of(at),
                7,
                "code depends on a cargo feature".into(),
                "choose backends in crates/device, in crates/transport or in the binary, and parts of the program in the roots of crates/seixo and crates/view",
            );
        }
    }
}

/// Whether a type in brackets has no length: `[R]`, but not `[R; 3]`, and no attribute either, as `#[comptime]`.
fn has_slice(text: &str) -> bool {
    let mut open = Vec::new();
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '[' => open.push(before == '#'),
            ';' => {
                if let Some(has_length) = open.last_mut() {
                    *has_length = true;
                }
            }
            ']' if open.pop() == Some(false) => return true,
            _ => {}
        }
        before = c;
    }
    false
}

/// Places of arithmetic operators; `->`, `&*` and the like are none of them.
fn operators(code: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut before = ' ';
    let mut characters = code.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map_or(' ', |(_, c)| *c);
        let is_operator = match c {
            '+' | '/' | '%' => true,
            '-' => next != '>',
            '*' => before != '&' && before != '(',
            _ => false,
        };
        if is_operator {
            found.push(at);
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    found
}

/// Whether a place is inside the brackets of `cfg(…)`, `cfg!(…)` or `cfg_attr(…)`, on the same line.
fn is_in_cfg(code: &str, at: usize) -> bool {
    let start = code[..at].rfind('\n').map_or(0, |k| k + 1);
    words_of(&code[start..at]).any(|(_, word)| word == "cfg" || word == "cfg_attr")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        check(&Source::new(path, text), &mut found);
        found.iter().map(|violation| (violation.line, violation.rule)).collect()
    }

    #[test]
    fn laws_take_numbers() {
        let path = "crates/laws/src/x.rs";
        assert_eq!(
            rules(path, "pub fn a(x: &[f64]) {}\npub fn b() -> Vec<f64> {}\npub fn c(n: usize) {}"),
            [(1, 1), (2, 1), (3, 1)]
        );
        assert_eq!(
            rules(
                path,
                "pub fn a(x: Vector3<R>) -> [f64; 8] { let v: &[f64] = &[]; }\n#[cfg(test)]\nfn b(x: &[f64]) {}"
            ),
            []
        );
        assert_eq!(rules("crates/engine/src/x.rs", "pub fn a(x: &[f64]) {}"), []);
    }

    #[test]
    fn sweeps_gather() {
        let path = "crates/sweeps/src/x.rs";
        assert_eq!(rules(path, "use std::sync::atomic::AtomicU64;"), [(1, 2), (1, 2)]);
        assert_eq!(rules(path, "let x = y.sqrt();\nlet v = vec![1];"), [(1, 2), (2, 2)]);
        assert_eq!(rules(path, "// no atomic, no vec![]\nlet x = R::root(y);"), []);
        assert_eq!(rules(path, "let x = word >> 31u32;\nlet y = flags[10];"), [(1, 2), (2, 2)]);
        assert_eq!(rules(path, "let x = flags[DONE];"), []);
    }

    #[test]
    fn tests_of_a_crate_are_one_binary() {
        assert_eq!(rules("crates/engine/tests/a.rs", ""), [(1, 11)]);
        assert_eq!(
            rules("crates/engine/tests/engine/a.rs", "#[cfg(feature = \"b\")]\nmod c;"),
            [(1, 7)]
        );
        assert_eq!(rules("crates/engine/tests/engine/main.rs", "#[cfg(feature = \"b\")]\nmod c;"), []);
        assert_eq!(rules("crates/engine/tests/no_allocation.rs", ""), []);
    }

    #[test]
    fn devices_know_no_physics() {
        assert_eq!(
            rules(
                "crates/device/src/x.rs",
                "//! Runs Grains.\nfn a(items: u32) {}\nfn b(contacts: u32) {}"
            ),
            [(1, 3), (3, 3)]
        );
        assert_eq!(rules("crates/view/src/x.rs", "//! Draws grains."), []);
    }

    #[test]
    fn the_step_computes_nothing() {
        let path = "crates/engine/src/program/lists.rs";
        assert_eq!(rules(path, "fn a(&mut self) -> R { self.pass(P)?; } // a + b"), []);
        assert_eq!(
            rules(path, "self.steps += 1;\nlet x = a * b;\nlet y = -x;\nlet z = &*x;"),
            [(1, 4), (2, 4), (3, 4)]
        );
    }

    #[test]
    fn serde_and_features_stay_where_they_belong() {
        assert_eq!(rules("crates/engine/src/x.rs", "use serde::Serialize;\n// serde"), [(1, 5)]);
        assert_eq!(rules("crates/scene/src/x.rs", "use serde::Serialize;"), []);
        assert_eq!(
            rules(
                "crates/engine/src/x.rs",
                "#[cfg(feature = \"cuda\")]\n#[cfg(target_feature = \"avx2\")]\nlet feature = 1;"
            ),
            [(1, 7)]
        );
        assert_eq!(rules("crates/device/src/x.rs", "#[cfg(feature = \"cuda\")]"), []);
        assert_eq!(rules("crates/transport/src/x.rs", "#[cfg(feature = \"mpi\")]"), []);
        assert_eq!(rules("crates/view/src/lib.rs", "#[cfg(feature = \"film\")]"), []);
        assert_eq!(rules("crates/view/src/x.rs", "#[cfg(feature = \"film\")]"), [(1, 7)]);
    }
}
