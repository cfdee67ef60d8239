//! Periodic sides of a surface: images of the particles beyond them, cubes that end there, and vertices on opposite sides that are one.

use seixo_engine::PeriodicCell;
use splashsurf_lib::nalgebra::Vector3;
use std::collections::HashMap;

/// How near a plane of the grid a vertex is on it \[cubes\].
const ON_PLANE: f64 = 1e-6;

/// A periodic cell in the lengths in which its surface is found. Along periodic axes these are such that whole cubes fill the cell: then the surface at
/// one side fits to that at the other.
pub(super) struct Sides {
    cell: PeriodicCell,
    /// What is one along each axis \[m\].
    unit: [f64; 3],
    /// Cubes along periodic axes.
    cubes: [Option<f64>; 3],
    /// Edge of a cube.
    edge: f64,
}

impl Sides {
    /// Of particles that keep this distance at rest \[m\], in cubes with this edge \[spacings\].
    pub fn new(cell: &PeriodicCell, spacing: f64, edge: f64) -> Sides {
        let count = |axis: usize| (cell.length[axis] / (spacing * edge)).round().max(1.0);
        let cubes = [0, 1, 2].map(|axis| cell.is_periodic(axis).then(|| count(axis)));
        let unit = [0, 1, 2].map(|axis| cubes[axis].map_or(spacing, |cubes| cell.length[axis] / (cubes * edge)));
        Sides {
            cell: *cell,
            unit,
            cubes,
            edge,
        }
    }

    /// Which axes have periodic sides.
    pub fn periodic(&self) -> [bool; 3] {
        self.cubes.map(|cubes| cubes.is_some())
    }

    /// A place \[m\] in the cell, and those of its images that are no farther than this from it.
    pub fn images(&self, place: [f64; 3], reach: f64) -> impl Iterator<Item = Vector3<f64>> {
        let inside = self.cell.inside(place);
        let (mut low, mut high) = ([f64::NEG_INFINITY; 3], [f64::INFINITY; 3]);
        for axis in (0..3).filter(|&axis| self.cell.is_periodic(axis)) {
            low[axis] = self.cell.low[axis] - reach * self.unit[axis];
            high[axis] = self.cell.low[axis] + self.cell.length[axis] + reach * self.unit[axis];
        }
        let images = self.cell.images([inside; 2], [low, high]);
        images.map(move |image| {
            let at = image.of(inside);
            Vector3::from([0, 1, 2].map(|axis| (at[axis] - self.cell.low[axis]) / self.unit[axis]))
        })
    }

    /// Where a vertex is \[m\].
    pub fn place(&self, vertex: &Vector3<f64>) -> [f64; 3] {
        [0, 1, 2].map(|axis| vertex[axis] * self.unit[axis] + self.cell.low[axis])
    }

    /// The triangles in the cell, and the vertices that these have.
    pub fn cut(&self, vertices: Vec<Vector3<f64>>, triangles: Vec<[usize; 3]>) -> (Vec<Vector3<f64>>, Vec<[usize; 3]>) {
        if self.periodic() == [false; 3] {
            return (vertices, triangles);
        }
        // Each is in a cube, and sides are between cubes.
        let is_inside = |triangle: &[usize; 3]| {
            (0..3).all(|axis: usize| {
                let middle = triangle.iter().map(|&vertex| vertices[vertex][axis]).sum::<f64>() / 3.0;
                self.cubes[axis].is_none_or(|cubes| (0.0..cubes * self.edge).contains(&middle))
            })
        };
        let mut numbers: Vec<Option<usize>> = vec![None; vertices.len()];
        let (mut left, mut cut) = (Vec::new(), Vec::new());
        for triangle in triangles.into_iter().filter(is_inside) {
            cut.push(triangle.map(|vertex| {
                *numbers[vertex].get_or_insert_with(|| {
                    left.push(vertices[vertex]);
                    left.len() - 1
                })
            }));
        }
        (left, cut)
    }

    /// Of each vertex the first of those that are one with it: itself, unless it is on a side.
    pub fn firsts(&self, vertices: &[Vector3<f64>]) -> Vec<usize> {
        let mut known: HashMap<[i64; 3], usize> = HashMap::new();
        let first = |(number, vertex)| self.on_side(vertex).map_or(number, |key| *known.entry(key).or_insert(number));
        vertices.iter().enumerate().map(first).collect()
    }

    /// By what a vertex on a side is known on the opposite one, too: the edge of cubes that it is on, in halves of edges.
    fn on_side(&self, vertex: &Vector3<f64>) -> Option<[i64; 3]> {
        let mut is_on_side = false;
        let key = [0, 1, 2].map(|axis: usize| {
            let cubes = vertex[axis] / self.edge;
            let plane = cubes.round();
            let is_on_plane = (cubes - plane).abs() < ON_PLANE;
            let halves = if is_on_plane { 2.0 * plane } else { 2.0 * cubes.floor() + 1.0 };
            let Some(all) = self.cubes[axis] else { return halves as i64 };
            is_on_side |= is_on_plane && (plane == 0.0 || plane == all);
            halves.rem_euclid(2.0 * all) as i64
        });
        is_on_side.then_some(key)
    }
}
