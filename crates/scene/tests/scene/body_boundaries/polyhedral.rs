//! Polyhedral grains that displace fluids: the space that they fill, and a cube that floats.

use super::{CUBE, SPACING, load_beside, load_in_plane, load_staged, volume, wet};
use seixo_engine::Simulation;

/// A cube of twelve centimeters with round edges.
const DIE: &str = "[shape.die]\nkind = \"polyhedron\"\nbox = [12, 12, 12]\nrounding = 1\nunit = \"cm\"\n";

/// Edge of the cube, and width and depth of the water in which it floats \[m\].
const EDGE: f64 = 0.12;
const WIDTH: f64 = 0.28;
const DEPTH: f64 = 0.14;

#[test]
fn a_polyhedral_cube_is_a_body_that_displaces_its_volume() {
    let grains = "shape = \"die\"\nat = [[0.2, 0.2, 0.16]]\ndisplaces_fluid = true";
    let scene = load_staged(grains, "", DIE).unwrap();
    let (grains, fluids) = (&scene.world.grains, wet(&scene.world));
    let ([body], [shape]) = (&grains.bodies[..], &scene.world.shapes[..]) else {
        panic!("one grain: {:?}", grains.bodies)
    };
    assert_eq!((&body.carries[..], body.motion.is_none()), (&[(grains.id[0], [0.0; 3])][..], true));
    assert_eq!((body.center, body.orientation), (grains.position[0], grains.orientation[0]));
    let exact = shape.volume * grains.radius[0].powi(3);
    assert!((body.mass / (500.0 * exact) - 1.0).abs() < 1e-12, "{} kg", body.mass);
    // The support is half of the edge, so the cube is full of particles. Its surface of triangles lies inside of the round edges.
    let filled = volume(fluids, 0);
    assert!((filled / exact - 1.0).abs() < 0.01, "{filled} of {exact} m³");
    // Its faces are between the layers of the fluid.
    assert_eq!(20 * 20 * 15 - fluids.particles.len(), 6 * 6 * 6);
    let notices = scene.notices.join("\n");
    assert!(!notices.contains("fluids pass through grains.blocks"), "{notices}");
    // Pictures show the grain, and no body beside it.
    assert!(scene.outlines.is_empty() && scene.outlines.meshes().is_empty());
}

#[test]
fn fixed_polyhedra_in_a_fluid_are_bodies_of_their_own() {
    let grains = "shape = \"die\"\nat = [[0.1, 0.2, 0.16], [0.3, 0.2, 0.16]]\nfixed = true\ndisplaces_fluid = true";
    let scene = load_staged(grains, "", DIE).unwrap();
    let bodies = &scene.world.grains.bodies;
    assert!(bodies.len() == 2 && bodies.iter().all(|body| body.motion.is_some()), "{bodies:?}");
    assert_eq!(wet(&scene.world).body_boundaries.len(), 2);
    let before = scene.world.grains.position.clone();
    let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
    simulation.advance(10).unwrap();
    for (now, then) in simulation.snapshot().position.iter().zip(&before) {
        assert!((0..3).all(|k| (now[k] - then[k]).abs() < 1e-12), "{now:?} {then:?}");
    }
}

#[test]
fn polyhedra_that_fluids_cannot_flow_around_are_refused_with_a_remedy() {
    let die = "shape = \"die\"\nat = [[0.2, 0.2, 0.16]]\n";
    let with = |keys: &str, of_fluid: &str| load_staged(&format!("{die}{keys}"), of_fluid, DIE).map(|_| ());
    let rock = "[grains.rock]\nmaterial = \"wood\"\ndisplaces_fluid = true\n[grains.rock.blocks]\n\
                box = { min = [0.1, 0.1, 0.1], max = [0.2, 0.2, 0.2] }\ncount = 4\nrounding = 0.005\n";
    let in_plane = "shape = \"die\"\nat = [[0.2, 0, 0.16]]\ndisplaces_fluid = true";
    let cases = [
        (
            with("displaces_fluid = true", "solver = \"muller2003\""),
            "polyhedral grains have none",
            "use solver = \"wcsph\"",
        ),
        (
            load_in_plane(in_plane, DIE).map(|_| ()),
            "the fluid flows in a plane",
            "leave `plane` out",
        ),
        (with("carried_by_fluid = true", ""), "a fluid carries spheres", "leave `shape` out"),
        (
            with("displaces_fluid = true\nmelts_into = \"water\"", ""),
            "do not melt yet",
            "use a clump",
        ),
        (
            with("displaces_fluid = true\njoint = { ball = {} }", ""),
            "polyhedral grains on joints yet",
            "use a clump",
        ),
        (
            load_staged(CUBE, "", rock).map(|_| ()),
            "fluids do not flow around blocks yet",
            "leave `displaces_fluid` out",
        ),
    ];
    for (found, complaint, remedy) in cases {
        let refused = found.expect_err(complaint);
        for phrase in [complaint, remedy] {
            assert!(refused.contains(phrase), "no `{phrase}` in\n{refused}");
        }
    }
    // A fluid passes through others.
    let scene = load_staged(die, "", DIE).unwrap();
    assert!(wet(&scene.world).body_boundaries.is_empty() && scene.world.grains.bodies.is_empty());
}

#[test]
fn a_cube_half_as_dense_as_water_floats_with_half_of_its_edge_in_it() {
    let text = format!(
        r#"[run]
until = 1
[world]
gravity = [0, 0, -9.81]
[material.wood]
density = 500
youngs_modulus = 1e6
poisson_ratio = 0.3
[interaction.wood-wood]
restitution = 0.3
friction = 0.3
[fluid.water]
density = 1000
fill = {{ box = {{ min = [0, 0, 0], max = [{WIDTH}, {WIDTH}, {DEPTH}] }} }}
spacing = {SPACING}
support = 3
fastest = 1.4
artificial_viscosity = 0.3
initial_pressure = "hydrostatic"
{DIE}
[grains.die]
material = "wood"
shape = "die"
at = [[0.14, 0.14, {DEPTH}]]
displaces_fluid = true
[wall.tank]
material = "wood"
box = {{ min = [0, 0, 0], max = [{WIDTH}, {WIDTH}, 0.28], open = ["top"] }}
slip = "free"
"#
    );
    let scene = load_beside("", &text).unwrap();
    let (fluids, body) = (wet(&scene.world), &scene.world.grains.bodies[0]);
    let level = (fluids.particles.len() as f64 * fluids.volume() + body.mass / 1000.0) / WIDTH.powi(2);
    let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
    let steps = (0.6 / simulation.time_step().value) as u64;
    simulation.advance(steps / 2).unwrap();
    let (mut middle, looks) = (0.0, 30);
    for _ in 0..looks {
        simulation.advance(steps / 60).unwrap();
        middle += simulation.polyhedra()[0].center[2] / f64::from(looks);
    }
    // An upright cube of this density turns over. Its center stays in the surface all the same: any plane through the center halves the volume.
    let draft = level - (middle - 0.5 * EDGE);
    // The surfaces of the water and of the cube are between layers of particles, so each is known to a quarter of a spacing.
    assert!((draft - 0.5 * EDGE).abs() < 0.5 * SPACING, "{draft} m of {} m", 0.5 * EDGE);
    // Without the water it would have fallen by more than a meter.
    assert!(simulation.polyhedra()[0].velocity[2].abs() < 0.2, "{:?}", simulation.polyhedra());
}
