//! A bank of cubes, and its angle of repose. Spheres in their place do not stay.

use super::case_run::{CaseRun, Done, Outcome, mean};
use super::packing::{go_on, poured, shape_of, wall_named};
use seixo_engine::world::{Settings, World};
use seixo_engine::{Simulation, SurroundingsChange};

/// Times at which all grains have fallen, and at which they rest between the walls \[s\].
const FILLED: [f64; 2] = [0.9, 1.1];
/// Time between two looks at a bank that slides \[s\].
const LOOK: f64 = 0.1;
/// Largest number of looks.
const LOOKS: u32 = 30;
/// Root mean square speed below which a bank is at rest \[m/s\].
const AT_REST: f64 = 5e-3;

/// Makes spheres of the same volume of all polyhedral grains of a world.
fn make_spheres_of_shapes(world: &mut World) -> Done {
    let share = (shape_of(world)?.volume * 0.75 / std::f64::consts::PI).cbrt();
    let all = std::mem::take(&mut world.grains);
    for k in 0..all.len() {
        world.grains.push(
            all.id[k],
            all.position[k],
            [0.0; 3],
            [0.0; 3],
            share * all.radius[k],
            all.material[k],
            all.group[k],
        );
    }
    world.shapes.clear();
    Ok(())
}

/// A bank whose gate has been taken away.
fn opened(case_run: &mut CaseRun, name: &str, world: World, settings: Settings) -> Outcome<Simulation> {
    let gate = wall_named(&world, "gate")?;
    let mut simulation = poured(case_run, name, world, settings, FILLED)?;
    simulation.change(&[SurroundingsChange::Wall {
        wall: gate,
        is_there: false,
    }])?;
    Ok(simulation)
}

/// Waits until a bank rests: its angle \[deg\]. It is that of the wedge whose centers of grains have the same mean height h/3 and mean distance L/3 from the
/// wall behind it.
fn angle(case_run: &mut CaseRun, name: &str, mut simulation: Simulation) -> Outcome<f64> {
    let opened = simulation.time();
    let mut speed = f64::INFINITY;
    for look in 1..=LOOKS {
        go_on(case_run, name, &mut simulation, opened + LOOK * f64::from(look))?;
        let now = simulation.snapshot();
        speed = mean(&now.velocity, |velocity| velocity.iter().map(|v| v * v).sum::<f64>()).sqrt();
        // The first look is soon after the gate has gone.
        if look > 1 && speed < AT_REST {
            let [distance, height] = [0, 2].map(|axis| mean(&now.position, |center| center[axis]));
            return Ok((height / distance).atan().to_degrees());
        }
    }
    let waited = LOOK * f64::from(LOOKS);
    Err(format!("after {waited} s the bank of {name} still moves at {speed:.1e} m/s").into())
}

/// The angle of repose of cubes, and the share of spheres of the same volume and friction that has not left after [`LOOKS`].
pub fn repose(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let mut of_spheres = scene.world.clone();
    make_spheres_of_shapes(&mut of_spheres)?;
    let count = of_spheres.grains.id.len() as f64;
    let bank = opened(case_run, "cubes", scene.world, scene.settings.clone())?;
    let cubes = angle(case_run, "cubes", bank)?;
    let mut spheres = opened(case_run, "spheres", of_spheres, scene.settings)?;
    let end = spheres.time() + LOOK * f64::from(LOOKS);
    go_on(case_run, "spheres", &mut spheres, end)?;
    case_run.compare(&[cubes, spheres.snapshot().id.len() as f64 / count])
}
