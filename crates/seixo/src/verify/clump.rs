//! Rigid bodies made of spheres.

use super::case_run::{CaseRun, Done, Outcome, advance, cross, dot};
use seixo_engine::world::Vec3;
use seixo_engine::{BodySnapshot, Simulation};

/// Angular velocity in the body frame \[rad/s\]: rotation by the conjugate of the orientation.
fn own_angular_velocity(body: &BodySnapshot) -> Vec3 {
    let [w, x, y, z] = body.orientation;
    let axis = [-x, -y, -z];
    let twice = cross(axis, body.angular_velocity).map(|c| 2.0 * c);
    let bent = cross(axis, twice);
    [0, 1, 2].map(|k| body.angular_velocity[k] + w * twice[k] + bent[k])
}

/// The only body of a simulation.
fn only_body(simulation: &Simulation) -> Outcome<BodySnapshot> {
    simulation.bodies().first().copied().ok_or_else(|| "the scene has no body".into())
}

/// Sign changes of the spin of a free top about its intermediate axis, its energy and its angular momentum.
pub fn asymmetric_top(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let (mut flips, mut swing, mut before) = (Vec::new(), 0.0f64, 0.0);
    let at_start = 2.0 * simulation.ledger().rotational;
    while simulation.time() < scene.run.until {
        advance(&mut simulation, 5)?;
        let body = only_body(&simulation)?;
        let own = own_angular_velocity(&body);
        // The axis of the intermediate moment.
        let mut axes = [0, 1, 2];
        axes.sort_by(|&a, &b| body.moments[a].total_cmp(&body.moments[b]));
        let now = own[axes[1]];
        if before * now < 0.0 {
            flips.push(simulation.time() - 5.0 * simulation.time_step().value * now / (now - before));
        }
        before = now;
        let energy: f64 = (0..3).map(|k| body.moments[k] * own[k] * own[k]).sum();
        swing = swing.max((energy - at_start).abs());
    }
    let (Some(first), Some(last)) = (flips.first(), flips.last()) else {
        return Err("the top never turned over".into());
    };
    let body = only_body(&simulation)?;
    case_run.compare(&[
        (last - first) / (flips.len() - 1) as f64,
        2.0 * simulation.ledger().rotational,
        swing,
        dot(body.angular_momentum, body.angular_momentum),
    ])
}

/// Velocity and angular velocity of a dumbbell after an eccentric elastic impact.
pub fn impact(case_run: &mut CaseRun) -> Done {
    for (lean, [rises, turns]) in case_run.reference()? {
        let change = format!("{{ axis = [0, 1, 0], angle = \"{lean} deg\" }}");
        let scene = case_run.scene_with(&[("grains.dumbbell.orientation".to_owned(), change)])?;
        let speed = -scene.world.grains.bodies[0].velocity[2];
        let half = scene.world.grains.bodies[0].carries[0].1.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let mut has_touched = false;
        while simulation.time() < 100.0 * scene.run.until {
            advance(&mut simulation, 20)?;
            let touches = simulation.contacts() > 0;
            if has_touched && !touches {
                break;
            }
            has_touched |= touches;
        }
        let body = only_body(&simulation)?;
        case_run.row(
            format!("{lean} deg: velocity after over before [-]"),
            body.velocity[2] / speed,
            rises,
            2e-3,
        );
        let turning = body.angular_velocity[1].abs() * half / speed;
        case_run.row(
            format!("{lean} deg: angular velocity times length over speed [-]"),
            turning,
            turns,
            2e-3,
        );
    }
    Ok(())
}
