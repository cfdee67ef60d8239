//! What a snapshot is to a camera: the walls that have an end, the planes that have none, and where everything is.

use std::iter::StepBy;

use glam::DVec3;

use crate::{
    Snapshot,
    bounds::{self, Bounds},
    render::Floor,
    scale,
};

/// So many places say as much as all of where the scene is.
pub const MOST: usize = 1 << 15;

/// At most so many of these, from all over.
pub fn some_of<I: ExactSizeIterator>(all: I, most: usize) -> StepBy<I> {
    let step = all.len().div_ceil(most).max(1);
    all.step_by(step)
}

/// What a snapshot is to a camera: the walls that have an end, the planes that have none, and where everything is.
pub struct Scenery {
    /// Where the grains are; `None` without grains.
    around: Option<Surroundings>,
    /// Corners of the triangles of walls \[m\].
    pub walls: Vec<[DVec3; 3]>,
    /// Those of each wall that is flat and goes on beyond the grains.
    planes: Vec<Vec<[DVec3; 3]>>,
}

/// Where the balls of a snapshot are.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Of all that are somewhere, from the origin.
    pub bounds: Bounds,
    /// Far strays left out; `None` where none is anywhere.
    pub around: Option<Surroundings>,
}

/// The box around balls, far strays left out.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// Lowest corner \[m\].
    pub low: DVec3,
    /// Highest corner \[m\].
    pub high: DVec3,
    /// Corners of the box around the centers of all that are no strays, and some more: the other one follows from some of very many \[m\].
    pub limits: [DVec3; 2],
}

impl Snapshot {
    /// Where the balls are: found when somebody asks first, after which they must stay what they are.
    pub fn extent(&self) -> &Extent {
        self.extent.get_or_init(|| Extent {
            bounds: match &self.aboard {
                Some(aboard) => aboard.bounds(),
                None => bounds::of(&self.balls, bounds::is_somewhere),
            },
            around: Surroundings::of(self.balls.iter().map(|ball| (self.center(ball), radius_of(ball)))),
        })
    }

    /// Walls and planes, and where everything is.
    pub fn scenery(&self) -> Scenery {
        let around = self.extent().around;
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
        let balls = some_of(self.balls.iter(), MOST).map(|ball| (self.center(ball), radius_of(ball)));
        let mut seen: Vec<(DVec3, f64)> = balls.filter(is_near).collect();
        let margin = DVec3::splat(2.5 * (around.high - around.low).max_element());
        let corners = scenery.walls.iter().flatten();
        seen.extend(corners.map(|corner| (corner.clamp(around.low - margin, around.high + margin), 0.0)));
        seen
    }
}

impl Scenery {
    /// Whether there are grains, or particles of fluids.
    pub fn has_particles(&self) -> bool {
        self.around.is_some()
    }

    /// The planes that are seen from here.
    pub fn floors(&self, eye: DVec3) -> Vec<Floor> {
        let of_planes = |around: Surroundings| self.planes.iter().flat_map(move |plane| around.floor(plane, eye)).collect();
        self.around.map_or_else(Vec::new, of_planes)
    }
}

impl Surroundings {
    /// Those of balls with these centers and radii \[m\]: strays are far from the middle 98 % along some axis. `None` where no ball is anywhere.
    pub fn of(balls: impl ExactSizeIterator<Item = (DVec3, f64)>) -> Option<Surroundings> {
        let is_somewhere = |(center, radius): &(DVec3, f64)| center.is_finite() && radius.is_finite();
        let some: Vec<(DVec3, f64)> = some_of(balls, MOST).filter(is_somewhere).collect();
        if some.is_empty() {
            return None;
        }
        let quantiles: [[f64; 2]; 3] = std::array::from_fn(|axis| {
            let mut values: Vec<f64> = some.iter().map(|(center, _)| center[axis]).collect();
            [0.01, 0.99].map(|part| {
                let at = (part * (values.len() - 1) as f64).round() as usize;
                *values.select_nth_unstable_by(at, f64::total_cmp).1
            })
        });
        let [low, high] = [0, 1].map(|end| DVec3::from(quantiles.map(|axis| axis[end])));
        let radius = some.iter().map(|(_, radius)| *radius).fold(0.0, f64::max);
        let margin = DVec3::splat((high - low).max_element() * 1.5 + 8.0 * radius);
        let limits = [low - margin, high + margin];
        let outermost = |end: fn(DVec3, DVec3) -> DVec3, sign: f64, start: DVec3| {
            let faces = some.iter().map(|&(center, radius)| center + DVec3::splat(sign * radius));
            faces.fold(start, end).clamp(limits[0], limits[1])
        };
        Some(Surroundings {
            low: outermost(DVec3::min, -1.0, DVec3::INFINITY),
            high: outermost(DVec3::max, 1.0, DVec3::NEG_INFINITY),
            limits,
        })
    }

    /// The middle of the box \[m\].
    pub fn center(&self) -> DVec3 {
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

fn normal(corners: &[DVec3; 3]) -> DVec3 {
    (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero()
}
