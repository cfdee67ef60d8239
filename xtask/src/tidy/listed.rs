//! Modules that are listed, and paths, links and long tests that exist.

use super::{Page, Violation, prose};

/// The page that draws the crates and their edges.
const MAP: &str = "ARCHITECTURE.md";
/// The tests that `.ci/run` leaves to `.ci/run --long`, one a line.
const LONG: &str = ".ci/long";

/// Invariant 11.
pub fn check(paths: &[String], pages: &[Page], found: &mut Vec<Violation>) {
    for page in pages {
        if page.path.ends_with("/Cargo.toml") {
            check_modules(page, paths, pages, found);
        }
        if page.path.ends_with(".md") {
            check_paths(page, paths, found);
        }
        if page.path == LONG {
            check_long_tests(page, pages, found);
        }
    }
}

/// Each long test is a function of a test from outside.
fn check_long_tests(list: &Page, pages: &[Page], found: &mut Vec<Violation>) {
    for (index, name) in list.text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let (module, function) = name.rsplit_once("::").unwrap_or(("", name));
        let (ending, signature) = (format!("/{}.rs", module.replace("::", "/")), format!("fn {function}("));
        let is_there = |page: &Page| page.path.contains("/tests/") && page.path.ends_with(&ending) && page.text.contains(&signature);
        if !pages.iter().any(is_there) {
            found.push(Violation {
                path: list.path.clone(),
                line: index + 1,
                rule: 11,
                what: format!("there is no test `{name}`"),
                remedy: "name a test that exists",
            });
        }
    }
}

fn text_of<'a>(path: &str, pages: &'a [Page]) -> Option<&'a str> {
    pages.iter().find(|page| page.path == path).map(|page| page.text.as_str())
}

/// The README of a crate lists all of its modules; the map has a heading for it and names those directly below `src`.
fn check_modules(manifest: &Page, paths: &[String], pages: &[Page], found: &mut Vec<Violation>) {
    let name = manifest.path.trim_start_matches("crates/").trim_end_matches("/Cargo.toml");
    let modules: Vec<&str> = modules_of(name, paths).collect();
    if modules.is_empty() || name.contains('/') {
        return;
    }
    let mut say = |path: &str, what: String, remedy: &'static str| {
        found.push(Violation {
            path: path.to_owned(),
            line: 1,
            rule: 11,
            what,
            remedy,
        });
    };
    let readme = format!("crates/{name}/README.md");
    if let Some(text) = text_of(&readme, pages) {
        let listed: Vec<String> = text.lines().flat_map(quoted_paths).collect();
        for module in modules.iter().filter(|module| !is_listed(module, &listed)) {
            say(
                &readme,
                format!("the module `{module}` is not listed"),
                "add a line with its purpose",
            );
        }
    } else {
        say(
            &readme,
            format!("the crate {name} has no README"),
            "write one that lists its modules",
        );
    }
    if let Some(section) = section_of(name, text_of(MAP, pages).unwrap_or_default()) {
        let listed: Vec<String> = section.into_iter().flat_map(quoted_paths).collect();
        let at_the_top = modules.iter().filter(|module| !module.contains('/'));
        for module in at_the_top.filter(|module| !is_listed(module, &listed)) {
            say(
                MAP,
                format!("the module `{module}` of crates/{name} is not named"),
                "name it below the heading of its crate",
            );
        }
    } else {
        say(
            MAP,
            format!("no heading names `crates/{name}`"),
            "add one, and the modules of the crate below it",
        );
    }
}

/// The module files of a crate as paths from its `src`, but for its roots and its tests.
fn modules_of<'a>(name: &str, paths: &'a [String]) -> impl Iterator<Item = &'a str> {
    let folder = format!("crates/{name}/src/");
    let is_of_tests = |step: &str| {
        let stem = step.trim_end_matches(".rs");
        stem == "tests" || stem.ends_with("_tests")
    };
    paths
        .iter()
        .filter_map(move |path| path.strip_prefix(folder.as_str()))
        .filter(|path| path.ends_with(".rs") && !["lib.rs", "main.rs"].contains(path))
        .filter(move |path| !path.split('/').any(is_of_tests))
}

fn is_listed(module: &str, listed: &[String]) -> bool {
    listed.iter().any(|path| path == module)
}

/// The lines of the map below the heading that names a crate, up to the next heading.
fn section_of<'a>(name: &str, map: &'a str) -> Option<Vec<&'a str>> {
    let quoted = format!("`crates/{name}`");
    let mut lines = map
        .lines()
        .skip_while(|line| !(line.starts_with('#') && line.contains(quoted.as_str())));
    lines.next()?;
    Some(lines.take_while(|line| !line.starts_with('#')).collect())
}

/// The paths that stand in backquotes on a line.
fn quoted_paths(line: &str) -> impl Iterator<Item = String> {
    line.split('`').skip(1).step_by(2).filter(|text| is_path(text)).flat_map(expand)
}

/// The crate that a page is the README of.
fn crate_of_readme(path: &str) -> Option<&str> {
    let name = path.strip_prefix("crates/")?.strip_suffix("/README.md")?;
    (!name.contains('/')).then_some(name)
}

/// Targets of links exist; so do paths in backquotes: in READMEs of crates (from `src`, the crate or the root), the map and pages on design.
fn check_paths(page: &Page, paths: &[String], found: &mut Vec<Violation>) {
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let home = crate_of_readme(&page.path);
    let exists = |path: &str| match home {
        Some(name) => {
            let candidates = [
                format!("crates/{name}/src/{path}"),
                format!("crates/{name}/{path}"),
                path.to_owned(),
            ];
            candidates.iter().any(|candidate| paths.contains(candidate))
        }
        None => paths.iter().any(|known| known == path || known.ends_with(&format!("/{path}"))),
    };
    let has_checked_quotes = home.is_some() || page.path == MAP || page.path.starts_with("docs/design/");
    for (number, line) in prose::without_code(&page.text) {
        let mut say = |what: String, remedy: &'static str| {
            found.push(Violation {
                path: page.path.clone(),
                line: number,
                rule: 11,
                what,
                remedy,
            });
        };
        if has_checked_quotes {
            for path in quoted_paths(line).filter(|path| !exists(path)) {
                say(format!("`{path}` does not exist"), "name a path that exists");
            }
        }
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
        for target in targets.filter(|target| !target.is_empty() && !target.contains(':')) {
            let path = joined(folder, target);
            if !paths.contains(&path) && !path.starts_with("LICENSE") {
                say(format!("the link to {path} leads nowhere"), "repair the link");
            }
        }
    }
}

/// The path from the root of what a page in this folder calls `target`.
fn joined(folder: &str, target: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in folder.split('/').chain(target.split('/')).filter(|step| !step.is_empty()) {
        if step == ".." {
            steps.pop();
        } else {
            steps.push(step);
        }
    }
    steps.join("/")
}

/// Whether what stands in backquotes is a path of this repository; `NAME` and `…` stand for something else.
fn is_path(text: &str) -> bool {
    let is_spelled_like_one = text.chars().all(|c| c.is_alphanumeric() || "/._-{},".contains(c));
    let is_file = [".rs", ".toml", ".md", ".wgsl", ".stl"].iter().any(|ending| text.ends_with(ending));
    is_spelled_like_one && (text.contains('/') || is_file) && !text.contains("NAME")
}

/// `a/{b,c}.rs` is `a/b.rs` and `a/c.rs`.
fn expand(path: &str) -> Vec<String> {
    match (path.split_once('{'), path.rsplit_once('}')) {
        (Some((before, _)), Some((inside, after))) => inside[before.len() + 1..]
            .split(',')
            .map(|name| format!("{before}{name}{after}"))
            .collect(),
        _ => vec![path.trim_end_matches('/').to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::super::page;
    use super::*;

    fn rules(paths: &[&str], pages: &[Page]) -> Vec<(String, usize, u32)> {
        let mut found = Vec::new();
        let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
        check(&paths, pages, &mut found);
        found
            .into_iter()
            .map(|violation| (violation.path, violation.line, violation.rule))
            .collect()
    }

    #[test]
    fn every_module_is_listed() {
        let paths = [
            "crates/view/src/lib.rs",
            "crates/view/src/page.rs",
            "crates/view/src/page",
            "crates/view/src/page/wire.rs",
            "crates/view/src/page/tests.rs",
            "crates/view/src/page_tests/noise.rs",
            "crates/view/src/text.rs",
            "crates/view",
            "crates/device/llvm-stand-in/src/lib.rs",
            "crates/device/llvm-stand-in/src/a.rs",
        ];
        let of = |readme: &str, map: &str| {
            let manifests = ["crates/view/Cargo.toml", "crates/device/llvm-stand-in/Cargo.toml"].map(|path| page(path, ""));
            let texts = [page("crates/view/README.md", readme), page("ARCHITECTURE.md", map)];
            rules(&paths, &manifests.into_iter().chain(texts).collect::<Vec<_>>())
        };
        let readme = "| `{page,text}.rs` | pages and texts |\n`page/wire.rs`";
        let map = "# Map\n### `crates/view`\nPages (`page.rs`) and `text.rs`.\n### Others";
        let at = |path: &str| (path.to_owned(), 1, 11);
        let (in_readme, in_map) = (at("crates/view/README.md"), at("ARCHITECTURE.md"));
        assert_eq!(of(readme, map), []);
        assert_eq!(of("`page.rs` `page/{wire}.rs`", map), std::slice::from_ref(&in_readme));
        assert_eq!(of("`{page,text}.rs` and page/wire.rs", map), std::slice::from_ref(&in_readme));
        let map_without_text = "### `crates/view`\n`page.rs`\n### Others\n`text.rs`";
        assert_eq!(of(readme, map_without_text), std::slice::from_ref(&in_map));
        assert_eq!(of(readme, "In `crates/view` are `{page,text}.rs`."), [in_map]);
        let manifest = page("crates/view/Cargo.toml", "");
        assert_eq!(rules(&paths, &[manifest, page("ARCHITECTURE.md", map)]), [in_readme]);
    }

    #[test]
    fn the_map_is_true() {
        let map = page(
            "ARCHITECTURE.md",
            "`crates/laws/src/{real,gone}.rs` `step.rs` `lost.rs` `a::b` `f32` [x](docs/x.png)\n[y](docs/y.png) [z](https://z)",
        );
        let there = ["crates/laws/src/real.rs", "crates/engine/src/step.rs", "docs/x.png"];
        let map_violations = rules(&there, &[map]);
        assert_eq!(
            map_violations,
            [
                ("ARCHITECTURE.md".into(), 1, 11),
                ("ARCHITECTURE.md".into(), 1, 11),
                ("ARCHITECTURE.md".into(), 2, 11)
            ]
        );
        let there = ["crates/view/src/real.rs", "crates/engine/src/step.rs", "crates/view/Cargo.toml"];
        let of_a_crate = page(
            "crates/view/README.md",
            "`real.rs` `Cargo.toml` `crates/engine/src/step.rs`\n`step.rs`",
        );
        assert_eq!(rules(&there, &[of_a_crate]), [("crates/view/README.md".into(), 2, 11)]);
        let of_design = page("docs/design/a.md", "`step.rs` `lost.rs`");
        assert_eq!(rules(&there, &[of_design]), [("docs/design/a.md".into(), 1, 11)]);
        let up_and_down = page("docs/a.md", "[b](b.md) [c](../c/) `no/path`\n```\n[d](d.md)\n```\n[e](../b.md)");
        assert_eq!(
            rules(&["docs/a.md", "docs/b.md", "c"], &[up_and_down]),
            [("docs/a.md".into(), 5, 11)]
        );
    }

    #[test]
    fn long_tests_exist() {
        let list = |text: &str| page(".ci/long", text);
        let test = || page("crates/view/tests/view/films/noise.rs", "#[test]\nfn a_film_is_quiet() {}");
        assert_eq!(rules(&[], &[list("# Why.\nfilms::noise::a_film_is_quiet"), test()]), []);
        for gone in ["films::noise::a_film", "noise::films::a_film_is_quiet", "a_film_is_quiet"] {
            assert_eq!(rules(&[], &[list(gone), test()]), [(".ci/long".into(), 1, 11)], "{gone}");
        }
    }
}
