//! Free surfaces of fluids: where the share of the surroundings that particles fill falls to what it is at a flat surface.
//!
//! The share is Σ_j V_j W (the color field of \[Müller 2003\], with V_j = 1/Σ_k W_jk), with a cubic spline for W, and it is cut by
//! marching cubes: the crate `splashsurf_lib` does both \[Löschner 2023\]. The
//! mesh is smoothed by Taubin's filter \[Taubin 1995\], which keeps volumes. All
//! is computed in spacings, in one order: the same particles give the same bits. At periodic sides the surface ends, and fits to its image.

mod sides;

use glam::DVec3;
use seixo_engine::PeriodicCell;
use seixo_engine::state::FluidSnapshot;
use sides::Sides;
use splashsurf_lib::kernel::{CubicSplineKernel, SymmetricKernel3d};
use splashsurf_lib::nalgebra::{SVector, Vector3};
use splashsurf_lib::sph_interpolation::SphInterpolator;
use splashsurf_lib::{Parameters, SpatialDecomposition, reconstruct_surface};
use std::collections::BTreeSet;
use std::error::Error;
use std::ops::RangeInclusive;

/// Taubin's two steps: one shrinks, one swells. What is longer than some nine edges of triangles stays (1/0.6307 − 1/0.6732 = 0.1).
const STEPS: [f64; 2] = [0.6307, -0.6732];

/// How a surface is found; lengths are in spacings, the distances of particles at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceOptions {
    /// Smoothing length, half of the support of W: the larger, the smoother, and the fewer drops.
    pub smoothing_length: f64,
    /// Edge of the cubes: the smaller, the more triangles.
    pub cube_size: f64,
    /// Share of the surroundings that is filled at the surface; `None` = what puts a flat surface half a spacing above the outermost particles,
    /// where the fluid that they stand for ends.
    pub threshold: Option<f64>,
    /// How often the mesh is smoothed. Drops of few particles are left as they are.
    pub smoothing: u32,
}

impl Default for SurfaceOptions {
    fn default() -> Self {
        SurfaceOptions {
            smoothing_length: 1.0,
            cube_size: 0.5,
            threshold: None,
            smoothing: 10,
        }
    }
}

/// Why there is no surface.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurfaceError {
    /// An option that is out of its limits.
    #[error("the {name} is {value}, must be {} to {}; {remedy}", .range.start(), .range.end())]
    Option {
        /// Which.
        name: &'static str,
        /// What was asked for.
        value: f64,
        /// What is accepted.
        range: RangeInclusive<f64>,
        /// What to do, and why.
        remedy: &'static str,
    },
    /// A particle that is nowhere.
    #[error("particle {id} is at {position:?}, which is no place; the file was damaged, run the scene again")]
    Nowhere {
        /// Its id.
        id: u32,
        /// Its place \[m\].
        position: [f64; 3],
    },
    /// Particles too far apart for one grid.
    #[error(
        "no grid holds all particles of fluid {fluid}: {cause}; choose larger cubes, or have strays taken away: \
         leaving = \"delete\" in [world.domain]"
    )]
    TooFar {
        /// Index of the fluid.
        fluid: u32,
        /// What the grid says.
        cause: String,
    },
}

impl SurfaceOptions {
    fn check(&self) -> Result<(), SurfaceError> {
        let within = |name: &'static str, value: f64, range: RangeInclusive<f64>, remedy: &'static str| {
            if range.contains(&value) {
                Ok(())
            } else {
                Err(SurfaceError::Option {
                    name,
                    value,
                    range,
                    remedy,
                })
            }
        };
        let smoother = "below there are holes between particles, above drops and sheets are lost";
        within("smoothing length in spacings", self.smoothing_length, 0.8..=4.0, smoother)?;
        let cubes = "larger cubes lose drops, smaller ones show nothing more; 0.5 is usual";
        within("size of cubes in spacings", self.cube_size, 0.1..=1.0, cubes)?;
        let share = "leave it out for the share at a flat surface";
        within("threshold", self.threshold.unwrap_or(0.5), 0.05..=0.95, share)?;
        let rounds = "10 take away what is as small as particles";
        within("number of smoothings", f64::from(self.smoothing), 0.0..=200.0, rounds)
    }
}

/// Surfaces of all fluids of a snapshot, closed but for periodic sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FreeSurface {
    /// The vertices: their places, of which fluid they are, and what is carried over from particles within the support: the mean, weighted by V W,
    /// which is that of the fluid some half a spacing inside. Ids count vertices.
    pub vertices: FluidSnapshot,
    /// Unit normals at the vertices, out of the fluid.
    pub normals: Vec<[f64; 3]>,
    /// Vertices of each triangle, counterclockwise as seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// The axes at whose sides it ends.
    pub periodic: [bool; 3],
}

impl FreeSurface {
    /// How many vertices and triangles the surface of a fluid has.
    pub fn count_of(&self, fluid: u32) -> [usize; 2] {
        let vertices = self.vertices.kind.iter().filter(|&&kind| kind == fluid);
        [vertices.count(), self.triangles_of(fluid).count()]
    }

    /// The volume that the surface of a fluid encloses, with the sides at which it ends \[m³\]; not a number where all sides are periodic: then its
    /// inside has no end.
    pub fn volume_of(&self, fluid: u32) -> f64 {
        let corner = |vertex: u32| DVec3::from(self.vertices.position[vertex as usize]);
        // From a point of the surface, so that nothing large cancels.
        let origin = self.triangles_of(fluid).next().map_or(DVec3::ZERO, |triangle| corner(triangle[0]));
        let Some(open) = (0..3).find(|&axis| !self.periodic[axis]) else {
            return f64::NAN;
        };
        let six_fold = self.triangles_of(fluid).map(|triangle| {
            let [a, b, c] = triangle.map(|vertex| corner(vertex) - origin);
            if self.periodic == [false; 3] {
                a.dot(b.cross(c))
            } else {
                // By the flux of a field along an axis, which goes through no side where the surface ends.
                (a + b + c)[open] * (b - a).cross(c - a)[open]
            }
        });
        six_fold.sum::<f64>() / 6.0
    }

    fn triangles_of(&self, fluid: u32) -> impl Iterator<Item = [u32; 3]> {
        let triangles = self.triangles.iter().copied();
        triangles.filter(move |triangle| self.vertices.kind[triangle[0] as usize] == fluid)
    }
}

/// The free surfaces of the fluids of a snapshot whose particles keep this distance at rest \[m\] in such a cell, each by itself, in the order of their
/// indices. What is beyond a periodic side counts, and the surface ends there; vertices at opposite sides are a length of the cell apart.
///
/// # Errors
/// If an option is out of its limits, a particle nowhere, or all too far apart.
pub fn free_surface(
    fluids: &FluidSnapshot,
    spacing: f64,
    cell: &PeriodicCell,
    options: &SurfaceOptions,
) -> Result<FreeSurface, SurfaceError> {
    options.check()?;
    if let Some(lost) = fluids.position.iter().position(|place| !place.iter().all(|x| x.is_finite())) {
        return Err(SurfaceError::Nowhere {
            id: fluids.id[lost],
            position: fluids.position[lost],
        });
    }
    let sides = Sides::new(cell, spacing, options.cube_size);
    let mut surface = FreeSurface {
        periodic: sides.periodic(),
        ..FreeSurface::default()
    };
    let kinds: BTreeSet<u32> = fluids.kind.iter().copied().collect();
    for kind in kinds {
        let members: Vec<usize> = (0..fluids.kind.len()).filter(|&i| fluids.kind[i] == kind).collect();
        surface.add(fluids, (kind, &members), &sides, options)?;
    }
    surface.vertices.id = (0..surface.vertices.position.len() as u32).collect();
    Ok(surface)
}

impl FreeSurface {
    /// Adds the surface of a fluid that has these particles.
    fn add(
        &mut self,
        fluids: &FluidSnapshot,
        (fluid, members): (u32, &[usize]),
        sides: &Sides,
        options: &SurfaceOptions,
    ) -> Result<(), SurfaceError> {
        let support = 2.0 * options.smoothing_length;
        let flat = Flat::new(support);
        // A vertex sees particles, and of each of these the surroundings.
        let seen = |&i: &usize| sides.images(fluids.position[i], 2.0 * support).map(move |place| (place, i));
        let (places, member_of): (Vec<Vector3<f64>>, Vec<usize>) = members.iter().flat_map(seen).unzip();
        let mut parameters = Parameters::new(0.5, support, options.cube_size);
        parameters.rest_density = 1.0;
        parameters.iso_surface_threshold = options.threshold.unwrap_or(flat.share_above);
        // One thread sums up in one order, and single precision would not be the same on all machines.
        parameters.enable_multi_threading = false;
        parameters.enable_simd = false;
        parameters.spatial_decomposition = SpatialDecomposition::None;
        let found = reconstruct_surface::<i64, f64>(&places, &parameters).map_err(|error| SurfaceError::TooFar {
            fluid,
            cause: with_causes(&error),
        })?;
        // Of particles with the mass 1 they are the shares of the surroundings that are filled.
        let shares = found.particle_densities.unwrap_or_default();
        let (mut vertices, triangles) = sides.cut(found.mesh.vertices, found.mesh.triangles);
        let firsts = sides.firsts(&vertices);
        let around = SphInterpolator::new(&places, &shares, 1.0, support);
        if options.smoothing > 0 {
            let shares = around.interpolate_scalar_quantity(&shares, &vertices, true);
            let weights: Vec<f64> = shares.iter().map(|&share| flat.weight(share)).collect();
            for _ in 0..options.smoothing {
                STEPS
                    .into_iter()
                    .for_each(|step| smooth(&mut vertices, &triangles, &firsts, &weights, step));
            }
        }
        let carried: Vec<SVector<f64, 5>> = member_of
            .iter()
            .map(|&i| {
                let [x, y, z] = fluids.velocity[i];
                SVector::<f64, 5>::from([x, y, z, fluids.density[i], fluids.pressure[i]])
            })
            .collect();
        for values in around.interpolate_vector_quantity(&carried, &vertices, true) {
            self.vertices.velocity.push([values[0], values[1], values[2]]);
            self.vertices.density.push(values[3]);
            self.vertices.pressure.push(values[4]);
        }
        let first = self.vertices.position.len() as u32;
        self.normals.extend(normals(&vertices, &triangles, &firsts));
        self.vertices.kind.extend(vertices.iter().map(|_| fluid));
        self.vertices.position.extend(vertices.iter().map(|vertex| sides.place(vertex)));
        self.triangles
            .extend(triangles.iter().map(|triangle| triangle.map(|vertex| first + vertex as u32)));
        Ok(())
    }
}

/// What a fluid is like that fills the half-space below a flat surface, with its particles on a lattice.
struct Flat {
    /// Share of the surroundings that is filled half a spacing above the outermost particles, in the mean.
    share_above: f64,
    /// The share around an outermost particle.
    share_around: f64,
    /// The share around a particle that is alone.
    share_alone: f64,
}

impl Flat {
    /// With a W that reaches this far \[spacings\].
    fn new(support: f64) -> Flat {
        /// Places along each side of a square of the lattice, over which the mean goes.
        const SAMPLES: u32 = 4;
        let kernel = CubicSplineKernel::new(support);
        let reach = support.ceil() as i32;
        // Sum of W over a layer, at a place in a square and a height above it.
        let layer = |[x, y]: [f64; 2], height: f64| {
            let mut sum = 0.0;
            for row in -reach..=reach + 1 {
                for column in -reach..=reach + 1 {
                    sum += kernel.evaluate(DVec3::new(x - f64::from(row), y - f64::from(column), height).length());
                }
            }
            sum
        };
        // Around a particle that has this many layers above it.
        let share = |depth: i32| (-depth..=reach).map(|down| layer([0.0; 2], f64::from(down))).sum::<f64>();
        let above = |place: [f64; 2]| {
            let layers = (0..=reach).map(|depth| layer(place, 0.5 + f64::from(depth)) / share(depth));
            layers.sum::<f64>()
        };
        let samples = || (0..SAMPLES).map(|k| (f64::from(k) + 0.5) / f64::from(SAMPLES));
        let squares = samples().flat_map(|x| samples().map(move |y| [x, y]));
        Flat {
            share_above: squares.map(above).sum::<f64>() / f64::from(SAMPLES * SAMPLES),
            share_around: share(0),
            share_alone: kernel.evaluate(0.0),
        }
    }

    /// How much a vertex is smoothed where particles have this share: not at all on one that is alone and would shrink, fully on a flat surface.
    fn weight(&self, share: f64) -> f64 {
        ((share - self.share_alone) / (self.share_around - self.share_alone)).clamp(0.0, 1.0)
    }
}

/// Moves every vertex towards the mean of those that it has an edge to, by `step` of the way times its weight; away from it where that is negative.
/// Those that are one, by the first of them, move as one.
fn smooth(vertices: &mut [Vector3<f64>], triangles: &[[usize; 3]], firsts: &[usize], weights: &[f64], step: f64) {
    let mut sums = vec![(Vector3::<f64>::zeros(), 0.0); vertices.len()];
    // In a closed surface each edge starts once at either end.
    for &[a, b, c] in triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let first = firsts[from];
            sums[first].0 += vertices[to] + (vertices[first] - vertices[from]);
            sums[first].1 += 1.0;
        }
    }
    let shift = |first: usize| {
        let (sum, count) = sums[first];
        if count > 0.0 {
            (sum / count - vertices[first]) * (step * weights[first])
        } else {
            Vector3::zeros()
        }
    };
    let shifts: Vec<Vector3<f64>> = (0..vertices.len()).map(shift).collect();
    for (vertex, &first) in vertices.iter_mut().zip(firsts) {
        *vertex += shifts[first];
    }
}

/// Unit normals at the vertices: the mean of those of triangles by their areas. Those that are one, by the first of them, have the same.
fn normals(vertices: &[Vector3<f64>], triangles: &[[usize; 3]], firsts: &[usize]) -> Vec<[f64; 3]> {
    let mut sums = vec![Vector3::<f64>::zeros(); vertices.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| vertices[vertex]);
        let double_area: Vector3<f64> = (b - a).cross(&(c - a));
        triangle.iter().for_each(|&vertex| sums[firsts[vertex]] += double_area);
    }
    let unit = |&first: &usize| {
        let sum = sums[first];
        DVec3::new(sum[0], sum[1], sum[2]).normalize_or_zero().to_array()
    };
    firsts.iter().map(unit).collect()
}

/// What an error says, and what the ones behind it say.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text += &format!(": {cause}");
        next = cause.source();
    }
    text
}
