//! Spheres: those that are seen in few pixels are placed by compute passes, of which all graphics cards are fast, the others as squares.
//!
//! Cards made for computing draw triangles with few of their units, and small triangles waste units of every card \[Schütz 2021\].

use glam::DVec3;

use super::{
    device::{LIT, Painter, Pipeline, SURFACE, texture},
    props::{Colored, Shaded},
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

/// Invocations in a group.
const GROUP: u32 = 256;
/// Invocations that keep large cards busy: where spheres are fewer, several share each.
const BUSY: u32 = 1 << 19;
/// Invocations that share a sphere, at most.
const MOST_SHARING: u32 = 32;
/// Pixels along the side of a tile, see splat.wgsl.
const TILE: u32 = 8;
/// Pixels in which a sphere is seen that is placed, see splat.wgsl.
const MOST: f64 = 4096.0;

/// What is nearest in each pixel, while spheres are placed.
pub struct Pixels {
    /// How near it comes.
    pub depths: wgpu::Buffer,
    /// What it looks like.
    marks: wgpu::Buffer,
    /// How near comes what is farthest in each tile.
    tiles: wgpu::Buffer,
}

impl Pixels {
    /// Those of images of this size.
    pub fn new(painter: &Painter, (width, height): (u32, u32)) -> Pixels {
        let words = |count: u32| painter.empty(4 * u64::from(count), wgpu::BufferUsages::STORAGE);
        Pixels {
            depths: words(width * height),
            marks: words(width * height),
            tiles: words(width.div_ceil(TILE) * height.div_ceil(TILE)),
        }
    }

    /// What a pipeline knows that draws among these.
    pub fn among(&self, painter: &Painter, pipeline: &wgpu::RenderPipeline, view: &wgpu::Buffer) -> wgpu::BindGroup {
        let resources = [(0, view.as_entire_binding()), (3, self.depths.as_entire_binding())];
        painter.bind_to(&pipeline.get_bind_group_layout(0), resources)
    }
}

/// Whether some of these spheres, so many times as large as they are, may be seen in more pixels than what is placed, with so many for each of the picture's
/// along either side.
pub fn may_be_large(balls: &Colored, swell: f64, origin: DVec3, camera: &Camera, (size, detail): ((u32, u32), u32)) -> bool {
    let [low, high] = balls.bounds.map(|ball| ball.map(f64::from));
    let radius = swell * high[3].max(0.0);
    let corner = |number: usize| DVec3::from([0, 1, 2].map(|axis| if number >> axis & 1 == 0 { low[axis] } else { high[axis] }));
    let depth_of = |number| camera.view(origin + corner(number)).z;
    let depth = (0..8).map(depth_of).fold(f64::INFINITY, f64::min);
    // Across the picture, and in its corner, from the place of the optical axis; a sphere that is farther out than this is not seen.
    let pixels = [(camera.center[0], size.0), (camera.center[1], size.1)].map(|(center, side)| {
        let tangent = center.max(f64::from(side) - center) / camera.focal + 2.0 * radius / (depth - radius);
        let half = camera.focal * radius * depth * (1.0 + tangent * tangent).sqrt() / (depth * depth - radius * radius);
        2.0 * f64::from(detail) * half + 2.0
    });
    let is_small = depth > radius + camera.near && pixels[0] * pixels[1] <= MOST;
    !(balls.batches.is_empty() || is_small)
}

/// Pipelines that draw spheres of one kind.
pub struct Splats {
    known: wgpu::ComputePipeline,
    nearest: wgpu::ComputePipeline,
    farthest: wgpu::ComputePipeline,
    mark: wgpu::ComputePipeline,
    settle: wgpu::ComputePipeline,
    squares: wgpu::RenderPipeline,
}

impl Splats {
    /// Those of spheres as they are, or of those that become a surface.
    pub fn new(painter: &Painter, is_water: bool) -> Splats {
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

    /// Finds what is nearest in each pixel, and which spheres are too large for that, and lays it into images, in which nothing else is left.
    pub fn place(
        &self,
        painter: &Painter,
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
            // No instances yet.
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
                let sharing = (BUSY / batch.count.max(1)).clamp(1, MOST_SHARING);
                pass.dispatch_workgroups(batch.count.div_ceil(GROUP), sharing, 1);
            }
        }
        drop(pass);
        let found = [view, depths, marks, &balls.palette].map(wgpu::Buffer::as_entire_binding);
        let images = [&to.albedo, &to.surface].map(texture);
        let resources: Vec<_> = found.into_iter().chain(images).collect();
        painter.sweep(encoder, &self.settle, &resources, to.albedo.texture());
    }

    /// Draws those that are too large to be placed, among what was found.
    pub fn draw(&self, painter: &Painter, pass: &mut wgpu::RenderPass, view: &wgpu::Buffer, balls: &Colored, pixels: &Pixels) {
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
