//! A frame in memory, and its finished picture.

use std::sync::{Arc, OnceLock};

use glam::DVec3;
use seixo_files::vtk::{VtkBodies, VtkBonds, VtkContacts, VtkFluid, VtkPoints, VtkWalls};

use crate::{
    PictureOptions, Shown, ViewError,
    bodies::Surfaces,
    camera::{Camera, Frame, Projection},
    canvas::Canvas,
    coloring::{Coloring, Legend},
    gpu_particles::{GpuParticles, Piece},
    overlay::Overlay,
    render::{PICTURE, Pane, RenderOptions, RenderScene, Renderer, Rod, SphereBatch},
    scale,
    scene_bounds::{Extent, SceneGeometry},
    text::TextWriter,
};

/// All visible contents at one time.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Index of the frame in a recording, from 0. For a running simulation the number of steps plus the number of changes by user actions.
    pub number: u64,
    /// Title.
    pub title: String,
    /// Time \[s\].
    pub time: f64,
    /// Names of the fields for the color of grains and fluids.
    pub fields: Vec<String>,
    /// Colors of the balls, the marks, the rods or the panes.
    pub coloring: Coloring,
    /// Colors of the balls if `coloring` is that of marks or rods. Fluid particles are then drawn beside them as a smoothed surface.
    pub beside: Option<Coloring>,
    /// Number of balls drawn, from the first on; the others only count for the bounds.
    pub shown: usize,
    /// Whether fluid particles are drawn as a smoothed surface.
    pub is_smooth: bool,
    /// Contacts or bonds.
    pub rods: Vec<Rod>,
    /// Marks of bond breaks, if shown: positions relative to the origin, and radii \[m\].
    pub marks: Option<Vec<[f32; 4]>>,
    /// The middle of the scene \[m\].
    pub origin: DVec3,
    /// Center relative to the origin and radius of each grain, followed by each fluid particle or vertex of the fluid surface \[m\]. The radius is
    /// negative for spheres of bodies and of polyhedral grains that are drawn as surfaces: they count for the bounds and can be picked, but are not
    /// drawn.
    pub balls: Vec<[f32; 4]>,
    /// Id of each ball.
    pub id: Vec<u32>,
    /// Number of grains.
    pub grains: usize,
    /// Number of fluid particles.
    pub particles: usize,
    /// Triangles of the surface of fluids.
    pub skin: Vec<Pane>,
    /// Triangles of the surfaces of bodies from meshes, and of polyhedral grains.
    pub bodies: Vec<Pane>,
    /// Triangles of walls, colored by a field.
    pub panes: Vec<Pane>,
    /// Corners of the other triangles of each wall \[m\].
    pub walls: Vec<Vec<[DVec3; 3]>>,
    /// All balls, if they lie on a GPU: then the balls above are a sample of them, without ids.
    pub gpu_particles: Option<Arc<GpuParticles>>,
    /// Bounds of the balls, computed on demand: see [`Snapshot::extent()`].
    pub extent: OnceLock<Extent>,
}

/// Data of which a snapshot is made.
#[derive(Clone, Debug, Default)]
pub struct SnapshotParts {
    /// Time \[s\].
    pub time: f64,
    /// Grains, if there may be any.
    pub grains: Option<VtkPoints>,
    /// Fluids, if there are any.
    pub fluid: Option<VtkFluid>,
    /// Walls.
    pub walls: VtkWalls,
    /// Surfaces of bodies from meshes and of polyhedral grains, if there are any.
    pub bodies: Option<VtkBodies>,
    /// Contacts, if they are shown.
    pub contacts: Option<VtkContacts>,
    /// Bonds, if they are shown.
    pub bonds: Option<VtkBonds>,
}

/// Data of a snapshot without contacts and bonds, with one value per particle.
#[derive(Clone, Debug, Default)]
pub struct PreviewParts {
    /// Time \[s\].
    pub time: f64,
    /// Ids of grains, then of fluid particles.
    pub id: Vec<u32>,
    /// Origin of positions \[m\].
    pub origin: [f64; 3],
    /// Centers relative to the origin, and radii \[m\].
    pub places: Vec<[f32; 4]>,
    /// A value for each.
    pub values: Vec<f32>,
    /// Name and unit of the values.
    pub field: (&'static str, &'static str),
    /// Number of grains.
    pub grains: usize,
    /// Walls.
    pub walls: VtkWalls,
    /// Surfaces of bodies from meshes and of polyhedral grains, if there are any and they are shown.
    pub bodies: Option<VtkBodies>,
    /// Names of all fields for the color.
    pub fields: Vec<String>,
}

impl Snapshot {
    /// A snapshot of these data.
    pub fn of_preview(mut parts: PreviewParts, options: &PictureOptions, number: u64) -> Snapshot {
        let (name, unit) = parts.field;
        let coloring = Coloring::of_preview(&parts.values, name, unit, options.range);
        let grains = parts.id.get(..parts.grains).unwrap_or_default();
        let surfaces = parts.bodies.as_ref().map(|bodies| Surfaces::of(bodies, grains, &coloring));
        let panes = surfaces.map_or_else(Vec::new, |surfaces| surfaces.in_place_of(&mut parts.places));
        let mut walls = vec![Vec::new(); parts.walls.names.len()];
        for (corners, wall) in parts.walls.triangles.iter().zip(&parts.walls.wall) {
            if let Some(wall) = walls.get_mut(*wall as usize) {
                wall.push(corners.map(DVec3::from));
            }
        }
        Snapshot {
            number,
            title: options.title.clone().unwrap_or_default(),
            time: parts.time,
            fields: parts.fields,
            coloring,
            shown: parts.places.len(),
            is_smooth: options.shown == Shown::Smooth,
            origin: parts.origin.into(),
            grains: parts.grains,
            particles: parts.places.len() - parts.grains,
            id: parts.id,
            balls: parts.places,
            bodies: panes,
            walls,
            ..Snapshot::default()
        }
    }
}

/// Default direction from the scene to the camera.
pub const FROM: DVec3 = DVec3::new(0.45, -1.0, 0.42);
/// Default directions to a plane flow, by the axis normal to it.
const HEAD_ON: [DVec3; 3] = [DVec3::X, DVec3::NEG_Y, DVec3::Z];

/// Direction from the scene to the camera, and the projection. Where the options leave them open, a plane flow with this normal axis is seen head-on
/// and without perspective.
pub fn outlook(options: &PictureOptions, plane: Option<usize>) -> (DVec3, Projection) {
    let from = options.view.map_or(plane.map_or(FROM, |axis| HEAD_ON[axis]), DVec3::from);
    let automatic = if plane.is_some() {
        Projection::Orthographic
    } else {
        Projection::Perspective
    };
    (from, options.projection.unwrap_or(automatic))
}

impl Snapshot {
    /// The finished picture with legend, scale bar and heading.
    pub fn draw(&self, studio: &Renderer, options: &PictureOptions) -> Result<Canvas, ViewError> {
        let scenery = self.scenery();
        let outlook = outlook(options, self.plane());
        let camera = Camera::framing(self.in_view(&scenery).into_iter(), outlook, frame_of(options.size));
        self.draw_from(studio, options, &scenery, &camera)
    }

    /// As [`Snapshot::draw`], with a given camera.
    pub fn draw_from(
        &self,
        studio: &Renderer,
        options: &PictureOptions,
        scenery: &SceneGeometry,
        camera: &Camera,
    ) -> Result<Canvas, ViewError> {
        let pen = TextWriter::new()?;
        let here = self.on(&studio.painter)?;
        let floors = if options.has_walls {
            scenery.floors(camera.eye)
        } else {
            Vec::new()
        };
        let shot = RenderOptions {
            cut: options.cut,
            has_walls: options.has_walls,
            ..RenderOptions::new(camera, &floors)
        };
        let mut canvas = studio.painter.guarded(|| {
            let buffers = studio.load(&here.stage(scenery), None);
            let targets = studio.targets(options.size, studio.detail(options.size, 2));
            let picture = studio.painter.image(options.size, PICTURE);
            studio.picture(&buffers, &shot, &targets, &picture)
        })?;
        let mut board = Overlay {
            canvas: &mut canvas,
            pen: &pen,
            unit: unit(options.size) as f32,
        };
        board.heading(options.title.as_deref().unwrap_or(&self.title), self.time, &self.seen());
        board.legend(&self.coloring.legend);
        board.scale_bar(camera.middle / camera.focal, frame_of(options.size).size[0]);
        Ok(canvas)
    }

    /// The axis normal to a plane flow; `None` in three dimensions. All positions of a plane flow have the same coordinate along it.
    pub fn plane(&self) -> Option<usize> {
        let [low, high] = self.extent().bounds;
        let mut flat = (0..3).filter(|&axis| low[axis] == high[axis]);
        flat.next().filter(|_| self.particles > 0 && flat.next().is_none())
    }

    /// Description of the contents.
    pub fn seen(&self) -> String {
        let mut seen = match (self.grains, self.particles) {
            (0, particles) if particles > 0 => counted(particles, "particle"),
            (grains, 0) => counted(grains, "grain"),
            (grains, particles) => format!("{}   ·   {}", counted(grains, "grain"), counted(particles, "particle")),
        };
        if let Some(marks) = &self.marks {
            seen += &format!("   ·   {}", counted(marks.len(), "broken bond"));
        }
        seen
    }

    /// The scene for the renderer.
    pub fn stage<'a>(&'a self, scenery: &'a SceneGeometry) -> RenderScene<'a> {
        let Coloring { palette, shade, legend } = &self.coloring;
        let part = |from: usize, to: usize| SphereBatch {
            places: &self.balls[from..to],
            shade: &shade[from..to],
            palette,
            bounds: Some(self.extent().bounds),
            ..SphereBatch::default()
        };
        let ends = match legend {
            Legend::Scale { range: (low, high), .. } => [*low, *high],
            Legend::Classes { .. } => [0.0, 1.0],
        };
        let lying = |gpu_particles: &'a [Piece]| SphereBatch {
            palette,
            on_gpu: gpu_particles,
            ends,
            ..SphereBatch::default()
        };
        let beside = self.beside.as_ref().map_or_else(SphereBatch::default, |colors| SphereBatch {
            places: &self.balls[self.grains..],
            shade: &colors.shade[self.grains..],
            palette: &colors.palette,
            bounds: Some(self.extent().bounds),
            ..SphereBatch::default()
        });
        let (balls, water) = match (&self.gpu_particles, &self.marks) {
            (Some(gpu_particles), _) => {
                let (grains, fluids) = gpu_particles
                    .pieces
                    .split_at(gpu_particles.pieces.partition_point(|piece| !piece.is_fluid));
                if self.is_smooth {
                    (lying(grains), lying(fluids))
                } else {
                    (lying(&gpu_particles.pieces), SphereBatch::default())
                }
            }
            (None, Some(places)) => (
                SphereBatch {
                    places,
                    shade,
                    palette,
                    ..SphereBatch::default()
                },
                beside,
            ),
            (None, None) if self.is_smooth => (part(0, self.grains), part(self.grains, self.shown.max(self.grains))),
            (None, None) => (part(0, self.shown), beside),
        };
        RenderScene {
            origin: self.origin,
            balls,
            water,
            rods: &self.rods,
            panes: if self.panes.is_empty() { &self.skin } else { &self.panes },
            bodies: &self.bodies,
            walls: &scenery.walls,
        }
    }

    /// Center of a ball \[m\].
    pub fn center(&self, ball: &[f32; 4]) -> DVec3 {
        self.origin + DVec3::new(ball[0].into(), ball[1].into(), ball[2].into())
    }
}

/// Length of a thousandth of the height of a picture, or less for a narrow picture \[px\].
fn unit(size: (u32, u32)) -> f64 {
    let [width, height] = [size.0, size.1].map(f64::from);
    height.min(width / 1.25) / 1000.0
}

/// The part of a picture that shows the scene, between heading and legend.
pub fn frame_of(size: (u32, u32)) -> Frame {
    let ([width, height], unit) = ([size.0, size.1].map(f64::from), unit(size));
    Frame {
        corner: [40.0 * unit, 120.0 * unit],
        size: [(width - 230.0 * unit).max(0.4 * width), (height - 180.0 * unit).max(0.4 * height)],
    }
}

/// A count with its noun.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", scale::count(count))
}
