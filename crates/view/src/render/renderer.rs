//! The passes that draw a picture of a scene.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;

use super::{
    Floor, RenderScene,
    device::{LIT, RenderDevice, attachment, texture},
    pipelines::{Pipelines, Resolve},
    scene_buffers::{Batch, Colored, SceneBuffers},
    solids::Solids,
    splats::{Pixels, may_be_large},
};
use crate::{
    ViewError,
    camera::{Camera, clip_plane},
    canvas::Canvas,
    color::{self, Rgb},
    surface::Surface,
};

/// Radius of fluid particles that are drawn as a surface, over their own radius: neighbors must overlap well.
const SWELL: f64 = 1.8;
/// Number of smoothing passes of fluid depths in each direction.
const SMOOTHINGS: usize = 2;
/// Share of its depth by which an edge is drawn nearer to the eye in perspective, so that touching grains do not hide it.
const EDGE_LIFT: f64 = 0.0005;
/// Most corners in one buffer, a multiple of three.
const MAX_CORNERS: usize = 3 << 20;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct View {
    axes: [[f32; 4]; 3],
    focal: [f32; 2],
    shift: [f32; 2],
    size: [f32; 2],
    near: f32,
    line: f32,
    occlusion: [f32; 2],
    swell: [f32; 2],
    cut: [f32; 4],
    colors: [[f32; 4]; 4],
}

/// Options for a picture of a scene.
#[derive(Clone, Copy)]
pub struct RenderOptions<'a> {
    /// The camera, in pixels of the picture.
    pub camera: &'a Camera,
    /// Planes behind all objects.
    pub floors: &'a [Floor],
    /// Normal of a clip plane, and its distance from the origin of space \[m\]. Beyond it, only walls are drawn.
    pub cut: Option<[f64; 4]>,
    /// Whether walls are drawn.
    pub has_walls: bool,
}

impl<'a> RenderOptions<'a> {
    /// Options for a picture of the whole scene.
    pub fn new(camera: &'a Camera, floors: &'a [Floor]) -> RenderOptions<'a> {
        RenderOptions {
            camera,
            floors,
            cut: None,
            has_walls: true,
        }
    }
}

/// The images for the passes of a picture.
pub struct Targets {
    size: (u32, u32),
    /// Pixels drawn per pixel of the picture along each side.
    detail: u32,
    pixels: Pixels,
    solids: Solids,
    /// Images of fluid particles, and those for smoothing them; created on demand.
    water: std::cell::OnceCell<(Solids, Solids)>,
    lit: wgpu::TextureView,
}

/// A device with its pipelines.
pub struct Renderer {
    /// The device.
    pub painter: RenderDevice,
    pipelines: Pipelines,
}

/// A layer of triangles or lines with its pipeline.
struct Layer<'a> {
    pipeline: &'a wgpu::RenderPipeline,
    /// Position and a second vector for each corner, or both ends for each line.
    vertices: Vec<[[f32; 3]; 2]>,
    is_lines: bool,
}

impl Renderer {
    /// A renderer for offscreen pictures.
    pub fn offscreen() -> Result<Renderer, ViewError> {
        let painter = RenderDevice::offscreen(RenderDevice::adapters())?;
        Renderer::new(painter, None)
    }

    /// A renderer for a window with images of this format, or for offscreen pictures.
    pub fn new(painter: RenderDevice, format: Option<wgpu::TextureFormat>) -> Result<Renderer, ViewError> {
        let pipelines = painter.guarded(|| Ok(Pipelines::new(&painter, format)))?;
        Ok(Renderer { painter, pipelines })
    }

    /// Uploads a scene; reuses the buffers of `last` where they fit.
    pub fn load(&self, stage: &RenderScene, last: Option<SceneBuffers>) -> SceneBuffers {
        SceneBuffers::new(&self.painter, &self.pipelines.shade, stage, last)
    }

    /// Number of pixels that can be drawn per pixel of a picture of this size, along each side. It is `wished`, or 1 if images and buffers of the
    /// device are too small for that.
    pub fn detail(&self, size: (u32, u32), wished: u32) -> u32 {
        detail_within(&self.painter.device.limits(), size, wished)
    }

    /// Images for pictures of this size, drawn with `detail` pixels per pixel along each side: 1 or 2.
    pub fn targets(&self, size: (u32, u32), detail: u32) -> Targets {
        let inner = (detail * size.0, detail * size.1);
        Targets {
            size,
            detail,
            pixels: Pixels::new(&self.painter, inner),
            solids: Solids::new(&self.painter, inner),
            water: Default::default(),
            lit: self.painter.image(inner, LIT),
        }
    }

    /// Draws a picture and downloads it.
    pub fn picture(
        &self,
        buffers: &SceneBuffers,
        shot: &RenderOptions,
        targets: &Targets,
        picture: &wgpu::TextureView,
    ) -> Result<Canvas, ViewError> {
        let mut encoder = self.painter.device.create_command_encoder(&Default::default());
        self.paint(&mut encoder, buffers, shot, targets, picture);
        Ok(Canvas {
            width: targets.size.0,
            height: targets.size.1,
            rgb: self.painter.read(encoder, picture)?,
        })
    }

    /// Adds the passes that draw a picture.
    pub fn paint(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        buffers: &SceneBuffers,
        shot: &RenderOptions,
        targets: &Targets,
        picture: &wgpu::TextureView,
    ) {
        let painter = &self.painter;
        for spheres in [&buffers.balls, &buffers.water] {
            spheres.shade(encoder, &self.pipelines.shade);
        }
        let view = painter.buffer(bytemuck::bytes_of(&view_of(buffers, shot, targets)), wgpu::BufferUsages::UNIFORM);
        let is_large = |balls: &Colored, swell| may_be_large(balls, swell, buffers.origin, shot.camera, (targets.size, targets.detail));
        let water = (!buffers.water.batches.is_empty()).then(|| {
            let inner = targets.lit.texture();
            let images = || Solids::new(painter, (inner.width(), inner.height()));
            let water = targets.water.get_or_init(|| (images(), images()));
            let has_large = is_large(&buffers.water, SWELL);
            self.draw_water(encoder, &view, (&buffers.water, has_large), water, &targets.pixels);
            &water.0
        });
        let has_triangles = water.is_some() || !buffers.rods.is_empty() || !buffers.panes.is_empty() || is_large(&buffers.balls, 1.0);
        self.draw_solids(encoder, &view, (buffers, has_triangles), water, targets);
        let Targets { solids, lit, .. } = targets;
        let resources = [
            view.as_entire_binding(),
            texture(&solids.albedo),
            texture(&solids.surface),
            texture(lit),
        ];
        painter.sweep(encoder, &self.pipelines.light, &resources, lit.texture());
        self.draw_layers(encoder, &view, &self.layers(buffers, shot), [lit, &solids.surface]);
        match &self.pipelines.resolve[targets.detail as usize - 1] {
            Resolve::Onto(resolve) => self.cover(encoder, resolve, &painter.bind(resolve, 0, &[texture(lit)]), &[picture]),
            Resolve::Into(resolve) => painter.sweep(encoder, resolve, &[texture(lit), texture(picture)], picture.texture()),
        }
    }

    /// Draws all solid objects, and the fluid surface among them.
    fn draw_solids(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::Buffer,
        (buffers, has_triangles): (&SceneBuffers, bool),
        water: Option<&Solids>,
        targets: &Targets,
    ) {
        let (painter, pipelines, balls) = (&self.painter, &self.pipelines, &buffers.balls);
        let Targets { solids, pixels, .. } = targets;
        pipelines.balls.place(painter, encoder, view, balls, pixels, solids);
        // Empty passes cost time, too.
        if !has_triangles {
            return;
        }
        let mut pass = solids.pass(encoder);
        pipelines.balls.draw(painter, &mut pass, view, balls, pixels);
        for (pipeline, batches) in [(&pipelines.rods, &buffers.rods), (&pipelines.panes, &buffers.panes)] {
            if batches.is_empty() {
                continue;
            }
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &pixels.among(painter, pipeline, view), &[]);
            for Batch { count, instances } in batches {
                pass.set_vertex_buffer(0, instances.slice(..));
                pass.draw(0..4, 0..*count);
            }
        }
        if let Some(water) = water {
            pass.set_pipeline(&pipelines.merge);
            let resources = [
                (0, view.as_entire_binding()),
                (1, texture(&water.albedo)),
                (2, texture(&water.surface)),
                (3, pixels.depths.as_entire_binding()),
            ];
            let bindings = painter.bind_to(&pipelines.merge.get_bind_group_layout(0), resources);
            pass.set_bind_group(0, &bindings, &[]);
            pass.draw(0..3, 0..1);
        }
    }

    /// Draws fluid particles and smooths them to a surface, from the first images to the second and back.
    fn draw_water(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::Buffer,
        (drops, has_large): (&Colored, bool),
        (first, second): &(Solids, Solids),
        pixels: &Pixels,
    ) {
        let splats = &self.pipelines.drops;
        splats.place(&self.painter, encoder, view, drops, pixels, first);
        if has_large {
            splats.draw(&self.painter, &mut first.pass(encoder), view, drops, pixels);
        }
        for _ in 0..SMOOTHINGS {
            for (pipeline, from, to) in [
                (&self.pipelines.smooth[0], first, second),
                (&self.pipelines.smooth[1], second, first),
            ] {
                let resources = [view.as_entire_binding(), texture(&from.albedo), texture(&from.surface)];
                let bindings = self.painter.bind(pipeline, 0, &resources);
                self.cover(encoder, pipeline, &bindings, &[&to.albedo, &to.surface]);
            }
        }
    }

    fn draw_layers(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::Buffer,
        layers: &[Layer],
        [lit, surface]: [&wgpu::TextureView; 2],
    ) {
        // Empty passes cost time, too.
        if layers.iter().all(|layer| layer.vertices.is_empty()) {
            return;
        }
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[attachment(lit, wgpu::LoadOp::Load)],
            ..Default::default()
        });
        for layer in layers {
            pass.set_pipeline(layer.pipeline);
            let resources = [view.as_entire_binding(), texture(surface)];
            pass.set_bind_group(0, &self.painter.bind(layer.pipeline, 0, &resources), &[]);
            for batch in layer.vertices.chunks(MAX_CORNERS) {
                let vertices = self.painter.buffer(bytemuck::cast_slice(batch), wgpu::BufferUsages::VERTEX);
                pass.set_vertex_buffer(0, vertices.slice(..));
                let count = batch.len() as u32;
                if layer.is_lines {
                    pass.draw(0..4, 0..count)
                } else {
                    pass.draw(0..count, 0..1)
                }
            }
        }
    }

    /// Adds one pass over every pixel of the targets.
    fn cover(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipeline: &wgpu::RenderPipeline,
        bindings: &wgpu::BindGroup,
        targets: &[&wgpu::TextureView],
    ) {
        let attachments: Vec<_> = targets
            .iter()
            .map(|target| attachment(target, wgpu::LoadOp::Clear(wgpu::Color::WHITE)))
            .collect();
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &attachments,
            ..Default::default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, bindings, &[]);
        pass.draw(0..3, 0..1);
    }

    /// The translucent layers of a scene in drawing order.
    fn layers(&self, buffers: &SceneBuffers, shot: &RenderOptions) -> [Layer<'_>; 3] {
        let camera = shot.camera;
        let point = |point: DVec3| camera.view(point).as_vec3().to_array();
        let floors = shot.floors.iter().flatten();
        let floors = floors.map(|&(corner, place)| [point(corner), place.as_vec3().to_array()]);
        let corner = |(corner, normal): (DVec3, DVec3)| [point(corner), camera.turn(normal).as_vec3().to_array()];
        let nothing = Surface::default();
        let walls = if shot.has_walls { &buffers.walls.surface } else { &nothing };
        let mut faces: Vec<_> = walls.triangles.iter().map(|corners| corners.map(corner)).collect();
        // Back to front.
        let depth = |face: &[[[f32; 3]; 2]; 3]| face.iter().map(|corner| corner[0][2]).sum::<f32>();
        faces.sort_by(|a, b| depth(b).total_cmp(&depth(a)));
        let is_in_front = |ends: &[[f32; 3]; 2]| ends.iter().any(|end| f64::from(end[2]) > camera.near);
        let edges = walls.edges.iter().map(|ends| ends.map(point)).filter(is_in_front);
        [
            (&self.pipelines.floors, floors.collect(), false),
            (&self.pipelines.walls, faces.into_flattened(), false),
            (&self.pipelines.edges, edges.collect(), true),
        ]
        .map(|(pipeline, vertices, is_lines)| Layer {
            pipeline,
            vertices,
            is_lines,
        })
    }
}

/// Camera parameters for the passes.
fn view_of(buffers: &SceneBuffers, shot: &RenderOptions, targets: &Targets) -> View {
    let camera = shot.camera;
    let [width, height] = [targets.size.0, targets.size.1].map(f64::from);
    let srgb = |[red, green, blue]: Rgb| [red, green, blue, 255].map(|channel| f32::from(channel) / 255.0);
    let away = buffers.origin - camera.eye;
    let mut colors = [color::SKY, color::GROUND, color::WALL, color::EDGE].map(srgb);
    colors[3][3] = (1.0 + EDGE_LIFT / camera.projection.remoteness()) as f32;
    let cut = shot.cut.map_or([0.0; 4], |cut| {
        let (direction, far) = clip_plane(cut, buffers.origin);
        direction.extend(far).as_vec4().to_array()
    });
    View {
        axes: camera.axes.map(|axis| axis.extend(axis.dot(away)).as_vec4().to_array()),
        focal: [2.0 * camera.focal / width, 2.0 * camera.focal / height].map(|f| f as f32),
        shift: [2.0 * camera.center[0] / width - 1.0, 1.0 - 2.0 * camera.center[1] / height].map(|s| s as f32),
        size: [width, height].map(|side| f64::from(targets.detail) * side).map(|side| side as f32),
        near: camera.near as f32,
        line: (0.5 * targets.detail as f32 * height as f32 / 900.0).max(0.3 * targets.detail as f32),
        occlusion: [1.2 * buffers.mean_radius, 9.0 * buffers.mean_radius].map(|reach| reach as f32),
        swell: [(SWELL * buffers.radius_of_water) as f32, SWELL as f32],
        cut,
        colors,
    }
}

fn detail_within(limits: &wgpu::Limits, size: (u32, u32), wished: u32) -> u32 {
    if fits(limits, size, wished) { wished } else { 1 }
}

/// Whether images and buffers of a device suffice for `detail` pixels per pixel of a picture of this size, along each side.
fn fits(limits: &wgpu::Limits, (width, height): (u32, u32), detail: u32) -> bool {
    let [width, height] = [width, height].map(|side| u64::from(side) * u64::from(detail));
    // The nearness buffer has one word per pixel.
    let room = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    width.max(height) <= u64::from(limits.max_texture_dimension_2d) && 4 * width * height <= room
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        camera::{Frame, Projection},
        render::{PICTURE, SphereBatch},
    };

    #[test]
    fn pictures_that_are_too_large_for_a_device_are_drawn_with_fewer_pixels() {
        let limits = wgpu::Limits {
            max_texture_dimension_2d: 8192,
            max_storage_buffer_binding_size: 128 << 20,
            max_buffer_size: 256 << 20,
            ..wgpu::Limits::default()
        };
        for (size, detail) in [
            ((1600, 1000), 2),
            ((4096, 2000), 2),
            ((4097, 100), 1),
            ((4096, 2160), 1),
            ((8192, 100), 1),
        ] {
            assert_eq!(detail_within(&limits, size, 2), detail, "{size:?}");
            assert_eq!(detail_within(&limits, size, 1), 1);
        }
        // The default limits, which every adapter has, suffice for all allowed pictures.
        let most = *ViewError::SIDE.end();
        assert!(fits(&wgpu::Limits::default(), (most, most), 1));
    }

    #[test]
    fn a_window_whose_images_encode_no_colors_shows_those_of_pictures() {
        let painter = RenderDevice::offscreen(RenderDevice::adapters()).unwrap();
        let balls = SphereBatch {
            places: &[[0.0, 0.0, 0.0, 1.0]],
            shade: &[0],
            palette: &[[200, 60, 40]],
            ..SphereBatch::default()
        };
        let stage = RenderScene {
            balls,
            ..RenderScene::default()
        };
        let size = (64, 64);
        let frame = Frame {
            corner: [0.0; 2],
            size: [64.0; 2],
        };
        let camera = Camera::standing(DVec3::ZERO, DVec3::new(0.3, -1.0, 0.4), 5.0, frame, Projection::Perspective);
        let [picture, window] = [None, Some(PICTURE)].map(|format| {
            let studio = Renderer::new(painter.clone(), format).unwrap();
            let drawn = painter.guarded(|| {
                let buffers = studio.load(&stage, None);
                let image = painter.image(size, PICTURE);
                studio.picture(&buffers, &RenderOptions::new(&camera, &[]), &studio.targets(size, 2), &image)
            });
            drawn.unwrap().rgb
        });
        assert!(picture.iter().any(|&channel| channel < 60), "a ball is seen");
        assert!(picture.iter().zip(&window).all(|(a, b)| a.abs_diff(*b) <= 1));
    }
}
