//! From the triangles of a convex polyhedron to its faces and edges.

use super::{MOST_FEATURES, Polyhedron, PolyhedronEdge, PolyhedronError, PolyhedronFace};
use glam::DVec3;
use std::collections::HashMap;

/// Mark of a triangle without a face.
const NONE: usize = usize::MAX;

/// The face of each triangle, and the number of faces: connected triangles whose corners are nearer to the plane of the largest of them than its
/// distance.
fn faces_of(places: &[DVec3], triangles: &[[u32; 3]], distances: &[f64]) -> (Vec<usize>, usize) {
    let corners = |triangle: usize| triangles[triangle].map(|corner| places[corner as usize]);
    let area = |triangle: usize| {
        let [a, b, c] = corners(triangle);
        (b - a).cross(c - a)
    };
    let of_side = sides(triangles);
    let mut order: Vec<(f64, usize)> = (0..triangles.len()).map(|k| (area(k).length(), k)).collect();
    order.sort_unstable_by(|(a, k), (b, l)| b.total_cmp(a).then(k.cmp(l)));
    let mut face_of = vec![NONE; triangles.len()];
    let mut faces = 0;
    for (_, largest) in order {
        if face_of[largest] != NONE {
            continue;
        }
        let (origin, normal, distance) = (corners(largest)[0], area(largest).normalize_or_zero(), distances[largest]);
        face_of[largest] = faces;
        let mut open = vec![largest];
        while let Some(triangle) = open.pop() {
            let [a, b, c] = triangles[triangle];
            for side in [(b, a), (c, b), (a, c)] {
                let Some(&other) = of_side.get(&side) else { continue };
                let is_near = |corner: DVec3| (corner - origin).dot(normal).abs() <= distance;
                if face_of[other] == NONE && corners(other).into_iter().all(is_near) {
                    face_of[other] = faces;
                    open.push(other);
                }
            }
        }
        faces += 1;
    }
    (face_of, faces)
}

/// The triangle of each side, by start and end.
fn sides(triangles: &[[u32; 3]]) -> HashMap<(u32, u32), usize> {
    let of_triangle = |(k, &[a, b, c]): (usize, &[u32; 3])| [((a, b), k), ((b, c), k), ((c, a), k)];
    triangles.iter().enumerate().flat_map(of_triangle).collect()
}

/// The loop of vertices around each face; `None` if the border of a face is not one loop.
fn loops_of(triangles: &[[u32; 3]], face_of: &[usize], faces: usize) -> Option<Vec<Vec<u32>>> {
    let of_side = sides(triangles);
    let mut next: Vec<HashMap<u32, u32>> = vec![HashMap::new(); faces];
    for (triangle, &[a, b, c]) in triangles.iter().enumerate() {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let face = face_of[triangle];
            let is_border = face_of[*of_side.get(&(to, from))?] != face;
            if is_border && next[face].insert(from, to).is_some() {
                return None;
            }
        }
    }
    let walk = |next: &HashMap<u32, u32>| {
        let start = *next.keys().min()?;
        let mut walked = vec![start];
        let mut at = *next.get(&start)?;
        while at != start && walked.len() <= next.len() {
            walked.push(at);
            at = *next.get(&at)?;
        }
        (walked.len() == next.len()).then_some(walked)
    };
    next.iter().map(walk).collect()
}

/// Edges between faces; `None` if a side has no opposite one.
fn edges_of(loops: &[&[u32]]) -> Option<Vec<PolyhedronEdge>> {
    let ends_of = |vertices: &[u32]| -> Vec<(u32, u32)> {
        let ends = vertices.iter().skip(1).chain(vertices.first());
        vertices.iter().copied().zip(ends.copied()).collect()
    };
    let mut of_side = HashMap::new();
    for (face, vertices) in loops.iter().enumerate() {
        for side in ends_of(vertices) {
            if of_side.insert(side, face as u32).is_some() {
                return None;
            }
        }
    }
    let mut edges = Vec::new();
    for (face, vertices) in loops.iter().enumerate() {
        for (from, to) in ends_of(vertices) {
            let other = *of_side.get(&(to, from))?;
            if from < to {
                edges.push(PolyhedronEdge {
                    ends: [from, to],
                    faces: Some([face as u32, other]),
                });
            }
        }
    }
    Some(edges)
}

/// A face from its border. Twice the area vector of a polygon is the sum of the cross products along its border (Newell's method).
fn face_of_loop(vertices: &[DVec3], border: Vec<u32>) -> PolyhedronFace {
    let place = |k: usize| vertices[border[k % border.len()] as usize];
    let middle = (0..border.len()).map(place).sum::<DVec3>() / border.len() as f64;
    let area = (0..border.len()).map(|k| (place(k) - middle).cross(place(k + 1) - middle));
    let normal = area.sum::<DVec3>().normalize_or_zero();
    PolyhedronFace {
        normal,
        offset: normal.dot(middle),
        vertices: border,
    }
}

/// Whether all corners of a face lie on the inner side of each of its sides, seen along its normal, or at most `distance` beyond. Contacts look for the
/// nearest point of a face like this.
fn is_convex(face: &PolyhedronFace, vertices: &[DVec3], distance: f64) -> bool {
    let place = |k: usize| vertices[face.vertices[k % face.vertices.len()] as usize];
    (0..face.vertices.len()).all(|k| {
        let (start, end) = (place(k), place(k + 1));
        let inward = face.normal.cross(end - start).normalize_or_zero();
        face.vertices
            .iter()
            .all(|&other| (vertices[other as usize] - start).dot(inward) >= -distance)
    })
}

/// Faces of triangles on a convex surface, each in one plane to within its distance, with the vertices that are on at least three faces.
struct Parted {
    face_of: Vec<usize>,
    vertices: Vec<DVec3>,
    faces: Vec<PolyhedronFace>,
}

fn parted(places: &[DVec3], triangles: &[[u32; 3]], distances: &[f64]) -> Option<Parted> {
    let (face_of, faces) = faces_of(places, triangles, distances);
    let mut loops = loops_of(triangles, &face_of, faces)?;
    let mut uses = vec![0u32; places.len()];
    loops.iter().flatten().for_each(|&vertex| uses[vertex as usize] += 1);
    let mut number = vec![0u32; places.len()];
    let mut vertices = Vec::new();
    for (k, place) in places.iter().enumerate().filter(|(k, _)| uses[*k] >= 3) {
        number[k] = vertices.len() as u32;
        vertices.push(*place);
    }
    for border in &mut loops {
        border.retain(|&vertex| uses[vertex as usize] >= 3);
        border.iter_mut().for_each(|vertex| *vertex = number[*vertex as usize]);
    }
    if loops.iter().any(|border| border.len() < 3) {
        return None;
    }
    let faces = loops.into_iter().map(|border| face_of_loop(&vertices, border)).collect();
    Some(Parted { face_of, vertices, faces })
}

/// The polyhedron of closed, outward triangles of a convex surface. Triangles whose corners are nearer to one plane than `distance` are one face.
/// Points that are on less than three faces are no vertices.
///
/// Points that are hardly farther from each other than `distance` may give a face a notch. The triangles of such a face have to be nearer to one plane.
pub(super) fn polyhedron(places: &[DVec3], triangles: &[[u32; 3]], distance: f64) -> Result<Polyhedron, PolyhedronError> {
    /// Share of the distance that is left after a notch, and of the first one, below which each triangle is a face.
    const LEFT: f64 = 0.1;
    const LEAST: f64 = 1e-6;
    let mut distances = vec![distance; triangles.len()];
    let found = loop {
        let found = parted(places, triangles, &distances).ok_or(PolyhedronError::Unresolved)?;
        let has_notch: Vec<bool> = found.faces.iter().map(|face| !is_convex(face, &found.vertices, distance)).collect();
        if !has_notch.contains(&true) {
            break found;
        }
        for (of_triangle, &face) in distances.iter_mut().zip(&found.face_of) {
            if has_notch[face] {
                *of_triangle = if *of_triangle > LEAST * distance {
                    *of_triangle * LEFT
                } else {
                    -1.0
                };
            }
        }
    };
    let Parted { vertices, faces, .. } = found;
    let loops: Vec<&[u32]> = faces.iter().map(|face| &face.vertices[..]).collect();
    let edges = edges_of(&loops).ok_or(PolyhedronError::Unresolved)?;
    // Euler's formula holds for every convex polyhedron.
    if vertices.len() + faces.len() != edges.len() + 2 {
        return Err(PolyhedronError::Unresolved);
    }
    if vertices.len().max(edges.len()) > MOST_FEATURES {
        let (vertices, edges) = (vertices.len(), edges.len());
        return Err(PolyhedronError::TooManyFeatures { vertices, edges });
    }
    Ok(Polyhedron { vertices, edges, faces })
}
