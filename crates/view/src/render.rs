//! Draws spheres, rods, panes and walls offscreen, on any Vulkan, Metal or Direct3D 12 device.
//!
//! Four passes at twice the size of the picture: spheres, rods and panes into color, depth and normal images; light and occlusion from
//! those; walls and their edges over it, tested against the depth of the spheres; the mean of every four pixels.

mod device;

use bytemuck::{Pod, Zeroable};
use device::{DEPTH, Painter, Pipeline};
use glam::DVec3;

use crate::{
    ViewError,
    camera::Camera,
    canvas::Canvas,
    color::{self, Rgb},
    surface::Surface,
};

/// Bytes in one buffer, within what every device allocates.
const BATCH: usize = 80 << 20;
const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const SURFACE: wgpu::TextureFormat = wgpu::TextureFormat::Rg32Uint;

/// A sphere to draw.
#[derive(Clone, Copy, Debug)]
pub struct Sphere {
    /// Center \[m\].
    pub center: DVec3,
    /// Radius \[m\].
    pub radius: f64,
    /// Color of the side that faces the eye.
    pub color: Rgb,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct SphereInstance {
    sphere: [f32; 4],
    color: [u8; 4],
}

/// A straight rod with round ends.
#[derive(Clone, Copy, Debug)]
pub struct Rod {
    /// Middles of its ends \[m\].
    pub ends: [DVec3; 2],
    /// Radius \[m\].
    pub radius: f64,
    /// Color of the side that faces the eye.
    pub color: Rgb,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct RodInstance {
    /// One end, and the radius.
    first: [f32; 4],
    second: [f32; 3],
    color: [u8; 4],
}

/// A triangle that hides what is behind it.
#[derive(Clone, Copy, Debug)]
pub struct Pane {
    /// Its corners \[m\].
    pub corners: [DVec3; 3],
    /// Normals of the surface at the corners, on either side.
    pub normals: [DVec3; 3],
    /// Colors of both sides at the corners.
    pub colors: [Rgb; 3],
}

impl Pane {
    /// A flat one of one color.
    pub fn flat(corners: [DVec3; 3], color: Rgb) -> Pane {
        let [a, b, c] = corners;
        Pane {
            corners,
            normals: [(b - a).cross(c - a).normalize_or_zero(); 3],
            colors: [color; 3],
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct PaneInstance {
    corners: [[f32; 3]; 3],
    normals: [[f32; 3]; 3],
    colors: [[u8; 4]; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct View {
    focal: [f32; 2],
    shift: [f32; 2],
    size: [f32; 2],
    near: f32,
    line: f32,
    occlusion: [f32; 2],
    padding: [f32; 2],
    colors: [[f32; 4]; 4],
}

/// What stands in front of the camera.
#[derive(Default)]
pub struct Stage {
    /// Spheres.
    pub spheres: Vec<Sphere>,
    /// Rods.
    pub rods: Vec<Rod>,
    /// Colored triangles.
    pub panes: Vec<Pane>,
    /// Corners of translucent triangles \[m\].
    pub walls: Vec<[DVec3; 3]>,
    /// Triangles with a grid that fades out: corners \[m\] and places in the grid (see floors.wgsl).
    pub floors: Vec<[(DVec3, DVec3); 3]>,
}

/// The picture that `camera` takes, `size` pixels wide and high.
pub fn render(stage: &Stage, camera: &Camera, size: (u32, u32)) -> Result<Canvas, ViewError> {
    let painter = pollster::block_on(Painter::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env()))?;
    let scopes = [
        wgpu::ErrorFilter::Internal,
        wgpu::ErrorFilter::Validation,
        wgpu::ErrorFilter::OutOfMemory,
    ];
    let guards = scopes.map(|filter| painter.device.push_error_scope(filter));
    let pixels = painter.paint(stage, camera, size);
    for guard in guards.into_iter().rev() {
        if let Some(error) = pollster::block_on(guard.pop()) {
            return Err(painter.failed(error));
        }
    }
    Ok(Canvas {
        width: size.0,
        height: size.1,
        rgb: pixels?,
    })
}

/// Bodies of one form that rays hit.
struct Solids<'a, T> {
    shader: &'static str,
    instances: Vec<T>,
    attributes: &'a [wgpu::VertexAttribute],
}

/// Triangles or lines laid over the lit spheres.
struct Layer {
    shader: &'static str,
    /// Position and one more vector of each corner; both ends of each line.
    vertices: Vec<[[f32; 3]; 2]>,
    is_lines: bool,
}

impl Painter {
    fn paint(&self, stage: &Stage, camera: &Camera, size: (u32, u32)) -> Result<Vec<u8>, ViewError> {
        let double = (2 * size.0, 2 * size.1);
        let [albedo, lit] = [(); 2].map(|()| self.image(double, COLOR));
        let (surface, depth, picture) = (self.image(double, SURFACE), self.image(double, DEPTH), self.image(size, COLOR));
        let view = self.buffer(bytemuck::bytes_of(&view_of(camera, stage, size)), wgpu::BufferUsages::UNIFORM);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let spheres = Solids {
            shader: concat!(include_str!("render/view.wgsl"), include_str!("render/spheres.wgsl")),
            instances: instances(&stage.spheres, camera),
            attributes: &wgpu::vertex_attr_array![0 => Float32x4, 1 => Unorm8x4],
        };
        let rods = Solids {
            shader: concat!(include_str!("render/view.wgsl"), include_str!("render/rods.wgsl")),
            instances: rod_instances(&stage.rods, camera),
            attributes: &wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x3, 2 => Unorm8x4],
        };
        let panes = Solids {
            shader: concat!(include_str!("render/view.wgsl"), include_str!("render/panes.wgsl")),
            instances: pane_instances(&stage.panes, camera),
            attributes: &wgpu::vertex_attr_array![
                0 => Float32x3, 1 => Float32x3, 2 => Float32x3,
                3 => Float32x3, 4 => Float32x3, 5 => Float32x3,
                6 => Unorm8x4, 7 => Unorm8x4, 8 => Unorm8x4
            ],
        };
        let images = [&albedo, &surface, &depth];
        self.draw_solids(&mut encoder, &view, &spheres, (images, true));
        if !rods.instances.is_empty() {
            self.draw_solids(&mut encoder, &view, &rods, (images, false));
        }
        if !panes.instances.is_empty() {
            self.draw_solids(&mut encoder, &view, &panes, (images, false));
        }
        let light = self.pipeline(&Pipeline {
            shader: concat!(include_str!("render/view.wgsl"), include_str!("render/light.wgsl")),
            fragment: "light",
            vertices: None,
            topology: wgpu::PrimitiveTopology::TriangleList,
            targets: &[COLOR],
            has_blending: false,
            depth: None,
        });
        let bindings = [view.as_entire_binding(), texture(&albedo), texture(&surface)];
        self.cover(&mut encoder, &light, &self.bind(&light, &bindings), &lit);
        self.draw_layers(&mut encoder, &view, &layers(stage, camera), [&lit, &depth]);
        let resolve = self.pipeline(&Pipeline {
            shader: include_str!("render/resolve.wgsl"),
            fragment: "average",
            vertices: None,
            topology: wgpu::PrimitiveTopology::TriangleList,
            targets: &[COLOR],
            has_blending: false,
            depth: None,
        });
        self.cover(&mut encoder, &resolve, &self.bind(&resolve, &[texture(&lit)]), &picture);
        self.read(encoder, &picture, size)
    }

    /// Draws solids into color, surface and depth images, which are cleared before if `is_first`.
    fn draw_solids<T: Pod>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::Buffer,
        solids: &Solids<T>,
        ([albedo, surface, depth], is_first): ([&wgpu::TextureView; 3], bool),
    ) {
        let pipeline = self.pipeline(&Pipeline {
            shader: solids.shader,
            fragment: "hit",
            vertices: Some(wgpu::VertexBufferLayout {
                array_stride: size_of::<T>() as u64,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes: solids.attributes,
            }),
            topology: wgpu::PrimitiveTopology::TriangleStrip,
            targets: &[COLOR, SURFACE],
            has_blending: false,
            depth: Some(true),
        });
        let bindings = self.bind(&pipeline, &[view.as_entire_binding()]);
        let (empty, farthest) = if is_first {
            (wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT), wgpu::LoadOp::Clear(0.0))
        } else {
            (wgpu::LoadOp::Load, wgpu::LoadOp::Load)
        };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[attachment(albedo, empty), attachment(surface, empty)],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: depth,
                depth_ops: Some(wgpu::Operations {
                    load: farthest,
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        for batch in solids.instances.chunks(BATCH / size_of::<T>()) {
            pass.set_vertex_buffer(0, self.buffer(bytemuck::cast_slice(batch), wgpu::BufferUsages::VERTEX).slice(..));
            pass.draw(0..4, 0..batch.len() as u32);
        }
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
            let (step_mode, topology) = if layer.is_lines {
                (wgpu::VertexStepMode::Instance, wgpu::PrimitiveTopology::TriangleStrip)
            } else {
                (wgpu::VertexStepMode::Vertex, wgpu::PrimitiveTopology::TriangleList)
            };
            let attributes = &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3];
            let pipeline = self.pipeline(&Pipeline {
                shader: layer.shader,
                fragment: "tint",
                vertices: Some(wgpu::VertexBufferLayout {
                    array_stride: 24,
                    step_mode,
                    attributes,
                }),
                topology,
                targets: &[COLOR],
                has_blending: true,
                depth: Some(false),
            });
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &self.bind(&pipeline, &[view.as_entire_binding()]), &[]);
            // Whole triangles: a multiple of their three corners.
            for batch in layer.vertices.chunks(BATCH / 72 * 3) {
                pass.set_vertex_buffer(0, self.buffer(bytemuck::cast_slice(batch), wgpu::BufferUsages::VERTEX).slice(..));
                let count = batch.len() as u32;
                if layer.is_lines {
                    pass.draw(0..4, 0..count)
                } else {
                    pass.draw(0..count, 0..1)
                }
            }
        }
    }

    /// One pass over every pixel of `target`.
    fn cover(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipeline: &wgpu::RenderPipeline,
        bindings: &wgpu::BindGroup,
        target: &wgpu::TextureView,
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[attachment(target, wgpu::LoadOp::Clear(wgpu::Color::WHITE))],
            ..Default::default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, bindings, &[]);
        pass.draw(0..3, 0..1);
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
fn view_of(camera: &Camera, stage: &Stage, size: (u32, u32)) -> View {
    let [width, height] = [size.0, size.1].map(f64::from);
    // A rod is about as long as the two radii that it stands for.
    let of_rods = stage.rods.iter().map(|rod| 0.5 * (rod.ends[1] - rod.ends[0]).length());
    let radii = stage.spheres.iter().map(|sphere| sphere.radius).chain(of_rods);
    let sides = stage.panes.iter().map(|pane| (pane.corners[1] - pane.corners[0]).length());
    let lengths = radii.chain(sides);
    let bodies = stage.spheres.len() + stage.rods.len() + stage.panes.len();
    let mean_radius = lengths.sum::<f64>() / bodies.max(1) as f64;
    let srgb = |[red, green, blue]: Rgb| [red, green, blue, 255].map(|channel| f32::from(channel) / 255.0);
    View {
        focal: [2.0 * camera.focal / width, 2.0 * camera.focal / height].map(|f| f as f32),
        shift: [2.0 * camera.center[0] / width - 1.0, 1.0 - 2.0 * camera.center[1] / height].map(|s| s as f32),
        size: [2.0 * width as f32, 2.0 * height as f32],
        near: camera.near as f32,
        line: (height as f32 / 900.0).max(0.6),
        occlusion: [1.2 * mean_radius, 9.0 * mean_radius].map(|reach| reach as f32),
        padding: [0.0; 2],
        colors: [color::SKY, color::GROUND, color::WALL, color::EDGE].map(srgb),
    }
}

/// The translucent layers of a stage, in the order in which they are laid.
fn layers(stage: &Stage, camera: &Camera) -> [Layer; 3] {
    let point = |point: DVec3| camera.view(point).as_vec3().to_array();
    let surface = Surface::new(&stage.walls);
    let floors = stage
        .floors
        .iter()
        .flatten()
        .map(|&(corner, place)| [point(corner), place.as_vec3().to_array()]);
    let mut faces: Vec<[[[f32; 3]; 2]; 3]> = surface
        .triangles
        .iter()
        .map(|corners| corners.map(|(corner, normal)| [point(corner), camera.turn(normal).as_vec3().to_array()]))
        .collect();
    // From the back to the front.
    let depth = |face: &[[[f32; 3]; 2]; 3]| face.iter().map(|corner| corner[0][2]).sum::<f32>();
    faces.sort_by(|a, b| depth(b).total_cmp(&depth(a)));
    let is_in_front = |ends: &[[f32; 3]; 2]| ends.iter().any(|end| f64::from(end[2]) > camera.near);
    let edges = surface.edges.iter().map(|ends| ends.map(point)).filter(is_in_front);
    [
        Layer {
            shader: concat!(include_str!("render/view.wgsl"), include_str!("render/floors.wgsl")),
            vertices: floors.collect(),
            is_lines: false,
        },
        Layer {
            shader: concat!(include_str!("render/view.wgsl"), include_str!("render/walls.wgsl")),
            vertices: faces.into_flattened(),
            is_lines: false,
        },
        Layer {
            shader: concat!(include_str!("render/view.wgsl"), include_str!("render/edges.wgsl")),
            vertices: edges.collect(),
            is_lines: true,
        },
    ]
}

/// The spheres that are in front of the camera, in its coordinates, nearest first so that hidden ones cost little.
fn instances(spheres: &[Sphere], camera: &Camera) -> Vec<SphereInstance> {
    let mut instances: Vec<SphereInstance> = spheres
        .iter()
        .filter_map(|sphere| {
            let center = camera.view(sphere.center);
            let is_in_front = center.z - sphere.radius > camera.near;
            let [red, green, blue] = sphere.color;
            is_in_front.then(|| SphereInstance {
                sphere: center.as_vec3().extend(sphere.radius as f32).to_array(),
                color: [red, green, blue, 255],
            })
        })
        .collect();
    instances.sort_by(|a, b| a.sphere[2].total_cmp(&b.sphere[2]));
    instances
}

/// The rods that are in front of the camera, in its coordinates.
fn rod_instances(rods: &[Rod], camera: &Camera) -> Vec<RodInstance> {
    let instance = |rod: &Rod| {
        let [first, second] = rod.ends.map(|end| camera.view(end));
        let is_in_front = first.z.min(second.z) - rod.radius > camera.near;
        let [red, green, blue] = rod.color;
        is_in_front.then(|| RodInstance {
            first: first.as_vec3().extend(rod.radius as f32).to_array(),
            second: second.as_vec3().to_array(),
            color: [red, green, blue, 255],
        })
    };
    rods.iter().filter_map(instance).collect()
}

/// The panes, in the coordinates of the camera.
fn pane_instances(panes: &[Pane], camera: &Camera) -> Vec<PaneInstance> {
    let instance = |pane: &Pane| PaneInstance {
        corners: pane.corners.map(|corner| camera.view(corner).as_vec3().to_array()),
        normals: pane.normals.map(|normal| camera.turn(normal).as_vec3().to_array()),
        colors: pane.colors.map(|[red, green, blue]| [red, green, blue, 255]),
    };
    panes.iter().map(instance).collect()
}
