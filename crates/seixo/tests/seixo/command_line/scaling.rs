//! Measurement of scaling, and predictions for more devices.

use crate::command_line::stage::Stage;
use serde_json::Value;

/// Lines of JSON.
fn values(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(lines: &[Value], what: &str) -> Vec<f64> {
    lines.iter().map(|line| line[what].as_f64().unwrap()).collect()
}

/// So few grains and steps that speeds are meaningless.
const QUICK: &str = "--particles 30000 --solid-fraction 0.5 --settle 4 --steps 5 --repeat 2";

#[test]
fn a_timeline_has_the_steps_of_each_domain() {
    let stage = Stage::new();
    stage.succeed(&format!(
        "bench scaling --domains 1,2 {QUICK} --json --trace two.json --trace-steps 3"
    ));
    let timeline: Value = serde_json::from_str(&stage.read("two.json")).unwrap();
    let steps = timeline["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["name"] == "step");
    let domains: Vec<u64> = steps.map(|event| event["pid"].as_u64().unwrap() - 1).collect();
    assert_eq!([0, 1].map(|domain| domains.iter().filter(|&&of| of == domain).count()), [3, 3]);
}

#[test]
fn domains_are_measured_and_more_of_them_predicted() {
    let stage = Stage::new();
    let table = stage
        .succeed(&format!("bench scaling --domains 2,1 --strong --weak {QUICK} --json measured.json"))
        .out;
    assert_eq!(table.matches("efficiency").count(), 2, "{table}");
    assert_eq!(
        table.lines().filter(|line| line.trim_start().starts_with("whole")).count(),
        2,
        "{table}"
    );
    let lines = values(&stage.read("measured.json"));
    assert_eq!(numbers(&lines, "domains"), [1.0, 1.0, 2.0, 1.0, 1.0, 2.0]);
    assert_eq!(numbers(&lines, "grains"), [3e4, 3e4, 3e4, 3e4, 3e4, 6e4]);
    for (k, line) in lines.iter().enumerate() {
        assert_eq!(line["scaling"], if k < 3 { "strong" } else { "weak" });
        assert_eq!((&line["device"], &line["precision"]), (&"CPU".into(), &"f64".into()));
        assert_eq!(
            (
                line["decomposition_invariant"].as_bool(),
                line["measurements"].as_array().unwrap().len()
            ),
            (Some(k % 3 > 0), 2)
        );
        assert!(line["grain_steps_per_second"].as_f64().unwrap() > 1e3 && !line["version"].as_str().unwrap().is_empty());
        assert_eq!(line["efficiency"].is_null(), k % 3 == 0);
        assert_eq!(line["rebuilding"].is_null(), k % 3 == 2);
    }
    assert_eq!(
        (lines[1]["efficiency"].as_f64(), lines[4]["efficiency"].as_f64()),
        (Some(1.0), Some(1.0))
    );
    for what in ["exchanging", "messages_per_step", "bytes_per_step", "collectives_per_step"] {
        let found = numbers(&lines, what);
        assert!(
            [2, 5].iter().all(|&k| found[k] > 0.0) && [0, 1, 3, 4].iter().all(|&k| found[k] == 0.0),
            "{what}: {found:?}"
        );
    }
    assert!(numbers(&lines, "exchanging").iter().all(|share| *share < 1.0));
    // Twice as many grains have the same halo.
    let [strong, weak] = [2, 5].map(|k| numbers(&lines, "bytes_per_step")[k]);
    assert!((0.5..2.0).contains(&(weak / strong)), "{weak} {strong}");

    let text = stage.succeed("bench scaling --predict 2,1024 measured.json").out;
    for part in ["strong scaling, 30 000 grains", "weak scaling", "largest term", "off by"] {
        assert!(text.contains(part), "without \"{part}\": {text}");
    }
    // Grains that interact over ten times the distance.
    let farther = |line: &Value| {
        let mut line = line.clone();
        line["reach"] = (10.0 * line["reach"].as_f64().unwrap()).into();
        line.to_string()
    };
    stage.write("far.json", &lines.iter().map(farther).collect::<Vec<_>>().join("\n"));
    let done = stage.succeed("bench scaling --predict 2,1024 far.json");
    assert!(done.err.contains("1024 domains: there is room for"), "{}", done.err);
    let reported = values(&stage.succeed("bench scaling --predict 1,64 measured.json --json").out);
    assert!(
        reported.len() == 5 && reported[0]["costs"]["grain"].as_f64().unwrap() > 0.0,
        "{reported:?}"
    );
    assert_eq!(numbers(&reported[1..], "domains"), [1.0, 64.0, 1.0, 64.0]);
    let efficiency = numbers(&reported[1..], "efficiency");
    assert!(
        (efficiency[0] - 1.0).abs() < 1e-12 && efficiency[1] < 1.0 && efficiency[3] < 1.0,
        "{efficiency:?}"
    );
}

#[test]
fn selections_of_ghosts_are_compared() {
    let stage = Stage::new();
    let line = "bench scaling --case gas --domains 1,2 --ghosts all,layers --particles 30000 --steps 40 --repeat 1 --json gas.json";
    let table = stage.succeed(line).out;
    assert!(table.contains("%, all") && table.contains("%, layers"), "{table}");
    let lines = values(&stage.read("gas.json"));
    let ghosts: Vec<Option<&str>> = lines.iter().map(|line| line["ghosts"].as_str()).collect();
    assert_eq!(ghosts, [None, None, Some("all"), Some("layers")]);
    let [selecting, tested] = ["selecting", "tested_per_step"].map(|what| numbers(&lines, what));
    assert!(
        selecting[..2] == [0.0; 2] && selecting[2..].iter().all(|share| (1e-9..1.0).contains(share)),
        "{selecting:?}"
    );
    // Either domain is 16 grains wide. The layers at its two borders are three grains wide each.
    assert!(0.0 < tested[3] && 2.0 * tested[3] < tested[2], "{tested:?}");
    assert_eq!(lines[2]["rebuilds_per_step"], lines[3]["rebuilds_per_step"]);
    assert_eq!(lines[2]["bytes_per_step"], lines[3]["bytes_per_step"]);
}

#[test]
fn domains_on_a_gpu_are_measured() {
    let stage = Stage::new();
    let line = "bench scaling --case gas --domains 2 --device gpu --particles 30000 --steps 2 --repeat 1 --json";
    let lines = values(&stage.succeed(line).out);
    assert!(
        lines.len() == 1 && lines[0]["device"].as_str().unwrap().contains("gpu:0"),
        "{lines:?}"
    );
    assert_eq!((&lines[0]["case"], &lines[0]["precision"]), (&"gas".into(), &"mixed".into()));
    assert!(lines[0]["efficiency"].is_null() && lines[0]["threads"].is_null());
    assert!(lines[0]["bytes_per_step"].as_f64().unwrap() > 0.0);
}

#[test]
fn domains_of_a_lattice_make_their_own_grains() {
    let stage = Stage::new();
    let line = "bench scaling --case lattice --domains 2 --gpus 1 --particles 30000 --steps 2 --repeat 1 --weak --json";
    let lines = values(&stage.succeed(line).out);
    assert_eq!((numbers(&lines, "grains"), numbers(&lines, "gpus")), (vec![59582.0], vec![1.0]));
    assert_eq!(numbers(&lines, "rebuilds_per_step"), [0.0]);
    assert!(
        (300.0..2000.0).contains(&lines[0]["bytes_per_particle"].as_f64().unwrap()),
        "{lines:?}"
    );
    assert!(lines[0]["bytes_per_step"].as_f64().unwrap() > 0.0);
}

#[test]
fn what_cannot_be_measured_or_predicted_is_refused_in_words() {
    let stage = Stage::new();
    stage.succeed(&format!("bench scaling --domains 1 {QUICK} --json one.json"));
    let one = stage.read("one.json");
    stage.write("mixed.json", &format!("{one}{}", one.replace("\"bed\"", "\"gas\"")));
    for (line, reported) in [
        ("bench scaling --particles 100", "30000"),
        ("bench scaling --domains 2 --gpus 1,2", "--domains"),
        ("bench scaling --ghosts some", "layers"),
        ("bench scaling --solid-fraction 0.9", "0.05 to 0.6"),
        ("bench scaling --gpus 2 --device cpu --settle 0 --particles 30000", "--gpus"),
        ("bench scaling --predict 64", "<FILE>"),
        ("bench scaling --predict 64 one.json --json other.json", "give --json alone"),
        ("bench scaling --predict 64 nowhere.json", "nowhere.json"),
        ("bench scaling --predict 64 heap.toml", "line 2"),
        ("bench scaling --predict 64 one.json", "several devices"),
        ("bench scaling --predict 64 mixed.json", "a file for each"),
    ] {
        let done = stage.seixo(line);
        assert!(done.code == 2 && done.err.contains(reported), "{line}: {} {}", done.code, done.err);
    }
}
