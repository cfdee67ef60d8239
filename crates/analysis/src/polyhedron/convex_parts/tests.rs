use super::*;
use crate::tensor::outer;
use glam::{DMat3, DQuat, EulerRot};
use std::f64::consts::TAU;

/// What a polygon of the plane xz sweeps along y, by its corners and triangles that cover it.
fn swept_along_y(polygon: &[[f64; 2]], cover: &[[usize; 3]], depth: f64) -> Vec<Triangle> {
    let at = |k: usize, y: f64| [polygon[k][0], y, polygon[k][1]];
    let mut mesh = Vec::new();
    for &[a, b, c] in cover {
        mesh.push([at(a, 0.0), at(b, 0.0), at(c, 0.0)]);
        mesh.push([at(a, depth), at(c, depth), at(b, depth)]);
    }
    for k in 0..polygon.len() {
        let next = (k + 1) % polygon.len();
        mesh.push([at(next, 0.0), at(k, 0.0), at(k, depth)]);
        mesh.push([at(next, 0.0), at(k, depth), at(next, depth)]);
    }
    mesh
}

/// A channel of 3 x 1 x 2 whose notch, 1 wide and 1 deep, is open upward.
fn channel() -> Vec<Triangle> {
    let polygon = [
        [0.0, 0.0],
        [3.0, 0.0],
        [3.0, 2.0],
        [2.0, 2.0],
        [2.0, 1.0],
        [1.0, 1.0],
        [1.0, 2.0],
        [0.0, 2.0],
    ];
    swept_along_y(&polygon, &[[0, 1, 4], [0, 4, 5], [0, 5, 6], [0, 6, 7], [1, 2, 3], [1, 3, 4]], 1.0)
}

/// An angle of two bars, 3 long and 1 thick.
fn angle() -> Vec<Triangle> {
    let polygon = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
    swept_along_y(&polygon, &[[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]], 1.0)
}

/// A ring about z of radius 1, whose section is a circle of radius 0.3.
fn ring(long: u32, short: u32) -> Vec<Triangle> {
    let at = |k: u32, l: u32| {
        let [along, around] = [(k, long), (l, short)].map(|(step, steps)| TAU * f64::from(step % steps) / f64::from(steps));
        let radius = 1.0 + 0.3 * around.cos();
        [radius * along.cos(), radius * along.sin(), 0.3 * around.sin()]
    };
    let square = |k: u32, l: u32| {
        let (a, b, c, d) = (at(k, l), at(k + 1, l), at(k + 1, l + 1), at(k, l + 1));
        [[a, b, c], [a, c, d]]
    };
    (0..long).flat_map(|k| (0..short).flat_map(move |l| square(k, l))).collect()
}

/// Volume, center and inertia of boxes, of which some are taken away, by their corners and their sign.
fn solid_of_boxes(boxes: &[(DVec3, DVec3, f64)]) -> Solid {
    let volume_of = |low: DVec3, high: DVec3| (high - low).x * (high - low).y * (high - low).z;
    let volume: f64 = boxes.iter().map(|&(low, high, sign)| sign * volume_of(low, high)).sum();
    let first: DVec3 = boxes
        .iter()
        .map(|&(low, high, sign)| 0.5 * (low + high) * (sign * volume_of(low, high)))
        .sum();
    let center = first / volume;
    let mut inertia = DMat3::ZERO;
    for &(low, high, sign) in boxes {
        let (arm, squares) = (0.5 * (low + high) - center, (high - low) * (high - low) / 12.0);
        let own = DMat3::from_diagonal(DVec3::splat(squares.element_sum()) - squares);
        let steiner = DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer(arm, arm);
        inertia += (own + steiner) * (sign * volume_of(low, high));
    }
    Solid { volume, center, inertia }
}

fn volumes(found: &ConvexParts) -> f64 {
    found.parts().iter().map(|part| part.swept(0.0).unwrap().volume).sum()
}

#[test]
fn a_channel_is_its_bottom_and_two_walls_with_the_exact_solid() {
    let found = ConvexParts::of_mesh(&channel(), 4, 0.1).unwrap();
    assert_eq!(found.parts().len(), 3);
    assert!(found.parts().iter().all(|part| part.faces().len() == 6));
    assert!((volumes(&found) - 5.0).abs() < 1e-9, "{}", volumes(&found));
    let outside = found.outside().unwrap();
    assert!(outside.share < 1e-9 && outside.distance < 1e-6, "{outside:?}");
    let expected = solid_of_boxes(&[
        (DVec3::ZERO, DVec3::new(3.0, 1.0, 2.0), 1.0),
        (DVec3::new(1.0, 0.0, 1.0), DVec3::new(2.0, 1.0, 2.0), -1.0),
    ]);
    let solid = found.solid();
    assert!((solid.volume - expected.volume).abs() < 1e-12 && solid.center.distance(expected.center) < 1e-12);
    let off = (solid.inertia - expected.inertia).to_cols_array();
    assert!(off.iter().all(|x| x.abs() < 1e-12), "{off:?}");
}

#[test]
fn an_angle_is_two_bars() {
    let found = ConvexParts::of_mesh(&angle(), 2, 0.1).unwrap();
    assert_eq!(found.parts().len(), 2);
    assert!((volumes(&found) - 5.0).abs() < 1e-9, "{}", volumes(&found));
    assert!(found.outside().unwrap().share < 1e-9);
    let expected = solid_of_boxes(&[
        (DVec3::ZERO, DVec3::new(3.0, 1.0, 1.0), 1.0),
        (DVec3::new(0.0, 0.0, 1.0), DVec3::new(1.0, 1.0, 3.0), 1.0),
    ]);
    let off = (found.solid().inertia - expected.inertia).to_cols_array();
    assert!(off.iter().all(|x| x.abs() < 1e-12), "{off:?}");
}

#[test]
fn parts_grow_into_each_other_and_not_out_of_the_mesh() {
    let mut found = ConvexParts::of_mesh(&channel(), 4, 0.1).unwrap();
    found.overlap(0.2);
    // Two seams of 1 x 1.
    assert!((volumes(&found) - 5.4).abs() < 1e-9, "{}", volumes(&found));
    let outside = found.outside().unwrap();
    assert!(outside.share < 1e-9 && outside.distance < 1e-6, "{outside:?}");
}

#[test]
fn fewer_parts_than_needed_reach_outside_and_it_is_measured() {
    let found = ConvexParts::of_mesh(&channel(), 2, 0.1).unwrap();
    assert_eq!(found.parts().len(), 2);
    // A lid over half of the notch, slanted or not: the corners of the notch are deep below it.
    let outside = found.outside().unwrap();
    assert!((0.09..0.21).contains(&outside.share) && outside.distance > 0.4, "{outside:?}");
    assert!((volumes(&found) - 5.0 * (1.0 + outside.share)).abs() < 1e-6, "{}", volumes(&found));
}

#[test]
fn the_cut_follows_a_turned_mesh_that_may_face_inward_and_is_the_same_each_time() {
    let turn = DQuat::from_euler(EulerRot::XYZ, 0.4, -0.9, 0.3);
    let place = |corner: [f64; 3]| (turn * DVec3::from(corner) + DVec3::new(30.0, -20.0, 7.0)).to_array();
    let mut turned: Vec<Triangle> = channel().into_iter().map(|triangle| triangle.map(place)).collect();
    for _ in 0..2 {
        let found = ConvexParts::of_mesh(&turned, 4, 0.1).unwrap();
        assert_eq!(found.parts().len(), 3);
        assert!((found.solid().volume - 5.0).abs() < 1e-9 && found.outside().unwrap().share < 1e-5);
        let again = ConvexParts::of_mesh(&turned, 4, 0.1).unwrap();
        assert_eq!(again.parts(), found.parts());
        turned = turned.into_iter().map(|[a, b, c]| [a, c, b]).collect();
    }
}

#[test]
fn a_ring_is_covered_by_few_parts_with_few_faces() {
    // The second has so many corners that polyhedra around few of them are compared.
    for mesh in [ring(16, 8), ring(32, 16)] {
        let mut found = ConvexParts::of_mesh(&mesh, 8, 0.02).unwrap();
        assert!((2..=8).contains(&found.parts().len()), "{}", found.parts().len());
        let outside = found.outside().unwrap();
        assert!(outside.share < 0.1, "{outside:?}");
        // No corner of the mesh is outside of all parts.
        for corner in mesh.iter().flatten().map(|&corner| DVec3::from(corner)) {
            let depths = found.parts().iter().map(|part| depth_in(part, corner, -1.0));
            assert!(depths.fold(f64::NEG_INFINITY, f64::max) > -1e-5, "{corner}");
        }
        found.simplify(12).unwrap();
        assert!(found.parts().iter().all(|part| part.faces().len() <= 12));
    }
}

#[test]
fn what_is_convex_stays_whole_and_bodies_apart_are_cut_apart() {
    let block = |at: f64| -> Vec<Triangle> {
        let triangles = Polyhedron::block([1.0; 3]).unwrap().triangles().into_iter();
        triangles.map(|triangle| triangle.map(|[x, y, z]| [x + at, y, z])).collect()
    };
    let one = ConvexParts::of_mesh(&block(0.0), 4, 0.1).unwrap();
    assert_eq!((one.parts().len(), one.parts()[0].faces().len()), (1, 6));
    let two = [block(0.0), block(2.0)].concat();
    for (most, volume) in [(2, 2.0), (1, 3.0)] {
        let found = ConvexParts::of_mesh(&two, most, 0.1).unwrap();
        assert_eq!(found.parts().len(), most);
        assert!((volumes(&found) - volume).abs() < 1e-9, "{}", volumes(&found));
    }
    let open = &channel()[1..];
    assert!(matches!(ConvexParts::of_mesh(open, 4, 0.1), Err(PolyhedronError::Open { .. })));
}

#[test]
fn random_stars_are_covered_by_no_more_parts_than_wanted() {
    let mut random = 7u32;
    let mut share = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(random >> 8) / f64::from(1u32 << 24)
    };
    for most in [2, 3, 5, 9, 5, 3] {
        let points: Vec<DVec3> = (0..40)
            .map(|_| (DVec3::new(share(), share(), share()) - 0.5).normalize_or(DVec3::X))
            .collect();
        // Seen from the middle, each corner is nearer by a share that depends on its place alone, so that the mesh stays closed.
        let nearer = |at: DVec3| at * (1.0 - 0.3 * (1.0 + (37.0 * at.x + 91.0 * at.y + 53.0 * at.z).sin()));
        let around = Polyhedron::around(&points).unwrap().triangles().into_iter();
        let star: Vec<Triangle> = around
            .map(|triangle| triangle.map(|corner| nearer(corner.into()).to_array()))
            .collect();
        let found = ConvexParts::of_mesh(&star, most, 0.005).unwrap();
        assert!(found.parts().len() <= most, "{} of {most}", found.parts().len());
        let whole = Polyhedron::around_mesh(&star).unwrap().swept(0.0).unwrap().volume / found.solid().volume - 1.0;
        let outside = found.outside().unwrap();
        assert!(outside.share <= whole + 2.0 * CONVEX, "{outside:?} {whole}");
        for corner in star.iter().flatten().map(|&corner| DVec3::from(corner)) {
            let depths = found.parts().iter().map(|part| depth_in(part, corner, -1.0));
            assert!(depths.fold(f64::NEG_INFINITY, f64::max) > -1e-5, "{corner}");
        }
    }
}
