//! Loads that are formulas of time: motion against Newton's law, and the same results on a GPU, in domains and after a checkpoint.

use crate::alike::assert_same;
use crate::bars::{bonds, mass, row, settings};
use crate::beds::falling;
use crate::domains;
use crate::ledgers::assert_same_ledger;
use crate::on_gpus;
use seixo_engine::world::{Formula, FormulaError, Load, Precision, Settings, TimeFunction, Vec3, VectorOfTime, World};
use seixo_engine::{Simulation, SurroundingsChange};
use seixo_laws::bond::BondLaw;
use seixo_laws::contact::TangentialLaw;

/// Amplitude \[N\] and angular frequency \[rad/s\] of a force along x.
const AMPLITUDE: f64 = 1e-4;
const FREQUENCY: f64 = 500.0;

fn formula(text: &str, factor: f64) -> TimeFunction {
    TimeFunction::Formula(Formula::read(text, factor).unwrap())
}

/// A force along x that swings as a cosine, on a group.
fn swinging(group: u32) -> Load {
    let x = formula("cos(500 * t)", AMPLITUDE);
    Load {
        group,
        force: VectorOfTime([x, TimeFunction::Constant(0.0), TimeFunction::Constant(0.0)]),
        ..Load::default()
    }
}

/// One grain at rest, far from all others, with these loads.
fn alone(loads: Vec<Load>) -> World {
    let mut world = row(1, |_| [0.0; 3], bonds(BondLaw::Beam));
    world.bonds.clear();
    world.gravity = [0.0; 3];
    world.later.constrained_groups = vec![0];
    world.loads = loads;
    world
}

/// Position and velocity along x of the grain, and the work on it, after a time \[s\] in steps of this length \[s\].
fn after(time: f64, dt: f64) -> (f64, f64, f64) {
    let world = alone(vec![swinging(0)]);
    let start = world.grains.position[0][0];
    let mut simulation = Simulation::new(world, settings(dt)).unwrap();
    simulation.advance((time / dt).round() as u64).unwrap();
    let seen = simulation.snapshot();
    (seen.position[0][0] - start, seen.velocity[0][0], simulation.ledger().wall_work)
}

#[test]
fn a_force_that_swings_moves_a_grain_as_newton_says() {
    // x'' = F cos(w t) / m from rest: x = F / (m w²) (1 - cos w t), v = F / (m w) sin w t.
    let (time, phase) = (1.6e-3, 0.8_f64);
    let exact = (
        AMPLITUDE / (mass() * FREQUENCY * FREQUENCY) * (1.0 - phase.cos()),
        AMPLITUDE / (mass() * FREQUENCY) * phase.sin(),
    );
    let work = 0.5 * mass() * exact.1 * exact.1;
    let errors = |dt: f64| {
        let (x, v, done) = after(time, dt);
        [(x / exact.0 - 1.0).abs(), (v / exact.1 - 1.0).abs(), (done / work - 1.0).abs()]
    };
    let (coarse, fine) = (errors(2e-6), errors(1e-6));
    for k in 0..3 {
        // Leapfrog is of second order in the step, and (w dt)² / 12 is 8e-8 for the longer one.
        assert!(coarse[k] < 1e-6, "{k}: {coarse:?}");
        assert!((coarse[k] / fine[k] - 4.0).abs() < 0.1, "{k}: {coarse:?} {fine:?}");
    }
}

#[test]
fn a_new_load_counts_from_its_moment_with_the_time_of_the_run() {
    let mut simulation = Simulation::new(alone(vec![swinging(0)]), settings(1e-6)).unwrap();
    simulation.advance(1000).unwrap();
    let before = simulation.snapshot().velocity[0];
    // A force that would be zero if time began again.
    let late = Load {
        group: 0,
        force: VectorOfTime([
            TimeFunction::Constant(0.0),
            TimeFunction::Constant(0.0),
            formula("max(t, 1e-3)", 1.0),
        ]),
        ..Load::default()
    };
    simulation.change(&[SurroundingsChange::Load(late)]).unwrap();
    simulation.advance(1000).unwrap();
    let seen = simulation.snapshot();
    // The integral of t from 1 ms to 2 ms; trapezoids are exact for it.
    let gained = 1.5e-6 / mass();
    assert!((seen.velocity[0][2] / gained - 1.0).abs() < 1e-12, "{seen:?}");
    assert!(
        (seen.velocity[0][0] / before[0] - 1.0).abs() < 1e-12,
        "the old load is gone: {seen:?}"
    );
}

/// Grains that fall into a box, while a force shakes some of them.
fn shaken() -> World {
    let mut world = falling(900, TangentialLaw::Mindlin);
    world.groups = vec!["bed".into(), "others".into()];
    world.grains.group = world.grains.id.iter().map(|id| id % 2).collect();
    let x = formula("3e-4 * sin(2 * pi * 400 * t)", 1.0);
    let z = formula("1e-4 * min(t / 1e-3, 1)", 1.0);
    world.loads = vec![
        Load {
            group: 1,
            force: VectorOfTime([x, TimeFunction::Constant(0.0), z]),
            torque: VectorOfTime([
                TimeFunction::Constant(0.0),
                formula("1e-9 * cos(3000 * t)", 1.0),
                TimeFunction::Constant(0.0),
            ]),
        },
        Load::constant(0, [1e-5, 0.0, 0.0], [0.0; 3]),
    ];
    world
}

/// Runs a world in two parts with a checkpoint between them, on one and then two domains.
fn in_parts(world: &World, with: impl Fn(usize) -> Settings, steps: u64) -> Simulation {
    let mut first = Simulation::new(world.clone(), with(1)).unwrap();
    first.advance(steps / 3).unwrap();
    let state = first.save().unwrap();
    let mut then = Simulation::restore(world.clone(), with(2), &state).unwrap();
    then.advance(steps - steps / 3).unwrap();
    then.observe().unwrap();
    then
}

#[test]
fn domains_and_checkpoints_change_no_bit() {
    let world = shaken();
    let mut whole = domains::after(&world, 1, 600);
    let mut parts = in_parts(&world, domains::among, 600);
    assert_same(&mut whole, &mut parts, "domains");
    assert_same_ledger(&whole, &parts, "domains");
    assert!(whole.ledger().wall_work > 0.01 * whole.ledger().kinetic, "{:?}", whole.ledger());
}

#[test]
fn a_gpu_evaluates_formulas_at_the_steps_that_it_takes() {
    let world = shaken();
    let whole = domains::after(&world, 1, 600);
    let gpu = |domains| on_gpus::among(domains, Precision::F64);
    let mut simulation = Simulation::new(world.clone(), gpu(1)).unwrap();
    // Batches of different lengths: the table of loads begins again with each.
    for steps in [1, 150, 300, 149] {
        simulation.advance(steps).unwrap();
    }
    simulation.observe().unwrap();
    let far = |a: &[Vec3], b: &[Vec3]| {
        a.as_flattened()
            .iter()
            .zip(b.as_flattened())
            .fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
    };
    let (cpu, here) = (whole.snapshot(), simulation.snapshot());
    // Rounding of the order of sums, beside moves of millimeters.
    assert!(far(&cpu.position, &here.position) < 1e-12, "{}", far(&cpu.position, &here.position));
    let mut parts = in_parts(&world, gpu, 600);
    assert_same(&mut simulation, &mut parts, "domains on a GPU");
}

#[test]
fn formulas_that_cannot_be_used_are_refused_and_those_without_a_value_stop_the_run() {
    let refused = |text: &str| Formula::read(text, 1.0).unwrap_err();
    assert!(matches!(refused("2 * x"), FormulaError::UnknownName { name } if name == "x"));
    assert!(matches!(refused("sin("), FormulaError::Unreadable { .. }));
    assert!(matches!(refused(""), FormulaError::Unreadable { .. }));
    assert!(matches!(refused(&"1+".repeat(300)), FormulaError::TooLong { length: 600 }));
    for (text, value) in [
        ("1e-3 * t", 2e-3),
        ("2.5E+1", 25.0),
        ("2 * e", 2.0 * std::f64::consts::E),
        ("min(t, 1) + max(t, 3)", 4.0),
        (".5^t", 0.25),
    ] {
        assert!((Formula::read(text, 1.0).unwrap().at(2.0) - value).abs() < 1e-12, "{text}");
    }
    let load = |text: &str| Load {
        group: 0,
        force: VectorOfTime([formula(text, 1e-6), TimeFunction::Constant(0.0), TimeFunction::Constant(0.0)]),
        ..Load::default()
    };
    let refusal = Simulation::new(alone(vec![load("1 / t")]), settings(1e-6))
        .err()
        .expect("no value at the start");
    assert!(refusal.to_string().contains("at t = 0"), "{refusal}");
    let mut simulation = Simulation::new(alone(vec![load("sqrt(1e-5 - t)")]), settings(1e-6)).unwrap();
    let stop = simulation.advance(100).unwrap_err();
    assert!(
        stop.to_string().contains("a force whose formula has no value at this time"),
        "{stop}"
    );
    assert_eq!(stop.step, 12, "{stop}");
}
