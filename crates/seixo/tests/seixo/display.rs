//! Tests of windows and pages: on a virtual screen, and in a headless browser.

mod browser;
mod pages;
mod pictures;
mod scenes;
mod screen;

use crate::stage::{Done, SEIXO, Stage};
use browser::Browser;
use pages::SLIDER;
use pictures::{Picture, changed, changed_soon, settled, written};
use screen::{F, K, LEFT, Q, RIGHT, S, SPACE, Screen, V, W};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::DirBuilderExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{panicking, sleep, spawn};
use std::time::{Duration, Instant};
use x11rb::protocol::xproto::Window;

/// Time limit for requests to the program, on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(180);
/// Wall time of a camera flight from one view to the next, with a margin.
const FLIGHT: Duration = Duration::from_millis(2500);
/// Number of grains in the drum.
const GRAINS: usize = 180;
/// Number of frames of its recording.
const FRAMES: usize = 61;
/// End time of a recording with this number of frames \[s\].
const RECORDED: &str = "0.6";
/// End time that a stopped run does not reach \[s\].
const NEVER: &str = "600";

/// Tests run one at a time: with two cores, a browser and a window that both draw in software slow each other down.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A drum in which small grains gather in the core. It has a file of its own, so that pictures do not depend on an example.
const DRUM: &str = include_str!("display/drum.toml");

/// A folder with a drum, with fewer and larger grains, so that it runs fast and a click hits a single grain.
fn stage(until: &str) -> Stage {
    let stage = Stage::new();
    let mut scene = DRUM.to_owned();
    for (old, new) in [
        ("until = \"3 s\"", &*format!("until = {until}")),
        ("count = 600", "count = 60"),
        ("count = 4000", "count = 120"),
        ("radius = \"4 mm\"", "radius = \"8 mm\""),
        ("radius = \"2 mm\"", "radius = \"6 mm\""),
        ("every = \"20 ms\"", "every = \"10 ms\""),
    ] {
        assert_eq!(scene.matches(old).count(), 1, "{old} in the drum");
        scene = scene.replace(old, new);
    }
    stage.write("drum.toml", &scene);
    std::fs::DirBuilder::new().mode(0o700).create(stage.path("runtime")).unwrap();
    stage
}

/// A folder with the drum and a recording of it.
fn recorded() -> Stage {
    let stage = stage(RECORDED);
    stage.succeed("run drum.toml --quiet");
    assert!(stage.path(&frame(FRAMES - 1)).exists() && !stage.path(&frame(FRAMES)).exists());
    stage
}

/// Path of a frame.
fn frame(number: usize) -> String {
    format!("drum.out/fields/grains_{number:06}.vtp")
}

/// Runs a command of the program without a screen.
fn without_a_screen(stage: &Stage, line: &str) -> Command {
    let mut command = stage.command(SEIXO, line);
    for variable in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(variable);
    }
    command.env("XDG_RUNTIME_DIR", stage.path("runtime"));
    command
}

/// Runs a command of the program that opens a window on a screen.
fn on(screen: &Screen, stage: &Stage, line: &str) -> Command {
    let mut command = without_a_screen(stage, line);
    command.envs([
        ("DISPLAY", &*screen.display),
        ("WGPU_BACKEND", "vulkan"),
        ("WINIT_UNIX_BACKEND", "x11"),
        ("WINIT_X11_SCALE_FACTOR", "1"),
    ]);
    command
}

/// The program while it shows a run.
struct Viewer {
    process: Child,
    lines: Receiver<String>,
    errors: Arc<Mutex<String>>,
}

impl Viewer {
    fn start(mut command: Command) -> Viewer {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (reported, lines) = channel();
        let out = BufReader::new(process.stdout.take().unwrap());
        spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| reported.send(line)));
        let errors = Arc::new(Mutex::new(String::new()));
        let (mut stream, heard) = (process.stderr.take().unwrap(), errors.clone());
        spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut bytes) {
                heard.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Viewer { process, lines, errors }
    }

    /// Returns the address of its page, which it prints first.
    fn address(&self) -> String {
        let line = self
            .lines
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|_| panic!("no address: {}", self.said()));
        assert!(line.starts_with("http://127.0.0.1:") && line.contains("/?token="), "{line}");
        line
    }

    /// Returns the output on its error stream so far.
    fn said(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    /// Sends Ctrl-C.
    fn interrupt(&self) {
        let command = format!("kill -INT {}", self.process.id());
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
    }

    /// Returns its exit code after its end.
    fn code(&mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                assert!(!self.said().contains("panicked"), "{}", self.said());
                return status.code();
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end: {}", self.said());
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        if panicking() {
            eprintln!("seixo view said: {}", self.said());
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Area of the scene in a picture of a window or a page, without other parts: shares of its width and of its height.
const SCENE: [[f64; 2]; 2] = [[0.1, 0.7], [0.15, 0.9]];

fn scene_of(picture: &Picture) -> Picture {
    picture.part(SCENE[0], SCENE[1])
}

#[test]
fn a_window_shows_a_recording() {
    let _turn = turn();
    let (stage, screen) = (recorded(), Screen::new());
    let mut viewer = Viewer::start(on(&screen, &stage, "view drum.out --size 960x600"));
    let window = screen.window("Seixo – ", "drum");
    let take = || screen.picture(window);
    let first = settled(take);
    assert_eq!([first.width, first.height], [960, 600]);
    first.assert_golden("window");

    // It may begin at either end, beyond which there is no frame.
    let scene = || scene_of(&take());
    let first = settled(scene);
    let step = |(away, back)| {
        screen.press(away);
        changed_soon(&first, scene).map(|_| (settled(scene), back))
    };
    let (stepped, back) = [(RIGHT, LEFT), (LEFT, RIGHT)].into_iter().find_map(step).unwrap();
    screen.press(back);
    changed(&stepped, scene).expect("the way back");
    let again = settled(scene);
    let [gone, left] = [&stepped, &again].map(|picture| picture.difference(&first).mean);
    assert!(
        left < 0.2 * gone,
        "a step and back leaves a difference of {left}, a step is one of {gone}"
    );

    screen.press(SPACE);
    let played = changed(&again, scene).expect("it plays");
    changed(&played, scene).expect("it goes on playing");
    screen.press(SPACE);
    let paused = settled(take);

    let middle = paused.middle_of_colors(SCENE[0], SCENE[1]).expect("grains have colors");
    assert!(is_reported(&screen, window, middle), "no grain near {middle:?} is reported");

    // Pictures are saved beside the run, and the second one does not overwrite the first.
    for number in 0..2 {
        screen.press(S);
        let saved = written(&stage.path(&format!("drum.out/view-{number:06}.png")));
        assert_eq!([saved.width, saved.height], [960, 600]);
        assert!(saved.middle_of_colors(SCENE[0], SCENE[1]).is_some(), "grains have colors");
    }

    // Two views are stored, and the camera moves from the first to the second.
    let first = settled(scene);
    screen.press(K);
    screen.drag(window, middle, [middle[0] + 90, middle[1] + 30]);
    let turned = changed(&first, scene).map(|_| settled(scene)).expect("a drag turns");
    screen.press(K);
    screen.press(V);
    let away = changed(&turned, scene).expect("the camera flies");
    std::thread::sleep(FLIGHT);
    let landed = settled(scene);
    let [flown, left] = [&away, &landed].map(|picture| picture.difference(&turned).mean);
    assert!(left < 0.2 * flown, "the last view is missed by {left}, of {flown} on the way");
    screen.press(Q);
    assert_eq!(viewer.code(), Some(0), "{}", viewer.said());

    let mut viewer = Viewer::start(on(&screen, &stage, "view drum.out --size 960x600"));
    screen.close(screen.window("Seixo – ", "drum"));
    assert_eq!(viewer.code(), Some(0), "{}", viewer.said());
}

/// A run that was viewed and stopped gives the same results as one without viewers.
#[test]
fn a_window_shows_a_run() {
    let _turn = turn();
    let (stage, screen) = (stage(NEVER), Screen::new());
    let mut viewer = Viewer::start(on(&screen, &stage, "view drum.toml --out watched --size 960x600"));
    let window = screen.window("Seixo – ", "drum");
    let take = || scene_of(&screen.picture(window));
    let mut seen = take();
    for _ in 0..5 {
        seen = changed(&seen, take).expect("the grains move");
    }
    screen.close(window);
    assert_eq!(viewer.code(), Some(130), "{}", viewer.said());
    assert!(viewer.said().contains("seixo resume watched"), "{}", viewer.said());
    assert_eq!(stage.record("watched")["result"], "interrupted");

    let record = stage.record("watched");
    let until = format!("{:.2}", record["time"].as_f64().unwrap() + 0.05);
    stage.succeed(&format!("resume watched --quiet --until {until}"));
    assert_eq!(stage.record("watched")["result"], "finished");
    stage.succeed(&format!("run drum.toml --quiet --until {until} --out unwatched"));
    // The resolved scene contains the end time.
    std::fs::copy(stage.path("unwatched/scene.toml"), stage.path("watched/scene.toml")).unwrap();
    stage.assert_same("watched", "unwatched");
}

/// Frames of a GPU are drawn from its memory, and look the same as those of a CPU.
#[test]
fn a_window_shows_a_run_on_a_gpu() {
    let _turn = turn();
    let (stage, screen) = (stage(NEVER), Screen::new());
    let [on_cores, on_gpu] = ["cpu", "wgpu"].map(|device| {
        let line = format!("view drum.toml --paused --field radius --device {device} --out {device} --size 960x600");
        let mut viewer = Viewer::start(on(&screen, &stage, &line));
        let window = screen.window("Seixo – ", "drum");
        let take = || screen.picture(window);
        let middle = wait_for_grains(&viewer, take);
        settled(take);
        // Panels have their final width.
        screen.press(F);
        let seen = settled(|| scene_of(&take()));
        assert!(is_reported(&screen, window, middle), "no grain near {middle:?} is reported");
        let still = settled(|| scene_of(&take()));
        screen.press(SPACE);
        changed(&still, || scene_of(&take())).expect("the grains move");
        if device == "wgpu" {
            // Sizes change faster than pictures are drawn.
            for width in (400..1200).step_by(40) {
                screen.place(window, [0; 2], [width, 600]);
                sleep(Duration::from_millis(20));
            }
            // Wider than the default limit of images, with its middle on the screen.
            screen.place(window, [-1400, 0], [4500, 600]);
            wait_for_grains(&viewer, take);
            screen.place(window, [0; 2], [960, 600]);
            wait_for_grains(&viewer, take);
            let moving = scene_of(&take());
            changed(&moving, || scene_of(&take())).expect("the grains still move");
        }
        screen.close(window);
        assert_eq!(viewer.code(), Some(130), "{}", viewer.said());
        let record = stage.record(device);
        let is_there = record["device"].as_str().is_some_and(|name| (name == "CPU") == (device == "cpu"));
        assert!(is_there, "{record}");
        seen
    });
    let differs = on_gpu.difference(&on_cores);
    assert!(differs.share < 1e-3, "{:.2} % of the picture is another", 100.0 * differs.share);
}

/// Grains in a box of planes, which have no vertices.
const BOX: &str = r#"
[run]
until = 600

[world]
gravity = [0, 0, -9.81]

[material.sand]
density = "2600 kg/m^3"
youngs_modulus = "5 MPa"
poisson_ratio = 0.25

[interaction.sand-sand]
normal = "hertz"
restitution = 0.5
friction = 0.5

[grains.bed]
material = "sand"
fill = { region = { box = { min = [0, 0, 0], max = ["10 cm", "10 cm", "20 cm"] } }, count = 50, radius = "6 mm" }

[wall.box]
material = "sand"
box = { min = [0, 0, 0], max = ["10 cm", "10 cm", "20 cm"], open = ["top"] }
"#;

#[test]
fn a_window_shows_grains_and_walls_of_a_box() {
    let _turn = turn();
    let (stage, screen) = (stage(NEVER), Screen::new());
    stage.write("box.toml", BOX);
    for (device, steps) in [("cpu", 1), ("wgpu", 0)] {
        let line = format!("view box.toml --paused --device {device} --out {device} --size 960x600");
        let mut viewer = Viewer::start(on(&screen, &stage, &line));
        let window = screen.window("Seixo – ", "box");
        let take = || screen.picture(window);
        wait_for_grains(&viewer, take);
        settled(take);
        let scene = || scene_of(&take());
        let with_walls = settled(scene);
        screen.press(W);
        let without = changed(&with_walls, scene).expect("walls go");
        assert!(without.middle_of_colors([0.0, 1.0], [0.0, 1.0]).is_some(), "the grains stay");
        // The run is paused, except for single steps.
        for _ in 0..steps {
            screen.press(RIGHT);
            settled(take);
        }
        screen.press(Q);
        assert_eq!(viewer.code(), Some(130), "{}", viewer.said());
        let record = stage.record(device);
        assert_eq!(record["steps"], steps, "{record}");
    }
}

/// Returns the middle of all grains, once they are visible.
fn wait_for_grains(viewer: &Viewer, take: impl Fn() -> Picture) -> [usize; 2] {
    let until = Instant::now() + PATIENCE;
    loop {
        match take().middle_of_colors(SCENE[0], SCENE[1]) {
            Some(middle) => return middle,
            None if Instant::now() < until => sleep(Duration::from_millis(50)),
            None => panic!("no grains are seen: {}", viewer.said()),
        }
    }
}

/// Whether a click at or near this position selects a grain.
fn is_reported(screen: &Screen, window: Window, place: [usize; 2]) -> bool {
    let take = || screen.picture(window);
    let panel = || take().part([0.72, 1.0], [0.0, 1.0]);
    [[0, 0], [0, 30], [30, 0], [0, -30], [-30, 0]].into_iter().any(|aside: [isize; 2]| {
        screen.point(window, [0, 1].map(|axis| place[axis].saturating_add_signed(aside[axis])));
        settled(take);
        let before = panel();
        screen.click();
        changed_soon(&before, panel).is_some()
    })
}

#[test]
fn without_a_display_the_remedy_is_named() {
    let stage = recorded();
    let done = Done::of(without_a_screen(&stage, "view drum.out"));
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("--browser") && !done.err.contains("panicked"), "{}", done.err);
}

#[test]
fn a_recording_cut_off_in_the_middle() {
    let _turn = turn();
    let stage = recorded();
    let (last, name) = (stage.path(&frame(FRAMES - 1)), "grains_000060.vtp");
    let bytes = std::fs::read(&last).unwrap();
    std::fs::write(&last, &bytes[..bytes.len() / 2]).unwrap();
    let done = Done::of(without_a_screen(&stage, "picture drum.out"));
    assert!([1, 2].contains(&done.code), "{} {}", done.code, done.err);
    assert!(done.err.contains(name) && !done.err.contains("panicked"), "{}", done.err);

    let mut browser = Browser::new(&stage.path("profile"));
    let mut viewer = Viewer::start(without_a_screen(&stage, "view drum.out --browser"));
    browser.visit(&viewer.address());
    browser.wait_until(SLIDER);
    browser.set(SLIDER, "control.max");
    browser.wait_until(&format!("window.seixo?.error?.includes('{name}')"));
    browser.set(SLIDER, "control.min");
    browser.wait_until(&format!("!window.seixo.error && window.seixo.count === {GRAINS}"));
    viewer.interrupt();
    assert_eq!(viewer.code(), Some(0), "{}", viewer.said());
    drop(browser);

    // A window starts with the frame before the damaged one, and shows the error in red.
    let screen = Screen::new();
    let mut viewer = Viewer::start(on(&screen, &stage, "view drum.out --size 960x600"));
    let window = screen.window("Seixo – ", "drum");
    let take = || screen.picture(window);
    wait_for_grains(&viewer, take);
    let panel = take().part([0.7, 1.0], [0.0, 0.3]);
    let is_red = |pixel: &[u8]| pixel[0] > pixel[1].max(pixel[2]).saturating_add(60);
    assert!(panel.rgb.chunks_exact(3).any(is_red), "nothing is said");
    screen.press(Q);
    assert_eq!(viewer.code(), Some(0), "{}", viewer.said());
}
