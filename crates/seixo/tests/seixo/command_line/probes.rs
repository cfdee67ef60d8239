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
[probe.torque]
wall_torque = "drum"
[probe.ledger]
energy = true
"#;

/// Returns a column of a probe by the start of its header, as far as the name.
fn column(stage: &Stage, run: &str, probe: &str, name: &str) -> Vec<f64> {
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
