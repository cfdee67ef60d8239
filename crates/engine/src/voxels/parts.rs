//! Connected parts of a mesh, and the triangles of each part that face the same side.

use super::edges::{NonManifoldEdge, edges_of, place_of};
use crate::world::{Triangle, Vec3};
use std::collections::HashMap;
use std::hash::Hash;

/// Parts of a mesh that are connected through edges at which two triangles meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// Whether each part is closed: each of its triangles has a neighbor at each edge. Edges without length have no neighbors.
    pub is_closed: Vec<bool>,
    /// For each triangle, its part, numbered in the order of their first triangles, and whether it faces another side than this first triangle.
    pub triangles: Vec<(usize, bool)>,
    /// First edge at which triangles cannot be turned to face the same side: the surface has only one side, like that of Möbius.
    pub one_sided: Option<NonManifoldEdge>,
}

/// First two triangles at an edge, whether they run along it in the order of its ends, and their number.
#[derive(Clone, Copy, Default)]
struct Sides {
    of: [(u32, bool); 2],
    count: usize,
}

impl Parts {
    /// Parts of a mesh; corners at the same position are one.
    pub fn of(mesh: &[Triangle]) -> Parts {
        Parts::by(mesh, place_of)
    }

    /// Parts of a mesh in which corners with the same key are one.
    pub fn by<K: Copy + Ord + Hash>(mesh: &[Triangle], key: impl Fn(&Vec3) -> K) -> Parts {
        // An edge without its direction, and whether the direction is the order of its ends; `None` without length.
        let undirected = |[from, to]: &[Vec3; 2]| {
            let (from, to) = (key(from), key(to));
            (from != to).then(|| if from < to { ([from, to], true) } else { ([to, from], false) })
        };
        let mut sides: HashMap<[K; 2], Sides> = HashMap::new();
        for (index, triangle) in (0..).zip(mesh) {
            for (pair, is_forward) in edges_of(triangle).iter().filter_map(undirected) {
                let sides = sides.entry(pair).or_default();
                if let Some(side) = sides.of.get_mut(sides.count) {
                    *side = (index, is_forward);
                }
                sides.count += 1;
            }
        }
        Parts::between(mesh, |index, k| {
            let (pair, is_forward) = undirected(&edges_of(&mesh[index])[k])?;
            // Where three or more triangles meet, neighbors are not defined.
            let Some(Sides {
                of: [one, other],
                count: 2,
            }) = sides.get(&pair)
            else {
                return None;
            };
            let &(next, is_next_forward) = if one.0 as usize == index { other } else { one };
            Some((next as usize, is_forward == is_next_forward))
        })
    }

    /// Parts of a mesh with known neighbors. For a triangle and the edge after one of its corners, `neighbor` returns the adjacent triangle, and
    /// whether both run along the edge in the same direction.
    pub fn between(mesh: &[Triangle], neighbor: impl Fn(usize, usize) -> Option<(usize, bool)>) -> Parts {
        let mut found: Vec<Option<(usize, bool)>> = vec![None; mesh.len()];
        let (mut is_closed, mut one_sided) = (Vec::new(), None);
        for start in 0..mesh.len() {
            if found[start].is_some() {
                continue;
            }
            let part = is_closed.len();
            is_closed.push(true);
            found[start] = Some((part, false));
            let mut left = vec![start];
            while let Some(index) = left.pop() {
                let is_over = found[index].is_some_and(|(_, is_over)| is_over);
                for (k, ends) in edges_of(&mesh[index]).into_iter().enumerate() {
                    let Some((next, is_along)) = neighbor(index, k) else {
                        is_closed[part] = false;
                        continue;
                    };
                    // Neighbors that face the same side run along their edge in opposite directions.
                    let is_next_over = is_over ^ is_along;
                    match found[next] {
                        None => {
                            found[next] = Some((part, is_next_over));
                            left.push(next);
                        }
                        Some((_, is_known_over)) if next != index && is_known_over != is_next_over => {
                            one_sided.get_or_insert(NonManifoldEdge { ends, triangles: 2 });
                        }
                        Some(_) => {}
                    }
                }
            }
        }
        Parts {
            is_closed,
            triangles: found.into_iter().map(Option::unwrap_or_default).collect(),
            one_sided,
        }
    }

    /// Number of parts.
    pub fn count(&self) -> usize {
        self.is_closed.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strip of squares around an axis; the last square is connected to the first directly, or turned over.
    fn band(squares: u32, is_turned_over: bool) -> Vec<Triangle> {
        let ends = |k: u32| {
            let turn = f64::from(k % squares) / f64::from(squares);
            let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
            let half = if is_turned_over { std::f64::consts::PI * turn } else { 0.0 };
            let corner = |side: f64| {
                let radius = 2.0 + side * half.sin();
                [radius * cos, radius * sin, side * half.cos()]
            };
            let [low, high] = [corner(-1.0), corner(1.0)];
            if k == squares && is_turned_over { [high, low] } else { [low, high] }
        };
        let square = |k: u32| {
            let ([a, b], [d, c]) = (ends(k), ends(k + 1));
            [[a, d, c], [a, c, b]]
        };
        (0..squares).flat_map(square).collect()
    }

    #[test]
    fn a_band_is_oriented_and_that_of_moebius_is_not() {
        let mut ring = band(12, false);
        for over in [3, 4, 11] {
            ring[over].swap(0, 1);
        }
        let parts = Parts::of(&ring);
        assert_eq!((parts.count(), parts.one_sided), (1, None));
        let over: Vec<usize> = (0..24).filter(|&k| parts.triangles[k].1).collect();
        assert_eq!(over, [3, 4, 11]);

        let moebius = Parts::of(&band(12, true));
        assert_eq!(moebius.count(), 1);
        assert_eq!(moebius.one_sided.map(|edge| edge.triangles), Some(2));
    }

    #[test]
    fn parts_are_numbered_by_their_first_triangles() {
        let ring = band(6, false);
        let away: Vec<Triangle> = ring.iter().map(|face| face.map(|[x, y, z]| [x + 9.0, y, z])).collect();
        let mixed: Vec<Triangle> = away.iter().zip(&ring).flat_map(|(one, other)| [*one, *other]).collect();
        let parts = Parts::of(&mixed);
        assert_eq!(parts.is_closed, [false; 2]);
        assert!(parts.triangles.iter().enumerate().all(|(k, found)| *found == (k % 2, false)));
        // Corners with nearly equal positions are one with a coarser key.
        let nearly: Vec<Triangle> = ring[6..].iter().map(|face| face.map(|[x, y, z]| [x, y, z + 1e-9])).collect();
        let broken = [&ring[..6], &nearly[..]].concat();
        assert_eq!(Parts::of(&broken).count(), 2);
        assert_eq!(Parts::by(&broken, |corner| corner.map(|x| (x * 1e6).round() as i64)).count(), 1);
    }

    #[test]
    fn a_part_is_closed_if_it_goes_on_beyond_all_edges() {
        let [o, x, y, z] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let away = [x, y, z].map(|corner| corner.map(|x| x + 5.0));
        let parts = Parts::of(&[[o, y, x], away, [o, x, z], [o, z, y], [x, y, z]]);
        assert_eq!(parts.is_closed, [true, false]);
        assert!(parts.triangles.iter().all(|(_, is_over)| !is_over));
    }
}
