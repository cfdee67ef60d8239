//! Fills: positions and sizes of the grains, against the specification.

use crate::loaded::{GLASS, scene};
use glam::DVec3;
use seixo_engine::world::Grains;
use seixo_scene::{Scene, load_text};
use std::f64::consts::PI;
use std::path::Path;

fn filled(fill: &str) -> Scene {
    scene(&format!(
        "{GLASS}\n[world]\ngravity = [0, 0, -9.81]\n[grains.bed]\nmaterial = \"glass\"\nfill = {fill}"
    ))
}

/// Distances between surfaces over the sum of the radii, of all pairs. Periodic sides have this period.
fn gaps(grains: &Grains, period: DVec3) -> impl Iterator<Item = f64> {
    let apart = move |i: usize, j: usize| {
        let straight = DVec3::from(grains.position[i]) - DVec3::from(grains.position[j]);
        let images = (straight / period).round();
        (straight - DVec3::select(period.is_finite_mask(), images * period, DVec3::ZERO)).length()
    };
    let pairs = (0..grains.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.map(move |(i, j)| apart(i, j) / (grains.radius[i] + grains.radius[j]) - 1.0)
}

fn closest(scene: &Scene) -> f64 {
    gaps(&scene.world.grains, DVec3::INFINITY).fold(f64::INFINITY, f64::min)
}

/// Volume of the grains \[m³\].
fn volume(grains: &Grains) -> f64 {
    grains.radius.iter().map(|r| 4.0 / 3.0 * PI * r.powi(3)).sum()
}

/// An L of two boxes, x y z from 0: 2 × 1 × 1 and 1 × 2 × 1.
fn angle_stl() -> String {
    let outline = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]];
    let mut facets = Vec::new();
    // A fan from the corner inside the angle.
    for [a, b] in [[4, 5], [5, 0], [0, 1], [1, 2]] {
        facets.push([(3, 1), (a, 1), (b, 1)]);
        facets.push([(3, 0), (b, 0), (a, 0)]);
    }
    for a in 0..6 {
        let b = (a + 1) % 6;
        facets.extend([[(a, 0), (b, 0), (b, 1)], [(a, 0), (b, 1), (a, 1)]]);
    }
    let vertex = |(corner, z): &(usize, i32)| format!("vertex {} {} {z}\n", outline[*corner][0], outline[*corner][1]);
    let facet = |corners: &[(usize, i32); 3]| {
        let vertices: String = corners.iter().map(vertex).collect();
        format!("facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n")
    };
    format!("solid angle\n{}endsolid angle\n", facets.iter().map(facet).collect::<String>())
}

/// The L in a file that exists as long as the folder.
fn angle() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("angle.stl");
    std::fs::write(&path, angle_stl()).unwrap();
    (folder, format!("{{ mesh = {{ file = {path:?} }} }}"))
}

const BOX: &str = "{ box = { min = [0, 0, 0], max = [1, 1, 1] } }";
const SPHERE: &str = "{ sphere = { center = [0, 0, 0], radius = 1 } }";
const CYLINDER: &str = "{ cylinder = { from = [0, 0, 0], to = [1, 1, 0], radius = 0.5 } }";
const CONE: &str = "{ cone = { from = [0, 0, 0], to = [0, 0, 2], radii = [0.2, 1] } }";

/// (region, further keys of a fill).
const FILLS: &[(&str, &str)] = &[
    (BOX, "count = 400, radius = { uniform = [0.02, 0.04] }"),
    (BOX, "solid_fraction = 0.55, radius = 0.04"),
    (BOX, "solid_fraction = 0.1, radius = 0.04"),
    (BOX, "count = 300, radius = 0.04, lattice = \"cubic\""),
    (BOX, "count = 300, radius = 0.04, lattice = \"body_centered\""),
    (BOX, "solid_fraction = 0.5, radius = 0.04, lattice = \"face_centered\""),
    (
        BOX,
        "solid_fraction = 0.2, radius = { log_normal = [0.03, 0.3] }, method = \"random\"",
    ),
    (
        BOX,
        "solid_fraction = 0.3, radius = { weibull = [0.04, 4] }, method = \"growth\", minus = [{ sphere = { center = [1, 1, 1], radius = 0.5 } }]",
    ),
    (
        BOX,
        "solid_fraction = 0.2, radius = 0.03, minus = [{ cylinder = { from = [0, 0, 0], to = [1, 1, 1], radius = 0.1 } }]",
    ),
    (
        BOX,
        "solid_fraction = 0.5, radius = { discrete = { radii = [0.03, 0.06], shares = [0.5, 0.5], by = \"mass\" } }, method = \"rain\"",
    ),
    (SPHERE, "count = 300, radius = 0.06, method = \"random\""),
    (SPHERE, "count = 300, radius = 0.06"),
    (
        SPHERE,
        "solid_fraction = 0.5, radius = { uniform = [0.05, 0.1] }, method = \"growth\"",
    ),
    (
        CYLINDER,
        "solid_fraction = 0.25, radius = { normal = [0.05, 0.005] }, method = \"random\"",
    ),
    (CYLINDER, "count = 200, radius = { normal = [0.05, 0.005] }"),
    (CONE, "solid_fraction = 0.4, radius = 0.05"),
    (
        CONE,
        "solid_fraction = 0.5, radius = { uniform = [0.04, 0.08] }, method = \"growth\"",
    ),
    (CONE, "solid_fraction = 0.2, radius = 0.04, method = \"random\""),
];
/// Further keys of fills of the L.
const FILLS_OF_ANGLE: &[&str] = &[
    "solid_fraction = 0.3, radius = 0.05, lattice = \"face_centered\"",
    "solid_fraction = 0.2, radius = 0.05, method = \"random\"",
    "solid_fraction = 0.5, radius = { uniform = [0.05, 0.09] }, method = \"growth\"",
];

fn every_fill(mut check: impl FnMut(&str, &str)) {
    let (_folder, angle) = angle();
    let of_angle = FILLS_OF_ANGLE.iter().map(|rest| (angle.as_str(), *rest));
    for (region, rest) in FILLS.iter().copied().chain(of_angle) {
        check(region, &format!("{{ region = {region}, {rest} }}"));
    }
}

#[test]
fn fills_do_not_overlap_and_repeat() {
    every_fill(|_, fill| {
        let first = filled(fill);
        // Exact to rounding.
        assert!(closest(&first) >= -1e-12, "{fill}: {}", closest(&first));
        assert_eq!(first.world.grains, filled(fill).world.grains, "{fill}");
        let other_seed = load_text(&first.resolved, Path::new("scene.toml"), &[("run.seed".to_owned(), "2".to_owned())]).unwrap();
        assert_ne!(first.world.grains.position, other_seed.world.grains.position, "{fill}");
    });
}

/// Whether a point belongs to a region, by the definition of the shape.
fn has(region: &str, point: DVec3) -> bool {
    let within = |max: [f64; 3]| point.cmpge(DVec3::ZERO).all() && point.cmple(max.into()).all();
    match region {
        BOX => within([1.0; 3]),
        SPHERE => point.length() <= 1.0,
        CYLINDER => {
            let axis = DVec3::new(1.0, 1.0, 0.0).normalize();
            let along = point.dot(axis);
            (0.0..=2.0_f64.sqrt()).contains(&along) && (point - along * axis).length() <= 0.5
        }
        CONE => (0.0..=2.0).contains(&point.z) && point.x.hypot(point.y) <= 0.2 + 0.4 * point.z,
        _ => within([2.0, 1.0, 1.0]) || within([1.0, 2.0, 1.0]),
    }
}

/// Evenly distributed points on a unit sphere (Fibonacci spiral).
fn directions() -> impl Iterator<Item = DVec3> {
    (0..200).map(|k| {
        let z = (f64::from(k) + 0.5) / 100.0 - 1.0;
        let angle = PI * (5.0_f64.sqrt() - 1.0) * f64::from(k);
        DVec3::new((1.0 - z * z).sqrt() * angle.cos(), (1.0 - z * z).sqrt() * angle.sin(), z)
    })
}

#[test]
fn fills_stay_in_their_region_with_all_their_surface() {
    every_fill(|region, fill| {
        let grains = filled(fill).world.grains;
        let is_rain = fill.contains("rain");
        for (center, radius) in grains.position.iter().zip(&grains.radius) {
            for point in directions().map(|direction| DVec3::from(*center) + direction * radius * (1.0 - 1e-9)) {
                // A column of rain is as wide as the region, and extends upward from its bottom.
                let point = if is_rain { point.with_z(point.z.min(0.5)) } else { point };
                assert!(has(region, point), "{fill}: {point}");
                let at_ball = fill.contains("minus = [{ sphere") && point.distance(DVec3::ONE) < 0.5;
                let at_rod = fill.contains("minus = [{ cylinder") && point.cross(DVec3::ONE.normalize()).length() < 0.1;
                assert!(!at_ball && !at_rod, "{fill}: {point}");
            }
        }
    });
}

#[test]
fn fills_reach_the_fraction_asked_for() {
    let (_folder, angle) = angle();
    // Volumes by hand. The last grain causes a difference of up to half its volume; the volume of `minus` is known to 10⁻³.
    for (region, rest, volume_of_region) in [
        (BOX, "", 1.0),
        (SPHERE, "", 4.0 / 3.0 * PI),
        (CYLINDER, "", 0.25 * PI * 2.0_f64.sqrt()),
        (CONE, "", 2.0 * PI / 3.0 * (0.04 + 0.2 + 1.0)),
        (&angle, "", 3.0),
        (
            BOX,
            ", minus = [{ sphere = { center = [1, 1, 1], radius = 0.5 } }]",
            1.0 - PI / 48.0,
        ),
    ] {
        let grains = filled(&format!("{{ region = {region}, solid_fraction = 0.15, radius = 0.03{rest} }}"))
            .world
            .grains;
        let reached = volume(&grains) / volume_of_region;
        assert!((reached - 0.15).abs() < 4.0e-4, "{region}{rest}: {reached}");
    }
}

#[test]
fn lattices_have_their_neighbors() {
    for (lattice, expected) in [("hexagonal", 12), ("cubic", 6), ("body_centered", 8), ("face_centered", 12)] {
        let grains = filled(&format!(
            "{{ region = {BOX}, count = 500, radius = 0.04, lattice = \"{lattice}\" }}"
        ))
        .world
        .grains;
        // Neighbors are 2.02 radii apart, displaced by a hundredth; the next ones of the body-centered lattice are 15 % farther away.
        let mut neighbors = vec![0; grains.len()];
        for i in 0..grains.len() {
            for j in 0..i {
                if DVec3::from(grains.position[i]).distance(grains.position[j].into()) < 1.07 * 0.08 {
                    neighbors[i] += 1;
                    neighbors[j] += 1;
                }
            }
        }
        assert_eq!(neighbors.into_iter().max(), Some(expected), "{lattice}");
    }
}

#[test]
fn fills_do_not_depend_on_other_sections_unless_they_are_in_the_way() {
    let fill = format!("{{ region = {SPHERE}, count = 300, radius = 0.06, method = \"random\" }}");
    let alone = filled(&fill).world.grains;
    let beside = |place: &str| {
        scene(&format!(
            "{GLASS}\n[grains.bed]\nmaterial = \"glass\"\nfill = {fill}\n[grains.alpha]\nmaterial = \"glass\"\nat = [{place}]\nradius = 0.5"
        ))
    };
    let far = beside("[5, 5, 5]");
    assert_eq!(far.world.groups, ["alpha", "bed"]);
    assert_eq!(far.world.grains.position[1..], alone.position);
    let amid = beside("[0.2, 0, 0]");
    assert_eq!(amid.world.grains.len(), 301);
    assert!(closest(&amid) >= 0.0);
}

#[test]
fn random_insertion_has_no_structure_when_dilute() {
    // At a solid fraction φ the radial distribution is 1 + O(φ) beyond contact and 0 below. φ = 0.01; a bin of n pairs has a deviation of √n.
    let grains = filled(&format!(
        "{{ region = {BOX}, solid_fraction = 0.01, radius = 0.005, method = \"random\", periodic = [true, true, true] }}"
    ))
    .world
    .grains;
    let mut bins = [0.0; 6];
    for gap in gaps(&grains, DVec3::ONE) {
        if let Some(bin) = bins.get_mut(((gap + 1.0) * 2.0) as usize) {
            *bin += 1.0;
        }
    }
    assert_eq!(bins[..2], [0.0; 2], "pairs closer than touch");
    let diameter: f64 = 0.01;
    for (bin, found) in bins.into_iter().enumerate().skip(2) {
        let [low, high] = [bin, bin + 1].map(|edge| edge as f64 / 2.0 * diameter);
        let expected = 0.5 * (grains.len() as f64).powi(2) * 4.0 / 3.0 * PI * (high.powi(3) - low.powi(3));
        assert!(
            (found / expected - 1.0).abs() < 4.0 / expected.sqrt() + 0.03,
            "bin {bin}: {found} {expected}"
        );
    }
}

#[test]
fn sides_that_wrap_are_crossed_and_no_images_overlap() {
    for method in ["random", "growth"] {
        let fraction = if method == "random" { 0.25 } else { 0.55 };
        let grains = filled(&format!(
            "{{ region = {BOX}, solid_fraction = {fraction}, radius = {{ uniform = [0.05, 0.08] }}, method = \"{method}\", periodic = [true, true, false], \
             minus = [{{ sphere = {{ center = [0, 0, 0.5], radius = 0.2 }} }}] }}"
        ))
        .world
        .grains;
        let period = DVec3::new(1.0, 1.0, f64::INFINITY);
        let closest = gaps(&grains, period).fold(f64::INFINITY, f64::min);
        assert!(closest >= -1e-12, "{method}: {closest}");
        // Excluded parts are periodic as well.
        for (center, radius) in grains.position.iter().zip(&grains.radius) {
            let from = DVec3::from(*center) - DVec3::new(0.0, 0.0, 0.5);
            let around = from - (from / period).round();
            assert!(around.length() >= 0.2 + radius * (1.0 - 1e-9), "{method}: {around}");
        }
        let crosses = |axis: usize| {
            let mut grains = grains.position.iter().zip(&grains.radius);
            grains.any(|(center, radius)| center[axis] - radius < -1e-9 || center[axis] + radius > 1.0 + 1e-9)
        };
        assert_eq!([0, 1, 2].map(crosses), [true, true, false], "{method}");
        assert!(grains.position.iter().flatten().all(|x| (0.0..=1.0).contains(x)), "{method}");
    }
}

#[test]
fn growth_packs_equal_grains_to_0_60() {
    // The radius gives some 10⁴ grains: walls reduce the density near them, and a packing of half as many ends at 0.60.
    for (region, radius) in [(BOX, 0.0243), (SPHERE, 0.0391), (CYLINDER, 0.0251)] {
        let grains = filled(&format!(
            "{{ region = {region}, solid_fraction = 0.6, radius = {radius}, method = \"growth\" }}"
        ))
        .world
        .grains;
        let volume_of_region = match region {
            BOX => 1.0,
            SPHERE => 4.0 / 3.0 * PI,
            _ => 0.25 * PI * 2.0_f64.sqrt(),
        };
        let reached = volume(&grains) / volume_of_region;
        assert!((reached - 0.6).abs() < 1e-4, "{region}: {reached}");
        let closest = gaps(&grains, DVec3::INFINITY).fold(f64::INFINITY, f64::min);
        assert!(closest >= -1e-12, "{region}: {closest}");
    }
}

#[test]
fn grown_to_0_63_every_grain_has_some_six_neighbors() {
    let grains = filled(&format!(
        "{{ region = {BOX}, solid_fraction = 0.63, radius = 0.0532, method = \"growth\", periodic = [true, true, true] }}"
    ))
    .world
    .grains;
    assert!((volume(&grains) - 0.63).abs() < 5e-4, "{}", volume(&grains));
    // Without friction a jammed packing has 6 contacts per grain except rattlers [O'Hern 2003]; just below jamming these are gaps of less than 1 % of
    // a diameter.
    let contacts = gaps(&grains, DVec3::ONE).filter(|gap| *gap < 0.01).count();
    let coordination = 2.0 * contacts as f64 / grains.len() as f64;
    assert!((5.0..7.0).contains(&coordination), "{coordination}");
}

#[test]
fn growth_that_cannot_be_ends_and_says_how_far_it_came() {
    let text = format!(
        "{GLASS}\n[grains.bed]\nmaterial = \"glass\"\nfill = {{ region = {BOX}, solid_fraction = 0.75, radius = 0.08, method = \"growth\" }}"
    );
    let message = load_text(&text, Path::new("scene.toml"), &[]).unwrap_err().plain();
    assert!(
        message.contains("asked for a solid fraction of 0.75") && message.contains("reached 0.5"),
        "{message}"
    );
}

#[test]
fn a_fill_of_polyhedra_that_does_not_fit_says_how_much_they_fill_themselves() {
    // A cube with an edge of 16 mm and edges rounded by 2 mm, in a cube of 10 cm.
    let (core, rounding, pi) = (12.0f64, 2.0f64, std::f64::consts::PI);
    let volume = core.powi(3) + 6.0 * core.powi(2) * rounding + 3.0 * pi * rounding.powi(2) * core + 4.0 / 3.0 * pi * rounding.powi(3);
    let around = 4.0 / 3.0 * pi * (6.0 * 3f64.sqrt() + rounding).powi(3);
    let refused = |method: &str| {
        let text = format!(
            "{GLASS}\n[shape.die]\nkind = \"polyhedron\"\nbox = [16, 16, 16]\nrounding = 2\nunit = \"mm\"\n[grains.dice]\nmaterial = \"glass\"\n\
             shape = \"die\"\nfill = {{ region = {{ box = {{ min = [0, 0, 0], max = [0.1, 0.1, 0.1] }} }}, {method} }}"
        );
        load_text(&text, Path::new("scene.toml"), &[]).unwrap_err().plain()
    };
    let message = refused("count = 80, method = \"random\"");
    let placed = message
        .split_once("only ")
        .and_then(|(_, rest)| rest.split_once(" of 80 grains fit"));
    let placed: f64 = placed.and_then(|(count, _)| count.parse().ok()).expect("a number of grains");
    let [themselves, as_spheres] = [volume, around].map(|of_one| [placed, 80.0].map(|count| format!("{:.3}", 1e-6 * count * of_one)));
    for phrase in [
        format!("a solid fraction of {} was reached, {} is wanted", themselves[0], themselves[1]),
        format!("which `solid_fraction` counts, {} and {}", as_spheres[0], as_spheres[1]),
        "random insertion ends where the spheres around the grains fill some 0.35".to_owned(),
    ] {
        assert!(message.contains(&phrase), "no `{phrase}` in\n{message}");
    }
    // A share of 0.8 in spheres are 100 dice.
    let message = refused("solid_fraction = 0.8, method = \"growth\"");
    for phrase in [
        format!("asked for a solid fraction of {:.3}, reached 0.", 1e-4 * volume),
        format!("which `solid_fraction` counts, {:.3} and 0.", 1e-4 * around),
    ] {
        assert!(message.contains(&phrase), "no `{phrase}` in\n{message}");
    }
}

#[test]
fn rain_stands_above_its_region_and_is_loose() {
    let scene = filled(&format!(
        "{{ region = {BOX}, solid_fraction = 0.6, radius = 0.06, method = \"rain\" }}\nvelocity = [0, 0, -2]"
    ));
    let grains = &scene.world.grains;
    assert!(
        (volume(grains) - 0.6).abs() < 5e-4,
        "as many as fill the region once they have come down"
    );
    let heights = grains.position.iter().map(|center| center[2]);
    let top = heights.clone().fold(0.0, f64::max);
    assert!(top > 2.0, "the column is higher than the region: {top}");
    // Evenly distributed: the mean height is half that of the column, ± 4 standard errors of a uniform distribution.
    let mean = heights.sum::<f64>() / grains.len() as f64;
    assert!(
        (mean / top - 0.5).abs() < 4.0 * (1.0_f64 / 12.0 / grains.len() as f64).sqrt(),
        "{mean} {top}"
    );
    assert!(grains.velocity.iter().all(|velocity| *velocity == [0.0, 0.0, -2.0]));
}

#[test]
fn the_masses_of_a_sieve_curve_pass_its_sieves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("psd.csv");
    std::fs::write(&path, "# laboratory\ndiameter[mm], passing[%]\n20, 0\n30, 30\n40, 30\n60, 100\n").unwrap();
    let first = filled(&format!(
        "{{ region = {{ box = {{ min = [0, 0, 0], max = [3, 3, 3] }} }}, count = 20000, radius = {{ psd = {path:?} }} }}"
    ));
    let radii = &first.world.grains.radius;
    let mass = |below: f64| radii.iter().filter(|r| **r <= below).map(|r| r.powi(3)).sum::<f64>();
    let total = mass(1.0);
    // Four standard deviations of a share of (Σm)²/Σm² draws, doubled for their weights.
    let effective = total * total / radii.iter().map(|r| r.powi(6)).sum::<f64>();
    for (radius, passing) in [
        (0.0099, 0.0),
        (0.0125, 0.15),
        (0.015, 0.3),
        (0.0199, 0.3),
        (0.025, 0.65),
        (0.03, 1.0),
    ] {
        let found = mass(radius) / total;
        assert!(
            (found - passing).abs() < 4.0 / effective.sqrt() + 1e-12,
            "{radius}: {found} {passing}"
        );
    }
    assert!(radii.iter().all(|r| (0.01..=0.015).contains(r) || (0.02..=0.03).contains(r)));
    let again = load_text(&first.resolved, Path::new("elsewhere/scene.toml"), &[]).unwrap();
    assert_eq!(again.world.grains, first.world.grains, "the path is absolute once resolved");
}
