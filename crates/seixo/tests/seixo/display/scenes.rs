//! Comparison of five scenes with stored pictures: grains, force chains, bonds, water, bodies in water.

use super::pictures::Picture;
use super::{DRUM, turn};
use crate::stage::{HEAP, Stage};

/// Runs a scene and compares its last frame.
fn compare(stage: &Stage, scene: &str, run: &str, look: &str) {
    stage.succeed(&format!("run {scene}.toml --quiet {run}"));
    stage.succeed(&format!(
        "picture {scene}.out --size 640x400 --title {scene} {look} --out {scene}.png"
    ));
    let bytes = std::fs::read(stage.path(&format!("{scene}.png"))).unwrap();
    Picture::from_png(&bytes).assert_golden(scene);
}

fn compare_template(scene: &str, run: &str, look: &str) {
    let _turn = turn();
    let stage = Stage::new();
    stage.succeed(&format!("new {scene}"));
    compare(&stage, scene, run, look);
}

#[test]
fn two_sizes_in_a_drum() {
    let _turn = turn();
    let stage = Stage::new();
    stage.write("drum.toml", DRUM);
    compare(&stage, "drum", "--until 0.1", "--field material --view=-0.12,-1,0.1");
}

#[test]
fn force_chains_in_a_heap() {
    let _turn = turn();
    let stage = Stage::new();
    stage.write("heap.toml", HEAP);
    compare(&stage, "heap", "", "--contacts chains");
}

#[test]
fn bonds_of_a_cantilever() {
    compare_template("cantilever", "", "--bonds tension");
}

#[test]
fn water_that_collapses() {
    compare_template("dam_break", "--until 0.4 --set fluid.water.spacing=0.03", "--smooth");
}

#[test]
fn bodies_in_water() {
    compare_template("floating", "--until 0.2 --set fluid.water.spacing=0.02", "--surface");
}
