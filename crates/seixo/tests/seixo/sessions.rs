//! Scenes that a program steps itself.

use seixo::Scene;
use seixo::engine::state::{Column, GrainSnapshot};
use seixo::engine::world::Grains;
use seixo::files::checkpoint;
use seixo::files::layer::Disk;
use seixo::run::{Event, NoObserver, Options, RunError, Session, UserChange, start};
use std::path::Path;
use tempfile::TempDir;

/// An inlet fills a tube, a plate is removed after a probe has felt the grains, and a zone takes what falls.
const COURSE: &str = r#"
[run]
until = "60 ms"
time_step = "15 us"
threads = 1
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "5 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.4
friction = 0.4
[grains.rain]
material = "clay"
inlet = { through = { disc = { center = [0, 0, "3 cm"], normal = [0, 0, -1], radius = "12 mm" } }, rate = "0.1 kg/s", to = "30 ms", radius = "2 mm", velocity = [0, 0, "-0.8 m/s"] }
[grains.late]
material = "clay"
at = [["10 cm", 0, 0], ["10 cm", 0, "1 cm"]]
radius = "4 mm"
[wall.tube]
material = "clay"
cylinder = { from = [0, 0, "-1 mm"], to = [0, 0, "5 cm"], radius = "2 cm", segments = 24 }
[wall.plate]
material = "clay"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[zone.floor]
remove = true
region = { box = { min = ["-20 cm", "-20 cm", "-20 cm"], max = ["20 cm", "20 cm", "-1 cm"] } }
every = "1 ms"
[[stage]]
name = "fill"
until = "probe.plate.force_z < -1e-4 N or duration 40 ms"
[[stage]]
name = "open"
remove = ["wall.plate"]
add = ["grains.late"]
set = { gravity = [0, 0, "-12 m/s^2"] }
[output]
every = "10 ms"
energies_every = "10 ms"
[probe.plate]
wall_force = "plate"
every = "0.7 ms"
"#;

/// Balls in a box, into which a plate is pressed by a servo and a rod is moved.
const BOX: &str = r#"
[run]
until = "1 s"
time_step = "20 us"
threads = 1
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "5 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.4
friction = 0.4
[grains.balls]
material = "clay"
at = [
    ["-12 mm", "-6 mm", "4 mm"], ["-4 mm", "-6 mm", "4 mm"], ["4 mm", "-6 mm", "4 mm"], ["12 mm", "-6 mm", "4 mm"],
    ["-12 mm", "6 mm", "4 mm"], ["-4 mm", "6 mm", "4 mm"], ["4 mm", "6 mm", "4 mm"], ["12 mm", "6 mm", "4 mm"],
    ["-8 mm", "0 mm", "10 mm"], ["0 mm", "0 mm", "10 mm"], ["8 mm", "0 mm", "10 mm"],
]
radius = "3.5 mm"
[wall.tank]
material = "clay"
box = { min = ["-2 cm", "-12 mm", 0], max = ["2 cm", "12 mm", "8 cm"], open = ["top"] }
[wall.rod]
material = "clay"
cylinder = { from = [0, "-1 cm", "3 cm"], to = [0, "1 cm", "3 cm"], radius = "3 mm", segments = 12, caps = ["from", "to"] }
[wall.press]
material = "clay"
plane = { point = [0, 0, "5 cm"], normal = [0, 0, -1] }
motion = { servo = { force = "0.2 N", along = [0, 0, -1], velocity_limit = "0.2 m/s" } }
[output]
every = "1 s"
energies_every = "1 s"
"#;

/// Two balls without gravity, and one that is not in their group.
const SPACE: &str = r#"
[run]
until = "1 s"
time_step = "20 us"
threads = 1
[world]
gravity = [0, 0, 0]
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "5 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.4
friction = 0.4
[grains.balls]
material = "clay"
at = [[0, 0, 0], ["2 cm", 0, 0]]
radius = "4 mm"
[grains.other]
material = "clay"
at = [[0, "5 cm", 0]]
radius = "4 mm"
[wall.floor]
material = "clay"
plane = { point = [0, 0, "-50 cm"], normal = [0, 0, 1] }
[output]
every = "1 s"
energies_every = "1 s"
[probe.other]
position = 2
every = "0.1 ms"
"#;

fn scene(text: &str) -> Scene {
    seixo::scene::load_text(text, Path::new("scene.toml"), &[]).unwrap()
}

fn session(text: &str) -> Session {
    Session::new(scene(text)).unwrap_or_else(|error| panic!("{error}"))
}

fn steps(session: &mut Session, count: u64) {
    let taken = session.advance(count, None);
    assert_eq!(taken.unwrap_or_else(|error| panic!("{error}")), count);
}

fn grains(session: &Session) -> GrainSnapshot {
    session.simulation().snapshot()
}

fn resumed(path: &Path) -> Session {
    Session::resume(path, &[]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_session_reaches_the_state_of_a_run_with_the_same_lines_and_stages() {
    let folder = TempDir::new().unwrap();
    let run = folder.path().join("course.out");
    start(scene(COURSE), &run, Options::new(&mut NoObserver)).unwrap();
    let (_, header, state) = checkpoint::newest_valid(&Disk, &run.join("checkpoints")).unwrap();
    let mut whole = session(COURSE);
    let end = whole.steps_at_end();
    steps(&mut whole, end);
    assert_eq!((end, whole.digest().unwrap()), (header.steps, checkpoint::digest(&state)));
    let began = |session: &mut Session| -> Vec<(String, u64)> {
        let stages = session.events().into_iter().filter_map(|event| match event {
            Event::StageBegan { stage, steps, .. } => Some((stage, steps)),
            _ => None,
        });
        stages.collect()
    };
    let stages = began(&mut whole);
    assert_eq!(stages.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["fill", "open"]);
    assert_eq!(whole.stage(), Some("open"));
    let (names, lines) = whole.probe("plate").unwrap();
    let text: Vec<String> = [names.join(",")]
        .into_iter()
        .chain(
            lines
                .iter()
                .map(|line| line.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(",")),
        )
        .collect();
    let table = std::fs::read_to_string(run.join("probes/plate.csv")).unwrap();
    assert_eq!(table.lines().collect::<Vec<_>>(), text);

    // From a file in the middle of the first stage, and from the run folder.
    let (file, mut parts) = (folder.path().join("part.session"), session(COURSE));
    steps(&mut parts, 777);
    parts.save(&file).unwrap();
    let mut again = resumed(&file);
    steps(&mut again, end - 777);
    assert_eq!(again.digest().unwrap(), whole.digest().unwrap());
    assert_eq!(again.probe("plate").unwrap().1, lines_of(&whole));
    assert_eq!(began(&mut again), stages[1..]);
    let mut of_run = resumed(&run);
    assert_eq!(of_run.probe("plate").unwrap().1, lines_of(&whole));
    let mut of_file = resumed(&run.join("checkpoints/state.checkpoint"));
    for one in [&mut whole, &mut of_run, &mut of_file] {
        steps(one, 100);
    }
    assert_eq!(of_run.digest().unwrap(), whole.digest().unwrap());
    assert_eq!(of_file.digest().unwrap(), whole.digest().unwrap());
}

fn lines_of(session: &Session) -> Vec<Vec<f64>> {
    session.probe("plate").unwrap().1.to_vec()
}

/// Drives the rod, the box and the servo, as a program does at each of its cycles, from one cycle to another one.
fn drive(session: &mut Session, cycles: std::ops::Range<u32>) {
    for cycle in cycles {
        let (sin, cos) = (0.3 * f64::from(cycle)).sin_cos();
        session
            .change(UserChange::WallMotion {
                wall: "rod".into(),
                velocity: [0.1 * sin, 0.0, -0.05 * cos],
                angular_velocity: [0.0, 20.0 * cos, 1.0],
                about: None,
            })
            .unwrap();
        if cycle % 3 == 0 {
            session
                .change(UserChange::WallMotion {
                    wall: "tank".into(),
                    velocity: [0.02 * cos, 0.0, 0.0],
                    angular_velocity: [0.0; 3],
                    about: None,
                })
                .unwrap();
            let (wall, target) = ("press".into(), 0.3 + 0.1 * sin);
            session.change(UserChange::ServoTarget { wall, target }).unwrap();
        }
        steps(session, 7);
    }
}

#[test]
fn walls_that_a_program_moves_at_each_cycle_go_on_with_the_same_bits() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("box.session");
    let mut whole = session(BOX);
    drive(&mut whole, 0..120);
    let mut parts = session(BOX);
    drive(&mut parts, 0..61);
    parts.save(&file).unwrap();
    drop(parts);
    // The last change of each wall is enough: the rod, four faces and the bottom, and the servo.
    let (_, state) = checkpoint::read(&Disk, &file).unwrap();
    assert!(matches!(state.get("course/user_steps"), Some(Column::U64(steps)) if steps.len() == 7));
    let mut again = resumed(&file);
    drive(&mut again, 61..90);
    again.save(&file).unwrap();
    let mut again = resumed(&file);
    drive(&mut again, 90..120);
    assert_eq!(again.simulation().walls(), whole.simulation().walls());
    assert_eq!(again.digest().unwrap(), whole.digest().unwrap());
    // The rod was where the program drove it: it turned back and forth, and the servo pushed the plate down.
    let walls = whole.simulation().walls();
    let position = |name: &str| walls.iter().find(|wall| wall.name == name).unwrap().position;
    assert!(position("press")[2] < 0.049, "{:?}", position("press"));
    assert!((position("rod")[2] - 0.03).abs() > 1e-6, "{:?}", position("rod"));
}

#[test]
fn what_is_so_already_is_not_set_again() {
    let mut session = session(BOX);
    let go = |wall: &str, x: f64| UserChange::WallMotion {
        wall: wall.into(),
        velocity: [x, 0.0, 0.0],
        angular_velocity: [0.0; 3],
        about: None,
    };
    session.change(go("tank", 1e-3)).unwrap();
    steps(&mut session, 50);
    session.events();
    let (before, gravity) = (session.digest().unwrap(), session.simulation().gravity());
    session.change(go("tank", 1e-3)).unwrap();
    session.change(go("rod", 0.0)).unwrap();
    session.change(UserChange::Gravity { gravity }).unwrap();
    assert!(session.events().is_empty());
    assert_eq!(session.digest().unwrap(), before);
    // Another velocity, another axis, and the end of a servo are changes.
    session.change(go("tank", 2e-3)).unwrap();
    session.change(go("press", 0.0)).unwrap();
    session
        .change(UserChange::WallMotion {
            wall: "rod".into(),
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            about: Some([0.0, 0.0, 0.03]),
        })
        .unwrap();
    assert_eq!(session.events().len(), 3);
}

#[test]
fn walls_that_are_too_fast_for_the_time_step_are_refused() {
    let mut session = session(BOX);
    let before = session.digest().unwrap();
    let refused = session.change(UserChange::WallMotion {
        wall: "rod".into(),
        // A tenth of 3.5 mm in 20 us are 17.5 m/s.
        velocity: [0.0, 0.0, 18.0],
        angular_velocity: [0.0; 3],
        about: None,
    });
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("rod") && message.contains("0.1 of the smallest radius"),
        "{message}"
    );
    assert_eq!(session.digest().unwrap(), before);
    assert!(session.events().is_empty());
}

#[test]
fn walls_vanish_and_appear_and_gravity_turns_after_a_resume_too() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("box.session");
    let mut whole = session(BOX);
    let wall = "tank.bottom".to_owned();
    whole.change(UserChange::WallThere { wall, there: false }).unwrap();
    whole
        .change(UserChange::Gravity {
            gravity: [0.0, 0.0, -20.0],
        })
        .unwrap();
    steps(&mut whole, 100);
    whole.save(&file).unwrap();
    let mut again = resumed(&file);
    assert_eq!(again.simulation().gravity(), [0.0, 0.0, -20.0]);
    steps(&mut whole, 1400);
    steps(&mut again, 1400);
    assert_eq!(again.digest().unwrap(), whole.digest().unwrap());
    // 30 ms of free fall are 9 mm.
    let fallen = 0.004 - grains(&whole).position[0][2];
    assert!((fallen - 0.5 * 20.0 * 0.03_f64.powi(2)).abs() < 1e-4, "{fallen}");
    let wall = "tank.bottom".to_owned();
    let refused = whole.change(UserChange::WallThere { wall, there: true }).unwrap_err().to_string();
    assert!(refused.contains("tank.bottom"), "{refused}");
}

#[test]
fn steps_end_where_the_condition_is_met() {
    let mut session = session(SPACE);
    session
        .change(UserChange::GroupVelocity {
            group: "other".into(),
            velocity: [0.0, -1.0, 0.0],
        })
        .unwrap();
    let mut by_time = session.until("time > 1 ms").unwrap();
    assert_eq!(session.advance(1000, Some(&mut by_time)).unwrap(), 51);
    assert!(by_time.reason().unwrap().starts_with("time = "), "{:?}", by_time.reason());
    assert_eq!(session.advance(1000, Some(&mut by_time)).unwrap(), 0, "it is met still");
    let mut by_duration = session.until("duration 1 ms").unwrap();
    assert_eq!(session.advance(1000, Some(&mut by_duration)).unwrap(), 50);
    let mut by_probe = session.until("time > 2 s or probe.other.y < 45 mm").unwrap();
    // In parts, as a program that looks at something else in between.
    let mut taken = 0;
    while by_probe.reason().is_none() {
        taken += session.advance(13, Some(&mut by_probe)).unwrap();
    }
    let (names, lines) = session.probe("other").unwrap();
    assert_eq!(names, ["time [s]", "x [m]", "y [m]", "z [m]"]);
    let [.., before, last] = lines else { panic!("{lines:?}") };
    assert!(before[2] >= 0.045 && last[2] < 0.045, "{before:?} {last:?}");
    assert_eq!((session.simulation().time(), session.simulation().steps()), (last[0], 101 + taken));
    let mut by_speed = session.until("largest_speed < 1 mm/s").unwrap().every(0.0);
    session
        .change(UserChange::GroupVelocity {
            group: "other".into(),
            velocity: [0.0; 3],
        })
        .unwrap();
    assert_eq!(session.advance(1000, Some(&mut by_speed)).unwrap(), 1);
}

#[test]
fn groups_are_pushed_held_and_set_free() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("space.session");
    let mut session = session(SPACE);
    let group = || "balls".to_owned();
    let (force, mass) = ([0.0, 0.0, 0.02], grains(&session).mass[0]);
    session.change(UserChange::GroupForce { group: group(), force }).unwrap();
    steps(&mut session, 500);
    // A force of 0.02 N on both is 0.01 N on each, for 10 ms.
    let speed = 0.01 * 0.01 / mass;
    let now = grains(&session);
    assert!((now.velocity[0][2] / speed - 1.0).abs() < 1e-9 && (now.velocity[1][2] / speed - 1.0).abs() < 1e-9);
    assert_eq!(now.velocity[2], [0.0; 3]);
    session
        .change(UserChange::GroupMotion {
            group: group(),
            velocity: [0.1, 0.0, 0.0],
            angular_velocity: [0.0; 3],
            about: None,
        })
        .unwrap();
    let before = grains(&session).position[0];
    steps(&mut session, 500);
    session.save(&file).unwrap();
    let moved = grains(&session).position[0];
    assert!((moved[0] - before[0] - 1e-3).abs() < 1e-9 && (moved[2] - before[2]).abs() < 1e-12);
    let mut again = resumed(&file);
    for one in [&mut session, &mut again] {
        let force = [0.0; 3];
        one.change(UserChange::GroupForce { group: group(), force }).unwrap();
        one.change(UserChange::GroupFree { group: group() }).unwrap();
        steps(one, 500);
    }
    assert_eq!(again.digest().unwrap(), session.digest().unwrap());
    let free = grains(&session);
    assert!((free.position[0][0] - moved[0] - 1e-3).abs() < 1e-9 && (free.velocity[0][0] - 0.1).abs() < 1e-12);
    // Once more from a file, as they are free again.
    session.save(&file).unwrap();
    let mut again = resumed(&file);
    steps(&mut session, 100);
    steps(&mut again, 100);
    assert_eq!(again.digest().unwrap(), session.digest().unwrap());
}

#[test]
fn grains_are_inserted_and_removed() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("space.session");
    let mut session = session(SPACE);
    let (mut added, id) = (Grains::default(), session.simulation().next_id() as u32);
    added.push(id, [0.0, 0.0, 0.05], [0.0, 0.0, -1.0], [0.0; 3], 0.004, 0, 0);
    session.insert(&added).unwrap();
    session.remove(&[2]).unwrap();
    steps(&mut session, 100);
    assert_eq!(grains(&session).id, [0, 1, id]);
    session.save(&file).unwrap();
    let mut again = resumed(&file);
    // It hits the first ball.
    steps(&mut session, 2500);
    steps(&mut again, 2500);
    assert_eq!(again.digest().unwrap(), session.digest().unwrap());
    assert!(grains(&session).velocity[0][2] < -0.1);
    let refused = session.insert(&added).unwrap_err().to_string();
    assert!(refused.contains(&id.to_string()), "{refused}");
    let said: Vec<String> = session
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::UserAction { text, .. } => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["1 grains are added", "1 grains are removed"]);
}

#[test]
fn errors_name_what_is_unknown_and_what_there_is() {
    let mut session = session(BOX);
    let mut refused = |change: UserChange| {
        let error = session.change(change).unwrap_err();
        assert!(matches!(error, RunError::UserChange(_)) && error.is_input());
        error.to_string()
    };
    let wall = |wall: &str| UserChange::WallThere {
        wall: wall.into(),
        there: false,
    };
    let text = refused(wall("rodd"));
    assert!(text.starts_with("no wall is named `rodd`; did you mean `rod`?"), "{text}");
    assert!(text.contains("tank.left") && text.contains("press"), "{text}");
    let text = refused(UserChange::GroupFree { group: "ball".into() });
    assert_eq!(text, "no group of grains is named `ball`; groups of the scene: balls");
    let text = refused(UserChange::ServoTarget {
        wall: "rod".into(),
        target: 1.0,
    });
    assert!(text.contains("wall rod has no servo"), "{text}");
    let text = refused(UserChange::BodyVelocity {
        body: 3,
        velocity: [0.0; 3],
        angular_velocity: None,
    });
    assert_eq!(text, "no body has the id 3; there are no bodies");
    let text = refused(UserChange::Gravity {
        gravity: [0.0, f64::NAN, 0.0],
    });
    assert!(text.contains("not finite"), "{text}");
    let unknown = session.until("probe.lid.force_z > 1 N").map(|_| ()).unwrap_err();
    assert_eq!(unknown.list()[0].message, "no probe is named `lid`");
    assert!(session.until("wall_force.tank > 1 N and grains.balls < 3").is_ok());
    assert!(session.probe("lid").is_none());

    let folder = TempDir::new().unwrap();
    let file = folder.path().join("nothing.session");
    let text = Session::resume(&file, &[]).map(|_| ()).unwrap_err().to_string();
    assert!(text.contains("nothing.session"), "{text}");
    let text = Session::resume(folder.path(), &[]).map(|_| ()).unwrap_err().to_string();
    assert!(text.contains("is not a run folder"), "{text}");
    session.save(&file).unwrap();
    let changed = [("material.clay.density".to_owned(), "2000 kg/m^3".to_owned())];
    let text = Session::resume(&file, &changed).map(|_| ()).unwrap_err().to_string();
    assert!(text.contains("material.clay.density cannot change"), "{text}");
}

#[test]
fn a_session_resumes_without_the_files_that_its_scene_named() {
    let folder = TempDir::new().unwrap();
    let tables = TempDir::new().unwrap();
    let table = tables.path().join("balls.csv");
    std::fs::write(&table, "x[m],y[m],z[m]\n0,0,0.011\n0.1,0,0.02\n").unwrap();
    let text = r#"
[run]
until = "10 ms"
time_step = "20 us"
threads = 1
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "5 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.4
friction = 0.4
[grains.balls]
material = "clay"
file = "balls.csv"
radius = "1 cm"
[wall.floor]
material = "clay"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
"#;
    let scene = seixo::scene::load_text(text, &tables.path().join("scene.toml"), &[]).unwrap();
    assert_eq!(scene.files, std::slice::from_ref(&table));
    let mut whole = Session::new(scene).unwrap_or_else(|error| panic!("{error}"));
    steps(&mut whole, 300);
    let [first, second] = ["first.session", "second.session"].map(|name| folder.path().join(name));
    whole.save(&first).unwrap();
    steps(&mut whole, 300);
    // What stands there now is not what the session read.
    std::fs::write(&table, "x[m],y[m],z[m]\n0,0,0.5\n").unwrap();
    let mut changed = resumed(&first);
    drop(tables);
    changed.save(&second).unwrap();
    for mut again in [changed, resumed(&first), resumed(&second)] {
        steps(&mut again, 300);
        assert_eq!(again.digest().unwrap(), whole.digest().unwrap());
    }
}
