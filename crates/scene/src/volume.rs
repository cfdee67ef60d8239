//! Simple parts of space, in which inlets place grains and from which zones remove them.

use crate::{
    diagnostics::UnlocatedDiagnostic,
    fill::{axis_between, corners, si},
    schema::{BoxShape, CylinderRegion, SphereRegion},
};
use glam::DVec3;
use seixo_engine::PeriodicCell;
use seixo_engine::world::Vec3;
use std::f64::consts::PI;

/// Relative rounding error of a length.
const ROUNDING: f64 = 1e-9;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Box,
    Cylinder,
    Sphere,
}

/// A box, cylinder or sphere anywhere in space; the axis of a cylinder is its third.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Volume {
    form: Form,
    center: DVec3,
    axes: [DVec3; 3],
    half: DVec3,
}

impl Volume {
    /// A box whose edges are parallel to the axes.
    pub fn upright(shape: &BoxShape) -> Result<Volume, UnlocatedDiagnostic> {
        let (min, max) = corners(shape)?;
        Ok(Volume {
            form: Form::Box,
            center: (min + max) / 2.0,
            axes: DVec3::AXES,
            half: (max - min) / 2.0,
        })
    }

    /// A box with one face around `center`, spanned by perpendicular `edges`, with this `height` \[m\] along their normal.
    pub fn upon(center: DVec3, edges: [DVec3; 2], height: f64) -> Volume {
        let [u, v] = edges.map(DVec3::normalize_or_zero);
        let normal = u.cross(v);
        Volume {
            form: Form::Box,
            center: center + 0.5 * height * normal,
            axes: [u, v, normal],
            half: DVec3::new(edges[0].length(), edges[1].length(), height) / 2.0,
        }
    }

    /// A cylinder between two centers of its ends.
    pub fn between(from: DVec3, to: DVec3, radius: f64) -> Result<Volume, UnlocatedDiagnostic> {
        let axis = axis_between(from, to)?;
        let (u, v) = axis.any_orthonormal_pair();
        Ok(Volume {
            form: Form::Cylinder,
            center: (from + to) / 2.0,
            axes: [u, v, axis],
            half: DVec3::new(radius, radius, from.distance(to) / 2.0),
        })
    }

    /// The inside of a cylinder of a scene.
    pub fn cylinder(shape: &CylinderRegion) -> Result<Volume, UnlocatedDiagnostic> {
        Volume::between(si(&shape.from).into(), si(&shape.to).into(), shape.radius.si)
    }

    /// The inside of a sphere of a scene.
    pub fn sphere(shape: &SphereRegion) -> Volume {
        Volume {
            form: Form::Sphere,
            center: si(&shape.center).into(),
            axes: DVec3::AXES,
            half: DVec3::splat(shape.radius.si),
        }
    }

    /// Volume \[m³\].
    pub fn size(&self) -> f64 {
        let DVec3 { x, y, z } = self.half;
        match self.form {
            Form::Box => 8.0 * x * y * z,
            Form::Cylinder => 2.0 * PI * x * y * z,
            Form::Sphere => 4.0 / 3.0 * PI * x * y * z,
        }
    }

    /// Radius of the largest sphere inside \[m\].
    pub fn largest_radius(&self) -> f64 {
        self.half.min_element()
    }

    /// Extent along a unit vector, from end to end \[m\].
    pub fn extent(&self, direction: DVec3) -> f64 {
        2.0 * (0..3).map(|k| self.half[k] * self.axes[k].dot(direction).abs()).sum::<f64>()
    }

    /// Corners of the bounding box, parallel to the axes \[m\].
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let half = DVec3::from_array([DVec3::X, DVec3::Y, DVec3::Z].map(|axis| 0.5 * self.extent(axis)));
        ((self.center - half).to_array(), (self.center + half).to_array())
    }

    /// Whether a sphere is inside; a point, with the radius 0.
    pub fn holds(&self, center: Vec3, radius: f64) -> bool {
        let from_center = DVec3::from(center) - self.center;
        let local = DVec3::from_array(self.axes.map(|axis| axis.dot(from_center)));
        let room = self.half - radius;
        match self.form {
            Form::Box => local.abs().cmple(room).all(),
            Form::Cylinder => local.truncate().length() <= room.x && local.z.abs() <= room.z,
            Form::Sphere => local.length() <= room.x,
        }
    }

    /// Whether a point or one of its images in a cell is inside.
    pub fn holds_image(&self, point: Vec3, cell: &PeriodicCell) -> bool {
        let (low, high) = self.bounds();
        // Bounds are rounded: results are checked exactly.
        let margin = ROUNDING * (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
        let around = [-margin, margin].map(|margin| point.map(|x| x + margin));
        cell.images(around, [low, high]).any(|image| self.holds(image.of(point), 0.0))
    }

    /// The position at these shares, from -1 to 1, of the distances that a sphere can move along the axes; for round volumes some are outside.
    pub fn place(&self, shares: [f64; 3], radius: f64) -> Vec3 {
        let room = self.half - radius;
        let at = (0..3).fold(self.center, |at, k| at + self.axes[k] * (shares[k] * room[k]));
        at.to_array()
    }
}
