//! Meshes with outward normals, and the cubes that voxelize them.

use seixo_engine::voxels::{Edges, Lattice, VoxelFilling, Voxels, voxels};
use seixo_engine::world::{DeviceChoice, Triangle, Vec3};
use std::f64::consts::{PI, TAU};

/// A surface of revolution about z. Its profile of distances from the axis and heights starts and ends on the axis, or is closed.
pub fn revolved(profile: &[[f64; 2]]) -> Vec<Triangle> {
    const AROUND: usize = 96;
    let corner = |at: usize, [distance, height]: [f64; 2]| {
        let (sin, cos) = (TAU * (at % AROUND) as f64 / AROUND as f64).sin_cos();
        [distance * cos, distance * sin, height]
    };
    let mut mesh = Vec::new();
    for pair in profile.windows(2) {
        for at in 0..AROUND {
            let [a, b, c, d] = [(at, pair[0]), (at + 1, pair[0]), (at + 1, pair[1]), (at, pair[1])].map(|(at, point)| corner(at, point));
            // On the axis two corners coincide.
            mesh.extend([[a, b, c], [a, c, d]].into_iter().filter(|[a, b, c]| a != b && b != c && c != a));
        }
    }
    mesh
}

/// A ball of radius 1.
pub fn ball() -> Vec<Triangle> {
    let point = |k: u32| {
        let (sin, cos) = (PI * f64::from(k) / 48.0).sin_cos();
        [if k.is_multiple_of(48) { 0.0 } else { sin }, -cos]
    };
    revolved(&(0..=48).map(point).collect::<Vec<_>>())
}

/// A torus of radius 1 with a circle of radius 0.4.
pub fn torus() -> Vec<Triangle> {
    let point = |k: u32| {
        let (sin, cos) = (TAU * f64::from(k % 48) / 48.0).sin_cos();
        [1.0 + 0.4 * cos, 0.4 * sin]
    };
    revolved(&(0..=48).map(point).collect::<Vec<_>>())
}

/// A block around the origin.
pub fn block(edges: Vec3) -> Vec<Triangle> {
    let mut mesh = Vec::new();
    for axis in 0..3 {
        for sign in [-0.5, 0.5] {
            let corner = |(u, v): (f64, f64)| {
                let mut place = [0.0; 3];
                place[axis] = sign * edges[axis];
                place[(axis + 1) % 3] = sign * u * edges[(axis + 1) % 3];
                place[(axis + 2) % 3] = 0.5 * v * edges[(axis + 2) % 3];
                place
            };
            let [a, b, c, d] = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(corner);
            mesh.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

/// A mesh with every corner mapped to another position.
pub fn moved(mesh: &[Triangle], place: impl Fn(Vec3) -> Vec3) -> Vec<Triangle> {
    mesh.iter().map(|triangle| triangle.map(&place)).collect()
}

/// The mesh rotated so that no edge is along an axis.
pub fn tilted(mesh: &[Triangle]) -> Vec<Triangle> {
    let turned = |[x, y]: [f64; 2], angle: f64| [x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()];
    moved(mesh, |[x, y, z]| {
        let [x, y] = turned([x, y], 0.7);
        let [y, z] = turned([y, z], 0.4);
        [x, y, z]
    })
}

/// The cubes of a mesh, computed on some device with some threads.
pub fn cubes_on(place: (DeviceChoice, usize), mesh: &[Triangle], radius: f64, filling: VoxelFilling) -> (Lattice, Voxels) {
    let lattice = Lattice::new(mesh, radius).unwrap();
    let found = voxels(mesh, &Edges::of(mesh), &lattice, filling, place, &mut Vec::new()).unwrap();
    (lattice, found)
}
