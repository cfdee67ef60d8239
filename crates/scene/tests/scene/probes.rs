//! Keys of probes: values in the scene, columns of their tables, and errors.

use crate::spoiled::{Case, SOUND, assert_refused, refused};
use seixo_analysis::SpeedLimit;
use seixo_scene::{Average, Carrier, Measure, Passage, ProbeColumn, ProbeKind, Scene, load_text};
use std::path::Path;

fn scene(from: &str, to: &str) -> Scene {
    load_text(&SOUND.replace(from, to), Path::new("scene.toml"), &[]).unwrap()
}

fn logging(keys: &str) -> Scene {
    scene("position = 0", keys)
}

#[test]
fn bodies_and_loads_are_of_a_group_about_a_point() {
    let held = SOUND.replace("radius = \"1 mm\"", "radius = \"1 mm\"\nfixed = true");
    let keys = "body = { group = \"bed\", about = [0, 0, \"1 cm\"] }\n[probe.second]\ngroup_load = { group = \"bed\" }";
    let scene = load_text(&held.replace("position = 0", keys), Path::new("scene.toml"), &[]).unwrap();
    let ProbeKind::Body { body, about, .. } = scene.probes[0].what else {
        panic!("{:?}", scene.probes[0].what);
    };
    assert_eq!((body, about), (scene.world.grains.bodies[0].id, Some([0.0, 0.0, 0.01])));
    assert_eq!(scene.probes[1].what, ProbeKind::GroupLoad { group: 0, about: None });
    assert_eq!((scene.probes[0].columns().len(), scene.probes[1].columns().len()), (24, 12));
}

#[test]
fn a_heap_needs_gravity_along_minus_z() {
    let keys = "angle_of_repose = { group = \"bed\" }";
    let scene = logging(keys);
    let heap = |axis| ProbeKind::AngleOfRepose {
        group: 0,
        region: None,
        axis,
    };
    assert_eq!(scene.probes[0].what, heap(None));
    assert_eq!(scene.probes[0].columns()[0], "angle [deg]");
    let slanted = SOUND
        .replace("[0, 0, \"-9.81 m/s^2\"]", "[1, 0, -9.81]")
        .replace("position = 0", keys);
    let message = refused(&slanted).plain();
    assert!(
        message.contains("scene.toml:23:") && message.contains("does not point along -z"),
        "{message}"
    );
    let drum = logging("angle_of_repose = { group = \"bed\", axis = [0, 2, 0] }");
    assert_eq!(drum.probes[0].what, heap(Some([0.0, 1.0, 0.0])));
    assert_eq!(drum.probes[0].columns()[2..], ["height [m]", "width [m]"]);
    assert_refused(&[(
        "position = 0",
        "angle_of_repose = { group = \"bed\", axis = [0, 0, 1] }",
        &["the axis of the drum is vertical", "axis = [0, 1, 0]"],
    )]);
}

#[test]
fn walls_and_bodies_carry_places_by_their_names() {
    let tank = SOUND.replace(
        "[output]",
        "[wall.tank]\nmaterial = \"glass\"\nbox = { min = [-1, -1, -1], max = [1, 1, 1] }\n[output]",
    );
    let held = tank.replace("radius = \"1 mm\"", "radius = \"1 mm\"\nfixed = true");
    let region = "solid_fraction = { region = { sphere = { center = [0, 0, 0], radius = \"1 mm\" } } }";
    let carried = |text: &str, on: &str| {
        let text = text.replace("position = 0", &format!("{region}\non = \"{on}\""));
        load_text(&text, Path::new("scene.toml"), &[])
    };
    let carrier = |on: &str| carried(&held, on).unwrap().probes[0].carrier.clone().unwrap();
    let walls = &carried(&held, "tank").unwrap().world.walls;
    let index = |name: &str| Carrier::Wall(walls.iter().position(|wall| wall.name == name).unwrap());
    assert_eq!([carrier("floor"), carrier("wall.tank.top")], [index("floor"), index("tank.top")]);
    let Carrier::Body { id, center, .. } = carrier("bed") else {
        panic!("bed is held as a body");
    };
    assert_eq!((carrier("grains.bed.1"), carrier("bed.1")), (carrier("bed"), carrier("bed")));
    let scene = carried(&held, "bed").unwrap();
    assert_eq!((id, center), (scene.world.grains.bodies[0].id, scene.world.grains.bodies[0].center));
    assert_eq!(
        scene.probes[0].columns(),
        ["solid_fraction [-]", "at_x [m]", "at_y [m]", "at_z [m]"]
    );
    for (on, phrases) in [
        ("tankk", ["no wall and no group", "did you mean `tank`"]),
        ("bed.2", ["no body number 2", "1 to 1"]),
        ("wall.bed", ["no wall is named `bed`", "tank"]),
    ] {
        let message = carried(&held, on).unwrap_err().plain();
        assert!(phrases.iter().all(|phrase| message.contains(phrase)), "{on}: {message}");
    }
    let message = carried(&tank, "bed").unwrap_err().plain();
    assert!(
        message.contains("have no rigid body") && message.contains("on = \"grains.bed.1\""),
        "{message}"
    );
    let no_place = refused(&held.replace("position = 0", "energy = true\non = \"tank\"")).plain();
    assert!(
        no_place.contains("no place that could move") && no_place.contains("remove `on`"),
        "{no_place}"
    );
    let periodic = |keys: &str| {
        let domain = "domain = { min = [-2, -2, -2], max = [2, 2, 2], sides = [\"periodic\", \"open\", \"open\"] }";
        let text = held.replace("[world]", &format!("[world]\n{domain}"));
        refused(&text.replace("position = 0", &format!("{keys}\non = \"tank\""))).plain()
    };
    let plane = "count_through = { plane = { point = [0, 0, 0], normal = [0, 0, 1] } }";
    let message = periodic(plane);
    assert!(message.contains("without periodic sides"), "{message}");
    let message = periodic("stress = { region = { box = { min = [-2, -2, -1], max = [2, 2, 1] } } }");
    assert!(
        message.contains("from corner to corner") && message.contains("4 m in x"),
        "{message}"
    );
}

#[test]
fn residence_times_begin_and_end_once() {
    let zone = "zone = { cone = { from = [0, 0, 0], to = [0, 0, 1], radii = [1, 2] } }";
    let plane = "{ point = [0, 0, 0], normal = [0, 0, 2] }";
    let what = |keys: &str| logging(&format!("residence_time = {{ {keys} }}")).probes[0].what.clone();
    let ProbeKind::ResidenceTime {
        from: Passage::Entry(entered),
        to: Passage::Exit(left),
    } = what(zone)
    else {
        panic!("a zone alone is entered and left");
    };
    assert!(entered == left && entered.holds([1.4, 0.0, 0.5]) && !entered.holds([1.6, 0.0, 0.5]));
    let ProbeKind::ResidenceTime { from, to } = what(&format!("from = {plane}, to = {plane}")) else {
        panic!("two planes");
    };
    let middle = Passage::Plane {
        point: [0.0; 3],
        normal: [0.0, 0.0, 1.0],
    };
    assert_eq!([from, to], [middle.clone(), middle]);
    let both = format!("residence_time = {{ from = {plane}, to = {plane}, {zone} }}");
    for keys in [both.as_str(), &format!("residence_time = {{ from = {plane} }}")] {
        let message = refused(&SOUND.replace("position = 0", keys)).plain();
        assert!(message.contains("`zone` alone"), "{message}");
    }
    assert_refused(&[(
        "position = 0",
        "residence_time = { from = \"bed\", to = { point = [0, 0, 0], normal = [0, 0, 1] } }",
        &["no group with an inlet is named `bed`"],
    )]);
}

#[test]
fn dead_zones_have_one_limit() {
    let keys = "dead_zone = { region = { min = [0, 0, 0], max = [1, 1, 1] }, spacing = \"10 cm\", limit_of_mean = 0.2, group = \"bed\" }";
    let ProbeKind::DeadZone {
        grid,
        limit,
        sample_every,
        group,
        fluid,
    } = logging(keys).probes[0].what
    else {
        panic!("a dead zone");
    };
    assert_eq!(
        (grid.points, limit, group, fluid),
        ([10; 3], SpeedLimit::OfMean(0.2), Some(0), None)
    );
    assert!((sample_every - 1e-4).abs() < 1e-12, "a hundredth of a line");
    let region = "dead_zone = { region = { min = [0, 0, 0], max = [1, 1, 1] }";
    for (rest, phrases) in [
        ("spacing = \"10 cm\" }", ["one limit", "limit_of_mean = 0.1"]),
        ("spacing = \"0.1 mm\", limit = \"1 mm/s\" }", ["1.000e12 cells", "larger spacing"]),
        (
            "spacing = \"10 cm\", limit = \"1 mm/s\", sample_every = \"1 s\" }",
            ["fewer than the lines", "sample more often"],
        ),
        (
            "spacing = \"10 cm\", limit = \"1 mm/s\", group = \"bed\", fluid = \"water\" }",
            ["`group` is for grains alone", "remove one"],
        ),
        (
            "spacing = \"10 cm\", limit = \"1 mm/s\", fluid = \"water\" }",
            ["no fluid is named `water`", ""],
        ),
    ] {
        let message = refused(&SOUND.replace("position = 0", &format!("{region}, {rest}"))).plain();
        assert!(phrases.iter().all(|phrase| message.contains(phrase)), "{rest}: {message}");
    }
}

#[test]
fn averages_have_a_hundred_samples_unless_the_scene_says_otherwise() {
    let average = |keys: &str| logging(&format!("position = 0\n{keys}")).probes[0].average;
    assert_eq!(average(""), None);
    for (keys, window, sample_every) in [
        ("average = \"0.2 s\"", 0.2, 0.002),
        ("average = \"0.2 s\"\nevery = \"1 ms\"", 0.2, 0.001),
        ("average = \"0.2 s\"\nsample_every = \"50 ms\"", 0.2, 0.05),
    ] {
        assert_eq!(average(keys), Some(Average { window, sample_every }), "{keys}");
    }
    // The resolved scene says the same.
    let first = logging("position = 0\naverage = \"0.2 s\"");
    let again = load_text(&first.resolved, Path::new("scene.toml"), &[]).unwrap();
    assert_eq!(again.probes, first.probes);
}

/// The sound scene with a stage that ends with this condition.
fn ending(until: &str) -> String {
    SOUND.replace("[output]", &format!("[[stage]]\nname = \"a\"\nuntil = \"{until}\"\n[output]"))
}

#[test]
fn conditions_on_probes_compare_in_the_unit_of_the_column() {
    let text = ending("probe.first.z > 2 mm or drift.first.x < 1 um over 20 ms");
    let scene = load_text(&text, Path::new("scene.toml"), &[]).unwrap();
    let until = scene.plan.stages[0].until.as_ref().unwrap();
    let column = |column: usize| ProbeColumn { probe: 0, column };
    let measures: Vec<Measure> = until.measures().cloned().collect();
    assert_eq!(measures, [Measure::Probe(column(2)), Measure::Drift(column(0), 0.02)]);
    assert!(!until.looks_at_grains());
    let ends = |z: f64, drift: f64| until.holds(|measure| if matches!(measure, Measure::Probe(_)) { z } else { drift });
    assert_eq!(ends(0.0019, 2e-6), None);
    assert!(ends(0.0021, f64::NAN).unwrap().starts_with("probe.first.z = 2.1000e-3 m > 2e-3 m"));
    assert!(ends(f64::NAN, 5e-7).unwrap().starts_with("drift.first.x = "));
}

#[test]
fn conditions_on_what_is_not_logged_are_refused_with_place_and_remedy() {
    for (until, phrases) in [
        ("probe.first > 1 m", ["does not say which column", "probe.NAME.COLUMN"]),
        ("probe.frist.z > 1 m", ["no probe is named `frist`", "did you mean `first`?"]),
        ("probe.first.w > 1 m", ["has no column `w`", "x, y, z"]),
        (
            "probe.first.z > 1 s",
            ["is time [s], but `probe.first.z` is length [m]", "length [m]"],
        ),
        ("probe.first.z > 1", ["has no unit", "length [m]"]),
        ("probe.first.z 1 m", ["compares nothing", "<, <=, > or >="]),
        ("probe.first.z > 1 m over 1 s", ["`over` is for a drift", "average"]),
        ("drift.first.z < 1 m", ["over which time", "over 0.5 s"]),
        ("drift.first.z < 1 m over 0 s", ["no drift over 0 s", "> 0"]),
        ("drift.first.z < 1 m over 1 m", ["is length [m]", "time [s]"]),
        (
            "drift.first.z < 1 m over 0.05 ms",
            [
                "cannot be fitted over 0.00005 s, as probe `first` has a line every",
                "two intervals",
            ],
        ),
    ] {
        let message = refused(&ending(until)).plain();
        assert!(message.contains("scene.toml:22:9"), "{until}: {message}");
        for phrase in phrases {
            assert!(message.contains(phrase), "{until}: no `{phrase}` in {message}");
        }
    }
}

#[test]
fn what_cannot_be_logged_is_refused_with_place_and_remedy() {
    let cases: Vec<Case> = vec![
        (
            "position = 0",
            "body = { group = \"bed\" }",
            &["scene.toml:23:", "grains.bed have no rigid body at the start", "clumps, boundaries"],
        ),
        (
            "radius = \"1 mm\"",
            "radius = \"1 mm\"\nfixed = true\n[probe.second]\nbody = { group = \"bed\", number = 2 }",
            &["scene.toml:19:", "grains.bed have no body number 2", "1 to 1"],
        ),
        (
            "position = 0",
            "group_load = { group = \"bad\" }",
            &["scene.toml:23:", "no group of grains is named `bad`", "did you mean `bed`?"],
        ),
        (
            "position = 0",
            "strain = { group = \"bed\", since = \"load\" }",
            &["scene.toml:23:", "no stage is named `load`"],
        ),
        (
            "position = 0",
            "wall_power = \"flor\"",
            &["scene.toml:23:14", "no wall is named `flor`", "did you mean `floor`?"],
        ),
        (
            "position = 0",
            "position = 0\nsample_every = \"1 ms\"",
            &["scene.toml:24:16", "the probe has none", "add average"],
        ),
        (
            "position = 0",
            "position = 0\naverage = \"1 ms\"\nsample_every = \"10 ms\"",
            &["scene.toml:25:16", "has no sample", "up to 0.001 s"],
        ),
        (
            "position = 0",
            "position = 0\naverage = \"1 s\"\nsample_every = \"1 us\"",
            &["scene.toml:25:16", "1.000e6 samples", "1e5 samples"],
        ),
    ];
    assert_refused(&cases);
}
