//! Meshes and moving walls.

use super::case_run::{CaseRun, Done, Outcome, advance, along, cross, dot, length, run_until};
use seixo_engine::Simulation;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::WallShape;
use seixo_scene::Scene;

fn finished(scene: Scene) -> Outcome<Simulation> {
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    run_until(&mut simulation, scene.run.until)?;
    Ok(simulation)
}

/// A ball moves over a floor of triangles exactly as over a plane.
pub fn mesh_floor(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let down = scene.world.gravity;
    let up = along([0.0; 3], -1.0 / length(down), down);
    let mut plane = case_run.scene()?;
    plane.world.walls[0].shape = WallShape::Plane {
        point: [0.0; 3],
        normal: up,
    };
    let on_plane = finished(plane)?.snapshot();
    let start = scene.world.grains.position[0];
    let launch = length(scene.world.grains.velocity[0]);
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let (mut lowest, mut highest, mut slowest, mut fastest) = (f64::MAX, f64::MIN, f64::MAX, f64::MIN);
    let mut most_contacts = 0;
    while simulation.time() < scene.run.until {
        advance(&mut simulation, 10)?;
        let ball = simulation.snapshot();
        most_contacts = most_contacts.max(ball.coordination[0]);
        // The second half of its rolling path.
        if simulation.time() > 0.5 * scene.run.until {
            let (height, speed) = (dot(ball.position[0], up), length(ball.velocity[0]));
            (lowest, highest) = (height.min(lowest), height.max(highest));
            (slowest, fastest) = (speed.min(slowest), speed.max(fastest));
        }
    }
    let ball = simulation.snapshot();
    let way = length(along(ball.position[0], -1.0, start));
    let apart = |of: fn(&GrainSnapshot) -> [f64; 3], size: f64| length(along(of(&ball), -1.0, of(&on_plane))) / size;
    case_run.compare(&[
        apart(|ball| ball.position[0], way),
        apart(|ball| ball.velocity[0], launch),
        apart(|ball| ball.angular_velocity[0], launch / ball.radius[0]),
        (highest - lowest) / ball.radius[0],
        (fastest - slowest) / fastest,
        f64::from(most_contacts),
        length(ball.velocity[0]),
    ])
}

/// Head-on impacts on faces, edges and corners.
pub fn mesh_edges(case_run: &mut CaseRun) -> Done {
    for (name, [x, y, z, nx, ny, nz]) in case_run.reference()? {
        let place = [x, y, z].map(|millimeters| 1e-3 * millimeters);
        let normal = along([0.0; 3], 1.0 / length([nx, ny, nz]), [nx, ny, nz]);
        let mut scene = case_run.scene()?;
        let grains = &mut scene.world.grains;
        let speed = length(grains.velocity[0]);
        grains.position[0] = along(place, 1.02 * grains.radius[0], normal);
        grains.velocity[0] = along([0.0; 3], -speed, normal);
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let (mut most_contacts, mut aslant) = (0, f64::NAN);
        while simulation.time() < scene.run.until {
            advance(&mut simulation, 1)?;
            let ball = simulation.snapshot();
            most_contacts = most_contacts.max(ball.coordination[0]);
            if ball.coordination[0] > 0 {
                aslant = length(cross(ball.force[0], normal)).max(aslant * length(ball.force[0])) / length(ball.force[0]);
            }
        }
        let ball = simulation.snapshot();
        case_run.row(format!("{name}: most contacts at a time"), f64::from(most_contacts), 1.0, 0.0);
        case_run.row(format!("{name}: largest sine of force to normal"), aslant, 0.0, 1e-9);
        case_run.row(
            format!("{name}: rebound along the normal [m/s]"),
            dot(ball.velocity[0], normal),
            speed,
            1e-4,
        );
    }
    Ok(())
}

/// A rising plate carries a grain at its speed.
pub fn lift(case_run: &mut CaseRun) -> Done {
    let simulation = finished(case_run.scene()?)?;
    let (ball, ledger) = (simulation.snapshot(), simulation.ledger());
    let force = -simulation.walls()[0].force[2];
    case_run.compare(&[ball.velocity[0][2], force, ledger.wall_work, ledger.residual / ledger.wall_work])
}

/// A conveyor belt makes a sphere roll.
pub fn conveyor(case_run: &mut CaseRun) -> Done {
    let simulation = finished(case_run.scene()?)?;
    let (ball, ledger) = (simulation.snapshot(), simulation.ledger());
    let speed = ball.velocity[0][0];
    let surface = speed - ball.radius[0] * ball.angular_velocity[0][1];
    case_run.compare(&[speed, surface, ledger.wall_work, ledger.residual / ledger.wall_work])
}

/// A sphere on a turntable orbits at 2/7 of its rotation rate, on a mesh as on a plane.
pub fn turntable(case_run: &mut CaseRun) -> Done {
    for (name, [share]) in case_run.reference()? {
        let mut scene = case_run.scene()?;
        if name == "plane" {
            scene.world.walls[0].shape = WallShape::Plane {
                point: [0.0; 3],
                normal: [0.0, 0.0, 1.0],
            };
        }
        let rate = scene.world.walls[0].motion.angular_velocity[2];
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let (mut turned, mut heading) = (0.0, simulation.snapshot().velocity[0]);
        while simulation.time() < scene.run.until {
            advance(&mut simulation, 10)?;
            let now = simulation.snapshot().velocity[0];
            turned += cross(heading, now)[2].atan2(dot(heading, now));
            heading = now;
        }
        let ledger = simulation.ledger();
        let moved = ledger.wall_work.abs() + ledger.initial.abs();
        case_run.row_within(
            0.002,
            format!("{name}: rate of the circle over that of the table [-]"),
            turned / simulation.time() / rate,
            share,
        );
        case_run.row(
            format!("{name}: residual of the ledger over energy [-]"),
            ledger.residual / moved,
            0.0,
            1e-3,
        );
    }
    Ok(())
}
