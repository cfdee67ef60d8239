//! Bodies with joints to space.

use crate::spoiled::{Case, SOUND, assert_refused, refused};
use seixo_engine::world::{Joint, Vec3};
use seixo_scene::{Scene, load_text};
use std::path::Path;

/// The valid scene with keys in line 17, after those of its grains, which must be the same after writing and loading it.
fn scene(keys: &str) -> Scene {
    let first = load_text(&with(keys), Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    let again = load_text(&first.resolved, Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!((&again.world.grains, &again.resolved), (&first.world.grains, &first.resolved));
    first
}

fn with(keys: &str) -> String {
    SOUND.replace("[wall.floor]", &format!("{keys}\n[wall.floor]"))
}

/// The centers and joints of all bodies.
fn joints(keys: &str) -> Vec<(Vec3, Option<Joint>)> {
    let bodies = scene(keys).world.grains.bodies;
    bodies.iter().map(|body| (body.center, body.joint)).collect()
}

#[test]
fn each_place_becomes_a_body_on_a_joint_of_its_own() {
    let axis = [0.0, 1.0, 0.0];
    let [first, second] = [[0.0; 3], [3e-3, 0.0, 0.0]];
    let hinge = |through: Vec3| Some(Joint::Hinge { through, axis });
    assert_eq!(
        joints("joint = { hinge = { axis = [0, 2, 0] } }"),
        [(first, hinge(first)), (second, hinge(second))]
    );
    let through = [0.0, 0.0, 0.01];
    assert_eq!(
        joints("joint = { hinge = { through = [0, 0, \"1 cm\"], axis = [0, 2, 0] } }\nangular_velocity = [0, 3, 0]"),
        [(first, hinge(through)), (second, hinge(through))]
    );
    let ball = |through: Vec3| Some(Joint::Ball { through });
    assert_eq!(joints("joint = { ball = {} }"), [(first, ball(first)), (second, ball(second))]);
    let slider = Some(Joint::Slider { along: [0.0, 0.0, -1.0] });
    let tied = "joint = { slider = { along = [0, 0, -4] } }\nvelocity = [0, 0, 0.5]";
    assert_eq!(joints(tied), [(first, slider), (second, slider)]);
}

#[test]
fn clumps_are_tied_at_their_centers_of_mass_or_elsewhere() {
    let rod = "shape = \"rod\"\njoint = { ball = { through = [0, 0, 1] } }\n\
        [shape.rod]\nspheres = [{ at = [5, 0, 0], radius = 1 }, { at = [7, 0, 0], radius = 1 }]";
    let grains = scene(rod).world.grains;
    assert_eq!((grains.len(), grains.bodies.len()), (4, 2));
    assert_eq!(grains.bodies[1].joint, Some(Joint::Ball { through: [0.0, 0.0, 1.0] }));
    // A pendulum about a point far above has the velocity of that rotation from the start.
    let swinging = scene(&rod.replace("joint", "angular_velocity = [0, 2, 0]\njoint")).world.grains;
    let fastest = swinging.velocity.iter().map(|v| v[0].abs()).fold(0.0, f64::max);
    assert!((fastest / 2.0 - 1.0).abs() < 1e-12, "{fastest}");
    assert_eq!(swinging.bodies[0].velocity, [0.0; 3]);
}

macro_rules! keys {
    ($keys:literal) => {
        concat!($keys, "\n[wall.floor]")
    };
}

const ONE: &str = "a table with exactly one choice belongs here";

const CASES: &[Case] = &[
    (
        "[wall.floor]",
        keys!("joint = {}"),
        &["scene.toml:17:1", ONE, "{ hinge = … }, { ball = … }, { slider = … }"],
    ),
    (
        "[wall.floor]",
        keys!("joint = { ball = {}, slider = { along = [1, 0, 0] } }"),
        &["scene.toml:17:22", ONE],
    ),
    (
        "[wall.floor]",
        keys!("joint = { hinge = { axis = [0, 0, 0] } }"),
        &["scene.toml:17:", "points nowhere", "write a direction"],
    ),
    (
        "[wall.floor]",
        keys!("joint = { hinge = {} }"),
        &["scene.toml:17:", "`axis` is missing"],
    ),
    (
        "[wall.floor]",
        keys!("joint = { ball = { through = [0, 0, \"1 s\"] } }"),
        &["scene.toml:17:", "but length [m] belongs here"],
    ),
    (
        "[wall.floor]",
        keys!("joint = { ball = { axis = [0, 0, 1] } }"),
        &["scene.toml:17:", "unknown key"],
    ),
    (
        "[wall.floor]",
        keys!("joint = { hinges = { axis = [0, 0, 1] } }"),
        &["scene.toml:17:", "`hinges` is not known", "did you mean `hinge`?"],
    ),
    (
        "[wall.floor]",
        keys!("joint = { ball = {} }\nfixed = true"),
        &["scene.toml:17:1", "`joint` does not go with `fixed`", "remove one of the two"],
    ),
    (
        "[wall.floor]",
        keys!("joint = { ball = {} }\ncarried_by_fluid = true"),
        &["scene.toml:18:20", "`carried_by_fluid` does not go with `joint`", "moves freely"],
    ),
    (
        "at = [[0, 0, 0], [\"3 mm\", 0, 0]]\nradius = \"1 mm\"",
        "joint = { ball = {} }\ninlet = { through = { disc = { center = [0, 0, 1], normal = [0, 0, -1], radius = 0.1 } }, rate = \"1 kg/s\", radius = 0.001 }",
        &["scene.toml:16:", "`inlet` does not go with `joint`", "use `file`, `fill` or `at`"],
    ),
    (
        "[wall.floor]",
        keys!("joint = { slider = { along = [1, 0, 0] } }\nangular_velocity = [0, 0, 5]"),
        &[
            "scene.toml:17:1",
            "grains.bed: its slider lets through [0.0, 0.0, 0.0] rad/s of its angular velocity of [0.0, 0.0, 5.0] rad/s",
            "not at all on a slider",
        ],
    ),
    (
        "[wall.floor]",
        keys!("joint = { hinge = { axis = [0, 0, 1] } }\nvelocity = [0.2, 0, 0]"),
        &["scene.toml:17:1", "not of [0.2, 0.0, 0.0] m/s", "leave the velocity out"],
    ),
    (
        "gravity = [0, 0, \"-9.81 m/s^2\"]",
        "domain = { min = [-1, -1, -1], max = [1, 1, 1], sides = [\"periodic\", \"open\", \"open\"] }\n[grains.bob]\nmaterial = \"glass\"\nat = [[0.1, 0, 0]]\nradius = \"1 mm\"\njoint = { hinge = { through = [0.1, 0, 3], axis = [0, 1, 0] } }",
        &[
            "scene.toml:10:1",
            "grains.bob: on its hinge it reaches 3.0000e0 m along x",
            "enlarge world.domain",
        ],
    ),
];

#[test]
fn impossible_joints_are_refused() {
    assert_refused(CASES);
    let tied = with("joint = { ball = {} }");
    for (stages, phrase) in [
        (
            "[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\n[[stage]]\nname = \"b\"\nadd = [\"grains.bed\"]\n",
            "bodies on joints cannot be added by a stage yet",
        ),
        (
            "[[stage]]\nname = \"a\"\nset = { grains = { bed = { velocity = [0, 0, 1] } } }\n",
            "`velocity` is not for bodies on joints",
        ),
        (
            "[[stage]]\nname = \"a\"\nset = { grains = { bed = { fixed = true } } }\n",
            "clumps, and bodies on joints, cannot be held while they move",
        ),
    ] {
        let found = refused(&format!("{tied}{stages}"));
        let message = found.plain();
        assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
        assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "{message}");
    }
}
