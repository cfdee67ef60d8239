//! Cargo features that a build of the program may leave out.

use seixo_view::{HAS_PAGES, HAS_VIDEOS, HAS_WINDOWS};
use std::sync::LazyLock;

/// Names of the features, each with whether this program has it.
const FEATURES: [(&str, bool); 5] = [
    ("cuda", cfg!(feature = "cuda")),
    ("window", HAS_WINDOWS),
    ("page", HAS_PAGES),
    ("film", HAS_VIDEOS),
    ("mpi", cfg!(feature = "mpi")),
];

/// Returns the names of the features that this program has, or lacks, with commas between them; "none" if there are none.
pub fn named(is_built_in: bool) -> String {
    let chosen = FEATURES.iter().filter(|(_, has)| *has == is_built_in);
    let names: Vec<&str> = chosen.map(|(name, _)| *name).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Returns the version, and the features in a second line.
pub fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| format!("{}\nfeatures: {}", env!("CARGO_PKG_VERSION"), named(true)));
    &TEXT
}

/// Returns the lines of a help text on features.
pub fn help() -> String {
    format!(
        "Features of this program: {}; left out: {}. To add one, install it again:\n  cargo install --path crates/seixo --features window   \
         or page, film, mpi; full for the first three",
        named(true),
        named(false)
    )
}
