//! Templates: the examples, all of them, each of which loads and steps.

use seixo_engine::Simulation;
use seixo_scene::{Template, load_text, templates};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder with the files that a template reads, and the path that its scene file would have there.
fn unpacked(template: &Template) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in template.beside {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let scene = folder.path().join("scene.toml");
    (folder, scene)
}

#[test]
fn templates_are_all_files_of_the_examples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    // Editors may have a schema beside the scenes.
    let files: BTreeMap<String, String> = files
        .filter(|path| path.is_file() && path.extension().is_some_and(|ending| ending != "json"))
        .map(|path| (name(&path), std::fs::read_to_string(&path).unwrap()))
        .collect();
    let scenes = templates()
        .iter()
        .map(|template| (format!("{}.toml", template.name), template.text));
    let beside = templates().iter().flat_map(|template| template.beside.iter().copied());
    let mut known: Vec<(String, &str)> = beside.map(|(name, text)| (name.to_owned(), text)).chain(scenes).collect();
    known.sort();
    known.dedup();
    let files: Vec<(String, &str)> = files.iter().map(|(name, text)| (name.clone(), text.as_str())).collect();
    let names = |all: &[(String, &str)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&known), names(&files));
    assert!(known == files, "a template differs from the example of the same name");
    // Those of a topic stand together.
    let topics: Vec<&str> = templates()
        .chunk_by(|one, next| one.topic == next.topic)
        .map(|chunk| chunk[0].topic)
        .collect();
    assert_eq!(topics.iter().collect::<BTreeSet<_>>().len(), topics.len(), "{topics:?}");
    // A file beside a scene is one that it reads.
    for template in templates() {
        let is_read = |file: &&(&str, &str)| template.text.contains(&format!("\"{}\"", file.0));
        assert_eq!(
            template.beside.iter().filter(is_read).count(),
            template.beside.len(),
            "{}",
            template.name
        );
    }
}

#[test]
fn templates_load_and_resolve_to_themselves() {
    for template in templates() {
        let (_folder, path) = unpacked(template);
        let first = load_text(template.text, &path, &[]).unwrap_or_else(|found| panic!("{}: {found}", template.name));
        // Notes about fluid that bodies displace, and about grains apart from the fluid, say nothing wrong.
        let is_expected = |notice: &String| {
            ["bodies take the room of", "fluids pass through"]
                .iter()
                .any(|known| notice.starts_with(known))
        };
        assert!(first.notices.iter().all(is_expected), "{}: {:?}", template.name, first.notices);
        assert!(first.doubts().is_empty(), "{}: {:?}", template.name, first.doubts());
        assert_ne!(first.title, "", "{}", template.name);
        let again = load_text(&first.resolved, Path::new("elsewhere/scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(again.resolved, first.resolved);
        assert_eq!(
            format!("{:?}", (again.world, again.settings, again.output, again.probes)),
            format!("{:?}", (first.world, first.settings, first.output, first.probes))
        );
    }
}

#[test]
fn templates_start_and_step() {
    for template in templates() {
        let (_folder, path) = unpacked(template);
        let scene = load_text(template.text, &path, &[]).unwrap();
        let count = scene.world.grains.len();
        let mut simulation = Simulation::new(scene.world, scene.settings).unwrap_or_else(|refusal| panic!("{}: {refusal}", template.name));
        for _ in 0..20 {
            simulation.step().unwrap_or_else(|stop| panic!("{}: {stop}", template.name));
        }
        assert_eq!(simulation.len(), count, "{}", template.name);
    }
}
