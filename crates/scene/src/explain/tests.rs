//! The reference is whole, and its pages are those that the program prints.

use super::*;
use crate::quantity::DIMENSIONS;
use crate::synonyms;
use std::path::Path;

/// The names of all keys of all tables of the schema.
fn names_in_schema() -> BTreeSet<String> {
    let (types, whole) = types();
    let tables = types.definitions.values().chain([&whole]);
    let alternatives = types.definitions.values().filter_map(|table| table["oneOf"].as_array()).flatten();
    let properties = tables.chain(alternatives).filter_map(|table| table["properties"].as_object());
    properties.flat_map(|keys| keys.keys().cloned()).collect()
}

#[test]
fn every_key_of_the_schema_is_explained() {
    let explained: BTreeSet<String> = keys()
        .iter()
        .filter_map(|key| key.path.rsplit('.').next().map(str::to_owned))
        .collect();
    let missing: Vec<String> = names_in_schema().difference(&explained).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
    let sections: BTreeSet<String> = super::sections().into_iter().map(|key| key.path).collect();
    assert_eq!(sections, SECTIONS.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn every_key_has_a_meaning_a_kind_a_default_and_an_example() {
    let is_poor = |key: &Key| {
        let has_no_example =
            key.example.is_empty() || key.example == "[]" || ["= }", "= ,", "[, "].iter().any(|gap| key.example.contains(gap));
        key.meaning.len() < 4 || key.kind.is_empty() || key.default.is_empty() || has_no_example
    };
    let poor: Vec<String> = keys().iter().filter(|key| is_poor(key)).map(Key::text).collect();
    assert!(poor.is_empty(), "{}", poor.join("\n"));
}

/// What an editor accepts: a value of each dimension, and none of another one.
#[test]
fn patterns_separate_dimensions() {
    for (name, unit, example, forms) in DIMENSIONS {
        let pattern = regex::Regex::new(&pattern::pattern(forms)).unwrap();
        assert!(pattern.is_match(example), "{name}: {example} is not {}", pattern.as_str());
        assert!(
            pattern.is_match(&format!("1 {unit}").replace("W/(m K)", "W/m/K").replace("J/(kg K)", "J/kg/K")),
            "{name}: {unit}"
        );
        let powers = |text: &str| crate::quantity::parse(text).unwrap().powers.unwrap_or_default();
        for (_, _, other, _) in DIMENSIONS.iter().filter(|(_, _, other, _)| powers(other) != powers(example)) {
            assert!(!pattern.is_match(other), "{name} takes {other}");
        }
    }
    let time = DIMENSIONS.iter().find(|(name, ..)| *name == "time").unwrap().3;
    let time = regex::Regex::new(&pattern::pattern(time)).unwrap();
    assert!(time.is_match("1.5 us") && time.is_match("-3e2 min") && !time.is_match("5 kg") && !time.is_match("5"));
}

#[test]
fn synonyms_lead_to_keys_that_are_there() {
    let known = names_in_schema();
    let strays: Vec<&str> = synonyms::keys().filter(|key| !known.contains(*key)).collect();
    assert!(strays.is_empty(), "{strays:?} are no keys");
    for (word, key) in [
        ("time", "until"),
        ("dt", "time_step"),
        ("young", "youngs_modulus"),
        ("rho", "density"),
        ("mu", "friction"),
    ] {
        assert!(find(word).unwrap().iter().any(|found| found.path.ends_with(key)), "{word}");
    }
}

#[test]
fn a_path_leads_through_tables_that_are_listed_elsewhere() {
    let servo = find("stage.set.wall.motion.servo").unwrap();
    assert!(
        servo.iter().any(|key| key.path == "stage.set.wall.NAME.motion.servo.gain"),
        "{:?}",
        servo[0].path
    );
    assert!(find("frictoin").unwrap_err().contains("`friction`"));
}

/// `seixo explain --pages docs/reference` writes these pages.
#[test]
fn the_pages_are_those_that_are_printed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    for (name, text) in pages() {
        let written = std::fs::read_to_string(folder.join(&name)).unwrap_or_default();
        assert!(
            written == text,
            "docs/reference/{name} is not what `seixo explain --pages docs/reference` writes"
        );
    }
}
