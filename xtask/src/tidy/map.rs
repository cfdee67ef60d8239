//! The map and the ground: dependency edges as drawn, dependencies with reasons, programs that compile.

use super::{Page, Violation};

/// The page with a reason for every dependency.
const REASONS: &str = "docs/design/dependencies.md";

/// A crate of the workspace.
struct Crate {
    /// Its folder below `crates`.
    folder: &'static str,
    /// Crates of the workspace that it may depend on.
    ours: &'static [&'static str],
    /// Where a stratum is strict, the outside crates that it may use.
    outside: Option<&'static [&'static str]>,
}

/// The edges as drawn in ARCHITECTURE.md.
const CRATES: &[Crate] = &[
    Crate {
        folder: "laws",
        ours: &[],
        outside: Some(&["cubecl"]),
    },
    Crate {
        folder: "sweeps",
        ours: &["laws"],
        outside: Some(&["cubecl"]),
    },
    Crate {
        folder: "device",
        ours: &["transport"],
        outside: Some(&[
            "cubecl",
            "cubecl-environment",
            "cubecl-runtime",
            "cudarc",
            "ash",
            "bytemuck",
            "rustix",
            "thiserror",
        ]),
    },
    Crate {
        folder: "device/llvm-stand-in",
        ours: &[],
        outside: Some(&["cubecl-core", "cubecl-runtime", "cubecl-environment"]),
    },
    Crate {
        folder: "transport",
        ours: &[],
        outside: Some(&["blake3", "mpi", "thiserror"]),
    },
    Crate {
        folder: "engine",
        ours: &["laws", "sweeps", "device", "transport"],
        outside: Some(&["exmex", "rand", "rand_chacha", "thiserror"]),
    },
    Crate {
        folder: "analysis",
        ours: &["engine"],
        outside: Some(&["glam", "splashsurf_lib", "thiserror"]),
    },
    Crate {
        folder: "files",
        ours: &["engine"],
        outside: None,
    },
    Crate {
        folder: "scene",
        ours: &["engine", "analysis", "device", "laws", "files"],
        outside: None,
    },
    Crate {
        folder: "view",
        ours: &["files", "analysis"],
        outside: None,
    },
    Crate {
        folder: "seixo",
        ours: &["engine", "analysis", "device", "transport", "scene", "files", "view", "laws"],
        outside: None,
    },
    // Its only crate of ours is the library, whose name has no prefix.
    Crate {
        folder: "python",
        ours: &[],
        outside: Some(&["dlpark", "numpy", "pyo3", "seixo", "serde_json", "toml_edit"]),
    },
];

/// Invariants 9 and, of programs shown in pages, 12.
pub fn check(pages: &[Page], found: &mut Vec<Violation>) {
    let manifests: Vec<&Page> = pages.iter().filter(|page| page.path.ends_with("/Cargo.toml")).collect();
    for page in &manifests {
        check_edges(page, found);
    }
    if let Some(root) = pages.iter().find(|page| page.path == "Cargo.toml") {
        let reasons = pages.iter().find(|page| page.path == REASONS).map_or("", |page| page.text.as_str());
        check_dependencies(root, &manifests, reasons, found);
    }
    for page in pages.iter().filter(|page| page.path.ends_with(".md")) {
        check_programs(page, pages, found);
    }
}

/// The dependencies of a manifest: line, section, name.
fn dependencies(manifest: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let mut section = "";
    manifest.lines().enumerate().filter_map(move |(k, line)| {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            return None;
        }
        let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
        (section.ends_with("dependencies") && !name.is_empty() && !name.starts_with('#')).then_some((k + 1, section, name))
    })
}

/// Whether one crate may know another, be it over others.
fn reaches(from: &str, to: &str) -> bool {
    from == to || drawn(from).is_some_and(|from| from.ours.iter().any(|next| reaches(next, to)))
}

fn drawn(folder: &str) -> Option<&'static Crate> {
    CRATES.iter().find(|one| one.folder == folder)
}

fn check_edges(page: &Page, found: &mut Vec<Violation>) {
    let folder = page.path.trim_start_matches("crates/").trim_end_matches("/Cargo.toml");
    let mut say = |line: usize, what: String, remedy: &'static str| {
        found.push(Violation {
            path: page.path.clone(),
            line,
            rule: 9,
            what,
            remedy,
        });
    };
    if folder == "xtask" {
        if let Some((line, ..)) = dependencies(&page.text).next() {
            say(
                line,
                "xtask depends on a crate".into(),
                "write it with the standard library, so that tidy builds in seconds",
            );
        }
        return;
    }
    let Some(Crate { ours, outside, .. }) = drawn(folder) else {
        return say(
            1,
            format!("the crate {folder} is on no map"),
            "draw it in ARCHITECTURE.md and in xtask/src/tidy/map.rs",
        );
    };
    for (line, section, name) in dependencies(&page.text) {
        let is_for_tests = section == "dev-dependencies";
        let remedy = "follow the edges drawn in ARCHITECTURE.md";
        match name.strip_prefix("seixo-") {
            Some(other) if is_for_tests && reaches(folder, other) => {}
            Some(other) if ours.contains(&other) => {}
            Some(other) => say(line, format!("{folder} depends on {other}"), remedy),
            None if is_for_tests || outside.is_none_or(|outside| outside.contains(&name)) => {}
            None => say(line, format!("{folder} depends on {name}"), remedy),
        }
    }
}

/// Every dependency of the workspace is used by a crate and has its reason.
fn check_dependencies(root: &Page, manifests: &[&Page], reasons: &str, found: &mut Vec<Violation>) {
    let listed = dependencies(&root.text).filter(|(_, section, name)| *section == "workspace.dependencies" && !name.starts_with("seixo"));
    for (line, _, name) in listed {
        let mut say = |what: String, remedy: &'static str| {
            found.push(Violation {
                path: root.path.clone(),
                line,
                rule: 9,
                what,
                remedy,
            })
        };
        let is_used = manifests
            .iter()
            .any(|manifest| dependencies(&manifest.text).any(|(_, _, used)| used == name));
        if !is_used {
            say(format!("no crate uses {name}"), "remove the line");
        } else if !reasons.contains(&format!("`{name}`")) {
            say(format!("{REASONS} gives no reason for {name}"), "add it to the table there");
        }
    }
}

/// A Rust program shown in a page is one that is compiled with the tests: an example of crates/seixo, to the letter.
fn check_programs(page: &Page, pages: &[Page], found: &mut Vec<Violation>) {
    let is_compiled = |program: &str| {
        pages
            .iter()
            .any(|page| page.path.starts_with("crates/seixo/examples/") && page.text == program)
    };
    for (at, _) in page.text.match_indices("```rust\n") {
        let program = page.text[at + "```rust\n".len()..].split("```").next().unwrap_or_default();
        if !is_compiled(program) {
            let (line, what) = (page.text[..at].lines().count() + 1, "a program that nothing compiles".to_owned());
            let remedy = "show a whole file of crates/seixo/examples";
            found.push(Violation {
                path: page.path.clone(),
                line,
                rule: 12,
                what,
                remedy,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::page;
    use super::*;

    fn rules(pages: &[Page]) -> Vec<(String, usize, u32)> {
        let mut found = Vec::new();
        check(pages, &mut found);
        found
            .into_iter()
            .map(|violation| (violation.path, violation.line, violation.rule))
            .collect()
    }

    #[test]
    fn edges_are_as_drawn() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\nseixo-laws.workspace = true\nrayon.workspace = true\n";
        let sweeps = "crates/sweeps/Cargo.toml";
        assert_eq!(rules(&[page(sweeps, manifest)]), [(sweeps.into(), 5, 9)]);
        let laws = "crates/laws/Cargo.toml";
        assert_eq!(rules(&[page(laws, manifest)]), [(laws.into(), 4, 9), (laws.into(), 5, 9)]);
        assert_eq!(rules(&[page("crates/scene/Cargo.toml", manifest)]), []);
        let transport = "crates/transport/Cargo.toml";
        assert_eq!(
            rules(&[page(transport, manifest)]),
            [(transport.into(), 4, 9), (transport.into(), 5, 9)]
        );
        let tests = "[dev-dependencies]\nseixo-engine.workspace = true\nproptest.workspace = true";
        assert_eq!(rules(&[page("crates/view/Cargo.toml", tests)]), []);
        assert_eq!(rules(&[page(sweeps, tests)]), [(sweeps.into(), 2, 9)]);
        assert_eq!(
            rules(&[page("crates/new/Cargo.toml", "")]),
            [("crates/new/Cargo.toml".into(), 1, 9)]
        );
    }

    #[test]
    fn every_dependency_is_used_and_has_a_reason() {
        let root = page("Cargo.toml", "[workspace.dependencies]\nglam = \"1\"\ncsv = \"1\"\npng = \"1\"");
        let view = page(
            "crates/view/Cargo.toml",
            "[dependencies]\nglam.workspace = true\npng.workspace = true",
        );
        let reasons = page("docs/design/dependencies.md", "| `glam` | vectors |");
        assert_eq!(
            rules(&[root, view, reasons]),
            [("Cargo.toml".into(), 3, 9), ("Cargo.toml".into(), 4, 9)]
        );
    }

    #[test]
    fn programs_in_pages_are_compiled() {
        let shown = page("README.md", "A program:\n```rust\nfn main() {}\n```\n");
        let example = page("crates/seixo/examples/a.rs", "fn main() {}\n");
        assert_eq!(rules(&[shown, example]), []);
        let shown = page("README.md", "A program:\n```rust\nfn main() { gone() }\n```\n");
        let example = page("crates/seixo/examples/a.rs", "fn main() {}\n");
        assert_eq!(rules(&[shown, example]), [("README.md".into(), 2, 12)]);
    }
}
