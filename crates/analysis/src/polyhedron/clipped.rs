//! What is inside of a closed mesh and of some half spaces, with its volume.
//!
//! A plane cuts each triangle by itself. What is left is closed by triangles from the sides on the plane to one point of it. These overlap outside of the
//! section, where they face opposite sides and cancel, whatever holes the section has. So a volume is exact but for rounding, and can be cut again.

use super::PolyhedronFace;
use glam::DVec3;
use seixo_engine::world::Triangle;
use std::f64::consts::TAU;

/// Share of the size below which a height over a plane counts as zero.
const ON_PLANE: f64 = 1e-9;

/// Corners of a triangle, counterclockwise seen from outside.
pub(super) type Corners = [DVec3; 3];

/// All x with n·x ≤ d.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HalfSpace {
    /// Outward unit normal n.
    pub normal: DVec3,
    /// Distance d of its plane from the origin along the normal, in lengths.
    pub offset: f64,
}

impl HalfSpace {
    /// The half space behind a face.
    pub fn behind(face: &PolyhedronFace) -> HalfSpace {
        HalfSpace {
            normal: face.normal,
            offset: face.offset,
        }
    }

    /// The one on the other side of the plane.
    pub fn opposite(&self) -> HalfSpace {
        HalfSpace {
            normal: -self.normal,
            offset: -self.offset,
        }
    }

    /// Height of a point over the plane, positive outside.
    pub fn height(&self, point: DVec3) -> f64 {
        self.normal.dot(point) - self.offset
    }
}

/// The common point of three planes; `None` if two are nearly parallel.
pub(super) fn common_point([a, b, c]: [&HalfSpace; 3]) -> Option<DVec3> {
    let across = b.normal.cross(c.normal);
    let determinant = a.normal.dot(across);
    let sum = a.offset * across + b.offset * c.normal.cross(a.normal) + c.offset * a.normal.cross(b.normal);
    (determinant.abs() > ON_PLANE).then(|| sum / determinant)
}

/// What is inside of a closed mesh and of half spaces.
#[derive(Clone, Debug)]
pub(super) struct ClippedMesh {
    /// The part of the surface of the mesh.
    pub surface: Vec<Corners>,
    /// Triangles on the planes; only their sum has a meaning.
    caps: Vec<Corners>,
    /// The middle of the mesh: volumes are about it, so that nothing large cancels.
    middle: DVec3,
    /// Heights below this count as zero, in lengths.
    pub nil: f64,
}

impl ClippedMesh {
    /// A closed mesh that faces outward, with the middle of its box and its size.
    pub fn whole(mesh: &[Triangle], middle: DVec3, size: f64) -> ClippedMesh {
        ClippedMesh {
            surface: mesh.iter().map(|triangle| triangle.map(DVec3::from)).collect(),
            caps: Vec::new(),
            middle,
            nil: ON_PLANE * size,
        }
    }

    /// The part in a half space.
    pub fn inside(&self, half_space: &HalfSpace) -> ClippedMesh {
        let foot = self.middle - half_space.normal * half_space.height(self.middle);
        let mut cut = Cut {
            half_space,
            foot,
            nil: self.nil,
            closing: Vec::new(),
        };
        let surface = cut.kept(&self.surface);
        let mut caps = cut.kept(&self.caps);
        caps.append(&mut cut.closing);
        ClippedMesh {
            surface,
            caps,
            middle: self.middle,
            nil: self.nil,
        }
    }

    /// Its volume, in lengths³.
    pub fn volume(&self) -> f64 {
        let six_fold = |corners: &Corners| {
            let [a, b, c] = corners.map(|corner| corner - self.middle);
            a.dot(b.cross(c))
        };
        self.surface.iter().chain(&self.caps).map(six_fold).sum::<f64>() / 6.0
    }

    /// Whether a whole mesh has a point inside: it is seen in more than half of all directions \[Oosterom 1983\].
    pub fn holds(&self, point: DVec3) -> bool {
        let half_angle = |corners: &Corners| {
            let [a, b, c] = corners.map(|corner| corner - point);
            let [u, v, w] = [a, b, c].map(|corner| corner.length());
            a.dot(b.cross(c)).atan2(u * v * w + a.dot(b) * w + b.dot(c) * u + c.dot(a) * v)
        };
        self.surface.iter().map(half_angle).sum::<f64>() > 0.5 * TAU
    }
}

/// A plane that cuts triangles.
struct Cut<'a> {
    half_space: &'a HalfSpace,
    /// Point of the plane.
    foot: DVec3,
    nil: f64,
    /// Triangles from sides on the plane to that point.
    closing: Vec<Corners>,
}

impl Cut<'_> {
    /// What of triangles is in the half space.
    fn kept(&mut self, all: &[Corners]) -> Vec<Corners> {
        let mut kept = Vec::with_capacity(all.len());
        for corners in all {
            self.keep(corners, &mut kept);
        }
        kept
    }

    /// Adds what of a triangle is in the half space: at most two triangles.
    fn keep(&mut self, corners: &Corners, kept: &mut Vec<Corners>) {
        let heights = corners.map(|corner| {
            let height = self.half_space.height(corner);
            if height.abs() <= self.nil { 0.0 } else { height }
        });
        // A triangle on the plane is left out: the sides of its neighbors close the surface.
        if heights.iter().all(|height| *height >= 0.0) {
            return;
        }
        // Corners of what is left, and whether they are on the plane.
        let mut left = [(DVec3::ZERO, false); 4];
        let mut count = 0;
        for k in 0..3 {
            let next = (k + 1) % 3;
            let (here, there) = (heights[k], heights[next]);
            if here <= 0.0 {
                left[count] = (corners[k], here == 0.0);
                count += 1;
            }
            if here * there < 0.0 {
                left[count] = (corners[k].lerp(corners[next], here / (here - there)), true);
                count += 1;
            }
        }
        for k in 0..count {
            let ((from, is_first), (to, is_second)) = (left[k], left[(k + 1) % count]);
            if is_first && is_second {
                self.closing.push([self.foot, to, from]);
            }
        }
        kept.extend((2..count).map(|k| [left[0].0, left[k - 1].0, left[k].0]));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Polyhedron;
    use super::*;

    /// A cube of width 2 about the origin with a hole of width 1 along z.
    fn frame() -> ClippedMesh {
        let [outer, inner] = [2.0, 1.0].map(|width| Polyhedron::block([width, width, 2.0]).unwrap().triangles());
        // Without the ends of both, and with rings between them.
        let is_side = |triangle: &&Triangle| triangle.iter().any(|corner| corner[2] != triangle[0][2]);
        let mut mesh: Vec<Triangle> = outer.iter().filter(is_side).copied().collect();
        mesh.extend(inner.iter().filter(is_side).map(|&[a, b, c]| [a, c, b]));
        let corner = |k: usize, half: f64, z: f64| {
            let [x, y] = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]][k % 4];
            [half * x, half * y, z]
        };
        for z in [-1.0, 1.0] {
            for k in 0..4 {
                let [a, b] = [corner(k, 1.0, z), corner(k + 1, 1.0, z)];
                let [c, d] = [corner(k + 1, 0.5, z), corner(k, 0.5, z)];
                mesh.extend(if z > 0.0 { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
            }
        }
        ClippedMesh::whole(&mesh, DVec3::ZERO, 2.0)
    }

    #[test]
    fn parts_of_a_frame_have_their_volumes_whatever_holes_the_sections_have() {
        let frame = frame();
        assert!((frame.volume() - 6.0).abs() < 1e-12, "{}", frame.volume());
        let half = |normal: DVec3, offset: f64| HalfSpace { normal, offset };
        // Across the hole, along it through its middle, and in the plane of one of its sides.
        for (cut, volume) in [
            (half(DVec3::Z, 0.5), 4.5),
            (half(DVec3::X, 0.0), 3.0),
            (half(DVec3::X, -0.5), 2.0),
            (half(DVec3::X, 0.5), 4.0),
            (half(DVec3::X, 1.0), 6.0),
            (half(DVec3::X, -1.0), 0.0),
        ] {
            let [below, above] = [cut, cut.opposite()].map(|cut| frame.inside(&cut).volume());
            assert!(
                (below - volume).abs() < 1e-12 && (above - 6.0 + volume).abs() < 1e-12,
                "{cut:?}: {below} {above}"
            );
        }
        // A cut of a cut, through the caps of the first: a quarter of the upper half.
        let tilted = half(DVec3::new(1.0, 1.0, 0.0).normalize(), 0.0);
        let quarter = frame
            .inside(&half(DVec3::NEG_Z, 0.0))
            .inside(&tilted)
            .inside(&half(DVec3::new(1.0, -1.0, 0.0).normalize(), 0.0));
        assert!((quarter.volume() - 0.75).abs() < 1e-12, "{}", quarter.volume());
    }

    #[test]
    fn the_hole_is_outside() {
        let frame = frame();
        assert!(frame.holds(DVec3::new(0.75, 0.1, 0.2)) && frame.holds(DVec3::new(0.6, -0.7, -0.9)));
        assert!(!frame.holds(DVec3::ZERO) && !frame.holds(DVec3::new(0.0, 0.0, 2.0)) && !frame.holds(DVec3::splat(1.1)));
    }

    #[test]
    fn three_planes_meet_in_a_point() {
        let plane = |normal: DVec3, offset: f64| HalfSpace { normal, offset };
        let (a, b, c) = (plane(DVec3::X, 1.0), plane(DVec3::Y, 2.0), plane(DVec3::new(0.6, 0.0, 0.8), 1.4));
        let point = common_point([&a, &b, &c]).unwrap();
        assert!(point.distance(DVec3::new(1.0, 2.0, 1.0)) < 1e-12, "{point}");
        assert_eq!(common_point([&a, &a.opposite(), &b]), None);
    }
}
