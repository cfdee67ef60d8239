//! Images of what can be seen: its colors, its depths with its normals, and, of what is drawn as triangles, its nearness.

use super::device::{DEPTH, LIT, Painter, SURFACE, attachment};

/// Images of solids.
pub struct Solids {
    /// Colors.
    pub albedo: wgpu::TextureView,
    /// Depths along the optical axis, 0 where nothing is, and normals.
    pub surface: wgpu::TextureView,
    /// How near comes what is drawn as triangles.
    pub depth: wgpu::TextureView,
}

impl Solids {
    /// Images of this size \[px\].
    pub fn new(painter: &Painter, size: (u32, u32)) -> Solids {
        Solids {
            albedo: painter.image(size, LIT),
            surface: painter.image(size, SURFACE),
            depth: painter.image(size, DEPTH),
        }
    }

    /// A pass that draws into these images, among what is there.
    pub fn pass<'a>(&self, encoder: &'a mut wgpu::CommandEncoder) -> wgpu::RenderPass<'a> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[
                attachment(&self.albedo, wgpu::LoadOp::Load),
                attachment(&self.surface, wgpu::LoadOp::Load),
            ],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(0.0),
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }
}
