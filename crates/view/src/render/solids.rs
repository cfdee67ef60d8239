//! Images of visible objects: colors, depths with normals, and nearness of objects drawn as triangles.

use super::device::{DEPTH, LIT, RenderDevice, SURFACE, attachment};

/// Images of solid objects.
pub struct Solids {
    /// Colors.
    pub albedo: wgpu::TextureView,
    /// Depths along the optical axis, 0 where there is no object, and normals.
    pub surface: wgpu::TextureView,
    /// Nearness of the objects drawn as triangles.
    pub depth: wgpu::TextureView,
}

impl Solids {
    /// Images of this size \[px\].
    pub fn new(painter: &RenderDevice, size: (u32, u32)) -> Solids {
        Solids {
            albedo: painter.image(size, LIT),
            surface: painter.image(size, SURFACE),
            depth: painter.image(size, DEPTH),
        }
    }

    /// Begins a pass that draws into these images and keeps their contents.
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
