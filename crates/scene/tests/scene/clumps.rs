//! Clumps in scenes: shapes at the positions of a fill, a list or a file, and refused keys.

use crate::loaded::{GLASS, scene};
use seixo_engine::world::Vec3;
use seixo_files::grains_out;
use seixo_scene::{Diagnostics, Scene, load_text};
use std::f64::consts::PI;
use std::path::Path;

const ROD: &str =
    "\n[shape.rod]\nspheres = [{ at = [10, 0, 0], radius = 1 }, { at = [12, 0, 0], radius = 1 }, { at = [14, 0, 0], radius = 1 }]\n";

fn clumps(section: &str) -> Scene {
    scene(&format!(
        "{GLASS}{ROD}[grains.rods]\nmaterial = \"glass\"\nshape = \"rod\"\n{section}"
    ))
}

fn apart(a: Vec3, b: Vec3) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn a_clump_is_of_the_size_that_its_place_has() {
    let world =
        clumps("at = [[1, 2, 3]]\nradius = \"6 mm\"\norientation = { axis = [0, 0, 2], angle = \"90 deg\" }\nangular_velocity = [0, 0, 5]")
            .world;
    let (grains, body) = (&world.grains, &world.grains.bodies[0]);
    // Defined along x, rotated to y; the smallest sphere that contains it is three radii wide.
    assert_eq!(grains.len(), 3);
    for (k, y) in [-4e-3, 0.0, 4e-3].into_iter().enumerate() {
        assert!(apart(grains.position[k], [1.0, 2.0 + y, 3.0]) < 1e-14, "{:?}", grains.position[k]);
        assert!(apart(grains.velocity[k], [-5.0 * y, 0.0, 0.0]) < 1e-14);
        assert!((grains.radius[k] - 2e-3).abs() < 1e-17);
    }
    let sphere = 4.0 / 3.0 * PI * 8e-9 * 2500.0;
    assert!((body.mass / (3.0 * sphere) - 1.0).abs() < 1e-13);
    let mut moments = body.moments;
    moments.sort_by(f64::total_cmp);
    for (found, expected) in moments.into_iter().zip([1.2, 9.2, 9.2]) {
        assert!((found / (expected * sphere * 4e-6) - 1.0).abs() < 1e-12, "{found}");
    }
}

#[test]
fn spheres_far_from_all_are_left_out_of_lists_unless_a_scene_says_otherwise() {
    let usual = clumps("at = [[1, 2, 3]]\nradius = \"6 mm\"");
    assert_eq!(usual.settings.broad_phase, None);
    for asked in [true, false] {
        let text = usual.resolved.replacen("[run]\n", &format!("[run]\nbroad_phase = {asked}\n"), 1);
        assert_eq!(scene(&text).settings.broad_phase, Some(asked), "{text}");
    }
}

#[test]
fn a_fill_places_clumps_that_do_not_touch_and_turns_them_all_ways() {
    let fill = |method: &str| {
        clumps(&format!(
            "fill = {{ region = {{ box = {{ min = [0, 0, 0], max = [0.2, 0.2, 0.2] }} }}, method = \"{method}\", count = 200, radius = {{ uniform = [0.006, 0.009] }} }}"
        ))
    };
    for method in ["lattice", "random", "growth"] {
        let world = fill(method).world;
        let grains = &world.grains;
        assert_eq!((grains.len(), grains.bodies.len()), (600, 200));
        for a in 0..600 {
            for b in (0..a).filter(|b| a / 3 != b / 3) {
                let gap = apart(grains.position[a], grains.position[b]) - grains.radius[a] - grains.radius[b];
                assert!(gap > -1e-9, "{method}: {gap}");
            }
        }
        // For uniformly distributed directions, the mean square of each component is a third; for 200 of them, to 0.021.
        let along = |k: usize| {
            let ends = (0..200).map(|c| [0, 2].map(|s| grains.position[3 * c + s]));
            ends.map(|[a, b]| ((a[k] - b[k]) / apart(a, b)).powi(2)).sum::<f64>() / 200.0
        };
        for k in 0..3 {
            assert!((along(k) - 1.0 / 3.0).abs() < 0.075, "{method}: {}", along(k));
        }
        assert_eq!(fill(method).world.grains, *grains, "{method}: the same seed, other clumps");
        assert!(seixo_engine::deepest_overlap(&world).is_none_or(|(_, _, depth)| depth < 1e-9));
    }
}

#[test]
fn a_file_says_where_clumps_are_and_how_they_are_turned() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(
        folder.path().join("rods.csv"),
        "x,y,z,radius,qw,qx,qy,qz\n0,0,0,3,2,0,0,2\n9,0,0,6,1,0,0,0\n",
    )
    .expect("written");
    let text = format!("{GLASS}{ROD}[grains.rods]\nmaterial = \"glass\"\nshape = \"rod\"\nfile = \"rods.csv\"");
    let world = load_text(&text, &folder.path().join("scene.toml"), &[]).expect("sound").world;
    assert!(
        apart(world.grains.position[2], [0.0, 2.0, 0.0]) < 1e-12,
        "{:?}",
        world.grains.position
    );
    assert!(apart(world.grains.position[5], [13.0, 0.0, 0.0]) < 1e-12);
}

#[test]
fn given_mass_and_inertia_go_before_those_of_the_spheres() {
    let text = format!(
        "{GLASS}[shape.shell]\nspheres = [{{ at = [0, 0, 0], radius = 2 }}]\nsolid = {{ volume = 1.5, center = [0, 0, 0], inertia = [3, 2, 4, 0, 0, 0.5] }}
[grains.shells]\nmaterial = \"glass\"\nshape = \"shell\"\nat = [[0, 0, 0]]\nradius = 4"
    );
    let body = &scene(&text).world.grains.bodies[0];
    assert!((body.mass - 1.5 * 8.0 * 2500.0).abs() < 1e-9);
    // Eigenvalues of the block (2, 0.5; 0.5, 4): 3 ± √1.25.
    let expected = [3.0 + 1.25f64.sqrt(), 3.0, 3.0 - 1.25f64.sqrt()];
    for (found, moment) in body.moments.into_iter().zip(expected) {
        assert!((found / (moment * 32.0 * 2500.0) - 1.0).abs() < 1e-12, "{:?}", body.moments);
    }
}

/// A block of 2 × 4 × 6 around (10, 0, 0); the last line of the mesh is its right face.
const BLOCK: &str = "v 9 -2 -3\nv 11 -2 -3\nv 11 2 -3\nv 9 2 -3\nv 9 -2 3\nv 11 -2 3\nv 11 2 3\nv 9 2 3
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 4 1 5 8\nf 2 3 7 6\n";
/// Radius of the sphere that contains the spheres of radius 1/2 of that block: the distance of the outermost, at (1/2, 3/2, 5/2), and its radius.
const REACH: f64 = 3.458_039_891_549_808;

/// A scene with a clump of a shape that is defined by files of a folder.
fn shaped(folder: &Path, shape: &str) -> Result<Scene, Diagnostics> {
    let text =
        format!("{GLASS}[shape.one]\n{shape}\n[grains.ones]\nmaterial = \"glass\"\nshape = \"one\"\nat = [[0, 0, 0]]\nradius = {REACH}\n");
    load_text(&text, &folder.join("scene.toml"), &[])
}

#[test]
fn a_mesh_becomes_a_clump_of_equal_spheres_that_weighs_what_the_mesh_encloses() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::write(path.join("block.obj"), BLOCK).expect("written");
    let solid = shaped(path, "mesh = \"block.obj\"\nspheres = { radius = 0.5, fill = \"solid\" }").expect("sound");
    let (grains, body) = (&solid.world.grains, &solid.world.grains.bodies[0]);
    assert_eq!(grains.len(), 48);
    for corner in [[0.5, 1.5, 2.5], [-0.5, -1.5, -2.5], [0.5, -0.5, 0.5]] {
        assert!(
            grains.position.iter().any(|&place| apart(place, corner) < 1e-12),
            "none at {corner:?}"
        );
    }
    assert!(grains.radius.iter().all(|radius| (radius - 0.5).abs() < 1e-12));
    let mass = 48.0 * 2500.0;
    assert!((body.mass / mass - 1.0).abs() < 1e-12, "{}", body.mass);
    for (found, squares) in body.moments.into_iter().zip([52.0, 40.0, 20.0]) {
        assert!((found / (mass * squares / 12.0) - 1.0).abs() < 1e-12, "{:?}", body.moments);
    }
    assert!(
        solid.notices.iter().all(|notice| !notice.contains("shape.one")),
        "{:?}",
        solid.notices
    );
    // The written scene names the mesh by an absolute path.
    let again = load_text(&solid.resolved, Path::new("/elsewhere.toml"), &[]).expect("sound");
    assert_eq!(again.world.grains, solid.world.grains);

    // Only the surface: of 4 × 4 × 6 cubes, 2 × 2 × 4 are inside.
    std::fs::write(path.join("wide.obj"), BLOCK.replace("v 9", "v 7")).expect("written");
    let surface = shaped(path, "mesh = \"wide.obj\"\nspheres = { radius = 0.5 }").expect("sound");
    assert_eq!(surface.world.grains.len(), 96 - 16);

    // Without a face it has the mass of its spheres, and there is a note.
    let (open, _) = BLOCK.trim_end().rsplit_once('\n').expect("lines");
    std::fs::write(path.join("block.obj"), open).expect("written");
    let open = shaped(path, "mesh = \"block.obj\"\nspheres = { radius = 0.5, fill = \"solid\" }").expect("sound");
    let sphere = PI / 6.0 * 2500.0;
    assert!((open.world.grains.bodies[0].mass / (48.0 * sphere) - 1.0).abs() < 1e-12);
    let notices = open.notices.join("\n");
    assert!(
        notices.contains("shape.one: the mesh is not closed") && notices.contains("those of the spheres"),
        "{notices}"
    );
}

#[test]
fn a_clump_of_a_mesh_with_faces_turned_over_weighs_what_the_sound_mesh_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let shape = "mesh = \"block.obj\"\nspheres = { radius = 0.5 }";
    std::fs::write(path.join("block.obj"), BLOCK).expect("written");
    let sound = shaped(path, shape).expect("sound");
    let turned = BLOCK.replace("f 5 6 7 8", "f 8 7 6 5").replace("f 2 3 7 6", "f 6 7 3 2");
    std::fs::write(path.join("block.obj"), turned).expect("written");
    let turned = shaped(path, shape).expect("sound");
    let (places, expected) = (&turned.world.grains.position, &sound.world.grains.position);
    assert_eq!(places.len(), expected.len());
    assert!(
        places
            .iter()
            .zip(expected)
            .all(|(place, expected)| apart(*place, *expected) < 1e-12)
    );
    let (found, expected) = (&turned.world.grains.bodies[0], &sound.world.grains.bodies[0]);
    assert!((found.mass / (48.0 * 2500.0) - 1.0).abs() < 1e-12, "{}", found.mass);
    for (found, expected) in found.moments.iter().zip(expected.moments) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }
    let notices = turned.notices.join("\n");
    assert!(
        notices.contains("shape.one: 4 of 12 triangles of the closed mesh face the wrong side"),
        "{notices}"
    );
    assert!(!notices.contains("those of the spheres"), "{notices}");
}

#[test]
fn a_clump_keeps_the_mesh_that_it_was_made_from_where_its_body_is() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("block.obj"), BLOCK).expect("written");
    let made = shaped(folder.path(), "mesh = \"block.obj\"\nspheres = { radius = 0.5 }").expect("sound");
    let (grains, outlines) = (&made.world.grains, &made.outlines);
    let [outlined] = outlines.bodies() else { panic!("one body") };
    let body = &grains.bodies[0];
    assert_eq!((outlined.body, &outlined.carries), (body.id, &grains.id));
    assert_eq!((outlined.mesh, outlines.meshes().len(), outlines.triangles()), (0, 1, 12));
    // The block is 2 × 4 × 6, and its center is at the position of the clump.
    for corner in outlines.meshes()[0].as_flattened() {
        let at = body.place(corner.map(|x| x * outlined.radius));
        assert!(apart(at.map(f64::abs), [1.0, 2.0, 3.0]) < 1e-12, "{at:?}");
    }
    let listed = shaped(folder.path(), "spheres = [{ at = [0, 0, 0], radius = 1 }]").expect("sound");
    assert!(listed.outlines.is_empty());
}

#[test]
fn a_shape_reads_a_table_of_spheres() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let centers = [[9.5, 0.0, 0.0], [10.5, 0.0, 0.0], [11.5, 0.0, 0.0]];
    std::fs::write(path.join("rod.csv"), grains_out::spheres(&centers, 0.5)).expect("written");
    let found = shaped(path, "file = \"rod.csv\"").expect("sound");
    let listed = "spheres = [{ at = [9.5, 0, 0], radius = 0.5 }, { at = [10.5, 0, 0], radius = 0.5 }, { at = [11.5, 0, 0], radius = 0.5 }]";
    assert_eq!(found.world.grains, shaped(path, listed).expect("sound").world.grains);
    std::fs::write(path.join("rod.csv"), "x,y,z\n1,2,3\n").expect("written");
    let message = shaped(path, "file = \"rod.csv\"").expect_err("no radius").plain();
    assert!(
        message.contains("no column `radius`") && message.contains("scene.toml:12:8"),
        "{message}"
    );
}

#[test]
fn shapes_that_no_mesh_gives_are_refused_with_place_and_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::write(path.join("block.obj"), BLOCK).expect("written");
    let sheet: String = BLOCK.lines().take(9).map(|line| format!("{line}\n")).collect();
    std::fs::write(path.join("sheet.obj"), sheet).expect("written");
    let cases: [(&str, &[&str]); 8] = [
        ("mesh = \"block.obj\"", &["a shape comes from", "spheres = { radius = 0.1 }"]),
        (
            "mesh = \"block.obj\"\nspheres = { radius = 1, size = 2 }",
            &["scene.toml:13:", "unknown key", "radius, fill"],
        ),
        (
            "mesh = \"block.obj\"\nspheres = { radius = 1, fill = \"sold\" }",
            &["unknown fill `sold`", "did you mean `solid`?"],
        ),
        ("mesh = \"block.obj\"\nspheres = { fill = \"solid\" }", &["`radius` is missing"]),
        (
            "mesh = \"block.obj\"\nspheres = { radius = 4 }",
            &["block.obj", "a radius of 4", "longest side is 6", "at most 3"],
        ),
        (
            "mesh = \"block.obj\"\nspheres = { radius = 0.05, fill = \"solid\" }",
            &["a shape of 48000 spheres", "1 to 10000", "a radius of about 8.43e-2"],
        ),
        (
            "mesh = \"sheet.obj\"\nspheres = { radius = 0.5, fill = \"solid\" }",
            &["sheet.obj", "encloses no volume", "fill the surface only"],
        ),
        (
            "mesh = \"nowhere.obj\"\nspheres = { radius = 1 }",
            &["nowhere.obj", "check the path"],
        ),
    ];
    for (shape, phrases) in cases {
        let found = shaped(path, shape).expect_err(shape);
        let message = found.plain();
        for phrase in phrases {
            assert!(message.contains(phrase), "{shape}: no `{phrase}` in\n{message}");
        }
        assert!(
            found.list().iter().all(|d| !d.remedy.is_empty()),
            "{shape}: no remedy in\n{message}"
        );
    }
}

#[test]
fn shapes_in_several_parts_are_reported() {
    let text = format!(
        "{GLASS}[shape.pair]\nspheres = [{{ at = [0, 0, 0], radius = 1 }}, {{ at = [3, 0, 0], radius = 1 }}]
[grains.pairs]\nmaterial = \"glass\"\nshape = \"pair\"\nat = [[0, 0, 0]]\nradius = 1"
    );
    let notices = scene(&text).notices.join("\n");
    assert!(notices.contains("shape.pair: its spheres hang together in 2 parts"), "{notices}");
}

#[test]
fn impossible_clumps_are_refused_with_place_and_remedy() {
    let at = "at = [[0, 0, 0]]\nradius = 1\n";
    let cases: &[(&str, String, &str, &[&str])] = &[
        ("no such shape", ROD.into(), "shape = \"rot\"\nat = [[0, 0, 0]]\nradius = 1", &["there is no shape `rot`", "did you mean `rod`?"]),
        ("no spheres", "[shape.rod]\nspheres = []\n".into(), "shape = \"rod\"\nat = [[0, 0, 0]]\nradius = 1", &["a shape of 0 spheres"]),
        (
            "no mass",
            "[shape.rod]\nspheres = [{ at = [0, 0, 0], radius = 1 }]\nsolid = { volume = 0, center = [0, 0, 0], inertia = [1, 1, 1, 0, 0, 0] }\n".into(),
            "shape = \"rod\"\nat = [[0, 0, 0]]\nradius = 1",
            &["0 is out of range"],
        ),
        (
            "no such inertia",
            "[shape.rod]\nspheres = [{ at = [0, 0, 0], radius = 1 }]\nsolid = { volume = 1, center = [0, 0, 0], inertia = [1, 1, 3, 0, 0, 0] }\n".into(),
            "shape = \"rod\"\nat = [[0, 0, 0]]\nradius = 1",
            &["no solid has the principal moments", "sum of the two others"],
        ),
        ("no clump", ROD.into(), "orientation = { axis = [0, 0, 1], angle = 1 }\nat = [[0, 0, 0]]\nradius = 1", &["`orientation` is for clumps"]),
        ("no axis", ROD.into(), "shape = \"rod\"\norientation = { axis = [0, 0, 0], angle = 1 }\nat = [[0, 0, 0]]\nradius = 1", &["points nowhere"]),
        (
            "inlet",
            ROD.into(),
            "shape = \"rod\"\ninlet = { through = { disc = { center = [0, 0, 1], normal = [0, 0, -1], radius = 0.1 } }, rate = \"1 kg/s\", radius = 0.001 }",
            &["clumps do not come through inlets"],
        ),
        (
            "mass of a clump",
            ROD.into(),
            "shape = \"rod\"\nat = [[0, 0, 0]]\nradius = 1\nmass = \"1 g\"",
            &["a mass is for single spheres", "another density"],
        ),
        (
            "mass of an inlet",
            ROD.into(),
            "mass = \"1 g\"\ninlet = { through = { disc = { center = [0, 0, 1], normal = [0, 0, -1], radius = 0.1 } }, rate = \"1 kg/s\", radius = 0.001 }",
            &["grains of an inlet have the density of their material", "another density"],
        ),
    ];
    for (what, shape, section, phrases) in cases {
        let text = format!("{GLASS}{shape}[grains.rods]\nmaterial = \"glass\"\n{section}\n");
        let found = load_text(&text, Path::new("scene.toml"), &[]).expect_err(what);
        let message = found.plain();
        for phrase in *phrases {
            assert!(message.contains(phrase), "{what}: no `{phrase}` in\n{message}");
        }
        assert!(found.list().iter().all(|d| !d.remedy.is_empty()), "{what}: no remedy in\n{message}");
    }
    let staged = format!(
        "{GLASS}{ROD}[grains.rods]\nmaterial = \"glass\"\nshape = \"rod\"\n{at}[[stage]]\nname = \"a\"\nuntil = \"time > 0.1 s\"\n[[stage]]\nname = \"b\"\nadd = [\"grains.rods\"]\n"
    );
    let message = load_text(&staged, Path::new("scene.toml"), &[]).expect_err("staged").plain();
    assert!(message.contains("clumps cannot be added by a stage"), "{message}");
    let fields = format!("{GLASS}[grains.one]\nmaterial = \"glass\"\n{at}[output]\nfields = [\"body\"]\n");
    let message = load_text(&fields, Path::new("scene.toml"), &[]).expect_err("fields").plain();
    assert!(message.contains("\"body\" is for scenes with clumps"), "{message}");
}
