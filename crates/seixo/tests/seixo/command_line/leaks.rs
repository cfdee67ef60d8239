//! Fluid that leaks through walls.

use crate::command_line::stage::Stage;

/// Water in a pipe with an open lower end: 10 × 10 particles, in a plane.
const PIPE: &str = r#"
[run]
until = "0.4 s"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[fluid.water]
density = "1000 kg/m^3"
fill = { box = { min = [0, "-5 cm", "10 cm"], max = ["10 cm", "5 cm", "20 cm"] } }
spacing = "1 cm"
plane = "xz"
[wall.pipe]
box = { min = [0, "-5 cm", 0], max = ["10 cm", "5 cm", "30 cm"], open = ["top", "bottom"] }
slip = "free"
[output]
every = "50 ms"
"#;

/// Returns the messages of a run about leaks.
fn leaks(name: &str, scene: &str) -> Vec<String> {
    let stage = Stage::new();
    stage.write(&format!("{name}.toml"), scene);
    let done = stage.succeed(&format!("run {name}.toml --threads 1"));
    let reported = format!("{}{}", done.out, done.err);
    reported
        .lines()
        .filter(|line| line.contains("below all walls"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_leak_is_reported_with_a_particle_and_its_place_at_once_and_at_the_end() {
    let reported = leaks("pipe", PIPE);
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(
        reported[0].contains("of fluid \"water\" is at (0.") && !reported[0].contains("and 99 more"),
        "{reported:?}"
    );
    // In 0.4 s all particles fall by 78 cm, out of a height of 30 cm.
    assert!(
        reported[1].contains("particle 0 of fluid \"water\"") && reported[1].contains("and 99 more"),
        "{reported:?}"
    );
}

#[test]
fn fluid_that_walls_hold_without_particles_leaks_as_well() {
    let reported = leaks("thrown", &PIPE.replace("plane = \"xz\"", "solver = \"muller2003\""));
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(
        reported[1].contains("of fluid \"water\"") && reported[1].contains("and 999 more"),
        "{reported:?}"
    );
}

#[test]
fn what_is_held_or_taken_away_does_not_leak() {
    let held = PIPE
        .replace("open = [\"top\", \"bottom\"]", "open = [\"top\"]")
        .replace("\"0.4 s\"", "\"0.1 s\"");
    assert_eq!(leaks("held", &held), Vec::<String>::new());
    let domain = "domain = { min = [-1, -1, \"-10 cm\"], max = [1, 1, 1] }\nleaving = \"delete\"\ngravity";
    assert_eq!(leaks("taken", &PIPE.replace("gravity", domain)), Vec::<String>::new());
}
