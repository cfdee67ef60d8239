//! Invalid inlets, zones and stages: each is refused with its line, its value and a remedy.

use crate::spoiled::{Case, SOUND, assert_refused};
use seixo_scene::load_text;
use std::path::Path;

const CASES: &[Case] = &[
    (
        "[output]",
        "[grains.rain]\nmaterial = \"glass\"\ninlet = { through = { box = { min = [0, 0, \"1 cm\"], max = [\"1 cm\", \"1 cm\", \"3 cm\"] } }, rate = \"1 g\", radius = \"1 mm\" }\n[output]",
        &["scene.toml:22:", "\"1 g\" is mass [kg]", "grains per time [1/s]", "1000 1/s"],
    ),
    (
        "[output]",
        "[grains.rain]\nmaterial = \"glass\"\ninlet = { through = { box = { min = [0, 0, \"1 cm\"], max = [\"1 cm\", \"1 cm\", \"3 cm\"] } }, rate = \"-1 g/s\", radius = \"1 mm\" }\n[output]",
        &["scene.toml:22:", "brings nothing"],
    ),
    (
        "[output]",
        "[grains.rain]\nmaterial = \"glass\"\ninlet = { through = { box = { min = [0, 0, \"1 cm\"], max = [\"1 cm\", \"1 cm\", \"1 mm\"] } }, rate = \"1 g/s\", radius = \"1 mm\" }\n[output]",
        &["scene.toml:22:", "empty or inside out"],
    ),
    (
        "[output]",
        "[grains.rain]\nmaterial = \"glass\"\ninlet = { through = { box = { min = [0, 0, \"1 cm\"], max = [\"1 cm\", \"1 cm\", \"3 cm\"] } }, rate = \"1 g/s\", radius = \"9 mm\" }\n[output]",
        &["scene.toml:22:", "does not fit into the inlet", "use smaller grains"],
    ),
    (
        "[output]",
        "[grains.rain]\nmaterial = \"glass\"\ninlet = { through = { box = { min = [0, 0, \"-9 cm\"], max = [\"1 cm\", \"1 cm\", \"-5 cm\"] } }, rate = \"1 g/s\", radius = \"1 mm\" }\n[output]",
        &["scene.toml:22:", "inside of walls", "away from the walls"],
    ),
    (
        "[output]",
        "[grains.rain]\nmaterial = \"glass\"\ninlet = { through = { disc = { center = [0, 0, 0.05], normal = [0, 0, 1], radius = 0.01 } }, rate = \"1 g/s\", radius = \"1 mm\" }\n[output]",
        &["scene.toml:22:", "never leave the inlet", "velocity"],
    ),
    (
        "[output]",
        "[grains.rain]\nmaterial = \"glass\"\ninlet = { through = { disc = { center = [0, 0, 0.05], normal = [0, 0, 0], radius = 0.01 } }, rate = \"1 g/s\", radius = \"1 mm\" }\n[output]",
        &["scene.toml:22:", "points nowhere"],
    ),
    (
        "[output]",
        "[grains.rain]\nmaterial = \"glass\"\ninlet = { through = { box = { min = [0, 0, \"1 cm\"], max = [\"1 cm\", \"1 cm\", \"3 cm\"] } }, rate = \"1 g/s\", radius = \"1 mm\", from = \"2 s\", to = \"1 s\" }\n[output]",
        &["scene.toml:22:", "would end at 1 s, before it begins"],
    ),
    (
        "[output]",
        "[grains.rain]\nmaterial = \"glass\"\ninlet = { through = { box = { min = [0, 0, \"1 cm\"], max = [\"1 cm\", \"1 cm\", \"3 cm\"] } }, rate = \"1 g/s\", radius = \"1 mm\" }\nat = [[0, 0, 1]]\n[output]",
        &["grains.rain", "exactly one of `file`, `fill`, `at`, `blocks` and `inlet`"],
    ),
    (
        "[output]",
        "[zone.sink]\nremove = false\nregion = { sphere = { center = [0, 0, 0], radius = 1 } }\n[output]",
        &["scene.toml:21:10", "takes nothing away", "remove = true"],
    ),
    (
        "[output]",
        "[zone.sink]\nremove = true\nregion = { sphere = { center = [0, 0, 0], radius = 1 } }\ngroups = [\"bad\"]\n[output]",
        &["scene.toml:23:", "no group of grains is named `bad`", "did you mean `bed`?"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"kinetic_enrgy < 1 J\"\n[output]",
        &[
            "scene.toml:22:9",
            "cannot look at `kinetic_enrgy`",
            "did you mean `kinetic_energy`?",
        ],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"kinetic_energy < 1 mm\"\n[output]",
        &["scene.toml:22:9", "is length [m], but `kinetic_energy` is energy [J]"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"kinetic_energy 1 J\"\n[output]",
        &["scene.toml:22:9", "compares nothing", "<, <=, > or >="],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"time > 2\"\n[output]",
        &["scene.toml:22:9", "has no unit, but `time` is time [s]"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"time > 2 s or\"\n[output]",
        &["scene.toml:22:9", "a comparison is missing"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"grains.bad > 5\"\n[output]",
        &["scene.toml:22:9", "no group of grains is named `bad`", "did you mean `bed`?"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"(time > 1 s or kinetic_energy < 1 J) and duration 1 s\"\n[output]",
        &[
            "scene.toml:22:9",
            "conditions have no parentheses",
            "write \"a and b or a and c\" for \"a and (b or c)\"",
        ],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"time > 1 s OR kinetic_energy < 1 J\"\n[output]",
        &["scene.toml:22:9", "`OR` does not join comparisons", "write `or`"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"time > 1 s && kinetic_energy < 1 J\"\n[output]",
        &["scene.toml:22:9", "`&&` does not join comparisons", "write `and`"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"wall_force > 5 N\"\n[output]",
        &[
            "scene.toml:22:9",
            "`wall_force` does not say on which wall",
            "walls of the scene: floor",
        ],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"wall_force.flor > 5 N\"\n[output]",
        &["scene.toml:22:9", "no wall is named `flor`", "did you mean `floor`?"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset.wall.floor.servo = { force = \"1 N\" }\n[output]",
        &["scene.toml:22:", "floor: it has no servo", "in the section of the wall"],
    ),
    (
        "plane = { point = [0, 0, \"-2 mm\"], normal = [0, 0, 1] }",
        "plane = { point = [0, 0, \"-2 mm\"], normal = [0, 0, 1] }\nmotion.servo = { force = \"1 N\", along = [0, 0, 1], velocity_limit = 1 }\n\
         [[stage]]\nname = \"a\"\nset.wall.floor.servo = { stress = \"1 Pa\" }",
        &[
            "scene.toml:23:",
            "a target of another kind",
            "as a `force`, a `stress` or a `torque`",
        ],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset.wall.floor = {}\n[output]",
        &["scene.toml:22:", "floor: nothing is set", "`motion` or `servo`"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nremove = [\"wall.flor\"]\n[output]",
        &["scene.toml:22:10", "no wall is named `flor`"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nremove = [\"material.glass\"]\n[output]",
        &[
            "scene.toml:22:10",
            "a stage cannot add or remove",
            "wall.NAME, grains.NAME, inlet.NAME, zone.NAME and bonds.NAME",
        ],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\n[[stage]]\nname = \"b\"\n[output]",
        &["stage a: it never ends", "until = \"duration 0.5 s\""],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"duration 1 s\"\n[[stage]]\nname = \"a\"\n[output]",
        &["scene.toml:24:8", "cannot be the name of stage 2"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"duration 1 s\"\nremove = [\"wall.floor\"]\n[[stage]]\nname = \"b\"\nremove = [\"wall.floor\"]\n[output]",
        &["scene.toml:26:10", "wall.floor is gone already"],
    ),
    (
        "[output]",
        "[wall.tank]\nmaterial = \"glass\"\nbox = { min = [-1, -1, -1], max = [1, 1, 1] }\n[[stage]]\nname = \"a\"\nuntil = \"wall_force.tank.botom > 5 N\"\n[output]",
        &["scene.toml:25:9", "no wall is named `tank.botom`", "did you mean `tank.bottom`?"],
    ),
    (
        "[output]",
        "[wall.tank]\nmaterial = \"glass\"\nbox = { min = [-1, -1, -1], max = [1, 1, 1], open = [\"top\"] }\n[[stage]]\nname = \"a\"\nremove = [\"wall.tank.top\"]\n[output]",
        &["scene.toml:25:10", "no wall is named `tank.top`"],
    ),
    (
        "[output]",
        "[wall.tank]\nmaterial = \"glass\"\nbox = { min = [-1, -1, -1], max = [1, 1, 1] }\n[[stage]]\nname = \"a\"\nuntil = \"duration 1 s\"\nremove = [\"wall.tank.top\"]\n[[stage]]\nname = \"b\"\nremove = [\"wall.tank\"]\n[output]",
        &["scene.toml:29:10", "wall.tank.top is gone already"],
    ),
    (
        "[output]",
        "[wall.tank]\nmaterial = \"glass\"\nbox = { min = [-1, -1, -1], max = [1, 1, 1] }\n[[stage]]\nname = \"a\"\nuntil = \"duration 1 s\"\nremove = [\"wall.tank.top\"]\n[[stage]]\nname = \"b\"\nadd = [\"wall.tank\"]\n[output]",
        &["scene.toml:29:7", "wall.tank was there in part", "name the faces one by one"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"duration 1 s\"\nremove = [\"grains.bed\"]\n[[stage]]\nname = \"b\"\nadd = [\"grains.bed\"]\n[output]",
        &["scene.toml:26:7", "cannot come again"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset = { gravity = [0, 0, \"1 m/s\"] }\n[output]",
        &["scene.toml:22:", "velocity [m/s]", "acceleration"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset = { grains.bed = {} }\n[output]",
        &[
            "scene.toml:22:",
            "grains.bed: nothing is set",
            "`velocity`, `disabled`, `fixed`, `motion`, `force` or `torque`",
        ],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset = { grains.bed = { disabled = false } }\n[output]",
        &["scene.toml:22:", "grains.bed: they are not disabled", "remove disabled = false"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset = { grains.bed = { disabled = true, velocity = [0, 0, 1] } }\n[output]",
        &[
            "scene.toml:22:",
            "`velocity` does nothing to grains that are disabled",
            "brings them back",
        ],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { disabled = true } }\n[[stage]]\nname = \"b\"\nset = { grains.bed = { disabled = true } }\n[output]",
        &["scene.toml:26:", "grains.bed: they are disabled already", "remove disabled = true"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { disabled = true } }\n[[stage]]\nname = \"b\"\nset = { grains.bed = { velocity = [0, 0, 1] } }\n[output]",
        &["scene.toml:26:", "so nothing can be set", "add disabled = false"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { disabled = true } }\n[[stage]]\nname = \"b\"\nremove = [\"grains.bed\"]\n[output]",
        &["scene.toml:26:10", "grains.bed is disabled", "set.grains.bed.disabled = false"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { disabled = true } }\n[[stage]]\nname = \"b\"\nadd = [\"grains.bed\"]\n[output]",
        &["scene.toml:26:7", "grains.bed is disabled", "set.grains.bed.disabled = false"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\nremove = [\"grains.bed\"]\n[[stage]]\nname = \"b\"\nset = { grains.bed = { disabled = true } }\n[output]",
        &["scene.toml:26:", "grains.bed is gone already"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"0\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { fixed = true } }\n[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { disabled = true } }\n[[stage]]\nname = \"b\"\nset = { grains.bed = { disabled = false } }\n[output]",
        &[
            "scene.toml:30:",
            "they were held when they were disabled",
            "add fixed = true or a `motion`",
        ],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset = { grains.bed = { fixed = false } }\n[output]",
        &["scene.toml:22:", "grains.bed: they are free already", "remove fixed = false"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset = { grains.bed = { fixed = true, motion = { translate = [0, 0, 1] } } }\n[output]",
        &["scene.toml:22:", "`fixed` and `motion` both say", "keep `motion`"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset = { grains.bed = { fixed = true, velocity = [0, 0, 1] } }\n[output]",
        &["scene.toml:22:", "`velocity` is not for grains that are held", "fixed = false"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset = { grains.bed = { motion = { rotate = 1 } } }\n[output]",
        &["scene.toml:22:", "grains.bed: a rotation needs `axis` and `through`"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset = { grains.bed = { force = [\"1 J\", 0, 0] } }\n[output]",
        &["scene.toml:22:", "\"1 J\" is energy [J], but force [N] belongs here"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { fixed = true } }\n[[stage]]\nname = \"b\"\nset = { grains.bed = { torque = [0, 0, 1] } }\n[output]",
        &["scene.toml:26:", "`torque` is not for grains that are held"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nset = { wall.floor.motion = { rotate = 1 } }\n[output]",
        &["scene.toml:22:", "a rotation needs `axis` and `through`"],
    ),
    (
        "[output]",
        "[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\nremove = [\"grains.bed\"]\n[[stage]]\nname = \"b\"\nset = { grains.bed = { fixed = true } }\n[output]",
        &[
            "scene.toml:26:",
            "stage b: grains bed: no grain of the group exists in this stage",
            "fix the grains in a later stage",
        ],
    ),
    (
        "[output]",
        "[grains.late]\nmaterial = \"glass\"\nat = [[0, 0, 0.01], [0, 0, 0.0115]]\nradius = \"1 mm\"\n[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\n[[stage]]\nname = \"b\"\nadd = [\"grains.late\"]\n[output]",
        &[
            "scene.toml:29:",
            "stage b: grain 3 cannot be added at",
            "a grain or wall is there",
            "move it",
        ],
    ),
    (
        "[output]",
        "[grains.late]\nmaterial = \"glass\"\nat = [[0, 0, 0.01]]\nradius = \"1 mm\"\n[bonds.glue]\namong = [\"late\"]\nyoungs_modulus = \"1 MPa\"\n[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\nadd = [\"bonds.glue\"]\n[[stage]]\nname = \"b\"\nadd = [\"grains.late\"]\n[output]",
        &["scene.toml:30:", "stage a: bonds glue: no two grains are near enough for it"],
    ),
    (
        "[output]",
        "[bonds.glue]\namong = [\"bed\"]\ntolerance = 1\nyoungs_modulus = \"1 MPa\"\n[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\nset = { grains.bed = { fixed = true } }\n[[stage]]\nname = \"b\"\nadd = [\"bonds.glue\"]\n[output]",
        &["scene.toml:30:", "stage b: bonds glue: no two grains are near enough for it"],
    ),
    (
        "[output]",
        "[bonds.glue]\namong = [\"bed\"]\ntolerance = 1\nyoungs_modulus = \"1 MPa\"\n[bonds.rock]\namong = [\"bed\"]\ntolerance = 2\nyoungs_modulus = \"1 MPa\"\n[[stage]]\nname = \"a\"\nadd = [\"bonds.glue\", \"bonds.rock\"]\n[output]",
        &[
            "scene.toml:30:",
            "stage a: bonds rock: it finds grains that glue, made at the same moment, bonds already",
            "stages of their own",
        ],
    ),
];

#[test]
fn every_bad_inlet_zone_and_stage_is_refused_with_place_and_remedy() {
    assert_refused(CASES);
}

/// Grains that start at rest have no kinetic energy: a stage that waits for them to settle gets a note with its line before the run.
#[test]
fn a_condition_that_holds_at_the_start_is_reported_by_its_line() {
    let notices = |scene: &str, stage: &str| {
        let text = format!("{scene}[[stage]]\nname = \"settle\"\n{stage}\n");
        load_text(&text, Path::new("scene.toml"), &[]).expect(&text).notices.join("\n")
    };
    for condition in [
        "kinetic_energy < 1e-6 J",
        "largest_speed.bed < 1 mm/s",
        "grains >= 2",
        "grains > 9 or time < 1 s",
    ] {
        let reported = notices(SOUND, &format!("until = \"{condition}\""));
        for phrase in ["scene.toml:26:9: stage settle", "the run with it", "and duration 0.1 s", "`hold`"] {
            assert!(reported.contains(phrase), "{condition}: no `{phrase}` in {reported}");
        }
    }
    for stage in [
        "until = \"kinetic_energy < 1e-6 J and duration 0.1 s\"",
        "until = \"kinetic_energy < 1e-6 J\"\nhold = \"10 ms\"",
        "until = \"kinetic_energy < 1e-6 J\"\nset = { grains.bed.velocity = [0, 0, 1] }",
        "until = \"grains > 2 or wall_force.floor < 1 N\"",
    ] {
        assert_eq!(notices(SOUND, stage), "", "{stage}");
    }
    let thrown = SOUND.replace("radius = \"1 mm\"", "radius = \"1 mm\"\nvelocity = [0, 0, 1]");
    assert_eq!(notices(&thrown, "until = \"kinetic_energy < 1e-6 J\""), "");
}
