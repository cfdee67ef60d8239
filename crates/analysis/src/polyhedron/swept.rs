//! Volume, center and inertia of a convex polyhedron that is swept by a sphere.
//!
//! The solid has four kinds of parts: the polyhedron, a prism on each face, a sector of a cylinder at each edge, and a sector of a ball at each vertex.
//! Their volumes are the terms of Steiner's formula \[Schneider 2014\]. With the directions u of a sector, moments need ∫ u and ∫ u uᵀ only:
//!
//! - Edge, angle θ from the normal n to the normal n′: ∫ u = tan(θ/2) (n + n′), ∫ u uᵀ = ½ (θ + sin θ) b bᵀ + ½ (θ − sin θ) w wᵀ with b halfway
//!   between the normals and w perpendicular to b and the edge.
//! - Vertex: the directions are a polygon of great arcs between the normals of its faces. Its area Ω is 2π less the angles of the faces at the vertex.
//!   By the divergence theorem on the sphere ∫ u = ½ Σ θ m and ∫ u uᵀ = ⅓ (Ω I + Σ c mᵀ). Each arc has the angle θ, the normal m of its plane, inward,
//!   and c = ∫ u along the arc. Here m is the direction of the edge, towards the vertex.

use super::{Polyhedron, PolyhedronFace};
use crate::solid::{Solid, moment_of};
use crate::tensor::outer;
use glam::{DMat3, DVec3};
use std::f64::consts::{PI, TAU};

/// ∫ dV, ∫ x dV and ∫ x xᵀ dV.
struct Moments {
    volume: f64,
    first: DVec3,
    second: DMat3,
}

/// The sum of a matrix and its transpose, of a ⊗ b.
fn both(a: DVec3, b: DVec3) -> DMat3 {
    outer(a, b) + outer(b, a)
}

/// Integrals over the directions of a vertex.
struct Directions {
    /// ∫ dΩ.
    solid_angle: f64,
    /// ∫ u dΩ.
    first: DVec3,
    /// Σ c mᵀ.
    border: DMat3,
}

/// Angle between two vectors, precise for all angles.
fn angle_between(a: DVec3, b: DVec3) -> f64 {
    a.cross(b).length().atan2(a.dot(b))
}

impl Moments {
    /// The polyhedron behind a face, seen from the origin, and the prism on the face.
    fn add_face(&mut self, face: &PolyhedronFace, corners: &[DVec3], radius: f64) {
        let normal = face.normal;
        for pair in corners.windows(2).skip(1) {
            let (a, b, c) = (corners[0], pair[0], pair[1]);
            let sum = a + b + c;
            let squares = outer(a, a) + outer(b, b) + outer(c, c) + outer(sum, sum);
            let six_fold = a.dot(b.cross(c));
            self.volume += six_fold / 6.0;
            self.first += sum * (six_fold / 24.0);
            self.second += squares * (six_fold / 120.0);

            let area = 0.5 * (b - a).cross(c - a).dot(normal);
            let middle = sum / 3.0;
            self.volume += area * radius;
            self.first += (middle + normal * (0.5 * radius)) * (area * radius);
            self.second += squares * (area / 12.0 * radius)
                + both(middle, normal) * (0.5 * area * radius.powi(2))
                + outer(normal, normal) * (area * radius.powi(3) / 3.0);
        }
    }

    /// The sector of a cylinder at an edge, with ∫ dα, ∫ u dα and ∫ u uᵀ dα.
    fn add_edge(&mut self, [start, end]: [DVec3; 2], angle: f64, first: DVec3, second: DMat3, radius: f64) {
        let (span, middle) = (end - start, 0.5 * (start + end));
        let length = span.length();
        let area = 0.5 * angle * radius.powi(2);
        let cube = radius.powi(3) / 3.0;
        self.volume += area * length;
        self.first += (middle * area + first * cube) * length;
        let along = outer(middle, middle) + outer(span, span) / 12.0;
        self.second += (along * area + both(middle, first) * cube + second * (radius.powi(4) / 4.0)) * length;
    }

    /// The sector of a ball at a vertex.
    fn add_vertex(&mut self, at: DVec3, directions: &Directions, radius: f64) {
        let Directions {
            solid_angle,
            first,
            border,
        } = directions;
        let second = (DMat3::from_diagonal(DVec3::splat(*solid_angle)) + *border) / 3.0;
        let (cube, fourth) = (radius.powi(3) / 3.0, radius.powi(4) / 4.0);
        self.volume += solid_angle * cube;
        self.first += at * (solid_angle * cube) + *first * fourth;
        self.second += outer(at, at) * (solid_angle * cube) + both(at, *first) * fourth + second * (radius.powi(5) / 5.0);
    }
}

/// The solid of all points at most `radius` away from a polyhedron, of density one. `middle` is a point near its center, so that nothing large cancels.
pub(super) fn solid(core: &Polyhedron, middle: DVec3, radius: f64) -> Solid {
    let place = |vertex: u32| core.vertices[vertex as usize] - middle;
    let all_around = if core.edges.is_empty() { 2.0 * TAU } else { TAU };
    let start = || Directions {
        solid_angle: all_around,
        first: DVec3::ZERO,
        border: DMat3::ZERO,
    };
    let mut directions: Vec<Directions> = core.vertices.iter().map(|_| start()).collect();
    let mut sum = Moments {
        volume: 0.0,
        first: DVec3::ZERO,
        second: DMat3::ZERO,
    };
    for face in &core.faces {
        let corners: Vec<DVec3> = face.vertices.iter().map(|&vertex| place(vertex)).collect();
        sum.add_face(face, &corners, radius);
        let count = corners.len();
        for (k, &vertex) in face.vertices.iter().enumerate() {
            let (before, after) = (corners[(k + count - 1) % count], corners[(k + 1) % count]);
            directions[vertex as usize].solid_angle -= angle_between(before - corners[k], after - corners[k]);
        }
    }
    for edge in &core.edges {
        let ends = edge.ends.map(place);
        let along = (ends[1] - ends[0]).normalize_or_zero();
        let (angle, first, second) = match edge.faces {
            Some(faces) => {
                let [one, other] = faces.map(|face| core.faces[face as usize].normal);
                let angle = angle_between(one, other);
                let between = (one + other).normalize_or_zero();
                let across = between.cross(along);
                let second =
                    outer(between, between) * (0.5 * (angle + angle.sin())) + outer(across, across) * (0.5 * (angle - angle.sin()));
                (angle, between * (2.0 * (0.5 * angle).sin()), second)
            }
            None => (TAU, DVec3::ZERO, (DMat3::IDENTITY - outer(along, along)) * PI),
        };
        sum.add_edge(ends, angle, first, second, radius);
        for (vertex, inward) in edge.ends.into_iter().zip([-along, along]) {
            let around = &mut directions[vertex as usize];
            around.first += inward * (0.5 * angle);
            around.border += outer(first, inward);
        }
    }
    for (vertex, around) in core.vertices.iter().zip(&directions) {
        sum.add_vertex(*vertex - middle, around, radius);
    }
    let center = sum.first / sum.volume;
    Solid {
        volume: sum.volume,
        center: middle + center,
        inertia: moment_of(&(sum.second - outer(center, center) * sum.volume)),
    }
}
