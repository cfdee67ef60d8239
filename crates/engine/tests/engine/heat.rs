//! Heat between grains, and between walls and grains, on both devices.

use crate::beds;
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu};
use crate::touching::{insulated, touching_pair};
use crate::warm::conducting;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Domain, ExpectedGrains, Grains, LeavingPolicy, Precision, Search, Settings, Thermal, World};
use seixo_engine::{Simulation, StepErrorCause, WorldError};
use seixo_laws::contact::TangentialLaw;

/// A world that the topmost grain leaves.
fn losing(mut world: World) -> World {
    let top = world.grains.position.last().unwrap()[2] + 2e-4;
    world.grains.velocity.last_mut().unwrap()[2] = 1.0;
    world.domain = Some(Domain::open([-0.1; 3], [0.1, 0.1, top], LeavingPolicy::Delete));
    world
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

pub fn temperatures(simulation: &Simulation) -> Vec<f64> {
    simulation.snapshot().scalars[GrainScalar::Temperature].clone()
}

fn spread(temperature: &[f64]) -> f64 {
    let (low, high) = temperature
        .iter()
        .fold((f64::INFINITY, 0.0f64), |(low, high), &t| (low.min(t), high.max(t)));
    high - low
}

#[test]
fn two_grains_in_contact_relax_at_the_rate_of_their_conductance() {
    let settings = |time_step: f64| Settings {
        time_step: Some(time_step),
        ..on_cpu()
    };
    // δ = 50 µm, R* = 2/3 mm; m c of a sphere of density 2500 and capacity 900.
    let radius = (2e-3f64 / 3.0 * 5e-5).sqrt();
    let conductance = 2.0 * 200.0 * radius;
    let capacity = |r: f64| 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) * 2500.0 * 900.0;
    let (c_0, c_1) = (capacity(1e-3), capacity(2e-3));
    let rate = conductance * (1.0 / c_0 + 1.0 / c_1);
    let mean = (300.0 * c_0 + 400.0 * c_1) / (c_0 + c_1);
    let mut errors = Vec::new();
    for steps in [100, 200] {
        let time_step = 1.0 / rate / f64::from(steps);
        let mut simulation = Simulation::new(touching_pair(), settings(time_step)).unwrap();
        simulation.advance(u64::from(steps as u32)).unwrap();
        let found = temperatures(&simulation);
        let exact = mean + (300.0 - mean) * (-1.0f64).exp();
        errors.push((found[0] - exact).abs() / (mean - 300.0));
        assert!((found[0] * c_0 + found[1] * c_1) / (c_0 + c_1) - mean < 1e-10);
    }
    // First order: (1 − 1/n)ⁿ deviates from 1/e by 1/(2 e n), half as much with half the step.
    println!("{errors:?}");
    assert!((errors[0] * 200.0 * 1f64.exp() - 1.0).abs() < 0.02, "{errors:?}");
    assert!((errors[0] / errors[1] - 2.0).abs() < 0.02, "{errors:?}");
}

#[test]
fn insulated_grains_keep_their_heat_to_rounding_and_even_out() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = insulated(beds::falling(3000, tangential));
        let simulation = after(&world, on_cpu(), 3000);
        assert!(simulation.rebuilds() > 3);
        for scalar in GrainScalar::ALL {
            let ledger = simulation.scalar_ledger(scalar).unwrap();
            println!("{tangential:?}: {:e} of {:e}", ledger.residual, ledger.initial);
            assert!(ledger.residual.abs() < 1e-12 * ledger.initial, "{ledger:?}");
            assert_eq!((ledger.from_walls, ledger.inserted, ledger.left), (0.0, 0.0, 0.0));
            let (start, end) = (&world.grains.scalars[scalar], &simulation.snapshot().scalars[scalar]);
            assert!(spread(end) < spread(start) && largest_difference(end, start) > 0.01 * spread(start));
        }
    }
}

#[test]
fn searches_without_friction_conduct_alike() {
    let world = conducting(beds::falling(500, TangentialLaw::None));
    let with = |search: Search, skin: Option<f64>| temperatures(&after(&world, Settings { search, skin, ..on_cpu() }, 800));
    let grid = with(Search::Grid, None);
    assert!(largest_difference(&grid, &world.grains.scalars[GrainScalar::Temperature]) > 0.1);
    for (search, skin) in [(Search::SpatialHash, None), (Search::BruteForce, None), (Search::Grid, Some(0.0))] {
        let found = largest_difference(&grid, &with(search, skin));
        assert!(found < 1e-9, "{search:?} {skin:?}: {found:e}");
    }
}

#[test]
fn threads_and_stops_change_no_bit() {
    let world = losing(conducting(beds::falling(3000, TangentialLaw::Mindlin)));
    let settings = |threads: usize| Settings { threads, ..on_cpu() };
    let mut whole = Simulation::new(world.clone(), settings(1)).unwrap();
    whole.advance(1500).unwrap();
    for scalar in GrainScalar::ALL {
        let ledger = whole.scalar_ledger(scalar).unwrap();
        assert!(ledger.left > 0.0, "{ledger:?}");
        assert_eq!(ledger.from_walls != 0.0, scalar == GrainScalar::Temperature, "{ledger:?}");
        assert!(ledger.residual.abs() < 1e-12 * ledger.initial, "{ledger:?}");
    }
    let end = whole.save().unwrap();
    for (split, threads) in [(1, 2), (701, 3)] {
        let mut first = Simulation::new(world.clone(), settings(threads)).unwrap();
        first.advance(split).unwrap();
        let mut second = Simulation::restore(world.clone(), settings(2), &first.save().unwrap()).unwrap();
        for scalar in GrainScalar::ALL {
            assert_eq!(first.scalar_ledger(scalar), second.scalar_ledger(scalar));
        }
        assert_eq!(first.heat_of_walls(), second.heat_of_walls());
        second.advance(1500 - split).unwrap();
        assert!(second.save().unwrap() == end, "{split}");
    }
}

#[test]
fn a_gpu_conducts_as_the_cpu_does() {
    for (tangential, skin) in [
        (TangentialLaw::Mindlin, None),
        (TangentialLaw::None, None),
        (TangentialLaw::None, Some(0.0)),
    ] {
        let world = losing(conducting(beds::falling(2000, tangential)));
        let way = |settings: Settings| Settings { skin, ..settings };
        let cpu = after(&world, way(on_cpu()), 600);
        let expected = cpu.scalar_ledger(GrainScalar::Temperature).unwrap();
        assert!(expected.from_walls.abs() > 1e-6 && expected.left > 0.0, "{expected:?}");
        // The heat at time zero was summed with masses in double precision, of which mixed precision keeps seven digits.
        for (precision, bar, rounding) in [(Precision::F64, 1e-9, 1e-12), (Precision::Mixed, 1e-3, 1e-7)] {
            let gpu = after(&world, way(on_gpu(precision)), 600);
            let off = |scalar| largest_difference(&cpu.snapshot().scalars[scalar], &gpu.snapshot().scalars[scalar]);
            let found = off(GrainScalar::Temperature);
            // Films are some 10 µm thick.
            let of_films = off(GrainScalar::FilmThickness);
            assert!(of_films < 1e-7 * bar, "{tangential:?} {precision:?}: {of_films:e} m");
            let liquid = gpu.scalar_ledger(GrainScalar::FilmThickness).unwrap();
            assert!(liquid.left > 0.0 && liquid.residual.abs() < 1e-12 * liquid.initial, "{liquid:?}");
            let ledger = gpu.scalar_ledger(GrainScalar::Temperature).unwrap();
            println!("{tangential:?} {skin:?} {precision:?}: {found:.1e} K, {ledger:?}");
            assert!(found < bar, "{tangential:?} {precision:?}: {found:e} K");
            assert!(ledger.residual.abs() < rounding * ledger.initial, "{ledger:?}");
            assert!((ledger.from_walls / expected.from_walls - 1.0).abs() < bar);
            assert!((ledger.left / expected.left - 1.0).abs() < 1e-6);
            if precision == Precision::F64 {
                let moved = apart(&cpu.snapshot(), &gpu.snapshot());
                assert!(moved < 1e-9, "{moved:e}");
                assert_same_ledger(&cpu, &gpu, &format!("{tangential:?}"));
            }
        }
    }
}

#[test]
fn a_tenth_of_a_millikelvin_evens_out_in_mixed_precision_too() {
    let mut world = touching_pair();
    world.grains.scalars[GrainScalar::Temperature] = vec![300.0, 300.0001];
    // A step transfers half a thousandth of the difference, 10⁻¹⁰ of the temperature.
    let slow = |settings: Settings| Settings {
        time_step: Some(5e-5),
        ..settings
    };
    let left = |settings: Settings| {
        let found = temperatures(&after(&world, slow(settings), 400));
        found[1] - found[0]
    };
    let (here, there) = (left(on_cpu()), left(on_gpu(Precision::Mixed)));
    assert!(here < 0.9e-4 && here > 0.2e-4, "{here}");
    assert!((there / here - 1.0).abs() < 1e-4, "{there} of {here} K");
}

#[test]
fn a_state_goes_from_the_cpu_to_a_gpu_and_back() {
    let world = conducting(beds::falling(800, TangentialLaw::Mindlin));
    let whole = after(&world, on_cpu(), 900);
    let mut simulation = after(&world, on_cpu(), 300);
    for settings in [on_gpu(Precision::F64), on_cpu()] {
        let state = simulation.save().unwrap();
        simulation = Simulation::restore(world.clone(), settings, &state).unwrap();
        simulation.advance(300).unwrap();
        simulation.observe().unwrap();
    }
    for (scalar, bar) in [(GrainScalar::Temperature, 1e-9), (GrainScalar::FilmThickness, 1e-16)] {
        let found = largest_difference(&whole.snapshot().scalars[scalar], &simulation.snapshot().scalars[scalar]);
        assert!(found < bar, "{scalar:?}: {found:e}");
    }
    let (a, b) = (
        whole.scalar_ledger(GrainScalar::Temperature).unwrap(),
        simulation.scalar_ledger(GrainScalar::Temperature).unwrap(),
    );
    assert!((a.from_walls / b.from_walls - 1.0).abs() < 1e-9, "{a:?} {b:?}");
    for ([flow, given], [other_flow, other_given]) in whole.heat_of_walls().into_iter().zip(simulation.heat_of_walls()) {
        assert!((flow - other_flow).abs() < 1e-9 * flow.abs().max(1e-6) && (given - other_given).abs() < 1e-9 * given.abs().max(1e-6));
    }
}

#[test]
fn grains_that_come_and_go_enter_the_ledger() {
    let mut world = conducting(beds::falling(300, TangentialLaw::Mindlin));
    world.later.grains.push(ExpectedGrains {
        material: 0,
        radius: [5e-4, 5e-4],
        mass_per_radius: None,
        shape: None,
        speed: 0.0,
        reach: 0.1,
        highest_id: None,
    });
    for settings in [on_cpu(), on_gpu(Precision::F64)] {
        let mut simulation = after(&world, settings, 50);
        let mut coming = Grains::default();
        coming.push(1000, [0.004, 0.004, 0.05], [0.0; 3], [0.0; 3], 5e-4, 0, 0);
        assert!(simulation.insert(&coming).unwrap_err().to_string().contains("temperature"));
        coming.scalars[GrainScalar::Temperature].push(1000.0);
        assert!(simulation.insert(&coming).unwrap_err().to_string().contains("film_thickness"));
        coming.scalars[GrainScalar::FilmThickness].push(1e-4);
        simulation.insert(&coming).unwrap();
        simulation.remove(&[0, 17]).unwrap();
        simulation.advance(50).unwrap();
        simulation.observe().unwrap();
        let heat = simulation.scalar_ledger(GrainScalar::Temperature).unwrap();
        let capacity = |radius: f64| 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3) * 2500.0 * 900.0;
        assert!((heat.inserted / (capacity(5e-4) * 1000.0) - 1.0).abs() < 1e-12);
        let (least, most) = (capacity(2.5e-4) + capacity(5e-4), 2.0 * capacity(5e-4));
        assert!((300.0 * least..400.0 * most).contains(&heat.left), "{heat:?}");
        assert!(heat.residual.abs() < 1e-12 * heat.initial, "{heat:?}");
        let liquid = simulation.scalar_ledger(GrainScalar::FilmThickness).unwrap();
        let volume = 4.0 * std::f64::consts::PI * 2.5e-7 * 1e-4;
        assert!((liquid.inserted / volume - 1.0).abs() < 1e-12 && liquid.left > 0.0, "{liquid:?}");
        assert!(liquid.residual.abs() < 1e-12 * liquid.initial, "{liquid:?}");
    }
}

#[test]
fn heat_that_outruns_the_time_step_is_refused_or_stops_the_run() {
    let mut world = touching_pair();
    world.conduction.as_mut().unwrap().materials[0].conductivity = Some(1e12);
    let refused = Simulation::new(world.clone(), on_cpu()).err().unwrap().to_string();
    assert!(refused.contains("grain 0") && refused.contains("the limit is 1"), "{refused}");
    for settings in [on_cpu(), on_gpu(Precision::Mixed)] {
        // Apart at the start, they collide later.
        let mut world = world.clone();
        world.grains.position[1][1] = 3.0001e-3;
        world.grains.velocity[1][1] = -0.1;
        let settings = Settings {
            time_step: Some(1e-3),
            ..settings
        };
        let mut simulation = Simulation::new(world, settings).unwrap();
        let stop = simulation.advance(100_000).unwrap_err();
        assert!(
            matches!(stop.cause, StepErrorCause::TooConductive { share, .. } if share > 1.0),
            "{stop}"
        );
        assert_eq!(stop.grain, 0, "{stop}");
    }
    let single = Simulation::new(insulated(beds::falling(8, TangentialLaw::Mindlin)), on_gpu(Precision::F32));
    assert!(matches!(single.err(), Some(WorldError::ScalarInSingle { .. })));
}

#[test]
fn what_heat_lacks_is_refused() {
    let refused = |spoil: fn(&mut World)| {
        let mut world = conducting(beds::falling(10, TangentialLaw::Mindlin));
        spoil(&mut world);
        Simulation::new(world, on_cpu()).err().unwrap().to_string()
    };
    fn thermal(world: &mut World) -> &mut Thermal {
        &mut world.conduction.as_mut().unwrap().materials[0]
    }
    assert!(refused(|world| thermal(world).specific_heat_capacity = None).contains("specific heat capacity"));
    assert!(refused(|world| thermal(world).conductivity = Some(-1.0)).contains("thermal conductivity is -1"));
    assert!(refused(|world| thermal(world).conductivity = None).contains("no thermal conductivity"));
    assert!(refused(|world| world.grains.scalars[GrainScalar::Temperature][3] = -2.0).contains("grain 3: temperature is -2"));
    assert!(refused(|world| world.grains.scalars[GrainScalar::Temperature].clear()).contains("temperature"));
    let linear = refused(|world| {
        thermal(world).real_youngs_modulus = Some(7e10);
        let pair = world.interactions[0].as_mut().unwrap();
        (pair.normal, pair.stiffness) = (seixo_laws::contact::NormalLaw::Linear, Some(1e3));
    });
    assert!(linear.contains("Hertz"), "{linear}");
}
