//! Meshes as spheres: the Utah teapot beside what \[Silva 2010, figure 3.4\] found, and what closed meshes enclose.

use seixo_engine::voxels::Filling;
use seixo_engine::world::DeviceChoice;
use seixo_scene::{SphereWish, SpheresOfMesh, spheres_of_mesh};
use std::path::PathBuf;

/// By what the teapot of height 2 is enlarged, so that it is as large as the source's. The source does not say how large that is: this fits its
/// counts at radii 0.3, 0.5 and 1.
const SCALE: f64 = 9.65;

fn teapot(radius: f64, filling: Filling) -> Option<SpheresOfMesh> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/teapot.stl");
    let wish = SphereWish {
        radius,
        filling,
        device: DeviceChoice::Cpu,
        threads: 0,
    };
    file.exists().then(|| spheres_of_mesh(&file, SCALE, &wish).unwrap())
}

#[test]
fn the_teapot_has_as_many_spheres_as_in_the_source() {
    // The source draws slices into an image, along one axis: with smaller spheres its pixels are fewer for each, and it loses what is seen
    // edge on. Where the grid begins is its own, too, which moves the count of the few large spheres by some hundredths.
    for (radius, source) in [(0.3, 7337.0), (0.5, 2674.0), (1.0, 668.0)] {
        let Some(found) = teapot(radius, Filling::Surface) else { return };
        let count = found.centers.len() as f64;
        println!("{radius}: {count}, {source} in the source");
        assert!((count / source - 1.0).abs() < 0.06, "{radius}: {count}");
    }
    // At 0.9 the source has 600, fewer than at 1.0: no cover of a surface by smaller cubes is smaller by so much, since their number goes with
    // the inverse square of their width, within what the grid adds at ends and edges.
    let [finer, coarser] = [0.9, 1.0].map(|radius| teapot(radius, Filling::Surface).map_or(0.0, |found| found.centers.len() as f64));
    let ratio = finer / coarser;
    assert!((ratio * 0.81 - 1.0).abs() < 0.06, "{finer} {coarser}");
}

#[test]
fn the_teapot_is_open_and_has_an_inside_all_the_same() {
    let Some(found) = teapot(0.3, Filling::Solid) else { return };
    assert_eq!((found.mesh.len(), found.edges.open, found.edges.turned), (6320, 504, 0));
    assert!(found.of_mesh.is_none());
    // By Gauss' theorem the mesh encloses 6.72, were it closed; it holds the parts twice in which spout, handle and lid reach into the body.
    let inside = f64::from(found.voxels.inside) * found.lattice.edge.powi(3) / SCALE.powi(3);
    assert!((inside / 6.72 - 1.0).abs() < 0.05, "{inside}");
    let share = f64::from(found.voxels.disputed) / f64::from(found.voxels.inside);
    assert!(share > 0.0 && share < 0.1, "{share}");
    let told = found.notices.join("\n");
    for phrase in ["ends at 504 of its", "those of the spheres", "two axes of three"] {
        assert!(told.contains(phrase), "{told}");
    }
}

/// An upright box from one corner to another, of twelve triangles, as OBJ: corners by their numbers from the last one back, so that boxes can be
/// put together. Of its six faces those with these numbers face inward.
fn block(low: [f64; 3], high: [f64; 3], inward: &[usize]) -> String {
    let corners = (0..8).map(|k| [0, 1, 2].map(|axis| if k >> axis & 1 == 0 { low[axis] } else { high[axis] }));
    let mut text: String = corners.map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    for (number, mut face) in faces.into_iter().enumerate() {
        if inward.contains(&number) {
            face.reverse();
        }
        let [a, b, c, d] = face.map(|corner: i32| corner - 8);
        text += &format!("f {a} {b} {c} {d}\n");
    }
    text
}

/// What a mesh encloses, how many triangles were turned over for that, and what is told.
fn enclosed(text: &str) -> (f64, usize, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mesh.obj");
    std::fs::write(&file, text).unwrap();
    let wish = SphereWish {
        radius: 0.25,
        filling: Filling::Surface,
        device: DeviceChoice::Cpu,
        threads: 1,
    };
    let found = spheres_of_mesh(&file, 1.0, &wish).unwrap();
    assert!(found.of_mesh.is_some(), "{:?}", found.notices);
    (found.solid().volume, found.turned, found.notices.join("\n"))
}

#[test]
fn a_closed_mesh_encloses_the_same_whatever_triangles_face_the_wrong_side() {
    let all = [0, 1, 2, 3, 4, 5];
    let whole = |inward: &[usize]| block([0.0; 3], [4.0; 3], inward);
    let inner = |inward: &[usize]| block([1.0; 3], [3.0; 3], inward);
    let beside = |inward: &[usize]| block([6.0, 0.0, 0.0], [8.0; 3], inward);
    let core = block([1.5; 3], [2.5; 3], &[]);
    // A cube of 64, a hollow of 8 in it, a body of 1 in the hollow, and one of 128 beside.
    for (mesh, volume, turned) in [
        (whole(&[]), 64.0, 0),
        (whole(&[1]), 64.0, 2),
        (whole(&[0, 2, 3, 5]), 64.0, 8),
        // Inside out as a whole: its sign alone is turned.
        (whole(&all), 64.0, 0),
        (whole(&[]) + &inner(&all), 56.0, 0),
        (whole(&[4]) + &inner(&all), 56.0, 2),
        (whole(&[4]) + &inner(&[0, 1, 2, 4, 5]), 56.0, 4),
        // Half of the hollow says so.
        (whole(&[]) + &inner(&[0, 1, 2]), 56.0, 6),
        (inner(&[]) + &whole(&all), 56.0, 0),
        (whole(&[3]) + &inner(&all) + &core, 57.0, 2),
        (whole(&[]) + &beside(&all), 64.0 + 128.0, 12),
        (whole(&[2]) + &beside(&[3, 4]), 64.0 + 128.0, 6),
    ] {
        let (found, found_turned, notices) = enclosed(&mesh);
        assert!((found / volume - 1.0).abs() < 1e-12, "{found} {volume}: {notices}\n{mesh}");
        assert_eq!(found_turned, turned, "{notices}\n{mesh}");
        assert_eq!(notices.contains("face the wrong side"), turned > 0, "{notices}");
    }
}
