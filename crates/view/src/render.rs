//! Draws spheres, rods, panes, water and walls on any Vulkan, Metal or Direct3D 12 device.
//!
//! Small spheres are placed in color, depth and normal images, and large ones, rods, panes and water, once its particles are smoothed to a surface, are
//! drawn among them; then come light and occlusion from those; walls and their edges over it, where they lie before the solids; and, in pictures, the
//! mean of every four pixels.

mod device;
mod pipelines;
mod props;
mod solids;
mod splats;
mod studio;

pub use device::{Painter, adapters};
pub use pipelines::PICTURE;
pub use props::Props;
pub use studio::{Shot, Studio, Targets};

use glam::DVec3;

#[cfg(test)]
use crate::{ViewError, camera::Camera, canvas::Canvas};
use crate::{aboard::Piece, bounds::Bounds, color::Rgb};

/// Spheres to draw.
#[derive(Clone, Copy, Default)]
pub struct Balls<'a> {
    /// Centers relative to the origin of the stage, and radii \[m\]; below 0 of those in whose place something else is drawn.
    pub places: &'a [[f32; 4]],
    /// Place in the palette of each.
    pub shade: &'a [u8],
    /// Colors, at most 256.
    pub palette: &'a [Rgb],
    /// Of all that are somewhere, or of more than these; `None` where nobody knows, so that it is found.
    pub bounds: Option<Bounds>,
    /// More of them, which lie on the device that draws.
    pub aboard: &'a [Piece],
    /// Values of those at the ends of the scale, for which the palette has colors.
    pub ends: [f64; 2],
}

/// A straight rod with round ends.
#[derive(Clone, Copy, Debug)]
pub struct Rod {
    /// Middles of its ends \[m\].
    pub ends: [DVec3; 2],
    /// Radius \[m\].
    pub radius: f64,
    /// Color of the side that faces the eye.
    pub color: Rgb,
}

/// A triangle that hides what is behind it.
#[derive(Clone, Copy, Debug)]
pub struct Pane {
    /// Its corners \[m\].
    pub corners: [DVec3; 3],
    /// Normals of the surface at the corners, on either side.
    pub normals: [DVec3; 3],
    /// Colors of both sides at the corners.
    pub colors: [Rgb; 3],
}

impl Pane {
    /// A flat one of one color.
    pub fn flat(corners: [DVec3; 3], color: Rgb) -> Pane {
        let [a, b, c] = corners;
        Pane {
            corners,
            normals: [(b - a).cross(c - a).normalize_or_zero(); 3],
            colors: [color; 3],
        }
    }
}

/// What stands in front of the camera.
#[derive(Clone, Copy, Default)]
pub struct Stage<'a> {
    /// From where places are counted that have few digits: the middle of the scene \[m\].
    pub origin: DVec3,
    /// Spheres.
    pub balls: Balls<'a>,
    /// Spheres of which only the smoothed surface is seen.
    pub water: Balls<'a>,
    /// Rods.
    pub rods: &'a [Rod],
    /// Colored triangles.
    pub panes: &'a [Pane],
    /// Colored triangles in place of spheres, which tell how fine they are: see [`crate::Snapshot::balls`].
    pub bodies: &'a [Pane],
    /// Corners of translucent triangles \[m\], which a shot may leave out.
    pub walls: &'a [[DVec3; 3]],
}

/// A triangle of a plane with a grid that fades out: corners \[m\] and places in the grid (see floors.wgsl).
pub type Floor = [(DVec3, DVec3); 3];

/// The picture that `camera` takes, `size` pixels wide and high.
#[cfg(test)]
pub fn render(stage: &Stage, floors: &[Floor], camera: &Camera, size: (u32, u32)) -> Result<Canvas, ViewError> {
    let studio = Studio::offscreen()?;
    studio.painter.guarded(|| {
        let props = studio.load(stage, None);
        let targets = studio.targets(size, 2);
        let picture = studio.painter.image(size, PICTURE);
        studio.picture(&props, &Shot::new(camera, floors), &targets, &picture)
    })
}
