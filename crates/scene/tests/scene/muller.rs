//! Fluids of Müller's solver: values of their keys, defaults, and errors.

use seixo_engine::world::{Fluids, Smoothing, Solver, StateLaw};
use seixo_scene::{Diagnostics, Scene, load_text};
use std::path::Path;

/// A half-full tank, 20 mm between particles.
const FLUID: &str = r#"[run]
until = 1
[world]
gravity = [0, 0, -9.81]
[fluid.water]
solver = "muller2003"
density = 1000
fill = { box = { min = [0, 0, 0], max = [0.4, 0.3, 0.2] } }
spacing = 0.02
[wall.tank]
box = { min = [0, 0, 0], max = [0.8, 0.3, 0.4], open = ["top"] }
"#;

/// The scene of a text, which must be the same after writing and loading it.
fn scene(text: &str) -> Scene {
    let first = load_text(text, Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(again.resolved, first.resolved);
    assert!(again.world.fluids == first.world.fluids, "{}", first.resolved);
    first
}

fn fluids(text: &str) -> Fluids {
    scene(text).world.fluids.unwrap()
}

fn refused(text: &str) -> Diagnostics {
    load_text(text, Path::new("scene.toml"), &[]).expect_err(text)
}

#[test]
fn what_is_left_out_is_filled_in_and_written_out() {
    let scene = scene(FLUID);
    for line in [
        "solver = \"muller2003\"",
        "support = 2.0",
        "state = \"linear\"",
        "xsph = 0.5",
        "restitution = 1.0",
        "initial_pressure = \"none\"",
        "slip = \"free\"",
        "stiffness = ",
    ] {
        assert!(scene.resolved.contains(line), "no `{line}` in\n{}", scene.resolved);
    }
    let found = scene.world.fluids.unwrap();
    assert_eq!((found.solver, found.smoothing), (Solver::Muller2003, Smoothing::Poly6));
    assert_eq!((found.support, found.slips), (2.0 * 0.02, vec![true; 5]));
    assert!(found.boundary.position.is_empty());
    assert!(found.particles.pressure.iter().all(|pressure| *pressure == 0.0));
    let kind = &found.kinds[0];
    assert_eq!((kind.state, kind.xsph, kind.restitution), (StateLaw::Linear, 0.5, 1.0));
    // k = (5 v)² with v² = 2 g H.
    let stiffness = kind.sound_speed.powi(2);
    assert!((stiffness / (25.0 * 2.0 * 9.81 * 0.2) - 1.0).abs() < 1e-9, "{stiffness}");
}

#[test]
fn keys_are_what_the_world_holds() {
    let keys = "spacing = 0.02\nstiffness = \"30 J/kg\"\nxsph = 0.1\nrestitution = 0.25\nviscosity = \"2 Pa s\"\nsupport = 2.5";
    let found = fluids(&FLUID.replace("spacing = 0.02", keys));
    let kind = &found.kinds[0];
    assert!((kind.sound_speed.powi(2) - 30.0).abs() < 1e-12);
    assert_eq!((kind.xsph, kind.restitution, kind.viscosity), (0.1, 0.25, 2.0));
    assert_eq!(found.support, 2.5 * 0.02);
}

#[test]
fn round_walls_hold_the_side_on_which_most_fluid_starts() {
    let walls = "[wall.cup]\ncylinder = { from = [0.2, 0.15, -0.01], to = [0.2, 0.15, 0.5], radius = 0.3, caps = [\"from\"] }\n\
        [wall.far]\nsphere = { center = [0.7, 0.15, 0.1], radius = 0.1 }\n[wall.tank]";
    let text = FLUID.replace("[wall.tank]", walls);
    let scene = scene(&text);
    let names: Vec<&str> = scene.world.walls.iter().map(|wall| wall.name.as_str()).collect();
    let inside = scene.world.fluids.unwrap().inside;
    for (name, is_inside) in names.into_iter().zip(inside) {
        assert_eq!(is_inside, name == "cup", "{name}");
    }
    // Above an empty cup, fluid counts as inside, too.
    let above = FLUID.replace(
        "[wall.tank]",
        "[wall.cup]\ncylinder = { from = [0.2, 0.15, -1], to = [0.2, 0.15, -0.5], radius = 0.3 }\n[wall.tank]",
    );
    assert!(fluids(&above).inside.contains(&true));
}

#[test]
fn a_ball_that_holds_fluid_holds_all_of_it() {
    // Water in a sphere, and oil outside at more than a support: a sphere has no ends, so it would push the oil to its inside in the first step.
    let oil = "[fluid.oil]\nsolver = \"muller2003\"\ndensity = 800\nspacing = 0.02\n\
        fill = { box = { min = [0.6, 0, 0], max = [0.7, 0.1, 0.1] } }\n";
    let ball = "[wall.ball]\nsphere = { center = [0.2, 0.15, 0.1], radius = 0.1 }\n";
    let text = FLUID.replace(
        "box = { min = [0, 0, 0], max = [0.4, 0.3, 0.2] }",
        "sphere = { center = [0.2, 0.15, 0.1], radius = 0.08 }",
    );
    scene(&format!("{text}{ball}"));
    let message = refused(&format!("{text}{ball}{oil}")).plain();
    assert!(
        message.contains("fluid.oil") && message.contains("is behind wall.ball"),
        "{message}"
    );
    // A cylinder has ends, so another fluid may be outside.
    let cup = "[wall.cup]\ncylinder = { from = [0.2, 0.15, 0], to = [0.2, 0.15, 0.2], radius = 0.1 }\n";
    scene(&format!("{text}{cup}{oil}"));
}

/// Replaced text, replacement, and required phrases of the message.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "spacing = 0.02",
        "spacing = 0.02\nsmoothing = \"wendland\"",
        &["scene.toml:10:13", "`smoothing` is not for solver = \"muller2003\"", "poly6"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nplane = \"xz\"",
        &["scene.toml:10:9", "`plane` is not for solver", "solver = \"wcsph\""],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsound_speed = \"6 m/s\"",
        &["scene.toml:10:15", "`sound_speed` is not for solver", "stiffness = \"36 J/kg\""],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nstate = \"tait\"",
        &["scene.toml:10:9", "`state` is not for solver"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nbackground_pressure = \"1 kPa\"",
        &["scene.toml:10:23", "`background_pressure` is not for solver"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nartificial_viscosity = 0.1",
        &["scene.toml:10:24", "`artificial_viscosity` is not for solver", "`xsph`"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\ndensity_diffusion = 0.1",
        &["scene.toml:10:21", "`density_diffusion` is not for solver"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\ninitial_pressure = \"hydrostatic\"",
        &[
            "scene.toml:10:20",
            "`initial_pressure` is not for solver",
            "follow from where particles are",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nxsph = 1.5",
        &["scene.toml:10:8", "1.5 is out of range", "<= 1"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nxsph = 0",
        &["scene.toml:10:8", "explicit Euler lets sound grow at any time step", "xsph = 0.5"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nstiffness = \"30 Pa\"",
        &["scene.toml:10:13", "energy per mass [J/kg] belongs here", "150 J/kg"],
    ),
    (
        "solver = \"muller2003\"",
        "restitution = 0.5",
        &[
            "scene.toml:6:15",
            "`restitution` is not for solver = \"wcsph\"",
            "solver = \"muller2003\"",
        ],
    ),
    (
        "solver = \"muller2003\"",
        "stiffness = 30",
        &["scene.toml:6:13", "`stiffness` is not for solver = \"wcsph\""],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nbody_restitution = 1",
        &["scene.toml:10:20", "explicit Euler lets springs grow", ">= 0.000001 and < 1"],
    ),
    (
        "solver = \"muller2003\"",
        "body_stiffness = 30",
        &["scene.toml:6:18", "`body_stiffness` is not for solver = \"wcsph\""],
    ),
    (
        "gravity = [0, 0, -9.81]",
        "gravity = [0, 0, 0]",
        &["nothing says how fast it will flow", "fastest = \"1 m/s\"", "a stiffness"],
    ),
    (
        "[wall.tank]",
        "[wall.tank]\nslip = \"none\"",
        &["scene.toml:11:8", "fluid does not stick to walls", "slip = \"free\""],
    ),
    (
        "[wall.tank]",
        "[probe.push]\nwall_force = \"tank\"\n[wall.tank]",
        &["probe.push: walls throw particles back", "solver = \"wcsph\""],
    ),
    (
        "[wall.tank]",
        "[inlet.tap]\nthrough = { disc = { center = [0.6, 0.1, 0.3], normal = [0, 0, -1], radius = 0.05 } }\nspeed = \"0.1 m/s\"\n[wall.tank]",
        &[
            "inlet.tap: it is not for solver = \"muller2003\": fluids come and go by particles",
            "solver = \"wcsph\"",
        ],
    ),
    (
        "[wall.tank]",
        "[outlet.sink]\nthrough = { box = { min = [0.7, 0, -0.1], max = [0.8, 0.1, 0.1] } }\n[wall.tank]",
        &[
            "outlet.sink: it is not for solver = \"muller2003\": fluids come and go by particles",
            "solver = \"wcsph\"",
        ],
    ),
    (
        "fill = { box = { min = [0, 0, 0]",
        "fill = { box = { min = [-0.1, 0, 0]",
        &["scene.toml:8:1", "is behind wall.tank.left", "fill a region that ends at the wall"],
    ),
    (
        "[wall.tank]",
        "[wall.pole]\ncylinder = { from = [0.2, 0.1, 0], to = [0.2, 0.1, 0.4], radius = 0.05 }\n[wall.tank]",
        &["scene.toml:8:1", "is behind wall.pole"],
    ),
];

#[test]
fn what_the_solver_does_not_know_is_refused() {
    for (what, by, phrases) in CASES {
        assert_eq!(FLUID.matches(what).count(), 1, "{what}");
        let found = refused(&FLUID.replace(what, by));
        let message = found.plain();
        for phrase in *phrases {
            assert!(message.contains(phrase), "`{by}`: no `{phrase}` in\n{message}");
        }
        assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "`{by}`: no remedy in\n{message}");
    }
}
