//! Weakly compressible fluids in mixed precision on a GPU read the positions of neighbors as integers of 32 bits (software Vulkan suffices; without any
//! adapter these tests fail).

use crate::devices::{after, on_cpu, on_gpu};
use crate::driven::paddled;
use crate::pools::{domain, drop_in, fluids, sites, tank, water, wet};
use seixo_engine::world::{Precision, Vec3, World};

/// Spacing of particles \[m\], and their support \[spacings\].
const SPACING: f64 = 0.05;
const SUPPORT: f64 = 3.0;

/// A column of water that collapses in a tank, in a plane, displaced by this vector \[m\].
fn column(displacement: Vec3) -> World {
    let mut medium = water(44.0);
    (medium.viscosity, medium.artificial_viscosity, medium.density_diffusion) = (0.5, 0.05, 0.1);
    let mut pool = fluids(vec![medium], SPACING, SUPPORT, Some(1));
    pool.largest_speed = 4.4;
    let mut world = tank(pool, [20, 1, 14], [8, 1, 12], 3, None);
    let placed = world.fluids.as_mut().unwrap();
    for position in placed.particles.position.iter_mut().chain(&mut placed.boundary.position) {
        for (x, by) in position.iter_mut().zip(displacement) {
            *x += by;
        }
    }
    world
}

/// Largest difference of components, each of which `difference` computes, relative to the largest component of the first.
fn apart(a: &[Vec3], b: &[Vec3], difference: impl Fn(usize, f64, f64) -> f64) -> f64 {
    assert_eq!(a.len(), b.len());
    let most = a.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    let mut largest: f64 = 0.0;
    for (one, other) in a.iter().zip(b) {
        for (axis, (&x, &y)) in one.iter().zip(other).enumerate() {
            largest = largest.max(difference(axis, x, y).abs());
        }
    }
    largest / most
}

#[test]
fn a_column_ten_thousand_supports_away_collapses_as_at_the_origin() {
    let far = 1e4 * SUPPORT * SPACING;
    // In two directions, so that both signs of coordinates are there.
    let displacement = [-far, 0.0, far];
    let [near, away] = [[0.0; 3], displacement].map(|by| after(&column(by), on_gpu(Precision::Mixed), 200));
    assert!(near.rebuilds() > 0, "lists are rebuilt");
    let (here, there) = (near.fluid().unwrap(), away.fluid().unwrap());
    // Rows have another order, and single precision has relative errors of 10⁻⁷, which add up over 200 steps. With coordinates in single precision,
    // distances would have errors of a hundredth of the spacing.
    let velocity = apart(&here.velocity, &there.velocity, |_, a, b| a - b);
    let position = apart(&here.position, &there.position, |axis, a, b| a + displacement[axis] - b);
    assert!(position < 1e-5 && velocity < 1e-4, "{position:e} {velocity:e}");
    assert!(here.velocity.iter().any(|v| v[0] > 0.1), "the water flows");
}

#[test]
fn nearest_images_are_those_of_the_cpu_in_periods_of_any_length() {
    // Lists reach 0.1925 m with the widest skin. So the least span is 1.54 m, which is longer than the second period and does not divide the first.
    let [long, short] = [3.1, 0.5];
    let mut medium = water(30.0);
    (medium.viscosity, medium.background_pressure, medium.density_diffusion) = (1.0, 2e4, 0.1);
    let mut vortex = fluids(vec![medium], SPACING, SUPPORT, Some(1));
    vortex.largest_speed = 3.0;
    for x in sites([0; 3], [62, 1, 10], SPACING, true) {
        let [along, up] = [(x[0], long), (x[2], short)].map(|(x, period)| (std::f64::consts::TAU * x / period).sin());
        drop_in(&mut vortex, x, [0.5 * up, 0.0, 0.3 * along], 2e4);
    }
    let space = domain([0.0, -1.0, 0.0], [long, 1.0, short], [true, false, true]);
    let world = wet(vortex, 0.0, Some(space), Vec::new());
    let [cpu, gpu] = [on_cpu(), on_gpu(Precision::Mixed)].map(|settings| after(&world, settings, 100));
    let (mine, its) = (cpu.fluid().unwrap(), gpu.fluid().unwrap());
    let velocity = apart(&mine.velocity, &its.velocity, |_, a, b| a - b);
    // A particle at a side may be wrapped on one device only.
    let periods = [long, f64::INFINITY, short];
    let position = apart(&mine.position, &its.position, |axis, a, b| {
        let between = (a - b).abs();
        between.min((periods[axis] - between).abs())
    });
    // Forces have relative errors of 10⁻⁷, and the background pressure makes those of pairs much larger than their sums.
    assert!(position < 1e-5 && velocity < 1e-3, "{position:e} {velocity:e}");
}

#[test]
fn wall_particles_that_move_are_seen_where_they_are() {
    let world = paddled();
    let [cpu, gpu] = [on_cpu(), on_gpu(Precision::Mixed)].map(|settings| after(&world, settings, 60));
    let (mine, its) = (cpu.fluid().unwrap(), gpu.fluid().unwrap());
    let velocity = apart(&mine.velocity, &its.velocity, |_, a, b| a - b);
    let position = apart(&mine.position, &its.position, |_, a, b| a - b);
    // Water that saw the paddle at rest would be at rest.
    assert!(position < 1e-5 && velocity < 1e-3, "{position:e} {velocity:e}");
}
