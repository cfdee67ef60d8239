//! The invariants of ARCHITECTURE.md, enforced. Each is an absence: a rule looks for what must not be there.

mod imports;
mod layers;
mod layers_picture;
mod listed;
mod map;
mod prose;
mod source;
mod style;
mod vocabulary;

pub use layers_picture::PICTURE;
use source::Source;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// What a rule found, where, and what to do about it.
#[derive(Debug, PartialEq)]
struct Violation {
    path: String,
    line: usize,
    /// Number of the invariant in ARCHITECTURE.md.
    rule: u32,
    what: String,
    remedy: &'static str,
}

/// A text file of the repository.
struct Page {
    /// Path from the root, with `/`.
    path: String,
    text: String,
}

/// A page for the tests of the rules.
#[cfg(test)]
fn page(path: &str, text: &str) -> Page {
    Page {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

/// Folders and files that are looked at.
const LOOKED_AT: &[&str] = &[
    ".ci",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "Cargo.toml",
    "GLOSSARY.md",
    "README.md",
    "crates",
    "docs",
    "examples",
    "peers",
    "pyproject.toml",
    "python",
    "xtask",
];
/// Endings of text files; others are listed but not read.
const READ: &[&str] = &[".rs", ".toml", ".md", ".wgsl", ".ci/run", ".ci/long"];

/// Checks every rule; violations go to stdout.
pub fn run(root: &Path) -> ExitCode {
    let Some((paths, pages)) = read(root) else {
        return ExitCode::FAILURE;
    };
    let sources = sources_of(&pages);
    let (mut violations, measures) = check(&paths, &pages, &sources);
    let kept = fs::read_to_string(root.join(layers_picture::PICTURE)).ok();
    layers_picture::check(&layers_picture::draw(&pages, &sources), kept.as_deref(), &mut violations);
    for Violation {
        path,
        line,
        rule,
        what,
        remedy,
    } in &violations
    {
        println!("{path}:{line}: invariant {rule}: {what}; {remedy}");
    }
    println!(
        "tidy: {} pages for readers, {:.1} words a sentence, the longest page has {} words",
        measures.pages, measures.mean_sentence, measures.longest_page
    );
    if violations.is_empty() {
        println!("tidy: {} files, nothing to say", pages.len());
        ExitCode::SUCCESS
    } else {
        println!("tidy: {} violations; the invariants stand in ARCHITECTURE.md", violations.len());
        ExitCode::FAILURE
    }
}

/// Draws the picture of the layers.
pub fn draw_layers(root: &Path) -> ExitCode {
    let Some((_, pages)) = read(root) else { return ExitCode::FAILURE };
    let picture = layers_picture::draw(&pages, &sources_of(&pages));
    match fs::write(root.join(layers_picture::PICTURE), picture) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", layers_picture::PICTURE);
            ExitCode::FAILURE
        }
    }
}

/// Reads all files; says what cannot be read.
fn read(root: &Path) -> Option<(Vec<String>, Vec<Page>)> {
    let (mut paths, mut pages) = (Vec::new(), Vec::new());
    for name in LOOKED_AT {
        if let Err(error) = collect(root, name, &mut paths, &mut pages) {
            eprintln!("{name}: {error}");
            return None;
        }
    }
    Some((paths, pages))
}

/// The Rust files.
fn sources_of(pages: &[Page]) -> Vec<Source> {
    let of_rust = pages.iter().filter(|page| page.path.ends_with(".rs"));
    of_rust.map(|page| Source::new(&page.path, &page.text)).collect()
}

/// Lists `path` and what is below it, in alphabetical order; run folders and build outputs are left out.
fn collect(root: &Path, path: &str, paths: &mut Vec<String>, pages: &mut Vec<Page>) -> io::Result<()> {
    let whole = root.join(path);
    paths.push(path.to_owned());
    if whole.is_dir() {
        let mut names = Vec::new();
        for entry in fs::read_dir(&whole)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        for name in names.iter().filter(|name| !name.ends_with(".out") && *name != "target") {
            collect(root, &format!("{path}/{name}"), paths, pages)?;
        }
    } else if READ.iter().any(|ending| path.ends_with(ending)) {
        let text = fs::read_to_string(whole)?;
        pages.push(Page {
            path: path.to_owned(),
            text,
        });
    }
    Ok(())
}

fn check(paths: &[String], pages: &[Page], sources: &[Source]) -> (Vec<Violation>, prose::Measures) {
    let mut found = Vec::new();
    for page in pages {
        style::check_text(page, &mut found);
    }
    for source in sources {
        layers::check(source, &mut found);
        style::check_source(source, &mut found);
    }
    imports::check(sources, &mut found);
    map::check(pages, &mut found);
    listed::check(paths, pages, &mut found);
    vocabulary::check(pages, sources, &mut found);
    let measures = prose::check(pages, sources, &mut found);
    found.sort_by(|a, b| (&a.path, a.line, a.rule).cmp(&(&b.path, b.line, b.rule)));
    (found, measures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_read_whole() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let (mut paths, mut pages) = (Vec::new(), Vec::new());
        for name in LOOKED_AT {
            collect(&root, name, &mut paths, &mut pages).unwrap();
        }
        for path in ["crates/laws/src/lib.rs", "xtask/src/tidy.rs", "README.md", ".ci/run", "Cargo.toml"] {
            assert!(pages.iter().any(|page| page.path == path), "{path}");
        }
        assert!(!paths.iter().any(|path| path.contains("/target/")));
    }
}
