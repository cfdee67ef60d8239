//! Imports between modules: no circles, and the layers that follow.

use super::source::Source;
use super::{Page, Violation};
use std::collections::{BTreeMap, BTreeSet};

/// An import of a module by another one of the same crate.
#[derive(Clone, Debug, PartialEq)]
struct Import {
    from: String,
    to: String,
    path: String,
    line: usize,
}

/// Invariant 15.
pub fn check(sources: &[Source], found: &mut Vec<Violation>) {
    for folder in crates_of(sources) {
        let imports = imports_of(&folder, sources);
        if let Some(circle) = circle_in(&edges_of(&imports)) {
            let closing = [&circle[circle.len() - 1], &circle[0]];
            let last = imports.iter().find(|import| [&import.from, &import.to] == closing);
            let Some(Import { path, line, .. }) = last else { continue };
            found.push(Violation {
                path: path.clone(),
                line: *line,
                rule: 15,
                what: format!("modules import each other in a circle: {} -> {}", circle.join(" -> "), circle[0]),
                remedy: "pass what is needed as an argument, or move the code to the layer that has it",
            });
        }
    }
}

/// Rows of names from the lowest to the highest: each imports rows below its own only.
pub type Rows = Vec<Vec<String>>;

/// The rows of the modules directly below `src` of a crate. Modules of a circle are left out.
pub fn rows_of_modules(folder: &str, sources: &[Source]) -> Rows {
    let edges = edges_of(&imports_of(folder, sources));
    rows(modules_of(folder, sources), &edges)
}

/// The rows of the crates, by their manifests.
pub fn rows_of_crates(pages: &[Page]) -> Rows {
    let (mut names, mut edges) = (BTreeSet::new(), BTreeMap::new());
    for page in pages {
        let Some(folder) = page.path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml")) else {
            continue;
        };
        let listed = page.text.split("\n[dependencies]\n").nth(1).unwrap_or_default();
        let listed = listed.split("\n[").next().unwrap_or_default();
        let ours = listed
            .lines()
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            // The library has no prefix.
            .filter_map(|name| name.strip_prefix("seixo-").or_else(|| (name == "seixo").then_some(name)));
        names.insert(folder.to_owned());
        edges.insert(folder.to_owned(), ours.map(str::to_owned).collect::<BTreeSet<String>>());
    }
    rows(names, &edges)
}

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Folders of crates, as in `crates/engine`.
fn crates_of(sources: &[Source]) -> BTreeSet<String> {
    let folders = sources.iter().filter_map(|source| source.path.split_once("/src/"));
    folders.map(|(folder, _)| folder.to_owned()).collect()
}

/// Module directly below `src` that a file belongs to; none for roots and tests.
fn module_of<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let inside = path.strip_prefix(folder)?.strip_prefix("/src/")?;
    let is_of_tests = inside.split(['/', '.']).any(|step| step == "tests" || step.ends_with("_tests"));
    let module = inside.split(['/', '.']).next()?;
    (!is_of_tests && !["lib", "main"].contains(&module)).then_some(module)
}

fn modules_of(folder: &str, sources: &[Source]) -> BTreeSet<String> {
    let modules = sources.iter().filter_map(|source| module_of(folder, &source.path));
    modules.map(str::to_owned).collect()
}

fn imports_of(folder: &str, sources: &[Source]) -> Vec<Import> {
    let modules = modules_of(folder, sources);
    let exported = exported_by(folder, sources);
    let mut imports = Vec::new();
    for source in sources {
        let Some(module) = module_of(folder, &source.path) else { continue };
        for (at, path) in source.code.match_indices("crate::") {
            let line = source.line_of(at);
            let named = source.code[at + path.len()..]
                .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .next();
            let name = named.unwrap_or_default();
            let to = exported.get(name).map_or(name, String::as_str);
            if line < source.tests_from() && to != module && modules.contains(to) {
                imports.push(Import {
                    from: module.to_owned(),
                    to: to.to_owned(),
                    path: source.path.clone(),
                    line,
                });
            }
        }
    }
    imports
}

/// Modules of the items that the root of a crate exports.
fn exported_by(folder: &str, sources: &[Source]) -> BTreeMap<String, String> {
    let root = format!("{folder}/src/lib.rs");
    let mut exported = BTreeMap::new();
    let code = sources.iter().find(|source| source.path == root).map_or("", |source| &source.code);
    for export in code.split("pub use ").skip(1) {
        let Some((module, items)) = export.split_once(';').and_then(|(path, _)| path.split_once("::")) else {
            continue;
        };
        for item in items
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|item| !item.is_empty())
        {
            exported.insert(item.to_owned(), module.to_owned());
        }
    }
    exported
}

fn edges_of(imports: &[Import]) -> Edges {
    let mut edges = Edges::new();
    for Import { from, to, .. } in imports {
        edges.entry(from.clone()).or_default().insert(to.clone());
    }
    edges
}

/// A shortest circle, if there is one.
fn circle_in(edges: &Edges) -> Option<Vec<String>> {
    let circles = edges.keys().filter_map(|start| way_back(start, edges));
    circles.min_by_key(Vec::len)
}

/// The shortest way from a module to itself.
fn way_back(start: &str, edges: &Edges) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.to_owned()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in way.last().and_then(|last| edges.get(last)).into_iter().flatten() {
                if next == start {
                    return Some(way);
                }
                if seen.insert(next.clone()) {
                    longer.push(way.iter().cloned().chain([next.clone()]).collect());
                }
            }
        }
        ways = longer;
    }
    None
}

/// Puts each name into the row above all that it imports.
fn rows(mut names: BTreeSet<String>, edges: &Edges) -> Rows {
    let mut rows = Rows::new();
    loop {
        let waits = |name: &&String| {
            edges
                .get(*name)
                .is_none_or(|imported| imported.iter().all(|to| !names.contains(to)))
        };
        let row: Vec<String> = names.iter().filter(waits).cloned().collect();
        if row.is_empty() {
            return rows;
        }
        row.iter().for_each(|name| {
            names.remove(name);
        });
        rows.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::super::page;
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Vec<Source> {
        files.iter().map(|(path, text)| Source::new(path, text)).collect()
    }

    const UP: (&str, &str) = ("crates/a/src/high.rs", "use crate::low::Low;\nuse crate::Middle;");

    #[test]
    fn a_circle_is_found_at_the_import_that_closes_it() {
        let mut files = vec![
            UP,
            (
                "crates/a/src/lib.rs",
                "mod high;\nmod low;\nmod middle;\npub use middle::{Middle, Other};",
            ),
            ("crates/a/src/middle/deep.rs", "fn a() { crate::low::b() }"),
            (
                "crates/a/src/low.rs",
                "fn b() {}\n#[cfg(test)]\nmod tests {\n    use crate::high::c;\n}",
            ),
        ];
        let circles = |files: &[(&str, &str)]| {
            let mut found = Vec::new();
            check(&sources(files), &mut found);
            found.into_iter().map(|one| (one.path, one.line, one.what)).collect::<Vec<_>>()
        };
        assert_eq!(circles(&files), []);
        assert_eq!(rows_of_modules("crates/a", &sources(&files)), [["low"], ["middle"], ["high"]]);
        files.push(("crates/a/src/low/part.rs", "\nuse crate::Other;"));
        let [(path, line, what)] = &circles(&files)[..] else {
            panic!("one circle")
        };
        assert!(
            what.ends_with("low -> middle -> low") || what.ends_with("middle -> low -> middle"),
            "{what}"
        );
        assert!([("crates/a/src/middle/deep.rs", 1), ("crates/a/src/low/part.rs", 2)].contains(&(path, *line)));
    }

    #[test]
    fn crates_stand_above_those_they_depend_on() {
        let pages = [
            page(
                "crates/a/Cargo.toml",
                "[package]\n\n[dependencies]\nseixo-b.workspace = true\n\n[dev-dependencies]\nseixo-c.workspace = true\n",
            ),
            page("crates/b/Cargo.toml", "[package]\n\n[dependencies]\nrand.workspace = true\n"),
            page(
                "crates/c/Cargo.toml",
                "[package]\n\n[dependencies]\nseixo-a = { workspace = true }\n",
            ),
        ];
        assert_eq!(rows_of_crates(&pages), [["b"], ["a"], ["c"]]);
    }
}
