//! The passes that make a picture of a stage.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;

use super::{
    Floor, Stage,
    device::{DEPTH, LIT, Painter},
    pipelines::{COLOR, Pipelines, SURFACE},
    props::{Batch, Colored, Props},
    splats::{Pixels, Splats},
};
use crate::{
    ViewError,
    camera::Camera,
    canvas::Canvas,
    color::{self, Rgb},
};

/// Radius with which particles of fluids are drawn that become a surface, over their own: those beside each other overlap well.
const SWELL: f64 = 1.8;
/// How often depths of fluids are smoothed in either direction.
const SMOOTHINGS: usize = 2;
/// Corners in one buffer: a multiple of the three of a triangle.
const MOST_CORNERS: usize = 3 << 20;

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

/// How a picture is taken of what stands on a stage.
#[derive(Clone, Copy)]
pub struct Shot<'a> {
    /// The camera, in pixels of the picture.
    pub camera: &'a Camera,
    /// Planes that are laid behind all.
    pub floors: &'a [Floor],
    /// Direction, and distance from the origin of space along it \[m\], beyond which nothing is drawn but walls.
    pub cut: Option<(DVec3, f64)>,
}

impl<'a> Shot<'a> {
    /// A picture of all.
    pub fn new(camera: &'a Camera, floors: &'a [Floor]) -> Shot<'a> {
        Shot { camera, floors, cut: None }
    }
}

/// Images of solids: color, depth and normal, depth.
struct Solids {
    albedo: wgpu::TextureView,
    surface: wgpu::TextureView,
    depth: wgpu::TextureView,
}

/// The images that a picture is made in.
pub struct Targets {
    size: (u32, u32),
    /// Pixels drawn for one of the picture along either side.
    detail: u32,
    pixels: Pixels,
    solids: Solids,
    /// Images of particles of fluids, and those between which these are smoothed; made when they are needed.
    water: std::cell::OnceCell<(Solids, Solids)>,
    lit: wgpu::TextureView,
}

/// A device with all that draws on it.
pub struct Studio {
    /// The device.
    pub painter: Painter,
    pipelines: Pipelines,
}

/// Which pipeline draws a layer of triangles or lines.
struct Layer<'a> {
    pipeline: &'a wgpu::RenderPipeline,
    /// Position and one more vector of each corner; both ends of each line.
    vertices: Vec<[[f32; 3]; 2]>,
    is_lines: bool,
}

impl Studio {
    /// One that draws pictures which no window shows.
    pub fn offscreen() -> Result<Studio, ViewError> {
        let painter = Painter::offscreen(wgpu::InstanceDescriptor::new_without_display_handle_from_env())?;
        Studio::new(painter, COLOR)
    }

    /// One that draws on images of this format.
    pub fn new(painter: Painter, format: wgpu::TextureFormat) -> Result<Studio, ViewError> {
        let pipelines = painter.guarded(|| Ok(Pipelines::new(&painter, format)))?;
        Ok(Studio { painter, pipelines })
    }

    /// Brings a stage to the device, into the memory of one that is shown no more where that fits.
    pub fn load(&self, stage: &Stage, last: Option<Props>) -> Props {
        Props::new(&self.painter, stage, last)
    }

    /// Images for pictures of this size, drawn with so many pixels for each along either side: 1 or 2.
    pub fn targets(&self, size: (u32, u32), detail: u32) -> Targets {
        let inner = (detail * size.0, detail * size.1);
        Targets {
            size,
            detail,
            pixels: Pixels::new(&self.painter, inner),
            solids: self.solids(inner),
            water: Default::default(),
            lit: self.painter.image(inner, LIT),
        }
    }

    fn solids(&self, size: (u32, u32)) -> Solids {
        Solids {
            albedo: self.painter.image(size, COLOR),
            surface: self.painter.image(size, SURFACE),
            depth: self.painter.image(size, DEPTH),
        }
    }

    /// Takes a picture and brings it to memory.
    pub fn picture(&self, props: &Props, shot: &Shot, targets: &Targets, picture: &wgpu::TextureView) -> Result<Canvas, ViewError> {
        let mut encoder = self.painter.device.create_command_encoder(&Default::default());
        self.paint(&mut encoder, props, shot, targets, picture);
        Ok(Canvas {
            width: targets.size.0,
            height: targets.size.1,
            rgb: self.painter.read(encoder, picture)?,
        })
    }

    /// Adds the passes that take a picture.
    pub fn paint(&self, encoder: &mut wgpu::CommandEncoder, props: &Props, shot: &Shot, targets: &Targets, picture: &wgpu::TextureView) {
        let painter = &self.painter;
        let view = painter.buffer(bytemuck::bytes_of(&view_of(props, shot, targets)), wgpu::BufferUsages::UNIFORM);
        self.draw_solids(encoder, &view, props, targets);
        if !props.water.batches.is_empty() {
            let inner = targets.lit.texture();
            let size = (inner.width(), inner.height());
            let water = targets.water.get_or_init(|| (self.solids(size), self.solids(size)));
            self.draw_water(encoder, &view, &props.water, water, targets);
        }
        self.light(encoder, &view, targets);
        self.draw_layers(encoder, &view, &self.layers(props, shot), [&targets.lit, &targets.solids.depth]);
        let resolve = &self.pipelines.resolve[usize::from(targets.detail == 1)];
        self.cover(encoder, resolve, &painter.bind(resolve, 0, &[texture(&targets.lit)]), &[picture]);
    }

    /// Light and occlusion of the solids.
    fn light(&self, encoder: &mut wgpu::CommandEncoder, view: &wgpu::Buffer, targets: &Targets) {
        let Targets { solids, lit, .. } = targets;
        let light = &self.pipelines.light;
        let resources = [
            (0, view.as_entire_binding()),
            (1, texture(&solids.albedo)),
            (2, texture(&solids.surface)),
            (3, texture(lit)),
        ];
        let bindings = self.painter.bind_to(&light.get_bind_group_layout(0), &resources);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(light);
        pass.set_bind_group(0, &bindings, &[]);
        let image = lit.texture();
        pass.dispatch_workgroups(image.width().div_ceil(8), image.height().div_ceil(8), 1);
    }

    fn draw_solids(&self, encoder: &mut wgpu::CommandEncoder, view: &wgpu::Buffer, props: &Props, targets: &Targets) {
        let mut pass = self.draw_balls(encoder, &self.pipelines.balls, view, &props.balls, targets, &targets.solids);
        for (pipeline, batches) in [(&self.pipelines.rods, &props.rods), (&self.pipelines.panes, &props.panes)] {
            if batches.is_empty() {
                continue;
            }
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &self.painter.bind(pipeline, 0, &[view.as_entire_binding()]), &[]);
            for Batch { count, instances } in batches {
                pass.set_vertex_buffer(0, instances.slice(..));
                pass.draw(0..4, 0..*count);
            }
        }
    }

    /// Draws spheres into images of solids, as the first of what is there.
    fn draw_balls<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        splats: &Splats,
        view: &wgpu::Buffer,
        balls: &Colored,
        targets: &Targets,
        to: &Solids,
    ) -> wgpu::RenderPass<'a> {
        if balls.batches.is_empty() {
            return to.pass(encoder, true);
        }
        splats.place(&self.painter, encoder, view, balls, &targets.pixels);
        let mut pass = to.pass(encoder, true);
        splats.draw(&self.painter, &mut pass, view, balls, &targets.pixels);
        pass
    }

    /// Draws particles of fluids, smooths them to a surface, and lays it among the solids.
    fn draw_water(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::Buffer,
        drops: &Colored,
        (first, second): &(Solids, Solids),
        targets: &Targets,
    ) {
        drop(self.draw_balls(encoder, &self.pipelines.drops, view, drops, targets, first));
        let bindings = |pipeline: &wgpu::RenderPipeline, from: &Solids| {
            let resources = [view.as_entire_binding(), texture(&from.albedo), texture(&from.surface)];
            self.painter.bind(pipeline, 0, &resources)
        };
        for _ in 0..SMOOTHINGS {
            for (pipeline, from, to) in [
                (&self.pipelines.smooth[0], first, second),
                (&self.pipelines.smooth[1], second, first),
            ] {
                self.cover(encoder, pipeline, &bindings(pipeline, from), &[&to.albedo, &to.surface]);
            }
        }
        let mut pass = targets.solids.pass(encoder, false);
        pass.set_pipeline(&self.pipelines.merge);
        pass.set_bind_group(0, &bindings(&self.pipelines.merge, first), &[]);
        pass.draw(0..3, 0..1);
    }

    fn draw_layers(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::Buffer,
        layers: &[Layer],
        [lit, depth]: [&wgpu::TextureView; 2],
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[attachment(lit, wgpu::LoadOp::Load)],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: depth,
                depth_ops: None,
                stencil_ops: None,
            }),
            ..Default::default()
        });
        for layer in layers {
            pass.set_pipeline(layer.pipeline);
            pass.set_bind_group(0, &self.painter.bind(layer.pipeline, 0, &[view.as_entire_binding()]), &[]);
            for batch in layer.vertices.chunks(MOST_CORNERS) {
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

    /// One pass over every pixel of the targets.
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

    /// The translucent layers of a stage, in the order in which they are laid.
    fn layers(&self, props: &Props, shot: &Shot) -> [Layer<'_>; 3] {
        let camera = shot.camera;
        let point = |point: DVec3| camera.view(point).as_vec3().to_array();
        let floors = shot.floors.iter().flatten();
        let floors = floors.map(|&(corner, place)| [point(corner), place.as_vec3().to_array()]);
        let corner = |(corner, normal): (DVec3, DVec3)| [point(corner), camera.turn(normal).as_vec3().to_array()];
        let mut faces: Vec<_> = props.walls.triangles.iter().map(|corners| corners.map(corner)).collect();
        // From the back to the front.
        let depth = |face: &[[[f32; 3]; 2]; 3]| face.iter().map(|corner| corner[0][2]).sum::<f32>();
        faces.sort_by(|a, b| depth(b).total_cmp(&depth(a)));
        let is_in_front = |ends: &[[f32; 3]; 2]| ends.iter().any(|end| f64::from(end[2]) > camera.near);
        let edges = props.walls.edges.iter().map(|ends| ends.map(point)).filter(is_in_front);
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

impl Solids {
    /// A pass that draws into these images, which are cleared before if it is the first.
    fn pass<'a>(&self, encoder: &'a mut wgpu::CommandEncoder, is_first: bool) -> wgpu::RenderPass<'a> {
        let (empty, farthest) = if is_first {
            (wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT), wgpu::LoadOp::Clear(0.0))
        } else {
            (wgpu::LoadOp::Load, wgpu::LoadOp::Load)
        };
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[attachment(&self.albedo, empty), attachment(&self.surface, empty)],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations {
                    load: farthest,
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }
}

fn texture(view: &wgpu::TextureView) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::TextureView(view)
}

fn attachment(view: &wgpu::TextureView, load: wgpu::LoadOp<wgpu::Color>) -> Option<wgpu::RenderPassColorAttachment<'_>> {
    let ops = wgpu::Operations {
        load,
        store: wgpu::StoreOp::Store,
    };
    Some(wgpu::RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: None,
        ops,
    })
}

/// What the passes know of the camera.
fn view_of(props: &Props, shot: &Shot, targets: &Targets) -> View {
    let camera = shot.camera;
    let [width, height] = [targets.size.0, targets.size.1].map(f64::from);
    let srgb = |[red, green, blue]: Rgb| [red, green, blue, 255].map(|channel| f32::from(channel) / 255.0);
    let away = props.origin - camera.eye;
    let cut = shot.cut.map_or([0.0; 4], |(direction, far)| {
        let unit = direction.normalize_or_zero();
        unit.extend(far - unit.dot(props.origin)).as_vec4().to_array()
    });
    View {
        axes: camera.axes.map(|axis| axis.extend(axis.dot(away)).as_vec4().to_array()),
        focal: [2.0 * camera.focal / width, 2.0 * camera.focal / height].map(|f| f as f32),
        shift: [2.0 * camera.center[0] / width - 1.0, 1.0 - 2.0 * camera.center[1] / height].map(|s| s as f32),
        size: [width, height].map(|side| f64::from(targets.detail) * side).map(|side| side as f32),
        near: camera.near as f32,
        line: (0.5 * targets.detail as f32 * height as f32 / 900.0).max(0.3 * targets.detail as f32),
        occlusion: [1.2 * props.mean_radius, 9.0 * props.mean_radius].map(|reach| reach as f32),
        swell: [(SWELL * props.radius_of_water) as f32, SWELL as f32],
        cut,
        colors: [color::SKY, color::GROUND, color::WALL, color::EDGE].map(srgb),
    }
}
