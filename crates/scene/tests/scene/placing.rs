//! Meshes and shapes with the unit, size, orientation and position that a scene gives them.

use crate::loaded::GLASS;
use glam::DVec3;
use seixo_engine::world::{Vec3, WallShape};
use seixo_scene::{Diagnostics, Scene, load_text};
use std::path::Path;

/// A block of 20 × 40 × 60 whose lowest corner is at (100, 0, 0), in millimeters.
const BLOCK: &str = "v 100 0 0\nv 120 0 0\nv 120 40 0\nv 100 40 0\nv 100 0 60\nv 120 0 60\nv 120 40 60\nv 100 40 60
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 4 1 5 8\nf 2 3 7 6\n";
/// A quarter turn about z, which maps x to y and y to −x.
const QUARTER: &str = "rotate = { axis = [0, 0, 2], angle = \"90 deg\" }";

/// A scene whose file `block.obj` has the block.
fn with_block(sections: &str) -> Result<Scene, Diagnostics> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("block.obj"), BLOCK).expect("written");
    let scene = load_text(&format!("{GLASS}{sections}"), &folder.path().join("scene.toml"), &[])?;
    // The written scene has the keys, too.
    let again = load_text(&scene.resolved, Path::new("/elsewhere.toml"), &[])?;
    assert_eq!((&again.world.walls, &again.world.grains), (&scene.world.walls, &scene.world.grains));
    Ok(scene)
}

/// Corners of the box around points.
fn bounds<'a>(points: impl Iterator<Item = &'a Vec3> + Clone) -> [DVec3; 2] {
    let all = || points.clone().map(|point| DVec3::from(*point));
    [all().fold(DVec3::INFINITY, DVec3::min), all().fold(DVec3::NEG_INFINITY, DVec3::max)]
}

fn assert_box(found: [DVec3; 2], low: Vec3, high: Vec3) {
    for (found, expected) in found.into_iter().zip([low, high]) {
        assert!(found.distance(expected.into()) < 1e-12, "{found} is not {expected:?}");
    }
}

#[test]
fn a_wall_is_scaled_then_rotated_about_the_origin_of_its_file_then_moved() {
    let wall = |keys: &str| {
        let text = format!(
            "[grains.one]\nmaterial = \"glass\"\nat = [[9, 9, 9]]\nradius = 0.001\n[wall.block]\nmaterial = \"glass\"\nmesh = \"block.obj\"\n{keys}\n"
        );
        let world = with_block(&text).expect("sound").world;
        let WallShape::Mesh(triangles) = &world.walls[0].shape else {
            panic!("a mesh")
        };
        bounds(triangles.iter().flatten())
    };
    assert_box(wall("unit = \"mm\""), [0.1, 0.0, 0.0], [0.12, 0.04, 0.06]);
    assert_box(wall("unit = \"mm\"\nscale = 2"), [0.2, 0.0, 0.0], [0.24, 0.08, 0.12]);
    assert_box(wall("scale = \"mm\"\nmove = [0, 0, \"1 m\"]"), [0.1, 0.0, 1.0], [0.12, 0.04, 1.06]);
    assert_box(
        wall(&format!("unit = \"mm\"\nscale = 2\n{QUARTER}\nmove = [\"1 m\", 0, \"-1 m\"]")),
        [0.92, 0.2, -1.0],
        [1.0, 0.24, -0.88],
    );
    // A side that is parallel to an axis stays so to the last bit.
    let [low, high] = wall(&format!("unit = \"mm\"\n{QUARTER}"));
    assert_eq!((low.y, high.x), (0.1, 0.0));
}

#[test]
fn a_fill_by_mesh_is_where_its_mesh_is_put() {
    let text = format!(
        "[grains.bed]\nmaterial = \"glass\"\nfill = {{ solid_fraction = 0.2, method = \"random\", radius = \"1 mm\", region = {{ mesh = {{ file = \"block.obj\", unit = \"mm\", {QUARTER}, move = [0, 0, \"1 m\"] }} }} }}\n"
    );
    let scene = with_block(&text).expect("sound");
    let [low, high] = bounds(scene.world.grains.position.iter());
    // All of the two thousand grains are inside. They are everywhere in it: none of its sides is farther than a quarter of its shortest edge.
    let [inner_low, inner_high] = [DVec3::new(-0.04, 0.1, 1.0) + 1e-3, DVec3::new(0.0, 0.12, 1.06) - 1e-3];
    assert!(
        (low - inner_low).min_element() > -1e-12 && (inner_high - high).min_element() > -1e-12,
        "{low} {high}"
    );
    assert!(
        (low - inner_low).max_element() < 5e-3 && (inner_high - high).max_element() < 5e-3,
        "{low} {high}"
    );
}

#[test]
fn a_shape_in_millimeters_weighs_what_its_solid_weighs() {
    let shaped = |keys: &str, grains: &str| {
        let text = format!(
            "[shape.block]\nmesh = \"block.obj\"\nspheres = {{ radius = 5, fill = \"solid\" }}\n{keys}\n[grains.ones]\nmaterial = \"glass\"\nshape = \"block\"\n{grains}\n"
        );
        with_block(&text).expect("sound").world.grains
    };
    let mass = 0.02 * 0.04 * 0.06 * 2500.0;
    let one = shaped("unit = \"mm\"", "at = [[0, 0, 1]]");
    assert!((one.bodies[0].mass / mass - 1.0).abs() < 1e-12, "{}", one.bodies[0].mass);
    assert!(one.radius.iter().all(|radius| (radius - 5e-3).abs() < 1e-15));
    assert_box(bounds(one.position.iter()), [-5e-3, -15e-3, 0.975], [5e-3, 15e-3, 1.025]);

    // Rotated: what was along y is along z.
    let upright = "rotate = { axis = [1, 0, 0], angle = \"90 deg\" }";
    let turned = shaped(&format!("unit = \"mm\"\n{upright}"), "at = [[0, 0, 1]]");
    assert_box(bounds(turned.position.iter()), [-5e-3, -25e-3, 0.985], [5e-3, 25e-3, 1.015]);
    // The orientation of the section comes after the rotation of the shape.
    let oriented = "at = [[0, 0, 1]]\norientation = { axis = [0, 0, 1], angle = \"90 deg\" }";
    let both = shaped(&format!("unit = \"mm\"\n{upright}"), oriented);
    assert_box(bounds(both.position.iter()), [-25e-3, -5e-3, 0.985], [25e-3, 5e-3, 1.015]);

    // A fill needs no radius, and gives bodies of the same mass as single ones.
    let region = "region = { box = { min = [0, 0, 0], max = [0.3, 0.3, 0.3] } }";
    let filled = shaped("unit = \"mm\"", &format!("fill = {{ {region}, count = 20, method = \"random\" }}"));
    assert_eq!(filled.bodies.len(), 20);
    assert!(filled.bodies.iter().all(|body| (body.mass / mass - 1.0).abs() < 1e-12));
    // Twice as large: eight times the mass.
    let large = shaped("unit = \"mm\"\nscale = 2", "at = [[0, 0, 1]]");
    assert!((large.bodies[0].mass / (8.0 * mass) - 1.0).abs() < 1e-12);
    // A radius of the section gives the size, as before.
    let given = shaped("unit = \"mm\"", "at = [[0, 0, 1]]\nradius = 1");
    let reach = 0.5 * DVec3::new(10.0, 30.0, 50.0).length() + 5.0;
    assert!((given.radius[0] * reach / 5.0 - 1.0).abs() < 1e-12, "{}", given.radius[0]);
}

#[test]
fn placements_that_cannot_be_are_refused_with_place_and_remedy() {
    let wall = |keys: &str| {
        format!("[grains.one]\nmaterial = \"glass\"\nat = [[9, 9, 9]]\nradius = 0.001\n[wall.one]\nmaterial = \"glass\"\n{keys}\n")
    };
    let mesh = |keys: &str| wall(&format!("mesh = \"block.obj\"\n{keys}"));
    let plane = |keys: &str| wall(&format!("plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n{keys}"));
    let cases: [(String, &[&str]); 9] = [
        (
            mesh("unit = \"kg\""),
            &["scene.toml:18:8", "is mass [kg], but length [m] belongs here"],
        ),
        (mesh("unit = 0.001"), &["scene.toml:18:8", "write a unit of length such as \"mm\""]),
        (
            mesh("unit = \"mm\"\nscale = \"cm\""),
            &["scene.toml:19:9", "`unit` and `scale` both give the unit", "scale = 2"],
        ),
        (
            mesh("rotate = { axis = [0, 0, 0], angle = 1 }"),
            &["points nowhere", "at least one component other than 0"],
        ),
        (mesh("rotate = { axis = [0, 0, 1] }"), &["`angle` is missing"]),
        (mesh("move = \"1 m\""), &["scene.toml:18:8", "a list of 3 values belongs here"]),
        (plane("move = [0, 0, 1]"), &["scene.toml:18:8", "`move` is for a mesh", "remove it"]),
        (plane("unit = \"mm\""), &["scene.toml:18:8", "`unit` is for a mesh", "remove it"]),
        (
            "[grains.one]\nmaterial = \"glass\"\nfill = { region = { box = { min = [0, 0, 0], max = [1, 1, 1] } }, count = 1 }\n".into(),
            &["`radius` is missing, and spheres have no size of their own", "add radius"],
        ),
    ];
    for (sections, phrases) in cases {
        let found = with_block(&sections).expect_err(&sections);
        let message = found.plain();
        for phrase in phrases {
            assert!(message.contains(phrase), "{sections}: no `{phrase}` in\n{message}");
        }
        assert!(
            found.list().iter().all(|d| !d.remedy.is_empty()),
            "{sections}: no remedy in\n{message}"
        );
    }
}

#[test]
fn a_motion_may_take_place_in_a_frame_that_moves() {
    let blade = "motion = { rotate = \"60 rpm\", axis = [0, 0, 1], through = [\"10 cm\", 0, 0], frame = { rotate = \"-30 rpm\", axis = [0, 0, 2], through = [0, 0, 0], translate = [0, 0, \"1 mm/s\"] } }";
    let grain = "[grains.one]\nmaterial = \"glass\"\nat = [[9, 9, 9]]\nradius = 0.001\n";
    let text = format!(
        "{grain}[grains.teeth]\nmaterial = \"glass\"\nat = [[5, 5, 5]]\nradius = 0.001\n{blade}\n[wall.blade]\nmaterial = \"glass\"\nmesh = \"block.obj\"\nunit = \"mm\"\n{blade}\n\
         [[stage]]\nname = \"a\"\nuntil = \"time > 0.1 s\"\n[[stage]]\nname = \"b\"\nset.wall.blade.{blade}\n"
    );
    let scene = with_block(&text).expect("sound");
    let pi = std::f64::consts::PI;
    let later = &scene.world.later.motions[0].1;
    let of_body = scene.world.grains.bodies[0].motion.as_ref().expect("a boundary");
    for motion in [&scene.world.walls[0].motion, later, of_body] {
        let frame = motion.frame.expect("a frame");
        assert!((motion.angular_velocity[2] - 2.0 * pi).abs() < 1e-12 && motion.through == [0.1, 0.0, 0.0]);
        assert!((frame.angular_velocity[2] + pi).abs() < 1e-12, "{frame:?}");
        assert_eq!((frame.velocity, frame.through), ([0.0, 0.0, 1e-3], [0.0; 3]));
    }

    let refused = |motion: &str| {
        let text = format!("{grain}[wall.lid]\nmaterial = \"glass\"\nplane = {{ point = [0, 0, 10], normal = [0, 0, -1] }}\n{motion}\n");
        with_block(&text).expect_err(motion).plain()
    };
    let message = refused("motion = { frame = { rotate = 1 } }");
    assert!(
        message.contains("a rotation needs `axis` and `through`") && message.contains("write motion.frame = {"),
        "{message}"
    );
    let message = refused("motion = { servo = { force = 1, along = [0, 0, -1], velocity_limit = 1 }, frame = { translate = [1, 0, 0] } }");
    assert!(
        message.contains("a servo moves a wall along a direction that is fixed"),
        "{message}"
    );
    let message = refused("motion = { frame = { rotate = 1, axis = [0, 0, 0], through = [0, 0, 0] } }");
    assert!(message.contains("points nowhere"), "{message}");
}
