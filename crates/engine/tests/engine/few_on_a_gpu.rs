//! Steps of few grains between walls at rest, which a GPU takes in one launch (software Vulkan suffices; without any adapter these tests fail).

use crate::beds;
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu, with_default_skin};
use seixo_engine::Simulation;
use seixo_engine::state::State;
use seixo_engine::world::{Precision, Settings, WallMotion, World};
use seixo_laws::contact::TangentialLaw;

/// A bed that falls between walls at rest, and its state after it fell for some time.
fn fallen(tangential: TangentialLaw) -> (World, State) {
    let mut world = beds::falling(1000, tangential);
    for wall in &mut world.walls {
        wall.motion = WallMotion::default();
    }
    let mut simulation = after(&world, with_default_skin(&world, on_cpu()), 1500);
    assert!(simulation.contacts() > 200, "{}", simulation.contacts());
    let state = simulation.save().unwrap();
    (world, state)
}

#[test]
fn contacts_and_walls_of_one_launch_move_grains_as_on_the_cpu() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let (world, state) = fallen(tangential);
        let later = |settings: Settings| {
            let settings = with_default_skin(&world, settings);
            let mut simulation = Simulation::restore(world.clone(), settings, &state).unwrap();
            simulation.advance(200).unwrap();
            simulation.observe().unwrap();
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
        let settings = with_default_skin(&world, on_gpu(precision));
        let restored = || Simulation::restore(world.clone(), settings.clone(), &state).unwrap();
        let mut whole = restored();
        whole.advance(60).unwrap();
        whole.observe().unwrap();
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
