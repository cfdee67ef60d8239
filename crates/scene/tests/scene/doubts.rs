//! What is possible in a scene, but probably not meant: it is reported by `seixo check`.

use crate::loaded::{GLASS, scene};
use seixo_scene::load_text;

const GRAIN: &str = "[grains.one]\nmaterial = \"glass\"\nat = [[0, 0, 0.5]]\nradius = \"1 mm\"\n";
const DOMAIN: &str = "[world]\ngravity = [0, 0, -9.81]\ndomain = { min = [0, 0, 0], max = [1, 1, 1] }\n";

fn doubts(sections: &str) -> Vec<String> {
    scene(&format!("{GLASS}{GRAIN}{sections}")).doubts()
}

#[test]
fn a_scene_whose_gravity_is_left_out_is_doubted() {
    let found = doubts("");
    assert!(found.len() == 1 && found[0].contains("world.gravity is left out"), "{found:?}");
    for given in ["gravity = [0, 0, -9.81]", "gravity = [0, 0, 0]"] {
        assert_eq!(doubts(&format!("[world]\n{given}\n")), [""; 0], "{given}");
    }
    let staged = "[[stage]]\nname = \"a\"\nuntil = \"time > 0.1 s\"\n[[stage]]\nname = \"b\"\nset.gravity = [0, 0, -9.81]\n";
    assert_eq!(doubts(staged), [""; 0]);
}

#[test]
fn a_mesh_of_thousands_of_grains_without_a_unit_is_doubted() {
    let folder = tempfile::tempdir().expect("a folder");
    let block = "v 0 0 0\nv 20 0 0\nv 20 40 0\nv 0 40 0\nv 0 0 60\nv 20 0 60\nv 20 40 60\nv 0 40 60
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 4 1 5 8\nf 2 3 7 6\n";
    std::fs::write(folder.path().join("block.obj"), block).expect("written");
    let found = |sections: &str| {
        let text = format!("{GLASS}[world]\ngravity = [0, 0, -9.81]\n{sections}");
        load_text(&text, &folder.path().join("scene.toml"), &[])
            .unwrap_or_else(|found| panic!("{found}\n{text}"))
            .doubts()
    };
    let wall = |keys: &str| {
        found(&format!(
            "{GRAIN}[wall.block]\nmaterial = \"glass\"\nmesh = \"block.obj\"\n{keys}\n"
        ))
    };
    let doubt = wall("");
    assert!(
        doubt.len() == 1
            && doubt[0].contains("wall.block: its mesh is 60.000 m long, 30000 diameters of the largest grain")
            && doubt[0].contains("add unit = \"mm\""),
        "{doubt:?}"
    );
    for meant in ["unit = \"mm\"", "scale = \"mm\"", "scale = \"1 mm\"", "unit = \"m\"", "scale = 1"] {
        assert_eq!(wall(meant), [""; 0], "{meant}");
    }
    let rotated = |angle: &str| wall(&format!("unit = \"mm\"\nrotate = {{ axis = [0, 0, 1], angle = {angle} }}"));
    let doubt = rotated("90");
    assert!(
        doubt.len() == 1 && doubt[0].contains("wall.block.rotate.angle = 90 is in radians") && doubt[0].contains("angle = \"90 deg\""),
        "{doubt:?}"
    );
    for meant in ["\"90 deg\"", "1.5", "\"90 rad\""] {
        assert_eq!(rotated(meant), [""; 0], "{meant}");
    }
    let fill = |keys: &str, radius: &str| {
        found(&format!(
            "[grains.bed]\nmaterial = \"glass\"\nfill = {{ region = {{ mesh = {{ file = \"block.obj\"{keys} }} }}, count = 50, radius = \"{radius}\", method = \"random\" }}\n"
        ))
    };
    let doubt = fill("", "1 mm");
    assert!(
        doubt.len() == 1 && doubt[0].contains("grains.bed.fill.region: its mesh is"),
        "{doubt:?}"
    );
    assert_eq!(fill(", unit = \"mm\"", "1 mm"), [""; 0]);
    assert_eq!(fill("", "1 m"), [""; 0]);
}

#[test]
fn walls_that_no_grain_can_reach_are_doubted() {
    let sphere = |at: &str, radius: &str| format!("[wall.ball]\nmaterial = \"glass\"\nsphere = {{ center = {at}, radius = {radius} }}\n");
    let floor = "[wall.floor]\nmaterial = \"glass\"\nplane = { point = [0, 0, 0.1], normal = [0, 0, 1] }\n";
    // A grain of 1 mm reaches a wall at the side of the domain, but none that is 2 mm farther.
    assert_eq!(doubts(&format!("{DOMAIN}{}", sphere("[1.1, 0.5, 0.5]", "0.1"))), [""; 0]);
    let found = doubts(&format!("{DOMAIN}{}", sphere("[1.102, 0.5, 0.5]", "0.1")));
    assert!(
        found.len() == 1 && found[0].contains("wall.ball: no grain can reach it, as it is outside of world.domain"),
        "{found:?}"
    );
    let sides = DOMAIN.replace("1] }", "1], sides = [\"periodic\", \"open\", \"open\"] }");
    assert_eq!(doubts(&format!("{sides}{}", sphere("[1.102, 0.5, 0.5]", "0.1"))), [""; 0]);

    // Behind a plane, unless either of them moves or the plane is removed.
    let below = sphere("[0.5, 0.5, 0.05]", "0.02");
    let found = doubts(&format!("{DOMAIN}{floor}{below}"));
    assert!(
        found.len() == 1 && found[0].contains("wall.ball: no grain can reach it, as it is behind wall.floor"),
        "{found:?}"
    );
    assert_eq!(doubts(&format!("{DOMAIN}{floor}{}", sphere("[0.5, 0.5, 0.1]", "0.02"))), [""; 0]);
    assert_eq!(
        doubts(&format!("{DOMAIN}{floor}{below}motion = {{ translate = [0, 0, 0.01] }}\n")),
        [""; 0]
    );
    let removed = "[[stage]]\nname = \"a\"\nuntil = \"time > 0.1 s\"\n[[stage]]\nname = \"b\"\nremove = [\"wall.floor\"]\n";
    assert_eq!(doubts(&format!("{DOMAIN}{floor}{below}{removed}")), [""; 0]);

    // Planes: a second floor below the first one, a lid outside of the domain, and a box with all its faces.
    let second = "[wall.second]\nmaterial = \"glass\"\nplane = { point = [0, 0, 0.05], normal = [0, 0, 2] }\n";
    let found = doubts(&format!("{DOMAIN}{floor}{second}"));
    assert!(
        found.len() == 1 && found[0].contains("wall.second: no grain can reach it"),
        "{found:?}"
    );
    let lid = "[wall.lid]\nmaterial = \"glass\"\nplane = { point = [0, 0, 1.1], normal = [0, 0, -1] }\n";
    let found = doubts(&format!("{DOMAIN}{lid}"));
    assert!(
        found.len() == 1 && found[0].contains("wall.lid: no grain can reach it"),
        "{found:?}"
    );
    let tank = "[wall.tank]\nmaterial = \"glass\"\nbox = { min = [0, 0, 0], max = [1, 1, 1] }\n";
    assert_eq!(doubts(&format!("{DOMAIN}{tank}")), [""; 0]);
}
