//! A GPU that is lost in the middle of a run: an error, no hang, no wrong numbers. The test has its own process, as the device stays lost.

#[path = "engine/beds.rs"]
mod beds;
#[path = "engine/drops.rs"]
mod drops;

use seixo_device::gpu::{Api, Gpu};
use seixo_engine::state::GrainColumns;
use seixo_engine::world::{DeviceChoice, Precision, Settings};
use seixo_engine::{Simulation, StepErrorCause};
use seixo_laws::contact::TangentialLaw;

#[test]
fn a_lost_device_is_an_error_and_stays_one() {
    let gpu = Gpu::open(Some((Api::Wgpu, 0))).unwrap();
    let world = beds::falling(300, TangentialLaw::Mindlin);
    let settings = Settings {
        device: DeviceChoice::Gpu(None),
        precision: Some(Precision::F64),
        ..Settings::default()
    };
    let mut simulation = Simulation::new_on(gpu.clone(), world.clone(), settings.clone()).unwrap();
    simulation.advance(50).unwrap();
    let state = simulation.save().unwrap();
    let wet = Simulation::new_on(gpu.clone(), drops::droplet(6, None), settings.clone()).unwrap();
    assert!(wet.fluid_neighbors().unwrap()[0] > 5.0);
    let mut decomposed = Simulation::new(
        world.clone(),
        Settings {
            device: DeviceChoice::Gpu(Some((Api::Wgpu, 0))),
            domains: 2,
            threads: 2,
            ..settings.clone()
        },
    )
    .unwrap();
    decomposed.advance(50).unwrap();
    let state_of_domains = decomposed.save().unwrap();
    simulation.advance(1).unwrap();
    let pending = simulation.request_grains(GrainColumns::ALL).unwrap().expect("grains on their way");
    assert!(gpu.lose(), "wgpu releases a device");
    // No domain waits for the other one, and the first that failed is named with its device.
    for attempt in 0..2 {
        let stop = decomposed.advance(50).and_then(|()| decomposed.observe()).unwrap_err();
        assert!(matches!(stop.cause, StepErrorCause::Device { .. }), "{stop}");
        let is_named = stop.to_string().contains(" of 2 on wgpu:0");
        assert!(is_named || attempt > 0, "{stop}");
    }
    for attempt in 0..2 {
        let stop = simulation.advance(50).and_then(|()| simulation.observe()).unwrap_err();
        println!("attempt {attempt}: {stop}");
        assert!(matches!(stop.cause, StepErrorCause::Device { .. }), "{stop}");
        assert!(stop.to_string().contains("GPU"), "{stop}");
    }
    let stop = pending.wait().unwrap_err();
    assert!(matches!(stop.cause, StepErrorCause::Device { .. }) && stop.step == 51, "{stop}");
    let stop = wet.fluid_neighbors().unwrap_err();
    assert!(
        matches!(stop.cause, StepErrorCause::Device { .. }) && stop.to_string().contains("GPU"),
        "{stop}"
    );
    let refusal = Simulation::new_on(gpu, world.clone(), settings)
        .err()
        .expect("nothing starts on a lost device");
    println!("{refusal}");
    // A saved state continues on another device.
    let here = Settings {
        device: DeviceChoice::Cpu,
        ..Settings::default()
    };
    for state in [state, state_of_domains] {
        let mut simulation = Simulation::restore(world.clone(), here.clone(), &state).unwrap();
        simulation.advance(50).unwrap();
    }
}
