//! Concave meshes that are cut into the convex parts of polyhedral grains.

use crate::loaded::GLASS;
use seixo_engine::Simulation;
use seixo_scene::{Diagnostics, Scene, load_text};
use std::path::Path;

/// A channel of 3 x 2 whose notch, 1 wide and 1 deep, is open along y. It is 1 high along z.
fn channel() -> String {
    let corners = [[0, 0], [3, 0], [3, 2], [2, 2], [2, 1], [1, 1], [1, 2], [0, 2]];
    let mut text = String::new();
    for height in [0, 1] {
        for [x, y] in corners {
            text += &format!("v {x} {y} {height}\n");
        }
    }
    text += "f 8 7 6 5 4 3 2 1\nf 9 10 11 12 13 14 15 16\n";
    for side in 1..=8 {
        let next = side % 8 + 1;
        text += &format!("f {side} {next} {} {}\n", next + 8, side + 8);
    }
    text
}

/// A scene with a channel, whose notch is open upward, of a shape with these keys, in a folder; with more sections.
fn channel_in(folder: &Path, materials: &str, keys: &str, more: &str) -> Result<Scene, Diagnostics> {
    std::fs::write(folder.join("channel.obj"), channel()).unwrap();
    let upright = "unit = \"cm\"\nrotate = { axis = [1, 0, 0], angle = \"90 deg\" }";
    let text = format!(
        "{materials}[shape.channel]\nkind = \"polyhedron\"\nmesh = \"channel.obj\"\n{upright}\n{keys}\n\
         [grains.channel]\nmaterial = \"glass\"\nshape = \"channel\"\nat = [[0, 0, 0]]\n{more}\n"
    );
    load_text(&text, &folder.join("scene.toml"), &[])
}

#[test]
fn a_cut_mesh_has_the_mass_and_inertia_of_the_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let keys = "convex_parts = 4\nrounding = 0.05";
    let scene = channel_in(folder.path(), GLASS, keys, "").unwrap_or_else(|found| panic!("{found}"));
    let shape = &scene.world.shapes[0];
    assert_eq!((shape.flaw(), shape.parts.len(), shape.faces.len()), (None, 3, 18));
    let notices = scene.notices.join("\n");
    let cut = "shape.channel: convex parts of the mesh: 3; they reach outside of it by 0.00 % of its volume";
    assert!(notices.contains(cut), "{notices}");
    // 3 x 1 x 2 less 1 x 1 x 1, whose center is 0.6 above that of the rest, in cm.
    let (mass, radius) = (scene.world.grains.masses[&0], scene.world.grains.radius[0]);
    assert!((mass / (2500.0 * 5e-6) - 1.0).abs() < 1e-12, "{mass}");
    let about = |squares: f64, arm: f64, volume: f64| volume * (squares / 12.0 + arm * arm);
    let expected = [
        about(9.0 + 4.0, 0.1, 6.0) - about(2.0, 0.6, 1.0),
        about(9.0 + 1.0, 0.0, 6.0) - about(2.0, 0.0, 1.0),
        about(4.0 + 1.0, 0.1, 6.0) - about(2.0, 0.6, 1.0),
    ];
    for (moment, expected) in shape.moments.iter().zip(expected) {
        let found = moment * mass * radius * radius;
        assert!((found / (2500.0 * 1e-10 * expected) - 1.0).abs() < 1e-11, "{found} {expected}");
    }
    // Its faces can be fewer, and the mass stays.
    let simple = channel_in(folder.path(), GLASS, &format!("{keys}\nfaces = 5"), "").expect("a sound scene");
    assert!(simple.world.shapes[0].faces.len() <= 15);
    assert!((simple.world.grains.masses[&0] / mass - 1.0).abs() < 1e-12);
    assert!(simple.notices.join("\n").contains("of 18 faces are left"));
}

#[test]
fn a_sphere_that_falls_into_a_notch_rests_on_its_bottom() {
    let folder = tempfile::tempdir().unwrap();
    let soft = "[run]\nuntil = 1\nthreads = 1\ndevice = \"cpu\"\n[world]\ngravity = [0, 0, -9.81]\n\
                [material.glass]\ndensity = 2500\nyoungs_modulus = 1e7\npoisson_ratio = 0.2\n\
                [interaction.glass-glass]\nrestitution = 0.1\nfriction = 0.3\n";
    let keys = "convex_parts = 4\nrounding = 0.05";
    // The center of mass is 1 mm below the bottom of the notch, and 11 mm below its rim, above which the sphere starts.
    let sphere = "fixed = true\n[grains.sphere]\nmaterial = \"glass\"\nat = [[0, 0, 0.0125]]\nradius = 0.001";
    let scene = channel_in(folder.path(), soft, keys, sphere).unwrap_or_else(|found| panic!("{found}"));
    let mut simulation = Simulation::new(scene.world, scene.settings).expect("a sound world");
    while simulation.time() < 0.1 {
        simulation.advance(200).expect("sound steps");
    }
    let seen = simulation.snapshot();
    let [x, _, z] = seen
        .position
        .iter()
        .copied()
        .max_by(|a, b| a[2].total_cmp(&b[2]))
        .expect("two grains");
    assert!((z - 0.002).abs() < 2e-5 && x.abs() < 1e-4, "{x} {z}");
}

#[test]
fn a_cut_without_a_mesh_or_into_too_many_parts_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |keys: &str| channel_in(folder.path(), GLASS, keys, "").expect_err(keys).plain();
    let whole = refused("rounding = 0.05");
    assert!(
        whole.contains("the mesh is concave") && whole.contains("convex_parts = 8"),
        "{whole}"
    );
    let many = refused("rounding = 0.05\nconvex_parts = 65");
    assert!(many.contains("from 2 to 64"), "{many}");
    let text = |keys: &str| {
        let text = format!(
            "{GLASS}[shape.stone]\n{keys}\nconvex_parts = 4\n[grains.stones]\nmaterial = \"glass\"\nshape = \"stone\"\nat = [[0, 0, 0]]\n"
        );
        load_text(&text, Path::new("scene.toml"), &[]).expect_err(keys).plain()
    };
    let boxed = text("kind = \"polyhedron\"\nbox = [1, 1, 1]\nrounding = 0.1");
    assert!(
        boxed.contains("`convex_parts` cuts a `mesh`, and the shape comes from `box`"),
        "{boxed}"
    );
    let clump = text("spheres = [{ at = [0, 0, 0], radius = 1 }]");
    assert!(clump.contains("`convex_parts` is for polyhedra"), "{clump}");
}
