//! Symmetric bodies have symmetric boundary particles, for any size, orientation and mesh: rounding at a surface must not decide about a particle.

use super::{boxes, load_beside, text, wet};
use glam::{DMat3, DQuat, DVec3};
use seixo_engine::world::{Body, BodyBoundary};

/// Twenty orientations, starting with the upright one.
const WAYS: usize = 20;

/// A pseudorandom number between 0 and 1; no two are equal.
fn share(way: usize) -> f64 {
    (way as f64 * 0.618_033_988_749_895).fract()
}

/// Volume of the boundary particles of a body, their center, and their second moments about its origin: Σ V, Σ V x/Σ V, and Σ V x xᵀ.
fn moments(body_boundary: &BodyBoundary) -> (f64, DVec3, DMat3) {
    let places = || body_boundary.offset.iter().map(|at| DVec3::from(*at)).zip(&body_boundary.volume);
    let volume: f64 = body_boundary.volume.iter().sum();
    let center = places().map(|(at, part)| at * *part).sum::<DVec3>() / volume;
    let second = places().fold(DMat3::ZERO, |sum, (at, part)| {
        sum + DMat3::from_cols(at * at.x, at * at.y, at * at.z) * *part
    });
    (volume, center, second)
}

/// Asserts that the boundary particles have this volume to a thousandth, and are symmetric about the principal axes of the body except for rounding.
fn assert_symmetric(body_boundary: &BodyBoundary, volume: f64, what: &str) {
    let (found, center, second) = moments(body_boundary);
    assert!((found / volume - 1.0).abs() < 1e-3, "{found} of {volume}: {what}");
    let trace = second.col(0).x + second.col(1).y + second.col(2).z;
    let size = (trace / found).sqrt();
    assert!(center.length() < 1e-9 * size, "its center is at {center} m: {what}");
    for (one, other) in [(0, 1), (1, 2), (2, 0)] {
        let product = second.col(one)[other];
        assert!(product.abs() < 1e-9 * trace, "{product} beside {trace}: {what}");
    }
}

/// The boundary particles of the only body of a scene with hardly any water in its tank, and the body.
fn felt(mesh: &str, text: &str) -> (BodyBoundary, Body, Vec<String>) {
    let text = text.replace("max = [0.4, 0.4, 0.3]", "max = [0.4, 0.4, 0.02]");
    let scene = load_beside(mesh, &text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let (body_boundary, body) = (wet(&scene.world).body_boundaries[0].clone(), scene.world.grains.bodies[0].clone());
    (body_boundary, body, scene.notices)
}

#[test]
fn in_a_plane_a_box_of_disks_is_symmetric_where_its_sides_are_whole_spacings() {
    // 12 cm by 8 cm with 2 cm between particles: a change of size by a thousandth changes the result by a thousandth, not by a row of particles.
    let mut disks = Vec::new();
    for x in -5..=5 {
        disks.extend((-3..=3).map(|z| format!("{{ at = [{}, 0, {}], radius = 0.01 }}", 0.01 * f64::from(x), 0.01 * f64::from(z))));
    }
    let shape = format!("[shape.crate]\nspheres = [{}]\n", disks.join(", "));
    let own = 0.05_f64.hypot(0.03) + 0.01;
    for way in 0..WAYS {
        for scale in [0.999, 1.0, 1.001] {
            let angle = share(way) * std::f64::consts::TAU;
            let of_grains = format!(
                "shape = \"crate\"\nat = [[0.2, 0, 0.2]]\nradius = {}\norientation = {{ axis = [0, 1, 0], angle = {angle} }}\ndisplaces_fluid = true",
                own * scale
            );
            let plane = text(&of_grains, "plane = \"xz\"").replace("min = [0, 0, 0]", "min = [0, -0.4, 0]") + &shape;
            let (body_boundary, body, _) = felt(&boxes(&[[0.06; 3]]), &plane);
            let what = format!("turned by {angle}, scaled by {scale}");
            assert_symmetric(&body_boundary, body.mass / 500.0, &what);
            // Moments of a box, minus the space between the disks at its sides.
            let filled: f64 = body_boundary.volume.iter().sum();
            assert!((filled / (0.12 * 0.08 * scale * scale) - 0.98).abs() < 0.02, "{filled} m²: {what}");
            let [half_x, half_z] = [0, 2].map(|axis| body_boundary.offset.iter().map(|at| at[axis].abs()).fold(0.0, f64::max));
            assert!(
                half_x < 0.06 && half_z < 0.04 && half_x > 0.045 && half_z > 0.025,
                "{half_x} {half_z}"
            );
        }
    }
}

#[test]
fn a_box_of_a_mesh_is_symmetric_however_it_is_drawn() {
    let upright = boxes(&[[0.06, 0.04, 0.05]]);
    for way in 0..WAYS {
        let axis = DVec3::new(share(way + 1) - 0.5, share(way + 7) - 0.5, share(way + 13) - 0.5).normalize();
        let turn = DQuat::from_axis_angle(axis, if way == 0 { 0.0 } else { 6.0 * share(way) });
        let turned = |line: &str| match line.strip_prefix("v ") {
            Some(corner) => {
                let corner: Vec<f64> = corner.split(' ').map(|x| x.parse().unwrap()).collect();
                let DVec3 { x, y, z } = turn * DVec3::from_slice(&corner);
                format!("v {x:?} {y:?} {z:?}\n")
            }
            None => format!("{line}\n"),
        };
        let mesh: String = upright.lines().map(turned).collect();
        let of_grains = "shape = \"cube\"\nat = [[0.2, 0.2, 0.25]]\ndisplaces_fluid = true";
        let (body_boundary, body, _) = felt(&mesh, &text(of_grains, ""));
        // Without a radius it has the size in which it is defined.
        let volume = 8.0 * 0.06 * 0.04 * 0.05;
        assert!((body.mass / (500.0 * volume) - 1.0).abs() < 1e-9, "{} kg", body.mass);
        assert_symmetric(&body_boundary, volume, &format!("turned by {turn}"));
        assert_eq!(body_boundary.offset.len(), 6 * 4 * 5, "a particle for each cube of the spacing");
    }
}

#[test]
fn a_radius_that_misses_the_size_of_a_mesh_is_reported() {
    let mesh = boxes(&[[0.08, 0.05, 0.02]]);
    let of_grains = |radius: &str| format!("shape = \"cube\"\nat = [[0.2, 0.2, 0.25]]\n{radius}displaces_fluid = true");
    let reported = |notices: &[String]| notices.iter().any(|notice| notice.contains("times as large as its mesh"));
    let (_, as_drawn, notices) = felt(&mesh, &text(&of_grains(""), ""));
    assert!(!reported(&notices), "{notices:?}");
    assert!((as_drawn.mass - 0.32).abs() < 1e-9, "{} kg", as_drawn.mass);
    // The spheres along its edges are a radius inside.
    let own = (0.07_f64.powi(2) + 0.04 * 0.04 + 0.01 * 0.01).sqrt() + 0.01;
    for (scale, is_reported) in [(1.0, false), (1.046, true), (1.5, false)] {
        let (_, body, notices) = felt(&mesh, &text(&of_grains(&format!("radius = {}\n", own * scale)), ""));
        assert!((body.mass / (0.32 * scale.powi(3)) - 1.0).abs() < 1e-6, "{} kg", body.mass);
        assert_eq!(reported(&notices), is_reported, "{scale}: {notices:?}");
    }
}
