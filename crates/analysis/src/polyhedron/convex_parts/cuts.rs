//! The search for planes that cut a mesh into parts, and for parts to be joined.

use super::super::clipped::{ClippedMesh, Corners, HalfSpace, common_point};
use super::super::{Polyhedron, PolyhedronFace, RESOLUTION};
use super::{CONVEX, depth_in};
use crate::solid::Solid;
use glam::DVec3;

/// Smallest share of the volume of the mesh that a plane may cut off.
const SLIVER: f64 = 1e-4;
/// Weight of the difference of the volumes of two halves: of cuts that are as good, the one in the middle is taken.
const BALANCE: f64 = 0.05;
/// Weight of how narrow a part is along the normal of a plane, compared with its widest axis: of cuts that are as good, one across the longer way is
/// taken. No first cut of a ring opens its hole; a second one does if both are across the ring, while a flat layer of a ring is still a ring.
const NARROW: f64 = 0.05;
/// Smallest depth of faces under the center of a part, in rounding radii.
const ROOM: f64 = 1.2;
/// Most planes of faces that are tried for a part.
const MOST_PLANES: usize = 32;
/// Slices along each axis, between which cuts are tried.
const SLICES: u32 = 8;
/// How often the best of these cuts is moved by half of the last distance.
const REFINEMENTS: i32 = 4;
/// More points than this are thinned out while cuts are compared.
const FEW_POINTS: usize = 200;
/// Directions in which the farthest points are kept.
const DIRECTIONS: u32 = 96;
/// Golden angle \[rad\]: steps by it spread directions evenly.
const GOLDEN: f64 = 2.399_963_229_728_653;
/// Sine of the angle between planes below which they are parallel.
const PARALLEL: f64 = 1e-6;
/// Sine of the angle between axes above which both are tried.
const DISTINCT: f64 = 0.01;

/// The points that are farthest in some directions, if there are many different points. The polyhedron around them is somewhat smaller than around all.
fn outline(mut points: Vec<DVec3>) -> Vec<DVec3> {
    // Triangles have their corners in common.
    points.sort_unstable_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z)));
    points.dedup();
    if points.len() <= FEW_POINTS {
        return points;
    }
    let along = (0..DIRECTIONS).map(|k| {
        let height = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(DIRECTIONS);
        let (sine, cosine) = (GOLDEN * f64::from(k)).sin_cos();
        let aside = (1.0 - height * height).sqrt();
        DVec3::new(aside * cosine, aside * sine, height)
    });
    let axes = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
    let farthest = |direction: DVec3| {
        let mut found = (points[0], direction.dot(points[0]));
        for &point in &points[1..] {
            let height = direction.dot(point);
            if height > found.1 {
                found = (point, height);
            }
        }
        found.0
    };
    along.chain(axes).map(farthest).collect()
}

/// A part of a mesh.
#[derive(Clone)]
pub(super) struct Part {
    /// The polyhedron around it.
    pub around: Polyhedron,
    /// Its volume.
    pub volume: f64,
    /// The volume by which the polyhedron is larger.
    pub excess: f64,
}

/// A part that may be cut.
struct Piece {
    part: Part,
    mesh: ClippedMesh,
    /// The half spaces in which it is.
    cell: Vec<HalfSpace>,
    /// Points inside of the mesh at which three of their planes meet.
    corners: Vec<DVec3>,
}

/// Two parts that may be joined.
struct Pair {
    /// Their indices.
    parts: [usize; 2],
    /// The volume by which the polyhedron around both is larger than both.
    excess: f64,
    /// That without what was so before.
    cost: f64,
}

/// A mesh that is being cut.
pub(super) struct Cutting<'a> {
    mesh: &'a ClippedMesh,
    volume: f64,
    /// Largest width along an axis.
    size: f64,
    rounding: f64,
    /// Normals of planes that are tried.
    axes: Vec<DVec3>,
}

impl<'a> Cutting<'a> {
    /// A mesh of this solid and size, whose parts shall have room for a rounding radius.
    pub fn of(mesh: &'a ClippedMesh, solid: &Solid, size: f64, rounding: f64) -> Cutting<'a> {
        let (_, principal) = solid.principal_axes();
        // Axes of coordinates, and those principal axes that are others.
        let mut axes = DVec3::AXES.to_vec();
        for axis in [principal.x_axis, principal.y_axis, principal.z_axis] {
            if axes.iter().all(|other| other.cross(axis).length() > DISTINCT) {
                axes.push(axis);
            }
        }
        Cutting {
            mesh,
            volume: solid.volume,
            size,
            rounding,
            axes,
        }
    }

    /// At most so many parts of the whole, if details of the mesh can be resolved.
    pub fn parts(&self, whole: Part, most: usize) -> Vec<Part> {
        let (enough, pieces) = self.pieces(whole, most);
        let joined = self.joined(pieces, most);
        // Joining is not always better than cutting less.
        let concave = |parts: &[Part]| parts.iter().map(|part| part.excess).sum::<f64>();
        let is_better = |enough: &[Part]| joined.len() > most || concave(enough) < concave(&joined) - CONVEX * self.volume;
        enough.filter(|enough| is_better(enough)).unwrap_or(joined)
    }

    /// Parts that are as good as convex, or that no plane cuts, or somewhat more than so many; before them those when there were so many.
    fn pieces(&self, whole: Part, most: usize) -> (Option<Vec<Part>>, Vec<Part>) {
        let mut open = vec![Piece {
            part: whole,
            mesh: self.mesh.clone(),
            cell: Vec::new(),
            corners: Vec::new(),
        }];
        let (mut enough, mut done) = (None, Vec::<Part>::new());
        while open.len() + done.len() < 2 * most + 2 {
            if open.len() + done.len() == most && enough.is_none() {
                enough = Some(done.iter().chain(open.iter().map(|piece| &piece.part)).cloned().collect());
            }
            let excesses = open.iter().map(|piece| piece.part.excess).enumerate();
            let concave = excesses.filter(|(_, excess)| *excess > CONVEX * self.volume);
            let Some((next, _)) = concave.max_by(|(_, a), (_, b)| a.total_cmp(b)) else {
                break;
            };
            let piece = open.remove(next);
            match self.best_cut(&piece) {
                Some(halves) => open.extend(halves),
                None => done.push(piece.part),
            }
        }
        done.extend(open.into_iter().map(|piece| piece.part));
        (enough, done)
    }

    /// The halves of a piece that fill the polyhedra around them best.
    fn best_cut(&self, piece: &Piece) -> Option<[Piece; 2]> {
        let better = |found: Option<(f64, HalfSpace, f64)>, (plane, step): (HalfSpace, f64)| match self.loss(piece, &plane) {
            Some(loss) if found.is_none_or(|(least, _, _)| loss < least) => Some((loss, plane, step)),
            _ => found,
        };
        let mut best = self.candidates(piece).into_iter().fold(None, better);
        for refinement in 1..=REFINEMENTS {
            let (_, plane, step) = best?;
            if step == 0.0 {
                break;
            }
            let shift = step * 0.5f64.powi(refinement);
            let near = [-shift, shift].map(|shift| {
                let offset = plane.offset + shift;
                (HalfSpace { offset, ..plane }, step)
            });
            best = near.into_iter().fold(best, better);
        }
        let (_, plane, _) = best?;
        self.split(piece, &plane, false).or_else(|| self.split(piece, &plane, true))
    }

    /// What a cut leaves concave, as a volume; `None` if it is impossible.
    fn loss(&self, piece: &Piece, plane: &HalfSpace) -> Option<f64> {
        let [below, above] = self.split(piece, plane, true)?.map(|half| half.part);
        let imbalance = (below.volume - above.volume).abs() / (below.volume + above.volume);
        let width = |normal: DVec3| {
            let (low, high) = extent_along(&piece.part, normal);
            high - low
        };
        let widest = self.axes.iter().map(|&axis| width(axis)).fold(0.0, f64::max);
        let narrowness = (1.0 - width(plane.normal) / widest).max(0.0);
        let preference = BALANCE * imbalance + NARROW * narrowness;
        Some(below.excess.max(0.0) + above.excess.max(0.0) + preference * piece.part.excess)
    }

    /// Planes to be tried, each with the distance to the next one; zero if it is not to be moved.
    fn candidates(&self, piece: &Piece) -> Vec<(HalfSpace, f64)> {
        let mut all: Vec<(HalfSpace, f64)> = self.planes_of_faces(piece).into_iter().map(|plane| (plane, 0.0)).collect();
        for &normal in &self.axes {
            let (low, high) = extent_along(&piece.part, normal);
            let step = (high - low) / f64::from(SLICES);
            all.extend((1..SLICES).map(|k| {
                let offset = low + step * f64::from(k);
                (HalfSpace { normal, offset }, step)
            }));
        }
        all
    }

    /// Planes of the triangles that are large and deep inside of the polyhedron around a piece, each once.
    fn planes_of_faces(&self, piece: &Piece) -> Vec<HalfSpace> {
        let surface = &piece.mesh.surface;
        let weight = |&[a, b, c]: &Corners| {
            let middle = (a + b + c) / 3.0;
            let depth = depth_in(&piece.part.around, middle, 0.0);
            let is_deep = depth > RESOLUTION * self.size;
            if is_deep { depth * (b - a).cross(c - a).length() } else { 0.0 }
        };
        let mut order: Vec<(f64, usize)> = surface.iter().map(weight).zip(0..).filter(|(weight, _)| *weight > 0.0).collect();
        order.sort_unstable_by(|(a, k), (b, l)| b.total_cmp(a).then(k.cmp(l)));
        let mut planes: Vec<HalfSpace> = Vec::new();
        for (_, triangle) in order {
            let [a, b, c] = surface[triangle];
            let Some(normal) = (b - a).cross(c - a).try_normalize() else {
                continue;
            };
            let is_known =
                |other: &HalfSpace| other.normal.cross(normal).length() < PARALLEL && other.height(a).abs() < RESOLUTION * self.size;
            if !planes.iter().any(is_known) {
                let offset = normal.dot(a);
                planes.push(HalfSpace { normal, offset });
            }
            if planes.len() == MOST_PLANES {
                break;
            }
        }
        planes
    }

    /// Both halves of a piece, with the polyhedra around them or, if this is rough, around some of their points; `None` if one is a sliver or has no
    /// room for the rounding radius.
    fn split(&self, piece: &Piece, plane: &HalfSpace, is_rough: bool) -> Option<[Piece; 2]> {
        let shared = self.corners_on(plane, &piece.cell);
        let below = self.half(piece, *plane, &shared, is_rough)?;
        let above = self.half(piece, plane.opposite(), &shared, is_rough)?;
        Some([below, above])
    }

    fn half(&self, piece: &Piece, half_space: HalfSpace, shared: &[DVec3], is_rough: bool) -> Option<Piece> {
        let mesh = piece.mesh.inside(&half_space);
        let volume = mesh.volume();
        if volume < SLIVER * self.volume {
            return None;
        }
        let left = piece.corners.iter().filter(|corner| half_space.height(**corner) <= 0.0);
        let corners: Vec<DVec3> = left.chain(shared).copied().collect();
        let points: Vec<DVec3> = mesh.surface.iter().flatten().chain(&corners).copied().collect();
        let part = part_around(if is_rough { outline(points) } else { points }, volume)?;
        let center = part.around.swept(0.0).ok()?.center;
        let depth = |face: &PolyhedronFace| face.offset - face.normal.dot(center);
        if part.around.faces.iter().any(|face| depth(face) < ROOM * self.rounding) {
            return None;
        }
        let cell = piece.cell.iter().copied().chain([half_space]).collect();
        Some(Piece { part, mesh, cell, corners })
    }

    /// Points inside of the mesh and of a cell at which a plane meets two others of the cell: all corners of a part that are not on the mesh.
    fn corners_on(&self, plane: &HalfSpace, cell: &[HalfSpace]) -> Vec<DVec3> {
        let mut found = Vec::new();
        for (k, one) in cell.iter().enumerate() {
            for other in &cell[..k] {
                let Some(point) = common_point([plane, one, other]) else {
                    continue;
                };
                let is_in_cell = cell.iter().all(|wall| wall.height(point) <= self.mesh.nil);
                if is_in_cell && self.mesh.holds(point) {
                    found.push(point);
                }
            }
        }
        found
    }

    /// At most so many parts, if they can be joined: first those whose union fills the polyhedron around it best. Also fewer, if what is joined is as good as
    /// convex.
    fn joined(&self, all: Vec<Part>, most: usize) -> Vec<Part> {
        let mut parts: Vec<Option<Part>> = all.into_iter().map(Some).collect();
        let mut do_touch = true;
        let mut pairs: Vec<Pair> = (0..parts.len()).flat_map(|k| self.pairs_of(k, &parts, do_touch)).collect();
        loop {
            let count = parts.iter().flatten().count();
            let limit = if count > most { f64::INFINITY } else { CONVEX * self.volume };
            let wanted = pairs.iter().filter(|pair| pair.excess <= limit);
            let best = wanted.min_by(|a, b| a.cost.total_cmp(&b.cost).then(a.parts.cmp(&b.parts)));
            let Some(&Pair {
                parts: [first, second], ..
            }) = best
            else {
                if count <= most || !do_touch {
                    break;
                }
                // Bodies apart from each other.
                do_touch = false;
                pairs = (0..parts.len()).flat_map(|k| self.pairs_of(k, &parts, do_touch)).collect();
                continue;
            };
            let both = parts[first].as_ref().zip(parts[second].as_ref());
            let union = both.and_then(|(one, other)| joint(one, other, false));
            if union.is_none() {
                pairs.retain(|pair| pair.parts != [first, second]);
                continue;
            }
            pairs.retain(|pair| !pair.parts.contains(&first) && !pair.parts.contains(&second));
            (parts[first], parts[second]) = (None, None);
            parts.push(union);
            pairs.extend(self.pairs_of(parts.len() - 1, &parts, do_touch));
        }
        parts.into_iter().flatten().collect()
    }

    /// Pairs of a part with those before it, of those that touch or of all.
    fn pairs_of(&self, second: usize, parts: &[Option<Part>], do_touch: bool) -> Vec<Pair> {
        let Some(other) = &parts[second] else {
            return Vec::new();
        };
        let pair = |(first, one): (usize, &Option<Part>)| {
            let one = one.as_ref()?;
            if do_touch && !are_near(&one.around, &other.around, RESOLUTION * self.size) {
                return None;
            }
            let excess = joint(one, other, true)?.excess;
            Some(Pair {
                parts: [first, second],
                excess,
                cost: excess - one.excess - other.excess,
            })
        };
        parts[..second].iter().enumerate().filter_map(pair).collect()
    }
}

/// Lowest and highest height of a part along a direction, in lengths.
fn extent_along(part: &Part, direction: DVec3) -> (f64, f64) {
    let heights = part.around.vertices.iter().map(|vertex| direction.dot(*vertex));
    let unbounded = (f64::INFINITY, f64::NEG_INFINITY);
    heights.fold(unbounded, |(low, high), height| (low.min(height), high.max(height)))
}

/// A part of this volume, with the polyhedron around these points.
fn part_around(points: Vec<DVec3>, volume: f64) -> Option<Part> {
    let around = Polyhedron::around(&points).ok()?;
    let excess = around.swept(0.0).ok()?.volume - volume;
    Some(Part { around, volume, excess })
}

/// Two parts as one.
fn joint(one: &Part, other: &Part, is_rough: bool) -> Option<Part> {
    let points: Vec<DVec3> = one.around.vertices.iter().chain(&other.around.vertices).copied().collect();
    part_around(if is_rough { outline(points) } else { points }, one.volume + other.volume)
}

/// Whether the boxes around two polyhedra are nearer than a distance, in lengths.
fn are_near(one: &Polyhedron, other: &Polyhedron, distance: f64) -> bool {
    let bounds = |polyhedron: &Polyhedron| {
        let unbounded = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let vertices = polyhedron.vertices.iter();
        vertices.fold(unbounded, |(low, high), vertex| (low.min(*vertex), high.max(*vertex)))
    };
    let ((low, high), (from, to)) = (bounds(one), bounds(other));
    (low - to).max_element().max((from - high).max_element()) <= distance
}
