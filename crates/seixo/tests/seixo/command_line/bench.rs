//! Short measurements of `seixo bench`, their table over commits, and beds of many sizes.

use crate::command_line::stage::Stage;
use serde_json::Value;
use std::path::Path;

/// So few grains and steps that speeds are meaningless.
const QUICK: &str = "bench bed --particles 300 --settle 100 --steps 10 --repeat 2";

#[test]
fn a_quick_bench_measures_every_case() {
    let stage = Stage::new();
    let line = "bench bed bed-linear normal-only --particles 900 --threads 1,2 --settle 1500 --steps 20 --repeat 2 --json";
    let lines: Vec<Value> = stage
        .succeed(line)
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 6);
    for line in &lines {
        assert!(line["particle_steps_per_second"].as_f64().unwrap() > 1e4, "{line}");
        assert!(line["share_of_ceiling"].as_f64().unwrap() < 5.0, "{line}");
    }
    assert_eq!(
        lines.iter().map(|line| line["threads"].as_u64().unwrap()).collect::<Vec<_>>(),
        [1, 2, 1, 2, 1, 2]
    );
    assert_eq!(stage.seixo("bench --steps 0").code, 2);
}

#[test]
fn the_environment_sets_the_number_of_threads_where_no_option_does() {
    let stage = Stage::new();
    let threads = |variable: &str, option: &str| {
        let line = format!("{QUICK} --json {option}");
        let done = stage.seixo_with(&line, &[("RAYON_NUM_THREADS", variable)]).succeeded(&line);
        let measured: Value = serde_json::from_str(&done.out).unwrap();
        measured["threads"].as_u64().unwrap()
    };
    let cores = std::thread::available_parallelism().unwrap().get() as u64;
    assert_eq!([threads("3", ""), threads("3", "--threads 2"), threads("0", "")], [3, 2, cores]);
}

#[test]
fn polyhedra_are_measured_in_a_drum_and_at_rest() {
    let stage = Stage::new();
    let measured = |more: &str| -> Value {
        let line = format!("bench polyhedra --steps 5 --repeat 2 --threads 1 --json {more}");
        serde_json::from_str(&stage.succeed(&line).out).unwrap()
    };
    let number = |line: &Value, key: &str| line[key].as_f64().unwrap();
    let drum = measured("--particles 60 --settle 30");
    assert_eq!(
        (&drum["case"], &drum["shape"], &drum["particles"]),
        (&"drum".into(), &"rock".into(), &60.into())
    );
    let faces: Vec<u64> = serde_json::from_value(drum["faces"].clone()).unwrap();
    assert!(8 <= faces[0] && faces[0] <= faces[1] && faces[1] <= 14, "{faces:?}");
    assert!(
        number(&drum, "slowest") > 0.0 && number(&drum, "slowest") <= number(&drum, "fastest"),
        "{drum}"
    );
    assert!(
        drum["drum"]["fill"].as_f64() > Some(0.0) && number(&drum, "kinetic_per_particle") > 0.0,
        "{drum}"
    );

    // Each of 27 cubes touches the next one along each axis: 54 pairs of faces, with at least four contacts each.
    let rest = measured("--case rest --particles 27");
    assert_eq!(
        (&rest["shape"], &rest["faces"], &rest["drum"]),
        (&"cube".into(), &serde_json::json!([6, 6]), &Value::Null)
    );
    assert!((number(&rest, "touching_pairs_per_particle") - 2.0).abs() < 1e-12, "{rest}");
    assert!(number(&rest, "contacts_per_particle") > 7.99, "{rest}");
    assert!(
        number(&rest, "candidates_per_particle") > 2.0 && number(&rest, "bytes_per_particle") > 100.0,
        "{rest}"
    );

    let refused = stage.seixo("bench polyhedra --case rest --shape rock");
    assert!(refused.code == 2 && refused.err.contains("--shape"), "{}", refused.err);
}

#[test]
fn measurements_are_added_to_a_table_and_compared() {
    let stage = Stage::new();
    stage.succeed(&format!("{QUICK} --threads 1,2 --record table.csv --commit aaa --note quiet,cold"));
    let second = format!("{QUICK} --threads 1 --record table.csv");
    let done = stage.seixo_with(&second, &[("SEIXO_COMMIT", "bbb")]);
    assert_eq!(done.code, 0, "{}", done.err);
    // Other work is another series.
    stage.succeed(&format!("{QUICK} --threads 1 --skin 0.0001 --record table.csv --commit bbb"));
    let table = stage.read("table.csv");
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert!(lines.len() == 5 && lines.iter().all(|cells| cells.len() == 14), "{table}");
    let column = |k: usize| lines[1..].iter().map(|cells| cells[k]).collect::<Vec<_>>();
    assert_eq!(column(1), ["aaa", "aaa", "bbb", "bbb"]);
    assert_eq!(column(4), ["1", "2", "1", "1"]);
    assert_eq!(column(6)[0], "--settle 100 --steps 10");
    assert_eq!(column(6)[3], "--skin 0.0001 --settle 100 --steps 10");
    assert_eq!(column(13), ["quiet;cold", "quiet;cold", "", ""]);

    let done = stage.succeed("bench history table.csv --case bed --json");
    let series: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(series.len(), 3, "{}", done.out);
    let rate = |row: &Value| row["particle_steps_per_second"].as_f64().unwrap();
    let (newest, before) = (&series[0]["newest"], &series[0]["before"]);
    assert_eq!((&newest["commit"], &before["row"]["commit"]), (&"bbb".into(), &"aaa".into()));
    let ratio = rate(newest) / rate(&before["row"]);
    assert!((before["ratio"].as_f64().unwrap() / ratio - 1.0).abs() < 1e-12, "{before}");
    assert!(series[1]["before"].is_null() && series[2]["best"].is_null(), "{}", done.out);
    let text = stage.succeed("bench history table.csv").out;
    assert!(text.contains("of the one before, aaa of ") && text.contains("quiet;cold"), "{text}");
    assert_eq!(stage.succeed("bench history table.csv --case tank").out.trim(), "");
}

#[test]
fn a_table_that_cannot_take_a_row_is_refused_before_the_measurement() {
    let stage = Stage::new();
    stage.write("other.csv", "time [s],height [m]\n0,1\n");
    for (line, reported) in [
        ("bench --record table.csv", "--commit"),
        ("bench --record other.csv --commit aaa", "first line"),
        ("bench --record nowhere/table.csv --commit aaa", "no folder nowhere"),
        ("bench history missing.csv", "no such file"),
        ("bench --commit aaa", "--record"),
    ] {
        let refused = stage.seixo_with(line, &[("SEIXO_COMMIT", "")]);
        assert!(refused.code == 2 && refused.err.contains(reported), "{line}: {}", refused.err);
    }
    assert!(!stage.path("table.csv").exists());
    assert_eq!(stage.read("other.csv"), "time [s],height [m]\n0,1\n");
}

#[test]
fn the_kept_history_can_be_read() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence/history.csv");
    Stage::new().succeed(&format!("bench history {}", table.display()));
}

#[test]
fn a_bed_of_many_sizes_is_measured_by_contact() {
    let stage = Stage::new();
    let line = "bench bed --radii 1:4 --particles 400 --settle 6000 --steps 10 --repeat 1 --threads 1,2 --json";
    let done = stage.succeed(line);
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{}", done.out);
    for line in &lines {
        let of = |key: &str| line[key].as_f64().unwrap_or_else(|| panic!("{key}: {line}"));
        assert_eq!((of("ratio_of_radii"), of("particles")), (4.0, 400.0));
        let contact_steps = of("contacts_per_particle") * of("particles") * 10.0;
        let expected = of("seconds") * of("threads") / contact_steps;
        assert!((of("seconds_per_contact") / expected - 1.0).abs() < 1e-9, "{line}");
    }
    let speed = |line: &Value| line["particle_steps_per_second"].as_f64().unwrap();
    assert!(lines[0]["speedup"].is_null());
    let speedup = speed(&lines[1]) / speed(&lines[0]);
    assert!((lines[1]["speedup"].as_f64().unwrap() / speedup - 1.0).abs() < 1e-12);
    for (line, reported) in [
        ("bench bed --radii 16", "such as 1:16"),
        ("bench bed --radii 1:100", "1:64"),
        ("bench lattice --radii 1:2", "not for lattice"),
        ("bench bed --radii 1:2 --solid-fraction 0.5", "0.32"),
    ] {
        let refused = stage.seixo(line);
        assert!(refused.code == 2 && refused.err.contains(reported), "{line}: {}", refused.err);
    }
}
