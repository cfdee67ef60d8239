//! Inlets and outlets of fluids: values of their keys, and errors.

use seixo_engine::world::{Fluids, OutletForm};
use seixo_scene::{Scene, StageAction, StageItem, load_text};
use std::f64::consts::PI;
use std::path::Path;

/// A tank that is empty at the start, 20 mm between particles, with an inlet above it.
const TANK: &str = r#"[run]
until = 1
[world]
gravity = [0, 0, -9.81]
[fluid.water]
density = 1000
spacing = 0.02
[inlet.tap]
through = { disc = { center = [0.4, 0.2, 0.6], normal = [0, 0, -2], radius = 0.08 } }
rate = "0.03 m^3/s"
[wall.tank]
box = { min = [0, 0, 0], max = [0.8, 0.4, 0.4], open = ["top"] }
"#;
const SPACING: f64 = 0.02;

/// A channel as a plane flow, full from its inlet to 12 cm beyond its outlet.
const CHANNEL: &str = r#"[run]
until = 1
[world]
domain = { min = [-0.1, -0.1, -0.1], max = [1.2, 0.1, 0.3] }
[fluid.oil]
density = 900
spacing = 0.02
plane = "xz"
velocity = [1, 0, 0]
background_pressure = 500
fill = { box = { min = [0, -0.1, 0], max = [1.12, 0.1, 0.2] } }
[inlet.in]
through = { rectangle = { center = [0, 0, 0.1], edges = [[0, 0.2, 0], [0, 0, 0.2]] } }
speed = "1 m/s"
volume = 0.1
[outlet.out]
through = { rectangle = { center = [1, 0, 0.1], edges = [[0, 0.2, 0], [0, 0, 0.2]] } }
[wall.bottom]
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[wall.top]
plane = { point = [0, 0, 0.2], normal = [0, 0, -1] }
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

#[test]
fn a_rate_becomes_a_speed_of_all_that_stands_in_a_layer() {
    let found = fluids(TANK);
    let [tap] = &found.inlets[..] else { panic!() };
    assert!(found.particles.is_empty() && !found.boundary.position.is_empty());
    // A disc of 50 particles, approximated by a lattice.
    let area = PI * 0.08 * 0.08 / SPACING.powi(2);
    assert!((tap.sites.len() as f64 - area).abs() < 3.0, "{} {area}", tap.sites.len());
    for [x, y, z] in &tap.sites {
        assert!((x - 0.4).hypot(y - 0.2) < 0.08 + 1e-9 && (z - 0.6).abs() < 1e-12);
    }
    let brought = tap.speed * tap.sites.len() as f64 * SPACING.powi(2);
    assert!((brought - 0.03).abs() < 1e-12, "{brought}");
    assert_eq!(
        (tap.normal, tap.is_open, tap.from, tap.to),
        ([0.0, 0.0, -1.0], true, 0.0, f64::INFINITY)
    );
    // The largest expected speed is that of a fall of 0.6 m to the bottom, and a little deeper to the last wall particle.
    let fall = |height: f64| (tap.speed.powi(2) + 2.0 * 9.81 * height).sqrt();
    assert!(
        found.largest_speed >= fall(0.6) && found.largest_speed <= fall(0.7),
        "{}",
        found.largest_speed
    );
    assert!((found.kinds[0].sound_speed - 10.0 * found.largest_speed).abs() < 1e-9);
    let notices = scene(&TANK.replace("rate = \"0.03 m^3/s\"", "speed = 1.5")).notices;
    assert!(
        notices.iter().any(|notice| notice.contains("inlet.tap: its particles stand for")),
        "{notices:?}"
    );
}

#[test]
fn a_channel_has_walls_along_its_inlet_and_none_across() {
    let scene = scene(CHANNEL);
    let found = scene.world.fluids.as_ref().unwrap();
    let ([inlet], [outlet]) = (&found.inlets[..], &found.outlets[..]) else {
        panic!()
    };
    assert_eq!(
        (scene.plan.fluid_inlets.as_slice(), scene.plan.fluid_outlets.as_slice()),
        (&["in".to_owned()][..], &["out".to_owned()][..])
    );
    let heights: Vec<f64> = inlet.sites.iter().map(|site| site[2]).collect();
    assert_eq!(heights.len(), 10);
    assert!(
        heights
            .iter()
            .zip(0..)
            .all(|(z, k)| (z - (f64::from(k) + 0.5) * SPACING).abs() < 1e-12),
        "{heights:?}"
    );
    assert!(inlet.sites.iter().all(|site| site[0] == 0.0 && site[1] == 0.0));
    // 0.1 m² of layers of ten times 4 cm².
    assert_eq!(inlet.max_layers, 25);
    assert_eq!((outlet.pressure, outlet.level), (500.0, None));
    assert!(matches!(outlet.opening, OutletForm::Rectangle { normal, .. } if normal == [1.0, 0.0, 0.0]));
    // Wall particles also extend along the buffers of inlets and outlets.
    let places = &found.boundary.position;
    let ends = places.iter().fold([0.0f64; 2], |[low, high], x| [low.min(x[0]), high.max(x[0])]);
    assert!(ends[0] < -0.08 && ends[1] > 1.1, "{ends:?}");
    // A plane closes its beginning, which is open at the inlet.
    let closed = fluids(&CHANNEL.replace(
        "[wall.top]",
        "[wall.back]\nplane = { point = [0, 0, 0], normal = [1, 0, 0] }\n[wall.top]",
    ));
    let behind = |x: &&[f64; 3]| x[0] < 0.0 && x[2] > 0.0 && x[2] < 0.2;
    assert_eq!(closed.boundary.position.iter().filter(behind).count(), 0);
    assert!(closed.boundary.position.len() > 100);
}

#[test]
fn fluid_that_starts_too_far_behind_an_outlet_is_reported() {
    let reported = |text: &str| {
        let notices = scene(text).notices;
        notices
            .iter()
            .filter(|notice| notice.contains("outlet.out: 10 particles start"))
            .count()
    };
    // A column of particles starts 11 cm behind the outlet, which removes particles within 10 cm.
    assert_eq!(reported(CHANNEL), 1);
    assert_eq!(reported(&CHANNEL.replace("[1.12, 0.1, 0.2]", "[1.1, 0.1, 0.2]")), 0);
}

#[test]
fn stages_open_and_close_inlets_of_fluids() {
    let staged = format!(
        "{TANK}[[stage]]\nname = \"wait\"\nuntil = \"duration 0.1 s\"\n[[stage]]\nname = \"pour\"\nuntil = \"duration 0.2 s\"\nadd = [\"inlet.tap\"]\n\
         [[stage]]\nname = \"rest\"\nremove = [\"inlet.tap\"]\n"
    );
    let scene = scene(&staged);
    assert!(!scene.world.fluids.as_ref().unwrap().inlets[0].is_open);
    let actions: Vec<StageAction> = scene.plan.stages.iter().flat_map(|stage| stage.actions.clone()).collect();
    assert_eq!(
        actions,
        [
            StageAction::Add(StageItem::FluidInlet(0)),
            StageAction::Remove(StageItem::FluidInlet(0))
        ]
    );
}

/// Replaced text, replacement, and required phrases of the message.
type Case = (&'static str, &'static str, &'static [&'static str]);

const BAD_TANKS: &[Case] = &[
    (
        "rate = \"0.03 m^3/s\"",
        "rate = 0",
        &["scene.toml:10:", "0 m^3/s is out of range", "> 0"],
    ),
    (
        "rate = \"0.03 m^3/s\"",
        "",
        &["inlet.tap: it has neither `speed` nor `rate`", "exactly one of them"],
    ),
    (
        "rate = \"0.03 m^3/s\"",
        "rate = 0.03\nspeed = 1",
        &["inlet.tap: it has both `speed` and `rate`"],
    ),
    (
        "rate = \"0.03 m^3/s\"",
        "rate = \"2 kg/s\"",
        &["mass per time [kg/s], but volume per time [m^3/s] belongs here"],
    ),
    (
        "radius = 0.08",
        "radius = 0.005",
        &[
            "scene.toml:9:",
            "inlet.tap: it is 0.010000 m wide, less than the spacing of 0.02 m",
            "use a smaller spacing",
        ],
    ),
    (
        "center = [0.4, 0.2, 0.6]",
        "center = [0.78, 0.2, 0.3]",
        &[
            "scene.toml:9:",
            "inlet.tap: what comes would be at",
            "inside wall.tank.right, or behind it",
            "turn it",
        ],
    ),
    (
        "gravity = [0, 0, -9.81]",
        "gravity = [0, 0, -9.81]\ndomain = { min = [-1, -1, -1], max = [1, 1, 0.5] }",
        &["scene.toml:10:", "is in it, outside of the domain", "enlarge world.domain"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nfastest = 1",
        &[
            "scene.toml:11:",
            "inlet.tap: 1.5",
            "are too fast",
            "<= 1.0000 m/s, a tenth of the speed of sound in fluid.water",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nfill = { box = { min = [0.2, 0.1, 0], max = [0.6, 0.3, 0.8] } }",
        &[
            "scene.toml:8:",
            "fluid.water: its particle at",
            "is where those of inlet.tap are on their way",
        ],
    ),
    (
        "[inlet.tap]",
        "[inlet.tap]\nfluid = \"watre\"",
        &["scene.toml:9:", "no fluid is named `watre`", "did you mean `water`?"],
    ),
    (
        "[inlet.tap]",
        "[inlet.tap]\nto = 0.5\nfrom = 0.7",
        &["inlet.tap: it would end at 0.5 s, before it begins at 0.7 s"],
    ),
    (
        "[inlet.tap]",
        "[inlet.tap]\nvolume = 1e-5",
        &["less than one layer of particles", "let more come"],
    ),
    ("[inlet.tap]", "[inlet.tap]\nradius = 0.1", &["scene.toml:9:1", "unknown key"]),
    (
        "[inlet.tap]",
        "[fluid.oil]\ndensity = 900\n[inlet.tap]",
        &["inlet.tap: `fluid` is missing, and the scene has several", "add fluid = \"oil\""],
    ),
    (
        "[inlet.tap]",
        "[fluid.oil]\ndensity = 900\n[inlet.tap]\nfluid = \"water\"",
        &["fluid.oil: `fill` is missing, and no inlet brings it", "[inlet.NAME]"],
    ),
    (
        "[inlet.tap]",
        "[outlet.sink]\nthrough = { box = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] } }\npressure = 10\n[inlet.tap]",
        &["outlet.sink: `pressure` is for a disc or a rectangle"],
    ),
];

const BAD_CHANNELS: &[Case] = &[
    (
        "center = [0, 0, 0.1], edges = [[0, 0.2, 0], [0, 0, 0.2]]",
        "center = [0, 0.5, 0.1], edges = [[0, 0.2, 0], [0, 0, 0.2]]",
        &["inlet.in: it does not reach the plane in which fluids flow, y = 0"],
    ),
    (
        "center = [0, 0, 0.1], edges = [[0, 0.2, 0], [0, 0, 0.2]]",
        "center = [0, 0, 0.1], edges = [[0, 0, 0.2], [0.2, 0, 0]]",
        &["inlet.in: fluid would go out of the plane in which fluids flow, y = 0"],
    ),
    (
        "center = [1, 0, 0.1]",
        "center = [1.19, 0, 0.1]",
        &["outlet.out:", "outside of the domain", "fluid goes on for about a spacing"],
    ),
    (
        "max = [1.2, 0.1, 0.3] }",
        "max = [1.2, 0.1, 0.3], sides = [\"periodic\", \"open\", \"open\"] }",
        &["inlet.in: fluid would go along x, where sides are periodic"],
    ),
];

#[test]
fn what_cannot_come_or_go_is_refused() {
    for (sound, cases) in [(TANK, BAD_TANKS), (CHANNEL, BAD_CHANNELS)] {
        for (what, by, phrases) in cases {
            assert_eq!(sound.matches(what).count(), 1, "{what}");
            let found = load_text(&sound.replace(what, by), Path::new("scene.toml"), &[]).expect_err(by);
            let message = found.plain();
            for phrase in *phrases {
                assert!(message.contains(phrase), "`{by}`: no `{phrase}` in\n{message}");
            }
            assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "`{by}`: no remedy in\n{message}");
        }
    }
    let dry = "[run]\nuntil = 1\n[inlet.tap]\nthrough = { disc = { center = [0, 0, 0], normal = [0, 0, 1], radius = 1 } }\nspeed = 1\n";
    let message = load_text(dry, Path::new("scene.toml"), &[]).expect_err("no fluid").plain();
    assert!(message.contains("inlet.tap: it is for fluids, and the scene has none"), "{message}");
    let wet = TANK.replace(
        "[wall.tank]",
        "[material.glass]\ndensity = 2500\nyoungs_modulus = 1e9\npoisson_ratio = 0.2\n[interaction.glass-glass]\nrestitution = 0.5\nfriction = 0.3\n\
         [grains.tap]\nmaterial = \"glass\"\ninlet = { through = { box = { min = [0.1, 0.1, 0.1], max = [0.2, 0.2, 0.3] } }, rate = \"10 1/s\", \
         radius = 0.01 }\n[wall.tank]\nmaterial = \"glass\"",
    );
    let message = load_text(&wet, Path::new("scene.toml"), &[]).expect_err("two taps").plain();
    assert!(message.contains("inlet.tap: grains.tap has an inlet, too"), "{message}");
}
