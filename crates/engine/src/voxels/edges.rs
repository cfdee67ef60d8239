//! How the triangles of a mesh hang together.

use crate::world::{Triangle, Vec3};
use std::collections::HashMap;

/// The edges of a mesh: corners at the same place are one. Triangles with two corners in one place have none.
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
    /// The first one, by triangles, that is open.
    pub first_open: Option<OddEdge>,
    /// The first one that is turned.
    pub first_turned: Option<OddEdge>,
    /// The first one that is crowded.
    pub first_crowded: Option<OddEdge>,
}

/// An edge at which other than two triangles meet that face the same side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OddEdge {
    /// Where it begins and ends.
    pub ends: [Vec3; 2],
    /// How many triangles meet there.
    pub triangles: u32,
}

/// By how much more often triangles run along an edge than against it, and how many there are.
type Balance = (i32, u32);

fn is_open((_, count): &Balance) -> bool {
    count % 2 == 1
}

fn is_turned((sum, count): &Balance) -> bool {
    *sum != 0 && count % 2 == 0
}

fn is_crowded((_, count): &Balance) -> bool {
    *count > 2
}

impl Edges {
    /// Those of a mesh.
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
                is_meant(balance).then_some(OddEdge { ends, triangles })
            };
            let first = if count > 0 { edges().find_map(odd) } else { None };
            (count, first)
        };
        let (open, first_open) = find(is_open);
        let (turned, first_turned) = find(is_turned);
        let (crowded, first_crowded) = find(is_crowded);
        Edges {
            all: balances.len(),
            open,
            turned,
            crowded,
            first_open,
            first_turned,
            first_crowded,
        }
    }

    /// Whether triangles run along every edge in both directions equally often, so that the mesh has an inside.
    pub fn is_closed(&self) -> bool {
        self.open == 0 && self.turned == 0
    }

    /// Whether all triangles agree which of their sides is outside.
    pub fn is_oriented(&self) -> bool {
        self.turned == 0
    }
}

/// The edges of a triangle, as it runs along them.
pub(super) fn edges_of(&[a, b, c]: &Triangle) -> [[Vec3; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

/// What two corners in the same place have in common: 0 and −0 are one.
pub(super) fn place_of(corner: &Vec3) -> [u64; 3] {
    corner.map(|coordinate| (coordinate + 0.0).to_bits())
}

/// Whether two corners of a triangle are in the same place, so that it is no surface at all.
pub fn is_collapsed(triangle: &Triangle) -> bool {
    edges_of(triangle).iter().any(|[from, to]| place_of(from) == place_of(to))
}

/// An edge without its direction, and 1 or −1 for its direction; `None` for one without length.
fn undirected([from, to]: &[Vec3; 2]) -> Option<([[u64; 3]; 2], i32)> {
    let (from, to) = (place_of(from), place_of(to));
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
        // The first face runs from the third corner to the second, and so does the one that is turned.
        let ends = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]];
        assert_eq!(edges.first_turned, Some(OddEdge { ends, triangles: 2 }));
        assert!(!edges.is_closed() && !edges.is_oriented());

        mesh.pop();
        mesh[2].swap(0, 1);
        let edges = Edges::of(&mesh);
        assert_eq!((edges.all, edges.open, edges.turned), (6, 3, 0));
        assert!(!edges.is_closed() && edges.is_oriented());
        let ends = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        assert_eq!(edges.first_open, Some(OddEdge { ends, triangles: 1 }));
        assert_eq!((edges.first_turned, edges.first_crowded), (None, None));

        // Two that share an edge, the origin of one written as −0.
        let mut mesh = tetrahedron(0.0);
        mesh.extend(tetrahedron(0.0).iter().map(|face| face.map(|[x, y, z]| [-x, -y, z])));
        let edges = Edges::of(&mesh);
        assert_eq!((edges.all, edges.open, edges.turned, edges.crowded), (11, 0, 0, 1));
        assert_eq!(edges.first_crowded.map(|edge| edge.triangles), Some(4));
        assert!(edges.is_closed());
        // A triangle that is but a line changes nothing.
        mesh.push([[0.0; 3], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]);
        assert_eq!(Edges::of(&mesh), edges);
    }
}
