//! Single collisions: tests 1 to 8 of \[Chung 2011\], and the linear contact.

use super::case_run::{CaseRun, Done, Line, Outcome, advance, along, cross, dot, length, material};
use seixo_engine::Simulation;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::Vec3;
use seixo_scene::Scene;

/// A collision of two grains, or of a grain with the plane z = 0, as observed from outside.
pub(super) struct Collision {
    pub before: GrainSnapshot,
    pub after: GrainSnapshot,
    /// Largest overlap, from the positions of the centers \[m\].
    pub overlap: f64,
    /// Largest force \[N\].
    pub force: f64,
    /// Duration of the force \[s\].
    pub duration: f64,
    /// Overlap when the force first returns to zero \[m\].
    pub residual_overlap: f64,
    /// Overlap \[m\] and force \[N\] at each step with a force.
    pub path: Vec<(f64, f64)>,
}

pub(super) fn collide(scene: Scene) -> Outcome<Collision> {
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let time_step = simulation.time_step().value;
    let before = simulation.snapshot();
    let (mut overlap, mut force, mut duration, mut residual_overlap) = (0.0, 0.0, 0.0, f64::NAN);
    let (mut after, mut path) = (before.clone(), Vec::new());
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
        if push > 0.0 {
            duration += time_step;
            path.push((depth, push));
        }
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
        path,
    })
}

/// Slip velocity of the first grain relative to its partner at the contact point \[m/s\].
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

/// Returns measured and expected points as the lines of a curve.
fn beside([measured, expected]: [Vec<(f64, f64)>; 2], source: &str) -> Vec<Line> {
    vec![("measured".to_owned(), measured), (source.to_owned(), expected)]
}

/// Tests 1 and 2: elastic Hertzian collisions.
pub fn elastic(case_run: &mut CaseRun) -> Done {
    let mut lines = vec![(
        "Hertz".to_owned(),
        (0..=50).map(|k| f64::from(k) / 50.0).map(|x| (x, x.powf(1.5))).collect(),
    )];
    for (name, [overlap, force, duration]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
        let index = material(&scene.world, name)?;
        scene.world.grains.material.fill(index);
        let collision = collide(scene)?;
        case_run.row_within(0.005, format!("{name}: largest overlap [m]"), collision.overlap, overlap);
        case_run.row_within(0.005, format!("{name}: largest force [N]"), collision.force, force);
        case_run.row_within(0.005, format!("{name}: contact time [s]"), collision.duration, duration);
        let scaled = |(depth, push): &(f64, f64)| (depth / overlap, push / force);
        // A chart needs only a part of some two thousand steps.
        let few = collision.path.len().div_ceil(100);
        lines.push((name.to_owned(), collision.path.iter().step_by(few).map(scaled).collect()));
    }
    let axes = ["overlap over the largest by Hertz [-]", "force over the largest by Hertz [-]"];
    case_run.curve("force", axes, lines);
    Ok(())
}

/// Test 3: restitution of the rebound is that of the scene.
pub fn rebound(case_run: &mut CaseRun) -> Done {
    let mut lines = vec![("restitution asked for".to_owned(), vec![(0.2, 0.2), (1.0, 1.0)])];
    for name in ["aluminum_oxide", "cast_iron"] {
        let mut points = Vec::new();
        for (_, [restitution]) in case_run.reference()? {
            let mut scene = case_run.scene()?;
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
            case_run.row(
                format!("{name}, e {restitution}: rebound over approach [-]"),
                measured,
                restitution,
                0.005,
            );
            points.push((restitution, measured));
        }
        lines.push((name.to_owned(), points));
    }
    case_run.curve("rebound", ["restitution of the scene [-]", "rebound over approach [-]"], lines);
    Ok(())
}

/// Test 4: oblique impacts at a constant speed.
pub fn oblique(case_run: &mut CaseRun) -> Done {
    let (mut rebounds, mut spins) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for (name, [angle, restitution, spin]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
        let velocity = &mut scene.world.grains.velocity[0];
        let (sine, cosine) = angle.to_radians().sin_cos();
        *velocity = [length(*velocity) * sine, 0.0, -length(*velocity) * cosine];
        let Collision { before, after, .. } = collide(scene)?;
        let tangential = after.velocity[0][0] / before.velocity[0][0];
        case_run.row_within(0.03, format!("{name}: tangential restitution [-]"), tangential, restitution);
        let turned = after.angular_velocity[0][1];
        case_run.row_within(0.03, format!("{name}: angular velocity [rad/s]"), turned, spin);
        for (line, value) in rebounds.iter_mut().zip([tangential, restitution]) {
            line.push((angle, value));
        }
        for (line, value) in spins.iter_mut().zip([turned, spin]) {
            line.push((angle, value));
        }
    }
    let angle = "angle from the normal [deg]";
    case_run.curve(
        "restitution",
        [angle, "tangential restitution [-]"],
        beside(rebounds, "Chung & Ooi 2011"),
    );
    case_run.curve("spin", [angle, "angular velocity after [rad/s]"], beside(spins, "Chung & Ooi 2011"));
    Ok(())
}

/// Test 5: oblique impacts that slide until the end.
pub fn sliding(case_run: &mut CaseRun) -> Done {
    let mut slips = [Vec::new(), Vec::new()];
    for (name, [incidence, approach, spin, recoil, tolerance]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
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
        case_run.row(format!("{name}: R w'/(mu Vn) [-]"), turned, spin, tolerance);
        let left = slip(&after)[0] / unit;
        case_run.row(format!("{name}: psi' [-]"), left, recoil, tolerance);
        for (line, value) in slips.iter_mut().zip([left, recoil]) {
            line.push((incidence, value));
        }
    }
    for line in &mut slips {
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let axes = ["slip before over μ Vn, ψ [-]", "slip after over μ Vn, ψ' [-]"];
    case_run.curve("slip", axes, beside(slips, "ψ − 7"));
    Ok(())
}

/// Tests 6 and 8: a spinning sphere that slides until the end; its spin sets q.
pub fn spinning(case_run: &mut CaseRun) -> Done {
    let mut slips = [Vec::new(), Vec::new()];
    for (name, [q, restitution]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
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
        case_run.row(format!("{name}: slip after over before [-]"), measured, restitution, 0.005);
        for (line, value) in slips.iter_mut().zip([measured, restitution]) {
            line.push((q, value));
        }
    }
    let axes = ["3.5 μ (1 + e) Vn over the slip before, q [-]", "slip after over before, β [-]"];
    case_run.curve("slip", axes, beside(slips, "q − 1"));
    Ok(())
}

/// Test 7: without slip, neither spin nor tangential velocity changes.
pub fn opposite_spin(case_run: &mut CaseRun) -> Done {
    let mut lines = vec![("kept".to_owned(), vec![(0.0, 0.0), (20.0, 20.0)])];
    for name in ["aluminum", "copper"] {
        let mut points = Vec::new();
        for (_, [spin, spin_after, velocity_after]) in case_run.reference()? {
            let mut scene = case_run.scene()?;
            let index = material(&scene.world, name)?;
            scene.world.grains.material.fill(index);
            scene.world.grains.angular_velocity = vec![[0.0, 0.0, spin], [0.0, 0.0, -spin]];
            let Collision { before, after, .. } = collide(scene)?;
            let [turned, moved] = [after.angular_velocity[0][2], after.velocity[0][1]];
            case_run.row_within(1e-9, format!("{name}: spin after {spin} rad/s [rad/s]"), turned, spin_after);
            case_run.row_of(
                length(before.velocity[0]),
                format!("{name}: tangential velocity after {spin} rad/s [m/s]"),
                moved,
                velocity_after,
                1e-12,
            );
            points.push((spin, turned));
        }
        lines.push((name.to_owned(), points));
    }
    case_run.curve("spin", ["spin before [rad/s]", "spin after [rad/s]"], lines);
    Ok(())
}

/// Restitution and duration of a collision with the linear law.
pub fn linear(case_run: &mut CaseRun) -> Done {
    let mut durations = [Vec::new(), Vec::new()];
    for (name, [restitution, duration]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
        scene
            .world
            .interactions
            .iter_mut()
            .flatten()
            .for_each(|pair| pair.restitution = restitution);
        let collision = collide(scene)?;
        let speed = |grains: &GrainSnapshot| grains.velocity[1][0] - grains.velocity[0][0];
        let measured = -speed(&collision.after) / speed(&collision.before);
        case_run.row(format!("{name}: rebound over approach [-]"), measured, restitution, 0.002);
        case_run.row_within(0.002, format!("{name}: collision time [s]"), collision.duration, duration);
        for (line, value) in durations.iter_mut().zip([collision.duration, duration]) {
            line.push((restitution, 1e6 * value));
        }
    }
    let axes = ["restitution of the scene [-]", "collision time [μs]"];
    case_run.curve("duration", axes, beside(durations, "Schwager & Pöschel 2007"));
    Ok(())
}
