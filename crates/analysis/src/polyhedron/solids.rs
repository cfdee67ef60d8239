//! Polyhedra by a few numbers: boxes, tetrahedra, prisms, tablets and rocks. Their centers are at the origin.

use super::cut::corners_inside;
use super::{Polyhedron, PolyhedronError};
use glam::DVec3;
use std::f64::consts::{PI, TAU};

/// Golden angle \[rad\]: steps by it spread points evenly around an axis.
const GOLDEN: f64 = 2.399_963_229_728_653;
/// Rings of a cap, over the number of sides.
const RINGS_PER_SIDE: f64 = 0.25;

/// Corners of a regular polygon at a height, with corners at this distance from the axis z.
fn ring(radius: f64, height: f64, sides: u32) -> impl Iterator<Item = DVec3> {
    (0..sides).map(move |side| {
        let (sine, cosine) = (TAU * f64::from(side) / f64::from(sides)).sin_cos();
        DVec3::new(radius * cosine, radius * sine, height)
    })
}

impl Polyhedron {
    /// A box with these edges along the axes, in lengths.
    ///
    /// # Errors
    /// As [`Polyhedron::around`].
    pub fn block(edges: [f64; 3]) -> Result<Polyhedron, PolyhedronError> {
        let half = 0.5 * DVec3::from(edges);
        let sign = |k: u32, axis: u32| if (k >> axis) & 1 == 1 { 1.0 } else { -1.0 };
        let corners: Vec<DVec3> = (0..8).map(|k| half * DVec3::new(sign(k, 0), sign(k, 1), sign(k, 2))).collect();
        Polyhedron::around(&corners)
    }

    /// A regular tetrahedron with this edge, in lengths.
    ///
    /// # Errors
    /// As [`Polyhedron::around`].
    pub fn tetrahedron(edge: f64) -> Result<Polyhedron, PolyhedronError> {
        let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        Polyhedron::around(&corners.map(|corner| DVec3::from(corner) * (edge / 8.0f64.sqrt())))
    }

    /// A regular prism along z. Its corners are at `radius` from the axis, in lengths.
    ///
    /// # Errors
    /// As [`Polyhedron::around`].
    pub fn prism(radius: f64, height: f64, sides: u32) -> Result<Polyhedron, PolyhedronError> {
        let ends = [-0.5, 0.5].map(|share| share * height);
        let corners: Vec<DVec3> = ends.into_iter().flat_map(|end| ring(radius, end, sides)).collect();
        Polyhedron::around(&corners)
    }

    /// A tablet: a cylinder along z with a band of this height between two caps, which are parts of a sphere of the height `cap`, all in lengths. Its
    /// corners are on that surface.
    ///
    /// # Errors
    /// As [`Polyhedron::around`].
    pub fn tablet(radius: f64, band: f64, cap: f64, sides: u32) -> Result<Polyhedron, PolyhedronError> {
        let sphere = (radius * radius + cap * cap) / (2.0 * cap);
        // From the apex to the rim, seen from the center of the sphere.
        let widest = radius.atan2(sphere - cap);
        let rings = (RINGS_PER_SIDE * f64::from(sides)).ceil().max(1.0) as u32;
        let mut corners = Vec::new();
        for end in [-1.0, 1.0] {
            for k in 0..rings {
                let (sine, cosine) = (widest * (1.0 - f64::from(k) / f64::from(rings))).sin_cos();
                let height = 0.5 * band + cap - sphere * (1.0 - cosine);
                corners.extend(ring(sphere * sine, end * height, sides));
            }
            corners.push(DVec3::new(0.0, 0.0, end * (0.5 * band + cap)));
        }
        Polyhedron::around(&corners)
    }

    /// A rock: the Voronoi cell of the origin among this many neighbors, stretched to these widths along the axes, in lengths. `random` gives numbers
    /// from 0 to 1. Some neighbors have no face of their own.
    ///
    /// # Errors
    /// If there are too few neighbors around the cell, or as [`Polyhedron::around`].
    pub fn rock(widths: [f64; 3], neighbors: u32, mut random: impl FnMut() -> f64) -> Result<Polyhedron, PolyhedronError> {
        let mut number = || 2.0 * random() - 1.0;
        let planes: Vec<(DVec3, f64)> = (0..neighbors)
            .map(|k| {
                let height = 1.0 - f64::from(2 * k + 1) / f64::from(neighbors);
                let (sine, cosine) = (GOLDEN * f64::from(k)).sin_cos();
                let aside = (1.0 - height * height).sqrt();
                let spread = (4.0 * PI / f64::from(neighbors)).sqrt() * 0.4;
                let shift = DVec3::new(number(), number(), number()) * spread;
                let direction = (DVec3::new(aside * cosine, aside * sine, height) + shift).normalize_or(DVec3::Z);
                (direction, 1.0 + 0.2 * number())
            })
            .collect();
        let corners = corners_inside(&planes)?;
        let low = corners.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = corners.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        let scale = DVec3::from(widths) / (high - low);
        let middle = 0.5 * (low + high);
        let corners: Vec<DVec3> = corners.into_iter().map(|corner| (corner - middle) * scale).collect();
        Polyhedron::around(&corners)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(polyhedron: &Polyhedron) -> [usize; 3] {
        [polyhedron.vertices().len(), polyhedron.edges().len(), polyhedron.faces().len()]
    }

    fn volume(polyhedron: &Polyhedron) -> f64 {
        polyhedron.swept(0.0).unwrap().volume
    }

    #[test]
    fn solids_have_the_volumes_of_closed_forms() {
        let block = Polyhedron::block([1.0, 2.0, 3.0]).unwrap();
        assert_eq!(counts(&block), [8, 12, 6]);
        assert!((volume(&block) - 6.0).abs() < 1e-12);
        let tetrahedron = Polyhedron::tetrahedron(2.0).unwrap();
        assert_eq!(counts(&tetrahedron), [4, 6, 4]);
        assert!((volume(&tetrahedron) - 8.0 / 72.0f64.sqrt()).abs() < 1e-9);
        let prism = Polyhedron::prism(2.0, 3.0, 6).unwrap();
        assert_eq!(counts(&prism), [12, 18, 8]);
        assert!((volume(&prism) - 3.0 * 6.0 * 3.0f64.sqrt()).abs() < 1e-9);
        // Two caps of a sphere and a cylinder between them, less what is cut off beside the corners.
        let tablet = Polyhedron::tablet(4.0, 2.0, 1.0, 16).unwrap();
        let smooth = PI * 16.0 * 2.0 + 2.0 * PI / 6.0 * (3.0 * 16.0 + 1.0);
        let found = volume(&tablet) / smooth;
        assert!(found < 1.0 && found > 0.95, "{found}");
        assert!((tablet.vertices().iter().map(|at| at.z).fold(0.0, f64::max) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn rocks_differ_and_have_the_widths_that_were_asked_for() {
        let numbers = |seed: u64| {
            let mut state = seed;
            move || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1u64 << 53) as f64
            }
        };
        for seed in 1..50 {
            let rock = Polyhedron::rock([3.0, 2.0, 1.0], 18, numbers(seed)).unwrap();
            let faces = rock.faces().len();
            assert!((8..=18).contains(&faces), "{seed}: {faces} faces");
            let width = |axis: fn(&DVec3) -> f64| {
                let along = rock.vertices().iter().map(axis);
                along.clone().fold(f64::NEG_INFINITY, f64::max) - along.fold(f64::INFINITY, f64::min)
            };
            let widths = DVec3::new(width(|at| at.x), width(|at| at.y), width(|at| at.z));
            assert!(widths.distance(DVec3::new(3.0, 2.0, 1.0)) < 1e-5, "{seed}: {widths}");
            assert_eq!(rock, Polyhedron::rock([3.0, 2.0, 1.0], 18, numbers(seed)).unwrap());
        }
        assert_ne!(
            Polyhedron::rock([1.0; 3], 18, numbers(1)).unwrap(),
            Polyhedron::rock([1.0; 3], 18, numbers(2)).unwrap()
        );
        assert_eq!(Polyhedron::rock([1.0; 3], 3, numbers(1)), Err(PolyhedronError::Unbounded));
    }
}
