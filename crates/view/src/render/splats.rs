//! Spheres: those that are seen in few pixels are placed by compute passes, of which all graphics cards are fast, the others as squares.
//!
//! Cards made for computing draw triangles with few of their units, and small triangles waste units of every card (Schütz, Kerbl & Wimmer 2021,
//! "Rendering point clouds with compute shaders and vertex order optimization").

use super::{
    device::{Painter, Pipeline},
    pipelines::{COLOR, SURFACE},
    props::{Colored, Shaded},
};

const SPLAT: &str = concat!(include_str!("view.wgsl"), include_str!("balls.wgsl"), include_str!("splat.wgsl"));
const SQUARES: &str = concat!(include_str!("view.wgsl"), include_str!("balls.wgsl"), include_str!("spheres.wgsl"));
const SETTLE: &str = concat!(include_str!("view.wgsl"), include_str!("cover.wgsl"), include_str!("settle.wgsl"));

/// Invocations in a group.
const GROUP: u32 = 256;

/// What is nearest in each pixel, while spheres are placed.
pub struct Pixels {
    /// How near it comes.
    depths: wgpu::Buffer,
    /// What it looks like.
    marks: wgpu::Buffer,
}

impl Pixels {
    /// Those of images of this size.
    pub fn new(painter: &Painter, (width, height): (u32, u32)) -> Pixels {
        let words = || painter.empty(4 * u64::from(width) * u64::from(height), wgpu::BufferUsages::STORAGE);
        Pixels {
            depths: words(),
            marks: words(),
        }
    }
}

/// Pipelines that draw spheres of one kind.
pub struct Splats {
    nearest: wgpu::ComputePipeline,
    mark: wgpu::ComputePipeline,
    settle: wgpu::RenderPipeline,
    squares: wgpu::RenderPipeline,
}

impl Splats {
    /// Those of spheres as they are, or of those that become a surface.
    pub fn new(painter: &Painter, is_water: bool) -> Splats {
        let constants = [("IS_WATER", f64::from(u8::from(is_water)))];
        let solids = |shader, fragment, constants, topology| {
            painter.pipeline(&Pipeline {
                constants,
                topology,
                depth: Some(true),
                ..Pipeline::covering(shader, fragment, &[COLOR, SURFACE])
            })
        };
        Splats {
            nearest: painter.computation(SPLAT, "nearest", &constants),
            mark: painter.computation(SPLAT, "mark", &constants),
            settle: solids(SETTLE, "settle", &[], wgpu::PrimitiveTopology::TriangleList),
            squares: solids(SQUARES, "hit", &constants, wgpu::PrimitiveTopology::TriangleStrip),
        }
    }

    /// Finds what is nearest in each pixel, and which spheres are too large for that.
    pub fn place(&self, painter: &Painter, encoder: &mut wgpu::CommandEncoder, view: &wgpu::Buffer, balls: &Colored, pixels: &Pixels) {
        let Pixels { depths, marks } = pixels;
        encoder.clear_buffer(depths, 0, None);
        encoder.clear_buffer(marks, 0, None);
        for Shaded { arguments, .. } in &balls.batches {
            // No instances yet.
            encoder.clear_buffer(arguments, 4, Some(4));
        }
        let mut pass = encoder.begin_compute_pass(&Default::default());
        let mut run = |pipeline: &wgpu::ComputePipeline, common: &[&wgpu::Buffer], own: fn(&Shaded) -> [(u32, &wgpu::Buffer); 3]| {
            let group = |number, buffers: &mut dyn Iterator<Item = (u32, &wgpu::Buffer)>| {
                let resources: Vec<_> = buffers.map(|(binding, buffer)| (binding, buffer.as_entire_binding())).collect();
                painter.bind_to(&pipeline.get_bind_group_layout(number), &resources)
            };
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &group(0, &mut (0..).zip(common.iter().copied())), &[]);
            for batch in &balls.batches {
                pass.set_bind_group(1, &group(1, &mut own(batch).into_iter()), &[]);
                pass.dispatch_workgroups(batch.count.div_ceil(GROUP), 1, 1);
            }
        };
        run(&self.nearest, &[view, depths], |batch| {
            [(0, &batch.places), (2, &batch.large), (3, &batch.arguments)]
        });
        run(&self.mark, &[view, depths, marks], |batch| {
            [(0, &batch.places), (1, &batch.shades), (3, &batch.arguments)]
        });
    }

    /// Draws what was found, and what was too large.
    pub fn draw(&self, painter: &Painter, pass: &mut wgpu::RenderPass, view: &wgpu::Buffer, balls: &Colored, pixels: &Pixels) {
        let found = [view, &pixels.depths, &pixels.marks, &balls.palette].map(wgpu::Buffer::as_entire_binding);
        pass.set_pipeline(&self.settle);
        pass.set_bind_group(0, &painter.bind(&self.settle, 0, &found), &[]);
        pass.draw(0..3, 0..1);
        pass.set_pipeline(&self.squares);
        pass.set_bind_group(0, &painter.bind(&self.squares, 0, &[view.as_entire_binding()]), &[]);
        for batch in &balls.batches {
            let resources = [&batch.places, &batch.shades, &balls.palette, &batch.large].map(wgpu::Buffer::as_entire_binding);
            pass.set_bind_group(1, &painter.bind(&self.squares, 1, &resources), &[]);
            pass.draw_indirect(&batch.arguments, 0);
        }
    }
}
