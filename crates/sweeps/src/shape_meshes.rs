//! Contacts of a polyhedral grain with a wall from a mesh, on a CPU.
//!
//! The energy is that of two polyhedral grains, of which the mesh is the second: contacts of vertices of the grain with triangles, of corners of the mesh
//! with the grain, and of edges with edges. A vertex has contacts where a sphere about it has some, see [`crate::wall`], so triangles of one plane count
//! as one. Edges between them and corners inside of planes are no features, and those at the bottom of a valley are not touched.
//!
//! A contact of a vertex that leaves a triangle goes on at the next one, with its history.

use crate::contact::{PowerSums, Stored};
use crate::layout::{RECORD, load};
use crate::shape_pairs::{
    EDGES, Fading, FeaturePair, Frame, PairSizes, PairSums, PosedShape, ShapePair, VERTEX_OF_I, VERTEX_OF_J, add_contact, add_end,
    end_of_edges, fading_at_vertices, fading_of_edges, feature_pair, seen, within_end,
};
use crate::shape_walls::{GrainByWall, ShapeWallLoad};
use crate::shapes::{Shape, contact_radius_of, end_of_edge, nearest_on_part, part_of, rounding_of, shape_at, vertex_of};
use crate::wall::velocity_of_surface;
use seixo_laws::contact::Coefficients;
use seixo_laws::nearest::{fading_rate, nearest_of_edges, nearest_on_edge, overlap_at};
use seixo_laws::wall::nearest_on_triangle;
use seixo_laws::{Quaternion, Real, Vector3};

/// A corner or an edge that is no feature.
pub const NO_FEATURE: u32 = u32::MAX;

/// Bits of a feature of a mesh in the key of a contact.
const MESH_BITS: u32 = 17;

/// Largest number of triangles of a mesh, so that each of its features fits into a key of a contact.
pub const MOST_TRIANGLES: usize = (1 << MESH_BITS) / 3;

/// Largest number of vertices, edges or parts of a shape that touches meshes, for the same reason.
pub const MOST_FEATURES_AT_MESHES: usize = (1 << (30 - MESH_BITS)) - 1;

/// Points nearer to each other than this share of the rounding radius are one \[-\].
const SAME_POINT: f64 = 1e-6;

const ZERO: Vector3<f64> = Vector3 { x: 0.0, y: 0.0, z: 0.0 };

/// A triangle of a mesh near a grain.
#[derive(Clone, Copy, Debug)]
pub struct MeshTriangle {
    /// Its number in the mesh.
    pub number: u32,
    /// Its corners, relative to the center of the grain \[m\].
    pub corners: [Vector3<f64>; 3],
    /// Number of the corner of the mesh at each corner; [`NO_FEATURE`] inside of a plane.
    pub points: [u32; 3],
    /// Number of the edge of the mesh from each corner to the next; [`NO_FEATURE`] between triangles of one plane.
    pub edges: [u32; 3],
}

impl MeshTriangle {
    fn nearest(&self, place: &Vector3<f64>) -> Vector3<f64> {
        let [a, b, c] = &self.corners;
        nearest_on_triangle(place, a, b, c)
    }
}

/// The wall of a mesh.
#[derive(Clone, Copy, Debug)]
pub struct MeshWall<'a> {
    /// Its triangles near the grain, by ascending numbers.
    pub triangles: &'a [MeshTriangle],
    /// Records of the walls, see [`crate::layout::WALL`].
    pub walls: &'a [f64],
    /// Where the record of this wall starts.
    pub at: usize,
}

/// Slots of contact histories before and after a step. Keys ascend; free slots have the key zero and follow the others.
#[derive(Debug)]
pub struct MeshSlots<'a> {
    /// Keys before the step; those of contacts that go to another triangle are changed.
    pub old_keys: &'a mut [u32],
    /// Histories before the step, with [`RECORD`] numbers each.
    pub old_springs: &'a mut [f64],
    /// Keys after the step.
    pub keys: &'a mut [u32],
    /// Histories after the step.
    pub springs: &'a mut [f64],
}

/// Key of a contact of this kind.
fn key_at_mesh(kind: u32, of_grain: u32, of_mesh: u32) -> u32 {
    (kind << 30) | (of_grain << MESH_BITS) | of_mesh
}

/// Lets old contacts of vertices that left their triangle go on at other triangles: `present` has the keys of the contacts of vertices now.
fn follow(present: &[u32], old_keys: &mut [u32], old_springs: &mut [f64]) {
    let filled = old_keys.iter().take_while(|key| **key != 0).count();
    let mut has_moved = false;
    for &key in present {
        if old_keys[..filled].contains(&key) {
            continue;
        }
        let left = |old: &u32| old >> MESH_BITS == key >> MESH_BITS && !present.contains(old);
        if let Some(slot) = old_keys[..filled].iter().position(left) {
            old_keys[slot] = key;
            has_moved = true;
        }
    }
    if !has_moved {
        return;
    }
    for end in 1..filled {
        let mut slot = end;
        while slot > 0 && old_keys[slot - 1] > old_keys[slot] {
            old_keys.swap(slot - 1, slot);
            for number in 0..RECORD {
                old_springs.swap((slot - 1) * RECORD + number, slot * RECORD + number);
            }
            slot -= 1;
        }
    }
}

/// A place that may be a contact of a vertex.
struct Candidate {
    triangle: usize,
    point: Vector3<f64>,
    square: f64,
}

/// The triangles on which the sphere of this radius about a place has contacts, with the points: local minima of the distance. Points nearer to each
/// other than `same` are one.
fn contacts_of_sphere(place: &Vector3<f64>, radius: f64, same: f64, triangles: &[MeshTriangle]) -> Vec<(u32, Vector3<f64>)> {
    let candidate = |(triangle, one): (usize, &MeshTriangle)| {
        let point = one.nearest(place);
        let gap = place.minus(&point);
        let square = gap.dot(&gap);
        (square < radius * radius).then_some(Candidate { triangle, point, square })
    };
    let near: Vec<Candidate> = triangles.iter().enumerate().filter_map(candidate).collect();
    let counts = |k: usize| {
        let own = &near[k];
        near.iter().enumerate().all(|(s, other)| {
            if s == k {
                return true;
            }
            if own.point.minus(&other.point).length() < same {
                return k < s;
            }
            let on_other = triangles[other.triangle].nearest(&own.point);
            other.square >= own.square || on_other.minus(&own.point).length() >= same
        })
    };
    let all = (0..near.len()).filter(|&k| counts(k));
    all.map(|k| (triangles[near[k].triangle].number, near[k].point)).collect()
}

/// A corner of a mesh.
struct MeshPoint {
    number: u32,
    place: Vector3<f64>,
    /// Sum of unit vectors from it along both sides of each of its triangles.
    into: Vector3<f64>,
    /// Whether it is at no rim.
    is_inside: bool,
}

/// An edge of a mesh, from the end with the lower number to the other.
struct MeshEdge {
    number: u32,
    points: [u32; 2],
    ends: [Vector3<f64>; 2],
    /// Sum of unit vectors across it, into each of its triangles.
    into: Vector3<f64>,
    /// Number of its triangles.
    sides: u32,
}

impl MeshPoint {
    /// Whether it is the bottom of a hollow as seen along a vector from it: the triangles around are nearer there, and vertices touch them.
    fn is_hollow(&self, gap: &Vector3<f64>) -> bool {
        self.is_inside && self.into.dot(gap) > 0.0
    }
}

impl MeshEdge {
    /// As [`MeshPoint::is_hollow`], for the bottom of a valley.
    fn is_hollow(&self, gap: &Vector3<f64>) -> bool {
        self.sides == 2 && self.into.dot(gap) > 0.0
    }
}

fn unit(v: &Vector3<f64>) -> Vector3<f64> {
    v.times(1.0 / v.length().max(f64::MIN_POSITIVE))
}

/// Corners and edges of the mesh that may be within this distance of the center of the grain, by ascending numbers. All their triangles are given.
fn features_within(reach: f64, triangles: &[MeshTriangle]) -> (Vec<MeshPoint>, Vec<MeshEdge>) {
    let (mut points, mut edges) = (Vec::<MeshPoint>::new(), Vec::<MeshEdge>::new());
    for triangle in triangles {
        for k in 0..3 {
            let (next, last) = ((k + 1) % 3, (k + 2) % 3);
            let [place, to_next, to_last] = [k, next, last].map(|corner| triangle.corners[corner]);
            let [to_next, to_last] = [to_next, to_last].map(|corner| corner.minus(&place));
            let (point, edge) = (triangle.points[k], triangle.edges[k]);
            if point != NO_FEATURE && place.length() < reach {
                points.push(MeshPoint {
                    number: point,
                    place,
                    into: unit(&to_next).plus(&unit(&to_last)),
                    is_inside: true,
                });
            }
            if edge != NO_FEATURE {
                // From all triangles it has the same bits.
                let is_forward = point < triangle.points[next];
                let [from, to] = if is_forward { [k, next] } else { [next, k] };
                let ends = [triangle.corners[from], triangle.corners[to]];
                if nearest_on_edge(&ZERO, &ends[0], &ends[1]).length() < reach {
                    let along = unit(&to_next);
                    edges.push(MeshEdge {
                        number: edge,
                        points: [triangle.points[from], triangle.points[to]],
                        ends,
                        into: unit(&to_last.minus(&along.times(to_last.dot(&along)))),
                        sides: 1,
                    });
                }
            }
        }
    }
    edges.sort_by_key(|edge| edge.number);
    edges.dedup_by(|more, edge| {
        let is_same = more.number == edge.number;
        if is_same {
            edge.into = edge.into.plus(&more.into);
            edge.sides += 1;
        }
        is_same
    });
    points.sort_by_key(|point| point.number);
    points.dedup_by(|more, point| {
        let is_same = more.number == point.number;
        if is_same {
            point.into = point.into.plus(&more.into);
        }
        is_same
    });
    for point in &mut points {
        let mut own = edges.iter().filter(|edge| edge.points.contains(&point.number));
        point.is_inside = own.all(|edge| edge.sides == 2);
    }
    (points, edges)
}

/// Sums over the contacts of a grain with a mesh.
struct AtMesh<'a> {
    pair: ShapePair<f64, f64>,
    sizes: PairSizes<f64, f64>,
    slots: MeshSlots<'a>,
    coefficients: &'a Coefficients<f64>,
    dt: f64,
    sums: PairSums<f64, f64>,
    /// Sum of the contact points, weighted with forces.
    weighted: Vector3<f64>,
    pressing: f64,
    deepest: f64,
}

impl AtMesh<'_> {
    /// Adds a contact of two features that are nearer than the rounding radius. Returns U Φ/δ \[N\].
    fn add(&mut self, key: u32, feature: &FeaturePair<f64>, fades: &Fading<f64>, frame: &Frame<f64>) -> f64 {
        let overlap = overlap_at(feature.square, self.sizes.reach);
        // The force acts on the surface of the wall, as for spheres.
        let sizes = PairSizes {
            rounding_j: 0.5 * overlap,
            ..self.sizes
        };
        let before = self.sums.force;
        let slots = &mut self.slots;
        let per_overlap = add_contact::<f64, f64>(
            key,
            feature,
            fades,
            frame,
            &self.pair,
            &sizes,
            0,
            slots.keys.len() as u32,
            slots.old_keys,
            slots.old_springs,
            slots.keys,
            slots.springs,
            self.coefficients,
            self.dt,
            &mut self.sums,
        );
        let push = self.sums.force.minus(&before).length();
        self.weighted = self.weighted.plus(&seen(&feature.on_j, frame).times(push));
        self.pressing += push;
        self.deepest = self.deepest.max(overlap);
        per_overlap
    }

    /// Adds the attraction at an end of a contact, see [`AtMesh::add`].
    fn add_attraction(&mut self, end: &FeaturePair<f64>, overlap: f64, per_overlap: f64, frame: &Frame<f64>) {
        let within = within_end(end.square, overlap, &self.sizes);
        if within < 1.0 {
            add_end::<f64, f64>(end, per_overlap * fading_rate(within), frame, &ZERO, &mut self.sums);
        }
    }

    /// Adds contacts of corners of the mesh with the grain.
    fn add_points(&mut self, points: &[MeshPoint], (shape, words, numbers): (&Shape, &[u32], &[f64]), frame: &Frame<f64>) {
        let scale = self.pair.i.scale;
        let back = frame.orientation.back();
        for p in 0..shape.parts {
            let part = part_of(shape, words, p);
            for point in points {
                let place = back.to_space(&point.place);
                let there = nearest_on_part(&place, &part, shape, words, numbers, scale);
                let feature = feature_pair(&there, &place);
                let is_far = feature.square >= self.sizes.reach * self.sizes.reach;
                if is_far || point.is_hollow(&frame.orientation.to_space(&feature.gap)) {
                    continue;
                }
                let overlap = overlap_at(feature.square, self.sizes.reach);
                let fades = fading_at_vertices(&place, overlap, &part, shape, numbers, scale, &self.sizes);
                if fades.share <= 0.0 {
                    continue;
                }
                let per_overlap = self.add(key_at_mesh(VERTEX_OF_J, p, point.number), &feature, &fades, frame);
                if fades.share < 1.0 {
                    for v in part.vertex_first..part.vertex_end {
                        let end = feature_pair(&vertex_of(shape, numbers, v, scale), &place);
                        self.add_attraction(&end, overlap, per_overlap, frame);
                    }
                }
            }
        }
    }

    /// Adds contacts of edges of the grain with edges of the mesh; `corners` are the vertices of the grain.
    fn add_edges(&mut self, edges: &[MeshEdge], (shape, words): (&Shape, &[u32]), corners: &[Vector3<f64>], frame: &Frame<f64>) {
        for e in 0..shape.edges {
            let [e1, e2] = [0, 1].map(|end| corners[end_of_edge(shape, words, e, end) as usize]);
            for edge in edges {
                let [f1, f2] = &edge.ends;
                let nearest = nearest_of_edges(&e1, &e2, f1, f2);
                let feature = feature_pair(&nearest.on_e, &nearest.on_f);
                let is_far = nearest.square < 0.0 || feature.square >= self.sizes.reach * self.sizes.reach;
                if is_far || edge.is_hollow(&feature.gap) {
                    continue;
                }
                let overlap = overlap_at(feature.square, self.sizes.reach);
                let fades = fading_of_edges(&e1, &e2, f1, f2, overlap, &self.sizes);
                if fades.share <= 0.0 {
                    continue;
                }
                let per_overlap = self.add(key_at_mesh(EDGES, e, edge.number), &feature, &fades, frame);
                if fades.share < 1.0 {
                    for k in 0..4 {
                        let end = end_of_edges(k, &e1, &e2, f1, f2);
                        self.add_attraction(&end, overlap, per_overlap, frame);
                    }
                }
            }
        }
    }
}

/// Contacts of a polyhedral grain with a mesh whose surface does not run, over one time step.
///
/// `words` and `numbers` are the table of shapes. `overlap_limit` is the largest overlap over the rounding radius \[-\].
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn contacts_with_mesh(
    grain: &GrainByWall<f64, f64>,
    words: &[u32],
    numbers: &[f64],
    mesh: &MeshWall<'_>,
    slots: MeshSlots<'_>,
    coefficients: &Coefficients<f64>,
    dt: f64,
    overlap_limit: f64,
) -> ShapeWallLoad<f64, f64> {
    let posed = &grain.posed;
    let shape = shape_at(words, posed.shape);
    let scale = posed.scale;
    let rounding = rounding_of::<f64>(&shape, numbers) * scale;
    let roundoff = <f64 as Real>::roundoff();
    let carried = velocity_of_surface::<f64, f64>(mesh.walls, mesh.at, &grain.center, &ZERO);
    let spin_of_wall: Vector3<f64> = load(mesh.walls, mesh.at + 6);
    // The center of the grain is the origin, so that no digits are lost, and the mesh has its center there, too.
    let of_grain = Frame {
        orientation: posed.orientation,
        center: ZERO,
    };
    let of_space = Frame {
        orientation: Quaternion {
            w: 1.0,
            x: 0.0,
            y: 0.0,
            z: 0.0,
        },
        center: ZERO,
    };
    let mut all = AtMesh {
        pair: ShapePair {
            apart: ZERO,
            velocity: grain.velocity.minus(&carried),
            direction: ZERO,
            i: *posed,
            j: PosedShape {
                spin: spin_of_wall,
                ..*posed
            },
        },
        sizes: PairSizes {
            reach: rounding,
            rounding_j: 0.0,
            nothing: roundoff * 16.0 * scale,
            effective_radius: contact_radius_of::<f64>(&shape, numbers) * scale,
            effective_mass: posed.mass,
            allowed: overlap_limit * rounding,
        },
        slots,
        coefficients,
        dt,
        sums: PairSums {
            force: ZERO,
            torque_i: ZERO,
            torque_j: ZERO,
            normal_power: 0.0,
            tangential_power: 0.0,
            damping_power: 0.0,
            excess: -1.0,
            normal_energy: 0.0,
            tangential_energy: 0.0,
            least: -1.0,
            nearest: ZERO,
            old_slot: 0,
            contacts: 0,
        },
        weighted: ZERO,
        pressing: 0.0,
        deepest: 0.0,
    };
    all.slots.keys.fill(0);
    let vertex = |v: u32| posed.orientation.to_space(&vertex_of::<f64>(&shape, numbers, v, scale));
    let corners: Vec<Vector3<f64>> = (0..shape.vertices).map(vertex).collect();
    let same = rounding * SAME_POINT + grain.center.length() * roundoff * 16.0;
    let mut of_vertices = Vec::new();
    for (v, place) in (0..).zip(&corners) {
        let contacts = contacts_of_sphere(place, rounding, same, mesh.triangles).into_iter();
        of_vertices.extend(contacts.map(|(number, point)| (key_at_mesh(VERTEX_OF_I, v, number), feature_pair(place, &point))));
    }
    let present: Vec<u32> = of_vertices.iter().map(|(key, _)| *key).collect();
    follow(&present, all.slots.old_keys, all.slots.old_springs);
    let whole = Fading { share: 1.0, pull: 0.0 };
    for (key, feature) in &of_vertices {
        all.add(*key, feature, &whole, &of_space);
    }
    let (points, edges) = features_within(scale, mesh.triangles);
    all.add_points(&points, (&shape, words, numbers), &of_grain);
    all.add_edges(&edges, (&shape, words), &corners, &of_space);
    let sums = &all.sums;
    let point = if all.pressing > 0.0 {
        grain.center.plus(&all.weighted.times(1.0 / all.pressing))
    } else {
        grain.center
    };
    ShapeWallLoad {
        force: sums.force,
        torque: sums.torque_i,
        powers: PowerSums {
            normal_power: sums.normal_power,
            tangential_power: sums.tangential_power,
            damping_power: sums.damping_power,
            // All forces act on points of a rigid wall.
            wall_power: sums.force.dot(&carried) + sums.torque_i.dot(&spin_of_wall),
            excess: sums.excess,
            across: ZERO,
        },
        stored: Stored {
            normal: sums.normal_energy,
            tangential: sums.tangential_energy,
        },
        point,
        overlap: all.deepest,
        contacts: sums.contacts,
    }
}

#[cfg(test)]
mod tests;
