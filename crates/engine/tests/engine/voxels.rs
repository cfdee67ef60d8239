//! Voxelization of meshes: bodies with known volume, center and inertia, in all orientations, and the defects of real meshes.

use crate::meshes::{ball, block, cubes_on, moved, revolved, tilted, torus};
use seixo_engine::voxels::{Edges, Lattice, VoxelError, VoxelFilling, Voxels};
use seixo_engine::world::{DeviceChoice, Triangle, Vec3};
use std::f64::consts::PI;

fn cubes(mesh: &[Triangle], radius: f64, filling: VoxelFilling) -> (Lattice, Voxels) {
    cubes_on((DeviceChoice::Cpu, 2), mesh, radius, filling)
}

/// Volume, center, and second moments about it along the axes, of all selected cubes.
fn moments((lattice, found): &(Lattice, Voxels)) -> (f64, Vec3, Vec3) {
    let count = found.taken.len() as f64;
    let centers: Vec<Vec3> = found.taken.iter().map(|&cube| lattice.center(cube)).collect();
    let one = lattice.edge.powi(3);
    let mean = [0, 1, 2].map(|k| centers.iter().map(|center| center[k]).sum::<f64>() / count);
    let spread = |k: usize| centers.iter().map(|center| (center[k] - mean[k]).powi(2)).sum::<f64>();
    let second = [0, 1, 2].map(|k| one * (spread(k) + count * lattice.edge * lattice.edge / 12.0));
    (one * count, mean, second)
}

/// Volume of a layer around a surface, half as thick as the cubes that the surface crosses, for cubes of edge 1. A patch of area A with the normal n
/// contributes A (|n_x| + |n_y| + |n_z|).
fn half_layer(mesh: &[Triangle]) -> f64 {
    let projections = |[a, b, c]: &Triangle| {
        let edge = |to: &Vec3| [0, 1, 2].map(|k| to[k] - a[k]);
        let (u, v) = (edge(b), edge(c));
        let across = |i: usize, j: usize| (u[i] * v[j] - u[j] * v[i]).abs();
        0.5 * (across(0, 1) + across(1, 2) + across(2, 0))
    };
    0.5 * mesh.iter().map(projections).sum::<f64>()
}

#[test]
fn volume_center_and_inertia_converge_with_the_radius() {
    let cylinder = revolved(&[[0.0, -1.0], [0.5, -1.0], [0.5, 1.0], [0.0, 1.0]]);
    let cone = revolved(&[[0.0, 0.0], [0.5, 0.0], [0.0, 1.5]]);
    // Volume, height of the center, and second moments over the volume.
    let bodies = [
        ("ball", ball(), 4.0 / 3.0 * PI, 0.0, [0.2, 0.2, 0.2]),
        ("cylinder", cylinder, 0.5 * PI, 0.0, [0.0625, 0.0625, 1.0 / 3.0]),
        ("cone", cone, 0.125 * PI, 0.375, [0.0375, 0.0375, 0.084375]),
        ("torus", torus(), 0.32 * PI * PI, 0.0, [0.56, 0.56, 0.04]),
    ];
    for (name, mesh, volume, height, second) in bodies {
        let half_layer = half_layer(&mesh);
        let mut excess_before: Option<Vec3> = None;
        for radius in [0.035, 0.0175] {
            let found = cubes(&mesh, radius, VoxelFilling::Solid);
            let (all, center, moments) = moments(&found);
            // Half of each cube at the surface is outside: first order. Features smaller than the distance of the lines, a sixteenth of a cube, are
            // not found. The position of a face in the grid adds a random error.
            let share = (all - volume) / (2.0 * radius * half_layer);
            println!("{name} at {radius}: {share:.3} of the layer, center {center:?}");
            assert!((0.85..1.1).contains(&share), "{name} at {radius}: {share}");
            // Cubes whose centers are inside differ from the volume only by a random error.
            let inside = f64::from(found.1.inside) * found.0.edge.powi(3);
            assert!(
                (inside / volume - 1.0).abs() < 1.5 * radius,
                "{name} at {radius}: {inside} {volume}"
            );
            // Different ends of a body have different layers, each about a radius thick.
            assert!(
                center[0].abs() < 1e-12 && center[1].abs() < 1e-12 && (center[2] - height).abs() < 1.3 * radius,
                "{name} at {radius}: {center:?}"
            );
            let excess = [0, 1, 2].map(|k| moments[k] / (volume * second[k]) - 1.0);
            if let Some(before) = excess_before {
                for k in 0..3 {
                    // Two for first order, and a little more by the remaining second order.
                    let ratio = before[k] / excess[k];
                    assert!((1.7..2.7).contains(&ratio), "{name}: {before:?} {excess:?}");
                }
            }
            excess_before = Some(excess);
        }
    }
}

#[test]
fn a_block_of_whole_cubes_is_found_exactly() {
    for radius in [0.05, 0.025, 0.0125] {
        let edges = [1.0, 1.3, 0.7];
        let cubes = cubes(&block(edges), radius, VoxelFilling::Solid);
        let (volume, center, second) = moments(&cubes);
        assert_eq!(cubes.1.taken.len(), cubes.0.cubes());
        assert!((volume / 0.91 - 1.0).abs() < 1e-12, "{volume}");
        for k in 0..3 {
            assert!(center[k].abs() < 1e-12 && (second[k] / (0.91 * edges[k] * edges[k] / 12.0) - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn the_same_cubes_are_found_along_every_axis() {
    const ORDERS: [[usize; 3]; 5] = [[1, 2, 0], [2, 0, 1], [1, 0, 2], [0, 2, 1], [2, 1, 0]];
    let mut open = tilted(&revolved(&[[0.0, 0.0], [0.5, 0.0], [0.0, 1.5]]));
    open.truncate(150);
    assert!(!Edges::of(&open).is_closed());
    for (name, mesh) in [("torus", torus()), ("block", tilted(&block([1.0, 1.3, 0.7]))), ("open", open)] {
        for filling in [VoxelFilling::Surface, VoxelFilling::Solid] {
            let places = |mesh: &[Triangle]| {
                let (lattice, found) = cubes(mesh, 0.03, filling);
                let centers: Vec<Vec3> = found.taken.iter().map(|&cube| lattice.center(cube)).collect();
                (centers, [found.inside, found.disputed, found.doubled])
            };
            let (centers, counts) = places(&mesh);
            for order in ORDERS {
                let (mut found, found_counts) = places(&moved(&mesh, |place| order.map(|k| place[k])));
                let mut expected: Vec<Vec3> = centers.iter().map(|center| order.map(|k| center[k])).collect();
                for list in [&mut found, &mut expected] {
                    list.sort_by(|a, b| a.partial_cmp(b).unwrap());
                }
                assert!(found == expected, "{name} {order:?}: {} of {}", found.len(), expected.len());
                assert_eq!(found_counts, counts, "{name} {order:?}");
            }
        }
    }
}

#[test]
fn plates_are_kept_whichever_way_they_stand() {
    let sheet = vec![
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]],
        [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
    ];
    for (name, plate) in [("sheet", sheet), ("thin plate", block([1.0, 1.0, 1e-3]))] {
        for axis in 0..3 {
            let standing = moved(&plate, |place| [0, 1, 2].map(|k| place[(k + axis) % 3]));
            let (lattice, found) = cubes(&standing, 0.05, VoxelFilling::Surface);
            assert_eq!((lattice.cubes(), found.taken.len()), (100, 100), "{name} along {axis}");
        }
    }
}

#[test]
fn the_size_of_a_mesh_and_where_it_is_do_not_matter() {
    let mesh = tilted(&torus());
    let (_, expected) = cubes(&mesh, 0.0625, VoxelFilling::Solid);
    // Powers of two cause no rounding.
    for scale in [2.0_f64.powi(-400), 2.0_f64.powi(-40), 2.0_f64.powi(40), 2.0_f64.powi(400)] {
        let scaled = moved(&mesh, |place| place.map(|x| x * scale));
        assert!(cubes(&scaled, 0.0625 * scale, VoxelFilling::Solid).1 == expected, "{scale:e}");
    }
    // A block near 10⁶ loses only the digits that a double lacks there.
    let far = moved(&block([1.0, 1.3, 0.7]), |[x, y, z]| [x + 1e6, y - 2e6, z + 3e6]);
    let found = cubes(&far, 0.025, VoxelFilling::Solid);
    assert_eq!(found.1.taken.len(), 20 * 26 * 14);
    let (_, center, _) = moments(&found);
    // A sum of seven thousand such numbers, 2·10¹⁰, is rounded to 4·10⁻⁶ at each addition: some 10⁻⁸ in the mean.
    assert!((center[0] - 1e6).abs() < 1e-7 && (center[1] + 2e6).abs() < 1e-7 && (center[2] - 3e6).abs() < 1e-7);
}

#[test]
fn meshes_that_are_open_overlap_or_face_inward_have_an_inside_all_the_same() {
    let cube = block([1.0; 3]);
    let (_, closed) = cubes(&cube, 0.05, VoxelFilling::Solid);
    assert_eq!((closed.inside, closed.disputed, closed.doubled), (1000, 0, 0));

    let inside_out: Vec<Triangle> = cube.iter().map(|&[a, b, c]| [a, c, b]).collect();
    assert_eq!(cubes(&inside_out, 0.05, VoxelFilling::Solid).1, closed);

    let mut disagreeing = cube.clone();
    disagreeing[3].swap(0, 1);
    assert!(!Edges::of(&disagreeing).is_oriented());
    assert_eq!(cubes(&disagreeing, 0.05, VoxelFilling::Solid).1, closed);

    // Without its top: lines from the sides find it full, and lines along z find no end above its bottom.
    let open = &cube[..10];
    let (_, found) = cubes(open, 0.05, VoxelFilling::Solid);
    assert_eq!(found.taken, closed.taken);
    // Also without its bottom: lines along z find nothing, and those from the sides still do.
    let tube = &cube[..8];
    let (_, found) = cubes(tube, 0.05, VoxelFilling::Solid);
    assert_eq!((found.taken.len(), found.inside, found.disputed), (1000, 1000, 1000));

    let mut two = cube.clone();
    two.extend(moved(&cube, |place| place.map(|x| x + 0.5)));
    let (_, found) = cubes(&two, 0.05, VoxelFilling::Solid);
    assert_eq!((found.inside, found.doubled), (2 * 1000 - 125, 125));

    let mut hollow = cube.clone();
    hollow.extend(moved(&inside_out, |place| place.map(|x| 0.4 * x)));
    assert_eq!(cubes(&hollow, 0.05, VoxelFilling::Solid).1.inside, 1000 - 64);
}

#[test]
fn cubes_are_the_same_on_any_number_of_threads() {
    let mesh = tilted(&torus());
    let one = cubes_on((DeviceChoice::Cpu, 1), &mesh, 0.03, VoxelFilling::Solid);
    for threads in [2, 3, 8] {
        assert!(cubes_on((DeviceChoice::Cpu, threads), &mesh, 0.03, VoxelFilling::Solid) == one);
    }
}

#[test]
fn what_cannot_become_cubes_is_refused_with_value_limit_and_remedy() {
    let cube = block([1.0, 2.0, 4.0]);
    let mut endless = cube.clone();
    endless[7][1][2] = f64::NAN;
    let point = moved(&cube, |_| [3.0; 3]);
    let wide = moved(&cube, |place| place.map(|x| x * 8e307));
    let cases: [(&[Triangle], f64, &[&str]); 8] = [
        (&[], 0.1, &["no triangles", "export it again"]),
        (&endless, 0.1, &["triangle 8", "not at a finite place"]),
        (&point, 0.1, &["longest side of the box around the mesh is 0", "check the mesh"]),
        (&wide, 0.1, &["is inf"]),
        (&cube, 2.1, &["a radius of 2.1", "longest side is 4", "at most 2,"]),
        (&cube, 0.0, &["a radius of 0 ", "above 0"]),
        (&cube, f64::NAN, &["a radius of NaN"]),
        (&cube, 0.002, &["1.250e8 cubes", "more than 33554432", "a radius of at least"]),
    ];
    for (mesh, radius, phrases) in cases {
        let message = Lattice::new(mesh, radius).unwrap_err().to_string();
        for phrase in phrases {
            assert!(message.contains(phrase), "no `{phrase}` in {message}");
        }
        assert!(message.contains("; "), "no remedy in {message}");
    }
    // The suggested radius does fit, also near the smallest doubles.
    for (mesh, radius) in [
        (&cube, 0.002),
        (&cube, 1e-300),
        (&moved(&cube, |place| place.map(|x| x * 1e-300)), 1e-320),
    ] {
        let Err(VoxelError::TooMany { fitting, .. }) = Lattice::new(mesh, radius) else {
            panic!("{radius:e} is refused")
        };
        let reported: f64 = format!("{fitting:.1e}").parse().unwrap();
        assert!(Lattice::new(mesh, reported).is_ok(), "{reported:e}");
    }
}
