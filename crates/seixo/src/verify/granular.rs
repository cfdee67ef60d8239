//! The bulk benchmarks of \[Dosta 2024\]. Packings and walls are read at run time, from the folder in `SEIXO_DATA` or from `../shared/data`.

use super::case_run::{CaseRun, Done, Line, Outcome, advance, carry_on, mean, run_until};
use super::silo::{discharge, rate};
use seixo_engine::Simulation;
use seixo_engine::state::{GrainSnapshot, Ledger};
use seixo_engine::world::WallShape;
use seixo_scene::Scene;
use std::path::PathBuf;

/// Reads the scene with its files in the data folder, and with changed values.
fn scene(case_run: &CaseRun, files: &[(&str, &str)], values: &[(&str, String)]) -> Outcome<Scene> {
    let data = std::env::var_os("SEIXO_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let folder = std::path::absolute(data.join("dosta2024"))?;
    if !folder.is_dir() {
        let folder = folder.display();
        return Err(format!("the data of this case are not in {folder}; set SEIXO_DATA to the folder that holds dosta2024").into());
    }
    let quoted = |file: &&str| format!("{:?}", folder.join(file).display().to_string());
    let files = files.iter().map(|(key, file)| ((*key).to_owned(), quoted(file)));
    let values = values.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    let changes: Vec<(String, String)> = files.chain(values).collect();
    case_run.scene_with(&changes)
}

/// Residual of the ledger over the dissipated energy \[-\].
fn residual_share(ledger: &Ledger) -> f64 {
    ledger.residual / (ledger.normal_damping + ledger.tangential_damping + ledger.friction)
}

/// Initial height of the ball in further runs, just above the grains \[m\].
const LOW_START: f64 = -0.045;
/// Initial distance of the ball from the axis in these runs \[m\]: so small that only chaotic growth makes a difference.
const ASIDE: [f64; 4] = [1e-6, 2e-6, 3e-6, 4e-6];
/// Time after which the ball has left the grains and flies freely \[s\].
const FLYING: f64 = 0.035;
/// Middle of the time interval for the rebound speed \[s\].
const REBOUND: f64 = 0.05;

/// Index of the ball: the largest grain.
fn ball_of(radii: &[f64]) -> usize {
    (0..radii.len()).max_by(|&a, &b| radii[a].total_cmp(&radii[b])).unwrap_or(0)
}

/// Samples the ball every 0.1 ms: time, height and vertical velocity. Times are relative to `start`.
fn follow(case_run: &mut CaseRun, run: &str, scene: Scene, [start, until]: [f64; 2]) -> Outcome<(Simulation, Vec<[f64; 3]>)> {
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let steps = (1e-4 / simulation.time_step().value).round() as u64;
    let mut track = Vec::new();
    while start + simulation.time() < until {
        advance(&mut simulation, steps)?;
        let now = simulation.snapshot();
        let ball = ball_of(&now.radius);
        track.push([start + simulation.time(), now.position[ball][2], now.velocity[ball][2]]);
        case_run.print_progress(run, &simulation, until - start);
    }
    Ok((simulation, track))
}

/// Moves the ball to a position just above the grains, a little off the axis, with the velocity of free fall; returns the scene and the time of the
/// fall.
fn low_start(mut scene: Scene, aside: f64) -> (Scene, f64) {
    let (grains, gravity) = (&mut scene.world.grains, -scene.world.gravity[2]);
    let ball = ball_of(&grains.radius);
    let (height, speed) = (grains.position[ball][2] - LOW_START, -grains.velocity[ball][2]);
    let fast = (speed * speed + 2.0 * gravity * height).sqrt();
    grains.position[ball] = [aside, 0.0, LOW_START];
    grains.velocity[ball] = [0.0, 0.0, -fast];
    (scene, (fast - speed) / gravity)
}

/// A steel ball hits 25,000 grains.
pub fn penetration(case_run: &mut CaseRun) -> Done {
    let files = [
        ("grains.bed.file", "Penetration_25KParticles.txt"),
        ("wall.box.mesh", "Penetration_walls.txt"),
    ];
    // Quantities have a unit in brackets; the other lines are points of the curves of other programs.
    let (limits, others): (Vec<_>, Vec<_>) = case_run.reference()?.into_iter().partition(|(name, _)| name.ends_with(']'));
    let full = scene(case_run, &files, &[])?;
    let (until, gravity) = (full.run.until, -full.world.gravity[2]);
    let (simulation, track) = follow(case_run, "the scene", full, [0.0, until])?;
    let in_millimeters = |track: &[[f64; 3]]| track.iter().map(|at| (1e3 * at[0], 1e3 * at[1])).collect();
    let rebound = |[time, _, velocity]: [f64; 3]| velocity - gravity * (REBOUND - time);
    let nearest = |time: f64| {
        let distance = |at: &&[f64; 3]| (at[0] - time).abs();
        let found = track.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        found.copied().unwrap_or_default()
    };
    let lowest = track.iter().copied().min_by(|a, b| a[1].total_cmp(&b[1])).unwrap_or_default();
    let mut rebounds = vec![rebound(nearest(FLYING))];
    let mut lines: Vec<Line> = vec![("measured".to_owned(), in_millimeters(&track))];
    for aside in ASIDE {
        let name = format!("ball {:.0} μm aside", 1e6 * aside);
        let (low, start) = low_start(scene(case_run, &files, &[])?, aside);
        let (_, track) = follow(case_run, &name, low, [start, FLYING])?;
        rebounds.extend(track.last().map(|at| rebound(*at)));
        lines.push((name, in_millimeters(&track)));
    }
    for (code, [time, height]) in others {
        match lines.iter_mut().find(|line| line.0 == code) {
            Some(line) => line.1.push((time, height)),
            None => lines.push((code.to_owned(), vec![(time, height)])),
        }
    }
    case_run.curve("height", ["time [ms]", "height of the ball [mm]"], lines);
    let height = |milliseconds: f64| 1e3 * nearest(1e-3 * milliseconds)[1];
    let measured = [
        height(20.0),
        height(24.0),
        height(28.0),
        height(30.0),
        1e3 * lowest[1],
        1e3 * lowest[0],
        mean(&rebounds, |rebound| *rebound),
        simulation.len() as f64,
        residual_share(&simulation.ledger()),
    ];
    for ((quantity, [expected, tolerance]), value) in limits.into_iter().zip(measured) {
        case_run.row(quantity, value, expected, tolerance);
    }
    Ok(())
}

/// Time between two samples \[s\].
const LOOK: f64 = 0.01;
/// Share of a run after which the flow in the drum is steady.
const STEADY_FROM: f64 = 0.2;

/// Number of grains of a group in each quadrant of the plane normal to y, starting at x > 0 and z > 0, and their center of mass.
fn spread(now: &GrainSnapshot, group: u32) -> ([f64; 4], [f64; 2]) {
    let (mut counts, mut center, mut mass) = ([0.0; 4], [0.0; 2], 0.0);
    for i in (0..now.id.len()).filter(|&i| now.group[i] == group) {
        let [x, _, z] = now.position[i];
        let quadrant = match (x > 0.0, z > 0.0) {
            (true, true) => 0,
            (false, true) => 1,
            (false, false) => 2,
            (true, false) => 3,
        };
        counts[quadrant] += 1.0;
        center[0] += now.mass[i] * x;
        center[1] += now.mass[i] * z;
        mass += now.mass[i];
    }
    (counts, center.map(|moment| moment / mass))
}

/// Grains of two sizes in a rotating drum.
pub fn drum(case_run: &mut CaseRun) -> Done {
    let files = [
        ("grains.large.file", "Drum_PartCoordinates.txt"),
        ("grains.small.file", "Drum_PartCoordinates.txt"),
        ("wall.drum.mesh", "Drum_walls.txt"),
    ];
    let scene = scene(case_run, &files, &[])?;
    let (until, groups) = (scene.run.until, scene.world.groups.clone());
    let (rate, gravity) = (scene.world.walls[0].motion.angular_velocity[1], -scene.world.gravity[2]);
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut quadrants: Vec<Line> = Vec::new();
    let mut centers: Vec<Line> = Vec::new();
    for group in &groups {
        let named = |what: &str| (format!("{group} {what}"), Vec::new());
        quadrants.extend(["+x +z", "-x +z", "-x -z", "+x -z"].map(named));
        centers.extend(["x", "z"].map(named));
    }
    // Torque of the weight about the axis, over the steady part.
    let (mut moments, mut steady): (Vec<f64>, Option<(f64, f64)>) = (Vec::new(), None);
    while simulation.time() < until {
        let next = simulation.time() + LOOK;
        run_until(&mut simulation, next)?;
        case_run.print_progress("the scene", &simulation, until);
        let (now, time) = (simulation.snapshot(), simulation.time());
        for group in 0..groups.len() {
            let (counts, center) = spread(&now, group as u32);
            for (line, count) in quadrants[4 * group..].iter_mut().zip(counts) {
                line.1.push((time, count));
            }
            for (line, place) in centers[2 * group..].iter_mut().zip(center) {
                line.1.push((time, 1e3 * place));
            }
        }
        if time > STEADY_FROM * until {
            steady.get_or_insert((time, simulation.ledger().wall_work));
            moments.push((0..now.id.len()).map(|i| gravity * now.mass[i] * now.position[i][0]).sum());
        }
    }
    let (start, before) = steady.ok_or("the run is too short for a steady flow")?;
    let ledger = simulation.ledger();
    // The torque of the drum balances that of the weight, so the power of the drum is the torque of the weight times the rotation rate.
    let inner: f64 = moments.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).sum::<f64>() / (moments.len() - 1) as f64;
    let lifted = -rate * inner * (simulation.time() - start);
    case_run.curve("quadrants", ["time [s]", "grains in a quadrant [-]"], quadrants);
    case_run.curve("centers", ["time [s]", "center of mass [mm]"], centers);
    case_run.compare(&[
        simulation.len() as f64,
        residual_share(&ledger),
        (ledger.wall_work - before) / lifted,
    ])
}

/// Time until the discharge of the silo is steady, and time over which it is measured \[s\].
const FLOWING: [f64; 2] = [0.3, 0.5];

/// A silo is filled with a closed outlet, then opened; two outlets, two materials.
pub fn silo(case_run: &mut CaseRun) -> Done {
    let (mut emptying, mut rates) = (Vec::new(), Vec::<(String, f64)>::new());
    for (name, [plug, time_step, expected, tolerance]) in case_run.reference()? {
        let (orifice, material) = name.split_once(' ').ok_or("reference.csv: not an orifice and a material")?;
        let mut scene = scene(
            case_run,
            &[("wall.silo.mesh", &format!("Silo_walls__{orifice}_orifice_.txt"))],
            &[
                ("grains.bed.material", format!("{material:?}")),
                ("run.time_step", time_step.to_string()),
            ],
        )?;
        let count = scene.world.grains.len() as f64;
        for wall in scene.world.walls.iter_mut().filter(|wall| wall.name == "plug") {
            wall.shape = WallShape::Plane {
                point: [0.0, 0.0, plug],
                normal: [0.0, 0.0, 1.0],
            };
        }
        let mut simulation = Simulation::new(scene.world.clone(), scene.settings.clone())?;
        while simulation.time() < scene.run.until {
            let next = simulation.time() + LOOK;
            run_until(&mut simulation, next)?;
            case_run.print_progress(&format!("{name} fills"), &simulation, scene.run.until);
        }
        let kept = simulation.len() as f64;
        case_run.row(format!("{name}: grains kept while it fills [-]"), kept, count, 0.0);
        let residual = residual_share(&simulation.ledger());
        let quantity = format!("{name}: residual of the ledger over energy taken [-]");
        case_run.row(quantity, residual, 0.0, 1e-3);
        carry_on(&mut scene.world, simulation.snapshot());
        scene.world.walls.retain(|wall| wall.name != "plug");
        let left = discharge(case_run, name, scene, plug, FLOWING[0] + FLOWING[1])?;
        let measured = rate(&left, FLOWING[0], [0.0, count]);
        // The first outlet of a material is compared with another program, the other outlets with the first one.
        match rates.iter().find(|(of, _)| of == material) {
            Some((_, first)) => case_run.row(
                format!("{name}: discharge of the first outlet over this one's [-]"),
                first / measured,
                expected,
                tolerance,
            ),
            None => {
                if tolerance > 0.0 {
                    case_run.row(format!("{name}: discharge [1/s]"), measured, expected, tolerance);
                }
                rates.push((material.to_owned(), measured));
            }
        }
        emptying.push((name.to_owned(), left));
    }
    case_run.curve("emptying", ["time [s]", "grains left [-]"], emptying);
    Ok(())
}
