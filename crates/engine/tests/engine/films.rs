//! Liquid films: the rate at which two grains share their liquid, and its conservation.

use crate::devices::{after, on_cpu, on_gpu};
use crate::touching::touching_pair;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Precision, Settings, World};
use seixo_engine::{Simulation, StepErrorCause};

/// Rate of exchange of [`touching_pair`] \[1/s\].
const RATE: f64 = 50.0;

/// [`touching_pair`], of which grain 1, with twice the radius, is wet.
fn wet_pair() -> World {
    let mut world = touching_pair();
    world.interactions[0].as_mut().unwrap().film_exchange = Some(RATE);
    world.grains.scalars[GrainScalar::FilmThickness] = vec![0.0, 3e-5];
    world
}

fn with_step(settings: Settings, time_step: f64) -> Settings {
    Settings {
        time_step: Some(time_step),
        ..settings
    }
}

#[test]
fn two_films_in_contact_even_out_at_the_rate_of_their_materials() {
    for device in [on_cpu(), on_gpu(Precision::F64), on_gpu(Precision::Mixed)] {
        let mut errors = Vec::new();
        for steps in [100u32, 200] {
            let settings = with_step(device.clone(), 1.0 / RATE / f64::from(steps));
            let simulation = after(&wet_pair(), settings, u64::from(steps));
            let film = simulation.snapshot().scalars[GrainScalar::FilmThickness].clone();
            // After the time 1/λ a pair of any two sizes has 1/e of its difference. The areas are as 1 to 4.
            errors.push((film[1] - film[0]) / 3e-5 - (-1.0f64).exp());
            assert!(((film[0] + 4.0 * film[1]) / 1.2e-4 - 1.0).abs() < 1e-13, "{film:?}");
            let ledger = simulation.scalar_ledger(GrainScalar::FilmThickness).unwrap();
            let volume = 4.0 * std::f64::consts::PI * 4e-6 * 3e-5;
            assert!(
                (ledger.initial / volume - 1.0).abs() < 1e-14 && ledger.residual.abs() < 1e-13 * volume,
                "{ledger:?}"
            );
        }
        // First order: (1 − 1/n)ⁿ deviates from 1/e by 1/(2 e n), half as much with half the step.
        assert!((errors[0] * 200.0 * 1f64.exp() + 1.0).abs() < 0.02, "{errors:?}");
        assert!((errors[0] / errors[1] - 2.0).abs() < 0.02, "{errors:?}");
    }
}

#[test]
fn films_that_do_not_touch_keep_their_liquid() {
    let mut world = wet_pair();
    // Apart, in free fall and turning: no motion alone moves liquid.
    world.grains.position[1][1] = 3.1e-3;
    world.grains.angular_velocity.fill([100.0, -30.0, 5.0]);
    world.gravity = [0.0, 0.0, -9.81];
    let simulation = after(&world, with_step(on_cpu(), 1e-4), 300);
    assert_eq!(simulation.snapshot().scalars[GrainScalar::FilmThickness], [0.0, 3e-5]);
}

#[test]
fn an_exchange_that_outruns_the_time_step_is_refused_or_stops_the_run() {
    let mut world = wet_pair();
    world.interactions[0].as_mut().unwrap().film_exchange = Some(1e5);
    let settings = with_step(on_cpu(), 1e-4);
    let refused = Simulation::new(world.clone(), settings.clone()).err().unwrap().to_string();
    // The share of the small grain is λ Δt A_j/(A_i + A_j) = 8.
    assert!(
        refused.contains("grain 0") && refused.contains("8.000") && refused.contains("film_exchange"),
        "{refused}"
    );
    world.grains.position[1][1] = 3.0001e-3;
    world.grains.velocity[1][1] = -0.1;
    for device in [settings, with_step(on_gpu(Precision::Mixed), 1e-4)] {
        let mut simulation = Simulation::new(world.clone(), device).unwrap();
        let stop = simulation.advance(1000).unwrap_err();
        let scalar = match stop.cause {
            StepErrorCause::TooConductive { scalar, .. } => Some(scalar),
            _ => None,
        };
        assert_eq!((stop.grain, scalar), (0, Some(GrainScalar::FilmThickness)), "{stop}");
    }
}
