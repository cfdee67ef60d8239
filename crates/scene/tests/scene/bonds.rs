//! Bonds in scenes: their values in the world, and refused keys.

use crate::spoiled::{Case, SOUND, assert_refused};
use seixo_engine::world::{BondSize, Bonded, Bonds, CrossSection, PairValues};
use seixo_files::vtk::Field;
use seixo_laws::bond::BondLaw;
use seixo_scene::{ProbeKind, Scene, StageAction, StageItem, load_text};
use std::path::Path;

/// The valid scene with sections before its line 20, `[output]`.
fn with(sections: &str) -> String {
    SOUND.replace("[output]", &format!("{sections}\n[output]"))
}

fn scene(text: &str, folder: &Path) -> Scene {
    load_text(text, &folder.join("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"))
}

/// The bonds of a scene, which must be the same after writing and loading it.
fn bonds(text: &str, folder: &Path) -> Vec<Bonds> {
    let first = scene(text, folder);
    let again = scene(&first.resolved, Path::new("/somewhere/else"));
    assert_eq!((&again.world.bonds, &again.resolved), (&first.world.bonds, &first.resolved));
    first.world.bonds
}

#[test]
fn what_a_section_leaves_out_is_usual() {
    let found = bonds(&with("[bonds.rock]\namong = [\"bed\"]\nyoungs_modulus = \"10 GPa\""), Path::new(""));
    let usual = Bonds {
        name: "rock".to_owned(),
        between: Bonded::Near {
            groups: vec![0],
            tolerance: 0.05,
        },
        law: BondLaw::Beam,
        section: CrossSection::Circle,
        size: BondSize::Share(1.0),
        youngs_modulus: 1e10,
        stiffness: None,
        of_pairs: PairValues::default(),
        poisson_ratio: 0.2,
        damping_ratio: 0.0,
        damping: None,
        tensile_strength: f64::INFINITY,
        cohesion: f64::INFINITY,
        friction_angle: 0.0,
        fracture_energy: f64::INFINITY,
        weibull_modulus: None,
        seed: found[0].seed,
        one_piece: false,
    };
    assert_eq!(found, [usual]);
}

#[test]
fn a_stiffness_stands_in_place_of_a_modulus() {
    let found = bonds(
        &with("[bonds.rock]\namong = [\"bed\"]\nlaw = \"point\"\nstiffness = \"1e5 N/m\""),
        Path::new(""),
    );
    assert_eq!((found[0].stiffness, found[0].youngs_modulus), (Some(1e5), 0.0));
}

#[test]
fn a_dashpot_stands_in_place_of_a_damping_ratio_and_is_written_back() {
    let text = with("[bonds.rock]\namong = [\"bed\"]\nlaw = \"point\"\nstiffness = \"1e5 N/m\"\ndamping = \"0.2 N s/m\"");
    let first = scene(&text, Path::new(""));
    let again = scene(&first.resolved, Path::new("/somewhere/else"));
    for scene in [&first, &again] {
        let found = &scene.world.bonds[0];
        assert_eq!((found.damping, found.damping_ratio), (Some(0.2), 0.0));
    }
}

#[test]
fn a_complete_section_is_read_and_written_back() {
    let text = with(
        "[grains.ash]\nmaterial = \"glass\"\nat = [[0, 0, \"9 mm\"]]\nradius = \"1 mm\"\n\
         [bonds.rock]\namong = [\"bed\", \"ash\"]\ntolerance = 0.5\nlaw = \"point\"\nsection = \"square\"\nsize = \"1 mm\"\nyoungs_modulus = 1e9\n\
         poisson_ratio = 0.3\ndamping_ratio = 0.1\ntensile_strength = \"5 MPa\"\ncohesion = \"20 MPa\"\nfriction_angle = \"45 deg\"\n\
         fracture_energy = \"100 J/m^2\"\nweibull_modulus = 8\none_piece = true",
    );
    let found = bonds(&text, Path::new(""));
    let all = Bonds {
        name: "rock".to_owned(),
        between: Bonded::Near {
            groups: vec![1, 0],
            tolerance: 0.5,
        },
        law: BondLaw::Point,
        section: CrossSection::Square,
        size: BondSize::Length(1e-3),
        youngs_modulus: 1e9,
        stiffness: None,
        of_pairs: PairValues::default(),
        poisson_ratio: 0.3,
        damping_ratio: 0.1,
        damping: None,
        tensile_strength: 5e6,
        cohesion: 2e7,
        friction_angle: std::f64::consts::FRAC_PI_4,
        fracture_energy: 100.0,
        weibull_modulus: Some(8.0),
        seed: found[0].seed,
        one_piece: true,
    };
    assert_eq!(found, [all]);
    assert!(scene(&text, Path::new("")).notices.is_empty());
}

#[test]
fn every_section_scatters_its_own_way() {
    let section = |name: &str| format!("[bonds.{name}]\namong = [\"bed\"]\nyoungs_modulus = 1e9\nshare = 0.5\n");
    let alone = bonds(&with(&section("rock")), Path::new(""));
    let two = bonds(&with(&(section("rock") + &section("mortar"))), Path::new(""));
    assert_eq!(two.iter().map(|bonds| bonds.name.as_str()).collect::<Vec<_>>(), ["mortar", "rock"]);
    assert_eq!(two[1], alone[0]);
    assert_eq!(alone[0].size, BondSize::Share(0.5));
    assert_ne!(two[0].seed, two[1].seed);
    let other = with(&section("rock")).replace("until = \"1 s\"", "until = \"1 s\"\nseed = 2");
    assert_ne!(bonds(&other, Path::new(""))[0].seed, alone[0].seed);
}

#[test]
fn keys_without_effect_are_reported() {
    let text = with("[bonds.rock]\namong = [\"bed\"]\nyoungs_modulus = 1e9\nfriction_angle = \"30 deg\"\nweibull_modulus = 8");
    let notices = scene(&text, Path::new("")).notices.join("\n");
    assert!(notices.contains("bonds.rock: `weibull_modulus` has no effect"), "{notices}");
    assert!(notices.contains("bonds.rock: `friction_angle` has no effect"), "{notices}");
}

#[test]
fn fragments_are_asked_for_of_what_was_bonded_or_of_groups() {
    let text = with(
        "[bonds.rock]\namong = [\"bed\"]\nyoungs_modulus = 1e9\n\
         [probe.all]\nfragments = true\n[probe.bed]\nfragments = { groups = [\"bed\"] }",
    );
    let first = scene(&text.replace("[output]", "[output]\nfields = [\"fragment\"]"), Path::new(""));
    let what: Vec<ProbeKind> = first.probes.iter().map(|probe| probe.what.clone()).collect();
    let groups = Some(vec![0]);
    assert_eq!(what[..2], [ProbeKind::Fragments { groups: None }, ProbeKind::Fragments { groups }]);
    assert_eq!(first.output.fields, [Field::Fragment]);
    let again = scene(&first.resolved, Path::new("/somewhere/else"));
    assert_eq!((again.probes, again.output), (first.probes, first.output));
}

#[test]
fn pairs_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = with("[bonds.rock]\npairs = \"joints.csv\"\nyoungs_modulus = 1e9");
    let write = |pairs: &str| std::fs::write(folder.path().join("joints.csv"), pairs).unwrap();
    write("a,b\n1,0\n");
    assert_eq!(bonds(&text, folder.path())[0].between, Bonded::Pairs(vec![[1, 0]]));
    let cases: &[(&str, &[&str])] = &[
        (
            "a b\n0 1\n0 7\n",
            &["joints.csv:3: no grain has the id 7 at the start", "up to 1", "column `id`"],
        ),
        ("a b\n0 1\n1 0\n", &["joints.csv:3:", "already the pair of line 2", "either order"]),
        ("a b\n1 1\n", &["joints.csv:2:", "makes a pair with itself", "two grains"]),
        ("a b\n0 x\n", &["joints.csv:2:", "`x` is not an id", "whole numbers"]),
        ("a b\n", &["joints.csv", "names no pair"]),
    ];
    for (pairs, phrases) in cases {
        write(pairs);
        let found = load_text(&text, &folder.path().join("scene.toml"), &[]).expect_err(pairs);
        let message = found.plain();
        for phrase in *phrases {
            assert!(message.contains(phrase), "{pairs:?}: no `{phrase}` in\n{message}");
        }
        assert!(message.contains("scene.toml:21:9"), "{message}");
        assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "{message}");
    }
}

#[test]
fn pairs_of_a_file_may_have_their_own_stiffness_and_strength() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("joints.csv"), "a,b,stiffness[kN/m],strength[%]\n1,0,50,80\n").unwrap();
    let keys = |more: &str| with(&format!("[bonds.rock]\npairs = \"joints.csv\"\ntensile_strength = 1e6\n{more}"));
    let found = bonds(&keys("law = \"point\""), folder.path());
    let own = PairValues {
        stiffness: vec![5e4],
        strength: vec![0.8],
    };
    assert_eq!((&found[0].of_pairs, found[0].youngs_modulus, found[0].stiffness), (&own, 0.0, None));
    for (more, phrases) in [
        (
            "youngs_modulus = 1e9",
            ["the column `stiffness` of the pairs is for law = \"point\"", "remove the column"],
        ),
        (
            "law = \"point\"\nstiffness = 1e4",
            ["`stiffness` and the column `stiffness` of the pairs both say", "keep one of them"],
        ),
    ] {
        let found = load_text(&keys(more), &folder.path().join("scene.toml"), &[]).expect_err(more);
        let message = found.plain();
        assert!(phrases.iter().all(|phrase| message.contains(phrase)), "{more}: {message}");
    }
    std::fs::write(folder.path().join("joints.csv"), "a,b,strength\n1,0,2\n").unwrap();
    let text = keys("youngs_modulus = 1e9").replace("tensile_strength = 1e6\n", "");
    let notices = scene(&text, folder.path()).notices.join("\n");
    assert!(
        notices.contains("bonds.rock: the column `strength` of the pairs has no effect"),
        "{notices}"
    );
}

/// Stages that bond a bed, and remove the bonds.
const BONDED: &str = "[[stage]]\nname = \"fall\"\nuntil = \"duration 0.1 s\"\n[[stage]]\nname = \"glue\"\nadd = [\"bonds.rock\"]\nuntil = \"duration 0.1 s\"\n\
    [[stage]]\nname = \"part\"\nremove = [\"bonds.rock\"]\n";

#[test]
fn bonds_that_a_stage_adds_are_absent_before_and_may_join_what_comes_later() {
    let section = |keys: &str| {
        with(&format!(
            "[bonds.mortar]\namong = [\"bed\"]\nyoungs_modulus = 1e9\n[bonds.rock]\n{keys}\nyoungs_modulus = 1e9"
        ))
    };
    let late = "[grains.ash]\nmaterial = \"glass\"\nat = [[0, 0, \"9 mm\"]]\nradius = \"1 mm\"\n";
    let text = format!(
        "{}{late}{}",
        section("among = [\"ash\", \"bed\"]"),
        BONDED.replace("add = [", "add = [\"grains.ash\", ")
    );
    let first = scene(&text, Path::new(""));
    let again = scene(&first.resolved, Path::new("/somewhere/else"));
    for scene in [&first, &again] {
        assert_eq!(scene.world.later.bonds, [1]);
        assert_eq!(scene.world.bonds[1].name, "rock");
        assert!(scene.plan.absent.contains(&StageItem::Bonds(1)));
        assert_eq!(
            scene.plan.stages[1].actions,
            [StageAction::Add(StageItem::Group(0)), StageAction::Add(StageItem::Bonds(1))]
        );
        assert_eq!(scene.plan.stages[2].actions, [StageAction::Remove(StageItem::Bonds(1))]);
    }
    // Pairs may name grains that enter later, and no others.
    let folder = tempfile::tempdir().unwrap();
    let text = text.replace("among = [\"ash\", \"bed\"]", "pairs = \"joints.csv\"");
    let write = |pairs: &str| std::fs::write(folder.path().join("joints.csv"), pairs).unwrap();
    write("a b\n0 1\n");
    assert_eq!(scene(&text, folder.path()).world.bonds[1].between, Bonded::Pairs(vec![[0, 1]]));
    write("a b\n0 1\n0 9\n");
    let found = load_text(&text, &folder.path().join("scene.toml"), &[]).expect_err("a grain that never comes");
    let message = found.plain();
    assert!(
        message.contains("joints.csv:3: no grain has the id 9") && message.contains("of the scene, up to 2"),
        "{message}"
    );
    let twice = BONDED.replace("remove = [", "add = [");
    let found = load_text(&format!("{}{twice}", section("among = [\"bed\"]")), Path::new("scene.toml"), &[]).expect_err("twice");
    assert!(found.plain().contains("bonds.rock is there already"), "{found}");
    let unknown = BONDED.replace("bonds.rock", "bonds.rok");
    let found = load_text(&format!("{}{unknown}", section("among = [\"bed\"]")), Path::new("scene.toml"), &[]).expect_err("unknown");
    assert!(found.plain().contains("no section of bonds is named `rok`"), "{found}");
}

#[test]
fn pairs_that_cannot_be_bonded_by_then_are_refused_before_anything_moves() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("joints.csv"), "a b\n1 0\n").unwrap();
    // The two grains of the bed are 3 mm apart; the tolerance reaches 4 mm.
    let mortar = "[bonds.mortar]\namong = [\"bed\"]\ntolerance = 1\nyoungs_modulus = 1e9";
    let load = |mortar: &str, fall: &str| {
        let sections = format!("{mortar}\n[bonds.rock]\npairs = \"joints.csv\"\nyoungs_modulus = 1e9");
        let stages = BONDED.replace("until = \"duration 0.1 s\"\n[[stage]]\nname = \"glue\"", fall);
        let text = format!("{}{stages}", with(&sections));
        let loaded = load_text(&text, &folder.path().join("scene.toml"), &[]);
        loaded.map_err(|found| found.plain())
    };
    let fall = |act: &str| format!("until = \"duration 0.1 s\"\n{act}\n[[stage]]\nname = \"glue\"");
    let found = load(mortar, &fall("")).expect_err("bonded for good");
    let reported = "stage glue: bonds rock: it bonds grains 0 and 1, which are bonded already, by mortar";
    assert!(found.contains(reported), "{found}");
    // Bonds with a strength may be broken by then, and removed bonds connect nothing.
    let weak = format!("{mortar}\ntensile_strength = \"1 kPa\"");
    load(&weak, &fall("")).unwrap_or_else(|found| panic!("{found}"));
    load(mortar, &fall("remove = [\"bonds.mortar\"]")).unwrap_or_else(|found| panic!("{found}"));
    let held = "remove = [\"bonds.mortar\"]\nset.grains.bed.fixed = true";
    let found = load(mortar, &fall(held)).expect_err("one body");
    let reported = "stage glue: bonds rock: it bonds grains 1 and 0, which one rigid body carries";
    assert!(found.contains(reported), "{found}");
}

macro_rules! rock {
    ($keys:literal) => {
        concat!("[bonds.rock]\n", $keys, "\n[output]")
    };
}

const CASES: &[Case] = &[
    (
        "[output]",
        rock!("among = [\"bed\"]"),
        &[
            "scene.toml:20:",
            "bonds.rock: bonds need `youngs_modulus`",
            "law = \"point\" a stiffness",
        ],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nstiffness = 1e5"),
        &["scene.toml:22:", "`stiffness` is for law = \"point\"", "youngs_modulus"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nlaw = \"point\"\nyoungs_modulus = 1e9\nstiffness = 1e5"),
        &["scene.toml:24:", "`youngs_modulus` and `stiffness` both say", "keep one of them"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\ndamping = 0.2"),
        &["scene.toml:23:", "`damping` is for law = \"point\"", "damping_ratio"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nlaw = \"point\"\nyoungs_modulus = 1e9\ndamping_ratio = 0.1\ndamping = 0.2"),
        &["scene.toml:25:", "`damping_ratio` and `damping` both say", "keep one of them"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nlaw = \"point\"\nyoungs_modulus = 1e9\ndamping = \"0.2 N/m\""),
        &["scene.toml:24:", "damping coefficient [N s/m] belongs here"],
    ),
    (
        "[output]",
        rock!("youngs_modulus = 1e9"),
        &["scene.toml:20:", "bonds.rock: bonds need `among` or `pairs`", "add among"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\npairs = \"joints.csv\"\nyoungs_modulus = 1e9"),
        &[
            "scene.toml:22:",
            "`among` finds the pairs to bond, and `pairs` names them",
            "keep one",
        ],
    ),
    (
        "[output]",
        rock!("among = [\"bde\"]\nyoungs_modulus = 1e9"),
        &["scene.toml:21:9", "no group of grains is named `bde`", "did you mean `bed`?"],
    ),
    (
        "[output]",
        rock!("among = []\nyoungs_modulus = 1e9"),
        &["scene.toml:21:9", "bonds among no grains", "among = [\"NAME\"]"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\", \"bed\"]\nyoungs_modulus = 1e9"),
        &["scene.toml:21:9", "`bed` is there twice", "each section once"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\ntolerance = -0.1\nyoungs_modulus = 1e9"),
        &["scene.toml:22:", "-0.1 is out of range", ">= 0"],
    ),
    (
        "[output]",
        rock!("pairs = \"joints.csv\"\ntolerance = 0.1\nyoungs_modulus = 1e9"),
        &["scene.toml:22:", "`tolerance` finds neighbors, and `pairs` names them", "remove it"],
    ),
    (
        "[output]",
        rock!("pairs = \"none.csv\"\nyoungs_modulus = 1e9"),
        &["scene.toml:21:9", "none.csv", "check the path"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\nlaw = \"beem\""),
        &["scene.toml:23:7", "unknown law of bonds `beem`", "did you mean `beam`?"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\nsection = \"sqare\""),
        &["scene.toml:23:11", "unknown cross-section `sqare`", "did you mean `square`?"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\nsize = \"1 mm\"\nshare = 0.5"),
        &[
            "scene.toml:24:9",
            "`size` and `share` both say how thick the bonds are",
            "keep `size`",
        ],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\nshare = 0"),
        &["scene.toml:23:9", "0 is out of range", "> 0"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\ndamping_ratio = 1.5"),
        &["scene.toml:23:17", "1.5 is out of range", ">= 0 and <= 1"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\ntensile_strength = 0"),
        &[
            "scene.toml:23:20",
            "a tensile_strength of zero holds nothing",
            "leave `tensile_strength` out",
        ],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\ncohesion = \"0 MPa\""),
        &["scene.toml:23:12", "a cohesion of zero holds nothing", "leave `cohesion` out"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\nfracture_energy = 0"),
        &[
            "scene.toml:23:19",
            "a fracture_energy of zero holds nothing",
            "would break at the first load",
        ],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\nfracture_energy = \"1 Pa\""),
        &[
            "scene.toml:23:19",
            "\"1 Pa\" is pressure [Pa], but surface energy [J/m^2] belongs here",
        ],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\nfriction_angle = \"90 deg\""),
        &["scene.toml:23:18", "rad is out of range", ">= 0 and < 1.57", "30 deg"],
    ),
    (
        "[output]",
        rock!("among = [\"bed\"]\nyoungs_modulus = 1e9\nweibull_modulus = 0"),
        &["scene.toml:23:19", "0 is out of range", "> 0"],
    ),
    (
        "[output]",
        "[bonds.\"../rock\"]\namong = [\"bed\"]\nyoungs_modulus = 1e9\n[output]",
        &["cannot be a name", "letters, digits, _ and -"],
    ),
    (
        "at = [[0, 0, 0], [\"3 mm\", 0, 0]]\nradius = \"1 mm\"",
        "inlet = { through = { disc = { center = [0, 0, 1], normal = [0, 0, -1], radius = 0.1 } }, rate = \"1 kg/s\", radius = 0.001 }\n\
         [bonds.rock]\namong = [\"bed\"]\nyoungs_modulus = 1e9",
        &["scene.toml:17:9", "the grains of `bed` come later", "from the start"],
    ),
    (
        "position = 0",
        "energy = true\n[bonds.rock]\namong = [\"bed\"]\nyoungs_modulus = 1e9\n[[stage]]\nname = \"a\"\nuntil = \"duration 0.1 s\"\n\
         [[stage]]\nname = \"b\"\nadd = [\"grains.bed\"]",
        &["scene.toml:25:9", "the grains of `bed` come later"],
    ),
    (
        "position = 0",
        "fragments = true",
        &["scene.toml:23:", "the scene has none", "add a section [bonds.NAME]"],
    ),
    ("position = 0", "fragments = false", &["exactly one of", "`fragments`"]),
    ("position = 0", "fragments = 3", &["scene.toml:23:", "write true"]),
    (
        "position = 0",
        "fragments = { groups = [] }",
        &["scene.toml:23:", "fragments of no grains", "fragments = true"],
    ),
    (
        "position = 0",
        "fragments = { groups = [\"bde\"] }",
        &["scene.toml:23:", "no group of grains is named `bde`", "did you mean `bed`?"],
    ),
    (
        "every = \"10 ms\"",
        "fields = [\"fragment\"]",
        &["scene.toml:21:", "\"fragment\" is for scenes with bonds", "[bonds.NAME]"],
    ),
];

#[test]
fn every_bad_section_is_refused_with_place_and_remedy() {
    assert_refused(CASES);
}
