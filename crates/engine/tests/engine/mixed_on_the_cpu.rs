//! Mixed precision on the CPU: frictional contacts of grains are computed in single precision, and all else in double precision.

use crate::alike::assert_same;
use crate::beds;
use crate::devices::{after, apart, on_cpu};
use crate::domains::among;
use crate::gases::gas;
use crate::ledgers::assert_same_ledger;
use crate::resumed::{self, assert_same_when_resumed};
use seixo_engine::state::{Column, State};
use seixo_engine::world::{Precision, Settings, World};
use seixo_engine::{Simulation, WorldError};
use seixo_laws::contact::TangentialLaw;

fn mixed(settings: Settings) -> Settings {
    Settings {
        precision: Some(Precision::Mixed),
        ..settings
    }
}

fn histories(state: &State) -> &[f64] {
    match state.get("contacts/history") {
        Some(Column::F64(histories)) => histories,
        _ => panic!("contact histories were saved"),
    }
}

#[test]
fn one_step_from_the_same_state_gives_forces_with_the_digits_of_the_laws() {
    for (world, least) in [(beds::falling(1000, TangentialLaw::Mindlin), 300), (gas(1000), 10)] {
        let mut simulation = after(&world, on_cpu(), 1500);
        assert!(simulation.contacts() > least, "{}", simulation.contacts());
        let state = simulation.save().unwrap();
        let one_step = |settings: Settings| {
            let mut simulation = Simulation::restore(world.clone(), settings, &state).unwrap();
            simulation.step().unwrap();
            simulation.snapshot()
        };
        let found = apart(&one_step(on_cpu()), &one_step(mixed(on_cpu())));
        println!("{found:.1e}");
        // The tolerance of a GPU in mixed precision. A difference of rounding in double precision would be below 10⁻¹².
        assert!((1e-10..1e-5).contains(&found), "{found:e}");
    }
}

#[test]
fn results_are_the_same_bits_on_any_number_of_threads() {
    let world = beds::falling(3000, TangentialLaw::Mindlin);
    let on = |threads: usize| {
        let settings = Settings { threads, ..on_cpu() };
        after(&world, mixed(settings), 1500).save().unwrap()
    };
    let one = on(1);
    assert!(histories(&one).len() > 1000);
    for threads in [2, 4] {
        resumed::assert_same(&one, &on(threads), &format!("{threads} threads"));
    }
}

#[test]
fn results_are_the_same_bits_in_any_number_of_domains() {
    let world = beds::falling(3000, TangentialLaw::Mindlin);
    let mut whole = after(&world, mixed(among(1)), 1200);
    for domains in [2, 4] {
        let what = format!("{domains} domains");
        let mut decomposed = after(&world, mixed(among(domains)), 1200);
        assert_eq!(decomposed.precision(), Precision::Mixed);
        assert_same(&mut whole, &mut decomposed, &what);
        assert_same_ledger(&whole, &decomposed, &what);
        assert_eq!(whole.snapshot(), decomposed.snapshot());
    }
}

#[test]
fn a_checkpoint_holds_all_digits_of_histories_in_single_precision() {
    for world in [beds::falling(1500, TangentialLaw::Mindlin), gas(1000)] {
        let state = assert_same_when_resumed(&world, &mixed(on_cpu()), [701, 600]);
        let histories = histories(&state);
        assert!(histories.iter().filter(|&&number| number != 0.0).count() > 10);
        assert!(histories.iter().all(|&number| f64::from(number as f32) == number));
    }
}

/// Strongly damped grains that come to rest in a box.
fn damped() -> World {
    let mut world = beds::falling(500, TangentialLaw::Mindlin);
    world.walls[0].motion.velocity = [0.0; 3];
    let interaction = world.interactions[0].as_mut().unwrap();
    (interaction.restitution, interaction.friction) = (0.1, 0.8);
    world
}

#[test]
fn a_bed_comes_to_rest_without_creep_and_the_ledger_closes() {
    let world = damped();
    let mut simulation = Simulation::new(world.clone(), mixed(on_cpu())).unwrap();
    let start = simulation.ledger();
    while simulation.time() < 0.03 {
        simulation.advance(500).unwrap();
    }
    let end = simulation.ledger();
    let moved = start.gravity - end.gravity;
    println!("{end:?}");
    // Reliability criterion 6, as in double precision.
    assert!(
        moved > 1e-5 && end.residual.abs() < 1e-3 * moved,
        "{:e} of {moved:e} J",
        end.residual
    );

    // The bed from here on in both precisions. What still moves, moves alike; the rest is creep from rounded forces.
    let state = simulation.save().unwrap();
    let steps = 1000;
    let [double, narrow] = [on_cpu(), mixed(on_cpu())].map(|settings| {
        let mut simulation = Simulation::restore(world.clone(), settings, &state).unwrap();
        simulation.advance(steps).unwrap();
        simulation.snapshot()
    });
    let ways = double.position.iter().flatten().zip(narrow.position.iter().flatten());
    let way = ways.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
    let smallest = world.grains.radius.iter().copied().fold(f64::INFINITY, f64::min);
    println!("{:.1e} radii a step", way / smallest / steps as f64);
    assert!(way < 1e-9 * smallest * steps as f64, "{way:e}");
}

#[test]
fn what_is_not_computed_in_single_precision_keeps_its_bits_and_a_notice_says_so() {
    let noted = |simulation: &Simulation| simulation.notices().iter().any(|notice| notice.contains("changes nothing here"));
    let smooth = beds::falling(300, TangentialLaw::None);
    let narrow = after(&smooth, mixed(on_cpu()), 300);
    assert!(noted(&narrow), "{:?}", narrow.notices());
    assert_eq!(narrow.snapshot(), after(&smooth, on_cpu(), 300).snapshot());
    let rough = Simulation::new(beds::falling(300, TangentialLaw::Mindlin), mixed(on_cpu())).unwrap();
    assert!(!noted(&rough), "{:?}", rough.notices());
}

#[test]
fn the_cpu_refuses_single_precision_of_positions() {
    for domains in [1, 2] {
        let settings = Settings {
            precision: Some(Precision::F32),
            ..among(domains)
        };
        let refused = Simulation::new(beds::falling(1000, TangentialLaw::Mindlin), settings).err();
        assert!(matches!(refused, Some(WorldError::Precision { .. })), "{refused:?}");
    }
}
