//! Pages in a browser.

use super::browser::Browser;
use super::pictures::{changed, settled};
use super::{GRAINS, PATIENCE, SCENE, Viewer, recorded, scene_of, stage, turn, without_a_screen};
use serde_json::Value;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Slider of the frames of a recording, for any first number.
pub const SLIDER: &str = "[...document.querySelectorAll('input[type=range]')].find(slider => slider.max - slider.min === 60)";

#[test]
fn a_page_shows_a_recording() {
    let _turn = turn();
    let stage = recorded();
    let mut browser = Browser::new(&stage.path("profile"));
    let viewer = Viewer::start(without_a_screen(&stage, "view drum.out --browser"));
    browser.visit(&viewer.address());
    browser.wait_until("window.seixo?.frames > 0");
    let first = settled(|| browser.picture());
    assert_eq!(browser.evaluate("window.seixo.count"), GRAINS);
    assert_eq!(browser.evaluate("window.seixo.error"), Value::Null);
    first.assert_golden("page");

    browser.drag([500.0, 400.0], [620.0, 430.0]);
    let turned = changed(&first, || browser.picture()).expect("a drag turns the scene");
    assert!(scene_of(&turned).difference(&scene_of(&first)).share > 0.01);

    // Another value than at the start.
    let turned = settled(|| browser.picture());
    browser.set(
        SLIDER,
        "Number(control.value) < Number(control.min) + 30 ? control.max : control.min",
    );
    changed(&turned, || browser.picture()).expect("the slider goes to another frame");
    let moved = settled(|| browser.picture());
    let has_radius = "option => /radius/.test(option.value + option.textContent)";
    let fields = format!("[...document.querySelectorAll('select')].find(select => [...select.options].some({has_radius}))");
    browser.set(&fields, &format!("[...control.options].find({has_radius}).value"));
    changed(&moved, || browser.picture()).expect("another field gives other colors");

    // A click, which is a drag without motion, selects a grain, and its fields are shown.
    let place = ["x", "y"].map(|axis| {
        browser
            .evaluate(&format!("camera.circle(center(stage.frame, 0), 1).{axis}"))
            .as_f64()
            .unwrap()
    });
    browser.drag(place, place);
    browser.wait_until("/^grain:[0-9]+$/.test(window.seixo.picked)");
    browser.wait_until("document.getElementById('known').textContent.includes('radius')");
    assert_eq!(browser.evaluate("window.seixo.count"), GRAINS);

    // Bonds of another recording.
    stage.succeed("new cantilever");
    stage.succeed("run cantilever.toml --quiet");
    let bonded = Viewer::start(without_a_screen(&stage, "view cantilever.out --browser"));
    browser.visit(&bonded.address());
    browser.wait_until("window.seixo?.frames > 0 && document.title.startsWith('Cantilever')");
    browser.set("document.getElementById('shown')", "'bonds'");
    browser.wait_until("window.seixo.rods > 0 && window.seixo.count === 0");
    let colors = browser.picture().middle_of_colors(SCENE[0], SCENE[1]);
    assert!(colors.is_some(), "bonds have colors");
    assert_eq!(browser.console(), Vec::<String>::new());
    for mut viewer in [viewer, bonded] {
        viewer.interrupt();
        assert_eq!(viewer.code(), Some(0), "{}", viewer.said());
    }
}

#[test]
fn a_page_shows_a_run() {
    let _turn = turn();
    let stage = stage("10");
    let mut browser = Browser::new(&stage.path("profile"));
    let mut viewer = Viewer::start(without_a_screen(&stage, "view drum.toml --browser --out watched"));
    browser.visit(&viewer.address());
    browser.wait_until("window.seixo?.frames > 0");
    let frames = browser.evaluate("window.seixo.frames");
    browser.wait_until(&format!("window.seixo.frames > {frames} + 3"));
    browser.wait_until("document.getElementById('status').textContent.includes(' of 10 s')");
    assert_eq!(browser.evaluate("window.seixo.count"), GRAINS);
    assert_eq!(browser.console(), Vec::<String>::new());

    browser.hold();
    assert_eq!(
        stage.record("watched")["result"],
        "running",
        "the page was held too late to test anything"
    );
    let begun = Instant::now();
    while stage.record("watched")["result"] != "finished" {
        assert!(
            begun.elapsed() < PATIENCE,
            "the run waits for a page that reads nothing: {}",
            viewer.said()
        );
        sleep(Duration::from_millis(100));
    }
    viewer.interrupt();
    assert_eq!(viewer.code(), Some(0), "{}", viewer.said());
}
