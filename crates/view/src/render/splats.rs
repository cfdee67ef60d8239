//! Spheres: those that are seen in few pixels are placed by compute passes, of which all graphics cards are fast, the others as squares.
//!
//! Cards made for computing draw triangles with few of their units, and small triangles waste units of every card (Schütz, Kerbl & Wimmer 2021,
//! "Rendering point clouds with compute shaders and vertex order optimization").

use super::{
    device::{LIT, Painter, Pipeline, SURFACE, texture},
    props::{Colored, Shaded},
    solids::Solids,
};

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
/// Pixels along the side of a tile, see splat.wgsl.
const TILE: u32 = 8;

/// What is nearest in each pixel, while spheres are placed.
pub struct Pixels {
    /// How near it comes.
    pub depths: wgpu::Buffer,
    /// What it looks like.
    marks: wgpu::Buffer,
    /// How near comes what is farthest in each tile.
    tiles: wgpu::Buffer,
    /// How many tiles there are.
    tile_count: u32,
}

impl Pixels {
    /// Those of images of this size.
    pub fn new(painter: &Painter, (width, height): (u32, u32)) -> Pixels {
        let words = |count: u32| painter.empty(4 * u64::from(count), wgpu::BufferUsages::STORAGE);
        let tile_count = width.div_ceil(TILE) * height.div_ceil(TILE);
        Pixels {
            depths: words(width * height),
            marks: words(width * height),
            tiles: words(tile_count),
            tile_count,
        }
    }

    /// What a pipeline knows that draws among these.
    pub fn among(&self, painter: &Painter, pipeline: &wgpu::RenderPipeline, view: &wgpu::Buffer) -> wgpu::BindGroup {
        let resources = [(0, view.as_entire_binding()), (3, self.depths.as_entire_binding())];
        painter.bind_to(&pipeline.get_bind_group_layout(0), &resources)
    }
}

/// Pipelines that draw spheres of one kind.
pub struct Splats {
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
        let Pixels { depths, marks, tiles, .. } = pixels;
        encoder.clear_buffer(depths, 0, None);
        encoder.clear_buffer(marks, 0, None);
        for Shaded { arguments, .. } in &balls.batches {
            // No instances yet.
            encoder.clear_buffer(arguments, 4, Some(4));
        }
        let mut pass = encoder.begin_compute_pass(&Default::default());
        let group = |pipeline: &wgpu::ComputePipeline, number, buffers: &[(u32, &wgpu::Buffer)]| {
            let resources: Vec<_> = buffers
                .iter()
                .map(|&(binding, buffer)| (binding, buffer.as_entire_binding()))
                .collect();
            painter.bind_to(&pipeline.get_bind_group_layout(number), &resources)
        };
        pass.set_pipeline(&self.nearest);
        pass.set_bind_group(0, &group(&self.nearest, 0, &[(0, view), (1, depths)]), &[]);
        for batch in &balls.batches {
            let own = [(0, &batch.places), (2, &batch.large), (3, &batch.arguments)];
            pass.set_bind_group(1, &group(&self.nearest, 1, &own), &[]);
            pass.dispatch_workgroups(batch.count.div_ceil(GROUP), 1, 1);
        }
        pass.set_pipeline(&self.farthest);
        pass.set_bind_group(0, &group(&self.farthest, 0, &[(0, view), (1, depths), (3, tiles)]), &[]);
        pass.dispatch_workgroups(pixels.tile_count.div_ceil(GROUP), 1, 1);
        pass.set_pipeline(&self.mark);
        pass.set_bind_group(0, &group(&self.mark, 0, &[(0, view), (1, depths), (2, marks), (3, tiles)]), &[]);
        for batch in &balls.batches {
            let own = [(0, &batch.places), (1, &batch.shades), (3, &batch.arguments)];
            pass.set_bind_group(1, &group(&self.mark, 1, &own), &[]);
            pass.dispatch_workgroups(batch.count.div_ceil(GROUP), 1, 1);
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
            let resources = [&batch.places, &batch.shades, &balls.palette, &batch.large].map(wgpu::Buffer::as_entire_binding);
            pass.set_bind_group(1, &painter.bind(&self.squares, 1, &resources), &[]);
            pass.draw_indirect(&batch.arguments, 0);
        }
    }
}
