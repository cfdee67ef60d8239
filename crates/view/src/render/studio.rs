//! The passes that make a picture of a stage.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;

use super::{
    Floor, Stage,
    device::{LIT, Painter, adapters, attachment, texture},
    pipelines::{Pipelines, Resolve},
    props::{Batch, Colored, Props},
    solids::Solids,
    splats::{Pixels, may_be_large},
};
use crate::{
    ViewError,
    camera::{Camera, cut_from},
    canvas::Canvas,
    color::{self, Rgb},
    surface::Surface,
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
    pub cut: Option<[f64; 4]>,
    /// Whether walls are drawn.
    pub has_walls: bool,
}

impl<'a> Shot<'a> {
    /// A picture of all.
    pub fn new(camera: &'a Camera, floors: &'a [Floor]) -> Shot<'a> {
        Shot {
            camera,
            floors,
            cut: None,
            has_walls: true,
        }
    }
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
        let painter = Painter::offscreen(adapters())?;
        Studio::new(painter, None)
    }

    /// One that draws on images of this format, of a window, or else pictures that none shows.
    pub fn new(painter: Painter, format: Option<wgpu::TextureFormat>) -> Result<Studio, ViewError> {
        let pipelines = painter.guarded(|| Ok(Pipelines::new(&painter, format)))?;
        Ok(Studio { painter, pipelines })
    }

    /// Brings a stage to the device, into the memory of one that is shown no more where that fits.
    pub fn load(&self, stage: &Stage, last: Option<Props>) -> Props {
        Props::new(&self.painter, &self.pipelines.shade, stage, last)
    }

    /// How many pixels can be drawn for each of a picture of this size along either side: as many as are wished, or 1 where images and buffers of the
    /// device do not hold so many.
    pub fn detail(&self, size: (u32, u32), wished: u32) -> u32 {
        detail_within(&self.painter.device.limits(), size, wished)
    }

    /// Images for pictures of this size, drawn with so many pixels for each along either side: 1 or 2.
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
        for spheres in [&props.balls, &props.water] {
            spheres.shade(encoder, &self.pipelines.shade);
        }
        let view = painter.buffer(bytemuck::bytes_of(&view_of(props, shot, targets)), wgpu::BufferUsages::UNIFORM);
        let is_large = |balls: &Colored, swell| may_be_large(balls, swell, props.origin, shot.camera, (targets.size, targets.detail));
        let water = (!props.water.batches.is_empty()).then(|| {
            let inner = targets.lit.texture();
            let images = || Solids::new(painter, (inner.width(), inner.height()));
            let water = targets.water.get_or_init(|| (images(), images()));
            let has_large = is_large(&props.water, SWELL);
            self.draw_water(encoder, &view, (&props.water, has_large), water, &targets.pixels);
            &water.0
        });
        let has_triangles = water.is_some() || !props.rods.is_empty() || !props.panes.is_empty() || is_large(&props.balls, 1.0);
        self.draw_solids(encoder, &view, (props, has_triangles), water, targets);
        let Targets { solids, lit, .. } = targets;
        let resources = [
            view.as_entire_binding(),
            texture(&solids.albedo),
            texture(&solids.surface),
            texture(lit),
        ];
        painter.sweep(encoder, &self.pipelines.light, &resources, lit.texture());
        self.draw_layers(encoder, &view, &self.layers(props, shot), [lit, &solids.surface]);
        match &self.pipelines.resolve[targets.detail as usize - 1] {
            Resolve::Onto(resolve) => self.cover(encoder, resolve, &painter.bind(resolve, 0, &[texture(lit)]), &[picture]),
            Resolve::Into(resolve) => painter.sweep(encoder, resolve, &[texture(lit), texture(picture)], picture.texture()),
        }
    }

    /// Draws all that is solid, and lays the surface of water among it.
    fn draw_solids(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::Buffer,
        (props, has_triangles): (&Props, bool),
        water: Option<&Solids>,
        targets: &Targets,
    ) {
        let (painter, pipelines, balls) = (&self.painter, &self.pipelines, &props.balls);
        let Targets { solids, pixels, .. } = targets;
        pipelines.balls.place(painter, encoder, view, balls, pixels, solids);
        // Empty passes cost time, too.
        if !has_triangles {
            return;
        }
        let mut pass = solids.pass(encoder);
        pipelines.balls.draw(painter, &mut pass, view, balls, pixels);
        for (pipeline, batches) in [(&pipelines.rods, &props.rods), (&pipelines.panes, &props.panes)] {
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

    /// Draws particles of fluids and smooths them to a surface, from the first images to the second and back.
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
        let nothing = Surface::default();
        let walls = if shot.has_walls { &props.walls.surface } else { &nothing };
        let mut faces: Vec<_> = walls.triangles.iter().map(|corners| corners.map(corner)).collect();
        // From the back to the front.
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

/// What the passes know of the camera.
fn view_of(props: &Props, shot: &Shot, targets: &Targets) -> View {
    let camera = shot.camera;
    let [width, height] = [targets.size.0, targets.size.1].map(f64::from);
    let srgb = |[red, green, blue]: Rgb| [red, green, blue, 255].map(|channel| f32::from(channel) / 255.0);
    let away = props.origin - camera.eye;
    let cut = shot.cut.map_or([0.0; 4], |cut| {
        let (direction, far) = cut_from(cut, props.origin);
        direction.extend(far).as_vec4().to_array()
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

fn detail_within(limits: &wgpu::Limits, size: (u32, u32), wished: u32) -> u32 {
    if fits(limits, size, wished) { wished } else { 1 }
}

/// Whether images and buffers of a device hold so many pixels for each of a picture of this size along either side.
fn fits(limits: &wgpu::Limits, (width, height): (u32, u32), detail: u32) -> bool {
    let [width, height] = [width, height].map(|side| u64::from(side) * u64::from(detail));
    // How near what is seen in each pixel comes is a word in a buffer.
    let room = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    width.max(height) <= u64::from(limits.max_texture_dimension_2d) && 4 * width * height <= room
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        camera::Frame,
        render::{Balls, PICTURE},
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
        // What every adapter has is enough for all pictures that may be asked for.
        let most = *ViewError::SIDE.end();
        assert!(fits(&wgpu::Limits::default(), (most, most), 1));
    }

    #[test]
    fn a_window_whose_images_encode_no_colors_shows_those_of_pictures() {
        let painter = Painter::offscreen(adapters()).unwrap();
        let balls = Balls {
            places: &[[0.0, 0.0, 0.0, 1.0]],
            shade: &[0],
            palette: &[[200, 60, 40]],
            ..Balls::default()
        };
        let stage = Stage { balls, ..Stage::default() };
        let size = (64, 64);
        let frame = Frame {
            corner: [0.0; 2],
            size: [64.0; 2],
        };
        let camera = Camera::standing(DVec3::ZERO, DVec3::new(0.3, -1.0, 0.4), 5.0, frame);
        let [picture, window] = [None, Some(PICTURE)].map(|format| {
            let studio = Studio::new(painter.clone(), format).unwrap();
            let drawn = painter.guarded(|| {
                let props = studio.load(&stage, None);
                let image = painter.image(size, PICTURE);
                studio.picture(&props, &Shot::new(&camera, &[]), &studio.targets(size, 2), &image)
            });
            drawn.unwrap().rgb
        });
        assert!(picture.iter().any(|&channel| channel < 60), "a ball is seen");
        assert!(picture.iter().zip(&window).all(|(a, b)| a.abs_diff(*b) <= 1));
    }
}
