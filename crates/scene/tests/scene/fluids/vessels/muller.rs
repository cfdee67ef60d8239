//! Vessels of meshes hold the fluid of Müller's solver by their signed distances.

use super::{POOL, SPACING, Vessel, block, farthest_outside, jug_of_water, scene_in, text, tray};
use glam::DVec3;
use seixo_engine::Simulation;
use seixo_engine::world::Vec3;
use seixo_scene::load_text;
use std::path::Path;

/// How far fluid may be behind a mesh: signed distances, half a spacing apart, round edges by less than half of that \[spacings\].
const ROUNDED: f64 = 0.25;

/// A scene of water in walls with these keys, for Müller's solver.
fn muller(fill: &str, walls: &str) -> String {
    as_muller(&text(fill, "", walls))
}

fn as_muller(text: &str) -> String {
    text.replace("artificial_viscosity = 0.1", "solver = \"muller2003\"")
        .replace("support = 3", "support = 2")
}

/// Positions of the fluid of a scene in this folder after a time \[m\].
fn after(folder: &Path, text: &str, time: f64) -> Vec<Vec3> {
    let scene = load_text(text, &folder.join("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
    simulation.advance((time / simulation.time_step().value).round() as u64).unwrap();
    simulation.fluid().unwrap().position
}

fn refused(folder: &Path, text: &str) -> String {
    let found = load_text(text, &folder.join("scene.toml"), &[]).err();
    found.unwrap_or_else(|| panic!("it was accepted:\n{text}")).plain()
}

#[test]
fn closed_vessels_of_any_form_keep_their_water() {
    for number in 0..4 {
        let vessel = Vessel::new(number);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("vessel.obj"), vessel.mesh(10.0, true)).unwrap();
        std::fs::write(folder.path().join("water.obj"), vessel.mesh(6.0, true)).unwrap();
        let text = muller("mesh = { file = \"water.obj\" }", "[wall.vessel]\nmesh = \"vessel.obj\"\n");
        let fluids = scene_in(folder.path(), &text).world.fluids.unwrap();
        assert_eq!(fluids.signed_distances.walls().collect::<Vec<_>>(), [0]);
        assert!(fluids.boundary.position.is_empty());
        for place in after(folder.path(), &text, 0.15) {
            let at = vessel.turn.inverse() * DVec3::from(place) / SPACING;
            let depth = vessel.depth(at).min(10.0 - at.z);
            assert!(depth > -ROUNDED, "vessel {number}: {at}, {depth} spacings from walls");
        }
    }
}

#[test]
fn water_stays_in_an_open_jug_and_between_sheets_whose_edges_meet() {
    let outside = farthest_outside(&as_muller(&jug_of_water("")), 0.3);
    assert!(outside < ROUNDED * SPACING, "{outside} m outside");
    let corners = [[-0.05, -0.05, 0.0], [0.05, 0.05, 0.08]];
    let folder = tempfile::tempdir().unwrap();
    let mut walls = String::new();
    for side in [0, 2, 3, 4, 5] {
        let sheet = block(corners, 0, None);
        let vertices = sheet.lines().filter(|line| line.starts_with('v'));
        let faces = sheet.lines().filter(|line| line.starts_with('f')).skip(2 * side).take(2);
        let lines: Vec<&str> = vertices.chain(faces).collect();
        std::fs::write(folder.path().join(format!("side{side}.obj")), lines.join("\n")).unwrap();
        walls += &format!("[wall.side{side}]\nmesh = \"side{side}.obj\"\n");
    }
    let text = muller(POOL, &walls);
    let fluids = scene_in(folder.path(), &text).world.fluids.unwrap();
    // One surface of all sheets: corners are closed.
    assert_eq!(fluids.signed_distances.walls().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    for [x, y, z] in after(folder.path(), &text, 0.2) {
        let out = (x.abs() - 0.05).max(y.abs() - 0.05).max(-z);
        assert!(out < ROUNDED * SPACING, "{x} {y} {z}");
    }
}

#[test]
fn a_mesh_that_moves_takes_its_water_along() {
    let folder = tempfile::tempdir().unwrap();
    let tank = block([[-0.05, -0.05, 0.0], [0.05, 0.05, 0.08]], 0, None);
    std::fs::write(folder.path().join("tank.obj"), tank).unwrap();
    let walls = "[wall.tank]\nmesh = \"tank.obj\"\nmotion = { translate = [\"0.5 m/s\", 0, 0] }\n";
    let time = 0.3;
    for [x, y, z] in after(folder.path(), &muller(POOL, walls), time) {
        // The time is a whole number of steps, to a step.
        let out = ((x - 0.5 * time).abs() - 0.05).max(y.abs() - 0.05).max(-z).max(z - 0.08);
        assert!(out < (ROUNDED + 0.05) * SPACING, "{x} {y} {z}");
    }
}

#[test]
fn meshes_that_cannot_hold_the_fluid_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |mesh: String| std::fs::write(folder.path().join("tank.obj"), mesh).unwrap();
    let tank = || block([[-0.05, -0.05, 0.0], [0.05, 0.05, 0.08]], 0, None);
    let wall = "[wall.tank]\nmesh = \"tank.obj\"\n";
    let expect = |text: &str, phrases: &[&str]| {
        let message = refused(folder.path(), text);
        for phrase in phrases {
            assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
        }
    };
    // Two samples of the distance behind the surface are needed.
    write(tray(0.004));
    let thin = [
        "wall.tank: it is 4.000e-3 m thick",
        "1.000e-2 m, 1 spacings",
        "leave the dry side out",
    ];
    expect(&muller(POOL, wall), &thin);
    write(tray(0.012));
    scene_in(folder.path(), &muller(POOL, wall));
    // Fluid on both sides of a mesh that holds what is inside.
    write(tank());
    let wide = muller("box = { min = [-0.05, -0.05, 0], max = [0.09, 0.05, 0.05] }", wall);
    expect(&wide, &["fluid.water", "is behind wall.tank", "that of most of the fluid"]);
    let moving = format!("{wall}motion = {{ translate = [\"0.5 m/s\", 0, 0] }}\n");
    let periodic = "[world]\ndomain = { min = [-0.2, -1, -1], max = [0.2, 1, 1], sides = [\"periodic\", \"open\", \"open\"] }\n";
    expect(
        &muller(POOL, &moving).replace("[world]\n", periodic),
        &[
            "wall.tank",
            "moves through the periodic sides along x, by its motion.translate",
            "open these sides",
        ],
    );
    write(block([[-1.1, -1.1, 0.0], [1.1, 1.1, 2.2]], 0, None));
    expect(
        &muller(POOL, wall),
        &["wall.tank", "samples of its distance", "0.54 GB", "use a larger spacing"],
    );
}
