//! Invalid scenes: each is refused with its line, its value and a remedy, never with a panic.

mod hostile;
mod interactions;
mod mutated;

use crate::spoiled::{Case, SOUND, assert_refused, refused};
use proptest::prelude::*;
use seixo_scene::load_text;
use std::path::Path;

const CASES: &[Case] = &[
    (
        "until = \"1 s\"",
        "until = \"1 mm\"",
        &["scene.toml:3:9", "\"1 mm\" is length [m], but time [s] belongs here", "10 ms"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 sec\"",
        &["scene.toml:3:9", "unknown unit \"sec\"", "units are built from"],
    ),
    (
        "until = \"1 s\"",
        "until = \"soon\"",
        &["scene.toml:3:9", "\"soon\" does not start with a number"],
    ),
    (
        "until = \"1 s\"",
        "until = \"5\"",
        &["scene.toml:3:9", "\"5\" has no unit, time [s] is wanted"],
    ),
    (
        "until = \"1 s\"",
        "until = -1",
        &["scene.toml:3:9", "-1 s is out of range", "accepted: > 0 s"],
    ),
    ("until = \"1 s\"", "until = nan", &["scene.toml:3:9", "NaN is not a finite number"]),
    ("until = \"1 s\"", "until = inf", &["scene.toml:3:9", "inf is not a finite number"]),
    ("until = \"1 s\"", "", &["scene.toml:2:", "run: `until` is missing"]),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\ndivisible = true\ndecomposition_invariant = false",
        &[
            "scene.toml:4:1",
            "run.divisible and run.decomposition_invariant are two names of one key",
            "remove `divisible`",
        ],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\ntime_stp = \"auto\"",
        &["scene.toml:4:1", "unknown key", "did you mean `time_step`?"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\nassembly = \"sorted\"",
        &["scene.toml:4:", "unknown force assembly `sorted`", "sorted_contacts"],
    ),
    (
        "until = \"1 s\"",
        "time = \"1 s\"",
        &["scene.toml:3:1", "unknown key", "Seixo calls it `until`"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\ngravity = [0, 0, -9.81]",
        &["scene.toml:4:1", "unknown key", "`world.gravity` is a key. Known here: until"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\ntime_step = \"1 mm\"",
        &["scene.toml:4:13", "length [m]", "time [s]"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\ndevice = \"gup\"",
        &["scene.toml:4:10", "unknown device `gup`", "did you mean `gpu`?", "gpu:1"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\ndevice = \"cpu:1\"",
        &["scene.toml:4:10", "unknown device `cpu:1`", "accepted: gpu:N", "seixo info"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\ndevice = 1",
        &["scene.toml:4:10", "one of auto, cpu, gpu, heterogeneous, cuda, wgpu"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\nprecision = \"f46\"",
        &["scene.toml:4:13", "unknown precision `f46`", "did you mean `f64`?"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\nprecision = \"f32\"",
        &["scene.toml:4:13", "the CPU computes in f64 or mixed", "--device gpu"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\nsearch = \"gird\"",
        &["scene.toml:4:10", "unknown search `gird`", "did you mean `grid`?"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\nthreads = 1.5",
        &["scene.toml:4:11", "1.5", "a whole number from 0 to 4096"],
    ),
    (
        "until = \"1 s\"",
        "until = \"1 s\"\noverlap_limit = 2",
        &["scene.toml:4:17", "2", "> 0 and <= 1"],
    ),
    (
        "poisson_ratio = 0.2",
        "poisson_ratio = 0.7",
        &[
            "scene.toml:9:17",
            "material.glass.poisson_ratio: 0.7 is out of range",
            "> -1 and <= 0.5",
        ],
    ),
    (
        "poisson_ratio = 0.2",
        "",
        &["scene.toml:6:", "material.glass: `poisson_ratio` is missing"],
    ),
    (
        "density = \"2500 kg/m^3\"",
        "density = \"-2500 kg/m^3\"",
        &["scene.toml:7:11", "-2500 kg/m^3 is out of range", "> 0 kg/m^3"],
    ),
    (
        "density = \"2500 kg/m^3\"",
        "densty = 1",
        &["scene.toml:7:1", "did you mean `density`?", "densty"],
    ),
    (
        "restitution = 0.5",
        "restitution = 0",
        &["scene.toml:11:15", "0 is out of range", ">= 0.000001 and <= 1"],
    ),
    (
        "friction = 0.3",
        "",
        &["scene.toml:10:", "tangential = \"mindlin\" needs `friction`", "add friction = 0.3"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nnormal = \"linear\"",
        &["scene.toml:10:", "needs `stiffness`", "1e5 N/m"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nnormal = \"linear\"\nstiffness = 1e4\ndamping = 500",
        &[
            "scene.toml:15:1",
            "`damping` and `restitution` both give the dashpot",
            "leave one of them out",
        ],
    ),
    (
        "restitution = 0.5",
        "normal = \"viscoelastic\"\ndissipative_time = 1e-6\ndamping = 500",
        &[
            "scene.toml:13:",
            "`damping` is for normal = \"linear\" and \"hertz\"",
            "write normal = \"hertz\"",
        ],
    ),
    (
        "restitution = 0.5",
        "damping = 500\ncohesion = { law = \"jkr\", surface_energy = 0.05 }",
        &["scene.toml:11:", "`damping` has no part in \"jkr\"", "write a restitution"],
    ),
    (
        "restitution = 0.5",
        "",
        &["scene.toml:10:", "`restitution` is missing", "damping = \"500 1/s\""],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\ntangential_damping = 100",
        &["scene.toml:13:", "`tangential_damping` goes with `damping`", "500 1/s"],
    ),
    (
        "friction = 0.3",
        "tangential = \"none\"\ntangential_damping = 100",
        &["scene.toml:13:", "`tangential_damping` needs a tangential law", "remove it"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nnormal = \"hooke\"",
        &["scene.toml:13:10", "unknown normal law `hooke`", "linear, hertz"],
    ),
    (
        "[interaction.glass-glass]",
        "[interaction.glass-steel]",
        &[
            "scene.toml:10:",
            "`glass-steel` does not join two known materials",
            "did you mean `glass-glass`?",
        ],
    ),
    (
        "[interaction.glass-glass]\nrestitution = 0.5\nfriction = 0.3",
        "",
        &["glass and glass can meet", "[interaction.glass-glass]"],
    ),
    (
        "material = \"glass\"\nat",
        "material = \"glas\"\nat",
        &["scene.toml:14:12", "no material is named `glas`", "did you mean `glass`?"],
    ),
    (
        "radius = \"1 mm\"",
        "radius = \"-1 mm\"",
        &["scene.toml:16:10", "-0.001 m is out of range", "> 0 m"],
    ),
    ("radius = \"1 mm\"", "", &["scene.toml:13:", "`radius` is missing", "add radius"]),
    (
        "radius = \"1 mm\"",
        "diameter = \"2 mm\"",
        &["scene.toml:16:1", "unknown key", "Seixo asks for `radius`, half of the diameter"],
    ),
    (
        "at = [[0, 0, 0], [\"3 mm\", 0, 0]]\nradius = \"1 mm\"",
        "fill = { region = { sphere = { center = [0, 0, 0], radius = 1 } }, fraction = 0.3, radius = \"1 mm\" }",
        &["scene.toml:15:", "unknown key", "Seixo calls it `solid_fraction`"],
    ),
    (
        "[output]",
        "[bonds.cement]\namong = [\"bed\"]\nyoungs_modulus = \"1 GPa\"\nshear_strength = \"1 MPa\"\n[output]",
        &["scene.toml:23:1", "unknown key", "Seixo calls it `cohesion`"],
    ),
    (
        "friction = 0.3",
        "friction = 0.3\nshear_strength = \"1 MPa\"",
        &["scene.toml:13:1", "unknown key", "`bonds.NAME.cohesion` is a key"],
    ),
    (
        "[output]",
        "[bonds.cement]\namong = \"bed\"\nyoungs_modulus = \"1 GPa\"\n[output]",
        &[
            "scene.toml:21:9",
            "bonds.cement.among: a list belongs here",
            "write `among = [\"bed\"]`",
        ],
    ),
    (
        "[output]",
        "motion = { vibrate = { amplitude = 1, frequency = 1, direction = [0, 0, 1] } }\n[output]",
        &["scene.toml:20:", "a list belongs here", "write `vibrate = [{ … }]`"],
    ),
    (
        "[output]",
        "[stage]\nname = \"a\"\n[output]",
        &["scene.toml:20:2", "stage: a list belongs here", "write `[[stage]]`"],
    ),
    (
        "every = \"10 ms\"",
        "fields = 1",
        &["scene.toml:21:10", "a list belongs here", "as in [1, 2] or [\"bed\"]"],
    ),
    (
        "position = 0",
        "mass_flow = { plane = { point = [0, 0, 0], normal = [0, 0, 1] } }",
        &["scene.toml:23:1", "unknown key", "Seixo calls it `count_through`"],
    ),
    (
        "[output]",
        "friction = 0.4\n[output]",
        &["scene.toml:20:1", "unknown key", "`friction` belongs to [interaction.A-B]"],
    ),
    (
        "position = 0",
        "torque = \"floor\"",
        &["scene.toml:23:1", "unknown key", "Seixo calls it `wall_torque`"],
    ),
    (
        "at = [[0, 0, 0], [\"3 mm\", 0, 0]]",
        "file = \"missing.txt\"",
        &["scene.toml:15:8", "missing.txt", "check the path"],
    ),
    (
        "at = [[0, 0, 0], [\"3 mm\", 0, 0]]",
        "at = [[0, 0], [\"3 mm\", 0, 0]]",
        &["scene.toml:15:7", "grains.bed.at.0: a list of 3 values belongs here"],
    ),
    (
        "at = [[0, 0, 0], [\"3 mm\", 0, 0]]",
        "",
        &["scene.toml:13:", "exactly one of `file`, `fill`, `at`, `blocks` and `inlet`"],
    ),
    (
        "at = [[0, 0, 0], [\"3 mm\", 0, 0]]\nradius = \"1 mm\"",
        "fill = { region = { sphere = { center = [0, 0, 0], radius = 1 } }, count = 1_000_000_000_000_000_000, radius = \"1 mm\" }",
        &["scene.toml:15:", "1.0000e18 grains need about 1.0e12 GB of memory", "available"],
    ),
    (
        "at = [[0, 0, 0], [\"3 mm\", 0, 0]]\nradius = \"1 mm\"",
        "fill = { region = { box = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] } }, solid_fraction = 0.6, radius = \"5 mm\", method = \"random\" }",
        &[
            "scene.toml:15:",
            "a solid fraction of 0.2",
            "0.600 is wanted",
            "method = \"growth\"",
        ],
    ),
    (
        "at = [[0, 0, 0], [\"3 mm\", 0, 0]]\nradius = \"1 mm\"",
        "fill = { region = { cube = { } }, count = 10, radius = \"5 mm\" }",
        &["scene.toml:15:", "`cube` is not known", "box, cylinder, cone, sphere, mesh"],
    ),
    (
        "at = [[0, 0, 0], [\"3 mm\", 0, 0]]\nradius = \"1 mm\"",
        "fill = { region = { box = { min = [0, 0, 0], max = [1, 1, 1] } }, count = 10, radius = { normal = [\"1 mm\", \"1 mm\"] } }",
        &["scene.toml:15:", "leave no radius", "below a third of the mean"],
    ),
    (
        "gravity = [0, 0, \"-9.81 m/s^2\"]",
        "gravity = [0, 0, \"-9.81 m/s\"]",
        &["scene.toml:5:18", "velocity [m/s]", "acceleration [m/s^2]"],
    ),
    (
        "gravity = [0, 0, \"-9.81 m/s^2\"]",
        "domain = { min = [0, 0, 0], max = [1, 0, 1] }",
        &["scene.toml:5:1", "world.domain", "min below max"],
    ),
    (
        "gravity = [0, 0, \"-9.81 m/s^2\"]",
        "domain = { min = [1, 1, 1], max = [2, 2, 2] }",
        &["scene.toml:13:", "starts outside of the domain", "enlarge world.domain"],
    ),
    (
        "normal = [0, 0, 1] }",
        "normal = [0, 0, 0] }",
        &["scene.toml:19:45", "length zero points nowhere"],
    ),
    (
        "plane = { point = [0, 0, \"-2 mm\"], normal = [0, 0, 1] }",
        "mesh = \"../none.stl\"",
        &["scene.toml:19:8", "none.stl", "check the path"],
    ),
    (
        "plane = { point = [0, 0, \"-2 mm\"], normal = [0, 0, 1] }",
        "",
        &[
            "scene.toml:17:",
            "exactly one of `plane`, `mesh`, `box`, `cylinder`, `cone` and `sphere`",
        ],
    ),
    (
        "[output]",
        "motion = { rotate = \"2 rad/s\" }\n[output]",
        &["scene.toml:20:1", "a rotation needs `axis` and `through`"],
    ),
    (
        "[output]",
        "motion = { rotate = \"2 Hz\" }\n[output]",
        &["scene.toml:20:21", "frequency [Hz]", "angular velocity [rad/s]"],
    ),
    (
        "[output]",
        "motion = { start = 2, stop = 1 }\n[output]",
        &["scene.toml:20:30", "it stops at 1 s, but starts at 2 s", "after the start"],
    ),
    (
        "[output]",
        "motion = { vibrate = [{ amplitude = 1, frequency = 0, direction = [0, 0, 1] }] }\n[output]",
        &["scene.toml:20:52", "0 Hz is out of range", "> 0 Hz"],
    ),
    (
        "[output]",
        "motion = { vibrate = [{ amplitude = 1, frequency = 1, direction = [0, 0, 0] }] }\n[output]",
        &["scene.toml:20:", "length zero points nowhere"],
    ),
    (
        "[output]",
        "motion = { path = \"none.csv\" }\n[output]",
        &["scene.toml:20:19", "none.csv", "check the path"],
    ),
    (
        "[output]",
        "motion = { servo = { along = [0, 0, 1], velocity_limit = 1 } }\n[output]",
        &["scene.toml:20:", "a servo needs a target", "add force = \"100 N\""],
    ),
    (
        "[output]",
        "motion = { servo = { stress = \"1 kPa\", along = [0, 0, 1], velocity_limit = 1 } }\n[output]",
        &["scene.toml:20:", "a stress needs the `area`", "10 cm^2"],
    ),
    (
        "[output]",
        "motion = { servo = { force = 1, stress = 1, area = 1, along = [0, 0, 1], velocity_limit = 1 } }\n[output]",
        &["scene.toml:20:", "a servo has one target"],
    ),
    (
        "[output]",
        "motion = { servo = { force = \"-1 N\", along = [0, 0, 1], velocity_limit = 1 } }\n[output]",
        &["scene.toml:20:30", "-1 N is out of range", "> 0 N"],
    ),
    (
        "[output]",
        "motion = { servo = { force = 1, along = [0, 0, 1] } }\n[output]",
        &["scene.toml:20:", "`velocity_limit` is missing"],
    ),
    (
        "[output]",
        "motion = { servo = { force = 1, velocity_limit = 1 } }\n[output]",
        &["scene.toml:20:", "`along` is missing", "along = [0, 0, -1]"],
    ),
    (
        "[output]",
        "motion = { servo = { torque = 1, angular_velocity_limit = 1 } }\n[output]",
        &["scene.toml:20:", "a rotation needs `axis` and `through`"],
    ),
    (
        "[output]",
        "motion = { servo = { torque = 1 }, axis = [0, 0, 1], through = [0, 0, 0] }\n[output]",
        &["scene.toml:20:", "`angular_velocity_limit` is missing", "1 rad/s"],
    ),
    (
        "[output]",
        "motion = { rotate = 1, servo = { torque = 1, angular_velocity_limit = 1 }, axis = [0, 0, 1], through = [0, 0, 0] }\n[output]",
        &["scene.toml:20:", "and so does another part of its motion", "remove `rotate`"],
    ),
    (
        "[output]",
        "motion = { servo = { stress = 1, between = [[\"a\", \"b\"]], along = [0, 0, 1], velocity_limit = 1 } }\n[output]",
        &["scene.toml:20:", "one pair of walls gives one extent", "width = \"5 cm\""],
    ),
    (
        "[output]",
        "motion = { servo = { stress = 1, between = [[\"a\", \"b\"]], width = 1, along = [0, 0, 1], velocity_limit = 1 } }\n[output]",
        &["scene.toml:20:", "no wall is named `a`"],
    ),
    (
        "[output]",
        "motion = { servo = { force = 1, of = \"first\", along = [0, 0, 1], velocity_limit = 1 } }\n[output]",
        &["scene.toml:20:", "`of` names where a `stress` is measured", "or give `stress`"],
    ),
    (
        "[output]",
        "motion = { servo = { stress = 1, of = \"frst\", area = 1, along = [0, 0, 1], velocity_limit = 1 } }\n[output]",
        &["scene.toml:20:", "wall.floor: no probe is named `frst`", "did you mean `first`?"],
    ),
    (
        "[output]",
        "motion = { servo = { stress = 1, of = \"first\", area = 1, along = [0, 0, 1], velocity_limit = 1 } }\n[output]",
        &[
            "scene.toml:20:",
            "probe `first` does not measure the stress of a region",
            "a probe with `stress`",
        ],
    ),
    (
        "[output]",
        "motion = { servo = { stress = 1, of = \"first\", area = 1, along = [0, 1, 1], velocity_limit = 1 } }\n[output]",
        &["scene.toml:20:", "`along` is oblique", "a direction along x, y or z"],
    ),
    (
        "[output]",
        "surface_rotation = { rate = 1 }\n[output]",
        &["scene.toml:20:", "the rotation of this surface needs an `axis`", "add axis"],
    ),
    (
        "plane = { point = [0, 0, \"-2 mm\"], normal = [0, 0, 1] }",
        "sphere = { center = [0, 0, 0], radius = 0 }",
        &["scene.toml:19:41", "0 m is out of range", "> 0 m"],
    ),
    (
        "plane = { point = [0, 0, \"-2 mm\"], normal = [0, 0, 1] }",
        "cone = { from = [0, 0, 0], to = [0, 0, 1], radii = [0, 0] }",
        &["scene.toml:19:", "both radii are 0"],
    ),
    (
        "plane = { point = [0, 0, \"-2 mm\"], normal = [0, 0, 1] }",
        "box = { min = [-1, -1, -1], max = [1, 1, 1] }\nmotion = { servo = { force = 1, along = [0, 0, 1], velocity_limit = 1 } }",
        &["scene.toml:20:", "a servo moves one wall", "as a `plane`"],
    ),
    ("every = \"10 ms\"", "every = \"1 ps\"", &["scene.toml:21:9", "unknown unit \"ps\""]),
    (
        "every = \"10 ms\"",
        "every = \"1 ns\"",
        &["scene.toml:21:9", "asks for 1.000e9 outputs", "write less often"],
    ),
    (
        "every = \"10 ms\"",
        "fields = [\"velocty\"]",
        &["scene.toml:21:11", "unknown output field `velocty`", "did you mean `velocity`?"],
    ),
    (
        "every = \"10 ms\"\n[probe.first]",
        "[checkpoint]\nkeep = 9\n[probe.first]",
        &["scene.toml:22:8", "9", "a whole number from 1 to 2"],
    ),
    (
        "position = 0",
        "position = 7",
        &["scene.toml:23:12", "no grain has the id 7", "ids up to 1"],
    ),
    (
        "position = 0",
        "wall_force = \"flor\"",
        &["scene.toml:23:14", "no wall is named `flor`", "did you mean `floor`?"],
    ),
    (
        "position = 0",
        "stress = { region = { box = { min = [0, 0, 0], max = [1, 0, 1] } } }",
        &["scene.toml:23:", "probe.first", "is empty or inside out", "move the corners"],
    ),
    ("position = 0", "stress = {}", &["scene.toml:23:", "region"]),
    (
        "position = 0",
        "strain = { group = \"bed\" }",
        &["scene.toml:23:", "`bed` has 2 at the start", "four grains or more"],
    ),
    (
        "position = 0",
        "fabric = { region = { sphere = { center = [0, 0, 0], radius = 0 } } }",
        &["scene.toml:23:", "radius"],
    ),
    (
        "position = 0",
        "coordination = { region = { cylinder = { from = [0, 0, 1], to = [0, 0, 1], radius = 1 } } }",
        &["scene.toml:23:", "two different points"],
    ),
    (
        "position = 0",
        "mixing = { groups = [\"bed\", \"bde\"], cells = [2, 2, 2] }",
        &["scene.toml:23:", "no group of grains is named `bde`", "did you mean `bed`?"],
    ),
    (
        "position = 0",
        "mixing = { groups = [\"bed\"], cells = [2, 2, 2] }",
        &["scene.toml:23:", "two or more"],
    ),
    (
        "position = 0",
        "mixing = { groups = [\"bed\", \"bed\"], cells = [2, 2, 0] }",
        &["scene.toml:23:", "a whole number from 1 to 1000"],
    ),
    (
        "position = 0",
        "coordination = {}\nfabric = {}",
        &["scene.toml:22:", "exactly one of `position`", "`mixing`"],
    ),
    ("every = \"10 ms\"", "contacts = 1", &["scene.toml:21:", "contacts"]),
    ("every = \"10 ms\"", "surface = true", &["scene.toml:21:", "[fluid.NAME]"]),
    (
        "every = \"10 ms\"",
        "coarse = { region = { min = [0, 0, 0], max = [1, 1, 1] }, spacing = \"1 mm\", width = \"2 mm\" }",
        &["scene.toml:21:", "asks for 1.000e9 points", "larger spacing"],
    ),
    (
        "every = \"10 ms\"",
        "coarse = { region = { min = [0, 0, 0], max = [1, 1, 1] }, spacing = \"2 cm\", width = \"1 cm\" }",
        &["scene.toml:21:", "a width of 0.01 m", "1 to 20 spacings"],
    ),
    (
        "[probe.first]",
        "[probe.\"../first\"]",
        &["cannot be a name", "letters, digits, _ and -"],
    ),
    ("[probe.first]", "[gas.air]", &["unknown key", "gas", "known here: title"]),
    ("title = \"sound\"", "title = \"sound", &["scene.toml:1:", "this is not TOML"]),
    ("title = \"sound\"", "version = 2", &["scene.toml:1:11", "version", "write 1"]),
];

#[test]
fn sound_scene_loads() {
    let scene = load_text(SOUND, Path::new("scene.toml"), &[]).unwrap();
    assert_eq!((scene.world.grains.len(), scene.world.walls.len(), scene.probes.len()), (2, 1, 1));
}

#[test]
fn every_bad_scene_is_refused_with_place_and_remedy() {
    assert_refused(CASES);
    assert_refused(interactions::CASES);
}

#[test]
fn one_look_finds_several_errors_in_the_order_of_the_file() {
    let text = SOUND
        .replace("\"1 s\"", "\"1 m\"")
        .replace("0.2", "0.6")
        .replace("radius = \"1 mm\"", "radus = 3");
    let found = refused(&text);
    let lines: Vec<_> = found.list().iter().map(|d| found.line_and_column(d).unwrap().0).collect();
    assert_eq!(lines, [3, 9, 16], "{}", found.plain());
    let json = found.to_json();
    assert_eq!((json[0]["line"].as_u64(), json[0]["value"].as_str()), (Some(3), Some("\"1 m\"")));
}

/// Checks follow in order, and a message lists those that were not done yet.
#[test]
fn what_was_not_looked_at_yet_is_reported() {
    let absent = SOUND.replace("material = \"glass\"\nat", "material = \"sand\"\nat");
    let keys = absent.replace("title =", "titel =");
    let syntax = keys.replace("[output]", "[output");
    let turns = [
        (syntax, "keys and values, and"),
        (keys, "to be checked once this is mended: how the sections fit together"),
        (absent, "overlaps, the time step"),
    ];
    for (text, next) in turns {
        let found = refused(&text);
        let reported = found.further().expect("errors come by turns");
        assert!(reported.contains(next), "{reported}");
        assert!(found.plain().ends_with(&format!("note: {reported}")), "{}", found.plain());
    }
    let touching = SOUND.replace("3 mm\", 0, 0", "1 mm\", 0, 0");
    let scene = load_text(&touching, Path::new("scene.toml"), &[]).expect("sound but for what the engine sees");
    let refusal = seixo_engine::Simulation::new(scene.world, scene.settings)
        .err()
        .expect("an overlap");
    let found = scene.source.explain(&refusal).expect("of the scene");
    assert!(found.plain().ends_with("mended: the rest of the start"), "{}", found.plain());
}

#[test]
fn errors_of_overrides_show_the_override() {
    let set = |path: &str, value: &str| load_text(SOUND, Path::new("scene.toml"), &[(path.to_owned(), value.to_owned())]);
    assert_eq!(set("run.until", "2 s").unwrap().run.until, 2.0);
    assert_eq!(set("run.until", "\"3 s\"").unwrap().run.until, 3.0);
    assert_eq!(set("world.gravity", "[0, 0, -1.62]").unwrap().world.gravity, [0.0, 0.0, -1.62]);
    for (path, value, phrase) in [
        ("run.until", "2 m", "run.until=2 m"),
        ("run.untl", "2 s", "did you mean `until`?"),
        ("run.until.x", "1", "`x` is not inside a table"),
        ("material.glass.density", "-1", "material.glass.density=-1"),
    ] {
        let message = set(path, value).unwrap_err().plain();
        assert!(message.contains(phrase) && message.contains("command line"), "{message}");
    }
}

/// Changes of the sound scene: place and length of the text that is replaced, the text in its place, and a path that an override sets to the latter.
fn changes() -> impl Strategy<Value = (usize, usize, String, String)> {
    let by = "[\\PC]{0,8}|[-0-9.e]{1,6}|\\[|\\]|\\{|\"";
    (0..SOUND.len(), 0..30_usize, by, "[a-z.]{0,16}")
}

/// Loads the sound scene with a change, then with an override. Renders what is found wrong with it.
fn load_changed((at, length, by, path): (usize, usize, String, String)) {
    let end = (at + length).min(SOUND.len());
    let text = format!("{}{by}{}", &SOUND[..at], &SOUND[end..]);
    let _ = load_text(&text, Path::new("scene.toml"), &[]).map_err(|found| found.plain());
    let _ = load_text(SOUND, Path::new("scene.toml"), &[(path, by)]).map_err(|found| (found.plain(), found.to_json()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}", lines in proptest::collection::vec("[a-z.\\[\\]\"={},0-9\\-\n é]{0,20}", 0..12)) {
        for text in [text, lines.join("\n")] {
            if let Err(found) = load_text(&text, Path::new("scene.toml"), &[]) {
                prop_assert!(!found.plain().is_empty());
            }
        }
    }

    #[test]
    fn two_thousand_arbitrary_changes_of_a_sound_scene_never_panic(change in changes()) {
        load_changed(change);
    }
}

proptest! {
    // Scenes that are still sound become worlds, which takes longer than to refuse the others.
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn arbitrary_changes_of_a_sound_scene_never_panic(change in changes()) {
        load_changed(change);
    }
}
