//! Walls moved by servos, on the command line.

use crate::command_line::probes::column;
use crate::command_line::rows;
use crate::command_line::stage::Stage;

/// Returns the times of a probe \[s\], and its z: position \[m\] or force \[N\] of a wall.
fn over_time(stage: &Stage, run: &str, probe: &str) -> Vec<[f64; 2]> {
    let rows = rows(&stage.read(&format!("{run}/probes/{probe}.csv")));
    rows.iter().map(|row| [row[0], row[3]]).collect()
}

#[test]
fn a_wall_that_a_stage_drives_on_begins_where_its_servo_left_it_when_resumed_too() {
    let stage = Stage::new();
    stage.write("lid.toml", include_str!("scenes/servo-then-driven.toml"));
    let all = "--set probe.lid.every=0.1ms --set output.every=5ms";
    stage.succeed(&format!("run lid.toml --quiet --threads 1 --out whole {all}"));
    stage.succeed(&format!("run lid.toml --quiet --until 0.05 --out half {all}"));
    stage.succeed("resume half --quiet --until 0.1 --threads 2");
    let lid = over_time(&stage, "half", "lid");
    // The time step is a little longer than the interval, so each step has a row.
    let [time, height] = *lid.iter().find(|[time, _]| *time > 0.0549).unwrap();
    // The servo moves the lid from 4 cm down onto the grain for 20 ms, at 20 cm/s at most; then it rises at 1 cm/s. The stage ends at the first step
    // after its time, 0.2 ms later at most.
    let risen = 0.04 - 0.2 * 0.02 + 0.01 * (time - 0.02);
    assert!(
        (time - 0.0549).abs() < 2e-4 && height < risen && height > risen - 0.21 * 2e-4,
        "{height} m at {time} s"
    );
    std::fs::copy(stage.path("whole/scene.toml"), stage.path("half/scene.toml")).unwrap();
    stage.assert_same("half", "whole");
}

#[test]
fn a_servo_is_as_stiff_as_what_inlets_brought() {
    let stage = Stage::new();
    stage.write("lid.toml", include_str!("scenes/servo-over-an-inlet.toml"));
    // The compressed grains need some time to rearrange.
    stage.succeed("run lid.toml --quiet --threads 1 --out lid.out --until 0.6");
    let last: Vec<f64> = over_time(&stage, "lid.out", "force")
        .iter()
        .filter(|[time, _]| *time > 0.58)
        .map(|[_, force]| *force)
        .collect();
    let mean = last.iter().sum::<f64>() / last.len() as f64;
    let widest = last.iter().fold(0.0, |most: f64, force| most.max((force - mean).abs()));
    // At rest the force is the requested one; the error of an oscillating lid would be as large as the force.
    assert!((mean / 2.0 - 1.0).abs() < 0.01 && widest < 0.02, "{mean} N, up to {widest} N off");
}

#[test]
fn a_servo_without_grains_does_not_depend_on_when_it_is_looked_at() {
    let stage = Stage::new();
    stage.write("lid.toml", include_str!("scenes/servo-without-grains.toml"));
    for every in ["0.1ms", "0.5ms", "3ms", "20ms"] {
        stage.succeed(&format!(
            "run lid.toml --quiet --threads 1 --force --out lid.out --set output.energies_every={every}"
        ));
        let lid = over_time(&stage, "lid.out", "lid");
        let &[time, height] = lid.last().unwrap();
        // It touches nothing, and moves at its velocity limit: 20 cm/s for 20 ms.
        assert!((height - (0.02 - 0.2 * time)).abs() < 1e-9 && time > 0.0179, "{every}: {height} m");
    }
}

#[test]
fn a_stage_sets_the_target_of_a_servo() {
    let stage = Stage::new();
    stage.write("lid.toml", include_str!("scenes/servo-with-a-new-target.toml"));
    stage.succeed("run lid.toml --quiet --threads 1 --out whole");
    let force = over_time(&stage, "whole", "force");
    let around = |from: f64, to: f64| {
        let within = force.iter().filter(|[time, _]| (from..to).contains(time));
        within.map(|[_, force]| *force).collect::<Vec<f64>>()
    };
    // At rest the force is the target.
    for (from, to, target) in [(0.055, 0.0599, 1.0), (0.12, 0.14, 3.0)] {
        let found = around(from, to);
        assert!(
            found.iter().all(|force| (force / target - 1.0).abs() < 0.02),
            "{target} N: {found:?}"
        );
    }
    // Both contacts stiffen by the law of Hertz: three times the force at 3^(2/3) times the overlap.
    let overlap = |at: f64| {
        let lid = over_time(&stage, "whole", "lid");
        0.03 - lid.iter().find(|[time, _]| *time > at).unwrap()[1]
    };
    let ratio = overlap(0.13) / overlap(0.058);
    assert!((ratio / 3.0_f64.powf(2.0 / 3.0) - 1.0).abs() < 0.03, "{ratio}");
    stage.succeed("run lid.toml --quiet --until 0.08 --out half");
    stage.succeed("resume half --quiet --until 0.14 --threads 2");
    std::fs::copy(stage.path("whole/scene.toml"), stage.path("half/scene.toml")).unwrap();
    stage.assert_same("half", "whole");
}

#[test]
fn a_region_has_the_asked_stress_whatever_the_sides_carry_and_resumes_bit_by_bit() {
    let stage = Stage::new();
    let scene = include_str!("scenes/servo-of-a-region.toml");
    stage.write("lid.toml", scene);
    stage.write("alone.toml", &scene.replace("of = \"core\"\n", ""));
    stage.succeed("run lid.toml --quiet --threads 1 --out whole");
    stage.succeed("run alone.toml --quiet --threads 1 --until 0.025 --out alone");
    // Mean stresses of the region and of the lid over some time [Pa].
    let means = |run: &str, from: f64, to: f64| {
        let time = column(&stage, run, "core", "time");
        let mean = |probe: &str, name: &str| {
            let all = column(&stage, run, probe, name);
            let within = time.iter().zip(all).filter(|(time, _)| (from..to).contains(*time));
            let within: Vec<f64> = within.map(|(_, value)| value).collect();
            within.iter().sum::<f64>() / within.len() as f64
        };
        [mean("core", "sigma_zz"), mean("lid", "force_z") / 1e-4]
    };
    let [pressed, relaxed] = [means("whole", 0.02, 0.025), means("whole", 0.04, 0.045)];
    let [alone, lid_alone] = means("alone", 0.02, 0.025);
    println!(
        "pressed {pressed:?} Pa, relaxed {relaxed:?} Pa, without the region {:?} Pa",
        [alone, lid_alone]
    );
    assert!((pressed[0] / 100e3 - 1.0).abs() < 0.02, "{pressed:?}");
    assert!((relaxed[0] / 60e3 - 1.0).abs() < 0.02, "{relaxed:?}");
    // Friction on the sides carries a part of the load, one way or the other, depending on how the grains slid last.
    for [core, lid] in [pressed, relaxed] {
        assert!((lid / core - 1.0).abs() > 0.08, "{lid} Pa on the lid, {core} Pa in the region");
    }
    assert!(
        (lid_alone / 100e3 - 1.0).abs() < 0.02 && alone < 0.95 * lid_alone,
        "{alone} {lid_alone}"
    );
    // The checkpoint is at a line, which acts one step later.
    stage.succeed("run lid.toml --quiet --until 0.018 --out half");
    stage.succeed("resume half --quiet --until 0.045 --threads 2");
    std::fs::copy(stage.path("whole/scene.toml"), stage.path("half/scene.toml")).unwrap();
    stage.assert_same("half", "whole");
}
