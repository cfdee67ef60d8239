//! Free surfaces of fluids: closed, where the fluid ends, and around as much of it as there is.

use glam::DVec3;
use seixo_analysis::{FreeSurface, SurfaceError, SurfaceOptions, free_surface};
use seixo_engine::PeriodicCell;
use seixo_engine::state::FluidSnapshot;
use std::collections::HashMap;
use std::f64::consts::PI;

/// Distance of particles at rest \[m\].
const SPACING: f64 = 0.01;

/// Particles at these places \[spacings\], with a uniform pressure, a speed of 1 m/s for each spacing along x, and as density the depth below z = 0.
fn fluid(kind: u32, places: &[DVec3]) -> FluidSnapshot {
    FluidSnapshot {
        id: (0..places.len() as u32).collect(),
        kind: vec![kind; places.len()],
        position: places.iter().map(|place| (*place * SPACING).to_array()).collect(),
        velocity: places.iter().map(|place| [place.x, 0.0, 0.0]).collect(),
        density: places.iter().map(|place| -place.z).collect(),
        pressure: vec![321.0; places.len()],
    }
}

/// The places of a lattice that are inside, its edges as many spacings from the origin as `reach` says.
fn lattice(reach: i32, is_inside: impl Fn(DVec3) -> bool) -> Vec<DVec3> {
    let line = || (-reach..=reach).map(f64::from);
    let all = line().flat_map(|x| line().flat_map(move |y| line().map(move |z| DVec3::new(x, y, z))));
    all.map(|site| site + DVec3::new(0.21, 0.37, 0.11))
        .filter(|&site| is_inside(site))
        .collect()
}

fn ball(radius: f64) -> Vec<DVec3> {
    lattice(radius as i32 + 1, |site| site.length() < radius)
}

/// As many places, each up to `most` away along every axis, by numbers without pattern.
fn shaken(places: &[DVec3], most: f64) -> Vec<DVec3> {
    let mut state = 7_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        most * ((state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0)
    };
    places.iter().map(|place| *place + DVec3::new(next(), next(), next())).collect()
}

fn smoothed(smoothing: u32) -> SurfaceOptions {
    SurfaceOptions {
        smoothing,
        ..SurfaceOptions::default()
    }
}

fn surface_of(places: &[DVec3], options: &SurfaceOptions) -> FreeSurface {
    free_surface(&fluid(0, places), SPACING, &PeriodicCell::open(), options).unwrap()
}

/// The volume of so many particles \[m³\].
fn volume_of(count: usize) -> f64 {
    count as f64 * SPACING.powi(3)
}

fn area(surface: &FreeSurface) -> f64 {
    let corner = |vertex: u32| DVec3::from(surface.vertices.position[vertex as usize]);
    let double = surface.triangles.iter().map(|triangle| {
        let [a, b, c] = triangle.map(corner);
        (b - a).cross(c - a).length()
    });
    0.5 * double.sum::<f64>()
}

/// How often each edge is passed, from its first to its second end.
fn edges(surface: &FreeSurface) -> HashMap<[u32; 2], u32> {
    let mut edges = HashMap::new();
    for &[a, b, c] in &surface.triangles {
        for edge in [[a, b], [b, c], [c, a]] {
            *edges.entry(edge).or_insert(0) += 1;
        }
    }
    edges
}

#[test]
fn the_surface_of_a_ball_is_one_closed_sphere_around_as_much_as_the_ball_holds() {
    let places = ball(8.0);
    for smoothing in [0, 10, 50] {
        let surface = surface_of(&places, &smoothed(smoothing));
        let edges = edges(&surface);
        // Every edge is in two triangles, which run through it to and fro.
        assert!(
            edges
                .iter()
                .all(|(&[from, to], &count)| count == 1 && edges.contains_key(&[to, from]))
        );
        let [vertices, triangles] = surface.count_of(0);
        assert_eq!((vertices, triangles), (surface.vertices.position.len(), surface.triangles.len()));
        // Euler's number of a sphere: no hole, no hollow, no crumb beside it.
        assert_eq!(vertices + triangles - edges.len() / 2, 2);
        // A bent surface stands 0.05 spacings farther out than a flat one: three times that over eight is 2 %. Triangles cut off up to one.
        let held = surface.volume_of(0) / volume_of(places.len());
        assert!((0.99..1.03).contains(&held), "{held} of the ball with {smoothing} smoothings");
        for (place, normal) in surface.vertices.position.iter().zip(&surface.normals) {
            let out = DVec3::from(*place).normalize();
            assert!((DVec3::from(*normal).length() - 1.0).abs() < 1e-12 && out.dot(DVec3::from(*normal)) > 0.6);
        }
    }
}

#[test]
fn smoothing_takes_bumps_away_and_no_volume() {
    let places = shaken(&ball(8.0), 0.25);
    let [rough, smooth] = [0, 20].map(|smoothing| surface_of(&places, &smoothed(smoothing)));
    let [before, after] = [&rough, &smooth].map(|surface| surface.volume_of(0));
    assert!((after / before - 1.0).abs() < 0.01, "{before} m³, then {after} m³");
    // Over the area of the sphere of the same volume. What is more are bumps, and steps of the lattice, which are wider and stay.
    let excess = |surface: &FreeSurface| area(surface) / (36.0 * PI * surface.volume_of(0).powi(2)).cbrt() - 1.0;
    let [before, after] = [&rough, &smooth].map(excess);
    assert!(after > 0.0 && after < 0.85 * before, "{before}, then {after}");
}

#[test]
fn drops_of_one_particle_stay_what_they_are() {
    let places = [DVec3::ZERO, DVec3::new(5.3, 0.4, 0.2)];
    let [as_cut, smooth] = [0, 50].map(|smoothing| surface_of(&places, &smoothed(smoothing)));
    let edges = edges(&smooth).len() / 2;
    // Two spheres.
    assert_eq!(smooth.vertices.position.len() + smooth.triangles.len() - edges, 4);
    let [before, after] = [&as_cut, &smooth].map(|surface| surface.volume_of(0) / volume_of(2));
    assert!((after / before - 1.0).abs() < 1e-9, "{before}, then {after}");
    // Cubes half a spacing wide cut a good part off a ball that is one and a quarter wide.
    assert!((0.6..1.2).contains(&after), "{after}");
}

#[test]
fn a_flat_surface_is_half_a_spacing_above_the_outermost_particles() {
    let places = lattice(12, |site| site.z < 0.5 && site.z > -9.0 && site.x.abs() < 8.0 && site.y.abs() < 8.0);
    let top = places.iter().map(|place| place.z).fold(f64::NEG_INFINITY, f64::max) + 0.5;
    for smoothing_length in [0.8, 1.0, 1.5, 2.0] {
        let options = SurfaceOptions {
            smoothing_length,
            ..SurfaceOptions::default()
        };
        let surface = surface_of(&places, &options);
        let mut seen = 0;
        for vertex in 0..surface.vertices.position.len() {
            let [x, y, z] = surface.vertices.position[vertex].map(|x| x / SPACING);
            // Farther from the edges than anything reaches.
            if z < top - 2.0 || x.abs() > 2.0 || y.abs() > 2.0 {
                continue;
            }
            seen += 1;
            // Between points half a spacing apart the share is not quite a line, and lattices leave ripples: 0.03 spacings together.
            assert!((z - top).abs() < 0.06, "{z}, not {top}, with {smoothing_length}");
            assert!(surface.normals[vertex][2] > 0.99);
            // What is uniform stays so; what changes along the surface is followed; what changes with depth is that of half a spacing inside.
            assert!((surface.vertices.pressure[vertex] / 321.0 - 1.0).abs() < 1e-12);
            assert!((surface.vertices.velocity[vertex][0] - x).abs() < 0.1);
            let inside = top + surface.vertices.density[vertex];
            assert!((0.4..1.0).contains(&inside), "{inside} spacings inside");
        }
        assert!(seen > 40, "{seen} vertices");
    }
}

#[test]
fn each_fluid_has_a_surface_of_its_own() {
    let (below, above) = (
        lattice(12, |site| site.z < 0.0 && site.length() < 7.0),
        lattice(12, |site| site.z > 0.0 && site.length() < 7.0),
    );
    let mut fluids = fluid(2, &below);
    let oil = fluid(5, &above);
    fluids.id.extend(oil.id.iter().map(|id| id + below.len() as u32));
    fluids.kind.extend(oil.kind);
    fluids.position.extend(oil.position);
    fluids.velocity.extend(oil.velocity);
    fluids.density.extend(oil.density);
    fluids.pressure.extend(oil.pressure);
    let surface = free_surface(&fluids, SPACING, &PeriodicCell::open(), &SurfaceOptions::default()).unwrap();
    let kind = |vertex: u32| surface.vertices.kind[vertex as usize];
    assert!(surface.triangles.iter().all(|&[a, b, c]| kind(a) == kind(b) && kind(b) == kind(c)));
    for (fluid, count) in [(2, below.len()), (5, above.len())] {
        let held = surface.volume_of(fluid) / volume_of(count);
        // Edges are rounded off.
        assert!((0.95..1.04).contains(&held), "{held} of fluid {fluid}");
    }
    assert_eq!(surface.volume_of(3), 0.0);
    assert_eq!(surface.count_of(3), [0, 0]);
    let none = free_surface(
        &FluidSnapshot::default(),
        SPACING,
        &PeriodicCell::open(),
        &SurfaceOptions::default(),
    )
    .unwrap();
    assert_eq!(none, FreeSurface::default());
}

/// Water 12 by 10.2 spacings wide, with waves along x that are so far along, each particle in any image of the cell that is as wide.
fn waves(along: f64) -> Vec<DVec3> {
    let mut places = Vec::new();
    for (i, j, k) in (0..12).flat_map(|i| (0..10).flat_map(move |j| (0..9).map(move |k| (i, j, k)))) {
        let place = DVec3::new(f64::from(i) + 0.5, (f64::from(j) + 0.5) * 1.02, f64::from(k) + 0.5);
        if place.z < 5.0 + 1.5 * (PI * place.x / 6.0).sin() {
            places.push(place + DVec3::new(along + 12.0 * f64::from(j % 3 - 1), 0.0, 0.0));
        }
    }
    places
}

#[test]
fn at_periodic_sides_a_surface_ends_and_fits_to_its_image() {
    let mut cell = PeriodicCell::open();
    (cell.low, cell.length) = ([-0.02, 0.0, 0.0], [0.12, 0.102, f64::INFINITY]);
    let surface = |along: f64| free_surface(&fluid(0, &waves(along)), SPACING, &cell, &SurfaceOptions::default()).unwrap();
    let still = surface(0.0);
    assert_eq!(still.periodic, [true, true, false]);
    // There are no walls at sides. Waves rise by up to 0.8.
    assert!(
        still
            .normals
            .iter()
            .all(|normal| normal[0].abs() < 0.9 && normal[1].abs() < 0.4 && normal[2].abs() > 0.4)
    );
    let edges = edges(&still);
    let rim: Vec<DVec3> = edges
        .keys()
        .filter(|[from, to]| !edges.contains_key(&[*to, *from]))
        .map(|[from, _]| still.vertices.position[*from as usize].into())
        .collect();
    // Two cubes a spacing, at four sides, of top and bottom.
    assert!(rim.len() >= 2 * 2 * 2 * (12 + 10), "{}", rim.len());
    for at in &rim {
        let is_image = |other: &DVec3| {
            let apart = [0, 1].map(|axis| (at[axis] - other[axis]).abs() / cell.length[axis]);
            let are_whole = apart.iter().all(|apart| (apart - apart.round()).abs() < 1e-9);
            are_whole && apart[0].max(apart[1]) > 0.5 && (at.z - other.z).abs() < 1e-9 * SPACING
        };
        assert!(rim.iter().any(is_image), "{at}");
    }
    // All of the water, stretched as it is.
    let held = still.volume_of(0) / (1.02 * volume_of(waves(0.0).len()));
    assert!((0.97..1.03).contains(&held), "{held} of the water");
    // Where in the cell waves are changes nothing but rounding.
    let moved = surface(3.0);
    assert!((area(&moved) / area(&still) - 1.0).abs() < 1e-9, "{} m²", area(&moved));
    assert!((moved.volume_of(0) / still.volume_of(0) - 1.0).abs() < 1e-9);
    assert_eq!(moved.count_of(0)[1], still.count_of(0)[1]);
    // The whole of it is inside where all sides are periodic.
    cell.length[2] = 0.3;
    let open = free_surface(&fluid(0, &waves(0.0)), SPACING, &cell, &SurfaceOptions::default()).unwrap();
    assert!(open.volume_of(0).is_nan());
}

#[test]
fn what_gives_no_surface_is_refused_with_a_remedy() {
    let drop = fluid(0, &[DVec3::ZERO]);
    let usual = SurfaceOptions::default();
    for (options, phrases) in [
        (
            SurfaceOptions {
                smoothing_length: 0.5,
                ..usual
            },
            ["smoothing length in spacings is 0.5", "0.8 to 4", "holes"],
        ),
        (
            SurfaceOptions { cube_size: 2.0, ..usual },
            ["size of cubes in spacings is 2", "0.1 to 1", "drops"],
        ),
        (
            SurfaceOptions {
                threshold: Some(f64::NAN),
                ..usual
            },
            ["threshold is NaN", "0.05 to 0.95", "leave it out"],
        ),
        (smoothed(1000), ["number of smoothings is 1000", "0 to 200", "10"]),
    ] {
        let refused = free_surface(&drop, SPACING, &PeriodicCell::open(), &options)
            .unwrap_err()
            .to_string();
        for phrase in phrases {
            assert!(refused.contains(phrase), "no `{phrase}` in {refused}");
        }
    }
    let refused = |place: DVec3| free_surface(&fluid(0, &[DVec3::ZERO, place]), SPACING, &PeriodicCell::open(), &usual).unwrap_err();
    let nowhere = refused(DVec3::new(0.0, f64::NAN, 0.0));
    assert!(matches!(nowhere, SurfaceError::Nowhere { id: 1, .. }), "{nowhere}");
    let far = refused(DVec3::splat(1e8)).to_string();
    assert!(far.contains("fluid 0") && far.contains("leaving = \"delete\""), "{far}");
}
