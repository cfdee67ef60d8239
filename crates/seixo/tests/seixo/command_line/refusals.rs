//! Errors in a scene on a terminal: with file and line, quickly, and without control characters.

use crate::command_line::stage::{HEAP, Stage};
use serde_json::Value;

#[test]
fn what_the_engine_refuses_names_the_line_of_the_scene() {
    let stage = Stage::new();
    let sunk = HEAP.replace(
        "\"1 mm\"], max = [\"25 mm\", \"25 mm\", \"70 mm\"]",
        "\"-9 mm\"], max = [\"25 mm\", \"25 mm\", \"60 mm\"]",
    );
    assert_ne!(sunk, HEAP);
    stage.write("sunk.toml", &sunk);
    for command in ["check", "run"] {
        let done = stage.seixo(&format!("{command} sunk.toml"));
        assert_eq!(done.code, 2, "{command}: {}", done.err);
        for reported in ["inside a wall at the start", "sunk.toml:16:14", "accepted: overlaps of 50.0 %"] {
            assert!(done.err.contains(reported), "{command}: no `{reported}` in\n{}", done.err);
        }
        let reported: Value = serde_json::from_str(stage.seixo(&format!("{command} sunk.toml --json")).out.trim()).unwrap();
        let found = &reported["diagnostics"][0];
        assert_eq!(
            (found["line"].as_u64(), reported["exit_code"].as_u64()),
            (Some(16), Some(2)),
            "{reported}"
        );
        assert_eq!(
            reported["further_checks"],
            "to be checked once this is mended: the rest of the start"
        );
        assert!(!stage.path("sunk.out").exists());
    }
}

#[test]
fn flags_beyond_this_machine_and_endless_runs_are_refused_at_once() {
    let stage = Stage::new();
    for (flags, phrases) in [
        ("--threads 4096", ["cannot start 4096 threads", "run.threads=4096"]),
        ("--domains 4096", ["4096 domains are too many", "run.domains=4096"]),
        (
            "--set run.time_step=1e-14 --set run.until=600",
            ["9e15 steps", "run.time_step=1e-14"],
        ),
    ] {
        for command in ["check", "run"] {
            let done = stage.seixo(&format!("{command} heap.toml {flags}"));
            assert_eq!(done.code, 2, "{command} {flags}: {}", done.err);
            for reported in phrases {
                assert!(done.err.contains(reported), "{command} {flags}: no `{reported}` in\n{}", done.err);
            }
            assert!(!stage.path("heap.out").exists(), "{command} {flags}");
        }
    }
}

#[test]
fn titles_and_names_of_files_are_shown_without_what_a_terminal_obeys() {
    let stage = Stage::new();
    stage.write("loud.toml", &HEAP.replace("Little heap", "\\u001b[2J\\u009b31mheap"));
    let done = stage.succeed("check loud.toml");
    assert!(done.out.contains("\\u{1b}[2J\\u{9b}31mheap"), "{}", done.out);
    let json = stage.succeed("check loud.toml --json").out;
    let reported: Value = serde_json::from_str(json.trim()).unwrap();
    assert_eq!(reported["title"], "\u{1b}[2J\u{9b}31mheap");
    let missing = stage.seixo("check \u{1b}[2Jno\u{9b}.toml");
    assert_eq!(missing.code, 2, "{}", missing.err);
    for text in [done.out, json, missing.err] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
}
