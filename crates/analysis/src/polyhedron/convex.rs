//! The triangles of the smallest convex polyhedron around points.
//!
//! Points are rounded to a lattice of 2⁴⁰ steps across their size. Then the side of a plane on which a point lies is a sign of an integer, without
//! rounding errors, so degenerate points cannot break the topology. A point on the plane of a facet does not see it.

use super::{PolyhedronError, THINNEST};
use glam::DVec3;
use std::collections::HashMap;

/// Steps of the lattice across the size. Differences have 41 bits, and their triple products fit in 128.
const STEPS: f64 = (1u64 << 40) as f64;

/// A point of the lattice.
pub(super) type Place = [i64; 3];

/// Points of the lattice whose steps are `size` divided by 2⁴⁰.
pub(super) fn on_lattice(points: &[DVec3], size: f64) -> Vec<Place> {
    let low = points.iter().fold(DVec3::INFINITY, |low, point| low.min(*point));
    let scale = if size > 0.0 { STEPS / size } else { 0.0 };
    // Sizes beside the range of numbers give steps that are infinite or no numbers.
    let step = |length: f64| (length * scale).round().clamp(0.0, STEPS) as i64;
    let place = |point: &DVec3| (*point - low).to_array().map(step);
    points.iter().map(place).collect()
}

/// Six times the volume of the tetrahedron abcd: positive if d is on the side from which abc is counterclockwise.
pub(super) fn side_of(a: &Place, b: &Place, c: &Place, d: &Place) -> i128 {
    let [u, v, w] = [b, c, d].map(|p| [0, 1, 2].map(|k| i128::from(p[k] - a[k])));
    u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])
}

/// Points of which none are nearer to each other than `distance`, in the order of their coordinates.
pub(super) fn welded(points: &[DVec3], distance: f64) -> Vec<DVec3> {
    let mut sorted = points.to_vec();
    sorted.sort_unstable_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z)));
    let mut kept: Vec<DVec3> = Vec::new();
    for point in sorted {
        let mut near = kept.iter().rev().take_while(|other| point.x - other.x <= distance);
        if !near.any(|other| other.distance(point) <= distance) {
            kept.push(point);
        }
    }
    kept
}

/// A facet of the polyhedron while it grows.
struct Facet {
    /// Indices of its corners, counterclockwise seen from outside.
    corners: [u32; 3],
    /// Some of the points that see it; each point is in one list only.
    outside: Vec<u32>,
    /// Whether the polyhedron grew beyond it.
    is_inside: bool,
}

impl Facet {
    /// Its sides, as start and end.
    fn sides(&self) -> [(u32, u32); 3] {
        let [a, b, c] = self.corners;
        [(a, b), (b, c), (c, a)]
    }
}

/// A convex polyhedron that grows point by point.
struct Growth<'a> {
    places: &'a [Place],
    facets: Vec<Facet>,
    /// The facet of each side. Sides of facets that are inside may remain; no others refer to them.
    of_side: HashMap<(u32, u32), usize>,
}

impl Growth<'_> {
    /// Measure of the height of a point over a facet, positive outside.
    fn height(&self, facet: usize, point: u32) -> i128 {
        let [a, b, c] = self.facets[facet].corners.map(|corner| &self.places[corner as usize]);
        side_of(a, b, c, &self.places[point as usize])
    }

    fn add(&mut self, corners: [u32; 3]) -> usize {
        let number = self.facets.len();
        let facet = Facet {
            corners,
            outside: Vec::new(),
            is_inside: false,
        };
        self.of_side.extend(facet.sides().map(|side| (side, number)));
        self.facets.push(facet);
        number
    }

    /// Puts each point into the list of the first of these facets that it sees.
    fn assign(&mut self, points: impl Iterator<Item = u32>, facets: &[usize]) {
        for point in points {
            let seen = facets.iter().find(|&&facet| self.height(facet, point) > 0);
            if let Some(&facet) = seen {
                self.facets[facet].outside.push(point);
            }
        }
    }

    /// Extends the polyhedron to the point farthest from a facet, and returns the new facets.
    fn extend(&mut self, start: usize) -> Vec<usize> {
        let farthest = self.facets[start].outside.iter().max_by_key(|&&point| self.height(start, point));
        let Some(&apex) = farthest else { return Vec::new() };
        self.facets[start].is_inside = true;
        let mut visible = vec![start];
        let mut rim = Vec::new();
        let mut next = 0;
        while next < visible.len() {
            for (from, to) in self.facets[visible[next]].sides() {
                let other = self.of_side[&(to, from)];
                if self.facets[other].is_inside {
                    continue;
                }
                if self.height(other, apex) > 0 {
                    self.facets[other].is_inside = true;
                    visible.push(other);
                } else {
                    rim.push((from, to));
                }
            }
            next += 1;
        }
        let mut pending = Vec::new();
        for facet in visible {
            pending.append(&mut self.facets[facet].outside);
        }
        let added: Vec<usize> = rim.into_iter().map(|(from, to)| self.add([from, to, apex])).collect();
        // A point that saw an inner facet and is still outside sees one of the new facets: all others are on the inner side of the old facet's plane.
        self.assign(pending.into_iter().filter(|&point| point != apex), &added);
        added
    }
}

/// Indices of the four points at which the polyhedron starts, so that the fourth is below the triangle of the others.
fn start_of(points: &[DVec3], places: &[Place], size: f64) -> Result<[u32; 4], PolyhedronError> {
    if points.len() < 4 {
        return Err(PolyhedronError::TooFewPoints { points: points.len() });
    }
    let most = |measure: &dyn Fn(&DVec3) -> f64| {
        let values = points.iter().map(measure).enumerate();
        values.fold((0, 0.0), |best, (k, value)| if value > best.1 { (k, value) } else { best })
    };
    let a = points[0];
    let (second, length) = most(&|point| point.distance(a));
    let along = (points[second] - a) / length;
    let (third, width) = most(&|point| (*point - a).cross(along).length());
    let flat = |thickness| PolyhedronError::Flat { thickness, size };
    if third == 0 || width < THINNEST * size {
        return Err(flat(0.0));
    }
    let normal = along.cross(points[third] - a).normalize();
    let (fourth, thickness) = most(&|point| (*point - a).dot(normal).abs());
    if thickness < THINNEST * size {
        return Err(flat(thickness));
    }
    let side = side_of(&places[0], &places[second], &places[third], &places[fourth]);
    let [second, third, fourth] = [second, third, fourth].map(|k| k as u32);
    Ok(if side > 0 {
        [0, third, second, fourth]
    } else {
        [0, second, third, fourth]
    })
}

/// Triangles of the smallest convex polyhedron around points, outward, as indices of points.
pub(super) fn triangles_around(points: &[DVec3], size: f64) -> Result<Vec<[u32; 3]>, PolyhedronError> {
    let places = on_lattice(points, size);
    let [a, b, c, d] = start_of(points, &places, size)?;
    let mut growth = Growth {
        places: &places,
        facets: Vec::new(),
        of_side: HashMap::new(),
    };
    let mut open: Vec<usize> = [[a, b, c], [a, c, d], [c, b, d], [b, a, d]]
        .into_iter()
        .map(|corners| growth.add(corners))
        .collect();
    let others = (0..points.len() as u32).filter(|point| ![a, b, c, d].contains(point));
    growth.assign(others, &open);
    while let Some(facet) = open.pop() {
        if !growth.facets[facet].is_inside {
            open.extend(growth.extend(facet));
        }
    }
    let outer = growth.facets.iter().filter(|facet| !facet.is_inside);
    Ok(outer.map(|facet| facet.corners).collect())
}
