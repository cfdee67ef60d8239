//! Grains with a prescribed motion, and constant forces on grains without one.

use crate::spoiled::{Case, SOUND, assert_refused, refused};
use seixo_engine::world::{Load, WallMotion};
use seixo_scene::{Scene, StageAction, load_text};
use std::path::Path;

const PLACES: &str = "at = [[0, 0, 0], [\"3 mm\", 0, 0]]\nradius = \"1 mm\"";
const FILE: &str = "file = \"bed.csv\"\nfixed = true";

/// The scene of a text, which must be the same after writing and loading it.
fn scene(text: &str, folder: &Path) -> Scene {
    let first = load_text(text, &folder.join("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(
        (&again.world.grains, &again.world.loads, &again.resolved),
        (&first.world.grains, &first.world.loads, &first.resolved)
    );
    first
}

/// The valid scene with keys in line 17, after those of its grains.
fn with(keys: &str) -> String {
    SOUND.replace("[wall.floor]", &format!("{keys}\n[wall.floor]"))
}

#[test]
fn grains_that_are_fixed_are_one_body_at_their_center_of_mass() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bed.csv"), "id x y z radius\n9 0 0 2 1\n4 8 0 2 3\n").unwrap();
    let text = SOUND.replace(PLACES, FILE).replace("position = 0", "position = 9");
    let grains = scene(&text, folder.path()).world.grains;
    assert_eq!((&grains.id, &grains.velocity), (&vec![9, 4], &vec![[0.0; 3]; 2]));
    assert_eq!(grains.position, [[0.0, 0.0, 2.0], [8.0, 0.0, 2.0]]);
    let [body] = &grains.bodies[..] else {
        panic!("{:?}", grains.bodies)
    };
    // The second sphere is 27 times as heavy as the first.
    let small = 4.0 / 3.0 * std::f64::consts::PI * 2500.0;
    let near = |found: f64, expected: f64| assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found}: {expected}");
    near(body.mass, 28.0 * small);
    let center = 8.0 * 27.0 / 28.0;
    near(body.center[0], center);
    assert_eq!((body.center[1], body.center[2], body.orientation), (0.0, 2.0, [1.0, 0.0, 0.0, 0.0]));
    let [[first, at], [second, there]] = [&body.carries[0], &body.carries[1]].map(|(id, offset)| [f64::from(*id), offset[0]]);
    assert_eq!((first, second, body.carries.len()), (9.0, 4.0, 2));
    near(at, -center);
    near(there, 8.0 - center);
    // Two spheres about their center of mass: 2/5 m R² each, and the reduced mass times the square of their distance.
    let own = 0.4 * small * (1.0 + 27.0 * 9.0);
    let across = own + 27.0 / 28.0 * small * 64.0;
    for (moment, expected) in body.moments.into_iter().zip([own, across, across]) {
        near(moment, expected);
    }
    assert_eq!(body.motion, Some(WallMotion::default()));
}

#[test]
fn boundaries_move_as_walls_do() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lift.csv"), "t[ms] z[mm]\n0 5\n100 8\n").unwrap();
    let text = with(
        "motion = { translate = [\"1 m/s\", 0, 0], rotate = \"2 rad/s\", axis = [0, 0, 3], through = [1, 0, 0], start = \"0.5 s\", path = \"lift.csv\" }",
    );
    let text = text.replace("every = \"10 ms\"", "fields = [\"body\"]");
    let motion = scene(&text, folder.path()).world.grains.bodies[0].motion.clone().unwrap();
    assert_eq!(
        (motion.velocity, motion.angular_velocity, motion.through),
        ([1.0, 0.0, 0.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0])
    );
    assert_eq!((motion.start, motion.stop, motion.servo), (0.5, None, None));
    assert_eq!(motion.path.unwrap().time, [0.0, 0.1]);
}

#[test]
fn single_grains_make_no_boundary() {
    let grains = scene(SOUND, Path::new("")).world.grains;
    assert!(grains.bodies.is_empty());
}

#[test]
fn loads_are_of_groups() {
    let world = scene(
        &with("force = [\"1 N\", 0, \"-2 kN\"]\ntorque = [0, \"3 N m\", \"4 mN*m\"]"),
        Path::new(""),
    )
    .world;
    let load = Load::constant(0, [1.0, 0.0, -2000.0], [0.0, 3.0, 4e-3]);
    assert_eq!(world.loads, [load]);
    let ash = "[grains.ash]\nmaterial = \"glass\"\nat = [[0, 0, \"9 mm\"]]\nradius = \"1 mm\"";
    let groups = |keys: &str| -> Vec<u32> {
        let loads = scene(&with(&format!("{keys}\n{ash}")), Path::new("")).world.loads;
        loads.iter().map(|load| load.group).collect()
    };
    assert_eq!(groups("torque = [0, 0, 1]"), [1]);
    assert_eq!(groups("force = [0, 0, 0]"), [0_u32; 0], "a force of zero is none");
}

#[test]
fn stages_hold_free_and_load_grains() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lift.csv"), "t[ms] z[mm]\n0 0\n100 8\n").unwrap();
    let stages = "[[stage]]\nname = \"hold\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { fixed = true } }\n\
        [[stage]]\nname = \"lift\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { motion = { path = \"lift.csv\", start = \"1 ms\" } } }\n\
        [[stage]]\nname = \"free\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { fixed = false, velocity = [0, 0, 1], torque = [0, 0, 2] } }\n\
        [[stage]]\nname = \"pull\"\nset = { grains.bed = { force = [\"3 N\", 0, 0] } }\n";
    let text = format!("{}{stages}", with("force = [\"1 N\", 0, 0]"));
    let first = scene(&text, folder.path());
    let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    let load = |force: f64| StageAction::Load(Load::constant(0, [force, 0.0, 0.0], [0.0, 0.0, 2.0]));
    for scene in [&first, &again] {
        assert_eq!(scene.world.later.constrained_groups, [0]);
        let actions: Vec<&[StageAction]> = scene.plan.stages.iter().map(|stage| &stage.actions[..]).collect();
        assert_eq!(actions[0], [StageAction::Hold(0, Box::default())]);
        let [StageAction::Hold(0, motion)] = actions[1] else {
            panic!("{actions:?}")
        };
        assert_eq!((motion.start, motion.path.as_ref().unwrap().time.len()), (1e-3, 2));
        // Parts of a load that are not set remain.
        assert_eq!(
            actions[2],
            [StageAction::Free(0), StageAction::Velocity(0, [0.0, 0.0, 1.0]), load(1.0)]
        );
        assert_eq!(actions[3], [load(3.0)]);
    }
}

#[test]
fn stages_disable_and_enable_grains() {
    let stages = "[[stage]]\nname = \"off\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { disabled = true } }\n\
        [[stage]]\nname = \"on\"\nset = { grains.bed = { disabled = false, velocity = [0, 0, 1] } }\n";
    let first = scene(&format!("{}{stages}", with("force = [\"1 N\", 0, 0]")), Path::new(""));
    let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    for scene in [&first, &again] {
        let stages = &scene.plan.stages;
        assert_eq!(stages[0].actions, [StageAction::Disable(0)]);
        assert_eq!(
            stages[1].actions,
            [StageAction::Enable(0), StageAction::Velocity(0, [0.0, 0.0, 1.0])]
        );
        assert!(scene.plan.absent.is_empty() && !scene.world.grains.is_empty());
    }
}

macro_rules! keys {
    ($keys:literal) => {
        concat!($keys, "\n[wall.floor]")
    };
}

const CASES: &[Case] = &[
    (
        "[wall.floor]",
        keys!("fixed = true\nmotion = { translate = [1, 0, 0] }"),
        &["scene.toml:17:9", "grains that are `fixed` have no `motion`", "keep `fixed`"],
    ),
    (
        "[wall.floor]",
        keys!("fixed = 1"),
        &["scene.toml:17:9", "grains.bed.fixed", "write a boolean"],
    ),
    (
        "[wall.floor]",
        keys!("fixed = true\nvelocity = [0, 0, 1]"),
        &["scene.toml:18:12", "`velocity` does not go with `fixed`", "motion = { translate"],
    ),
    (
        "[wall.floor]",
        keys!("motion = {}\nangular_velocity = [0, 0, 1]"),
        &[
            "scene.toml:18:20",
            "`angular_velocity` does not go with `motion`",
            "motion = { rotate",
        ],
    ),
    (
        "[wall.floor]",
        keys!("fixed = true\nforce = [0, 0, 1]"),
        &["scene.toml:18:9", "`force` does not go with `fixed`", "whatever pushes it"],
    ),
    (
        "[wall.floor]",
        keys!("fixed = true\ntorque = [0, 0, 1]"),
        &["scene.toml:18:10", "`torque` does not go with `fixed`"],
    ),
    (
        "[wall.floor]",
        keys!("fixed = true\njoint = { ball = {} }\nshape = \"ball\"\n[shape.ball]\nspheres = [{ at = [0, 0, 0], radius = 1 }]"),
        &["scene.toml:18:", "`joint` does not go with `fixed`", "remove one of the two"],
    ),
    (
        "[wall.floor]",
        keys!(
            "fixed = true\nshape = \"ball\"\n[shape.ball]\nspheres = [{ at = [0, 0, 0], radius = 1 }]\n[[stage]]\nname = \"a\"\nset = { grains.bed = { fixed = false } }"
        ),
        &["clumps that are held cannot be set free", "hold them for good"],
    ),
    (
        "[wall.floor]",
        keys!(
            "fixed = true\nshape = \"ball\"\n[shape.ball]\nspheres = [{ at = [0, 0, 0], radius = 1 }]\n[[stage]]\nname = \"a\"\nset = { grains.bed = { disabled = true } }"
        ),
        &["clumps, and bodies on joints, cannot be disabled", "remove = [\"grains.bed\"]"],
    ),
    (
        "at = [[0, 0, 0], [\"3 mm\", 0, 0]]\nradius = \"1 mm\"",
        "fixed = true\ninlet = { through = { disc = { center = [0, 0, 1], normal = [0, 0, -1], radius = 0.1 } }, rate = \"1 kg/s\", radius = 0.001 }",
        &["scene.toml:16:", "`inlet` does not go with `fixed`", "use `file`, `fill` or `at`"],
    ),
    (
        "[wall.floor]",
        keys!("motion = { servo = { force = 1, along = [0, 0, 1], velocity_limit = 1 } }"),
        &[
            "scene.toml:17:",
            "a servo moves a wall, not grains",
            "translate, rotate, vibrate and path",
        ],
    ),
    (
        "[wall.floor]",
        keys!("motion = { rotate = \"2 rad/s\" }"),
        &["scene.toml:17:", "grains.bed: a rotation needs `axis` and `through`"],
    ),
    (
        "[wall.floor]",
        keys!("motion = { path = \"none.csv\" }"),
        &["scene.toml:17:19", "none.csv", "check the path"],
    ),
    (
        "[wall.floor]",
        keys!("motion = { translate = [0, 0, \"1 m\"] }"),
        &["scene.toml:17:", "length [m]", "velocity [m/s]"],
    ),
    (
        "[wall.floor]",
        keys!("force = [\"1 J\", 0, 0]"),
        &["scene.toml:17:10", "\"1 J\" is energy [J], but force [N] belongs here"],
    ),
    (
        "[wall.floor]",
        keys!("torque = [\"1 N\", 0, 0]"),
        &["scene.toml:17:11", "\"1 N\" is force [N], but torque [N m] belongs here", "0.1 N m"],
    ),
];

#[test]
fn what_does_not_go_with_boundaries_is_refused() {
    assert_refused(CASES);
    let fixed = with("fixed = true");
    for (stages, phrase) in [
        (
            "[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\n[[stage]]\nname = \"b\"\nadd = [\"grains.bed\"]\n",
            "boundaries of grains cannot be added by a stage yet",
        ),
        (
            "[[stage]]\nname = \"a\"\nset = { grains = { bed = { velocity = [0, 0, 1] } } }\n",
            "grains.bed: `velocity` is not for grains that are held, which move as prescribed",
        ),
    ] {
        let found = refused(&format!("{fixed}{stages}"));
        let message = found.plain();
        assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
        assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "{message}");
    }
}

#[test]
fn velocities_in_the_file_of_a_boundary_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |rows: &str| std::fs::write(folder.path().join("bed.csv"), format!("x y z radius vz\n{rows}")).unwrap();
    let text = SOUND.replace(PLACES, FILE);
    write("0 0 0 1 0\n5 0 0 1 0\n");
    assert_eq!(scene(&text, folder.path()).world.grains.bodies.len(), 1);
    write("0 0 0 1 0\n5 0 0 1 2\n");
    let found = load_text(&text, &folder.path().join("scene.toml"), &[]).expect_err("moving");
    let message = found.plain();
    for phrase in [
        "scene.toml:15:8",
        "line 3: a grain of a boundary has a velocity of its own",
        "drop the columns",
    ] {
        assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
    }
}

#[test]
fn what_cannot_be_disabled_needs_not_be_brought_back() {
    let shape = "shape = \"ball\"\n[shape.ball]\nspheres = [{ at = [0, 0, 0], radius = 1 }]";
    let stages = [true, false].map(|is_disabled| {
        format!("[[stage]]\nname = \"{is_disabled}\"\nuntil = \"duration 1 us\"\nset = {{ grains.bed = {{ disabled = {is_disabled} }} }}\n")
    });
    let text = SOUND.replace(PLACES, &format!("{PLACES}\n{shape}\n{}", stages.concat()));
    let found = load_text(&text, Path::new("scene.toml"), &[]).expect_err("clumps");
    let message = found.plain();
    assert!(
        found.list().len() == 1 && message.contains("clumps, and bodies on joints, cannot be disabled"),
        "{message}"
    );
}
