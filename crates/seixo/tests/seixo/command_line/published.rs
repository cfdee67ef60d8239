//! Whole runs beside published wall times, in their short versions.

use crate::command_line::stage::Stage;
use serde_json::Value;

#[test]
fn every_published_case_runs_in_a_short_version() {
    let stage = Stage::new();
    let done = stage.succeed("bench published --short --json --threads 2 --out runs");
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<(&str, u64)> = lines
        .iter()
        .map(|line| (line["case"].as_str().unwrap(), line["steps"].as_u64().unwrap()))
        .collect();
    let grains = [("drum", 500), ("silo", 400), ("drum-mixing", 500), ("impact", 400), ("chute", 200)];
    assert_eq!((&found[..5], found.len(), found[5].0), (&grains[..], 6, "dam-break"));
    for line in &lines {
        let of = |key: &str| line[key].as_f64().unwrap_or_else(|| panic!("{key}: {line}"));
        assert!(of("seconds") >= of("run_seconds") && of("bytes_per_particle") > 100.0, "{line}");
        let rate = of("particle_steps") / of("run_seconds");
        assert!((of("particle_steps_per_second") / rate - 1.0).abs() < 1e-9, "{line}");
        let shares = ["share_of_steps", "share_of_lists", "share_of_outputs"].map(of);
        assert!(shares[0] > 0.0 && shares[2] > 0.0, "{line}");
        assert_eq!((&line["is_whole"], line["published"].as_array().unwrap().len()), (&false.into(), 0));
        // Only grains of which none leaves have a traffic.
        let case = line["case"].as_str().unwrap();
        assert_eq!(line["share_of_ceiling"].is_null(), ["silo", "dam-break"].contains(&case), "{line}");
    }
    let record = stage.record("runs/silo");
    assert_eq!(record["stage"], "empty", "the silo opened");
    let again = stage.seixo("bench published chute --short --out runs");
    assert_eq!(again.code, 2, "no run is overwritten: {}", again.err);
    assert!(again.err.contains("exists; name another folder"), "{}", again.err);
}

#[test]
fn published_lines_stand_below_the_run_of_their_case() {
    let stage = Stage::new();
    let table = stage.succeed("bench published drum --size 250k --until 0.00002").out;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 5, "{table}");
    assert!(
        lines[0].contains("particle-steps/s") && lines[1].starts_with("drum · CPU"),
        "{table}"
    );
    for (line, [hardware, time]) in lines[2..]
        .iter()
        .zip([["A4000", "38 min"], ["4050 Ti", "54 min"], ["4050 Ti", "1 h 08 min"]])
    {
        assert!(
            line.contains(hardware) && line.contains(time) && line.contains("250 000"),
            "{table}"
        );
    }
}

#[test]
fn sizes_without_a_published_run_are_refused_before_any_run() {
    let stage = Stage::new();
    for (line, phrase) in [
        ("bench published drum --size 300k", "250k, 500k"),
        ("bench published --size 1M", "one size"),
        ("bench published dam-break --size 4000", "at least 5000"),
        ("bench published drum --size many", "whole number"),
        ("bench published drum --size 1M --short", "--short"),
        ("bench published mill", "drum-mixing"),
        ("bench published chute --short --until 5m", "run.until"),
    ] {
        let done = stage.seixo(line);
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        assert!(done.err.contains(phrase), "{line}: no `{phrase}` in {}", done.err);
    }
}
