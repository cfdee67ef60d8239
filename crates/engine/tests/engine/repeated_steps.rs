//! With CUDA, steps are repeated from a recording. Elsewhere this compares batches of other lengths.

use crate::beds;
use crate::devices::{after, on_gpu};
use seixo_device::gpu::claim_cuda;
use seixo_engine::Simulation;
use seixo_engine::world::Precision;
use seixo_laws::contact::TangentialLaw;

#[test]
fn steps_from_a_recording_equal_launched_steps_to_the_last_bit() {
    claim_cuda();
    let mut world = beds::falling(200, TangentialLaw::Mindlin);
    // Slow grains, so that lists last for several batches.
    world.gravity = [0.0, 0.0, -20.0];
    world.grains.velocity.fill([0.0; 3]);
    let settings = on_gpu(Precision::Mixed);
    let whole = after(&world, settings.clone(), 819);
    let mut launched = Simulation::new(world, settings).unwrap();
    // So few steps are never recorded.
    for _ in 0..63 {
        launched.advance(13).unwrap();
    }
    launched.observe().unwrap();
    assert_eq!(launched.rebuilds(), whole.rebuilds());
    assert_eq!(launched.snapshot(), whole.snapshot());
    assert_eq!(launched.walls(), whole.walls());
}
