//! Runs on CPU and GPU at the same time. Software Vulkan suffices as a GPU.

use crate::command_line::stage::Stage;

/// A ball of cork in a small tank: 384 particles of water, without those at the position of the ball, and wall particles.
const CORK: &str = r#"
title = "Little cork"
[run]
until = "30 ms"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[fluid.water]
density = "1000 kg/m^3"
artificial_viscosity = 0.1
support = 2.4
fill = { box = { min = [0, 0, 0], max = ["16 cm", "16 cm", "12 cm"] } }
spacing = "2 cm"
[material.cork]
density = "240 kg/m^3"
youngs_modulus = "0.5 MPa"
poisson_ratio = 0.2
[interaction.cork-cork]
restitution = 0.3
friction = 0.3
[grains.cork]
material = "cork"
at = [["8 cm", "8 cm", "10 cm"]]
radius = "4 cm"
displaces_fluid = true
[wall.tank]
material = "cork"
box = { min = [0, 0, 0], max = ["16 cm", "16 cm", "24 cm"], open = ["top"] }
[output]
every = "10 ms"
"#;

#[test]
fn a_heterogeneous_run_reports_when_cpu_and_gpu_were_at_work() {
    let stage = Stage::new();
    stage.write("cork.toml", CORK);
    stage.succeed("run cork.toml --quiet --device heterogeneous");
    let record = stage.record("cork.out");
    let device = record["device"].as_str().unwrap();
    assert!(device.starts_with("CPU and ") && device.contains("gpu:0"), "{device}");

    let trace = stage.read("cork.out/trace.csv");
    let rows: Vec<Vec<&str>> = trace.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["step", "processor", "pass", "start [s]", "end [s]"]);
    let steps: Vec<u64> = (1..=record["steps"].as_u64().unwrap()).collect();
    for (place, pass) in [("gpu", "fluid steps"), ("cpu", "contacts")] {
        let of_pass = rows.iter().filter(|row| row[1..3] == [place, pass]);
        let taken: Vec<u64> = of_pass.map(|row| row[0].parse().unwrap()).collect();
        assert_eq!(taken, steps, "{pass} of every step, once");
    }

    let reported = stage.succeed("plot cork.out trace").out;
    assert!(reported.contains("trace.svg"), "{reported}");
    let picture = stage.read("cork.out/plots/trace.svg");
    let share = picture
        .split("at work together for ")
        .nth(1)
        .and_then(|rest| rest.split(" %").next());
    let share: f64 = share.unwrap().parse().unwrap();
    assert!(share > 0.0 && share < 100.0, "{share} %");

    // A run on the CPU removes the trace, as it has none of its own.
    stage.succeed("run cork.toml --quiet --until 0.002 --force");
    assert!(!stage.path("cork.out/trace.csv").exists());
    let done = stage.seixo("plot cork.out trace");
    assert_eq!(done.code, 2);
    assert!(
        done.err.contains("trace.csv") && done.err.contains("--device heterogeneous"),
        "{}",
        done.err
    );
}
