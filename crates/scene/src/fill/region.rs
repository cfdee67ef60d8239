//! Regions: their shapes, their surfaces, and tests for positions inside.

use super::{
    axis_between, corners,
    mesh::{Enclosed, Mesh},
    si,
};
use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    mesh_placement::{MeshPlacement, placed_mesh},
    orient_mesh::notice,
    schema::Region,
};
use glam::{BVec3, DMat3, DVec3};
use seixo_engine::world::Vec3;
use std::f64::consts::PI;

/// Number of points that measure the share of a region that others exclude; the error is some 10⁻³.
const SAMPLES: u32 = 1 << 18;
/// Smallest periodic length in units of the largest radius: with three diameters no two grains overlap twice.
const SHORTEST_PERIOD: f64 = 6.0;

enum Form {
    Box,
    Cylinder,
    Sphere,
    /// Radii at the lower and at the upper end of the third axis.
    Cone([f64; 2]),
    Mesh(Mesh),
}

/// A shape in its own frame: centered, the third axis along the cylinder or cone.
struct Shape {
    form: Form,
    center: DVec3,
    axes: DMat3,
    /// Half the edges of the box around it.
    half: DVec3,
}

/// A surface near a point.
pub(super) struct Face {
    /// Distance of the point from it; negative beyond it.
    pub clearance: f64,
    /// The unit vector from it into the region.
    pub inward: DVec3,
}

impl Shape {
    fn new(region: &mut Region, findings: &mut CheckState) -> Result<Shape, UnlocatedDiagnostic> {
        let upright = |form: Form, min: DVec3, max: DVec3| Shape {
            form,
            center: (min + max) / 2.0,
            axes: DMat3::IDENTITY,
            half: (max - min) / 2.0,
        };
        let round = |form: Form, from: Vec3, to: Vec3, radius: f64| -> Result<Shape, UnlocatedDiagnostic> {
            let (from, to) = (DVec3::from(from), DVec3::from(to));
            let axis = axis_between(from, to)?;
            let (u, v) = axis.any_orthonormal_pair();
            Ok(Shape {
                form,
                center: (from + to) / 2.0,
                axes: DMat3::from_cols(u, v, axis),
                half: DVec3::new(radius, radius, (to - from).length() / 2.0),
            })
        };
        match region {
            Region::Box(shape) => corners(shape).map(|(min, max)| upright(Form::Box, min, max)),
            Region::Cylinder(shape) => round(Form::Cylinder, si(&shape.from), si(&shape.to), shape.radius.si),
            Region::Cone(shape) => {
                let radii = shape.radii.map(|radius| radius.si);
                let widest = radii[0].max(radii[1]);
                if widest == 0.0 {
                    return Err(UnlocatedDiagnostic::new("both radii of the cone are 0")
                        .limit("at least one radius above 0")
                        .remedy("give the cone a width"));
                }
                round(Form::Cone(radii), si(&shape.from), si(&shape.to), widest)
            }
            Region::Sphere(shape) => {
                let (center, half) = (DVec3::from(si(&shape.center)), DVec3::splat(shape.radius.si));
                Ok(upright(Form::Sphere, center - half, center + half))
            }
            Region::Mesh(shape) => {
                let whole = findings.absolute(&shape.file);
                shape.file = whole.display().to_string();
                let placement = MeshPlacement::new(shape.unit.as_ref(), Some(&shape.scale), shape.rotate.as_ref(), shape.shift.as_ref());
                let placement = placement.map_err(|(key, complaint)| complaint.within(key))?;
                let triangles = placed_mesh(&whole, &placement)?;
                let all = triangles.len();
                let Enclosed {
                    mesh,
                    turned,
                    bounds: [min, max],
                } = Mesh::enclosed_by(triangles)?;
                if turned > 0 {
                    findings.notices.push(format!("{}: {}", shape.file, notice(turned, all)));
                }
                Ok(upright(Form::Mesh(mesh), min, max))
            }
        }
    }

    fn volume(&self) -> f64 {
        let DVec3 { x, y, z } = self.half;
        match &self.form {
            Form::Box => 8.0 * x * y * z,
            Form::Cylinder => 2.0 * PI * x * y * z,
            Form::Sphere => 4.0 / 3.0 * PI * x * y * z,
            Form::Cone([a, b]) => 2.0 / 3.0 * PI * z * (a * a + a * b + b * b),
            Form::Mesh(mesh) => mesh.volume,
        }
    }

    /// Radius of a cone at a height, and its slope.
    fn mantle(&self, [from, to]: [f64; 2], z: f64) -> (f64, f64) {
        let slope = (to - from) / (2.0 * self.half.z);
        ((from + to) / 2.0 + slope * z, slope)
    }

    /// Visits the surfaces: all of a simple shape; of a mesh those within `reach`, whose distances are never negative.
    fn visit_faces(&self, at: DVec3, reach: f64, wraps: BVec3, mut visit: impl FnMut(Face)) {
        let (is_plain_end, across) = match &self.form {
            Form::Box => {
                for (axis, normal) in DVec3::AXES.into_iter().enumerate().filter(|(axis, _)| !wraps.test(*axis)) {
                    for side in [1.0, -1.0] {
                        visit(Face {
                            clearance: self.half[axis] - side * at[axis],
                            inward: -side * normal,
                        });
                    }
                }
                return;
            }
            Form::Mesh(mesh) => {
                mesh.visit_near(at, reach, |distance, inward| {
                    visit(Face {
                        clearance: distance,
                        inward,
                    });
                });
                return;
            }
            Form::Sphere => (false, at),
            Form::Cylinder | Form::Cone(_) => (true, at.with_z(0.0)),
        };
        let distance = across.length();
        let outward = across.try_normalize().unwrap_or(DVec3::X);
        let (radius, slope) = match self.form {
            Form::Cone(radii) => self.mantle(radii, at.z),
            _ => (self.half.x, 0.0),
        };
        let cosine = 1.0 / (1.0 + slope * slope).sqrt();
        visit(Face {
            clearance: (radius - distance) * cosine,
            inward: (DVec3::Z * slope - outward) * cosine,
        });
        if is_plain_end {
            for side in [1.0, -1.0] {
                visit(Face {
                    clearance: self.half.z - side * at.z,
                    inward: DVec3::NEG_Z * side,
                });
            }
        }
    }

    /// The surface of a simple shape with the smallest distance.
    fn nearest_face(&self, at: DVec3) -> Face {
        let mut nearest = Face {
            clearance: f64::INFINITY,
            inward: DVec3::Z,
        };
        self.visit_faces(at, 0.0, BVec3::FALSE, |face| {
            if face.clearance < nearest.clearance {
                nearest = face;
            }
        });
        nearest
    }

    /// Whether a sphere of this radius is inside (`true`) or outside (`false`); `None` if it is neither.
    fn has(&self, at: DVec3, radius: f64, wraps: BVec3) -> Option<bool> {
        let mut clearance = f64::INFINITY;
        self.visit_faces(at, radius, wraps, |face| clearance = clearance.min(face.clearance));
        match &self.form {
            Form::Mesh(_) if clearance < radius => None,
            Form::Mesh(mesh) => mesh.is_inside(at),
            _ if clearance >= radius => Some(true),
            _ => (clearance <= -radius).then_some(false),
        }
    }

    fn to_local(&self, point: DVec3) -> DVec3 {
        self.axes.transpose() * (point - self.center)
    }

    fn to_world(&self, local: DVec3) -> DVec3 {
        self.center + self.axes * local
    }
}

/// A region without excluded parts. Positions are in the frame of the region unless stated otherwise.
pub(super) struct Space {
    shape: Shape,
    minus: Vec<Shape>,
    /// Periodic sides.
    pub wraps: BVec3,
    /// \[m³\].
    pub volume: f64,
}

impl Space {
    pub(super) fn new(
        region: &mut Region,
        minus: &mut [Region],
        periodic: Option<[bool; 3]>,
        findings: &mut CheckState,
    ) -> Result<Space, UnlocatedDiagnostic> {
        let shape = Shape::new(region, findings)?;
        if periodic.is_some() && !matches!(shape.form, Form::Box) {
            return Err(UnlocatedDiagnostic::new("only the sides of a box can be `periodic`").remedy("remove `periodic`, or fill a box"));
        }
        let minus = minus
            .iter_mut()
            .map(|region| Shape::new(region, findings).map_err(|complaint| complaint.within("minus")))
            .collect::<Result<Vec<_>, _>>()?;
        let mut space = Space {
            volume: shape.volume(),
            shape,
            minus,
            wraps: periodic.map_or(BVec3::FALSE, BVec3::from_array),
        };
        if !space.minus.is_empty() {
            space.volume *= space.share_left();
        }
        if space.volume > 0.0 {
            return Ok(space);
        }
        Err(UnlocatedDiagnostic::new("`minus` takes away all of the region").remedy("enlarge the region, or take less away"))
    }

    /// The share of the shape outside of `minus`, measured by points that fill a box evenly (the R3 sequence, \[Roberts 2018\]).
    fn share_left(&self) -> f64 {
        // The root of x⁴ = x + 1.
        let root = 1.220_744_084_605_759_5_f64;
        let step = DVec3::new(root, root * root, root * root * root).recip();
        let (mut inside, mut left) = (0_u32, 0_u32);
        for k in 1..=SAMPLES {
            let at = ((step * f64::from(k)).fract() * 2.0 - 1.0) * self.shape.half;
            let is_inside = self.shape.has(at, 0.0, self.wraps) == Some(true);
            inside += u32::from(is_inside);
            left += u32::from(is_inside && self.is_outside_minus(at, 0.0));
        }
        f64::from(left) / f64::from(inside.max(1))
    }

    fn is_outside_minus(&self, at: DVec3, radius: f64) -> bool {
        let is_outside = |shape: &Shape, at: DVec3| shape.has(shape.to_local(self.to_space(at)), radius, BVec3::FALSE) == Some(false);
        // Excluded parts also have images across periodic sides.
        let mut shapes = self.minus.iter();
        shapes.all(|shape| self.images(at, f64::INFINITY).all(|image| is_outside(shape, image)))
    }

    /// Half the edges of the box around the region.
    pub(super) fn half(&self) -> DVec3 {
        self.shape.half
    }

    /// Corners of the bounding box of the whole region in space, parallel to the axes.
    pub(super) fn bounds(&self) -> (DVec3, DVec3) {
        let Shape { form, center, axes, half } = &self.shape;
        let reach = match form {
            Form::Cylinder | Form::Cone(_) => {
                let along = axes.z_axis.abs();
                along * half.z + half.x * (1.0 - along * along).max(DVec3::ZERO).sqrt()
            }
            Form::Box | Form::Sphere | Form::Mesh(_) => *half,
        };
        (*center - reach, *center + reach)
    }

    /// Half the edges of the box of possible centers.
    pub(super) fn half_for_centers(&self, radius: f64) -> DVec3 {
        DVec3::select(self.wraps, self.shape.half, self.shape.half - radius)
    }

    /// Largest radius that may fit.
    pub(super) fn largest_radius(&self) -> f64 {
        let of_walls = DVec3::select(self.wraps, DVec3::INFINITY, self.shape.half).min_element();
        let of_sides = DVec3::select(self.wraps, self.shape.half, DVec3::INFINITY).min_element() * 2.0 / SHORTEST_PERIOD;
        of_walls.min(of_sides)
    }

    /// Whether a sphere is completely inside.
    pub(super) fn holds(&self, at: DVec3, radius: f64) -> bool {
        self.shape.has(at, radius, self.wraps) == Some(true) && self.is_outside_minus(at, radius)
    }

    /// Whether a sphere is completely outside of a region without excluded parts.
    pub(super) fn is_beyond(&self, at: DVec3, radius: f64) -> bool {
        self.shape.has(at, radius, self.wraps) == Some(false)
    }

    /// Whether the test for the inside needs more than the rows of [`PartitionExtent::reach_x`].
    pub(super) fn is_plain(&self) -> bool {
        self.minus.is_empty() && !matches!(self.shape.form, Form::Mesh(_))
    }

    /// Visits the surfaces that may be within `reach`.
    pub(super) fn visit_faces(&self, at: DVec3, reach: f64, mut visit: impl FnMut(Face)) {
        self.shape.visit_faces(at, reach, self.wraps, &mut visit);
        for shape in &self.minus {
            let turn = |vector: DVec3| self.shape.axes.transpose() * (shape.axes * vector);
            for image in self.images(at, f64::INFINITY) {
                let local = shape.to_local(self.to_space(image));
                if let Form::Mesh(_) = shape.form {
                    shape.visit_faces(local, reach, BVec3::FALSE, |face| {
                        visit(Face {
                            inward: turn(face.inward),
                            ..face
                        });
                    });
                } else {
                    let Face { clearance, inward } = shape.nearest_face(local);
                    visit(Face {
                        clearance: -clearance,
                        inward: -turn(inward),
                    });
                }
            }
        }
    }

    /// Vector from one position to another, the shortest across periodic sides.
    pub(super) fn between(&self, from: DVec3, to: DVec3) -> DVec3 {
        let straight = to - from;
        if !self.wraps.any() {
            return straight;
        }
        let period = 2.0 * self.shape.half;
        DVec3::select(self.wraps, straight - period * (straight / period).round(), straight)
    }

    /// The image inside the box of a position beyond a periodic side.
    pub(super) fn wrapped(&self, at: DVec3) -> DVec3 {
        let period = 2.0 * self.shape.half;
        DVec3::select(self.wraps, at - period * (at / period).round(), at)
    }

    /// A sphere and its periodic images, as far as they are within `reach` of the box.
    pub(super) fn images(&self, at: DVec3, reach: f64) -> impl Iterator<Item = DVec3> {
        let (half, wraps) = (self.shape.half, self.wraps);
        // Without periodic sides only the sphere itself.
        let shifts = if wraps.any() { 0..27 } else { 13..14 };
        shifts
            .map(|n| DVec3::new(f64::from(n % 3), f64::from(n / 3 % 3), f64::from(n / 9)) - 1.0)
            .filter(move |shift| (shift.cmpeq(DVec3::ZERO) | wraps).all())
            .map(move |shift| (shift, at + 2.0 * half * shift))
            .filter(move |(shift, image)| *shift == DVec3::ZERO || image.abs().cmple(half + reach).all())
            .map(|(_, image)| image)
    }

    /// Moves the upper end of the region to `times` its height; returns whether the region is a column, for which that is possible.
    pub(super) fn raise(&mut self, up: DVec3, times: f64) -> bool {
        let shape = &mut self.shape;
        let along = shape.axes.transpose() * up;
        let Some(axis) = (0..3).find(|axis| along[*axis].abs() > 1.0 - 1e-9) else {
            return false;
        };
        let is_column = match shape.form {
            Form::Box => !self.wraps.test(axis),
            Form::Cylinder => axis == 2,
            _ => false,
        };
        if is_column {
            let grown = shape.half[axis] * (times - 1.0);
            shape.half[axis] += grown;
            shape.center += shape.axes.col(axis) * grown * along[axis].signum();
        }
        is_column
    }

    pub(super) fn to_space(&self, local: DVec3) -> DVec3 {
        self.shape.to_world(local)
    }

    pub(super) fn to_local(&self, place: Vec3) -> DVec3 {
        self.shape.to_local(place.into())
    }

    /// Extent along y of a layer at height `z` with `margin` from the surface; negative if there is none.
    pub(super) fn reach_y(&self, z: f64, margin: f64) -> f64 {
        let half = self.shape.half;
        match self.shape.form {
            _ if z.abs() > half.z - margin => -1.0,
            Form::Box | Form::Mesh(_) | Form::Cylinder => half.y - margin,
            Form::Sphere => ((half.y - margin).powi(2) - z * z).max(0.0).sqrt(),
            Form::Cone(radii) => {
                let (radius, slope) = self.shape.mantle(radii, z);
                radius - margin * (1.0 + slope * slope).sqrt()
            }
        }
    }

    /// Extent along x of a row at `y` in the layer at `z`.
    pub(super) fn reach_x(&self, y: f64, z: f64, margin: f64) -> f64 {
        let reach = self.reach_y(z, margin);
        match self.shape.form {
            _ if y.abs() > reach => -1.0,
            Form::Box | Form::Mesh(_) => self.shape.half.x - margin,
            Form::Cylinder | Form::Sphere | Form::Cone(_) => (reach * reach - y * y).max(0.0).sqrt(),
        }
    }
}
