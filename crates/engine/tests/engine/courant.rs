//! A grain must not pass a cell in one step, v Δt < l₀ \[Harada 2010\]: on a CPU, on a GPU and in two domains.

use crate::clumps::{Fill as _, world};
use seixo_engine::world::{DeviceChoice, Precision, Settings};
use seixo_engine::{Simulation, StepErrorCause};
use seixo_laws::contact::TangentialLaw;

const RADIUS: f64 = 1e-3;
const SKIN: f64 = 2e-4;
const STEP: f64 = 1e-6;
/// Edge of a cell \[m\].
const EDGE: f64 = 2.0 * RADIUS + SKIN;

/// The cause for which a grain stops that passes this share of a cell in a step; `None` if it flies on.
fn stopped_at(share: f64, settings: Settings) -> Option<StepErrorCause> {
    let mut world = world(TangentialLaw::None);
    world.grains.clear_and(|grains| {
        // Others at rest along another axis, so that there is something to decompose.
        for k in 0..20u32 {
            grains.push(k, [0.0, f64::from(k) * 10.0 * RADIUS, 0.0], [0.0; 3], [0.0; 3], RADIUS, 0, 0);
        }
        grains.push(
            20,
            [0.0, 0.0, 10.0 * RADIUS],
            [0.0, 0.0, share * EDGE / STEP],
            [0.0; 3],
            RADIUS,
            0,
            0,
        );
    });
    let settings = Settings {
        skin: Some(SKIN),
        time_step: Some(STEP),
        threads: 2,
        ..settings
    };
    let mut simulation = Simulation::new(world, settings).unwrap();
    let stopped = simulation.advance(3).and_then(|()| simulation.observe()).err()?;
    assert_eq!((stopped.grain, stopped.affected), (20, 1), "{stopped}");
    Some(stopped.cause)
}

#[test]
fn a_grain_that_passes_a_cell_in_a_step_stops_the_run_wherever_it_is() {
    let places = [
        Settings::default(),
        Settings {
            domains: 2,
            ..Settings::default()
        },
        Settings {
            device: DeviceChoice::Gpu(None),
            precision: Some(Precision::F64),
            ..Settings::default()
        },
    ];
    for place in places {
        let what = format!("{:?}, {} domains", place.device, place.domains);
        assert_eq!(stopped_at(0.99, place.clone()), None, "{what}");
        let Some(StepErrorCause::TooFast { moved, limit }) = stopped_at(1.01, place) else {
            panic!("{what}: it was not noticed");
        };
        assert!(
            (moved / EDGE - 1.01).abs() < 1e-9 && (limit / EDGE - 1.0).abs() < 1e-9,
            "{what}: {moved} {limit}"
        );
    }
}
