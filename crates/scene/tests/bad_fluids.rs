//! Bad fluids: each is refused with its line, its value and a remedy.

use seixo_scene::{Diagnostics, load_text};
use std::path::Path;

/// A sound scene that the cases below spoil.
const WATER: &str = r#"[run]
until = 1
[world]
gravity = [0, 0, -9.81]
[fluid.water]
density = 1000
fill = { box = { min = [0, 0, 0], max = [0.4, 0.3, 0.2] } }
spacing = 0.02
[wall.tank]
box = { min = [0, 0, 0], max = [0.8, 0.3, 0.4], open = ["top"] }
"#;

fn refused(text: &str) -> Diagnostics {
    load_text(text, Path::new("scene.toml"), &[]).expect_err(text)
}

/// What is replaced, by what, and the phrases that the message must hold.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "spacing = 0.02",
        "spacing = 0.5",
        &[
            "scene.toml:8:11",
            "a spacing of 0.5 m is larger than the region",
            "0.400000 m along x",
            "use a smaller spacing",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 1e-6",
        &["scene.toml:8:11", "particles need about", "use a larger spacing"],
    ),
    (
        "spacing = 0.02",
        "",
        &["scene.toml:5:", "fluid.water: `spacing` is missing", "spacing = \"1 cm\""],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsupport = 1",
        &[
            "scene.toml:9:11",
            "a support of 1 spacings",
            "accepted: 1.2 to 8 spacings",
            "support = 4",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsupport = \"8 cm\"",
        &["scene.toml:9:11", "length [m]", "pure number"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsound_speed = 5",
        &[
            "scene.toml:9:15",
            "a sound speed of 5 m/s where a flow of 1.9809 m/s is expected",
            ">= 19.81 m/s, ten times the fastest flow",
            "sound_speed = \"auto\"",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsound_speed = \"30 m/s\"\nfastest = \"4 m/s\"",
        &["scene.toml:9:15", "a sound speed of 30 m/s where a flow of 4.0000 m/s is expected"],
    ),
    (
        "gravity = [0, 0, -9.81]",
        "gravity = [0, 0, 0]",
        &["scene.toml:5:", "nothing tells how fast it will flow", "fastest = \"1 m/s\""],
    ),
    (
        "fill = { box = { min = [0, 0, 0]",
        "fill = { box = { min = [-0.1, 0, 0]",
        &[
            "scene.toml:7:1",
            "fluid.water: its particle at",
            "is inside wall.tank.left, or behind it",
            "fill a region that ends at the wall",
        ],
    ),
    (
        "[wall.tank]",
        "[wall.floor]\nplane = { point = [0, 0, 0], normal = [0, 0, -1] }\n[wall.tank]",
        &[
            "scene.toml:7:1",
            "is inside wall.floor, or behind it",
            "before a plane is where its normal points to",
        ],
    ),
    (
        "[wall.tank]",
        "[wall.pole]\ncylinder = { from = [0.2, 0.1, 0], to = [0.2, 0.1, 0.4], radius = 0.05 }\n[wall.tank]",
        &["scene.toml:7:1", "is inside wall.pole, or behind it"],
    ),
    (
        "[wall.tank]",
        "[fluid.oil]\ndensity = 900\nfill = { box = { min = [0.3, 0, 0.1], max = [0.5, 0.3, 0.2] } }\n[wall.tank]",
        &[
            "scene.toml:7:1",
            "fluid.water: its particle at",
            "is in fluid.oil, or too close to it",
            "accepted: 0.5 spacings",
        ],
    ),
    (
        "[wall.tank]",
        "[fluid.oil]\ndensity = 900\nspacing = 0.01\nfill = { box = { min = [0.5, 0, 0], max = [0.6, 0.3, 0.2] } }\n[wall.tank]",
        &[
            "scene.toml:8:11",
            "fluid.water: `spacing` is 0.02, but fluid.oil has 0.01",
            "0.01, as in fluid.oil",
            "the same in all fluids",
        ],
    ),
    (
        "[wall.tank]",
        "[fluid.oil]\ndensity = 900\nsmoothing = \"cubic_spline\"\nfill = { box = { min = [0.5, 0, 0], max = [0.6, 0.3, 0.2] } }\n\
         [fluid.z]\ndensity = 900\nsmoothing = \"wendland\"\nfill = { box = { min = [0.6, 0, 0], max = [0.7, 0.3, 0.2] } }\n[wall.tank]",
        &["`smoothing` is wendland, but fluid.oil has cubic_spline"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nplane = \"xy\"",
        &["scene.toml:4:11", "it acts along z, across the plane", "0 along z"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nplane = \"xz\"\nvelocity = [0, 1, 0]",
        &[
            "scene.toml:10:12",
            "its velocity points out of the plane in which it flows",
            "0 along y",
        ],
    ),
    (
        "fill = { box = { min = [0, 0, 0], max = [0.4, 0.3, 0.2] } }",
        "fill = { box = { min = [0, 0.1, 0], max = [0.4, 0.3, 0.2] } }\nplane = \"xz\"",
        &[
            "scene.toml:7:1",
            "the region does not reach the plane in which fluids flow, y = 0",
            "from 0.100000 to 0.300000 m",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsurface_tension = \"72 mN/m\"\nsupport = 3",
        &[
            "scene.toml:10:11",
            "fluid.water: with a support of 3 spacings",
            "hold each other in a lattice",
            ">= 4 spacings",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsurface_tension = \"72 mN/m\"\nsmoothing = \"cubic_spline\"",
        &["scene.toml:10:13", "known for Wendland's smoothing function alone"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsurface_tension = \"72 mN/m\"\ncontact_angle = \"150 deg\"",
        &["scene.toml:10:17", "a contact angle of 150.0000°", "30° to 130°"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsurface_tension = \"72 mN\"",
        &["scene.toml:9:19", "but surface tension [N/m] belongs here", "72 mN/m"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsurface_tension = \"500 N/m\"\nsound_speed = 25",
        &[
            "scene.toml:10:15",
            "with a sound speed of 25 m/s",
            ">= 35.356 m/s, ten times as fast",
        ],
    ),
    (
        "[wall.tank]",
        "[fluid.oil]\ndensity = 900\nsurface_tension = 0.03\nfill = { box = { min = [0.5, 0, 0], max = [0.6, 0.3, 0.2] } }\n[wall.tank]",
        &["scene.toml:11:19", "fluid.oil: a surface tension in a scene with several fluids"],
    ),
    ("density = 1000\n", "", &["scene.toml:5:", "fluid.water: `density` is missing"]),
    ("density = 1000", "density = 0", &["scene.toml:6:11", "0 kg/m^3 is out of range"]),
    (
        "spacing = 0.02",
        "spacing = 0.02\nviscosity = \"1 Pa\"",
        &[
            "scene.toml:9:13",
            "\"1 Pa\" is pressure [Pa], but dynamic viscosity [Pa s] belongs here",
            "1e-3 Pa s",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nviscocity = 1",
        &["scene.toml:9:1", "unknown key", "did you mean `viscosity`?"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nstate = \"tate\"",
        &["scene.toml:9:9", "unknown equation of state `tate`", "did you mean `tait`?"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsolver = \"pcisph\"",
        &["scene.toml:9:10", "unknown solver `pcisph`", "wcsph"],
    ),
    (
        "[wall.tank]",
        "[wall.tank]\nslip = \"fre\"",
        &["scene.toml:10:8", "unknown slip `fre`", "did you mean `free`?"],
    ),
    ("[fluid.water]", "[fluid.\"wa ter\"]", &["fluid: \"wa ter\" cannot be a name"]),
    (
        "gravity = [0, 0, -9.81]",
        "gravity = [0, 0, -9.81]\ndomain = { min = [0, 0, -1], max = [0.3, 1, 1] }",
        &["scene.toml:8:1", "starts outside of the domain", "enlarge world.domain"],
    ),
    (
        "[wall.tank]",
        "[material.glass]\ndensity = 2500\nyoungs_modulus = 1e9\npoisson_ratio = 0.2\n[interaction.glass-glass]\nrestitution = 0.5\nfriction = 0.3\n\
         [grains.ball]\nmaterial = \"glass\"\nat = [[0.6, 0.1, 0.1]]\nradius = 0.02\n[wall.tank]",
        &["scene.toml:20:", "wall.tank: `material` is missing", "materials are: glass"],
    ),
];

#[test]
fn bad_fluids_are_refused() {
    for (what, by, phrases) in CASES {
        assert_eq!(WATER.matches(what).count(), 1, "{what}");
        let found = refused(&WATER.replace(what, by));
        let message = found.plain();
        for phrase in *phrases {
            assert!(message.contains(phrase), "`{by}`: no `{phrase}` in\n{message}");
        }
        assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "`{by}`: no remedy in\n{message}");
    }
}

#[test]
fn a_scene_of_nothing_is_refused() {
    let message = refused("[run]\nuntil = 1\n").plain();
    assert!(
        message.contains("neither grains nor a fluid") && message.contains("[fluid.NAME]"),
        "{message}"
    );
}
