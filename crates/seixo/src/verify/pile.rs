//! A pile on a round table: its angle of repose.

use super::case_run::{CaseRun, Done, Outcome, carry_on, mean, run_until};
use crate::device_options::is_on_cpu;
use seixo_engine::Simulation;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{DeviceChoice, Settings, World};
use seixo_scene::Scene;

/// Root mean square speed below which a pile is at rest \[m/s\].
const AT_REST: f64 = 5e-3;

/// Largest time until a pile is at rest, over the time of filling the column.
const LOOKS: u32 = 6;

/// Indices of the grains on the table.
fn on_table(now: &GrainSnapshot) -> Vec<usize> {
    (0..now.id.len()).filter(|&i| now.position[i][2] > 0.0).collect()
}

/// Slope of the cone with the same mean height and mean distance from the axis of the centers of grains \[deg\]. For a cone of height h and radius R
/// they are h/4 and R/2.
fn angle(now: &GrainSnapshot) -> f64 {
    let heap = on_table(now);
    let height = mean(&heap, |&i| now.position[i][2] - now.radius[i]);
    let distance = mean(&heap, |&i| now.position[i][0].hypot(now.position[i][1]));
    (2.0 * height / distance).atan().to_degrees()
}

/// Height of the surface over the distance from the axis: the highest grain of each sector of each ring, averaged over the ring.
fn profile(now: &GrainSnapshot, width: f64) -> Vec<(f64, f64)> {
    const SECTORS: usize = 12;
    let mut rings: Vec<[f64; SECTORS]> = Vec::new();
    for i in on_table(now) {
        let [x, y, z] = now.position[i];
        let ring = (x.hypot(y) / width) as usize;
        let sector = ((y.atan2(x) / std::f64::consts::TAU + 0.5) * SECTORS as f64) as usize % SECTORS;
        if rings.len() <= ring {
            rings.resize(ring + 1, [0.0; SECTORS]);
        }
        let top = &mut rings[ring][sector];
        *top = top.max(z + now.radius[i]);
    }
    let around = |(k, tops): (usize, &[f64; SECTORS])| ((k as f64 + 0.5) * width, mean(tops, |top| *top));
    rings.iter().enumerate().map(around).collect()
}

/// Removes the mantle, lets the column collapse, and runs until the pile is at rest.
fn pile(mut world: World, settings: Settings, until: f64) -> Outcome<(GrainSnapshot, bool)> {
    world.walls.retain(|wall| wall.name != "mantle");
    let mut simulation = Simulation::new(world, settings)?;
    let mut speed = f64::INFINITY;
    for look in 1..=LOOKS {
        run_until(&mut simulation, until * f64::from(look))?;
        let now = simulation.snapshot();
        let heap = on_table(&now);
        speed = mean(&heap, |&i| now.velocity[i].iter().map(|v| v * v).sum::<f64>()).sqrt();
        if speed < AT_REST {
            return Ok((now, is_on_cpu(&simulation)));
        }
    }
    let waited = until * f64::from(LOOKS);
    Err(format!("after {waited} s the pile still moves at {speed:.1e} m/s").into())
}

/// A column collapses on a rough round table, and grains that fall off are removed: angle of the remaining pile.
pub fn repose(case_run: &mut CaseRun) -> Done {
    let first = case_run.scene()?;
    let mut filled = first.world.clone();
    let until = first.run.until;
    let mut simulation = Simulation::new(first.world, first.settings)?;
    run_until(&mut simulation, until)?;
    carry_on(&mut filled, simulation.snapshot());
    let prepared = |case_run: &CaseRun, [friction, rolling, share]: [f64; 3]| -> Outcome<Scene> {
        let step = simulation.time_step().value * share;
        let mut scene = case_run.scene_with(&[
            ("interaction.grain-grain.friction".to_owned(), friction.to_string()),
            ("interaction.grain-grain.rolling.coefficient".to_owned(), rolling.to_string()),
            ("run.time_step".to_owned(), step.to_string()),
        ])?;
        scene.world.grains = filled.grains.clone();
        Ok(scene)
    };
    let mut angles: Vec<([f64; 3], f64)> = Vec::new();
    let mut profiles = Vec::new();
    for (name, [friction, rolling, share, expected, tolerance]) in case_run.reference()? {
        let setting = [friction, rolling, share];
        let scene = prepared(case_run, setting)?;
        let (settings, world) = (scene.settings.clone(), scene.world.clone());
        let (now, is_here) = pile(scene.world, scene.settings, until)?;
        let degrees = angle(&now);
        case_run.row(format!("{name}: angle [deg]"), degrees, expected, tolerance);
        let width = 2.0 * mean(&now.radius, |radius| *radius);
        profiles.push((name.to_owned(), profile(&now, width)));
        if angles.is_empty() && !is_here {
            let here = Settings {
                device: DeviceChoice::Cpu,
                precision: None,
                ..settings
            };
            let (other, _) = pile(world, here, until)?;
            case_run.row("change of the angle on the CPU [deg]", angle(&other) - degrees, 0.0, 0.5);
        }
        if let Some((_, whole)) = angles.iter().find(|(other, _)| other[..2] == setting[..2]) {
            case_run.row("change of the angle with half the time step [deg]", degrees - whole, 0.0, 0.5);
        } else {
            angles.push((setting, degrees));
        }
    }
    // Settings that differ from the first one in one coefficient only, in ascending order: the number of steps that increase the angle.
    for (k, what) in ["friction", "rolling resistance"].into_iter().enumerate() {
        let base = angles.first().ok_or("no pile in reference.csv")?.0;
        let mut along: Vec<(f64, f64)> = angles
            .iter()
            .filter(|(setting, _)| setting[1 - k] == base[1 - k])
            .map(|(setting, degrees)| (setting[k], *degrees))
            .collect();
        along.sort_by(|a, b| a.0.total_cmp(&b.0));
        let rising = along.windows(2).filter(|pair| pair[1].1 > pair[0].1).count();
        case_run.row(
            format!("{what}: steps up that raise the angle [-]"),
            rising as f64,
            (along.len() - 1) as f64,
            0.0,
        );
    }
    case_run.curve("profile", ["distance from the axis [m]", "height of the surface [m]"], profiles);
    Ok(())
}
