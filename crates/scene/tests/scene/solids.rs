//! Solid walls: obstacles and gates, with grains and fluids outside.

use crate::loaded::{GLASS, scene};
use glam::DVec3;
use seixo_engine::Simulation;
use seixo_engine::world::{Frustum, WallShape};
use seixo_scene::load_text;
use std::path::Path;

const BLOCK: &str = "[wall.block]\nmaterial = \"glass\"\nbox = { min = [0, 0, 0], max = [\"1 cm\", \"2 cm\", \"3 cm\"] }\n";
const WORLD: &str = "[world]\ngravity = [0, 0, -9.81]\n";

fn one(at: &str) -> String {
    format!("[grains.one]\nmaterial = \"glass\"\nat = [{at}]\nradius = \"1 mm\"\n")
}

fn refused(text: &str) -> String {
    let text = format!("{GLASS}{text}");
    let found = load_text(&text, Path::new("scene.toml"), &[]).expect_err(&text);
    assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "{}", found.plain());
    found.plain()
}

#[test]
fn a_solid_box_is_one_closed_surface_that_faces_outward() {
    let made = scene(&format!("{GLASS}{}{BLOCK}side = \"outside\"\n", one("[1, 1, 1]"))).world;
    assert_eq!(made.walls.len(), 1);
    assert_eq!(made.walls[0].name, "block");
    let WallShape::Mesh(triangles) = &made.walls[0].shape else {
        panic!("a surface")
    };
    // By the theorem of Gauss, the flux of a third of the position is the volume, and that of a constant is zero.
    let (mut volume, mut flux) = (0.0, DVec3::ZERO);
    for [a, b, c] in triangles.iter().map(|triangle| triangle.map(DVec3::from)) {
        let area = 0.5 * (b - a).cross(c - a);
        volume += (a + b + c).dot(area) / 9.0;
        flux += area;
    }
    assert!((volume / 6e-6 - 1.0).abs() < 1e-12 && flux.length() < 1e-15, "{volume} {flux}");
    let vessel = scene(&format!("{GLASS}{}{BLOCK}side = \"inside\"\n", one("[0.005, 0.01, 0.01]"))).world;
    assert_eq!(vessel.walls.len(), 6);
}

#[test]
fn a_solid_cylinder_has_both_caps() {
    let round = |side: &str| {
        let wall = format!("[wall.rod]\nmaterial = \"glass\"\ncylinder = {{ from = [0, 0, 0], to = [0, 0, 1], radius = 0.1 }}\n{side}");
        scene(&format!("{GLASS}{}{wall}", one("[1, 1, 1]"))).world.walls.remove(0).shape
    };
    let WallShape::Round(open) = round("") else { panic!("round") };
    let WallShape::Round(closed) = round("side = \"outside\"\n") else {
        panic!("round")
    };
    let disks = |frusta: &[Frustum]| frusta.iter().filter(|frustum| frustum.height == 0.0).count();
    assert_eq!((disks(&open), disks(&closed)), (0, 2));
}

#[test]
fn a_ball_rests_on_a_solid_box_and_another_one_falls_past_its_edge() {
    let text = format!(
        "{GLASS}{WORLD}{}{BLOCK}side = \"outside\"\n",
        one("[\"5 mm\", \"1 cm\", \"31.1 mm\"], [\"12 mm\", \"1 cm\", \"31.1 mm\"]")
    );
    let made = scene(&text);
    let mut simulation = Simulation::new(made.world, made.settings).expect("a sound world");
    let steps = (0.02 / simulation.time_step().value).round() as u64;
    simulation.advance(steps).expect("sound steps");
    let (seen, time) = (simulation.snapshot(), simulation.time());
    let height = |id: u32| seen.position[seen.id.iter().position(|found| *found == id).expect("it is there")][2];
    assert!((height(0) - 31e-3).abs() < 1e-5, "{}", height(0));
    // Free fall, to within a step.
    let fallen = 31.1e-3 - height(1);
    assert!((fallen / (0.5 * 9.81 * time * time) - 1.0).abs() < 1e-3, "{fallen}");
}

#[test]
fn what_starts_in_a_solid_wall_is_refused() {
    let solid = format!("{BLOCK}side = \"outside\"\n");
    let message = refused(&format!("{}{solid}", one("[0.005, 0.01, 0.01], [0.5, 0, 0], [0.005, 0.01, 0.02]")));
    for phrase in [
        "scene.toml:18:8",
        "wall.block: 2 grains start inside of it, the first at [0.005000, 0.010000, 0.010000] m, of grains.one",
        "grains outside of a wall with side = \"outside\"",
        "grains.one.fill by `minus`",
    ] {
        assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
    }
    // A boundary has no contacts with walls.
    let held = one("[0.005, 0.01, 0.01]") + "fixed = true\n";
    scene(&format!(
        "{GLASS}{held}{}{solid}",
        one("[1, 1, 1]").replace("grains.one", "grains.two")
    ));
    // Nor has a wall that is absent at the start.
    let staged = "[[stage]]\nname = \"a\"\nuntil = \"time > 0.1 s\"\n[[stage]]\nname = \"b\"\nadd = [\"wall.block\"]\n";
    scene(&format!("{GLASS}{}{solid}{staged}", one("[0.005, 0.01, 0.01]")));

    let inlet = "[grains.rain]\nmaterial = \"glass\"\ninlet = { through = { box = { min = [-0.005, 0, 0], max = [0.005, 0.02, 0.03] } }, rate = \"10 1/s\", radius = \"0.5 mm\", velocity = [0, 0, -1] }\n";
    let message = refused(&format!("{WORLD}{inlet}{solid}"));
    assert!(
        message.contains("grains.rain.inlet: it reaches into wall.block, which is solid"),
        "{message}"
    );

    let plane = "[wall.floor]\nmaterial = \"glass\"\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n";
    for (walls, phrases) in [
        (format!("{plane}side = \"outside\"\n"), ["scene.toml:18:8", "turn the normal"]),
        (
            format!("{}side = \"outside\"\n", BLOCK.replace("\"3 cm\"]", "\"3 cm\"], open = [\"top\"]")),
            ["a box whose grains are outside is a solid", "remove `open`"],
        ),
        (
            "[wall.ball]\nmaterial = \"glass\"\nsphere = { center = [0, 0, 0], radius = 0.1 }\nside = \"inside\"\n".to_owned(),
            ["both sides of this shape have contacts", "remove `side`"],
        ),
        (format!("{BLOCK}side = \"out\"\n"), ["unknown side of a wall `out`", "outside"]),
    ] {
        let message = refused(&format!("{}{walls}", one("[1, 1, 1]")));
        for phrase in phrases {
            assert!(message.contains(phrase), "{walls}: no `{phrase}` in\n{message}");
        }
    }
}

#[test]
fn a_fluid_is_cut_out_of_a_solid_wall_and_its_pressure_goes_on_below() {
    let text = "[run]\nuntil = 1\n[world]\ngravity = [0, 0, -9.81]\n[fluid.water]\ndensity = 1000\nspacing = 0.02
fill = { box = { min = [0, 0, 0], max = [0.4, 0.3, 0.2] } }\n[wall.tank]\nbox = { min = [0, 0, 0], max = [0.4, 0.3, 0.4], open = [\"top\"] }
[wall.beam]\nbox = { min = [0.12, 0.1, 0.04], max = [0.24, 0.2, 0.14] }\nside = \"outside\"\n";
    let fluids = scene(text).world.fluids.expect("water");
    let particles = &fluids.particles;
    // 6 × 5 × 5 sites of 20 × 15 × 10 are taken.
    assert_eq!(particles.len(), 3000 - 150);
    let is_in = |at: &[f64; 3], by: f64| {
        let [low, high] = [[0.12, 0.1, 0.04], [0.24, 0.2, 0.14]];
        (0..3).all(|axis| at[axis] > low[axis] + by && at[axis] < high[axis] - by)
    };
    assert!(!particles.position.iter().any(|at| is_in(at, -0.005)));
    // The beam, wall 0, is full of wall particles.
    let whole = 0.02_f64.powi(3);
    let of_beam = fluids.boundary.wall.iter().enumerate().filter(|(_, wall)| **wall == 0);
    let mut filled = 0.0;
    for (k, _) in of_beam {
        assert!(is_in(&fluids.boundary.position[k], 0.0), "{:?}", fluids.boundary.position[k]);
        filled += fluids.boundary.volume.get(k).copied().unwrap_or(whole);
    }
    assert!((filled / (0.12 * 0.1 * 0.1) - 1.0).abs() < 0.05, "{filled}");
    // Pressures depend on the depth alone, also below the beam.
    let pressure_at = |x: f64, y: f64, z: f64| {
        let near = |at: &&[f64; 3]| DVec3::from(**at).distance(DVec3::new(x, y, z)) < 1e-6;
        let found = particles
            .position
            .iter()
            .find(near)
            .and_then(|at| particles.position.iter().position(|other| other == at));
        particles.pressure[found.expect("a particle")]
    };
    let (below, beside) = (pressure_at(0.17, 0.15, 0.03), pressure_at(0.35, 0.15, 0.03));
    assert!(below > 0.0 && (below / beside - 1.0).abs() < 1e-9, "{below} {beside}");

    let all = text.replace(
        "min = [0.12, 0.1, 0.04], max = [0.24, 0.2, 0.14]",
        "min = [-1, -1, -1], max = [1, 1, 1]",
    );
    let message = load_text(&all, Path::new("scene.toml"), &[]).expect_err("no water").plain();
    assert!(
        message.contains("fluid.water: all of its region is inside of walls with side"),
        "{message}"
    );
}
