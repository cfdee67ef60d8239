//! Pipelines for the passes of a picture.

use super::{
    device::{LIT, Pipeline, RenderDevice, SURFACE},
    scene_buffers::{PaneInstance, RodInstance},
    splats::Splats,
};
use crate::coloring::{OTHERS, SCALE};

/// Format of offscreen pictures: sRGB colors.
pub const PICTURE: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// Averages the pixels drawn for each pixel of a picture.
pub enum Resolve {
    /// For a window.
    Onto(wgpu::RenderPipeline),
    /// For an offscreen picture.
    Into(wgpu::ComputePipeline),
}

/// All pipelines, for pictures of one format.
pub struct Pipelines {
    /// Spheres.
    pub balls: Splats,
    /// Spheres that form a surface.
    pub drops: Splats,
    /// Computes the colors of spheres.
    pub shade: wgpu::ComputePipeline,
    /// Rods.
    pub rods: wgpu::RenderPipeline,
    /// Triangles.
    pub panes: wgpu::RenderPipeline,
    /// Smooths depths of fluids, along either direction of the picture.
    pub smooth: [wgpu::RenderPipeline; 2],
    /// Draws the fluid surface among the solids.
    pub merge: wgpu::RenderPipeline,
    /// Light and occlusion.
    pub light: wgpu::ComputePipeline,
    /// Planes behind all objects.
    pub floors: wgpu::RenderPipeline,
    /// Translucent triangles.
    pub walls: wgpu::RenderPipeline,
    /// Edges of the translucent triangles.
    pub edges: wgpu::RenderPipeline,
    /// Averaging of one pixel, or of two along each side.
    pub resolve: [Resolve; 2],
}

const RODS: &str = concat!(include_str!("view.wgsl"), include_str!("among.wgsl"), include_str!("rods.wgsl"));
const PANES: &str = concat!(include_str!("view.wgsl"), include_str!("among.wgsl"), include_str!("panes.wgsl"));
const WATER: &str = concat!(
    include_str!("view.wgsl"),
    include_str!("cover.wgsl"),
    include_str!("among.wgsl"),
    include_str!("water.wgsl")
);
const SHADE: &str = include_str!("shade.wgsl");
const LIGHT: &str = concat!(include_str!("view.wgsl"), include_str!("light.wgsl"));
const FLOORS: &str = concat!(include_str!("view.wgsl"), include_str!("layers.wgsl"), include_str!("floors.wgsl"));
const WALLS: &str = concat!(include_str!("view.wgsl"), include_str!("layers.wgsl"), include_str!("walls.wgsl"));
const EDGES: &str = concat!(include_str!("view.wgsl"), include_str!("layers.wgsl"), include_str!("edges.wgsl"));
const ONTO: &str = concat!(include_str!("cover.wgsl"), include_str!("resolve.wgsl"), include_str!("onto.wgsl"));
const INTO: &str = concat!(include_str!("resolve.wgsl"), include_str!("into.wgsl"));

impl Pipelines {
    /// Pipelines for a window with images of this format, or for offscreen pictures.
    pub fn new(painter: &RenderDevice, format: Option<wgpu::TextureFormat>) -> Pipelines {
        let images = [LIT, SURFACE];
        let rods = &wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x3, 2 => Unorm8x4];
        let panes = &wgpu::vertex_attr_array![
            0 => Float32x3, 1 => Float32x3, 2 => Float32x3,
            3 => Float32x3, 4 => Float32x3, 5 => Float32x3,
            6 => Unorm8x4, 7 => Unorm8x4, 8 => Unorm8x4
        ];
        let smooth = |is_upright: f64| {
            painter.pipeline(&Pipeline {
                constants: &[("IS_UPRIGHT", is_upright)],
                ..Pipeline::covering(WATER, "smoothed", &images)
            })
        };
        let merge = painter.pipeline(&Pipeline {
            constants: &[("IS_UPRIGHT", 0.0)],
            has_depth: true,
            ..Pipeline::covering(WATER, "merge", &images)
        });
        let layer = |shader, is_lines| {
            let (step_mode, topology) = if is_lines {
                (wgpu::VertexStepMode::Instance, wgpu::PrimitiveTopology::TriangleStrip)
            } else {
                (wgpu::VertexStepMode::Vertex, wgpu::PrimitiveTopology::TriangleList)
            };
            painter.pipeline(&Pipeline {
                vertices: Some(wgpu::VertexBufferLayout {
                    array_stride: 24,
                    step_mode,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3],
                }),
                topology,
                has_blending: true,
                ..Pipeline::covering(shader, "tint", &[LIT])
            })
        };
        Pipelines {
            balls: Splats::new(painter, false),
            drops: Splats::new(painter, true),
            shade: painter.computation(SHADE, "shade", &[("LAST", (SCALE - 1) as f64), ("OTHERS", f64::from(OTHERS))]),
            rods: of_solids(painter, RODS, instances::<RodInstance>(rods)),
            panes: of_solids(painter, PANES, instances::<PaneInstance>(panes)),
            smooth: [smooth(0.0), smooth(1.0)],
            merge,
            light: painter.computation(LIGHT, "light", &[]),
            floors: layer(FLOORS, false),
            walls: layer(WALLS, false),
            edges: layer(EDGES, true),
            resolve: [1.0, 2.0].map(|detail| match format {
                Some(format) => Resolve::Onto(painter.pipeline(&Pipeline {
                    constants: &[("DETAIL", detail), ("IS_PLAIN", f64::from(u8::from(is_plain(format))))],
                    ..Pipeline::covering(ONTO, "onto", &[format])
                })),
                None => Resolve::Into(painter.computation(INTO, "into", &[("DETAIL", detail)])),
            }),
        }
    }
}

/// Whether images of this format show stored values unchanged. Others encode sRGB themselves, or store light.
fn is_plain(format: wgpu::TextureFormat) -> bool {
    !format.is_srgb() && format != wgpu::TextureFormat::Rgba16Float
}

/// A pipeline that draws solid objects.
fn of_solids(painter: &RenderDevice, shader: &str, vertices: wgpu::VertexBufferLayout) -> wgpu::RenderPipeline {
    painter.pipeline(&Pipeline {
        vertices: Some(vertices),
        topology: wgpu::PrimitiveTopology::TriangleStrip,
        has_depth: true,
        ..Pipeline::covering(shader, "hit", &[LIT, SURFACE])
    })
}

fn instances<T>(attributes: &[wgpu::VertexAttribute]) -> wgpu::VertexBufferLayout<'_> {
    wgpu::VertexBufferLayout {
        array_stride: size_of::<T>() as u64,
        step_mode: wgpu::VertexStepMode::Instance,
        attributes,
    }
}
