//! Heat in scenes: keys, and errors for missing ones.

use crate::spoiled::{SOUND, assert_refused, refused};
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
