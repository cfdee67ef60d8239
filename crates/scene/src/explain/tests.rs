//! The reference is complete, and its pages are those that the program prints.

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

/// Patterns for editors accept values of their dimension, and none of another one.
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
    let takes = |dimension: &str, text: &str| {
        let (.., forms) = DIMENSIONS.iter().find(|(name, ..)| *name == dimension).unwrap();
        regex::Regex::new(&pattern::pattern(forms)).unwrap().is_match(text)
    };
    for (dimension, text) in [
        ("length", "2 inch"),
        ("pressure", "3 bar"),
        ("pressure", "30 psi"),
        ("volume", "5 ml"),
        ("volume per time", "2 l/min"),
        ("density", "2.5 kg/l"),
        ("mass per time", "3 t/h"),
    ] {
        assert!(takes(dimension, text), "{dimension}: {text}");
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
fn words_of_other_programs_in_the_glossary_lead_to_its_keys() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../GLOSSARY.md")).unwrap();
    let (_, table) = page.split_once("## Keys of other programs").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows = table.lines().filter_map(|row| row.strip_prefix("| `")?.split_once('|'));
    let mut found = 0;
    for (words, keys) in rows {
        for word in words.split('`').filter(|word| word.chars().any(char::is_alphabetic)) {
            let led_to: Vec<String> = find(word)
                .unwrap_or_default()
                .into_iter()
                .map(|key| key.path.replace("NAME", "*"))
                .collect();
            let meant: Vec<&str> = keys.split('`').skip(1).step_by(2).collect();
            let is_meant = |path: &String| meant.iter().any(|key| path.ends_with(key.trim_end_matches(".*")));
            assert!(led_to.iter().any(is_meant), "{word} leads to {led_to:?}, not to {meant:?}");
            found += 1;
        }
    }
    assert!(found > 80, "{found} words");
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

/// A reader copies the examples: each is TOML, and those of tables are complete.
#[test]
fn examples_are_valid_in_their_place() {
    for key in keys() {
        let shown = key.spelled();
        assert!(shown.parse::<toml::Table>().is_ok(), "{}: {shown}", key.path);
    }
    let shown = |path: &str| find(path).expect(path)[0].spelled();
    assert_eq!(
        shown("wall.box"),
        "box = { min = [0, 0, 0], max = [\"10 cm\", \"10 cm\", \"20 cm\"] }"
    );
    assert_eq!(shown("world.domain.sides"), "sides = [\"periodic\", \"periodic\", \"open\"]");
    let material = format!(
        "{}\n{}\n{}",
        shown("material.density"),
        shown("material.youngs_modulus"),
        shown("material.poisson_ratio")
    );
    let interaction = ["restitution", "friction", "cohesion", "rolling"].map(|key| shown(&format!("interaction.{key}")));
    let output = ["every", "fields", "coarse"].map(|key| shown(&format!("output.{key}")));
    let text = format!(
        "[run]\n{}\n[world]\n{}\n[material.glass]\n{material}\n[interaction.glass-glass]\n{}\n[output]\n{}\n\
         [grains.bed]\nmaterial = \"glass\"\n{}\n[grains.rain]\nmaterial = \"glass\"\n{}\n\
         [wall.tank]\nmaterial = \"glass\"\n{}\n{}\n[wall.lid]\nmaterial = \"glass\"\n{}\nmotion = {{ {} }}\n\
         [zone.sink]\nremove = true\n{}\n[probe.stress]\n{}\n",
        shown("run.until"),
        shown("world.gravity"),
        interaction.join("\n"),
        output.join("\n"),
        shown("grains.fill"),
        shown("grains.inlet"),
        shown("wall.cylinder"),
        shown("wall.motion"),
        shown("wall.plane"),
        shown("wall.motion.servo"),
        shown("zone.region"),
        shown("probe.stress"),
    );
    crate::load_text(&text, Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{text}\n{}", found.plain()));
}

#[test]
fn one_of_several_keys_and_defaults_of_sentences_are_shown() {
    let default = |path: &str| find(path).expect(path)[0].default.clone();
    assert_eq!(default("grains.fill.region.box"), "one of these");
    assert_eq!(default("grains.fill.radius.uniform"), "one of these");
    assert_eq!(default("wall.box.min"), "required");
    assert_eq!(default("fluid.contact_angle"), "90°");
    assert_eq!(default("interaction.rolling.damping_ratio"), "0.3");
    assert_eq!(default("interaction.tangential_stiffness"), "2/7 of the normal spring");
}

#[test]
fn each_table_of_a_page_has_one_heading() {
    for (name, text) in pages() {
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        let different: BTreeSet<&str> = headings.iter().copied().collect();
        assert_eq!(different.len(), headings.len(), "{name}");
    }
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
