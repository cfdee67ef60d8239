//! Grains from files of other programs, in a world.

use crate::loaded::GLASS;
use seixo_scene::{Diagnostics, Scene, load_text};
use std::f64::consts::PI;

const DATA: &str = "LAMMPS data file, units = si\n\n2 atoms\n2 atom types\n0 1 xlo xhi\n\nAtoms # sphere\n\n\
                    5 2 0.006 2600 -0.004 0.005 0.006\n9 1 0.004 2500 0.1 0.2 0.3\n";

/// The scene that has these sections, beside a file `bed` of this content.
fn scene_with(content: &str, sections: &str) -> Result<Scene, Diagnostics> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bed"), content).unwrap();
    load_text(&format!("{GLASS}\n{sections}"), &folder.path().join("scene.toml"), &[])
}

/// The notes of a scene about its file, or about the grains from it.
fn notes(scene: &Scene) -> Vec<&String> {
    let is_meant = |note: &&String| note.contains("grains.bed") || note.ends_with("not read");
    scene.notices.iter().filter(is_meant).collect()
}

/// Materials `1` and `2`, whose densities differ from those of the file.
fn numbered() -> String {
    let material = |name: &str| format!("[material.{name}]\ndensity = 1000\nyoungs_modulus = 1e9\npoisson_ratio = 0.2\n");
    let pairs = ["1-1", "1-2", "2-2"].map(|pair| format!("[interaction.{pair}]\nrestitution = 0.5\nfriction = 0.3\n"));
    format!("{}{}{}", material("1"), material("2"), pairs.concat())
}

#[test]
fn atoms_keep_their_masses_and_their_types_name_their_materials() {
    let sphere = |density: f64, radius: f64| density * 4.0 / 3.0 * PI * radius.powi(3);
    let scene = scene_with(DATA, &format!("{}[grains.bed]\nfile = \"bed\"", numbered())).unwrap();
    let grains = &scene.world.grains;
    assert_eq!(grains.id, [5, 9]);
    let names: Vec<&str> = grains
        .material
        .iter()
        .map(|material| scene.world.materials[*material as usize].name.as_str())
        .collect();
    assert_eq!(names, ["2", "1"]);
    assert!(notes(&scene).is_empty(), "{:?}", scene.notices);
    for (id, expected) in [(5, sphere(2600.0, 3e-3)), (9, sphere(2500.0, 2e-3))] {
        assert!((grains.masses[&id] / expected - 1.0).abs() < 1e-14, "{id}");
    }
    // Lengths in other units change the volume, not the density.
    let scene = scene_with(DATA, &format!("{}[grains.bed]\nfile = \"bed\"\nscale = \"cm\"", numbered())).unwrap();
    assert!((scene.world.grains.masses[&9] / sphere(2500.0, 2e-5) - 1.0).abs() < 1e-13);
}

#[test]
fn a_section_gives_all_types_its_material_with_a_note() {
    let scene = scene_with(DATA, "[grains.bed]\nfile = \"bed\"\nmaterial = \"glass\"").unwrap();
    assert_eq!(scene.world.grains.material, [0, 0]);
    let found = notes(&scene);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("grains.bed: atoms of all types get the material"), "{found:?}");
    let Err(found) = scene_with(DATA, "[grains.bed]\nfile = \"bed\"") else {
        panic!("material 2 is missing")
    };
    assert!(found.plain().contains("line 9: no material is named `2`"), "{}", found.plain());
}

#[test]
fn columns_that_are_not_read_are_noted_once_for_all_sections() {
    let sections = ["a", "b"].map(|name| {
        let row = if name == "a" { 1 } else { 2 };
        format!("[grains.{name}]\nfile = \"bed\"\nrows = [{row}, {row}]\nmaterial = \"glass\"\n")
    });
    let scene = scene_with("x;y;z;Diameter (mm);Batch\n0;0;0;2,5;1\n0;0;1;2,5;1\n", &sections.concat()).unwrap();
    assert_eq!(scene.world.grains.radius, [1.25e-3; 2]);
    let found = notes(&scene);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("bed: column `Batch` is not read"), "{found:?}");
}

#[test]
fn a_key_that_a_column_replaces_is_noted_with_both_places() {
    let table = "x,y,z,radius[mm],mass[g]\n0,0,0,2,7\n0,0,1,3,8\n";
    let section = "[grains.bed]\nfile = \"bed\"\nmaterial = \"glass\"\n";
    let scene = scene_with(table, section).unwrap();
    assert!(notes(&scene).is_empty(), "{:?}", scene.notices);
    let twice = scene_with(table, &format!("{section}radius = 1\nmass = \"5 g\"")).unwrap();
    // The columns take precedence.
    let (one, other) = (&twice.world.grains, &scene.world.grains);
    assert_eq!((&one.radius, &one.masses), (&other.radius, &other.masses));
    assert!((one.masses[&0] / 7e-3 - 1.0).abs() < 1e-14);
    let found = notes(&twice);
    for (key, note) in ["radius", "mass"].into_iter().zip(&found) {
        for phrase in [
            "scene.toml:",
            &format!("grains.bed: `{key}` has no effect"),
            "bed gives it, as in line 2",
            "remove the key or the column",
        ] {
            assert!(note.contains(phrase), "no `{phrase}` in {note}");
        }
    }
    assert_eq!(found.len(), 2, "{found:?}");
    // By a density, of which masses follow.
    let by_density = scene_with("x,y,z,radius,density\n0,0,0,1,900\n", &format!("{section}mass = 5")).unwrap();
    assert!(notes(&by_density)[0].contains("`mass` has no effect"), "{:?}", by_density.notices);
}
