//! Bonds: beams under load, failure, and wave speed.

use super::case_run::{CaseRun, Done, Outcome, advance, run_until};
use seixo_engine::Simulation;
use seixo_engine::world::{Load, Vec3, WallMotion, WallPath};
use seixo_laws::bond::BreakMode;

/// Local damping while a beam comes to rest \[-\].
const DAMPING: f64 = 0.7;

/// Returns the beam at rest under a load on its last group.
fn at_rest(case_run: &CaseRun, force: Vec3, torque: Vec3) -> Outcome<Simulation> {
    let mut scene = case_run.scene()?;
    scene.world.local_damping = DAMPING;
    for load in &mut scene.world.loads {
        *load = Load::constant(load.group, force, torque);
    }
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    run_until(&mut simulation, scene.run.until)?;
    Ok(simulation)
}

/// Angles of a small rotation about each axis \[rad\].
fn angles([w, x, y, z]: [f64; 4]) -> Vec3 {
    [x, y, z].map(|part| 2.0 * (part / w).atan())
}

/// Displacements and rotations of the tip of a cantilever, and its frequency.
pub fn cantilever(case_run: &mut CaseRun) -> Done {
    let last = case_run.scene()?.world.grains.len() - 1;
    let across = at_rest(case_run, [0.0, 0.0, -1.0], [0.0; 3])?;
    let way = -across.snapshot().position[last][2];
    let ledger = across.ledger();
    let held = ledger.elastic_bonds + ledger.local_damping + ledger.kinetic + ledger.rotational;
    let start = case_run.scene()?.world.grains.position[last][0];
    let along = at_rest(case_run, [1.0, 0.0, 0.0], [0.0; 3])?.snapshot().position[last][0] - start;
    let turned =
        |torque: Vec3| Ok::<Vec3, Box<dyn std::error::Error>>(angles(at_rest(case_run, [0.0; 3], torque)?.snapshot().orientation[last]));
    let twist = turned([1e-3, 0.0, 0.0])?[0];
    let bent = turned([0.0, 1e-3, 0.0])?[1];

    let scene = case_run.scene()?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let (mut before, mut curve) = (0.0, Vec::new());
    let mut crossings = Vec::new();
    while crossings.len() < 21 && simulation.time() < 10.0 * scene.run.until {
        advance(&mut simulation, 10)?;
        let (time, tip) = (simulation.time(), -simulation.snapshot().position[last][2]);
        let off = tip - way;
        let step = 10.0 * simulation.time_step().value;
        if before * off < 0.0 {
            crossings.push(time - step * off / (off - before));
        }
        before = off;
        curve.push((time, tip));
    }
    let periods = 0.5 * (crossings.len() - 1) as f64;
    let frequency = periods / (crossings[crossings.len() - 1] - crossings[0]);
    case_run.curve(
        "tip",
        ["time [s]", "way of the tip [m]"],
        vec![
            ("measured".into(), curve.iter().step_by(20).copied().collect()),
            ("at rest".into(), vec![(0.0, way), (curve.last().map_or(0.0, |point| point.0), way)]),
        ],
    );
    case_run.compare(&[way, along, twist, bent, frequency, ledger.wall_work / held])
}

/// Displacement or angle at which a single bond breaks, for each mode.
pub fn failure(case_run: &mut CaseRun) -> Done {
    let strength = 1e5;
    let reference = case_run.reference::<2>()?;
    let expected = |row: usize| reference[row].1[0];
    let modes = [BreakMode::Tension, BreakMode::Shear, BreakMode::Bending, BreakMode::Twist];
    let (mut measured, mut as_expected, mut released) = (Vec::new(), 0.0, f64::NAN);
    for (row, mode) in modes.into_iter().enumerate() {
        let mut scene = case_run.scene()?;
        let bonds = &mut scene.world.bonds[0];
        match mode {
            BreakMode::Tension | BreakMode::Bending => bonds.tensile_strength = strength,
            _ => bonds.cohesion = strength,
        }
        // Fast to just below the strength, then slowly beyond it.
        let ways = [0.0, 0.999, 1.001].map(|share| share * expected(row));
        let (direction, axis) = match mode {
            BreakMode::Tension => ([1.0, 0.0, 0.0], [0.0; 3]),
            BreakMode::Shear => ([0.0, 1.0, 0.0], [0.0; 3]),
            BreakMode::Bending => ([0.0; 3], [0.0, 0.0, 1.0]),
            _ => ([0.0; 3], [1.0, 0.0, 0.0]),
        };
        let times = vec![0.0, 1e-3, 11e-3];
        let body = &mut scene.world.grains.bodies[1];
        body.motion = Some(WallMotion {
            through: body.center,
            path: Some(WallPath {
                time: times.clone(),
                position: ways.iter().map(|way| direction.map(|part| part * way)).collect(),
                axis,
                angle: if axis == [0.0; 3] { Vec::new() } else { ways.to_vec() },
            }),
            ..WallMotion::default()
        });
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        run_until(&mut simulation, scene.run.until)?;
        let breaks = simulation.drain_bond_breaks();
        let Some(first) = breaks.first() else {
            return Err(format!("{}: nothing broke", mode.keyword()).into());
        };
        as_expected += f64::from(u8::from(first.mode == mode));
        // Displacement at the time of the break: another grain follows the same path, and its position is read.
        let mut again = case_run.scene()?;
        again.world.grains.bodies[1].motion = Some(WallMotion {
            through: again.world.grains.bodies[1].center,
            path: Some(WallPath {
                time: times,
                position: ways.iter().map(|way| [*way, 0.0, 0.0]).collect(),
                axis: [0.0; 3],
                angle: Vec::new(),
            }),
            ..WallMotion::default()
        });
        let start = again.world.grains.position[1][0];
        let mut again = Simulation::new(again.world, again.settings)?;
        run_until(&mut again, first.time)?;
        measured.push(again.snapshot().position[1][0] - start);
        if mode == BreakMode::Tension {
            let kind = &case_run.scene()?.world.bonds[0];
            let area = std::f64::consts::PI * kind.size_between(1.0, 1.0).powi(2);
            let force = strength * area;
            released = first.energy / (0.5 * force * force / (kind.youngs_modulus * area / start));
        }
    }
    measured.extend([released, as_expected]);
    case_run.compare(&measured)
}

/// Speed of a pulse along a bar.
pub fn bar(case_run: &mut CaseRun) -> Done {
    let mut scene = case_run.scene()?;
    let grains = &mut scene.world.grains;
    let (radius, material, group) = (grains.radius[1], grains.material[1], grains.group[1]);
    let spacing = grains.position[1][0] - grains.position[0][0];
    let count = 300;
    for k in 2..=count {
        grains.push(k, [f64::from(k) * spacing, 0.0, 0.0], [0.0; 3], [0.0; 3], radius, material, group);
    }
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let stations = [100, 250];
    let mut history = vec![Vec::new(); stations.len()];
    // Before the pulse returns from the free end.
    let until = 2.0 * f64::from(count) * spacing / 310.0 * 0.55;
    while simulation.time() < until {
        advance(&mut simulation, 1)?;
        let now = simulation.snapshot();
        for (line, station) in history.iter_mut().zip(stations) {
            line.push((simulation.time(), now.velocity[station][0]));
        }
    }
    let passed = history.iter().map(|line| {
        // Final speed: the mean of the last fifth before the echo, when the first station has stopped oscillating.
        let settled = &history[0][history[0].len() * 3 / 5..history[0].len() * 4 / 5];
        let level = 0.5 * settled.iter().map(|(_, speed)| speed).sum::<f64>() / settled.len() as f64;
        let after = line.iter().position(|(_, speed)| *speed > level).unwrap_or(line.len() - 1).max(1);
        let ((t0, v0), (t1, v1)) = (line[after - 1], line[after]);
        t0 + (t1 - t0) * (level - v0) / (v1 - v0)
    });
    let [first, second] = passed.collect::<Vec<f64>>()[..] else {
        return Err("two stations".into());
    };
    let way = spacing * (stations[1] - stations[0]) as f64;
    let lines = stations.iter().zip(&history);
    case_run.curve(
        "front",
        ["time [s]", "speed [m/s]"],
        lines
            .map(|(station, line)| (format!("grain {station}"), line.iter().step_by(10).copied().collect()))
            .collect(),
    );
    case_run.compare(&[way / (second - first)])
}
