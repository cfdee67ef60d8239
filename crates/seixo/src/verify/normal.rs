//! Single collisions with normal laws other than those of Hooke and Hertz.

use super::case_run::{CaseRun, Done, along, length};
use super::contact::{Collision, collide};

/// Energy loss that grows with the speed to the power of 1/5.
pub fn viscoelastic(case_run: &mut CaseRun) -> Done {
    let mut points: Vec<[f64; 2]> = Vec::new();
    for (name, [speed, loss, tolerance]) in case_run.reference()? {
        if let (true, [first, .., last]) = (speed == 0.0, &points[..]) {
            let exponent = (last[1] / first[1]).ln() / (last[0] / first[0]).ln();
            case_run.row(format!("{name} of speed in 1 - e [-]"), exponent, loss, tolerance);
            continue;
        }
        let mut scene = case_run.scene()?;
        scene.world.grains.velocity[0] = [0.0, 0.0, -speed];
        let Collision { before, after, .. } = collide(scene)?;
        let measured = 1.0 + after.velocity[0][2] / before.velocity[0][2];
        case_run.row_of(1.0, format!("{name}: 1 - e [-]"), measured, loss, tolerance);
        points.push([speed, measured]);
    }
    Ok(())
}

/// Plastic contact: restitution, largest force, and residual overlap.
pub fn hysteretic(case_run: &mut CaseRun) -> Done {
    for (name, [restitution, speed, force, residual]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
        scene.world.grains.velocity[0] = [0.0, 0.0, -speed];
        for pair in scene.world.interactions.iter_mut().flatten() {
            pair.restitution = restitution;
        }
        let collision = collide(scene)?;
        let rebound = -collision.after.velocity[0][2] / collision.before.velocity[0][2];
        case_run.row(format!("{name}: rebound over approach [-]"), rebound, restitution, 1e-4);
        case_run.row_within(1e-4, format!("{name}: largest force [N]"), collision.force, force);
        case_run.row_within(1e-3, format!("{name}: residual overlap [m]"), collision.residual_overlap, residual);
    }
    Ok(())
}

/// A potential is elastic.
pub fn potential(case_run: &mut CaseRun) -> Done {
    for (name, [speed, closest]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
        scene.world.grains.velocity = vec![[0.5 * speed, 0.0, 0.0], [-0.5 * speed, 0.0, 0.0]];
        let Collision {
            before, after, overlap, ..
        } = collide(scene)?;
        let rebound =
            length(along(after.velocity[0], -1.0, after.velocity[1])) / length(along(before.velocity[0], -1.0, before.velocity[1]));
        let reach = before.radius[0] + before.radius[1];
        case_run.row(format!("{name}: rebound over approach [-]"), rebound, 1.0, 1e-5);
        case_run.row_within(1e-5, format!("{name}: closest distance [m]"), reach - overlap, closest);
    }
    Ok(())
}
