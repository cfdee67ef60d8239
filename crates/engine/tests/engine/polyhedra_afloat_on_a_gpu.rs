//! Polyhedral grains in water on a GPU for longer: floating, colliding, and after a resume (software Vulkan suffices; without any adapter these tests
//! fail).

use crate::blocks::{Block, SPACING, pool};
use crate::devices::{after, on_cpu, on_gpu};
use crate::polyhedra_floating::{apart, colliding, pushed_brick, with_bricks};
use seixo_engine::Simulation;
use seixo_engine::world::Precision;

#[test]
fn a_cube_half_as_dense_as_water_floats_with_half_of_its_edge_in_it_on_a_gpu() {
    let (depth, edge) = (6, 4);
    let mut world = pool([10, 10, 12], depth, None);
    let floating = Block {
        low: [3, 3, depth - edge / 2],
        cells: [edge; 3],
        density_ratio: 0.5,
    };
    floating.put(&mut world, [0.0; 3], false);
    let world = with_bricks(world, &[[edge; 3]]);
    let mut simulation = Simulation::new(world, on_gpu(Precision::Mixed)).expect("the world is sound");
    let (looks, looked) = (12, 0.01 / simulation.time_step().value);
    simulation.advance((12.0 * looked) as u64).expect("sound steps");
    let mut middle = 0.0;
    for _ in 0..looks {
        simulation.advance(looked as u64).expect("sound steps");
        simulation.observe().expect("a sound state");
        middle += simulation.polyhedra()[0].center[2] / f64::from(looks);
    }
    // Its center is in the surface, which is known to half a spacing. Without the water it would have fallen by more than five spacings.
    let level = depth as f64 * SPACING;
    assert!((middle - level).abs() < 0.5 * SPACING, "{middle} m in water of {level} m");
    assert!(
        apart(&simulation.polyhedra()[0].velocity, &[0.0; 3]) < 0.2,
        "{:?}",
        simulation.polyhedra()
    );
}

#[test]
fn floating_cubes_collide_alike_on_cpu_and_gpu() {
    let world = colliding();
    let [here, there] = [on_cpu(), on_gpu(Precision::F64)].map(|settings| after(&world, settings, 200));
    let (expected, found) = (here.ledger().normal_damping, there.ledger().normal_damping);
    assert!(expected > 0.0, "no contact: {:?}", here.ledger());
    assert!((found / expected - 1.0).abs() < 1e-5, "{found} of {expected} J");
    for (a, b) in here.bodies().iter().zip(&there.bodies()) {
        assert!(apart(&a.center, &b.center) < 1e-9, "{a:?} {b:?}");
        assert!(apart(&a.velocity, &b.velocity) < 1e-7, "{a:?} {b:?}");
    }
}

#[test]
fn a_brick_in_water_goes_on_from_cpu_to_gpu_and_back() {
    let world = pushed_brick();
    let whole = after(&world, on_cpu(), 70).bodies()[0];
    let devices = || [on_cpu(), on_gpu(Precision::F64)];
    for (first, then) in devices().into_iter().zip(devices().into_iter().rev()) {
        let state = after(&world, first, 40).save().expect("a sound state");
        let mut simulation = Simulation::restore(world.clone(), then, &state).expect("the state fits");
        simulation.advance(30).expect("sound steps");
        simulation.observe().expect("a sound state");
        let end = simulation.bodies()[0];
        let off = apart(&whole.center, &end.center).max(apart(&whole.velocity, &end.velocity));
        assert!(off < 1e-9, "{off}: {whole:?} {end:?}");
    }
}
