//! Bodies of \[Silva 2010\]: equal spheres on a lattice, on the surface of a solid.

use super::super::super::Failure;
use crate::terminal;
use seixo_analysis::{Solid, solid_of_apart};
use seixo_engine::voxels::VoxelFilling;
use seixo_engine::world::{Body, DeviceChoice, Grains, Sphere, Vec3};
use seixo_scene::{VoxelizationRequest, spheres_of_mesh};
use std::path::Path;

/// Radius of the spheres, of the finest if there are several shapes \[m\].
pub const RADIUS: f64 = 0.01;
/// Density of the spheres \[kg/m³\]: the bodies are hollow and float.
pub const DENSITY: f64 = 1000.0;
/// Semi-axes of the ellipsoid that replaces the teapot \[diameters\]. Its surface crosses 76 cubes, the number of spheres of the teapot of \[Silva
/// 2010\]; 32 cubes are inside.
const SEMI_AXES: Vec3 = [3.6, 3.0, 2.4];
/// Center of the cube with index zero along each axis \[diameters\].
const MIDDLE_OF_FIRST: Vec3 = [0.0, 0.5, 0.5];

/// Body of equal spheres.
pub struct Shape {
    /// Description of the body.
    pub name: String,
    /// Positions of the spheres relative to the center of mass, in principal axes \[m\].
    pub offsets: Vec<Vec3>,
    /// Radius of the spheres \[m\].
    pub radius: f64,
    /// Mass \[kg\].
    pub mass: f64,
    /// Principal moments of inertia \[kg m²\].
    moments: Vec3,
    /// Edges of the bounding box of the spheres, along the principal axes \[m\].
    pub size: Vec3,
    /// Center of this box relative to the center of mass \[m\].
    middle: Vec3,
}

impl Shape {
    /// An ellipsoid as large and as hollow as the teapot of \[Silva 2010\], and nearly as round.
    pub fn ellipsoid() -> Shape {
        let middle = |cell: [i32; 3]| [0, 1, 2].map(|k| f64::from(cell[k]) + MIDDLE_OF_FIRST[k]);
        let is_inside = |cell: [i32; 3]| {
            let at = middle(cell);
            (0..3).map(|k| (at[k] / SEMI_AXES[k]).powi(2)).sum::<f64>() < 1.0
        };
        let is_open = |cell: [i32; 3], axis: usize, step: i32| {
            let mut beside = cell;
            beside[axis] += step;
            !is_inside(beside)
        };
        let mut centers = Vec::new();
        for z in -4..4 {
            for y in -4..4 {
                for x in -4..4 {
                    let cell = [x, y, z];
                    let is_at_surface = (0..3).any(|axis| is_open(cell, axis, -1) || is_open(cell, axis, 1));
                    if is_inside(cell) && is_at_surface {
                        centers.push(middle(cell).map(|c| 2.0 * RADIUS * c));
                    }
                }
            }
        }
        let solid = solid_of(&centers);
        Shape::of("the surface of an ellipsoid, hollow".to_owned(), RADIUS, &centers, &solid)
    }

    /// Converts a mesh with [`seixo_scene::spheres_of_mesh`] to spheres of each of these radii, in the unit of the mesh. The finest shape comes first.
    /// All have its size, mass and moments.
    ///
    /// # Errors
    /// If the file is not a mesh, or a radius does not fit it.
    pub fn of_mesh(file: &Path, radii: &[f64]) -> Result<Vec<Shape>, Failure> {
        let mut radii = radii.to_vec();
        radii.sort_by(f64::total_cmp);
        let mut of_finest = None;
        let mut shapes = Vec::new();
        for &radius in &radii {
            let wish = VoxelizationRequest {
                radius,
                filling: VoxelFilling::Surface,
                device: DeviceChoice::Cpu,
                threads: 0,
            };
            let found = spheres_of_mesh(file, 1.0, &wish)?;
            found.notices.iter().for_each(|notice| terminal::note(&format!("note: {notice}")));
            let scaled = |length: f64| length / radii[0] * RADIUS;
            let centers: Vec<Vec3> = found.centers.iter().map(|center| center.map(scaled)).collect();
            let solid = of_finest.get_or_insert_with(|| solid_of(&centers));
            let name = format!("{} at a radius of {radius}", file.display());
            shapes.push(Shape::of(name, scaled(radius), &centers, solid));
        }
        Ok(shapes)
    }

    /// Body of spheres of this radius at these centers \[m\], with the mass properties of a solid in the same frame. The spheres may be in contact, but
    /// must not overlap.
    fn of(name: String, radius: f64, centers: &[Vec3], solid: &Solid) -> Shape {
        let (moments, axes) = solid.principal_axes();
        let (axes, center_of_mass) = (axes.to_cols_array_2d(), solid.center.to_array());
        let along = |axis: Vec3, at: &Vec3| (0..3).map(|k| axis[k] * (at[k] - center_of_mass[k])).sum::<f64>();
        let offsets: Vec<Vec3> = centers.iter().map(|at| axes.map(|axis| along(axis, at))).collect();
        let end = |k: usize, pick: fn(f64, f64) -> f64| offsets.iter().map(|offset| offset[k]).reduce(pick).unwrap_or_default();
        let ends = [0, 1, 2].map(|k| [end(k, f64::min), end(k, f64::max)]);
        Shape {
            name,
            radius,
            mass: DENSITY * solid.volume,
            moments: (moments * DENSITY).to_array(),
            size: ends.map(|[low, high]| high - low + 2.0 * radius),
            middle: ends.map(|[low, high]| 0.5 * (low + high)),
            offsets,
        }
    }

    /// Adds a body to a table of grains, with the center of its box at `middle` \[m\].
    pub fn put(&self, grains: &mut Grains, middle: Vec3, velocity: Vec3) {
        let first = grains.len() as u32;
        let spheres: Vec<Sphere> = (first..)
            .zip(&self.offsets)
            .map(|(id, &offset)| Sphere {
                id,
                offset,
                radius: self.radius,
            })
            .collect();
        let body = Body {
            id: grains.bodies.len() as u32,
            mass: self.mass,
            moments: self.moments,
            center: [0, 1, 2].map(|k| middle[k] - self.middle[k]),
            orientation: [1.0, 0.0, 0.0, 0.0],
            velocity,
            angular_velocity: [0.0; 3],
            motion: None,
            joint: None,
            carries: Vec::new(),
        };
        grains.push_body(body, &spheres, 0, 0);
    }
}

/// Solid of spheres of [`RADIUS`] at these centers \[m\] that do not overlap.
fn solid_of(centers: &[Vec3]) -> Solid {
    let spheres: Vec<_> = centers.iter().map(|&center| (center.into(), RADIUS)).collect();
    solid_of_apart(&spheres)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_mesh_a_body_has_as_many_spheres_as_the_teapot_of_the_reference_and_is_hollow() {
        let shape = Shape::ellipsoid();
        assert_eq!(shape.offsets.len(), 76);
        let from_middle = |at: &Vec3| at.iter().map(|x| x * x).sum::<f64>().sqrt();
        let nearest = shape.offsets.iter().map(from_middle).fold(f64::INFINITY, f64::min);
        assert!(nearest > 2.5 * RADIUS, "{nearest} m");
        // Each sphere is in contact with others, and overlaps none.
        for (k, one) in shape.offsets.iter().enumerate() {
            let others = shape.offsets.iter().enumerate().filter(|(other, _)| *other != k);
            let apart = |other: &Vec3| from_middle(&[0, 1, 2].map(|axis| one[axis] - other[axis]));
            let gap = others.map(|(_, other)| apart(other)).fold(f64::INFINITY, f64::min) - 2.0 * RADIUS;
            assert!(gap.abs() < 1e-12, "{gap} m");
        }
        let largest = shape.size.iter().copied().fold(0.0, f64::max);
        let least = shape.size.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(largest < 2.0 * least, "{:?}", shape.size);
    }

    #[test]
    fn a_body_of_coarser_spheres_has_the_same_mass_moments_and_size() {
        // A block of 2 × 4 × 6 cubes, each as wide as a fine sphere, or of 1 × 2 × 3 cubes.
        let centers = |width: f64| -> Vec<Vec3> {
            let cubes = |edge: f64| (edge / width) as u32;
            let mut centers = Vec::new();
            for x in 0..cubes(2.0) {
                for y in 0..cubes(4.0) {
                    for z in 0..cubes(6.0) {
                        centers.push([x, y, z].map(|k| (f64::from(k) + 0.5) * 2.0 * width * RADIUS));
                    }
                }
            }
            centers
        };
        let solid = solid_of(&centers(1.0));
        let [fine, coarse] = [1.0, 2.0].map(|width| Shape::of(String::new(), width * RADIUS, &centers(width), &solid));
        assert_eq!((fine.offsets.len(), coarse.offsets.len()), (48, 6));
        assert_eq!((fine.mass, fine.moments), (coarse.mass, coarse.moments));
        let mut grains = Grains::default();
        for shape in [&fine, &coarse] {
            // To rounding.
            let is_near = |a: Vec3, b: Vec3| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-12);
            assert!(is_near(shape.size, fine.size) && is_near(shape.middle, fine.middle));
            shape.put(&mut grains, [0.0; 3], [0.0; 3]);
        }
        assert_eq!((grains.radius[0], grains.radius[48]), (RADIUS, 2.0 * RADIUS));
    }
}
