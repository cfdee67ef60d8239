//! Heat of polyhedral grains on a GPU: against closed forms, and against the CPU.

use crate::corners::put;
use crate::devices::{after, on_cpu, on_gpu};
use crate::heat::temperatures;
use crate::polyhedra::{OF_UNIT_CUBE, cube};
use crate::polyhedra_on_a_gpu::{assert_resumes, on_a_plane, on_meshes, with_step};
use crate::polyhedra_with_heat::{CAPACITY, CONDUCTIVITY, heated, soft};
use seixo_engine::Simulation;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Precision, World};

/// Overlap of two cubes \[m\], time step \[s\], and temperatures at the start \[K\].
const OVERLAP: f64 = 0.002;
const TIME_STEP: f64 = 50.0;
const COLD: f64 = 300.0;
const HOT: f64 = 400.0;

/// A hot cube on a cold one, so soft that they do not move. Also returns the share of the difference of both temperatures that is lost in a step.
fn hot_on_cold() -> (World, f64) {
    let mut world = soft(cube());
    world.materials[0].youngs_modulus = 1e-9;
    put(&mut world, 0, OF_UNIT_CUBE, [0.0; 3], [0.0; 3]);
    let grain = put(&mut world, 0, OF_UNIT_CUBE, [0.0, 0.0, 1.0 - OVERLAP], [0.0; 3]);
    let mut world = heated(world);
    world.grains.scalars[GrainScalar::Temperature] = vec![COLD, HOT];
    // Radii of rounded corners are 0.1 m; two of them give half of it. Four contacts conduct 2 k a each.
    let conductance = 4.0 * 2.0 * CONDUCTIVITY * (0.05 * OVERLAP).sqrt();
    (world, 2.0 * conductance * TIME_STEP / (grain.mass * CAPACITY))
}

#[test]
fn a_hot_cube_on_a_cold_one_cools_as_in_the_closed_form_and_as_on_the_cpu() {
    let (world, share) = hot_on_cold();
    let steps = 200;
    let difference = (HOT - COLD) * (1.0 - share).powi(steps);
    let expected = [COLD + HOT - difference, COLD + HOT + difference].map(|twice| 0.5 * twice);
    let lost = HOT - expected[1];
    assert!(lost > 5.0, "{lost} K");
    let of_cpu = temperatures(&after(&world, with_step(TIME_STEP, on_cpu()), 200));
    for (precision, bar, rounding) in [(Precision::F64, 1e-9, 1e-12), (Precision::Mixed, 1e-5, 1e-6)] {
        let simulation = after(&world, with_step(TIME_STEP, on_gpu(precision)), 200);
        let found = temperatures(&simulation);
        for ((now, expected), of_cpu) in found.iter().zip(expected).zip(&of_cpu) {
            assert!(
                (now - expected).abs() < 1e-5 * lost,
                "{precision:?}: {now} K, expected {expected} K"
            );
            assert!((now - of_cpu).abs() < bar * lost, "{precision:?}: {now} K, on the CPU {of_cpu} K");
        }
        let ledger = simulation.scalar_ledger(GrainScalar::Temperature).expect("it has one");
        assert!(ledger.residual.abs() < rounding * ledger.initial, "{precision:?}: {ledger:?}");
    }
}

#[test]
fn planes_and_meshes_heat_cubes_alike_on_cpu_and_gpu() {
    for (world, steps) in [(on_a_plane(), 400), (on_meshes(), 200)] {
        let world = heated(world);
        let [cpu, gpu] = [on_cpu(), on_gpu(Precision::F64)].map(|settings| after(&world, with_step(1e-4, settings), steps));
        let (expected, found) = (cpu.heat_of_walls(), gpu.heat_of_walls());
        assert_eq!(expected.len(), found.len());
        for (a, b) in expected.iter().flatten().zip(found.iter().flatten()) {
            assert!(*a > 0.0 && (a / b - 1.0).abs() < 1e-6, "{expected:?} {found:?}");
        }
        let ledger = gpu.scalar_ledger(GrainScalar::Temperature).expect("it has one");
        assert!(ledger.residual.abs() < 1e-12 * ledger.initial, "{ledger:?}");
    }
}

#[test]
fn contacts_from_a_checkpoint_of_a_gpu_conduct_in_the_first_step() {
    let (world, share) = hot_on_cold();
    let mut first = after(&world, with_step(TIME_STEP, on_gpu(Precision::F64)), 1);
    let [cold, hot] = temperatures(&first)[..] else {
        panic!("there are two cubes")
    };
    let state = first.save().expect("a sound state");
    let expected = 0.5 * share * (hot - cold);
    for settings in [on_cpu(), on_gpu(Precision::F64)] {
        let mut again = Simulation::restore(world.clone(), with_step(TIME_STEP, settings), &state).expect("the state fits");
        again.step().expect("a sound step");
        again.observe().expect("a sound state");
        let lost = hot - temperatures(&again)[1];
        assert!((lost / expected - 1.0).abs() < 1e-5, "{lost} K, expected {expected} K");
    }
}

#[test]
fn heated_cubes_that_are_resumed_on_a_gpu_keep_their_bits() {
    let world = heated(on_a_plane());
    let settings = with_step(1e-4, on_gpu(Precision::Mixed));
    let mut start = Simulation::new(world.clone(), settings.clone()).expect("the world is sound");
    start.advance(200).expect("sound steps");
    assert_resumes(&world, &settings, &mut start, 50);
}
