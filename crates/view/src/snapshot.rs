//! A frame in memory, and how it becomes a finished picture.

use std::sync::{Arc, OnceLock};

use glam::DVec3;
use seixo_files::vtk::{VtkBodies, VtkBonds, VtkContacts, VtkFluid, VtkPoints, VtkWalls};

use crate::{
    PictureOptions, Shown, ViewError,
    aboard::{Aboard, Piece},
    board::Board,
    bodies::Surfaces,
    camera::{Camera, Frame},
    canvas::Canvas,
    coloring::{Coloring, Legend},
    render::{Balls, PICTURE, Pane, Rod, Shot, Stage, Studio},
    scale,
    scenery::{Extent, Scenery},
    text::Pen,
};

/// Everything that is to be seen at a time.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Which frame of a recording this is, counted from 0; of a simulation that runs its steps, and one more for all that was done to it by hand.
    pub number: u64,
    /// Title.
    pub title: String,
    /// Time \[s\].
    pub time: f64,
    /// Names of what grains and fluids can be colored by.
    pub fields: Vec<String>,
    /// Colors of the balls, of the marks, of the rods, or of the panes.
    pub coloring: Coloring,
    /// Where those are of the marks or the rods, colors of the balls, of which the particles of fluids are drawn beside, as a smoothed surface.
    pub beside: Option<Coloring>,
    /// How many of the balls are drawn, from the first on; the others only give the picture its bounds.
    pub shown: usize,
    /// Whether of the particles of fluids a smoothed surface is drawn.
    pub is_smooth: bool,
    /// Contacts, or bonds.
    pub rods: Vec<Rod>,
    /// Marks where bonds broke, where these are shown: places relative to the origin and radii \[m\].
    pub marks: Option<Vec<[f32; 4]>>,
    /// The middle of the scene \[m\].
    pub origin: DVec3,
    /// Center relative to the origin and radius of each grain, and behind them of each particle of fluid, or vertex of its surface \[m\]. Minus the radius of
    /// spheres of bodies that are drawn as surfaces: these give the picture its bounds and can be picked, and are not drawn themselves.
    pub balls: Vec<[f32; 4]>,
    /// The id of each.
    pub id: Vec<u32>,
    /// How many grains there are.
    pub grains: usize,
    /// How many particles of fluids there are.
    pub particles: usize,
    /// Triangles of the surface of fluids.
    pub skin: Vec<Pane>,
    /// Triangles of the surfaces of bodies that were made from meshes.
    pub bodies: Vec<Pane>,
    /// Triangles of walls that show a field.
    pub panes: Vec<Pane>,
    /// Corners of the other triangles of each wall \[m\].
    pub walls: Vec<Vec<[DVec3; 3]>>,
    /// All balls, where they lie on a device: then those above are some of them, and have no ids.
    pub aboard: Option<Arc<Aboard>>,
    /// Where the balls are, once somebody asked: see [`Snapshot::extent()`].
    pub extent: OnceLock<Extent>,
}

/// What snapshots are made of.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Time \[s\].
    pub time: f64,
    /// Grains, where there may be any.
    pub grains: Option<VtkPoints>,
    /// Fluids, where there are any.
    pub fluid: Option<VtkFluid>,
    /// Walls.
    pub walls: VtkWalls,
    /// Surfaces of bodies that were made from meshes, where there are any.
    pub bodies: Option<VtkBodies>,
    /// Contacts, where they are to be shown.
    pub contacts: Option<VtkContacts>,
    /// Bonds, where they are to be shown.
    pub bonds: Option<VtkBonds>,
}

/// What snapshots are made of where neither contacts nor bonds are looked at, and grains have one number each.
#[derive(Clone, Debug, Default)]
pub struct Few {
    /// Time \[s\].
    pub time: f64,
    /// Ids of grains, then of particles of fluids.
    pub id: Vec<u32>,
    /// From where places are counted \[m\].
    pub origin: [f64; 3],
    /// Centers from there, and radii \[m\].
    pub places: Vec<[f32; 4]>,
    /// A number of each.
    pub values: Vec<f32>,
    /// Its name and unit.
    pub field: (&'static str, &'static str),
    /// How many are grains.
    pub grains: usize,
    /// Walls.
    pub walls: VtkWalls,
    /// Surfaces of bodies that were made from meshes, where there are any and they are to be shown.
    pub bodies: Option<VtkBodies>,
    /// Names of all that they could be colored by.
    pub fields: Vec<String>,
}

impl Snapshot {
    /// What is to be seen of these.
    pub fn of_few(mut few: Few, options: &PictureOptions, number: u64) -> Snapshot {
        let (name, unit) = few.field;
        let coloring = Coloring::of_few(&few.values, name, unit, options.range);
        let grains = few.id.get(..few.grains).unwrap_or_default();
        let surfaces = few.bodies.as_ref().map(|bodies| Surfaces::of(bodies, grains, &coloring));
        let panes = surfaces.map_or_else(Vec::new, |surfaces| surfaces.in_place_of(&mut few.places));
        let mut walls = vec![Vec::new(); few.walls.names.len()];
        for (corners, wall) in few.walls.triangles.iter().zip(&few.walls.wall) {
            if let Some(wall) = walls.get_mut(*wall as usize) {
                wall.push(corners.map(DVec3::from));
            }
        }
        Snapshot {
            number,
            title: options.title.clone().unwrap_or_default(),
            time: few.time,
            fields: few.fields,
            coloring,
            shown: few.places.len(),
            is_smooth: options.shown == Shown::Smooth,
            origin: few.origin.into(),
            grains: few.grains,
            particles: few.places.len() - few.grains,
            id: few.id,
            balls: few.places,
            bodies: panes,
            walls,
            ..Snapshot::default()
        }
    }
}

/// From where pictures are taken, unless somebody wishes otherwise.
pub const FROM: DVec3 = DVec3::new(0.45, -1.0, 0.42);

impl Snapshot {
    /// The finished picture, with legend, scale and heading.
    pub fn draw(&self, studio: &Studio, options: &PictureOptions) -> Result<Canvas, ViewError> {
        let scenery = self.scenery();
        let from = options.view.map_or(FROM, DVec3::from);
        let camera = Camera::framing(self.in_view(&scenery).into_iter(), from, frame_of(options.size));
        self.draw_from(studio, options, &scenery, &camera)
    }

    /// As [`Snapshot::draw`], with a camera that stands already.
    pub fn draw_from(&self, studio: &Studio, options: &PictureOptions, scenery: &Scenery, camera: &Camera) -> Result<Canvas, ViewError> {
        let pen = Pen::new()?;
        let here = self.on(&studio.painter)?;
        let floors = if options.has_walls {
            scenery.floors(camera.eye)
        } else {
            Vec::new()
        };
        let shot = Shot {
            cut: options.cut,
            has_walls: options.has_walls,
            ..Shot::new(camera, &floors)
        };
        let mut canvas = studio.painter.guarded(|| {
            let props = studio.load(&here.stage(scenery), None);
            let targets = studio.targets(options.size, studio.detail(options.size, 2));
            let picture = studio.painter.image(options.size, PICTURE);
            studio.picture(&props, &shot, &targets, &picture)
        })?;
        let mut board = Board {
            canvas: &mut canvas,
            pen: &pen,
            unit: unit(options.size) as f32,
        };
        board.heading(options.title.as_deref().unwrap_or(&self.title), self.time, &self.seen());
        board.legend(&self.coloring.legend);
        board.scale_bar(camera.middle / camera.focal, frame_of(options.size).size[0]);
        Ok(canvas)
    }

    /// What there is, in words.
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

    /// What stands in front of a camera.
    pub fn stage<'a>(&'a self, scenery: &'a Scenery) -> Stage<'a> {
        let Coloring { palette, shade, legend } = &self.coloring;
        let part = |from: usize, to: usize| Balls {
            places: &self.balls[from..to],
            shade: &shade[from..to],
            palette,
            bounds: Some(self.extent().bounds),
            ..Balls::default()
        };
        let ends = match legend {
            Legend::Scale { range: (low, high), .. } => [*low, *high],
            Legend::Classes { .. } => [0.0, 1.0],
        };
        let lying = |aboard: &'a [Piece]| Balls {
            palette,
            aboard,
            ends,
            ..Balls::default()
        };
        let beside = self.beside.as_ref().map_or_else(Balls::default, |colors| Balls {
            places: &self.balls[self.grains..],
            shade: &colors.shade[self.grains..],
            palette: &colors.palette,
            bounds: Some(self.extent().bounds),
            ..Balls::default()
        });
        let (balls, water) = match (&self.aboard, &self.marks) {
            (Some(aboard), _) => {
                let (grains, fluids) = aboard.pieces.split_at(aboard.pieces.partition_point(|piece| !piece.is_fluid));
                if self.is_smooth {
                    (lying(grains), lying(fluids))
                } else {
                    (lying(&aboard.pieces), Balls::default())
                }
            }
            (None, Some(places)) => (
                Balls {
                    places,
                    shade,
                    palette,
                    ..Balls::default()
                },
                beside,
            ),
            (None, None) if self.is_smooth => (part(0, self.grains), part(self.grains, self.shown.max(self.grains))),
            (None, None) => (part(0, self.shown), beside),
        };
        Stage {
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

/// Length of a thousandth of the height of a picture, or of what fits in its width \[px\].
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

/// A number of things in words.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", scale::count(count))
}
