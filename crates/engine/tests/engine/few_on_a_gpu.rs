//! Steps of few grains between walls at rest, which a GPU takes in one launch (software Vulkan suffices; without any adapter these tests fail).

use crate::beds;
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu, with_default_skin};
use seixo_engine::state::State;
use seixo_engine::world::{Precision, Settings, WallMotion, World};
use seixo_engine::{Simulation, SurroundingsChange};
use seixo_laws::contact::TangentialLaw;

/// These settings with a skin that is soon used up.
fn with_thin_skin(world: &World, settings: Settings) -> Settings {
    let Settings { skin, .. } = with_default_skin(world, on_cpu());
    Settings {
        skin: skin.map(|skin| 0.25 * skin),
        ..settings
    }
}

/// A bed that falls between walls at rest, and its state after it fell for some time.
fn fallen(tangential: TangentialLaw) -> (World, State) {
    let mut world = beds::falling(1000, tangential);
    for wall in &mut world.walls {
        wall.motion = WallMotion::default();
    }
    let mut simulation = after(&world, with_thin_skin(&world, on_cpu()), 1500);
    assert!(simulation.contacts() > 200, "{}", simulation.contacts());
    let state = simulation.save().unwrap();
    (world, state)
}

#[test]
fn contacts_and_walls_of_one_launch_move_grains_as_on_the_cpu() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let (world, state) = fallen(tangential);
        let later = |settings: Settings| {
            let mut simulation = Simulation::restore(world.clone(), with_thin_skin(&world, settings), &state).unwrap();
            let before = simulation.rebuilds();
            simulation.advance(200).unwrap();
            simulation.observe().unwrap();
            assert!(simulation.rebuilds() > before, "lists were rebuilt");
            simulation
        };
        let (cpu, gpu) = (later(on_cpu()), later(on_gpu(Precision::F64)));
        assert_eq!(cpu.rebuilds(), gpu.rebuilds());
        let found = apart(&cpu.snapshot(), &gpu.snapshot());
        println!("{tangential:?}: {found:.1e}, {} contacts", gpu.contacts());
        assert!(found < 1e-9, "{tangential:?}: {found:e}");
        assert_eq!(cpu.contacts(), gpu.contacts());
        // Powers at walls are summed by block.
        assert_same_ledger(&cpu, &gpu, &format!("{tangential:?}"));
        let loads = cpu.walls().into_iter().zip(gpu.walls());
        for (a, b) in loads {
            for axis in 0..3 {
                assert!((a.force[axis] - b.force[axis]).abs() < 1e-9, "{:?} {:?}", a.force, b.force);
            }
        }
    }
}

#[test]
fn one_launch_computes_the_forces_of_two_to_the_last_bit() {
    for (tangential, precision) in [
        (TangentialLaw::Mindlin, Precision::Mixed),
        (TangentialLaw::Mindlin, Precision::F64),
        (TangentialLaw::None, Precision::F32),
    ] {
        let (world, state) = fallen(tangential);
        let settings = with_thin_skin(&world, on_gpu(precision));
        let restored = || Simulation::restore(world.clone(), settings.clone(), &state).unwrap();
        let mut whole = restored();
        let before = whole.rebuilds();
        whole.advance(60).unwrap();
        whole.observe().unwrap();
        assert!(whole.rebuilds() > before, "lists were rebuilt");
        // Two launches compute the forces that an observation shows, and the next step moves grains by them.
        let mut looked_at = restored();
        for _ in 0..60 {
            looked_at.advance(1).unwrap();
            looked_at.observe().unwrap();
        }
        assert!(whole.contacts() > 200, "{}", whole.contacts());
        assert_eq!(looked_at.rebuilds(), whole.rebuilds());
        assert!(looked_at.snapshot() == whole.snapshot(), "{tangential:?} {precision:?}");
    }
}

#[test]
fn a_floor_that_is_set_in_motion_and_stopped_pushes_grains_as_on_the_cpu() {
    let (world, state) = fallen(TangentialLaw::Mindlin);
    let floor = world.walls.len() - 1;
    let pushed = |settings: Settings, speeds: [f64; 2]| {
        let mut simulation = Simulation::restore(world.clone(), with_thin_skin(&world, settings), &state).unwrap();
        simulation.advance(20).unwrap();
        for speed in speeds {
            let motion = Box::new(WallMotion {
                velocity: [0.0, 0.0, speed],
                ..WallMotion::default()
            });
            simulation.change(&[SurroundingsChange::Motion { wall: floor, motion }]).unwrap();
            simulation.advance(50).unwrap();
        }
        simulation.observe().unwrap();
        simulation
    };
    let speeds = [0.05, 0.0];
    let (cpu, gpu) = (pushed(on_cpu(), speeds), pushed(on_gpu(Precision::F64), speeds));
    let found = apart(&cpu.snapshot(), &gpu.snapshot());
    println!("{found:.1e}");
    assert!(found < 1e-9, "{found:e}");
    let [here, there, at_rest] = [&cpu, &gpu, &pushed(on_cpu(), [0.0; 2])].map(|simulation| simulation.walls()[floor].force[2]);
    assert!((here - there).abs() < 1e-9, "{here} {there}");
    assert!((here - at_rest).abs() > 1e-6, "the floor pushes where it stopped: {here} {at_rest}");
}
