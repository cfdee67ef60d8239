//! Geometry of a snapshot for the camera: finite walls, infinite planes, and bounds.

use std::iter::StepBy;

use glam::DVec3;

use crate::{
    Snapshot,
    bounds::{self, Bounds},
    render::Floor,
    scale,
};

/// Sample size that suffices to find the bounds of the scene.
pub const MAX: usize = 1 << 15;

/// An evenly spaced sample of at most `most` items.
pub fn some_of<I: ExactSizeIterator>(all: I, most: usize) -> StepBy<I> {
    let step = all.len().div_ceil(most).max(1);
    all.step_by(step)
}

/// Geometry of a snapshot for the camera: finite walls, infinite planes, and bounds.
pub struct SceneGeometry {
    /// Box around the grains; `None` without grains.
    around: Option<SceneBox>,
    /// Corners of the triangles of walls \[m\].
    pub walls: Vec<[DVec3; 3]>,
    /// Corners of the triangles of each flat wall that extends beyond the grains \[m\].
    planes: Vec<Vec<[DVec3; 3]>>,
}

/// Bounds of the balls of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Bounds of all balls at finite positions, relative to the origin.
    pub bounds: Bounds,
    /// Box without outliers; `None` if no ball has a finite position.
    pub around: Option<SceneBox>,
}

/// Box around balls without outliers.
#[derive(Clone, Copy, Debug)]
pub struct SceneBox {
    /// Lowest corner \[m\].
    pub low: DVec3,
    /// Highest corner \[m\].
    pub high: DVec3,
    /// Corners of a larger box that contains the centers of all balls except outliers. For very many balls, the inner box is computed from a sample
    /// \[m\].
    pub limits: [DVec3; 2],
}

impl Snapshot {
    /// Bounds of the balls. Computed on the first call; the balls must not change afterwards.
    pub fn extent(&self) -> &Extent {
        self.extent.get_or_init(|| Extent {
            bounds: match &self.gpu_particles {
                Some(on_gpu) => on_gpu.bounds(),
                None => bounds::of(&self.balls, bounds::is_somewhere),
            },
            around: SceneBox::of(self.balls.iter().map(|ball| (self.center(ball), radius_of(ball)))),
        })
    }

    /// Walls and planes, and the bounds of the scene.
    pub fn scenery(&self) -> SceneGeometry {
        let around = self.extent().around;
        let is_plane = |wall: &&Vec<[DVec3; 3]>| around.is_some_and(|around| around.is_plane(wall));
        let (planes, walls): (Vec<_>, Vec<_>) = self.walls.iter().partition(is_plane);
        SceneGeometry {
            around,
            walls: walls.into_iter().flatten().copied().collect(),
            planes: planes.into_iter().cloned().collect(),
        }
    }

    /// Points that the camera must see: all grains except outliers, and the walls near them; only the panes if there are any.
    pub fn in_view(&self, scenery: &SceneGeometry) -> Vec<(DVec3, f64)> {
        let panes = self.panes.iter().map(|pane| &pane.corners);
        let Some(around) = scenery.around.filter(|_| self.panes.is_empty()) else {
            let walls = scenery.walls.iter().filter(|_| self.panes.is_empty());
            return walls.chain(panes).flatten().map(|&corner| (corner, 0.0)).collect();
        };
        let is_near = |&(center, _): &(DVec3, f64)| center.cmpge(around.low).all() && center.cmple(around.high).all();
        let balls = some_of(self.balls.iter(), MAX).map(|ball| (self.center(ball), radius_of(ball)));
        let mut seen: Vec<(DVec3, f64)> = balls.filter(is_near).collect();
        let margin = DVec3::splat(2.5 * (around.high - around.low).max_element());
        let corners = scenery.walls.iter().flatten();
        seen.extend(corners.map(|corner| (corner.clamp(around.low - margin, around.high + margin), 0.0)));
        seen
    }
}

impl SceneGeometry {
    /// Whether there are grains or fluid particles.
    pub fn has_particles(&self) -> bool {
        self.around.is_some()
    }

    /// The planes that are visible from the eye.
    pub fn floors(&self, eye: DVec3) -> Vec<Floor> {
        let of_planes = |around: SceneBox| self.planes.iter().flat_map(move |plane| around.floor(plane, eye)).collect();
        self.around.map_or_else(Vec::new, of_planes)
    }
}

impl SceneBox {
    /// Box of balls with these centers and radii \[m\]. Outliers are far from the middle 98 % along some axis. `None` if no ball has a finite
    /// position.
    pub fn of(balls: impl ExactSizeIterator<Item = (DVec3, f64)>) -> Option<SceneBox> {
        let is_somewhere = |(center, radius): &(DVec3, f64)| center.is_finite() && radius.is_finite();
        let some: Vec<(DVec3, f64)> = some_of(balls, MAX).filter(is_somewhere).collect();
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
        Some(SceneBox {
            low: outermost(DVec3::min, -1.0, DVec3::INFINITY),
            high: outermost(DVec3::max, 1.0, DVec3::NEG_INFINITY),
            limits,
        })
    }

    /// Center of the box \[m\].
    pub fn center(&self) -> DVec3 {
        (self.low + self.high) / 2.0
    }

    fn reach(&self) -> f64 {
        (self.high - self.low).length() / 2.0
    }

    /// Whether a wall is flat and extends beyond the grains, so that only the part near them matters.
    fn is_plane(&self, wall: &[[DVec3; 3]]) -> bool {
        let Some(normal) = wall.first().map(normal) else { return false };
        let corners = || wall.iter().flatten();
        corners().all(|&corner| (corner - wall[0][0]).dot(normal).abs() < 1e-6 * self.reach())
            && corners().any(|&corner| (corner - self.center()).length() > 1.5 * self.reach())
    }

    /// The triangles of a plane with their grid positions; empty if the plane lies between the eye and the grains.
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
