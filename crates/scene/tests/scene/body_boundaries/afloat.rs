//! Floating bodies in a plane flow, of any representation: their mass, and their draft.

use super::{boxes, load_beside, wet};
use seixo_engine::Simulation;

/// \[m\].
const SPACING: f64 = 0.01;
/// Of the tank \[m\].
const WIDTH: f64 = 0.3;
/// Of the water at the start \[m\].
const DEPTH: f64 = 0.1;
/// Halves of the edges of a plank that is one sphere thick \[m\].
const PLANK: [f64; 3] = [0.06, 0.01, 0.03];
/// Number of its spheres, which touch and fill π/4 of it.
const SPHERES: f64 = 18.0;
/// Tolerance for the height of a floating body \[spacings\]: the surface of water is not known better.
const AFLOAT: f64 = 0.25;

/// A tank with a body in it that is half as dense as water.
fn text(of_shape: &str, of_grains: &str) -> String {
    format!(
        r#"[run]
until = 1
[world]
gravity = [0, 0, -9.81]
[material.wood]
density = 500
youngs_modulus = 3e4
poisson_ratio = 0.3
[interaction.wood-wood]
restitution = 0.3
friction = 0.3
[fluid.water]
density = 1000
fill = {{ box = {{ min = [0, -0.1, 0], max = [{WIDTH}, 0.1, {DEPTH}] }} }}
spacing = {SPACING}
plane = "xz"
fastest = 1.4
artificial_viscosity = 0.3
initial_pressure = "hydrostatic"
{of_shape}
[grains.block]
material = "wood"
{of_grains}
displaces_fluid = true
[wall.tank]
material = "wood"
box = {{ min = [0, -0.2, 0], max = [{WIDTH}, 0.2, 0.2], open = ["top"] }}
slip = "free"
"#
    )
}

/// The plank, with further keys.
fn plank(more: &str) -> String {
    let shape = "[shape.plank]\nmesh = \"cube.obj\"\nspheres = { radius = 0.01, fill = \"solid\" }";
    text(shape, &format!("shape = \"plank\"\nat = [[0.15, 0, {DEPTH}]]\n{more}"))
}

/// Height of the center of a body above the water level, when both are at rest and a force pushes it down \[N/m\], in spacings.
fn height(text: &str, push: f64) -> f64 {
    let scene = load_beside(&boxes(&[PLANK]), text).unwrap();
    let (fluids, body) = (wet(&scene.world), &scene.world.grains.bodies[0]);
    let displaced = (body.mass + push / 9.81) / 1000.0;
    let level = (fluids.particles.len() as f64 * fluids.volume() + displaced) / WIDTH;
    let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
    let steps = (1.0 / simulation.time_step().value) as u64;
    simulation.advance(steps / 2).unwrap();
    let (mut mean, looks) = (0.0, 50);
    for _ in 0..looks {
        simulation.advance(steps / 100).unwrap();
        mean += simulation.bodies()[0].center[2] / f64::from(looks);
    }
    (mean - level) / SPACING
}

#[test]
fn in_a_plane_a_log_half_as_dense_as_water_floats_with_its_axis_in_the_surface() {
    let log = text("", &format!("at = [[0.15, 0, {DEPTH}]]\nradius = 0.04"));
    let height = height(&log, 0.0);
    assert!(height.abs() < AFLOAT, "{height} spacings");
}

#[test]
fn in_a_plane_a_raft_of_disks_that_overlap_floats_with_its_middle_in_the_surface() {
    let places = (-2..=2).flat_map(|z| (-5..=5).map(move |x| format!("{{ at = [{x}, 0, {z}], radius = 1 }}")));
    let shape = format!("[shape.raft]\nspheres = [{}]", places.collect::<Vec<_>>().join(", "));
    let radius = (5.0_f64.hypot(2.0) + 1.0) * SPACING;
    let grains = format!("shape = \"raft\"\nat = [[0.15, 0, {DEPTH}]]\nradius = {radius}");
    let height = height(&text(&shape, &grains), 0.0);
    assert!(height.abs() < AFLOAT, "{height} spacings");
}

#[test]
fn in_a_plane_a_box_from_a_mesh_sinks_in_as_far_as_its_weight_and_what_pushes_it_ask_for() {
    // A force of the weight of a spacing of water below it, up, none, and down.
    let heights = [-1.0, 0.0, 1.0].map(|spacings| {
        let push = spacings * 1000.0 * 9.81 * 2.0 * PLANK[0] * SPACING;
        let height = height(&plank(&format!("force = [0, 0, {}]", -push / SPHERES)), push);
        assert!((height + spacings).abs() < AFLOAT, "{height} spacings for {}", -spacings);
        height
    });
    let moved = 0.5 * (heights[0] - heights[2]);
    assert!((moved - 1.0).abs() < 0.1, "{heights:?}");
}

/// A mesh with other lines of corners, or of triangles.
fn with_lines(key: &str, other: impl Fn([&str; 3]) -> [String; 3]) -> String {
    let line = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [first, a, b, c] if first == key => format!("{key} {}\n", other([a, b, c]).join(" ")),
        _ => format!("{line}\n"),
    };
    boxes(&[PLANK]).lines().map(line).collect()
}

#[test]
fn in_a_plane_a_body_is_the_section_of_its_mesh_between_its_spheres_whichever_side_faces_out() {
    let whole = 4.0 * PLANK[0] * PLANK[2];
    let inside_out = with_lines("f", |[a, b, c]| [a, c, b].map(str::to_owned));
    // A frustum, half as wide behind as in front.
    let tapered = with_lines("v", |[x, y, z]| {
        let share = if y.starts_with('-') { 1.0 } else { 0.5 };
        let scaled = |x: &str| (share * x.parse::<f64>().unwrap()).to_string();
        [scaled(x), y.to_owned(), scaled(z)]
    });
    for (mesh, section) in [(inside_out, whole), (tapered, 0.75 * 0.75 * whole)] {
        let turned = plank("orientation = { axis = [0, 1, 0], angle = \"30 deg\" }");
        let scene = load_beside(&mesh, &turned).unwrap();
        let (fluids, body) = (wet(&scene.world), &scene.world.grains.bodies[0]);
        assert!((body.mass / (500.0 * section) - 1.0).abs() < 1e-3, "{} kg", body.mass);
        let felt: f64 = fluids.body_boundaries[0].volume.iter().sum();
        assert!((felt / section - 1.0).abs() < 1e-3, "{felt} of {section} m²");
    }
}

#[test]
fn a_mesh_of_several_layers_of_spheres_is_refused_in_a_plane() {
    let reported = load_beside(&boxes(&[[0.06; 3]]), &plank("")).map(|_| ()).expect_err("a refusal");
    for phrase in [
        "the spheres of the shape are not in one",
        "no thicker along y than one of its spheres",
    ] {
        assert!(reported.contains(phrase), "no `{phrase}` in\n{reported}");
    }
}

#[test]
fn water_under_a_body_begins_with_the_pressure_of_the_water_beside_it() {
    let sunk = text("", "at = [[0.15, 0, 0.05]]\nradius = 0.03\nfixed = true");
    let beside_a_wall = text("", "at = [[0.02, 0, 0.06]]\nradius = 0.025\nfixed = true");
    for (what, scene) in [
        ("a sunk log", sunk),
        ("a log at a wall", beside_a_wall),
        ("a plank that floats", plank("")),
    ] {
        let scene = load_beside(&boxes(&[PLANK]), &scene).unwrap();
        let particles = &wet(&scene.world).particles;
        for (place, pressure) in particles.position.iter().zip(&particles.pressure) {
            let exact = 1000.0 * 9.81 * (DEPTH - place[2]);
            // Particles beside a body are moved off the lattice by up to half a spacing, and columns count whole particles.
            let off = (pressure - exact) / (1000.0 * 9.81 * SPACING);
            assert!(off.abs() < 0.5, "{what}: {pressure} Pa at {place:?}, not {exact}");
        }
    }
}

/// The plank under water with this spacing \[m\], and the mean force of the water on it \[N/m\] between these times \[s\], with the simulation after it.
fn force_under_water(spacing: f64, place: &str, motion: &str, [from, to]: [f64; 2]) -> ([f64; 3], Simulation) {
    let shape = "[shape.plank]\nmesh = \"cube.obj\"\nspheres = { radius = 0.01, fill = \"solid\" }";
    let text = text(shape, &format!("shape = \"plank\"\nat = [{place}]\n{motion}"));
    let text = text.replace(&format!("spacing = {SPACING}"), &format!("spacing = {spacing}"));
    let scene = load_beside(&boxes(&[PLANK]), &text).unwrap();
    assert!(scene.world.grains.bodies[0].motion.is_some());
    let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
    let steps = |time: f64| (time / simulation.time_step().value).round() as u64;
    let [before, during] = [steps(from), steps(to - from)];
    simulation.advance(before).unwrap();
    let mut mean = [0.0; 3];
    for _ in 0..during {
        simulation.advance(1).unwrap();
        let [force, _] = simulation.loads_of_fluids_on_bodies()[0];
        mean = [0, 1, 2].map(|axis| mean[axis] + force[axis] / during as f64);
    }
    (mean, simulation)
}

#[test]
fn in_a_plane_a_plank_from_a_mesh_that_is_held_under_water_is_lifted_by_what_it_displaces() {
    let lift = 1000.0 * 9.81 * 4.0 * PLANK[0] * PLANK[2];
    // Two spacings of water above the plank and below it are few: 5 % too little. With twice as many it is 0.1 %.
    let (coarse, _) = force_under_water(SPACING, "[0.15, 0, 0.05]", "fixed = true", [0.2, 0.4]);
    let (force, simulation) = force_under_water(0.5 * SPACING, "[0.15, 0, 0.05]", "fixed = true", [0.2, 0.3]);
    assert!((coarse[2] / lift - 1.0).abs() < 0.08, "{coarse:?} of {lift}");
    assert!((force[2] / lift - 1.0).abs() < 0.02, "{force:?} of {lift}");
    assert!(force[0].abs() < 0.02 * lift, "{force:?}");
    let body = simulation.bodies()[0];
    let moved = [0.15, 0.0, 0.05].iter().zip(body.center).map(|(at, now)| (at - now).abs());
    assert!(moved.fold(0.0, f64::max) < 1e-12 && body.velocity == [0.0; 3], "{body:?}");
}

#[test]
fn in_a_plane_a_plank_from_a_mesh_is_driven_through_water_as_prescribed_and_resisted() {
    let (force, simulation) = force_under_water(
        SPACING,
        "[0.1, 0, 0.05]",
        "motion = { translate = [\"30 cm/s\", 0, 0] }",
        [0.05, 0.2],
    );
    let body = simulation.bodies()[0];
    assert!((body.center[0] - 0.1 - 0.3 * simulation.time()).abs() < 1e-12, "{body:?}");
    assert_eq!((body.velocity, body.angular_velocity), ([0.3, 0.0, 0.0], [0.0; 3]));
    assert!(force[0] < 0.0, "{force:?}");
}
