//! Hostile scenes: too many items, too large or too small values, or text that attacks a terminal.

use crate::spoiled::{Case, SOUND, assert_refused, refused};
use seixo_engine::Simulation;
use seixo_engine::world::TimeStep;
use seixo_scene::{Diagnostics, escape_controls, load_text};
use std::path::Path;

#[test]
fn hostile_files_are_refused_quickly() {
    let deep_list = format!("a = {}{}", "[".repeat(20_000), "]".repeat(20_000));
    let deep_table = format!("a = {}1{}", "{a = ".repeat(20_000), "}".repeat(20_000));
    let deep_key = format!("{} = 1", vec!["a"; 20_000].join("."));
    let dotted = ["a"; 70].join(".");
    let deep_tables_of_dotted_keys = format!("a = {}1{}", format!("{{{dotted} = ").repeat(70), "}".repeat(70));
    for text in [deep_list, deep_table, deep_key, deep_tables_of_dotted_keys] {
        let message = refused(&text).plain();
        assert!(
            message.contains("nested too deeply") && message.contains("scene.toml:1:"),
            "{message}"
        );
    }
    let harmless = format!("title = \"\"\"{}\\\"\"\"\"\"\" # {}\n", "[".repeat(99), "{".repeat(99));
    assert_eq!(
        load_text(&SOUND.replace("title = \"sound\"\n", &harmless), Path::new("scene.toml"), &[])
            .unwrap()
            .title
            .len(),
        102
    );
    let deep_set = [
        ("run.until".to_owned(), "[".repeat(20_000)),
        (["a"; 20_000].join("."), "1".to_owned()),
    ];
    assert_eq!(load_text(SOUND, Path::new("scene.toml"), &deep_set).unwrap_err().list().len(), 1);
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("binary.toml");
    std::fs::write(&binary, b"title = \"\xff\xfe\"").unwrap();
    let empty = folder.path().join("empty.toml");
    std::fs::write(&empty, b"").unwrap();
    for (path, phrase) in [
        (binary.as_path(), "not UTF-8 text at byte 9"),
        (folder.path(), "not a regular file"),
        (Path::new("/none/scene.toml"), "cannot be opened"),
        (Path::new("/dev/zero"), "not a regular file"),
        (empty.as_path(), "is empty"),
    ] {
        let message = seixo_scene::load(path, &[]).unwrap_err().plain();
        assert!(message.contains(phrase), "{message}");
    }
}

/// This number of copies of a section, numbered.
fn many(count: usize, section: &str) -> String {
    (0..count).map(|k| section.replace('#', &k.to_string())).collect()
}

#[test]
fn counts_beyond_any_work_are_refused_before_it_is_begun() {
    let material = "[material.m#]\ndensity = 1\nyoungs_modulus = 1\npoisson_ratio = 0.2\n";
    let fluid = "[fluid.f#]\ndensity = 1\nspacing = 1\nfill = { box = { min = [#, 0, 0], max = [#, 1, 1] } }\n";
    let minus = vec!["{ sphere = { center = [0, 0, 0], radius = 1 } }"; 50_000].join(", ");
    let fill =
        format!("fill = {{ region = {{ sphere = {{ center = [0, 0, 0], radius = 9 }} }}, count = 1, radius = 0.1, minus = [{minus}] }}");
    let filled = SOUND.replace("at = [[0, 0, 0], [\"3 mm\", 0, 0]]\nradius = \"1 mm\"", &fill);
    for (text, phrases) in [
        (
            SOUND.to_owned() + &many(4000, material),
            ["material: the scene has 4001 sections", "256 sections", "scene.toml:6:"],
        ),
        (
            SOUND.to_owned() + &many(10_000, fluid),
            ["fluid: the scene has 10000 sections", "64 sections", "scene.toml:24:"],
        ),
        (
            SOUND.to_owned() + &many(1001, "[probe.p#]\nposition = 0\n"),
            ["probe: the scene has 1002 sections", "1000 sections", "scene.toml:22:"],
        ),
        (filled, ["`minus` takes 50000 parts away", "256 parts", "scene.toml:15:"]),
        (
            "a = 1 # all of it\n".repeat(900_000),
            ["more words, numbers and signs", "2000000 of them", "scene.toml:"],
        ),
    ] {
        let found = refused(&text);
        let message = found.plain();
        for phrase in phrases {
            assert!(message.contains(phrase), "no `{phrase}` in\n{message}");
        }
        // Without its grains, a probe lacks its group.
        assert!(found.list().len() <= 2, "{message}");
        assert!(!found.list()[0].remedy.is_empty(), "{message}");
    }
}

#[test]
fn what_is_said_of_a_scene_stays_short_however_much_is_wrong() {
    let wrong_signs = "=\n".repeat(20_000);
    let many_wrong_signs = "=\n".repeat(200_000);
    let no_materials = SOUND.to_owned() + &many(5000, "[grains.g#]\nmaterial = \"none\"\nat = [[0, 0, 0]]\nradius = 1\n");
    let long_key = SOUND.to_owned() + &"k".repeat(1_000_000) + " = 1\n";
    for (text, phrase) in [
        (wrong_signs, "this is not TOML"),
        (many_wrong_signs, "this is not TOML"),
        (no_materials, "no material is named `none`"),
        (long_key, "unknown key"),
    ] {
        let found = refused(&text);
        let (message, json) = (found.plain(), found.to_json().to_string());
        assert!(message.contains(phrase), "{message}");
        assert!(found.list().len() <= 100, "{}", found.list().len());
        // Thirty messages of a few lines, each shorter than a page.
        assert!(
            message.len() < 150_000 && json.len() < 500_000,
            "{} and {} bytes",
            message.len(),
            json.len()
        );
    }
    let counted = refused(&"=\n".repeat(20_000)).plain();
    let number_of = |line: &str| line.strip_prefix("… and ")?.strip_suffix(" more")?.parse::<usize>().ok();
    let more = counted.lines().find_map(number_of);
    assert!(more.is_some_and(|more| more > 19_000), "{counted}");
}

#[test]
fn values_that_no_number_can_follow_are_refused_where_they_stand() {
    const CASES: &[Case] = &[
        (
            "radius = \"1 mm\"",
            "radius = 1e60",
            &["scene.toml:16:10", "1e60 m is beyond", "<= 1e30 m", "exponent and the unit"],
        ),
        (
            "radius = \"1 mm\"",
            "radius = 1e-200",
            &["scene.toml:16:10", "1e-200 m is beyond", ">= 1e-40 m"],
        ),
        (
            "radius = \"1 mm\"",
            "radius = \"-1e300 m\"",
            &["scene.toml:16:10", "-1e300 m is out of range", "> 0 m"],
        ),
        (
            "restitution = 0.5",
            "restitution = 1e-8",
            &[
                "scene.toml:11:15",
                "restitution: 0.00000001 is out of range",
                ">= 0.000001 and <= 1",
            ],
        ),
        (
            "youngs_modulus = \"1 GPa\"",
            "youngs_modulus = 1e300",
            &["scene.toml:8:18", "1e300 Pa is beyond", "<= 1e30 Pa"],
        ),
        (
            "gravity = [0, 0, \"-9.81 m/s^2\"]",
            "gravity = [0, 0, 1e300]",
            &["scene.toml:5:18", "1e300 m/s^2 is beyond"],
        ),
        ("until = \"1 s\"", "until = 1e300", &["scene.toml:3:9", "1e300 s is beyond"]),
    ];
    assert_refused(CASES);
}

/// The error of the engine for the valid scene after a replacement, with its position in the scene.
fn explained(what: &str, by: &str) -> Diagnostics {
    assert_eq!(SOUND.matches(what).count(), 1, "{what}");
    let scene = load_text(&SOUND.replace(what, by), Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found:?}"));
    match Simulation::new(scene.world, scene.settings) {
        Ok(_) => panic!("`{by}` is not refused"),
        Err(refusal) => scene.source.explain(&refusal).unwrap_or_else(|| panic!("{refusal} has no place")),
    }
}

#[test]
fn what_the_engine_refuses_is_shown_where_the_scene_says_it() {
    let sticky = "friction = 0.3\ncohesion = { law = \"capillary\", surface_tension = 0.07, volume = 1e-12, contact_angle = \"100 deg\" }";
    let cases: [(&str, &str, &[&str]); 15] = [
        (
            "[\"3 mm\", 0, 0]",
            "[\"0.1 mm\", 0, 0]",
            &[
                "scene.toml:15:",
                "grains 0 and 1 of grains.bed overlap by 1.900e-3 m",
                "help: move or shrink them",
                "50.0 %",
                "run.overlap_limit",
            ],
        ),
        (
            "point = [0, 0, \"-2 mm\"]",
            "point = [0, 0, \"0.5 mm\"]",
            &[
                "scene.toml:15:",
                "grain 0 of grains.bed at",
                "inside a wall at the start: wall.floor",
                "move it or the wall",
            ],
        ),
        (
            "[output]",
            "[grains.heap]\nmaterial = \"glass\"\n\
             fill = { region = { box = { min = [-1.5e-3, -1.5e-3, -1.5e-3], max = [1.5e-3, 1.5e-3, 1.5e-3] } }, count = 1, radius = \"1 mm\" }\n[output]",
            &[
                "scene.toml:15:",
                "grain 0 of grains.bed and grain 2 of grains.heap overlap by",
                "write method = \"random\" in grains.heap.fill",
            ],
        ),
        (
            "radius = \"1 mm\"",
            "radius = \"1 mm\"\nvelocity = [0, 2.9e8, 0]",
            &["scene.toml:17:", "velocity is 290000000", "a tenth of the speed of light"],
        ),
        (
            "radius = \"1 mm\"",
            "radius = 1e13",
            &["scene.toml:16:", "radius is 10000000000000", "from 1e-12 to 1e12 m"],
        ),
        (
            "density = \"2500 kg/m^3\"",
            "density = 1e-25",
            &["scene.toml:7:", "material.glass: density", "from 1e-20 to 1e31"],
        ),
        (
            "friction = 0.3",
            sticky,
            &["scene.toml:13:", "contact_angle is 100.00 deg", "from 0 to 89.95 deg"],
        ),
        (
            "until = \"1 s\"",
            "until = \"1 s\"\ntime_step = \"1 ms\"",
            &["scene.toml:4:13", "above the stable limit", "\"auto\""],
        ),
        (
            "until = \"1 s\"",
            "until = \"1 s\"\nskin = \"1e9 mm\"",
            &[
                "scene.toml:4:8",
                "run.skin is 1000000",
                "four times the diameter of the largest grain",
            ],
        ),
        (
            "until = \"1 s\"",
            "until = \"1 s\"\nthreads = 4096",
            &["scene.toml:4:11", "cannot start 4096 threads", "ask for fewer"],
        ),
        (
            "until = \"1 s\"",
            "until = \"1 s\"\ndomains = 4096",
            &["scene.toml:4:11", "4096 domains are too many"],
        ),
        (
            "normal = [0, 0, 1] }",
            "normal = [0, 0, 1] }\nmotion = { translate = [0, 0, 1e9] }",
            &["scene.toml:20:", "wall floor", "moves at 1e9 m/s"],
        ),
        (
            "until = \"1 s\"",
            "until = \"1 s\"\ntime_step = \"1e-30 s\"",
            &["scene.toml:4:13", "which rounding loses", "longer time step"],
        ),
        (
            "[output]",
            "[bonds.glue]\namong = [\"bed\"]\nyoungs_modulus = \"1 MPa\"\ntolerance = 0.1\n[output]",
            &["scene.toml:23:13", "no two grains are near enough", "larger tolerance"],
        ),
        // Without a key at fault, the position is that of the section.
        (
            "[output]",
            "[bonds.glue]\namong = [\"bed\"]\nyoungs_modulus = \"1 MPa\"\n[output]",
            &["scene.toml:20:8", "no two grains are near enough"],
        ),
    ];
    for (what, by, phrases) in cases {
        let found = explained(what, by);
        let message = found.plain();
        for phrase in phrases {
            assert!(message.contains(phrase), "`{by}`: no `{phrase}` in\n{message}");
        }
        assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "`{by}`: no remedy in\n{message}");
    }
}

#[test]
fn runs_whose_time_would_come_to_a_halt_are_refused() {
    let text = SOUND.replace("until = \"1 s\"", "until = \"1 s\"\ntime_step = 1e-20");
    let overridden = [("run.until".to_owned(), "2 s".to_owned())];
    let step = |value: f64| TimeStep {
        value,
        auto: value,
        limit: 2e-20,
        cause: "the bonds cement".to_owned(),
    };
    for (text, set, phrase) in [
        (text.as_str(), &[][..], "scene.toml:4:13"),
        (SOUND, &overridden[..], "run.until=2 s"),
    ] {
        let scene = load_text(text, Path::new("scene.toml"), set).unwrap();
        let found = scene
            .source
            .endless(scene.run.until, &step(1e-20))
            .expect("more steps than can be counted")
            .plain();
        for phrase in [
            phrase,
            "steps of 1e-20 s",
            "9e15 steps",
            "2.000e-20 s, set by the bonds cement",
            "longer time step",
            "damping",
        ] {
            assert!(found.contains(phrase), "no `{phrase}` in\n{found}");
        }
        assert!(
            scene.source.endless(scene.run.until, &step(0.0)).is_some() && scene.source.endless(scene.run.until, &step(1e-9)).is_none()
        );
    }
}

#[test]
fn nothing_of_a_scene_acts_on_a_terminal() {
    let hostile = "gl\\u001b]0;x\\u0007\\u009b31mss\\u202e";
    let text = SOUND.replace("material = \"glass\"\nat", &format!("material = \"{hostile}\"\nat"));
    let set = [("run.until".to_owned(), "\u{1b}[31m\r1 s".to_owned())];
    let raw = "titel = \"\u{9b}31m\u{202e}\"\nuntil = 1\n";
    for (text, file, set) in [
        (text.as_str(), "scene.toml", &[][..]),
        (SOUND, "scene.toml", &set[..]),
        (raw, "sce\u{1b}[2Jne\r.toml", &[][..]),
    ] {
        let message = load_text(text, Path::new(file), set).expect_err(text).plain();
        let actions = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!message.contains(actions), "{message:?}");
    }
    let shown = load_text(&text, Path::new("scene.toml"), &[]).unwrap_err().plain();
    assert!(
        shown.contains("no material is named `gl\\u{1b}]0;x\\u{7}\\u{9b}31mss\\u{202e}`"),
        "{shown}"
    );
    assert_eq!(escape_controls("a\tb\nµ °"), "a\tb\nµ °");
}
