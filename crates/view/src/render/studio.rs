//! The passes that make a picture of a stage.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;

use super::{
    Floor, Stage,
    device::{DEPTH, LIT, Painter, Pipeline},
    props::{Batch, Colored, PaneInstance, Props, RodInstance},
};
use crate::{
    ViewError,
    camera::Camera,
    canvas::Canvas,
    color::{self, Rgb},
    coloring::{OTHERS, SCALE},
};

/// Format of the images of colors.
pub const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// Format of the images of depth and normals.
const SURFACE: wgpu::TextureFormat = wgpu::TextureFormat::Rg32Uint;

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
    scale: [f32; 2],
    cut: [f32; 4],
    swell: [f32; 4],
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
    /// Values at the ends of the scale of spheres whose shades are numbers.
    pub range: (f64, f64),
}

impl<'a> Shot<'a> {
    /// A picture of all.
    pub fn new(camera: &'a Camera, floors: &'a [Floor]) -> Shot<'a> {
        Shot {
            camera,
            floors,
            cut: None,
            range: (0.0, 1.0),
        }
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

    /// Brings a stage to the device.
    pub fn load(&self, stage: &Stage) -> Props {
        Props::new(&self.painter, stage)
    }

    /// Images for pictures of this size, drawn with so many pixels for each along either side: 1 or 2.
    pub fn targets(&self, size: (u32, u32), detail: u32) -> Targets {
        let inner = (detail * size.0, detail * size.1);
        Targets {
            size,
            detail,
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
        self.draw_solids(encoder, &view, props, &targets.solids);
        if !props.water.batches.is_empty() {
            let inner = targets.lit.texture();
            let size = (inner.width(), inner.height());
            let water = targets.water.get_or_init(|| (self.solids(size), self.solids(size)));
            self.draw_water(encoder, &view, &props.water, water, &targets.solids);
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
            view.as_entire_binding(),
            texture(&solids.albedo),
            texture(&solids.surface),
            texture(lit),
        ];
        let bindings = self.painter.bind_to(&light.get_bind_group_layout(0), &resources);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(light);
        pass.set_bind_group(0, &bindings, &[]);
        let image = lit.texture();
        pass.dispatch_workgroups(image.width().div_ceil(8), image.height().div_ceil(8), 1);
    }

    fn draw_solids(&self, encoder: &mut wgpu::CommandEncoder, view: &wgpu::Buffer, props: &Props, to: &Solids) {
        let mut pass = to.pass(encoder, true);
        self.draw_balls(&mut pass, &self.pipelines.balls, view, &props.balls);
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

    fn draw_balls(&self, pass: &mut wgpu::RenderPass, pipeline: &wgpu::RenderPipeline, view: &wgpu::Buffer, balls: &Colored) {
        if balls.batches.is_empty() {
            return;
        }
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &self.painter.bind(pipeline, 0, &[view.as_entire_binding()]), &[]);
        for batch in &balls.batches {
            let resources = [&batch.places, &batch.shades, &balls.palette].map(wgpu::Buffer::as_entire_binding);
            pass.set_bind_group(1, &self.painter.bind(pipeline, 1, &resources), &[]);
            pass.draw(0..4, 0..batch.count);
        }
    }

    /// Draws particles of fluids, smooths them to a surface, and lays it among the solids.
    fn draw_water(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::Buffer,
        drops: &Colored,
        (first, second): &(Solids, Solids),
        solids: &Solids,
    ) {
        self.draw_balls(&mut first.pass(encoder, true), &self.pipelines.drops, view, drops);
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
        let mut pass = solids.pass(encoder, false);
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

/// All pipelines, for pictures of one format.
struct Pipelines {
    balls: wgpu::RenderPipeline,
    /// Spheres that become a surface.
    drops: wgpu::RenderPipeline,
    rods: wgpu::RenderPipeline,
    panes: wgpu::RenderPipeline,
    /// Along either side of the picture.
    smooth: [wgpu::RenderPipeline; 2],
    merge: wgpu::RenderPipeline,
    light: wgpu::ComputePipeline,
    floors: wgpu::RenderPipeline,
    walls: wgpu::RenderPipeline,
    edges: wgpu::RenderPipeline,
    /// The mean of four pixels, or one pixel as it is.
    resolve: [wgpu::RenderPipeline; 2],
}

const SPHERES: &str = concat!(include_str!("view.wgsl"), include_str!("spheres.wgsl"));
const RODS: &str = concat!(include_str!("view.wgsl"), include_str!("rods.wgsl"));
const PANES: &str = concat!(include_str!("view.wgsl"), include_str!("panes.wgsl"));
const WATER: &str = concat!(include_str!("view.wgsl"), include_str!("water.wgsl"));
const LIGHT: &str = concat!(include_str!("view.wgsl"), include_str!("light.wgsl"));
const FLOORS: &str = concat!(include_str!("view.wgsl"), include_str!("floors.wgsl"));
const WALLS: &str = concat!(include_str!("view.wgsl"), include_str!("walls.wgsl"));
const EDGES: &str = concat!(include_str!("view.wgsl"), include_str!("edges.wgsl"));
const RESOLVE: &str = include_str!("resolve.wgsl");

impl Pipelines {
    fn new(painter: &Painter, format: wgpu::TextureFormat) -> Pipelines {
        let images = [COLOR, SURFACE];
        let spheres = |is_water: bool| {
            let constants = [
                ("SCALE", SCALE as f64),
                ("OTHERS", f64::from(OTHERS)),
                ("IS_NUMBER", 0.0),
                ("IS_WATER", f64::from(u8::from(is_water))),
            ];
            of_solids(painter, SPHERES, &constants, None)
        };
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
            depth: Some(true),
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
                depth: Some(false),
                ..Pipeline::covering(shader, "tint", &[LIT])
            })
        };
        Pipelines {
            balls: spheres(false),
            drops: spheres(true),
            rods: of_solids(painter, RODS, &[], Some(instances::<RodInstance>(rods))),
            panes: of_solids(painter, PANES, &[], Some(instances::<PaneInstance>(panes))),
            smooth: [smooth(0.0), smooth(1.0)],
            merge,
            light: painter.computation(LIGHT, "light"),
            floors: layer(FLOORS, false),
            walls: layer(WALLS, false),
            edges: layer(EDGES, true),
            resolve: ["average", "as_it_is"].map(|fragment| painter.pipeline(&Pipeline::covering(RESOLVE, fragment, &[format]))),
        }
    }
}

/// A pipeline that draws solids.
fn of_solids(
    painter: &Painter,
    shader: &str,
    constants: &[(&str, f64)],
    vertices: Option<wgpu::VertexBufferLayout>,
) -> wgpu::RenderPipeline {
    painter.pipeline(&Pipeline {
        constants,
        vertices,
        topology: wgpu::PrimitiveTopology::TriangleStrip,
        depth: Some(true),
        ..Pipeline::covering(shader, "hit", &[COLOR, SURFACE])
    })
}

fn instances<T>(attributes: &[wgpu::VertexAttribute]) -> wgpu::VertexBufferLayout<'_> {
    wgpu::VertexBufferLayout {
        array_stride: size_of::<T>() as u64,
        step_mode: wgpu::VertexStepMode::Instance,
        attributes,
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
    let (low, high) = shot.range;
    View {
        axes: camera.axes.map(|axis| axis.extend(axis.dot(away)).as_vec4().to_array()),
        focal: [2.0 * camera.focal / width, 2.0 * camera.focal / height].map(|f| f as f32),
        shift: [2.0 * camera.center[0] / width - 1.0, 1.0 - 2.0 * camera.center[1] / height].map(|s| s as f32),
        size: [width, height].map(|side| f64::from(targets.detail) * side).map(|side| side as f32),
        near: camera.near as f32,
        line: (0.5 * targets.detail as f32 * height as f32 / 900.0).max(0.3 * targets.detail as f32),
        occlusion: [1.2 * props.mean_radius, 9.0 * props.mean_radius].map(|reach| reach as f32),
        scale: [low as f32, ((SCALE - 1) as f64 / (high - low)) as f32],
        cut,
        swell: [(SWELL * props.radius_of_water) as f32, SWELL as f32, 0.0, 0.0],
        colors: [color::SKY, color::GROUND, color::WALL, color::EDGE].map(srgb),
    }
}
