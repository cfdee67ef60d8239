//! Heat in scenes: keys, and errors for missing ones.

use crate::spoiled::{SOUND, assert_refused, refused};
use seixo_engine::Simulation;
use seixo_engine::state::GrainScalar;
use seixo_scene::{ProbeKind, load_text};
use std::path::Path;

/// [`SOUND`] with heat conduction.
fn warm() -> String {
    let material = "poisson_ratio = 0.2\nthermal_conductivity = \"1.1 W/m/K\"\nspecific_heat_capacity = \"0.8 J/g/K\"";
    SOUND
        .replace("poisson_ratio = 0.2", material)
        .replace("radius = \"1 mm\"", "radius = \"1 mm\"\ntemperature = \"300 K\"")
        .replace("[output]", "temperature = 400\n[output]\nfields = [\"temperature\"]")
        .replace(
            "position = 0",
            "heat = true\n[probe.floor]\nwall_heat = \"floor\"\n[probe.bed]\ngroup_temperature = \"bed\"",
        )
}

#[test]
fn a_scene_gives_temperatures_and_what_they_need() {
    let scene = load_text(&warm(), Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    let conduction = scene.world.conduction.as_ref().unwrap();
    assert_eq!(scene.world.grains.scalars[GrainScalar::Temperature], [300.0, 300.0]);
    assert_eq!(conduction.walls, [Some(400.0)]);
    let thermal = conduction.materials[0];
    assert_eq!((thermal.conductivity, thermal.specific_heat_capacity), (Some(1.1), Some(800.0)));
    assert!(matches!(
        scene.probes[0].what,
        ProbeKind::GroupScalar {
            group: 0,
            scalar: GrainScalar::Temperature
        }
    ));
    let again = load_text(&scene.resolved, Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(again.world.conduction, scene.world.conduction);
    assert_eq!(again.world.grains, scene.world.grains);
}

#[test]
fn scenes_without_temperatures_have_no_heat() {
    let keys = "poisson_ratio = 0.2\nthermal_conductivity = 1.1";
    let scene = load_text(&SOUND.replace("poisson_ratio = 0.2", keys), Path::new("scene.toml"), &[]).unwrap();
    assert!(scene.world.conduction.is_none() && scene.world.grains.scalars[GrainScalar::Temperature].is_empty());
    assert!(
        scene.notices.iter().any(|notice| notice.contains("no effect")),
        "{:?}",
        scene.notices
    );
}

#[test]
fn what_heat_lacks_is_reported() {
    let spoiled = |what: &str, by: &str| {
        assert_eq!(warm().matches(what).count(), 1, "{what}");
        refused(&warm().replace(what, by)).plain()
    };
    for (what, by, phrases) in [
        (
            "specific_heat_capacity = \"0.8 J/g/K\"",
            "",
            ["scene.toml:6:", "`specific_heat_capacity` is missing"],
        ),
        (
            "thermal_conductivity = \"1.1 W/m/K\"",
            "thermal_conductivity = \"-1.1 W/m/K\"",
            ["scene.toml:10:24", "-1.1 W/(m K) is out of range"],
        ),
        (
            "thermal_conductivity = \"1.1 W/m/K\"",
            "",
            ["its material glass conducts no heat", "`thermal_conductivity` is missing"],
        ),
        (
            "temperature = \"300 K\"",
            "temperature = \"300 m\"",
            ["\"300 m\" is length [m], but temperature [K] belongs here", "scene.toml:"],
        ),
        ("temperature = \"300 K\"", "temperature = -1", ["accepted: >= 0 K", "scene.toml:"]),
        (
            "temperature = \"300 K\"",
            "",
            [
                "wall.floor.temperature: no grain has a temperature",
                "output.fields: no grain has a temperature",
            ],
        ),
        (
            "[wall.floor]",
            "[grains.other]\nmaterial = \"glass\"\nat = [[0, 0, \"9 mm\"]]\nradius = \"1 mm\"\n[wall.floor]",
            ["grains.other: `temperature` is missing", "add temperature = "],
        ),
    ] {
        let message = spoiled(what, by);
        for phrase in phrases {
            assert!(message.contains(phrase), "`{by}`: no `{phrase}` in\n{message}");
        }
    }
    assert_refused(&[(
        "position = 0",
        "group_temperature = \"bed\"",
        &["probe.first.group_temperature: no grain has a temperature"],
    )]);
}

/// A hot die on a cold floor, with a cold one on it; both overlap by 3 % of the rounding radius. These keys are those of the hot one.
fn dice(keys: &str) -> String {
    format!(
        r#"
[run]
until = 1
[material.clay]
density = 1200
youngs_modulus = "20 MPa"
poisson_ratio = 0.3
thermal_conductivity = 50
specific_heat_capacity = 500
[interaction.clay-clay]
restitution = 0.4
friction = 0.4
[shape.die]
kind = "polyhedron"
box = [16, 16, 16]
rounding = 1.5
unit = "mm"
[shape.rod]
spheres = [{{ at = [-4, 0, 0], radius = 4 }}, {{ at = [4, 0, 0], radius = 4 }}]
unit = "mm"
[grains.cold]
material = "clay"
shape = "die"
at = [[0, 0, "23.85 mm"]]
temperature = 300
[grains.hot]
material = "clay"
at = [[0, 0, "7.95 mm"]]
temperature = 400
{keys}
[wall.floor]
material = "clay"
plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
temperature = 300
"#
    )
}

#[test]
fn polyhedra_by_shape_conduct_heat_to_walls_and_to_each_other() {
    let scene = load_text(&dice("shape = \"die\""), Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    let mut simulation = Simulation::new(scene.world, scene.settings).unwrap_or_else(|refusal| panic!("{refusal}"));
    simulation.advance(20).unwrap_or_else(|stop| panic!("{stop}"));
    let snapshot = simulation.snapshot();
    let temperature_of = |id: u32| {
        let place = snapshot.id.iter().position(|known| *known == id).expect("a grain");
        snapshot.scalars[GrainScalar::Temperature][place]
    };
    // Grains are counted section by section in alphabetical order.
    let [cold, hot] = [temperature_of(0), temperature_of(1)];
    assert!(cold > 300.0 && cold < 400.0, "{cold} K");
    // It loses what the cold die gains, and more, to the floor.
    assert!(400.0 - hot > 1.1 * (cold - 300.0), "{hot} K and {cold} K");
}

#[test]
fn bodies_do_not_go_with_heat() {
    for (keys, phrase) in [
        ("shape = \"rod\"", "grains.hot: clumps do not go with heat"),
        ("shape = \"die\"\nfixed = true", "grains.hot: held grains do not go with heat"),
        (
            "shape = \"die\"\njoint = { hinge = { through = [0, 0, 0], axis = [0, 1, 0] } }",
            "grains.hot: grains on joints do not go with heat",
        ),
    ] {
        let message = refused(&dice(keys)).plain();
        assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
    }
}
