//! Liquid films in scenes: keys, and errors for missing ones.

use crate::spoiled::{SOUND, assert_refused, refused};
use seixo_engine::state::GrainScalar;
use seixo_scene::{ProbeKind, load_text};
use std::path::Path;

/// [`SOUND`] with films.
fn wet() -> String {
    SOUND
        .replace("radius = \"1 mm\"", "radius = \"1 mm\"\nfilm_thickness = \"20 um\"")
        .replace("restitution = 0.5", "restitution = 0.5\nfilm_exchange = \"5 1/s\"")
        .replace("[output]", "[output]\nfields = [\"film_thickness\"]")
        .replace("position = 0", "film = true\n[probe.bed]\ngroup_film = \"bed\"")
}

#[test]
fn a_scene_gives_films_and_their_rate() {
    let scene = load_text(&wet(), Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(scene.world.grains.scalars[GrainScalar::FilmThickness], [2e-5, 2e-5]);
    assert_eq!(scene.world.interactions[0].as_ref().unwrap().film_exchange, Some(5.0));
    let scalar = GrainScalar::FilmThickness;
    assert!(matches!(scene.probes[0].what, ProbeKind::GroupScalar { group: 0, scalar: shown } if shown == scalar));
    assert!(matches!(scene.probes[1].what, ProbeKind::ScalarLedger(shown) if shown == scalar));
    let again = load_text(&scene.resolved, Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(again.world.grains, scene.world.grains);
}

#[test]
fn grains_without_a_thickness_are_dry() {
    let other = "[grains.other]\nmaterial = \"glass\"\nat = [[0, 0, \"9 mm\"]]\nradius = \"1 mm\"\n[wall.floor]";
    let scene = load_text(&wet().replace("[wall.floor]", other), Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(scene.world.grains.scalars[GrainScalar::FilmThickness], [2e-5, 2e-5, 0.0]);
}

#[test]
fn what_films_lack_is_reported() {
    let without = |key: &str| {
        let lines: Vec<String> = wet().lines().filter(|line| !line.starts_with(key)).map(str::to_owned).collect();
        lines.join("\n")
    };
    let message = refused(&without("film_exchange")).plain();
    assert!(
        message.contains("grains.bed.film_thickness: no contact of grains shares the liquid of films"),
        "{message}"
    );
    let message = refused(&without("film_thickness")).plain();
    for path in ["output.fields", "probe.bed.group_film", "probe.first.film"] {
        assert!(message.contains(&format!("{path}: no grain has a film thickness")), "{message}");
    }
    assert_refused(&[(
        "restitution = 0.5",
        "restitution = 0.5\nfilm_exchange = 0",
        &["film_exchange", "> 0"],
    )]);
    let idle = SOUND.replace("restitution = 0.5", "restitution = 0.5\nfilm_exchange = 5");
    let scene = load_text(&idle, Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert!(
        scene.notices.iter().any(|notice| notice.contains("no effect")),
        "{:?}",
        scene.notices
    );
    assert!(scene.world.scalars().is_empty());
}

#[test]
fn bodies_and_held_grains_are_refused_where_they_are_written() {
    let plate = |key: &str| {
        let section = format!("[grains.plate]\nmaterial = \"glass\"\nat = [[0, 0, \"9 mm\"]]\nradius = \"1 mm\"\n{key}\n[wall.floor]");
        refused(&wet().replace("[wall.floor]", &section)).plain()
    };
    let held = plate("fixed = true");
    assert!(
        held.contains("grains.plate: held grains do not go with liquid films") && held.contains("a wall"),
        "{held}"
    );
    let moved = plate("motion = { translate = [0, 0, \"1 mm/s\"] }");
    assert!(moved.contains("grains.plate: held grains do not go with liquid films"), "{moved}");
}

#[test]
fn films_that_cannot_be_shared_or_are_thick_are_noted() {
    let other = "[material.stone]\ndensity = 2500\nyoungs_modulus = 1e9\npoisson_ratio = 0.2\n[interaction.glass-stone]\nrestitution = 0.5\nfriction = 0.3\n[interaction.stone-stone]\nrestitution = 0.5\nfriction = 0.3\n[grains.other]\nmaterial = \"stone\"\nat = [[0, 0, \"9 mm\"]]\nradius = \"1 mm\"\n[wall.floor]";
    let notices = |text: &str| {
        load_text(text, Path::new("scene.toml"), &[])
            .unwrap_or_else(|found| panic!("{found}"))
            .notices
            .join("\n")
    };
    let found = notices(&wet().replace("[wall.floor]", other));
    assert!(
        found.contains("grains of glass and stone share no liquid") && found.contains("grains of stone and stone"),
        "{found}"
    );
    let found = notices(&wet().replace("\"20 um\"", "\"0.5 mm\""));
    assert!(found.contains("grain 0: its film of 5.000e-4 m is thick"), "{found}");
    assert!(!notices(&wet()).contains("liquid"), "{}", notices(&wet()));
    // Walls take no liquid.
    let only_walls = other
        .replace(
            "[grains.other]\nmaterial = \"stone\"\nat = [[0, 0, \"9 mm\"]]\nradius = \"1 mm\"\n",
            "",
        )
        .replace("[interaction.glass-stone]", "[interaction.glass-stone]\nfilm_exchange = 5");
    let text = wet()
        .replace("film_exchange = \"5 1/s\"\n", "")
        .replace("[wall.floor]", &only_walls);
    let message = refused(&text).plain();
    assert!(message.contains("no contact of grains shares the liquid of films"), "{message}");
}
