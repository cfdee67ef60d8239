//! A frame in memory, and how it becomes a finished picture.

use std::sync::Arc;

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
    render::{Balls, Floor, PICTURE, Pane, Rod, Shot, Stage, Studio},
    scale,
    text::Pen,
};

/// Everything that is to be seen at a time.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Which frame of a recording this is, counted from 0, or which step of a simulation that runs.
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

/// What a snapshot is to a camera: the walls that have an end, the planes that have none, and where everything is.
pub struct Scenery {
    /// The box around the grains, far strays left out; `None` without grains.
    around: Option<Surroundings>,
    /// Corners of the triangles of walls \[m\].
    walls: Vec<[DVec3; 3]>,
    /// Those of each wall that is flat and goes on beyond the grains.
    planes: Vec<Vec<[DVec3; 3]>>,
}

/// The box around the grains, far strays left out.
#[derive(Clone, Copy)]
struct Surroundings {
    low: DVec3,
    high: DVec3,
}

/// So many places say as much as all of where the scene is.
pub const MOST: usize = 1 << 15;

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
        let floors = scenery.floors(camera.eye);
        let shot = Shot {
            cut: options.cut.map(|[x, y, z, far]| (DVec3::new(x, y, z), far)),
            ..Shot::new(camera, &floors)
        };
        let mut canvas = studio.painter.guarded(|| {
            let props = studio.load(&here.stage(scenery, options.has_walls), None);
            let picture = studio.painter.image(options.size, PICTURE);
            studio.picture(&props, &shot, &studio.targets(options.size, 2), &picture)
        })?;
        let mut board = Board {
            canvas: &mut canvas,
            pen: &pen,
            unit: unit(options.size) as f32,
        };
        board.heading(&self.title, self.time, &self.seen());
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
    pub fn stage<'a>(&'a self, scenery: &'a Scenery, has_walls: bool) -> Stage<'a> {
        let Coloring { palette, shade, legend } = &self.coloring;
        let part = |from: usize, to: usize| Balls {
            places: &self.balls[from..to],
            shade: &shade[from..to],
            palette,
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
            walls: if has_walls { &scenery.walls } else { &[] },
        }
    }

    /// Center of a ball \[m\].
    pub fn center(&self, ball: &[f32; 4]) -> DVec3 {
        self.origin + DVec3::new(ball[0].into(), ball[1].into(), ball[2].into())
    }

    /// Walls and planes, and where everything is.
    pub fn scenery(&self) -> Scenery {
        let around = self.surroundings();
        let is_plane = |wall: &&Vec<[DVec3; 3]>| around.is_some_and(|around| around.is_plane(wall));
        let (planes, walls): (Vec<_>, Vec<_>) = self.walls.iter().partition(is_plane);
        Scenery {
            around,
            walls: walls.into_iter().flatten().copied().collect(),
            planes: planes.into_iter().cloned().collect(),
        }
    }

    /// What the camera has to see: all grains but far strays, and the walls near them; the panes alone where there are any.
    pub fn in_view(&self, scenery: &Scenery) -> Vec<(DVec3, f64)> {
        let panes = self.panes.iter().map(|pane| &pane.corners);
        let Some(around) = scenery.around.filter(|_| self.panes.is_empty()) else {
            let walls = scenery.walls.iter().filter(|_| self.panes.is_empty());
            return walls.chain(panes).flatten().map(|&corner| (corner, 0.0)).collect();
        };
        let is_near = |&(center, _): &(DVec3, f64)| center.cmpge(around.low).all() && center.cmple(around.high).all();
        let some = self.balls.iter().step_by(self.balls.len().div_ceil(MOST).max(1));
        let balls = some.map(|ball| (self.center(ball), radius_of(ball)));
        let mut seen: Vec<(DVec3, f64)> = balls.filter(is_near).collect();
        let margin = DVec3::splat(2.5 * (around.high - around.low).max_element());
        let corners = scenery.walls.iter().flatten();
        seen.extend(corners.map(|corner| (corner.clamp(around.low - margin, around.high + margin), 0.0)));
        seen
    }

    /// The box of the grains that are not far from the middle 98 % of them along any axis; `None` without grains.
    fn surroundings(&self) -> Option<Surroundings> {
        if self.balls.is_empty() {
            return None;
        }
        let quantiles: [[f64; 2]; 3] = std::array::from_fn(|axis| {
            let some = self.balls.iter().step_by(self.balls.len().div_ceil(MOST));
            let mut values: Vec<f64> = some.map(|ball| self.origin[axis] + f64::from(ball[axis])).collect();
            [0.01, 0.99].map(|part| {
                let at = (part * (values.len() - 1) as f64).round() as usize;
                *values.select_nth_unstable_by(at, f64::total_cmp).1
            })
        });
        let [low, high] = [0, 1].map(|end| DVec3::from(quantiles.map(|axis| axis[end])));
        let some = self.balls.iter().step_by(self.balls.len().div_ceil(MOST));
        let radius = some.map(radius_of).fold(0.0, f64::max);
        let margin = DVec3::splat((high - low).max_element() * 1.5 + 8.0 * radius);
        let near = Surroundings {
            low: low - margin,
            high: high + margin,
        };
        let clamp = |end: fn(DVec3, DVec3) -> DVec3, sign: f64, start: DVec3| {
            let faces = self
                .balls
                .iter()
                .step_by(self.balls.len().div_ceil(MOST))
                .map(|ball| self.center(ball) + DVec3::splat(sign * radius_of(ball)));
            faces.fold(start, end).clamp(near.low, near.high)
        };
        Some(Surroundings {
            low: clamp(DVec3::min, -1.0, DVec3::INFINITY),
            high: clamp(DVec3::max, 1.0, DVec3::NEG_INFINITY),
        })
    }
}

impl Scenery {
    /// The planes that are seen from here.
    pub fn floors(&self, eye: DVec3) -> Vec<Floor> {
        let of_planes = |around: Surroundings| self.planes.iter().flat_map(move |plane| around.floor(plane, eye)).collect();
        self.around.map_or_else(Vec::new, of_planes)
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

impl Surroundings {
    fn center(&self) -> DVec3 {
        (self.low + self.high) / 2.0
    }

    fn reach(&self) -> f64 {
        (self.high - self.low).length() / 2.0
    }

    /// Whether a wall is flat and goes on beyond the grains, so that only the part near them is of interest.
    fn is_plane(&self, wall: &[[DVec3; 3]]) -> bool {
        let Some(normal) = wall.first().map(normal) else { return false };
        let corners = || wall.iter().flatten();
        corners().all(|&corner| (corner - wall[0][0]).dot(normal).abs() < 1e-6 * self.reach())
            && corners().any(|&corner| (corner - self.center()).length() > 1.5 * self.reach())
    }

    /// The triangles of a plane with their places in its grid; none where the plane stands between the eye and the grains.
    fn floor(&self, plane: &[[DVec3; 3]], eye: DVec3) -> Vec<Floor> {
        let Some(first) = plane.first() else { return Vec::new() };
        let normal = normal(first);
        let height = (self.center() - first[0]).dot(normal);
        if height * (eye - first[0]).dot(normal) < 0.0 {
            return Vec::new();
        }
        let foot = self.center() - normal * height;
        let across = if normal.x.abs() < 0.6 { DVec3::X } else { DVec3::Y };
        let v = normal.cross(across).normalize();
        let u = v.cross(normal);
        let squares = self.reach() / scale::round_below(self.reach() / 3.0);
        let place = |corner: DVec3| {
            let offset = (corner - foot) / self.reach();
            (corner, DVec3::new(u.dot(offset), v.dot(offset), squares))
        };
        plane.iter().map(|corners| corners.map(place)).collect()
    }
}

/// Radius of a ball, drawn or not \[m\].
pub fn radius_of(ball: &[f32; 4]) -> f64 {
    f64::from(ball[3].abs())
}

/// A number of things in words.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", scale::count(count))
}

fn normal(corners: &[DVec3; 3]) -> DVec3 {
    (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero()
}
