//! Polyhedral grains: where they topple, what their impacts and flights conserve, and balls that are shapes.

use super::case_run::{CaseRun, Done, Outcome, advance, along, length, run_until};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{Grains, PolyhedralShape, Vec3, World};
use seixo_engine::{Simulation, SurroundingsChange};

/// How far below the expected slope a block is put down \[deg\].
const BELOW: f64 = 1.0;
/// Growth of the slope \[deg/s\].
const GROWTH: f64 = 1.0;
/// Time between two changes of the slope \[s\].
const BETWEEN: f64 = 2e-3;
/// Time after which a block has settled on its corners \[s\].
const SETTLED: f64 = 0.1;
/// A block topples if it has turned by more than this \[rad\].
const TOPPLES: f64 = 5e-3;

/// Angle between two orientations \[rad\].
pub(super) fn turned(a: [f64; 4], b: [f64; 4]) -> f64 {
    let cosine: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    2.0 * cosine.abs().min(1.0).acos()
}

/// Length of the difference of two vectors.
fn apart(a: Vec3, b: Vec3) -> f64 {
    length(along(a, -1.0, b))
}

/// The change of a scene that turns a section of grains about an axis, by an angle \[deg\].
fn orientation(section: &str, axis: Vec3, angle: f64) -> (String, String) {
    let [x, y, z] = axis;
    (
        format!("grains.{section}.orientation"),
        format!("{{ axis = [{x}, {y}, {z}], angle = \"{angle} deg\" }}"),
    )
}

/// Takes steps until a contact has begun and all have ended. Returns the largest energy that contacts have stored \[J\].
fn through_a_blow(simulation: &mut Simulation, until: f64) -> Outcome<f64> {
    let (mut most, mut has_touched) = (0.0f64, false);
    while simulation.time() < until {
        advance(simulation, 1)?;
        most = most.max(simulation.ledger().elastic_normal);
        let touches = simulation.contacts() > 0;
        if has_touched && !touches {
            return Ok(most);
        }
        has_touched |= touches;
    }
    Err("no blow, or one without end".into())
}

/// The slope at which blocks topple, while it grows.
pub fn toppling(case_run: &mut CaseRun) -> Done {
    for (name, [width, height, rounding, modulus, limit]) in case_run.reference()? {
        let scene = case_run.scene_with(&[
            ("shape.block.box".to_owned(), format!("[{width}, 10, {height}]")),
            ("shape.block.rounding".to_owned(), rounding.to_string()),
            ("material.stone.youngs_modulus".to_owned(), format!("\"{modulus} GPa\"")),
            ("grains.block.at".to_owned(), format!("[[0, 0, \"{} mm\"]]", 0.5 * height)),
        ])?;
        let mut world = scene.world;
        let gravity = length(world.gravity);
        let on_a_slope = |degrees: f64| {
            let (sine, cosine) = degrees.to_radians().sin_cos();
            [gravity * sine, 0.0, -gravity * cosine]
        };
        let mut slope = limit - BELOW;
        world.gravity = on_a_slope(slope);
        let mut simulation = Simulation::new(world, scene.settings)?;
        run_until(&mut simulation, SETTLED)?;
        let at_rest = simulation.snapshot().orientation[0];
        let step = simulation.time_step().value;
        let steps = (BETWEEN / step).ceil();
        while turned(at_rest, simulation.snapshot().orientation[0]) < TOPPLES {
            if slope > limit + BELOW {
                return Err(format!("{name} still stands on a slope of {slope:.2} deg").into());
            }
            slope += GROWTH * steps * step;
            simulation.change(&[SurroundingsChange::Gravity(on_a_slope(slope))])?;
            advance(&mut simulation, steps as u64)?;
        }
        case_run.row(format!("{name}: slope at which it topples [deg]"), slope, limit, 0.2);
    }
    Ok(())
}

/// Energy and momenta of two cubes that meet in free space without dissipation.
pub fn face_on(case_run: &mut CaseRun) -> Done {
    for (name, [x, y, z, axis_x, axis_y, axis_z, angle]) in case_run.reference()? {
        let scene = case_run.scene_with(&[
            ("grains.upper.at".to_owned(), format!("[[\"{x} mm\", \"{y} mm\", \"{z} mm\"]]")),
            orientation("upper", [axis_x, axis_y, axis_z], angle),
        ])?;
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let (before, energy) = (simulation.momentum(), simulation.ledger().kinetic);
        let cubes = simulation.snapshot();
        let size: f64 = cubes.mass.iter().zip(&cubes.velocity).map(|(mass, v)| mass * length(*v)).sum();
        let most = through_a_blow(&mut simulation, scene.run.until)?;
        if most < 0.5 * energy {
            return Err(format!(
                "{name}: contacts stored only {:.3} of the energy; the cubes hardly met",
                most / energy
            )
            .into());
        }
        let (after, ledger) = (simulation.momentum(), simulation.ledger());
        let left = (ledger.kinetic + ledger.rotational) / energy;
        case_run.row(format!("{name}: energy after over before [-]"), left, 1.0, 1e-4);
        let linear = apart(before.linear, after.linear) / size;
        case_run.row(format!("{name}: change of momentum [-]"), linear, 0.0, 1e-12);
        let angular = apart(before.angular, after.angular) / (size * cubes.radius[0]);
        case_run.row(format!("{name}: change of angular momentum [-]"), angular, 0.0, 1e-12);
    }
    Ok(())
}

/// Angular momentum and energy of a box on which nothing acts.
pub fn tumbling_box(case_run: &mut CaseRun) -> Done {
    let mut swings = Vec::new();
    for (name, [speed, steps, time_step, tolerance]) in case_run.reference()? {
        let mut scene = case_run.scene_with(&[("run.time_step".to_owned(), format!("\"{time_step} us\""))])?;
        for spin in &mut scene.world.grains.angular_velocity {
            *spin = spin.map(|x| speed * x);
        }
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let (before, energy) = (simulation.momentum().angular, simulation.ledger().rotational);
        let (mut drift, mut swing) = (0.0f64, 0.0f64);
        while (simulation.steps() as f64) < steps {
            advance(&mut simulation, 500)?;
            drift = drift.max(apart(simulation.momentum().angular, before) / length(before));
            swing = swing.max((simulation.ledger().rotational / energy - 1.0).abs());
        }
        case_run.row(format!("{name}: change of angular momentum [-]"), drift, 0.0, 1e-12);
        case_run.row(format!("{name}: change of energy [-]"), swing, 0.0, tolerance);
        swings.push(swing);
    }
    let [_, whole, half] = swings[..] else {
        return Err("reference.csv: three flights are needed".into());
    };
    case_run.row("order of the change of energy [-]", (whole / half).log2(), 2.0, 0.05);
    Ok(())
}

/// Velocity and angular velocity of a long box after an eccentric elastic impact on a plane.
pub fn box_impact(case_run: &mut CaseRun) -> Done {
    for (name, [axis_x, axis_y, axis_z, angle, height, rises, x, y, z]) in case_run.reference()? {
        let scene = case_run.scene_with(&[
            ("grains.box.at".to_owned(), format!("[[0, 0, \"{height} mm\"]]")),
            orientation("box", [axis_x, axis_y, axis_z], angle),
        ])?;
        let speed = -scene.world.grains.velocity[0][2];
        let half = 4e-3;
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        through_a_blow(&mut simulation, scene.run.until)?;
        let after = simulation.snapshot();
        let ratio = after.velocity[0][2] / speed;
        case_run.row(format!("{name}: velocity after over speed before [-]"), ratio, rises, 2e-3);
        let spin = after.angular_velocity[0].map(|spin| spin * half / speed);
        for (axis, (measured, expected)) in ["x", "y", "z"].into_iter().zip(spin.into_iter().zip([x, y, z])) {
            let row = format!("{name}: angular velocity about {axis} times half length over speed [-]");
            case_run.row(row, measured, expected, 2e-3);
        }
    }
    Ok(())
}

/// Makes polyhedral grains of all spheres of a world: balls with one vertex.
fn make_shapes_of_spheres(world: &mut World) {
    let ball = PolyhedralShape::ball("ball");
    let grains = &mut world.grains;
    for k in 0..grains.len() {
        let density = world.materials[grains.material[k] as usize].density;
        grains.masses.insert(grains.id[k], ball.mass(grains.radius[k], density));
    }
    grains.shape = vec![1; grains.len()];
    grains.orientation = vec![[1.0, 0.0, 0.0, 0.0]; grains.len()];
    world.shapes = vec![ball];
}

/// Balls that are shapes move as spheres do.
pub fn ball_shape(case_run: &mut CaseRun) -> Done {
    for (k, (name, [time_step, steps, least])) in case_run.reference()?.into_iter().enumerate() {
        let run = |are_shapes: bool| -> Outcome<GrainSnapshot> {
            let mut scene = case_run.scene()?;
            let all = std::mem::take(&mut scene.world.grains);
            let mut chosen = Grains::default();
            // The first two meet in free space, the third one rolls.
            if k == 0 {
                (0..2).for_each(|grain| chosen.push_from(&all, grain));
                scene.world.gravity = [0.0; 3];
                scene.world.walls.clear();
            } else {
                chosen.push_from(&all, 2);
            }
            scene.world.grains = chosen;
            if are_shapes {
                make_shapes_of_spheres(&mut scene.world);
            }
            scene.settings.time_step = Some(1e-6 * time_step);
            let mut simulation = Simulation::new(scene.world, scene.settings)?;
            advance(&mut simulation, steps as u64)?;
            Ok(simulation.snapshot())
        };
        let (spheres, shapes) = (run(false)?, run(true)?);
        let most = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| apart(*a, *b)).fold(0.0, f64::max);
        if length(spheres.angular_velocity[0]) < least {
            return Err(format!("{name}: {:?} rad/s, so they hardly touched", spheres.angular_velocity[0]).into());
        }
        let centers = most(&spheres.position, &shapes.position);
        case_run.row(format!("{name}: difference of centers [m]"), centers, 0.0, 1e-12);
        let velocities = most(&spheres.velocity, &shapes.velocity);
        case_run.row(format!("{name}: difference of velocities [m/s]"), velocities, 0.0, 1e-11);
        let spins = most(&spheres.angular_velocity, &shapes.angular_velocity);
        case_run.row(format!("{name}: difference of angular velocities [rad/s]"), spins, 0.0, 1e-10);
    }
    Ok(())
}

/// The energy ledger of dice in a drum.
pub fn dice(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut residual = 0.0f64;
    while simulation.time() < scene.run.until {
        advance(&mut simulation, 100)?;
        residual = residual.max(simulation.ledger().residual.abs());
    }
    let ledger = simulation.ledger();
    let dissipated = ledger.normal_damping + ledger.tangential_damping + ledger.friction;
    if dissipated < 0.03 {
        return Err(format!("the dice lost only {dissipated:.3e} J; they did not fall").into());
    }
    case_run.compare(&[residual / dissipated])
}
