//! Convex polyhedra: the smallest around points or meshes, their vertices, edges and faces, and their solids with rounded edges.
//!
//! ```
//! use glam::DVec3;
//! use seixo_analysis::Polyhedron;
//!
//! let corners = (0..8).map(|k| DVec3::new(f64::from(k & 1), f64::from((k >> 1) & 1), f64::from(k >> 2)));
//! let cube = Polyhedron::around(&corners.collect::<Vec<_>>()).unwrap();
//! assert_eq!([cube.vertices().len(), cube.edges().len(), cube.faces().len()], [8, 12, 6]);
//! // Swept by a sphere of radius r, it has the volume 1 + 6 r + 3 π r² + 4/3 π r³.
//! let (solid, pi) = (cube.swept(0.1).unwrap(), std::f64::consts::PI);
//! assert!((solid.volume - (1.6 + 0.03 * pi + 0.004 / 3.0 * pi)).abs() < 1e-13);
//! ```

mod clipped;
mod convex;
mod convex_parts;
mod crossing;
mod cut;
mod faces;
mod shape;
mod shape_solid;
mod simplified;
mod solids;
mod surface;
mod swept;
mod tessellation;
mod union;

pub use convex_parts::{ConvexParts, Outside};
pub use shape::{GrainShape, grain_shape_of_parts};
pub(crate) use shape_solid::ShapeSolid;
pub use surface::ShapeSurface;
pub use union::solid_of_parts;

use crate::solid::{Solid, solid_of_mesh};
use glam::DVec3;
use seixo_engine::voxels::{Edges, NonManifoldEdge};
use seixo_engine::world::{Triangle, Vec3};

/// Distances below this share of the size of a polyhedron are those of one point or one plane. Coordinates of STL files have seven digits.
const RESOLUTION: f64 = 1e-6;
/// Smallest thickness over size.
const THINNEST: f64 = 1e-4;
/// Smallest and largest size, in lengths: squares of moments of inertia, which are tenth powers of it, must be numbers.
const SMALLEST: f64 = 1e-20;
const LARGEST: f64 = 1e20;
/// Largest number of vertices or edges.
const MOST_FEATURES: usize = 32_767;

/// Points or a mesh that make no polyhedron, or a rounding radius that does not fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PolyhedronError {
    /// A coordinate is not a number.
    #[error("point {point} has a coordinate that is infinite or not a number; remove the point")]
    NotFinite {
        /// Index of the point.
        point: usize,
    },
    /// There are too few points.
    #[error("{points} different points make no polyhedron; the limit is 4; add points, or use a point or a segment")]
    TooFewPoints {
        /// Number of different points.
        points: usize,
    },
    /// All points are near a plane.
    #[error(
        "the points are flat: {thickness:.3e} thick and {size:.3e} wide; at least {THINNEST:e} of the width is needed; make it thicker"
    )]
    Flat {
        /// Thickness, in lengths.
        thickness: f64,
        /// Largest width along an axis, in lengths.
        size: f64,
    },
    /// The size is beyond what moments of inertia in double precision can have.
    #[error("the size is {size:.3e} lengths; it must be from {SMALLEST:e} to {LARGEST:e}; use another unit")]
    Size {
        /// Largest width, in lengths.
        size: f64,
    },
    /// Details are smaller than the resolution.
    #[error("some vertices or faces are smaller than {RESOLUTION:e} of the size and cannot be resolved; remove them or simplify the mesh")]
    Unresolved,
    /// There are more features than fit.
    #[error("{vertices} vertices and {edges} edges; the limit is {MOST_FEATURES} of each; simplify the mesh")]
    TooManyFeatures {
        /// Number of vertices.
        vertices: usize,
        /// Number of edges.
        edges: usize,
    },
    /// The mesh has open edges.
    #[error("the mesh is open at {count} edges, the first from {:?} to {:?}; close it", first[0], first[1])]
    Open {
        /// Number of open edges.
        count: usize,
        /// Ends of the first one.
        first: [Vec3; 2],
    },
    /// Neighboring triangles face different sides.
    #[error("triangles face different sides at {count} edges, the first from {:?} to {:?}; turn them", first[0], first[1])]
    Turned {
        /// Number of such edges.
        count: usize,
        /// Ends of the first one.
        first: [Vec3; 2],
    },
    /// More than two triangles have a common edge.
    #[error("more than two triangles meet at {count} edges, the first from {:?} to {:?}; split the mesh there", first[0], first[1])]
    Branched {
        /// Number of such edges.
        count: usize,
        /// Ends of the first one.
        first: [Vec3; 2],
    },
    /// Triangles cross each other.
    #[error("the mesh crosses itself: triangles {} and {}; repair it", triangles[0], triangles[1])]
    CrossesItself {
        /// Indices of two triangles that cross.
        triangles: [usize; 2],
    },
    /// The mesh encloses no volume.
    #[error("the volume is {volume:.3e} in a box of size {size:.3e}; it must be larger; check the mesh")]
    NoVolume {
        /// Enclosed volume, in lengths³.
        volume: f64,
        /// Largest width along an axis, in lengths.
        size: f64,
    },
    /// A simplified polyhedron shall have too few faces.
    #[error("{faces} faces enclose nothing; the limit is 4; allow more faces")]
    TooFewFaces {
        /// Wanted number of faces.
        faces: usize,
    },
    /// Planes leave a direction open, so they enclose no volume.
    #[error("the planes enclose nothing, because they leave a direction open; use more planes")]
    Unbounded,
    /// The rounding radius is negative, too large or not a number.
    #[error("the rounding radius is {radius:.3e}; it must be from {least:.3e} to {most:.3e}; choose another one")]
    RoundingRadius {
        /// The radius, in lengths.
        radius: f64,
        /// Smallest radius, in lengths.
        least: f64,
        /// Largest radius, in lengths.
        most: f64,
    },
}

/// A face of a convex polyhedron.
#[derive(Clone, Debug, PartialEq)]
pub struct PolyhedronFace {
    /// Outward unit normal.
    pub normal: DVec3,
    /// Distance of its plane from the origin along the normal, in lengths.
    pub offset: f64,
    /// Indices of its vertices, counterclockwise seen from outside.
    pub vertices: Vec<u32>,
}

/// An edge of a convex polyhedron.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolyhedronEdge {
    /// Indices of its ends.
    pub ends: [u32; 2],
    /// Indices of its faces: first the one whose loop has the ends in this order, then the one with the other order. `None` for a segment.
    pub faces: Option<[u32; 2]>,
}

/// A convex polyhedron, a segment or a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Polyhedron {
    vertices: Vec<DVec3>,
    edges: Vec<PolyhedronEdge>,
    faces: Vec<PolyhedronFace>,
}

impl Polyhedron {
    /// A single point, the core of a sphere.
    pub fn point(at: DVec3) -> Polyhedron {
        Polyhedron {
            vertices: vec![at],
            edges: Vec::new(),
            faces: Vec::new(),
        }
    }

    /// A segment, the core of a capsule.
    pub fn segment(ends: [DVec3; 2]) -> Polyhedron {
        Polyhedron {
            vertices: ends.to_vec(),
            edges: vec![PolyhedronEdge { ends: [0, 1], faces: None }],
            faces: Vec::new(),
        }
    }

    /// The smallest convex polyhedron that contains these points (their convex `hull`). Points nearer to each other than 10⁻⁶ of the size are one, and
    /// triangles nearer to one plane than this are one face. Which points are vertices is decided without rounding errors.
    ///
    /// # Errors
    /// If a coordinate is not finite, if the points are too few or flat, or if there are more vertices or edges than fit.
    pub fn around(points: &[DVec3]) -> Result<Polyhedron, PolyhedronError> {
        if let Some(point) = points.iter().position(|point| !point.is_finite()) {
            return Err(PolyhedronError::NotFinite { point });
        }
        let size = size_of(points.iter().copied());
        let places = convex::welded(points, RESOLUTION * size);
        let triangles = convex::triangles_around(&places, size)?;
        faces::polyhedron(&places, &triangles, RESOLUTION * size)
    }

    /// The smallest convex polyhedron that contains a closed mesh, after checks of the mesh. It may face inward as a whole.
    ///
    /// # Errors
    /// If the mesh is open, branched, crosses itself or encloses no volume, if triangles face different sides, if it is below 10⁻²⁰ or above 10²⁰ lengths
    /// wide, or as [`Polyhedron::around`].
    pub fn around_mesh(mesh: &[Triangle]) -> Result<Polyhedron, PolyhedronError> {
        let corners: Vec<DVec3> = mesh.iter().flatten().map(|&corner| DVec3::from(corner)).collect();
        if let Some(point) = corners.iter().position(|corner| !corner.is_finite()) {
            return Err(PolyhedronError::NotFinite { point });
        }
        let size = size_of(corners.iter().copied());
        // What has no size has too few points.
        if size > 0.0 {
            check_size(size)?;
        }
        check_edges(&Edges::of(mesh))?;
        let volume = solid_of_mesh(mesh).volume.abs();
        let polyhedron = Polyhedron::around(&corners)?;
        // The comparison fails for a volume that is not a number, too.
        let has_volume = volume > RESOLUTION * THINNEST * size.powi(3);
        if !has_volume {
            return Err(PolyhedronError::NoVolume { volume, size });
        }
        match crossing::first_crossing(mesh) {
            Some(triangles) => Err(PolyhedronError::CrossesItself { triangles }),
            None => Ok(polyhedron),
        }
    }

    /// Vertices, in lengths.
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// Edges, each once.
    pub fn edges(&self) -> &[PolyhedronEdge] {
        &self.edges
    }

    /// Faces; none of a segment or a point.
    pub fn faces(&self) -> &[PolyhedronFace] {
        &self.faces
    }

    /// Its surface as triangles, outward.
    pub fn triangles(&self) -> Vec<Triangle> {
        let place = |vertex: u32| self.vertices[vertex as usize].to_array();
        let fan = |face: &PolyhedronFace| -> Vec<Triangle> {
            let pairs = face.vertices.windows(2).skip(1);
            pairs
                .map(|pair| [place(face.vertices[0]), place(pair[0]), place(pair[1])])
                .collect()
        };
        self.faces.iter().flat_map(fan).collect()
    }

    /// The solid of all points that are at most `radius` away from it, in lengths; exact but for rounding.
    ///
    /// # Errors
    /// If the radius is negative or not a number, or larger than the distance of the farthest vertex from the center. A segment or a point needs a
    /// radius above zero, and has no largest one. If the solid is below 10⁻²⁰ or above 10²⁰ lengths wide.
    pub fn swept(&self, radius: f64) -> Result<Solid, PolyhedronError> {
        let middle = self.vertices.iter().sum::<DVec3>() / self.vertices.len() as f64;
        let (least, most) = if self.faces.is_empty() {
            (f64::MIN_POSITIVE, f64::MAX)
        } else {
            let reach = self.vertices.iter().map(|vertex| vertex.distance(middle)).fold(0.0, f64::max);
            (0.0, reach)
        };
        if !(least..=most).contains(&radius) {
            return Err(PolyhedronError::RoundingRadius { radius, least, most });
        }
        check_size(size_of(self.vertices.iter().copied()) + 2.0 * radius)?;
        Ok(swept::solid(self, middle, radius))
    }
}

/// Largest width along an axis.
fn size_of(points: impl Iterator<Item = DVec3>) -> f64 {
    let unbounded = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = points.fold(unbounded, |(low, high), point| (low.min(point), high.max(point)));
    (high - low).max_element().max(0.0)
}

fn check_size(size: f64) -> Result<(), PolyhedronError> {
    if (SMALLEST..=LARGEST).contains(&size) {
        Ok(())
    } else {
        Err(PolyhedronError::Size { size })
    }
}

fn check_edges(edges: &Edges) -> Result<(), PolyhedronError> {
    let ends = |edge: Option<NonManifoldEdge>| edge.map_or([[0.0; 3]; 2], |edge| edge.ends);
    if edges.open > 0 {
        let (count, first) = (edges.open, ends(edges.first_open));
        return Err(PolyhedronError::Open { count, first });
    }
    if edges.has_too_many_faces > 0 {
        let (count, first) = (edges.has_too_many_faces, ends(edges.first_with_too_many_faces));
        return Err(PolyhedronError::Branched { count, first });
    }
    if edges.turned > 0 {
        let (count, first) = (edges.turned, ends(edges.first_turned));
        return Err(PolyhedronError::Turned { count, first });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
