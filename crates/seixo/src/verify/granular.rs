//! The bulk benchmarks of Dosta et al. 2024 (Comput. Phys. Commun. 296:109066). Their packings and walls are read when the case runs,
//! from the folder that `SEIXO_DATA` names or from `../shared/data`.

use super::silo::{discharge, rate};
use super::stand::{Done, Line, Outcome, Stand, advance, carry_on, run_until, straight};
use seixo_engine::Simulation;
use seixo_engine::state::{GrainSnapshot, Ledger};
use seixo_engine::world::WallShape;
use seixo_scene::Scene;
use std::path::PathBuf;

/// The scene with its files where the data are.
fn scene(stand: &Stand, files: &[(&str, &str)]) -> Outcome<Scene> {
    let data = std::env::var_os("SEIXO_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let folder = std::path::absolute(data.join("dosta2024"))?;
    if !folder.is_dir() {
        let folder = folder.display();
        return Err(format!("the data of this case are not in {folder}; set SEIXO_DATA to the folder that holds dosta2024").into());
    }
    let changes: Vec<(String, String)> = files
        .iter()
        .map(|(key, file)| ((*key).to_owned(), format!("{:?}", folder.join(file).display().to_string())))
        .collect();
    stand.scene_with(&changes)
}

/// Residual of the ledger over all energy that was taken \[-\].
fn residual_share(ledger: &Ledger) -> f64 {
    ledger.residual / (ledger.normal_damping + ledger.tangential_damping + ledger.friction)
}

/// A steel ball hits 25,000 grains.
pub fn penetration(stand: &mut Stand) -> Done {
    let files = [
        ("grains.bed.file", "Penetration_25KParticles.txt"),
        ("wall.box.mesh", "Penetration_walls.txt"),
    ];
    let scene = scene(stand, &files)?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    // Depth every 0.1 ms, as (time, z, vertical velocity); the ball is the largest grain.
    let mut track = Vec::new();
    while simulation.time() < scene.run.until {
        let steps = (1e-4 / simulation.time_step().value).round() as u64;
        advance(&mut simulation, steps)?;
        let now = simulation.snapshot();
        let ball = (0..now.id.len())
            .max_by(|&a, &b| now.radius[a].total_cmp(&now.radius[b]))
            .unwrap_or(0);
        track.push((simulation.time(), now.position[ball][2], now.velocity[ball][2]));
    }
    let at = |time: f64| {
        track
            .iter()
            .min_by(|a, b| (a.0 - time).abs().total_cmp(&(b.0 - time).abs()))
            .copied()
            .unwrap_or_default()
    };
    let lowest = track.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    let height = |milliseconds: f64| 1e3 * at(1e-3 * milliseconds).1;
    let between: Vec<(f64, f64)> = track
        .iter()
        .filter(|at| (0.04..=0.06).contains(&at.0))
        .map(|at| (at.0, at.1))
        .collect();
    let points = [20.0, 24.0, 28.0, 30.0];
    let seven_codes: Vec<(f64, f64)> = points
        .into_iter()
        .zip(stand.reference()?.into_iter().map(|(_, [z, _])| z))
        .collect();
    stand.curve(
        "height",
        ["time [ms]", "height of the ball [mm]"],
        vec![
            ("measured".to_owned(), track.iter().map(|at| (1e3 * at.0, 1e3 * at.1)).collect()),
            ("mean of seven codes".to_owned(), seven_codes),
        ],
    );
    stand.compare(&[
        height(20.0),
        height(24.0),
        height(28.0),
        height(30.0),
        1e3 * lowest.1,
        1e3 * lowest.0,
        straight(&between).0,
        simulation.len() as f64,
        residual_share(&simulation.ledger()),
    ])
}

/// Time between two looks at the drum \[s\].
const LOOK: f64 = 0.01;
/// Share of a run after which the flow in the drum is steady.
const STEADY_FROM: f64 = 0.2;

/// Number of grains of a group in the quadrants of the plane across the axis y, from x > 0 and z > 0 on around, and their center of mass.
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

/// Two sizes of grains in a drum that turns.
pub fn drum(stand: &mut Stand) -> Done {
    let files = [
        ("grains.large.file", "Drum_PartCoordinates.txt"),
        ("grains.small.file", "Drum_PartCoordinates.txt"),
        ("wall.drum.mesh", "Drum_walls.txt"),
    ];
    let scene = scene(stand, &files)?;
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
    // Moment of the weight about the axis, over the steady part.
    let (mut moments, mut steady): (Vec<f64>, Option<(f64, f64)>) = (Vec::new(), None);
    while simulation.time() < until {
        let next = simulation.time() + LOOK;
        run_until(&mut simulation, next)?;
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
    // Around the axis the drum balances the weight: its power is that of the weight's moment at the drum's rate.
    let inner: f64 = moments.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).sum::<f64>() / (moments.len() - 1) as f64;
    let lifted = -rate * inner * (simulation.time() - start);
    stand.curve("quadrants", ["time [s]", "grains in a quadrant [-]"], quadrants);
    stand.curve("centers", ["time [s]", "center of mass [mm]"], centers);
    stand.compare(&[
        simulation.len() as f64,
        residual_share(&ledger),
        (ledger.wall_work - before) / lifted,
    ])
}

/// Time until the flow out of the silo is steady, and for how long it is measured \[s\].
const FLOWING: [f64; 2] = [0.3, 1.0];

/// A silo that fills with its outlet closed, then opens; two outlets.
pub fn silo(stand: &mut Stand) -> Done {
    let mut emptying = Vec::new();
    for (name, [plug, expected, tolerance]) in stand.reference()? {
        let mut scene = scene(stand, &[("wall.silo.mesh", &format!("Silo_walls__{name}_orifice_.txt"))])?;
        let count = scene.world.grains.len() as f64;
        for wall in scene.world.walls.iter_mut().filter(|wall| wall.name == "plug") {
            wall.shape = WallShape::Plane {
                point: [0.0, 0.0, plug],
                normal: [0.0, 0.0, 1.0],
            };
        }
        let mut simulation = Simulation::new(scene.world.clone(), scene.settings.clone())?;
        run_until(&mut simulation, scene.run.until)?;
        stand.row(
            format!("{name} orifice: grains kept while it fills [-]"),
            simulation.len() as f64,
            count,
            0.0,
        );
        let residual = residual_share(&simulation.ledger());
        stand.row(
            format!("{name} orifice: residual of the ledger over energy taken [-]"),
            residual,
            0.0,
            1e-3,
        );
        carry_on(&mut scene.world, simulation.snapshot());
        scene.world.walls.retain(|wall| wall.name != "plug");
        let left = discharge(scene.world, scene.settings, plug, FLOWING[0] + FLOWING[1])?;
        let measured = rate(&left, FLOWING[0], [0.0, count]);
        stand.row(format!("{name} orifice: discharge [1/s]"), measured, expected, tolerance);
        emptying.push((format!("{name} orifice"), left));
    }
    stand.curve("emptying", ["time [s]", "grains left [-]"], emptying);
    Ok(())
}
