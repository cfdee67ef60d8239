//! Curved and mesh walls for fluids: the distance of a position from the surface, and whether it is behind it.

use super::{
    Layout, facets, images,
    near_sides::{turn_caps, turn_from},
};
use crate::{
    diagnostics::UnlocatedDiagnostic,
    fill::{nearest_on_triangle, refuse_too_many_of},
};
use glam::{DVec2, DVec3};
use seixo_engine::world::{Frustum, Triangle, WallMotion, WallShape};
use std::{collections::HashMap, f64::consts::PI};

/// Smallest distance of particles from the surface of a wall, on either side \[spacings\].
pub(super) const SURFACE: f64 = 0.45;
/// Edge of the cells of the piece index \[spacings\].
const EDGE: f64 = 2.0;
/// Reach of pieces beyond the deepest particle \[spacings\].
const SIGHT: f64 = 0.5;
/// Points of a surface at this distance are the same \[spacings\].
const SAME: f64 = 1e-6;
/// Number of flat faces of a round wall that a plane flow cuts obliquely.
const SEGMENTS: u64 = 256;

/// Surface of revolution of a segment about an axis.
pub(super) struct SurfaceOfRevolution {
    pub base: DVec3,
    pub axis: DVec3,
    /// Radius at the base, where the coordinate along the axis is 0 \[m\].
    pub start: DVec2,
    /// Vector from there to the other end: radius and height \[m\].
    pub way: DVec2,
}

impl SurfaceOfRevolution {
    fn new(frustum: &Frustum) -> SurfaceOfRevolution {
        let [from, to] = frustum.radii;
        SurfaceOfRevolution {
            base: frustum.base.into(),
            axis: frustum.axis.into(),
            start: DVec2::new(from, 0.0),
            way: DVec2::new(to - from, frustum.height),
        }
    }

    /// The normal in the half plane of radius and height: outward; for a disk against the axis.
    pub(super) fn normal(&self) -> DVec2 {
        DVec2::new(self.way.y, -self.way.x).normalize_or_zero()
    }

    /// The nearest point of the surface, and its normal there.
    fn nearest(&self, at: DVec3) -> (DVec3, DVec3) {
        let from_base = at - self.base;
        let height = from_base.dot(self.axis);
        let across = from_base - self.axis * height;
        let outward = across.try_normalize().unwrap_or_else(|| self.axis.any_orthonormal_vector());
        let from_start = DVec2::new(across.length(), height) - self.start;
        let share = (from_start.dot(self.way) / self.way.length_squared()).clamp(0.0, 1.0);
        let (foot, normal) = (self.start + self.way * share, self.normal());
        (
            self.base + outward * foot.x + self.axis * foot.y,
            outward * normal.x + self.axis * normal.y,
        )
    }

    /// Whether it is a disk or a ring.
    pub(super) fn is_flat(&self) -> bool {
        self.way.y == 0.0
    }
}

/// The form of a piece of a surface.
pub(super) enum Outline {
    /// A triangle with its unit normal.
    Triangle([DVec3; 3], DVec3),
    /// The section of a triangle with the plane of the flow, with its unit normal in the plane.
    Segment([DVec3; 2], DVec3),
    Mantle(SurfaceOfRevolution),
    /// A sphere, or in a plane flow its section, a circle; its normal is outward.
    Sphere {
        center: DVec3,
        radius: f64,
    },
}

impl Outline {
    /// The nearest point, and the unit normal there.
    pub(super) fn nearest(&self, at: DVec3) -> (DVec3, DVec3) {
        match self {
            Outline::Triangle(corners, normal) => (nearest_on_triangle(corners, at), *normal),
            Outline::Segment([from, to], normal) => {
                let along = *to - *from;
                let share = ((at - *from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                (*from + along * share, *normal)
            }
            Outline::Mantle(mantle) => mantle.nearest(at),
            Outline::Sphere { center, radius } => {
                let outward = (at - *center).try_normalize().unwrap_or(DVec3::X);
                (*center + outward * *radius, outward)
            }
        }
    }

    /// Center and radius of its bounding sphere \[m\].
    pub(super) fn ball(&self) -> (DVec3, f64) {
        let around = |corners: &[DVec3]| {
            let center = corners.iter().sum::<DVec3>() / corners.len() as f64;
            let radius = corners.iter().map(|corner| corner.distance(center)).fold(0.0, f64::max);
            (center, radius)
        };
        match self {
            Outline::Triangle(corners, _) => around(corners),
            Outline::Segment(ends, _) => around(ends),
            Outline::Mantle(SurfaceOfRevolution { base, axis, start, way }) => {
                let widest = start.x.max(start.x + way.x);
                (*base + *axis * (0.5 * way.y), DVec2::new(widest, 0.5 * way.y).length())
            }
            Outline::Sphere { center, radius } => (*center, *radius),
        }
    }

    /// The same, displaced.
    fn shifted(&self, by: DVec3) -> Outline {
        match self {
            Outline::Triangle(corners, normal) => Outline::Triangle(corners.map(|corner| corner + by), *normal),
            Outline::Segment(ends, normal) => Outline::Segment(ends.map(|end| end + by), *normal),
            Outline::Mantle(mantle) => Outline::Mantle(SurfaceOfRevolution {
                base: mantle.base + by,
                ..*mantle
            }),
            Outline::Sphere { center, radius } => Outline::Sphere {
                center: *center + by,
                radius: *radius,
            },
        }
    }

    /// Approximate number of particles per layer of it.
    fn particles(&self, layout: &Layout) -> f64 {
        let spacing = layout.spacing;
        match self {
            Outline::Triangle([a, b, c], _) => 0.5 * (*b - *a).cross(*c - *a).length() / spacing.powi(2),
            Outline::Segment([a, b], _) => a.distance(*b) / spacing,
            Outline::Mantle(SurfaceOfRevolution { start, way, .. }) => PI * (2.0 * start.x + way.x) * way.length() / spacing.powi(2),
            Outline::Sphere { radius, .. } if layout.across.is_some() => 2.0 * PI * radius / spacing,
            Outline::Sphere { radius, .. } => 4.0 * PI * radius.powi(2) / spacing.powi(2),
        }
    }
}

/// A piece of a surface.
pub(super) struct Piece {
    pub outline: Outline,
    /// 1 where its normal points away from the fluid, -1 where it points to it.
    pub away: f64,
    /// Part of the surface that it belongs to: all pieces of a part have their fluid on the same side.
    pub part: usize,
    /// Index into the walls of the world.
    pub wall: u32,
}

impl Piece {
    /// A piece whose fluid side is not known yet.
    pub(super) fn new(outline: Outline, part: usize, wall: u32) -> Piece {
        Piece {
            outline,
            away: 1.0,
            part,
            wall,
        }
    }

    /// The same, displaced.
    fn shifted(&self, by: DVec3) -> Piece {
        Piece {
            outline: self.outline.shifted(by),
            ..*self
        }
    }

    /// Corners of a box around it \[m\].
    pub(super) fn bounds(&self) -> [DVec3; 2] {
        match &self.outline {
            Outline::Triangle([a, b, c], _) => [a.min(*b).min(*c), a.max(*b).max(*c)],
            Outline::Segment([a, b], _) => [a.min(*b), a.max(*b)],
            round => {
                let (center, radius) = round.ball();
                [center - radius, center + radius]
            }
        }
    }
}

/// An end of a mesh that coincides with an image of another end.
pub(super) struct End {
    pub wall: u32,
    pub part: usize,
    /// The center of one of its triangles, or of its section with the plane of the flow \[m\].
    pub at: DVec3,
}

/// The parts of a surface.
pub(super) struct Form {
    /// Whether it ends where its images begin, which then are separate surfaces. Images of sheets, and of walls without ends, are connected.
    pub is_whole: bool,
    pub pieces: Vec<Piece>,
    pub ends: Vec<End>,
}

/// Geometry of a surface relative to a position.
pub(super) struct Look {
    /// Distance \[m\].
    pub distance: f64,
    /// Whether the position is on the side away from the fluid, and not beside a rim.
    pub is_behind: bool,
    /// Approximate direction from the fluid into the wall.
    pub away: DVec3,
    /// The nearest wall.
    pub wall: u32,
}

/// A wall that is not a plane, a closed part of one, or several connected ones.
pub(super) struct Surface {
    /// The first of its walls.
    pub wall: u32,
    pub pieces: Vec<Piece>,
    /// Edge of a cell \[m\].
    pub edge: f64,
    /// Pieces within reach of each cell.
    near: HashMap<[i64; 3], Vec<u32>>,
    /// Reach of the pieces \[m\].
    sight: f64,
    spacing: f64,
}

impl Surface {
    /// The surfaces of walls that move together, with these motions, and of their images beyond periodic sides. The far side of each is the one with
    /// fewer of the `voters`, which are fluid particles.
    ///
    /// # Errors
    /// With its wall: if one is too large for particles, if it rotates differently from its images, or if it is a vessel without space at its ends.
    pub(super) fn all(
        walls: &[(u32, &WallShape)],
        motions: &[&WallMotion],
        layout: &Layout,
        voters: &[DVec3],
    ) -> Result<Vec<Surface>, (u32, UnlocatedDiagnostic)> {
        let (mut forms, mut meshes): (Vec<Form>, Vec<_>) = (Vec::new(), Vec::new());
        for (wall, shape) in walls {
            match outlines(shape, layout) {
                Outlines::Round(outlines) => {
                    let pieces = outlines
                        .into_iter()
                        .zip(0..)
                        .map(|(outline, part)| Piece::new(outline, part, *wall));
                    forms.push(Form {
                        is_whole: true,
                        pieces: pieces.collect(),
                        ends: Vec::new(),
                    });
                }
                Outlines::Faceted(triangles) => meshes.push((*wall, triangles)),
            }
        }
        forms.extend(facets::surfaces(&meshes, layout));
        let mut surfaces = Vec::new();
        for form in forms.into_iter().filter(|form| !form.pieces.is_empty()) {
            let Form {
                is_whole,
                mut pieces,
                ends,
            } = form;
            turn_from(&mut pieces, layout, voters);
            turn_caps(&mut pieces);
            let shifts = images::shifts(&pieces, layout).and_then(|shifts| {
                motions.iter().try_for_each(|motion| images::refuse_turning(motion, &shifts))?;
                Ok(shifts)
            });
            let shifts = shifts.map_err(|complaint| (pieces[0].wall, complaint))?;
            let images: Vec<Vec<Piece>> = shifts
                .iter()
                .map(|by| pieces.iter().map(|piece| piece.shifted(*by)).collect())
                .collect();
            if is_whole {
                // The space behind one image stays behind it, although the next image begins where it ends.
                surfaces.push(Surface::new(pieces, layout)?);
                for image in images {
                    surfaces.push(Surface::new(image, layout)?);
                }
            } else {
                // A sheet continues in its images.
                pieces.extend(images.into_iter().flatten());
                let surface = Surface::new(pieces, layout)?;
                if let Some(end) = ends.iter().find(|end| !surface.has_inside(end)) {
                    return Err((end.wall, images::no_room(end.at, layout)));
                }
                surfaces.push(surface);
            }
        }
        Ok(surfaces)
    }

    fn new(pieces: Vec<Piece>, layout: &Layout) -> Result<Surface, (u32, UnlocatedDiagnostic)> {
        let wall = pieces.first().map_or(0, |piece| piece.wall);
        let particles: f64 = pieces.iter().map(|piece| piece.outline.particles(layout)).sum();
        let remedy = "use a larger spacing, or a smaller wall";
        refuse_too_many_of("wall particles", particles * f64::from(layout.layers), remedy).map_err(|complaint| (wall, complaint))?;
        let mut surface = Surface {
            wall,
            pieces,
            edge: EDGE * layout.spacing,
            near: HashMap::new(),
            sight: layout.band() + SIGHT * layout.spacing,
            spacing: layout.spacing,
        };
        for index in 0..surface.pieces.len() {
            let (center, radius) = surface.pieces[index].outline.ball();
            let [low, high] = [-1.0, 1.0].map(|side| surface.cell(center + side * (radius + surface.sight)));
            let longest = (0..3).map(|axis| high[axis] - low[axis] + 1).max().unwrap_or(1);
            surface.enter(index as u32, low, (longest as u64).next_power_of_two() as i64, layout);
        }
        Ok(surface)
    }

    /// Whether an end of a part is behind the nearest piece of the part, at any distance.
    fn has_inside(&self, end: &End) -> bool {
        let of_part = self.pieces.iter().filter(|piece| piece.part == end.part);
        let feet = of_part.map(|piece| {
            let (point, normal) = piece.outline.nearest(end.at);
            (point.distance_squared(end.at), piece.away * normal.dot(end.at - point))
        });
        let nearest = feet.min_by(|one, other| one.0.total_cmp(&other.0));
        nearest.is_some_and(|(_, behind)| behind > 0.0)
    }

    fn cell(&self, place: DVec3) -> [i64; 3] {
        (place / self.edge).floor().to_array().map(|index| index as i64)
    }

    /// Enters a piece into all cells of a block that it reaches: blocks near it are halved.
    fn enter(&mut self, index: u32, low: [i64; 3], size: i64, layout: &Layout) {
        let is_off = layout.across.is_some_and(|axis| !(low[axis]..low[axis] + size).contains(&0));
        let center = DVec3::from_array(low.map(|cell| (cell as f64 + 0.5 * size as f64) * self.edge));
        let half_diagonal = 0.75_f64.sqrt() * size as f64 * self.edge;
        let (point, _) = self.pieces[index as usize].outline.nearest(center);
        if is_off || point.distance(center) > self.sight + half_diagonal {
            return;
        }
        if size == 1 {
            self.near.entry(low).or_default().push(index);
            return;
        }
        let half = size / 2;
        for n in 0..8 {
            let corner = [low[0] + half * (n & 1), low[1] + half * ((n >> 1) & 1), low[2] + half * (n >> 2)];
            self.enter(index, corner, half, layout);
        }
    }

    /// The cells that it reaches, in their order.
    pub(super) fn cells(&self) -> Vec<[i64; 3]> {
        let mut cells: Vec<[i64; 3]> = self.near.keys().copied().collect();
        cells.sort_unstable();
        cells
    }

    /// Whether it has flat faces: a mesh, or its section with the plane of the flow.
    pub(super) fn is_faceted(&self) -> bool {
        let is_flat = |piece: &Piece| matches!(piece.outline, Outline::Triangle(..) | Outline::Segment(..));
        self.pieces.iter().all(is_flat)
    }

    /// Depth of a position behind it, negative before it and beside it \[m\]; infinite far away.
    pub(super) fn depth(&self, at: DVec3) -> f64 {
        let signed = |look: Look| if look.is_behind { look.distance } else { -look.distance };
        self.look(at).map_or(f64::NEG_INFINITY, signed)
    }

    /// Whether a position behind it is valid for wall particles: neither at the surface nor deeper than the support.
    pub(super) fn has_wall_particle_at(&self, at: DVec3, layout: &Layout) -> bool {
        self.look(at)
            .is_some_and(|look| look.is_behind && look.distance > SURFACE * layout.spacing && look.distance < layout.band() * (1.0 + 1e-6))
    }

    /// The geometry relative to a position; none if it is far away.
    ///
    /// Where pieces join, the space behind them is the wedge between their normals, at convex and at concave edges. Nothing is behind a surface
    /// beside a rim.
    pub(super) fn look(&self, at: DVec3) -> Option<Look> {
        let near = self.near.get(&self.cell(at))?;
        let feet: Vec<(DVec3, DVec3, u32)> = near
            .iter()
            .map(|&index| {
                let piece = &self.pieces[index as usize];
                let (point, normal) = piece.outline.nearest(at);
                (point, normal * piece.away, piece.wall)
            })
            .collect();
        let distance_to = |foot: &(DVec3, DVec3, u32)| foot.0.distance_squared(at);
        let (nearest, _, wall) = *feet.iter().min_by(|a, b| distance_to(a).total_cmp(&distance_to(b)))?;
        let mut ways: Vec<DVec3> = Vec::new();
        for (point, away, _) in feet {
            let is_same = point.distance(nearest) < SAME * self.spacing;
            if is_same && ways.iter().all(|way| way.dot(away) < 1.0 - 1e-6) {
                ways.push(away);
            }
        }
        let sum: DVec3 = ways.iter().sum();
        let middle = sum.normalize_or_zero();
        let narrowest = ways.iter().map(|way| way.dot(middle)).fold(1.0, f64::min);
        let distance = nearest.distance(at);
        let is_within = (at - nearest).dot(middle) >= (narrowest - 1e-5) * distance;
        // Where two pieces join, the wedge is in the plane of their normals; beyond the end of their edge there is a rim.
        let is_beside = match ways[..] {
            [one, other] => (at - nearest).dot(one.cross(other).normalize_or_zero()).abs() > 1e-5 * distance,
            _ => false,
        };
        Some(Look {
            distance,
            is_behind: distance > 0.0 && sum.length() > 1e-3 && is_within && !is_beside,
            away: middle,
            wall,
        })
    }
}

/// A wall that is not a plane, in the form that the fluid code uses.
enum Outlines {
    /// Pieces, each a separate part of the surface.
    Round(Vec<Outline>),
    /// Triangles.
    Faceted(Vec<Triangle>),
}

fn outlines(shape: &WallShape, layout: &Layout) -> Outlines {
    let circle = |center: DVec3, radius: f64, axis: usize| {
        let mut center = center;
        center[axis] = 0.0;
        Outline::Sphere { center, radius }
    };
    match (shape, layout.across) {
        (WallShape::Plane { .. }, _) => Outlines::Round(Vec::new()),
        (WallShape::Mesh(triangles), _) => Outlines::Faceted(triangles.clone()),
        (WallShape::Round(frusta), None) => Outlines::Round(
            frusta
                .iter()
                .map(|frustum| Outline::Mantle(SurfaceOfRevolution::new(frustum)))
                .collect(),
        ),
        (WallShape::Round(frusta), Some(axis)) if frusta.iter().all(|frustum| frustum.axis[axis].abs() > 1.0 - 1e-9) => {
            let cut = frusta.iter().filter(|frustum| frustum.height != 0.0).filter_map(|frustum| {
                let share = -frustum.base[axis] / (frustum.axis[axis] * frustum.height);
                let [from, to] = frustum.radii;
                let radius = from + (to - from) * share;
                ((0.0..=1.0).contains(&share) && radius > 0.0).then(|| circle(frustum.base.into(), radius, axis))
            });
            Outlines::Round(cut.collect())
        }
        (WallShape::Round(frusta), Some(_)) => Outlines::Faceted(frusta.iter().flat_map(|frustum| frustum.triangles(SEGMENTS)).collect()),
        (WallShape::Sphere { center, radius }, None) => {
            let (center, radius) = (DVec3::from(*center), *radius);
            Outlines::Round(vec![Outline::Sphere { center, radius }])
        }
        (WallShape::Sphere { center, radius }, Some(axis)) => {
            let square = radius * radius - center[axis] * center[axis];
            let cut = (square > 0.0).then(|| circle(DVec3::from(*center), square.sqrt(), axis));
            Outlines::Round(cut.into_iter().collect())
        }
    }
}
