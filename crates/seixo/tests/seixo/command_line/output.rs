//! Output that fails: a full device, a closed pipe, a limit on file sizes.

use crate::command_line::stage::{Done, SEIXO, Stage};
use seixo::files::vtk::{Field, SURFACE_FIELDS};
use seixo_engine::state::Ledger;

/// Runs a line of the shell that starts with a command of the program.
fn shell(stage: &Stage, before: &str, line: &str, after: &str) -> Done {
    let mut command = stage.command("sh", "-c");
    command.arg(format!("{before} exec {SEIXO} {line} {after}"));
    Done::of(command)
}

#[test]
fn what_cannot_be_printed_is_an_error_with_code_1() {
    let stage = Stage::new();
    for line in [
        "--help",
        "--version",
        "run --help",
        "schema",
        "completions bash",
        "new",
        "check heap.toml",
        "check heap.toml --json",
        "run heap.toml --until 1e-4 --out text",
        "run heap.toml --until 1e-4 --out json --json",
        "resume json --until 2e-4 --json",
        "info text",
        "verify heat_chain",
    ] {
        let done = shell(&stage, "", line, "> /dev/full");
        assert_eq!(done.code, 1, "{line}: {}", done.err);
        assert!(
            done.err.contains("cannot write to the standard output: No space left"),
            "{line}: {}",
            done.err
        );
        assert!(!done.err.contains("panicked"), "{line}: {}", done.err);
    }
    assert_eq!(["text", "json"].map(|run| stage.record(run)["result"].clone()), ["finished"; 2]);
    // Other errors are still reported, with their own exit code.
    let done = shell(&stage, "", "check nowhere.toml --json", "> /dev/full");
    assert!(done.code == 2 && done.err.contains("nowhere.toml"), "{}", done.err);
    let done = shell(&stage, "", "run heap.toml --json --out text", "> /dev/full");
    assert!(done.code == 2 && done.err.contains("holds an earlier run"), "{}", done.err);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let stage = Stage::new();
    for line in ["--help", "schema", "check heap.toml --json", "run heap.toml --until 1e-4 --json"] {
        let mut child = stage.start(line);
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{line}");
    }
    assert_eq!(stage.record("heap.out")["result"], "finished");
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_that_names_the_file() {
    let stage = Stage::new();
    // In blocks of 512 or 1024 bytes: the scene fits, a frame of 300 grains does not.
    let done = shell(&stage, "ulimit -f 16;", "run heap.toml --quiet --threads 1", "");
    assert_eq!(done.code, 1, "{}", done.err);
    for part in ["heap.out/", "File too large", "ulimit -f unlimited"] {
        assert!(done.err.contains(part), "without \"{part}\": {}", done.err);
    }
    assert_eq!(stage.record("heap.out")["result"], "failed");
    // A table exceeds the limit later.
    let done = shell(
        &stage,
        "ulimit -f 400;",
        "run heap.toml --quiet --force --set output.energies_every=10us",
        "",
    );
    assert!(
        done.code == 1 && done.err.contains(".csv: cannot append to it: File too large"),
        "{}",
        done.err
    );
    stage.succeed("resume heap.out --quiet");
    assert_eq!(stage.record("heap.out")["result"], "finished");
}

/// The reference must describe each array and column; an addition without a description fails here.
#[test]
fn every_field_and_every_column_of_the_ledger_is_in_the_docs() {
    let page = include_str!("../../../../../docs/reference/output.md");
    let fields = Field::all().map(|(_, word)| word).chain(SURFACE_FIELDS);
    let of_ledger = Ledger::NAMES.into_iter().filter_map(|name| name.strip_suffix(" [J]"));
    for word in fields.chain(of_ledger) {
        assert!(
            page.contains(&format!("`{word}`")),
            "docs/reference/output.md does not name `{word}`"
        );
    }
}
