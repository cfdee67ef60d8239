//! XSPH of weakly compressible fluids: particles follow their neighbors, momentum and energy stay, and the bits are the same everywhere.

use crate::alike::assert_same;
use crate::beds::noise;
use crate::blocks::pushed;
use crate::couette::{cavity, couette};
use crate::devices::{first_skin_of_fluids, started_on};
use crate::domains::after;
use crate::ledgers::assert_same_ledger;
use crate::pools::{domain, drop_in, fluids, sites, water, wet};
use seixo_engine::world::{DeviceChoice, Precision, Settings, Solver, Vec3, World};
use seixo_engine::{Simulation, WorldError};
use std::f64::consts::TAU;

/// Spacing of the inviscid fluids here \[m\].
const SPACING: f64 = 0.05;
/// Particles along a side of a periodic box.
const CELLS: i64 = 16;
/// Length of its sides \[m\].
const LENGTH: f64 = CELLS as f64 * SPACING;

fn smoothed(mut world: World) -> World {
    for fluid in &mut world.fluids.as_mut().unwrap().kinds {
        fluid.xsph = 0.5;
    }
    world
}

/// The world after this time \[s\].
fn at(world: World, time: f64) -> Simulation {
    let mut simulation = started_on(world, 1);
    simulation.advance((time / simulation.time_step().value) as u64).unwrap();
    simulation
}

/// Inviscid fluid in a periodic plane with this pressure at rest \[Pa\]; velocities \[m/s\] by number and site.
fn periodic(background: f64, velocity: impl Fn(usize, Vec3) -> Vec3) -> World {
    let mut medium = water(10.0);
    medium.background_pressure = background;
    let mut fluids = fluids(vec![medium], SPACING, 3.0, Some(1));
    fluids.largest_speed = 1.0;
    for (k, x) in sites([0; 3], [CELLS, 1, CELLS], SPACING, true).into_iter().enumerate() {
        drop_in(&mut fluids, x, velocity(k, x), background);
    }
    let space = domain([0.0, -1.0, 0.0], [LENGTH, 1.0, LENGTH], [true, false, true]);
    wet(fluids, 0.0, Some(space), Vec::new())
}

/// 1 and −1 m/s along x in turn, from row to row.
fn direction(x: Vec3) -> f64 {
    if (x[2] / SPACING) as i64 % 2 == 0 { 1.0 } else { -1.0 }
}

/// A free disc that spins and flies along x: water on its right, oil with less XSPH on its left.
fn disc() -> World {
    let (mut medium, mut oil) = (water(20.0), water(20.0));
    (medium.density_diffusion, medium.xsph) = (0.1, 0.5);
    (oil.name, oil.density, oil.density_diffusion, oil.xsph) = ("oil".to_owned(), 800.0, 0.1, 0.2);
    let mut fluids = fluids(vec![medium, oil], SPACING, 3.0, Some(1));
    fluids.largest_speed = 2.0;
    for x in sites([-12, 0, -12], [12, 1, 12], SPACING, true) {
        if x[0].hypot(x[2]) < 0.55 {
            drop_in(&mut fluids, x, [1.0 + x[2], 0.0, -x[0]], 0.0);
            if x[0] < 0.0 {
                *fluids.particles.kind.last_mut().unwrap() = 1;
            }
        }
    }
    wet(fluids, 0.0, None, Vec::new())
}

/// Mass \[kg\], center \[m\], and angular momentum about the origin \[kg m²/s\] of the [`disc()`], per meter of depth.
fn moments(simulation: &Simulation) -> (f64, [f64; 2], f64) {
    let fluid = simulation.fluid().unwrap();
    let (mut mass, mut center, mut angular) = (0.0, [0.0; 2], 0.0);
    for ((x, v), kind) in fluid.position.iter().zip(&fluid.velocity).zip(&fluid.kind) {
        let m = [1000.0, 800.0][*kind as usize] * SPACING * SPACING;
        mass += m;
        center = [center[0] + m * x[0], center[1] + m * x[2]];
        angular += m * (x[2] * v[0] - x[0] * v[2]);
    }
    (mass, center.map(|sum| sum / mass), angular)
}

#[test]
fn streams_pass_through_each_other_at_half_their_speed() {
    let streams = || periodic(0.0, |_, x| [direction(x), 0.0, 0.0]);
    let before = streams().fluids.unwrap().particles.position;
    let pace = |world: World| {
        let simulation = at(world, 0.2);
        let fluid = simulation.fluid().unwrap();
        // Their momentum stays.
        for (x, v) in before.iter().zip(&fluid.velocity) {
            assert!((v[0] - direction(*x)).abs() < 1e-2, "{x:?} {v:?}");
        }
        let along = before.iter().zip(&fluid.position).map(|(from, to)| {
            let way = to[0] - from[0];
            direction(*from) * (way - LENGTH * (way / LENGTH).round())
        });
        along.sum::<f64>() / before.len() as f64 / simulation.time()
    };
    let (with, without) = (pace(smoothed(streams())), pace(streams()));
    assert!((without - 1.0).abs() < 1e-2, "{without}");
    // Half of the weight around a particle is that of the other stream, up to the unevenness of seven rows; it moves the other way. With half of the
    // difference, half of the speed is left.
    assert!((with - 0.5).abs() < 0.05, "{with}");
}

#[test]
fn particles_of_a_noisy_fluid_stay_more_even() {
    let noisy = || periodic(2e4, |k, _| [0.3 * noise(2 * k as u64), 0.0, 0.3 * noise(2 * k as u64 + 1)]);
    let spread = |world: World| {
        let simulation = at(world, 1.2);
        let shares: Vec<f64> = simulation
            .sample_fluid(&simulation.fluid().unwrap().position)
            .iter()
            .map(|sample| sample.share)
            .collect();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        let square = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>();
        (square / shares.len() as f64).sqrt()
    };
    let (with, without) = (spread(smoothed(noisy())), spread(noisy()));
    // A separate program of the same method gave 0.3 times as much, for three sequences of noise.
    assert!(with < 0.6 * without, "{with} {without}");
}

#[test]
fn a_shear_flow_without_viscosity_keeps_its_energy() {
    let shear = periodic(0.0, |_, x| [(TAU * x[2] / LENGTH).sin(), 0.0, 0.0]);
    let simulation = at(smoothed(shear), 0.6);
    let ledger = simulation.ledger();
    // Velocities that were smoothed once a step would have lost nearly all of it. Rows that slide past each other stir the fluid a little.
    assert!((ledger.kinetic / ledger.initial - 1.0).abs() < 1e-3, "{ledger:?}");
    assert!(ledger.residual.abs() < 1e-3 * ledger.initial, "{ledger:?}");
    assert!(ledger.diffusion.abs() < 1e-3 * ledger.initial, "{ledger:?}");
}

#[test]
fn momenta_and_the_center_of_mass_of_two_fluids_are_what_they_are_without() {
    let mut simulation = started_on(disc(), 1);
    let (start, (mass, center, angular)) = (simulation.momentum_of_fluids(), moments(&simulation));
    simulation.advance((0.5 / simulation.time_step().value) as u64).unwrap();
    let (end, (_, moved, still)) = (simulation.momentum_of_fluids(), moments(&simulation));
    // 900 kg at 1 m/s, rounded per particle and step.
    for (a, b) in start.iter().zip(end) {
        assert!((a - b).abs() < 1e-8, "{start:?} {end:?}");
    }
    // The center moves as the momentum says, since the weights of a pair are symmetric.
    for (k, axis) in [0, 2].into_iter().enumerate() {
        let way = start[axis] / mass * simulation.time();
        assert!((moved[k] - center[k] - way).abs() < 1e-9, "{center:?} {moved:?} {way}");
    }
    // Smoothed velocities and kicks are half a step apart: an error of the order of the time step, some 10⁻⁶.
    assert!((still - angular).abs() < 1e-4 * angular.abs(), "{angular} {still}");
}

#[test]
fn fluid_that_moves_as_a_whole_is_not_changed_at_all() {
    for velocity in [[0.0; 3], [0.7, 0.0, -0.3]] {
        let world = || periodic(0.0, |_, _| velocity);
        let (with, without) = (at(smoothed(world()), 0.5), at(world(), 0.5));
        assert_eq!(with.fluid(), without.fluid());
        assert!(with.fluid().unwrap().velocity.iter().all(|v| *v == velocity));
    }
}

#[test]
fn the_ledger_closes_in_a_box_with_a_lid() {
    let mut simulation = started_on(smoothed(cavity()), 1);
    simulation.advance(1000).unwrap();
    let ledger = simulation.ledger();
    assert!(ledger.residual.abs() < 1e-2 * ledger.viscosity, "{ledger:?}");
}

#[test]
fn bits_are_the_same_on_any_number_of_threads_and_after_a_checkpoint() {
    for world in [couette, cavity, pushed, disc] {
        let mut first = started_on(smoothed(world()), 1);
        first.advance(200).unwrap();
        assert_ne!(first.fluid(), {
            let mut without = started_on(world(), 1);
            without.advance(200).unwrap();
            without.fluid()
        });
        let mut second = started_on(smoothed(world()), 3);
        second.advance(90).unwrap();
        let state = second.save().unwrap();
        let mut third = Simulation::restore(smoothed(world()), Settings::default(), &state).unwrap();
        for other in [&mut second, &mut third] {
            other.advance(110).unwrap();
            assert_eq!(first.fluid(), other.fluid());
            assert_eq!(first.ledger(), other.ledger());
            assert_eq!(first.walls(), other.walls());
        }
    }
}

#[test]
fn domains_have_the_bits_of_one() {
    for (what, world) in [("a flow between plates", smoothed(couette())), ("a disc of two fluids", disc())] {
        let [mut whole, mut decomposed] = [1, 2].map(|domains| after(&world, domains, 200));
        assert_same(&mut whole, &mut decomposed, what);
        assert_same_ledger(&whole, &decomposed, what);
        assert_eq!(whole.fluid(), decomposed.fluid(), "{what}");
    }
}

#[test]
fn a_gpu_moves_particles_alike() {
    for world in [smoothed(couette()), smoothed(cavity()), disc()] {
        let on = |device| {
            let settings = Settings {
                device,
                precision: Some(Precision::F64),
                skin: first_skin_of_fluids(&world),
                threads: 1,
                ..Settings::default()
            };
            let mut simulation = Simulation::new(world.clone(), settings).unwrap();
            simulation.advance(200).unwrap();
            simulation.observe().unwrap();
            simulation
        };
        let (here, there) = (on(DeviceChoice::Cpu), on(DeviceChoice::Gpu(None)));
        let (mine, its) = (here.fluid().unwrap(), there.fluid().unwrap());
        let places = mine.position.iter().flatten().zip(its.position.iter().flatten());
        // Rows in another order: two hundred steps of rounded sums.
        let off = places.fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
        assert!(off < 1e-11, "{off}");
        let (mine, its) = (here.ledger(), there.ledger());
        let energy = mine.kinetic + mine.viscosity;
        assert!((mine.diffusion - its.diffusion).abs() < 1e-8 * energy, "{mine:?} {its:?}");
        assert!((mine.residual - its.residual).abs() < 1e-8 * energy, "{mine:?} {its:?}");
    }
}

#[test]
fn what_xsph_cannot_be_combined_with_is_refused_with_a_remedy() {
    let refused = |change: fn(&mut World)| {
        let mut world = smoothed(cavity());
        change(&mut world);
        match Simulation::new(world, Settings::default()) {
            Err(WorldError::Fluid(what)) => what,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was accepted"),
        }
    };
    let reported = refused(|world| world.fluids.as_mut().unwrap().solver = Solver::Incompressible);
    assert!(
        reported.contains("free of divergence") && reported.contains("solver = \"wcsph\""),
        "{reported}"
    );
    let reported = refused(|world| world.fluids.as_mut().unwrap().particle_shifting = true);
    assert!(reported.contains("leave xsph or particle_shifting out"), "{reported}");
    let reported = refused(|world| world.fluids.as_mut().unwrap().kinds[0].xsph = 1.5);
    assert!(reported.contains("an XSPH share of 1.5; it must be 0 to 1"), "{reported}");
}
