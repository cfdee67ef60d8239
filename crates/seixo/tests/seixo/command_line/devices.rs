//! Runs on devices other than the CPU. Software Vulkan suffices as a GPU.

use crate::command_line::stage::{Done, Stage};
use seixo::files::vtk;
use serde_json::Value;

/// Returns all numbers of a table of energies.
fn energies(stage: &Stage, run: &str) -> Vec<Vec<f64>> {
    let text = stage.read(&format!("{run}/energies.csv"));
    let numbers = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    text.lines().skip(1).map(numbers).collect()
}

/// Asserts that energies differ by rounding only, as a share of the largest energy in their line.
fn assert_same_energies(stage: &Stage, run: &str, reference: &str) {
    let (found, expected) = (energies(stage, run), energies(stage, reference));
    assert_eq!(found.len(), expected.len());
    for (line, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found[0], expected[0], "line {line}: times");
        let scale = expected[1..].iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        for (column, (a, b)) in found.iter().zip(expected).enumerate() {
            assert!(
                (a - b).abs() <= 1e-9 * scale,
                "line {line}, column {column}: {a} and {b} of {scale}"
            );
        }
    }
}

/// Runs a command without any GPU driver.
fn without_gpus(stage: &Stage, line: &str) -> Done {
    let nowhere = [
        ("VK_DRIVER_FILES", "/nonexistent"),
        ("VK_ICD_FILENAMES", "/nonexistent"),
        ("CUDA_VISIBLE_DEVICES", ""),
    ];
    stage.seixo_with(line, &nowhere)
}

/// Returns how many spans of this name the host of a domain has in a timeline.
fn spans_named(timeline: &Value, name: &str, domain: u64) -> usize {
    let events = timeline["traceEvents"].as_array().unwrap();
    let is_asked = |event: &&Value| event["ph"] == "X" && event["name"] == name && event["pid"] == 1 + domain && event["tid"] == 0;
    events.iter().filter(is_asked).count()
}

#[test]
fn a_timeline_shows_what_each_domain_did_and_changes_no_result() {
    let stage = Stage::new();
    let line = "run heap.toml --until 0.02 --quiet --domains 2";
    stage.succeed(&format!("{line} --out plain"));
    stage.succeed(&format!("{line} --out traced --trace timeline.json --trace-steps 20..60"));
    stage.assert_same("traced", "plain");
    let timeline: Value = serde_json::from_str(&stage.read("timeline.json")).unwrap();
    for domain in [0, 1] {
        for name in ["step", "agreement on neighbor lists"] {
            assert_eq!(spans_named(&timeline, name, domain), 40, "{name} of domain {domain}");
        }
        assert!(spans_named(&timeline, "contacts", domain) >= 40, "domain {domain}");
    }
    let late = stage.succeed(&format!("{line} --out late --trace late.json --trace-steps 1000000000..1000000040"));
    assert!(!stage.path("late.json").exists(), "{}", late.out);
    assert!(stage.read("late/log.jsonl").contains("late.json was not written"));
    let refused = stage.seixo("run heap.toml --trace a.json --trace-steps 60..20");
    assert!(refused.code == 2 && refused.err.contains("2000..2040"), "{}", refused.err);
}

#[test]
fn a_divided_run_writes_what_an_undivided_one_does() {
    let stage = Stage::new();
    let short = "--until 0.05 --quiet --threads 2";
    stage.succeed(&format!("run heap.toml {short} --set run.decomposition_invariant=true --out whole"));
    stage.succeed(&format!("run heap.toml {short} --domains 3 --out divided"));
    stage.succeed("run heap.toml --until 0.02 --quiet --domains 2 --out resumed");
    stage.succeed("resume resumed --until 0.05 --quiet --domains 4");
    let expected = stage.results("whole");
    // The scene contains the number of subdomains, and sums over all grains agree only to rounding.
    let is_same_to_the_bit = |name: &str| !["scene.toml", "energies.csv", "probes/ledger.csv"].contains(&name);
    for run in ["divided", "resumed"] {
        let found = stage.results(run);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, bytes) in expected.iter().filter(|(name, _)| is_same_to_the_bit(name)) {
            assert!(&found[name] == bytes, "{run}: {name} differs");
        }
        assert_same_energies(&stage, run, "whole");
    }
    let done = stage.seixo("run heap.toml --domains 500 --out much");
    assert!(
        done.code == 2 && done.err.contains("domains are too many"),
        "{}: {}",
        done.code,
        done.err
    );
}

#[test]
fn domains_on_a_gpu_write_the_frames_of_one() {
    let stage = Stage::new();
    let scene = stage.read("heap.toml");
    let (scene, _) = scene.split_once("[output]").unwrap();
    let output = "[output]\nevery = \"10 ms\"\nfields = [\"velocity\", \"force\", \"coordination\"]\n";
    stage.write("plain.toml", &format!("{scene}{output}"));
    let mixed = "--quiet --set run.time_step=15us --device gpu --precision mixed";
    stage.succeed(&format!(
        "run plain.toml {mixed} --until 0.03 --set run.decomposition_invariant=true --out whole"
    ));
    stage.succeed(&format!("run plain.toml {mixed} --until 0.03 --domains 2 --out divided"));
    stage.succeed(&format!("run plain.toml {mixed} --until 0.015 --domains 3 --out resumed"));
    stage.succeed("resume resumed --quiet --until 0.03 --domains 2");
    let expected = stage.results("whole");
    let frames = || expected.iter().filter(|(name, _)| name.starts_with("fields/"));
    assert!(frames().count() > 4, "{:?}", expected.keys());
    for run in ["divided", "resumed"] {
        let found = stage.results(run);
        for (name, bytes) in frames() {
            assert!(found.get(name) == Some(bytes), "{run}: {name} differs");
        }
    }
}

#[test]
fn a_run_on_the_cpu_in_mixed_precision_resumes_to_the_bit() {
    let stage = Stage::new();
    let mixed = "--quiet --precision mixed";
    stage.succeed(&format!("run heap.toml {mixed} --until 0.05 --threads 1 --out whole"));
    stage.succeed(&format!("run heap.toml {mixed} --until 0.02 --threads 2 --out resumed"));
    stage.succeed(&format!("resume resumed {mixed} --until 0.05"));
    stage.succeed("run heap.toml --quiet --until 0.05 --out double");
    let found = stage.record("whole");
    assert_eq!((&found["device"], &found["precision"]), (&"CPU".into(), &"mixed".into()));
    let [whole, resumed, double] = ["whole", "resumed", "double"].map(|run| stage.read(&format!("{run}/energies.csv")));
    assert_eq!(whole, resumed);
    assert_ne!(whole, double);
}

#[test]
fn words_that_name_no_device_are_refused() {
    let stage = Stage::new();
    for (line, reported) in [
        ("run heap.toml --device gup", "did you mean `gpu`?"),
        ("run heap.toml --set run.device=gpu:first", "gpu:N"),
        ("run heap.toml --device gpu:99", "no GPU 99"),
        ("run heap.toml --device wgpu:99", "wgpu:99 was asked for"),
        ("run heap.toml --precision half", "f64"),
        ("run heap.toml --device cpu --precision f32", "the CPU computes in f64 or mixed"),
        ("resume heap.out --device gup", "did you mean `gpu`?"),
        ("check heap.toml --device gup", "did you mean `gpu`?"),
        ("bench --device gup", "did you mean `gpu`?"),
        ("bench lattice --particles 8 --precision f32", "the CPU computes in f64"),
        ("verify resting --device gup", "did you mean `gpu`?"),
        ("verify resting --precision f32", "the CPU computes in f64"),
    ] {
        let done = stage.seixo(line);
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        assert!(done.err.contains(reported), "{line}: {}", done.err);
    }
    assert!(!stage.path("heap.out").exists());
}

#[test]
fn without_a_gpu_only_auto_falls_back_and_says_so() {
    let stage = Stage::new();
    for line in [
        "run heap.toml --device gpu",
        "check heap.toml --device wgpu",
        "bench lattice --particles 8 --device gpu",
        "verify resting --device gpu",
    ] {
        let done = without_gpus(&stage, line);
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        for reported in ["no usable GPU", "CUDA: ", "Vulkan/Metal/DirectX 12: no driver offers an adapter"] {
            assert!(done.err.contains(reported), "{line}: {}", done.err);
        }
    }
    assert!(!stage.path("heap.out").exists());
    // A number of GPUs asks for a GPU, unless a device is named.
    for line in ["check heap.toml --gpus 1", "run heap.toml --gpus 1", "verify resting --gpus 1"] {
        let done = without_gpus(&stage, line);
        assert!(done.code == 2 && done.err.contains("no usable GPU"), "{line}: {}", done.err);
    }
    let done = without_gpus(&stage, "check heap.toml --gpus 1 --device cpu");
    assert_eq!(done.code, 0, "{}", done.err);
    let done = without_gpus(&stage, "run heap.toml --until 0.002 --device auto");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.err.contains("note: no GPU found") && done.err.contains("on CPU (f64"),
        "{}",
        done.err
    );
    let done = without_gpus(&stage, "resume heap.out --until 0.004 --device auto");
    assert!(done.code == 0 && done.err.contains("note: no GPU found"), "{}", done.err);
    assert_eq!(stage.record("heap.out")["device"], "CPU");
    stage.succeed("run heap.toml --until 0.004 --quiet --out plain");
    assert_eq!(stage.read("heap.out/energies.csv"), stage.read("plain/energies.csv"));
    let reported = without_gpus(&stage, "info").out;
    assert!(
        reported.contains("no driver offers an adapter") && !reported.contains("gpu:0"),
        "{reported}"
    );
}

#[test]
fn a_run_on_a_gpu_writes_what_one_on_the_cpu_writes() {
    let stage = Stage::new();
    let short = "--until 0.03 --set run.time_step=15us --set checkpoint.every=50ms";
    stage.succeed(&format!("run heap.toml --quiet {short} --out cpu"));
    let done = stage.succeed(&format!("run heap.toml {short} --device gpu --precision f64 --out gpu"));
    let record = stage.record("gpu");
    assert_eq!((&record["precision"], &record["result"]), (&"f64".into(), &"finished".into()));
    let device = record["device"].as_str().unwrap();
    assert!(device.contains("gpu:0") && done.err.contains(device), "{device}: {}", done.err);
    assert!(record["contacts"].as_u64().unwrap() > 0 && record["bytes_per_particle"].as_f64().unwrap() > 0.0);
    assert_same_energies(&stage, "gpu", "cpu");
    let [found, expected] = ["gpu", "cpu"].map(|run| stage.results(run));
    assert!(found.keys().eq(expected.keys()), "the files");
    assert_eq!(found["fields/grains.pvd"], expected["fields/grains.pvd"]);
    // After 2000 steps rounding errors are some 1e-9, and frames have seven digits.
    let contacts = |run: &str| vtk::read_contacts(&stage.path(&format!("{run}/contacts/contacts_000003.vtp"))).unwrap();
    let [on_gpu, on_cpu] = ["gpu", "cpu"].map(contacts);
    let strongest = on_cpu.normal_force.iter().copied().fold(0.0, f64::max);
    assert!(on_cpu.ends.len() > 20 && on_gpu.is_in_chain == on_cpu.is_in_chain);
    for (a, b) in on_gpu.normal_force.iter().zip(&on_cpu.normal_force) {
        assert!((a - b).abs() <= 1e-5 * strongest, "{a} {b}");
    }
    let profile = stage.read("gpu/profile.csv");
    let line = |pass: &str| {
        profile
            .lines()
            .find(|line| line.starts_with(pass))
            .unwrap()
            .split(',')
            .collect::<Vec<_>>()
    };
    assert_eq!(line("grain steps,")[3], "2000", "{profile}");
    assert!(
        line("neighbor lists,")[3].parse::<u64>().unwrap() > 3 && line("outputs,")[1].parse::<f64>().unwrap() > 0.0,
        "{profile}"
    );
    assert!(stage.read("gpu/scene.toml").contains("device = \"gpu\"\nprecision = \"f64\""));

    let reported: Value = serde_json::from_str(&stage.succeed("info --json").out).unwrap();
    assert!(
        device.contains(reported["devices"]["gpus"]["gpu:0"]["name"].as_str().unwrap()),
        "{reported}"
    );
    let checked: Value = serde_json::from_str(&stage.succeed("check heap.toml --device gpu --json").out).unwrap();
    assert_eq!(
        (checked["device"].as_str(), checked["precision"].as_str()),
        (Some(device), Some("mixed"))
    );
}

#[test]
fn water_carries_gravel_on_every_device() {
    let stage = Stage::new();
    let example = include_str!("../../../../../examples/gravel_in_water.toml");
    let above = r#"min = ["6 cm", "2 cm", "15 cm"], max = ["18 cm", "10 cm", "25 cm"]"#;
    assert!(example.contains(above), "{example}");
    let under_water = r#"min = ["8 cm", "1 cm", "1 cm"], max = ["18 cm", "11 cm", "11 cm"]"#;
    stage.write("gravel.toml", &example.replace(above, under_water));
    let short = "--until 0.004 --set output.energies_every=1ms";
    stage.succeed(&format!("run gravel.toml --quiet {short} --out cpu"));
    for device in ["gpu", "heterogeneous"] {
        stage.succeed(&format!(
            "run gravel.toml --quiet {short} --device {device} --precision f64 --out {device}"
        ));
        assert_same_energies(&stage, device, "cpu");
    }
}

#[test]
fn a_run_goes_on_on_another_device() {
    let stage = Stage::new();
    stage.succeed("run heap.toml --quiet --until 0.03 --out whole");
    stage.succeed("run heap.toml --quiet --until 0.024 --out moved");
    assert!(stage.record("moved")["contacts"].as_u64().unwrap() > 0);
    let done = stage.succeed("resume moved --until 0.027 --device gpu --precision f64");
    assert!(done.err.contains("gpu:0"), "{}", done.err);
    assert_eq!(stage.record("moved")["precision"], "f64");
    stage.succeed("resume moved --until 0.03");
    assert_eq!(stage.record("moved")["device"], "CPU");
    assert_same_energies(&stage, "moved", "whole");
}

#[test]
fn a_run_that_stops_on_a_gpu_closes_its_ledger() {
    let stage = Stage::new();
    let narrow = "domain = { min = [\"-3 cm\", \"-3 cm\", \"2 mm\"], max = [\"3 cm\", \"3 cm\", \"20 cm\"] }\nleaving = \"error\"\n";
    let scene = stage.read("heap.toml").replace("open = [\"top\"]", "open = [\"top\", \"bottom\"]");
    stage.write("leak.toml", &scene.replace("[material.clay]", &format!("{narrow}[material.clay]")));
    let done = stage.seixo("run leak.toml --device gpu --precision mixed");
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(
        done.err.contains("left the domain") && done.err.contains("last good state"),
        "{}",
        done.err
    );
    let record = stage.record("leak.out");
    assert_eq!((&record["result"], &record["precision"]), (&"failed".into(), &"mixed".into()));
    assert!(record["reason"].as_str().unwrap().contains("left the domain"));
}

#[test]
fn benches_and_verifications_run_on_a_gpu() {
    let stage = Stage::new();
    let done = stage.succeed("bench lattice lattice-normal lattice-cells --device gpu --particles 512 --steps 4 --repeat 2 --json");
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let cases: Vec<&str> = lines.iter().map(|line| line["case"].as_str().unwrap()).collect();
    assert_eq!(cases, ["lattice", "lattice-normal", "lattice-cells"]);
    for line in &lines {
        assert_eq!((&line["precision"], &line["particles"]), (&"mixed".into(), &512.into()));
        assert!(
            line["device"].as_str().unwrap().contains("gpu:0") && line["bandwidth_used"].as_f64().unwrap() > 0.0,
            "{line}"
        );
        assert!(
            (2.3..3.5).contains(&line["contacts_per_particle"].as_f64().unwrap()),
            "six a grain but at the walls: {line}"
        );
        assert!(line["copy_bandwidth"].is_null());
    }
    // The host does not count the cells that the GPU builds at every step.
    assert_eq!(lines[2]["rebuilds"], 0);
    let line = "bench lattice --device gpu --particles 512 --steps 4 --repeat 1 --assembly fused,contact_list,sorted_contacts --json";
    let done = stage.succeed(line);
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let assemblies: Vec<&str> = lines.iter().map(|line| line["assembly"].as_str().unwrap()).collect();
    assert_eq!(assemblies, ["fused", "contact_list", "sorted_contacts"]);
    let search = "bench search --particles 300 --spreads 4 --fluid 300 --repeat 1 --json";
    let pairs = |line: &str| -> Vec<Value> {
        let lines = stage
            .succeed(line)
            .out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .collect::<Vec<_>>();
        lines.into_iter().map(|line| line["pairs"].clone()).collect()
    };
    assert_eq!(pairs(search), pairs(&format!("{search} --device gpu")));
    let done = stage.succeed("verify resting --device gpu --precision mixed");
    assert!(done.out.contains("gpu:0") && done.out.contains("tolerance (mixed)"), "{}", done.out);
}
