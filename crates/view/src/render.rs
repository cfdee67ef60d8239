//! Draws spheres, rods, panes, fluid surfaces and walls on any Vulkan, Metal or Direct3D 12 device.
//!
//! The passes are:
//! 1. Small spheres are drawn into images of color, depth and normal.
//! 2. Large spheres, rods, panes and the fluid surface, smoothed from its particles, are drawn among them.
//! 3. Light and ambient occlusion are computed from these images.
//! 4. Walls and their edges are drawn where they lie in front of the solids.
//! 5. In pictures, every four pixels are averaged.

mod device;
mod pipelines;
mod renderer;
mod scene_buffers;
mod solids;
mod splats;

pub use device::RenderDevice;
pub use pipelines::PICTURE;
pub use renderer::{RenderOptions, Renderer, Targets};
pub use scene_buffers::SceneBuffers;

use glam::DVec3;

#[cfg(test)]
use crate::{ViewError, camera::Camera, canvas::Canvas};
use crate::{bounds::Bounds, color::Rgb, gpu_particles::Piece};

/// Spheres to draw.
#[derive(Clone, Copy, Default)]
pub struct SphereBatch<'a> {
    /// Centers relative to the origin of the scene, and radii \[m\]; a negative radius marks a sphere that another object replaces.
    pub places: &'a [[f32; 4]],
    /// Palette index of each.
    pub shade: &'a [u8],
    /// Colors, at most 256.
    pub palette: &'a [Rgb],
    /// Bounds of all spheres at finite positions, or larger bounds; `None` = compute them.
    pub bounds: Option<Bounds>,
    /// Further spheres in the memory of the drawing device.
    pub on_gpu: &'a [Piece],
    /// Values at the ends of the color scale of those spheres.
    pub ends: [f64; 2],
}

/// A straight rod with round ends.
#[derive(Clone, Copy, Debug)]
pub struct Rod {
    /// Centers of its ends \[m\].
    pub ends: [DVec3; 2],
    /// Radius \[m\].
    pub radius: f64,
    /// Color.
    pub color: Rgb,
}

/// An opaque triangle.
#[derive(Clone, Copy, Debug)]
pub struct Pane {
    /// Its corners \[m\].
    pub corners: [DVec3; 3],
    /// Surface normals at the corners, of either side.
    pub normals: [DVec3; 3],
    /// Colors of both sides at the corners.
    pub colors: [Rgb; 3],
}

impl Pane {
    /// A flat pane of one color.
    pub fn flat(corners: [DVec3; 3], color: Rgb) -> Pane {
        let [a, b, c] = corners;
        Pane {
            corners,
            normals: [(b - a).cross(c - a).normalize_or_zero(); 3],
            colors: [color; 3],
        }
    }
}

/// Objects in front of the camera.
#[derive(Clone, Copy, Default)]
pub struct RenderScene<'a> {
    /// Origin of single-precision positions: the middle of the scene \[m\].
    pub origin: DVec3,
    /// Spheres.
    pub balls: SphereBatch<'a>,
    /// Spheres that are drawn as a smoothed surface.
    pub water: SphereBatch<'a>,
    /// Rods.
    pub rods: &'a [Rod],
    /// Colored triangles.
    pub panes: &'a [Pane],
    /// Colored triangles in place of spheres, which determine the scale of occlusion: see [`crate::Snapshot::balls`].
    pub bodies: &'a [Pane],
    /// Corners of translucent triangles \[m\]; render options may hide them.
    pub walls: &'a [[DVec3; 3]],
}

/// A triangle of a plane with a grid that fades out: corners \[m\] and grid positions (see floors.wgsl).
pub type Floor = [(DVec3, DVec3); 3];

/// Picture from a camera, `size` pixels wide and high.
#[cfg(test)]
pub fn render(stage: &RenderScene, floors: &[Floor], camera: &Camera, size: (u32, u32)) -> Result<Canvas, ViewError> {
    let studio = Renderer::offscreen()?;
    studio.painter.guarded(|| {
        let buffers = studio.load(stage, None);
        let targets = studio.targets(size, 2);
        let picture = studio.painter.image(size, PICTURE);
        studio.picture(&buffers, &RenderOptions::new(camera, floors), &targets, &picture)
    })
}
