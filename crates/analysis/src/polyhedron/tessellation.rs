//! Cutting of polyhedra: by planes, and into the Voronoi cells of points inside.

use super::{Polyhedron, PolyhedronError, size_of};
use glam::DVec3;

/// Cuts that take less of a cell than this share of its size are left out: what they leave has no features that are too small.
const SHALLOWEST: f64 = 1e-4;
/// Wanted distance of random points, over the edge of a cube with the mean volume of a cell. Twice as much is not possible.
const SPREAD: f64 = 0.7;
/// Distance of random points from the faces, over their distance from each other.
const FROM_FACES: f64 = 0.3;
/// Number of nearest points that are sorted first: few cells need more of them.
const NEAREST: usize = 80;
/// Attempts to place a point, after which the wanted distance shrinks.
const ATTEMPTS: usize = 200;
/// Factor on the wanted distance after so many attempts.
const SHRINKAGE: f64 = 0.95;

impl Polyhedron {
    /// The part behind the plane n·x = d, given by its unit normal and its distance from the origin, in lengths.
    ///
    /// # Errors
    /// If too little is left: as [`Polyhedron::around`].
    pub fn behind(&self, normal: DVec3, distance: f64) -> Result<Polyhedron, PolyhedronError> {
        let heights: Vec<f64> = self.vertices.iter().map(|vertex| normal.dot(*vertex) - distance).collect();
        let kept = self.vertices.iter().zip(&heights).filter(|(_, height)| **height <= 0.0);
        let mut corners: Vec<DVec3> = kept.map(|(vertex, _)| *vertex).collect();
        for edge in &self.edges {
            let [a, b] = edge.ends.map(|end| end as usize);
            let [from, to] = [heights[a], heights[b]];
            if (from <= 0.0) != (to <= 0.0) {
                corners.push(self.vertices[a].lerp(self.vertices[b], from / (from - to)));
            }
        }
        Polyhedron::around(&corners)
    }

    /// The Voronoi cells of points inside of the polyhedron: the cell of a point is what is nearer to it than to the others.
    ///
    /// # Errors
    /// If a cell is too small or too flat, as [`Polyhedron::around`].
    pub fn cells(&self, points: &[DVec3]) -> Result<Vec<Polyhedron>, PolyhedronError> {
        points.iter().map(|point| self.cell(*point, points)).collect()
    }

    /// The cell of a point among these, itself included.
    fn cell(&self, point: DVec3, points: &[DVec3]) -> Result<Polyhedron, PolyhedronError> {
        let mut others: Vec<(f64, DVec3)> = points.iter().map(|other| (other.distance(point), *other)).collect();
        others.retain(|(distance, _)| *distance > 0.0);
        let by_distance = |(a, _): &(f64, DVec3), (b, _): &(f64, DVec3)| a.total_cmp(b);
        let nearest = NEAREST.min(others.len());
        if nearest < others.len() {
            others.select_nth_unstable_by(nearest, by_distance);
        }
        let (near, far) = others.split_at_mut(nearest);
        let mut cell = self.clone();
        for batch in [near, far] {
            batch.sort_by(by_distance);
            for &(distance, other) in batch.iter() {
                let reach = cell.vertices.iter().map(|vertex| vertex.distance(point)).fold(0.0, f64::max);
                if distance > 2.0 * reach {
                    return Ok(cell);
                }
                let normal = (other - point) / distance;
                let offset = normal.dot(0.5 * (point + other));
                let heights = cell.vertices.iter().map(|vertex| normal.dot(*vertex) - offset);
                if heights.fold(0.0, f64::max) > SHALLOWEST * size_of(cell.vertices.iter().copied()) {
                    cell = cell.behind(normal, offset)?;
                }
            }
        }
        Ok(cell)
    }

    /// So many random points inside, away from each other and from the faces. `random` gives numbers from 0 to 1.
    ///
    /// # Errors
    /// As [`Polyhedron::swept`].
    pub fn spread_points(&self, count: usize, mut random: impl FnMut() -> f64) -> Result<Vec<DVec3>, PolyhedronError> {
        let [low, high] = [DVec3::min, DVec3::max].map(|pick| self.vertices.iter().copied().reduce(pick).unwrap_or_default());
        let mut apart = SPREAD * (self.swept(0.0)?.volume / count.max(1) as f64).cbrt();
        let mut points: Vec<DVec3> = Vec::with_capacity(count);
        let mut attempts = 0;
        while points.len() < count {
            let place = low + (high - low) * DVec3::new(random(), random(), random());
            let is_inside = self
                .faces
                .iter()
                .all(|face| face.offset - face.normal.dot(place) >= FROM_FACES * apart);
            if is_inside && points.iter().all(|point| point.distance(place) >= apart) {
                points.push(place);
                attempts = 0;
                continue;
            }
            attempts += 1;
            if attempts == ATTEMPTS {
                (attempts, apart) = (0, SHRINKAGE * apart);
            }
        }
        Ok(points)
    }

    /// The points moved to the centers of mass of their cells, which makes the cells more alike (a step of Lloyd's method).
    ///
    /// # Errors
    /// As [`Polyhedron::cells`].
    pub fn relaxed(&self, points: &[DVec3]) -> Result<Vec<DVec3>, PolyhedronError> {
        self.cells(points)?.iter().map(|cell| Ok(cell.swept(0.0)?.center)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from 0 to 1, by a linear congruential generator.
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    fn volume(polyhedron: &Polyhedron) -> f64 {
        polyhedron.swept(0.0).unwrap().volume
    }

    #[test]
    fn a_plane_leaves_what_is_behind_it() {
        let block = Polyhedron::block([2.0, 4.0, 6.0]).unwrap();
        let half = block.behind(DVec3::X, 0.5).unwrap();
        assert!((volume(&half) - 36.0).abs() < 1e-9, "{}", volume(&half));
        // A corner is cut off: the tetrahedron has legs of a length.
        let normal = DVec3::ONE.normalize();
        let cut = block.behind(normal, normal.dot(DVec3::new(1.0, 2.0, 2.0))).unwrap();
        assert!((volume(&cut) - (48.0 - 1.0 / 6.0)).abs() < 1e-9, "{}", volume(&cut));
        assert_eq!(cut.faces().len(), 7);
        assert!(block.behind(DVec3::X, -2.0).is_err());
    }

    #[test]
    fn cells_of_a_lattice_are_cubes() {
        let block = Polyhedron::block([2.0; 3]).unwrap();
        let side = |k: u32, axis: u32| if (k >> axis) & 1 == 1 { 0.5 } else { -0.5 };
        let points: Vec<DVec3> = (0..8).map(|k| DVec3::new(side(k, 0), side(k, 1), side(k, 2))).collect();
        for (cell, point) in block.cells(&points).unwrap().iter().zip(&points) {
            assert_eq!([cell.vertices().len(), cell.edges().len(), cell.faces().len()], [8, 12, 6]);
            assert!((volume(cell) - 1.0).abs() < 1e-9);
            assert!(cell.swept(0.0).unwrap().center.distance(*point) < 1e-9);
        }
    }

    #[test]
    fn cells_fill_the_polyhedron_and_belong_to_their_points() {
        let block = Polyhedron::block([4.0, 2.0, 3.0]).unwrap();
        let slope = block.behind(DVec3::new(1.0, 0.0, 1.0).normalize(), 0.5).unwrap();
        let points = slope.relaxed(&slope.spread_points(60, numbers(3)).unwrap()).unwrap();
        assert_eq!(points.len(), 60);
        let cells = slope.cells(&points).unwrap();
        let sum: f64 = cells.iter().map(volume).sum();
        // Cuts that are left out are shallow: they take less than the cube of their depth, 1e-4 of a size.
        assert!((sum / volume(&slope) - 1.0).abs() < 1e-6, "{sum}");
        for (cell, point) in cells.iter().zip(&points) {
            for vertex in cell.vertices() {
                let nearest = points.iter().map(|other| other.distance(*vertex)).fold(f64::INFINITY, f64::min);
                assert!(point.distance(*vertex) - nearest < 1e-3, "{vertex}");
            }
            assert!(cell.faces().iter().all(|face| face.normal.dot(*point) < face.offset));
        }
    }

    #[test]
    fn relaxed_points_have_cells_of_more_equal_volumes() {
        let block = Polyhedron::block([1.0; 3]).unwrap();
        let spread = |points: &[DVec3]| {
            let volumes: Vec<f64> = block.cells(points).unwrap().iter().map(volume).collect();
            let mean = volumes.iter().sum::<f64>() / volumes.len() as f64;
            volumes.iter().map(|volume| (volume / mean - 1.0).powi(2)).sum::<f64>()
        };
        let points = block.spread_points(40, numbers(1)).unwrap();
        assert_eq!(points, block.spread_points(40, numbers(1)).unwrap());
        let relaxed = (0..4).fold(points.clone(), |points, _| block.relaxed(&points).unwrap());
        assert!(spread(&relaxed) < spread(&points), "{} {}", spread(&relaxed), spread(&points));
    }
}
