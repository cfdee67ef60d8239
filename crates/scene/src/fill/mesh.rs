//! The inside of a closed mesh: a tree of boxes over its triangles, and rays through it.

use crate::diagnostics::UnlocatedDiagnostic;
use crate::orient_mesh::{between, not_manifold, turn_outward};
use glam::DVec3;
use seixo_analysis::solid_of_mesh;
use seixo_engine::voxels::Edges;
use seixo_engine::world::Triangle;
use seixo_files::mesh_in::degenerate;

/// Largest number of triangles of a leaf.
const LEAF: usize = 4;
/// Smallest distance of a ray from an edge, as a share of the triangle.
const GRAZE: f64 = 1e-9;
/// Directions of rays, unlikely as directions of edges in drawings; the next one is used if a ray is too close to an edge.
const DIRECTIONS: [DVec3; 6] = [
    DVec3::new(0.577_215_66, 0.412_454_03, 0.701_562_31),
    DVec3::new(-0.261_497_21, 0.915_965_59, 0.303_663_00),
    DVec3::new(0.834_626_84, -0.123_456_79, -0.536_170_33),
    DVec3::new(-0.662_743_41, -0.587_401_05, 0.464_101_61),
    DVec3::new(0.110_001_00, -0.839_962_57, 0.531_326_41),
    DVec3::new(-0.474_949_37, 0.286_747_42, -0.832_050_29),
];

/// A box around triangles: a leaf with some of them, or a node with two children.
struct Node {
    min: DVec3,
    max: DVec3,
    /// The triangles of a leaf; empty for other nodes.
    triangles: std::ops::Range<usize>,
    /// The second child; the first one follows this node.
    second: usize,
}

/// A closed surface of triangles.
pub(crate) struct Mesh {
    triangles: Vec<[DVec3; 3]>,
    nodes: Vec<Node>,
    /// The volume inside \[m³\].
    pub(super) volume: f64,
    /// 1 where normals point outward, −1 where inward.
    outward: f64,
}

/// A mesh with an inside, relative to its center.
pub(crate) struct Enclosed {
    /// The mesh, with its center in the origin.
    pub mesh: Mesh,
    /// Number of triangles that faced the wrong side and were flipped.
    pub turned: usize,
    /// Lower and upper corner of the box around it \[m\].
    pub bounds: [DVec3; 2],
}

impl Mesh {
    /// A mesh that encloses a volume after triangles that face the wrong side are flipped.
    pub(crate) fn enclosed_by(mut triangles: Vec<Triangle>) -> Result<Enclosed, UnlocatedDiagnostic> {
        let edges = Edges::of(&triangles);
        let turned = turn_outward(&mut triangles, &edges)?;
        let corners = || triangles.iter().flatten().map(|corner| DVec3::from(*corner));
        let min = corners().fold(DVec3::INFINITY, DVec3::min);
        let max = corners().fold(DVec3::NEG_INFINITY, DVec3::max);
        let center = (min + max) / 2.0;
        // In the frame of the region; small coordinates also keep more digits.
        for corner in triangles.iter_mut().flatten() {
            *corner = (DVec3::from(*corner) - center).to_array();
        }
        Ok(Enclosed {
            mesh: Mesh::new(&triangles, center)?,
            turned,
            bounds: [min, max],
        })
    }

    /// A mesh that encloses a volume; `center` is added to positions in messages.
    pub(crate) fn new(triangles: &[Triangle], center: DVec3) -> Result<Mesh, UnlocatedDiagnostic> {
        refuse_open(triangles, center)?;
        let mesh = Mesh::of(triangles);
        if mesh.volume > 0.0 {
            return Ok(mesh);
        }
        Err(UnlocatedDiagnostic::new("the mesh encloses no volume").remedy("check the mesh and its `scale`"))
    }

    /// A mesh that is known to be closed.
    pub(crate) fn of(triangles: &[Triangle]) -> Mesh {
        let mut flat = degenerate(triangles).into_iter().peekable();
        let solid = (0..triangles.len()).filter(|index| flat.next_if_eq(index).is_none());
        let volume = solid_of_mesh(triangles).volume;
        let mut mesh = Mesh {
            triangles: solid.map(|index| triangles[index].map(DVec3::from)).collect(),
            nodes: Vec::new(),
            volume: volume.abs(),
            outward: volume.signum(),
        };
        mesh.build(0..mesh.triangles.len());
        mesh
    }

    fn build(&mut self, range: std::ops::Range<usize>) {
        let corners = || self.triangles[range.clone()].iter().flatten();
        let min = corners().fold(DVec3::INFINITY, |min, corner| min.min(*corner));
        let max = corners().fold(DVec3::NEG_INFINITY, |max, corner| max.max(*corner));
        let node = self.nodes.len();
        let is_leaf = range.len() <= LEAF;
        self.nodes.push(Node {
            min,
            max,
            triangles: if is_leaf { range.clone() } else { 0..0 },
            second: 0,
        });
        if is_leaf {
            return;
        }
        let axis = (max - min).max_position();
        let middle = |triangle: &[DVec3; 3]| triangle.iter().map(|corner| corner[axis]).sum::<f64>();
        let half = range.len() / 2;
        self.triangles[range.clone()].select_nth_unstable_by(half, |a, b| middle(a).total_cmp(&middle(b)));
        self.build(range.start..range.start + half);
        self.nodes[node].second = self.nodes.len();
        self.build(range.start + half..range.end);
    }

    /// Visits the triangles of all leaves whose boxes, and those of all parents, pass the test.
    fn walk(&self, passes: impl Fn(&Node) -> bool, mut visit: impl FnMut(&[DVec3; 3])) {
        let mut left = vec![0];
        while let Some(index) = left.pop() {
            let Some(node) = self.nodes.get(index).filter(|node| passes(node)) else {
                continue;
            };
            self.triangles[node.triangles.clone()].iter().for_each(&mut visit);
            if node.triangles.is_empty() {
                left.extend([node.second, index + 1]);
            }
        }
    }

    /// Visits the triangles within `reach`: distance, and unit vector from the triangle's nearest point.
    pub(crate) fn visit_near(&self, at: DVec3, reach: f64, mut visit: impl FnMut(f64, DVec3)) {
        let passes = |node: &Node| at.clamp(node.min, node.max).distance_squared(at) <= reach * reach;
        self.walk(passes, |triangle| {
            let away = at - nearest(triangle, at);
            let distance = away.length();
            if distance <= reach {
                visit(distance, away.try_normalize().unwrap_or(DVec3::Z));
            }
        });
    }

    /// Whether a point is inside, by the winding number: closed parts that overlap are one body, and a part is a hollow if its surface faces inward.
    /// `None` if all rays are too close to an edge.
    pub(crate) fn is_inside(&self, at: DVec3) -> Option<bool> {
        let look = |direction: &DVec3| {
            let inverse = direction.recip();
            let is_met = |node: &Node| {
                let (a, b) = ((node.min - at) * inverse, (node.max - at) * inverse);
                // A flat box has the thickness of the rounding error.
                a.min(b).max_element() <= a.max(b).min_element() * (1.0 + 1e-12) + 1e-300 && a.max(b).min_element() >= 0.0
            };
            let (mut winding, mut is_sure) = (0, true);
            self.walk(is_met, |triangle| match passes(triangle, at, *direction) {
                Some(way) => winding += way,
                None => is_sure = false,
            });
            is_sure.then_some(winding != 0)
        };
        DIRECTIONS.iter().find_map(look)
    }

    /// Whether a part of the surface is inside another one: closed parts overlap.
    pub(crate) fn overlaps_itself(&self) -> bool {
        let Some(root) = self.nodes.first() else { return false };
        let step = 1e-6 * (root.max - root.min).max_element() * self.outward;
        self.triangles.iter().any(|[a, b, c]| {
            let normal = (*b - *a).cross(*c - *a).normalize_or_zero();
            self.is_inside((*a + *b + *c) / 3.0 + normal * step) == Some(true)
        })
    }
}

/// Whether a ray intersects a triangle: 1 or −1 by its side, or 0; `None` if it is too close to an edge to decide \[Möller 1997\].
fn passes([a, b, c]: &[DVec3; 3], from: DVec3, direction: DVec3) -> Option<i32> {
    let (u, v) = (*b - *a, *c - *a);
    let normal = direction.cross(v);
    let determinant = u.dot(normal);
    if determinant.abs() <= 1e-14 * u.length() * v.length() {
        // The ray is parallel to the triangle: an intersection could only be at the edges of its neighbors.
        return Some(0);
    }
    let offset = from - *a;
    let first = offset.dot(normal) / determinant;
    let across = offset.cross(u);
    let second = direction.dot(across) / determinant;
    let least = first.min(second).min(1.0 - first - second);
    let is_ahead = v.dot(across) / determinant > 0.0;
    match least {
        _ if !is_ahead || least < -GRAZE => Some(0),
        _ if least > GRAZE => Some(if determinant > 0.0 { 1 } else { -1 }),
        _ => None,
    }
}

/// The point of a triangle nearest to another point \[Ericson 2005, § 5.1.5\].
pub(crate) fn nearest([a, b, c]: &[DVec3; 3], point: DVec3) -> DVec3 {
    let (ab, ac) = (*b - *a, *c - *a);
    let from = |corner: &DVec3| (ab.dot(point - *corner), ac.dot(point - *corner));
    let ((d1, d2), (d3, d4), (d5, d6)) = (from(a), from(b), from(c));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return *a + ab * (d1 / (d1 - d3));
    }
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return *a + ac * (d2 / (d2 - d6));
    }
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return *b + (*c - *b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    *a + (ab * vb + ac * vc) / (va + vb + vc)
}

/// Refuses a surface with an edge that its triangles do not traverse equally often in both directions.
fn refuse_open(triangles: &[Triangle], center: DVec3) -> Result<(), UnlocatedDiagnostic> {
    let edges = Edges::of(triangles);
    if let Some(edge) = edges.first_open {
        let message = format!(
            "the mesh is not closed: {} triangles meet at the edge {}",
            edge.triangles,
            between(&edge, center)
        );
        return Err(UnlocatedDiagnostic::new(message)
            .limit("2 triangles at every edge")
            .remedy("close the mesh: without an inside it cannot be filled"));
    }
    edges.first_turned.map_or(Ok(()), |edge| Err(not_manifold(&edge, center)))
}
