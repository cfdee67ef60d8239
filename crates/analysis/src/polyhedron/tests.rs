use super::{Polyhedron, PolyhedronError};
use crate::solid::{Solid, solid_of_mesh};
use crate::tensor::outer;
use glam::{DMat3, DQuat, DVec3, EulerRot};
use seixo_engine::world::Triangle;
use std::f64::consts::PI;

/// A rotation and a shift of no special direction.
fn moved(point: DVec3) -> DVec3 {
    DQuat::from_euler(EulerRot::XYZ, 0.4, -0.9, 0.3) * point + DVec3::new(3.0, -2.0, 7.0)
}

/// Corners of a cube of this edge about the origin.
fn corners_of_cube(edge: f64) -> Vec<DVec3> {
    let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from((k >> 1) & 1), f64::from(k >> 2));
    (0..8).map(|k| (corner(k) - 0.5) * edge).collect()
}

fn tetrahedron() -> Vec<DVec3> {
    let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
    corners.map(DVec3::from).to_vec()
}

/// Numbers of vertices, edges and faces.
fn counts(polyhedron: &Polyhedron) -> [usize; 3] {
    [polyhedron.vertices().len(), polyhedron.edges().len(), polyhedron.faces().len()]
}

/// ∫ dV, ∫ x dV and the trace and columns of ∫ x xᵀ dV about the origin.
fn moments_of(solid: &Solid) -> [f64; 13] {
    let Solid { volume, center, inertia } = solid;
    let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
    let second = DMat3::from_diagonal(DVec3::splat(0.5 * trace)) - *inertia + outer(*center, *center) * *volume;
    let first = *center * *volume;
    let mut all = [0.0; 13];
    all[0] = *volume;
    all[1..4].copy_from_slice(&first.to_array());
    all[4..].copy_from_slice(&second.to_cols_array());
    all
}

fn difference(a: &DMat3, b: &DMat3) -> f64 {
    (*a - *b).to_cols_array().iter().fold(0.0, |most, x| x.abs().max(most))
}

/// Pseudorandom numbers from 0 to 1 by a linear congruence.
struct Numbers(u64);

impl Numbers {
    fn draw(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn point(&mut self) -> DVec3 {
        DVec3::new(self.draw(), self.draw(), self.draw())
    }
}

#[test]
fn points_inside_and_on_faces_are_no_vertices() {
    let mut points = corners_of_cube(2.0);
    // Centers of faces and edges, the center, and corners once more.
    for x in -1..=1 {
        for y in -1..=1 {
            points.extend((-1..=1).map(|z| DVec3::new(f64::from(x), f64::from(y), f64::from(z))));
        }
    }
    let cube = Polyhedron::around(&points.into_iter().map(moved).collect::<Vec<_>>()).unwrap();
    assert_eq!(counts(&cube), [8, 12, 6]);
    assert!(cube.faces().iter().all(|face| face.vertices.len() == 4));
    for edge in cube.edges() {
        let [one, other] = edge.faces.unwrap().map(|face| cube.faces()[face as usize].normal);
        assert!(one.dot(other).abs() < 1e-12);
    }
}

#[test]
fn faces_look_outward_and_edges_lie_between_them() {
    let mut numbers = Numbers(1);
    for count in [4, 5, 20, 300] {
        let points: Vec<DVec3> = (0..count).map(|_| numbers.point()).collect();
        let polyhedron = Polyhedron::around(&points).unwrap();
        for face in polyhedron.faces() {
            assert!(points.iter().all(|point| face.normal.dot(*point) <= face.offset + 1e-5));
            let border = || face.vertices.iter().map(|&vertex| polyhedron.vertices()[vertex as usize]);
            assert!(border().all(|vertex| (face.normal.dot(vertex) - face.offset).abs() < 1e-5));
        }
        for edge in polyhedron.edges() {
            let [start, end] = edge.ends;
            let follows = |face: u32, from: u32, to: u32| {
                let border = &polyhedron.faces()[face as usize].vertices;
                let at = border.iter().position(|&vertex| vertex == from).unwrap();
                border[(at + 1) % border.len()] == to
            };
            let [one, other] = edge.faces.unwrap();
            assert!(follows(one, start, end) && follows(other, end, start));
        }
        let [vertices, edges, faces] = counts(&polyhedron);
        assert_eq!(vertices + faces, edges + 2);
    }
}

/// A corner that is a little outside is in the planes of the top and of one side, as far as they are distinguished. One of its triangles goes to each, and
/// a border of the top that ran around it would turn outward at the next corner.
#[test]
fn a_face_has_no_notch_between_corners_that_nearly_coincide() {
    let mut points: Vec<DVec3> = corners_of_cube(2.0)
        .iter()
        .map(|&corner| corner * DVec3::new(1.0, 1.0, 1.5))
        .collect();
    points.push(DVec3::new(-1.0 - 2e-5, -1.0 - 5e-7, 1.5 - 7e-7));
    let found = Polyhedron::around(&points).unwrap();
    for face in found.faces() {
        let corner = |k: usize| found.vertices()[face.vertices[k % face.vertices.len()] as usize];
        for k in 0..face.vertices.len() {
            let inward = face.normal.cross(corner(k + 1) - corner(k)).normalize();
            let lowest = face
                .vertices
                .iter()
                .map(|&v| (found.vertices()[v as usize] - corner(k)).dot(inward));
            assert!(lowest.fold(0.0, f64::min) > -1e-5, "{face:?}");
        }
    }
}

#[test]
fn clouds_of_points_never_panic() {
    let mut numbers = Numbers(7);
    for round in 0..300u32 {
        let count = 1 + round % 40;
        // On few places of a lattice, so that many points are equal, on a line or in a plane; with noise of all sizes.
        let noise = 10f64.powi(-((round % 17) as i32));
        let steps = f64::from(2 + round % 4);
        let mut point = || (numbers.point() * steps).floor() + (numbers.point() - 0.5) * noise;
        let points: Vec<DVec3> = (0..count).map(|_| point()).collect();
        if let Ok(polyhedron) = Polyhedron::around(&points) {
            assert!(polyhedron.swept(0.0).unwrap().volume > 0.0);
        }
    }
    for scale in [1e-320, 1e-200, 1e200, 1e308] {
        let points: Vec<DVec3> = corners_of_cube(1.0).into_iter().map(|corner| corner * scale).collect();
        let _ = Polyhedron::around(&points);
    }
}

#[test]
fn without_a_radius_the_solid_is_that_of_the_mesh() {
    let points: Vec<DVec3> = tetrahedron().into_iter().map(moved).collect();
    let polyhedron = Polyhedron::around(&points).unwrap();
    let (swept, meshed) = (polyhedron.swept(0.0).unwrap(), solid_of_mesh(&polyhedron.triangles()));
    assert!((swept.volume - 8.0 / 3.0).abs() < 1e-13 && (meshed.volume - 8.0 / 3.0).abs() < 1e-13);
    assert!(swept.center.distance(moved(DVec3::ZERO)) < 1e-13);
    assert!(difference(&swept.inertia, &meshed.inertia) < 1e-12);
}

#[test]
fn a_rounded_cube_has_the_volume_and_inertia_of_its_parts() {
    let (a, r) = (1.3f64, 0.37f64);
    let h = 0.5 * a;
    let points: Vec<DVec3> = corners_of_cube(a).into_iter().map(moved).collect();
    let solid = Polyhedron::around(&points).unwrap().swept(r).unwrap();
    let volume = a.powi(3) + 6.0 * a * a * r + 3.0 * PI * a * r * r + 4.0 / 3.0 * PI * r.powi(3);
    assert!((solid.volume - volume).abs() < 1e-12);
    assert!(solid.center.distance(moved(DVec3::ZERO)) < 1e-12);
    // ∫ x² dV: cube, plates across x, plates along x, edges along x, edges across x, corners.
    let second = a.powi(5) / 12.0
        + 2.0 * a * a * ((h + r).powi(3) - h.powi(3)) / 3.0
        + 4.0 * a * r * a.powi(3) / 12.0
        + PI * r * r * a.powi(3) / 12.0
        + 8.0 * a * (h * h * PI * r * r / 4.0 + 2.0 * h * r.powi(3) / 3.0 + PI * r.powi(4) / 16.0)
        + 8.0 * (h * h * PI * r.powi(3) / 6.0 + h * PI * r.powi(4) / 8.0 + PI * r.powi(5) / 30.0);
    let expected = DMat3::from_diagonal(DVec3::splat(2.0 * second));
    assert!(difference(&solid.inertia, &expected) < 1e-12);
}

#[test]
fn a_rounded_tetrahedron_obeys_steiner() {
    let r = 0.25;
    let solid = Polyhedron::around(&tetrahedron()).unwrap().swept(r).unwrap();
    let edge = 8f64.sqrt();
    let (surface, angle) = (3f64.sqrt() * edge * edge, PI - (1.0f64 / 3.0).acos());
    let volume = 8.0 / 3.0 + surface * r + 6.0 * edge * 0.5 * angle * r * r + 4.0 / 3.0 * PI * r.powi(3);
    assert!((solid.volume - volume).abs() < 1e-12);
    assert!(solid.center.length() < 1e-13);
    let isotropic = DMat3::from_diagonal(DVec3::splat(solid.inertia.x_axis.x));
    assert!(difference(&solid.inertia, &isotropic) < 1e-12);
}

#[test]
fn moments_of_overlapping_pieces_add_up() {
    // Pieces of an oblique pyramid between two heights. With [0, 3] = [0, 2] ∪ [1, 3] and [1, 2] = [0, 2] ∩ [1, 3], which are all convex, every
    // integral over the swept pieces obeys K + K₁₂ = K₁ + K₂.
    let base = [[1.0, 0.1], [0.2, 0.9], [-0.8, 0.5], [-0.6, -0.7], [0.5, -0.8]];
    let level = |z: f64| base.map(|[x, y]: [f64; 2]| moved(DVec3::new(x * (1.0 - z / 5.0) + 0.06 * z, y * (1.0 - z / 5.0) - 0.04 * z, z)));
    let piece = |low: f64, high: f64| {
        let points: Vec<DVec3> = level(low).into_iter().chain(level(high)).collect();
        moments_of(&Polyhedron::around(&points).unwrap().swept(0.37).unwrap())
    };
    let (all, low, high, common) = (piece(0.0, 3.0), piece(0.0, 2.0), piece(1.0, 3.0), piece(1.0, 2.0));
    let pieces = all.iter().zip(low).zip(high).zip(common);
    for (k, (((all, low), high), common)) in pieces.enumerate() {
        assert!((all + common - low - high).abs() < 1e-11 * all.abs().max(1.0), "{k}");
    }
}

#[test]
fn a_point_makes_a_sphere_and_a_segment_a_capsule() {
    let (r, at) = (0.3f64, DVec3::new(1.0, 2.0, 3.0));
    let ball = Polyhedron::point(at).swept(r).unwrap();
    let volume = 4.0 / 3.0 * PI * r.powi(3);
    assert!((ball.volume - volume).abs() < 1e-14 && ball.center.distance(at) < 1e-14);
    let expected = DMat3::from_diagonal(DVec3::splat(0.4 * r * r * volume));
    assert!(difference(&ball.inertia, &expected) < 1e-14);

    let l = 0.8;
    let half = DVec3::new(0.0, 0.0, 0.5 * l);
    let capsule = Polyhedron::segment([at - half, at + half]).swept(r).unwrap();
    let cylinder = PI * r * r * l;
    assert!((capsule.volume - cylinder - volume).abs() < 1e-14 && capsule.center.distance(at) < 1e-14);
    let along = 0.5 * cylinder * r * r + 0.4 * volume * r * r;
    // The ends are half balls, whose center of mass is at ⅜ r.
    let across = cylinder * (r * r / 4.0 + l * l / 12.0) + volume * (0.4 * r * r + 0.25 * l * l + 0.375 * r * l);
    let expected = DMat3::from_diagonal(DVec3::new(across, across, along));
    assert!(difference(&capsule.inertia, &expected) < 1e-14);
}

fn mesh_of(points: &[DVec3]) -> Vec<Triangle> {
    Polyhedron::around(points).unwrap().triangles()
}

#[test]
fn bad_points_and_meshes_are_named() {
    let cube = corners_of_cube(1.0);
    let error = |points: &[DVec3]| Polyhedron::around(points).unwrap_err();
    let mut infinite = cube.clone();
    infinite[3].y = f64::INFINITY;
    assert_eq!(error(&infinite), PolyhedronError::NotFinite { point: 3 });
    assert_eq!(error(&[]), PolyhedronError::TooFewPoints { points: 0 });
    assert_eq!(error(&[cube[0]; 9]), PolyhedronError::TooFewPoints { points: 1 });
    let plate: Vec<DVec3> = cube.iter().map(|corner| DVec3::new(corner.x, corner.y, 1e-5 * corner.z)).collect();
    assert!(matches!(error(&plate), PolyhedronError::Flat { .. }));
    let line: Vec<DVec3> = (0..5).map(|k| DVec3::splat(f64::from(k))).collect();
    assert!(matches!(error(&line), PolyhedronError::Flat { .. }));

    let mesh = mesh_of(&cube);
    let refused = |mesh: &[Triangle]| Polyhedron::around_mesh(mesh).unwrap_err();
    assert!(matches!(refused(&[]), PolyhedronError::TooFewPoints { .. }));
    assert!(matches!(refused(&mesh[1..]), PolyhedronError::Open { count: 3, .. }));
    let mut turned = mesh.clone();
    turned[0].swap(1, 2);
    assert!(matches!(refused(&turned), PolyhedronError::Turned { count: 3, .. }));
    // Both sides of three sides of a cube enclose nothing.
    let sheets: Vec<Triangle> = mesh[..6].iter().flat_map(|&[a, b, c]| [[a, b, c], [a, c, b]]).collect();
    assert!(matches!(
        refused(&sheets),
        PolyhedronError::NoVolume { .. } | PolyhedronError::Branched { .. }
    ));
    let shifted: Vec<DVec3> = cube.iter().map(|corner| *corner + DVec3::new(0.3, 0.4, 0.5)).collect();
    let twice = [mesh.clone(), mesh_of(&shifted)].concat();
    assert!(matches!(refused(&twice), PolyhedronError::CrossesItself { .. }));
    let message = refused(&twice).to_string();
    assert!(message.starts_with("the mesh crosses itself: triangles "), "{message}");
}

#[test]
fn sizes_whose_moments_would_be_no_numbers_are_refused() {
    for scale in [1e-21, 1e21] {
        let points: Vec<DVec3> = corners_of_cube(scale).into_iter().map(|corner| corner + scale).collect();
        let cube = Polyhedron::around(&points).unwrap();
        let message = cube.swept(0.0).unwrap_err().to_string();
        assert!(
            message.starts_with("the size is 1.000e") && message.ends_with("it must be from 1e-20 to 1e20; use another unit"),
            "{message}"
        );
        assert!(matches!(
            Polyhedron::around_mesh(&cube.triangles()),
            Err(PolyhedronError::Size { .. })
        ));
        assert!(matches!(
            Polyhedron::point(DVec3::ZERO).swept(scale),
            Err(PolyhedronError::Size { .. })
        ));
    }
    for scale in [1e-19, 1e19] {
        let solid = Polyhedron::around(&corners_of_cube(scale)).unwrap().swept(0.0).unwrap();
        let (moments, _) = solid.principal_axes();
        assert!((moments.z / (solid.volume * scale * scale) - 1.0 / 6.0).abs() < 1e-9, "{moments}");
    }
}

#[test]
fn meshes_that_branch_or_enclose_nothing_are_named() {
    let refused = |mesh: &[Triangle]| Polyhedron::around_mesh(mesh).unwrap_err().to_string();
    let mesh = mesh_of(&corners_of_cube(1.0));
    // The same cube once more: four triangles at each edge.
    let twice = [mesh.clone(), mesh.clone()].concat();
    let message = refused(&twice);
    assert!(
        message.starts_with("more than two triangles meet at 18 edges") && message.ends_with("split the mesh there"),
        "{message}"
    );
    // A square of the cube and a square across it, each from both sides with other diagonals: closed, of two triangles at each edge.
    let sheet = |[a, b, c, d]: [DVec3; 4]| {
        let [a, b, c, d] = [a, b, c, d].map(|corner| corner.to_array());
        [[a, b, c], [a, c, d], [b, a, d], [b, d, c]]
    };
    let corners = corners_of_cube(1.0);
    let above = DVec3::new(0.0, 0.0, 3.0);
    let sheets = [
        sheet([corners[0], corners[1], corners[3], corners[2]]),
        sheet([corners[0] + above, corners[1] + above, corners[5] + above, corners[4] + above]),
    ];
    let message = refused(&sheets.concat());
    assert!(
        message.starts_with("the volume is ") && message.ends_with("it must be larger; check the mesh"),
        "{message}"
    );
}

#[test]
fn more_features_than_fit_are_refused_with_the_limit() {
    // 34,494 edges.
    let points = (0..11_500).map(|k| {
        let height = 1.0 - (2.0 * f64::from(k) + 1.0) / 11_500.0;
        let (sine, cosine) = (2.399_963 * f64::from(k)).sin_cos();
        let aside = (1.0 - height * height).sqrt();
        DVec3::new(aside * cosine, aside * sine, height)
    });
    let refused = Polyhedron::around(&points.collect::<Vec<_>>()).unwrap_err();
    assert!(matches!(refused, PolyhedronError::TooManyFeatures { .. }), "{refused}");
    let message = refused.to_string();
    assert!(message.ends_with("the limit is 32767 of each; simplify the mesh"), "{message}");
}

#[test]
fn a_mesh_may_face_inward_as_a_whole() {
    let mesh = mesh_of(&corners_of_cube(1.0));
    let inward: Vec<Triangle> = mesh.iter().map(|&[a, b, c]| [a, c, b]).collect();
    assert_eq!(Polyhedron::around_mesh(&inward).unwrap(), Polyhedron::around_mesh(&mesh).unwrap());
}

#[test]
fn rounding_radii_beyond_their_limits_are_refused() {
    let cube = Polyhedron::around(&corners_of_cube(2.0)).unwrap();
    for radius in [-0.1, 1.8, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(cube.swept(radius), Err(PolyhedronError::RoundingRadius { .. })),
            "{radius}"
        );
    }
    let message = cube.swept(1.8).unwrap_err().to_string();
    assert!(message.contains("1.800e0") && message.contains("1.732e0"), "{message}");
    assert!(Polyhedron::point(DVec3::ZERO).swept(0.0).is_err());
}
