//! Single collisions: tests 1 to 8 of Chung & Ooi 2011 (Granular Matter 13:643), and the linear contact.

use super::stand::{Done, Outcome, Stand, advance, along, cross, dot, length, material};
use seixo_engine::Simulation;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::Vec3;
use seixo_scene::Scene;

/// A collision of two grains, or of a grain with the plane z = 0, as it looks from outside.
pub(super) struct Collision {
    pub before: GrainSnapshot,
    pub after: GrainSnapshot,
    /// Largest overlap that the centers show \[m\].
    pub overlap: f64,
    /// Largest force \[N\].
    pub force: f64,
    /// Time under force \[s\].
    pub duration: f64,
    /// Overlap when the force is first gone again \[m\].
    pub residual_overlap: f64,
}

pub(super) fn collide(scene: Scene) -> Outcome<Collision> {
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let time_step = simulation.time_step().value;
    let before = simulation.snapshot();
    let (mut overlap, mut force, mut duration, mut residual_overlap) = (0.0, 0.0, 0.0, f64::NAN);
    let mut after = before.clone();
    while simulation.time() < scene.run.until {
        advance(&mut simulation, 1)?;
        after = simulation.snapshot();
        let depth = match after.position[..] {
            [a, b] => after.radius[0] + after.radius[1] - length(along(a, -1.0, b)),
            _ => after.radius[0] - after.position[0][2],
        };
        let push = length(after.force[0]);
        if push == 0.0 && force > 0.0 && residual_overlap.is_nan() {
            residual_overlap = depth;
        }
        overlap = depth.max(overlap);
        force = push.max(force);
        duration += if push > 0.0 { time_step } else { 0.0 };
    }
    if duration == 0.0 || after.coordination[0] > 0 {
        return Err(format!("the collision does not begin and end within {} s", scene.run.until).into());
    }
    Ok(Collision {
        before,
        after,
        overlap,
        force,
        duration,
        residual_overlap,
    })
}

/// Velocity of the first grain's surface past that of its partner, where they touch \[m/s\].
fn slip(grains: &GrainSnapshot) -> Vec3 {
    let surface = |i: usize, outward: Vec3| {
        let arm = along([0.0; 3], grains.radius[i], outward);
        along(grains.velocity[i], 1.0, cross(grains.angular_velocity[i], arm))
    };
    let (normal, velocity) = match grains.position[..] {
        [a, b] => {
            let apart = along(b, -1.0, a);
            let normal = along([0.0; 3], 1.0 / length(apart), apart);
            let back = along([0.0; 3], -1.0, normal);
            (normal, along(surface(0, normal), -1.0, surface(1, back)))
        }
        _ => ([0.0, 0.0, -1.0], surface(0, [0.0, 0.0, -1.0])),
    };
    along(velocity, -dot(velocity, normal), normal)
}

/// Tests 1 and 2: elastic collisions by Hertz.
pub fn elastic(stand: &mut Stand) -> Done {
    for (name, [overlap, force, duration]) in stand.reference()? {
        let mut scene = stand.scene()?;
        let index = material(&scene.world, name)?;
        scene.world.grains.material.fill(index);
        let collision = collide(scene)?;
        stand.row_within(0.005, format!("{name}: largest overlap [m]"), collision.overlap, overlap);
        stand.row_within(0.005, format!("{name}: largest force [N]"), collision.force, force);
        stand.row_within(0.005, format!("{name}: contact time [s]"), collision.duration, duration);
    }
    Ok(())
}

/// Test 3: the rebound has the restitution of the scene.
pub fn rebound(stand: &mut Stand) -> Done {
    for name in ["aluminum_oxide", "cast_iron"] {
        for (_, [restitution]) in stand.reference()? {
            let mut scene = stand.scene()?;
            let index = material(&scene.world, name)?;
            scene.world.grains.material.fill(index);
            scene
                .world
                .interactions
                .iter_mut()
                .flatten()
                .for_each(|pair| pair.restitution = restitution);
            let Collision { before, after, .. } = collide(scene)?;
            let measured = -after.velocity[0][2] / before.velocity[0][2];
            stand.row(
                format!("{name}, e {restitution}: rebound over approach [-]"),
                measured,
                restitution,
                0.005,
            );
        }
    }
    Ok(())
}

/// Test 4: oblique impacts at one speed.
pub fn oblique(stand: &mut Stand) -> Done {
    for (name, [angle, restitution, spin]) in stand.reference()? {
        let mut scene = stand.scene()?;
        let velocity = &mut scene.world.grains.velocity[0];
        let (sine, cosine) = angle.to_radians().sin_cos();
        *velocity = [length(*velocity) * sine, 0.0, -length(*velocity) * cosine];
        let Collision { before, after, .. } = collide(scene)?;
        let tangential = after.velocity[0][0] / before.velocity[0][0];
        stand.row_within(0.03, format!("{name}: tangential restitution [-]"), tangential, restitution);
        stand.row_within(
            0.03,
            format!("{name}: angular velocity [rad/s]"),
            after.angular_velocity[0][1],
            spin,
        );
    }
    Ok(())
}

/// Test 5: oblique impacts that slide to the end.
pub fn sliding(stand: &mut Stand) -> Done {
    for (name, [incidence, approach, spin, recoil, tolerance]) in stand.reference()? {
        let mut scene = stand.scene()?;
        let pair = scene
            .world
            .interactions
            .iter()
            .flatten()
            .next()
            .ok_or("the scene has no interaction")?;
        let unit = pair.friction * approach;
        scene.world.grains.velocity[0] = [incidence * unit, 0.0, -approach];
        let Collision { after, .. } = collide(scene)?;
        let turned = -after.radius[0] * after.angular_velocity[0][1] / unit;
        stand.row(format!("{name}: R w'/(mu Vn) [-]"), turned, spin, tolerance);
        stand.row(format!("{name}: psi' [-]"), slip(&after)[0] / unit, recoil, tolerance);
    }
    Ok(())
}

/// Tests 6 and 8: a spinning sphere that slides to the end; q is set by its spin.
pub fn spinning(stand: &mut Stand) -> Done {
    for (name, [q, restitution]) in stand.reference()? {
        let mut scene = stand.scene()?;
        let pair = scene
            .world
            .interactions
            .iter()
            .flatten()
            .next()
            .ok_or("the scene has no interaction")?;
        let approach = length(scene.world.grains.velocity[0]);
        let slip_wanted = 3.5 * pair.friction * (1.0 + pair.restitution) * approach / q;
        let grains = &mut scene.world.grains;
        let spin = grains.angular_velocity[0];
        grains.angular_velocity[0] = along([0.0; 3], slip_wanted / (grains.radius[0] * length(spin)), spin);
        let Collision { before, after, .. } = collide(scene)?;
        let start = slip(&before);
        let measured = -dot(slip(&after), start) / dot(start, start);
        stand.row(format!("{name}: slip after over before [-]"), measured, restitution, 0.005);
    }
    Ok(())
}

/// Test 7: surfaces that do not slip past each other change neither spin nor tangential velocity.
pub fn opposite_spin(stand: &mut Stand) -> Done {
    for name in ["aluminum", "copper"] {
        for (_, [spin, spin_after, velocity_after]) in stand.reference()? {
            let mut scene = stand.scene()?;
            let index = material(&scene.world, name)?;
            scene.world.grains.material.fill(index);
            scene.world.grains.angular_velocity = vec![[0.0, 0.0, spin], [0.0, 0.0, -spin]];
            let Collision { before, after, .. } = collide(scene)?;
            let [turned, moved] = [after.angular_velocity[0][2], after.velocity[0][1]];
            stand.row_within(1e-9, format!("{name}: spin after {spin} rad/s [rad/s]"), turned, spin_after);
            stand.row_of(
                length(before.velocity[0]),
                format!("{name}: tangential velocity after {spin} rad/s [m/s]"),
                moved,
                velocity_after,
                1e-12,
            );
        }
    }
    Ok(())
}

/// Restitution and collision time of the linear contact.
pub fn linear(stand: &mut Stand) -> Done {
    for (name, [restitution, duration]) in stand.reference()? {
        let mut scene = stand.scene()?;
        scene
            .world
            .interactions
            .iter_mut()
            .flatten()
            .for_each(|pair| pair.restitution = restitution);
        let collision = collide(scene)?;
        let speed = |grains: &GrainSnapshot| grains.velocity[1][0] - grains.velocity[0][0];
        let measured = -speed(&collision.after) / speed(&collision.before);
        stand.row(format!("{name}: rebound over approach [-]"), measured, restitution, 0.002);
        stand.row_within(0.002, format!("{name}: collision time [s]"), collision.duration, duration);
    }
    Ok(())
}
