//! Bodies in fluids as scenes describe them: boxes that float, and a sphere in a tube.

use super::fluid::{extent, fluids_of};
use super::stand::{Done, Outcome, Stand, advance, along, mean, run_until};
use seixo_engine::Simulation;
use seixo_engine::state::GrainSnapshot;
use std::f64::consts::PI;

/// Share of a run after which a box is looked at, and how often then.
const AT_REST: f64 = 2.0 / 3.0;
const LOOKS: u32 = 50;
/// By how much a box may float too high or too low \[spacings\].
const AFLOAT: f64 = 0.25;

/// From when on the drag on a sphere is averaged, as a share of the run.
const DRAWN_FROM: f64 = 0.5;

/// Spheres with a radius of half a centimeter whose union is a box with these edges \[cm\], as a scene lists them, row by row from below; and how far they
/// reach from its center \[cm\].
fn spheres_of_box([width, height]: [f64; 2]) -> (String, f64) {
    let places = |edge: f64| (0..(2.0 * edge).round() as u32 - 1).map(move |k| 0.5 * (f64::from(k) + 1.0 - edge));
    let row = |z: f64| places(width).map(move |x| format!("{{ at = [{x}, 0, {z}], radius = 0.5 }}"));
    let all: Vec<String> = places(height).flat_map(row).collect();
    let reach = (0.5 * width - 0.5).hypot(0.5 * height - 0.5) + 0.5;
    (format!("[{}]", all.join(", ")), reach)
}

/// By what angle a box leans, from the ends of its lowest row of spheres \[deg\].
fn lean(spheres: &GrainSnapshot, width: f64) -> f64 {
    let last = (2.0 * width).round() as usize - 2;
    let row = along(spheres.position[last], -1.0, spheres.position[0]);
    -row[2].atan2(row[0]).to_degrees()
}

/// Boxes half as dense as water, of several widths, start aslant.
pub fn box_stability(stand: &mut Stand) -> Done {
    for (name, [width, height, expected, tolerance]) in stand.reference()? {
        let (spheres, reach) = spheres_of_box([width, height]);
        let scene = stand.scene_with(&[
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
            stand.tell(name, &simulation, until);
        }
        // It may lean to either side.
        let angle = mean(&angles, |angle| *angle).abs();
        stand.row(format!("{name}: angle at rest [deg]"), angle, expected, tolerance);
        // Half as dense, and the same from both sides: its center is in the surface, however it leans.
        let above = (mean(&heights, |height| *height) - level) / spacing;
        stand.row(
            format!("{name}: height of its center above the level [spacings]"),
            above,
            0.0,
            AFLOAT,
        );
    }
    Ok(())
}

/// Drag on a sphere that is drawn along the axis of a closed tube, over Stokes' in a fluid without bounds.
pub fn sphere_in_tube(stand: &mut Stand) -> Done {
    let scene = stand.scene()?;
    let until = scene.run.until;
    let grains = &scene.world.grains;
    let motion = grains.bodies.first().and_then(|body| body.motion.as_ref());
    let speed = motion.ok_or("nothing is drawn along the tube")?.velocity[2];
    let stokes = 6.0 * PI * fluids_of(&scene.world)?.kinds[0].viscosity * grains.radius[0] * speed;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    while simulation.time() < DRAWN_FROM * until {
        let next = simulation.time() + 0.1 * until;
        run_until(&mut simulation, next)?;
        stand.tell("a sphere", &simulation, until);
    }
    let mut drags: Vec<f64> = Vec::new();
    while simulation.time() < until {
        advance(&mut simulation, 1)?;
        drags.push(-drag(&simulation)?);
    }
    stand.compare(&[mean(&drags, |drag| *drag) / stokes])
}

/// Force of the fluid on the only body, upward \[N\].
fn drag(simulation: &Simulation) -> Outcome<f64> {
    let loads = simulation.loads_of_fluids_on_bodies();
    let [force, _] = loads.first().ok_or("the fluid feels no body")?;
    Ok(force[2])
}
