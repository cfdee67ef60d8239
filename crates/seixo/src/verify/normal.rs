//! Single collisions under the normal laws beside Hooke's and Hertz's.

use super::contact::{Collision, collide};
use super::stand::{Done, Stand, along, length};

/// A loss that grows with speed to the power of 1/5.
pub fn viscoelastic(stand: &mut Stand) -> Done {
    let mut points: Vec<[f64; 2]> = Vec::new();
    for (name, [speed, loss, tolerance]) in stand.reference()? {
        if let (true, [first, .., last]) = (speed == 0.0, &points[..]) {
            let exponent = (last[1] / first[1]).ln() / (last[0] / first[0]).ln();
            stand.row(format!("{name} of speed in 1 - e [-]"), exponent, loss, tolerance);
            continue;
        }
        let mut scene = stand.scene()?;
        scene.world.grains.velocity[0] = [0.0, 0.0, -speed];
        let Collision { before, after, .. } = collide(scene)?;
        let measured = 1.0 + after.velocity[0][2] / before.velocity[0][2];
        stand.row_of(1.0, format!("{name}: 1 - e [-]"), measured, loss, tolerance);
        points.push([speed, measured]);
    }
    Ok(())
}

/// Plastic flow: restitution, largest force, and the overlap that stays.
pub fn hysteretic(stand: &mut Stand) -> Done {
    for (name, [restitution, speed, force, residual]) in stand.reference()? {
        let mut scene = stand.scene()?;
        scene.world.grains.velocity[0] = [0.0, 0.0, -speed];
        for pair in scene.world.interactions.iter_mut().flatten() {
            pair.restitution = restitution;
        }
        let collision = collide(scene)?;
        let rebound = -collision.after.velocity[0][2] / collision.before.velocity[0][2];
        stand.row(format!("{name}: rebound over approach [-]"), rebound, restitution, 1e-4);
        stand.row_within(1e-4, format!("{name}: largest force [N]"), collision.force, force);
        stand.row_within(1e-3, format!("{name}: residual overlap [m]"), collision.residual_overlap, residual);
    }
    Ok(())
}

/// A potential gives back what it took.
pub fn potential(stand: &mut Stand) -> Done {
    for (name, [speed, closest]) in stand.reference()? {
        let mut scene = stand.scene()?;
        scene.world.grains.velocity = vec![[0.5 * speed, 0.0, 0.0], [-0.5 * speed, 0.0, 0.0]];
        let Collision {
            before, after, overlap, ..
        } = collide(scene)?;
        let rebound =
            length(along(after.velocity[0], -1.0, after.velocity[1])) / length(along(before.velocity[0], -1.0, before.velocity[1]));
        let reach = before.radius[0] + before.radius[1];
        stand.row(format!("{name}: rebound over approach [-]"), rebound, 1.0, 1e-5);
        stand.row_within(1e-5, format!("{name}: closest distance [m]"), reach - overlap, closest);
    }
    Ok(())
}
