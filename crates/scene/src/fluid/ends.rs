//! Ends of meshes at periodic sides that coincide with images of each other, so that the mesh continues there.

use super::{Layout, facets::Turned};
use std::collections::{BTreeMap, HashMap};

/// Corners of triangles at this distance are the same \[spacings\].
const SAME_CORNER: f64 = 1e-4;
/// Threshold between two whole domain lengths at which the distance along an edge is rounded up. It is no simple fraction, so that rounding does not
/// decide.
const UP_FROM: f64 = 0.309;
/// Tolerance for the flatness of an end in its plane, and for the equality of two ends \[-\].
const EQUAL: f64 = 1e-6;

/// An edge, independent of its periodic image: its ends, and the number of domain lengths between them.
type Anywhere = ([[i64; 3]; 2], [i64; 3]);

/// Identifies corners: those in one cell of a fine grid are the same.
pub(super) struct Grid {
    /// Edge of a cell \[m\].
    tolerance: f64,
    /// Ends of the domain along its periodic axes \[m\].
    ends: [Option<[f64; 2]>; 3],
}

impl Grid {
    pub(super) fn new(layout: &Layout) -> Grid {
        Grid {
            tolerance: SAME_CORNER * layout.spacing,
            ends: [0, 1, 2].map(|axis| layout.periods[axis].filter(|_| layout.across != Some(axis))),
        }
    }

    /// A corner.
    pub(super) fn key(&self, corner: &[f64; 3]) -> [i64; 3] {
        corner.map(|coordinate| (coordinate / self.tolerance).round() as i64)
    }

    /// Along a periodic axis: the cell of a coordinate in the domain, which is a whole number of cells long, and the number of domain lengths to it.
    fn folded(&self, coordinate: f64, [min, max]: [f64; 2]) -> (i64, i64) {
        let cells = ((max - min) / self.tolerance).ceil();
        let cell = ((coordinate - min) / (max - min) * cells).round();
        let lengths = (cell / cells).floor();
        ((cell - lengths * cells) as i64, lengths as i64)
    }

    /// A corner, independent of its periodic image.
    fn key_anywhere(&self, corner: &[f64; 3]) -> [i64; 3] {
        let mut key = self.key(corner);
        for axis in 0..3 {
            if let Some(ends) = self.ends[axis] {
                key[axis] = self.folded(corner[axis], ends).0;
            }
        }
        key
    }

    /// The edge after a corner of a triangle, its ends in the order of [`Grid::key`], which all its images share.
    fn edge_anywhere(&self, triangle: &[[f64; 3]; 3], k: usize) -> Anywhere {
        let (mut a, mut b) = (&triangle[k], &triangle[(k + 1) % 3]);
        if self.key(a) > self.key(b) {
            (a, b) = (b, a);
        }
        let apart = [0, 1, 2].map(|axis| {
            let ends = self.ends[axis];
            ends.map_or(0, |[min, max]| ((b[axis] - a[axis]) / (max - min) + UP_FROM).floor() as i64)
        });
        ([self.key_anywhere(a), self.key_anywhere(b)], apart)
    }
}

/// A face that may be part of an end at a periodic side.
struct Face {
    index: usize,
    /// Distance of its plane in domain lengths.
    lengths: i64,
    /// Its area, positive if its front faces up the axis \[m²\].
    area: f64,
    edges: [Anywhere; 3],
}

/// For each triangle, whether it belongs to an end that coincides with an image of another end of its part and faces the other way: the inside
/// continues there.
pub(super) fn ends_at_sides(triangles: &[Turned], grid: &Grid) -> Vec<bool> {
    let mut are_ends = vec![false; triangles.len()];
    for axis in 0..3 {
        let Some(ends) = grid.ends[axis] else { continue };
        let mut planes: BTreeMap<(usize, i64), Vec<Face>> = BTreeMap::new();
        for (index, (corners, part)) in triangles.iter().enumerate() {
            let normal = 0.5 * (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            if normal[axis].abs() <= (1.0 - EQUAL) * normal.length() {
                continue;
            }
            let (plane, lengths) = grid.folded(corners[0][axis], ends);
            let corners = corners.map(|corner| corner.to_array());
            planes.entry((*part, plane)).or_default().push(Face {
                index,
                lengths,
                area: normal[axis],
                edges: [0, 1, 2].map(|k| grid.edge_anywhere(&corners, k)),
            });
        }
        for faces in planes.into_values() {
            for pair in connected(&faces).iter().filter(|faces| is_pair(faces)) {
                pair.iter().for_each(|face| are_ends[face.index] = true);
            }
        }
    }
    are_ends
}

/// Faces of a part in a plane, in groups that are connected by edges.
fn connected(faces: &[Face]) -> Vec<Vec<&Face>> {
    let mut around: HashMap<&Anywhere, Vec<usize>> = HashMap::new();
    for (number, face) in faces.iter().enumerate() {
        for edge in &face.edges {
            around.entry(edge).or_default().push(number);
        }
    }
    let mut is_found = vec![false; faces.len()];
    let mut groups = Vec::new();
    for start in 0..faces.len() {
        if is_found[start] {
            continue;
        }
        is_found[start] = true;
        let (mut group, mut left) = (Vec::new(), vec![start]);
        while let Some(number) = left.pop() {
            group.push(&faces[number]);
            for &next in faces[number].edges.iter().flat_map(|edge| &around[edge]) {
                if !is_found[next] {
                    is_found[next] = true;
                    left.push(next);
                }
            }
        }
        groups.push(group);
    }
    groups
}

/// Whether connected faces are two ends of the same outline, whole domain lengths apart, that face opposite ways.
fn is_pair(faces: &[&Face]) -> bool {
    let (up, down): (Vec<&Face>, Vec<&Face>) = faces.iter().copied().partition(|face| face.area > 0.0);
    let (Some(top), Some(bottom)) = (up.first(), down.first()) else {
        return false;
    };
    let is_in_one = |faces: &[&Face], lengths: i64| faces.iter().all(|face| face.lengths == lengths);
    let are_apart = top.lengths != bottom.lengths && is_in_one(&up, top.lengths) && is_in_one(&down, bottom.lengths);
    let (sum, all) = faces
        .iter()
        .fold((0.0, 0.0), |(sum, all), face| (sum + face.area, all + face.area.abs()));
    let mut counts: HashMap<&Anywhere, u32> = HashMap::new();
    for edge in faces.iter().flat_map(|face| &face.edges) {
        *counts.entry(edge).or_insert(0) += 1;
    }
    are_apart && sum.abs() < EQUAL * all && counts.values().all(|count| count.is_multiple_of(2))
}
