//! Bodies that are symmetric have hulls that are, whatever their size and however they lie or are drawn: which side of a surface rounding puts a
//! particle on decides nothing.

use super::{boxes, load_beside, text, wet};
use glam::{DMat3, DQuat, DVec3};
use seixo_engine::world::{Body, Hull};

/// Twenty ways to lie, from upright on.
const WAYS: usize = 20;

/// A number of turns between 0 and 1, of which no two are alike.
fn share(way: usize) -> f64 {
    (way as f64 * 0.618_033_988_749_895).fract()
}

/// Volume of a hull, its center, and its second moments about the origin of its body: Σ V, Σ V x/Σ V, and Σ V x xᵀ.
fn moments(hull: &Hull) -> (f64, DVec3, DMat3) {
    let places = || hull.offset.iter().map(|at| DVec3::from(*at)).zip(&hull.volume);
    let volume: f64 = hull.volume.iter().sum();
    let center = places().map(|(at, part)| at * *part).sum::<DVec3>() / volume;
    let second = places().fold(DMat3::ZERO, |sum, (at, part)| {
        sum + DMat3::from_cols(at * at.x, at * at.y, at * at.z) * *part
    });
    (volume, center, second)
}

/// Asserts that a hull has this volume to a thousandth, and is symmetric about the principal axes of its body but for rounding.
fn assert_symmetric(hull: &Hull, volume: f64, what: &str) {
    let (found, center, second) = moments(hull);
    assert!((found / volume - 1.0).abs() < 1e-3, "{found} of {volume}: {what}");
    let trace = second.col(0).x + second.col(1).y + second.col(2).z;
    let size = (trace / found).sqrt();
    assert!(center.length() < 1e-9 * size, "its center is at {center} m: {what}");
    for (one, other) in [(0, 1), (1, 2), (2, 0)] {
        let product = second.col(one)[other];
        assert!(product.abs() < 1e-9 * trace, "{product} beside {trace}: {what}");
    }
}

/// The hull of the only body of a scene in whose tank hardly any water is, and the body.
fn felt(mesh: &str, text: &str) -> (Hull, Body, Vec<String>) {
    let text = text.replace("max = [0.4, 0.4, 0.3]", "max = [0.4, 0.4, 0.02]");
    let scene = load_beside(mesh, &text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let (hull, body) = (wet(&scene.world).hulls[0].clone(), scene.world.grains.bodies[0].clone());
    (hull, body, scene.notices)
}

#[test]
fn in_a_plane_a_box_of_disks_is_symmetric_where_its_sides_are_whole_spacings() {
    // 12 cm by 8 cm with 2 cm between particles: what is a thousandth larger or smaller differs by a thousandth, not by a row of particles.
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
            let (hull, body, _) = felt(&boxes(&[[0.06; 3]]), &plane);
            let what = format!("turned by {angle}, scaled by {scale}");
            assert_symmetric(&hull, body.mass / 500.0, &what);
            // Of a box, less what is between the disks at its sides.
            let filled: f64 = hull.volume.iter().sum();
            assert!((filled / (0.12 * 0.08 * scale * scale) - 0.98).abs() < 0.02, "{filled} m²: {what}");
            let [half_x, half_z] = [0, 2].map(|axis| hull.offset.iter().map(|at| at[axis].abs()).fold(0.0, f64::max));
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
        let (hull, body, _) = felt(&mesh, &text(of_grains, ""));
        // Without a radius it is as large as it is drawn.
        let volume = 8.0 * 0.06 * 0.04 * 0.05;
        assert!((body.mass / (500.0 * volume) - 1.0).abs() < 1e-9, "{} kg", body.mass);
        assert_symmetric(&hull, volume, &format!("turned by {turn}"));
        assert_eq!(hull.offset.len(), 6 * 4 * 5, "a particle for each cube of the spacing");
    }
}

#[test]
fn a_radius_that_misses_the_size_of_a_mesh_is_told() {
    let mesh = boxes(&[[0.08, 0.05, 0.02]]);
    let of_grains = |radius: &str| format!("shape = \"cube\"\nat = [[0.2, 0.2, 0.25]]\n{radius}displaces_fluid = true");
    let told = |notices: &[String]| notices.iter().any(|notice| notice.contains("times as large as its mesh"));
    let (_, as_drawn, notices) = felt(&mesh, &text(&of_grains(""), ""));
    assert!(!told(&notices), "{notices:?}");
    assert!((as_drawn.mass - 0.32).abs() < 1e-9, "{} kg", as_drawn.mass);
    // The spheres along its edges are a radius inside.
    let own = (0.07_f64.powi(2) + 0.04 * 0.04 + 0.01 * 0.01).sqrt() + 0.01;
    for (scale, is_told) in [(1.0, false), (1.046, true), (1.5, false)] {
        let (_, body, notices) = felt(&mesh, &text(&of_grains(&format!("radius = {}\n", own * scale)), ""));
        assert!((body.mass / (0.32 * scale.powi(3)) - 1.0).abs() < 1e-6, "{} kg", body.mass);
        assert_eq!(told(&notices), is_told, "{scale}: {notices:?}");
    }
}
