//! Invalid fluids: each is refused with its line, its value and a remedy.

use seixo_scene::{Diagnostics, load_text};
use std::path::Path;

/// A valid scene that the cases below change.
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

/// Replaced text, replacement, and required phrases of the message.
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
        &["scene.toml:5:", "nothing says how fast it will flow", "fastest = \"1 m/s\""],
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
    (
        "spacing = 0.02",
        "spacing = 0.02\nsurface_tension = \"72 mN/m\"\n[outlet.sink]\nthrough = { box = { min = [0.7, 0, -0.1], max = [0.8, 0.1, 0.1] } }",
        &[
            "scene.toml:9:19",
            "fluid.water: a surface tension in a scene with inlets or outlets",
            "no inlets and no outlets",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsolver = \"dfsph\"\nparticle_shifting = true",
        &[
            "scene.toml:10:21",
            "fluid.water: `particle_shifting` is not for solver = \"dfsph\"",
            "write solver = \"wcsph\"",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nparticle_shifting = true\nxsph = 0.5",
        &[
            "scene.toml:10:8",
            "fluid.water: `xsph` and `particle_shifting` both set the velocity",
            "one of both",
            "particle_shifting = false",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nxsph = 1.5",
        &["scene.toml:9:8", "1.5 is out of range", "<= 1"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsolver = \"dfsph\"\nsurface_tension = \"72 mN/m\"",
        &[
            "scene.toml:10:19",
            "fluid.water: `surface_tension` is not for solver = \"dfsph\"",
            "write solver = \"wcsph\"",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsolver = \"muller2003\"\nsurface_tension = \"72 mN/m\"",
        &["scene.toml:10:19", "`surface_tension` is not for solver = \"muller2003\""],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nplane = \"xz\"\n[wall.piston]\nplane = { point = [0.6, 0, 0], normal = [-1, 0, 0] }\nmotion = { translate = [-1, 0.5, 0] }",
        &[
            "scene.toml:12:",
            "wall.piston: its translate takes fluids across the plane in which they flow",
            "motion with nothing along y, and turning about y",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nplane = \"xz\"\n[wall.drum]\ncylinder = { from = [0.2, -1, 0.1], to = [0.2, 1, 0.1], radius = 0.5 }\n\
         motion = { rotate = \"1 rad/s\", axis = [0, 1, 1], through = [0.2, 0, 0.1] }",
        &["scene.toml:12:", "wall.drum: its rotate takes fluids across the plane"],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nplane = \"xz\"\n[[stage]]\nname = \"turn\"\nset = { gravity = [0, 1, -9] }",
        &[
            "scene.toml:12:",
            "stage turn: gravity: it acts along y, across the plane",
            "0 along y",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nplane = \"xz\"\n[wall.piston]\nplane = { point = [0.6, 0, 0], normal = [-1, 0, 0] }\n[[stage]]\nname = \"go\"\n\
         set = { wall = { piston = { motion = { translate = [0, 1, 0] } } } }",
        &[
            "scene.toml:14:",
            "stage go: wall.piston: its translate takes fluids across the plane",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\ncut_at_planes = true\n[wall.ceiling]\nplane = { point = [0, 0, -0.1], normal = [0, 0, -1] }",
        &["scene.toml:7:1", "all of its region is behind planes", "before the planes"],
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
        "spacing = 0.02",
        "spacing = 0.02\nsolver = \"dfsph\"\nsound_speed = \"30 m/s\"\nbackground_pressure = 10",
        &[
            "scene.toml:10:15",
            "fluid.water: `sound_speed` is not for solver = \"dfsph\"",
            "`fastest` sets the time step",
            "`background_pressure` is not for solver",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsolver = \"dfsph\"\nstate = \"linear\"\ndensity_diffusion = 0.2",
        &[
            "`state` is not for solver = \"dfsph\"",
            "`density_diffusion` is not for solver",
            "write solver = \"wcsph\"",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\niterations = 50",
        &[
            "scene.toml:9:14",
            "`iterations` is not for solver = \"wcsph\"",
            "write solver = \"dfsph\"",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsolver = \"dfsph\"\ndensity_error = 1",
        &[
            "scene.toml:10:17",
            "with `density_error` 1 densities are not kept at all",
            "accepted: at most 0.1",
            "it is a share, not percent",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsolver = \"dfsph\"\nstiffness = 30\nxsph = 0.5",
        &[
            "scene.toml:10:13",
            "`stiffness` is not for solver = \"dfsph\"",
            "`xsph` is not for solver",
            "do not keep their densities; or write solver = \"wcsph\"",
            "write solver = \"muller2003\"",
        ],
    ),
    (
        "[wall.tank]",
        "[outlet.sink]\nthrough = { box = { min = [0.7, 0, -0.1], max = [0.8, 0.1, 0.1] } }\n[fluid.oil]\nsolver = \"dfsph\"\ndensity = 800\n\
         fill = { box = { min = [0.5, 0, 0], max = [0.6, 0.3, 0.2] } }\n[wall.tank]",
        &["outlet.sink: it is not for solver = \"dfsph\"", "write solver = \"wcsph\""],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsolver = \"muller2003\"\ndensity_error = 1e-4",
        &[
            "scene.toml:10:17",
            "`density_error` is not for solver = \"muller2003\"",
            "write solver = \"dfsph\"",
        ],
    ),
    (
        "spacing = 0.02",
        "spacing = 0.02\nsolver = \"dfsph\"\niterations = 1",
        &["scene.toml:10:14", "a whole number from 2 to 100000"],
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

/// Without grains their kinetic energy is 0, so a stage that waits for the fluid to settle would end at once.
#[test]
fn a_condition_on_grains_is_reported_in_a_scene_without_grains() {
    let text = format!("{WATER}[[stage]]\nname = \"settle\"\nuntil = \"kinetic_energy < 1 J\"\n");
    let scene = load_text(&text, Path::new("scene.toml"), &[]).expect(&text);
    let reported = scene.notices.join("\n");
    for phrase in [
        "scene.toml:13:9: stage settle: `kinetic_energy` is a quantity of grains",
        "`fluid = true`",
    ] {
        assert!(reported.contains(phrase), "no `{phrase}` in {reported}");
    }
    let until = scene.plan.stages[0].until.as_ref().expect("a condition");
    assert_eq!(until.holds(|_| -0.0).as_deref(), Some("kinetic_energy = 0 J < 1 J"));
}
