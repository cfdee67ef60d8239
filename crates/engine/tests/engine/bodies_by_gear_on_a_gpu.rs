//! Rigid bodies by Gear's method on a GPU give the results of the CPU (software Vulkan suffices; without any adapter these tests fail).

use crate::clumps::heap;
use crate::decomposition_bodies::assert_one_answer;
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu};
use crate::on_gpus::among;
use seixo_engine::Simulation;
use seixo_engine::state::Column;
use seixo_engine::world::{LeavingPolicy, Precision, Settings, WallMotion, World};
use seixo_laws::motion::Scheme;

fn geared(settings: Settings) -> Settings {
    Settings {
        scheme: Scheme::Gear,
        ..settings
    }
}

/// A heap with local damping; between walls, one of its bodies has a prescribed motion.
fn world(count: usize, leaving: Option<LeavingPolicy>) -> World {
    let mut world = heap(count, leaving);
    world.local_damping = 0.1;
    world.grains.bodies[4].motion = leaving.is_none().then(|| WallMotion {
        velocity: [0.05, 0.0, 0.0],
        ..WallMotion::default()
    });
    world
}

#[test]
fn a_heap_falls_as_on_the_cpu() {
    for leaving in [None, Some(LeavingPolicy::Error)] {
        let world = world(100, leaving);
        let (cpu, gpu) = (
            after(&world, geared(on_cpu()), 3000),
            after(&world, geared(on_gpu(Precision::F64)), 3000),
        );
        // Sums in another order differ by rounding, which contacts amplify.
        let found = apart(&cpu.snapshot(), &gpu.snapshot());
        assert!(found < 1e-8, "{leaving:?}: {found:e}");
        assert!(
            gpu.ledger().normal_damping > 0.0 && cpu.contacts() == gpu.contacts(),
            "{}",
            gpu.contacts()
        );
        assert_same_ledger(&cpu, &gpu, &format!("{leaving:?}"));
        for (a, b) in cpu.bodies().iter().zip(gpu.bodies()) {
            let off = a
                .orientation
                .iter()
                .zip(b.orientation)
                .map(|(x, y)| (x - y).abs())
                .fold(0.0, f64::max);
            assert!(off < 1e-8, "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_heap_goes_on_from_a_saved_state_to_the_same_bits() {
    let world = world(60, None);
    for precision in [Precision::F64, Precision::Mixed] {
        let settings = geared(on_gpu(precision));
        let run = |pause: u64| {
            let mut simulation = Simulation::new(world.clone(), settings.clone()).unwrap();
            if pause > 0 {
                simulation.advance(pause).unwrap();
                let state = simulation.save().unwrap();
                simulation = Simulation::restore(world.clone(), settings.clone(), &state).unwrap();
            }
            simulation.advance(900 - pause).unwrap();
            simulation.save().unwrap()
        };
        let (whole, resumed) = (run(0), run(400));
        for ((name, a), (_, b)) in whole.sections.iter().zip(&resumed.sections) {
            // An observation in between changes the order in which the ledger is summed.
            let is_ledger = matches!(a, Column::F64(values) if values.len() < 32) && !name.starts_with("grains/");
            assert!(a == b || is_ledger, "{precision:?}: section {name} differs");
        }
    }
}

#[test]
fn a_heap_is_the_same_among_any_number_of_domains() {
    let world = world(60, None);
    let mut whole = after(&world, geared(among(1, Precision::Mixed)), 1600);
    for domains in [2, 3] {
        let mut decomposed = after(&world, geared(among(domains, Precision::Mixed)), 1600);
        assert_one_answer(&mut whole, &mut decomposed, &format!("{domains} domains"));
    }
}
