//! Volume, center and inertia of solids: of what spheres make together, and of what a mesh encloses; and the same of plates.

use crate::tensor::{outer, principal};
use glam::{DMat3, DVec2, DVec3};
use seixo_engine::world::{Triangle, volume_of_sphere};

/// Lines along which the solid is sampled, along the longer of the two sides across them.
const LINES: usize = 512;
/// Lines along which a plate is sampled.
const LINES_OF_PLATE: usize = 4096;
/// Gap over radius across which spheres still count as one: what rounding leaves between two that touch.
const TOUCHING: f64 = 1e-6;
/// Difference of two principal moments, as a share of the largest, below which they are equal: then rounding would choose their axes.
const EQUAL: f64 = 1e-9;

/// A solid of density one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// Volume, in lengths³.
    pub volume: f64,
    /// Center of mass.
    pub center: DVec3,
    /// Inertia tensor about the center of mass, in lengths⁵.
    pub inertia: DMat3,
}

impl Solid {
    /// Principal moments of inertia, and the axes as columns of a rotation. Any axes of equal moments are principal: they are along those in which the
    /// solid is given, as far as possible.
    pub fn principal_axes(&self) -> (DVec3, DMat3) {
        let [(a, mut x), (b, mut y), (c, z)] = principal(&self.inertia);
        let least = EQUAL * a.abs().max(c.abs());
        match [a - b <= least, b - c <= least] {
            [true, true] => (x, y) = (DVec3::X, DVec3::Y),
            [true, false] => {
                x = across(z);
                y = z.cross(x);
            }
            [false, true] => y = across(x),
            [false, false] => {}
        }
        (DVec3::new(a, b, c), DMat3::from_cols(x, y, x.cross(y)))
    }
}

/// The unit vector across an axis that is nearest to an axis of coordinates.
fn across(axis: DVec3) -> DVec3 {
    let along = axis.abs();
    let nearest = if along.x <= along.y && along.x <= along.z {
        DVec3::X
    } else if along.y <= along.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    (nearest - axis * axis.dot(nearest)).normalize()
}

/// Inertia tensor of a solid from its ∫ x xᵀ dV about the same point.
pub(crate) fn moment_of(square: &DMat3) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(square.col(0).x + square.col(1).y + square.col(2).z)) - *square
}

/// The union of spheres, by centers and radii. Spheres that keep apart are summed up by Steiner's theorem, exactly. Where some overlap, the
/// union is cut by parallel lines, 512 across the longer side, along each of which it is measured exactly: good to 2·10⁻⁵ of the volume and 5·10⁻⁵ of the moments.
pub fn solid_of_spheres(spheres: &[(DVec3, f64)]) -> Solid {
    let overlap = |(a, r): &(DVec3, f64), (b, s): &(DVec3, f64)| a.distance(*b) < (r + s) * (1.0 - TOUCHING);
    let do_overlap = spheres
        .iter()
        .enumerate()
        .any(|(k, one)| spheres[..k].iter().any(|other| overlap(one, other)));
    if do_overlap { by_lines(spheres) } else { solid_of_apart(spheres) }
}

/// Spheres of which it is known that none overlap, summed up by Steiner's theorem.
pub fn solid_of_apart(spheres: &[(DVec3, f64)]) -> Solid {
    let volume: f64 = spheres.iter().map(|(_, radius)| volume_of_sphere(*radius)).sum();
    let center = spheres.iter().map(|(at, radius)| *at * volume_of_sphere(*radius)).sum::<DVec3>() / volume;
    let mut inertia = DMat3::ZERO;
    for (at, radius) in spheres {
        let arm = *at - center;
        let own = DMat3::from_diagonal(DVec3::splat(0.4 * radius * radius));
        inertia += (own + moment_of(&outer(arm, arm))) * volume_of_sphere(*radius);
    }
    Solid { volume, center, inertia }
}

fn by_lines(spheres: &[(DVec3, f64)]) -> Solid {
    let low = spheres.iter().fold(DVec3::INFINITY, |low, (at, radius)| low.min(*at - *radius));
    let high = spheres
        .iter()
        .fold(DVec3::NEG_INFINITY, |high, (at, radius)| high.max(*at + *radius));
    let middle = 0.5 * (low + high);
    let edge = (high - low).truncate().max_element() / LINES as f64;
    let counts = ((high - low).truncate() / edge).ceil();
    // About the middle of the box: nothing large cancels.
    let mut sums = LineSums::new(edge);
    let mut cuts: Vec<(f64, f64)> = Vec::new();
    for row in 0..counts.y as usize {
        let y = (row as f64 + 0.5 - 0.5 * counts.y) * edge;
        let near: Vec<(DVec3, f64)> = spheres
            .iter()
            .map(|(at, radius)| (*at - middle, radius * radius - (at.y - middle.y - y).powi(2)))
            .filter(|(_, square)| *square > 0.0)
            .collect();
        for column in 0..counts.x as usize {
            let x = (column as f64 + 0.5 - 0.5 * counts.x) * edge;
            cuts.clear();
            cuts.extend(near.iter().filter_map(|(at, square)| {
                let half = (square - (at.x - x).powi(2)).max(0.0).sqrt();
                (half > 0.0).then_some((at.z - half, at.z + half))
            }));
            sums.add([x, y], &mut cuts);
        }
    }
    sums.solid(middle)
}

/// Integrals over a solid, along lines parallel to z.
pub(crate) struct LineSums {
    /// Distance of neighboring lines.
    edge: f64,
    volume: f64,
    first: DVec3,
    second: DMat3,
}

impl LineSums {
    /// No line yet.
    pub fn new(edge: f64) -> LineSums {
        LineSums {
            edge,
            volume: 0.0,
            first: DVec3::ZERO,
            second: DMat3::ZERO,
        }
    }

    /// Adds the union of these pieces of the line at x and y, from their starts to their ends. Sorts them.
    pub fn add(&mut self, [x, y]: [f64; 2], cuts: &mut [(f64, f64)]) {
        let edge = self.edge;
        cuts.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut end = f64::NEG_INFINITY;
        for &(from, to) in cuts.iter() {
            let from = from.max(end);
            if to <= from {
                continue;
            }
            end = to;
            let length = to - from;
            let z = 0.5 * (from + to);
            let at = DVec3::new(x, y, z);
            self.volume += length;
            self.first += at * length;
            self.second += outer(at, at) * length;
            // What a piece of a line is wide and long itself.
            let own = DVec3::new(edge * edge, edge * edge, length * length) / 12.0;
            self.second += DMat3::from_diagonal(own) * length;
        }
    }

    /// The solid, whose lines are relative to this point.
    pub fn solid(&self, middle: DVec3) -> Solid {
        let (volume, square) = (self.volume, self.edge * self.edge);
        let center = self.first / volume;
        let about_center = (self.second - outer(center, center) * volume) * square;
        Solid {
            volume: volume * square,
            center: middle + center,
            inertia: moment_of(&about_center),
        }
    }
}

/// A plate of density one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plate {
    /// Area, in lengths².
    pub area: f64,
    /// Center of mass.
    pub center: DVec2,
    /// Moment of inertia about it, in lengths⁴.
    pub moment: f64,
}

/// The union of disks, by centers and radii. Disks that keep apart are summed up by Steiner's theorem, exactly. Where some overlap, the union is cut by
/// 4096 parallel lines, along each of which it is measured exactly: good to 2·10⁻⁶ of the area and 5·10⁻⁶ of the moment.
pub fn plate_of_disks(disks: &[(DVec2, f64)]) -> Plate {
    let overlap = |(a, r): &(DVec2, f64), (b, s): &(DVec2, f64)| a.distance(*b) < (r + s) * (1.0 - TOUCHING);
    let do_overlap = disks
        .iter()
        .enumerate()
        .any(|(k, one)| disks[..k].iter().any(|other| overlap(one, other)));
    // About the middle of the box: nothing large cancels.
    let low = disks.iter().fold(DVec2::INFINITY, |low, (at, radius)| low.min(*at - *radius));
    let high = disks.iter().fold(DVec2::NEG_INFINITY, |high, (at, radius)| high.max(*at + *radius));
    let middle = 0.5 * (low + high);
    let (mut area, mut first, mut second) = (0.0, DVec2::ZERO, 0.0);
    // A piece, by where it is and its own second moment over its area.
    let mut add = |piece: f64, at: DVec2, own: f64| {
        area += piece;
        first += at * piece;
        second += (at.length_squared() + own) * piece;
    };
    if do_overlap {
        let edge = (high.y - low.y) / LINES_OF_PLATE as f64;
        let mut cuts: Vec<(f64, f64)> = Vec::new();
        for row in 0..LINES_OF_PLATE {
            let y = (row as f64 + 0.5 - 0.5 * LINES_OF_PLATE as f64) * edge;
            cuts.clear();
            cuts.extend(disks.iter().filter_map(|(at, radius)| {
                let at = *at - middle;
                let half = (radius * radius - (at.y - y).powi(2)).max(0.0).sqrt();
                (half > 0.0).then_some((at.x - half, at.x + half))
            }));
            cuts.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            let mut end = f64::NEG_INFINITY;
            for &(from, to) in &cuts {
                let from = from.max(end);
                if to > from {
                    end = to;
                    let length = to - from;
                    add(
                        length * edge,
                        DVec2::new(0.5 * (from + to), y),
                        (length * length + edge * edge) / 12.0,
                    );
                }
            }
        }
    } else {
        for (at, radius) in disks {
            add(std::f64::consts::PI * radius * radius, *at - middle, 0.5 * radius * radius);
        }
    }
    let center = first / area;
    Plate {
        area,
        center: middle + center,
        moment: second - center.length_squared() * area,
    }
}

/// The plate inside an outline: ends of its straight pieces, and their normals of length one, outward. By the divergence theorem
/// ∫ dA = ½ ∮ x·n ds, ∫ x dA = ⅓ ∮ x (x·n) ds and ∫ x² dA = ¼ ∮ x² (x·n) ds; what lies inside twice counts twice.
pub fn plate_of_outline(edges: &[([DVec2; 2], DVec2)]) -> Plate {
    // About the middle of its ends: nothing large cancels.
    let ends = || edges.iter().flat_map(|(ends, _)| ends);
    let low = ends().fold(DVec2::INFINITY, |low, end| low.min(*end));
    let high = ends().fold(DVec2::NEG_INFINITY, |high, end| high.max(*end));
    let middle = 0.5 * (low + high);
    let (mut area, mut first, mut second) = (0.0, DVec2::ZERO, 0.0);
    for (ends, outward) in edges {
        let [a, b] = ends.map(|end| end - middle);
        let flux = a.dot(*outward) * a.distance(b);
        area += flux / 2.0;
        first += flux / 3.0 * (0.5 * (a + b));
        second += flux / 4.0 * ((a.length_squared() + a.dot(b) + b.length_squared()) / 3.0);
    }
    let center = first / area;
    Plate {
        area,
        center: middle + center,
        moment: second - center.length_squared() * area,
    }
}

/// What a closed mesh encloses, as tetrahedra from a point to its triangles \[Mirtich 1996; Eberly 2002\]: exact but
/// for rounding. Volume and inertia are negative where it faces inward; where parts of it overlap they count as often as they do.
pub fn solid_of_mesh(triangles: &[Triangle]) -> Solid {
    let corners = || triangles.iter().flatten().map(|&corner| DVec3::from(corner));
    // About the middle of its box: nothing large cancels.
    let middle = 0.5 * corners().fold(DVec3::INFINITY, DVec3::min) + 0.5 * corners().fold(DVec3::NEG_INFINITY, DVec3::max);
    let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for triangle in triangles {
        let [a, b, c] = triangle.map(|corner| DVec3::from(corner) - middle);
        let six_fold = a.dot(b.cross(c));
        let sum = a + b + c;
        volume += six_fold / 6.0;
        first += sum * (six_fold / 24.0);
        second += (outer(a, a) + outer(b, b) + outer(c, c) + outer(sum, sum)) * (six_fold / 120.0);
    }
    let center = first / volume;
    Solid {
        volume,
        center: middle + center,
        inertia: moment_of(&(second - outer(center, center) * volume)),
    }
}

/// How many parts spheres hang together in: 1 if one gets from each to each through spheres that touch.
pub fn connected_parts(spheres: &[(DVec3, f64)]) -> usize {
    let mut is_seen = vec![false; spheres.len()];
    let mut parts = 0;
    for start in 0..spheres.len() {
        if is_seen[start] {
            continue;
        }
        parts += 1;
        is_seen[start] = true;
        let mut open = vec![start];
        while let Some(k) = open.pop() {
            let (at, radius) = spheres[k];
            for (other, (place, its)) in spheres.iter().enumerate() {
                if !is_seen[other] && at.distance(*place) <= (radius + its) * (1.0 + TOUCHING) {
                    is_seen[other] = true;
                    open.push(other);
                }
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{connected_parts, plate_of_disks, solid_of_mesh, solid_of_spheres};
    use crate::Polyhedron;
    use glam::{DMat3, DQuat, DVec2, DVec3};
    use std::f64::consts::PI;

    /// Volume, transverse moment about the origin and moment about the axis of a body of revolution about z, from its radius at each height,
    /// by Simpson's rule.
    fn revolved(low: f64, high: f64, radius_square: impl Fn(f64) -> f64) -> [f64; 3] {
        let steps = 20_000;
        let h = (high - low) / f64::from(steps);
        let mut sums = [0.0; 3];
        for k in 0..=steps {
            let z = low + f64::from(k) * h;
            let weight = h / 3.0 * if k == 0 || k == steps { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
            let r = radius_square(z).max(0.0);
            for (sum, slice) in sums.iter_mut().zip([PI * r, PI * r * (0.25 * r + z * z), 0.5 * PI * r * r]) {
                *sum += weight * slice;
            }
        }
        sums
    }

    #[test]
    fn two_spheres_that_overlap_are_the_body_of_revolution_that_they_are() {
        let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -0.9, 0.3);
        let at = DVec3::new(3.0, -2.0, 7.0);
        let half = 0.6;
        let spheres = [-half, half].map(|z| (at + turn * DVec3::new(0.0, 0.0, z), 1.0));
        let solid = solid_of_spheres(&spheres);
        let [volume, across, along] = revolved(-1.0 - half, 1.0 + half, |z| 1.0 - (z.abs() - half).powi(2));
        // The lens that both share (Steinmetz's cap formula) is counted once.
        let cap = 1.0 - half;
        let lens = 2.0 * PI * cap * cap * (3.0 - cap) / 3.0;
        assert!((volume / (8.0 / 3.0 * PI - lens) - 1.0).abs() < 1e-9);
        assert!((solid.volume / volume - 1.0).abs() < 2e-5, "{} {volume}", solid.volume);
        assert!(solid.center.distance(at) < 1e-5);
        let (moments, axes) = solid.principal_axes();
        for (found, expected) in [(moments.x, across), (moments.y, across), (moments.z, along)] {
            assert!((found / expected - 1.0).abs() < 5e-5, "{found} {expected}");
        }
        assert!((axes.determinant() - 1.0).abs() < 1e-12);
        assert!((axes.z_axis.dot(turn * DVec3::Z).abs() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn two_disks_that_overlap_are_a_lens_less_than_both() {
        let (half, at) = (0.6f64, DVec2::new(3.0, -2.0));
        for turn in [0.0, 0.4, 0.5 * PI] {
            let arm = DVec2::from_angle(turn) * half;
            let plate = plate_of_disks(&[(at + arm, 1.0), (at - arm, 1.0)]);
            let lens = 2.0 * half.acos() - 2.0 * half * (1.0 - half * half).sqrt();
            assert!((plate.area / (2.0 * PI - lens) - 1.0).abs() < 2e-6, "{turn}: {}", plate.area);
            assert!(plate.center.distance(at) < 1e-6, "{turn}: {}", plate.center);
            // In slices across the line from one center to the other, of which each is twice as long as the square root of this.
            let slices = 20_000;
            let width = 2.0 * (1.0 + half) / f64::from(slices);
            let slice = |k: i32| {
                let x = (f64::from(k) + 0.5) * width - 1.0 - half;
                let square = 1.0 - (x.abs() - half).powi(2);
                2.0 * square.sqrt() * (x * x + square / 3.0) * width
            };
            let moment: f64 = (0..slices).map(slice).sum();
            assert!((plate.moment / moment - 1.0).abs() < 6e-6, "{turn}: {} {moment}", plate.moment);
        }
        // Side by side: Steiner.
        let apart = plate_of_disks(&[-2.0, 0.0, 2.0].map(|x| (DVec2::new(x, 0.0), 1.0)));
        assert!((apart.area / (3.0 * PI) - 1.0).abs() < 1e-14 && (apart.moment / (9.5 * PI) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn a_sphere_inside_another_adds_nothing() {
        let solid = solid_of_spheres(&[(DVec3::ZERO, 1.0), (DVec3::new(0.2, 0.1, 0.0), 0.5)]);
        assert!((solid.volume / (4.0 / 3.0 * PI) - 1.0).abs() < 2e-5);
        assert!(solid.center.length() < 1e-5);
        let (moments, _) = solid.principal_axes();
        assert!((moments / (8.0 / 15.0 * PI) - 1.0).abs().max_element() < 5e-5, "{moments}");
    }

    #[test]
    fn spheres_that_touch_are_summed_up_exactly() {
        let solid = solid_of_spheres(&[-2.0, 0.0, 2.0].map(|x| (DVec3::new(x, 0.0, 0.0), 1.0)));
        let one = 4.0 / 3.0 * PI;
        assert!((solid.volume / (3.0 * one) - 1.0).abs() < 1e-14);
        let expected = DMat3::from_diagonal(DVec3::new(1.2, 9.2, 9.2) * one);
        assert!((solid.inertia - expected).to_cols_array().iter().all(|x| x.abs() < 1e-12));
    }

    #[test]
    fn a_block_of_triangles_weighs_and_turns_like_a_block() {
        // Far from the origin, turned, and cut into twelve triangles that face outward.
        let (turn, at) = (
            DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -0.9, 0.3),
            DVec3::new(300.0, -200.0, 700.0),
        );
        let half = DVec3::new(0.5, 1.0, 1.5);
        let mut block = Vec::new();
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let corner = |u: f64, v: f64| {
                    let mut place = DVec3::ZERO;
                    (place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3]) = (sign, sign * u, v);
                    (at + turn * (place * half)).to_array()
                };
                let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
                block.extend([[a, b, c], [a, c, d]]);
            }
        }
        let solid = solid_of_mesh(&block);
        // Coordinates of some hundreds are rounded by 10⁻¹³.
        assert!((solid.volume - 6.0).abs() < 1e-11, "{}", solid.volume);
        assert!(solid.center.distance(at) < 1e-11);
        let (moments, axes) = solid.principal_axes();
        // m/12 of the squares of the two edges across.
        assert!((moments - DVec3::new(6.5, 5.0, 2.5)).abs().max_element() < 1e-10, "{moments}");
        assert!((axes.x_axis.dot(turn * DVec3::X).abs() - 1.0).abs() < 1e-10);
        let inside_out: Vec<_> = block.iter().map(|&[a, b, c]| [a, c, b]).collect();
        assert!((solid_of_mesh(&inside_out).volume + 6.0).abs() < 1e-11);
    }

    #[test]
    fn axes_of_equal_moments_are_those_in_which_the_solid_is_given() {
        let axes_of = |edges: [f64; 3]| Polyhedron::block(edges).unwrap().swept(0.1).unwrap().principal_axes().1;
        for edges in [[30.0; 3], [100.0, 100.0, 60.0], [60.0, 100.0, 100.0], [20.0, 90.0, 20.0]] {
            let axes = axes_of(edges);
            assert!((axes.determinant() - 1.0).abs() < 1e-12, "{axes}");
            let largest = axes
                .to_cols_array_2d()
                .map(|axis| axis.into_iter().map(f64::abs).fold(0.0, f64::max));
            assert!(largest.into_iter().all(|x| x > 1.0 - 1e-9), "{edges:?}: {axes}");
        }
    }

    #[test]
    fn parts_that_do_not_touch_are_counted() {
        let row = |gap: f64| [0.0, 2.0, 4.0 + gap].map(|x| (DVec3::new(x, 0.0, 0.0), 1.0));
        assert_eq!(connected_parts(&row(0.0)), 1);
        assert_eq!(connected_parts(&row(0.01)), 2);
        assert_eq!(connected_parts(&[]), 0);
    }
}
