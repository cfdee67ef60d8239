//! Probes: tables that agree with the energy ledger, with each other, and with mechanics.

use crate::command_line::rows;
use crate::command_line::stage::Stage;

/// Fifty grains in a drum that turns and on a belt that runs, both with every step logged.
const DRUM: &str = r#"
title = "Drum and belt"
[run]
until = "60 ms"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "2 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.5
friction = 0.5
[grains.bed]
material = "clay"
[grains.bed.fill]
region = { box = { min = ["-12 mm", "-8 mm", "-14 mm"], max = ["12 mm", "8 mm", "6 mm"] } }
count = 50
radius = "2 mm"
[grains.freight]
material = "clay"
at = [[0, 0, "-48 mm"], [0, "1 cm", "-48 mm"]]
radius = "2 mm"
[wall.drum]
material = "clay"
cylinder = { from = [0, "-1 cm", 0], to = [0, "1 cm", 0], radius = "2 cm", segments = 24, caps = ["from", "to"] }
motion = { rotate = "15 rad/s", axis = [0, 1, 0], through = [0, 0, 0] }
[wall.belt]
material = "clay"
plane = { point = [0, 0, "-5 cm"], normal = [0, 0, 1] }
surface_velocity = ["1 m/s", 0, 0]
[output]
every = "20 ms"
energies_every = "1 us"
[probe.drum]
wall_power = "drum"
[probe.belt]
wall_power = "belt"
[probe.mean]
wall_power = "drum"
every = "10 ms"
average = "10 ms"
sample_every = "1 us"
[probe.torque]
wall_torque = "drum"
[probe.ledger]
energy = true
"#;

/// Returns a column of a probe by the start of its header, as far as the name.
pub fn column(stage: &Stage, run: &str, probe: &str, name: &str) -> Vec<f64> {
    let text = stage.read(&format!("{run}/probes/{probe}.csv"));
    let mut headers = text.lines().next().unwrap().split(',');
    let index = headers.position(|header| header.split(' ').next() == Some(name));
    let index = index.unwrap_or_else(|| panic!("probe {probe} has no column {name}"));
    rows(&text).iter().map(|row| row[index]).collect()
}

#[test]
fn the_power_on_walls_is_the_work_that_the_ledger_loses() {
    let stage = Stage::new();
    stage.write("drum.toml", DRUM);
    stage.succeed("run drum.toml --quiet --threads 1");
    let of = |probe: &str, name: &str| column(&stage, "drum.out", probe, name);
    let (time, work) = (of("ledger", "time"), of("ledger", "wall_work"));
    let [drum, belt] = ["drum", "belt"].map(|probe| of(probe, "power"));
    let supplied = |power: &[f64], from: usize, to: usize| -> f64 {
        let step = |k: usize| 0.5 * (power[k] + power[k + 1]) * (time[k + 1] - time[k]);
        (from..to).map(step).sum()
    };
    let last = time.len() - 1;
    for [from, to] in [[0, last], [last / 3, last], [last / 2, 3 * last / 4]] {
        let (by_walls, lost) = (supplied(&drum, from, to) + supplied(&belt, from, to), work[from] - work[to]);
        // Both are sums over the same steps.
        assert!((by_walls / lost - 1.0).abs() < 0.01, "{by_walls} J, {lost} J in the ledger");
    }
    // The drum lifts the bed, and the belt accelerates its freight: both do work.
    assert!(supplied(&drum, 0, last) < 0.0 && supplied(&belt, 0, last) < 0.0);
    // The drum rotates about its axis only, at 15 rad/s.
    for (power, torque) in drum.iter().zip(of("torque", "torque_y")) {
        assert!(
            (power - 15.0 * torque).abs() <= 1e-9 * torque.abs().max(1e-3),
            "{power} W, {torque} N m"
        );
    }
}

#[test]
fn averages_are_of_the_time_before_a_line_and_resumed_runs_continue_them() {
    let stage = Stage::new();
    stage.write("drum.toml", DRUM);
    stage.succeed("run drum.toml --quiet --threads 1 --out whole");
    let of = |probe: &str, name: &str| column(&stage, "whole", probe, name);
    let (time, power) = (of("drum", "time"), of("drum", "power"));
    let lines = of("mean", "time")
        .into_iter()
        .zip(of("mean", "mean_power"))
        .zip(of("mean", "highest_power"));
    for ((end, mean), highest) in lines.skip(1) {
        let within = time
            .iter()
            .zip(&power)
            .filter(|(time, _)| **time > end - 0.01 + 1e-9 && **time <= end);
        let within: Vec<f64> = within.map(|(_, power)| *power).collect();
        let expected = within.iter().sum::<f64>() / within.len() as f64;
        assert!((mean - expected).abs() <= 1e-9 * expected.abs(), "{end} s: {mean} W, {expected} W");
        assert_eq!(highest, within.iter().fold(f64::NEG_INFINITY, |most, power| most.max(*power)));
    }
    stage.succeed("run drum.toml --quiet --until 0.026 --out half");
    stage.succeed("resume half --quiet --until 0.06");
    std::fs::copy(stage.path("whole/scene.toml"), stage.path("half/scene.toml")).unwrap();
    stage.assert_same("half", "whole");
}

/// Returns the mean of a column over the lines after a time \[s\].
fn mean_after(start: f64, time: &[f64], values: &[f64]) -> f64 {
    let late: Vec<f64> = time
        .iter()
        .zip(values)
        .filter(|(time, _)| **time > start)
        .map(|(_, value)| *value)
        .collect();
    late.iter().sum::<f64>() / late.len() as f64
}

#[test]
fn a_held_ball_in_water_feels_the_weight_of_the_water_in_its_place() {
    let stage = Stage::new();
    stage.write("ball.toml", include_str!("scenes/held-ball-in-water.toml"));
    stage.succeed("run ball.toml --quiet --threads 1");
    let of = |probe: &str, name: &str| column(&stage, "ball.out", probe, name);
    let time = of("ball", "time");
    let lift = 4.0 / 3.0 * std::f64::consts::PI * 0.04_f64.powi(3) * 1000.0 * 9.81;
    // The water oscillates with a period of some 50 ms: the mean is over four of them.
    let upward = mean_after(0.05, &time, &of("ball", "fluid_force_z")) / lift;
    let sideways = mean_after(0.05, &time, &of("ball", "fluid_force_x")) / lift;
    assert!(
        (upward - 1.0).abs() < 0.02 && sideways.abs() < 0.02,
        "{upward}, {sideways} of ρ g V"
    );
    assert!(
        of("ball", "contact_force_z").iter().all(|force| *force == 0.0),
        "it touches nothing"
    );
    for name in ["fluid_force_x", "fluid_force_z"] {
        assert_eq!(of("ball", name), of("group", name), "a body and its group: {name}");
    }
    // It does not move.
    for (name, value) in [("z", 0.08), ("yaw", 0.0), ("velocity_z", 0.0)] {
        assert!(of("ball", name).iter().all(|found| (found - value).abs() < 1e-15), "{name}");
    }
}

#[test]
fn a_body_carries_what_lies_on_it() {
    let stage = Stage::new();
    stage.write("pair.toml", include_str!("scenes/ball-on-a-held-ball.toml"));
    stage.succeed("run pair.toml --quiet --threads 1");
    let of = |probe: &str, name: &str| column(&stage, "pair.out", probe, name);
    let last = |probe: &str, name: &str| *of(probe, name).last().unwrap();
    let weight = 4.0 / 3.0 * std::f64::consts::PI * 0.01_f64.powi(3) * 2500.0 * 9.81;
    // The ball came to rest, and what is left of its oscillation is below the tolerance.
    assert!((last("held", "contact_force_z") / -weight - 1.0).abs() < 0.01);
    // The body is 1 m from the point, along x: a force F along z has the torque −F · 1 m about y.
    assert!((last("held", "contact_torque_y") / weight - 1.0).abs() < 0.01);
    assert!(last("held", "contact_torque_x").abs() < 1e-6 * weight);
    assert!((last("free", "contact_force_z") / weight - 1.0).abs() < 0.01);
    assert_eq!(last("held", "fluid_force_z"), 0.0);
    // A body that turns at 2 rad/s about z.
    let (time, yaw) = (of("turning", "time"), of("turning", "yaw"));
    for (time, yaw) in time.iter().zip(yaw) {
        assert!((yaw - 2.0 * time).abs() < 1e-9, "{yaw} rad after {time} s");
    }
    assert!((last("turning", "angular_velocity_z") - 2.0).abs() < 1e-12);
}

#[test]
fn stages_end_when_a_probe_says_so_and_resumed_runs_end_alike() {
    let stage = Stage::new();
    stage.write("ball.toml", include_str!("scenes/ball-that-probes-follow.toml"));
    let done = stage.succeed("run ball.toml --threads 1 --out whole");
    assert!(done.err.contains("stage fall ends: probe.ball.z = "), "{}", done.err);
    assert!(done.err.contains("stage settle ends: drift.ball.z = "), "{}", done.err);
    let record = stage.record("whole");
    let began = |index: usize| record["stages"][index]["began"].as_f64().unwrap();
    // Free fall over half a meter takes 0.31928 s. The stage is looked at each millisecond, and sees the line of the millisecond before.
    let fallen = (2.0 * 0.5 / 9.81_f64).sqrt();
    assert!((0.0..0.003).contains(&(began(1) - fallen)), "{} s", began(1));
    // It ends well before the run would, and when the ball has been at rest for the time of the drift.
    let (time, height) = (column(&stage, "whole", "ball", "time"), column(&stage, "whole", "ball", "z"));
    let end = *time.last().unwrap();
    assert!(end < 2.9, "{end} s");
    let late: Vec<f64> = time
        .iter()
        .zip(&height)
        .filter(|(time, _)| **time > end - 0.04)
        .map(|(_, z)| *z)
        .collect();
    assert!(late.iter().all(|z| (z - late[0]).abs() < 1e-5), "it rests");
    for until in ["0.2", "0.6"] {
        stage.succeed(&format!("run ball.toml --quiet --force --until {until} --out half"));
        stage.succeed("resume half --quiet --until 3");
        std::fs::copy(stage.path("whole/scene.toml"), stage.path("half/scene.toml")).unwrap();
        stage.assert_same("half", "whole");
    }
}

#[test]
fn a_plug_flow_stays_for_the_distance_over_its_speed() {
    let stage = Stage::new();
    stage.write("plug.toml", include_str!("scenes/plug-flow.toml"));
    stage.succeed("run plug.toml --quiet --threads 1 --out whole");
    let of = |probe: &str, name: &str| *column(&stage, "whole", probe, name).last().unwrap();
    // Between two planes, or in the box between them: 27 grains move 20 cm at 0.5 m/s, 9 of them come too late to leave.
    for probe in ["stay", "zone"] {
        assert_eq!((of(probe, "passed"), of(probe, "inside")), (18.0, 9.0));
        for name in ["mean", "p5", "p50", "p95"] {
            assert!((of(probe, name) - 0.4).abs() < 1e-9, "{probe}, {name}: {} s", of(probe, name));
        }
        assert!(of(probe, "deviation") < 1e-7);
        let text = stage.read(&format!("whole/results/{probe}.csv"));
        let classes = rows(&text);
        let stays: Vec<f64> = classes.iter().map(|row| row[2]).collect();
        assert_eq!((stays.iter().sum::<f64>(), stays[stays.len() - 1]), (18.0, 18.0));
        assert!((classes[99][1] - 0.4).abs() < 1e-9 && (classes[99][5] - 1.0).abs() < 1e-12);
    }
    // A ball is as long as its chord: the longest is that of the grains on its axis.
    let chord = |aside: f64| 2.0 * (0.1_f64.powi(2) - aside * aside).sqrt() / 0.5;
    assert!((of("ball", "p95") - chord(0.0)).abs() < 1e-9 && (of("ball", "p5") - chord(0.02 * 2.0_f64.sqrt())).abs() < 1e-9);
    stage.succeed("run plug.toml --quiet --until 0.33 --out half");
    stage.succeed("resume half --quiet --until 0.6");
    std::fs::copy(stage.path("whole/scene.toml"), stage.path("half/scene.toml")).unwrap();
    stage.assert_same("half", "whole");
}

#[test]
fn a_strain_since_a_stage_is_zero_when_the_stage_begins() {
    let stage = Stage::new();
    // Eight grains that move towards a plane, each in proportion to its distance: x = X (1 − t/s).
    let corners = (0..8).map(|k| [k & 1, (k >> 1) & 1, k >> 2].map(|side| 0.1 + 0.1 * f64::from(side)));
    let lines: String = corners.map(|[x, y, z]| format!("{x},{y},{z},0.005,{},0,0\n", -x)).collect();
    stage.write("grains.csv", &format!("x,y,z,radius,vx,vy,vz\n{lines}"));
    stage.write("block.toml", include_str!("scenes/strain-since-a-stage.toml"));
    stage.succeed("run block.toml --quiet --threads 1 --out whole");
    let of = |probe: &str, name: &str| column(&stage, "whole", probe, name);
    let time = of("all", "time");
    let since: Vec<f64> = of("later", "strain_xx");
    // The stage begins at the first step after 50 ms; its strain counts from there, not from the next line.
    let record = stage.record("whole");
    let began = record["stages"][1]["began"].as_f64().unwrap();
    for ((time, all), later) in time.iter().zip(of("all", "strain_xx")).zip(since) {
        assert!((all - time).abs() < 1e-9, "{time} s: {all}");
        if *time < began {
            assert!(later.is_nan(), "{time} s: {later}");
        } else {
            let expected = 1.0 - (1.0 - time) / (1.0 - began);
            assert!((later - expected).abs() < 1e-9, "{time} s: {later}, {expected}");
        }
    }
    for until in ["0.03", "0.08"] {
        stage.succeed(&format!("run block.toml --quiet --force --until {until} --out half"));
        stage.succeed("resume half --quiet --until 0.1");
        std::fs::copy(stage.path("whole/scene.toml"), stage.path("half/scene.toml")).unwrap();
        stage.assert_same("half", "whole");
    }
}

#[test]
fn gauges_ride_on_a_tank_that_moves_with_its_water() {
    let stage = Stage::new();
    stage.write("tank.toml", include_str!("scenes/gauges-on-a-moving-tank.toml"));
    stage.succeed("run tank.toml --quiet --threads 1");
    let of = |probe: &str, name: &str| column(&stage, "tank.out", probe, name);
    let time = of("riding", "time");
    // The water rests in the tank: it has the pressure of its depth, once the waves of the start have passed.
    for (name, depth) in [("p1", 0.12), ("p2", 0.08)] {
        let share = mean_after(0.1, &time, &of("riding", name)) / (1000.0 * 9.81 * depth);
        assert!((share - 1.0).abs() < 0.05, "{name}: {share} of ρ g h");
    }
    for (&time, x) in time.iter().zip(of("riding", "x1")) {
        assert!((x - 0.08 - 0.5 * time).abs() < 1e-9, "{x} m at {time} s");
    }
    assert!(of("riding", "y2").iter().all(|y| (y - 0.06).abs() < 1e-12));
    // After 0.4 s the tank is 20 cm away from the gauge that does not ride.
    assert!(of("still", "p1").into_iter().fold(0.0, f64::max) > 500.0 && *of("still", "p1").last().unwrap() == 0.0);
    let speed = mean_after(0.1, &time, &of("speed", "vx1"));
    assert!((speed - 0.5).abs() < 0.02, "{speed} m/s in space");
    // The free surface is within a spacing of the water level, above the point that moved.
    let (height, z) = (of("surface", "height1"), of("surface", "z1"));
    assert!(height.iter().all(|height| (height - 0.16).abs() < 0.01), "{height:?}");
    assert_eq!(height, z);
}

#[test]
fn regions_turn_with_bodies_and_walls_in_frames_and_through_stages() {
    let stage = Stage::new();
    stage.write("turn.toml", include_str!("scenes/gauges-that-turn.toml"));
    stage.succeed("run turn.toml --quiet --threads 1 --out whole");
    let of = |probe: &str, name: &str| column(&stage, "whole", probe, name);
    let time = of("arm", "time");
    let places = |probe: &str| {
        let [x, y, z] = ["at_x", "at_y", "at_z"].map(|name| of(probe, name));
        (0..time.len()).map(|k| [x[k], y[k], z[k]]).collect::<Vec<_>>()
    };
    let ball = 4.0 / 3.0 * std::f64::consts::PI * 5.0_f64.powi(3);
    for (probe, share) in [("arm", (5.0_f64 / 6.0).powi(3)), ("plate", ball / 12.0_f64.powi(3))] {
        for (&time, place) in time.iter().zip(places(probe)) {
            let (sin, cos) = (10.0 * time).sin_cos();
            let off = [place[0] - time - 0.1 * cos, place[1] - 0.1 * sin, place[2]];
            assert!(off.iter().all(|off| off.abs() < 1e-9), "{probe} at {time} s: {off:?}");
        }
        // The grain of the arm stays in the middle of the region, also in the box of the wall that turns as the arm does.
        assert!(
            of(probe, "solid_fraction").iter().all(|found| (found - share).abs() < 1e-9),
            "{probe}"
        );
    }
    for (&time, place) in time.iter().zip(places("disc")) {
        // From (0.1, 0.1, 0) m about z for 20 ms, then about x.
        let (sin, cos) = (10.0 * time.min(0.02)).sin_cos();
        let (x, y) = (0.1 * (cos - sin), 0.1 * (sin + cos));
        let (sin, cos) = (10.0 * (time - 0.02).max(0.0)).sin_cos();
        let off = [place[0] - x, place[1] - y * cos, place[2] - y * sin];
        assert!(off.iter().all(|off| off.abs() < 1e-9), "disc at {time} s: {off:?}");
    }
    let off = |(a, b): (&[f64; 3], &[f64; 3])| (0..3).any(|axis| (a[axis] - b[axis]).abs() > 1e-12);
    assert!(!places("torque").iter().zip(&places("arm")).any(off));
    stage.succeed("run turn.toml --quiet --until 0.033 --out half");
    stage.succeed("resume half --quiet --until 0.05");
    std::fs::copy(stage.path("whole/scene.toml"), stage.path("half/scene.toml")).unwrap();
    stage.assert_same("half", "whole");
}

#[test]
fn residence_times_begin_when_an_inlet_adds_grains() {
    let stage = Stage::new();
    stage.write("inlet.toml", include_str!("scenes/inlet-to-a-plane.toml"));
    stage.succeed("run inlet.toml --quiet --threads 1 --out whole");
    let last = |probe: &str, name: &str| *column(&stage, "whole", probe, name).last().unwrap();
    let added = rows(&stage.read("whole/exchange.csv")).last().unwrap()[1];
    for probe in ["plane", "zone"] {
        let (passed, inside) = (last(probe, "passed"), last(probe, "inside"));
        assert!(passed > 100.0 && passed + inside == added, "{passed} + {inside} of {added}");
        // The inlet is six radii deep, and its grains begin a radius from its ends; 30 cm below its upper end is the plane, and all move at 0.5 m/s.
        let [first, end] = [(0.3 - 0.01) / 0.5, (0.3 - 0.002) / 0.5];
        assert!(last(probe, "p5") > first - 1e-6 && last(probe, "p95") < end + 1e-6, "{probe}");
        assert!((last(probe, "mean") - last("plane", "mean")).abs() < 1e-9);
    }
    stage.succeed("run inlet.toml --quiet --until 0.71 --out half");
    stage.succeed("resume half --quiet --until 1");
    std::fs::copy(stage.path("whole/scene.toml"), stage.path("half/scene.toml")).unwrap();
    stage.assert_same("half", "whole");
}

#[test]
fn grains_at_rest_are_their_share_of_the_dead_zone() {
    let stage = Stage::new();
    stage.write("corner.toml", include_str!("scenes/dead-corner.toml"));
    stage.succeed("run corner.toml --quiet --threads 1 --out whole");
    // 5 of 20 equal grains rest, and the others move at 0.4 m/s in cells of their own.
    for probe in ["dead", "share"] {
        for (name, expected) in [("dead_share", 0.25), ("mean_speed", 0.3)] {
            let values = column(&stage, "whole", probe, name);
            assert!(
                values.iter().all(|value| (value - expected).abs() < 1e-9),
                "{probe}, {name}: {values:?}"
            );
        }
    }
    let of = |probe: &str, name: &str| column(&stage, "whole", probe, name);
    assert!(
        of("dead", "limit").iter().all(|limit| (limit - 0.001).abs() < 1e-12)
            && of("share", "limit").iter().all(|limit| (limit - 0.15).abs() < 1e-9)
    );
    assert!(of("stream", "dead_share").iter().all(|share| *share == 0.0));
    let ball = 4.0 / 3.0 * std::f64::consts::PI * 0.004_f64.powi(3);
    assert!(
        of("dead", "filled")
            .iter()
            .all(|filled| (filled - 20.0 * ball / (0.1 * 0.02 * 0.12)).abs() < 1e-9)
    );
    let fields = stage.read("whole/results/dead.vti");
    for name in ["speed", "filled", "is_dead", "velocity"] {
        assert!(fields.contains(&format!("Name=\"{name}\"")), "{name}");
    }
    stage.succeed("run corner.toml --quiet --until 0.05 --out half");
    stage.succeed("resume half --quiet --until 0.1");
    std::fs::copy(stage.path("whole/scene.toml"), stage.path("half/scene.toml")).unwrap();
    stage.assert_same("half", "whole");
}
