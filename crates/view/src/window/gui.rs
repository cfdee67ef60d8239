//! Panels over the scene: egui on winit and wgpu.

use std::sync::Arc;

use winit::{event::WindowEvent, event_loop::EventLoopProxy, window::Window};

use super::loader::LoaderEvent;
use crate::{camera::Frame, render::RenderDevice};

/// Draws panels and handles their events.
pub struct Gui {
    state: egui_winit::State,
    renderer: egui_wgpu::Renderer,
    /// Area outside of the panels in points, after the first layout.
    free: Option<egui::Rect>,
}

/// Panels ready for drawing.
pub struct Painted {
    output: egui::FullOutput,
}

impl Gui {
    /// Panels of a window.
    pub fn new(window: &Arc<Window>, device: &wgpu::Device, format: wgpu::TextureFormat, to: EventLoopProxy<LoaderEvent>) -> Gui {
        let context = egui::Context::default();
        context.set_theme(egui::Theme::Light);
        context.set_request_repaint_callback(move |asked| {
            // A closed window is no longer drawn.
            let _ = to.send_event(LoaderEvent::Repaint(asked.delay));
        });
        let (root, scale) = (egui::ViewportId::ROOT, window.scale_factor() as f32);
        let most = device.limits().max_texture_dimension_2d as usize;
        Gui {
            state: egui_winit::State::new(context, root, window, Some(scale), None, Some(most)),
            renderer: egui_wgpu::Renderer::new(device, format, egui_wgpu::RendererOptions::default()),
            free: None,
        }
    }

    /// Handles an event; returns whether a panel consumed it.
    pub fn take(&mut self, window: &Window, event: &WindowEvent) -> bool {
        self.state.on_window_event(window, event).consumed
    }

    /// Part of the window outside of the panels \[px\], or all of it if they leave nothing; `None` before the first layout.
    pub fn scene_frame(&self, window: &Window) -> Option<Frame> {
        let (free, size) = (self.free?, window.inner_size());
        if !free.is_positive() {
            return Some(Frame {
                corner: [0.0; 2],
                size: [f64::from(size.width), f64::from(size.height)],
            });
        }
        let scale = self.state.egui_ctx().pixels_per_point();
        let (corner, size) = (free.min * scale, free.size() * scale);
        Some(Frame {
            corner: [corner.x, corner.y].map(f64::from),
            size: [size.x, size.y].map(|side| f64::from(side).max(1.0)),
        })
    }

    /// Lays out the panels.
    pub fn run(&mut self, window: &Window, mut lay_out: impl FnMut(&mut egui::Ui)) -> Painted {
        let input = self.state.take_egui_input(window);
        let context = self.state.egui_ctx().clone();
        let mut free = egui::Rect::NOTHING;
        let mut output = context.run_ui(input, |ui| {
            lay_out(ui);
            free = ui.available_rect_before_wrap();
        });
        self.free = Some(free);
        self.state
            .handle_platform_output(window, std::mem::take(&mut output.platform_output));
        Painted { output }
    }

    /// Draws the panels over the scene, or over an empty background.
    pub fn paint(
        &mut self,
        painter: &RenderDevice,
        mut encoder: wgpu::CommandEncoder,
        picture: &wgpu::TextureView,
        painted: Painted,
        has_scene: bool,
    ) {
        let RenderDevice { device, queue, .. } = painter;
        let mut output = painted.output;
        let context = self.state.egui_ctx();
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: [picture.texture().width(), picture.texture().height()],
            pixels_per_point: output.pixels_per_point,
        };
        let shapes = context.tessellate(std::mem::take(&mut output.shapes), output.pixels_per_point);
        for (id, changes) in output.textures_delta.set.drain() {
            for change in changes {
                self.renderer.update_texture(device, queue, id, &change);
            }
        }
        let mut commands = self.renderer.update_buffers(device, queue, &mut encoder, &shapes, &screen);
        let load = if has_scene {
            wgpu::LoadOp::Load
        } else {
            wgpu::LoadOp::Clear(wgpu::Color::WHITE)
        };
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: picture,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load,
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        self.renderer.render(&mut pass.forget_lifetime(), &shapes, &screen);
        commands.push(encoder.finish());
        queue.submit(commands);
        for id in output.textures_delta.free.drain() {
            self.renderer.free_texture(&id);
        }
    }
}
