//! Signed distances of meshes on regular grids, by which [`Solver::Muller2003`](super::Solver::Muller2003) puts fluid back onto them.

use crate::refusal::WorldError;
use crate::world::{Triangle, Vec3, array, vector};
use seixo_laws::Vector3;
use seixo_sweeps::layout::DISTANCE_GRID;
use seixo_sweeps::muller::SAMPLE_BLOCK;
use std::sync::Arc;

/// Smallest distance of a corner of a mesh from a line through two others, as a share of the distance of these two.
const BESIDE: f64 = 1e-9;

/// Rounding of lengths in spacings of a grid.
const ROUNDING: f64 = 1e-9;

/// The surfaces of mesh walls as signed distances.
///
/// ```
/// use seixo_engine::world::SignedDistances;
/// // A floor of one triangle at z = 0, with the fluid above it.
/// let floor = [[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]];
/// let mut distances = SignedDistances::default();
/// distances.add(vec![0], &floor, [[0.0, 0.0, -0.5], [1.0, 1.0, 0.5]], 0.25, |at| at[2]).unwrap();
/// assert_eq!(distances.walls().collect::<Vec<_>>(), [0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SignedDistances {
    grids: Vec<DistanceGrid>,
    /// Signed distances of all grids \[m\]; along x first, then y, then z.
    samples: Arc<Vec<f64>>,
}

/// A regular grid around a mesh.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DistanceGrid {
    /// The walls of which the surface is made.
    walls: Vec<u32>,
    /// Three corners of the mesh of the first wall, in the order of its triangles, that are not on a line.
    corners: [usize; 3],
    /// Their positions at time zero \[m\].
    start: [Vector3<f64>; 3],
    /// The corner of the grid with the lowest indices, at time zero \[m\].
    low: Vector3<f64>,
    /// Distance of samples \[m\].
    spacing: f64,
    /// Number of samples along the axes.
    counts: [u32; 3],
    /// Number of its first block of samples, see [`SAMPLE_BLOCK`].
    block: usize,
    /// Distance of points outside of the grid, its largest one \[m\].
    farthest: f64,
}

/// Three corners that are not on a line: the first, the farthest from it, and the farthest from the line through both.
fn three_of(corners: &[Vector3<f64>]) -> Option<[usize; 3]> {
    let farthest = |measure: &dyn Fn(&Vector3<f64>) -> f64| {
        let measured = corners.iter().map(measure).enumerate();
        measured.max_by(|one, other| one.1.total_cmp(&other.1))
    };
    let from = corners.first()?;
    let (second, length) = farthest(&|corner| corner.minus(from).length())?;
    let along = corners[second].minus(from);
    let (third, area) = farthest(&|corner| along.cross(&corner.minus(from)).length())?;
    (area > BESIDE * length * length).then_some([0, second, third])
}

/// Unit vectors that three points define: from the first to the second, the normal of their plane, and the normal of both.
fn frame(points: &[Vector3<f64>; 3]) -> [Vector3<f64>; 3] {
    let unit = |v: Vector3<f64>| v.times(1.0 / v.length());
    let along = unit(points[1].minus(&points[0]));
    let normal = unit(along.cross(&points[2].minus(&points[0])));
    let across = normal.cross(&along);
    [along, normal, across]
}

impl SignedDistances {
    /// Largest number of samples of all grids: half a gibibyte in double precision.
    pub const MAX_SAMPLES: usize = 1 << 26;

    /// Adds the surface of one or several walls, which move, appear and vanish together. The grid covers a box with these corners \[m\] at time
    /// zero, with samples of `distance` \[m\] this `spacing` \[m\] apart. Distances are positive on the side of the fluid and beyond a rim. `mesh`
    /// are the triangles of the first of the walls.
    ///
    /// # Errors
    /// If the samples are more than [`MAX_SAMPLES`](Self::MAX_SAMPLES), if there is no wall, or if the corners of the mesh are on a line, so that
    /// they show no rotation.
    pub fn add(
        &mut self,
        walls: Vec<u32>,
        mesh: &[Triangle],
        bounds: [Vec3; 2],
        spacing: f64,
        distance: impl Fn(Vec3) -> f64,
    ) -> Result<(), WorldError> {
        let refuse = |what: String| Err(WorldError::Fluid(what));
        let corners: Vec<Vector3<f64>> = mesh.iter().flatten().map(|corner| vector(*corner)).collect();
        let Some(three) = three_of(&corners).filter(|_| !walls.is_empty()) else {
            return refuse("a mesh that contains fluid has no triangle with an area; give it one".to_owned());
        };
        let [low, high] = bounds;
        let counts = [0, 1, 2].map(|axis| ((high[axis] - low[axis]) / spacing - ROUNDING).ceil().max(1.0) + 1.0);
        let needed = counts.into_iter().product::<f64>();
        let is_possible = needed + (self.samples.len() + SAMPLE_BLOCK) as f64 <= Self::MAX_SAMPLES as f64;
        if !is_possible {
            return refuse(format!(
                "a mesh that contains fluid needs {needed:.4e} samples of its distance, {spacing:e} m apart; all meshes together may have {}: use a \
                 larger spacing",
                Self::MAX_SAMPLES
            ));
        }
        let counts = counts.map(|count| count as u32);
        let samples = Arc::make_mut(&mut self.samples);
        let first = samples.len().next_multiple_of(SAMPLE_BLOCK);
        samples.resize(first, 0.0);
        for k in 0..counts[2] {
            for j in 0..counts[1] {
                for i in 0..counts[0] {
                    let at = [0, 1, 2].map(|axis| low[axis] + f64::from([i, j, k][axis]) * spacing);
                    samples.push(distance(at));
                }
            }
        }
        let farthest = samples[first..].iter().copied().fold(spacing, f64::max);
        self.grids.push(DistanceGrid {
            walls,
            corners: three,
            start: three.map(|corner| corners[corner]),
            low: vector(low),
            spacing,
            counts,
            block: first / SAMPLE_BLOCK,
            farthest,
        });
        Ok(())
    }

    /// The walls that have a surface.
    pub fn walls(&self) -> impl Iterator<Item = u32> + '_ {
        self.grids.iter().flat_map(|grid| grid.walls.iter().copied())
    }

    /// The grids, in the order in which they were added.
    pub(crate) fn grids(&self) -> &[DistanceGrid] {
        &self.grids
    }

    /// Signed distances of all grids \[m\].
    pub(crate) fn samples(&self) -> &Arc<Vec<f64>> {
        &self.samples
    }
}

impl DistanceGrid {
    /// The wall that leads the others.
    pub fn wall(&self) -> usize {
        self.walls[0] as usize
    }

    /// The corners of the mesh of this wall that show its pose, in the order of its triangles.
    pub fn corners(&self) -> [usize; 3] {
        self.corners
    }

    /// The first ten numbers of its container element while these corners are at some positions \[m\], see
    /// [`CONTAINER_ELEMENT`](seixo_sweeps::muller::CONTAINER_ELEMENT).
    pub fn placed(&self, now: &[Vector3<f64>; 3]) -> [f64; 10] {
        let (then, there) = (frame(&self.start), frame(now));
        let turned = |v: &Vector3<f64>| {
            let parts = then.iter().zip(&there).map(|(then, there)| there.times(then.dot(v)));
            parts.fold(Vector3::zero(), |sum, part| sum.plus(&part))
        };
        let low = array(&turned(&self.low.minus(&self.start[0])).plus(&now[0]));
        let [axis_x, axis_y] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|axis| array(&turned(&vector(axis))));
        let mut numbers = [f64::from(DISTANCE_GRID); 10];
        numbers[..9].copy_from_slice([low, axis_x, axis_y].as_flattened());
        numbers
    }

    /// The numbers of its container element that describe its samples.
    pub fn layout(&self) -> [f64; 6] {
        let [along_x, along_y, along_z] = self.counts.map(f64::from);
        [self.spacing, self.block as f64, along_x, along_y, along_z, self.farthest]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_laws::wall::rotated;
    use seixo_sweeps::muller::{CONTAINER_ELEMENT, container_surface_point};

    #[test]
    fn a_grid_turns_and_moves_with_its_mesh() {
        let mesh = [
            [[0.3, 0.0, 0.0], [0.3, 0.0, 1e-3], [0.3, 2.0, 0.0]],
            [[0.3, 0.0, 0.0], [0.3, 2.0, 0.0], [1.3, 0.5, 0.0]],
        ];
        let mut distances = SignedDistances::default();
        let bounds = [[-0.5, -0.4, -0.3], [1.0, 2.0, 1.0]];
        distances.add(vec![3], &mesh, bounds, 0.5, |at| at[2]).unwrap();
        let grid = &distances.grids()[0];
        let (axis, through, shift) = (vector([0.6, 0.0, 0.8]), vector([0.1, 0.2, 0.3]), vector([5.0, -7.0, 2.0]));
        let (sin, cos) = 0.7f64.sin_cos();
        let turned = |v: &Vector3<f64>| rotated(v, &axis, cos, sin);
        let moved = |at: &Vector3<f64>| turned(&at.minus(&through)).plus(&through).plus(&shift);
        let corners: Vec<Vector3<f64>> = mesh.iter().flatten().map(|corner| vector(*corner)).collect();
        let numbers = grid.placed(&grid.corners().map(|corner| moved(&corners[corner])));
        let expected = [
            moved(&vector(bounds[0])),
            turned(&vector([1.0, 0.0, 0.0])),
            turned(&vector([0.0, 1.0, 0.0])),
        ];
        for (found, expected) in numbers[..9].chunks_exact(3).zip(expected) {
            assert!(
                vector([found[0], found[1], found[2]]).minus(&expected).length() < 1e-14 * 20.0,
                "{numbers:?}"
            );
        }
    }

    /// Largest errors of the distance \[m\] and direction of points near a sphere of this radius, from samples `apart`.
    fn errors(radius: f64, apart: f64) -> [f64; 2] {
        let mesh = [[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]];
        let mut distances = SignedDistances::default();
        let reach = 1.2 * radius;
        let of_sphere = |at: Vec3| radius - vector(at).length();
        distances.add(vec![0], &mesh, [[-reach; 3], [reach; 3]], apart, of_sphere).unwrap();
        let grid = &distances.grids()[0];
        let mut element = grid.placed(&grid.start).to_vec();
        element.extend([1.0, 0.0]);
        element.extend([0.0; 9]);
        element.extend(grid.layout());
        element.push(0.0);
        assert_eq!(element.len(), CONTAINER_ELEMENT);
        let mut most = [0.0f64; 2];
        for k in 0..4000 {
            // Evenly distributed over a block (the sequence R3, [Roberts 2018]).
            let [x, y, z] = [0.819_172_513_396, 0.671_043_606_704, 0.549_700_477_902].map(|step| 2.0 * (f64::from(k) * step).fract() - 1.0);
            let at = vector([x, y, z]).times(1.1 * radius);
            let off = at.length();
            if (off - radius).abs() < 0.1 * radius {
                let found = container_surface_point::<f64, f64>(&at, &element, 0, distances.samples(), true);
                let inward = at.times(-1.0 / off);
                most[0] = most[0].max((found.distance - (radius - off)).abs());
                most[1] = most[1].max(found.normal.minus(&inward).length());
            }
        }
        most
    }

    #[test]
    fn interpolated_distances_converge_with_the_square_of_the_spacing_and_normals_with_it() {
        let radius = 0.1;
        let [coarse, fine] = [0.01, 0.005].map(|apart| errors(radius, apart));
        // The error of a trilinear interpolation is at most h²/8 times the sum of the second derivatives, here 2/r with r from 0.9 R on, more where
        // these change in a cell.
        assert!(coarse[0] < 1.2 * 0.01 * 0.01 / (4.0 * 0.9 * radius), "{coarse:?}");
        assert!((3.0..5.0).contains(&(coarse[0] / fine[0])), "{coarse:?} {fine:?}");
        assert!((1.6..2.5).contains(&(coarse[1] / fine[1])), "{coarse:?} {fine:?}");
        // A normal is off by half a spacing over the radius along each axis.
        assert!(coarse[1] < 0.01 / radius, "{coarse:?}");
    }

    #[test]
    fn a_mesh_without_area_and_one_with_too_many_samples_are_refused() {
        let mut distances = SignedDistances::default();
        let line = [[[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]];
        let flat = distances.add(vec![0], &line, [[0.0; 3], [1.0; 3]], 0.1, |_| 1.0).unwrap_err();
        assert!(flat.to_string().contains("no triangle with an area"), "{flat}");
        let floor = [[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]];
        let fine = distances.add(vec![0], &floor, [[0.0; 3], [1.0; 3]], 1e-3, |_| 1.0).unwrap_err();
        assert!(
            fine.to_string().contains("1.0030e9 samples") && fine.to_string().contains("larger spacing"),
            "{fine}"
        );
        assert_eq!(distances, SignedDistances::default());
    }
}
