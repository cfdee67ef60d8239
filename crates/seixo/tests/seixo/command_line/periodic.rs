//! Probes, slices and zones across periodic sides.

use crate::command_line::rows;
use crate::command_line::stage::Stage;

/// A grain that falls at 0.5 m/s through a cell of 20 cm, past a plane 5 cm below its start.
const FALLING: &str = include_str!("falling-through-a-periodic-side.toml");
/// A chain of five grains that is closed through the periodic side.
const CHAIN: &str = include_str!("chain-through-a-periodic-side.toml");
/// A rod from one side to the other, which a stage moves along its axis.
const ROD: &str = include_str!("rod-at-a-periodic-side.toml");

#[test]
fn a_grain_that_goes_around_is_counted_each_time_however_rarely_lines_are_written() {
    let stage = Stage::new();
    stage.write("falling.toml", FALLING);
    // It passes at 0.1 s and then every 0.4 s: twice in 0.8 s.
    for every in ["10 ms", "0.8 s"] {
        let setting = every.replace(' ', "");
        stage.succeed(&format!("run falling.toml --quiet --force --set probe.q.every={setting}"));
        let lines = rows(&stage.read("falling.out/probes/q.csv"));
        assert!(lines.len() >= 3);
        for line in &lines {
            let passes = ((line[0] + 0.3) / 0.4).floor();
            assert_eq!(line[1], passes, "every {every}, at {} s", line[0]);
        }
    }
    // With an interruption between two lines.
    stage.succeed("run falling.toml --quiet --out parts.out --set probe.q.every=0.8s --until 1s");
    stage.succeed("resume parts.out --quiet --until 2s");
    let [whole, parts] = ["falling.out", "parts.out"].map(|run| stage.read(&format!("{run}/probes/q.csv")));
    assert_eq!(whole, parts);
}

#[test]
fn a_drop_that_falls_through_a_side_gains_what_the_side_gives_it() {
    let stage = Stage::new();
    // A drop of 2 cm × 2 cm falls 20 cm in 0.2 s, through a cell of 8 cm.
    let text = "[run]\nuntil = \"0.2 s\"\n[world]\ngravity = [0, 0, -10]\n\
                domain = { min = [0, -1, 0], max = [0.08, 1, 0.08], sides = [\"periodic\", \"open\", \"periodic\"] }\n\
                [fluid.water]\ndensity = 1000\nspacing = \"2 mm\"\nsupport = 3\nfastest = 2\nplane = \"xz\"\n\
                fill = { box = { min = [0.03, -0.1, 0.01], max = [0.05, 0.1, 0.03] } }\n[output]\nevery = 0.1\nenergies_every = 0.05\n";
    stage.write("drop.toml", text);
    let weight = 1000.0 * 100.0 * 4e-6 * 10.0;
    for how in [
        "",
        "--set fluid.water.solver=dfsph",
        "--domains 2",
        "--device gpu --precision f64",
        "--device gpu --precision f64 --set fluid.water.solver=dfsph",
    ] {
        stage.succeed(&format!("run drop.toml --quiet --force {how}"));
        let table = stage.read("drop.out/energies.csv");
        let names: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        let last = rows(&table).pop().unwrap();
        let of = |name: &str| last[names.iter().position(|known| known.starts_with(name)).unwrap()];
        // It fell by 20 cm, from 1 to 3 cm above the side: all particles passed the side three times.
        let (kinetic, by_sides) = (of("kinetic"), of("wall_work"));
        assert!((kinetic / (0.2 * weight) - 1.0).abs() < 0.01, "{how}: {kinetic} J");
        let passes = by_sides / (0.08 * weight);
        assert!((passes - 3.0).abs() < 1e-9, "{how}: {passes} passes");
        // A step of the incompressible solver misses Δt/t of the energy gain, see docs/reference/fluids.md.
        let missed = if how.contains("dfsph") { 0.03 } else { 1e-3 };
        assert!(of("residual").abs() < missed * kinetic, "{how}: {} of {kinetic} J", of("residual"));
    }
}

#[test]
fn a_chain_through_a_side_bears_the_same_everywhere() {
    let stage = Stage::new();
    stage.write("chain.toml", CHAIN);
    stage.succeed("run chain.toml --quiet");
    let first = |probe: &str| rows(&stage.read(&format!("chain.out/probes/{probe}.csv"))).remove(0);
    // F/A of a Hertzian contact with an overlap of 2 µm, F = 4/3 E* √R* δ^1.5.
    let (effective, radius, overlap) = (5e6 / (2.0 * (1.0 - 0.3 * 0.3)), 1.001e-3 / 2.0, 2e-6);
    let expected = 4.0 / 3.0 * effective * f64::sqrt(radius) * f64::powf(overlap, 1.5) / 1e-4;
    for region in ["all", "low", "top"] {
        let stress = first(region)[5];
        assert!((stress / expected - 1.0).abs() < 1e-9, "{region}: {stress} instead of {expected}");
    }
    let share = 5.0 * 4.0 / 3.0 * std::f64::consts::PI * 1.001e-3f64.powi(3) / 1e-6;
    assert!((first("phi")[1] / share - 1.0).abs() < 1e-12);
    assert_eq!(first("z")[1], 2.0);
    assert_eq!(first("fab")[8], 5.0);
    // The center is defined across the chain, but not along it.
    let center = first("gc");
    assert!(
        (center[1] - 5e-3).abs() < 1e-15 && (center[2] - 5e-3).abs() < 1e-15 && center[3].is_nan(),
        "{center:?}"
    );

    // A slice repeats every 2 mm, at the sides as in the middle.
    stage.succeed("slice chain.out --width 1mm --spacing 0.25mm --out slice.csv");
    let table = rows(&stage.read("slice.csv"));
    let (levels, long) = (40, table.len() / 40);
    assert_eq!(table.len(), levels * long);
    let densest = table.iter().fold(0.0, |most: f64, line| most.max(line[2]));
    assert!(densest > 0.1, "{densest}");
    for level in 0..levels {
        for column in 0..long {
            let [here, above] = [level, (level + 8) % levels].map(|level| table[level * long + column][2]);
            assert!((here - above).abs() < 1e-6 * densest, "{column} {level}: {here} {above}");
        }
    }
}

#[test]
fn a_zone_across_a_side_takes_from_both_and_a_ball_that_would_meet_itself_is_refused() {
    let stage = Stage::new();
    let zone = "[zone.drain]\nremove = true\nregion = { sphere = { center = [\"5 mm\", \"5 mm\", \"9.5 mm\"], radius = \"0.8 mm\" } }\n";
    stage.write("chain.toml", &format!("{CHAIN}\n{zone}"));
    stage.succeed("run chain.toml --quiet");
    // The grain at 0 is 0.5 mm from the middle of the zone, the grain at 8 mm is 1.5 mm from it.
    let taken = rows(&stage.read("chain.out/exchange.csv")).pop().unwrap();
    assert_eq!(taken[1], 1.0, "{taken:?}");

    let wide = "[probe.wide]\nsolid_fraction = { region = { sphere = { center = [0, 0, 0], radius = \"6 mm\" } } }\n";
    stage.write("chain.toml", &format!("{CHAIN}\n{wide}"));
    let refused = stage.seixo("check chain.toml");
    assert_eq!(refused.code, 2);
    for phrase in ["probe.wide", "0.012 m long in x", "0.01 m", "or a box"] {
        assert!(refused.err.contains(phrase), "no `{phrase}` in {}", refused.err);
    }
}

#[test]
fn a_wall_at_a_side_moves_as_far_as_its_stage_lasts() {
    let stage = Stage::new();
    stage.write("rod.toml", ROD);
    // For 0.1 s at 5 cm/s, in a cell of 2 cm.
    stage.succeed("check rod.toml");
    stage.succeed("run rod.toml --quiet");
    // The end of this stage is unknown; it is at most the end of the run, 0.9 s after its start.
    let until = |condition: &str| {
        ROD.replacen(
            "name = \"push\"\nuntil = \"duration 0.1 s\"",
            &format!("name = \"push\"\nuntil = \"{condition}\""),
            1,
        )
    };
    let refusal = |text: &str| {
        stage.write("rod.toml", text);
        let refused = stage.seixo("check rod.toml");
        assert_eq!(refused.code, 2, "{}", refused.out);
        refused.err
    };
    let reported = refusal(&until("coordination > 4"));
    assert!(
        reported.contains("wall rod: it moves along x") && reported.contains("by up to 4.500e-2 m"),
        "{reported}"
    );
    // By then the wall has moved 2 cm.
    let reported = refusal(&until("time > 0.5 s"));
    assert!(reported.contains("by up to 2.0"), "{reported}");
    stage.write("rod.toml", &until("coordination > 4 or time > 0.2 s"));
    stage.succeed("check rod.toml");

    // The displacement by a servo before is known only during the run.
    let servo = "motion = { servo = { force = \"1 N\", along = [0, 0, 1], velocity_limit = \"1 mm/s\" } }";
    let text = until("coordination > 4").replacen("[[stage]]", &format!("{servo}\n[[stage]]"), 1);
    stage.write("rod.toml", &text);
    let checked = stage.seixo("check rod.toml");
    assert_eq!(checked.code, 0, "{}", checked.err);
    for phrase in ["wall rod may stop the run", "moves along x", "by up to 4.500e-2 m"] {
        assert!(checked.out.contains(phrase), "no `{phrase}` in {}", checked.out);
    }
}

#[test]
fn a_sheared_cell_that_would_stay_at_rest_is_reported() {
    let stage = Stage::new();
    let sheared = |heights: [&str; 2], velocity: &str| {
        let text = FALLING
            .replace(
                "sides = [\"open\", \"open\", \"periodic\"]",
                "sides = [\"periodic\", \"periodic\", \"periodic\"], shear = { flow = \"x\", gradient = \"z\", rate = \"0.5 Hz\" }",
            )
            .replace("[world]", "[world]\ngravity = [0, 0, 0]")
            .replace(
                "at = [[\"1 cm\", \"1 cm\", \"15 cm\"]]",
                &format!(
                    "at = [[0, \"1 cm\", \"{}\"], [\"1 cm\", \"11 mm\", \"{}\"]]",
                    heights[0], heights[1]
                ),
            )
            .replace("velocity = [0, 0, \"-0.5 m/s\"]", velocity);
        stage.write("sheared.toml", &text);
        let checked = stage.seixo("check sheared.toml");
        assert_eq!(checked.code, 0, "{}", checked.err);
        let is_reported = checked.out.contains("the grains stay at rest");
        stage.succeed("run sheared.toml --quiet --force --until 0.2s");
        // Translational kinetic energy at the end.
        let moves = rows(&stage.read("sheared.out/energies.csv")).pop().unwrap()[1] > 0.0;
        (is_reported, moves)
    };
    // Grains are above each other by half the cell, or by less than two radii across the side: one of them passes and hits the other.
    assert_eq!(sheared(["5 cm", "15 cm"], ""), (true, false));
    assert_eq!(sheared(["0.5 mm", "199.4 mm"], ""), (false, true));
    assert_eq!(sheared(["5 cm", "15 cm"], "velocity = [\"1 mm/s\", 0, 0]"), (false, true));
}
