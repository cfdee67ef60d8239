//! Keys that change when a run is resumed.

use crate::command_line::rows;
use crate::command_line::stage::Stage;

/// Column of `energies.csv`, from a time on.
fn energies(stage: &Stage, run: &str, name: &str, from: f64) -> Vec<f64> {
    let text = stage.read(&format!("{run}/energies.csv"));
    let header = text.lines().next().unwrap();
    let column = header.split(',').position(|column| column == name).unwrap();
    rows(&text).iter().filter(|row| row[0] >= from).map(|row| row[column]).collect()
}

/// Without friction no more energy is dissipated by it, also after a later resume.
#[test]
fn friction_changes_for_good() {
    let stage = Stage::new();
    stage.succeed("run heap.toml --quiet --until 60ms --out heap");
    let scene = stage.read("heap/scene.toml");
    stage.succeed("resume heap --quiet --until 64ms --set interaction.clay-clay.friction=0");
    let record = stage.record("heap");
    let change = &record["changes"][0];
    assert_eq!(change["key"], "interaction.clay-clay.friction");
    assert_eq!(change["value"], "0");
    assert!((change["time"].as_f64().unwrap() - 0.06).abs() < 1e-4, "{change}");
    stage.succeed("resume heap --quiet --until 70ms");
    // The springs are released in the first step.
    let after = energies(&stage, "heap", "friction [J]", 0.0609);
    let before = energies(&stage, "heap", "friction [J]", 0.0);
    assert!(after.len() == 10 || after.len() == 9, "{after:?}");
    assert!(
        after.iter().all(|friction| (friction - after[0]).abs() < 1e-9 * after[0]),
        "{after:?}"
    );
    assert!(
        before[before.len() - after.len() - 3] < before[before.len() - after.len() - 2],
        "friction was at work"
    );
    assert_eq!(stage.read("heap/scene.toml"), scene, "the scene is as the run began");
}

/// A table gets more lines from the change on, and no file of the time before differs.
#[test]
fn a_probe_is_logged_more_often_from_here_on() {
    let stage = Stage::new();
    stage.succeed("run heap.toml --quiet --until 20ms --out heap");
    let before = stage.read("heap/probes/middle.csv");
    stage.succeed("resume heap --quiet --until 24ms --set probe.middle.every=0.5ms");
    let after = stage.read("heap/probes/middle.csv");
    assert!(after.starts_with(&before));
    assert_eq!(after.lines().count() - before.lines().count(), 8);
}

#[test]
fn keys_of_the_past_are_refused() {
    let stage = Stage::new();
    stage.succeed("run heap.toml --quiet --until 1ms --out heap");
    let state = stage.checkpoint("heap").1;
    for key in [
        "grains.heap.fill.count=3",
        "material.clay.density=1000",
        "run.time_step=1us",
        "output.every=1ms",
        "interaction.clay-clay=0",
    ] {
        let refused = stage.seixo(&format!("resume heap --until 2ms --set {key}"));
        assert_eq!(refused.code, 2, "{key}: {}", refused.err);
        let name = key.split('=').next().unwrap();
        for part in [name, "cannot change", "interaction.*.friction", "[start] from = \"heap\""] {
            assert!(refused.err.contains(part), "{part} is not in\n{}", refused.err);
        }
    }
    assert_eq!(stage.checkpoint("heap").1, state);
}

/// A stage that began stays, also where the new list is shorter.
#[test]
fn stages_that_began_do_not_change() {
    let stage = Stage::new();
    let scene = stage.read("heap.toml");
    let stages = "[[stage]]\nname = \"fall\"\nuntil = \"duration 1 ms\"\n[[stage]]\nname = \"lie\"\nuntil = \"duration 9 ms\"\n";
    stage.write("staged.toml", &format!("{scene}\n{stages}"));
    stage.succeed("run staged.toml --quiet --until 2ms --out staged");
    let refused = stage.seixo("resume staged --until 3ms --set stage=[]");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("the first 2 of the list stage, which began,"),
        "{}",
        refused.err
    );
}
