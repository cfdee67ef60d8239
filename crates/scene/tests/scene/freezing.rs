//! Fluid that stages freeze into rigid bodies.

use seixo_engine::PeriodicCell;
use seixo_scene::{Scene, StageAction, load_text};

const SPACING: f64 = 0.02;

/// Water that freezes into grains.ice and melts again, with further keys of the water and of the grains.
fn text(of_fluid: &str, of_grains: &str, stages: &str) -> String {
    format!(
        r#"[run]
until = 1
[world]
gravity = [0, 0, -9.81]
[material.ice]
density = 917
youngs_modulus = 1e6
poisson_ratio = 0.3
[interaction.ice-ice]
restitution = 0.5
friction = 0.1
[fluid.water]
density = 1000
fill = {{ box = {{ min = [0, 0, 0], max = [0.4, 0.4, 0.3] }} }}
spacing = 0.02
support = 3
{of_fluid}
[grains.ice]
{of_grains}
[wall.tank]
material = "ice"
box = {{ min = [0, 0, 0], max = [0.4, 0.4, 0.6], open = ["top"] }}
{stages}
"#
    )
}

const GRAINS: &str = "material = \"ice\"\ndisplaces_fluid = true\nmelts_into = \"water\"";
const BALL: &str = "{ sphere = { center = [0.2, 0.2, 0.15], radius = 0.06 } }";

/// Two stages that freeze a ball of water, and one that melts it, each with further keys.
fn stages(more: [&str; 3]) -> String {
    let freeze = format!("freeze = [{{ fluid = \"water\", region = {BALL}, into = \"grains.ice\" }}]");
    let [settle, frozen, thaw] = more;
    format!(
        "[[stage]]\nname = \"settle\"\nuntil = \"duration 0.1 s\"\n{settle}\n[[stage]]\nname = \"freeze\"\nuntil = \"duration 0.1 s\"\n{freeze}\n{frozen}\n\
         [[stage]]\nname = \"thaw\"\nuntil = \"duration 0.1 s\"\nmelt = [\"grains.ice\"]\n{thaw}\n"
    )
}

fn load(of_fluid: &str, of_grains: &str, stages: &str) -> Result<Scene, String> {
    let text = text(of_fluid, of_grains, stages);
    load_text(&text, "scene.toml".as_ref(), &[]).map_err(|found| found.to_string())
}

#[test]
fn a_stage_freezes_the_particles_in_its_region() {
    for solver in ["wcsph", "muller2003"] {
        let scene = load(&format!("solver = \"{solver}\""), GRAINS, &stages([""; 3])).unwrap();
        let [settle, freeze, thaw] = &scene.plan.stages[..] else {
            panic!("{:?}", scene.plan.stages)
        };
        assert!(settle.actions.is_empty(), "{settle:?}");
        assert!(freeze.text.contains("freezes water into grains.ice"), "{}", freeze.text);
        let [StageAction::Freeze(frozen)] = &freeze.actions[..] else {
            panic!("{:?}", freeze.actions)
        };
        assert_eq!((frozen.fluid, frozen.group, frozen.material), (0, 0, 0));
        assert_eq!(thaw.actions, [StageAction::MeltFrozen(0, 0)]);
        // A ball of three spacings holds some 113 particles.
        let fluids = scene.world.fluids.as_ref().unwrap();
        let cell = PeriodicCell::open();
        let particles = &fluids.particles;
        let taken = (0..particles.len())
            .filter(|&k| frozen.takes(particles.kind[k], particles.position[k], &cell))
            .count();
        assert!((95..131).contains(&taken), "{taken}");
        // Nothing is there at the start, but the world expects it.
        assert!(scene.world.grains.is_empty() && scene.world.grains.bodies.is_empty());
        let later = &scene.world.later;
        assert!(later.freezes);
        assert_eq!((later.grains.len(), later.grains[0].radius), (1, [0.5 * SPACING; 2]));
    }
}

#[test]
fn what_cannot_freeze_is_refused_with_place_and_remedy() {
    let freeze = |into: &str, fluid: &str| format!("freeze = [{{ fluid = \"{fluid}\", region = {BALL}, into = \"{into}\" }}]");
    let once = |freeze: &str| format!("[[stage]]\nname = \"cold\"\nuntil = \"duration 0.1 s\"\n{freeze}\n");
    let sound = once(&freeze("grains.ice", "water"));
    let cases = [
        ("", GRAINS, once(&freeze("grains.ice", "wax")), "no fluid is named `wax`"),
        ("", GRAINS, once(&freeze("wall.tank", "water")), "no fluid freezes into wall.tank"),
        ("", "displaces_fluid = true", sound.clone(), "`material` is missing"),
        ("", "material = \"ice\"", sound.clone(), "add displaces_fluid = true"),
        (
            "",
            "material = \"ice\"\ndisplaces_fluid = true\nat = [[0.2, 0.2, 0.5]]",
            sound.clone(),
            "`at` is not for grains that freeze",
        ),
        (
            "",
            "material = \"ice\"\ndisplaces_fluid = true\nradius = 0.01",
            sound.clone(),
            "`radius` is not for grains that freeze",
        ),
        ("solver = \"dfsph\"", GRAINS, sound.clone(), "\"dfsph\" do not freeze"),
        (
            "",
            GRAINS,
            format!("[[stage]]\nname = \"warm\"\nuntil = \"duration 0.1 s\"\nmelt = [\"grains.ice\"]\n{sound}"),
            "nothing has frozen into it before",
        ),
        (
            "",
            GRAINS,
            stages(["", "", "set.grains.ice.fixed = true"]),
            "no grain of the group exists",
        ),
    ];
    for (of_fluid, of_grains, stages, phrase) in cases {
        let found = load(of_fluid, of_grains, &stages).map(|_| ()).expect_err(phrase);
        assert!(found.contains(phrase), "no `{phrase}` in\n{found}");
        assert!(found.contains("scene.toml:"), "{found}");
    }
}

#[test]
fn grains_without_places_are_refused_where_nothing_freezes_into_them() {
    let found = load("", GRAINS, "").map(|_| ()).expect_err("a refusal");
    assert!(
        found.contains("exactly one of `file`, `fill`, `at`, `blocks` and `inlet`"),
        "{found}"
    );
}
