//! Keys of walls with wear: values in the world, and errors.

use crate::spoiled::{Case, SOUND, assert_refused};
use seixo_scene::{ProbeKind, load_text};
use std::path::Path;

const PLANE: &str = "plane = { point = [0, 0, \"-2 mm\"], normal = [0, 0, 1] }";

fn worn_at(keys: &str) -> f64 {
    let text = SOUND.replace(PLANE, &format!("{PLANE}\n{keys}"));
    load_text(&text, Path::new("scene.toml"), &[]).unwrap().world.walls[0].specific_wear_rate
}

#[test]
fn coefficient_over_hardness_is_the_rate_that_tests_give() {
    assert_eq!(worn_at(""), 0.0);
    assert_eq!(worn_at("wear_coefficient = 2e-4\nhardness = \"4 GPa\""), 5e-14);
    // 1 mm³/(N m) = 10⁻⁹ m³/(N m) = 10⁻⁹ 1/Pa.
    for rate in ["5e-5 mm^3/N/m", "5e-14 m^2/N", "5e-14 1/Pa", "5e-8 1/MPa"] {
        let found = worn_at(&format!("specific_wear_rate = \"{rate}\""));
        assert!((found / 5e-14 - 1.0).abs() < 1e-12, "{rate}: {found}");
    }
}

#[test]
fn a_probe_logs_the_volume_of_a_wall_that_wears() {
    let text = SOUND
        .replace(PLANE, &format!("{PLANE}\nspecific_wear_rate = 1e-13"))
        .replace("position = 0", "worn_volume = \"floor\"");
    let scene = load_text(&text, Path::new("scene.toml"), &[]).unwrap();
    assert_eq!(scene.probes[0].what, ProbeKind::WornVolume { walls: 0..1 });
}

#[test]
fn what_is_half_said_of_wear_is_refused() {
    let after = |keys: &'static str| -> &'static str { Box::leak(format!("{PLANE}\n{keys}").into_boxed_str()) };
    let cases: Vec<Case> = vec![
        (
            PLANE,
            after("wear_coefficient = 1e-4"),
            &["scene.toml:20:", "needs a `hardness`", "hardness = \"2 GPa\""],
        ),
        (
            PLANE,
            after("hardness = \"1 GPa\""),
            &["scene.toml:20:", "no `wear_coefficient`", "add wear_coefficient"],
        ),
        (
            PLANE,
            after("specific_wear_rate = \"1e-5 mm^3/N/m\"\nhardness = \"1 GPa\""),
            &["scene.toml:20:", "wear_coefficient over hardness", "keep `specific_wear_rate`"],
        ),
        (
            PLANE,
            after("wear_coefficient = -1e-4\nhardness = \"1 GPa\""),
            &["scene.toml:20:20", "-0.0001 is out of range", "> 0"],
        ),
        (
            PLANE,
            after("wear_coefficient = 1e-4\nhardness = \"1 N\""),
            &["scene.toml:21:12", "force [N]", "pressure [Pa]"],
        ),
        (
            "position = 0",
            "worn_volume = \"floor\"",
            &["scene.toml:23:15", "wall `floor` does not wear", "wear_coefficient and a hardness"],
        ),
        (
            "position = 0",
            "worn_volume = \"flor\"",
            &["scene.toml:23:15", "no wall is named `flor`", "did you mean `floor`?"],
        ),
    ];
    assert_refused(&cases);
}
