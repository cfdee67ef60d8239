//! Edges of the triangles of a mesh, and their topology.

use crate::world::{Triangle, Vec3};
use std::collections::HashMap;

/// Edges of a mesh; corners at the same position are one. Triangles with two corners at the same position are ignored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edges {
    /// Number of edges.
    pub all: usize,
    /// Number of open edges, at which the surface ends: an odd number of triangles meets there.
    pub open: usize,
    /// Number of turned edges, at which an even number of triangles meets, but with more in one direction: they face different sides.
    pub turned: usize,
    /// Number of edges at which more than two triangles meet: the surface touches itself there.
    pub has_too_many_faces: usize,
    /// The first open edge, in the order of the triangles.
    pub first_open: Option<NonManifoldEdge>,
    /// The first turned edge.
    pub first_turned: Option<NonManifoldEdge>,
    /// The first edge with more than two triangles.
    pub first_with_too_many_faces: Option<NonManifoldEdge>,
}

/// An edge at which the number of triangles is not two, or at which they face different sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NonManifoldEdge {
    /// Start and end.
    pub ends: [Vec3; 2],
    /// Number of its triangles.
    pub triangles: u32,
}

/// Number of triangles along an edge minus the number against it, and their total number.
type Balance = (i32, u32);

fn is_open((_, count): &Balance) -> bool {
    count % 2 == 1
}

fn is_turned((sum, count): &Balance) -> bool {
    *sum != 0 && count % 2 == 0
}

fn has_too_many_faces((_, count): &Balance) -> bool {
    *count > 2
}

impl Edges {
    /// Edges of a mesh.
    pub fn of(mesh: &[Triangle]) -> Edges {
        let edges = || mesh.iter().filter(|triangle| !is_collapsed(triangle)).flat_map(edges_of);
        let mut balances: HashMap<_, Balance> = HashMap::new();
        for (pair, direction) in edges().filter_map(|edge| undirected(&edge)) {
            let (sum, count) = balances.entry(pair).or_default();
            *sum += direction;
            *count += 1;
        }
        let find = |is_meant: fn(&Balance) -> bool| {
            let count = balances.values().filter(|balance| is_meant(balance)).count();
            let odd = |ends: [Vec3; 2]| {
                let balance = balances.get(&undirected(&ends)?.0)?;
                let triangles = balance.1;
                is_meant(balance).then_some(NonManifoldEdge { ends, triangles })
            };
            let first = if count > 0 { edges().find_map(odd) } else { None };
            (count, first)
        };
        let (open, first_open) = find(is_open);
        let (turned, first_turned) = find(is_turned);
        let (with_too_many_faces, first_with_too_many_faces) = find(has_too_many_faces);
        Edges {
            all: balances.len(),
            open,
            turned,
            has_too_many_faces: with_too_many_faces,
            first_open,
            first_turned,
            first_with_too_many_faces,
        }
    }

    /// Whether as many triangles run along each edge as against it, so that the mesh has an interior.
    pub fn is_closed(&self) -> bool {
        self.open == 0 && self.turned == 0
    }

    /// Whether all triangles agree which of their sides is outside.
    pub fn is_oriented(&self) -> bool {
        self.turned == 0
    }
}

/// The directed edges of a triangle.
pub(super) fn edges_of(&[a, b, c]: &Triangle) -> [[Vec3; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

/// Key of the position of a corner: 0 and −0 are equal.
pub(super) fn place_of(corner: &Vec3) -> [u64; 3] {
    corner.map(|coordinate| (coordinate + 0.0).to_bits())
}

/// Whether two corners of a triangle coincide, so that it has no area.
pub fn is_collapsed(triangle: &Triangle) -> bool {
    edges_of(triangle).iter().any(|[from, to]| place_of(from) == place_of(to))
}

/// An edge without its direction, and 1 or −1 for its direction; `None` for an edge without length.
fn undirected([from, to]: &[Vec3; 2]) -> Option<([[u64; 3]; 2], i32)> {
    let (from, to) = (place_of(from), place_of(to));
    (from != to).then_some(if from < to { ([from, to], 1) } else { ([to, from], -1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron that faces outward, at position x.
    fn tetrahedron(x: f64) -> Vec<Triangle> {
        let corners = [[x, 0.0, 0.0], [x + 1.0, 0.0, 0.0], [x, 1.0, 0.0], [x, 0.0, 1.0]];
        [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
            .map(|face| face.map(|corner: usize| corners[corner]))
            .to_vec()
    }

    #[test]
    fn closed_open_turned_and_touching_meshes_are_distinguished() {
        let mut mesh = tetrahedron(0.0);
        let edges = Edges::of(&mesh);
        assert_eq!((edges.all, edges.open, edges.turned, edges.has_too_many_faces), (6, 0, 0, 0));
        assert!(edges.is_closed() && edges.is_oriented());

        mesh[2].swap(0, 1);
        let edges = Edges::of(&mesh);
        assert_eq!((edges.open, edges.turned), (0, 3));
        // The first face runs from the third corner to the second, and so does the turned face.
        let ends = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]];
        assert_eq!(edges.first_turned, Some(NonManifoldEdge { ends, triangles: 2 }));
        assert!(!edges.is_closed() && !edges.is_oriented());

        mesh.pop();
        mesh[2].swap(0, 1);
        let edges = Edges::of(&mesh);
        assert_eq!((edges.all, edges.open, edges.turned), (6, 3, 0));
        assert!(!edges.is_closed() && edges.is_oriented());
        let ends = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        assert_eq!(edges.first_open, Some(NonManifoldEdge { ends, triangles: 1 }));
        assert_eq!((edges.first_turned, edges.first_with_too_many_faces), (None, None));

        // Two tetrahedra that share an edge; one of them has −0 as the origin.
        let mut mesh = tetrahedron(0.0);
        mesh.extend(tetrahedron(0.0).iter().map(|face| face.map(|[x, y, z]| [-x, -y, z])));
        let edges = Edges::of(&mesh);
        assert_eq!((edges.all, edges.open, edges.turned, edges.has_too_many_faces), (11, 0, 0, 1));
        assert_eq!(edges.first_with_too_many_faces.map(|edge| edge.triangles), Some(4));
        assert!(edges.is_closed());
        // A triangle without area changes nothing.
        mesh.push([[0.0; 3], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]);
        assert_eq!(Edges::of(&mesh), edges);
    }
}
