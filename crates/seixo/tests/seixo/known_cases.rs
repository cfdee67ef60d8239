//! Small scenes whose outcome is known from mechanics. The program runs them, and the tests read its tables and frames.

use crate::stage::Stage;
use seixo::files::vtk;
use serde_json::Value;
use std::f64::consts::{PI, TAU};

/// Returns the times of a probe \[s\], each with the value of another column of its table.
fn over_time(stage: &Stage, run: &str, probe: &str, column: usize) -> Vec<[f64; 2]> {
    let table = stage.read(&format!("{run}/probes/{probe}.csv"));
    let row = |line: &str| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        [cells[0], cells[column]]
    };
    table.lines().skip(1).map(row).collect()
}

/// Returns the mean of the values after a time.
fn mean_after(start: f64, values: &[[f64; 2]]) -> f64 {
    let late: Vec<f64> = values.iter().filter(|[time, _]| *time > start).map(|[_, value]| *value).collect();
    late.iter().sum::<f64>() / late.len() as f64
}

/// Returns the velocities between the rows of a probe, from its values.
fn velocities(values: &[[f64; 2]]) -> Vec<f64> {
    let velocity = |pair: &[[f64; 2]]| (pair[1][1] - pair[0][1]) / (pair[1][0] - pair[0][0]);
    values.windows(2).map(velocity).collect()
}

#[test]
fn a_ball_that_melts_while_it_turns_keeps_its_angular_momentum() {
    let stage = Stage::new();
    stage.write("ball.toml", include_str!("known_cases/melting-ball.toml"));
    stage.succeed("run ball.toml --quiet --threads 1");
    let drop = vtk::read_fluid(&stage.path("ball.out/fields/fluid_000013.vtp")).unwrap();
    assert!((drop.time - 0.13).abs() < 1e-3, "{} s", drop.time);
    // A particle is 1 cm³ of 1000 kg/m³. The fluid far away is at rest, and adds nothing.
    let particles = drop.particles.position.iter().zip(&drop.particles.velocity);
    let angular_momentum: f64 = particles
        .map(|(at, velocity)| 1e-3 * (at[0] * velocity[1] - at[1] * velocity[0]))
        .sum();
    // 2/5 m R² ω of the solid ball.
    let solid = 0.4 * (1000.0 * 4.0 / 3.0 * PI * 0.08_f64.powi(3)) * 0.08 * 0.08 * 0.5;
    // Frames have single precision, which rounds each term by some 1e-7 at most. With viscous forces that are not along the line between
    // two particles, less than half of the angular momentum is left at this time.
    let share = angular_momentum / solid;
    assert!((share - 1.0).abs() < 1e-7, "{share}");
}

/// A ring around the y axis, 3 cm wide, as OBJ. It ends 0.3 mm before cylinders of 5 and 10 cm.
fn ring() -> String {
    let count = 240;
    let mut text = String::new();
    for k in 0..count {
        let (sin, cos) = (TAU * f64::from(k) / f64::from(count)).sin_cos();
        for [radius, y] in [[0.0503, -0.015], [0.0997, -0.015], [0.0997, 0.015], [0.0503, 0.015]] {
            text += &format!("v {} {y} {}\n", radius * cos, radius * sin);
        }
    }
    for k in 0..count {
        let [here, next] = [k, (k + 1) % count].map(|k| 4 * k + 1);
        for side in 0..4 {
            let other = (side + 1) % 4;
            text += &format!("f {} {} {} {}\n", here + side, here + other, next + other, next + side);
        }
    }
    text
}

#[test]
fn syrup_between_two_cylinders_bears_the_same_torque_on_both() {
    let stage = Stage::new();
    stage.write("ring.obj", &ring());
    stage.write("cylinders.toml", include_str!("known_cases/turning-cylinder.toml"));
    stage.succeed("run cylinders.toml --quiet --threads 1");
    // 4πμΩ R₁² R₂²/(R₂² − R₁²) for each meter [Landau 1987].
    let expected = 4.0 * PI * (0.05_f64 * 0.1).powi(2) / (0.1_f64.powi(2) - 0.05_f64.powi(2));
    // Viscosity crosses the gap in 0.25 s, so exp(−6) of the start is left after 1.5 s. The fluid starts on a cubic lattice, which is
    // uneven beside a round wall. So both torques are 2 to 3 % too large at this spacing, and 1 % at 2.5 mm. A viscous force that resists
    // rigid rotation gives 0.6 of the torque on the inner cylinder.
    for (wall, sign) in [("inner", -1.0), ("outer", 1.0)] {
        let torque = mean_after(1.5, &over_time(&stage, "cylinders.out", wall, 2));
        let share = sign * torque / expected;
        assert!((share - 1.0).abs() < 0.05, "{wall}: {share}");
    }
}

#[test]
fn water_lifts_a_fixed_ball_and_a_free_one_by_the_weight_of_their_volume() {
    let stage = Stage::new();
    stage.write("balls.toml", include_str!("known_cases/balls-in-water.toml"));
    stage.succeed("run balls.toml --quiet --threads 1");
    let lift = 4.0 / 3.0 * PI * 0.04_f64.powi(3) * 1000.0 * 9.81;
    let frame = vtk::read_grains(&stage.path("balls.out/fields/grains_000015.vtp")).unwrap();
    let (_, forces, _) = frame.scalars.iter().find(|(name, ..)| name == "force").unwrap();
    // Grains are in the order of the names of their groups.
    for (grain, group) in ["free", "held"].into_iter().enumerate() {
        // The water oscillates with a period of some 50 ms, and the mean is over two periods. The tolerance is for the resolution: the
        // radius of a ball is two spacings. The lift of the fixed ball is 2 % too small.
        let [sideways, upward] = [1, 3].map(|column| mean_after(0.05, &over_time(&stage, "balls.out", group, column)) / lift);
        assert!(
            (upward - 1.0).abs() < 0.05 && sideways.abs() < 0.01,
            "{group}: {upward}, {sideways}"
        );
        // The frame has the force of the probe, in single precision.
        let &[time, last] = over_time(&stage, "balls.out", group, 3).last().unwrap();
        assert!((time - frame.time).abs() < 1e-9, "{time} s, {} s", frame.time);
        assert!((forces[3 * grain + 2] / last - 1.0).abs() < 1e-6, "{group}: {forces:?}, {last} N");
    }
}

/// Spheres with a radius of 1 cm whose union is a box of 16 cm by 12 cm, as a table. The lowest row comes first.
fn box_of_spheres() -> String {
    let mut table = "x[m] y[m] z[m] radius[m]\n".to_owned();
    for z in -5..=5 {
        for x in -7..=7 {
            table += &format!("{} 0 {} 0.01\n", 0.01 * f64::from(x), 0.01 * f64::from(z));
        }
    }
    table
}

#[test]
fn a_floating_box_of_whole_spacings_that_starts_upright_stays_upright() {
    let stage = Stage::new();
    stage.write("box.csv", &box_of_spheres());
    stage.write("box.toml", include_str!("known_cases/upright-box.toml"));
    stage.succeed("run box.toml --quiet --threads 1");
    let [left, right] = ["left", "right"].map(|probe| over_time(&stage, "box.out", probe, 3));
    assert!(left.len() > 40, "{}", left.len());
    for ([time, left], [_, right]) in left.iter().zip(&right) {
        // The ends of the lowest row. Tank, water and box are symmetric, so only rounding turns it. A row of boundary particles on one side alone
        // would turn it by many degrees: its metacenter is only 5.6 mm above its center.
        let angle = (right - left).atan2(0.14).to_degrees();
        assert!(angle.abs() < 0.1, "{angle}° at {time} s");
    }
}

#[test]
fn a_ball_goes_the_same_way_far_from_the_origin() {
    let stage = Stage::new();
    let scene = include_str!("known_cases/far-from-the-origin.toml");
    let track = |name: &str, [x, y]: [f64; 2]| {
        let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        let vertices: String = corners.iter().map(|[a, b]| format!("v {} {} 0\n", x + a, y + b)).collect();
        stage.write("floor.obj", &format!("{vertices}f 1 2 3\nf 1 3 4\n"));
        stage.write(
            &format!("{name}.toml"),
            &scene.replace("500000.0, 4500000.0", &format!("{x:?}, {y:?}")),
        );
        stage.succeed(&format!("run {name}.toml --quiet --threads 1"));
        [(1, x), (2, y), (3, 0.0)].map(|(column, origin)| {
            let way = over_time(&stage, &format!("{name}.out"), "ball", column);
            way.into_iter().map(|[_, place]| place - origin).collect::<Vec<f64>>()
        })
    };
    let (near, far) = (track("near", [0.0, 0.0]), track("far", [5e5, 4.5e6]));
    let way = near[0].last().unwrap();
    assert!(*way > 0.1, "{way} m");
    for (axis, (near, far)) in near.iter().zip(&far).enumerate() {
        let apart = near.iter().zip(far).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Double precision rounds 500 km by 3e-11 m in each of the 15,000 steps.
        assert!(near.len() == far.len() && apart < 5e-7, "axis {axis}: {apart} m apart");
    }
    // Single precision rounds these coordinates to half a meter.
    let refused = stage.seixo("check far.toml --device gpu --precision f32");
    assert!(refused.code == 2 && refused.err.contains("--precision mixed"), "{}", refused.err);
}

#[test]
fn balls_lie_on_both_solids_of_a_text_stl() {
    let stage = Stage::new();
    stage.write("floor.stl", include_str!("known_cases/floor-of-two-solids.stl"));
    stage.write("floor.toml", include_str!("known_cases/floor-of-two-solids.toml"));
    stage.succeed("run floor.toml --quiet --threads 1");
    // The overlap at which a contact of Hertz bears the weight: F = 4/3 E* √R δ^1.5, E* = E/(2(1 − ν²)).
    let (radius, effective) = (5e-3_f64, 5e6 / (2.0 * (1.0 - 0.3 * 0.3)));
    let weight = 2500.0 * 4.0 / 3.0 * PI * radius.powi(3) * 9.81;
    let overlap = (0.75 * weight / (effective * radius.sqrt())).powf(2.0 / 3.0);
    for ball in ["left", "right"] {
        let &[_, height] = over_time(&stage, "floor.out", ball, 3).last().unwrap();
        // Bounces have died down by now: with this restitution the fourth one is below a micrometer.
        let share = (radius - height) / overlap;
        assert!((share - 1.0).abs() < 0.01, "{ball}: {height} m");
    }
}

#[test]
fn a_ball_bounces_off_a_step_behind_a_periodic_side() {
    let stage = Stage::new();
    stage.write("step.obj", include_str!("known_cases/step.obj"));
    stage.write("step.toml", include_str!("known_cases/step-at-a-periodic-side.toml"));
    stage.succeed("run step.toml --quiet --threads 1");
    let [x, z] = [1, 3].map(|column| over_time(&stage, "step.out", "ball", column));
    // The edge of the image is at x = 5 cm, 1.5 mm above the floor. A frontal impact at 0.2 m/s without damping would have an overlap of
    // 0.15 mm [Johnson 1985]. This one is oblique and damped.
    let nearest = x
        .iter()
        .zip(&z)
        .map(|([_, x], [_, z])| (x - 0.05).hypot(z - 0.0015))
        .fold(1.0, f64::min);
    assert!((4.85e-3..5e-3).contains(&nearest), "{nearest} m from the edge");
    // Only gravity gives it energy: it starts 12 µm above its height at rest, which is worth 0.3 % of its speed.
    let (along, up) = (velocities(&x), velocities(&z));
    let fastest = along.iter().zip(&up).map(|(x, z)| x.hypot(*z)).fold(0.0, f64::max);
    assert!(fastest < 0.2 * 1.005, "{fastest} m/s");
    // It comes back, and slower than it went.
    let back = along.last().unwrap();
    assert!((-0.2..-0.05).contains(back), "{back} m/s");
}

#[test]
fn a_box_loses_its_lid_when_a_ball_hits_its_bottom_and_the_ball_leaves() {
    let stage = Stage::new();
    stage.write("box.toml", include_str!("known_cases/opened-box.toml"));
    stage.succeed("run box.toml --quiet --threads 1");
    let height = over_time(&stage, "box.out", "ball", 3);
    let velocity = velocities(&height);
    // It comes with 5 m/s, and the restitution is 0.5. The impact lasts 0.2 ms, only some forty steps.
    let rebound = *velocity.last().unwrap();
    assert!((rebound / 2.5 - 1.0).abs() < 0.02, "{rebound} m/s");
    // The lid was at 10 cm.
    let &[_, end] = height.last().unwrap();
    assert!(end > 0.11, "{end} m");
    // The impulse on the bottom is the change of momentum of the ball. The impact has ten rows of the table: their sum is off by some
    // thousandths.
    let force = over_time(&stage, "box.out", "bottom", 3);
    let impulse: f64 = force
        .windows(2)
        .map(|pair| 0.5 * (pair[0][1] + pair[1][1]) * (pair[1][0] - pair[0][0]))
        .sum();
    let momentum = 2500.0 * 4.0 / 3.0 * PI * 1e-9 * (5.0 + rebound);
    assert!((-impulse / momentum - 1.0).abs() < 0.01, "{impulse} N s of {momentum}");
}

/// Asserts that lists were rebuilt about once each time that a grain had moved half of the skin \[m\]. Grains fall from rest for a time \[s\], and a wall
/// moves at this speed \[m/s\]: both may use up the skin.
fn assert_rebuilt_as_grains_move(record: &Value, skin: f64, time: f64, speed: f64) {
    let (rebuilds, steps) = (record["rebuilds"].as_f64().unwrap(), record["steps"].as_f64().unwrap());
    let fallen = 0.5 * 9.81 * time * time;
    let most = (fallen + 2.0 * speed * time) / (0.5 * skin);
    // Grains that others hit are faster for a while. Damping, and grains that soon lie, make rebuilds rarer.
    assert!(
        (0.25 * most..2.0 * most).contains(&rebuilds),
        "{rebuilds} rebuilds in {steps} steps, {most}"
    );
    assert!(rebuilds < 0.05 * steps, "{rebuilds} rebuilds in {steps} steps");
}

#[test]
fn smooth_grains_of_many_sizes_have_lists_that_last_and_take_less_memory_than_rough_ones() {
    let stage = Stage::new();
    let scene = include_str!("known_cases/smooth-grains-of-many-sizes.toml");
    stage.write("smooth.toml", scene);
    let rough = "tangential = \"linear\"\nfriction = 0.3";
    stage.write("rough.toml", &scene.replace("tangential = \"none\"", rough));
    let [smooth, rough] = ["smooth", "rough"].map(|name| {
        stage.succeed(&format!("run {name}.toml --quiet --threads 1"));
        stage.record(&format!("{name}.out"))
    });
    for record in [&smooth, &rough] {
        assert_rebuilt_as_grains_move(record, 0.2e-3, 20e-3, 0.0);
    }
    let bytes = |record: &Value| record["bytes_per_particle"].as_f64().unwrap();
    assert!(bytes(&smooth) < bytes(&rough), "{} and {} bytes", bytes(&smooth), bytes(&rough));
    // A search by cells at every step took five times as long.
    let notice = "searched at every step";
    assert!(!stage.succeed("check smooth.toml").out.contains(notice));
}

#[test]
fn lists_in_a_drum_are_rebuilt_as_seldom_as_its_grains_move_half_of_the_skin() {
    let stage = Stage::new();
    stage.write("drum.toml", include_str!("known_cases/small-drum.toml"));
    stage.succeed("run drum.toml --quiet --threads 1");
    let speed = 12.0 / 60.0 * TAU * 0.05;
    assert_rebuilt_as_grains_move(&stage.record("drum.out"), 0.4e-3, 50e-3, speed);
}
