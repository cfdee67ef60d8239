//! Properties of contacts between polyhedral grains and walls from meshes: forces are the slopes of one energy, and two triangles of a plane are a plane.

use crate::shape_pairs::{CUBE, CUBE_SCALE, Table};
use seixo_laws::contact::{Coefficients, NormalLaw, PairOfMaterials, TangentialLaw, derive};
use seixo_laws::{Quaternion, Vector3};
use seixo_sweeps::layout::{ELEMENT, PLANE, RECORD, TRIANGLE, WALL};
use seixo_sweeps::shape_meshes::{MeshRow, NO_FEATURE, contacts_with_mesh};
use seixo_sweeps::shape_pairs::PosedShape;
use seixo_sweeps::shape_walls::{GrainByWall, ShapeWallLoad, contacts_with_wall};

/// Slots of the grains here.
const SLOTS: usize = 16;
const UPRIGHT: Quaternion<f64> = Quaternion {
    w: 1.0,
    x: 0.0,
    y: 0.0,
    z: 0.0,
};

fn at([x, y, z]: [f64; 3]) -> Vector3<f64> {
    Vector3 { x, y, z }
}

fn cube_at(center: Vector3<f64>, orientation: Quaternion<f64>) -> GrainByWall<f64, f64> {
    GrainByWall {
        posed: PosedShape {
            shape: CUBE,
            scale: CUBE_SCALE,
            orientation,
            spin: Vector3::zero(),
            mass: 3.0,
        },
        center,
        velocity: Vector3::zero(),
    }
}

fn laws() -> Coefficients<f64> {
    let pair = PairOfMaterials {
        stiffness: 1000.0,
        ..PairOfMaterials::default()
    };
    derive(NormalLaw::Linear, TangentialLaw::None, &pair).coefficients
}

/// A triangle in space: corners, and the numbers of corners and edges of the mesh.
type Given = ([[f64; 3]; 3], [u32; 3], [u32; 3]);

/// Records of these triangles as wall elements, their features, and the entries of a row with all of them.
fn records(mesh: &[Given]) -> (Vec<f64>, Vec<u32>, Vec<u32>) {
    let (mut elements, mut features) = (Vec::new(), Vec::new());
    for (number, (corners, points, edges)) in (0..).zip(mesh) {
        elements.extend(corners.as_flattened());
        elements.extend([f64::from(TRIANGLE), 0.0, f64::from(number)]);
        features.extend(points.iter().chain(edges).chain(&[number, 0]));
    }
    (elements, features, (0..mesh.len() as u32).collect())
}

fn on_mesh(grain: &GrainByWall<f64, f64>, mesh: &[Given]) -> ShapeWallLoad<f64, f64> {
    let Table { words, numbers } = Table::new();
    let (elements, features, list) = records(mesh);
    let row = MeshRow {
        first: 0,
        end: list.len(),
        wall: 0.0,
    };
    let (old_keys, old_springs) = ([0; SLOTS], [0.0; SLOTS * RECORD]);
    let (mut keys, mut springs) = ([0; SLOTS], [0.0; SLOTS * RECORD]);
    let found = contacts_with_mesh::<f64, f64>(
        grain,
        &words,
        &numbers,
        &row,
        &list,
        &elements,
        &features,
        &[0.0; WALL],
        0,
        SLOTS as u32,
        &old_keys,
        &old_springs,
        &mut keys,
        &mut springs,
        &laws(),
        1e-3,
        0.5,
    );
    let filled = keys.iter().take_while(|key| **key != 0).count();
    assert!(filled == found.contacts as usize && keys[..filled].is_sorted(), "{keys:?}");
    found
}

/// A roof of four triangles, with its ridge along y at x = z = 0.
fn roof() -> [Given; 4] {
    let (near, far) = ([0.0, -3.0, 0.0], [0.0, 3.0, 0.0]);
    let eaves = |x: f64, y: f64| [x, y, -2.0];
    let none = NO_FEATURE;
    [
        ([near, far, eaves(-3.0, 3.0)], [0, 1, none], [0, none, none]),
        ([near, eaves(-3.0, 3.0), eaves(-3.0, -3.0)], [0, none, none], [none; 3]),
        ([far, near, eaves(3.0, -3.0)], [1, 0, none], [0, none, none]),
        ([far, eaves(3.0, -3.0), eaves(3.0, 3.0)], [1, none, none], [none; 3]),
    ]
}

#[test]
fn edges_do_not_touch_the_bottom_of_a_valley() {
    // The roof turned over, and flat: its bottom is within reach of two edges of the cube, but the slopes are nearer to its vertices.
    let valley = roof().map(|(corners, points, edges)| (corners.map(|[x, y, z]| [x, y, -0.025 * z]), points, edges));
    let found = on_mesh(&cube_at(at([0.0, 0.1, 0.597]), UPRIGHT), &valley);
    assert_eq!(found.contacts, 4, "{found:?}");
    assert!(found.force.z > 0.0 && found.force.x.abs() < 1e-9 * found.force.z, "{found:?}");
    // The same from below is a ridge.
    let ridge = on_mesh(&cube_at(at([0.0, 0.1, -0.597]), UPRIGHT), &valley);
    assert_eq!(ridge.contacts, 2, "{ridge:?}");
}

/// A rotation about an axis of unit length.
fn about([x, y, z]: [f64; 3], angle: f64) -> Quaternion<f64> {
    let (sine, cosine) = (0.5 * angle).sin_cos();
    Quaternion {
        w: cosine,
        x: sine * x,
        y: sine * y,
        z: sine * z,
    }
}

#[test]
fn two_triangles_of_one_plane_are_a_plane() {
    let none = [NO_FEATURE; 3];
    let [a, b, c, d] = [[-3.0, -3.0, 0.0], [3.0, -3.0, 0.0], [3.0, 3.0, 0.0], [-3.0, 3.0, 0.0]];
    let mesh = [([a, b, c], none, none), ([a, c, d], none, none)];
    let Table { words, numbers } = Table::new();
    let mut plane = [0.0; ELEMENT];
    (plane[5], plane[9]) = (1.0, f64::from(PLANE));
    for (x, turn, height) in [
        (0.0, UPRIGHT, 0.599),
        (0.5, about([0.0, 0.0, 1.0], 0.3), 0.59),
        (0.2, about([0.6, 0.8, 0.0], 0.01), 0.6),
    ] {
        let grain = cube_at(at([x, 0.1, height]), turn);
        let found = on_mesh(&grain, &mesh);
        let (old_keys, old_springs, mut keys, mut springs) = ([0; SLOTS], [0.0; SLOTS * RECORD], [0; SLOTS], [0.0; SLOTS * RECORD]);
        let expected = contacts_with_wall::<f64, f64>(
            &grain,
            &words,
            &numbers,
            &plane,
            0,
            &[0.0; WALL],
            0,
            SLOTS as u32,
            &old_keys,
            &old_springs,
            &mut keys,
            &mut springs,
            &laws(),
            1e-3,
            0.5,
        );
        assert!(expected.contacts > 0 && found.contacts == expected.contacts, "{found:?}");
        let size = expected.force.length();
        assert!(found.force.minus(&expected.force).length() < 1e-9 * size, "{found:?} {expected:?}");
        assert!(
            found.torque.minus(&expected.torque).length() < 1e-9 * size,
            "{found:?} {expected:?}"
        );
        assert!((found.stored.normal / expected.stored.normal - 1.0).abs() < 1e-9);
        assert!((found.overlap - expected.overlap).abs() < 1e-12 && found.point.minus(&expected.point).length() < 1e-9);
    }
}

#[test]
fn forces_at_a_ridge_are_the_slopes_of_one_energy() {
    let roof = roof();
    let energy = |center: Vector3<f64>, turn: Quaternion<f64>| on_mesh(&cube_at(center, turn), &roof).stored.normal;
    let turns = [
        about([0.6, 0.0, 0.8], 0.3),
        about([0.0, 0.6, 0.8], 0.7),
        about([0.48, 0.6, 0.64], 1.1),
        about([0.0, 0.0, 1.0], 0.02),
    ];
    let step = 1e-6;
    for (k, turn) in turns.into_iter().enumerate() {
        let place = |z: f64| at([0.03 * k as f64, 0.1, z]);
        let first = (0..600).map(|n| 1.0 - 1e-3 * f64::from(n)).find(|&z| energy(place(z), turn) > 0.0);
        let center = place(first.expect("the cube touches the ridge") - 0.004);
        let found = on_mesh(&cube_at(center, turn), &roof);
        let size = found.force.length();
        assert!(size > 0.1, "{found:?}");
        for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
            let shift = at(axis).times(step);
            let slope = (energy(center.plus(&shift), turn) - energy(center.minus(&shift), turn)) / (2.0 * step);
            assert!((found.force.dot(&at(axis)) + slope).abs() < 1e-5 * size, "{k}: {found:?} {slope}");
            let turned = |angle: f64| energy(center, about(axis, angle).after(&turn));
            let slope = (turned(step) - turned(-step)) / (2.0 * step);
            assert!((found.torque.dot(&at(axis)) + slope).abs() < 1e-5 * size, "{k}: {found:?} {slope}");
        }
    }
}
