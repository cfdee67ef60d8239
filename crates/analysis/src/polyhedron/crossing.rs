//! Triangles of a mesh that cross each other.

use super::convex::{Place, on_lattice, side_of};
use super::size_of;
use glam::DVec3;
use seixo_engine::world::Triangle;

/// Whether the side from p to q passes through the inside of the triangle abc. Contact without crossing does not count.
fn passes(p: &Place, q: &Place, [a, b, c]: &[Place; 3]) -> bool {
    let (from, to) = (side_of(a, b, c, p).signum(), side_of(a, b, c, q).signum());
    if from * to >= 0 {
        return false;
    }
    let around = [(a, b), (b, c), (c, a)].map(|(start, end)| side_of(p, q, start, end).signum());
    around == [1; 3] || around == [-1; 3]
}

fn do_cross(one: &[Place; 3], other: &[Place; 3]) -> bool {
    let sides = |[a, b, c]: [Place; 3]| [(a, b), (b, c), (c, a)];
    let has_side_through = |one: &[Place; 3], other: &[Place; 3]| sides(*one).iter().any(|(p, q)| passes(p, q, other));
    has_side_through(one, other) || has_side_through(other, one)
}

/// Indices of two triangles of which one has a side that passes through the inside of the other; decided without rounding errors after rounding
/// corners to 10⁻¹² of the size. Overlaps in one plane are not found.
pub(super) fn first_crossing(mesh: &[Triangle]) -> Option<[usize; 2]> {
    let corners: Vec<DVec3> = mesh.iter().flatten().map(|&corner| DVec3::from(corner)).collect();
    let places = on_lattice(&corners, size_of(corners.iter().copied()));
    let (triangles, _) = places.as_chunks::<3>();
    let bounds = |triangle: &[Place; 3], axis: usize| {
        let [a, b, c] = triangle.map(|corner| corner[axis]);
        (a.min(b).min(c), a.max(b).max(c))
    };
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_unstable_by_key(|&k| (bounds(&triangles[k], 0).0, k));
    for (rank, &one) in order.iter().enumerate() {
        let (_, end) = bounds(&triangles[one], 0);
        let later = order[rank + 1..].iter().take_while(|&&other| bounds(&triangles[other], 0).0 <= end);
        for &other in later {
            let overlap = |axis: usize| {
                let ((low, high), (from, to)) = (bounds(&triangles[one], axis), bounds(&triangles[other], axis));
                low <= to && from <= high
            };
            if overlap(1) && overlap(2) && do_cross(&triangles[one], &triangles[other]) {
                return Some([one.min(other), one.max(other)]);
            }
        }
    }
    None
}
