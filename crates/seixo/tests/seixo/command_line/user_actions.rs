//! Runs with a viewer that applies user actions, as a window does, but without a window.

use seixo::Scene;
use seixo::engine::Ranks;
use seixo::files::layer::{FaultyDisk, FileLayer};
use seixo::run::{Control, NoObserver, Options, Outcome, Record, resume, start};
use seixo::transport::Channels;
use seixo::view::live::{Live, RunControl, UserAction};
use seixo::view::{FrameSource, Particle, PictureOptions, Snapshot};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

const FOLDER: &str = "/watched.out";
/// Longest time of a request, on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time in which a run that is not paused takes many steps.
const MOMENT: Duration = Duration::from_millis(100);

/// Two balls in the air, 0.1 m above a floor, and one with a fixed position there.
const BALLS: &str = r#"
[run]
until = 600
threads = 1
[world]
gravity = [0, 0, -10]
[material.clay]
density = 2500
youngs_modulus = 1e7
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.5
friction = 0.4
[grains.balls]
material = "clay"
at = [[0, 0, 0.1], [0.1, 0, 0.1]]
radius = 0.01
[grains.held]
material = "clay"
at = [[0, 0.1, 0.1]]
radius = 0.01
fixed = true
[wall.floor]
material = "clay"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[output]
every = 600
energies_every = 600
"#;
const FIRST: [f64; 3] = [0.0, 0.0, 0.1];
const HELD: [f64; 3] = [0.0, 0.1, 0.1];

fn scene(overrides: &[(&str, &str)]) -> Scene {
    let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    seixo::scene::load_text(BALLS, Path::new("balls.toml"), &overrides).unwrap()
}

fn meeting_place(stays: bool) -> Arc<Live> {
    Arc::new(Live::new("balls".to_owned(), FOLDER.into(), stays))
}

/// A run and its viewer.
struct Watched {
    live: Arc<Live>,
    control: Control,
    disk: FaultyDisk,
    running: JoinHandle<Result<Record, String>>,
}

impl Watched {
    /// Starts a run with these settings of the run control. If `stays` is true, viewers may stay after its end.
    fn begin(overrides: &[(&str, &str)], stays: bool, set: impl FnOnce(&RunControl)) -> Watched {
        let (scene, live) = (scene(overrides), meeting_place(stays));
        set(live.run_control());
        let (control, disk) = (Control::default(), FaultyDisk::new());
        let (viewers, asked, layer) = (live.clone(), control.clone(), disk.clone());
        let running = spawn(move || {
            let mut no_one = NoObserver;
            let options = Options {
                layer: &layer,
                control: asked,
                viewers: Some(viewers),
                ..Options::new(&mut no_one)
            };
            let ran = start(scene, Path::new(FOLDER), options);
            ran.map(|ending| ending.record).map_err(|error| error.to_string())
        });
        Watched {
            live,
            control,
            disk,
            running,
        }
    }

    /// Starts a run that is paused before its first step.
    fn paused() -> Watched {
        Watched::begin(&[], false, |run_control| run_control.pause(true))
    }

    fn run_control(&self) -> &RunControl {
        self.live.run_control()
    }

    fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(
                begun.elapsed() < PATIENCE && !self.running.is_finished(),
                "it does not come to be: {what}"
            );
            sleep(Duration::from_millis(2));
        }
    }

    /// Returns the next frame after `seen`, or the reason why there is none.
    fn look(&self, options: &PictureOptions, seen: Option<u64>) -> Result<Arc<Snapshot>, String> {
        let begun = Instant::now();
        loop {
            match self.live.frame(options, seen) {
                Ok(Some(snapshot)) => return Ok(snapshot),
                Ok(None) => assert!(begun.elapsed() < PATIENCE, "no frame after {seen:?}"),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn frame(&self, seen: Option<u64>) -> Arc<Snapshot> {
        self.look(&PictureOptions::default(), seen).unwrap()
    }

    /// Whether there is no frame after this one.
    fn has_nothing_after(&self, seen: u64) -> bool {
        self.live.frame(&PictureOptions::default(), Some(seen)).unwrap().is_none()
    }

    /// Returns the events so far.
    fn log(&self) -> Vec<Value> {
        let bytes = self.disk.read(&Path::new(FOLDER).join("log.jsonl")).unwrap_or_default();
        let lines = String::from_utf8(bytes).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the user actions so far: steps and descriptions.
    fn user_actions(&self) -> Vec<(u64, String)> {
        let log = self.log().into_iter().filter(|line| line["event"] == "user_action");
        log.map(|line| (line["steps"].as_u64().unwrap(), line["text"].as_str().unwrap().to_owned()))
            .collect()
    }

    /// Returns the result of the run.
    fn ending(self) -> Result<Record, String> {
        self.running.join().unwrap()
    }

    /// Stops the run and returns its result.
    fn stop(self) -> Result<Record, String> {
        self.control.stop.store(true, Ordering::Relaxed);
        self.ending()
    }
}

fn center(snapshot: &Snapshot, id: u32) -> [f64; 3] {
    let place = snapshot.id.iter().position(|&known| known == id).unwrap();
    snapshot.center(&snapshot.balls[place]).to_array()
}

fn is_near(a: [f64; 3], b: [f64; 3], by: f64) -> bool {
    (0..3).all(|axis| (a[axis] - b[axis]).abs() < by)
}

/// Returns the id of the grain at this position.
fn grain_at(snapshot: &Snapshot, place: [f64; 3]) -> u32 {
    let mut ids = snapshot.id.iter().copied();
    ids.find(|&id| is_near(center(snapshot, id), place, 1e-6)).unwrap()
}

/// Returns the third number in a text.
fn third_number(text: &str) -> f64 {
    let words = text.split([',', ' ', ']']);
    let mut numbers = words.filter_map(|word| word.parse().ok());
    numbers.nth(2).unwrap_or_else(|| panic!("{text}"))
}

/// Returns the velocity of a grain along z \[m/s\], from the details of this grain in this state of the run.
fn upwards(run: &Watched, id: u32, number: u64) -> f64 {
    let (begun, particle) = (Instant::now(), Particle { id, is_grain: true });
    let details = loop {
        match run.live.details(number, particle) {
            Ok(details) => break details,
            // The answer may take a quarter of a second.
            Err(late) => assert!(begun.elapsed() < PATIENCE, "{late}"),
        }
    };
    let velocity = details.values.iter().find(|(name, _)| name == "velocity");
    third_number(&velocity.unwrap().1)
}

#[test]
fn one_that_stands_still_takes_as_many_steps_as_it_is_reported_to_and_shows_itself() {
    let run = Watched::paused();
    let first = run.frame(None);
    assert_eq!((first.number, first.time, first.grains), (0, 0.0, 3));
    sleep(MOMENT);
    assert!(run.has_nothing_after(0));
    run.run_control().step(3);
    run.wait_until("three steps", || run.run_control().status().steps == 3);
    sleep(MOMENT);
    assert_eq!(run.run_control().status().steps, 3);
    let mut last = run.frame(Some(0));
    while last.number < 3 {
        last = run.frame(Some(last.number));
    }
    assert!(run.has_nothing_after(3));
    let record = run.stop().unwrap();
    assert_eq!((record.steps, record.result), (3, Outcome::Interrupted));
    assert!((last.time - 3.0 * record.time_step.value).abs() < 1e-12, "{}", last.time);
}

#[test]
fn gravity_that_was_turned_is_in_the_log_and_lasts() {
    const TURNED: [f64; 3] = [0.0, 5.0, -8.0];
    let run = Watched::paused();
    assert_eq!(run.frame(None).number, 0);
    run.run_control().reach_in(UserAction::Gravity(TURNED));
    assert_eq!(run.frame(Some(0)).number, 1, "another state at the same step");
    run.wait_until("gravity is reported", || run.run_control().status().gravity == TURNED);
    assert_eq!(run.user_actions(), [(0, "gravity is [0, 5, -8] m/s^2 by hand".to_owned())]);
    let disk = run.disk.clone();
    assert_eq!(run.stop().unwrap().result, Outcome::Interrupted);

    let (live, mut no_one) = (meeting_place(false), NoObserver);
    let options = Options {
        layer: &disk,
        viewers: Some(live.clone()),
        ..Options::new(&mut no_one)
    };
    let overrides = [("run.until".to_owned(), "0.02".to_owned())];
    let record = resume(Path::new(FOLDER), &overrides, options).unwrap().record;
    assert_eq!(record.result, Outcome::Finished);
    assert_eq!(live.run_control().status().gravity, TURNED);
}

#[test]
fn a_push_gives_the_speed_that_it_says() {
    let run = Watched::paused();
    let first = run.frame(None);
    let id = grain_at(&first, FIRST);
    assert_eq!(upwards(&run, id, 0), 0.0);
    run.run_control().reach_in(UserAction::Push {
        id,
        along: [0.0, 0.0, 1.0],
    });
    let number = run.frame(Some(0)).number;
    let found = upwards(&run, id, number);
    assert!((found.powi(2) / (2.0 * 9.81) - 0.08).abs() < 1e-5, "eight radii: {found}");
    let reported = run.user_actions();
    assert!(reported.len() == 1 && reported[0].1.contains("pushed"), "{reported:?}");
    let said = third_number(reported[0].1.split('[').nth(1).unwrap());
    assert!((said - found).abs() < 1e-5, "{reported:?}");
    run.stop().unwrap();
}

#[test]
fn a_handful_that_is_dropped_is_seen_at_once_and_stays() {
    let run = Watched::paused();
    let before = run.frame(None);
    run.run_control().reach_in(UserAction::Drop);
    let after = run.frame(Some(before.number));
    assert_eq!((after.grains, after.time), (3 + 18, 0.0));
    let mut ids = after.id.clone();
    ids.sort_unstable();
    assert_eq!(ids, (0..21).collect::<Vec<u32>>());
    assert!(before.id.iter().all(|&id| is_near(center(&after, id), center(&before, id), 1e-6)));
    assert_eq!(run.run_control().status().steps, 0);
    assert_eq!(run.stop().unwrap().grains, 21);
}

#[test]
fn what_is_drawn_along_comes_to_its_place_and_is_held_there_until_it_is_let_go() {
    let to = [0.02, 0.0, 0.12];
    let run = Watched::paused();
    run.run_control().set_rate(Some(1.0));
    let mut seen = run.frame(None);
    let id = grain_at(&seen, FIRST);
    run.run_control().reach_in(UserAction::Drag { id, to, within: 0.01 });
    run.run_control().pause(false);
    let is_there = |snapshot: &Snapshot| is_near(center(snapshot, id), to, 2e-3);
    while !is_there(&seen) {
        assert!(seen.time < 1.0, "{:?}", center(&seen, id));
        seen = run.frame(Some(seen.number));
    }
    let since = seen.time;
    while seen.time < since + 0.2 {
        seen = run.frame(Some(seen.number));
        assert!(is_there(&seen), "{:?}", center(&seen, id));
    }
    run.run_control().reach_in(UserAction::LetGo);
    while center(&seen, id)[2] > 0.08 {
        assert!(seen.time < since + 2.0, "{:?}", center(&seen, id));
        seen = run.frame(Some(seen.number));
    }
    let reported = run.user_actions();
    assert!(reported.len() == 1 && reported[0].1.contains("drawn along"), "{reported:?}");
    run.stop().unwrap();
}

#[test]
fn what_is_held_is_not_moved_by_hand_and_that_is_said() {
    let run = Watched::paused();
    let first = run.frame(None);
    let id = grain_at(&first, HELD);
    run.run_control().reach_in(UserAction::Push {
        id,
        along: [0.0, 0.0, 1.0],
    });
    run.wait_until("a word of it", || run.user_actions().len() == 1);
    assert!(run.has_nothing_after(0), "nothing was done");
    run.run_control().reach_in(UserAction::Drag {
        id,
        to: FIRST,
        within: 0.05,
    });
    run.run_control().pause(false);
    run.wait_until("steps", || run.run_control().status().steps > 200);
    let last = run.frame(None);
    assert!(is_near(center(&last, id), HELD, 1e-9), "{:?}", center(&last, id));
    let reported = run.user_actions();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(
        reported
            .iter()
            .all(|(_, text)| text.contains("cannot be moved") && text.contains("is held")),
        "{reported:?}"
    );
    run.stop().unwrap();
}

#[test]
fn simulated_time_that_is_held_to_wall_time_is_not_ahead_of_it() {
    let begun = Instant::now();
    let run = Watched::begin(&[("run.until", "0.5")], false, |run_control| run_control.set_rate(Some(1.0)));
    let record = run.ending().unwrap();
    let passed = begun.elapsed().as_secs_f64();
    assert_eq!(record.result, Outcome::Finished);
    assert!(passed > 0.45, "half a second took {passed} s");
    let share = record.real_time_ratio.expect("it was held to wall time");
    assert!(0.0 < share && share <= 1.0, "{share}");
}

#[test]
fn one_that_is_over_is_looked_at_until_everybody_leaves() {
    let run = Watched::begin(&[("run.until", "0.01")], true, |_| {});
    run.wait_until("the end", || run.run_control().status().is_over);
    assert_eq!(run.run_control().failure(), None);
    assert_eq!(run.log().last().unwrap()["event"], "finished");
    assert!((run.frame(None).time - 0.01).abs() < 1e-3);
    let record = run.stop().unwrap();
    assert_eq!((record.result, record.real_time_ratio), (Outcome::Finished, None));
}

#[test]
fn one_that_failed_is_looked_at_and_says_why() {
    let run = Watched::begin(&[], true, |run_control| run_control.reach_in(UserAction::Gravity([0.0, 0.0, -1e9])));
    run.wait_until("its failure", || run.run_control().failure().is_some());
    assert!(run.run_control().status().is_over);
    assert_eq!(run.log().last().unwrap()["event"], "failed");
    assert_eq!(run.frame(None).grains, 3);
    let reported = run.run_control().failure().unwrap();
    assert_eq!(run.stop().unwrap_err(), reported);
}

#[test]
fn the_fields_are_the_same_whatever_is_shown_and_no_other_is_looked_for() {
    let by = |field: &str| PictureOptions {
        field: Some(field.to_owned()),
        ..PictureOptions::default()
    };
    let run = Watched::paused();
    let [preview, full] = ["speed", "force_x"].map(|field| run.look(&by(field), None).unwrap());
    assert_eq!(preview.fields, full.fields);
    let has = |field: &str| full.fields.iter().any(|known| known == field);
    assert!(has("speed") && has("force_x") && has("body") && !has("temperature") && !has("pressure"));
    let refused = run.look(&by("phase_of_the_moon"), None).unwrap_err();
    assert!(refused.contains("phase_of_the_moon") && refused.contains("force_x"), "{refused}");
    run.stop().unwrap();
}

#[test]
fn one_of_several_ranks_is_not_looked_at() {
    let (disk, mut no_one) = (FaultyDisk::new(), NoObserver);
    let options = Options {
        layer: &disk,
        viewers: Some(meeting_place(false)),
        ranks: Some(Ranks::new(Box::new(Channels::all(2).swap_remove(0)))),
        ..Options::new(&mut no_one)
    };
    let refused = start(scene(&[]), Path::new(FOLDER), options).unwrap_err();
    let reported = refused.to_string();
    assert!(
        refused.is_input() && reported.contains("2 ranks") && reported.contains("seixo view /watched.out"),
        "{reported}"
    );
    assert!(!disk.exists(Path::new(FOLDER)).unwrap());
}
