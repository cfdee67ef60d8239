//! Meshes that reach both periodic sides, and continue there.

use super::{SPACING, block, scene_in, text};
use seixo_engine::Simulation;
use seixo_scene::load_text;
use std::collections::BTreeSet;
use std::path::Path;

/// Length of the cell \[spacings\].
const CELL: i64 = 20;

/// Water, five spacings deep, in a plane flow between periodic sides, and a wall of the mesh in this folder.
fn cell() -> String {
    let (x, top) = (CELL as f64 * SPACING, 5.0 * SPACING);
    let water = format!("box = {{ min = [0, -0.05, 0], max = [{x}, 0.05, {top}] }}");
    let domain = format!("[world]\ndomain = {{ min = [0, -1, -1], max = [{x}, 1, 1], sides = [\"periodic\", \"open\", \"open\"] }}\n");
    text(&water, "plane = \"xz\"", "[wall.step]\nmesh = \"step.obj\"\n").replace("[world]\n", &domain)
}

/// Writes a step as long as the cell that begins at x, from one height to another \[spacings\], with its floor or without. With `is_other`, its far
/// end has other triangles than its near one.
fn write_step(folder: &Path, (x, heights): (i64, [i64; 2]), has_floor: bool, is_other: bool) {
    let corner = |x: i64, y: f64, z: i64| [x as f64 * SPACING, y, z as f64 * SPACING];
    let corners = [corner(x, -0.05, heights[0]), corner(x + CELL, 0.05, heights[1])];
    let mut mesh = block(corners, 0, (!has_floor).then_some(0));
    if is_other {
        mesh = mesh.replace("f 2 4 8\nf 8 6 2\n", "f 4 8 6\nf 6 2 4\n");
    }
    std::fs::write(folder.join("step.obj"), mesh).unwrap();
}

#[test]
fn a_step_as_long_as_the_cell_has_no_ends() {
    let folder = tempfile::tempdir().unwrap();
    for (has_floor, heights) in [(true, vec![-9, -8, -7, -3, -2, -1]), (false, vec![-3, -2, -1])] {
        // Three layers from above, and three from below if there is a floor, with nothing between them.
        let wanted: BTreeSet<[i64; 3]> = (0..CELL).flat_map(|x| heights.iter().map(move |&z| [x, 0, z])).collect();
        for (from, is_other) in [(0, false), (0, true), (7, false), (-4, true)] {
            write_step(folder.path(), (from, [-9, 0]), has_floor, is_other);
            let boundary = scene_in(folder.path(), &cell()).world.fluids.unwrap().boundary;
            let sites = boundary.position.iter().map(|place| place.map(|x| (x / SPACING).floor() as i64));
            let sites: BTreeSet<[i64; 3]> = sites.collect();
            assert_eq!(sites, wanted, "floor: {has_floor}, from {from}");
            assert_eq!(boundary.position.len(), wanted.len(), "floor: {has_floor}, from {from}");
            assert!(boundary.volume.is_empty(), "floor: {has_floor}, from {from}: {:?}", boundary.volume);
        }
    }
}

/// Where the ends of a step without a floor coincided, a quarter of the water was inside of it by then.
#[test]
fn water_rests_on_a_step_as_long_as_the_cell() {
    let folder = tempfile::tempdir().unwrap();
    for (from, has_floor) in [(0, true), (7, true), (7, false)] {
        write_step(folder.path(), (from, [-9, 0]), has_floor, false);
        let scene = scene_in(folder.path(), &cell());
        let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
        let steps = (0.2 / simulation.time_step().value).round() as u64;
        simulation.advance(steps).unwrap();
        simulation.observe().unwrap();
        let water = simulation.fluid().unwrap();
        let inside = water.position.iter().filter(|[_, _, z]| *z < 0.0).count();
        assert_eq!((water.position.len(), inside), (100, 0), "from {from}, floor: {has_floor}");
    }
}

#[test]
fn a_vessel_that_ends_at_both_periodic_sides_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    write_step(folder.path(), (0, [0, 5]), true, false);
    let found = load_text(&cell(), &folder.path().join("scene.toml"), &[])
        .expect_err("a vessel")
        .plain();
    for phrase in [
        "wall.step: its ends lie on each other across periodic sides",
        "3.000e-2 m between them, 3 spacings",
        "leave its ends out",
    ] {
        assert!(found.contains(phrase), "no `{phrase}` in\n{found}");
    }
}
