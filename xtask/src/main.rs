//! Tasks of the repository: `cargo xtask tidy` and `cargo xtask layers`.

mod tidy;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => tidy::run(&root),
        Some("layers") => tidy::draw_layers(&root),
        _ => {
            eprintln!(
                "usage: cargo xtask tidy      checks the invariants of ARCHITECTURE.md\n       cargo xtask layers    draws the layers of the code into {}",
                tidy::PICTURE
            );
            ExitCode::from(2)
        }
    }
}
