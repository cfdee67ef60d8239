//! How the triangles of a mesh hang together.

use crate::world::{Triangle, Vec3};
use std::collections::HashMap;

/// The edges of a mesh: corners at the same place are one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edges {
    /// How many there are.
    pub all: usize,
    /// Those at which the surface ends: the number of triangles that meet there is odd.
    pub open: usize,
    /// Those along which the triangles run more often in one direction, though their number is even: they face different sides.
    pub turned: usize,
    /// Those at which more than two triangles meet: there the surface touches itself.
    pub crowded: usize,
    /// The first one, by triangles, that is open or turned.
    pub first: Option<BadEdge>,
}

/// An edge that keeps a mesh from having an inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BadEdge {
    /// Where it begins and ends.
    pub ends: [Vec3; 2],
    /// How many triangles meet there.
    pub triangles: u32,
}

/// By how much more often triangles run along an edge than against it, and how many there are.
type Balance = (i32, u32);

impl Edges {
    /// Those of a mesh. Edges without length are none.
    pub fn of(mesh: &[Triangle]) -> Edges {
        let mut balances: HashMap<_, Balance> = HashMap::new();
        for (pair, direction) in mesh.iter().flat_map(edges_of).filter_map(|edge| undirected(&edge)) {
            let (sum, count) = balances.entry(pair).or_default();
            *sum += direction;
            *count += 1;
        }
        let how_many = |is_meant: fn(&Balance) -> bool| balances.values().filter(|balance| is_meant(balance)).count();
        let bad = |edge: [Vec3; 2]| {
            let (sum, triangles) = *balances.get(&undirected(&edge)?.0)?;
            (sum != 0).then_some(BadEdge { ends: edge, triangles })
        };
        Edges {
            all: balances.len(),
            open: how_many(|(_, count)| count % 2 == 1),
            turned: how_many(|(sum, count)| *sum != 0 && count % 2 == 0),
            crowded: how_many(|(_, count)| *count > 2),
            first: mesh.iter().flat_map(edges_of).find_map(bad),
        }
    }

    /// Whether triangles run along every edge in both directions equally often, so that the mesh has an inside.
    pub fn is_closed(&self) -> bool {
        self.first.is_none()
    }

    /// Whether all triangles agree which of their sides is outside.
    pub fn is_oriented(&self) -> bool {
        self.turned == 0
    }
}

fn edges_of(&[a, b, c]: &Triangle) -> [[Vec3; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

/// An edge without its direction, and 1 or −1 for its direction; `None` for one without length.
fn undirected([from, to]: &[Vec3; 2]) -> Option<([[u64; 3]; 2], i32)> {
    // 0 and −0 are one place.
    let key = |corner: &Vec3| corner.map(|coordinate| (coordinate + 0.0).to_bits());
    let (from, to) = (key(from), key(to));
    (from != to).then_some(if from < to { ([from, to], 1) } else { ([to, from], -1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron that faces outward, at a place.
    fn tetrahedron(x: f64) -> Vec<Triangle> {
        let corners = [[x, 0.0, 0.0], [x + 1.0, 0.0, 0.0], [x, 1.0, 0.0], [x, 0.0, 1.0]];
        [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
            .map(|face| face.map(|corner: usize| corners[corner]))
            .to_vec()
    }

    #[test]
    fn closed_open_turned_and_touching_meshes_are_told_apart() {
        let mut mesh = tetrahedron(0.0);
        let edges = Edges::of(&mesh);
        assert_eq!((edges.all, edges.open, edges.turned, edges.crowded), (6, 0, 0, 0));
        assert!(edges.is_closed() && edges.is_oriented());

        mesh[2].swap(0, 1);
        let edges = Edges::of(&mesh);
        assert_eq!((edges.open, edges.turned), (0, 3));
        assert!(!edges.is_closed() && !edges.is_oriented());

        mesh.pop();
        mesh[2].swap(0, 1);
        let edges = Edges::of(&mesh);
        assert_eq!((edges.all, edges.open, edges.turned), (6, 3, 0));
        assert!(!edges.is_closed() && edges.is_oriented());
        let ends = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        assert_eq!(edges.first, Some(BadEdge { ends, triangles: 1 }));

        // Two that share an edge, the origin of one written as −0.
        let mut mesh = tetrahedron(0.0);
        mesh.extend(tetrahedron(0.0).iter().map(|face| face.map(|[x, y, z]| [-x, -y, z])));
        let edges = Edges::of(&mesh);
        assert_eq!((edges.all, edges.open, edges.turned, edges.crowded), (11, 0, 0, 1));
        assert!(edges.is_closed());
    }
}
