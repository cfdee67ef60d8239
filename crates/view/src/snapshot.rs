//! A frame in memory, and how it becomes a finished picture.

use glam::DVec3;

use crate::{
    PictureOptions, ViewError,
    board::Board,
    camera::{Camera, Frame},
    canvas::Canvas,
    coloring::Coloring,
    render::{Pane, Rod, Sphere, Stage, render},
    scale,
    text::Pen,
};

/// Everything a picture shows.
pub struct Snapshot {
    /// Title.
    pub title: String,
    /// Time \[s\].
    pub time: f64,
    /// Colors of the balls, of the rods, or of the panes.
    pub coloring: Coloring,
    /// How many of the balls are drawn, from the first on; the others only give the picture its bounds.
    pub shown: usize,
    /// Contacts, or bonds.
    pub rods: Vec<Rod>,
    /// Marks where bonds broke, where these are shown.
    pub marks: Option<Vec<Sphere>>,
    /// Center \[m\] and radius \[m\] of each grain, and behind them of each particle of fluid, or vertex of its surface.
    pub balls: Vec<(DVec3, f64)>,
    /// How many grains there are.
    pub grains: usize,
    /// How many particles of fluids there are.
    pub particles: usize,
    /// Triangles of the surface of fluids.
    pub skin: Vec<Pane>,
    /// Triangles of walls that show a field.
    pub panes: Vec<Pane>,
    /// Corners of the other triangles of each wall \[m\].
    pub walls: Vec<Vec<[DVec3; 3]>>,
}

/// The box around the grains, far strays left out.
#[derive(Clone, Copy)]
struct Surroundings {
    low: DVec3,
    high: DVec3,
}

impl Snapshot {
    /// The finished picture.
    pub fn draw(&self, options: &PictureOptions) -> Result<Canvas, ViewError> {
        let pen = Pen::new()?;
        let [width, height] = [options.size.0, options.size.1].map(f64::from);
        let unit = height.min(width / 1.25) / 1000.0;
        let frame = Frame {
            corner: [40.0 * unit, 120.0 * unit],
            size: [(width - 230.0 * unit).max(0.4 * width), (height - 180.0 * unit).max(0.4 * height)],
        };
        let from = options.view.map_or(DVec3::new(0.45, -1.0, 0.42), DVec3::from);
        let around = self.surroundings();
        let (planes, walls): (Vec<_>, Vec<_>) = self
            .walls
            .iter()
            .partition(|wall| around.is_some_and(|around| around.is_plane(wall)));
        let walls: Vec<[DVec3; 3]> = walls.into_iter().flatten().copied().collect();
        let camera = Camera::framing(self.in_view(around, &walls).into_iter(), from, frame);
        let sphere = |(&(center, radius), &color): (&(DVec3, f64), _)| Sphere { center, radius, color };
        let stage = Stage {
            spheres: match &self.marks {
                Some(marks) => marks.clone(),
                None => self.balls.iter().zip(&self.coloring.colors).take(self.shown).map(sphere).collect(),
            },
            rods: self.rods.clone(),
            panes: [self.panes.as_slice(), &self.skin].concat(),
            floors: around.map_or_else(Vec::new, |around| {
                planes.into_iter().flat_map(|plane| around.floor(plane, camera.eye)).collect()
            }),
            walls,
        };
        let mut canvas = render(&stage, &camera, options.size)?;
        let mut board = Board {
            canvas: &mut canvas,
            pen: &pen,
            unit: unit as f32,
        };
        let mut seen = match (self.grains, self.particles) {
            (0, particles) if particles > 0 => counted(particles, "particle"),
            (grains, 0) => counted(grains, "grain"),
            (grains, particles) => format!("{}   ·   {}", counted(grains, "grain"), counted(particles, "particle")),
        };
        if let Some(marks) = &self.marks {
            seen += &format!("   ·   {}", counted(marks.len(), "broken bond"));
        }
        board.heading(&self.title, self.time, &seen);
        board.legend(&self.coloring.legend);
        board.scale_bar(camera.middle / camera.focal, frame.size[0]);
        Ok(canvas)
    }

    /// What the camera has to see: all grains but far strays, and the walls near them; the panes alone where there are any.
    fn in_view(&self, around: Option<Surroundings>, walls: &[[DVec3; 3]]) -> Vec<(DVec3, f64)> {
        let panes = self.panes.iter().map(|pane| &pane.corners);
        let Some(around) = around.filter(|_| self.panes.is_empty()) else {
            return walls
                .iter()
                .filter(|_| self.panes.is_empty())
                .chain(panes)
                .flatten()
                .map(|&corner| (corner, 0.0))
                .collect();
        };
        let is_near = |&(center, _): &(DVec3, f64)| center.cmpge(around.low).all() && center.cmple(around.high).all();
        let mut seen: Vec<(DVec3, f64)> = self.balls.iter().copied().filter(is_near).collect();
        let margin = DVec3::splat(2.5 * (around.high - around.low).max_element());
        seen.extend(
            walls
                .iter()
                .flatten()
                .map(|corner| (corner.clamp(around.low - margin, around.high + margin), 0.0)),
        );
        seen
    }

    /// The box of the grains that are not far from the middle 98 % of them along any axis; `None` without grains.
    fn surroundings(&self) -> Option<Surroundings> {
        if self.balls.is_empty() {
            return None;
        }
        let quantiles: [[f64; 2]; 3] = std::array::from_fn(|axis| {
            let mut values: Vec<f64> = self.balls.iter().map(|(center, _)| center[axis]).collect();
            [0.01, 0.99].map(|part| {
                let at = (part * (values.len() - 1) as f64).round() as usize;
                *values.select_nth_unstable_by(at, f64::total_cmp).1
            })
        });
        let [low, high] = [0, 1].map(|end| DVec3::from(quantiles.map(|axis| axis[end])));
        let radius = self.balls.iter().map(|(_, radius)| *radius).fold(0.0, f64::max);
        let margin = DVec3::splat((high - low).max_element() * 1.5 + 8.0 * radius);
        let near = Surroundings {
            low: low - margin,
            high: high + margin,
        };
        let clamp = |end: fn(DVec3, DVec3) -> DVec3, sign: f64, start: DVec3| {
            let faces = self.balls.iter().map(|&(center, radius)| center + DVec3::splat(sign * radius));
            faces.fold(start, end).clamp(near.low, near.high)
        };
        Some(Surroundings {
            low: clamp(DVec3::min, -1.0, DVec3::INFINITY),
            high: clamp(DVec3::max, 1.0, DVec3::NEG_INFINITY),
        })
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
    fn floor(&self, plane: &[[DVec3; 3]], eye: DVec3) -> Vec<[(DVec3, DVec3); 3]> {
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

/// A number of things in words.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", scale::count(count))
}

fn normal(corners: &[DVec3; 3]) -> DVec3 {
    (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero()
}
