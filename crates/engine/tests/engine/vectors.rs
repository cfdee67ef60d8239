//! Vectors in space.

use seixo_engine::world::Vec3;
use seixo_laws::Vector3;

pub fn vector(v: Vec3) -> Vector3<f64> {
    Vector3 { x: v[0], y: v[1], z: v[2] }
}

pub fn dot(a: Vec3, b: Vec3) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn length(v: Vec3) -> f64 {
    dot(v, v).sqrt()
}

pub fn distance(a: Vec3, b: Vec3) -> f64 {
    length([0, 1, 2].map(|k| a[k] - b[k]))
}
