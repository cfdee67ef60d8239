//! Tutorials: the scene that the blocks of a page add up to, run in a short form to the number at the end of the page.

use crate::command_line::probes::column;
use crate::command_line::stage::Stage;
use seixo::files::vtk;
use std::f64::consts::{PI, TAU};

const PROCESS: &str = include_str!("../../../../../docs/tutorials/process.md");
const GEOMECHANICS: &str = include_str!("../../../../../docs/tutorials/geomechanics.md");
const ROCK: &str = include_str!("../../../../../docs/tutorials/rock.md");
const WATER: &str = include_str!("../../../../../docs/tutorials/water.md");
const FLOATING: &str = include_str!("../../../../../docs/tutorials/floating.md");
const GRAPHICS: &str = include_str!("../../../../../docs/tutorials/graphics.md");

/// Standard gravity of the scenes \[m/s²\].
const GRAVITY: f64 = 9.81;

/// Returns a folder with the mesh files of the pages.
fn folder() -> Stage {
    let stage = Stage::new();
    stage.write("hopper.stl", include_str!("../../../../../docs/tutorials/hopper.stl"));
    stage.write("obstacle.stl", include_str!("../../../../../docs/tutorials/obstacle.stl"));
    stage.succeed("new teapots");
    stage
}

/// Returns the scene of a page whose file has this name: all blocks of TOML from the sentence that creates it to the next such sentence.
fn scene(page: &str, name: &str) -> String {
    let creates = "Create a file `";
    let begun = page.split_once(&format!("{creates}{name}`"));
    let (_, rest) = begun.unwrap_or_else(|| panic!("no sentence creates {name}"));
    let (own, _) = rest.split_once(creates).unwrap_or((rest, ""));
    let blocks = own.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.collect::<Vec<_>>().join("\n")
}

/// Returns a scene with parts replaced wherever they stand, so that it runs in seconds.
fn shortened(scene: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(scene.to_owned(), |scene, &(old, new)| {
        assert!(scene.contains(old), "{old} in\n{scene}");
        scene.replace(old, new)
    })
}

/// Returns the integral of values over time up to an end \[s\], by trapezoids.
fn integral(time: &[f64], values: &[f64], end: f64) -> f64 {
    let rows = time.windows(2).zip(values.windows(2)).filter(|(time, _)| time[1] <= end);
    rows.map(|(time, values)| 0.5 * (values[0] + values[1]) * (time[1] - time[0])).sum()
}

#[test]
fn every_page_arrives_at_a_scene_that_is_right() {
    let stage = folder();
    for (page, name) in [
        (PROCESS, "hopper.toml"),
        (GEOMECHANICS, "triaxial.toml"),
        (ROCK, "rock.toml"),
        (WATER, "tank.toml"),
        (WATER, "dam.toml"),
        (FLOATING, "floating.toml"),
        (GRAPHICS, "splash.toml"),
    ] {
        stage.write(name, &scene(page, name));
        let done = stage.succeed(&format!("check {name}"));
        assert!(done.out.contains("right; next: seixo run"), "{name}: {}", done.out);
    }
}

#[test]
fn a_hopper_from_millimeters_discharges_by_beverloo_and_holds_its_beads_for_content_over_flow() {
    let stage = folder();
    // Softer beads have steps of twice the length; fewer of them are 34 mm high.
    let changes = [
        ("\"2 MPa\"", "\"0.5 MPa\""),
        ("count = 2000", "count = 1200"),
        ("[0, 0, \"4 cm\"]", "[0, 0, \"15 mm\"]"),
    ];
    stage.write("hopper.toml", &shortened(&scene(PROCESS, "hopper.toml"), &changes));
    stage.succeed("run hopper.toml --quiet --threads 2");
    let of = |probe: &str, name: &str| column(&stage, "hopper.out", probe, name);

    let (time, mass) = (of("discharge", "time"), of("discharge", "mass"));
    let whole = mass.last().unwrap();
    let steady: Vec<usize> = (0..mass.len()).filter(|&k| (0.2..0.7).contains(&(mass[k] / whole))).collect();
    let (&first, &last) = (steady.first().unwrap(), steady.last().unwrap());
    let flow = (mass[last] - mass[first]) / (time[last] - time[first]);
    // A bed of 58 %, an outlet of 25 mm, beads of 4.1 mm. Beverloo's constant is a mean over materials, and the outlet is six beads wide: the page
    // promises 20 %.
    let expected = 0.58 * (0.58 * 2500.0) * GRAVITY.sqrt() * (0.025_f64 - 1.4 * 0.0041).powf(2.5);
    assert!((flow / expected - 1.0).abs() < 0.2, "{flow} kg/s of {expected} kg/s");

    let last = |name: &str| *of("stay", name).last().unwrap();
    let (passed, inside, mean) = (last("passed"), last("inside"), last("mean"));
    assert!(passed > 500.0 && inside < 20.0, "{passed} passed, {inside} inside");
    // The number inside over time is the sum of all times. The mean is by mass, and the masses of beads differ by a fifth.
    let sum = integral(&of("stay", "time"), &of("stay", "inside"), f64::INFINITY);
    assert!((passed * mean / sum - 1.0).abs() < 0.05, "{passed} times {mean} s are not {sum} s");
    // In a steady flow the mean is the content over the flow \[Danckwerts 1953\]. Beads that pass while the bed settles, and the end, are not steady.
    let frame = vtk::read_grains(&stage.path("hopper.out/fields/grains_000010.vtp")).unwrap();
    let content = frame.position.iter().filter(|at| (-0.02..0.015).contains(&at[2])).count() as f64;
    let of_a_bead = whole / *of("discharge", "count").last().unwrap();
    let steady = content * of_a_bead / flow;
    assert!((mean / steady - 1.0).abs() < 0.15, "{mean} s of {steady} s");
    assert!(last("p5") < last("p50") && last("p50") < last("p95"));
}

#[test]
fn the_core_of_a_triaxial_specimen_bears_the_confining_pressure_through_the_test() {
    let stage = folder();
    let changes = [("strain_zz > 0.06", "strain_zz > 0.005")];
    stage.write("triaxial.toml", &shortened(&scene(GEOMECHANICS, "triaxial.toml"), &changes));
    let done = stage.succeed("run triaxial.toml --threads 2");
    assert!(done.err.contains("stage compress ends: probe.strain.strain_zz"), "{}", done.err);
    let of = |probe: &str, name: &str| column(&stage, "triaxial.out", probe, name);
    let (strain, [x, y, z]) = (
        of("strain", "strain_zz"),
        ["xx", "yy", "zz"].map(|at| of("core", &format!("sigma_{at}"))),
    );
    let compressed: Vec<usize> = (0..strain.len()).filter(|&k| strain[k] >= 0.0).collect();
    assert!(compressed.len() > 50, "{} lines", compressed.len());
    let across: Vec<f64> = compressed.iter().map(|&k| 0.5 * (x[k] + y[k])).collect();
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    assert!((mean(&across) / 100e3 - 1.0).abs() < 0.02, "{} Pa across", mean(&across));
    // The platens start at once, and the core swings a little.
    for part in across.chunks(across.len().div_ceil(4)) {
        assert!((mean(part) / 100e3 - 1.0).abs() < 0.03, "{} Pa across", mean(part));
    }
    // The stress along it rises meanwhile: 0.5 % of strain make it 30 kPa more at a modulus of 6 MPa, far below that of sand, and the strength ends it
    // at some 350 kPa.
    let along = z[*compressed.last().unwrap()];
    assert!((130e3..350e3).contains(&along), "{along} Pa along");
}

#[test]
fn a_sweep_over_seeds_gives_the_peak_friction_angle_of_spheres() {
    let stage = folder();
    // Larger grains are a quarter as many, and have longer steps; they fill less of the region.
    let changes = [
        ("[\"0.9 mm\", \"1.4 mm\"]", "[\"1.4 mm\", \"2.2 mm\"]"),
        ("solid_fraction = 0.6", "solid_fraction = 0.56"),
        ("72 mm/s", "144 mm/s"),
    ];
    stage.write("triaxial.toml", &shortened(&scene(GEOMECHANICS, "triaxial.toml"), &changes));
    stage.succeed("sweep triaxial.toml --vary run.seed=1..2 --jobs 2 --quiet");
    let table = stage.read("triaxial.sweep/sweep.csv");
    let points: Vec<&str> = table.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(points.len(), 2, "{table}");
    let angles: Vec<f64> = points
        .iter()
        .map(|point| {
            let of = |probe: &str, name: &str| column(&stage, &format!("triaxial.sweep/{point}"), probe, name);
            let (strain, [x, y, z]) = (
                of("strain", "strain_zz"),
                ["xx", "yy", "zz"].map(|at| of("core", &format!("sigma_{at}"))),
            );
            let sine = (0..strain.len())
                .filter(|&k| strain[k] >= 0.0)
                .map(|k| (2.0 * z[k] - x[k] - y[k]) / (2.0 * z[k] + x[k] + y[k]));
            sine.fold(0.0_f64, f64::max).asin().to_degrees()
        })
        .collect();
    // Spheres that roll freely, of a friction of 0.5: between a loose and a dense packing, and below angular sand.
    assert!(angles.iter().all(|angle| (22.0..36.0).contains(angle)), "{angles:?}");
    assert_ne!(angles[0], angles[1], "two seeds are two packings");
}

#[test]
fn a_tank_sloshes_with_the_period_of_linear_theory_by_gauges_that_ride_on_it() {
    let stage = folder();
    stage.write("tank.toml", &shortened(&scene(WATER, "tank.toml"), &[("\"4.5 s\"", "\"4 s\"")]));
    stage.succeed("run tank.toml --quiet --threads 2");
    let of = |name: &str| column(&stage, "tank.out", "gauges", name);
    let (time, [left, right]) = (of("time"), ["height1", "height2"].map(of));
    let level: Vec<f64> = left.iter().zip(&right).map(|(left, right)| left - right).collect();
    let late = (1..time.len()).filter(|&k| time[k - 1] > 0.6 && level[k - 1] * level[k] < 0.0);
    let zeros: Vec<f64> = late
        .map(|k| time[k - 1] + (time[k] - time[k - 1]) * level[k - 1] / (level[k - 1] - level[k]))
        .collect();
    // By least squares over half periods.
    let middle = 0.5 * (zeros.len() - 1) as f64;
    let of_each = |k: usize| k as f64 - middle;
    let products: f64 = zeros.iter().enumerate().map(|(k, time)| of_each(k) * time).sum();
    let squares: f64 = (0..zeros.len()).map(|k| of_each(k).powi(2)).sum();
    let period = 2.0 * products / squares;
    // The first mode of a tank \[Lamb 1932; Faltinsen 2009\].
    let (length, depth) = (0.6, 0.2);
    let linear = TAU / (PI * GRAVITY / length * (PI * depth / length).tanh()).sqrt();
    assert!(zeros.len() > 5 && (period / linear - 1.0).abs() < 0.02, "{period} s of {linear} s");
    // The gauges moved with the tank, by twice the amplitude.
    for (name, place) in [("x1", 0.05), ("x2", 0.55)] {
        let moved = of(name).last().unwrap() - place;
        assert!((moved - 0.01).abs() < 2e-4, "{name}: {moved} m");
    }
    // The level is that of the fill, within a fifth of a spacing.
    let mean = left.iter().chain(&right).sum::<f64>() / (2.0 * time.len() as f64);
    assert!((mean - depth).abs() < 2e-3, "{mean} m");
}

#[test]
fn the_force_on_an_obstacle_from_cad_takes_the_momentum_of_the_water() {
    let stage = folder();
    let changes = [("spacing = \"1 cm\"", "spacing = \"2 cm\""), ("\"0.6 s\"", "\"0.41 s\"")];
    stage.write("dam.toml", &shortened(&scene(WATER, "dam.toml"), &changes));
    stage.succeed("run dam.toml --quiet --threads 2");
    let of = |probe: &str, name: &str| column(&stage, "dam.out", probe, name);
    let time = of("obstacle", "time");
    let (obstacle, tank) = (of("obstacle", "force_x"), of("tank", "force_x"));
    for frame in [8, 14, 20] {
        let water = vtk::read_fluid(&stage.path(&format!("dam.out/fields/fluid_{frame:06}.vtp"))).unwrap();
        let momentum: f64 = water
            .particles
            .velocity
            .iter()
            .map(|velocity| 1000.0 * 0.02_f64.powi(3) * velocity[0])
            .sum();
        let impulse = integral(&time, &obstacle, water.time + 1e-9) + integral(&time, &tank, water.time + 1e-9);
        // It is at rest at first, and has up to 1.9 N s. The tables have a line each millisecond, in which 10 N are 0.01 N s.
        assert!(
            (momentum + impulse).abs() < 0.02,
            "{momentum} N s, {impulse} N s after {} s",
            water.time
        );
    }
    // The water comes after the time of a free front, which is not faster than 2 √(g h), and then it pushes.
    let arrival = (0.34 - 0.2) / (2.0 * (GRAVITY * 0.2_f64).sqrt());
    let first = time.iter().zip(&obstacle).find(|(_, force)| **force > 1.0).unwrap().0;
    assert!((arrival..3.0 * arrival).contains(first), "{first} s");
    assert!(obstacle.iter().fold(0.0, |most: f64, force| most.max(*force)) > 10.0);
}

#[test]
fn teapots_in_a_splash_move_by_the_forces_that_their_probes_log() {
    let stage = folder();
    // A line for each step, of 81 µs.
    let changes = [
        ("\"0.8 s\"", "\"0.3 s\""),
        ("spacing = \"1 cm\"", "spacing = \"1.5 cm\""),
        ("\"1 ms\"", "\"80 us\""),
    ];
    stage.write("splash.toml", &shortened(&scene(GRAPHICS, "splash.toml"), &changes));
    stage.succeed("run splash.toml --quiet --threads 2");
    // The mass that the page quotes \[kg\].
    let mass = 24.2e-3;
    for body in ["first", "second"] {
        let of = |name: &str| column(&stage, "splash.out", body, name);
        let time = of("time");
        let (duration, hits, pushes) = (time.last().unwrap() - time[0], of("contact_force_z"), of("fluid_force_z"));
        assert!(
            hits.iter().any(|force| *force != 0.0) && pushes.iter().any(|force| *force != 0.0),
            "{body}"
        );
        for (axis, weight) in [("x", 0.0), ("y", 0.0), ("z", -mass * GRAVITY)] {
            let [place, velocity, contact, fluid] =
                ["", "velocity_", "contact_force_", "fluid_force_"].map(|kind| of(&format!("{kind}{axis}")));
            let change = |values: &[f64]| values.last().unwrap() - values[0];
            let fastest = velocity.iter().fold(0.0, |most: f64, speed| most.max(speed.abs()));
            let impulse = integral(&time, &contact, f64::INFINITY) + integral(&time, &fluid, f64::INFINITY) + weight * duration;
            // Forces of the fluid act one step later. The mass has three digits.
            let off = (impulse / mass - change(&velocity)).abs();
            assert!(off < 0.02 * fastest.max(0.1), "{body}, {axis}: {off} m/s of {fastest} m/s");
            let way = integral(&time, &velocity, f64::INFINITY);
            assert!((way - change(&place)).abs() < 1e-4, "{body}, {axis}: {way} m");
        }
    }
    stage.succeed("picture splash.out --frame 10 --smooth --field body --view=-0.5,-1,0.5 --no-walls --size 320x200");
    assert!(stage.path("splash.out/picture.png").exists());
}
