//! Bodies in fluids from scenes: floating boxes, and a sphere in a tube.

use super::case_run::{CaseRun, Done, Outcome, advance, along, mean, run_until};
use super::fluid::{extent, fluids_of};
use seixo_engine::Simulation;
use seixo_engine::state::GrainSnapshot;
use std::f64::consts::PI;

/// Share of a run after which a box is sampled, and the number of samples.
const AT_REST: f64 = 2.0 / 3.0;
const LOOKS: u32 = 50;
/// Tolerance of the floating height of a box \[spacings\].
const AFLOAT: f64 = 0.25;

/// Share of the run after which the drag on a sphere is averaged.
const DRAWN_FROM: f64 = 0.5;

/// Spheres with a radius of 0.5 cm whose union is a box with these edges \[cm\], as a list of a scene, row by row from below; and their largest
/// distance from the center of the box \[cm\].
fn spheres_of_box([width, height]: [f64; 2]) -> (String, f64) {
    let places = |edge: f64| (0..(2.0 * edge).round() as u32 - 1).map(move |k| 0.5 * (f64::from(k) + 1.0 - edge));
    let row = |z: f64| places(width).map(move |x| format!("{{ at = [{x}, 0, {z}], radius = 0.5 }}"));
    let all: Vec<String> = places(height).flat_map(row).collect();
    let reach = (0.5 * width - 0.5).hypot(0.5 * height - 0.5) + 0.5;
    (format!("[{}]", all.join(", ")), reach)
}

/// Tilt of a box, from the ends of its lowest row of spheres \[deg\].
fn lean(spheres: &GrainSnapshot, width: f64) -> f64 {
    let last = (2.0 * width).round() as usize - 2;
    let row = along(spheres.position[last], -1.0, spheres.position[0]);
    -row[2].atan2(row[0]).to_degrees()
}

/// Boxes of several widths with half the density of water start tilted.
pub fn box_stability(case_run: &mut CaseRun) -> Done {
    for (name, [width, height, expected, tolerance]) in case_run.reference()? {
        let (spheres, reach) = spheres_of_box([width, height]);
        let scene = case_run.scene_with(&[
            ("shape.box.spheres".to_owned(), spheres),
            ("grains.box.radius".to_owned(), format!("\"{reach} cm\"")),
        ])?;
        let until = scene.run.until;
        let fluids = fluids_of(&scene.world)?;
        let [left, right] = extent(fluids, 0);
        let displaced = scene.world.grains.bodies.first().ok_or("nothing floats")?.mass / fluids.kinds[0].density;
        let level = extent(fluids, 2)[0] + (fluids.particles.len() as f64 * fluids.volume() + displaced) / (right - left);
        let spacing = fluids.spacing;
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let (mut angles, mut heights) = (Vec::new(), Vec::new());
        for k in 0..=LOOKS {
            run_until(
                &mut simulation,
                until * (AT_REST + (1.0 - AT_REST) * f64::from(k) / f64::from(LOOKS)),
            )?;
            let spheres = simulation.snapshot();
            angles.push(lean(&spheres, width));
            heights.push(mean(&spheres.position, |at| at[2]));
            case_run.print_progress(name, &simulation, until);
        }
        // The box may tilt to either side.
        let angle = mean(&angles, |angle| *angle).abs();
        case_run.row(format!("{name}: angle at rest [deg]"), angle, expected, tolerance);
        // The box has half the density of water and is symmetric, so its center is at the surface at any tilt.
        let above = (mean(&heights, |height| *height) - level) / spacing;
        case_run.row(
            format!("{name}: height of its center above the level [spacings]"),
            above,
            0.0,
            AFLOAT,
        );
    }
    Ok(())
}

/// Drag on a sphere that moves along the axis of a closed tube, over the Stokes drag in an unbounded fluid.
pub fn sphere_in_tube(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let until = scene.run.until;
    let grains = &scene.world.grains;
    let motion = grains.bodies.first().and_then(|body| body.motion.as_ref());
    let speed = motion.ok_or("nothing is drawn along the tube")?.velocity[2];
    let stokes = 6.0 * PI * fluids_of(&scene.world)?.kinds[0].viscosity * grains.radius[0] * speed;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    while simulation.time() < DRAWN_FROM * until {
        let next = simulation.time() + 0.1 * until;
        run_until(&mut simulation, next)?;
        case_run.print_progress("a sphere", &simulation, until);
    }
    let mut drags: Vec<f64> = Vec::new();
    while simulation.time() < until {
        advance(&mut simulation, 1)?;
        drags.push(-drag(&simulation)?);
    }
    case_run.compare(&[mean(&drags, |drag| *drag) / stokes])
}

/// Upward force of the fluid on the only body \[N\].
fn drag(simulation: &Simulation) -> Outcome<f64> {
    let loads = simulation.loads_of_fluids_on_bodies();
    let [force, _] = loads.first().ok_or("the fluid feels no body")?;
    Ok(force[2])
}
