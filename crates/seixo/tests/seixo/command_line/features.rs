//! Features of a build, as the program names them.

use crate::command_line::stage::Stage;
use serde_json::Value;

#[test]
fn the_program_names_the_features_that_it_has_and_those_that_it_lacks() {
    let stage = Stage::new();
    let version = stage.succeed("--version").out;
    let (first, second) = version.trim_end().split_once('\n').unwrap();
    assert_eq!(first, format!("seixo {}", env!("CARGO_PKG_VERSION")));
    let named = second.strip_prefix("features: ").unwrap();

    let machine: Value = serde_json::from_str(&stage.succeed("info --json").out).unwrap();
    let lacked = machine["features_left_out"].as_str().unwrap();
    assert_eq!(machine["features"], named);
    let has = |list: &str, name: &str| list.split(", ").any(|listed| listed == name);
    for (name, is_built_in) in [
        ("window", seixo::view::HAS_WINDOWS),
        ("page", seixo::view::HAS_PAGES),
        ("film", seixo::view::HAS_VIDEOS),
    ] {
        assert_eq!([has(named, name), has(lacked, name)], [is_built_in, !is_built_in], "{version}");
    }

    // The help is wrapped.
    let help = stage.succeed("--help").out;
    let words: Vec<&str> = help.split_whitespace().collect();
    let expected = format!("Features of this program: {named}; left out: {lacked}.");
    assert!(words.join(" ").contains(&expected), "{help}");
}
