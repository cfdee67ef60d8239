//! The bulk benchmarks of Dosta et al. 2024 (Comput. Phys. Commun. 296:109066). Their packings and walls are read when the case runs,
//! from the folder that `SEIXO_DATA` names or from `../shared/data`.

use super::stand::{Done, Outcome, Stand, advance, run_until};
use seixo_engine::Simulation;
use seixo_engine::state::Ledger;
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
    stand.compare(&[
        height(20.0),
        height(24.0),
        height(28.0),
        height(30.0),
        1e3 * lowest.1,
        1e3 * lowest.0,
        at(0.04).2,
        simulation.len() as f64,
        residual_share(&simulation.ledger()),
    ])
}

/// Two sizes of grains in a drum that turns.
pub fn drum(stand: &mut Stand) -> Done {
    let files = [
        ("grains.large.file", "Drum_PartCoordinates.txt"),
        ("grains.small.file", "Drum_PartCoordinates.txt"),
        ("wall.drum.mesh", "Drum_walls.txt"),
    ];
    keeps_its_grains(stand, scene(stand, &files)?)
}

/// A silo with a closed outlet that fills.
pub fn silo(stand: &mut Stand) -> Done {
    let files = [("wall.silo.mesh", "Silo_walls__large_orifice_.txt")];
    keeps_its_grains(stand, scene(stand, &files)?)
}

fn keeps_its_grains(stand: &mut Stand, scene: Scene) -> Done {
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    run_until(&mut simulation, scene.run.until)?;
    stand.compare(&[simulation.len() as f64, residual_share(&simulation.ledger())])
}
