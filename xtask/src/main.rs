//! Tasks of the repository: `cargo xtask tidy`.

mod tidy;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => tidy::run(&root),
        _ => {
            eprintln!("usage: cargo xtask tidy    checks the invariants of ARCHITECTURE.md");
            ExitCode::from(2)
        }
    }
}
