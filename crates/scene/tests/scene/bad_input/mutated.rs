//! All examples with random changes: each is refused with its file and line, or becomes a world, within limits of time and memory, and never with a
//! panic.
//!
//! `SEIXO_MUTATIONS` is the number of tries, with all examples; without it a few, without those that need grown packings.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use seixo_engine::Simulation;
use seixo_scene::load_text;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Time after which a scene counts as hanging.
const WATCH: Duration = Duration::from_secs(60);
/// Allowed time for a refusal in addition to four times that of the unchanged example.
const TIME: Duration = Duration::from_secs(1);
/// Allowed increase of the memory of the tests by a scene \[bytes\].
const MEMORY: u64 = 512 << 20;

/// Replacements of a number.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "-0.0",
    "nan",
    "inf",
    "-inf",
    "1e300",
    "1e-300",
    "1e400",
    "1e30",
    "1e-40",
    "9223372036854775807",
    "1e9",
    "0.5",
];
/// Replacements of a quantity, between its quotes.
const QUANTITIES: [&str; 12] = [
    "",
    "1 m",
    "1 s",
    "1 kg",
    "-1 m",
    "0 m",
    "nan m",
    "inf s",
    "1e300 m",
    "1e-300 mm",
    "1 m^99",
    "µ°\u{202e}",
];
/// Insertions at any position.
const SIGNS: [&str; 12] = ["[", "]", "{", "}", "\"", "=", ".", "#", "\u{0}", "\u{1b}[2J", "é漢\u{200f}", "\r"];

/// All examples, by their paths.
fn examples() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scenes: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    scenes.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    scenes.into_iter().map(read).collect()
}

/// A position in a text between two characters.
fn place(text: &str, dice: &mut ChaCha12Rng) -> usize {
    let mut at = dice.random_range(0..=text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn one_of<'a>(choices: &[&'a str], dice: &mut ChaCha12Rng) -> &'a str {
    choices[dice.random_range(0..choices.len())]
}

/// Positions of the numbers of a line that are not part of a word.
fn numbers(line: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let end = (at..bytes.len())
            .find(|&k| !matches!(bytes[k], b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' | b'-'))
            .unwrap_or(bytes.len());
        if bytes[at].is_ascii_digit() || (bytes[at] == b'-' && end > at + 1) {
            found.push((at, end));
        }
        at = end.max(at + 1);
    }
    found
}

/// The line with one change inside it.
fn line_changed(line: &str, dice: &mut ChaCha12Rng) -> String {
    let put = |(from, to): (usize, usize), by: &str| format!("{}{by}{}", &line[..from], &line[to..]);
    let quotes: Vec<usize> = line.match_indices('"').map(|(at, _)| at).collect();
    let quoted: Vec<(usize, usize)> = quotes.as_chunks::<2>().0.iter().map(|[from, to]| (from + 1, *to)).collect();
    let numbers = numbers(line);
    match dice.random_range(0..6) {
        0 if !numbers.is_empty() => put(numbers[dice.random_range(0..numbers.len())], one_of(&NUMBERS, dice)),
        1 if !quoted.is_empty() => put(quoted[dice.random_range(0..quoted.len())], one_of(&QUANTITIES, dice)),
        2 if !quoted.is_empty() => {
            // The unit alone.
            let (from, to) = quoted[dice.random_range(0..quoted.len())];
            let unit = line[from..to].find(' ').map_or(to, |at| from + at);
            put((unit, to), one_of(&[" m", " s", " kg", " Pa", " parsec", ""], dice))
        }
        3 if line.contains('=') => {
            // A key without a letter.
            let key = line.find('=').unwrap_or(line.len());
            let at = place(&line[..key], dice);
            let length = line[at..].chars().next().map_or(0, char::len_utf8);
            put((at, at + length), "")
        }
        4 if line.contains('=') => {
            let value = line.find('=').map_or(0, |at| at + 1);
            let nested = [["[", "]"], ["{ a = ", " }"], ["[[[[", "]]]]"]][dice.random_range(0..3_usize)];
            format!("{}{}{}{}", &line[..value], nested[0], &line[value..], nested[1])
        }
        _ => {
            let at = place(line, dice);
            put((at, at), one_of(&SIGNS, dice))
        }
    }
}

/// A scene with one to three changes.
fn spoiled(text: &str, dice: &mut ChaCha12Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..dice.random_range(1..4) {
        if lines.is_empty() {
            break;
        }
        let (a, b) = (dice.random_range(0..lines.len()), dice.random_range(0..lines.len()));
        match dice.random_range(0..10) {
            0 => drop(lines.remove(a)),
            1 => lines.insert(b, lines[a].clone()),
            2 => lines.swap(a, b),
            _ => lines[a] = line_changed(&lines[a], dice),
        }
    }
    let mut text = lines.join("\n");
    if dice.random_range(0..20) == 0 {
        text.truncate(place(&text, dice));
    }
    text
}

/// Result of `seixo check` for a scene: the message if it is refused.
fn checked(text: &str, path: &Path) -> Option<String> {
    let mut scene = match load_text(text, path, &[]) {
        Ok(scene) => scene,
        Err(found) => return Some(found.plain()),
    };
    scene.settings.threads = 1;
    let refusal = Simulation::new(scene.world, scene.settings).err()?;
    let explained = scene.source.explain(&refusal).map(|found| found.plain());
    Some(explained.unwrap_or_else(|| refusal.to_string()))
}

/// Checks a scene on a separate thread, and measures the time.
fn watched(text: &str, path: &Path) -> (Option<String>, Duration) {
    let (sender, reported) = channel();
    let (text, path) = (text.to_owned(), path.to_owned());
    let shown = text.clone();
    let clock = Instant::now();
    std::thread::spawn(move || {
        let _ = sender.send(checked(&text, &path));
    });
    match reported.recv_timeout(WATCH) {
        Ok(said) => (said, clock.elapsed()),
        Err(RecvTimeoutError::Timeout) => panic!("not checked after {WATCH:?}:\n{shown}"),
        Err(RecvTimeoutError::Disconnected) => panic!("a panic, which is shown above, of\n{shown}"),
    }
}

/// A number of kilobytes that Linux reports for this process, in bytes; 0 elsewhere.
fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    let kilobytes = line.and_then(|line| line.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}

/// Whether a message names a line of a file.
fn names_a_line(message: &str, file: &str) -> bool {
    let start = format!("{file}:");
    let mut ends = message.match_indices(start.as_str()).map(|(at, found)| at + found.len());
    ends.any(|at| message[at..].starts_with(|character: char| character.is_ascii_digit()))
}

#[test]
fn spoiled_examples_are_refused_with_their_lines_or_become_worlds() {
    let count: Option<usize> = std::env::var("SEIXO_MUTATIONS").ok().map(|count| count.parse().unwrap());
    let mut examples = examples();
    // All pairs of a region that a change made larger take seconds, too, and are meant to.
    examples.retain(|(_, text)| !text.contains("\"brute_force\""));
    if count.is_none() {
        // Dense packings that are grown take seconds each.
        examples.retain(|(_, text)| !text.contains("\"growth\""));
    }
    let mut dice = ChaCha12Rng::seed_from_u64(10);
    let mut own: Vec<Option<Duration>> = vec![None; examples.len()];
    let (mut refused, mut without_line) = (0_usize, 0);
    for _ in 0..count.unwrap_or(300) {
        let chosen = dice.random_range(0..examples.len());
        let (path, text) = &examples[chosen];
        let allowed = *own[chosen].get_or_insert_with(|| {
            let (said, took) = watched(text, path);
            assert_eq!(said, None, "{}", path.display());
            TIME + 4 * took
        });
        let text = spoiled(text, &mut dice);
        let (before, most_before) = (memory("VmRSS"), memory("VmHWM"));
        let (said, took) = watched(&text, path);
        // The peak of the memory is only useful if it rises.
        let most = memory("VmHWM");
        assert!(
            most == most_before || most < before + MEMORY,
            "{most} bytes, {before} before, of\n{text}"
        );
        let Some(message) = said else { continue };
        refused += 1;
        // A busy machine may be slow once.
        let took = if took < allowed { took } else { watched(&text, path).1 };
        assert!(
            took < allowed,
            "{took:?} where {allowed:?} are allowed, to say\n{message}\nof\n{text}"
        );
        let file = path.file_name().unwrap().to_string_lossy();
        assert!(message.contains(&*file), "no file is named in\n{message}\nof\n{text}");
        // A missing section has no line.
        without_line += usize::from(!names_a_line(&message, &file));
    }
    println!("{refused} were refused, {without_line} without a line");
    assert!(10 * without_line < refused, "{without_line} of {refused} refusals name no line");
}
