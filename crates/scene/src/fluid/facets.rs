//! Walls of meshes: the pieces of their surfaces, connected by edges.

use super::{
    Layout,
    ends::{Grid, ends_at_sides},
    surface::{End, Form, Outline, Piece},
};
use crate::section::Edge;
use glam::DVec3;
use seixo_engine::voxels::Parts;
use seixo_engine::world::Triangle;
use std::collections::{BTreeMap, HashMap};

/// A triangle, oriented like its neighbors, with the part that it belongs to.
pub(super) type Turned = ([DVec3; 3], usize);

/// The surfaces of walls that move together, each with its triangles. Each closed part is a surface of its own, as the space behind it does not
/// depend on other parts. Open parts form surfaces wall by wall; walls with common edges, such as sheets that form a box, count as one. Ends of a
/// part that coincide with each other's images at periodic sides are no pieces: the part continues there.
pub(super) fn surfaces(meshes: &[(u32, Vec<Triangle>)], layout: &Layout) -> Vec<Form> {
    let of_mesh = |(wall, triangles): &(u32, Vec<Triangle>)| triangles.iter().map(|triangle| (*triangle, *wall)).collect::<Vec<_>>();
    let triangles: Vec<(Triangle, u32)> = meshes.iter().flat_map(of_mesh).collect();
    let grid = Grid::new(layout);
    let (turned, is_closed) = turned(&triangles, &grid);
    let are_ends = ends_at_sides(&turned, &grid);
    let mut group: BTreeMap<u32, u32> = meshes.iter().map(|(wall, _)| (*wall, *wall)).collect();
    let mut first: HashMap<usize, u32> = HashMap::new();
    for ((_, part), (_, wall)) in turned.iter().zip(&triangles).filter(|((_, part), _)| !is_closed[*part]) {
        let (from, to) = (group[wall], group[&*first.entry(*part).or_insert(*wall)]);
        group.values_mut().filter(|group| **group == from).for_each(|group| *group = to);
    }
    let (mut place, mut surfaces) = (HashMap::new(), Vec::new());
    for (((corners, part), (_, wall)), is_end) in turned.into_iter().zip(&triangles).zip(are_ends) {
        let key = if is_closed[part] {
            (true, part)
        } else {
            (false, group[wall] as usize)
        };
        let at = *place.entry(key).or_insert_with(|| {
            surfaces.push(Form {
                is_whole: is_closed[part],
                pieces: Vec::new(),
                ends: Vec::new(),
            });
            surfaces.len() - 1
        });
        let form: &mut Form = &mut surfaces[at];
        form.is_whole &= !is_end;
        let Some(outline) = outline(&corners, layout) else { continue };
        let part = if key.0 { 0 } else { part };
        if is_end {
            let at = outline.ball().0;
            form.ends.push(End { wall: *wall, part, at });
        } else {
            form.pieces.push(Piece::new(outline, part, *wall));
        }
    }
    surfaces
}

/// A triangle, or its section with the plane of the flow.
fn outline(corners: &[DVec3; 3], layout: &Layout) -> Option<Outline> {
    let [a, b, c] = *corners;
    match layout.across {
        None => Some(Outline::Triangle(*corners, (b - a).cross(c - a).try_normalize()?)),
        Some(axis) => Edge::of(corners, axis).map(|edge| Outline::Segment(edge.ends, edge.outward)),
    }
}

/// Triangles, oriented so that neighbors face the same way, with their connected part; and for each part whether it is closed.
fn turned(triangles: &[(Triangle, u32)], grid: &Grid) -> (Vec<Turned>, Vec<bool>) {
    // The edge after a corner: its ends in a fixed order, and whether the triangle follows that order.
    let edge = |triangle: &Triangle, k: usize| {
        let (a, b) = (grid.key(&triangle[k]), grid.key(&triangle[(k + 1) % 3]));
        if a < b { ([a, b], true) } else { ([b, a], false) }
    };
    let mut sides: HashMap<[[i64; 3]; 2], Vec<(usize, bool)>> = HashMap::new();
    for (index, (triangle, _)) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (ends, is_forward) = edge(triangle, k);
            sides.entry(ends).or_default().push((index, is_forward));
        }
    }
    // Where three or more triangles of a wall share an edge, neighbors are ambiguous. With several walls, neighbors are the triangles of walls that
    // end there.
    let neighbor = |index: usize, k: usize| -> Option<(usize, bool)> {
        let (ends, is_forward) = edge(&triangles[index].0, k);
        let around = &sides[&ends];
        let of_wall: Vec<_> = around
            .iter()
            .filter(|(other, _)| triangles[*other].1 == triangles[index].1)
            .collect();
        let near: Vec<_> = if of_wall.len() == 1 { around.iter().collect() } else { of_wall };
        let [one, other] = near[..] else { return None };
        let (next, is_next_forward) = if one.0 == index { *other } else { *one };
        Some((next, is_forward == is_next_forward))
    };
    let mesh: Vec<Triangle> = triangles.iter().map(|(triangle, _)| *triangle).collect();
    let parts = Parts::between(&mesh, neighbor);
    let turn = |(triangle, (part, is_over)): (Triangle, (usize, bool))| {
        let [a, b, c] = triangle.map(DVec3::from);
        (if is_over { [a, c, b] } else { [a, b, c] }, part)
    };
    (mesh.into_iter().zip(parts.triangles).map(turn).collect(), parts.is_closed)
}
