//! Drawing of spheres. Compute passes draw those that cover few pixels, which is fast on all graphics cards; the others are drawn as squares.
//!
//! Compute cards use few of their units for triangles, and small triangles waste units on every card \[Schütz 2021\].

use glam::DVec3;

use super::{
    device::{LIT, Pipeline, RenderDevice, SURFACE, texture},
    scene_buffers::{Colored, Shaded},
    solids::Solids,
};
use crate::camera::Camera;

const SPLAT: &str = concat!(include_str!("view.wgsl"), include_str!("balls.wgsl"), include_str!("splat.wgsl"));
const SQUARES: &str = concat!(
    include_str!("view.wgsl"),
    include_str!("among.wgsl"),
    include_str!("balls.wgsl"),
    include_str!("spheres.wgsl")
);
const SETTLE: &str = concat!(include_str!("view.wgsl"), include_str!("settle.wgsl"));

/// Invocations per workgroup.
const GROUP: u32 = 256;
/// Number of invocations that keeps large cards busy. With fewer spheres, several invocations share each.
const BUSY: u32 = 1 << 19;
/// Most invocations per sphere.
const MAX_SHARING: u32 = 32;
/// Pixels along the side of a tile, see splat.wgsl.
const TILE: u32 = 8;
/// Most pixels of a sphere drawn by compute passes, see splat.wgsl.
const MAX: f64 = 4096.0;

/// Buffers for the nearest sphere in each pixel.
pub struct Pixels {
    /// Nearness per pixel.
    pub depths: wgpu::Buffer,
    /// Appearance per pixel.
    marks: wgpu::Buffer,
    /// Least nearness per tile.
    tiles: wgpu::Buffer,
}

impl Pixels {
    /// Buffers for images of this size.
    pub fn new(painter: &RenderDevice, (width, height): (u32, u32)) -> Pixels {
        let words = |count: u32| painter.empty(4 * u64::from(count), wgpu::BufferUsages::STORAGE);
        Pixels {
            depths: words(width * height),
            marks: words(width * height),
            tiles: words(width.div_ceil(TILE) * height.div_ceil(TILE)),
        }
    }

    /// Bindings for a pipeline that draws among the spheres.
    pub fn among(&self, painter: &RenderDevice, pipeline: &wgpu::RenderPipeline, view: &wgpu::Buffer) -> wgpu::BindGroup {
        let resources = [(0, view.as_entire_binding()), (3, self.depths.as_entire_binding())];
        painter.bind_to(&pipeline.get_bind_group_layout(0), resources)
    }
}

/// Whether some of these spheres, enlarged by `swell`, may cover more pixels than the compute passes draw. `detail` is the number of drawn pixels per
/// pixel of the picture along each side.
pub fn may_be_large(balls: &Colored, swell: f64, origin: DVec3, camera: &Camera, (size, detail): ((u32, u32), u32)) -> bool {
    let [low, high] = balls.bounds.map(|ball| ball.map(f64::from));
    let radius = swell * high[3].max(0.0);
    let corner = |number: usize| DVec3::from([0, 1, 2].map(|axis| if number >> axis & 1 == 0 { low[axis] } else { high[axis] }));
    let depth_of = |number| camera.view(origin + corner(number)).z;
    let depth = (0..8).map(depth_of).fold(f64::INFINITY, f64::min);
    // Bounds horizontally and vertically, up to the farthest corner from the optical axis; a sphere farther out is not seen.
    let pixels = [(camera.center[0], size.0), (camera.center[1], size.1)].map(|(center, side)| {
        let tangent = center.max(f64::from(side) - center) / camera.focal + 2.0 * radius / (depth - radius);
        let half = camera.focal * radius * depth * (1.0 + tangent * tangent).sqrt() / (depth * depth - radius * radius);
        2.0 * f64::from(detail) * half + 2.0
    });
    let is_small = depth > radius + camera.near && pixels[0] * pixels[1] <= MAX;
    !(balls.batches.is_empty() || is_small)
}

/// Pipelines for one kind of spheres.
pub struct Splats {
    known: wgpu::ComputePipeline,
    nearest: wgpu::ComputePipeline,
    farthest: wgpu::ComputePipeline,
    mark: wgpu::ComputePipeline,
    settle: wgpu::ComputePipeline,
    squares: wgpu::RenderPipeline,
}

impl Splats {
    /// Pipelines for plain spheres, or for spheres that form a surface.
    pub fn new(painter: &RenderDevice, is_water: bool) -> Splats {
        let constants = [("IS_WATER", f64::from(u8::from(is_water)))];
        Splats {
            known: painter.computation(SPLAT, "known", &constants),
            nearest: painter.computation(SPLAT, "nearest", &constants),
            farthest: painter.computation(SPLAT, "farthest", &constants),
            mark: painter.computation(SPLAT, "mark", &constants),
            settle: painter.computation(SETTLE, "settle", &[]),
            squares: painter.pipeline(&Pipeline {
                constants: &constants,
                topology: wgpu::PrimitiveTopology::TriangleStrip,
                has_depth: true,
                ..Pipeline::covering(SQUARES, "hit", &[LIT, SURFACE])
            }),
        }
    }

    /// Finds the nearest sphere in each pixel, and the spheres that are too large for that. Writes the result into images and overwrites all their
    /// pixels.
    pub fn place(
        &self,
        painter: &RenderDevice,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::Buffer,
        balls: &Colored,
        pixels: &Pixels,
        to: &Solids,
    ) {
        let Pixels { depths, marks, tiles } = pixels;
        let tile_count = (tiles.size() / 4) as u32;
        encoder.clear_buffer(depths, 0, None);
        encoder.clear_buffer(marks, 0, None);
        for Shaded { arguments, .. } in &balls.batches {
            // Zero instances so far.
            encoder.clear_buffer(arguments, 4, Some(4));
        }
        let mut pass = encoder.begin_compute_pass(&Default::default());
        let whole = wgpu::Buffer::as_entire_binding;
        let of_pixels = [(0, whole(view)), (1, whole(depths)), (2, whole(marks)), (3, whole(tiles))];
        let group = |pipeline: &wgpu::ComputePipeline, number, buffers: &[(u32, wgpu::BindingResource)], used: &[u32]| {
            let used = buffers.iter().filter(|(binding, _)| used.contains(binding));
            let resources = used.cloned();
            painter.bind_to(&pipeline.get_bind_group_layout(number), resources)
        };
        let passes: [(_, &[u32], Option<&[u32]>); 5] = [
            (&self.known, &[0, 1], Some(&[0, 3, 4])),
            (&self.farthest, &[0, 1, 3], None),
            (&self.nearest, &[0, 1, 3], Some(&[0, 2, 3, 4])),
            (&self.farthest, &[0, 1, 3], None),
            (&self.mark, &[0, 1, 2, 3], Some(&[0, 1, 3, 4])),
        ];
        for (pipeline, used, of_balls) in passes {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &group(pipeline, 0, &of_pixels, used), &[]);
            let Some(used) = of_balls else {
                pass.dispatch_workgroups(tile_count.div_ceil(GROUP), 1, 1);
                continue;
            };
            for batch in &balls.batches {
                let [shades, large, arguments, was_seen] =
                    [&batch.shades, &batch.large, &batch.arguments, &batch.was_seen].map(wgpu::Buffer::as_entire_binding);
                let buffers = [(0, batch.places.binding()), (1, shades), (2, large), (3, arguments), (4, was_seen)];
                pass.set_bind_group(1, &group(pipeline, 1, &buffers, used), &[]);
                let sharing = (BUSY / batch.count.max(1)).clamp(1, MAX_SHARING);
                pass.dispatch_workgroups(batch.count.div_ceil(GROUP), sharing, 1);
            }
        }
        drop(pass);
        let found = [view, depths, marks, &balls.palette].map(wgpu::Buffer::as_entire_binding);
        let images = [&to.albedo, &to.surface].map(texture);
        let resources: Vec<_> = found.into_iter().chain(images).collect();
        painter.sweep(encoder, &self.settle, &resources, to.albedo.texture());
    }

    /// Draws the large spheres as squares among the others.
    pub fn draw(&self, painter: &RenderDevice, pass: &mut wgpu::RenderPass, view: &wgpu::Buffer, balls: &Colored, pixels: &Pixels) {
        pass.set_pipeline(&self.squares);
        pass.set_bind_group(0, &pixels.among(painter, &self.squares, view), &[]);
        for batch in &balls.batches {
            let [shades, palette, large] = [&batch.shades, &balls.palette, &batch.large].map(wgpu::Buffer::as_entire_binding);
            let resources = [batch.places.binding(), shades, palette, large];
            pass.set_bind_group(1, &painter.bind(&self.squares, 1, &resources), &[]);
            pass.draw_indirect(&batch.arguments, 0);
        }
    }
}
